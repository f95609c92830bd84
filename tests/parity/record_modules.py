#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Records what PyTorch's modules compute, forward and backward, in modules.txt beside this file.

Inputs and parameters are f32 numbers; PyTorch computes in f64.  The format is that of
record_layers.py.  Arrays of a case:

    x, y, dy, dx    input, output, and their gradients; dx only of a floating x
    p:NAME, g:NAME  a parameter and its gradient, under its name in the state dict
    b:NAME, c:NAME  a buffer before and after the forward
    i:NAME, d:NAME  another input of the forward, and its gradient

Nine digits are every f32 number, exactly.
"""
import os

import torch
from torch import nn

from record_layers import HERE, Record


class Modules(Record):
    digits = 9

    def __init__(self, out):
        super().__init__(out)
        self.n = 0

    def seed(self):
        """Every case has its own seed, so that a new one leaves the others as they are."""
        self.n += 1
        torch.manual_seed(20261124 + self.n)

    def module(self, name, module, x, training=False, call=None, inputs=None, **ints):
        """`call`, of module, x and inputs, makes the output; else module does, from x."""
        module = module.double().train(training)
        arrays = {}
        for key, value in module.named_parameters():
            # Values as if from training: biases are not zeros, scales not ones.
            if key.split(".")[-1] in ("bias", "in_proj_bias") or value.dim() == 1:
                value.data += 0.3 * torch.randn_like(value)
            value.data = value.data.float().double()
            arrays["p:" + key] = value.clone()
        for key, value in module.named_buffers():
            arrays["b:" + key] = value.clone()
        floating = x.is_floating_point()
        if floating:
            x = x.float().double().requires_grad_()
        inputs = {key: value.float().double().requires_grad_()
                  for key, value in (inputs or {}).items()}
        y = call(module, x, **inputs) if call else module(x)
        y = y[0] if isinstance(y, tuple) else y
        dy = torch.randn_like(y).float().double()
        y.backward(dy)
        arrays.update({"x": x, "y": y, "dy": dy})
        if floating:
            arrays["dx"] = x.grad
        for key, value in module.named_parameters():
            arrays["g:" + key] = value.grad
        for key, value in module.named_buffers():
            arrays["c:" + key] = value
        for key, value in inputs.items():
            arrays.update({"i:" + key: value, "d:" + key: value.grad})
        self.case(name, {"training": int(training), "index": int(not floating), **ints}, arrays)


def record_convolutions(modules):
    modules.seed()
    modules.module("conv1d", nn.Conv1d(4, 6, 3, stride=2, padding=1, dilation=2, groups=2),
                   torch.randn(2, 4, 11), args=(4, 6, 3, 2, 1, 2, 2), bias=1)
    modules.seed()
    modules.module("conv1d", nn.Conv1d(3, 2, 4, bias=False), torch.randn(2, 3, 7),
                   args=(3, 2, 4, 1, 0, 1, 1), bias=0)
    for in_, out, kernel, stride, padding, more, dilation, groups, bias in (
            (3, 4, (3, 3), (2, 2), (1, 1), (1, 1), (1, 1), 1, True),
            (4, 6, (2, 3), (2, 3), (0, 1), (0, 2), (2, 1), 2, True),
            (2, 2, (4, 4), (2, 2), (1, 1), (0, 0), (1, 1), 1, False),
            (4, 4, (3, 3), (1, 1), (1, 0), (0, 0), (1, 2), 4, False)):
        modules.seed()
        modules.module("conv_transpose2d",
                     nn.ConvTranspose2d(in_, out, kernel, stride, padding, more, groups, bias,
                                        dilation),
                     torch.randn(2, in_, 3, 2), channels=(in_, out), kernel=kernel,
                     stride=stride, padding=padding, more=more, dilation=dilation,
                     groups=groups, bias=int(bias))


def record_embeddings(modules):
    indices = torch.tensor([[1, 3, 0], [3, 3, 6]])
    modules.seed()
    modules.module("embedding", nn.Embedding(7, 5), indices, args=(7, 5))
    modules.seed()
    modules.module("embedding", nn.Embedding(7, 5, padding_idx=3), indices, args=(7, 5), padding=3)
    modules.seed()
    modules.module("embedding", nn.Embedding(7, 5, padding_idx=-1), indices, args=(7, 5),
                   padding=-1)


def record_norms(modules):
    for shape in ((6, 4), (3, 4, 5)):
        for training in (True, False):
            modules.seed()
            norm = nn.BatchNorm1d(shape[1], eps=1e-3, momentum=0.2)
            norm.running_mean += 0.1
            modules.module("batch_norm1d", norm, 2 * torch.randn(shape) + 1, training,
                         channels=shape[1])
    modules.seed()
    modules.module("instance_norm2d", nn.InstanceNorm2d(3), 2 * torch.randn(2, 3, 4, 3), channels=3,
                   affine=0)
    modules.seed()
    modules.module("instance_norm2d", nn.InstanceNorm2d(3, affine=True),
                   2 * torch.randn(2, 3, 4, 3), channels=3, affine=1)


def attend(module, x, key=None, value=None, mask=None):
    key = x if key is None else key
    value = key if value is None else value
    return module(x, key, value, attn_mask=mask, need_weights=False)[0]


def record_attention(modules):
    width, heads = 4, 2

    def make(bias=True):
        modules.seed()
        return nn.MultiheadAttention(width, heads, bias=bias, batch_first=True)

    modules.module("multihead_attention", make(), torch.randn(2, 5, width), call=attend,
                   args=(width, heads), bias=1)
    causal = nn.Transformer.generate_square_subsequent_mask(5).double()
    modules.module("multihead_attention", make(False), torch.randn(2, 5, width),
                   call=lambda m, x: attend(m, x, mask=causal), args=(width, heads), bias=0,
                   causal=1)
    # A mask of (N, 1, 1, S) hides the second sequence's end; PyTorch takes it as (N heads, L, S).
    hidden = torch.zeros(2, 1, 1, 4)
    hidden[1, 0, 0, 2:] = -float("inf")
    spread = hidden.expand(2, heads, 3, 4).reshape(2 * heads, 3, 4).double()
    modules.module("multihead_attention", make(), torch.randn(2, 3, width),
                   call=lambda m, x, key: attend(m, x, key, mask=spread),
                   inputs={"key": torch.randn(2, 4, width)}, args=(width, heads), bias=1, hides=2)
    modules.module("multihead_attention", make(), torch.randn(2, 3, width), call=attend,
                   inputs={"key": torch.randn(2, 4, width), "value": torch.randn(2, 4, width)},
                   args=(width, heads), bias=1)


def all_of(outputs):
    """The output and the final states, in one line."""
    y, states = outputs
    states = states if isinstance(states, tuple) else (states,)
    return torch.cat([t.reshape(-1) for t in (y, *states)])


def record_recurrent(modules):
    for name, kind in (("lstm", nn.LSTM), ("gru", nn.GRU)):
        def make(*args, kind=kind, **options):
            modules.seed()
            return kind(*args, batch_first=True, **options)

        modules.module(name, make(3, 4), torch.randn(2, 5, 3), args=(3, 4, 1), bias=1)
        modules.module(name, make(3, 4, bias=False), torch.randn(2, 1, 3), args=(3, 4, 1), bias=0)
        modules.module(name, make(3, 2, num_layers=2, bidirectional=True), torch.randn(2, 4, 3),
                     args=(3, 2, 2), bias=1, bidirectional=1)
        inputs = {"h0": torch.randn(4, 2, 2)}
        if name == "lstm":
            inputs["c0"] = torch.randn(4, 2, 2)
            call = lambda m, x, h0, c0: all_of(m(x, (h0, c0)))
        else:
            call = lambda m, x, h0: all_of(m(x, h0))
        modules.module(name, make(3, 2, num_layers=2, bidirectional=True), torch.randn(2, 3, 3),
                     call=call, inputs=inputs, args=(3, 2, 2), bias=1, bidirectional=1)


def record_planes(modules):
    for size in ((2, 3), (3, 4), (1, 1), (7, 9)):
        modules.seed()
        # Few different values: many ties, which go to the first.
        modules.module("adaptive_max_pool2d", nn.AdaptiveMaxPool2d(size),
                       torch.randint(-2, 3, (2, 2, 5, 6)).double(), size=size)
    for mode, size, scale, corners in (
            ("nearest", None, (2, 3), None), ("nearest", (5, 2), None, None),
            ("nearest", None, (1.5, 0.75), None), ("bilinear", (7, 5), None, False),
            ("bilinear", (7, 1), None, True), ("bilinear", None, (2, 2), False),
            ("bilinear", None, (1.3, 0.6), False)):
        modules.seed()
        modules.module("upsample", nn.Upsample(size, scale, mode, corners),
                       torch.randn(2, 2, 3, 4), bilinear=int(mode == "bilinear"),
                       size=size or (0, 0), corners=int(bool(corners)),
                       scale_thousandths=tuple(round(1000 * s) for s in scale or (0, 0)))
    for size, shape in ((5, (2, 7, 2, 2)), (4, (2, 6, 3))):
        modules.seed()
        modules.module("local_response_norm", nn.LocalResponseNorm(size, 0.5, 0.6, 2.0),
                       torch.randn(shape), size=size)


def main():
    with open(os.path.join(HERE, "modules.txt"), "w") as out:
        print("# Recorded by record_modules.py with PyTorch", torch.__version__, file=out)
        modules = Modules(out)
        record_convolutions(modules)
        record_embeddings(modules)
        record_norms(modules)
        record_attention(modules)
        record_recurrent(modules)
        record_planes(modules)


if __name__ == "__main__":
    main()
