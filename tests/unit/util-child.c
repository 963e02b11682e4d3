/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <glib.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reorder/util/child.h"
#include "reorder/util/error.h"
#include "reorder/util/interrupt.h"

#define SH(script)                                                                                 \
	(const char *const[])                                                                      \
	{                                                                                          \
		"sh", "-c", script, NULL                                                           \
	}

static void test_arguments_are_not_interpreted(void)
{
	const char *const argv[] = {"printf", "%s|", "a b", "$HOME;'\"", "-x", NULL};
	g_autoptr(GString) out = g_string_new(NULL);
	ro_child_spec spec = {.argv = argv, .out = out};

	g_assert_true(ro_child_run(&spec, NULL, NULL));
	g_assert_cmpstr(out->str, ==, "a b|$HOME;'\"|-x|");
}

static void test_environment_and_stdin(void)
{
	g_autoptr(GString) out = g_string_new(NULL);
	ro_child_spec spec = {.argv = SH("echo $LC_ALL; cat; pwd"), .out = out, .cwd = "/"};

	g_assert_true(ro_child_run(&spec, NULL, NULL));
	g_assert_cmpstr(out->str, ==, "C\n/\n");
}

static void count_line(const char *line, gpointer data)
{
	GString *seen = data;
	g_string_append_printf(seen, "<%s>", line);
}

static void test_lines(void)
{
	g_autoptr(GString) seen = g_string_new(NULL);
	ro_child_spec spec = {
		.argv = SH("printf 'one\\ntwo\\r3\\n\\nlast'"), .on_out = count_line, .data = seen};

	g_assert_true(ro_child_run(&spec, NULL, NULL));
	g_assert_cmpstr(seen->str, ==, "<one><two><3><><last>");
}

static void failure(const char *const *argv, const char *message)
{
	g_autoptr(GError) error = NULL;
	ro_child_spec spec = {.argv = argv};

	g_assert_false(ro_child_run(&spec, NULL, &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_FAILED);
	g_assert_cmpstr(error->message, ==, message);
}

static void test_failures_name_the_reason(void)
{
	failure(SH("echo first >&2; echo 'no space' >&2; exit 3"), "sh failed (exit 3): no space");
	failure(SH("exit 1"), "sh failed (exit 1)");
	failure(SH("kill -SEGV $$"), "sh died: Segmentation fault");
	failure(SH("kill -KILL $$"), "sh was killed, perhaps for want of memory");
	failure((const char *const[]){"no-such-program-here", NULL},
		"no-such-program-here: cannot be run: No such file or directory");
}

static void test_expected_codes(void)
{
	const int ok[] = {0, 5, -1};
	int status = -1;
	ro_child_spec spec = {.argv = SH("exit 5"), .ok_codes = ok};

	g_assert_true(ro_child_run(&spec, &status, NULL));
	g_assert_cmpint(status, ==, 5);
}

static void test_large_output(void)
{
	g_autoptr(GString) out = g_string_new(NULL);
	ro_child_spec spec = {
		.argv = SH("head -c 3000000 /dev/zero | tr '\\0' x; head -c 3000000 /dev/zero >&2"),
		.out = out};

	g_assert_true(ro_child_run(&spec, NULL, NULL));
	g_assert_cmpuint(out->len, ==, 3000000);
}

static gboolean process_is_gone(pid_t pid)
{
	for (int i = 0; i < 100; i++) {
		if (kill(pid, 0) < 0 && errno == ESRCH)
			return TRUE;
		g_usleep(20 * 1000);
	}
	return FALSE;
}

/* The child's own children must not survive it: QEMU holds the ISO, mksquashfs fills the disk. */
static void test_stop_ends_the_group(void)
{
	g_autofree char *path = g_strdup_printf("%s/child-test-%d", g_get_tmp_dir(), (int)getpid());
	g_autofree char *text = NULL;
	ro_child *child =
		ro_child_start(SH("trap '' TERM; sleep 100 & echo $!; wait"), path, NULL, -1, NULL);

	g_assert_nonnull(child);
	g_assert_true(ro_child_running(child, NULL));
	for (int i = 0; i < 100 && (!text || !strchr(text, '\n')); i++) {
		g_usleep(20 * 1000);
		g_clear_pointer(&text, g_free);
		g_file_get_contents(path, &text, NULL, NULL);
	}
	pid_t pid = (pid_t)g_ascii_strtoll(text, NULL, 10), shell = ro_child_pid(child);
	ro_child_stop(child, 100);
	g_assert_true(process_is_gone(shell));
	/* an orphan that was killed is a zombie until something reaps it */
	g_autofree char *stat_path = g_strdup_printf("/proc/%d/stat", (int)pid);
	gboolean gone = FALSE;
	for (int i = 0; i < 250 && !gone; i++) {
		g_autofree char *stat = NULL;
		g_usleep(20 * 1000);
		gone = !g_file_get_contents(stat_path, &stat, NULL, NULL) || strstr(stat, ") Z ");
	}
	unlink(path);
	g_assert_true(gone);
}

static void test_interrupt(void)
{
	if (g_test_subprocess()) {
		ro_child_spec spec = {.argv = SH("sleep 100")};
		g_autoptr(GError) error = NULL;
		ro_interrupt_install();
		kill(getpid(), SIGTERM);
		g_assert_false(ro_child_run(&spec, NULL, &error));
		g_assert_error(error, RO_ERROR, RO_ERROR_INTERRUPTED);
		return;
	}
	gint64 start = g_get_monotonic_time();
	g_test_trap_subprocess(NULL, 10 * G_USEC_PER_SEC, 0);
	g_test_trap_assert_passed();
	g_assert_cmpint(g_get_monotonic_time() - start, <, 5 * G_USEC_PER_SEC);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/child/arguments-are-not-interpreted", test_arguments_are_not_interpreted);
	g_test_add_func("/child/environment-and-stdin", test_environment_and_stdin);
	g_test_add_func("/child/lines", test_lines);
	g_test_add_func("/child/failures-name-the-reason", test_failures_name_the_reason);
	g_test_add_func("/child/expected-codes", test_expected_codes);
	g_test_add_func("/child/large-output", test_large_output);
	g_test_add_func("/child/stop-ends-the-group", test_stop_ends_the_group);
	g_test_add_func("/child/interrupt", test_interrupt);
	return g_test_run();
}
