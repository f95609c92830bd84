/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The gallery against torchvision's, timm's and gallery.py's networks: names, shapes and number of
 * tensors, logits, loss and gradients.  TENON_GALLERY names another file, that of
 * `gallery.py published`.
 *
 * Tolerances: in f64 what the record's eight digits leave.  In f32 a layer's sums, of up to 4608
 * products, differ by about sqrt(4608) eps = 4e-6 from exact ones, and 8 to 120 layers add up.  A
 * ReLU6 within that of its kink then changes gradients by percents: those of mobilenet_v2 by 1.2 on
 * an H100, by 2.8 in a build with sanitizers.  So f32 shows that a gradient is there, and f64 that
 * it is right.
 */
#include <inttypes.h>
#include <tenon/tenon.h>

#include "check.h"
#include "models/models.h"
#include "record.h"
#include "unit/test_context.h"

enum { BATCH = 2, CLASSES = 10, ENTRIES = 16, SEED = 7, SMALL = 8 << 20, LARGE = 12 << 20 };

struct network {
	char name[RECORD_NAME];
	int64_t channels, side, size, n_tensors;
	uint64_t hash;
};

/* ---- Reading ---------------------------------------------------------------------------------*/

static int read_network(FILE *file, struct network *network)
{
	const int n = fscanf(
		file, " network %47s %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNx64,
		network->name, &network->channels, &network->side, &network->size,
		&network->n_tensors, &network->hash);
	assert_true(n == 6 || n == EOF);
	return n == 6;
}

static double read_number(FILE *file)
{
	double value;
	assert_int_equal(fscanf(file, " %lf", &value), 1);
	return value;
}

static void read_word(FILE *file, const char *expected)
{
	char word[RECORD_NAME];
	assert_int_equal(fscanf(file, " %47s", word), 1);
	assert_string_equal(word, expected);
}

/* ---- Making ----------------------------------------------------------------------------------*/

static void hash_tensor(uint64_t *hash, const char *name, int rank, const int64_t *shape)
{
	char line[256];
	int length = snprintf(line, sizeof(line), "%s", name);
	for (int i = 0; i < rank; i++)
		length += snprintf(line + length, sizeof(line) - (size_t)length, " %" PRId64,
				   shape[i]);
	snprintf(line + length, sizeof(line) - (size_t)length, "\n");
	for (const char *c = line; *c; c++)
		*hash = (*hash ^ (unsigned char)*c) * 0x100000001b3u;
}

/* Of nnott's forms the names are our own. */
static void check_tensors(const tn_module *net, const struct network *network)
{
	const int is_nnott = strstr(network->name, ":nnott") != NULL;
	const size_t n_parameters = tn_module_parameter_count(net);
	const size_t n_buffers = tn_module_buffer_count(net);
	uint64_t hash = 0xcbf29ce484222325u;
	assert_int_equal(tn_module_size(net, 0), network->size);
	assert_int_equal(n_parameters + n_buffers, network->n_tensors);
	for (size_t i = 0; i < n_parameters; i++) {
		struct tn_parameter_view view = {.struct_size = sizeof(view)};
		assert_ok(tn_module_parameter_at(net, i, &view));
		hash_tensor(&hash, is_nnott ? "" : view.name, view.rank, view.shape);
	}
	for (size_t i = 0; i < n_buffers; i++) {
		struct tn_buffer_view view = {.struct_size = sizeof(view)};
		assert_ok(tn_module_buffer_at(net, i, &view));
		hash_tensor(&hash, is_nnott ? "" : view.name, view.rank, view.shape);
	}
	if (hash != network->hash)
		fail_msg("%s: other names or shapes of tensors", network->name);
}

static int ends_in(const char *name, const char *end)
{
	const size_t n = strlen(name), m = strlen(end);
	return n >= m && !strcmp(name + n - m, end);
}

/* Weights as gallery.py has them, drawn on the device. */
static void fill(const tn_module *net)
{
	for (size_t k = 0; k < tn_module_parameter_count(net); k++) {
		struct tn_parameter_view view = {.struct_size = sizeof(view)};
		assert_ok(tn_module_parameter_at(net, k, &view));
		const int64_t size = tn_array_size(view.value);
		const double fan_in = (double)(size / view.shape[0]);
		const int is_scale =
			ends_in(view.name, "weight") || ends_in(view.name, "layer_scale");
		const double range = fan_in > 1 ? 2 * sqrt(6 / fan_in) : is_scale ? 1 : 0.2;
		const double low = fan_in > 1 ? -range / 2 : is_scale ? 0.5 : -0.1;
		assert_ok(tn_scope_begin(context));
		tn_array *zero = tn_zeros(context, TN_F64, 0, NULL);
		const tn_array *inputs[] = {tn_broadcast_to(zero, view.rank, view.shape)};
		tn_array *values = tn_map("z = f32(f64(uniform(i64(seed), i64(stream), "
					  "element()))*range + low + x)",
					  1, (const char *[]){"x"}, inputs, 4,
					  (const char *[]){"seed", "stream", "range", "low"},
					  (const double[]){SEED, (double)k, range, low});
		(void)tn_assign(view.value, values);
		tn_scope_end(context, NULL);
	}
}

static tn_array *pictures(const struct network *network, tn_dtype dtype)
{
	const int64_t shape[] = {BATCH, network->channels, network->side, network->side};
	const int64_t n = BATCH * network->channels * network->side * network->side;
	tn_array *angles = tn_affine(tn_arange(context, TN_F64, 0, (double)n, 1), 0.11, 0);
	return tn_astype(tn_reshape(tn_astype(tn_cos(angles), TN_F32), 4, shape), dtype);
}

/* ---- Comparing -------------------------------------------------------------------------------*/

static void read_values(const tn_array *a, double *values, size_t n)
{
	assert_ok(tn_to_host(tn_astype(a, TN_F64), values, n * sizeof(*values)));
}

static void expect(const struct network *network, const char *what, double found, double expected,
		   double tolerance)
{
	if (!(fabs(found - expected) <= tolerance))
		fail_msg("%s: %s: expected %.8g, found %.8g, tolerance %.2g", network->name, what,
			 expected, found, tolerance);
}

/* The next line of the record. */
static void check_gradient(FILE *file, const struct network *network,
			   const struct tn_parameter_view *view, double tolerance)
{
	const tn_array *g = view->gradient;
	assert_non_null(g);
	const int64_t n = tn_array_size(g), step = n / ENTRIES > 1 ? n / ENTRIES : 1;
	double *values = malloc((size_t)n * sizeof(*values)), squares = 0, sum = 0;
	read_values(g, values, (size_t)n);
	for (int64_t i = 0; i < n; i++) {
		squares += values[i] * values[i];
		sum += values[i];
	}
	read_word(file, "gradient");
	const double norm = read_number(file), share = norm / sqrt((double)n);
	expect(network, view->name, sqrt(squares), norm, tolerance * norm + 1e-12);
	expect(network, view->name, sum, read_number(file),
	       tolerance * norm * sqrt((double)n) + 1e-12);
	for (int64_t i = 0; i < n && i / step < ENTRIES; i += step) {
		const double expected = read_number(file);
		expect(network, view->name, values[i], expected,
		       tolerance * (fabs(expected) + 10 * share) + 1e-12);
	}
	free(values);
}

static void check_network(FILE *file, const struct network *network, tn_dtype dtype)
{
	const struct tn_model_shape shape = {network->channels, network->side, network->side,
					     CLASSES};
	const double tolerance = dtype == TN_F64 ? 6e-8 : 1e-4;
	const double of_gradients = dtype == TN_F64 ? 1e-7 : 0.1;
	double logits[BATCH * CLASSES], loss;
	assert_ok(tn_scope_begin(context));
	tn_module *net = tn_model_create(context, network->name, &shape);
	if (!net)
		fail_msg("%s", tn_error(context)->text);
	check_tensors(net, network);
	assert_ok(tn_module_set_dtype(net, dtype));
	assert_ok(tn_module_build(net));
	fill(net);
	tn_tape *tape = tn_tape_begin(context);
	tn_array *y = tn_module_forward(net, pictures(network, dtype));
	tn_array *labels =
		tn_from_host(context, TN_I32, 1, (int64_t[]){BATCH}, (const int32_t[BATCH]){1, 4});
	tn_array *l = tn_cross_entropy(y, labels, NULL);
	if (!l)
		fail_msg("%s: %s", network->name, tn_error(context)->text);
	assert_ok(tn_tape_backward(tape, l, NULL));
	tn_tape_end(tape);
	read_values(y, logits, BATCH * CLASSES);
	read_values(l, &loss, 1);
	double expected[BATCH * CLASSES], largest = 0;
	read_word(file, "logits");
	for (int i = 0; i < BATCH * CLASSES; i++) {
		expected[i] = read_number(file);
		largest = fmax(largest, fabs(expected[i]));
	}
	for (int i = 0; i < BATCH * CLASSES; i++)
		expect(network, "logits", logits[i], expected[i], tolerance * largest);
	read_word(file, "loss");
	expect(network, "loss", loss, read_number(file), tolerance * fmax(largest, loss));
	for (size_t k = 0; k < tn_module_parameter_count(net); k++) {
		struct tn_parameter_view view = {.struct_size = sizeof(view)};
		assert_ok(tn_module_parameter_at(net, k, &view));
		check_gradient(file, network, &view, of_gradients);
	}
	tn_module_destroy(net);
	tn_scope_end(context, NULL);
}

/* Every network of the file: in f64, whose tolerance is the narrower, unless it is large, and in
 * f32 if it is large or small; those between are like larger ones. */
static void networks_compute_what_pytorch_does(void **state)
{
	const char *other = getenv("TENON_GALLERY");
	FILE *file = other ? fopen(other, "r") : record_open("gallery.txt");
	struct network network;
	int n = 0;
	(void)state;
	assert_non_null(file);
	assert_int_equal(fscanf(file, "#%*[^\n]"), 0);
	for (; read_network(file, &network); n++) {
		const long place = ftell(file);
		const int is_large = network.size > LARGE;
		if (is_large || network.size < SMALL)
			check_network(file, &network, TN_F32);
		if (is_large)
			continue;
		assert_int_equal(fseek(file, place, SEEK_SET), 0);
		check_network(file, &network, TN_F64);
	}
	assert_true(other || n == 34);
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(networks_compute_what_pytorch_does)};
	return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
