/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/monitor.h"

#include <string.h>
#include <unistd.h>

#include "trace/pipe_pair.h"

static const char prompt[] = "(qemu) ";

/* Of 64 processors it is some 200 KiB. */
enum { ANSWER_LIMIT = 1 << 20 };

/* Linux, x86: the upper half of the addresses. */
#define KERNEL_START 0xffff800000000000u

struct tr_monitor {
	tr_pipe_pair pipes;
	GString *answer;
	gboolean asked;
};

tr_monitor *tr_monitor_new(const char *directory, GError **error)
{
	tr_monitor *monitor = g_new0(tr_monitor, 1);

	monitor->answer = g_string_new(NULL);
	if (tr_pipe_pair_open(&monitor->pipes, directory, "monitor", error))
		return monitor;
	tr_monitor_free(monitor);
	return NULL;
}

void tr_monitor_free(tr_monitor *monitor)
{
	if (!monitor)
		return;
	tr_pipe_pair_close(&monitor->pipes);
	g_string_free(monitor->answer, TRUE);
	g_free(monitor);
}

const char *tr_monitor_pipes(const tr_monitor *monitor)
{
	return monitor->pipes.base;
}

static void take_output(tr_monitor *monitor)
{
	char bytes[16384];
	ssize_t n;

	while ((n = read(monitor->pipes.out, bytes, sizeof bytes)) > 0)
		if (monitor->asked && monitor->answer->len < ANSWER_LIMIT)
			g_string_append_len(monitor->answer, bytes, n);
}

static void say(tr_monitor *monitor, const char *command)
{
	(void)!write(monitor->pipes.in, command, strlen(command));
}

void tr_monitor_press_enter(tr_monitor *monitor)
{
	take_output(monitor);
	say(monitor, "sendkey ret\n");
}

void tr_monitor_ask_mode(tr_monitor *monitor)
{
	if (monitor->asked)
		return;
	take_output(monitor); /* what came before is no answer */
	g_string_truncate(monitor->answer, 0);
	monitor->asked = TRUE;
	say(monitor, "info registers -a\n");
}

static guint64 number_behind(const char *text, const char *name, int base)
{
	const char *at = strstr(text, name);

	return at ? g_ascii_strtoull(at + strlen(name), NULL, base) : 0;
}

/* Linux, x86: PAGE_OFFSET of 32 bits; above it are the devices, and firmware in its flash. */
static gboolean in_kernel(guint64 address)
{
	return address >= KERNEL_START || (address >= 0xc0000000 && address < 0xfe000000);
}

tr_mode tr_monitor_parse_mode(const char *text)
{
	tr_mode mode = TR_MODE_EARLY;

	/* "RIP=… CPL=…" in 64-bit mode, "EIP=… CPL=…" otherwise. */
	for (const char *at = text; (at = strstr(at, "IP=")); at++) {
		if (number_behind(at, "CPL=", 10) == 3)
			return TR_MODE_USER;
		if (in_kernel(number_behind(at, "IP=", 16)))
			mode = TR_MODE_KERNEL;
	}
	return mode;
}

/* The answer ends with the next prompt; the command's echo comes before it. */
gboolean tr_monitor_get_mode(tr_monitor *monitor, tr_mode *mode)
{
	take_output(monitor);
	if (!monitor->asked || !strstr(monitor->answer->str, "IP=") ||
		!g_str_has_suffix(monitor->answer->str, prompt))
		return FALSE;
	monitor->asked = FALSE;
	*mode = tr_monitor_parse_mode(monitor->answer->str);
	return TRUE;
}
