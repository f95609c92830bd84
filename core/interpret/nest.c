/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Loop nests and walks.  An index is treated as a view of bytes at address 0 whose strides are the
 * increments of the index; so ordering, merging and tiling handle it like any operand.
 */
#include "interpret/nest.h"

static struct tn_view *add_view(struct tn_nest *nest)
{
	struct tn_view *view = &nest->view[nest->n_views++];
	view->start = 0;
	view->dtype = 0;
	view->size = 1;
	view->varies = 0;
	for (unsigned d = 0; d < nest->rank; d++)
		view->stride[d] = 0;
	return view;
}

unsigned tn_nest_add_operand(struct tn_nest *nest, const struct tn_operand *operand)
{
	struct tn_view *view = add_view(nest);
	view->dtype = (uint32_t)operand->dtype;
	view->size = (uint32_t)tn_dtype_size(operand->dtype);
	view->start = operand->buffer + operand->offset;
	/* Products wrap for strides that exceed any memory; axes of length 1 never use their
	 * stride. */
	for (unsigned d = 0; d < operand->rank; d++)
		view->stride[d] = (int64_t)((uint64_t)operand->strides[d] * view->size);
	return nest->n_views - 1;
}

unsigned tn_nest_add_index(struct tn_nest *nest, unsigned axis, unsigned rank)
{
	struct tn_view *view = add_view(nest);
	if (axis < TN_MAX_RANK) {
		view->stride[axis] = 1;
		return nest->n_views - 1;
	}
	int64_t stride = 1;
	for (unsigned d = rank; d-- > 0;) {
		view->stride[d] = stride;
		stride *= nest->length[d];
	}
	return nest->n_views - 1;
}

unsigned tn_nest_add_block(struct tn_nest *nest, uint32_t dtype)
{
	struct tn_view *view = add_view(nest);
	view->dtype = dtype;
	view->size = (uint32_t)tn_dtype_size((tn_dtype)dtype);
	view->varies = 1;
	return nest->n_views - 1;
}

static uint64_t magnitude(int64_t x)
{
	return x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
}

/* The distance between the elements along an axis, over some views. */
static uint64_t spread(const struct tn_nest *nest, unsigned axis, unsigned first, unsigned end)
{
	uint64_t sum = 0;
	for (unsigned v = first; v < end; v++)
		sum += magnitude(nest->view[v].stride[axis]);
	return sum;
}

/* Insertion sort of order[0..n-1], widest spread first; equals stay in order. */
static void sort_axes(const struct tn_nest *nest, unsigned *order, unsigned n, unsigned first,
		      unsigned end)
{
	for (unsigned i = 1; i < n; i++) {
		unsigned axis = order[i], j = i;
		uint64_t key = spread(nest, axis, first, end);
		for (; j > 0 && spread(nest, order[j - 1], first, end) < key; j--)
			order[j] = order[j - 1];
		order[j] = axis;
	}
}

static void permute(int64_t *values, const unsigned *order, unsigned n)
{
	int64_t old[TN_MAX_RANK];
	for (unsigned i = 0; i < n; i++)
		old[i] = values[order[i]];
	for (unsigned i = 0; i < n; i++)
		values[i] = old[i];
}

static int may_merge(const struct tn_nest *nest, unsigned outer, unsigned inner)
{
	for (unsigned v = 0; v < nest->n_views; v++) {
		const int64_t *stride = nest->view[v].stride;
		uint64_t step = (uint64_t)stride[inner] * (uint64_t)nest->length[inner];
		if ((uint64_t)stride[outer] != step)
			return 0;
	}
	return 1;
}

static void move_axis(struct tn_nest *nest, unsigned to, unsigned from)
{
	for (unsigned v = 0; v < nest->n_views; v++)
		nest->view[v].stride[to] = nest->view[v].stride[from];
}

static void merge_axes(struct tn_nest *nest)
{
	unsigned out = 0, kept = 0;
	for (unsigned d = 0; d < nest->rank; d++) {
		int may = d > 0 && d != nest->n_kept && may_merge(nest, out - 1, d);
		if (may) {
			nest->length[out - 1] *= nest->length[d];
			move_axis(nest, out - 1, d);
		} else {
			if (out != d) {
				nest->length[out] = nest->length[d];
				move_axis(nest, out, d);
			}
			out++;
		}
		if (d < nest->n_kept)
			kept = out;
	}
	nest->rank = out;
	nest->n_kept = kept;
}

void tn_nest_simplify(struct tn_nest *nest, unsigned first, unsigned end, int order_reduced)
{
	unsigned order[TN_MAX_RANK], n = 0, kept = 0, moved = 0;
	for (unsigned d = 0; d < nest->rank; d++) {
		if (nest->length[d] != 1)
			order[n++] = d;
		if (d + 1 == nest->n_kept)
			kept = n;
	}
	sort_axes(nest, order, kept, first, end);
	if (order_reduced)
		sort_axes(nest, order + kept, n - kept, first, end);
	for (unsigned i = 0; i < n; i++)
		moved |= order[i] != i;
	if (moved) {
		permute(nest->length, order, n);
		for (unsigned v = 0; v < nest->n_views; v++)
			permute(nest->view[v].stride, order, n);
	}
	nest->rank = n;
	nest->n_kept = kept;
	if (n > 1)
		merge_axes(nest);
}

uint64_t tn_nest_count(const struct tn_nest *nest, unsigned first, unsigned end)
{
	uint64_t count = 1;
	for (unsigned d = first; d < end; d++)
		count *= (uint64_t)nest->length[d];
	return count;
}

void tn_walk_add(struct tn_walk *walk, const struct tn_nest *nest, uint64_t count, int axis,
		 int64_t multiple)
{
	unsigned level = walk->n_levels++;
	walk->count[level] = count;
	if (count == 1)
		return;
	for (unsigned v = 0; v < walk->n_views; v++)
		walk->step[level][v] = axis < 0 ? 0
						: (int64_t)((uint64_t)nest->view[v].stride[axis] *
							    (uint64_t)multiple);
}

uint64_t tn_walk_total(const struct tn_walk *walk)
{
	uint64_t total = 1;
	for (unsigned l = 0; l < walk->n_levels; l++)
		total *= walk->count[l];
	return total;
}

int tn_walk_is_still(const struct tn_walk *walk, unsigned view)
{
	for (unsigned l = 0; l < walk->n_levels; l++) {
		if (walk->count[l] != 1 && walk->step[l][view])
			return 0;
	}
	return 1;
}

void tn_walk_seek(const struct tn_walk *walk, uint64_t index, uint64_t *position, uint64_t *address)
{
	for (unsigned l = 0; l < walk->n_levels; l++) {
		position[l] = 0;
		if (index == 0)
			continue;
		position[l] = index % walk->count[l];
		index /= walk->count[l];
		for (unsigned v = 0; position[l] && v < walk->n_views; v++)
			address[v] += position[l] * (uint64_t)walk->step[l][v];
	}
}

void tn_walk_advance(const struct tn_walk *walk, uint64_t *position, uint64_t *address)
{
	for (unsigned l = 0; l < walk->n_levels; l++) {
		uint64_t last = walk->count[l] - 1;
		if (position[l] < last) {
			position[l]++;
			for (unsigned v = 0; v < walk->n_views; v++)
				address[v] += (uint64_t)walk->step[l][v];
			return;
		}
		if (last == 0)
			continue;
		position[l] = 0;
		for (unsigned v = 0; v < walk->n_views; v++)
			address[v] -= last * (uint64_t)walk->step[l][v];
	}
}
