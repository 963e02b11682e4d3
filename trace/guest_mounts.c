/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/guest_mounts.h"

#include <string.h>

#include "reorder/util/escape.h"
#include "trace/guest_devices.h"
#include "trace/mount_line.h"

enum {
	MOUNTS_MAX = 4096,
	FILESYSTEMS_MAX = 4096,
	LAYERS_MAX = 512,
	LAYER_BYTES_MAX = 64 << 10, /* of a filesystem's layers */
	STEPS_MAX = 64,             /* down from a device */
	LOOP_MAJOR = 7,
};

/* A directory of an image. */
typedef struct {
	char *image;     /* path on the ISO */
	gboolean nested; /* it is of a filesystem in a file of that image */
	char *prefix;    /* of the directory, "" for the root */
} layer;

/* What is behind a device number. */
typedef struct {
	char *type;
	char *key; /* tells filesystems apart that get the same device number one after the other */
	gboolean medium;   /* the ISO itself */
	GPtrArray *layers; /* of layer, topmost first */
	gsize layer_bytes;
} filesystem;

typedef struct {
	guint32 id;
	gint64 device; /* tr_device_number() */
	guint64 age;
	char *root, *point;
} mount;

struct tr_guest_mounts {
	GHashTable *mounts;      /* id → mount */
	GHashTable *filesystems; /* device → filesystem */
	tr_guest_devices *devices;
	gboolean nested; /* those layers are asked for, and not those that hold them */
	guint64 lines;
};

static void free_layer(gpointer data)
{
	layer *l = data;

	g_free(l->image);
	g_free(l->prefix);
	g_free(l);
}

static void free_filesystem(gpointer data)
{
	filesystem *fs = data;

	g_free(fs->type);
	g_free(fs->key);
	g_ptr_array_unref(fs->layers);
	g_free(fs);
}

static void free_mount(gpointer data)
{
	mount *m = data;

	g_free(m->root);
	g_free(m->point);
	g_free(m);
}

tr_guest_mounts *tr_guest_mounts_new(void)
{
	tr_guest_mounts *mounts = g_new0(tr_guest_mounts, 1);

	mounts->mounts = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, free_mount);
	mounts->filesystems =
		g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_filesystem);
	mounts->devices = tr_guest_devices_new();
	return mounts;
}

void tr_guest_mounts_free(tr_guest_mounts *mounts)
{
	if (!mounts)
		return;
	g_hash_table_unref(mounts->mounts);
	g_hash_table_unref(mounts->filesystems);
	tr_guest_devices_free(mounts->devices);
	g_free(mounts);
}

static filesystem *find_filesystem(const tr_guest_mounts *mounts, gint64 device)
{
	return g_hash_table_lookup(mounts->filesystems, &device);
}

/* The part of path below directory, "" or with a leading slash; NULL if it is not below. */
static const char *below(const char *path, const char *directory)
{
	gsize length = strlen(directory);

	if (length == 1)
		length = 0; /* "/" */
	if (strncmp(path, directory, length) != 0 || (path[length] && path[length] != '/'))
		return NULL;
	return path + length;
}

/* "/a" and "/b" to "/a/b"; slashes at the end of either are dropped, so the root is "". */
static char *join(const char *directory, const char *rest)
{
	g_autofree char *path = g_strconcat(directory, "/", rest, NULL);
	GString *clean = g_string_new(NULL);

	for (const char *c = path; *c; c++)
		if (*c != '/' || (c[1] && c[1] != '/'))
			g_string_append_c(clean, *c);
	return g_string_free(clean, FALSE);
}

/* The mount that a path leads to, of the filesystem with that number or, if that is 0, of any: the
 * one with the longest mount point, of several there the newest. */
static const mount *mount_of(const tr_guest_mounts *mounts, const char *path, gint64 device)
{
	const mount *best = NULL, *m;
	gsize best_length = 0;
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, mounts->mounts);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		m = value;
		gsize length = strlen(m->point);
		if ((device && m->device != device) || !below(path, m->point) ||
			(best && length < best_length) ||
			(best && length == best_length && m->age < best->age))
			continue;
		best = m;
		best_length = length;
	}
	return best;
}

/* Overlays over overlays make a line of the guest's into many long layers. */
static void add_layer(filesystem *fs, const char *image, gboolean nested, const char *prefix)
{
	gsize bytes = strlen(image) + strlen(prefix);

	if (fs->layers->len >= LAYERS_MAX || bytes > LAYER_BYTES_MAX - fs->layer_bytes)
		return;
	fs->layer_bytes += bytes;
	layer *new_layer = g_new(layer, 1);
	new_layer->image = g_strdup(image);
	new_layer->nested = nested;
	new_layer->prefix = g_strdup(prefix);
	g_ptr_array_add(fs->layers, new_layer);
}

/* What is at a path becomes layers of fs: a directory of an image, or of an overlay. */
static void add_directory(const tr_guest_mounts *mounts, filesystem *fs, const char *path)
{
	const mount *m = mount_of(mounts, path, 0);
	const filesystem *lower = m ? find_filesystem(mounts, m->device) : NULL;

	if (!lower)
		return;
	g_autofree char *inside = join(m->root, below(path, m->point));
	for (guint i = 0; i < lower->layers->len && fs->layers->len < LAYERS_MAX; i++) {
		const layer *l = g_ptr_array_index(lower->layers, i);
		g_autofree char *prefix = join(l->prefix, inside);
		add_layer(fs, l->image, l->nested, prefix);
	}
}

/* A colon ends a directory; a backslash takes the next byte as it is (Linux:
 * fs/overlayfs/params.c). */
static void add_directories(const tr_guest_mounts *mounts, filesystem *fs, const char *list)
{
	g_autoptr(GString) directory = g_string_new(NULL);

	for (const char *c = list;; c++) {
		if (*c && *c != ':') {
			if (*c == '\\' && c[1])
				c++;
			g_string_append_c(directory, *c);
			continue;
		}
		if (directory->len)
			add_directory(mounts, fs, directory->str);
		g_string_truncate(directory, 0);
		if (!*c)
			return;
	}
}

/* Values of lowerdir= or, since Linux 6.8, one lowerdir+= for each. */
static void add_lower(const tr_guest_mounts *mounts, filesystem *fs, const char *options)
{
	g_auto(GStrv) words = g_strsplit(options, ",", -1);

	for (char **word = words; *word; word++) {
		const char *value = NULL;
		if (g_str_has_prefix(*word, "lowerdir="))
			value = *word + strlen("lowerdir=");
		else if (g_str_has_prefix(*word, "lowerdir+="))
			value = *word + strlen("lowerdir+=");
		if (!value)
			continue;
		g_autofree char *text = ro_unescape(value); /* old kernels do not escape here */
		add_directories(mounts, fs, text ? text : value);
	}
}

/* The ISO is the only medium there is, so a disc filesystem that is not in a file is that. */
static gboolean is_medium(const tr_mount_line *f)
{
	return f->major != 0 && f->major != LOOP_MAJOR &&
	       (g_str_equal(f->type, "iso9660") || g_str_equal(f->type, "udf"));
}

/* The way down from a device to images. */
typedef struct {
	const tr_guest_mounts *mounts;
	filesystem *fs; /* that gets the layers */
	guint steps;
} descent;

static void add_device(descent *down, gint64 device, gboolean nested);

/* The filesystem that holds the file behind a loop device, and the path in it. Where the agent says
 * which it is, the path may have lost its mount point: then it counts from that filesystem's root.
 */
static char *find_holder(const tr_guest_mounts *mounts, const tr_guest_device *loop, gint64 *holder)
{
	gint64 said = loop->below->len ? g_array_index(loop->below, gint64, 0) : 0;
	const mount *m = mount_of(mounts, loop->path, said);

	if (!m && (find_filesystem(mounts, said) || tr_guest_devices_find(mounts->devices, said))) {
		*holder = said;
		return g_strdup(loop->path);
	}
	if (!m)
		m = mount_of(mounts, loop->path, 0);
	if (!m)
		return NULL;
	*holder = m->device;
	return join(m->root, below(loop->path, m->point));
}

static void add_nested(filesystem *fs, const filesystem *holder)
{
	for (guint i = 0; i < holder->layers->len; i++) {
		const layer *l = g_ptr_array_index(holder->layers, i);
		if (!l->nested)
			add_layer(fs, l->image, TRUE, "");
	}
}

/* A file of the ISO that is mounted is an image, a file of an image holds one that is nested. What
 * is in that is not ours to order. */
static void add_file(descent *down, const tr_guest_device *loop, gboolean nested)
{
	gint64 device = 0;
	g_autofree char *path = find_holder(down->mounts, loop, &device);
	const filesystem *holder = path ? find_filesystem(down->mounts, device) : NULL;

	if (holder && holder->medium)
		add_layer(down->fs, path, nested, "");
	else if (holder && holder->layers->len && !nested)
		add_nested(down->fs, holder);
	else if (path && !nested)
		add_device(down, device, TRUE);
}

static void add_device(descent *down, gint64 device, gboolean nested)
{
	const tr_guest_device *of = tr_guest_devices_find(down->mounts->devices, device);

	if (!of || ++down->steps > STEPS_MAX)
		return;
	if (of->path) {
		add_file(down, of, nested);
		return;
	}
	for (guint i = 0; i < of->below->len; i++)
		add_device(down, g_array_index(of->below, gint64, i), nested);
}

static filesystem *new_filesystem(
	const tr_guest_mounts *mounts, const tr_mount_line *f, const char *key)
{
	filesystem *fs = g_new0(filesystem, 1);
	descent down = {mounts, fs, 0};

	fs->type = g_strdup(f->type);
	fs->key = g_strdup(key);
	fs->layers = g_ptr_array_new_with_free_func(free_layer);
	fs->medium = is_medium(f);
	if (g_str_equal(f->type, "overlay") || g_str_equal(f->type, "overlayfs"))
		add_lower(mounts, fs, f->options);
	else if (!fs->medium)
		add_device(&down, tr_device_number(f->major, f->minor), FALSE);
	return fs;
}

/* Kept once it is known what it shows: paths in the line may mean nothing any more later. */
static void update_filesystem(tr_guest_mounts *mounts, const tr_mount_line *f)
{
	gint64 device = tr_device_number(f->major, f->minor);
	const filesystem *old = find_filesystem(mounts, device);
	const char *lower = strstr(f->options, "lowerdir");
	const char *key = lower ? lower : "";

	if (old && old->layers->len && g_str_equal(old->type, f->type) &&
		g_str_equal(old->key, key))
		return;
	if (!old && g_hash_table_size(mounts->filesystems) >= FILESYSTEMS_MAX)
		return;
	g_hash_table_replace(mounts->filesystems, g_memdup2(&device, sizeof device),
		new_filesystem(mounts, f, key));
}

void tr_guest_mounts_backing(
	tr_guest_mounts *mounts, guint32 major, guint32 minor, const char *path)
{
	gint64 device = tr_device_number(major, minor);

	if (tr_guest_devices_backing(mounts->devices, device, path))
		g_hash_table_remove(mounts->filesystems, &device);
}

void tr_guest_mounts_below(
	tr_guest_mounts *mounts, guint32 major, guint32 minor, const gint64 *below, guint count)
{
	gint64 device = tr_device_number(major, minor);

	if (tr_guest_devices_below(mounts->devices, device, below, count))
		g_hash_table_remove(mounts->filesystems, &device);
}

void tr_guest_mounts_want_nested(tr_guest_mounts *mounts)
{
	mounts->nested = TRUE;
}

gboolean tr_guest_mounts_line(tr_guest_mounts *mounts, const char *line)
{
	g_auto(tr_mount_line) f = {0};

	if (!tr_mount_line_parse(line, &f))
		return FALSE;
	gpointer id = GUINT_TO_POINTER(f.id);
	if (!g_hash_table_contains(mounts->mounts, id) &&
		g_hash_table_size(mounts->mounts) >= MOUNTS_MAX)
		return FALSE;
	update_filesystem(mounts, &f);
	mount *m = g_new0(mount, 1);
	*m = (mount){
		.id = f.id, .device = tr_device_number(f.major, f.minor), .age = mounts->lines++};
	m->root = g_steal_pointer(&f.root);
	m->point = g_steal_pointer(&f.point);
	g_hash_table_replace(mounts->mounts, id, m);
	return TRUE;
}

void tr_guest_mounts_gone(tr_guest_mounts *mounts, guint32 id)
{
	g_hash_table_remove(mounts->mounts, GUINT_TO_POINTER(id));
}

static void clear_place(gpointer data)
{
	g_free(((tr_place *)data)->path);
}

static void add_places(const filesystem *fs, gboolean nested, const char *inside, GArray *places)
{
	for (guint i = 0; i < fs->layers->len; i++) {
		const layer *l = g_ptr_array_index(fs->layers, i);
		if (l->nested != nested)
			continue;
		g_autofree char *path = join(l->prefix, inside);
		tr_place place = {.image = l->image,
			.path = g_strdup(*path ? path : "/"),
			.root = strlen(l->prefix)};
		g_array_append_val(places, place);
	}
}

GArray *tr_guest_mounts_places(
	const tr_guest_mounts *mounts, guint32 id, guint32 major, guint32 minor, const char *path)
{
	GArray *places = g_array_new(FALSE, FALSE, sizeof(tr_place));
	const mount *m = g_hash_table_lookup(mounts->mounts, GUINT_TO_POINTER(id));
	const char *rest = m ? below(path, m->point) : path;
	const filesystem *fs =
		find_filesystem(mounts, m ? m->device : tr_device_number(major, minor));

	g_array_set_clear_func(places, clear_place);
	if (!fs || !rest)
		return places;
	g_autofree char *inside = m ? join(m->root, rest) : g_strdup(rest);
	add_places(fs, mounts->nested, inside, places);
	return places;
}

static GPtrArray *images_of(const filesystem *fs)
{
	GPtrArray *images = g_ptr_array_new();

	for (guint i = 0; fs && i < fs->layers->len; i++) {
		char *image = ((layer *)g_ptr_array_index(fs->layers, i))->image;

		if (!g_ptr_array_find_with_equal_func(images, image, g_str_equal, NULL))
			g_ptr_array_add(images, image);
	}
	return images;
}

GPtrArray *tr_guest_mounts_images(const tr_guest_mounts *mounts, guint32 major, guint32 minor)
{
	return images_of(find_filesystem(mounts, tr_device_number(major, minor)));
}

GPtrArray *tr_guest_mounts_root(const tr_guest_mounts *mounts)
{
	const mount *m = mount_of(mounts, "/", 0);

	return images_of(m ? find_filesystem(mounts, m->device) : NULL);
}
