/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "iso/boot_config.h"

#include <time.h>

#include "tests/unit/iso-fixture.h"

#define KERNELS                                                                                    \
	"/live/vmlinuz", "k", "/live/initrd.img", "i", "/live/ucode.img", "u", "/live/memtest",    \
		"m", "/install/vmlinuz", "k", "/casper/vmlinuz", "k", "/casper/initrd", "i"

static li_iso *parse(const char *const *files)
{
	li_iso *iso = fixture_iso(files);

	li_boot_config_read(iso);
	return iso;
}

#define ISO(...) parse((const char *const[]){__VA_ARGS__, KERNELS, NULL})

/* "title|kernel|initrd,initrd|cmdline", "*" before the default, "+" before a live one. */
static char *text_of(const li_entry *entry)
{
	g_autofree char *initrds = NULL;

	g_ptr_array_add(entry->initrds, NULL);
	initrds = g_strjoinv(",", (char **)entry->initrds->pdata);
	g_ptr_array_set_size(entry->initrds, (gint)entry->initrds->len - 1);
	return g_strdup_printf("%s%s%s|%s|%s|%s", entry->is_default ? "*" : "",
		entry->is_live ? "+" : "", entry->title, entry->kernel, initrds, entry->cmdline);
}

static void check_entry(const li_iso *iso, guint index, const char *expected)
{
	g_autofree char *text = NULL;

	g_assert_cmpuint(iso->entries->len, >, index);
	text = text_of(iso->entries->pdata[index]);
	g_assert_cmpstr(text, ==, expected);
}

static void check_entries(li_iso *iso, const char *const *expected)
{
	guint count = g_strv_length((char **)expected);

	for (guint i = 0; i < count; i++)
		check_entry(iso, i, expected[i]);
	g_assert_cmpuint(iso->entries->len, ==, count);
	li_iso_free(iso);
}

#define CHECK(iso, ...) check_entries(iso, (const char *const[]){__VA_ARGS__, NULL})

/* ---- isolinux ---- */

static void test_syslinux_includes(void)
{
	li_iso *iso = ISO("/isolinux/isolinux.cfg",
		"include menu.cfg\ndefault vesamenu.c32\nprompt 0\ntimeout 0\n",
		"/isolinux/menu.cfg", "menu hshift 7\ninclude sub/live.cfg\n",
		"/isolinux/sub/live.cfg",
		"label live-amd64\n\tmenu label ^Live (amd64)\n\tmenu default\n"
		"\tlinux /live/vmlinuz\n\tinitrd /live/initrd.img\n\tappend boot=live components\n"
		"\nlabel live-failsafe\n\tmenu label ^Live failsafe\n\tlinux /live/vmlinuz\n"
		"\tinitrd /live/initrd.img\n\tappend boot=live noapic\n");

	/* The file and line of the entry itself. */
	g_assert_cmpuint(iso->entries->len, ==, 2);
	g_assert_cmpstr(((li_entry *)iso->entries->pdata[1])->config, ==, "/isolinux/sub/live.cfg");
	g_assert_cmpuint(((li_entry *)iso->entries->pdata[1])->line, ==, 8);
	CHECK(iso, "*+Live (amd64)|/live/vmlinuz|/live/initrd.img|boot=live components",
		"+Live failsafe|/live/vmlinuz|/live/initrd.img|boot=live noapic");
}

static void test_syslinux_keywords_in_any_case(void)
{
	CHECK(ISO("/ISOLINUX/ISOLINUX.CFG",
		      "DEFAULT Live\nLaBeL live\n KeRNeL /LIVE/VMLINUZ\n ApPeNd INITRD=x "
		      "initrd=/LIVE/Initrd.IMG Boot=X\n"),
		"*+live|/live/vmlinuz|/live/initrd.img|INITRD=x Boot=X");
}

static void test_syslinux_initrd_lists(void)
{
	CHECK(ISO("/isolinux/isolinux.cfg",
		      "label a\n kernel ../live/vmlinuz\n append x "
		      "initrd=../live/ucode.img,../live/initrd.img y\n"
		      "label b\n linux ::/live/vmlinuz\n append initrd=/live/ucode.img z\n"
		      " initrd /live/ucode.img,/live/initrd.img\n"),
		"*+a|/live/vmlinuz|/live/ucode.img,/live/initrd.img|x y",
		"+b|/live/vmlinuz|/live/ucode.img,/live/initrd.img|z");
}

static void test_syslinux_append(void)
{
	CHECK(ISO("/isolinux/isolinux.cfg",
		      "append global=1 boot=live\nlabel a\n linux /live/vmlinuz\n"
		      "label b\n linux /live/vmlinuz\n append -\n"
		      "label c\n linux /live/vmlinuz\n append own  \"two  blanks\"\n ipappend 2\n"),
		"*+a|/live/vmlinuz||global=1 boot=live", "+b|/live/vmlinuz||",
		"+c|/live/vmlinuz||own  \"two  blanks\"");
}

/* H1: a menu that waits for a key still has a default. */
static void test_syslinux_default(void)
{
	static const char labels[] = "label a\n linux /live/vmlinuz\n append a\n"
				     "label b\n linux /live/vmlinuz\n append b\n menu default\n"
				     "label c\n linux /live/vmlinuz\n append c\n"
				     "label hd\n localboot 0x80\n";
	static const struct {
		const char *head;
		const char *first; /* the default, or the first entry if there is none */
	} cases[] = {
		{"ui vesamenu.c32\ntimeout 0\nprompt 1\n", "*+b|/live/vmlinuz||b"},
		{"default c\nui menu.c32\n", "*+c|/live/vmlinuz||c"},
		{"default C\n", "*+c|/live/vmlinuz||c"},
		{"ontimeout a\ndefault vesamenu.c32\n", "*+a|/live/vmlinuz||a"},
		{"default hd\n", "+a|/live/vmlinuz||a"},
		{"default nowhere\n", "*+b|/live/vmlinuz||b"},
	};

	for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *text = g_strconcat(cases[i].head, labels, NULL);
		li_iso *iso = ISO("/isolinux/isolinux.cfg", text);

		g_assert_cmpuint(iso->entries->len, ==, 3);
		check_entry(iso, 0, cases[i].first);
		li_iso_free(iso);
	}
}

static void test_syslinux_first_is_default(void)
{
	CHECK(ISO("/isolinux/isolinux.cfg",
		      "default menu.c32\nlabel gone\n linux /live/vmlinuz\n append g\n menu hide\n"
		      "label line\n menu disable\n"
		      "label a\n linux /live/vmlinuz\n append a\n"),
		"*+a|/live/vmlinuz||a", "+gone|/live/vmlinuz||g");
}

static void test_syslinux_default_is_a_command(void)
{
	CHECK(ISO("/isolinux.cfg", "default /live/vmlinuz initrd=/live/initrd.img quiet\n"),
		"*+/live/vmlinuz|/live/vmlinuz|/live/initrd.img|quiet");
}

static void test_syslinux_submenus(void)
{
	CHECK(ISO("/isolinux/isolinux.cfg",
		      "ui vesamenu.c32\nmenu begin more\n menu title More\n menu default\n"
		      " label x\n  linux /live/vmlinuz\n  append x\n"
		      " label y\n  menu default\n  linux /live/vmlinuz\n  append y\nmenu end\n"
		      "label z\n linux /live/vmlinuz\n append z\n"),
		"*+y|/live/vmlinuz||y", "+x|/live/vmlinuz||x", "+z|/live/vmlinuz||z");
}

static void test_syslinux_help_text_is_no_command(void)
{
	CHECK(ISO("/isolinux/isolinux.cfg",
		      "label a\n linux /live/vmlinuz\n text help\n label no\n linux /no\n endtext\n"
		      " append a # no comment\n# label b\n"),
		"*+a|/live/vmlinuz||a # no comment");
}

/* As archiso does it. */
static void test_syslinux_config_chain(void)
{
	CHECK(ISO("/isolinux/isolinux.cfg",
		      "default select\nlabel select\n com32 boot/syslinux/whichsys.c32\n"
		      " append -pxe- pxe -sys- sys -iso- sys\n"
		      "label sys\n config /arch/sys.cfg\n append /arch/\n"
		      "label pxe\n config /arch/pxe.cfg\n append /arch/\n",
		      "/arch/sys.cfg",
		      "label arch\n menu label Arch\n linux boot/x86_64/vmlinuz\n"
		      " initrd ../live/initrd.img\n append archisolabel=A\n",
		      "/arch/pxe.cfg", "label net\n linux boot/x86_64/vmlinuz\n append net\n",
		      "/arch/boot/x86_64/vmlinuz", "k"),
		"*+Arch|/arch/boot/x86_64/vmlinuz|/live/initrd.img|archisolabel=A",
		"+net|/arch/boot/x86_64/vmlinuz||net");
}

static void test_syslinux_what_is_missing_is_left_out(void)
{
	li_iso *iso = ISO("/isolinux/isolinux.cfg",
		"label a\n linux /no/vmlinuz\nlabel b\n linux /live/vmlinuz\n initrd /no/initrd\n"
		"label c\n linux /live/vmlinuz\n");

	g_assert_cmpuint(iso->notes->len, ==, 2);
	g_assert_cmpstr(iso->notes->pdata[1], ==,
		"/isolinux/isolinux.cfg:3: /no/initrd: not on the ISO; entry left out");
	CHECK(iso, "+c|/live/vmlinuz||");
}

static void test_syslinux_include_cycle(void)
{
	li_iso *iso = ISO("/isolinux/isolinux.cfg",
		"include isolinux.cfg\ninclude b.cfg\nlabel a\n linux /live/vmlinuz\n"
		"label loop\n config isolinux.cfg\n",
		"/isolinux/b.cfg", "include isolinux.cfg\ninclude b.cfg\n");

	g_assert_cmpuint(iso->entries->len, ==, 1);
	li_iso_free(iso);
}

/* ---- GRUB ---- */

static void test_grub_entry(void)
{
	li_iso *iso = ISO("/boot/grub/grub.cfg",
		"# live\nset default=0\n\nmenuentry \"Live \\\"system\\\" (amd64)\" --hotkey=l --class x {\n"
		"  linux  /live/vmlinuz boot=live a=\"b c\" 'd'\"e\" f\\ g\n"
		"  initrd /live/ucode.img \\\n    /live/initrd.img\n}\n");

	g_assert_cmpuint(((li_entry *)iso->entries->pdata[0])->line, ==, 4);
	CHECK(iso, "*+Live \"system\" (amd64)|/live/vmlinuz|/live/ucode.img,/live/initrd.img|"
		   "boot=live \"a=b c\" de \"f g\"");
}

static void test_grub_loaders(void)
{
	CHECK(ISO("/EFI/BOOT/grub.cfg",
		      "menuentry a {linuxefi /casper/vmlinuz boot=casper; initrdefi /casper/initrd}\n"
		      "menuentry 'b' --unrestricted { linux16 ($root)/live/memtest\n }\n"
		      "menuentry \"c\" {\n chainloader +1\n}\n"
		      "menuentry d { linux (cd0,msdos1)/install/vmlinuz --- quiet\n"
		      "initrd (cd0)/live/ucode.img (cd0)/casper/initrd }\n"),
		"*+a|/casper/vmlinuz|/casper/initrd|boot=casper", "b|/live/memtest||",
		"d|/install/vmlinuz|/live/ucode.img,/casper/initrd|--- quiet");
}

static const char four[] =
	"menuentry zero { chainloader +1\n}\n"
	"menuentry 'The first' --id one { linux /live/vmlinuz 1\n}\n"
	"submenu 'More' --id=more {\n"
	" menuentry 'm0' { linux /live/vmlinuz m0\n }\n"
	" menuentry 'm1' $menuentry_id_option 'id-m1' { linux /live/vmlinuz m1\n }\n"
	"}\n"
	"menuentry 'third' { linux /live/vmlinuz 3\n}\n";

static void test_grub_default(void)
{
	static const struct {
		const char *head;
		const char *first;
	} cases[] = {
		{"", "+The first|/live/vmlinuz||1"}, /* zero starts no Linux */
		{"set default=1\n", "*+The first|/live/vmlinuz||1"},
		{"set default=\"3\"\n", "*+third|/live/vmlinuz||3"},
		{"default=one\n", "*+The first|/live/vmlinuz||1"},
		{"set default='The first'\n", "*+The first|/live/vmlinuz||1"},
		{"set default=2\n", "*+m0|/live/vmlinuz||m0"},
		{"set default=\"2>1\"\n", "*+m1|/live/vmlinuz||m1"},
		{"set default='More>id-m1'\n", "*+m1|/live/vmlinuz||m1"},
		{"set default=more\n", "*+m0|/live/vmlinuz||m0"},
		{"set default=nowhere\n", "+The first|/live/vmlinuz||1"},
		{"if [ \"${next_entry}\" ] ; then\n set default=\"${next_entry}\"\nelse\n"
		 " set default=\"3\"\nfi\n",
			"*+third|/live/vmlinuz||3"},
	};

	for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *text = g_strconcat(cases[i].head, four, NULL);
		li_iso *iso = ISO("/boot/grub/grub.cfg", text);

		g_assert_cmpuint(iso->entries->len, ==, 4);
		check_entry(iso, 0, cases[i].first);
		li_iso_free(iso);
	}
}

static void test_grub_variables(void)
{
	CHECK(ISO("/boot/grub/grub.cfg",
		      "set opts=\"boot=live quiet\"\nset dir=/live; k=vmlinuz\nset empty=\n"
		      "menuentry a { linux $dir/${k} $opts \"x=$opts\" '$opts' \\$k ${empty}$nothing\n"
		      "initrd ${dir}/initrd.img\n}\n"),
		"*+a|/live/vmlinuz|/live/initrd.img|boot=live quiet \"x=boot=live quiet\" $opts $k");
}

static void test_grub_sources(void)
{
	CHECK(ISO("/boot/grub/grub.cfg",
		      "source /boot/grub/config.cfg\nconfigfile ($root)/boot/grub/sub/live.cfg\n"
		      "submenu tools { source $prefix/tools.cfg }\n",
		      "/boot/grub/config.cfg", "set default=0\nset opts=boot=live\n",
		      "/boot/grub/sub/live.cfg", "menuentry a { linux /live/vmlinuz $opts\n}\n",
		      "/boot/grub/tools.cfg", "menuentry t { linux16 /live/memtest\n}\n",
		      "/boot/grub/loopback.cfg", "source /boot/grub/grub.cfg\n"),
		"*+a|/live/vmlinuz||boot=live", "t|/live/memtest||");
}

static void test_grub_loopback(void)
{
	CHECK(ISO("/boot/grub/loopback.cfg",
		      "menuentry l { linux /casper/vmlinuz iso-scan/filename=${iso_path} x\n}\n",
		      "/boot/grub/grub.cfg", "menuentry g { linux /live/vmlinuz\n}\n"),
		"*+g|/live/vmlinuz||", "*+l|/casper/vmlinuz||iso-scan/filename= x");
}

static void test_grub_conditions(void)
{
	CHECK(ISO("/boot/grub/grub.cfg",
		      "if [ \"$grub_platform\" = \"efi\" -a -n \"$prefix\" ]; then set p=efi; "
		      "else set p=bios; fi\n"
		      "if [ x$feature_default_font_path = xy ] ; then set f=y ; else set f=n ; fi\n"
		      "if [ ${iso_path} ]; then set o=findiso=${iso_path}; fi\n"
		      "if test -f /live/ucode.img -o -e /nowhere; then set u=/live/ucode.img; fi\n"
		      "if [ ! -d /nowhere ] ; then set d=y; fi\n"
		      "if loadfont x; then set t=y; elif true; then set t=no; else set t=no; fi\n"
		      "if cpuid -l; then\n menuentry m64 { linux /live/vmlinuz 64 $p $f $o $d $t\n"
		      " if false; then linux /install/vmlinuz\n fi\n initrd $u\n }\n"
		      "else\n menuentry m32 { linux /live/vmlinuz 32\n }\nfi\n"
		      "menuentry last { linux /live/vmlinuz last\n}\nset default=1\n"),
		"*+last|/live/vmlinuz||last", "+m64|/live/vmlinuz|/live/ucode.img|64 efi y y y",
		"+m32|/live/vmlinuz||32");
}

static void test_grub_loops_and_functions(void)
{
	CHECK(ISO("/boot/grub/grub.cfg",
		      "function f {\n set opts=dead\n}\n"
		      "for k in vmlinuz memtest; do\n menuentry \"run $k\" { linux /live/$k\n }\ndone\n"
		      "while false; do set opts=dead; done\n"
		      "menuentry a { linux /live/vmlinuz o$opts\n}\n"),
		"*+run vmlinuz|/live/vmlinuz||", "run memtest|/live/memtest||",
		"+a|/live/vmlinuz||o");
}

/* An isolinux that is not what BIOS starts comes behind GRUB. */
static void test_loader_of_the_boot_image_first(void)
{
	static const char *const files[] = {"/isolinux/isolinux.cfg",
		"label i\n linux /live/vmlinuz i\n", "/boot/grub/grub.cfg",
		"menuentry g { linux /live/vmlinuz g\n}\n", KERNELS, NULL};
	li_iso *iso = fixture_iso(files);
	li_boot_image *image = g_new0(li_boot_image, 1);

	image->path = g_strdup("/boot/grub/i386-pc/eltorito.img");
	g_ptr_array_add(iso->boot_images, image);
	li_boot_config_read(iso);
	CHECK(iso, "*+g|/live/vmlinuz||g", "*+i|/live/vmlinuz||i");
}

static void test_default_prefers_live(void)
{
	li_iso *iso = ISO("/isolinux/isolinux.cfg",
		"default mt\nlabel mt\n linux /live/memtest\nlabel in\n linux /install/vmlinuz\n"
		"label a\n linux /live/vmlinuz\n");

	g_assert_cmpstr(li_iso_default_entry(iso)->title, ==, "a");
	li_iso_free(iso);
	iso = ISO("/isolinux/isolinux.cfg", "\n");
	g_assert_null(li_iso_default_entry(iso));
	li_iso_free(iso);
}

/* ---- hostile input: it ends, without a crash ---- */

static void test_grub_hostile(void)
{
	static const char *const texts[] = {"{", "}", "}}}fi fi", "if", "if [", "menuentry",
		"menuentry {", "menuentry a {", "menuentry a { linux", "linux", "initrd", "source",
		"set", "set =", "for", "for x", "for x in", "for x in a b c; do", "while",
		"function", "function f {", "\"", "'", "\\", "$", "${", "${a", "menuentry \"",
		"submenu a { submenu b {", "if true; then", "if true; then else elif fi", "test",
		"[ ]", "[ ! ]", "[ ! ! ! ! ]", "[ -a -o -a ]", "[ a -o ]", "&& ||",
		"set default=>>>>", "set default=99999999999999999999",
		"menuentry a {} set default=0>0>0>0", "a=b=c", "\\\n", "menuentry a { initrd x }",
		"menuentry --id", "menuentry --id=", "menuentry --class"};

	for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
		li_iso *iso = ISO("/boot/grub/grub.cfg", texts[i]);

		g_assert_cmpuint(iso->entries->len, ==, 0);
		li_iso_free(iso);
	}
}

static void test_syslinux_hostile(void)
{
	static const char *const texts[] = {"label", "label\nlinux", "linux /live/vmlinuz",
		"include", "menu", "menu begin\nmenu begin\n", "menu end\nmenu end\n",
		"menu include", "menu include isolinux.cfg tag", "default", "ui",
		"ui menu.c32 isolinux.cfg", "text help", "ontimeout", "append", "menu label x",
		"menu default", "label a\nconfig\n", "label a\nconfig .\n", "label a\nkernel\n",
		"label a\ncom32 whichsys.c32\nappend -iso-",
		"label a\ncom32 menu.c32\nappend isolinux.cfg",
		"default a\nlabel a\ncom32 ifcpu.c32\nappend a",
		"menu begin x\nmenu default\nmenu end\n"};

	for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
		li_iso *iso = ISO("/isolinux/isolinux.cfg", texts[i]);

		g_assert_cmpuint(iso->entries->len, ==, 0);
		li_iso_free(iso);
	}
}

static char *repeated(const char *text, guint count)
{
	GString *all = g_string_new(NULL);

	while (count-- > 0)
		g_string_append(all, text);
	return g_string_free(all, FALSE);
}

static void check_ends(const char *path, char *text)
{
	clock_t start = clock();
	li_iso *iso = ISO(path, text);
	double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;

	g_assert_cmpuint(iso->entries->len, <=, LI_CONFIG_MAX_ENTRIES);
	/* Processor time, with sanitizers; it takes about one second at most. */
	g_assert_cmpfloat(seconds, <, 20);
	li_iso_free(iso);
	g_free(text);
}

static void test_limits(void)
{
	g_autofree char *nest = repeated("for a in 1 2 3 4 5 6 7 8 9; do ", 45);
	g_autofree char *nots = repeated("! ", 500000), *many = repeated("x ", 60000);
	g_autofree char *word = repeated("y", 900000);

	check_ends("/boot/grub/grub.cfg", repeated("if true; then ", 60000));
	check_ends("/boot/grub/grub.cfg", repeated("{", 1000000));
	check_ends("/boot/grub/grub.cfg", repeated("submenu a {", 90000));
	check_ends("/boot/grub/grub.cfg", g_strdup(nest));
	check_ends("/boot/grub/grub.cfg", g_strdup_printf("test %sx\n", nots));
	check_ends(
		"/boot/grub/grub.cfg", g_strdup_printf("for a in %s; do \"%s\"; done", many, word));
	check_ends("/boot/grub/grub.cfg", repeated("a=$a$a$a$a$a$a$a${a}x\n", 40000));
	check_ends("/boot/grub/grub.cfg", repeated("a=\"$a$a x\" $a $a\n", 40000));
	check_ends("/boot/grub/grub.cfg", repeated("source /boot/grub/grub.cfg\n", 38000));
	check_ends("/boot/grub/grub.cfg",
		repeated("menuentry a {linux /live/vmlinuz $x}\nx=x$x\n", 25000));
	check_ends("/isolinux/isolinux.cfg", repeated("include isolinux.cfg\n", 40000));
	check_ends("/isolinux/isolinux.cfg", repeated("menu begin\n", 90000));
	check_ends("/isolinux/isolinux.cfg", repeated("label a\nconfig isolinux.cfg\n", 30000));
	check_ends("/isolinux/isolinux.cfg", repeated("label a\nlinux /live/vmlinuz\n", 30000));
}

/* Each label would have it for its own. */
static void test_syslinux_long_line(void)
{
	g_autofree char *word = repeated("y", 900000);
	g_autofree char *labels = repeated("label a\nlinux /live/vmlinuz\n", 100);
	g_autofree char *text = g_strdup_printf("append a=%s\n%s", word, labels);
	li_iso *iso = ISO("/isolinux/isolinux.cfg", text);

	g_assert_cmpuint(iso->entries->len, ==, 100);
	for (guint i = 0; i < iso->entries->len; i++)
		g_assert_cmpstr(((const li_entry *)iso->entries->pdata[i])->cmdline, ==, "");
	li_iso_free(iso);
}

/* Each would be unpacked. */
static void test_many_initrds(void)
{
	g_autofree char *list = repeated("/live/initrd.img,", LI_CONFIG_MAX_INITRDS);
	g_autofree char *text =
		g_strdup_printf("label a\nlinux /live/vmlinuz\ninitrd %s\n"
				"label b\nlinux /live/vmlinuz\ninitrd %s/live/initrd.img\n",
			list, list);
	li_iso *iso = ISO("/isolinux/isolinux.cfg", text);

	g_assert_cmpuint(iso->entries->len, ==, 1);
	g_assert_cmpstr(((const li_entry *)iso->entries->pdata[0])->title, ==, "a");
	g_assert_cmpuint(iso->notes->len, ==, 1);
	li_iso_free(iso);
}

static void test_paths(void)
{
	static const struct {
		const char *dir, *name, *path;
	} cases[] = {{"/isolinux", "a", "/isolinux/a"}, {"/isolinux", "/a/./b//c", "/a/b/c"},
		{"/isolinux", "../live/a", "/live/a"}, {"/", "../../../a", "/a"},
		{"/a/b", "..", "/a"}, {"/a", "", "/a"}};

	for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *path = li_config_path(cases[i].dir, cases[i].name);

		g_assert_cmpstr(path, ==, cases[i].path);
	}
}

static void test_command_line_words(void)
{
	g_autofree char *last = li_cmdline_value("a=1 xa=2 a=3 b", "a");
	g_autofree char *none = li_cmdline_value("xa=1 ab=2 a", "a");

	g_assert_cmpstr(last, ==, "3");
	g_assert_null(none);
	g_assert_true(li_cmdline_has("x rd.live.image", "rd.live.image"));
	g_assert_true(li_cmdline_has("a=b", "a"));
	g_assert_false(li_cmdline_has("ab xa", "a"));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/syslinux/includes", test_syslinux_includes);
	g_test_add_func("/syslinux/keywords-in-any-case", test_syslinux_keywords_in_any_case);
	g_test_add_func("/syslinux/initrd-lists", test_syslinux_initrd_lists);
	g_test_add_func("/syslinux/append", test_syslinux_append);
	g_test_add_func("/syslinux/default", test_syslinux_default);
	g_test_add_func("/syslinux/first-is-default", test_syslinux_first_is_default);
	g_test_add_func("/syslinux/default-is-a-command", test_syslinux_default_is_a_command);
	g_test_add_func("/syslinux/submenus", test_syslinux_submenus);
	g_test_add_func("/syslinux/help-text-is-no-command", test_syslinux_help_text_is_no_command);
	g_test_add_func("/syslinux/config-chain", test_syslinux_config_chain);
	g_test_add_func(
		"/syslinux/what-is-missing-is-left-out", test_syslinux_what_is_missing_is_left_out);
	g_test_add_func("/syslinux/include-cycle", test_syslinux_include_cycle);
	g_test_add_func("/syslinux/hostile", test_syslinux_hostile);
	g_test_add_func("/syslinux/long-line", test_syslinux_long_line);
	g_test_add_func("/syslinux/many-initrds", test_many_initrds);
	g_test_add_func("/grub/entry", test_grub_entry);
	g_test_add_func("/grub/loaders", test_grub_loaders);
	g_test_add_func("/grub/default", test_grub_default);
	g_test_add_func("/grub/variables", test_grub_variables);
	g_test_add_func("/grub/sources", test_grub_sources);
	g_test_add_func("/grub/loopback", test_grub_loopback);
	g_test_add_func("/grub/conditions", test_grub_conditions);
	g_test_add_func("/grub/loops-and-functions", test_grub_loops_and_functions);
	g_test_add_func("/grub/hostile", test_grub_hostile);
	g_test_add_func(
		"/order/loader-of-the-boot-image-first", test_loader_of_the_boot_image_first);
	g_test_add_func("/order/default-prefers-live", test_default_prefers_live);
	g_test_add_func("/limits", test_limits);
	g_test_add_func("/paths", test_paths);
	g_test_add_func("/command-line-words", test_command_line_words);
	return g_test_run();
}
