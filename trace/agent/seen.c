/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/agent/agent.h"

#include <stdlib.h>

static struct ag_seen *table;
static size_t room, used; /* room is a power of two; an entry with inode number 0 is free */

static size_t slot_of(const struct ag_seen *in, size_t size, uint64_t dev, uint64_t ino)
{
	uint64_t hash = (ino + dev * 0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd;
	size_t slot = (size_t)(hash ^ hash >> 32) & (size - 1);

	while (in[slot].ino && (in[slot].ino != ino || in[slot].dev != dev))
		slot = (slot + 1) & (size - 1);
	return slot;
}

static bool grow(void)
{
	size_t bigger = room ? 2 * room : 1 << 14;
	struct ag_seen *next = calloc(bigger, sizeof *next);

	if (!next)
		return false;
	for (size_t i = 0; i < room; i++)
		if (table[i].ino)
			next[slot_of(next, bigger, table[i].dev, table[i].ino)] = table[i];
	free(table);
	table = next;
	room = bigger;
	return true;
}

struct ag_seen *ag_seen_get(uint64_t dev, uint64_t ino)
{
	if (!ino || (2 * used >= room && !grow()))
		return NULL;
	struct ag_seen *entry = &table[slot_of(table, room, dev, ino)];
	if (!entry->ino) {
		*entry = (struct ag_seen){.dev = dev, .ino = ino};
		used++;
	}
	return entry;
}
