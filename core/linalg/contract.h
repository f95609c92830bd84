/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arrays whose axes have labels, and sums of their products over labels.  Everything is composed of
 * public functions, which a tape records, in the caller's scope; on failure an array is NULL, and
 * the error is kept.
 */
#ifndef TN_LINALG_CONTRACT_H
#define TN_LINALG_CONTRACT_H

#include "array/array.h"

/* Labels are numbers, so that a set of them is a mask. */
enum { TN_MOST_LABELS = 64 };

/* labels[i], of axis i, is none of the others. */
struct tn_labelled {
	const tn_array *array;
	int labels[TN_MAX_RANK];
};

static inline uint64_t tn_label_bit(int label)
{
	return (uint64_t)1 << label;
}

/* The labels of the axes. */
uint64_t tn_labelled_set(const struct tn_labelled *a);
/* Without the axes of these labels, whose lengths are 1: a view. */
struct tn_labelled tn_labelled_squeeze(const struct tn_labelled *a, uint64_t labels);
/* The sum over all labels but those of `kept`, in a's dtype. */
struct tn_labelled tn_labelled_sum(const struct tn_labelled *a, uint64_t kept);
/* A new array with the axes in this order, a permutation of a's. */
tn_array *tn_labelled_as(const struct tn_labelled *a, const int *order);

/* The product of a and b, which have one dtype, summed over all labels but those of `kept`.  An
 * axis of length 1 broadcasts to one of the same label.  If labels are summed that both have, it is
 * one matrix product. */
struct tn_labelled tn_contract(const struct tn_labelled *a, const struct tn_labelled *b,
			       uint64_t kept);
/* The same of any dtypes, whose axes are the n labels of `order`; everything else is freed. */
tn_array *tn_contract_as(const struct tn_labelled *a, const struct tn_labelled *b, int n,
			 const int *order);

#endif
