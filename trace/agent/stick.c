/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The partition that the frames are left on: one with the name TR_STICK_LABEL, as a partition (GPT)
 * or a filesystem, that holds a FAT or an ext2, 3 or 4. A FAT's name that counts is the one in its
 * root directory, not the copy in its boot sector, which Windows leaves alone. Fields: Microsoft's
 * FAT specification 1.03, sections 3 and 6; Linux: Documentation/filesystems/ext4/super.rst.
 */
#include "trace/agent/agent.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "reorder/guest/guest.h"
#include "trace/agent/protocol.h"

enum {
	FILES_MAX = 999,
	HEAD = 2048, /* bytes of a filesystem, and of a FAT's root, that are looked at */
	EXT_AT = 1024,
	EXT_MAGIC_AT = 56,
	EXT_LABEL_AT = 120,
	FAT_ENTRY = 32,
	FAT_NAME = 11, /* bytes, then the attributes */
	FAT_IS_LABEL = 8,
	FAT_KIND_MASK = 0x3f,
};

/* Every root has this directory, and it is a mount, whose copy of ours nobody else sees. */
static const char point[] = "/proc";

/* Devices that are never it and may take long to answer, or are somebody's. */
static const char *const others[] = {"loop", "ram", "zram", "sr", "fd", "dm-", NULL};

/* The label at a place, which blanks or NULs fill up. */
static bool is_label(const uint8_t *at, size_t size)
{
	size_t length = strlen(TR_STICK_LABEL);

	if (size < length || memcmp(at, TR_STICK_LABEL, length) != 0)
		return false;
	return size == length || at[length] == ' ' || at[length] == '\0';
}

static bool is_fat(const uint8_t *head)
{
	return head[510] == 0x55 && head[511] == 0xaa &&
	       (!memcmp(head + 54, "FAT", 3) || !memcmp(head + 82, "FAT32", 5));
}

/* Where the root directory begins, in bytes. */
static off_t fat_root(const uint8_t *head)
{
	off_t sector = tr_get16(head + 11), tables = head[16];
	off_t size = tr_get16(head + 22), at = tr_get16(head + 14);

	if (size > 0)
		return (at + tables * size) * sector;
	at += tables *
	      (off_t)tr_get32(head + 36); /* FAT32: it is in clusters, from the second on */
	return (at + ((off_t)tr_get32(head + 44) - 2) * head[13]) * sector;
}

static bool fat_is_named(int fd, const uint8_t *head)
{
	uint8_t root[HEAD];

	if (pread(fd, root, sizeof root, fat_root(head)) != sizeof root)
		return false;
	for (const uint8_t *at = root; at < root + sizeof root && *at; at += FAT_ENTRY)
		if ((at[FAT_NAME] & FAT_KIND_MASK) == FAT_IS_LABEL)
			return is_label(at, FAT_NAME);
	return false;
}

/* The filesystem's type, or NULL; *named if it has the name. */
static const char *look(int fd, bool *named)
{
	uint8_t head[HEAD];

	if (pread(fd, head, sizeof head, 0) != sizeof head)
		return NULL;
	if (tr_get16(head + EXT_AT + EXT_MAGIC_AT) == 0xef53) {
		*named = is_label(head + EXT_AT + EXT_LABEL_AT, 16);
		return "ext4";
	}
	if (!is_fat(head))
		return NULL;
	*named = fat_is_named(fd, head);
	return "vfat";
}

static bool is_named_partition(const char *name)
{
	static char *text;
	static size_t room;
	char path[300];

	snprintf(path, sizeof path, "class/block/%s/uevent", name);
	return ro_guest_read_file(ag_sys, path, &text, &room) > 0 &&
	       strstr(text, "PARTNAME=" TR_STICK_LABEL "\n");
}

/* The type of the filesystem that the frames go to, or NULL. */
static const char *examine(const char *name)
{
	bool named = false;

	for (const char *const *other = others; *other; other++)
		if (!strncmp(name, *other, strlen(*other)))
			return NULL;
	int fd = openat(ag_dev, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	const char *type = look(fd, &named);
	close(fd);
	return named || is_named_partition(name) ? type : NULL;
}

/* Writes its name; NULL if there is none. */
static const char *find(char *name, size_t size)
{
	const char *type = NULL;
	int fd = openat(ag_sys, "class/block", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (directory && !type && (entry = readdir(directory))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, size, "%s", entry->d_name);
		type = examine(name);
	}
	if (directory)
		closedir(directory);
	return type;
}

/* Never over a trace that is there. */
static int create(char *path, size_t size)
{
	int fd = -1;

	for (int i = 1; fd < 0 && i <= FILES_MAX; i++) {
		snprintf(path, size, "%s/reorder-%03d.frames", point, i);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd;
}

static bool write_frames(void)
{
	char path[64];
	int fd = create(path, sizeof path);

	if (fd < 0)
		return false;
	bool ok = ag_line_save(fd) && fsync(fd) == 0;
	int reason = errno;
	if (close(fd) < 0 && ok) {
		ok = false;
		reason = errno;
	}
	if (!ok)
		unlink(path);
	errno = reason;
	return ok;
}

/* In a mount namespace of our own, so that nothing in the system sees it. */
static bool save_to(const char *name, const char *type)
{
	if (fchdir(ag_dev) < 0 ||
		mount(name, point, type, MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		return false;
	bool ok = write_frames();
	int reason = errno;
	if (umount2(point, 0) < 0 && ok) {
		ok = false;
		reason = errno;
	}
	sync();
	errno = reason;
	return ok;
}

void ag_stick_save(void)
{
	char name[256], told[256] = "";
	bool waiting = false;

	if (unshare(CLONE_NEWNS) == 0)
		mount(NULL, point, NULL, MS_PRIVATE, NULL);
	for (;; sleep(1)) {
		const char *type = find(name, sizeof name);
		if (type && save_to(name, type))
			return;
		if (type && strcmp(name, told) != 0) {
			ag_complain(name);
			snprintf(told, sizeof told, "%s", name);
		}
		if (!type && !waiting)
			ag_say("the boot is over; waiting for a partition named " TR_STICK_LABEL
			       " (FAT or ext4)");
		waiting |= !type;
	}
}
