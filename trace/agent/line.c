/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <termios.h>
#include <unistd.h>

#include "trace/agent/protocol.h"

enum {
	QUEUE_LIMIT = 32 << 20, /* bytes; from there on the agent waits for the line, or drops */
	SERIAL_MAJOR = 4,
	FIRST_LINE = 64, /* ttyS0 (Linux: Documentation/admin-guide/devices.txt) */
};

static int line = -1, node = -1;
static uint8_t *queue;
static size_t queued, queue_room;
static uint32_t sequence;

static void set_raw(int fd)
{
	struct termios mode;

	if (tcgetattr(fd, &mode) < 0)
		return;
	cfmakeraw(&mode);
	mode.c_cflag |= CLOCAL | CREAD;
	mode.c_cflag &= ~(tcflag_t)(CRTSCTS | HUPCL);
	cfsetspeed(&mode, B115200);
	tcsetattr(fd, TCSANOW, &mode);
	ioctl(fd, TIOCEXCL);
}

/* The node is gone or unreachable later; its descriptor still leads to the device. */
static bool reopen(void)
{
	char path[32];

	if (line >= 0)
		close(line);
	snprintf(path, sizeof path, "self/fd/%d", node);
	line = openat(ag_proc, path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (line >= 0)
		set_raw(line);
	return line >= 0;
}

bool ag_line_open(int number)
{
	static const char path[] = "/" TR_AGENT_DIR "/line";

	if (mknod(path, S_IFCHR | 0600, makedev(SERIAL_MAJOR, (unsigned)(FIRST_LINE + number))) < 0)
		return false;
	node = open(path, O_PATH | O_CLOEXEC);
	unlink(path);
	return node >= 0 && reopen();
}

int ag_line_fd(void)
{
	return line;
}

bool ag_line_pending(void)
{
	return queued > 0;
}

static bool reserve(size_t more)
{
	if (queued + more <= queue_room)
		return true;
	size_t room = queue_room ? 2 * queue_room : 1 << 16;
	while (room < queued + more)
		room *= 2;
	uint8_t *grown = realloc(queue, room);
	if (!grown)
		return false;
	queue = grown;
	queue_room = room;
	return true;
}

static void put_escaped(const void *data, size_t length)
{
	const uint8_t *byte = data;

	for (size_t i = 0; i < length; i++) {
		if (byte[i] == TR_SLIP_END || byte[i] == TR_SLIP_ESC) {
			queue[queued++] = TR_SLIP_ESC;
			queue[queued++] =
				byte[i] == TR_SLIP_END ? TR_SLIP_ESC_END : TR_SLIP_ESC_ESC;
		} else {
			queue[queued++] = byte[i];
		}
	}
}

void ag_line_frame(
	uint8_t type, const void *fixed, size_t fixed_length, const void *text, size_t text_length)
{
	uint8_t header[TR_FRAME_HEADER], trailer[TR_FRAME_TRAILER];
	size_t length = fixed_length + text_length;

	if (length > TR_PAYLOAD_MAX) {
		text_length = TR_PAYLOAD_MAX - fixed_length;
		length = TR_PAYLOAD_MAX;
	}
	header[0] = type;
	tr_put32(header + 1, sequence++);
	tr_put16(header + 5, (uint32_t)length);
	uint32_t crc = tr_crc32(0, header, sizeof header);
	crc = tr_crc32(crc, fixed, fixed_length);
	tr_put32(trailer, tr_crc32(crc, text, text_length));

	if ((line < 0 && queued > QUEUE_LIMIT) ||
		!reserve(2 * (sizeof header + length + sizeof trailer) + 2))
		return; /* the gap in the sequence tells */
	queue[queued++] = TR_SLIP_END;
	put_escaped(header, sizeof header);
	put_escaped(fixed, fixed_length);
	put_escaped(text, text_length);
	put_escaped(trailer, sizeof trailer);
	queue[queued++] = TR_SLIP_END;
	if (line >= 0 && queued > QUEUE_LIMIT)
		ag_line_drain();
}

void ag_line_pump(void)
{
	size_t done = 0;
	bool reopened = false;

	if (line < 0)
		return;
	while (done < queued) {
		ssize_t n = write(line, queue + done, queued - done);
		if (n > 0)
			done += (size_t)n;
		else if (n < 0 && errno == EINTR)
			continue;
		else if (n < 0 && errno == EIO && !reopened && reopen())
			reopened = true; /* somebody had hung the line up */
		else
			break;
	}
	memmove(queue, queue + done, queued - done);
	queued -= done;
}

bool ag_line_end_asked(void)
{
	static const char wanted[] = TR_HOST_END;
	static size_t matched;
	char bytes[64];
	ssize_t n;

	while ((n = read(line, bytes, sizeof bytes)) > 0)
		for (ssize_t i = 0; i < n; i++) {
			if (bytes[i] != wanted[matched])
				matched = bytes[i] == wanted[0] ? 1 : 0;
			else if (!wanted[++matched])
				return true;
		}
	return false;
}

void ag_line_drain(void)
{
	struct pollfd wait = {.fd = line, .events = POLLOUT};

	while (queued > 0) {
		ag_line_pump();
		wait.fd = line;
		if (queued > 0)
			poll(&wait, 1, 1000);
	}
	tcdrain(line);
}

bool ag_line_save(int fd)
{
	size_t done = 0;

	while (done < queued) {
		ssize_t n = write(fd, queue + done, queued - done);
		if (n < 0 && errno != EINTR)
			return false;
		done += n > 0 ? (size_t)n : 0;
	}
	return true;
}
