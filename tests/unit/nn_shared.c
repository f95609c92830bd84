/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Parameters that two layers hold: training, names, freezing, files.
 */
#include <unistd.h>

#include <tenon/tenon.h>

#include "check.h"
#include "test_context.h"

enum { WORDS = 5, WIDTH = 3 };

static tn_module *linear(int64_t in, int64_t out)
{
	struct tn_module_linear_options options = tn_module_linear_defaults();
	options.no_bias = 1;
	return tn_module_linear(context, in, out, &options);
}

/* Words to vectors and back to logits, by one matrix or by two. */
static tn_module *language_model(int is_tied)
{
	tn_module *net = tn_module_sequential(context);
	tn_module *words = tn_module_embedding(context, WORDS, WIDTH, NULL);
	tn_module *head = linear(WIDTH, WORDS);
	if (is_tied)
		assert_ok(tn_module_share_parameter(head, "weight", words, "weight"));
	assert_ok(tn_module_sequential_add(net, "words", words));
	assert_ok(tn_module_sequential_add(net, "tanh", tn_module_tanh(context)));
	assert_ok(tn_module_sequential_add(net, "head", head));
	assert_ok(tn_module_build(net));
	return net;
}

static void read_gradient(tn_module *net, const char *name, float *values)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	assert_ok(tn_module_parameter(net, name, &view));
	assert_non_null(view.gradient);
	assert_ok(tn_to_host(view.gradient, values, WORDS * WIDTH * sizeof(float)));
}

static void find_gradients(tn_module *net)
{
	static const int32_t text[] = {3, 1, 3, 0}, next[] = {1, 3, 0, 4};
	const int64_t n = 4;
	tn_array *x = tn_from_host(context, TN_I32, 1, &n, text);
	tn_tape *tape = tn_tape_begin(context);
	tn_array *labels = tn_from_host(context, TN_I32, 1, &n, next);
	tn_array *loss = tn_cross_entropy(tn_module_forward(net, x), labels, NULL);
	assert_ok(tn_tape_backward(tape, loss, NULL));
	tn_tape_end(tape);
}

static tn_array *value_of(tn_module *net, const char *name)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	assert_ok(tn_module_parameter(net, name, &view));
	return view.value;
}

/* The gradient of the one matrix is the sum of the gradients of two equal ones. */
static void a_layer_is_tied_to_another(void **state)
{
	float sum[WORDS * WIDTH], words[WORDS * WIDTH], head[WORDS * WIDTH];
	(void)state;
	assert_ok(tn_scope_begin(context));
	tn_module *tied = language_model(1), *apart = language_model(0);
	assert_int_equal(tn_module_parameter_count(tied), 1);
	assert_int_equal(tn_module_size(tied, 0), WORDS * WIDTH);
	assert_ptr_equal(value_of(tied, "head.weight"), value_of(tied, "words.weight"));
	assert_ok(tn_assign(value_of(apart, "words.weight"), value_of(tied, "words.weight")));
	assert_ok(tn_assign(value_of(apart, "head.weight"), value_of(tied, "words.weight")));
	find_gradients(tied);
	find_gradients(apart);
	read_gradient(tied, "head.weight", sum);
	read_gradient(apart, "words.weight", words);
	read_gradient(apart, "head.weight", head);
	for (int i = 0; i < WORDS * WIDTH; i++)
		assert_close(sum[i], words[i] + head[i], 1e-6);
	tn_module_destroy(tied);
	tn_module_destroy(apart);
	tn_scope_end(context, NULL);
}

static void a_shared_parameter_has_all_its_names(void **state)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	(void)state;
	tn_module *net = language_model(1);
	assert_ok(tn_module_parameter(net, "head.weight", &view));
	assert_string_equal(view.name, "words.weight");
	assert_int_equal(view.trainable, 1);
	/* Frozen by either name, by either module. */
	static const char *const paths[] = {"head", "words", "head.weight", "words.weight", ""};
	for (int i = 0; i < 5; i++) {
		assert_ok(tn_module_set_trainable(net, paths[i], 0));
		assert_ok(tn_module_parameter(net, "words.weight", &view));
		assert_int_equal(view.trainable, 0);
		assert_ok(tn_module_set_trainable(net, paths[i], 1));
	}
	static const char *const without[] = {"tanh", "head.bias", "head."};
	for (int i = 0; i < 3; i++) {
		assert_status(tn_module_set_trainable(net, without[i], 0), TN_NOT_FOUND);
		expect_kept(TN_NOT_FOUND, without[i]);
	}
	static const char *const wrong[] = {"head", "head.weight.x", "hea.weight", ".weight", ""};
	for (int i = 0; i < 5; i++)
		assert_status(tn_module_parameter(net, wrong[i], &view), TN_NOT_FOUND);
	tn_module_destroy(net);
}

static void what_cannot_be_tied_says_why(void **state)
{
	(void)state;
	tn_module *words = tn_module_embedding(context, WORDS, WIDTH, NULL);
	tn_module *turned = linear(WORDS, WIDTH), *head = linear(WIDTH, WORDS);
	assert_status(tn_module_share_parameter(turned, "weight", words, "weight"), TN_SHAPE);
	expect_kept(TN_SHAPE, "'weight' cannot be shared: expected shape (3, 5), found (5, 3)");
	assert_status(tn_module_share_parameter(head, "weight", words, "bias"), TN_NOT_FOUND);
	expect_kept(TN_NOT_FOUND, "no parameter 'bias' in Embedding");
	assert_status(tn_module_share_parameter(head, NULL, words, "weight"), TN_INVALID_ARGUMENT);
	tn_error_clear(context);
	assert_ok(tn_module_share_parameter(head, "weight", head, "weight"));
	assert_ok(tn_module_build(head));
	assert_status(tn_module_share_parameter(head, "weight", words, "weight"), TN_STATE);
	expect_kept(TN_STATE, "the module has been built");
	tn_module_destroy(words);
	tn_module_destroy(turned);
	tn_module_destroy(head);
}

/* ---- Files -----------------------------------------------------------------------------------*/

static const char *path(void)
{
	static char text[64];
	snprintf(text, sizeof(text), "/tmp/tenon-nn-shared-%d.safetensors", (int)getpid());
	return text;
}

static const float matrix[WORDS * WIDTH] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/* A file with that matrix under each of the names. */
static void write_file(size_t n, const char *const *names)
{
	static const int64_t shape[] = {WORDS, WIDTH};
	struct tn_tensor_source sources[3];
	for (size_t i = 0; i < n; i++)
		sources[i] = (struct tn_tensor_source){.name = names[i],
						       .dtype = TN_F32,
						       .rank = 2,
						       .shape = shape,
						       .data = matrix};
	assert_ok(tn_safetensors_write(path(), sources, n, NULL, 0, NULL));
}

/* PyTorch's state dict has a shared parameter under each name, its files under one of them. */
static void files_have_a_shared_parameter_under_any_name(void **state)
{
	static const char *const both[] = {"head.weight", "words.weight", "other.weight"};
	float values[WORDS * WIDTH];
	(void)state;
	tn_module *net = language_model(1);
	for (int i = 0; i < 4; i++) {
		write_file(i < 2 ? 1 : 2, i == 1 ? both + 1 : both);
		assert_ok(tn_fill(value_of(net, "words.weight"), 0));
		assert_ok(tn_module_load(net, path(), NULL));
		assert_ok(tn_to_host(value_of(net, "words.weight"), values, sizeof(values)));
		assert_memory_equal(values, matrix, sizeof(matrix));
	}
	write_file(3, both);
	assert_status(tn_module_load(net, path(), NULL), TN_FORMAT);
	expect_kept(TN_FORMAT, "tensor 'other.weight': the network has no such tensor");
	tn_module_destroy(net);
	unlink(path());
}

struct missing {
	int count;
	char name[64];
};

static void note_missing(void *user, uint32_t problem, const char *name, const char *text)
{
	struct missing *missing = user;
	(void)text;
	assert_int_equal(problem, TN_LOAD_MISSING);
	missing->count++;
	snprintf(missing->name, sizeof(missing->name), "%s", name);
}

/* As for PyTorch: its files of before 2018, and those of others, lack it. */
static void a_file_may_lack_the_count_of_batches(void **state)
{
	static const float numbers[] = {1, 2, 3, 4};
	static const int64_t four = 4;
	static const char *const names[] = {"weight", "bias", "running_mean", "running_var"};
	struct tn_tensor_source sources[4];
	struct missing missing = {0};
	float values[4];
	(void)state;
	for (int i = 0; i < 4; i++)
		sources[i] = (struct tn_tensor_source){.name = names[i],
						       .dtype = TN_F32,
						       .rank = 1,
						       .shape = &four,
						       .data = numbers};
	tn_module *norm = tn_module_batch_norm2d(context, 4, NULL);
	assert_ok(tn_module_build(norm));
	assert_ok(tn_safetensors_write(path(), sources, 4, NULL, 0, NULL));
	struct tn_module_load_options options = tn_module_load_defaults();
	options.report = note_missing;
	options.user = &missing;
	assert_ok(tn_module_load(norm, path(), &options));
	assert_int_equal(missing.count, 1);
	assert_string_equal(missing.name, "num_batches_tracked");
	assert_ok(tn_to_host(tn_module_own_buffer(norm, "running_var"), values, sizeof(values)));
	assert_memory_equal(values, numbers, sizeof(values));
	/* The other buffers are required. */
	assert_ok(tn_safetensors_write(path(), sources, 3, NULL, 0, NULL));
	assert_status(tn_module_load(norm, path(), NULL), TN_NOT_FOUND);
	expect_kept(TN_NOT_FOUND, "tensor 'running_var': the file has no such tensor");
	tn_module_destroy(norm);
	unlink(path());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_layer_is_tied_to_another),
		cmocka_unit_test(a_shared_parameter_has_all_its_names),
		cmocka_unit_test(what_cannot_be_tied_says_why),
		cmocka_unit_test(files_have_a_shared_parameter_under_any_name),
		cmocka_unit_test(a_file_may_lack_the_count_of_batches),
	};
	return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
