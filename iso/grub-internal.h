/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the parts of the reader of GRUB's configurations share: its words (grub_words.c), commands
 * and control structures (grub_run.c), conditions (grub_test.c), and the menu that comes of them
 * (grub.c).
 */
#ifndef LI_GRUB_INTERNAL_H
#define LI_GRUB_INTERNAL_H

#include "iso/boot_config.h"

enum {
	LI_GRUB_MAX_NESTING = 48,
	LI_GRUB_MAX_ITEMS = 4000,
	LI_GRUB_NO_ITEM = -1,
};

typedef enum { LI_GRUB_WORD, LI_GRUB_SEPARATOR, LI_GRUB_OPEN, LI_GRUB_CLOSE } li_grub_token_kind;

typedef struct {
	li_grub_token_kind kind;
	const char *text; /* words: as written, with quotes */
	gsize length;
	guint line;
} li_grub_token;

/* One file while it runs. */
typedef struct {
	const char *path;
	const char *text; /* of the file, which the tokens point into */
	GArray *tokens;
	guint at;
} li_grub_script;

/* A menuentry or submenu. */
typedef struct {
	char *title, *id;
	gint parent;   /* index of the item it is in */
	gint position; /* among its siblings; LI_GRUB_NO_ITEM if it is dead */
	gint children; /* items in it that are not dead */
	li_entry *entry;
} li_grub_item;

/* What the commands of a menu entry have said so far. */
typedef struct {
	char *kernel, *cmdline;
	GPtrArray *initrds;
	li_place args; /* where the words of cmdline stand */
	guint dead;    /* how deep in branches that are not taken the entry stands */
} li_grub_boot;

typedef struct {
	li_config *config;
	GHashTable *variables;      /* name to value */
	GHashTable *dead_variables; /* set in branches that are not taken */
	GPtrArray *items;           /* of li_grub_item */
	gint menu;                  /* index of the item that is being filled */
	gint top_children;
	li_grub_boot *boot; /* of the menu entry that is being read */
	guint dead, nesting, files;
	li_place args;   /* of the command that runs: all words behind the first */
	gboolean status; /* of the last command */
} li_grub;

/* Of li_grub_token, in the order of the text, which they point into. Owned by the caller. */
GArray *li_grub_tokenize(const char *text);

/* The next one; NULL at the end. */
const li_grub_token *li_grub_peek(const li_grub_script *s);
gboolean li_grub_is_word(const li_grub_token *t, const char *word);

/* The words up to a separator or brace, expanded: array of char *, owned by the caller. */
GPtrArray *li_grub_read_words(li_grub *g, li_grub_script *s);

void li_grub_set(li_grub *g, const char *name, const char *value);

/* A branch that is not taken ends. */
void li_grub_leave_dead(li_grub *g);

/* The path on the ISO of a name like (hd0)/boot/x. Owned by the caller. */
char *li_grub_path(const char *name);

/* What "test" says of its words. */
gboolean li_grub_test(const li_grub *g, char **words, guint count);

/* Runs the commands of a file, which fill items. */
void li_grub_run_file(li_grub *g, const char *name);

/* From the words of a menuentry or submenu; owned by g. */
li_grub_item *li_grub_add_item(li_grub *g, const GPtrArray *words);

#endif
