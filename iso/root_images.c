/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which of the images the root is made of. */
#include "iso/live_image.h"

#include <string.h>

#include "iso/boot_config.h"
#include "reorder/util/error.h"

/* Where the default entry's live framework looks for its image; by default where its kernel is. */
typedef struct {
	char *dir;  /* "/live/" */
	char *file; /* "/LiveOS/squashfs.img" where the framework takes exactly one; else NULL */
	char *top;  /* "a.b.squashfs" where it takes this one over a.squashfs; else NULL */
} place;

static void place_clear(place *where)
{
	g_free(where->dir);
	g_free(where->file);
	g_free(where->top);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(place, place_clear)

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
	where->top = li_cmdline_value(entry->cmdline, "layerfs-path");
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
static gboolean module_list_names(const li_iso *iso, const li_image *image)
{
	g_autofree char *dir = directory_of(image->file->path);
	g_autofree char *base = g_path_get_basename(image->file->path);
	g_autofree char *path = g_strconcat(dir, "filesystem.module", NULL);
	const li_file *file = li_iso_find(iso, path);
	g_autoptr(GBytes) bytes = file ? li_iso_read(iso, file, LI_CONFIG_MAX_TEXT, NULL) : NULL;
	gsize size;
	const char *data = bytes ? g_bytes_get_data(bytes, &size) : NULL;
	g_autofree char *text = data ? g_strndup(data, size) : NULL;
	g_auto(GStrv) words = text ? g_strsplit_set(text, " \t\r\n", -1) : NULL;

	return !words || g_strv_contains((const char *const *)words, base);
}

static const char *suffix(const char *path)
{
	const char *dot = strrchr(strrchr(path, '/'), '.');

	return dot ? dot : "";
}

/* Other squashfs images beside a root, of the same kind of name: live-boot, casper and others stack
 * all of them, or some. */
static gboolean is_beside(const li_image *root, const li_image *other)
{
	const char *a = root->file->path, *b = other->file->path;
	gsize dir = (gsize)(strrchr(a, '/') - a);

	return other->kind == LI_IMAGE_SQUASHFS && (gsize)(strrchr(b, '/') - b) == dir &&
	       strncmp(a, b, dir) == 0 && g_ascii_strcasecmp(suffix(a), suffix(b)) == 0;
}

static void add_layers(const li_iso *iso, GPtrArray *images)
{
	guint roots = images->len;

	for (guint i = 0; i < iso->images->len; i++) {
		li_image *other = iso->images->pdata[i];
		gboolean beside = FALSE;

		for (guint k = 0; !beside && k < roots; k++)
			beside = is_beside(images->pdata[k], other);
		if (beside && !g_ptr_array_find(images, other, NULL))
			g_ptr_array_add(images, other);
	}
}

/* Less what a list of them leaves out, unless that is all. */
static void drop_unlisted(const li_iso *iso, GPtrArray *images)
{
	g_autoptr(GPtrArray) unlisted = g_ptr_array_new();

	for (guint i = 0; i < images->len; i++)
		if (!module_list_names(iso, images->pdata[i]))
			g_ptr_array_add(unlisted, images->pdata[i]);
	if (unlisted->len == images->len)
		return;
	for (guint i = 0; i < unlisted->len; i++)
		g_ptr_array_remove(images, unlisted->pdata[i]);
}

/* casper: a name has those of all layers below in front. */
static gboolean is_below(const li_image *image, const char *top)
{
	const char *base = strrchr(image->file->path, '/') + 1;
	gsize stem = strlen(base) - strlen(suffix(image->file->path));

	return strncmp(base, top, stem) == 0 && top[stem] == '.';
}

static int compare_paths(gconstpointer a, gconstpointer b)
{
	return strcmp((*(li_image *const *)a)->file->path, (*(li_image *const *)b)->file->path);
}

GPtrArray *li_images_of_root(const li_iso *iso)
{
	const li_entry *entry = li_iso_default_entry(iso);
	GPtrArray *images = g_ptr_array_new();
	g_auto(place) where = {0};

	for (guint i = 0; i < iso->images->len; i++)
		if (((const li_image *)iso->images->pdata[i])->is_root)
			g_ptr_array_add(images, iso->images->pdata[i]);
	if (entry)
		place_of_entry(entry, &where);
	narrow(images, lies_in, where.dir);
	narrow(images, is_file, where.file);
	if (!where.file)
		add_layers(iso, images);
	drop_unlisted(iso, images);
	narrow(images, is_below, where.top);
	g_ptr_array_sort(images, compare_paths);
	return images;
}

/* ---- whether they can be reordered ---- */

static gboolean fail_for(
	const li_iso *iso, const li_image *image, const char *reason, GError **error)
{
	return ro_fail(
		error, RO_ERROR_UNSUITABLE, "%s:%s: %s", iso->path, image->file->path, reason);
}

/* What is written in one place would be over in the other. */
static gboolean check_apart(const li_iso *iso, const GPtrArray *images, GError **error)
{
	g_autoptr(GHashTable) starts = g_hash_table_new(g_int64_hash, g_int64_equal);

	for (guint i = 0; i < images->len; i++) {
		const li_image *image = images->pdata[i];

		if (!g_hash_table_add(starts, &image->file->extents[0].offset))
			return fail_for(iso, image,
				"has the bytes of another layer; make the ISO with a copy of its own",
				error);
	}
	return TRUE;
}

static gboolean check_layers(const li_iso *iso, const GPtrArray *images, GError **error)
{
	if (images->len > LI_LAYERS_MAX)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: %u images that its root may be made of; only %u are supported",
			iso->path, images->len, LI_LAYERS_MAX);
	for (guint i = 0; i < images->len; i++) {
		const li_image *image = images->pdata[i];

		if (image->kind != LI_IMAGE_SQUASHFS || image->wraps_ext4)
			return fail_for(iso, image,
				"an ext4 beside other images of a root; only squashfs layers are supported",
				error);
	}
	return check_apart(iso, images, error);
}

GPtrArray *li_iso_root_images(const li_iso *iso, GError **error)
{
	g_autoptr(GPtrArray) images = NULL;

	if (iso->refusal) {
		ro_fail(error, RO_ERROR_UNSUITABLE, "%s: %s", iso->path, iso->refusal);
		return NULL;
	}
	images = li_images_of_root(iso);
	for (guint i = 0; i < images->len; i++) {
		const li_image *image = images->pdata[i];

		if (image->refusal) {
			fail_for(iso, image, image->refusal, error);
			return NULL;
		}
	}
	if (images->len > 1 && !check_layers(iso, images, error))
		return NULL;
	return g_steal_pointer(&images);
}
