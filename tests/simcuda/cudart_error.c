/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Names and texts of the errors: those of the real library for the codes used here, which a test
 * compares.
 */
#include <cuda_runtime_api.h>

struct error {
	cudaError_t code;
	const char *name, *text;
};

#define ERROR(code, text)                                                                          \
	{                                                                                          \
		code, #code, text                                                                  \
	}

static const struct error errors[] = {
	ERROR(cudaSuccess, "no error"),
	ERROR(cudaErrorInvalidValue, "invalid argument"),
	ERROR(cudaErrorMemoryAllocation, "out of memory"),
	ERROR(cudaErrorInitializationError, "initialization error"),
	ERROR(cudaErrorCudartUnloading, "driver shutting down"),
	ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
	ERROR(cudaErrorInvalidPitchValue, "invalid pitch argument"),
	ERROR(cudaErrorInvalidSymbol, "invalid device symbol"),
	ERROR(cudaErrorInvalidHostPointer, "invalid host pointer"),
	ERROR(cudaErrorInvalidDevicePointer, "invalid device pointer"),
	ERROR(cudaErrorInvalidChannelDescriptor, "invalid channel descriptor"),
	ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
	ERROR(cudaErrorStubLibrary, "CUDA driver is a stub library"),
	ERROR(cudaErrorInsufficientDriver,
	      "CUDA driver version is insufficient for CUDA runtime version"),
	ERROR(cudaErrorCallRequiresNewerDriver,
	      "API call is not supported in the installed CUDA driver"),
	ERROR(cudaErrorDevicesUnavailable, "CUDA-capable device(s) is/are busy or unavailable"),
	ERROR(cudaErrorMissingConfiguration, "__global__ function call is not configured"),
	ERROR(cudaErrorPriorLaunchFailure, "unspecified launch failure in prior launch"),
	ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
	ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
	ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
	ERROR(cudaErrorStartupFailure, "startup failure in cuda runtime"),
	ERROR(cudaErrorInvalidKernelImage, "device kernel image is invalid"),
	ERROR(cudaErrorDeviceUninitialized, "invalid device context"),
	ERROR(cudaErrorNoKernelImageForDevice,
	      "no kernel image is available for execution on the device"),
	ERROR(cudaErrorECCUncorrectable, "uncorrectable ECC error encountered"),
	ERROR(cudaErrorUnsupportedLimit, "limit is not supported on this architecture"),
	ERROR(cudaErrorDeviceAlreadyInUse,
	      "exclusive-thread device already in use by a different thread"),
	ERROR(cudaErrorPeerAccessUnsupported,
	      "peer access is not supported between these two devices"),
	ERROR(cudaErrorInvalidPtx, "a PTX JIT compilation failed"),
	ERROR(cudaErrorNvlinkUncorrectable,
	      "uncorrectable NVLink error detected during the execution"),
	ERROR(cudaErrorJitCompilerNotFound, "PTX JIT compiler library not found"),
	ERROR(cudaErrorUnsupportedPtxVersion,
	      "the provided PTX was compiled with an unsupported toolchain."),
	ERROR(cudaErrorContained,
	      "Invalid access of peer GPU memory over nvlink or a hardware error"),
	ERROR(cudaErrorInvalidSource, "device kernel image is invalid"),
	ERROR(cudaErrorFileNotFound, "file not found"),
	ERROR(cudaErrorSharedObjectSymbolNotFound, "shared object symbol not found"),
	ERROR(cudaErrorSharedObjectInitFailed, "shared object initialization failed"),
	ERROR(cudaErrorOperatingSystem, "OS call failed or operation not supported on this OS"),
	ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
	ERROR(cudaErrorIllegalState, "the operation cannot be performed in the present state"),
	ERROR(cudaErrorSymbolNotFound, "named symbol not found"),
	ERROR(cudaErrorNotReady, "device not ready"),
	ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
	ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
	ERROR(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
	ERROR(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
	ERROR(cudaErrorPeerAccessNotEnabled, "peer access has not been enabled"),
	ERROR(cudaErrorSetOnActiveProcess, "cannot set while device is active in this process"),
	ERROR(cudaErrorContextIsDestroyed, "context is destroyed"),
	ERROR(cudaErrorAssert, "device-side assert triggered"),
	ERROR(cudaErrorTooManyPeers, "peer mapping resources exhausted"),
	ERROR(cudaErrorHostMemoryAlreadyRegistered,
	      "part or all of the requested memory range is already mapped"),
	ERROR(cudaErrorHostMemoryNotRegistered,
	      "pointer does not correspond to a registered memory region"),
	ERROR(cudaErrorHardwareStackError, "hardware stack error"),
	ERROR(cudaErrorIllegalInstruction, "an illegal instruction was encountered"),
	ERROR(cudaErrorMisalignedAddress, "misaligned address"),
	ERROR(cudaErrorInvalidAddressSpace,
	      "operation not supported on global/shared address space"),
	ERROR(cudaErrorInvalidPc, "invalid program counter"),
	ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
	ERROR(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
	ERROR(cudaErrorNotPermitted, "operation not permitted"),
	ERROR(cudaErrorNotSupported, "operation not supported"),
	ERROR(cudaErrorSystemNotReady, "system not yet initialized"),
	ERROR(cudaErrorSystemDriverMismatch,
	      "system has unsupported display driver / cuda driver combination"),
	ERROR(cudaErrorCompatNotSupportedOnDevice,
	      "forward compatibility was attempted on non supported HW"),
	ERROR(cudaErrorStreamCaptureUnsupported,
	      "operation not permitted when stream is capturing"),
	ERROR(cudaErrorStreamCaptureInvalidated,
	      "operation failed due to a previous error during capture"),
	ERROR(cudaErrorStreamCaptureMerge,
	      "operation would result in a merge of separate capture sequences"),
	ERROR(cudaErrorStreamCaptureUnmatched,
	      "capture was not ended in the same stream as it began"),
	ERROR(cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work"),
	ERROR(cudaErrorStreamCaptureIsolation,
	      "dependency created on uncaptured work in another stream"),
	ERROR(cudaErrorStreamCaptureImplicit,
	      "operation would make the legacy stream depend on a capturing blocking stream"),
	ERROR(cudaErrorCapturedEvent,
	      "operation not permitted on an event last recorded in a capturing stream"),
	ERROR(cudaErrorStreamCaptureWrongThread,
	      "attempt to terminate a thread-local capture sequence from another thread"),
	ERROR(cudaErrorGraphExecUpdateFailure,
	      "the graph update was not performed because it included changes which violated "
	      "constraints specific to instantiated graph update"),
	ERROR(cudaErrorUnknown, "unknown error"),
};

static const struct error *find(cudaError_t code)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].code == code)
			return &errors[i];
	return NULL;
}

const char *cudaGetErrorName(cudaError_t code)
{
	const struct error *error = find(code);
	return error ? error->name : "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t code)
{
	const struct error *error = find(code);
	return error ? error->text : "unrecognized error code";
}
