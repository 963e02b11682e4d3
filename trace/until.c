/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "reorder/util/error.h"
#include "trace/boot.h"

static const double seconds_max = 1e6;

static gboolean parse_seconds(const char *text, const char *number, double *seconds, GError **error)
{
	char *end;
	double value = g_ascii_strtod(number, &end);

	if (!*number || *end || number[strspn(number, "0123456789.")] || value <= 0 ||
		value > seconds_max)
		return ro_fail(error, RO_ERROR_USAGE,
			"--until %s: the seconds are not a number between 0 and 1000000", text);
	*seconds = value;
	return TRUE;
}

static gboolean parse_regex(const char *text, const char *pattern, GRegex **regex, GError **error)
{
	g_autoptr(GError) reason = NULL;

	if (!*pattern)
		return ro_fail(error, RO_ERROR_USAGE, "--until %s: the expression is empty", text);
	/* The console's text is bytes. */
	*regex = g_regex_new(pattern, G_REGEX_RAW | G_REGEX_OPTIMIZE, 0, &reason);
	if (*regex)
		return TRUE;
	return ro_fail(error, RO_ERROR_USAGE, "--until %s: %s", text, reason->message);
}

gboolean tr_until_parse(const char *text, tr_until *until, GError **error)
{
	*until = (tr_until){0};
	if (g_str_has_prefix(text, "idle:")) {
		until->kind = TR_UNTIL_IDLE;
		return parse_seconds(text, text + strlen("idle:"), &until->seconds, error);
	}
	if (g_str_has_prefix(text, "time:")) {
		until->kind = TR_UNTIL_TIME;
		return parse_seconds(text, text + strlen("time:"), &until->seconds, error);
	}
	if (g_str_has_prefix(text, "console:")) {
		until->kind = TR_UNTIL_CONSOLE;
		return parse_regex(text, text + strlen("console:"), &until->regex, error);
	}
	return ro_fail(error, RO_ERROR_USAGE,
		"--until %s: unknown rule; use idle:SECONDS, console:REGEX or time:SECONDS", text);
}
