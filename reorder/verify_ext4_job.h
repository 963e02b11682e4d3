/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Verification of what the ext4 engine made. */
#ifndef RO_VERIFY_EXT4_JOB_H
#define RO_VERIFY_EXT4_JOB_H

#include "reorder/engine.h"
#include "reorder/verify.h"

/*
 * The filesystem (see ro_ext4_verify), and where there is a squashfs around it, that this holds it
 * and is otherwise as it was. Then removes what the engine had left in the work directory.
 */
gboolean ro_ext4_verify_job(const ro_engine_job *job, ro_verify_result *result, GError **error);

#endif
