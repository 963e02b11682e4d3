/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "trace/compare_text.h"
#include "trace/html.h"
#include "trace/report-internal.h"

/* --- the results --- */

static void add_spread(GString *html, const tr_compared *side, tr_row row, tr_metric metric)
{
	g_autofree double *values = tr_compared_values(side, row, metric);
	tr_statistics s;

	tr_statistics_of(values, side->runs->len, &s);
	g_autofree char *median = tr_metric_text(metric, s.median);
	g_autofree char *deviation = tr_metric_text(metric, s.deviation);
	g_autofree char *mean = tr_metric_text(metric, s.mean);
	g_autofree char *minimum = tr_metric_text(metric, s.minimum);
	g_string_append_printf(html,
		"<td><b>%s</b> <span class=\"quiet\">± %s</span></td><td class=\"quiet\">%s</td><td class=\"quiet\">%s</td>",
		median, deviation, mean, minimum);
}

static void add_ratio(GString *html, const tr_ratio *ratio)
{
	static const char *const classes[] = {
		[TR_RATIO_NONE] = "quiet",
		[TR_RATIO_SINGLE] = "",
		[TR_RATIO_NOISE] = "quiet",
		[TR_RATIO_BETTER] = "better",
		[TR_RATIO_WORSE] = "worse",
	};
	g_autofree char *text = tr_ratio_text(ratio);

	if (ratio->verdict == TR_RATIO_NONE || !isfinite(ratio->value))
		tr_html_element(html, "td", "quiet", "–");
	else
		tr_html_elementf(html, "td", classes[ratio->verdict], "%.2f", ratio->value);
	tr_html_element(html, "td", "wide", text);
}

static void add_result(GString *html, const tr_comparison *c, tr_row row, tr_metric metric)
{
	tr_ratio ratio;

	tr_comparison_ratio(c, row, metric, &ratio);
	if (ratio.verdict == TR_RATIO_NONE)
		return; /* nothing on either side */
	g_string_append(html, "<tr>");
	tr_html_element(html, "td", "what", tr_metric_title(metric));
	add_spread(html, &c->sides[0], row, metric);
	add_spread(html, &c->sides[1], row, metric);
	add_ratio(html, &ratio);
	g_string_append(html, "</tr>\n");
}

static gboolean is_shown(const tr_comparison *c, tr_row row)
{
	if (!tr_compared_known(&c->sides[0], row))
		return FALSE;
	return row != TR_ROW_KERNEL_TO_END || tr_compared_known(&c->sides[0], TR_PHASE_LOADER);
}

void tr_report_results(GString *html, const tr_comparison *c)
{
	g_string_append(html, "<div class=\"scroll\"><table class=\"results\"><thead><tr><th></th>"
			      "<th class=\"sa\">A median</th><th>mean</th><th>min</th>"
			      "<th class=\"sb\">B median</th><th>mean</th><th>min</th>"
			      "<th>A / B</th><th class=\"wide\">95 % interval</th></tr></thead>\n");
	for (int row = 0; row < TR_ROW_COUNT; row++) {
		if (!is_shown(c, (tr_row)row))
			continue;
		g_string_append(html, "<tbody><tr><th class=\"group\" colspan=\"9\">");
		tr_html_text(html, tr_row_title((tr_row)row));
		g_string_append(html, "</th></tr>\n");
		for (int metric = 0; metric < TR_METRIC_COUNT; metric++)
			add_result(html, c, (tr_row)row, (tr_metric)metric);
		g_string_append(html, "</tbody>\n");
	}
	g_string_append(html, "</table></div>\n");
}

/* --- what was compared --- */

static void add_pair(GString *html, const char *term, const char *text)
{
	tr_html_element(html, "dt", NULL, term);
	tr_html_element(html, "dd", NULL, text);
	g_string_append_c(html, '\n');
}

static void add_pairf(GString *html, const char *term, const char *format, ...) G_GNUC_PRINTF(3, 4);
static void add_pairf(GString *html, const char *term, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	g_autofree char *text = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	add_pair(html, term, text);
}

static void add_loader_file(GString *html, const tr_loader_file *file)
{
	g_autoptr(GString) text = g_string_new(NULL);

	g_string_append_printf(text, "%s: %.1f MB, %s; estimated %.1f s to read", file->path,
		(double)file->size / 1e6, file->compression, file->read_seconds);
	if (file->unpack_seconds >= 0)
		g_string_append_printf(text, ", %.1f s to unpack", file->unpack_seconds);
	add_pair(html, file->is_kernel ? "kernel file" : "initrd", text->str);
}

static void add_subject(GString *html, const tr_compared *side, guint number)
{
	const tr_measured *run = &g_array_index(side->runs, tr_measured, 0);

	g_string_append_printf(html, "<div><h3><b class=\"s%c\">%c</b> ", 'a' + (int)number,
		tr_report_letter(number));
	tr_html_text(html, side->path);
	g_string_append(html, "</h3><dl>\n");
	add_pairf(html, "size", "%.1f MB (%" G_GUINT64_FORMAT " bytes)", (double)side->size / 1e6,
		side->size);
	add_pair(html, "SHA-256", side->sha256);
	add_pair(html, "volume", side->volume_id);
	if (run->kernel)
		add_pair(html, "kernel", run->kernel);
	add_pair(html, "command line", run->cmdline);
	for (guint i = 0; i < side->loader->len; i++)
		add_loader_file(html, &g_array_index(side->loader, tr_loader_file, i));
	if (run->unpacked >= 0)
		add_pairf(html, "unpacking", "%.2f s for the initramfs, by the kernel's own log",
			run->unpacked);
	if (run->phases.waited > 0)
		add_pairf(html, "menu", "%.1f s of waiting, not counted", run->phases.waited);
	if (run->programs)
		add_pairf(html, "programs", "%u were started", g_hash_table_size(run->programs));
	g_string_append(html, "</dl></div>\n");
}

static void add_drive_parameters(GString *html, const tr_comparison *c)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (size_t i = 0; tr_drive_param_name(i); i++)
		g_string_append_printf(text, "%s%s %.10g", i ? ", " : "", tr_drive_param_name(i),
			tr_drive_param_get(&c->drive, i));
	g_string_append(text, " (bytes, seconds, bytes per second)");
	add_pairf(html, "drive", "%s: %s", c->drive.name, c->drive.about);
	add_pair(html, "its model", text->str);
}

static void add_machine(GString *html, const tr_comparison *c)
{
	static const char *const starts[] = {"direct kernel start", "SeaBIOS", "OVMF (UEFI)"};
	g_autofree char *devices = tr_hardware_devices(&c->hardware);
	const tr_measured *run = &g_array_index(c->sides[0].runs, tr_measured, 0);

	add_pairf(html, "machine", "%s, %s, %u processors, %" G_GUINT64_FORMAT " MiB, %s",
		tr_chipset_name(c->hardware.chipset),
		c->accel == TR_ACCEL_KVM ? "KVM" : "emulated (TCG)", c->cpus, c->memory >> 20,
		starts[c->firmware]);
	add_pair(html, "devices", devices);
	add_pairf(html, "modelled", "%s (%s): the fixed work in %.3f s", c->processor->name,
		c->processor->about, c->processor->seconds);
	if (c->calibrated > 0)
		add_pairf(html, "calibration", "%.3f s for the same work in the guest",
			c->calibrated);
	add_pairf(html, "slow motion", "%.3f", c->k);
	add_pairf(html, "boots", "%u of each, in turn, and one of each without delay",
		c->sides[0].runs->len);
	add_pair(html, "end", run->end_reason);
	add_pairf(html, "load", "%.1f on the host when it began", c->load);
}

void tr_report_subjects(GString *html, const tr_comparison *c)
{
	g_autoptr(GDateTime) date = g_date_time_new_from_unix_utc(c->date);
	g_autofree char *day = g_date_time_format(date, "%Y-%m-%d %H:%M UTC");

	g_string_append(html, "<div class=\"subjects\">\n");
	for (guint i = 0; i < 2; i++)
		add_subject(html, &c->sides[i], i);
	g_string_append(html, "<div><h3>Both</h3><dl>\n");
	add_drive_parameters(html, c);
	add_machine(html, c);
	if (c->qemu)
		add_pair(html, "QEMU", c->qemu);
	add_pair(html, "program", "reorder-livecd " REORDER_VERSION);
	add_pair(html, "date", day);
	g_string_append(html, "</dl></div>\n</div>\n");
}
