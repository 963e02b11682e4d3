/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What kind of file of a live system a path is, by its name alone: for tables that explain a trace,
 * and to find what a machine's hardware decides.
 */
#ifndef TR_PATH_CLASS_H
#define TR_PATH_CLASS_H

#include "trace/trace.h"

/* In the order in which tables show them. */
typedef enum {
	TR_CLASS_DIRECTORY,
	TR_CLASS_LINK,   /* symbolic */
	TR_CLASS_MODULE, /* of kernels, and the indexes of these */
	TR_CLASS_FIRMWARE,
	TR_CLASS_DISPLAY, /* drivers of X, DRI, Vulkan, video decoders */
	TR_CLASS_LIBRARY, /* shared objects, plugins too */
	TR_CLASS_PROGRAM, /* in the directories of programs */
	TR_CLASS_SCRIPT,  /* what interpreters load: Python, Perl, … */
	TR_CLASS_CONFIGURATION,
	TR_CLASS_LOCALE, /* languages, character sets, keyboards, time zones */
	TR_CLASS_LOOK,   /* fonts, icons, themes, pictures */
	TR_CLASS_DATA,   /* the rest of usr/share, and var */
	TR_CLASS_OTHER,
	TR_CLASS_COUNT,
} tr_path_class;

/* path: bytes, without a leading slash, as in tr_event. With or without a merged /usr. */
tr_path_class tr_path_class_of(tr_kind kind, const char *path);

/* "kernel modules": for people and for JSON; static. */
const char *tr_path_class_name(tr_path_class path_class);

/* Whether the machine decides which of them are read: modules, firmware, drivers of displays. */
gboolean tr_path_class_is_hardware(tr_path_class path_class);

#endif
