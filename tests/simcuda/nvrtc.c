/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The real NVRTC with four changes: calls can be made to fail, sources can be recorded, and code
 * for a real architecture (sm_90) is compiled for the virtual one (compute_90) and its PTX returned
 * as the CUBIN, since the simulated device runs PTX.  Of such code printed kernels are optimised
 * less, which saves a fifth of their compile time and computes the same bits, unless
 * SIMCUDA_OPTIMIZE=1.  SIMCUDA_NVRTC=12010 makes it that of CUDA 12.1, which does not know
 * --minimal.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nvrtc.h>

#include "fault.h"
#include "record.h"
#include "simcuda.h"

static struct {
	__typeof__(nvrtcAddNameExpression) *add_name_expression;
	__typeof__(nvrtcCompileProgram) *compile_program;
	__typeof__(nvrtcCreateProgram) *create_program;
	__typeof__(nvrtcDestroyProgram) *destroy_program;
	__typeof__(nvrtcGetErrorString) *get_error_string;
	__typeof__(nvrtcGetLoweredName) *get_lowered_name;
	__typeof__(nvrtcGetNumSupportedArchs) *get_num_supported_archs;
	__typeof__(nvrtcGetPTX) *get_ptx;
	__typeof__(nvrtcGetPTXSize) *get_ptx_size;
	__typeof__(nvrtcGetProgramLog) *get_program_log;
	__typeof__(nvrtcGetProgramLogSize) *get_program_log_size;
	__typeof__(nvrtcGetSupportedArchs) *get_supported_archs;
	__typeof__(nvrtcVersion) *version;
} real;

static const struct {
	const char *name;
	void **to;
} names[] = {
	{"nvrtcAddNameExpression", (void **)&real.add_name_expression},
	{"nvrtcCompileProgram", (void **)&real.compile_program},
	{"nvrtcCreateProgram", (void **)&real.create_program},
	{"nvrtcDestroyProgram", (void **)&real.destroy_program},
	{"nvrtcGetErrorString", (void **)&real.get_error_string},
	{"nvrtcGetLoweredName", (void **)&real.get_lowered_name},
	{"nvrtcGetNumSupportedArchs", (void **)&real.get_num_supported_archs},
	{"nvrtcGetPTX", (void **)&real.get_ptx},
	{"nvrtcGetPTXSize", (void **)&real.get_ptx_size},
	{"nvrtcGetProgramLog", (void **)&real.get_program_log},
	{"nvrtcGetProgramLogSize", (void **)&real.get_program_log_size},
	{"nvrtcGetSupportedArchs", (void **)&real.get_supported_archs},
	{"nvrtcVersion", (void **)&real.version},
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int is_open;

static void open_real(void)
{
	void *handle = dlopen(SIMCUDA_NVRTC, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		fprintf(stderr, "simcuda: %s\n", dlerror());
		return;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		*names[i].to = dlsym(handle, names[i].name);
		if (!*names[i].to) {
			fprintf(stderr, "simcuda: %s has no %s\n", SIMCUDA_NVRTC, names[i].name);
			return;
		}
	}
	is_open = 1;
}

static nvrtcResult enter(const char *name)
{
	int sticky = 0;
	nvrtcResult fault = (nvrtcResult)sim_fault_next(name, &sticky);
	if (fault)
		return fault;
	pthread_once(&once, open_real);
	return is_open ? NVRTC_SUCCESS : NVRTC_ERROR_INTERNAL_ERROR;
}

void simcudaNvrtcInject(const char *name, unsigned n, int code)
{
	sim_fault_add(name, n, code, 0);
}

unsigned long simcudaNvrtcCalls(const char *name)
{
	return sim_fault_calls(name);
}

/* ---- Programs that were compiled for a real architecture -------------------------------------*/

struct program {
	struct program *next;
	nvrtcProgram handle;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct program *programs;

static int has_cubin(nvrtcProgram handle)
{
	const struct program *program = NULL;
	pthread_mutex_lock(&lock);
	for (program = programs; program && program->handle != handle; program = program->next)
		;
	pthread_mutex_unlock(&lock);
	return program != NULL;
}

static void forget(nvrtcProgram handle)
{
	pthread_mutex_lock(&lock);
	for (struct program **at = &programs; *at; at = &(*at)->next)
		if ((*at)->handle == handle) {
			struct program *program = *at;
			*at = program->next;
			free(program);
			break;
		}
	pthread_mutex_unlock(&lock);
}

static int remember(nvrtcProgram handle)
{
	struct program *program = malloc(sizeof(*program));
	if (!program)
		return -1;
	forget(handle);
	pthread_mutex_lock(&lock);
	*program = (struct program){programs, handle};
	programs = program;
	pthread_mutex_unlock(&lock);
	return 0;
}

/* ---- Compiling -------------------------------------------------------------------------------*/

/* The architecture in an option, or in the next one; NULL for another option. */
static const char *architecture_in(const char *option, const char *before)
{
	static const char *const spellings[] = {"--gpu-architecture", "-arch"};
	for (size_t i = 0; i < 2; i++) {
		size_t length = strlen(spellings[i]);
		if (before && strcmp(before, spellings[i]) == 0)
			return option;
		if (strncmp(option, spellings[i], length) == 0 && option[length] == '=')
			return option + length + 1;
	}
	return NULL;
}

/* The same option for the virtual architecture; a copy. */
static char *virtual_option(const char *option, const char *before, int *is_real)
{
	const char *architecture = architecture_in(option, before);
	if (!architecture || strncmp(architecture, "sm_", 3) != 0)
		return strdup(option);
	size_t size = strlen(option) + sizeof("compute_");
	char *copy = malloc(size);
	if (copy)
		snprintf(copy, size, "%.*scompute_%s", (int)(architecture - option), option,
			 architecture + 3);
	*is_real = 1;
	return copy;
}

/* The kernels of files, which have a definition of their name, have long loops, and sums of
 * products that the compiler joins otherwise at another level. */
static int is_optimized(int n, const char *const *options)
{
	const char *text = getenv("SIMCUDA_OPTIMIZE");
	int is_file = 0;
	for (int i = 0; i < n && !is_file; i++)
		is_file = strncmp(options[i], "-DKERNEL_", 9) == 0;
	return is_file || (text && strcmp(text, "1") == 0);
}

/* Stores the options in `copies`, which has room for one more. */
/* 0: that of the real one. */
static int version(void)
{
	const char *text = getenv("SIMCUDA_NVRTC");
	return text ? (int)strtol(text, NULL, 10) : sim_cuda_version < 13000 ? sim_cuda_version : 0;
}

static int is_unknown(const char *option)
{
	return version() && version() < 12040 && strcmp(option, "--minimal") == 0;
}

static nvrtcResult compile(nvrtcProgram program, int n, const char *const *options, char **copies)
{
	int is_real = 0;
	for (int i = 0; i < n; i++) {
		if (is_unknown(options[i]))
			return NVRTC_ERROR_INVALID_OPTION;
		copies[i] = virtual_option(options[i], i > 0 ? options[i - 1] : NULL, &is_real);
		if (!copies[i])
			return NVRTC_ERROR_OUT_OF_MEMORY;
	}
	if (is_real && remember(program))
		return NVRTC_ERROR_OUT_OF_MEMORY;
	if (!is_real)
		forget(program);
	if (is_real && !is_optimized(n, options)) {
		copies[n] = strdup("--Ofast-compile=min");
		if (!copies[n++])
			return NVRTC_ERROR_OUT_OF_MEMORY;
	}
	return real.compile_program(program, n, (const char *const *)copies);
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int n, const char *const *options)
{
	nvrtcResult result = enter("nvrtcCompileProgram");
	if (result)
		return result;
	char **copies = calloc((size_t)n + 2, sizeof(*copies));
	if (!copies)
		return NVRTC_ERROR_OUT_OF_MEMORY;
	record_compile(program, n, options);
	result = compile(program, n, options, copies);
	for (char **copy = copies; *copy; copy++)
		free(*copy);
	free(copies);
	return result;
}

/* 0 after a compilation for a virtual architecture, as with the real one. */
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *size)
{
	nvrtcResult result = enter("nvrtcGetCUBINSize");
	if (result)
		return result;
	*size = 0;
	return has_cubin(program) ? real.get_ptx_size(program, size) : NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *code)
{
	nvrtcResult result = enter("nvrtcGetCUBIN");
	if (result)
		return result;
	return has_cubin(program) ? real.get_ptx(program, code) : NVRTC_ERROR_INVALID_PROGRAM;
}

/* ---- The rest is handed on, but for another version ------------------------------------------*/

nvrtcResult nvrtcVersion(int *major, int *minor)
{
	nvrtcResult result = enter("nvrtcVersion");
	if (result || !version())
		return result ? result : real.version(major, minor);
	*major = version() / 1000;
	*minor = version() % 1000 / 10;
	return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *source, const char *name, int n,
			       const char *const *headers, const char *const *include_names)
{
	nvrtcResult result = enter("nvrtcCreateProgram");
	if (!result)
		result = real.create_program(program, source, name, n, headers, include_names);
	if (!result)
		record_create(*program, source);
	return result;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program)
{
	nvrtcResult result = enter("nvrtcDestroyProgram");
	if (result)
		return result;
	forget(*program);
	record_destroy(*program);
	return real.destroy_program(program);
}

nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t *size)
{
	nvrtcResult result = enter("nvrtcGetPTXSize");
	return result ? result : real.get_ptx_size(program, size);
}

nvrtcResult nvrtcGetPTX(nvrtcProgram program, char *text)
{
	nvrtcResult result = enter("nvrtcGetPTX");
	return result ? result : real.get_ptx(program, text);
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *size)
{
	nvrtcResult result = enter("nvrtcGetProgramLogSize");
	return result ? result : real.get_program_log_size(program, size);
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *text)
{
	nvrtcResult result = enter("nvrtcGetProgramLog");
	return result ? result : real.get_program_log(program, text);
}

nvrtcResult nvrtcGetNumSupportedArchs(int *n)
{
	nvrtcResult result = enter("nvrtcGetNumSupportedArchs");
	return result ? result : real.get_num_supported_archs(n);
}

nvrtcResult nvrtcGetSupportedArchs(int *architectures)
{
	nvrtcResult result = enter("nvrtcGetSupportedArchs");
	return result ? result : real.get_supported_archs(architectures);
}

nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char *expression)
{
	nvrtcResult result = enter("nvrtcAddNameExpression");
	return result ? result : real.add_name_expression(program, expression);
}

nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char *expression, const char **name)
{
	nvrtcResult result = enter("nvrtcGetLoweredName");
	return result ? result : real.get_lowered_name(program, expression, name);
}

const char *nvrtcGetErrorString(nvrtcResult code)
{
	return enter("nvrtcGetErrorString") ? "NVRTC is not there" : real.get_error_string(code);
}
