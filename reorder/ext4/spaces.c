/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/ext4/spaces.h"

static void add_space(GArray *spaces, guint32 start, guint32 end)
{
	ro_ext4_space space = {start, end};

	if (start < end)
		g_array_append_val(spaces, space);
}

static GArray *find_spaces(const guint8 *fixed, guint32 first, guint32 blocks)
{
	GArray *spaces = g_array_new(FALSE, FALSE, sizeof(ro_ext4_space));
	guint32 start = first;

	for (guint32 block = first; block < blocks; block++)
		if (fixed[block]) {
			add_space(spaces, start, block);
			start = block + 1;
		}
	add_space(spaces, start, blocks);
	return spaces;
}

ro_ext4_spaces *ro_ext4_spaces_new(const guint8 *fixed, guint32 first, guint32 blocks)
{
	ro_ext4_spaces *s = g_new0(ro_ext4_spaces, 1);

	s->spaces = find_spaces(fixed, first, blocks);
	for (s->width = 1; s->width < s->spaces->len; s->width *= 2)
		;
	s->most = g_new0(guint32, (gsize)s->width * 2);
	for (guint i = 0; i < s->spaces->len; i++)
		s->most[s->width + i] = ro_ext4_spaces_left(s, i);
	for (guint n = s->width - 1; n > 0; n--)
		s->most[n] = MAX(s->most[2 * n], s->most[2 * n + 1]);
	return s;
}

void ro_ext4_spaces_free(ro_ext4_spaces *spaces)
{
	if (!spaces)
		return;
	g_array_unref(spaces->spaces);
	g_free(spaces->most);
	g_free(spaces);
}

guint32 ro_ext4_spaces_left(const ro_ext4_spaces *spaces, guint index)
{
	const ro_ext4_space *space = &g_array_index(spaces->spaces, ro_ext4_space, index);

	return space->end - space->next;
}

guint ro_ext4_spaces_find(const ro_ext4_spaces *spaces, guint from, guint32 blocks)
{
	guint n = spaces->width + from;

	if (from >= spaces->spaces->len)
		return RO_EXT4_NO_SPACE;
	/* Up to a subtree that begins at from or later and has room. */
	while (spaces->most[n] < blocks) {
		while (n & 1 && n > 1)
			n /= 2;
		if (n <= 1)
			return RO_EXT4_NO_SPACE;
		n++;
	}
	/* Down to the first leaf in it. */
	while (n < spaces->width)
		n = spaces->most[2 * n] >= blocks ? 2 * n : 2 * n + 1;
	return n - spaces->width;
}

guint32 ro_ext4_spaces_take(ro_ext4_spaces *spaces, guint index, guint32 blocks)
{
	ro_ext4_space *space = &g_array_index(spaces->spaces, ro_ext4_space, index);
	guint32 first = space->next;

	g_assert(blocks <= space->end - space->next);
	space->next += blocks;
	spaces->most[spaces->width + index] -= blocks;
	for (guint n = (spaces->width + index) / 2; n > 0; n /= 2)
		spaces->most[n] = MAX(spaces->most[2 * n], spaces->most[2 * n + 1]);
	return first;
}
