/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/ovmf.h"

#include <unistd.h>

#include "reorder/util/error.h"

/* Where distributions keep it. */
static const tr_ovmf places[] = {
	{"/usr/share/OVMF/OVMF_CODE_4M.fd", "/usr/share/OVMF/OVMF_VARS_4M.fd"},
	{"/usr/share/OVMF/OVMF_CODE.fd", "/usr/share/OVMF/OVMF_VARS.fd"},
	{"/usr/share/edk2/ovmf/OVMF_CODE.fd", "/usr/share/edk2/ovmf/OVMF_VARS.fd"},
	{"/usr/share/edk2/x64/OVMF_CODE.4m.fd", "/usr/share/edk2/x64/OVMF_VARS.4m.fd"},
	{"/usr/share/edk2-ovmf/x64/OVMF_CODE.fd", "/usr/share/edk2-ovmf/x64/OVMF_VARS.fd"},
};

const tr_ovmf *tr_ovmf_find(GError **error)
{
	for (guint i = 0; i < G_N_ELEMENTS(places); i++)
		if (access(places[i].code, R_OK) == 0 && access(places[i].vars, R_OK) == 0)
			return &places[i];
	ro_fail(error, RO_ERROR_FAILED, "OVMF: not found; install the package ovmf");
	return NULL;
}

char *tr_ovmf_copy_vars(const tr_ovmf *ovmf, const char *directory, GError **error)
{
	g_autofree char *path = g_build_filename(directory, "uefi-vars.fd", NULL);
	g_autofree char *bytes = NULL;
	gsize size;

	if (!g_file_get_contents(ovmf->vars, &bytes, &size, error) ||
		!g_file_set_contents(path, bytes, (gssize)size, error))
		return NULL;
	return g_steal_pointer(&path);
}
