/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Compares the content of two images whose trees are equal, on all processors.
 *
 * Data blocks are compared as they are stored, and unpacked only where that differs. Tails lie in
 * other fragment blocks in each image, so that pairs of them cannot be read side by side without
 * unpacking fragments over and over: one pass over each image in its own order takes a digest of
 * every tail, and the digests are compared.
 */
#include "reorder/verify-internal.h"

#include <string.h>

#include "reorder/image/data_reader.h"
#include "reorder/util/error.h"
#include "reorder/util/hash.h"
#include "reorder/util/interrupt.h"

enum {
	MAX_THREADS = 16,
	/* One piece of work: at most so many stored bytes, blocks, tails. */
	TASK_BYTES = 1 << 20,
	TASK_BLOCKS = 1024,
	TASK_TAILS = 64,
	TICK_US = 100000,
};

/* A file of both images. */
typedef struct {
	const img_inode *old, *new;
	guint32 index; /* in the old tree, for messages */
	/* The last bytes, fewer than a block, lie in a fragment in one of the images at least. */
	gboolean tail;
	guint32 blocks; /* data blocks to compare, without the tail */
	guint8 digest[RO_SHA256_SIZE];
} file_pair;

typedef enum { PASS_BLOCKS, PASS_OLD_TAILS, PASS_NEW_TAILS } pass;

typedef struct {
	const ro_pairs *pairs;
	gboolean same_packing; /* equal stored bytes are equal content */
	GArray *files;         /* of file_pair */
	GPtrArray *tails;      /* of file_pair, in the order of the image whose turn it is */
	pass pass;

	GMutex lock; /* of all below */
	GCond changed;
	guint next; /* file or tail */
	guint32 next_block;
	guint64 old_position, new_position; /* of next_block */
	guint64 bytes_done, bytes_total;
	guint running;
	gboolean stop;
	GError *error; /* the first one */
} content;

/* What a thread has. */
typedef struct {
	content *shared;
	img_reader *old_reader, *new_reader;
	guint8 *old_block, *new_block;
} worker;

/* Work on one file's blocks, or on some tails. */
typedef struct {
	file_pair *file;
	guint32 first, count;
	guint64 old_position, new_position;
} batch;

static gboolean fail_content(const content *shared, const file_pair *file, const char *what,
	const char *why, GError **error)
{
	g_autofree char *path = ro_verify_path(shared->pairs->old_tree, file->index);

	return ro_fail(error, RO_ERROR_FAILED, "%s: content differs in the %s%s%s", path, what,
		why ? ": " : "", why ? why : "");
}

static gboolean read_new_block(
	const worker *w, const batch *task, guint32 word, gsize length, GError **error)
{
	g_autoptr(GError) broken = NULL;

	if (img_reader_block(
		    w->new_reader, task->new_position, word, w->new_block, length, &broken))
		return TRUE;
	return fail_content(w->shared, task->file, "data blocks", broken->message, error);
}

static gboolean stored_equal(
	const worker *w, const batch *task, guint32 word, gboolean *equal, GError **error)
{
	gsize size = IMG_BLOCK_STORED_SIZE(word);

	if (!img_source_read(img_tree_source(w->shared->pairs->old_tree), task->old_position,
		    w->old_block, size, error) ||
		!img_source_read(img_tree_source(w->shared->pairs->new_tree), task->new_position,
			w->new_block, size, error))
		return FALSE;
	*equal = memcmp(w->old_block, w->new_block, size) == 0;
	return TRUE;
}

static gboolean compare_block(const worker *w, const batch *task, guint32 index, GError **error)
{
	const file_pair *file = task->file;
	guint32 old_word = file->old->blocks[index], new_word = file->new->blocks[index];
	gsize length =
		img_block_length(img_tree_super(w->shared->pairs->old_tree), file->old, index);
	gboolean equal = old_word == 0 && new_word == 0;

	if (!equal && old_word == new_word && w->shared->same_packing &&
		!stored_equal(w, task, old_word, &equal, error))
		return FALSE;
	if (equal)
		return TRUE;
	if (!img_reader_block(
		    w->old_reader, task->old_position, old_word, w->old_block, length, error) ||
		!read_new_block(w, task, new_word, length, error))
		return FALSE;
	if (memcmp(w->old_block, w->new_block, length) == 0)
		return TRUE;
	return fail_content(w->shared, file, "data blocks", NULL, error);
}

static gboolean compare_blocks(const worker *w, batch *task, GError **error)
{
	for (guint32 i = task->first; i < task->first + task->count; i++) {
		if (!compare_block(w, task, i, error))
			return FALSE;
		task->old_position += IMG_BLOCK_STORED_SIZE(task->file->old->blocks[i]);
		task->new_position += IMG_BLOCK_STORED_SIZE(task->file->new->blocks[i]);
	}
	return TRUE;
}

/* The last bytes of a file, wherever they are. */
static const guint8 *read_tail(img_reader *reader, const img_super *super, const img_inode *inode,
	guint8 *buffer, gsize *length, GError **error)
{
	guint32 last = inode->block_count - 1;
	guint64 position;

	if (inode->fragment != IMG_NONE)
		return img_reader_tail(reader, inode, length, error);
	*length = img_block_length(super, inode, last);
	position =
		inode->data_start + inode->data_stored - IMG_BLOCK_STORED_SIZE(inode->blocks[last]);
	if (!img_reader_block(reader, position, inode->blocks[last], buffer, *length, error))
		return NULL;
	return buffer;
}

static gboolean compare_tail(const worker *w, file_pair *file, GError **error)
{
	const img_super *super = img_tree_super(w->shared->pairs->old_tree);
	g_autoptr(GError) broken = NULL;
	guint8 digest[RO_SHA256_SIZE];
	const guint8 *data;
	gsize length;

	if (w->shared->pass == PASS_OLD_TAILS) {
		data = read_tail(w->old_reader, super, file->old, w->old_block, &length, error);
		if (data)
			ro_sha256(data, length, file->digest);
		return data != NULL;
	}
	data = read_tail(w->new_reader, super, file->new, w->new_block, &length, &broken);
	if (!data)
		return fail_content(w->shared, file, "tail", broken->message, error);
	ro_sha256(data, length, digest);
	return memcmp(digest, file->digest, RO_SHA256_SIZE) == 0 ||
	       fail_content(w->shared, file, "tail", NULL, error);
}

static gboolean compare_tails(const worker *w, const batch *task, GError **error)
{
	for (guint32 i = task->first; i < task->first + task->count; i++)
		if (!compare_tail(w, g_ptr_array_index(w->shared->tails, i), error))
			return FALSE;
	return TRUE;
}

/* Called with the lock held. The next blocks of a file; FALSE if all are given out. */
static gboolean next_blocks(content *c, batch *given)
{
	file_pair *file;
	guint64 stored = 0;

	while (c->next < c->files->len && g_array_index(c->files, file_pair, c->next).blocks == 0)
		c->next++;
	if (c->next == c->files->len)
		return FALSE;
	file = &g_array_index(c->files, file_pair, c->next);
	if (c->next_block == 0) {
		c->old_position = file->old->data_start;
		c->new_position = file->new->data_start;
	}
	*given = (batch){file, c->next_block, 0, c->old_position, c->new_position};
	while (c->next_block < file->blocks && given->count < TASK_BLOCKS && stored < TASK_BYTES) {
		stored += IMG_BLOCK_STORED_SIZE(file->old->blocks[c->next_block]);
		c->new_position += IMG_BLOCK_STORED_SIZE(file->new->blocks[c->next_block]);
		c->next_block++;
		given->count++;
	}
	c->old_position += stored;
	if (c->next_block == file->blocks) {
		c->next++;
		c->next_block = 0;
	}
	return TRUE;
}

static guint32 tail_fragment(const content *c, guint tail)
{
	const file_pair *file = g_ptr_array_index(c->tails, tail);

	return c->pass == PASS_OLD_TAILS ? file->old->fragment : file->new->fragment;
}

/* Called with the lock held. Tails that lie in one fragment block. */
static gboolean next_tails(content *c, batch *given)
{
	if (c->next == c->tails->len)
		return FALSE;
	*given = (batch){NULL, c->next, 0, 0, 0};
	do {
		c->next++;
		given->count++;
	} while (c->next < c->tails->len && given->count < TASK_TAILS &&
		 tail_fragment(c, c->next) == tail_fragment(c, given->first));
	return TRUE;
}

/* Unpacked bytes that are compared when the task is done. */
static guint64 task_bytes(const content *c, const batch *done)
{
	const img_super *super = img_tree_super(c->pairs->old_tree);
	guint64 bytes = 0;

	if (c->pass == PASS_OLD_TAILS)
		return 0;
	for (guint32 i = done->first; i < done->first + done->count; i++)
		bytes += c->pass == PASS_BLOCKS
				 ? img_block_length(super, done->file->old, i)
				 : ((const file_pair *)g_ptr_array_index(c->tails, i))->old->size %
					   super->block_size;
	return bytes;
}

static gboolean next_task(content *c, batch *given)
{
	gboolean more = FALSE;

	g_mutex_lock(&c->lock);
	if (!c->stop)
		more = c->pass == PASS_BLOCKS ? next_blocks(c, given) : next_tails(c, given);
	if (more)
		c->bytes_done += task_bytes(c, given);
	g_mutex_unlock(&c->lock);
	return more;
}

static gboolean run_tasks(worker *w, GError **error)
{
	content *c = w->shared;
	batch given;

	w->old_reader = img_reader_new(c->pairs->old_tree, error);
	if (!w->old_reader)
		return FALSE;
	w->new_reader = img_reader_new(c->pairs->new_tree, error);
	if (!w->new_reader)
		return FALSE;
	while (next_task(c, &given))
		if (c->pass == PASS_BLOCKS ? !compare_blocks(w, &given, error)
					   : !compare_tails(w, &given, error))
			return FALSE;
	return TRUE;
}

static gpointer worker_main(gpointer data)
{
	content *c = data;
	gsize block = img_tree_super(c->pairs->old_tree)->block_size;
	worker w = {.shared = c, .old_block = g_malloc(block), .new_block = g_malloc(block)};
	GError *error = NULL;

	run_tasks(&w, &error);
	img_reader_free(w.old_reader);
	img_reader_free(w.new_reader);
	g_free(w.old_block);
	g_free(w.new_block);
	g_mutex_lock(&c->lock);
	if (error && !c->error)
		c->error = g_steal_pointer(&error);
	c->stop |= c->error != NULL;
	c->running--;
	g_cond_signal(&c->changed);
	g_mutex_unlock(&c->lock);
	g_clear_error(&error);
	return NULL;
}

/* Shows the progress until all threads have ended. */
static void watch(content *c, ro_progress *progress)
{
	g_mutex_lock(&c->lock);
	while (c->running > 0) {
		g_cond_wait_until(&c->changed, &c->lock, g_get_monotonic_time() + TICK_US);
		if (!c->error && ro_interrupted(&c->error))
			c->stop = TRUE;
		ro_progress_update(progress, (double)c->bytes_done, (double)c->bytes_total, NULL);
	}
	g_mutex_unlock(&c->lock);
}

static gboolean run_pass(content *c, pass which, ro_progress *progress, GError **error)
{
	GThread *threads[MAX_THREADS];
	guint count = CLAMP(g_get_num_processors(), 1, MAX_THREADS);

	c->pass = which;
	c->next = 0;
	c->running = count;
	for (guint i = 0; i < count; i++)
		threads[i] = g_thread_new("verify", worker_main, c);
	watch(c, progress);
	for (guint i = 0; i < count; i++)
		g_thread_join(threads[i]);
	if (c->error)
		g_propagate_error(error, g_steal_pointer(&c->error));
	return !c->stop;
}

static int compare_old_starts(gconstpointer a, gconstpointer b)
{
	const file_pair *x = a, *y = b;

	return x->old->data_start < y->old->data_start   ? -1
	       : x->old->data_start > y->old->data_start ? 1
							 : 0;
}

static int compare_tail_places(const img_inode *a, const img_inode *b)
{
	if (a->fragment != b->fragment)
		return a->fragment < b->fragment ? -1 : 1;
	if (a->fragment == IMG_NONE)
		return a->data_start < b->data_start ? -1 : a->data_start > b->data_start;
	return a->fragment_offset < b->fragment_offset ? -1
						       : a->fragment_offset > b->fragment_offset;
}

static int compare_old_tails(gconstpointer a, gconstpointer b)
{
	return compare_tail_places((*(file_pair *const *)a)->old, (*(file_pair *const *)b)->old);
}

static int compare_new_tails(gconstpointer a, gconstpointer b)
{
	return compare_tail_places((*(file_pair *const *)a)->new, (*(file_pair *const *)b)->new);
}

static void collect_files(content *c)
{
	const img_tree *old_tree = c->pairs->old_tree;

	for (guint32 i = 0; i < img_tree_inode_count(old_tree); i++) {
		const img_inode *old = img_tree_inode(old_tree, i);
		file_pair file = {.old = old, .index = i};

		if (old->type != IMG_FILE || old->size == 0)
			continue;
		file.new = img_tree_inode(c->pairs->new_tree, c->pairs->partner[i]);
		file.tail = old->fragment != IMG_NONE || file.new->fragment != IMG_NONE;
		file.blocks = MIN(old->block_count, file.new->block_count);
		c->bytes_total += old->size;
		g_array_append_val(c->files, file);
	}
	g_array_sort(c->files, compare_old_starts);
	for (guint i = 0; i < c->files->len; i++) {
		file_pair *file = &g_array_index(c->files, file_pair, i);

		if (file->tail)
			g_ptr_array_add(c->tails, file);
	}
}

static gboolean same_packing(const img_super *a, const img_super *b)
{
	return a->compressor == b->compressor && a->options_size == b->options_size &&
	       memcmp(a->options, b->options, a->options_size) == 0;
}

static gboolean run_passes(content *c, ro_progress *progress, GError **error)
{
	if (!run_pass(c, PASS_BLOCKS, progress, error))
		return FALSE;
	g_ptr_array_sort(c->tails, compare_old_tails);
	if (!run_pass(c, PASS_OLD_TAILS, progress, error))
		return FALSE;
	g_ptr_array_sort(c->tails, compare_new_tails);
	return run_pass(c, PASS_NEW_TAILS, progress, error);
}

gboolean ro_verify_content(
	const ro_pairs *pairs, ro_progress *progress, guint64 *bytes, GError **error)
{
	content c = {.pairs = pairs};
	gboolean ok;

	c.same_packing =
		same_packing(img_tree_super(pairs->old_tree), img_tree_super(pairs->new_tree));
	c.files = g_array_new(FALSE, FALSE, sizeof(file_pair));
	c.tails = g_ptr_array_new();
	g_mutex_init(&c.lock);
	g_cond_init(&c.changed);
	collect_files(&c);
	ok = run_passes(&c, progress, error);
	*bytes = c.bytes_done;
	g_mutex_clear(&c.lock);
	g_cond_clear(&c.changed);
	g_ptr_array_unref(c.tails);
	g_array_unref(c.files);
	return ok;
}
