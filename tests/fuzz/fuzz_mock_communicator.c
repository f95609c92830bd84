/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Any text as TENON_MOCK_COMMUNICATOR_FAULT.  Faults that were read are written and read again.
 */
#include <inttypes.h>
#include <string.h>

#include "communicator_mock/mock.h"
#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
	const char *name;
	int n_values;
} kinds[MOCK_N_FAULTS] = {
	[MOCK_DELAY] = {"delay", 1},   [MOCK_NETWORK] = {"network", 2},
	[MOCK_DROP] = {"drop", 1},     [MOCK_DIE] = {"die", 1},
	[MOCK_DIE_IN] = {"die-in", 1}, [MOCK_DISAGREE] = {"disagree", 1},
	[MOCK_LATE] = {"late", 2},
};

static void write_faults(const struct mock_faults *faults, char *text, size_t size)
{
	size_t n = 0;
	for (int i = 0; i < MOCK_N_FAULTS; i++) {
		const struct mock_fault *fault = &faults->of[i];
		if (!fault->is_set)
			continue;
		n += (size_t)snprintf(text + n, size - n, "%s%s:%" PRIu64, n ? "," : "",
				      kinds[i].name, fault->value);
		if (kinds[i].n_values == 2)
			n += (size_t)snprintf(text + n, size - n, ":%" PRIu64, fault->value2);
		if (fault->rank != TN_RANK_UNKNOWN)
			n += (size_t)snprintf(text + n, size - n, "@%" PRIu32, fault->rank);
		fuzz_require(n < size);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mock_faults faults, again;
	struct tn_error_info error = {.struct_size = sizeof(error)};
	char written[1024] = "", *text = malloc(size + 1);
	fuzz_require(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	const tn_status status = mock_faults_parse(text, &faults, &error);
	fuzz_require(status == error.status && (!status || error.text[0]));
	if (!status) {
		write_faults(&faults, written, sizeof(written));
		fuzz_require(!mock_faults_parse(written, &again, &error));
		fuzz_require(!memcmp(&faults, &again, sizeof(faults)));
	}
	free(text);
	return 0;
}
