/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A row for each of the latest layouts of x, with a list of handles.  Packed weights are in a form
 * of the backend's instance: contexts that have opened the device apart have rows of their own.
 */
#include "nn/packs.h"

#include <pthread.h>
#include <string.h>

#include <tenon/share.h>

#include "base/memory.h"
#include "device/device.h"

enum { MOST_ROWS = 8 };

/* Of one layout of x. */
struct row {
	const struct tn_opened *opened;
	tn_dtype dtype;
	int rank;
	int64_t shape[TN_MAX_RANK];
	int64_t strides[TN_MAX_RANK];
	tn_shared **packed; /* by number; NULL: not made */
	size_t n;
};

struct tn_packs {
	pthread_mutex_t mutex;
	struct row rows[MOST_ROWS];
	size_t n, oldest;
};

struct tn_packs *tn_packs_create(void)
{
	struct tn_packs *packs = tn_mem_zeroed(1, sizeof(*packs));
	if (packs)
		pthread_mutex_init(&packs->mutex, NULL);
	return packs;
}

static void empty(struct row *row)
{
	for (size_t i = 0; i < row->n; i++)
		tn_shared_destroy(row->packed[i]);
	tn_mem_free(row->packed);
	*row = (struct row){0};
}

void tn_packs_destroy(struct tn_packs *packs)
{
	if (!packs)
		return;
	for (size_t i = 0; i < packs->n; i++)
		empty(&packs->rows[i]);
	pthread_mutex_destroy(&packs->mutex);
	tn_mem_free(packs);
}

static int is_of(const struct row *row, const tn_array *x)
{
	const size_t size = sizeof(row->shape[0]) * (size_t)row->rank;
	return row->opened == tn_array_home(x)->opened && row->dtype == x->dtype &&
	       row->rank == x->rank && !memcmp(row->shape, x->shape, size) &&
	       !memcmp(row->strides, x->strides, size);
}

static struct row *find_row(struct tn_packs *packs, const tn_array *x)
{
	for (size_t i = 0; i < packs->n; i++) {
		if (is_of(&packs->rows[i], x))
			return &packs->rows[i];
	}
	return NULL;
}

/* A new one takes the place of the oldest when all are taken. */
static struct row *add_row(struct tn_packs *packs, const tn_array *x)
{
	const size_t place = packs->n < MOST_ROWS ? packs->n++ : packs->oldest;
	struct row *row = &packs->rows[place];
	empty(row);
	packs->oldest = (place + 1) % MOST_ROWS;
	row->opened = tn_array_home(x)->opened;
	row->dtype = x->dtype;
	row->rank = x->rank;
	memcpy(row->shape, x->shape, sizeof(row->shape[0]) * (size_t)x->rank);
	memcpy(row->strides, x->strides, sizeof(row->strides[0]) * (size_t)x->rank);
	return row;
}

/* The place of a number in the row; NULL: out of memory. */
static tn_shared **place_of(struct row *row, size_t number)
{
	if (number < row->n)
		return &row->packed[number];
	tn_shared **packed = tn_mem_realloc(row->packed, number + 1, sizeof(tn_shared *));
	if (!packed)
		return NULL;
	row->packed = packed;
	while (row->n <= number)
		packed[row->n++] = NULL;
	return &packed[number];
}

tn_array *tn_packs_find(struct tn_packs *packs, const tn_array *x, size_t number)
{
	tn_array *packed = NULL;
	pthread_mutex_lock(&packs->mutex);
	const struct row *row = find_row(packs, x);
	if (row && number < row->n && row->packed[number])
		packed = tn_shared_array(tn_array_context(x), row->packed[number]);
	pthread_mutex_unlock(&packs->mutex);
	return packed;
}

tn_array *tn_packs_add(struct tn_packs *packs, const tn_array *x, size_t number, tn_array *packed)
{
	tn_shared *shared = tn_share(packed);
	if (!shared)
		return NULL;
	tn_array *first = NULL;
	pthread_mutex_lock(&packs->mutex);
	struct row *row = find_row(packs, x);
	tn_shared **place = place_of(row ? row : add_row(packs, x), number);
	if (place && *place) {
		first = tn_shared_array(tn_array_context(x), *place);
	} else if (place) {
		*place = shared;
		shared = NULL;
	}
	pthread_mutex_unlock(&packs->mutex);
	tn_shared_destroy(shared);
	if (!first)
		return packed;
	tn_array_destroy(packed);
	return first;
}
