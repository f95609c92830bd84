/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Memory pools: allocations are counted; nothing is cached, since memory costs nothing here.
 */
#include "cudart_pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sim_pool {
	struct sim_pool *next;
	int device, is_default;
	uint64_t threshold;               /* kept at a synchronisation */
	uint64_t used, used_high;         /* handed out */
	uint64_t reserved, reserved_high; /* as a pool that keeps all up to the threshold */
	int reuse[3];
	unsigned peers; /* bits of the devices that may access its allocations */
};

static struct sim_pool *pools;
static struct sim_pool *current[SIM_MAX_DEVICES];

static struct sim_pool *make(int device, int is_default)
{
	struct sim_pool *pool = calloc(1, sizeof(*pool));
	if (!pool)
		return NULL;
	*pool = (struct sim_pool){
		.next = pools, .device = device, .is_default = is_default, .reuse = {1, 1, 1}};
	pools = pool;
	return pool;
}

static struct sim_pool *find_default(int device)
{
	for (struct sim_pool *pool = pools; pool; pool = pool->next)
		if (pool->device == device && pool->is_default)
			return pool;
	return make(device, 1);
}

static struct sim_pool *find(cudaMemPool_t handle)
{
	for (struct sim_pool *pool = pools; pool; pool = pool->next)
		if (pool == (struct sim_pool *)handle)
			return pool;
	return NULL;
}

struct sim_pool *sim_pool_current(int device)
{
	return current[device] ? current[device] : find_default(device);
}

int sim_pool_device(const struct sim_pool *pool)
{
	return pool->device;
}

int sim_pool_reaches(const struct sim_pool *pool, int device)
{
	return pool->device == device || (pool->peers >> device & 1) != 0;
}

void sim_pool_count(struct sim_pool *pool, size_t more, size_t less)
{
	if (!pool)
		return;
	pool->used += more;
	pool->used -= less;
	if (pool->used > pool->used_high)
		pool->used_high = pool->used;
	if (pool->used > pool->reserved)
		pool->reserved = pool->used;
	else if (pool->reserved > pool->threshold)
		pool->reserved = pool->used > pool->threshold ? pool->used : pool->threshold;
	if (pool->reserved > pool->reserved_high)
		pool->reserved_high = pool->reserved;
}

static void drop(struct sim_pool *pool)
{
	struct sim_pool **at = &pools;
	while (*at != pool)
		at = &(*at)->next;
	*at = pool->next;
	for (int i = 0; i < SIM_MAX_DEVICES; i++)
		if (current[i] == pool)
			current[i] = NULL;
	free(pool);
}

void sim_pools_drop(int device)
{
	struct sim_pool *next = NULL;
	for (struct sim_pool *pool = pools; pool; pool = next) {
		next = pool->next;
		if (device < 0 || pool->device == device)
			drop(pool);
	}
}

size_t sim_pools_live(char *report, size_t size)
{
	size_t live = 0, length = 0;
	for (const struct sim_pool *pool = pools; pool; pool = pool->next) {
		if (pool->is_default)
			continue;
		live++;
		if (length < size)
			length += (size_t)snprintf(report + length, size - length,
						   "a pool of device %d\n", pool->device);
	}
	return live;
}

/* ---- Calls -----------------------------------------------------------------------------------*/

static cudaError_t answer(cudaMemPool_t *handle, int device, struct sim_pool *pool)
{
	if (device < 0 || device >= sim_device_count())
		return cudaErrorInvalidDevice;
	*handle = (cudaMemPool_t)pool;
	return pool ? cudaSuccess : cudaErrorMemoryAllocation;
}

static int is_device(int device)
{
	return device >= 0 && device < sim_device_count();
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *handle, int device)
{
	cudaError_t error = sim_enter("cudaDeviceGetDefaultMemPool");
	if (error)
		return error;
	return sim_leave(answer(handle, device, is_device(device) ? find_default(device) : NULL));
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *handle, int device)
{
	cudaError_t error = sim_enter("cudaDeviceGetMemPool");
	if (error)
		return error;
	return sim_leave(
		answer(handle, device, is_device(device) ? sim_pool_current(device) : NULL));
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t handle)
{
	cudaError_t error = sim_enter("cudaDeviceSetMemPool");
	if (error)
		return error;
	struct sim_pool *pool = find(handle);
	if (!is_device(device))
		return sim_leave(cudaErrorInvalidDevice);
	if (!pool || pool->device != device)
		return sim_leave(cudaErrorInvalidValue);
	current[device] = pool;
	return sim_leave(cudaSuccess);
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *handle, const struct cudaMemPoolProps *properties)
{
	cudaError_t error = sim_enter("cudaMemPoolCreate");
	if (error)
		return error;
	if (properties->allocType != cudaMemAllocationTypePinned ||
	    properties->location.type != cudaMemLocationTypeDevice)
		return sim_leave(cudaErrorInvalidValue);
	int device = properties->location.id;
	return sim_leave(answer(handle, device, is_device(device) ? make(device, 0) : NULL));
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t handle)
{
	cudaError_t error = sim_enter("cudaMemPoolDestroy");
	if (error)
		return error;
	struct sim_pool *pool = find(handle);
	if (!pool || pool->is_default)
		return sim_leave(cudaErrorInvalidValue);
	sim_run_device(pool->device);
	if (pool->used > 0)
		return sim_leave(sim_say(cudaErrorInvalidValue,
					 "cudaMemPoolDestroy: %llu bytes of the pool are in use",
					 (unsigned long long)pool->used));
	drop(pool);
	return sim_leave(cudaSuccess);
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t handle, size_t keep)
{
	cudaError_t error = sim_enter("cudaMemPoolTrimTo");
	if (error)
		return error;
	struct sim_pool *pool = find(handle);
	if (!pool)
		return sim_leave(cudaErrorInvalidValue);
	uint64_t least = pool->used > keep ? pool->used : keep;
	if (pool->reserved > least)
		pool->reserved = least;
	return sim_leave(cudaSuccess);
}

/* ---- Peers -----------------------------------------------------------------------------------*/

static int is_access(enum cudaMemAccessFlags flags)
{
	return flags == cudaMemAccessFlagsProtNone || flags == cudaMemAccessFlagsProtRead ||
	       flags == cudaMemAccessFlagsProtReadWrite;
}

/* Its own device keeps its access. */
static cudaError_t check_access(const struct sim_pool *pool, const struct cudaMemAccessDesc *access)
{
	int device = access->location.id;
	if (access->location.type != cudaMemLocationTypeDevice || !is_access(access->flags))
		return cudaErrorInvalidValue;
	if (!is_device(device))
		return cudaErrorInvalidDevice;
	if (device == pool->device)
		return access->flags == cudaMemAccessFlagsProtReadWrite ? cudaSuccess
									: cudaErrorInvalidValue;
	return sim_settings.peer ? cudaSuccess : cudaErrorInvalidDevice;
}

static cudaError_t set_access(struct sim_pool *pool, const struct cudaMemAccessDesc *access,
			      size_t n)
{
	if (!pool || !access || !n)
		return cudaErrorInvalidValue;
	for (size_t i = 0; i < n; i++) {
		cudaError_t error = check_access(pool, &access[i]);
		if (error)
			return error;
	}
	for (size_t i = 0; i < n; i++) {
		unsigned bit = 1u << access[i].location.id;
		if (access[i].flags == cudaMemAccessFlagsProtNone)
			pool->peers &= ~bit;
		else
			pool->peers |= bit;
	}
	return cudaSuccess;
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t handle, const struct cudaMemAccessDesc *access,
				 size_t n)
{
	cudaError_t error = sim_enter("cudaMemPoolSetAccess");
	return error ? error : sim_leave(set_access(find(handle), access, n));
}

static cudaError_t get_access(enum cudaMemAccessFlags *flags, const struct sim_pool *pool,
			      const struct cudaMemLocation *location)
{
	if (!flags || !pool || !location || location->type != cudaMemLocationTypeDevice ||
	    !is_device(location->id))
		return cudaErrorInvalidValue;
	*flags = location->id == pool->device || pool->peers >> location->id & 1
			 ? cudaMemAccessFlagsProtReadWrite
			 : cudaMemAccessFlagsProtNone;
	return cudaSuccess;
}

cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t handle,
				 struct cudaMemLocation *location)
{
	cudaError_t error = sim_enter("cudaMemPoolGetAccess");
	return error ? error : sim_leave(get_access(flags, find(handle), location));
}

/* The number of an attribute: its location and width. */
static void *attribute_of(struct sim_pool *pool, enum cudaMemPoolAttr attribute, size_t *size)
{
	*size = sizeof(uint64_t);
	switch (attribute) {
	case cudaMemPoolReuseFollowEventDependencies:
	case cudaMemPoolReuseAllowOpportunistic:
	case cudaMemPoolReuseAllowInternalDependencies:
		*size = sizeof(int);
		return &pool->reuse[attribute - cudaMemPoolReuseFollowEventDependencies];
	case cudaMemPoolAttrReleaseThreshold:
		return &pool->threshold;
	case cudaMemPoolAttrReservedMemCurrent:
		return &pool->reserved;
	case cudaMemPoolAttrReservedMemHigh:
		return &pool->reserved_high;
	case cudaMemPoolAttrUsedMemCurrent:
		return &pool->used;
	case cudaMemPoolAttrUsedMemHigh:
		return &pool->used_high;
	default:
		return NULL;
	}
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle, enum cudaMemPoolAttr attribute,
				    void *value)
{
	cudaError_t error = sim_enter("cudaMemPoolGetAttribute");
	if (error)
		return error;
	size_t size = 0;
	struct sim_pool *pool = find(handle);
	const void *from = pool ? attribute_of(pool, attribute, &size) : NULL;
	if (!from)
		return sim_leave(cudaErrorInvalidValue);
	memcpy(value, from, size);
	return sim_leave(cudaSuccess);
}

static cudaError_t set_attribute(struct sim_pool *pool, enum cudaMemPoolAttr attribute,
				 const void *value)
{
	size_t size = 0;
	void *to = pool ? attribute_of(pool, attribute, &size) : NULL;
	if (!to || attribute == cudaMemPoolAttrReservedMemCurrent ||
	    attribute == cudaMemPoolAttrUsedMemCurrent)
		return cudaErrorInvalidValue;
	if (attribute == cudaMemPoolAttrReservedMemHigh)
		pool->reserved_high = pool->reserved;
	else if (attribute == cudaMemPoolAttrUsedMemHigh)
		pool->used_high = pool->used;
	else
		memcpy(to, value, size);
	return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle, enum cudaMemPoolAttr attribute,
				    void *value)
{
	cudaError_t error = sim_enter("cudaMemPoolSetAttribute");
	return error ? error : sim_leave(set_attribute(find(handle), attribute, value));
}

cudaError_t cudaMallocFromPoolAsync(void **address, size_t size, cudaMemPool_t handle,
				    cudaStream_t stream)
{
	cudaError_t error = sim_enter("cudaMallocFromPoolAsync");
	if (error)
		return error;
	struct sim_pool *pool = find(handle);
	if (!pool)
		return sim_leave(cudaErrorInvalidValue);
	return sim_leave(sim_pool_allocate(address, size, pool, stream));
}
