/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/rebuild_options.h"

#include <string.h>
#include <sys/stat.h>

#define USUAL_PADDING (300u << 10) /* of mkisofs and its heirs */
#define GPT_BACKUP (64u * 512)     /* what xorriso reserves for it */

/* Weights of files: higher lies nearer to the start. xorriso gives its boot catalog 1,000,000,000.
 */
enum { WEIGHT_BEFORE_CATALOG = 2000000000, WEIGHT_BEHIND_CATALOG = 900000000 };

/* What the plain ISO 9660 names of an ISO are like (ECMA-119 7.5, 7.6 and what programs make of
 * it). */
typedef struct {
	gboolean lowercase, odd_ascii, eight_bit;
	gboolean no_version, no_dot, dir_dot;
	gboolean more_than_8_3;
	gsize longest; /* of files, without the version */
} name_style;

static void note_characters(name_style *style, const char *name, gsize length)
{
	for (gsize i = 0; i < length; i++) {
		guchar c = (guchar)name[i];

		style->lowercase |= g_ascii_islower(c);
		style->eight_bit |= c >= 0x80;
		style->odd_ascii |= c < 0x80 && !g_ascii_isalnum(c) && c != '_' && c != '.';
	}
}

static gboolean fits_8_3(const char *name, gsize length)
{
	const char *dot = memchr(name, '.', length);
	gsize base = dot ? (gsize)(dot - name) : length;

	return base <= 8 && length - base <= 4;
}

static void note_name(name_style *style, const li_node *node)
{
	const char *name = node->record_name;
	const char *version = strchr(name, ';');
	gsize length = version ? (gsize)(version - name) : strlen(name);

	note_characters(style, name, length);
	style->more_than_8_3 |= !fits_8_3(name, length);
	if (S_ISDIR(node->mode)) {
		style->dir_dot |= memchr(name, '.', length) != NULL;
		return;
	}
	style->longest = MAX(style->longest, length);
	style->no_version |= !version;
	style->no_dot |= !memchr(name, '.', length);
}

static name_style style_of(const li_tree *tree)
{
	name_style style = {0};

	for (guint i = 1; i < tree->nodes->len; i++)
		note_name(&style, g_ptr_array_index(tree->nodes, i));
	return style;
}

static void add_plain_rules(GString *rules, const name_style *style, gboolean large)
{
	g_string_append_printf(rules, ":iso_9660_level=%d", style->more_than_8_3 || large ? 3 : 1);
	if (style->lowercase)
		g_string_append(rules, ":lowercase");
	if (style->eight_bit)
		g_string_append(rules, ":full_ascii");
	else if (style->odd_ascii)
		g_string_append(rules, ":7bit_ascii");
	if (style->no_version)
		g_string_append(rules, ":omit_version");
	if (style->no_dot)
		g_string_append(rules, ":no_force_dots");
	if (style->dir_dot)
		g_string_append(rules, ":allow_dir_id_ext");
	if (style->longest > 37)
		g_string_append(rules, ":untranslated_names");
	else if (style->longest > 31)
		g_string_append(rules, ":long_names");
}

static void add_joliet_rules(GString *rules, const li_tree *joliet)
{
	gboolean version = FALSE, long_names = FALSE, surrogates = FALSE;

	for (guint i = 1; i < joliet->nodes->len; i++) {
		const li_node *node = g_ptr_array_index(joliet->nodes, i);
		glong units = 0;

		for (const char *p = node->record_name; *p; p = g_utf8_next_char(p), units++) {
			gunichar c = g_utf8_get_char(p);

			surrogates |= c >= 0xd800 && c < 0xe000;
		}
		version |= g_str_has_suffix(node->record_name, ";1");
		long_names |= units > 64;
	}
	if (version)
		g_string_append(rules, ":only_iso_version_off");
	if (long_names)
		g_string_append(rules, ":joliet_long_names");
	if (surrogates)
		g_string_append(rules, ":joliet_utf16");
	g_string_append(rules, ":joliet_long_paths");
}

char *li_rebuild_compliance(
	const li_tree *tree, const li_tree *joliet, gboolean enhanced, gboolean large)
{
	/* no_emul_toc: no second superblock for a session history. rec_mtime: as mkisofs. */
	GString *rules = g_string_new("no_emul_toc:rec_mtime");
	name_style style = style_of(tree);

	add_plain_rules(rules, &style, large);
	if (joliet)
		add_joliet_rules(rules, joliet);
	if (enhanced)
		g_string_append(rules, ":iso_9660_1999");
	if (tree->px_with_serial)
		g_string_append(rules, ":new_rr");
	return g_string_free(rules, FALSE);
}

static gboolean is_ascii(const char *text)
{
	while (*text && !(*text & 0x80))
		text++;
	return !*text;
}

const char *li_rebuild_charset(const li_tree *tree, const li_tree *joliet)
{
	for (guint i = 0; joliet && i < tree->nodes->len; i++) {
		const li_node *node = g_ptr_array_index(tree->nodes, i);
		g_autofree char *latin1 = NULL;

		if (is_ascii(node->path))
			continue;
		if (li_tree_find(joliet, node->path))
			return "UTF-8";
		latin1 = g_convert(node->path, -1, "UTF-8", "ISO-8859-1", NULL, NULL, NULL);
		if (latin1 && li_tree_find(joliet, latin1))
			return "ISO-8859-1";
		if (g_utf8_validate(node->path, -1, NULL))
			return "ANSI_X3.4-1968"; /* made in the C locale */
	}
	return "UTF-8";
}

static guint64 extents_end(const GArray *extents)
{
	guint64 end = 0;

	for (guint i = 0; extents && i < extents->len; i++) {
		const li_extent *extent = &g_array_index(extents, li_extent, i);

		end = MAX(end, extent->offset + extent->length);
	}
	return end;
}

/* Where the last thing of the volume ends that is not padding. */
static guint64 data_end(const li_tree *tree, const li_boot_report *report, const GArray *extents,
	guint64 volume_size)
{
	guint64 end = 0;

	for (guint i = 0; i < tree->nodes->len; i++)
		end = MAX(end,
			extents_end(((const li_node *)g_ptr_array_index(tree->nodes, i))->extents));
	for (guint i = 0; i < report->images->len; i++) {
		const li_boot_report_image *image = g_ptr_array_index(report->images, i);

		if (image->offset < volume_size)
			end = MAX(end, image->offset + image->size);
	}
	for (guint i = 0; i < report->partitions->len; i++) {
		const li_boot_report_partition *p =
			&g_array_index(report->partitions, li_boot_report_partition, i);

		if (!p->gap && p->offset < volume_size && !li_boot_report_holds(p, extents))
			end = MAX(end, p->offset + p->size);
	}
	return (end + LI_SECTOR - 1) / LI_SECTOR * LI_SECTOR;
}

guint64 li_rebuild_padding(const li_tree *tree, const li_boot_report *report, const GArray *extents,
	guint64 volume_size, gboolean gpt)
{
	guint64 end = data_end(tree, report, extents, volume_size) + (gpt ? GPT_BACKUP : 0);

	if (end >= volume_size)
		return 0;
	return MIN(volume_size - end, USUAL_PADDING) / LI_SECTOR * LI_SECTOR;
}

static int by_start(gconstpointer a, gconstpointer b)
{
	guint64 x = li_node_start(*(li_node *const *)a), y = li_node_start(*(li_node *const *)b);

	return x < y ? -1 : x > y;
}

static void append_quoted(GString *text, const char *bytes)
{
	g_string_append_c(text, '"');
	for (; *bytes; bytes++) {
		if (g_ascii_isalnum(*bytes) || strchr("/._-", *bytes))
			g_string_append_c(text, *bytes);
		else
			g_string_append_printf(text, "\\%03o", (guint)(guchar)*bytes);
	}
	g_string_append_c(text, '"');
}

GString *li_rebuild_order(const li_tree *tree, const char *catalog)
{
	GString *commands = g_string_new(NULL);
	g_autoptr(GPtrArray) files = g_ptr_array_new();
	int weight = WEIGHT_BEFORE_CATALOG;

	for (guint i = 0; i < tree->nodes->len; i++) {
		li_node *node = g_ptr_array_index(tree->nodes, i);

		if (S_ISREG(node->mode) && li_node_start(node))
			g_ptr_array_add(files, node);
	}
	g_ptr_array_sort(files, by_start);
	if (!catalog)
		weight = WEIGHT_BEHIND_CATALOG;
	for (guint i = 0; i < files->len; i++) {
		const li_node *node = g_ptr_array_index(files, i);

		if (catalog && g_str_equal(node->path, catalog)) {
			weight = WEIGHT_BEHIND_CATALOG;
			continue;
		}
		g_string_append(commands, "find ");
		append_quoted(commands, node->path);
		g_string_append_printf(commands, " -exec sort_weight %d --\n", weight--);
	}
	return commands;
}

/* Joliet has such names as they are. */
static gboolean plain_in_joliet(const char *path)
{
	const char *name = strrchr(path, '/') + 1;

	return strlen(name) <= 64 && is_ascii(name) && !strpbrk(name, "*:;?\\");
}

static GHashTable *starts_of(const li_tree *tree)
{
	GHashTable *starts = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);

	for (guint i = 0; i < tree->nodes->len; i++) {
		guint64 start = li_node_start(g_ptr_array_index(tree->nodes, i));

		g_hash_table_add(starts, g_memdup2(&start, sizeof(start)));
	}
	return starts;
}

void li_rebuild_hide(GString *commands, const li_tree *tree, const li_tree *joliet)
{
	g_autoptr(GHashTable) starts = starts_of(joliet);

	for (guint i = 1; i < tree->nodes->len; i++) {
		const li_node *node = g_ptr_array_index(tree->nodes, i);
		guint64 start = li_node_start(node);
		gboolean seen = start && g_hash_table_contains(starts, &start);

		if (li_tree_find(joliet, node->path) || seen ||
			(!start && !plain_in_joliet(node->path)))
			continue;
		if (!S_ISREG(node->mode) && !S_ISDIR(node->mode))
			continue;
		g_string_append(commands, "hide joliet ");
		append_quoted(commands, node->path);
		g_string_append(commands, " --\n");
	}
}
