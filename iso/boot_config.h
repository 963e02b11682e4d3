/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Boot entries from the configuration files of isolinux/syslinux and GRUB.
 *
 * The files are untrusted: whatever they include, loop or nest ends at the limits below. What names
 * a file that is not there is left out, with a note.
 */
#ifndef LI_BOOT_CONFIG_H
#define LI_BOOT_CONFIG_H

#include "iso/live_iso.h"

enum {
	LI_CONFIG_MAX_TEXT = 1 << 20, /* bytes of one file */
	LI_CONFIG_MAX_ALL = 16 << 20, /* bytes of all files, counted each time they are read */
	LI_CONFIG_MAX_FILES = 300,    /* files read, counted each time */
	LI_CONFIG_MAX_DEPTH = 16,     /* files that include each other */
	LI_CONFIG_MAX_COMMANDS = 200000,
	LI_CONFIG_MAX_WORDS = 32 << 20, /* bytes of GRUB's words, as written and expanded */
	LI_CONFIG_MAX_ENTRIES = 2000,
	LI_CONFIG_MAX_INITRDS = 64, /* of an entry */
};

/* Fills iso->entries and adds to iso->notes. Needs iso->files and iso->boot_images. */
void li_boot_config_read(li_iso *iso);

/*
 * The entries as they would be if the texts (path to GBytes) were those of the configuration files,
 * or further ones beside them. only: the path of the GRUB configuration that alone is read, with
 * what it goes on with; NULL: all as on the ISO. Array of li_entry, owned by the caller.
 */
GPtrArray *li_boot_config_preview(const li_iso *iso, GHashTable *texts, const char *only);

void li_entry_free(li_entry *entry);

/* Length of the word at the start of text, as the kernel cuts them: blanks part, but not between
 * quotes (Linux: lib/cmdline.c, next_arg). */
gsize li_cmdline_word(const char *text);

/* Value of a word "name=value" of a command line, the last one if there are several; NULL if there
 * is none. Owned by the caller. */
char *li_cmdline_value(const char *cmdline, const char *name);
/* Whether a word is there, as "name" or "name=…". */
gboolean li_cmdline_has(const char *cmdline, const char *name);

/* What the two parsers share. */
typedef struct {
	li_iso *iso;
	GHashTable *texts;   /* NULL, or path to GBytes: instead of what is on the ISO */
	GHashTable *visited; /* paths of the configuration files read so far */
	GHashTable *keys;    /* of entries that are there already */
	guint files_left;
	gsize text_left; /* bytes */
	guint commands_left;
	gsize words_left;      /* bytes */
	gboolean bios_is_grub; /* GRUB boots the ISO in BIOS mode, not isolinux */
} li_config;

/* Bytes [start, end) of a configuration file; config NULL: none. */
typedef struct {
	const char *config;
	gsize start, end;
} li_place;

/* An entry as its configuration has it; all strings are owned by the parser. */
typedef struct {
	const char *title;
	const char *config; /* path of the file */
	guint line;
	const char *kernel;       /* absolute path */
	const GPtrArray *initrds; /* of char *, absolute paths */
	const char *cmdline;
	li_place args; /* where the text of cmdline stands */
} li_draft;

/* Text of a configuration file, NUL-terminated; NULL if it isn't there or a limit is reached. path
 * becomes its path on the ISO. */
char *li_config_text(li_config *config, const char *name, const char **path);

/* Absolute path of name, which is relative to dir unless it starts with a slash; "." and ".." are
 * resolved. */
char *li_config_path(const char *dir, const char *name);

/* Whether there is a file or a directory with files in it. */
gboolean li_config_exists(const li_config *config, const char *path);

/* Adds the entry if its files are there and it is new. */
li_entry *li_config_add(li_config *config, const li_draft *draft);

/* Marks the default of one configuration whose entries begin at first, and puts it before the
 * others. */
void li_config_set_default(li_config *config, guint first, li_entry *entry);

void li_syslinux_read(li_config *config, const char *path);
void li_grub_read(li_config *config, const char *path);

#endif
