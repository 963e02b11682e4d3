/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files that a run writes: checked all together before it begins. */
#ifndef RO_OUTPUT_FILES_H
#define RO_OUTPUT_FILES_H

#include "reorder/options.h"

/*
 * None of them may be one that the run reads or writes otherwise, in any spelling, nor be there
 * already without --force (RO_ERROR_USAGE); each must be possible to create (RO_ERROR_FAILED).
 */
gboolean ro_output_files_check(const ro_options *options, GError **error);

#endif
