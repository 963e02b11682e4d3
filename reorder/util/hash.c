/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/util/hash.h"

#include <openssl/evp.h>

struct ro_hash {
	EVP_MD_CTX *context;
};

/* It fails only where memory ends or the library lacks the algorithm: like g_malloc, then. */
static void must(gboolean fine)
{
	if (!fine)
		g_error("libcrypto does not do its work");
}

ro_hash *ro_hash_new(ro_hash_type type)
{
	static const char *const names[] = {"MD5", "SHA1", "SHA256", "SHA384", "SHA512"};
	/* Also where the system allows only approved algorithms: nothing here is a secret. */
	EVP_MD *algorithm = EVP_MD_fetch(NULL, names[type], "-fips");
	ro_hash *hash = g_new(ro_hash, 1);

	hash->context = EVP_MD_CTX_new();
	must(algorithm && hash->context && EVP_DigestInit_ex(hash->context, algorithm, NULL));
	EVP_MD_free(algorithm);
	return hash;
}

void ro_hash_free(ro_hash *hash)
{
	if (!hash)
		return;
	EVP_MD_CTX_free(hash->context);
	g_free(hash);
}

void ro_hash_add(ro_hash *hash, const void *data, gsize size)
{
	must(EVP_DigestUpdate(hash->context, data, size));
}

gsize ro_hash_digest(const ro_hash *hash, guint8 digest[RO_HASH_MAX])
{
	EVP_MD_CTX *copy = EVP_MD_CTX_new();
	unsigned size = 0;

	must(copy && EVP_MD_CTX_copy_ex(copy, hash->context) &&
		EVP_DigestFinal_ex(copy, digest, &size));
	EVP_MD_CTX_free(copy);
	return size;
}

char *ro_hash_hex(const ro_hash *hash)
{
	guint8 digest[RO_HASH_MAX];
	gsize size = ro_hash_digest(hash, digest);
	char *text = g_malloc(2 * size + 1);

	for (gsize i = 0; i < size; i++)
		g_snprintf(text + 2 * i, 3, "%02x", digest[i]);
	return text;
}

void ro_sha256(const void *data, gsize size, guint8 digest[RO_SHA256_SIZE])
{
	must(EVP_Digest(data, size, digest, NULL, EVP_sha256(), NULL));
}
