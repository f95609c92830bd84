/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The entries of the mock backend: handles, streams, events, and arguments that are invalid when
 * the work runs. */
#include "mock_fixture.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loader/backend.h"
#include "loader/registry.h"

enum { N = 16 };

static struct tn_parameters parameters;
static struct tn_registry *registry;
static const struct tn_backend *mock;
static void *device;
static struct tn_error_info error;

#define CALL(type, on)                                                                             \
	{                                                                                          \
		.struct_size = sizeof(type), .stream = (on), .error = &error                       \
	}

static void open_device(const char *faults)
{
	const char *path = mock_file();
	struct tn_registry_options options = {
		.parameters = &parameters, .paths = &path, .n_paths = 1, .paths_only = 1};
	struct tn_open_args args = {.call = CALL(struct tn_open_args, NULL)};
	error.struct_size = sizeof(error);
	set_faults(faults);
	tn_parameters_init(&parameters);
	assert_ok(tn_registry_open(&options, &registry, NULL, NULL));
	mock = tn_registry_find(registry, "mock");
	assert_non_null(mock);
	assert_ok(mock->device.open(mock->plugin.instance, &args, &device));
}

static void close_device(void)
{
	mock->device.close(device);
	tn_registry_close(registry);
	tn_parameters_release(&parameters);
}

/* ---- Entries in short ------------------------------------------------------------------------*/

static uint64_t make_buffer(void)
{
	struct tn_alloc_args args = {.call = CALL(struct tn_alloc_args, NULL),
				     .size = N * sizeof(float)};
	uint64_t buffer = 0;
	assert_ok(mock->device.alloc(device, &args, &buffer));
	return buffer;
}

static tn_status free_buffer(uint64_t buffer)
{
	struct tn_free_args args = {.call = CALL(struct tn_free_args, NULL), .buffer = buffer};
	return mock->device.free(device, &args);
}

static void *make_stream(void)
{
	struct tn_stream_args args = {.call = CALL(struct tn_stream_args, NULL)};
	void *stream = NULL;
	assert_ok(mock->stream.stream_create(device, &args, &stream));
	assert_non_null(stream);
	return stream;
}

static tn_status destroy_stream(void *stream)
{
	struct tn_stream_args args = {.call = CALL(struct tn_stream_args, stream)};
	return mock->stream.stream_destroy(device, &args);
}

static void *make_event(void)
{
	struct tn_event_args args = {.call = CALL(struct tn_event_args, NULL)};
	void *event = NULL;
	assert_ok(mock->stream.event_create(device, &args, &event));
	return event;
}

static tn_status on_event(tn_status (*entry)(void *, const struct tn_event_args *), void *event,
			  void *stream)
{
	struct tn_event_args args = {.call = CALL(struct tn_event_args, stream), .event = event};
	return entry(device, &args);
}

static int is_reached(void *event)
{
	struct tn_event_args args = {.call = CALL(struct tn_event_args, NULL), .event = event};
	uint32_t reached = 2;
	assert_ok(mock->stream.event_query(device, &args, &reached));
	assert_true(reached < 2);
	return (int)reached;
}

static tn_status sync_stream(void *stream)
{
	struct tn_sync_args args = {.call = CALL(struct tn_sync_args, stream)};
	return mock->device.sync(device, &args);
}

static struct tn_operand vector(uint64_t buffer)
{
	return (struct tn_operand){
		.buffer = buffer, .dtype = TN_F32, .rank = 1, .shape = {N}, .strides = {1}};
}

static tn_status fill(uint64_t buffer, float value, void *stream)
{
	struct tn_fill_args args = {.call = CALL(struct tn_fill_args, stream),
				    .output = vector(buffer),
				    .value = {.dtype = TN_F32}};
	memcpy(&args.value.bits, &value, sizeof(value));
	return mock->copy.fill(device, &args);
}

static tn_status copy(uint64_t from, uint64_t to, void *stream)
{
	struct tn_copy_args args = {.call = CALL(struct tn_copy_args, stream),
				    .input = vector(from),
				    .output = vector(to)};
	return mock->copy.copy(device, &args);
}

/* The last element after `stream` has run. */
static float read_last(uint64_t buffer, void *stream)
{
	float values[N];
	struct tn_transfer_args args = {.call = CALL(struct tn_transfer_args, stream),
					.buffer = buffer,
					.size = sizeof(values),
					.host = values};
	assert_ok(mock->device.download(device, &args));
	return values[N - 1];
}

/* ---- Memory ----------------------------------------------------------------------------------*/

static void a_handle_is_no_address(void **state)
{
	(void)state;
	open_device("");
	uint64_t buffer = make_buffer();
	pid_t child = fork();
	if (child == 0) {
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		_exit(*(volatile char *)(uintptr_t)buffer);
	}
	int status = 0;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_true(WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGBUS);
	assert_true(isnan(read_last(buffer, NULL)));
	assert_ok(free_buffer(buffer));
	close_device();
}

static void what_is_no_buffer_or_lies_outside_of_one_is_refused(void **state)
{
	(void)state;
	open_device("");
	uint64_t buffer = make_buffer(), other = make_buffer();
	assert_ok(free_buffer(other));
	assert_status(free_buffer(other), TN_INVALID_ARGUMENT);
	assert_status(fill(other, 1, NULL), TN_INVALID_ARGUMENT);
	assert_contains(error.text, "does not belong to this device");
	assert_status(fill(buffer + 64, 1, NULL), TN_INVALID_ARGUMENT);
	struct tn_fill_args args = {.call = CALL(struct tn_fill_args, NULL),
				    .output = vector(buffer),
				    .value = {.dtype = TN_F32}};
	args.output.offset = 4;
	assert_status(mock->copy.fill(device, &args), TN_INVALID_ARGUMENT);
	assert_contains(error.text, "bytes 4 to 68 exceed the buffer's 64");
	args.output.offset = 0;
	args.output.strides[0] = -1;
	assert_status(mock->copy.fill(device, &args), TN_INVALID_ARGUMENT);
	assert_ok(sync_stream(NULL));
	assert_true(isnan(read_last(buffer, NULL)));
	close_device();
}

static void a_buffer_that_work_waits_for_cannot_be_freed(void **state)
{
	(void)state;
	open_device("");
	uint64_t buffer = make_buffer();
	assert_ok(fill(buffer, 1, NULL));
	assert_status(free_buffer(buffer), TN_STATE);
	assert_ok(sync_stream(NULL));
	assert_ok(free_buffer(buffer));
	close_device();
}

/* ---- Streams ---------------------------------------------------------------------------------*/

static void streams_run_apart(void **state)
{
	(void)state;
	open_device("");
	uint64_t buffer = make_buffer();
	void *stream = make_stream();
	assert_ok(fill(buffer, 1, stream));
	assert_ok(sync_stream(NULL));
	assert_true(isnan(read_last(buffer, NULL)));
	assert_ok(sync_stream(stream));
	assert_close(read_last(buffer, NULL), 1, 0);
	assert_status(destroy_stream(NULL), TN_INVALID_ARGUMENT);
	assert_ok(destroy_stream(stream));
	assert_status(fill(buffer, 2, stream), TN_INVALID_ARGUMENT);
	close_device();
}

static void an_event_makes_one_stream_wait_for_another(void **state)
{
	(void)state;
	open_device("");
	uint64_t from = make_buffer(), to = make_buffer();
	void *one = make_stream(), *two = make_stream(), *event = make_event();
	assert_ok(fill(from, 1, one));
	assert_ok(on_event(mock->stream.event_record, event, one));
	assert_ok(fill(from, 2, one));
	assert_ok(on_event(mock->stream.event_wait, event, two));
	/* Neither changes an earlier wait. */
	assert_ok(on_event(mock->stream.event_record, event, one));
	assert_ok(on_event(mock->stream.event_destroy, event, NULL));
	assert_ok(copy(from, to, two));
	assert_close(read_last(to, two), 1, 0);
	assert_ok(sync_stream(one));
	assert_close(read_last(from, NULL), 2, 0);
	close_device();
}

static void an_event_is_reached_when_its_place_was(void **state)
{
	struct tn_elapsed_args elapsed = {.call = CALL(struct tn_elapsed_args, NULL)};
	double seconds = -1;
	(void)state;
	open_device("slow:20");
	uint64_t buffer = make_buffer();
	void *start = make_event(), *end = make_event();
	assert_int_equal(is_reached(start), 1); /* never recorded */
	elapsed.start = start;
	elapsed.end = end;
	assert_ok(on_event(mock->stream.event_record, start, NULL));
	assert_ok(fill(buffer, 1, NULL));
	assert_ok(on_event(mock->stream.event_record, end, NULL));
	assert_int_equal(is_reached(end), 0);
	assert_status(mock->stream.event_elapsed(device, &elapsed, &seconds), TN_INVALID_ARGUMENT);
	assert_ok(on_event(mock->stream.event_sync, end, NULL));
	assert_int_equal(is_reached(end), 1);
	assert_ok(mock->stream.event_elapsed(device, &elapsed, &seconds));
	assert_true(seconds >= 0.02);
	/* Repeated queries reach it eventually. */
	assert_ok(fill(buffer, 2, NULL));
	assert_ok(on_event(mock->stream.event_record, end, NULL));
	int asked = 0;
	while (!is_reached(end))
		assert_true(++asked < 100);
	close_device();
}

static void an_error_sticks_to_its_stream(void **state)
{
	(void)state;
	open_device("async-error:1");
	uint64_t buffer = make_buffer();
	void *stream = make_stream(), *event = make_event();
	assert_ok(fill(buffer, 1, stream));
	assert_ok(on_event(mock->stream.event_record, event, stream));
	assert_ok(on_event(mock->stream.event_wait, event, NULL));
	assert_ok(sync_stream(NULL));
	assert_ok(mock->device.async_error(device, NULL, &error));
	assert_status(on_event(mock->stream.event_sync, event, NULL), TN_BACKEND_FAILURE);
	assert_string_equal(error.operation, "fill");
	assert_ok(sync_stream(stream));
	close_device();
}

/* ---- Arguments -------------------------------------------------------------------------------*/

static void arguments_are_gone_when_the_work_runs(void **state)
{
	static const char *const inputs[] = {"x"};
	static const tn_dtype dtypes[] = {TN_F32};
	const struct tn_program_names names = {.struct_size = sizeof(names),
					       .n_inputs = 1,
					       .inputs = inputs,
					       .input_dtypes = dtypes};
	float values[N];
	tn_program *program = NULL;
	(void)state;
	open_device("");
	uint64_t buffer = make_buffer();
	struct tn_operand operand = vector(buffer);
	struct tn_transfer_args upload = {.call = CALL(struct tn_transfer_args, NULL),
					  .buffer = buffer,
					  .size = sizeof(values),
					  .host = values};
	struct tn_map_args map = {
		.call = CALL(struct tn_map_args, NULL), .inputs = &operand, .outputs = &operand};
	for (int i = 0; i < N; i++)
		values[i] = 3;
	assert_ok(tn_program_parse("y = 2*x + 1", &names, &program, NULL));
	map.program = program;
	assert_ok(mock->device.upload(device, &upload));
	assert_ok(mock->compute.map(device, &map));
	memset(values, 0xee, sizeof(values));
	memset(&operand, 0xee, sizeof(operand));
	memset(&map, 0xee, sizeof(map));
	tn_program_destroy(program);
	assert_close(read_last(buffer, NULL), 7, 0);
	close_device();
}

static void asynchronous_transfers_use_the_hosts_memory_when_they_run(void **state)
{
	float source[N] = {0}, target[N] = {0};
	(void)state;
	open_device("");
	uint64_t buffer = make_buffer();
	struct tn_transfer_args args = {.call = CALL(struct tn_transfer_args, NULL),
					.buffer = buffer,
					.size = sizeof(source),
					.host = source};
	args.call.flags = TN_ASYNC;
	assert_ok(mock->device.upload(device, &args));
	args.host = target;
	assert_ok(mock->device.download(device, &args));
	source[N - 1] = 5;
	assert_close(target[N - 1], 0, 0);
	assert_ok(sync_stream(NULL));
	assert_close(target[N - 1], 5, 0);
	close_device();
}

/* ---- Loss ------------------------------------------------------------------------------------*/

static void a_loss_ends_all_streams_and_everything_can_be_given_back(void **state)
{
	(void)state;
	open_device("lost:2");
	uint64_t buffer = make_buffer();
	void *stream = make_stream(), *event = make_event();
	assert_ok(fill(buffer, 1, stream));
	assert_ok(fill(buffer, 2, stream));
	assert_ok(on_event(mock->stream.event_record, event, stream));
	assert_ok(on_event(mock->stream.event_wait, event, NULL));
	assert_ok(fill(buffer, 3, NULL));
	assert_status(sync_stream(NULL), TN_DEVICE_LOST);
	assert_string_equal(error.operation, "fill");
	assert_status(sync_stream(NULL), TN_DEVICE_LOST);
	assert_status(sync_stream(stream), TN_DEVICE_LOST);
	assert_status(fill(buffer, 3, NULL), TN_DEVICE_LOST);
	assert_ok(free_buffer(buffer));
	assert_ok(on_event(mock->stream.event_destroy, event, NULL));
	assert_ok(destroy_stream(stream));
	close_device();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_handle_is_no_address),
		cmocka_unit_test(what_is_no_buffer_or_lies_outside_of_one_is_refused),
		cmocka_unit_test(a_buffer_that_work_waits_for_cannot_be_freed),
		cmocka_unit_test(streams_run_apart),
		cmocka_unit_test(an_event_makes_one_stream_wait_for_another),
		cmocka_unit_test(an_event_is_reached_when_its_place_was),
		cmocka_unit_test(an_error_sticks_to_its_stream),
		cmocka_unit_test(arguments_are_gone_when_the_work_runs),
		cmocka_unit_test(asynchronous_transfers_use_the_hosts_memory_when_they_run),
		cmocka_unit_test(a_loss_ends_all_streams_and_everything_can_be_given_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
