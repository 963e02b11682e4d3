/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An ext4 image in which files are moved: what is moved, the proof finds equal; sparse (fuzz.h). */
#include "reorder/ext4/relocate.h"
#include "reorder/image/ext4_tree.h"
#include "reorder/verify_ext4.h"
#include "tests/fuzz/fuzz.h"

/* Inode numbers of every second entry, the last first. */
static GArray *wanted_of(const img_tree *tree)
{
	GArray *wanted = g_array_new(FALSE, FALSE, sizeof(guint32));

	for (guint32 i = img_tree_inode_count(tree); i-- > 0;)
		if (i % 2)
			g_array_append_val(wanted, img_tree_inode(tree, i)->number);
	return wanted;
}

static void check(const img_source *old, const char *path, const GArray *wanted)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	img_source new = fz_source(fd);
	ro_verify_result result;
	GError *error = NULL;

	ro_ext4_verify(old, &new, (const guint32 *)(void *)wanted->data, wanted->len, NULL, &result,
		&error);
	g_assert_no_error(error);
	close(fd);
	unlink(path);
}

static void move(const img_source *source, const img_tree *tree)
{
	g_autofree char *path = g_strdup_printf("/dev/shm/fuzz-ext4-%d", (int)getpid());
	g_autoptr(GArray) wanted = wanted_of(tree);
	const ro_ext4_job job = {source, path, RO_LAYOUT_FRONT,
		(const guint32 *)(void *)wanted->data, wanted->len, NULL};
	GError *error = NULL;

	if (fz_done(ro_ext4_relocate(&job, &error), &error))
		check(source, path, wanted);
	unlink(path);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
	int fd = fz_sparse_file(data, size);
	img_source source = fz_source(fd);
	GError *error = NULL;
	g_autoptr(img_tree) tree = img_ext4_tree_open(&source, &error);

	if (fz_done(tree != NULL, &error))
		move(&source, tree);
	close(fd);
	return 0;
}
