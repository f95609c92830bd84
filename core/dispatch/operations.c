/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The table of operations.  A new element operation is a number, a name and a line here.
 */
#include "dispatch/operations.h"

#include <math.h>
#include <stddef.h>

#include "array/result_type.h"
#include "dispatch/special.h"

const char *const tn_operation_names[TN_OPERATIONS] = {
	[TN_DO_ADD] = "add",
	[TN_DO_SUBTRACT] = "subtract",
	[TN_DO_MULTIPLY] = "multiply",
	[TN_DO_DIVIDE] = "divide",
	[TN_DO_POWER] = "power",
	[TN_DO_MAXIMUM] = "maximum",
	[TN_DO_MINIMUM] = "minimum",
	[TN_DO_EQUAL] = "equal",
	[TN_DO_NOT_EQUAL] = "not_equal",
	[TN_DO_LESS] = "less",
	[TN_DO_LESS_EQUAL] = "less_equal",
	[TN_DO_GREATER] = "greater",
	[TN_DO_GREATER_EQUAL] = "greater_equal",
	[TN_DO_WHERE] = "where",
	[TN_DO_NEGATIVE] = "negative",
	[TN_DO_ABS] = "abs",
	[TN_DO_ANGLE] = "angle",
	[TN_DO_CONJ] = "conj",
	[TN_DO_COMPLEX] = "complex",
	[TN_DO_SIGN] = "sign",
	[TN_DO_SQUARE] = "square",
	[TN_DO_SQRT] = "sqrt",
	[TN_DO_EXP] = "exp",
	[TN_DO_LOG] = "log",
	[TN_DO_SIN] = "sin",
	[TN_DO_COS] = "cos",
	[TN_DO_TANH] = "tanh",
	[TN_DO_ERF] = "erf",
	[TN_DO_SIGMOID] = "sigmoid",
	[TN_DO_RELU] = "relu",
	[TN_DO_RELU6] = "relu6",
	[TN_DO_SILU] = "silu",
	[TN_DO_HARDSWISH] = "hardswish",
	[TN_DO_GELU] = "gelu",
	[TN_DO_GELU_TANH] = "gelu_tanh",
	[TN_DO_LEAKY_RELU] = "leaky_relu",
	[TN_DO_PRELU] = "prelu",
	[TN_DO_ELU] = "elu",
	[TN_DO_CELU] = "celu",
	[TN_DO_SELU] = "selu",
	[TN_DO_MISH] = "mish",
	[TN_DO_SOFTPLUS] = "softplus",
	[TN_DO_SOFTSIGN] = "softsign",
	[TN_DO_LOG_SIGMOID] = "log_sigmoid",
	[TN_DO_HARDSIGMOID] = "hardsigmoid",
	[TN_DO_HARDTANH] = "hardtanh",
	[TN_DO_FLOOR] = "floor",
	[TN_DO_CEIL] = "ceil",
	[TN_DO_ROUND] = "round",
	[TN_DO_RECIPROCAL] = "reciprocal",
	[TN_DO_POSITIVE] = "positive",
	[TN_DO_FABS] = "fabs",
	[TN_DO_FLOOR_DIVIDE] = "floor_divide",
	[TN_DO_REMAINDER] = "remainder",
	[TN_DO_FMOD] = "fmod",
	[TN_DO_FMAX] = "fmax",
	[TN_DO_FMIN] = "fmin",
	[TN_DO_CLIP] = "clip",
	[TN_DO_HYPOT] = "hypot",
	[TN_DO_CBRT] = "cbrt",
	[TN_DO_EXP2] = "exp2",
	[TN_DO_EXPM1] = "expm1",
	[TN_DO_LOG2] = "log2",
	[TN_DO_LOG10] = "log10",
	[TN_DO_LOG1P] = "log1p",
	[TN_DO_LOGADDEXP] = "logaddexp",
	[TN_DO_LOGADDEXP2] = "logaddexp2",
	[TN_DO_XLOGY] = "xlogy",
	[TN_DO_LOGIT] = "logit",
	[TN_DO_TAN] = "tan",
	[TN_DO_ARCSIN] = "arcsin",
	[TN_DO_ARCCOS] = "arccos",
	[TN_DO_ARCTAN] = "arctan",
	[TN_DO_ARCTAN2] = "arctan2",
	[TN_DO_SINH] = "sinh",
	[TN_DO_COSH] = "cosh",
	[TN_DO_ARCSINH] = "arcsinh",
	[TN_DO_ARCCOSH] = "arccosh",
	[TN_DO_ARCTANH] = "arctanh",
	[TN_DO_DEG2RAD] = "deg2rad",
	[TN_DO_RAD2DEG] = "rad2deg",
	[TN_DO_SINC] = "sinc",
	[TN_DO_ERFC] = "erfc",
	[TN_DO_TRUNC] = "trunc",
	[TN_DO_MODF] = "modf",
	[TN_DO_RINT] = "rint",
	[TN_DO_SIGNBIT] = "signbit",
	[TN_DO_COPYSIGN] = "copysign",
	[TN_DO_HEAVISIDE] = "heaviside",
	[TN_DO_ISNAN] = "isnan",
	[TN_DO_ISINF] = "isinf",
	[TN_DO_ISFINITE] = "isfinite",
	[TN_DO_FLOAT_POWER] = "float_power",
	[TN_DO_LOGICAL_AND] = "logical_and",
	[TN_DO_LOGICAL_OR] = "logical_or",
	[TN_DO_LOGICAL_XOR] = "logical_xor",
	[TN_DO_LOGICAL_NOT] = "logical_not",
	[TN_DO_BITWISE_AND] = "bitwise_and",
	[TN_DO_BITWISE_OR] = "bitwise_or",
	[TN_DO_BITWISE_XOR] = "bitwise_xor",
	[TN_DO_INVERT] = "invert",
	[TN_DO_LEFT_SHIFT] = "left_shift",
	[TN_DO_RIGHT_SHIFT] = "right_shift",
	[TN_DO_LGAMMA] = "lgamma",
	[TN_DO_DIGAMMA] = "digamma",
	[TN_DO_TRIGAMMA] = "trigamma",
	[TN_DO_ZETA] = "zeta",
	[TN_DO_ERFCX] = "erfcx",
	[TN_DO_ERFINV] = "erfinv",
	[TN_DO_NDTR] = "ndtr",
	[TN_DO_LOG_NDTR] = "log_ndtr",
	[TN_DO_NDTRI] = "ndtri",
	[TN_DO_I0] = "i0",
	[TN_DO_I0E] = "i0e",
	[TN_DO_I1] = "i1",
	[TN_DO_I1E] = "i1e",
	[TN_DO_BESSEL_J0] = "bessel_j0",
	[TN_DO_BESSEL_J1] = "bessel_j1",
	[TN_DO_ENTR] = "entr",
	[TN_DO_XLOG1PY] = "xlog1py",
	[TN_DO_AFFINE] = "affine",
	[TN_DO_COPY] = "copy",
	[TN_DO_FILL] = "fill",
	[TN_DO_MAP] = "map",
	[TN_DO_RANDOM] = "random",
	[TN_DO_SUM] = "sum",
	[TN_DO_MEAN] = "mean",
	[TN_DO_PROD] = "prod",
	[TN_DO_MAX] = "max",
	[TN_DO_MIN] = "min",
	[TN_DO_ARGMAX] = "argmax",
	[TN_DO_ARGMIN] = "argmin",
	[TN_DO_LOGSUMEXP] = "logsumexp",
	[TN_DO_MATMUL] = "matmul",
	[TN_DO_TAKE] = "take",
	[TN_DO_SCATTER_ADD] = "scatter_add",
	[TN_DO_TAKE_ALONG_AXIS] = "take_along_axis",
	[TN_DO_SORT] = "sort",
	[TN_DO_ARGSORT] = "argsort",
	[TN_DO_TOPK] = "topk",
	[TN_DO_CUMSUM] = "cumsum",
	[TN_DO_CUMPROD] = "cumprod",
	[TN_DO_CUMMAX] = "cummax",
	[TN_DO_CUMMIN] = "cummin",
	[TN_DO_CONV2D] = "conv2d",
	[TN_DO_CONV2D_INPUT_GRADIENT] = "conv2d_input_gradient",
	[TN_DO_CONV2D_WEIGHT_GRADIENT] = "conv2d_weight_gradient",
	[TN_DO_CONV2D_PREPACK] = "conv2d_prepack",
	[TN_DO_EPILOGUE] = "epilogue",
	[TN_DO_POOL2D] = "pool2d",
	[TN_DO_POOL2D_BACKWARD] = "pool2d_backward",
	[TN_DO_BATCH_NORM] = "batch_norm",
	[TN_DO_BATCH_NORM_BACKWARD] = "batch_norm_backward",
	[TN_DO_LAYER_NORM] = "layer_norm",
	[TN_DO_LAYER_NORM_BACKWARD] = "layer_norm_backward",
	[TN_DO_GROUP_NORM] = "group_norm",
	[TN_DO_GROUP_NORM_BACKWARD] = "group_norm_backward",
	[TN_DO_SOFTMAX] = "softmax",
	[TN_DO_SOFTMAX_BACKWARD] = "softmax_backward",
	[TN_DO_CROSS_ENTROPY] = "cross_entropy",
	[TN_DO_CROSS_ENTROPY_BACKWARD] = "cross_entropy_backward",
};

/* C's && and || on bools are NumPy's + and *.  A power of integers is in ops/power.c; here it takes
 * floating values. */
const struct tn_element_operation tn_element_operations[TN_ELEMENT_OPERATIONS] = {
	[TN_DO_ADD] = {"z = x + y", "z = x | y", NULL, 2, 0, 0, 1, TN_LOOP_SAME, 0},
	[TN_DO_SUBTRACT] = {"z = x - y", NULL, NULL, 2, 0, 0, 1, TN_LOOP_NUMBER, 0},
	[TN_DO_MULTIPLY] = {"z = x * y", "z = x & y", NULL, 2, 0, 0, 1, TN_LOOP_SAME, 0},
	[TN_DO_DIVIDE] = {"z = x / y", NULL, NULL, 2, 0, 0, 1, TN_LOOP_QUOTIENT, 0},
	[TN_DO_POWER] = {"z = pow(x, y)", NULL, NULL, 2, 0, 0, 1, TN_LOOP_COUNT, 0},
	[TN_DO_MAXIMUM] = {"z = max(x, y)", "z = x | y", NULL, 2, 0, 0, 1, TN_LOOP_REAL, 0},
	[TN_DO_MINIMUM] = {"z = min(x, y)", "z = x & y", NULL, 2, 0, 0, 1, TN_LOOP_REAL, 0},
	[TN_DO_EQUAL] = {"z = x == y", NULL, NULL, 2, 0, 0, 0, TN_LOOP_SAME, 1},
	[TN_DO_NOT_EQUAL] = {"z = x != y", NULL, NULL, 2, 0, 0, 0, TN_LOOP_SAME, 1},
	[TN_DO_LESS] = {"z = x < y", NULL, NULL, 2, 0, 0, 0, TN_LOOP_REAL, 1},
	[TN_DO_LESS_EQUAL] = {"z = x <= y", NULL, NULL, 2, 0, 0, 0, TN_LOOP_REAL, 1},
	[TN_DO_GREATER] = {"z = x > y", NULL, NULL, 2, 0, 0, 0, TN_LOOP_REAL, 1},
	[TN_DO_GREATER_EQUAL] = {"z = x >= y", NULL, NULL, 2, 0, 0, 0, TN_LOOP_REAL, 1},
	[TN_DO_WHERE] = {"z = bool(x) ? y : c", NULL, NULL, 3, 0, 1, 1, TN_LOOP_SAME, 0},
	[TN_DO_NEGATIVE] = {"z = -x", NULL, NULL, 1, 0, 0, 1, TN_LOOP_NUMBER, 0},
	[TN_DO_ABS] = {"z = abs(x)", "z = x", NULL, 1, 0, 0, 1, TN_LOOP_SAME, 0},
	[TN_DO_ANGLE] = {"z = atan2(0.0, x)", NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_CONJ] = {"z = x", NULL, NULL, 1, 0, 0, 1, TN_LOOP_SAME, 0},
	/* Of two real arrays; its program has two outputs (ops/complex.c). */
	[TN_DO_COMPLEX] = {NULL, NULL, NULL, 2, 0, 0, 1, TN_LOOP_SAME, 0},
	[TN_DO_SIGN] = {"z = sign(x)", NULL, NULL, 1, 0, 0, 1, TN_LOOP_NUMBER, 0},
	[TN_DO_SQUARE] = {"z = x * x", NULL, NULL, 1, 0, 0, 1, TN_LOOP_COUNT, 0},
	[TN_DO_SQRT] = {"z = sqrt(x)", NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_EXP] = {"z = exp(x)", NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_LOG] = {"z = log(x)", NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_SIN] = {"z = sin(x)", NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_COS] = {"z = cos(x)", NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_TANH] = {"z = tanh(x)", NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_ERF] = {"z = erf(x)", NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_SIGMOID] = {"z = sigmoid(x)", NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_RELU] = {"z = x <= 0 ? 0 : x", NULL, NULL, 1, 0, 0, TN_BY_OUTPUT, TN_LOOP_COUNT, 0},
	[TN_DO_RELU6] = {"z = x <= 0 ? 0 : x >= 6 ? 6 : x", NULL, NULL, 1, 0, 0, TN_BY_OUTPUT,
			 TN_LOOP_COUNT, 0},
	[TN_DO_SILU] = {"z = silu(x)", NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	/* With m = x cut to [0, 3] outside of (-3, 3): the derivative of the product is finite. */
	[TN_DO_HARDSWISH] = {"m = x <= -3 ? 0 : x >= 3 ? 3 : x\nz = x >= 3 ? x : m * (m + 3) / 6",
			     NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_GELU] = {"z = gelu(x)", NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_GELU_TANH] = {"z = gelu_tanh(x)", NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_LEAKY_RELU] = {"z = leaky_relu(x, a)", NULL, NULL, 1, 1, 0, 1, TN_LOOP_FLOATING, 0},
	/* Not leaky_relu: the gradient of y where x is infinite is 0. */
	[TN_DO_PRELU] = {"z = x > 0 ? x : y * (x > 0 ? 0 : x)", NULL, NULL, 2, 0, 0, 1,
			 TN_LOOP_FLOATING, 0},
	[TN_DO_ELU] = {"z = elu(x, a)", NULL, NULL, 1, 1, 0, 1, TN_LOOP_FLOATING, 0},
	/* The inner choice as in elu (program/functions.c). */
	[TN_DO_CELU] = {"z = x > 0 ? x : a * expm1((x > 0 ? 0 : x) / a)", NULL, NULL, 1, 1, 0, 1,
			TN_LOOP_FLOATING, 0},
	[TN_DO_SELU] = {"z = 1.0507009873554805 * elu(x, 1.6732632423543773)", NULL, NULL, 1, 0, 0,
			1, TN_LOOP_FLOATING, 0},
	[TN_DO_MISH] = {"z = mish(x)", NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_SOFTPLUS] = {"z = x * a > b ? x : softplus(x * a) / a", NULL, NULL, 1, 2, 0, 1,
			    TN_LOOP_FLOATING, 0},
	[TN_DO_SOFTSIGN] = {"z = x / (1 + abs(x))", NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_LOG_SIGMOID] = {"z = log_sigmoid(x)", NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_HARDSIGMOID] = {"z = 0.16666666666666666 * min(max(x + 3, 0), 6)", NULL, NULL, 1, 0,
			       0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_HARDTANH] = {"z = x <= a ? a : x >= b ? b : x", NULL, NULL, 1, 2, 0, 1,
			    TN_LOOP_FLOATING, 0},
	[TN_DO_FLOOR] = {"z = floor(x)", NULL, NULL, 1, 0, 0, 1, TN_LOOP_REAL, 0},
	[TN_DO_CEIL] = {"z = ceil(x)", NULL, NULL, 1, 0, 0, 1, TN_LOOP_REAL, 0},
	[TN_DO_ROUND] = {"z = round(x)", NULL, NULL, 1, 0, 0, 1, TN_LOOP_REAL, 0},
	[TN_DO_RECIPROCAL] = {"z = 1.0 / x", NULL, "z = 1 / x", 1, 0, 0, 1, TN_LOOP_COUNT, 0},
	[TN_DO_POSITIVE] = {"z = x", NULL, NULL, 1, 0, 0, 1, TN_LOOP_NUMBER, 0},
	[TN_DO_FABS] = {"z = abs(x)", NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	/* NumPy's: from the exact remainder, so that x is near q y + r. */
	[TN_DO_FLOOR_DIVIDE] =
		{"m = x % y; q = (x - m) / y\n"
		 "q = m != 0 && (y < 0) != (m < 0) ? q - 1 : q; r = floor(q)\n"
		 "z = y == 0 ? x / y : q == 0 ? copysign(0.0, x / y) : q - r > 0.5 ? r + 1 : r",
		 NULL, "q = x / y; z = x % y != 0 && (x < 0) != (y < 0) ? q - 1 : q", 2, 0, 0, 0,
		 TN_LOOP_COUNT, 0},
	[TN_DO_REMAINDER] = {"m = x % y; s = (y < 0) != (m < 0) ? m + y : m\n"
			     "z = y == 0 ? m : m == 0 ? copysign(0.0, y) : s",
			     NULL, "m = x % y; z = m != 0 && (y < 0) != (m < 0) ? m + y : m", 2, 0,
			     0, 1, TN_LOOP_COUNT, 0},
	[TN_DO_FMOD] = {"z = x % y", NULL, NULL, 2, 0, 0, 1, TN_LOOP_COUNT, 0},
	/* The first of equal operands, which has the whole derivative. */
	[TN_DO_FMAX] = {"z = x >= y || y != y ? x : y", "z = x | y", NULL, 2, 0, 0, 1, TN_LOOP_REAL,
			0},
	[TN_DO_FMIN] = {"z = x <= y || y != y ? x : y", "z = x & y", NULL, 2, 0, 0, 1, TN_LOOP_REAL,
			0},
	[TN_DO_CLIP] = {"m = x < y || y != y ? y : x; z = m > c || c != c ? c : m", NULL, NULL, 3,
			0, 0, 1, TN_LOOP_REAL, 0},
	[TN_DO_HYPOT] = {"z = hypot(x, y)", NULL, NULL, 2, 0, 0, 1, TN_LOOP_FLOATING, 0},
	/* A power, and a step of Newton's that removes the error of its exponent. */
	[TN_DO_CBRT] = {"fixed = x == 0 || abs(x) == inf; s = fixed ? 1.0 : abs(x)\n"
			"r = pow(s, 0.3333333333333333); z = fixed ? x : copysign(r - (r - s / (r "
			"* r)) / 3, x)",
			NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_EXP2] = {"z = exp2(x)", NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_EXPM1] = {"z = expm1(x)", NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_LOG2] = {"z = log2(x)", NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	/* By log10(e) in two parts, the first of few bits. */
	[TN_DO_LOG10] = {"t = log(x); z = fma(t, 0.43408203125, t * 0.00021245065325182765)", NULL,
			 NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_LOG1P] = {"z = log1p(x)", NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_LOGADDEXP] = {"d = x == y ? 0.0 : x - y\n"
			     "z = d != d ? d : max(x, y) + log1p(exp(-abs(d)))",
			     NULL, NULL, 2, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_LOGADDEXP2] =
		{"d = x == y ? 0.0 : x - y\n"
		 "z = d != d ? d : max(x, y) + 1.4426950408889634 * log1p(exp2(-abs(d)))",
		 NULL, NULL, 2, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_XLOGY] = {"z = y != y ? y : x == 0 ? 0.0 : x * log(y)", NULL, NULL, 2, 0, 0, 1,
			 TN_LOOP_FLOATING, 0},
	/* Near 1/2, where the quotient is near 1, of the exact 2 x - 1. */
	[TN_DO_LOGIT] =
		{"near = x > 0.25 && x < 0.75; s = near ? 2 * x - 1 : 0.0; t = near ? 0.5 : x\n"
		 "z = near ? log1p(s) - log1p(-s) : log(t / (1 - t))",
		 NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_TAN] = {"z = tan(x)", NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_ARCSIN] = {"z = asin(x)", NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_ARCCOS] = {"z = acos(x)", NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_ARCTAN] = {"z = atan(x)", NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_ARCTAN2] = {"z = atan2(x, y)", NULL, NULL, 2, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_SINH] = {"z = sinh(x)", NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_COSH] = {"z = cosh(x)", NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	/* log1p of what vanishes with x; x^2 does not overflow. */
	[TN_DO_ARCSINH] =
		{"far = abs(x) > 1e8; s = far ? 1.0 : abs(x); q = s * s / (1 + sqrt(1 + s * s))\n"
		 "z = copysign(far ? log(abs(x)) + 0.6931471805599453 : log1p(s + q), x)",
		 NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_ARCCOSH] = {"far = x > 1e8; t = far ? 1.0 : x < 1 ? nan : x - 1\n"
			   "z = far ? log(x) + 0.6931471805599453 : log1p(t + sqrt(t * (t + 2)))",
			   NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_ARCTANH] = {"s = abs(x); z = copysign(0.5 * log1p(2 * s / (1 - s)), x)", NULL, NULL,
			   1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_DEG2RAD] = {"z = x * 0.017453292519943295", NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING,
			   0},
	[TN_DO_RAD2DEG] = {"z = x * 57.29577951308232", NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING,
			   0},
	[TN_DO_SINC] = {"t = 3.141592653589793 * (x == 0 ? 1.0 : x); z = x == 0 ? 1.0 : sin(t) / t",
			NULL, NULL, 1, 0, 0, 1, TN_LOOP_QUOTIENT, 0},
	/* exp(x^2) erfc(x) (1 + 2 x) by a polynomial in (x - 4) / (x + 4), to 2^-59 in [0.44, 28];
	 * l is what the rounding of x^2 loses. */
	[TN_DO_ERFC] = {"s = abs(x) > 28 ? 28.0 : abs(x); t = (s - 4) / (s + 4); h = s*s; l = "
			"fma(s, s, -h)\n"
			"p = 1.5563401531371313e-09*t - 9.662784059797579e-09; p = p*t - "
			"1.7085755482994144e-08\n"
			"p = p*t + 1.0327217607915146e-07; p = p*t + 7.359250618870618e-08\n"
			"p = p*t - 8.195074824608123e-07; p = p*t + 2.945352319527839e-07\n"
			"p = p*t + 5.706478882058901e-06; p = p*t - 1.1222342808082265e-05\n"
			"p = p*t - 2.439804371983309e-05; p = p*t + 0.00015062176339014575\n"
			"p = p*t - 0.0001992569711541667; p = p*t - 0.0007577733044361342\n"
			"p = p*t + 0.005031970019855797; p = p*t - 0.01619773405603698\n"
			"p = p*t + 0.03716751553362761; p = p*t - 0.0663303658123262\n"
			"p = p*t + 0.09373283499854572; p = p*t - 0.10103906603630125\n"
			"p = p*t + 0.06809705425468811; p = p*t + 0.015379652102619715\n"
			"p = p*t - 0.13962111684056247; p = p*t + 1.2329951186255526\n"
			"r = exp(-h) * (1 - l) * (p / (1 + 2*s))\n"
			"z = abs(x) < 0.5 ? 1 - erf(x) : x < 0 ? 2 - r : r",
			NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_TRUNC] = {"z = trunc(x)", NULL, NULL, 1, 0, 0, 1, TN_LOOP_REAL, 0},
	/* The fraction alone. */
	[TN_DO_MODF] = {"z = copysign(abs(x) == inf ? 0.0 : x - trunc(x), x)", NULL, NULL, 1, 0, 0,
			1, TN_LOOP_FLOATING, 0},
	[TN_DO_RINT] = {"z = round(x)", NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	/* Of a NaN: 0.  No instruction reads the bits of an f64. */
	[TN_DO_SIGNBIT] = {"z = x < 0 || 1.0 / x < 0", NULL, NULL, 1, 0, 0, 0, TN_LOOP_FLOATING, 1},
	[TN_DO_COPYSIGN] = {"z = copysign(x, y)", NULL, NULL, 2, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_HEAVISIDE] = {"z = x != x ? x : x == 0 ? y : x < 0 ? 0.0 : 1.0", NULL, NULL, 2, 0, 0,
			     1, TN_LOOP_FLOATING, 0},
	[TN_DO_ISNAN] = {"z = x != x", NULL, NULL, 1, 0, 0, 0, TN_LOOP_SAME, 1},
	[TN_DO_ISINF] = {"z = abs(x) == inf", "z = x != x", "z = x != x", 1, 0, 0, 0, TN_LOOP_SAME,
			 1},
	[TN_DO_ISFINITE] = {"z = abs(x) < inf", "z = x == x", "z = x == x", 1, 0, 0, 0,
			    TN_LOOP_SAME, 1},
	[TN_DO_FLOAT_POWER] = {"z = pow(x, y)", NULL, NULL, 2, 0, 0, 1, TN_LOOP_DOUBLE, 0},
	[TN_DO_LOGICAL_AND] = {"z = bool(x) && bool(y)", NULL, NULL, 2, 0, 0, 0, TN_LOOP_SAME, 1},
	[TN_DO_LOGICAL_OR] = {"z = bool(x) || bool(y)", NULL, NULL, 2, 0, 0, 0, TN_LOOP_SAME, 1},
	[TN_DO_LOGICAL_XOR] = {"z = bool(x) ^ bool(y)", NULL, NULL, 2, 0, 0, 0, TN_LOOP_SAME, 1},
	[TN_DO_LOGICAL_NOT] = {"z = !bool(x)", NULL, NULL, 1, 0, 0, 0, TN_LOOP_SAME, 1},
	[TN_DO_BITWISE_AND] = {"z = x & y", NULL, NULL, 2, 0, 0, 0, TN_LOOP_BITS, 0},
	[TN_DO_BITWISE_OR] = {"z = x | y", NULL, NULL, 2, 0, 0, 0, TN_LOOP_BITS, 0},
	[TN_DO_BITWISE_XOR] = {"z = x ^ y", NULL, NULL, 2, 0, 0, 0, TN_LOOP_BITS, 0},
	[TN_DO_INVERT] = {"z = ~x", NULL, NULL, 1, 0, 0, 0, TN_LOOP_BITS, 0},
	/* In i64, whose width bounds the counts of every dtype. */
	[TN_DO_LEFT_SHIFT] = {"z = y < 0 || y > 63 ? 0 : i64(x) << y", NULL, NULL, 2, 0, 0, 0,
			      TN_LOOP_INTEGER, 0},
	/* The bits that a u64 above 2^63 would fill in as a negative i64 are cut off. */
	[TN_DO_RIGHT_SHIFT] = {"keep = x < 0 || y == 0 ? -1 : 0x7fffffffffffffff >> (y - 1)\n"
			       "z = y < 0 || y > 63 ? (x < 0 ? -1 : 0) : (i64(x) >> y) & keep",
			       NULL, NULL, 2, 0, 0, 0, TN_LOOP_INTEGER, 0},
	[TN_DO_LGAMMA] = {TN_TEXT_LGAMMA "z = lgamma", NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_DIGAMMA] = {TN_TEXT_DIGAMMA "z = digamma", NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING,
			   0},
	[TN_DO_TRIGAMMA] = {TN_TEXT_TRIGAMMA "z = trigamma", NULL, NULL, 1, 0, 0, 1,
			    TN_LOOP_FLOATING, 0},
	[TN_DO_ZETA] = {"n = x > 1 ? x : 2.0; q = y > 0 && y < inf ? y : 1.0\n" TN_TEXT_ZETA
			"end = x == 1 || y == 0 || y == floor(y) ? inf : nan\n"
			"z = x != x || y != y || x < 1 ? nan : x == 1 || y <= 0 ? end : y == inf ? "
			"0.0 : zeta",
			NULL, NULL, 2, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_ERFCX] = {"s = abs(x)\n" TN_TEXT_ERFCX
			 "d = x < -30 ? -30.0 : x; h = d * d; l = fma(d, d, -h)\n"
			 "z = x < 0 ? 2 * (exp(h) * (1 + l)) - scaled : scaled",
			 NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_ERFINV] = {"q = 0.5 * x; tail = 0.5 - 0.5 * abs(x)\n" TN_TEXT_NORMAL
			  "z = 0.7071067811865476 * normal",
			  NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_NDTR] = {TN_TEXT_NORMAL_TAIL "z = x < 0 ? tail : 1 - tail", NULL, NULL, 1, 0, 0, 1,
			TN_LOOP_FLOATING, 0},
	[TN_DO_LOG_NDTR] = {TN_TEXT_NORMAL_TAIL
			    "z = x < 0 ? log(0.5 * scaled) - 0.5 * x * x : log1p(-tail)",
			    NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_NDTRI] = {"q = x - 0.5; tail = x < 0.5 ? x : 1 - x\n" TN_TEXT_NORMAL "z = normal",
			 NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_I0] = {TN_TEXT_I0 "g = exp(far ? 0.5 * s : 0.0)\n"
				 "z = s == inf ? inf : p * (far ? sqrt(u) * g : 1.0) * g",
		      NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_I0E] = {TN_TEXT_I0 "z = p * (far ? sqrt(u) : exp(-s))", NULL, NULL, 1, 0, 0, 1,
		       TN_LOOP_FLOATING, 0},
	[TN_DO_I1] = {TN_TEXT_I1 "g = exp(far ? 0.5 * s : 0.0); l = sqrt(u) * g\n"
				 "z = s == inf ? x : p * (far ? (x < 0 ? -l : l) : x) * g",
		      NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_I1E] = {TN_TEXT_I1 "l = sqrt(u); z = p * (far ? (x < 0 ? -l : l) : exp(-s) * x)",
		       NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_BESSEL_J0] = {TN_TEXT_J0 "z = j", NULL, NULL, 1, 0, 0, 1, TN_LOOP_FLOATING, 0},
	/* Its derivative has more instructions than a program. */
	[TN_DO_BESSEL_J1] = {TN_TEXT_J1 "z = j", NULL, NULL, 1, 0, 0, 0, TN_LOOP_FLOATING, 0},
	[TN_DO_ENTR] = {"z = x > 0 ? -x * log(x) : x == 0 ? 0.0 : x < 0 ? -inf : x", NULL, NULL, 1,
			0, 0, 1, TN_LOOP_FLOATING, 0},
	[TN_DO_XLOG1PY] = {"z = y != y ? y : x == 0 ? 0.0 : x * log1p(y)", NULL, NULL, 2, 0, 0, 1,
			   TN_LOOP_FLOATING, 0},
	[TN_DO_AFFINE] = {"z = a * x + b", NULL, NULL, 1, 2, 0, 1, TN_LOOP_QUOTIENT, 0},
	[TN_DO_COPY] = {"z = x", NULL, NULL, 1, 0, 0, 1, TN_LOOP_SAME, 0},
};

/* Shorter than what differentiation gives; the last has PyTorch's values at the kinks. */
const char *const tn_element_derivatives[TN_ELEMENT_OPERATIONS][TN_DERIVATIVES] = {
	[TN_DO_SILU] = {"s = sigmoid(x); z = y * (s * (1 + x * (1 - s)))"},
	[TN_DO_GELU] = {"z = y * (0.5 + 0.5 * erf(0.7071067811865476 * x) + "
			"0.3989422804014327 * x * exp(-0.5 * x * x))"},
	[TN_DO_SOFTPLUS] = {"t = x * a; z = t > b ? y : y * sigmoid(t)"},
	[TN_DO_MODF] = {"z = y"},
	[TN_DO_REMAINDER] = {"z = c", "z = -c * floor(x / y)"},
	[TN_DO_HYPOT] = {"r = hypot(x, y); z = r == 0 ? 0.0 : c * (x / (r == 0 ? 1.0 : r))",
			 "r = hypot(x, y); z = r == 0 ? 0.0 : c * (y / (r == 0 ? 1.0 : r))"},
	[TN_DO_CBRT] = {"z = 0.3333333333333333 * y * pow(abs(x), -0.6666666666666666)"},
	[TN_DO_LOG10] = {"z = y / (x * 2.302585092994046)"},
	[TN_DO_LOGADDEXP] = {"d = x == y && abs(x) == inf ? 0.0 : x - y; z = c * sigmoid(d)",
			     "d = x == y && abs(x) == inf ? 0.0 : x - y; z = c * sigmoid(-d)"},
	[TN_DO_LOGADDEXP2] = {"d = x == y && abs(x) == inf ? 0.0 : x - y; z = c * "
			      "sigmoid(0.6931471805599453 * d)",
			      "d = x == y && abs(x) == inf ? 0.0 : x - y; z = c * "
			      "sigmoid(-0.6931471805599453 * d)"},
	[TN_DO_XLOGY] = {"z = x == 0 && y <= 0 ? 0.0 : c * log(y)",
			 "z = x == 0 ? 0.0 : c * (x / y)"},
	[TN_DO_LOGIT] = {"z = y / (x * (1 - x))"},
	[TN_DO_ARCSINH] = {"z = y * rsqrt(x * x + 1)"},
	[TN_DO_ARCCOSH] = {"z = y * rsqrt((x - 1) * (x + 1))"},
	[TN_DO_ARCTANH] = {"z = y / ((1 - x) * (1 + x))"},
	/* (t cos t - sin t) pi / t^2 for t = pi x, near 0 by its series. */
	[TN_DO_SINC] =
		{"t = 3.141592653589793 * x; near = abs(t) < 0.25; q = near ? 1.0 : t\n"
		 "v = near ? t * t : 0.0; p = 0.0011904761904761906 - v * 2.2045855379188714e-05\n"
		 "p = t * (v * (0.03333333333333333 - v * p) - 0.3333333333333333)\n"
		 "z = 3.141592653589793 * y * (near ? p : (cos(q) - sin(q) / q) / q)"},
	[TN_DO_ERFC] = {"z = -1.1283791670955126 * y * exp(-x * x)"},
	[TN_DO_LGAMMA] = {TN_TEXT_DIGAMMA "z = y * digamma"},
	[TN_DO_DIGAMMA] = {TN_TEXT_TRIGAMMA "z = y * trigamma"},
	[TN_DO_ERFCX] = {"s = abs(x)\n" TN_TEXT_ERFCX
			 "d = x < -30 ? -30.0 : x; h = d * d; l = fma(d, d, -h)\n"
			 "f = x < 0 ? 2 * (exp(h) * (1 + l)) - scaled : scaled\n"
			 "z = y * (2 * x * f - 1.1283791670955126)"},
	[TN_DO_ERFINV] = {"q = 0.5 * x; tail = 0.5 - 0.5 * abs(x)\n" TN_TEXT_NORMAL
			  "z = y * (0.8862269254527580 * exp(0.5 * normal * normal))"},
	[TN_DO_NDTR] = {"z = y * (0.3989422804014327 * exp(-0.5 * x * x))"},
	[TN_DO_LOG_NDTR] = {TN_TEXT_NORMAL_TAIL
			    "g = 0.3989422804014327 * exp(-0.5 * x * x) / (1 - tail)\n"
			    "z = y * (x < 0 ? 0.7978845608028654 / scaled : g)"},
	[TN_DO_NDTRI] = {"q = x - 0.5; tail = x < 0.5 ? x : 1 - x\n" TN_TEXT_NORMAL
			 "z = y * (2.5066282746310002 * exp(0.5 * normal * normal))"},
	[TN_DO_I0] = {TN_TEXT_I1 "g = exp(far ? 0.5 * s : 0.0); l = sqrt(u) * g\n"
				 "z = y * (s == inf ? x : p * (far ? (x < 0 ? -l : l) : x) * g)"},
	[TN_DO_BESSEL_J0] = {TN_TEXT_J1 "z = -y * j"},
	[TN_DO_ENTR] = {"z = y * (-log(x) - 1)"},
	/* The order has no derivative. */
	[TN_DO_ZETA] = {"z = x != x || y != y || c != c ? nan : 0.0",
			"n = x > 1 ? x + 1 : 2.0; q = y > 0 && y < inf ? y : 1.0\n" TN_TEXT_ZETA
			"z = x > 1 && y > 0 ? (y < inf ? -c * x * zeta : 0.0) : nan"},
	[TN_DO_TRIGAMMA] = {"left = x < 0; n = 3.0; q = left ? 1 - x : x\n" TN_TEXT_ZETA
			    "r = left ? x - round(x) : 0.25; w = sin(3.141592653589793 * r)\n"
			    "w = 62.01255336059964 * cos(3.141592653589793 * r) / (w * w * w)\n"
			    "z = -y * (left ? w + 2 * zeta : 2 * zeta)"},
	[TN_DO_XLOG1PY] = {"z = x == 0 && y <= -1 ? 0.0 : c * log1p(y)",
			   "z = x == 0 ? 0.0 : c * (x / (1 + y))"},
	[TN_DO_HARDSIGMOID] = {"z = abs(x) < 3 ? 0.16666666666666666 * y : 0"},
};

/* In the sums of logaddexp, -inf is the logarithm of nothing. */
const struct tn_element_fold tn_element_folds[TN_ELEMENT_OPERATIONS] = {
	[TN_DO_ADD] = {1, 1, 0, 0},
	[TN_DO_MULTIPLY] = {1, 1, 0, 1},
	[TN_DO_MAXIMUM] = {1, 0, 0, 0},
	[TN_DO_MINIMUM] = {1, 0, 0, 0},
	[TN_DO_FMAX] = {1, 0, 0, 0},
	[TN_DO_FMIN] = {1, 0, 0, 0},
	[TN_DO_HYPOT] = {1, 1, 0, 0},
	[TN_DO_LOGADDEXP] = {1, 1, 0, -INFINITY},
	[TN_DO_LOGADDEXP2] = {1, 1, 0, -INFINITY},
	[TN_DO_LOGICAL_AND] = {1, 1, 1, 1},
	[TN_DO_LOGICAL_OR] = {1, 1, 1, 0},
	[TN_DO_LOGICAL_XOR] = {1, 1, 1, 0},
	[TN_DO_BITWISE_AND] = {1, 1, 0, -1},
	[TN_DO_BITWISE_OR] = {1, 1, 0, 0},
	[TN_DO_BITWISE_XOR] = {1, 1, 0, 0},
};
