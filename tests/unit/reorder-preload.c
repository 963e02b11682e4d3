/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/preload.h"

static void assert_hot(const GArray *files, guint index, guint32 inode, gboolean partly)
{
	const dmx_hot_file *file = &g_array_index(files, dmx_hot_file, index);

	g_assert_cmpuint(file->inode, ==, inode);
	g_assert_cmpint(file->partly, ==, partly);
}

/* What --also adds is no part of the map. The reason is text for people: that of a merged trace
 * says more than "partly read". */
static void test_hot_files(void)
{
	ro_plan_item items[] = {
		{.inode = 3, .group = RO_GROUP_HOT, .reason = "read"},
		{.inode = 7,
			.group = RO_GROUP_HOT,
			.reason = "partly read, 1 of 2 traces",
			.partly = TRUE},
		{.inode = 5, .group = RO_GROUP_CLASS, .reason = "also modules"},
	};
	ro_plan plan = {.files = g_array_new(FALSE, FALSE, sizeof(ro_plan_item))};

	g_array_append_vals(plan.files, items, G_N_ELEMENTS(items));
	g_autoptr(GArray) files = ro_preload_hot_files(&plan);
	g_assert_cmpuint(files->len, ==, 2);
	assert_hot(files, 0, 3, FALSE);
	assert_hot(files, 1, 7, TRUE);
	g_array_unref(plan.files);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/preload/hot files", test_hot_files);
	return g_test_run();
}
