/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A valid handle of every kind, for the calls of every public function (null_calls.awk).
 */
#ifndef TESTS_UNIT_EVERY_HANDLE_H
#define TESTS_UNIT_EVERY_HANDLE_H

#include <tenon/checkpoint.h>
#include <tenon/dlpack.h>
#include <tenon/kernel.h>
#include <tenon/tenon.h>

#include "check.h"
#include "io_files.h"

static tn_context *context;
static tn_array *array, *line, *arrays[4], *holed[4];
static tn_device *device;
static tn_module *module, *residual;
static tn_optimizer *optimizer;
static tn_tape *tape;
static tn_metric *metric;
static tn_loss *loss;
static tn_generator *generator;
static tn_weight_average *weight_average;
static tn_grad_scaler *grad_scaler;
static tn_schedule *schedule;
static tn_communicator *communicator;
static tn_dataset *dataset;
static tn_data_loader *data_loader;
static tn_trainer *trainer;
static tn_host_buffer *host_buffer;
static tn_profile *profile;
static tn_shared *shared;
static tn_frozen *frozen;
static tn_data_parallel *data_parallel;
static tn_stream *stream;
static tn_event *event;
static tn_checkpoint_folder *checkpoint_folder;
static tn_program *program;
static tn_npz *npz;
static tn_safetensors *safetensors;
static tn_load_report *load_report;
static tn_summary *summary;
static tn_request *request;
static tn_graph *graph; /* NULL: the context's device does not capture */
static const char *folder;
static const tn_ufunc *ufunc;
static struct tn_input_format input_format = {.struct_size = sizeof(input_format)};
static int64_t lengths[8] = {2, 2, 2, 2, 2, 2, 2, 2};
static int axes[8] = {0, 1, 2, 2};
static double doubles[8] = {0.25, 0.5};
static uint64_t room[1024]; /* for outputs, and structs of zeros */

/* What a call can tell. */
enum { NOTHING, IN_CONTEXT, IN_REPORT, ANSWERS };

struct call {
	const char *function;
	const char *operand;
	int (*has_failed)(void); /* 1 also for functions that cannot tell */
	int keeps;
	int is_of_context; /* the operand, for dead_handles.c */
};

static void make_arrays(void)
{
	device = tn_device_current(context);
	load_report = tn_context_report(context);
	generator = tn_generator_create(context, 1);
	array = tn_ones(context, TN_F32, 2, lengths);
	line = tn_ones(context, TN_F32, 1, lengths);
	for (int i = 0; i < 4; i++)
		arrays[i] = holed[i] = array;
	holed[1] = NULL;
}

static void make_training(void)
{
	struct tn_data_loader_options batches = tn_data_loader_defaults();
	batches.batch_size = 2;
	module = tn_module_linear(context, 2, 2, NULL);
	residual = tn_module_residual(context, TN_ACTIVATION_NONE);
	assert_ok(tn_module_build(module));
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 0.1;
	optimizer = tn_sgd(module, &sgd);
	struct tn_schedule_options options = tn_schedule_defaults();
	options.kind = TN_SCHEDULE_COSINE;
	options.period = 9;
	schedule = tn_schedule_create(optimizer, &options);
	metric = tn_metric_create(context, NULL);
	weight_average = tn_weight_average_create(module, NULL);
	grad_scaler = tn_grad_scaler_create(module, NULL);
	assert_ok(tn_dataset_open("digits", NULL, &dataset, NULL));
	assert_ok(tn_data_loader_create(dataset, TN_PART_TEST, &batches, &data_loader, NULL));
	struct tn_trainer_options trainer_options = tn_trainer_defaults();
	trainer_options.train = data_loader;
	trainer = tn_trainer_create(module, optimizer, &trainer_options);
	loss = tn_loss_create(context, NULL);
	struct tn_communicator_options communicator_options = tn_communicator_defaults();
	communicator_options.name = "none";
	assert_ok(tn_communicator_open(context, &communicator_options, &communicator, NULL));
	data_parallel = tn_data_parallel_create(module, communicator, NULL);
	struct tn_collective_host barrier = tn_collective_host_defaults();
	barrier.operation = TN_COLLECTIVE_BARRIER;
	assert_ok(tn_communicator_start(communicator, &barrier, &request));
	struct tn_summary_options summary_options = tn_summary_defaults();
	summary = tn_summary_create(module, &summary_options);
	profile = tn_profile_begin(module, NULL);
	shared = tn_share(tn_ones(context, TN_F32, 1, (int64_t[]){2}));
	tn_module *served = tn_module_linear(context, 2, 2, NULL);
	assert_ok(tn_module_build(served));
	assert_ok(tn_module_freeze(served));
	frozen = tn_frozen_create(served);
	tn_module_destroy(served);
	tape = tn_tape_begin(context);
}

static void make_files(void)
{
	char path[4096];
	folder = files_folder();
	snprintf(path, sizeof(path), "%s/array.npz", folder);
	assert_ok(tn_savez(context, path, 0, NULL, NULL));
	assert_ok(tn_npz_open(path, &npz, NULL));
	snprintf(path, sizeof(path), "%s/net.safetensors", folder);
	assert_ok(tn_module_save(module, path, 0, NULL));
	assert_ok(tn_safetensors_open(path, &safetensors, NULL));
	checkpoint_folder = tn_checkpoint_folder_open(context, folder, NULL);
}

static void make_program(void)
{
	const char *const inputs[] = {"x"};
	const tn_dtype dtypes[] = {TN_F32};
	struct tn_program_names names = {.struct_size = sizeof(names)};
	names.n_inputs = 1;
	names.inputs = inputs;
	names.input_dtypes = dtypes;
	assert_ok(tn_program_parse("z = x", &names, &program, NULL));
}

static void make_graph(void)
{
	if (strcmp(tn_device_name(device), "mock:0"))
		return;
	assert_ok(tn_capture_begin(context));
	tn_add(array, array);
	assert_ok(tn_capture_end(context, &graph));
}

static void make_objects(void)
{
	make_arrays();
	make_graph();
	make_training();
	host_buffer = tn_host_buffer_create(device, 64);
	stream = tn_stream_create(device);
	event = tn_event_create(device);
	make_files();
	make_program();
	ufunc = tn_ufunc_find("add");
	assert_string_equal(tn_error_text(context), "no error");
}

/* All but what the context has. */
static void destroy_objects(void)
{
	tn_program_destroy(program);
	tn_safetensors_close(safetensors);
	tn_npz_close(npz);
	tn_checkpoint_folder_close(checkpoint_folder);
	tn_event_destroy(event);
	tn_stream_destroy(stream);
	tn_host_buffer_destroy(host_buffer);
	tn_tape_end(tape);
	tn_frozen_destroy(frozen);
	tn_shared_destroy(shared);
	tn_profile_destroy(profile);
	tn_summary_destroy(summary);
	tn_request_wait(request);
	tn_data_parallel_destroy(data_parallel);
	tn_communicator_close(communicator);
	tn_trainer_destroy(trainer);
	tn_data_loader_destroy(data_loader);
	tn_dataset_destroy(dataset);
	tn_grad_scaler_destroy(grad_scaler);
	tn_weight_average_destroy(weight_average);
	tn_metric_destroy(metric);
	tn_loss_destroy(loss);
	tn_schedule_destroy(schedule);
	tn_optimizer_destroy(optimizer);
	tn_module_destroy(residual);
	tn_module_destroy(module);
	tn_graph_destroy(graph);
	tn_array_destroy(line);
	tn_array_destroy(array);
	tn_generator_destroy(generator);
	files_remove(folder);
}

#endif
