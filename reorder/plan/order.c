/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/plan/order.h"

static const char *const order_names[] = {
	[RO_ORDER_ACCESS] = "access",
	[RO_ORDER_SIZE] = "size",
	[RO_ORDER_PATH] = "path",
	[RO_ORDER_RANDOM] = "random",
};

const char *ro_order_name(ro_order order)
{
	return order_names[order];
}

const char *ro_layout_name(ro_layout layout)
{
	return layout == RO_LAYOUT_END ? "end" : "front";
}

guint64 ro_random_next(guint64 *state)
{
	guint64 z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

guint64 ro_random_below(guint64 *state, guint64 bound)
{
	guint64 limit = G_MAXUINT64 - G_MAXUINT64 % bound;
	guint64 value;

	do
		value = ro_random_next(state);
	while (value >= limit);
	return value % bound;
}

static int by_access(gconstpointer a, gconstpointer b)
{
	const ro_order_key *x = a, *y = b;

	return (x->access > y->access) - (x->access < y->access);
}

static int by_size(gconstpointer a, gconstpointer b)
{
	const ro_order_key *x = a, *y = b;

	if (x->size != y->size)
		return x->size > y->size ? 1 : -1;
	return by_access(a, b);
}

static int by_position(gconstpointer a, gconstpointer b)
{
	const ro_order_key *x = a, *y = b;

	return (x->position > y->position) - (x->position < y->position);
}

static void swap(GArray *items, guint i, guint j)
{
	guint size = g_array_get_element_size(items);
	guint8 *a = (guint8 *)items->data + (gsize)i * size;
	guint8 *b = (guint8 *)items->data + (gsize)j * size;

	for (guint k = 0; k < size; k++) {
		guint8 byte = a[k];

		a[k] = b[k];
		b[k] = byte;
	}
}

/* Fisher and Yates. */
static void shuffle(GArray *items, guint64 seed)
{
	for (guint i = items->len; i > 1; i--)
		swap(items, i - 1, ro_random_below(&seed, i));
}

void ro_order_sort(GArray *items, ro_order order, guint64 seed)
{
	static const GCompareFunc compare[] = {
		[RO_ORDER_ACCESS] = by_access,
		[RO_ORDER_SIZE] = by_size,
		[RO_ORDER_PATH] = by_position,
		[RO_ORDER_RANDOM] = by_position,
	};

	g_array_sort(items, compare[order]);
	if (order == RO_ORDER_RANDOM)
		shuffle(items, seed);
}

/* What is left of a directory: entries from next on. */
typedef struct {
	guint32 next, end;
} walk_level;

static void enter(const img_tree *tree, GArray *levels, guint32 directory)
{
	guint32 first, count;

	img_tree_children(tree, directory, &first, &count);
	g_array_append_val(levels, ((walk_level){first, first + count}));
}

guint32 *ro_order_walk(const img_tree *tree)
{
	guint32 *positions = g_new0(guint32, img_tree_entry_count(tree));
	g_autoptr(GArray) levels = g_array_new(FALSE, FALSE, sizeof(walk_level));
	guint32 position = 0;

	enter(tree, levels, 0);
	while (levels->len) {
		walk_level *level = &g_array_index(levels, walk_level, levels->len - 1);
		guint32 entry, inode;

		if (level->next == level->end) {
			g_array_set_size(levels, levels->len - 1);
			continue;
		}
		entry = level->next++;
		positions[entry] = position++;
		inode = img_tree_entry(tree, entry)->inode;
		if (img_tree_inode(tree, inode)->type == IMG_DIR)
			enter(tree, levels, inode);
	}
	return positions;
}
