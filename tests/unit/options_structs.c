/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Every public function that takes a struct with a struct_size refuses one that lacks it, and one
 * that sets fields unknown to this version.
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
	tn_average *made = tn_average_create(net, options);
	tn_status status = kept(made != NULL);
	tn_average_destroy(made);
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
	tn_schedule *schedule = tn_schedule_create(
		own, TN_OPTIONS(struct tn_schedule_options, .kind = TN_SCHEDULE_CONSTANT));
	tn_status status = tn_schedule_set_state(schedule, state);
	tn_schedule_destroy(schedule);
	tn_optimizer_destroy(own);
	assert_int_equal(kept(status == TN_OK), status);
	return status;
}

static struct tn_checkpoint checkpoint = {.struct_size = sizeof(checkpoint)};

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
	tn_checkpoint_folder *made = tn_checkpoint_folder_open(context, "/nonexistent", options);
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
	return module(tn_module_create(context, class_, NULL));
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
	return array(tn_asarray_host(context,
				     TN_OPTIONS(struct tn_wrap_options, .dtype = TN_F32,
						.data = (void *)(uintptr_t)&number,
						.size_bytes = sizeof(number)),
				     options));
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
	return data_loader_create(TN_OPTIONS(struct tn_data_loader_options, .batch_size = 1,
					     .augmentation = augmentation));
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
	return dataset_open(TN_OPTIONS(struct tn_dataset_options, .normalise_as = format));
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
static const char *const names_of[] = {"x"};
static const tn_dtype dtypes_of[] = {TN_F32};
static const uint32_t first_input[] = {0};

#define FORMAT                                                                                     \
	TN_OPTIONS(struct tn_input_format, .channels = 1, .height = 8, .width = 8,                 \
		   .source_height = 8, .source_width = 8, .zoom = 1, .scale = 1, .deviation = {1}, \
		   .n_classes = 2)

/* The type's name in errors, the function, a struct that it takes, and the expected error. */
static const struct {
	const char *type;
	tn_status (*call)(const void *given);
	const void *right;
	tn_status status;
} cases[] = {
	{"struct tn_context_options", context_open,
	 TN_OPTIONS(struct tn_context_options, .backend = "reference", .log = drop_message), TN_OK},
	{"struct tn_metric_options", metric,
	 TN_OPTIONS(struct tn_metric_options, .kind = TN_METRIC_R2), TN_OK},
	{"struct tn_metric_class", metric_class,
	 TN_OPTIONS(struct tn_metric_class, .name = "nothing", .begin = begin_nothing,
		    .add = add_nothing, .value = value_of_nothing),
	 TN_OK},
	{"struct tn_trainer_options", trainer,
	 TN_OPTIONS(struct tn_trainer_options, .n_epochs = 2, .accumulate = 1, .clip_value = 1,
		    .clip_norm = 1, .patience = 1, .step_interval = 1),
	 TN_OK},
	{"struct tn_loss_options", loss,
	 TN_OPTIONS(struct tn_loss_options, .kind = TN_LOSS_MSE, .beta = 1, .delta = 1, .p = 1,
		    .margin = 1),
	 TN_OK},
	{"struct tn_loss_class", loss_class,
	 TN_OPTIONS(struct tn_loss_class, .name = "nothing", .sum = sum_of_nothing), TN_OK},
	{"struct tn_sgd_options", sgd, TN_OPTIONS(struct tn_sgd_options, .lr = 0.1), TN_OK},
	{"struct tn_adamw_options", adamw, TN_OPTIONS(struct tn_adamw_options, .lr = 0.1), TN_OK},
	{"struct tn_adam_options", adam, TN_OPTIONS(struct tn_adam_options, .lr = 0.1), TN_OK},
	{"struct tn_nadam_options", nadam, TN_OPTIONS(struct tn_nadam_options, .lr = 0.1), TN_OK},
	{"struct tn_rmsprop_options", rmsprop, TN_OPTIONS(struct tn_rmsprop_options, .lr = 0.1),
	 TN_OK},
	{"struct tn_adagrad_options", adagrad, TN_OPTIONS(struct tn_adagrad_options, .lr = 0.1),
	 TN_OK},
	{"struct tn_adadelta_options", adadelta, TN_OPTIONS(struct tn_adadelta_options, .lr = 0.1),
	 TN_OK},
	{"struct tn_lion_options", lion, TN_OPTIONS(struct tn_lion_options, .lr = 0.1), TN_OK},
	{"struct tn_lars_options", lars, TN_OPTIONS(struct tn_lars_options, .lr = 0.1), TN_OK},
	{"struct tn_lamb_options", lamb, TN_OPTIONS(struct tn_lamb_options, .lr = 0.1), TN_OK},
	{"struct tn_group_options", optimizer_set_group,
	 TN_OPTIONS(struct tn_group_options, .no_decay = 1), TN_OK},
	{"struct tn_lookahead_options", lookahead, TN_OPTIONS(struct tn_lookahead_options, .k = 2),
	 TN_OK},
	{"struct tn_average_options", average_create,
	 TN_OPTIONS(struct tn_average_options, .decay = 0.5), TN_OK},
	{"struct tn_grad_scaler_options", grad_scaler_create,
	 TN_OPTIONS(struct tn_grad_scaler_options, .growth_interval = 5), TN_OK},
	{"struct tn_grad_scaler_state", grad_scaler_set_state,
	 TN_OPTIONS(struct tn_grad_scaler_state, .scale = 2), TN_OK},
	{"struct tn_summary_options", summary_create,
	 TN_OPTIONS(struct tn_summary_options, .depth = 1), TN_OK},
	{"struct tn_profile_options", profile_begin,
	 TN_OPTIONS(struct tn_profile_options, .no_trace = 1), TN_OK},
	{"struct tn_schedule_options", schedule_create,
	 TN_OPTIONS(struct tn_schedule_options, .kind = TN_SCHEDULE_STEP, .period = 2), TN_OK},
	{"struct tn_schedule_state", schedule_set_state,
	 TN_OPTIONS(struct tn_schedule_state, .t = 3), TN_OK},
	{"struct tn_checkpoint", checkpoint_save, &checkpoint, TN_IO},
	{"struct tn_checkpoint", checkpoint_load, &checkpoint, TN_NOT_FOUND},
	{"struct tn_checkpoint_folder_options", checkpoint_folder_open,
	 TN_OPTIONS(struct tn_checkpoint_folder_options, .is_read_only = 1), TN_NOT_FOUND},
	{"struct tn_module_linear_options", module_linear,
	 TN_OPTIONS(struct tn_module_linear_options, .no_bias = 1), TN_OK},
	{"struct tn_module_conv2d_options", module_conv2d,
	 TN_OPTIONS(struct tn_module_conv2d_options, .no_bias = 1), TN_OK},
	{"struct tn_module_conv1d_options", module_conv1d,
	 TN_OPTIONS(struct tn_module_conv1d_options, .no_bias = 1), TN_OK},
	{"struct tn_module_conv_transpose2d_options", module_conv_transpose2d,
	 TN_OPTIONS(struct tn_module_conv_transpose2d_options, .no_bias = 1), TN_OK},
	{"struct tn_module_embedding_options", module_embedding,
	 TN_OPTIONS(struct tn_module_embedding_options, .has_padding = 1), TN_OK},
	{"struct tn_module_instance_norm_options", module_instance_norm2d,
	 TN_OPTIONS(struct tn_module_instance_norm_options, .affine = 1), TN_OK},
	{"struct tn_module_attention_options", module_multihead_attention,
	 TN_OPTIONS(struct tn_module_attention_options, .causal = 1), TN_OK},
	{"struct tn_module_recurrent_options", module_lstm,
	 TN_OPTIONS(struct tn_module_recurrent_options, .n_layers = 2), TN_OK},
	{"struct tn_module_recurrent_options", module_gru,
	 TN_OPTIONS(struct tn_module_recurrent_options, .n_layers = 2), TN_OK},
	{"struct tn_conv1d_options", conv1d, TN_OPTIONS(struct tn_conv1d_options, .padding = 1),
	 TN_OK},
	{"struct tn_conv_transpose2d_options", conv_transpose2d,
	 TN_OPTIONS(struct tn_conv_transpose2d_options, .padding = {1, 1}), TN_OK},
	{"struct tn_attention_options", attention,
	 TN_OPTIONS(struct tn_attention_options, .causal = 1), TN_OK},
	{"struct tn_recurrent_options", lstm, TN_OPTIONS(struct tn_recurrent_options, .reverse = 1),
	 TN_OK},
	{"struct tn_recurrent_options", gru, TN_OPTIONS(struct tn_recurrent_options, .reverse = 1),
	 TN_OK},
	{"struct tn_interpolate_options", module_upsample,
	 TN_OPTIONS(struct tn_interpolate_options, .scale = {2, 2}), TN_OK},
	{"struct tn_interpolate_options", interpolate,
	 TN_OPTIONS(struct tn_interpolate_options, .scale = {2, 2}), TN_OK},
	{"struct tn_local_response_norm_options", module_local_response_norm,
	 TN_OPTIONS(struct tn_local_response_norm_options, .beta = 0.5), TN_OK},
	{"struct tn_local_response_norm_options", local_response_norm,
	 TN_OPTIONS(struct tn_local_response_norm_options, .beta = 0.5), TN_OK},
	{"struct tn_module_mbconv_options", module_mbconv,
	 TN_OPTIONS(struct tn_module_mbconv_options, .stride = 2), TN_OK},
	{"struct tn_module_convnext_options", module_convnext_block,
	 TN_OPTIONS(struct tn_module_convnext_options, .layer_scale = 1), TN_OK},
	{"struct tn_wrap_options", array_wrap,
	 TN_OPTIONS(struct tn_wrap_options, .dtype = TN_U8, .data = images, .size_bytes = 1),
	 TN_OK},
	{"struct tn_print_options", array_str, TN_OPTIONS(struct tn_print_options, .precision = 3),
	 TN_OK},
	{"struct tn_print_options", array_repr, TN_OPTIONS(struct tn_print_options, .precision = 3),
	 TN_OK},
	{"struct tn_print_options", array2string,
	 TN_OPTIONS(struct tn_print_options, .precision = 3), TN_OK},
	{"struct tn_assert_options", assert_allclose,
	 TN_OPTIONS(struct tn_assert_options, .strict = 1), TN_OK},
	{"struct tn_assert_options", assert_array_equal,
	 TN_OPTIONS(struct tn_assert_options, .strict = 1), TN_OK},
	{"struct tn_assert_options", assert_array_less,
	 TN_OPTIONS(struct tn_assert_options, .strict = 1), TN_OK},
	{"struct tn_loadtxt_options", loadtxt, TN_OPTIONS(struct tn_loadtxt_options, .ndmin = 1),
	 TN_NOT_FOUND},
	/* A picture has four axes. */
	{"struct tn_savetxt_options", savetxt, TN_OPTIONS(struct tn_savetxt_options, .fmt = "%g"),
	 TN_SHAPE},
	{"struct tn_wrap_options", array_import,
	 TN_OPTIONS(struct tn_wrap_options, .dtype = TN_U8, .data = images, .size_bytes = 1),
	 TN_OK},
	{"struct tn_wrap_options", asarray_host_memory,
	 TN_OPTIONS(struct tn_wrap_options, .dtype = TN_U8, .data = images, .size_bytes = 1),
	 TN_OK},
	{"struct tn_asarray_options", asarray,
	 TN_OPTIONS(struct tn_asarray_options, .copy = TN_COPY_ALWAYS), TN_OK},
	{"struct tn_asarray_options", asarray_host,
	 TN_OPTIONS(struct tn_asarray_options, .copy = TN_COPY_ALWAYS), TN_OK},
	{"struct tn_benchmark_options", benchmark,
	 TN_OPTIONS(struct tn_benchmark_options, .repeats = 1), TN_OK},
	{"struct tn_to_dlpack_options", to_dlpack,
	 TN_OPTIONS(struct tn_to_dlpack_options, .copy = TN_COPY_ALWAYS), TN_OK},
	{"struct tn_to_dlpack_options", to_dlpack_unversioned,
	 TN_OPTIONS(struct tn_to_dlpack_options, .copy = TN_COPY_ALWAYS), TN_OK},
	{"struct tn_from_dlpack_options", from_dlpack,
	 TN_OPTIONS(struct tn_from_dlpack_options, .copy = TN_COPY_ALWAYS), TN_OK},
	{"struct tn_from_dlpack_options", from_dlpack_unversioned,
	 TN_OPTIONS(struct tn_from_dlpack_options, .copy = TN_COPY_ALWAYS), TN_OK},
	{"struct tn_pool2d_options", module_max_pool2d,
	 TN_OPTIONS(struct tn_pool2d_options, .kernel = {2, 2}), TN_OK},
	{"struct tn_pool2d_options", module_avg_pool2d,
	 TN_OPTIONS(struct tn_pool2d_options, .kernel = {2, 2}), TN_OK},
	{"struct tn_module_norm_options", module_batch_norm2d,
	 TN_OPTIONS(struct tn_module_norm_options, .no_affine = 1), TN_OK},
	{"struct tn_module_norm_options", module_layer_norm,
	 TN_OPTIONS(struct tn_module_norm_options, .no_affine = 1), TN_OK},
	{"struct tn_module_norm_options", module_layer_norm2d,
	 TN_OPTIONS(struct tn_module_norm_options, .no_affine = 1), TN_OK},
	{"struct tn_module_norm_options", module_group_norm,
	 TN_OPTIONS(struct tn_module_norm_options, .no_affine = 1), TN_OK},
	{"struct tn_module_class", module_create,
	 TN_OPTIONS(struct tn_module_class, .name = "Negated", .forward = negated), TN_OK},
	{"struct tn_conv2d_options", conv2d,
	 TN_OPTIONS(struct tn_conv2d_options, .padding = {1, 1}), TN_OK},
	{"struct tn_pool2d_options", max_pool2d,
	 TN_OPTIONS(struct tn_pool2d_options, .kernel = {2, 2}), TN_OK},
	{"struct tn_pool2d_options", avg_pool2d,
	 TN_OPTIONS(struct tn_pool2d_options, .kernel = {2, 2}), TN_OK},
	{"struct tn_batch_norm_options", batch_norm,
	 TN_OPTIONS(struct tn_batch_norm_options, .training = 1), TN_OK},
	{"struct tn_cross_entropy_options", cross_entropy,
	 TN_OPTIONS(struct tn_cross_entropy_options, .label_smoothing = 0.1), TN_OK},
	{"struct tn_nll_loss_options", nll_loss,
	 TN_OPTIONS(struct tn_nll_loss_options, .reduction = TN_REDUCTION_SUM), TN_OK},
	{"struct tn_binary_cross_entropy_options", binary_cross_entropy,
	 TN_OPTIONS(struct tn_binary_cross_entropy_options, .reduction = TN_REDUCTION_SUM), TN_OK},
	{"struct tn_kaiming_options", init_kaiming,
	 TN_OPTIONS(struct tn_kaiming_options, .mode = TN_FAN_OUT), TN_OK},
	{"struct tn_init_options", module_init, TN_OPTIONS(struct tn_init_options, .value = 1),
	 TN_OK},
	{"struct tn_reduce_options", reduce, TN_OPTIONS(struct tn_reduce_options, .keepdims = 1),
	 TN_OK},
	{"struct tn_quantile_options", quantile,
	 TN_OPTIONS(struct tn_quantile_options, .n_axes = TN_ALL_AXES), TN_OK},
	{"struct tn_histogram_options", histogram,
	 TN_OPTIONS(struct tn_histogram_options, .n_bins = 3), TN_OK},
	{"struct tn_histogramdd_options", histogramdd,
	 TN_OPTIONS(struct tn_histogramdd_options, .density = 1), TN_OK},
	{"struct tn_gradients_options", gradients,
	 TN_OPTIONS(struct tn_gradients_options, .retain_graph = 1), TN_OK},
	{"struct tn_node_options", node_record,
	 TN_OPTIONS(struct tn_node_options, .name = "own", .n_outputs = 1, .outputs = &filters,
		    .backward = no_backward),
	 TN_OK},
	/* The reference has no compiler. */
	{"struct tn_kernel_source", kernel_compile,
	 TN_OPTIONS(struct tn_kernel_source, .format = "cuda-c", .text = "", .name = "none"),
	 TN_UNSUPPORTED},
	{"struct tn_program_names", program_parse,
	 TN_OPTIONS(struct tn_program_names, .n_inputs = 1, .inputs = names_of,
		    .input_dtypes = dtypes_of),
	 TN_OK},
	{"struct tn_program_wants", program_differentiate,
	 TN_OPTIONS(struct tn_program_wants, .n_inputs = 1, .inputs = first_input), TN_OK},
	{"struct tn_dataset_options", dataset_open,
	 TN_OPTIONS(struct tn_dataset_options, .digits_as_stored = 1), TN_NOT_FOUND},
	{"struct tn_dataset_source", dataset_create,
	 TN_OPTIONS(struct tn_dataset_source, .channels = 1, .height = 8, .width = 8,
		    .images = &images[0][0][0], .labels = labels, .n_images = 4, .n_classes = 2),
	 TN_OK},
	{"struct tn_input_format", input_format_apply, FORMAT, TN_OK},
	{"struct tn_input_format", predict, FORMAT, TN_OK},
	{"struct tn_input_format", normalise_as, FORMAT, TN_NOT_FOUND},
	{"struct tn_dataset_fields", dataset_from_fields,
	 TN_OPTIONS(struct tn_dataset_fields, .n_fields = 1, .fields = &one_field, .n = 64,
		    .data = one_pointer),
	 TN_OK},
	{"struct tn_fold_options", dataset_fold, TN_OPTIONS(struct tn_fold_options, .n_folds = 2),
	 TN_OK},
	{"struct tn_data_loader_options", data_loader_create,
	 TN_OPTIONS(struct tn_data_loader_options, .batch_size = 1), TN_OK},
	{"struct tn_augmentation", augment, TN_OPTIONS(struct tn_augmentation, .max_shift = 1),
	 TN_OK},
	{"struct tn_augment_batch", augment_batch,
	 TN_OPTIONS(struct tn_augment_batch, .channels = 1, .height = 8, .width = 8), TN_OK},
};
enum { N_CASES = sizeof(cases) / sizeof(cases[0]), ROOM = 512 };

static int setup(void **state)
{
	(void)state;
	assert_ok(tn_context_open(cases[0].right, &context, &error));
	for (size_t i = 0; i < sizeof(images); i++)
		(&images[0][0][0])[i] = (uint8_t)i;
	for (size_t i = 0; i < N_CASES; i++) {
		if (cases[i].call == dataset_create)
			assert_ok(tn_dataset_create(cases[i].right, &dataset, &error));
		if (cases[i].call == program_parse)
			assert_ok(tn_program_parse("z = x * x", cases[i].right, &program, &error));
	}
	picture = tn_ones(context, TN_F32, 4, (const int64_t[]){1, 1, 8, 8});
	filters = tn_ones(context, TN_F32, 4, (const int64_t[]){2, 1, 3, 3});
	scores = tn_ones(context, TN_F32, 2, (const int64_t[]){4, 3});
	classes = tn_zeros(context, TN_I32, 1, (const int64_t[]){4});
	net = tn_sequential(context);
	assert_ok(tn_sequential_add(net, NULL, tn_module_flatten(context)));
	assert_ok(tn_sequential_add(net, NULL, tn_module_linear(context, 64, 2, NULL)));
	assert_ok(tn_module_build(net));
	checkpoint.module = net;
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

/* The correct struct of a case, as in a version with `more` bytes at its end, all zero. */
static uint32_t copy_right(size_t i, uint32_t more, unsigned char *copy)
{
	uint32_t size = *(const uint32_t *)cases[i].right, whole = size + more;
	assert_true(whole <= ROOM);
	memset(copy, 0, ROOM);
	memcpy(copy, cases[i].right, size);
	memcpy(copy, &whole, sizeof(whole));
	return whole;
}

static void one_of_this_version_is_taken(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_CASES; i++)
		assert_status(cases[i].call(cases[i].right), cases[i].status);
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

/* Neither has a context nor, for a text, an error. */
static void the_text_of_a_format_and_its_reader_need_the_size(void **state)
{
	struct {
		struct tn_input_format format;
		uint64_t later;
	} newer = {.format = *FORMAT, .later = 1};
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
	tn_data_text_free(text);
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
	assert_status(module(tn_module_create(context, &newer.class_, &n_destroyed)),
		      TN_UNSUPPORTED);
	assert_int_equal(n_destroyed, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_of_this_version_is_taken),
		cmocka_unit_test(one_without_its_size_is_refused),
		cmocka_unit_test(one_of_a_later_version_is_taken_unless_it_sets_what_is_not_known),
		cmocka_unit_test(the_text_of_a_format_and_its_reader_need_the_size),
		cmocka_unit_test(the_state_of_a_class_that_is_too_new_is_destroyed),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
