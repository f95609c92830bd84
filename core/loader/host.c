/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Each service forwards its arguments to the layer that implements it.  A plugin's messages always
 * carry its name as subsystem, so that TENON_LOG=NAME=off silences it.
 */
#include "loader/host.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "interpret/interpret.h"
#include "loader/plugin_options.h"
#include "program/prelude.h"
#include "program/printer.h"
#include "program/program.h"
#include "program/random.h"

static int32_t log_enabled(void *context, int32_t level, const char *subsystem)
{
	const struct tn_host_services *services = context;
	(void)subsystem;
	return tn_log_wanted(services->logger, level, services->name);
}

static void log_text(void *context, int32_t level, const char *subsystem, const char *text,
		     size_t length)
{
	const struct tn_host_services *services = context;
	if (!subsystem || !*subsystem || !strcmp(subsystem, services->name))
		tn_log_text(services->logger, level, services->name, text, length);
	else
		tn_log_format(services->logger, level, services->name, "%s: %.*s", subsystem,
			      length > 1000 ? 1000 : (int)length, text);
}

static void *alloc(void *context, size_t size, size_t alignment)
{
	(void)context;
	return alignment ? tn_mem_aligned(size, alignment) : tn_mem_alloc(size);
}

static void free_memory(void *context, void *memory)
{
	(void)context;
	tn_mem_free(memory);
}

static uint32_t thread_count(void *context)
{
	const struct tn_host_services *services = context;
	return tn_threads_count(services->threads);
}

static void parallel_for(void *context, uint64_t n, uint64_t grain,
			 void (*body)(void *argument, uint64_t begin, uint64_t end), void *argument)
{
	struct tn_host_services *services = context;
	/* Work for one thread bypasses the pool. */
	if (n && n <= grain)
		body(argument, 0, n);
	else
		tn_parallel_for(services->threads, n, grain, body, argument);
}

static const char *parameter(void *context, const char *name, const char *help)
{
	struct tn_host_services *services = context;
	return tn_parameter_read(services->parameters, name, help);
}

static const char *plugin_path(void *context)
{
	const struct tn_host_services *services = context;
	return services->path;
}

static const char *option(void *context, const char *name)
{
	const struct tn_host_services *services = context;
	return services->plugin ? tn_plugin_options_value(services->plugin, name) : NULL;
}

/* A plugin's error struct has the size of the plugin's header, so the interpreter, which fills this
 * library's struct, must not write to it. */
static int has_other_error(const struct tn_call *call)
{
	return call->struct_size >= sizeof(*call) && call->error &&
	       call->error->struct_size != sizeof(struct tn_error_info);
}

/* A status without a text is due to arguments of another version. */
static tn_status give_error(const struct tn_call *call, struct tn_error_info *error,
			    tn_status status, const char *operation)
{
	if (status && !error->status)
		tn_fail(error, status, operation,
			"the arguments have fields that this version does not support");
	if (status)
		tn_struct_answer(call->error, error, sizeof(*error));
	return status;
}

static tn_status interpret_map(void *context, const struct tn_map_args *args,
			       const struct tn_block_kernels *kernels)
{
	struct tn_host_services *services = context;
	struct tn_map_args own;
	struct tn_error_info error;
	if (!has_other_error(&args->call))
		return tn_interpret_map(services->threads, args, kernels);
	tn_error_reset(&error);
	tn_status status = tn_arguments_take(&own, sizeof(own), args);
	own.call.error = &error;
	if (!status)
		status = tn_interpret_map(services->threads, &own, kernels);
	return give_error(&args->call, &error, status, "map");
}

static tn_status interpret_reduce(void *context, const struct tn_reduce_args *args,
				  const struct tn_block_kernels *kernels)
{
	struct tn_host_services *services = context;
	struct tn_reduce_args own;
	struct tn_error_info error;
	if (!has_other_error(&args->call))
		return tn_interpret_reduce(services->threads, args, kernels);
	tn_error_reset(&error);
	tn_status status = tn_arguments_take(&own, sizeof(own), args);
	own.call.error = &error;
	if (!status)
		status = tn_interpret_reduce(services->threads, &own, kernels);
	return give_error(&args->call, &error, status, "reduce");
}

static tn_status print_prelude(void *context, const struct tn_print_args *args)
{
	(void)context;
	return tn_print_prelude(args);
}

static tn_status print_program(void *context, const struct tn_program *program,
			       const struct tn_print_args *args)
{
	(void)context;
	return tn_print_program(program, args);
}

static tn_status program_check(void *context, const struct tn_program *program,
			       uint32_t n_operations, uint64_t dtypes, const char *operation,
			       struct tn_error_info *error)
{
	struct tn_error_info own;
	(void)context;
	tn_error_reset(&own);
	tn_status status = tn_program_check(program, n_operations, dtypes, operation, &own);
	if (status && error)
		tn_struct_answer(error, &own, sizeof(own));
	return status;
}

static const float *normal_table(void *context, uint64_t *size)
{
	(void)context;
	*size = sizeof(tn_normal_table);
	return &tn_normal_table[0][0];
}

struct tn_host_services *tn_host_create(const struct tn_logger *logger,
					struct tn_parameters *parameters,
					struct tn_threads *threads, const char *name,
					const char *path, uint32_t effective_minor)
{
	struct tn_host_services *services = tn_mem_zeroed(1, sizeof(*services));
	if (!services)
		return NULL;
	services->path = tn_mem_copy_string(path);
	if (path && !services->path) {
		tn_mem_free(services);
		return NULL;
	}
	services->logger = logger;
	services->parameters = parameters;
	services->threads = threads;
	snprintf(services->name, sizeof(services->name), "%s", name);
	services->host = (struct tn_host){
		.struct_size = sizeof(struct tn_host),
		.abi_minor = effective_minor,
		.context = services,
		.log_enabled = log_enabled,
		.log = log_text,
		.alloc = alloc,
		.free = free_memory,
		.thread_count = thread_count,
		.parallel_for = parallel_for,
		.parameter = parameter,
		.plugin_path = plugin_path,
		.interpret_map = interpret_map,
		.interpret_reduce = interpret_reduce,
		.print_prelude = print_prelude,
		.print_program = print_program,
		.program_check = program_check,
		.normal_table = normal_table,
		.option = option,
	};
	return services;
}

void tn_host_destroy(struct tn_host_services *services)
{
	if (!services)
		return;
	tn_mem_free(services->path);
	tn_mem_free(services);
}
