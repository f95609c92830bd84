#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Records what PyTorch's clipping makes of drawn gradients, some with infinities and NaN, in
clipping.txt beside this file, in the format of record_layers.py: clip_grad_norm_ has a norm."""
import os

import torch
from torch.nn.utils import clip_grad_norm_, clip_grad_value_

from record_layers import HERE, Record

SPECIAL = [float("nan"), float("inf"), float("-inf")]


def case(record, random):
    gradients = [(torch.randn(shape, generator=random) * 4).float().double()
                 for shape in ((2, 3), (5,))]
    number = lambda n: int(torch.randint(n, (), generator=random))
    for _ in range([0, 0, 1, 2][number(4)]):
        gradients[number(2)].view(-1)[number(5)] = SPECIAL[number(3)]
    if number(6) == 0:
        gradients = [torch.zeros_like(g) for g in gradients]
    limit = float(2.0 ** (number(9) - 4)) * [1, 1.5][number(2)]
    parameters = [torch.zeros_like(g) for g in gradients]
    for w, g in zip(parameters, gradients):
        w.grad = g.clone()
    arrays = {"g%d" % i: g for i, g in enumerate(gradients)}
    arrays["number"] = torch.tensor([limit], dtype=torch.float64)
    if number(2):
        arrays["norm"] = clip_grad_norm_(parameters, limit)
    else:
        clip_grad_value_(parameters, limit)
    arrays.update({"y%d" % i: w.grad for i, w in enumerate(parameters)})
    record.case("clipping", {}, arrays)


def main(folder, n_cases, seed):
    random = torch.Generator().manual_seed(seed)
    with open(os.path.join(folder, "clipping.txt"), "w") as out:
        print("# Recorded by record_clipping.py with PyTorch", torch.__version__, file=out)
        record = Record(out)
        for _ in range(n_cases):
            case(record, random)


if __name__ == "__main__":
    main(HERE, 40, 20261129)
