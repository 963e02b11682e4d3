/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/options-internal.h"

#include <stdio.h>
#include <string.h>

enum { HELP_INDENT = 29, HELP_WIDTH = 79 };

/* Words from HELP_INDENT to HELP_WIDTH, then a newline. */
static void print_wrapped(const char *text)
{
	g_auto(GStrv) words = g_strsplit(text, " ", -1);
	gsize column = HELP_INDENT;

	for (char **word = words; *word; word++) {
		gsize length = strlen(*word);
		if (column > HELP_INDENT && column + 1 + length > HELP_WIDTH) {
			printf("\n%*s", HELP_INDENT, "");
			column = HELP_INDENT;
		}
		column += (gsize)printf("%s%s", column > HELP_INDENT ? " " : "", *word);
	}
	printf("\n");
}

static void print_option(const ro_option *o)
{
	g_autofree char *letter = o->letter ? g_strdup_printf("-%c,", o->letter) : g_strdup("");
	g_autofree char *text = g_strdup_printf(
		"%-3s --%s%s%s", letter, o->name, o->value ? " " : "", o->value ? o->value : "");

	printf("  %-*s", HELP_INDENT - 2, text);
	if (strlen(text) > HELP_INDENT - 4)
		printf("\n%*s", HELP_INDENT, "");
	print_wrapped(o->help);
}

void ro_options_print_help(const ro_options *options)
{
	int verb = 1 << options->verb;

	if (options->verb == RO_VERB_REORDER) {
		printf("usage: reorder-livecd %s\n", ro_verb_synopses[RO_VERB_REORDER]);
		for (guint i = 1; i < RO_VERB_COUNT; i++)
			printf("       reorder-livecd %s\n", ro_verb_synopses[i]);
		printf("\nMakes a live ISO that boots faster from slow media: boots IN.iso once in a\n"
		       "virtual machine, records which files the boot reads, and writes OUT.iso with\n"
		       "these files together, the same in all else.\n\n");
	} else {
		printf("usage: reorder-livecd %s\n\n", ro_verb_synopses[options->verb]);
	}
	for (guint i = 0; i < ro_option_count; i++) {
		if (ro_option_table[i].verbs & verb && ro_option_table[i].help)
			print_option(&ro_option_table[i]);
	}
	if (options->verb == RO_VERB_REORDER)
		printf("\nExit status: 0 done, 1 failed, 2 usage, 3 the ISO cannot be reordered,\n"
		       "4 the guest did not boot.\n"
		       "Every verb has a --help of its own. Manual: man reorder-livecd\n");
}

void ro_options_print_list(const ro_options *options)
{
	for (guint i = 0; i < ro_option_count; i++) {
		if (ro_option_table[i].verbs & 1 << options->verb && ro_option_table[i].help)
			printf("--%s\n", ro_option_table[i].name);
	}
}
