/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/boot_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "iso/volume_tree.h"
#include "iso/xorriso.h"
#include "reorder/util/error.h"

/* What becomes of the lines with this label. */
typedef enum {
	KEEP,
	DROP,    /* follows from the size or the position of things */
	IMAGE,   /* the last field is an address */
	CATALOG, /* the first is */
	ENTRIES, /* start and number, which xorriso has fixed ones for, then a word */
	RANGE,   /* partition: start, or start and size */
} line_kind;

static const struct {
	const char *label;
	line_kind kind;
} line_kinds[] = {
	{"El Torito catalog", CATALOG},
	{"El Torito boot img", IMAGE},
	{"ISO image size/512", DROP},
	{"MBR heads per cyl", DROP},
	{"MBR secs per head", DROP},
	{"MBR partition", RANGE},
	{"GPT lba range", DROP},
	{"GPT entry array", ENTRIES},
	{"GPT start and size", RANGE},
	{"APM start and size", RANGE},
	{"APM gap fillers", DROP},
};

static void image_free(gpointer data)
{
	li_boot_report_image *image = data;

	g_free(image->path);
	g_free(image);
}

void li_boot_report_free(li_boot_report *report)
{
	if (!report)
		return;
	g_ptr_array_unref(report->lines);
	g_ptr_array_unref(report->images);
	g_array_unref(report->partitions);
	g_free(report->catalog);
	g_free(report);
}

/* "Label   : value"; NULL if the line is something else. *label is set to the text without its
 * blanks. */
static const char *split(const char *line, char **label)
{
	const char *colon = strchr(line, ':');

	*label = NULL;
	if (!colon)
		return NULL;
	*label = g_strchomp(g_strndup(line, (gsize)(colon - line)));
	return colon + 1;
}

static li_boot_report_image *image_by_number(const li_boot_report *report, guint number)
{
	for (guint i = 0; i < report->images->len; i++) {
		li_boot_report_image *image = g_ptr_array_index(report->images, i);

		if (image->number == number)
			return image;
	}
	return NULL;
}

/* "   1  BIOS  y   none  0x0000  0x00      4         761" */
static void take_image(li_boot_report *report, const char *value)
{
	li_boot_report_image *image = g_new0(li_boot_report_image, 1);
	unsigned long long lba;

	if (sscanf(value, "%u %*s %*s %*s %*s %*s %*s %llu", &image->number, &lba) == 2)
		image->offset = (guint64)lba * LI_SECTOR;
	g_ptr_array_add(report->images, image);
}

/* "   1  /isolinux/isolinux.bin": the number has three columns, then two blanks. */
static const char *after_number(const char *value, guint *number)
{
	char *end;

	*number = (guint)strtoul(value, &end, 10);
	return g_str_has_prefix(end, "  ") ? end + 2 : end;
}

static void take_image_detail(li_boot_report *report, const char *label, const char *value)
{
	guint number;
	const char *text = after_number(value, &number);
	li_boot_report_image *image = image_by_number(report, number);

	if (!image)
		return;
	if (g_str_equal(label, "El Torito img path")) {
		g_free(image->path);
		image->path = g_strdup(text);
	} else if (g_str_equal(label, "El Torito img blks")) {
		image->size = g_ascii_strtoull(text, NULL, 10) * LI_SECTOR;
	} else if (g_str_equal(label, "El Torito img opts")) {
		image->info_table = strstr(text, "boot-info-table") != NULL;
		image->grub2_info = strstr(text, "grub2-boot-info") != NULL;
	}
}

static void take_partition(
	li_boot_report *report, const char *label, const char *value, guint64 apm_block)
{
	li_boot_report_partition p = {.table = label[0]};
	guint64 unit = label[0] == 'A' ? apm_block : 512;
	unsigned long long start, size;
	int found;

	if (label[0] == 'M')
		found = sscanf(value, "%u %*s %*s %llu %llu", &p.number, &start, &size);
	else
		found = sscanf(value, "%u %llu %llu", &p.number, &start, &size);
	if (found != 3)
		return;
	p.offset = (guint64)start * unit;
	p.size = (guint64)size * unit;
	g_array_append_val(report->partitions, p);
}

static gboolean is_gap_name(const char *name)
{
	return g_str_has_prefix(name, "Gap") && g_ascii_isdigit(name[3]);
}

/* The name comes before the range in the report, so the fillers are remembered here. */
static guint64 gap_key(char table, guint number)
{
	return (guint64)(guchar)table << 32 | number;
}

static GHashTable *find_gaps(const li_boot_report *report)
{
	GHashTable *gaps = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);

	for (guint i = 0; i < report->lines->len; i++) {
		g_autofree char *label = NULL;
		const char *value = split(g_ptr_array_index(report->lines, i), &label);
		guint number;
		guint64 key;

		if (!value ||
			(!g_str_equal(label, "GPT partname local") &&
				!g_str_equal(label, "APM partition name")) ||
			!is_gap_name(after_number(value, &number)))
			continue;
		key = gap_key(label[0], number);
		g_hash_table_add(gaps, g_memdup2(&key, sizeof(key)));
	}
	return gaps;
}

static void mark_gaps(li_boot_report *report)
{
	g_autoptr(GHashTable) gaps = find_gaps(report);

	for (guint i = 0; i < report->partitions->len; i++) {
		li_boot_report_partition *p =
			&g_array_index(report->partitions, li_boot_report_partition, i);
		guint64 key = gap_key(p->table, p->number);

		p->gap = g_hash_table_contains(gaps, &key);
	}
}

static void take_line(
	li_boot_report *report, const char *label, const char *value, guint64 *apm_block)
{
	if (g_str_equal(label, "El Torito boot img"))
		take_image(report, value);
	else if (g_str_has_prefix(label, "El Torito img "))
		take_image_detail(report, label, value);
	else if (g_str_equal(label, "El Torito cat path")) {
		g_free(report->catalog);
		report->catalog = g_strdup(value + (*value == ' '));
	} else if (g_str_equal(label, "APM block size"))
		*apm_block = g_ascii_strtoull(value, NULL, 10);
	else if (g_str_equal(label, "Partition offset"))
		report->partition_offset = g_ascii_strtoull(value, NULL, 10) * LI_SECTOR;
	else if (g_str_equal(label, "System area summary"))
		report->cylinder_aligned = strstr(value, "cyl-align-on") != NULL;
	else if (g_str_equal(label, "MBR partition") || g_str_has_suffix(label, " start and size"))
		take_partition(report, label, value, *apm_block);
}

li_boot_report *li_boot_report_parse(const char *text)
{
	li_boot_report *report = g_new0(li_boot_report, 1);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	guint64 apm_block = 512;

	report->lines = g_ptr_array_new_with_free_func(g_free);
	report->images = g_ptr_array_new_with_free_func(image_free);
	report->partitions = g_array_new(FALSE, FALSE, sizeof(li_boot_report_partition));
	for (char **line = lines; *line; line++) {
		g_autofree char *label = NULL;
		const char *value = split(*line, &label);

		if (!**line)
			continue;
		g_ptr_array_add(report->lines, g_strdup(*line));
		if (value)
			take_line(report, label, value, &apm_block);
	}
	mark_gaps(report);
	return report;
}

li_boot_report *li_boot_report_new(const char *iso_path, GError **error)
{
	g_autofree char *address = li_xorriso_address(iso_path);
	g_autoptr(GString) out = g_string_new(NULL);
	const char *argv[] = {"-indev", address, "-report_el_torito", "plain",
		"-report_system_area", "plain", "-end", NULL};
	const li_xorriso run = {
		.argv = argv, .subject = iso_path, .code = RO_ERROR_FAILED, .out = out};

	return li_xorriso_run(&run, error) ? li_boot_report_parse(out->str) : NULL;
}

gboolean li_boot_report_holds(const li_boot_report_partition *partition, const GArray *extents)
{
	for (guint i = 0; i < extents->len; i++) {
		guint64 offset = g_array_index(extents, li_extent, i).offset;

		if (offset >= partition->offset && offset - partition->offset < partition->size)
			return TRUE;
	}
	return FALSE;
}

static line_kind kind_of(const char *label)
{
	for (guint i = 0; i < G_N_ELEMENTS(line_kinds); i++)
		if (g_str_equal(label, line_kinds[i].label))
			return line_kinds[i].kind;
	return KEEP;
}

/* Words of a value with single blanks, without the first skip_first and the last skip_last words.
 */
static char *words(const char *label, const char *value, guint skip_first, guint skip_last)
{
	g_auto(GStrv) all = g_strsplit_set(value, " ", -1);
	g_autoptr(GPtrArray) kept = g_ptr_array_new();
	GString *text = g_string_new(label);

	for (char **word = all; *word; word++)
		if (**word)
			g_ptr_array_add(kept, *word);
	for (guint i = skip_first; i + skip_last < kept->len; i++)
		g_string_append_printf(text, " %s", (char *)g_ptr_array_index(kept, i));
	return g_string_free(text, FALSE);
}

static const li_boot_report_partition *partition_of(
	const li_boot_report *report, char table, guint number)
{
	for (guint i = 0; i < report->partitions->len; i++) {
		const li_boot_report_partition *p =
			&g_array_index(report->partitions, li_boot_report_partition, i);

		if (p->table == table && p->number == number)
			return p;
	}
	return NULL;
}

static char *range_line(
	const li_boot_report *report, const char *label, const char *value, const GArray *extents)
{
	const li_boot_report_partition *p =
		partition_of(report, label[0], (guint)strtoul(value, NULL, 10));
	g_autofree char *start = words(label, value, 0, 2);

	if (!p)
		return words(label, value, 0, 0);
	if (li_boot_report_holds(p, extents))
		return g_strconcat(start, " *", NULL);
	return g_strdup_printf("%s %" G_GUINT64_FORMAT, start, p->size);
}

/* All lines about a filler begin with the table's name and have its number. */
static gboolean is_gap_line(const li_boot_report *report, const char *label, const char *value)
{
	const li_boot_report_partition *p;
	gboolean of_partition =
		g_str_has_prefix(label, "GPT part") || g_str_has_prefix(label, "GPT type") ||
		g_str_has_prefix(label, "GPT start") || g_str_has_prefix(label, "APM part") ||
		g_str_has_prefix(label, "APM start");

	if (!of_partition)
		return FALSE;
	p = partition_of(report, label[0], (guint)strtoul(value, NULL, 10));
	return p && p->gap;
}

static char *normalize_line(const li_boot_report *report, const char *line, const GArray *extents)
{
	g_autofree char *label = NULL;
	const char *value = split(line, &label);

	if (!value)
		return g_strdup(line);
	if (is_gap_line(report, label, value))
		return NULL;
	switch (kind_of(label)) {
	case DROP:
		return NULL;
	case IMAGE:
		return words(label, value, 0, 1);
	case ENTRIES:
		return words(label, value, 2, 0);
	case CATALOG:
		return words(label, value, 1, 0);
	case RANGE:
		return range_line(report, label, value, extents);
	default:
		return g_strconcat(label, ":", value, NULL);
	}
}

GPtrArray *li_boot_report_normalize(const li_boot_report *report, const GArray *extents)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);

	for (guint i = 0; i < report->lines->len; i++) {
		char *line = normalize_line(report, g_ptr_array_index(report->lines, i), extents);

		if (line)
			g_ptr_array_add(lines, line);
	}
	return lines;
}

/* xorriso complains of tables that are off: "GPT backup problems", "GPT array CRC wrong". A rebuild
 * may cure that. */
static gboolean is_complaint(const char *line)
{
	const char *colon = strchr(line, ':');

	return colon && (g_strstr_len(line, colon - line, "problems") ||
				g_strstr_len(line, colon - line, "wrong"));
}

static void drop_complaints(GPtrArray *lines, const li_boot_report *report)
{
	for (guint i = lines->len; i; i--) {
		const char *line = g_ptr_array_index(lines, i - 1);
		gboolean known = FALSE;

		for (guint k = 0; is_complaint(line) && !known && k < report->lines->len; k++)
			known = is_complaint(g_ptr_array_index(report->lines, k));
		if (known)
			g_ptr_array_remove_index(lines, i - 1);
	}
}

gboolean li_boot_report_same(const li_boot_report *old_report, const GArray *old_extents,
	const li_boot_report *new_report, const GArray *new_extents, GError **error)
{
	g_autoptr(GPtrArray) a = li_boot_report_normalize(old_report, old_extents);
	g_autoptr(GPtrArray) b = li_boot_report_normalize(new_report, new_extents);

	drop_complaints(a, old_report);
	drop_complaints(b, old_report);
	for (guint i = 0; i < MAX(a->len, b->len); i++) {
		const char *old_line = i < a->len ? g_ptr_array_index(a, i) : "nothing";
		const char *new_line = i < b->len ? g_ptr_array_index(b, i) : "nothing";

		if (!g_str_equal(old_line, new_line))
			return ro_fail(error, RO_ERROR_FAILED,
				"new ISO: its boot equipment differs: \"%s\" has become \"%s\"; please report this",
				old_line, new_line);
	}
	return TRUE;
}
