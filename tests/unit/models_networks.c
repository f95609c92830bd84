/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Networks of the gallery: parameters and buffers have the names, shapes and order of torchvision's
 * and timm's, and small ones train and run on pictures of odd and of the least sizes.
 * parity/gallery.c compares their results with PyTorch's.
 */
#include <fnmatch.h>

#include <tenon/tenon.h>

#include "check.h"
#include "models/models.h"
#include "nn/module.h"
#include "parity/model_names.h"
#include "test_context.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

enum { N_PICTURES = 2, HEIGHT = 37, WIDTH = 51, N_CLASSES = 5, LARGE = 1 << 20 };

static const struct network {
	const char *name;
	int64_t n_classes; /* of the recorded network */
	const char *const *tensors;
	size_t n_tensors;
} networks[] = {
	{"convnext_tiny:published", 1000, convnext_tiny_tensors, LENGTH(convnext_tiny_tensors)},
	{"efficientnet_lite0:published", 1000, efficientnet_lite0_tensors,
	 LENGTH(efficientnet_lite0_tensors)},
	{"resnet18:small", 10, resnet18_tensors, LENGTH(resnet18_tensors)},
};

static int setup(void **state)
{
	struct tn_error_info error;
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference!";
	(void)state;
	return tn_context_open(&options, &context, &error);
}

/* ---- Names and shapes ------------------------------------------------------------------------*/

/* "conv1.weight 64x3x3x3", as model_names.py writes it. */
static void expect_tensor(const char *expected, const char *name, int rank, const int64_t *shape)
{
	char found[160];
	int length = snprintf(found, sizeof(found), "%s", name);
	for (int i = 0; i < rank; i++)
		length += snprintf(found + length, sizeof(found) - (size_t)length, "%c%lld",
				   i ? 'x' : ' ', (long long)shape[i]);
	assert_string_equal(found, expected);
}

static void check_tensors(void **state)
{
	const struct network *network = *state;
	tn_module *net = tn_model_create(context, network->name,
					 &(struct tn_model_shape){3, 224, 224, network->n_classes});
	assert_non_null(net);
	size_t n_parameters = tn_module_parameter_count(net);
	assert_int_equal(n_parameters + tn_module_buffer_count(net), network->n_tensors);
	for (size_t i = 0; i < network->n_tensors; i++) {
		struct tn_parameter_view parameter = {.struct_size = sizeof(parameter)};
		struct tn_buffer_view buffer = {.struct_size = sizeof(buffer)};
		if (i < n_parameters) {
			assert_ok(tn_module_parameter_at(net, i, &parameter));
			expect_tensor(network->tensors[i], parameter.name, parameter.rank,
				      parameter.shape);
		} else {
			assert_ok(tn_module_buffer_at(net, i - n_parameters, &buffer));
			expect_tensor(network->tensors[i], buffer.name, buffer.rank, buffer.shape);
		}
	}
	tn_module_destroy(net);
}

static void convnext_tiny_has_the_tensors_of_torchvision(void **state)
{
	check_tensors(state);
}

static void efficientnet_lite0_has_the_tensors_of_timm(void **state)
{
	check_tensors(state);
}

static void resnet18_has_the_tensors_of_torchvision(void **state)
{
	check_tensors(state);
}

/* ---- Running ---------------------------------------------------------------------------------*/

static tn_module *small_network(const struct network *network)
{
	tn_module *net = tn_model_create_width(
		context, network->name, &(struct tn_model_shape){3, HEIGHT, WIDTH, N_CLASSES}, 8);
	assert_non_null(net);
	assert_ok(tn_module_build(net));
	return net;
}

static tn_array *pictures(void)
{
	return tn_random_normal(context, 4, (int64_t[]){N_PICTURES, 3, HEIGHT, WIDTH}, 0, 1);
}

/* The sum is finite exactly if all elements are, except for sums beyond f32's range. */
static void expect_finite(const tn_array *array)
{
	double sum;
	assert_non_null(array);
	assert_ok(tn_item(tn_sum(array, TN_ALL_AXES, NULL, 0), &sum));
	assert_true(isfinite(sum));
}

static void forward_and_backward_give_finite_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(networks); i++) {
		tn_module *net = small_network(&networks[i]);
		tn_module_set_training(net, 1);
		assert_ok(tn_scope_begin(context));
		tn_tape *tape = tn_tape_begin(context);
		tn_array *logits = tn_module_forward(net, pictures());
		assert_non_null(logits);
		assert_int_equal(tn_array_rank(logits), 2);
		assert_int_equal(tn_array_shape(logits)[0], N_PICTURES);
		assert_int_equal(tn_array_shape(logits)[1], N_CLASSES);
		tn_array *labels = tn_from_host(context, TN_I32, 1, (int64_t[]){N_PICTURES},
						(const int32_t[]){0, N_CLASSES - 1});
		tn_array *loss = tn_cross_entropy(logits, labels, NULL);
		expect_finite(loss);
		assert_ok(tn_tape_backward(tape, loss, NULL));
		tn_tape_end(tape);
		for (size_t k = 0; k < tn_module_parameter_count(net); k++) {
			struct tn_parameter_view view = {.struct_size = sizeof(view)};
			assert_ok(tn_module_parameter_at(net, k, &view));
			expect_finite(view.gradient);
		}
		tn_scope_end(context, NULL);
		tn_module_destroy(net);
	}
}

static void frozen_networks_answer_as_before(void **state)
{
	float before[N_PICTURES * N_CLASSES], after[N_PICTURES * N_CLASSES];
	(void)state;
	for (size_t i = 0; i < LENGTH(networks); i++) {
		tn_module *net = small_network(&networks[i]);
		assert_ok(tn_scope_begin(context));
		tn_array *x = pictures();
		assert_ok(tn_to_host(tn_module_forward(net, x), before, sizeof(before)));
		assert_ok(tn_module_freeze(net));
		for (int round = 0; round < 2;
		     round++) { /* the second repeats the first one's calls */
			assert_ok(tn_to_host(tn_module_forward(net, x), after, sizeof(after)));
			for (int k = 0; k < N_PICTURES * N_CLASSES; k++)
				assert_close(after[k], before[k], 1e-4 * (1 + fabsf(before[k])));
		}
		tn_scope_end(context, NULL);
		tn_module_destroy(net);
	}
}

/* ---- What evaluation does not show -----------------------------------------------------------*/

/* The probability with which the module drops, of a class that does; -1: it does not.  Networks are
 * not built for that. */
static double probability(tn_module *module)
{
	const char *name = tn_module_class_name(module);
	if (!strcmp(name, "CNBlock"))
		return *(const double *)module->state;
	if (strcmp(name, "Dropout") != 0 && strcmp(name, "StochasticDepth") != 0)
		return -1;
	double kept = 0;
	assert_ok(tn_scope_begin(context));
	tn_module_set_training(module, 1);
	const tn_array *y = module->class_.forward(
		module, module->state, tn_ones(context, TN_F32, 2, (int64_t[]){100, 1}));
	assert_non_null(y);
	assert_ok(tn_item(tn_max(y, TN_ALL_AXES, NULL, 0), &kept));
	tn_scope_end(context, NULL);
	return 1 - 1 / kept;
}

enum { MOST_DROPOUTS = 20 };

/* torchvision's, of the module's place in the network; the first row of a name and form counts. */
static const struct dropouts {
	const char *pattern;
	int n;
	double unit, probabilities[MOST_DROPOUTS]; /* in units */
} dropouts[] = {
	{"baseline:*", 3, 1, {0.15, 0.25, 0.5}},
	{"alexnet:*", 2, 1, {0.5, 0.5}},
	{"vgg*", 2, 1, {0.5, 0.5}},
	{"resnet18:nnott", 1, 1, {0.5}},
	{"mobilenet_v2:*", 1, 1, {0.2}},
	/* Of 16 blocks, those with a shortcut; and before the last layer. */
	{"efficientnet_b0:*", 10, 0.2 / 16, {2, 4, 6, 7, 9, 10, 12, 13, 14, 16}},
	{"squeezenet1_1:*", 1, 1, {0.5}},
	{"convnext_tiny:nnott", 0, 1, {0}},
	{"convnext_tiny:*",
	 18,
	 0.1 / 17,
	 {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}},
	{"*", 0, 1, {0}},
};

static void check_dropouts(const char *name)
{
	const struct dropouts *row = dropouts;
	struct tn_module_view view = {.struct_size = sizeof(view)};
	int n = 0;
	tn_module *net = tn_model_create(context, name, &(struct tn_model_shape){3, 64, 64, 10});
	assert_non_null(net);
	while (fnmatch(row->pattern, name, 0) != 0)
		row++;
	for (size_t k = 0; !tn_module_at(net, k, &view); k++) {
		const double found = probability(view.module);
		if (found < 0)
			continue;
		if (n == row->n || fabs(found - row->unit * row->probabilities[n]) > 1e-6)
			fail_msg("%s: %s has the probability %g", name, view.path, found);
		n++;
	}
	assert_int_equal(n, row->n);
	tn_module_destroy(net);
}

static void parts_are_dropped_with_the_published_probabilities(void **state)
{
	(void)state;
	for (size_t i = 0; tn_model_at(i); i++) {
		for (uint32_t form = 0; tn_model_form_name(form); form++) {
			char name[64];
			snprintf(name, sizeof(name), "%s:%s", tn_model_at(i)->name,
				 tn_model_form_name(form));
			if (tn_model_at(i)->forms >> form & 1)
				check_dropouts(name);
		}
	}
}

/* The stem of resnet18 is 3x3 in the small form and 7x7 in the published one. */
static void pictures_of_at_most_64_get_the_small_form(void **state)
{
	static const struct {
		int64_t height, width, kernel;
	} rows[] = {{64, 64, 3}, {65, 64, 7}, {64, 65, 7}, {1, 1, 3}};
	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct tn_parameter_view view = {.struct_size = sizeof(view)};
		tn_module *net = tn_model_create(
			context, "resnet18",
			&(struct tn_model_shape){3, rows[i].height, rows[i].width, 10});
		assert_ok(tn_module_parameter_at(net, 0, &view));
		assert_int_equal(view.shape[3], rows[i].kernel);
		tn_module_destroy(net);
	}
}

/* ---- The least pictures ----------------------------------------------------------------------*/

/* Grey squares of the least side that the form accepts, with one class. */
static void run_smallest(const struct tn_model_info *info, uint32_t form)
{
	char name[64];
	tn_module *net = NULL;
	int64_t side = 0;
	snprintf(name, sizeof(name), "%s:%s", info->name, tn_model_form_name(form));
	while (!net && ++side <= 64) {
		const struct tn_model_shape shape = {1, side, side, 1};
		tn_error_clear(context);
		net = tn_model_create_width(context, name, &shape, 12);
	}
	assert_non_null(net);
	if (tn_module_size(net, 0) < LARGE) {
		assert_ok(tn_module_build(net));
		assert_ok(tn_scope_begin(context));
		const tn_array *y = tn_module_forward(
			net, tn_random_normal(context, 4, (int64_t[]){2, 1, side, side}, 0, 1));
		if (!y)
			fail_msg("%s at side %d: %s", name, (int)side, tn_error(context)->text);
		assert_int_equal(tn_array_shape(y)[1], 1);
		expect_finite(y);
		tn_scope_end(context, NULL);
	}
	tn_module_destroy(net);
}

static void the_least_pictures_that_are_accepted_run(void **state)
{
	(void)state;
	for (size_t i = 0; tn_model_at(i); i++) {
		for (uint32_t form = 0; tn_model_form_name(form); form++) {
			if (tn_model_at(i)->forms >> form & 1)
				run_smallest(tn_model_at(i), form);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(convnext_tiny_has_the_tensors_of_torchvision,
					  (void *)(uintptr_t)&networks[0]),
		cmocka_unit_test_prestate(efficientnet_lite0_has_the_tensors_of_timm,
					  (void *)(uintptr_t)&networks[1]),
		cmocka_unit_test_prestate(resnet18_has_the_tensors_of_torchvision,
					  (void *)(uintptr_t)&networks[2]),
		cmocka_unit_test(forward_and_backward_give_finite_values),
		cmocka_unit_test(frozen_networks_answer_as_before),
		cmocka_unit_test(parts_are_dropped_with_the_published_probabilities),
		cmocka_unit_test(pictures_of_at_most_64_get_the_small_form),
		cmocka_unit_test(the_least_pictures_that_are_accepted_run),
	};
	return cmocka_run_group_tests(tests, setup, context_teardown);
}
