/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "reorder/commands.h"
#include "reorder/output_files.h"
#include "reorder/util/error.h"
#include "reorder/util/escape.h"
#include "reorder/util/interrupt.h"

static gboolean run_verb(const ro_options *options, GError **error)
{
	switch (options->verb) {
	case RO_VERB_TRACE:
		return options->diff ? ro_command_trace_diff(options, error)
				     : ro_command_trace(options, error);
	case RO_VERB_PLAN:
		return ro_command_plan(options, error);
	case RO_VERB_INSPECT:
		return ro_command_inspect(options, error);
	case RO_VERB_COMPARE:
		return ro_command_compare(options, error);
	case RO_VERB_SIMULATE:
		return ro_command_simulate(options, error);
	case RO_VERB_RECOVER:
		return ro_command_recover(options, error);
	case RO_VERB_HOTMAP:
		return ro_command_hotmap(options, error);
	case RO_VERB_DM:
		return ro_command_dm(options, error);
	case RO_VERB_REORDER:
	case RO_VERB_COUNT:
		break;
	}
	return ro_command_reorder(options, error);
}

static gboolean run(const ro_options *options, GError **error)
{
	if (options->list_options)
		ro_options_print_list(options);
	else if (options->help)
		ro_options_print_help(options);
	else if (options->version)
		printf("reorder-livecd %s\n", REORDER_VERSION);
	else if (!ro_output_files_check(options, error) || !run_verb(options, error))
		return FALSE;
	/* A full disk behind standard output shows here at the latest. */
	if (fflush(stdout) != 0 || ferror(stdout))
		return ro_fail_errno(error, errno, "standard output: cannot be written");
	return TRUE;
}

/* One line, whatever names it holds; only the tail of a guest's console takes more. */
static void print_error(const GError *error)
{
	gboolean guest = g_error_matches(error, RO_ERROR, RO_ERROR_GUEST);
	g_autofree char *text = ro_printable(error->message, guest);

	fprintf(stderr, "reorder-livecd: %s\n", text);
}

/* With 0, 1 or 2 closed, the next file opened would get its number, and messages written into it.
 */
static void open_standard_streams(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	ro_options options;

	open_standard_streams();
	ro_interrupt_install();
	gboolean ok = ro_options_parse(&options, argc, argv, &error) && run(&options, &error);
	ro_options_clear(&options);
	if (ok)
		return 0;
	print_error(error);
	ro_interrupt_die();
	return error->domain == RO_ERROR ? error->code : RO_ERROR_FAILED;
}
