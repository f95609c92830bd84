/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The functions of <tenon/index.h> against recorded NumPy results, in several layouts.
 */
#include "parity/layouts.h"
#include "parity/parity.h"

enum { MOST = 16 };

struct trial {
	tn_context *context;
	const struct record *record;
	enum layout layout;
	int n_x, n_y;
	tn_array *x[MOST], *y[MOST];
	const int64_t *args;
	int n_args;
};

/* ---- The functions ---------------------------------------------------------------------------*/

static const tn_array *const *inputs(const struct trial *t)
{
	return (const tn_array *const *)t->x;
}

static tn_status nonzero(struct trial *t)
{
	return tn_nonzero(t->x[0], t->y);
}
static tn_status argwhere(struct trial *t)
{
	t->y[0] = tn_argwhere(t->x[0]);
	return TN_OK;
}
static tn_status flatnonzero(struct trial *t)
{
	t->y[0] = tn_flatnonzero(t->x[0]);
	return TN_OK;
}
static tn_status unravel_index(struct trial *t)
{
	return tn_unravel_index(t->x[0], t->n_args, t->args, t->y);
}
static tn_status ravel_multi_index(struct trial *t)
{
	uint32_t bounds[MOST];
	for (int i = 0; i < t->n_x; i++)
		bounds[i] = (uint32_t)t->args[t->n_x + i];
	t->y[0] = tn_ravel_multi_index(t->n_x, inputs(t), t->args, bounds);
	return TN_OK;
}
static tn_status ix(struct trial *t)
{
	return tn_ix(t->n_x, inputs(t), t->y);
}
static tn_status diag_indices(struct trial *t)
{
	return tn_diag_indices(t->context, t->args[0], (int)t->args[1], t->y);
}
static tn_status tril_indices(struct trial *t)
{
	return tn_tril_indices(t->context, t->args[0], t->args[1], t->args[2], t->y);
}
static tn_status triu_indices(struct trial *t)
{
	return tn_triu_indices(t->context, t->args[0], t->args[1], t->args[2], t->y);
}
static tn_status take(struct trial *t)
{
	t->y[0] = tn_take(t->x[0], t->x[1], (int)t->args[0], (uint32_t)t->args[1]);
	return TN_OK;
}
static tn_status compress(struct trial *t)
{
	t->y[0] = tn_compress(t->x[0], t->x[1], (int)t->args[0]);
	return TN_OK;
}
static tn_status extract(struct trial *t)
{
	t->y[0] = tn_extract(t->x[0], t->x[1]);
	return TN_OK;
}
static tn_status choose(struct trial *t)
{
	t->y[0] = tn_choose(t->x[0], t->n_x - 1, inputs(t) + 1, (uint32_t)t->args[0]);
	return TN_OK;
}
static tn_status choose_of(struct trial *t)
{
	const int n = (int)t->args[0];
	t->y[0] = tn_select(n, inputs(t), inputs(t) + n, 2 * n < t->n_x ? t->x[2 * n] : NULL);
	return TN_OK;
}
static tn_status put(struct trial *t)
{
	t->y[0] = t->x[0];
	return tn_put(t->x[0], t->x[1], t->x[2], (uint32_t)t->args[0]);
}
static tn_status put_along_axis(struct trial *t)
{
	t->y[0] = t->x[0];
	return tn_put_along_axis(t->x[0], t->x[1], t->x[2], (int)t->args[0]);
}
static tn_status place(struct trial *t)
{
	t->y[0] = t->x[0];
	return tn_place(t->x[0], t->x[1], t->x[2]);
}
static tn_status putmask(struct trial *t)
{
	t->y[0] = t->x[0];
	return tn_putmask(t->x[0], t->x[1], t->x[2]);
}
static tn_status copyto(struct trial *t)
{
	t->y[0] = t->x[0];
	return tn_copyto(t->x[0], t->x[1], t->n_x > 2 ? t->x[2] : NULL);
}
static tn_status fill_diagonal(struct trial *t)
{
	t->y[0] = t->x[0];
	return tn_fill_diagonal(t->x[0], t->x[1], (int)t->args[0]);
}

static const struct {
	const char *name;
	tn_status (*f)(struct trial *t);
} rows[] = {
	{"nonzero", nonzero},
	{"argwhere", argwhere},
	{"flatnonzero", flatnonzero},
	{"unravel_index", unravel_index},
	{"ravel_multi_index", ravel_multi_index},
	{"ix", ix},
	{"diag_indices", diag_indices},
	{"tril_indices", tril_indices},
	{"triu_indices", triu_indices},
	{"take", take},
	{"compress", compress},
	{"extract", extract},
	{"choose", choose},
	{"select", choose_of},
	{"put", put},
	{"put_along_axis", put_along_axis},
	{"place", place},
	{"putmask", putmask},
	{"copyto", copyto},
	{"fill_diagonal", fill_diagonal},
};

/* ---- A case ----------------------------------------------------------------------------------*/

static int read_ints(const struct record *record, const char *name, const int64_t **values)
{
	*values = record_ints(record, name);
	for (int i = 0; i < record->n_ints; i++)
		if (strcmp(record->ints[i].name, name) == 0)
			return record->ints[i].n;
	return 0;
}

static const struct record_array *array_number(const struct trial *t, char letter, int i)
{
	char name[16];
	snprintf(name, sizeof(name), "%c%d", letter, i);
	return record_array(t->record, name);
}

static void run_case(struct trial *t)
{
	const char *name = t->record->layer;
	const int64_t *dtypes, *results;
	size_t row = 0;
	t->n_args = read_ints(t->record, "args", &t->args);
	t->n_x = read_ints(t->record, "dtypes", &dtypes);
	t->n_y = read_ints(t->record, "results", &results);
	assert_ok(tn_scope_begin(t->context));
	for (int i = 0; i < t->n_x; i++)
		t->x[i] = recorded(t->context, array_number(t, 'x', i), (tn_dtype)dtypes[i],
				   t->layout);
	while (row < sizeof(rows) / sizeof(rows[0]) && strcmp(rows[row].name, name) != 0)
		row++;
	if (row == sizeof(rows) / sizeof(rows[0]))
		fail_msg("the function %s is not known", name);
	if (rows[row].f(t))
		fail_msg("%s: %s", name, tn_error(t->context)->text);
	for (int i = 0; i < t->n_y; i++) {
		expect_recorded(t->context, name, array_number(t, 'y', i), t->y[i]);
		if (tn_array_dtype(t->y[i]) != results[i])
			fail_msg("%s: expected %s, found %s", name,
				 tn_dtype_name((tn_dtype)results[i]),
				 tn_dtype_name(tn_array_dtype(t->y[i])));
	}
	tn_scope_end(t->context, NULL);
}

static int is_brief;

/* In all layouts; of the brief choice in one. */
static void check(tn_context *context, const struct record *record, int number)
{
	struct trial t = {.context = context, .record = record};
	(void)number;
	for (int layout = 0; layout < (is_brief ? 1 : LAYOUTS); layout++) {
		t.layout = (enum layout)layout;
		run_case(&t);
	}
}

static int is_first(const struct record *record, int number)
{
	is_brief = 1;
	return parity_is_first(record, number);
}

const struct parity parity = {
	.claim = "has_numpys_functions",
	.records = {{"index_functions.txt", 561}},
	.check = check,
	.is_brief = is_first,
};
