/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Initial values against the recorded moments of PyTorch's.
 *
 * Of N = 30000 numbers the mean errs by 0.006 deviations and the deviation by at most 0.005 of
 * itself; four times that is allowed, and a quarter of the range for the extremes.
 */
#include "parity/functions.h"

enum { MOST = 30000 };

static const double *numbers_of(const struct trial *t, const char *name)
{
	const struct record_array *array = record_array(t->record, name);
	assert_non_null(array);
	return array->values;
}

static tn_status initialise(const struct trial *t, tn_array *a)
{
	const char *name = t->record->layer;
	const double *v = numbers_of(t, "numbers");
	const struct tn_kaiming_options kaiming = {
		.struct_size = sizeof(kaiming),
		.mode = (uint32_t)trial_int(t, "mode", 0),
		.nonlinearity = (uint32_t)trial_int(t, "nonlinearity", 0),
		.negative_slope = v[0]};
	if (!strcmp(name, "uniform"))
		return tn_init_uniform(a, v[0], v[1]);
	if (!strcmp(name, "normal"))
		return tn_init_normal(a, v[0], v[1]);
	if (!strcmp(name, "trunc_normal"))
		return tn_init_trunc_normal(a, v[0], v[1], v[2], v[3]);
	if (!strcmp(name, "xavier_uniform"))
		return tn_init_xavier_uniform(a, v[0]);
	if (!strcmp(name, "xavier_normal"))
		return tn_init_xavier_normal(a, v[0]);
	if (!strcmp(name, "orthogonal"))
		return tn_init_orthogonal(a, v[0]);
	if (!strcmp(name, "kaiming_uniform"))
		return tn_init_kaiming_uniform(a, &kaiming);
	if (!strcmp(name, "kaiming_normal"))
		return tn_init_kaiming_normal(a, &kaiming);
	fail_msg("the initial values %s are not known", name);
	return TN_NOT_FOUND;
}

static void check_moments(const struct trial *t)
{
	static double values[MOST];
	const int64_t *shape = record_ints(t->record, "shape");
	const double *moments = numbers_of(t, "moments"), *limits = numbers_of(t, "limits");
	int rank = shape[2] ? 4 : 2;
	double sum = 0, squares = 0, low = INFINITY, high = -INFINITY;
	tn_array *a = tn_zeros(t->context, t->dtype, rank, shape);
	assert_ok(initialise(t, a));
	assert_int_equal(tn_array_size(a), MOST);
	assert_ok(tn_to_host(tn_astype(a, TN_F64), values, sizeof(values)));
	for (int i = 0; i < MOST; i++) {
		sum += values[i];
		squares += values[i] * values[i];
		low = fmin(low, values[i]);
		high = fmax(high, values[i]);
	}
	double mean = sum / MOST, deviation = sqrt(squares / MOST - mean * mean);
	assert_close(mean, moments[0], 0.024 * moments[1]);
	assert_close(deviation, moments[1], 0.02 * moments[1]);
	/* Those of the normal distributions are random; tests/unit/nn_init.c has exact limits. */
	double width = limits[1] - limits[0];
	int is_low_right = low >= limits[0] - 0.25 * width && low <= limits[0] + 0.25 * width;
	int is_high_right = high <= limits[1] + 0.25 * width && high >= limits[1] - 0.25 * width;
	if (!is_low_right || !is_high_right)
		fail_msg("%s: PyTorch's are from %g to %g, found %g to %g", t->record->layer,
			 limits[0], limits[1], low, high);
}

static void run_case(const struct trial *t)
{
	if (!strcmp(t->record->layer, "gain")) {
		const double *numbers = numbers_of(t, "numbers");
		double gain = tn_init_gain((uint32_t)trial_int(t, "nonlinearity", 0), numbers[0]);
		assert_close(gain, numbers[1], 1e-15);
		return;
	}
	if (strcmp(t->record->layer, "dirac") != 0) {
		check_moments(t);
		return;
	}
	tn_array *value = trial_array(t, "value", t->dtype);
	tn_array *a = tn_full(t->context, t->dtype, tn_array_rank(value), tn_array_shape(value), 5);
	assert_ok(tn_init_dirac(a, trial_int(t, "groups", 1)));
	trial_expect(t, "value", a);
}

static void initial_values_are_distributed_as_pytorchs(void **state)
{
	tn_context *context = trial_open(NULL);
	FILE *file = record_open("init.txt");
	struct record record;
	int n_cases = 0;
	(void)state;
	tn_random_set_state(context, (struct tn_random_state){3, 0});
	for (; record_read(file, &record); n_cases++) {
		assert_ok(tn_scope_begin(context));
		trial_run(context, &record, run_case);
		tn_scope_end(context, NULL);
		record_free(&record);
	}
	fclose(file);
	assert_int_equal(n_cases, 47);
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(initial_values_are_distributed_as_pytorchs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
