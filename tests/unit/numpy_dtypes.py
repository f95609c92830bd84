#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Writes numpy_dtypes.h: the dtypes that NumPy gives to results (NumPy 2.4, ml_dtypes 0.6).
# "-": NumPy has no result, or refuses.
#
#     python3 tests/unit/numpy_dtypes.py > tests/unit/numpy_dtypes.h
import warnings

import ml_dtypes
import numpy as np

warnings.simplefilter("ignore")
TYPES = {
    "bool": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
    "c64": np.complex64, "c128": np.complex128,
}
NAMES = {np.dtype(t): name for name, t in TYPES.items()}


def name_of(function, *arguments):
    try:
        return NAMES.get(np.dtype(function(*arguments)), "-")
    except Exception:
        return "-"


def along(function):
    return lambda x: function(x, axis=0, keepdims=True).dtype


UNARY = {
    **{n: (lambda x, f=getattr(np, n): f(x).dtype)
       for n in "negative abs sign square sqrt exp log sin cos tanh floor ceil round".split()},
    "sum": along(np.sum), "prod": along(np.prod), "mean": along(np.mean), "max": along(np.max),
    "cumsum": lambda x: np.cumsum(x).dtype, "affine": lambda x: (2.0 * x + 1.0).dtype,
}
BINARY = "add subtract multiply divide power maximum equal less matmul".split()

print("""/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Written by numpy_dtypes.py: the dtypes that NumPy %s gives to results, in the order of the
 * dtypes' numbers.  "-": NumPy refuses.
 */
/* clang-format off */
static const char *const numpy_result_type[15] = {""" % np.__version__)
for a in TYPES.values():
    print('\t"%s",' % " ".join(name_of(np.result_type, a, b) for b in TYPES.values()))
print("""};

static const struct {
	const char *operation;
	const char *dtypes;
} numpy_operations[] = {""")
for name in BINARY:
    UNARY[name] = lambda x, f=getattr(np, name): f(x, x).dtype
for name, function in UNARY.items():
    row = (name_of(function, np.ones((2, 2), t)) for t in TYPES.values())
    print('\t{"%s", "%s"},' % (name, " ".join(row)))
print("};\n/* clang-format on */")
