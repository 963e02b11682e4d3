/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/boot_segment.h"

#include <stdio.h>

#include "reorder/input.h"
#include "reorder/recording.h"
#include "reorder/util/error.h"
#include "reorder/util/output.h"
#include "trace/agent/protocol.h"

static gboolean write_segment(
	const ro_options *options, const ro_input *input, const GByteArray *segment, GError **error)
{
	int input_fd = input->iso ? input->iso->fd : -1;
	g_autoptr(ro_output) output =
		ro_output_new(options->segment, options->force, input_fd, error);

	return output && ro_output_put(output, segment->data, segment->len, error) &&
	       ro_output_commit(output, error);
}

/* As a boot loader names them. */
static char *initrds(const tr_boot_job *job, const char *separator)
{
	if (!job->entry)
		return g_strdup("/live/initrd.img");
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	for (guint i = 0; i < job->entry->initrds->len; i++)
		g_ptr_array_add(names, g_ptr_array_index(job->entry->initrds, i));
	g_ptr_array_add(names, NULL);
	return g_strjoinv(separator, (char **)names->pdata);
}

static void print_how(const ro_options *options, const tr_boot_job *job)
{
	g_autofree char *name = g_path_get_basename(options->segment);
	g_autofree char *grub = initrds(job, " "), *isolinux = initrds(job, ",");

	printf("%s: to be put where the boot loader can read it, and at its prompt behind the initrds:\n"
	       "  GRUB       initrd %s (hd1,1)/%s\n"
	       "  isolinux   initrd=%s,/%s\n"
	       "and on the kernel's command line:\n"
	       "  rdinit=/" TR_AGENT_PATH "\n"
	       "When the boot is over, the recording goes to a partition named " TR_STICK_LABEL
	       " (FAT or ext4),\n"
	       "which may be plugged in then; or, with one more word, to a serial line:\n"
	       "  reorder.trace=ttyS0\n"
	       "Then: reorder-livecd trace IN.iso --from-frames FILE -o boot.trace\n",
		options->segment, grub, name, isolinux, name);
}

static gboolean have_entry(const tr_boot_job *job, GError **error)
{
	if (!job->iso || job->entry)
		return TRUE;
	return ro_fail(error, RO_ERROR_UNSUITABLE,
		"%s: no boot entry with a kernel was found; leave the ISO out and the segment is for any initrd but an LZ4 one",
		job->iso->path);
}

gboolean ro_boot_segment_make(const ro_options *options, GError **error)
{
	g_autoptr(GByteArray) segment = NULL;
	ro_input input = {0};
	gboolean ok = !options->input || ro_input_open(&input, options->input, error);

	if (ok) {
		tr_boot_job job = ro_recording_boot_job(options, &input);
		segment = have_entry(&job, error) ? tr_boot_segment(&job, error) : NULL;
		ok = segment && write_segment(options, &input, segment, error);
		if (ok && !options->quiet)
			print_how(options, &job);
	}
	ro_input_clear(&input);
	return ok;
}
