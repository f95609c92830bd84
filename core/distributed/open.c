/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Opening a communicator: choice, plugin, the other ranks, and whether they are those that the
 * launcher has started.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "array/handle.h"
#include "base/decimal.h"
#include "base/fork.h"
#include "base/memory.h"
#include "base/options.h"
#include "context/context.h"
#include "distributed/communicator.h"
#include "loader/communicators.h"
#include "loader/kind.h"
#include "loader/report.h"

#define DEFAULT_TIMEOUT 300.0

static const char operation[] = "communicator_open";

static tn_status read_timeout(struct tn_parameters *parameters, double given, double *timeout,
			      struct tn_error_info *error)
{
	const char *text = tn_parameter_read(
		parameters, "TENON_COMMUNICATOR_TIMEOUT",
		"the most seconds that an operation waits for other ranks (300); after a tenth of "
		"it a warning names rank and operation");
	if (given < 0 || !isfinite(given))
		return tn_fail(error, TN_INVALID_ARGUMENT, operation,
			       "timeout: expected seconds, 0 or more, found %g", given);
	*timeout = given > 0 ? given : DEFAULT_TIMEOUT;
	if (given > 0 || !text || !*text)
		return TN_OK;
	double value;
	if (!tn_decimal_read(text, &value) || value <= 0)
		return tn_fail(error, TN_FORMAT, "TENON_COMMUNICATOR_TIMEOUT",
			       "expected seconds, more than 0, found '%s'", text);
	*timeout = value;
	return TN_OK;
}

static struct tn_registry_options
loading_options(const tn_context *context, const struct tn_communicator_options *communicator)
{
	struct tn_assembly *assembly = context->assembly;
	return (struct tn_registry_options){
		.logger = &assembly->logger,
		.parameters = &assembly->parameters,
		.threads = assembly->threads,
		.paths = (const char *const *)assembly->plugin_paths,
		.n_paths = assembly->n_plugin_paths,
		.given = {communicator->communicator_options, communicator->n_communicator_options},
	};
}

/* One rank, without a plugin. */
static void describe_alone(tn_communicator *communicator)
{
	struct tn_communicator_description *own = &communicator->description;
	own->flags = TN_COMMUNICATOR_ORDERED;
	own->size = own->local_size = 1;
	gethostname(own->host, sizeof(own->host) - 1);
	snprintf(own->engine, sizeof(own->engine), "none");
}

static tn_status check_description(const struct tn_communicator_description *own,
				   struct tn_error_info *error)
{
	if (own->size && own->rank < own->size && own->local_size && own->local_size <= own->size &&
	    own->local_rank < own->local_size)
		return TN_OK;
	return tn_fail(
		error, TN_BAD_PLUGIN, operation,
		"the communicator describes itself as rank %u of %u, %u of %u of its machine",
		own->rank, own->size, own->local_rank, own->local_size);
}

/* Joins the other ranks. */
static tn_status join(tn_communicator *communicator, struct tn_error_info *error)
{
	struct tn_communicator_plugin *plugin = communicator->plugin;
	struct tn_communicator_description *own = &communicator->description;
	const struct tn_communicator_open_args args = {
		.call = {.struct_size = sizeof(args), .error = error}};
	void *handle = NULL;
	tn_error_reset(error);
	tn_status status = plugin->table.open(plugin->plugin.instance, &args, &handle);
	if (!status) {
		communicator->handle = handle;
		status = plugin->table.describe(handle, own);
		own->host[sizeof(own->host) - 1] = '\0';
		own->engine[sizeof(own->engine) - 1] = '\0';
	}
	if (!status)
		return check_description(own, error);
	char text[sizeof(error->text)];
	int64_t native_code = error->native_code;
	memcpy(text, error->text, sizeof(text));
	text[sizeof(text) - 1] = '\0';
	tn_fail(error, status, operation, "communicator %s cannot join the other ranks: %s",
		communicator->name, text[0] ? text : tn_status_text(status));
	error->native_code = native_code;
	return status;
}

/* Has the launcher started as many ranks as the communicator connects? */
static tn_status check_launch(const tn_communicator *communicator,
			      const struct tn_communicator_choice *choice,
			      struct tn_error_info *error)
{
	const struct tn_communicator_description *own = &communicator->description;
	const struct tn_launch *launch = tn_communicator_launch(choice, communicator->name);
	if (!launch && own->size == 1)
		launch = tn_communicator_launch(choice, NULL);
	if (!launch || launch->size == own->size)
		return TN_OK;
	return tn_fail(error, TN_REFUSED, operation,
		       "%s has started %u ranks (%s), and communicator %s (%s) connects %u: a "
		       "program and its launcher must belong to one communicator",
		       launch->launcher, launch->size, launch->size_variable, communicator->name,
		       own->engine, own->size);
}

static tn_status open_chosen(tn_communicator *communicator,
			     const struct tn_registry_options *options,
			     const struct tn_communicator_choice *choice,
			     struct tn_error_info *error)
{
	snprintf(communicator->name, sizeof(communicator->name), "%s", choice->name);
	tn_status status = tn_communicator_load(options, choice, &communicator->report,
						&communicator->plugin, error);
	if (status)
		return status;
	if (!communicator->plugin) {
		describe_alone(communicator);
		return TN_OK;
	}
	status = join(communicator, error);
	return status ? status : check_launch(communicator, choice, error);
}

tn_status tn_communicator_open(tn_context *context, const struct tn_communicator_options *given,
			       tn_communicator **out, struct tn_error_info *error)
{
	struct tn_communicator_options options = tn_communicator_defaults();
	struct tn_communicator_choice choice = {.was_asked = 0};
	struct tn_error_info own;
	if (!error)
		error = &own;
	tn_error_reset(error);
	if (!context || !out)
		return tn_fail(error, TN_INVALID_ARGUMENT, operation, "%s is NULL",
			       context ? "communicator" : "context");
	if (tn_handle_check(tn_runtime_of(context), operation))
		return tn_fail(error, TN_STATE, operation, "the context has been closed");
	*out = NULL;
	tn_status status = tn_options_take(&options, sizeof(options), given,
					   "struct tn_communicator_options", operation, error);
	if (status)
		return status;
	tn_communicator *made = tn_mem_zeroed(1, sizeof(*made));
	if (!made)
		return tn_no_memory(error, operation, NULL, "a communicator");
	made->runtime = tn_runtime_of(context);
	made->fork_generation = tn_fork_generation();
	made->description.struct_size = sizeof(made->description);
	const struct tn_registry_options loading = loading_options(context, &options);
	status = read_timeout(&context->assembly->parameters, options.timeout, &made->timeout,
			      error);
	if (!status)
		status = tn_given_options_check(&loading.given, &tn_communicator_kind, operation,
						error);
	if (!status)
		status = tn_communicator_choose(&loading, options.name, &choice, error);
	if (!status)
		status = open_chosen(made, &loading, &choice, error);
	/* A variable that could not be read counts as not set. */
	if (!status && context->assembly->parameters.failed)
		status = tn_no_memory(error, operation, NULL, "the environment's variables");
	tn_communicator_choice_release(&choice);
	if (status)
		tn_communicator_close(made);
	else
		*out = made;
	return status;
}

tn_status tn_communicator_list(tn_context *context, tn_load_report **report,
			       struct tn_error_info *error)
{
	struct tn_communicator_choice choice = {.was_asked = 0};
	struct tn_error_info own;
	if (!error)
		error = &own;
	tn_error_reset(error);
	if (!context || !report)
		return tn_fail(error, TN_INVALID_ARGUMENT, operation, "%s is NULL",
			       context ? "report" : "context");
	if (tn_handle_check(tn_runtime_of(context), operation))
		return tn_fail(error, TN_STATE, operation, "the context has been closed");
	*report = NULL;
	const struct tn_communicator_options none = tn_communicator_defaults();
	const struct tn_registry_options options = loading_options(context, &none);
	tn_status status = tn_communicator_choose(&options, NULL, &choice, error);
	struct tn_error_info unchosen = *error;
	if (status != TN_OUT_OF_MEMORY) {
		if (status)
			snprintf(choice.name, sizeof(choice.name), "none");
		status = tn_communicator_load(&options, &choice, report, NULL, error);
	}
	tn_communicator_choice_release(&choice);
	if (!status && unchosen.status && !tn_report_add_notice(*report, unchosen.text))
		status = tn_no_memory(error, operation, NULL, "the report");
	if (status) {
		tn_load_report_destroy(*report);
		*report = NULL;
	}
	return status;
}
