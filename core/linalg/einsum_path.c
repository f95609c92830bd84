/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Paths of einsum.  The cost of a step is the number of its multiplications: the product of the
 * lengths of all labels of its two operands, of which those are summed away before that neither
 * another operand nor the result has.
 *
 * Of few operands the path of least cost is found over all of their subsets, as the best split of
 * each into two (Pfeifer, Haegeman, Verstraete 2014).  Of many, each step takes the pair whose
 * result has the fewest elements beyond those of its operands (opt_einsum's greedy rule).
 */
#include "linalg/einsum_path.h"

#include <math.h>

enum { MOST_BY_SUBSETS = 8, SUBSETS = 1 << MOST_BY_SUBSETS };

static int count(uint64_t set)
{
	int n = 0;
	for (; set; set &= set - 1)
		n++;
	return n;
}

/* The number of elements with these axes. */
static double size_of(const struct tn_subscripts *s, uint64_t set)
{
	double size = 1;
	for (int label = 0; label < s->n_labels; label++) {
		if (set >> label & 1)
			size *= (double)s->lengths[label];
	}
	return size;
}

/* The labels of a subset that the operands outside of it, or the result, have too. */
static uint64_t labels_of(const struct tn_subscripts *s, const uint64_t *sets, uint64_t subset)
{
	uint64_t inside = 0, outside = tn_term_set(&s->result);
	for (int i = 0; i < s->n_operands; i++) {
		if (subset >> i & 1)
			inside |= sets[i];
		else
			outside |= sets[i];
	}
	return inside & outside;
}

/* ---- All subsets -----------------------------------------------------------------------------*/

struct subset {
	uint64_t labels; /* of the product of its operands */
	double cost;
	unsigned first; /* the best split is this subset and the rest */
};

static void split_best(const struct tn_subscripts *s, struct subset *table, unsigned subset)
{
	struct subset *best = &table[subset];
	best->cost = INFINITY;
	if (count(best->labels) > TN_MAX_RANK)
		return;
	/* Each split once: the part with the first operand of the subset comes first. */
	for (unsigned part = (subset - 1) & subset; part; part = (part - 1) & subset) {
		const struct subset *a = &table[part], *b = &table[subset & ~part];
		if (!(part & (subset & -subset)))
			continue;
		const double cost = a->cost + b->cost + size_of(s, a->labels | b->labels);
		if (cost < best->cost) {
			best->cost = cost;
			best->first = part;
		}
	}
}

/* Appends the steps of a subset; returns the number of its product. */
static int take_steps(const struct subset *table, unsigned subset, int n_operands,
		      struct tn_einsum_step *steps, int *n)
{
	if (!(subset & (subset - 1))) {
		int operand = 0;
		while (subset >> operand != 1)
			operand++;
		return operand;
	}
	const unsigned first = table[subset].first;
	struct tn_einsum_step step;
	step.a = take_steps(table, first, n_operands, steps, n);
	step.b = take_steps(table, subset & ~first, n_operands, steps, n);
	steps[*n] = step;
	return n_operands + (*n)++;
}

static int find_best(const struct tn_subscripts *s, const uint64_t *sets,
		     struct tn_einsum_step *steps)
{
	struct subset table[SUBSETS] = {{.labels = 0}};
	const unsigned all = (1u << s->n_operands) - 1;
	int n = 0;
	for (unsigned subset = 1; subset <= all; subset++) {
		table[subset].labels = labels_of(s, sets, subset);
		if (subset & (subset - 1))
			split_best(s, table, subset);
	}
	if (s->n_operands > 1 && !(table[all].cost < INFINITY))
		return 0;
	take_steps(table, all, s->n_operands, steps, &n);
	return 1;
}

/* ---- One pair after another ------------------------------------------------------------------*/

/* What is left to multiply. */
struct left {
	int n;
	int numbers[TN_MOST_OPERANDS];
	uint64_t sets[TN_MOST_OPERANDS];
};

/* The labels of the product of a pair. */
static uint64_t product_of(const struct left *left, uint64_t result, int a, int b)
{
	uint64_t others = result;
	for (int i = 0; i < left->n; i++)
		others |= i == a || i == b ? 0 : left->sets[i];
	return (left->sets[a] | left->sets[b]) & others;
}

/* 0: no pair has a product of few enough axes. */
static int find_pair(const struct tn_subscripts *s, const struct left *left, uint64_t result,
		     int *first, int *second)
{
	double least = INFINITY, least_cost = INFINITY;
	for (int a = 0; a < left->n; a++) {
		for (int b = a + 1; b < left->n; b++) {
			const uint64_t product = product_of(left, result, a, b);
			if (count(product) > TN_MAX_RANK)
				continue;
			const double growth = size_of(s, product) - size_of(s, left->sets[a]) -
					      size_of(s, left->sets[b]);
			const double cost = size_of(s, left->sets[a] | left->sets[b]);
			if (growth < least || (growth <= least && cost < least_cost)) {
				least = growth;
				least_cost = cost;
				*first = a;
				*second = b;
			}
		}
	}
	return least < INFINITY;
}

static int find_greedily(const struct tn_subscripts *s, const uint64_t *sets,
			 struct tn_einsum_step *steps)
{
	const uint64_t result = tn_term_set(&s->result);
	struct left left = {.n = s->n_operands};
	for (int i = 0; i < left.n; i++) {
		left.numbers[i] = i;
		left.sets[i] = labels_of(s, sets, (uint64_t)1 << i);
	}
	for (int step = 0; left.n > 1; step++) {
		int a = 0, b = 1;
		if (!find_pair(s, &left, result, &a, &b))
			return 0;
		steps[step] = (struct tn_einsum_step){left.numbers[a], left.numbers[b]};
		left.sets[a] = product_of(&left, result, a, b);
		left.numbers[a] = s->n_operands + step;
		left.n--;
		left.sets[b] = left.sets[left.n];
		left.numbers[b] = left.numbers[left.n];
	}
	return 1;
}

int tn_einsum_find_path(const struct tn_subscripts *subscripts, const uint64_t *sets,
			struct tn_einsum_step *steps)
{
	return subscripts->n_operands <= MOST_BY_SUBSETS ? find_best(subscripts, sets, steps)
							 : find_greedily(subscripts, sets, steps);
}
