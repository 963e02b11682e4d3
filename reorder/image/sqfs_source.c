/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/image/sqfs_source.h"

#include <sqfs/error.h>

typedef struct {
	sqfs_file_t base; /* first: libsquashfs holds a pointer to it */
	img_source source;
} source_file;

static int read_at(sqfs_file_t *file, sqfs_u64 offset, void *buffer, size_t size)
{
	const source_file *self = (const source_file *)file;

	if (offset > self->source.size || size > self->source.size - offset)
		return SQFS_ERROR_OUT_OF_BOUNDS;
	return img_source_read(&self->source, offset, buffer, size, NULL) ? 0 : SQFS_ERROR_IO;
}

static int write_at(sqfs_file_t *file, sqfs_u64 offset, const void *buffer, size_t size)
{
	(void)file;
	(void)offset;
	(void)buffer;
	(void)size;
	return SQFS_ERROR_UNSUPPORTED;
}

static int truncate_to(sqfs_file_t *file, sqfs_u64 size)
{
	(void)file;
	(void)size;
	return SQFS_ERROR_UNSUPPORTED;
}

static sqfs_u64 get_size(const sqfs_file_t *file)
{
	return ((const source_file *)file)->source.size;
}

static void destroy(sqfs_object_t *object)
{
	g_free(object);
}

static sqfs_object_t *copy(const sqfs_object_t *object)
{
	return (sqfs_object_t *)img_sqfs_file_new(&((const source_file *)object)->source);
}

sqfs_file_t *img_sqfs_file_new(const img_source *source)
{
	source_file *self = g_new0(source_file, 1);

	self->base.base.destroy = destroy;
	self->base.base.copy = copy;
	self->base.read_at = read_at;
	self->base.write_at = write_at;
	self->base.get_size = get_size;
	self->base.truncate = truncate_to;
	self->source = *source;
	return &self->base;
}
