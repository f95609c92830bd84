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

/* The scalars of the texts, in the order of tn_short_scalars: a, b, s, t, u, v, p, q, s8. */
struct space {
	double start;   /* a */
	double stop;    /* b */
	double step;    /* s */
	double divisor; /* t: 1, unless the step is rounded to 0 */
	double last;    /* u: the index whose element is `stop` itself, or -1 */
	double base;    /* v */
	double first;   /* p: the first and the last element of a geometric sequence */
	double end;     /* q */
	double sign;    /* s8 */
};

/* The product r has a second use, which keeps it from being contracted into the sum
 * (interpret/interpret.h): NumPy rounds twice, and floors of integers would show the difference. */
#define EVENLY "i = f64(index(0)); r = i / t * s; w = i == u ? b : r == r ? r + a : r\n"

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

static tn_array *make_space(tn_context *context, const char *operation, tn_dtype dtype, int64_t num,
			    const char *text, const struct space *space)
{
	const struct tn_short_program program = {text, 0, 9, 0, TN_F64};
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
	return tn_index_formula_make(runtime->device, operation, dtype, 1, &num, &program, scalars);
}

tn_array *tn_linspace(tn_context *context, tn_dtype dtype, double start, double stop, int64_t num,
		      int endpoint)
{
	const struct space space = space_between(start, stop, num, endpoint);
	if (!context)
		return NULL;
	return make_space(context, "linspace", dtype, num,
			  tn_is_integer(dtype) ? EVENLY "z = floor(w)" : EVENLY "z = w", &space);
}

tn_array *tn_logspace(tn_context *context, tn_dtype dtype, double start, double stop, int64_t num,
		      int endpoint, double base)
{
	struct space space = space_between(start, stop, num, endpoint);
	space.base = base;
	return context ? make_space(context, "logspace", dtype, num, EVENLY "z = pow(v, w)", &space)
		       : NULL;
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
	return make_space(context, "geomspace", dtype, num,
			  EVENLY "z = i == 0 ? p : i == u ? q : s8 * pow(v, w)", &space);
}
