#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""PyTorch and CuPy on the GPU, on what bench/cuda, bench/small and bench/train measure, under the
same names.

    rival.py FOLDER      FOLDER: bench/rival, which has the networks

Prints lines of name, unit, figure and who, tab-separated; medians, device time by events.  77:
neither is there.
"""
import os
import statistics
import sys
import time
import traceback

SAMPLES, ELEMENTS, BATCH = 15, 1 << 28, 128


def line(name, unit, figure, who):
    print("%s\t%s\t%.4g\t%s" % (name, unit, figure, who), flush=True)


def repeats_for(once):
    return max(1, min(1000, int(0.005 / once) + 1 if once > 0 else 1000))


def median(sample):
    """`sample(n)` gives the seconds of one of n calls."""
    sample(1)
    n = repeats_for(sample(1))
    return statistics.median(sample(n) for _ in range(SAMPLES))


def moving(sample_of, copy, scale, add, fused, total, who):
    size = 4 * ELEMENTS
    for name, call, passes in (("copy", copy, 2), ("map z = a*x", scale, 2),
                               ("map z = a*x + y", add, 3), ("map z = tanh(a*x + y)*y", fused, 3),
                               ("sum of all", total, 1)):
        if call:
            line(name, "GB/s", 1e-9 * passes * size / median(sample_of(call)), who)


# ---- PyTorch -------------------------------------------------------------------------------------

def torch_sampler(torch):
    def sample_of(call):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

        def sample(n):
            begin.record()
            for _ in range(n):
                call()
            end.record()
            end.synchronize()
            return begin.elapsed_time(end) / 1e3 / n
        return sample
    return sample_of


def torch_moving(torch, sample_of):
    x, y, z = (torch.rand(ELEMENTS, device="cuda") for _ in range(3))
    moving(sample_of, lambda: z.copy_(x), lambda: torch.mul(x, 1.5, out=z),
           lambda: torch.add(y, x, alpha=1.5, out=z),
           lambda: torch.tanh(torch.add(y, x, alpha=1.5)).mul_(y), lambda: torch.sum(x), "PyTorch")


def torch_products(torch, sample_of):
    for name, dtype in (("f32", torch.float32), ("f16", torch.float16), ("bf16", torch.bfloat16)):
        for m, n, k in ((128, 256, 784), (1024, 1024, 1024), (8192, 8192, 8192)):
            a = (2*torch.rand(m, k, device="cuda") - 1).to(dtype)
            b = (2*torch.rand(k, n, device="cuda") - 1).to(dtype)
            c = torch.zeros(m, n, device="cuda", dtype=dtype)
            # pylint: disable-next=cell-var-from-loop
            seconds = median(sample_of(lambda: torch.matmul(a, b, out=c)))
            line("matmul %s %dx%dx%d" % (name, m, n, k), "GFLOP/s", 2e-9 * m * n * k / seconds,
                 "PyTorch")


def dispatch(add, wait, who):
    rounds = []
    for _ in range(11):
        wait()
        start = time.perf_counter()
        for _ in range(2000):
            add()
        rounds.append((time.perf_counter() - start) / 2000)
    wait()
    line("dispatch of a small add", "us", 1e6 * statistics.median(rounds), who)


def rate_of(step, wait):
    """Of windows of a quarter second.  A captured step is queued in no time, so it is not the clock
    that ends a window."""
    def window(n):
        start = time.perf_counter()
        for _ in range(n):
            step()
        wait()
        return n * BATCH / (time.perf_counter() - start)
    for _ in range(3):
        window(10)
    n = 1 + int(0.25 * window(20) / BATCH)
    return statistics.median(window(n) for _ in range(11))


def captured(torch, step):
    """The step as a CUDA graph."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def torch_train(torch, networks, model):
    make, shape, classes, momentum = networks.lookup(model)
    net, x = make().cuda(), torch.randn(BATCH, *shape, device="cuda")
    labels = torch.randint(0, classes, (BATCH,), device="cuda")
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=momentum)
    net.train()

    def step():
        optimizer.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(net(x), labels).backward()
        optimizer.step()

    eager = rate_of(step, torch.cuda.synchronize)
    line("train %s b%d" % (model, BATCH), "images/s", eager, "PyTorch")
    line("train %s b%d eager" % (model, BATCH), "images/s", eager, "PyTorch")
    line("train %s b%d graph" % (model, BATCH), "images/s",
         rate_of(captured(torch, step), torch.cuda.synchronize), "PyTorch")


def with_torch(folder):
    import torch
    if not torch.cuda.is_available():
        raise ImportError("PyTorch has no GPU")
    sys.path.insert(0, folder)
    import networks
    print("# PyTorch %s, TF32 off" % torch.__version__)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    sample_of = torch_sampler(torch)
    torch_products(torch, sample_of)
    for model in ("mlp", "lenet", "resnet18"):
        torch_train(torch, networks, model)
    a, c = torch.ones(16, device="cuda"), torch.zeros(16, device="cuda")
    dispatch(lambda: torch.add(a, a, out=c), torch.cuda.synchronize, "PyTorch")
    torch_moving(torch, sample_of)
    torch.cuda.empty_cache()


# ---- CuPy ----------------------------------------------------------------------------------------

def with_cupy(_folder):
    import cupy

    def sample_of(call):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()

        def sample(n):
            begin.record()
            for _ in range(n):
                call()
            end.record()
            end.synchronize()
            return cupy.cuda.get_elapsed_time(begin, end) / 1e3 / n
        return sample

    print("# CuPy %s" % cupy.__version__)
    x, y, z = (cupy.random.rand(ELEMENTS, dtype=cupy.float32) for _ in range(3))
    text = "float32 x, float32 y, float32 a"
    add = cupy.ElementwiseKernel(text, "float32 z", "z = a*x + y", "gpu_check_add")
    fused = cupy.ElementwiseKernel(text, "float32 z", "z = tanh(a*x + y)*y", "gpu_check_fused")
    a = cupy.float32(1.5)
    moving(sample_of, lambda: cupy.copyto(z, x), lambda: cupy.multiply(x, a, out=z),
           lambda: add(x, y, a, z), lambda: fused(x, y, a, z), lambda: cupy.sum(x), "CuPy")
    b, c = cupy.ones(16, dtype=cupy.float32), cupy.zeros(16, dtype=cupy.float32)
    dispatch(lambda: cupy.add(b, b, out=c), cupy.cuda.Device().synchronize, "CuPy")


def main():
    found = failed = 0
    for run in (with_torch, with_cupy):
        try:
            run(os.path.abspath(sys.argv[1]))
            found = 1
        except ImportError as why:
            print("# %s" % why)
        except Exception:  # pylint: disable=broad-exception-caught
            traceback.print_exc()  # and the other one is tried
            failed = 1
    sys.exit(1 if failed else 0 if found else 77)


main()
