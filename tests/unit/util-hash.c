/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The examples of RFC 1321 (MD5) and of FIPS 180-4 (SHA), which publish the digests of "abc". */
#include "reorder/util/hash.h"

static const struct {
	ro_hash_type type;
	const char *abc;
} known[] = {
	{RO_HASH_MD5, "900150983cd24fb0d6963f7d28e17f72"},
	{RO_HASH_SHA1, "a9993e364706816aba3e25717850c26c9cd0d89d"},
	{RO_HASH_SHA256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
	{RO_HASH_SHA384, "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed"
			 "8086072ba1e7cc2358baeca134c825a7"},
	{RO_HASH_SHA512, "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
			 "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"},
};

static void test_known(void)
{
	for (guint i = 0; i < G_N_ELEMENTS(known); i++) {
		g_autoptr(ro_hash) hash = ro_hash_new(known[i].type);
		g_autofree char *hex = NULL;

		ro_hash_add(hash, "abc", 3);
		hex = ro_hash_hex(hash);
		g_assert_cmpstr(hex, ==, known[i].abc);
	}
}

static void test_goes_on(void)
{
	g_autoptr(ro_hash) hash = ro_hash_new(RO_HASH_MD5);
	g_autofree char *empty = ro_hash_hex(hash);
	g_autofree char *whole = NULL;

	g_assert_cmpstr(empty, ==, "d41d8cd98f00b204e9800998ecf8427e");
	ro_hash_add(hash, "a", 1);
	g_free(ro_hash_hex(hash));
	ro_hash_add(hash, "bc", 2);
	whole = ro_hash_hex(hash);
	g_assert_cmpstr(whole, ==, known[RO_HASH_MD5].abc);
}

static void test_at_once(void)
{
	static const guint8 start[] = {0xba, 0x78, 0x16, 0xbf};
	guint8 digest[RO_SHA256_SIZE];

	ro_sha256("abc", 3, digest);
	g_assert_cmpmem(digest, sizeof(start), start, sizeof(start));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/util/hash/known", test_known);
	g_test_add_func("/util/hash/goes-on", test_goes_on);
	g_test_add_func("/util/hash/at-once", test_at_once);
	return g_test_run();
}
