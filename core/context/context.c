/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Opening and closing.  Opening order: variables, log, threads, backends, runtime, devices; closing
 * uses the reverse order, and a failed opening closes what it opened.
 */
#include <stdatomic.h>

#include <tenon/device.h>

#include "array/handle.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "capture/capture.h"
#include "context/context.h"
#include "context/devices.h"
#include "context/runtime.h"
#include "context/settings.h"
#include "loader/kind.h"
#include "loader/registry.h"
#include "reference/backend.h"

static tn_status check_paths(const struct tn_context_options *options, struct tn_error_info *error)
{
	if (options->n_plugin_paths && !options->plugin_paths)
		return tn_fail(error, TN_INVALID_ARGUMENT, "context_open",
			       "plugin_paths is NULL and n_plugin_paths is %zu",
			       options->n_plugin_paths);
	for (size_t i = 0; i < options->n_plugin_paths; i++) {
		const char *path = options->plugin_paths[i];
		if (!path || path[0] != '/')
			return tn_fail(error, TN_INVALID_ARGUMENT, "context_open",
				       "plugin_paths[%zu]: expected an absolute path, found '%s'",
				       i, path ? path : "(null)");
	}
	return TN_OK;
}

static tn_status check_natives(const struct tn_context_options *options,
			       struct tn_error_info *error)
{
	if (options->n_native_devices && !options->native_devices)
		return tn_fail(error, TN_INVALID_ARGUMENT, "context_open",
			       "native_devices is NULL and n_native_devices is %zu",
			       options->n_native_devices);
	for (size_t i = 0; i < options->n_native_devices; i++) {
		const struct tn_native_device *given = &options->native_devices[i];
		if (!given->device || !given->native)
			return tn_fail(error, TN_INVALID_ARGUMENT, "context_open",
				       "native_devices[%zu]: %s", i,
				       given->device ? "native is 0" : "device is NULL");
	}
	return TN_OK;
}

static tn_status copy_paths(struct tn_assembly *assembly, const struct tn_context_options *options,
			    struct tn_error_info *error)
{
	size_t n = options->n_plugin_paths;
	assembly->plugin_paths = tn_mem_zeroed(n + 1, sizeof(char *));
	for (size_t i = 0; assembly->plugin_paths && i < n; i++) {
		assembly->plugin_paths[i] = tn_mem_copy_string(options->plugin_paths[i]);
		if (!assembly->plugin_paths[i])
			break;
		assembly->n_plugin_paths++;
	}
	if (assembly->plugin_paths && assembly->n_plugin_paths == n)
		return TN_OK;
	return tn_no_memory(error, "context_open", NULL, "the plugin paths");
}

static struct tn_given_options given_of(const struct tn_context_options *options)
{
	return (struct tn_given_options){options->backend_options, options->n_backend_options};
}

static tn_status open_registry(tn_context *context, const struct tn_context_options *options,
			       struct tn_error_info *error)
{
	static const struct tn_backend_descriptor *const built_in[] = {&tn_reference_backend};
	const struct tn_registry_options registry = {
		.logger = &context->assembly->logger,
		.parameters = &context->assembly->parameters,
		.threads = context->assembly->threads,
		.paths = options->plugin_paths,
		.n_paths = options->n_plugin_paths,
		.selection = options->backend,
		.given = given_of(options),
		.built_in = built_in,
		.n_built_in = 1,
		.shares = 1,
	};
	return tn_registry_open(&registry, &context->assembly->registry, &context->assembly->report,
				error);
}

/* The variables that the plugins have read so far, among the context's own. */
static void list_variables(struct tn_assembly *assembly)
{
	tn_registry_list_variables(assembly->registry, &assembly->parameters);
	tn_registry_list_variables(assembly->last_resort, &assembly->parameters);
}

static tn_status open_all(tn_context *context, const struct tn_context_options *options,
			  struct tn_error_info *error)
{
	struct tn_assembly *assembly = context->assembly;
	struct tn_runtime *rt = &context->runtime;
	struct tn_settings settings;
	tn_logger_init(&assembly->logger);
	assembly->logger.callback = options->log;
	assembly->logger.user = options->log_user;
	const char *levels = tn_parameter_read(&assembly->parameters, "TENON_LOG", TN_LOG_HELP);
	tn_status status = levels ? tn_logger_configure(&assembly->logger, levels, error) : TN_OK;
	if (!status)
		status = tn_settings_read(&assembly->parameters, options, &settings, error);
	if (!status)
		status = copy_paths(assembly, options, error);
	if (status)
		return status;
	assembly->threads = tn_threads_create(settings.n_threads);
	if (!assembly->threads)
		return tn_no_memory(error, "context_open", NULL, "the threads");
	rt->logger = &assembly->logger;
	rt->threads = assembly->threads;
	rt->fallback = settings.fallback;
	rt->call_flags = settings.deterministic ? TN_DETERMINISTIC : 0;
	rt->ledger_time = options->ledger_time != 0;
	rt->random.seed = settings.seed;
	if (settings.check_handles)
		tn_handles_open(rt);
	if (tn_runtime_init(context))
		return tn_no_memory(error, "context_open", NULL, "the runtime");
	status = open_registry(context, options, error);
	if (!status)
		status = tn_context_open_devices(context, options, &settings, error);
	if (!status)
		list_variables(assembly);
	if (!status && assembly->parameters.failed)
		status = tn_no_memory(error, "context_open", NULL, "the environment's variables");
	return status;
}

tn_status tn_context_open(const struct tn_context_options *given, tn_context **out,
			  struct tn_error_info *error)
{
	struct tn_context_options options = tn_context_defaults();
	struct tn_error_info own;
	if (!out)
		return TN_INVALID_ARGUMENT;
	*out = NULL;
	if (!error)
		error = &own;
	tn_error_reset(error);
	tn_status status = tn_options_take(&options, sizeof(options), given,
					   "struct tn_context_options", "context_open", error);
	if (!status && options.report_on_failure)
		*options.report_on_failure = NULL;
	if (!status)
		status = check_paths(&options, error);
	const struct tn_given_options given_options = given_of(&options);
	if (!status)
		status = tn_given_options_check(&given_options, &tn_backend_kind, "context_open",
						error);
	if (!status)
		status = check_natives(&options, error);
	if (status)
		return status;
	tn_context *context = tn_mem_zeroed(1, sizeof(*context));
	if (context)
		context->assembly = tn_mem_zeroed(1, sizeof(*context->assembly));
	if (!context || !context->assembly) {
		tn_mem_free(context);
		return tn_no_memory(error, "context_open", NULL, "a context");
	}
	tn_parameters_init(&context->assembly->parameters);
	status = open_all(context, &options, error);
	if (status) {
		if (options.report_on_failure) {
			*options.report_on_failure = context->assembly->report;
			context->assembly->report = NULL;
		}
		tn_context_close(context);
		return status;
	}
	*out = context;
	return TN_OK;
}

/* In the count of users: the context is closed. */
#define CLOSED (UINT32_C(1) << 31)

static void destroy(tn_context *context)
{
	tn_context_close_devices(context);
	tn_registry_close(context->assembly->last_resort);
	tn_registry_close(context->assembly->registry);
	tn_load_report_destroy(context->assembly->report);
	tn_threads_destroy(context->assembly->threads);
	tn_parameters_release(&context->assembly->parameters);
	for (size_t i = 0; i < context->assembly->n_plugin_paths; i++)
		tn_mem_free(context->assembly->plugin_paths[i]);
	tn_mem_free(context->assembly->plugin_paths);
	tn_mem_free(context->assembly->pushed);
	if (context->runtime.is_checked) {
		*context->assembly = (struct tn_assembly){0};
		tn_handle_end_context(context, context->assembly);
		return;
	}
	tn_mem_free(context->assembly);
	tn_mem_free(context);
}

/* The program's hook and log callback are not called from now on. */
static void go_quiet(tn_context *context)
{
	tn_memory_set_hook(context, NULL, NULL);
	context->assembly->logger.level = 0;
	context->assembly->logger.n_rules = 0;
	tn_registry_silence(context->assembly->registry);
	tn_registry_silence(context->assembly->last_resort);
}

void tn_context_close(tn_context *context)
{
	if (!context || tn_handle_has_ended(&context->runtime, context, "context_close"))
		return;
	if (context->runtime.is_checked && context->runtime.tape)
		tn_log_format(&context->assembly->logger, TN_LOG_ERROR, "handle",
			      "context_close: a tape has begun and not ended");
	tn_runtime_release(context);
	/* Another thread may be the one that closes the devices, later. */
	if (atomic_load(&context->users))
		go_quiet(context);
	if (context->runtime.is_checked)
		tn_context_end_devices(context);
	tn_handles_close(&context->runtime);
	if (!atomic_fetch_or(&context->users, CLOSED))
		destroy(context);
}

void tn_context_enter(tn_context *context)
{
	atomic_fetch_add(&context->users, 1);
}

void tn_context_leave(tn_context *context)
{
	if (atomic_fetch_sub(&context->users, 1) == (CLOSED | 1))
		destroy(context);
}

tn_load_report *tn_context_report(const tn_context *context)
{
	if (!context || tn_handle_check(&context->runtime, "context_report"))
		return NULL;
	tn_context_count_devices(context);
	return context->assembly->report;
}

int tn_context_fell_back(const tn_context *context)
{
	return context && !tn_handle_check(&context->runtime, "context_fell_back") &&
	       tn_load_report_fell_back(context->assembly->report);
}

struct tn_random_state tn_random_get_state(const tn_context *context)
{
	if (!context || tn_handle_check(&context->runtime, "random_get_state"))
		return (struct tn_random_state){0, 0};
	return context->runtime.random;
}

void tn_random_set_state(tn_context *context, struct tn_random_state state)
{
	if (context && !tn_handle_check(&context->runtime, "random_set_state") &&
	    !tn_capture_refuse(&context->runtime, "random_set_state", "the state"))
		context->runtime.random = state;
}

tn_status tn_variable_at(const tn_context *context, size_t index, struct tn_variable *variable)
{
	struct tn_parameter row;
	if (!context)
		return TN_INVALID_ARGUMENT;
	if (tn_handle_check(&context->runtime, "variable_at"))
		return TN_STATE;
	if (index == 0)
		list_variables(context->assembly);
	if (!tn_parameter_at(&context->assembly->parameters, index, &row))
		return TN_INVALID_ARGUMENT;
	const struct tn_variable full = {
		.struct_size = sizeof(full),
		.name = row.name,
		.help = row.help,
		.value = row.value,
		.origin = row.ignored ? "ignored: the process is privileged"
			  : row.value ? "environment"
				      : "not set",
	};
	return tn_runtime_answer(tn_runtime_of(context->runtime.context), variable, &full,
				 sizeof(full), "struct tn_variable", "variable_at");
}
