/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reads a file of recorded cases line by line, and ends the program where it is malformed.
 */
#include "record.h"

#include <stdlib.h>
#include <string.h>

static void give_up(const char *what)
{
	fprintf(stderr, "recorded cases: %s\n", what);
	exit(1);
}

FILE *record_open(const char *name)
{
	const char *source = getenv("TENON_SOURCE"), *folder = getenv("PARITY_RECORDS");
	char path[4096];
	snprintf(path, sizeof(path), "%s/%s", folder ? folder : "", name);
	FILE *file = folder ? fopen(path, "r") : NULL;
	if (file)
		return file;
	snprintf(path, sizeof(path), "%s/tests/parity/%s", source ? source : ".", name);
	file = fopen(path, "r");
	if (!file)
		give_up(path);
	return file;
}

int record_is_complete(int n_cases, int expected)
{
	return getenv("PARITY_RECORDS") ? n_cases > 0 : n_cases == expected;
}

static void read_int(FILE *file, struct record *record)
{
	struct record_int *item = &record->ints[record->n_ints++];
	long long value;
	if (record->n_ints > RECORD_ITEMS || fscanf(file, "%47s %d", item->name, &item->n) != 2 ||
	    item->n < 0 || item->n > RECORD_INTS)
		give_up("a setting is malformed");
	for (int i = 0; i < item->n; i++) {
		if (fscanf(file, "%lld", &value) != 1)
			give_up("a setting is short");
		item->values[i] = value;
	}
}

static void read_array(FILE *file, struct record *record)
{
	struct record_array *item = &record->arrays[record->n_arrays++];
	long long length;
	if (record->n_arrays > RECORD_ITEMS ||
	    fscanf(file, "%47s %u", item->name, &item->rank) != 2 || item->rank > TN_MAX_RANK)
		give_up("an array is malformed");
	item->count = 1;
	for (uint32_t axis = 0; axis < item->rank; axis++) {
		if (fscanf(file, "%lld", &length) != 1 || length < 0 || length > 100000)
			give_up("a length is malformed");
		item->shape[axis] = length;
		item->count *= (size_t)length;
	}
	item->values = malloc((item->count + 1) * sizeof(*item->values));
	if (!item->values)
		give_up("no memory");
	for (size_t i = 0; i < item->count; i++)
		if (fscanf(file, "%lf", &item->values[i]) != 1)
			give_up("an array is short");
}

int record_read(FILE *file, struct record *record)
{
	char word[RECORD_NAME];
	memset(record, 0, sizeof(*record));
	while (fscanf(file, " %47s", word) == 1) {
		if (word[0] == '#')
			while (fgetc(file) != '\n' && !feof(file))
				;
		else if (strcmp(word, "case") == 0 && fscanf(file, "%47s", record->layer) == 1)
			continue;
		else if (strcmp(word, "int") == 0)
			read_int(file, record);
		else if (strcmp(word, "array") == 0)
			read_array(file, record);
		else if (strcmp(word, "end") == 0)
			return 1;
		else
			give_up(word);
	}
	return 0;
}

void record_free(struct record *record)
{
	for (int i = 0; i < record->n_arrays; i++)
		free(record->arrays[i].values);
}

const int64_t *record_ints(const struct record *record, const char *name)
{
	for (int i = 0; i < record->n_ints; i++)
		if (strcmp(record->ints[i].name, name) == 0)
			return record->ints[i].values;
	return NULL;
}

const struct record_array *record_array(const struct record *record, const char *name)
{
	for (int i = 0; i < record->n_arrays; i++)
		if (strcmp(record->arrays[i].name, name) == 0)
			return &record->arrays[i];
	return NULL;
}
