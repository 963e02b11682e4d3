/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A fixed piece of work whose time tells how fast the guest's processor is at what a boot mostly
 * does: programs start and end, pages are mapped and touched for the first time, files are opened,
 * data are unpacked. An emulator slows each of these down by another factor, most of all new pages
 * and new processes, so that a loop that only computes would make it look much faster than a boot
 * finds it. On iron some three fifths of the time are for computing, an eighth each for programs,
 * pages and files. TR_CALIBRATION_REFERENCE (trace/calibrate.h) goes with this work.
 */
#include "trace/agent/agent.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reorder/guest/guest.h"
#include "trace/agent/protocol.h"

enum {
	WINDOW = 1 << 18, /* bytes */
	TABLE = 1 << 16,  /* words */
	COPIES = 430000,
	LOOKUPS = 620000,
	CALLS = 460000,
	PROGRAMS = 50,
	MAPPINGS = 12,
	MAPPING = 1 << 20, /* bytes */
	PAGE = 4096,
	OPENS = 4000,
	REPEATS = 16, /* fewer see the rest of the kernel's start: a fifth more, and no two alike */
};

static uint8_t window[WINDOW];
static uint32_t table[TABLE];

static uint32_t next(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	return *state ^= *state << 5;
}

/* As an LZ unpacker: a literal, or a piece of what came before. */
static uint32_t unpack(uint32_t state)
{
	uint32_t at = 0, sum = 0;

	for (int i = 0; i < COPIES; i++) {
		uint32_t code = next(&state);
		uint32_t length = code & 1 ? 1 : 3 + (code >> 1 & 31);
		uint32_t from = at - 1 - (code >> 8) % (WINDOW / 2);
		if (length == 1)
			window[at++ % WINDOW] = (uint8_t)(code >> 24);
		else
			for (; length > 0; length--)
				window[at++ % WINDOW] = window[from++ % WINDOW];
		sum += window[(at - 1) % WINDOW];
	}
	return sum;
}

static uint32_t look_up(uint32_t state)
{
	uint32_t sum = 0;

	for (int i = 0; i < LOOKUPS; i++) {
		uint32_t *slot = &table[(state * 2654435761u) >> 16];
		if (*slot & 1)
			sum += *slot >> 3;
		*slot += state | 1;
		state += *slot ^ sum;
	}
	return sum;
}

static uint32_t rotate(uint32_t x)
{
	return x << 7 | x >> 25;
}
static uint32_t mix(uint32_t x)
{
	return x * 2246822519u ^ x >> 15;
}
static uint32_t count_bits(uint32_t x)
{
	uint32_t bits = 0;

	for (; x; x &= x - 1)
		bits++;
	return bits;
}
static uint32_t divide(uint32_t x)
{
	return x / ((x & 1023) + 3);
}

static uint32_t call(uint32_t state)
{
	static uint32_t (*volatile const steps[])(uint32_t) = {rotate, mix, count_bits, divide};
	uint32_t sum = 0;

	for (int i = 0; i < CALLS; i++)
		sum += steps[next(&state) >> 30](state);
	return sum;
}

/* Ourselves, who end at once where they are not process 1. */
static uint32_t start_programs(void)
{
	static const char path[] = "/" TR_AGENT_PATH;
	char *const argv[] = {(char *)path, NULL};
	int sum = 0, status;

	for (int i = 0; i < PROGRAMS; i++) {
		pid_t child = fork();
		if (child == 0) {
			execv(path, argv);
			_exit(2);
		}
		if (child > 0 && waitpid(child, &status, 0) == child)
			sum += WEXITSTATUS(status);
	}
	return (uint32_t)sum;
}

static uint32_t map_memory(void)
{
	uint32_t sum = 0;

	for (int i = 0; i < MAPPINGS; i++) {
		uint8_t *memory = mmap(
			NULL, MAPPING, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED)
			continue;
		for (int at = 0; at < MAPPING; at += PAGE)
			memory[at] = (uint8_t)i;
		sum += memory[PAGE];
		munmap(memory, MAPPING);
	}
	return sum;
}

static uint32_t open_files(void)
{
	struct stat st;
	uint32_t sum = 0;

	for (int i = 0; i < OPENS; i++) {
		int fd = open(i & 1 ? "/" TR_AGENT_PATH : "/", O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		sum += fstat(fd, &st) == 0;
		close(fd);
	}
	return sum;
}

static uint32_t work(uint32_t state)
{
	return unpack(state) ^ look_up(state) ^ call(state) ^ start_programs() ^ map_memory() ^
	       open_files();
}

static void tell(uint64_t taken, uint32_t sum)
{
	uint8_t fixed[12];

	tr_put64(fixed, taken);
	tr_put32(fixed + 8, sum);
	ag_line_frame(TR_FRAME_CALIBRATED, fixed, sizeof fixed, NULL, 0);
	ag_line_drain();
}

void ag_calibrate(void)
{
	/* In the first round the emulator translates what does not change. */
	for (int i = 0; i < 1 + REPEATS; i++) {
		uint64_t start = ro_guest_now();
		uint32_t sum = work(2463534242u);
		tell(ro_guest_now() - start, sum);
	}
}
