/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a fuzz target on files: what is a program of its own without libFuzzer. */
#include <stdio.h>

#include "tests/fuzz/fuzz.h"

/* Far more than any input takes; a hang shall not hold up everything else. */
enum { SECONDS = 120 };

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		g_autoptr(GError) error = NULL;
		g_autofree char *data = NULL;
		gsize size;

		if (!g_file_get_contents(argv[i], &data, &size, &error)) {
			fprintf(stderr, "%s\n", error->message);
			return 1;
		}
		alarm(SECONDS);
		LLVMFuzzerTestOneInput((const guint8 *)data, size);
	}
	return 0;
}
