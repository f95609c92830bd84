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

/* By activation, over a sum of 1, 2 or 3 terms. */
static const char *const texts[ACTIVATIONS][MOST_TERMS] = {
	[TN_ACTIVATION_NONE] = {"z = x", "z = x + y", "z = x + y + c"},
	[TN_ACTIVATION_RELU] = {"z = x <= 0 ? 0 : x", "v = x + y\nz = v <= 0 ? 0 : v",
				"v = x + y + c\nz = v <= 0 ? 0 : v"},
	[TN_ACTIVATION_RELU6] = {"z = min(max(x, 0), 6)", "z = min(max(x + y, 0), 6)",
				 "z = min(max(x + y + c, 0), 6)"},
	[TN_ACTIVATION_SIGMOID] = {"z = sigmoid(x)", "z = sigmoid(x + y)",
				   "z = sigmoid(x + y + c)"},
	[TN_ACTIVATION_TANH] = {"z = tanh(x)", "z = tanh(x + y)", "z = tanh(x + y + c)"},
	[TN_ACTIVATION_SILU] = {"z = x * sigmoid(x)", "v = x + y\nz = v * sigmoid(v)",
				"v = x + y + c\nz = v * sigmoid(v)"},
	[TN_ACTIVATION_GELU] = {"z = x * (1 + erf(x * 0.70710678118654752)) * 0.5",
				"v = x + y\nz = v * (1 + erf(v * 0.70710678118654752)) * 0.5",
				"v = x + y + c\nz = v * (1 + erf(v * 0.70710678118654752)) * 0.5"},
};

static const struct tn_short_program pass_relu = {"z = y > 0 ? x : 0", 2, 0, 0, 0};
static const struct tn_short_program pass_relu6 = {"z = y > 0 && y < 6 ? x : 0", 2, 0, 0, 0};

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
	struct tn_short_program text = {.n_inputs = 1};
	if (bias)
		terms[text.n_inputs++] = bias;
	if (residual)
		terms[text.n_inputs++] = residual;
	if (text.n_inputs == 1 && activation == TN_ACTIVATION_NONE)
		return TN_OK;
	text.text = texts[activation][text.n_inputs - 1];
	return tn_short_map(runtime, TN_DO_EPILOGUE, &text, terms, &y, NULL);
}

tn_status tn_epilogue_backward(struct tn_runtime *runtime, tn_array *dresidual, const tn_array *dy,
			       const tn_array *result, uint32_t activation)
{
	const tn_array *inputs[] = {dy, result};
	if (activation == TN_ACTIVATION_NONE)
		return tn_copy_run(runtime, TN_DO_EPILOGUE, dresidual, dy);
	return tn_short_map(runtime, TN_DO_EPILOGUE,
			    activation == TN_ACTIVATION_RELU ? &pass_relu : &pass_relu6, inputs,
			    &dresidual, NULL);
}
