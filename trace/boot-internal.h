/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A direct kernel boot with the agent in it, by itself: what recording and measuring have in
 * common. */
#ifndef TR_BOOT_INTERNAL_H
#define TR_BOOT_INTERNAL_H

#include "trace/boot.h"
#include "trace/ovmf.h"
#include "trace/session.h"

/* What one boot needs and gives; everything but the job is owned. */
typedef struct {
	const tr_boot_job *job;
	gboolean calibrating; /* nothing but the agent, which measures the processor */
	gboolean measuring;   /* waiting for the medium is not being idle */
	gboolean agentless;   /* the guest is as it is; set when it starts */
	char *kernel, *initrd, *cmdline, *qemu_log, *read_log;
	const tr_ovmf *ovmf; /* NULL: SeaBIOS */
	char *uefi_vars;     /* its variables */
	GPtrArray *dropped;  /* of char *: words that were taken out of the command line */
	guint64 memory;      /* bytes */
	const char *accelerator;
	tr_guest *guest;
	tr_session_end end;
} tr_booted;

/* Whether no agent goes into the guest: by wish, or since it could not run there. */
gboolean tr_boot_without_agent(const tr_boot_job *job);

/* Whether the trace is made of the reads of the medium, and that: events, tracer and kernel of the
 * trace. Says why if nobody asked for it. */
gboolean tr_booted_by_blocks(const tr_booted *b);
gboolean tr_booted_take_blocks(
	const tr_booted *b, tr_trace *trace, const GArray *reads, GError **error);

/* Makes the events and the tracer of a trace by fanotify those of the access times; where these do
 * not work, warns. */
void tr_booted_take_atimes(const tr_booted *b, tr_trace *trace);
gboolean tr_booted_cut_sweep(const tr_booted *b, GArray *reads, GError **error);

enum { TR_INITRD_LIMIT = 1 << 30 }; /* bytes */

/* RO_ERROR_UNSUITABLE if the entry's file is not there. */
const li_file *tr_boot_need_file(const tr_boot_job *job, const char *path, GError **error);

/* ... or if it has no initrd, to which the agent could be added. */
gboolean tr_boot_check_initrds(const tr_boot_job *job, GError **error);

/* Path of the agent's program; owned by the caller. */
char *tr_boot_agent(GError **error);

/* Writes b->kernel and b->initrd. */
gboolean tr_booted_write(const tr_booted *b, GError **error);

/* What the guest has told, as a trace: RO_ERROR_UNSUITABLE if it read nothing of the image. */
tr_trace *tr_booted_trace(const tr_booted *b, GError **error);
void tr_booted_warn_of_losses(const tr_booted *b, const tr_trace *trace);

/* b->job is set. Clear it in either case. */
gboolean tr_booted_run(tr_booted *b, GError **error);
void tr_booted_clear(tr_booted *b);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(tr_booted, tr_booted_clear)

/* What a boot says of the images that its root was made of. The checksum is that of a trace's
 * header; the names are those of the guest's root at the end; what was read of them, result->reads
 * says. */
char *tr_booted_checksum(const tr_booted *b, GError **error);
void tr_booted_name_layers(const tr_booted *b, tr_trace *trace);
void tr_booted_look_at_layers(const tr_booted *b, tr_boot_result *result);
/* Images of the guest's root that the job has not. */
void tr_booted_warn_of_foreign(const tr_booted *b);

#endif
