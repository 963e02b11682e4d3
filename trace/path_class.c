/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/path_class.h"

#include <string.h>

/* A path is of a row if it starts so, ends so, and has that anywhere; NULL: in any case. Of several
 * rows the first counts. "usr/" and "usr/local/" are taken off the path before. */
static const struct {
	const char *start, *has, *end;
	tr_path_class path_class;
} rows[] = {
	{"lib/modules/", NULL, NULL, TR_CLASS_MODULE},
	{"lib/firmware/", NULL, NULL, TR_CLASS_FIRMWARE},

	{"lib/xorg/modules/", NULL, NULL, TR_CLASS_DISPLAY},
	{"lib", "/dri/", NULL, TR_CLASS_DISPLAY},
	{"lib", "/vdpau/", NULL, TR_CLASS_DISPLAY},
	{"lib", "/gbm/", NULL, TR_CLASS_DISPLAY},
	{"lib", "/libvulkan_", NULL, TR_CLASS_DISPLAY},
	{"share/vulkan/", NULL, NULL, TR_CLASS_DISPLAY},
	{"share/glvnd/", NULL, NULL, TR_CLASS_DISPLAY},
	{"share/drirc.d/", NULL, NULL, TR_CLASS_DISPLAY},

	{NULL, NULL, ".so", TR_CLASS_LIBRARY},
	{NULL, ".so.", NULL, TR_CLASS_LIBRARY},

	{"bin/", NULL, NULL, TR_CLASS_PROGRAM},
	{"sbin/", NULL, NULL, TR_CLASS_PROGRAM},
	{"games/", NULL, NULL, TR_CLASS_PROGRAM},
	{"libexec/", NULL, NULL, TR_CLASS_PROGRAM},
	{"etc/init.d/", NULL, NULL, TR_CLASS_PROGRAM},
	{"lib/live/", NULL, NULL, TR_CLASS_PROGRAM},
	{"lib/systemd/systemd", NULL, NULL, TR_CLASS_PROGRAM},
	{"lib/systemd/system-generators/", NULL, NULL, TR_CLASS_PROGRAM},
	{"lib/systemd/user-generators/", NULL, NULL, TR_CLASS_PROGRAM},
	{"lib/systemd/system-environment-generators/", NULL, NULL, TR_CLASS_PROGRAM},
	{"lib/systemd/user-environment-generators/", NULL, NULL, TR_CLASS_PROGRAM},

	{NULL, NULL, ".py", TR_CLASS_SCRIPT},
	{NULL, NULL, ".pyc", TR_CLASS_SCRIPT},
	{NULL, NULL, ".pm", TR_CLASS_SCRIPT},
	{NULL, NULL, ".pl", TR_CLASS_SCRIPT},
	{"lib", "/girepository-1.0/", NULL, TR_CLASS_SCRIPT},

	{"share/locale/", NULL, NULL, TR_CLASS_LOCALE},
	{"lib/locale/", NULL, NULL, TR_CLASS_LOCALE},
	{"share/i18n/", NULL, NULL, TR_CLASS_LOCALE},
	{"share/zoneinfo/", NULL, NULL, TR_CLASS_LOCALE},
	{"share/X11/locale/", NULL, NULL, TR_CLASS_LOCALE},
	{"share/X11/xkb/", NULL, NULL, TR_CLASS_LOCALE},
	{"share/consoletrans/", NULL, NULL, TR_CLASS_LOCALE},
	{"share/keymaps/", NULL, NULL, TR_CLASS_LOCALE},
	{"lib", "/gconv/", NULL, TR_CLASS_LOCALE},

	{"etc/", NULL, NULL, TR_CLASS_CONFIGURATION},
	{"lib/systemd/", NULL, NULL, TR_CLASS_CONFIGURATION},
	{"lib/udev/rules.d/", NULL, NULL, TR_CLASS_CONFIGURATION},
	{"lib/udev/hwdb", NULL, NULL, TR_CLASS_CONFIGURATION},
	{"lib", ".d/", ".conf", TR_CLASS_CONFIGURATION},
	{"share/dbus-1/", NULL, NULL, TR_CLASS_CONFIGURATION},
	{"share/polkit-1/", NULL, NULL, TR_CLASS_CONFIGURATION},
	{"share/X11/xorg.conf.d/", NULL, NULL, TR_CLASS_CONFIGURATION},
	{"share/glib-2.0/schemas/", NULL, NULL, TR_CLASS_CONFIGURATION},
	{"share/fontconfig/", NULL, NULL, TR_CLASS_CONFIGURATION},

	{"share/fonts/", NULL, NULL, TR_CLASS_LOOK},
	{"share/consolefonts/", NULL, NULL, TR_CLASS_LOOK},
	{"share/icons/", NULL, NULL, TR_CLASS_LOOK},
	{"share/pixmaps/", NULL, NULL, TR_CLASS_LOOK},
	{"share/themes/", NULL, NULL, TR_CLASS_LOOK},
	{"share/backgrounds/", NULL, NULL, TR_CLASS_LOOK},
	{"share/images/", NULL, NULL, TR_CLASS_LOOK},
	{"share/plymouth/", NULL, NULL, TR_CLASS_LOOK},

	/* What else a package has as programs of its own. */
	{"lib/udev/", NULL, NULL, TR_CLASS_PROGRAM},
	{"share/", NULL, NULL, TR_CLASS_DATA},
	{"var/", NULL, NULL, TR_CLASS_DATA},
};

static const struct {
	const char *name;
	gboolean hardware;
} classes[TR_CLASS_COUNT] = {
	[TR_CLASS_DIRECTORY] = {"directories", FALSE},
	[TR_CLASS_LINK] = {"symbolic links", FALSE},
	[TR_CLASS_MODULE] = {"kernel modules", TRUE},
	[TR_CLASS_FIRMWARE] = {"firmware", TRUE},
	[TR_CLASS_DISPLAY] = {"display drivers", TRUE},
	[TR_CLASS_LIBRARY] = {"libraries", FALSE},
	[TR_CLASS_PROGRAM] = {"programs", FALSE},
	[TR_CLASS_SCRIPT] = {"scripts", FALSE},
	[TR_CLASS_CONFIGURATION] = {"configuration", FALSE},
	[TR_CLASS_LOCALE] = {"locale", FALSE},
	[TR_CLASS_LOOK] = {"fonts and pictures", FALSE},
	[TR_CLASS_DATA] = {"data", FALSE},
	[TR_CLASS_OTHER] = {"other", FALSE},
};

static const char *without_usr(const char *path)
{
	if (g_str_has_prefix(path, "usr/"))
		path += strlen("usr/");
	return g_str_has_prefix(path, "local/") ? path + strlen("local/") : path;
}

tr_path_class tr_path_class_of(tr_kind kind, const char *path)
{
	if (kind != TR_FILE)
		return kind == TR_DIR ? TR_CLASS_DIRECTORY : TR_CLASS_LINK;
	path = without_usr(path);
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		if ((!rows[i].start || g_str_has_prefix(path, rows[i].start)) &&
			(!rows[i].end || g_str_has_suffix(path, rows[i].end)) &&
			(!rows[i].has || strstr(path, rows[i].has)))
			return rows[i].path_class;
	}
	return TR_CLASS_OTHER;
}

const char *tr_path_class_name(tr_path_class path_class)
{
	return classes[path_class].name;
}

gboolean tr_path_class_is_hardware(tr_path_class path_class)
{
	return classes[path_class].hardware;
}
