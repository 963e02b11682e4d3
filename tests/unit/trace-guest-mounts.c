/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which image a path of the guest is of: by the mount tables of the live systems there are. */
#include <string.h>

#include "trace/guest_devices.h"
#include "trace/guest_mounts.h"

static void lines(tr_guest_mounts *mounts, const char *text)
{
	g_auto(GStrv) list = g_strsplit(text, "\n", -1);

	for (char **line = list; *line; line++)
		if (**line)
			g_assert_true(tr_guest_mounts_line(mounts, *line));
}

/* "IMAGE:PATH IMAGE:PATH", topmost first. */
static char *places(const tr_guest_mounts *mounts, guint32 id, guint32 minor, const char *path)
{
	g_autoptr(GArray) found = tr_guest_mounts_places(mounts, id, 0, minor, path);
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < found->len; i++) {
		const tr_place *place = &g_array_index(found, tr_place, i);
		g_string_append_printf(text, "%s%s:%s", i ? " " : "", place->image, place->path);
	}
	return g_string_free(text, FALSE);
}

static void assert_places(
	const tr_guest_mounts *mounts, guint32 id, const char *path, const char *wanted)
{
	g_autofree char *got = places(mounts, id, 99, path);

	g_assert_cmpstr(got, ==, wanted);
}

/* Debian 12, as its agent saw it. */
static const char live_boot[] =
	"22 1 0:20 / /run rw,nosuid,nodev,noexec,relatime - tmpfs tmpfs rw,size=200k,mode=755\n"
	"25 22 11:0 / /run/live/medium ro,noatime - iso9660 /dev/sr0 ro,nojoliet,check=s,map=n,blocksize=2048\n";
static const char live_boot_root[] =
	"26 22 7:0 / /run/live/rootfs/filesystem.squashfs ro,noatime - squashfs /dev/loop0 ro,errors=continue\n"
	"27 22 0:22 / /run/live/overlay rw,noatime - tmpfs tmpfs rw,size=1000k,mode=755\n"
	"28 1 0:23 / /root rw,noatime - overlay overlay rw,lowerdir=/run/live/rootfs/filesystem.squashfs/,upperdir=/run/live/overlay/rw,workdir=/run/live/overlay/work\n";

static tr_guest_mounts *new_live_boot(void)
{
	tr_guest_mounts *mounts = tr_guest_mounts_new();

	lines(mounts, live_boot);
	tr_guest_mounts_backing(mounts, 7, 0, "/run/live/medium/live/filesystem.squashfs");
	lines(mounts, live_boot_root);
	return mounts;
}

static void test_live_boot(void)
{
	g_autoptr(tr_guest_mounts) mounts = new_live_boot();

	assert_places(mounts, 26, "/run/live/rootfs/filesystem.squashfs/sbin/init",
		"/live/filesystem.squashfs:/sbin/init");
	assert_places(mounts, 28, "/root/usr/lib/x y", "/live/filesystem.squashfs:/usr/lib/x y");
	assert_places(mounts, 28, "/root", "/live/filesystem.squashfs:/");
	assert_places(mounts, 25, "/run/live/medium/live/vmlinuz", "");
	assert_places(mounts, 27, "/run/live/overlay/rw/x", "");
	/* No component boundary: such a path cannot be of this mount. */
	assert_places(mounts, 28, "/rootfs/x", "");
	assert_places(mounts, 28, "/elsewhere", "");
}

/* After the switch everything has moved, and the paths of the options mean nothing any more. */
static void test_moved(void)
{
	g_autoptr(tr_guest_mounts) mounts = new_live_boot();

	lines(mounts,
		"28 1 0:23 / / rw,noatime - overlay overlay rw,lowerdir=/run/live/rootfs/filesystem.squashfs/,upperdir=/run/live/overlay/rw,workdir=/run/live/overlay/work\n");
	tr_guest_mounts_gone(mounts, 26);
	tr_guest_mounts_gone(mounts, 25);
	assert_places(mounts, 28, "/usr/bin/env", "/live/filesystem.squashfs:/usr/bin/env");
	assert_places(mounts, 28, "/", "/live/filesystem.squashfs:/");
	/* A service with its own view: another mount of the same overlay, by a bind of a directory.
	 */
	lines(mounts,
		"70 60 0:23 /var/lib/x /private rw - overlay overlay rw,lowerdir=/run/live/rootfs/filesystem.squashfs/,upperdir=/run/live/overlay/rw,workdir=/run/live/overlay/work\n");
	assert_places(mounts, 70, "/private/y", "/live/filesystem.squashfs:/var/lib/x/y");
}

/* Layers of an overlay are opened through mounts that no table shows. */
static void test_hidden_mount(void)
{
	g_autoptr(tr_guest_mounts) mounts = new_live_boot();
	g_autoptr(GArray) found = tr_guest_mounts_places(mounts, 555, 7, 0, "/usr/lib");

	g_assert_cmpuint(found->len, ==, 1);
	g_assert_cmpstr(g_array_index(found, tr_place, 0).path, ==, "/usr/lib");
	g_autofree char *got = places(mounts, 555, 23, "/usr/lib");
	g_assert_cmpstr(got, ==, "/live/filesystem.squashfs:/usr/lib");
	assert_places(mounts, 555, "/usr/lib", "");
}

/* Pitfall D1: three layers, topmost first. */
static void test_casper_layers(void)
{
	g_autoptr(tr_guest_mounts) mounts = tr_guest_mounts_new();
	static const char *const names[] = {"minimal", "minimal.standard", "minimal.standard.live"};

	lines(mounts, "20 1 11:0 / /cdrom ro,noatime - iso9660 /dev/sr0 ro\n");
	for (guint i = 0; i < 3; i++) {
		g_autofree char *backing = g_strdup_printf("/cdrom/casper/%s.squashfs", names[i]);
		g_autofree char *line =
			g_strdup_printf("%u 1 7:%u / /%s.squashfs ro - squashfs /dev/loop%u ro\n",
				21 + i, i, names[i], i);
		tr_guest_mounts_backing(mounts, 7, i, backing);
		lines(mounts, line);
	}
	lines(mounts,
		"30 1 0:40 / /root rw - overlay /cow rw,lowerdir=/minimal.standard.live.squashfs:/minimal.standard.squashfs:/minimal.squashfs,upperdir=/cow/upper,workdir=/cow/work,xino=off\n");
	assert_places(mounts, 30, "/root/etc/fstab",
		"/casper/minimal.standard.live.squashfs:/etc/fstab "
		"/casper/minimal.standard.squashfs:/etc/fstab "
		"/casper/minimal.squashfs:/etc/fstab");
	g_autoptr(GPtrArray) none = tr_guest_mounts_root(mounts);
	g_assert_cmpuint(none->len, ==, 0);
	lines(mounts,
		"30 1 0:40 / / rw - overlay /cow rw,lowerdir=/minimal.standard.live.squashfs:/minimal.standard.squashfs:/minimal.squashfs,upperdir=/cow/upper,workdir=/cow/work,xino=off\n");
	g_autoptr(GPtrArray) images = tr_guest_mounts_root(mounts);
	g_assert_cmpuint(images->len, ==, 3);
	g_assert_cmpstr(g_ptr_array_index(images, 0), ==, "/casper/minimal.standard.live.squashfs");
	g_assert_cmpstr(g_ptr_array_index(images, 1), ==, "/casper/minimal.standard.squashfs");
	g_assert_cmpstr(g_ptr_array_index(images, 2), ==, "/casper/minimal.squashfs");
}

static void test_dracut(void)
{
	g_autoptr(tr_guest_mounts) mounts = tr_guest_mounts_new();

	lines(mounts, "40 2 11:0 / /run/initramfs/live ro,relatime - iso9660 /dev/sr0 ro\n");
	tr_guest_mounts_backing(mounts, 7, 0, "/run/initramfs/live/LiveOS/squashfs.img");
	lines(mounts,
		"41 2 7:0 / /run/rootfsbase ro,relatime - squashfs /dev/loop0 ro\n"
		"42 1 0:30 / /sysroot rw,relatime shared:1 master:2 - overlay LiveOS_rootfs rw,lowerdir=/run/rootfsbase,upperdir=/run/overlayfs,workdir=/run/ovlwork\n");
	assert_places(mounts, 42, "/sysroot/usr/lib/systemd/systemd",
		"/LiveOS/squashfs.img:/usr/lib/systemd/systemd");
}

static void below(
	tr_guest_mounts *mounts, guint32 major, guint32 minor, gint64 first, gint64 second)
{
	const gint64 devices[] = {first, second};

	tr_guest_mounts_below(mounts, major, minor, devices, second ? 2 : 1);
}

static void loop_at(tr_guest_mounts *mounts, guint32 minor, const char *path, guint32 holder_major,
	guint32 holder_minor)
{
	tr_guest_mounts_backing(mounts, 7, minor, path);
	below(mounts, 7, minor, tr_device_number(holder_major, holder_minor), 0);
}

static const char initramfs[] =
	"1 1 0:2 / / rw - rootfs rootfs rw\n"
	"38 1 0:23 / /run rw,nosuid,nodev shared:2 - tmpfs tmpfs rw,size=393216k,mode=755\n"
	"40 38 11:0 / /run/initramfs/live ro,relatime shared:3 - iso9660 /dev/sr0 ro,nojoliet\n";

/* dmsquash-live-root of dracut 059: the squashfs is unmounted lazily before the root is mounted, so
 * that the path of the file in it has lost its mount point. */
static void snapshot_of_rootfs(tr_guest_mounts *mounts)
{
	loop_at(mounts, 1, "/LiveOS/rootfs.img", 7, 0);
	loop_at(mounts, 2, "/overlay", 0, 2);
	below(mounts, 253, 0, tr_device_number(7, 2), tr_device_number(7, 1));
	lines(mounts, "43 1 253:0 / /sysroot rw,relatime - ext4 /dev/mapper/live-rw rw\n");
}

static void assert_wrapping_places(const tr_guest_mounts *mounts, guint wanted)
{
	g_autoptr(GArray) found = tr_guest_mounts_places(mounts, 555, 7, 0, "/LiveOS/rootfs.img");

	g_assert_cmpuint(found->len, ==, wanted);
}

static void test_snapshot(void)
{
	g_autoptr(tr_guest_mounts) mounts = tr_guest_mounts_new();

	lines(mounts, initramfs);
	loop_at(mounts, 0, "/run/initramfs/live/LiveOS/squashfs.img", 11, 0);
	lines(mounts, "41 38 7:0 / /run/initramfs/squashfs ro,relatime - squashfs /dev/loop0 ro\n");
	tr_guest_mounts_gone(mounts, 41);
	snapshot_of_rootfs(mounts);
	/* What is in the squashfs is not what is in the ext4. */
	assert_wrapping_places(mounts, 1);
	assert_places(mounts, 43, "/sysroot/etc/fstab", "");
	tr_guest_mounts_want_nested(mounts);
	assert_places(mounts, 43, "/sysroot/etc/fstab", "/LiveOS/squashfs.img:/etc/fstab");
	lines(mounts, "43 1 253:0 / / rw,relatime - ext4 /dev/mapper/live-rw rw\n");
	assert_places(mounts, 43, "/etc/fstab", "/LiveOS/squashfs.img:/etc/fstab");
	assert_wrapping_places(mounts, 0);
}

/* It came and went before anybody looked. */
static void test_never_seen(void)
{
	g_autoptr(tr_guest_mounts) mounts = tr_guest_mounts_new();

	lines(mounts, initramfs);
	loop_at(mounts, 0, "/run/initramfs/live/LiveOS/squashfs.img", 11, 0);
	snapshot_of_rootfs(mounts);
	tr_guest_mounts_want_nested(mounts);
	assert_places(mounts, 43, "/sysroot/etc/fstab", "/LiveOS/squashfs.img:/etc/fstab");
}

/* The file on the ISO itself, and a linear device on that of the snapshot. */
static void test_plain_rootfs(void)
{
	g_autoptr(tr_guest_mounts) mounts = tr_guest_mounts_new();

	lines(mounts, initramfs);
	loop_at(mounts, 0, "/run/initramfs/live/LiveOS/rootfs.img", 11, 0);
	loop_at(mounts, 1, "/overlay", 0, 2);
	below(mounts, 253, 0, tr_device_number(7, 0), tr_device_number(7, 1));
	below(mounts, 253, 1, tr_device_number(253, 0), 0);
	lines(mounts, "43 1 253:1 / /sysroot rw,relatime - ext4 /dev/mapper/live-rw rw\n");
	assert_places(mounts, 43, "/sysroot/etc/fstab", "/LiveOS/rootfs.img:/etc/fstab");
}

/* rd.live.overlay.overlayfs */
static void test_overlay_of_rootfs(void)
{
	g_autoptr(tr_guest_mounts) mounts = tr_guest_mounts_new();

	lines(mounts, initramfs);
	loop_at(mounts, 0, "/run/initramfs/live/LiveOS/squashfs.img", 11, 0);
	lines(mounts, "41 38 7:0 / /run/initramfs/squashfs ro,relatime - squashfs /dev/loop0 ro\n");
	loop_at(mounts, 1, "/run/initramfs/squashfs/LiveOS/rootfs.img", 7, 0);
	lines(mounts,
		"42 38 7:1 / /run/rootfsbase ro,relatime - ext4 /dev/loop1 ro\n"
		"43 1 0:30 / /sysroot rw - overlay LiveOS_rootfs rw,lowerdir=/run/rootfsbase,upperdir=/run/overlayfs,workdir=/run/ovlwork\n");
	tr_guest_mounts_want_nested(mounts);
	assert_places(mounts, 42, "/run/rootfsbase/x", "/LiveOS/squashfs.img:/x");
	assert_places(mounts, 43, "/sysroot/x", "/LiveOS/squashfs.img:/x");
}

/* An image in an image in an image is nobody's root. */
static void test_too_deep(void)
{
	g_autoptr(tr_guest_mounts) mounts = tr_guest_mounts_new();

	lines(mounts, initramfs);
	loop_at(mounts, 0, "/run/initramfs/live/LiveOS/squashfs.img", 11, 0);
	snapshot_of_rootfs(mounts);
	loop_at(mounts, 3, "/sysroot/opt/inner.squashfs", 253, 0);
	lines(mounts, "50 1 7:3 / /inner ro - squashfs /dev/loop3 ro\n");
	tr_guest_mounts_want_nested(mounts);
	assert_places(mounts, 50, "/inner/x", "");
}

/* An overlay gives its files numbers of their own: there the path has to do. */
static void test_unknown_holder(void)
{
	g_autoptr(tr_guest_mounts) mounts = tr_guest_mounts_new();

	lines(mounts, initramfs);
	loop_at(mounts, 0, "/run/initramfs/live/LiveOS/squashfs.img", 0, 77);
	lines(mounts, "41 38 7:0 / /r ro - squashfs /dev/loop0 ro\n");
	assert_places(mounts, 41, "/r/x", "/LiveOS/squashfs.img:/x");
}

/* An overlay whose lower directory is below the root of an image, and one on top of it. */
static void test_nested_overlays(void)
{
	g_autoptr(tr_guest_mounts) mounts = new_live_boot();

	lines(mounts,
		"50 1 0:50 / /a rw - overlay a rw,lowerdir=/run/live/rootfs/filesystem.squashfs/var,upperdir=/u,workdir=/w\n"
		"51 1 0:51 / /b ro - overlay b ro,lowerdir+=/a/lib,lowerdir+=/root/usr/\n");
	assert_places(mounts, 50, "/a/log", "/live/filesystem.squashfs:/var/log");
	assert_places(mounts, 51, "/b/x",
		"/live/filesystem.squashfs:/var/lib/x /live/filesystem.squashfs:/usr/x");
}

/* Blanks, commas, colons and backslashes, each escaped as the kernel does. */
static void test_odd_names(void)
{
	g_autoptr(tr_guest_mounts) mounts = tr_guest_mounts_new();

	lines(mounts, "20 1 11:0 / /m\\040m ro - iso9660 /dev/sr0 ro\n");
	tr_guest_mounts_backing(mounts, 7, 3, "/m m/a:b,c\\d.sfs");
	lines(mounts,
		"21 1 7:3 / /a:b\\134c,\\040d ro - squashfs /dev/loop3 ro\n"
		"22 1 0:60 / /o rw - overlay o rw,lowerdir=/a\\134:b\\134\\134c\\054\\040d,upperdir=/u\n");
	assert_places(mounts, 21, "/a:b\\c, d/x", "/a:b,c\\d.sfs:/x");
	assert_places(mounts, 22, "/o/x", "/a:b,c\\d.sfs:/x");
}

/* Of two mounts on one point the newer hides the other. */
static void test_mounted_over(void)
{
	g_autoptr(tr_guest_mounts) mounts = tr_guest_mounts_new();

	lines(mounts, "20 1 11:0 / /medium ro - iso9660 /dev/sr0 ro\n"
		      "21 1 0:21 / /medium rw - tmpfs tmpfs rw\n");
	tr_guest_mounts_backing(mounts, 7, 0, "/medium/live/copied.squashfs");
	lines(mounts, "22 1 7:0 / /r ro - squashfs /dev/loop0 ro\n");
	assert_places(mounts, 22, "/r/x", "");
	/* But the file is of the one below it. */
	loop_at(mounts, 1, "/medium/live/filesystem.squashfs", 11, 0);
	lines(mounts, "23 1 7:1 / /s ro - squashfs /dev/loop1 ro\n");
	assert_places(mounts, 23, "/s/x", "/live/filesystem.squashfs:/x");
}

/* A loop device and an anonymous device number are given out anew. */
static void test_device_used_again(void)
{
	g_autoptr(tr_guest_mounts) mounts = new_live_boot();

	tr_guest_mounts_gone(mounts, 28);
	tr_guest_mounts_gone(mounts, 26);
	tr_guest_mounts_backing(mounts, 7, 0, "/run/live/medium/live/other.squashfs");
	lines(mounts,
		"26 22 7:0 / /mnt ro - squashfs /dev/loop0 ro\n"
		"28 1 0:23 / /o rw - overlay overlay rw,lowerdir=/mnt,upperdir=/u,workdir=/w\n");
	assert_places(mounts, 26, "/mnt/x", "/live/other.squashfs:/x");
	assert_places(mounts, 28, "/o/x", "/live/other.squashfs:/x");
}

/* Files on other media, in other images and without a known holder are of no image of ours. */
static void test_not_ours(void)
{
	g_autoptr(tr_guest_mounts) mounts = new_live_boot();

	tr_guest_mounts_backing(mounts, 7, 1, "/root/opt/inner.squashfs");
	tr_guest_mounts_backing(mounts, 7, 2, "relative");
	lines(mounts, "60 1 7:1 / /i ro - squashfs /dev/loop1 ro\n"
		      "61 1 7:2 / /j ro - squashfs /dev/loop2 ro\n"
		      "62 1 7:5 / /k ro - iso9660 /dev/loop5 ro\n"
		      "63 1 0:70 / /l rw - overlay l rw,lowerdir=/nowhere:/k,upperdir=/u\n"
		      "64 1 0:71 / /n rw - aufs none rw,si=1\n");
	for (guint32 id = 60; id <= 64; id++) {
		g_autoptr(GArray) found = tr_guest_mounts_places(mounts, id, 0, 0, "/");
		g_assert_cmpuint(found->len, ==, 0);
	}
}

static void test_no_lines(void)
{
	static const char *const bad[] = {"", "x", "1", "1 2", "1 2 3 4 5 6 7 8 9 10",
		"1 2 x / / rw - a b c", "1 2 0:1 / / rw", "1 2 0:1 / / rw - ext4",
		"1 2 0:1 / / rw - ext4 /dev/x", "1 2 0:1 / rel rw - a b c",
		"1 2 0:1 / /\\9 rw - a b c", "1 2 0:1 / /\\000 rw - a b c"};
	g_autoptr(tr_guest_mounts) mounts = tr_guest_mounts_new();

	for (guint i = 0; i < G_N_ELEMENTS(bad); i++)
		g_assert_false(tr_guest_mounts_line(mounts, bad[i]));
	tr_guest_mounts_gone(mounts, 12345);
}

/* A guest that mounts without end: bounded, and layers do not multiply. */
static void test_hostile(void)
{
	g_autoptr(tr_guest_mounts) mounts = new_live_boot();
	g_autoptr(GString) list = g_string_new(NULL);

	for (guint i = 0; i < 200; i++)
		g_string_append(list, "/root:");
	for (guint i = 0; i < 6; i++) {
		g_autofree char *line = g_strdup_printf(
			"28 1 0:%u / /root rw - overlay o rw,lowerdir=%s", 100 + i, list->str);
		tr_guest_mounts_line(mounts, line);
	}
	g_autoptr(GArray) found = tr_guest_mounts_places(mounts, 28, 0, 0, "/root/x");
	g_assert_cmpuint(found->len, <=, 512);
	for (guint i = 0; i < 10000; i++) {
		g_autofree char *line =
			g_strdup_printf("%u 1 1:%u / /m%u rw - ext4 x rw", 1000 + i, i, i);
		g_autofree char *backing = g_strdup_printf("/b%u", i);
		tr_guest_mounts_backing(mounts, 7, i, backing);
		gboolean taken = tr_guest_mounts_line(mounts, line);
		g_assert_true(taken == (i < 4096 - 5));
	}
}

/* Every device is on all of them, and on itself. */
static void test_circle(void)
{
	g_autoptr(tr_guest_mounts) mounts = tr_guest_mounts_new();
	gint64 devices[100];

	for (guint i = 0; i < G_N_ELEMENTS(devices); i++)
		devices[i] = tr_device_number(253, i);
	for (guint i = 0; i < G_N_ELEMENTS(devices); i++)
		tr_guest_mounts_below(mounts, 253, i, devices, G_N_ELEMENTS(devices));
	loop_at(mounts, 0, "/x", 7, 0);
	lines(mounts, "30 1 253:7 / /a ro - ext4 x ro\n"
		      "31 1 7:0 / /b ro - ext4 x ro\n");
	assert_places(mounts, 30, "/a/x", "");
	assert_places(mounts, 31, "/b/x", "");
}

/* Overlays over a directory of the overlay before: 500 layers, whose paths would take 500 MB. */
static void test_growing_layers(void)
{
	g_autoptr(tr_guest_mounts) mounts = new_live_boot();
	g_autoptr(GString) list = g_string_new(NULL);
	g_autofree char *deep = g_strnfill(4000, 'd');
	gsize bytes = 0;

	for (guint i = 0; i < 500; i++)
		g_string_append(list, "/run/live/rootfs/filesystem.squashfs:");
	for (guint i = 0; i < 22; i++) {
		g_autofree char *line =
			g_strdup_printf("%u 1 0:%u / /o rw - overlay o rw,lowerdir=%s", 100 + i,
				100 + i, list->str);
		tr_guest_mounts_line(mounts, line);
		g_string_printf(list, "/o/%s", deep);
	}
	for (guint i = 0; i < 22; i++) {
		g_autoptr(GArray) found = tr_guest_mounts_places(mounts, 100 + i, 0, 0, "/o");
		for (guint k = 0; k < found->len; k++)
			bytes += strlen(g_array_index(found, tr_place, k).path);
	}
	g_assert_cmpuint(bytes, >, 1 << 16);
	g_assert_cmpuint(bytes, <=, 22 << 16);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/guest-mounts/live-boot", test_live_boot);
	g_test_add_func("/guest-mounts/moved", test_moved);
	g_test_add_func("/guest-mounts/hidden-mount", test_hidden_mount);
	g_test_add_func("/guest-mounts/casper-layers", test_casper_layers);
	g_test_add_func("/guest-mounts/dracut", test_dracut);
	g_test_add_func("/guest-mounts/snapshot", test_snapshot);
	g_test_add_func("/guest-mounts/never-seen", test_never_seen);
	g_test_add_func("/guest-mounts/plain-rootfs", test_plain_rootfs);
	g_test_add_func("/guest-mounts/overlay-of-rootfs", test_overlay_of_rootfs);
	g_test_add_func("/guest-mounts/too-deep", test_too_deep);
	g_test_add_func("/guest-mounts/unknown-holder", test_unknown_holder);
	g_test_add_func("/guest-mounts/circle", test_circle);
	g_test_add_func("/guest-mounts/nested-overlays", test_nested_overlays);
	g_test_add_func("/guest-mounts/odd-names", test_odd_names);
	g_test_add_func("/guest-mounts/mounted-over", test_mounted_over);
	g_test_add_func("/guest-mounts/device-used-again", test_device_used_again);
	g_test_add_func("/guest-mounts/not-ours", test_not_ours);
	g_test_add_func("/guest-mounts/no-lines", test_no_lines);
	g_test_add_func("/guest-mounts/hostile", test_hostile);
	g_test_add_func("/guest-mounts/growing-layers", test_growing_layers);
	return g_test_run();
}
