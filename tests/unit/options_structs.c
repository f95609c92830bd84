/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Every public function that takes a struct with a struct_size refuses one that lacks it, and one
 * that sets fields unknown to this version; members beyond the size have their defaults.
 */
#include <tenon/tenon.h>

#include "check.h"

static tn_context *context;
static tn_module *net; /* built */
static tn_array *picture, *filters, *scores, *classes;
static tn_dataset *dataset;
static tn_program *program;
static struct tn_error_info error;

/* ---- Calls: what each says is in `error` -----------------------------------------------------*/

/* Returns and clears the context's error; only a failed call has one. */
static tn_status kept(int made)
{
	const struct tn_error_info *found = tn_error(context);
	assert_int_equal(made, !found);
	error = found ? *found : (struct tn_error_info){.status = TN_OK};
	tn_error_clear(context);
	return error.status;
}

static tn_status module(tn_module *made)
{
	tn_status status = kept(made != NULL);
	tn_module_destroy(made);
	return status;
}

static tn_status array(tn_array *made)
{
	tn_status status = kept(made != NULL);
	tn_array_destroy(made);
	return status;
}

static tn_status optimizer(tn_optimizer *made)
{
	tn_status status = kept(made != NULL);
	tn_optimizer_destroy(made);
	return status;
}

static tn_status context_open(const void *options)
{
	tn_context *own;
	tn_status status = tn_context_open(options, &own, &error);
	tn_context_close(own);
	return status;
}

static tn_status summary_create(const void *options)
{
	tn_summary *made = tn_summary_create(net, options);
	tn_status status = kept(made != NULL);
	tn_summary_destroy(made);
	return status;
}

static tn_status profile_begin(const void *options)
{
	tn_profile *made = tn_profile_begin(net, options);
	tn_status status = kept(made != NULL);
	tn_profile_destroy(made);
	return status;
}

static tn_status sgd(const void *options)
{
	return optimizer(tn_sgd(net, options));
}

static tn_status adamw(const void *options)
{
	return optimizer(tn_adamw(net, options));
}

static tn_status metric(const void *options)
{
	tn_metric *own = tn_metric_create(context, options);
	tn_status status = kept(own != NULL);
	tn_metric_destroy(own);
	return status;
}

static void *begin_nothing(void *user, tn_context *own)
{
	(void)own;
	return user;
}

static tn_status add_nothing(void *state, const tn_array *output, const tn_array *target)
{
	return state && output && target ? TN_OK : TN_INTERNAL;
}

static tn_status value_of_nothing(void *state, double *value)
{
	*value = 0;
	return state ? TN_OK : TN_INTERNAL;
}

static tn_status metric_class(const void *class_)
{
	tn_metric *own = tn_metric_custom(context, class_);
	tn_status status = kept(own != NULL);
	tn_metric_destroy(own);
	return status;
}

static tn_status trainer(const void *options)
{
	tn_trainer *own = tn_trainer_create(net, NULL, options);
	tn_status status = kept(own != NULL);
	tn_trainer_destroy(own);
	return status;
}

static tn_status adam(const void *options)
{
	return optimizer(tn_adam(net, options));
}

static tn_status nadam(const void *options)
{
	return optimizer(tn_nadam(net, options));
}

static tn_status rmsprop(const void *options)
{
	return optimizer(tn_rmsprop(net, options));
}

static tn_status adagrad(const void *options)
{
	return optimizer(tn_adagrad(net, options));
}

static tn_status adadelta(const void *options)
{
	return optimizer(tn_adadelta(net, options));
}

static tn_status lion(const void *options)
{
	return optimizer(tn_lion(net, options));
}

static tn_status lars(const void *options)
{
	return optimizer(tn_lars(net, options));
}

static tn_status lamb(const void *options)
{
	return optimizer(tn_lamb(net, options));
}

static tn_status optimizer_set_group(const void *options)
{
	tn_optimizer *own = tn_adamw(net, NULL);
	tn_status status = tn_optimizer_set_group(own, options);
	tn_optimizer_destroy(own);
	assert_int_equal(kept(status == TN_OK), status);
	return status;
}

static tn_status lookahead(const void *options)
{
	tn_optimizer *own = tn_adamw(net, NULL);
	tn_status status = tn_lookahead(own, options);
	tn_optimizer_destroy(own);
	assert_int_equal(kept(status == TN_OK), status);
	return status;
}

static tn_status grad_scaler_create(const void *options)
{
	tn_grad_scaler *made = tn_grad_scaler_create(net, options);
	tn_status status = kept(made != NULL);
	tn_grad_scaler_destroy(made);
	return status;
}

static tn_status grad_scaler_set_state(const void *options)
{
	tn_grad_scaler *own = tn_grad_scaler_create(net, NULL);
	tn_status status = tn_grad_scaler_set_state(own, options);
	tn_grad_scaler_destroy(own);
	assert_int_equal(kept(status == TN_OK), status);
	return status;
}

static tn_status average_create(const void *options)
{
	tn_weight_average *made = tn_weight_average_create(net, options);
	tn_status status = kept(made != NULL);
	tn_weight_average_destroy(made);
	return status;
}

static tn_status schedule_create(const void *options)
{
	tn_optimizer *own = tn_adamw(net, NULL);
	tn_schedule *made = tn_schedule_create(own, options);
	tn_status status = kept(made != NULL);
	tn_schedule_destroy(made);
	tn_optimizer_destroy(own);
	return status;
}

static tn_status schedule_set_state(const void *state)
{
	tn_optimizer *own = tn_adamw(net, NULL);
	tn_schedule *schedule = tn_schedule_create(own, NULL);
	tn_status status = tn_schedule_set_state(schedule, state);
	tn_schedule_destroy(schedule);
	tn_optimizer_destroy(own);
	assert_int_equal(kept(status == TN_OK), status);
	return status;
}

static tn_status checkpoint_save(const void *given)
{
	tn_status status = tn_checkpoint_save("/nonexistent/checkpoint", given);
	assert_int_equal(kept(status == TN_OK), status);
	return status;
}

static tn_status checkpoint_load(const void *given)
{
	tn_status status = tn_checkpoint_load("/nonexistent/checkpoint", given);
	assert_int_equal(kept(status == TN_OK), status);
	return status;
}

static tn_status checkpoint_folder_open(const void *options)
{
	tn_checkpoint_folder *made =
		tn_checkpoint_folder_open(context, "/dev/null/folder", options);
	tn_status status = kept(made != NULL);
	tn_checkpoint_folder_close(made);
	return status;
}

static tn_status loss(const void *options)
{
	tn_loss *made = tn_loss_create(context, options);
	tn_status status = kept(made != NULL);
	tn_loss_destroy(made);
	return status;
}

static tn_array *sum_of_nothing(void *user, const tn_array *output, const tn_array *target,
				tn_array **weight)
{
	(void)user, (void)output, (void)target, (void)weight;
	return NULL;
}

static tn_status loss_class(const void *class_)
{
	tn_loss *made = tn_loss_custom(context, class_);
	tn_status status = kept(made != NULL);
	tn_loss_destroy(made);
	return status;
}

static tn_status module_linear(const void *options)
{
	return module(tn_module_linear(context, 2, 2, options));
}

static tn_status module_conv2d(const void *options)
{
	return module(tn_module_conv2d(context, 1, 2, 3, 3, options));
}

static tn_status module_conv1d(const void *options)
{
	return module(tn_module_conv1d(context, 1, 2, 3, options));
}

static tn_status module_conv_transpose2d(const void *options)
{
	return module(tn_module_conv_transpose2d(context, 1, 2, 3, 3, options));
}

static tn_status module_embedding(const void *options)
{
	return module(tn_module_embedding(context, 4, 2, options));
}

static tn_status module_instance_norm2d(const void *options)
{
	return module(tn_module_instance_norm2d(context, 2, options));
}

static tn_status module_multihead_attention(const void *options)
{
	return module(tn_module_multihead_attention(context, 4, 2, options));
}

static tn_status module_lstm(const void *options)
{
	return module(tn_module_lstm(context, 2, 2, options));
}

static tn_status module_gru(const void *options)
{
	return module(tn_module_gru(context, 2, 2, options));
}

static tn_status module_max_pool2d(const void *options)
{
	return module(tn_module_max_pool2d(context, options));
}

static tn_status module_avg_pool2d(const void *options)
{
	return module(tn_module_avg_pool2d(context, options));
}

static tn_status module_batch_norm2d(const void *options)
{
	return module(tn_module_batch_norm2d(context, 2, options));
}

static tn_status module_layer_norm(const void *options)
{
	return module(tn_module_layer_norm(context, 1, (const int64_t[]){2}, options));
}

static tn_status module_layer_norm2d(const void *options)
{
	return module(tn_module_layer_norm2d(context, 2, options));
}

static tn_status module_group_norm(const void *options)
{
	return module(tn_module_group_norm(context, 1, 2, options));
}

static tn_status module_create(const void *class_)
{
	return module(tn_module_custom(context, class_, NULL));
}

static tn_status conv2d(const void *options)
{
	return array(tn_conv2d(picture, filters, NULL, options));
}

static tn_status conv1d(const void *options)
{
	const tn_array *lines = tn_reshape(picture, 3, (const int64_t[]){1, 1, 64});
	const tn_array *kernels = tn_reshape(filters, 3, (const int64_t[]){2, 1, 9});
	return array(tn_conv1d(lines, kernels, NULL, options));
}

static tn_status conv_transpose2d(const void *options)
{
	return array(tn_conv_transpose2d(picture, tn_slice(filters, 0, 0, 1, 1), NULL, options));
}

static tn_status attention(const void *options)
{
	return array(tn_scaled_dot_product_attention(picture, picture, picture, options));
}

/* Weights of any one shape. */
static const tn_array *rows_of(int64_t n, int64_t width)
{
	return tn_zeros(context, TN_F32, 2, (const int64_t[]){n, width});
}

static tn_status lstm(const void *options)
{
	const tn_array *steps = tn_squeeze(picture, 0);
	return array(tn_lstm(steps, rows_of(8, 8), rows_of(8, 2), NULL, NULL, options, NULL, NULL));
}

static tn_status gru(const void *options)
{
	const tn_array *steps = tn_squeeze(picture, 0);
	return array(tn_gru(steps, rows_of(6, 8), rows_of(6, 2), NULL, NULL, options, NULL));
}

static tn_status module_upsample(const void *options)
{
	return module(tn_module_upsample(context, options));
}

static tn_status module_local_response_norm(const void *options)
{
	return module(tn_module_local_response_norm(context, 2, options));
}

static tn_status module_mbconv(const void *options)
{
	return module(tn_module_mbconv(context, 2, 3, 2, options));
}

static tn_status module_convnext_block(const void *options)
{
	return module(tn_module_convnext_block(context, 2, options));
}

static tn_status interpolate(const void *options)
{
	return array(tn_interpolate(picture, options));
}

static tn_status local_response_norm(const void *options)
{
	return array(tn_local_response_norm(picture, 2, options));
}

static tn_status max_pool2d(const void *options)
{
	return array(tn_max_pool2d(picture, options));
}

static tn_status avg_pool2d(const void *options)
{
	return array(tn_avg_pool2d(picture, options));
}

static tn_status batch_norm(const void *options)
{
	return array(tn_batch_norm(picture, NULL, NULL, options));
}

static tn_status cross_entropy(const void *options)
{
	return array(tn_cross_entropy(scores, classes, options));
}

static tn_status nll_loss(const void *options)
{
	return array(tn_nll_loss(scores, classes, options));
}

static tn_status binary_cross_entropy(const void *options)
{
	return array(tn_binary_cross_entropy_with_logits(scores, scores, options));
}

static tn_status init_kaiming(const void *options)
{
	tn_status status = tn_init_kaiming_uniform(picture, options);
	assert_int_equal(kept(status == TN_OK), status);
	return status;
}

static tn_status gradients(const void *options)
{
	tn_array *x = tn_scalar_f32(context, 2), *g;
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *y = tn_square(x);
	tn_status status = tn_tape_gradients(tape, 1, &y, NULL, 1, &x, &g, options);
	tn_tape_end(tape);
	assert_int_equal(kept(status == TN_OK), status);
	return status;
}

static tn_status reduce(const void *options)
{
	return array(tn_reduce(scores, TN_REDUCER_SUM, TN_ALL_AXES, NULL, options));
}

static tn_status quantile(const void *options)
{
	return array(tn_quantile(scores, TN_SCALAR, (const double[]){0.5}, options));
}

static tn_status histogram(const void *options)
{
	return array(tn_histogram(scores, options, NULL));
}

static tn_status histogramdd(const void *options)
{
	return array(tn_histogramdd(scores, options, NULL));
}

static tn_status module_init(const void *options)
{
	tn_status status = tn_module_init_parameters(net, "*.bias", options);
	assert_int_equal(kept(status == TN_OK), status);
	return status;
}

static tn_status no_backward(void *state, const struct tn_node_call *call)
{
	(void)state, (void)call;
	return TN_OK;
}

static tn_status node_record(const void *options)
{
	tn_status status = tn_node_record(context, options);
	assert_int_equal(kept(status == TN_OK), status);
	return status;
}

static tn_status array_wrap(const void *options)
{
	return array(tn_array_wrap(context, options));
}

static tn_status text(char *made)
{
	tn_status status = kept(made != NULL);
	tn_string_free(made);
	return status;
}

static tn_status array_str(const void *options)
{
	return text(tn_array_str(picture, options));
}

static tn_status array_repr(const void *options)
{
	return text(tn_array_repr(picture, options));
}

static tn_status array2string(const void *options)
{
	return text(tn_array2string(picture, options));
}

static tn_status assert_allclose(const void *options)
{
	char *difference;
	return kept(!tn_assert_allclose(picture, picture, 0, 0, options, &difference));
}

static tn_status assert_array_equal(const void *options)
{
	char *difference;
	return kept(!tn_assert_array_equal(picture, picture, options, &difference));
}

static tn_status assert_array_less(const void *options)
{
	char *difference;
	const tn_array *less = tn_affine(picture, 1, -1);
	return kept(!tn_assert_array_less(less, picture, options, &difference));
}

static tn_status loadtxt(const void *options)
{
	return array(tn_loadtxt(context, "/nonexistent", options));
}

static tn_status savetxt(const void *options)
{
	return kept(!tn_savetxt("/nonexistent/table", picture, options));
}

static tn_status array_import(const void *options)
{
	return array(tn_array_import(tn_device_current(context), options));
}

static tn_status asarray(const void *options)
{
	return array(tn_asarray(picture, options));
}

static tn_status asarray_host(const void *options)
{
	static const float number = 1;
	struct tn_wrap_options memory = tn_wrap_defaults();
	memory.dtype = TN_F32;
	memory.data = (void *)(uintptr_t)&number;
	memory.size_bytes = sizeof(number);
	return array(tn_asarray_host(context, &memory, options));
}

static tn_status asarray_host_memory(const void *memory)
{
	return array(tn_asarray_host(context, memory, NULL));
}

static tn_status do_nothing(void *data)
{
	(void)data;
	return TN_OK;
}

static tn_status benchmark(const void *options)
{
	struct tn_benchmark_result result = {.struct_size = sizeof(result)};
	tn_status status = tn_benchmark(context, do_nothing, NULL, options, &result);
	assert_int_equal(kept(status == TN_OK), status);
	return status;
}

static tn_status to_dlpack(const void *options)
{
	struct tn_dlpack_managed *managed = tn_to_dlpack(picture, options);
	tn_status status = kept(managed != NULL);
	if (managed)
		managed->deleter(managed);
	return status;
}

static tn_status to_dlpack_unversioned(const void *options)
{
	struct tn_dlpack_managed_unversioned *managed = tn_to_dlpack_unversioned(picture, options);
	tn_status status = kept(managed != NULL);
	if (managed)
		managed->deleter(managed);
	return status;
}

static tn_status from_dlpack(const void *options)
{
	struct tn_dlpack_managed *managed = tn_to_dlpack(picture, NULL);
	tn_status status = array(tn_from_dlpack(context, managed, options));
	if (status)
		managed->deleter(managed);
	return status;
}

static tn_status from_dlpack_unversioned(const void *options)
{
	struct tn_dlpack_managed_unversioned *managed = tn_to_dlpack_unversioned(picture, NULL);
	tn_status status = array(tn_from_dlpack_unversioned(context, managed, options));
	if (status)
		managed->deleter(managed);
	return status;
}

static tn_status kernel_compile(const void *source)
{
	tn_kernel *kernel = tn_kernel_compile(context, source);
	tn_status status = kept(kernel != NULL);
	tn_kernel_destroy(kernel);
	return status;
}

static tn_status program_parse(const void *names)
{
	tn_program *own = NULL;
	tn_status status = tn_program_parse("z = x", names, &own, &error);
	tn_program_destroy(own);
	return status;
}

static tn_status program_differentiate(const void *wants)
{
	tn_program *own = NULL;
	tn_status status = tn_program_differentiate(program, wants, &own, &error);
	tn_program_destroy(own);
	return status;
}

static tn_status csv_read(const void *options)
{
	struct tn_csv csv = {.struct_size = sizeof(csv)};
	return tn_csv_read("/nonexistent", options, &csv, &error);
}

static const char *const names_of[] = {"x"};

static tn_status map_outputs(const void *options)
{
	tn_array *out[1] = {NULL};
	tn_status status = tn_map_outputs("x = a + 1", 1, (const char *[]){"a"},
					  (const tn_array *[]){picture}, options, out);
	tn_array_destroy(out[0]);
	assert_int_equal(kept(status == TN_OK), status);
	return status;
}

static tn_status reduce_map(const void *options)
{
	return array(
		tn_reduce_map("z = x * x", 1, names_of, (const tn_array *[]){picture}, options));
}

static tn_status scan_map(const void *options)
{
	return array(tn_scan_map("z = x + y", picture, -1, options));
}

static tn_status ufunc_call(const void *options)
{
	return array(tn_ufunc_call(tn_ufunc_find("negative"), 1, (const tn_array *[]){picture},
				   options));
}

static tn_status module_load(const void *options)
{
	tn_status status = tn_module_load(net, "/nonexistent", options);
	assert_int_equal(kept(status == TN_OK), status);
	return status;
}

static tn_status communicator_open(const void *options)
{
	tn_communicator *own = NULL;
	tn_status status = tn_communicator_open(context, options, &own, &error);
	tn_communicator_close(own);
	return status;
}

static tn_status dataset_open(const void *options)
{
	tn_dataset *own = NULL;
	tn_status status = tn_dataset_open("/nonexistent/folder", options, &own, &error);
	tn_dataset_destroy(own);
	return status;
}

static tn_status dataset_create(const void *source)
{
	tn_dataset *own = NULL;
	tn_status status = tn_dataset_create(source, &own, &error);
	tn_dataset_destroy(own);
	return status;
}

static tn_status dataset_from_fields(const void *source)
{
	tn_dataset *own = NULL;
	tn_status status = tn_dataset_from_fields(source, &own, &error);
	tn_dataset_destroy(own);
	return status;
}

static tn_status dataset_fold(const void *options)
{
	tn_dataset *own = NULL;
	tn_status status = tn_dataset_fold(dataset, options, &own, &error);
	tn_dataset_destroy(own);
	return status;
}

static tn_status data_loader_create(const void *options)
{
	tn_data_loader *own = NULL;
	tn_status status = tn_data_loader_create(dataset, TN_PART_TRAIN, options, &own, &error);
	tn_data_loader_destroy(own);
	return status;
}

static tn_status augment(const void *augmentation)
{
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = 1;
	options.augmentation = augmentation;
	return data_loader_create(&options);
}

static tn_status augment_batch(const void *batch)
{
	return tn_augment(NULL, batch, &error);
}

static const float pixels[64];
static const struct tn_field one_field = {.dtype = TN_F32};
static const void *const one_pointer[] = {pixels};

static tn_status input_format_apply(const void *format)
{
	static uint8_t data[64];
	const struct tn_image image = {.width = 8, .height = 8, .channels = 1, .data = data};
	float x[64];
	return tn_input_format_apply(format, &image, 0, x, &error);
}

static tn_status predict(const void *format)
{
	float probabilities[2];
	tn_status status = tn_predict(net, format, 1, pixels, probabilities);
	assert_int_equal(kept(status == TN_OK), status);
	return status;
}

static tn_status normalise_as(const void *format)
{
	struct tn_dataset_options options = tn_dataset_defaults();
	options.normalise_as = format;
	return dataset_open(&options);
}

/* ---- What they are called with ---------------------------------------------------------------*/

static void drop_message(void *user, int level, const char *subsystem, const char *text,
			 size_t length)
{
	(void)user, (void)level, (void)subsystem, (void)text, (void)length;
}

static tn_array *negated(tn_module *own, void *state, const tn_array *x)
{
	(void)own, (void)state;
	return tn_negative(x);
}

static uint8_t images[4][8][8];
static const int32_t labels[4] = {0, 1, 0, 1};
static const tn_dtype dtypes_of[] = {TN_F32};
static const uint32_t first_input[] = {0};

/* Each struct: with its defaults, and with what the calls below take. */
struct structs {
	struct tn_context_options context;
	struct tn_metric_options metric;
	struct tn_metric_class metric_class;
	struct tn_trainer_options trainer;
	struct tn_loss_options loss;
	struct tn_loss_class loss_class;
	struct tn_sgd_options sgd;
	struct tn_adamw_options adamw;
	struct tn_adam_options adam;
	struct tn_nadam_options nadam;
	struct tn_rmsprop_options rmsprop;
	struct tn_adagrad_options adagrad;
	struct tn_adadelta_options adadelta;
	struct tn_lion_options lion;
	struct tn_lars_options lars;
	struct tn_lamb_options lamb;
	struct tn_group_options group;
	struct tn_lookahead_options lookahead;
	struct tn_weight_average_options average;
	struct tn_grad_scaler_options grad_scaler;
	struct tn_grad_scaler_state grad_scaler_state;
	struct tn_summary_options summary;
	struct tn_profile_options profile;
	struct tn_schedule_options schedule;
	struct tn_schedule_state schedule_state;
	struct tn_checkpoint checkpoint;
	struct tn_checkpoint_folder_options checkpoint_folder;
	struct tn_module_linear_options module_linear;
	struct tn_module_conv2d_options module_conv2d;
	struct tn_module_conv1d_options module_conv1d;
	struct tn_module_conv_transpose2d_options module_conv_transpose2d;
	struct tn_module_embedding_options module_embedding;
	struct tn_module_instance_norm_options module_instance_norm;
	struct tn_module_attention_options module_attention;
	struct tn_module_recurrent_options module_recurrent;
	struct tn_conv1d_options conv1d;
	struct tn_conv_transpose2d_options conv_transpose2d;
	struct tn_attention_options attention;
	struct tn_recurrent_options recurrent;
	struct tn_interpolate_options interpolate;
	struct tn_local_response_norm_options local_response_norm;
	struct tn_module_mbconv_options module_mbconv;
	struct tn_module_convnext_options module_convnext;
	struct tn_wrap_options wrap;
	struct tn_print_options print;
	struct tn_assert_options assert;
	struct tn_loadtxt_options loadtxt;
	struct tn_savetxt_options savetxt;
	struct tn_asarray_options asarray;
	struct tn_benchmark_options benchmark;
	struct tn_to_dlpack_options to_dlpack;
	struct tn_from_dlpack_options from_dlpack;
	struct tn_pool2d_options pool2d;
	struct tn_module_norm_options module_norm;
	struct tn_module_class module_class;
	struct tn_conv2d_options conv2d;
	struct tn_batch_norm_options batch_norm;
	struct tn_cross_entropy_options cross_entropy;
	struct tn_nll_loss_options nll_loss;
	struct tn_binary_cross_entropy_options binary_cross_entropy;
	struct tn_kaiming_options kaiming;
	struct tn_init_options init;
	struct tn_reduce_options reduce;
	struct tn_quantile_options quantile;
	struct tn_histogram_options histogram;
	struct tn_histogramdd_options histogramdd;
	struct tn_gradients_options gradients;
	struct tn_node_options node;
	struct tn_kernel_source kernel_source;
	struct tn_program_names program_names;
	struct tn_program_wants program_wants;
	struct tn_dataset_options dataset;
	struct tn_dataset_source dataset_source;
	struct tn_input_format input_format;
	struct tn_dataset_fields dataset_fields;
	struct tn_fold_options fold;
	struct tn_data_loader_options data_loader;
	struct tn_augmentation augmentation;
	struct tn_augment_batch augment_batch;
	struct tn_csv_options csv;
	struct tn_map_options map;
	struct tn_reduce_map_options reduce_map;
	struct tn_scan_map_options scan_map;
	struct tn_ufunc_options ufunc;
	struct tn_module_load_options module_load;
	struct tn_communicator_options communicator;
};
static struct structs defaults, right;

static void fill_defaults(void)
{
	defaults.context = tn_context_defaults();
	defaults.metric = tn_metric_defaults();
	defaults.metric_class = tn_metric_class_defaults();
	defaults.trainer = tn_trainer_defaults();
	defaults.loss = tn_loss_defaults();
	defaults.loss_class = tn_loss_class_defaults();
	defaults.sgd = tn_sgd_defaults();
	defaults.adamw = tn_adamw_defaults();
	defaults.adam = tn_adam_defaults();
	defaults.nadam = tn_nadam_defaults();
	defaults.rmsprop = tn_rmsprop_defaults();
	defaults.adagrad = tn_adagrad_defaults();
	defaults.adadelta = tn_adadelta_defaults();
	defaults.lion = tn_lion_defaults();
	defaults.lars = tn_lars_defaults();
	defaults.lamb = tn_lamb_defaults();
	defaults.group = tn_group_defaults();
	defaults.lookahead = tn_lookahead_defaults();
	defaults.average = tn_weight_average_defaults();
	defaults.grad_scaler = tn_grad_scaler_defaults();
	defaults.grad_scaler_state.struct_size = sizeof(defaults.grad_scaler_state);
	defaults.summary = tn_summary_defaults();
	defaults.profile = tn_profile_defaults();
	defaults.schedule = tn_schedule_defaults();
	defaults.schedule_state.struct_size = sizeof(defaults.schedule_state);
	defaults.checkpoint = tn_checkpoint_defaults();
	defaults.checkpoint_folder = tn_checkpoint_folder_defaults();
	defaults.module_linear = tn_module_linear_defaults();
	defaults.module_conv2d = tn_module_conv2d_defaults();
	defaults.module_conv1d = tn_module_conv1d_defaults();
	defaults.module_conv_transpose2d = tn_module_conv_transpose2d_defaults();
	defaults.module_embedding = tn_module_embedding_defaults();
	defaults.module_instance_norm = tn_module_instance_norm_defaults();
	defaults.module_attention = tn_module_attention_defaults();
	defaults.module_recurrent = tn_module_recurrent_defaults();
	defaults.conv1d = tn_conv1d_defaults();
	defaults.conv_transpose2d = tn_conv_transpose2d_defaults();
	defaults.attention = tn_attention_defaults();
	defaults.recurrent = tn_recurrent_defaults();
	defaults.interpolate = tn_interpolate_defaults();
	defaults.local_response_norm = tn_local_response_norm_defaults();
	defaults.module_mbconv = tn_module_mbconv_defaults();
	defaults.module_convnext = tn_module_convnext_defaults();
	defaults.wrap = tn_wrap_defaults();
	defaults.print = tn_print_defaults();
	defaults.assert = tn_assert_defaults();
	defaults.loadtxt = tn_loadtxt_defaults();
	defaults.savetxt = tn_savetxt_defaults();
	defaults.asarray = tn_asarray_defaults();
	defaults.benchmark = tn_benchmark_defaults();
	defaults.to_dlpack = tn_to_dlpack_defaults();
	defaults.from_dlpack = tn_from_dlpack_defaults();
	defaults.pool2d = tn_pool2d_defaults();
	defaults.module_norm = tn_module_norm_defaults();
	defaults.module_class = tn_module_class_defaults();
	defaults.conv2d = tn_conv2d_defaults();
	defaults.batch_norm = tn_batch_norm_defaults();
	defaults.cross_entropy = tn_cross_entropy_defaults();
	defaults.nll_loss = tn_nll_loss_defaults();
	defaults.binary_cross_entropy = tn_binary_cross_entropy_defaults();
	defaults.kaiming = tn_kaiming_defaults();
	defaults.init = tn_init_defaults();
	defaults.reduce = tn_reduce_defaults();
	defaults.quantile = tn_quantile_defaults();
	defaults.histogram = tn_histogram_defaults();
	defaults.histogramdd = tn_histogramdd_defaults();
	defaults.gradients = tn_gradients_defaults();
	defaults.node = tn_node_defaults();
	defaults.kernel_source = tn_kernel_source_defaults();
	defaults.program_names = tn_program_names_defaults();
	defaults.program_wants = tn_program_wants_defaults();
	defaults.dataset = tn_dataset_defaults();
	defaults.dataset_source = tn_dataset_source_defaults();
	defaults.input_format = tn_input_format_defaults();
	defaults.dataset_fields = tn_dataset_fields_defaults();
	defaults.fold = tn_fold_defaults();
	defaults.data_loader = tn_data_loader_defaults();
	defaults.augmentation = tn_augmentation_defaults();
	defaults.augment_batch = tn_augment_batch_defaults();
	defaults.csv = tn_csv_defaults();
	defaults.map = tn_map_defaults();
	defaults.reduce_map = tn_reduce_map_defaults();
	defaults.scan_map = tn_scan_map_defaults();
	defaults.ufunc = tn_ufunc_defaults();
	defaults.module_load = tn_module_load_defaults();
	defaults.communicator = tn_communicator_defaults();
}

static void fill_training(void)
{
	right.context.backend = "reference";
	right.context.log = drop_message;
	right.metric.kind = TN_METRIC_R2;
	right.metric_class.name = "nothing";
	right.metric_class.begin = begin_nothing;
	right.metric_class.add = add_nothing;
	right.metric_class.value = value_of_nothing;
	right.trainer.n_epochs = 2;
	right.loss.kind = TN_LOSS_MSE;
	right.loss_class.name = "nothing";
	right.loss_class.sum = sum_of_nothing;
	right.sgd.lr = 0.1;
	right.adamw.lr = 0.1;
	right.adam.lr = 0.1;
	right.nadam.lr = 0.1;
	right.rmsprop.lr = 0.1;
	right.adagrad.lr = 0.1;
	right.adadelta.lr = 0.1;
	right.lion.lr = 0.1;
	right.lars.lr = 0.1;
	right.lamb.lr = 0.1;
	right.group.weight_decay = 0;
	right.lookahead.k = 2;
	right.average.decay = 0.5;
	right.grad_scaler.growth_interval = 5;
	right.grad_scaler_state.scale = 2;
	right.summary.depth = 1;
	right.profile.max_events = 0;
	right.schedule.kind = TN_SCHEDULE_STEP;
	right.schedule.period = 2;
	right.schedule_state.t = 3;
	right.checkpoint_folder.is_read_only = 1;
}

static void fill_layers(void)
{
	right.module_linear.no_bias = 1;
	right.module_conv2d.no_bias = 1;
	right.module_conv1d.no_bias = 1;
	right.module_conv_transpose2d.no_bias = 1;
	right.module_embedding.has_padding = 1;
	right.module_instance_norm.affine = 1;
	right.module_attention.causal = 1;
	right.module_recurrent.n_layers = 2;
	right.conv1d.padding = 1;
	right.conv_transpose2d.padding[0] = 1;
	right.conv_transpose2d.padding[1] = 1;
	right.attention.causal = 1;
	right.recurrent.reverse = 1;
	right.interpolate.scale[0] = 2;
	right.interpolate.scale[1] = 2;
	right.local_response_norm.beta = 0.5;
	right.module_mbconv.stride = 2;
	right.module_convnext.layer_scale = 1;
	right.pool2d.kernel[0] = 2;
	right.pool2d.kernel[1] = 2;
	right.module_norm.no_affine = 1;
	right.module_class.name = "Negated";
	right.module_class.forward = negated;
	right.conv2d.padding[0] = 1;
	right.conv2d.padding[1] = 1;
	right.batch_norm.training = 1;
	right.cross_entropy.label_smoothing = 0.1;
	right.nll_loss.reduction = TN_REDUCTION_SUM;
	right.binary_cross_entropy.reduction = TN_REDUCTION_SUM;
	right.kaiming.mode = TN_FAN_OUT;
	right.init.value = 1;
	right.module_load.convert = 1;
}

static void fill_arrays(void)
{
	right.wrap.dtype = TN_U8;
	right.wrap.data = images;
	right.wrap.size_bytes = 1;
	right.print.precision = 3;
	right.assert.strict = 1;
	right.loadtxt.ndmin = 1;
	right.savetxt.fmt = "%g";
	right.asarray.copy = TN_COPY_ALWAYS;
	right.benchmark.repeats = 1;
	right.to_dlpack.copy = TN_COPY_ALWAYS;
	right.from_dlpack.copy = TN_COPY_ALWAYS;
	right.reduce.keepdims = 1;
	right.quantile.keepdims = 1;
	right.histogram.n_bins = 3;
	right.histogramdd.density = 1;
	right.gradients.retain_graph = 1;
	right.node.name = "own";
	right.node.n_outputs = 1;
	right.node.outputs = &filters;
	right.node.backward = no_backward;
	right.kernel_source.format = "cuda-c";
	right.kernel_source.text = "";
	right.kernel_source.name = "none";
	right.program_names.n_inputs = 1;
	right.program_names.inputs = names_of;
	right.program_names.input_dtypes = dtypes_of;
	right.program_wants.n_inputs = 1;
	right.program_wants.inputs = first_input;
	right.csv.header = 1;
	right.map.n_outputs = 1;
	right.map.output_names = names_of;
	right.reduce_map.keepdims = 1;
	right.scan_map.reverse = 1;
	right.ufunc.dtype = TN_F64;
	right.communicator.name = "none";
}

static void fill_data(void)
{
	right.dataset.digits_as_stored = 1;
	right.dataset_source.channels = 1;
	right.dataset_source.height = 8;
	right.dataset_source.width = 8;
	right.dataset_source.images = &images[0][0][0];
	right.dataset_source.labels = labels;
	right.dataset_source.n_images = 4;
	right.dataset_source.n_classes = 2;
	right.input_format.channels = 1;
	right.input_format.height = 8;
	right.input_format.width = 8;
	right.input_format.source_height = 8;
	right.input_format.source_width = 8;
	right.input_format.scale = 1;
	right.input_format.n_classes = 2;
	right.dataset_fields.n_fields = 1;
	right.dataset_fields.fields = &one_field;
	right.dataset_fields.n = 64;
	right.dataset_fields.data = one_pointer;
	right.fold.n_folds = 2;
	right.data_loader.batch_size = 1;
	right.augmentation.max_shift = 1;
	right.augment_batch.channels = 1;
	right.augment_batch.height = 8;
	right.augment_batch.width = 8;
}

#define ROW(member) offsetof(struct structs, member)

/* The type's name in errors, the function, the place of the struct, and the expected error. */
static const struct {
	const char *type;
	tn_status (*call)(const void *given);
	size_t offset;
	tn_status status;
} cases[] = {
	{"struct tn_context_options", context_open, ROW(context), TN_OK},
	{"struct tn_metric_options", metric, ROW(metric), TN_OK},
	{"struct tn_metric_class", metric_class, ROW(metric_class), TN_OK},
	{"struct tn_trainer_options", trainer, ROW(trainer), TN_OK},
	{"struct tn_loss_options", loss, ROW(loss), TN_OK},
	{"struct tn_loss_class", loss_class, ROW(loss_class), TN_OK},
	{"struct tn_sgd_options", sgd, ROW(sgd), TN_OK},
	{"struct tn_adamw_options", adamw, ROW(adamw), TN_OK},
	{"struct tn_adam_options", adam, ROW(adam), TN_OK},
	{"struct tn_nadam_options", nadam, ROW(nadam), TN_OK},
	{"struct tn_rmsprop_options", rmsprop, ROW(rmsprop), TN_OK},
	{"struct tn_adagrad_options", adagrad, ROW(adagrad), TN_OK},
	{"struct tn_adadelta_options", adadelta, ROW(adadelta), TN_OK},
	{"struct tn_lion_options", lion, ROW(lion), TN_OK},
	{"struct tn_lars_options", lars, ROW(lars), TN_OK},
	{"struct tn_lamb_options", lamb, ROW(lamb), TN_OK},
	{"struct tn_group_options", optimizer_set_group, ROW(group), TN_OK},
	{"struct tn_lookahead_options", lookahead, ROW(lookahead), TN_OK},
	{"struct tn_weight_average_options", average_create, ROW(average), TN_OK},
	{"struct tn_grad_scaler_options", grad_scaler_create, ROW(grad_scaler), TN_OK},
	{"struct tn_grad_scaler_state", grad_scaler_set_state, ROW(grad_scaler_state), TN_OK},
	{"struct tn_summary_options", summary_create, ROW(summary), TN_OK},
	{"struct tn_profile_options", profile_begin, ROW(profile), TN_OK},
	{"struct tn_schedule_options", schedule_create, ROW(schedule), TN_OK},
	{"struct tn_schedule_state", schedule_set_state, ROW(schedule_state), TN_OK},
	{"struct tn_checkpoint", checkpoint_save, ROW(checkpoint), TN_IO},
	{"struct tn_checkpoint", checkpoint_load, ROW(checkpoint), TN_NOT_FOUND},
	{"struct tn_checkpoint_folder_options", checkpoint_folder_open, ROW(checkpoint_folder),
	 TN_IO},
	{"struct tn_module_linear_options", module_linear, ROW(module_linear), TN_OK},
	{"struct tn_module_conv2d_options", module_conv2d, ROW(module_conv2d), TN_OK},
	{"struct tn_module_conv1d_options", module_conv1d, ROW(module_conv1d), TN_OK},
	{"struct tn_module_conv_transpose2d_options", module_conv_transpose2d,
	 ROW(module_conv_transpose2d), TN_OK},
	{"struct tn_module_embedding_options", module_embedding, ROW(module_embedding), TN_OK},
	{"struct tn_module_instance_norm_options", module_instance_norm2d,
	 ROW(module_instance_norm), TN_OK},
	{"struct tn_module_attention_options", module_multihead_attention, ROW(module_attention),
	 TN_OK},
	{"struct tn_module_recurrent_options", module_lstm, ROW(module_recurrent), TN_OK},
	{"struct tn_module_recurrent_options", module_gru, ROW(module_recurrent), TN_OK},
	{"struct tn_conv1d_options", conv1d, ROW(conv1d), TN_OK},
	{"struct tn_conv_transpose2d_options", conv_transpose2d, ROW(conv_transpose2d), TN_OK},
	{"struct tn_attention_options", attention, ROW(attention), TN_OK},
	{"struct tn_recurrent_options", lstm, ROW(recurrent), TN_OK},
	{"struct tn_recurrent_options", gru, ROW(recurrent), TN_OK},
	{"struct tn_interpolate_options", module_upsample, ROW(interpolate), TN_OK},
	{"struct tn_interpolate_options", interpolate, ROW(interpolate), TN_OK},
	{"struct tn_local_response_norm_options", module_local_response_norm,
	 ROW(local_response_norm), TN_OK},
	{"struct tn_local_response_norm_options", local_response_norm, ROW(local_response_norm),
	 TN_OK},
	{"struct tn_module_mbconv_options", module_mbconv, ROW(module_mbconv), TN_OK},
	{"struct tn_module_convnext_options", module_convnext_block, ROW(module_convnext), TN_OK},
	{"struct tn_wrap_options", array_wrap, ROW(wrap), TN_OK},
	{"struct tn_print_options", array_str, ROW(print), TN_OK},
	{"struct tn_print_options", array_repr, ROW(print), TN_OK},
	{"struct tn_print_options", array2string, ROW(print), TN_OK},
	{"struct tn_assert_options", assert_allclose, ROW(assert), TN_OK},
	{"struct tn_assert_options", assert_array_equal, ROW(assert), TN_OK},
	{"struct tn_assert_options", assert_array_less, ROW(assert), TN_OK},
	{"struct tn_loadtxt_options", loadtxt, ROW(loadtxt), TN_NOT_FOUND},
	/* A picture has four axes. */
	{"struct tn_savetxt_options", savetxt, ROW(savetxt), TN_SHAPE},
	{"struct tn_wrap_options", array_import, ROW(wrap), TN_OK},
	{"struct tn_wrap_options", asarray_host_memory, ROW(wrap), TN_OK},
	{"struct tn_asarray_options", asarray, ROW(asarray), TN_OK},
	{"struct tn_asarray_options", asarray_host, ROW(asarray), TN_OK},
	{"struct tn_benchmark_options", benchmark, ROW(benchmark), TN_OK},
	{"struct tn_to_dlpack_options", to_dlpack, ROW(to_dlpack), TN_OK},
	{"struct tn_to_dlpack_options", to_dlpack_unversioned, ROW(to_dlpack), TN_OK},
	{"struct tn_from_dlpack_options", from_dlpack, ROW(from_dlpack), TN_OK},
	{"struct tn_from_dlpack_options", from_dlpack_unversioned, ROW(from_dlpack), TN_OK},
	{"struct tn_pool2d_options", module_max_pool2d, ROW(pool2d), TN_OK},
	{"struct tn_pool2d_options", module_avg_pool2d, ROW(pool2d), TN_OK},
	{"struct tn_module_norm_options", module_batch_norm2d, ROW(module_norm), TN_OK},
	{"struct tn_module_norm_options", module_layer_norm, ROW(module_norm), TN_OK},
	{"struct tn_module_norm_options", module_layer_norm2d, ROW(module_norm), TN_OK},
	{"struct tn_module_norm_options", module_group_norm, ROW(module_norm), TN_OK},
	{"struct tn_module_class", module_create, ROW(module_class), TN_OK},
	{"struct tn_conv2d_options", conv2d, ROW(conv2d), TN_OK},
	{"struct tn_pool2d_options", max_pool2d, ROW(pool2d), TN_OK},
	{"struct tn_pool2d_options", avg_pool2d, ROW(pool2d), TN_OK},
	{"struct tn_batch_norm_options", batch_norm, ROW(batch_norm), TN_OK},
	{"struct tn_cross_entropy_options", cross_entropy, ROW(cross_entropy), TN_OK},
	{"struct tn_nll_loss_options", nll_loss, ROW(nll_loss), TN_OK},
	{"struct tn_binary_cross_entropy_options", binary_cross_entropy, ROW(binary_cross_entropy),
	 TN_OK},
	{"struct tn_kaiming_options", init_kaiming, ROW(kaiming), TN_OK},
	{"struct tn_init_options", module_init, ROW(init), TN_OK},
	{"struct tn_reduce_options", reduce, ROW(reduce), TN_OK},
	{"struct tn_quantile_options", quantile, ROW(quantile), TN_OK},
	{"struct tn_histogram_options", histogram, ROW(histogram), TN_OK},
	{"struct tn_histogramdd_options", histogramdd, ROW(histogramdd), TN_OK},
	{"struct tn_gradients_options", gradients, ROW(gradients), TN_OK},
	{"struct tn_node_options", node_record, ROW(node), TN_OK},
	/* The reference has no compiler. */
	{"struct tn_kernel_source", kernel_compile, ROW(kernel_source), TN_UNSUPPORTED},
	{"struct tn_program_names", program_parse, ROW(program_names), TN_OK},
	{"struct tn_program_wants", program_differentiate, ROW(program_wants), TN_OK},
	{"struct tn_dataset_options", dataset_open, ROW(dataset), TN_NOT_FOUND},
	{"struct tn_dataset_source", dataset_create, ROW(dataset_source), TN_OK},
	{"struct tn_input_format", input_format_apply, ROW(input_format), TN_OK},
	{"struct tn_input_format", predict, ROW(input_format), TN_OK},
	{"struct tn_input_format", normalise_as, ROW(input_format), TN_NOT_FOUND},
	{"struct tn_dataset_fields", dataset_from_fields, ROW(dataset_fields), TN_OK},
	{"struct tn_fold_options", dataset_fold, ROW(fold), TN_OK},
	{"struct tn_data_loader_options", data_loader_create, ROW(data_loader), TN_OK},
	{"struct tn_augmentation", augment, ROW(augmentation), TN_OK},
	{"struct tn_augment_batch", augment_batch, ROW(augment_batch), TN_OK},
	{"struct tn_csv_options", csv_read, ROW(csv), TN_NOT_FOUND},
	{"struct tn_map_options", map_outputs, ROW(map), TN_OK},
	{"struct tn_reduce_map_options", reduce_map, ROW(reduce_map), TN_OK},
	{"struct tn_scan_map_options", scan_map, ROW(scan_map), TN_OK},
	{"struct tn_ufunc_options", ufunc_call, ROW(ufunc), TN_OK},
	{"struct tn_module_load_options", module_load, ROW(module_load), TN_NOT_FOUND},
	{"struct tn_communicator_options", communicator_open, ROW(communicator), TN_OK},
};
enum { N_CASES = sizeof(cases) / sizeof(cases[0]), ROOM = 512 };

static int setup(void **state)
{
	(void)state;
	fill_defaults();
	right = defaults;
	fill_training();
	fill_layers();
	fill_arrays();
	fill_data();
	assert_ok(tn_context_open(&right.context, &context, &error));
	for (size_t i = 0; i < sizeof(images); i++)
		(&images[0][0][0])[i] = (uint8_t)i;
	assert_ok(tn_dataset_create(&right.dataset_source, &dataset, &error));
	assert_ok(tn_program_parse("z = x * x", &right.program_names, &program, &error));
	picture = tn_ones(context, TN_F32, 4, (const int64_t[]){1, 1, 8, 8});
	filters = tn_ones(context, TN_F32, 4, (const int64_t[]){2, 1, 3, 3});
	scores = tn_ones(context, TN_F32, 2, (const int64_t[]){4, 3});
	classes = tn_zeros(context, TN_I32, 1, (const int64_t[]){4});
	net = tn_module_sequential(context);
	assert_ok(tn_module_sequential_add(net, NULL, tn_module_flatten(context)));
	assert_ok(tn_module_sequential_add(net, NULL, tn_module_linear(context, 64, 2, NULL)));
	assert_ok(tn_module_build(net));
	right.checkpoint.module = net;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tn_module_destroy(net);
	tn_program_destroy(program);
	tn_dataset_destroy(dataset);
	tn_context_close(context);
	return 0;
}

/* ---- Cases -----------------------------------------------------------------------------------*/

static const void *of_case(const struct structs *structs, size_t i)
{
	return (const char *)structs + cases[i].offset;
}

/* The correct struct of a case, as in a version with `more` bytes at its end, all zero. */
static uint32_t copy_right(size_t i, uint32_t more, unsigned char *copy)
{
	uint32_t size = *(const uint32_t *)of_case(&right, i), whole = size + more;
	assert_true(whole <= ROOM);
	memset(copy, 0, ROOM);
	memcpy(copy, of_case(&right, i), size);
	memcpy(copy, &whole, sizeof(whole));
	return whole;
}

static void one_of_this_version_is_taken(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_CASES; i++)
		assert_status(cases[i].call(of_case(&right, i)), cases[i].status);
}

static int is_a(size_t i, const char *ending)
{
	size_t length = strlen(cases[i].type), n = strlen(ending);
	return length > n && !strcmp(cases[i].type + length - n, ending);
}

/* NULL for options; a source, a class and the like are needed, and so is a node. */
static void the_defaults_are_those_of_no_options(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_CASES; i++) {
		if (!is_a(i, "_options") || cases[i].call == node_record)
			continue;
		print_message("%s\n", cases[i].type);
		tn_status status = cases[i].call(NULL);
		struct tn_error_info without = error;
		assert_status(cases[i].call(of_case(&defaults, i)), status);
		if (status)
			assert_string_equal(error.text, without.text);
	}
}

/* A program of a version whose struct ended after `size` bytes: what follows is not read. */
static void members_beyond_the_size_have_their_defaults(void **state)
{
	_Alignas(16) unsigned char given[ROOM];
	(void)state;
	for (size_t i = 0; i < N_CASES; i++) {
		/* The state that is missing is the object's, and a checkpoint has no context. */
		if (is_a(i, "_state") || is_a(i, "tn_checkpoint"))
			continue;
		tn_status status = cases[i].call(of_case(&defaults, i));
		struct tn_error_info whole = error;
		for (uint32_t size = 4; size <= 8; size += 4) {
			memset(given, 0xa5, sizeof(given));
			memcpy(given, of_case(&defaults, i), size);
			memcpy(given, &size, sizeof(size));
			print_message("%s of %u bytes\n", cases[i].type, size);
			assert_status(cases[i].call(given), status);
			if (status)
				assert_string_equal(error.text, whole.text);
		}
	}
}

static void one_without_its_size_is_refused(void **state)
{
	_Alignas(16) unsigned char given[ROOM];
	(void)state;
	for (size_t i = 0; i < N_CASES; i++) {
		copy_right(i, 0, given);
		memset(given, 0, sizeof(uint32_t));
		print_message("%s\n", cases[i].type);
		assert_status(cases[i].call(given), TN_INVALID_ARGUMENT);
		assert_contains(error.text, cases[i].type);
		assert_contains(error.text, "struct_size");
		assert_true(error.operation[0] != '\0');
	}
}

static void one_of_a_later_version_is_taken_unless_it_sets_what_is_not_known(void **state)
{
	_Alignas(16) unsigned char given[ROOM];
	(void)state;
	for (size_t i = 0; i < N_CASES; i++) {
		uint32_t size = copy_right(i, 8, given);
		print_message("%s\n", cases[i].type);
		assert_status(cases[i].call(given), cases[i].status);
		given[size - 1] = 1;
		assert_status(cases[i].call(given), TN_UNSUPPORTED);
		assert_contains(error.text, cases[i].type);
	}
}

#define MEMBER(type, member)                                                                       \
	offsetof(struct structs, type), offsetof(struct structs, type.member),                     \
		sizeof(right.type.member)

/* The calls of structs that are right but for one member, which is 0. */
static const struct {
	tn_status (*call)(const void *given);
	size_t offset;
	size_t member;
	size_t size;
	const char *text;
} zeros[] = {
	{lamb, MEMBER(lamb, epsilon), "epsilon: expected a number above 0, found 0"},
	{lookahead, MEMBER(lookahead, k), "k: expected at least 1, found 0"},
	{grad_scaler_create, MEMBER(grad_scaler, growth_interval), "growth_interval: expected"},
	{grad_scaler_create, MEMBER(grad_scaler, init_scale), "init_scale: expected"},
	{schedule_create, MEMBER(schedule, multiplier), "step: expected the default of multiplier"},
	{checkpoint_folder_open, MEMBER(checkpoint_folder, keep), "keep: expected at least 1"},
	{trainer, MEMBER(trainer, n_epochs), "n_epochs: expected at least 1, found 0"},
	{trainer, MEMBER(trainer, accumulate), "accumulate: expected at least 1, found 0"},
	{trainer, MEMBER(trainer, patience), "patience: expected at least 1, found 0"},
	{trainer, MEMBER(trainer, max_steps), "max_steps: expected at least 1, found 0"},
	{trainer, MEMBER(trainer, step_interval), "step_interval: expected at least 1, found 0"},
	{trainer, MEMBER(trainer, clip_norm), "clip_norm: expected a number above 0, found 0"},
	{conv1d, MEMBER(conv1d, stride), "stride: expected 1 to 2147483647, found 0"},
	{conv2d, MEMBER(conv2d, dilation), "dilation: expected 1 to 2147483647, found 0"},
	{conv_transpose2d, MEMBER(conv_transpose2d, groups), "groups: expected 1 to"},
	{max_pool2d, MEMBER(pool2d, kernel), "kernel 0, stride 0, padding 0: expected at least 1"},
	{module_lstm, MEMBER(module_recurrent, n_layers), "expected 1 to"},
	{module_mbconv, MEMBER(module_mbconv, kernel), "kernel: expected an odd number"},
	{module_mbconv, MEMBER(module_mbconv, activation), "activation: expected"},
	{benchmark, MEMBER(benchmark, repeats), "repeats of 1 or more, found 1 and 0"},
	{array_str, MEMBER(print, linewidth), "linewidth: expected 1 to"},
	{array_str, MEMBER(print, nanstr), "nanstr: expected a string, found NULL"},
	{csv_read, MEMBER(csv, separator), "separator, quote, comment: expected"},
	{savetxt, MEMBER(savetxt, delimiter), "delimiter: expected a string, found NULL"},
	{loadtxt, MEMBER(loadtxt, comments), "comments: expected a string, found NULL"},
	{reduce_map, MEMBER(reduce_map, combiner), "combiner: expected TN_COMBINE_SUM to"},
	{data_loader_create, MEMBER(data_loader, batch_size), "batch_size of at least 1"},
	{data_loader_create, MEMBER(data_loader, n_ranks), "a rank below n_ranks 0, found 0"},
	{dataset_create, MEMBER(dataset_source, scale), "scale: expected a finite number above 0"},
	{augment, MEMBER(augmentation, cutout_size), "cutout_size: expected 1 to"},
	{augment, MEMBER(augmentation, noise_clip), "noise_clip: expected a number above 0"},
	{augment, MEMBER(augmentation, cutmix_alpha), "cutmix_alpha: expected a number above 0"},
	{augment, MEMBER(augmentation, resized_crop_scale), "resized_crop_scale: expected two"},
};

static void a_member_that_may_not_be_zero_is_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(zeros) / sizeof(zeros[0]); i++) {
		struct structs given = right;
		memset((char *)&given + zeros[i].member, 0, zeros[i].size);
		print_message("%s\n", zeros[i].text);
		assert_status(zeros[i].call((const char *)&given + zeros[i].offset),
			      TN_INVALID_ARGUMENT);
		assert_contains(error.text, zeros[i].text);
	}
}

/* Neither has a context nor, for a text, an error. */
static void the_text_of_a_format_and_its_reader_need_the_size(void **state)
{
	struct {
		struct tn_input_format format;
		uint64_t later;
	} newer = {.format = right.input_format, .later = 1};
	/* A text has the numbers of the channels that there are. */
	memset(newer.format.deviation + 1, 0, sizeof(float) * (TN_MAX_CHANNELS - 1));
	struct tn_input_format whole = {.struct_size = sizeof(whole)}, none = {0};
	struct tn_input_format part = {.struct_size = offsetof(struct tn_input_format, width),
				       .width = 77};
	(void)state;
	char *text = tn_input_format_text(&newer.format);
	assert_non_null(text);
	assert_status(tn_input_format_parse(text, &none, &error), TN_INVALID_ARGUMENT);
	assert_contains(error.text, "struct_size");
	assert_int_equal(none.height, 0);
	assert_ok(tn_input_format_parse(text, &whole, &error));
	assert_memory_equal(&whole, &newer.format, sizeof(whole));
	/* A caller of an earlier version, whose struct ends before the width. */
	assert_ok(tn_input_format_parse(text, &part, &error));
	assert_int_equal(part.height, 8);
	assert_int_equal(part.width, 77);
	tn_string_free(text);
	assert_null(tn_input_format_text(&none));
	newer.format.struct_size = sizeof(newer);
	assert_null(tn_input_format_text(&newer.format));
}

static int n_destroyed;

static void count_destroyed(void *state)
{
	(void)state;
	n_destroyed++;
}

static void the_state_of_a_class_that_is_too_new_is_destroyed(void **state)
{
	struct {
		struct tn_module_class class_;
		uint64_t later;
	} newer = {.class_ = {.struct_size = sizeof(newer),
			      .name = "Newer",
			      .forward = negated,
			      .destroy = count_destroyed},
		   .later = 1};
	(void)state;
	assert_status(module(tn_module_custom(context, &newer.class_, &n_destroyed)),
		      TN_UNSUPPORTED);
	assert_int_equal(n_destroyed, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_of_this_version_is_taken),
		cmocka_unit_test(the_defaults_are_those_of_no_options),
		cmocka_unit_test(members_beyond_the_size_have_their_defaults),
		cmocka_unit_test(a_member_that_may_not_be_zero_is_named),
		cmocka_unit_test(one_without_its_size_is_refused),
		cmocka_unit_test(one_of_a_later_version_is_taken_unless_it_sets_what_is_not_known),
		cmocka_unit_test(the_text_of_a_format_and_its_reader_need_the_size),
		cmocka_unit_test(the_state_of_a_class_that_is_too_new_is_destroyed),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
