/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The sweeps of layers, and what they share.
 */
#ifndef TN_TOOLS_CONFORM_SWEEP_LAYERS_H
#define TN_TOOLS_CONFORM_SWEEP_LAYERS_H

#include "sweep.h"

/* A sum of n terms may be off by n roundings of their magnitude, if all err in one direction.  The
 * terms of a sweep have random signs, and so have the errors: many terms are allowed what 256 are,
 * which narrower products exceed at any n. */
double layer_terms(double n);
/* The same of positive terms, whose partial sums grow: the errors of n additions are random too,
 * and sum to a multiple of the root of n. */
double layer_positive_terms(double n);

/* What an element costs that is made, moved and compared, and what a product costs with its part in
 * the comparison, in the work of a sweep.  Layers have many slots and forms, so each has a small
 * share of the time. */
#define LAYER_VISIT (14 * SWEEP_VISIT)
#define LAYER_PRODUCT 10.0

/* The product of n lengths, as the bytes of so many elements; 0 if it is beyond all budgets. */
uint64_t layer_bytes(tn_dtype dtype, size_t n, const int64_t *lengths);
/* Is a length beyond all budgets, so that no number may be derived from it? */
int layer_is_too_long(size_t n, const int64_t *lengths);

/* Is that a floating dtype in which the device does not refuse a call of the slot?  `args` has only
 * operands of length 1, without buffers. */
int layer_claims(const struct kit *kit, tn_dtype dtype, int slot, void *args);
/* Such an operand. */
struct tn_operand layer_operand(tn_dtype dtype, uint32_t rank);

/* All elements as doubles, row-major; the caller frees. */
double *layer_numbers(const struct array *array);
/* Random elements in [low, high]; returns them as they are stored. */
double *layer_fill(struct array *array, double low, double high);
/* What array_compare does. */
void layer_compare(const struct array *array, const double *expected, const double *tolerance);

/* Repeats one call in four, as it is, if its bits are promised. */
void layer_repeat(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
		  const int64_t *lengths, void *args, struct array *const *arrays, size_t n_arrays);

/* ---- Products --------------------------------------------------------------------------------
 *
 * One factor of each product is +-1.5 + e, the other one of 1, 1.25, 1.5, 1.75, with e a quarter of
 * what TF32 (for f64: f32) resolves.  The signs are random, so that partial sums stay small and
 * keep their digits, but the part of e is of one sign: products of fewer digits lose it n times.
 */

/* Returns the elements, which are exact. */
double *layer_fill_factor(struct array *array, int is_signed);
/* The error allowed for a sum of n such products and `begin`, before it is stored. */
double layer_product_tolerance(double epsilon, double n, double begin);
/* Compares sums, each within so many times the root of the sum of squared tolerances: ONE_ELEMENT
 * for a single element.  Independent errors within t, times random signs, sum to more than
 * 6 sqrt(sum t^2) once in 3e7 sums (Hoeffding), and to more than 3 of them never in practice,
 * because t is a bound. */
#define ONE_ELEMENT 1.0
#define RANDOM_SIGNS 3.0
void layer_compare_sums(struct kit *kit, size_t n, const double *found, const double *expected,
			const double *squares, double deviations, const char *what);

/* ---- The checks ------------------------------------------------------------------------------*/

void check_sizes_conv2d_forward(struct kit *kit);
void check_sizes_conv2d_input_gradient(struct kit *kit);
void check_sizes_conv2d_weight_gradient(struct kit *kit);
void check_sizes_conv2d_prepack(struct kit *kit);
void check_sizes_matmul_prepack(struct kit *kit);
void check_sizes_matmul_epilogue(struct kit *kit);
void check_sizes_pool2d_forward(struct kit *kit);
void check_sizes_pool2d_backward(struct kit *kit);
void check_sizes_batch_norm_forward(struct kit *kit);
void check_sizes_batch_norm_backward(struct kit *kit);
void check_sizes_layer_norm_forward(struct kit *kit);
void check_sizes_layer_norm_backward(struct kit *kit);
void check_sizes_group_norm_forward(struct kit *kit);
void check_sizes_group_norm_backward(struct kit *kit);
void check_sizes_softmax_forward(struct kit *kit);
void check_sizes_softmax_backward(struct kit *kit);
void check_sizes_cross_entropy_forward(struct kit *kit);
void check_sizes_cross_entropy_backward(struct kit *kit);
void check_sizes_attention_forward(struct kit *kit);
void check_sizes_attention_backward(struct kit *kit);
void check_cross_entropy_ignored(struct kit *kit);

#endif
