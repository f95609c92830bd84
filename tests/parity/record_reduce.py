#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Records what NumPy makes of each function of <tenon/reduce.h> and of the reductions without NaN
that have an order or run along an axis, in reduce.txt beside this file, in the format of
record_statistics.py."""
import os
import warnings

import numpy as np

from record_statistics import (COMPLEX, DISCRETE, DTYPES, FLOATING, HERE, INTEGERS, METHODS, Record,
                               axes_of, inf, nan, random, sample)

ALL = INTEGERS + FLOATING + COMPLEX
NONE = -2**31  # TN_AXIS_NONE
KINDS = ["sum", "prod", "mean", "var", "std", "max", "min", "any", "all", "count_nonzero"]


def reduction(record, name, a, axis, keepdims=0, where=None, initial=None, dtype=None,
              correction=0):
    options = {}
    if where is not None:
        options["where"] = where
    if initial is not None:
        options["initial"] = initial
    if dtype is not None:
        options["dtype"] = dtype
    if name in ("var", "std"):
        options["ddof"] = correction
    if name == "count_nonzero":
        # It has no `where` of its own.
        result = np.sum(np.asarray(a, bool), axis, keepdims=bool(keepdims), **options)
    else:
        result = getattr(np, name)(a, axis=axis, keepdims=bool(keepdims), **options)
    record.case("reduce", [a, where], result,
                {**axes_of(axis), "keepdims": keepdims, "kind": KINDS.index(name),
                 "initial": int(initial is not None),
                 "as": DTYPES[np.dtype(dtype)] if dtype else 0},
                [initial or 0, correction])


def options(record):
    for name in KINDS:
        has_order = name in ("max", "min")
        for dtype in ALL:
            if has_order and dtype in COMPLEX:
                continue
            a = sample(dtype, 3, 4)
            start = 1 if has_order else None
            reduction(record, name, a, 1, where=sample("?", 3, 4), initial=start)
            if name in ("sum", "prod", "max", "min"):
                reduction(record, name, a, 0, 1, initial=3 if dtype != "?" else 1)
        a = sample("f4", 3, 4)
        start = -1 if has_order else None
        for where in (sample("?", 4), sample("?", 3, 1), np.array(True), np.array(False)):
            reduction(record, name, a, None, where=where, initial=start)
            reduction(record, name, a, (1, 0), 1, where=where, initial=start)
        reduction(record, name, sample("f8", 2, 3, 2), (2, 0), where=sample("?", 2, 1, 2),
                  initial=start)
        reduction(record, name, a, 1)
        for shape, axis in (((0,), None), ((0, 3), 0), ((), None)):
            b = np.zeros(shape)
            reduction(record, name, b, axis, where=np.ones(shape, bool), initial=start)
    a = sample("f4", 3, 4)
    for name in ("var", "std"):
        for correction in (1, 2.5):
            reduction(record, name, a, 1, 0, sample("?", 3, 4), correction=correction)
            reduction(record, name, a, 1, 1, correction=correction)
    for name in ("sum", "prod"):
        for dtype in ("?", "i1", "u2", "i4", "f2", "f4", "f8", "c16"):
            reduction(record, name, sample("i4", 3, 4), 1, dtype=dtype)
            reduction(record, name, sample("u1", 3, 4), 1, 1, sample("?", 4), 2, dtype)
    for name in ("mean", "var", "std"):
        for dtype in ("f4", "f8", "c8")[:3 if name == "mean" else 2]:
            reduction(record, name, sample("i4", 3, 4), 1, dtype=dtype)
            reduction(record, name, sample("i4", 3, 4), 1, 1, sample("?", 4), None, dtype)


def running(record):
    for name in ("nancumsum", "nancumprod"):
        for dtype in ALL:
            if name == "nancumprod" and dtype in COMPLEX:
                continue
            a = sample(dtype, 3, 4)
            for axis in (0, -1, None):
                record.case(name, [a], getattr(np, name)(a, axis),
                            {"axis": NONE if axis is None else axis})
    for name in ("cumulative_sum", "cumulative_prod"):
        for dtype in ALL:
            if name == "cumulative_prod" and dtype in COMPLEX:
                continue
            a = sample(dtype, 3, 4)
            for axis, initial, to in ((0, 0, None), (-1, 1, None), (1, 1, "f8"), (0, 0, "i2")):
                if to == "i2" and a.dtype.kind not in "?iu":
                    continue
                if to and dtype in COMPLEX:
                    continue
                f = getattr(np, name)
                record.case(name, [a], f(a, axis=axis, include_initial=bool(initial), dtype=to),
                            {"axis": axis, "initial": initial,
                             "as": DTYPES[np.dtype(to)] if to else 0})
        record.case(name, [np.zeros(0, "f4")], getattr(np, name)(
            np.zeros(0, "f4"), include_initial=True), {"axis": NONE, "initial": 1, "as": 0})


def exponentials(record):
    for dtype in FLOATING:
        a = 4 * sample(dtype, 3, 7, has_nan=False)
        for axis in (0, -1, None):
            # In f64, rounded to the array's own dtype.
            result = np.logaddexp.accumulate(
                (a.reshape(-1) if axis is None else a).astype("f8"), axis or 0)
            record.case("logcumsumexp", [a], result.astype(dtype),
                        {"axis": NONE if axis is None else axis})
    for b in ([-1000., 0, 1000], [-inf, -inf, 2, inf, 0], [-inf, nan, 1], [3.], []):
        b = np.array(b)
        record.case("logcumsumexp", [b], np.logaddexp.accumulate(b) if b.size else b, {"axis": 0})


def order(record):
    """As in record_statistics.py: from f64, in the array's own dtype."""
    def case(name, function, a, q, method, axis, keepdims):
        result = function(a.astype("f8"), np.array(q), axis, method=method,
                          keepdims=bool(keepdims))
        own = a.dtype.kind == "f" or method in DISCRETE
        record.case(name, [a], result.astype(a.dtype) if own else result,
                    {"method": METHODS.index(method), **axes_of(axis), "keepdims": keepdims},
                    np.atleast_1d(q))

    def holed(dtype, *shape):
        a = sample(dtype, *shape)
        if a.dtype.kind == "f":
            a[random.random(shape) < 0.4] = nan
        return a

    for dtype in INTEGERS + FLOATING:
        for shape, axis, keepdims in (((5, 6), 1, 0), ((5, 6), 0, 1), ((2, 3, 4), (0, 2), 0)):
            a = holed(dtype, *shape)
            record.case("nanmedian", [a], np.nanmedian(a, axis, keepdims=bool(keepdims)),
                        {**axes_of(axis), "keepdims": keepdims})
    a = np.array([[nan, nan], [nan, 1], [np.inf, np.inf], [-np.inf, nan]], "f4")
    record.case("nanmedian", [a], np.nanmedian(a, 1), {**axes_of(1), "keepdims": 0})
    for method in METHODS:
        case("nanquantile", np.nanquantile, holed("f8", 8, 6), 0.3, method, 1, 0)
        case("nanpercentile", np.nanpercentile, holed("f4", 2, 3, 4), 62.5, method, (0, 2), 1)
        case("nanquantiles", np.nanquantile, holed("f4", 3, 7), [0, 0.25, 0.5, 0.9, 1], method, 1,
             0)
        case("nanpercentiles", np.nanpercentile, holed("f2", 9), [10, 50], method, None, 0)
    case("nanquantile", np.nanquantile, sample("i4", 3, 5), 0.3, "linear", 1, 1)


def main():
    warnings.simplefilter("ignore")
    with open(os.path.join(HERE, "reduce.txt"), "w") as out:
        print("# Recorded by record_reduce.py with NumPy", np.__version__, file=out)
        record = Record(out)
        for family in (options, running, exponentials, order):
            family(record)
    print(record.n_cases, "cases")


if __name__ == "__main__":
    main()
