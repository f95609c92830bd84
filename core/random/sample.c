/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Host draws of one number for each element, with numbers or arrays as parameters.
 */
#include "random/sample.h"

#include <tenon/random.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "base/memory.h"
#include "random/host_draw.h"

/* One call.  Parameter i of element e is values[i][at(strides[i], e)]. */
struct sampling {
	struct tn_host_draw draw;
	const struct tn_distribution *distribution;
	int varies; /* parameters are not the same for all elements */
	const double *values[TN_MOST_PARAMETERS];
	int64_t strides[TN_MOST_PARAMETERS][TN_MAX_RANK];
};

/* ---- Elements --------------------------------------------------------------------------------*/

static void parameters_of(const struct sampling *s, uint64_t element, double *parameters)
{
	const tn_array *out = s->draw.out;
	int64_t at[TN_MOST_PARAMETERS] = {0};
	for (int axis = out->rank; axis-- > 0 && s->varies;) {
		const int64_t place = (int64_t)(element % (uint64_t)out->shape[axis]);
		element /= (uint64_t)out->shape[axis];
		for (int i = 0; i < s->distribution->n_parameters; i++)
			at[i] += place * s->strides[i][axis];
	}
	for (int i = 0; i < s->distribution->n_parameters; i++)
		parameters[i] = s->values[i][at[i]];
}

static void draw_elements(void *argument, uint64_t begin, uint64_t end)
{
	const struct sampling *s = argument;
	double parameters[TN_MOST_PARAMETERS];
	for (uint64_t i = begin; i < end; i++) {
		struct tn_words words = tn_words_of(s->draw.seed, s->draw.stream, i);
		if (i == begin || s->varies)
			parameters_of(s, i, parameters);
		tn_host_draw_store(&s->draw, i, s->distribution->draw(&words, parameters));
	}
}

static tn_status check_elements(const struct sampling *s)
{
	double parameters[TN_MOST_PARAMETERS];
	tn_status status = TN_OK;
	for (int64_t i = 0; i < s->draw.out->size && !status; i++) {
		parameters_of(s, (uint64_t)i, parameters);
		status = tn_distribution_check(s->draw.runtime, s->distribution, parameters);
	}
	return status;
}

/* ---- Numbers as parameters -------------------------------------------------------------------*/

static tn_status check_dtype(struct tn_runtime *runtime, const struct tn_distribution *distribution,
			     tn_dtype dtype)
{
	if (distribution->gives_integers && dtype != TN_I64)
		return tn_runtime_fail(runtime, TN_DTYPE, distribution->name,
				       "dtype: expected i64, found %s", tn_dtype_name(dtype));
	if (!distribution->gives_integers && !tn_is_floating(dtype))
		return tn_runtime_fail(runtime, TN_DTYPE, distribution->name,
				       "dtype: expected f16, bf16, f32 or f64, found %s",
				       tn_dtype_name(dtype));
	return TN_OK;
}

tn_array *tn_sample_host(tn_generator *generator, uint32_t number, tn_dtype dtype, int rank,
			 const int64_t *shape, const double *parameters)
{
	struct sampling s = {.distribution = &tn_distributions[number]};
	if (!generator || tn_runtime_ready(generator->runtime) ||
	    check_dtype(generator->runtime, s.distribution, dtype))
		return NULL;
	if (tn_distribution_check(generator->runtime, s.distribution, parameters))
		return tn_end(generator->runtime, generator->runtime->report.status, NULL);
	if (tn_host_draw_begin(&s.draw, generator, s.distribution->name, dtype, rank, shape))
		return NULL;
	for (int i = 0; i < s.distribution->n_parameters; i++)
		s.values[i] = &parameters[i];
	tn_host_draw_for(&s.draw, s.draw.out->size, draw_elements, &s);
	return tn_host_draw_end(&s.draw, TN_OK);
}

/* ---- Arrays as parameters --------------------------------------------------------------------*/

/* The error is kept. */
static tn_status check_parameters(struct tn_runtime *runtime,
				  const struct tn_distribution *distribution, int n,
				  const tn_array *const *parameters)
{
	if (n != distribution->n_parameters)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, distribution->name,
				       "expected %d parameters, found %d",
				       distribution->n_parameters, n);
	for (int i = 0; i < n; i++) {
		if (!parameters || !parameters[i])
			return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, distribution->name,
					       "%s is NULL", distribution->parameters[i]);
		if (tn_is_complex(parameters[i]->dtype))
			return tn_runtime_fail(runtime, TN_DTYPE, distribution->name,
					       "%s: expected real numbers, found %s",
					       distribution->parameters[i],
					       tn_dtype_name(parameters[i]->dtype));
		if (parameters[i]->runtime != runtime)
			return tn_runtime_fail(runtime, TN_DEVICE, distribution->name,
					       "%s: the array and the generator are in different "
					       "contexts",
					       distribution->parameters[i]);
	}
	return tn_begin((uint32_t)n, parameters, distribution->name) ? TN_OK
								     : runtime->error.status;
}

/* The shape of the result, from that of the parameters where rank says so.  The error is kept. */
static tn_status find_shape(struct tn_runtime *runtime, const struct tn_distribution *distribution,
			    const tn_array *const *parameters, int *rank,
			    int64_t shape[TN_MAX_RANK])
{
	char wanted[TN_SHAPE_TEXT], found[TN_SHAPE_TEXT];
	const int is_given = *rank != TN_RANK_OF_PARAMETERS;
	int common = is_given ? *rank : 0;
	int64_t lengths[TN_MAX_RANK];
	for (int i = 0; i < common; i++)
		lengths[i] = shape[i];
	for (int i = 0; i < distribution->n_parameters; i++) {
		const tn_array *p = parameters[i];
		if (!tn_shape_broadcast(&common, lengths, p->rank, p->shape) ||
		    (is_given && !tn_shape_equal(common, lengths, *rank, shape)))
			return tn_runtime_fail(runtime, TN_SHAPE, distribution->name,
					       "%s: shape %s does not broadcast to %s",
					       distribution->parameters[i], tn_array_text(p, found),
					       is_given ? tn_shape_print(*rank, shape, wanted)
							: "that of the other parameters");
	}
	*rank = common;
	for (int i = 0; i < common; i++)
		shape[i] = lengths[i];
	return TN_OK;
}

static tn_array *draw_with(struct sampling *s, const tn_array *const *parameters)
{
	double *values[TN_MOST_PARAMETERS] = {NULL};
	const tn_array *out = s->draw.out;
	tn_status status = TN_OK;
	s->varies = 1;
	for (int i = 0; i < s->distribution->n_parameters && !status; i++) {
		/* The values lie row-major, whatever the strides of the array are. */
		tn_array compact = *parameters[i];
		tn_shape_compact(compact.rank, compact.shape, compact.strides);
		tn_shape_broadcast_strides(&compact, out->rank, out->shape, s->strides[i]);
		status = tn_host_draw_read(&s->draw, parameters[i], &values[i]);
		s->values[i] = values[i];
	}
	if (!status)
		status = check_elements(s);
	if (!status)
		tn_host_draw_for(&s->draw, out->size, draw_elements, s);
	for (int i = 0; i < TN_MOST_PARAMETERS; i++)
		tn_mem_free(values[i]);
	return tn_host_draw_end(&s->draw, status);
}

tn_array *tn_generator_sample(tn_generator *generator, uint32_t distribution, tn_dtype dtype,
			      int rank, const int64_t *shape, int n_parameters,
			      const tn_array *const *parameters)
{
	struct sampling s = {0};
	int64_t lengths[TN_MAX_RANK] = {0}, size;
	if (!generator && n_parameters > 0 && parameters && parameters[0])
		tn_runtime_null(parameters[0]->runtime, "sample", "generator");
	if (!generator || tn_runtime_ready(generator->runtime))
		return NULL;
	struct tn_runtime *runtime = generator->runtime;
	if (!distribution || distribution >= TN_DISTRIBUTIONS) {
		tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "sample",
				"distribution: expected TN_DISTRIBUTION_..., found %u",
				distribution);
		return NULL;
	}
	s.distribution = &tn_distributions[distribution];
	if (rank != TN_RANK_OF_PARAMETERS &&
	    tn_shape_check(runtime, s.distribution->name, dtype, rank, shape, &size))
		return tn_end(runtime, runtime->report.status, NULL);
	for (int i = 0; i < rank; i++)
		lengths[i] = shape[i];
	if (check_dtype(runtime, s.distribution, dtype) ||
	    check_parameters(runtime, s.distribution, n_parameters, parameters) ||
	    find_shape(runtime, s.distribution, parameters, &rank, lengths) ||
	    tn_host_draw_begin(&s.draw, generator, s.distribution->name, dtype, rank, lengths))
		return NULL;
	return draw_with(&s, parameters);
}

/* ---- The distributions by name ---------------------------------------------------------------*/

tn_array *tn_generator_exponential(tn_generator *generator, tn_dtype dtype, int rank,
				   const int64_t *shape, double scale)
{
	return tn_sample_host(generator, TN_DISTRIBUTION_EXPONENTIAL, dtype, rank, shape, &scale);
}

tn_array *tn_generator_gamma(tn_generator *generator, tn_dtype dtype, int rank,
			     const int64_t *shape, double a, double scale)
{
	return tn_sample_host(generator, TN_DISTRIBUTION_GAMMA, dtype, rank, shape,
			      (const double[]){a, scale});
}

tn_array *tn_generator_beta(tn_generator *generator, tn_dtype dtype, int rank, const int64_t *shape,
			    double a, double b)
{
	return tn_sample_host(generator, TN_DISTRIBUTION_BETA, dtype, rank, shape,
			      (const double[]){a, b});
}

tn_array *tn_generator_chisquare(tn_generator *generator, tn_dtype dtype, int rank,
				 const int64_t *shape, double df)
{
	return tn_sample_host(generator, TN_DISTRIBUTION_CHISQUARE, dtype, rank, shape, &df);
}

tn_array *tn_generator_f(tn_generator *generator, tn_dtype dtype, int rank, const int64_t *shape,
			 double dfnum, double dfden)
{
	return tn_sample_host(generator, TN_DISTRIBUTION_F, dtype, rank, shape,
			      (const double[]){dfnum, dfden});
}

tn_array *tn_generator_standard_t(tn_generator *generator, tn_dtype dtype, int rank,
				  const int64_t *shape, double df)
{
	return tn_sample_host(generator, TN_DISTRIBUTION_STANDARD_T, dtype, rank, shape, &df);
}

tn_array *tn_generator_laplace(tn_generator *generator, tn_dtype dtype, int rank,
			       const int64_t *shape, double loc, double scale)
{
	return tn_sample_host(generator, TN_DISTRIBUTION_LAPLACE, dtype, rank, shape,
			      (const double[]){loc, scale});
}

tn_array *tn_generator_logistic(tn_generator *generator, tn_dtype dtype, int rank,
				const int64_t *shape, double loc, double scale)
{
	return tn_sample_host(generator, TN_DISTRIBUTION_LOGISTIC, dtype, rank, shape,
			      (const double[]){loc, scale});
}

tn_array *tn_generator_gumbel(tn_generator *generator, tn_dtype dtype, int rank,
			      const int64_t *shape, double loc, double scale)
{
	return tn_sample_host(generator, TN_DISTRIBUTION_GUMBEL, dtype, rank, shape,
			      (const double[]){loc, scale});
}

tn_array *tn_generator_cauchy(tn_generator *generator, tn_dtype dtype, int rank,
			      const int64_t *shape, double loc, double scale)
{
	return tn_sample_host(generator, TN_DISTRIBUTION_CAUCHY, dtype, rank, shape,
			      (const double[]){loc, scale});
}

tn_array *tn_generator_lognormal(tn_generator *generator, tn_dtype dtype, int rank,
				 const int64_t *shape, double mean, double sigma)
{
	return tn_sample_host(generator, TN_DISTRIBUTION_LOGNORMAL, dtype, rank, shape,
			      (const double[]){mean, sigma});
}

tn_array *tn_generator_rayleigh(tn_generator *generator, tn_dtype dtype, int rank,
				const int64_t *shape, double scale)
{
	return tn_sample_host(generator, TN_DISTRIBUTION_RAYLEIGH, dtype, rank, shape, &scale);
}

tn_array *tn_generator_weibull(tn_generator *generator, tn_dtype dtype, int rank,
			       const int64_t *shape, double a)
{
	return tn_sample_host(generator, TN_DISTRIBUTION_WEIBULL, dtype, rank, shape, &a);
}

tn_array *tn_generator_pareto(tn_generator *generator, tn_dtype dtype, int rank,
			      const int64_t *shape, double a)
{
	return tn_sample_host(generator, TN_DISTRIBUTION_PARETO, dtype, rank, shape, &a);
}

tn_array *tn_generator_power(tn_generator *generator, tn_dtype dtype, int rank,
			     const int64_t *shape, double a)
{
	return tn_sample_host(generator, TN_DISTRIBUTION_POWER, dtype, rank, shape, &a);
}

tn_array *tn_generator_wald(tn_generator *generator, tn_dtype dtype, int rank, const int64_t *shape,
			    double mean, double scale)
{
	return tn_sample_host(generator, TN_DISTRIBUTION_WALD, dtype, rank, shape,
			      (const double[]){mean, scale});
}

tn_array *tn_generator_triangular(tn_generator *generator, tn_dtype dtype, int rank,
				  const int64_t *shape, double left, double mode, double right)
{
	return tn_sample_host(generator, TN_DISTRIBUTION_TRIANGULAR, dtype, rank, shape,
			      (const double[]){left, mode, right});
}

tn_array *tn_generator_truncated_normal(tn_generator *generator, tn_dtype dtype, int rank,
					const int64_t *shape, double mean, double deviation,
					double low, double high)
{
	return tn_sample_host(generator, TN_DISTRIBUTION_TRUNCATED_NORMAL, dtype, rank, shape,
			      (const double[]){mean, deviation, low, high});
}

/* Above 2^53 it is refused, not rounded. */
static double count_of(int64_t n)
{
	return n > (int64_t)1 << 53 ? 0x1p54 : (double)n;
}

tn_array *tn_generator_binomial(tn_generator *generator, int rank, const int64_t *shape, int64_t n,
				double p)
{
	const double parameters[] = {count_of(n), p};
	return tn_sample_host(generator, TN_DISTRIBUTION_BINOMIAL, TN_I64, rank, shape, parameters);
}

tn_array *tn_generator_poisson(tn_generator *generator, int rank, const int64_t *shape, double lam)
{
	return tn_sample_host(generator, TN_DISTRIBUTION_POISSON, TN_I64, rank, shape, &lam);
}

tn_array *tn_generator_geometric(tn_generator *generator, int rank, const int64_t *shape, double p)
{
	return tn_sample_host(generator, TN_DISTRIBUTION_GEOMETRIC, TN_I64, rank, shape, &p);
}

tn_array *tn_generator_negative_binomial(tn_generator *generator, int rank, const int64_t *shape,
					 double n, double p)
{
	return tn_sample_host(generator, TN_DISTRIBUTION_NEGATIVE_BINOMIAL, TN_I64, rank, shape,
			      (const double[]){n, p});
}

tn_array *tn_generator_noncentral_chisquare(tn_generator *generator, tn_dtype dtype, int rank,
					    const int64_t *shape, double df, double nonc)
{
	return tn_sample_host(generator, TN_DISTRIBUTION_NONCENTRAL_CHISQUARE, dtype, rank, shape,
			      (const double[]){df, nonc});
}

tn_array *tn_generator_noncentral_f(tn_generator *generator, tn_dtype dtype, int rank,
				    const int64_t *shape, double dfnum, double dfden, double nonc)
{
	return tn_sample_host(generator, TN_DISTRIBUTION_NONCENTRAL_F, dtype, rank, shape,
			      (const double[]){dfnum, dfden, nonc});
}

tn_array *tn_generator_vonmises(tn_generator *generator, tn_dtype dtype, int rank,
				const int64_t *shape, double mu, double kappa)
{
	return tn_sample_host(generator, TN_DISTRIBUTION_VONMISES, dtype, rank, shape,
			      (const double[]){mu, kappa});
}

tn_array *tn_generator_logseries(tn_generator *generator, int rank, const int64_t *shape, double p)
{
	return tn_sample_host(generator, TN_DISTRIBUTION_LOGSERIES, TN_I64, rank, shape, &p);
}

tn_array *tn_generator_zipf(tn_generator *generator, int rank, const int64_t *shape, double a)
{
	return tn_sample_host(generator, TN_DISTRIBUTION_ZIPF, TN_I64, rank, shape, &a);
}

tn_array *tn_generator_hypergeometric(tn_generator *generator, int rank, const int64_t *shape,
				      int64_t ngood, int64_t nbad, int64_t nsample)
{
	const double parameters[] = {count_of(ngood), count_of(nbad), count_of(nsample)};
	return tn_sample_host(generator, TN_DISTRIBUTION_HYPERGEOMETRIC, TN_I64, rank, shape,
			      parameters);
}
