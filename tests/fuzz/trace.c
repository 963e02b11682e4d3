/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace file: what is read is written so that it is read again. */
#include "tests/fuzz/fuzz.h"
#include "trace/trace.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
	GError *error = NULL;
	g_autoptr(tr_trace) trace = tr_trace_parse("fuzz", (const char *)data, size, &error);
	g_autoptr(tr_trace) again = NULL, merged = NULL;
	GString *text;

	if (!fz_done(trace != NULL, &error))
		return 0;
	text = tr_trace_format(trace);
	again = tr_trace_parse("again", text->str, text->len, NULL);
	g_assert_nonnull(again);
	g_assert_cmpuint(again->events->len, ==, trace->events->len);
	merged = tr_trace_merge((tr_trace *[]){trace, again}, 2);
	g_assert_cmpuint(merged->events->len, ==, trace->events->len);
	g_string_free(text, TRUE);
	return 0;
}
