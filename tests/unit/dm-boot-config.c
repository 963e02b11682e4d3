/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dm/boot_config.h"

#include "iso/boot_config.h"
#include "reorder/util/error.h"
#include "tests/unit/iso-fixture.h"

static const dmx_framework *framework(const char *name)
{
	for (const dmx_framework *f = dmx_frameworks; f->name; f++)
		if (g_str_equal(f->name, name))
			return f;
	g_assert_not_reached();
}

static GBytes *read_text(const char *path, gpointer user, GError **error)
{
	return li_iso_read(user, li_iso_find(user, path), LI_CONFIG_MAX_TEXT, error);
}

/* Edits all entries of the only configuration, which has this text, and proves it. */
static char *edit_with(const char *name, const char *path, const char *text, GError **error)
{
	const char *const files[] = {
		path, text, "/live/vmlinuz", "k", "/live/initrd", "i", "/more.cfg", "", NULL};
	g_autoptr(li_iso) iso = fixture_iso(files);
	g_autoptr(GPtrArray) choices =
		g_ptr_array_new_with_free_func((GDestroyNotify)dmx_choice_free);
	g_autoptr(GHashTable) texts = NULL;
	g_autoptr(GPtrArray) entries = NULL;
	GBytes *edited;

	li_boot_config_read(iso);
	for (guint i = 0; i < iso->entries->len; i++)
		g_ptr_array_add(choices, dmx_choice_new(iso->entries->pdata[i], framework(name)));
	texts = dmx_boot_config_edit(choices, read_text, iso, error);
	if (!texts)
		return NULL;
	entries = li_boot_config_preview(iso, texts, NULL);
	if (!dmx_boot_config_same(choices, entries, RO_ERROR_UNSUITABLE, error))
		return NULL;
	edited = g_hash_table_lookup(texts, path);
	return edited ? g_strndup(g_bytes_get_data(edited, NULL), g_bytes_get_size(edited)) : NULL;
}

static void check(const char *name, const char *path, const char *text, const char *wanted)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *edited = edit_with(name, path, text, &error);

	g_assert_no_error(error);
	g_assert_cmpstr(edited, ==, wanted);
}

static void check_refused(const char *name, const char *path, const char *text, const char *reason)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *edited = edit_with(name, path, text, &error);

	g_assert_null(edited);
	g_assert_error(error, RO_ERROR, RO_ERROR_UNSUITABLE);
	if (!strstr(error->message, reason))
		g_error("\"%s\" has no \"%s\"", error->message, reason);
}

#define ISOLINUX "/isolinux/isolinux.cfg"
#define GRUB "/boot/grub/grub.cfg"
#define LIVE "live-media=/dev/mapper/reorder-hot rdinit=/.reorder-hot/init"

static void test_isolinux(void)
{
	check("live-boot", ISOLINUX,
		"default menu.c32\n"
		"label one\n"
		"  menu default\n"
		"\tLINUX /live/vmlinuz\n"
		"  initrd /live/initrd\n"
		"  APPEND boot=live components  quiet \r\n"
		"label two\n"
		"  menu label ^Fail-safe\n"
		"  kernel /live/vmlinuz\n"
		"  append boot=live initrd=/live/initrd noapic\n"
		"label three\n"
		"  kernel /live/vmlinuz\n"
		"  append initrd=/live/initrd boot=live live-media=removable  x --- quiet",
		"default menu.c32\n"
		"label one\n"
		"  menu default\n"
		"\tLINUX /live/vmlinuz\n"
		"  initrd /live/initrd\n"
		"  APPEND boot=live components  quiet " LIVE " \r\n"
		"label two\n"
		"  menu label ^Fail-safe\n"
		"  kernel /live/vmlinuz\n"
		"  append boot=live initrd=/live/initrd noapic\n"
		"label three\n"
		"  kernel /live/vmlinuz\n"
		"  append initrd=/live/initrd boot=live  x " LIVE " --- quiet");
}

static void test_isolinux_global_append(void)
{
	check("live-boot", ISOLINUX,
		"append boot=live initrd=/live/initrd\n"
		"label one\nkernel /live/vmlinuz\n"
		"label two\nkernel /live/vmlinuz\n",
		"append boot=live initrd=/live/initrd " LIVE "\n"
		"label one\nkernel /live/vmlinuz\n"
		"label two\nkernel /live/vmlinuz\n");
}

static void test_isolinux_words_behind_the_kernel(void)
{
	check("live-boot", ISOLINUX,
		"label one\nlinux /live/vmlinuz boot=live\ninitrd /live/initrd\n",
		"label one\nlinux /live/vmlinuz boot=live " LIVE "\ninitrd /live/initrd\n");
}

static void test_isolinux_shared_with_one_that_stays(void)
{
	check_refused("live-boot", ISOLINUX,
		"append boot=live initrd=/live/initrd\n"
		"label one\nmenu default\nkernel /live/vmlinuz\n"
		"label two\nmenu label failsafe\nkernel /live/vmlinuz\n",
		"isolinux.cfg:5: the preload cannot be added");
}

static void test_grub(void)
{
	check("live-boot", GRUB,
		"set default=0\n"
		"menuentry \"Live\" --hotkey=l {\n"
		"linux\t/live/vmlinuz boot=live \\\n\tcomponents 'a b' findiso=${iso_path} # why\n"
		"initrd\t/live/initrd\n}\n"
		"menuentry 'Live (fail-safe)' {\n"
		"linux /live/vmlinuz boot=live noapic\ninitrd /live/initrd\n}\n"
		"menuentry 'RAM' { linux /live/vmlinuz boot=live toram; initrd /live/initrd; }\n"
		"menuentry 'One line' { linux /live/vmlinuz boot=live; initrd /live/initrd; }\n",
		"set default=0\n"
		"menuentry \"Live\" --hotkey=l {\n"
		"linux\t/live/vmlinuz boot=live \\\n\tcomponents 'a b' findiso=${iso_path} " LIVE
		" # why\n"
		"initrd\t/live/initrd\n}\n"
		"menuentry 'Live (fail-safe)' {\n"
		"linux /live/vmlinuz boot=live noapic\ninitrd /live/initrd\n}\n"
		"menuentry 'RAM' { linux /live/vmlinuz boot=live toram; initrd /live/initrd; }\n"
		"menuentry 'One line' { linux /live/vmlinuz boot=live " LIVE
		"; initrd /live/initrd; }\n");
}

static void test_grub_variables(void)
{
	check("casper", GRUB,
		"set args='boot=casper quiet'\n"
		"menuentry 'Live' {\nlinux $kernel /live/vmlinuz $args --- splash\n"
		"initrd /live/initrd\n}\n",
		"set args='boot=casper quiet'\n"
		"menuentry 'Live' {\nlinux $kernel /live/vmlinuz $args " LIVE " --- splash\n"
		"initrd /live/initrd\n}\n");
	/* The word to replace stands elsewhere. */
	check_refused("dracut dmsquash-live", GRUB,
		"set args='root=live:CDLABEL=X rd.live.image'\n"
		"menuentry 'Live' {\nlinux /live/vmlinuz $args\ninitrd /live/initrd\n}\n",
		"grub.cfg:2: the preload cannot be added");
}

static void test_grub_loop(void)
{
	check("live-boot", GRUB,
		"for mode in a b; do\nmenuentry \"Live $mode\" {\n"
		"linux /live/vmlinuz boot=live mode=$mode\ninitrd /live/initrd\n}\ndone\n",
		"for mode in a b; do\nmenuentry \"Live $mode\" {\n"
		"linux /live/vmlinuz boot=live mode=$mode " LIVE
		"\ninitrd /live/initrd\n}\ndone\n");
}

static void test_dracut(void)
{
	check("dracut dmsquash-live", GRUB,
		"menuentry 'L' {\nlinuxefi /live/vmlinuz root=live:CDLABEL=A\\x20B  rd.live.image "
		"quiet\ninitrdefi /live/initrd\n}\n",
		"menuentry 'L' {\nlinuxefi /live/vmlinuz  rd.live.image quiet "
		"root=live:/dev/mapper/reorder-hot rdinit=/.reorder-hot/init\n"
		"initrdefi /live/initrd\n}\n");
}

static void test_archiso(void)
{
	check("archiso", ISOLINUX,
		"label a\nlinux /live/vmlinuz\ninitrd /live/initrd\n"
		"append archisobasedir=arch archisosearchuuid=2026-01-01-00-00-00-00\n",
		"label a\nlinux /live/vmlinuz\ninitrd /live/initrd\n"
		"append archisobasedir=arch archisodevice=/dev/mapper/reorder-hot copytoram=n "
		"rdinit=/.reorder-hot/init\n");
	check("archiso", ISOLINUX,
		"label a\nlinux /live/vmlinuz\ninitrd /live/initrd\n"
		"append archisolabel=X copytoram=n\n",
		"label a\nlinux /live/vmlinuz\ninitrd /live/initrd\n"
		"append archisolabel=X copytoram=n archisodevice=/dev/mapper/reorder-hot "
		"rdinit=/.reorder-hot/init\n");
}

static void test_too_long(void)
{
	g_autofree char *words = g_strnfill(2000, 'x');
	g_autofree char *text = g_strconcat("label a\nlinux /live/vmlinuz\ninitrd /live/initrd\n",
		"append boot=live ", words, "\n", NULL);

	check_refused("live-boot", ISOLINUX, text, "longer than the kernel takes");
}

/* Frameworks */

static void check_words(
	const char *name, const char *cmdline, gboolean started, guint patience, const char *unfit)
{
	const dmx_framework *f = framework(name);
	g_autofree char *word = dmx_framework_unfit(f, cmdline);

	g_assert_cmpint(dmx_framework_has_cmdline(f, cmdline), ==, started);
	g_assert_cmpuint(dmx_framework_patience(f, cmdline), ==, patience);
	g_assert_cmpstr(word, ==, unfit);
}

static void test_frameworks(void)
{
	check_words("live-boot", "boot=live components", TRUE, 60, NULL);
	check_words("live-boot", "boot=casper", FALSE, 60, NULL);
	check_words("live-boot", "xboot=live boot=lively", FALSE, 60, NULL);
	check_words("live-boot", "boot=live toram", TRUE, 60, "toram");
	check_words("live-boot", "boot=live toram=filesystem.squashfs", TRUE, 60,
		"toram=filesystem.squashfs");
	check_words("live-boot", "boot=live findiso= nopersistence", TRUE, 60, NULL);
	check_words("casper", "boot=casper iso-scan/filename=/a.iso", TRUE, 60,
		"iso-scan/filename=/a.iso");
	check_words("dracut dmsquash-live", "root=live:CDLABEL=X", TRUE, 120, NULL);
	check_words(
		"dracut dmsquash-live", "root=UUID=1 rd.live.image rd.retry=30", TRUE, 20, NULL);
	check_words(
		"dracut dmsquash-live", "root=live:X rd.live.ram=1", TRUE, 120, "rd.live.ram=1");
	check_words("dracut dmsquash-live", "root=/dev/sda1", FALSE, 120, NULL);
	check_words("archiso", "archisobasedir=arch copytoram=n", TRUE, 30, NULL);
	check_words("archiso", "archisobasedir=arch copytoram", TRUE, 30, "copytoram");
}

static const char *found(const char *member)
{
	for (const dmx_framework *f = dmx_frameworks; f->name; f++)
		if (dmx_framework_has_member(f, member))
			return f->name;
	return NULL;
}

static void test_members(void)
{
	g_assert_cmpstr(found("scripts/live"), ==, "live-boot");
	g_assert_cmpstr(found("scripts/casper"), ==, "casper");
	g_assert_cmpstr(found("usr/lib/dracut/hooks/cmdline/30-parse-dmsquash-live.sh"), ==,
		"dracut dmsquash-live");
	g_assert_cmpstr(found("hooks/archiso"), ==, "archiso");
	g_assert_cmpstr(found("lib/dracut/hooks/cmdline/30-parse-kiwi-live.sh"), ==, "kiwi-live");
	g_assert_cmpstr(found("scripts/live-premount/x"), ==, NULL);
	g_assert_cmpstr(found("scripts/local"), ==, NULL);
	g_assert_nonnull(framework("kiwi-live")->refusal);
}

static void check_choice(
	const char *title, const char *cmdline, gboolean is_default, gboolean edited)
{
	li_entry entry = {.title = (char *)title,
		.cmdline = (char *)cmdline,
		.is_live = TRUE,
		.is_default = is_default};
	dmx_choice *choice = dmx_choice_new(&entry, framework("live-boot"));

	g_assert_cmpint(choice->framework != NULL, ==, edited);
	g_assert_cmpint(choice->reason == NULL, ==, edited);
	dmx_choice_free(choice);
}

static void test_choices(void)
{
	check_choice("Live", "boot=live", FALSE, TRUE);
	check_choice("Live (Fail-Safe mode)", "boot=live", FALSE, FALSE);
	check_choice("Live", "boot=live acpi=off", FALSE, FALSE);
	check_choice("Live", "boot=live acpi=off", TRUE, TRUE);
	check_choice("To RAM", "boot=live toram", TRUE, FALSE);
	check_choice("Check", "memtest", FALSE, FALSE);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/isolinux/golden", test_isolinux);
	g_test_add_func("/isolinux/global-append", test_isolinux_global_append);
	g_test_add_func("/isolinux/words-behind-the-kernel", test_isolinux_words_behind_the_kernel);
	g_test_add_func(
		"/isolinux/shared-with-one-that-stays", test_isolinux_shared_with_one_that_stays);
	g_test_add_func("/grub/golden", test_grub);
	g_test_add_func("/grub/variables", test_grub_variables);
	g_test_add_func("/grub/loop", test_grub_loop);
	g_test_add_func("/dracut", test_dracut);
	g_test_add_func("/archiso", test_archiso);
	g_test_add_func("/too-long", test_too_long);
	g_test_add_func("/frameworks/words", test_frameworks);
	g_test_add_func("/frameworks/members", test_members);
	g_test_add_func("/choices", test_choices);
	return g_test_run();
}
