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

/* Like the real one: numbers in a list, which ends at an invalid entry or device. */
static int apply_visible(const char *list, int *physical)
{
	int n = 0;
	while (isdigit((unsigned char)*list)) {
		char *end = NULL;
		long index = strtol(list, &end, 10);
		if (index >= sim_settings.devices || n == SIM_MAX_DEVICES)
			break;
		physical[n++] = (int)index;
		if (*end != ',')
			break;
		list = end + 1;
	}
	return n;
}

void sim_devices_restart(void)
{
	int physical[SIM_MAX_DEVICES];
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	for (int i = 0; i < SIM_MAX_DEVICES; i++)
		physical[i] = i;
	n_devices = visible ? apply_visible(visible, physical) : sim_settings.devices;
	memset(devices, 0, sizeof(devices));
	for (int i = 0; i < n_devices; i++)
		devices[i].physical = physical[i];
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
