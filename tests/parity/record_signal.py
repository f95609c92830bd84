#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Records what NumPy makes of each function of <tenon/signal.h> and <tenon/polynomial.h>, in
signal.txt beside this file, in the format of record_statistics.py.  What NumPy computes in f64 of
f32 and narrower numbers is rounded to the dtype that Tenon has; zeros are mpmath's, and lengths are
those without NumPy's removal of leading zeros.  Needs NumPy and mpmath."""
import os
import warnings

import mpmath
import numpy as np

from record_statistics import FLOATING, HERE, Record, inf, nan, sample

MODES = {"full": 0, "same": 1, "valid": 2}
NUMBERS = ["i1", "i4", "i8", "u1", "u4"] + FLOATING + ["c8", "c16"]


def wide(a):
    return a.astype("c16" if a.dtype.kind == "c" else "f8")


def floating(*arrays):
    dtype = np.result_type(*arrays)
    return dtype if dtype.kind in "fc" else np.dtype("f8")


def interp_case(record, x, xp, fp, left=None, right=None, period=0.0):
    x, xp, fp = (np.asarray(a) for a in (x, xp, fp))
    result = np.interp(wide(x), wide(xp), wide(fp), left, right, period or None)
    numbers = [period] + [v for v in (left, right) if v is not None]
    record.case("interp", [x, xp, fp], result.astype(floating(x, xp, fp)),
                {"left": int(left is not None), "right": int(right is not None)}, numbers)


def interpolation(record):
    x = np.array([-1, 0, 0.25, 0.5, 1, 1.5, 2.5, 3.75, 4, 4.5, nan, inf, -inf])
    xp, fp = np.array([0, 0.5, 1.5, 4]), np.array([1, -2, 0.5, 3])
    for dtype in FLOATING:
        interp_case(record, x.astype(dtype), xp.astype(dtype), fp.astype(dtype))
        interp_case(record, x[:-3].astype(dtype).reshape(2, 5), xp.astype(dtype), fp.astype(dtype),
                    -5, 7)
    for dtype in "c8", "c16":
        interp_case(record, x[:-2].astype("f4" if dtype == "c8" else "f8"), xp, fp + 1j * xp)
    interp_case(record, np.array([0, 1, 2, 5]), np.array([1, 3]), np.array([2, 6]), None, 9)
    interp_case(record, 0.75, xp, fp)
    interp_case(record, x, [1.5], [2.0])
    interp_case(record, x, [1.5], [2.0], -1, 1)
    interp_case(record, x[:-2], xp, [inf, inf, 2, -inf])
    interp_case(record, x[:-3], [3.5, 0.25, 9], [1.0, 2, 4], period=4.0)
    interp_case(record, np.zeros((0, 2)), xp, fp)


def phases(record):
    for dtype in FLOATING + ["i4"]:
        a = (np.array([[0, 3, 7, 6.5, -1, 12], [1, 1.5, 2, 9, 9.25, 0]]) * 1).astype(dtype)
        for axis in (0, 1, -1):
            result = np.unwrap(a.astype(floating(a)), axis=axis)
            record.case("unwrap", [a], result, {"axis": axis}, [0, 2 * np.pi])
    a = np.array([0, 2, 4, -1, 5, 5, 0.5])
    record.case("unwrap", [a], np.unwrap(a, period=4), {"axis": 0}, [0, 4])
    record.case("unwrap", [a], np.unwrap(a, 3.5, period=4), {"axis": 0}, [3.5, 4])
    record.case("unwrap", [a[:1]], np.unwrap(a[:1]), {"axis": 0}, [0, 2 * np.pi])
    record.case("unwrap", [np.zeros((0, 2))], np.unwrap(np.zeros((0, 2))), {"axis": 0}, [0, 4])


def convolution(record):
    for dtype in NUMBERS + ["?"]:
        a, v = sample(dtype, 7, has_nan=False), sample(dtype, 3, has_nan=False)
        for name, mode in MODES.items():
            record.case("convolve", [a, v], np.convolve(a, v, name), {"mode": mode})
            record.case("correlate", [a, v], np.correlate(a, v, name), {"mode": mode})
    for n, m in ((3, 7), (4, 6), (6, 4), (5, 5), (1, 1), (1, 4), (8, 2)):
        a = sample("c16", n, has_nan=False)
        v = sample("f8" if n == 4 else "c16", m, has_nan=False)
        for name, mode in MODES.items():
            record.case("convolve", [a, v], np.convolve(a, v, name), {"mode": mode})
            record.case("correlate", [a, v], np.correlate(a, v, name), {"mode": mode})


def products(record):
    warnings.simplefilter("ignore")
    for dtype in NUMBERS:
        a, b = sample(dtype, 2, 3, has_nan=False), sample(dtype, 3, has_nan=False)
        record.case("cross", [a, b], np.cross(a, b), {"axis": -1})
    for first, second, axis in (((3, 4), (3, 4), 0), ((2, 4), (2, 4), 0), ((2, 4), (3, 4), 0),
                                ((5, 3), (1, 2), 1), ((2,), (2,), 0), ((2, 1, 3), (4, 3), -1),
                                ((4, 3, 2), (4, 3, 2), 1), ((0, 3), (3,), -1)):
        a, b = sample("f8", *first, has_nan=False), sample("f8", *second, has_nan=False)
        record.case("cross", [a, b], np.cross(a, b, axis=axis), {"axis": axis})


def windows(record):
    for n in (0, 1, 2, 5, 8, 33):
        for name in ("bartlett", "blackman", "hamming", "hanning"):
            for dtype in FLOATING:
                record.case(name, [np.zeros((), dtype)], getattr(np, name)(n).astype(dtype),
                            {"n": n})
        for beta in (0.0, 8.6, 14.0, 300.0):
            for dtype in FLOATING:
                if dtype != "f8" and beta > 20:
                    continue
                record.case("kaiser", [np.zeros((), dtype)], np.kaiser(n, beta).astype(dtype),
                            {"n": n}, [beta])


def padded(p, n):
    return np.concatenate([np.zeros(n - len(p), p.dtype), p])


def arithmetic(record):
    for dtype in NUMBERS:
        a, b = sample(dtype, 4, has_nan=False), sample(dtype, 2, has_nan=False)
        x = sample(dtype, 2, 3, has_nan=False)
        b[0] = 2
        record.case("polyval", [a, x], np.polyval(a, x))
        record.case("polyadd", [a, b], a + padded(b, 4))
        record.case("polyadd", [b, a], a + padded(b, 4))
        record.case("polysub", [a, b], a - padded(b, 4))
        record.case("polymul", [a, b], np.convolve(a, b))
        quotient, rest = np.polydiv(wide(a), wide(b))
        rest = padded(rest, 1)[-1:]
        record.case("polydiv", [a, b], [q.astype(floating(a)) for q in (quotient, rest)])
        for m in (0, 1, 2, 6):
            result = a
            for _ in range(m):
                powers = np.arange(len(result) - 1, 0, -1).astype(dtype)
                result = result[:-1] * powers if len(result) else result
            record.case("polyder", [a], result, {"m": m})
        result = wide(a)
        k = sample("f4" if dtype in ("f2", "f4") else "f8", 2, has_nan=False)
        record.case("polyint", [a, k], np.polyint(result, 2, k).astype(
            np.result_type(floating(a), k)), {"m": 2})
        record.case("polyint", [a, k[:1]], np.polyint(result, 3, [k[0]] * 3).astype(
            np.result_type(floating(a), k)), {"m": 3})
        record.case("polyint", [a, None], np.polyint(result, 1).astype(floating(a)), {"m": 1})
        expected = np.ones(1, dtype)
        for z in a:
            expected = np.convolve(expected, np.array([1, -z if dtype[0] != "u" else 0 - z]).astype(
                dtype))
        record.case("poly", [a], expected.astype(dtype))
    x = sample("f8", 3, has_nan=False)
    record.case("polyval", [np.zeros(0), x], np.zeros(3))
    record.case("polyval", [np.array([2.0]), x], np.full(3, 2.0))
    record.case("poly", [np.zeros(0)], np.ones(1))
    record.case("polyint", [np.zeros(0), None], np.zeros(1), {"m": 1})
    for a, b in (([1.0, 2, 3, 4, 5], [2.0, -1, 1]), ([1.0, 2], [4.0, 5, 6]), ([3.0, 1], [2.0])):
        quotient, rest = np.polydiv(a, b)
        length = max(1, min(len(b) - 1, len(a)))
        record.case("polydiv", [np.array(a), np.array(b)], [quotient, padded(rest, length)])


def zeros_of(p):
    p = [mpmath.mpmathify(complex(c)) for c in p]
    while p and p[0] == 0:
        p = p[1:]
    if len(p) < 2:
        return np.zeros(0, "c16")
    found = [complex(z) for z in mpmath.polyroots(p, maxsteps=500, extraprec=500)]
    found = [complex(z.real, 0 if abs(z.imag) < 1e-20 else z.imag) for z in found]
    return np.array(sorted(found, key=lambda z: (round(z.real, 10), z.imag)), "c16")


def zeros(record):
    cases = [[3.2, 2, 1], [1, -6, 11, -6], [0, 0, 1, 0, 1], [1, 0, 0, 0, -1], [2, 5, 0, 0], [5.0],
             [], [0, 0], [1e-8, 1, 1], [1, 2, 3, 4, 5, 6, 7, 8], [1, -3 + 1j, 2.5j, 1],
             [1e150, 3, 1], [1, 0, 0], [3, 1e-5, 7, -2e4, 3, 1]]
    for p in cases:
        for dtype in ("f4", "f8"):
            a = np.array(p)
            if dtype == "f4" and a.size and abs(a).max() > 1e30:
                continue
            a = a.astype(dtype if a.dtype.kind != "c" else {"f4": "c8", "f8": "c16"}[dtype])
            record.case("roots", [a], zeros_of(a).astype("c8" if dtype == "f4" else "c16"))
    record.case("roots", [np.array([1, -3, 2], "i4")], np.array([1, 2], "c16"))


def exact_fit(x, y, degree, w):
    """By the normal equations with 200 digits, and the residuals."""
    mpmath.mp.dps = 200
    n = degree + 1
    a = mpmath.matrix(len(x), n)
    for i, v in enumerate(x):
        for k in range(n):
            a[i, k] = mpmath.mpf(float(w[i])) * mpmath.mpf(float(v))**(degree - k)
    y2 = y.reshape(len(x), -1)
    out, sums = [], []
    for column in y2.T:
        b = mpmath.matrix([mpmath.mpf(float(w[i])) * mpmath.mpmathify(complex(v))
                           for i, v in enumerate(column)])
        c = mpmath.lu_solve(a.T * a, a.T * b)
        rest = a * c - b
        out.append([complex(v) for v in c])
        sums.append(float(sum(abs(v)**2 for v in rest)))
    result = np.array(out).T
    result = result if y.dtype.kind == "c" else result.real
    return result.reshape(n, *y.shape[1:]), np.array(sums)


def fits(record):
    x = np.array([-1.5, -1, -0.5, 0, 0.75, 1.25, 1.5])
    y = np.array([1, 0.25, -2, 3.5, 2, 0, 5])
    several = np.stack([y, y[::-1] * 2, x], 1)
    w = np.array([1, 2, 0.5, 1, 3, 0.25, 1])
    for dtype in ("f4", "f8"):
        for degree in (0, 1, 3, 6):
            for values in (y, several, y + 1j * x):
                for weights in (None, w):
                    given = values.astype({"f4": "c8", "f8": "c16"}[dtype]
                                          if values.dtype.kind == "c" else dtype)
                    result, sums = exact_fit(x, given, degree, np.ones(7) if weights is None else w)
                    operands = [x.astype(dtype), given] + ([] if weights is None else [w])
                    if degree == 6:
                        sums = np.zeros_like(sums)
                    record.case("polyfit", operands, [result.astype(given.dtype), sums],
                                {"degree": degree})
    result, sums = exact_fit([0, 1, 2, 3], np.array([1, 3, 2, 5]), 1, np.ones(4))
    record.case("polyfit", [np.array([0, 1, 2, 3]), np.array([1, 3, 2, 5])], [result, sums],
                {"degree": 1})


def main():
    warnings.simplefilter("ignore")
    with open(os.path.join(HERE, "signal.txt"), "w") as out:
        print("# Recorded by record_signal.py with NumPy", np.__version__, file=out)
        record = Record(out)
        for family in (interpolation, phases, convolution, products, windows, arithmetic, zeros,
                       fits):
            family(record)
        print(record.n_cases, "cases")


main()
