#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Operations on arrays in another library, on demand: arrays.py numpy|torch|torch-compiled|jax

As bench/operations: for each line on standard input, such as "add 250x400", microseconds a call,
each into a new array that is there, over a window of a fiftieth of a second.
"""
import os
import sys
import time

import numpy as np

WINDOW = 0.02


def inputs(name, shape):
    """What bench/operations makes for that name: x, y, and z, some of them None."""
    random = np.random.default_rng(1)

    def normal(*lengths):
        return random.standard_normal(lengths, dtype=np.float32)
    if name == "matmul":
        m, n, k = shape
        return normal(m, k), normal(k, n), None
    if name == "take":
        return normal(*shape), random.permutation(shape[1]), None
    if name == "where":
        z = normal(*shape)
        return normal(*shape), z < 0, z
    return normal(*shape), normal(*shape), None


def in_numpy(shape):
    generator = np.random.default_rng(1)
    return {
        "add": lambda x, y, z: x + y,
        "exp": lambda x, y, z: np.exp(x),
        "fused": lambda x, y, z: np.exp(-x * x) * y + 0.5 * x,
        "where": lambda x, y, z: np.where(y, x, z),
        "take": lambda x, y, z: np.take(x, y, 1),
        "uniform": lambda x, y, z: generator.random(shape, np.float32),
        "sum": lambda x, y, z: x.sum(),
        "sum-down": lambda x, y, z: x.sum(0),
        "sum-across": lambda x, y, z: x.sum(1),
        "argmax": lambda x, y, z: x.argmax(1),
        "cumsum": lambda x, y, z: x.cumsum(1),
        "sort": lambda x, y, z: np.sort(x, 1),
        "matmul": lambda x, y, z: x @ y,
    }


def in_torch(shape):
    import torch
    return {
        "add": lambda x, y, z: x + y,
        "exp": lambda x, y, z: torch.exp(x),
        "fused": lambda x, y, z: torch.exp(-x * x) * y + 0.5 * x,
        "where": lambda x, y, z: torch.where(y, x, z),
        "take": lambda x, y, z: torch.index_select(x, 1, y),
        "uniform": lambda x, y, z: torch.rand(shape),
        "sum": lambda x, y, z: x.sum(),
        "sum-down": lambda x, y, z: x.sum(0),
        "sum-across": lambda x, y, z: x.sum(1),
        "argmax": lambda x, y, z: x.argmax(1),
        "cumsum": lambda x, y, z: x.cumsum(1),
        "sort": lambda x, y, z: torch.sort(x, 1).values,
        "matmul": lambda x, y, z: x @ y,
    }


def in_jax(shape):
    import jax
    import jax.numpy as jnp
    return {
        "add": lambda x, y, z: x + y,
        "exp": lambda x, y, z: jnp.exp(x),
        "fused": lambda x, y, z: jnp.exp(-x * x) * y + 0.5 * x,
        "where": lambda x, y, z: jnp.where(y, x, z),
        "take": lambda x, y, z: x.at[:, y].get(mode="promise_in_bounds"),
        # x is a key, as an argument: of a constant key the numbers would be constants.
        "uniform": lambda x, y, z: jax.random.uniform(x, shape),
        "sum": lambda x, y, z: x.sum(),
        "sum-down": lambda x, y, z: x.sum(0),
        "sum-across": lambda x, y, z: x.sum(1),
        "argmax": lambda x, y, z: x.argmax(1),
        "cumsum": lambda x, y, z: x.cumsum(1),
        "sort": lambda x, y, z: jnp.sort(x, 1),
        "matmul": lambda x, y, z: x @ y,
    }


def call_torch(name, shape, arguments, is_compiled):
    import torch
    function = in_torch(shape).get(name)
    if is_compiled:
        torch.compiler.reset()
        function = torch.compile(function, dynamic=False)
    given = [None if a is None else torch.from_numpy(a) for a in arguments]
    return lambda: function(*given)


def call_jax(name, shape, arguments):
    import jax
    function = jax.jit(in_jax(shape).get(name))
    given = [None if a is None else jax.device_put(a) for a in arguments]
    if name == "uniform":
        given[0] = jax.random.key(1)
    return lambda: function(*given).block_until_ready()


def find(library, line):
    name, text = line.split()
    shape = tuple(int(n) for n in text.split("x"))
    arguments = inputs(name, shape)
    if library == "numpy":
        function = in_numpy(shape)[name]
        return lambda: function(*arguments)
    if library == "jax":
        return call_jax(name, shape, arguments)
    return call_torch(name, shape, arguments, library == "torch-compiled")


def window(call):
    start, calls = time.perf_counter(), 0
    while True:
        call()
        calls += 1
        seconds = time.perf_counter() - start
        if seconds >= WINDOW:
            return 1e6 * seconds / calls


def main():
    library = sys.argv[1]
    if library.startswith("torch"):
        import torch
        torch.set_num_threads(int(os.environ.get("TENON_BENCH_THREADS", "2")))
        torch.set_grad_enabled(False)
    last, call = None, None
    for line in sys.stdin:
        if line != last:
            last, call = line, find(library, line)
            window(call)
        print("%.3f" % window(call), flush=True)


main()
