/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Distributions of random numbers against SciPy's.
 *
 * By Kolmogorov's limit the share of N numbers up to a point is off its probability by more than
 * 1.95 / sqrt(N) once in a thousand; the mean is off by 3.3 deviations of its own as often, and the
 * variance by 3.3 of those that its fourth moment, that of the numbers themselves, gives.  Seeds
 * are fixed, so that a case that passes always does.
 */
#include "parity/functions.h"
#include "unit/random_calls.h"

enum { N = 40000 };

static const struct record_array *array_of(const struct record *record, const char *name)
{
	const struct record_array *array = record_array(record, name);
	assert_non_null(array);
	return array;
}

static void check_shares(const struct record *record, const double *numbers)
{
	const struct record_array *x = array_of(record, "x"), *cdf = array_of(record, "cdf");
	for (size_t i = 0; i < x->count; i++) {
		int n = 0;
		for (int k = 0; k < N; k++)
			n += numbers[k] <= x->values[i];
		if (!(fabs((double)n / N - cdf->values[i]) <= 1.95 / sqrt(N)))
			fail_msg("%s(%g, ...): SciPy has %g up to %g, found %g", record->layer,
				 array_of(record, "p")->values[0], cdf->values[i], x->values[i],
				 (double)n / N);
	}
}

static void check_moments(const struct record *record, const double *numbers)
{
	const double mean = array_of(record, "moments")->values[0];
	const double variance = array_of(record, "moments")->values[1];
	double sum = 0, squares = 0, fourth = 0;
	for (int k = 0; k < N; k++) {
		const double square = (numbers[k] - mean) * (numbers[k] - mean);
		sum += numbers[k] - mean;
		squares += square;
		fourth += square * square;
	}
	const double spread = sqrt(fmax(fourth / N - variance * variance, 0) / N);
	if (isnan(variance))
		return;
	if (!(fabs(sum / N) <= 3.3 * sqrt(variance / N)))
		fail_msg("%s(%g, ...): SciPy has a mean of %g, found %g", record->layer,
			 array_of(record, "p")->values[0], mean, mean + sum / N);
	if (!(fabs(squares / N - variance) <= 3.3 * spread))
		fail_msg("%s(%g, ...): SciPy has a variance of %g, found %g", record->layer,
			 array_of(record, "p")->values[0], variance, squares / N);
}

static void run_all(tn_context *context)
{
	static double numbers[N];
	struct record record;
	FILE *file = record_open("random.txt");
	tn_generator *g = tn_generator_create(context, 20261127);
	int n_cases = 0;
	for (; record_read(file, &record); n_cases++) {
		const tn_dtype dtype = (tn_dtype)record_ints(&record, "dtype")[0];
		assert_ok(tn_scope_begin(context));
		tn_array *a = random_call(g, record.layer, dtype, 1, (int64_t[]){N},
					  array_of(&record, "p")->values);
		if (!a)
			fail_msg("%s: %s", record.layer, tn_error(context)->text);
		assert_ok(tn_to_host(tn_astype(a, TN_F64), numbers, sizeof(numbers)));
		check_shares(&record, numbers);
		check_moments(&record, numbers);
		tn_scope_end(context, NULL);
		record_free(&record);
	}
	fclose(file);
	assert_int_equal(n_cases, 81);
	tn_generator_destroy(g);
	tn_context_close(context);
}

/* Other backends have the same bits (tests/unit/random_bits). */
static void numbers_have_scipys_distributions(void **state)
{
	(void)state;
	run_all(trial_open(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_have_scipys_distributions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
