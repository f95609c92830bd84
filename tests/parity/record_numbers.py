#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Records what NumPy makes of the parts, neighbours, divisors, bits and decimals of numbers, in
numbers.txt beside this file, in the format of record_ufuncs.py; all of it is exact.  Beside it the
complex logarithms and exponentials that ufuncs.txt does not have.  Needs NumPy 2.4.
In place of an f16 of bool, i8 or u8, which is NumPy's, the f32 that Tenon has is recorded."""
import os
import warnings

import numpy as np

warnings.simplefilter("ignore")
HERE = os.path.dirname(os.path.abspath(__file__))
NUMBERS = {"bool": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "uint8": 6, "uint32": 8,
           "uint64": 9, "float16": 10,
           "float32": 12, "float64": 13, "complex64": 14, "complex128": 15}
FLOATS = ["float16", "float32", "float64"]
WHOLE = ["bool", "int8", "uint8", "int32", "uint32", "int64", "uint64"]


def text(value):
    if isinstance(value, (bool, np.bool_, int, np.integer)):
        return str(int(value))
    return repr(float(value)).removesuffix(".0")


class Recorder:
    def __init__(self, path):
        self.file = open(path, "w")
        print(f"# Recorded by record_numbers.py with NumPy {np.__version__}", file=self.file)

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
    """With the smallest and largest numbers, and those beside powers of two."""
    info = np.finfo(dtype)
    one = np.array([1], dtype)
    plain = [0.0, 0.1, 0.3, 0.5, 0.75, 2, 3, 10.5, 12.345, 1234.5, 0.045, 25, 6.5, 7.5]
    edge = [info.tiny, info.smallest_subnormal, 3 * info.smallest_subnormal,
            np.nextafter(info.tiny, one[0] * 0), info.max, np.inf, np.nan]
    near = [np.nextafter(one[0], one[0] * 0), np.nextafter(one[0], one[0] * 2), 1, 8, 0.0625]
    values = np.concatenate([np.array(v, dtype) for v in (plain, edge, near)])
    return np.concatenate([values, -values])


def whole(dtype):
    if dtype == "bool":
        return np.array([False, True])
    values = [0, 1, 2, 3, 6, 12, 15, 25, 35, 89, 100, 120]
    top = np.iinfo(dtype).max
    if dtype.startswith("uint"):
        return np.array(values + [128, 255, top], dtype)
    values += [-1, -2, -7, -12, -45, -100, top]
    return np.array(values + ([1134903170, 701408733] if dtype == "int32" else []), dtype)


def wide(x):
    return x.astype(np.float32) if x.dtype.itemsize == 1 else x


def nextafter(x, y):
    """NumPy's from an f16 to its equal is x, not y, which may be a zero of the other sign."""
    return np.where(x == y, y, np.nextafter(x, y)).astype(x.dtype)


def spacing(x):
    """NumPy's of an f16 has no sign."""
    return np.where(x < 0, -np.spacing(-x), np.spacing(x)).astype(x.dtype)


def of_floats(recorder, dtype):
    x = floats(dtype)
    mantissa, exponent = np.frexp(x)
    exponent = np.where(np.isfinite(x), exponent, 0).astype(np.int32)
    fraction, integral = np.modf(x)
    high = x.astype(np.float32) if dtype == "float16" else x
    results = {"frexp": mantissa, "frexp_exponent": exponent, "modf": fraction,
               "modf_integral": integral, "spacing": spacing(x), "fix": np.fix(x)}
    for name, decimals in ("around_1", 1), ("around_2", 2), ("around_minus_1", -1):
        small = np.where(np.abs(high) > 1e30, 1, high).astype(high.dtype)
        results[name] = np.round(small, decimals).astype(dtype)
    recorder.case("unary", {"x": x}, {k: v for k, v in results.items() if "around" not in k})
    recorder.case("unary", {"x": small.astype(dtype)},
                  {k: v for k, v in results.items() if "around" in k})
    steps = np.array([0, 1, -1, 5, -10, -25, 130, -126, -127, -150, 1000, -1022, -1023, -1060, 2000,
                      -2000, 5000, -5000], np.int32)
    recorder.case("binary", {"x": x[:, None], "y": steps}, {"ldexp": np.ldexp(x[:, None], steps)})
    y = np.array([0, -0.0, 1, -1, np.inf, -np.inf, np.nan], dtype)
    recorder.case("binary", {"x": x[:, None], "y": y}, {"nextafter": nextafter(x[:, None], y)})
    y = np.array([-3, -0.5, 0, 0.7, 2, np.inf], dtype)
    quotient, remainder = np.divmod(x[:, None], y)
    recorder.case("binary", {"x": x[:, None], "y": y},
                  {"divmod": quotient, "divmod_remainder": remainder})


def of_whole(recorder, dtype):
    x = whole(dtype)
    results = {"bitwise_count": np.bitwise_count(x)}
    mantissa, exponent = np.frexp(wide(x))
    fraction, integral = np.modf(wide(x))
    results.update(frexp=mantissa, frexp_exponent=exponent, modf=fraction, modf_integral=integral)
    if dtype not in ("bool", "uint64", "int64"):
        # What leaves the dtype is cut off, where NumPy wraps.
        tens = np.round(x.astype(np.float64), -1)
        tens = np.clip(tens, np.iinfo(dtype).min, np.iinfo(dtype).max).astype(dtype)
        results.update(around_2=np.round(x, 2), around_minus_1=tens)
    recorder.case("unary", {"x": x}, results)
    if dtype != "bool":
        recorder.case("binary", {"x": x[:, None], "y": x},
                      {"gcd": np.gcd(x[:, None], x), "lcm": np.lcm(x[:, None], x)})
        y = x[x != 0]
        quotient, remainder = np.divmod(x[:, None], y)
        recorder.case("binary", {"x": x[:, None], "y": y},
                      {"divmod": quotient, "divmod_remainder": remainder})


def of_pairs(recorder):
    """Euclid's slowest pairs, and pairs of two dtypes."""
    a, b = [1], [2]
    while b[-1] < 2**53:  # what a test's f64 holds
        a.append(b[-1])
        b.append(a[-2] + b[-1])
    for dtype in "int64", "uint64":
        x, y = np.array(a[:-1], dtype), np.array(b[:-1], dtype)
        recorder.case("binary", {"x": x, "y": y}, {"gcd": np.gcd(x, y), "lcm": np.lcm(x, y)})
    for first, second in ("int8", "uint8"), ("uint32", "int32"), ("uint8", "uint64"):
        x, y = whole(first)[:, None], whole(second)
        recorder.case("binary", {"x": x, "y": y}, {"gcd": np.gcd(x, y), "lcm": np.lcm(x, y)})


def of_complex(recorder, dtype):
    parts = [-2.5, -0.5, -0.0, 0.0, 0.25, 1.25, 3.0]
    x = np.array([complex(a, b) for a in parts for b in parts], dtype)
    x = np.concatenate([x, np.array([1e-9 + 1e-9j, -1e9 + 1e-9j, 1e9j, 1e12 - 1e11j], dtype)])
    names = "log2 log10 log1p arcsin arccos arctan arcsinh arccosh arctanh".split()
    z = np.where(x == 0, dtype(0.5), x)
    results = {name: getattr(np, name)(z.astype(np.complex128)).astype(dtype) for name in names}
    recorder.case("unary", {"x": z}, results)
    z = z[:-4]
    results = {name: getattr(np, name)(z.astype(np.complex128)).astype(dtype)
               for name in ("exp2", "expm1")}
    recorder.case("unary", {"x": z}, results)
    recorder.case("unary", {"x": x[:-4]}, {"around_1": np.round(x[:-4], 1)})


def main():
    recorder = Recorder(os.path.join(HERE, "numbers.txt"))
    for dtype in FLOATS:
        of_floats(recorder, dtype)
    for dtype in WHOLE:
        of_whole(recorder, dtype)
    of_pairs(recorder)
    for dtype in np.complex64, np.complex128:
        of_complex(recorder, dtype)


main()
