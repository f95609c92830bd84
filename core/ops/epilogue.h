/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The epilogue of a product, a convolution or a norm - a bias, a residual, an activation - as a
 * separate step, for backends whose entry does not include it.  The ledger counts it as "epilogue".
 */
#ifndef TN_OPS_EPILOGUE_H
#define TN_OPS_EPILOGUE_H

#include "array/array.h"

/* TN_INVALID_ARGUMENT unless 0 <= activation <= last. */
tn_status tn_activation_check(struct tn_runtime *runtime, const char *operation,
			      uint32_t activation, uint32_t last);

/* y := activation(y + bias + residual); bias (broadcast) and residual may be NULL. */
tn_status tn_epilogue_run(struct tn_runtime *runtime, tn_array *y, const tn_array *bias,
			  const tn_array *residual, uint32_t activation);

/* dresidual := dy where the activation, RELU or RELU6, passed `result` unchanged, else 0. */
tn_status tn_epilogue_backward(struct tn_runtime *runtime, tn_array *dresidual, const tn_array *dy,
			       const tn_array *result, uint32_t activation);

#endif
