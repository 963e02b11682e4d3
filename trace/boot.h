/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The virtual boot that records a trace: VM, guest agent and medium log, put together. */
#ifndef TR_BOOT_H
#define TR_BOOT_H

#include "iso/live_iso.h"
#include "reorder/image/layer.h"
#include "reorder/util/progress.h"
#include "trace/coverage.h"
#include "trace/hardware.h"
#include "trace/read_log.h"
#include "trace/trace.h"

typedef enum { TR_ACCEL_AUTO, TR_ACCEL_KVM, TR_ACCEL_TCG } tr_accel;

/* What tells which files a boot read (--tracer). */
typedef enum {
	TR_TRACER_FANOTIFY, /* the agent in the guest, or nothing */
	TR_TRACER_AUTO,     /* fanotify; where the guest cannot have it, blocks */
	TR_TRACER_ATIME,    /* access times, and fanotify as long as there are none */
	TR_TRACER_BLOCKS,   /* the reads of the medium; no agent (trace/block_tracer.h) */
} tr_tracer;

/* When a boot is over (--until). */
typedef enum { TR_UNTIL_IDLE, TR_UNTIL_CONSOLE, TR_UNTIL_TIME } tr_until_kind;
typedef struct {
	tr_until_kind kind;
	double seconds; /* idle, time: guest seconds */
	GRegex *regex;  /* console; owned by whoever owns the struct */
} tr_until;

/* "idle:20", "console:REGEX", "time:90". RO_ERROR_USAGE otherwise. */
gboolean tr_until_parse(const char *text, tr_until *until, GError **error);

typedef struct {
	const li_iso *iso;
	const li_entry *entry; /* what to boot */
	/* Whose files are of interest: the images of the root, named by their paths on the ISO, in
	 * any order. */
	const img_layer *layers;
	guint layer_count;
	tr_tracer tracer;
	tr_accel accel;
	guint64 memory; /* bytes; 0: chosen */
	guint cpus;     /* 0: chosen */
	tr_hardware hardware;
	double timeout;         /* host seconds; 0: chosen by accelerator */
	const tr_until *untils; /* first of them that holds ends the boot */
	guint until_count;
	const char *workdir;       /* scratch; console and read logs are left here */
	const char *const *medium; /* parameters for the medium plugin, ends with NULL; or NULL */
	ro_progress *progress;
} tr_boot_job;

typedef struct {
	tr_trace *trace;       /* owned */
	GArray *reads;         /* of tr_read, all of the medium; owned */
	tr_read_totals medium; /* of all reads */
	tr_read_totals image;  /* of those of the images */
	tr_coverage coverage;
} tr_boot_result;

/* Before any long work: QEMU, nbdkit, agent, plugin, KVM if asked for, memory, kernel and initrds
 * of the entry. */
gboolean tr_boot_check(const tr_boot_job *job, GError **error);

/* Whether a read has the first sector of one of the images: then it is being mounted. */
gboolean tr_boot_mounts_image(const tr_boot_job *job, const tr_read *read);

/* What the guest gets: the job's, or as much as its initrds and a live system need. */
guint64 tr_boot_memory(const tr_boot_job *job);

/*
 * Boots and records. RO_ERROR_GUEST with the console's tail (several lines, the first says what
 * happened and what to do) if the guest panics, drops to an emergency shell, never switches root,
 * or the time runs out before that.
 */
gboolean tr_boot_run(const tr_boot_job *job, tr_boot_result *result, GError **error);

/* A trace without a boot: of a log that was kept of one. Needs no entry. */
gboolean tr_boot_from_log(
	const tr_boot_job *job, const char *log, tr_boot_result *result, GError **error);

/*
 * What to put behind the initrds of a live system that is to be recorded on a machine of its own,
 * which decides by the job's end rules (idle and time) itself. Without an ISO in the job it is for
 * initrds whose last segment is not LZ4. Owned by the caller.
 */
GByteArray *tr_boot_segment(const tr_boot_job *job, GError **error);

/* A trace from what the agent has left there (the result has nothing else). RO_ERROR_UNSUITABLE if
 * that is no such recording, or one of a boot that did not get to its root. */
gboolean tr_boot_from_frames(
	const tr_boot_job *job, const char *path, tr_boot_result *result, GError **error);

void tr_boot_result_clear(tr_boot_result *result);

#endif
