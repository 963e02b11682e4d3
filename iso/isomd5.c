/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/isomd5.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reorder/image/le.h"
#include "reorder/util/error.h"
#include "reorder/util/hash.h"
#include "reorder/util/interrupt.h"
#include "reorder/util/pair.h"

#define MARK "ISO MD5SUM = "
#define SUMS_MARK "FRAGMENT SUMS = "

/* The steps of implantisomd5, on which its partial sums depend, and how many digits they have. */
enum { STEP = 32768, FRAGMENT_DIGITS = 60, MD5_DIGITS = 32, MD5_BYTES = 16 };
enum { SPACE_SIZE = 80, FIELD = 16 * LI_SECTOR + LI_APPLICATION_USE, READ_SIZE = 1 << 20 };

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

/* --- the sums themselves --- */

typedef struct {
	char *text;  /* the field */
	char *sums;  /* in it: the partial ones; NULL: none */
	guint count; /* of them */
} field;

/* What may be asked of a field that came with an ISO. size: of the volume; *total: of what is
 * summed. */
static gboolean field_parse(field *f, guint64 size, guint64 *total)
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
	*total = size - skipped * LI_SECTOR;
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
	guint64 total; /* bytes that are summed */
	char md5[MD5_DIGITS + 1], sums[FRAGMENT_DIGITS + 1];
	GError *error;
} summing;

static void take_steps(
	summing *s, ro_hash *sum, guint64 at, const guint8 *buffer, gsize size, guint *fragment)
{
	guint digits = s->field->count ? FRAGMENT_DIGITS / s->field->count : 0;

	for (gsize done = 0; done < size; done += STEP) {
		guint now = (guint)((at + done) * (s->field->count + 1) / s->total);

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
	for (guint64 at = 0; at < s->total; at += READ_SIZE) {
		gsize size = MIN(READ_SIZE, s->total - at);

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

/* ECMA-119 8.4.8: the number of logical blocks, in both byte orders. */
static gboolean read_volume_size(const li_overlay *iso, guint64 *size, GError **error)
{
	guint8 blocks[4];

	if (!li_overlay_read(iso, 16 * LI_SECTOR + SPACE_SIZE, blocks, sizeof(blocks), error))
		return FALSE;
	*size = (guint64)img_le32(blocks) * LI_SECTOR;
	return TRUE;
}

static gboolean leave_wrong(li_write_result *result)
{
	ro_warn("the ISO's own checksum (isomd5) was wrong before and stays wrong");
	result->lines_left_wrong++;
	return TRUE;
}

gboolean li_isomd5_renew(
	const li_iso *old, li_overlay *iso, li_write_result *result, GError **error)
{
	g_autoptr(li_overlay) as_it_was = li_overlay_new(old->fd, old->file_size);
	g_autofree char *text = g_malloc0(LI_APPLICATION_USE_SIZE + 1);
	field f = {.text = text};
	summing before = {.iso = as_it_was, .field = &f}, after = {.iso = iso, .field = &f};
	guint64 size;

	if (!old->volume.isomd5)
		return TRUE;
	if (!li_overlay_read(as_it_was, FIELD, text, LI_APPLICATION_USE_SIZE, error) ||
		!read_volume_size(iso, &size, error))
		return FALSE;
	if (!field_parse(&f, old->volume.size, &before.total) ||
		!field_parse(&f, size, &after.total))
		return leave_wrong(result);
	if (!ro_pair_run(sum_up, (ro_half){&before, &before.error}, (ro_half){&after, &after.error},
		    error))
		return FALSE;
	if (!is_right(&f, &before))
		return leave_wrong(result);
	memcpy(text + strlen(MARK), after.md5, MD5_DIGITS);
	if (f.sums)
		memcpy(f.sums, after.sums, FRAGMENT_DIGITS / f.count * f.count);
	result->isomd5_renewed = TRUE;
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
