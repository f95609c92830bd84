/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Applies the activations of an epilogue to numbers, and says where their gradient passes.
 */
#include "reference/activation.h"

#include <math.h>

tn_status tn_reference_check_activation(const struct tn_call *call, const char *operation,
					uint32_t activation)
{
	if (activation <= TN_ACTIVATION_GELU)
		return TN_OK;
	return tn_reference_fail(call, TN_UNSUPPORTED, operation, "activation %u: expected 0 to %d",
				 activation, TN_ACTIVATION_GELU);
}

double tn_reference_activate(uint32_t activation, double x)
{
	switch (activation) {
	case TN_ACTIVATION_RELU:
		return x <= 0 ? 0 : x;
	case TN_ACTIVATION_RELU6:
		/* A NaN is neither below nor above, so it stays. */
		if (x <= 0)
			return 0;
		return x > 6 ? 6 : x;
	case TN_ACTIVATION_SIGMOID:
		return 1 / (1 + exp(-x));
	case TN_ACTIVATION_TANH:
		return tanh(x);
	case TN_ACTIVATION_SILU:
		return x / (1 + exp(-x));
	case TN_ACTIVATION_GELU:
		return x * erfc(-x / sqrt(2)) / 2;
	default:
		return x;
	}
}

int tn_reference_passes(uint32_t activation, double result)
{
	if (activation == TN_ACTIVATION_NONE)
		return 1;
	return result > 0 && (activation == TN_ACTIVATION_RELU || result < 6);
}

void tn_reference_finish(uint32_t activation, double *values, const double *residual, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		values[i] = tn_reference_activate(activation,
						  residual ? values[i] + residual[i] : values[i]);
}
