/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names that the host and the loader in the guest have to agree on. */
#ifndef DMX_NAMES_H
#define DMX_NAMES_H

/* In the initramfs; no leading slash. */
#define DMX_DIR ".reorder-hot"
#define DMX_LOADER_PATH DMX_DIR "/init"
#define DMX_MAP_PATH DMX_DIR "/map"

/* The device-mapper device, and the node that stands in for the medium. */
#define DMX_DEVICE "reorder-hot"
#define DMX_NODE "/dev/mapper/" DMX_DEVICE

/* Numbers that no other device of a live system has, so that the others keep theirs. */
enum { DMX_MINOR = 1000, DMX_LOOP = 1000 };

#endif
