/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kernel and the initrd of a direct boot, as files; and what goes into the latter. */
#include "trace/boot-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "iso/initrd.h"
#include "reorder/util/error.h"
#include "trace/agent/protocol.h"

enum {
	KERNEL_LIMIT = 256 << 20,
	INITRD_ALIGNMENT = 4, /* as boot loaders put several initrds into memory */
	SEGMENT_PADDING = 8,  /* more zeros than theirs, which some unpackers trip over */
};

const li_file *tr_boot_need_file(const tr_boot_job *job, const char *path, GError **error)
{
	const li_file *file = li_iso_find(job->iso, path);

	if (!file)
		ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s:%s: the boot entry of %s:%u names it, but it is not there",
			job->iso->path, path, job->entry->config, job->entry->line);
	return file;
}

gboolean tr_boot_check_initrds(const tr_boot_job *job, GError **error)
{
	if (job->entry->initrds->len == 0 && !tr_boot_without_agent(job))
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: the boot entry of %s:%u has no initrd, which the guest agent has to be added to; use --tracer blocks",
			job->iso->path, job->entry->config, job->entry->line);
	for (guint i = 0; i < job->entry->initrds->len; i++)
		if (!tr_boot_need_file(job, g_ptr_array_index(job->entry->initrds, i), error))
			return FALSE;
	return TRUE;
}

static gboolean write_all(int fd, const guint8 *bytes, gsize length)
{
	while (length > 0) {
		ssize_t n = write(fd, bytes, length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return FALSE;
		bytes += n;
		length -= (gsize)n;
	}
	return TRUE;
}

static gboolean write_file(const char *path, const guint8 *bytes, gsize length, GError **error)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0)
		return ro_fail_errno(error, errno, "%s", path);
	gboolean ok = write_all(fd, bytes, length);
	int reason = errno;
	if (close(fd) < 0 && ok) {
		ok = FALSE;
		reason = errno;
	}
	return ok || ro_fail_errno(error, reason, "%s", path);
}

static gboolean make_kernel(const tr_boot_job *job, const char *path, GError **error)
{
	const li_file *file = tr_boot_need_file(job, job->entry->kernel, error);
	g_autoptr(GBytes) bytes = file ? li_iso_read(job->iso, file, KERNEL_LIMIT, error) : NULL;
	gsize size;

	if (!bytes)
		return FALSE;
	const guint8 *data = g_bytes_get_data(bytes, &size);
	return write_file(path, data, size, error);
}

/* Appends a file of the ISO, at the next aligned position. */
static gboolean append_initrd(
	const tr_boot_job *job, const char *name, GByteArray *initrd, GError **error)
{
	static const guint8 zeros[INITRD_ALIGNMENT];
	const li_file *file = tr_boot_need_file(job, name, error);
	g_autoptr(GBytes) bytes =
		file ? li_iso_read(job->iso, file, TR_INITRD_LIMIT - initrd->len, error) : NULL;
	gsize size;

	if (!bytes)
		return FALSE;
	const guint8 *data = g_bytes_get_data(bytes, &size);
	g_byte_array_append(initrd, zeros, (0u - initrd->len) % INITRD_ALIGNMENT);
	g_byte_array_append(initrd, data, (guint)size);
	return TRUE;
}

/* What the kernel unpacks before the agent of a calibration: a newc archive of nothing. */
static void append_nothing(GByteArray *initrd)
{
	static const guint8 archive[124] =
		"070701000000000000000000000000000000000000000100000000"
		"00000000000000000000000000000000000000000000000B00000000"
		"TRAILER!!!";

	g_byte_array_append(initrd, archive, sizeof archive);
}

/* The agent and a file beside it (NULL: none), to go behind an initrd. */
static GByteArray *new_appendix(
	const GByteArray *initrd, const char *beside, const char *text, GError **error)
{
	g_autofree char *path = tr_boot_agent(error);
	g_autofree char *agent = NULL;
	gsize size;

	if (!path || !g_file_get_contents(path, &agent, &size, error))
		return NULL;
	const li_cpio_member members[] = {
		{.path = TR_AGENT_DIR, .mode = S_IFDIR | 0700},
		{.path = TR_AGENT_PATH, .mode = S_IFREG | 0700, .data = agent, .size = size},
		{.path = beside,
			.mode = S_IFREG | 0600,
			.data = text,
			.size = beside ? strlen(text) : 0},
	};
	return li_initrd_appendix(
		initrd->data, initrd->len, members, G_N_ELEMENTS(members) - !beside, error);
}

static gboolean append_initrds(const tr_boot_job *job, GByteArray *initrd, GError **error)
{
	for (guint i = 0; i < job->entry->initrds->len; i++)
		if (!append_initrd(job, g_ptr_array_index(job->entry->initrds, i), initrd, error))
			return FALSE;
	return TRUE;
}

static gboolean make_initrd(const tr_booted *b, GError **error)
{
	g_autoptr(GByteArray) initrd = g_byte_array_new();
	g_autoptr(GByteArray) appendix = NULL;
	const char *beside = b->calibrating                      ? TR_AGENT_CALIBRATE
			     : b->job->tracer == TR_TRACER_ATIME ? TR_AGENT_ATIME
								 : NULL;

	if (b->calibrating)
		append_nothing(initrd);
	else if (!append_initrds(b->job, initrd, error))
		return FALSE;
	if (!b->agentless) {
		appendix = new_appendix(initrd, beside, "", error);
		if (!appendix)
			return FALSE;
		g_byte_array_append(initrd, appendix->data, appendix->len);
	}
	return write_file(b->initrd, initrd->data, initrd->len, error);
}

char *tr_boot_agent(GError **error)
{
	return ro_own_file("reorder-agent", error);
}

gboolean tr_booted_write(const tr_booted *b, GError **error)
{
	return make_kernel(b->job, b->kernel, error) && make_initrd(b, error);
}

/* --- for a machine without a host --- */

static char *rules_text(const tr_until *untils, guint count, GError **error)
{
	g_autoptr(GString) rules = g_string_new(NULL);

	for (guint i = 0; i < count; i++) {
		if (untils[i].kind == TR_UNTIL_CONSOLE) {
			ro_fail(error, RO_ERROR_USAGE,
				"--until console: a machine of its own has nobody who reads its console; use idle: or time:");
			return NULL;
		}
		g_string_append_printf(rules, "%s %.0f\n",
			untils[i].kind == TR_UNTIL_IDLE ? "idle" : "time", untils[i].seconds);
	}
	return g_strdup(rules->str);
}

GByteArray *tr_boot_segment(const tr_boot_job *job, GError **error)
{
	g_autofree char *rules = rules_text(job->untils, job->until_count, error);
	g_autoptr(GByteArray) initrd = g_byte_array_new();
	GByteArray *segment;
	static const guint8 zeros[SEGMENT_PADDING];

	if (!rules)
		return NULL;
	if (!job->iso)
		append_nothing(initrd);
	else if (!tr_boot_check_initrds(job, error) || !append_initrds(job, initrd, error))
		return NULL;
	segment = new_appendix(initrd, TR_AGENT_ALONE, rules, error);
	if (!segment)
		return NULL;
	gsize padding = 0;
	while (segment->data[padding] == 0)
		padding++;
	g_byte_array_remove_range(segment, 0, (guint)padding);
	g_byte_array_prepend(segment, zeros, sizeof zeros);
	return segment;
}
