#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Records SciPy's distribution functions at some of their quantiles, and moments, for the functions
of <tenon/random.h>, in random.txt beside this file, in the format of record_layers.py:

    int dtype 1 n       the dtype to draw
    array p             parameters of the call
    array x, cdf        points, and the probability of a number of at most that
    array moments       mean and variance, NaN where there is none
"""
import os

import numpy as np
import scipy
from scipy import stats

HERE = os.path.dirname(os.path.abspath(__file__))
F16, BF16, F32, F64, I64 = 10, 11, 12, 13, 5
SHARES = [0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999]
inf = np.inf


def case(out, name, p, distribution, dtype=F64):
    x = np.unique(distribution.ppf(SHARES))
    with np.errstate(all="ignore"):
        moments = np.array([distribution.mean(), distribution.var()])
    moments[~np.isfinite(moments)] = np.nan
    print("case", name, file=out)
    print("int dtype 1", dtype, file=out)
    for key, values in (("p", p), ("x", x), ("cdf", distribution.cdf(x)), ("moments", moments)):
        print("array", key, 1, len(values), file=out)
        for i in range(0, len(values), 4):
            print(" ", *("%.17g" % v for v in values[i:i + 4]), file=out)
    print("end", file=out)


def truncated(mean, deviation, low, high):
    a, b = (low - mean) / deviation, (high - mean) / deviation
    return (mean, deviation, low, high), stats.truncnorm(a, b, mean, deviation)


def main():
    with open(os.path.join(HERE, "random.txt"), "w") as out:
        print("# Recorded by record_random.py with SciPy", scipy.__version__, file=out)
        for dtype in (F32, F64):
            case(out, "random", (0,), stats.uniform(), dtype)
            case(out, "uniform", (-2, 5), stats.uniform(-2, 7), dtype)
            case(out, "standard_normal", (0,), stats.norm(), dtype)
            case(out, "normal", (1, 3), stats.norm(1, 3), dtype)
        case(out, "gamma", (2.5, 2), stats.gamma(2.5, 0, 2), F32)
        case(out, "bernoulli", (0.3,), stats.bernoulli(0.3), I64)
        case(out, "integers", (-4, 8, 1), stats.randint(-4, 9), I64)
        case(out, "exponential", (2,), stats.expon(0, 2))
        for a in (0.1, 0.9, 1, 7, 1e4):
            case(out, "gamma", (a, 0.5), stats.gamma(a, 0, 0.5))
        for a, b in ((0.5, 0.5), (1, 1), (0.4, 3), (5, 2), (300, 200)):
            case(out, "beta", (a, b), stats.beta(a, b))
        for df in (1, 5):
            case(out, "chisquare", (df,), stats.chi2(df))
        for pair in ((1, 3), (10, 20)):
            case(out, "f", pair, stats.f(*pair))
        for df in (1.5, 8):
            case(out, "standard_t", (df,), stats.t(df))
        for name, of in (("laplace", stats.laplace), ("logistic", stats.logistic),
                         ("gumbel", stats.gumbel_r), ("cauchy", stats.cauchy)):
            case(out, name, (1, 2), of(1, 2))
        case(out, "lognormal", (1, 0.5), stats.lognorm(0.5, 0, np.exp(1)))
        case(out, "rayleigh", (2,), stats.rayleigh(0, 2))
        for a in (0.7, 3):
            case(out, "weibull", (a,), stats.weibull_min(a))
            case(out, "pareto", (2 + a,), stats.lomax(2 + a))
            case(out, "power", (a,), stats.powerlaw(a))
        for mean, scale in ((1, 1), (3, 0.5), (1, 50)):
            case(out, "wald", (mean, scale), stats.invgauss(mean / scale, 0, scale))
        case(out, "triangular", (-1, 0.5, 3), stats.triang(1.5 / 4, -1, 4))
        for limits in ((0, 1, -1, 1), (0, 1, 2, 9), (0, 1, 5, 5.1), (0, 1, -8, -6),
                       (1, 2, -inf, 3), (0, 1, 0, inf), (0, 1, -0.2, 6)):
            case(out, "truncated_normal", *truncated(*limits))
        for n, p in ((10, 0.3), (40, 0.25), (41, 0.25), (1000, 0.9), (10 ** 5, 0.3),
                     (10 ** 5, 5e-5), (30, 0.97)):
            case(out, "binomial", (n, p), stats.binom(n, p), I64)
        for lam in (0.3, 9.99, 10, 100, 1e6):
            case(out, "poisson", (lam,), stats.poisson(lam), I64)
        for p in (0.9, 0.05):
            case(out, "geometric", (p,), stats.geom(p), I64)
        for n, p in ((3.5, 0.2), (0.5, 0.1), (100, 0.3)):
            case(out, "negative_binomial", (n, p), stats.nbinom(n, p), I64)

        for df, nonc in ((0.5, 2), (3, 1)):
            case(out, "noncentral_chisquare", (df, nonc), stats.ncx2(df, nonc))
        case(out, "noncentral_f", (3, 20, 3), stats.ncf(3, 20, 3))
        for kappa in (0.3, 4):
            case(out, "vonmises", (0, kappa), stats.vonmises(kappa))
        for good, bad, n in ((10, 20, 8), (50, 60, 40), (1000, 30, 500), (30, 1000, 900)):
            case(out, "hypergeometric", (good, bad, n), stats.hypergeom(good + bad, good, n), I64)
        for p in (0.6, 0.99):
            case(out, "logseries", (p,), stats.logser(p), I64)
        for a in (1.5, 4):
            case(out, "zipf", (a,), stats.zipf(a), I64)


if __name__ == "__main__":
    main()
