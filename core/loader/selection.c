/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A hand-written parser, one function per rule of the grammar.  Columns count from 1, in bytes.
 */
#include "loader/selection.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/name.h"

struct reader {
	const char *source; /* what errors name */
	const char *text;
	size_t at;
	const char *next; /* what may follow the last item */
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

/* ---- Items -----------------------------------------------------------------------------------*/

const char *const tn_selection_kinds[] = {"gpu", "accelerator", NULL};

static const char *const identities[] = {"pci", "uuid"};

/* `name` may be a misspelt "pci" or "uuid". */
static tn_status expected_index(const struct reader *reader, const char *name)
{
	const char *like = tn_name_nearest(name, identities, 2);
	char what[80];
	snprintf(what, sizeof(what), "the number of a device, below 100000%s%s%s",
		 like ? " (or did you mean '" : "", like ? like : "", like ? ":'?)" : "");
	return expected(reader, what);
}

static tn_status read_index(struct reader *reader, struct tn_selection_item *item)
{
	const char *start = reader->text + reader->at;
	size_t length = 0;
	int64_t value = 0;
	while (start[length] >= '0' && start[length] <= '9' && length < 6)
		value = value * 10 + (start[length++] - '0');
	if (length == 0 || length == 6)
		return expected_index(reader, item->name);
	if (length > 1 && start[0] == '0')
		return expected(reader, "the number of a device without leading zeros");
	reader->at += length;
	reader->next = "',', '!' or the end";
	item->index = value;
	return TN_OK;
}

/* What follows "pci" or "uuid". */
static tn_status read_identity(struct reader *reader, struct tn_selection_item *item, int is_pci)
{
	size_t length;
	if (!take(reader, ':'))
		return expected(reader, is_pci ? "':' and a PCI address" : "':' and a UUID");
	const char *text = reader->text + reader->at;
	const int is_read = is_pci ? tn_identity_read_pci(text, &item->identity, &length)
				   : tn_identity_read_uuid(text, &item->identity, &length);
	reader->at += length;
	if (!is_read)
		return expected(reader, is_pci ? "a hexadecimal PCI address like 0000:65:00.0"
					       : "a UUID of 8-4-4-4-12 hexadecimal digits");
	snprintf(item->name, sizeof(item->name), "%.*s", (int)(reader->at - item->at),
		 reader->text + item->at);
	item->what = TN_SELECTS_IDENTITY;
	reader->next = "',', '!' or the end";
	return TN_OK;
}

/* Is the name a word of the grammar, and so no backend's? */
static int is_word(const char *name)
{
	int is_one = !strcmp(name, "auto");
	for (size_t i = 0; i < 2; i++)
		is_one |= !strcmp(name, tn_selection_kinds[i]) || !strcmp(name, identities[i]);
	return is_one;
}

static tn_status read_excluded(struct reader *reader, struct tn_selection *selection)
{
	char *name = selection->excluded[selection->n_excluded];
	const size_t start = reader->at;
	tn_status status = read_name(reader, name, "a backend's name after '^'");
	if (status)
		return status;
	if (is_word(name) || tn_selection_excludes(selection, name))
		return tn_fail(reader->error, TN_FORMAT, reader->source,
			       "column %zu of '%s': expected a backend's name after '^', found "
			       "'%s'%s",
			       start + 1, reader->text, name, is_word(name) ? "" : " again");
	reader->next = "',', '!' or the end";
	selection->n_excluded++;
	return TN_OK;
}

static tn_status read_named(struct reader *reader, struct tn_selection_item *item)
{
	char name[32];
	item->at = reader->at;
	item->index = TN_ANY_INDEX;
	tn_status status = read_name(reader, name, "a backend's name or '^'");
	if (status)
		return status;
	snprintf(item->name, sizeof(item->name), "%s", name);
	for (size_t i = 0; i < 2; i++) {
		if (!strcmp(name, identities[i]))
			return read_identity(reader, item, i == 0);
	}
	if (!strcmp(name, "auto")) {
		reader->at = item->at;
		return expected(reader, "a backend's name; 'auto' excludes other items");
	}
	reader->next = "',', '!' or the end";
	if (!strcmp(name, tn_selection_kinds[0]))
		item->what = TN_SELECTS_GPU;
	else if (!strcmp(name, tn_selection_kinds[1]))
		item->what = TN_SELECTS_ACCELERATOR;
	else if (take(reader, ':'))
		status = read_index(reader, item);
	else
		reader->next = "',', ':', '!' or the end";
	return status;
}

static int is_same(const struct tn_selection_item *a, const struct tn_selection_item *b)
{
	if (a->what != b->what || a->index != b->index)
		return 0;
	return a->what == TN_SELECTS_IDENTITY
		       ? !memcmp(&a->identity, &b->identity, sizeof(a->identity))
		       : !strcmp(a->name, b->name);
}

static tn_status read_item(struct reader *reader, struct tn_selection *selection)
{
	if (selection->n_named + selection->n_excluded == TN_SELECTION_MAX_ITEMS)
		return tn_fail(reader->error, TN_LIMIT, reader->source,
			       "column %zu of '%s': more than %d names", reader->at + 1,
			       reader->text, TN_SELECTION_MAX_ITEMS);
	if (take(reader, '^'))
		return read_excluded(reader, selection);
	struct tn_selection_item *item = &selection->named[selection->n_named];
	tn_status status = read_named(reader, item);
	for (size_t i = 0; !status && i < selection->n_named; i++) {
		if (is_same(&selection->named[i], item))
			return tn_fail(reader->error, TN_FORMAT, reader->source,
				       "column %zu of '%s': expected another item, found '%.*s' "
				       "again",
				       item->at + 1, reader->text, (int)(reader->at - item->at),
				       reader->text + item->at);
	}
	selection->n_named += !status;
	return status;
}

tn_status tn_selection_parse(const char *text, const char *source, struct tn_selection *selection,
			     struct tn_error_info *error)
{
	struct reader reader = {.source = source, .text = text ? text : "", .error = error};
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
		return expected(&reader, selection->required ? "the end after '!'" : reader.next);
	/* A name both named and excluded, or '!' with nothing named, is a mistake. */
	if (selection->required && !selection->n_named)
		return tn_fail(error, TN_FORMAT, source,
			       "column %zu of '%s': '!' needs a backend's name before it",
			       reader.at, reader.text);
	for (size_t i = 0; i < selection->n_named; i++) {
		const struct tn_selection_item *item = &selection->named[i];
		if (tn_selection_excludes(selection, item->name))
			return tn_fail(error, TN_FORMAT, source,
				       "column %zu of '%s': '%s' is both named and excluded",
				       item->at + 1, reader.text, item->name);
	}
	return TN_OK;
}

/* ---- Questions -------------------------------------------------------------------------------*/

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
		if (selection->named[i].what == TN_SELECTS_BACKEND &&
		    !strcmp(selection->named[i].name, name))
			return 1;
	}
	return 0;
}

int tn_selection_prefers_others(const struct tn_selection *selection, const char *name)
{
	for (size_t i = 0; i < selection->n_named; i++) {
		/* Devices of a kind or with an identity may be any backend's. */
		if (selection->named[i].what != TN_SELECTS_BACKEND)
			return 0;
	}
	return selection->n_named && !tn_selection_names(selection, name);
}

int tn_selection_item_is_kind(const struct tn_selection_item *item, uint32_t kind)
{
	const int is_gpu = kind == TN_DEVICE_DISCRETE_GPU || kind == TN_DEVICE_INTEGRATED_GPU;
	const int is_processor = kind == TN_DEVICE_CPU || kind == TN_DEVICE_REFERENCE;
	if (item->what == TN_SELECTS_GPU)
		return is_gpu;
	return item->what == TN_SELECTS_ACCELERATOR && !is_gpu && !is_processor;
}

/* Can a device of that backend be what the item names?  One of a processor has no identity. */
static int may_mean(const struct tn_selection_item *item, const char *name, uint32_t kind)
{
	if (item->what == TN_SELECTS_BACKEND)
		return !strcmp(item->name, name);
	if (!kind)
		return 1;
	return item->what == TN_SELECTS_IDENTITY ? kind != TN_DEVICE_CPU
						 : tn_selection_item_is_kind(item, kind);
}

int tn_selection_forbids(const struct tn_selection *selection, const char *name, uint32_t kind)
{
	for (size_t i = 0; i < selection->n_named; i++) {
		if (may_mean(&selection->named[i], name, kind))
			return 0;
	}
	return selection->required && selection->n_named;
}

int tn_selection_item_is(const struct tn_selection_item *item, const char *backend, uint32_t index,
			 const struct tn_device_description *device)
{
	if (item->what == TN_SELECTS_BACKEND)
		return !strcmp(backend, item->name) &&
		       (item->index == TN_ANY_INDEX || item->index == index);
	if (item->what == TN_SELECTS_IDENTITY)
		return tn_identity_is_of(&item->identity, device);
	return tn_selection_item_is_kind(item, device->kind);
}

/* ---- Simulated faults ------------------------------------------------------------------------*/

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
	struct reader reader = {
		.source = "TENON_SIMULATE", .text = text ? text : "", .error = error};
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
