/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/medium_server.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "reorder/util/child.h"
#include "reorder/util/error.h"
#include "reorder/util/interrupt.h"

static const char plugin_name[] = "reorder-medium-plugin.so";

enum {
	READY_MS = 10000, /* until it listens */
	STEP_MS = 20,
	GRACE_MS = 2000,
};

struct tr_medium_server {
	ro_child *child;
	int dir_fd;
	char *socket, *log, *pid_file, *messages;
};

gboolean tr_medium_server_check(GError **error)
{
	g_autofree char *plugin = NULL;

	if (!ro_child_need("nbdkit", "nbdkit", error))
		return FALSE;
	plugin = ro_own_file(plugin_name, error);
	return plugin != NULL;
}

const char *tr_medium_server_socket(const tr_medium_server *server)
{
	return server->socket;
}

const char *tr_medium_server_log(const tr_medium_server *server)
{
	return server->log;
}

void tr_medium_server_stop(tr_medium_server *server)
{
	if (!server)
		return;
	ro_child_stop(server->child, GRACE_MS);
	unlink(server->socket);
	unlink(server->pid_file);
	if (server->dir_fd >= 0)
		close(server->dir_fd);
	g_free(server->socket);
	g_free(server->log);
	g_free(server->pid_file);
	g_free(server->messages);
	g_free(server);
}

/* A socket's path has to fit into 107 bytes; a longer one goes through our descriptor of its
 * directory. */
static char *socket_path(const char *workdir, int dir_fd)
{
	char *path = g_build_filename(workdir, "medium.sock", NULL);

	if (strlen(path) < sizeof(((struct sockaddr_un *)NULL)->sun_path))
		return path;
	g_free(path);
	return g_strdup_printf("/proc/%d/fd/%d/medium.sock", (int)getpid(), dir_fd);
}

static gboolean fail_start(const tr_medium_server *server, GError **error)
{
	g_autofree char *text = NULL;

	if (!g_file_get_contents(server->messages, &text, NULL, NULL) || !*g_strstrip(text))
		return ro_fail(error, RO_ERROR_FAILED, "nbdkit: ended without a word");
	const char *last = strrchr(text, '\n');
	return ro_fail(
		error, RO_ERROR_FAILED, "nbdkit: cannot serve the ISO: %s", last ? last + 1 : text);
}

/* nbdkit writes its pid file when it listens. */
static gboolean wait_ready(const tr_medium_server *server, GError **error)
{
	for (int waited = 0; waited < READY_MS; waited += STEP_MS) {
		if (access(server->pid_file, F_OK) == 0)
			return TRUE;
		if (ro_interrupted(error))
			return FALSE;
		if (!ro_child_running(server->child, NULL))
			return fail_start(server, error);
		g_usleep(STEP_MS * 1000);
	}
	return ro_fail(
		error, RO_ERROR_FAILED, "nbdkit: does not listen after %d s", READY_MS / 1000);
}

static GPtrArray *arguments(
	const tr_medium_server *server, const tr_medium_job *job, const char *plugin)
{
	GPtrArray *argv = g_ptr_array_new_with_free_func(g_free);
	const char *fixed[] = {"nbdkit", "--foreground", "--readonly", "--exit-with-parent",
		"--unix", server->socket, "--pidfile", server->pid_file, plugin};

	for (gsize i = 0; i < G_N_ELEMENTS(fixed); i++)
		g_ptr_array_add(argv, g_strdup(fixed[i]));
	g_ptr_array_add(argv, g_strconcat("file=", job->iso_path, NULL));
	g_ptr_array_add(argv, g_strconcat("log=", server->log, NULL));
	for (const char *const *p = job->parameters; p && *p; p++)
		g_ptr_array_add(argv, g_strdup(*p));
	g_ptr_array_add(argv, NULL);
	return argv;
}

static gboolean start(tr_medium_server *server, const tr_medium_job *job, GError **error)
{
	g_autofree char *plugin = ro_own_file(plugin_name, error);

	if (!plugin)
		return FALSE;
	server->dir_fd = open(job->workdir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (server->dir_fd < 0)
		return ro_fail_errno(error, errno, "%s", job->workdir);
	server->socket = socket_path(job->workdir, server->dir_fd);
	server->log = g_build_filename(job->workdir, job->log_name, NULL);
	server->pid_file = g_build_filename(job->workdir, "medium.pid", NULL);
	server->messages = g_build_filename(job->workdir, "nbdkit.log", NULL);
	unlink(server->socket);
	unlink(server->pid_file);
	unlink(server->log);
	g_autoptr(GPtrArray) argv = arguments(server, job, plugin);
	server->child =
		ro_child_start((const char *const *)argv->pdata, NULL, server->messages, -1, error);
	return server->child && wait_ready(server, error);
}

tr_medium_server *tr_medium_server_start(const tr_medium_job *job, GError **error)
{
	tr_medium_server *server = g_new0(tr_medium_server, 1);

	server->dir_fd = -1;
	if (start(server, job, error))
		return server;
	tr_medium_server_stop(server);
	return NULL;
}
