/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Modules: structure, building, parameters, files.
 */
#include <unistd.h>

#include <tenon/tenon.h>

#include "check.h"
#include "test_context.h"

static tn_module *small_net(void)
{
	tn_module *net = tn_module_sequential(context), *block = tn_module_sequential(context);
	assert_ok(tn_module_sequential_add(block, "fc", tn_module_linear(context, 3, 5, NULL)));
	assert_ok(tn_module_sequential_add(block, NULL, tn_module_tanh(context)));
	assert_ok(tn_module_sequential_add(net, "block", block));
	assert_ok(tn_module_sequential_add(net, "head", tn_module_linear(context, 5, 2, NULL)));
	return net;
}

static void parameters_have_their_paths_as_names(void **state)
{
	static const char *const names[] = {"block.fc.weight", "block.fc.bias", "head.weight",
					    "head.bias"};
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	(void)state;
	tn_module *net = small_net();
	assert_int_equal(tn_module_parameter_count(net), 4);
	for (size_t i = 0; i < 4; i++) {
		assert_ok(tn_module_parameter_at(net, i, &view));
		assert_string_equal(view.name, names[i]);
		assert_null(view.value);
	}
	assert_int_equal(tn_module_size(net, 0), 3 * 5 + 5 + 5 * 2 + 2);
	assert_status(tn_module_parameter(net, "nothing", &view), TN_NOT_FOUND);
	assert_status(tn_module_parameter_at(net, 4, &view), TN_INVALID_ARGUMENT);
	tn_module_destroy(net);
}

static void initial_weights_are_uniform_and_repeat_with_the_seed(void **state)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	float first[15], again[15], largest = 0;
	(void)state;
	for (int round = 0; round < 2; round++) {
		tn_random_set_state(context, (struct tn_random_state){42, 0});
		tn_module *net = small_net();
		assert_ok(tn_module_build(net));
		assert_ok(tn_module_parameter(net, "block.fc.weight", &view));
		assert_ok(tn_to_host(view.value, round ? again : first, sizeof(first)));
		tn_module_destroy(net);
	}
	assert_memory_equal(first, again, sizeof(first));
	for (int i = 0; i < 15; i++)
		largest = fmaxf(largest, fabsf(first[i]));
	assert_true(largest <= 1.0f / sqrtf(3.0f));
	assert_true(largest > 0.3f);
}

static void a_built_module_does_not_change(void **state)
{
	(void)state;
	tn_module *net = small_net();
	assert_ok(tn_module_build(net));
	assert_status(tn_module_build(net), TN_STATE);
	expect_kept(TN_STATE, "already");
	assert_status(tn_module_sequential_add(net, "late", tn_module_relu(context)), TN_STATE);
	expect_kept(TN_STATE, "late");
	assert_status(tn_module_add_parameter(net, "w", 1, (int64_t[]){2}, 0, 0), TN_STATE);
	expect_kept(TN_STATE, "'w'");
	tn_module_destroy(net);
}

static void names_are_single_and_without_dots(void **state)
{
	(void)state;
	tn_module *net = tn_module_sequential(context);
	assert_ok(tn_module_sequential_add(net, "a", tn_module_relu(context)));
	assert_status(tn_module_sequential_add(net, "a", tn_module_relu(context)),
		      TN_INVALID_ARGUMENT);
	expect_kept(TN_INVALID_ARGUMENT, "already used");
	assert_status(tn_module_sequential_add(net, "a.b", tn_module_relu(context)),
		      TN_INVALID_ARGUMENT);
	expect_kept(TN_INVALID_ARGUMENT, "dots");
	tn_module_destroy(net);
}

static void a_module_that_is_not_built_does_not_run(void **state)
{
	(void)state;
	tn_module *net = small_net();
	assert_null(tn_module_forward(net, tn_ones(context, TN_F32, 2, (int64_t[]){1, 3})));
	expect_kept(TN_STATE, "built");
	tn_module_destroy(net);
}

static void bad_numbers_of_norms_are_refused(void **state)
{
	(void)state;
	struct tn_module_norm_options norm = tn_module_norm_defaults();
	norm.epsilon = -1;
	assert_null(tn_module_layer_norm2d(context, 2, &norm));
	expect_kept(TN_INVALID_ARGUMENT, "epsilon: expected a finite number of at least 0");
	norm = tn_module_norm_defaults();
	norm.momentum = 1.5;
	assert_null(tn_module_batch_norm2d(context, 2, &norm));
	expect_kept(TN_INVALID_ARGUMENT, "momentum: expected a number from 0 to 1, found 1.5");
	struct tn_batch_norm_options batch_norm = tn_batch_norm_defaults();
	batch_norm.training = 1;
	batch_norm.momentum = NAN;
	tn_array *x = tn_ones(context, TN_F32, 2, (int64_t[]){4, 2});
	assert_null(tn_batch_norm(x, NULL, NULL, &batch_norm));
	expect_kept(TN_INVALID_ARGUMENT, "momentum: expected a number from 0 to 1, found nan");
}

static void bad_sizes_are_refused_with_a_reason(void **state)
{
	(void)state;
	assert_null(tn_module_linear(context, 0, 5, NULL));
	expect_kept(TN_INVALID_ARGUMENT, "parameter 'weight': expected at most 16 lengths of at "
					 "least 1, found (5, 0)");
	tn_module *net = tn_module_sequential(context), *relu = tn_module_relu(context);
	assert_status(tn_module_add_parameter(net, "p", 1, NULL, 0, 0), TN_INVALID_ARGUMENT);
	expect_kept(TN_INVALID_ARGUMENT, "found rank 1 and NULL");
	assert_status(tn_module_add_parameter(net, "p", 17, NULL, 0, 0), TN_INVALID_ARGUMENT);
	expect_kept(TN_INVALID_ARGUMENT, "found rank 17");
	assert_status(tn_module_add_parameter(net, "p", 0, NULL, -1, 0), TN_INVALID_ARGUMENT);
	expect_kept(TN_INVALID_ARGUMENT, "a bound of at least 0, found -1");
	assert_status(tn_module_add_buffer(net, "b", TN_F32, 1, NULL, 0), TN_INVALID_ARGUMENT);
	expect_kept(TN_INVALID_ARGUMENT, "an invalid shape");
	assert_status(tn_module_sequential_add(relu, "x", tn_module_relu(context)),
		      TN_INVALID_ARGUMENT);
	expect_kept(TN_INVALID_ARGUMENT, "expected a Sequential or a Residual, found a ReLU");
	assert_status(tn_module_residual_shortcut(relu, "x", tn_module_relu(context)),
		      TN_INVALID_ARGUMENT);
	expect_kept(TN_INVALID_ARGUMENT, "expected a Residual, found a ReLU");
	assert_status(tn_module_sequential_add(relu, "x", relu), TN_INVALID_ARGUMENT);
	expect_kept(TN_INVALID_ARGUMENT, "found a ReLU");
	assert_null(tn_module_own_parameter(relu, NULL));
	expect_kept(TN_INVALID_ARGUMENT, "name is NULL");
	assert_null(tn_module_own_buffer(relu, NULL));
	expect_kept(TN_INVALID_ARGUMENT, "name is NULL");
	assert_ok(tn_module_sequential_add(net, "a", relu));
	assert_status(tn_module_sequential_add(net, "b", relu), TN_INVALID_ARGUMENT);
	expect_kept(TN_INVALID_ARGUMENT, "'b' is a member of a Sequential already");
	tn_module_destroy(net);
	assert_null(tn_module_dropout(context, 1.1));
	expect_kept(TN_INVALID_ARGUMENT, "[0, 1]");
	assert_null(tn_module_max_pool2d(context, NULL));
	expect_kept(TN_INVALID_ARGUMENT, "kernel");
	struct tn_conv2d_options window = tn_conv2d_defaults();
	window.groups = 3;
	struct tn_module_conv2d_options groups = tn_module_conv2d_defaults();
	groups.window = &window;
	assert_null(tn_module_conv2d(context, 4, 6, 3, 3, &groups));
	expect_kept(TN_INVALID_ARGUMENT, "groups");
}

/* A path and what is below it, not what begins alike. */
static void a_path_is_frozen_with_what_is_below(void **state)
{
	static const struct {
		const char *path;
		int frozen[4]; /* fc.weight, fc.bias, fc1.weight, fc1.bias */
	} cases[] = {{"fc", {1, 1, 0, 0}},
		     {"fc1.weight", {0, 0, 1, 0}},
		     {"", {1, 1, 1, 1}},
		     {"fc.b", {0, 0, 0, 0}}};
	(void)state;
	tn_module *net = tn_module_sequential(context);
	assert_ok(tn_module_sequential_add(net, "fc", tn_module_linear(context, 2, 2, NULL)));
	assert_ok(tn_module_sequential_add(net, "fc1", tn_module_linear(context, 2, 2, NULL)));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int n = 0;
		for (size_t k = 0; k < 4; k++)
			n += cases[i].frozen[k];
		assert_ok(tn_module_set_trainable(net, "", 1));
		assert_status(tn_module_set_trainable(net, cases[i].path, 0),
			      n ? TN_OK : TN_NOT_FOUND);
		if (!n)
			expect_kept(TN_NOT_FOUND, "no parameter or member with parameters");
		for (size_t k = 0; k < 4; k++) {
			struct tn_parameter_view view = {.struct_size = sizeof(view)};
			assert_ok(tn_module_parameter_at(net, k, &view));
			assert_int_equal(view.trainable, !cases[i].frozen[k]);
		}
	}
	tn_module_destroy(net);
}

static void a_shared_parameter_is_one(void **state)
{
	(void)state;
	tn_module *a = tn_module_linear(context, 4, 4, NULL), *net = tn_module_sequential(context);
	static const struct tn_module_linear_options no_bias = {sizeof(no_bias), 1};
	tn_module *b = tn_module_linear(context, 4, 4, &no_bias);
	assert_ok(tn_module_share_parameter(b, "tied", a, "weight"));
	assert_ok(tn_module_sequential_add(net, "a", a));
	assert_ok(tn_module_sequential_add(net, "b", b));
	assert_int_equal(tn_module_parameter_count(net), 3); /* a.weight, a.bias, b.weight */
	assert_ok(tn_module_build(net));
	assert_ptr_equal(tn_module_own_parameter(a, "weight"), tn_module_own_parameter(b, "tied"));
	tn_module_destroy(net);
}

static void a_parameter_of_a_built_network_is_not_shared_with_another(void **state)
{
	static const struct tn_module_linear_options no_bias = {sizeof(no_bias), 1};
	(void)state;
	tn_module *a = tn_module_linear(context, 4, 4, &no_bias);
	tn_module *b = tn_module_linear(context, 4, 4, &no_bias);
	assert_ok(tn_module_share_parameter(b, "tied", a, "weight"));
	assert_ok(tn_module_build(a));
	assert_status(tn_module_build(b), TN_STATE);
	expect_kept(TN_STATE, "belongs to a network");
	tn_module *c = tn_module_linear(context, 4, 4, &no_bias);
	assert_status(tn_module_share_parameter(c, "tied", a, "weight"), TN_STATE);
	expect_kept(TN_STATE, "built");
	tn_module_destroy(a);
	tn_module_destroy(b);
	tn_module_destroy(c);
}

static void dropout_works_only_in_training(void **state)
{
	float out[64];
	int zeros = 0;
	(void)state;
	tn_module *net = tn_module_sequential(context);
	assert_ok(tn_module_sequential_add(net, NULL, tn_module_dropout(context, 0.5)));
	assert_ok(tn_module_build(net));
	tn_array *x = tn_ones(context, TN_F32, 1, (int64_t[]){64});
	assert_ok(tn_to_host(tn_module_forward(net, x), out, sizeof(out)));
	for (int i = 0; i < 64; i++)
		assert_close(out[i], 1, 0);
	tn_module_set_training(net, 1);
	assert_ok(tn_to_host(tn_module_forward(net, x), out, sizeof(out)));
	for (int i = 0; i < 64; i++) {
		assert_true(out[i] == 0.0f || out[i] == 2.0f);
		zeros += out[i] == 0.0f;
	}
	assert_true(zeros > 10 && zeros < 54);
	tn_module_destroy(net);
}

static const char *path(void)
{
	static char name[64];
	snprintf(name, sizeof(name), "nn_modules.%d.safetensors", (int)getpid());
	return name;
}

static void a_saved_network_is_read_back_to_the_bit(void **state)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	float before[15], after[15];
	(void)state;
	tn_module *net = small_net(), *other = small_net();
	assert_ok(tn_module_build(net));
	assert_ok(tn_module_build(other));
	const struct tn_pair pair = {"note", "hello"};
	assert_ok(tn_module_save(net, path(), 1, &pair));
	assert_ok(tn_module_load(other, path(), NULL));
	assert_ok(tn_module_parameter(net, "block.fc.weight", &view));
	assert_ok(tn_to_host(view.value, before, sizeof(before)));
	assert_ok(tn_module_parameter(other, "block.fc.weight", &view));
	assert_ok(tn_to_host(view.value, after, sizeof(after)));
	assert_memory_equal(before, after, sizeof(before));
	tn_module_destroy(net);
	tn_module_destroy(other);
	unlink(path());
}

static void a_file_of_another_network_changes_nothing(void **state)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	float before[10], after[10];
	(void)state;
	tn_module *net = small_net(), *other = tn_module_sequential(context);
	assert_ok(tn_module_sequential_add(other, "head", tn_module_linear(context, 5, 2, NULL)));
	assert_ok(tn_module_build(net));
	assert_ok(tn_module_build(other));
	assert_ok(tn_module_parameter(other, "head.weight", &view));
	assert_ok(tn_to_host(view.value, before, sizeof(before)));
	assert_ok(tn_module_save(net, path(), 0, NULL));
	assert_status(tn_module_load(other, path(), NULL), TN_FORMAT); /* tensors too many */
	expect_kept(TN_FORMAT,
		    "tensor 'block.fc.bias': the network has no such tensor (and 1 more)");
	assert_ok(tn_to_host(view.value, after, sizeof(after)));
	assert_memory_equal(before, after, sizeof(before));
	assert_ok(tn_module_save(other, path(), 0, NULL));
	assert_status(tn_module_load(net, path(), NULL), TN_NOT_FOUND);
	expect_kept(TN_NOT_FOUND,
		    "tensor 'block.fc.bias': the file has no such tensor (and 1 more)");
	tn_module_destroy(net);
	tn_module_destroy(other);
	unlink(path());
}

/* What a load reported: "1 name;" for each problem. */
struct reports {
	char text[512];
	char words[512];
};

static void note_report(void *user, uint32_t problem, const char *name, const char *text)
{
	struct reports *reports = user;
	size_t at = strlen(reports->text);
	snprintf(reports->text + at, sizeof(reports->text) - at, "%u %s;", problem, name);
	snprintf(reports->words, sizeof(reports->words), "%s", text);
}

static tn_module *linear_under(const char *name, int64_t in, int64_t out, int no_bias)
{
	tn_module *net = tn_module_sequential(context);
	struct tn_module_linear_options linear = tn_module_linear_defaults();
	linear.no_bias = no_bias;
	assert_ok(tn_module_sequential_add(net, name, tn_module_linear(context, in, out, &linear)));
	assert_ok(tn_module_build(net));
	return net;
}

static void values_of(tn_module *net, const char *name, float *values, size_t size)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	assert_ok(tn_module_parameter(net, name, &view));
	assert_ok(tn_to_host(view.value, values, size));
}

static void what_does_not_match_is_reported_and_may_be_allowed(void **state)
{
	float before[12], after[12];
	struct reports reports = {.text = ""};
	struct tn_module_load_options options = {
		.struct_size = sizeof(options), .report = note_report, .user = &reports};
	(void)state;
	tn_module *saved = linear_under("a", 3, 4, 1), *missing = linear_under("a", 3, 4, 0);
	tn_module *wide = linear_under("a", 6, 2, 1);
	assert_ok(tn_module_save(saved, path(), 0, NULL));
	values_of(saved, "a.weight", before, sizeof(before));
	/* missing */
	assert_status(tn_module_load(missing, path(), &options), TN_NOT_FOUND);
	expect_kept(TN_NOT_FOUND, "tensor 'a.bias': the file has no such tensor");
	assert_string_equal(reports.text, "1 a.bias;");
	options.allow_missing = 1;
	assert_ok(tn_module_load(missing, path(), &options));
	assert_string_equal(reports.text, "1 a.bias;1 a.bias;");
	values_of(missing, "a.weight", after, sizeof(after));
	assert_memory_equal(before, after, sizeof(before));
	/* unexpected */
	assert_ok(tn_module_save(missing, path(), 0, NULL));
	reports.text[0] = 0;
	assert_status(tn_module_load(saved, path(), &options), TN_FORMAT);
	expect_kept(TN_FORMAT, "tensor 'a.bias': the network has no such tensor");
	options.allow_unexpected = 1;
	assert_ok(tn_module_load(saved, path(), &options));
	assert_string_equal(reports.text, "2 a.bias;2 a.bias;");
	/* another shape */
	values_of(wide, "a.weight", before, sizeof(before));
	reports.text[0] = 0;
	assert_status(tn_module_load(wide, path(), &options), TN_SHAPE);
	expect_kept(TN_SHAPE, "tensor 'a.weight': expected shape (2, 6), found (4, 3)");
	assert_string_equal(reports.text, "2 a.bias;3 a.weight;");
	assert_string_equal(reports.words, "expected shape (2, 6), found (4, 3)");
	options.allow_mismatch = 1;
	assert_ok(tn_module_load(wide, path(), &options));
	values_of(wide, "a.weight", after, sizeof(after));
	assert_memory_equal(before, after, sizeof(before));
	tn_module_destroy(saved);
	tn_module_destroy(missing);
	tn_module_destroy(wide);
	unlink(path());
}

static void tensors_are_renamed_and_converted(void **state)
{
	static const uint16_t halves[] = {0x3c00, 0xc000, 0x3555}; /* 1, -2, 0.333251953125 */
	const struct tn_tensor_source source = {.name = "model.fc.weight",
						.dtype = TN_F16,
						.rank = 2,
						.shape = (const int64_t[]){1, 3},
						.data = halves};
	const struct tn_pair renames[] = {
		{"other.", "x."}, {"model.", "net."}, {"m", "y"}, {"fc", "y"}};
	const struct tn_pair same[] = {{"a.", "net.fc."}, {"b.", "net.fc."}};
	const struct tn_pair half = {"a", NULL};
	struct tn_module_load_options options = {
		.struct_size = sizeof(options), .n_renames = 4, .renames = renames};
	float values[3];
	(void)state;
	tn_module *net = tn_module_sequential(context), *inner = tn_module_sequential(context);
	struct tn_module_linear_options linear = tn_module_linear_defaults();
	linear.no_bias = 1;
	assert_ok(tn_module_sequential_add(inner, "fc", tn_module_linear(context, 3, 1, &linear)));
	assert_ok(tn_module_sequential_add(net, "net", inner));
	assert_ok(tn_module_build(net));
	assert_ok(tn_safetensors_write(path(), &source, 1, NULL, 0, NULL));
	assert_status(tn_module_load(net, path(), &options), TN_DTYPE);
	expect_kept(TN_DTYPE, "tensor 'net.fc.weight': expected f32, found F16");
	options.convert = 1;
	assert_ok(tn_module_load(net, path(), &options));
	values_of(net, "net.fc.weight", values, sizeof(values));
	assert_true(values[0] == 1 && values[1] == -2 && values[2] == 0.333251953125F);
	/* Two tensors of one name, and half a pair. */
	struct tn_tensor_source two[] = {source, source};
	two[0].name = "a.weight";
	two[1].name = "b.weight";
	assert_ok(tn_safetensors_write(path(), two, 2, NULL, 0, NULL));
	options.renames = same;
	options.n_renames = 2;
	assert_status(tn_module_load(net, path(), &options), TN_FORMAT);
	expect_kept(TN_FORMAT, "two tensors, the second is 'b.weight', are renamed to "
			       "'net.fc.weight'");
	options.renames = &half;
	options.n_renames = 1;
	assert_status(tn_module_load(net, path(), &options), TN_INVALID_ARGUMENT);
	expect_kept(TN_INVALID_ARGUMENT, "renames[0]: expected a key and a value");
	tn_module_destroy(net);
	unlink(path());
}

static void a_tensor_of_another_shape_is_named(void **state)
{
	(void)state;
	tn_module *a = tn_module_linear(context, 3, 4, NULL),
		  *b = tn_module_linear(context, 4, 3, NULL);
	assert_ok(tn_module_build(a));
	assert_ok(tn_module_build(b));
	assert_ok(tn_module_save(a, path(), 0, NULL));
	assert_status(tn_module_load(b, path(), NULL), TN_SHAPE);
	expect_kept(TN_SHAPE, "tensor 'bias': expected shape (3), found (4) (and 1 more)");
	tn_module_destroy(a);
	tn_module_destroy(b);
	unlink(path());
}

static void the_summary_shows_the_tree(void **state)
{
	(void)state;
	tn_module *net = small_net();
	char *summary = tn_module_summary(net, NULL);
	assert_contains(summary, "  block: Sequential");
	assert_contains(summary, "    fc: Linear  weight (5, 3), bias (5)");
	assert_contains(summary, "32 parameters");
	tn_string_free(summary);
	tn_module_destroy(net);
}

static tn_module *normed_net(void)
{
	tn_module *net = tn_module_sequential(context);
	assert_ok(
		tn_module_sequential_add(net, "conv", tn_module_conv2d(context, 2, 3, 1, 1, NULL)));
	assert_ok(tn_module_sequential_add(net, "bn", tn_module_batch_norm2d(context, 3, NULL)));
	return net;
}

static void buffers_are_no_parameters_and_have_their_paths(void **state)
{
	static const char *const names[] = {"bn.running_mean", "bn.running_var",
					    "bn.num_batches_tracked"};
	struct tn_buffer_view view = {.struct_size = sizeof(view)};
	(void)state;
	tn_module *net = normed_net();
	assert_int_equal(tn_module_parameter_count(net), 4);
	assert_int_equal(tn_module_size(net, 0), 2 * 3 + 3 + 3 + 3);
	assert_int_equal(tn_module_buffer_count(net), 3);
	for (size_t i = 0; i < 3; i++) {
		assert_ok(tn_module_buffer_at(net, i, &view));
		assert_string_equal(view.name, names[i]);
		assert_null(view.value);
	}
	assert_int_equal(view.dtype, TN_I64);
	assert_int_equal(view.rank, 0);
	assert_status(tn_module_buffer_at(net, 3, &view), TN_INVALID_ARGUMENT);
	char *summary = tn_module_summary(net, NULL);
	assert_contains(summary, "bn: BatchNorm2d  weight (3), bias (3), running_mean (3, buffer)");
	assert_contains(summary, "num_batches_tracked (buffer)");
	assert_contains(summary, "15 parameters");
	tn_string_free(summary);
	tn_module_destroy(net);
}

static void bad_buffers_are_refused(void **state)
{
	(void)state;
	tn_module *net = normed_net();
	assert_status(tn_module_add_buffer(net, "a.b", TN_F32, 0, NULL, 0), TN_INVALID_ARGUMENT);
	expect_kept(TN_INVALID_ARGUMENT, "dots");
	assert_status(tn_module_add_buffer(net, "b", TN_BOOL, 0, NULL, 0), TN_INVALID_ARGUMENT);
	expect_kept(TN_INVALID_ARGUMENT, "bool");
	assert_ok(tn_module_add_buffer(net, "b", TN_F64, 1, (int64_t[]){2}, 0.5));
	assert_status(tn_module_add_parameter(net, "b", 1, (int64_t[]){2}, 0, 0),
		      TN_INVALID_ARGUMENT);
	expect_kept(TN_INVALID_ARGUMENT, "already used");
	assert_ok(tn_module_build(net));
	double values[2];
	assert_ok(tn_to_host(tn_module_own_buffer(net, "b"), values, sizeof(values)));
	assert_true(values[0] == 0.5 && values[1] == 0.5);
	assert_status(tn_module_add_buffer(net, "c", TN_F32, 0, NULL, 0), TN_STATE);
	expect_kept(TN_STATE, "built");
	tn_module_destroy(net);
}

/* Of 1, 2, ..., 6: mean 3.5, unbiased variance 3.5. */
static tn_array *one_to_six(void)
{
	return tn_reshape(tn_arange(context, TN_F32, 1, 7, 1), 4, (int64_t[]){3, 1, 2, 1});
}

static void batch_norm_follows_its_batches_only_in_training(void **state)
{
	double mean, var, count;
	(void)state;
	struct tn_module_norm_options norm = tn_module_norm_defaults();
	norm.momentum = 0.5;
	tn_module *bn = tn_module_batch_norm2d(context, 1, &norm);
	assert_ok(tn_module_build(bn));
	for (int training = 0; training < 2; training++) {
		tn_module_set_training(bn, training);
		assert_non_null(tn_module_forward(bn, one_to_six()));
		assert_ok(tn_item(tn_module_own_buffer(bn, "running_mean"), &mean));
		assert_ok(tn_item(tn_module_own_buffer(bn, "running_var"), &var));
		assert_ok(tn_item(tn_module_own_buffer(bn, "num_batches_tracked"), &count));
		assert_close(mean, training ? 1.75 : 0, 1e-6);
		assert_close(var, training ? 0.5 + 1.75 : 1, 1e-5);
		assert_close(count, training, 0);
	}
	tn_module_destroy(bn);
}

static void batch_norm_evaluates_with_its_running_statistics(void **state)
{
	float y[6];
	(void)state;
	tn_module *bn = tn_module_batch_norm2d(context, 1, NULL);
	assert_ok(tn_module_build(bn));
	assert_ok(tn_fill(tn_module_own_buffer(bn, "running_mean"), 2));
	assert_ok(tn_fill(tn_module_own_buffer(bn, "running_var"), 4 - 1e-5));
	assert_ok(tn_to_host(tn_module_forward(bn, one_to_six()), y, sizeof(y)));
	for (int i = 0; i < 6; i++)
		assert_close(y[i], (i + 1 - 2) / 2.0, 1e-6);
	tn_module_set_training(bn, 1);
	assert_null(tn_module_forward(bn, tn_ones(context, TN_F32, 4, (int64_t[]){1, 1, 1, 1})));
	expect_kept(TN_SHAPE, "more than one element");
	tn_module_destroy(bn);
}

static void buffers_are_saved_and_read_back(void **state)
{
	double value;
	(void)state;
	tn_module *net = normed_net(), *other = normed_net();
	assert_ok(tn_module_build(net));
	assert_ok(tn_module_build(other));
	struct tn_buffer_view view = {.struct_size = sizeof(view)};
	for (size_t i = 0; i < 3; i++) {
		assert_ok(tn_module_buffer_at(net, i, &view));
		assert_ok(tn_fill(view.value, 7.0 + (double)i));
	}
	assert_ok(tn_module_save(net, path(), 0, NULL));
	assert_ok(tn_module_load(other, path(), NULL));
	for (size_t i = 0; i < 3; i++) {
		assert_ok(tn_module_buffer_at(other, i, &view));
		assert_ok(tn_item(tn_sum(view.value, TN_ALL_AXES, NULL, 0), &value));
		assert_close(value, i < 2 ? 3 * (7.0 + (double)i) : 9, 0);
	}
	tn_module_destroy(net);
	tn_module_destroy(other);
	unlink(path());
}

/* The chain's members in sequence, for comparison. */
static void members_by_hand_and_chain_agree(tn_module *net, tn_module *const *members, size_t n,
					    const tn_array *x)
{
	float chained[64], single[64];
	tn_array *y = tn_module_forward(net, x);
	size_t size = (size_t)tn_array_size(y) * sizeof(float);
	assert_true(size <= sizeof(chained));
	assert_ok(tn_to_host(y, chained, size));
	y = tn_reshape(x, tn_array_rank(x), tn_array_shape(x));
	for (size_t i = 0; i < n; i++)
		y = tn_module_forward(members[i], y);
	assert_ok(tn_to_host(y, single, size));
	for (size_t i = 0; i < size / sizeof(float); i++)
		assert_close(chained[i], single[i], 1e-6);
}

static void a_chain_gives_what_its_members_give(void **state)
{
	const struct tn_pool2d_options pool = {.struct_size = sizeof(pool), .kernel = {2, 2}};
	(void)state;
	tn_module *members[] = {tn_module_batch_norm2d(context, 2, NULL), tn_module_relu6(context),
				tn_module_identity(context), tn_module_relu(context),
				tn_module_max_pool2d(context, &pool)};
	tn_module *net = tn_module_sequential(context);
	for (int i = 0; i < 5; i++)
		assert_ok(tn_module_sequential_add(net, NULL, members[i]));
	assert_ok(tn_module_build(net));
	tn_array *x = tn_random_normal(context, 4, (int64_t[]){2, 2, 4, 4}, -1, 4);
	members_by_hand_and_chain_agree(net, members, 5, x);
	tn_module_set_training(net, 1);
	members_by_hand_and_chain_agree(net, members, 5, x);
	tn_module_destroy(net);
}

/* All gradients of small_net; its members are called by the program, or by the network itself. */
static void gradients_of(tn_module *net, int by_members, float gradients[32])
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	size_t n = 0;
	tn_module_zero_gradients(net);
	tn_tape *tape = tn_tape_begin(context);
	tn_array *x = tn_full(context, TN_F32, 2, (int64_t[]){4, 3}, 0.5), *y = x;
	if (by_members) {
		y = tn_module_forward(tn_module_child(net, "block"), y);
		y = tn_module_forward(tn_module_child(net, "head"), y);
	} else {
		y = tn_module_forward(net, x);
	}
	assert_ok(tn_tape_backward(tape, tn_mean(tn_square(y), TN_ALL_AXES, NULL, 0), NULL));
	tn_tape_end(tape);
	for (size_t i = 0; i < tn_module_parameter_count(net); i++) {
		assert_ok(tn_module_parameter_at(net, i, &view));
		size_t size = (size_t)tn_array_size(view.gradient);
		assert_true(n + size <= 32);
		assert_ok(tn_to_host(view.gradient, gradients + n, size * sizeof(float)));
		n += size;
	}
	assert_int_equal(n, 32);
}

/* As for a network of several inputs, whose members get one each. */
static void members_that_the_program_calls_have_gradients(void **state)
{
	float whole[32], parts[32];
	(void)state;
	tn_module *net = small_net();
	assert_ok(tn_module_build(net));
	gradients_of(net, 0, whole);
	for (int recomputes = 0; recomputes < 2; recomputes++) {
		memset(parts, 0, sizeof(parts));
		tn_module_set_recompute(tn_module_child(net, "block"), recomputes);
		gradients_of(net, 1, parts);
		assert_memory_equal(parts, whole, sizeof(whole));
	}
	/* A tape of its own begins anew, also after another network's. */
	tn_module *other = small_net();
	assert_ok(tn_module_build(other));
	gradients_of(other, 1, parts);
	gradients_of(net, 1, parts);
	assert_memory_equal(parts, whole, sizeof(whole));
	tn_module_destroy(other);
	tn_module_destroy(net);
}

static void a_residual_block_adds_its_shortcut(void **state)
{
	float y[8], plain[8], with[8];
	(void)state;
	tn_module *block = tn_module_residual(context, TN_ACTIVATION_RELU);
	tn_module *conv = tn_module_conv2d(context, 2, 2, 1, 1, NULL);
	tn_module *shortcut = tn_module_conv2d(context, 2, 2, 1, 1, NULL);
	assert_ok(tn_module_sequential_add(block, "conv1", conv));
	assert_ok(tn_module_residual_shortcut(block, "downsample", shortcut));
	assert_ok(tn_module_sequential_add(block, "bn1", tn_module_batch_norm2d(context, 2, NULL)));
	assert_status(tn_module_residual_shortcut(block, "again", tn_module_identity(context)),
		      TN_STATE);
	expect_kept(TN_STATE, "already");
	assert_ok(tn_module_build(block));
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	assert_ok(tn_module_parameter(block, "downsample.weight", &view));
	tn_array *x = tn_random_normal(context, 4, (int64_t[]){1, 2, 2, 2}, 0, 1);
	assert_ok(tn_to_host(tn_module_forward(block, x), y, sizeof(y)));
	assert_ok(tn_to_host(tn_module_forward(conv, x), plain, sizeof(plain)));
	assert_ok(tn_to_host(tn_module_forward(shortcut, x), with, sizeof(with)));
	for (int i = 0; i < 8; i++)
		assert_close(y[i], fmaxf(0, plain[i] / sqrtf(1 + 1e-5f) + with[i]), 1e-6);
	tn_module_destroy(block);
	assert_null(tn_module_residual(context, TN_ACTIVATION_GELU));
	expect_kept(TN_INVALID_ARGUMENT, "RELU");
}

static void a_residual_block_without_shortcut_adds_its_input(void **state)
{
	float y[4];
	(void)state;
	tn_module *block = tn_module_residual(context, TN_ACTIVATION_NONE);
	assert_ok(tn_module_sequential_add(block, NULL, tn_module_relu(context)));
	assert_ok(tn_module_build(block));
	tn_array *x = tn_arange(context, TN_F32, -2, 2, 1);
	assert_ok(tn_to_host(tn_module_forward(block, x), y, sizeof(y)));
	assert_true(y[0] == -2 && y[1] == -1 && y[2] == 0 && y[3] == 2);
	tn_module_destroy(block);
}

static void squeeze_and_excitation_scales_its_channels(void **state)
{
	float y[8], x[8];
	(void)state;
	tn_module *se = tn_module_squeeze_excitation(context, 2, 1, TN_ACTIVATION_SILU);
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	assert_ok(tn_module_parameter(se, "fc2.weight", &view));
	assert_ok(tn_module_build(se));
	tn_array *input = tn_random_normal(context, 4, (int64_t[]){1, 2, 2, 2}, 0, 1);
	assert_ok(tn_to_host(input, x, sizeof(x)));
	assert_ok(tn_to_host(tn_module_forward(se, input), y, sizeof(y)));
	for (int channel = 0; channel < 2; channel++) {
		float scale = y[4 * channel] / x[4 * channel];
		assert_true(scale > 0 && scale < 1);
		for (int i = 0; i < 4; i++)
			assert_close(y[4 * channel + i], scale * x[4 * channel + i], 1e-6);
	}
	tn_module_destroy(se);
	assert_null(tn_module_squeeze_excitation(context, 2, 1, TN_ACTIVATION_TANH));
	expect_kept(TN_INVALID_ARGUMENT, "SILU");
}

/* Refuses the options, and resets them. */
static void refuse_mbconv(struct tn_module_mbconv_options *options, const char *text)
{
	assert_null(tn_module_mbconv(context, 2, 2, 1, options));
	expect_kept(TN_INVALID_ARGUMENT, text);
	*options = tn_module_mbconv_defaults();
}

static void a_wrong_member_of_mbconv_is_named(void **state)
{
	(void)state;
	struct tn_module_mbconv_options options = tn_module_mbconv_defaults();
	options.kernel = 4;
	refuse_mbconv(&options, "kernel: expected an odd number of at least 1, found 4");
	options.stride = 0;
	refuse_mbconv(&options, "stride: expected at least 1, found 0");
	options.squeezed = -3;
	refuse_mbconv(&options, "squeezed: expected at least 0, found -3");
	options.activation = TN_ACTIVATION_TANH;
	refuse_mbconv(&options, "activation: expected TN_ACTIVATION_RELU, RELU6 or SILU, found 4");
	assert_null(tn_module_mbconv(context, 2, 2, 0, NULL));
	expect_kept(TN_INVALID_ARGUMENT, "expand: expected at least 1, found 0");
}

/* At rates near 1 the branches of all pictures are skipped in training: what is left is x. */
static void blocks_skip_their_branches_in_training(void **state)
{
	(void)state;
	struct tn_module_mbconv_options mbconv = tn_module_mbconv_defaults();
	mbconv.stochastic_depth = 0.9999999;
	struct tn_module_convnext_options convnext = tn_module_convnext_defaults();
	convnext.layer_scale = 1;
	convnext.stochastic_depth = 0.9999999;
	tn_module *const blocks[] = {tn_module_mbconv(context, 2, 2, 2, &mbconv),
				     tn_module_convnext_block(context, 2, &convnext)};
	tn_array *x = tn_random_normal(context, 4, (const int64_t[]){3, 2, 4, 4}, 0, 1);
	for (int i = 0; i < 2; i++) {
		assert_ok(tn_module_build(blocks[i]));
		for (int training = 0; training < 2; training++) {
			double most;
			tn_module_set_training(blocks[i], training);
			tn_array *y = tn_module_forward(blocks[i], x);
			tn_array *off = tn_abs(tn_subtract(y, x));
			assert_ok(tn_item(tn_max(off, TN_ALL_AXES, NULL, 0), &most));
			assert_int_equal(most == 0, training);
		}
		tn_module_destroy(blocks[i]);
	}
}

static void layer_norm2d_is_layer_norm_over_channels(void **state)
{
	float over_channels[24], turned[24];
	(void)state;
	tn_module *two = tn_module_layer_norm2d(context, 3, NULL);
	tn_module *one = tn_module_layer_norm(context, 1, (int64_t[]){3}, NULL);
	assert_ok(tn_module_build(two));
	assert_ok(tn_module_build(one));
	tn_array *x = tn_random_normal(context, 4, (int64_t[]){2, 3, 2, 2}, 1, 2);
	assert_ok(tn_to_host(tn_module_forward(two, x), over_channels, sizeof(over_channels)));
	tn_array *y = tn_module_forward(one, tn_transpose(x, (int[]){0, 2, 3, 1}));
	assert_ok(tn_to_host(tn_transpose(y, (int[]){0, 3, 1, 2}), turned, sizeof(turned)));
	for (int i = 0; i < 24; i++)
		assert_close(over_channels[i], turned[i], 0);
	assert_null(tn_module_forward(two, tn_ones(context, TN_F32, 2, (int64_t[]){2, 3})));
	expect_kept(TN_SHAPE, "(N, C, H, W)");
	assert_null(tn_module_layer_norm(context, 0, NULL, NULL));
	expect_kept(TN_INVALID_ARGUMENT, "axes");
	tn_module_destroy(two);
	tn_module_destroy(one);
}

static void group_norm_of_one_group_is_layer_norm_of_the_picture(void **state)
{
	float by_group[24], by_layer[24];
	(void)state;
	struct tn_module_norm_options plain = tn_module_norm_defaults();
	plain.no_affine = 1;
	tn_module *group = tn_module_group_norm(context, 1, 3, &plain);
	tn_module *layer = tn_module_layer_norm(context, 3, (int64_t[]){3, 2, 2}, &plain);
	assert_ok(tn_module_build(group));
	assert_ok(tn_module_build(layer));
	tn_array *x = tn_random_normal(context, 4, (int64_t[]){2, 3, 2, 2}, 1, 2);
	assert_ok(tn_to_host(tn_module_forward(group, x), by_group, sizeof(by_group)));
	assert_ok(tn_to_host(tn_module_forward(layer, x), by_layer, sizeof(by_layer)));
	for (int i = 0; i < 24; i++)
		assert_close(by_group[i], by_layer[i], 1e-6);
	assert_null(tn_module_group_norm(context, 2, 3, NULL));
	expect_kept(TN_INVALID_ARGUMENT, "by 2 groups, found 3");
	tn_module_destroy(group);
	tn_module_destroy(layer);
}

static void models_refuse_missing_arguments_and_lengths_beyond_their_limits(void **state)
{
	const struct tn_model_shape shape = {1, 28, 28, 10};
	const struct {
		struct tn_model_shape shape;
		const char *words;
	} cases[] = {
		{{0, 28, 28, 10}, "channels: expected from 1 to 65536, found 0"},
		{{1, INT64_MAX, 28, 10},
		 "height: expected from 1 to 65536, found 9223372036854775807"},
		{{1, 28, 65537, 10}, "width: expected from 1 to 65536, found 65537"},
		{{1, 28, 28, (1 << 20) + 1}, "n_classes: expected from 1 to 1048576"},
	};
	(void)state;
	assert_null(tn_model_create(NULL, "mlp", &shape));
	assert_null(tn_model_create(context, NULL, &shape));
	expect_kept(TN_INVALID_ARGUMENT, "found NULL for name");
	assert_null(tn_model_create(context, "mlp", NULL));
	expect_kept(TN_INVALID_ARGUMENT, "found NULL for shape");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_null(tn_model_create(context, "mlp", &cases[i].shape));
		expect_kept(TN_SHAPE, cases[i].words);
	}
}

static void unknown_models_are_answered_with_the_nearest_name(void **state)
{
	const struct tn_model_shape shape = {1, 28, 28, 10}, tiny = {1, 8, 8, 10};
	(void)state;
	assert_null(tn_model_create(context, "lenett", &shape));
	expect_kept(TN_NOT_FOUND, "did you mean 'lenet'?");
	assert_null(tn_model_create(context, "lenet:", &shape));
	expect_kept(TN_NOT_FOUND, "lenet has no form ''; its forms are published, nnott");
	assert_null(tn_model_create(context, "lenet", &tiny));
	expect_kept(TN_SHAPE, "12 x 12");
	tn_module *net = tn_model_create(context, "lenet", &shape);
	assert_int_equal(tn_module_size(net, 0), 61706);
	tn_module_destroy(net);
}

static int64_t size_of(const char *name, int64_t side)
{
	const struct tn_model_shape shape = {3, side, side, 10};
	tn_module *net = tn_model_create(context, name, &shape);
	const int64_t size = tn_module_size(net, 0);
	assert_non_null(net);
	tn_module_destroy(net);
	return size;
}

static void the_form_follows_the_picture_unless_it_is_named(void **state)
{
	(void)state;
	assert_int_equal(size_of("resnet18", 64), size_of("resnet18:small", 64));
	assert_int_equal(size_of("resnet18", 65), size_of("resnet18:published", 65));
	assert_true(size_of("resnet18", 64) != size_of("resnet18:published", 64));
	assert_int_equal(size_of("resnet20", 32), size_of("resnet20:published", 32));
	assert_int_equal(size_of("baseline", 28), size_of("baseline:nnott", 28));
	assert_string_equal(tn_model_form_name(TN_FORM_PROJECTION), "projection");
	assert_null(tn_model_form_name(TN_FORM_PROJECTION + 1));
}

/* ---- Errors of a forward ---------------------------------------------------------------------*/

static tn_array *gives_nothing(tn_module *module, void *state, const tn_array *x)
{
	(void)module;
	(void)state;
	(void)x;
	return NULL;
}

static tn_array *asks_for_scael(tn_module *module, void *state, const tn_array *x)
{
	(void)state;
	return tn_multiply(x, tn_module_own_parameter(module, "scael"));
}

/* Sequential: block (fc 3 -> 5), fc2 4 -> 2, which does not fit behind it. */
static tn_module *mismatched_net(void)
{
	tn_module *net = tn_module_sequential(context), *block = tn_module_sequential(context);
	assert_ok(tn_module_sequential_add(block, "fc", tn_module_linear(context, 3, 5, NULL)));
	assert_ok(tn_module_sequential_add(net, "block", block));
	assert_ok(tn_module_sequential_add(net, "fc2", tn_module_linear(context, 4, 2, NULL)));
	assert_ok(tn_module_build(net));
	return net;
}

static void expect_text(const char *text)
{
	if (strncmp(tn_error_text(context), text, strlen(text)))
		fail_msg("expected %s, found %s", text, tn_error_text(context));
	tn_error_clear(context);
}

static void an_error_names_the_innermost_module(void **state)
{
	enum { PLAIN, TAPE, RECOMPUTED, FROZEN, N_WAYS };
	(void)state;
	for (int way = PLAIN; way < N_WAYS; way++) {
		tn_module *net = mismatched_net();
		const tn_array *fits = tn_ones(context, TN_F32, 2, (int64_t[]){2, 3});
		const tn_array *wide = tn_ones(context, TN_F32, 2, (int64_t[]){2, 7});
		if (way == FROZEN)
			assert_ok(tn_module_freeze(net));
		tn_module_set_recompute(tn_module_child(net, "block"), way == RECOMPUTED);
		tn_tape *tape = way == TAPE || way == RECOMPUTED ? tn_tape_begin(context) : NULL;
		assert_null(tn_module_forward(net, fits));
		expect_text("linear: in fc2: expected x (..., in)");
		assert_null(tn_module_forward(net, wide));
		expect_text("linear: in block.fc: expected x (..., in)");
		assert_null(tn_module_forward(net, NULL));
		expect_text("module_forward: x is NULL");
		tn_tape_end(tape);
		tn_module_destroy(net);
	}
}

static void a_forward_of_the_program_leaves_an_error(void **state)
{
	static const struct {
		struct tn_module_class class_;
		const char *text;
	} cases[] = {
		{{sizeof(cases[0].class_), .name = "Nothing", .forward = gives_nothing},
		 "Nothing: in own: forward gave NULL, and no error"},
		{{sizeof(cases[0].class_), .name = "Scale", .forward = asks_for_scael},
		 "module_own_parameter: in own: no parameter 'scael' in Scale; nearest: 'scale'"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tn_module *net = tn_module_sequential(context);
		tn_module *own = tn_module_custom(context, &cases[i].class_, NULL);
		assert_ok(tn_module_add_parameter(own, "scale", 1, (int64_t[]){3}, 0, 1));
		assert_null(tn_module_own_parameter(own, "scale"));
		expect_text("module_own_parameter: parameter 'scale' of ");
		assert_ok(tn_module_sequential_add(net, "own", own));
		assert_ok(tn_module_build(net));
		const tn_array *x = tn_ones(context, TN_F32, 2, (int64_t[]){4, 3});
		assert_null(tn_module_forward(net, x));
		expect_text(cases[i].text);
		tn_module_destroy(net);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parameters_have_their_paths_as_names),
		cmocka_unit_test(initial_weights_are_uniform_and_repeat_with_the_seed),
		cmocka_unit_test(a_built_module_does_not_change),
		cmocka_unit_test(names_are_single_and_without_dots),
		cmocka_unit_test(a_module_that_is_not_built_does_not_run),
		cmocka_unit_test(bad_numbers_of_norms_are_refused),
		cmocka_unit_test(bad_sizes_are_refused_with_a_reason),
		cmocka_unit_test(a_path_is_frozen_with_what_is_below),
		cmocka_unit_test(a_shared_parameter_is_one),
		cmocka_unit_test(a_parameter_of_a_built_network_is_not_shared_with_another),
		cmocka_unit_test(dropout_works_only_in_training),
		cmocka_unit_test(a_saved_network_is_read_back_to_the_bit),
		cmocka_unit_test(a_file_of_another_network_changes_nothing),
		cmocka_unit_test(what_does_not_match_is_reported_and_may_be_allowed),
		cmocka_unit_test(tensors_are_renamed_and_converted),
		cmocka_unit_test(a_tensor_of_another_shape_is_named),
		cmocka_unit_test(the_summary_shows_the_tree),
		cmocka_unit_test(buffers_are_no_parameters_and_have_their_paths),
		cmocka_unit_test(bad_buffers_are_refused),
		cmocka_unit_test(batch_norm_follows_its_batches_only_in_training),
		cmocka_unit_test(batch_norm_evaluates_with_its_running_statistics),
		cmocka_unit_test(buffers_are_saved_and_read_back),
		cmocka_unit_test(a_chain_gives_what_its_members_give),
		cmocka_unit_test(members_that_the_program_calls_have_gradients),
		cmocka_unit_test(a_residual_block_adds_its_shortcut),
		cmocka_unit_test(a_residual_block_without_shortcut_adds_its_input),
		cmocka_unit_test(squeeze_and_excitation_scales_its_channels),
		cmocka_unit_test(a_wrong_member_of_mbconv_is_named),
		cmocka_unit_test(blocks_skip_their_branches_in_training),
		cmocka_unit_test(layer_norm2d_is_layer_norm_over_channels),
		cmocka_unit_test(group_norm_of_one_group_is_layer_norm_of_the_picture),
		cmocka_unit_test(models_refuse_missing_arguments_and_lengths_beyond_their_limits),
		cmocka_unit_test(unknown_models_are_answered_with_the_nearest_name),
		cmocka_unit_test(the_form_follows_the_picture_unless_it_is_named),
		cmocka_unit_test(an_error_names_the_innermost_module),
		cmocka_unit_test(a_forward_of_the_program_leaves_an_error),
	};
	return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
