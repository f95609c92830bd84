# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Operations on arrays beside NumPy, PyTorch and JAX, a window each in turns."""
import importlib.util
import os
import statistics
import subprocess
import sys

import load
import process

SHAPES = {10: "2x5", 10**3: "25x40", 10**5: "250x400", 10**7: "2500x4000"}
WHOLE = ["add", "exp", "fused", "where", "uniform", "sum", "sum-down", "sum-across"]
LINES = ["take", "argmax", "cumsum", "sort"]   # along one line of all elements
PRODUCTS = [16, 128, 512, 1024]
RIVALS = {"NumPy": ("numpy", "numpy"), "PyTorch": ("torch", "torch"),
          "compiled": ("torch-compiled", "torch"), "JAX": ("jax", "jax")}


def cases():
    for name in WHOLE:
        for shape in SHAPES.values():
            yield "%s %s" % (name, shape)
    for name in LINES:
        for n in SHAPES:
            yield "%s 1x%d" % (name, n)
    for n in PRODUCTS:
        yield "matmul %dx%dx%d" % (n, n, n)


def rival_environment(threads):
    environment = process.rival_environment(threads)
    environment["OPENBLAS_NUM_THREADS"] = str(threads)   # that NumPy brings along
    environment["JAX_PLATFORMS"] = "cpu"
    return environment


def start(options, threads):
    """All sides, on as many processors as they may have threads: JAX goes by that number."""
    allowed = sorted(os.sched_getaffinity(0))[:threads]
    pinned = ["taskset", "-c", ",".join(map(str, allowed))]
    sides = [process.Side("Tenon", pinned + [os.path.join(options.build, "tests/with-plugins"),
                                             os.path.join(options.build, "bench/operations")],
                          process.tenon_environment(threads))]
    worker = os.path.join(process.HERE, "arrays.py")
    for name, (argument, module) in RIVALS.items():
        if importlib.util.find_spec(module):
            sides.append(process.Side(name, pinned + [sys.executable, worker, argument],
                                      rival_environment(threads)))
    return sides


def measure(case, sides, samples):
    """Medians in microseconds by side, and what went wrong."""
    times, failures = {}, []
    for _ in range(samples):
        for side in list(sides):
            try:
                times.setdefault(side.name, []).append(float(side.ask(case)))
            except RuntimeError as error:
                failures.append("%s: %s" % (case, str(error).splitlines()[-1]))
                times.pop(side.name, None)
                sides.remove(side)
    return {name: statistics.median(values) for name, values in times.items()}, failures


def figure(microseconds):
    return "-" if microseconds is None else "%.4g" % microseconds


def row(case, threads, medians):
    rivals = {name: value for name, value in medians.items() if name != "Tenon"}
    best = min(rivals, key=rivals.get) if rivals else None
    ratio = rivals[best] / medians["Tenon"] if best and "Tenon" in medians else None
    return {"case": case, "threads": threads, "unit": "us",
            "times": {name: round(value, 4) for name, value in medians.items()},
            "best_rival": best, "ratio": round(ratio, 3) if ratio else None}


def text_of(entry):
    return "%-24s %8s" % (entry["case"], figure(entry["times"].get("Tenon"))) + "".join(
        " %9s" % figure(entry["times"].get(name)) for name in RIVALS) + (
            "  %7.2f  %s" % (entry["ratio"], entry["best_rival"]) if entry["ratio"] else "")


def run(options, say):
    """One table for each number of threads; the rows, and how busy others were."""
    rows, others = [], []
    for threads in options.threads:
        sides = start(options, threads)
        say("")
        say("%d thread%s, microseconds a call" % (threads, "s" if threads > 1 else ""))
        say("%-24s %8s" % ("case", "Tenon") + "".join(" %9s" % name for name in RIVALS) +
            "  %7s  %s" % ("ratio", "to"))
        for case in cases():
            if options.filter not in case:
                continue
            others.append(load.others())
            medians, failures = measure(case, sides, options.samples)
            for failure in failures:
                say("# " + failure)
            rows.append(row(case, threads, medians))
            say(text_of(rows[-1]))
        for side in sides:
            try:
                side.process.communicate(timeout=60)
            except subprocess.TimeoutExpired:
                side.process.kill()
    return rows, others
