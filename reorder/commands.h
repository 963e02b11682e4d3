/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verbs. Each wires stages: it validates, runs them and reports. */
#ifndef RO_COMMANDS_H
#define RO_COMMANDS_H

#include "reorder/options.h"

gboolean ro_command_reorder(const ro_options *options, GError **error);
gboolean ro_command_trace(const ro_options *options, GError **error);
gboolean ro_command_trace_diff(const ro_options *options, GError **error);
gboolean ro_command_plan(const ro_options *options, GError **error);
gboolean ro_command_inspect(const ro_options *options, GError **error);
gboolean ro_command_compare(const ro_options *options, GError **error);
gboolean ro_command_simulate(const ro_options *options, GError **error);
gboolean ro_command_recover(const ro_options *options, GError **error);
gboolean ro_command_hotmap(const ro_options *options, GError **error);
gboolean ro_command_dm(const ro_options *options, GError **error);

#endif
