/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Serves the ISO read-only to the virtual machine through nbdkit and our plugin, which logs every
 * read. */
#ifndef TR_MEDIUM_SERVER_H
#define TR_MEDIUM_SERVER_H

#include <glib.h>

typedef struct {
	const char *iso_path;
	const char *workdir;
	const char *log_name; /* of the read log, in workdir */
	const char *const
		*parameters; /* more for the plugin ("drive=cd"), NULL-terminated, or NULL */
} tr_medium_job;

typedef struct tr_medium_server tr_medium_server;

/* nbdkit and the plugin are there. */
gboolean tr_medium_server_check(GError **error);

/* Returns once it takes connections. A log of that name is replaced. */
tr_medium_server *tr_medium_server_start(const tr_medium_job *job, GError **error);

/* Ends it; the log is complete then. Accepts NULL. */
void tr_medium_server_stop(tr_medium_server *server);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(tr_medium_server, tr_medium_server_stop)

/* Path of its socket, short enough for one; of the log. Owned by the server. */
const char *tr_medium_server_socket(const tr_medium_server *server);
const char *tr_medium_server_log(const tr_medium_server *server);

#endif
