#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Compares losses, optimizers, schedules and clipping with PyTorch in drawn settings.

    python3 tests/parity/draw_records.py BUILD [SEED [ROUNDS]]
        A round records some 230 cases of one seed into a folder and runs BUILD's tests of this
        folder on them; the next has the next seed.  A failure prints the seed and keeps its cases.
    python3 tests/parity/draw_records.py
        records the cases of seed 0 in drawn_losses.txt and others beside this file.

Run with the newest PyTorch.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import warnings

import torch
import torch.nn.functional as F
from torch.optim import lr_scheduler

import record_clipping
import record_losses
import record_optimizers
import record_schedules
from record_layers import HERE, Record
from record_losses import leaf, loss, number, short

warnings.simplefilter("ignore")


def integer(low, high):
    return int(torch.randint(low, high + 1, ()))


def uniform(low, high):
    return low + (high - low) * float(torch.rand(()))


def chosen(*values):
    return values[integer(0, len(values) - 1)]


# ---- Losses --------------------------------------------------------------------------------------

def pair(record, reduction):
    x = leaf(integer(1, 5), integer(1, 7), scale=chosen(0.5, 2, 50))
    y = leaf(*x.shape, scale=2)
    both = {"y": y}
    if chosen(0, 1):
        with torch.no_grad():
            y[0, 0] = x[0, 0]
    limit = chosen(1.0, 0.5, short(torch.tensor(uniform(0.1, 3))).item() + 1 / 64)
    for name, function, arrays in (
            ("mse", lambda r: F.mse_loss(x, y, reduction=r), {}),
            ("l1", lambda r: F.l1_loss(x, y, reduction=r), {}),
            ("smooth_l1", lambda r: F.smooth_l1_loss(x, y, reduction=r, beta=limit),
             {"number": number(limit)}),
            ("huber", lambda r: F.huber_loss(x, y, reduction=r, delta=limit),
             {"number": number(limit)})):
        loss(record, name, function, x, reduction, {}, {**both, **arrays}, ["y"])


def binary(record, reduction):
    n, classes = integer(1, 5), integer(1, 6)
    x = leaf(n, classes, scale=chosen(1, 3, 80))
    y = short(torch.rand(n, classes)).requires_grad_()
    weight = chosen(None, short(torch.rand(n, 1)), short(torch.rand(n, classes)))
    pos = chosen(None, short(3 * torch.rand(classes)))
    given = {k: v for k, v in (("weight", weight), ("pos_weight", pos)) if v is not None}
    loss(record, "bce_with_logits", lambda r: F.binary_cross_entropy_with_logits(
        x, y, weight, reduction=r, pos_weight=pos), x, reduction, {}, {"y": y, **given}, ["y"])


def divergence(record, reduction):
    shape = integer(1, 4), integer(2, 6)
    log_target = integer(0, 1)
    x = short(F.log_softmax(leaf(*shape), 1).detach()).requires_grad_()
    y = short(F.softmax(leaf(*shape, scale=3), 1).detach() + 0.02)
    y = (short(y.log()) if log_target else y).requires_grad_()
    loss(record, "kl_div", lambda r: F.kl_div(x, y, reduction=r, log_target=bool(log_target)), x,
         chosen(reduction, "batchmean"), {"log_target": log_target}, {"y": y}, ["y"])


def embedding(record, reduction):
    n, width = integer(1, 6), integer(2, 5)
    margin = short(torch.tensor(uniform(-0.9, 0.9))).item()
    a, b = leaf(n, width), leaf(n, width)
    signs = torch.randint(0, 2, (n,)).double() * 2 - 1
    loss(record, "cosine_embedding",
         lambda r: F.cosine_embedding_loss(a, b, signs, margin, reduction=r), a, reduction, {},
         {"y": b, "target": signs, "number": number(margin)}, ["y"])
    signs = torch.randint(0, 2, (n, width)).double() * 2 - 1
    loss(record, "hinge_embedding",
         lambda r: F.hinge_embedding_loss(a, signs, abs(margin), reduction=r), a, reduction, {},
         {"y": signs, "number": number(abs(margin))})


def labelled(record, reduction):
    """Some labels, all or none are ignored; an offset of all logits; infinite logits."""
    n, classes, *rest = integer(1, 5), integer(2, 7), *chosen([], [], [2], [2, 3])
    x = leaf(n, classes, *rest, scale=chosen(1, 3, 30))
    labels = torch.randint(0, classes, (n, *rest))
    weight = chosen(None, short(torch.rand(classes) + 0.1), short(torch.rand(classes) * 60))
    smoothing = chosen(0.0, 0.1, 0.5)
    with torch.no_grad():
        x.copy_((x + chosen(0, 0, 1000, -1e6)).float())
        if chosen(0, 0, 1):
            x[0, int(labels[(0,) * labels.dim()]) if chosen(0, 1) else 0] = -torch.inf
    ignore = chosen(-100, integer(0, classes - 1))
    given = {"labels": labels, **({} if weight is None else {"weight": weight})}
    ints = {} if ignore == -100 else {"ignore": ignore}
    loss(record, "cross_entropy", lambda r: F.cross_entropy(
        x, labels, weight, reduction=r, ignore_index=ignore, label_smoothing=smoothing), x,
         reduction, ints, {**given, "number": number(smoothing)})
    logs = short(F.log_softmax(leaf(n, classes, *rest), 1).detach()).requires_grad_()
    loss(record, "nll", lambda r: F.nll_loss(
        logs, labels, weight, reduction=r, ignore_index=ignore), logs, reduction, ints, given)
    y = short(F.softmax(leaf(n, classes, *rest), 1).detach()).requires_grad_()
    x = leaf(n, classes, *rest, scale=3)
    given = {"y": y, **({} if weight is None else {"weight": weight})}
    loss(record, "cross_entropy", lambda r: F.cross_entropy(
        x, y, weight, reduction=r, label_smoothing=smoothing), x, reduction, {},
         {**given, "number": number(smoothing)}, ["y"])
    if rest:
        return
    power, margin = chosen(1, 2), short(torch.tensor(uniform(0.1, 2))).item() + 1 / 64
    given = {"labels": labels, **({} if weight is None else {"weight": weight})}
    loss(record, "multi_margin", lambda r: F.multi_margin_loss(
        x, labels, power, margin, weight, reduction=r), x, reduction, {"p": power},
         {**given, "number": number(margin)})


def losses(record, seed):
    torch.manual_seed(seed)
    for _ in range(8):
        for draw in (pair, binary, divergence, embedding, labelled, labelled):
            draw(record, chosen("mean", "mean", "sum", "none"))


# ---- Optimizers ----------------------------------------------------------------------------------

OPTIMIZERS = {
    "sgd": (torch.optim.SGD, "momentum dampening", ["nesterov"]),
    "adam": (torch.optim.Adam, "beta1 beta2 epsilon", ["amsgrad"]),
    "adamw": (torch.optim.AdamW, "beta1 beta2 epsilon", ["amsgrad"]),
    "nadam": (torch.optim.NAdam, "beta1 beta2 epsilon momentum_decay", ["decoupled_weight_decay"]),
    "rmsprop": (torch.optim.RMSprop, "alpha epsilon momentum", ["centered"]),
    "adagrad": (torch.optim.Adagrad, "lr_decay initial_accumulator_value epsilon", []),
    "adadelta": (torch.optim.Adadelta, "rho epsilon", []),
    "lion": (record_optimizers.Lion, "beta1 beta2", []),
    "lars": (record_optimizers.Lars, "momentum dampening trust_coefficient epsilon",
             ["adapt_vectors", "nesterov"]),
    "lamb": (record_optimizers.Lamb, "beta1 beta2 epsilon", ["adapt_vectors"]),
}
RANGES = {"lr": (1e-3, 0.1), "weight_decay": (0.0, 0.3), "beta1": (0.0, 0.99),
          "beta2": (0.5, 0.999), "epsilon": (1e-8, 1e-2), "alpha": (0.6, 0.99),
          "rho": (0.5, 0.95), "momentum": (0.0, 0.95), "dampening": (0.0, 0.9),
          "momentum_decay": (0.0, 0.1), "lr_decay": (0.0, 0.5),
          "initial_accumulator_value": (0.0, 1.0), "trust_coefficient": (1e-3, 0.3)}


def optimizers(record, seed):
    torch.manual_seed(seed)
    o = record_optimizers
    values = o.values
    o.START = [values(*shape) for shape in o.SHAPES]
    o.GRADIENTS = [torch.stack([values(*shape, scale=chosen(0.1, 1.0, 3.0))
                                for _ in range(o.STEPS)]) for shape in o.SHAPES]
    # A step that all lack has no loss.
    o.MISSING = [sorted({3 * integer(0, 2) + i for _ in range(integer(1, 3))})
                 for i in range(len(o.SHAPES))]
    arrays = {"w%d" % i: w for i, w in enumerate(o.START)}
    arrays.update({"g%d" % i: g for i, g in enumerate(o.GRADIENTS)})
    record.case("given", {"missing%d" % i: list(m) for i, m in enumerate(o.MISSING)}, arrays)
    for name, (make, members, flags) in OPTIMIZERS.items():
        for _ in range(3):
            drawn = [m for m in members.split() + ["weight_decay"] if chosen(0, 1)]
            options = {m: uniform(*RANGES[m]) for m in ["lr", *drawn]}
            on = {f: 1 for f in flags if chosen(0, 1)}
            if "nesterov" in on:  # it takes a momentum and no dampening
                options["momentum"] = uniform(0.1, 0.9)
                options.pop("dampening", None)
            o.case(record, name, make, on, **options)


# ---- Schedules -----------------------------------------------------------------------------------

def schedules(record, seed):
    torch.manual_seed(seed)
    s, case = lr_scheduler, record_schedules.case
    for _ in range(4):
        # SequentialLR starts its second schedule anew, which the chained forms do not survive.
        period, gamma, low = integer(2, 60), uniform(0.0, 1.2), chosen(0.0, uniform(0.001, 0.1))
        warmup = chosen(None, (integer(1, 12), uniform(0.05, 0.9)))
        case(record, "constant", lambda o: s.ConstantLR(o, 1.0), warmup=warmup)
        case(record, "cosine", lambda o: s.CosineAnnealingLR(o, 50 + period, low),
             period=50 + period, min_lr=low)
        case(record, "step", lambda o: s.StepLR(o, period, gamma), warmup=warmup, period=period,
             gamma=gamma)
        milestones = sorted(integer(1, 49) for _ in range(integer(1, 5)))
        milestones += milestones[-1:] * integer(0, 2)
        case(record, "multistep", lambda o: s.MultiStepLR(o, milestones, gamma),
             milestones=milestones, gamma=gamma)
        case(record, "exponential", lambda o: s.ExponentialLR(o, 0.9 + gamma / 12), warmup=warmup,
             gamma=0.9 + gamma / 12)
        multiplier = integer(1, 3)
        case(record, "restarts", lambda o: s.CosineAnnealingWarmRestarts(
            o, period, multiplier, low), warmup=warmup, period=period, multiplier=multiplier,
             min_lr=low)
        power = uniform(0.3, 3)
        case(record, "polynomial", lambda o: s.PolynomialLR(o, period, power), warmup=warmup,
             period=period, power=power)
        start, div, final = uniform(0.05, 0.9), uniform(2, 40), uniform(2, 1e4)
        case(record, "one_cycle", lambda o: s.OneCycleLR(
            o, record_schedules.BASE, 51 + period, pct_start=start, cycle_momentum=False,
            div_factor=div, final_div_factor=final), period=51 + period, pct_start=start,
             div_factor=div, final_div_factor=final)
        plateau(record)


def plateau(record):
    rising, absolute = integer(0, 1), integer(0, 1)
    metrics = [chosen(1.0, uniform(0, 1)) / (1 + t / 4) * (-1 if rising else 1)
               for t in range(record_schedules.STEPS)]
    if chosen(0, 0, 1):
        metrics[integer(0, 49)] = chosen(float("nan"), float("inf"), float("-inf"))
    o = {"factor": uniform(0.1, 0.9), "patience": integer(0, 6), "threshold": uniform(0, 0.1),
         "cooldown": integer(0, 4), "min_lr": chosen(0.0, uniform(0, 0.1))}
    epsilon = chosen(1e-8, 0.01)
    record_schedules.case(record, "plateau", lambda optimizer: lr_scheduler.ReduceLROnPlateau(
        optimizer, "max" if rising else "min", eps=epsilon,
        threshold_mode="abs" if absolute else "rel", **o), metrics=metrics, is_rising=rising,
                          is_absolute=absolute, epsilon=epsilon, **o)


# ---- Rounds --------------------------------------------------------------------------------------

DRAWN = {"losses": losses, "optimizers": optimizers, "schedules": schedules}


def write(folder, seed):
    for name, draw in DRAWN.items():
        with open(os.path.join(folder, "drawn_%s.txt" % name), "w") as out:
            print("# Drawn by draw_records.py with PyTorch %s, seed %d" % (torch.__version__, seed),
                  file=out)
            draw(Record(out), seed)


def count(folder):
    return sum(open(os.path.join(folder, name)).read().count("case ")
               for name in os.listdir(folder))


def is_right(build, name, folder):
    test = os.path.join(build, "tests/with-plugins")
    run = subprocess.run([test, os.path.join(build, "tests/parity", name)],
                         env={"TENON_SOURCE": os.path.join(HERE, "../.."), **os.environ,
                              "PARITY_RECORDS": folder},
                         capture_output=True, text=True, check=False)
    if run.returncode:
        print("%s in %s:" % (name, folder))
        print("\n".join(line for line in run.stderr.splitlines() if "PyTorch" in line)
              or run.stderr)
    return run.returncode == 0


def main(build=None, first_seed=1, rounds=1):
    if not build:
        return write(HERE, 0)
    n_cases = n_failed = 0
    for seed in range(int(first_seed), int(first_seed) + int(rounds)):
        folder = tempfile.mkdtemp(prefix="parity.%d." % seed)
        record_clipping.main(folder, 40, seed)
        write(folder, seed)
        n_cases += count(folder)
        failed = [name for name in ["clipping", *DRAWN] if not is_right(build, name, folder)]
        n_failed += len(failed)
        if not failed:
            shutil.rmtree(folder)
    print("%d cases, %d files failed" % (n_cases, n_failed))
    return n_failed > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
