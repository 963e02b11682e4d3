/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/checksum_line.h"

#include <string.h>

static const struct {
	guint digits;
	const char *tag; /* BSD style; what tags with a dash are compared without it */
} types[RO_HASH_COUNT] = {
	[RO_HASH_MD5] = {32, "MD5"},
	[RO_HASH_SHA1] = {40, "SHA1"},
	[RO_HASH_SHA256] = {64, "SHA256"},
	[RO_HASH_SHA384] = {96, "SHA384"},
	[RO_HASH_SHA512] = {128, "SHA512"},
};

enum { SHA224_DIGITS = 56 };

static const char *const list_names[] = {"md5sum", "md5sums", "sha1sum", "sha1sums", "sha224sum",
	"sha224sums", "sha256sum", "sha256sums", "sha384sum", "sha384sums", "sha512sum",
	"sha512sums", "b2sum", "b2sums", "checksums", "checksum", ".treeinfo", "treeinfo"};
static const char *const list_suffixes[] = {".md5", ".sha1", ".sha224", ".sha256", ".sha384",
	".sha512", ".b2", ".md5sum", ".sha1sum", ".sha256sum", ".sha512sum", ".b2sum", ".md5sums",
	".sha256sums", ".sha512sums"};
gboolean li_sums_is_list(const char *path)
{
	const char *slash = strrchr(path, '/');
	g_autofree char *name = g_ascii_strdown(slash ? slash + 1 : path, -1);

	if (g_str_has_suffix(name, ".txt"))
		name[strlen(name) - 4] = '\0';
	for (guint i = 0; i < G_N_ELEMENTS(list_names); i++)
		if (g_str_equal(name, list_names[i]))
			return TRUE;
	for (guint i = 0; i < G_N_ELEMENTS(list_suffixes); i++)
		if (g_str_has_suffix(name, list_suffixes[i]))
			return TRUE;
	return FALSE;
}

static guint hex_run(const char *text, gsize length)
{
	guint n = 0;

	while (n < length && g_ascii_isxdigit(text[n]))
		n++;
	return n;
}

/* Sets the type by the number of digits; FALSE if no checksum has so many. */
static gboolean type_by_digits(guint digits, li_sum_line *sum)
{
	sum->digits = digits;
	sum->supported = FALSE;
	for (guint i = 0; i < RO_HASH_COUNT; i++) {
		if (types[i].digits != digits)
			continue;
		sum->type = i;
		sum->supported = TRUE;
		return TRUE;
	}
	return digits == SHA224_DIGITS;
}

/* The tag of a BSD style line, "SHA2-256" and "sha256" as well; it has to agree with the digits. */
static gboolean tag_agrees(const char *tag, gsize length, li_sum_line *sum)
{
	g_autofree char *name = g_ascii_strup(tag, (gssize)length);
	g_auto(GStrv) parts =
		g_strsplit(g_str_has_prefix(name, "SHA2-") ? name + 5 : name, "-", -1);
	g_autofree char *joined = g_strjoinv("", parts);

	if (g_str_has_prefix(name, "BLAKE2")) {
		sum->supported = FALSE;
		return TRUE;
	}
	for (guint i = 0; i < RO_HASH_COUNT; i++)
		if (types[i].digits == sum->digits)
			return g_str_has_suffix(types[i].tag, joined) ||
			       g_str_equal(types[i].tag, joined);
	return sum->digits == SHA224_DIGITS;
}

/* coreutils: a line that begins with a backslash has \\, \n and \r in its name. */
static char *unescape_name(const char *name, gsize length, gboolean escaped)
{
	GString *out = g_string_sized_new(length);

	for (gsize i = 0; i < length; i++) {
		char c = name[i];

		if (escaped && c == '\\' && i + 1 < length) {
			i++;
			c = name[i] == 'n' ? '\n' : name[i] == 'r' ? '\r' : name[i];
		}
		g_string_append_c(out, c);
	}
	return g_string_free(out, FALSE);
}

/* "DIGEST  name", "DIGEST *name", or the digest alone. */
static gboolean parse_plain(const char *line, gsize length, gboolean escaped, li_sum_line *sum)
{
	guint digits = hex_run(line, length);
	gsize at = digits;

	if (!type_by_digits(digits, sum))
		return FALSE;
	while (at < length && (line[at] == ' ' || line[at] == '\t'))
		at++;
	if (at == length)
		return TRUE;
	if (at == digits)
		return FALSE;
	if (line[at] == '*' && at + 1 < length)
		at++;
	sum->name = unescape_name(line + at, length - at, escaped);
	return TRUE;
}

/* "SHA256 (name) = DIGEST" */
static gboolean parse_bsd(const char *line, gsize length, gboolean escaped, li_sum_line *sum)
{
	const char *open = memchr(line, '(', length);
	const char *close = NULL;
	const char *digest;
	gsize tag;

	for (const char *p = line + length; open && p > open; p--)
		if (p[-1] == ')' && !close)
			close = p - 1;
	if (!open || !close || open == line)
		return FALSE;
	digest = close + 1;
	while (digest < line + length && (*digest == ' ' || *digest == '='))
		digest++;
	sum->offset = (gsize)(digest - line);
	if (!type_by_digits((guint)(length - sum->offset), sum) ||
		hex_run(digest, length - sum->offset) != sum->digits)
		return FALSE;
	tag = (gsize)(open - line);
	while (tag && line[tag - 1] == ' ')
		tag--;
	if (!tag_agrees(line, tag, sum))
		return FALSE;
	sum->name = unescape_name(open + 1, (gsize)(close - open) - 1, escaped);
	return TRUE;
}

/* Anaconda's .treeinfo: "images/boot.iso = sha256:DIGEST" */
static gboolean parse_treeinfo(const char *line, gsize length, li_sum_line *sum)
{
	const char *colon = g_strrstr_len(line, (gssize)length, ":");
	const char *equals = memchr(line, '=', length);
	const char *tag;
	gsize name;

	if (!colon || !equals || equals > colon || equals == line)
		return FALSE;
	sum->offset = (gsize)(colon + 1 - line);
	if (!type_by_digits((guint)(length - sum->offset), sum) ||
		hex_run(colon + 1, length - sum->offset) != sum->digits)
		return FALSE;
	for (tag = equals + 1; *tag == ' ';)
		tag++;
	if (tag >= colon || !tag_agrees(tag, (gsize)(colon - tag), sum))
		return FALSE;
	name = (gsize)(equals - line);
	while (name && line[name - 1] == ' ')
		name--;
	sum->name = g_strndup(line, name);
	return TRUE;
}

static gboolean is_treeinfo(const char *list_name)
{
	return g_str_has_suffix(list_name, "treeinfo");
}

static gboolean is_blake2(const char *list_name)
{
	const char *slash = strrchr(list_name, '/');
	g_autofree char *name = g_ascii_strdown(slash ? slash + 1 : list_name, -1);

	return g_str_has_prefix(name, "b2") || strstr(name, ".b2");
}

gboolean li_sum_parse(const char *line, gsize length, const char *list_name, li_sum_line *sum)
{
	gsize skip;
	gboolean escaped, found;

	*sum = (li_sum_line){0};
	while (length && (line[length - 1] == '\r' || line[length - 1] == ' '))
		length--;
	if (!length || memchr(line, '\0', length))
		return FALSE;
	if (is_treeinfo(list_name))
		return parse_treeinfo(line, length, sum);
	escaped = line[0] == '\\';
	skip = escaped ? 1 : 0;
	found = parse_plain(line + skip, length - skip, escaped, sum) ||
		parse_bsd(line + skip, length - skip, escaped, sum);
	sum->offset += skip;
	if (found && is_blake2(list_name))
		sum->supported = FALSE;
	return found;
}
