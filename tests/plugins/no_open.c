/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Two devices that every choice prefers.  The first cannot be opened; the second can if
 * TENON_TEST_SECOND is set, and its sync fails with the status in TENON_TEST_SYNC.
 */
#include <stdlib.h>
#include <tenon/backend.h>

static inline tn_status minimal_describe(void *instance, uint32_t index,
					 struct tn_device_description *out);
static tn_status device_count(void *instance, struct tn_device_count *out);
static tn_status describe(void *instance, uint32_t index, struct tn_device_description *out);
static tn_status open_device(void *instance, const struct tn_open_args *args, void **device);
static tn_status sync_device(void *device, const struct tn_sync_args *args);

#define MINIMAL_DEVICE_COUNT device_count
#define MINIMAL_DESCRIBE describe
#define MINIMAL_OPEN open_device
#define MINIMAL_SYNC sync_device
#include "minimal.h"

static tn_status device_count(void *instance, struct tn_device_count *out)
{
	struct tn_device_count count = {.struct_size = sizeof(count), .count = 2};
	(void)instance;
	tn_struct_answer(out, &count, sizeof(count));
	return TN_OK;
}

static tn_status describe(void *instance, uint32_t index, struct tn_device_description *out)
{
	if (index > 1)
		return TN_INVALID_ARGUMENT;
	tn_status status = minimal_describe(instance, 0, out);
	out->kind = TN_DEVICE_DISCRETE_GPU;
	return status;
}

static const char *parameter(void *instance, const char *name, const char *help)
{
	const struct tn_host *host = ((struct minimal *)instance)->host;
	return host->parameter(host->context, name, help);
}

static tn_status fail(const struct tn_call *call, tn_status status, const char *text)
{
	if (call->error) {
		call->error->status = status;
		strcpy(call->error->operation, "add");
		strcpy(call->error->text, text);
	}
	return status;
}

static tn_status open_device(void *instance, const struct tn_open_args *args, void **device)
{
	const char *second =
		parameter(instance, "TENON_TEST_SECOND", "set: the second device can be opened");
	if (args->index == 0 || !second)
		return fail(&args->call, TN_NO_DRIVER, "the driver is asleep");
	*device = instance;
	return TN_OK;
}

static tn_status sync_device(void *device, const struct tn_sync_args *args)
{
	const char *status = parameter(device, "TENON_TEST_SYNC", "the status of a sync");
	return status ? fail(&args->call, (tn_status)strtol(status, NULL, 10), "late news") : TN_OK;
}

#define UUID                                                                                       \
	0x68, 0x9c, 0x3a, 0x2a, 0x1b, 0xc9, 0x4d, 0x74, 0xaf, 0x58, 0x1d, 0x27, 0x06, 0x58, 0x76,  \
		0x5a
TN_BACKEND_PLUGIN(UUID, "no_open", "1.0", "Apache-2.0", minimal_create, minimal_destroy,
		  minimal_query);
