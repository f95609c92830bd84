/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Repeated products, each of which is verified.
 *
 * The factors hold whole numbers from -4 to 4, so that every order of summation, and reduced
 * precision, gives the same exact result.  The first results are verified on the host by Freivalds'
 * check (1977): C r = A (B r) for random r, modulo 2^64, in n^2 steps.  Later ones are compared
 * with these on the device, which is cheap; every 16th is also fetched and verified on the host,
 * independently of the device.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "doctor.h"

#define MOST_SIZE 4096
#define FETCH_EACH 16
#define ENOUGH 0.02 /* least seconds of one product */

struct stress {
	struct doctor_device *device;
	struct doctor_result *result;
	struct doctor_run run; /* for random numbers */
	size_t n;
	int8_t *factors[2];          /* on the host */
	float *fetched;              /* a product on the host */
	uint64_t *r, *inner, *outer; /* vectors */
	tn_array *x[2], *known[2], *c;
	double seconds; /* of the products alone */
	size_t count;
};

/* ---- On the host -----------------------------------------------------------------------------*/

/* y = F x of a factor. */
static void times(const struct stress *s, const int8_t *factor, const uint64_t *x, uint64_t *y)
{
	for (size_t i = 0; i < s->n; i++) {
		uint64_t sum = 0;
		for (size_t k = 0; k < s->n; k++)
			sum += (uint64_t)(int64_t)factor[i * s->n + k] * x[k];
		y[i] = sum;
	}
}

/* 1: row i of the fetched product has whole numbers only, with that inner product. */
static int row_is_right(const struct stress *s, size_t i)
{
	uint64_t sum = 0;
	for (size_t j = 0; j < s->n; j++) {
		float c = s->fetched[i * s->n + j];
		if (!(fabsf(c) <= 0x1p24f) || c != (float)(int64_t)c)
			return 0;
		sum += (uint64_t)(int64_t)c * s->r[j];
	}
	return sum == s->outer[i];
}

static int64_t exact(const struct stress *s, int turn, size_t i, size_t j)
{
	int64_t sum = 0;
	for (size_t k = 0; k < s->n; k++)
		sum += s->factors[turn][i * s->n + k] * s->factors[!turn][k * s->n + j];
	return sum;
}

static void say_wrong(struct stress *s, int turn, size_t i)
{
	size_t j = 0;
	while (j + 1 < s->n && s->fetched[i * s->n + j] == (float)exact(s, turn, i, j))
		j++;
	doctor_fail(s->result,
		    "product %zu of %zu x %zu matrices: element (%zu, %zu): expected %" PRId64
		    ", found %.9g",
		    s->count, s->n, s->n, i, j, exact(s, turn, i, j),
		    (double)s->fetched[i * s->n + j]);
}

/* Fetches and verifies a product; 0: it is wrong, which is reported, or an error occurred. */
static int verify(struct stress *s, int turn)
{
	if (tn_to_host(s->c, s->fetched, s->n * s->n * sizeof(*s->fetched)))
		return 0;
	for (size_t j = 0; j < s->n; j++)
		s->r[j] = doctor_random(&s->run) | 1;
	times(s, s->factors[!turn], s->r, s->inner);
	times(s, s->factors[turn], s->inner, s->outer);
	for (size_t i = 0; i < s->n; i++) {
		if (row_is_right(s, i))
			continue;
		say_wrong(s, turn, i);
		return 0;
	}
	return 1;
}

/* ---- On the device ---------------------------------------------------------------------------*/

/* c := the product of that turn; NaN before, so that a stale result is detected. */
static int multiply(struct stress *s, int turn)
{
	if (tn_fill(s->c, NAN) || tn_synchronize(s->device->context))
		return 0;
	double start = doctor_seconds();
	if (tn_matmul_into(s->c, s->x[turn], 0, s->x[!turn], 0, 1, 0) ||
	    tn_synchronize(s->device->context))
		return 0;
	s->seconds += doctor_seconds() - start;
	s->count++;
	return 1;
}

static int is_known(struct stress *s, int turn)
{
	double wrong = 0;
	if (tn_scope_begin(s->device->context))
		return 0;
	tn_status status =
		tn_item(tn_sum(tn_not_equal(s->c, s->known[turn]), TN_ALL_AXES, NULL, 0), &wrong);
	tn_scope_end(s->device->context, NULL);
	if (status)
		return 0;
	if (wrong != 0 && verify(s, turn))
		doctor_fail(s->result,
			    "product %zu is correct, but the device counts %.0f wrong elements",
			    s->count, wrong);
	return wrong == 0;
}

static int one(struct stress *s, int turn)
{
	if (!multiply(s, turn) || !is_known(s, turn))
		return 0;
	if (s->count % FETCH_EACH == 0 && !verify(s, turn))
		return 0;
	s->result->cases++;
	return 1;
}

static int first(struct stress *s, int turn)
{
	if (!multiply(s, turn) || !verify(s, turn))
		return 0;
	s->known[turn] = tn_copy(s->c);
	s->result->cases++;
	return s->known[turn] != NULL;
}

/* ---- Sizes -----------------------------------------------------------------------------------*/

static void release(struct stress *s)
{
	for (int i = 0; i < 2; i++) {
		free(s->factors[i]);
		tn_array_destroy(s->x[i]);
		tn_array_destroy(s->known[i]);
		s->factors[i] = NULL;
		s->x[i] = s->known[i] = NULL;
	}
	tn_array_destroy(s->c);
	s->c = NULL;
	free(s->fetched);
	free(s->r);
	s->fetched = NULL;
	s->r = NULL;
}

static int make_factor(struct stress *s, int i)
{
	const int64_t shape[] = {(int64_t)s->n, (int64_t)s->n};
	s->factors[i] = malloc(s->n * s->n);
	if (!s->factors[i])
		return 0;
	for (size_t k = 0; k < s->n * s->n; k++)
		s->factors[i][k] = (int8_t)(doctor_random(&s->run) % 9) - 4;
	tn_array *bytes = tn_from_host(s->device->context, TN_I8, 2, shape, s->factors[i]);
	s->x[i] = tn_astype(bytes, TN_F32);
	tn_array_destroy(bytes);
	return s->x[i] != NULL;
}

static int prepare(struct stress *s, size_t n)
{
	const int64_t shape[] = {(int64_t)n, (int64_t)n};
	release(s);
	s->n = n;
	s->seconds = 0;
	s->count = 0;
	s->fetched = malloc(n * n * sizeof(*s->fetched));
	s->r = malloc(3 * n * sizeof(*s->r));
	if (!s->fetched || !s->r) {
		doctor_fail(s->result, "no host memory for matrices of %zu x %zu", n, n);
		return 0;
	}
	s->inner = s->r + n;
	s->outer = s->r + 2 * n;
	s->c = tn_empty(s->device->context, TN_F32, 2, shape);
	return s->c && make_factor(s, 0) && make_factor(s, 1);
}

/* Doubles the size until the second run of a product takes long enough. */
static int find_size(struct stress *s)
{
	size_t n = s->device->options->stress_size;
	if (n)
		return prepare(s, n);
	for (n = 64;; n *= 2) {
		if (!prepare(s, n) || !multiply(s, 0))
			return 0;
		s->seconds = 0;
		if (!multiply(s, 0))
			return 0;
		if (s->seconds >= ENOUGH || n == MOST_SIZE)
			break;
	}
	s->seconds = 0;
	s->count = 0;
	return 1;
}

static void load(struct stress *s)
{
	if (!find_size(s) || !first(s, 0) || !first(s, 1))
		return;
	double end = doctor_seconds() + s->device->options->stress_seconds;
	for (int turn = 0; doctor_seconds() < end; turn = !turn) {
		if (!one(s, turn))
			return;
	}
}

void doctor_stress(struct doctor_device *device, struct doctor_result *result)
{
	struct stress s = {.device = device, .result = result, .run = {.random = 2026}};
	load(&s);
	if (s.seconds > 0) {
		double n = (double)s.n;
		result->rate = 2e-9 * n * n * n * (double)s.count / s.seconds;
		result->unit = "GFLOP/s";
	}
	release(&s);
}
