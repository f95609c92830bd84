#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Operations in NumPy or PyTorch, on demand: operations.py numpy|torch [--channels-last]

As bench/operations: for each line on standard input, such as "add 2000x2000", microseconds a call
over a window of a fiftieth of a second; "-" where the library has no such operation.
"""
import os
import sys
import time

import numpy as np

WINDOW = 0.02


def numpy_operations(shape):
    x, y = np.random.randn(*shape).astype(np.float32), np.random.randn(*shape).astype(np.float32)

    def softmax():
        e = np.exp(x - x.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)
    return {
        "copy": x.copy, "add": lambda: x + y, "relu": lambda: np.maximum(x, 0),
        "exp": lambda: np.exp(x), "tanh": lambda: np.tanh(x), "sum": x.sum,
        "sum-down": lambda: x.sum(0), "sum-across": lambda: x.sum(1), "argmax": lambda: x.argmax(1),
        "softmax": softmax, "transpose": lambda: np.ascontiguousarray(x.T),
    }


def both(forward, x, gradient):
    """Forward and backward; gradients of x alone, as Tenon's side."""
    import torch
    x = x.detach().requires_grad_()

    def run():
        with torch.enable_grad():
            return torch.autograd.grad(forward(x), x, gradient)
    return run


def torch_operations(shape, channels_last):
    import torch
    F = torch.nn.functional
    x, y = torch.randn(*shape), torch.randn(*shape)
    if len(shape) == 4:
        if channels_last:
            x, y = (z.contiguous(memory_format=torch.channels_last) for z in (x, y))
        first = torch.randn(*shape)
        last = torch.randn(*shape).contiguous(memory_format=torch.channels_last)

        def norm(z):
            return F.batch_norm(z, None, None, training=True)
        c = shape[1]
        w3, w7 = torch.randn(c, c, 3, 3), torch.randn(c, 1, 7, 7)
        return {
            "conv2d": lambda: F.conv2d(x, w3, padding=1),
            "depthwise": lambda: F.conv2d(x, w7, padding=3, groups=c),
            "batch-norm": lambda: norm(x), "max-pool": lambda: F.max_pool2d(x, 2),
            "avg-pool": lambda: F.avg_pool2d(x, 2), "batch-norm-both": both(norm, x, y),
            "to-last": lambda: first.contiguous(memory_format=torch.channels_last),
            "to-first": last.contiguous,
        }

    def row_norm(z):
        return F.layer_norm(z, shape[1:])
    return {
        "copy": x.clone, "add": lambda: x + y, "relu": lambda: torch.relu(x),
        "exp": lambda: torch.exp(x), "tanh": lambda: torch.tanh(x), "gelu": lambda: F.gelu(x),
        "sum": x.sum, "sum-down": lambda: x.sum(0), "sum-across": lambda: x.sum(1),
        "argmax": lambda: x.argmax(1), "softmax": lambda: torch.softmax(x, 1),
        "transpose": lambda: x.t().contiguous(), "dropout": lambda: F.dropout(x, 0.5),
        "layer-norm": lambda: row_norm(x), "layer-norm-both": both(row_norm, x, y),
    }


def find(library, line, channels_last):
    name, text = line.split()
    shape = [int(n) for n in text.split("x")]
    if name == "matmul":
        m, n, k = shape
        a, b = np.random.randn(m, k).astype(np.float32), np.random.randn(k, n).astype(np.float32)
        if library == "numpy":
            return lambda: a @ b
        import torch
        ta, tb = torch.from_numpy(a), torch.from_numpy(b)
        return lambda: ta @ tb
    if library == "numpy":
        operations = numpy_operations(shape)
    else:
        operations = torch_operations(shape, channels_last)
    return operations.get(name)


def window(call):
    start, calls = time.perf_counter(), 0
    while True:
        call()
        calls += 1
        seconds = time.perf_counter() - start
        if seconds >= WINDOW:
            return 1e6 * seconds / calls


def main():
    library, channels_last = sys.argv[1], "--channels-last" in sys.argv
    if library == "torch":
        import torch
        torch.set_num_threads(int(os.environ.get("TENON_BENCH_THREADS", "2")))
        torch.set_grad_enabled(False)
    last, call = None, None
    for line in sys.stdin:
        if line != last:
            last, call = line, find(library, line, channels_last)
            if call:
                window(call)
        print("%.3f" % window(call) if call else "-", flush=True)


main()
