/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/read_log.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reorder/util/error.h"
#include "reorder/util/interrupt.h"
#include "trace/simulate.h"

#define FIRST_LINE "reorder-livecd reads 1\n"

/* No line of the plugin comes near this. */
enum { LINE_MAX_BYTES = 512 };

/* 31 years. */
#define MAX_SECONDS 1e9

static gboolean bad_line(const char *path, guint line, const char *reason, GError **error)
{
	return ro_fail(error, RO_ERROR_USAGE, "%s:%u: %s; not a read log of the medium plugin",
		path, line, reason);
}

/* A decimal number that starts with a digit and ends at the separator; *text moves behind that. */
static gboolean take_uint(const char **text, char separator, guint64 *value)
{
	char *end;

	if (!g_ascii_isdigit(**text))
		return FALSE;
	errno = 0;
	*value = g_ascii_strtoull(*text, &end, 10);
	if (errno || *end != separator)
		return FALSE;
	*text = end + 1;
	return TRUE;
}

static gboolean take_seconds(const char **text, char separator, double *value)
{
	char *end;

	if (!g_ascii_isdigit(**text))
		return FALSE;
	*value = g_ascii_strtod(*text, &end);
	if (!(*value <= MAX_SECONDS) || *end != separator)
		return FALSE;
	*text = end + 1;
	return TRUE;
}

/* NULL, or what is wrong. */
static const char *parse_read(const char *line, double last_time, tr_read *read)
{
	if (!take_seconds(&line, ' ', &read->time) || !take_uint(&line, ' ', &read->offset) ||
		!take_uint(&line, ' ', &read->length) || !take_seconds(&line, '\n', &read->delay))
		return "expected SECONDS OFFSET LENGTH DELAY";
	if (read->offset > G_MAXINT64 || read->length > G_MAXINT64 - read->offset)
		return "offset or length out of range";
	if (read->time < last_time)
		return "time runs backwards";
	return NULL;
}

gboolean tr_read_log_parse(const char *line, tr_read *read)
{
	return parse_read(line, 0, read) == NULL;
}

static gboolean take_line(
	const char *path, guint number, const char *line, GArray *reads, GError **error)
{
	double last_time = reads->len ? g_array_index(reads, tr_read, reads->len - 1).time : 0;
	tr_read read;

	if (number == 1 && strcmp(line, FIRST_LINE) != 0)
		return bad_line(path, 1, "wrong first line", error);
	if (!strchr(line, '\n'))
		return bad_line(path, number, "a NUL byte or a line too long", error);
	if (number == 1 || line[0] == '#')
		return TRUE;
	const char *reason = parse_read(line, last_time, &read);
	if (reason)
		return bad_line(path, number, reason, error);
	g_array_append_val(reads, read);
	return TRUE;
}

static gboolean read_lines(const char *path, FILE *file, GArray *reads, GError **error)
{
	char line[LINE_MAX_BYTES];
	guint number = 0;

	while (fgets(line, sizeof(line), file)) {
		if (++number % 4096 == 0 && ro_interrupted(error))
			return FALSE;
		/* The plugin was killed while it wrote. */
		if (number > 1 && feof(file))
			break;
		if (!take_line(path, number, line, reads, error))
			return FALSE;
	}
	if (ferror(file))
		return ro_fail_errno(error, errno, "%s: read", path);
	if (number == 0)
		return bad_line(path, 1, "empty", error);
	return TRUE;
}

/* Looks through the header for "# KEY NUMBER". */
static gboolean find_number(FILE *file, const char *key, double *value)
{
	char line[LINE_MAX_BYTES];
	g_autofree char *prefix = g_strdup_printf("# %s ", key);

	while (fgets(line, sizeof(line), file) && (line[0] == '#' || line[0] == FIRST_LINE[0])) {
		char *end;
		const char *number = line + strlen(prefix);
		if (!g_str_has_prefix(line, prefix) || !g_ascii_isdigit(*number))
			continue;
		*value = g_ascii_strtod(number, &end);
		return *end == '\n' && isfinite(*value);
	}
	return FALSE;
}

gboolean tr_read_log_number(const char *path, const char *key, double *value, GError **error)
{
	FILE *file = fopen(path, "re");

	if (!file)
		return ro_fail_errno(error, errno, "%s: open", path);
	gboolean found = find_number(file, key, value);
	fclose(file);
	return found ||
	       ro_fail(error, RO_ERROR_FAILED,
		       "%s: its header has no number \"%s\"; not a read log of this version's medium plugin",
		       path, key);
}

GArray *tr_read_log_read(const char *path, GError **error)
{
	g_autoptr(GArray) reads = g_array_new(FALSE, FALSE, sizeof(tr_read));
	FILE *file = fopen(path, "re");

	if (!file) {
		ro_fail_errno(error, errno, "%s: open", path);
		return NULL;
	}
	gboolean ok = read_lines(path, file, reads, error);
	fclose(file);
	return ok ? g_steal_pointer(&reads) : NULL;
}

/* Bytes that the read has in common with [offset, end). */
static guint64 overlap(const tr_read *read, guint64 offset, guint64 end)
{
	guint64 from = MAX(read->offset, offset);
	guint64 to = MIN(read->offset + read->length, end);

	return to > from ? to - from : 0;
}

void tr_read_log_totals(const GArray *reads, guint64 offset, guint64 length, tr_read_totals *totals)
{
	guint64 end = length > G_MAXUINT64 - offset ? G_MAXUINT64 : offset + length;
	tr_replay replay;

	tr_replay_init(&replay, tr_drive_find("cd"), 1);
	memset(totals, 0, sizeof(*totals));
	for (guint i = 0; i < reads->len; i++) {
		const tr_read *read = &g_array_index(reads, tr_read, i);
		guint64 bytes = overlap(read, offset, end);
		tr_served served;

		tr_replay_next(&replay, read, &served);
		if (bytes == 0)
			continue;
		totals->requests++;
		totals->bytes += bytes;
		totals->jumps += served.jump;
		totals->long_seeks += served.seek > TR_DRIVE_LONG_SEEK;
		totals->drive_seconds += served.delay;
	}
}

void tr_read_totals_add(tr_read_totals *sum, const tr_read_totals *other)
{
	sum->requests += other->requests;
	sum->bytes += other->bytes;
	sum->jumps += other->jumps;
	sum->long_seeks += other->long_seeks;
	sum->drive_seconds += other->drive_seconds;
}
