/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Little-endian integers in unaligned bytes. */
#ifndef IMG_LE_H
#define IMG_LE_H

#include <glib.h>
#include <string.h>

static inline guint16 img_le16(const guint8 *bytes)
{
	guint16 value;

	memcpy(&value, bytes, sizeof(value));
	return GUINT16_FROM_LE(value);
}

static inline guint32 img_le32(const guint8 *bytes)
{
	guint32 value;

	memcpy(&value, bytes, sizeof(value));
	return GUINT32_FROM_LE(value);
}

static inline guint64 img_le64(const guint8 *bytes)
{
	guint64 value;

	memcpy(&value, bytes, sizeof(value));
	return GUINT64_FROM_LE(value);
}

#endif
