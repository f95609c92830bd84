/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * usage: json_value [KEY|INDEX]... <FILE
 *
 * Prints the value at that path as JSON.  Exit status 1: the text is not JSON, or there is no such
 * value.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	json_error_t error;
	json_t *whole = json_loadf(stdin, JSON_REJECT_DUPLICATES, &error);
	const json_t *value = whole;
	if (!whole)
		fprintf(stderr, "line %d: %s\n", error.line, error.text);
	for (int i = 1; i < argc && value; i++)
		value = json_is_array(value) ? json_array_get(value, strtoul(argv[i], NULL, 10))
					     : json_object_get(value, argv[i]);
	int status = value ? json_dumpf(value, stdout, JSON_ENCODE_ANY | JSON_COMPACT) : 1;
	putchar('\n');
	json_decref(whole);
	return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
