/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Calls of the recorder: each differentiable operation on a tracked array, once, and none of its
 * internal steps.
 */
#include "array_fixture.h"
#include "layers/conv2d.h"
#include "layers/softmax.h"
#include "layers/window.h"

struct heard {
	struct fixture *fixture;
	int n;
	struct tn_record last;
	const tn_array *inputs[3];
	tn_status answer;
	char names[512];
};

static tn_status hear(void *user, const struct tn_record *record, struct tn_error_info *error)
{
	struct heard *heard = user;
	heard->n++;
	heard->last = *record;
	for (uint32_t i = 0; i < record->n_inputs && i < 3; i++)
		heard->inputs[i] = record->inputs[i];
	strncat(heard->names, record->operation, sizeof(heard->names) - 2 - strlen(heard->names));
	strcat(heard->names, " ");
	record->output->tracked = heard;
	if (heard->answer)
		return tn_fail(error, heard->answer, record->operation, "the tape is full");
	return TN_OK;
}

static struct heard heard;
static const struct tn_recorder recorder = {.record = hear, .user = &heard};

static tn_array *start(struct fixture *f)
{
	tn_array *x = counted(f, 1, SHAPE(2, 3));
	memset(&heard, 0, sizeof(heard));
	heard.fixture = f;
	x->tracked = &heard;
	f->context.runtime.recorder = &recorder;
	return x;
}

static void operations_on_tracked_arrays_are_recorded_once(void **state)
{
	struct fixture *f = *state;
	tn_array *x = start(f);
	tn_array *y = tn_multiply(x, tn_tanh(x));
	y = tn_matmul(y, tn_transpose(x, NULL));
	y = tn_logsumexp(tn_mean(y, 1, (const int[]){0}, 0), TN_ALL_AXES, NULL, 0);
	assert_non_null(y);
	assert_string_equal(heard.names, "tanh multiply transpose matmul mean logsumexp ");
	assert_ptr_equal(heard.last.output, y);
}

static void what_is_not_tracked_is_not_recorded(void **state)
{
	struct fixture *f = *state;
	tn_array *x = start(f), *plain = counted(f, 0, SHAPE(2, 3));
	assert_non_null(tn_add(plain, plain));
	assert_non_null(tn_reshape(plain, SHAPE(6)));
	/* Comparisons, indices and integers have no derivative. */
	assert_non_null(tn_less(x, plain));
	assert_non_null(tn_argmax(x, 0, 0));
	assert_non_null(tn_astype(x, TN_I32));
	assert_int_equal(heard.n, 0);
}

static void a_record_says_what_the_derivative_needs(void **state)
{
	struct fixture *f = *state;
	tn_array *x = start(f);
	tn_affine(x, 2, 1);
	assert_int_equal(heard.last.kind, TN_RECORD_MAP);
	assert_non_null(heard.last.program);
	assert_ptr_equal(heard.inputs[0], x);
	tn_mean(x, 1, (const int[]){-1}, 1);
	assert_int_equal(heard.last.kind, TN_RECORD_SUM);
	assert_int_equal(heard.last.axes, 1u << 1);
	assert_int_equal(heard.last.keepdims, 1);
	assert_close(heard.last.scale, 1.0 / 3, 1e-15);
	tn_slice(x, 1, INT64_MIN, INT64_MIN, -2);
	assert_int_equal(heard.last.kind, TN_RECORD_SLICE);
	assert_int_equal(heard.last.axis, 1);
	assert_int_equal(heard.last.start, 2);
	assert_int_equal(heard.last.step, -2);
	tn_transpose(x, NULL);
	assert_int_equal(heard.last.permutation[0], 1);
	assert_int_equal(heard.last.permutation[1], 0);
	tn_concatenate(2, (const tn_array *[]){counted(f, 0, SHAPE(2, 1)), x}, -1);
	assert_int_equal(heard.last.kind, TN_RECORD_CONCATENATE);
	assert_int_equal(heard.last.n_inputs, 2);
	assert_int_equal(heard.last.axis, 1);
	tn_take(x, tn_zeros(context_of(f), TN_I32, SHAPE(4)), 1, TN_RAISE);
	assert_int_equal(heard.last.kind, TN_RECORD_TAKE);
	assert_int_equal(heard.last.axis, 1);
}

static void compositions_and_layers_record_nothing(void **state)
{
	struct fixture *f = *state;
	const struct tn_window window = {.groups = 1};
	f->context.runtime.device = add_device(f, "small", MANDATORY, 0);
	start(f);
	tn_array *x = counted(f, 1, SHAPE(1, 1, 4, 4)), *w = counted(f, 0, SHAPE(1, 1, 2, 2));
	x->tracked = &heard;
	assert_non_null(tn_conv2d_forward(x, w, NULL, &window));
	assert_non_null(tn_softmax_forward(x, -1, 0));
	/* A reshape that copies is one record. */
	assert_non_null(tn_reshape(tn_transpose(x, NULL), SHAPE(16)));
	assert_string_equal(heard.names, "transpose reshape ");
	assert_ptr_equal(f->context.runtime.recorder, &recorder);
}

static void a_recorder_that_fails_fails_the_operation(void **state)
{
	struct fixture *f = *state;
	tn_array *x = start(f);
	heard.answer = TN_OUT_OF_MEMORY;
	assert_null(tn_exp(x));
	assert_string_equal(tn_error(context_of(f))->operation, "exp");
	assert_kept(f, TN_OUT_OF_MEMORY, "the tape is full");
}

static void writing_into_an_array_is_refused_where_a_gradient_would_be_lost(void **state)
{
	struct fixture *f = *state;
	tn_array *x = start(f), *out = counted(f, 0, SHAPE(2, 3));
	assert_status(tn_add_into(out, x, x), TN_STATE);
	assert_kept(f, TN_STATE, "cannot be recorded");
	assert_status(tn_assign(out, x), TN_STATE);
	assert_kept(f, TN_STATE, "cannot be recorded");
	/* Nor may a tracked array itself be written. */
	assert_status(tn_assign(x, out), TN_STATE);
	assert_kept(f, TN_STATE, "cannot be recorded");
	f->context.runtime.recorder = NULL;
	assert_ok(tn_add_into(out, x, x));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
	const struct CMUnitTest tests[] = {
		TEST(operations_on_tracked_arrays_are_recorded_once),
		TEST(what_is_not_tracked_is_not_recorded),
		TEST(a_record_says_what_the_derivative_needs),
		TEST(compositions_and_layers_record_nothing),
		TEST(a_recorder_that_fails_fails_the_operation),
		TEST(writing_into_an_array_is_refused_where_a_gradient_would_be_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
