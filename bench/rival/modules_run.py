# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Modules, losses and optimizers beside PyTorch, a window each in turns."""
import os
import statistics
import subprocess
import sys

import networks_run
import process

QUICK = ("conv1d", "lstm", "cross-entropy", "adamw")


def compare(case, options, peaks, result):
    worker = os.path.join(process.HERE, "modules.py")
    sides = [process.Side("Tenon", [os.path.join(options.build, "tests/with-plugins"),
                                    os.path.join(options.build, "bench/modules"), case],
                          process.tenon_environment(options.threads)),
             process.Side("PyTorch", [sys.executable, worker, case],
                          process.rival_environment(options.threads))]
    for failure in networks_run.take_turns(sides, options.samples, peaks):
        result.note("module %s: %s" % (case, failure.splitlines()[-1]))
    memory = {side.name: side.end() for side in sides}
    if len(sides) < 2:
        return
    tenon, rival = (statistics.median(side.rates) for side in sides)
    result.row("module " + case, "steps/s", tenon, rival, tenon / rival, "PyTorch")
    result.row("memory module " + case, "MiB", memory["Tenon"], memory["PyTorch"],
               memory["Tenon"] / memory["PyTorch"], "PyTorch")


def run(options, peaks, result):
    program = os.path.join(options.build, "bench/modules")
    if not os.path.exists(program):
        result.note("bench/modules is not built, its cases are left out")
        return
    names = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True,
                           env=process.tenon_environment(1)).stdout.split()
    for case in names:
        if options.filter in "module " + case and (not options.quick or case in QUICK):
            compare(case, options, peaks, result)
