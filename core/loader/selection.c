/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A hand-written parser, one function per rule of the grammar.  Columns count from 1, in bytes.
 */
#include "loader/selection.h"

#include <string.h>

#include "base/error.h"

struct reader {
	const char *source; /* what errors name */
	const char *text;
	size_t at;
	struct tn_error_info *error;
};

static tn_status expected(const struct reader *reader, const char *what)
{
	char found = reader->text[reader->at];
	if (!found)
		return tn_fail(reader->error, TN_FORMAT, reader->source,
			       "column %zu of '%s': expected %s, found the end", reader->at + 1,
			       reader->text, what);
	return tn_fail(reader->error, TN_FORMAT, reader->source,
		       "column %zu of '%s': expected %s, found '%c'", reader->at + 1, reader->text,
		       what, found);
}

static int in_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '-' || c == '.';
}

static int take(struct reader *reader, char c)
{
	if (reader->text[reader->at] != c)
		return 0;
	reader->at++;
	return 1;
}

static tn_status read_name(struct reader *reader, char name[32], const char *what)
{
	const char *start = reader->text + reader->at;
	size_t length = 0;
	while (in_name(start[length]))
		length++;
	if (length == 0)
		return expected(reader, what);
	if (length > 31)
		return tn_fail(reader->error, TN_FORMAT, reader->source,
			       "column %zu of '%s': a name has at most 31 letters, found %zu",
			       reader->at + 1, reader->text, length);
	memcpy(name, start, length);
	name[length] = '\0';
	reader->at += length;
	return TN_OK;
}

static tn_status read_index(struct reader *reader, int64_t *index)
{
	const char *start = reader->text + reader->at;
	size_t length = 0;
	int64_t value = 0;
	while (start[length] >= '0' && start[length] <= '9' && length < 6)
		value = value * 10 + (start[length++] - '0');
	if (length == 0 || length == 6)
		return expected(reader, "the number of a device, below 100000");
	reader->at += length;
	*index = value;
	return TN_OK;
}

static tn_status read_item(struct reader *reader, struct tn_selection *selection)
{
	if (selection->n_named + selection->n_excluded == TN_SELECTION_MAX_ITEMS)
		return tn_fail(reader->error, TN_LIMIT, reader->source,
			       "column %zu of '%s': more than %d names", reader->at + 1,
			       reader->text, TN_SELECTION_MAX_ITEMS);
	if (take(reader, '^')) {
		tn_status status = read_name(reader, selection->excluded[selection->n_excluded],
					     "a backend's name after '^'");
		selection->n_excluded += !status;
		return status;
	}
	struct tn_selection_item *item = &selection->named[selection->n_named];
	size_t start = reader->at;
	tn_status status = read_name(reader, item->name, "a backend's name or '^'");
	if (status)
		return status;
	if (!strcmp(item->name, "auto")) {
		reader->at = start;
		return expected(reader, "a backend's name; 'auto' excludes other items");
	}
	item->index = TN_ANY_INDEX;
	if (take(reader, ':'))
		status = read_index(reader, &item->index);
	selection->n_named += !status;
	return status;
}

tn_status tn_selection_parse(const char *text, const char *source, struct tn_selection *selection,
			     struct tn_error_info *error)
{
	struct reader reader = {source, text ? text : "", 0, error};
	memset(selection, 0, sizeof(*selection));
	if (!*reader.text || !strcmp(reader.text, "auto"))
		return TN_OK;
	do {
		tn_status status = read_item(&reader, selection);
		if (status)
			return status;
	} while (take(&reader, ','));
	selection->required = take(&reader, '!');
	if (reader.text[reader.at])
		return expected(&reader, selection->required ? "the end after '!'"
							     : "',', ':', '!' or the end");
	/* A name both named and excluded, or '!' with nothing named, is a mistake. */
	if (selection->required && !selection->n_named)
		return tn_fail(error, TN_FORMAT, source,
			       "column %zu of '%s': '!' needs a backend's name before it",
			       reader.at, reader.text);
	for (size_t i = 0; i < selection->n_named; i++) {
		const char *name = selection->named[i].name;
		if (tn_selection_excludes(selection, name))
			return tn_fail(error, TN_FORMAT, source,
				       "column %zu of '%s': '%s' is both named and excluded",
				       (size_t)(strstr(reader.text, name) - reader.text) + 1,
				       reader.text, name);
	}
	return TN_OK;
}

int tn_selection_excludes(const struct tn_selection *selection, const char *name)
{
	for (size_t i = 0; i < selection->n_excluded; i++) {
		if (!strcmp(selection->excluded[i], name))
			return 1;
	}
	return 0;
}

int tn_selection_names(const struct tn_selection *selection, const char *name)
{
	for (size_t i = 0; i < selection->n_named; i++) {
		if (!strcmp(selection->named[i].name, name))
			return 1;
	}
	return 0;
}

static const struct {
	const char *name;
	tn_status status;
} faults[] = {
	{"no-driver", TN_NO_DRIVER},
	{"no-device", TN_NO_DEVICE},
	{"driver-too-old", TN_DRIVER_TOO_OLD},
	{"missing-library", TN_MISSING_LIBRARY},
	{"no-plugin", TN_NO_PLUGIN},
	{"bad-plugin", TN_BAD_PLUGIN},
	{"abi-mismatch", TN_ABI_MISMATCH},
	{"probe-failed", TN_PROBE_FAILED},
	{"refused", TN_REFUSED},
};

static tn_status read_fault(struct reader *reader, tn_status *fault)
{
	char name[32];
	size_t start = reader->at;
	tn_status status = read_name(reader, name, "a fault");
	if (status)
		return status;
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		if (!strcmp(faults[i].name, name)) {
			*fault = faults[i].status;
			return TN_OK;
		}
	}
	return tn_fail(reader->error, TN_FORMAT, reader->source,
		       "column %zu of '%s': expected no-driver, no-device, driver-too-old, "
		       "missing-library, no-plugin, bad-plugin, abi-mismatch, probe-failed or "
		       "refused, found '%s'",
		       start + 1, reader->text, name);
}

tn_status tn_simulation_parse(const char *text, struct tn_simulation *simulation,
			      struct tn_error_info *error)
{
	struct reader reader = {"TENON_SIMULATE", text ? text : "", 0, error};
	simulation->n = 0;
	if (!*reader.text)
		return TN_OK;
	do {
		if (simulation->n == TN_SELECTION_MAX_ITEMS)
			return tn_fail(error, TN_LIMIT, reader.source,
				       "column %zu of '%s': more than %d faults", reader.at + 1,
				       reader.text, TN_SELECTION_MAX_ITEMS);
		tn_status status = read_name(&reader, simulation->faults[simulation->n].name,
					     "a backend's name");
		if (!status && !take(&reader, ':'))
			status = expected(&reader, "':' and a fault");
		if (!status)
			status = read_fault(&reader, &simulation->faults[simulation->n].fault);
		if (status)
			return status;
		simulation->n++;
	} while (take(&reader, ','));
	return reader.text[reader.at] ? expected(&reader, "',' or the end") : TN_OK;
}

tn_status tn_simulation_of(const struct tn_simulation *simulation, const char *name)
{
	for (size_t i = 0; i < simulation->n; i++) {
		if (!strcmp(simulation->faults[i].name, name))
			return simulation->faults[i].fault;
	}
	return TN_OK;
}
