#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Records what PyTorch computes for the gallery's networks: tests/parity/networks.h.

Weights, pictures and labels are formulas of their index, so that nothing but results is stored:
    weight i of parameter k   bound * sin(0.37 i + k),   bound = 1 / sqrt(fan in)
    picture element i         cos(0.11 i)
    label n                   3 n mod 10
Run with the newest PyTorch: python3 tests/parity/networks.py > tests/parity/networks.h
"""
import math

import torch

torch.set_num_threads(1)
BATCH, STEPS = 8, 6


def fill(model):
    with torch.no_grad():
        bound = 1.0
        for k, p in enumerate(model.parameters()):
            if p.dim() > 1:
                bound = 1.0 / math.sqrt(p[0].numel())
            i = torch.arange(p.numel(), dtype=torch.float64)
            p.copy_((bound * torch.sin(0.37 * i + k)).reshape(p.shape).float())


def lenet():
    n = torch.nn
    return n.Sequential(
        n.Conv2d(1, 6, 5, padding=2), n.ReLU(), n.MaxPool2d(2), n.Conv2d(6, 16, 5), n.ReLU(),
        n.MaxPool2d(2), n.Flatten(), n.Linear(400, 120), n.ReLU(), n.Linear(120, 84), n.ReLU(),
        n.Linear(84, 10))


def mlp():
    n = torch.nn
    return n.Sequential(n.Flatten(), n.Linear(784, 256), n.ReLU(), n.Linear(256, 128), n.ReLU(),
                        n.Linear(128, 10))


def numbers(values):
    return ", ".join("%.9gf" % v if "." in "%.9g" % v or "e" in "%.9g" % v else "%.9g.0f" % v
                     for v in values)


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.05),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, dampening=0.1,
                                          weight_decay=0.01),
    "nesterov": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.002, weight_decay=0.01),
}

x = torch.cos(0.11 * torch.arange(BATCH * 784, dtype=torch.float64)).float()
x = x.reshape(BATCH, 1, 28, 28)
labels = torch.tensor([3 * i % 10 for i in range(BATCH)])

print("""/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Written by tests/parity/networks.py with PyTorch %s: do not edit. */
/* clang-format off */
#define PARITY_BATCH %d
#define PARITY_STEPS %d

static const struct {
	const char *model;
	const char *optimizer;
	float logits[10];              /* of the first picture, before training */
	float gradient_norms[10];      /* of each parameter, before training; 0 beyond */
	float losses[PARITY_STEPS];
	float weight_sums[10];         /* sum of |w| of each parameter, after training */
} parity[] = {""" % (torch.__version__, BATCH, STEPS))
for name, make in (("mlp", mlp), ("lenet", lenet)):
    for optimizer_name, make_optimizer in OPTIMIZERS.items():
        model = make()
        fill(model)
        optimizer = make_optimizer(model.parameters())
        losses, logits, norms = [], None, None
        for step in range(STEPS):
            optimizer.zero_grad()
            out = model(x)
            loss = torch.nn.functional.cross_entropy(out, labels)
            loss.backward()
            if step == 0:
                logits = out[0].tolist()
                norms = [p.grad.double().norm().item() for p in model.parameters()]
            losses.append(loss.item())
            optimizer.step()
        sums = [p.detach().double().abs().sum().item() for p in model.parameters()]
        print('\t{"%s", "%s",\n\t {%s},\n\t {%s},\n\t {%s},\n\t {%s}},' % (
            name, optimizer_name, numbers(logits), numbers(norms), numbers(losses), numbers(sums)))
print("};")
