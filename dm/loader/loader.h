/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parts of the loader, which runs as root in a foreign system: libc only, one thread. Functions
 * that return an int return 0 or a negative errno.
 */
#ifndef HL_LOADER_H
#define HL_LOADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "dm/map_text.h"
#include "dm/table.h"

/* Descriptors of a proc, a sysfs and a devtmpfs of our own, which no path leads to. */
extern int hl_proc, hl_sys, hl_dev;

/* Opens a device by its number, wherever there is a node of it or not; -1: see errno. */
int hl_open_node(mode_t type, dev_t dev, int flags);

/* The number that a file in sysfs holds; FALSE if there is none. */
bool hl_sysfs_number(const char *path, uint64_t *number);

/* The MAJOR:MINOR that a file in sysfs holds. */
bool hl_sysfs_dev(const char *path, dev_t *dev);

/* --- medium.c: which device the medium is --- */

struct hl_medium {
	char name[64];   /* below /dev */
	dev_t dev;       /* the whole disc, or a partition of it that holds the volume */
	int fd;          /* not exclusive */
	uint64_t size;   /* bytes of the device */
	uint64_t origin; /* where the device starts on the disc */
	uint32_t block;  /* its logical block size */
	bool exact;      /* FALSE: another volume than that of the map */
};

/* Listens for new devices from here on. */
void hl_medium_listen(void);

/*
 * Waits for the volume, until the deadline at the latest (times as of ro_guest_now). Where it does
 * not come, another one has to do, since the framework looks at nothing else: after a short while
 * one of the same name, after the time to settle any. FALSE if there was none. An optical disc is
 * claimed already, if that was possible.
 */
bool hl_medium_wait(const struct dmx_medium_id *id, uint64_t settle, uint64_t deadline,
	struct hl_medium *medium);

/* --- device.c: the device-mapper device --- */

/* Creates it if need be, and loads a table, which is not in use before it is resumed, but keeps
 * everybody else from mounting what it leads to. */
int hl_device_load(
	const struct dmx_segment *segments, size_t count, const char *ram, const char *medium);

/* Loads the table that leads to nothing but the medium. */
int hl_device_load_plain(const struct hl_medium *medium);

/* Puts the loaded table into use. */
int hl_device_resume(void);

/* Takes back what was loaded and never resumed. */
void hl_device_unload(void);
void hl_device_remove(void);

/* --- loop.c: the loop device over the store --- */

/* A read-only one; *dev is its number. */
int hl_loop_attach(int store, dev_t *dev);
void hl_loop_detach(void);

#endif
