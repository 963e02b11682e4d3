/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the guest agent says on the second serial line; shared by the agent and the host.
 *
 * A frame stands between two END bytes and is escaped as in SLIP (RFC 1055), so that a reader finds
 * the next one after any garbage. Unescaped it is, little-endian:
 *
 *   type u8, sequence u32, length u16, payload (length bytes), CRC-32 u32 of all before it
 *
 * The sequence counts all frames from 0: a gap is a lost frame. The host talks back in plain text
 * (TR_HOST_END).
 */
#ifndef TR_AGENT_PROTOCOL_H
#define TR_AGENT_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

enum {
	TR_PROTOCOL_VERSION = 2,

	TR_SLIP_END = 0xc0,
	TR_SLIP_ESC = 0xdb,
	TR_SLIP_ESC_END = 0xdc,
	TR_SLIP_ESC_ESC = 0xdd,

	TR_FRAME_HEADER = 7,
	TR_FRAME_TRAILER = 4,
	TR_PAYLOAD_MAX = 8192,
	TR_PATH_MAX = 4096, /* longer paths are not reported */
	TR_FRAME_MAX = TR_FRAME_HEADER + TR_PAYLOAD_MAX + TR_FRAME_TRAILER,
};

/* Types, and what their payload is. */
enum {
	/* version u32, errno of fanotify_init u32 (0: it works), kernel release */
	TR_FRAME_HELLO = 'H',
	/* A mount that is new or has changed: its line of /proc/self/mountinfo, as it is. */
	TR_FRAME_MOUNT = 'M',
	/* A mount that is no more: its id u32. */
	TR_FRAME_GONE = 'G',
	/* The file behind a loop device, before the first mount of it or of what is on it: major
	   u32, minor u32, path; out of a mount that is detached it counts from the root of that */
	TR_FRAME_BACKING = 'B',
	/* What is below a device, as above: major u32, minor u32, then of each device below it
	   major u32, minor u32. Of a loop device this is the filesystem that holds the file. */
	TR_FRAME_BELOW = 'V',
	/* Events of this filesystem are reported from now on: major u32, minor u32, errno u32 (0:
	   they are), how TR_MARK_* u8, time u64 */
	TR_FRAME_MARKED = 'K',
	/* number u32 (from 0), time u64 ns, kind u8 ('f', 'd'), how u8 (TR_HOW_*), mount id u32,
	   major u32, minor u32, path */
	TR_FRAME_EVENT = 'E',
	/* More was done to the object of an earlier event: number u32, how u8 */
	TR_FRAME_MORE = 'U',
	/* Process 1 has another root: time u64 ns, major u32, minor u32 of it */
	TR_FRAME_ROOT = 'R',
	/* About twice a second: time u64 ns, idle time of all processors so far u64 ns, processors
	   u32 */
	TR_FRAME_TICK = 'T',
	/* The queue overflowed: times so far u32 */
	TR_FRAME_LOST = 'L',
	/* When the kernel began and ended to unpack the initramfs: u64 ns, u64 ns; 0: it does not
	   say */
	TR_FRAME_UNPACKED = 'X',
	/* The fixed work of trace/agent/calibrate.c was done once more: what it took u64 ns, its
	   result u32 */
	TR_FRAME_CALIBRATED = 'C',
	/* Access times of this filesystem are kept strictly from now on: major u32, minor u32,
	   errno u32 (0: they are), time u64 */
	TR_FRAME_STRICT = 'S',
	/* At the end, in any order: the last access by the access time u64 ns, kind u8 ('f', 'd',
	   'l'), mount id u32, major u32, minor u32, path */
	TR_FRAME_ATIME = 'A',
	/* The last one: time u64 ns, events u32, overflows u32, raw events read u32 */
	TR_FRAME_END = 'Z',
};

enum { TR_HOW_OPEN = 1, TR_HOW_EXEC = 2, TR_HOW_READ = 4 };

enum { TR_MARK_SUPERBLOCK = 's', TR_MARK_MOUNT = 'm' };

/* From the host: end now. */
#define TR_HOST_END "\nreorder-end\n"

/* Where the agent lies in the initramfs. */
#define TR_AGENT_DIR "reorder-agent"
#define TR_AGENT_PATH TR_AGENT_DIR "/init"
/* Where this is there, too, there is no host: rules for the end, "idle SECONDS" and "time SECONDS",
 * a line each. */
#define TR_AGENT_ALONE TR_AGENT_DIR "/alone"
/* The partition or filesystem that takes the frames then: what fits into the 11 bytes of a FAT. */
#define TR_STICK_LABEL "REORDER-LOG"
/* Where this is there, too, the agent measures the processor and ends. */
#define TR_AGENT_CALIBRATE TR_AGENT_DIR "/calibrate"

/* Where this is there, it has access times kept and reports them at the end. */
#define TR_AGENT_ATIME TR_AGENT_DIR "/atime"

/* CRC-32 as in zlib; start with 0. Sixteen entries, since the agent has to be small. */
static inline uint32_t tr_crc32(uint32_t crc, const void *data, size_t size)
{
	static const uint32_t table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
		0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8,
		0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
	const uint8_t *byte = data;

	crc = ~crc;
	while (size--) {
		crc ^= *byte++;
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return ~crc;
}

static inline void tr_put16(uint8_t *to, uint32_t value)
{
	to[0] = (uint8_t)value;
	to[1] = (uint8_t)(value >> 8);
}

static inline void tr_put32(uint8_t *to, uint32_t value)
{
	tr_put16(to, value);
	tr_put16(to + 2, value >> 16);
}

static inline void tr_put64(uint8_t *to, uint64_t value)
{
	tr_put32(to, (uint32_t)value);
	tr_put32(to + 4, (uint32_t)(value >> 32));
}

static inline uint16_t tr_get16(const uint8_t *from)
{
	return (uint16_t)(from[0] | from[1] << 8);
}

static inline uint32_t tr_get32(const uint8_t *from)
{
	return tr_get16(from) | (uint32_t)tr_get16(from + 2) << 16;
}

static inline uint64_t tr_get64(const uint8_t *from)
{
	return tr_get32(from) | (uint64_t)tr_get32(from + 4) << 32;
}

#endif
