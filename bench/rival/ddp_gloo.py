#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""PyTorch's DistributedDataParallel over gloo, on demand:

    ddp_gloo.py MODEL BATCH RANKS

Ranks of one thread each train on BATCH images a rank.  For each line on standard input all of them
run one window of about a quarter second, and rank 0 prints the images per second of all together.
One rank trains the network without the wrapper.
"""
import argparse
import os
import socket
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing

import networks

SECONDS = 0.25


def make_step(options, rank):
    torch.manual_seed(0)
    make, shape, classes, momentum = networks.lookup(options.model)
    net = make()
    net.train()
    if options.ranks > 1:
        net = torch.nn.parallel.DistributedDataParallel(net)
    torch.manual_seed(rank)
    x, labels = torch.randn(options.batch, *shape), torch.randint(0, classes, (options.batch,))
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=momentum)

    def step():
        optimizer.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(net(x), labels).backward()
        optimizer.step()
    return step


def timed(step, count, ranks):
    if ranks > 1:
        dist.barrier()
    start = time.perf_counter()
    for _ in range(count):
        step()
    if ranks > 1:
        dist.barrier()
    return time.perf_counter() - start


def agreed(count, ranks):
    """Rank 0's number on all ranks."""
    if ranks == 1:
        return count
    number = torch.tensor([count])
    dist.broadcast(number, 0)
    return int(number.item())


def run(rank, options, port):
    torch.set_num_threads(1)
    if options.ranks > 1:
        dist.init_process_group("gloo", init_method="tcp://127.0.0.1:%d" % port, rank=rank,
                                world_size=options.ranks)
    step, count = make_step(options, rank), 1
    for _ in range(3):
        seconds = timed(step, count, options.ranks)
    while True:
        line = sys.stdin.readline() if rank == 0 else ""
        count = max(1, round(SECONDS * count / seconds)) if line else 0
        count = agreed(count, options.ranks)
        if count == 0:
            break
        seconds = timed(step, count, options.ranks)
        if rank == 0:
            print("%.1f" % (options.ranks * options.batch * count / seconds), flush=True)
    if options.ranks > 1:
        dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("batch", type=int)
    parser.add_argument("ranks", type=int)
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    start = multiprocessing.get_context("spawn")
    others = [start.Process(target=run, args=(rank, options, port))
              for rank in range(1, options.ranks)]
    for other in others:
        other.start()
    run(0, options, port)
    for other in others:
        other.join()
    return max([0] + [abs(other.exitcode) for other in others])


if __name__ == "__main__":
    sys.exit(main())
