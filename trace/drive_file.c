/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/drive_file.h"

#include <gio/gio.h>
#include <string.h>

#include "reorder/util/error.h"
#include "reorder/util/escape.h"

enum { FILE_LIMIT = 65536, NAME_LIMIT = 64 };

/* The lines of a file, one after the other. */
typedef struct {
	const char *file;
	guint line;
	guint64 seen; /* one bit a number */
	gboolean any;
	tr_drive_choice *choice;
} parser;

static gboolean bad_line(const parser *p, GError **error, const char *text, const char *reason)
{
	g_autofree char *shown = ro_escape_utf8(text);

	return ro_fail(error, RO_ERROR_USAGE, "%s:%u: \"%s\": %s", p->file, p->line, shown, reason);
}

static gboolean take_text(
	parser *p, char **field, const char **param, const char *value, GError **error)
{
	if (*field)
		return bad_line(p, error, value, "given twice");
	if (strlen(value) > NAME_LIMIT || !g_utf8_validate(value, -1, NULL))
		return bad_line(p, error, value, "not a text of up to 64 bytes of UTF-8");
	*field = g_strdup(value);
	*param = *field;
	return TRUE;
}

static gboolean take_like(parser *p, const char *value, GError **error)
{
	const struct tr_drive_params *profile = tr_drive_find(value);
	struct tr_drive_params *params = &p->choice->params;
	const char *name = params->name, *about = params->about;

	if (!profile)
		return bad_line(p, error, value, "no such drive");
	if (p->any)
		return bad_line(p, error, value, "\"like\" has to come before all numbers");
	*params = *profile;
	params->name = name;
	params->about = about;
	p->any = TRUE;
	return TRUE;
}

static int number_index(const char *name)
{
	for (int i = 0; tr_drive_param_name((size_t)i); i++)
		if (g_str_equal(tr_drive_param_name((size_t)i), name))
			return i;
	return -1;
}

static gboolean take_number(parser *p, const char *key, const char *value, GError **error)
{
	int index = number_index(key);
	char *end;
	double number = g_ascii_strtod(value, &end);

	if (index < 0)
		return bad_line(p, error, key, "unknown");
	if (p->seen & 1ull << index)
		return bad_line(p, error, key, "given twice");
	if (end == value || *end || !tr_drive_param_set(&p->choice->params, key, number))
		return bad_line(p, error, value, "not a number from 0 on");
	p->seen |= 1ull << index;
	p->any = TRUE;
	return TRUE;
}

static gboolean take_line(parser *p, char *line, GError **error)
{
	tr_drive_choice *choice = p->choice;

	p->line++;
	g_strstrip(line);
	if (*line == '\0' || *line == '#')
		return TRUE;
	char *value = line + strcspn(line, " \t");
	if (!*value)
		return bad_line(p, error, line, "no value");
	*value++ = '\0';
	g_strchug(value);
	if (g_str_equal(line, "name"))
		return take_text(p, &choice->name, &choice->params.name, value, error);
	if (g_str_equal(line, "about"))
		return take_text(p, &choice->about, &choice->params.about, value, error);
	if (g_str_equal(line, "like"))
		return take_like(p, value, error);
	return take_number(p, line, value, error);
}

static gboolean check(parser *p, GError **error)
{
	struct tr_drive_params *params = &p->choice->params;
	const char *reason = p->any ? tr_drive_check(params) : "no number in it";

	if (reason)
		return ro_fail(error, RO_ERROR_USAGE, "%s: %s", p->file, reason);
	if (!params->about)
		params->about = "a drive of the user's own";
	if (params->name)
		return TRUE;
	g_autofree char *base = g_path_get_basename(p->file);
	p->choice->name = ro_escape_utf8(base);
	params->name = p->choice->name;
	return TRUE;
}

gboolean tr_drive_parse(
	const char *name, const char *text, gsize length, tr_drive_choice *choice, GError **error)
{
	parser p = {.file = name, .choice = choice};

	*choice = (tr_drive_choice){0};
	if (memchr(text, '\0', length))
		return ro_fail(error, RO_ERROR_USAGE, "%s: not a text file", name);
	g_autofree char *copy = g_strndup(text, length);
	g_auto(GStrv) lines = g_strsplit(copy, "\n", -1);
	for (char **line = lines; *line; line++)
		if (!take_line(&p, *line, error))
			return FALSE;
	return check(&p, error);
}

static GString *profile_names(void)
{
	GString *names = g_string_new(NULL);

	for (const struct tr_drive_params *p = tr_drive_profiles; p->name; p++)
		g_string_append_printf(names, "%s%s", names->len ? ", " : "", p->name);
	return names;
}

static gboolean read_file(const char *path, char **text, gsize *length, GError **error)
{
	g_autoptr(GFile) file = g_file_new_for_path(path);
	g_autoptr(GError) reason = NULL;
	g_autoptr(GFileInputStream) stream = g_file_read(file, NULL, &reason);

	if (!stream) {
		GString *names = profile_names();
		ro_fail(error, RO_ERROR_USAGE, "--drive %s: neither one of %s nor a file (%s)",
			path, names->str, reason->message);
		g_string_free(names, TRUE);
		return FALSE;
	}
	*text = g_malloc(FILE_LIMIT + 1);
	if (!g_input_stream_read_all(
		    G_INPUT_STREAM(stream), *text, FILE_LIMIT + 1, length, NULL, &reason))
		return ro_fail(error, RO_ERROR_USAGE, "%s: %s", path, reason->message);
	if (*length > FILE_LIMIT)
		return ro_fail(error, RO_ERROR_USAGE, "%s: too long to describe a drive", path);
	return TRUE;
}

gboolean tr_drive_choose(const char *text, tr_drive_choice *choice, GError **error)
{
	const struct tr_drive_params *profile = tr_drive_find(text);
	g_autofree char *content = NULL;
	gsize length;

	*choice = (tr_drive_choice){0};
	if (profile) {
		choice->params = *profile;
		return TRUE;
	}
	return read_file(text, &content, &length, error) &&
	       tr_drive_parse(text, content, length, choice, error);
}

void tr_drive_choice_clear(tr_drive_choice *choice)
{
	g_free(choice->name);
	g_free(choice->about);
	*choice = (tr_drive_choice){0};
}

GStrv tr_drive_plugin_parameters(const struct tr_drive_params *params, double k)
{
	g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
	char number[G_ASCII_DTOSTR_BUF_SIZE];

	for (size_t i = 0; tr_drive_param_name(i); i++) {
		g_ascii_dtostr(number, sizeof number, tr_drive_param_get(params, i));
		g_autofree char *word = g_strdup_printf("%s=%s", tr_drive_param_name(i), number);
		g_strv_builder_add(builder, word);
	}
	g_ascii_dtostr(number, sizeof number, k);
	g_autofree char *slow = g_strconcat("slow=", number, NULL);
	g_strv_builder_add(builder, slow);
	return g_strv_builder_end(builder);
}
