/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Frames of the guest agent: the right ones come out whole, whatever else is on the line. */
#include <string.h>

#include "tests/unit/image-fixture.h"
#include "trace/agent/protocol.h"
#include "trace/frames.h"
#include "trace/guest.h"
#include "trace/guest_mounts.h"

static void put_escaped(GByteArray *stream, const guint8 *bytes, gsize length)
{
	static const guint8 end[] = {0xdb, 0xdc}, esc[] = {0xdb, 0xdd};

	for (gsize i = 0; i < length; i++) {
		if (bytes[i] == 0xc0)
			g_byte_array_append(stream, end, 2);
		else if (bytes[i] == 0xdb)
			g_byte_array_append(stream, esc, 2);
		else
			g_byte_array_append(stream, &bytes[i], 1);
	}
}

static void put_frame(
	GByteArray *stream, guint8 type, guint32 sequence, const void *payload, gsize length)
{
	g_autofree guint8 *frame = g_malloc(length + 11);
	static const guint8 end = 0xc0;

	frame[0] = type;
	tr_put32(frame + 1, sequence);
	tr_put16(frame + 5, (guint32)length);
	if (length)
		memcpy(frame + 7, payload, length);
	tr_put32(frame + 7 + length, tr_crc32(0, frame, 7 + length));
	g_byte_array_append(stream, &end, 1);
	put_escaped(stream, frame, length + 11);
	g_byte_array_append(stream, &end, 1);
}

/* The frames that came out, as "type payload-in-hex" each. */
static void collect(const tr_frame *frame, gpointer data)
{
	GString *text = g_string_new(NULL);

	g_string_append_printf(text, "%c ", frame->type);
	for (gsize i = 0; i < frame->length; i++)
		g_string_append_printf(text, "%02x", frame->payload[i]);
	g_assert_cmpint(frame->payload[frame->length], ==, 0);
	g_ptr_array_add(data, g_string_free(text, FALSE));
}

static tr_frames_counts decode(const guint8 *bytes, gsize length, gsize chunk, GPtrArray *out)
{
	g_autoptr(tr_frames) frames = tr_frames_new();

	for (gsize at = 0; at < length; at += chunk)
		tr_frames_push(frames, bytes + at, MIN(chunk, length - at), collect, out);
	return *tr_frames_get_counts(frames);
}

static GPtrArray *new_list(void)
{
	return g_ptr_array_new_with_free_func(g_free);
}

/* Bytes made by an independent program (Python: zlib.crc32, struct). */
static void test_golden(void)
{
	static const guint8 golden[] = {0xc0, 0x47, 0x00, 0x00, 0x00, 0x00, 0x04, 0x00, 0xdb, 0xdc,
		0xdb, 0xdd, 0x00, 0x00, 0x41, 0xcb, 0xf4, 0xf8, 0xc0};
	g_autoptr(GPtrArray) out = new_list();
	g_autoptr(GByteArray) ours = g_byte_array_new();
	tr_frames_counts counts = decode(golden, sizeof golden, sizeof golden, out);

	g_assert_cmpuint(counts.good, ==, 1);
	g_assert_cmpuint(counts.bad + counts.missing, ==, 0);
	g_assert_cmpstr(g_ptr_array_index(out, 0), ==, "G c0db0000");
	put_frame(ours, 'G', 0, "\xc0\xdb\0\0", 4);
	g_assert_cmpmem(ours->data, ours->len, golden, sizeof golden);
}

/* Three frames, one of them empty and one full of bytes that need an escape. */
static GByteArray *three_frames(void)
{
	GByteArray *stream = g_byte_array_new();

	put_frame(stream, 'A', 0, "one", 3);
	put_frame(stream, 'B', 1, "", 0);
	put_frame(stream, 'C', 2, "\xc0\xdb\xdc\xdd\xc0\xc0", 6);
	return stream;
}

static void assert_subset(const GPtrArray *out)
{
	static const char *const all[] = {"A 6f6e65", "B ", "C c0dbdcddc0c0"};
	guint next = 0;

	for (guint i = 0; i < out->len; i++) {
		while (next < 3 && !g_str_equal(all[next], g_ptr_array_index(out, i)))
			next++;
		g_assert_cmpuint(next, <, 3);
		next++;
	}
}

static void test_any_chunks(void)
{
	g_autoptr(GByteArray) stream = three_frames();

	for (gsize chunk = 1; chunk <= stream->len; chunk++) {
		g_autoptr(GPtrArray) out = new_list();
		tr_frames_counts counts = decode(stream->data, stream->len, chunk, out);
		g_assert_cmpuint(counts.good, ==, 3);
		g_assert_cmpuint(counts.bad + counts.missing, ==, 0);
		g_assert_cmpuint(counts.bytes, ==, stream->len);
		assert_subset(out);
	}
}

/* Pitfall I9. */
static void test_cut_at_every_byte(void)
{
	g_autoptr(GByteArray) stream = three_frames();

	for (gsize length = 0; length < stream->len; length++) {
		g_autoptr(GPtrArray) out = new_list();
		tr_frames_counts counts = decode(stream->data, length, 7, out);
		g_assert_cmpuint(counts.good, <, 3);
		g_assert_cmpuint(counts.good, ==, out->len);
		assert_subset(out);
	}
}

static void test_every_bit_flipped(void)
{
	g_autoptr(GByteArray) stream = three_frames();

	for (gsize bit = 0; bit < 8 * (gsize)stream->len; bit++) {
		g_autoptr(GPtrArray) out = new_list();
		stream->data[bit / 8] ^= (guint8)(1 << bit % 8);
		tr_frames_counts counts = decode(stream->data, stream->len, stream->len, out);
		stream->data[bit / 8] ^= (guint8)(1 << bit % 8);
		assert_subset(out);
		g_assert_cmpuint(counts.good, ==, out->len);
		g_assert_cmpuint(counts.good, >=, 1);
		/* The last frame is lost without a trace here only if its end is: that is what the
		 * end frame is for. */
		if (counts.good < 3 && bit / 8 + 1 < stream->len)
			g_assert_cmpuint(counts.bad + counts.missing, >, 0);
	}
}

static void test_every_byte_dropped(void)
{
	g_autoptr(GByteArray) stream = three_frames();

	for (guint at = 0; at < stream->len; at++) {
		g_autoptr(GPtrArray) out = new_list();
		g_autoptr(GByteArray) cut = g_byte_array_new();
		g_byte_array_append(cut, stream->data, stream->len);
		g_byte_array_remove_index(cut, at);
		decode(cut->data, cut->len, 5, out);
		g_assert_cmpuint(out->len, >=, 2);
		assert_subset(out);
	}
}

/* Something else writes on the line, between frames and into one. */
static void test_garbage(void)
{
	g_autoptr(GByteArray) stream = g_byte_array_new();
	g_autoptr(GPtrArray) out = new_list();
	static const char text[] = "[    1.0] some driver said hello\r\n";

	g_byte_array_append(stream, (const guint8 *)text, sizeof text - 1);
	put_frame(stream, 'A', 0, "one", 3);
	g_byte_array_append(stream, (const guint8 *)text, sizeof text - 1);
	guint broken = stream->len + 5;
	put_frame(stream, 'B', 1, "two", 3);
	stream->data[broken] ^= 1;
	put_frame(stream, 'C', 2, "\xc0\xdb\xdc\xdd\xc0\xc0", 6);
	tr_frames_counts counts = decode(stream->data, stream->len, 3, out);
	g_assert_cmpuint(counts.good, ==, 2);
	g_assert_cmpuint(counts.bad, ==, 3);
	g_assert_cmpuint(counts.missing, ==, 1);
	assert_subset(out);
}

static void test_flood_without_an_end(void)
{
	g_autofree guint8 *flood = g_malloc(1 << 20);
	g_autoptr(GByteArray) stream = three_frames();
	g_autoptr(GPtrArray) out = new_list();
	g_autoptr(tr_frames) frames = tr_frames_new();

	memset(flood, 'x', 1 << 20);
	tr_frames_push(frames, flood, 1 << 20, collect, out);
	tr_frames_push(frames, stream->data, stream->len, collect, out);
	g_assert_cmpuint(tr_frames_get_counts(frames)->good, ==, 3);
	g_assert_cmpuint(tr_frames_get_counts(frames)->bad, ==, 1);
}

static void test_length_that_lies(void)
{
	static const guint32 lengths[] = {0, 2, 4, 8192, 65535};

	for (guint i = 0; i < G_N_ELEMENTS(lengths); i++) {
		g_autoptr(GByteArray) stream = g_byte_array_new();
		g_autoptr(GPtrArray) out = new_list();
		guint8 frame[14] = {'A', 0, 0, 0, 0, 0, 0, 'o', 'n', 'e'};
		static const guint8 end = 0xc0;

		tr_put16(frame + 5, lengths[i]);
		tr_put32(frame + 10, tr_crc32(0, frame, 10));
		put_escaped(stream, frame, sizeof frame);
		g_byte_array_append(stream, &end, 1);
		g_assert_cmpuint(decode(stream->data, stream->len, 64, out).bad, ==, 1);
		g_assert_cmpuint(out->len, ==, 0);
	}
}

static void test_repeated_frame(void)
{
	g_autoptr(GByteArray) stream = g_byte_array_new();
	g_autoptr(GPtrArray) out = new_list();

	put_frame(stream, 'A', 0, "one", 3);
	put_frame(stream, 'A', 0, "one", 3);
	tr_frames_counts counts = decode(stream->data, stream->len, 64, out);
	g_assert_cmpuint(counts.good, ==, 1);
	g_assert_cmpuint(counts.bad, ==, 1);
}

/* One frame must not make the host deaf to those that follow. */
static void test_forged_sequence(void)
{
	static const guint32 numbers[] = {G_MAXUINT32, G_MAXUINT32 - 1, G_MAXINT32, 1 << 20};

	for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
		g_autoptr(GByteArray) stream = g_byte_array_new();
		g_autoptr(GByteArray) rest = three_frames();
		g_autoptr(GPtrArray) out = new_list();

		put_frame(stream, 'X', numbers[i], "forged", 6);
		g_byte_array_append(stream, rest->data, rest->len);
		tr_frames_counts counts = decode(stream->data, stream->len, 64, out);
		g_assert_cmpuint(counts.good, ==, 3);
		g_assert_cmpuint(counts.forged, ==, 1);
		g_assert_cmpuint(counts.bad, ==, 1);
		g_assert_cmpuint(counts.missing, ==, 0);
		assert_subset(out);
	}
}

static void test_long_gap(void)
{
	g_autoptr(GByteArray) stream = g_byte_array_new();
	g_autoptr(GPtrArray) out = new_list();

	put_frame(stream, 'A', 0, "one", 3);
	put_frame(stream, 'B', 50000, "", 0);
	tr_frames_counts counts = decode(stream->data, stream->len, 64, out);
	g_assert_cmpuint(counts.good, ==, 2);
	g_assert_cmpuint(counts.missing, ==, 49999);
	g_assert_cmpuint(counts.forged, ==, 0);
}

static void test_largest_frame(void)
{
	g_autoptr(GByteArray) stream = g_byte_array_new();
	g_autoptr(GPtrArray) out = new_list();
	g_autofree guint8 *payload = g_malloc(TR_PAYLOAD_MAX + 1);

	memset(payload, 0xc0, TR_PAYLOAD_MAX + 1);
	put_frame(stream, 'A', 0, payload, TR_PAYLOAD_MAX);
	put_frame(stream, 'B', 1, payload, TR_PAYLOAD_MAX + 1);
	tr_frames_counts counts = decode(stream->data, stream->len, 4096, out);
	g_assert_cmpuint(counts.good, ==, 1);
	g_assert_cmpuint(counts.bad, ==, 1);
}

/* --- a whole conversation --- */

typedef struct {
	GByteArray *stream;
	guint32 sequence;
} talk;

static void say(talk *t, guint8 type, const guint8 *fixed, gsize fixed_length, const char *text)
{
	g_autoptr(GByteArray) payload = g_byte_array_new();

	g_byte_array_append(payload, fixed, (guint)fixed_length);
	if (text)
		g_byte_array_append(payload, (const guint8 *)text, (guint)strlen(text));
	put_frame(t->stream, type, t->sequence++, payload->data, payload->len);
}

static void say_event(talk *t, guint32 number, guint64 ns, guint8 how, const char *path)
{
	guint8 fixed[26] = {0};

	tr_put32(fixed, number);
	tr_put64(fixed + 4, ns);
	fixed[12] = 'f';
	fixed[13] = how;
	tr_put32(fixed + 14, 31); /* mount id */
	say(t, 'E', fixed, sizeof fixed, path);
}

static talk conversation(void)
{
	talk t = {g_byte_array_new(), 0};
	guint8 hello[8] = {TR_PROTOCOL_VERSION}, backing[8] = {7}, root[16] = {0}, end[20] = {0};
	guint8 more[5] = {0}, below[16] = {7, [8] = 11};

	say(&t, 'H', hello, sizeof hello, "6.1.0-test");
	say(&t, 'M', NULL, 0, "25 1 11:0 / /run/live/medium ro - iso9660 /dev/sr0 ro");
	/* Without its mount point, which was detached: the device below it tells what it is of. */
	say(&t, 'B', backing, sizeof backing, "/live/filesystem.squashfs");
	say(&t, 'V', below, sizeof below, NULL);
	say(&t, 'M', NULL, 0, "31 1 7:0 / /run/live/rootfs ro - squashfs /dev/loop0 ro");
	say_event(&t, 0, 1500000000, TR_HOW_OPEN, "/run/live/rootfs/usr/bin/sh");
	say_event(&t, 1, 1000000000, TR_HOW_OPEN | TR_HOW_READ, "/run/live/rootfs/bin/dash");
	say_event(&t, 2, 2000000000, TR_HOW_READ, "/run/live/rootfs/etc/none");
	tr_put64(root, 2500000000);
	say(&t, 'R', root, sizeof root, NULL);
	tr_put32(more, 0);
	more[4] = TR_HOW_EXEC;
	say(&t, 'U', more, sizeof more, NULL);
	tr_put64(end, 3000000000);
	tr_put32(end + 8, 3);
	tr_put32(end + 16, 17);
	say(&t, 'Z', end, sizeof end, NULL);
	return t;
}

static const img_tree *dash_image(fixture *fx)
{
	fx_file(fx, "usr/bin/dash", 5000);
	fx_file(fx, "etc/hosts", 10);
	fx_symlink(fx, "usr/bin/sh", "dash");
	fx_symlink(fx, "bin", "usr/bin");
	return fx_image(fx, "");
}

static void test_conversation(void)
{
	g_auto(fixture) fx;
	fx_init(&fx);
	const img_layer layer = {.name = "/live/filesystem.squashfs", .tree = dash_image(&fx)};
	talk t = conversation();
	g_autoptr(tr_guest) guest = tr_guest_new(&layer, 1);

	tr_guest_push(guest, t.stream->data, t.stream->len);
	g_assert_true(guest->heard);
	g_assert_cmpstr(guest->release, ==, "6.1.0-test");
	g_assert_cmpfloat(guest->root_time, ==, 2.5);
	g_assert_cmpfloat(guest->now, ==, 3.0);
	g_assert_true(guest->ended);
	g_assert_cmpuint(guest->events_raw, ==, 17);
	g_assert_cmpuint(guest->malformed, ==, 0);
	g_assert_cmpuint(tr_events_get_counts(guest->events)->unmatched, ==, 1);
	g_autoptr(GPtrArray) events = tr_events_steal(guest->events);
	g_assert_cmpuint(events->len, ==, 2);
	const tr_event *link = g_ptr_array_index(events, 0), *dash = g_ptr_array_index(events, 1);
	/* No guest reports an open symlink; but if one does, it is one. */
	g_assert_cmpint(link->kind, ==, TR_SYMLINK);
	g_assert_cmpint(link->how, ==, TR_EXEC);
	g_assert_cmpstr(dash->path, ==, "usr/bin/dash");
	g_assert_cmpint(dash->how, ==, TR_READ);
	g_assert_cmpfloat(dash->time, ==, 1.5); /* never before the one before */
	g_byte_array_unref(t.stream);
}

static void push_damaged(const img_layer *layer, const GByteArray *stream, guint64 *state)
{
	g_autoptr(tr_guest) guest = tr_guest_new(layer, 1);
	g_autofree guint8 *copy = g_memdup2(stream->data, stream->len);

	for (guint hits = 1 + ro_random_next(state) % 4; hits > 0; hits--)
		copy[ro_random_next(state) % stream->len] = (guint8)ro_random_next(state);
	tr_guest_push(guest, copy, stream->len);
	g_assert_cmpuint(tr_events_count(guest->events), <=, 2);
}

/* Checksums that are right do not make a payload right: all frames, with any content. */
static void test_hostile_guest(void)
{
	g_auto(fixture) fx;
	fx_init(&fx);
	const img_layer layer = {.name = "/live/filesystem.squashfs", .tree = dash_image(&fx)};
	g_autoptr(tr_guest) guest = tr_guest_new(&layer, 1);
	talk t = conversation();
	guint64 state = 1;

	for (guint i = 0; i < 500; i++)
		push_damaged(&layer, t.stream, &state);
	for (guint i = 0; i < 20000; i++) {
		static const char types[] = "HMGBVKEURTLX";
		guint8 payload[64];
		gsize length = ro_random_next(&state) % sizeof payload;
		for (gsize k = 0; k < length; k++)
			payload[k] = (guint8)ro_random_next(&state);
		g_byte_array_set_size(t.stream, 0);
		put_frame(t.stream, (guint8)types[ro_random_next(&state) % (sizeof types - 1)], i,
			payload, length);
		tr_guest_push(guest, t.stream->data, t.stream->len);
	}
	g_assert_cmpuint(tr_frames_get_counts(guest->frames)->good, ==, 20000);
	g_assert_cmpuint(guest->malformed, >, 0);
	g_byte_array_unref(t.stream);
}

static void assert_named(const img_tree *tree, const char *path, const char *wanted)
{
	g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(tr_place));
	tr_place place = {.image = "/i", .path = (char *)path};
	const img_layer layer = {.name = "/i", .tree = tree};
	g_autoptr(tr_events) events = tr_events_new(&layer, 1);

	g_array_append_val(places, place);
	g_assert_true(tr_events_add(events, 0, 1, TR_HOW_OPEN, places));
	g_autoptr(GPtrArray) list = tr_events_steal(events);
	g_assert_cmpstr(((tr_event *)g_ptr_array_index(list, 0))->path, ==, wanted);
}

static void test_names(void)
{
	g_auto(fixture) fx;
	fx_init(&fx);
	fx_file(&fx, "usr/bin/b", 10);
	fx_link(&fx, "usr/bin/b", "usr/bin/a");
	fx_link(&fx, "usr/bin/b", "usr/bin/c");
	fx_symlink(&fx, "bin", "usr/bin");
	fx_file(&fx, "one", 10);
	const img_tree *tree = fx_image(&fx, "");

	assert_named(tree, "/usr/bin/c", "usr/bin/c"); /* the hard link that was used */
	assert_named(tree, "/usr/bin/b", "usr/bin/b");
	assert_named(tree, "/bin/c", "usr/bin/a"); /* not literal: any name of it */
	assert_named(tree, "/usr/bin/../bin/./c", "usr/bin/a");
	assert_named(tree, "//one", "one");
	assert_named(tree, "/usr/../bin", "bin");
	assert_named(tree, "/", "");
}

/* An event number beyond every bound takes no memory. */
static void test_event_numbers(void)
{
	g_auto(fixture) fx;
	fx_init(&fx);
	const img_layer layer = {.name = "/live/filesystem.squashfs", .tree = dash_image(&fx)};
	g_autoptr(tr_guest) guest = tr_guest_new(&layer, 1);
	talk t = conversation();

	tr_guest_push(guest, t.stream->data, t.stream->len / 2);
	g_byte_array_set_size(t.stream, 0);
	t.sequence = 100;
	say_event(&t, G_MAXUINT32, 1, TR_HOW_OPEN, "/run/live/rootfs/etc/hosts");
	tr_guest_push(guest, t.stream->data, t.stream->len);
	g_assert_cmpuint(tr_events_get_counts(guest->events)->refused, ==, 1);
	g_byte_array_unref(t.stream);
}

/* Computing is not being idle (--until idle). */
static void tick(tr_guest *guest, guint32 sequence, double now, double idle)
{
	talk t = {g_byte_array_new(), sequence};
	guint8 fixed[20] = {0};

	tr_put64(fixed, (guint64)(now * 1e9));
	tr_put64(fixed + 8, (guint64)(idle * 1e9));
	tr_put32(fixed + 16, 2);
	say(&t, 'T', fixed, sizeof fixed, NULL);
	tr_guest_push(guest, t.stream->data, t.stream->len);
	g_byte_array_unref(t.stream);
}

static void test_quiet_time(void)
{
	g_auto(fixture) fx;
	fx_init(&fx);
	const img_layer layer = {.name = "/x", .tree = dash_image(&fx)};
	g_autoptr(tr_guest) guest = tr_guest_new(&layer, 1);

	tick(guest, 0, 10, 20);
	tick(guest, 1, 11, 21); /* one processor of two computes */
	double before = guest->quiet;
	tick(guest, 2, 12, 22);
	g_assert_cmpfloat(guest->quiet, ==, before);
	tick(guest, 3, 13, 23.9);
	g_assert_cmpfloat_with_epsilon(guest->quiet, before + 1, 1e-6);
	tick(guest, 4, 5, 100); /* time does not go back */
	g_assert_cmpfloat(guest->now, ==, 13);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/frames/golden-bytes", test_golden);
	g_test_add_func("/frames/any-chunks", test_any_chunks);
	g_test_add_func("/frames/cut-at-every-byte", test_cut_at_every_byte);
	g_test_add_func("/frames/every-bit-flipped", test_every_bit_flipped);
	g_test_add_func("/frames/every-byte-dropped", test_every_byte_dropped);
	g_test_add_func("/frames/garbage-on-the-line", test_garbage);
	g_test_add_func("/frames/flood-without-an-end", test_flood_without_an_end);
	g_test_add_func("/frames/length-that-lies", test_length_that_lies);
	g_test_add_func("/frames/repeated-frame", test_repeated_frame);
	g_test_add_func("/frames/forged-sequence", test_forged_sequence);
	g_test_add_func("/frames/long-gap", test_long_gap);
	g_test_add_func("/frames/largest-frame", test_largest_frame);
	g_test_add_func("/guest/conversation", test_conversation);
	g_test_add_func("/guest/hostile", test_hostile_guest);
	g_test_add_func("/guest/event-number-beyond-the-limit", test_event_numbers);
	g_test_add_func("/events/names", test_names);
	g_test_add_func("/guest/quiet-time", test_quiet_time);
	return g_test_run();
}
