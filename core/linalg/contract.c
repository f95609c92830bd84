/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The product of two arrays with labelled axes, summed over labels.
 *
 * A label that only one of the two has, and that is not kept, is summed before.  Then each label
 * belongs to a group: both have it and it is kept (batch), both have it and it is summed (inner),
 * or only a or b has it (rows, columns).  With the axes of each group as one,
 *     C[batch, rows, columns] = sum over inner of A[batch, rows, inner] B[batch, inner, columns]
 * is a product of matrices; without inner labels it is one element by element.  Within a group axes
 * lie in the order of their strides, so that they are one without a copy wherever they can be; rows
 * that cannot be are a batch, to which B broadcasts, and columns likewise.
 */
#include "linalg/contract.h"

#include <string.h>
#include <tenon/manipulate.h>
#include <tenon/map.h>

#include "array/make.h"
#include "array/result_type.h"
#include "base/dtype.h"

/* ---- One array -------------------------------------------------------------------------------*/

uint64_t tn_labelled_set(const struct tn_labelled *a)
{
	uint64_t set = 0;
	for (int i = 0; a->array && i < a->array->rank; i++)
		set |= tn_label_bit(a->labels[i]);
	return set;
}

static int axis_of(const struct tn_labelled *a, int label)
{
	int axis = 0;
	while (a->labels[axis] != label)
		axis++;
	return axis;
}

struct tn_labelled tn_labelled_squeeze(const struct tn_labelled *a, uint64_t labels)
{
	struct tn_labelled left = {.array = NULL};
	int64_t shape[TN_MAX_RANK];
	int rank = 0;
	if (!(tn_labelled_set(a) & labels))
		return *a;
	for (int i = 0; i < a->array->rank; i++) {
		if (labels & tn_label_bit(a->labels[i]))
			continue;
		left.labels[rank] = a->labels[i];
		shape[rank++] = a->array->shape[i];
	}
	left.array = tn_reshape(a->array, rank, shape);
	return left;
}

struct tn_labelled tn_labelled_sum(const struct tn_labelled *a, uint64_t kept)
{
	struct tn_labelled left = {.array = NULL};
	int axes[TN_MAX_RANK], n = 0, rank = 0;
	if (!(tn_labelled_set(a) & ~kept))
		return *a;
	for (int i = 0; i < a->array->rank; i++) {
		if (kept & tn_label_bit(a->labels[i]))
			left.labels[rank++] = a->labels[i];
		else
			axes[n++] = i;
	}
	const tn_array *sum = tn_sum(a->array, n, axes, 0);
	left.array = sum && sum->dtype != a->array->dtype ? tn_astype(sum, a->array->dtype) : sum;
	return left;
}

tn_array *tn_labelled_as(const struct tn_labelled *a, const int *order)
{
	int axes[TN_MAX_RANK] = {0};
	if (!a->array)
		return NULL;
	for (int i = 0; i < a->array->rank; i++)
		axes[i] = axis_of(a, order[i]);
	return tn_transpose(a->array, axes);
}

/* ---- Groups of labels ------------------------------------------------------------------------*/

struct group {
	int n;
	int labels[TN_MAX_RANK];
};

/* Those of a's labels, by descending strides, in the order of the axes where these are equal. */
static struct group group_of(const struct tn_labelled *a, uint64_t labels)
{
	struct group group = {.n = 0};
	int64_t strides[TN_MAX_RANK];
	for (int i = 0; i < a->array->rank; i++) {
		if (!(labels & tn_label_bit(a->labels[i])))
			continue;
		const int64_t stride = a->array->strides[i];
		int at = group.n++;
		for (; at > 0 && strides[at - 1] < stride; at--) {
			strides[at] = strides[at - 1];
			group.labels[at] = group.labels[at - 1];
		}
		strides[at] = stride;
		group.labels[at] = a->labels[i];
	}
	return group;
}

static int append(int *labels, int n, const struct group *group)
{
	memcpy(labels + n, group->labels, (size_t)group->n * sizeof(*labels));
	return n + group->n;
}

/* Leaves to the batch the first labels of a group whose axes are not one with the rest, which would
 * be a copy, if the rest is long enough for a product of its own. */
static void leave_to_batch(const struct tn_labelled *a, struct group *group, struct group *batch)
{
	enum { LONG_ENOUGH = 16 };
	int64_t length = 1, step = 0; /* of the axes that are one; 0: any */
	int first = group->n;
	for (; first > 0; first--) {
		const int axis = axis_of(a, group->labels[first - 1]);
		const int64_t n = a->array->shape[axis], stride = a->array->strides[axis];
		if (n == 1)
			continue;
		if (step && stride != step)
			break;
		length *= n;
		step = stride * n;
	}
	if (!first || length < LONG_ENOUGH || batch->n + first > TN_MAX_RANK - 2)
		return;
	for (int i = 0; i < first; i++)
		batch->labels[batch->n++] = group->labels[i];
	group->n -= first;
	memmove(group->labels, group->labels + first, (size_t)group->n * sizeof(int));
}

/* The axes of a in the order of three groups, those of the second and of the third as one; so are
 * the first axes of a batch that would not leave room for these two.  An axis of the batch that a
 * has not has length 1. */
static const tn_array *matrices_of(const struct tn_labelled *a, const struct group *batch,
				   const struct group *first, const struct group *second)
{
	const uint64_t own = tn_labelled_set(a);
	const int excess = batch->n > TN_MAX_RANK - 2 ? batch->n - (TN_MAX_RANK - 2) : 0;
	const int n_batch = batch->n - excess;
	int labels[2 * TN_MAX_RANK], order[TN_MAX_RANK], rank = 0, n = append(labels, 0, batch);
	int64_t shape[TN_MAX_RANK];
	n = append(labels, n, first);
	n = append(labels, n, second);
	for (int i = 0; i < n_batch + 2; i++)
		shape[i] = 1;
	for (int i = 0; i < n; i++) {
		const int at = i < batch->n ? (i > excess ? i - excess : 0)
					    : n_batch + (i >= batch->n + first->n);
		if (!(own & tn_label_bit(labels[i])))
			continue;
		shape[at] *= a->array->shape[axis_of(a, labels[i])];
		order[rank++] = labels[i];
	}
	const tn_array *turned = tn_labelled_as(a, order);
	if (first->n == 1 && second->n == 1 && rank == n)
		return turned;
	return tn_reshape(turned, n_batch + 2, shape);
}

/* Fills in the lengths of labels. */
static void measure(const struct tn_labelled *a, int64_t lengths[TN_MOST_LABELS])
{
	for (int i = 0; i < a->array->rank; i++)
		lengths[a->labels[i]] = a->array->shape[i];
}

/* ---- Products --------------------------------------------------------------------------------*/

/* a's axes at their places among n labels, with 1 for those that it has not. */
static const tn_array *spread(const struct tn_labelled *a, int n, const int *labels)
{
	const uint64_t set = tn_labelled_set(a);
	int order[TN_MAX_RANK], rank = 0;
	int64_t shape[TN_MAX_RANK];
	for (int i = 0; i < n; i++) {
		const int is_own = (set & tn_label_bit(labels[i])) != 0;
		shape[i] = is_own ? a->array->shape[axis_of(a, labels[i])] : 1;
		if (is_own)
			order[rank++] = labels[i];
	}
	return tn_reshape(tn_labelled_as(a, order), n, shape);
}

/* The sum of products of elements over the n inner labels, which come last. */
static tn_array *reduce_products(const struct tn_labelled *a, const struct tn_labelled *b,
				 const struct group *batch, const struct group *inner)
{
	struct tn_reduce_map_options options = tn_reduce_map_defaults();
	int labels[TN_MAX_RANK], axes[TN_MAX_RANK], n = append(labels, 0, batch);
	n = append(labels, n, inner);
	for (int i = 0; i < inner->n; i++)
		axes[i] = batch->n + i;
	options.n_axes = inner->n;
	options.axes = axes;
	return tn_reduce_map("z = x * y", 2, (const char *const[]){"x", "y"},
			     (const tn_array *const[]){spread(a, n, labels), spread(b, n, labels)},
			     &options);
}

/* Many dot products of lines that are short, or whose elements lie apart, are faster as one
 * reduction than as products of matrices. */
static int prefers_reduction(const struct tn_labelled *a, const struct tn_labelled *b,
			     const struct group *inner)
{
	enum { SHORT = 16 };
	const tn_dtype dtype = a->array->dtype;
	int64_t length = 1;
	for (int i = 0; i < inner->n; i++)
		length *= a->array->shape[axis_of(a, inner->labels[i])];
	const int last = inner->labels[inner->n - 1];
	return (dtype == TN_F32 || dtype == TN_F64) &&
	       (length < SHORT || a->array->strides[axis_of(a, last)] != 1 ||
		b->array->strides[axis_of(b, last)] != 1);
}

static struct tn_labelled multiply_matrices(const struct tn_labelled *a,
					    const struct tn_labelled *b, uint64_t kept)
{
	const uint64_t of_a = tn_labelled_set(a), of_b = tn_labelled_set(b), both = of_a & of_b;
	const struct tn_labelled *larger = a->array->size >= b->array->size ? a : b;
	const struct group inner = group_of(larger, both & ~kept);
	struct group batch = group_of(larger, both & kept);
	struct group rows = group_of(a, of_a & ~both), columns = group_of(b, of_b & ~both);
	struct tn_labelled c = {.array = NULL};
	int64_t lengths[TN_MOST_LABELS], shape[TN_MAX_RANK];
	if (!rows.n && !columns.n && batch.n && prefers_reduction(a, b, &inner)) {
		append(c.labels, 0, &batch);
		c.array = reduce_products(a, b, &batch, &inner);
		return c;
	}
	leave_to_batch(a, &rows, &batch);
	leave_to_batch(b, &columns, &batch);
	int n = append(c.labels, 0, &batch);
	n = append(c.labels, n, &rows);
	n = append(c.labels, n, &columns);
	measure(a, lengths);
	measure(b, lengths);
	const tn_array *product = tn_matmul(matrices_of(a, &batch, &rows, &inner),
					    matrices_of(b, &batch, &inner, &columns));
	if (!product)
		return c;
	for (int i = 0; i < n; i++)
		shape[i] = lengths[c.labels[i]];
	c.array = rows.n == 1 && columns.n == 1 ? product : tn_reshape(product, n, shape);
	return c;
}

static tn_array *multiply_elements(const struct tn_labelled *a, const struct tn_labelled *b, int n,
				   const int *order)
{
	return tn_multiply(spread(a, n, order), spread(b, n, order));
}

/* The labels of a whose length is 1 there, and not in b. */
static uint64_t broadcast_in(const struct tn_labelled *a, const struct tn_labelled *b)
{
	uint64_t labels = 0;
	for (int i = 0; i < a->array->rank; i++) {
		for (int k = 0; k < b->array->rank; k++) {
			if (a->labels[i] == b->labels[k] && a->array->shape[i] == 1 &&
			    b->array->shape[k] != 1)
				labels |= tn_label_bit(a->labels[i]);
		}
	}
	return labels;
}

/* Leaves no label that broadcasts, and none that only one of them has and that is not kept. */
static tn_status simplify(struct tn_labelled *a, struct tn_labelled *b, uint64_t kept)
{
	const uint64_t thin_a = broadcast_in(a, b), thin_b = broadcast_in(b, a);
	*a = tn_labelled_squeeze(a, thin_a);
	*b = tn_labelled_squeeze(b, thin_b);
	if (!a->array || !b->array)
		return TN_PENDING_ERROR;
	const uint64_t of_a = tn_labelled_set(a), of_b = tn_labelled_set(b);
	*a = tn_labelled_sum(a, kept | of_b);
	*b = tn_labelled_sum(b, kept | of_a);
	return a->array && b->array ? TN_OK : TN_PENDING_ERROR;
}

static int sums_products(const struct tn_labelled *a, const struct tn_labelled *b, uint64_t kept)
{
	return (tn_labelled_set(a) & tn_labelled_set(b) & ~kept) != 0;
}

struct tn_labelled tn_contract(const struct tn_labelled *a, const struct tn_labelled *b,
			       uint64_t kept)
{
	struct tn_labelled x = *a, y = *b, c = {.array = NULL};
	int n = 0;
	if (!x.array || !y.array || simplify(&x, &y, kept))
		return c;
	if (sums_products(&x, &y, kept))
		return multiply_matrices(&x, &y, kept);
	for (int i = 0; i < x.array->rank; i++)
		c.labels[n++] = x.labels[i];
	for (int i = 0; i < y.array->rank; i++) {
		if (!(tn_labelled_set(&x) & tn_label_bit(y.labels[i])))
			c.labels[n++] = y.labels[i];
	}
	c.array = multiply_elements(&x, &y, n, c.labels);
	return c;
}

/* The order of two factors in which the columns of their product are those of `order`. */
static int is_second(const struct tn_labelled *a, const struct tn_labelled *b, int n,
		     const int *order)
{
	const uint64_t last = n ? tn_label_bit(order[n - 1]) : 0;
	return (tn_labelled_set(a) & last) && !(tn_labelled_set(b) & last);
}

static tn_array *contract_in_order(struct tn_labelled *a, struct tn_labelled *b, int n,
				   const int *order)
{
	uint64_t kept = 0;
	for (int i = 0; i < n; i++)
		kept |= tn_label_bit(order[i]);
	if (simplify(a, b, kept))
		return NULL;
	if (!sums_products(a, b, kept))
		return multiply_elements(a, b, n, order);
	const struct tn_labelled c = is_second(a, b, n, order) ? multiply_matrices(b, a, kept)
							       : multiply_matrices(a, b, kept);
	return tn_labelled_as(&c, order);
}

tn_array *tn_contract_as(const struct tn_labelled *a, const struct tn_labelled *b, int n,
			 const int *order)
{
	struct tn_labelled x = *a, y = *b;
	if (!x.array || !y.array)
		return NULL;
	const tn_dtype dtype = tn_result_type(x.array->dtype, y.array->dtype);
	tn_context *context = x.array->runtime->context;
	if (tn_scope_begin(context))
		return NULL;
	if (x.array->dtype != dtype)
		x.array = tn_astype(x.array, dtype);
	if (y.array->dtype != dtype)
		y.array = tn_astype(y.array, dtype);
	tn_array *c = x.array && y.array ? contract_in_order(&x, &y, n, order) : NULL;
	return tn_scope_end(context, c);
}
