/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Uploads that read their source too late, and memory that is not freed.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "faulty.h"

/* ---- Late uploads ----------------------------------------------------------------------------*/

static uint64_t least; /* bytes of a late upload */
static struct tn_transfer_args late;
static void *late_device; /* NULL: none is waiting */

static void do_late(void)
{
	if (late_device)
		(void)right.device.upload(late_device, &late);
	late_device = NULL;
}

static tn_status upload(void *device, const struct tn_transfer_args *args)
{
	do_late();
	if (args->size < least || args->call.flags)
		return right.device.upload(device, args);
	late = *args;
	late.call.error = NULL;
	late_device = device;
	return TN_OK;
}

static tn_status download(void *device, const struct tn_transfer_args *args)
{
	do_late();
	return right.device.download(device, args);
}

static tn_status sync(void *device, const struct tn_sync_args *args)
{
	do_late();
	return right.device.sync(device, args);
}

static tn_status free_after_uploads(void *device, const struct tn_free_args *args)
{
	do_late();
	return right.device.free(device, args);
}

static tn_status map_after_uploads(void *device, const struct tn_map_args *args)
{
	do_late();
	return right.compute.map(device, args);
}

static void plant_late_upload(uint64_t size)
{
	least = size;
	faulty.device.upload = upload;
	faulty.device.download = download;
	faulty.device.sync = sync;
	faulty.device.free = free_after_uploads;
	faulty.compute.map = map_after_uploads;
}

static void plant_late_1(void)
{
	plant_late_upload(UINT64_C(1) << 20);
}

static void plant_late_16(void)
{
	plant_late_upload(UINT64_C(16) << 20);
}

static void plant_late_64(void)
{
	plant_late_upload(UINT64_C(64) << 20);
}

/* ---- Leaks -----------------------------------------------------------------------------------*/

static tn_status keep(void *device, const struct tn_free_args *args)
{
	(void)device;
	(void)args;
	return TN_OK;
}

static void plant_never_freed(void)
{
	faulty.device.free = keep;
}

static void *lost; /* prevents the compiler from removing the allocations */

static tn_status map_that_leaks(void *device, const struct tn_map_args *args)
{
	void **memory = malloc(48);
	if (memory)
		*memory = lost;
	lost = memory;
	return right.compute.map(device, args);
}

static void plant_map_leak(void)
{
	faulty.compute.map = map_that_leaks;
}

enum { LEAK = 100000 };

static tn_status open_with_malloc(void *instance, const struct tn_open_args *args, void **device)
{
	void **memory = malloc(LEAK);
	if (memory)
		*memory = lost;
	lost = memory;
	return right.device.open(instance, args, device);
}

static void plant_open_malloc(void)
{
	faulty.device.open = open_with_malloc;
}

/* Adjacent mappings with equal rights are one line of /proc/self/maps. */
static tn_status open_with_mmap(void *instance, const struct tn_open_args *args, void **device)
{
	lost = mmap(NULL, LEAK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return right.device.open(instance, args, device);
}

static void plant_open_mmap(void)
{
	faulty.device.open = open_with_mmap;
}

const struct fault memory_faults[] = {
	{"upload_late_1_mib", plant_late_1},   {"upload_late_16_mib", plant_late_16},
	{"upload_late_64_mib", plant_late_64}, {"never_freed", plant_never_freed},
	{"map_leaks", plant_map_leak},         {"open_leaks_malloc", plant_open_malloc},
	{"open_leaks_mmap", plant_open_mmap},  {NULL, NULL},
};
