/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/util/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "reorder/util/error.h"

static volatile sig_atomic_t caught;
static int event_fd = -1;

static void note_signal(int number)
{
	int saved = errno;
	guint64 one = 1;

	caught = number;
	if (write(event_fd, &one, sizeof one) < 0) {
		/* The counter is full, so the descriptor is readable already. */
	}
	errno = saved;
}

void ro_interrupt_install(void)
{
	const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction action = {.sa_handler = note_signal};
	struct sigaction old;

	event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	for (gsize i = 0; i < G_N_ELEMENTS(numbers); i++) {
		/* Under nohup SIGHUP is ignored and has to stay so. */
		if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN)
			continue;
		sigaction(numbers[i], &action, NULL);
	}
	signal(SIGPIPE, SIG_IGN);
	/* A limit on file sizes is an error of write(2) like a full disk. */
	signal(SIGXFSZ, SIG_IGN);
}

int ro_interrupt_fd(void)
{
	return event_fd;
}

gboolean ro_interrupted(GError **error)
{
	if (!caught)
		return FALSE;
	ro_fail(error, RO_ERROR_INTERRUPTED, "interrupted by %s", g_strsignal(caught));
	return TRUE;
}

void ro_interrupt_die(void)
{
	if (!caught)
		return;
	signal(caught, SIG_DFL);
	raise(caught);
}
