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
    s:NAME          two weighted sums of y, dx, or an array of the kinds g, c and d, in all digits

Inputs and parameters have three decimals, rounded to f32; other numbers have seven digits.
"""
import os
from collections import OrderedDict

import torch
import torch.nn.functional as F
from torch import nn

from record_layers import HERE, Record


def rounded(tensor):
    return ((1000 * tensor).round() / 1000).float().double()


def sums(tensor):
    """With weights that are small numbers, but not of one size or sign."""
    flat = tensor.detach().double().reshape(-1)
    i = torch.arange(len(flat))
    weights = torch.stack([(37 * i + 11) % 101 - 50, (53 * i + 29) % 97 - 48]).double()
    return (weights * flat).sum(1)


class Modules(Record):
    digits = 7

    def digits_of(self, name):
        return 17 if name.startswith("s:") else self.digits

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
            value.data = rounded(value.data)
            arrays["p:" + key] = value.clone()
        for key, value in module.named_buffers():
            arrays["b:" + key] = value.clone()
        floating = x.is_floating_point()
        if floating:
            x = rounded(x).requires_grad_()
        inputs = {key: rounded(value).requires_grad_()
                  for key, value in (inputs or {}).items()}
        y = call(module, x, **inputs) if call else module(x)
        y = y[0] if isinstance(y, tuple) else y
        dy = rounded(torch.randn_like(y))
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
        for key in [key for key in arrays if key in ("y", "dx") or key[:2] in ("g:", "c:", "d:")]:
            arrays["s:" + key] = sums(arrays[key])
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
    for name, make, shape, eps in (("batch_norm1d", nn.BatchNorm1d, (6, 4), 1e-3),
                                   ("batch_norm2d", nn.BatchNorm2d, (3, 4, 2, 2), 1e-5)):
        for counted in (0, 4):
            modules.seed()
            norm = make(4, eps=eps, momentum=None)
            norm.running_mean += 0.1
            norm.num_batches_tracked += counted
            modules.module(name, norm, 2 * torch.randn(shape) + 1, True, channels=4, affine=1,
                           cumulative=1)
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


class SqueezeExcite(nn.Module):
    def __init__(self, channels, squeezed):
        super().__init__()
        self.fc1 = nn.Conv2d(channels, squeezed, 1)
        self.fc2 = nn.Conv2d(squeezed, channels, 1)

    def forward(self, x):
        y = self.fc2(F.silu(self.fc1(x.mean((2, 3), keepdim=True))))
        return x * torch.sigmoid(y)


class Residual(nn.Sequential):
    def forward(self, x):
        return x + super().forward(x)


def mbconv(in_, out, expand, kernel, stride, squeezed):
    hidden = in_ * expand
    layers = OrderedDict()
    if expand > 1:
        layers["conv_pw"] = nn.Conv2d(in_, hidden, 1, bias=False)
        layers["bn1"] = nn.BatchNorm2d(hidden)
        layers["act1"] = nn.SiLU()
    layers["conv_dw"] = nn.Conv2d(hidden, hidden, kernel, stride, kernel // 2, groups=hidden,
                                  bias=False)
    layers["bn2" if expand > 1 else "bn1"] = nn.BatchNorm2d(hidden)
    layers["act2" if expand > 1 else "act1"] = nn.SiLU()
    if squeezed:
        layers["se"] = SqueezeExcite(hidden, squeezed)
    layers["conv_pwl" if expand > 1 else "conv_pw"] = nn.Conv2d(hidden, out, 1, bias=False)
    layers["bn3" if expand > 1 else "bn2"] = nn.BatchNorm2d(out)
    return (Residual if stride == 1 and in_ == out else nn.Sequential)(layers)


class ConvNextBlock(nn.Module):
    """torchvision's CNBlock."""

    def __init__(self, channels, layer_scale):
        super().__init__()
        self.layer_scale = nn.Parameter(torch.full((channels, 1, 1), layer_scale))
        layers = [nn.Conv2d(channels, channels, 7, padding=3, groups=channels), nn.Identity(),
                  nn.LayerNorm(channels, eps=1e-6), nn.Linear(channels, 4 * channels), nn.GELU(),
                  nn.Linear(4 * channels, channels), nn.Identity()]
        self.block = nn.Sequential(*layers)

    def forward(self, x):
        y = self.block[0](x).permute(0, 2, 3, 1)
        return x + self.layer_scale * self.block[1:](y).permute(0, 3, 1, 2)


class Branches(nn.Module):
    def __init__(self, axis, **branches):
        super().__init__()
        self.axis = axis
        for name, branch in branches.items():
            self.add_module(name, branch)

    def forward(self, x):
        results = [branch(x) for branch in self.children()]
        return sum(results) if self.axis is None else torch.cat(results, self.axis)


def record_blocks(modules):
    for args in ((2, 3, 2, 3, 2, 0), (3, 3, 2, 5, 1, 2), (3, 3, 1, 3, 1, 0)):
        for training in (True, False):
            modules.seed()
            modules.module("mbconv", mbconv(*args), torch.randn(2, args[0], 4, 5), training,
                           args=args)
    modules.seed()
    modules.module("convnext_block", ConvNextBlock(3, 0.5), torch.randn(2, 3, 4, 3), args=3)
    for name, axis in (("concatenate", 1), ("sum", None)):
        modules.seed()
        branches = Branches(axis, a=nn.Conv2d(2, 3, 1), b=nn.Conv2d(2, 3, 3, padding=1),
                            c=nn.Conv2d(2, 3, 1))
        modules.module(name, branches, torch.randn(2, 2, 3, 2))


class BasicBlock(nn.Module):
    """torchvision's, with a projection as its shortcut."""

    def __init__(self, in_, out):
        super().__init__()
        self.conv1 = nn.Conv2d(in_, out, 3, 2, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(out)
        self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(out)
        self.downsample = nn.Sequential(nn.Conv2d(in_, out, 1, 2, bias=False),
                                        nn.BatchNorm2d(out))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + self.downsample(x))


class LayerNorm2d(nn.LayerNorm):
    """torchvision's."""

    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class Hardsigmoid(nn.Module):
    """By its definition: PyTorch's has a gradient that is rounded to f32 in f64 too."""

    def forward(self, x):
        return F.relu6(x + 3) / 6


class Global(nn.Module):
    def __init__(self, f):
        super().__init__()
        self.f = f

    def forward(self, x):
        return self.f(x, 1).flatten(1)


def few_values(*shape):
    """Many ties, which go to the first."""
    return torch.randint(-2, 3, shape).double()


def record_layers(modules):
    for bias in (True, False):
        modules.seed()
        modules.module("linear", nn.Linear(5, 3, bias), torch.randn(2, 4, 5), args=(5, 3),
                       bias=int(bias))
    for in_, out, kernel, stride, padding, dilation, groups, bias in (
            (3, 4, (3, 2), (2, 1), (1, 0), (1, 1), 1, True),
            (4, 6, (3, 3), (1, 2), (2, 1), (2, 1), 2, False),
            (3, 6, (3, 3), (1, 1), (1, 1), (1, 1), 3, False)):
        modules.seed()
        modules.module("conv2d", nn.Conv2d(in_, out, kernel, stride, padding, dilation, groups,
                                           bias),
                       torch.randn(2, in_, 5, 4), channels=(in_, out), kernel=kernel,
                       stride=stride, padding=padding, dilation=dilation, groups=groups,
                       bias=int(bias))
    for kernel, stride, padding in (((2, 3), (2, 3), (0, 0)), ((3, 2), (2, 1), (1, 1))):
        modules.seed()
        modules.module("max_pool2d", nn.MaxPool2d(kernel, stride, padding),
                       few_values(2, 2, 5, 6), kernel=kernel, stride=stride, padding=padding)
        for exclude in (False, True):
            modules.seed()
            modules.module("avg_pool2d", nn.AvgPool2d(kernel, stride, padding, False, not exclude),
                           torch.randn(2, 2, 5, 6), kernel=kernel, stride=stride,
                           padding=padding, exclude=int(exclude))
    for size in ((2, 3), (3, 4), (1, 1), (7, 9)):
        modules.seed()
        modules.module("adaptive_avg_pool2d", nn.AdaptiveAvgPool2d(size), torch.randn(2, 2, 5, 6),
                       size=size)
    modules.seed()
    modules.module("global_avg_pool", Global(F.adaptive_avg_pool2d), torch.randn(2, 3, 4, 5))
    modules.seed()
    modules.module("global_max_pool", Global(F.adaptive_max_pool2d), few_values(2, 3, 4, 5))
    modules.seed()
    modules.module("flatten", nn.Flatten(), torch.randn(2, 3, 4))


def record_plane_norms(modules):
    for training in (True, False):
        modules.seed()
        norm = nn.BatchNorm2d(3)
        norm.running_var += 0.5
        modules.module("batch_norm2d", norm, 2 * torch.randn(3, 3, 2, 4) + 1, training, channels=3,
                       affine=1)
    modules.seed()
    modules.module("batch_norm2d", nn.BatchNorm2d(3, affine=False), torch.randn(3, 3, 2, 4), True,
                   channels=3)
    for shape, affine in (((5,), True), ((3, 5), True), ((5,), False)):
        modules.seed()
        modules.module("layer_norm", nn.LayerNorm(shape, elementwise_affine=affine),
                       2 * torch.randn(2, 3, 5) + 1, shape=shape, axes=len(shape),
                       affine=int(affine))
    modules.seed()
    modules.module("layer_norm2d", LayerNorm2d(4), 2 * torch.randn(2, 4, 3, 2) + 1, channels=4)
    for groups, affine in ((2, True), (4, False)):
        modules.seed()
        modules.module("group_norm", nn.GroupNorm(groups, 4, affine=affine),
                       2 * torch.randn(2, 4, 3, 2) + 1, args=(groups, 4), affine=int(affine))


def record_zeros(modules):
    """Norms with each option whose default is not 0 as 0, which is what PyTorch takes it for.

    Variances are small, so that an epsilon would be seen.
    """
    for name, make, ints in (
            ("batch_norm1d", lambda **o: nn.BatchNorm1d(3, **{"eps": 1e-3, "momentum": 0.2, **o}),
             {"channels": 3}),
            ("batch_norm2d", lambda **o: nn.BatchNorm2d(3, **o), {"channels": 3, "affine": 1}),
            ("layer_norm", lambda **o: nn.LayerNorm((4,), **o),
             {"shape": 4, "axes": 1, "affine": 1}),
            ("layer_norm2d", lambda **o: LayerNorm2d(3, **o), {"channels": 3}),
            ("group_norm", lambda **o: nn.GroupNorm(1, 3, **o), {"args": (1, 3), "affine": 1}),
            ("instance_norm2d", lambda **o: nn.InstanceNorm2d(3, **o),
             {"channels": 3, "affine": 0})):
        shape = (3, 3, 4) if name == "batch_norm1d" else (3, 3, 2, 4)
        modules.seed()
        norm = make(eps=0.0)
        if name.startswith("batch_norm"):
            # PyTorch refuses an eps of 0 in training.
            norm.running_var[:] = 0.004
        modules.module(name, norm, 0.05 * torch.randn(shape) + 0.02, False, epsilon=0, wide=1,
                       **ints)
        if name.startswith("batch_norm"):
            modules.seed()
            modules.module(name, make(momentum=0.0), torch.randn(shape), True, momentum=0, wide=1,
                           **ints)
    for option in ("alpha", "beta", "k"):
        modules.seed()
        modules.module("local_response_norm",
                       nn.LocalResponseNorm(3, **{"alpha": 0.5, "beta": 0.6, "k": 2.0, option: 0}),
                       torch.randn(2, 5, 2, 2), size=3, wide=1, **{option: 0})


def record_activations(modules):
    for name, module in (
            ("relu", nn.ReLU()), ("relu6", nn.ReLU6()), ("tanh", nn.Tanh()),
            ("sigmoid", nn.Sigmoid()), ("silu", nn.SiLU()), ("hardswish", nn.Hardswish()),
            ("gelu", nn.GELU()), ("gelu_tanh", nn.GELU("tanh")),
            ("leaky_relu", nn.LeakyReLU(0.125)), ("elu", nn.ELU(0.75)), ("celu", nn.CELU(0.5)),
            ("selu", nn.SELU()), ("softplus", nn.Softplus(2, 3)), ("mish", nn.Mish()),
            ("softsign", nn.Softsign()), ("log_sigmoid", nn.LogSigmoid()),
            ("hardsigmoid", Hardsigmoid()), ("hardtanh", nn.Hardtanh(-0.5, 2)),
            ("softmax", nn.Softmax(1)), ("log_softmax", nn.LogSoftmax(-1)),
            ("identity", nn.Identity())):
        modules.seed()
        modules.module(name, module, 3 * torch.randn(2, 3, 4))
    for parameters in (1, 3):
        modules.seed()
        modules.module("prelu", nn.PReLU(parameters), torch.randn(2, 3, 4), parameters=parameters)


def record_residuals(modules):
    for training in (True, False):
        modules.seed()
        # Wide types alone: with roundings of f16 and bf16, sums near 0 pass another ReLU.
        modules.module("residual", BasicBlock(2, 3), torch.randn(3, 2, 5, 4), training, wide=1)
    modules.seed()
    modules.module("squeeze_excitation", SqueezeExcite(4, 2), torch.randn(2, 4, 3, 2), args=(4, 2))


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
        record_blocks(modules)
        record_layers(modules)
        record_plane_norms(modules)
        record_activations(modules)
        record_residuals(modules)
        record_zeros(modules)


if __name__ == "__main__":
    main()
