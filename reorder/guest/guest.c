/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/guest/guest.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

uint64_t ro_guest_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

ssize_t ro_guest_read_file(int dir, const char *path, char **buffer, size_t *room)
{
	size_t length = 0;
	ssize_t n = 0;
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	do {
		length += (size_t)n;
		if (*room - length < 2) {
			size_t bigger = *room ? 2 * *room : 4096;
			char *grown = realloc(*buffer, bigger);
			if (!grown)
				break;
			*buffer = grown;
			*room = bigger;
		}
		n = read(fd, *buffer + length, *room - length - 1);
	} while (n > 0);
	close(fd);
	if (*room)
		(*buffer)[length] = '\0';
	return *room ? (ssize_t)length : -1;
}

int ro_guest_hidden_mount(
	const char *point, const char *type, unsigned long flags, const char *options)
{
	int fd = -1;

	mkdir(point, 0700);
	if (mount(type, point, type, flags, options) == 0) {
		fd = open(point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		umount2(point, MNT_DETACH);
	}
	rmdir(point);
	return fd;
}

int ro_guest_open_kernel_log(int flags)
{
	static const char path[] = "/.reorder-kernel-log";

	mknod(path, S_IFCHR | 0600, makedev(1, 11));
	int fd = open(path, flags | O_CLOEXEC);
	unlink(path);
	return fd;
}

/* A leading '@' is how systemd knows those that have to survive the change of the root (systemd:
 * docs/ROOT_STORAGE_DAEMONS.md). */
void ro_guest_survive(char *argv0, int proc, const char *name)
{
	argv0[0] = '@';
	for (int number = 1; number < 32; number++)
		signal(number, SIG_IGN);
	setsid();
	prctl(PR_SET_NAME, name);
	setpriority(PRIO_PROCESS, 0, -20);
	int fd = openat(proc, "self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		(void)!write(fd, "-1000", 5);
		close(fd);
	}
	(void)!chdir("/");
}

const char *ro_guest_real_init(char *cmdline, const char *own)
{
	const char *init = "/init";

	for (char *word = strtok(cmdline, " \n"); word && strcmp(word, "--");
		word = strtok(NULL, " \n")) {
		if (strncmp(word, "rdinit=", 7) != 0)
			continue;
		if (!strcmp(word + 7, own))
			break;
		init = word + 7;
	}
	return init;
}
