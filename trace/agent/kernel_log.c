/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The kernel's log holds when it began and ended to unpack the initramfs. Records of /dev/kmsg
 * (Linux: Documentation/ABI/testing/dev-kmsg): "PRIORITY,NUMBER,MICROSECONDS,FLAGS…;TEXT".
 */
#include "trace/agent/agent.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "reorder/guest/guest.h"
#include "trace/agent/protocol.h"

enum { RECORDS_MAX = 20000 };

/* Linux: init/initramfs.c. */
static void take_record(const char *record, uint64_t *begin, uint64_t *end)
{
	unsigned long long microseconds;
	const char *text = strchr(record, ';');

	if (!text || sscanf(record, "%*u,%*u,%llu", &microseconds) != 1)
		return;
	if (!strncmp(text + 1, "Trying to unpack rootfs image", 29) ||
		!strncmp(text + 1, "Unpacking initramfs", 19))
		*begin = microseconds * 1000;
	if (!strncmp(text + 1, "Freeing initrd memory", 21))
		*end = microseconds * 1000;
}

void ag_kernel_log_tell(void)
{
	char record[8192];
	uint8_t fixed[16];
	uint64_t begin = 0, end = 0;
	ssize_t n;
	int fd = ro_guest_open_kernel_log(O_RDONLY | O_NONBLOCK);

	if (fd < 0)
		return;
	for (int i = 0; i < RECORDS_MAX && (n = read(fd, record, sizeof record - 1)) > 0; i++) {
		record[n] = '\0';
		take_record(record, &begin, &end);
	}
	close(fd);
	tr_put64(fixed, begin);
	tr_put64(fixed + 8, end);
	ag_line_frame(TR_FRAME_UNPACKED, fixed, sizeof fixed, NULL, 0);
}
