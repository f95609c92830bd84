/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Local response norm.  The mean of squares over neighbouring channels is an average pool over
 * pictures (N, 1, C, cells).
 */
#include <tenon/autograd.h>

#include "array/array.h"
#include "ops/formula.h"

/* The mean of x^2 over the window of each channel, of x's shape. */
static tn_array *mean_squares(const tn_array *x, int64_t size)
{
	const struct tn_pool2d_options window = {.struct_size = sizeof(window),
						 .kernel = {size, 1},
						 .stride = {1, 1},
						 .padding = {size / 2, 0}};
	int64_t cells = 1;
	for (int i = 2; i < x->rank; i++)
		cells *= x->shape[i];
	tn_array *squares = tn_square(x);
	tn_array *lines =
		tn_reshape(squares, 4, (const int64_t[]){x->shape[0], 1, x->shape[1], cells});
	tn_array *means = tn_avg_pool2d(lines, &window);
	/* An even window has a place too many: PyTorch pads size / 2 before and less after. */
	tn_array *own = tn_slice(means, 2, 0, x->shape[1], 1);
	tn_array *y = tn_reshape(own, x->rank, x->shape);
	tn_array *const temporaries[] = {squares, lines, means, own};
	for (size_t i = 0; i < sizeof(temporaries) / sizeof(temporaries[0]); i++)
		tn_array_destroy(temporaries[i]);
	return y;
}

tn_array *tn_local_response_norm(const tn_array *x, int64_t size,
				 const struct tn_local_response_norm_options *options)
{
	static const struct tn_formula normalized = {
		.text = "y = x * (k + alpha * mean_square) ** -beta",
		.inputs = "x mean_square",
		.scalars = "k alpha beta"};
	struct tn_local_response_norm_options o = tn_local_response_norm_defaults();
	if (!x || tn_runtime_ready(x->runtime) ||
	    tn_runtime_take(x->runtime, &o, sizeof(o), options,
			    "struct tn_local_response_norm_options", "local_response_norm"))
		return NULL;
	if (x->rank < 3 || size < 1 || size > INT32_MAX) {
		tn_runtime_fail(x->runtime, x->rank < 3 ? TN_SHAPE : TN_INVALID_ARGUMENT,
				"local_response_norm",
				"expected x (N, C, ...) of rank 3 at least and a size of at least "
				"1, found rank %d and %lld",
				x->rank, (long long)size);
		return NULL;
	}
	const tn_number scalars[] = {tn_number_f64(o.k), tn_number_f64(o.alpha),
				     tn_number_f64(o.beta)};
	tn_array *means = mean_squares(x, size);
	tn_array *y = tn_formula_map_number(&normalized, (const tn_array *[]){x, means}, scalars);
	tn_array_destroy(means);
	return y;
}
