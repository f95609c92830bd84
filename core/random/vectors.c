/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Distributions of vectors, along a new last axis.
 */
#include <inttypes.h>
#include <math.h>

#include <tenon/random.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "base/memory.h"
#include "random/counts.h"
#include "random/device_draw.h"
#include "random/gamma.h"
#include "random/host_draw.h"

struct drawing {
	struct tn_host_draw draw;
	const double *line; /* alpha, or probabilities */
	int64_t k;          /* elements of a vector */
	double n;           /* trials */
	double tolerance;   /* of a sum of probabilities */
	tn_status (*check)(const struct drawing *d);
	void (*body)(void *argument, uint64_t begin, uint64_t end);
};

/* Checks the line, draws a vector for each of shape's elements, and returns them. */
static tn_array *draw_vectors(struct drawing *d, tn_generator *generator, const char *operation,
			      const char *name, tn_dtype dtype, int rank, const int64_t *shape,
			      const tn_array *line)
{
	char found[TN_SHAPE_TEXT];
	int64_t lengths[TN_MAX_RANK + 1], size;
	double *values = NULL;
	struct tn_runtime *runtime = tn_draw_begin(generator, line, operation);
	if (!runtime)
		return NULL;
	if (line->rank != 1 || !line->size) {
		tn_runtime_fail(runtime, TN_SHAPE, operation,
				"%s: expected a line of at least 1 number, found shape %s", name,
				tn_array_text(line, found));
		return NULL;
	}
	if (tn_shape_check(runtime, operation, dtype, rank, shape, &size))
		return tn_end(runtime, runtime->report.status, NULL);
	for (int i = 0; i < rank; i++)
		lengths[i] = shape[i];
	lengths[rank] = d->k = line->size;
	if (tn_host_draw_begin(&d->draw, generator, operation, dtype, rank + 1, lengths))
		return NULL;
	tn_status status = tn_host_draw_read(&d->draw, line, &values);
	d->line = values;
	if (!status)
		status = d->check(d);
	if (!status)
		tn_host_draw_for(&d->draw, size, d->body, d);
	tn_mem_free(values);
	return tn_host_draw_end(&d->draw, status);
}

/* ---- Dirichlet -------------------------------------------------------------------------------*/

static tn_status check_alpha(const struct drawing *d)
{
	for (int64_t i = 0; i < d->k; i++) {
		if (!(d->line[i] > 0 && isfinite(d->line[i])))
			return tn_runtime_fail(d->draw.runtime, TN_INVALID_ARGUMENT, "dirichlet",
					       "alpha: expected finite numbers above 0, found %g "
					       "at %" PRId64,
					       d->line[i], i);
	}
	return TN_OK;
}

static struct tn_log_gamma log_gamma_of(const struct drawing *d, uint64_t row, int64_t i)
{
	struct tn_words words =
		tn_words_of(d->draw.seed, d->draw.stream, row * (uint64_t)d->k + (uint64_t)i);
	return tn_sample_log_gamma(&words, d->line[i]);
}

/* Where all logarithms are -inf: the number of the least depth. */
static int64_t greatest_of(const struct drawing *d, uint64_t row)
{
	double least = INFINITY;
	int64_t greatest = 0;
	for (int64_t i = 0; i < d->k; i++) {
		const double depth = log_gamma_of(d, row, i).depth;
		if (depth < least) {
			least = depth;
			greatest = i;
		}
	}
	return greatest;
}

/* Gamma numbers divided by their sum, by logarithms, so that they are never all 0.  They are drawn
 * twice rather than kept. */
static void draw_dirichlet(void *argument, uint64_t begin, uint64_t end)
{
	const struct drawing *d = argument;
	for (uint64_t row = begin; row < end; row++) {
		double largest = -INFINITY, sum = 0;
		const uint64_t first = row * (uint64_t)d->k;
		for (int64_t i = 0; i < d->k; i++)
			largest = fmax(largest, log_gamma_of(d, row, i).log);
		const int64_t greatest = isinf(largest) ? greatest_of(d, row) : -1;
		for (int64_t i = 0; i < d->k && greatest < 0; i++)
			sum += tn_exact_exp(log_gamma_of(d, row, i).log - largest);
		for (int64_t i = 0; i < d->k; i++) {
			const double x = greatest < 0 ? log_gamma_of(d, row, i).log - largest : 0;
			tn_host_draw_store(&d->draw, first + (uint64_t)i,
					   greatest < 0 ? tn_exact_exp(x) / sum : i == greatest);
		}
	}
}

tn_array *tn_generator_dirichlet(tn_generator *generator, tn_dtype dtype, int rank,
				 const int64_t *shape, const tn_array *alpha)
{
	struct drawing d = {.check = check_alpha, .body = draw_dirichlet};
	if (generator && !tn_runtime_ready(generator->runtime) && !tn_is_floating(dtype)) {
		tn_runtime_fail(generator->runtime, TN_DTYPE, "dirichlet",
				"dtype: expected f16, bf16, f32 or f64, found %s",
				tn_dtype_name(dtype));
		return NULL;
	}
	return draw_vectors(&d, generator, "dirichlet", "alpha", dtype, rank, shape, alpha);
}

/* ---- Multinomial -----------------------------------------------------------------------------*/

static tn_status check_probabilities(const struct drawing *d)
{
	struct tn_runtime *runtime = d->draw.runtime;
	double sum = 0;
	for (int64_t i = 0; i < d->k; i++) {
		if (!(d->line[i] >= 0 && d->line[i] <= 1))
			return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "multinomial",
					       "pvals: expected numbers in [0, 1], found %g at "
					       "%" PRId64,
					       d->line[i], i);
		if (i + 1 < d->k)
			sum += d->line[i];
	}
	if (sum > 1 + d->tolerance)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "multinomial",
				       "pvals: expected a sum of at most 1 before the last, "
				       "found %.17g",
				       sum);
	return TN_OK;
}

/* Each result is a binomial share of the trials that earlier ones left. */
static void draw_multinomial(void *argument, uint64_t begin, uint64_t end)
{
	const struct drawing *d = argument;
	for (uint64_t row = begin; row < end; row++) {
		double trials = d->n, rest = 1;
		for (int64_t i = 0; i < d->k; i++) {
			const uint64_t at = row * (uint64_t)d->k + (uint64_t)i;
			struct tn_words words = tn_words_of(d->draw.seed, d->draw.stream, at);
			const double share = rest > 0 ? fmin(d->line[i] / rest, 1) : 1;
			double count = trials;
			if (i + 1 < d->k)
				count = tn_sample_binomial(&words, (const double[]){trials, share});
			tn_host_draw_store(&d->draw, at, count);
			trials -= count;
			rest -= d->line[i];
		}
	}
}

tn_array *tn_generator_multinomial(tn_generator *generator, int rank, const int64_t *shape,
				   int64_t n, const tn_array *pvals)
{
	struct drawing d = {.check = check_probabilities, .body = draw_multinomial, .n = (double)n};
	if (generator && !tn_runtime_ready(generator->runtime) && (n < 0 || n > (int64_t)1 << 53)) {
		tn_runtime_fail(generator->runtime, TN_INVALID_ARGUMENT, "multinomial",
				"n: expected a whole number from 0 to 2^53, found %" PRId64, n);
		return NULL;
	}
	d.tolerance = pvals && pvals->dtype == TN_F64 ? 1e-12 : 1e-5;
	return draw_vectors(&d, generator, "multinomial", "pvals", TN_I64, rank, shape, pvals);
}
