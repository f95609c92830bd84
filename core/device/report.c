/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The report of an open device: its memory, and the lines its backend adds.
 */
#include <stdint.h>
#include <string.h>

#include "device/device.h"
#include "device/open.h"
#include "device/turn.h"

tn_status tn_device_get_memory_information(tn_device *device,
					   struct tn_memory_information *information)
{
	if (!device || !information)
		return TN_INVALID_ARGUMENT;
	tn_status status = tn_device_check(device, "device_get_memory_information");
	if (!status)
		status = tn_device_open(device, NULL);
	if (status)
		return status;
	*information = (struct tn_memory_information){.struct_size = sizeof(*information)};
	if (!tn_backend_has(device->backend, TN_SLOT_MEMORY_INFORMATION))
		return TN_UNSUPPORTED;
	return tn_device_answer(
		device,
		tn_turn_end(device, device->backend->memory.information(
					    tn_turn_begin(device), TN_MEMORY_DEVICE, information)),
		NULL);
}

tn_status tn_device_report_at(tn_device *device, size_t index, struct tn_report_line *line)
{
	if (!device || !line)
		return TN_INVALID_ARGUMENT;
	tn_status status = tn_device_check(device, "device_report_at");
	if (!status)
		status = tn_device_open(device, NULL);
	if (status)
		return status;
	/* A backend without the table adds no lines. */
	if (index >= TN_REPORT_MOST_LINES || !tn_backend_has(device->backend, TN_SLOT_REPORT_LINE))
		return TN_NOT_FOUND;
	*line = (struct tn_report_line){.struct_size = sizeof(*line)};
	status = tn_device_answer(
		device,
		tn_turn_end(device, device->backend->report.line(tn_turn_begin(device),
								 (uint32_t)index, line)),
		NULL);
	/* A plugin's text may lack its terminator. */
	line->key[sizeof(line->key) - 1] = '\0';
	line->text[sizeof(line->text) - 1] = '\0';
	line->struct_size = sizeof(*line);
	return status == TN_UNSUPPORTED ? TN_NOT_FOUND : status;
}
