/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "reorder/util/host_limits.h"
#include "reorder/util/output.h"

/* A machine in a directory: pairs of path and content. */
static void read_limits(const char *const *files, ro_host_limits *limits)
{
	g_autofree char *root = g_dir_make_tmp("reorder-test-XXXXXX", NULL);

	for (; files[0]; files += 2) {
		g_autofree char *path = g_build_filename(root, files[0], NULL);
		g_autofree char *directory = g_path_get_dirname(path);

		g_assert_cmpint(g_mkdir_with_parents(directory, 0755), ==, 0);
		g_assert_true(g_file_set_contents(path, files[1], -1, NULL));
	}
	ro_host_limits_read(root, limits);
	g_assert_true(ro_remove_tree(root, NULL));
}

static void test_none(void)
{
	static const char *const files[] = {"proc/self/cgroup", "0::/\n",
		"sys/fs/cgroup/memory.max", "max\n", "sys/fs/cgroup/cpu.max", "max 100000\n", NULL};
	static const char *const no_files[] = {NULL};
	ro_host_limits limits, without;

	read_limits(files, &limits);
	read_limits(no_files, &without);
	g_assert_cmpuint(limits.processors, ==, g_get_num_processors());
	g_assert_cmpuint(limits.memory, ==, without.memory);
	g_assert_cmpuint(limits.memory, >, 64 << 20);
}

/* The group's own limit, or a tighter one above it. */
static void test_version_2(void)
{
	static const char *const own[] = {"proc/self/cgroup", "0::/a/b\n",
		"sys/fs/cgroup/a/b/memory.max", "50000000\n", "sys/fs/cgroup/a/memory.max", "max\n",
		"sys/fs/cgroup/a/b/cpu.max", "50000 100000\n", NULL};
	static const char *const above[] = {"proc/self/cgroup", "0::/a/b\n",
		"sys/fs/cgroup/a/b/memory.max", "50000000\n", "sys/fs/cgroup/a/memory.max",
		"40000000\n", NULL};
	ro_host_limits limits;

	read_limits(own, &limits);
	g_assert_cmpuint(limits.memory, ==, 50000000);
	g_assert_cmpuint(limits.processors, ==, 1);
	read_limits(above, &limits);
	g_assert_cmpuint(limits.memory, ==, 40000000);
}

/* In a container the group's path is not there; its root is what is mounted. */
static void test_version_1(void)
{
	static const char *const files[] = {"proc/self/cgroup",
		"4:memory:/docker/1234\n3:cpu,cpuacct:/docker/1234\n1:name=systemd:/\n",
		"sys/fs/cgroup/memory/memory.limit_in_bytes", "30000000\n",
		"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n",
		"sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n", NULL};
	static const char *const unlimited[] = {"proc/self/cgroup", "4:memory:/\n3:cpu:/\n",
		"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n",
		"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us",
		"100000\n", NULL};
	ro_host_limits limits;

	read_limits(files, &limits);
	g_assert_cmpuint(limits.memory, ==, 30000000);
	g_assert_cmpuint(limits.processors, ==, 1);
	read_limits(unlimited, &limits);
	g_assert_cmpuint(limits.processors, ==, g_get_num_processors());
	g_assert_cmpuint(limits.memory, >, 64 << 20);
}

static void test_garbage(void)
{
	static const char *const files[] = {"proc/self/cgroup", "x\n\n::\n0:memory\n:::::\n0::\n",
		"sys/fs/cgroup/memory.max", "-5\n", "sys/fs/cgroup/cpu.max", "0 0\n", NULL};
	ro_host_limits limits;

	read_limits(files, &limits);
	g_assert_cmpuint(limits.processors, >=, 1);
	g_assert_cmpuint(limits.memory, >, 64 << 20);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/util/host-limits/none", test_none);
	g_test_add_func("/util/host-limits/cgroup-2", test_version_2);
	g_test_add_func("/util/host-limits/cgroup-1", test_version_1);
	g_test_add_func("/util/host-limits/garbage", test_garbage);
	return g_test_run();
}
