/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Initial values by name: moments, orthogonality, the same bits on two backends, patterns, errors.
 *
 * Moments of N = 30000 numbers: a mean errs by deviation / sqrt(N) = 0.006 deviations, a deviation
 * by about 0.004 of itself; four times that is allowed.
 */
#include <tenon/tenon.h>

#include "check.h"
#include "test_context.h"

enum { ROWS = 200, COLUMNS = 150, N = ROWS * COLUMNS };

static double values[N];

static tn_context *open_on(const char *backend)
{
	struct tn_context_options options = tn_context_defaults();
	options.backend = backend;
	tn_context *opened = NULL;
	assert_ok(tn_context_open(&options, &opened, NULL));
	tn_random_set_state(opened, (struct tn_random_state){7, 0});
	return opened;
}

static int open_context(void **state)
{
	(void)state;
	context = open_on("auto");
	return 0;
}

static tn_array *blank(tn_dtype dtype, int rank, const int64_t *shape)
{
	return tn_full(context, dtype, rank, shape, -77);
}

static tn_array *matrix(tn_dtype dtype)
{
	return blank(dtype, 2, (const int64_t[]){ROWS, COLUMNS});
}

/* Reads the values; returns their number. */
static int64_t read_values(const tn_array *a)
{
	int64_t n = tn_array_size(a);
	assert_true(n <= N);
	assert_ok(tn_to_host(tn_astype(a, TN_F64), values, (size_t)n * sizeof(double)));
	return n;
}

/* The array's mean and deviation; its values lie within the limits and are not all on one side. */
static void check_moments(const tn_array *a, double mean, double deviation, double low, double high)
{
	int64_t n = read_values(a);
	double sum = 0, squares = 0;
	for (int64_t i = 0; i < n; i++) {
		assert_true(values[i] >= low && values[i] <= high);
		sum += values[i];
	}
	for (int64_t i = 0; i < n; i++)
		squares += (values[i] - sum / (double)n) * (values[i] - sum / (double)n);
	assert_close(sum / (double)n, mean, 0.024 * deviation);
	assert_close(sqrt(squares / (double)n), deviation, 0.016 * deviation);
}

/* ---- Moments ---------------------------------------------------------------------------------*/

static void distributions_have_their_moments(void **state)
{
	static const tn_dtype dtypes[] = {TN_F32, TN_F64, TN_F16, TN_BF16};
	(void)state;
	for (int i = 0; i < 4; i++) {
		tn_array *a = matrix(dtypes[i]);
		/* A bf16 has 8 bits. */
		double far = 6.5, near = dtypes[i] == TN_BF16 ? 1e-2 : 1e-3;
		assert_ok(tn_init_uniform(a, -1, 3));
		check_moments(a, 1, 4 / sqrt(12), -1, 3);
		assert_ok(tn_init_normal(a, 0.5, 2));
		check_moments(a, 0.5, 2, 0.5 - 2 * far, 0.5 + 2 * far);
		assert_ok(tn_init_xavier_uniform(a, 2));
		double deviation = 2 * sqrt(2.0 / (ROWS + COLUMNS));
		check_moments(a, 0, deviation, -1.733 * deviation - near, 1.733 * deviation + near);
		assert_ok(tn_init_xavier_normal(a, 2));
		check_moments(a, 0, deviation, -far * deviation, far * deviation);
		assert_ok(tn_init_kaiming_uniform(a, NULL));
		deviation = sqrt(2.0 / COLUMNS);
		check_moments(a, 0, deviation, -1.733 * deviation - near, 1.733 * deviation + near);
		struct tn_kaiming_options kaiming = tn_kaiming_defaults();
		kaiming.mode = TN_FAN_OUT;
		kaiming.nonlinearity = TN_NONLINEARITY_TANH;
		assert_ok(tn_init_kaiming_normal(a, &kaiming));
		deviation = 5.0 / 3.0 / sqrt(ROWS);
		check_moments(a, 0, deviation, -far * deviation, far * deviation);
	}
}

/* With phi and Phi of the standard normal, between l and h: mean (phi(l) - phi(h)) / Z, variance
 * 1 + (l phi(l) - h phi(h)) / Z - mean^2, Z = Phi(h) - Phi(l). */
static void check_truncated(double low, double high)
{
	tn_array *a = matrix(TN_F64);
	double at_low = exp(-low * low / 2) / sqrt(2 * acos(-1));
	double at_high = exp(-high * high / 2) / sqrt(2 * acos(-1));
	double z = (erf(high / sqrt(2)) - erf(low / sqrt(2))) / 2, mean = (at_low - at_high) / z;
	double variance = 1 + (low * at_low - high * at_high) / z - mean * mean;
	assert_ok(tn_init_trunc_normal(a, 10, 3, 10 + 3 * low, 10 + 3 * high));
	check_moments(a, 10 + 3 * mean, 3 * sqrt(variance), 10 + 3 * low, 10 + 3 * high);
}

static void truncated_normals_have_their_moments(void **state)
{
	(void)state;
	check_truncated(-2, 2);
	check_truncated(-0.3, 0.2);
	check_truncated(0, 5);
	check_truncated(-4, -2.5);
	check_truncated(1, 8);
	/* Nothing but a limit is left. */
	tn_array *a = blank(TN_F32, 0, NULL);
	assert_ok(tn_init_trunc_normal(a, 0, 1, 20, 30));
	read_values(a);
	assert_close(values[0], 20, 0);
}

static void convolutions_have_fans_of_their_windows(void **state)
{
	tn_array *a = blank(TN_F32, 4, (const int64_t[]){40, 30, 5, 5});
	(void)state;
	assert_ok(tn_init_kaiming_normal(a, NULL));
	check_moments(a, 0, sqrt(2.0 / (30 * 25)), -1, 1);
	assert_ok(tn_init_xavier_normal(a, 1));
	check_moments(a, 0, sqrt(2.0 / (70 * 25)), -1, 1);
}

static void gains_are_pytorchs(void **state)
{
	(void)state;
	assert_close(tn_init_gain(TN_NONLINEARITY_LEAKY_RELU, 0.01), 1.4141428569978354, 1e-15);
	assert_close(tn_init_gain(TN_NONLINEARITY_LINEAR, 9), 1, 0);
	assert_close(tn_init_gain(TN_NONLINEARITY_SIGMOID, 9), 1, 0);
	assert_close(tn_init_gain(TN_NONLINEARITY_TANH, 9), 1.6666666666666667, 1e-15);
	assert_close(tn_init_gain(TN_NONLINEARITY_RELU, 9), 1.4142135623730951, 1e-15);
	assert_close(tn_init_gain(TN_NONLINEARITY_SELU, 9), 0.75, 0);
	assert_true(isnan(tn_init_gain(77, 0)));
}

static void nnotts_layers_have_their_values(void **state)
{
	tn_array *w = matrix(TN_F32), *b = blank(TN_F32, 1, (const int64_t[]){ROWS});
	(void)state;
	assert_ok(tn_init_by_activation(w, b, TN_NONLINEARITY_RELU));
	check_moments(w, 0, sqrt(2.0 / COLUMNS), -1, 1);
	read_values(b);
	assert_close(values[ROWS - 1], 0.01, 1e-9);
	assert_ok(tn_init_by_activation(w, b, TN_NONLINEARITY_SIGMOID));
	check_moments(w, 0, sqrt(1.0 / COLUMNS), -1, 1);
	read_values(b);
	assert_close(values[0], 0, 0);
	assert_ok(tn_init_by_activation(w, NULL, TN_NONLINEARITY_LINEAR));
	check_moments(w, 0, 0.01, -0.1, 0.1);
}

/* ---- Orthogonal, Dirac -----------------------------------------------------------------------*/

/* Rows, or columns if they are fewer, have the length `gain` and are orthogonal. */
static void check_orthogonal(tn_dtype dtype, int rank, const int64_t *shape, double gain,
			     double tolerance)
{
	tn_array *a = blank(dtype, rank, shape);
	assert_ok(tn_init_orthogonal(a, gain));
	int64_t columns = read_values(a) / shape[0], rows = shape[0];
	int by_rows = rows <= columns;
	int64_t n = by_rows ? rows : columns, m = by_rows ? columns : rows;
	int64_t step = by_rows ? columns : 1, inner = by_rows ? 1 : columns;
	for (int64_t i = 0; i < n; i++) {
		for (int64_t j = 0; j <= i; j++) {
			double sum = 0;
			for (int64_t k = 0; k < m; k++)
				sum += values[i * step + k * inner] * values[j * step + k * inner];
			assert_close(sum, i == j ? gain * gain : 0, tolerance * gain * gain);
		}
	}
}

static void orthogonal_matrices_are(void **state)
{
	(void)state;
	check_orthogonal(TN_F64, 2, (const int64_t[]){50, 30}, 1, 1e-13);
	check_orthogonal(TN_F64, 2, (const int64_t[]){30, 50}, 3, 1e-13);
	check_orthogonal(TN_F64, 2, (const int64_t[]){40, 40}, 1, 1e-13);
	check_orthogonal(TN_F64, 4, (const int64_t[]){8, 3, 2, 5}, 1, 1e-13);
	check_orthogonal(TN_F32, 3, (const int64_t[]){40, 3, 2}, 0.5, 1e-6);
	check_orthogonal(TN_F64, 2, (const int64_t[]){1, 1}, 2, 1e-15);
	check_orthogonal(TN_BF16, 2, (const int64_t[]){10, 1}, 1, 1e-2);
}

/* The matrices are spread evenly: all signs of a 1 by 1 occur, and rotations are as frequent as
 * reflections. */
static void orthogonal_matrices_have_both_determinants(void **state)
{
	int n_negative = 0;
	(void)state;
	for (int i = 0; i < 200; i++) {
		tn_array *a = blank(TN_F64, 2, (const int64_t[]){2, 2});
		assert_ok(tn_init_orthogonal(a, 1));
		read_values(a);
		n_negative += values[0] * values[3] - values[1] * values[2] < 0;
		tn_array_destroy(a);
	}
	assert_true(n_negative > 60 && n_negative < 140);
}

static void a_dirac_convolution_passes_its_input_on(void **state)
{
	double difference;
	tn_array *x = tn_random_normal(context, 4, (const int64_t[]){2, 3, 5, 4}, 0, 1);
	tn_array *w = blank(TN_F32, 4, (const int64_t[]){6, 3, 3, 3});
	(void)state;
	assert_ok(tn_init_dirac(w, 2));
	struct tn_conv2d_options conv2d = tn_conv2d_defaults();
	conv2d.padding[0] = conv2d.padding[1] = 1;
	tn_array *y = tn_conv2d(x, w, NULL, &conv2d);
	tn_array *twice = tn_concatenate(2, (const tn_array *[]){x, x}, 1);
	assert_ok(
		tn_item(tn_max(tn_abs(tn_subtract(y, twice)), TN_ALL_AXES, NULL, 0), &difference));
	assert_close(difference, 0, 1e-6);
	/* More outputs than inputs: the last are 0. */
	tn_array *line = blank(TN_F32, 3, (const int64_t[]){4, 2, 3});
	const struct tn_random_state before = tn_random_get_state(context);
	assert_ok(tn_init_dirac(line, 1));
	assert_int_equal(tn_random_get_state(context).stream, before.stream);
	read_values(line);
	for (int i = 0; i < 24; i++)
		assert_close(values[i], i == 1 || i == 10, 0);
}

/* ---- Bits, streams ---------------------------------------------------------------------------*/

static void backends_get_the_same_bits(void **state)
{
	static float bits[2][3][N];
	static const char *const backends[] = {"reference!", "auto"};
	tn_context *own = context;
	(void)state;
	for (int i = 0; i < 2; i++) {
		context = open_on(backends[i]);
		tn_array *a = matrix(TN_F32);
		assert_ok(tn_init_trunc_normal(a, 0, 1, -2, 2));
		assert_ok(tn_to_host(a, bits[i][0], sizeof(bits[i][0])));
		assert_ok(tn_init_orthogonal(a, 1));
		assert_ok(tn_to_host(a, bits[i][1], sizeof(bits[i][1])));
		assert_ok(tn_init_uniform(a, 0, 1));
		assert_ok(tn_to_host(a, bits[i][2], sizeof(bits[i][2])));
		assert_int_equal(tn_random_get_state(context).stream, 3);
		tn_context_close(context);
	}
	context = own;
	assert_memory_equal(bits[0], bits[1], sizeof(bits[0]));
}

/* ---- Modules ---------------------------------------------------------------------------------*/

static tn_module *make_net(void)
{
	tn_module *net = tn_module_sequential(context);
	assert_ok(tn_module_sequential_add(net, "a", tn_module_linear(context, 6, 5, NULL)));
	assert_ok(tn_module_sequential_add(
		net, "norm", tn_module_layer_norm(context, 1, (const int64_t[]){5}, NULL)));
	assert_ok(tn_module_sequential_add(net, "b", tn_module_linear(context, 5, 4, NULL)));
	return net;
}

static void check_parameter(const tn_module *net, const char *name, double low, double high)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	assert_ok(tn_module_parameter(net, name, &view));
	int64_t n = read_values(view.value);
	for (int64_t i = 0; i < n; i++)
		assert_true(values[i] >= low && values[i] <= high);
}

static void parameters_that_match_are_initialised(void **state)
{
	tn_module *net = make_net();
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	(void)state;
	assert_ok(tn_module_build(net));
	struct tn_init_options init = tn_init_defaults();
	init.value = 3;
	assert_ok(tn_module_init_parameters(net, "*.bias", &init));
	check_parameter(net, "a.bias", 3, 3);
	check_parameter(net, "norm.bias", 3, 3);
	check_parameter(net, "a.weight", -0.5, 0.5);
	init = tn_init_defaults();
	init.kind = TN_INIT_UNIFORM;
	init.low = 2;
	init.high = 4;
	assert_ok(tn_module_init_parameters(net, "[ab].weight", &init));
	check_parameter(net, "a.weight", 2, 4);
	check_parameter(net, "b.weight", 2, 4);
	check_parameter(net, "norm.weight", 1, 1);
	/* The defaults. */
	init = tn_init_defaults();
	init.kind = TN_INIT_TRUNC_NORMAL;
	assert_ok(tn_module_init_parameters(net, "a.weight", &init));
	check_parameter(net, "a.weight", -2, 2);
	init.kind = TN_INIT_UNIFORM;
	assert_ok(tn_module_init_parameters(net, "a.weight", &init));
	check_parameter(net, "a.weight", 0, 1);
	init.kind = TN_INIT_XAVIER_UNIFORM;
	assert_ok(tn_module_init_parameters(net, "a.weight", &init));
	assert_ok(tn_module_parameter(net, "a.weight", &view));
	read_values(view.value);
	assert_true(values[0] != 0);
	tn_module_destroy(net);
}

/* ---- Errors ----------------------------------------------------------------------------------*/

static void check_error(tn_status found, tn_status status, const char *operation, const char *words)
{
	const struct tn_error_info *error = tn_error(context);
	assert_status(found, status);
	assert_non_null(error);
	assert_string_equal(error->operation, operation);
	assert_contains(error->text, words);
	tn_error_clear(context);
}

static void wrong_arguments_are_errors(void **state)
{
	tn_array *line = blank(TN_F32, 1, (const int64_t[]){4}), *a = matrix(TN_F32);
	(void)state;
	check_error(tn_init_normal(matrix(TN_I32), 0, 1), TN_DTYPE, "init_normal",
		    "expected a floating type, found i32");
	check_error(tn_init_xavier_normal(line, 1), TN_SHAPE, "init_xavier_normal",
		    "expected at least two axes, found shape (4,)");
	check_error(tn_init_orthogonal(line, 1), TN_SHAPE, "init_orthogonal", "two axes");
	check_error(tn_init_orthogonal(a, INFINITY), TN_INVALID_ARGUMENT, "init_orthogonal",
		    "gain: expected a finite number, found inf");
	check_error(tn_init_xavier_uniform(a, NAN), TN_INVALID_ARGUMENT, "init_xavier_uniform",
		    "gain: expected a finite number, found nan");
	check_error(tn_init_normal(a, INFINITY, 1), TN_INVALID_ARGUMENT, "init_normal",
		    "mean: expected a finite number, found inf");
	check_error(tn_init_normal(a, 0, -1), TN_INVALID_ARGUMENT, "init_normal",
		    "deviation: expected a finite number of at least 0, found -1");
	check_error(tn_init_trunc_normal(a, 0, 1, 2, 2), TN_INVALID_ARGUMENT, "init_trunc_normal",
		    "low: expected a number below high, which is 2, found 2");
	check_error(tn_init_trunc_normal(a, NAN, 1, -2, 2), TN_INVALID_ARGUMENT,
		    "init_trunc_normal", "mean: expected a finite number, found nan");
	check_error(tn_init_trunc_normal(a, 0, 0, -2, 2), TN_INVALID_ARGUMENT, "init_trunc_normal",
		    "deviation: expected a finite number above 0, found 0");
	check_error(tn_init_by_activation(a, NULL, 77), TN_INVALID_ARGUMENT, "init_kaiming_normal",
		    "nonlinearity: expected TN_NONLINEARITY_..., found 77");
	struct tn_kaiming_options kaiming = tn_kaiming_defaults();
	kaiming.mode = 2;
	check_error(tn_init_kaiming_normal(a, &kaiming), TN_INVALID_ARGUMENT, "init_kaiming_normal",
		    "mode: expected TN_FAN_IN or TN_FAN_OUT, found 2");
	kaiming = tn_kaiming_defaults();
	kaiming.nonlinearity = 9;
	check_error(tn_init_kaiming_uniform(a, &kaiming), TN_INVALID_ARGUMENT,
		    "init_kaiming_uniform", "found 9");
	kaiming = tn_kaiming_defaults();
	kaiming.negative_slope = NAN;
	check_error(tn_init_kaiming_uniform(a, &kaiming), TN_INVALID_ARGUMENT,
		    "init_kaiming_uniform", "negative_slope: expected a number, found nan");
	check_error(tn_init_dirac(a, 1), TN_SHAPE, "init_dirac", "3 to 5 axes");
	check_error(tn_init_dirac(blank(TN_F32, 3, (const int64_t[]){4, 2, 3}), 3),
		    TN_INVALID_ARGUMENT, "init_dirac", "groups: 3 does not divide");
	assert_status(tn_init_zeros(NULL), TN_INVALID_ARGUMENT);
}

static void a_wrong_parameter_changes_nothing(void **state)
{
	tn_module *net = make_net();
	struct tn_init_options orthogonal = tn_init_defaults();
	orthogonal.kind = TN_INIT_ORTHOGONAL;
	orthogonal.gain = 100;
	const char *name = "module_init_parameters";
	(void)state;
	check_error(tn_module_init_parameters(net, "*", &orthogonal), TN_STATE, name,
		    "has not been built");
	assert_ok(tn_module_build(net));
	check_error(tn_module_init_parameters(net, "*.weight", &orthogonal), TN_SHAPE, name,
		    "norm.weight: expected at least two axes, found shape (5,)");
	check_parameter(net, "a.weight", -0.5, 0.5);
	check_error(tn_module_init_parameters(net, "c.*", &orthogonal), TN_NOT_FOUND, name,
		    "no parameter's name matches 'c.*'");
	struct tn_init_options init = tn_init_defaults();
	init.kind = 10;
	check_error(tn_module_init_parameters(net, "*", &init), TN_INVALID_ARGUMENT, name,
		    "kind: expected TN_INIT_..., found 10");
	tn_module_destroy(net);
}

/* Each member, with a value that is no default, and the kinds that take it. */
static void a_member_that_the_kind_does_not_use_is_refused(void **state)
{
	static const struct {
		struct tn_init_options options;
		const char *name, *kinds; /* digits: TN_INIT_... */
	} rows[] = {
		{{.value = 0.5}, "value", "0"},
		{{.low = -0.5}, "low", "13"},
		{{.high = 0.5}, "high", "13"},
		{{.mean = 0.5}, "mean", "23"},
		{{.deviation = 0.5}, "deviation", "23"},
		{{.gain = 0.5}, "gain", "458"},
		{{.mode = TN_FAN_OUT}, "mode", "67"},
		{{.nonlinearity = TN_NONLINEARITY_TANH}, "nonlinearity", "67"},
		{{.negative_slope = 0.5}, "negative_slope", "67"},
		{{.groups = 2}, "groups", "9"},
	};
	tn_module *net = make_net();
	(void)state;
	assert_ok(tn_module_build(net));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (uint32_t kind = 0; kind < 10; kind++) {
			const struct tn_init_options *given = &rows[i].options;
			struct tn_init_options all = tn_init_defaults();
			char text[64];
			all.kind = kind;
			all.value += given->value;
			all.low = given->low != 0 ? given->low : all.low;
			all.high = given->high != 0 ? given->high : all.high;
			all.mean += given->mean;
			all.deviation += given->deviation;
			all.gain += given->gain;
			all.mode += given->mode;
			all.nonlinearity += given->nonlinearity;
			all.negative_slope += given->negative_slope;
			all.groups += given->groups;
			/* What takes it finds no such parameter. */
			const int is_used = strchr(rows[i].kinds, (int)('0' + kind)) != NULL;
			snprintf(text, sizeof(text), "%s: expected its default, because init_",
				 rows[i].name);
			check_error(tn_module_init_parameters(net, "c.*", &all),
				    is_used ? TN_NOT_FOUND : TN_INVALID_ARGUMENT,
				    "module_init_parameters", is_used ? "'c.*'" : text);
		}
	}
	tn_module_destroy(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distributions_have_their_moments),
		cmocka_unit_test(truncated_normals_have_their_moments),
		cmocka_unit_test(convolutions_have_fans_of_their_windows),
		cmocka_unit_test(gains_are_pytorchs),
		cmocka_unit_test(nnotts_layers_have_their_values),
		cmocka_unit_test(orthogonal_matrices_are),
		cmocka_unit_test(orthogonal_matrices_have_both_determinants),
		cmocka_unit_test(a_dirac_convolution_passes_its_input_on),
		cmocka_unit_test(backends_get_the_same_bits),
		cmocka_unit_test(parameters_that_match_are_initialised),
		cmocka_unit_test(wrong_arguments_are_errors),
		cmocka_unit_test(a_wrong_parameter_changes_nothing),
		cmocka_unit_test(a_member_that_the_kind_does_not_use_is_refused),
	};
	return cmocka_run_group_tests(tests, open_context, context_teardown);
}
