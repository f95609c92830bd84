/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Every array operation in every dtype, and those of two arrays in pairs of dtypes, on values at
 * the ends of each dtype: on the device under test, with the host as the last resort, as a program
 * runs them.  The expected results are NumPy's (cells.h).
 */
#include <stdio.h>

#include "base/dtype.h"
#include "cells.h"
#include "layers.h"

/* What a check runs. */
enum group {
	OF_ONE,  /* element by element, of one array */
	OF_TWO,  /* of two arrays of one dtype */
	TO_TYPE, /* conversions */
	ALONG,   /* along an axis */
	JOINED,  /* products and concatenations */
};

/* ---- Operations ------------------------------------------------------------------------------*/

/* A pool of 12 elements as a matrix. */
enum { ROWS = 3, COLUMNS = 4 };

static const unsigned char choice[] = {1, 0, 0, 1, 1, 0, 1, 0, 0, 1, 0, 1};

static tn_array *doubled_and_a_half(const tn_array *a)
{
	return tn_affine(a, 2, 0.5);
}

static tn_array *where(const tn_array *a, const tn_array *b)
{
	return tn_where(tn_from_host(tn_array_context(a), TN_BOOL, 1, tn_array_shape(a), choice), a,
			b);
}

static tn_array *where_nonzero(const tn_array *a, const tn_array *b)
{
	return tn_where(a, b, tn_zeros(tn_array_context(a), tn_array_dtype(b), 0, NULL));
}

static tn_array *matmul(const tn_array *a, const tn_array *b)
{
	int64_t rows = tn_array_size(a) == (int64_t)ROWS * COLUMNS ? ROWS : 2;
	return tn_matmul(tn_reshape(a, 2, (int64_t[]){rows, -1}),
			 tn_reshape(b, 2, (int64_t[]){-1, rows}));
}

static tn_array *concatenate(const tn_array *a, const tn_array *b)
{
	const tn_array *both[] = {a, b};
	return tn_concatenate(2, both, 0);
}

static tn_array *sum_over_no_axes(const tn_array *a, int axis)
{
	return tn_sum(a, 0, &axis, 0);
}

static tn_array *argmax(const tn_array *a, int axis)
{
	return tn_argmax(a, axis, 0);
}

static tn_array *argmin(const tn_array *a, int axis)
{
	return tn_argmin(a, axis, 0);
}

static tn_array *sort(const tn_array *a, int axis)
{
	return tn_sort(a, axis, 0);
}

static tn_array *argsort(const tn_array *a, int axis)
{
	return tn_argsort(a, axis, 0);
}

static tn_array *argsort_descending(const tn_array *a, int axis)
{
	return tn_argsort(a, axis, 1);
}

static tn_array *take(const tn_array *a, int axis)
{
	static const int64_t rows[] = {2, 0, -1};
	(void)axis;
	return tn_take(a, tn_from_host(tn_array_context(a), TN_I64, 1, (int64_t[]){3}, rows), 0,
		       TN_RAISE);
}

/* a + a, in an array of another dtype. */
static tn_array *add_into(const tn_array *a, tn_dtype dtype)
{
	tn_array *out = tn_zeros(tn_array_context(a), dtype, 1, tn_array_shape(a));
	return tn_add_into(out, a, a) ? NULL : out;
}

static const struct operation {
	const char *name;
	enum group group;
	tn_array *(*of_one)(const tn_array *);
	tn_array *(*of_two)(const tn_array *, const tn_array *);
	tn_array *(*fold)(const tn_array *, int, const int *, int);
	tn_array *(*along)(const tn_array *, int);
	tn_array *(*to_type)(const tn_array *, tn_dtype);
} operations[] = {
	{"negative", OF_ONE, .of_one = tn_negative},
	{"abs", OF_ONE, .of_one = tn_abs},
	{"sign", OF_ONE, .of_one = tn_sign},
	{"square", OF_ONE, .of_one = tn_square},
	{"sqrt", OF_ONE, .of_one = tn_sqrt},
	{"exp", OF_ONE, .of_one = tn_exp},
	{"log", OF_ONE, .of_one = tn_log},
	{"sin", OF_ONE, .of_one = tn_sin},
	{"cos", OF_ONE, .of_one = tn_cos},
	{"tanh", OF_ONE, .of_one = tn_tanh},
	{"erf", OF_ONE, .of_one = tn_erf},
	{"sigmoid", OF_ONE, .of_one = tn_sigmoid},
	{"silu", OF_ONE, .of_one = tn_silu},
	{"gelu", OF_ONE, .of_one = tn_gelu},
	{"gelu_tanh", OF_ONE, .of_one = tn_gelu_tanh},
	{"hardswish", OF_ONE, .of_one = tn_hardswish},
	{"hardsigmoid", OF_ONE, .of_one = tn_hardsigmoid},
	{"log_sigmoid", OF_ONE, .of_one = tn_log_sigmoid},
	{"mish", OF_ONE, .of_one = tn_mish},
	{"selu", OF_ONE, .of_one = tn_selu},
	{"softsign", OF_ONE, .of_one = tn_softsign},
	{"relu", OF_ONE, .of_one = tn_relu},
	{"relu6", OF_ONE, .of_one = tn_relu6},
	{"floor", OF_ONE, .of_one = tn_floor},
	{"ceil", OF_ONE, .of_one = tn_ceil},
	{"round", OF_ONE, .of_one = tn_round},
	{"angle", OF_ONE, .of_one = tn_angle},
	{"conj", OF_ONE, .of_one = tn_conj},
	{"real", OF_ONE, .of_one = tn_real},
	{"imag", OF_ONE, .of_one = tn_imag},
	{"affine", OF_ONE, .of_one = doubled_and_a_half},
	{"add", OF_TWO, .of_two = tn_add},
	{"subtract", OF_TWO, .of_two = tn_subtract},
	{"multiply", OF_TWO, .of_two = tn_multiply},
	{"divide", OF_TWO, .of_two = tn_divide},
	{"power", OF_TWO, .of_two = tn_power},
	{"maximum", OF_TWO, .of_two = tn_maximum},
	{"minimum", OF_TWO, .of_two = tn_minimum},
	{"equal", OF_TWO, .of_two = tn_equal},
	{"not_equal", OF_TWO, .of_two = tn_not_equal},
	{"less", OF_TWO, .of_two = tn_less},
	{"less_equal", OF_TWO, .of_two = tn_less_equal},
	{"greater", OF_TWO, .of_two = tn_greater},
	{"greater_equal", OF_TWO, .of_two = tn_greater_equal},
	{"where", OF_TWO, .of_two = where},
	{"where_nonzero", OF_TWO, .of_two = where_nonzero},
	{"astype", TO_TYPE, .to_type = tn_astype},
	{"add_into", TO_TYPE, .to_type = add_into},
	{"sum_over_no_axes", ALONG, .along = sum_over_no_axes},
	{"sum", ALONG, .fold = tn_sum},
	{"prod", ALONG, .fold = tn_prod},
	{"mean", ALONG, .fold = tn_mean},
	{"max", ALONG, .fold = tn_max},
	{"min", ALONG, .fold = tn_min},
	{"logsumexp", ALONG, .fold = tn_logsumexp},
	{"argmax", ALONG, .along = argmax},
	{"argmin", ALONG, .along = argmin},
	{"cumsum", ALONG, .along = tn_cumsum},
	{"cumprod", ALONG, .along = tn_cumprod},
	{"cummax", ALONG, .along = tn_cummax},
	{"cummin", ALONG, .along = tn_cummin},
	{"sort", ALONG, .along = sort},
	{"argsort", ALONG, .along = argsort},
	{"argsort_descending", ALONG, .along = argsort_descending},
	{"take", ALONG, .along = take},
	{"concatenate", JOINED, .of_two = concatenate},
	{"matmul", JOINED, .of_two = matmul},
};
enum { N_OPERATIONS = sizeof(operations) / sizeof(operations[0]) };

static const struct operation *operation_of(struct kit *kit, const struct cell *cell)
{
	for (size_t i = 0; i < N_OPERATIONS; i++) {
		if (!strcmp(operations[i].name, cell->operation))
			return &operations[i];
	}
	kit_give_up(kit, "dtype_cells.txt: unknown operation '%s'", cell->operation);
}

/* ---- One cell --------------------------------------------------------------------------------*/

static tn_array *upload(tn_context *context, const struct values *values)
{
	unsigned char bytes[CELL_ELEMENTS * 16];
	int64_t n = (int64_t)values->n;
	values_to_bytes(values, bytes);
	return tn_from_host(context, values->dtype, 1, &n, bytes);
}

static tn_array *compute(const struct operation *operation, const struct cell *cell, tn_array *a,
			 tn_array *b)
{
	const int axis = 1;
	if (operation->to_type)
		return operation->to_type(a, cell->b);
	if (operation->of_one)
		return operation->of_one(a);
	if (operation->of_two)
		return operation->of_two(a, b);
	a = tn_reshape(a, 2, (int64_t[]){ROWS, COLUMNS});
	return operation->fold ? operation->fold(a, 1, &axis, 0) : operation->along(a, axis);
}

/* The operands' elements that element i comes from: that one, or a row. */
static void operands_of(const struct operation *operation, const struct cell *cell,
			const struct values *a, size_t i, size_t *first, size_t *last)
{
	*first = *last = i;
	if (operation->group == ALONG && strcmp(cell->operation, "take") != 0) {
		*first = (cell->values.n == a->n ? i / COLUMNS : i) * COLUMNS;
		*last = *first + COLUMNS - 1;
	}
}

/* "of 1 and -2", or the row or rows that an element comes from. */
static void print_operands(const struct operation *operation, const struct cell *cell,
			   const struct values *a, const struct values *b, size_t i, char *text,
			   size_t size)
{
	char value[VALUE_TEXT];
	size_t used = 0, first, last;
	operands_of(operation, cell, a, i, &first, &last);
	text[0] = 0;
	if (operation->group == JOINED || last >= a->n)
		return;
	for (size_t k = first; k <= last && used < size; k++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", k > first ? ", " : "of ",
					 value_text(a, k, value));
	if (b->n && used < size)
		used += (size_t)snprintf(text + used, size - used, " and %s",
					 value_text(b, i, value));
	if (used < size)
		snprintf(text + used, size - used, ": ");
}

static int is_of_f32(tn_dtype dtype)
{
	return dtype == TN_C64 || (dtype && tn_compute_dtype(dtype) == TN_F32);
}

/* Is the expected result known?  A device that computes f32 in a narrower type is compared where it
 * keeps the operands as they are, and not in complex numbers, whose parts cancel. */
static int is_known(struct kit *kit, const struct operation *operation, const struct cell *cell,
		    const struct values *a, const struct values *b, size_t i)
{
	size_t first, last;
	int is_kept = 1;
	if (kit_compute_dtype(kit, TN_FAMILY_MAP) == TN_F32 ||
	    !(is_of_f32(cell->a) || is_of_f32(cell->b) || is_of_f32(cell->values.dtype)))
		return 1;
	operands_of(operation, cell, a, i, &first, &last);
	if (operation->group == JOINED || first >= a->n || last >= a->n) {
		first = 0;
		last = a->n - 1;
	}
	for (size_t k = first; k <= last; k++)
		is_kept &= value_is_kept(kit, a, k) && (!b->n || value_is_kept(kit, b, k));
	return is_kept && !tn_is_complex(cell->a) && !tn_is_complex(cell->b) &&
	       !tn_is_complex(cell->values.dtype);
}

static void compare(struct kit *kit, const struct operation *operation, const struct cell *cell,
		    const struct values *a, const struct values *b, const tn_array *result,
		    const char *routes)
{
	unsigned char bytes[CELL_ELEMENTS * 16];
	struct values found = {.dtype = cell->values.dtype, .n = cell->values.n};
	size_t size = found.n * tn_dtype_size(found.dtype);
	if (tn_array_dtype(result) != found.dtype || tn_array_size(result) != (int64_t)found.n)
		return kit_fail(kit, "expected %zu elements of %s, found %lld of %s", found.n,
				tn_dtype_name(found.dtype), (long long)tn_array_size(result),
				tn_dtype_name(tn_array_dtype(result)));
	if (tn_to_host(result, bytes, size))
		return kit_fail_context(kit, tn_array_context(result), "to the host");
	values_of_bytes(&found, bytes);
	for (size_t i = 0; i < found.n; i++) {
		char operands[6 * VALUE_TEXT], expected[VALUE_TEXT], other[VALUE_TEXT];
		if (!is_known(kit, operation, cell, a, b, i) ||
		    cell_is_close(kit, cell, &found, a, i))
			continue;
		print_operands(operation, cell, a, b, i, operands, sizeof(operands));
		return kit_fail(kit, "element %zu: %sexpected %s, found %s (%s)", i, operands,
				value_text(&cell->values, i, expected),
				value_text(&found, i, other), routes);
	}
}

/* The elements of b in the order (5 i + 3) mod n. */
static void reorder(struct values *b)
{
	const struct values from = *b;
	for (size_t i = 0; i < b->n; i++)
		memcpy(b->parts[i], from.parts[(5 * i + 3) % b->n], sizeof(b->parts[i]));
}

static void run_cell(struct kit *kit, const struct operation *operation, const struct cell *cell)
{
	tn_context *context = kit_context(kit);
	struct values a, b = {.n = 0};
	char routes[ROUTES_TEXT];
	int has_two = operation->of_two != NULL;
	kit_case(kit, KIT_CONTEXT, "%s of %s%s%s (%s)", cell->operation, tn_dtype_name(cell->a),
		 !cell->b  ? ""
		 : has_two ? " and "
			   : " to ",
		 cell->b ? tn_dtype_name(cell->b) : "", cell->pool);
	cell_pool(kit, cell->pool, cell->a, &a);
	if (has_two) {
		cell_pool(kit, cell->pool, cell->b, &b);
		reorder(&b);
	}
	if (tn_scope_begin(context))
		kit_give_up(kit, "a scope: %s", tn_error_text(context));
	tn_array *result =
		compute(operation, cell, upload(context, &a), has_two ? upload(context, &b) : NULL);
	const struct tn_error_info *error = tn_error(context);
	kit_take_ledger(kit, context, routes);
	if (cell->is_refused && error && error->status == TN_DTYPE)
		tn_error_clear(context);
	else if (!result)
		kit_fail_context(kit, context, "failed");
	else if (cell->is_refused)
		kit_fail(kit, "expected TN_DTYPE, found a result of %s",
			 tn_dtype_name(tn_array_dtype(result)));
	else
		compare(kit, operation, cell, &a, &b, result, routes);
	tn_scope_end(context, NULL);
	kit_pass(kit);
}

/* ---- Checks ----------------------------------------------------------------------------------*/

/* Of two dtypes?  An output, and the condition of where_nonzero, may have any. */
static int is_mixed(const struct operation *operation, const struct cell *cell)
{
	return operation->of_two && operation->of_two != where_nonzero && cell->a != cell->b;
}

static void remark_unknown(struct kit *kit)
{
	const tn_dtype compute = kit_compute_dtype(kit, TN_FAMILY_MAP);
	if (compute != TN_F32)
		kit_remark(kit,
			   "elements of operands that %s does not represent, and complex ones, "
			   "are not compared",
			   tn_dtype_name(compute));
}

/* The cells of a group, but those of two dtypes. */
static void run_group(struct kit *kit, enum group group)
{
	struct cell cell;
	size_t line = 0, n_run = 0;
	while (cell_next(kit, &line, &cell)) {
		const struct operation *operation = operation_of(kit, &cell);
		if (operation->group != group || is_mixed(operation, &cell))
			continue;
		run_cell(kit, operation, &cell);
		n_run++;
	}
	remark_unknown(kit);
	if (!n_run)
		kit_fail(kit, "no cell was run");
}

/* Of the cells of two dtypes every `step`-th. */
static void run_mixed(struct kit *kit, size_t step)
{
	struct cell cell;
	size_t line = 0, n_seen = 0;
	while (cell_next(kit, &line, &cell)) {
		const struct operation *operation = operation_of(kit, &cell);
		if (is_mixed(operation, &cell) && n_seen++ % step == 0)
			run_cell(kit, operation, &cell);
	}
	remark_unknown(kit);
	if (!n_seen)
		kit_fail(kit, "no cell was run");
}

void check_dtypes_unary(struct kit *kit)
{
	run_group(kit, OF_ONE);
}

void check_dtypes_binary(struct kit *kit)
{
	run_group(kit, OF_TWO);
}

/* A device that compiles each program takes a minute for all of them: dtypes.pairs. */
void check_dtypes_mixed(struct kit *kit)
{
	run_mixed(kit, 13);
}

void check_dtypes_casts(struct kit *kit)
{
	run_group(kit, TO_TYPE);
}

void check_dtypes_axes(struct kit *kit)
{
	run_group(kit, ALONG);
}

void check_dtypes_products(struct kit *kit)
{
	run_group(kit, JOINED);
}

static void check_dtypes_pairs(struct kit *kit)
{
	run_mixed(kit, 1);
}

const struct check dtype_pair_checks[] = {
	{"dtypes.pairs", 3, "operations on two arrays give NumPy's results in all pairs of dtypes",
	 check_dtypes_pairs},
	{NULL, 0, NULL, NULL},
};
