/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The initial values of the gallery's networks against those of torchvision and timm, as random
 * numbers: mean, deviation and largest magnitude of each parameter.
 *
 * Tolerances: of n numbers of deviation s, the mean has the deviation s / sqrt(n), and their own
 * deviation that of at most s / sqrt(2 n); both sides are samples, and 3000 moments are compared,
 * so 6 times the deviation of the difference.  The largest of many normal numbers is above 3 s, of
 * uniform ones 1.73 s: within a factor of 1.5, from 1000 numbers on, tells which they are.
 */
#include <math.h>
#include <tenon/tenon.h>

#include "check.h"
#include "models/models.h"
#include "record.h"

enum { CLASSES = 10, NAME = 96, MANY = 1000 };

struct moments {
	double mean, deviation, largest;
};

static struct moments moments_of(const tn_array *array)
{
	const int64_t n = tn_array_size(array);
	float *values = malloc((size_t)n * sizeof(*values));
	struct moments m = {0};
	assert_non_null(values);
	assert_ok(tn_to_host(array, values, (size_t)n * sizeof(*values)));
	for (int64_t i = 0; i < n; i++) {
		m.mean += (double)values[i];
		m.largest = fmax(m.largest, fabs((double)values[i]));
	}
	m.mean /= (double)n;
	for (int64_t i = 0; i < n; i++)
		m.deviation += ((double)values[i] - m.mean) * ((double)values[i] - m.mean);
	m.deviation = sqrt(m.deviation / (double)n);
	free(values);
	return m;
}

static void expect(const char *network, const char *parameter, const char *what, double found,
		   double expected, double tolerance)
{
	if (!(fabs(found - expected) <= tolerance))
		fail_msg("%s: %s: %s: expected %.4g, found %.4g, tolerance %.2g", network,
			 parameter, what, expected, found, tolerance);
}

/* The next line of the record. */
static void check_parameter(FILE *file, const char *network, const tn_module *net)
{
	char name[NAME];
	long long n;
	struct moments e;
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	assert_int_equal(
		fscanf(file, " %95s %lld %lf %lf %lf", name, &n, &e.mean, &e.deviation, &e.largest),
		5);
	if (tn_module_parameter(net, name, &view) || tn_array_size(view.value) != n)
		fail_msg("%s: expected a parameter %s of %lld elements", network, name, n);
	const struct moments found = moments_of(view.value);
	/* Four digits are recorded. */
	const double last = 1e-3 * e.largest, of_mean = e.deviation * sqrt(2 / (double)n);
	expect(network, name, "mean", found.mean, e.mean, 6 * of_mean + last);
	expect(network, name, "deviation", found.deviation, e.deviation,
	       6 * of_mean / sqrt(2) + 1e-3 * e.deviation + 1e-9 * e.largest);
	if (n < MANY || e.deviation == 0)
		return;
	expect(network, name, "log of the largest", log(found.largest), log(e.largest), log(1.5));
}

static void values_begin_as_published(void **state)
{
	FILE *file = record_open("initial.txt");
	char line[256], network[NAME];
	int n_networks = 0, side, width, n;
	tn_context *context;
	(void)state;
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference!";
	options.seed = 11;
	assert_ok(tn_context_open(&options, &context, NULL));
	assert_non_null(fgets(line, sizeof(line), file));
	while (fscanf(file, " network %95s %d %d %d", network, &side, &width, &n) == 4) {
		tn_module *net = tn_model_create_width(
			context, network, &(struct tn_model_shape){3, side, side, CLASSES}, width);
		assert_non_null(net);
		assert_ok(tn_module_build(net));
		assert_int_equal(tn_module_parameter_count(net), n);
		for (int i = 0; i < n; i++)
			check_parameter(file, network, net);
		tn_module_destroy(net);
		n_networks++;
	}
	assert_true(feof(file));
	assert_int_equal(n_networks, 11);
	fclose(file);
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_begin_as_published),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
