/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Random orders: those of random keys.  Equal keys, which two in 2^63 are, keep their order.
 */
#include <inttypes.h>

#include <tenon/random.h>

#include "array/make.h"
#include "capture/stepped.h"
#include "ops/axes.h"
#include "ops/take.h"
#include "random/device_draw.h"

/* In the innermost scope, with a failure's draw undone. */
static tn_array *random_order(tn_generator *generator, struct tn_device *device,
			      const char *operation, int rank, const int64_t *shape, int axis)
{
	const struct tn_random_state before = *generator->state;
	struct tn_runtime *runtime = generator->runtime;
	tn_array *keys = tn_draw_keys(generator, device, operation, rank, shape);
	tn_array *order = tn_argsort(keys, axis, 0);
	(void)tn_stepped_end_draw(generator, before, order ? TN_OK : runtime->error.status);
	return order;
}

tn_array *tn_generator_permutation(tn_generator *generator, int64_t n)
{
	if (!generator || tn_runtime_ready(generator->runtime))
		return NULL;
	struct tn_runtime *runtime = generator->runtime;
	if (n < 0) {
		tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "permutation",
				"n: expected at least 0, found %" PRId64, n);
		return NULL;
	}
	if (tn_scope_begin(runtime->context))
		return NULL;
	tn_array *order = random_order(generator, runtime->device, "permutation", 1, &n, 0);
	return tn_scope_end(runtime->context, order);
}

/* The slices of `a` along an axis in random order.  A failure undoes the draw. */
static tn_array *shuffled(tn_generator *generator, const tn_array *a, const char *operation,
			  int axis)
{
	const struct tn_random_state before = *generator->state;
	struct tn_runtime *runtime = generator->runtime;
	tn_array *order =
		random_order(generator, tn_array_home(a), operation, 1, &a->shape[axis], 0);
	tn_array *out = order ? tn_take_checked(a, order, axis, operation, NULL) : NULL;
	(void)tn_stepped_end_draw(generator, before, out ? TN_OK : runtime->error.status);
	return out;
}

tn_array *tn_generator_permutation_of(tn_generator *generator, const tn_array *a, int axis)
{
	struct tn_runtime *runtime = tn_draw_begin(generator, a, "permutation");
	if (!runtime || tn_axis_check(a, "permutation", "axis", &axis) ||
	    tn_scope_begin(runtime->context))
		return NULL;
	return tn_scope_end(runtime->context, shuffled(generator, a, "permutation", axis));
}

tn_status tn_generator_shuffle(tn_generator *generator, tn_array *a, int axis)
{
	struct tn_runtime *runtime = tn_draw_begin(generator, a, "shuffle");
	if (!runtime && generator && generator->runtime->error.status)
		return generator->runtime->error.status;
	if (!runtime)
		return TN_INVALID_ARGUMENT;
	const struct tn_random_state before = *generator->state;
	const tn_array *in = a;
	tn_status status = tn_refuse_tracked(runtime, "shuffle", 1, &in);
	if (!status)
		status = tn_array_writable(runtime, "shuffle", a);
	if (status)
		return tn_end_into(runtime, status);
	status = tn_axis_check(a, "shuffle", "axis", &axis);
	if (!status)
		status = tn_scope_begin(runtime->context);
	if (status)
		return status;
	tn_array *out = shuffled(generator, a, "shuffle", axis);
	status = out ? tn_assign(a, out) : runtime->error.status;
	tn_scope_end(runtime->context, NULL);
	return tn_stepped_end_draw(generator, before, status);
}

tn_array *tn_generator_permuted(tn_generator *generator, const tn_array *a, int axis)
{
	struct tn_runtime *runtime = tn_draw_begin(generator, a, "permuted");
	const int is_flat = axis == TN_AXIS_NONE;
	if (!runtime || tn_scope_begin(runtime->context))
		return NULL;
	const struct tn_random_state before = *generator->state;
	const tn_array *lines = tn_axis_or_flat(a, "permuted", &axis);
	tn_array *order = lines ? random_order(generator, tn_array_home(a), "permuted", lines->rank,
					       lines->shape, axis)
				: NULL;
	tn_array *out = order ? tn_take_along_axis(lines, order, axis) : NULL;
	if (out && is_flat)
		out = tn_reshape(out, a->rank, a->shape);
	(void)tn_stepped_end_draw(generator, before, out ? TN_OK : runtime->error.status);
	return tn_scope_end(runtime->context, out);
}
