/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/mount_line.h"

#include <stdio.h>

#include "reorder/util/escape.h"

gboolean tr_mount_line_parse(const char *text, tr_mount_line *line)
{
	g_auto(GStrv) words = g_strsplit(text, " ", 64);
	guint count = g_strv_length(words), dash = 6;

	while (dash < count && !g_str_equal(words[dash], "-"))
		dash++;
	if (dash + 3 >= count || sscanf(words[2], "%u:%u", &line->major, &line->minor) != 2 ||
		sscanf(words[0], "%u", &line->id) != 1)
		return FALSE;
	line->root = ro_unescape(words[3]);
	line->point = ro_unescape(words[4]);
	line->type = ro_unescape(words[dash + 1]);
	line->options = g_strdup(words[dash + 3]);
	return line->root && line->point && line->type && line->point[0] == '/';
}

void tr_mount_line_clear(tr_mount_line *line)
{
	g_free(line->root);
	g_free(line->point);
	g_free(line->type);
	g_free(line->options);
	*line = (tr_mount_line){0};
}
