/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The live frameworks: how each finds its medium, and what tells it to take the preload's node for
 * it. From their own scripts: live-boot 20230131 (9990-main.sh, 9990-misc-helpers.sh), casper 1.498
 * (scripts/casper), dracut 059 and dracut-ng (90dmsquash-live, init.sh), mkinitcpio-archiso
 * (hooks/archiso), kiwi (55kiwi-live).
 */
#ifndef DMX_FRAMEWORK_H
#define DMX_FRAMEWORK_H

#include <glib.h>

typedef struct {
	const char *name;
	/* One of them is in the initrd: ends of paths, or pieces of names; ends with NULL. */
	const char *const *members;
	/* One of them is on the command line: "word" or "word=…", "word=value" with that value (a
	 * trailing "*": that start of one); ends with NULL. */
	const char *const *words;
	/* The word that names the node; it replaces all words of its name and those of replaces. */
	const char *medium;
	const char *const *replaces; /* names of words; ends with NULL */
	/* Another word to add, unless its name is on the command line; or NULL. */
	const char *extra;
	/* Names of words that leave nothing to gain or need the medium as it is: it is copied to
	 * RAM, it is elsewhere, or other partitions of it are written to. Ends with NULL. */
	const char *const *unfit;
	/* Seconds from its start until it gives up. The loader's clock starts earlier. */
	guint patience;
	/* NULL, or a word with another number of seconds, which count by 2/3: then dracut's timeout
	 * hooks begin. */
	const char *patience_word;
	const char *refusal; /* why it can't be done with this one; NULL if it can */
} dmx_framework;

/* All of them; the last has a NULL name. What is more particular comes first. */
extern const dmx_framework dmx_frameworks[];

/* Whether a path in an initrd (no leading slash) tells that this one is in it. */
gboolean dmx_framework_has_member(const dmx_framework *framework, const char *path);

/* Whether the command line starts it. */
gboolean dmx_framework_has_cmdline(const dmx_framework *framework, const char *cmdline);

guint dmx_framework_patience(const dmx_framework *framework, const char *cmdline);

/* The word on the command line that is unfit, unless its value is empty, "n", "no" or "0"; NULL if
 * there is none. Owned by the caller. */
char *dmx_framework_unfit(const dmx_framework *framework, const char *cmdline);

/*
 * The command line with the preload: the words that are replaced taken out, the new ones at its
 * end, but in front of "--" or "---", behind which words are the installer's or init's. Bytes of
 * all others stay, blanks too. text may be that of a configuration, with quotes and variables.
 * Owned by the caller.
 */
char *dmx_framework_edit(const dmx_framework *framework, const char *text);

/* Whether this is the safe way to start: such entries stay as they are, so that there is a way
 * without the preload. */
gboolean dmx_is_fail_safe(const char *title, const char *cmdline);

#endif
