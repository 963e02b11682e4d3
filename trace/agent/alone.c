/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A machine without a host beside it: the agent itself decides when the boot is over, by the rules
 * that lie beside it, and leaves the frames on a serial line (reorder.trace=ttyS0 on the command
 * line) or on a partition.
 */
#include "trace/agent/agent.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reorder/guest/guest.h"
#include "trace/agent/protocol.h"

enum {
	BUSY_FACTOR = 6, /* as the host has it: a machine that never rests is idle after so many
			    times the seconds */
	SECOND = 1000000000,
};

static bool alone, on_line;
static uint64_t idle_limit, time_limit; /* ns; 0: no such rule */
static uint64_t news, quiet, last_tick, last_idle;
static bool switched;

static void take_rule(const char *text)
{
	unsigned seconds;

	if (sscanf(text, "idle %u", &seconds) == 1)
		idle_limit = seconds * (uint64_t)SECOND;
	else if (sscanf(text, "time %u", &seconds) == 1)
		time_limit = seconds * (uint64_t)SECOND;
}

/* The number behind reorder.trace=ttyS; -1 without that word. */
static int wanted_line(void)
{
	static const char word[] = "reorder.trace=ttyS";
	char *cmdline = NULL;
	size_t room = 0;
	int number = -1;

	if (ro_guest_read_file(ag_proc, "cmdline", &cmdline, &room) > 0)
		for (char *at = strtok(cmdline, " \n"); at; at = strtok(NULL, " \n"))
			if (!strncmp(at, word, strlen(word)))
				number = atoi(at + strlen(word));
	free(cmdline);
	return number;
}

bool ag_alone(void)
{
	return alone;
}

bool ag_alone_begin(void)
{
	char *rules = NULL;
	size_t room = 0;
	ssize_t length = ro_guest_read_file(AT_FDCWD, "/" TR_AGENT_ALONE, &rules, &room);

	if (length < 0)
		return false;
	unlink("/" TR_AGENT_ALONE);
	alone = true;
	for (char *at = strtok(rules, "\n"); at; at = strtok(NULL, "\n"))
		take_rule(at);
	free(rules);
	return true;
}

bool ag_alone_open(void)
{
	int number = wanted_line();

	on_line = number >= 0;
	return on_line ? ag_line_open(number) : ag_dev >= 0;
}

void ag_alone_news(bool root)
{
	switched |= root;
	news = ro_guest_now();
	quiet = 0;
}

/* Processors; the agent and timers cost a little, a program that computes a whole one. */
void ag_alone_tick(uint64_t now, uint64_t idle, uint32_t processors)
{
	uint64_t passed = now - last_tick, rested = idle - last_idle;

	if (passed * processors < rested + passed / 2)
		quiet += passed;
	last_tick = now;
	last_idle = idle;
}

bool ag_alone_over(void)
{
	uint64_t now = ro_guest_now();

	if (!alone || !switched)
		return false;
	if (time_limit && now >= time_limit)
		return true;
	return idle_limit && (quiet >= idle_limit || now - news >= BUSY_FACTOR * idle_limit);
}

void ag_alone_finish(void)
{
	if (on_line)
		ag_line_drain();
	else
		ag_stick_save();
	ag_say(on_line ? "the trace is complete"
		       : "the trace is saved; the stick can be pulled out");
}
