/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Table tenon.report/1: invented values, except the number of pieces of work, which changes while
 * the device works like the clock of a real one.
 */
#include <inttypes.h>
#include <stdio.h>

#include "mock.h"

static tn_status line(void *device, uint32_t index, struct tn_report_line *out)
{
	struct mock_device *mock = device;
	static const char *const keys[] = {"driver", "library.mock", "temperature", "work"};
	static const char *const texts[] = {"1.0", "libmock.so.1, 1.0.0", "21 C"};
	struct tn_report_line own = {.struct_size = sizeof(own)};
	if (index >= sizeof(keys) / sizeof(keys[0]))
		return TN_NOT_FOUND;
	if (mock->loss.status)
		return TN_DEVICE_LOST;
	snprintf(own.key, sizeof(own.key), "%s", keys[index]);
	if (index < sizeof(texts) / sizeof(texts[0]))
		snprintf(own.text, sizeof(own.text), "%s", texts[index]);
	else
		snprintf(own.text, sizeof(own.text), "%" PRIu64 " pieces",
			 __atomic_load_n(&mock->instance->n_pieces, __ATOMIC_RELAXED));
	tn_struct_answer(out, &own, sizeof(own));
	return TN_OK;
}

const struct tn_report_table mock_report_table = {
	.struct_size = sizeof(mock_report_table),
	.line = line,
};
