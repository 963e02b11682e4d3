/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The agent's line, bytes as they come, in two pieces. */
#include "tests/fuzz/fuzz.h"
#include "trace/agent/protocol.h"
#include "trace/frames.h"

static void take(const tr_frame *frame, gpointer user)
{
	(void)user;
	g_assert_cmpuint(frame->length, <=, TR_PAYLOAD_MAX);
	g_assert_cmpint(frame->payload[frame->length], ==, 0);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
	g_autoptr(tr_frames) frames = tr_frames_new();

	tr_frames_push(frames, data, size / 2, take, NULL);
	tr_frames_push(frames, data + size / 2, size - size / 2, take, NULL);
	g_assert_cmpuint(tr_frames_get_counts(frames)->bytes, ==, size);
	return 0;
}
