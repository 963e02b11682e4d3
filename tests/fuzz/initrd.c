/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An initrd: its segments and members, a preload put behind it, and the map read back from that. */
#include "dm/initrd.h"
#include "iso/initrd_members.h"
#include "tests/fuzz/fuzz.h"

static const char map[] = "a map";

static gboolean wants(const li_member *member, gpointer user)
{
	(void)user;
	return member->size % 2 == 0;
}

static gboolean take(const li_member *member, gpointer user)
{
	guint *sum = user;

	for (guint32 i = 0; member->data && i < member->size; i++)
		*sum += member->data[i];
	return TRUE;
}

static void visit(const guint8 *data, const GArray *segments)
{
	guint sum = 0;
	li_member_visitor visitor = {wants, take, &sum, 1 << 20};
	GError *error = NULL;

	fz_done(li_initrd_visit(data, segments, 0, &visitor, &error), &error);
}

/* A bzImage without a payload (Linux: Documentation/arch/x86/boot.rst). */
static void add_kernel(li_iso *iso)
{
	guint8 kernel[2048] = {0};

	memcpy(kernel + 0x202, "HdrS\x0f\x02", 6);
	kernel[0x20e + 1] = 2; /* the version, 512 bytes less */
	kernel[0x236] = 1;     /* 64 bits */
	strcpy((char *)kernel + 1024, "6.1.0 x");
	fz_iso_add(iso, "/vmlinuz", kernel, sizeof(kernel));
}

static void read_map(const GByteArray *initrd)
{
	g_autoptr(li_iso) new_iso = fz_iso_new();
	g_autoptr(GBytes) found = NULL;

	fz_iso_add(new_iso, "/initrd", initrd->data, initrd->len);
	fz_iso_ready(new_iso);
	found = dmx_initrd_map(new_iso, li_iso_find(new_iso, "/initrd"), NULL);
	g_assert_nonnull(found);
	g_assert_cmpmem(g_bytes_get_data(found, NULL), g_bytes_get_size(found), map, strlen(map));
}

static void build(const guint8 *data, gsize size)
{
	g_autoptr(li_iso) iso = fz_iso_new();
	g_autoptr(GPtrArray) initrds = g_ptr_array_new();
	li_entry entry = {.kernel = (char *)"/vmlinuz", .initrds = initrds};
	g_autoptr(dmx_initrd) initrd = NULL;
	g_autoptr(GBytes) loader = g_bytes_new_static("loader", 6);
	g_autoptr(GByteArray) new = NULL;
	GError *error = NULL;

	add_kernel(iso);
	fz_iso_add(iso, "/initrd", data, size);
	fz_iso_ready(iso);
	g_ptr_array_add(initrds, (char *)"/initrd");
	initrd = dmx_initrd_open(iso, &entry, &error);
	if (!fz_done(initrd != NULL, &error))
		return;
	new = dmx_initrd_build(initrd, loader, map, 0, &error);
	if (fz_done(new != NULL, &error))
		read_map(new);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
	GError *error = NULL;
	g_autoptr(GArray) segments = li_initrd_segments(data, size, &error);

	if (fz_done(segments != NULL, &error))
		visit(data, segments);
	build(data, size);
	return 0;
}
