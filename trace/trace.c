/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The trace file. Text, lines end with '\n':
 *
 *   reorder-livecd trace 1
 *   KEY VALUE                           header, in any order
 *   SECONDS KIND HOW BYTES IMAGE PATH   events
 *   end N                               the number of events; nothing comes behind it
 *
 * KEY starts with a letter, VALUE is the rest of the line. KIND is f, d or l; HOW is open, exec,
 * read, atime or blocks; BYTES is a number or "-". IMAGE, PATH and values are bytes, escaped as in
 * reorder/util/escape.h; in a value only spaces at its ends are. PATH of the image's root is ".".
 */
#include "trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "reorder/util/error.h"
#include "reorder/util/escape.h"
#include "reorder/util/interrupt.h"

#define FIRST_LINE "reorder-livecd trace 1"

/* A trace of 100,000 files takes 10 MB. */
enum { TRACE_MAX_BYTES = 256 << 20 };

static const char *const how_names[] = {"open", "exec", "read", "atime", "blocks"};

typedef enum { FIELD_TEXT, FIELD_UINT, FIELD_SECONDS, FIELD_SHARE } field_type;

/* The header, in the order in which it is written. */
static const struct {
	const char *key;
	field_type type;
	gsize offset;
} fields[] = {
	{"tool-version", FIELD_TEXT, offsetof(tr_trace, tool_version)},
	{"volume-id", FIELD_TEXT, offsetof(tr_trace, volume_id)},
	{"volume-uuid", FIELD_TEXT, offsetof(tr_trace, volume_uuid)},
	{"image", FIELD_TEXT, offsetof(tr_trace, image)},
	{"layers", FIELD_TEXT, offsetof(tr_trace, layers)},
	{"image-checksum", FIELD_TEXT, offsetof(tr_trace, image_checksum)},
	{"kernel-version", FIELD_TEXT, offsetof(tr_trace, kernel_version)},
	{"cmdline", FIELD_TEXT, offsetof(tr_trace, cmdline)},
	{"tracer", FIELD_TEXT, offsetof(tr_trace, tracer)},
	{"accelerator", FIELD_TEXT, offsetof(tr_trace, accelerator)},
	{"memory", FIELD_UINT, offsetof(tr_trace, memory)},
	{"machine", FIELD_TEXT, offsetof(tr_trace, machine)},
	{"devices", FIELD_TEXT, offsetof(tr_trace, devices)},
	{"cpu-model", FIELD_TEXT, offsetof(tr_trace, cpu_model)},
	{"firmware", FIELD_TEXT, offsetof(tr_trace, firmware)},
	{"end-reason", FIELD_TEXT, offsetof(tr_trace, end_reason)},
	{"end-time", FIELD_SECONDS, offsetof(tr_trace, end_time)},
	{"root-time", FIELD_SECONDS, offsetof(tr_trace, root_time)},
	{"lost-events", FIELD_UINT, offsetof(tr_trace, lost_events)},
	{"coverage", FIELD_SHARE, offsetof(tr_trace, coverage)},
};

const char *tr_how_name(tr_how how)
{
	return how_names[how];
}

void tr_event_free(tr_event *event)
{
	if (!event)
		return;
	g_free(event->image);
	g_free(event->path);
	g_free(event);
}

tr_trace *tr_trace_new(void)
{
	tr_trace *trace = g_new0(tr_trace, 1);

	trace->coverage = -1;
	trace->events = g_ptr_array_new_with_free_func((GDestroyNotify)tr_event_free);
	return trace;
}

tr_trace *tr_trace_new_like(const tr_trace *trace)
{
	tr_trace *copy = tr_trace_new();
	GPtrArray *events = copy->events;

	*copy = *trace;
	copy->events = events;
	for (gsize i = 0; i < G_N_ELEMENTS(fields); i++) {
		if (fields[i].type == FIELD_TEXT)
			G_STRUCT_MEMBER(char *, copy, fields[i].offset) =
				g_strdup(G_STRUCT_MEMBER(char *, trace, fields[i].offset));
	}
	return copy;
}

void tr_trace_free(tr_trace *trace)
{
	if (!trace)
		return;
	for (gsize i = 0; i < G_N_ELEMENTS(fields); i++) {
		if (fields[i].type == FIELD_TEXT)
			g_free(G_STRUCT_MEMBER(char *, trace, fields[i].offset));
	}
	g_ptr_array_unref(trace->events);
	g_free(trace);
}

/* Writing */

static void append_seconds(GString *out, double seconds)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	g_string_append(out, g_ascii_formatd(text, sizeof(text), "%.6f", seconds));
}

/* Spaces stay where an editor doesn't take them away: people read this line. */
static void append_value(GString *out, const char *value)
{
	g_autoptr(GString) text = g_string_new(NULL);
	gsize length = strlen(value);

	ro_escape_append(text, value);
	g_string_replace(text, "\\040", " ", 0);
	if (length > 0 && value[0] == ' ') {
		g_string_erase(text, 0, 1);
		g_string_prepend(text, "\\040");
	}
	if (length > 1 && value[length - 1] == ' ') {
		g_string_truncate(text, text->len - 1);
		g_string_append(text, "\\040");
	}
	if (text->len > 0)
		g_string_append_printf(out, " %s", text->str);
}

static void append_field(GString *out, const tr_trace *trace, gsize i)
{
	const char *text;
	gconstpointer at = (const char *)trace + fields[i].offset;

	switch (fields[i].type) {
	case FIELD_TEXT:
		text = *(char *const *)at;
		if (!text)
			return;
		g_string_append(out, fields[i].key);
		append_value(out, text);
		break;
	case FIELD_UINT:
		g_string_append_printf(
			out, "%s %" G_GUINT64_FORMAT, fields[i].key, *(const guint64 *)at);
		break;
	case FIELD_SHARE:
		if (*(const double *)at < 0)
			return;
		G_GNUC_FALLTHROUGH;
	case FIELD_SECONDS:
		g_string_append_printf(out, "%s ", fields[i].key);
		append_seconds(out, *(const double *)at);
		break;
	}
	g_string_append_c(out, '\n');
}

static void append_event(GString *out, const tr_event *event)
{
	append_seconds(out, event->time);
	g_string_append_printf(out, " %c %s ", (char)event->kind, tr_how_name(event->how));
	if (event->bytes == TR_BYTES_UNKNOWN)
		g_string_append_c(out, '-');
	else
		g_string_append_printf(out, "%" G_GUINT64_FORMAT, event->bytes);
	g_string_append_c(out, ' ');
	ro_escape_append(out, event->image);
	g_string_append_c(out, ' ');
	ro_escape_append(out, event->path[0] ? event->path : ".");
	g_string_append_c(out, '\n');
}

GString *tr_trace_format(const tr_trace *trace)
{
	GString *out = g_string_new(FIRST_LINE "\n");

	for (gsize i = 0; i < G_N_ELEMENTS(fields); i++)
		append_field(out, trace, i);
	for (guint i = 0; i < trace->events->len; i++)
		append_event(out, g_ptr_array_index(trace->events, i));
	g_string_append_printf(out, "end %u\n", trace->events->len);
	return out;
}

/* Reading */

typedef struct {
	const char *name;
	guint number; /* of the line */
	char *line;
	gboolean ended; /* "end" was there */
	guint32 seen;   /* bit i: fields[i] was there */
	GTree *paths;   /* set of tr_event, owned by the trace; no hash: the input could make all
			   collide */
	tr_trace *trace;
} parser;

static gboolean G_GNUC_PRINTF(3, 4) bad(const parser *p, GError **error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_autofree char *reason = g_strdup_vprintf(format, args);
	va_end(args);
	return ro_fail(error, RO_ERROR_USAGE, "%s:%u: %s", p->name, p->number, reason);
}

static gboolean parse_uint(const char *text, guint64 *value)
{
	return g_ascii_isdigit(text[0]) &&
	       g_ascii_string_to_unsigned(text, 10, 0, G_MAXUINT64 - 1, value, NULL);
}

/* Plain decimal notation: no exponent, no hexadecimal, no inf. */
static gboolean parse_double(const char *text, double limit, double *value)
{
	if (!g_ascii_isdigit(text[0]) || text[strspn(text, "0123456789.")] != '\0')
		return FALSE;
	char *end;
	*value = g_ascii_strtod(text, &end);
	return *end == '\0' && *value <= limit;
}

static gboolean set_text(const parser *p, gsize i, const char *value, GError **error)
{
	char *text = ro_unescape(value);

	if (!text)
		return bad(p, error, "%s: broken escape", fields[i].key);
	G_STRUCT_MEMBER(char *, p->trace, fields[i].offset) = text;
	return TRUE;
}

static gboolean set_field(parser *p, gsize i, const char *value, GError **error)
{
	gpointer at = (char *)p->trace + fields[i].offset;
	gboolean ok = FALSE;

	if (p->seen & (1u << i))
		return bad(p, error, "%s: given twice", fields[i].key);
	p->seen |= 1u << i;
	switch (fields[i].type) {
	case FIELD_TEXT:
		return set_text(p, i, value, error);
	case FIELD_UINT:
		ok = parse_uint(value, at);
		break;
	case FIELD_SECONDS:
		ok = parse_double(value, TR_SECONDS_MAX, at);
		break;
	case FIELD_SHARE:
		ok = parse_double(value, 1, at);
		break;
	}
	return ok || bad(p, error, "%s: not a number in its range", fields[i].key);
}

static gboolean parse_end(parser *p, const char *value, GError **error)
{
	guint64 count;

	if (!parse_uint(value, &count))
		return bad(p, error, "end: not a number");
	if (count != p->trace->events->len)
		return bad(p, error, "end: %" G_GUINT64_FORMAT " events expected, %u are there",
			count, p->trace->events->len);
	p->ended = TRUE;
	return TRUE;
}

static gboolean parse_header(parser *p, GError **error)
{
	char *value = strchrnul(p->line, ' ');

	if (*value)
		*value++ = '\0';
	if (strcmp(p->line, "end") == 0)
		return parse_end(p, value, error);
	if (p->trace->events->len > 0)
		return bad(p, error, "a header line behind the first event");
	for (gsize i = 0; i < G_N_ELEMENTS(fields); i++) {
		if (strcmp(p->line, fields[i].key) == 0)
			return set_field(p, i, value, error);
	}
	return TRUE;
}

/* Cuts the word at *rest off and moves *rest behind it. An empty word is the end of the line, or
 * two spaces. */
static char *next_word(char **rest)
{
	char *word = *rest;

	*rest = strchrnul(word, ' ');
	if (**rest)
		*(*rest)++ = '\0';
	return word;
}

static gboolean parse_how(const char *word, tr_how *how)
{
	for (guint i = 0; i < G_N_ELEMENTS(how_names); i++) {
		if (strcmp(word, how_names[i]) == 0) {
			*how = i;
			return TRUE;
		}
	}
	return FALSE;
}

gint tr_event_compare(gconstpointer a, gconstpointer b)
{
	const tr_event *x = a, *y = b;
	int order = strcmp(x->path, y->path);

	return order ? order : strcmp(x->image, y->image);
}

/* Whether a path is one inside an image, as the tracer resolves it. */
static gboolean is_resolved(const char *path)
{
	while (TRUE) {
		gsize length = strcspn(path, "/");
		if (length == 0 || (length <= 2 && strncmp(path, "..", length) == 0))
			return FALSE;
		if (path[length] == '\0')
			return TRUE;
		path += length + 1;
	}
}

static gboolean parse_path(const parser *p, const char *word, tr_event *event, GError **error)
{
	event->path = ro_unescape(strcmp(word, ".") == 0 ? "" : word);
	if (!event->path)
		return bad(p, error, "path: broken escape");
	if (strcmp(word, ".") != 0 && !is_resolved(event->path))
		return bad(p, error,
			"path: not one inside an image (leading or double slash, \".\", \"..\")");
	return TRUE;
}

static gboolean parse_words(const parser *p, tr_event *event, GError **error)
{
	char *rest = p->line;
	const char *word = next_word(&rest);

	if (!parse_double(word, TR_SECONDS_MAX, &event->time))
		return bad(p, error, "seconds: not a number");
	word = next_word(&rest);
	if (strlen(word) != 1 || !strchr("fdl", word[0]))
		return bad(p, error, "kind: not f, d or l");
	event->kind = (tr_kind)word[0];
	if (!parse_how(next_word(&rest), &event->how))
		return bad(p, error, "how: not open, exec, read, atime or blocks");
	word = next_word(&rest);
	event->bytes = TR_BYTES_UNKNOWN;
	if (strcmp(word, "-") != 0 && !parse_uint(word, &event->bytes))
		return bad(p, error, "bytes: neither a number nor -");
	event->image = ro_unescape(next_word(&rest));
	if (!event->image || event->image[0] != '/')
		return bad(p, error, "image: not a path that starts with a slash");
	word = next_word(&rest);
	if (*rest)
		return bad(p, error, "more than six fields");
	return parse_path(p, word, event, error);
}

static gboolean parse_event(parser *p, GError **error)
{
	tr_event *event = g_new0(tr_event, 1);

	g_ptr_array_add(p->trace->events, event);
	if (!parse_words(p, event, error))
		return FALSE;
	if (g_tree_lookup(p->paths, event))
		return bad(p, error, "the path was there before");
	g_tree_insert(p->paths, event, event);
	return TRUE;
}

static gboolean parse_line(parser *p, GError **error)
{
	if (p->ended)
		return bad(p, error, "text behind the end line");
	if (p->number == 1)
		return strcmp(p->line, FIRST_LINE) == 0 ||
		       bad(p, error, "not a trace (the first line must be \"%s\")", FIRST_LINE);
	if (g_ascii_isalpha(p->line[0]))
		return parse_header(p, error);
	if (g_ascii_isdigit(p->line[0]))
		return parse_event(p, error);
	return bad(p, error, "neither a header line nor an event");
}

/* text ends with a NUL at length; is written to. */
static gboolean parse_lines(parser *p, char *text, gsize length, GError **error)
{
	char *end = text + length;

	for (char *next; text < end; text = next) {
		char *newline = memchr(text, '\n', (gsize)(end - text));

		p->number++;
		p->line = text;
		if (!newline)
			return bad(
				p, error, "the file is cut off here; get it whole or trace again");
		*newline = '\0';
		next = newline + 1;
		if (strlen(text) != (gsize)(newline - text))
			return bad(p, error,
				p->number == 1 ? "not a trace (a NUL byte)" : "a NUL byte");
		if (p->number % 4096 == 0 && ro_interrupted(error))
			return FALSE;
		if (!parse_line(p, error))
			return FALSE;
	}
	if (p->ended)
		return TRUE;
	p->number++;
	return bad(p, error, "the file is cut off here (no end line); get it whole or trace again");
}

tr_trace *tr_trace_parse(const char *name, const char *text, gsize length, GError **error)
{
	g_autoptr(tr_trace) trace = tr_trace_new();
	g_autoptr(GTree) paths = g_tree_new(tr_event_compare);
	g_autofree char *copy = g_malloc(length + 1);
	parser p = {.name = name, .trace = trace, .paths = paths};

	memcpy(copy, text, length);
	copy[length] = '\0';
	return parse_lines(&p, copy, length, error) ? g_steal_pointer(&trace) : NULL;
}

static gboolean read_all(const char *path, int fd, GString *text, GError **error)
{
	char chunk[65536];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk))) != 0) {
		if (ro_interrupted(error))
			return FALSE;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ro_fail_errno(error, errno, "%s: read", path);
		if (text->len + (gsize)n > TRACE_MAX_BYTES)
			return ro_fail(error, RO_ERROR_USAGE,
				"%s: larger than 256 MiB; that is not a trace", path);
		g_string_append_len(text, chunk, n);
	}
	return TRUE;
}

tr_trace *tr_trace_read(const char *path, GError **error)
{
	g_autoptr(GString) text = g_string_new(NULL);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		ro_fail_errno(error, errno, "%s: open", path);
		return NULL;
	}
	gboolean ok = read_all(path, fd, text, error);
	close(fd);
	return ok ? tr_trace_parse(path, text->str, text->len, error) : NULL;
}
