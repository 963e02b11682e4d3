/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Takes the frames of the guest agent (trace/agent/protocol.h) out of what comes over its serial
 * line. */
#ifndef TR_FRAMES_H
#define TR_FRAMES_H

#include <glib.h>

/* A frame whose checksum is right. What is in it still comes from the guest. */
typedef struct {
	guint8 type;
	const guint8 *payload; /* length bytes, and a NUL behind them */
	gsize length;
} tr_frame;

typedef void (*tr_frame_func)(const tr_frame *frame, gpointer data);

typedef struct {
	guint64 bytes;   /* received */
	guint64 good;    /* frames */
	guint64 bad;     /* pieces between two frame ends that are no frame */
	guint64 missing; /* frames that the sequence numbers show to be lost */
	guint64 forged;  /* of the bad: right, but with a number that no loss explains */
} tr_frames_counts;

typedef struct tr_frames tr_frames;

tr_frames *tr_frames_new(void);
void tr_frames_free(tr_frames *frames);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(tr_frames, tr_frames_free)

/* Calls for every frame that ends in these bytes. Memory is bounded by the size of one frame. */
void tr_frames_push(
	tr_frames *frames, const void *bytes, gsize length, tr_frame_func call, gpointer data);

const tr_frames_counts *tr_frames_get_counts(const tr_frames *frames);

#endif
