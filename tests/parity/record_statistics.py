#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Records what NumPy makes of each function of <tenon/statistics.h>, in statistics.txt beside this
file, in the format of record_layers.py, which holds numbers as doubles:

    int dtype n ...     the dtypes of the arrays that the case names, in that order: x, y, z, w
    int axes n ...      -1 for all, else how many and which
    array x, y, z, w    operands; complex ones have the two parts as a last axis
    array numbers       numbers of the call
    array r, s, t, u    results, of the dtypes `int result`
"""
import os
import warnings

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
DTYPES = {np.dtype(t): i + 1 for i, t in enumerate(
    ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2"])}
DTYPES.update({np.dtype("f4"): 12, np.dtype("f8"): 13, np.dtype("c8"): 14, np.dtype("c16"): 15})
INTEGERS = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
FLOATING = ["f2", "f4", "f8"]
COMPLEX = ["c8", "c16"]
random = np.random.default_rng(20261126)
nan, inf = np.nan, np.inf


def parts(a):
    return np.stack([a.real, a.imag], -1) if a.dtype.kind == "c" else a


class Record:
    def __init__(self, out):
        self.out = out
        self.n_cases = 0

    def array(self, name, a):
        a = parts(np.asarray(a))
        flat = a.astype("f8").reshape(-1).tolist()
        print("array", name, a.ndim, *a.shape, file=self.out)
        for i in range(0, len(flat), 8):
            print(" ", *("%.17g" % v for v in flat[i:i + 8]), file=self.out)

    def case(self, name, operands, results, ints=None, numbers=()):
        """operands and results are lists of arrays; None: the call has NULL there."""
        results = results if isinstance(results, (tuple, list)) else [results]
        results = [np.asarray(r) for r in results]
        operands = [None if a is None else np.asarray(a) for a in operands]
        self.n_cases += 1
        print("case", name, file=self.out)
        print("int dtype", len(operands), *(0 if a is None else DTYPES[a.dtype] for a in operands),
              file=self.out)
        print("int result", len(results), *(DTYPES[r.dtype] for r in results), file=self.out)
        for key, value in (ints or {}).items():
            value = value if isinstance(value, (list, tuple)) else [value]
            print("int", key, len(value), *value, file=self.out)
        for key, a in zip("xyzw", operands):
            if a is not None:
                self.array(key, a)
        for key, a in zip("rstu", results):
            self.array(key, a)
        if len(numbers):
            self.array("numbers", np.array(numbers, "f8"))
        print("end", file=self.out)


def sample(dtype, *shape, has_nan=True):
    """Small numbers, exact in every dtype, with zeros, ties, and NaN where there is one."""
    kind = np.dtype(dtype).kind
    low = 0 if kind in "u?" else -5
    a = random.integers(low, 2 if kind == "?" else 6, shape)
    if kind == "c":
        a = a + 1j * random.integers(-5, 6, shape)
    a = np.asarray(a / (4 if kind in "fc" else 1)).astype(dtype)
    if has_nan and kind in "fc" and a.size > 3:
        a.reshape(-1)[2] = nan
    return a


def axes_of(axis):
    if axis is None:
        return {"axes": [-1]}
    listed = axis if isinstance(axis, tuple) else (axis,)
    return {"axes": [len(listed), *listed]}


# A shape, its axes, and keepdims.
OVER = [((3, 4), None, 0), ((3, 4), -1, 0), ((3, 4), 0, 1), ((2, 3, 2), (2, 0), 0),
        ((2, 3, 2), (), 0), ((), None, 0), ((0,), None, 0), ((0, 3), 0, 1), ((3, 0), 0, 0),
        ((1, 5), 1, 0)]


def reductions(record, name, function, dtypes, has_nan=True, may_be_empty=True, numbers=()):
    """Every dtype over one axis, and one floating dtype over all kinds of axes."""
    over = [(t, OVER[1]) for t in dtypes] + [("f4", o) for o in OVER] + [("i4", OVER[3])]
    for dtype, (shape, axis, keepdims) in over:
        a = sample(dtype, *shape, has_nan=has_nan)
        count = int(np.prod([shape[i] for i in (range(len(shape)) if axis is None else
                                                np.atleast_1d(np.array(axis, int)))]))
        if count == 0 and not may_be_empty:
            continue
        record.case(name, [a], function(a, axis, bool(keepdims)),
                    {**axes_of(axis), "keepdims": keepdims}, numbers)


def truth(record):
    all_dtypes = INTEGERS + FLOATING + COMPLEX
    reductions(record, "any", lambda a, x, k: np.any(a, x, keepdims=k), all_dtypes)
    reductions(record, "all", lambda a, x, k: np.all(a, x, keepdims=k), all_dtypes)
    reductions(record, "count_nonzero",
               lambda a, x, k: np.asarray(np.count_nonzero(a, x, keepdims=k), "i8"), all_dtypes)


def spread(record):
    all_dtypes = INTEGERS + FLOATING + COMPLEX
    for has_nan in (False, True):
        for ddof in (0, 1, 0.5):
            dtypes = all_dtypes if ddof == 0 and not has_nan else ["f4"]
            reductions(record, "var",
                       lambda a, x, k: np.var(a, x, ddof=ddof, keepdims=k), dtypes, has_nan,
                       numbers=[ddof])
            reductions(record, "std",
                       lambda a, x, k: np.std(a, x, ddof=ddof, keepdims=k), dtypes, has_nan,
                       numbers=[ddof])
        reductions(record, "ptp", lambda a, x, k: np.ptp(a, x, keepdims=k),
                   INTEGERS[1:] + FLOATING, has_nan, may_be_empty=False)
    far = np.array([1e8, 1e8 + 1, 1e8 + 2])
    record.case("var", [far], np.var(far), {"axes": [-1], "keepdims": 0}, [0])


def averages(record):
    def case(a, w, axis, keepdims):
        result = np.average(a, axis, w, True, keepdims=bool(keepdims))
        record.case("average", [a, w], result,
                    {**axes_of(axis), "keepdims": keepdims})

    for dtype in INTEGERS + FLOATING + COMPLEX:
        a = sample(dtype, 3, 4)
        for other in ("f4", dtype):
            w = np.arange(1, 5).astype(other)
            case(a, w, 1, 0)
        case(a, None, 0, 1)
    a = sample("f8", 2, 3, 4)
    case(a, np.arange(24.0).reshape(2, 3, 4), None, 0)
    case(a, np.arange(24.0).reshape(2, 3, 4), (0, 2), 1)
    case(a, np.arange(1, 9.0).reshape(4, 2), (2, 0), 0)


def without_nan(record):
    real = INTEGERS + FLOATING
    both = real + COMPLEX
    for name, dtypes in (("nansum", both), ("nanprod", both), ("nanmean", both),
                         ("nanmax", real), ("nanmin", real)):
        f = getattr(np, name)
        reductions(record, name, lambda a, x, k: f(a, x, keepdims=k), dtypes,
                   may_be_empty=name not in ("nanmax", "nanmin"))
        for a in (np.array([[nan, nan], [nan, -inf], [nan, inf], [1, 2]]),):
            record.case(name, [a], f(a, 1), {"axes": [1, 1], "keepdims": 0})
    for name in ("nanvar", "nanstd"):
        f = getattr(np, name)
        for ddof in (0, 1, 3):
            reductions(record, name, lambda a, x, k: f(a, x, ddof=ddof, keepdims=k),
                       both if ddof == 0 else ["f4"], numbers=[ddof])
        a = np.array([[inf, 1, nan], [nan, 1, 2], [nan, nan, nan]])
        record.case(name, [a], f(a, 1), {"axes": [1, 1], "keepdims": 0}, [0])
    for dtype in FLOATING + COMPLEX:
        a = np.array([nan, inf, -inf, 1.5], dtype)
        if a.dtype.kind == "c":
            a[3] = complex(nan, -inf)
        record.case("nan_to_num", [a], np.nan_to_num(a), numbers=[0])
        record.case("nan_to_num", [a], np.nan_to_num(a, nan=2, posinf=3, neginf=-4),
                    numbers=[2, 3, -4])
    for dtype in INTEGERS:
        a = sample(dtype, 3)
        record.case("nan_to_num", [a], np.nan_to_num(a), numbers=[0])


def neighbours(record):
    for dtype in INTEGERS + FLOATING + COMPLEX:
        a = sample(dtype, 3, 5)
        for n, axis in ((0, 0), (1, 1), (2, -1), (3, 0), (7, 1)):
            record.case("diff", [a], np.diff(a, n, axis), {"n": n, "axis": axis})
        if dtype == "?":
            continue
        record.case("ediff1d", [a, None, None], np.ediff1d(a))
        ends = np.array([1, 2], dtype), np.array([[3]], "i1" if a.dtype.kind != "u" else "u1")
        record.case("ediff1d", [a, *ends], np.ediff1d(a, *ends))
        for axis, order, dx in ((1, 1, 1), (-1, 2, 1), (0, 2, 0.5), (0, 1, -2)):
            record.case("gradient", [a], np.gradient(a, dx, axis=axis, edge_order=order),
                        {"axis": axis, "order": order}, [dx])
        for axis in (0, -1):
            x = np.array([0, 1, 3, 3, 7][:a.shape[axis]])
            record.case("trapezoid", [a, None], np.trapezoid(a, dx=0.5, axis=axis),
                        {"axis": axis}, [0.5])
            for places in (x.astype("i4"), x.astype(dtype), np.broadcast_to(
                    x if axis else x[:, None], a.shape).astype("f4")):
                record.case("trapezoid", [a, places], np.trapezoid(a, places, axis=axis),
                            {"axis": axis}, [1])
    for shape in ((0,), (1,), (2, 0)):
        a = np.zeros(shape, "f4")
        record.case("diff", [a], np.diff(a), {"n": 1, "axis": -1})
        record.case("ediff1d", [a, None, None], np.ediff1d(a))


# In the order of the enum.
METHODS = ["linear", "inverted_cdf", "averaged_inverted_cdf", "closest_observation",
           "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased", "normal_unbiased",
           "lower", "higher", "midpoint", "nearest"]
DISCRETE = ["inverted_cdf", "closest_observation", "lower", "higher", "nearest"]


def order(record):
    """The places are recorded from f64 quantiles, and the results in the array's own dtype."""
    def case(name, function, a, q, method, axis, keepdims):
        result = function(a.astype("f8"), np.array(q), axis, method=method,
                          keepdims=bool(keepdims))
        own = a.dtype.kind == "f" or method in DISCRETE
        record.case(name, [a], result.astype(a.dtype) if own else result,
                    {"method": METHODS.index(method), **axes_of(axis), "keepdims": keepdims},
                    np.atleast_1d(q))

    for has_nan in (False, True):
        reductions(record, "median", lambda a, x, k: np.median(a, x, keepdims=k),
                   INTEGERS + FLOATING, has_nan)
    for method in METHODS:
        for n in (1, 2, 5, 8):
            a = sample("f8", n, has_nan=False)
            case("quantiles", np.quantile, a, np.linspace(0, 1, 16), method, None, 0)
            case("percentiles", np.percentile, a.astype("f4"), [10, 12.5, 30, 50, 70, 87.5],
                 method, 0, 1)
        for dtype in INTEGERS[1:] + FLOATING:
            case("quantile", np.quantile, sample(dtype, 3, 5), 0.3, method, 1, 1)
        case("percentile", np.percentile, sample("f4", 2, 3, 2), 40, method, (0, 2), 0)
    case("quantile", np.quantile, sample("f4"), 0.3, "linear", None, 0)
    case("quantiles", np.quantile, np.array([1, inf, 2, -inf]), [0, 0.4, 0.5, 0.9, 1], "linear",
         None, 0)
    case("quantile", np.quantile, sample("?", 5), 0.4, "lower", 0, 0)


def covariances(record):
    f, w = np.array([1, 2, 0, 3]), np.array([0.5, 1, 2, 0.25])
    for dtype in INTEGERS + FLOATING + COMPLEX:
        a = sample(dtype, 3, 4, has_nan=False)
        record.case("cov", [a], np.cov(a), {"rowvar": 1}, [1])
        record.case("corrcoef", [a], np.corrcoef(a), {"rowvar": 1})
        record.case("cov", [a, None, f, w], np.cov(a, fweights=f, aweights=w), {"rowvar": 1}, [1])
    a, y = sample("f8", 3, 4, has_nan=False), sample("i2", 2, 4)
    nans = sample("f8", 3, 4)
    for rowvar in (1, 0):
        for ddof in (0, 1, 4, 7):
            record.case("cov", [a], np.cov(a, rowvar=rowvar, ddof=ddof), {"rowvar": rowvar}, [ddof])
        record.case("cov", [nans], np.cov(nans, rowvar=rowvar), {"rowvar": rowvar}, [1])
        record.case("corrcoef", [nans], np.corrcoef(nans, rowvar=rowvar), {"rowvar": rowvar})
    for x, other in ((a, y), (a[0], y[0]), (a[0], y), (a, y[:1])):
        record.case("cov", [x, other], np.cov(x, other), {"rowvar": 1}, [1])
        record.case("corrcoef", [x, other], np.corrcoef(x, other), {"rowvar": 1})
    record.case("cov", [a.T, y.T], np.cov(a.T, y.T, rowvar=False), {"rowvar": 0}, [1])
    record.case("cov", [a, None, f], np.cov(a, fweights=f), {"rowvar": 1}, [1])
    record.case("cov", [a, None, None, w], np.cov(a, aweights=w, ddof=0), {"rowvar": 1}, [0])
    for x in (a[0], a[:1], np.array(2.0), np.zeros((2, 0))):
        record.case("cov", [x], np.cov(x), {"rowvar": 1}, [1])
        record.case("corrcoef", [x], np.corrcoef(x), {"rowvar": 1})


def counts(record):
    for dtype in INTEGERS + FLOATING:
        a = np.sort(sample(dtype, 7))
        for other in (dtype, "f8" if dtype in FLOATING else "i1"):
            v = sample(other, 3, 4)
            for right in (0, 1):
                side = "right" if right else "left"
                record.case("searchsorted", [a, v], np.searchsorted(a, v, side), {"right": right})
    unsorted = np.array([3, 1, 2, 5, 4], "f4")
    sorter = np.argsort(unsorted)
    v = np.array([0, 1, 2.5, 5, 9, nan], "f4")
    record.case("searchsorted", [unsorted, v, sorter],
                np.searchsorted(unsorted, v, sorter=sorter), {"right": 0})
    for a, v in ((np.zeros(0), v), (np.ones(1), v), (np.arange(8.0), np.array(3.5)),
                 (np.arange(9), np.zeros((2, 0)))):
        record.case("searchsorted", [a, v], np.searchsorted(a, v, "right"), {"right": 1})
    for dtype in INTEGERS + FLOATING:
        x = sample(dtype, 3, 5)
        for bins in (np.arange(-1, 4, dtype="i1"), np.array([4, 2.5, 0, 0, -1])):
            for right in (0, 1):
                record.case("digitize", [x, bins], np.digitize(x, bins, bool(right)),
                            {"right": right})
    for bins in (np.zeros(0), np.ones(1)):
        record.case("digitize", [x, bins], np.digitize(x, bins), {"right": 0})
    record.case("digitize", [np.array(2), np.arange(4)], np.digitize(2, np.arange(4)), {"right": 0})
    for dtype in INTEGERS[:-1]:
        x = np.abs(sample(dtype, 6))
        record.case("bincount", [x], np.bincount(x), {"minlength": 0})
        record.case("bincount", [x], np.bincount(x, minlength=9), {"minlength": 9})
        for w in (np.arange(6, dtype=dtype if dtype != "?" else "u1"),
                  np.arange(6, dtype="f4") / 4):
            record.case("bincount", [x, w], np.bincount(x, w), {"minlength": 0})
    record.case("bincount", [np.zeros(0, "i8")], np.bincount(np.zeros(0, "i8"), minlength=2),
                {"minlength": 2})


def histograms(record):
    def case(a, bins, span, w, density):
        # NumPy computes with floating values outside of the array's dtype in f64.
        result = np.histogram(a, bins, span, density, w)
        if isinstance(bins, int):
            numbers = [bins] if span is None else [bins, *span]
            record.case("histogram", [a, w], result, {"density": int(density)}, numbers)
        else:
            record.case("histogram_edges", [a, w, bins], result[0], {"density": int(density)})

    for dtype in INTEGERS + FLOATING:
        a = sample(dtype, 4, 5, has_nan=False)
        w = np.arange(20).reshape(4, 5)
        if dtype != "?":
            case(a, 5, None, None, False)
            case(a, 4, (-1, 3), None, True)
            case(a, 3, (0, 3), w.astype(dtype), False)
        case(a if dtype != "?" else a.astype("u1"), np.array([-1, 0, 0.5, 2, 4]), None, None, False)
        case(a if dtype != "?" else a.astype("u1"), np.array([0, 1, 1, 2], "i4"), None,
             w.astype("f8"), True)
    case(sample("f4", 9), np.array([-1, 0, 0.5, 2]), None, None, False)
    for dtype in FLOATING:
        for bins in (10, 37):
            case(random.normal(size=60).astype(dtype), bins, None, None, False)
    case(np.array([-1.7e308, 0, 1.7e308]), np.array([-1.7e308, 0, 1.7e308]), None, None, False)
    case(np.full(3, 2.5), 2, None, None, False)
    case(np.zeros(0), 2, None, None, False)
    case(np.array([inf, 1, -inf]), np.array([-inf, 0, 2]), None, None, False)


FAMILIES = [truth, spread, averages, without_nan, neighbours, order, covariances, counts,
            histograms]


def main():
    warnings.simplefilter("ignore")
    with open(os.path.join(HERE, "statistics.txt"), "w") as out:
        print("# Recorded by record_statistics.py with NumPy", np.__version__, file=out)
        record = Record(out)
        for family in FAMILIES:
            family(record)
    print(record.n_cases, "cases")


if __name__ == "__main__":
    main()
