/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/live_image.h"

#include <string.h>

#include <blkid.h>

#include "iso/boot_config.h"
#include "iso/seal.h"
#include "iso/volume.h"
#include "reorder/image/image_tree.h"
#include "reorder/util/error.h"
#include "reorder/util/interrupt.h"

enum { PROBE_MIN = 64 * 1024, MAX_IMAGES = 500 };

/* Filesystems that a live system could have its root in, as libblkid names them. */
static const struct {
	const char *type;
	li_image_kind kind;
} types[] = {
	{"squashfs", LI_IMAGE_SQUASHFS},
	{"squashfs3", LI_IMAGE_SQUASHFS},
	{"ext2", LI_IMAGE_EXT4},
	{"ext3", LI_IMAGE_EXT4},
	{"ext4", LI_IMAGE_EXT4},
	{"ext4dev", LI_IMAGE_EXT4},
	{"erofs", LI_IMAGE_EROFS},
	{"btrfs", LI_IMAGE_OTHER},
	{"xfs", LI_IMAGE_OTHER},
	{"f2fs", LI_IMAGE_OTHER},
	{"cramfs", LI_IMAGE_OTHER},
	{"crypto_LUKS", LI_IMAGE_OTHER},
};

/* So that a small image is seen as well. */
static const struct {
	guint at;
	const char *magic;
	guint size;
	const char *type;
} magics[] = {
	{0, "hsqs", 4, "squashfs"},
	{0, "sqsh", 4, "squashfs"}, /* big endian */
	{0, "shsq", 4, "squashfs"}, /* lzma, before 4.0 */
	{0, "qshs", 4, "squashfs"},
	{1024, "\xe2\xe1\xf5\xe0", 4, "erofs"},
	{1080, "\x53\xef", 2, "ext4"},
};

void li_image_free(li_image *image)
{
	if (!image)
		return;
	g_free(image->type);
	g_free(image->refusal);
	g_free(image);
}

static const char *type_by_magic(const img_source *source)
{
	guint8 start[1088] = {0};

	if (!img_source_read(source, 0, start, (gsize)MIN(sizeof(start), source->size), NULL))
		return NULL;
	for (gsize i = 0; i < G_N_ELEMENTS(magics); i++)
		if (memcmp(start + magics[i].at, magics[i].magic, magics[i].size) == 0)
			return magics[i].type;
	return NULL;
}

static blkid_probe probe_new(void)
{
	char *names[G_N_ELEMENTS(types) + 1] = {NULL};
	blkid_probe probe = blkid_new_probe();

	if (!probe)
		return NULL;
	for (gsize i = 0; i < G_N_ELEMENTS(types); i++)
		names[i] = (char *)types[i].type;
	blkid_probe_enable_superblocks(probe, 1);
	blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE);
	blkid_probe_filter_superblocks_type(probe, BLKID_FLTR_ONLYIN, names);
	return probe;
}

/* libblkid's name, owned by the caller; NULL if it knows nothing. */
static char *type_by_probe(blkid_probe probe, const img_source *source)
{
	const char *type = NULL;

	if (!probe ||
		blkid_probe_set_device(probe, source->fd, (blkid_loff_t)source->offset,
			(blkid_loff_t)source->size) != 0 ||
		blkid_do_safeprobe(probe) != 0 ||
		blkid_probe_lookup_value(probe, "TYPE", &type, NULL) != 0)
		return NULL;
	return g_strdup(type);
}

static gboolean find_kind(const char *type, li_image_kind *kind)
{
	for (gsize i = 0; i < G_N_ELEMENTS(types); i++)
		if (strcmp(type, types[i].type) == 0) {
			*kind = types[i].kind;
			return TRUE;
		}
	return FALSE;
}

/* NULL if the file is no image. */
static li_image *image_of_file(blkid_probe probe, const li_file *file, const img_source *source)
{
	const char *magic = type_by_magic(source);
	g_autofree char *type = NULL;
	li_image_kind kind;
	li_image *image;

	if (!magic && file->size < PROBE_MIN)
		return NULL;
	type = type_by_probe(probe, source);
	/* Two bytes of ext magic are not enough on their own. */
	if (!type && magic && strcmp(magic, "ext4") != 0)
		type = g_strdup(magic);
	if (!type || !find_kind(type, &kind))
		return NULL;
	image = g_new0(li_image, 1);
	image->file = file;
	image->kind = kind;
	image->type = g_steal_pointer(&type);
	return image;
}

static void refuse(li_image *image, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* The first reason stays. */
static void refuse(li_image *image, const char *format, ...)
{
	va_list args;

	if (image->refusal)
		return;
	va_start(args, format);
	image->refusal = g_strdup_vprintf(format, args);
	va_end(args);
}

/* Messages begin with the object's name, a refusal does not. */
static void refuse_for_error(li_image *image, const img_source *source, const GError *error)
{
	gsize length = strlen(source->label);
	const char *text = error->message;

	if (g_str_has_prefix(text, source->label) && g_str_has_prefix(text + length, ": "))
		text += length + 2;
	refuse(image, "%s", text);
}

static gboolean has_path(const img_tree *tree, const char *path)
{
	return img_tree_resolve(tree, path, FALSE) != IMG_NONE;
}

/* dracut's old layout: the squashfs is only the wrapping. */
static gboolean holds_ext4(const img_tree *tree)
{
	return has_path(tree, "LiveOS/rootfs.img") || has_path(tree, "LiveOS/ext3fs.img");
}

static gboolean is_root_tree(const img_tree *tree)
{
	if (has_path(tree, "meta/snap.yaml"))
		return FALSE;
	return has_path(tree, "sbin/init") || has_path(tree, "etc/os-release") ||
	       has_path(tree, "usr/lib/os-release");
}

static void look_into_squashfs(const li_iso *iso, li_image *image, const img_source *source)
{
	g_autoptr(GError) reason = NULL;
	g_autoptr(img_tree) tree = NULL;
	g_autofree char *seal = NULL;
	img_super super;

	/* If it can't be read, it may be the root. */
	image->is_root = TRUE;
	if (!img_super_read(source, &super, &reason) || !(tree = img_tree_open(source, &reason))) {
		refuse_for_error(image, source, reason);
		return;
	}
	image->wraps_ext4 = holds_ext4(tree);
	image->is_root = image->wraps_ext4 || is_root_tree(tree);
	if (!image->is_root)
		return;
	seal = li_seal_find(iso, image->file, source, super.bytes_used);
	if (seal)
		refuse(image, "%s", seal);
}

/* Names that live frameworks give to a root without a squashfs around it. */
static gboolean has_root_name(const li_file *file)
{
	static const char *const prefixes[] = {
		"rootfs.", "ext3fs.", "filesystem.", "squashfs.", "airootfs."};
	const char *base = strrchr(file->path, '/') + 1;

	for (gsize i = 0; i < G_N_ELEMENTS(prefixes); i++)
		if (g_str_has_prefix(base, prefixes[i]))
			return TRUE;
	return FALSE;
}

/* A root without a squashfs around it. What can't be done with it, who opens it says. */
static void look_into_ext4(const li_iso *iso, li_image *image, const img_source *source)
{
	g_autofree char *seal = NULL;

	image->is_root = has_root_name(image->file);
	if (!image->is_root)
		return;
	seal = li_seal_find(iso, image->file, source, source->size);
	if (seal)
		refuse(image, "%s", seal);
}

static void look_into(const li_iso *iso, li_image *image, const img_source *source)
{
	switch (image->kind) {
	case LI_IMAGE_SQUASHFS:
		look_into_squashfs(iso, image, source);
		return;
	case LI_IMAGE_EXT4:
		look_into_ext4(iso, image, source);
		return;
	case LI_IMAGE_EROFS:
		image->is_root = TRUE;
		refuse(image, "EROFS; not supported yet, only squashfs is");
		return;
	default:
		image->is_root = has_root_name(image->file);
		refuse(image, "%s without a squashfs around it; not supported yet", image->type);
		return;
	}
}

static gboolean is_boot_image(const li_iso *iso, const li_file *file)
{
	for (guint i = 0; i < iso->boot_images->len; i++)
		if (g_strcmp0(((const li_boot_image *)iso->boot_images->pdata[i])->path,
			    file->path) == 0)
			return TRUE;
	return FALSE;
}

static void look_at_file(li_iso *iso, blkid_probe probe, const li_file *file)
{
	img_source source;
	li_image *image;

	if (file->size < IMG_SUPER_SIZE || is_boot_image(iso, file) ||
		!li_iso_source(iso, file, &source, NULL))
		return;
	image = image_of_file(probe, file, &source);
	if (!image)
		return;
	look_into(iso, image, &source);
	g_ptr_array_add(iso->images, image);
}

/* ---- which of them is the root ---- */

/* Where the default entry's live framework looks for its image; by default where its kernel is. */
typedef struct {
	char *dir;  /* "/live/" */
	char *file; /* "/LiveOS/squashfs.img" where the framework takes exactly one; else NULL */
} place;

static char *directory(const char *name)
{
	g_autofree char *path = li_config_path("/", name);

	return g_strconcat(path, "/", NULL);
}

static char *directory_of(const char *path)
{
	return g_strndup(path, (gsize)(strrchr(path, '/') + 1 - path));
}

static char *value_or(const char *cmdline, const char *name, const char *otherwise)
{
	char *value = li_cmdline_value(cmdline, name);

	return value && *value ? value : (g_free(value), g_strdup(otherwise));
}

static void place_of_dracut(const char *cmdline, place *where)
{
	g_autofree char *dir = value_or(cmdline, "rd.live.dir", "LiveOS");
	g_autofree char *file = value_or(cmdline, "rd.live.squashimg", "squashfs.img");

	where->dir = directory(dir);
	where->file = g_strconcat(where->dir, file, NULL);
}

static void place_of_entry(const li_entry *entry, place *where)
{
	g_autofree char *boot = li_cmdline_value(entry->cmdline, "boot");
	g_autofree char *root = li_cmdline_value(entry->cmdline, "root");
	g_autofree char *base = li_cmdline_value(entry->cmdline, "archisobasedir");
	g_autofree char *media = value_or(entry->cmdline, "live-media-path", boot ? boot : "");

	if (!base)
		base = li_cmdline_value(entry->cmdline, "misobasedir");
	if (g_strcmp0(boot, "live") == 0 || g_strcmp0(boot, "casper") == 0)
		where->dir = directory(media);
	else if (li_cmdline_has(entry->cmdline, "rd.live.image") ||
		 (root && g_str_has_prefix(root, "live:")))
		place_of_dracut(entry->cmdline, where);
	else
		where->dir = base ? directory(base) : directory_of(entry->kernel);
}

static gboolean lies_in(const li_image *image, const char *dir)
{
	return g_ascii_strncasecmp(image->file->path, dir, strlen(dir)) == 0;
}

/* Keeps those that pass, if any does. */
static void narrow(
	GPtrArray *images, gboolean (*passes)(const li_image *, const char *), const char *text)
{
	gboolean any = FALSE;

	for (guint i = 0; text && i < images->len; i++)
		any = any || passes(images->pdata[i], text);
	for (guint i = images->len; any && i-- > 0;)
		if (!passes(images->pdata[i], text))
			g_ptr_array_remove_index(images, i);
}

static gboolean is_file(const li_image *image, const char *path)
{
	return g_ascii_strcasecmp(image->file->path, path) == 0;
}

/* live-boot mounts only what this list names, where there is one. */
static gboolean module_list_names(const li_iso *iso, const char *dir, const char *base)
{
	g_autofree char *path = g_strconcat(dir, "filesystem.module", NULL);
	const li_file *file = li_iso_find(iso, path);
	g_autoptr(GBytes) bytes = file ? li_iso_read(iso, file, LI_CONFIG_MAX_TEXT, NULL) : NULL;
	gsize size;
	const char *data = bytes ? g_bytes_get_data(bytes, &size) : NULL;
	g_autofree char *text = data ? g_strndup(data, size) : NULL;
	g_auto(GStrv) words = text ? g_strsplit_set(text, " \t\r\n", -1) : NULL;

	return !words || g_strv_contains((const char *const *)words, base);
}

static const char *suffix(const char *base)
{
	const char *dot = strrchr(base, '.');

	return dot ? dot : "";
}

/* Other squashfs images beside the root, of the same kind of name: live-boot, casper and others
 * stack all of them. */
static gboolean is_layer(const li_iso *iso, const li_image *root, const li_image *other)
{
	g_autofree char *dir = g_path_get_dirname(root->file->path);
	g_autofree char *other_dir = g_path_get_dirname(other->file->path);
	g_autofree char *base = g_path_get_basename(root->file->path);
	g_autofree char *other_base = g_path_get_basename(other->file->path);
	g_autofree char *slash = g_strconcat(dir, "/", NULL);

	return other != root && other->kind == LI_IMAGE_SQUASHFS && strcmp(dir, other_dir) == 0 &&
	       g_ascii_strcasecmp(suffix(base), suffix(other_base)) == 0 &&
	       module_list_names(iso, slash, other_base);
}

static void add_layers(const li_iso *iso, GPtrArray *images)
{
	const li_image *root = images->pdata[0];

	for (guint i = 0; i < iso->images->len; i++)
		if (is_layer(iso, root, iso->images->pdata[i]))
			g_ptr_array_add(images, iso->images->pdata[i]);
}

GPtrArray *li_images_of_root(const li_iso *iso)
{
	const li_entry *entry = li_iso_default_entry(iso);
	GPtrArray *images = g_ptr_array_new();
	place where = {0};

	for (guint i = 0; i < iso->images->len; i++)
		if (((const li_image *)iso->images->pdata[i])->is_root)
			g_ptr_array_add(images, iso->images->pdata[i]);
	if (entry)
		place_of_entry(entry, &where);
	narrow(images, lies_in, where.dir);
	narrow(images, is_file, where.file);
	if (images->len == 1 && !where.file)
		add_layers(iso, images);
	g_free(where.dir);
	g_free(where.file);
	return images;
}

static void refuse_layers(li_iso *iso)
{
	g_autoptr(GPtrArray) layers = li_images_of_root(iso);

	for (guint i = 0; layers->len > 1 && i < layers->len; i++)
		refuse(layers->pdata[i], "one of %u layers; layered images are not supported yet",
			layers->len);
}

gboolean li_images_find(li_iso *iso, GError **error)
{
	blkid_probe probe = probe_new();
	gboolean ok = TRUE;

	for (guint i = 0; ok && i < iso->files->len && iso->images->len < MAX_IMAGES; i++) {
		look_at_file(iso, probe, iso->files->pdata[i]);
		ok = !ro_interrupted(error);
	}
	blkid_free_probe(probe);
	if (ok)
		refuse_layers(iso);
	return ok;
}
