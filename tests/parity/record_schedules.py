#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Records fifty learning rates of each of PyTorch's schedules, in schedules.txt beside this file.

A case has the members of struct tn_schedule_options that are set, as arrays without axes or (rate,
milestones) with one; its name is that of the kind.  The format is that of record_layers.py.
"""
import os
import warnings

import torch
from torch.optim import lr_scheduler as torch_schedules

from record_layers import Record

warnings.simplefilter("ignore")  # the optimizer takes no steps
HERE = os.path.dirname(os.path.abspath(__file__))
BASE, STEPS = 0.2, 50


def case(record, kind, make, metrics=None, warmup=None, **members):
    optimizer = torch.optim.SGD([torch.zeros(1, dtype=torch.float64, requires_grad=True)], lr=BASE)
    schedule = make(optimizer)
    if warmup:
        members.update(warmup=warmup[0], warmup_start=warmup[1])
        first = (torch_schedules.LinearLR(optimizer, warmup[1], 1.0, warmup[0]) if warmup[1]
                 else torch_schedules.LambdaLR(optimizer, lambda t: t / warmup[0]))
        schedule = torch_schedules.SequentialLR(optimizer, [first, schedule], [warmup[0]])
    rates = []
    for t in range(STEPS):
        rates.append(optimizer.param_groups[0]["lr"])
        if metrics is None:
            schedule.step()
        else:
            schedule.step(metrics[t])
    arrays = {k: torch.tensor(v, dtype=torch.float64) for k, v in members.items()}
    arrays["rate"] = torch.tensor(rates, dtype=torch.float64)
    if metrics is not None:
        arrays["metrics"] = torch.tensor(metrics, dtype=torch.float64)
    record.case(kind, {}, arrays)


def noisy(sign):
    """Metrics that fall, or rise, quickly and then hardly."""
    generator = torch.Generator().manual_seed(3)
    noise = torch.rand(STEPS, generator=generator, dtype=torch.float64)
    return [sign * (1.0 / (1 + t) + 0.02 * float(noise[t])) for t in range(STEPS)]


def zeros(record):
    """Every member whose default is not 0 as 0, where PyTorch takes that.

    LinearLR, which multiplies its rates up, cannot start from 0: LambdaLR has its formula.
    """
    s = torch_schedules
    falling = [20 * m for m in noisy(1)]
    case(record, "constant", lambda o: s.ConstantLR(o, 1.0), warmup=(8, 0.0))
    case(record, "step", lambda o: s.StepLR(o, 7, 0.0), period=7, gamma=0)
    case(record, "multistep", lambda o: s.MultiStepLR(o, [3, 20], 0.0), milestones=[3, 20], gamma=0)
    case(record, "exponential", lambda o: s.ExponentialLR(o, 0.0), gamma=0)
    case(record, "polynomial", lambda o: s.PolynomialLR(o, 30, 0.0), period=30, power=0)
    case(record, "one_cycle", lambda o: s.OneCycleLR(
        o, BASE, 51, pct_start=0.0, cycle_momentum=False), period=51, pct_start=0)
    creeping = [1.0 - 1e-6 * t for t in range(STEPS)]  # by less than the default threshold
    case(record, "plateau", lambda o: s.ReduceLROnPlateau(o, factor=0.0), metrics=falling, factor=0)
    case(record, "plateau", lambda o: s.ReduceLROnPlateau(o, patience=0), metrics=falling,
         patience=0)
    case(record, "plateau", lambda o: s.ReduceLROnPlateau(o, threshold=0.0), metrics=creeping,
         threshold=0)
    case(record, "plateau", lambda o: s.ReduceLROnPlateau(o, patience=0, eps=0.0), metrics=falling,
         patience=0, epsilon=0)


def main():
    s = torch_schedules
    with open(os.path.join(HERE, "schedules.txt"), "w") as out:
        print("# Recorded by record_schedules.py with PyTorch", torch.__version__, file=out)
        record = Record(out)
        case(record, "constant", lambda o: s.ConstantLR(o, 1.0), warmup=(8, 0.1))
        case(record, "cosine", lambda o: s.CosineAnnealingLR(o, 20, 0.01), period=20, min_lr=0.01)
        case(record, "cosine", lambda o: s.CosineAnnealingLR(o, 40), warmup=(10, 0.01), period=40)
        case(record, "step", lambda o: s.StepLR(o, 7), period=7)
        case(record, "step", lambda o: s.StepLR(o, 7, 0.5), warmup=(5, 0.5), period=7, gamma=0.5)
        case(record, "multistep", lambda o: s.MultiStepLR(o, [3, 4, 20, 45], 0.3),
             milestones=[3, 4, 20, 45], gamma=0.3)
        case(record, "multistep", lambda o: s.MultiStepLR(o, [3, 3, 20], 0.3),
             milestones=[3, 3, 20], gamma=0.3)
        case(record, "multistep", lambda o: s.MultiStepLR(o, [3, 20], 0.3), warmup=(6, 0.2),
             milestones=[3, 20], gamma=0.3)
        case(record, "exponential", lambda o: s.ExponentialLR(o, 0.9), gamma=0.9)
        case(record, "exponential", lambda o: s.ExponentialLR(o, 0.95), warmup=(3, 0.4), gamma=0.95)
        case(record, "restarts", lambda o: s.CosineAnnealingWarmRestarts(o, 12), period=12)
        case(record, "restarts", lambda o: s.CosineAnnealingWarmRestarts(o, 5, 2, 0.02), period=5,
             multiplier=2, min_lr=0.02)
        case(record, "restarts", lambda o: s.CosineAnnealingWarmRestarts(o, 6, 2, 0.01),
             warmup=(7, 0.3), period=6, multiplier=2, min_lr=0.01)
        case(record, "polynomial", lambda o: s.PolynomialLR(o, 30, 2.0), period=30, power=2)
        case(record, "polynomial", lambda o: s.PolynomialLR(o, 40), warmup=(4, 0.25), period=40)
        case(record, "one_cycle", lambda o: s.OneCycleLR(o, BASE, 51, cycle_momentum=False),
             period=51)
        case(record, "one_cycle", lambda o: s.OneCycleLR(
            o, BASE, 60, pct_start=0.2, cycle_momentum=False, div_factor=10, final_div_factor=50),
             period=60, pct_start=0.2, div_factor=10, final_div_factor=50)
        case(record, "one_cycle", lambda o: s.OneCycleLR(o, BASE, 46, cycle_momentum=False),
             warmup=(5, 0.2), period=46)
        case(record, "plateau", lambda o: s.ReduceLROnPlateau(o), metrics=noisy(1))
        case(record, "plateau", lambda o: s.ReduceLROnPlateau(
            o, "max", factor=0.5, patience=2, threshold=0.01, threshold_mode="abs", cooldown=3,
            min_lr=0.03), metrics=noisy(-1), factor=0.5, patience=2, threshold=0.01, is_absolute=1,
             is_rising=1, cooldown=3, min_lr=0.03)
        case(record, "plateau", lambda o: s.ReduceLROnPlateau(o, factor=0.7, patience=0),
             metrics=noisy(1), factor=0.7, patience=0)
        case(record, "plateau", lambda o: s.ReduceLROnPlateau(
            o, factor=0.5, patience=1, threshold=0.2, eps=0.02), metrics=[
                20 * m for m in noisy(1)], factor=0.5, patience=1, threshold=0.2, epsilon=0.02)
        zeros(record)


if __name__ == "__main__":
    main()
