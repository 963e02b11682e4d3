/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of all options, for what parses, checks and explains them. */
#ifndef RO_OPTIONS_INTERNAL_H
#define RO_OPTIONS_INTERNAL_H

#include "reorder/options.h"

/* Verbs as bits. */
enum {
	RO_REORDER = 1 << RO_VERB_REORDER,
	RO_TRACE = 1 << RO_VERB_TRACE,
	RO_PLAN = 1 << RO_VERB_PLAN,
	RO_INSPECT = 1 << RO_VERB_INSPECT,
	RO_COMPARE = 1 << RO_VERB_COMPARE,
	RO_SIMULATE = 1 << RO_VERB_SIMULATE,
	RO_RECOVER = 1 << RO_VERB_RECOVER,
	RO_HOTMAP = 1 << RO_VERB_HOTMAP,
	RO_DM = 1 << RO_VERB_DM,
	RO_COMPARES = RO_REORDER | RO_COMPARE,
	RO_BOOTS = RO_REORDER | RO_TRACE | RO_COMPARE,
	RO_PLANS = RO_REORDER | RO_PLAN,
	RO_ALL = (1 << RO_VERB_COUNT) - 1,
};

typedef gboolean (*ro_setter)(ro_options *options, const char *value, GError **error);

typedef struct {
	const char *name;
	char letter;       /* or 0 */
	const char *value; /* what stands for it in --help; NULL: a switch */
	int verbs;         /* bits */
	gboolean repeats;
	ro_setter set;
	const char *help;
} ro_option;

extern const ro_option ro_option_table[];
extern const guint ro_option_count;

/* By verb; the name of RO_VERB_REORDER is NULL. */
extern const char *const ro_verb_names[RO_VERB_COUNT], *const ro_verb_synopses[RO_VERB_COUNT];

/* What does not go together. given: a bit for each option of the table that was there. */
gboolean ro_options_check(const ro_options *options, guint64 given, GError **error);

#endif
