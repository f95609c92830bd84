/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Modules, losses and optimizers, on demand.  A module or a loss: forward, and backward to its
 * input and its parameters; an optimizer: a step on 11 million parameters in 50 tensors.
 *
 *     bench/modules NAME    measures one window of a twentieth of a second for each line on stdin,
 *                           so that bench/compare can take turns with PyTorch
 *     bench/modules         lists the names
 *
 * Each window prints steps per second; the end of the input, the peak memory in KiB.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <tenon/tenon.h>

#define WINDOW_SECONDS 0.05
#define OPTIMIZER_TENSORS 50

/* ---- Modules ---------------------------------------------------------------------------------*/

static tn_module *conv1d(tn_context *context)
{
	struct tn_conv1d_options window = tn_conv1d_defaults();
	window.padding = 2;
	struct tn_module_conv1d_options options = tn_module_conv1d_defaults();
	options.window = &window;
	return tn_module_conv1d(context, 64, 64, 5, &options);
}

static tn_module *conv_transpose2d(tn_context *context)
{
	struct tn_conv_transpose2d_options window = tn_conv_transpose2d_defaults();
	window.stride[0] = window.stride[1] = 2;
	window.padding[0] = window.padding[1] = 1;
	struct tn_module_conv_transpose2d_options options = tn_module_conv_transpose2d_defaults();
	options.window = &window;
	return tn_module_conv_transpose2d(context, 64, 32, 4, 4, &options);
}

static tn_module *embedding(tn_context *context)
{
	return tn_module_embedding(context, 10000, 256, NULL);
}

static tn_module *adaptive_avg(tn_context *context)
{
	return tn_module_adaptive_avg_pool2d(context, 7, 7);
}

static tn_module *adaptive_max(tn_context *context)
{
	return tn_module_adaptive_max_pool2d(context, 8, 8);
}

static tn_module *nearest(tn_context *context)
{
	struct tn_interpolate_options interpolate = tn_interpolate_defaults();
	interpolate.scale[0] = interpolate.scale[1] = 2;
	return tn_module_upsample(context, &interpolate);
}

static tn_module *bilinear(tn_context *context)
{
	struct tn_interpolate_options interpolate = tn_interpolate_defaults();
	interpolate.mode = TN_INTERPOLATE_BILINEAR;
	interpolate.scale[0] = interpolate.scale[1] = 2;
	return tn_module_upsample(context, &interpolate);
}

static tn_module *lrn(tn_context *context)
{
	return tn_module_local_response_norm(context, 5, NULL);
}

static tn_module *batch_norm1d(tn_context *context)
{
	return tn_module_batch_norm1d(context, 512, NULL);
}

static tn_module *batch_norm2d(tn_context *context)
{
	return tn_module_batch_norm2d(context, 64, NULL);
}

static tn_module *instance_norm2d(tn_context *context)
{
	struct tn_module_instance_norm_options instance_norm = tn_module_instance_norm_defaults();
	instance_norm.affine = 1;
	return tn_module_instance_norm2d(context, 64, &instance_norm);
}

static tn_module *group_norm(tn_context *context)
{
	return tn_module_group_norm(context, 8, 64, NULL);
}

static tn_module *layer_norm2d(tn_context *context)
{
	return tn_module_layer_norm2d(context, 64, NULL);
}

static tn_module *dropout(tn_context *context)
{
	return tn_module_dropout(context, 0.5);
}

static tn_module *dropout2d(tn_context *context)
{
	return tn_module_dropout2d(context, 0.5);
}

static tn_module *leaky_relu(tn_context *context)
{
	return tn_module_leaky_relu(context, 0.01);
}

static tn_module *elu(tn_context *context)
{
	return tn_module_elu(context, 1.0);
}

static tn_module *prelu(tn_context *context)
{
	return tn_module_prelu(context, 64, 0.25);
}

static tn_module *softplus(tn_context *context)
{
	return tn_module_softplus(context, 1.0, 20.0);
}

static tn_module *gelu(tn_context *context)
{
	return tn_module_gelu(context, 0);
}

static tn_module *log_softmax(tn_context *context)
{
	return tn_module_log_softmax(context, 1);
}

static tn_module *attention(tn_context *context)
{
	return tn_module_multihead_attention(context, 256, 8, NULL);
}

static tn_module *lstm(tn_context *context)
{
	return tn_module_lstm(context, 128, 128, NULL);
}

static tn_module *gru(tn_context *context)
{
	return tn_module_gru(context, 128, 128, NULL);
}

static tn_module *mbconv(tn_context *context)
{
	struct tn_module_mbconv_options options = tn_module_mbconv_defaults();
	options.squeezed = 10;
	return tn_module_mbconv(context, 40, 40, 6, &options);
}

static tn_module *convnext(tn_context *context)
{
	return tn_module_convnext_block(context, 96, NULL);
}

/* ---- Losses: of inputs (rows, classes) -------------------------------------------------------*/

static tn_array *cross_entropy(const tn_array *x, const tn_array *labels)
{
	return tn_cross_entropy(x, labels, NULL);
}

static tn_array *smoothed(const tn_array *x, const tn_array *labels)
{
	struct tn_cross_entropy_options options = tn_cross_entropy_defaults();
	options.label_smoothing = 0.1;
	return tn_cross_entropy(x, labels, &options);
}

static tn_array *nll(const tn_array *x, const tn_array *labels)
{
	return tn_nll_loss(x, labels, NULL);
}

static tn_array *mse(const tn_array *x, const tn_array *target)
{
	return tn_mse_loss(x, target, TN_REDUCTION_MEAN);
}

static tn_array *l1(const tn_array *x, const tn_array *target)
{
	return tn_l1_loss(x, target, TN_REDUCTION_MEAN);
}

static tn_array *smooth_l1(const tn_array *x, const tn_array *target)
{
	return tn_smooth_l1_loss(x, target, 1.0, TN_REDUCTION_MEAN);
}

static tn_array *bce(const tn_array *x, const tn_array *target)
{
	return tn_binary_cross_entropy_with_logits(x, target, NULL);
}

static tn_array *kl(const tn_array *x, const tn_array *target)
{
	return tn_kl_div(x, target, 0, TN_REDUCTION_BATCH_MEAN);
}

/* ---- Optimizers ------------------------------------------------------------------------------*/

static tn_optimizer *sgd(tn_module *module)
{
	struct tn_sgd_options options = tn_sgd_defaults();
	options.lr = 1e-6;
	options.momentum = 0.9;
	options.weight_decay = 1e-4;
	return tn_sgd(module, &options);
}

static tn_optimizer *adam(tn_module *module)
{
	return tn_adam(module, NULL);
}

static tn_optimizer *adamw(tn_module *module)
{
	struct tn_adamw_options options = tn_adamw_defaults();
	options.weight_decay = 0.01;
	return tn_adamw(module, &options);
}

static tn_optimizer *amsgrad(tn_module *module)
{
	struct tn_adam_options options = tn_adam_defaults();
	options.amsgrad = 1;
	return tn_adam(module, &options);
}

static tn_optimizer *nadam(tn_module *module)
{
	return tn_nadam(module, NULL);
}

static tn_optimizer *rmsprop(tn_module *module)
{
	return tn_rmsprop(module, NULL);
}

static tn_optimizer *adagrad(tn_module *module)
{
	return tn_adagrad(module, NULL);
}

static tn_optimizer *adadelta(tn_module *module)
{
	return tn_adadelta(module, NULL);
}

/* ---- Cases -----------------------------------------------------------------------------------*/

/* One of module, loss and optimizer; rows of indices if n_indices is above 0. */
static const struct test_case {
	const char *name;
	int rank;
	int64_t shape[4]; /* of the input */
	int64_t n_indices;
	tn_module *(*module)(tn_context *context);
	tn_array *(*loss)(const tn_array *x, const tn_array *target);
	tn_optimizer *(*optimizer)(tn_module *module);
} cases[] = {
	{"conv1d", 3, {32, 64, 512}, 0, conv1d, NULL, NULL},
	{"conv-transpose2d", 4, {32, 64, 16, 16}, 0, conv_transpose2d, NULL, NULL},
	{"embedding", 2, {64, 128}, 10000, embedding, NULL, NULL},
	{"adaptive-avg", 4, {32, 64, 32, 32}, 0, adaptive_avg, NULL, NULL},
	{"adaptive-max", 4, {32, 64, 32, 32}, 0, adaptive_max, NULL, NULL},
	{"nearest", 4, {32, 64, 16, 16}, 0, nearest, NULL, NULL},
	{"bilinear", 4, {32, 64, 16, 16}, 0, bilinear, NULL, NULL},
	{"lrn", 4, {32, 64, 27, 27}, 0, lrn, NULL, NULL},
	{"batch-norm1d", 2, {1024, 512}, 0, batch_norm1d, NULL, NULL},
	{"batch-norm2d", 4, {32, 64, 32, 32}, 0, batch_norm2d, NULL, NULL},
	{"instance-norm2d", 4, {32, 64, 32, 32}, 0, instance_norm2d, NULL, NULL},
	{"group-norm", 4, {32, 64, 32, 32}, 0, group_norm, NULL, NULL},
	{"layer-norm2d", 4, {32, 64, 32, 32}, 0, layer_norm2d, NULL, NULL},
	{"dropout", 4, {32, 64, 32, 32}, 0, dropout, NULL, NULL},
	{"dropout2d", 4, {32, 64, 32, 32}, 0, dropout2d, NULL, NULL},
	{"leaky-relu", 4, {32, 64, 32, 32}, 0, leaky_relu, NULL, NULL},
	{"elu", 4, {32, 64, 32, 32}, 0, elu, NULL, NULL},
	{"selu", 4, {32, 64, 32, 32}, 0, tn_module_selu, NULL, NULL},
	{"prelu", 4, {32, 64, 32, 32}, 0, prelu, NULL, NULL},
	{"softplus", 4, {32, 64, 32, 32}, 0, softplus, NULL, NULL},
	{"mish", 4, {32, 64, 32, 32}, 0, tn_module_mish, NULL, NULL},
	{"gelu", 4, {32, 64, 32, 32}, 0, gelu, NULL, NULL},
	{"silu", 4, {32, 64, 32, 32}, 0, tn_module_silu, NULL, NULL},
	{"hardswish", 4, {32, 64, 32, 32}, 0, tn_module_hardswish, NULL, NULL},
	{"hardsigmoid", 4, {32, 64, 32, 32}, 0, tn_module_hardsigmoid, NULL, NULL},
	{"log-softmax", 2, {1024, 1000}, 0, log_softmax, NULL, NULL},
	{"mbconv", 4, {8, 40, 28, 28}, 0, mbconv, NULL, NULL},
	{"convnext", 4, {8, 96, 16, 16}, 0, convnext, NULL, NULL},
	{"attention", 3, {16, 128, 256}, 0, attention, NULL, NULL},
	{"lstm", 3, {32, 64, 128}, 0, lstm, NULL, NULL},
	{"gru", 3, {32, 64, 128}, 0, gru, NULL, NULL},
	{"cross-entropy", 2, {1024, 1000}, 1000, NULL, cross_entropy, NULL},
	{"smoothed", 2, {1024, 1000}, 1000, NULL, smoothed, NULL},
	{"nll", 2, {1024, 1000}, 1000, NULL, nll, NULL},
	{"mse", 2, {1024, 1000}, 0, NULL, mse, NULL},
	{"l1", 2, {1024, 1000}, 0, NULL, l1, NULL},
	{"smooth-l1", 2, {1024, 1000}, 0, NULL, smooth_l1, NULL},
	{"bce", 2, {1024, 1000}, 0, NULL, bce, NULL},
	{"kl", 2, {1024, 1000}, 0, NULL, kl, NULL},
	{"sgd", 2, {200, 1100}, 0, NULL, NULL, sgd},
	{"adam", 2, {200, 1100}, 0, NULL, NULL, adam},
	{"adamw", 2, {200, 1100}, 0, NULL, NULL, adamw},
	{"amsgrad", 2, {200, 1100}, 0, NULL, NULL, amsgrad},
	{"nadam", 2, {200, 1100}, 0, NULL, NULL, nadam},
	{"rmsprop", 2, {200, 1100}, 0, NULL, NULL, rmsprop},
	{"adagrad", 2, {200, 1100}, 0, NULL, NULL, adagrad},
	{"adadelta", 2, {200, 1100}, 0, NULL, NULL, adadelta},
};

struct bench {
	const struct test_case *test;
	tn_context *context;
	tn_module *module; /* NULL: a loss */
	tn_optimizer *optimizer;
	tn_array *x;
	tn_array *target;
	tn_array *dy;
};

/* ---- Preparation -----------------------------------------------------------------------------*/

/* Uses each of its parameters, so that each gets a gradient. */
static tn_array *sum_of_weights(tn_module *module, void *state, const tn_array *x)
{
	char name[16];
	tn_array *sum = tn_affine(x, 1.0, 0.0);
	(void)state;
	for (int i = 0; i < OPTIMIZER_TENSORS; i++) {
		snprintf(name, sizeof(name), "w%d", i);
		sum = tn_add(sum,
			     tn_sum(tn_module_own_parameter(module, name), TN_ALL_AXES, NULL, 0));
	}
	return sum;
}

static tn_module *weights(tn_context *context, const struct test_case *test)
{
	static const struct tn_module_class class_ = {
		.struct_size = sizeof(class_), .name = "Weights", .forward = sum_of_weights};
	char name[16];
	tn_module *module = tn_module_custom(context, &class_, NULL);
	for (int i = 0; module && i < OPTIMIZER_TENSORS; i++) {
		snprintf(name, sizeof(name), "w%d", i);
		if (tn_module_add_parameter(module, name, test->rank, test->shape, 0.1, 0))
			return NULL;
	}
	return module;
}

static int step(struct bench *b)
{
	tn_status status = TN_OK;
	if (tn_scope_begin(b->context))
		return 0;
	if (b->optimizer) {
		status = tn_optimizer_step(b->optimizer);
	} else {
		if (b->module)
			tn_module_zero_gradients(b->module);
		tn_tape *tape = tn_tape_begin(b->context);
		if (!b->test->module || !b->test->n_indices)
			tn_tape_watch(tape, b->x);
		tn_array *y = b->module ? tn_module_forward(b->module, b->x)
					: b->test->loss(b->x, b->target);
		status = tn_tape_backward(tape, y, b->dy);
		tn_tape_end(tape);
	}
	tn_scope_end(b->context, NULL);
	return !status;
}

/* Parameters with gradients, which each step reads. */
static int prepare_optimizer(struct bench *b)
{
	b->module = weights(b->context, b->test);
	if (!b->module || tn_module_build(b->module))
		return 0;
	tn_tape *tape = tn_tape_begin(b->context);
	tn_array *y = tn_module_forward(b->module, tn_ones(b->context, TN_F32, 0, NULL));
	tn_status status = tn_tape_backward(tape, y, NULL);
	tn_tape_end(tape);
	b->optimizer = b->test->optimizer(b->module);
	return !status && b->optimizer;
}

static tn_array *indices(tn_context *context, int rank, const int64_t *shape, int64_t n)
{
	return tn_astype(tn_random_uniform(context, rank, shape, 0, (double)n), TN_I32);
}

static int prepare(struct bench *b)
{
	const struct test_case *test = b->test;
	if (test->optimizer)
		return prepare_optimizer(b);
	if (test->module) {
		b->module = test->module(b->context);
		if (!b->module || tn_module_build(b->module))
			return 0;
		tn_module_set_training(b->module, 1);
		b->x = test->n_indices
			       ? indices(b->context, test->rank, test->shape, test->n_indices)
			       : tn_random_normal(b->context, test->rank, test->shape, 0, 1);
		tn_array *y = tn_module_forward(b->module, b->x);
		b->dy = y ? tn_random_normal(b->context, tn_array_rank(y), tn_array_shape(y), 0, 1)
			  : NULL;
		tn_array_destroy(y);
		return b->dy != NULL;
	}
	b->x = tn_random_normal(b->context, test->rank, test->shape, 0, 1);
	b->target = test->n_indices ? indices(b->context, 1, test->shape, test->n_indices)
				    : tn_random_uniform(b->context, test->rank, test->shape, 0, 1);
	return b->x && b->target;
}

/* ---- Measuring -------------------------------------------------------------------------------*/

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Steps per second over one window; 0: an error, which the context keeps. */
static double window(struct bench *b)
{
	double start = now(), seconds;
	int64_t steps = 0;
	do {
		if (!step(b))
			return 0.0;
		steps++;
		seconds = now() - start;
	} while (seconds < WINDOW_SECONDS);
	return tn_synchronize(b->context) ? 0.0 : (double)steps / (now() - start);
}

static int run(struct bench *b)
{
	char line[64];
	if (!prepare(b) || window(b) == 0.0)
		return 0;
	while (fgets(line, sizeof(line), stdin)) {
		double rate = window(b);
		if (rate == 0.0)
			return 0;
		printf("%.3f\n", rate);
		fflush(stdout);
	}
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	printf("%ld\n", usage.ru_maxrss);
	return 1;
}

int main(int argc, char **argv)
{
	struct tn_error_info error;
	struct bench b = {.test = NULL};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (argc < 2)
			puts(cases[i].name);
		else if (!strcmp(cases[i].name, argv[1]))
			b.test = &cases[i];
	}
	if (!b.test)
		return argc < 2 ? 0 : 2;
	if (tn_context_open(NULL, &b.context, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	int done = run(&b);
	if (!done && tn_error(b.context))
		fprintf(stderr, "%s: %s\n", tn_error(b.context)->operation,
			tn_error(b.context)->text);
	tn_optimizer_destroy(b.optimizer);
	tn_module_destroy(b.module);
	tn_context_close(b.context);
	return !done;
}
