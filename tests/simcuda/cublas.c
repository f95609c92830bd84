/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The simulated cuBLAS: handles and their settings.
 */
#include "cublas.h"

#include <pthread.h>
#include <stdlib.h>

#include "simcuda.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sim_cublas *handles;

static struct sim_cublas *find(cublasHandle_t handle)
{
	struct sim_cublas *cublas = NULL;
	pthread_mutex_lock(&lock);
	for (cublas = handles; cublas; cublas = cublas->next)
		if (cublas == (struct sim_cublas *)handle)
			break;
	pthread_mutex_unlock(&lock);
	return cublas;
}

struct sim_cublas *sim_cublas_enter(const char *name, cublasHandle_t handle, cublasStatus_t *status)
{
	*status = (cublasStatus_t)simcudaFault(name);
	if (*status)
		return NULL;
	struct sim_cublas *cublas = find(handle);
	if (!cublas)
		*status = CUBLAS_STATUS_NOT_INITIALIZED;
	return cublas;
}

cublasStatus_t sim_cublas_enqueue(const struct sim_cublas *cublas, const char *name,
				  int (*run)(void *data), const void *data, size_t size)
{
	return simcudaEnqueue(cublas->stream, name, run, data, size)
		       ? CUBLAS_STATUS_EXECUTION_FAILED
		       : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle)
{
	cublasStatus_t status = (cublasStatus_t)simcudaFault("cublasCreate_v2");
	*handle = NULL;
	if (status)
		return status;
	if (simcudaStream(NULL))
		return CUBLAS_STATUS_NOT_INITIALIZED;
	struct sim_cublas *cublas = calloc(1, sizeof(*cublas));
	if (!cublas)
		return CUBLAS_STATUS_ALLOC_FAILED;
	pthread_mutex_lock(&lock);
	cublas->next = handles;
	handles = cublas;
	pthread_mutex_unlock(&lock);
	*handle = (cublasHandle_t)cublas;
	return CUBLAS_STATUS_SUCCESS;
}

/* Waits for the device, like the real one; its stream must still exist. */
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle)
{
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
	struct sim_cublas *cublas = sim_cublas_enter("cublasDestroy_v2", handle, &status);
	if (!cublas)
		return status;
	if (simcudaStream(cublas->stream) == cudaErrorInvalidResourceHandle)
		return CUBLAS_STATUS_EXECUTION_FAILED;
	cudaDeviceSynchronize();
	pthread_mutex_lock(&lock);
	struct sim_cublas **at = &handles;
	while (*at != cublas)
		at = &(*at)->next;
	*at = cublas->next;
	pthread_mutex_unlock(&lock);
	free(cublas);
	return CUBLAS_STATUS_SUCCESS;
}

/* ---- What is set -----------------------------------------------------------------------------*/

/* Setting the stream resets the workspace. */
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream)
{
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
	struct sim_cublas *cublas = sim_cublas_enter("cublasSetStream_v2", handle, &status);
	if (!cublas)
		return status;
	cublas->stream = stream;
	cublas->workspace = NULL;
	cublas->workspace_size = 0;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t *stream)
{
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
	struct sim_cublas *cublas = sim_cublas_enter("cublasGetStream_v2", handle, &status);
	if (cublas)
		*stream = cublas->stream;
	return status;
}

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace, size_t size)
{
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
	struct sim_cublas *cublas = sim_cublas_enter("cublasSetWorkspace_v2", handle, &status);
	if (!cublas)
		return status;
	if ((uintptr_t)workspace % 256 != 0)
		return CUBLAS_STATUS_INVALID_VALUE;
	cublas->workspace = workspace;
	cublas->workspace_size = size;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode)
{
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
	struct sim_cublas *cublas = sim_cublas_enter("cublasSetMathMode", handle, &status);
	if (cublas)
		cublas->math = mode;
	return status;
}

cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode)
{
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
	struct sim_cublas *cublas = sim_cublas_enter("cublasGetMathMode", handle, &status);
	if (cublas)
		*mode = cublas->math;
	return status;
}

cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode)
{
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
	struct sim_cublas *cublas = sim_cublas_enter("cublasSetPointerMode_v2", handle, &status);
	if (cublas)
		cublas->pointers = mode;
	return status;
}

cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t *mode)
{
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
	struct sim_cublas *cublas = sim_cublas_enter("cublasGetPointerMode_v2", handle, &status);
	if (cublas)
		*mode = cublas->pointers;
	return status;
}

cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode)
{
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
	struct sim_cublas *cublas = sim_cublas_enter("cublasSetAtomicsMode", handle, &status);
	if (cublas)
		cublas->atomics = mode;
	return status;
}

cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t *mode)
{
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
	struct sim_cublas *cublas = sim_cublas_enter("cublasGetAtomicsMode", handle, &status);
	if (cublas)
		*mode = cublas->atomics;
	return status;
}

/* ---- Versions and names ----------------------------------------------------------------------*/

/* Works without a handle, as with the real one. */
cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int *version)
{
	cublasStatus_t status = (cublasStatus_t)simcudaFault("cublasGetVersion_v2");
	(void)handle;
	if (!status)
		*version = CUBLAS_VERSION;
	return status;
}

cublasStatus_t cublasGetProperty(libraryPropertyType type, int *value)
{
	static const int versions[] = {CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH};
	cublasStatus_t status = (cublasStatus_t)simcudaFault("cublasGetProperty");
	if (status)
		return status;
	if ((unsigned)type > PATCH_LEVEL)
		return CUBLAS_STATUS_INVALID_VALUE;
	*value = versions[type];
	return CUBLAS_STATUS_SUCCESS;
}

struct status {
	cublasStatus_t code;
	const char *name, *text;
};

static const struct status statuses[] = {
	{CUBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "success"},
	{CUBLAS_STATUS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED",
	 "the library was not initialized"},
	{CUBLAS_STATUS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED",
	 "the resource allocation failed"},
	{CUBLAS_STATUS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE",
	 "an unsupported value or parameter was passed to the function"},
	{CUBLAS_STATUS_ARCH_MISMATCH, "CUBLAS_STATUS_ARCH_MISMATCH",
	 "the function requires an architectural feature absent from the device"},
	{CUBLAS_STATUS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR",
	 "an access to GPU memory space failed"},
	{CUBLAS_STATUS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED",
	 "the function failed to launch on the GPU"},
	{CUBLAS_STATUS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR",
	 "an internal operation failed"},
	{CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED",
	 "the requested functionality is not supported"},
	{CUBLAS_STATUS_LICENSE_ERROR, "CUBLAS_STATUS_LICENSE_ERROR", "the license check failed"},
};

static const struct status *find_status(cublasStatus_t code)
{
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
		if (statuses[i].code == code)
			return &statuses[i];
	return NULL;
}

const char *cublasGetStatusName(cublasStatus_t code)
{
	const struct status *status = find_status(code);
	return status ? status->name : "unrecognized status";
}

const char *cublasGetStatusString(cublasStatus_t code)
{
	const struct status *status = find_status(code);
	return status ? status->text : "unrecognized status";
}
