/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The settings of mlp: which layers it has, which names they have, and what is refused.
 */
#include <tenon/tenon.h>

#include "check.h"
#include "test_context.h"

static int setup(void **state)
{
	struct tn_error_info error;
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference!";
	(void)state;
	return tn_context_open(&options, &context, &error);
}

static tn_module *make(const char *name)
{
	return tn_model_create(context, name, &(struct tn_model_shape){1, 3, 4, 5});
}

/* The parameters of a network as one text: "fc1.weight 7x12, ...". */
static void expect_parameters(const char *name, const char *expected)
{
	char found[512] = "";
	tn_module *net = make(name);
	if (!net)
		fail_msg("%s: %s", name, tn_error(context)->text);
	for (size_t i = 0; i < tn_module_parameter_count(net); i++) {
		struct tn_parameter_view view = {.struct_size = sizeof(view)};
		assert_ok(tn_module_parameter_at(net, i, &view));
		if (view.rank != 2)
			continue;
		const size_t used = strlen(found);
		snprintf(found + used, sizeof(found) - used, "%s%s %lldx%lld", used ? ", " : "",
			 view.name, (long long)view.shape[0], (long long)view.shape[1]);
	}
	assert_string_equal(found, expected);
	tn_module_destroy(net);
}

static void sizes_are_those_of_the_layers(void **state)
{
	(void)state;
	expect_parameters("mlp", "fc1.weight 256x12, fc2.weight 128x256, fc3.weight 5x128");
	expect_parameters("mlp:published:hidden-sizes=7", "fc1.weight 7x12, fc2.weight 5x7");
	expect_parameters("mlp:hidden-sizes=7,6,8",
			  "fc1.weight 7x12, fc2.weight 6x7, fc3.weight 8x6, fc4.weight 5x8");
}

/* The answer of a chain to a picture, by its own layers one after the other. */
static void expect_chain(const char *name, tn_array *(*hidden)(tn_module *net, tn_array *x))
{
	tn_module *net = make(name);
	assert_non_null(net);
	assert_ok(tn_module_build(net));
	tn_module_set_training(net, 1);
	assert_ok(tn_scope_begin(context));
	tn_array *x = tn_random_normal(context, 2, (int64_t[]){6, 12}, 0, 1);
	tn_array *pictures = tn_reshape(x, 4, (int64_t[]){6, 1, 3, 4});
	tn_array *found = tn_module_forward(net, pictures);
	tn_array *expected = hidden(net, x);
	double difference = 1;
	assert_non_null(found);
	assert_non_null(expected);
	assert_ok(tn_item(tn_max(tn_abs(tn_subtract(found, expected)), TN_ALL_AXES, NULL, 0),
			  &difference));
	assert_true(difference < 1e-5);
	tn_scope_end(context, NULL);
	tn_module_destroy(net);
}

static tn_array *linear(tn_module *net, const char *layer, tn_array *x)
{
	char name[32];
	struct tn_parameter_view weight = {.struct_size = sizeof(weight)},
				 bias = {.struct_size = sizeof(bias)};
	snprintf(name, sizeof(name), "%s.weight", layer);
	assert_ok(tn_module_parameter(net, name, &weight));
	snprintf(name, sizeof(name), "%s.bias", layer);
	assert_ok(tn_module_parameter(net, name, &bias));
	return tn_linear(x, weight.value, bias.value);
}

static tn_array *leaky_then_tanh(tn_module *net, tn_array *x)
{
	tn_array *first = tn_leaky_relu(linear(net, "fc1", x), 0.25);
	return linear(net, "fc3", tn_tanh(linear(net, "fc2", first)));
}

static tn_array *tanh_twice(tn_module *net, tn_array *x)
{
	return linear(net, "fc3", tn_tanh(linear(net, "fc2", tn_tanh(linear(net, "fc1", x)))));
}

/* With weight 1 and bias 0, as they start. */
static tn_array *normed(tn_module *net, tn_array *x)
{
	tn_array *y = linear(net, "fc1", x);
	tn_array *mean = tn_mean(y, 1, (int[]){0}, 1);
	tn_array *centred = tn_subtract(y, mean);
	tn_array *variance = tn_mean(tn_square(centred), 1, (int[]){0}, 1);
	tn_array *scaled = tn_divide(
		centred, tn_sqrt(tn_add(variance, tn_full(context, TN_F32, 0, NULL, 1e-5))));
	return linear(net, "fc2", tn_gelu_tanh(scaled));
}

static void layers_are_linear_norm_activation(void **state)
{
	(void)state;
	expect_chain("mlp:activation=leaky_relu,tanh:negative-slope=0.25", leaky_then_tanh);
	expect_chain("mlp:activation=tanh", tanh_twice);
	expect_chain("mlp:batch-norm=1:activation=gelu_tanh:hidden-sizes=9", normed);
}

/* The variance over masks of what the same picture gives. */
static double variance_by_dropout(const char *name)
{
	double variance = 0;
	tn_module *net = make(name);
	assert_non_null(net);
	tn_random_set_state(context, (struct tn_random_state){3, 0});
	assert_ok(tn_module_build(net));
	tn_module_set_training(net, 1);
	assert_ok(tn_scope_begin(context));
	tn_array *ones = tn_ones(context, TN_F32, 4, (int64_t[]){4096, 1, 3, 4});
	tn_array *y = tn_module_forward(net, ones);
	tn_array *off = tn_subtract(y, tn_mean(y, 1, (int[]){0}, 1));
	assert_ok(tn_item(tn_mean(tn_square(off), TN_ALL_AXES, NULL, 0), &variance));
	tn_scope_end(context, NULL);
	tn_module_destroy(net);
	return variance;
}

/* Before the last layer, which is linear, a mask of probability p gives a variance proportional to
 * p / (1 - p): 1 for 0.5, 4 for 0.8.  That of 4096 samples of 5 numbers errs by some 2 percent. */
static void dropout_is_there_if_it_is_set(void **state)
{
	(void)state;
	assert_close(variance_by_dropout("mlp"), 0, 1e-12);
	assert_close(variance_by_dropout("mlp:dropout=0,none"), 0, 1e-12);
	assert_close(variance_by_dropout("mlp:dropout=off"), 0, 1e-12);
	const double half = variance_by_dropout("mlp:dropout=0,0.5");
	assert_true(half > 1e-4);
	assert_close(variance_by_dropout("mlp:dropout=0,0.8") / half, 4, 0.4);
	/* Of both layers there is more. */
	assert_true(variance_by_dropout("mlp:dropout=0.5") > 1.2 * half);
}

/* running_mean := 0.9 running_mean + 0.1 mean, or with the other momentum. */
static double running_mean(const char *name)
{
	double mean = 0;
	struct tn_buffer_view view = {.struct_size = sizeof(view)};
	tn_module *net = make(name);
	assert_non_null(net);
	tn_random_set_state(context, (struct tn_random_state){3, 0});
	assert_ok(tn_module_build(net));
	tn_module_set_training(net, 1);
	assert_ok(tn_scope_begin(context));
	assert_non_null(
		tn_module_forward(net, tn_ones(context, TN_F32, 4, (int64_t[]){2, 1, 3, 4})));
	assert_ok(tn_module_buffer_at(net, 0, &view));
	assert_string_equal(view.name, "bn1.running_mean");
	assert_ok(tn_item(tn_sum(view.value, TN_ALL_AXES, NULL, 0), &mean));
	tn_scope_end(context, NULL);
	tn_module_destroy(net);
	return mean;
}

static void batch_norms_have_the_momentum(void **state)
{
	(void)state;
	const double usual = running_mean("mlp:hidden-sizes=4:batch-norm=1");
	const double half = running_mean("mlp:hidden-sizes=4:batch-norm=1:bn-momentum=0.5");
	assert_true(fabs(usual) > 1e-4);
	assert_true(fabs(half - 5 * usual) < 1e-5);
}

static void expect_refused(const char *name, tn_status status, const char *text)
{
	tn_module *net = make(name);
	assert_null(net);
	assert_non_null(tn_error(context));
	if (tn_error(context)->status != status || !strstr(tn_error(context)->text, text))
		fail_msg("%s: expected '%s', found: %s", name, text, tn_error(context)->text);
	tn_error_clear(context);
}

static void what_a_network_lacks_or_cannot_take_is_refused(void **state)
{
	static const char *const wrong[][2] = {
		{"mlp:hidden-sizes=0", "mlp: hidden-sizes: expected 1 to 16 whole numbers"},
		{"mlp:hidden-sizes=", "found ''"},
		{"mlp:hidden-sizes=8,", "found '8,'"},
		{"mlp:hidden-sizes=8.5", "found '8.5'"},
		{"mlp:hidden-sizes=1e3", "found '1e3'"},
		{"mlp:hidden-sizes=65537", "found '65537'"},
		{"mlp:hidden-sizes=1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", "1 to 16"},
		{"mlp:activation=swish", "mlp: activation: expected relu, leaky_relu"},
		{"mlp:activation=relu,relu,relu", "one for each of 2 hidden layers, found 3"},
		{"mlp:dropout=1", "mlp: dropout: expected numbers from 0 to below 1"},
		{"mlp:dropout=nan", "found 'nan'"},
		{"mlp:batch-norm=yes", "mlp: batch-norm: expected 0 or 1, found 'yes'"},
		{"mlp:bn-momentum=0.2", "mlp: bn-momentum: expected batch-norm too"},
		{"mlp:batch-norm=1:bn-momentum=0", "expected a number above 0"},
		{"mlp:negative-slope=0.1", "expected the activation leaky_relu"},
		{"mlp:hidden=8", "did you mean 'hidden-sizes'?"},
		{"mlp:a=8", "it has hidden-sizes, activation"},
		{"mlp:dropout=0:dropout=0", "expected it once, found it twice"},
		{"mlp:published:small", "mlp has no setting 'small'"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		expect_refused(wrong[i][0], TN_INVALID_ARGUMENT, wrong[i][1]);
	expect_refused("mlp:small", TN_NOT_FOUND, "mlp has no form 'small'");
	expect_refused("mlp:", TN_NOT_FOUND, "mlp has no form ''");
	expect_refused("resnet18:hidden-sizes=8", TN_INVALID_ARGUMENT,
		       "resnet18: expected no settings, found 'hidden-sizes=8'");
	expect_refused("lenet:nnott:dropout=0.1", TN_INVALID_ARGUMENT, "only mlp has some");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_those_of_the_layers),
		cmocka_unit_test(layers_are_linear_norm_activation),
		cmocka_unit_test(dropout_is_there_if_it_is_set),
		cmocka_unit_test(batch_norms_have_the_momentum),
		cmocka_unit_test(what_a_network_lacks_or_cannot_take_is_refused),
	};
	return cmocka_run_group_tests(tests, setup, context_teardown);
}
