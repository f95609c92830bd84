#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Records what NumPy makes of each function of <tenon/sets.h> and <tenon/order.h>, in sets.txt
beside this file, in the format of record_statistics.py."""
import os
import warnings

import numpy as np

from record_statistics import COMPLEX, FLOATING, HERE, INTEGERS, Record, inf, nan, random, sample

ALL = INTEGERS + FLOATING + COMPLEX
NONE = -2**31  # TN_AXIS_NONE


def unique_case(record, a, axis=None, equal_nan=True):
    result = np.unique(a, True, True, True, axis, equal_nan=equal_nan)
    record.case("unique", [a], result,
                {"axis": NONE if axis is None else axis, "equal_nan": int(equal_nan), "all": 1})
    record.case("unique", [a], result[0],
                {"axis": NONE if axis is None else axis, "equal_nan": int(equal_nan), "all": 0})


def distinct(record):
    for dtype in ALL:
        a = sample(dtype, 4, 5)
        unique_case(record, a)
        unique_case(record, np.concatenate([a, a[:2]]), equal_nan=False)
        a = sample(dtype, 3, 2, has_nan=False)
        for axis in (0, 1):
            unique_case(record, np.concatenate([a, a[::-1]], axis), axis)
    unique_case(record, np.array([nan, 1, nan, -inf, 0., -0., inf, nan]))
    unique_case(record, np.array([complex(1, nan), 2, complex(nan, 0), 2, complex(nan, nan), 1j]))
    a = np.array([complex(1, nan), 2, complex(nan, 0), 2, complex(nan, nan), complex(2, -1)])
    unique_case(record, a, equal_nan=False)
    for shape in ((), (0,), (1,), (2, 0)):
        unique_case(record, np.zeros(shape, "f4"))
    for shape, axis in (((0, 2), 0), ((3, 1), 0), ((2, 3, 2), -1), ((2, 3, 2), 1), ((4,), 0)):
        unique_case(record, sample("i4", *shape) // 3, axis)


def members(record):
    def case(a, test):
        for invert in (0, 1):
            record.case("isin", [a, test], np.isin(a, test, invert=bool(invert)),
                        {"invert": invert})

    for dtype in ALL:
        case(sample(dtype, 3, 4), sample(dtype, 5))
        case(sample(dtype, 6), sample("i2", 2, 2))
    for a, test in ((np.zeros((2, 0)), np.ones(3)), (np.ones(3), np.zeros(0)),
                    (np.array(2), np.arange(3)), (np.arange(3), np.array(2)),
                    (np.array([nan, 1, inf]), np.array([nan, inf]))):
        case(a, test)


def pairs(record):
    def case(a, b, unique=0):
        record.case("union1d", [a, b], np.union1d(a, b))
        for name in ("setdiff1d", "setxor1d"):
            record.case(name, [a, b], getattr(np, name)(a, b, bool(unique)),
                        {"unique": unique})
        record.case("intersect1d", [a, b], np.intersect1d(a, b, bool(unique), True),
                    {"unique": unique, "all": 1})
        record.case("intersect1d", [a, b], np.intersect1d(a, b, bool(unique)),
                    {"unique": unique, "all": 0})

    for dtype in ALL:
        case(sample(dtype, 6), sample(dtype, 5))
    case(sample("i4", 2, 3), sample("f8", 3, 2))
    case(sample("u1", 7), sample("i1", 7))
    case(np.array([4, 1, 3], "f4"), np.array([2, 3, 1, 9], "f4"), 1)
    case(np.array([4, 1j, 3]), np.array([2, 3, 1j]), 1)
    case(np.zeros(0), np.array([2., 1, 2]))
    case(np.array([2., 1, 2]), np.zeros(0))
    case(np.zeros(0), np.zeros(0))
    case(np.array([nan, 1, nan]), np.array([nan, 2]))


def orders(record):
    for dtype in ALL:
        a, b = sample(dtype, 3, 4), sample("i2", 3, 4)
        for axis in (0, -1):
            record.case("lexsort", [a, b], np.lexsort([a, b], axis), {"axis": axis})
            record.case("lexsort", [b, a], np.lexsort([b, a], axis), {"axis": axis})
            record.case("lexsort", [a], np.lexsort([a], axis), {"axis": axis})
        record.case("sort_complex", [a], np.sort_complex(a).astype(
            "c8" if a.itemsize < 3 or dtype in ("f4", "c8") else "c16"))
    z = np.array([complex(1, nan), 2, complex(nan, 0), complex(1, -inf), complex(nan, nan), 2j,
                  complex(nan, -1), complex(0, nan)])
    record.case("sort_complex", [z], np.sort_complex(z))
    record.case("lexsort", [z], np.lexsort([z]), {"axis": 0})
    for shape, axis in (((0,), 0), ((2, 0), 0), ((1,), 0)):
        a = np.zeros(shape)
        record.case("lexsort", [a, a], np.lexsort([a, a], axis), {"axis": axis})


def partitions(record):
    """The place, what is before and behind it, and all elements in order."""
    def case(a, kth, axis):
        p = np.partition(a, kth, axis)
        q = np.take_along_axis(a.reshape(-1) if axis is None else a,
                               np.argpartition(a, kth, axis), 0 if axis is None else axis)
        along = 0 if axis is None else axis
        places = np.arange(p.shape[along])
        k = kth % len(places)
        for name, found in (("partition", p), ("argpartition", q)):
            results = [np.take(found, k, along), np.sort(p, along)]
            if p.dtype.kind not in "c?":
                results += [np.take(found, places[:k + 1], along).max(along),
                            np.take(found, places[k:], along).min(along)]
            record.case(name, [a], results, {"axis": NONE if axis is None else axis, "kth": kth})

    for dtype in ALL:
        case(sample(dtype, 3, 7), 3, -1)
        case(sample(dtype, 30), -9, None)
    case(np.array([nan, 1, -nan, inf, -inf, 0., -0.] * 5), 31, 0)
    case(sample("f4", 30, 2), 0, 0)
    for dtype in ("f4", "i2"):
        a = (1000 * random.normal(size=25)).astype(dtype)
        for kth in (0, 30, 49):
            case(np.concatenate([a, a]), kth, 0)


def extremes(record):
    for name in ("argmax", "argmin", "nanargmax", "nanargmin"):
        f = getattr(np, name)
        for dtype in INTEGERS + FLOATING:
            a = sample(dtype, 3, 4)
            for axis, keepdims in ((0, 0), (-1, 1), (None, 0), (None, 1)):
                record.case(name, [a], f(a, axis, keepdims=bool(keepdims)),
                            {"axis": NONE if axis is None else axis, "keepdims": keepdims})
        a = sample("f4", 2, 3, 4)
        record.case(name, [a], f(a), {"axis": NONE, "keepdims": 0})
        record.case(name, [a], f(a, 1, keepdims=True), {"axis": 1, "keepdims": 1})


def main():
    warnings.simplefilter("ignore")
    with open(os.path.join(HERE, "sets.txt"), "w") as out:
        print("# Recorded by record_sets.py with NumPy", np.__version__, file=out)
        record = Record(out)
        for family in (distinct, members, pairs, orders, partitions, extremes):
            family(record)
    print(record.n_cases, "cases")


if __name__ == "__main__":
    main()
