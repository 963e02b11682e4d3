/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/isomd5.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reorder/util/child.h"
#include "reorder/util/error.h"
#include "reorder/util/hash.h"
#include "reorder/util/interrupt.h"
#include "reorder/util/pair.h"

#define MARK "ISO MD5SUM = "
#define SUMS_MARK "FRAGMENT SUMS = "

/* The steps of implantisomd5, on which its partial sums depend, and how many digits they have. */
enum { STEP = 32768, FRAGMENT_DIGITS = 60, MD5_DIGITS = 32, MD5_BYTES = 16 };
enum { FIELD = 16 * LI_SECTOR + LI_APPLICATION_USE, READ_SIZE = 1 << 20 };

void li_isomd5_parse(const guint8 *application_use, li_isomd5 *sum)
{
	g_autofree char *text = g_strndup((const char *)application_use, LI_APPLICATION_USE_SIZE);
	const char *count = strstr(text, "FRAGMENT COUNT = ");

	*sum = (li_isomd5){.present = g_str_has_prefix(text, MARK)};
	if (!sum->present)
		return;
	sum->supported = strstr(text, "RHLISOSTATUS=1") != NULL;
	if (count)
		sum->fragments = (guint)strtoul(count + strlen("FRAGMENT COUNT = "), NULL, 10);
}

static gboolean read_sum(const char *iso_path, li_isomd5 *sum, GError **error)
{
	guint8 field[LI_APPLICATION_USE_SIZE];
	int fd = open(iso_path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return ro_fail_errno(error, errno, "%s", iso_path);
	got = pread(fd, field, sizeof(field), 16 * LI_SECTOR + LI_APPLICATION_USE);
	close(fd);
	if (got != (ssize_t)sizeof(field))
		return ro_fail(
			error, RO_ERROR_FAILED, "%s: can't read its volume descriptor", iso_path);
	li_isomd5_parse(field, sum);
	return TRUE;
}

gboolean li_isomd5_check(const char *iso_path, li_isomd5 *sum, GError **error)
{
	static const int codes[] = {0, 1, -1};
	g_autofree char *absolute = g_canonicalize_filename(iso_path, NULL);
	const char *argv[] = {"checkisomd5", absolute, NULL};
	const ro_child_spec spec = {.argv = argv, .ok_codes = codes};
	int status;

	if (!read_sum(absolute, sum, error))
		return FALSE;
	if (!sum->present)
		return TRUE;
	if (!ro_child_run(&spec, &status, error))
		return FALSE;
	sum->right = status == 0;
	return TRUE;
}

gboolean li_isomd5_implant(const char *iso_path, const li_isomd5 *sum, GError **error)
{
	g_autofree char *absolute = g_canonicalize_filename(iso_path, NULL);
	const char *argv[] = {"implantisomd5", "--force", absolute, NULL, NULL};
	const ro_child_spec spec = {.argv = argv};
	li_isomd5 new_sum;

	if (sum->supported) {
		argv[2] = "--supported-iso";
		argv[3] = absolute;
	}
	if (!ro_child_run(&spec, NULL, error) || !read_sum(absolute, &new_sum, error))
		return FALSE;
	if (!new_sum.present || new_sum.supported != sum->supported)
		return ro_fail(error, RO_ERROR_FAILED,
			"implantisomd5: no checksum in the new ISO; check your isomd5sum");
	if (new_sum.fragments != sum->fragments)
		ro_warn("isomd5: %u partial checksums instead of %u; the whole one is right",
			new_sum.fragments, sum->fragments);
	return TRUE;
}

/* --- the sums themselves --- */

typedef struct {
	char *text;    /* the field */
	char *sums;    /* in it: the partial ones; NULL: none */
	guint count;   /* of them */
	guint64 total; /* bytes that are summed */
} field;

/* What may be asked of a field that came with an ISO. */
static gboolean field_parse(field *f, guint64 size)
{
	const char *skip = strstr(f->text, "SKIPSECTORS = ");
	const char *count = strstr(f->text, "FRAGMENT COUNT = ");
	guint64 skipped =
		skip ? g_ascii_strtoull(skip + strlen("SKIPSECTORS = "), NULL, 10) : G_MAXUINT64;

	f->sums = strstr(f->text, SUMS_MARK);
	if (f->sums)
		f->sums += strlen(SUMS_MARK);
	if (f->sums && count)
		f->count =
			(guint)MIN(g_ascii_strtoull(count + strlen("FRAGMENT COUNT = "), NULL, 10),
				FRAGMENT_DIGITS);
	if (f->count == 0 || strlen(f->sums) < FRAGMENT_DIGITS)
		f->sums = NULL;
	if (strlen(f->text) < strlen(MARK) + MD5_DIGITS || skipped > size / LI_SECTOR)
		return FALSE;
	f->total = size - skipped * LI_SECTOR;
	return TRUE;
}

/* A field is summed as if it were blank. */
static void blank_field(guint8 *buffer, guint64 position, gsize size)
{
	guint64 from = MAX(FIELD, position);
	guint64 to = MIN(FIELD + LI_APPLICATION_USE_SIZE, position + size);

	if (from < to)
		memset(buffer + (from - position), ' ', to - from);
}

/* The first digit of each of the first bytes, without leading zeros: implantisomd5 prints them so.
 */
static void add_partial(char *sums, const ro_hash *sum, guint digits)
{
	guint8 bytes[RO_HASH_MAX];

	ro_hash_digest(sum, bytes);
	for (guint i = 0; i < MIN(digits, MD5_BYTES); i++)
		sums[i] = "0123456789abcdef"[bytes[i] > 15 ? bytes[i] >> 4 : bytes[i]];
}

typedef struct {
	const li_overlay *iso;
	const field *field;
	char md5[MD5_DIGITS + 1], sums[FRAGMENT_DIGITS + 1];
	GError *error;
} summing;

static void take_steps(
	summing *s, ro_hash *sum, guint64 at, const guint8 *buffer, gsize size, guint *fragment)
{
	guint digits = s->field->count ? FRAGMENT_DIGITS / s->field->count : 0;

	for (gsize done = 0; done < size; done += STEP) {
		guint now = (guint)((at + done) * (s->field->count + 1) / s->field->total);

		ro_hash_add(sum, buffer + done, MIN(STEP, size - done));
		if (now == *fragment || now > s->field->count)
			continue;
		add_partial(s->sums + (now - 1) * digits, sum, digits);
		*fragment = now;
	}
}

static gpointer sum_up(gpointer data)
{
	summing *s = data;
	g_autoptr(ro_hash) sum = ro_hash_new(RO_HASH_MD5);
	g_autofree guint8 *buffer = g_malloc(READ_SIZE);
	guint fragment = 0;

	memset(s->sums, '0', FRAGMENT_DIGITS);
	for (guint64 at = 0; at < s->field->total; at += READ_SIZE) {
		gsize size = MIN(READ_SIZE, s->field->total - at);

		if (ro_interrupted(&s->error) ||
			!li_overlay_read(s->iso, at, buffer, size, &s->error))
			return NULL;
		blank_field(buffer, at, size);
		take_steps(s, sum, at, buffer, size, &fragment);
	}
	g_autofree char *hex = ro_hash_hex(sum);
	g_strlcpy(s->md5, hex, sizeof(s->md5));
	return NULL;
}

static gboolean is_right(const field *f, const summing *s)
{
	guint digits = f->sums ? FRAGMENT_DIGITS / f->count * f->count : 0;

	return g_ascii_strncasecmp(f->text + strlen(MARK), s->md5, MD5_DIGITS) == 0 &&
	       (!digits || strncmp(f->sums, s->sums, digits) == 0);
}

gboolean li_isomd5_renew(li_overlay *iso, guint64 size, gboolean *right, GError **error)
{
	g_autoptr(li_overlay) old = li_overlay_new(iso->fd, iso->size);
	g_autofree char *text = g_malloc0(LI_APPLICATION_USE_SIZE + 1);
	field f = {.text = text};
	summing before = {.iso = old, .field = &f}, after = {.iso = iso, .field = &f};

	*right = FALSE;
	if (!li_overlay_read(old, FIELD, text, LI_APPLICATION_USE_SIZE, error))
		return FALSE;
	if (!field_parse(&f, size))
		return TRUE;
	if (!ro_pair_run(sum_up, (ro_half){&before, &before.error}, (ro_half){&after, &after.error},
		    error))
		return FALSE;
	*right = is_right(&f, &before);
	if (!*right)
		return TRUE;
	memcpy(text + strlen(MARK), after.md5, MD5_DIGITS);
	if (f.sums)
		memcpy(f.sums, after.sums, FRAGMENT_DIGITS / f.count * f.count);
	return li_overlay_put(iso, FIELD, text, LI_APPLICATION_USE_SIZE, error);
}

gboolean li_suse_digest_present(int fd)
{
	static const char *const marks[] = {
		"md5sum=", "sha1sum=", "sha224sum=", "sha256sum=", "sha384sum=", "sha512sum="};
	char text[LI_APPLICATION_USE_SIZE + 1] = {0};
	g_autofree char *lower = NULL;

	if (pread(fd, text, LI_APPLICATION_USE_SIZE, FIELD) < 0)
		return FALSE;
	lower = g_ascii_strdown(text, -1);
	for (guint i = 0; i < G_N_ELEMENTS(marks); i++)
		if (strstr(lower, marks[i]))
			return TRUE;
	return FALSE;
}

gboolean li_isomd5_need(GError **error)
{
	return ro_child_need("checkisomd5", "isomd5sum", error) &&
	       ro_child_need("implantisomd5", "isomd5sum", error);
}
