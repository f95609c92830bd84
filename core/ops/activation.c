/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Activations with parameters, and those that few networks have; each is an element operation.
 */
#include "ops/activation.h"

#include "array/make.h"
#include "array/shape.h"
#include "ops/elementwise.h"

tn_status tn_activation_values(struct tn_runtime *runtime, enum tn_operation operation,
			       const double *values)
{
	const char *name = tn_operations[operation].name;
	if (operation == TN_DO_CELU && (float)values[0] == 0.0F)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, name,
				       "alpha: expected a number other than 0 in f32, found %g",
				       values[0]);
	if (operation == TN_DO_SOFTPLUS && (float)values[0] == 0.0F)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, name,
				       "beta: expected a number other than 0 in f32, found %g",
				       values[0]);
	if (operation == TN_DO_HARDTANH && !(values[0] < values[1]))
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, name,
				       "expected a low below high, found %g and %g", values[0],
				       values[1]);
	return TN_OK;
}

static tn_array *with_values(enum tn_operation operation, const tn_array *a, double first,
			     double second)
{
	const double values[] = {first, second};
	if (!a || tn_activation_values(a->runtime, operation, values))
		return NULL;
	return tn_element_run(operation, &a, values);
}

tn_array *tn_leaky_relu(const tn_array *a, double negative_slope)
{
	return with_values(TN_DO_LEAKY_RELU, a, negative_slope, 0);
}

tn_array *tn_elu(const tn_array *a, double alpha)
{
	return with_values(TN_DO_ELU, a, alpha, 0);
}

tn_array *tn_celu(const tn_array *a, double alpha)
{
	return with_values(TN_DO_CELU, a, alpha, 0);
}

tn_array *tn_selu(const tn_array *a)
{
	return with_values(TN_DO_SELU, a, 0, 0);
}

tn_array *tn_mish(const tn_array *a)
{
	return with_values(TN_DO_MISH, a, 0, 0);
}

tn_array *tn_softplus(const tn_array *a, double beta, double threshold)
{
	return with_values(TN_DO_SOFTPLUS, a, beta, threshold);
}

tn_array *tn_softsign(const tn_array *a)
{
	return with_values(TN_DO_SOFTSIGN, a, 0, 0);
}

tn_array *tn_log_sigmoid(const tn_array *a)
{
	return with_values(TN_DO_LOG_SIGMOID, a, 0, 0);
}

tn_array *tn_hardsigmoid(const tn_array *a)
{
	return with_values(TN_DO_HARDSIGMOID, a, 0, 0);
}

tn_array *tn_hardtanh(const tn_array *a, double low, double high)
{
	return with_values(TN_DO_HARDTANH, a, low, high);
}

tn_array *tn_prelu(const tn_array *a, const tn_array *weight)
{
	char found[TN_SHAPE_TEXT], expected[TN_SHAPE_TEXT];
	if (tn_arrays_given(2, (const tn_array *[]){a, weight}, "prelu"))
		return NULL;
	int64_t channels = a->rank > 1 ? a->shape[1] : 1;
	if (weight->rank > 1 || (weight->size != 1 && weight->size != channels)) {
		tn_runtime_fail(a->runtime, TN_SHAPE, "prelu",
				"weight: expected 1 element, or one for each channel of %s, found "
				"shape %s",
				tn_array_text(a, expected), tn_array_text(weight, found));
		return NULL;
	}
	/* (C, 1, ...), or () for one. */
	int64_t shape[TN_MAX_RANK] = {weight->size};
	int rank = weight->size == 1 ? 0 : a->rank - 1;
	for (int i = 1; i < rank; i++)
		shape[i] = 1;
	tn_array *slopes = tn_reshape(weight, rank, shape);
	tn_array *y = tn_element_run(TN_DO_PRELU, (const tn_array *[]){a, slopes}, NULL);
	tn_array_destroy(slopes);
	return y;
}
