/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Calls with options, reduce, accumulate, outer and at against recorded NumPy numbers, with compact
 * operands and with strided ones; where NumPy raises an error, there is one here.
 */
#include "parity/functions.h"
#include "parity/numpy.h"
#include "parity/parity.h"

/* One call. */
struct call {
	tn_context *context;
	const struct record *record;
	const tn_ufunc *ufunc;
	const char *method;
	const tn_array *x, *y;
	struct tn_ufunc_options o;
	tn_number initial;
	int is_strided;
};

static int64_t setting(const struct call *c, const char *name)
{
	const int64_t *values = record_ints(c->record, name);
	return values ? values[0] : 0;
}

static tn_array *operand(const struct call *c, const char *name, tn_dtype dtype)
{
	return numpy_array(c->context, c->record, name, dtype, c->is_strided);
}

/* ---- The methods -----------------------------------------------------------------------------*/

static tn_array *call(struct call *c)
{
	const tn_array *inputs[] = {c->x, c->y};
	const tn_dtype dtype = (tn_dtype)setting(c, "out");
	if (dtype)
		c->o.out = tn_ones(c->context, dtype, 2, (int64_t[]){2, 3});
	return tn_ufunc_call(c->ufunc, c->y ? 2 : 1, inputs, &c->o);
}

static tn_array *reduce(struct call *c)
{
	const int64_t *axes = record_ints(c->record, "axes");
	int listed[TN_MAX_RANK];
	for (int i = 0; i < axes[0]; i++)
		listed[i] = (int)axes[i + 1];
	return tn_ufunc_reduce(c->ufunc, c->x, (int)axes[0], listed, (int)setting(c, "keepdims"),
			       &c->o);
}

static tn_array *accumulate(struct call *c)
{
	return tn_ufunc_accumulate(c->ufunc, c->x, (int)record_ints(c->record, "axes")[1], &c->o);
}

static tn_array *outer(struct call *c)
{
	return tn_ufunc_outer(c->ufunc, c->x, c->y, &c->o);
}

static tn_array *at(struct call *c)
{
	tn_array *a = (tn_array *)(uintptr_t)c->x;
	const tn_array *indices = operand(c, "indices", TN_I64);
	return tn_ufunc_at(c->ufunc, a, indices, c->y) ? NULL : a;
}

static const struct {
	const char *name;
	tn_array *(*f)(struct call *c);
} methods[] = {
	{"call", call},   {"reduce", reduce}, {"accumulate", accumulate},
	{"outer", outer}, {"at", at},
};

/* ---- Cases -----------------------------------------------------------------------------------*/

static void check_casts(const struct record *record)
{
	static const char *const rules[] = {"same_kind", "no", "equiv", "safe", "unsafe"};
	const int64_t *dtypes = record_ints(record, "dtype");
	for (uint32_t rule = 0; rule < 5; rule++) {
		const struct record_array *array = record_array(record, rules[rule]);
		for (int64_t i = 0; i < array->shape[0]; i++) {
			for (int64_t j = 0; j < array->shape[1]; j++) {
				const tn_dtype from = (tn_dtype)dtypes[i], to = (tn_dtype)dtypes[j];
				const int expected = array->values[i * array->shape[1] + j] != 0;
				if (tn_can_cast(from, to, rule) != expected)
					fail_msg("%s to %s, %s: NumPy has %d", tn_dtype_name(from),
						 tn_dtype_name(to), rules[rule], expected);
			}
		}
	}
}

static tn_array *run_method(struct call *c)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		if (strcmp(methods[i].name, c->method) == 0)
			return methods[i].f(c);
	}
	fail_msg("the method %s is not known", c->method);
	return NULL;
}

static void run_case(struct call *c)
{
	const int64_t *dtypes = record_ints(c->record, "dtype");
	const tn_dtype expected = (tn_dtype)setting(c, "result");
	const struct record_array *initial = record_array(c->record, "initial");
	c->x = operand(c, "x", (tn_dtype)dtypes[0]);
	c->y = operand(c, "y", (tn_dtype)dtypes[1]);
	c->o = (struct tn_ufunc_options){.struct_size = sizeof(c->o),
					 .casting = (uint32_t)setting(c, "casting"),
					 .dtype = (tn_dtype)setting(c, "asked"),
					 .where = operand(c, "where", TN_BOOL)};
	if (initial) {
		c->initial = tn_number_f64(initial->values[0]);
		c->o.initial = &c->initial;
	}
	const tn_array *r = run_method(c);
	if (expected) {
		numpy_expect(c->context, c->record, "r", r, expected);
		return;
	}
	if (r || !tn_error(c->context))
		fail_msg("%s of %s: NumPy raises an error", c->record->layer,
			 tn_dtype_name((tn_dtype)dtypes[0]));
	tn_error_clear(c->context);
}

static void check(tn_context *context, const struct record *record, int number)
{
	char name[RECORD_NAME];
	(void)number;
	memcpy(name, record->layer, RECORD_NAME);
	char *method = strchr(name, '.');
	if (!method) {
		check_casts(record);
		return;
	}
	*method++ = '\0';
	struct call c = {.context = context,
			 .record = record,
			 .ufunc = tn_ufunc_find(name),
			 .method = method};
	if (!c.ufunc)
		fail_msg("the function %s is not known", name);
	for (c.is_strided = 0; c.is_strided < 2; c.is_strided++) {
		assert_ok(tn_scope_begin(context));
		run_case(&c);
		tn_scope_end(context, NULL);
	}
}

/* The first case in f64 of each method of two functions, of which one reorders. */
static int is_of_the_brief(const struct record *record, int number)
{
	const int is_chosen = strncmp(record->layer, "hypot.", 6) == 0 ||
			      strncmp(record->layer, "subtract.", 9) == 0;
	return is_chosen && record_ints(record, "dtype")[0] == TN_F64 &&
	       parity_is_first(record, number);
}

const struct parity parity = {
	.claim = "has_numpys_methods",
	.records = {{"ufunc_methods.txt", 1517}},
	.check = check,
	.is_brief = is_of_the_brief,
};
