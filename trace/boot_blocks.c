/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Boots that are recorded by the reads of the medium. */
#include "trace/boot-internal.h"

#include <string.h>

#include "iso/kernel_image.h"
#include "reorder/util/error.h"
#include "trace/block_tracer.h"

/* What keeps the agent out of this boot; NULL: nothing. */
static const char *agent_obstacle(const tr_boot_job *job)
{
	const li_file *file = li_iso_find(job->iso, job->entry->kernel);
	li_kernel kernel = {0};

	if (job->entry->initrds->len == 0)
		return "the boot entry has no initrd";
	if (!file || !li_kernel_read(job->iso, file, &kernel, NULL))
		return NULL;
	g_free(kernel.version);
	return kernel.is_64bit ? NULL : "the kernel is a 32-bit one";
}

gboolean tr_boot_without_agent(const tr_boot_job *job)
{
	return job->tracer == TR_TRACER_BLOCKS ||
	       (job->tracer == TR_TRACER_AUTO && agent_obstacle(job));
}

/* Why the reads have to do although nobody asked for them; NULL: they have not. */
static char *reason_for_blocks(const tr_booted *b)
{
	const tr_guest *guest = b->guest;

	if (b->job->tracer != TR_TRACER_AUTO)
		return NULL;
	if (b->agentless)
		return g_strdup(agent_obstacle(b->job));
	if (guest->heard && guest->fanotify_errno)
		return g_strdup_printf("the guest's kernel %s has no fanotify (%s)", guest->release,
			g_strerror((int)guest->fanotify_errno));
	if (guest->marked == 0 && guest->unmarked > 0)
		return g_strdup_printf(
			"the guest's kernel %s does not report what is read from its filesystems (%s)",
			guest->release, g_strerror((int)guest->mark_errno));
	return NULL;
}

gboolean tr_booted_by_blocks(const tr_booted *b)
{
	g_autofree char *reason = reason_for_blocks(b);

	return b->job->tracer == TR_TRACER_BLOCKS || reason;
}

/* "6.1.0-57-amd64 (…) …" without the rest. */
static char *kernel_release(const tr_boot_job *job)
{
	const li_file *file = job->entry ? li_iso_find(job->iso, job->entry->kernel) : NULL;
	li_kernel kernel = {0};

	if (!file || !li_kernel_read(job->iso, file, &kernel, NULL) || !kernel.version)
		return NULL;
	kernel.version[strcspn(kernel.version, " ")] = '\0';
	return kernel.version;
}

/* The log's time at which the guest's kernel started; a log by itself does not tell. */
static gboolean kernel_start(const tr_booted *b, double *start, GError **error)
{
	*start = 0;
	if (b->end.kernel <= 0)
		return TRUE;
	if (!tr_read_log_number(b->read_log, "start", start, error))
		return FALSE;
	*start = b->end.kernel - *start;
	return TRUE;
}

static void tell(const tr_booted *b, const tr_block_counts *counts)
{
	g_autofree char *reason = reason_for_blocks(b);

	if (reason)
		ro_warn("%s: the trace is made of the reads of the medium, which cannot tell the files of one block apart (--tracer blocks)",
			reason);
	ro_progress_note(b->job->progress, "by reads: %u files, and %u that were only read ahead",
		counts->wanted, counts->ahead);
}

gboolean tr_booted_take_blocks(
	const tr_booted *b, tr_trace *trace, const GArray *reads, GError **error)
{
	const tr_boot_job *job = b->job;
	g_autoptr(tr_block_tracer) tracer = tr_block_tracer_new(reads);
	tr_block_counts counts;
	double start;

	if (!kernel_start(b, &start, error))
		return FALSE;
	for (guint i = 0; i < job->layer_count; i++) {
		const img_layer *layer = &job->layers[i];
		const li_file *file = li_iso_find(job->iso, layer->name);

		if (!tr_block_tracer_add(tracer, layer, file->extents[0].offset, error))
			return FALSE;
	}
	g_ptr_array_unref(trace->events);
	trace->events = tr_block_tracer_events(tracer, start, &counts);
	g_free(trace->tracer);
	trace->tracer = g_strdup("blocks");
	if (!trace->kernel_version)
		trace->kernel_version = kernel_release(job);
	if (trace->events->len == 0)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s:%s: no block of a file of it was read; the root came from elsewhere (copied to RAM, or another image)",
			job->iso->path, job->layers[0].name);
	if (trace->end_time <= 0)
		trace->end_time = g_array_index(reads, tr_read, reads->len - 1).time;
	tell(b, &counts);
	return TRUE;
}
