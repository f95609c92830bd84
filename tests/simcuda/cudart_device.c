/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Devices: how many, which is current, versions, flags and limits, peers, and the end of one.
 */
#include "cudart.h"

#include <cuda_profiler_api.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"

static struct sim_device devices[SIM_MAX_DEVICES];
static int n_devices;
static _Thread_local int current;

/* The devices' places on the bus in CUDA's order: fastest first, unless the variable says
 * otherwise. */
static void order_devices(int *order)
{
	const char *asked = getenv("CUDA_DEVICE_ORDER");
	int is_by_bus = asked && strcmp(asked, "PCI_BUS_ID") == 0;
	const struct sim_model *models = sim_settings.models;
	for (int i = 0; i < sim_settings.devices; i++) {
		int at = i, speed = models[i].multiprocessors * models[i].clock;
		while (!is_by_bus && at > 0 &&
		       models[order[at - 1]].multiprocessors * models[order[at - 1]].clock <
			       speed) {
			order[at] = order[at - 1];
			at--;
		}
		order[at] = i;
	}
}

/* The device whose UUID, or whose slice's, begins so, if exactly one does; else -1. */
static int find_uuid(const char *word, size_t length, int is_slice)
{
	char uuid[64];
	int found = -1;
	for (int i = 0; i < sim_settings.devices; i++) {
		sim_device_uuid_text(i, is_slice, uuid);
		if (strncmp(uuid, word, length) != 0 ||
		    (is_slice && sim_settings.models[i].slice == 0))
			continue;
		if (found >= 0)
			return -1;
		found = i;
	}
	return found;
}

/* The device that an entry of the list names; -1: none.  "MIG-GPU-.../1/0" is an older name of a
 * slice. */
static int find_entry(const char *word, size_t length, const int *order)
{
	if (isdigit((unsigned char)*word)) {
		long index = strtol(word, NULL, 10);
		return index < sim_settings.devices ? order[index] : -1;
	}
	if (strncmp(word, "MIG-GPU-", 8) == 0) {
		int found = find_uuid(word + 4, strcspn(word + 4, "/,"), 0);
		return found >= 0 && sim_settings.models[found].slice ? found : -1;
	}
	if (strncmp(word, "MIG-", 4) == 0)
		return find_uuid(word, length, 1);
	return strncmp(word, "GPU-", 4) == 0 ? find_uuid(word, length, 0) : -1;
}

/* Like the real one: the list ends at an invalid entry, and is empty if one is named twice. */
static int apply_visible(const char *list, const int *order, int *physical)
{
	int n = 0;
	for (;;) {
		list += strspn(list, " \t");
		size_t length = strcspn(list, ", \t");
		int found = length > 0 ? find_entry(list, length, order) : -1;
		if (found < 0)
			return n;
		for (int i = 0; i < n; i++)
			if (physical[i] == found)
				return 0;
		physical[n++] = found;
		list += strcspn(list, ",");
		if (!*list)
			return n;
		list++;
	}
}

/* Like the real one: where one is in MIG mode, its slice is the only device. */
static void choose_slice(void)
{
	for (int i = 0; i < n_devices; i++) {
		if (devices[i].model.slice == 0)
			continue;
		devices[0].physical = devices[i].physical;
		devices[0].is_slice = 1;
		devices[0].model = sim_device_slice(&devices[i].model);
		n_devices = 1;
	}
}

void sim_devices_restart(void)
{
	int order[SIM_MAX_DEVICES] = {0}, visible[SIM_MAX_DEVICES];
	const char *list = getenv("CUDA_VISIBLE_DEVICES");
	order_devices(order);
	memcpy(visible, order, sizeof(visible));
	n_devices = list ? apply_visible(list, order, visible) : sim_settings.devices;
	memset(devices, 0, sizeof(devices));
	for (int i = 0; i < n_devices; i++) {
		devices[i].physical = visible[i];
		devices[i].model = sim_settings.models[visible[i]];
	}
	choose_slice();
	current = 0;
}

int sim_device_count(void)
{
	return n_devices;
}

int sim_device_current(void)
{
	return current < n_devices ? current : 0;
}

struct sim_device *sim_device(int index)
{
	return &devices[index];
}

const struct sim_model *sim_model_current(void)
{
	return &devices[sim_device_current()].model;
}

cudaError_t sim_driver_state(void)
{
	if (sim_settings.driver < sim_cuda_version / 1000 * 1000)
		return cudaErrorInsufficientDriver;
	return n_devices > 0 ? cudaSuccess : cudaErrorNoDevice;
}

static int is_device(int device)
{
	return device >= 0 && device < n_devices;
}

/* ---- Which -----------------------------------------------------------------------------------*/

/* Leaves *count unchanged on failure, like the real one. */
cudaError_t cudaGetDeviceCount(int *count)
{
	cudaError_t error = sim_enter_light("cudaGetDeviceCount");
	if (error)
		return error;
	*count = n_devices;
	return sim_leave(cudaSuccess);
}

cudaError_t cudaSetDevice(int device)
{
	cudaError_t error = sim_enter_light("cudaSetDevice");
	if (error)
		return error;
	if (!is_device(device))
		return sim_leave(cudaErrorInvalidDevice);
	current = device;
	return sim_leave(devices[device].sticky);
}

cudaError_t cudaGetDevice(int *device)
{
	cudaError_t error = sim_enter("cudaGetDevice");
	if (error)
		return error;
	*device = sim_device_current();
	return sim_leave(cudaSuccess);
}

cudaError_t cudaInitDevice(int device, unsigned flags, unsigned what)
{
	cudaError_t error = sim_enter("cudaInitDevice");
	if (error)
		return error;
	if (!is_device(device))
		return sim_leave(cudaErrorInvalidDevice);
	if (what & cudaInitDeviceFlagsAreValid)
		devices[device].flags = flags;
	return sim_leave(cudaSuccess);
}

cudaError_t cudaSetDeviceFlags(unsigned flags)
{
	cudaError_t error = sim_enter("cudaSetDeviceFlags");
	if (error)
		return error;
	if (flags & ~(unsigned)cudaDeviceMask)
		return sim_leave(cudaErrorInvalidValue);
	devices[sim_device_current()].flags = flags;
	return sim_leave(cudaSuccess);
}

cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
	cudaError_t error = sim_enter("cudaGetDeviceFlags");
	if (error)
		return error;
	*flags = devices[sim_device_current()].flags | cudaDeviceMapHost;
	return sim_leave(cudaSuccess);
}

/* ---- Versions --------------------------------------------------------------------------------*/

cudaError_t cudaRuntimeGetVersion(int *version)
{
	cudaError_t error = sim_enter_bare("cudaRuntimeGetVersion");
	if (error)
		return error;
	*version = sim_cuda_version;
	return sim_leave(cudaSuccess);
}

cudaError_t cudaDriverGetVersion(int *version)
{
	cudaError_t error = sim_enter_bare("cudaDriverGetVersion");
	if (error)
		return error;
	*version = sim_settings.driver;
	return sim_leave(cudaSuccess);
}

/* ---- Limits ----------------------------------------------------------------------------------*/

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
	cudaError_t error = sim_enter("cudaDeviceSetLimit");
	if (error)
		return error;
	if ((unsigned)limit >= sizeof(devices[0].limits) / sizeof(devices[0].limits[0]))
		return sim_leave(cudaErrorUnsupportedLimit);
	devices[sim_device_current()].limits[limit] = value;
	return sim_leave(cudaSuccess);
}

cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
	cudaError_t error = sim_enter("cudaDeviceGetLimit");
	if (error)
		return error;
	if ((unsigned)limit >= sizeof(devices[0].limits) / sizeof(devices[0].limits[0]))
		return sim_leave(cudaErrorUnsupportedLimit);
	*value = devices[sim_device_current()].limits[limit];
	if (*value == 0 && limit == cudaLimitStackSize)
		*value = 1024;
	return sim_leave(cudaSuccess);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	cudaError_t error = sim_enter("cudaDeviceGetStreamPriorityRange");
	if (error)
		return error;
	if (least)
		*least = 0;
	if (greatest)
		*greatest = -5;
	return sim_leave(cudaSuccess);
}

/* ---- Peers -----------------------------------------------------------------------------------*/

static int can_reach(int device, int peer)
{
	return sim_settings.peer && device != peer;
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
	cudaError_t error = sim_enter("cudaDeviceCanAccessPeer");
	if (error)
		return error;
	if (!is_device(device) || !is_device(peer))
		return sim_leave(cudaErrorInvalidDevice);
	*can = can_reach(device, peer);
	return sim_leave(cudaSuccess);
}

static cudaError_t change_peer(int peer, unsigned flags, int enable)
{
	struct sim_device *device = &devices[sim_device_current()];
	if (!is_device(peer))
		return cudaErrorInvalidDevice;
	if (flags)
		return cudaErrorInvalidValue;
	if (!can_reach(sim_device_current(), peer))
		return enable ? cudaErrorPeerAccessUnsupported : cudaErrorPeerAccessNotEnabled;
	int is_enabled = (device->peers >> peer & 1) != 0;
	if (enable && is_enabled)
		return cudaErrorPeerAccessAlreadyEnabled;
	if (!enable && !is_enabled)
		return cudaErrorPeerAccessNotEnabled;
	device->peers ^= 1u << peer;
	return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
	cudaError_t error = sim_enter("cudaDeviceEnablePeerAccess");
	return error ? error : sim_leave(change_peer(peer, flags, 1));
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
	cudaError_t error = sim_enter("cudaDeviceDisablePeerAccess");
	return error ? error : sim_leave(change_peer(peer, 0, 0));
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int device,
				      int peer)
{
	cudaError_t error = sim_enter("cudaDeviceGetP2PAttribute");
	if (error)
		return error;
	if (!is_device(device) || !is_device(peer) || device == peer)
		return sim_leave(cudaErrorInvalidDevice);
	switch (attribute) {
	case cudaDevP2PAttrAccessSupported:
	case cudaDevP2PAttrNativeAtomicSupported:
		*value = can_reach(device, peer);
		return sim_leave(cudaSuccess);
	case cudaDevP2PAttrPerformanceRank:
	case cudaDevP2PAttrCudaArrayAccessSupported:
		*value = 0;
		return sim_leave(cudaSuccess);
	default:
		return sim_leave(cudaErrorInvalidValue);
	}
}

/* ---- The end ---------------------------------------------------------------------------------*/

cudaError_t cudaDeviceSynchronize(void)
{
	cudaError_t error = sim_enter("cudaDeviceSynchronize");
	if (error)
		return error;
	error = sim_capture_unsafe();
	if (error)
		return sim_leave(error);
	sim_run_device(sim_device_current());
	return sim_leave(devices[sim_device_current()].sticky);
}

/* A lost device stays lost in this process. */
cudaError_t cudaDeviceReset(void)
{
	cudaError_t error = sim_enter("cudaDeviceReset");
	if (error)
		return error;
	int device = sim_device_current();
	error = sim_capture_unsafe();
	if (error)
		return sim_leave(error);
	sim_run_device(device);
	sim_streams_drop(device);
	sim_events_drop(device);
	sim_blocks_drop(device);
	sim_pools_drop(device);
	devices[device].peers = 0;
	return sim_leave(devices[device].sticky);
}

/* ---- Profilers, of which there is none -------------------------------------------------------*/

cudaError_t cudaProfilerStart(void)
{
	cudaError_t error = sim_enter("cudaProfilerStart");
	return error ? error : sim_leave(cudaSuccess);
}

cudaError_t cudaProfilerStop(void)
{
	cudaError_t error = sim_enter("cudaProfilerStop");
	return error ? error : sim_leave(cudaSuccess);
}
