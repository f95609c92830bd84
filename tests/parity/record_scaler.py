#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Records ten steps with PyTorch's GradScaler, in scaler.txt beside this file.

Two parameters have given gradients, some of them infinite or NaN; PyTorch computes in f32.  The
scale after each update and the parameters after each step are recorded.  The format is that of
record_layers.py; an option is an array without axes, or an int.
"""
import os

import torch

from record_layers import HERE, Record

STEPS = 10
SHAPES = [(2, 3), (4,)]
# Step, parameter and element of the gradients that are not finite.
FAULTS = {4: (0, 5, float("inf")), 8: (1, 2, float("nan"))}


def scaled(record, w, gradients, clip, **options):
    parameters = [torch.nn.Parameter(value.clone()) for value in w]
    optimizer = torch.optim.SGD(parameters, lr=0.05, momentum=0.9)
    scaler = torch.amp.GradScaler("cpu", **options)
    scales, skipped, values = [], [], [[] for _ in parameters]
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = sum((p * g[step]).sum() for p, g in zip(parameters, gradients))
        scaler.scale(loss).backward()
        if clip:
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(parameters, clip)
        before = parameters[0].detach().clone()
        scaler.step(optimizer)
        skipped.append(int(torch.equal(before, parameters[0])))
        scaler.update()
        scales.append(scaler.get_scale())
        for p, kept in zip(parameters, values):
            kept.append(p.detach().clone())
    options["clip"] = clip
    arrays = {name: torch.tensor(value, dtype=torch.float64) for name, value in options.items()
              if name != "growth_interval"}
    arrays["scales"] = torch.tensor(scales)
    for i, kept in enumerate(values):
        arrays["w%d" % i] = torch.stack(kept)
    record.case("scaler", {"growth_interval": options["growth_interval"], "skipped": skipped},
                arrays)


def main():
    torch.manual_seed(20261124)
    w = [torch.randn(shape) for shape in SHAPES]
    gradients = [torch.randn(STEPS, *shape) for shape in SHAPES]
    for step, (i, element, value) in FAULTS.items():
        gradients[i][step].view(-1)[element] = value
    with open(os.path.join(HERE, "scaler.txt"), "w") as out:
        print("# Recorded by record_scaler.py with PyTorch", torch.__version__, file=out)
        record = Record(out)
        arrays = {"w%d" % i: value for i, value in enumerate(w)}
        arrays.update({"g%d" % i: value for i, value in enumerate(gradients)})
        record.case("given", {}, arrays)
        scaled(record, w, gradients, 0, init_scale=1024.0, growth_factor=2.0, backoff_factor=0.5,
               growth_interval=3)
        scaled(record, w, gradients, 0.7, init_scale=1000.0, growth_factor=1.7,
               backoff_factor=0.3, growth_interval=1)
        scaled(record, w, gradients, 0, init_scale=2.0 ** 127, growth_factor=4.0,
               backoff_factor=0.5, growth_interval=2)


if __name__ == "__main__":
    main()
