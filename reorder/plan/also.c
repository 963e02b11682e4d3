/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/plan/also.h"

#include <string.h>

#include "reorder/plan/file_data.h"
#include "reorder/plan/glob.h"
#include "reorder/plan/hardware_group.h"
#include "reorder/plan/order.h"
#include "reorder/util/error.h"
#include "reorder/util/interrupt.h"

typedef enum { BASE_MODULES, BASE_FIRMWARE } class_base;

typedef struct {
	class_base base;
	const char *directory; /* below lib/modules/KERNEL or lib/firmware */
	const char *names;     /* in it, with blanks between them; patterns */
} class_row;

typedef struct {
	const char *name;
	const class_row *rows; /* what is read first comes first */
	guint row_count;
	guint64 limit; /* bytes as they are stored; files that would exceed it are left out */
} also_class;

/*
 * What udev's coldplug and the drivers read on a machine unlike the traced one: kmod's indexes
 * before any module, then drivers of buses, disks, input, display, network, sound; then the
 * firmware that these ask for while they start. Left out is what no live boot loads by itself
 * (network protocols, media, staging, industrial I/O, InfiniBand) and firmware that is rare or big.
 */
static const class_row modules_rows[] = {
	{BASE_MODULES, "", "modules.*"},
	/* buses and disks */
	{BASE_MODULES, "kernel/drivers/",
		"acpi usb/common usb/core usb/host usb/storage usb/typec"},
	{BASE_MODULES, "kernel/drivers/", "ata nvme scsi message mmc block cdrom"},
	{BASE_MODULES, "kernel/drivers/", "virtio hv xen firewire"},
	{BASE_MODULES, "kernel/fs/", "isofs udf fat exfat nls ext4 jbd2 fuse overlayfs squashfs"},
	/* input and display */
	{BASE_MODULES, "kernel/drivers/", "hid i2c pinctrl mfd input gpu video platform"},
	/* network */
	{BASE_MODULES, "kernel/drivers/net/", "*.ko* phy mdio pcs ethernet usb hyperv vmxnet3"},
	{BASE_MODULES, "kernel/drivers/net/", "wireless"},
	{BASE_MODULES, "kernel/net/", "rfkill wireless mac80211 bluetooth"},
	{BASE_MODULES, "kernel/drivers/", "bluetooth ssb bcma"},
	/* the rest of a common machine */
	{BASE_MODULES, "kernel/sound/", "core hda pci usb soc x86"},
	{BASE_MODULES, "kernel/drivers/", "char hwmon thermal powercap cpufreq idle edac leds"},
	{BASE_MODULES, "kernel/drivers/", "misc rtc watchdog soundwire thunderbolt memstick"},
	{BASE_MODULES, "kernel/", "arch crypto lib virt"},
	{BASE_MODULES, "", "updates"},
	/* firmware: small and common first */
	{BASE_FIRMWARE, "", "regulatory.db* rtl_nic tigon bnx2 e100 i915 radeon"},
	{BASE_FIRMWARE, "", "rtlwifi rtw88 rtw89 rtl_bt ath9k_htc ath10k ath11k mediatek brcm"},
	{BASE_FIRMWARE, "", "iwlwifi-* intel amdgpu"},
};

static const char auto_name[] = "auto";

static const also_class classes[] = {
	{"modules", modules_rows, G_N_ELEMENTS(modules_rows), 64 << 20},
	{auto_name, NULL, 0, 64 << 20}, /* the groups that the caller found */
};

/* One pattern of one value, or one group of "auto". */
typedef struct {
	guint32 value;
	ro_glob *glob; /* NULL: a group */
} choice;

typedef struct {
	const GArray *groups; /* of ro_hardware_group, or NULL */
	GArray *choices;
	GTree *by_directory; /* of a group: its choice; the image could make hashes collide */
} finder;

/* A file that a pattern chose. */
typedef struct {
	guint32 choice;
	guint32 position;
	guint32 inode;
} hit;

/* What became of one value. */
typedef struct {
	guint hits, left_out;
	guint64 stored; /* bytes of the files that were taken */
} tally;

static void choice_clear(gpointer data)
{
	ro_glob_free(((choice *)data)->glob);
}

static const also_class *find_class(const char *value)
{
	for (guint i = 0; i < G_N_ELEMENTS(classes); i++)
		if (strcmp(classes[i].name, value) == 0)
			return &classes[i];
	return NULL;
}

static gboolean is_pattern(const char *value)
{
	return !*value || strpbrk(value, "/*?[");
}

static ro_glob *value_glob(const char *value, GError **error)
{
	ro_glob *glob;

	if (!is_pattern(value)) {
		ro_fail(error, RO_ERROR_USAGE,
			"--also %s: not a class (modules, auto) and not a pattern; for the file of that name write ./%s",
			value, value);
		return NULL;
	}
	glob = ro_glob_new(value, error);
	if (!glob)
		g_prefix_error(error, "--also ");
	return glob;
}

gboolean ro_also_check(const char *const *values, GError **error)
{
	for (; *values; values++) {
		g_autoptr(ro_glob) glob = NULL;

		if (find_class(*values))
			continue;
		glob = value_glob(*values, error);
		if (!glob)
			return FALSE;
	}
	return TRUE;
}

/* Appends the path of a directory and a slash, quoted; FALSE if the image has no such directory. */
static gboolean append_directory(GString *pattern, const img_tree *tree, const char *path)
{
	guint32 inode = img_tree_resolve(tree, path, TRUE);
	g_autofree char *real = NULL;

	if (inode == IMG_NONE || img_tree_inode(tree, inode)->type != IMG_DIR)
		return FALSE;
	real = img_tree_inode_path(tree, inode);
	ro_glob_quote(pattern, real);
	g_string_append_c(pattern, '/');
	return TRUE;
}

static char *modules_base(const img_tree *tree, const char *kernel)
{
	g_autoptr(GString) pattern = g_string_new(NULL);
	g_autofree char *path = g_strconcat("lib/modules/", kernel, NULL);

	if (kernel && *kernel && !strchr(kernel, '/') && append_directory(pattern, tree, path))
		return g_strdup(pattern->str);
	if (!append_directory(pattern, tree, "lib/modules"))
		return NULL;
	g_string_append(pattern, "*/");
	return g_strdup(pattern->str);
}

static char *firmware_base(const img_tree *tree)
{
	g_autoptr(GString) pattern = g_string_new(NULL);

	return append_directory(pattern, tree, "lib/firmware") ? g_strdup(pattern->str) : NULL;
}

static gboolean add_row(
	GArray *choices, guint32 value, const char *base, const class_row *row, GError **error)
{
	g_auto(GStrv) names = g_strsplit(row->names, " ", -1);

	for (char **name = names; *name; name++) {
		g_autofree char *pattern = g_strconcat(base, row->directory, *name, NULL);
		choice c = {value, ro_glob_new(pattern, error)};

		if (!c.glob)
			return FALSE;
		g_array_append_val(choices, c);
	}
	return TRUE;
}

static gboolean add_class(GArray *choices, guint32 value, const also_class *class,
	const img_tree *tree, const char *kernel, GError **error)
{
	g_autofree char *modules = modules_base(tree, kernel);
	g_autofree char *firmware = firmware_base(tree);

	for (guint i = 0; i < class->row_count; i++) {
		const class_row *row = &class->rows[i];
		const char *base = row->base == BASE_MODULES ? modules : firmware;

		if (base && !add_row(choices, value, base, row, error))
			return FALSE;
	}
	return TRUE;
}

static void add_groups(finder *f, guint32 value)
{
	choice c = {value, NULL};

	for (guint i = 0; f->groups && i < f->groups->len; i++) {
		char *directory = g_array_index(f->groups, ro_hardware_group, i).directory;

		if (!g_tree_lookup_extended(f->by_directory, directory, NULL, NULL))
			g_tree_insert(
				f->by_directory, directory, GUINT_TO_POINTER(f->choices->len));
		g_array_append_val(f->choices, c);
	}
}

static gboolean make_choices(finder *f, const img_tree *tree, const char *const *values,
	const char *kernel, GError **error)
{
	for (guint32 value = 0; values[value]; value++) {
		const also_class *class = find_class(values[value]);
		choice c = {.value = value};

		if (class) {
			if (class->name == auto_name)
				add_groups(f, value);
			if (!add_class(f->choices, value, class, tree, kernel, error))
				return FALSE;
			continue;
		}
		c.glob = value_glob(values[value], error);
		if (!c.glob)
			return FALSE;
		g_array_append_val(f->choices, c);
	}
	return TRUE;
}

static guint32 first_match(const GArray *choices, const char *path)
{
	for (guint32 i = 0; i < choices->len; i++) {
		const ro_glob *glob = g_array_index(choices, choice, i).glob;

		if (glob && ro_glob_match(glob, path))
			return i;
	}
	return IMG_NONE;
}

/* The choice of the group that a file is of. */
static guint32 group_match(const finder *f, const char *path)
{
	g_autofree char *directory =
		g_tree_nnodes(f->by_directory) ? ro_hardware_group_of(path) : NULL;
	gpointer found;

	if (directory && g_tree_lookup_extended(f->by_directory, directory, NULL, &found))
		return GPOINTER_TO_UINT(found);
	return IMG_NONE;
}

static gboolean can_be_placed(const img_inode *inode)
{
	return inode->type == IMG_SYMLINK || ro_has_data(inode);
}

/* For every entry the first pattern that matches it or a directory that it is in, or its group. */
static guint32 *match_entries(const img_tree *tree, const finder *f, GError **error)
{
	guint32 count = img_tree_entry_count(tree);
	g_autofree guint32 *found = g_new(guint32, count);

	for (guint32 e = 0; e < count; e++) {
		g_autofree char *path = img_tree_entry_path(tree, e);

		if (ro_interrupted(error))
			return NULL;
		found[e] = first_match(f->choices, path);
		/* Not of a directory: all below would follow. */
		if (can_be_placed(img_tree_inode(tree, img_tree_entry(tree, e)->inode)))
			found[e] = MIN(found[e], group_match(f, path));
	}
	for (guint32 e = 0; e < count; e++) {
		guint32 parent = img_tree_entry(tree, e)->parent;

		/* A directory's entry comes before those in it. */
		if (parent != IMG_NONE)
			found[e] = MIN(found[e], found[parent]);
	}
	return g_steal_pointer(&found);
}

static int compare_hits(gconstpointer a, gconstpointer b)
{
	const hit *x = a, *y = b;

	if (x->choice != y->choice)
		return x->choice < y->choice ? -1 : 1;
	return (x->position > y->position) - (x->position < y->position);
}

static GArray *find_hits(const img_tree *tree, const finder *f, GError **error)
{
	g_autofree guint32 *found = match_entries(tree, f, error);
	g_autofree guint32 *positions = NULL;
	GArray *hits;

	if (!found)
		return NULL;
	positions = ro_order_walk(tree);
	hits = g_array_new(FALSE, FALSE, sizeof(hit));
	for (guint32 e = 0; e < img_tree_entry_count(tree); e++) {
		hit h = {found[e], positions[e], img_tree_entry(tree, e)->inode};

		if (h.choice != IMG_NONE && can_be_placed(img_tree_inode(tree, h.inode)))
			g_array_append_val(hits, h);
	}
	g_array_sort(hits, compare_hits);
	return hits;
}

static gboolean fits(const tally *sum, const also_class *class, guint64 size)
{
	return !class || sum->stored + size <= class->limit;
}

static GArray *take_hits(const img_tree *tree, const GArray *choices, const GArray *hits,
	const char *const *values, tally *tallies)
{
	g_autofree gboolean *seen = g_new0(gboolean, img_tree_inode_count(tree));
	g_autofree guint32 *fill = ro_fragment_fill(tree);
	GArray *files = g_array_new(FALSE, FALSE, sizeof(ro_also_file));

	for (guint i = 0; i < hits->len; i++) {
		const hit *h = &g_array_index(hits, hit, i);
		guint32 value = g_array_index(choices, choice, h->choice).value;
		const img_inode *inode = img_tree_inode(tree, h->inode);
		guint64 size = inode->type == IMG_FILE ? ro_stored_bytes(tree, inode, fill) : 0;
		ro_also_file file = {h->inode, value};

		tallies[value].hits++;
		if (seen[h->inode])
			continue;
		seen[h->inode] = TRUE;
		if (!fits(&tallies[value], find_class(values[value]), size)) {
			tallies[value].left_out++;
			continue;
		}
		tallies[value].stored += size;
		g_array_append_val(files, file);
	}
	return files;
}

static void warn(const char *value, const tally *sum)
{
	const also_class *class = find_class(value);

	if (class && sum->left_out)
		ro_warn("--also %s: limited to %" G_GUINT64_FORMAT " MiB, %u files left out", value,
			class->limit >> 20, sum->left_out);
}

static void finder_clear(finder *f)
{
	g_array_unref(f->choices);
	g_tree_unref(f->by_directory);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(finder, finder_clear)

GArray *ro_also_find(const img_tree *tree, const char *const *values, const char *kernel,
	const GArray *groups, GArray *names, GError **error)
{
	g_auto(finder) f = {groups, g_array_new(FALSE, FALSE, sizeof(choice)),
		g_tree_new((GCompareFunc)strcmp)};
	g_autoptr(GArray) hits = NULL;
	g_autofree tally *tallies = NULL;
	GArray *files;

	g_array_set_clear_func(f.choices, choice_clear);
	if (!make_choices(&f, tree, values, kernel, error) || !(hits = find_hits(tree, &f, error)))
		return NULL;
	tallies = g_new0(tally, g_strv_length((char **)values));
	files = take_hits(tree, f.choices, hits, values, tallies);
	for (guint32 value = 0; values[value]; value++) {
		warn(values[value], &tallies[value]);
		if (names)
			g_array_append_val(names, tallies[value].hits);
	}
	return files;
}
