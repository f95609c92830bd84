/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 */
#include "status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "stream.h"

tn_status cuda_fail(struct tn_error_info *error, tn_status status, const char *operation,
		    const char *format, ...)
{
	struct tn_error_info own = {.status = status};
	va_list list;
	if (!error)
		return status;
	va_start(list, format);
	vsnprintf(own.text, sizeof(own.text), format, list);
	va_end(list);
	snprintf(own.operation, sizeof(own.operation), "%s", operation);
	tn_struct_answer(error, &own, sizeof(own));
	return status;
}

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

/* The first loss is the one that later calls tell of. */
static void remember_loss(struct cuda_device *device, const struct tn_error_info *error)
{
	if (device->loss.status)
		return;
	device->loss = *error;
	cuda_log(device->host, TN_LOG_ERROR, "%s is lost: %s: %s", device->facts.name,
		 error->operation, error->text);
}

tn_status cuda_fail_code(struct cuda_device *device, struct tn_error_info *error, cudaError_t code,
			 const char *operation, const char *function)
{
	const struct cuda_runtime *rt = device->rt;
	struct tn_error_info own = {.status = cuda_status_of(code), .native_code = code};
	snprintf(own.operation, sizeof(own.operation), "%s", operation);
	snprintf(own.text, sizeof(own.text), "%s: %s (%s, %d)", function,
		 rt->cudaGetErrorString(code), rt->cudaGetErrorName(code), (int)code);
	if (own.status == TN_DEVICE_LOST)
		remember_loss(device, &own);
	else
		(void)rt->cudaGetLastError(); /* the runtime would say it again */
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
	tn_status status = tn_arguments_take(own, own_size, theirs);
	const struct tn_call *call = own;
	if (status)
		return cuda_fail(call->error, status, operation,
				 "the arguments have fields that this version does not know");
	if (call->flags & ~flags)
		return cuda_fail(call->error, TN_UNSUPPORTED, operation,
				 "flags 0x%x are not known here", call->flags & ~flags);
	if (device->loss.status)
		return fail_lost(device, call->error, operation);
	cudaError_t code = device->rt->cudaSetDevice(device->ordinal);
	if (code != cudaSuccess)
		return cuda_stream_fail(device, NULL, call->error, code, operation,
					"cudaSetDevice");
	return TN_OK;
}

tn_status cuda_workspace(const struct tn_call *call, const char *operation, uint64_t bytes,
			 int *goes_on)
{
	struct tn_workspace *workspace = call->workspace;
	int is_dry = (call->flags & TN_DRY_RUN) != 0;
	*goes_on = !is_dry;
	if (workspace && (is_dry || !bytes)) {
		workspace->minimum = workspace->preferred = bytes;
		return TN_OK;
	}
	if (!bytes || (workspace && workspace->size >= bytes))
		return TN_OK;
	*goes_on = 0;
	return cuda_fail(call->error, TN_UNSUPPORTED, operation,
			 "%llu bytes of workspace are needed, %llu were given",
			 (unsigned long long)bytes,
			 (unsigned long long)(workspace ? workspace->size : 0));
}

void *cuda_workspace_at(const struct tn_call *call)
{
	uint64_t address = call->workspace->buffer + call->workspace->offset;
	return (void *)(uintptr_t)address; /* NOLINT(performance-no-int-to-ptr) */
}
