/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/image-fixture.h"

#include "reorder/plan/also.h"
#include "reorder/util/error.h"

enum { MIB = 1 << 20 };

/* "value:path" of each, with blanks between them. */
static char *find(const img_tree *tree, const char *const *values, const char *kernel)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GArray) files = ro_also_find(tree, values, kernel, NULL, NULL, &error);
	GString *out = g_string_new(NULL);

	g_assert_no_error(error);
	for (guint i = 0; i < files->len; i++) {
		const ro_also_file *file = &g_array_index(files, ro_also_file, i);
		g_autofree char *path = img_tree_inode_path(tree, file->inode);

		g_string_append_printf(out, "%s%u:%s", i ? " " : "", file->value, path);
	}
	return g_string_free(out, FALSE);
}

#define assert_found(tree, kernel, wanted, ...)                                                    \
	do {                                                                                       \
		const char *const values_[] = {__VA_ARGS__, NULL};                                 \
		g_autofree char *got_ = find(tree, values_, kernel);                               \
		g_assert_cmpstr(got_, ==, wanted);                                                 \
	} while (0)

static void test_patterns(void)
{
	static const char *const files[] = {
		"a/x/deep/1.png", "a/x/2.png", "a/3.png", "a/4.txt", "5.png"};
	g_auto(fixture) fx;

	fx_init(&fx);
	for (guint i = 0; i < G_N_ELEMENTS(files); i++)
		fx_file(&fx, files[i], 100);
	fx_write(&fx, "a/empty.png", "", 0);
	fx_symlink(&fx, "a/link.png", "3.png");
	fx_image(&fx, "");
	assert_found(fx.tree, NULL, "0:a/3.png 0:a/link.png", "a/*.png");
	assert_found(fx.tree, NULL, "0:5.png 0:a/3.png 0:a/link.png 0:a/x/2.png 0:a/x/deep/1.png",
		"**/*.png");
	assert_found(fx.tree, NULL, "0:a/x/2.png 0:a/x/deep/1.png", "/a/x");
	assert_found(fx.tree, NULL, "0:a/x/2.png 0:a/x/deep/1.png", "a/x/");
	assert_found(fx.tree, NULL, "0:a/x/deep/1.png", "**/deep");
	assert_found(fx.tree, NULL, "0:5.png", "./5.png");
	/* Each file once, where the first value puts it. */
	assert_found(fx.tree, NULL, "0:a/4.txt 1:a/3.png 2:a/link.png 2:a/x/2.png 2:a/x/deep/1.png",
		"a/*.txt", "a/[34]*", "./a");
	assert_found(fx.tree, NULL, "0:a/link.png 1:a/3.png", "a/link.png", "a/3.png");
}

static void test_hard_link(void)
{
	static const char *const values[][2] = {{"hot/*", NULL}, {"cold/*", NULL}, {"**", NULL}};
	g_auto(fixture) fx;

	fx_init(&fx);
	fx_file(&fx, "cold/a", 100);
	fx_link(&fx, "cold/a", "hot/b");
	fx_image(&fx, "");
	for (guint i = 0; i < G_N_ELEMENTS(values); i++) {
		g_autoptr(GArray) files = ro_also_find(fx.tree, values[i], NULL, NULL, NULL, NULL);

		g_assert_cmpuint(files->len, ==, 1);
		g_assert_cmpuint(g_array_index(files, ro_also_file, 0).inode, ==,
			fx_inode(fx.tree, "cold/a"));
	}
}

static void test_nothing_meant(void)
{
	static const char *const values[] = {"usr/*.none", "modules", "./a", NULL};
	g_autoptr(GArray) names = g_array_new(FALSE, FALSE, sizeof(guint));
	g_auto(fixture) fx;

	fx_init(&fx);
	fx_file(&fx, "a", 100);
	fx_image(&fx, "");
	assert_found(fx.tree, "6.1.0", "2:a", values[0], values[1], values[2]);
	g_autoptr(GArray) files = ro_also_find(fx.tree, values, "6.1.0", NULL, names, NULL);
	g_assert_cmpuint(names->len, ==, 3);
	for (guint i = 0; i < 3; i++)
		g_assert_cmpuint(g_array_index(names, guint, i), ==, i == 2);
}

/* Two kernels, merged /usr, compressed modules: only the running kernel's, what is read first comes
 * first. */
static void modules_tree(fixture *fx)
{
	static const char *const files[] = {
		"usr/lib/modules/6.1.0-9-amd64/kernel/drivers/net/ethernet/intel/e1000e.ko.xz",
		"usr/lib/modules/6.1.0-9-amd64/kernel/drivers/net/tun.ko",
		"usr/lib/modules/6.1.0-9-amd64/kernel/drivers/gpu/drm/i915/i915.ko",
		"usr/lib/modules/6.1.0-9-amd64/kernel/drivers/ata/ahci.ko",
		"usr/lib/modules/6.1.0-9-amd64/kernel/drivers/usb/storage/uas.ko",
		"usr/lib/modules/6.1.0-9-amd64/kernel/drivers/usb/gadget/g.ko",
		"usr/lib/modules/6.1.0-9-amd64/kernel/drivers/media/tuner.ko",
		"usr/lib/modules/6.1.0-9-amd64/kernel/drivers/infiniband/ib.ko",
		"usr/lib/modules/6.1.0-9-amd64/kernel/fs/isofs/isofs.ko",
		"usr/lib/modules/6.1.0-9-amd64/kernel/fs/ocfs2/ocfs2.ko",
		"usr/lib/modules/6.1.0-9-amd64/kernel/net/sctp/sctp.ko",
		"usr/lib/modules/6.1.0-9-amd64/kernel/net/mac80211/mac80211.ko",
		"usr/lib/modules/6.1.0-9-amd64/kernel/sound/pci/hda/hda.ko",
		"usr/lib/modules/6.1.0-9-amd64/updates/dkms/wl.ko",
		"usr/lib/modules/6.1.0-9-amd64/modules.alias.bin",
		"usr/lib/modules/6.1.0-9-amd64/modules.dep.bin",
		"usr/lib/modules/6.0.0-1-686/kernel/drivers/ata/ahci.ko",
		"usr/lib/modules/6.0.0-1-686/modules.dep.bin",
		"usr/lib/firmware/amdgpu/vega.bin",
		"usr/lib/firmware/i915/kbl_dmc.bin",
		"usr/lib/firmware/iwlwifi-9000.ucode",
		"usr/lib/firmware/netronome/huge.nffw",
		"usr/lib/firmware/regulatory.db",
		"usr/bin/true",
	};

	fx_init(fx);
	for (guint i = 0; i < G_N_ELEMENTS(files); i++)
		fx_file(fx, files[i], 100);
	fx_symlink(fx, "lib", "usr/lib");
	fx_image(fx, "");
}

#define AMD64 "0:usr/lib/modules/6.1.0-9-amd64/"

static const char amd64_modules[] = AMD64
	"modules.alias.bin " AMD64 "modules.dep.bin " AMD64
	"kernel/drivers/usb/storage/uas.ko " AMD64 "kernel/drivers/ata/ahci.ko " AMD64
	"kernel/fs/isofs/isofs.ko " AMD64 "kernel/drivers/gpu/drm/i915/i915.ko " AMD64
	"kernel/drivers/net/tun.ko " AMD64 "kernel/drivers/net/ethernet/intel/e1000e.ko.xz " AMD64
	"kernel/net/mac80211/mac80211.ko " AMD64 "kernel/sound/pci/hda/hda.ko " AMD64
	"updates/dkms/wl.ko "
	"0:usr/lib/firmware/regulatory.db 0:usr/lib/firmware/i915/kbl_dmc.bin "
	"0:usr/lib/firmware/iwlwifi-9000.ucode 0:usr/lib/firmware/amdgpu/vega.bin";

static void test_modules(void)
{
	g_auto(fixture) fx;

	modules_tree(&fx);
	assert_found(fx.tree, "6.1.0-9-amd64", amd64_modules, "modules");
}

/* Of a kernel that the image does not have (a trace of an earlier build), or unknown: those of all.
 */
static void test_modules_of_all_kernels(void)
{
	static const char *const kernels[] = {NULL, "", "5.10.0", "../..", "6.1.0-9-amd64/kernel"};
	static const char *const values[] = {"modules", NULL};
	g_auto(fixture) fx;

	modules_tree(&fx);
	for (guint i = 0; i < G_N_ELEMENTS(kernels); i++) {
		g_autofree char *found = find(fx.tree, values, kernels[i]);

		g_assert_true(g_str_has_prefix(found,
			"0:usr/lib/modules/6.0.0-1-686/modules.dep.bin " AMD64
			"modules.alias.bin " AMD64 "modules.dep.bin "));
		g_assert_nonnull(
			strstr(found, "0:usr/lib/modules/6.0.0-1-686/kernel/drivers/ata/ahci.ko"));
		g_assert_null(strstr(found, "media/tuner.ko"));
	}
}

/* Names in the image are no patterns. */
static void test_modules_of_odd_kernel(void)
{
	g_auto(fixture) fx;

	fx_init(&fx);
	fx_file(&fx, "lib/modules/6[1]*/modules.dep", 100);
	fx_file(&fx, "lib/modules/61x/modules.dep", 100);
	fx_image(&fx, "");
	assert_found(fx.tree, "6[1]*", "0:lib/modules/6[1]*/modules.dep", "modules");
}

static void test_modules_are_bounded(void)
{
	static const char *const files[] = {"modules.dep", "kernel/drivers/ata/a.ko",
		"kernel/drivers/gpu/b.ko", "kernel/drivers/net/tun.ko"};
	static const gsize sizes[] = {100, 40 * MIB, 30 * MIB, 20 * MIB};
	g_auto(fixture) fx;
	guint warnings;

	fx_init(&fx);
	for (guint i = 0; i < G_N_ELEMENTS(files); i++) {
		g_autofree char *path = g_strconcat("lib/modules/6.1/", files[i], NULL);
		g_autofree char *data = g_strnfill(sizes[i], (char)('a' + i));

		fx_write(&fx, path, data, sizes[i]);
	}
	fx_image(&fx, "-noD -noF");
	warnings = ro_warning_count();
	assert_found(fx.tree, "6.1",
		"0:lib/modules/6.1/modules.dep 0:lib/modules/6.1/kernel/drivers/ata/a.ko "
		"0:lib/modules/6.1/kernel/drivers/net/tun.ko",
		"modules");
	g_assert_cmpuint(ro_warning_count(), ==, warnings + 1);
	/* A user's own pattern is not. */
	assert_found(fx.tree, "6.1", "0:lib/modules/6.1/kernel/drivers/gpu/b.ko", "**/gpu");
}

/* The bound is of bytes as they are stored, in fragments too. */
static void test_bound_is_of_stored_bytes(void)
{
	enum { COUNT = 70, SIZE = 1000000 };
	static const char *const values[] = {"modules", NULL};
	g_auto(fixture) fx;
	g_autofree char *data = g_strnfill(SIZE, 'x');
	g_autoptr(GArray) files = NULL;

	fx_init(&fx);
	for (guint i = 0; i < COUNT; i++) {
		g_autofree char *path =
			g_strdup_printf("lib/modules/6.1/kernel/drivers/ata/%u.ko", i);

		data[0] = (char)i;
		fx_write(&fx, path, data, SIZE);
	}
	fx_image(&fx, "-b 1M");
	files = ro_also_find(fx.tree, values, "6.1", NULL, NULL, NULL);
	g_assert_cmpuint(files->len, ==, COUNT);
}

static void refuse(const char *value, const char *message)
{
	const char *const values[] = {"modules", value, NULL};
	g_autoptr(GError) error = NULL;

	g_assert_false(ro_also_check(values, &error));
	g_assert_error(error, RO_ERROR, RO_ERROR_USAGE);
	g_assert_cmpstr(error->message, ==, message);
}

static void test_check(void)
{
	static const char *const good[] = {"modules", "./modules", "*", "/usr/share/[ab]*", NULL};
	static const char *const none[] = {NULL};

	g_assert_true(ro_also_check(good, NULL));
	g_assert_true(ro_also_check(none, NULL));
	refuse("module",
		"--also module: not a class (modules, auto) and not a pattern; for the file of that name write "
		"./module");
	refuse("", "--also : empty pattern");
	refuse("a[", "--also a[: '[' without ']'");
	refuse("/", "--also /: empty pattern");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/also/patterns", test_patterns);
	g_test_add_func("/also/any name of a hard link", test_hard_link);
	g_test_add_func("/also/value that means nothing is warned about", test_nothing_meant);
	g_test_add_func("/also/modules of the running kernel", test_modules);
	g_test_add_func("/also/modules of all kernels", test_modules_of_all_kernels);
	g_test_add_func("/also/kernel with an odd name", test_modules_of_odd_kernel);
	g_test_add_func("/also/modules are bounded", test_modules_are_bounded);
	g_test_add_func("/also/bound is of stored bytes", test_bound_is_of_stored_bytes);
	g_test_add_func("/also/bad values are named", test_check);
	return g_test_run();
}
