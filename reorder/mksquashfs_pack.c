/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/mksquashfs_pack.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reorder/mksquashfs_options.h"
#include "reorder/util/error.h"
#include "reorder/util/host_limits.h"

enum {
	FLAGS_POSITION = 24, /* in the superblock */
	/* What mksquashfs takes and what it does not profit from, MiB. */
	PACK_MEMORY_MIN = 16,
	PACK_MEMORY_MAX = 4096,
};

GPtrArray *ro_argv_new(const char *program)
{
	GPtrArray *argv = g_ptr_array_new_with_free_func(g_free);

	g_ptr_array_add(argv, g_strdup(program));
	return argv;
}

void ro_argv_add(GPtrArray *argv, ...)
{
	const char *word;
	va_list words;

	va_start(words, argv);
	while ((word = va_arg(words, const char *)) != NULL)
		g_ptr_array_add(argv, g_strdup(word));
	va_end(words);
}

void ro_argv_add_number(GPtrArray *argv, const char *option, guint64 number)
{
	g_ptr_array_add(argv, g_strdup(option));
	g_ptr_array_add(argv, g_strdup_printf("%" G_GUINT64_FORMAT, number));
}

const char *const *ro_argv_end(GPtrArray *argv)
{
	g_ptr_array_add(argv, NULL);
	return (const char *const *)argv->pdata;
}

static gboolean write_flags(const char *path, guint16 flags, GError **error)
{
	guint16 stored = GUINT16_TO_LE(flags);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	gboolean ok =
		fd >= 0 && pwrite(fd, &stored, sizeof(stored), FLAGS_POSITION) == sizeof(stored);

	if (!ok)
		ro_fail_errno(error, errno, "%s: superblock", path);
	if (fd >= 0 && close(fd) < 0 && ok)
		return ro_fail_errno(error, errno, "%s", path);
	return ok;
}

static gboolean read_super(const char *path, img_super *super, GError **error)
{
	img_source source = {.label = path};
	struct stat st;
	gboolean ok;

	source.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (source.fd < 0 || fstat(source.fd, &st) < 0) {
		ro_fail_errno(error, errno, "%s", path);
		if (source.fd >= 0)
			close(source.fd);
		return FALSE;
	}
	source.size = (guint64)st.st_size;
	ok = img_super_read(&source, super, error);
	close(source.fd);
	return ok;
}

static gboolean differs(const char *what, GError **error)
{
	return ro_fail(error, RO_ERROR_FAILED,
		"mksquashfs: does not write the %s that the image has; not supported by this engine",
		what);
}

gboolean ro_mksquashfs_settle(const char *path, const img_super *source, GError **error)
{
	img_super made;

	if (!read_super(path, &made, error))
		return FALSE;
	if (made.compressor != source->compressor || made.options_size != source->options_size ||
		memcmp(made.options, source->options, made.options_size) != 0)
		return differs("compressor options", error);
	if (made.block_size != source->block_size || made.mkfs_time != source->mkfs_time)
		return differs("block size or time", error);
	if ((made.flags ^ source->flags) & ~IMG_FLAG_NO_XATTRS)
		return differs("flags", error);
	return made.flags == source->flags || write_flags(path, source->flags, error);
}

GPtrArray *ro_mksquashfs_command(const char *from, const char *to, const img_super *super,
	guint64 image_size, GError **error)
{
	const char *const words[] = {from, to, "-noappend", "-no-progress", "-exit-on-error"};
	g_autoptr(GPtrArray) argv = ro_argv_new("mksquashfs");
	ro_host_limits limits;
	guint64 memory;

	for (gsize i = 0; i < G_N_ELEMENTS(words); i++)
		g_ptr_array_add(argv, g_strdup(words[i]));
	if (!ro_mksquashfs_options(argv, super, image_size, error))
		return NULL;
	ro_host_limits_read("", &limits);
	memory = CLAMP(limits.memory / 4 >> 20, PACK_MEMORY_MIN, PACK_MEMORY_MAX);
	ro_argv_add_number(argv, "-processors", limits.processors);
	g_ptr_array_add(argv, g_strdup("-mem"));
	g_ptr_array_add(argv, g_strdup_printf("%" G_GUINT64_FORMAT "M", memory));
	return g_steal_pointer(&argv);
}
