/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/plan/plan.h"

#include "reorder/plan/order.h"
#include "reorder/util/escape.h"

static void append_items(GString *out, const img_tree *tree, const GArray *items, char kind)
{
	for (guint i = 0; i < items->len; i++) {
		const ro_plan_item *item = &g_array_index(items, ro_plan_item, i);
		const char *group = item->group == RO_GROUP_HOT ? "hot" : "class";
		g_autofree char *path = img_tree_inode_path(tree, item->inode);

		g_string_append_printf(out, "%s %u %c ", group, item->rank, kind);
		/* The root, as in a trace. */
		ro_escape_append(out, *path ? path : ".");
		g_string_append_printf(out, " %s\n", item->reason);
	}
}

GString *ro_plan_format(const ro_plan *plan, const img_tree *tree, const char *image)
{
	GString *out = g_string_new("reorder-livecd plan 1\n");

	if (image) {
		g_string_append(out, "image ");
		ro_escape_append(out, image);
		g_string_append_c(out, '\n');
	}
	g_string_append_printf(out, "layout %s\n", ro_layout_name(plan->layout));
	g_string_append_printf(out, "order %s\n", ro_order_name(plan->order));
	g_string_append_printf(out, "files %u\n", plan->files->len);
	g_string_append_printf(out, "hot-files %u\n", plan->hot_files);
	g_string_append_printf(out, "hot-bytes %" G_GUINT64_FORMAT "\n", plan->hot_bytes);
	g_string_append_printf(out, "hot-stored %" G_GUINT64_FORMAT "\n", plan->hot_stored);
	g_string_append_printf(out, "directories %u\n", plan->dirs->len);
	g_string_append_printf(out, "symlinks %u\n", plan->symlinks->len);
	g_string_append_printf(out, "unmatched %u\n", plan->unmatched);
	ro_differences_format(&plan->differences, out);
	append_items(out, tree, plan->files, 'f');
	append_items(out, tree, plan->dirs, 'd');
	append_items(out, tree, plan->symlinks, 'l');
	return out;
}
