#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Records NumPy's histograms of points and its rules for bins, in histograms.txt beside this file,
in the format of record_statistics.py."""
import os
import warnings

import numpy as np

from record_statistics import FLOATING, HERE, INTEGERS, Record, nan, random, sample

RULES = ["auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt"]


def points(record):
    def case(a, bins, ranges=None, weights=None, density=False):
        result, edges = np.histogramdd(a, bins, ranges, density, weights)
        # Edges of f32 numbers are f32, as those of numpy.histogram.
        edges = [e.astype(a.dtype if a.dtype.kind == "f" else "f8") for e in edges]
        record.case("histogramdd", [a, weights], [result, *edges],
                    {"bins": list(bins), "density": int(density)},
                    [] if ranges is None else np.ravel(ranges))

    for dtype in INTEGERS[1:] + FLOATING:
        a = sample(dtype, 12, 2, has_nan=False)
        case(a, (3, 4))
        case(a, (2, 2), ((-1, 1), (0, 2)), np.arange(12), True)
    case(sample("f8", 20, 3), (2, 3, 2), ((-1, 1), (-1, 1), (-1, 1)), None, True)
    case(sample("f8", 9, 1, has_nan=False), (4,), None, np.arange(9) / 4)
    case(np.zeros((0, 2)), (2, 3))
    case(np.full((3, 2), 2.5), (2, 1))


def given_edges(record):
    for dtype in INTEGERS[1:] + FLOATING:
        for density in (False, True):
            x, y = sample(dtype, 15, has_nan=False), sample(dtype, 15, has_nan=False)
            e, f = np.array([-1, 0, 0.5, 2, 4]), np.array([0, 1, 2], "i4")
            result = np.histogram2d(x, y, (e, f), density=density)[0]
            record.case("histogram2d_edges", [x, y, e, f], result, {"density": int(density)})
            result = np.histogram2d(x, y, (3, 2), ((-1, 2), (0, 4)), density, np.arange(15))
            record.case("histogram2d", [x, y, np.arange(15)],
                        [result[0]] + [r.astype(dtype if dtype in FLOATING else "f8")
                                       for r in result[1:]],
                        {"bins": [3, 2], "density": int(density)}, [-1, 2, 0, 4])
    x = np.array([0.25, nan, 0.75])
    record.case("histogram2d_edges", [x, x, np.array([0, .5, 1]), np.array([0, .5, 1])],
                np.histogram2d(x, x, (np.array([0, .5, 1]),) * 2)[0], {"density": 0})


def rules(record):
    for rule, name in enumerate(RULES):
        for dtype in ("u1", "i4", "i8", "f4", "f8"):
            a = (40 + 12 * random.normal(size=120)).astype(dtype)
            record.case("histogram_bin_edges", [a], np.histogram_bin_edges(a, name),
                        {"rule": rule})
        record.case("histogram_bin_edges", [a], np.histogram_bin_edges(a, name, (20, 60)),
                    {"rule": rule}, [20, 60])
        for b in (np.zeros(0), np.ones(1), np.full(5, 2.5), np.array([1., 2]),
                  np.array([0, 0, 0, 0, 0, 0, 0, 9.])):
            record.case("histogram_bin_edges", [b], np.histogram_bin_edges(b, name),
                        {"rule": rule})


def main():
    warnings.simplefilter("ignore")
    with open(os.path.join(HERE, "histograms.txt"), "w") as out:
        print("# Recorded by record_histograms.py with NumPy", np.__version__, file=out)
        record = Record(out)
        for family in (points, given_edges, rules):
            family(record)
    print(record.n_cases, "cases")


if __name__ == "__main__":
    main()
