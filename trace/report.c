/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/report.h"

#include "trace/compare_text.h"
#include "trace/html.h"
#include "trace/report-internal.h"

static void open_page(GString *html, const tr_comparison *c)
{
	g_autofree char *a = g_path_get_basename(c->sides[0].path);
	g_autofree char *b = g_path_get_basename(c->sides[1].path);

	g_string_append(html,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\">\n");
	tr_html_elementf(html, "title", NULL, "%s and %s: boot times", a, b);
	g_string_append_printf(
		html, "\n<style>\n%s</style>\n</head>\n<body>\n<main>\n", tr_report_style);
}

/* --- the headline --- */

static void add_tile(GString *html, const char *title, const char *a, const char *b)
{
	g_string_append(html, "<div class=\"tile\">");
	tr_html_element(html, "div", "quiet", title);
	g_string_append(html, "<div class=\"change\">");
	tr_html_element(html, "span", "sa", a);
	g_string_append(html, "<span class=\"arrow\">→</span>");
	tr_html_element(html, "span", "sb", b);
	g_string_append(html, "</div></div>\n");
}

static void add_metric_tile(
	GString *html, const tr_comparison *c, const char *title, tr_metric metric)
{
	g_autofree char *a =
		tr_metric_text(metric, tr_report_median(&c->sides[0], TR_ROW_TOTAL, metric));
	g_autofree char *b =
		tr_metric_text(metric, tr_report_median(&c->sides[1], TR_ROW_TOTAL, metric));

	add_tile(html, title, a, b);
}

static void add_floor_tile(GString *html, const tr_comparison *c)
{
	g_autofree char *a =
		g_strdup_printf("%.0f %%", 100 * tr_compared_above_floor(&c->sides[0]));
	g_autofree char *b =
		g_strdup_printf("%.0f %%", 100 * tr_compared_above_floor(&c->sides[1]));

	add_tile(html, "above a boot without delay", a, b);
}

static void add_headline(GString *html, const tr_comparison *c)
{
	g_autofree char *headline = tr_comparison_headline(c);
	g_autofree char *conditions = tr_comparison_conditions(c);
	tr_ratio ratio;

	tr_comparison_ratio(c, TR_ROW_TOTAL, TR_METRIC_SECONDS, &ratio);
	g_string_append(html, "<header>\n");
	g_string_append_printf(html, "<div class=\"hero %s\">%.2f<small>×</small></div>\n",
		tr_verdict_name(ratio.verdict), ratio.value);
	g_string_append(html, "<div>");
	tr_html_element(html, "h1", NULL, headline);
	tr_html_element(html, "p", "quiet", conditions);
	g_string_append(html, "</div>\n</header>\n<div class=\"tiles\">\n");
	add_metric_tile(html, c, "seconds to the end", TR_METRIC_SECONDS);
	add_metric_tile(html, c, "long seeks", TR_METRIC_SEEKS);
	add_metric_tile(html, c, "seconds the drive is busy", TR_METRIC_BUSY);
	add_metric_tile(html, c, "requests", TR_METRIC_REQUESTS);
	add_floor_tile(html, c);
	g_string_append(html, "</div>\n");
}

static void add_missing(GString *html, const tr_comparison *c)
{
	if (c->missing->len == 0)
		return;
	g_string_append(html,
		"<div class=\"alarm\"><b>The two do not boot to the same system: the times say nothing.</b><ul>\n");
	for (guint i = 0; i < c->missing->len; i++)
		tr_html_element(html, "li", NULL, g_ptr_array_index(c->missing, i));
	g_string_append(html, "</ul></div>\n");
}

static void add_notes(GString *html, const tr_comparison *c)
{
	g_autoptr(GPtrArray) notes = tr_comparison_notes(c);

	if (notes->len == 0)
		return;
	g_string_append(html, "<ul class=\"notes\">\n");
	for (guint i = 0; i < notes->len; i++) {
		tr_html_element(html, "li", NULL, g_ptr_array_index(notes, i));
		g_string_append_c(html, '\n');
	}
	g_string_append(html, "</ul>\n");
}

static void open_section(GString *html, const char *title, const char *text)
{
	g_string_append(html, "<section>\n");
	tr_html_element(html, "h2", NULL, title);
	if (text)
		tr_html_element(html, "p", "lead", text);
	g_string_append_c(html, '\n');
}

GString *tr_report_html(const tr_comparison *c)
{
	GString *html = g_string_new(NULL);

	open_page(html, c);
	add_missing(html, c);
	add_headline(html, c);
	open_section(html, "Where the boot reads",
		"Time runs to the right, the position on the medium upwards. Each mark is a read, of the boot nearest to the median; both pictures have the same scales.");
	tr_report_maps(html, c);
	g_string_append(html, "</section>\n");
	open_section(html, "Where the time goes", NULL);
	tr_report_phase_bars(html, c);
	g_string_append(html, "</section>\n");
	open_section(html, "The same boots on other drives",
		"Simulated: the reads of one boot of each, with the times the guest thinks between them, on every drive.");
	tr_report_drives(html, c);
	g_string_append(html, "</section>\n");
	open_section(html, "All numbers",
		"A ratio above 1 means that B needs less. Intervals are bootstrap intervals of the ratio of the medians, widened for few runs.");
	tr_report_results(html, c);
	g_string_append(html, "</section>\n");
	open_section(html, "What was compared", NULL);
	tr_report_subjects(html, c);
	add_notes(html, c);
	g_string_append(html, "</section>\n</main>\n</body>\n</html>\n");
	return html;
}
