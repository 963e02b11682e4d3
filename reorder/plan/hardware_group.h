/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What hardware decides: kernel modules, firmware and display drivers (trace/path_class.h), in
 * groups that serve one purpose: the drivers of one kind (drivers/net/ethernet, drivers/gpu), the
 * firmware of one family, the DRI drivers. Where boots of unlike machines differ in one file of a
 * group, another machine may need any other of it.
 */
#ifndef RO_HARDWARE_GROUP_H
#define RO_HARDWARE_GROUP_H

#include "reorder/image/image_tree.h"

typedef struct {
	char *directory; /* of the image; its files, those in its directories too unless these are
			    groups of their own; owned */
	guint differing; /* files in it that not all machines read */
} ro_hardware_group;

/* Of a file of that path, its group's directory; NULL if hardware does not decide about it. Owned
 * by the caller. */
char *ro_hardware_group_of(const char *path);

/* The groups (of ro_hardware_group) that the files are of, in the order of their first ones.
 * inodes: of guint32. */
GArray *ro_hardware_groups(const img_tree *tree, const GArray *inodes);

#endif
