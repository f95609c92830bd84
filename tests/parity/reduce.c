/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reductions with options, and without NaN, against recorded NumPy results.
 */
#include "parity/numpy_calls.h"

static tn_array *reduce(struct call *c)
{
	const struct tn_reduce_options options = {
		.struct_size = sizeof(options),
		.keepdims = c->keepdims,
		.where = c->y,
		.initial = setting(c, "initial") ? tn_number_f64(c->numbers[0]) : (tn_number){0},
		.dtype = (tn_dtype)setting(c, "as"),
		.correction = c->numbers[1]};
	return tn_reduce(c->x, (uint32_t)setting(c, "kind"), c->n, c->axes, &options);
}
static tn_array *nancumsum(struct call *c)
{
	return tn_nancumsum(c->x, (int)setting(c, "axis"));
}
static tn_array *nancumprod(struct call *c)
{
	return tn_nancumprod(c->x, (int)setting(c, "axis"));
}
static tn_array *cumulative_sum(struct call *c)
{
	return tn_cumulative_sum(c->x, (int)setting(c, "axis"), (tn_dtype)setting(c, "as"),
				 (int)setting(c, "initial"));
}
static tn_array *cumulative_prod(struct call *c)
{
	return tn_cumulative_prod(c->x, (int)setting(c, "axis"), (tn_dtype)setting(c, "as"),
				  (int)setting(c, "initial"));
}
static tn_array *logcumsumexp(struct call *c)
{
	return tn_logcumsumexp(c->x, (int)setting(c, "axis"));
}
static tn_array *nanquantile(struct call *c)
{
	const struct tn_quantile_options options = quantile_options(c);
	return tn_nanquantile(c->x, TN_SCALAR, c->numbers, &options);
}
static tn_array *nanpercentile(struct call *c)
{
	const struct tn_quantile_options options = quantile_options(c);
	return tn_nanpercentile(c->x, TN_SCALAR, c->numbers, &options);
}
static tn_array *nanquantiles(struct call *c)
{
	const struct tn_quantile_options options = quantile_options(c);
	return tn_nanquantile(c->x, (int64_t)c->n_numbers, c->numbers, &options);
}
static tn_array *nanpercentiles(struct call *c)
{
	const struct tn_quantile_options options = quantile_options(c);
	return tn_nanpercentile(c->x, (int64_t)c->n_numbers, c->numbers, &options);
}

static const struct call_row rows[] = {
	{"reduce", NULL, reduce},
	{"nancumsum", NULL, nancumsum},
	{"nancumprod", NULL, nancumprod},
	{"cumulative_sum", NULL, cumulative_sum},
	{"cumulative_prod", NULL, cumulative_prod},
	{"logcumsumexp", NULL, logcumsumexp},
	{"nanmedian", tn_nanmedian, NULL},
	{"nanquantile", NULL, nanquantile},
	{"nanpercentile", NULL, nanpercentile},
	{"nanquantiles", NULL, nanquantiles},
	{"nanpercentiles", NULL, nanpercentiles},
};

const struct parity parity = {
	.claim = "has_numpys_reductions",
	.records = {{"reduce.txt", 648}},
	.check = check_call,
	.rows = rows,
	.n_rows = sizeof(rows) / sizeof(rows[0]),
	.is_brief = parity_is_first_in_f32,
};
