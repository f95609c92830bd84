#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Records what NumPy's universal functions make of special and ordinary values, in ufuncs.txt
beside this file, in the format of record_layers.py.  A case has the inputs x, y, low and high, the
number of each one's dtype, and an array by the name of each function with the dtype of its result.

Where mpmath has the function too, finite results other than 0 are mpmath's, rounded once, so that
the test bounds the error and not a difference of two errors.  Results of integers that NumPy leaves
to the processor (division by 0) are not recorded.  Needs NumPy 2.4 and mpmath.
In place of an f16 of bool or u8, which is NumPy's, the f32 that Tenon has is recorded."""
import os
import warnings

import mpmath
import numpy as np

warnings.simplefilter("ignore")
mpmath.mp.prec = 2600
HERE = os.path.dirname(os.path.abspath(__file__))
NUMBERS = {"bool": 1, "int8": 2, "int32": 4, "int64": 5, "uint8": 6, "uint32": 8, "uint64": 9,
           "float16": 10, "float32": 12, "float64": 13, "complex64": 14, "complex128": 15}
FLOATS = ["float16", "float32", "float64"]
WHOLE = ["bool", "int32", "uint8", "int64", "int8", "uint32"]


def sinc(x):
    return mpmath.mpf(1) if x == 0 else mpmath.sinpi(x) / (mpmath.pi * x)


ONE = {
    "reciprocal": lambda x: 1 / x, "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "exp2": lambda x: mpmath.mpf(2)**x, "expm1": mpmath.expm1,
    "log2": lambda x: mpmath.log(x, 2), "log10": lambda x: mpmath.log(x, 10),
    "log1p": lambda x: mpmath.log(1 + x), "tan": mpmath.tan, "arcsin": mpmath.asin,
    "arccos": mpmath.acos, "arctan": mpmath.atan, "sinh": mpmath.sinh, "cosh": mpmath.cosh,
    "arcsinh": mpmath.asinh, "arccosh": mpmath.acosh, "arctanh": mpmath.atanh,
    "deg2rad": lambda x: x * mpmath.pi / 180, "rad2deg": lambda x: x * 180 / mpmath.pi,
    "sinc": sinc, "positive": None, "fabs": None, "trunc": None, "rint": None, "signbit": None,
    "isnan": None, "isinf": None, "isfinite": None, "logical_not": None, "invert": None,
}
# Not NumPy's: mpmath alone, and the results at the ends, as PyTorch has them.
OWN = {
    "erfc": (lambda x: mpmath.erfc(min(max(x, -40), 40)),
             lambda x: np.where(x == np.inf, 0, np.where(x == -np.inf, 2, np.nan))),
    "logit": (lambda x: mpmath.log(x / (1 - x)),
              lambda x: np.where(x == 0, -np.inf, np.where(x == 1, np.inf, np.nan))),
}
TWO = {
    "hypot": mpmath.hypot, "arctan2": lambda y, x: y and mpmath.atan2(y, x),
    "logaddexp": lambda x, y: mpmath.log(mpmath.exp(x) + mpmath.exp(y)),
    "logaddexp2": lambda x, y: mpmath.log(mpmath.mpf(2)**x + mpmath.mpf(2)**y, 2),
    "float_power": None, "floor_divide": None, "remainder": None, "fmod": None, "fmax": None,
    "fmin": None, "copysign": None, "heaviside": None, "logical_and": None, "logical_or": None,
    "logical_xor": None, "bitwise_and": None, "bitwise_or": None, "bitwise_xor": None,
    "left_shift": None, "right_shift": None,
}
COMPLEX_ONE = "reciprocal positive tan sinh cosh isnan isinf isfinite logical_not".split()
COMPLEX_TWO = "logical_and logical_or logical_xor".split()


def text(value):
    if isinstance(value, (bool, np.bool_, int, np.integer)):
        return str(int(value))
    return repr(float(value)).removesuffix(".0")


def rounded(value, dtype):
    """To nearest, ties to even, in one step; subnormal numbers too."""
    info = np.finfo(dtype)
    exponent = max(int(mpmath.floor(mpmath.log(abs(value), 2))), int(info.minexp))
    unit = mpmath.mpf(2)**(exponent - int(info.nmant))
    nearest = mpmath.nint(value / unit) * unit
    return np.copysign(np.inf, float(value)) if abs(nearest) > float(info.max) else float(nearest)


def exact(function, result, *inputs):
    """The result with mpmath's values where those are finite."""
    if function is None or result.dtype.kind != "f":
        return result
    result, inputs = result.copy(), np.broadcast_arrays(*inputs)
    for i in np.ndindex(result.shape):
        numbers = [x[i] for x in inputs]
        if not np.isfinite(result[i]) or result[i] == 0 or not np.all(np.isfinite(numbers)):
            continue
        value = function(*(mpmath.mpf(int(x) if x.dtype.kind != "f" else float(x))
                           for x in numbers))
        result[i] = rounded(value, result.dtype) if value else result[i]
    return result


def own(name, x):
    function, ends = OWN[name]
    dtype = np.sqrt(np.zeros(1, x.dtype)).dtype
    dtype = np.dtype("float32") if dtype == np.float16 and x.dtype != np.float16 else dtype
    wide = x.astype(np.float64)
    result = np.empty(x.shape, dtype)
    for i in np.ndindex(x.shape):
        if not np.isfinite(wide[i]) or (name == "logit" and not 0 < wide[i] < 1):
            result[i] = ends(wide[i])
        else:
            value = function(mpmath.mpf(float(wide[i])))
            result[i] = rounded(value, dtype) if value else 0
    return result


class Recorder:
    def __init__(self, path):
        self.file = open(path, "w")
        print(f"# Recorded by record_ufuncs.py with NumPy {np.__version__}", file=self.file)

    def array(self, name, values):
        print("int", name, 1, NUMBERS[values.dtype.name], file=self.file)
        if values.dtype.kind == "c":
            values = np.stack([values.real, values.imag], axis=-1)
        print("array", name, values.ndim, *values.shape, file=self.file)
        flat = [text(v) for v in values.ravel()]
        for i in range(0, len(flat), 8):
            print(" ", *flat[i:i + 8], file=self.file)

    def case(self, name, inputs, results):
        print("case", name, file=self.file)
        for key, values in {**inputs, **results}.items():
            self.array(key, values)
        print("end", file=self.file)


def floats(dtype):
    values = [-np.inf, -60000, -1000.5, -89, -20.25, -2.5, -1.5, -1, -0.75, -0.5, -0.1, -1e-3,
              -1e-4, -0.0, 0.0, 1e-4, 1e-3, 0.1, 0.25, 0.3, 0.5, 0.502, 0.6, 0.75, 0.999, 1, 1.001,
              1.1, 1.5, 2, 2.5, 3, 5.5, 8, 10, 27, 100, 1000, 12345, np.inf, np.nan]
    if dtype != "float16":
        values += [-1e30, -1e-20, 1e-30, 1e-20, 1e-8, 0.4999999, 0.9999999, 1.0000001, 9.1, 1e4,
                   1e5, 9.9e7, 1.1e8, 1e9, 1e30]
    if dtype == "float64":
        values += [-1e200, 1e-200, 1e-300, 0.49999999999, 1 + 1e-13, 25.9, 26.5, 1e16, 1e200]
    return np.array(values, dtype)


def whole(dtype):
    if dtype == "bool":
        return np.array([False, True])
    values = [0, 1, 2, 3, 7, 10, 100, 127]
    if dtype.startswith("uint"):
        return np.array(values + [128, 255, np.iinfo(dtype).max], dtype)
    large = min(1 << 20, np.iinfo(dtype).max)
    return np.array(values + [-1, -2, -7, -100, np.iinfo(dtype).min, large], dtype)


def grid(dtype):
    if dtype == "bool":
        return whole(dtype)
    if dtype.startswith("float"):
        return np.array([-np.inf, -100.5, -3, -0.5, -0.0, 0.0, 0.3, 1, 3, 100, np.inf, np.nan],
                        dtype)
    values = [0, 1, 2, 3, 7, 8, 31, 33, 63, 65, 100]
    if dtype.startswith("uint"):
        return np.array(values + [200, 255], dtype)
    return np.array(values + [-1, -3, -8, np.iinfo(dtype).min], dtype)


def defined(function, *inputs):
    try:
        result = function(*inputs)
    except TypeError:
        return None
    return result if result.dtype.name in NUMBERS else None


def sinc_of(x):
    """NumPy's product with pi overflows in f16."""
    return np.sinc(x.astype(np.float32)).astype(x.dtype) if x.dtype == np.float16 else np.sinc(x)


def xlogy(x, y):
    z = np.where((x == 0) & ~np.isnan(y), x.dtype.type(0), x * np.log(y))
    return exact(lambda a, b: a * mpmath.log(b), z, x, y)


def unary(recorder, dtype):
    x = whole(dtype) if dtype in WHOLE else floats(dtype)
    results = {}
    for name, function in ONE.items():
        given = x[x != 0] if name == "reciprocal" and dtype in WHOLE else x
        y = sinc_of(given) if name == "sinc" else defined(getattr(np, name), given)
        if y is not None:
            if y.dtype == np.float16 and dtype in WHOLE:
                y = getattr(np, name)(given.astype(np.float32))
            if len(given) != len(x):
                y = np.concatenate([np.zeros(len(x) - len(given), y.dtype), y])
            results[name] = exact(ONE[name], y, x) if len(given) == len(x) else y
    results.update({name: own(name, x) for name in OWN})
    recorder.case("unary", {"x": x}, results)


def binary(recorder, first, second):
    x, y = grid(first)[:, None], grid(second)
    results = {}
    for name, function in TWO.items():
        z = defined(getattr(np, name), x, y)
        if z is None:
            continue
        if z.dtype == np.float16 and first in WHOLE and second in WHOLE:
            z = getattr(np, name)(x.astype(np.float32), y.astype(np.float32))
        results[name] = exact(function, z, x, y)
    if first == second and first in FLOATS:
        results["xlogy"] = xlogy(x, y)
    recorder.case("binary", {"x": x, "y": y}, results)


def ternary(recorder, dtype):
    x = whole(dtype) if dtype in WHOLE else floats(dtype)
    low, high = grid(dtype)[:, None, None], grid(dtype)[:, None]
    low, high = low[::3], high[::3]
    z = defined(np.clip, x[::3], low, high)
    if z is not None:
        recorder.case("ternary", {"x": x[::3], "low": low, "high": high}, {"clip": z})


def complex_ones(recorder, dtype):
    parts = [-2.5, -0.5, 0.0, 0.3, 1.0, 3.0]
    x = np.array([complex(a, b) for a in parts for b in parts if a or b], dtype)
    results = {name: getattr(np, name)(x.astype(np.complex128)) for name in COMPLEX_ONE}
    results = {name: y.astype(dtype) if y.dtype.kind == "c" else y for name, y in results.items()}
    recorder.case("unary", {"x": x}, results)
    x = np.array([0, 1, 1j, complex(0, np.nan), complex(np.inf, 0), complex(1, -np.inf)], dtype)
    recorder.case("unary", {"x": x}, {name: getattr(np, name)(x) for name in COMPLEX_ONE[-4:]})
    recorder.case("binary", {"x": x[:, None], "y": x},
                  {name: getattr(np, name)(x[:, None], x) for name in COMPLEX_TWO})


def main():
    recorder = Recorder(os.path.join(HERE, "ufuncs.txt"))
    for dtype in WHOLE + FLOATS:
        unary(recorder, dtype)
        binary(recorder, dtype, dtype)
        ternary(recorder, dtype)
    for first, second in [("int32", "float32"), ("uint8", "float16"), ("int64", "uint8"),
                          ("bool", "int32"), ("uint64", "int64"), ("uint64", "uint64")]:
        binary(recorder, first, second)
    for dtype in "complex64", "complex128":
        complex_ones(recorder, dtype)


main()
