/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Checks of values that the host cannot read at once: indices and labels on a device.  Work on the
 * device compares the values and notes the first one out of range in the device's record; the next
 * call that waits for the device (transfer.h) reads the record and reports the error.
 *
 *	record   three i64 in the device's memory (check_record.h): one for each queue with checks
 *	         and one for each captured work with checks, whose replays are ordered, so that no
 *	         two write it at a time.  Work writes it only while no check has failed since it
 *	         was cleared.
 *	marks    the host reads the record only when a check has run, since the last reading, in
 *	         the stream that it waits for; a captured check runs with each replay.
 */
#ifndef TN_DEVICE_CHECKS_H
#define TN_DEVICE_CHECKS_H

#include "device/device.h"

/* The words of an error "take: index 7 ...: the axis has length 5": operation, value and limit.
 * Compared by address. */
struct tn_check {
	const char *operation;
	const char *value;
	const char *limit;
};

/* The current queue's record, and the number that the check's work writes to it.  TN_OUT_OF_MEMORY,
 * or an error of the device. */
tn_status tn_check_begin(struct tn_device *device, const struct tn_check *check,
			 struct tn_check_record **record, int64_t *number,
			 struct tn_error_info *error);
/* The check's work has been queued, or captured. */
void tn_check_end(struct tn_device *device, struct tn_check_record *record);
/* Work with checks that write this record is about to be replayed. */
tn_status tn_checks_replay(struct tn_device *device, struct tn_check_record *record,
			   struct tn_error_info *error);

/* The owner of a record, captured work, is gone: its failed checks are still reported. */
void tn_checks_disown(struct tn_device *device, const void *owner);
/* The queue is destroyed, its work is done, and the ordinary one reports its failed checks. */
void tn_checks_leave(struct tn_device *device, const struct tn_queue *queue);
/* Gives the records back. */
void tn_checks_release(struct tn_device *device);

#endif
