/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reserves, numbers and reads the records in which device work notes the first index or label out
 * of range, and turns what was noted into an error.
 */
#include "device/checks.h"

#include "base/memory.h"
#include "device/check_record.h"
#include "device/open.h"
#include "device/pool.h"
#include "device/pool_parts.h"

/* The record of the current queue or of the captured work, perhaps not clear. */
static tn_status take_record(struct tn_device *device, struct tn_check_record **result,
			     struct tn_error_info *error)
{
	const void *owner = device->store ? (const void *)device->store : device->queue;
	struct tn_check_record *unused = NULL;
	for (struct tn_check_record *record = device->checks.records; record;
	     record = record->next) {
		if (record->owner == owner) {
			*result = record;
			return TN_OK;
		}
		if (!record->owner && !record->have_run)
			unused = record;
	}
	if (!unused) {
		unused = tn_mem_zeroed(1, sizeof(*unused));
		if (!unused)
			return tn_no_memory(error, "check", NULL, "the record of checks");
		tn_status status = tn_block_take_apart(device, TN_CHECK_CELLS * sizeof(int64_t),
						       &unused->block, error);
		if (status) {
			tn_mem_free(unused);
			return status;
		}
		unused->next = device->checks.records;
		device->checks.records = unused;
	}
	unused->owner = owner;
	*result = unused;
	return TN_OK;
}

tn_status tn_check_begin(struct tn_device *device, const struct tn_check *check,
			 struct tn_check_record **record, int64_t *number,
			 struct tn_error_info *error)
{
	struct tn_checks *checks = &device->checks;
	tn_status status = tn_device_ready(device, error);
	if (!status)
		status = take_record(device, record, error);
	/* That of captured work is cleared before a replay. */
	if (!status && !(*record)->is_clear && !device->store)
		status = tn_check_record_clear(device, *record, error);
	if (status)
		return status;
	uint32_t i = 0;
	while (i < checks->n && checks->all[i] != check)
		i++;
	if (i == TN_MOST_CHECKS)
		return tn_fail(error, TN_INTERNAL, check->operation,
			       "%s: more than %d kinds of checks", device->name, TN_MOST_CHECKS);
	if (i == checks->n)
		checks->all[checks->n++] = check;
	*number = (int64_t)i + 1;
	return TN_OK;
}

static void note_run(const struct tn_device *device, struct tn_check_record *record)
{
	record->have_run |= tn_queue_bit(device->queue);
	record->latest = device->queue;
}

void tn_check_end(struct tn_device *device, struct tn_check_record *record)
{
	if (device->store)
		device->store->checks = record;
	else
		note_run(device, record);
}

tn_status tn_checks_replay(struct tn_device *device, struct tn_check_record *record,
			   struct tn_error_info *error)
{
	tn_status status = record->is_clear ? TN_OK : tn_check_record_clear(device, record, error);
	if (!status)
		note_run(device, record);
	return status;
}

void tn_checks_disown(struct tn_device *device, const void *owner)
{
	for (struct tn_check_record *record = device->checks.records; record;
	     record = record->next) {
		if (record->owner == owner)
			record->owner = NULL;
	}
}

void tn_checks_leave(struct tn_device *device, const struct tn_queue *queue)
{
	tn_checks_disown(device, queue);
	for (struct tn_check_record *record = device->checks.records; record;
	     record = record->next) {
		if (record->have_run & tn_queue_bit(queue))
			record->have_run |= tn_queue_bit(&device->pool->ordinary);
		record->have_run &= ~tn_queue_bit(queue);
		if (record->latest == queue)
			record->latest = &device->pool->ordinary;
		if (record->cleared_in == queue)
			record->cleared_in = NULL;
	}
}

void tn_checks_release(struct tn_device *device)
{
	while (device->checks.records) {
		struct tn_check_record *record = device->checks.records;
		device->checks.records = record->next;
		tn_block_give(device, &record->block);
		tn_mem_free(record);
	}
}
