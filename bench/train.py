#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Training steps of Tenon and PyTorch in turns, in one run: bench/train.py BUILD-FOLDER [MODEL...]

The rival is best served: two threads, the OpenMP build of OpenBLAS where it is installed, huge pages and
no trimming in its allocator (set here, by running itself again), channels_last tried for LeNet too.
Prints images per second, best and median of the windows, and the ratio of the medians.
"""
import os
import resource
import statistics
import subprocess
import sys
import time

BEST = {
    "OMP_NUM_THREADS": "2",
    "LD_LIBRARY_PATH": "/usr/lib/x86_64-linux-gnu/openblas-openmp",
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
    "MALLOC_MMAP_THRESHOLD_": "4294967296",
    "MALLOC_TRIM_THRESHOLD_": "17179869184",
    "MALLOC_TOP_PAD_": "67108864",
}
if os.environ.get("TENON_BENCH") != "1":
    os.execve(sys.executable, [sys.executable] + sys.argv, dict(os.environ, TENON_BENCH="1", **BEST))

import torch

torch.set_num_threads(2)
WINDOWS, SECONDS, BATCH = 15, 0.25, 128
imported = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def lenet():
    n = torch.nn
    return n.Sequential(
        n.Conv2d(1, 6, 5, padding=2), n.ReLU(), n.MaxPool2d(2), n.Conv2d(6, 16, 5), n.ReLU(), n.MaxPool2d(2),
        n.Flatten(), n.Linear(400, 120), n.ReLU(), n.Linear(120, 84), n.ReLU(), n.Linear(84, 10))


def mlp():
    n = torch.nn
    return n.Sequential(n.Flatten(), n.Linear(784, 256), n.ReLU(), n.Linear(256, 128), n.ReLU(), n.Linear(128, 10))


def rival(model, channels_last):
    net = {"mlp": mlp, "lenet": lenet}[model]()
    x, y = torch.randn(BATCH, 1, 28, 28), torch.randint(0, 10, (BATCH,))
    if channels_last:
        net, x = net.to(memory_format=torch.channels_last), x.contiguous(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)

    def window():
        start, steps = time.perf_counter(), 0
        while True:
            optimizer.zero_grad(set_to_none=True)
            torch.nn.functional.cross_entropy(net(x), y).backward()
            optimizer.step()
            steps += 1
            seconds = time.perf_counter() - start
            if seconds >= SECONDS:
                return steps * BATCH / seconds

    window()
    return window


def show(name, rates):
    print("  %-24s best %9.0f  median %9.0f images/s" % (name, max(rates), statistics.median(rates)))
    return statistics.median(rates)


def bench(build, model):
    environment = {k: v for k, v in os.environ.items() if k not in BEST}
    environment["TENON_THREADS"] = "2"
    ours = subprocess.Popen([build + "/tests/with-plugins", build + "/bench/train", model, str(BATCH), "--on-demand"],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    rivals = {"PyTorch": rival(model, False)}
    if model == "lenet":
        rivals["PyTorch channels_last"] = rival(model, True)
    rates = {"Tenon": []}
    for name in rivals:
        rates[name] = []
    for _ in range(WINDOWS):
        ours.stdin.write("go\n")
        ours.stdin.flush()
        rates["Tenon"].append(float(ours.stdout.readline()))
        for name, window in rivals.items():
            rates[name].append(window())
    peak = int(ours.communicate()[0].split()[-1])
    print("%s, batch %d, 2 threads, PyTorch %s" % (model, BATCH, torch.__version__))
    medians = {name: show(name, r) for name, r in rates.items()}
    best = max(v for k, v in medians.items() if k != "Tenon")
    print("  ratio Tenon / best PyTorch: %.2f" % (medians["Tenon"] / best))
    print("  peak memory: Tenon %d MiB, PyTorch %d MiB (%d of it after import)" % (
        peak / 1024, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, imported / 1024))


for model in sys.argv[2:] or ["mlp", "lenet"]:
    bench(os.path.abspath(sys.argv[1]), model)
