/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Random numbers: generators and distributions, with the names of NumPy's Generator.
 *
 * A generator is a seed and the number of its next stream.  Each call that draws uses one stream, a
 * complex normal one two.  Number i of a call depends on seed, stream and i alone, but for orders
 * and choices without replacement: the first numbers do not depend on how many are drawn, nor any
 * on threads or on the backend.  All bits are the same on every backend; tn_random(3) says what
 * holds between machines.
 *
 *   on the device  integers, random, uniform, normal, bernoulli, permutations and choices without
 *                  weights: from integer operations, and rounded sums and products.  They can be
 *                  captured: each replay draws the next stream (tenon/capture.h).
 *   on the host    all others, and normal in f64 and c128: they need a logarithm or draw until they
 *                  accept.  The numbers are then copied to the device, and counted as a host run.
 *                  TN_NOT_CAPTURABLE while work is captured; TN_UNSUPPORTED: TENON_FALLBACK
 *                  forbids the host.
 *
 * A new array has `rank` axes of the lengths in shape, on the current device.  Real distributions
 * take f16, bf16, f32 or f64: numbers are drawn in f64, and rounded, which can round a bound up or
 * to infinity.  Distributions of integers give i64.  Gradients do not pass through draws; those of
 * a normal or uniform number's parameters come from mean + deviation * z or low + (high - low) * u.
 * Errors that many have, which the context keeps:
 *   TN_INVALID_ARGUMENT  a parameter is out of range or not finite: its name, the range and the
 *                        number found; or the shape is not valid
 *   TN_DTYPE             the distribution does not have that dtype
 * A draw that fails uses no stream.  NULL in gives NULL out.
 * All functions: [thread: one per context | may return before the result is ready | since 0.1].
 */
#ifndef TENON_RANDOM_H
#define TENON_RANDOM_H

#include <tenon/manipulate.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Generators ------------------------------------------------------------------------------*/

typedef struct tn_generator tn_generator;

/* A generator of that seed whose next stream is 0; owned by the caller.  It belongs to its context
 * as arrays do, and draws nothing once that is closed.  TN_OUT_OF_MEMORY. */
TN_API tn_generator *tn_generator_create(tn_context *context, uint64_t seed);
/* Takes NULL, and ignores the default generator.  Captured work that draws keeps what it needs. */
TN_API void tn_generator_destroy(tn_generator *generator);
/* The context's own: its state is tn_random_get_state's, with the seed of the context's options or
 * of TENON_SEED.  Borrowed; ends with the context. */
TN_API tn_generator *tn_default_generator(tn_context *context);
/* A generator whose seed is drawn from this one's next stream: what the two draw is independent,
 * and repeated splits give different ones.  Owned by the caller.  TN_NOT_CAPTURABLE. */
TN_API tn_generator *tn_generator_split(tn_generator *generator);
/* Setting a state that was got goes on with the same numbers, in any process.  NULL: zeros.
 * TN_NOT_CAPTURABLE (kept): while work is captured, nothing is set. */
TN_API struct tn_random_state tn_generator_get_state(const tn_generator *generator);
TN_API tn_status tn_generator_set_state(tn_generator *generator, struct tn_random_state state);

/* ---- On the device ---------------------------------------------------------------------------*/

/* Uniform integers from low to high - 1, or with `endpoint` to high, of a dtype i8 to i64 or u8 to
 * u64: floor(n w / 2^k) for n numbers and k random bits.  k is chosen so that no number's
 * probability is off 1 / n by more than 1 part in 2^64, and exact if n is a power of 2.
 * TN_INVALID_ARGUMENT: there is no such number, or the dtype does not hold all of them. */
TN_API tn_array *tn_generator_integers(tn_generator *generator, tn_dtype dtype, int rank,
				       const int64_t *shape, int64_t low, int64_t high,
				       int endpoint);
/* The same with bounds of i64 or u64, for u64 above 2^63. */
TN_API tn_array *tn_generator_integers_number(tn_generator *generator, tn_dtype dtype, int rank,
					      const int64_t *shape, tn_number low, tn_number high,
					      int endpoint);
/* `size` random bytes, written to the host; not while work is captured. */
TN_API tn_status tn_generator_bytes(tn_generator *generator, void *data, size_t size);
/* Uniform in [0, 1) and in [low, high): low + (high - low) u with a u of 24 bits, in f64 of 53,
 * computed in f32 or f64; the bounds are rounded to the dtype first, and what rounds up to high is
 * the number below it.  TN_INVALID_ARGUMENT: low > high, or a bound or their difference is not
 * finite. */
TN_API tn_array *tn_generator_random(tn_generator *generator, tn_dtype dtype, int rank,
				     const int64_t *shape);
TN_API tn_array *tn_generator_uniform(tn_generator *generator, tn_dtype dtype, int rank,
				      const int64_t *shape, double low, double high);
/* mean + deviation z: z from 32 bits, within +-6.4, in f16, bf16, f32 and c64; from 52 bits, on the
 * host, in f64 and c128.  deviation >= 0.  A complex number's parts are independent, with
 * deviation / sqrt(2) each; the mean is its real part's. */
TN_API tn_array *tn_generator_standard_normal(tn_generator *generator, tn_dtype dtype, int rank,
					      const int64_t *shape);
TN_API tn_array *tn_generator_normal(tn_generator *generator, tn_dtype dtype, int rank,
				     const int64_t *shape, double mean, double deviation);
/* bool: true with probability p, in [0, 1], a multiple of 2^-63; 0 and 1 are exact. */
TN_API tn_array *tn_generator_bernoulli(tn_generator *generator, int rank, const int64_t *shape,
					double p);
/* The same with a floating p for each element, which is not checked: below 0, and NaN, count as 0,
 * above 1 as 1. */
TN_API tn_array *tn_generator_bernoulli_array(tn_generator *generator, const tn_array *p);

/* i64: the numbers 0 to n - 1 in random order: that of n random keys of 63 bits.
 * TN_INVALID_ARGUMENT: n is below 0. */
TN_API tn_array *tn_generator_permutation(tn_generator *generator, int64_t n);
/* A copy with its slices along the axis in random order, and the same in place.  Axes below 0 count
 * from the end; TN_INVALID_ARGUMENT: there is no such axis.  TN_STATE: the array requires a
 * derivative (shuffle). */
TN_API tn_array *tn_generator_permutation_of(tn_generator *generator, const tn_array *a, int axis);
TN_API tn_status tn_generator_shuffle(tn_generator *generator, tn_array *a, int axis);
/* A copy with each line along the axis in an order of its own; TN_AXIS_NONE: all elements. */
TN_API tn_array *tn_generator_permuted(tn_generator *generator, const tn_array *a, int axis);
/* i64: numbers below n, which tn_take makes elements: with `replace` independent ones, else no two
 * equal.  weights NULL: each as probable.  Else a line of n numbers of 0 or more (TN_SHAPE),
 * which need not add up to 1: the host reads it and draws; without replacement one after another,
 * in proportion to the weights of what is left.
 * TN_INVALID_ARGUMENT: without replacement more numbers than n, or than weights above 0; n or the
 * sum of the weights is 0 where something is drawn; a weight is negative or not finite. */
TN_API tn_array *tn_generator_choice(tn_generator *generator, int64_t n, int rank,
				     const int64_t *shape, int replace, const tn_array *weights);

/* ---- Distributions on the host ---------------------------------------------------------------*/

/* Their parameters, in order, and what those must be (finite in any case). */
enum {
	TN_DISTRIBUTION_EXPONENTIAL = 1,       /* scale >= 0 */
	TN_DISTRIBUTION_GAMMA = 2,             /* a >= 0, scale >= 0 */
	TN_DISTRIBUTION_BETA = 3,              /* a > 0, b > 0 */
	TN_DISTRIBUTION_CHISQUARE = 4,         /* df > 0 */
	TN_DISTRIBUTION_F = 5,                 /* dfnum > 0, dfden > 0 */
	TN_DISTRIBUTION_STANDARD_T = 6,        /* df > 0 */
	TN_DISTRIBUTION_LAPLACE = 7,           /* loc, scale >= 0 */
	TN_DISTRIBUTION_LOGISTIC = 8,          /* loc, scale >= 0 */
	TN_DISTRIBUTION_GUMBEL = 9,            /* loc, scale >= 0 */
	TN_DISTRIBUTION_CAUCHY = 10,           /* loc, scale >= 0 */
	TN_DISTRIBUTION_LOGNORMAL = 11,        /* mean, sigma >= 0 */
	TN_DISTRIBUTION_RAYLEIGH = 12,         /* scale >= 0 */
	TN_DISTRIBUTION_WEIBULL = 13,          /* a > 0 */
	TN_DISTRIBUTION_PARETO = 14,           /* a > 0 */
	TN_DISTRIBUTION_POWER = 15,            /* a > 0 */
	TN_DISTRIBUTION_WALD = 16,             /* mean > 0, scale > 0 */
	TN_DISTRIBUTION_TRIANGULAR = 17,       /* left <= mode <= right, left < right */
	TN_DISTRIBUTION_TRUNCATED_NORMAL = 18, /* mean, deviation > 0, low < high, maybe infinite */
	TN_DISTRIBUTION_BINOMIAL = 19,         /* n >= 0, a whole number up to 2^53; 0 <= p <= 1 */
	TN_DISTRIBUTION_POISSON = 20,          /* lam >= 0, at most 2^53 */
	TN_DISTRIBUTION_GEOMETRIC = 21,        /* 0 < p <= 1 */
	TN_DISTRIBUTION_NEGATIVE_BINOMIAL = 22,    /* n > 0, 0 < p <= 1 */
	TN_DISTRIBUTION_NONCENTRAL_CHISQUARE = 23, /* df > 0; nonc from 0 to 2^53 */
	TN_DISTRIBUTION_NONCENTRAL_F = 24,         /* dfnum > 0, dfden > 0; nonc from 0 to 2^53 */
	TN_DISTRIBUTION_VONMISES = 25,             /* mu, kappa >= 0 */
	TN_DISTRIBUTION_HYPERGEOMETRIC = 26, /* ngood, nbad, nsample <= ngood + nbad <= 2^53 */
	TN_DISTRIBUTION_LOGSERIES = 27,      /* 0 <= p < 1 */
	TN_DISTRIBUTION_ZIPF = 28,           /* a > 1 */
};

enum { TN_RANK_OF_PARAMETERS = -1 };

/* Numbers of that distribution with arrays as parameters, real ones, which broadcast to the shape;
 * with TN_RANK_OF_PARAMETERS as rank the shape is that of the parameters together.  dtype is TN_I64
 * for distributions of integers.  Waits for the device, to read the parameters.  With scalars in
 * the arrays it gives the bits of the functions below.  TN_SHAPE: the shapes do not fit.  TN_DTYPE:
 * a parameter is complex.  TN_INVALID_ARGUMENT: there is no such distribution, it has another
 * number of parameters, or one of them is NULL. */
TN_API tn_array *tn_generator_sample(tn_generator *generator, uint32_t distribution, tn_dtype dtype,
				     int rank, const int64_t *shape, int n_parameters,
				     const tn_array *const *parameters);

TN_API tn_array *tn_generator_exponential(tn_generator *generator, tn_dtype dtype, int rank,
					  const int64_t *shape, double scale);
/* The density is x^(a - 1) exp(-x / scale), with a the shape parameter. */
TN_API tn_array *tn_generator_gamma(tn_generator *generator, tn_dtype dtype, int rank,
				    const int64_t *shape, double a, double scale);
TN_API tn_array *tn_generator_beta(tn_generator *generator, tn_dtype dtype, int rank,
				   const int64_t *shape, double a, double b);
TN_API tn_array *tn_generator_chisquare(tn_generator *generator, tn_dtype dtype, int rank,
					const int64_t *shape, double df);
TN_API tn_array *tn_generator_f(tn_generator *generator, tn_dtype dtype, int rank,
				const int64_t *shape, double dfnum, double dfden);
/* Of normal numbers whose means' squares add up to nonc. */
TN_API tn_array *tn_generator_noncentral_chisquare(tn_generator *generator, tn_dtype dtype,
						   int rank, const int64_t *shape, double df,
						   double nonc);
TN_API tn_array *tn_generator_noncentral_f(tn_generator *generator, tn_dtype dtype, int rank,
					   const int64_t *shape, double dfnum, double dfden,
					   double nonc);
TN_API tn_array *tn_generator_standard_t(tn_generator *generator, tn_dtype dtype, int rank,
					 const int64_t *shape, double df);
TN_API tn_array *tn_generator_laplace(tn_generator *generator, tn_dtype dtype, int rank,
				      const int64_t *shape, double loc, double scale);
TN_API tn_array *tn_generator_logistic(tn_generator *generator, tn_dtype dtype, int rank,
				       const int64_t *shape, double loc, double scale);
TN_API tn_array *tn_generator_gumbel(tn_generator *generator, tn_dtype dtype, int rank,
				     const int64_t *shape, double loc, double scale);
/* NumPy's standard_cauchy has loc 0 and scale 1. */
TN_API tn_array *tn_generator_cauchy(tn_generator *generator, tn_dtype dtype, int rank,
				     const int64_t *shape, double loc, double scale);
/* exp of a normal number. */
TN_API tn_array *tn_generator_lognormal(tn_generator *generator, tn_dtype dtype, int rank,
					const int64_t *shape, double mean, double sigma);
TN_API tn_array *tn_generator_rayleigh(tn_generator *generator, tn_dtype dtype, int rank,
				       const int64_t *shape, double scale);
TN_API tn_array *tn_generator_weibull(tn_generator *generator, tn_dtype dtype, int rank,
				      const int64_t *shape, double a);
/* Lomax's, as NumPy's: density a (1 + x)^(-a - 1). */
TN_API tn_array *tn_generator_pareto(tn_generator *generator, tn_dtype dtype, int rank,
				     const int64_t *shape, double a);
/* Density a x^(a - 1) in [0, 1]. */
TN_API tn_array *tn_generator_power(tn_generator *generator, tn_dtype dtype, int rank,
				    const int64_t *shape, double a);
TN_API tn_array *tn_generator_wald(tn_generator *generator, tn_dtype dtype, int rank,
				   const int64_t *shape, double mean, double scale);
/* An angle in [-pi, pi], with density exp(kappa cos(x - mu)). */
TN_API tn_array *tn_generator_vonmises(tn_generator *generator, tn_dtype dtype, int rank,
				       const int64_t *shape, double mu, double kappa);
TN_API tn_array *tn_generator_triangular(tn_generator *generator, tn_dtype dtype, int rank,
					 const int64_t *shape, double left, double mode,
					 double right);
/* A normal number, given that it is in [low, high]. */
TN_API tn_array *tn_generator_truncated_normal(tn_generator *generator, tn_dtype dtype, int rank,
					       const int64_t *shape, double mean, double deviation,
					       double low, double high);

/* Successes in n trials of probability p. */
TN_API tn_array *tn_generator_binomial(tn_generator *generator, int rank, const int64_t *shape,
				       int64_t n, double p);
TN_API tn_array *tn_generator_poisson(tn_generator *generator, int rank, const int64_t *shape,
				      double lam);
/* Trials up to the first success, at least 1; INT64_MAX at most. */
TN_API tn_array *tn_generator_geometric(tn_generator *generator, int rank, const int64_t *shape,
					double p);
/* Failures before the n-th success; n need not be a whole number.  INT64_MAX at most. */
TN_API tn_array *tn_generator_negative_binomial(tn_generator *generator, int rank,
						const int64_t *shape, double n, double p);
/* Good ones among nsample of ngood + nbad, drawn without replacement. */
TN_API tn_array *tn_generator_hypergeometric(tn_generator *generator, int rank,
					     const int64_t *shape, int64_t ngood, int64_t nbad,
					     int64_t nsample);
/* Probability of k >= 1: -p^k / (k log(1 - p)). */
TN_API tn_array *tn_generator_logseries(tn_generator *generator, int rank, const int64_t *shape,
					double p);
/* Probability of k >= 1: in proportion to k^-a; INT64_MAX at most. */
TN_API tn_array *tn_generator_zipf(tn_generator *generator, int rank, const int64_t *shape,
				   double a);

/* Vectors along a new last axis, which has the length k of the line alpha or pvals (TN_SHAPE:
 * another rank).  The host reads the line. */

/* Numbers that add up to 1; alpha > 0, k >= 1. */
TN_API tn_array *tn_generator_dirichlet(tn_generator *generator, tn_dtype dtype, int rank,
					const int64_t *shape, const tn_array *alpha);
/* i64: how often each of k results comes in n trials, n from 0 to 2^53.  pvals are probabilities;
 * the last counts as what the others leave of 1.  TN_INVALID_ARGUMENT: those before the last add up
 * to more than 1 + 1e-12, or to more than 1 + 1e-5 of f16, bf16 or f32. */
TN_API tn_array *tn_generator_multinomial(tn_generator *generator, int rank, const int64_t *shape,
					  int64_t n, const tn_array *pvals);

#ifdef __cplusplus
}
#endif
#endif
