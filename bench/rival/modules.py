#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""One module, loss or optimizer in PyTorch, on demand: modules.py NAME

As bench/modules, case for case: for each line on standard input it runs one window of a twentieth
of a second and prints steps per second; at the end of the input, its peak memory in KiB.
Optimizers run in PyTorch's fused form where there is one, else in the faster of the other two.
"""
import os
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

from networks import ChannelNorm, ConvNextBlock

WINDOW = 0.05


class LayerNorm2d(ChannelNorm):
    def __init__(self, channels):
        super().__init__(channels, 1e-5)


class First(nn.Module):
    """The first of a module's results."""

    def __init__(self, module, times=1):
        super().__init__()
        self.module, self.times = module, times

    def forward(self, x):
        return self.module(*[x] * self.times)[0]


class Squeeze(nn.Module):
    def __init__(self, channels, squeezed):
        super().__init__()
        self.fc1, self.fc2 = nn.Conv2d(channels, squeezed, 1), nn.Conv2d(squeezed, channels, 1)

    def forward(self, x):
        y = F.silu(self.fc1(F.adaptive_avg_pool2d(x, 1)), inplace=True)
        return x * torch.sigmoid(self.fc2(y))


class MBConv(nn.Module):
    def __init__(self, channels, expand, squeezed):
        super().__init__()
        wide = channels * expand
        self.main = nn.Sequential(
            nn.Conv2d(channels, wide, 1, bias=False), nn.BatchNorm2d(wide), nn.SiLU(inplace=True),
            nn.Conv2d(wide, wide, 3, padding=1, groups=wide, bias=False), nn.BatchNorm2d(wide),
            nn.SiLU(inplace=True), Squeeze(wide, squeezed),
            nn.Conv2d(wide, channels, 1, bias=False), nn.BatchNorm2d(channels))

    def forward(self, x):
        return x + self.main(x)


PLANES = (32, 64, 32, 32)
MODULES = {
    "conv1d": (lambda: nn.Conv1d(64, 64, 5, padding=2), (32, 64, 512)),
    "conv-transpose2d": (lambda: nn.ConvTranspose2d(64, 32, 4, 2, 1), (32, 64, 16, 16)),
    "adaptive-avg": (lambda: nn.AdaptiveAvgPool2d(7), PLANES),
    "adaptive-max": (lambda: nn.AdaptiveMaxPool2d(8), PLANES),
    "nearest": (lambda: nn.Upsample(scale_factor=2), (32, 64, 16, 16)),
    "bilinear": (lambda: nn.Upsample(scale_factor=2, mode="bilinear"), (32, 64, 16, 16)),
    "lrn": (lambda: nn.LocalResponseNorm(5), (32, 64, 27, 27)),
    "batch-norm1d": (lambda: nn.BatchNorm1d(512), (1024, 512)),
    "batch-norm2d": (lambda: nn.BatchNorm2d(64), PLANES),
    "instance-norm2d": (lambda: nn.InstanceNorm2d(64, affine=True), PLANES),
    "group-norm": (lambda: nn.GroupNorm(8, 64), PLANES),
    "layer-norm2d": (lambda: LayerNorm2d(64), PLANES),
    "dropout": (lambda: nn.Dropout(0.5), PLANES),
    "dropout2d": (lambda: nn.Dropout2d(0.5), PLANES),
    "leaky-relu": (nn.LeakyReLU, PLANES),
    "elu": (nn.ELU, PLANES),
    "selu": (nn.SELU, PLANES),
    "prelu": (lambda: nn.PReLU(64), PLANES),
    "softplus": (nn.Softplus, PLANES),
    "mish": (nn.Mish, PLANES),
    "gelu": (nn.GELU, PLANES),
    "silu": (nn.SiLU, PLANES),
    "hardswish": (nn.Hardswish, PLANES),
    "hardsigmoid": (nn.Hardsigmoid, PLANES),
    "log-softmax": (lambda: nn.LogSoftmax(1), (1024, 1000)),
    "mbconv": (lambda: MBConv(40, 6, 10), (8, 40, 28, 28)),
    "convnext": (lambda: ConvNextBlock(96), (8, 96, 16, 16)),
    "attention": (lambda: First(nn.MultiheadAttention(256, 8, batch_first=True), 3),
                  (16, 128, 256)),
    "lstm": (lambda: First(nn.LSTM(128, 128, batch_first=True)), (32, 64, 128)),
    "gru": (lambda: First(nn.GRU(128, 128, batch_first=True)), (32, 64, 128)),
}
LABELLED = {
    "cross-entropy": F.cross_entropy,
    "smoothed": lambda x, labels: F.cross_entropy(x, labels, label_smoothing=0.1),
    "nll": F.nll_loss,
}
ELEMENTWISE = {
    "mse": F.mse_loss, "l1": F.l1_loss, "smooth-l1": F.smooth_l1_loss,
    "bce": F.binary_cross_entropy_with_logits,
    "kl": lambda x, target: F.kl_div(x, target, reduction="batchmean"),
}
OPTIMIZERS = {
    "sgd": lambda p, **how: torch.optim.SGD(p, 1e-6, 0.9, weight_decay=1e-4, **how),
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
    "amsgrad": lambda p, **how: torch.optim.Adam(p, amsgrad=True, **how),
    "nadam": torch.optim.NAdam,
    "rmsprop": torch.optim.RMSprop,
    "adagrad": torch.optim.Adagrad,
    "adadelta": torch.optim.Adadelta,
}


def both(forward, x, parameters=(), is_integer=False):
    if not is_integer:
        x.requires_grad_()
    y = forward(x)
    gradient = torch.randn_like(y) if y.dim() else None

    def step():
        x.grad = None
        for p in parameters:
            p.grad = None
        forward(x).backward(gradient)
    return step


def rate(step, seconds):
    start, steps = time.perf_counter(), 0
    while True:
        step()
        steps += 1
        passed = time.perf_counter() - start
        if passed >= seconds:
            return steps / passed


def optimizer(make):
    best, best_rate = None, 0.0
    for how in ({"fused": True}, {"foreach": True}, {"foreach": False}):
        parameters = [nn.Parameter(torch.randn(200, 1100)) for _ in range(50)]
        for p in parameters:
            p.grad = torch.ones_like(p)
        try:
            step = make(parameters, **how).step
            step()
        except (TypeError, RuntimeError):
            continue
        found = rate(step, 2 * WINDOW)
        if found > best_rate:
            best, best_rate = step, found
    return best


def find(name):
    if name in OPTIMIZERS:
        return optimizer(OPTIMIZERS[name])
    if name == "embedding":
        module = nn.Embedding(10000, 256)
        return both(module, torch.randint(0, 10000, (64, 128)), list(module.parameters()), True)
    if name in MODULES:
        make, shape = MODULES[name]
        module = make()
        return both(module, torch.randn(*shape), list(module.parameters()))
    x = torch.randn(1024, 1000)
    if name in LABELLED:
        labels = torch.randint(0, 1000, (1024,))
        return both(lambda x: LABELLED[name](x, labels), x)
    target = torch.rand(1024, 1000)
    return both(lambda x: ELEMENTWISE[name](x, target), x)


def peak_memory():
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))


def main():
    torch.set_num_threads(int(os.environ.get("TENON_BENCH_THREADS", "2")))
    torch.manual_seed(0)
    step = find(sys.argv[1])
    rate(step, WINDOW)
    for _ in sys.stdin:
        print("%.3f" % rate(step, WINDOW), flush=True)
    print(peak_memory())


main()
