/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * TENON_MOCK_COMMUNICATOR_FAULT: a comma-separated list of NAME:VALUE, NAME:VALUE:VALUE, or either
 * with @RANK at its end.  Invalid text is an error that names the column.
 */
#include <string.h>

#include "mock.h"

static const struct {
	const char *name;
	int n_values; /* at least; a second one is optional where it has a default */
	uint64_t default2, most;
} kinds[MOCK_N_FAULTS] = {
	[MOCK_DELAY] = {"delay", 1, 0, 3600000},
	[MOCK_NETWORK] = {"network", 2, 0, 1000000},
	[MOCK_DROP] = {"drop", 1, 0, UINT64_MAX},
	[MOCK_DIE] = {"die", 1, 0, UINT64_MAX},
	[MOCK_DIE_IN] = {"die-in", 1, 0, UINT64_MAX},
	[MOCK_DISAGREE] = {"disagree", 1, 0, UINT64_MAX},
	[MOCK_LATE] = {"late", 1, 1000, UINT64_MAX},
};

struct reader {
	const char *text; /* the whole text */
	const char *at;
	struct tn_error_info *error;
};

static tn_status expected(const struct reader *reader, const char *what)
{
	const int length = (int)strcspn(reader->at, ",");
	return tn_plugin_fail(
		reader->error, TN_FORMAT, "create",
		"TENON_MOCK_COMMUNICATOR_FAULT, column %zu of '%.200s': expected %s, found '%.*s'",
		(size_t)(reader->at - reader->text) + 1, reader->text, what,
		length < 64 ? length : 64, reader->at);
}

static tn_status read_number(struct reader *reader, uint64_t least, uint64_t most, uint64_t *value)
{
	struct reader at = *reader;
	*value = 0;
	for (; *at.at >= '0' && *at.at <= '9'; at.at++) {
		const uint64_t digit = (uint64_t)(*at.at - '0');
		if (*value > (most - digit) / 10)
			return expected(reader, "a smaller number");
		*value = *value * 10 + digit;
	}
	if (at.at == reader->at || *value < least)
		return expected(reader, least ? "a number from 1 on" : "a number");
	reader->at = at.at;
	return TN_OK;
}

static tn_status read_name(struct reader *reader, int *kind)
{
	const size_t length = strcspn(reader->at, ":@,");
	for (*kind = 0; *kind < MOCK_N_FAULTS; ++*kind) {
		if (strlen(kinds[*kind].name) == length &&
		    !strncmp(kinds[*kind].name, reader->at, length))
			break;
	}
	if (*kind == MOCK_N_FAULTS)
		return expected(reader, "delay:MS, network:MICROSECONDS:GBITS, drop:N, die:N, "
					"die-in:N, disagree:N, late:N or late:N:MS");
	reader->at += length;
	return TN_OK;
}

static tn_status read_values(struct reader *reader, int kind, struct mock_fault *fault)
{
	tn_status status;
	if (*reader->at != ':')
		return expected(reader, "a ':' and a number");
	reader->at++;
	/* A network may be without latency. */
	status = read_number(reader, kind != MOCK_NETWORK, kinds[kind].most, &fault->value);
	fault->value2 = kinds[kind].default2;
	if (status || (kinds[kind].n_values == 1 && !kinds[kind].default2))
		return status;
	if (*reader->at != ':')
		return kinds[kind].n_values == 2 ? expected(reader, "a ':' and Gbit/s") : TN_OK;
	reader->at++;
	return read_number(reader, 1, 3600000, &fault->value2);
}

static tn_status read_item(struct reader *reader, struct mock_faults *faults)
{
	const struct reader begin = *reader;
	uint64_t rank = TN_RANK_UNKNOWN;
	int kind;
	tn_status status = read_name(reader, &kind);
	if (status)
		return status;
	struct mock_fault *fault = &faults->of[kind];
	if (fault->is_set)
		return expected(&begin, "each fault once");
	status = read_values(reader, kind, fault);
	if (!status && *reader->at == '@') {
		reader->at++;
		status = read_number(reader, 0, UINT32_MAX - 1, &rank);
	}
	if (!status && *reader->at && *reader->at != ',')
		status = expected(reader, "a comma");
	fault->rank = (uint32_t)rank;
	fault->is_set = 1;
	return status;
}

tn_status mock_faults_parse(const char *text, struct mock_faults *faults,
			    struct tn_error_info *error)
{
	struct reader reader = {text, text, error};
	tn_status status = TN_OK;
	memset(faults, 0, sizeof(*faults));
	if (!text || !*text)
		return TN_OK;
	status = read_item(&reader, faults);
	while (!status && *reader.at == ',') {
		reader.at++;
		status = read_item(&reader, faults);
	}
	return status;
}

const struct mock_fault *mock_fault_of(const struct mock_communicator *communicator,
				       enum mock_fault_kind kind)
{
	const struct mock_fault *fault = &communicator->instance->faults.of[kind];
	return fault->is_set &&
			       (fault->rank == TN_RANK_UNKNOWN || fault->rank == communicator->rank)
		       ? fault
		       : NULL;
}
