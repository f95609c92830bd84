/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Second derivatives against recorded PyTorch numbers (create_graph=True): in f64 on the reference,
 * in f32 on the preferred backend.
 *
 * A number is a sum of at most some 200 products of first and second derivatives, each of a few
 * roundings: 1000 roundings of the largest number of its array are allowed.
 */
#include "record.h"

#include <float.h>
#include <tenon/tenon.h>

#include "check.h"

struct trial {
	struct record record;
	tn_context *context;
	tn_dtype dtype;
};

static tn_array *given(const struct trial *t, const char *name)
{
	const struct record_array *array = record_array(&t->record, name);
	assert_non_null(array);
	tn_array *wide =
		tn_from_host(t->context, TN_F64, (int)array->rank, array->shape, array->values);
	return t->dtype == TN_F64 ? wide : tn_astype(wide, t->dtype);
}

static void expect(const struct trial *t, const char *name, const tn_array *found)
{
	const struct record_array *array = record_array(&t->record, name);
	double epsilon = t->dtype == TN_F64 ? DBL_EPSILON : FLT_EPSILON, largest = 1;
	assert_non_null(array);
	if (!found)
		fail_msg("%s: no %s: %s", t->record.layer, name,
			 tn_error(t->context) ? tn_error(t->context)->text : "");
	assert_int_equal(tn_array_size(found), array->count);
	double *values = calloc(array->count, sizeof(*values));
	assert_ok(tn_to_host(tn_astype(found, TN_F64), values, array->count * sizeof(*values)));
	for (size_t i = 0; i < array->count; i++)
		largest = fmax(largest, fabs(array->values[i]));
	for (size_t i = 0; i < array->count; i++) {
		if (!(fabs(values[i] - array->values[i]) <= 1000 * epsilon / 2 * largest))
			fail_msg("%s: %s[%zu]: PyTorch has %.17g, found %.17g", t->record.layer,
				 name, i, array->values[i], values[i]);
	}
	free(values);
}

/* ---- Penalties -------------------------------------------------------------------------------*/

enum { MOST_LEAVES = 5 };

static void check_penalty(const struct trial *t, tn_tape *tape, tn_array *score, size_t n,
			  tn_array *const *leaves, const char *const *names)
{
	const struct tn_gradients_options o = {.struct_size = sizeof(o), .create_graph = 1};
	tn_array *g, *penalty, *gradients[MOST_LEAVES];
	char name[8];
	assert_ok(tn_tape_gradients(tape, 1, &score, NULL, 1, leaves, &g, &o));
	expect(t, "g", g);
	tn_array *rows = tn_flatten(g, 1);
	penalty = tn_sqrt(tn_sum(tn_square(rows), 1, (int[]){1}, 0));
	penalty = tn_mean(tn_square(tn_affine(penalty, 1, -1)), TN_ALL_AXES, NULL, 0);
	expect(t, "penalty", penalty);
	tn_array *loss = tn_add(score, tn_affine(penalty, 10, 0));
	assert_ok(tn_tape_gradients(tape, 1, &loss, NULL, n, leaves, gradients, NULL));
	for (size_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "d%s", names[i]);
		expect(t, name, gradients[i]);
	}
}

static void watch_all(const struct trial *t, tn_tape *tape, size_t n, tn_array **leaves,
		      const char *const *names)
{
	for (size_t i = 0; i < n; i++) {
		leaves[i] = given(t, names[i]);
		assert_ok(tn_tape_watch(tape, leaves[i]));
	}
}

static void linear_penalty(const struct trial *t, tn_tape *tape)
{
	static const char *const names[] = {"x", "w", "b", "v"};
	tn_array *leaves[4];
	watch_all(t, tape, 4, leaves, names);
	tn_array *hidden = tn_tanh(tn_linear(leaves[0], leaves[1], leaves[2]));
	tn_array *score = tn_mean(tn_linear(hidden, leaves[3], NULL), TN_ALL_AXES, NULL, 0);
	check_penalty(t, tape, score, 4, leaves, names);
}

static void conv_penalty(const struct trial *t, tn_tape *tape)
{
	static const char *const names[] = {"x", "w", "b"};
	struct tn_conv2d_options o = tn_conv2d_defaults();
	tn_array *leaves[3];
	memcpy(o.stride, record_ints(&t->record, "stride"), sizeof(o.stride));
	memcpy(o.padding, record_ints(&t->record, "padding"), sizeof(o.padding));
	memcpy(o.dilation, record_ints(&t->record, "dilation"), sizeof(o.dilation));
	o.groups = *record_ints(&t->record, "groups");
	watch_all(t, tape, 3, leaves, names);
	tn_array *y = tn_conv2d(leaves[0], leaves[1], leaves[2], &o);
	check_penalty(t, tape, tn_sum(tn_sigmoid(y), TN_ALL_AXES, NULL, 0), 3, leaves, names);
}

static void recurrent_penalty(const struct trial *t, tn_tape *tape, int is_lstm)
{
	static const char *const names[] = {"x", "w_ih", "w_hh", "b_ih", "b_hh"};
	tn_array *a[5];
	watch_all(t, tape, 5, a, names);
	tn_array *y = is_lstm ? tn_lstm(a[0], a[1], a[2], a[3], a[4], NULL, NULL, NULL)
			      : tn_gru(a[0], a[1], a[2], a[3], a[4], NULL, NULL);
	check_penalty(t, tape, tn_sum(tn_square(y), TN_ALL_AXES, NULL, 0), 5, a, names);
}

static void lstm_penalty(const struct trial *t, tn_tape *tape)
{
	recurrent_penalty(t, tape, 1);
}

static void gru_penalty(const struct trial *t, tn_tape *tape)
{
	recurrent_penalty(t, tape, 0);
}

/* ---- Hessians times vectors ------------------------------------------------------------------*/

static tn_array *total(const tn_array *a)
{
	return tn_sum(a, TN_ALL_AXES, NULL, 0);
}

static tn_array *f_logsumexp(tn_array *x)
{
	return total(tn_exp(tn_logsumexp(tn_square(x), 1, (int[]){1}, 0)));
}

static tn_array *f_prod(tn_array *x)
{
	return total(tn_sin(tn_prod(x, 1, (int[]){1}, 0)));
}

static tn_array *f_mean(tn_array *x)
{
	return total(
		tn_multiply(tn_exp(tn_mean(x, 1, (int[]){0}, 0)), tn_max(x, 1, (int[]){0}, 0)));
}

static tn_array *f_matmul(tn_array *x)
{
	return total(tn_tanh(tn_matmul(x, tn_transpose(x, NULL))));
}

static tn_array *f_views(tn_array *x)
{
	tn_array *a = tn_slice(tn_slice(x, 0, 1, 3, 1), 1, 0, 4, 2);
	tn_array *b = tn_slice(tn_slice(tn_transpose(x, NULL), 0, 0, 2, 1), 1, 0, 2, 1);
	return total(tn_multiply(tn_exp(a), b));
}

static tn_array *f_windows(tn_array *x)
{
	tn_array *windows = tn_sliding_window_view(x, 1, (int64_t[]){3}, (int[]){1});
	return total(tn_sqrt(tn_sum(tn_square(windows), 1, (int[]){2}, 0)));
}

static tn_array *f_gelu(tn_array *x)
{
	return total(tn_square(tn_gelu(x)));
}

static tn_array *f_softmax(tn_array *x)
{
	return total(tn_square(tn_softmax(x, 1)));
}

static tn_array *f_layer_norm(tn_array *x)
{
	return total(tn_exp(tn_layer_norm(x, NULL, NULL, 1, 1e-5)));
}

static tn_array *f_batch_norm(tn_array *x)
{
	struct tn_batch_norm_options o = tn_batch_norm_defaults();
	o.training = 1;
	return total(tn_exp(tn_batch_norm(x, NULL, NULL, &o)));
}

static tn_array *f_group_norm(tn_array *x)
{
	tn_array *pictures = tn_reshape(x, 3, (int64_t[]){2, 4, 3});
	return total(tn_exp(tn_group_norm(pictures, NULL, NULL, 2, 1e-5)));
}

static void hessian(const struct trial *t, tn_tape *tape, tn_array *(*f)(tn_array *x))
{
	const struct tn_gradients_options o = {.struct_size = sizeof(o), .create_graph = 1};
	tn_array *x = given(t, "x"), *g, *h;
	const tn_array *v = given(t, "v");
	assert_ok(tn_tape_watch(tape, x));
	tn_array *y = f(x);
	assert_ok(tn_tape_gradients(tape, 1, &y, NULL, 1, &x, &g, &o));
	expect(t, "g", g);
	assert_ok(tn_tape_gradients(tape, 1, &g, &v, 1, &x, &h, NULL));
	expect(t, "h", h);
}

static const struct {
	const char *name;
	void (*run)(const struct trial *t, tn_tape *tape);
	tn_array *(*f)(tn_array *x);
} kinds[] = {
	{"linear_penalty", linear_penalty, NULL},
	{"conv_penalty", conv_penalty, NULL},
	{"lstm_penalty", lstm_penalty, NULL},
	{"gru_penalty", gru_penalty, NULL},
	{"logsumexp", NULL, f_logsumexp},
	{"prod", NULL, f_prod},
	{"mean", NULL, f_mean},
	{"matmul", NULL, f_matmul},
	{"views", NULL, f_views},
	{"windows", NULL, f_windows},
	{"gelu", NULL, f_gelu},
	{"softmax", NULL, f_softmax},
	{"layer_norm", NULL, f_layer_norm},
	{"batch_norm", NULL, f_batch_norm},
	{"group_norm", NULL, f_group_norm},
};

static void run_all(const char *backend, tn_dtype dtype)
{
	struct tn_context_options options = tn_context_defaults();
	options.backend = backend;
	struct trial t = {.dtype = dtype};
	FILE *file = record_open("second.txt");
	int n_cases = 0;
	assert_ok(tn_context_open(&options, &t.context, NULL));
	while (record_read(file, &t.record)) {
		size_t i = 0;
		while (i < sizeof(kinds) / sizeof(kinds[0]) &&
		       strcmp(kinds[i].name, t.record.layer) != 0)
			i++;
		assert_true(i < sizeof(kinds) / sizeof(kinds[0]));
		tn_tape *tape = tn_tape_begin(t.context);
		if (kinds[i].run)
			kinds[i].run(&t, tape);
		else
			hessian(&t, tape, kinds[i].f);
		tn_tape_end(tape);
		record_free(&t.record);
		n_cases++;
	}
	fclose(file);
	tn_context_close(t.context);
	assert_int_equal(n_cases, 17);
}

static void the_reference_agrees_with_pytorch(void **state)
{
	(void)state;
	run_all("reference!", TN_F64);
}

static void the_preferred_backend_agrees_with_pytorch(void **state)
{
	(void)state;
	run_all("auto", TN_F32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_reference_agrees_with_pytorch),
		cmocka_unit_test(the_preferred_backend_agrees_with_pytorch),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
