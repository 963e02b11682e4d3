/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/compare_text.h"
#include "trace/html.h"
#include "trace/report-internal.h"

/* Lengths are in percent of the picture, so that text keeps its size at every width. */
typedef struct {
	GString *html;
	double full; /* seconds of the whole width */
} bars;

/* Of the width, from which on a number fits into a piece also on a telephone. */
static const double room_for_text = 8;

double tr_report_median(const tr_compared *side, tr_row row, tr_metric metric)
{
	g_autofree double *values = tr_compared_values(side, row, metric);
	tr_statistics statistics;

	tr_statistics_of(values, side->runs->len, &statistics);
	return statistics.median;
}

static double percent(const bars *b, double seconds)
{
	return b->full > 0 ? 100 * seconds / b->full : 0;
}

static void add_piece(const bars *b, const char *class, double from, double seconds, int height)
{
	double width = percent(b, seconds);

	g_string_append_printf(b->html, "<rect class=\"%s\" x=\"", class);
	tr_html_number(b->html, percent(b, from));
	g_string_append(b->html, "%\" width=\"");
	tr_html_number(b->html, width);
	g_string_append_printf(b->html, "%%\" height=\"%d\"/>", height);
	if (width < room_for_text)
		return;
	g_string_append(b->html, "<text class=\"in\" x=\"");
	tr_html_number(b->html, percent(b, from) + width / 2);
	g_string_append_printf(b->html, "%%\" y=\"%d\">%.1f</text>", height / 2 + 5, seconds);
}

static void open_bar(const bars *b, const char *label, int height)
{
	g_string_append_printf(b->html,
		"<svg class=\"bar\" width=\"100%%\" height=\"%d\" role=\"img\" aria-label=\"",
		height);
	tr_html_text(b->html, label);
	g_string_append(b->html, "\">");
}

/* --- phases --- */

static double phase_seconds(const tr_compared *side, gboolean floor, int phase)
{
	if (floor)
		return side->floor.phases.value[phase][TR_METRIC_SECONDS];
	return tr_report_median(side, (tr_row)phase, TR_METRIC_SECONDS);
}

static double sum_of_phases(const tr_compared *side, gboolean floor)
{
	double sum = 0;

	for (int i = 0; i < TR_PHASE_COUNT; i++)
		sum += phase_seconds(side, floor, i);
	return sum;
}

static void add_phase_bar(const bars *b, const tr_comparison *c, guint number, gboolean floor)
{
	const tr_compared *side = &c->sides[number];
	double at = 0;
	g_autofree char *label = g_strdup_printf("%c%s: %.1f seconds", tr_report_letter(number),
		floor ? " without delay" : "", sum_of_phases(side, floor));

	g_string_append(b->html, "<div class=\"row\"><span class=\"name\">");
	g_string_append_printf(b->html, "<b class=\"s%c\">%c</b> %s</span>", 'a' + (int)number,
		tr_report_letter(number), floor ? "without delay" : c->drive.name);
	open_bar(b, label, floor ? 20 : 30);
	for (int i = 0; i < TR_PHASE_COUNT; i++) {
		double seconds = phase_seconds(side, floor, i);
		g_autofree char *class = g_strdup_printf("p%d", i);
		if (seconds > 0)
			add_piece(b, class, at, seconds, floor ? 20 : 30);
		at += seconds;
	}
	g_string_append(b->html, "</svg>");
	tr_html_elementf(b->html, "span", "sum", "%.1f s", at);
	g_string_append(b->html, "</div>\n");
}

static void add_phase_legend(GString *html, const tr_comparison *c)
{
	g_string_append(html, "<p class=\"legend\">");
	for (int i = 0; i < TR_PHASE_COUNT; i++)
		if (tr_compared_known(&c->sides[0], (tr_row)i))
			g_string_append_printf(html,
				"<span><svg class=\"key\" width=\"12\" height=\"12\" aria-hidden=\"true\"><rect class=\"p%d\" width=\"12\" height=\"12\"/></svg>%s</span>",
				i, tr_row_title((tr_row)i));
	g_string_append(html, "<span>Seconds; the medians of the boots.</span></p>\n");
}

/* --- every boot as a dot --- */

static void add_dots(const bars *b, const tr_compared *side, guint number)
{
	g_autofree double *totals = tr_compared_values(side, TR_ROW_TOTAL, TR_METRIC_SECONDS);
	g_autofree char *label = g_strdup_printf("Every boot of %c", tr_report_letter(number));

	g_string_append_printf(b->html,
		"<div class=\"row\"><span class=\"name\"><b class=\"s%c\">%c</b> every boot</span>",
		'a' + (int)number, tr_report_letter(number));
	open_bar(b, label, 18);
	g_string_append(b->html, "<line class=\"rule\" x1=\"0\" x2=\"100%\" y1=\"9\" y2=\"9\"/>");
	for (guint i = 0; i < side->runs->len; i++) {
		g_string_append_printf(
			b->html, "<circle class=\"dot-%c\" cx=\"", 'a' + (int)number);
		tr_html_number(b->html, percent(b, totals[i]));
		g_string_append_printf(b->html,
			"%%\" cy=\"9\" r=\"4.5\"><title>%.2f s</title></circle>", totals[i]);
	}
	g_string_append(b->html, "</svg><span class=\"sum\"></span></div>\n");
}

void tr_report_phase_bars(GString *html, const tr_comparison *c)
{
	bars b = {.html = html};

	for (guint i = 0; i < 2; i++) {
		g_autofree double *totals =
			tr_compared_values(&c->sides[i], TR_ROW_TOTAL, TR_METRIC_SECONDS);
		b.full = MAX(b.full,
			MAX(sum_of_phases(&c->sides[i], FALSE), sum_of_phases(&c->sides[i], TRUE)));
		for (guint r = 0; r < c->sides[i].runs->len; r++)
			b.full = MAX(b.full, totals[r] * 1.01);
	}
	g_string_append(html, "<div class=\"bars\">\n");
	for (guint i = 0; i < 2; i++)
		add_phase_bar(&b, c, i, FALSE);
	for (guint i = 0; i < 2; i++)
		add_phase_bar(&b, c, i, TRUE);
	for (guint i = 0; i < 2; i++)
		add_dots(&b, &c->sides[i], i);
	g_string_append(html, "</div>\n");
	add_phase_legend(html, c);
}

/* --- all drives --- */

static void add_drive_bar(
	const bars *b, const tr_simulation *simulation, guint number, gboolean marked)
{
	g_autofree char *label = g_strdup_printf("%c on %s: %.1f seconds", tr_report_letter(number),
		simulation->params->name, simulation->seconds);
	g_autofree char *class = g_strdup_printf("bar-%c", 'a' + (int)number);

	g_string_append(b->html, "<div class=\"line\">");
	open_bar(b, label, 16);
	g_string_append_printf(
		b->html, "<rect class=\"%s%s\" width=\"", class, marked ? "" : " pale");
	tr_html_number(b->html, percent(b, simulation->seconds));
	g_string_append(b->html, "%\" height=\"16\"/></svg>");
	tr_html_elementf(b->html, "span", "sum", "%.1f s", simulation->seconds);
	g_string_append(b->html, "</div>");
}

static void add_drive(const bars *b, const tr_comparison *c, guint index)
{
	const tr_simulation *of_a = g_ptr_array_index(c->sides[0].drives, index);
	const tr_simulation *of_b = g_ptr_array_index(c->sides[1].drives, index);
	gboolean chosen = g_str_equal(of_a->params->name, c->drive.name);
	double ratio = of_b->seconds > 0 ? of_a->seconds / of_b->seconds : 1;

	g_string_append_printf(
		b->html, "<div class=\"drive%s\"><div class=\"what\">", chosen ? " chosen" : "");
	tr_html_element(b->html, "b", NULL, of_a->params->name);
	g_string_append(b->html, " ");
	tr_html_element(b->html, "span", "quiet", of_a->params->about);
	g_string_append(b->html, "</div><div class=\"pair\">");
	add_drive_bar(b, of_a, 0, TRUE);
	add_drive_bar(b, of_b, 1, TRUE);
	g_string_append(b->html, "</div>");
	tr_html_elementf(b->html, "div", "times", "%.2f×", ratio);
	g_string_append(b->html, "</div>\n");
}

void tr_report_drives(GString *html, const tr_comparison *c)
{
	const GPtrArray *drives = c->sides[0].drives;
	bars b = {.html = html};

	for (guint i = 0; i < drives->len; i++)
		for (guint s = 0; s < 2; s++) {
			const tr_simulation *simulation = g_ptr_array_index(c->sides[s].drives, i);
			b.full = MAX(b.full, simulation->seconds);
		}
	g_string_append(html, "<div class=\"drives\">\n");
	for (guint i = 0; i < drives->len; i++)
		add_drive(&b, c, i);
	g_string_append(html, "</div>\n");
}
