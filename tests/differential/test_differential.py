# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""The functions on arrays beside NumPy, on each backend for some seconds: run.py says how to run a
call again.

TENON_DIFFERENTIAL_SECONDS is for all backends together, TENON_DIFFERENTIAL_SEED that of the first
calls; "random" takes others each time."""
import os
import subprocess
import sys
from pathlib import Path

import compare
import numpy as np
import pytest
from calls import by_name
from compare import Mismatch
from counterparts import ELSEWHERE, OTHERS, WITHOUT, counterpart, functions
from draws import DRAWS
from prototypes import Library, prototypes
from run import one_call

RUN = Path(__file__).with_name("run.py")
SECONDS = float(os.environ.get("TENON_DIFFERENTIAL_SECONDS", 26))
SEED = os.environ.get("TENON_DIFFERENTIAL_SEED", "0")
SHARES = {"cpu": 0.4, "reference": 0.2, "mock": 0.2, "cuda": 0.2}


@pytest.mark.parametrize("backend", SHARES)
def test_calls(backend):
    command = [sys.executable, RUN, "--backend", backend, "--seconds",
               str(SECONDS * SHARES[backend])]
    if SEED != "random":
        command += ["--seed", SEED]
    if backend == "cuda":
        command.insert(0, os.path.join(os.environ["TENON_BUILD"], "tests", "with-simcuda"))
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode == 77:
        pytest.skip(done.stdout)
    print(done.stdout)
    assert done.returncode == 0


def test_every_function_takes_part():
    functions(prototypes())


def test_a_function_without_a_counterpart_fails():
    unknown = prototypes()["add"]._replace(name="no_such_function")
    with pytest.raises(LookupError, match="NumPy has no function of this name"):
        counterpart(unknown)


def test_rows_name_functions():
    known = prototypes()
    bounds = {*compare.EXACT, *compare.UNITS, *compare.NEAR_ONE, *compare.LINEAR, *compare.JUMPS}
    assert {*OTHERS, *WITHOUT, *DRAWS, *bounds} <= set(known)
    assert set(ELSEWHERE) <= {p.header for p in known.values()}


def test_a_wrong_result_is_found():
    library = Library("reference!")
    wrong = {"add": np.subtract, "sort": lambda a, axis, descending: a, "isnan": np.isinf,
             "sin": lambda a: np.sin(a) * (1 + 1e-5)}
    for name, function in wrong.items():
        with pytest.raises(Mismatch), np.errstate(all="ignore"):
            for seed in range(50):
                one_call(library, library.prototypes[name], by_name(function), seed)
