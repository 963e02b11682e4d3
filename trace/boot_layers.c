/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/image/ext4.h"
#include "reorder/image/ext4_tree.h"
#include "reorder/util/error.h"
#include "reorder/util/escape.h"
#include "trace/boot-internal.h"

enum { SECTOR = 2048 };

char *tr_booted_checksum(const tr_booted *b, GError **error)
{
	const tr_boot_job *job = b->job;
	g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);

	for (guint i = 0; i < job->layer_count; i++) {
		const img_tree *tree = job->layers[i].tree;
		guint8 super[IMG_EXT4_SUPER_SIZE]; /* a squashfs has a smaller one */
		gboolean is_ext4 = img_ext4_is_tree(tree);
		guint64 offset = is_ext4 ? IMG_EXT4_SUPER_OFFSET : 0;
		gsize size = is_ext4 ? IMG_EXT4_SUPER_SIZE : IMG_SUPER_SIZE;

		if (!img_source_read(img_tree_source(tree), offset, super, size, error))
			return NULL;
		g_checksum_update(checksum, super, (gssize)size);
	}
	return g_strdup(g_checksum_get_string(checksum));
}

void tr_booted_name_layers(const tr_booted *b, tr_trace *trace)
{
	g_autoptr(GPtrArray) images = tr_guest_mounts_root(b->guest->mounts);
	g_autoptr(GString) text = g_string_new(NULL);

	trace->image =
		g_strdup(images->len > 0 ? g_ptr_array_index(images, 0) : b->job->layers[0].name);
	if (images->len < 2)
		return;
	for (guint i = 0; i < images->len; i++) {
		if (i > 0)
			g_string_append_c(text, ' ');
		ro_escape_append(text, g_ptr_array_index(images, i));
	}
	trace->layers = g_strdup(text->str);
}

gboolean tr_boot_mounts_image(const tr_boot_job *job, const tr_read *read)
{
	for (guint i = 0; i < job->layer_count; i++) {
		const li_file *file = li_iso_find(job->iso, job->layers[i].name);
		guint64 start = file->extents[0].offset;

		if (read->offset < start + SECTOR && start < read->offset + read->length)
			return TRUE;
	}
	return FALSE;
}

/* What of one image was read. */
static void look_at_layer(const tr_booted *b, const img_layer *layer, tr_boot_result *result)
{
	const li_file *file = li_iso_find(b->job->iso, layer->name);
	guint64 offset = file->extents[0].offset;
	tr_read_totals totals;
	tr_coverage coverage;

	tr_read_log_totals(result->reads, offset, file->size, &totals);
	tr_read_totals_add(&result->image, &totals);
	tr_coverage_check(result->trace, layer, offset, result->reads, &coverage);
	tr_coverage_add(&result->coverage, &coverage);
}

void tr_booted_look_at_layers(const tr_booted *b, tr_boot_result *result)
{
	for (guint i = 0; i < b->job->layer_count; i++)
		look_at_layer(b, &b->job->layers[i], result);
}

void tr_booted_warn_of_foreign(const tr_booted *b)
{
	g_autoptr(GPtrArray) images = tr_guest_mounts_root(b->guest->mounts);

	for (guint i = 0; i < images->len; i++) {
		const char *image = g_ptr_array_index(images, i);
		g_autofree char *text = ro_escape_utf8(image);

		if (!img_layer_named(b->job->layers, b->job->layer_count, image))
			ro_warn("%s:%s: is part of the guest's root, too, and is left as it is",
				b->job->iso->path, text);
	}
}
