/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/cmdline.h"

#include <string.h>

#include "iso/boot_config.h"
#include "reorder/util/error.h"

/* Linux, x86: COMMAND_LINE_SIZE, with the NUL. */
enum { CMDLINE_SIZE = 2048 };

/* Names of words (with or without =VALUE) that make a boot read the whole medium. */
static const char *const whole_medium[] = {
	"toram",             /* live-boot, casper, linux-live */
	"copytoram",         /* archiso, miso */
	"copy2ram",          /* linux-live */
	"rd.live.ram",       /* dracut */
	"live_ram",          /* dracut, old */
	"rd.writable.fsimg", /* dracut: the filesystem is unpacked into RAM */
	"writable_fsimg",    /* dracut, old */
	"docache",           /* live-boot of Gentoo */
	"rd.live.check",     /* dracut */
	"check",             /* dracut, old */
	"integrity-check",   /* casper */
	"verify-checksums",  /* live-boot */
	"checksum",          /* archiso */
	"verify",            /* archiso */
};

static gboolean is_named(const char *word, const char *name)
{
	gsize length = strlen(name);

	return strncmp(word, name, length) == 0 && (word[length] == '\0' || word[length] == '=');
}

static gboolean reads_whole_medium(const char *word)
{
	for (gsize i = 0; i < G_N_ELEMENTS(whole_medium); i++)
		if (is_named(word, whole_medium[i]))
			return TRUE;
	return FALSE;
}

/* The agent's line; nobody else may write there. */
static gboolean is_agent_line(const char *word)
{
	return g_str_has_prefix(word, "console=ttyS1");
}

static void append_word(GString *line, const char *word)
{
	if (line->len > 0)
		g_string_append_c(line, ' ');
	g_string_append(line, word);
}

static void append_own(GString *line, gboolean has_console, gboolean is_archiso, const char *rdinit)
{
	/* The last one is /dev/console, where emergency messages go; naming one takes the screen
	 * away. */
	if (!has_console)
		append_word(line, "console=tty0");
	append_word(line, "console=ttyS0");
	append_word(line, "plymouth.ignore-serial-consoles");
	append_word(line, "panic=-1");
	if (is_archiso)
		append_word(line, "copytoram=n"); /* its default depends on the RAM */
	if (rdinit) {
		g_autofree char *word = g_strconcat("rdinit=", rdinit, NULL);
		append_word(line, word);
	}
}

/* Appends the words that stay, up to the end or to the "--" behind which they are init's. Returns
 * the rest. */
static const char *keep_words(
	const tr_cmdline_job *job, GString *line, gboolean *has_console, gboolean *is_archiso)
{
	const char *text = job->original;

	while (*(text += strspn(text, " \t\n\v\f\r"))) {
		g_autofree char *word = g_strndup(text, li_cmdline_word(text));
		if (g_str_equal(word, "--"))
			break;
		text += strlen(word);
		if (reads_whole_medium(word) || is_agent_line(word)) {
			if (job->dropped)
				g_ptr_array_add(job->dropped, g_steal_pointer(&word));
			continue;
		}
		*has_console |= g_str_has_prefix(word, "console=");
		*is_archiso |= g_str_has_prefix(word, "archiso");
		append_word(line, word);
	}
	return text;
}

char *tr_cmdline_new(const tr_cmdline_job *job, GError **error)
{
	g_autoptr(GString) line = g_string_new(NULL);
	gboolean has_console = FALSE, is_archiso = FALSE;
	const char *rest = keep_words(job, line, &has_console, &is_archiso);

	append_own(line, has_console, is_archiso, job->rdinit);
	if (*rest)
		append_word(line, rest);
	if (line->len >= CMDLINE_SIZE) {
		ro_fail(error, RO_ERROR_UNSUITABLE,
			"kernel command line: with the words for the virtual boot it has %" G_GSIZE_FORMAT
			" bytes, the kernel takes %d",
			line->len, CMDLINE_SIZE - 1);
		return NULL;
	}
	return g_strdup(line->str);
}
