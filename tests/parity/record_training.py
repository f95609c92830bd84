#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Records three epochs of trainings of a small network by PyTorch, in training.txt beside it.

Each step accumulates the gradients of three batches of four of 26 samples (the last step of an
epoch has two samples more), scaled so that they are those of the mean over all samples of the step,
clips values and then the norm, and takes the weights into a moving average.  Data and initial
weights are f32 numbers; PyTorch computes in f64.  The format is that of record_layers.py.
"""
import os

import torch
import torch.nn.functional as F

from record_layers import Record

torch.manual_seed(20261125)
HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES, TEST, INPUTS, HIDDEN, OUTPUTS = 26, 9, 5, 7, 3
BATCH, ACCUMULATE, EPOCHS = 4, 3, 3
CLIP_VALUE, CLIP_NORM, DECAY = 0.3, 0.25, 0.8


def values(*shape, scale=1.0):
    return (torch.randn(*shape) * scale).float().double()


def make_net():
    net = torch.nn.Sequential()
    # A bias before a batch norm has gradients of rounding alone, which AdamW would make steps of.
    net.add_module("fc1", torch.nn.Linear(INPUTS, HIDDEN, bias=False))
    net.add_module("norm", torch.nn.BatchNorm1d(HIDDEN))
    net.add_module("relu", torch.nn.ReLU())
    net.add_module("fc2", torch.nn.Linear(HIDDEN, OUTPUTS))
    net.double()
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.copy_(parameter.float().double())
    return net


def metrics_of(kind, output, target):
    if kind == "classes":
        answer = output.argmax(1)
        f1 = []
        for c in range(OUTPUTS):
            both = (answer == c).sum() + (target == c).sum()
            if both:
                f1.append(2.0 * ((answer == c) & (target == c)).sum() / both)
        return [(answer == target).double().mean(), torch.stack(f1).mean()]
    mse = ((output - target) ** 2).mean()
    all_ = ((target - target.mean(0)) ** 2).sum(0)
    return [mse, (1 - ((output - target) ** 2).sum(0) / all_).mean()]


def loss_of(kind, output, target):
    if kind == "classes":
        return F.cross_entropy(output, target, label_smoothing=0.1)
    return F.smooth_l1_loss(output, target, beta=0.5)


def evaluate(kind, net, x, y):
    """The mean over samples, in batches, and the metrics over all."""
    net.eval()
    with torch.no_grad():
        output = net(x)
        sums = sum(loss_of(kind, net(a), b) * len(a)
                   for a, b in zip(x.split(BATCH), y.split(BATCH)))
    net.train()
    return [sums / len(x)] + metrics_of(kind, output, y)


def training(record, kind, make_optimizer):
    net = make_net()
    x, test_x = values(SAMPLES, INPUTS), values(TEST, INPUTS)
    weight = torch.randn(INPUTS, OUTPUTS).double()
    if kind == "classes":
        y, test_y = (x @ weight).argmax(1), (test_x @ weight).argmax(1)
    else:
        y = (x @ weight + 0.1 * values(SAMPLES, OUTPUTS)).float().double()
        test_y = (test_x @ weight).float().double()
    arrays = {"x": x, "y": y, "test_x": test_x, "test_y": test_y}
    for name, parameter in net.named_parameters():
        arrays["0." + name] = parameter.detach().clone()
    optimizer = make_optimizer(net.parameters())
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=12)
    average = torch.optim.swa_utils.AveragedModel(
        net, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(DECAY))
    epochs, losses = [], []
    for _ in range(EPOCHS):
        total, outputs, targets = 0.0, [], []
        for group in torch.arange(SAMPLES).split(BATCH * ACCUMULATE):
            optimizer.zero_grad()
            step_loss = 0.0
            for batch in group.split(BATCH):
                output = net(x[batch])
                loss = loss_of(kind, output, y[batch])
                (loss * len(batch) / len(group)).backward()
                step_loss += loss.item() * len(batch) / len(group)
                total += loss.item() * len(batch)
                outputs.append(output.detach())
                targets.append(y[batch])
            torch.nn.utils.clip_grad_value_(net.parameters(), CLIP_VALUE)
            torch.nn.utils.clip_grad_norm_(net.parameters(), CLIP_NORM)
            rate = schedule.get_last_lr()[0]
            optimizer.step()
            average.update_parameters(net)
            schedule.step()
            losses.append(step_loss)
        row = [rate, total / SAMPLES, *metrics_of(kind, torch.cat(outputs), torch.cat(targets)),
               *evaluate(kind, net, test_x, test_y)]
        epochs.append(torch.tensor([float(v) for v in row], dtype=torch.float64))
    arrays["losses"] = torch.tensor(losses, dtype=torch.float64)
    arrays["epochs"] = torch.stack(epochs)
    for name, parameter in net.named_parameters():
        arrays["1." + name] = parameter.detach()
    for name, parameter in average.module.named_parameters():
        arrays["a." + name] = parameter.detach()
    arrays["1.norm.running_mean"] = net.norm.running_mean
    arrays["1.norm.running_var"] = net.norm.running_var
    record.case(kind, {"batch": BATCH, "accumulate": ACCUMULATE}, arrays)


with open(os.path.join(HERE, "training.txt"), "w", encoding="ascii") as out:
    print("# Recorded by record_training.py with PyTorch", torch.__version__, file=out)
    book = Record(out)
    training(book, "classes", lambda p: torch.optim.AdamW(p, lr=0.02, weight_decay=0.05))
    training(book, "numbers",
             lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01, nesterov=True))
