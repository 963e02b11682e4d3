/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/qemu.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "reorder/util/error.h"

static const char program[] = "qemu-system-x86_64";

gboolean tr_qemu_check(GError **error)
{
	return ro_child_need(program, "qemu-system-x86", error);
}

char *tr_qemu_version(void)
{
	static const char start[] = "QEMU emulator version ";
	const char *const argv[] = {program, "--version", NULL};
	g_autoptr(GString) out = g_string_new(NULL);
	ro_child_spec spec = {.argv = argv, .out = out};

	if (!ro_child_run(&spec, NULL, NULL) || !g_str_has_prefix(out->str, start))
		return NULL;
	const char *version = out->str + strlen(start);
	return g_strndup(version, strcspn(version, "\n"));
}

/* In an option's value a comma is doubled. */
static char *quote(const char *value)
{
	g_auto(GStrv) parts = g_strsplit(value, ",", -1);

	return g_strjoinv(",,", parts);
}

static void add(GPtrArray *argv, const char *option, const char *value)
{
	g_ptr_array_add(argv, g_strdup(option));
	if (value)
		g_ptr_array_add(argv, g_strdup(value));
}

static void add_take(GPtrArray *argv, const char *option, char *value)
{
	add(argv, option, value);
	g_free(value);
}

/* What makes emulation twice as fast, found by boots of a Debian live system with QEMU 7.2. ERMS
 * and FSRM have a kernel copy and clear pages by `rep movsb` and `rep stosb`, which are emulated a
 * byte at a time. Translated code of processes long gone is kept until its memory is written again,
 * and is then searched through for each write; a smaller buffer is emptied as a whole before. */
static const char emulated_processor[] = "max,-erms,-fsrm";
static const char emulator[] = "tcg,thread=multi,tb-size=256";

static void add_processor(GPtrArray *argv, const tr_machine *machine)
{
	gboolean kvm = g_str_equal(machine->accelerator, "kvm");
	const char *model = machine->hardware->cpu_model;

	add(argv, "-machine", tr_chipset_name(machine->hardware->chipset));
	add(argv, "-accel", kvm ? "kvm" : emulator);
	add(argv, "-cpu", model ? model : kvm ? "host" : emulated_processor);
	add_take(argv, "-smp", g_strdup_printf("%u", machine->cpus));
	add_take(argv, "-m", g_strdup_printf("%" G_GUINT64_FORMAT "M", machine->memory >> 20));
}

static void add_lines(GPtrArray *argv, const tr_machine *machine)
{
	g_autofree char *console = quote(machine->console);

	add_take(argv, "-chardev", g_strdup_printf("pipe,id=console,path=%s", console));
	add(argv, "-serial", "chardev:console");
	if (machine->agent_fd < 0)
		return;
	add_take(argv, "-chardev", g_strdup_printf("socket,id=agent,fd=%d", machine->agent_fd));
	add(argv, "-serial", "chardev:agent");
}

static void add_monitor(GPtrArray *argv, const tr_machine *machine)
{
	add(argv, "-monitor", "none");
	if (!machine->monitor)
		return;
	g_autofree char *monitor = quote(machine->monitor);
	add_take(argv, "-chardev", g_strdup_printf("pipe,id=monitor,path=%s", monitor));
	add(argv, "-mon", "chardev=monitor,mode=readline");
}

static void add_flash(GPtrArray *argv, guint unit, const char *file, gboolean read_only)
{
	g_autofree char *quoted = quote(file);

	add_take(argv, "-drive",
		g_strdup_printf("if=pflash,format=raw,unit=%u,readonly=%s,file=%s", unit,
			read_only ? "on" : "off", quoted));
}

/* A kernel of its own, which either firmware starts, or what the medium boots. */
static void add_start(GPtrArray *argv, const tr_machine *machine)
{
	if (machine->kernel) {
		add(argv, "-kernel", machine->kernel);
		if (machine->initrd)
			add(argv, "-initrd", machine->initrd);
		add(argv, "-append", machine->cmdline);
	}
	if (!machine->uefi_code)
		return;
	add_flash(argv, 0, machine->uefi_code, TRUE);
	add_flash(argv, 1, machine->uefi_vars, FALSE);
}

static void add_medium(GPtrArray *argv, const tr_machine *machine)
{
	g_autofree char *socket = quote(machine->medium_socket);

	add_take(argv, "-blockdev",
		g_strdup_printf(
			"driver=nbd,node-name=medium,read-only=on,server.type=unix,server.path=%s",
			socket));
}

GPtrArray *tr_qemu_arguments(const tr_machine *machine)
{
	GPtrArray *argv = g_ptr_array_new_with_free_func(g_free);

	add(argv, program, NULL);
	add(argv, "-name", "reorder-livecd");
	add(argv, "-nodefaults", NULL);
	add(argv, "-no-user-config", NULL);
	add(argv, "-sandbox",
		"on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny");
	add_processor(argv, machine);
	add(argv, "-display", "none");
	add_monitor(argv, machine);
	add(argv, "-no-reboot", NULL);
	add(argv, "-netdev", "user,id=net,restrict=on");
	add_lines(argv, machine);
	add_medium(argv, machine);
	tr_hardware_add_devices(machine->hardware, !machine->kernel, argv);
	add_start(argv, machine);
	g_ptr_array_add(argv, NULL);
	return argv;
}

ro_child *tr_qemu_start(const tr_machine *machine, GError **error)
{
	g_autoptr(GPtrArray) argv = tr_qemu_arguments(machine);

	return ro_child_start(
		(const char *const *)argv->pdata, NULL, machine->log, machine->agent_fd, error);
}

/* As QEMU takes it. Where the kernel promises everything, what there is still counts. */
static gboolean can_have(guint64 bytes)
{
	struct sysinfo host;

	if (sysinfo(&host) == 0 &&
		bytes > ((guint64)host.totalram + host.totalswap) * host.mem_unit)
		return FALSE;
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return memory != MAP_FAILED && munmap(memory, bytes) == 0;
}

gboolean tr_memory_check(guint64 bytes, GError **error)
{
	if (can_have(bytes))
		return TRUE;
	return ro_fail(error, RO_ERROR_FAILED,
		"virtual machine: %" G_GUINT64_FORMAT
		" MiB of memory are more than this machine can give; choose less with --memory",
		bytes >> 20);
}

/* Being able to open the device says little: only making a machine shows whether there is
 * virtualisation. */
gboolean tr_kvm_check(GError **error)
{
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);

	if (kvm < 0)
		return ro_fail_errno(error, errno, "/dev/kvm");
	int vm = ioctl(kvm, KVM_CREATE_VM, 0UL);
	int reason = errno;
	close(kvm);
	if (vm < 0)
		return ro_fail_errno(error, reason, "/dev/kvm: no virtual machine can be made");
	close(vm);
	return TRUE;
}
