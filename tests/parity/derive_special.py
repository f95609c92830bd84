#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Derives the polynomials of core/dispatch/special.h and prints each as lines of a program: the
interpolation at Chebyshev's nodes of a function made smooth, in powers of the variable.  The second
number in a heading is the largest error of the polynomial in exact arithmetic.  Needs mpmath.

Functions with poles or cuts on the negative axis alone are smooth in t = (x - a) / (x + a), which
takes that axis to |t| >= 1; functions with an asymptotic series are smooth in its variable."""
import sys

import mpmath as mp

mp.mp.dps = 60
ROOT = mp.findroot(mp.digamma, 1.4616)


def interpolate(function, low, high, degree):
    """Powers of the variable, the highest first, and the largest error."""
    n = degree + 1
    middle, half = mp.mpf(low + high) / 2, mp.mpf(high - low) / 2
    nodes = [mp.cos(mp.pi * (2 * k + 1) / (2 * n)) for k in range(n)]
    values = [function(middle + half * t) for t in nodes]
    series = [2 * sum(v * mp.cos(j * mp.pi * (2 * k + 1) / (2 * n))
                      for k, v in enumerate(values)) / n for j in range(n)]
    series[0] /= 2
    before, now = [mp.mpf(1)], [mp.mpf(0), mp.mpf(1)]
    powers = [mp.mpf(0)] * n
    for j, c in enumerate(series):
        chosen = before if j == 0 else now
        for i, p in enumerate(chosen):
            powers[i] += c * p
        if j:
            after = [mp.mpf(0)] + [2 * p for p in now]
            for i, p in enumerate(before):
                after[i] -= p
            before, now = now, after
    # In the variable itself: substitute (u - middle) / half.
    result = [mp.mpf(0)]
    for p in reversed(powers):
        shifted = [mp.mpf(0)] + [r / half for r in result]
        for i, r in enumerate(result):
            shifted[i] -= r * middle / half
        shifted[0] += p
        result = shifted
    result = result[:n][::-1]
    worst = 0
    for k in range(400):
        u = middle + half * mp.cos(mp.pi * k / 399)
        exact = function(u)
        worst = max(worst, abs(mp.polyval(result, u) - exact) / abs(exact))
    return result, worst


def show(name, variable, function, low, high, degree):
    powers, worst = interpolate(function, low, high, degree)
    print(f"{name}: degree {degree}, {mp.nstr(worst, 2)}")
    terms = [float(p) for p in powers]
    line = f"p = {terms[0]!r}"
    for c in terms[1:]:
        sign = "-" if c < 0 else "+"
        step = f"p * {variable} {sign} {abs(c)!r}"
        if "*" not in line:
            line = f"p = {terms[0]!r} * {variable} {sign} {abs(c)!r}"
        elif len(line) + len(step) > 78:
            print(f'\t"{line}\\n"')
            line = f"p = {step}"
        else:
            line += f"; p = {step}"
    print(f'\t"{line}\\n"')


def mobius(function, a):
    """In t = (x - a) / (x + a)."""
    return lambda t: function(a * (1 + t) / (1 - t))


def range_of(a, low, high):
    return (low - a) / (low + a), (high - a) / (high + a)


def no_singularity(function, places):
    """The function, near its removable singularities by the mean of its neighbours."""
    step = mp.mpf(10)**-20

    def smooth(x):
        if min(abs(x - place) for place in places) < step:
            return (function(x - 2 * step) + function(x + 2 * step)) / 2
        return function(x)
    return smooth


def lgamma_middle(x):
    return mp.loggamma(x) / ((x - 1) * (x - 2))


def lgamma_rest(u):
    if u < mp.mpf(10)**-16:
        return mp.mpf(1) / 12 - u / 360
    x = 1 / mp.sqrt(u)
    return x * (mp.loggamma(x) - (x - 0.5) * mp.log(x) + x - mp.log(2 * mp.pi) / 2)


def digamma_rest(u):
    if u < mp.mpf(10)**-16:
        return mp.mpf(1) / 12 - u / 120
    x = 1 / mp.sqrt(u)
    return (mp.log(x) - 1 / (2 * x) - mp.digamma(x)) / u


def trigamma_rest(u):
    if u < mp.mpf(10)**-16:
        return mp.mpf(1) / 6 - u / 30
    x = 1 / mp.sqrt(u)
    return (mp.psi(1, x) - 1 / x - u / 2) * x**3


def erfcx(x):
    return mp.exp(x * x) * mp.erfc(x) * (1 + 2 * x)


def erfcx_in_t(t):
    if t > 1 - mp.mpf(10)**-12:
        return 2 / mp.sqrt(mp.pi) * (1 + (1 - t) / 16)
    return erfcx(4 * (1 + t) / (1 - t))


def bessel(order):
    """I(x) / x^order in x^2, and sqrt(x) exp(-x) I(x) in 1 / x."""
    def near(y):
        x = mp.sqrt(y)
        return mp.hyp0f1(order + 1, y / 4) / 2**order

    def far(u):
        if u < mp.mpf(10)**-30:
            return 1 / mp.sqrt(2 * mp.pi)
        return mp.besseli(order, 1 / u) * mp.exp(-1 / u) / mp.sqrt(u)
    return near, far


def bessel_zeros(order):
    """The squares of the first two zeros above 0, each in two parts, the first of 24 bits."""
    parts = []
    for square in (mp.besseljzero(order, k)**2 for k in (1, 2)):
        scale = mp.mpf(2)**(23 - int(mp.floor(mp.log(square, 2))))
        high = mp.nint(square * scale) / scale
        parts.append((high, square - high))
    return parts


def bessel_j(order):
    """J(x) / x^order without its first two zeros, in x^2 - 24.5; and the amplitudes of the cosine
    and the sine of x - (2 order + 1) pi / 4, in 1 / x^2, the second times x."""
    first, second = (sum(parts) for parts in bessel_zeros(order))
    mu = 4 * order * order

    def near(v):
        y = v + mp.mpf(24.5)
        return mp.hyp0f1(order + 1, -y / 4) / 2**order / ((y - first) * (y - second))

    def cosine(u):
        return far(u)[0] if u > 1e-12 else 1 - mp.mpf((mu - 1) * (mu - 9)) / 128 * u

    def sine(u):
        return far(u)[1] if u > 1e-12 else mp.mpf(mu - 1) / 8

    def far(u):
        x = 1 / mp.sqrt(u)
        angle, size = x - (2 * order + 1) * mp.pi / 4, mp.sqrt(mp.pi * x / 2)
        j, y = mp.besselj(order, x) * size, mp.bessely(order, x) * size
        c, s = mp.cos(angle), mp.sin(angle)
        return j * c + y * s, x * (y * c - j * s)
    return near, cosine, sine


def main():
    wanted = sys.argv[1:]

    def ask(name, *arguments):
        if not wanted or name.split()[0] in wanted:
            show(name, *arguments)
    a = mp.sqrt(2)
    ask("lgamma / ((x - 1) (x - 2)), 0.5 to 4", "t",
        mobius(no_singularity(lgamma_middle, (1, 2)), a), *range_of(a, mp.mpf(0.5), 4), 26)
    ask("lgamma, Stirling's rest, from 4 on", "u", lgamma_rest, 0, mp.mpf(1) / 16, 10)
    ask("digamma / (x - root), 1 to 4", "t",
        mobius(no_singularity(lambda x: mp.digamma(x) / (x - ROOT), (ROOT,)), mp.mpf(2)),
        *range_of(mp.mpf(2), 1, 4), 22)
    ask("digamma, the rest, from 4 on", "u", digamma_rest, 0, mp.mpf(1) / 16, 11)
    ask("trigamma, 1 to 4", "t", mobius(lambda x: mp.psi(1, x), mp.mpf(2)),
        *range_of(mp.mpf(2), 1, 4), 23)
    ask("trigamma, the rest, from 4 on", "u", trigamma_rest, 0, mp.mpf(1) / 16, 11)
    ask("erfcx (1 + 2 x)", "t", erfcx_in_t, -1, 1, 28)
    for order in 0, 1:
        near, far = bessel(order)
        ask(f"i{order} / x^{order}, to 10", "v", near, 0, 100, 17 - order)
        ask(f"i{order}, from 10 on", "u", far, 0, mp.mpf(1) / 10, 19)
    for order in 0, 1:
        near, cosine, sine = bessel_j(order)
        ask(f"j{order} / x^{order} without two zeros, to 7", "v", near, mp.mpf(-24.5),
            mp.mpf(24.5), 13)
        ask(f"j{order}, cosine, from 7 on", "u", cosine, 0, mp.mpf(1) / 49, 12)
        ask(f"j{order}, x sine, from 7 on", "u", sine, 0, mp.mpf(1) / 49, 12)
        if not wanted or f"j{order}" in wanted:
            print(f"zeros of j{order}, squared:",
                  *(repr(float(part)) for parts in bessel_zeros(order) for part in parts))
    high = mp.mpf(float(mp.nint(ROOT * 2**23))) / 2**23
    if not wanted:
        print("digamma's root:", repr(float(high)), repr(float(ROOT - high)),
              repr(float(ROOT - high - float(ROOT - high))))


main()
