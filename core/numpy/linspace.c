/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Numbers between two ends, evenly spaced or by a common ratio, in NumPy's order of operations:
 * computed in f64 and then converted.
 */
#include <tenon/manipulate.h>

#include <inttypes.h>
#include <math.h>

#include "array/make.h"
#include "base/dtype.h"
#include "ops/index_formula.h"

/* The scalars of the texts. */
struct space {
	double start;
	double stop;
	double step;
	double divisor; /* 1, unless the step is rounded to 0 */
	double last;    /* the index whose element is `stop` itself, or -1 */
	double base;
	double first; /* the first and the last element of a geometric sequence */
	double end;
	double sign;
};
static const char scalar_names[] = "start stop step divisor last base first end sign";

/* NumPy rounds the product and the sum, and floors of integers would show a difference. */
#define EVENLY                                                                                     \
	"i = f64(index(0)); even = i == last ? stop : mul_rounded(i / divisor, step) + start\n"

static struct space space_between(double start, double stop, int64_t num, int endpoint)
{
	const double parts = (double)(endpoint ? num - 1 : num), delta = stop - start;
	struct space space = {.start = start,
			      .stop = stop,
			      .step = parts > 0 ? delta / parts : delta,
			      .divisor = 1,
			      .last = endpoint && num > 1 ? (double)(num - 1) : -1};
	if (space.step == 0 && parts > 0) {
		space.step = delta;
		space.divisor = parts;
	}
	return space;
}

/* The exponent, or the number itself, of the element before which all others are. */
static double last_of(const struct space *space, int64_t num)
{
	return space->last >= 0 ? space->stop
				: space->start + (double)(num > 0 ? num - 1 : 0) * space->step;
}

/* `ends` are the first and the last element; the others lie between them. */
static tn_array *make_space(tn_context *context, const char *operation, tn_dtype dtype, int64_t num,
			    const char *text, const struct space *space, const double ends[2])
{
	const struct tn_formula formula = {
		.text = text, .scalars = scalar_names, .scalar_dtype = TN_F64};
	const double scalars[] = {space->start,   space->stop, space->step,
				  space->divisor, space->last, space->base,
				  space->first,   space->end,  space->sign};
	struct tn_runtime *runtime = tn_runtime_of(context);
	if (tn_runtime_ready(runtime))
		return NULL;
	if (num < 0) {
		tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, operation,
				"num: expected 0 or more, found %" PRId64, num);
		return NULL;
	}
	for (int k = 0; k < 2 && k < num; k++) {
		if (tn_dtype_holds(dtype, ends[k]))
			continue;
		tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, operation,
				"element: %g does not fit %s", ends[k], tn_dtype_name(dtype));
		return NULL;
	}
	return tn_index_formula_make(runtime->device, operation, dtype, 1, &num, &formula, scalars);
}

tn_array *tn_linspace(tn_context *context, tn_dtype dtype, double start, double stop, int64_t num,
		      int endpoint)
{
	const struct space space = space_between(start, stop, num, endpoint);
	if (!context)
		return NULL;
	return make_space(context, "linspace", dtype, num,
			  tn_is_integer(dtype) ? EVENLY "z = floor(even)" : EVENLY "z = even",
			  &space, (const double[]){floor(start), floor(last_of(&space, num))});
}

tn_array *tn_logspace(tn_context *context, tn_dtype dtype, double start, double stop, int64_t num,
		      int endpoint, double base)
{
	struct space space = space_between(start, stop, num, endpoint);
	space.base = base;
	if (!context)
		return NULL;
	return make_space(context, "logspace", dtype, num, EVENLY "z = pow(base, even)", &space,
			  (const double[]){pow(base, start), pow(base, last_of(&space, num))});
}

tn_array *tn_geomspace(tn_context *context, tn_dtype dtype, double start, double stop, int64_t num,
		       int endpoint)
{
	const double sign = start < 0 ? -1 : 1;
	struct space space = space_between(log10(sign * start), log10(sign * stop), num, endpoint);
	space.base = 10;
	space.first = start;
	space.end = stop;
	space.sign = sign;
	if (!context || tn_runtime_ready(tn_runtime_of(context)))
		return NULL;
	if (start == 0 || stop == 0) {
		tn_runtime_fail(tn_runtime_of(context), TN_INVALID_ARGUMENT, "geomspace",
				"start, stop: expected numbers other than 0, found %g and %g",
				start, stop);
		return NULL;
	}
	return make_space(
		context, "geomspace", dtype, num,
		EVENLY "z = i == 0 ? first : i == last ? end : sign * pow(base, even)", &space,
		(const double[]){start,
				 space.last >= 0 ? stop : sign * pow(10, last_of(&space, num))});
}
