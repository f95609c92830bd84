#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Records how NumPy prints arrays, in text.txt beside this file, or in the file that is its first
argument, with as many random arrays as its second:

    case FUNCTION DTYPE RANK LENGTH...   DTYPE is a number of <tenon/types.h>
    option NAME NUMBER                   strings are numbers of the lists below
    counted                              the elements are 0, 1, 2, ...
    bits HEX...                          or these; a complex one is two
    |TEXT                                the lines of the text
    end
"""
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
DTYPES = {np.dtype(t): i + 1 for i, t in enumerate(
    ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2"])}
DTYPES.update({np.dtype("f4"): 12, np.dtype("f8"): 13, np.dtype("c8"): 14, np.dtype("c16"): 15})
INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
FLOATING = ["f2", "f4", "f8"]
COMPLEX = ["c8", "c16"]
PARTS = {"f2": "u2", "f4": "u4", "f8": "u8", "c8": "u4", "c16": "u8"}
FLOATMODES = ["maxprec", "maxprec_equal", "unique", "fixed"]
STRINGS = ["nan", "NaN", "not a number", "inf", "Infinity", ", ", " ", ";", "", " | ", "x = ", ")",
           "----------"]
random = np.random.default_rng(20261126)
nan, inf = np.nan, np.inf


class Record:
    def __init__(self, out):
        self.out = out
        self.n_cases = 0

    def text(self, function, a, text, options, counted):
        print("case", function, DTYPES[a.dtype], a.ndim, *a.shape, file=self.out)
        for key, value in options.items():
            if isinstance(value, str):
                value = (ord(value) if key == "sign" else FLOATMODES.index(value)
                         if key == "floatmode" else STRINGS.index(value))
            print("option", key, int(value), file=self.out)
        if counted:
            print("counted", file=self.out)
        else:
            kind = a.dtype.str[1:]
            bits = np.ascontiguousarray(a).reshape(-1).view(PARTS.get(kind, "u%d" % a.itemsize))
            words = ["%x" % b for b in bits.tolist()]
            for i in range(0, len(words), 12):
                print("bits", *words[i:i + 12], file=self.out)
        for line in text.split("\n"):
            print("|" + line, file=self.out)
        print("end", file=self.out)
        self.n_cases += 1

    def case(self, a, functions=("str", "repr"), counted=False, **options):
        a = np.asarray(a)
        strings = {k: options[k] for k in ("separator", "prefix", "suffix") if k in options}
        rest = {k: v for k, v in options.items() if k not in strings}
        with np.printoptions(**rest), np.errstate(all="ignore"):
            if "str" in functions:
                self.text("str", a, str(a), rest, counted)
            if "repr" in functions:
                self.text("repr", a, repr(a), rest, counted)
            if "array2string" in functions:
                self.text("array2string", a, np.array2string(a, **strings), options, counted)


def numbers(record):
    """The rules of the choice of digits, one number and few."""
    special = [0.0, -0.0, 1, -1, 0.1, 1 / 3, 2 / 3, 1e-4, 9.999e-5, 1e-5, 123.456, 999.9995, 1e3,
               12345.678, 1e5, 1e6, 1e7, 99999999.0, 1e8, 123456789.0, 1e15, 1e16, 1e17, 1e22, 1e23,
               65504, 6e-8, 5.96e-8, 1e-45, 1.17549435e-38, 3.4028235e38, 5e-324,
               2.2250738585072014e-308, 1.7976931348623157e308, 9007199254740993, 2.0 ** -44,
               2.0 ** 60, 0.5, 1.5, 2.5, 0.125, 8.5e-7, nan, inf, -inf]
    for dtype in FLOATING:
        with np.errstate(all="ignore"):
            values = np.array(special).astype(dtype)
        for value in values:
            record.case(value)
    for value in [1 + 2j, -1j, 0j, complex(-0.0, -0.0), complex(nan, inf), complex(inf, -nan),
                  0.1 + 1e20j, 1e-5 - 3j, complex(1, nan), 1e17j]:
        for dtype in COMPLEX:
            record.case(np.array(value, dtype))
    for dtype in INTEGERS:
        info = np.iinfo(dtype)
        record.case(np.array(info.max, dtype))
        record.case(np.array([info.min, 0, info.max], dtype))
    record.case(np.array(True))
    record.case(np.array([True, False]))
    record.case(np.array([True, True]))


def shapes(record):
    for dtype in ["?", "i4", "f4", "f8", "c8"]:
        for shape in [(0,), (0, 3), (3, 0, 2), (1,), (2, 3), (2, 1, 3), (1, 1, 1, 1), (2, 1, 2, 2)]:
            n = int(np.prod(shape))
            record.case((np.arange(n) % 7).astype(dtype).reshape(shape))
    for shape in [(1001,), (50, 30), (7, 8, 20), (2000, 1), (1, 2000), (6, 200), (5, 7, 3, 11)]:
        a = np.arange(int(np.prod(shape))).reshape(shape)
        record.case(a.astype("f4"), ("repr",), counted=True)
        record.case(a, ("str",), counted=True)
    record.case(np.arange(30.0), counted=True, threshold=10, edgeitems=2)
    record.case(np.arange(30.0).reshape(5, 6), counted=True, threshold=10, edgeitems=2)
    record.case(np.arange(30.0).reshape(5, 6), counted=True, threshold=10, edgeitems=1)
    record.case(np.arange(30).reshape(5, 6), counted=True, threshold=30, edgeitems=1)
    record.case(np.arange(1000.0), ("str",), counted=True, linewidth=110)
    for linewidth in (1, 8, 20, 21, 22, 40, 79):
        record.case(np.arange(40.0).reshape(2, 20), ("str", "repr", "array2string"), counted=True,
                    linewidth=linewidth)
        record.case(np.arange(12, dtype="i2"), ("repr",), counted=True, linewidth=linewidth)
        record.case(np.arange(40).reshape(2, 20), ("array2string",), counted=True,
                    linewidth=linewidth, separator=", ", prefix="x = ", suffix=")")
    for separator in [", ", ";", "", " | ", "----------"]:
        record.case(np.arange(24.0).reshape(2, 3, 4), ("array2string",), counted=True,
                    separator=separator, prefix="x = ", linewidth=30)


def draw(dtype, n):
    """Numbers of one size, of many sizes, with few digits, with any bits, with special ones."""
    kind = int(random.integers(0, 6))
    if dtype in COMPLEX:
        part = "f4" if dtype == "c8" else "f8"
        return (draw(part, n) + 1j * draw(part, n)).astype(dtype)
    a = random.normal(size=n) * 10.0 ** random.integers(-6, 9)
    if kind == 1:
        a = random.normal(size=n) * 10.0 ** random.integers(-9, 9, n)
    if kind == 2:
        a = np.round(random.normal(size=n) * 10, int(random.integers(0, 5)))
    if kind == 3:
        words = random.integers(0, 256, n * np.dtype(dtype).itemsize, "u1")
        a = words.view(dtype).astype("f8") if dtype != "f8" else words.view(dtype)
    if kind == 4:
        a = random.integers(-5000, 5000, n).astype("f8")
    if random.integers(0, 4) == 0:
        a[random.integers(0, n)] = [nan, inf, -inf, 0.0, -0.0][int(random.integers(0, 5))]
    return a.astype(dtype)


def settings():
    options = {}
    if random.integers(0, 2):
        options["precision"] = int(random.integers(0, 12))
    if random.integers(0, 3) == 0:
        options["sign"] = "-+ "[int(random.integers(0, 3))]
    if random.integers(0, 2):
        options["floatmode"] = FLOATMODES[int(random.integers(0, 4))]
    if random.integers(0, 4) == 0:
        options["suppress"] = True
    if random.integers(0, 5) == 0:
        options["nanstr"] = ["NaN", "not a number"][int(random.integers(0, 2))]
        options["infstr"] = "Infinity"
    if random.integers(0, 6) == 0:
        options["threshold"] = 4
        options["edgeitems"] = int(random.integers(1, 3))
    return options


def any_numbers(record, n):
    for i in range(n):
        dtype = (FLOATING + COMPLEX)[i % 5]
        shape = [(5,), (1,), (2, 3), (), (7,), (3, 2)][int(random.integers(0, 6))]
        with np.errstate(all="ignore"):
            a = draw(dtype, int(np.prod(shape))).reshape(shape)
        record.case(a, ("repr",) if i % 3 else ("str", "array2string"), **settings())
    for i in range(n // 5):
        dtype = INTEGERS[i % 8]
        info = np.iinfo(dtype)
        a = random.integers(info.min, info.max, (2, 3), dtype, endpoint=True)
        a = a >> np.array(random.integers(0, 8 * a.itemsize), dtype)
        record.case(a, ("repr",), sign="-+ "[int(random.integers(0, 3))])


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "text.txt")
    with open(path, "w") as out:
        print("# Recorded by record_text.py with NumPy", np.__version__, file=out)
        record = Record(out)
        numbers(record)
        shapes(record)
        any_numbers(record, int(sys.argv[2]) if len(sys.argv) > 2 else 200)
    print(record.n_cases, "cases")


if __name__ == "__main__":
    main()
