/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The records in a device's memory that checks write (checks.h): clearing and reading them.
 */
#ifndef TN_DEVICE_CHECK_RECORD_H
#define TN_DEVICE_CHECK_RECORD_H

#include "device/device.h"

/* The cells of a record, i64: the number of the check that failed (0: none), the value that it
 * found, and the limit. */
enum { TN_CHECK_NUMBER, TN_CHECK_VALUE, TN_CHECK_LIMIT, TN_CHECK_CELLS };

/* Writes zeros in the current stream, without waiting. */
tn_status tn_check_record_clear(struct tn_device *device, struct tn_check_record *record,
				struct tn_error_info *error);
/* The queue's work so far is done (trust), or some of it failed, perhaps the clearing (doubt): then
 * the next check clears its record, and what it holds is not reported. */
void tn_check_record_trust(struct tn_device *device, const struct tn_queue *queue);
void tn_check_record_doubt(struct tn_device *device, const struct tn_queue *queue);
/* The first error of the queue's work that is done. */
tn_status tn_queue_error(struct tn_device *device, const struct tn_queue *queue,
			 struct tn_error_info *error);
int tn_checks_have_run(const struct tn_device *device, const struct tn_queue *queue);
/* Waits for the checks that have run in the queue and were not read, if any.
 * TN_INVALID_ARGUMENT: a value was out of range; it is reported once.  Also the errors of a
 * download.  Not during a capture. */
tn_status tn_check_record_fetch(struct tn_device *device, const struct tn_queue *queue,
				struct tn_error_info *error);

#endif
