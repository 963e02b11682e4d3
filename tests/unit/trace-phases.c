/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>

#include "trace/phases.h"

#define MB 1000000ull

static const struct tr_drive_params plain = {
	.name = "plain",
	.rate_inner = 1e6,
	.rate_outer = 1e6,
	.capacity = 700e6,
	.seek_min = 0.1,
};

static void near(double got, double wanted)
{
	g_assert_cmpfloat_with_epsilon(got, wanted, 1e-9);
}

static GArray *reads_of(const tr_read *list, guint count)
{
	return g_array_append_vals(g_array_new(FALSE, FALSE, sizeof(tr_read)), list, count);
}
#define READS(...)                                                                                 \
	reads_of((const tr_read[]){__VA_ARGS__},                                                   \
		sizeof((const tr_read[]){__VA_ARGS__}) / sizeof(tr_read))

/* As the plugin would log them on the plain drive. */
static GArray *example(void)
{
	return READS({1, 100 * MB, 1 * MB, 1.1}, /* before the boot: the firmware */
		{3, 0, 1 * MB, 1.1},             /* kernel */
		{5, 200 * MB, 2 * MB, 2.1},      /* initramfs */
		{8, 202 * MB, 1 * MB, 1},        /* userspace, goes on where the last ended */
		{9.5, 50 * MB, 1 * MB, 1.1},     /* and one with a long seek */
		{20, 0, 1 * MB, 1.1});           /* after the end */
}

static void reads_belong_to_the_phase_that_asked(void)
{
	g_autoptr(GArray) reads = example();
	const tr_marks marks = {.at = {2, 2, 4, 7, 12}};
	tr_phases p;

	tr_phases_of(reads, &plain, &marks, &p);
	near(p.value[TR_PHASE_KERNEL][TR_METRIC_SECONDS], 2);
	near(p.value[TR_PHASE_INITRAMFS][TR_METRIC_SECONDS], 3);
	near(p.value[TR_PHASE_USERSPACE][TR_METRIC_SECONDS], 5);
	near(p.value[TR_ROW_TOTAL][TR_METRIC_SECONDS], 10);
	near(p.value[TR_PHASE_KERNEL][TR_METRIC_REQUESTS], 1);
	near(p.value[TR_PHASE_INITRAMFS][TR_METRIC_BYTES], 2e6);
	near(p.value[TR_PHASE_INITRAMFS][TR_METRIC_SEEKS], 1);
	near(p.value[TR_PHASE_USERSPACE][TR_METRIC_REQUESTS], 2);
	near(p.value[TR_PHASE_USERSPACE][TR_METRIC_SEEKS], 1);
	near(p.value[TR_PHASE_USERSPACE][TR_METRIC_BUSY], 2.1);
	near(p.value[TR_ROW_TOTAL][TR_METRIC_BUSY], 5.3);
	near(p.value[TR_ROW_TOTAL][TR_METRIC_SEEKS], 3);
	g_assert_false(p.known[TR_PHASE_LOADER]);
	g_assert_true(p.known[TR_PHASE_KERNEL]);
	near(p.value[TR_ROW_KERNEL_TO_END][TR_METRIC_SECONDS], 10);
}

static void a_waiting_menu_is_not_counted(void)
{
	g_autoptr(GArray) reads = example();
	const tr_marks marks = {.at = {0.5, 4, 4.5, 7, 12}, .wait_from = 2.1, .wait_to = 3};
	tr_phases p;

	tr_phases_of(reads, &plain, &marks, &p);
	g_assert_true(p.known[TR_PHASE_LOADER]);
	near(p.waited, 0.9);
	near(p.value[TR_PHASE_LOADER][TR_METRIC_SECONDS], 2.6);
	near(p.value[TR_PHASE_LOADER][TR_METRIC_REQUESTS], 2);
	near(p.value[TR_ROW_TOTAL][TR_METRIC_SECONDS], 11.5 - 0.9);
	near(p.value[TR_ROW_KERNEL_TO_END][TR_METRIC_SECONDS], 8);
}

static void an_unknown_phase_is_part_of_the_one_before(void)
{
	g_autoptr(GArray) reads = example();
	const tr_marks marks = {.at = {2, 2, -1, 7, 12}};
	tr_phases p;

	tr_phases_of(reads, &plain, &marks, &p);
	g_assert_false(p.known[TR_PHASE_INITRAMFS]);
	near(p.value[TR_PHASE_KERNEL][TR_METRIC_SECONDS], 5);
	near(p.value[TR_PHASE_KERNEL][TR_METRIC_REQUESTS], 2);
	near(p.value[TR_PHASE_INITRAMFS][TR_METRIC_SECONDS], 0);
	near(p.value[TR_ROW_TOTAL][TR_METRIC_SECONDS], 10);
}

static void a_folded_phase_leaves_the_sums(void)
{
	g_autoptr(GArray) reads = example();
	tr_marks marks = {.at = {2, 2, 4, 7, 12}};
	tr_phases p;

	tr_phases_of(reads, &plain, &marks, &p);
	tr_phases_fold(&p, &marks, TR_PHASE_INITRAMFS);
	g_assert_false(p.known[TR_PHASE_INITRAMFS]);
	near(p.value[TR_PHASE_KERNEL][TR_METRIC_SECONDS], 5);
	near(p.value[TR_PHASE_KERNEL][TR_METRIC_REQUESTS], 2);
	near(p.value[TR_ROW_TOTAL][TR_METRIC_SECONDS], 10);
	tr_phases_fold(&p, &marks, TR_PHASE_INITRAMFS);
	near(p.value[TR_PHASE_KERNEL][TR_METRIC_SECONDS], 5);
}

static void the_cut_begins_at_zero(void)
{
	g_autoptr(GArray) reads = example();
	tr_marks marks = {.at = {2, 2, -1, 7, 12}};
	g_autoptr(GArray) cut = tr_phases_cut(reads, &marks);

	g_assert_cmpuint(cut->len, ==, 4);
	near(g_array_index(cut, tr_read, 0).time, 1);
	near(marks.at[0], 0);
	g_assert_cmpfloat(marks.at[TR_PHASE_INITRAMFS], <, 0);
	near(marks.at[TR_PHASE_USERSPACE], 5);
	near(marks.at[TR_PHASE_COUNT], 10);
}

static void a_boot_without_reads(void)
{
	g_autoptr(GArray) reads = g_array_new(FALSE, FALSE, sizeof(tr_read));
	const tr_marks marks = {.at = {0, 0, 1, 2, 3}};
	tr_phases p;

	tr_phases_of(reads, &plain, &marks, &p);
	near(p.value[TR_ROW_TOTAL][TR_METRIC_SECONDS], 3);
	near(p.value[TR_ROW_TOTAL][TR_METRIC_REQUESTS], 0);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/phases/reads", reads_belong_to_the_phase_that_asked);
	g_test_add_func("/phases/menu", a_waiting_menu_is_not_counted);
	g_test_add_func("/phases/unknown", an_unknown_phase_is_part_of_the_one_before);
	g_test_add_func("/phases/fold", a_folded_phase_leaves_the_sums);
	g_test_add_func("/phases/cut", the_cut_begins_at_zero);
	g_test_add_func("/phases/no-reads", a_boot_without_reads);
	return g_test_run();
}
