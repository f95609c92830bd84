#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Records what NumPy makes of each function of <tenon/sets.h>, in sets.txt beside this file, in the
format of record_statistics.py."""
import os
import warnings

import numpy as np

from record_statistics import COMPLEX, FLOATING, HERE, INTEGERS, Record, inf, nan, sample

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


def main():
    warnings.simplefilter("ignore")
    with open(os.path.join(HERE, "sets.txt"), "w") as out:
        print("# Recorded by record_sets.py with NumPy", np.__version__, file=out)
        record = Record(out)
        for family in (distinct, members, pairs):
            family(record)
    print(record.n_cases, "cases")


if __name__ == "__main__":
    main()
