#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""One network in PyTorch, on demand:

    network.py train|infer MODEL BATCH [--channels-last] [--frozen]
    network.py serve

For each line on standard input it runs one window of a quarter second and prints images per second;
at the end of the input, its peak memory in KiB.  --frozen traces the network and lets PyTorch
optimise it for inference.  TENON_BENCH_THREADS: 2 if not given.  BENCH_CLOCK=processor: seconds
are those in which a processor worked for it.  bench/compare and bench/rivals start it with the
allocator and the BLAS that serve it best.

serve reads lists as JSON, [FOLDER, ARGUMENT, ...], a line each, and does what the arguments say in
a process forked for it, with the named pipes FOLDER/questions, answers and errors as its streams.
"""
import argparse
import json
import os
import signal
import sys
import time
import traceback

import torch

import networks

SECONDS = 0.25
CLOCK = time.process_time if os.environ.get("BENCH_CLOCK") == "processor" else time.perf_counter


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
    start, steps = CLOCK(), 0
    while True:
        step()
        steps += 1
        seconds = CLOCK() - start
        if seconds >= SECONDS:
            return steps * batch / seconds


def measure(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("train", "infer"))
    parser.add_argument("model")
    parser.add_argument("batch", type=int)
    parser.add_argument("--channels-last", action="store_true")
    parser.add_argument("--frozen", action="store_true")
    options = parser.parse_args(arguments)
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
    print(peak_memory(), flush=True)


def forked(folder, arguments):
    streams = (("questions", os.O_RDONLY), ("answers", os.O_WRONLY), ("errors", os.O_WRONLY))
    for number, (pipe, mode) in enumerate(streams):
        os.dup2(os.open(os.path.join(folder, pipe), mode), number)
    sys.stdin = open(0, encoding="utf-8")
    try:
        measure(arguments)
    except BaseException:
        traceback.print_exc()
    os._exit(0)


def serve():
    try:
        import torchvision  # noqa: F401, for the forked ones
    except ImportError:
        pass  # those that need it will say so
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    print("ready", flush=True)
    for line in sys.stdin:
        folder, *arguments = json.loads(line)
        if os.fork() == 0:
            forked(folder, arguments)


if sys.argv[1:] == ["serve"]:
    serve()
else:
    measure(sys.argv[1:])
