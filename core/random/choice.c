/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Choices.  Without weights the device makes them.  With weights, on the host: with replacement by
 * the sums of weights, without by P. Efraimidis, P. Spirakis, Weighted random sampling with a
 * reservoir, Information Processing Letters 97 (2006): the smallest of exponential times whose
 * rates are the weights come in the order of successive draws.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include <tenon/random.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/bits.h"
#include "base/memory.h"
#include "capture/stepped.h"
#include "random/device_draw.h"
#include "random/host_draw.h"
#include "random/integers.h"
#include "random/words.h"

struct choosing {
	struct tn_host_draw draw;
	int64_t n;
	double *weights;
	int64_t n_positive;
	int64_t last;  /* with a weight above 0 */
	double *until; /* sums of the weights of 0 to i */
};

/* ---- Checks ----------------------------------------------------------------------------------*/

static tn_status check_counts(struct tn_runtime *runtime, int64_t n, int64_t size, int replace)
{
	if (n < 0 || (n == 0 && size > 0))
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "choice",
				       "n: expected at least %d, found %" PRId64, size > 0, n);
	if (!replace && size > n)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "choice",
				       "without replacement: %" PRId64 " numbers of %" PRId64, size,
				       n);
	return TN_OK;
}

static tn_status check_line(struct tn_runtime *runtime, int64_t n, const tn_array *weights)
{
	char found[TN_SHAPE_TEXT];
	if (weights->rank == 1 && weights->size == n)
		return TN_OK;
	return tn_runtime_fail(runtime, TN_SHAPE, "choice",
			       "weights: expected shape (%" PRId64 ",), found %s", n,
			       tn_array_text(weights, found));
}

/* The sums too. */
static tn_status check_weights(struct choosing *c, int replace)
{
	struct tn_runtime *runtime = c->draw.runtime;
	double sum = 0;
	for (int64_t i = 0; i < c->n; i++) {
		if (!(c->weights[i] >= 0 && isfinite(c->weights[i])))
			return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "choice",
					       "weights: expected finite numbers of at least 0, "
					       "found %g at %" PRId64,
					       c->weights[i], i);
		sum += c->weights[i];
		c->until[i] = sum;
		if (c->weights[i] > 0) {
			c->n_positive++;
			c->last = i;
		}
	}
	if (c->draw.out->size > 0 && !(sum > 0 && isfinite(sum)))
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "choice",
				       "weights: expected a finite sum above 0, found %g", sum);
	if (!replace && c->draw.out->size > c->n_positive)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "choice",
				       "without replacement: %" PRId64 " numbers of %" PRId64
				       " whose weight is above 0",
				       c->draw.out->size, c->n_positive);
	return TN_OK;
}

/* ---- With weights ----------------------------------------------------------------------------*/

/* The first number whose sum is above u.  A product that is rounded up to the sum of all would find
 * none: then the last number that has a weight. */
static void choose_again(void *argument, uint64_t begin, uint64_t end)
{
	const struct choosing *c = argument;
	int64_t *out = (int64_t *)(void *)c->draw.data;
	for (uint64_t k = begin; k < end; k++) {
		struct tn_words words = tn_words_of(c->draw.seed, c->draw.stream, k);
		const double u = tn_words_uniform(&words) * c->until[c->n - 1];
		int64_t first = 0, last = c->last;
		while (first < last) {
			const int64_t middle = first + (last - first) / 2;
			if (u < c->until[middle])
				last = middle;
			else
				first = middle + 1;
		}
		out[k] = first;
	}
}

struct key {
	double time;
	int64_t number;
};

static int compare_keys(const void *first, const void *second)
{
	const struct key *a = first, *b = second;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static tn_status choose_once(struct choosing *c)
{
	struct key *keys = tn_mem_alloc(((size_t)c->n_positive + 1) * sizeof(*keys));
	int64_t *out = (int64_t *)(void *)c->draw.data, n = 0;
	if (!keys)
		return tn_runtime_fail(c->draw.runtime, TN_OUT_OF_MEMORY, "choice",
				       "no host memory for %" PRId64 " keys", c->n_positive);
	for (int64_t i = 0; i < c->n; i++) {
		struct tn_words words = tn_words_of(c->draw.seed, c->draw.stream, (uint64_t)i);
		if (c->weights[i] > 0)
			keys[n++] = (struct key){tn_words_exponential(&words) / c->weights[i], i};
	}
	qsort(keys, (size_t)n, sizeof(*keys), compare_keys);
	for (int64_t k = 0; k < c->draw.out->size; k++)
		out[k] = keys[k].number;
	tn_mem_free(keys);
	return TN_OK;
}

static tn_array *choose_weighted(tn_generator *generator, int64_t n, int rank, const int64_t *shape,
				 int replace, const tn_array *weights)
{
	struct choosing c = {.n = n};
	if (tn_host_draw_begin(&c.draw, generator, "choice", TN_I64, rank, shape))
		return NULL;
	c.until = tn_mem_alloc(((size_t)n + 1) * sizeof(*c.until));
	tn_status status = c.until ? TN_OK
				   : tn_runtime_fail(generator->runtime, TN_OUT_OF_MEMORY, "choice",
						     "no host memory for %" PRId64 " weights", n);
	if (!status)
		status = tn_host_draw_read(&c.draw, weights, &c.weights);
	if (!status)
		status = check_weights(&c, replace);
	if (!status && !replace)
		status = choose_once(&c);
	else if (!status)
		tn_host_draw_for(&c.draw, c.draw.out->size, choose_again, &c);
	tn_mem_free(c.weights);
	tn_mem_free(c.until);
	return tn_host_draw_end(&c.draw, status);
}

/* ---- Without weights -------------------------------------------------------------------------*/

static tn_array *choose_equal(tn_generator *generator, int64_t n, int rank, const int64_t *shape,
			      int replace)
{
	struct tn_runtime *runtime = generator->runtime;
	int64_t size = 1;
	for (int i = 0; i < rank; i++)
		size *= shape[i];
	if (replace)
		return tn_draw_integers(generator, "choice", TN_I64, rank, shape, 0,
					n ? (uint64_t)n : 1);
	if (tn_scope_begin(runtime->context))
		return NULL;
	const struct tn_random_state before = *generator->state;
	tn_array *keys = tn_draw_keys(generator, runtime->device, "choice", 1, &n);
	tn_array *out = tn_slice(tn_argsort(keys, 0, 0), 0, 0, size, 1);
	out = tn_copy(tn_reshape(out, rank, shape)); /* without the memory of the others */
	(void)tn_stepped_end_draw(generator, before, out ? TN_OK : runtime->error.status);
	return tn_scope_end(runtime->context, out);
}

tn_array *tn_generator_choice(tn_generator *generator, int64_t n, int rank, const int64_t *shape,
			      int replace, const tn_array *weights)
{
	int64_t size;
	if (!generator && weights)
		tn_runtime_null(weights->runtime, "choice", "generator");
	if (!generator || tn_runtime_ready(generator->runtime))
		return NULL;
	struct tn_runtime *runtime = generator->runtime;
	if (tn_shape_check(runtime, "choice", TN_I64, rank, shape, &size))
		return tn_end(runtime, runtime->report.status, NULL);
	if (check_counts(runtime, n, size, replace))
		return NULL;
	if (!weights)
		return choose_equal(generator, n, rank, shape, replace);
	if (!tn_draw_begin(generator, weights, "choice") || check_line(runtime, n, weights))
		return NULL;
	return choose_weighted(generator, n, rank, shape, replace, weights);
}
