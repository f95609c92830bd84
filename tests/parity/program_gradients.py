#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Records PyTorch's derivatives, kinks and special values included, for
tests/unit/program_gradient.c.

    python3 program_gradients.py > program_gradients.h
"""
import itertools
import math

import torch
import torch.nn.functional as F

UNARY = [
    ("abs(x)", torch.abs),
    ("sqrt(x)", torch.sqrt),
    ("rsqrt(x)", torch.rsqrt),
    ("floor(x)", torch.floor),
    ("ceil(x)", torch.ceil),
    ("round(x)", torch.round),
    ("trunc(x)", torch.trunc),
    ("sign(x)", torch.sign),
    ("exp(x)", torch.exp),
    ("exp2(x)", torch.exp2),
    ("expm1(x)", torch.expm1),
    ("log(x)", torch.log),
    ("log2(x)", torch.log2),
    ("log1p(x)", torch.log1p),
    ("sin(x)", torch.sin),
    ("cos(x)", torch.cos),
    ("tan(x)", torch.tan),
    ("asin(x)", torch.asin),
    ("acos(x)", torch.acos),
    ("atan(x)", torch.atan),
    ("sinh(x)", torch.sinh),
    ("cosh(x)", torch.cosh),
    ("tanh(x)", torch.tanh),
    ("erf(x)", torch.erf),
    ("sigmoid(x)", torch.sigmoid),
    ("relu(x)", torch.relu),
    ("leaky_relu(x, 0.1)", lambda x: F.leaky_relu(x, 0.1)),
    ("elu(x, 1.5)", lambda x: F.elu(x, 1.5)),
    ("clamp(x, 0, 1)", lambda x: torch.clamp(x, 0, 1)),
    ("gelu(x)", F.gelu),
    ("gelu_tanh(x)", lambda x: F.gelu(x, approximate="tanh")),
    ("silu(x)", F.silu),
    ("softplus(x)", F.softplus),
    ("mish(x)", F.mish),
    ("log_sigmoid(x)", F.logsigmoid),
    ("x ** 2", lambda x: x**2),
    ("x ** 3", lambda x: x**3),
    ("x ** 0.5", lambda x: x**0.5),
    ("x ** 0", lambda x: x**0),
    ("x ** -1", lambda x: x**-1),
    ("x > 0 ? x * x : 0", lambda x: torch.where(x > 0, x * x, torch.zeros_like(x))),
    ("-x", torch.neg),
    ("reciprocal(x)", torch.reciprocal),
]
BINARY = [
    ("x + y", torch.add),
    ("x - y", torch.sub),
    ("x * y", torch.mul),
    ("x / y", torch.div),
    ("x % y", torch.fmod),
    ("max(x, y)", torch.maximum),
    ("min(x, y)", torch.minimum),
    ("pow(x, y)", torch.pow),
    ("atan2(x, y)", torch.atan2),
    ("fma(x, y, x)", lambda x, y: torch.addcmul(x, x, y)),
    ("x < y ? x : y", lambda x, y: torch.where(x < y, x, y)),
    ("lerp(x, y, 0.25)", lambda x, y: torch.lerp(x, y, 0.25)),
]
POINTS = [-30.0, -2.0, -1.0, -0.5, 0.0, 0.3, 1.0, 2.0, 30.0]
PAIRS = [-2.0, -0.5, 0.0, 0.7, 1.0, 3.0, math.nan]


def text_of(value):
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return repr(value)


def record(name, function, arguments):
    leaves = [torch.tensor(a, dtype=torch.float64, requires_grad=True) for a in arguments]
    function(*leaves).backward()
    gradients = [leaf.grad.item() if leaf.grad is not None else 0.0 for leaf in leaves]
    while len(arguments) < 2:
        arguments, gradients = arguments + [0.0], gradients + [0.0]
    numbers = ", ".join(text_of(v) for v in arguments + gradients)
    print(f'\t{{"z = {name}", {numbers}}},')


def main():
    print("/* SPDX-License-Identifier: Apache-2.0")
    print(" * SPDX-FileCopyrightText: The Tenon developers")
    print(" *")
    print(f" * Made by program_gradients.py with PyTorch {torch.__version__}, "
          "in f64: the text, x, y,")
    print(" * dz/dx, dz/dy.")
    print(" */")
    print("/* clang-format off */")
    for name, function in UNARY:
        for x in POINTS:
            record(name, function, [x])
    for name, function in BINARY:
        for x, y in itertools.product(PAIRS, PAIRS):
            record(name, function, [x, y])


main()
