/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Little-endian integers into unaligned bytes. */
#ifndef RO_SPLICE_PUT_H
#define RO_SPLICE_PUT_H

#include <glib.h>
#include <string.h>

static inline void ro_put16(guint8 *bytes, guint16 value)
{
	value = GUINT16_TO_LE(value);
	memcpy(bytes, &value, sizeof(value));
}

static inline void ro_put32(guint8 *bytes, guint32 value)
{
	value = GUINT32_TO_LE(value);
	memcpy(bytes, &value, sizeof(value));
}

static inline void ro_put64(guint8 *bytes, guint64 value)
{
	value = GUINT64_TO_LE(value);
	memcpy(bytes, &value, sizeof(value));
}

#endif
