#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Records what PyTorch makes of each loss and activation, in losses.txt and activations.txt beside
this file, in the format of record_layers.py: f32 inputs, computed in f64."""
import os

import torch
import torch.nn.functional as F

from record_layers import HERE, Record

torch.manual_seed(20261124)
REDUCTIONS = ["mean", "sum", "none", "batchmean"]


def short(values):
    """Multiples of 1/64, whose texts are short, in f64."""
    return (values.double() * 64).round() / 64


def leaf(*shape, scale=1.0):
    return short(torch.randn(*shape) * scale).requires_grad_()


def upstream(y):
    return short(torch.randn(y.shape))


def number(value):
    return torch.tensor([float(value)], dtype=torch.float64)


def loss(record, layer, function, x, reduction, ints, arrays, leaves=()):
    """function(reduction) makes the loss; x and the leaves, by name, get gradients."""
    y = function(reduction)
    dloss = upstream(y)
    for tensor in [x, *(arrays[name] for name in leaves)]:
        tensor.grad = None
    y.backward(dloss)
    arrays = {"x": x, **arrays, "loss": y, "dloss": dloss, "dx": x.grad}
    for name in leaves:
        arrays["d" + name] = arrays[name].grad
    record.case(layer, {"reduction": REDUCTIONS.index(reduction), **ints}, arrays)


def pairs(record):
    """Losses of an input and a target of one shape.  Equal elements, and for some losses distances
    of exactly the limit, are kinks."""
    for reduction in REDUCTIONS[:3]:
        x, y = leaf(3, 5, scale=2), leaf(3, 5, scale=2)
        with torch.no_grad():
            x[0, 0] = y[0, 0]
            y[0, 1] = x[0, 1] + 0.5
            x[0, 2] = y[0, 2] + 1000
        both = {"y": y}
        loss(record, "mse", lambda r: F.mse_loss(x, y, reduction=r), x, reduction, {}, both, ["y"])
        loss(record, "l1", lambda r: F.l1_loss(x, y, reduction=r), x, reduction, {}, both, ["y"])
        for beta in (1.0, 0.5, 0.0) if reduction == "mean" else (0.5,):
            loss(record, "smooth_l1", lambda r: F.smooth_l1_loss(x, y, reduction=r, beta=beta), x,
                 reduction, {}, {**both, "number": number(beta)}, ["y"])
        for delta in (1.0, 0.5) if reduction == "mean" else (0.5,):
            loss(record, "huber", lambda r: F.huber_loss(x, y, reduction=r, delta=delta), x,
                 reduction, {}, {**both, "number": number(delta)}, ["y"])


def binary(record):
    for reduction in REDUCTIONS[:3]:
        x = leaf(4, 3, scale=3)
        with torch.no_grad():
            x[0, 0], x[0, 1], x[0, 2], x[1, 0] = 0, 300, -300, -1e30
        y = short(torch.rand(4, 3))
        y[0] = torch.tensor([1, 0, 1])
        y.requires_grad_()
        weight, pos = short(torch.rand(4, 1)), short(2 * torch.rand(3))
        for w, p in ((None, None), (weight, None), (None, pos), (weight, pos)):
            given = {k: v for k, v in (("weight", w), ("pos_weight", p)) if v is not None}
            loss(record, "bce_with_logits",
                 lambda r: F.binary_cross_entropy_with_logits(x, y, w, reduction=r, pos_weight=p),
                 x, reduction, {}, {"y": y, **given}, ["y"])


def divergence(record):
    for reduction in REDUCTIONS:
        x = short(F.log_softmax(leaf(3, 4), 1).detach()).requires_grad_()
        y = short(F.softmax(leaf(3, 4), 1).detach() + 0.02).requires_grad_()
        loss(record, "kl_div", lambda r: F.kl_div(x, y, reduction=r), x, reduction,
             {"log_target": 0}, {"y": y}, ["y"])
        z = short(y.log().detach()).requires_grad_()
        loss(record, "kl_div", lambda r: F.kl_div(x, z, reduction=r, log_target=True), x,
             reduction, {"log_target": 1}, {"y": z}, ["y"])
        with torch.no_grad():
            y[0, 1] = y[2, 2] = 0
        y = y.detach()
        loss(record, "kl_div", lambda r: F.kl_div(x, y, reduction=r), x, reduction,
             {"log_target": 0}, {"y": y})


def embeddings(record):
    for reduction in REDUCTIONS[:3]:
        x = leaf(4, 3)
        with torch.no_grad():
            x[0, 0] = 1
        y = torch.randint(0, 2, (4, 3)).double() * 2 - 1
        y[0, 0] = -1
        for margin in (1.0, 0.3):
            loss(record, "hinge_embedding",
                 lambda r: F.hinge_embedding_loss(x, y, margin, reduction=r), x, reduction, {},
                 {"y": y, "number": number(margin)})
        for margin in (0.0, 0.25):
            a, b = leaf(6, 4), leaf(6, 4)
            t = torch.tensor([1, -1, -1, -1, 1, -1]).double()
            loss(record, "cosine_embedding",
                 lambda r: F.cosine_embedding_loss(a, b, t, margin, reduction=r), a, reduction, {},
                 {"y": b, "target": t, "number": number(margin)}, ["y"])
    a, b, t = leaf(5), leaf(5), torch.tensor(-1.0).double()
    loss(record, "cosine_embedding", lambda r: F.cosine_embedding_loss(a, b, t, -0.9, reduction=r),
         a, "mean", {}, {"y": b, "target": t, "number": number(-0.9)}, ["y"])


def labelled(record):
    """Cross-entropy and the losses beside it: weights, smoothing, a label to ignore, more axes."""
    shapes = [((6, 4), (6,)), ((2, 3, 2, 2), (2, 2, 2)), ((5,), ())]
    for reduction in REDUCTIONS[:3]:
        # The other reductions once, with everything.
        for shape, labels_shape in shapes if reduction == "mean" else shapes[:1]:
            x = leaf(*shape, scale=3)
            classes = shape[1] if len(shape) > 1 else shape[0]
            labels = torch.randint(0, classes, labels_shape)
            weight = short(torch.rand(classes) + 0.1)
            ignored = labels.reshape(-1)[0].item() if labels_shape else -100
            for w in (None, weight) if reduction == "mean" else (weight,):
                given = {"labels": labels, **({} if w is None else {"weight": w})}
                for ignore in (-100, ignored):
                    ints = {} if ignore == -100 else {"ignore": ignore}
                    logs = F.log_softmax(x.detach(), 1 if len(shape) > 1 else 0)
                    logs = short(logs).requires_grad_()
                    loss(record, "nll",
                         lambda r: F.nll_loss(logs, labels, w, reduction=r, ignore_index=ignore),
                         logs, reduction, ints, dict(given))
                    for e in (0.0, 0.1):
                        loss(record, "cross_entropy",
                             lambda r: F.cross_entropy(x, labels, w, reduction=r,
                                                       ignore_index=ignore, label_smoothing=e),
                             x, reduction, ints, {**given, "number": number(e)})
                for e in (0.0, 0.1):
                    axis = 1 if len(shape) > 1 else 0
                    y = short(F.softmax(leaf(*shape), axis).detach())
                    y.requires_grad_()
                    given = {"y": y, **({} if w is None else {"weight": w})}
                    loss(record, "cross_entropy",
                         lambda r: F.cross_entropy(x, y, w, reduction=r, label_smoothing=e), x,
                         reduction, {}, {**given, "number": number(e)}, ["y"])
                if len(shape) > 2:
                    continue
                for p, margin in ((1, 1.0), (2, 0.5)):
                    given = {"labels": labels, **({} if w is None else {"weight": w})}
                    loss(record, "multi_margin",
                         lambda r: F.multi_margin_loss(x, labels, p, margin, w, reduction=r), x,
                         reduction, {"p": p}, {**given, "number": number(margin)})


def kinks(shape):
    """Random values among kinks and large ones."""
    x = leaf(*shape, scale=3)
    special = torch.tensor([0, -3, 3, -1, 1, 0.5, -0.5, -20, 20, -100, 100, 3e4, -3e4])
    with torch.no_grad():
        x.reshape(-1)[1:1 + len(special)] = special.double()
    return x


# PyTorch's hardsigmoid has a gradient rounded to f32 in f64 too; this is its definition.
def hardsigmoid(x):
    return F.relu6(x + 3) / 6


# An alpha of celu whose inverse is not exact in f32 is rounded to f32 in f64 too.
ACTIVATIONS = {
    "leaky_relu": (F.leaky_relu, [(0.01,), (0.3,), (-0.5,), (0.0,)]),
    "elu": (F.elu, [(1.0,), (0.4,), (-0.5,)]),
    "celu": (F.celu, [(1.0,), (0.5,), (2.0,)]),
    "selu": (F.selu, [()]),
    "softplus": (F.softplus, [(1.0, 20.0), (2.0, 3.0), (-1.0, 20.0)]),
    "mish": (F.mish, [()]),
    "softsign": (F.softsign, [()]),
    "log_sigmoid": (F.logsigmoid, [()]),
    "hardsigmoid": (hardsigmoid, [()]),
    "hardtanh": (F.hardtanh, [(-1.0, 1.0), (-0.5, 3.0)]),
}


PLAIN = {
    "relu": F.relu,
    "relu6": F.relu6,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "silu": F.silu,
    "hardswish": F.hardswish,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
}


def activations(record):
    for name, (function, settings) in ACTIVATIONS.items():
        for values in settings:
            x = kinks((4, 5))
            y = function(x, *values)
            dy = upstream(y)
            y.backward(dy)
            numbers = torch.tensor(values or (0.0,), dtype=torch.float64)
            record.case(name, {}, {"x": x, "numbers": numbers, "y": y, "dy": dy, "dx": x.grad})
    for shape, n in (((3, 5), 1), ((3, 5), 5), ((2, 3, 2, 2), 3), ((20,), 1)):
        x, w = kinks(shape) if n < 4 else leaf(*shape), leaf(n)
        y = F.prelu(x, w)
        dy = upstream(y)
        y.backward(dy)
        record.case("prelu", {}, {"x": x, "w": w, "y": y, "dy": dy, "dx": x.grad, "dw": w.grad})
    for name, function in PLAIN.items():
        x = kinks((4, 5))
        with torch.no_grad():
            x.reshape(-1)[14:16] = torch.tensor([6.0, -6.0])
        y = function(x)
        dy = upstream(y)
        y.backward(dy)
        record.case(name, {}, {"x": x, "y": y, "dy": dy, "dx": x.grad})


def main():
    with open(os.path.join(HERE, "losses.txt"), "w") as out:
        print("# Recorded by record_losses.py with PyTorch", torch.__version__, file=out)
        record = Record(out)
        pairs(record)
        binary(record)
        divergence(record)
        embeddings(record)
        labelled(record)
    with open(os.path.join(HERE, "activations.txt"), "w") as out:
        print("# Recorded by record_losses.py with PyTorch", torch.__version__, file=out)
        activations(Record(out))


if __name__ == "__main__":
    main()
