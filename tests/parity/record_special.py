#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Records special functions in special.txt beside this file, in the format of record_ufuncs.py: the
values of mpmath, rounded once, and at the ends those of torch.special.  Needs mpmath and NumPy."""
import os
import warnings

import mpmath as mp
import numpy as np

warnings.simplefilter("ignore")
mp.mp.dps = 50
HERE = os.path.dirname(os.path.abspath(__file__))
NUMBERS = {"int32": 4, "uint8": 6, "float16": 10, "float32": 12, "float64": 13}
INF, NAN = np.inf, np.nan


def text(value):
    return repr(float(value)).removesuffix(".0")


def rounded(value, dtype):
    """To nearest, ties to even, in one step; subnormal numbers too."""
    info = np.finfo(dtype)
    if value == 0:
        return 0.0
    exponent = max(int(mp.floor(mp.log(abs(value), 2))), int(info.minexp))
    unit = mp.mpf(2)**(exponent - int(info.nmant))
    nearest = mp.nint(value / unit) * unit
    return np.copysign(INF, float(value)) if abs(nearest) > float(info.max) else float(nearest)


def lgamma(x):
    return mp.re(mp.loggamma(x))


def trigamma(x):
    if x > 0:
        return mp.zeta(2, x)
    return (mp.pi / mp.sinpi(x))**2 - mp.zeta(2, 1 - x)


def polygamma(n):
    return lambda x: (-1)**(n + 1) * mp.factorial(n) * mp.zeta(n + 1, x)


def ndtr(x):
    return mp.mpf(x > 0) if abs(x) > 1e4 else mp.erfc(-x / mp.sqrt(2)) / 2


def log_ndtr(x):
    return mp.log(ndtr(x)) if x < 0 else mp.log1p(-ndtr(-x))


def erfcx(x):
    if x > 1000:  # its asymptotic series
        return sum((-1)**k * mp.fac2(2 * k - 1) / (2 * x * x)**k
                   for k in range(12)) / (x * mp.sqrt(mp.pi))
    return mp.exp(x * x) * mp.erfc(x)


def quantile(x):
    """Newton's steps on the logarithm of the smaller tail."""
    tail = min(x, 1 - x)
    if tail == mp.mpf(0.5):
        return mp.mpf(0)
    z = -mp.sqrt(-2 * mp.log(tail)) if tail < 0.1 else mp.sqrt(2 * mp.pi) * (tail - 0.5)
    for _ in range(200):
        p = ndtr(z)
        step = (mp.log(p) - mp.log(tail)) * p * mp.sqrt(2 * mp.pi) * mp.exp(z * z / 2)
        z -= step
        if abs(step) < mp.mpf(10)**-40 * abs(z):
            break
    return z if x < 0.5 else -z


def erfinv(x):
    if x == 0:
        return mp.mpf(0)
    size = abs(x)
    return mp.sign(x) * -quantile((1 - size) / 2) / mp.sqrt(2)


def scaled(order):
    def function(x):
        if abs(x) > 3000:
            series, term = mp.mpf(0), mp.mpf(1)
            for k in range(1, 14):
                series += term
                term *= -(4 * order * order - (2 * k - 1)**2) / (8 * abs(x) * k)
            return (mp.sign(x) if order else 1) * series / mp.sqrt(2 * mp.pi * abs(x))
        return mp.besseli(order, x) * mp.exp(-abs(x))
    return function


# The exact function, the range in which it is that, and values elsewhere.
ONE = {
    "lgamma": (lgamma, lambda x: x > 0 or x != np.floor(x), {INF: INF, -INF: INF, 0: INF}, INF),
    "digamma": (mp.digamma, lambda x: x > 0 or x != np.floor(x), {INF: INF, 0: -INF}, NAN),
    "polygamma_1": (trigamma, lambda x: x > 0 or x != np.floor(x), {INF: 0, -INF: NAN}, INF),
    "polygamma_2": (polygamma(2), lambda x: x > 0, {INF: 0, -INF: INF}, None),
    "polygamma_5": (polygamma(5), lambda x: x > 0, {INF: 0, -INF: INF}, None),
    "erfcx": (erfcx, lambda x: True, {INF: 0, -INF: INF}, None),
    "erfinv": (erfinv, lambda x: abs(x) < 1, {1: INF, -1: -INF}, NAN),
    "ndtr": (ndtr, lambda x: True, {INF: 1, -INF: 0}, None),
    "log_ndtr": (log_ndtr, lambda x: True, {INF: 0, -INF: -INF}, None),
    "ndtri": (quantile, lambda x: 0 < x < 1, {0: -INF, 1: INF}, NAN),
    "bessel_j0": (lambda x: mp.besselj(0, x), lambda x: abs(x) < 1e11, {}, 0),
    "bessel_j1": (lambda x: mp.besselj(1, x), lambda x: abs(x) < 1e11, {}, 0),
    "i0": (lambda x: mp.besseli(0, x), lambda x: abs(x) < 800, {}, INF),
    "i0e": (scaled(0), lambda x: True, {INF: 0, -INF: 0}, None),
    "i1": (lambda x: mp.besseli(1, x), lambda x: abs(x) < 800, {}, "sign"),
    "i1e": (scaled(1), lambda x: True, {INF: 0, -INF: 0}, None),
    "entr": (lambda x: -x * mp.log(x) if x else mp.mpf(0), lambda x: x >= 0, {INF: -INF}, -INF),
    "expit": (lambda x: 1 / (1 + mp.exp(-x)), lambda x: True, {INF: 1, -INF: 0}, None),
}


def floats(dtype):
    values = [-40.3, -12.5, -8.25, -3.75, -2.4, -1.5, -0.9, -0.3, -1e-3, -1e-10, 0.0, 1e-30, 1e-10,
              1e-5, 0.01, 0.05, 0.1, 0.2, 0.25, 0.45, 0.4999, 0.5, 0.6, 0.7, 0.75, 0.9, 0.95,
              0.9999, 0.999999, 1, 1.0001, 1.2, 1.46, 1.4616321, 1.5, 1.75, 1.999, 2, 2.001, 2.5,
              3, 3.5, 3.999, 4, 4.001, 5, 6.5, 7.999, 8, 8.001, 10, 12, 20, 30, 50, 88.5, 100,
              1000, 1e5, INF, -INF, NAN, -1, -2, -10]
    if dtype == "float64":
        values += [1e-200, 1e-320, 5e-18, 1 - 1e-16, 700, 712, 1e10, 1e100, 1e308, -25.9, -30.1,
                   1.4616321449683622]
    return np.array(values, dtype)


def evaluate(name, x):
    function, inside, ends, other = ONE[name]
    result = np.empty(x.shape, x.dtype if x.dtype.kind == "f" else
                      np.float64 if x.dtype == np.int32 else np.float32)
    for i, v in enumerate(x.astype(np.float64)):
        if np.isnan(v):
            result[i] = NAN
        elif name == "digamma" and v == 0:
            result[i] = -np.copysign(INF, v)
        elif v in ends:
            result[i] = ends[v]
        elif np.isfinite(v) and inside(v):
            result[i] = rounded(function(mp.mpf(float(v))), result.dtype)
        elif other == "sign":
            result[i] = np.copysign(INF, v)
        elif other is None:
            result[i] = INF if v == np.floor(v) else NAN
        else:
            result[i] = other
    return result


class Recorder:
    def __init__(self, path):
        self.file = open(path, "w")
        print(f"# Recorded by record_special.py with mpmath {mp.__version__}", file=self.file)

    def case(self, inputs, results):
        print("case", "special", file=self.file)
        for name, values in {**inputs, **results}.items():
            print("int", name, 1, NUMBERS[values.dtype.name], file=self.file)
            print("array", name, values.ndim, *values.shape, file=self.file)
            flat = [text(v) for v in values.ravel()]
            for i in range(0, len(flat), 6):
                print(" ", *flat[i:i + 6], file=self.file)
        print("end", file=self.file)


def zeta(a, b, dtype):
    z = np.empty(np.broadcast_shapes(a.shape, b.shape), dtype)
    for i in np.ndindex(z.shape):
        s, q = float(np.broadcast_to(a, z.shape)[i]), float(np.broadcast_to(b, z.shape)[i])
        if np.isnan(s) or np.isnan(q) or s < 1:
            z[i] = NAN
        elif s == 1 or q <= 0:
            z[i] = INF if s == 1 or q == np.floor(q) else NAN
        else:
            z[i] = 0 if np.isinf(q) else rounded(mp.zeta(s, q), dtype)
    return z


def pairs(recorder, dtype):
    # Powers that are not subnormal.
    a = np.array([0.5, 1, 1.001, 1.5, 2, 3, 7.25, 13], dtype)[:, None]
    b = np.array([-1.5, -1, 0, 0.01, 0.5, 1, 1.5, 3, 9.75, 20, 500, INF, NAN], dtype)
    recorder.case({"x": a, "y": b}, {"zeta": zeta(a, b, dtype)})
    x = np.array([0, 1, -2, 0.5, 1e-3, 100, INF, NAN], dtype)[:, None]
    y = np.array([-1, -0.5, 1e-9, 0, 0.25, 3, 1e6, NAN], dtype)
    z = np.where((x == 0) & ~np.isnan(y), dtype(0), x * np.log1p(y))
    for i in np.ndindex(z.shape):
        if np.isfinite(z[i]) and z[i]:
            z[i] = rounded(mp.mpf(float(x[i[0], 0])) * mp.log1p(mp.mpf(float(y[i[1]]))), dtype)
    recorder.case({"x": x, "y": y}, {"xlog1py": z})
    x = np.array([0.1, 0.5, 1, 2.5, 10, 40], dtype)
    beta = np.array([[rounded(mp.log(mp.beta(mp.mpf(float(p)), mp.mpf(float(q)))), dtype)
                      if (p, q) != (1, 1) else 0 for q in x] for p in x], dtype)
    recorder.case({"x": x[:, None], "y": x}, {"betaln": beta})
    x = np.array([0.5, 1, 1.5, 1.75, 2, 3.5, 10, 200], dtype)
    several = [sum((lgamma(mp.mpf(float(v)) - mp.mpf(i) / 2) for i in range(3)),
                   mp.mpf(3) / 2 * mp.log(mp.pi)) if v > 1 else mp.nan for v in x]
    recorder.case({"x": x}, {"multigammaln_3": np.array(
        [rounded(v, dtype) if mp.isfinite(v) else NAN for v in several], dtype)})


def main():
    recorder = Recorder(os.path.join(HERE, "special.txt"))
    for dtype in "float16", "float32", "float64", "int32", "uint8":
        x = floats(dtype) if "float" in dtype else np.array([0, 1, 2, 3, 5, 9, 20], dtype)
        for name in ONE:
            # In f16 only what is not beside the edges of the ranges.
            recorder.case({"x": x}, {name: evaluate(name, x)})
    for dtype in np.float32, np.float64:
        pairs(recorder, dtype)


main()
