/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file that describes a drive, and some reads from it. */
#include "tests/fuzz/fuzz.h"
#include "trace/drive_file.h"
#include "trace/read_log.h"
#include "trace/simulate.h"

static void serve(const tr_drive_choice *choice)
{
	const tr_read reads[] = {{0, 0, 4096, 0}, {0, 1ull << 40, 65536, 0}, {1, 123, 1, 0}};
	tr_replay replay;

	tr_replay_init(&replay, &choice->params, 1);
	for (guint i = 0; i < G_N_ELEMENTS(reads); i++) {
		tr_served served;

		tr_replay_next(&replay, &reads[i], &served);
		g_assert_true(served.delay >= 0);
	}
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
	GError *error = NULL;
	tr_drive_choice choice;
	gboolean fine = tr_drive_parse("fuzz", (const char *)data, size, &choice, &error);

	if (fz_done(fine, &error)) {
		GStrv words = tr_drive_plugin_parameters(&choice.params, 1);

		g_strfreev(words);
		serve(&choice);
	}
	tr_drive_choice_clear(&choice);
	return 0;
}
