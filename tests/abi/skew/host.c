/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A minimal host of any version: negotiates from the descriptor, takes tables by min(size),
 * provides services that follow the rules of sizes, and makes calls.
 *
 *	host FILE.so       a backend or a communicator
 *
 * Exit status: 0: as expected, 1: not, 3: refused.
 */
#include "communicator_calls.h"

#include <dlfcn.h>

/* ---- Services --------------------------------------------------------------------------------*/

static int32_t log_enabled(void *context, int32_t level, const char *subsystem)
{
	(void)context;
	(void)level;
	(void)subsystem;
	return 0;
}

static void log_text(void *context, int32_t level, const char *subsystem, const char *text,
		     size_t length)
{
	(void)context;
	(void)level;
	(void)subsystem;
	(void)text;
	(void)length;
}

static void *allocate(void *context, size_t size, size_t alignment)
{
	(void)context;
	alignment = alignment ? alignment : 16;
	return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void release(void *context, void *memory)
{
	(void)context;
	free(memory);
}

static uint32_t thread_count(void *context)
{
	(void)context;
	return 1;
}

static void parallel_for(void *context, uint64_t n, uint64_t grain,
			 void (*body)(void *argument, uint64_t begin, uint64_t end), void *argument)
{
	(void)context;
	for (uint64_t begin = 0; begin < n; begin += grain)
		body(argument, begin, begin + grain < n ? begin + grain : n);
}

static const char *parameter(void *context, const char *name, const char *help)
{
	(void)context;
	(void)name;
	(void)help;
	return NULL;
}

static const char *plugin_path(void *context)
{
	(void)context;
	return "";
}

static tn_status answer(const struct tn_call *call, tn_status status, const char *operation)
{
	struct tn_error_info own = {.status = status};
	strcpy(own.operation, operation);
	if (status && call->error)
		tn_struct_answer(call->error, &own, sizeof(own));
	return status;
}

/* Supports one program: a copy of four numbers. */
static tn_status interpret_map(void *context, const struct tn_map_args *args,
			       const struct tn_block_kernels *kernels)
{
	struct tn_map_args own;
	(void)context;
	if (tn_arguments_take(&own, sizeof(own), args) || own.call.flags ||
	    kernels->struct_size < sizeof(uint32_t))
		return answer(&own.call, TN_UNSUPPORTED, "map");
	memcpy((void *)(uintptr_t)own.outputs->buffer, (void *)(uintptr_t)own.inputs->buffer,
	       4 * sizeof(float));
	return TN_OK;
}

static tn_status interpret_reduce(void *context, const struct tn_reduce_args *args,
				  const struct tn_block_kernels *kernels)
{
	(void)context;
	(void)kernels;
	return answer(&args->call, TN_UNSUPPORTED, "reduce");
}

static tn_status print_prelude(void *context, const struct tn_print_args *args)
{
	(void)context;
	args->write(args->user, "1", 1);
	return TN_OK;
}

static tn_status print_program(void *context, const struct tn_program *program,
			       const struct tn_print_args *args)
{
	(void)program;
	return print_prelude(context, args);
}

#if LEVEL >= 1
static tn_status program_check(void *context, const struct tn_program *program,
			       uint32_t n_operations, uint64_t dtypes, const char *operation,
			       struct tn_error_info *error)
{
	(void)context;
	(void)n_operations;
	(void)dtypes;
	(void)operation;
	(void)error;
	return program ? TN_OK : TN_INVALID_ARGUMENT;
}
#endif

#if LEVEL >= 1
/* The only option of plugin.c. */
static const char *option(void *context, const char *name)
{
	(void)context;
	return strcmp(name, "mode") ? NULL : "one";
}
#endif

#if LEVEL >= 2
static uint32_t cores(void *context)
{
	(void)context;
	return 48;
}
#endif

static struct tn_host services = {
	.struct_size = sizeof(services),
	.log_enabled = log_enabled,
	.log = log_text,
	.alloc = allocate,
	.free = release,
	.thread_count = thread_count,
	.parallel_for = parallel_for,
	.parameter = parameter,
	.plugin_path = plugin_path,
	.interpret_map = interpret_map,
	.interpret_reduce = interpret_reduce,
	.print_prelude = print_prelude,
	.print_program = print_program,
#if LEVEL >= 1
	.program_check = program_check,
	.option = option,
#endif
#if LEVEL >= 2
	.cores = cores,
#endif
};

/* ---- Tables ----------------------------------------------------------------------------------*/

/* Tables are a size, padding and pointers: compares the slots that both have and that are not
 * NULL. */
static int take_table(const struct tn_backend_descriptor *plugin, void *instance, const char *id,
		      void *own, size_t own_size)
{
	const char *theirs = plugin->query(instance, id);
	uint32_t their_size;
	if (!theirs)
		return 0;
	memcpy(&their_size, theirs, sizeof(their_size));
	for (size_t at = 8; at + sizeof(void *) <= own_size && at + sizeof(void *) <= their_size;
	     at += sizeof(void *)) {
		void *slot;
		memcpy(&slot, theirs + at, sizeof(slot));
		if (slot)
			memcpy((char *)own + at, &slot, sizeof(slot));
	}
	return 1;
}

static int take_tables(const struct tn_backend_descriptor *plugin, struct peer *peer)
{
	return take_table(plugin, peer->instance, TN_TABLE_DEVICE, &peer->device,
			  sizeof(peer->device)) &&
	       take_table(plugin, peer->instance, TN_TABLE_COMPUTE, &peer->compute,
			  sizeof(peer->compute)) &&
	       take_table(plugin, peer->instance, TN_TABLE_COPY, &peer->copy, sizeof(peer->copy)) &&
	       take_table(plugin, peer->instance, TN_TABLE_MEMORY, &peer->memory,
			  sizeof(peer->memory));
}

/* The rule of versions from 1.0 on. */
static int negotiate(const struct tn_backend_descriptor *plugin, uint32_t major, uint32_t own,
		     uint32_t *effective)
{
	if (plugin->magic != TN_BACKEND_MAGIC || plugin->abi_major != major ||
	    plugin->oldest_host > own)
		return 0;
	*effective = plugin->abi_minor < own ? plugin->abi_minor : own;
	return 1;
}

static void create(const struct tn_backend_descriptor *plugin, void **instance)
{
	struct tn_error_info *error = guarded(sizeof(*error));
	error->struct_size = sizeof(*error);
	expect(plugin->create(&services, error, instance) == TN_OK, "create");
	release_guarded(error, sizeof(*error), "create: error");
}

static int refuse(void)
{
	printf("refused\n");
	return 3;
}

static int run_backend(const struct tn_backend_descriptor *plugin)
{
	struct peer peer = {.level = plugin->version[0] - '0'};
	if (!negotiate(plugin, TN_ABI_MAJOR, TN_ABI_MINOR, &peer.abi_minor))
		return refuse();
	services.abi_minor = peer.abi_minor;
	create(plugin, &peer.instance);
	expect(take_tables(plugin, &peer), "the tables");
	if (!failures)
		check_peer(&peer);
	plugin->destroy(peer.instance);
	return failures != 0;
}

static int run_communicator(const struct tn_backend_descriptor *plugin)
{
	struct communicator_peer peer = {.level = plugin->version[0] - '0'};
	if (!negotiate(plugin, TN_COMMUNICATOR_ABI_MAJOR, TN_COMMUNICATOR_ABI_MINOR,
		       &services.abi_minor))
		return refuse();
	create(plugin, &peer.instance);
	expect(take_table(plugin, peer.instance, TN_TABLE_COMMUNICATOR, &peer.table,
			  sizeof(peer.table)),
	       "the table");
	if (!failures)
		check_communicator(&peer);
	plugin->destroy(peer.instance);
	return failures != 0;
}

int main(int argc, char **argv)
{
	void *file = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	if (!file) {
		printf("%s\n", argc == 2 ? dlerror() : "usage: host FILE.so");
		return 2;
	}
	const struct tn_backend_descriptor *backend = dlsym(file, TN_BACKEND_SYMBOL);
	const struct tn_backend_descriptor *communicator = dlsym(file, TN_COMMUNICATOR_SYMBOL);
	if (backend)
		return run_backend(backend);
	return communicator ? run_communicator(communicator) : refuse();
}
