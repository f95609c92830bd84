#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Records what PyTorch makes of each layer, forward and backward, in layers.txt beside this file.

Inputs are f32 numbers; PyTorch computes in f64, so that the record is as good as exact.  The file
is a list of cases:

    case LAYER
    int NAME n value ...                          settings
    array NAME rank length ... value ...          operands, row-major
    end
"""
import os

import torch
import torch.nn.functional as F

torch.manual_seed(20261121)
HERE = os.path.dirname(os.path.abspath(__file__))


def leaf(*shape, scale=1.0, shift=0.0):
    """Random f32 values as an f64 leaf that wants a gradient."""
    values = (torch.randn(*shape) * scale + shift).float().double()
    return values.requires_grad_()


def upstream(y):
    return torch.randn(*y.shape).float().double()


class Record:
    digits = 17

    def __init__(self, out):
        self.out = out

    def digits_of(self, name):
        return self.digits

    def case(self, layer, ints, arrays):
        print("case", layer, file=self.out)
        for name, value in ints.items():
            values = value if isinstance(value, (list, tuple)) else [value]
            print("int", name, len(values), *values, file=self.out)
        for name, tensor in arrays.items():
            flat = tensor.detach().double().reshape(-1).tolist()
            print("array", name, tensor.dim(), *tensor.shape, file=self.out)
            for i in range(0, len(flat), 6):
                print(" ", *("%.*g" % (self.digits_of(name), v) for v in flat[i:i + 6]),
                      file=self.out)
        print("end", file=self.out)


def conv2d(record, n, c, h, w, o, r, s, stride, padding, dilation, groups, bias):
    x, k = leaf(n, c, h, w), leaf(o, c // groups, r, s)
    b = leaf(o) if bias else None
    y = F.conv2d(x, k, b, stride, padding, dilation, groups)
    dy = upstream(y)
    y.backward(dy)
    arrays = {"x": x, "w": k, "y": y, "dy": dy, "dx": x.grad, "dw": k.grad}
    if bias:
        arrays["b"] = b
    record.case("conv2d", {"stride": stride, "padding": list(padding) * 2, "dilation": dilation,
                           "groups": groups, "bias": int(bias)}, arrays)


def max_pool2d(record, n, c, h, w, kernel, stride, padding):
    # Few different values: many ties, which go to the first.
    x = torch.randint(-3, 4, (n, c, h, w)).double().requires_grad_()
    y, index = F.max_pool2d(x, kernel, stride, padding, return_indices=True)
    dy = upstream(y)
    y.backward(dy)
    record.case("max_pool2d", {"kernel": kernel, "stride": stride, "padding": list(padding) * 2},
                {"x": x, "y": y, "index": index, "dy": dy, "dx": x.grad})


def avg_pool2d(record, n, c, h, w, kernel, stride, padding, count):
    x = leaf(n, c, h, w)
    y = F.avg_pool2d(x, kernel, stride, padding, count_include_pad=count)
    dy = upstream(y)
    y.backward(dy)
    record.case("avg_pool2d", {"kernel": kernel, "stride": stride, "padding": list(padding) * 2,
                               "count_padding": int(count)},
                {"x": x, "y": y, "dy": dy, "dx": x.grad})


def batch_norm(record, shape, training, eps):
    channels = shape[1]
    x, w, b = leaf(*shape, scale=2, shift=0.5), leaf(channels), leaf(channels)
    mean, var = torch.randn(channels).double(), torch.rand(channels).double() + 0.5
    y, saved_mean, saved_rstd = torch.native_batch_norm(x, w, b, mean.clone(), var.clone(),
                                                        training, 0.1, eps)
    dy = upstream(y)
    y.backward(dy)
    if not training:
        saved_mean, saved_rstd = mean, 1 / torch.sqrt(var + eps)
    record.case("batch_norm", {"given": int(not training), "epsilon_millionths": round(eps * 1e6)},
                {"x": x, "w": w, "b": b, "y": y, "mean": saved_mean, "rstd": saved_rstd, "dy": dy,
                 "dx": x.grad, "dw": w.grad, "db": b.grad})


def layer_norm(record, rows, columns, eps):
    x, w, b = leaf(rows, columns, scale=3, shift=-1), leaf(columns), leaf(columns)
    y, mean, rstd = torch.native_layer_norm(x, [columns], w, b, eps)
    dy = upstream(y)
    y.backward(dy)
    record.case("layer_norm", {"given": 0, "epsilon_millionths": round(eps * 1e6)},
                {"x": x, "w": w, "b": b, "y": y, "mean": mean.reshape(-1), "rstd": rstd.reshape(-1),
                 "dy": dy, "dx": x.grad, "dw": w.grad, "db": b.grad})


def softmax(record, shape, axis, logarithm):
    x = leaf(*shape, scale=3)
    y = F.log_softmax(x, axis) if logarithm else F.softmax(x, axis)
    dy = upstream(y)
    y.backward(dy)
    record.case("softmax", {"axis": axis, "logarithm": int(logarithm)},
                {"x": x, "y": y, "dy": dy, "dx": x.grad})


def cross_entropy(record, n, classes):
    x = leaf(n, classes, scale=3)
    labels = torch.randint(0, classes, (n,))
    labels[::4] = -100
    loss = F.cross_entropy(x, labels, reduction="none", ignore_index=-100)
    dloss = upstream(loss)
    loss.backward(dloss)
    maximum = x.max(1, keepdim=True).values
    record.case("cross_entropy", {"ignore": -100},
                {"x": x, "labels": labels, "loss": loss, "maximum": maximum.squeeze(1),
                 "log_sum": torch.logsumexp(x - maximum, 1), "dloss": dloss, "dx": x.grad})


def main():
    with open(os.path.join(HERE, "layers.txt"), "w") as out:
        print("# Recorded by record_layers.py with PyTorch", torch.__version__, file=out)
        record = Record(out)
        conv2d(record, 2, 3, 7, 6, 4, 3, 3, (1, 1), (1, 1), (1, 1), 1, True)
        conv2d(record, 1, 2, 9, 8, 3, 3, 2, (2, 3), (1, 0), (1, 1), 1, True)
        conv2d(record, 1, 2, 10, 9, 2, 3, 3, (1, 2), (2, 3), (2, 3), 1, False)
        conv2d(record, 2, 4, 5, 6, 6, 3, 3, (1, 1), (1, 1), (1, 1), 2, True)
        conv2d(record, 1, 4, 7, 7, 4, 3, 3, (2, 2), (1, 1), (1, 1), 4, False)
        conv2d(record, 2, 4, 3, 3, 5, 1, 1, (1, 1), (0, 0), (1, 1), 1, True)
        max_pool2d(record, 2, 2, 8, 6, (2, 2), (2, 2), (0, 0))
        max_pool2d(record, 1, 2, 9, 7, (3, 3), (2, 2), (1, 1))
        max_pool2d(record, 1, 1, 7, 8, (3, 2), (1, 3), (1, 0))
        avg_pool2d(record, 2, 2, 6, 6, (2, 2), (2, 2), (0, 0), True)
        avg_pool2d(record, 1, 2, 7, 8, (3, 3), (2, 2), (1, 1), True)
        avg_pool2d(record, 1, 2, 7, 8, (3, 3), (2, 2), (1, 1), False)
        batch_norm(record, (8, 5), True, 1e-5)
        batch_norm(record, (3, 4, 3, 2), True, 1e-3)
        batch_norm(record, (3, 4, 3, 2), False, 1e-5)
        layer_norm(record, 5, 16, 1e-5)
        layer_norm(record, 3, 7, 1e-3)
        softmax(record, (4, 10), 1, False)
        softmax(record, (3, 5, 4), 1, False)
        softmax(record, (4, 10), 1, True)
        softmax(record, (5, 6), 0, True)
        cross_entropy(record, 9, 10)
        cross_entropy(record, 4, 3)


if __name__ == "__main__":
    main()
