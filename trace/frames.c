/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/frames.h"

#include "trace/agent/protocol.h"

/* Frames lost in a row: a line that is hung up or overrun takes some kilobytes with it. */
static const guint64 gap_limit = 1 << 16;

struct tr_frames {
	guint8 bytes[TR_FRAME_MAX + 1]; /* unescaped, since the last frame end */
	gsize length;
	gboolean escaped; /* the next byte is */
	gboolean broken;  /* wrong escape, or too long: to be skipped up to the next frame end */
	guint64 next;     /* sequence number */
	tr_frames_counts counts;
};

tr_frames *tr_frames_new(void)
{
	return g_new0(tr_frames, 1);
}

void tr_frames_free(tr_frames *frames)
{
	g_free(frames);
}

const tr_frames_counts *tr_frames_get_counts(const tr_frames *frames)
{
	return &frames->counts;
}

static gboolean is_frame(const tr_frames *frames)
{
	gsize overhead = TR_FRAME_HEADER + TR_FRAME_TRAILER;

	if (frames->broken || frames->escaped || frames->length < overhead)
		return FALSE;
	if (tr_get16(frames->bytes + 5) != frames->length - overhead)
		return FALSE;
	gsize checked = frames->length - TR_FRAME_TRAILER;
	if (tr_get32(frames->bytes + checked) != tr_crc32(0, frames->bytes, checked))
		return FALSE;
	return TRUE;
}

/* Whether it can be the next one; else it was here before, or would make all behind it seem so. */
static gboolean is_in_sequence(tr_frames *frames)
{
	guint32 sequence = tr_get32(frames->bytes + 1);
	gboolean forged = sequence > frames->next + gap_limit;

	frames->counts.forged += forged;
	return !forged && sequence >= frames->next;
}

static void take(tr_frames *frames, tr_frame_func call, gpointer data)
{
	guint32 sequence = tr_get32(frames->bytes + 1);
	tr_frame frame = {
		.type = frames->bytes[0],
		.payload = frames->bytes + TR_FRAME_HEADER,
		.length = frames->length - TR_FRAME_HEADER - TR_FRAME_TRAILER,
	};

	frames->bytes[frames->length - TR_FRAME_TRAILER] = 0;
	frames->counts.good++;
	frames->counts.missing += sequence - frames->next;
	frames->next = (guint64)sequence + 1;
	call(&frame, data);
}

static void end(tr_frames *frames, tr_frame_func call, gpointer data)
{
	if (is_frame(frames) && is_in_sequence(frames))
		take(frames, call, data);
	else if (frames->length || frames->broken || frames->escaped)
		frames->counts.bad++;
	frames->length = 0;
	frames->escaped = frames->broken = FALSE;
}

static void append(tr_frames *frames, guint8 byte)
{
	if (frames->escaped) {
		frames->escaped = FALSE;
		if (byte == TR_SLIP_ESC_END)
			byte = TR_SLIP_END;
		else if (byte == TR_SLIP_ESC_ESC)
			byte = TR_SLIP_ESC;
		else
			frames->broken = TRUE;
	} else if (byte == TR_SLIP_ESC) {
		frames->escaped = TRUE;
		return;
	}
	if (frames->length == TR_FRAME_MAX)
		frames->broken = TRUE;
	else
		frames->bytes[frames->length++] = byte;
}

void tr_frames_push(
	tr_frames *frames, const void *bytes, gsize length, tr_frame_func call, gpointer data)
{
	const guint8 *byte = bytes;

	frames->counts.bytes += length;
	for (gsize i = 0; i < length; i++) {
		if (byte[i] == TR_SLIP_END)
			end(frames, call, data);
		else
			append(frames, byte[i]);
	}
}
