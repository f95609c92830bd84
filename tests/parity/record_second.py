#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Records PyTorch's second derivatives (create_graph=True) in second.txt beside this file, in the
format of record_layers.py: gradient penalties, by weights and input, and Hessians times vectors."""
import os

import torch
import torch.nn.functional as F

from record_layers import HERE, Record, leaf, upstream

torch.manual_seed(20261124)


def penalty_of(score, x):
    """The gradient of the score by x, and the penalty on its norms."""
    (g,) = torch.autograd.grad(score, x, create_graph=True)
    norms = g.reshape(g.shape[0], -1).square().sum(1).sqrt()
    return g, (norms - 1).square().mean()


def record_penalty(record, case, ints, score, named):
    g, penalty = penalty_of(score, named["x"])
    (score + 10 * penalty).backward()
    arrays = dict(named, g=g, penalty=penalty)
    arrays.update({"d" + name: a.grad for name, a in named.items()})
    record.case(case, ints, arrays)


def linear_penalty(record):
    x, w, b, v = leaf(4, 3), leaf(6, 3), leaf(6), leaf(1, 6)
    score = F.linear(torch.tanh(F.linear(x, w, b)), v).mean()
    record_penalty(record, "linear_penalty", {}, score, {"x": x, "w": w, "b": b, "v": v})


def conv_penalty(record, x, w, stride, padding, dilation, groups):
    b = leaf(w.shape[0])
    y = F.conv2d(x, w, b, stride, padding, dilation, groups)
    record_penalty(record, "conv_penalty",
                   {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups},
                   torch.sigmoid(y).sum(), {"x": x, "w": w, "b": b})


def recurrent_penalty(record, case, module):
    module = module.double()
    named = {"x": leaf(2, 3, 2)}
    for name, parameter in zip(("w_ih", "w_hh", "b_ih", "b_hh"), module.parameters()):
        parameter.data = leaf(*parameter.shape).data
        named[name] = parameter
    score = module(named["x"])[0].square().sum()
    record_penalty(record, case, {}, score, named)


def product(record, name, function, *shape):
    """The Hessian of a function of x, times v."""
    x = leaf(*shape)
    v = upstream(x)
    (g,) = torch.autograd.grad(function(x), x, create_graph=True)
    (h,) = torch.autograd.grad(g, x, v)
    record.case(name, {}, {"x": x, "v": v, "g": g, "h": h})


def main():
    with open(os.path.join(HERE, "second.txt"), "w") as out:
        print("# Recorded by record_second.py with PyTorch", torch.__version__, file=out)
        record = Record(out)
        linear_penalty(record)
        conv_penalty(record, leaf(2, 2, 5, 6), leaf(3, 2, 3, 3), (1, 1), (1, 1), (1, 1), 1)
        conv_penalty(record, leaf(2, 2, 7, 6), leaf(3, 2, 3, 2), (2, 1), (1, 0), (1, 2), 1)
        conv_penalty(record, leaf(1, 4, 5, 4), leaf(4, 2, 2, 3), (1, 2), (0, 1), (1, 1), 2)
        product(record, "logsumexp", lambda x: x.square().logsumexp(1).exp().sum(), 3, 4)
        product(record, "prod", lambda x: x.prod(1).sin().sum(), 3, 4)
        product(record, "mean", lambda x: (x.mean(0).exp() * x.amax(0)).sum(), 4, 3)
        product(record, "matmul", lambda x: (x @ x.T).tanh().sum(), 3, 4)
        product(record, "views", lambda x: (x[1:, ::2].exp() * x.T[:2, :2]).sum(), 3, 4)
        product(record, "windows", lambda x: x.unfold(1, 3, 1).square().sum(2).sqrt().sum(), 2, 6)
        product(record, "gelu", lambda x: F.gelu(x).square().sum(), 3, 4)
        product(record, "softmax", lambda x: x.softmax(1).square().sum(), 3, 4)
        product(record, "layer_norm", lambda x: F.layer_norm(x, [6]).exp().sum(), 3, 6)
        product(record, "batch_norm",
                lambda x: F.batch_norm(x, None, None, training=True).exp().sum(), 6, 3)
        product(record, "group_norm", lambda x: F.group_norm(x.reshape(2, 4, 3), 2).exp().sum(),
                2, 12)
        recurrent_penalty(record, "lstm_penalty", torch.nn.LSTM(2, 2, batch_first=True))
        recurrent_penalty(record, "gru_penalty", torch.nn.GRU(2, 2, batch_first=True))


if __name__ == "__main__":
    main()
