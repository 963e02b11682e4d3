/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/guest.h"

#include <string.h>

#include "trace/agent/protocol.h"
#include "trace/guest_devices.h"

/* Processors; the agent and timers cost a little, a program that computes a whole one. */
static const double busy_limit = 0.5;

tr_guest *tr_guest_new(const img_layer *layers, guint count)
{
	tr_guest *guest = g_new0(tr_guest, 1);

	guest->root_time = guest->strict_time = -1;
	guest->frames = tr_frames_new();
	guest->mounts = tr_guest_mounts_new();
	guest->events = tr_events_new(layers, count);
	guest->atimes = tr_atimes_new(layers, count);
	return guest;
}

void tr_guest_free(tr_guest *guest)
{
	if (!guest)
		return;
	g_free(guest->release);
	tr_frames_free(guest->frames);
	tr_guest_mounts_free(guest->mounts);
	tr_events_free(guest->events);
	tr_atimes_free(guest->atimes);
	g_free(guest);
}

/* The rest of a payload as a string; NULL if there is a NUL in it. It ends with one in any case. */
static const char *text_at(const tr_frame *frame, gsize offset)
{
	const char *text = (const char *)frame->payload + offset;

	return strlen(text) == frame->length - offset ? text : NULL;
}

/* Guest time never goes back, nor further than a trace can say. */
static double time_at(tr_guest *guest, const tr_frame *frame, gsize offset)
{
	double time = (double)tr_get64(frame->payload + offset) / 1e9;

	guest->now = MAX(guest->now, MIN(time, TR_SECONDS_MAX));
	return guest->now;
}

static gboolean take_hello(tr_guest *guest, const tr_frame *frame)
{
	const char *release = text_at(frame, 8);

	if (!release || tr_get32(frame->payload) != TR_PROTOCOL_VERSION)
		return FALSE;
	guest->heard = TRUE;
	guest->fanotify_errno = tr_get32(frame->payload + 4);
	g_free(guest->release);
	guest->release = g_strdup(release);
	return TRUE;
}

static gboolean take_mount(tr_guest *guest, const tr_frame *frame)
{
	const char *line = text_at(frame, 0);

	return line && tr_guest_mounts_line(guest->mounts, line);
}

static gboolean take_gone(tr_guest *guest, const tr_frame *frame)
{
	tr_guest_mounts_gone(guest->mounts, tr_get32(frame->payload));
	return TRUE;
}

static gboolean take_backing(tr_guest *guest, const tr_frame *frame)
{
	const char *path = text_at(frame, 8);

	if (!path)
		return FALSE;
	tr_guest_mounts_backing(
		guest->mounts, tr_get32(frame->payload), tr_get32(frame->payload + 4), path);
	return TRUE;
}

static gboolean take_below(tr_guest *guest, const tr_frame *frame)
{
	const guint8 *p = frame->payload;
	g_autoptr(GArray) below = g_array_new(FALSE, FALSE, sizeof(gint64));

	for (gsize at = 8; at + 8 <= frame->length; at += 8) {
		gint64 device = tr_device_number(tr_get32(p + at), tr_get32(p + at + 4));
		g_array_append_val(below, device);
	}
	tr_guest_mounts_below(guest->mounts, tr_get32(p), tr_get32(p + 4),
		(const gint64 *)(void *)below->data, below->len);
	return frame->length % 8 == 0;
}

static gboolean take_marked(tr_guest *guest, const tr_frame *frame)
{
	guint32 reason = tr_get32(frame->payload + 8);

	time_at(guest, frame, 13);
	if (reason) {
		guest->unmarked++;
		guest->mark_errno = reason;
	} else {
		guest->marked++;
	}
	return TRUE;
}

static gboolean take_event(tr_guest *guest, const tr_frame *frame)
{
	const guint8 *p = frame->payload;
	double time = time_at(guest, frame, 4);
	const char *path = text_at(frame, 26);

	if (!path || path[0] != '/')
		return FALSE;
	g_autoptr(GArray) places = tr_guest_mounts_places(
		guest->mounts, tr_get32(p + 14), tr_get32(p + 18), tr_get32(p + 22), path);
	if (!tr_events_add(guest->events, tr_get32(p), time, p[13], places))
		return TRUE;
	guest->last_first = time;
	guest->quiet = 0;
	return TRUE;
}

static gboolean take_more(tr_guest *guest, const tr_frame *frame)
{
	tr_events_more(guest->events, tr_get32(frame->payload), frame->payload[4]);
	return TRUE;
}

static gboolean take_root(tr_guest *guest, const tr_frame *frame)
{
	guest->root_time = time_at(guest, frame, 0);
	guest->quiet = 0;
	return TRUE;
}

/* A guest that computes for long opens nothing either, above all under emulation, but is not idle.
 */
static gboolean take_tick(tr_guest *guest, const tr_frame *frame)
{
	double time = time_at(guest, frame, 0);
	double idle = (double)tr_get64(frame->payload + 8) / 1e9;
	double passed = time - guest->last_tick;
	double busy = passed * tr_get32(frame->payload + 16) - (idle - guest->last_idle);

	if (busy < busy_limit * passed)
		guest->quiet += passed;
	guest->last_tick = time;
	guest->last_idle = idle;
	return TRUE;
}

static gboolean take_lost(tr_guest *guest, const tr_frame *frame)
{
	guest->overflows = MAX(guest->overflows, tr_get32(frame->payload));
	return TRUE;
}

/* Nanoseconds. */
static double span_at(const tr_frame *frame, gsize offset)
{
	return (double)tr_get64(frame->payload + offset) / 1e9;
}

static gboolean take_unpacked(tr_guest *guest, const tr_frame *frame)
{
	guest->unpack_begin = span_at(frame, 0);
	guest->unpack_end = span_at(frame, 8);
	return TRUE;
}

static gboolean take_calibrated(tr_guest *guest, G_GNUC_UNUSED const tr_frame *frame)
{
	guest->calibrations++;
	return TRUE;
}

static gboolean take_strict(tr_guest *guest, const tr_frame *frame)
{
	const guint8 *p = frame->payload;
	g_autoptr(GPtrArray) images =
		tr_guest_mounts_images(guest->mounts, tr_get32(p), tr_get32(p + 4));
	double time = time_at(guest, frame, 12);

	if (images->len == 0)
		return TRUE;
	if (tr_get32(p + 8))
		guest->strict_errno = tr_get32(p + 8);
	else if (guest->strict_time < 0)
		guest->strict_time = time;
	return TRUE;
}

static gboolean take_atime(tr_guest *guest, const tr_frame *frame)
{
	const guint8 *p = frame->payload;
	const char *path = text_at(frame, 21);

	if (!path || path[0] != '/')
		return FALSE;
	g_autoptr(GArray) places = tr_guest_mounts_places(
		guest->mounts, tr_get32(p + 9), tr_get32(p + 13), tr_get32(p + 17), path);
	tr_atimes_add(guest->atimes, span_at(frame, 0), places);
	return TRUE;
}

static gboolean take_end(tr_guest *guest, const tr_frame *frame)
{
	time_at(guest, frame, 0);
	guest->events_sent = tr_get32(frame->payload + 8);
	guest->overflows = tr_get32(frame->payload + 12);
	guest->events_raw = tr_get32(frame->payload + 16);
	guest->ended = TRUE;
	return TRUE;
}

static const struct {
	guint8 type;
	gsize least; /* bytes of payload */
	gboolean (*take)(tr_guest *guest, const tr_frame *frame);
} kinds[] = {
	{TR_FRAME_HELLO, 8, take_hello},
	{TR_FRAME_MOUNT, 0, take_mount},
	{TR_FRAME_GONE, 4, take_gone},
	{TR_FRAME_BACKING, 8, take_backing},
	{TR_FRAME_BELOW, 8, take_below},
	{TR_FRAME_MARKED, 21, take_marked},
	{TR_FRAME_EVENT, 26, take_event},
	{TR_FRAME_MORE, 5, take_more},
	{TR_FRAME_ROOT, 16, take_root},
	{TR_FRAME_TICK, 20, take_tick},
	{TR_FRAME_LOST, 4, take_lost},
	{TR_FRAME_UNPACKED, 16, take_unpacked},
	{TR_FRAME_CALIBRATED, 12, take_calibrated},
	{TR_FRAME_STRICT, 20, take_strict},
	{TR_FRAME_ATIME, 21, take_atime},
	{TR_FRAME_END, 20, take_end},
};

static void take_frame(const tr_frame *frame, gpointer data)
{
	tr_guest *guest = data;

	for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++) {
		if (kinds[i].type != frame->type)
			continue;
		if (guest->ended || frame->length < kinds[i].least || !kinds[i].take(guest, frame))
			guest->malformed++;
		return;
	}
	guest->malformed++;
}

void tr_guest_push(tr_guest *guest, const void *bytes, gsize length)
{
	tr_frames_push(guest->frames, bytes, length, take_frame, guest);
}
