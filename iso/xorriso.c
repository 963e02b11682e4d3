/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/xorriso.h"

#include <stdio.h>
#include <string.h>

#include "reorder/util/child.h"

enum { NEED_MAJOR = 1, NEED_MINOR = 5, NEED_MICRO = 2 };

typedef struct {
	const li_xorriso *run;
	char *problem; /* the first message that is more than a warning */
} messages;

char *li_xorriso_address(const char *path)
{
	g_autofree char *absolute = g_canonicalize_filename(path, NULL);

	return g_strconcat("stdio:", absolute, NULL);
}

/* "xorriso : UPDATE : Writing:       4096s   55.6%   fifo  90%  buf  50%" */
static void show_progress(ro_progress *progress, const char *line)
{
	const char *writing = strstr(line, "Writing:");
	const char *percent = writing ? strchr(writing, '%') : NULL;
	const char *start = percent;

	while (start && start > writing && (g_ascii_isdigit(start[-1]) || start[-1] == '.'))
		start--;
	if (percent && start < percent)
		ro_progress_update(progress, g_ascii_strtod(start, NULL), 100, NULL);
}

/* "xorriso : FAILURE : text", "libisofs: MISHAP : text" */
static const char *problem_of(const char *line)
{
	static const char *const severities[] = {"SORRY", "MISHAP", "FAILURE", "FATAL", "ABORT"};

	for (guint i = 0; i < G_N_ELEMENTS(severities); i++) {
		g_autofree char *mark = g_strconcat(": ", severities[i], " : ", NULL);
		const char *found = strstr(line, mark);

		if (found)
			return found + strlen(mark);
	}
	return NULL;
}

static void on_message(const char *line, gpointer data)
{
	messages *m = data;
	const char *problem = problem_of(line);

	if (strstr(line, " : UPDATE : ")) {
		show_progress(m->run->progress, line);
		return;
	}
	if (problem && !m->problem)
		m->problem = g_strchomp(g_strdup(problem));
	ro_progress_note(m->run->progress, "xorriso: %s", line);
}

gboolean li_xorriso_run(const li_xorriso *run, GError **error)
{
	static const char *const first[] = {
		"xorriso", "-no_rc", "-abort_on", "MISHAP", "-return_with", "SORRY", "32"};
	g_autoptr(GPtrArray) argv = g_ptr_array_new();
	messages m = {.run = run};
	ro_child_spec spec = {.out = run->out, .on_err = on_message, .data = &m};
	g_autoptr(GError) failure = NULL;
	gboolean fine;

	for (guint i = 0; i < G_N_ELEMENTS(first); i++)
		g_ptr_array_add(argv, (gpointer)first[i]);
	for (const char *const *word = run->argv; *word; word++)
		g_ptr_array_add(argv, (gpointer)*word);
	g_ptr_array_add(argv, NULL);
	spec.argv = (const char *const *)argv->pdata;
	fine = ro_child_run(&spec, NULL, &failure);
	if (m.problem && (!failure || failure->code == RO_ERROR_FAILED))
		fine = ro_fail(error, run->code, "%s: xorriso: %s", run->subject, m.problem);
	else if (!fine)
		g_propagate_error(error, g_steal_pointer(&failure));
	g_free(m.problem);
	return fine;
}

gboolean li_xorriso_need(GError **error)
{
	static const char *const argv[] = {"xorriso", "-version", NULL};
	g_autoptr(GString) out = g_string_new(NULL);
	const ro_child_spec spec = {.argv = argv, .out = out};
	guint major = 0, minor = 0, micro = 0;
	const char *at;

	if (!ro_child_need("xorriso", "xorriso", error) || !ro_child_run(&spec, NULL, error))
		return FALSE;
	at = strstr(out->str, "xorriso version   :");
	if (!at || sscanf(strchr(at, ':') + 1, "%u.%u.%u", &major, &minor, &micro) != 3)
		return ro_fail(error, RO_ERROR_FAILED,
			"xorriso: can't read its version; install xorriso 1.5.2 or later");
	if (major * 10000 + minor * 100 + micro <
		NEED_MAJOR * 10000 + NEED_MINOR * 100 + NEED_MICRO)
		return ro_fail(error, RO_ERROR_FAILED,
			"xorriso: version %u.%u.%u can't keep the boot equipment of an ISO; install 1.5.2 or later",
			major, minor, micro);
	return TRUE;
}
