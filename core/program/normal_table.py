#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Prints the table of random_table.c: the upper-tail normal quantile on 256 segments, as polynomials
# of degree 4 with f32 coefficients.  Segment 8 k + s holds the tail probabilities
#     p = 2^(k-33) (1 + (s + (u + 1) / 2) / 8),   u in [-1, 1),
# and its row interpolates Q(p) = -Phi^-1(p) at the five Chebyshev points of u.
import math
import struct
from statistics import NormalDist

DEGREE = 4


def upper_quantile(p):
    """Q with erfc(Q / sqrt 2) / 2 = p: the library's approximation and two steps of Newton."""
    q = -NormalDist().inv_cdf(p)
    for _ in range(2):
        density = math.exp(-q * q / 2) / math.sqrt(2 * math.pi)
        q += (math.erfc(q / math.sqrt(2)) / 2 - p) / density
    return q


def to_f32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def interpolate(xs, ys):
    """Newton's divided differences: the polynomial through (xs, ys), lowest coefficient first."""
    c = list(ys)
    n = len(xs)
    for j in range(1, n):
        for i in range(n - 1, j - 1, -1):
            c[i] = (c[i] - c[i - 1]) / (xs[i] - xs[i - j])
    out = [0.0] * n
    for i in range(n - 1, -1, -1):
        out = [(out[j - 1] if j else 0.0) - xs[i] * out[j] for j in range(n)]
        out[0] += c[i]
    return out


def row(k, s):
    us = [math.cos(math.pi * (2 * i + 1) / (2 * DEGREE + 2)) for i in range(DEGREE + 1)]
    qs = [upper_quantile(math.ldexp(1 + (s + (u + 1) / 2) / 8, k - 33)) for u in us]
    return [to_f32(c) for c in interpolate(us, qs)]


print("""/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The normal quantile's coefficients, lowest degree first: made by normal_table.py.
 */
#include "program/random.h"

/* clang-format off */
const float tn_normal_table[TN_NORMAL_SEGMENTS][TN_NORMAL_COEFFICIENTS] = {""")
for k in range(32):
    for s in range(8):
        print("\t{%s}," % ", ".join(c.hex().replace("0000000p", "p") + "f" for c in row(k, s)))
print("};")
