/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Builds and prints the JSON of `tenon info --json`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "info.h"
#include "print_error.h"

int print_json(json_t *value)
{
	int failed = !value || json_dumpf(value, stdout, JSON_INDENT(2));
	json_decref(value);
	if (failed) {
		print_error("tenon: JSON could not be written");
		return EXIT_FAILED;
	}
	putchar('\n');
	return EXIT_DONE;
}

int info_json(const tn_load_report *backends, const tn_load_report *communicators)
{
	const char *text = tn_load_report_json(backends);
	const char *others = communicators ? tn_load_report_json(communicators) : NULL;
	json_t *root = text ? json_loads(text, 0, NULL) : NULL;
	json_t *other = others ? json_loads(others, 0, NULL) : NULL;
	if (root && other) {
		json_object_set(root, "communicator", json_object_get(other, "selection"));
		json_object_set(root, "communicators", json_object_get(other, "communicators"));
		json_array_extend(json_object_get(root, "notices"),
				  json_object_get(other, "notices"));
	}
	json_decref(other);
	return print_json(root);
}

json_t *printable_json(const char *text)
{
	json_t *value = text ? json_string(text) : json_null();
	if (value)
		return value;
	/* The environment may hold any bytes, JSON only UTF-8. */
	char *copy = strdup(text);
	for (char *p = copy; p && *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	value = copy ? json_string(copy) : NULL;
	free(copy);
	return value;
}
