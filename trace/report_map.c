/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "trace/compare_text.h"
#include "trace/html.h"
#include "trace/report-internal.h"

/* The picture is stretched to its place; lines keep their width. Text is HTML beside it. */
enum { SPAN = 1000, TICKS_X = 6, TICKS_Y = 6, STROKES_MAX = 30000 };

/* What both maps share. */
typedef struct {
	GString *html;
	double seconds, bytes; /* that the axes span */
} map;

static double x_of(const map *m, double seconds)
{
	return m->seconds > 0 ? SPAN * seconds / m->seconds : 0;
}

/* Upwards. */
static double y_of(const map *m, double bytes)
{
	return m->bytes > 0 ? SPAN * (1 - bytes / m->bytes) : SPAN;
}

static void put_point(GString *path, char command, double x, double y)
{
	g_string_append_c(path, command);
	tr_html_number(path, x);
	g_string_append_c(path, ' ');
	tr_html_number(path, y);
}

/* --- the axes --- */

double tr_report_tick_step(double range, guint pieces)
{
	double least = range / pieces;
	double power = pow(10, floor(log10(least)));

	for (guint i = 0; i < 3; i++) {
		static const double factors[] = {1, 2, 5};
		if (factors[i] * power >= least * 0.9999)
			return factors[i] * power;
	}
	return 10 * power;
}

static void add_x_labels(const map *m)
{
	double step = tr_report_tick_step(m->seconds, TICKS_X);

	g_string_append(m->html, "<div class=\"xs\">");
	for (double at = 0; at <= m->seconds * 0.94; at += step) {
		g_string_append(m->html, "<span style=\"left:");
		tr_html_number(m->html, 100 * at / m->seconds);
		g_string_append_printf(m->html, "%%\">%g</span>", at);
	}
	g_string_append(m->html, "<span class=\"unit\">s</span></div>");
}

static void add_y_labels(const map *m)
{
	double megabytes = m->bytes / 1e6;
	double step = tr_report_tick_step(megabytes, TICKS_Y);

	g_string_append(m->html, "<div class=\"ys\">");
	for (double at = 0; at <= megabytes * 0.94; at += step) {
		g_string_append(m->html, "<span style=\"bottom:");
		tr_html_number(m->html, 100 * at / megabytes);
		g_string_append_printf(m->html, "%%\">%g</span>", at);
	}
	g_string_append(m->html, "<span class=\"unit\">MB</span></div>");
}

static void add_grid(const map *m)
{
	double step_x = tr_report_tick_step(m->seconds, TICKS_X);
	double step_y = tr_report_tick_step(m->bytes / 1e6, TICKS_Y) * 1e6;
	GString *path = g_string_new(NULL);

	for (double at = step_x; at < m->seconds; at += step_x) {
		put_point(path, 'M', x_of(m, at), 0);
		g_string_append_printf(path, "V%d", SPAN);
	}
	for (double at = step_y; at < m->bytes; at += step_y) {
		put_point(path, 'M', 0, y_of(m, at));
		g_string_append_printf(path, "H%d", SPAN);
	}
	g_string_append_printf(m->html, "<path class=\"grid\" d=\"%s\"/>", path->str);
	g_string_free(path, TRUE);
}

/* --- phases and bands --- */

static double end_of_phase(const tr_marks *marks, int phase)
{
	int next = phase + 1;

	while (next < TR_PHASE_COUNT && marks->at[next] < 0)
		next++;
	return marks->at[next];
}

static void add_rect(
	GString *html, const char *class, double x, double y, double width, double height)
{
	g_string_append_printf(html, "<rect class=\"%s\" x=\"", class);
	tr_html_number(html, x);
	g_string_append(html, "\" y=\"");
	tr_html_number(html, y);
	g_string_append(html, "\" width=\"");
	tr_html_number(html, width);
	g_string_append(html, "\" height=\"");
	tr_html_number(html, height);
	g_string_append(html, "\"/>");
}

static void add_phases(const map *m, const tr_measured *run)
{
	for (int i = 0; i < TR_PHASE_COUNT; i++) {
		if (!run->phases.known[i])
			continue;
		double from = x_of(m, run->marks.at[i]);
		g_autofree char *class = g_strdup_printf("shade p%d", i);
		add_rect(m->html, class, from, 0, x_of(m, end_of_phase(&run->marks, i)) - from,
			SPAN);
	}
}

static void add_phase_labels(const map *m, const tr_measured *run)
{
	g_string_append(m->html, "<div class=\"ps\">");
	for (int i = 0; i < TR_PHASE_COUNT; i++) {
		if (!run->phases.known[i])
			continue;
		double from = x_of(m, run->marks.at[i]) / 10;
		double width = x_of(m, end_of_phase(&run->marks, i)) / 10 - from;
		g_string_append_printf(m->html, "<span class=\"p%d\" style=\"left:", i);
		tr_html_number(m->html, from);
		g_string_append(m->html, "%;width:");
		tr_html_number(m->html, width);
		g_string_append_printf(m->html, "%%\" title=\"%s\">", tr_row_title((tr_row)i));
		tr_html_text(m->html, tr_row_title((tr_row)i));
		g_string_append(m->html, "</span>");
	}
	g_string_append(m->html, "</div>");
}

static const char *const band_classes[] = {"b-kernel", "b-initrd", "b-image", "b-tables"};

/* The medium beside the map, from bottom to top. */
static void add_bands(const map *m, const tr_compared *side)
{
	g_string_append_printf(m->html,
		"<svg class=\"bands\" viewBox=\"0 0 10 %d\" preserveAspectRatio=\"none\" aria-hidden=\"true\">",
		SPAN);
	add_rect(m->html, "b-rest", 0, y_of(m, (double)side->size), 10,
		SPAN - y_of(m, (double)side->size));
	for (guint i = 0; i < side->bands->len; i++) {
		const tr_band *band = &g_array_index(side->bands, tr_band, i);
		double top = y_of(m, (double)(band->offset + band->length));
		double height = y_of(m, (double)band->offset) - top;
		/* Thinner ones would not be seen. */
		add_rect(m->html, band_classes[band->kind], 0, top - MAX(0, 4 - height), 10,
			MAX(height, 4));
	}
	g_string_append(m->html, "</svg>");
}

/* --- the reads --- */

/* Lines of which those that look the same are drawn once. */
typedef struct {
	GString *path;
	GHashTable *drawn; /* of where they are, four times 16 bits */
} strokes;

static void add_stroke(strokes *s, double x1, double y1, double x2, double y2)
{
	const double ends[] = {x1, y1, x2, y2};
	guint64 place = 0;

	for (guint i = 0; i < G_N_ELEMENTS(ends); i++)
		place = place << 16 | (guint64)CLAMP(round(ends[i]), 0, SPAN);
	if (g_hash_table_size(s->drawn) >= STROKES_MAX ||
		!g_hash_table_add(s->drawn, g_memdup2(&place, sizeof place)))
		return;
	put_point(s->path, 'M', x1, y1);
	put_point(s->path, 'L', x2, y2);
}

static strokes new_strokes(void)
{
	return (strokes){g_string_new(NULL),
		g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL)};
}

static void end_strokes(GString *html, strokes *s, const char *class)
{
	g_string_append_printf(html, "<path class=\"%s\" d=\"%s\"/>", class, s->path->str);
	g_string_free(s->path, TRUE);
	g_hash_table_unref(s->drawn);
}

/* What was read, and the way from each read to the next. */
static void add_reads(const map *m, const GArray *reads)
{
	strokes seen = new_strokes(), moves = new_strokes();
	double head = 0;

	for (guint i = 0; i < reads->len; i++) {
		const tr_read *read = &g_array_index(reads, tr_read, i);
		double from = x_of(m, read->time);
		double low = y_of(m, (double)read->offset);
		double high = y_of(m, (double)(read->offset + read->length));
		if (i > 0 && fabs(low - head) > 2)
			add_stroke(&moves, from, head, from, low);
		add_stroke(&seen, from, low, x_of(m, read->time + read->delay), high);
		head = high;
	}
	end_strokes(m->html, &moves, "moves");
	end_strokes(m->html, &seen, "reads");
}

static void add_end(const map *m, double seconds)
{
	GString *path = g_string_new(NULL);

	put_point(path, 'M', x_of(m, seconds), 0);
	g_string_append_printf(path, "V%d", SPAN);
	g_string_append_printf(m->html, "<path class=\"end\" d=\"%s\"/>", path->str);
	g_string_free(path, TRUE);
}

static void add_caption(const map *m, const tr_compared *side, guint number)
{
	const tr_measured *run = &g_array_index(side->runs, tr_measured, side->typical);
	const double *total = run->phases.value[TR_ROW_TOTAL];
	g_autofree char *base = g_path_get_basename(side->path);

	g_string_append_printf(m->html, "<figcaption><b class=\"s%c\">%c</b> ", 'a' + (int)number,
		tr_report_letter(number));
	tr_html_text(m->html, base);
	g_string_append_printf(m->html,
		"<span class=\"quiet\"> %.1f s, %.0f requests, %.0f long seeks</span></figcaption>",
		total[TR_METRIC_SECONDS], total[TR_METRIC_REQUESTS], total[TR_METRIC_SEEKS]);
}

static void add_map(const map *m, const tr_compared *side, guint number)
{
	const tr_measured *run = &g_array_index(side->runs, tr_measured, side->typical);
	double end = run->marks.at[TR_PHASE_COUNT];

	g_string_append_printf(m->html, "<figure class=\"map s%c\">", 'a' + (int)number);
	add_caption(m, side, number);
	add_phase_labels(m, run);
	add_y_labels(m);
	g_string_append_printf(m->html,
		"<svg class=\"plot\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"Reads of the medium by %c: time across, position on the medium upwards\">",
		SPAN, SPAN, tr_report_letter(number));
	add_phases(m, run);
	add_grid(m);
	add_reads(m, run->reads);
	add_end(m, end);
	g_string_append(m->html, "</svg>");
	add_bands(m, side);
	add_x_labels(m);
	g_string_append(m->html, "</figure>\n");
}

static void add_legend(GString *html)
{
	static const char *const names[] = {"kernel", "initrd", "live image", "its tables"};

	g_string_append(html, "<p class=\"legend\"><span>On the medium:</span>");
	for (guint i = 0; i < G_N_ELEMENTS(names); i++)
		g_string_append_printf(html,
			"<span><svg class=\"key\" width=\"12\" height=\"12\" aria-hidden=\"true\"><rect class=\"%s\" width=\"12\" height=\"12\"/></svg>%s</span>",
			band_classes[i], names[i]);
	g_string_append(html, "<span>Vertical lines: the head moves.</span></p>\n");
}

void tr_report_maps(GString *html, const tr_comparison *c)
{
	map m = {.html = html};

	for (guint i = 0; i < 2; i++) {
		const tr_compared *side = &c->sides[i];
		const tr_measured *run = &g_array_index(side->runs, tr_measured, side->typical);
		m.seconds = MAX(m.seconds, run->marks.at[TR_PHASE_COUNT]);
		m.bytes = MAX(m.bytes, (double)side->size);
	}
	g_string_append(html, "<div class=\"maps\">\n");
	for (guint i = 0; i < 2; i++)
		add_map(&m, &c->sides[i], i);
	g_string_append(html, "</div>\n");
	add_legend(html);
}
