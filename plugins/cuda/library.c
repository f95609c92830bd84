/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * One list of names for each library, all or nothing.  Names are looked up only here.  They have
 * the same prototypes in both major versions of CUDA (tests/simcuda/majors.sh).
 */
#include "library.h"

#include <dlfcn.h>
#include <link.h>
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
	const char *stem; /* of the file's name: libcudart.so.13 */
	int version;      /* 0: CUDA's major version */
	const char *purpose;
	const struct name *names;
	size_t n_names;
	size_t n_optional;    /* of these, the last ones */
	const char *expected; /* the versions that have all others; NULL: of CUDA */
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
	NETWORK(cudnnGetCudartVersion),
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
	MANAGEMENT(nvmlDeviceGetCount_v2),
	MANAGEMENT(nvmlDeviceGetHandleByIndex_v2),
	MANAGEMENT(nvmlSystemGetDriverVersion),
	MANAGEMENT(nvmlSystemGetCudaDriverVersion_v2),
	MANAGEMENT(nvmlDeviceGetName),
	MANAGEMENT(nvmlDeviceGetUUID),
	MANAGEMENT(nvmlDeviceGetMemoryInfo),
	MANAGEMENT(nvmlDeviceGetPciInfo_v3),
	MANAGEMENT(nvmlDeviceGetCudaComputeCapability),
	MANAGEMENT(nvmlDeviceGetHandleByPciBusId_v2),
	MANAGEMENT(nvmlDeviceGetMigMode),
	MANAGEMENT(nvmlDeviceGetClockInfo),
	MANAGEMENT(nvmlDeviceGetTemperature),
	MANAGEMENT(nvmlDeviceGetPowerUsage),
	MANAGEMENT(nvmlDeviceGetNumGpuCores),
	MANAGEMENT(nvmlDeviceGetMaxClockInfo),
};
enum { NEEDED_OF_MANAGEMENT = 5 }; /* to list the devices: the first ones */

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

static const struct library runtime = {
	"libcudart", 0, "the CUDA runtime", runtime_names, COUNT(runtime_names), 0, NULL};
static const struct library blas = {"libcublas",       0, "cuBLAS", blas_names,
				    COUNT(blas_names), 0, NULL};
/* cuBLAS opens it. */
static const struct library blas_part = {"libcublasLt", 0, "a part of cuBLAS", NULL, 0, 0, NULL};
static const struct library compiler = {
	"libnvrtc", 0, "the CUDA compiler", compiler_names, COUNT(compiler_names), 0, NULL};
#if CUDA_HAVE_CUDNN
static const struct library dnn_library = {"libcudnn",       9, "cuDNN",          dnn_names,
					   COUNT(dnn_names), 0, "another version"};
/* libcudnn.so.9 opens these when it first needs them, and ends the process if one cannot be
 * opened. */
static const struct library dnn_parts[] = {
	{"libcudnn_graph", 9, "a part of cuDNN", NULL, 0, 0, NULL},
	{"libcudnn_ops", 9, "a part of cuDNN", NULL, 0, 0, NULL},
	{"libcudnn_cnn", 9, "a part of cuDNN", NULL, 0, 0, NULL},
	{"libcudnn_heuristic", 9, "a part of cuDNN", NULL, 0, 0, NULL},
	{"libcudnn_engines_precompiled", 9, "a part of cuDNN", NULL, 0, 0, NULL},
	{"libcudnn_engines_runtime_compiled", 9, "a part of cuDNN", NULL, 0, 0, NULL},
};
#endif
static const struct library management = {"libnvidia-ml",
					  1,
					  "NVIDIA's management library",
					  management_names,
					  COUNT(management_names),
					  COUNT(management_names) - NEEDED_OF_MANAGEMENT,
					  "that of driver 525 or later"};

/* The major versions that the backend works with, newest first. */
static const struct major {
	int number;
	int oldest; /* the oldest version of the runtime that has every function */
	const char *driver;
} majors[] = {{13, 13000, "580"}, {12, 12080, "525"}};

enum { FILE_NAME = 64 };

static void name_file(const struct library *library, int major, char name[FILE_NAME])
{
	snprintf(name, FILE_NAME, "%s.so.%d", library->stem,
		 library->version ? library->version : major);
}

/* ---- Opening ---------------------------------------------------------------------------------*/

/* Of an open library; may be NULL. */
static char *path_of(void *handle)
{
	const struct link_map *map = NULL;
	return handle && !dlinfo(handle, RTLD_DI_LINKMAP, (void *)&map) ? map->l_name : NULL;
}

/* The open library lacks a function. */
static tn_status fail_lookup(const struct library *library, int major, void *handle,
			     const char *name, char *text, size_t size)
{
	const char *path = path_of(handle);
	char of_cuda[32] = "";
	for (size_t i = 0; i < COUNT(majors); i++)
		if (majors[i].number == major)
			snprintf(of_cuda, sizeof(of_cuda), "CUDA %d.%d or later", major,
				 majors[i].oldest % 1000 / 10);
	snprintf(text, size, "%s (%s) has no %s: expected %s", path ? path : library->stem,
		 library->purpose, name, library->expected ? library->expected : of_cuda);
	return TN_MISSING_LIBRARY;
}

/* `table` begins with the handle. */
static tn_status look_up(const struct library *library, int major, void *table, char *text,
			 size_t size)
{
	void **handle = table;
	for (size_t i = 0; i < library->n_names; i++) {
		void *address = dlsym(*handle, library->names[i].text);
		if (!address && i < library->n_names - library->n_optional) {
			tn_status status = fail_lookup(library, major, *handle,
						       library->names[i].text, text, size);
			cuda_library_close(handle);
			return status;
		}
		memcpy((char *)table + library->names[i].offset, &address, sizeof(address));
	}
	return TN_OK;
}

/* A library that the process has loaded already is reused, so that there are not two. */
static void *open_file(const char *file, const char *path)
{
	const int flags = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
	void *handle = *path ? dlopen(file, flags | RTLD_NOLOAD) : NULL;
	return handle ? handle : dlopen(*path ? path : file, flags);
}

/* It is nowhere, or is there and cannot be opened. */
static tn_status fail_file(const struct library *library, const char *file, tn_status status,
			   char *text, size_t size)
{
	const char *why = dlerror();
	if (why && strstr(why, "No such file"))
		snprintf(text, size, "%s (%s) was not found in the loader's folders", file,
			 library->purpose);
	else
		snprintf(text, size, "%s (%s) cannot be opened: %s", file, library->purpose,
			 why ? why : "no reason was given");
	return status;
}

/* `path` is empty if only the name is known. */
static tn_status open_library(const struct library *library, int major, const char *path,
			      void *table, char *text, size_t size)
{
	char file[FILE_NAME];
	void **handle = table;
	if (*handle)
		return TN_OK;
	name_file(library, major, file);
	*handle = open_file(file, path);
	return *handle ? look_up(library, major, table, text, size)
		       : fail_file(library, file, TN_MISSING_LIBRARY, text, size);
}

/* Opens what another library will look for by its name alone: it stays mapped. */
static void open_beforehand(const struct cuda_place *place)
{
	void *handle =
		place->path[0] ? dlopen(place->path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) : NULL;
	if (handle)
		dlclose(handle);
}

tn_status cuda_blas_open(struct cuda_blas *cublas, const struct cuda_places *places, char *text,
			 size_t size)
{
	if (!cublas->handle)
		open_beforehand(&places->blas_part);
	return open_library(&blas, places->major, places->blas.path, cublas, text, size);
}

/* NVRTC opens its builtins, whose version is its own, when it first compiles. */
static int find_builtins(const struct cuda_compiler *nvrtc, struct cuda_search *search,
			 struct cuda_place *place, char file[FILE_NAME])
{
	int major = 0, minor = 0;
	Dl_info info = {.dli_fname = NULL};
	memcpy(&search->address, &nvrtc->nvrtcVersion, sizeof(search->address));
	search->handle = nvrtc->handle;
	(void)nvrtc->nvrtcVersion(&major, &minor);
	snprintf(file, FILE_NAME, "libnvrtc-builtins.so.%d.%d", major, minor);
	if (dladdr(search->address, &info))
		search->near = info.dli_fname;
	return cuda_place_find(search, file, place);
}

tn_status cuda_compiler_open(struct cuda_compiler *nvrtc, const struct tn_host *host,
			     const struct cuda_places *places, char *text, size_t size)
{
	char file[FILE_NAME];
	struct cuda_place builtins;
	struct cuda_search search = {.host = host, .major = places->major};
	if (nvrtc->handle)
		return TN_OK;
	tn_status status =
		open_library(&compiler, places->major, places->compiler.path, nvrtc, text, size);
	if (!status && find_builtins(nvrtc, &search, &builtins, file))
		open_beforehand(&builtins);
	return status;
}

tn_status cuda_management_open(struct cuda_management *nvml, char *text, size_t size)
{
	char file[FILE_NAME];
	name_file(&management, 0, file);
	if (!nvml->handle)
		nvml->handle = open_file(file, "");
	return nvml->handle ? look_up(&management, 0, nvml, text, size)
			    : fail_file(&management, file, TN_NO_DRIVER, text, size);
}

void cuda_library_close(void **handle)
{
	if (*handle)
		dlclose(*handle);
	*handle = NULL;
}

/* ---- The choice of a major version -----------------------------------------------------------*/

/* A search that begins with the runtime. */
static struct cuda_search search_from(const struct cuda_runtime *rt, const struct tn_host *host,
				      int major)
{
	struct cuda_search search = {.host = host, .major = major, .handle = rt->handle};
	memcpy(&search.address, &rt->cudaGetLastError, sizeof(search.address));
	return search;
}

/* Looks for the libraries of one major version.  `text` has what is missing. */
struct attempt {
	const struct tn_host *host;
	const struct major *major;
	struct cuda_runtime *rt;
	struct cuda_places *places;
	int has_old; /* there is a runtime, but it lacks functions */
	char *text;
	size_t size;
};

static void fail_missing(const struct attempt *attempt, const char *file, const char *purpose)
{
	int n = snprintf(attempt->text, attempt->size, "%s (%s) was not found in: ", file, purpose);
	if (n > 0 && (size_t)n < attempt->size)
		cuda_place_say(attempt->host, attempt->text + n, attempt->size - (size_t)n);
}

/* A file that is there but cannot be opened says why. */
static void fail_open(const struct attempt *attempt, const char *file)
{
	const char *why = dlerror();
	if (why && !strstr(why, "No such file"))
		snprintf(attempt->text, attempt->size, "%s (%s) cannot be opened: %s", file,
			 runtime.purpose, why);
}

/* Has it been opened, and does it have all functions? */
static int is_usable(struct attempt *attempt, const char *file)
{
	if (!attempt->rt->handle) {
		fail_open(attempt, file);
		return 0;
	}
	attempt->has_old |= look_up(&runtime, attempt->major->number, attempt->rt, attempt->text,
				    attempt->size) != TN_OK;
	return attempt->rt->handle != NULL;
}

static int visit_runtime(void *context, const char *folder)
{
	struct attempt *attempt = context;
	char file[FILE_NAME];
	struct cuda_place place;
	name_file(&runtime, attempt->major->number, file);
	if (!cuda_place_in(folder, strlen(folder), file, &place))
		return 0;
	attempt->rt->handle = dlopen(place.path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	return is_usable(attempt, file);
}

/* One that the process has, or that the loader finds, comes first. */
static tn_status open_runtime(struct attempt *attempt)
{
	const int major = attempt->major->number;
	char file[FILE_NAME];
	name_file(&runtime, major, file);
	fail_missing(attempt, file, runtime.purpose);
	attempt->rt->handle = open_file(file, "");
	return is_usable(attempt, file) ||
			       cuda_place_each(attempt->host, major, visit_runtime, attempt)
		       ? TN_OK
		       : TN_MISSING_LIBRARY;
}

static tn_status find(const struct attempt *attempt, const struct library *library,
		      const char *near, struct cuda_place *place)
{
	struct cuda_search search = search_from(attempt->rt, attempt->host, attempt->major->number);
	char file[FILE_NAME];
	search.near = near;
	name_file(library, attempt->major->number, file);
	if (cuda_place_find(&search, file, place))
		return TN_OK;
	fail_missing(attempt, file, library->purpose);
	return TN_MISSING_LIBRARY;
}

/* If they lie beside NVRTC, that is enough; otherwise it is asked for their name. */
static tn_status check_builtins(const struct attempt *attempt)
{
	struct cuda_search search = {.host = attempt->host, .major = attempt->major->number};
	struct cuda_compiler nvrtc = {.handle = NULL};
	struct cuda_place place;
	char file[FILE_NAME];
	snprintf(file, sizeof(file), "libnvrtc-builtins.so.%d.", attempt->major->number);
	if (cuda_place_has(attempt->places->compiler.path, file))
		return TN_OK;
	tn_status status =
		open_library(&compiler, attempt->major->number, attempt->places->compiler.path,
			     &nvrtc, attempt->text, attempt->size);
	if (status)
		return status;
	if (!find_builtins(&nvrtc, &search, &place, file)) {
		fail_missing(attempt, file, "a part of the CUDA compiler");
		status = TN_MISSING_LIBRARY;
	}
	cuda_library_close(&nvrtc.handle);
	return status;
}

/* If the loader opens cuBLAS by its name, it has found the part too. */
static tn_status find_rest(const struct attempt *attempt)
{
	struct cuda_places *places = attempt->places;
	tn_status status = find(attempt, &blas, NULL, &places->blas);
	if (!status && places->blas.path[0])
		status = find(attempt, &blas_part, places->blas.path, &places->blas_part);
	if (!status)
		status = find(attempt, &compiler, NULL, &places->compiler);
	return status ? status : check_builtins(attempt);
}

/* A driver of unknown version (0) may run every one. */
static int runs(int driver, int major)
{
	return !driver || driver >= 1000 * major;
}

/* What was missing tells more if the runtime, at least, was there. */
enum progress { NOT_TRIED, NO_RUNTIME, OLD_RUNTIME, PARTIAL, WHOLE };

static enum progress try_major(struct attempt *attempt)
{
	memset(attempt->places, 0, sizeof(*attempt->places));
	cuda_library_close(&attempt->rt->handle);
	attempt->has_old = 0;
	if (open_runtime(attempt))
		return attempt->has_old ? OLD_RUNTIME : NO_RUNTIME;
	if (find_rest(attempt)) {
		cuda_library_close(&attempt->rt->handle);
		return PARTIAL;
	}
	attempt->places->major = attempt->major->number;
	return WHOLE;
}

void cuda_libraries_say(const struct tn_host *host, const struct cuda_runtime *rt,
			const struct cuda_places *places, char *text, size_t size)
{
	char *path = path_of(rt->handle);
	snprintf(text, size, "CUDA %d (%s): %s", places->major,
		 path ? cuda_place_package(host, path) : "system", path ? path : runtime.stem);
}

static void log_choice(const struct tn_host *host, const struct cuda_runtime *rt,
		       const struct cuda_places *places)
{
	char *path = path_of(rt->handle);
	tn_plugin_log(host, "cuda", TN_LOG_INFO, "libraries of CUDA %d: %s, %s, %s", places->major,
		      path ? path : runtime.stem,
		      places->blas.path[0] ? places->blas.path : blas.stem,
		      places->compiler.path[0] ? places->compiler.path : compiler.stem);
}

static tn_status fail_choice(enum progress best, int driver, const char *reason, char *text,
			     size_t size)
{
	const struct major *newest = &majors[0], *last = &majors[COUNT(majors) - 1];
	if (best == NOT_TRIED)
		snprintf(text, size, "expected CUDA %d (driver %s) or later", last->number,
			 last->driver);
	else if (runs(driver, newest->number))
		snprintf(text, size, "expected CUDA %d, or %d.%d or later: %s", newest->number,
			 last->number, last->oldest % 1000 / 10, reason);
	else
		snprintf(text, size, "expected CUDA %d.%d or later (%d needs driver %s): %s",
			 last->number, last->oldest % 1000 / 10, newest->number, newest->driver,
			 reason);
	return best == NOT_TRIED ? TN_DRIVER_TOO_OLD : TN_MISSING_LIBRARY;
}

tn_status cuda_libraries_choose(const struct tn_host *host, int driver, struct cuda_runtime *rt,
				struct cuda_places *places, char *text, size_t size)
{
	char reason[256] = "", kept[sizeof(reason)] = "";
	struct attempt attempt = {host, NULL, rt, places, 0, reason, sizeof(reason)};
	enum progress best = NOT_TRIED;
	if (places->major && runs(driver, places->major))
		return TN_OK;
	for (size_t i = 0; i < COUNT(majors) && best != WHOLE; i++) {
		attempt.major = &majors[i];
		enum progress progress =
			runs(driver, majors[i].number) ? try_major(&attempt) : NOT_TRIED;
		if (progress > best)
			memcpy(kept, reason, sizeof(kept));
		best = progress > best ? progress : best;
	}
	if (best != WHOLE)
		return fail_choice(best, driver, kept, text, size);
	log_choice(host, rt, places);
	return TN_OK;
}

#if CUDA_HAVE_CUDNN
/* libcudnn.so.9 of either major version has the same name. */
static tn_status check_cuda_of(const struct cuda_dnn *dnn, int major, char *text, size_t size)
{
	const int found = (int)(dnn->cudnnGetCudartVersion() / 1000);
	if (found == major)
		return TN_OK;
	snprintf(text, size, "libcudnn.so.9 is for CUDA %d, the other libraries are CUDA %d's",
		 found, major);
	return TN_MISSING_LIBRARY;
}

tn_status cuda_dnn_open(struct cuda_dnn *dnn, const struct tn_host *host,
			const struct cuda_runtime *rt, int major, char *text, size_t size)
{
	char file[FILE_NAME];
	struct cuda_place place;
	struct cuda_search search = search_from(rt, host, major);
	if (dnn->handle)
		return TN_OK;
	name_file(&dnn_library, major, file);
	(void)cuda_place_find(&search, file, &place);
	tn_status status = open_library(&dnn_library, major, place.path, dnn, text, size);
	if (!status)
		status = check_cuda_of(dnn, major, text, size);
	search.handle = dnn->handle;
	memcpy(&search.address, &dnn->cudnnCreate, sizeof(search.address));
	for (size_t i = 0; i < COUNT(dnn_parts) && !status; i++) {
		void *handle = NULL;
		name_file(&dnn_parts[i], major, file);
		(void)cuda_place_find(&search, file, &place);
		status = open_library(&dnn_parts[i], major, place.path, &handle, text, size);
		cuda_library_close(&handle); /* it stays mapped: cuDNN finds it by its name */
	}
	if (status)
		cuda_library_close(&dnn->handle);
	return status;
}
#endif
