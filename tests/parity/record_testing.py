#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Records what NumPy's comparisons and testing functions say of two arrays, in testing.txt beside
this file:

    case FUNCTION RTOL ATOL FLAG HAS_MESSAGE   FLAG is equal_nan, or strict
    x DTYPE RANK LENGTH...                     DTYPE is a number of <tenon/types.h>
    bits HEX...                                the elements; a complex one is two
    y DTYPE RANK LENGTH...
    bits HEX...
    |TEXT                                      the lines of the text, or the bools; none: it passes
    end

NumPy's text begins with an empty line, which is left out; it shows f32 with the digits of f64,
and Tenon with its own, which is why f32 and f16 here have few digits.  Where the signs of
infinities differ, NumPy shows only these, and Tenon both arrays: the record has both.
"""
import os
import warnings

import numpy as np

from record_text import DTYPES, PARTS

HERE = os.path.dirname(os.path.abspath(__file__))
random = np.random.default_rng(20261126)
nan, inf = np.nan, np.inf
MESSAGE = "of the third kind"


class Record:
    def __init__(self, out):
        self.out = out
        self.n_cases = 0

    def array(self, name, a):
        print(name, DTYPES[a.dtype], a.ndim, *a.shape, file=self.out)
        kind = a.dtype.str[1:]
        bits = np.ascontiguousarray(a).reshape(-1).view(PARTS.get(kind, "u%d" % a.itemsize))
        words = ["%x" % b for b in bits.tolist()]
        for i in range(0, len(words), 12):
            print("bits", *words[i:i + 12], file=self.out)

    def case(self, function, x, y, text, rtol=0, atol=0, flag=0, message=0):
        print("case", function, repr(float(rtol)), repr(float(atol)), flag, message, file=self.out)
        self.array("x", x)
        self.array("y", y)
        for line in text.split("\n") if text is not None else []:
            print("|" + line, file=self.out)
        print("end", file=self.out)
        self.n_cases += 1

    def bools(self, x, y):
        x, y = np.asarray(x), np.asarray(y)
        for flag in (0, 1):
            for rtol, atol in ((1e-5, 1e-8), (0.1, 0), (0, 1)):
                close = np.isclose(x, y, rtol, atol, equal_nan=bool(flag))
                self.case("isclose", x, y, "".join("01"[int(v)] for v in np.ravel(close)), rtol,
                          atol, flag)
            close = np.allclose(x, y, 0.1, 0, bool(flag))
            self.case("allclose", x, y, "01"[close], 0.1, 0, flag)
            self.equal(x, y, flag)

    def equal(self, x, y, flag):
        x, y = np.asarray(x), np.asarray(y)
        self.case("array_equal", x, y, "01"[np.array_equal(x, y, equal_nan=bool(flag))], flag=flag)
        if not flag:
            self.case("array_equiv", x, y, "01"[np.array_equiv(x, y)])

    def failure(self, function, x, y, rtol=0.0, atol=0.0, strict=0, message=0):
        x, y = np.asarray(x), np.asarray(y)
        options = {"err_msg": MESSAGE if message else "", "strict": bool(strict)}
        if function == "assert_allclose":
            options.update(rtol=rtol, atol=atol)
        text = None
        try:
            getattr(np.testing, function)(x, y, **options)
        except AssertionError as error:
            text = str(error)[1:]
            if "inf values" in text:
                arrays = [np.array_repr(a, precision=6) for a in (x, y)]
                text = text[:text.index("\n ACTUAL")]
                text += "\n ACTUAL: %s\n DESIRED: %s" % tuple(arrays)
        self.case(function, x, y, text, rtol, atol, strict, message)

    def failures(self, x, y):
        for rtol, atol in ((1e-7, 0), (0.1, 0), (0, 1), (1e-5, 1e-8)):
            self.failure("assert_allclose", x, y, rtol, atol)
        self.failure("assert_array_equal", x, y)
        if np.asarray(x).dtype.kind != "c" and np.asarray(y).dtype.kind != "c":
            self.failure("assert_array_less", x, y)


def pairs():
    a = np.arange(6.0).reshape(2, 3)
    b = a.copy()
    b[1, 2] += 0.5
    yield a, a
    yield a, b
    yield b, a
    yield a, a + 1
    yield a, np.float64(3)
    yield np.float64(3), a
    yield np.float64(1), np.float64(2)
    yield np.float64(1), np.float64(0)
    yield np.array([1, nan, 3]), np.array([1, nan, 3.5])
    yield np.array([1, nan, 3]), np.array([1, 2, 3.0])
    yield np.array([1, inf, -inf]), np.array([1, inf, -inf])
    yield np.array([1, inf, -inf]), np.array([1, inf, inf])
    yield np.array([1, inf, 2]), np.array([1, 5, 2.0])
    yield np.array([nan, inf, 2]), np.array([nan, inf, 3.0])
    yield np.array([nan, nan]), np.float64(nan)
    yield np.array([0, 0.0]), np.array([0, 1e-9])
    yield np.array([1e-9, 2]), np.array([0, 2.0])
    yield np.zeros(0), np.zeros(0)
    yield np.zeros((0, 2)), np.float64(1)
    yield np.array([1, 2, 3]), np.array([1, 2, 5])
    yield np.array([1, 2, 3], "i4"), np.array([1, 0, 5], "i4")
    yield np.array([1, 2, 250], "u1"), np.array([3, 2, 5], "u1")
    yield np.array([1, 2, 3]), np.array([1, 2, 3.5])
    yield np.array([True, False]), np.array([True, True])
    yield np.array([True, False]), np.array([1, 2])
    yield np.array([0.5, 1.25, 2], "f4"), np.array([0.5, 1.5, 2], "f4")
    yield np.array([0.5, 1.25, 2], "f2"), np.array([0.5, 1.5, 4], "f2")
    yield np.array([0.5, 1.25, 2], "f4"), np.array([0.5, 1.5, 2])
    yield np.array([1 + 2j, 3]), np.array([1 + 2j, 3 + 1j])
    yield np.array([1 + 2j, 3], "c8"), np.array([1, 3])
    yield np.array([complex(nan, 1), 2]), np.array([complex(1, nan), 2])
    yield np.array([complex(inf, 1), 2]), np.array([complex(inf, 2), 2])
    yield random.normal(size=(9, 3)), random.normal(size=(9, 3))


def shapes(record):
    a = np.arange(3.0)
    for function in ("assert_allclose", "assert_array_equal", "assert_array_less"):
        record.failure(function, a, np.zeros(2))
        record.failure(function, a, np.zeros((1, 3)), message=1)
        record.failure(function, a, a + 1, strict=1)
        record.failure(function, a, np.float64(7), strict=1)
        record.failure(function, a, (a + 1).astype("f4"), strict=1)
        record.failure(function, np.zeros((2, 1)), np.zeros(()), message=1)
    many = np.arange(1200) % 7
    record.failure("assert_array_equal", many.astype("u1"), (many % 6).astype("u1"))
    record.equal(a, np.zeros(2), 0)
    record.equal(a, a.reshape(1, 3), 0)
    record.equal(np.ones((2, 3)), np.float64(1), 0)
    record.equal(np.array([1, nan]), np.array([1, nan]), 1)


def main():
    warnings.simplefilter("ignore")
    with open(os.path.join(HERE, "testing.txt"), "w") as out:
        print("# Recorded by record_testing.py with NumPy", np.__version__, file=out)
        record = Record(out)
        for x, y in pairs():
            record.bools(x, y)
            record.failures(x, y)
        shapes(record)
    print(record.n_cases, "cases")


if __name__ == "__main__":
    main()
