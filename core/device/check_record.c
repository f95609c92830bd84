/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The record of checks.  The entries of the backend are called directly: the functions of
 * transfer.h would fetch the record first.
 */
#include "device/check_record.h"

#include <inttypes.h>

#include "device/checks.h"
#include "device/open.h"
#include "device/pool_parts.h"
#include "device/turn.h"

tn_status tn_check_record_clear(struct tn_device *device, struct tn_check_record *record,
				struct tn_error_info *error)
{
	static const int64_t zeros[TN_CHECK_CELLS]; /* unchanged until the transfer is done */
	struct tn_transfer_args args = {
		.call = {.struct_size = sizeof(args),
			 .flags = TN_ASYNC,
			 .stream = device->stream,
			 .error = error},
		.buffer = record->block.buffer,
		.offset = record->block.offset,
		.size = sizeof(zeros),
		.host = (void *)(uintptr_t)zeros,
	};
	tn_error_reset(error);
	tn_status status =
		tn_turn_end(device, device->backend->device.upload(tn_turn_begin(device), &args));
	record->is_clear = !status;
	record->cleared_in = device->queue;
	return tn_device_answer(device, status, error);
}

void tn_check_record_trust(struct tn_device *device, const struct tn_queue *queue)
{
	for (struct tn_check_record *record = device->checks.records; record;
	     record = record->next) {
		if (record->cleared_in == queue)
			record->cleared_in = NULL;
	}
}

void tn_check_record_doubt(struct tn_device *device, const struct tn_queue *queue)
{
	for (struct tn_check_record *record = device->checks.records; record;
	     record = record->next) {
		if (record->cleared_in == queue) {
			record->is_clear = 0;
			record->cleared_in = NULL;
		}
	}
}

tn_status tn_queue_error(struct tn_device *device, const struct tn_queue *queue,
			 struct tn_error_info *error)
{
	struct tn_error_info own;
	if (device->synchronous || !tn_backend_has(device->backend, TN_SLOT_ASYNC_ERROR))
		return TN_OK;
	if (!error)
		error = &own;
	tn_error_reset(error);
	tn_status status = tn_device_answer(
		device,
		tn_turn_end(device, device->backend->device.async_error(tn_turn_begin(device),
									queue->handle, error)),
		error);
	if (status)
		tn_check_record_doubt(device, queue);
	return status;
}

int tn_checks_have_run(const struct tn_device *device, const struct tn_queue *queue)
{
	const struct tn_check_record *record = device->checks.records;
	while (record && !(record->have_run & tn_queue_bit(queue)))
		record = record->next;
	return record != NULL;
}

/* Work of these queues (bits) wrote the record: their first failure. */
static tn_status error_of(struct tn_device *device, uint64_t queues, struct tn_error_info *error)
{
	tn_status status = TN_OK;
	for (; queues && !status; queues &= queues - 1)
		status = tn_queue_error(device, device->pool->queues[__builtin_ctzll(queues)],
					error);
	return status;
}

/* In the queue of the latest check, which runs after those of other queues (checks.h). */
static tn_status read_record(struct tn_device *device, struct tn_check_record *record,
			     struct tn_error_info *error)
{
	const struct tn_checks *checks = &device->checks;
	int64_t cells[TN_CHECK_CELLS] = {0};
	struct tn_transfer_args args = {
		.call = {.struct_size = sizeof(args),
			 .stream = record->latest->handle,
			 .error = error},
		.buffer = record->block.buffer,
		.offset = record->block.offset,
		.size = sizeof(cells),
		.host = cells,
	};
	tn_error_reset(error);
	tn_status status =
		tn_turn_end(device, device->backend->device.download(tn_turn_begin(device), &args));
	if (status) {
		tn_check_record_doubt(device, record->latest);
		return tn_device_answer(device, status, error);
	}
	uint64_t writers = record->have_run;
	if (record->cleared_in)
		writers |= tn_queue_bit(record->cleared_in);
	record->have_run = 0;
	if (!cells[TN_CHECK_NUMBER]) {
		tn_check_record_trust(device, record->latest);
		return TN_OK;
	}
	/* The next check clears the record. */
	record->is_clear = 0;
	/* If work failed, perhaps it wrote what was read. */
	status = error_of(device, writers, error);
	if (status)
		return status;
	tn_check_record_trust(device, record->latest);
	if (cells[TN_CHECK_NUMBER] < 1 || cells[TN_CHECK_NUMBER] > (int64_t)checks->n)
		return tn_fail(error, TN_INTERNAL, "check",
			       "%s: the record of the checks has been overwritten", device->name);
	const struct tn_check *check = checks->all[cells[TN_CHECK_NUMBER] - 1];
	return tn_fail(error, TN_INVALID_ARGUMENT, check->operation,
		       "%s: %s %" PRId64 " is out of range: %s %" PRId64, device->name,
		       check->value, cells[TN_CHECK_VALUE], check->limit, cells[TN_CHECK_LIMIT]);
}

tn_status tn_check_record_fetch(struct tn_device *device, const struct tn_queue *queue,
				struct tn_error_info *error)
{
	tn_status status = TN_OK;
	for (struct tn_check_record *record = device->checks.records; record && !status;
	     record = record->next) {
		if (record->have_run & tn_queue_bit(queue) && record->is_clear)
			status = read_record(device, record, error);
	}
	return status;
}
