/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Initial values by name, as torch.nn.init, for an array, such as a parameter of a module that has
 * been built, or for all parameters of a module whose names match a pattern.
 *
 *     tn_module_build(net);
 *     struct tn_init_options options = tn_init_defaults();
 *     options.kind = TN_INIT_ORTHOGONAL;
 *     tn_module_init_parameters(net, "fc*.weight", &options);
 *
 * The weights of norms and PReLUs match "*.weight" too: most have one axis, which the kinds that
 * need more refuse (TN_SHAPE); the other kinds overwrite them.
 *
 * Random numbers are drawn on the host from the context's random state, one stream per array: the
 * same bits on every backend.  Arrays are f16, bf16, f32 or f64 (TN_DTYPE).  The two fans of an
 * array (out, in, ...) are fan_in = in k and fan_out = out k, k the product of the other lengths;
 * what needs them needs two axes (TN_SHAPE).  TN_STATE: a tape is recording, and the array has a
 * gradient.
 * All functions: [thread: one per context | since 0.1]; errors are kept by the context.
 */
#ifndef TENON_INIT_H
#define TENON_INIT_H

#include <math.h>
#include <string.h>

#include <tenon/nn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The function that follows a layer, by which its weights are scaled. */
enum {
	TN_NONLINEARITY_LEAKY_RELU = 0,
	TN_NONLINEARITY_LINEAR = 1,
	TN_NONLINEARITY_SIGMOID = 2,
	TN_NONLINEARITY_TANH = 3,
	TN_NONLINEARITY_RELU = 4,
	TN_NONLINEARITY_SELU = 5,
	TN_NONLINEARITY_GELU = 6,
};
/* PyTorch's calculate_gain: sqrt(2 / (1 + negative_slope^2)) for leaky ReLU, 1 for linear and
 * sigmoid, 5/3 for tanh, sqrt 2 for ReLU, 3/4 for SELU; and sqrt 2 for GELU, which PyTorch's lacks.
 * NaN for another number. */
TN_API double tn_init_gain(uint32_t nonlinearity, double negative_slope);

/* ---- Arrays ----------------------------------------------------------------------------------*/

TN_API tn_status tn_init_zeros(tn_array *array);
TN_API tn_status tn_init_ones(tn_array *array);
TN_API tn_status tn_init_constant(tn_array *array, double value);
/* In [low, high), rounded to the array's dtype. */
TN_API tn_status tn_init_uniform(tn_array *array, double low, double high);
/* TN_INVALID_ARGUMENT: the deviation is below 0, or it or the mean is not finite. */
TN_API tn_status tn_init_normal(tn_array *array, double mean, double deviation);
/* The same, where numbers outside of [low, high] are drawn again.  What remains is rounded to the
 * array's dtype and may then, in f16 and bf16 above all, lie just outside of them where a limit is
 * no number of that dtype.  TN_INVALID_ARGUMENT: low is not below high, the deviation is not
 * above 0, or it or the mean is not finite. */
TN_API tn_status tn_init_trunc_normal(tn_array *array, double mean, double deviation, double low,
				      double high);
/* Glorot and Bengio 2010: a deviation of gain sqrt(2 / (fan_in + fan_out)). */
TN_API tn_status tn_init_xavier_uniform(tn_array *array, double gain);
TN_API tn_status tn_init_xavier_normal(tn_array *array, double gain);

enum { TN_FAN_IN = 0, TN_FAN_OUT = 1 };
struct tn_kaiming_options {
	uint32_t struct_size;
	uint32_t mode;         /* TN_FAN_IN or TN_FAN_OUT */
	uint32_t nonlinearity; /* TN_NONLINEARITY_... */
	double negative_slope; /* of leaky ReLU; PyTorch's parameter a */
};
static inline struct tn_kaiming_options tn_kaiming_defaults(void)
{
	struct tn_kaiming_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	return options;
}
/* He et al. 2015: a deviation of tn_init_gain(nonlinearity, negative_slope) / sqrt(fan).  options
 * may be NULL. */
TN_API tn_status tn_init_kaiming_uniform(tn_array *array, const struct tn_kaiming_options *options);
TN_API tn_status tn_init_kaiming_normal(tn_array *array, const struct tn_kaiming_options *options);

/* Saxe et al. 2013: gain times a random matrix with orthonormal rows or columns, whichever are
 * fewer; all axes but the first are one. */
TN_API tn_status tn_init_orthogonal(tn_array *array, double gain);
/* Convolutions (out, in, ...) of 1 to 3 axes that pass their input on: channel i of each of
 * `groups` equal parts of the outputs is 1 in the middle of input channel i, else 0.  TN_SHAPE,
 * TN_INVALID_ARGUMENT: groups does not divide out. */
TN_API tn_status tn_init_dirac(tn_array *array, int64_t groups);

/* nnott's, by the function that follows: normal weights of deviation sqrt(2 / fan_in) for ReLU,
 * leaky ReLU and GELU, sqrt(1 / fan_in) for tanh and sigmoid, 0.01 for SELU and linear; biases of
 * 0.01 for ReLU, else 0.  bias may be NULL. */
TN_API tn_status tn_init_by_activation(tn_array *weight, tn_array *bias, uint32_t nonlinearity);

/* ---- Modules ---------------------------------------------------------------------------------*/

enum {
	TN_INIT_CONSTANT = 0,
	TN_INIT_UNIFORM = 1,
	TN_INIT_NORMAL = 2,
	TN_INIT_TRUNC_NORMAL = 3,
	TN_INIT_XAVIER_UNIFORM = 4,
	TN_INIT_XAVIER_NORMAL = 5,
	TN_INIT_KAIMING_UNIFORM = 6,
	TN_INIT_KAIMING_NORMAL = 7,
	TN_INIT_ORTHOGONAL = 8,
	TN_INIT_DIRAC = 9,
};
/* One of the functions above, by its kind, and its arguments.  Those of other kinds keep their
 * defaults (TN_INVALID_ARGUMENT). */
struct tn_init_options {
	uint32_t struct_size;
	uint32_t kind;
	double value; /* constant */
	/* Of uniform and truncated normal; default NAN: 0 and 1, and -2 and 2. */
	double low;
	double high;
	double mean;      /* normal and truncated normal */
	double deviation; /* the same; default 1 */
	double gain;      /* Xavier and orthogonal; default 1 */
	uint32_t mode;    /* Kaiming, as in struct tn_kaiming_options */
	uint32_t nonlinearity;
	double negative_slope;
	int64_t groups; /* Dirac; default 1 */
};
static inline struct tn_init_options tn_init_defaults(void)
{
	struct tn_init_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.low = NAN;
	options.high = NAN;
	options.deviation = 1;
	options.gain = 1;
	options.groups = 1;
	return options;
}
/* Initialises the parameters of a built module whose names match the pattern of fnmatch(3): "*" for
 * any characters, dots too, "?" for one, "[...]".  Of the names of a shared parameter only the
 * first counts, which is that in the list of parameters.  TN_NOT_FOUND: none matches; TN_STATE: not
 * built.  Nothing changes if one of them has a shape that the kind does not take (TN_SHAPE, which
 * names it). */
TN_API tn_status tn_module_init_parameters(tn_module *module, const char *pattern,
					   const struct tn_init_options *options);

#ifdef __cplusplus
}
#endif
#endif
