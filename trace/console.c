/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/console.h"

#include <string.h>

#include "reorder/util/escape.h"

enum {
	LINE_MAX_BYTES = 1024, /* a longer line is cut into several */
	TAIL_LINES = 20,
	TAIL_AFTER = 8, /* of them at most, behind a failure */
};

typedef enum { ANYWHERE, AT_START } where;

/* What a console shows when a boot has failed. The first that fits counts; a later line may show a
 * graver one. */
typedef struct {
	const char *text;
	where where;
	int gravity;
	const char *what, *hint;
} pattern;

static const char memory_hint[] = "give it more with --memory";
static const char console_hint[] = "its console may say why";

static const pattern patterns[] = {
	{"exitcode=0x00007f00", ANYWHERE, 4, "the guest's init could not run",
		"a program or library that it needs is missing, or wants a newer processor than the virtual one"},
	{"No working init found", ANYWHERE, 4, "the kernel found no init",
		"its initrd may not have fitted into memory: give it more with --memory"},
	{"Unable to mount root fs", ANYWHERE, 4, "the kernel found no root",
		"its initrd may not have fitted into memory: give it more with --memory"},
	{"System is deadlocked on memory", ANYWHERE, 4, "the guest ran out of memory", memory_hint},
	{"Initramfs unpacking failed: write error", ANYWHERE, 3, "the guest ran out of memory",
		memory_hint},
	{"Kernel panic - not syncing", ANYWHERE, 3, "the guest's kernel panicked", console_hint},
	{"reorder-agent: ", ANYWHERE, 2, "the guest agent could not work", console_hint},
	{"(initramfs) ", AT_START, 1, "the guest fell into the emergency shell of its initramfs",
		console_hint},
	{"dracut:/#", AT_START, 1, "the guest fell into the emergency shell of its initramfs",
		console_hint},
	{"[rootfs ", AT_START, 1, "the guest fell into the emergency shell of its initramfs",
		console_hint},
	{"You are now being dropped into an emergency shell", ANYWHERE, 1,
		"the guest fell into the emergency shell of its initramfs", console_hint},
	{"Entering emergency mode", ANYWHERE, 1, "the guest fell into emergency mode",
		console_hint},
	{"You are in emergency mode", ANYWHERE, 1, "the guest fell into emergency mode",
		console_hint},
	{"You are in rescue mode", ANYWHERE, 1, "the guest fell into rescue mode", console_hint},
	{"grub>", AT_START, 1, "the guest stopped in its boot loader", console_hint},
	{"grub rescue>", AT_START, 1, "the guest stopped in its boot loader", console_hint},
};

struct tr_console {
	GString *line;      /* the one that is not complete, printed characters only */
	GString *escape;    /* of a terminal control sequence that is not complete; empty: none */
	GQueue *tail;       /* of char *, the last complete lines */
	GPtrArray *watched; /* of const GRegex * */
	gboolean armed, matched;
	guint64 bytes;
	const pattern *worst;
	tr_console_failure failure;
	gboolean in_failure; /* the line that is not complete is the failure's */
	guint kept_after;    /* lines in tail since the failure */
};

tr_console *tr_console_new(void)
{
	tr_console *console = g_new0(tr_console, 1);

	console->line = g_string_new(NULL);
	console->escape = g_string_new(NULL);
	console->tail = g_queue_new();
	console->watched = g_ptr_array_new();
	return console;
}

void tr_console_free(tr_console *console)
{
	if (!console)
		return;
	g_string_free(console->line, TRUE);
	g_string_free(console->escape, TRUE);
	g_queue_free_full(console->tail, g_free);
	g_ptr_array_unref(console->watched);
	g_free(console->failure.line);
	g_free(console);
}

void tr_console_watch(tr_console *console, const GRegex *regex)
{
	g_ptr_array_add(console->watched, (gpointer)regex);
}

void tr_console_arm(tr_console *console)
{
	console->armed = TRUE;
}

gboolean tr_console_matched(const tr_console *console)
{
	return console->matched;
}

guint64 tr_console_bytes(const tr_console *console)
{
	return console->bytes;
}

const tr_console_failure *tr_console_get_failure(const tr_console *console)
{
	return console->worst ? &console->failure : NULL;
}

static gboolean fits(const pattern *p, const char *line)
{
	return p->where == AT_START ? g_str_has_prefix(line, p->text)
				    : strstr(line, p->text) != NULL;
}

static const pattern *pattern_of(const char *line)
{
	for (gsize i = 0; i < G_N_ELEMENTS(patterns); i++)
		if (fits(&patterns[i], line))
			return &patterns[i];
	return NULL;
}

/* The line may be looked at again when there is more of it. */
static void look_for_failure(tr_console *console)
{
	const pattern *p = pattern_of(console->line->str);

	if (!p || (console->worst && console->worst->gravity >= p->gravity && !console->in_failure))
		return;
	if (console->worst != p)
		console->kept_after = 0;
	console->worst = p;
	console->in_failure = TRUE;
	g_free(console->failure.line);
	console->failure = (tr_console_failure){
		.what = p->what, .hint = p->hint, .line = ro_escape_utf8(console->line->str)};
}

static void look_for_watched(tr_console *console)
{
	for (guint i = 0; console->armed && i < console->watched->len; i++)
		if (g_regex_match(
			    g_ptr_array_index(console->watched, i), console->line->str, 0, NULL))
			console->matched = TRUE;
}

static void look_at_line(tr_console *console)
{
	if (console->line->len == 0)
		return;
	look_for_failure(console);
	look_for_watched(console);
}

/* What came before the failure tells more than a long call trace behind it. */
static void keep_line(tr_console *console)
{
	if (console->line->len == 0 ||
		(console->worst && !console->in_failure && console->kept_after++ >= TAIL_AFTER))
		return;
	g_queue_push_tail(console->tail, g_strdup(console->line->str));
	if (console->tail->length > TAIL_LINES)
		g_free(g_queue_pop_head(console->tail));
}

static void end_line(tr_console *console)
{
	look_at_line(console);
	keep_line(console);
	g_string_truncate(console->line, 0);
	console->in_failure = FALSE;
}

/* TRUE while the byte belongs to a control sequence: ESC [ parameters final, or ESC and one byte
 * (ECMA-48 5.4). */
static gboolean in_escape(tr_console *console, char byte)
{
	GString *escape = console->escape;

	if (escape->len == 0 && byte != '\033')
		return FALSE;
	g_string_append_c(escape, byte);
	gboolean control = escape->len >= 2 && escape->str[1] == '[';
	if (escape->len > 64 || (escape->len == 2 && !control) ||
		(control && escape->len > 2 && byte >= 0x40 && byte <= 0x7e))
		g_string_truncate(escape, 0);
	return TRUE;
}

void tr_console_push(tr_console *console, const char *bytes, gsize length)
{
	console->bytes += length;
	for (gsize i = 0; i < length; i++) {
		char byte = bytes[i];
		if (in_escape(console, byte) || byte == '\0')
			continue;
		if (byte == '\n' || byte == '\r' || console->line->len >= LINE_MAX_BYTES)
			end_line(console);
		if (byte != '\n' && byte != '\r')
			g_string_append_c(console->line, byte);
	}
	look_at_line(console);
}

static void append_printable(GString *text, const char *line)
{
	g_autofree char *printable = ro_escape_utf8(line);

	g_string_append_printf(text, "  %s\n", printable);
}

char *tr_console_tail(const tr_console *console)
{
	GString *text = g_string_new(NULL);

	for (const GList *l = console->tail->head; l; l = l->next)
		append_printable(text, l->data);
	if (console->line->len > 0)
		append_printable(text, console->line->str);
	return g_string_free(text, FALSE);
}
