/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/util/progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { BAR_WIDTH = 24, REDRAW_US = 100 * 1000 };

struct ro_progress {
	gboolean quiet, verbose, terminal;
	GArray *stages;
	const char *open_stage;
	gint64 started, drawn;
};

/* Whether a bar stands half-drawn on the terminal; there is only one stderr. */
static gboolean bar_drawn;

ro_progress *ro_progress_new(gboolean quiet, gboolean verbose)
{
	ro_progress *progress = g_new0(ro_progress, 1);

	progress->quiet = quiet;
	progress->verbose = verbose;
	progress->terminal = isatty(STDERR_FILENO);
	progress->stages = g_array_new(FALSE, FALSE, sizeof(ro_stage));
	return progress;
}

void ro_progress_free(ro_progress *progress)
{
	if (!progress)
		return;
	ro_progress_interject();
	g_array_unref(progress->stages);
	g_free(progress);
}

static double open_seconds(const ro_progress *progress)
{
	return (double)(g_get_monotonic_time() - progress->started) / G_USEC_PER_SEC;
}

static int terminal_width(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20)
		return size.ws_col;
	return 80;
}

static void append_bar(GString *line, double share)
{
	g_string_append(line, "  [");
	for (int i = 0; i < BAR_WIDTH; i++)
		g_string_append_c(line, i < share * BAR_WIDTH ? '#' : '.');
	g_string_append_printf(line, "] %3.0f %%", share * 100);
}

static void draw(const ro_progress *progress, double share, const char *detail)
{
	g_autoptr(GString) line = g_string_new(NULL);

	g_string_append_printf(line, "%-8s %6.0f s", progress->open_stage, open_seconds(progress));
	if (share >= 0)
		append_bar(line, share);
	if (detail)
		g_string_append_printf(line, "  %s", detail);
	fprintf(stderr, "\r\033[K%.*s", terminal_width() - 1, line->str);
	fflush(stderr);
	bar_drawn = TRUE;
}

void ro_progress_begin(ro_progress *progress, const char *name)
{
	if (!progress)
		return;
	if (progress->open_stage)
		ro_progress_end(progress, NULL);
	progress->open_stage = name;
	progress->started = g_get_monotonic_time();
	progress->drawn = 0;
	if (progress->quiet)
		return;
	if (progress->terminal)
		draw(progress, -1, NULL);
	else
		fprintf(stderr, "%s …\n", name);
}

void ro_progress_update(ro_progress *progress, double done, double total, const char *detail)
{
	if (!progress || progress->quiet || !progress->terminal || !progress->open_stage)
		return;
	gint64 now = g_get_monotonic_time();
	if (now - progress->drawn < REDRAW_US)
		return;
	progress->drawn = now;
	draw(progress, total > 0 ? CLAMP(done / total, 0.0, 1.0) : -1, detail);
}

/* One that comes again, as each image does, is one stage. */
static void add_stage(ro_progress *progress, const ro_stage *stage)
{
	for (guint i = 0; i < progress->stages->len; i++) {
		ro_stage *old = &g_array_index(progress->stages, ro_stage, i);

		if (strcmp(old->name, stage->name) != 0)
			continue;
		old->seconds += stage->seconds;
		return;
	}
	g_array_append_val(progress->stages, *stage);
}

void ro_progress_end(ro_progress *progress, const char *result)
{
	if (!progress || !progress->open_stage)
		return;
	ro_stage stage = {progress->open_stage, open_seconds(progress)};
	add_stage(progress, &stage);
	progress->open_stage = NULL;
	if (progress->quiet)
		return;
	ro_progress_interject();
	fprintf(stderr, "%-8s %6.1f s%s%s\n", stage.name, stage.seconds, result ? "  " : "",
		result ? result : "");
}

void ro_progress_note(ro_progress *progress, const char *format, ...)
{
	if (!progress || !progress->verbose)
		return;
	va_list args;
	va_start(args, format);
	g_autofree char *text = g_strdup_vprintf(format, args);
	va_end(args);
	ro_progress_interject();
	fprintf(stderr, "%s\n", text);
}

const GArray *ro_progress_stages(const ro_progress *progress)
{
	return progress->stages;
}

void ro_progress_interject(void)
{
	if (!bar_drawn)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	bar_drawn = FALSE;
}
