/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/util/host_limits.h"

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* One line of a small file of the kernel's; NULL if it is not there. */
static char *read_line(const char *root, const char *directory, const char *name)
{
	g_autofree char *path = g_strconcat(root, directory, "/", name, NULL);
	char *text = NULL;

	if (!g_file_get_contents(path, &text, NULL, NULL))
		return NULL;
	return g_strchomp(text);
}

static void lower_memory(ro_host_limits *limits, const char *text)
{
	guint64 value;

	/* "max", or a number; no limit is a number near 2^63 in version 1. */
	if (text && g_ascii_string_to_unsigned(text, 10, 1, G_MAXUINT64, &value, NULL))
		limits->memory = MIN(limits->memory, value);
}

static void lower_processors(ro_host_limits *limits, const char *quota, const char *period)
{
	guint64 q, p;

	if (!quota || !period || !g_ascii_string_to_unsigned(quota, 10, 1, G_MAXINT32, &q, NULL) ||
		!g_ascii_string_to_unsigned(period, 10, 1, G_MAXINT32, &p, NULL))
		return;
	limits->processors = (guint)MIN(limits->processors, MAX(1, (q + p - 1) / p));
}

/* One directory of a cgroup, of either version. */
static void read_group(const char *root, const char *directory, ro_host_limits *limits)
{
	g_autofree char *max = read_line(root, directory, "memory.max");
	g_autofree char *limit = read_line(root, directory, "memory.limit_in_bytes");
	g_autofree char *cpu = read_line(root, directory, "cpu.max");
	g_autofree char *quota = read_line(root, directory, "cpu.cfs_quota_us");
	g_autofree char *period = read_line(root, directory, "cpu.cfs_period_us");
	g_auto(GStrv) words = cpu ? g_strsplit(cpu, " ", 2) : NULL;

	lower_memory(limits, max);
	lower_memory(limits, limit);
	lower_processors(limits, quota, period);
	if (words && words[0] && words[1])
		lower_processors(limits, words[0], words[1]);
}

/* A group and all above it, up to where the hierarchy is mounted. */
static void read_hierarchy(
	const char *root, const char *mount, const char *group, ro_host_limits *limits)
{
	g_autofree char *path = g_strdup(group);

	while (TRUE) {
		g_autofree char *directory = g_strconcat(mount, path, NULL);
		char *slash = strrchr(path, '/');

		read_group(root, directory, limits);
		if (!slash)
			return;
		*slash = '\0';
	}
}

/* A line of /proc/self/cgroup: "number:controllers:path". */
static void read_membership(const char *root, const char *line, ro_host_limits *limits)
{
	g_auto(GStrv) fields = g_strsplit(line, ":", 3);
	g_auto(GStrv) controllers = NULL;

	if (g_strv_length(fields) != 3)
		return;
	if (fields[1][0] == '\0') {
		read_hierarchy(root, "/sys/fs/cgroup", fields[2], limits);
		read_hierarchy(root, "/sys/fs/cgroup/unified", fields[2], limits);
		return;
	}
	controllers = g_strsplit(fields[1], ",", -1);
	for (guint i = 0; controllers[i]; i++)
		if (g_str_equal(controllers[i], "memory") || g_str_equal(controllers[i], "cpu")) {
			g_autofree char *mount =
				g_strconcat("/sys/fs/cgroup/", controllers[i], NULL);

			read_hierarchy(root, mount, fields[2], limits);
		}
}

void ro_host_limits_read(const char *root, ro_host_limits *limits)
{
	g_autofree char *path = g_strconcat(root, "/proc/self/cgroup", NULL);
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;
	struct rlimit address_space;

	limits->processors = g_get_num_processors();
	limits->memory = (guint64)sysconf(_SC_PHYS_PAGES) * (guint64)sysconf(_SC_PAGESIZE);
	if (getrlimit(RLIMIT_AS, &address_space) == 0 && address_space.rlim_cur != RLIM_INFINITY)
		limits->memory = MIN(limits->memory, address_space.rlim_cur);
	if (!g_file_get_contents(path, &text, NULL, NULL))
		return;
	lines = g_strsplit(text, "\n", -1);
	for (guint i = 0; lines[i]; i++)
		read_membership(root, lines[i], limits);
}
