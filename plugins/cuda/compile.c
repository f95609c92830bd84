/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Compiles a source with NVRTC for the device's architecture, and reports the compiler's log.
 */
#include "compile.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "status.h"

enum { MAX_OPTIONS = 40, MAX_ARCHITECTURES = 64 };

static tn_status fail_nvrtc(const struct cuda_device *device, struct tn_error_info *error,
			    nvrtcResult code, const char *operation, const char *function)
{
	tn_status status =
		code == NVRTC_ERROR_OUT_OF_MEMORY ? TN_OUT_OF_MEMORY : TN_BACKEND_FAILURE;
	tn_plugin_fail(error, status, operation, "%s: %s (%d)", function,
		       device->compiler.nvrtcGetErrorString(code), (int)code);
	if (error)
		error->native_code = code;
	return status;
}

/* ---- The target ------------------------------------------------------------------------------*/

/* The device's own architecture; if the compiler is older than the device, the newest that it
 * supports, whose PTX the driver compiles. */
static nvrtcResult find_target(struct cuda_device *device, struct cuda_target *target,
			       const char **function)
{
	const struct cuda_compiler *nvrtc = &device->compiler;
	int known[MAX_ARCHITECTURES], n = 0, best = 0;
	*function = "nvrtcGetNumSupportedArchs";
	nvrtcResult code = nvrtc->nvrtcGetNumSupportedArchs(&n);
	if (code == NVRTC_SUCCESS && n > MAX_ARCHITECTURES)
		code = NVRTC_ERROR_INTERNAL_ERROR;
	if (code != NVRTC_SUCCESS)
		return code;
	*function = "nvrtcGetSupportedArchs";
	code = nvrtc->nvrtcGetSupportedArchs(known);
	if (code != NVRTC_SUCCESS)
		return code;
	for (int i = 0; i < n; i++)
		if (known[i] > best && known[i] <= (int)device->architecture)
			best = known[i];
	target->is_ptx = best != (int)device->architecture;
	snprintf(target->architecture, sizeof(target->architecture), "--gpu-architecture=%s_%d",
		 target->is_ptx ? "compute" : "sm", best);
	*function = "nvrtcVersion";
	return nvrtc->nvrtcVersion(&target->version[0], &target->version[1]);
}

tn_status cuda_compiler_begin(struct cuda_device *device, struct cuda_target *target,
			      struct tn_error_info *error, const char *operation)
{
	const char *function = NULL;
	char text[256];
	if (target->version[0])
		return TN_OK;
	tn_status status = cuda_compiler_open(&device->compiler, device->host, device->places, text,
					      sizeof(text));
	if (status)
		return tn_plugin_fail(error, status, operation, "%s", text);
	nvrtcResult code = find_target(device, target, &function);
	if (code == NVRTC_SUCCESS)
		return TN_OK;
	target->version[0] = 0;
	return fail_nvrtc(device, error, code, operation, function);
}

/* ---- Compiling -------------------------------------------------------------------------------*/

/* An option that only saves time is left out if the compiler is older. */
static int is_known(const struct cuda_target *target, const char *option)
{
	return target->version[0] > 12 || (target->version[0] == 12 && target->version[1] >= 4) ||
	       strcmp(option, "--minimal") != 0;
}

/* Splits `text` into words in place; -1: there are too many. */
static int split_options(const struct cuda_target *target, char *text,
			 const char *options[MAX_OPTIONS], int n)
{
	char *rest = NULL;
	for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		if (!is_known(target, word))
			continue;
		if (n == MAX_OPTIONS)
			return -1;
		options[n++] = word;
	}
	return n;
}

static void log_lines(const struct cuda_device *device, int32_t level, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, "\n");
		tn_plugin_log(device->host, "cuda", level, "%.*s", (int)length, text);
		text += length + (text[length] == '\n');
	}
}

static tn_status status_of(const struct cuda_unit *unit, nvrtcResult code)
{
	if (code == NVRTC_ERROR_OUT_OF_MEMORY)
		return TN_OUT_OF_MEMORY;
	if (unit->log && code == NVRTC_ERROR_COMPILATION)
		return TN_FORMAT;
	if (unit->log && code == NVRTC_ERROR_INVALID_OPTION)
		return TN_INVALID_ARGUMENT;
	return TN_BACKEND_FAILURE;
}

static tn_status fail_compilation(const struct cuda_device *device,
				  const struct tn_plugin_text *log, const struct cuda_unit *unit,
				  struct tn_error_info *error, nvrtcResult code,
				  const char *operation)
{
	tn_status status = status_of(unit, code);
	if (log->length) {
		log_lines(device, TN_LOG_INFO, log->data);
		log_lines(device, TN_LOG_DEBUG, unit->source);
	}
	tn_plugin_fail(error, status, operation, "nvrtcCompileProgram: %s (%d): %.400s",
		       device->compiler.nvrtcGetErrorString(code), (int)code,
		       log->length ? log->data : "no log");
	if (error)
		error->native_code = code;
	return status;
}

static tn_status fetch_binary(struct cuda_device *device, const struct cuda_target *target,
			      nvrtcProgram program, struct tn_plugin_text *binary,
			      struct tn_error_info *error, const char *operation)
{
	const struct cuda_compiler *nvrtc = &device->compiler;
	size_t size = 0;
	nvrtcResult code = target->is_ptx ? nvrtc->nvrtcGetPTXSize(program, &size)
					  : nvrtc->nvrtcGetCUBINSize(program, &size);
	if (code != NVRTC_SUCCESS)
		return fail_nvrtc(device, error, code, operation,
				  target->is_ptx ? "nvrtcGetPTXSize" : "nvrtcGetCUBINSize");
	tn_plugin_text_clear(binary);
	char *to = tn_plugin_text_reserve(binary, size);
	if (!to)
		return tn_plugin_fail(error, TN_OUT_OF_MEMORY, operation, "no memory for a kernel");
	code = target->is_ptx ? nvrtc->nvrtcGetPTX(program, to) : nvrtc->nvrtcGetCUBIN(program, to);
	if (code != NVRTC_SUCCESS)
		return fail_nvrtc(device, error, code, operation,
				  target->is_ptx ? "nvrtcGetPTX" : "nvrtcGetCUBIN");
	to[size] = 0;
	binary->length = size;
	return TN_OK;
}

/* NVRTC (13.0) replaces the handlers of these signals while it compiles, and puts them back with
 * other flags: without SA_SIGINFO, with SA_RESTART.  The lock keeps a thread from taking NVRTC's
 * handlers, while another compiles, for those of the program. */
static nvrtcResult compile_keeping_signals(const struct cuda_compiler *nvrtc, nvrtcProgram program,
					   int n, const char *const *words)
{
	static const int replaced[] = {SIGINT, SIGTERM, SIGXFSZ};
	enum { N = sizeof(replaced) / sizeof(replaced[0]) };
	struct sigaction before[N];
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < N; i++)
		(void)sigaction(replaced[i], NULL, &before[i]);
	nvrtcResult code = nvrtc->nvrtcCompileProgram(program, n, words);
	for (int i = 0; i < N; i++)
		(void)sigaction(replaced[i], &before[i], NULL);
	pthread_mutex_unlock(&lock);
	return code;
}

/* Appends the options, word by word. */
static tn_status compile_unit(struct cuda_device *device, const struct cuda_target *target,
			      const struct cuda_unit *unit, int n, const char *const *words,
			      struct tn_plugin_text *binary, struct tn_error_info *error,
			      const char *operation)
{
	const struct cuda_compiler *nvrtc = &device->compiler;
	struct tn_plugin_text own = {.host = device->host}, *log = unit->log ? unit->log : &own;
	nvrtcProgram program = NULL;
	nvrtcResult code =
		nvrtc->nvrtcCreateProgram(&program, unit->source, unit->file, 0, NULL, NULL);
	if (code != NVRTC_SUCCESS)
		return fail_nvrtc(device, error, code, operation, "nvrtcCreateProgram");
	code = compile_keeping_signals(nvrtc, program, n, words);
	if (unit->log || code != NVRTC_SUCCESS) {
		/* The compiler's log; an empty text if there is none. */
		size_t size = 0;
		char *to = NULL;
		tn_plugin_text_clear(log);
		if (nvrtc->nvrtcGetProgramLogSize(program, &size) == NVRTC_SUCCESS && size > 1)
			to = tn_plugin_text_reserve(log, size);
		if (to && nvrtc->nvrtcGetProgramLog(program, to) == NVRTC_SUCCESS)
			log->length = strnlen(to, size);
		if (to)
			to[log->length] = 0;
	}
	tn_status status =
		code != NVRTC_SUCCESS
			? fail_compilation(device, log, unit, error, code, operation)
			: fetch_binary(device, target, program, binary, error, operation);
	(void)nvrtc->nvrtcDestroyProgram(&program);
	tn_plugin_text_free(&own);
	return status;
}

tn_status cuda_compile(struct cuda_device *device, const struct cuda_target *target,
		       const struct cuda_unit *unit, struct tn_plugin_text *binary,
		       struct tn_error_info *error, const char *operation)
{
	const char *words[MAX_OPTIONS] = {target->architecture, "--std=c++17"};
	struct tn_plugin_text own = {.host = device->host};
	tn_plugin_text_add(&own, unit->options);
	if (own.failed)
		return tn_plugin_fail(error, TN_OUT_OF_MEMORY, operation, "no memory for options");
	int n = own.length ? split_options(target, own.data, words, 2) : 2;
	tn_status status =
		n < 0 ? tn_plugin_fail(error, TN_INVALID_ARGUMENT, operation,
				       "more than %d options", MAX_OPTIONS - 2)
		      : compile_unit(device, target, unit, n, words, binary, error, operation);
	tn_plugin_text_free(&own);
	return status;
}
