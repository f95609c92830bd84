#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""One network in PyTorch, on demand:

    network.py train|infer MODEL BATCH [--channels-last] [--frozen]

For each line on standard input it runs one window of a quarter second and prints images per second;
at the end of the input, its peak memory in KiB.  --frozen traces the network and lets PyTorch
optimise it for inference.  TENON_BENCH_THREADS: 2 if not given.  bench/compare and bench/rivals
start it with the allocator and the BLAS that serve it best.
"""
import argparse
import os
import sys
import time

import torch

import networks

SECONDS = 0.25


def peak_memory():
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))


def training(net, x, classes, momentum):
    labels = torch.randint(0, classes, (x.shape[0],))
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=momentum)
    net.train()

    def step():
        optimizer.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(net(x), labels).backward()
        optimizer.step()
    return step


def inference(net, x, frozen):
    net.eval()
    if frozen:
        with torch.no_grad():
            net = torch.jit.optimize_for_inference(torch.jit.trace(net, x))

    def step():
        with torch.no_grad():
            net(x)
    return step


def window(step, batch):
    start, steps = time.perf_counter(), 0
    while True:
        step()
        steps += 1
        seconds = time.perf_counter() - start
        if seconds >= SECONDS:
            return steps * batch / seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("train", "infer"))
    parser.add_argument("model")
    parser.add_argument("batch", type=int)
    parser.add_argument("--channels-last", action="store_true")
    parser.add_argument("--frozen", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(int(os.environ.get("TENON_BENCH_THREADS", "2")))
    torch.manual_seed(0)
    make, shape, classes, momentum = networks.lookup(options.model)
    net, x = make(), torch.randn(options.batch, *shape)
    if options.channels_last:
        net = net.to(memory_format=torch.channels_last)
        x = x.contiguous(memory_format=torch.channels_last)
    if options.what == "train":
        step = training(net, x, classes, momentum)
    else:
        step = inference(net, x, options.frozen)
    for _ in range(3):
        step()
    for _ in sys.stdin:
        print("%.1f" % window(step, options.batch), flush=True)
    print(peak_memory())


main()
