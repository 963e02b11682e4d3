/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Configurations of GRUB: two texts with a NUL between them. */
#include "tests/fuzz/boot.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
	static const char *const paths[] = {"/boot/grub/grub.cfg", "/boot/grub/a.cfg", NULL};

	fz_boot(data, size, paths);
	return 0;
}
