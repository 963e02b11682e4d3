/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/inspect.h"

#include <errno.h>
#include <string.h>

#include "dm/hot_map.h"
#include "iso/initrd.h"
#include "iso/kernel_image.h"
#include "reorder/ext4_wrapping.h"
#include "reorder/image/ext4_facts.h"
#include "reorder/image/squashfs_super.h"
#include "reorder/util/error.h"
#include "reorder/util/escape.h"
#include "reorder/util/json.h"

/* An initrd is looked at in memory. */
enum { INITRD_MAX = 512 << 20 };

/* The kernel and the initrds of the default entry. */
typedef struct {
	const char *path;
	guint64 size;
	GArray *segments; /* of li_segment; NULL with problem set */
	char *problem;
} initrd_facts;

typedef struct {
	const li_entry *entry; /* NULL: there is none */
	li_kernel kernel;
	char *kernel_problem; /* why kernel is not filled */
	GPtrArray *initrds;   /* of initrd_facts */
} boot_facts;

/* ---- the images ---- */

/* FALSE without a word where there is none, or none that can be read. */
static gboolean read_super(const li_iso *iso, const li_image *image, img_super *super)
{
	img_source source;

	return image->kind == LI_IMAGE_SQUASHFS && li_iso_source(iso, image->file, &source, NULL) &&
	       img_super_read(&source, super, NULL);
}

static gboolean read_inside(const img_source *source, img_ext4_facts *facts)
{
	g_autoptr(img_tree) outer = img_tree_open(source, NULL);
	guint32 inode = outer ? ro_ext4_find_inside(outer) : IMG_NONE;

	return inode != IMG_NONE && img_ext4_facts_read_inside(outer, inode, facts, NULL);
}

/* Likewise. Clear it in either case. */
static gboolean read_ext4(const li_iso *iso, const li_image *image, img_ext4_facts *facts)
{
	img_source source;

	if (!li_iso_source(iso, image->file, &source, NULL))
		return FALSE;
	if (image->kind == LI_IMAGE_EXT4)
		return img_ext4_facts_read(&source, facts, NULL);
	return image->wraps_ext4 && read_inside(&source, facts);
}

static char *ext4_refusal(const li_iso *iso, const li_image *image)
{
	g_auto(img_ext4_facts) facts = {0};

	return read_ext4(iso, image, &facts) ? g_strdup(facts.refusal) : NULL;
}

/* *images: what is reordered; owned by the caller, NULL if it can't be. */
static char *refusal_of(const li_iso *iso, GPtrArray **images)
{
	g_autoptr(GError) error = NULL;
	char *refusal = NULL;

	*images = li_iso_root_images(iso, &error);
	if (!*images)
		return g_strdup(error->message);
	for (guint i = 0; !refusal && i < (*images)->len; i++)
		refusal = ext4_refusal(iso, (*images)->pdata[i]);
	return refusal;
}

char *ro_inspect_refusal(const li_iso *iso)
{
	g_autoptr(GPtrArray) images = NULL;

	return refusal_of(iso, &images);
}

/* ---- the boot: kernel and initrds ---- */

static void initrd_facts_free(initrd_facts *facts)
{
	g_clear_pointer(&facts->segments, g_array_unref);
	g_free(facts->problem);
	g_free(facts);
}

static initrd_facts *look_at_initrd(const li_iso *iso, const char *path)
{
	initrd_facts *facts = g_new0(initrd_facts, 1);
	const li_file *file = li_iso_find(iso, path);
	g_autoptr(GError) error = NULL;
	g_autoptr(GBytes) bytes = li_iso_read(iso, file, INITRD_MAX, &error);
	gsize size = 0;
	const guint8 *data = bytes ? g_bytes_get_data(bytes, &size) : NULL;

	facts->path = file->path;
	facts->size = file->size;
	if (bytes)
		facts->segments = li_initrd_segments(data, size, &error);
	if (error)
		facts->problem = g_strdup(error->message);
	return facts;
}

static void look_at_boot(const li_iso *iso, boot_facts *facts)
{
	g_autoptr(GError) error = NULL;

	memset(facts, 0, sizeof(*facts));
	facts->initrds = g_ptr_array_new_with_free_func((GDestroyNotify)initrd_facts_free);
	facts->entry = li_iso_default_entry(iso);
	if (!facts->entry)
		return;
	if (!li_kernel_read(iso, li_iso_find(iso, facts->entry->kernel), &facts->kernel, &error))
		facts->kernel_problem = g_strdup(error->message);
	for (guint i = 0; i < facts->entry->initrds->len; i++)
		g_ptr_array_add(
			facts->initrds, look_at_initrd(iso, facts->entry->initrds->pdata[i]));
}

static void boot_facts_clear(boot_facts *facts)
{
	g_free(facts->kernel.version);
	g_free(facts->kernel_problem);
	g_ptr_array_unref(facts->initrds);
}

/* ---- text ---- */

/* "12.3 MB", in a buffer of its own. */
typedef struct {
	char text[32];
} amount;

static amount human(guint64 bytes)
{
	static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
	double value = (double)bytes;
	guint unit = 0;
	amount result;

	while (value >= 999.95 && unit + 1 < G_N_ELEMENTS(units)) {
		value /= 1000;
		unit++;
	}
	g_snprintf(result.text, sizeof(result.text), unit == 0 ? "%.0f %s" : "%.1f %s", value,
		units[unit]);
	return result;
}

/* "1,234,567" */
static amount grouped(guint64 number)
{
	g_autofree char *digits = g_strdup_printf("%" G_GUINT64_FORMAT, number);
	gsize length = strlen(digits), at = 0;
	amount result;

	for (gsize i = 0; i < length; i++) {
		if (i > 0 && (length - i) % 3 == 0)
			result.text[at++] = ',';
		result.text[at++] = digits[i];
	}
	result.text[at] = '\0';
	return result;
}

static void line(FILE *out, const char *name, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* "  name          value", safe for a terminal. */
static void line(FILE *out, const char *name, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_autofree char *text = g_strdup_vprintf(format, args);
	va_end(args);
	g_autofree char *safe = ro_escape_utf8(text);

	fprintf(out, "  %-13s %s\n", name, safe);
}

static void heading(FILE *out, const char *text)
{
	fprintf(out, "\n%s\n", text);
}

static const char *extensions(const li_volume *volume)
{
	static const char *const names[2][3] = {
		{"none", "Joliet", "Joliet (long names)"},
		{"Rock Ridge", "Rock Ridge, Joliet", "Rock Ridge, Joliet (long names)"},
	};
	guint joliet = volume->joliet ? (volume->joliet_long_names ? 2 : 1) : 0;

	return names[volume->rock_ridge ? 1 : 0][joliet];
}

static void print_partitions(const li_volume *volume, FILE *out)
{
	g_autoptr(GPtrArray) parts = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *text = NULL;

	if (volume->mbr)
		g_ptr_array_add(parts, g_strdup_printf("MBR (disk id %08x)", volume->mbr_disk_id));
	if (volume->gpt)
		g_ptr_array_add(
			parts, g_strdup_printf("GPT (disk GUID %s)", volume->gpt_disk_guid));
	if (volume->apm)
		g_ptr_array_add(parts, g_strdup("Apple partition map"));
	g_ptr_array_add(parts, NULL);
	text = g_strjoinv(", ", (char **)parts->pdata);
	line(out, "partitions", "%s", *text ? text : "none");
}

static void print_volume(const li_iso *iso, FILE *out)
{
	const li_volume *volume = &iso->volume;

	line(out, "file", "%s", iso->path);
	line(out, "size", "%s (%s bytes), %s files", human(iso->file_size).text,
		grouped(iso->file_size).text, grouped(iso->files->len).text);
	line(out, "label", "%s", volume->volume_id);
	line(out, "UUID", "%s", volume->volume_uuid ? volume->volume_uuid : "none");
	line(out, "extensions", "%s%s", extensions(volume), volume->udf ? ", UDF" : "");
	print_partitions(volume, out);
	if (volume->isomd5)
		line(out, "checksum", "implanted (isomd5)");
}

static const char *platform_name(guint8 platform)
{
	switch (platform) {
	case 0:
		return "BIOS";
	case 1:
		return "PowerPC";
	case 2:
		return "Mac";
	case 0xef:
		return "EFI";
	default:
		return "other";
	}
}

static void print_boot_images(const li_iso *iso, FILE *out)
{
	heading(out, "Boot images");
	if (iso->boot_images->len == 0)
		line(out, "none", "%s", "");
	for (guint i = 0; i < iso->boot_images->len; i++) {
		const li_boot_image *image = iso->boot_images->pdata[i];

		line(out, platform_name(image->platform), "%s%s%s",
			image->path ? image->path : "outside the file system",
			image->media ? ", emulates a disk" : "",
			image->bootable ? "" : ", not bootable");
	}
}

static const char *entry_marks(const li_entry *entry)
{
	if (entry->is_default)
		return entry->is_live ? "  [default, live]" : "  [default]";
	return entry->is_live ? "  [live]" : "";
}

static void print_entries(const li_iso *iso, FILE *out)
{
	const char *config = NULL;

	heading(out, "Boot entries");
	if (iso->entries->len == 0)
		line(out, "none", "%s", "");
	for (guint i = 0; i < iso->entries->len; i++) {
		const li_entry *entry = iso->entries->pdata[i];
		g_autofree char *number = g_strdup_printf("%4u:", entry->line);

		if (g_strcmp0(config, entry->config) != 0)
			fprintf(out, "  %s\n", config = entry->config);
		line(out, number, "%s  (%s)%s", entry->title, entry->kernel, entry_marks(entry));
	}
}

static void print_kernel(const boot_facts *boot, FILE *out)
{
	const li_kernel *kernel = &boot->kernel;

	line(out, "kernel", "%s", boot->entry->kernel);
	if (boot->kernel_problem) {
		line(out, "", "%s", boot->kernel_problem);
		return;
	}
	line(out, "", "%s, %s bits", human(kernel->size).text, kernel->is_64bit ? "64" : "32");
	line(out, "", "%s", kernel->version ? kernel->version : "no version");
	line(out, "", "payload: %s, %s", kernel->compression, human(kernel->payload_size).text);
}

static void print_initrd(const initrd_facts *initrd, FILE *out)
{
	line(out, "initrd", "%s", initrd->path);
	line(out, "", "%s", human(initrd->size).text);
	if (initrd->problem)
		line(out, "", "%s", initrd->problem);
	for (guint i = 0; initrd->segments && i < initrd->segments->len; i++) {
		const li_segment *segment = &g_array_index(initrd->segments, li_segment, i);

		line(out, "", "segment %u: %s, %s%s", i + 1, segment->compression,
			human(segment->size).text, segment->microcode ? ", microcode" : "");
	}
}

static void print_boot(const boot_facts *boot, FILE *out)
{
	if (!boot->entry)
		return;
	heading(out, "What it starts");
	line(out, "entry", "%s", boot->entry->title);
	print_kernel(boot, out);
	for (guint i = 0; i < boot->initrds->len; i++)
		print_initrd(boot->initrds->pdata[i], out);
	line(out, "command line", "%s", boot->entry->cmdline);
	if (dmx_entry_has_preload(boot->entry))
		line(out, "preload", "yes: reorder-livecd hotmap prints what it reads");
}

static void print_ext4(const img_ext4_facts *facts, FILE *out)
{
	g_autoptr(GString) features = g_string_new(NULL);

	for (guint i = 0; i < facts->features->len; i++)
		g_string_append_printf(
			features, "%s %s", i ? "" : ",", (char *)facts->features->pdata[i]);
	if (facts->path)
		line(out, "", "in it: %s, %s", facts->path, facts->type);
	line(out, "", "blocks of %u KiB%s", facts->block_size / 1024, features->str);
	line(out, "", "%s of %s used, %s free; %s of %s inodes used",
		human(facts->size - facts->free).text, human(facts->size).text,
		human(facts->free).text, grouped(facts->inodes - facts->free_inodes).text,
		grouped(facts->inodes).text);
}

static void print_image(const li_iso *iso, const li_image *image, FILE *out)
{
	g_auto(img_ext4_facts) ext4 = {0};
	img_super super;

	line(out, image->is_root ? "root" : "other", "%s", image->file->path);
	line(out, "", "%s, %s", image->type, human(image->file->size).text);
	if (read_super(iso, image, &super))
		line(out, "", "%s, blocks of %u KiB, %s inodes",
			img_compressor_name(super.compressor), super.block_size / 1024,
			grouped(super.inode_count).text);
	if (read_ext4(iso, image, &ext4))
		print_ext4(&ext4, out);
	if (!image->is_root)
		line(out, "", "no root file system: left alone");
	else if (image->refusal)
		line(out, "", "cannot be reordered: %s", image->refusal);
}

static void print_images(const li_iso *iso, FILE *out)
{
	heading(out, "Live images");
	if (iso->images->len == 0)
		line(out, "none", "%s", "");
	for (guint i = 0; i < iso->images->len; i++)
		print_image(iso, iso->images->pdata[i], out);
}

static void print_verdict(const li_iso *iso, FILE *out)
{
	g_autoptr(GPtrArray) images = NULL;
	g_autofree char *refusal = refusal_of(iso, &images);

	heading(out, "Result");
	for (guint i = 0; i < iso->notes->len; i++)
		line(out, "note", "%s", (char *)iso->notes->pdata[i]);
	if (refusal) {
		line(out, "reorder", "no: %s", refusal);
		return;
	}
	if (images->len > 1)
		line(out, "reorder", "yes, of these what the boot reads files of:");
	for (guint i = 0; i < images->len; i++)
		line(out, images->len > 1 ? "" : "reorder", images->len > 1 ? "%s" : "yes: %s",
			((const li_image *)images->pdata[i])->file->path);
}

gboolean ro_inspect_print(const li_iso *iso, FILE *out, GError **error)
{
	boot_facts boot;

	look_at_boot(iso, &boot);
	fprintf(out, "Volume\n");
	print_volume(iso, out);
	print_boot_images(iso, out);
	print_entries(iso, out);
	print_boot(&boot, out);
	print_images(iso, out);
	print_verdict(iso, out);
	boot_facts_clear(&boot);
	if (fflush(out) != 0 || ferror(out))
		return ro_fail_errno(error, errno, "cannot write the report");
	return TRUE;
}

/* ---- JSON ---- */

static void begin_array(JsonBuilder *b, const char *name)
{
	json_builder_set_member_name(b, name);
	json_builder_begin_array(b);
}

static void begin_object(JsonBuilder *b, const char *name)
{
	json_builder_set_member_name(b, name);
	json_builder_begin_object(b);
}

static void json_volume(const li_volume *volume, JsonBuilder *b)
{
	begin_object(b, "volume");
	ro_json_bytes(b, "id", volume->volume_id);
	ro_json_bytes(b, "uuid", volume->volume_uuid);
	ro_json_int(b, "size", (gint64)volume->size);
	ro_json_bytes(b, "system_id", volume->system_id);
	ro_json_bytes(b, "publisher_id", volume->publisher_id);
	ro_json_bytes(b, "preparer_id", volume->preparer_id);
	ro_json_bytes(b, "application_id", volume->application_id);
	ro_json_bool(b, "rock_ridge", volume->rock_ridge);
	ro_json_bool(b, "joliet", volume->joliet);
	ro_json_bool(b, "joliet_long_names", volume->joliet_long_names);
	ro_json_bool(b, "udf", volume->udf);
	ro_json_bool(b, "multi_session", volume->multi_session);
	ro_json_bool(b, "isomd5", volume->isomd5);
	ro_json_bool(b, "mbr", volume->mbr);
	ro_json_int(b, "mbr_disk_id", volume->mbr_disk_id);
	ro_json_bool(b, "gpt", volume->gpt);
	ro_json_bytes(b, "gpt_disk_guid", volume->gpt_disk_guid);
	ro_json_bool(b, "apm", volume->apm);
	json_builder_end_object(b);
}

static void json_boot_images(const li_iso *iso, JsonBuilder *b)
{
	begin_array(b, "boot_images");
	for (guint i = 0; i < iso->boot_images->len; i++) {
		const li_boot_image *image = iso->boot_images->pdata[i];

		json_builder_begin_object(b);
		ro_json_bytes(b, "platform", platform_name(image->platform));
		ro_json_int(b, "platform_id", image->platform);
		ro_json_bool(b, "bootable", image->bootable);
		ro_json_int(b, "media", image->media);
		ro_json_int(b, "load_sectors", image->load_sectors);
		ro_json_int(b, "offset", (gint64)image->offset);
		ro_json_bytes(b, "path", image->path);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
}

static void json_strings(const char *name, const GPtrArray *strings, JsonBuilder *b)
{
	begin_array(b, name);
	for (guint i = 0; i < strings->len; i++) {
		g_autofree char *text = ro_escape_utf8(strings->pdata[i]);

		json_builder_add_string_value(b, text);
	}
	json_builder_end_array(b);
}

static void json_entries(const li_iso *iso, const li_entry *chosen, JsonBuilder *b)
{
	begin_array(b, "entries");
	for (guint i = 0; i < iso->entries->len; i++) {
		const li_entry *entry = iso->entries->pdata[i];

		json_builder_begin_object(b);
		ro_json_bytes(b, "title", entry->title);
		ro_json_bytes(b, "config", entry->config);
		ro_json_int(b, "line", entry->line);
		ro_json_bytes(b, "kernel", entry->kernel);
		json_strings("initrds", entry->initrds, b);
		ro_json_bytes(b, "cmdline", entry->cmdline);
		ro_json_bool(b, "preload", dmx_entry_has_preload(entry));
		ro_json_bool(b, "default", entry->is_default);
		ro_json_bool(b, "live", entry->is_live);
		ro_json_bool(b, "chosen", entry == chosen);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
}

static void json_kernel(const boot_facts *boot, JsonBuilder *b)
{
	const li_kernel *kernel = &boot->kernel;

	begin_object(b, "kernel");
	ro_json_bytes(b, "path", boot->entry->kernel);
	ro_json_bytes(b, "problem", boot->kernel_problem);
	if (!boot->kernel_problem) {
		ro_json_int(b, "size", (gint64)kernel->size);
		ro_json_bytes(b, "version", kernel->version);
		ro_json_bytes(b, "compression", kernel->compression);
		ro_json_int(b, "payload_size", (gint64)kernel->payload_size);
		ro_json_bool(b, "64bit", kernel->is_64bit);
	}
	json_builder_end_object(b);
}

static void json_segments(const initrd_facts *initrd, JsonBuilder *b)
{
	begin_array(b, "segments");
	for (guint i = 0; initrd->segments && i < initrd->segments->len; i++) {
		const li_segment *segment = &g_array_index(initrd->segments, li_segment, i);

		json_builder_begin_object(b);
		ro_json_int(b, "offset", (gint64)segment->offset);
		ro_json_int(b, "size", (gint64)segment->size);
		ro_json_bytes(b, "compression", segment->compression);
		ro_json_bool(b, "microcode", segment->microcode);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
}

static void json_initrds(const boot_facts *boot, JsonBuilder *b)
{
	begin_array(b, "initrds");
	for (guint i = 0; i < boot->initrds->len; i++) {
		const initrd_facts *initrd = boot->initrds->pdata[i];

		json_builder_begin_object(b);
		ro_json_bytes(b, "path", initrd->path);
		ro_json_int(b, "size", (gint64)initrd->size);
		ro_json_bytes(b, "problem", initrd->problem);
		json_segments(initrd, b);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
}

static const char *kind_name(li_image_kind kind)
{
	static const char *const names[] = {"squashfs", "ext4", "erofs", "other"};

	return names[kind];
}

static void json_super(const img_super *super, JsonBuilder *b)
{
	ro_json_bytes(b, "compressor", img_compressor_name(super->compressor));
	ro_json_int(b, "block_size", super->block_size);
	ro_json_int(b, "inodes", super->inode_count);
	ro_json_int(b, "fragments", super->fragment_count);
	ro_json_int(b, "flags", super->flags);
	ro_json_int(b, "mkfs_time", super->mkfs_time);
	ro_json_int(b, "bytes_used", (gint64)super->bytes_used);
}

static void json_ext4(const img_ext4_facts *facts, JsonBuilder *b)
{
	begin_object(b, "filesystem");
	ro_json_bytes(b, "path", facts->path);
	ro_json_bytes(b, "type", facts->type);
	ro_json_int(b, "block_size", facts->block_size);
	json_strings("features", facts->features, b);
	ro_json_int(b, "size", (gint64)facts->size);
	ro_json_int(b, "free", (gint64)facts->free);
	ro_json_int(b, "inodes", facts->inodes);
	ro_json_int(b, "inodes_free", facts->free_inodes);
	json_builder_end_object(b);
}

static void json_images(const li_iso *iso, JsonBuilder *b)
{
	begin_array(b, "images");
	for (guint i = 0; i < iso->images->len; i++) {
		const li_image *image = iso->images->pdata[i];
		g_auto(img_ext4_facts) ext4 = {0};
		img_super super;

		json_builder_begin_object(b);
		ro_json_bytes(b, "path", image->file->path);
		ro_json_bytes(b, "kind", kind_name(image->kind));
		ro_json_bytes(b, "type", image->type);
		ro_json_int(b, "size", (gint64)image->file->size);
		ro_json_bool(b, "root", image->is_root);
		ro_json_bytes(b, "refusal", image->refusal);
		if (read_super(iso, image, &super))
			json_super(&super, b);
		if (read_ext4(iso, image, &ext4))
			json_ext4(&ext4, b);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
}

void ro_inspect_json(const li_iso *iso, JsonBuilder *builder)
{
	g_autofree char *refusal = ro_inspect_refusal(iso);
	boot_facts boot;

	look_at_boot(iso, &boot);
	json_builder_begin_object(builder);
	ro_json_bytes(builder, "file", iso->path);
	ro_json_int(builder, "size", (gint64)iso->file_size);
	ro_json_int(builder, "files", iso->files->len);
	json_volume(&iso->volume, builder);
	json_boot_images(iso, builder);
	json_entries(iso, boot.entry, builder);
	if (boot.entry) {
		json_kernel(&boot, builder);
		json_initrds(&boot, builder);
	}
	json_images(iso, builder);
	json_strings("notes", iso->notes, builder);
	ro_json_bytes(builder, "refusal", refusal);
	json_builder_end_object(builder);
	boot_facts_clear(&boot);
}
