/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Opening a device, and checking the answers of its backend.
 */
#include "device/open.h"

#include "device/device.h"

#include <stdio.h>
#include <string.h>

#include "base/fork.h"
#include "device/limit.h"
#include "device/opened.h"
#include "device/pool.h"

/* The backend now knows the whole description. */
static void complete(struct tn_device *device)
{
	const struct tn_device_description *description = &device->description;
	tn_log_format(device->logger, TN_LOG_INFO, "device", "%s: opened (%s)", device->name,
		      description->name);
	if (device->memory_percent && !tn_device_limit_by_percent(device, device->memory_percent))
		tn_log_format(device->logger, TN_LOG_WARNING, "device",
			      "no memory limit for %s, whose backend does not tell how much memory "
			      "it has",
			      device->name);
}

tn_status tn_device_open(struct tn_device *device, struct tn_error_info *error)
{
	tn_status status = tn_device_ready(device, error);
	if (status || device->handle)
		return status;
	struct tn_error_info own;
	if (!error)
		error = &own;
	tn_error_reset(error);
	status = tn_opened_take(device, error);
	if (!status)
		complete(device);
	/* A device lost during opening may be opened again: none of its resources were in use. */
	status = tn_device_answer(device, status, error);
	device->lost = TN_OK;
	return status;
}

tn_status tn_device_ready(const struct tn_device *device, struct tn_error_info *error)
{
	if (device->fork_generation != tn_fork_generation())
		return tn_fail(error, TN_FORKED, "device",
			       "%s was opened before this process was forked; open a context of "
			       "its own in the child",
			       device->name);
	if (device->lost)
		return tn_fail(error, TN_DEVICE_LOST, "device",
			       "%s was lost earlier, with all its arrays", device->name);
	return TN_OK;
}

/* Puts the device's name before the backend's text, or before the status text when the backend gave
 * none.  The backend's struct is not trusted to be terminated. */
tn_status tn_device_answer(struct tn_device *device, tn_status status, struct tn_error_info *error)
{
	if (!status)
		return TN_OK;
	if (status == TN_DEVICE_LOST) {
		device->lost = TN_DEVICE_LOST;
		tn_opened_lose(device);
	}
	if (!error)
		return status;
	char text[sizeof(error->text)];
	error->text[sizeof(error->text) - 1] = '\0';
	error->operation[sizeof(error->operation) - 1] = '\0';
	int silent = error->status != status || !error->text[0];
	snprintf(text, sizeof(text), "%s", silent ? tn_status_text(status) : error->text);
	if (!error->operation[0])
		snprintf(error->operation, sizeof(error->operation), "device");
	size_t length = strlen(device->name);
	if (strncmp(text, device->name, length) || text[length] != ':')
		snprintf(error->text, sizeof(error->text), "%s: %.*s", device->name,
			 (int)(sizeof(error->text) - sizeof(device->name) - 3), text);
	error->struct_size = sizeof(*error);
	error->status = status;
	return status;
}

tn_status tn_device_refuse_capture(const struct tn_device *device, const char *operation,
				   struct tn_error_info *error)
{
	if (!device->store)
		return TN_OK;
	return tn_fail(error, TN_NOT_CAPTURABLE, operation,
		       "%s: work is captured, all of it in one stream", device->name);
}
