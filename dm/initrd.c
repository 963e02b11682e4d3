/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dm/initrd.h"

#include <string.h>
#include <sys/stat.h>

#include "dm/map_text.h"
#include "dm/names.h"
#include "iso/boot_config.h"
#include "iso/compression.h"
#include "iso/initrd_members.h"
#include "iso/kernel_image.h"
#include "reorder/image/data_reader.h"
#include "reorder/util/bytes_hash.h"
#include "reorder/util/error.h"

enum {
	INITRD_MAX = 1 << 30,
	INDEX_MAX = 16 << 20,  /* of modules.dep */
	MODULE_MAX = 16 << 20, /* unpacked */
	DEPENDENCIES_MAX = DMX_MAP_MODULES_MAX,
};

static const char *const needed[] = {"dm_mod", "loop"};

/* --- what is in it --- */

void dmx_initrd_free(dmx_initrd *initrd)
{
	if (!initrd)
		return;
	g_clear_pointer(&initrd->bytes, g_bytes_unref);
	g_clear_pointer(&initrd->segments, g_array_unref);
	g_free(initrd->release);
	g_clear_pointer(&initrd->plain, g_hash_table_unref);
	g_clear_pointer(&initrd->dep, g_bytes_unref);
	g_clear_pointer(&initrd->builtin, g_bytes_unref);
	g_clear_pointer(&initrd->modules, g_ptr_array_unref);
	g_free(initrd);
}

static void module_free(gpointer data)
{
	dmx_module *module = data;

	g_free(module->path);
	g_clear_pointer(&module->bytes, g_bytes_unref);
	g_free(module);
}

/* As the kernel calls it: "kernel/drivers/md/dm-mod.ko.xz" is dm_mod. */
static char *module_name(const char *path, gsize length)
{
	const char *slash = g_strrstr_len(path, (gssize)length, "/");
	const char *start = slash ? slash + 1 : path;
	const char *dot = g_strstr_len(start, (gssize)(path + length - start), ".ko");
	char *name;

	if (!dot)
		return NULL;
	name = g_strndup(start, (gsize)(dot - start));
	return g_strdelimit(name, "-", '_');
}

/* What is behind …lib/modules/RELEASE/; NULL if the path is elsewhere. */
static const char *below_modules(const dmx_initrd *initrd, const char *path)
{
	g_autofree char *dir = g_strconcat("lib/modules/", initrd->release, "/", NULL);
	const char *at = strstr(path, dir);

	return at && (at == path || at[-1] == '/') ? at + strlen(dir) : NULL;
}

static gboolean wants(const li_member *member, gpointer user)
{
	const char *rest = below_modules(user, member->path);

	return rest && (g_str_equal(rest, "modules.dep") || g_str_equal(rest, "modules.builtin"));
}

static void take_module_file(dmx_initrd *initrd, const char *rest, const li_member *member)
{
	GBytes **index = g_str_equal(rest, "modules.dep")       ? &initrd->dep
			 : g_str_equal(rest, "modules.builtin") ? &initrd->builtin
								: NULL;

	if (index && member->data) {
		g_clear_pointer(index, g_bytes_unref);
		*index = g_bytes_new(member->data, member->size);
	}
	if (g_str_has_suffix(rest, ".ko"))
		g_hash_table_replace(initrd->plain, module_name(rest, strlen(rest)),
			g_strconcat("/", member->path, NULL));
}

static void note_framework(dmx_initrd *initrd, const char *path)
{
	/* The first in the table that is there at all. */
	for (const dmx_framework *f = dmx_frameworks; f->name && f != initrd->framework; f++)
		if (dmx_framework_has_member(f, path)) {
			initrd->framework = f;
			return;
		}
}

static gboolean take(const li_member *member, gpointer user)
{
	dmx_initrd *initrd = user;
	const char *rest;

	note_framework(initrd, member->path);
	if (S_ISREG(member->mode) && (rest = below_modules(initrd, member->path)))
		take_module_file(initrd, rest, member);
	return TRUE;
}

static gboolean is_loader(const li_member *member, gpointer user)
{
	gboolean *found = user;

	*found |= g_str_equal(member->path, DMX_LOADER_PATH) ||
		  g_str_equal(member->path, DMX_MAP_PATH);
	return !*found;
}

static gboolean check_preload(
	const dmx_initrd *initrd, const guint8 *data, const GArray *segments, GError **error)
{
	gboolean found = FALSE;
	li_member_visitor visitor = {.take = is_loader, .user = &found};

	if (!li_initrd_visit(data, segments, segments->len - 1, &visitor, error))
		return FALSE;
	return !found ||
	       ro_fail(error, RO_ERROR_UNSUITABLE,
		       "%s has a preload already; take the ISO from before", initrd->file->path);
}

/* Adds what is in one initrd of the entry. */
static gboolean scan(dmx_initrd *initrd, const li_file *file, GError **error)
{
	g_autoptr(GBytes) bytes = li_iso_read(initrd->iso, file, INITRD_MAX, error);
	g_autoptr(GArray) segments = NULL;
	li_member_visitor visitor = {wants, take, initrd, INDEX_MAX};
	const guint8 *data;
	gsize size;

	if (!bytes)
		return FALSE;
	data = g_bytes_get_data(bytes, &size);
	segments = li_initrd_segments(data, size, error);
	initrd->file = file;
	if (!segments || !check_preload(initrd, data, segments, error) ||
		!li_initrd_visit(data, segments, 0, &visitor, error))
		return FALSE;
	g_clear_pointer(&initrd->bytes, g_bytes_unref);
	g_clear_pointer(&initrd->segments, g_array_unref);
	initrd->bytes = g_steal_pointer(&bytes);
	initrd->segments = g_steal_pointer(&segments);
	return TRUE;
}

static gboolean check_signature(const li_iso *iso, const char *path, GError **error)
{
	static const char *const suffixes[] = {".sig", ".asc", ".gpg"};

	for (gsize i = 0; i < G_N_ELEMENTS(suffixes); i++) {
		g_autofree char *name = g_strconcat(path, suffixes[i], NULL);

		if (li_iso_find(iso, name))
			return ro_fail(error, RO_ERROR_UNSUITABLE,
				"%s is signed (%s), it cannot be added to", path, name);
	}
	return TRUE;
}

static char *kernel_release(const li_iso *iso, const li_entry *entry, GError **error)
{
	const li_file *file = li_iso_find(iso, entry->kernel);
	li_kernel kernel = {0};
	char *release;

	if (!li_kernel_read(iso, file, &kernel, error))
		return NULL;
	if (!kernel.is_64bit) {
		g_free(kernel.version);
		ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s is a 32-bit kernel, on which the loader does not run", entry->kernel);
		return NULL;
	}
	release = kernel.version ? g_strndup(kernel.version, strcspn(kernel.version, " ")) : NULL;
	g_free(kernel.version);
	if (!release)
		ro_fail(error, RO_ERROR_UNSUITABLE, "%s does not say its version", entry->kernel);
	return release;
}

static gboolean scan_all(dmx_initrd *initrd, const li_entry *entry, GError **error)
{
	for (guint i = 0; i < entry->initrds->len; i++) {
		const char *path = g_ptr_array_index(entry->initrds, i);

		if (!check_signature(initrd->iso, path, error) ||
			!scan(initrd, li_iso_find(initrd->iso, path), error))
			return FALSE;
	}
	return TRUE;
}

dmx_initrd *dmx_initrd_open(const li_iso *iso, const li_entry *entry, GError **error)
{
	g_autoptr(dmx_initrd) initrd = g_new0(dmx_initrd, 1);

	initrd->iso = iso;
	initrd->plain = g_hash_table_new_full(ro_bytes_hash, g_str_equal, g_free, g_free);
	initrd->modules = g_ptr_array_new_with_free_func(module_free);
	if (entry->initrds->len == 0) {
		ro_fail(error, RO_ERROR_UNSUITABLE,
			"it has no initrd of its own (a unified kernel image?)");
		return NULL;
	}
	initrd->release = kernel_release(iso, entry, error);
	if (!initrd->release || !scan_all(initrd, entry, error))
		return NULL;
	return g_steal_pointer(&initrd);
}

/* --- modules --- */

/* A file of the image; NULL without an error if there is none. */
static GBytes *image_file(const img_tree *tree, const char *path, gsize limit, GError **error)
{
	guint32 index = img_tree_resolve(tree, path, TRUE);
	const img_inode *inode = index == IMG_NONE ? NULL : img_tree_inode(tree, index);
	g_autoptr(img_reader) reader = NULL;
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	img_stream stream;
	const guint8 *data;
	gsize length = 1;

	if (!inode || inode->type != IMG_FILE || inode->size > limit)
		return NULL;
	reader = img_reader_new(tree, error);
	if (!reader)
		return NULL;
	img_stream_start(&stream, reader, inode);
	while (length > 0) {
		if (!img_stream_next(&stream, &data, &length, error))
			return NULL;
		g_byte_array_append(bytes, data, (guint)length);
	}
	return g_byte_array_free_to_bytes(g_steal_pointer(&bytes));
}

/* Where modules and their indexes come from. */
typedef struct {
	dmx_initrd *initrd;
	const img_tree *tree;
	GBytes *dep, *builtin; /* borrowed or owned, see below */
	GHashTable *done;      /* names */
} finder;

static char *module_path(const finder *f, const char *rest)
{
	return g_strconcat("lib/modules/", f->initrd->release, "/", rest, NULL);
}

/* The image's, which knows more modules; else the initrd's. */
static gboolean read_index(
	const finder *f, const char *name, GBytes *own, GBytes **index, GError **error)
{
	g_autofree char *path = module_path(f, name);
	g_autoptr(GError) reason = NULL;

	*index = image_file(f->tree, path, INDEX_MAX, &reason);
	if (reason) {
		g_propagate_error(error, g_steal_pointer(&reason));
		return FALSE;
	}
	if (!*index && own)
		*index = g_bytes_ref(own);
	return TRUE;
}

/* The line of modules.dep or modules.builtin that begins with this module; owned by the caller. */
static char *index_line(GBytes *index, const char *name)
{
	gsize size = 0;
	const char *text = index ? g_bytes_get_data(index, &size) : NULL, *end = text + size;

	while (text && text < end) {
		const char *newline = memchr(text, '\n', (gsize)(end - text));
		gsize length = (gsize)((newline ? newline : end) - text);
		const char *colon = memchr(text, ':', length);
		g_autofree char *found = module_name(text, colon ? (gsize)(colon - text) : length);

		if (found && g_str_equal(found, name))
			return g_strndup(text, length);
		text = newline ? newline + 1 : end;
	}
	return NULL;
}

static GBytes *unpacked(GBytes *bytes, GError **error)
{
	gsize size;
	const guint8 *data = g_bytes_get_data(bytes, &size);

	return li_compression_name(data, size) ? li_unpack_all(data, size, MODULE_MAX, error)
					       : g_bytes_ref(bytes);
}

static dmx_module *add_module(const finder *f, char *path, GBytes *bytes)
{
	dmx_module *module = g_new0(dmx_module, 1);

	module->path = path;
	module->bytes = bytes;
	g_ptr_array_add(f->initrd->modules, module);
	return module;
}

/* Out of the image; rest: its path below the modules' directory. */
static gboolean add_copy(const finder *f, const char *rest, const char *name, GError **error)
{
	g_autofree char *path = module_path(f, rest);
	g_autoptr(GError) reason = NULL;
	g_autoptr(GBytes) bytes = image_file(f->tree, path, MODULE_MAX, &reason);
	GBytes *plain = bytes ? unpacked(bytes, &reason) : NULL;

	if (plain) {
		add_module(f, g_strdup_printf("/" DMX_DIR "/%s.ko", name), plain);
		return TRUE;
	}
	return ro_fail(error, RO_ERROR_UNSUITABLE, "the kernel module %s is needed, but %s (%s)",
		name, reason ? reason->message : "neither the initrd nor the image has it", path);
}

static gboolean add_named(finder *f, const char *name, const char *rest, GError **error)
{
	const char *plain = g_hash_table_lookup(f->initrd->plain, name);

	if (!g_hash_table_add(f->done, g_strdup(name)))
		return TRUE;
	if (f->initrd->modules->len >= DEPENDENCIES_MAX)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"the kernel module %s depends on too many others", name);
	if (plain) {
		add_module(f, g_strdup(plain), NULL);
		return TRUE;
	}
	return add_copy(f, rest, name, error);
}

/* "A: B C": C has to be loaded first. */
static gboolean add_line(finder *f, const char *line, const char *name, GError **error)
{
	g_auto(GStrv) words = g_strsplit_set(line, ": \t", -1);

	for (guint i = g_strv_length(words); i > 1; i--) {
		g_autofree char *other = module_name(words[i - 1], strlen(words[i - 1]));

		if (other && !add_named(f, other, words[i - 1], error))
			return FALSE;
	}
	return add_named(f, name, words[0], error);
}

static gboolean find_one(finder *f, const char *name, GError **error)
{
	g_autofree char *line = index_line(f->dep, name);
	g_autofree char *builtin = line ? NULL : index_line(f->builtin, name);

	if (line)
		return add_line(f, line, name, error);
	if (builtin)
		return TRUE;
	if (g_hash_table_contains(f->initrd->plain, name))
		return add_named(f, name, "", error);
	return ro_fail(error, RO_ERROR_UNSUITABLE,
		"the kernel %s has no module %s, neither in the initrd nor in the image, and does not say that it is built in",
		f->initrd->release, name);
}

gboolean dmx_initrd_find_modules(dmx_initrd *initrd, const img_tree *tree, GError **error)
{
	g_autoptr(GHashTable) done =
		g_hash_table_new_full(ro_bytes_hash, g_str_equal, g_free, NULL);
	finder f = {.initrd = initrd, .tree = tree, .done = done};
	gboolean ok = read_index(&f, "modules.dep", initrd->dep, &f.dep, error) &&
		      read_index(&f, "modules.builtin", initrd->builtin, &f.builtin, error);

	g_ptr_array_set_size(initrd->modules, 0);
	for (gsize i = 0; ok && i < G_N_ELEMENTS(needed); i++)
		ok = find_one(&f, needed[i], error);
	g_clear_pointer(&f.dep, g_bytes_unref);
	g_clear_pointer(&f.builtin, g_bytes_unref);
	return ok;
}

/* --- the new one --- */

static GArray *new_members(const dmx_initrd *initrd, GBytes *loader, const char *map)
{
	GArray *members = g_array_new(FALSE, FALSE, sizeof(li_cpio_member));
	gsize size;
	const void *data = g_bytes_get_data(loader, &size);
	li_cpio_member fixed[] = {
		{.path = DMX_DIR, .mode = S_IFDIR | 0755},
		{.path = DMX_LOADER_PATH, .mode = S_IFREG | 0755, .data = data, .size = size},
		{.path = DMX_MAP_PATH, .mode = S_IFREG | 0644, .data = map, .size = strlen(map)},
	};

	g_array_append_vals(members, fixed, G_N_ELEMENTS(fixed));
	for (guint i = 0; i < initrd->modules->len; i++) {
		const dmx_module *module = g_ptr_array_index(initrd->modules, i);
		li_cpio_member member = {.path = module->path + 1, .mode = S_IFREG | 0644};

		if (!module->bytes)
			continue;
		member.data = g_bytes_get_data(module->bytes, &member.size);
		g_array_append_val(members, member);
	}
	return members;
}

/* The members that have to come, one after the other. */
typedef struct {
	const GArray *members;
	guint next;
	gboolean wrong;
} expected;

static gboolean wants_ours(const li_member *member, gpointer user)
{
	(void)user;
	return g_str_has_prefix(member->path, DMX_DIR "/");
}

static gboolean compare_ours(const li_member *member, gpointer user)
{
	expected *e = user;
	const li_cpio_member *wanted;

	if (!g_str_equal(member->path, DMX_DIR) && !wants_ours(member, NULL))
		return TRUE;
	wanted = e->next < e->members->len ? &g_array_index(e->members, li_cpio_member, e->next)
					   : NULL;
	e->next++;
	e->wrong |= !wanted || !g_str_equal(member->path, wanted->path) ||
		    member->mode != wanted->mode || member->size != wanted->size ||
		    (member->size > 0 && (!member->data || memcmp(member->data, wanted->data,
								   member->size) != 0));
	return TRUE;
}

static gboolean same_segments(const GArray *old, const GArray *new)
{
	/* A last LZ4 segment and the frame behind it are one. */
	for (guint i = 0; i < old->len; i++) {
		const li_segment *a = &g_array_index(old, li_segment, i);
		const li_segment *b = i < new->len ? &g_array_index(new, li_segment, i) : NULL;
		gboolean joined = i + 1 == old->len && g_str_equal(a->compression, "lz4");

		if (!b || a->offset != b->offset || (!joined && a->size != b->size) ||
			!g_str_equal(a->compression, b->compression))
			return FALSE;
	}
	return TRUE;
}

/* As the kernel will see it. */
static gboolean prove(
	const dmx_initrd *initrd, const GByteArray *new, const GArray *members, GError **error)
{
	gsize size;
	const guint8 *old = g_bytes_get_data(initrd->bytes, &size);
	g_autoptr(GArray) segments = li_initrd_segments(new->data, new->len, error);
	expected e = {.members = members};
	li_member_visitor visitor = {wants_ours, compare_ours, &e, INITRD_MAX};
	guint last = initrd->segments->len - 1;

	if (!segments)
		return FALSE;
	if (new->len >= size && memcmp(new->data, old, size) == 0 &&
		same_segments(initrd->segments, segments)) {
		if (!li_initrd_visit(new->data, segments, last, &visitor, error))
			return FALSE;
		if (!e.wrong && e.next == members->len)
			return TRUE;
	}
	return ro_fail(error, RO_ERROR_FAILED,
		"%s: the segment behind it does not come out as it was put in; please report this",
		initrd->file->path);
}

static gboolean pad(const dmx_initrd *initrd, GByteArray *new, gsize size, GError **error)
{
	guint length = new->len;

	if (size == 0)
		return TRUE;
	if (length > size)
		return ro_fail(error, RO_ERROR_FAILED,
			"%s: the hot map is longer than the room that was left for it; please report this",
			initrd->file->path);
	g_byte_array_set_size(new, (guint)size);
	memset(new->data + length, 0, size - length);
	return TRUE;
}

GByteArray *dmx_initrd_build(
	const dmx_initrd *initrd, GBytes *loader, const char *map, gsize size, GError **error)
{
	g_autoptr(GByteArray) new = g_byte_array_new();
	g_autoptr(GByteArray) appendix = NULL;
	g_autoptr(GArray) members = new_members(initrd, loader, map);
	gsize old_size;
	const guint8 *old = g_bytes_get_data(initrd->bytes, &old_size);

	appendix = li_initrd_appendix(
		old, old_size, (const li_cpio_member *)members->data, members->len, error);
	if (!appendix)
		return NULL;
	g_byte_array_append(new, old, (guint)old_size);
	g_byte_array_append(new, appendix->data, appendix->len);
	if (!pad(initrd, new, size, error) || !prove(initrd, new, members, error))
		return NULL;
	return g_steal_pointer(&new);
}

/* --- the map --- */

static gboolean wants_map(const li_member *member, gpointer user)
{
	(void)user;
	return g_str_equal(member->path, DMX_MAP_PATH);
}

static gboolean take_map(const li_member *member, gpointer user)
{
	GBytes **map = user;

	if (!wants_map(member, NULL) || !member->data)
		return TRUE;
	*map = g_bytes_new(member->data, member->size);
	return FALSE;
}

GBytes *dmx_initrd_map(const li_iso *iso, const li_file *file, GError **error)
{
	g_autoptr(GBytes) bytes = li_iso_read(iso, file, INITRD_MAX, error);
	g_autoptr(GArray) segments = NULL;
	GBytes *map = NULL;
	li_member_visitor visitor = {wants_map, take_map, &map, DMX_MAP_BYTES_MAX};
	const guint8 *data;
	gsize size;

	if (!bytes)
		return NULL;
	data = g_bytes_get_data(bytes, &size);
	segments = li_initrd_segments(data, size, error);
	if (!segments || !li_initrd_visit(data, segments, segments->len - 1, &visitor, error))
		g_prefix_error(error, "%s:%s: ", iso->path, file->path);
	return map;
}
