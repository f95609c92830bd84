/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The instances of this process, and which context uses which.
 *
 *	tn_context_open    loads each plugin: the stages up to `describe` are its own
 *	  stage create     tn_instance_take finds an equal instance, or creates one and lists it
 *	  later stages     are its own again, in turn with other users: tables, devices
 *	tn_device_open     finds the device in the instance's list, or opens it (device/opened.c)
 *	calls              in turn per device (device/turn.h), each context in a stream of its own
 *	tn_device_destroy  closes the device when its last user leaves
 *	tn_registry_close  tn_instance_give destroys the instance when its last user leaves
 *
 * Instances are equal when a plugin could not tell them apart: the same mapped file by the same
 * path, the same effective version, values of options, number of threads, log (callback, user and
 * levels), and the same values of all variables that the services have read for it so far.  So a
 * message reaches the callback of the context that caused it, and a variable that has changed
 * counts for new contexts.  What a backend's devices are is asked once (backend.c).
 *
 * What the services use is the instance's own: copies of log and variables, and a share in the
 * threads of the first context.  A context lists the variables of its instances as its own.
 *
 * One mutex guards the list and the counts, and is never held while code of a plugin runs.  An
 * instance is in the list before `create` is called.  Who would need an equal one waits until it is
 * made, or makes another if that has failed or has read other variables; a `create` that hangs
 * stops nobody else.  In a forked child the instances are the parent's: the list begins empty, the
 * mutex free, and a context of the parent that is closed there frees its memory and no more.
 */
#include "loader/instance.h"

#include <string.h>

#include "base/error.h"
#include "base/fork.h"
#include "base/memory.h"
#include "loader/host.h"
#include "loader/plugin_options.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t is_made = PTHREAD_COND_INITIALIZER; /* one was made, or could not be */
static struct tn_instance *instances;

static void forget_all(void)
{
	instances = NULL;
	pthread_mutex_init(&mutex, NULL);
	pthread_cond_init(&is_made, NULL);
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forget_all);
}

/* ---- Equality --------------------------------------------------------------------------------*/

static int is_same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static int has_options(const struct tn_instance *instance, const struct tn_plugin *plugin)
{
	const struct tn_option_value *own = instance->plugin.options;
	for (size_t i = 0; i < plugin->n_options; i++) {
		if (!is_same_text(own[i].value, plugin->options[i].value))
			return 0;
	}
	return 1;
}

static int has_log(const struct tn_instance *instance, const struct tn_logger *logger)
{
	const struct tn_logger *own = &instance->logger;
	if (!logger)
		return own->level == 0;
	if (own->callback != logger->callback || own->user != logger->user ||
	    own->level != logger->level || own->n_rules != logger->n_rules)
		return 0;
	for (size_t i = 0; i < own->n_rules; i++) {
		if (own->rules[i].level != logger->rules[i].level ||
		    strcmp(own->rules[i].subsystem, logger->rules[i].subsystem) != 0)
			return 0;
	}
	return 1;
}

/* Would it have read the same values now? */
static int has_variables(const struct tn_instance *instance, struct tn_parameters *parameters)
{
	struct tn_parameter row;
	for (size_t i = 0; tn_parameter_at(&instance->parameters, i, &row); i++) {
		if (!is_same_text(row.value, tn_parameter_read(parameters, row.name, row.help)))
			return 0;
	}
	return !instance->parameters.failed;
}

/* An equal one, or one that is being made and may be equal: what it reads is not known yet. */
static struct tn_instance *find(const struct tn_registry_options *options,
				const struct tn_backend_descriptor *origin, const char *path,
				const struct tn_plugin *plugin)
{
	struct tn_instance *made_soon = NULL;
	for (struct tn_instance *instance = instances; instance; instance = instance->next) {
		if (instance->origin != origin || atomic_load(&instance->is_lost) ||
		    instance->plugin.abi_minor != plugin->abi_minor ||
		    !is_same_text(instance->plugin.path, path) || !has_options(instance, plugin) ||
		    tn_threads_count(instance->threads) != tn_threads_count(options->threads) ||
		    !has_log(instance, options->logger))
			continue;
		if (instance->is_being_made)
			made_soon = instance;
		else if (has_variables(instance, options->parameters))
			return instance;
	}
	return made_soon;
}

/* ---- Making ----------------------------------------------------------------------------------*/

static void free_record(struct tn_instance *instance)
{
	tn_host_destroy(instance->services);
	tn_plugin_options_release(&instance->plugin);
	if (instance->is_shared) {
		tn_parameters_release(&instance->parameters);
		tn_threads_destroy(instance->threads);
	}
	pthread_mutex_destroy(&instance->turn);
	tn_mem_free(instance->devices);
	tn_mem_free(instance);
}

static struct tn_host_services *make_services(struct tn_instance *instance,
					      const struct tn_registry_options *options,
					      const char *path)
{
	const struct tn_plugin *plugin = &instance->plugin;
	if (!instance->is_shared)
		return tn_host_create(options->logger, options->parameters, options->threads,
				      plugin->name, path, plugin->abi_minor);
	if (options->logger)
		instance->logger = *options->logger;
	tn_parameters_init(&instance->parameters);
	instance->parameters.privileged = options->parameters->privileged;
	instance->threads = tn_threads_share(options->threads);
	return tn_host_create(&instance->logger, &instance->parameters, instance->threads,
			      plugin->name, path, plugin->abi_minor);
}

/* The values of the options move from the plugin to the instance. */
static struct tn_instance *make_record(const struct tn_registry_options *options,
				       const struct tn_backend_descriptor *origin, const char *path,
				       struct tn_plugin *plugin)
{
	struct tn_instance *made = tn_mem_zeroed(1, sizeof(*made));
	if (!made)
		return NULL;
	made->origin = origin;
	made->is_shared = options->shares;
	made->fork_generation = tn_fork_generation();
	pthread_mutex_init(&made->turn, NULL);
	made->plugin = *plugin;
	plugin->options = NULL;
	plugin->n_options = 0;
	made->services = make_services(made, options, path);
	if (!made->services) {
		free_record(made);
		return NULL;
	}
	made->services->plugin = &made->plugin;
	made->plugin.path = made->services->path;
	return made;
}

static tn_status create(const struct tn_registry_options *options, struct tn_instance *made,
			struct tn_error_info *error)
{
	const struct tn_backend_descriptor *descriptor = &made->plugin.descriptor;
	tn_status status = descriptor->create(&made->services->host, error, &made->plugin.instance);
	if (!status && made->parameters.failed) {
		descriptor->destroy(made->plugin.instance);
		status = tn_no_memory(error, "create", NULL, "the environment's variables");
	}
	if (status)
		tn_instance_list_variables(made, options->parameters);
	return status;
}

static void join(struct tn_instance *instance, struct tn_plugin *plugin)
{
	instance->n_users++;
	if (instance->n_listeners++ == 0 && instance->is_shared)
		atomic_store(&instance->services->logger, &instance->logger);
	plugin->shared = instance;
	plugin->services = instance->services;
	plugin->instance = instance->plugin.instance;
	plugin->path = instance->plugin.path;
}

static void unlist(const struct tn_instance *instance)
{
	struct tn_instance **link = &instances;
	while (*link && *link != instance)
		link = &(*link)->next;
	if (*link)
		*link = instance->next;
}

/* Makes an instance and lists it; begins and ends with the mutex, if it is shared. */
static tn_status make(const struct tn_registry_options *options,
		      const struct tn_backend_descriptor *origin, const char *path,
		      struct tn_plugin *plugin, struct tn_instance **result,
		      struct tn_error_info *error)
{
	struct tn_instance *made = make_record(options, origin, path, plugin);
	if (!made)
		return TN_OUT_OF_MEMORY;
	if (made->is_shared) {
		made->is_being_made = 1;
		made->next = instances;
		instances = made;
		pthread_mutex_unlock(&mutex);
	}
	tn_status status = create(options, made, error);
	if (made->is_shared) {
		pthread_mutex_lock(&mutex);
		made->is_being_made = 0;
		pthread_cond_broadcast(&is_made);
		if (status)
			unlist(made);
	}
	if (status)
		free_record(made);
	else
		*result = made;
	return status;
}

tn_status tn_instance_take(const struct tn_registry_options *options,
			   const struct tn_backend_descriptor *origin, const char *path,
			   struct tn_plugin *plugin, struct tn_error_info *error)
{
	struct tn_instance *instance = NULL;
	tn_status status = TN_OK;
	if (options->shares)
		pthread_mutex_lock(&mutex);
	while (options->shares && (instance = find(options, origin, path, plugin)) &&
	       instance->is_being_made)
		pthread_cond_wait(&is_made, &mutex);
	if (!instance)
		status = make(options, origin, path, plugin, &instance, error);
	if (!status)
		join(instance, plugin);
	if (options->shares)
		pthread_mutex_unlock(&mutex);
	return status;
}

/* ---- Leaving ---------------------------------------------------------------------------------*/

static void stop_listening(struct tn_plugin *plugin)
{
	struct tn_instance *instance = plugin->shared;
	if (!plugin->is_silent && --instance->n_listeners == 0 && instance->is_shared)
		atomic_store(&instance->services->logger, NULL);
	plugin->is_silent = 1;
}

void tn_instance_silence(struct tn_plugin *plugin)
{
	if (!plugin->shared || !plugin->shared->is_shared)
		return;
	pthread_mutex_lock(&mutex);
	stop_listening(plugin);
	pthread_mutex_unlock(&mutex);
}

/* Its last messages have a listener: `destroy` may report something. */
void tn_instance_give(struct tn_plugin *plugin, int destroys)
{
	struct tn_instance *instance = plugin->shared;
	if (!instance)
		return;
	const int is_ours = instance->fork_generation == tn_fork_generation();
	if (is_ours)
		pthread_mutex_lock(&mutex);
	const int is_last = --instance->n_users == 0;
	if (!is_last)
		stop_listening(plugin);
	else if (is_ours)
		unlist(instance);
	if (is_ours)
		pthread_mutex_unlock(&mutex);
	plugin->shared = NULL;
	if (!is_last)
		return;
	if (is_ours && destroys)
		plugin->descriptor.destroy(plugin->instance);
	free_record(instance);
}

/* ---- Variables -------------------------------------------------------------------------------*/

void tn_instance_list_variables(const struct tn_instance *instance,
				struct tn_parameters *parameters)
{
	struct tn_parameter row;
	if (!instance || !instance->is_shared)
		return;
	for (size_t i = 0; tn_parameter_at(&instance->parameters, i, &row); i++)
		(void)tn_parameter_read(parameters, row.name, row.help);
	parameters->failed |= instance->parameters.failed;
}
