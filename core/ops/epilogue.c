/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Runs bias, residual and activation as one map after a call whose entry does not include them,
 * and their gradient.
 */
#include "ops/epilogue.h"

#include "ops/copy.h"
#include "ops/map.h"

enum { ACTIVATIONS = TN_ACTIVATION_GELU + 1, MOST_TERMS = 3 };

/* Of the result y of a layer, of it and a bias or a residual, or of all three. */
static const char *const term_names[MOST_TERMS] = {"y", "y term", "y bias residual"};

/* By activation, over such a sum. */
static const char *const texts[ACTIVATIONS][MOST_TERMS] = {
	[TN_ACTIVATION_NONE] = {"z = y", "z = y + term", "z = y + bias + residual"},
	[TN_ACTIVATION_RELU] = {"z = y <= 0 ? 0 : y", "sum = y + term\nz = sum <= 0 ? 0 : sum",
				"sum = y + bias + residual\nz = sum <= 0 ? 0 : sum"},
	[TN_ACTIVATION_RELU6] = {"z = min(max(y, 0), 6)", "z = min(max(y + term, 0), 6)",
				 "z = min(max(y + bias + residual, 0), 6)"},
	[TN_ACTIVATION_SIGMOID] = {"z = sigmoid(y)", "z = sigmoid(y + term)",
				   "z = sigmoid(y + bias + residual)"},
	[TN_ACTIVATION_TANH] = {"z = tanh(y)", "z = tanh(y + term)",
				"z = tanh(y + bias + residual)"},
	[TN_ACTIVATION_SILU] = {"z = y * sigmoid(y)", "sum = y + term\nz = sum * sigmoid(sum)",
				"sum = y + bias + residual\nz = sum * sigmoid(sum)"},
	[TN_ACTIVATION_GELU] = {"z = y * (1 + erf(y * 0.70710678118654752)) * 0.5",
				"sum = y + term\n"
				"z = sum * (1 + erf(sum * 0.70710678118654752)) * 0.5",
				"sum = y + bias + residual\n"
				"z = sum * (1 + erf(sum * 0.70710678118654752)) * 0.5"},
};

static const struct tn_formula pass_relu = {.text = "dresidual = y > 0 ? dy : 0", .inputs = "dy y"};
static const struct tn_formula pass_relu6 = {.text = "dresidual = y > 0 && y < 6 ? dy : 0",
					     .inputs = "dy y"};

tn_status tn_activation_check(struct tn_runtime *runtime, const char *operation,
			      uint32_t activation, uint32_t last)
{
	if (activation <= last)
		return TN_OK;
	return tn_fail(&runtime->report, TN_INVALID_ARGUMENT, operation,
		       "activation: expected 0 to %u, found %u", last, activation);
}

tn_status tn_epilogue_run(struct tn_runtime *runtime, tn_array *y, const tn_array *bias,
			  const tn_array *residual, uint32_t activation)
{
	const tn_array *terms[MOST_TERMS] = {y};
	int n = 1;
	if (bias)
		terms[n++] = bias;
	if (residual)
		terms[n++] = residual;
	if (n == 1 && activation == TN_ACTIVATION_NONE)
		return TN_OK;
	const struct tn_formula formula = {.text = texts[activation][n - 1],
					   .inputs = term_names[n - 1]};
	return tn_formula_map(runtime, TN_DO_EPILOGUE, &formula, terms, &y, NULL);
}

tn_status tn_epilogue_backward(struct tn_runtime *runtime, tn_array *dresidual, const tn_array *dy,
			       const tn_array *result, uint32_t activation)
{
	const tn_array *inputs[] = {dy, result};
	if (activation == TN_ACTIVATION_NONE)
		return tn_copy_run(runtime, TN_DO_EPILOGUE, dresidual, dy);
	return tn_formula_map(runtime, TN_DO_EPILOGUE,
			      activation == TN_ACTIVATION_RELU ? &pass_relu : &pass_relu6, inputs,
			      &dresidual, NULL);
}
