/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A comparison as one HTML page that needs nothing else: pictures are inline SVG, no script, no
 * network. The same comparison gives the same bytes. */
#ifndef TR_REPORT_H
#define TR_REPORT_H

#include "trace/compare.h"

/* Owned by the caller. */
GString *tr_report_html(const tr_comparison *comparison);

#endif
