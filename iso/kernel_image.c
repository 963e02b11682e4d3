/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/kernel_image.h"

#include <string.h>

#include "iso/compression.h"
#include "reorder/image/le.h"
#include "reorder/util/error.h"

/* Offsets in the setup header (Linux: Documentation/arch/x86/boot.rst). */
enum {
	AT_SETUP_SECTORS = 0x1f1,
	AT_MAGIC = 0x202,
	AT_PROTOCOL = 0x206,
	AT_VERSION = 0x20e,
	AT_XLOADFLAGS = 0x236,
	AT_PAYLOAD_OFFSET = 0x248,
	AT_PAYLOAD_LENGTH = 0x24c,
	HEADER_SIZE = 0x250,
};

enum {
	PROTOCOL_PAYLOAD = 0x0208,    /* first with payload_offset */
	PROTOCOL_XLOADFLAGS = 0x020c, /* first with xloadflags */
	XLF_KERNEL_64 = 1,
	SECTOR = 512,
	VERSION_MAX = 256,
};

/* Other machines' kernels (Documentation/arch/arm64/booting.rst, arch/riscv/boot-image-header.rst).
 */
static const struct {
	guint at;
	const char *magic; /* 4 bytes */
	const char *machine;
} machines[] = {
	{0x38, "ARM\x64", "arm64"},
	{0x38, "RSC\x05", "RISC-V"},
	{0x24, "\x18\x28\x6f\x01", "arm"},
};

static gboolean read_header(const img_source *source, guint8 *header, GError **error)
{
	memset(header, 0, HEADER_SIZE);
	return img_source_read(source, 0, header, (gsize)MIN(HEADER_SIZE, source->size), error);
}

static const char *machine_of(const guint8 *header)
{
	for (gsize i = 0; i < G_N_ELEMENTS(machines); i++)
		if (memcmp(header + machines[i].at, machines[i].magic, 4) == 0)
			return machines[i].machine;
	return NULL;
}

const char *li_kernel_machine(const li_iso *iso, const li_file *file)
{
	img_source source;
	guint8 header[HEADER_SIZE];

	if (!file || !li_iso_source(iso, file, &source, NULL) ||
		!read_header(&source, header, NULL) || memcmp(header + AT_MAGIC, "HdrS", 4) == 0)
		return NULL;
	return machine_of(header);
}

static gboolean not_a_bzimage(const char *label, const guint8 *header, GError **error)
{
	const char *machine = machine_of(header);

	if (machine)
		return ro_fail(error, RO_ERROR_UNSUITABLE,
			"%s: a kernel for %s; only x86 kernels (bzImage) are supported", label,
			machine);
	return ro_fail(error, RO_ERROR_UNSUITABLE, "%s: not an x86 Linux kernel (bzImage)", label);
}

/* Owned by the caller; NULL if there is none. */
static char *read_version(const img_source *source, const guint8 *header)
{
	char text[VERSION_MAX] = {0};
	guint64 at = img_le16(header + AT_VERSION);

	if (at == 0 || at + SECTOR >= source->size ||
		!img_source_read(source, at + SECTOR, text,
			(gsize)MIN(sizeof(text) - 1, source->size - at - SECTOR), NULL))
		return NULL;
	return text[0] ? g_strdup(text) : NULL;
}

static const char *payload_compression(const img_source *source, guint64 at, guint64 size)
{
	guint8 start[16] = {0};
	const char *name;

	if (size < sizeof(start) || !img_source_read(source, at, start, sizeof(start), NULL))
		return "unknown";
	if (memcmp(start, "\177ELF", 4) == 0)
		return "none";
	name = li_compression_name(start, sizeof(start));
	return name ? name : "unknown";
}

static void read_payload(const img_source *source, const guint8 *header, li_kernel *kernel)
{
	/* 0 means 4, for historical reasons. */
	guint setup = header[AT_SETUP_SECTORS] ? header[AT_SETUP_SECTORS] : 4;
	guint64 at = (setup + 1u) * SECTOR + (guint64)img_le32(header + AT_PAYLOAD_OFFSET);

	kernel->compression = "unknown";
	if (img_le16(header + AT_PROTOCOL) < PROTOCOL_PAYLOAD)
		return;
	kernel->payload_size = img_le32(header + AT_PAYLOAD_LENGTH);
	kernel->compression = payload_compression(source, at, kernel->payload_size);
}

/* Kernels before 3.8 do not say it; where they are EFI programs too, that header does. */
static gboolean is_64bit(const img_source *source, const guint8 *header)
{
	guint8 machine[2] = {0};

	if (img_le16(header + AT_PROTOCOL) >= PROTOCOL_XLOADFLAGS)
		return (img_le16(header + AT_XLOADFLAGS) & XLF_KERNEL_64) != 0;
	return memcmp(header, "MZ", 2) == 0 &&
	       img_source_read(source, img_le32(header + 0x3c) + 4ull, machine, 2, NULL) &&
	       img_le16(machine) == 0x8664;
}

gboolean li_kernel_read(const li_iso *iso, const li_file *file, li_kernel *kernel, GError **error)
{
	img_source source;
	guint8 header[HEADER_SIZE];

	memset(kernel, 0, sizeof(*kernel));
	if (!li_iso_source(iso, file, &source, error) || !read_header(&source, header, error))
		return FALSE;
	if (memcmp(header + AT_MAGIC, "HdrS", 4) != 0)
		return not_a_bzimage(source.label, header, error);
	kernel->size = file->size;
	kernel->version = read_version(&source, header);
	kernel->is_64bit = is_64bit(&source, header);
	read_payload(&source, header, kernel);
	return TRUE;
}
