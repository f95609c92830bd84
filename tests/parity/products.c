/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Products, einsum and norms against recorded NumPy numbers; gradients against differences; how
 * many products einsum needs; errors.
 */
#include "parity/numpy_calls.h"
#include "unit/kept_error.h"

/* ---- Recorded numbers ------------------------------------------------------------------------*/

static tn_array *dot(struct call *c)
{
	return tn_dot(c->x, c->y);
}
static tn_array *inner(struct call *c)
{
	return tn_inner(c->x, c->y);
}
static tn_array *vdot(struct call *c)
{
	return tn_vdot(c->x, c->y);
}
static tn_array *outer(struct call *c)
{
	return tn_outer(c->x, c->y);
}
static tn_array *matvec(struct call *c)
{
	return tn_matvec(c->x, c->y);
}
static tn_array *vecmat(struct call *c)
{
	return tn_vecmat(c->x, c->y);
}
static tn_array *kron(struct call *c)
{
	return tn_kron(c->x, c->y);
}
static tn_array *vecdot(struct call *c)
{
	return tn_vecdot(c->x, c->y, (int)setting(c, "axis"));
}

static tn_array *tensordot(struct call *c)
{
	const int64_t *a = record_ints(c->record, "axes_a"), *b = record_ints(c->record, "axes_b");
	int axes_a[TN_MAX_RANK], axes_b[TN_MAX_RANK];
	if (!a)
		return tn_tensordot(c->x, c->y, (int)setting(c, "n"), NULL, NULL);
	for (int i = 0; i < a[0]; i++) {
		axes_a[i] = (int)a[i + 1];
		axes_b[i] = (int)b[i + 1];
	}
	return tn_tensordot(c->x, c->y, (int)a[0], axes_a, axes_b);
}

static tn_array *einsum(struct call *c)
{
	const tn_array *const operands[] = {c->x, c->y, c->z, c->w};
	char text[64] = {0};
	for (size_t i = 0; i < c->n_numbers && i < sizeof(text) - 1; i++)
		text[i] = (char)c->numbers[i];
	return tn_einsum(text, (int)setting(c, "n"), operands);
}

static tn_array *multi_dot(struct call *c)
{
	return tn_multi_dot((int)setting(c, "n"),
			    (const tn_array *const[]){c->x, c->y, c->z, c->w});
}
static tn_array *matrix_power(struct call *c)
{
	return tn_matrix_power(c->x, setting(c, "n"));
}
static tn_array *matrix_transpose(struct call *c)
{
	return tn_matrix_transpose(c->x);
}
static tn_array *trace(struct call *c)
{
	return tn_trace(c->x, setting(c, "offset"), (int)setting(c, "axis1"),
			(int)setting(c, "axis2"));
}
static tn_array *vector_norm(struct call *c)
{
	return tn_vector_norm(c->x, c->numbers[0], c->n, c->axes, c->keepdims);
}
static tn_array *matrix_norm(struct call *c)
{
	return tn_matrix_norm(c->x, (uint32_t)setting(c, "order"), c->keepdims);
}

static const struct call_row rows[] = {
	{"dot", NULL, dot},
	{"inner", NULL, inner},
	{"vdot", NULL, vdot},
	{"outer", NULL, outer},
	{"matvec", NULL, matvec},
	{"vecmat", NULL, vecmat},
	{"kron", NULL, kron},
	{"vecdot", NULL, vecdot},
	{"tensordot", NULL, tensordot},
	{"einsum", NULL, einsum},
	{"multi_dot", NULL, multi_dot},
	{"matrix_power", NULL, matrix_power},
	{"matrix_transpose", NULL, matrix_transpose},
	{"trace", NULL, trace},
	{"norm", tn_norm, NULL},
	{"vector_norm", NULL, vector_norm},
	{"matrix_norm", NULL, matrix_norm},
};

/* ---- Gradients -------------------------------------------------------------------------------*/

/* Of arrays of shapes (3, 3), (3, 3) and (3). */
static const struct {
	const char *subscripts;
	int n;
	int operands[4];
} sums[] = {
	{"ij,jk->ik", 2, {0, 1}},
	{"ij,kj->ki", 2, {0, 1}},
	{"ij,ij->", 2, {0, 1}},
	{"ij,ij->j", 2, {0, 1}},
	{"ii,ij->j", 2, {0, 1}},
	{"ii->i", 1, {0}},
	{"ij->j", 1, {0}},
	{"i,j->ji", 2, {2, 2}},
	{"ij,j,ki->k", 3, {0, 2, 1}},
	{"...i,...i", 2, {0, 2}},
	{"ij,jk,kl,l->i", 4, {0, 1, 0, 2}},
	{"ij,k->i", 2, {1, 2}},
};
enum { SUMS = sizeof(sums) / sizeof(sums[0]) };

static tn_array *weighted_sum(const tn_array *z)
{
	if (!z)
		return NULL;
	tn_array *weights =
		tn_arange(tn_array_context(z), TN_F64, 1, 1 + (double)tn_array_size(z), 1);
	return tn_sum(tn_multiply(z, tn_reshape(weights, tn_array_rank(z), tn_array_shape(z))),
		      TN_ALL_AXES, NULL, 0);
}

static tn_array *of_sums(void *user, tn_array *const *x)
{
	tn_array *total = tn_scalar_f32(tn_array_context(x[0]), 0);
	(void)user;
	for (int i = 0; i < SUMS; i++) {
		const tn_array *operands[4];
		for (int k = 0; k < sums[i].n; k++)
			operands[k] = x[sums[i].operands[k]];
		total = tn_add(total,
			       weighted_sum(tn_einsum(sums[i].subscripts, sums[i].n, operands)));
	}
	return total;
}

static tn_array *of_products(void *user, tn_array *const *x)
{
	const tn_array *const chain[] = {x[0], x[1], x[2]};
	(void)user;
	const tn_array *const results[] = {
		tn_dot(x[0], x[1]),       tn_inner(x[0], x[2]),
		tn_vdot(x[0], x[1]),      tn_vecdot(x[0], x[1], 0),
		tn_outer(x[2], x[2]),     tn_matvec(x[0], x[2]),
		tn_vecmat(x[2], x[1]),    tn_tensordot(x[0], x[1], 2, NULL, NULL),
		tn_kron(x[0], x[2]),      tn_multi_dot(3, chain),
		tn_matrix_power(x[0], 3), tn_matrix_transpose(x[0]),
		tn_trace(x[0], 1, 0, 1),
	};
	tn_array *total = tn_scalar_f32(tn_array_context(x[0]), 0);
	for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++)
		total = tn_add(total, weighted_sum(results[i]));
	return total;
}

static tn_array *of_norms(void *user, tn_array *const *x)
{
	static const double orders[] = {2, 1, 0, INFINITY, -INFINITY, 3, 0.5, -1};
	static const uint32_t kinds[] = {TN_NORM_FRO, TN_NORM_1, TN_NORM_MINUS_1, TN_NORM_INF,
					 TN_NORM_MINUS_INF};
	const int axis = 1;
	tn_array *total = weighted_sum(tn_norm(x[1], TN_ALL_AXES, NULL, 0));
	(void)user;
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
		total = tn_add(total, weighted_sum(tn_vector_norm(x[0], orders[i], 1, &axis, 0)));
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		total = tn_add(total, weighted_sum(tn_matrix_norm(x[1], kinds[i], 0)));
	return total;
}

static void gradients_are_those_of_differences(void **state)
{
	static const struct {
		const char *name;
		tn_array *(*f)(void *user, tn_array *const *x);
	} functions[] = {{"einsum", of_sums}, {"products", of_products}, {"norms", of_norms}};
	tn_context *context = trial_open("reference!");
	struct tn_gradient_report report = {.struct_size = sizeof(report)};
	(void)state;
	tn_array *x[] = {
		tn_from_host(context, TN_F64, 2, (const int64_t[]){3, 3},
			     (double[]){0.3, 1.7, -2.2, 0.9, -0.4, 1.1, 2.5, 0.6, -1.3}),
		tn_from_host(context, TN_F64, 2, (const int64_t[]){3, 3},
			     (double[]){0.5, 0.9, 1.3, -0.7, 2.1, 0.2, 1.6, -1.8, 0.35}),
		tn_from_host(context, TN_F64, 1, (const int64_t[]){3}, (double[]){1.5, -2, 0.7}),
	};
	for (int i = 0; i < 3; i++) {
		if (tn_gradient_check(context, functions[i].f, NULL, 3, x, 0, 1e-6, 0, &report))
			fail_msg("%s: %s", functions[i].name, tn_error(context)->text);
	}
	tn_context_close(context);
}

/* Of |z|^2 in the parts of complex numbers: the gradient of a sum is 2 z. */
static void complex_products_have_gradients(void **state)
{
	tn_context *context = trial_open("reference!");
	const int64_t two[] = {2};
	double g[4];
	(void)state;
	tn_array *x = tn_from_host(context, TN_C128, 1, two, (double[]){1, 2, -3, 0.5});
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *square = tn_real(tn_vdot(x, x));
	assert_ok(tn_tape_backward(tape, square, NULL));
	assert_ok(tn_to_host(tn_tape_gradient(tape, x), g, sizeof(g)));
	tn_tape_end(tape);
	assert_true(g[0] == 2 && g[1] == 4 && g[2] == -6 && g[3] == 1);
	tn_context_close(context);
}

/* Of an order below 0, which is 0 where an element is. */
static void norms_with_a_zero_have_gradients_of_zero(void **state)
{
	tn_context *context = trial_open("reference!");
	const double numbers[] = {0, 2, 1, 2};
	double norm[2], g[4] = {1, 1, 1, 1};
	(void)state;
	tn_array *x = tn_from_host(context, TN_F64, 2, (const int64_t[]){2, 2}, numbers);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *norms = tn_vector_norm(x, -1, 1, (const int[]){1}, 0);
	assert_ok(tn_to_host(norms, norm, sizeof(norm)));
	assert_ok(tn_tape_backward(tape, tn_sum(norms, TN_ALL_AXES, NULL, 0), NULL));
	assert_ok(tn_to_host(tn_tape_gradient(tape, x), g, sizeof(g)));
	assert_true(norm[0] == 0 && g[0] == 0 && g[1] == 0);
	assert_close(norm[1], 2.0 / 3, 1e-15);
	assert_close(g[2], 4.0 / 9, 1e-15);
	assert_close(g[3], 1.0 / 9, 1e-15);
	tn_tape_end(tape);
	tn_context_close(context);
}

static void norms_of_zeros_have_gradients_of_zero(void **state)
{
	static const double orders[] = {2, 1, 0, INFINITY, -INFINITY, 3, 0.5, -1, -2};
	tn_context *context = trial_open("reference!");
	(void)state;
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		double g[2] = {1, 1};
		tn_array *x = tn_zeros(context, TN_F64, 1, (const int64_t[]){2});
		tn_tape *tape = tn_tape_begin(context);
		assert_ok(tn_tape_watch(tape, x));
		tn_array *norm = tn_vector_norm(x, orders[i], TN_ALL_AXES, NULL, 0);
		assert_non_null(norm);
		if (orders[i] != 0) {
			assert_ok(tn_tape_backward(tape, norm, NULL));
			assert_ok(tn_to_host(tn_tape_gradient(tape, x), g, sizeof(g)));
			assert_true(g[0] == 0 && g[1] == 0);
		}
		tn_tape_end(tape);
	}
	tn_context_close(context);
}

/* ---- How much is computed --------------------------------------------------------------------*/

/* Calls of an operation since the ledger was reset; NULL: of all. */
static uint64_t calls(tn_context *context, const char *operation)
{
	struct tn_ledger_row row = {.struct_size = sizeof(row)};
	uint64_t n = 0;
	for (size_t i = 0; i < tn_ledger_count(context); i++) {
		assert_ok(tn_ledger_at(context, i, &row));
		if (!operation || !strcmp(row.operation, operation))
			n += row.native + row.lent + row.composed + row.host;
	}
	return n;
}

static tn_array *ones(tn_context *context, const char *lengths)
{
	int64_t shape[TN_MAX_RANK];
	int rank = 0;
	for (; *lengths; lengths++)
		shape[rank++] = *lengths - '0';
	return tn_ones(context, TN_F32, rank, shape);
}

/* Subscripts, shapes as digits, and how many calls they cost: products of matrices, and all. */
static const struct {
	const char *subscripts;
	const char *shapes[4];
	uint64_t n_products;
	uint64_t n_calls;
} costs[] = {
	{"ij,jk->ik", {"23", "34"}, 1, 1},
	{"ij,jk->ki", {"23", "34"}, 1, 1},
	{"ij,kj->ik", {"23", "43"}, 1, 1},
	{"ji,jk->ik", {"32", "34"}, 1, 1},
	{"bij,bjk->bik", {"523", "534"}, 1, 1},
	{"bhqd,bhkd->bhqk", {"2234", "2254"}, 1, 1},
	{"bqhd,bkhd->bhqk", {"2324", "2524"}, 1, 1},
	{"bhqk,bkhd->bqhd", {"2235", "2524"}, 1, 1},
	{"bij,jk->bik", {"523", "34"}, 1, 1},
	{"...j,jk->...k", {"2533", "34"}, 1, 1},
	{"ijk,jkl->il", {"234", "345"}, 1, 1},
	{"bchw,oc->bohw", {"2345", "63"}, 1, 1},
	{"oc,bchw->bohw", {"63", "2345"}, 1, 1},
	{"ij,ij->", {"34", "34"}, 1, 1},
	{"ij,ij->i", {"34", "34"}, 0, 1},
	{"ij,ij->j", {"34", "34"}, 0, 1},
	{"ij,j->i", {"34", "4"}, 1, 1},
	{"i,j->ij", {"3", "4"}, 0, 1},
	{"ij,ij->ij", {"34", "34"}, 0, 1},
	{"ij,i->ji", {"34", "3"}, 0, 1},
	{"ij->ji", {"34"}, 0, 0},
	{"ii->i", {"33"}, 0, 0},
	{"ij->i", {"34"}, 0, 1},
	{"ij,k->i", {"34", "5"}, 0, 3},
	{"ij,jk->ik", {"21", "34"}, 0, 2},
	{"ij,jk,kl->il", {"23", "34", "45"}, 2, 2},
	{"ij,jk,kl,l->i", {"23", "34", "45", "5"}, 3, 3},
};

static void a_product_of_matrices_is_one_call(void **state)
{
	tn_context *context = trial_open("reference!");
	(void)state;
	for (size_t i = 0; i < sizeof(costs) / sizeof(costs[0]); i++) {
		const tn_array *operands[4];
		int n = 0;
		for (; n < 4 && costs[i].shapes[n]; n++)
			operands[n] = ones(context, costs[i].shapes[n]);
		tn_ledger_reset(context);
		assert_non_null(tn_einsum(costs[i].subscripts, n, operands));
		if (calls(context, "matmul") != costs[i].n_products ||
		    calls(context, NULL) != costs[i].n_calls)
			fail_msg("%s: %d products, %d calls", costs[i].subscripts,
				 (int)calls(context, "matmul"), (int)calls(context, NULL));
	}
	tn_context_close(context);
}

/* The factors change places where that puts the axes of the result in order. */
static void results_lie_in_order(void **state)
{
	tn_context *context = trial_open("reference!");
	const tn_array *const operands[] = {ones(context, "23"), ones(context, "34")};
	(void)state;
	const tn_array *ik = tn_einsum("ij,jk->ik", 2, operands);
	const tn_array *ki = tn_einsum("ij,jk->ki", 2, operands);
	assert_int_equal(tn_array_strides(ik)[1], 1);
	assert_int_equal(tn_array_strides(ki)[1], 1);
	tn_context_close(context);
}

/* Positions of a path, two a step. */
static void paths_are_the_cheapest(void **state)
{
	static const struct {
		const char *subscripts;
		const char *shapes[4];
		const char *path;
	} paths[] = {
		{"ij", {"23"}, ""},
		{"ij,jk", {"23", "34"}, "01"},
		{"ij,jk,kl->il", {"92", "29", "92"}, "1201"},
		{"ij,jk,kl->il", {"29", "92", "29"}, "0101"},
		{"ij,jk,kl,l->i", {"99", "99", "99", "9"}, "231201"},
		{"i,j,ij->", {"9", "9", "99"}, "0201"},
	};
	tn_context *context = trial_open("reference!");
	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		const tn_array *operands[4];
		int path[6], n = 0;
		char text[8] = {0};
		for (; n < 4 && paths[i].shapes[n]; n++)
			operands[n] = ones(context, paths[i].shapes[n]);
		assert_ok(tn_einsum_path(paths[i].subscripts, n, operands, path));
		for (int k = 0; k < 2 * (n - 1); k++)
			text[k] = (char)('0' + path[k]);
		assert_string_equal(text, paths[i].path);
	}
	tn_context_close(context);
}

/* More operands than all orders are tried of: a chain of 40 matrices times a vector. */
static void long_chains_are_found_quickly(void **state)
{
	enum { MATRICES = 40 };
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	tn_context *context = trial_open("reference!");
	const tn_array *operands[MATRICES + 1];
	char text[4 * MATRICES + 8], *to = text;
	double first;
	(void)state;
	for (int i = 0; i < MATRICES; i++) {
		operands[i] = tn_affine(ones(context, "22"), 0.5, 0);
		to += sprintf(to, "%c%c,", letters[i], letters[i + 1]);
	}
	operands[MATRICES] = ones(context, "2");
	sprintf(to, "%c->a", letters[MATRICES]);
	tn_array *result = tn_einsum(text, MATRICES + 1, operands);
	assert_ok(tn_item(tn_slice(result, 0, 0, 1, 1), &first));
	assert_true(first == 1);
	tn_context_close(context);
}

/* ---- Errors ----------------------------------------------------------------------------------*/

static const struct {
	const char *subscripts;
	const char *shapes[3];
	tn_status status;
	const char *words;
} mistakes[] = {
	{"i1", {"23"}, TN_INVALID_ARGUMENT, "column 2: expected a letter, '...', ',' or '->'"},
	{"i1", {"23"}, TN_INVALID_ARGUMENT, "found '1'"},
	{"i\xc3\xa4", {"23"}, TN_INVALID_ARGUMENT, "column 2"},
	{"i\xc3\xa4", {"23"}, TN_INVALID_ARGUMENT, "found byte 195"},
	{"ij", {"23", "3"}, TN_INVALID_ARGUMENT, "column 3: expected ',' and the letters of"},
	{"ij", {"23", "3"}, TN_INVALID_ARGUMENT, "found the end"},
	{"ij,j,", {"23", "3"}, TN_INVALID_ARGUMENT, "column 5: expected '->' or the end behind"},
	{"ij->i,", {"23"}, TN_INVALID_ARGUMENT, "column 6: expected a letter, '...' or the end"},
	{"ij- >i", {"23"}, TN_INVALID_ARGUMENT, "column 3: expected"},
	{"i..", {"23"}, TN_INVALID_ARGUMENT, "column 4: expected '...', found the end"},
	{"i.. .", {"23"}, TN_INVALID_ARGUMENT, "column 4: expected '...', found byte 32"},
	{"...i...", {"23"}, TN_INVALID_ARGUMENT, "column 5: expected no second '...'"},
	{"i...->i", {"23"}, TN_INVALID_ARGUMENT, "column 8: expected '...', which has axes"},
	{"ij->k", {"23"}, TN_INVALID_ARGUMENT, "column 5: no operand has an axis k"},
	{"ij->iji", {"23"}, TN_INVALID_ARGUMENT, "column 7: i is in the result twice"},
	{"ijk", {"23"}, TN_SHAPE, "column 3: expected at most 2 letters"},
	{"ij,j",
	 {"23", "34"},
	 TN_SHAPE,
	 "column 5: expected 2 letters, or '...', for operand 1 of shape (3, 4), found 1"},
	{"ij,jk",
	 {"23", "45"},
	 TN_SHAPE,
	 "column 4: the length of j is 3 in operand 0, 4 in operand 1"},
	{"ii", {"13"}, TN_SHAPE, "column 2: the length of i is 1 in operand 0, 3 in operand 0"},
	{"...,...", {"23", "4"}, TN_SHAPE, "the length of an axis of '...' is 3 in operand 0"},
	{"abcdefgh,ijklmnop,q", {"11111111", "11111111", "1"}, TN_LIMIT, "more than 16 axes"},
};

static void mistakes_in_subscripts_are_found_by_column(void **state)
{
	tn_context *c = trial_open("reference!");
	(void)state;
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		const tn_array *operands[3];
		int path[4], n = 0;
		for (; n < 3 && mistakes[i].shapes[n]; n++)
			operands[n] = ones(c, mistakes[i].shapes[n]);
		assert_refused(c, tn_einsum(mistakes[i].subscripts, n, operands),
			       mistakes[i].status, "einsum", mistakes[i].words);
		assert_int_equal(tn_einsum_path(mistakes[i].subscripts, n, operands, path),
				 mistakes[i].status);
		assert_error(c, mistakes[i].status, "einsum_path", mistakes[i].words);
	}
	tn_context_close(c);
}

/* Nothing is sized by the text: long ones are read, or refused at their first mistake. */
static void hostile_subscripts_are_bounded(void **state)
{
	enum { LONG = 1 << 20, MANY = 65 };
	tn_context *c = trial_open("reference!");
	const tn_array *a = ones(c, "22"), *many[MANY];
	char *text = malloc(LONG + 1);
	(void)state;
	for (int i = 0; i < 3; i++) {
		memset(text, "a,."[i], LONG);
		text[LONG] = '\0';
		assert_null(tn_einsum(text, 1, &a));
		tn_error_clear(c);
	}
	memset(text, ' ', LONG);
	memcpy(text, "ab", 2);
	memcpy(text + LONG - 4, "->ba", 4);
	assert_non_null(tn_einsum(text, 1, &a));
	free(text);
	for (int i = 0; i < MANY; i++)
		many[i] = a;
	assert_refused(c, tn_einsum("a", MANY, many), TN_LIMIT, "einsum", "at most 64, found 65");
	assert_null(tn_einsum("a", 0, many));
	assert_null(tn_einsum("a", -1, many));
	assert_null(tn_error(c));
	tn_context_close(c);
}

static void bad_products_are_errors(void **state)
{
	tn_context *c = trial_open("reference!");
	tn_array *x = ones(c, "3"), *m = ones(c, "34"), *b = ones(c, "234"), *wide;
	(void)state;
	assert_refused(c, tn_dot(m, x), TN_SHAPE, "dot",
		       "axis 1 of shape (3, 4) and axis 0 of shape (3,): expected one length, "
		       "found 4 and 3");
	assert_refused(c, tn_dot(b, m), TN_SHAPE, "dot", "axis 2 of shape (2, 3, 4) and axis 0");
	assert_refused(c, tn_inner(x, m), TN_SHAPE, "inner", "found 3 and 4");
	assert_refused(c, tn_vdot(x, m), TN_SHAPE, "vdot", "found shapes (3,) and (3, 4)");
	assert_refused(c, tn_vecdot(x, m, -1), TN_SHAPE, "vecdot", "found 3 and 4");
	assert_refused(c, tn_vecdot(x, m, 1), TN_INVALID_ARGUMENT, "vecdot", "axis");
	assert_refused(c, tn_vecdot(ones(c, "54"), m, -1), TN_SHAPE, "vecdot",
		       "the axes other than -1 of shapes (5, 4) and (3, 4) do not broadcast");
	assert_refused(c, tn_matvec(x, x), TN_SHAPE, "matvec",
		       "a: expected at least 2 axes, found shape (3,)");
	assert_refused(c, tn_matvec(m, x), TN_SHAPE, "matvec", "found 4 and 3");
	assert_refused(c, tn_vecmat(ones(c, ""), m), TN_SHAPE, "vecmat", "at least 1 axis");
	assert_refused(c, tn_vecmat(ones(c, "53"), b), TN_SHAPE, "vecmat",
		       "the axes of a batch do not broadcast: shapes (5, 3) and (2, 3, 4)");
	assert_refused(c, tn_tensordot(m, b, 3, NULL, NULL), TN_INVALID_ARGUMENT, "tensordot",
		       "n: expected 0 to 2 axes of both, found 3");
	assert_refused(c, tn_tensordot(m, m, 1, (const int[]){0}, (const int[]){2}),
		       TN_INVALID_ARGUMENT, "tensordot", "axes_b");
	assert_refused(c, tn_tensordot(m, m, 1, NULL, (const int[]){1}), TN_INVALID_ARGUMENT,
		       "tensordot", "axes_a and axes_b: expected two lists or none, found one");
	assert_refused(c, tn_tensordot(m, m, 1, NULL, NULL), TN_SHAPE, "tensordot",
		       "found 4 and 3");
	wide = ones(c, "222222222");
	assert_refused(c, tn_tensordot(wide, wide, 0, NULL, NULL), TN_LIMIT, "tensordot",
		       "give 18 axes, and an array has at most 16");
	assert_refused(c, tn_kron(wide, wide), TN_LIMIT, "kron", "found 18");
	tn_context_close(c);
}

static void bad_matrices_are_errors(void **state)
{
	tn_context *c = trial_open("reference!");
	tn_array *x = ones(c, "3"), *m = ones(c, "34"), *none = ones(c, "20");
	const tn_array *const chain[] = {m, x, m}, *const broken[] = {m, m};
	double largest = 1;
	(void)state;
	assert_refused(c, tn_multi_dot(1, broken), TN_INVALID_ARGUMENT, "multi_dot",
		       "expected 2 or more arrays, found 1");
	assert_refused(c, tn_multi_dot(3, chain), TN_SHAPE, "multi_dot",
		       "arrays[1]: expected a matrix, found shape (3,)");
	assert_refused(c, tn_multi_dot(2, broken), TN_SHAPE, "multi_dot",
		       "cannot multiply arrays[0] and [1], of shapes (3, 4) and (3, 4)");
	assert_refused(c, tn_matrix_power(m, 2), TN_SHAPE, "matrix_power",
		       "a: expected square matrices, found shape (3, 4)");
	assert_refused(c, tn_matrix_power(ones(c, "33"), -1), TN_SINGULAR, "inv", "singular");
	assert_refused(c, tn_matrix_transpose(x), TN_SHAPE, "matrix_transpose", "found shape (3,)");
	assert_refused(c, tn_trace(x, 0, 0, 1), TN_SHAPE, "trace", "found shape (3,)");
	assert_refused(c, tn_norm(m, 1, (const int[]){2}, 0), TN_INVALID_ARGUMENT, "norm", "axes");
	assert_refused(c, tn_vector_norm(x, NAN, 1, (const int[]){0}, 0), TN_INVALID_ARGUMENT,
		       "vector_norm", "order: expected a number, found NaN");
	assert_refused(c, tn_vector_norm(none, -INFINITY, 1, (const int[]){1}, 0), TN_SHAPE,
		       "vector_norm", "shape (2, 0): an axis of length 0 has no smallest element");
	assert_refused(c, tn_matrix_norm(none, TN_NORM_MINUS_1, 0), TN_SHAPE, "matrix_norm",
		       "no smallest element");
	assert_ok(tn_item(tn_matrix_norm(none, TN_NORM_2, 0), &largest));
	assert_true(largest == 0);
	assert_refused(c, tn_matrix_norm(none, TN_NORM_MINUS_2, 0), TN_SHAPE, "matrix_norm",
		       "no smallest element");
	assert_refused(c, tn_matrix_norm(x, TN_NORM_FRO, 0), TN_SHAPE, "matrix_norm",
		       "a: expected at least two axes, found shape (3,)");
	assert_refused(c, tn_matrix_norm(m, 8, 0), TN_INVALID_ARGUMENT, "matrix_norm",
		       "order: expected 0 to 7, found 8");
	tn_context_close(c);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(gradients_are_those_of_differences),
	cmocka_unit_test(complex_products_have_gradients),
	cmocka_unit_test(norms_with_a_zero_have_gradients_of_zero),
	cmocka_unit_test(norms_of_zeros_have_gradients_of_zero),
	cmocka_unit_test(a_product_of_matrices_is_one_call),
	cmocka_unit_test(results_lie_in_order),
	cmocka_unit_test(paths_are_the_cheapest),
	cmocka_unit_test(long_chains_are_found_quickly),
	cmocka_unit_test(mistakes_in_subscripts_are_found_by_column),
	cmocka_unit_test(hostile_subscripts_are_bounded),
	cmocka_unit_test(bad_products_are_errors),
	cmocka_unit_test(bad_matrices_are_errors),
};
const struct parity parity = {
	.claim = "has_numpys_products",
	.records = {{"products.txt", 661}},
	.check = check_call,
	.rows = rows,
	.n_rows = sizeof(rows) / sizeof(rows[0]),
	.is_brief = parity_is_first_in_f32,
	.tests = tests,
	.n_tests = sizeof(tests) / sizeof(tests[0]),
};
