/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/plan/differences.h"

#include "reorder/plan/hardware_group.h"
#include "reorder/util/escape.h"

static tr_kind kind_of(img_type type)
{
	return type == IMG_DIR ? TR_DIR : type == IMG_SYMLINK ? TR_SYMLINK : TR_FILE;
}

void ro_differences_find(ro_differences *d, const img_tree *tree, const GArray *inodes)
{
	g_autoptr(GArray) files = g_array_new(FALSE, FALSE, sizeof(guint32));

	for (guint i = 0; i < inodes->len; i++) {
		guint32 inode = g_array_index(inodes, guint32, i);
		tr_kind kind = kind_of(img_tree_inode(tree, inode)->type);
		g_autofree char *path = img_tree_inode_path(tree, inode);

		d->classes[tr_path_class_of(kind, path)]++;
		if (kind == TR_FILE)
			g_array_append_val(files, inode);
	}
	d->groups = ro_hardware_groups(tree, files);
}

void ro_differences_clear(ro_differences *d)
{
	g_clear_pointer(&d->groups, g_array_unref);
}

guint ro_differences_in_some(const ro_differences *d)
{
	guint sum = 0;

	for (guint i = 0; i < TR_CLASS_COUNT; i++)
		sum += d->classes[i];
	return sum;
}

void ro_differences_format(const ro_differences *d, GString *out)
{
	if (d->traces < 2)
		return;
	g_string_append_printf(out, "traces %u\nin-all %u\n", d->traces, d->in_all);
	for (guint i = 0; i < TR_CLASS_COUNT; i++) {
		if (d->classes[i])
			g_string_append_printf(
				out, "in-some %u %s\n", d->classes[i], tr_path_class_name(i));
	}
	for (guint i = 0; i < d->groups->len; i++) {
		const ro_hardware_group *group = &g_array_index(d->groups, ro_hardware_group, i);

		g_string_append_printf(out, "hardware %u ", group->differing);
		ro_escape_append(out, group->directory);
		g_string_append_c(out, '\n');
	}
}

static void json_groups(const ro_differences *d, JsonBuilder *b)
{
	json_builder_set_member_name(b, "hardware");
	json_builder_begin_object(b);
	for (guint i = 0; i < d->groups->len; i++) {
		const ro_hardware_group *group = &g_array_index(d->groups, ro_hardware_group, i);
		g_autofree char *directory = ro_escape_utf8(group->directory);

		ro_json_int(b, directory, group->differing);
	}
	json_builder_end_object(b);
}

void ro_differences_json(const ro_differences *d, JsonBuilder *b)
{
	if (d->traces < 2)
		return;
	json_builder_set_member_name(b, "merged");
	json_builder_begin_object(b);
	ro_json_int(b, "traces", d->traces);
	ro_json_int(b, "in_all", d->in_all);
	json_builder_set_member_name(b, "in_some");
	json_builder_begin_object(b);
	for (guint i = 0; i < TR_CLASS_COUNT; i++)
		ro_json_int(b, tr_path_class_name(i), d->classes[i]);
	json_builder_end_object(b);
	json_groups(d, b);
	json_builder_end_object(b);
}
