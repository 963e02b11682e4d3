/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/util/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reorder/util/error.h"
#include "reorder/util/interrupt.h"

enum {
	OUT_LIMIT = 64 << 20,
	ERR_LIMIT = 64 << 10,
	LINE_LIMIT = 1 << 16,
	TICK_MS = 250,
	KILL_GRACE_MS = 2000,
	WAIT_MS = 20,
};

struct ro_child {
	pid_t pid;
	char *name;
	gboolean ended;
	int status;
};

typedef struct {
	int in, out, err; /* descriptors that become 0, 1, 2 */
	int pass_fd;
	const char *cwd;
	pid_t parent;
} child_setup;

/* Runs between fork and exec: only async-signal-safe calls. */
static void set_up_child(const child_setup *setup)
{
	sigset_t none;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != setup->parent)
		_exit(127);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	dup2(setup->in, STDIN_FILENO);
	dup2(setup->out, STDOUT_FILENO);
	dup2(setup->err, STDERR_FILENO);
	if (setup->pass_fd >= 0)
		fcntl(setup->pass_fd, F_SETFD, 0);
}

static char **child_environment(void)
{
	char **env = g_get_environ();

	env = g_environ_setenv(env, "LC_ALL", "C", TRUE);
	/* It would add options of its own to every xorriso or mksquashfs. */
	env = g_environ_unsetenv(env, "XORRISO_OPTIONS");
	/* It would clamp times in the images made; the output depends on the input alone. */
	env = g_environ_unsetenv(env, "SOURCE_DATE_EPOCH");
	return env;
}

/*
 * Forks and executes. The child reports a failed exec through a pipe that closes on success.
 * Returns -1 with errno.
 */
static pid_t spawn(const char *const *argv, const child_setup *setup)
{
	g_autofree char *program = g_find_program_in_path(argv[0]);
	g_auto(GStrv) env = child_environment();
	int report[2], code = 0;

	if (!program) {
		errno = ENOENT;
		return -1;
	}
	if (pipe2(report, O_CLOEXEC) < 0)
		return -1;
	pid_t pid = fork();
	if (pid == 0) {
		set_up_child(setup);
		if (!setup->cwd || chdir(setup->cwd) == 0)
			execve(program, (char *const *)argv, env);
		code = errno;
		(void)!write(report[1], &code, sizeof code);
		_exit(127);
	}
	close(report[1]);
	if (pid > 0) {
		setpgid(pid, pid); /* both sides, so that it has happened whoever comes first */
		if (read(report[0], &code, sizeof code) == sizeof code)
			waitpid(pid, NULL, 0);
	}
	close(report[0]);
	if (code) {
		errno = code;
		return -1;
	}
	return pid;
}

static gboolean fail_start(GError **error, int err, const char *name)
{
	return ro_fail_errno(error, err, "%s: cannot be run", name);
}

/* One stream of a child: collected, cut into lines, or both. */
typedef struct {
	int fd;
	GString *collected; /* or NULL */
	gsize limit;
	gboolean keep_tail;
	ro_line_func on_line; /* or NULL */
	gpointer data;
	GString *line;
} stream;

static void stream_lines(stream *s, const char *bytes, gsize length)
{
	for (gsize i = 0; i < length; i++) {
		if (bytes[i] != '\n' && bytes[i] != '\r') {
			if (s->line->len < LINE_LIMIT)
				g_string_append_c(s->line, bytes[i]);
			continue;
		}
		s->on_line(s->line->str, s->data);
		g_string_truncate(s->line, 0);
	}
}

static void stream_take(stream *s, const char *bytes, gsize length)
{
	if (s->on_line)
		stream_lines(s, bytes, length);
	if (!s->collected)
		return;
	if (s->keep_tail && s->collected->len + length > 2 * s->limit)
		g_string_erase(s->collected, 0, (gssize)s->collected->len - (gssize)s->limit);
	if (s->keep_tail || s->collected->len + length <= s->limit)
		g_string_append_len(s->collected, bytes, (gssize)length);
}

/* Reads what is there; closes the descriptor at the end. */
static void stream_pump(stream *s)
{
	char buffer[16384];
	ssize_t n = read(s->fd, buffer, sizeof buffer);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n > 0) {
		stream_take(s, buffer, (gsize)n);
		return;
	}
	if (s->on_line && s->line->len > 0)
		s->on_line(s->line->str, s->data);
	close(s->fd);
	s->fd = -1;
}

static void stream_clear(stream *s)
{
	if (s->fd >= 0)
		close(s->fd);
	g_string_free(s->line, TRUE);
}

static void kill_group(pid_t pid, int number)
{
	if (kill(-pid, number) < 0)
		kill(pid, number);
}

/* Waits until the child has closed its output or an interrupt came. */
static gboolean pump(stream *out, stream *err, const ro_child_spec *spec, GError **error)
{
	while (out->fd >= 0 || err->fd >= 0) {
		struct pollfd fds[] = {{.fd = out->fd, .events = POLLIN},
			{.fd = err->fd, .events = POLLIN},
			{.fd = ro_interrupt_fd(), .events = POLLIN}};
		int n = poll(fds, G_N_ELEMENTS(fds), TICK_MS);
		if (ro_interrupted(error))
			return FALSE;
		if (n < 0 && errno != EINTR)
			return ro_fail_errno(
				error, errno, "%s: its output cannot be read", spec->argv[0]);
		if (n > 0 && fds[0].revents)
			stream_pump(out);
		if (n > 0 && fds[1].revents)
			stream_pump(err);
		if (spec->tick)
			spec->tick(spec->data);
	}
	return TRUE;
}

static gboolean code_is_ok(const ro_child_spec *spec, int code)
{
	if (!spec->ok_codes)
		return code == 0;
	for (const int *p = spec->ok_codes; *p >= 0; p++) {
		if (*p == code)
			return TRUE;
	}
	return FALSE;
}

/* The last line that is not blank; points into text, which is cut. */
static const char *last_line(char *text)
{
	g_strchomp(text);
	char *newline = strrchr(text, '\n');
	return newline ? newline + 1 : text;
}

static gboolean judge(const ro_child_spec *spec, int status, GString *err, GError **error)
{
	g_autofree char *text = g_strdup(err->str);
	const char *said = last_line(text);
	const char *colon = *said ? ": " : "";

	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		return ro_fail(error, RO_ERROR_FAILED,
			"%s was killed, perhaps for want of memory%s%s", spec->argv[0], colon,
			said);
	if (WIFSIGNALED(status))
		return ro_fail(error, RO_ERROR_FAILED, "%s died: %s%s%s", spec->argv[0],
			g_strsignal(WTERMSIG(status)), colon, said);
	if (!code_is_ok(spec, WEXITSTATUS(status)))
		return ro_fail(error, RO_ERROR_FAILED, "%s failed (exit %d)%s%s", spec->argv[0],
			WEXITSTATUS(status), colon, said);
	return TRUE;
}

static int wait_for(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* A child that has closed its output need not have ended. */
static gboolean wait_for_end(ro_child *child, GError **error)
{
	while (ro_child_running(child, NULL)) {
		struct pollfd interrupt = {.fd = ro_interrupt_fd(), .events = POLLIN};
		poll(&interrupt, 1, WAIT_MS);
		if (ro_interrupted(error))
			return FALSE;
	}
	return TRUE;
}

/* SIGTERM, then after grace_ms SIGKILL, to the child and its own children. */
static void end_group(ro_child *child, guint grace_ms)
{
	if (ro_child_running(child, NULL))
		kill_group(child->pid, SIGTERM);
	for (guint waited = 0; ro_child_running(child, NULL) && waited < grace_ms;
		waited += WAIT_MS)
		g_usleep(WAIT_MS * 1000);
	if (child->ended) {
		/* the number of a reaped process may be another's, that of its group is not */
		kill(-child->pid, SIGKILL);
		return;
	}
	kill_group(child->pid, SIGKILL);
	wait_for(child->pid);
}

static void close_pair(const int pair[2])
{
	for (int i = 0; i < 2; i++)
		if (pair[i] >= 0)
			close(pair[i]);
}

static pid_t spawn_with_pipes(const ro_child_spec *spec, int *out_fd, int *err_fd, GError **error)
{
	int out[2] = {-1, -1}, err[2] = {-1, -1};
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (null < 0 || pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0) {
		fail_start(error, errno, spec->argv[0]);
		close_pair(out);
		if (null >= 0)
			close(null);
		return -1;
	}
	child_setup setup = {null, out[1], err[1], -1, spec->cwd, getpid()};
	pid_t pid = spawn(spec->argv, &setup);
	int saved = errno;
	close(null);
	close(out[1]);
	close(err[1]);
	if (pid < 0) {
		close(out[0]);
		close(err[0]);
		fail_start(error, saved, spec->argv[0]);
		return -1;
	}
	*out_fd = out[0];
	*err_fd = err[0];
	return pid;
}

gboolean ro_child_run(const ro_child_spec *spec, int *status, GError **error)
{
	g_autoptr(GString) err_text = g_string_new(NULL);
	GString *err = spec->err ? spec->err : err_text;
	int out_fd, err_fd;

	pid_t pid = spawn_with_pipes(spec, &out_fd, &err_fd, error);
	if (pid < 0)
		return FALSE;
	stream o = {
		out_fd, spec->out, OUT_LIMIT, FALSE, spec->on_out, spec->data, g_string_new(NULL)};
	stream e = {err_fd, err, ERR_LIMIT, TRUE, spec->on_err, spec->data, g_string_new(NULL)};
	ro_child child = {.pid = pid};
	gboolean ok = pump(&o, &e, spec, error) && wait_for_end(&child, error);
	if (ok) {
		int raw = child.status;
		if (status)
			*status = WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
		ok = judge(spec, raw, err, error);
	} else {
		end_group(&child, KILL_GRACE_MS);
	}
	stream_clear(&o);
	stream_clear(&e);
	return ok;
}

static int open_log(const char *path)
{
	if (!path)
		return open("/dev/null", O_WRONLY | O_CLOEXEC);
	return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

ro_child *ro_child_start(const char *const *argv, const char *out_path, const char *err_path,
	int pass_fd, GError **error)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int out = open_log(out_path), err = open_log(err_path);
	child_setup setup = {null, out, err, pass_fd, NULL, getpid()};
	pid_t pid = -1;
	int saved = errno;

	if (null >= 0 && out >= 0 && err >= 0) {
		pid = spawn(argv, &setup);
		saved = errno;
	}
	close(null);
	close(out);
	close(err);
	if (pid < 0) {
		fail_start(error, saved, argv[0]);
		return NULL;
	}
	ro_child *child = g_new0(ro_child, 1);
	child->pid = pid;
	child->name = g_strdup(argv[0]);
	return child;
}

gboolean ro_child_running(ro_child *child, int *status)
{
	if (!child->ended && waitpid(child->pid, &child->status, WNOHANG) == child->pid)
		child->ended = TRUE;
	if (child->ended && status)
		*status = child->status;
	return !child->ended;
}

void ro_child_stop(ro_child *child, guint grace_ms)
{
	if (!child)
		return;
	end_group(child, grace_ms);
	g_free(child->name);
	g_free(child);
}

/* Linux: Documentation/filesystems/proc.rst, 1.8: fields 14 and 15; the name before may hold
 * blanks.
 */
double ro_child_processor_seconds(const ro_child *child)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/stat", (int)child->pid);
	g_autofree char *text = NULL;
	unsigned long long user, system;

	if (!g_file_get_contents(path, &text, NULL, NULL) || !strrchr(text, ')') ||
		sscanf(strrchr(text, ')'),
			") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user,
			&system) != 2)
		return 0;
	return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

pid_t ro_child_pid(const ro_child *child)
{
	return child->pid;
}

gboolean ro_child_need(const char *program, const char *package, GError **error)
{
	g_autofree char *path = g_find_program_in_path(program);

	if (path)
		return TRUE;
	return ro_fail(error, RO_ERROR_FAILED, "%s: not found in PATH; install the package %s",
		program, package);
}

char *ro_own_file(const char *name, GError **error)
{
	g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
	g_autofree char *dir = g_path_get_dirname(self ? self : ".");
	g_autofree char *beside = g_build_filename(dir, name, NULL);
	g_autofree char *up =
		g_build_filename(dir, "..", name, NULL); /* unit tests: build/tests/X */
	g_autofree char *installed =
		g_build_filename(dir, "..", "lib", "reorder-livecd", name, NULL);
	char **candidates[] = {&beside, &up, &installed};

	for (gsize i = 0; i < G_N_ELEMENTS(candidates); i++) {
		if (g_file_test(*candidates[i], G_FILE_TEST_IS_REGULAR))
			return g_steal_pointer(candidates[i]);
	}
	ro_fail(error, RO_ERROR_FAILED,
		"%s: not found beside the program; run make all or install again", name);
	return NULL;
}
