/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command line: one table of options serves the parser, --help, the completion and the check of
 * the man page. */
#ifndef RO_OPTIONS_H
#define RO_OPTIONS_H

#include "reorder/plan/plan.h"
#include "trace/boot.h"
#include "trace/calibrate.h"
#include "trace/measure.h"

typedef enum {
	RO_VERB_REORDER,
	RO_VERB_TRACE,
	RO_VERB_PLAN,
	RO_VERB_INSPECT,
	RO_VERB_COMPARE,
	RO_VERB_SIMULATE,
	RO_VERB_RECOVER,
	RO_VERB_HOTMAP,
	RO_VERB_DM,
	RO_VERB_COUNT,
} ro_verb;

typedef enum { RO_FORMAT_PLAN, RO_FORMAT_MKSQUASHFS, RO_FORMAT_GENSQUASHFS } ro_format;

/* --preload */
typedef enum { RO_PRELOAD_NONE, RO_PRELOAD_DM, RO_PRELOAD_AUTO } ro_preload_mode;

/* What the verb dm is to do. */
typedef enum { RO_DM_NONE, RO_DM_TABLE, RO_DM_ACTIVATE, RO_DM_RELEASE, RO_DM_STATUS } ro_dm_action;

typedef struct {
	ro_verb verb;
	const char *input;      /* of simulate: a read log; of trace --diff: A.trace */
	const char *output;     /* reorder: OUT.iso; trace, plan: -o, NULL is stdout */
	gboolean diff;          /* trace: explain two traces; nothing is booted */
	const char *other;      /* compare: B.iso; trace --diff: B.trace */
	GPtrArray *traces;      /* of const char * */
	const char *save_trace; /* or NULL */
	const char *segment;    /* trace: --make-boot-segment, or NULL; then input may be NULL */
	const char *frames;     /* trace: --from-frames, or NULL */
	const char *json;       /* or NULL */
	const char *work_dir;   /* or NULL */
	const char *engine;     /* "auto" or the name of one */
	const char *writer;     /* likewise */
	gboolean in_place;      /* there is no output */
	ro_preload_mode preload;
	ro_dm_action dm;
	const char *dm_device; /* dm: where the medium is, or NULL */
	ro_order order;
	ro_layout layout;
	ro_format format;
	guint64 seed;
	GPtrArray *also; /* of const char *, ends with NULL */
	tr_tracer tracer;
	const char *read_log; /* trace: of this log instead of a boot, or NULL */
	tr_accel accel;
	guint64 memory; /* bytes; 0: chosen by the boot */
	guint cpus;     /* 0: chosen */
	tr_hardware hardware;
	GPtrArray *devices; /* of const char *, what hardware.devices points to; ends with NULL */
	double timeout;     /* host seconds; 0: chosen */
	GArray *untils;     /* of tr_until */
	gboolean compare;   /* reorder: compare the new ISO with the old one */
	const char *drive;  /* a profile or a file, or NULL */
	guint runs;         /* boots of each ISO */
	double slow_motion; /* 0: calibrated; simulate: 1 */
	const tr_processor *processor;
	tr_firmware firmware;
	const char *report; /* or NULL */
	gboolean keep_work, force, quiet, verbose;
	gboolean help, version, list_options; /* nothing else is looked at */
} ro_options;

/*
 * RO_ERROR_USAGE for anything wrong, with the text that was wrong in it. The strings are those of
 * argv. Clear it in either case.
 */
gboolean ro_options_parse(ro_options *options, int argc, char **argv, GError **error);
void ro_options_clear(ro_options *options);

void ro_options_print_help(const ro_options *options);
/* The long options of the verb, a line each: for the completion. */
void ro_options_print_list(const ro_options *options);

#endif
