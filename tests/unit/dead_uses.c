/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Slips of lifetime as programs make them, with TENON_CHECK_HANDLES=1: each is an error that says
 * what has ended.
 */
#include <tenon/checkpoint.h>
#include <tenon/tenon.h>

#include "captured_log.h"
#include "io_files.h"
#include "mock_fixture.h"

static tn_context *context; /* open; a use may open others */

/* ---- Helpers ---------------------------------------------------------------------------------*/

static tn_array *line_of(tn_context *owner)
{
	return tn_ones(owner, TN_F32, 1, (int64_t[]){3});
}

static tn_module *net_of(tn_context *owner)
{
	tn_module *net = tn_module_sequential(owner);
	assert_ok(tn_module_add(net, "fc", tn_module_linear(owner, 3, 2, NULL)));
	assert_ok(tn_module_build(net));
	return net;
}

static tn_frozen *frozen_of(tn_context *owner)
{
	tn_module *net = net_of(owner);
	assert_ok(tn_module_freeze(net));
	tn_frozen *frozen = tn_frozen_create(net);
	tn_module_destroy(net);
	return frozen;
}

static tn_dataset *digits(void)
{
	tn_dataset *dataset = NULL;
	assert_ok(tn_dataset_open("digits", NULL, &dataset, NULL));
	return dataset;
}

static tn_data_loader *loader_of(const tn_dataset *dataset, tn_context *owner)
{
	struct tn_data_loader_options options = tn_data_loader_defaults();
	tn_data_loader *loader = NULL;
	options.batch_size = 2;
	options.context = owner;
	assert_ok(tn_data_loader_create(dataset, TN_PART_TEST, &options, &loader, NULL));
	return loader;
}

static void read_next(tn_data_loader *loader)
{
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	struct tn_error_info error;
	assert_status(tn_data_loader_next(loader, &batch, &error), TN_STATE);
	assert_non_null(strstr(error.text, " has been "));
}

static tn_communicator *communicator_of(tn_context *owner)
{
	struct tn_communicator_options options = tn_communicator_defaults();
	tn_communicator *communicator = NULL;
	options.name = "none";
	assert_ok(tn_communicator_open(owner, &options, &communicator, NULL));
	return communicator;
}

static tn_request *request_of(tn_communicator *communicator)
{
	struct tn_collective_host barrier = tn_collective_host_defaults();
	tn_request *request = NULL;
	barrier.operation = TN_COLLECTIVE_BARRIER;
	assert_ok(tn_communicator_start(communicator, &barrier, &request));
	return request;
}

/* ---- Arrays ----------------------------------------------------------------------------------*/

static void array_after_scope(void)
{
	double sum;
	assert_ok(tn_scope_begin(context));
	tn_array *x = line_of(context);
	tn_scope_end(context, NULL);
	assert_true(tn_item(tn_sum(x, TN_ALL_AXES, NULL, 0), &sum) != TN_OK);
}

static void array_twice(void)
{
	tn_array *x = line_of(context);
	tn_array_destroy(x);
	tn_array_destroy(x);
}

static void view_after_context(void)
{
	tn_context *other = open_mock_here();
	tn_array *view = tn_slice(line_of(other), 0, 0, 2, 1);
	tn_context_close(other);
	assert_null(tn_add(view, view));
}

static void array_of_closed_context_beside_another(void)
{
	tn_context *other = open_mock_here();
	tn_array *x = line_of(other);
	tn_context_close(other);
	assert_null(tn_add(line_of(context), x));
}

static void shape_after_destroy(void)
{
	tn_array *x = line_of(context);
	tn_array_destroy(x);
	assert_null(tn_array_shape(x));
}

static void scope_twice(void)
{
	assert_ok(tn_scope_begin(context));
	tn_scope_end(context, NULL);
	tn_scope_end(context, NULL);
}

/* ---- Sharing ---------------------------------------------------------------------------------*/

static void shared_array_after_context(void)
{
	tn_context *other = open_mock_here();
	tn_shared *shared = tn_share(line_of(context));
	tn_array *taken = tn_shared_array(other, shared);
	tn_context_close(other);
	tn_shared_destroy(shared);
	assert_null(tn_add(taken, taken));
}

static void array_after_context_that_lends(void)
{
	tn_context *other = open_mock_here();
	tn_array *x = line_of(other);
	tn_shared *shared = tn_share(x);
	tn_array *taken = tn_shared_array(context, shared);
	tn_context_close(other);
	assert_null(tn_add(x, x));
	assert_null(tn_zeros(other, TN_F32, 0, NULL));
	tn_error_clear(context);
	assert_non_null(tn_add(taken, taken));
	tn_shared_destroy(shared);
}

static void shared_twice(void)
{
	tn_shared *shared = tn_share(line_of(context));
	tn_shared_destroy(shared);
	tn_shared_destroy(shared);
}

static void frozen_after_destroy(void)
{
	tn_frozen *frozen = frozen_of(context);
	tn_array *x = tn_ones(context, TN_F32, 2, (int64_t[]){1, 3});
	assert_non_null(tn_frozen_forward(frozen, x)); /* the context keeps its view of it */
	tn_frozen_destroy(frozen);
	assert_null(tn_frozen_forward(frozen, x));
}

static void frozen_twice(void)
{
	tn_frozen *frozen = frozen_of(context);
	tn_frozen_destroy(frozen);
	tn_frozen_destroy(frozen);
}

/* ---- Modules and what uses them --------------------------------------------------------------*/

static void module_after_context(void)
{
	tn_context *other = open_mock_here();
	tn_module *net = net_of(other);
	tn_context_close(other);
	tn_module_destroy(net);
}

static void member_after_module(void)
{
	tn_module *net = tn_module_sequential(context);
	tn_module *member = tn_module_linear(context, 3, 2, NULL);
	assert_ok(tn_module_add(net, "fc", member));
	tn_module_destroy(net);
	assert_null(tn_module_forward(member, line_of(context)));
}

static void step_after_module(void)
{
	tn_module *net = net_of(context);
	tn_optimizer *optimizer = tn_adamw(net, NULL);
	tn_module_destroy(net);
	assert_status(tn_optimizer_step(optimizer), TN_STATE);
	tn_optimizer_destroy(optimizer);
}

static void optimizer_twice(void)
{
	tn_module *net = net_of(context);
	tn_optimizer *optimizer = tn_adamw(net, NULL);
	tn_optimizer_destroy(optimizer);
	tn_optimizer_destroy(optimizer);
	tn_module_destroy(net);
}

static void schedule_after_optimizer(void)
{
	struct tn_schedule_options options = tn_schedule_defaults();
	tn_module *net = net_of(context);
	tn_optimizer *optimizer = tn_adamw(net, NULL);
	options.kind = TN_SCHEDULE_COSINE;
	options.period = 9;
	tn_schedule *schedule = tn_schedule_create(optimizer, &options);
	tn_optimizer_destroy(optimizer);
	assert_status(tn_schedule_advance(schedule), TN_STATE);
	tn_schedule_destroy(schedule);
	tn_module_destroy(net);
}

static void average_after_module(void)
{
	tn_module *net = net_of(context);
	tn_weight_average *average = tn_weight_average_create(net, NULL);
	tn_module_destroy(net);
	assert_status(tn_weight_average_update(average), TN_STATE);
	tn_weight_average_destroy(average);
}

static void profile_after_destroy(void)
{
	tn_module *net = net_of(context);
	tn_profile *profile = tn_profile_begin(net, NULL);
	tn_profile_destroy(profile);
	assert_status(tn_profile_end(profile), TN_STATE);
	tn_module_destroy(net);
}

static void summary_after_destroy(void)
{
	struct tn_summary_options options = tn_summary_defaults();
	tn_module *net = net_of(context);
	tn_summary *summary = tn_summary_create(net, &options);
	tn_summary_destroy(summary);
	assert_int_equal(tn_summary_count(summary), 0);
	tn_module_destroy(net);
}

static void trainer_after_destroy(void)
{
	tn_module *net = net_of(context);
	tn_dataset *dataset = digits();
	struct tn_trainer_options options = tn_trainer_defaults();
	options.train = loader_of(dataset, NULL);
	tn_trainer *trainer = tn_trainer_create(net, tn_adamw(net, NULL), &options);
	tn_trainer_destroy(trainer);
	assert_status(tn_trainer_run(trainer), TN_STATE);
	tn_data_loader_destroy((tn_data_loader *)(uintptr_t)options.train);
	tn_dataset_destroy(dataset);
}

static void metric_after_destroy(void)
{
	tn_metric *metric = tn_metric_create(context, NULL);
	tn_metric_destroy(metric);
	assert_null(tn_metric_name(metric));
}

/* ---- Tapes and graphs ------------------------------------------------------------------------*/

static void tape_twice(void)
{
	tn_tape *tape = tn_tape_begin(context);
	tn_tape_end(tape);
	tn_tape_end(tape);
}

static void gradient_after_tape(void)
{
	tn_tape *tape = tn_tape_begin(context);
	tn_array *x = line_of(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_tape_end(tape);
	assert_null(tn_tape_gradient(tape, x));
}

static tn_graph *graph_of(tn_context *owner)
{
	tn_graph *graph = NULL;
	tn_array *x = line_of(owner);
	assert_ok(tn_capture_begin(owner));
	tn_add(x, x);
	assert_ok(tn_capture_end(owner, &graph));
	return graph;
}

static void replay_after_destroy(void)
{
	tn_graph *graph = graph_of(context);
	tn_graph_destroy(graph);
	assert_status(tn_graph_replay(graph), TN_STATE);
}

static void replay_after_context(void)
{
	tn_context *other = open_mock_here();
	tn_graph *graph = graph_of(other);
	tn_context_close(other);
	assert_status(tn_graph_replay(graph), TN_STATE);
}

/* ---- Devices ---------------------------------------------------------------------------------*/

static void device_after_context(void)
{
	tn_context *other = open_mock_here();
	tn_device *device = tn_device_current(other);
	tn_context_close(other);
	assert_status(tn_device_synchronize(device), TN_STATE);
}

static void stream_after_destroy(void)
{
	tn_stream *stream = tn_stream_create(tn_device_current(context));
	tn_stream_destroy(stream);
	assert_status(tn_stream_push(stream), TN_STATE);
}

static void event_after_context(void)
{
	tn_context *other = open_mock_here();
	tn_event *event = tn_event_create(tn_device_current(other));
	tn_context_close(other);
	assert_status(tn_event_record(event), TN_STATE);
}

static void host_buffer_twice(void)
{
	tn_host_buffer *buffer = tn_host_buffer_create(tn_device_current(context), 64);
	assert_ok(tn_to_host_async(line_of(context), buffer, 0)); /* the buffer waits for that */
	tn_host_buffer_destroy(buffer);
	tn_host_buffer_destroy(buffer);
}

static void generator_after_destroy(void)
{
	tn_generator *generator = tn_generator_create(context, 1);
	tn_generator_destroy(generator);
	assert_null(tn_generator_random(generator, TN_F32, 0, NULL));
}

static void generator_twice(void)
{
	tn_graph *graph = NULL;
	tn_generator *generator = tn_generator_create(context, 1);
	assert_ok(tn_capture_begin(context));
	tn_generator_random(generator, TN_F32, 0, NULL);
	assert_ok(tn_capture_end(context, &graph));
	tn_generator_destroy(generator);
	tn_generator_destroy(generator);
	assert_status(tn_error(context)->status, TN_STATE);
	tn_graph_destroy(graph);
}

static void report_after_context(void)
{
	tn_context *other = open_mock_here();
	const tn_load_report *report = tn_context_report(other);
	tn_context_close(other);
	assert_null(tn_load_report_text(report));
}

/* ---- Data and files --------------------------------------------------------------------------*/

static void loader_after_dataset(void)
{
	tn_dataset *dataset = digits();
	tn_data_loader *loader = loader_of(dataset, NULL);
	tn_dataset_destroy(dataset);
	read_next(loader);
	tn_data_loader_destroy(loader);
}

static void loader_after_context(void)
{
	tn_context *other = open_mock_here();
	tn_dataset *dataset = digits();
	tn_data_loader *loader = loader_of(dataset, other);
	tn_context_close(other);
	read_next(loader);
	tn_data_loader_destroy(loader);
	tn_dataset_destroy(dataset);
}

static void batch_after_loader(void)
{
	tn_dataset *dataset = digits();
	tn_data_loader *loader = loader_of(dataset, NULL);
	tn_data_loader_destroy(loader);
	read_next(loader);
	tn_dataset_destroy(dataset);
}

static void file_after_close(void)
{
	tn_safetensors *file = NULL;
	const char *folder = files_folder();
	const char *path = files_path(folder, "net.safetensors");
	tn_module *net = net_of(context);
	assert_ok(tn_module_save(net, path, 0, NULL));
	assert_ok(tn_safetensors_open(path, &file, NULL));
	tn_safetensors_close(file);
	assert_int_equal(tn_safetensors_count(file), 0);
	tn_module_destroy(net);
	files_remove(folder);
}

static void folder_after_close(void)
{
	const char *path = files_folder();
	tn_checkpoint_folder *folder = tn_checkpoint_folder_open(context, path, NULL);
	tn_checkpoint_folder_close(folder);
	assert_int_equal(tn_checkpoint_folder_count(folder), 0);
	files_remove(path);
}

static void program_twice(void)
{
	const char *const inputs[] = {"x"};
	const tn_dtype dtypes[] = {TN_F32};
	struct tn_program_names names = {.struct_size = sizeof(names)};
	tn_program *program = NULL;
	names.n_inputs = 1;
	names.inputs = inputs;
	names.input_dtypes = dtypes;
	assert_ok(tn_program_parse("z = x", &names, &program, NULL));
	tn_program_destroy(program);
	tn_program_destroy(program);
}

/* ---- Ranks -----------------------------------------------------------------------------------*/

static void request_after_wait(void)
{
	int is_done;
	tn_communicator *communicator = communicator_of(context);
	tn_request *request = request_of(communicator);
	assert_ok(tn_request_wait(request));
	assert_status(tn_request_test(request, &is_done), TN_STATE);
	tn_communicator_close(communicator);
}

static void request_after_communicator(void)
{
	tn_communicator *communicator = communicator_of(context);
	tn_request *request = request_of(communicator);
	tn_communicator_close(communicator);
	assert_status(tn_request_wait(request), TN_STATE);
}

static void data_parallel_after_destroy(void)
{
	tn_module *net = net_of(context);
	tn_communicator *communicator = communicator_of(context);
	tn_data_parallel *parallel = tn_data_parallel_create(net, communicator, NULL);
	tn_data_parallel_destroy(parallel);
	assert_status(tn_data_parallel_finish(parallel), TN_STATE);
	tn_communicator_close(communicator);
	tn_module_destroy(net);
}

/* ---- All -------------------------------------------------------------------------------------*/

static const struct {
	void (*use)(void);
	const char *says;
	int is_kept; /* by the context, which is open */
} rows[] = {
	{array_after_scope, "the array (f32 (3,)) has been destroyed, or its scope has ended", 1},
	{array_twice, "array_destroy: the array (f32 (3,)) has been destroyed", 1},
	{view_after_context, "the array (f32 (2,)) has been destroyed", 0},
	{array_of_closed_context_beside_another, "the array (f32 (3,)) has been destroyed", 0},
	{shape_after_destroy, "array_shape: the array (f32 (3,)) has been destroyed", 1},
	{scope_twice, "scope_end: no scope has begun", 1},
	{shared_array_after_context, "the array (f32 (3,)) has been destroyed", 0},
	{array_after_context_that_lends, "the array (f32 (3,)) has been destroyed", 0},
	{shared_twice, "shared_destroy: the shared memory's handle has been destroyed", 0},
	{frozen_after_destroy, "the frozen network has been destroyed", 1},
	{frozen_twice, "frozen_destroy: the frozen network has been destroyed", 0},
	{module_after_context, "module_destroy: the context has been closed", 0},
	{member_after_module, "the module Linear has been destroyed", 1},
	{step_after_module, "the module Sequential has been destroyed", 1},
	{optimizer_twice, "optimizer_destroy: the optimizer has been destroyed", 1},
	{schedule_after_optimizer, "the optimizer has been destroyed", 1},
	{average_after_module, "the module Sequential has been destroyed", 1},
	{profile_after_destroy, "profile_end: the profile has been destroyed", 1},
	{summary_after_destroy, "summary_count: the summary has been destroyed", 1},
	{trainer_after_destroy, "the trainer has been destroyed", 1},
	{metric_after_destroy, "metric_name: the metric has been destroyed", 1},
	{tape_twice, "tape_end: the tape has been destroyed", 1},
	{gradient_after_tape, "tape_gradient: the tape has been destroyed", 1},
	{replay_after_destroy, "the graph has been destroyed", 1},
	{replay_after_context, "the context has been closed", 0},
	{device_after_context, "the context has been closed", 0},
	{stream_after_destroy, "stream_push: the stream has been destroyed", 1},
	{event_after_context, "event_record: the event has been destroyed, or its context", 0},
	{host_buffer_twice, "host_buffer_destroy: the host buffer has been destroyed", 1},
	{generator_after_destroy, "the generator has been destroyed", 1},
	{generator_twice, "generator_destroy: the generator has been destroyed", 1},
	{report_after_context, "load_report_text: the report has been destroyed, or its", 0},
	{loader_after_dataset, "data loader: the data set has been destroyed", 0},
	{loader_after_context, "data loader: the context has been closed", 0},
	{batch_after_loader, "data loader: the data loader has been destroyed", 0},
	{file_after_close, "safetensors_count: the file has been closed", 0},
	{folder_after_close, "checkpoint_folder_count: the checkpoint folder has been", 1},
	{program_twice, "program_destroy: the program has been destroyed", 0},
	{request_after_wait, "request_test: the request has ended", 1},
	{request_after_communicator, "request_wait: the request has ended", 1},
	{data_parallel_after_destroy, "the object for data parallel training has been", 1},
};

static void every_use_is_named(void **state)
{
	int n_faults = 0;
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		context = open_mock_here();
		captured_begin();
		rows[i].use();
		const char *logged = captured_take();
		captured_end();
		const int is_named = strstr(logged, rows[i].says) ||
				     strstr(tn_error_text(context), rows[i].says);
		const int is_kept = tn_error(context) && strstr(tn_error_text(context), " has ");
		if (!is_named || is_kept != rows[i].is_kept)
			print_error("row %zu, \"%s\": logged %s kept %s\n", i, rows[i].says, logged,
				    tn_error_text(context));
		n_faults += !is_named || is_kept != rows[i].is_kept;
		tn_context_close(context);
	}
	assert_int_equal(n_faults, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_use_is_named)};
	setenv("TENON_CHECK_HANDLES", "1", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
