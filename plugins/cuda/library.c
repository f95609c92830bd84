/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * One list of names for each library, all or nothing.  Names are looked up only here.
 */
#include "library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#if CUDA_HAVE_CUDNN
#include "dnn_library.h"
#endif

struct name {
	const char *text;
	size_t offset;
};

struct library {
	const char *file;
	const char *purpose;
	const struct name *names;
	size_t n_names;
};

#define RUNTIME(function)                                                                          \
	{                                                                                          \
#function, offsetof(struct cuda_runtime, function)                                 \
	}
#define BLAS(function)                                                                             \
	{                                                                                          \
#function, offsetof(struct cuda_blas, function)                                    \
	}
#define COMPILER(function)                                                                         \
	{                                                                                          \
#function, offsetof(struct cuda_compiler, function)                                \
	}
#define NETWORK(function)                                                                          \
	{                                                                                          \
#function, offsetof(struct cuda_dnn, function)                                     \
	}
#define MANAGEMENT(function)                                                                       \
	{                                                                                          \
#function, offsetof(struct cuda_management, function)                              \
	}

static const struct name runtime_names[] = {
	RUNTIME(cudaGetErrorName),
	RUNTIME(cudaGetErrorString),
	RUNTIME(cudaGetLastError),
	RUNTIME(cudaDriverGetVersion),
	RUNTIME(cudaRuntimeGetVersion),
	RUNTIME(cudaGetDeviceCount),
	RUNTIME(cudaDeviceGetByPCIBusId),
	RUNTIME(cudaDeviceGetPCIBusId),
	RUNTIME(cudaDeviceGetAttribute),
	RUNTIME(cudaSetDevice),
	RUNTIME(cudaMalloc),
	RUNTIME(cudaFree),
	RUNTIME(cudaMallocAsync),
	RUNTIME(cudaFreeAsync),
	RUNTIME(cudaHostAlloc),
	RUNTIME(cudaFreeHost),
	RUNTIME(cudaMemGetInfo),
	RUNTIME(cudaPointerGetAttributes),
	RUNTIME(cudaMemcpyAsync),
	RUNTIME(cudaStreamCreateWithPriority),
	RUNTIME(cudaStreamDestroy),
	RUNTIME(cudaStreamSynchronize),
	RUNTIME(cudaStreamQuery),
	RUNTIME(cudaStreamWaitEvent),
	RUNTIME(cudaEventCreateWithFlags),
	RUNTIME(cudaEventDestroy),
	RUNTIME(cudaEventRecord),
	RUNTIME(cudaEventSynchronize),
	RUNTIME(cudaEventQuery),
	RUNTIME(cudaEventElapsedTime),
	RUNTIME(cudaLibraryLoadData),
	RUNTIME(cudaLibraryGetKernel),
	RUNTIME(cudaLibraryUnload),
	RUNTIME(cudaStreamBeginCapture),
	RUNTIME(cudaStreamEndCapture),
	RUNTIME(cudaGraphDestroy),
	RUNTIME(cudaGraphExecDestroy),
	RUNTIME(cudaGraphInstantiate),
	RUNTIME(cudaGraphLaunch),
	RUNTIME(cudaFuncGetAttributes),
	RUNTIME(cudaLaunchKernel),
	RUNTIME(cudaFuncGetParamInfo),
	RUNTIME(cudaFuncSetAttribute),
	RUNTIME(cudaDeviceCanAccessPeer),
	RUNTIME(cudaDeviceEnablePeerAccess),
	RUNTIME(cudaDeviceGetMemPool),
	RUNTIME(cudaMemPoolSetAccess),
	RUNTIME(cudaMemcpyPeerAsync),
};

static const struct name blas_names[] = {
	BLAS(cublasCreate_v2),    BLAS(cublasDestroy_v2),           BLAS(cublasGetStatusString),
	BLAS(cublasGemmEx),       BLAS(cublasGemmStridedBatchedEx), BLAS(cublasSetMathMode),
	BLAS(cublasSetStream_v2), BLAS(cublasSetWorkspace_v2),      BLAS(cublasGetProperty),
};

static const struct name compiler_names[] = {
	COMPILER(nvrtcGetErrorString),
	COMPILER(nvrtcVersion),
	COMPILER(nvrtcGetNumSupportedArchs),
	COMPILER(nvrtcGetSupportedArchs),
	COMPILER(nvrtcCreateProgram),
	COMPILER(nvrtcDestroyProgram),
	COMPILER(nvrtcCompileProgram),
	COMPILER(nvrtcGetProgramLogSize),
	COMPILER(nvrtcGetProgramLog),
	COMPILER(nvrtcGetCUBINSize),
	COMPILER(nvrtcGetCUBIN),
	COMPILER(nvrtcGetPTXSize),
	COMPILER(nvrtcGetPTX),
};

#if CUDA_HAVE_CUDNN
static const struct name dnn_names[] = {
	NETWORK(cudnnCreate),
	NETWORK(cudnnDestroy),
	NETWORK(cudnnSetStream),
	NETWORK(cudnnGetProperty),
	NETWORK(cudnnGetErrorString),
	NETWORK(cudnnGetLastErrorString),
	NETWORK(cudnnCreateTensorDescriptor),
	NETWORK(cudnnSetTensor4dDescriptorEx),
	NETWORK(cudnnDestroyTensorDescriptor),
	NETWORK(cudnnCreateFilterDescriptor),
	NETWORK(cudnnSetFilter4dDescriptor),
	NETWORK(cudnnDestroyFilterDescriptor),
	NETWORK(cudnnCreateConvolutionDescriptor),
	NETWORK(cudnnSetConvolution2dDescriptor),
	NETWORK(cudnnSetConvolutionGroupCount),
	NETWORK(cudnnSetConvolutionMathType),
	NETWORK(cudnnDestroyConvolutionDescriptor),
	NETWORK(cudnnGetConvolutionForwardAlgorithm_v7),
	NETWORK(cudnnGetConvolutionBackwardDataAlgorithm_v7),
	NETWORK(cudnnGetConvolutionBackwardFilterAlgorithm_v7),
	NETWORK(cudnnGetConvolutionForwardWorkspaceSize),
	NETWORK(cudnnGetConvolutionBackwardDataWorkspaceSize),
	NETWORK(cudnnGetConvolutionBackwardFilterWorkspaceSize),
	NETWORK(cudnnConvolutionForward),
	NETWORK(cudnnConvolutionBackwardData),
	NETWORK(cudnnConvolutionBackwardFilter),
};
#endif

static const struct name management_names[] = {
	MANAGEMENT(nvmlInit_v2),
	MANAGEMENT(nvmlShutdown),
	MANAGEMENT(nvmlErrorString),
	MANAGEMENT(nvmlSystemGetDriverVersion),
	MANAGEMENT(nvmlSystemGetCudaDriverVersion_v2),
	MANAGEMENT(nvmlDeviceGetCount_v2),
	MANAGEMENT(nvmlDeviceGetHandleByIndex_v2),
	MANAGEMENT(nvmlDeviceGetName),
	MANAGEMENT(nvmlDeviceGetUUID),
	MANAGEMENT(nvmlDeviceGetMemoryInfo),
	MANAGEMENT(nvmlDeviceGetPciInfo_v3),
	MANAGEMENT(nvmlDeviceGetCudaComputeCapability),
	MANAGEMENT(nvmlDeviceGetHandleByPciBusId_v2),
	MANAGEMENT(nvmlDeviceGetClockInfo),
	MANAGEMENT(nvmlDeviceGetTemperature),
	MANAGEMENT(nvmlDeviceGetPowerUsage),
};

#define COUNT(names) (sizeof(names) / sizeof((names)[0]))

/* Every function of a table has its name here; only the handle has none. */
#define IS_WHOLE(table, names) (sizeof(struct table) == (COUNT(names) + 1) * sizeof(void *))
_Static_assert(IS_WHOLE(cuda_runtime, runtime_names), "names of the runtime");
_Static_assert(IS_WHOLE(cuda_blas, blas_names), "names of cuBLAS");
_Static_assert(IS_WHOLE(cuda_compiler, compiler_names), "names of NVRTC");
_Static_assert(IS_WHOLE(cuda_management, management_names), "names of NVML");

#if CUDA_HAVE_CUDNN
_Static_assert(IS_WHOLE(cuda_dnn, dnn_names), "names of cuDNN");
#endif

static const struct library runtime = {"libcudart.so.13", "the CUDA runtime", runtime_names,
				       COUNT(runtime_names)};
static const struct library blas = {"libcublas.so.13", "cuBLAS", blas_names, COUNT(blas_names)};
static const struct library compiler = {"libnvrtc.so.13", "the CUDA compiler", compiler_names,
					COUNT(compiler_names)};
#if CUDA_HAVE_CUDNN
static const struct library dnn_library = {"libcudnn.so.9", "cuDNN", dnn_names, COUNT(dnn_names)};
/* libcudnn.so.9 opens these when it first needs them, and ends the process if one cannot be
 * opened. */
static const struct library dnn_parts[] = {
	{"libcudnn_graph.so.9", "a part of cuDNN", NULL, 0},
	{"libcudnn_ops.so.9", "a part of cuDNN", NULL, 0},
	{"libcudnn_cnn.so.9", "a part of cuDNN", NULL, 0},
	{"libcudnn_heuristic.so.9", "a part of cuDNN", NULL, 0},
	{"libcudnn_engines_precompiled.so.9", "a part of cuDNN", NULL, 0},
	{"libcudnn_engines_runtime_compiled.so.9", "a part of cuDNN", NULL, 0},
};
#endif
static const struct library management = {"libnvidia-ml.so.1", "NVIDIA's management library",
					  management_names, COUNT(management_names)};

/* A library that the process has loaded already is reused, so that there are not two. */
static void *open_file(const char *file, const char *path)
{
	const int flags = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
	void *handle = *path ? dlopen(file, flags | RTLD_NOLOAD) : NULL;
	return handle ? handle : dlopen(*path ? path : file, flags);
}

/* `table` begins with the handle; `path` is empty if only the name is known. */
static tn_status open_library(const struct library *library, const char *path, void *table,
			      char *text, size_t size)
{
	void **handle = table;
	if (*handle)
		return TN_OK;
	*handle = open_file(library->file, path);
	if (!*handle) {
		const char *why = dlerror();
		snprintf(text, size, "%s (%s) cannot be opened: %s", library->file,
			 library->purpose, why ? why : "no reason was given");
		return TN_MISSING_LIBRARY;
	}
	for (size_t i = 0; i < library->n_names; i++) {
		void *address = dlsym(*handle, library->names[i].text);
		if (!address) {
			snprintf(text, size, "%s (%s) has no %s: expected another version",
				 library->file, library->purpose, library->names[i].text);
			cuda_library_close(handle);
			return TN_MISSING_LIBRARY;
		}
		memcpy((char *)table + library->names[i].offset, &address, sizeof(address));
	}
	return TN_OK;
}

tn_status cuda_runtime_open(struct cuda_runtime *rt, char *text, size_t size)
{
	return open_library(&runtime, "", rt, text, size);
}

tn_status cuda_blas_open(struct cuda_blas *cublas, const struct cuda_places *places, char *text,
			 size_t size)
{
	return open_library(&blas, places->blas.path, cublas, text, size);
}

tn_status cuda_compiler_open(struct cuda_compiler *nvrtc, const struct cuda_places *places,
			     char *text, size_t size)
{
	return open_library(&compiler, places->compiler.path, nvrtc, text, size);
}

tn_status cuda_management_open(struct cuda_management *nvml, char *text, size_t size)
{
	return open_library(&management, "", nvml, text, size);
}

void cuda_library_close(void **handle)
{
	if (*handle)
		dlclose(*handle);
	*handle = NULL;
}

/* ---- Presence --------------------------------------------------------------------------------*/

enum found { NOT_SEEN, SEEN, DAMAGED };

/* Does the folder have a file of that name, and does it begin as a library does? */
static enum found look_in_folder(const char *folder, size_t length, const char *file,
				 struct cuda_place *place)
{
	char magic[4];
	int n = snprintf(place->path, sizeof(place->path), "%.*s/%s", (int)length, folder, file);
	if (n < 0 || (size_t)n >= sizeof(place->path))
		return NOT_SEEN;
	FILE *stream = fopen(place->path, "rbe");
	if (!stream)
		return NOT_SEEN;
	size_t got = fread(magic, 1, sizeof(magic), stream);
	(void)fclose(stream);
	return got == sizeof(magic) && !memcmp(magic, "\177ELF", sizeof(magic)) ? SEEN : DAMAGED;
}

/* The folders that dlopen searches for the library's own dependencies, in order. */
static enum found look_in_path(void *handle, const char *file, struct cuda_place *place)
{
	Dl_serinfo size;
	enum found found = NOT_SEEN;
	union {
		Dl_serinfo info;
		char room[16384];
	} path;
	if (dlinfo(handle, RTLD_DI_SERINFOSIZE, &size) || size.dls_size > sizeof(path))
		return NOT_SEEN;
	path.info.dls_size = size.dls_size;
	path.info.dls_cnt = size.dls_cnt;
	if (dlinfo(handle, RTLD_DI_SERINFO, &path.info))
		return NOT_SEEN;
	for (unsigned i = 0; i < path.info.dls_cnt && found == NOT_SEEN; i++)
		found = look_in_folder(path.info.dls_serpath[i].dls_name,
				       strlen(path.info.dls_serpath[i].dls_name), file, place);
	return found;
}

static enum found look_beside(const void *address, const char *file, struct cuda_place *place)
{
	Dl_info info;
	const char *end;
	if (!dladdr(address, &info) || !info.dli_fname || !(end = strrchr(info.dli_fname, '/')))
		return NOT_SEEN;
	return look_in_folder(info.dli_fname, (size_t)(end - info.dli_fname), file, place);
}

/* Finds this library from another one, an address of which is given: 1 and its path, or 0 and an
 * empty path. */
static int find_as(void *handle, const void *address, const char *file, struct cuda_place *place)
{
	enum found found = look_in_path(handle, file, place);
	if (found == NOT_SEEN)
		found = look_beside(address, file, place);
	if (found != SEEN)
		place->path[0] = 0;
	return found == SEEN;
}

static int find_place(const struct cuda_runtime *rt, const struct library *library,
		      struct cuda_place *place)
{
	const void *known;
	memcpy(&known, &rt->cudaGetLastError, sizeof(known));
	return find_as(rt->handle, known, library->file, place);
}

/* If it is found in a folder, that is enough; otherwise the system's own search decides. */
static tn_status check_presence(const struct cuda_runtime *rt, const struct library *library,
				struct cuda_place *place, char *text, size_t size)
{
	void *table[64] = {NULL};
	if (find_place(rt, library, place))
		return TN_OK;
	tn_status status = open_library(library, place->path, table, text, size);
	cuda_library_close(&table[0]);
	return status;
}

tn_status cuda_libraries_present(const struct cuda_runtime *rt, struct cuda_places *places,
				 char *text, size_t size)
{
	_Static_assert(sizeof(struct cuda_blas) <= 64 * sizeof(void *), "room in check_presence");
	_Static_assert(sizeof(struct cuda_compiler) <= 64 * sizeof(void *),
		       "room in check_presence");
	tn_status status = check_presence(rt, &blas, &places->blas, text, size);
	return status ? status : check_presence(rt, &compiler, &places->compiler, text, size);
}

#if CUDA_HAVE_CUDNN
tn_status cuda_dnn_open(struct cuda_dnn *dnn, const struct cuda_runtime *rt, char *text,
			size_t size)
{
	struct cuda_place place;
	if (dnn->handle)
		return TN_OK;
	(void)find_place(rt, &dnn_library, &place);
	tn_status status = open_library(&dnn_library, place.path, dnn, text, size);
	for (size_t i = 0; i < COUNT(dnn_parts) && !status; i++) {
		const void *known;
		void *handle = NULL;
		memcpy(&known, &dnn->cudnnCreate, sizeof(known));
		(void)find_as(dnn->handle, known, dnn_parts[i].file, &place);
		status = open_library(&dnn_parts[i], place.path, &handle, text, size);
		cuda_library_close(&handle); /* it stays mapped: cuDNN finds it by its name */
	}
	if (status)
		cuda_library_close(&dnn->handle);
	return status;
}
#endif
