/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Kernels from source.  The core passes text, arrays and values to the device, and does the rest:
 * it checks that arrays live there and that no gradient is lost, and increments their versions.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <tenon/kernel.h>

#include "array/array.h"
#include "array/make.h"
#include "base/fork.h"
#include "array/handle.h"
#include "base/memory.h"
#include "capture/capture.h"
#include "device/device.h"
#include "device/open.h"
#include "device/transfer.h"
#include "device/turn.h"
#include "dispatch/ledger.h"

/* Up to this many arguments need no heap memory. */
enum { FEW_ARGUMENTS = 16 };

struct tn_kernel {
	struct tn_runtime *runtime;
	struct tn_device *device;
	void *handle;
	char name[128]; /* for errors */
	int was_launched;
	uint32_t references;
	int has_ended; /* for the program; captured work may still launch it */
};

/* ---- Compiling -------------------------------------------------------------------------------*/

static tn_status check_source(struct tn_runtime *runtime, const struct tn_kernel_source *source)
{
	if (!source->format || !source->text || !source->name || !*source->name)
		return tn_fail(&runtime->report, TN_INVALID_ARGUMENT, "compile",
			       "expected a format, a text and a name, one is missing");
	if (source->device->context != runtime->context)
		return tn_fail(&runtime->report, TN_DEVICE, "compile",
			       "%s belongs to another context", source->device->name);
	return tn_device_open(source->device, &runtime->report);
}

static tn_status compile_source(struct tn_kernel *kernel, const struct tn_kernel_source *source)
{
	struct tn_device *device = kernel->device;
	struct tn_error_info *error = &kernel->runtime->report;
	struct tn_compile_log log = {.struct_size = sizeof(log),
				     .text = source->log,
				     .size = source->log ? source->log_size : 0};
	struct tn_compile_args args = {.call = {.struct_size = sizeof(args), .error = error},
				       .format = source->format,
				       .source = source->text,
				       .name = source->name,
				       .options = source->options,
				       .log = &log,
				       .source_size = source->text_size};
	if (log.size)
		log.text[0] = '\0';
	tn_error_reset(error);
	tn_status status;
	if (tn_backend_has_all(device->backend, TN_SLOT_COMPILE, TN_SLOT_KERNEL_RELEASE))
		status =
			tn_turn_end(device, device->backend->compile.compile(
						    tn_turn_begin(device), &args, &kernel->handle));
	else
		status = tn_fail(
			error, TN_UNSUPPORTED, "compile",
			"the backend has no compiler for kernels from source (" TN_TABLE_COMPILE
			")");
	if (!status && !kernel->handle)
		status = tn_fail(error, TN_BACKEND_FAILURE, "compile",
				 "the backend returned no handle");
	if (source->log_length)
		*source->log_length = (size_t)log.length;
	return tn_device_answer(device, status, error);
}

tn_kernel *tn_kernel_compile(tn_context *context, const struct tn_kernel_source *source)
{
	if (!context || !source)
		return NULL;
	struct tn_runtime *runtime = tn_runtime_of(context);
	struct tn_kernel_source own = tn_kernel_source_defaults();
	if (tn_runtime_take(runtime, &own, sizeof(own), source, "struct tn_kernel_source",
			    "compile"))
		return NULL;
	if (own.log_length)
		*own.log_length = 0;
	if (tn_runtime_ready(runtime))
		return NULL;
	if (!own.device)
		own.device = runtime->device;
	tn_status status = check_source(runtime, &own);
	tn_kernel *kernel = status ? NULL : tn_mem_zeroed(1, sizeof(*kernel));
	if (!status && !kernel)
		status = tn_no_memory(&runtime->report, "compile", NULL, "a kernel");
	if (kernel) {
		kernel->runtime = runtime;
		kernel->device = own.device;
		kernel->references = 1;
		strncpy(kernel->name, own.name, sizeof(kernel->name) - 1);
		status = compile_source(kernel, &own);
	}
	if (!status)
		return kernel;
	tn_mem_free(kernel);
	tn_runtime_keep(runtime, &runtime->report);
	return NULL;
}

/* ---- Releasing -------------------------------------------------------------------------------*/

/* An error of the device is reported by the next synchronising call. */
static void release_handle(struct tn_kernel *kernel)
{
	struct tn_device *device = kernel->device;
	struct tn_error_info error;
	struct tn_kernel_args args = {.call = {.struct_size = sizeof(args), .error = &error},
				      .kernel = kernel->handle};
	if (kernel->was_launched)
		tn_device_settle(device);
	tn_error_reset(&error);
	if (tn_device_answer(device,
			     tn_turn_end(device, device->backend->compile.kernel_release(
							 tn_turn_begin(device), &args)),
			     &error))
		tn_log_format(device->logger, TN_LOG_WARNING, "kernel", "%s: %s", kernel->name,
			      error.text);
}

static void release_kernel(tn_kernel *kernel);

static void drop_reference(void *kernel)
{
	release_kernel(kernel);
}

/* Captured work launches the kernel, which must then live as long as the work. */
static tn_status keep_for_capture(tn_kernel *kernel)
{
	int is_new;
	tn_status status = tn_capture_keep(kernel->runtime, kernel, drop_reference, &is_new);
	kernel->references += (uint32_t)is_new;
	return status;
}

static void release_kernel(tn_kernel *kernel)
{
	if (--kernel->references)
		return;
	/* During a capture it is impossible to wait for the kernel to end: the captured work keeps
	 * it. */
	if (kernel->runtime->capture && !keep_for_capture(kernel))
		return;
	/* In a forked child the handle belongs to the parent. */
	if (kernel->device->fork_generation == tn_fork_generation())
		release_handle(kernel);
	tn_handle_end(&kernel->runtime, kernel, "the kernel");
}

void tn_kernel_destroy(tn_kernel *kernel)
{
	if (!kernel || tn_handle_has_ended(kernel->runtime, kernel, "kernel_destroy") ||
	    tn_handle_refuse(kernel->runtime, kernel->has_ended, "kernel_destroy",
			     "the kernel has been destroyed"))
		return;
	kernel->has_ended = 1;
	release_kernel(kernel);
}

/* ---- Launching -------------------------------------------------------------------------------*/

static tn_status check_argument(const struct tn_kernel *kernel, size_t i,
				const struct tn_kernel_argument *argument)
{
	struct tn_runtime *runtime = kernel->runtime;
	const tn_array *array = argument->array;
	if (!array && (!argument->value || !argument->size || argument->size > UINT32_MAX))
		return tn_fail(&runtime->report, TN_INVALID_ARGUMENT, kernel->name,
			       "argument %zu is neither an array nor a value", i);
	if (!array)
		return TN_OK;
	if (tn_handle_check(array->runtime, kernel->name))
		return TN_STATE;
	if (array->runtime != runtime || tn_array_home(array) != kernel->device)
		return tn_fail(&runtime->report, TN_DEVICE, kernel->name,
			       "argument %zu: the array is on %s%s, the kernel on %s", i,
			       tn_array_home(array)->name,
			       array->runtime == runtime ? "" : " of another context",
			       kernel->device->name);
	if (!argument->is_read_only && tn_storage_is_read_only(array->storage)) {
		char name[64];
		snprintf(name, sizeof(name), "argument %zu, which is not read-only", i);
		return tn_storage_refuse_write(runtime, kernel->name, name, array->storage);
	}
	return tn_refuse_tracked(runtime, kernel->name, 1, &array);
}

static uint32_t at_least_1(uint32_t n)
{
	return n ? n : 1;
}

static tn_status launch_filled(struct tn_kernel *kernel, const struct tn_kernel_grid *grid,
			       size_t n, const struct tn_launch_argument *arguments)
{
	struct tn_runtime *runtime = kernel->runtime;
	struct tn_device *device = kernel->device;
	struct tn_launch_args args = {.call = {.struct_size = sizeof(args),
					       .stream = device->stream,
					       .error = &runtime->report},
				      .kernel = kernel->handle,
				      .shared_bytes = grid->shared_bytes,
				      .n_arguments = (uint32_t)n,
				      .arguments = arguments};
	tn_status status = tn_device_ready(device, &runtime->report);
	if (status)
		return status;
	for (int axis = 0; axis < 3; axis++) {
		args.grid[axis] = at_least_1(grid->blocks[axis]);
		args.block[axis] = at_least_1(grid->threads[axis]);
	}
	tn_error_reset(&runtime->report);
	kernel->was_launched = 1;
	status = tn_turn_end(device, device->backend->compile.launch(tn_turn_begin(device), &args));
	return tn_device_answer(device, status, &runtime->report);
}

static tn_status fill_and_launch(struct tn_kernel *kernel, const struct tn_kernel_grid *grid,
				 size_t n, const struct tn_kernel_argument *arguments)
{
	struct tn_runtime *runtime = kernel->runtime;
	struct tn_launch_argument few[FEW_ARGUMENTS], *filled = few;
	tn_status status = TN_OK;
	if (n > FEW_ARGUMENTS)
		filled = tn_mem_zeroed(n, sizeof(*filled));
	if (!filled)
		return tn_fail(&runtime->report, TN_OUT_OF_MEMORY, kernel->name,
			       "no host memory for %zu arguments", n);
	tn_observe_unrepeatable(runtime);
	for (size_t i = 0; i < n && !status; i++) {
		const tn_array *array = arguments[i].array;
		status = check_argument(kernel, i, &arguments[i]);
		if (!array) {
			filled[i] = (struct tn_launch_argument){.size = (uint32_t)arguments[i].size,
								.value = arguments[i].value};
			continue;
		}
		tn_array_use(array);
		filled[i] = (struct tn_launch_argument){.is_buffer = 1,
							.buffer = array->storage->block.buffer,
							.offset = tn_array_byte_offset(array)};
	}
	if (!status)
		status = keep_for_capture(kernel);
	if (!status)
		status = launch_filled(kernel, grid, n, filled);
	for (size_t i = 0; i < n && !status; i++) {
		if (arguments[i].array && !arguments[i].is_read_only)
			tn_array_touch(arguments[i].array);
	}
	if (!status)
		tn_ledger_row_of(runtime->ledger, tn_operation_named(runtime, "kernel"))->native++;
	if (filled != few)
		tn_mem_free(filled);
	return status;
}

tn_status tn_kernel_launch(tn_kernel *kernel, struct tn_kernel_grid grid, size_t n_arguments,
			   const struct tn_kernel_argument *arguments)
{
	if (!kernel || (n_arguments && !arguments))
		return TN_INVALID_ARGUMENT;
	struct tn_runtime *runtime = kernel->runtime;
	tn_status status = tn_runtime_ready(runtime);
	if (!status)
		status = tn_handle_refuse(runtime, kernel->has_ended, kernel->name,
					  "the kernel has been destroyed");
	if (status)
		return status;
	if (n_arguments > UINT32_MAX)
		status = tn_fail(&runtime->report, TN_INVALID_ARGUMENT, kernel->name,
				 "%zu arguments, expected at most %u", n_arguments, UINT32_MAX);
	else
		status = fill_and_launch(kernel, &grid, n_arguments, arguments);
	return tn_end_into(runtime, status);
}
