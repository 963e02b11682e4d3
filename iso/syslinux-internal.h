/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the parts of the reader of syslinux's configurations share: the labels and menus that its
 * lines make (syslinux_lines.c), which of them is started by itself (syslinux_default.c), and the
 * entries that come of them (syslinux.c).
 */
#ifndef LI_SYSLINUX_INTERNAL_H
#define LI_SYSLINUX_INTERNAL_H

#include "iso/boot_config.h"

typedef enum {
	LI_SYSLINUX_LINUX,
	LI_SYSLINUX_CONFIG,  /* goes on with another configuration */
	LI_SYSLINUX_SUBMENU, /* a menu entry that is a menu */
	LI_SYSLINUX_OTHER,   /* modules, boot sectors, local boot */
} li_syslinux_kind;

typedef struct {
	char *name, *title, *kernel, *append, *initrd;
	li_place append_at, words_at; /* of append; of the words behind the kernel's name */
	li_syslinux_kind kind;
	guint menu;    /* index of the menu it is in */
	guint submenu; /* LI_SYSLINUX_SUBMENU: index of the menu it opens */
	gboolean hidden, disabled, is_default;
	gboolean implicit; /* no command said what to start: the label is the kernel's name */
	const char *config;
	guint line;
} li_syslinux_label;

typedef struct {
	guint parent;
	li_syslinux_label *entry; /* in the parent menu; NULL for the main menu */
	li_syslinux_label *chosen;
} li_syslinux_menu;

typedef struct {
	li_config *config;
	char *dir;         /* what paths are relative to */
	GPtrArray *labels; /* of li_syslinux_label, in order */
	GArray *menus;     /* of li_syslinux_menu; 0 is the main one */
	li_syslinux_label *current;
	guint menu, start_menu;
	char *append, *default_, *ontimeout;
	li_place append_at;
	const char *text; /* of the file */
	gboolean in_text;
	guint depth; /* of files */
	const char *file, *first_file;
	guint line;
} li_syslinux;

/* Reads a file and what it includes: fills labels and menus. */
void li_syslinux_parse(li_syslinux *p, const char *name);

/* A label for a command line that stands where a name is expected; NULL if there are too many. */
li_syslinux_label *li_syslinux_add_command(li_syslinux *p, const char *kernel, const char *append);

void li_syslinux_label_free(li_syslinux_label *l);

/* The label that is started if nobody presses a key, or NULL. */
li_syslinux_label *li_syslinux_default(li_syslinux *p);

/* The path on the ISO. Owned by the caller. */
char *li_syslinux_path(const li_syslinux *p, const char *name);

/* KERNEL says what it is by its file name. */
li_syslinux_kind li_syslinux_kernel_kind(const char *name);

/* Text up to the first blank, owned by the caller; text without blanks in front. */
char *li_syslinux_word(const char *text);
char *li_syslinux_rest(const char *text);

/* In any case. */
gboolean li_syslinux_has_suffix(const char *name, const char *suffix);

#endif
