/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writing the new ISO: the same in all but the replaced files and the checksums that follow from
 * them.
 */
#ifndef LI_WRITER_H
#define LI_WRITER_H

#include "iso/live_iso.h"
#include "reorder/util/progress.h"

typedef struct {
	const li_file *file; /* on the ISO */
	const char *content; /* path of the local file with the new bytes */
	gboolean over;       /* it is as long as the old one, and written over it on the new ISO: a
				boot image would lose its place in the catalogue otherwise */
	gboolean late;       /* placed() may change its bytes, not how many there are */
} li_replacement;

typedef struct {
	const li_iso *iso;
	const li_replacement *replacements;
	guint replacement_count;
	const char *workdir;  /* scratch files may be made here */
	const char *out_path; /* a file that exists and is empty (the temporary one of ro_output) */
	/* NULL, or called when every file has its place on the new ISO, and before its checksums:
	 * for what says where others lie. The rebuild writer only. */
	gboolean (*placed)(gpointer user, GError **error);
	gpointer user;
	ro_progress *progress;
} li_write_job;

/* What the writer found out about the checksums; for the summary. */
typedef struct {
	guint lists;            /* checksum lists seen */
	guint lines_updated;    /* right before, right again */
	guint lines_left_wrong; /* wrong before, left alone */
	gboolean isomd5_renewed;
} li_write_result;

typedef struct {
	const char *name;
	/* Before any long work: tools and their versions. */
	gboolean (*check)(const li_iso *iso, GError **error);
	gboolean (*write)(const li_write_job *job, li_write_result *result, GError **error);
	/* Compares the new ISO with the old one afterwards; NULL: write does that. */
	gboolean (*verify)(const li_write_job *job, GError **error);
} li_writer;

/* xorriso -boot_image any replay into a new file. */
extern const li_writer li_writer_rebuild;

/* The input's bytes with the new file in the place of the old one, where it fits. */
extern const li_writer li_writer_patch;

/*
 * After writing: opens the new ISO and compares volume identity, file list, attributes, El Torito
 * and system-area reports with the old one's. A difference that was not asked for is
 * RO_ERROR_FAILED and named.
 */
gboolean li_verify_output(const li_write_job *job, GError **error);

#endif
