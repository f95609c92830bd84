/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * See checks.h.
 */
#include "device/checks.h"

#include "device/check_record.h"
#include "device/open.h"
#include "device/point.h"
#include "device/pool.h"
#include "device/pool_parts.h"

/* Later checks in any stream find it clear. */
static tn_status clear_record(struct tn_device *device, struct tn_check_record *record,
			      struct tn_error_info *error)
{
	tn_status status = tn_check_record_clear(device, record, error);
	if (!status)
		tn_device_align(device);
	return status;
}

tn_status tn_check_begin(struct tn_device *device, const struct tn_check *check,
			 struct tn_check_record **record, int64_t *number,
			 struct tn_error_info *error)
{
	struct tn_checks *checks = &device->checks;
	struct tn_check_record *own = &checks->record;
	tn_status status = tn_device_ready(device, error);
	if (!status && !own->block.size)
		status = tn_block_take_apart(device, TN_CHECK_CELLS * sizeof(int64_t), &own->block,
					     error);
	/* A record made during a capture is cleared before the first replay. */
	if (!status && !own->is_clear && !device->store)
		status = clear_record(device, own, error);
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
	*record = own;
	*number = (int64_t)i + 1;
	return TN_OK;
}

void tn_check_end(struct tn_device *device, struct tn_check_record *record)
{
	if (device->store)
		device->store->checks = record;
	else
		record->have_run |= tn_queue_bit(device->queue);
}

tn_status tn_checks_replay(struct tn_device *device, struct tn_check_record *record,
			   struct tn_error_info *error)
{
	tn_status status = record->is_clear ? TN_OK : clear_record(device, record, error);
	if (!status)
		record->have_run |= tn_queue_bit(device->queue);
	return status;
}

void tn_checks_release(struct tn_device *device)
{
	struct tn_check_record *record = &device->checks.record;
	if (record->block.size)
		tn_block_give(device, &record->block);
	record->block.size = 0;
}
