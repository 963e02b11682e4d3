/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/report.h"

GString *tr_report_html(const tr_comparison *comparison)
{
	(void)comparison;
	return g_string_new("");
}
