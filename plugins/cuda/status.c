/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Translates codes of the CUDA runtime to statuses, records a lost device, and begins every entry.
 */
#include "status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "stream.h"

tn_status cuda_status_of(cudaError_t code)
{
	switch ((int)code) {
	case cudaSuccess:
		return TN_OK;
	case cudaErrorMemoryAllocation:
		return TN_OUT_OF_MEMORY;
	case cudaErrorDevicesUnavailable:
	case cudaErrorECCUncorrectable:
	case cudaErrorNvlinkUncorrectable:
	case cudaErrorContained:
	case cudaErrorIllegalAddress:
	case cudaErrorLaunchTimeout:
	case cudaErrorAssert:
	case cudaErrorHardwareStackError:
	case cudaErrorIllegalInstruction:
	case cudaErrorMisalignedAddress:
	case cudaErrorInvalidAddressSpace:
	case cudaErrorInvalidPc:
	case cudaErrorLaunchFailure:
	case cudaErrorTensorMemoryLeak:
	case cudaErrorExternalDevice:
	case cudaErrorMpsClientTerminated:
	case cudaErrorContextIsDestroyed:
	case cudaErrorCudartUnloading:
		return TN_DEVICE_LOST;
	default:
		return TN_BACKEND_FAILURE;
	}
}

tn_status cuda_absence_of(const struct cuda_runtime *rt, cudaError_t code)
{
	int driver = 0;
	switch ((int)code) {
	case cudaErrorInsufficientDriver:
		if (rt->cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0)
			return TN_NO_DRIVER;
		return TN_DRIVER_TOO_OLD;
	case cudaErrorStubLibrary:
		return TN_NO_DRIVER;
	case cudaErrorCompatNotSupportedOnDevice:
	case cudaErrorSystemDriverMismatch:
		return TN_DRIVER_TOO_OLD;
	case cudaErrorNoDevice:
	case cudaErrorInvalidDevice:
		return TN_NO_DEVICE;
	case cudaErrorMemoryAllocation:
		return TN_OUT_OF_MEMORY;
	default:
		return TN_PROBE_FAILED;
	}
}

/* Later calls report the first loss. */
tn_status cuda_fail_code(struct cuda_device *device, struct tn_error_info *error, cudaError_t code,
			 const char *operation, const char *function)
{
	const struct cuda_runtime *rt = device->rt;
	struct tn_error_info own = {.status = cuda_status_of(code), .native_code = code};
	snprintf(own.operation, sizeof(own.operation), "%s", operation);
	snprintf(own.text, sizeof(own.text), "%s: %s (%s, %d)", function,
		 rt->cudaGetErrorString(code), rt->cudaGetErrorName(code), (int)code);
	if (own.status != TN_DEVICE_LOST) {
		(void)rt->cudaGetLastError(); /* otherwise the runtime would return it again */
	} else if (!device->loss.status) {
		device->loss = own;
		tn_plugin_log(device->host, "cuda", TN_LOG_ERROR, "%s is lost: %s: %s",
			      device->facts.name, own.operation, own.text);
	}
	if (error)
		tn_struct_answer(error, &own, sizeof(own));
	return own.status;
}

static tn_status fail_lost(const struct cuda_device *device, struct tn_error_info *error,
			   const char *operation)
{
	struct tn_error_info own = device->loss;
	if (!error)
		return TN_DEVICE_LOST;
	snprintf(own.operation, sizeof(own.operation), "%s", operation);
	snprintf(own.text, sizeof(own.text), "the device was lost in %s: %.400s",
		 device->loss.operation, device->loss.text);
	tn_struct_answer(error, &own, sizeof(own));
	return TN_DEVICE_LOST;
}

tn_status cuda_take(struct cuda_device *device, void *own, size_t own_size, const void *theirs,
		    uint32_t flags, const char *operation)
{
	tn_status status = tn_plugin_take(own, own_size, theirs, flags, operation);
	const struct tn_call *call = own;
	if (status)
		return status;
	if (device->loss.status)
		return fail_lost(device, call->error, operation);
	cudaError_t code = device->rt->cudaSetDevice(device->ordinal);
	if (code != cudaSuccess)
		return cuda_stream_fail(device, NULL, call->error, code, operation,
					"cudaSetDevice");
	return TN_OK;
}

void *cuda_workspace_at(const struct tn_call *call)
{
	uint64_t address = call->workspace->buffer + call->workspace->offset;
	return (void *)(uintptr_t)address; /* NOLINT(performance-no-int-to-ptr) */
}
