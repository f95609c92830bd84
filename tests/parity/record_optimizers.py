#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Records ten steps of each of PyTorch's optimizers, in optimizers.txt beside this file.

Three parameters have given gradients, and none at some steps.  Initial values and gradients are f32
numbers in the first case; PyTorch computes in f64.  The format is that of record_layers.py; an
option is an array without axes, or an int.

Lion, LARS, LAMB and Lookahead, which PyTorch lacks, are written below from their papers.  On these
gradients they agree within 1e-15 with packages of others: Lion with lion-pytorch 0.2.5, LARS and
LAMB with timm 1.0.31, Lookahead with pytorch-optimizer 4.1.0.  (timm counts LAMB's steps for all
parameters together, so that it agrees where none is without a gradient; its Lookahead has slow
weights only from the first synchronisation on, which then does nothing.)
"""
import inspect
import os

import torch

from record_layers import Record

torch.manual_seed(20261124)
HERE = os.path.dirname(os.path.abspath(__file__))
STEPS = 10
SHAPES = [(2, 3), (4,), (1,)]
MISSING = [[6], [2, 3], [0]]  # the steps at which a parameter has no gradient


def values(*shape, scale=1.0):
    return (torch.randn(*shape) * scale).float().double()


START = [values(*shape) for shape in SHAPES]
# Large at first, so that the largest second moment is an early one.
GRADIENTS = [torch.stack([values(*shape, scale=2.0 if step < 3 else 0.4) for step in range(STEPS)])
             for shape in SHAPES]


class Lion(torch.optim.Optimizer):
    """Algorithm 2 of Chen et al. 2023."""

    def __init__(self, params, lr, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for w in group["params"]:
                if w.grad is None:
                    continue
                m = self.state[w].setdefault("m", torch.zeros_like(w))
                update = torch.sign(beta1 * m + (1 - beta1) * w.grad)
                w -= group["lr"] * (update + group["weight_decay"] * w)
                m.mul_(beta2).add_(w.grad, alpha=1 - beta2)


class Lars(torch.optim.Optimizer):
    """SGD of You, Gitman and Ginsburg 2017, with the norms of each parameter."""

    def __init__(self, params, lr, momentum=0.0, dampening=0.0, weight_decay=0.0,
                 trust_coefficient=1e-3, eps=1e-8, nesterov=False, adapt_vectors=False):
        super().__init__(params, dict(
            lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay,
            trust_coefficient=trust_coefficient, eps=eps, nesterov=nesterov,
            adapt_vectors=adapt_vectors))

    @torch.no_grad()
    def step(self):
        for o in self.param_groups:
            for w in o["params"]:
                if w.grad is None:
                    continue
                norm, rate = w.norm(), w.grad.norm()
                ratio = 1.0
                if (w.dim() > 1 or o["adapt_vectors"]) and norm > 0 and rate > 0:
                    ratio = o["trust_coefficient"] * norm / (
                        rate + o["weight_decay"] * norm + o["eps"])
                g = ratio * (w.grad + o["weight_decay"] * w)
                state = self.state[w]
                if "b" not in state:
                    state["b"] = g.clone()
                else:
                    state["b"] = o["momentum"] * state["b"] + (1 - o["dampening"]) * g
                w -= o["lr"] * (g + o["momentum"] * state["b"] if o["nesterov"] else state["b"])


class Lamb(torch.optim.Optimizer):
    """Algorithm 2 of You et al. 2020, with corrected biases."""

    def __init__(self, params, lr, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.0,
                 adapt_vectors=False):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay,
                                      adapt_vectors=adapt_vectors))

    @torch.no_grad()
    def step(self):
        for o in self.param_groups:
            beta1, beta2 = o["betas"]
            for w in o["params"]:
                if w.grad is None:
                    continue
                state = self.state[w]
                state["t"] = t = state.get("t", 0) + 1
                m = state.setdefault("m", torch.zeros_like(w))
                v = state.setdefault("v", torch.zeros_like(w))
                m.mul_(beta1).add_(w.grad, alpha=1 - beta1)
                v.mul_(beta2).add_(w.grad ** 2, alpha=1 - beta2)
                update = m / (1 - beta1 ** t) / ((v / (1 - beta2 ** t)).sqrt() + o["eps"])
                update += o["weight_decay"] * w
                ratio = 1.0
                if (w.dim() > 1 or o["adapt_vectors"]) and w.norm() > 0 and update.norm() > 0:
                    ratio = w.norm() / update.norm()
                w -= o["lr"] * ratio * update


def steps(optimizer, parameters, after=lambda step: None):
    """The parameters after each step."""
    seen = [[] for _ in parameters]
    for step in range(STEPS):
        for i, w in enumerate(parameters):
            w.grad = None if step in MISSING[i] else GRADIENTS[i][step].clone()
        optimizer.step()
        after(step)
        for i, w in enumerate(parameters):
            seen[i].append(w.detach().clone())
    return [torch.stack(each) for each in seen]


def case(record, name, make, flags=None, **options):
    """`make` gets the parameters and the options under PyTorch's names."""
    parameters = [w.clone().requires_grad_() for w in START]
    given = dict(options)
    if "beta1" in given or "beta2" in given:
        betas = inspect.signature(make).parameters["betas"].default
        given["betas"] = (given.pop("beta1", betas[0]), given.pop("beta2", betas[1]))
    if "epsilon" in given:
        given["eps"] = given.pop("epsilon")
    flags = flags or {}
    seen = steps(make(parameters, **given, **{k: bool(v) for k, v in flags.items()}), parameters)
    arrays = {k: torch.tensor(v, dtype=torch.float64) for k, v in options.items()}
    arrays.update({"w%d" % i: w for i, w in enumerate(seen)})
    record.case(name, flags, arrays)


def grouped(record):
    """A third of the rate for the first parameter, no decay for those of one axis."""
    parameters = [w.clone().requires_grad_() for w in START]
    optimizer = torch.optim.AdamW([
        {"params": parameters[:1], "lr": 0.01, "weight_decay": 0.1},
        {"params": parameters[1:], "lr": 0.03, "weight_decay": 0.0}])
    seen = steps(optimizer, parameters)
    record.case("groups", {}, {"w%d" % i: w for i, w in enumerate(seen)})


def lookahead(record, k, alpha):
    """Algorithm 1 of Zhang et al. 2019, around AdamW."""
    parameters = [w.clone().requires_grad_() for w in START]
    slow = [w.clone() for w in START]

    def synchronise(step):
        for w, s in zip(parameters, slow):
            if (step + 1) % k == 0:
                s += alpha * (w.detach() - s)
                w.data.copy_(s)

    seen = steps(torch.optim.AdamW(parameters, lr=0.05), parameters, synchronise)
    record.case("lookahead", {"k": k}, {"alpha": torch.tensor(alpha, dtype=torch.float64), **{
        "w%d" % i: w for i, w in enumerate(seen)}})


def average(record, decay):
    """The averages of weights that SGD moves."""
    module = torch.nn.ParameterList([w.clone() for w in START])
    average_fn = torch.optim.swa_utils.get_ema_multi_avg_fn(decay) if decay else None
    averaged = torch.optim.swa_utils.AveragedModel(module, multi_avg_fn=average_fn)
    seen = [[] for _ in START]

    def update(step):
        averaged.update_parameters(module)
        for i, w in enumerate(averaged.module):
            seen[i].append(w.detach().clone())

    steps(torch.optim.SGD(module, lr=0.05), list(module), update)
    record.case("average", {}, {"decay": torch.tensor(decay, dtype=torch.float64), **{
        "w%d" % i: torch.stack(w) for i, w in enumerate(seen)}})


def zeros(record):
    """Every option whose default is not 0 as 0, which is what PyTorch takes it for.

    There is no case of RMSprop centered with alpha 0, whose variance is the rounding of 0, and
    none of options that may not be 0.
    """
    o = torch.optim
    for name, make, members in (
            ("sgd", o.SGD, "lr"),
            ("adam", o.Adam, "lr beta1 beta2 epsilon"),
            ("adamw", o.AdamW, "lr beta1 beta2 epsilon weight_decay"),
            ("nadam", o.NAdam, "lr beta1 beta2 epsilon momentum_decay"),
            ("rmsprop", o.RMSprop, "lr alpha epsilon"),
            ("adagrad", o.Adagrad, "lr epsilon"),
            ("adadelta", o.Adadelta, "lr rho epsilon"),
            ("lion", Lion, "lr beta1 beta2"),
            ("lars", Lars, "lr epsilon"),
            ("lamb", Lamb, "lr beta1 beta2")):
        for member in members.split():
            case(record, name, make, **{"lr": 0.05, member: 0.0})
    # All at once: the sign of the gradient.
    case(record, "adam", o.Adam, {"amsgrad": 1}, lr=0.05, beta1=0.0, beta2=0.0, epsilon=0.0)
    lookahead(record, 3, 0.0)


def main():
    with open(os.path.join(HERE, "optimizers.txt"), "w") as out:
        print("# Recorded by record_optimizers.py with PyTorch", torch.__version__, file=out)
        record = Record(out)
        arrays = {"w%d" % i: w for i, w in enumerate(START)}
        arrays.update({"g%d" % i: g for i, g in enumerate(GRADIENTS)})
        record.case("given", {"missing%d" % i: list(m) for i, m in enumerate(MISSING)}, arrays)
        o = torch.optim
        case(record, "sgd", o.SGD, lr=0.05)
        case(record, "sgd", o.SGD, lr=0.05, momentum=0.9, dampening=0.3, weight_decay=0.1)
        case(record, "sgd", o.SGD, {"nesterov": 1}, lr=0.05, momentum=0.9, weight_decay=0.1)
        case(record, "adam", o.Adam, lr=0.05)
        case(record, "adam", o.Adam, lr=0.05, beta1=0.8, beta2=0.95, epsilon=1e-3,
             weight_decay=0.1)
        case(record, "adam", o.Adam, {"amsgrad": 1}, lr=0.05, beta1=0.8, beta2=0.9)
        case(record, "adamw", o.AdamW, lr=0.05)
        case(record, "adamw", o.AdamW, {"amsgrad": 1}, lr=0.05, beta1=0.8, beta2=0.9,
             epsilon=1e-4, weight_decay=0.2)
        case(record, "nadam", o.NAdam, lr=0.05)
        case(record, "nadam", o.NAdam, lr=0.05, beta1=0.8, beta2=0.95, epsilon=1e-3,
             weight_decay=0.1, momentum_decay=0.05)
        case(record, "nadam", o.NAdam, {"decoupled_weight_decay": 1}, lr=0.05, weight_decay=0.1)
        case(record, "rmsprop", o.RMSprop, lr=0.05)
        case(record, "rmsprop", o.RMSprop, lr=0.05, alpha=0.9, epsilon=1e-3, weight_decay=0.1,
             momentum=0.8)
        case(record, "rmsprop", o.RMSprop, {"centered": 1}, lr=0.05, alpha=0.9)
        case(record, "rmsprop", o.RMSprop, {"centered": 1}, lr=0.05, alpha=0.9, momentum=0.5)
        case(record, "adagrad", o.Adagrad, lr=0.05)
        case(record, "adagrad", o.Adagrad, lr=0.05, lr_decay=0.1, weight_decay=0.1,
             initial_accumulator_value=0.5, epsilon=1e-3)
        case(record, "adadelta", o.Adadelta)
        case(record, "adadelta", o.Adadelta, lr=0.5, rho=0.8, epsilon=1e-3, weight_decay=0.1)
        case(record, "lion", Lion, lr=0.05)
        case(record, "lion", Lion, lr=0.05, beta1=0.8, beta2=0.9, weight_decay=0.1)
        case(record, "lars", Lars, lr=0.5, trust_coefficient=0.2)
        case(record, "lars", Lars, {"adapt_vectors": 1}, lr=0.5, momentum=0.9, dampening=0.3,
             weight_decay=0.1, trust_coefficient=0.1, epsilon=1e-3)
        case(record, "lars", Lars, {"nesterov": 1}, lr=0.5, momentum=0.5, weight_decay=0.1,
             trust_coefficient=0.1)
        case(record, "lamb", Lamb, lr=0.05)
        case(record, "lamb", Lamb, {"adapt_vectors": 1}, lr=0.05, beta1=0.8, beta2=0.95,
             epsilon=1e-3, weight_decay=0.1)
        grouped(record)
        lookahead(record, 3, 0.4)
        average(record, 0.0)
        average(record, 0.8)
        zeros(record)


if __name__ == "__main__":
    main()
