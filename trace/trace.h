/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A trace: which files of the live image a boot accessed, in what order. Text format: docs in
 * man/reorder-livecd.1 and the header of trace.c.
 */
#ifndef TR_TRACE_H
#define TR_TRACE_H

#include <glib.h>

typedef enum { TR_OPEN, TR_EXEC, TR_READ, TR_ATIME, TR_BLOCKS } tr_how;
typedef enum { TR_FILE = 'f', TR_DIR = 'd', TR_SYMLINK = 'l' } tr_kind;

#define TR_BYTES_UNKNOWN G_MAXUINT64

/* 31 years: no time in a trace is larger. */
#define TR_SECONDS_MAX 1e9

typedef struct {
	double time; /* guest seconds since the kernel started */
	tr_kind kind;
	tr_how how;    /* the strongest seen: a file that was opened, then read, is TR_READ */
	guint64 bytes; /* of it that were read (unpacked), or TR_BYTES_UNKNOWN */
	char *image;   /* path on the ISO, "/live/filesystem.squashfs" */
	char *path;    /* bytes, inside the image, resolved, without a leading slash */
	guint traces;  /* of a merged trace: how many have it; else 0 */
} tr_event;

typedef struct {
	char *tool_version;
	char *volume_id, *volume_uuid;
	char *image;          /* path of the root image on the ISO, of several the topmost */
	char *layers;         /* all of several, topmost first: escaped paths with blanks between */
	char *image_checksum; /* sha256 of the superblocks (of a squashfs 96 bytes, of an ext4 1024)
				 of the images it was recorded on, by path, in hex: tells whether
				 it is of these very images */
	char *kernel_version; /* uname -r of the guest */
	char *cmdline;        /* of the traced boot */
	char *tracer;         /* "fanotify", "atime", "blocks" */
	char *accelerator;    /* "kvm", "tcg" */
	guint64 memory;       /* bytes of the guest */
	char *machine;        /* "q35", "pc"; as the following NULL if it is not known */
	char *devices;        /* their names (trace/hardware.h), with blanks between them */
	char *cpu_model;      /* as QEMU calls it; NULL: the usual one */
	char *firmware;       /* "bios", "uefi" */
	char *end_reason;     /* "idle", "console", "time" */
	double end_time;      /* guest seconds */
	double root_time;     /* guest seconds when the root was switched */
	guint64 lost_events;
	double coverage;   /* 0..1, or negative: unknown */
	guint merged;      /* from how many traces; 0: it is one that was read or recorded */
	GPtrArray *events; /* of tr_event, first occurrence of each path only, by time */
} tr_trace;

tr_trace *tr_trace_new(void);
/* With that one's header and no events. */
tr_trace *tr_trace_new_like(const tr_trace *trace);
void tr_trace_free(tr_trace *trace);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(tr_trace, tr_trace_free)

/* "open", "exec", …; static. */
const char *tr_how_name(tr_how how);

void tr_event_free(tr_event *event);

/* By path, then image: 0 if both are of the same file. For GTree and sorting. */
gint tr_event_compare(gconstpointer a, gconstpointer b);

/* Parse errors are RO_ERROR_USAGE "FILE:LINE: reason"; unknown header keys are kept out silently
 * (newer versions may add some). */
tr_trace *tr_trace_read(const char *path, GError **error);
tr_trace *tr_trace_parse(const char *name, const char *text, gsize length, GError **error);

/* The text of a trace; ends with the line "end N" that proves that it is whole. */
GString *tr_trace_format(const tr_trace *trace);

/*
 * One trace from several: a file is in it if it is in any. Those in all come first, then those in
 * fewer and fewer; among these by the median of their ranks (in the traces that have it, as a share
 * of the trace's length), ties by the first trace. Takes nothing over; the result is new. count
 * >= 1.
 */
tr_trace *tr_trace_merge(tr_trace *const *traces, guint count);

#endif
