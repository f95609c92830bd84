/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Counts its instances, its open devices and the threads that compute at once (counted.h).  It has
 * an option and reads a variable, TENON_TEST_SECOND: create fails where that is "fail".
 */
#include <sched.h>
#include <tenon/backend.h>

#include "counted.h"

static tn_status count_devices(void *instance, struct tn_device_count *out);
static tn_status open_device(void *instance, const struct tn_open_args *args, void **device);
static void close_device(void *device);
static tn_status fill(void *device, const struct tn_map_args *args);

#define MINIMAL_DEVICE_COUNT count_devices
#define MINIMAL_OPEN open_device
#define MINIMAL_CLOSE close_device
#define MINIMAL_MAP fill
#include "minimal.h"

static struct counted counted;

static tn_status create(const struct tn_host *host, struct tn_error_info *error, void **instance)
{
	const char *value = host->parameter(host->context, "TENON_TEST_SECOND", "what create does");
	if (value && !strcmp(value, "fail"))
		return TN_NO_DRIVER;
	tn_status status = minimal_create(host, error, instance);
	counted.created += !status;
	return status;
}

static void destroy(void *instance)
{
	counted.destroyed++;
	minimal_destroy(instance);
}

static tn_status count_devices(void *instance, struct tn_device_count *out)
{
	counted.asked++;
	return minimal_device_count(instance, out);
}

static tn_status open_device(void *instance, const struct tn_open_args *args, void **device)
{
	tn_status status = minimal_open(instance, args, device);
	counted.opened += !status;
	return status;
}

static void close_device(void *device)
{
	(void)device;
	counted.closed++;
}

static tn_status fill(void *device, const struct tn_map_args *args)
{
	(void)device;
	(void)args;
	int inside = ++counted.inside;
	if (inside > counted.most_inside)
		counted.most_inside = inside;
	sched_yield();
	counted.inside--;
	return TN_OK;
}

static const void *query(void *instance, const char *table)
{
	return strcmp(table, COUNTED_TABLE) ? minimal_query(instance, table) : &counted;
}

static const struct tn_option_row options[] = {
	{.name = "depth",
	 .type = TN_OPTION_INTEGER,
	 .standard = "3",
	 .least = 0,
	 .most = 9,
	 .help = "how deep"},
};

#define UUID                                                                                       \
	0xb1, 0x52, 0x0e, 0x9d, 0x6c, 0x3f, 0x4a, 0x77, 0x8e, 0x21, 0x94, 0xd0, 0x5b, 0xa8, 0x13,  \
		0xc6
TN_BACKEND_PLUGIN_OPTIONS(UUID, "counted", "1.0", "Apache-2.0", create, destroy, query, options);
