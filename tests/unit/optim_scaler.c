/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The gradient scaler and mixed precision; scales beside PyTorch's are in tests/parity/scaler.c.  A
 * backend may be given as the only argument.
 */
#include <tenon/tenon.h>

#include "unit/mock_fixture.h"
#include "test_context.h"

static const char *backend;

static int setup(void **state)
{
	struct tn_context_options options = tn_context_defaults();
	options.backend = backend;
	struct tn_error_info error;
	(void)state;
	if (!tn_context_open(&options, &context, &error))
		return 0;
	print_error("%s\n", error.text);
	return 1;
}

static int setup_mock(void **state)
{
	(void)state;
	context = open_mock("");
	return 0;
}

enum { IN = 4 };

/* y = x w^T, with w of ones. */
static tn_module *make_line(tn_dtype dtype)
{
	struct tn_module_linear_options linear = tn_module_linear_defaults();
	linear.no_bias = 1;
	tn_module *net = tn_module_linear(context, IN, 1, &linear);
	assert_ok(tn_module_set_dtype(net, dtype));
	assert_ok(tn_module_build(net));
	assert_ok(tn_fill(tn_module_own_parameter(net, "weight"), 1));
	return net;
}

static tn_grad_scaler *make_scaler(tn_module *net, double scale, uint32_t interval)
{
	struct tn_grad_scaler_options options = tn_grad_scaler_defaults();
	options.init_scale = scale;
	options.growth_interval = interval;
	tn_grad_scaler *scaler = tn_grad_scaler_create(net, &options);
	assert_non_null(scaler);
	return scaler;
}

/* The gradient of each weight is `slope` times the scale. */
static void find_gradients(tn_module *net, const tn_grad_scaler *scaler, double slope)
{
	assert_ok(tn_scope_begin(context));
	tn_module_zero_gradients(net);
	tn_tape *tape = tn_tape_begin(context);
	tn_array *x = tn_full(context, tn_module_dtype(net), 2, (int64_t[]){1, IN}, slope);
	tn_array *loss = tn_sum(tn_module_forward(net, x), TN_ALL_AXES, NULL, 0);
	assert_ok(tn_tape_backward(tape, tn_grad_scaler_scale(scaler, loss), NULL));
	tn_tape_end(tape);
	tn_scope_end(context, NULL);
}

static double element(const tn_array *array)
{
	double value;
	tn_array *flat = tn_reshape(array, 1, (const int64_t[]){-1});
	tn_array *first = tn_slice(flat, 0, 0, 1, 1);
	assert_ok(tn_item(first, &value));
	tn_array_destroy(first);
	tn_array_destroy(flat);
	return value;
}

static double weight(const tn_module *net)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	assert_ok(tn_module_parameter_at(net, 0, &view));
	return element(view.value);
}

static double gradient(const tn_module *net)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	assert_ok(tn_module_parameter_at(net, 0, &view));
	return element(view.gradient);
}

static double scale_of(const tn_grad_scaler *scaler)
{
	struct tn_grad_scaler_state state = {.struct_size = sizeof(state)};
	assert_ok(tn_grad_scaler_get_state(scaler, &state));
	return state.scale;
}

/* ---- Scales ----------------------------------------------------------------------------------*/

static void unscaled_gradients_are_those_of_the_loss(void **state)
{
	(void)state;
	tn_module *net = make_line(TN_F32);
	tn_grad_scaler *scaler = make_scaler(net, 1024, 2000);
	struct tn_sgd_options options = tn_sgd_defaults();
	options.lr = 0.5;
	tn_optimizer *sgd = tn_sgd(net, &options);
	find_gradients(net, scaler, 0.25);
	assert_true(gradient(net) == 256);
	assert_ok(tn_grad_scaler_unscale(scaler));
	assert_true(gradient(net) == 0.25);
	assert_ok(tn_clip_grad_value(net, 0.125));
	assert_ok(tn_grad_scaler_step(scaler, sgd));
	assert_true(weight(net) == 1 - 0.5 * 0.125);
	assert_false(tn_grad_scaler_has_skipped(scaler));
	assert_ok(tn_grad_scaler_update(scaler));
	tn_grad_scaler_destroy(scaler);
	tn_optimizer_destroy(sgd);
	tn_module_destroy(net);
}

static void steps_that_are_not_finite_are_skipped_and_not_counted(void **state)
{
	static const double slopes[] = {1, INFINITY, 1, NAN, 1, 1};
	static const double scales[] = {8, 4, 4, 2, 2, 4};
	static const uint64_t steps[] = {1, 1, 2, 2, 3, 4};
	(void)state;
	for (int is_half = 0; is_half < 2; is_half++) {
		struct tn_optimizer_parameter_view view = {.struct_size = sizeof(view)};
		tn_module *net = make_line(is_half ? TN_F16 : TN_F32);
		tn_grad_scaler *scaler = make_scaler(net, 8, 2);
		tn_optimizer *adam = tn_adam(net, NULL);
		for (int i = 0; i < 6; i++) {
			double before = weight(net);
			find_gradients(net, scaler, slopes[i]);
			assert_ok(tn_grad_scaler_step(scaler, adam));
			assert_int_equal(tn_grad_scaler_has_skipped(scaler), !isfinite(slopes[i]));
			assert_int_equal(weight(net) == before, !isfinite(slopes[i]));
			assert_ok(tn_grad_scaler_update(scaler));
			assert_true(scale_of(scaler) == scales[i]);
			assert_ok(tn_optimizer_parameter_at(adam, 0, &view));
			assert_int_equal(view.steps, steps[i]);
		}
		tn_grad_scaler_destroy(scaler);
		tn_optimizer_destroy(adam);
		tn_module_destroy(net);
	}
}

/* A parameter between them has no gradient: two runs of the arena. */
static void every_run_of_the_arena_is_searched(void **state)
{
	(void)state;
	for (int which = 0; which < 2; which++) {
		tn_module *net = tn_module_sequential(context);
		for (int i = 0; i < 3; i++) {
			struct tn_module_linear_options linear = tn_module_linear_defaults();
			linear.no_bias = 1;
			assert_ok(tn_module_sequential_add(
				net, NULL, tn_module_linear(context, IN, IN, &linear)));
		}
		assert_ok(tn_module_build(net));
		assert_ok(tn_module_set_trainable(net, "1", 0));
		tn_grad_scaler *scaler = make_scaler(net, 2, 2000);
		struct tn_sgd_options options = tn_sgd_defaults();
		options.lr = 1;
		tn_optimizer *sgd = tn_sgd(net, &options);
		struct tn_parameter_view views[3];
		find_gradients(net, scaler, 1);
		for (size_t i = 0; i < 3; i++) {
			views[i].struct_size = sizeof(views[i]);
			assert_ok(tn_module_parameter_at(net, i, &views[i]));
		}
		assert_null(views[1].gradient);
		assert_ok(tn_fill(views[0].gradient, which ? 1 : -INFINITY));
		assert_ok(tn_fill(views[2].gradient, which ? NAN : 1));
		assert_ok(tn_grad_scaler_step(scaler, sgd));
		assert_true(tn_grad_scaler_has_skipped(scaler));
		assert_true(element(views[which ? 0 : 2].gradient) == 0.5);
		tn_grad_scaler_destroy(scaler);
		tn_optimizer_destroy(sgd);
		tn_module_destroy(net);
	}
}

static void the_scale_stays_an_f32_above_zero(void **state)
{
	(void)state;
	tn_module *net = make_line(TN_F32);
	tn_grad_scaler *scaler = make_scaler(net, 0x1p127, 1);
	struct tn_sgd_options options = tn_sgd_defaults();
	options.lr = 0x1p-100;
	tn_optimizer *sgd = tn_sgd(net, &options);
	const struct tn_grad_scaler_state small = {.struct_size = sizeof(small),
						   .scale = 0x1.8p-126};
	find_gradients(net, scaler, 0);
	assert_ok(tn_grad_scaler_step(scaler, sgd));
	assert_ok(tn_grad_scaler_update(scaler));
	assert_true(scale_of(scaler) == 0x1p127);
	assert_ok(tn_grad_scaler_set_state(scaler, &small));
	find_gradients(net, scaler, INFINITY);
	assert_ok(tn_grad_scaler_step(scaler, sgd));
	assert_ok(tn_grad_scaler_update(scaler));
	assert_true(scale_of(scaler) == 0x1p-126);
	tn_grad_scaler_destroy(scaler);
	tn_optimizer_destroy(sgd);
	tn_module_destroy(net);
}

static void a_restored_scaler_continues(void **state)
{
	struct tn_grad_scaler_state saved = {.struct_size = sizeof(saved)};
	(void)state;
	tn_module *net = make_line(TN_F32);
	tn_grad_scaler *scaler = make_scaler(net, 64, 3), *other = make_scaler(net, 1, 3);
	struct tn_sgd_options options = tn_sgd_defaults();
	options.lr = 1;
	tn_optimizer *sgd = tn_sgd(net, &options);
	for (int i = 0; i < 2; i++) {
		find_gradients(net, scaler, 1);
		assert_ok(tn_grad_scaler_step(scaler, sgd));
		assert_ok(tn_grad_scaler_update(scaler));
	}
	assert_ok(tn_grad_scaler_get_state(scaler, &saved));
	assert_true(saved.scale == 64 && saved.good_updates == 2);
	assert_ok(tn_grad_scaler_set_state(other, &saved));
	find_gradients(net, other, 1);
	assert_true(gradient(net) == 64);
	assert_ok(tn_grad_scaler_step(other, sgd));
	assert_ok(tn_grad_scaler_update(other));
	assert_true(scale_of(other) == 128);
	find_gradients(net, other, 1);
	assert_true(gradient(net) == 128);
	tn_grad_scaler_destroy(scaler);
	tn_grad_scaler_destroy(other);
	tn_optimizer_destroy(sgd);
	tn_module_destroy(net);
}

/* ---- Errors ----------------------------------------------------------------------------------*/

static void expect_error(tn_status found, tn_status status, const char *words)
{
	assert_status(found, status);
	assert_kept(context, status, words);
}

static void calls_in_a_wrong_order_are_refused(void **state)
{
	(void)state;
	tn_module *net = make_line(TN_F32), *another = make_line(TN_F32);
	tn_grad_scaler *scaler = make_scaler(net, 65536, 2000);
	struct tn_sgd_options options = tn_sgd_defaults();
	options.lr = 1;
	tn_optimizer *sgd = tn_sgd(net, &options);
	tn_optimizer *foreign = tn_sgd(another, &options);
	assert_true(scale_of(scaler) == 65536);
	expect_error(tn_grad_scaler_unscale(scaler), TN_STATE,
		     "no trainable parameter has a gradient");
	expect_error(tn_grad_scaler_update(scaler), TN_STATE, "no gradients have been unscaled");
	find_gradients(net, scaler, 1);
	expect_error(tn_grad_scaler_step(scaler, foreign), TN_INVALID_ARGUMENT,
		     "different modules");
	assert_ok(tn_grad_scaler_unscale(scaler));
	expect_error(tn_grad_scaler_unscale(scaler), TN_STATE, "have been unscaled since");
	struct tn_grad_scaler_state given = {.struct_size = sizeof(given), .scale = 2};
	expect_error(tn_grad_scaler_set_state(scaler, &given), TN_STATE, "update first");
	assert_ok(tn_grad_scaler_step(scaler, sgd));
	expect_error(tn_grad_scaler_step(scaler, sgd), TN_STATE, "a step has been taken");
	expect_error(tn_grad_scaler_unscale(scaler), TN_STATE, "have been unscaled since");
	assert_ok(tn_grad_scaler_update(scaler));
	given.scale = 1e300;
	expect_error(tn_grad_scaler_set_state(scaler, &given), TN_INVALID_ARGUMENT,
		     "expected an f32 above 0, found 1e+300");
	expect_error(tn_grad_scaler_step(scaler, NULL), TN_INVALID_ARGUMENT, "optimizer is NULL");
	assert_status(tn_grad_scaler_unscale(NULL), TN_INVALID_ARGUMENT);
	assert_status(tn_grad_scaler_update(NULL), TN_INVALID_ARGUMENT);
	assert_null(tn_grad_scaler_scale(scaler, NULL));
	assert_string_equal(tn_error_text(context), "grad_scaler_scale: loss is NULL");
	tn_error_clear(context);
	assert_false(tn_grad_scaler_has_skipped(NULL));
	tn_grad_scaler_destroy(NULL);
	tn_grad_scaler_destroy(scaler);
	tn_optimizer_destroy(sgd);
	tn_optimizer_destroy(foreign);
	tn_module_destroy(another);
	tn_module_destroy(net);
}

static void refuse(tn_grad_scaler *made, tn_status status, const char *words)
{
	assert_null(made);
	assert_kept(context, status, words);
}

static void bad_options_are_refused(void **state)
{
	(void)state;
	tn_module *net = make_line(TN_F32);
	struct tn_grad_scaler_options options = tn_grad_scaler_defaults();
	options.init_scale = -1;
	refuse(tn_grad_scaler_create(net, &options), TN_INVALID_ARGUMENT,
	       "init_scale: expected a number from 1.17549e-38 to 3.40282e+38, found -1");
	options.init_scale = 1e39;
	refuse(tn_grad_scaler_create(net, &options), TN_INVALID_ARGUMENT, "init_scale");
	options = tn_grad_scaler_defaults();
	options.growth_factor = 1;
	refuse(tn_grad_scaler_create(net, &options), TN_INVALID_ARGUMENT,
	       "growth_factor: expected a finite number above 1, found 1");
	options = tn_grad_scaler_defaults();
	options.backoff_factor = 1;
	refuse(tn_grad_scaler_create(net, &options), TN_INVALID_ARGUMENT,
	       "backoff_factor: expected a number above 0 and below 1, found 1");
	tn_module_destroy(net);
	net = tn_module_linear(context, 1, 1, NULL);
	refuse(tn_grad_scaler_create(net, NULL), TN_STATE, "has not been built");
	tn_module_destroy(net);
	assert_null(tn_grad_scaler_create(NULL, NULL));
}

/* ---- Half precision --------------------------------------------------------------------------*/

/* In f16 the gradient of 2^-26 is 0, and a weight of 1 does not show a step of 2^-14. */
static void small_gradients_survive_in_f16(void **state)
{
	struct tn_optimizer_state_view master = {.struct_size = sizeof(master)};
	(void)state;
	for (int is_scaled = 0; is_scaled < 2; is_scaled++) {
		tn_module *net = make_line(TN_F16);
		tn_grad_scaler *scaler = make_scaler(net, is_scaled ? 0x1p16 : 1, 2000);
		struct tn_sgd_options options = tn_sgd_defaults();
		options.lr = 0x1p12;
		tn_optimizer *sgd = tn_sgd(net, &options);
		for (int i = 0; i < 8; i++) {
			tn_module_zero_gradients(net);
			tn_tape *tape = tn_tape_begin(context);
			tn_array *x = tn_full(context, TN_F16, 2, (int64_t[]){1, IN}, 0x1p-13);
			tn_array *y = tn_astype(tn_module_forward(net, x), TN_F32);
			tn_array *loss = tn_affine(tn_sum(y, TN_ALL_AXES, NULL, 0), 0x1p-13, 0);
			assert_ok(tn_tape_backward(tape, tn_grad_scaler_scale(scaler, loss), NULL));
			tn_tape_end(tape);
			assert_ok(tn_grad_scaler_step(scaler, sgd));
			assert_ok(tn_grad_scaler_update(scaler));
			assert_true(gradient(net) == (is_scaled ? 0x1p-26 : 0));
		}
		assert_ok(tn_optimizer_state_at(sgd, 0, &master));
		assert_string_equal(master.state, "master");
		assert_true(element(master.value) == (is_scaled ? 1 - 0x1p-11 : 1));
		assert_true(weight(net) == (is_scaled ? 1 - 0x1p-11 : 1));
		tn_grad_scaler_destroy(scaler);
		tn_optimizer_destroy(sgd);
		tn_module_destroy(net);
	}
}

/* Forward and backward are captured; what reads values on the host follows each replay. */
static void a_replayed_backward_uses_the_present_scale(void **state)
{
	static const double slopes[] = {1, 1, INFINITY, 1};
	tn_graph *graph = NULL;
	(void)state;
	tn_module *net = make_line(TN_F32);
	tn_grad_scaler *scaler = make_scaler(net, 4, 1);
	struct tn_sgd_options options = tn_sgd_defaults();
	options.lr = 0x1p-4;
	tn_optimizer *sgd = tn_sgd(net, &options);
	tn_array *x = tn_ones(context, TN_F32, 2, (int64_t[]){1, IN});
	double expected = 1, scale = 4;
	for (int is_first = 1; is_first >= 0; is_first--) {
		if (!is_first && tn_capture_begin(context)) {
			assert_kept(context, TN_UNSUPPORTED, "");
			break;
		}
		tn_module_zero_gradients(net);
		tn_tape *tape = tn_tape_begin(context);
		tn_array *loss = tn_sum(tn_module_forward(net, x), TN_ALL_AXES, NULL, 0);
		assert_ok(tn_tape_backward(tape, tn_grad_scaler_scale(scaler, loss), NULL));
		tn_tape_end(tape);
		if (!is_first)
			assert_ok(tn_capture_end(context, &graph));
	}
	for (int i = 0; graph && i < 4; i++) {
		assert_ok(tn_fill(x, slopes[i]));
		tn_module_zero_gradients(net);
		assert_ok(tn_graph_replay(graph));
		assert_true(gradient(net) == scale * slopes[i]);
		assert_ok(tn_grad_scaler_step(scaler, sgd));
		assert_ok(tn_grad_scaler_update(scaler));
		expected -= isfinite(slopes[i]) ? 0x1p-4 * slopes[i] : 0;
		scale *= isfinite(slopes[i]) ? 2 : 0.5;
		assert_true(weight(net) == expected);
		assert_true(scale_of(scaler) == scale);
	}
	tn_graph_destroy(graph);
	tn_grad_scaler_destroy(scaler);
	tn_optimizer_destroy(sgd);
	tn_module_destroy(net);
}

static void steps_are_refused_while_work_is_captured(void **state)
{
	tn_graph *graph = NULL;
	(void)state;
	tn_module *net = make_line(TN_F32);
	tn_grad_scaler *scaler = make_scaler(net, 4, 1);
	struct tn_sgd_options options = tn_sgd_defaults();
	options.lr = 1;
	tn_optimizer *sgd = tn_sgd(net, &options);
	const struct tn_grad_scaler_state two = {.struct_size = sizeof(two), .scale = 2};
	find_gradients(net, scaler, 1);
	for (int i = 0; i < 4; i++) {
		if (tn_capture_begin(context)) {
			assert_kept(context, TN_UNSUPPORTED, "");
			break;
		}
		assert_status(i == 0   ? tn_grad_scaler_unscale(scaler)
			      : i == 1 ? tn_grad_scaler_step(scaler, sgd)
			      : i == 2 ? tn_grad_scaler_update(scaler)
				       : tn_grad_scaler_set_state(scaler, &two),
			      TN_NOT_CAPTURABLE);
		assert_status(tn_capture_end(context, &graph), TN_NOT_CAPTURABLE);
		assert_kept(context, TN_NOT_CAPTURABLE, "");
	}
	assert_true(gradient(net) == 4);
	tn_grad_scaler_destroy(scaler);
	tn_optimizer_destroy(sgd);
	tn_module_destroy(net);
}

/* ---- Training --------------------------------------------------------------------------------*/

enum { PIXELS = 64, HIDDEN = 48, CLASSES = 10, BATCH = 64, EPOCHS = 25 };

/* The handwritten digits: the first four fifths are for training. */
struct digits {
	struct tn_csv table;
	int64_t n, n_train;
	tn_array *x, *labels;
};

/* 0: this build cannot read the file. */
static int open_digits(struct digits *digits)
{
	const char *source = getenv("TENON_SOURCE");
	struct tn_error_info error;
	char path[4096];
	snprintf(path, sizeof(path), "%s/data/digits/digits.csv.gz", source ? source : ".");
	digits->table.struct_size = sizeof(digits->table);
	struct tn_csv_options options = tn_csv_defaults();
	options.dtype = TN_F32;
	options.label_column = -1;
	tn_status status = tn_csv_read(path, &options, &digits->table, &error);
	if (status == TN_UNSUPPORTED)
		return 0;
	if (status)
		fail_msg("%s", error.text);
	digits->n = digits->table.values.shape[0];
	digits->n_train = digits->n * 4 / 5;
	float *values = digits->table.values.data;
	for (int64_t i = 0; i < digits->n * PIXELS; i++)
		values[i] /= 16;
	digits->x = tn_from_host(context, TN_F32, 2, (int64_t[]){digits->n, PIXELS}, values);
	digits->labels = tn_from_host(context, TN_I32, 1, &digits->n, digits->table.labels.data);
	return 1;
}

static tn_array *logits_of(tn_module *net, const struct digits *digits, int64_t first, int64_t last)
{
	tn_array *x = tn_slice(digits->x, 0, first, last, 1);
	return tn_astype(tn_module_forward(net, tn_astype(x, tn_module_dtype(net))), TN_F32);
}

static double accuracy_of(tn_dtype dtype, const struct digits *digits)
{
	double right;
	tn_module *net = tn_module_sequential(context);
	tn_random_set_state(context, (struct tn_random_state){.seed = 1, .stream = 0});
	tn_module_sequential_add(net, "fc1", tn_module_linear(context, PIXELS, HIDDEN, NULL));
	tn_module_sequential_add(net, "relu", tn_module_relu(context));
	tn_module_sequential_add(net, "fc2", tn_module_linear(context, HIDDEN, CLASSES, NULL));
	assert_ok(tn_module_set_dtype(net, dtype));
	assert_ok(tn_module_build(net));
	struct tn_adamw_options options = tn_adamw_defaults();
	options.lr = 1e-2;
	tn_optimizer *adamw = tn_adamw(net, &options);
	tn_grad_scaler *scaler = make_scaler(net, 65536, 100);
	for (int epoch = 0; epoch < EPOCHS; epoch++) {
		for (int64_t i = 0; i + BATCH <= digits->n_train; i += BATCH) {
			assert_ok(tn_scope_begin(context));
			tn_module_zero_gradients(net);
			tn_tape *tape = tn_tape_begin(context);
			tn_array *loss = tn_cross_entropy(
				logits_of(net, digits, i, i + BATCH),
				tn_slice(digits->labels, 0, i, i + BATCH, 1), NULL);
			assert_ok(tn_tape_backward(tape, tn_grad_scaler_scale(scaler, loss), NULL));
			tn_tape_end(tape);
			assert_ok(tn_grad_scaler_step(scaler, adamw));
			assert_ok(tn_grad_scaler_update(scaler));
			tn_scope_end(context, NULL);
		}
	}
	tn_array *logits = logits_of(net, digits, digits->n_train, digits->n);
	tn_array *labels = tn_slice(digits->labels, 0, digits->n_train, digits->n, 1);
	tn_array *equal = tn_astype(tn_equal(tn_argmax(logits, 1, 0), labels), TN_F32);
	assert_ok(tn_item(tn_sum(equal, TN_ALL_AXES, NULL, 0), &right));
	tn_grad_scaler_destroy(scaler);
	tn_optimizer_destroy(adamw);
	tn_module_destroy(net);
	return right / (double)(digits->n - digits->n_train);
}

static void half_networks_learn_the_digits_like_f32(void **state)
{
	struct digits digits;
	(void)state;
	assert_ok(tn_scope_begin(context));
	if (!open_digits(&digits)) {
		tn_scope_end(context, NULL);
		skip();
	}
	double f32 = accuracy_of(TN_F32, &digits);
	double f16 = accuracy_of(TN_F16, &digits), bf16 = accuracy_of(TN_BF16, &digits);
	print_message("accuracy in f32 %.4f, f16 %.4f, bf16 %.4f\n", f32, f16, bf16);
	assert_true(f32 > 0.88);
	assert_true(f16 > f32 - 0.01 && bf16 > f32 - 0.01);
	tn_csv_release(&digits.table);
	tn_scope_end(context, NULL);
}

int main(int n_arguments, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unscaled_gradients_are_those_of_the_loss),
		cmocka_unit_test(steps_that_are_not_finite_are_skipped_and_not_counted),
		cmocka_unit_test(every_run_of_the_arena_is_searched),
		cmocka_unit_test(the_scale_stays_an_f32_above_zero),
		cmocka_unit_test(a_restored_scaler_continues),
		cmocka_unit_test(calls_in_a_wrong_order_are_refused),
		cmocka_unit_test(bad_options_are_refused),
		cmocka_unit_test(small_gradients_survive_in_f16),
		cmocka_unit_test(a_replayed_backward_uses_the_present_scale),
		cmocka_unit_test(steps_are_refused_while_work_is_captured),
	};
	const struct CMUnitTest training[] = {
		cmocka_unit_test(half_networks_learn_the_digits_like_f32)};
	backend = n_arguments > 1 ? arguments[1] : "reference!";
	int n_failed = cmocka_run_group_tests(tests, setup, context_teardown);
	if (n_arguments > 1)
		return n_failed;
	backend = NULL;
	n_failed += cmocka_run_group_tests(tests, setup, context_teardown);
	n_failed += cmocka_run_group_tests(training, setup, context_teardown);
	/* Last: the fixture changes the environment. */
	return n_failed + cmocka_run_group_tests(tests, setup_mock, context_teardown);
}
