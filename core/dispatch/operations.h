/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The operations of the array layer, by number: names for the ledger and for errors, and programs
 * for element operations.
 */
#ifndef TN_DISPATCH_OPERATIONS_H
#define TN_DISPATCH_OPERATIONS_H

#include <stdint.h>

#include "array/record.h"

/* Element operations come first: they have a program. */
enum tn_operation {
	TN_DO_ADD,
	TN_DO_SUBTRACT,
	TN_DO_MULTIPLY,
	TN_DO_DIVIDE,
	TN_DO_POWER,
	TN_DO_MAXIMUM,
	TN_DO_MINIMUM,
	TN_DO_EQUAL,
	TN_DO_NOT_EQUAL,
	TN_DO_LESS,
	TN_DO_LESS_EQUAL,
	TN_DO_GREATER,
	TN_DO_GREATER_EQUAL,
	TN_DO_WHERE,
	TN_DO_NEGATIVE,
	TN_DO_ABS,
	TN_DO_ANGLE,
	TN_DO_CONJ,
	TN_DO_COMPLEX,
	TN_DO_SIGN,
	TN_DO_SQUARE,
	TN_DO_SQRT,
	TN_DO_EXP,
	TN_DO_LOG,
	TN_DO_SIN,
	TN_DO_COS,
	TN_DO_TANH,
	TN_DO_ERF,
	TN_DO_SIGMOID,
	TN_DO_RELU,
	TN_DO_RELU6,
	TN_DO_SILU,
	TN_DO_HARDSWISH,
	TN_DO_GELU,
	TN_DO_GELU_TANH,
	TN_DO_LEAKY_RELU,
	TN_DO_PRELU,
	TN_DO_ELU,
	TN_DO_CELU,
	TN_DO_SELU,
	TN_DO_MISH,
	TN_DO_SOFTPLUS,
	TN_DO_SOFTSIGN,
	TN_DO_LOG_SIGMOID,
	TN_DO_HARDSIGMOID,
	TN_DO_HARDTANH,
	TN_DO_FLOOR,
	TN_DO_CEIL,
	TN_DO_ROUND,
	TN_DO_RECIPROCAL,
	TN_DO_POSITIVE,
	TN_DO_FABS,
	TN_DO_FLOOR_DIVIDE,
	TN_DO_REMAINDER,
	TN_DO_FMOD,
	TN_DO_FMAX,
	TN_DO_FMIN,
	TN_DO_CLIP,
	TN_DO_HYPOT,
	TN_DO_CBRT,
	TN_DO_EXP2,
	TN_DO_EXPM1,
	TN_DO_LOG2,
	TN_DO_LOG10,
	TN_DO_LOG1P,
	TN_DO_LOGADDEXP,
	TN_DO_LOGADDEXP2,
	TN_DO_XLOGY,
	TN_DO_LOGIT,
	TN_DO_TAN,
	TN_DO_ARCSIN,
	TN_DO_ARCCOS,
	TN_DO_ARCTAN,
	TN_DO_ARCTAN2,
	TN_DO_SINH,
	TN_DO_COSH,
	TN_DO_ARCSINH,
	TN_DO_ARCCOSH,
	TN_DO_ARCTANH,
	TN_DO_DEG2RAD,
	TN_DO_RAD2DEG,
	TN_DO_SINC,
	TN_DO_ERFC,
	TN_DO_TRUNC,
	TN_DO_MODF,
	TN_DO_RINT,
	TN_DO_SIGNBIT,
	TN_DO_COPYSIGN,
	TN_DO_HEAVISIDE,
	TN_DO_ISNAN,
	TN_DO_ISINF,
	TN_DO_ISFINITE,
	TN_DO_FLOAT_POWER,
	TN_DO_LOGICAL_AND,
	TN_DO_LOGICAL_OR,
	TN_DO_LOGICAL_XOR,
	TN_DO_LOGICAL_NOT,
	TN_DO_BITWISE_AND,
	TN_DO_BITWISE_OR,
	TN_DO_BITWISE_XOR,
	TN_DO_INVERT,
	TN_DO_LEFT_SHIFT,
	TN_DO_RIGHT_SHIFT,
	TN_DO_LGAMMA,
	TN_DO_DIGAMMA,
	TN_DO_TRIGAMMA,
	TN_DO_ZETA,
	TN_DO_ERFCX,
	TN_DO_ERFINV,
	TN_DO_NDTR,
	TN_DO_LOG_NDTR,
	TN_DO_NDTRI,
	TN_DO_I0,
	TN_DO_I0E,
	TN_DO_I1,
	TN_DO_I1E,
	TN_DO_BESSEL_J0,
	TN_DO_BESSEL_J1,
	TN_DO_ENTR,
	TN_DO_XLOG1PY,
	TN_DO_AFFINE,
	TN_DO_COPY,
	TN_ELEMENT_OPERATIONS,

	TN_DO_FILL = TN_ELEMENT_OPERATIONS,
	TN_DO_MAP,
	TN_DO_RANDOM,
	TN_DO_SUM,
	TN_DO_MEAN,
	TN_DO_PROD,
	TN_DO_MAX,
	TN_DO_MIN,
	TN_DO_ARGMAX,
	TN_DO_ARGMIN,
	TN_DO_LOGSUMEXP,
	TN_DO_MATMUL,
	TN_DO_MATMUL_PREPACK,
	TN_DO_TAKE,
	TN_DO_SCATTER_ADD,
	TN_DO_SCATTER,
	TN_DO_TAKE_ALONG_AXIS,
	TN_DO_SORT,
	TN_DO_ARGSORT,
	TN_DO_TOPK,
	TN_DO_CUMSUM,
	TN_DO_CUMPROD,
	TN_DO_CUMMAX,
	TN_DO_CUMMIN,
	TN_DO_CONV2D,
	TN_DO_CONV2D_INPUT_GRADIENT,
	TN_DO_CONV2D_WEIGHT_GRADIENT,
	TN_DO_CONV2D_PREPACK,
	TN_DO_EPILOGUE,
	TN_DO_POOL2D,
	TN_DO_POOL2D_BACKWARD,
	TN_DO_BATCH_NORM,
	TN_DO_BATCH_NORM_BACKWARD,
	TN_DO_LAYER_NORM,
	TN_DO_LAYER_NORM_BACKWARD,
	TN_DO_GROUP_NORM,
	TN_DO_GROUP_NORM_BACKWARD,
	TN_DO_SOFTMAX,
	TN_DO_SOFTMAX_BACKWARD,
	TN_DO_CROSS_ENTROPY,
	TN_DO_CROSS_ENTROPY_BACKWARD,
	TN_DO_ATTENTION,
	TN_DO_ATTENTION_BACKWARD,
	TN_OPERATIONS,
};

/* How an element operation of two inputs reduces (numpy.ufunc.identity).  One of which nothing is
 * said goes from first to last, and has no identity. */
struct tn_element_fold {
	uint8_t is_reorderable; /* associative and commutative */
	uint8_t in_bool;        /* computed on truth values */
	uint8_t has_identity;
	double identity;
};

enum tn_gradient {
	TN_GRADIENT_BY_INPUTS, /* the rule */
	/* f'(f(x)) = f'(x): the gradient may read the output instead of the input. */
	TN_GRADIENT_BY_OUTPUT,
	TN_GRADIENT_NONE, /* the result is not differentiable, though it is floating */
};

/* An element operation: its name, "add", for the ledger and for errors, and its program, a formula
 * (formulas.h).  Inputs are read as the loop's dtype, in which the program computes. */
struct tn_element_operation {
	const char *name;
	const char *inputs;
	const char *scalars; /* NULL: none */
	const char *text;
	const char *on_bools;    /* for a loop of bool; NULL: text */
	const char *on_integers; /* for a loop of integers; NULL: text */
	/* Over the parts of the inputs, x_real and x_imag for x, with the real scalars; NULL: not
	 * defined for complex numbers.  It assigns real and imag, or z for a result that is not
	 * complex.  Where a choice guards a division, its divisor is 1 on the other branch, so that
	 * the derivatives of both branches are finite. */
	const char *on_complex;
	uint8_t gives_real; /* on_complex assigns a real z */
	uint8_t loop;       /* enum tn_loop */
	uint8_t typed_from; /* the first input that the loop's dtype depends on: 1 for where */
	uint8_t gives_bool; /* a comparison; else the result has the loop's dtype */
	uint8_t gradient;   /* enum tn_gradient */
	/* The gradients of the first inputs, as in struct tn_record, shorter than what
	 * differentiation gives or with PyTorch's values at the kinks; NULL: differentiated. */
	const char *derivatives[TN_DERIVATIVES];
	struct tn_element_fold fold;
};

/* By enum tn_operation; from TN_ELEMENT_OPERATIONS on, rows have a name alone. */
extern const struct tn_element_operation tn_operations[TN_OPERATIONS];

#endif
