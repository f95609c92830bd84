/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Batch norm over ranks.  Ranks that all have the same samples give what one of them gives; ranks
 * with parts of a batch, what the whole gives.
 */
#include "nn_backends.h"

#include "layers/batch_norm.h"

enum { N = 6, C = 3, L = 5, SIZE = N * C * L, BACKENDS = 3 };

static const char *const backends[BACKENDS] = {"reference!", "auto", "mock"};

static tn_context *context;

/* Ranks that have this rank's numbers. */
static tn_status repeat(void *user, size_t n, const double *own, double *all)
{
	const uint32_t *n_ranks = user;
	for (uint32_t rank = 0; rank < *n_ranks; rank++)
		memcpy(all + rank * n, own, n * sizeof(*own));
	return TN_OK;
}

struct norm {
	tn_array *x, *w, *b, *residual, *mean, *var; /* the last two: running */
};

struct result {
	double y[SIZE], dx[SIZE], dresidual[SIZE], dw[C], db[C], mean[C], var[C];
};

static tn_array *numbers(tn_dtype dtype, int rank, const int64_t *shape, double phase)
{
	double values[SIZE];
	int64_t n = 1;
	for (int i = 0; i < rank; i++)
		n *= shape[i];
	for (int64_t i = 0; i < n; i++)
		values[i] = sin(1.3 * (double)i + phase) + (i % 5 == 0);
	return tn_astype(tn_from_host(context, TN_F64, rank, shape, values), dtype);
}

static struct norm make_norm(tn_dtype dtype)
{
	const int64_t shape[] = {N, C, L}, c[] = {C};
	const tn_dtype wide = dtype == TN_F64 ? TN_F64 : TN_F32;
	return (struct norm){numbers(dtype, 3, shape, 0),   numbers(dtype, 1, c, 1),
			     numbers(dtype, 1, c, 2),       numbers(dtype, 3, shape, 3),
			     tn_zeros(context, wide, 1, c), tn_ones(context, wide, 1, c)};
}

static void read(const tn_array *a, double *to)
{
	assert_non_null(a);
	const tn_array *wide = tn_astype(a, TN_F64);
	assert_ok(tn_to_host(wide, to, (size_t)tn_array_size(wide) * sizeof(*to)));
}

/* 0, which keeps the running statistics, is tried too. */
static double momentum_of(int has_residual)
{
	return has_residual ? 0 : 0.2;
}

static void run(tn_dtype dtype, uint32_t activation, int has_residual,
		const struct tn_norm_ranks *ranks, struct result *result)
{
	memset(result, 0, sizeof(*result));
	assert_ok(tn_scope_begin(context));
	const struct norm n = make_norm(dtype);
	struct tn_batch_norm_options options = tn_batch_norm_defaults();
	options.training = 1;
	options.activation = activation;
	options.running_mean = n.mean;
	options.running_var = n.var;
	options.residual = has_residual ? n.residual : NULL;
	options.momentum = momentum_of(has_residual);
	tn_tape *tape = tn_tape_begin(context);
	tn_array *const leaves[] = {n.x, n.w, n.b, n.residual};
	double *const gradients[] = {result->dx, result->dw, result->db, result->dresidual};
	for (int i = 0; i < 3 + has_residual; i++)
		assert_ok(tn_tape_watch(tape, leaves[i]));
	tn_array *y = tn_batch_norm_of_ranks(n.x, n.w, n.b, &options, ranks);
	const int64_t shape[] = {N, C, L};
	assert_ok(tn_tape_backward(tape, y, numbers(dtype, 3, shape, 4)));
	read(y, result->y);
	for (int i = 0; i < 3 + has_residual; i++)
		read(tn_tape_gradient(tape, leaves[i]), gradients[i]);
	read(n.mean, result->mean);
	read(n.var, result->var);
	tn_tape_end(tape);
	tn_scope_end(context, NULL);
}

static void compare(const double *found, const double *expected, size_t n, double tolerance)
{
	for (size_t i = 0; i < n; i++)
		assert_close(found[i], expected[i], tolerance);
}

static void equal_ranks_give_what_one_gives(void **state)
{
	static const tn_dtype dtypes[] = {TN_F64, TN_F32, TN_F16};
	static const double tolerances[] = {1e-12, 1e-5, 1e-2};
	(void)state;
	for (int backend = 0; backend < BACKENDS; backend++) {
		context = open_backend(backends[backend]);
		for (uint32_t i = 0; i < 3 * 3 * 2; i++) {
			const tn_dtype dtype = dtypes[i % 3];
			const uint32_t activation = i / 3 % 3;
			const double tolerance = tolerances[i % 3];
			struct result alone, found;
			run(dtype, activation, i >= 9, NULL, &alone);
			for (uint32_t n_ranks = 1; n_ranks <= 2; n_ranks++) {
				const struct tn_norm_ranks ranks = {n_ranks, repeat, &n_ranks};
				run(dtype, activation, i >= 9, &ranks, &found);
				compare(found.y, alone.y, SIZE, tolerance);
				compare(found.dx, alone.dx, SIZE, tolerance);
				compare(found.dresidual, alone.dresidual, SIZE, tolerance);
				compare(found.dw, alone.dw, C, 10 * tolerance);
				compare(found.db, alone.db, C, 10 * tolerance);
				compare(found.mean, alone.mean, C, tolerance);
				/* The variance of a population of n_ranks * N * L. */
				const double m = N * L, all = m * n_ranks;
				const double factor = (all / (all - 1)) / (m / (m - 1));
				const double kept = 1 - momentum_of(i >= 9);
				for (int c = 0; c < C; c++)
					assert_close(found.var[c] - kept,
						     factor * (alone.var[c] - kept),
						     10 * tolerance);
			}
		}
		tn_context_close(context);
	}
}

/* A rank whose partner has other samples; `own` is noted. */
struct partner {
	double numbers[2 * C + 1];
	size_t n;
};

static tn_status exchange(void *user, size_t n, const double *own, double *all)
{
	const struct partner *partner = user;
	assert_int_equal(n, partner->n);
	memcpy(all, own, n * sizeof(*own));
	memcpy(all + n, partner->numbers, n * sizeof(*own));
	return TN_OK;
}

/* 2 rows here, 4 at the other rank: y is that of the first rows of the whole. */
static void parts_give_the_statistics_of_the_whole(void **state)
{
	(void)state;
	for (int backend = 0; backend < BACKENDS; backend++) {
		struct result whole;
		struct partner partner = {.n = 2 * C + 1};
		context = open_backend(backends[backend]);
		run(TN_F64, 0, 0, NULL, &whole);
		const struct norm n = make_norm(TN_F64);
		const tn_array *other = tn_slice(n.x, 0, 2, N, 1);
		partner.numbers[0] = 4.0 * L;
		read(tn_mean(other, 2, (int[]){0, 2}, 0), partner.numbers + 1);
		read(tn_var(other, 2, (int[]){0, 2}, 0, 0), partner.numbers + 1 + C);
		const struct tn_norm_ranks ranks = {2, exchange, &partner};
		struct tn_batch_norm_options options = tn_batch_norm_defaults();
		options.training = 1;
		options.running_mean = n.mean;
		options.running_var = n.var;
		options.momentum = 0.2;
		const tn_array *y = tn_batch_norm_of_ranks(tn_slice(n.x, 0, 0, 2, 1), n.w, n.b,
							   &options, &ranks);
		double found[SIZE], mean[C], var[C];
		read(y, found);
		read(n.mean, mean);
		read(n.var, var);
		compare(found, whole.y, 2 * C * L, 1e-12);
		compare(mean, whole.mean, C, 1e-12);
		compare(var, whole.var, C, 1e-12);
		tn_context_close(context);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_ranks_give_what_one_gives),
		cmocka_unit_test(parts_give_the_statistics_of_the_whole),
	};
	keep_plugin_path();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
