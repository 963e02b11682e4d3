/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The guest's console: failures are known by their texts, whole or in pieces. */
#include <string.h>

#include "trace/console.h"

static tr_console *console_of(const char *text)
{
	tr_console *console = tr_console_new();

	tr_console_push(console, text, strlen(text));
	return console;
}

static const struct {
	const char *name, *text, *what, *hint, *line;
} failures[] = {
	{"panic",
		"a\n[   12.3] Kernel panic - not syncing: Attempted to kill init! exitcode=0x00000100\nb",
		"the guest's kernel panicked", "its console may say why",
		"[   12.3] Kernel panic - not syncing: Attempted to kill init! exitcode=0x00000100"},
	/* Pitfall H5. */
	{"processor-too-old",
		"Kernel panic - not syncing: Attempted to kill init! exitcode=0x00007f00",
		"the guest's init could not run",
		"a program or library that it needs is missing, or wants a newer processor than the virtual one",
		NULL},
	/* Pitfall H6. */
	{"no-init", "Kernel panic - not syncing: No working init found.  Try passing init= option",
		"the kernel found no init",
		"its initrd may not have fitted into memory: give it more with --memory", NULL},
	{"no-root",
		"Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)",
		"the kernel found no root",
		"its initrd may not have fitted into memory: give it more with --memory", NULL},
	{"out-of-memory", "Kernel panic - not syncing: System is deadlocked on memory",
		"the guest ran out of memory", "give it more with --memory", NULL},
	{"initrd-does-not-fit", "[    0.9] Initramfs unpacking failed: write error",
		"the guest ran out of memory", "give it more with --memory", NULL},
	{"initramfs-tools", "BusyBox\r\n\r\n(initramfs) ",
		"the guest fell into the emergency shell of its initramfs", NULL, "(initramfs) "},
	{"coloured", "\033[0;31m(initramfs) \033[0m",
		"the guest fell into the emergency shell of its initramfs", NULL, "(initramfs) "},
	{"dracut", "dracut:/# ", "the guest fell into the emergency shell of its initramfs", NULL,
		NULL},
	{"mkinitcpio", "[rootfs ~]# ", "the guest fell into the emergency shell of its initramfs",
		NULL, NULL},
	{"systemd", "You are in emergency mode. After logging in, type \"journalctl -xb\"",
		"the guest fell into emergency mode", NULL, NULL},
	{"grub", "\rgrub> ", "the guest stopped in its boot loader", NULL, NULL},
	{"agent", "[    2.0] reorder-agent: second serial line: No such device",
		"the guest agent could not work", NULL, NULL},
};

static void test_failure(gconstpointer data)
{
	gsize i = GPOINTER_TO_SIZE(data), length = strlen(failures[i].text);

	for (gsize cut = 0; cut <= length; cut++) {
		g_autoptr(tr_console) console = tr_console_new();
		tr_console_push(console, failures[i].text, cut);
		tr_console_push(console, failures[i].text + cut, length - cut);
		const tr_console_failure *failure = tr_console_get_failure(console);
		g_assert_nonnull(failure);
		g_assert_cmpstr(failure->what, ==, failures[i].what);
		if (failures[i].hint)
			g_assert_cmpstr(failure->hint, ==, failures[i].hint);
		if (failures[i].line)
			g_assert_cmpstr(failure->line, ==, failures[i].line);
	}
}

static void test_no_failure(void)
{
	static const char *const fine[] = {"",
		"debian login: ", "press e for the (initramfs) shell", "see grub> in the manual",
		"Reached target emergency.target", "kernel panic timeout set to -1"};

	for (guint i = 0; i < G_N_ELEMENTS(fine); i++) {
		g_autoptr(tr_console) console = console_of(fine[i]);
		g_assert_null(tr_console_get_failure(console));
	}
}

static void test_graver_wins(void)
{
	g_autoptr(tr_console) console = console_of(
		"(initramfs) exit\nKernel panic - not syncing: Attempted to kill init!\n(initramfs) ");

	g_assert_cmpstr(tr_console_get_failure(console)->what, ==, "the guest's kernel panicked");
}

static void test_watch(void)
{
	g_autoptr(GRegex) regex = g_regex_new("login: $", G_REGEX_RAW, 0, NULL);
	g_autoptr(tr_console) console = tr_console_new();

	tr_console_watch(console, regex);
	tr_console_push(console, "old login: \n", 12);
	g_assert_false(tr_console_matched(console)); /* not armed yet */
	tr_console_arm(console);
	tr_console_push(console, "debian lo", 9);
	g_assert_false(tr_console_matched(console));
	tr_console_push(console, "\033[1mgin: ", 9);
	g_assert_true(tr_console_matched(console)); /* without the end of the line */
}

/* What a guest prints must not act on our terminal. */
static void test_tail_is_printable(void)
{
	g_autoptr(tr_console) console = console_of("\033]0;title\007x\ny\xff\b\033[2Jz");
	g_autofree char *tail = tr_console_tail(console);

	g_assert_cmpstr(tail, ==, "  0;title\\007x\n  y\\377\\010z\n");
}

static void test_tail_keeps_what_led_to_the_failure(void)
{
	g_autoptr(tr_console) console = console_of("cause\nKernel panic - not syncing: x\n");

	for (guint i = 0; i < 100; i++)
		tr_console_push(console, "call trace\n", 11);
	g_autofree char *tail = tr_console_tail(console);
	g_assert_true(
		g_str_has_prefix(tail, "  cause\n  Kernel panic - not syncing: x\n  call trace\n"));
}

static void test_flood(void)
{
	g_autoptr(tr_console) console = tr_console_new();
	g_autofree char *flood = g_strnfill(1 << 20, 'x');

	tr_console_push(console, flood, 1 << 20);
	memset(flood, '\033', 1 << 20);
	tr_console_push(console, flood, 1 << 20);
	g_autofree char *tail = tr_console_tail(console);
	g_assert_cmpuint(strlen(tail), <, 32768);
	g_assert_cmpuint(tr_console_bytes(console), ==, 2 << 20);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	for (gsize i = 0; i < G_N_ELEMENTS(failures); i++) {
		g_autofree char *path = g_strconcat("/console/failure/", failures[i].name, NULL);
		g_test_add_data_func(path, GSIZE_TO_POINTER(i), test_failure);
	}
	g_test_add_func("/console/no-failure", test_no_failure);
	g_test_add_func("/console/graver-failure-wins", test_graver_wins);
	g_test_add_func("/console/watch", test_watch);
	g_test_add_func("/console/tail-is-printable", test_tail_is_printable);
	g_test_add_func("/console/tail-keeps-the-cause", test_tail_keeps_what_led_to_the_failure);
	g_test_add_func("/console/flood", test_flood);
	return g_test_run();
}
