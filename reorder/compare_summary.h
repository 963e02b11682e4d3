/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a comparison found, on one screen and as JSON. */
#ifndef RO_COMPARE_SUMMARY_H
#define RO_COMPARE_SUMMARY_H

#include <stdio.h>

#include "reorder/util/json.h"
#include "trace/compare.h"

void ro_compare_summary_print(const tr_comparison *comparison, FILE *out);

/* One object. */
void ro_compare_summary_json(const tr_comparison *comparison, JsonBuilder *builder);

/* Members of an object that is open: what a simulation added up. */
void ro_simulation_json(const tr_simulation *simulation, JsonBuilder *builder);

#endif
