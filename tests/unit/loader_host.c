/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The services as seen by a plugin: through struct tn_host only.
 */
#include "loader/host.h"
#include "../plugins/minimal.h"
#include "loader_fixture.h"

#include <stdatomic.h>

#include <tenon/plugin.h>
#include <tenon/program.h>

#include "program/random.h"

static struct opened log_of;
static struct tn_threads *threads;
static struct tn_host_services *services;
static const struct tn_host *host;

static int start(void **state)
{
	(void)state;
	prepare(&log_of);
	threads = tn_threads_create(3);
	services = tn_host_create(&log_of.logger, &log_of.parameters, threads, "acme",
				  "/x/backend_acme.so", 1);
	host = services ? &services->host : NULL;
	return host == NULL;
}

static int stop(void **state)
{
	(void)state;
	tn_host_destroy(services);
	tn_threads_destroy(threads);
	tn_parameters_release(&log_of.parameters);
	return 0;
}

static void every_service_is_there(void **state)
{
	const void *const *slot = (const void *const *)&host->log_enabled;
	(void)state;
	while ((const char *)slot < (const char *)(host + 1))
		assert_non_null(*slot++);
	assert_int_equal(host->struct_size, sizeof(*host));
	assert_int_equal(host->abi_minor, 1);
	assert_string_equal(host->plugin_path(host->context), "/x/backend_acme.so");
}

static void messages_carry_the_backends_name(void **state)
{
	(void)state;
	host->log(host->context, TN_LOG_WARNING, "acme", "one, two", 3);
	assert_string_equal(log_of.messages, "2 acme: one\n");
	log_of.messages[0] = '\0';
	host->log(host->context, TN_LOG_WARNING, "loader", "not yours", 9);
	assert_string_equal(log_of.messages, "2 acme: loader: not yours\n");
	log_of.messages[0] = '\0';
	host->log(host->context, TN_LOG_WARNING, NULL, "text", 4);
	assert_string_equal(log_of.messages, "2 acme: text\n");
	assert_ok(tn_logger_configure(&log_of.logger, "acme=off", NULL));
	assert_false(host->log_enabled(host->context, TN_LOG_ERROR, "other"));
	host->log(host->context, TN_LOG_ERROR, "other", "text", 4);
	assert_int_equal(log_of.n_messages, 3);
}

static void memory_is_aligned_as_asked(void **state)
{
	(void)state;
	for (size_t alignment = 0; alignment <= 4096; alignment = alignment ? alignment * 2 : 1) {
		char *memory = host->alloc(host->context, 100, alignment);
		assert_non_null(memory);
		assert_int_equal((uintptr_t)memory & (alignment ? alignment - 1 : 0), 0);
		memset(memory, 1, 100);
		host->free(host->context, memory);
	}
	host->free(host->context, NULL);
}

static void count(void *argument, uint64_t begin, uint64_t end)
{
	atomic_fetch_add((_Atomic uint64_t *)argument, end - begin);
}

static void the_pool_does_the_whole_range(void **state)
{
	_Atomic uint64_t done = 0;
	(void)state;
	assert_int_equal(host->thread_count(host->context), 3);
	host->parallel_for(host->context, 1000, 7, count, &done);
	assert_int_equal(done, 1000);
}

/* 1: parallel_for did all of it. */
static int works_in_parallel(const struct tn_host *own)
{
	_Atomic uint64_t done = 0;
	own->parallel_for(own->context, 1000, 7, count, &done);
	return done == 1000;
}

static tn_status create_in_parallel(const struct tn_host *own, struct tn_error_info *error,
				    void **instance)
{
	return works_in_parallel(own) && own->thread_count(own->context) == 3
		       ? minimal_create(own, error, instance)
		       : TN_INTERNAL;
}

static tn_status open_in_parallel(void *instance, const struct tn_open_args *args, void **device)
{
	if (!works_in_parallel(((const struct minimal *)instance)->host))
		return TN_INTERNAL;
	return minimal_open(instance, args, device);
}

static struct tn_device_table parallel_device;

static const void *query_parallel(void *instance, const char *table)
{
	return strcmp(table, TN_TABLE_DEVICE) ? minimal_query(instance, table) : &parallel_device;
}

static void the_pool_works_for_create_and_open(void **state)
{
	static const struct tn_backend_descriptor descriptor = {
		.struct_size = sizeof(descriptor),
		.magic = TN_BACKEND_MAGIC,
		.abi_major = TN_ABI_MAJOR,
		.abi_minor = TN_ABI_MINOR,
		.oldest_host = TN_ABI_OLDEST_HOST,
		.uuid = {8},
		.name = "parallel",
		.version = "1",
		.licence = "Apache-2.0",
		.create = create_in_parallel,
		.destroy = minimal_destroy,
		.query = query_parallel,
	};
	static const struct tn_backend_descriptor *const built_in[] = {&descriptor};
	struct tn_open_args args = {.call = {.struct_size = sizeof(args)}};
	struct opened opened;
	void *device;
	(void)state;
	memcpy(&parallel_device, minimal_query(NULL, TN_TABLE_DEVICE), sizeof(parallel_device));
	parallel_device.open = open_in_parallel;
	prepare(&opened);
	opened.options.n_paths = 0;
	opened.options.built_in = built_in;
	opened.options.n_built_in = 1;
	opened.options.threads = threads;
	assert_ok(open_prepared(&opened));
	const struct tn_backend *backend = tn_registry_find(opened.registry, "parallel");
	assert_ok(backend->device.open(backend->plugin.instance, &args, &device));
	backend->device.close(device);
	release(&opened);
}

static void a_parameter_is_declared_with_its_help(void **state)
{
	(void)state;
	setenv("TENON_ACME_SPEED", "9", 1);
	assert_string_equal(host->parameter(host->context, "TENON_ACME_SPEED", "how fast"), "9");
	assert_null(host->parameter(host->context, "TENON_ACME_NONE", "not set"));
	assert_int_equal(log_of.parameters.n, 2);
	assert_string_equal(log_of.parameters.list[0].help, "how fast");
	unsetenv("TENON_ACME_SPEED");
}

static void the_interpreter_is_reached(void **state)
{
	/* out = -in, by the program that a plugin would get. */
	static const struct tn_instruction instructions[] = {{.op = TN_OP_INPUT, .dtype = TN_F32},
							     {.op = TN_OP_NEG, .dtype = TN_F32}};
	static const uint16_t outputs[] = {1};
	float in[5] = {1, 2, 3, 4, 5}, out[5] = {0};
	const struct tn_program program = {
		.struct_size = sizeof(program),
		.n_inputs = 1,
		.n_outputs = 1,
		.n_instructions = 2,
		.instructions = instructions,
		.outputs = outputs,
	};
	struct tn_operand from = {.buffer = (uint64_t)(uintptr_t)in,
				  .dtype = TN_F32,
				  .rank = 1,
				  .shape = {5},
				  .strides = {1}};
	struct tn_operand to = from;
	to.buffer = (uint64_t)(uintptr_t)out;
	struct tn_map_args args = {.call.struct_size = sizeof(args),
				   .program = &program,
				   .inputs = &from,
				   .outputs = &to};
	(void)state;
	assert_ok(host->interpret_map(host->context, &args, NULL));
	for (int i = 0; i < 5; i++)
		assert_close(out[i], -in[i], 0);
}

static void a_program_is_printed(void **state)
{
	struct tn_program_names names = {.struct_size = sizeof(names)};
	struct tn_program *program;
	struct tn_plugin_text text;
	(void)state;
	assert_ok(tn_program_parse("z = 1.5", &names, &program, NULL));
	tn_plugin_text_init(&text, host);
	assert_ok(tn_plugin_text_print(&text, tn_plugin_dialect_c(), NULL, NULL));
	assert_contains(text.data, "tn_add_i64");
	tn_plugin_text_clear(&text);
	assert_ok(tn_plugin_text_print(&text, tn_plugin_dialect_c(), program, "k_"));
	assert_string_equal(text.data,
			    "const tn_f32 k_v0 = TN_F32(1.5);\nconst tn_f32 k_out0 = k_v0;\n");
	/* A refused program gives no source. */
	assert_status(tn_plugin_text_print(&text, NULL, program, "k_"), TN_INVALID_ARGUMENT);
	assert_true(text.failed);
	tn_plugin_text_free(&text);
	tn_program_destroy(program);
}

/* A plugin's error struct may have another size than the host's. */
static void a_program_is_checked(void **state)
{
	const struct tn_program program = {.struct_size = sizeof(program)};
	struct tn_error_info error = {.struct_size = 16};
	(void)state;
	assert_status(host->program_check(host->context, &program, TN_OP_COUNT, UINT64_MAX, "map",
					  &error),
		      TN_INVALID_ARGUMENT);
	assert_int_equal(error.status, TN_INVALID_ARGUMENT);
	assert_int_equal(error.operation[0], '\0');
}

/* The formula of tenon-program(7), normal_quantile. */
static float normal_of(const float *table, uint32_t word)
{
	const uint32_t h = word >> 31 ? ~word : word;
	const uint32_t g = 2 * h + 1, zeros = (uint32_t)__builtin_clz(g), n = g << zeros;
	const float *c = table + 5 * (8 * (31 - zeros) + (n >> 28 & 7));
	const float u = (float)((int32_t)(n >> 4 & 0xffffff) - 0x800000) * 0x1p-23f;
	volatile float q = c[4];
	for (int k = 3; k >= 0; k--) {
		q *= u; /* rounded, since it is stored */
		q += c[k];
	}
	return word >> 31 ? q : -q;
}

static void the_table_of_normal_numbers_is_data(void **state)
{
	uint64_t size = 0;
	const float *table = host->normal_table(host->context, &size);
	(void)state;
	assert_int_equal(size, 256 * 5 * sizeof(float));
	for (uint32_t i = 0; i < 1000; i++) {
		const uint32_t word = i < 2 ? 0 - i : i * 2654435761u;
		const float found = normal_of(table, word), expected = tn_normal(word);
		assert_memory_equal(&found, &expected, sizeof(found));
	}
}

#define test(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(every_service_is_there),
		test(messages_carry_the_backends_name),
		test(memory_is_aligned_as_asked),
		test(the_pool_does_the_whole_range),
		test(the_pool_works_for_create_and_open),
		test(a_parameter_is_declared_with_its_help),
		test(the_interpreter_is_reached),
		test(a_program_is_printed),
		test(a_program_is_checked),
		test(the_table_of_normal_numbers_is_data),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
