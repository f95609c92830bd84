/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Any bytes as TENON_BACKEND, as TENON_SIMULATE and as a misspelt name.
 */
#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "loader/selection.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"cpu", "cuda", "reference", ""};
	struct tn_selection selection;
	struct tn_simulation simulation;
	struct tn_error_info error;
	char *text = malloc(size + 1);
	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	memset(&error, 0, sizeof(error));
	if (tn_selection_parse(text, "backend", &selection, &error) && !error.text[0])
		abort();
	memset(&error, 0, sizeof(error));
	if (tn_simulation_parse(text, &simulation, &error) && !error.text[0])
		abort();
	const char *nearest = tn_name_nearest(text, names, 4);
	if (nearest && tn_name_distance(text, nearest) > size + 1)
		abort();
	free(text);
	return 0;
}
