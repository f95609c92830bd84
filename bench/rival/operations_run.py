# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Operations beside NumPy and PyTorch, a window each in turns."""
import os
import statistics
import sys

import process

CASES = [
    "add 10x100", "add 100x1000", "add 4000x2500", "relu 4000x2500", "exp 100x1000",
    "exp 4000x2500", "tanh 4000x2500", "gelu 4000x2500", "sum 4000x2500", "sum-down 4000x2500",
    "sum-across 4000x2500", "argmax 4000x2500", "softmax 100x1000", "softmax 4000x2500",
    "transpose 4000x2500", "copy 4000x2500", "matmul 128x128x128", "matmul 512x512x512",
    "matmul 1024x1024x1024", "conv2d 32x64x32x32", "depthwise 8x96x16x16", "batch-norm 32x64x32x32",
    "max-pool 128x6x28x28", "max-pool 128x16x10x10", "avg-pool 32x64x32x32", "dropout 4000x2500",
    "to-last 32x64x32x32", "to-first 32x64x32x32", "layer-norm 2048x384",
    "layer-norm-both 2048x384", "batch-norm-both 32x64x32x32",
]
QUICK = ["add 100x1000", "exp 4000x2500", "softmax 4000x2500", "matmul 512x512x512"]


def start(options):
    worker = os.path.join(process.HERE, "operations.py")
    environment = process.rival_environment(options.threads)
    build = options.build
    return [process.Side("Tenon", [os.path.join(build, "tests/with-plugins"),
                                   os.path.join(build, "bench/operations")],
                         process.tenon_environment(options.threads)),
            process.Side("NumPy", [sys.executable, worker, "numpy"], environment),
            process.Side("PyTorch", [sys.executable, worker, "torch"], environment),
            process.Side("PyTorch channels-last",
                         [sys.executable, worker, "torch", "--channels-last"], environment)]


def compare(case, sides, samples, result):
    times = {}
    for _ in range(samples):
        for side in list(sides):
            try:
                answer = side.ask(case)
            except RuntimeError as error:
                result.note("operation %s: %s" % (case, str(error).splitlines()[-1]))
                sides.remove(side)
                continue
            if answer != "-":
                times.setdefault(side.name, []).append(float(answer))
    medians = {name: statistics.median(values) for name, values in times.items()}
    tenon = medians.pop("Tenon", None)
    if tenon is None or not medians:
        return
    best = min(medians, key=medians.get)
    result.row("operation " + case, "us", tenon, medians[best], medians[best] / tenon, best)


def run(options, peaks, result):
    if not os.path.exists(os.path.join(options.build, "bench/operations")):
        result.note("bench/operations is not built, operations are left out")
        return
    sides = start(options)
    peaks.go()
    for case in QUICK if options.quick else CASES:
        if options.filter in "operation " + case:
            compare(case, sides, options.samples, result)
    for side in sides:
        side.process.communicate()
