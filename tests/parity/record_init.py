#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Records the moments of PyTorch's initial values, over many draws, its gains, and its Dirac
convolutions, in init.txt beside this file, in the format of record_layers.py."""
import os

import torch
from torch.nn import init

from record_layers import HERE, Record

torch.manual_seed(20261124)
NONLINEARITIES = ["leaky_relu", "linear", "sigmoid", "tanh", "relu", "selu"]
MODES = ["fan_in", "fan_out"]
DRAWS = 40


def tensor(*values):
    return torch.tensor(values, dtype=torch.float64)


def moments(record, name, function, shape, ints, numbers=()):
    draws = torch.empty(DRAWS, *shape, dtype=torch.float64)
    for i in range(DRAWS):
        function(draws[i])
    record.case(name, {"shape": shape, **ints},
                {"numbers": tensor(*numbers, 0.0), "moments": tensor(draws.mean(), draws.std()),
                 "limits": tensor(draws.min(), draws.max())})


def main():
    with open(os.path.join(HERE, "init.txt"), "w") as out:
        print("# Recorded by record_init.py with PyTorch", torch.__version__, file=out)
        record = Record(out)
        for i, name in enumerate(NONLINEARITIES):
            for slope in (0.0, 0.01, 0.3) if name == "leaky_relu" else (0.0,):
                gain = init.calculate_gain(name, slope)
                record.case("gain", {"nonlinearity": i}, {"numbers": tensor(slope, gain)})
        for shape in ((200, 150), (40, 30, 5, 5)):
            moments(record, "uniform", lambda a: init.uniform_(a, -1, 3), shape, {}, (-1, 3))
            moments(record, "normal", lambda a: init.normal_(a, 0.5, 2), shape, {}, (0.5, 2))
            moments(record, "xavier_uniform", lambda a: init.xavier_uniform_(a, 1.5), shape, {},
                    (1.5,))
            moments(record, "xavier_normal", lambda a: init.xavier_normal_(a, 1.5), shape, {},
                    (1.5,))
            moments(record, "orthogonal", lambda a: init.orthogonal_(a, 1.5), shape, {}, (1.5,))
            for mode in range(2):
                for i in (0, 3, 4):
                    for kind in ("uniform", "normal"):
                        function = getattr(init, "kaiming_%s_" % kind)
                        moments(record, "kaiming_" + kind,
                                lambda a: function(a, 0.2, MODES[mode], NONLINEARITIES[i]), shape,
                                {"mode": mode, "nonlinearity": i}, (0.2,))
        for low, high in ((-2, 2), (-0.5, 3)):
            moments(record, "trunc_normal",
                    lambda a: init.trunc_normal_(a, 0.25, 1.5, low, high), (200, 150), {},
                    (0.25, 1.5, low, high))
        for shape, groups in (((4, 2, 3), 1), ((6, 3, 3, 4), 2), ((2, 4, 2, 1, 3), 1)):
            value = init.dirac_(torch.empty(*shape, dtype=torch.float64), groups)
            record.case("dirac", {"shape": shape, "groups": groups}, {"value": value})


if __name__ == "__main__":
    main()
