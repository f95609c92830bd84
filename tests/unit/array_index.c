/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Beside recorded results (tests/parity/index): views share their storage and indices make copies;
 * values and targets that overlap; gradients; bad input by its text; compositions leave one array,
 * and memory runs out at every allocation.  tests/unit/index_checks.h has indices out of range.
 */
#include <tenon/autograd.h>
#include <tenon/index.h>
#include <tenon/ufunc.h>

#include "array_fixture.h"

#define FAILING_MALLOC 0
#include "device/chunk.h"
#include "failing_memory.h"

/* Terms as number and list: TERMS(TN_AT(1), TN_ALL). */
#define TERMS(...)                                                                                 \
	(int)(sizeof((struct tn_index_term[]){__VA_ARGS__}) / sizeof(struct tn_index_term)),       \
		((const struct tn_index_term[]){__VA_ARGS__})

static tn_array *integers(struct fixture *f, int n, const int64_t *values)
{
	return tn_from_host(context_of(f), TN_I64, SHAPE(n), values);
}

#define INTEGERS(f, ...)                                                                           \
	integers((f), (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)),                   \
		 (const int64_t[]){__VA_ARGS__})

/* ---- Views and copies ------------------------------------------------------------------------*/

static void basic_terms_make_views(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 0, SHAPE(3, 4));
	tn_array *views[] = {tn_index(a, 0, NULL),
			     tn_index(a, TERMS(TN_ELLIPSIS)),
			     tn_index(a, TERMS(TN_AT(-1))),
			     tn_index(a, TERMS(TN_AT(1), TN_AT(2))),
			     tn_index(a, TERMS(TN_SLICE(TN_NONE, TN_NONE, -1), TN_NEW_AXIS)),
			     tn_index(a, TERMS(TN_ELLIPSIS, TN_SLICE(1, 4, 2)))};
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		assert_non_null(views[i]);
		assert_ptr_equal(views[i]->storage, a->storage);
		assert_ptr_not_equal(views[i], a);
	}
	assert_elements(views[2], 8, 9, 10, 11);
	assert_int_equal(views[3]->rank, 0);
	assert_shape(views[4], 3, 1, 4);
	assert_elements(views[5], 1, 3, 5, 7, 9, 11);
	assert_ok(tn_fill(views[3], -1));
	assert_ok(tn_index_put(a, TERMS(TN_ALL, TN_AT(0)), views[3], TN_PUT_ASSIGN));
	assert_elements(a, -1, 1, 2, 3, -1, 5, -1, 7, -1, 9, 10, 11);
}

static void index_arrays_make_copies(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 0, SHAPE(2, 3));
	tn_array *truth = tn_ones(context_of(f), TN_BOOL, SHAPE(2, 3));
	tn_array *scalar = tn_full(context_of(f), TN_I32, 0, NULL, 1);
	const tn_array *copies[] = {
		tn_index(a, TERMS(TN_BY(INTEGERS(f, 0, 1)))), tn_index(a, TERMS(TN_BY(truth))),
		tn_index(a, TERMS(TN_BY(scalar))),
		tn_index(a, TERMS(TN_BY(tn_ones(context_of(f), TN_BOOL, 0, NULL))))};
	for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
		assert_non_null(copies[i]);
		assert_ptr_not_equal(copies[i]->storage, a->storage);
	}
	assert_elements(copies[1], 0, 1, 2, 3, 4, 5);
	assert_elements(copies[2], 3, 4, 5);
	assert_shape(copies[3], 1, 2, 3);
}

/* As numpy.zeros((2, 3, 4, 5)) has them. */
static void common_axes_stay_only_between_neighbours(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 0, SHAPE(2, 3, 4, 5));
	const struct tn_index_term by = TN_BY(INTEGERS(f, 0, 1, 0, 1, 1, 0, 0));
	const struct tn_index_term matrix = TN_BY(tn_zeros(context_of(f), TN_I64, SHAPE(6, 7)));
	assert_shape(tn_index(a, TERMS(TN_ALL, by, by)), 2, 7, 5);
	assert_shape(tn_index(a, TERMS(TN_ALL, matrix, by)), 2, 6, 7, 5);
	assert_shape(tn_index(a, TERMS(by, TN_ALL, by)), 7, 3, 5);
	assert_shape(tn_index(a, TERMS(TN_ALL, by, TN_AT(0))), 2, 7, 5);
	assert_shape(tn_index(a, TERMS(TN_AT(0), TN_ALL, by)), 7, 3, 5);
	assert_shape(tn_index(a, TERMS(TN_ALL, by, TN_NEW_AXIS, by)), 7, 2, 1, 5);
	assert_shape(tn_index(a, TERMS(TN_ALL, TN_ALL, by, TN_ELLIPSIS, by)), 7, 2, 3);
}

/* ---- Writing ---------------------------------------------------------------------------------*/

static void the_last_value_stays(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 0, SHAPE(4));
	const struct tn_index_term by = TN_BY(INTEGERS(f, 1, -1, 1, 3, 1));
	tn_array *v = counted(f, 10, SHAPE(5));
	assert_ok(tn_index_put(a, 1, &by, v, TN_PUT_ASSIGN));
	assert_elements(a, 0, 14, 2, 13);
	assert_ok(tn_index_put(a, 1, &by, v, TN_PUT_ADD));
	assert_elements(a, 0, 50, 2, 37);
	assert_ok(tn_index_put(a, 1, &by, v, TN_PUT_MIN));
	assert_elements(a, 0, 10, 2, 11);
	assert_ok(tn_index_put(a, 1, &by, v, TN_PUT_MAX));
	assert_elements(a, 0, 14, 2, 13);
}

/* Every bit is assigned: -0, NaN and values that a difference would round. */
static void values_arrive_bit_by_bit(void **state)
{
	struct fixture *f = *state;
	const double numbers[] = {-0.0, NAN, 1e300, 0x1p-1074};
	double found[4] = {7, 7, 7, 7};
	tn_array *v = tn_from_host(context_of(f), TN_F64, SHAPE(4), numbers);
	tn_array *a = tn_full(context_of(f), TN_F64, SHAPE(4), -1e-300);
	assert_ok(tn_index_put(a, 1, &TN_BY(INTEGERS(f, 0, 1, 2, 3)), v, TN_PUT_ASSIGN));
	assert_ok(tn_to_host(a, found, sizeof(found)));
	assert_memory_equal(found, numbers, sizeof(found));
}

static void values_may_overlap_the_array(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 0, SHAPE(4));
	tn_array *tail = tn_slice(a, 0, 1, 4, 1);
	const struct tn_index_term back = TN_BY(INTEGERS(f, 3, 2, 1, 0));
	assert_ok(tn_index_put(a, 1, &back, a, TN_PUT_ASSIGN));
	assert_elements(a, 3, 2, 1, 0);
	assert_ok(tn_index_put(a, TERMS(TN_BY(INTEGERS(f, 0, 0, 1))), tail, TN_PUT_ADD));
	assert_elements(a, 6, 2, 1, 0);
	assert_ok(
		tn_index_put(a, TERMS(TN_SLICE(1, 4, 1)), tn_slice(a, 0, 0, 3, 1), TN_PUT_ASSIGN));
	assert_elements(a, 6, 6, 2, 1);
	/* The indices are elements of the array. */
	tn_array *b = INTEGERS(f, 1, 2, 0);
	assert_ok(tn_index_put(b, 1, &TN_BY(b), b, TN_PUT_ASSIGN));
	assert_elements(b, 0, 1, 2);
}

/* Axes that cannot be merged are copied, and back. */
static void any_layout_is_written(void **state)
{
	struct fixture *f = *state;
	tn_array *whole = tn_zeros(context_of(f), TN_I16, SHAPE(3, 2, 4));
	tn_array *a = tn_index(tn_transpose(whole, NULL), TERMS(TN_SLICE(TN_NONE, TN_NONE, -2)));
	tn_array *rows = INTEGERS(f, 0, 1, 0), *columns = INTEGERS(f, 2, 0, 2);
	assert_shape(a, 2, 2, 3);
	assert_ok(tn_index_put(a, TERMS(TN_BY(rows), TN_ALL, TN_BY(columns)),
			       tn_astype(counted(f, 1, SHAPE(3, 1)), TN_I8), TN_PUT_ADD));
	assert_elements(a, 0, 0, 4, 0, 0, 4, 2, 0, 0, 2, 0, 0);
	assert_elements(tn_sum(whole, TN_ALL_AXES, NULL, 0), 12);
}

/* Where there are few indices for many elements, the others are not copied. */
static void few_elements_of_many_are_not_copied(void **state)
{
	struct fixture *f = *state;
	tn_array *whole = counted(f, 0, SHAPE(8, 3, 16));
	tn_array *a = tn_slice(tn_transpose(whole, NULL), 2, INT64_MIN, INT64_MIN, -1);
	const struct tn_index_term terms[] = {TN_BY(INTEGERS(f, 1, -1)), TN_SLICE(1, 3, 1),
					      TN_BY(INTEGERS(f, 7, 0))};
	assert_shape(a, 16, 3, 8);
	tn_ledger_reset(context_of(f));
	tn_array *few = tn_index(a, 3, terms);
	assert_int_equal(ledger_row(f, "copy").native, 0);
	assert_elements(few, 17, 33, 367, 383);
	assert_ok(tn_index_put(a, 3, terms, counted(f, 1, SHAPE(2)), TN_PUT_ADD));
	assert_elements(tn_index(a, 3, terms), 18, 35, 368, 385);
	assert_ok(tn_index_put(a, 3, terms, counted(f, -2, SHAPE(2, 2)), TN_PUT_ASSIGN));
	assert_elements(tn_index(a, 3, terms), -2, -1, 0, 1);
	assert_elements(tn_sum(whole, TN_ALL_AXES, NULL, 0), 384 * 383 / 2 - 800 - 2);
}

static void every_mask_function_agrees(void **state)
{
	struct fixture *f = *state;
	tn_array *a = tn_affine(counted(f, 0, SHAPE(2, 3)), 1, -2);
	tn_array *mask = tn_greater(a, tn_scalar_f32(context_of(f), 0));
	assert_elements(tn_index(a, 1, &TN_BY(mask)), 1, 2, 3);
	assert_elements(tn_extract(mask, a), 1, 2, 3);
	assert_elements(tn_flatnonzero(mask), 3, 4, 5);
	tn_array *b = tn_copy(a), *c = tn_copy(a);
	tn_array *v = counted(f, 7, SHAPE(3));
	assert_ok(tn_index_put(a, 1, &TN_BY(mask), v, TN_PUT_ASSIGN));
	assert_ok(tn_place(b, mask, v));
	assert_ok(tn_putmask(c, mask, v));
	assert_elements(a, -2, -1, 0, 7, 8, 9);
	assert_arrays_close(b, a, 0);
	assert_arrays_close(c, a, 0);
}

/* NumPy takes a mask with an axis of length 0 for one that is false everywhere. */
static void an_empty_mask_selects_nothing(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 0, SHAPE(2, 3, 4));
	tn_array *line = tn_zeros(context_of(f), TN_BOOL, SHAPE(0));
	tn_array *plane = tn_zeros(context_of(f), TN_BOOL, SHAPE(2, 0));
	assert_shape(tn_index(a, TERMS(TN_BY(line))), 0, 3, 4);
	assert_shape(tn_index(a, TERMS(TN_BY(plane))), 0, 4);
	assert_ok(tn_index_put(a, TERMS(TN_BY(plane)), tn_scalar_f32(context_of(f), 9),
			       TN_PUT_ASSIGN));
	assert_arrays_close(a, counted(f, 0, SHAPE(2, 3, 4)), 0);
}

static void copies_cross_devices(void **state)
{
	struct fixture *f = *state;
	tn_array *out = counted(f, 0, SHAPE(2, 2));
	struct tn_device *far = add_device(f, "far", MEMORY_ALONE, 1);
	tn_array *there = tn_to(counted(f, 5, SHAPE(2)), far);
	tn_array *where = tn_to(tn_astype(INTEGERS(f, 0, 1), TN_BOOL), far);
	assert_ok(tn_copyto(out, there, where));
	assert_elements(out, 0, 6, 2, 6);
	assert_ok(tn_copyto(out, there, NULL));
	assert_elements(out, 5, 6, 5, 6);
	/* Arguments that are here already are borrowed. */
	tn_array *here = counted(f, 1, SHAPE(2));
	assert_ok(tn_copyto(out, here, NULL));
	assert_int_equal(here->kept, 0);
	assert_null(tn_choose(INTEGERS(f, 0), 1, (const tn_array *[]){there}, TN_RAISE));
	assert_kept(f, TN_DEVICE, "far");
	assert_null(tn_select(1, (const tn_array *[]){where}, (const tn_array *[]){here}, NULL));
	assert_kept(f, TN_DEVICE, "far");
	assert_null(tn_index(here, TERMS(TN_BY(where))));
	assert_kept(f, TN_DEVICE, "far");
}

/* A device that has memory alone: the host does the work, and is counted. */
static void a_device_of_memory_alone_indexes(void **state)
{
	struct fixture *f = *state;
	f->context.runtime.device = add_device(f, "far", MEMORY_ALONE, 1);
	tn_array *a = counted(f, 0, SHAPE(2, 3));
	tn_array *mask = tn_astype(tn_index(a, TERMS(TN_AT(0))), TN_BOOL);
	tn_ledger_reset(context_of(f));
	assert_elements(tn_index(a, TERMS(TN_ALL, TN_BY(mask))), 1, 2, 4, 5);
	assert_int_equal(ledger_row(f, "take").host, 1);
	assert_ok(tn_index_put(a, TERMS(TN_BY(INTEGERS(f, 1, 1))), counted(f, 7, SHAPE(2, 1)),
			       TN_PUT_ASSIGN));
	assert_elements(a, 0, 1, 2, 8, 8, 8);
	assert_true(ledger_row(f, "scatter_add").host > 0);
}

/* ---- Gradients -------------------------------------------------------------------------------*/

static tn_array *g_index(struct fixture *f, const tn_array *x)
{
	(void)f;
	return tn_index(x, TERMS(TN_SLICE(TN_NONE, TN_NONE, -1), TN_AT(1), TN_NEW_AXIS));
}
static tn_array *g_by(struct fixture *f, const tn_array *x)
{
	return tn_index(x, TERMS(TN_BY(INTEGERS(f, 0, 1, 0, -1))));
}
static tn_array *g_apart(struct fixture *f, const tn_array *x)
{
	return tn_index(x, TERMS(TN_BY(INTEGERS(f, 0, 1, 0)), TN_SLICE(0, 2, 1),
				 TN_BY(INTEGERS(f, 1, 1, 1))));
}
static tn_array *g_mask(struct fixture *f, const tn_array *x)
{
	(void)f;
	return tn_index(x, TERMS(TN_BY(tn_greater(x, tn_affine(x, 0, 0.2)))));
}
static tn_array *g_take_mode(struct fixture *f, const tn_array *x)
{
	return tn_take_mode(x, INTEGERS(f, 7, -9, 2), TN_AXIS_NONE, TN_WRAP);
}
static tn_array *g_compress(struct fixture *f, const tn_array *x)
{
	return tn_compress(INTEGERS(f, 1, 0, 1), x, 1);
}
static tn_array *g_extract(struct fixture *f, const tn_array *x)
{
	return tn_extract(INTEGERS(f, 0, 1, 1, 0, 1), x);
}
static tn_array *g_choose(struct fixture *f, const tn_array *x)
{
	const tn_array *choices[] = {tn_square(x), x};
	return tn_choose(INTEGERS(f, 1, 0), 2, choices, TN_RAISE);
}
static tn_array *g_select(struct fixture *f, const tn_array *x)
{
	const tn_array *conditions[] = {tn_astype(INTEGERS(f, 1, 0), TN_BOOL),
					tn_greater(x, tn_affine(x, 0, 0))};
	const tn_array *choices[] = {tn_square(x), tn_sin(x)};
	return tn_select(2, conditions, choices, x);
}

struct gradient {
	const char *name;
	tn_array *(*f)(struct fixture *f, const tn_array *x);
	struct fixture *fixture;
};

/* Of other elements other derivatives, so that a misplaced one is detected. */
static tn_array *weighted_sum(void *user, tn_array *const *inputs)
{
	const struct gradient *g = user;
	const tn_array *y = g->f(g->fixture, inputs[0]);
	return tn_sum(tn_multiply(y, tn_sin(y)), TN_ALL_AXES, NULL, 0);
}

static void gradients_are_those_of_central_differences(void **state)
{
	struct gradient rows[] = {
		{"index", g_index, NULL},         {"by", g_by, NULL},
		{"apart", g_apart, NULL},         {"mask", g_mask, NULL},
		{"take_mode", g_take_mode, NULL}, {"compress", g_compress, NULL},
		{"extract", g_extract, NULL},     {"choose", g_choose, NULL},
		{"select", g_select, NULL},
	};
	struct fixture *f = *state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tn_gradient_report report = {.struct_size = sizeof(report)};
		tn_array *x = tn_astype(noise(f, 5, SHAPE(2, 3, 2)), TN_F64);
		rows[i].fixture = f;
		if (tn_gradient_check(context_of(f), weighted_sum, &rows[i], 1, &x, 0, 1e-7, 0,
				      &report))
			fail_msg("%s: element %d: tape %.12g, difference %.12g: %s", rows[i].name,
				 (int)report.element, report.tape, report.difference,
				 tn_error(context_of(f))->text);
	}
}

static void complex_elements_have_gradients(void **state)
{
	struct fixture *f = *state;
	tn_array *x = tn_complex(counted(f, 1, SHAPE(3)), counted(f, 4, SHAPE(3)));
	tn_tape *tape = tn_tape_begin(context_of(f));
	assert_ok(tn_tape_watch(tape, x));
	tn_array *y = tn_index(x, 1, &TN_BY(INTEGERS(f, 2, 0, 2)));
	tn_array *loss = tn_sum(tn_multiply(tn_real(y), tn_imag(y)), TN_ALL_AXES, NULL, 0);
	assert_ok(tn_tape_backward(tape, loss, NULL));
	tn_array *dx = tn_tape_gradient(tape, x);
	assert_elements(tn_real(dx), 4, 0, 12);
	assert_elements(tn_imag(dx), 1, 0, 6);
	tn_tape_end(tape);
}

static void writing_is_refused_while_a_tape_records(void **state)
{
	struct fixture *f = *state;
	tn_array *x = counted(f, 0, SHAPE(3)), *a = counted(f, 0, SHAPE(3));
	tn_array *mask = tn_ones(context_of(f), TN_BOOL, SHAPE(3));
	tn_array *matrix = counted(f, 0, SHAPE(2, 2)), *index = INTEGERS(f, 0, 1, 0);
	tn_tape *tape = tn_tape_begin(context_of(f));
	assert_ok(tn_tape_watch(tape, x));
	const struct tn_index_term by = TN_BY(index);
	assert_status(tn_index_put(x, 1, &by, a, TN_PUT_ADD), TN_STATE);
	assert_kept(f, TN_STATE, "has a gradient");
	assert_status(tn_index_put(a, 1, &by, x, TN_PUT_ADD), TN_STATE);
	assert_kept(f, TN_STATE, "cannot be recorded");
	assert_status(tn_index_put(a, TERMS(TN_ALL), x, TN_PUT_ASSIGN), TN_STATE);
	assert_kept(f, TN_STATE, "cannot be recorded");
	assert_status(tn_put(a, index, x, TN_RAISE), TN_STATE);
	assert_kept(f, TN_STATE, "cannot be recorded");
	assert_status(tn_put_along_axis(a, index, x, 0), TN_STATE);
	assert_kept(f, TN_STATE, "cannot be recorded");
	assert_status(tn_place(a, mask, x), TN_STATE);
	assert_kept(f, TN_STATE, "cannot be recorded");
	assert_status(tn_putmask(x, mask, a), TN_STATE);
	assert_kept(f, TN_STATE, "has a gradient");
	assert_status(tn_copyto(a, x, mask), TN_STATE);
	assert_kept(f, TN_STATE, "cannot be recorded");
	assert_status(tn_fill_diagonal(matrix, x, 1), TN_STATE);
	assert_kept(f, TN_STATE, "cannot be recorded");
	assert_elements(a, 0, 1, 2);
	tn_tape_end(tape);
}

/* ---- Bad input -------------------------------------------------------------------------------*/

static const int64_t ones[TN_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

static void bad_terms_are_named(void **state)
{
	struct fixture *f = *state;
	tn_context *context = context_of(f);
	tn_array *a = counted(f, 0, SHAPE(2, 3));
	tn_array *mask = tn_ones(context, TN_BOOL, SHAPE(2, 4));
	const struct tn_index_term unknown = {.kind = 9};
	assert_null(tn_index(a, 1, &unknown));
	assert_kept(f, TN_INVALID_ARGUMENT,
		    "terms[0]: expected a kind of enum tn_index_kind, "
		    "found 9");
	assert_null(tn_index(a, -1, &unknown));
	assert_kept(f, TN_INVALID_ARGUMENT, "n: expected 0 to 33 terms, found -1");
	assert_null(tn_index(a, 2, NULL));
	assert_kept(f, TN_INVALID_ARGUMENT, "terms: expected 2 of them, found NULL");
	assert_null(tn_index(a, TERMS(TN_ALL, TN_SLICE(0, 2, 0))));
	assert_kept(f, TN_INVALID_ARGUMENT, "terms[1]: the step of a slice must not be 0");
	assert_null(tn_index(a, TERMS(TN_ELLIPSIS, TN_AT(0), TN_ELLIPSIS)));
	assert_kept(f, TN_INVALID_ARGUMENT, "terms[2]: expected at most one ellipsis");
	assert_null(tn_index(a, TERMS(TN_ALL, TN_AT(3))));
	assert_kept(f, TN_INVALID_ARGUMENT,
		    "terms[1]: index 3 is out of range: axis 1 has length 3");
	assert_null(tn_index(a, TERMS(TN_AT(-3), TN_BY(INTEGERS(f, 0)))));
	assert_kept(f, TN_INVALID_ARGUMENT, "index -3 is out of range: axis 0 has length 2");
	assert_null(tn_index(a, TERMS(TN_ALL, TN_BY(INTEGERS(f, 0, -4)))));
	assert_kept(f, TN_INVALID_ARGUMENT,
		    "index -4 at position 1 is out of range: axis 1 has length 3");
	assert_null(tn_index(a, TERMS(TN_AT(0), TN_ALL, TN_ALL)));
	assert_kept(f, TN_SHAPE, "the terms index 3 axes, a has shape (2, 3)");
	assert_null(tn_index(a, TERMS(TN_BY(mask))));
	assert_kept(f, TN_SHAPE, "terms[0]: expected a mask of length 3 for axis 1, found 4");
	assert_null(tn_index(a, TERMS(TN_BY(INTEGERS(f, 0, 1)), TN_BY(INTEGERS(f, 0, 1, 2)))));
	assert_kept(f, TN_SHAPE, "shapes (2,) and (3,) do not broadcast together");
	assert_null(tn_index(a, TERMS(TN_BY(a))));
	assert_kept(f, TN_DTYPE, "terms[0]: expected an array of integers or bool, found f32");
}

static void the_most_terms_may_be_too_many_axes(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 0, SHAPE(2, 3)), *deep = tn_ones(context_of(f), TN_F32, 16, ones);
	const struct tn_index_term new_axis = TN_NEW_AXIS, by = TN_BY(INTEGERS(f, 0));
	struct tn_index_term many[33];
	for (int i = 0; i < 33; i++)
		many[i] = new_axis;
	assert_null(tn_index(a, 15, many));
	assert_kept(f, TN_LIMIT, "the result has 17 axes, more than 16");
	assert_null(tn_index(deep, 33, many));
	assert_kept(f, TN_LIMIT, "the result has 49 axes, more than 16");
	many[32] = by;
	assert_status(tn_index_put(deep, 33, many, a, TN_PUT_ADD), TN_LIMIT);
	assert_kept(f, TN_LIMIT, "the result has 48 axes, more than 16");
}

static void bad_values_are_named(void **state)
{
	struct fixture *f = *state;
	tn_context *context = context_of(f);
	tn_array *a = counted(f, 0, SHAPE(2, 3)), *i = INTEGERS(f, 0, 1);
	tn_array *whole = tn_zeros(context, TN_I32, SHAPE(2, 3));
	tn_array *z = tn_zeros(context, TN_C64, SHAPE(2)), *line = counted(f, 0, SHAPE(2));
	const struct tn_index_term by = TN_BY(i);
	assert_status(tn_index_put(a, 1, &by, line, TN_PUT_ASSIGN), TN_SHAPE);
	assert_kept(f, TN_SHAPE, "values: shape (2,) does not broadcast to (2, 3)");
	assert_status(tn_index_put(a, 1, &by, line, 4), TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT, "mode: expected one of enum tn_index_mode, found 4");
	assert_status(tn_index_put(whole, 1, &by, a, TN_PUT_ADD), TN_DTYPE);
	assert_kept(f, TN_DTYPE, "values: f32 are of a higher kind than a's i32");
	assert_ok(tn_index_put(whole, 1, &by, a, TN_PUT_ASSIGN));
	assert_elements(whole, 0, 1, 2, 3, 4, 5);
	assert_status(tn_index_put(z, 1, &by, z, TN_PUT_MAX), TN_DTYPE);
	assert_kept(f, TN_DTYPE, "c64 has no order");
	assert_status(tn_index_put(tn_broadcast_to(line, SHAPE(3, 2)), 1, &by, line, 0),
		      TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT, "share memory");
	assert_status(tn_put(a, line, line, TN_RAISE), TN_DTYPE);
	assert_kept(f, TN_DTYPE, "indices: expected integers, found f32");
	assert_status(tn_put(a, i, line, 3), TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT, "bounds: expected one of enum tn_bounds, found 3");
	assert_status(tn_put_along_axis(a, i, line, 0), TN_SHAPE);
	assert_kept(f, TN_SHAPE, "indices of shape (2,) do not fit (2, 3) along axis 0");
	assert_status(tn_put_along_axis(a, i, line, 2), TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT, "axis: expected an axis of shape (2, 3)");
	assert_status(tn_place(a, line, line), TN_SHAPE);
	assert_kept(f, TN_SHAPE, "mask: shape (2,) has another size than a's (2, 3)");
	assert_status(tn_place(line, i, tn_slice(line, 0, 0, 0, 1)), TN_SHAPE);
	assert_kept(f, TN_SHAPE, "values: expected at least one for 1 elements, found none");
	assert_status(tn_copyto(whole, a, NULL), TN_DTYPE);
	assert_kept(f, TN_DTYPE, "a: f32 is of a higher kind than out's i32");
	assert_status(tn_copyto(a, line, NULL), TN_SHAPE);
	assert_kept(f, TN_SHAPE, "a: shape (2,) does not broadcast to (2, 3)");
	assert_status(tn_copyto(line, line, i), TN_DTYPE);
	assert_kept(f, TN_DTYPE, "where: expected bool, found i64");
	assert_status(tn_fill_diagonal(line, line, 0), TN_SHAPE);
	assert_kept(f, TN_SHAPE, "expected a matrix, or more axes of one length, found shape (2,)");
	assert_status(tn_fill_diagonal(counted(f, 0, SHAPE(2, 2, 3)), line, 0), TN_SHAPE);
	assert_kept(f, TN_SHAPE, "(2, 2, 3)");
	assert_status(tn_fill_diagonal(a, tn_slice(line, 0, 0, 0, 1), 0), TN_SHAPE);
	assert_kept(f, TN_SHAPE, "values: expected at least one");
}

static void bad_indices_are_named(void **state)
{
	struct fixture *f = *state;
	tn_context *context = context_of(f);
	tn_array *a = counted(f, 0, SHAPE(2, 3)), *i = INTEGERS(f, 0, 7), *made[2] = {a, a};
	const tn_array *both[] = {i, a}, *lines[] = {i, i};
	const int64_t shape[] = {2, 3}, negative[] = {2, -3}, huge[] = {94906267, 94906267};
	assert_status(tn_nonzero(tn_scalar_f32(context, 1), made), TN_SHAPE);
	assert_kept(f, TN_SHAPE, "0-d");
	assert_status(tn_nonzero(a, NULL), TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT, "room for 2 arrays");
	assert_status(tn_unravel_index(i, 2, shape, made), TN_INVALID_ARGUMENT);
	assert_null(made[0]);
	assert_kept(f, TN_INVALID_ARGUMENT,
		    "number 7 at position 1 is out of range: the shape has size 6");
	assert_status(tn_unravel_index(i, 0, shape, made), TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT, "rank: expected 1 to 16, found 0");
	assert_status(tn_unravel_index(i, 2, negative, made), TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT, "-3");
	assert_status(tn_unravel_index(i, 2, huge, made), TN_LIMIT);
	assert_kept(f, TN_LIMIT, "shape: (94906267, 94906267) has more than 2^53 elements");
	assert_null(tn_ravel_multi_index(2, lines, shape, NULL));
	assert_kept(f, TN_INVALID_ARGUMENT, "index 7 at position 1");
	assert_null(tn_ravel_multi_index(2, lines, NULL, NULL));
	assert_kept(f, TN_INVALID_ARGUMENT, "shape: expected 2 lengths, found NULL");
	assert_status(tn_ix(2, both, made), TN_SHAPE);
	assert_kept(f, TN_SHAPE, "lines[1]: expected one axis, found shape (2, 3)");
	both[1] = counted(f, 0, SHAPE(2));
	assert_status(tn_ix(2, both, made), TN_DTYPE);
	assert_kept(f, TN_DTYPE, "lines[1]: expected integers or bool, found f32");
	assert_status(tn_diag_indices(context, -1, 2, made), TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT, "n: expected 0 or more, found -1");
	assert_status(tn_tril_indices(context, 2, 0, -1, made), TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT, "-1");
	assert_null(tn_take_mode(a, i, 5, TN_RAISE));
	assert_kept(f, TN_INVALID_ARGUMENT, "axis: expected an axis of shape (2, 3)");
	assert_null(tn_take_mode(tn_slice(a, 0, 0, 0, 1), i, 0, TN_CLIP));
	assert_kept(f, TN_INVALID_ARGUMENT, "the axis has length 0");
	assert_null(tn_compress(a, a, 0));
	assert_kept(f, TN_SHAPE, "condition: expected one axis, found shape (2, 3)");
	assert_null(tn_extract(tn_ones(context, TN_BOOL, SHAPE(7)), a));
	assert_kept(f, TN_INVALID_ARGUMENT, "true element 6 at position 6 is out of range: a has");
	assert_null(tn_choose(i, 0, lines, TN_RAISE));
	assert_kept(f, TN_INVALID_ARGUMENT, "n: expected 1 or more choices, found 0");
	assert_null(tn_choose(i, 2, NULL, TN_RAISE));
	assert_kept(f, TN_INVALID_ARGUMENT, "choices is NULL");
	assert_null(tn_choose(i, 2, lines, TN_RAISE));
	assert_kept(f, TN_INVALID_ARGUMENT, "index 7 at position 1 is out of range: the number of");
	assert_null(tn_select(2, lines, lines, NULL));
	assert_kept(f, TN_DTYPE, "conditions[0]: expected bool, found i64");
}

static void nothing_gives_nothing(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 0, SHAPE(2)), *none = NULL;
	assert_null(tn_index(NULL, 0, NULL));
	assert_null(tn_index(a, TERMS(TN_ALL, TN_BY(NULL))));
	assert_kept(f, TN_INVALID_ARGUMENT, "terms[1]: expected an array, found NULL");
	tn_array *pair[2] = {a, a};
	assert_ok(tn_tril_indices(context_of(f), (int64_t)1 << 50, 0, 0, pair));
	assert_shape(pair[1], 0);
	assert_status(tn_index_put(a, 0, NULL, NULL, 0), TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT, "operand 1 is NULL");
	assert_status(tn_nonzero(NULL, &none), TN_INVALID_ARGUMENT);
	assert_null(tn_argwhere(NULL));
	assert_null(tn_flatnonzero(NULL));
	assert_null(tn_ravel_multi_index(1, NULL, NULL, NULL));
	assert_status(tn_ix(0, NULL, NULL), TN_INVALID_ARGUMENT);
	assert_status(tn_diag_indices(NULL, 1, 1, &none), TN_INVALID_ARGUMENT);
	assert_null(tn_take_mode(NULL, a, 0, 0));
	assert_kept(f, TN_INVALID_ARGUMENT, "operand 0 is NULL");
	assert_null(tn_compress(NULL, a, 0));
	assert_kept(f, TN_INVALID_ARGUMENT, "operand 0 is NULL");
	assert_null(tn_select(0, NULL, NULL, NULL));
	assert_status(tn_copyto(a, NULL, NULL), TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT, "operand 1 is NULL");
	assert_null(tn_index(a, TERMS(TN_AT(5))));
	assert_null(tn_flatnonzero(a));
	assert_status(tn_put(a, a, a, 0), TN_PENDING_ERROR);
	assert_kept(f, TN_INVALID_ARGUMENT, "index 5");
}

/* ---- Memory ----------------------------------------------------------------------------------*/

static int count_arrays(const struct fixture *f)
{
	int n = 0;
	for (const tn_array *a = f->context.runtime.scope->arrays; a; a = a->next)
		n++;
	return n;
}

struct given {
	tn_array *a, *line, *index, *mask, *truth, *z, *one;
};

/* One array, or more, of each function; the number that there are, or 0 on failure. */
static int make_each(struct fixture *f, const struct given *g)
{
	const struct tn_index_term by = TN_BY(g->index), mask = TN_BY(g->mask);
	const tn_array *lines[] = {g->index, g->truth}, *conditions[] = {g->truth, g->truth};
	const tn_array *places[] = {g->index, g->index}, *choices[] = {g->line, g->line};
	tn_array *parts[8] = {NULL};
	const tn_array *made[] = {tn_index(g->a, TERMS(TN_AT(0), TN_ALL)),
				  tn_index(g->a, TERMS(by, by)),
				  tn_index(g->a, TERMS(TN_NEW_AXIS, mask)),
				  tn_argwhere(g->a),
				  tn_flatnonzero(g->z),
				  tn_ravel_multi_index(2, places, (int64_t[]){2, 3}, NULL),
				  tn_take_mode(g->a, g->index, 0, TN_CLIP),
				  tn_compress(g->truth, g->a, 0),
				  tn_extract(g->mask, g->a),
				  tn_choose(g->index, 2, choices, TN_RAISE),
				  tn_select(2, conditions, choices, g->line)};
	const int n = sizeof(made) / sizeof(made[0]);
	for (int i = 0; i < n; i++)
		if (!made[i])
			return 0;
	if (tn_nonzero(g->a, parts) ||
	    tn_unravel_index(g->index, 2, (int64_t[]){2, 3}, parts + 2) ||
	    tn_ix(2, lines, parts + 4) || tn_diag_indices(context_of(f), 3, 1, parts + 6) ||
	    tn_tril_indices(context_of(f), 3, 0, 3, parts + 6))
		return 0;
	return n + 9;
}

static int write_each(const struct given *g)
{
	const struct tn_index_term by[] = {TN_BY(g->index), TN_BY(g->index)};
	const struct tn_index_term mask = TN_BY(g->mask);
	for (uint32_t mode = TN_PUT_ASSIGN; mode <= TN_PUT_MAX; mode++)
		if (tn_index_put(g->a, 1, by, g->line, mode) ||
		    tn_index_put(tn_transpose(g->a, NULL), 2, by, g->line, mode))
			return 0;
	return !tn_index_put(g->a, 1, &mask, g->one, TN_PUT_ASSIGN) &&
	       !tn_index_put(g->z, 1, by, g->z, TN_PUT_ASSIGN) &&
	       !tn_put(g->a, g->index, g->a, TN_WRAP) &&
	       !tn_put_along_axis(g->line, g->index, g->line, 0) &&
	       !tn_place(g->a, g->mask, g->line) && !tn_putmask(g->a, g->mask, g->line) &&
	       !tn_copyto(g->a, g->line, g->mask) && !tn_fill_diagonal(g->a, g->line, 0) &&
	       !tn_fill_diagonal(tn_transpose(g->a, NULL), g->line, 1);
}

static struct given given_arrays(struct fixture *f)
{
	tn_array *a = counted(f, 0, SHAPE(2, 3)), *line = counted(f, 0, SHAPE(3));
	return (struct given){.a = a,
			      .line = line,
			      .index = INTEGERS(f, 0, 1, 1),
			      .mask = tn_astype(a, TN_BOOL),
			      .truth = tn_astype(INTEGERS(f, 1, 0, 0), TN_BOOL),
			      .z = tn_complex(line, line),
			      .one = tn_scalar_f32(context_of(f), 1)};
}

static void a_composition_leaves_its_result_alone(void **state)
{
	struct fixture *f = *state;
	const struct given g = given_arrays(f);
	const int before = count_arrays(f);
	const int made = make_each(f, &g);
	assert_true(made);
	assert_int_equal(count_arrays(f) - before, made);
	assert_true(write_each(&g));
	/* Those that are transposed for it. */
	assert_int_equal(count_arrays(f) - before, made + 5);
}

static void memory_runs_out_everywhere(void **state)
{
	struct fixture *f = *state;
	const struct given g = given_arrays(f);
	int worked = 0, n = 0;
	for (; !worked && n < 10000; n++) {
		assert_ok(tn_scope_begin(context_of(f)));
		memory_fails_at(n, 1);
		worked = make_each(f, &g) && write_each(&g);
		memory_works();
		if (!worked) {
			assert_non_null(tn_error(context_of(f)));
			assert_int_equal(tn_error(context_of(f))->status, TN_OUT_OF_MEMORY);
		}
		tn_error_clear(context_of(f));
		tn_scope_end(context_of(f), NULL);
		tn_pool_trim(f->context.runtime.device);
	}
	assert_true(worked && n > 100);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
	const struct CMUnitTest tests[] = {
		TEST(basic_terms_make_views),
		TEST(index_arrays_make_copies),
		TEST(common_axes_stay_only_between_neighbours),
		TEST(the_last_value_stays),
		TEST(values_arrive_bit_by_bit),
		TEST(values_may_overlap_the_array),
		TEST(any_layout_is_written),
		TEST(few_elements_of_many_are_not_copied),
		TEST(every_mask_function_agrees),
		TEST(an_empty_mask_selects_nothing),
		TEST(copies_cross_devices),
		TEST(a_device_of_memory_alone_indexes),
		TEST(gradients_are_those_of_central_differences),
		TEST(complex_elements_have_gradients),
		TEST(writing_is_refused_while_a_tape_records),
		TEST(bad_terms_are_named),
		TEST(the_most_terms_may_be_too_many_axes),
		TEST(bad_values_are_named),
		TEST(bad_indices_are_named),
		TEST(nothing_gives_nothing),
		TEST(a_composition_leaves_its_result_alone),
		TEST(memory_runs_out_everywhere),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
