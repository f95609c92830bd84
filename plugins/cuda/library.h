/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * NVIDIA's libraries, opened at run time.  The fields have the names of the exported symbols, which
 * differ from some names in the headers: cublasSgemm of the header is cublasSgemm_v2 in the file,
 * which also exports another cublasSgemm.  A call reads as in any CUDA program:
 * rt->cudaMallocAsync(...).
 */
#ifndef CUDA_LIBRARY_H
#define CUDA_LIBRARY_H

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <nvrtc.h>

#include <tenon/plugin.h>

#include "nvml.h"
#include "place.h"

struct cuda_runtime {
	void *handle;
	__typeof__(&cudaGetErrorName) cudaGetErrorName;
	__typeof__(&cudaGetErrorString) cudaGetErrorString;
	__typeof__(&cudaGetLastError) cudaGetLastError;
	__typeof__(&cudaDriverGetVersion) cudaDriverGetVersion;
	__typeof__(&cudaRuntimeGetVersion) cudaRuntimeGetVersion;
	__typeof__(&cudaGetDeviceCount) cudaGetDeviceCount;
	__typeof__(&cudaDeviceGetByPCIBusId) cudaDeviceGetByPCIBusId;
	__typeof__(&cudaDeviceGetPCIBusId) cudaDeviceGetPCIBusId;
	__typeof__(&cudaDeviceGetAttribute) cudaDeviceGetAttribute;
	__typeof__(&cudaSetDevice) cudaSetDevice;
	__typeof__(&cudaMalloc) cudaMalloc;
	__typeof__(&cudaFree) cudaFree;
	__typeof__(&cudaMallocAsync) cudaMallocAsync;
	__typeof__(&cudaFreeAsync) cudaFreeAsync;
	__typeof__(&cudaHostAlloc) cudaHostAlloc;
	__typeof__(&cudaFreeHost) cudaFreeHost;
	__typeof__(&cudaMemGetInfo) cudaMemGetInfo;
	__typeof__(&cudaPointerGetAttributes) cudaPointerGetAttributes;
	__typeof__(&cudaMemcpyAsync) cudaMemcpyAsync;
	__typeof__(&cudaStreamCreateWithPriority) cudaStreamCreateWithPriority;
	__typeof__(&cudaStreamDestroy) cudaStreamDestroy;
	__typeof__(&cudaStreamSynchronize) cudaStreamSynchronize;
	__typeof__(&cudaStreamQuery) cudaStreamQuery;
	__typeof__(&cudaStreamWaitEvent) cudaStreamWaitEvent;
	__typeof__(&cudaEventCreateWithFlags) cudaEventCreateWithFlags;
	__typeof__(&cudaEventDestroy) cudaEventDestroy;
	__typeof__(&cudaEventRecord) cudaEventRecord;
	__typeof__(&cudaEventSynchronize) cudaEventSynchronize;
	__typeof__(&cudaEventQuery) cudaEventQuery;
	__typeof__(&cudaEventElapsedTime) cudaEventElapsedTime;
	__typeof__(&cudaLibraryLoadData) cudaLibraryLoadData;
	__typeof__(&cudaLibraryGetKernel) cudaLibraryGetKernel;
	__typeof__(&cudaLibraryUnload) cudaLibraryUnload;
	__typeof__(&cudaStreamBeginCapture) cudaStreamBeginCapture;
	__typeof__(&cudaStreamEndCapture) cudaStreamEndCapture;
	__typeof__(&cudaGraphDestroy) cudaGraphDestroy;
	__typeof__(&cudaGraphExecDestroy) cudaGraphExecDestroy;
	__typeof__(&cudaGraphInstantiate) cudaGraphInstantiate;
	__typeof__(&cudaGraphLaunch) cudaGraphLaunch;
	__typeof__(&cudaFuncGetAttributes) cudaFuncGetAttributes;
	__typeof__(&cudaLaunchKernel) cudaLaunchKernel;
	__typeof__(&cudaFuncGetParamInfo) cudaFuncGetParamInfo;
	__typeof__(&cudaFuncSetAttribute) cudaFuncSetAttribute;
	__typeof__(&cudaDeviceCanAccessPeer) cudaDeviceCanAccessPeer;
	__typeof__(&cudaDeviceEnablePeerAccess) cudaDeviceEnablePeerAccess;
	__typeof__(&cudaDeviceGetMemPool) cudaDeviceGetMemPool;
	__typeof__(&cudaMemPoolSetAccess) cudaMemPoolSetAccess;
	__typeof__(&cudaMemcpyPeerAsync) cudaMemcpyPeerAsync;
};

struct cuda_blas {
	void *handle;
	__typeof__(&cublasCreate_v2) cublasCreate_v2;
	__typeof__(&cublasDestroy_v2) cublasDestroy_v2;
	__typeof__(&cublasGetStatusString) cublasGetStatusString;
	__typeof__(&cublasGetProperty) cublasGetProperty;
	__typeof__(&cublasGemmEx) cublasGemmEx;
	__typeof__(&cublasGemmStridedBatchedEx) cublasGemmStridedBatchedEx;
	__typeof__(&cublasSetMathMode) cublasSetMathMode;
	__typeof__(&cublasSetStream_v2) cublasSetStream_v2;
	__typeof__(&cublasSetWorkspace_v2) cublasSetWorkspace_v2;
};

struct cuda_compiler {
	void *handle;
	__typeof__(&nvrtcGetErrorString) nvrtcGetErrorString;
	__typeof__(&nvrtcVersion) nvrtcVersion;
	__typeof__(&nvrtcGetNumSupportedArchs) nvrtcGetNumSupportedArchs;
	__typeof__(&nvrtcGetSupportedArchs) nvrtcGetSupportedArchs;
	__typeof__(&nvrtcCreateProgram) nvrtcCreateProgram;
	__typeof__(&nvrtcDestroyProgram) nvrtcDestroyProgram;
	__typeof__(&nvrtcCompileProgram) nvrtcCompileProgram;
	__typeof__(&nvrtcGetProgramLogSize) nvrtcGetProgramLogSize;
	__typeof__(&nvrtcGetProgramLog) nvrtcGetProgramLog;
	__typeof__(&nvrtcGetCUBINSize) nvrtcGetCUBINSize;
	__typeof__(&nvrtcGetCUBIN) nvrtcGetCUBIN;
	__typeof__(&nvrtcGetPTXSize) nvrtcGetPTXSize;
	__typeof__(&nvrtcGetPTX) nvrtcGetPTX;
};

/* The management library comes with the driver, not with the toolkit: nvml.h has its types. */
struct cuda_management {
	void *handle;
	nvmlReturn_t (*nvmlInit_v2)(void);
	nvmlReturn_t (*nvmlShutdown)(void);
	const char *(*nvmlErrorString)(nvmlReturn_t result);
	nvmlReturn_t (*nvmlDeviceGetCount_v2)(unsigned int *count);
	nvmlReturn_t (*nvmlDeviceGetHandleByIndex_v2)(unsigned int index, nvmlDevice_t *device);
	/* NULL: it has none. */
	nvmlReturn_t (*nvmlSystemGetDriverVersion)(char *version, unsigned int length);
	nvmlReturn_t (*nvmlSystemGetCudaDriverVersion_v2)(int *version);
	nvmlReturn_t (*nvmlDeviceGetName)(nvmlDevice_t device, char *name, unsigned int length);
	nvmlReturn_t (*nvmlDeviceGetUUID)(nvmlDevice_t device, char *uuid, unsigned int length);
	nvmlReturn_t (*nvmlDeviceGetMemoryInfo)(nvmlDevice_t device, nvmlMemory_t *memory);
	nvmlReturn_t (*nvmlDeviceGetPciInfo_v3)(nvmlDevice_t device, nvmlPciInfo_t *pci);
	nvmlReturn_t (*nvmlDeviceGetCudaComputeCapability)(nvmlDevice_t device, int *major,
							   int *minor);
	nvmlReturn_t (*nvmlDeviceGetHandleByPciBusId_v2)(const char *bus, nvmlDevice_t *device);
	nvmlReturn_t (*nvmlDeviceGetMigMode)(nvmlDevice_t device, unsigned int *now,
					     unsigned int *pending);
	nvmlReturn_t (*nvmlDeviceGetClockInfo)(nvmlDevice_t device, unsigned int type,
					       unsigned int *megahertz);
	nvmlReturn_t (*nvmlDeviceGetTemperature)(nvmlDevice_t device, unsigned int sensor,
						 unsigned int *degrees);
	nvmlReturn_t (*nvmlDeviceGetPowerUsage)(nvmlDevice_t device, unsigned int *milliwatts);
	nvmlReturn_t (*nvmlDeviceGetNumGpuCores)(nvmlDevice_t device, unsigned int *cores);
	nvmlReturn_t (*nvmlDeviceGetMaxClockInfo)(nvmlDevice_t device, unsigned int type,
						  unsigned int *megahertz);
};

/* The libraries of one major version of CUDA, besides the runtime. */
struct cuda_places {
	int major; /* 13 or 12; 0: none was chosen */
	struct cuda_place blas, blas_part, compiler;
};

/* Chooses the newest major version of CUDA that the driver runs (13000: CUDA 13.0; 0: unknown) and
 * whose libraries are all there, and opens its runtime.  The others are opened later: cuBLAS takes
 * time and memory.  TN_MISSING_LIBRARY, TN_DRIVER_TOO_OLD: `text` says what is missing, and where
 * it was looked for.  Does nothing if one that the driver runs is chosen already. */
tn_status cuda_libraries_choose(const struct tn_host *host, int driver, struct cuda_runtime *rt,
				struct cuda_places *places, char *text, size_t size);

/* The version in use, what brought its runtime, and where that lies: "CUDA 12 (pip): /...". */
void cuda_libraries_say(const struct tn_host *host, const struct cuda_runtime *rt,
			const struct cuda_places *places, char *text, size_t size);

/* Each opens its library and looks up every function, all or nothing.  TN_MISSING_LIBRARY: `text`
 * names the file, or the missing function.  Further calls do nothing. */
tn_status cuda_blas_open(struct cuda_blas *blas, const struct cuda_places *places, char *text,
			 size_t size);
tn_status cuda_compiler_open(struct cuda_compiler *compiler, const struct tn_host *host,
			     const struct cuda_places *places, char *text, size_t size);
/* Looks up all functions that it has.  TN_NO_DRIVER: it cannot be opened.  TN_MISSING_LIBRARY: it
 * lacks one by which devices are listed. */
tn_status cuda_management_open(struct cuda_management *nvml, char *text, size_t size);

/* Closes a library's handle; the file stays mapped, because its threads outlive every instance. */
void cuda_library_close(void **handle);

#endif
