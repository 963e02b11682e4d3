/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/live_image.h"

#include <string.h>

#include <blkid.h>

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

static void refuse_sealed(
	const li_iso *iso, li_image *image, const img_source *source, guint64 bytes_used)
{
	g_autofree char *seal = li_seal_find(iso, image->file, source, bytes_used);

	if (seal)
		refuse(image, "%s", seal);
}

static void look_into_squashfs(const li_iso *iso, li_image *image, const img_source *source)
{
	g_autoptr(GError) reason = NULL;
	g_autoptr(img_tree) tree = NULL;
	img_super super;

	/* If it can't be read, it may be the root. */
	image->is_root = TRUE;
	if (!img_super_read(source, &super, &reason) || !(tree = img_tree_open(source, &reason))) {
		refuse_for_error(image, source, reason);
		return;
	}
	image->wraps_ext4 = holds_ext4(tree);
	image->is_root = image->wraps_ext4 || is_root_tree(tree);
	if (image->is_root)
		refuse_sealed(iso, image, source, super.bytes_used);
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
	image->is_root = has_root_name(image->file);
	if (image->is_root)
		refuse_sealed(iso, image, source, source->size);
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

/* A layer need not look like a root by itself. */
static void mark_layers(const li_iso *iso)
{
	g_autoptr(GPtrArray) layers = li_images_of_root(iso);

	for (guint i = 0; i < layers->len; i++) {
		li_image *image = layers->pdata[i];
		img_source source;
		img_super super;

		if (image->is_root || !li_iso_source(iso, image->file, &source, NULL) ||
			!img_super_read(&source, &super, NULL))
			continue;
		image->is_root = TRUE;
		refuse_sealed(iso, image, &source, super.bytes_used);
	}
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
		mark_layers(iso);
	return ok;
}
