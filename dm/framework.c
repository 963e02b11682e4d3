/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dm/framework.h"

#include <string.h>

#include "dm/names.h"
#include "iso/boot_config.h"

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NONE ((const char *const[]){NULL})

const dmx_framework dmx_frameworks[] = {
	{
		/* Takes labels only (parse-kiwi-live.sh). */
		.name = "kiwi-live",
		.members = WORDS("parse-kiwi-live", "kiwi-live-root", "kiwi-live-lib"),
		.words = WORDS("rd.kiwi.live.pxe", "rd.live.image", "root=live:*"),
		.medium = "root=live:" DMX_NODE,
		.replaces = NONE,
		.unfit = NONE,
		.refusal = "kiwi takes its medium by label only, no device",
	},
	{
		/* 60 tries with a second between them; a device that is named, but not there yet,
		   keeps it from looking at others. */
		.name = "live-boot",
		.members = WORDS("scripts/live", "lib/live/boot/9990-main.sh"),
		.words = WORDS("boot=live"),
		.medium = "live-media=" DMX_NODE,
		.replaces = WORDS("bootfrom"),
		.unfit = WORDS("toram", "todisk", "fetch", "httpfs", "ftpfs", "iscsi", "netboot",
			"findiso", "fromiso", "isofrom", "persistence", "live-media-offset"),
		.patience = 60,
	},
	{
		/* As live-boot, which comes from it. */
		.name = "casper",
		.members = WORDS("scripts/casper"),
		.words = WORDS("boot=casper"),
		.medium = "live-media=" DMX_NODE,
		.replaces = NONE,
		.unfit = WORDS("toram", "todisk", "url", "iso-url", "netboot", "iso-scan/filename",
			"persistent"),
		.patience = 60,
	},
	{
		/* 180 s until the emergency shell, after 2/3 of which it looks for other ways. */
		.name = "dracut dmsquash-live",
		.members = WORDS("dmsquash-live-root", "parse-dmsquash-live"),
		.words = WORDS("rd.live.image", "root=live:*", "liveimg"),
		.medium = "root=live:" DMX_NODE,
		.replaces = NONE,
		.unfit = WORDS("rd.live.ram", "live_ram", "iso-scan/filename", "rd.live.overlay"),
		.patience = 120,
		.patience_word = "rd.retry",
	},
	{
		/* poll_device DEVICE 30. The UUID and the file to search for have precedence over
		   the device; copying to RAM is off by itself only for /dev/sr*. */
		.name = "archiso",
		.members = WORDS("hooks/archiso"),
		.words = WORDS("archisobasedir", "archisolabel", "archisodevice",
			"archisosearchuuid", "archisosearchfilename"),
		.medium = "archisodevice=" DMX_NODE,
		.replaces = WORDS("archisosearchuuid", "archisosearchfilename"),
		.extra = "copytoram=n",
		.unfit = WORDS("copytoram", "img_dev", "archiso_http_srv", "archiso_nfs_srv",
			"archiso_nbd_srv", "cow_label", "cow_device"),
		.patience = 30,
	},
	{.name = NULL},
};

static gsize blank_length(const char *text)
{
	gsize i = 0;

	while (g_ascii_isspace(text[i]))
		i++;
	return i;
}

/* Of a word without its value. */
static gsize name_length(const char *word, gsize length)
{
	const char *equals = memchr(word, '=', length);

	return equals ? (gsize)(equals - word) : length;
}

static gboolean same_name(const char *word, gsize length, const char *other)
{
	gsize n = name_length(word, length);

	return n == name_length(other, strlen(other)) && memcmp(word, other, n) == 0;
}

static gboolean any_name(const char *word, gsize length, const char *const *names)
{
	for (; *names; names++)
		if (same_name(word, length, *names))
			return TRUE;
	return FALSE;
}

static gboolean matches(const char *word, gsize length, const char *pattern)
{
	gsize n = strlen(pattern);

	if (!strchr(pattern, '='))
		return same_name(word, length, pattern);
	if (pattern[n - 1] == '*')
		return length >= n - 1 && memcmp(word, pattern, n - 1) == 0;
	return length == n && memcmp(word, pattern, n) == 0;
}

/* The first word for which it holds; its length, 0 if there is none. */
static const char *find_word(const char *cmdline, const char *const *patterns, gsize *length)
{
	const char *at = cmdline + blank_length(cmdline);

	for (; (*length = li_cmdline_word(at)) > 0; at += *length, at += blank_length(at))
		for (const char *const *p = patterns; *p; p++)
			if (matches(at, *length, *p))
				return at;
	return NULL;
}

static gboolean has_name(const char *cmdline, const char *word)
{
	gsize length;
	g_autofree char *name = g_strndup(word, name_length(word, strlen(word)));
	const char *const names[] = {name, NULL};

	return find_word(cmdline, names, &length) != NULL;
}

/* A path is one, wherever usr-merge has put it; a name may have a number before it. */
static gboolean is_member(const char *path, const char *pattern)
{
	const char *name = strrchr(path, '/');
	gsize length = strlen(path), n = strlen(pattern);

	if (!strchr(pattern, '/'))
		return strstr(name ? name + 1 : path, pattern) != NULL;
	return length >= n && g_str_equal(path + length - n, pattern) &&
	       (length == n || path[length - n - 1] == '/');
}

gboolean dmx_framework_has_member(const dmx_framework *framework, const char *path)
{
	for (const char *const *m = framework->members; *m; m++)
		if (is_member(path, *m))
			return TRUE;
	return FALSE;
}

gboolean dmx_framework_has_cmdline(const dmx_framework *framework, const char *cmdline)
{
	gsize length;

	return find_word(cmdline, framework->words, &length) != NULL;
}

guint dmx_framework_patience(const dmx_framework *framework, const char *cmdline)
{
	const char *const names[] = {framework->patience_word, NULL};
	gsize length;
	const char *word = names[0] ? find_word(cmdline, names, &length) : NULL;
	guint64 seconds = 0;

	if (!word || length <= strlen(names[0]))
		return framework->patience;
	seconds = g_ascii_strtoull(word + strlen(names[0]) + 1, NULL, 10);
	return seconds == 0 ? framework->patience : (guint)MIN(seconds, 3600) * 2 / 3;
}

/* "findiso=${iso_path}" has no value where the ISO is no file. */
static gboolean is_off(const char *word, gsize length)
{
	static const char *const values[] = {"", "n", "no", "0"};
	gsize name = name_length(word, length);
	g_autofree char *value = NULL;

	if (name == length)
		return FALSE;
	value = g_strndup(word + name + 1, length - name - 1);
	for (gsize i = 0; i < G_N_ELEMENTS(values); i++)
		if (g_str_equal(value, values[i]))
			return TRUE;
	return FALSE;
}

char *dmx_framework_unfit(const dmx_framework *framework, const char *cmdline)
{
	const char *at = cmdline;
	gsize length;

	for (; (at = find_word(at, framework->unfit, &length)); at += length)
		if (!is_off(at, length))
			return g_strndup(at, length);
	return NULL;
}

static void add_word(GString *text, const char *word)
{
	if (text->len > 0 && !g_ascii_isspace(text->str[text->len - 1]))
		g_string_append_c(text, ' ');
	g_string_append(text, word);
}

static void add_words(GString *text, const dmx_framework *framework, gboolean has_extra)
{
	add_word(text, framework->medium);
	if (framework->extra && !has_extra)
		add_word(text, framework->extra);
	add_word(text, "rdinit=/" DMX_LOADER_PATH);
}

static gboolean is_end(const char *word, gsize length)
{
	return (length == 2 || length == 3) && memcmp(word, "---", length) == 0;
}

char *dmx_framework_edit(const dmx_framework *framework, const char *text)
{
	gboolean has_extra = framework->extra && has_name(text, framework->extra);
	GString *edited = g_string_new(NULL);
	const char *at = text;
	gsize blank, length;

	for (;; at += blank + length) {
		blank = blank_length(at);
		length = li_cmdline_word(at + blank);
		if (length == 0 || is_end(at + blank, length))
			break;
		if (!same_name(at + blank, length, framework->medium) &&
			!any_name(at + blank, length, framework->replaces))
			g_string_append_len(edited, at, (gssize)(blank + length));
	}
	/* GRUB's place begins with the blank behind the kernel. */
	if (edited->len == 0)
		g_string_append_len(edited, text, (gssize)blank_length(text));
	add_words(edited, framework, has_extra);
	g_string_append(edited, at);
	return g_string_free(edited, FALSE);
}

gboolean dmx_is_fail_safe(const char *title, const char *cmdline)
{
	static const char *const titles[] = {"fail-safe", "failsafe", "fail safe", "safe mode",
		"safe graphics", "rescue", "recovery", "basic graphics"};
	static const char *const words[] = {"noapic", "acpi=off", "single", "emergency", "rescue"};
	g_autofree char *lower = g_ascii_strdown(title, -1);

	for (gsize i = 0; i < G_N_ELEMENTS(titles); i++)
		if (strstr(lower, titles[i]))
			return TRUE;
	for (gsize i = 0; i < G_N_ELEMENTS(words); i++) {
		const char *const pattern[] = {words[i], NULL};
		gsize length;

		if (find_word(cmdline, pattern, &length))
			return TRUE;
	}
	return FALSE;
}
