/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Libraries: PTX that is parsed when it is loaded, its kernels and variables.
 */
#include "cudart_library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simcuda.h"

/* A variable that was requested. */
struct variable {
	struct variable *next;
	const struct sim_library *library;
	uint64_t address;
	size_t size;
};

struct sim_library {
	struct sim_library *next;
	unsigned references;
	int is_unloaded;
	struct ptx_module *module;
	struct sim_kernel *kernels;
};

static struct sim_library *libraries;
static struct variable *variables; /* of all libraries: most have none, and every copy looks here */

static struct sim_library *find(cudaLibrary_t handle)
{
	for (struct sim_library *library = libraries; library; library = library->next)
		if (library == (struct sim_library *)handle && !library->is_unloaded)
			return library;
	sim_say(cudaErrorInvalidResourceHandle, "%p is no library", (void *)handle);
	return NULL;
}

static void forget_variables(const struct sim_library *library)
{
	for (struct variable **at = &variables; *at;) {
		struct variable *variable = *at;
		if (variable->library != library) {
			at = &variable->next;
			continue;
		}
		*at = variable->next;
		free(variable);
	}
}

static void free_parts(struct sim_library *library)
{
	while (library->kernels) {
		struct sim_kernel *kernel = library->kernels;
		library->kernels = kernel->next;
		free(kernel);
	}
	forget_variables(library);
	if (library->module)
		ptx_free(library->module);
}

void sim_library_keep(struct sim_library *library)
{
	library->references++;
}

void sim_library_release(struct sim_library *library)
{
	if (--library->references > 0)
		return;
	struct sim_library **at = &libraries;
	while (*at != library)
		at = &(*at)->next;
	*at = library->next;
	free_parts(library);
	free(library);
}

int sim_library_is_unloaded(const struct sim_library *library)
{
	return library->is_unloaded;
}

static void unload(struct sim_library *library)
{
	library->is_unloaded = 1;
	sim_library_release(library);
}

void sim_libraries_drop(void)
{
	struct sim_library *next = NULL;
	for (struct sim_library *library = libraries; library; library = next) {
		next = library->next;
		if (!library->is_unloaded)
			unload(library);
	}
}

size_t sim_libraries_live(char *report, size_t size)
{
	size_t live = 0, length = 0;
	for (const struct sim_library *library = libraries; library; library = library->next) {
		if (library->is_unloaded)
			continue;
		live++;
		const struct ptx_kernel *first = ptx_kernel_at(library->module, 0);
		if (length < size)
			length += (size_t)snprintf(report + length, size - length,
						   "a library with the kernel %s\n",
						   first ? ptx_kernel_name(first) : "(none)");
	}
	return live;
}

/* ---- Loading ---------------------------------------------------------------------------------*/

/* The target architecture of the text, 0 if not stated. */
static int target_of(const char *text)
{
	const char *target = strstr(text, ".target sm_");
	return target ? atoi(target + strlen(".target sm_")) : 0;
}

static cudaError_t check_text(const char *text)
{
	if (strncmp(text, "\177ELF", 4) == 0)
		return sim_say(cudaErrorNoKernelImageForDevice,
			       "a CUBIN was loaded: the simulated device runs PTX");
	int arch = sim_model_current()->arch;
	if (target_of(text) > arch)
		return sim_say(cudaErrorNoKernelImageForDevice,
			       "code for sm_%d was loaded on a device of sm_%d", target_of(text),
			       arch);
	return cudaSuccess;
}

/* Drivers before 12.1, and devices before sm_70, take no more; the compiler of their code fails. */
enum { PARAMETER_BYTES = 4096 };

static cudaError_t check_parameters(const struct ptx_module *module)
{
	const struct ptx_kernel *kernel;
	for (unsigned k = 0; (kernel = ptx_kernel_at(module, k)); k++) {
		size_t bytes = 0;
		for (size_t i = 0; i < ptx_parameters(kernel); i++)
			bytes += ptx_parameter_size(kernel, i);
		if (bytes > PARAMETER_BYTES)
			return sim_say(cudaErrorInvalidPtx,
				       "%s has %zu bytes of parameters, expected at most %d",
				       ptx_kernel_name(kernel), bytes, PARAMETER_BYTES);
	}
	return cudaSuccess;
}

static cudaError_t load(cudaLibrary_t *handle, const char *text)
{
	char message[512] = "";
	cudaError_t error = check_text(text);
	if (error)
		return error;
	struct sim_library *library = calloc(1, sizeof(*library));
	if (!library)
		return cudaErrorMemoryAllocation;
	library->module = ptx_parse(text, strlen(text), message, sizeof(message));
	if (!library->module) {
		free(library);
		return sim_say(cudaErrorInvalidPtx, "%s", message);
	}
	error = check_parameters(library->module);
	if (error) {
		ptx_free(library->module);
		free(library);
		return error;
	}
	library->references = 1;
	library->next = libraries;
	libraries = library;
	*handle = (cudaLibrary_t)library;
	return cudaSuccess;
}

cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code,
				enum cudaJitOption *jit_options, void **jit_values, unsigned n_jit,
				enum cudaLibraryOption *options, void **values, unsigned n)
{
	cudaError_t error = sim_enter("cudaLibraryLoadData");
	(void)jit_options, (void)jit_values, (void)n_jit, (void)options, (void)values, (void)n;
	if (error)
		return error;
	if (!library || !code)
		return sim_leave(cudaErrorInvalidValue);
	return sim_leave(load(library, code));
}

/* Kernels that wait in streams run first. */
cudaError_t cudaLibraryUnload(cudaLibrary_t handle)
{
	cudaError_t error = sim_enter("cudaLibraryUnload");
	if (error)
		return error;
	struct sim_library *library = find(handle);
	if (!library)
		return sim_leave(cudaErrorInvalidResourceHandle);
	sim_run_device(-1);
	unload(library);
	return sim_leave(cudaSuccess);
}

/* ---- Kernels ---------------------------------------------------------------------------------*/

static struct sim_kernel *kernel_of(struct sim_library *library, const struct ptx_kernel *ptx)
{
	for (struct sim_kernel *kernel = library->kernels; kernel; kernel = kernel->next)
		if (kernel->ptx == ptx)
			return kernel;
	struct sim_kernel *kernel = calloc(1, sizeof(*kernel));
	if (!kernel)
		return NULL;
	*kernel = (struct sim_kernel){
		.next = library->kernels, .library = library, .ptx = ptx, .carveout = -1};
	library->kernels = kernel;
	return kernel;
}

struct sim_kernel *sim_kernel_find(const void *function, cudaError_t *error)
{
	*error = cudaSuccess;
	for (struct sim_library *library = libraries; library; library = library->next)
		for (struct sim_kernel *kernel = library->kernels; kernel; kernel = kernel->next)
			if (kernel == function && !library->is_unloaded)
				return kernel;
	*error = sim_say(function ? cudaErrorInvalidResourceHandle : cudaErrorInvalidDeviceFunction,
			 "%p is no kernel", function);
	return NULL;
}

cudaError_t sim_kernel_load(struct sim_kernel *kernel)
{
	cudaError_t error =
		kernel->is_loaded ? cudaSuccess : (cudaError_t)simcudaFault("simcudaLoad");
	kernel->is_loaded = !error;
	return error;
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *handle, cudaLibrary_t library_handle,
				 const char *name)
{
	cudaError_t error = sim_enter("cudaLibraryGetKernel");
	if (error)
		return error;
	struct sim_library *library = find(library_handle);
	if (!library || !name)
		return sim_leave(cudaErrorInvalidResourceHandle);
	const struct ptx_kernel *ptx = ptx_kernel(library->module, name);
	if (!ptx)
		return sim_leave(sim_say(cudaErrorSymbolNotFound, "there is no kernel %s", name));
	*handle = (cudaKernel_t)kernel_of(library, ptx);
	return sim_leave(*handle ? cudaSuccess : cudaErrorMemoryAllocation);
}

static unsigned count(const struct sim_library *library)
{
	unsigned n = 0;
	while (ptx_kernel_at(library->module, n))
		n++;
	return n;
}

cudaError_t cudaLibraryGetKernelCount(unsigned *n, cudaLibrary_t handle)
{
	cudaError_t error = sim_enter("cudaLibraryGetKernelCount");
	if (error)
		return error;
	const struct sim_library *library = find(handle);
	if (!library)
		return sim_leave(cudaErrorInvalidResourceHandle);
	*n = count(library);
	return sim_leave(cudaSuccess);
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned n, cudaLibrary_t handle)
{
	cudaError_t error = sim_enter("cudaLibraryEnumerateKernels");
	if (error)
		return error;
	struct sim_library *library = find(handle);
	if (!library)
		return sim_leave(cudaErrorInvalidResourceHandle);
	for (unsigned i = 0; i < n && i < count(library); i++) {
		kernels[i] = (cudaKernel_t)kernel_of(library, ptx_kernel_at(library->module, i));
		if (!kernels[i])
			return sim_leave(cudaErrorMemoryAllocation);
	}
	return sim_leave(cudaSuccess);
}

cudaError_t cudaFuncGetName(const char **name, const void *function)
{
	cudaError_t error = sim_enter("cudaFuncGetName");
	if (error)
		return error;
	const struct sim_kernel *kernel = sim_kernel_find(function, &error);
	if (kernel)
		*name = ptx_kernel_name(kernel->ptx);
	return sim_leave(error);
}

/* ---- Variables -------------------------------------------------------------------------------*/

int sim_is_variable(uint64_t address, size_t size)
{
	for (const struct variable *v = variables; v; v = v->next)
		if (address >= v->address && address + size <= v->address + v->size)
			return 1;
	return 0;
}

static cudaError_t remember(struct sim_library *library, const void *address, size_t size)
{
	if (sim_is_variable((uint64_t)(uintptr_t)address, size))
		return cudaSuccess;
	struct variable *variable = calloc(1, sizeof(*variable));
	if (!variable)
		return cudaErrorMemoryAllocation;
	*variable = (struct variable){variables, library, (uint64_t)(uintptr_t)address, size};
	variables = variable;
	return cudaSuccess;
}

cudaError_t cudaLibraryGetGlobal(void **address, size_t *bytes, cudaLibrary_t handle,
				 const char *name)
{
	size_t size = 0;
	cudaError_t error = sim_enter("cudaLibraryGetGlobal");
	if (error)
		return error;
	struct sim_library *library = find(handle);
	if (!library)
		return sim_leave(cudaErrorInvalidResourceHandle);
	void *place = ptx_variable(library->module, name, &size);
	if (!place)
		return sim_leave(sim_say(cudaErrorSymbolNotFound, "there is no variable %s", name));
	error = remember(library, place, size);
	if (address)
		*address = place;
	if (bytes)
		*bytes = size;
	return sim_leave(error);
}
