/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What is broken in nnott, a teaching library that users come from, works here: one case for each
 * of its defects in losses, layers, optimizers and files.
 *
 * Its other defects are tested elsewhere:
 *   A1.1    a GPU that is absent fails in the first operation   cli/cuda_absent.sh, cli/mock.sh
 *   A3.5    promised tensors between layers                     train_trainer.c
 *   A4.2    --gpu prints a warning and computes on the host     cli/train.sh ('nothing!')
 *   A4.6-8  weights of the last epoch, clipped sums,
 *           evaluation in training mode                         train_trainer.c
 *   A6      networks that are not those documented              models_networks.c, doc/layers.sh
 *   A7.4    documented options that are refused                 cli/options.sh
 *   A7.9    documented programs that crash                      doc/readme.sh, doc/compile.sh
 *   A7.10   data that were said to come with it                 data_digits.c
 */
#include <unistd.h>

#include <tenon/tenon.h>

#include "check.h"
#include "models/models.h"
#include "test_context.h"

static tn_array *normal(int rank, const int64_t *shape)
{
	return tn_random_normal(context, rank, shape, 0, 1);
}

static void read_all(const tn_array *array, float *values, size_t n)
{
	assert_non_null(array);
	assert_int_equal(tn_array_size(array), n);
	assert_ok(tn_to_host(tn_astype(array, TN_F32), values, n * sizeof(*values)));
}

static tn_array *sum_of(tn_array *y)
{
	return tn_sum(y, TN_ALL_AXES, NULL, 0);
}

/* ---- Losses ----------------------------------------------------------------------------------*/

enum { ROWS = 4, CLASSES = 5 };

static tn_array *some_labels(void)
{
	static const int32_t labels[ROWS] = {3, 0, 4, 1};
	const int64_t n = ROWS;
	return tn_from_host(context, TN_I32, 1, &n, labels);
}

/* A1.6: there the gradient is that of the sum whatever the reduction. */
static void the_gradient_of_cross_entropy_is_that_of_its_reduction(void **state)
{
	float mean[ROWS * CLASSES], sum[ROWS * CLASSES];
	(void)state;
	tn_array *x = normal(2, (const int64_t[]){ROWS, CLASSES});
	for (uint32_t reduction = TN_REDUCTION_MEAN; reduction <= TN_REDUCTION_SUM; reduction++) {
		tn_tape *tape = tn_tape_begin(context);
		assert_ok(tn_tape_watch(tape, x));
		struct tn_cross_entropy_options cross_entropy = tn_cross_entropy_defaults();
		cross_entropy.reduction = reduction;
		tn_array *loss = tn_cross_entropy(x, some_labels(), &cross_entropy);
		assert_ok(tn_tape_backward(tape, loss, NULL));
		read_all(tn_tape_gradient(tape, x), reduction ? sum : mean, ROWS * CLASSES);
		tn_tape_end(tape);
	}
	for (int i = 0; i < ROWS * CLASSES; i++)
		assert_close(sum[i], ROWS * mean[i], 1e-6);
}

static tn_array *cross_entropy(void *user, tn_array *const *inputs)
{
	const uint32_t *reduction = user;
	struct tn_cross_entropy_options options = tn_cross_entropy_defaults();
	options.reduction = *reduction;
	return tn_cross_entropy(inputs[0], some_labels(), &options);
}

/* A1.7: there the check of its own gradient by differences always fails. */
static void cross_entropy_passes_its_check_by_differences(void **state)
{
	struct tn_gradient_report report = {.struct_size = sizeof(report)};
	(void)state;
	tn_array *x = tn_astype(normal(2, (const int64_t[]){ROWS, CLASSES}), TN_F64);
	for (uint32_t reduction = TN_REDUCTION_MEAN; reduction <= TN_REDUCTION_SUM; reduction++)
		assert_ok(tn_gradient_check(context, cross_entropy, &reduction, 1, &x, 1e-5, 1e-6,
					    0, &report));
}

/* ---- Layers ----------------------------------------------------------------------------------*/

/* A5.3: there each of equal maxima takes the whole gradient. */
static void one_of_equal_maxima_of_a_pool_has_the_gradient(void **state)
{
	float g[16];
	(void)state;
	tn_array *x = tn_ones(context, TN_F32, 4, (const int64_t[]){1, 1, 4, 4});
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	struct tn_pool2d_options pool2d = tn_pool2d_defaults();
	pool2d.kernel[0] = pool2d.kernel[1] = 2;
	tn_array *y = tn_max_pool2d(x, &pool2d);
	assert_ok(tn_tape_backward(tape, sum_of(y), NULL));
	read_all(tn_tape_gradient(tape, x), g, 16);
	for (int i = 0; i < 16; i++)
		assert_close(g[i], i / 4 % 2 == 0 && i % 2 == 0, 0);
	tn_tape_end(tape);
}

static tn_array *gelu(void *user, tn_array *const *inputs)
{
	tn_array *y = *(const int *)user ? tn_gelu_tanh(inputs[0]) : tn_gelu(inputs[0]);
	return sum_of(tn_square(y));
}

static tn_array *softmax(void *user, tn_array *const *inputs)
{
	(void)user;
	return sum_of(tn_multiply(tn_softmax(inputs[0], 1), inputs[1]));
}

/* A5.7: there the exact GELU has neither a forward nor a backward, the gradient of a softmax is
 * that of the identity, and a LeakyReLU makes f64 of everything. */
static void activations_have_values_gradients_and_their_own_type(void **state)
{
	struct tn_gradient_report report = {.struct_size = sizeof(report)};
	float y[3];
	(void)state;
	const int64_t three = 3;
	tn_module *module = tn_module_gelu(context, 0);
	assert_ok(tn_module_build(module));
	read_all(tn_module_forward(
			 module, tn_from_host(context, TN_F32, 1, &three, (float[]){-1, 0.5f, 2})),
		 y, 3);
	/* x (1 + erf(x / sqrt 2)) / 2 */
	assert_close(y[0], -0.15865525393145707, 1e-6);
	assert_close(y[1], 0.34573123063700656, 1e-6);
	assert_close(y[2], 1.9544997361036416, 1e-6);
	tn_module_destroy(module);
	const int64_t shape[] = {3, 4};
	tn_array *inputs[] = {tn_astype(normal(2, shape), TN_F64),
			      tn_astype(normal(2, shape), TN_F64)};
	for (int is_tanh = 0; is_tanh < 2; is_tanh++)
		assert_ok(tn_gradient_check(context, gelu, &is_tanh, 1, inputs, 1e-6, 1e-6, 0,
					    &report));
	assert_ok(tn_gradient_check(context, softmax, NULL, 2, inputs, 1e-6, 1e-6, 0, &report));
	static const tn_dtype dtypes[] = {TN_F16, TN_BF16, TN_F32, TN_F64};
	for (size_t i = 0; i < 4; i++) {
		tn_array *x = tn_astype(inputs[0], dtypes[i]);
		assert_int_equal(tn_array_dtype(tn_leaky_relu(x, 0.01)), dtypes[i]);
		assert_int_equal(tn_array_dtype(tn_gelu(x)), dtypes[i]);
	}
}

/* A5.8: there the block has no parameters, so that it is never trained. */
static void squeeze_and_excitation_is_trained(void **state)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	float before[64], after[64];
	(void)state;
	tn_module *net = tn_module_squeeze_excitation(context, 8, 4, TN_ACTIVATION_SILU);
	assert_ok(tn_module_build(net));
	assert_int_equal(tn_module_parameter_count(net), 4);
	tn_module_set_training(net, 1);
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 0.5;
	tn_optimizer *optimizer = tn_sgd(net, &sgd);
	assert_ok(tn_module_parameter(net, "fc1.weight", &view));
	read_all(view.value, before, 32);
	tn_tape *tape = tn_tape_begin(context);
	tn_array *y = tn_module_forward(net, normal(4, (const int64_t[]){2, 8, 3, 3}));
	assert_ok(tn_tape_backward(tape, sum_of(tn_square(y)), NULL));
	tn_tape_end(tape);
	for (size_t i = 0; !tn_module_parameter_at(net, i, &view); i++) {
		double norm = 0;
		assert_non_null(view.gradient);
		assert_ok(tn_item(sum_of(tn_square(view.gradient)), &norm));
		assert_true(norm > 0);
	}
	assert_ok(tn_optimizer_step(optimizer));
	assert_ok(tn_module_parameter(net, "fc1.weight", &view));
	read_all(view.value, after, 32);
	assert_memory_not_equal(before, after, 32 * sizeof(float));
	tn_optimizer_destroy(optimizer);
	tn_module_destroy(net);
}

/* ---- Lookahead -------------------------------------------------------------------------------*/

/* One step with a gradient of 1 everywhere; the weight after it. */
static double step_of_one(tn_module *net, tn_optimizer *optimizer)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	double weight = NAN;
	tn_module_zero_gradients(net);
	tn_tape *tape = tn_tape_begin(context);
	tn_array *y = tn_module_forward(net, tn_ones(context, TN_F32, 2, (const int64_t[]){1, 1}));
	assert_ok(tn_tape_backward(tape, sum_of(y), NULL));
	tn_tape_end(tape);
	assert_ok(tn_optimizer_step(optimizer));
	assert_ok(tn_module_parameter_at(net, 0, &view));
	assert_ok(tn_item(sum_of(view.value), &weight));
	return weight;
}

/* A4.4: there Lookahead has no learning rate, so that schedules stop silently, and the first
 * synchronisation does nothing. */
static void lookahead_passes_rates_on_and_synchronises_from_the_first_time(void **state)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	(void)state;
	struct tn_module_linear_options linear = tn_module_linear_defaults();
	linear.no_bias = 1;
	tn_module *net = tn_module_linear(context, 1, 1, &linear);
	assert_ok(tn_module_build(net));
	assert_ok(tn_module_parameter_at(net, 0, &view));
	assert_ok(tn_fill(view.value, 8));
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 1;
	tn_optimizer *optimizer = tn_sgd(net, &sgd);
	struct tn_lookahead_options lookahead = tn_lookahead_defaults();
	lookahead.k = 2;
	lookahead.alpha = 0.5;
	assert_ok(tn_lookahead(optimizer, &lookahead));
	struct tn_schedule_options options = tn_schedule_defaults();
	options.kind = TN_SCHEDULE_STEP;
	options.period = 2;
	options.gamma = 0.5;
	tn_schedule *schedule = tn_schedule_create(optimizer, &options);
	assert_non_null(schedule);
	assert_close(step_of_one(net, optimizer), 7, 0);
	assert_ok(tn_schedule_advance(schedule));
	assert_close(step_of_one(net, optimizer), 7, 0); /* 6, halfway back to 8 */
	assert_ok(tn_schedule_advance(schedule));
	assert_close(tn_optimizer_lr(optimizer), 0.5, 0);
	assert_close(step_of_one(net, optimizer), 6.5, 0);
	assert_close(step_of_one(net, optimizer), 6.5, 0); /* 6, halfway back to 7 */
	tn_schedule_destroy(schedule);
	tn_optimizer_destroy(optimizer);
	tn_module_destroy(net);
}

/* ---- Files -----------------------------------------------------------------------------------*/

static const char *path_of(const char *what)
{
	static char path[80];
	snprintf(path, sizeof(path), "nn_nnott.%s.%d.safetensors", what, (int)getpid());
	return path;
}

static tn_module *small_net(void)
{
	tn_module *net = tn_module_sequential(context);
	assert_ok(tn_module_sequential_add(net, "fc", tn_module_linear(context, 3, 6, NULL)));
	assert_ok(tn_module_sequential_add(net, "bn", tn_module_batch_norm1d(context, 6, NULL)));
	assert_ok(tn_module_sequential_add(net, "head", tn_module_linear(context, 6, 2, NULL)));
	assert_ok(tn_module_build(net));
	tn_module_set_training(net, 1);
	return net;
}

static void train(tn_module *net, tn_optimizer *optimizer, int first, int last)
{
	for (int i = first; i < last; i++) {
		tn_random_set_state(context, (struct tn_random_state){11, (uint64_t)i});
		tn_array *x = normal(2, (const int64_t[]){8, 3});
		tn_module_zero_gradients(net);
		tn_tape *tape = tn_tape_begin(context);
		tn_array *y = tn_module_forward(net, x);
		assert_ok(tn_tape_backward(tape, sum_of(tn_square(y)), NULL));
		tn_tape_end(tape);
		assert_ok(tn_optimizer_step(optimizer));
	}
}

/* All states of the optimizer, in order, and the steps of its parameters. */
struct kept {
	size_t n;
	float numbers[512];
	uint64_t steps[8];
};

static void keep_state(tn_optimizer *optimizer, struct kept *kept, int restores)
{
	struct tn_optimizer_state_view view = {.struct_size = sizeof(view)};
	struct tn_optimizer_parameter_view parameter = {.struct_size = sizeof(parameter)};
	kept->n = 0;
	for (size_t i = 0; i < tn_optimizer_state_count(optimizer); i++) {
		assert_ok(tn_optimizer_state_at(optimizer, i, &view));
		size_t n = (size_t)tn_array_size(view.value);
		float *place = kept->numbers + kept->n;
		assert_true(kept->n + n <= 512);
		assert_ok(restores ? tn_assign_host(view.value, place, n * sizeof(*place))
				   : tn_to_host(view.value, place, n * sizeof(*place)));
		kept->n += n;
	}
	for (size_t i = 0; i < 6; i++) {
		assert_ok(tn_optimizer_parameter_at(optimizer, i, &parameter));
		if (restores)
			assert_ok(tn_optimizer_set_steps(optimizer, i, kept->steps[i]));
		else
			kept->steps[i] = parameter.steps;
	}
}

static size_t weights_of(const tn_module *net, float *weights)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	size_t n = 0;
	for (size_t i = 0; !tn_module_parameter_at(net, i, &view); i++) {
		size_t more = (size_t)tn_array_size(view.value);
		read_all(view.value, weights + n, more);
		n += more;
	}
	return n;
}

/* A1.12: there files are pickles, which run what they contain, and hold no moments, so that a
 * training that is resumed restarts Adam. */
static void a_training_that_is_resumed_keeps_its_moments(void **state)
{
	float whole[64], resumed[64];
	struct kept kept;
	const char *path = path_of("resume");
	(void)state;
	tn_random_set_state(context, (struct tn_random_state){3, 1});
	tn_module *net = small_net();
	tn_optimizer *optimizer = tn_adam(net, NULL);
	train(net, optimizer, 0, 3);
	assert_ok(tn_module_save(net, path, 0, NULL));
	keep_state(optimizer, &kept, 0);
	assert_int_equal(kept.steps[0], 3);
	train(net, optimizer, 3, 6);
	size_t n = weights_of(net, whole);
	tn_optimizer_destroy(optimizer);
	tn_module_destroy(net);
	/* Another network, with other values at first. */
	net = small_net();
	optimizer = tn_adam(net, NULL);
	assert_ok(tn_module_load(net, path, NULL));
	keep_state(optimizer, &kept, 1);
	train(net, optimizer, 3, 6);
	assert_int_equal(weights_of(net, resumed), n);
	assert_memory_equal(resumed, whole, n * sizeof(float));
	tn_optimizer_destroy(optimizer);
	tn_module_destroy(net);
	/* A pickle is refused by its first bytes. */
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	fputs("\x80\x04\x95\x1a.a pickle of Python's, which a reader would run", file);
	fclose(file);
	net = small_net();
	assert_status(tn_module_load(net, path, NULL), TN_FORMAT);
	tn_error_clear(context);
	tn_module_destroy(net);
	unlink(path);
}

/* LayerNorm2d and Linear alone, for A5.6. */
static tn_module *make_norms(void)
{
	tn_module *net = tn_module_sequential(context);
	assert_ok(tn_module_sequential_add(net, "norm", tn_module_layer_norm2d(context, 3, NULL)));
	assert_ok(tn_module_sequential_add(net, "flatten", tn_module_flatten(context)));
	assert_ok(tn_module_sequential_add(net, "fc",
					   tn_module_linear(context, 3 * 32 * 32, 10, NULL)));
	return net;
}

static const struct tn_model_shape colours = {3, 32, 32, 10};

static tn_module *make_lenet(void)
{
	return tn_model_create(context, "lenet", &colours);
}

static tn_module *make_mlp(void)
{
	return tn_model_create(context, "mlp", &colours);
}

static tn_module *make_resnet18(void)
{
	return tn_model_create_width(context, "resnet18:small", &colours, 8);
}

static tn_module *make_convnext(void)
{
	return tn_model_create_width(context, "convnext_tiny:published", &colours, 8);
}

static tn_module *make_efficientnet(void)
{
	return tn_model_create_width(context, "efficientnet_lite0:published", &colours, 8);
}

/* All weights moved, as by training, and the statistics of norms too. */
static void disturb(tn_module *net)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	tn_module_set_training(net, 1);
	assert_non_null(tn_module_forward(net, normal(4, (const int64_t[]){4, 3, 32, 32})));
	for (size_t i = 0; !tn_module_parameter_at(net, i, &view); i++)
		assert_ok(tn_add_into(view.value, view.value,
				      tn_affine(normal(view.rank, view.shape), 0.02, 0)));
	tn_module_set_training(net, 0);
}

/* A5.6: there LayerNorm2d and Dense are not saved; A7.5: there no network gives the logits again
 * that it gave when it was saved, once a new one has read the file. */
static void a_new_network_that_reads_a_file_gives_the_same_logits(void **state)
{
	static const struct {
		const char *name;
		tn_module *(*make)(void);
	} nets[] = {{"norms", make_norms},       {"lenet", make_lenet},
		    {"mlp", make_mlp},           {"resnet18", make_resnet18},
		    {"convnext", make_convnext}, {"efficientnet", make_efficientnet}};
	float saved[20], loaded[20], fresh[20];
	(void)state;
	for (size_t i = 0; i < sizeof(nets) / sizeof(nets[0]); i++) {
		const char *path = path_of(nets[i].name);
		assert_ok(tn_scope_begin(context));
		tn_array *x = normal(4, (const int64_t[]){2, 3, 32, 32});
		tn_module *net = nets[i].make(), *other = nets[i].make();
		assert_ok(tn_module_build(net));
		assert_ok(tn_module_build(other));
		disturb(net);
		read_all(tn_module_forward(net, x), saved, 20);
		read_all(tn_module_forward(other, x), fresh, 20);
		assert_memory_not_equal(fresh, saved, sizeof(saved));
		assert_ok(tn_module_save(net, path, 0, NULL));
		assert_ok(tn_module_load(other, path, NULL));
		read_all(tn_module_forward(other, x), loaded, 20);
		assert_memory_equal(loaded, saved, sizeof(saved));
		unlink(path);
		tn_module_destroy(net);
		tn_module_destroy(other);
		tn_scope_end(context, NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_gradient_of_cross_entropy_is_that_of_its_reduction),
		cmocka_unit_test(cross_entropy_passes_its_check_by_differences),
		cmocka_unit_test(one_of_equal_maxima_of_a_pool_has_the_gradient),
		cmocka_unit_test(activations_have_values_gradients_and_their_own_type),
		cmocka_unit_test(squeeze_and_excitation_is_trained),
		cmocka_unit_test(lookahead_passes_rates_on_and_synchronises_from_the_first_time),
		cmocka_unit_test(a_training_that_is_resumed_keeps_its_moments),
		cmocka_unit_test(a_new_network_that_reads_a_file_gives_the_same_logits),
	};
	return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
