/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The file of exclusions: each has an id, a date and a reason, and appears in the report.
 */
#include <errno.h>

#include "frame.h"

static int wrong(const char *path, unsigned line, const char *what)
{
	fprintf(stderr, "tenon-conform: %s:%u: %s\n", path, line, what);
	return 0;
}

static int is_date(const char *text)
{
	int year, month, day, length = 0;
	return sscanf(text, "%4d-%2d-%2d%n", &year, &month, &day, &length) == 3 && length == 10 &&
	       !text[10] && year >= 2000 && month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

static int add(struct options *options, const struct exclusion *exclusion)
{
	size_t n = options->n_exclusions;
	struct exclusion *grown = realloc(options->exclusions, (n + 1) * sizeof(*grown));
	if (!grown)
		return 0;
	options->exclusions = grown;
	grown[n] = *exclusion;
	options->n_exclusions = n + 1;
	return 1;
}

static int read_line(struct options *options, const char *path, unsigned number, char *line)
{
	struct exclusion e = {.id = ""};
	char date[16] = "";
	int at = 0;
	line[strcspn(line, "\n")] = '\0';
	line += strspn(line, " \t");
	if (!*line || *line == '#')
		return 1;
	sscanf(line, "%63s %15s %n", e.id, date, &at);
	if (!check_find(e.id))
		return wrong(path, number, "there is no check with that id (see --list)");
	if (!is_date(date))
		return wrong(path, number, "expected a date, YYYY-MM-DD, after the check's id");
	if (!at || !line[at])
		return wrong(path, number, "expected a reason after the date");
	memcpy(e.date, date, sizeof(e.date));
	snprintf(e.reason, sizeof(e.reason), "%s", line + at);
	return add(options, &e) ? 1 : wrong(path, number, "out of memory");
}

int exclusions_read(struct options *options, const char *path)
{
	char line[512];
	unsigned number = 0;
	int good = 1;
	FILE *file = fopen(path, "re");
	if (!file) {
		fprintf(stderr, "tenon-conform: --exclude: %s: %s\n", path, strerror(errno));
		return 0;
	}
	while (good && fgets(line, sizeof(line), file))
		good = read_line(options, path, ++number, line);
	fclose(file);
	return good;
}
