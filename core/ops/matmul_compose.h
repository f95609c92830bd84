/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A matrix product as one reduction, for the types that a backend's product does not take.
 */
#ifndef TN_OPS_MATMUL_COMPOSE_H
#define TN_OPS_MATMUL_COMPOSE_H

#include "array/array.h"
#include "loader/backend.h"

/* A product without bias and activation. */
struct tn_matmul_composition {
	struct tn_runtime *runtime;
	struct tn_device *device;
	uint32_t operation;
	const struct tn_matmul_args *args;
};

/* Composition of a struct tn_matmul_composition of any real type.  Integers are multiplied and
 * summed in i64 and stored modulo 2^width; of bool, a sum other than 0 is true. */
tn_status tn_compose_matmul(void *composition);

#endif
