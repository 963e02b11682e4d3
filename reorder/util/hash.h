/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Checksums of large data, by libcrypto: its SHA-256 uses the processor's own instructions, which
 * makes it several times as fast as GLib's.
 */
#ifndef RO_HASH_H
#define RO_HASH_H

#include <glib.h>

enum { RO_HASH_MAX = 64, RO_SHA256_SIZE = 32 };

typedef enum {
	RO_HASH_MD5,
	RO_HASH_SHA1,
	RO_HASH_SHA256,
	RO_HASH_SHA384,
	RO_HASH_SHA512,
	RO_HASH_COUNT
} ro_hash_type;

typedef struct ro_hash ro_hash;

ro_hash *ro_hash_new(ro_hash_type type);
void ro_hash_free(ro_hash *hash);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ro_hash, ro_hash_free)

void ro_hash_add(ro_hash *hash, const void *data, gsize size);

/* Of all that was added so far; more may be added afterwards. Returns its size. */
gsize ro_hash_digest(const ro_hash *hash, guint8 digest[RO_HASH_MAX]);

/* The same in lower-case hex, owned by the caller. */
char *ro_hash_hex(const ro_hash *hash);

void ro_sha256(const void *data, gsize size, guint8 digest[RO_SHA256_SIZE]);

#endif
