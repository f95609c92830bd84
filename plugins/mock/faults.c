/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * TENON_MOCK: a comma-separated list of NAME or NAME:VALUE.  Invalid text is an error that names
 * the column, never silently ignored.
 */
#include <string.h>

#include "mock.h"

struct reader {
	const char *text; /* the whole text */
	const char *at;   /* the value being read */
	size_t length;
	struct tn_error_info *error;
};

static tn_status expected(const struct reader *reader, const char *what)
{
	size_t column = (size_t)(reader->at - reader->text) + 1;
	if (!reader->length)
		return tn_plugin_fail(reader->error, TN_FORMAT, "create",
				      "TENON_MOCK (mock.faults), column %zu of '%.200s': expected "
				      "%s, found nothing",
				      column, reader->text, what);
	return tn_plugin_fail(
		reader->error, TN_FORMAT, "create",
		"TENON_MOCK (mock.faults), column %zu of '%.200s': expected %s, found '%.*s'",
		column, reader->text, what, reader->length < 64 ? (int)reader->length : 64,
		reader->at);
}

/* ---- Values ----------------------------------------------------------------------------------*/

static unsigned shift_of(char suffix)
{
	switch (suffix) {
	case 'K':
		return 10;
	case 'M':
		return 20;
	case 'G':
		return 30;
	default:
		return 0;
	}
}

/* A number from 1 to `most`; K, M and G at its end where `suffixes` is 1. */
static tn_status read_number(const struct reader *reader, uint64_t most, int suffixes,
			     const char *what, uint64_t *value)
{
	size_t digits = reader->length;
	unsigned shift = 0;
	*value = 0;
	if (suffixes && digits)
		shift = shift_of(reader->at[digits - 1]);
	digits -= shift != 0;
	for (size_t i = 0; i < digits; i++) {
		unsigned digit = (unsigned)(reader->at[i] - '0');
		if (digit > 9 || *value > (most - digit) / 10)
			return expected(reader, what);
		*value = *value * 10 + digit;
	}
	if (*value == 0 || *value > most >> shift)
		return expected(reader, what);
	*value <<= shift;
	return TN_OK;
}

/* The number of the one that fails. */
static tn_status read_fault(const struct reader *reader, const char *name, struct mock_fault *fault)
{
	tn_status status = read_number(reader, UINT64_MAX, 0, "a number from 1 on", &fault->first);
	fault->last = fault->first;
	fault->name = name;
	return status;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static tn_status read_uuid(const struct reader *reader, struct mock_faults *faults)
{
	static const char what[] = "32 digits of 0-9 and a-f";
	if (reader->length != 32)
		return expected(reader, what);
	for (size_t i = 0; i < 16; i++) {
		int high = hex_value(reader->at[2 * i]), low = hex_value(reader->at[2 * i + 1]);
		if (high < 0 || low < 0)
			return expected(reader, what);
		faults->identity[i] = (uint8_t)(high << 4 | low);
	}
	faults->identity_type = TN_IDENTITY_UUID;
	return TN_OK;
}

/* "0000:01:00.0": domain, bus, device and function. */
static tn_status read_pci(const struct reader *reader, struct mock_faults *faults)
{
	static const char form[] = "0000:00:00.0", what[] = "a PCI address like 0000:01:00.0";
	/* The byte of the identity that holds each digit. */
	static const uint8_t byte_of[] = {1, 1, 0, 0, 0, 4, 4, 0, 5, 5, 0, 6};
	if (reader->length != sizeof(form) - 1)
		return expected(reader, what);
	for (size_t i = 0; i < sizeof(form) - 1; i++) {
		int digit = hex_value(reader->at[i]);
		uint8_t *byte = &faults->identity2[byte_of[i]];
		if (form[i] == '0' ? digit < 0 : reader->at[i] != form[i])
			return expected(reader, what);
		if (form[i] == '0')
			*byte = (uint8_t)(*byte << 4 | digit);
	}
	faults->identity2_type = TN_IDENTITY_PCI;
	return TN_OK;
}

static tn_status read_devices(const struct reader *reader, struct mock_faults *faults)
{
	uint64_t n;
	tn_status status = read_number(reader, MOCK_MOST_DEVICES, 0, "a number from 1 to 16", &n);
	faults->devices = (uint32_t)n;
	return status;
}

static tn_status read_slice(const struct reader *reader, struct mock_faults *faults)
{
	uint64_t n;
	tn_status status = read_number(reader, UINT32_MAX, 0, "a number from 1 on", &n);
	faults->slice = (uint32_t)n;
	return status;
}

/* ---- Items -----------------------------------------------------------------------------------*/

enum item {
	NO_DRIVER,
	NO_DEVICE,
	DRIVER_TOO_OLD,
	MISSING_LIBRARY,
	OLD_ABI,
	OOM,
	OOM_AFTER,
	LOST,
	ASYNC_ERROR,
	SLOW,
	DEVICES,
	NO_PEERS,
	IDENTITY,
	PCI,
	SLICE,
	N_ITEMS,
};

static const struct {
	const char *name;
	int has_value; /* 2: optional */
	tn_status absence;
} items[N_ITEMS] = {
	[NO_DRIVER] = {"no-driver", 0, TN_NO_DRIVER},
	[NO_DEVICE] = {"no-device", 0, TN_NO_DEVICE},
	[DRIVER_TOO_OLD] = {"driver-too-old", 0, TN_DRIVER_TOO_OLD},
	[MISSING_LIBRARY] = {"missing-library", 0, TN_MISSING_LIBRARY},
	[OLD_ABI] = {"old-abi", 0, TN_ABI_MISMATCH},
	[OOM] = {"oom", 1, TN_OK},
	[OOM_AFTER] = {"oom-after", 1, TN_OK},
	[LOST] = {"lost", 1, TN_OK},
	[ASYNC_ERROR] = {"async-error", 1, TN_OK},
	[SLOW] = {"slow", 2, TN_OK},
	[DEVICES] = {"devices", 1, TN_OK},
	[NO_PEERS] = {"no-peers", 0, TN_OK},
	[IDENTITY] = {"identity", 1, TN_OK},
	[PCI] = {"pci", 1, TN_OK},
	[SLICE] = {"slice", 1, TN_OK},
};

static enum item find_item(const char *name, size_t length)
{
	int i = 0;
	while (i < N_ITEMS &&
	       (strlen(items[i].name) != length || strncmp(items[i].name, name, length)))
		i++;
	return (enum item)i;
}

static tn_status read_value(const struct reader *value, enum item item, struct mock_faults *faults)
{
	switch (item) {
	case OOM:
		return read_fault(value, "TENON_MOCK=oom", &faults->oom);
	case OOM_AFTER:
		return read_number(value, UINT64_MAX, 1,
				   "a number of bytes; K, M and G are understood",
				   &faults->oom_after);
	case LOST:
		return read_fault(value, "TENON_MOCK=lost", &faults->lost);
	case ASYNC_ERROR:
		return read_fault(value, "TENON_MOCK=async-error", &faults->async_error);
	case SLOW:
		return read_number(value, 60000, 0, "a number of milliseconds from 1 to 60000",
				   &faults->slow_ms);
	case DEVICES:
		return read_devices(value, faults);
	case IDENTITY:
		return read_uuid(value, faults);
	case SLICE:
		return read_slice(value, faults);
	default:
		return read_pci(value, faults);
	}
}

static tn_status read_item(const struct reader *item, struct mock_faults *faults, uint32_t *seen)
{
	static const char names[] =
		"no-driver, no-device, driver-too-old, missing-library, old-abi, oom:N, "
		"oom-after:BYTES, lost:N, async-error:N, slow, slow:MS, devices:N, no-peers, "
		"identity:HEX, pci:ADDRESS or slice:N";
	struct reader name = *item, value = *item;
	const char *colon = memchr(item->at, ':', item->length);
	if (colon) {
		name.length = (size_t)(colon - item->at);
		value.at = colon + 1;
		value.length = item->length - name.length - 1;
	} else {
		value.at += item->length;
		value.length = 0;
	}
	enum item found = find_item(name.at, name.length);
	if (found == N_ITEMS)
		return expected(item, names);
	if (*seen >> found & 1)
		return expected(item, "each fault once");
	*seen |= 1u << found;
	if (!items[found].has_value && colon)
		return expected(&value, "no value here");
	if (items[found].absence && faults->absence)
		return expected(item, "one reason to be absent");
	if (items[found].absence)
		faults->absence = items[found].absence;
	if (found == SLOW)
		faults->slow_ms = 10;
	if (found == NO_PEERS)
		faults->no_peers = 1;
	if (!items[found].has_value || (items[found].has_value == 2 && !colon))
		return TN_OK;
	if (!colon)
		return expected(&value, "a ':' and a value");
	return read_value(&value, found, faults);
}

tn_status mock_faults_parse(const char *text, struct mock_faults *faults,
			    struct tn_error_info *error)
{
	struct reader item = {.text = text, .at = text, .error = error};
	uint32_t seen = 0;
	memset(faults, 0, sizeof(*faults));
	faults->devices = 1;
	if (!text || !*text)
		return TN_OK;
	for (;;) {
		item.length = strcspn(item.at, ",");
		tn_status status = read_item(&item, faults, &seen);
		if (status)
			return status;
		if (!item.at[item.length])
			break;
		item.at += item.length + 1;
	}
	return TN_OK;
}
