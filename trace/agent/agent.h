/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of the guest agent. It runs as root in a foreign system: libc only, one thread. */
#ifndef TR_AGENT_H
#define TR_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Descriptors of a proc, a sysfs and a devtmpfs of our own, which no path leads to. The last is -1
 * where the kernel has none. */
extern int ag_proc, ag_sys, ag_dev;

/* Whether access times are to be kept and reported. */
extern bool ag_atime;

/* To be called in long work: tells the time, and writes what the line takes. */
void ag_tick(void);

/* A line in the kernel log that "quiet" does not hide. */
void ag_complain(const char *what); /* with the text of errno */
void ag_say(const char *text);

/* --- line.c: the serial line --- */

/* ttySNUMBER; FALSE if there is none. Without this frames are queued only. */
bool ag_line_open(int number);
int ag_line_fd(void); /* -1 without one */
bool ag_line_pending(void);

/* Queues a frame of two parts; either may be empty. */
void ag_line_frame(
	uint8_t type, const void *fixed, size_t fixed_length, const void *text, size_t text_length);

/* Writes what the line takes without waiting. */
void ag_line_pump(void);

/* TRUE once the host has asked for the end. */
bool ag_line_end_asked(void);

/* Waits until all has left the machine. */
void ag_line_drain(void);

/* Writes what is queued, which stays, to a file; FALSE: see errno. */
bool ag_line_save(int fd);

/* --- alone.c: without a host --- */

/* Takes the rules that lie beside the agent, before all else; FALSE if there are none: there is a
 * host. */
bool ag_alone_begin(void);
bool ag_alone(void);

/* Where the frames go; FALSE if that cannot be. */
bool ag_alone_open(void);

/* An object was first accessed, or (root) process 1 got another root. */
void ag_alone_news(bool root);
/* As TR_FRAME_TICK. */
void ag_alone_tick(uint64_t now, uint64_t idle, uint32_t processors);
bool ag_alone_over(void);

/* Gets the frames out of the machine, however long it takes. */
void ag_alone_finish(void);

/* --- stick.c: a partition for the frames --- */

/* Waits for it to be there. */
void ag_stick_save(void);

/* --- calibrate.c: how fast the processor is --- */

/* Does the fixed work and reports its time. */
void ag_calibrate(void);

/* --- kernel_log.c: what the kernel says of its own boot --- */

/* Reports when it unpacked the initramfs. */
void ag_kernel_log_tell(void);

/* --- atime.c: access times --- */

/* Has every access be noted in the mount that the descriptor leads to. FALSE if it is read-only, or
 * for *reason, an errno. */
bool ag_atime_keep(int fd, int *reason);

/* Reports every file, directory and link of the filesystem at point, whose path is path, that was
 * accessed since the kernel started. */
void ag_atime_sweep(int point, const char *path, uint32_t id);

/* --- seen.c: what was reported --- */

struct ag_seen {
	uint64_t dev, ino;
	uint32_t number;
	uint8_t how;     /* TR_HOW_*; 0: new */
	uint8_t repeats; /* events that told nothing new */
};

/* The entry of an object, new if there was none; NULL without memory. Valid until the next call. */
struct ag_seen *ag_seen_get(uint64_t dev, uint64_t ino);

/* --- devices.c: what block devices are made of --- */

/* Reports the file behind a loop device, the slaves of another, and what is below these. */
void ag_devices_tell(uint32_t major, uint32_t minor);

/* --- mounts.c: the mount table --- */

/* Reads it, reports what changed, marks what is new. */
void ag_mounts_scan(int fan);

/* Sweeps all filesystems whose access times are kept. */
void ag_mounts_sweep(void);

/* TRUE, once, if the table changed since it was last read. */
bool ag_mounts_changed(void);
int ag_mounts_fd(void);
bool ag_mounts_open(void);

/* A descriptor's mount id, 0 if unknown. */
uint32_t ag_mount_id(int fd);

/* Makes sure that the host knows the mount, which may be of the mount namespace of pid. */
void ag_mounts_tell(uint32_t id, pid_t pid);

/* Tells mounts of one device apart that were there one after the other. */
uint32_t ag_mounts_generation(uint32_t major, uint32_t minor);

#endif
