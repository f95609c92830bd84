# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""The programs that measure a rival in their own process, and what --quick takes of them."""
import os
import subprocess

import process

# Program, and the cases that --quick takes.
PROGRAMS = [
    ("matmul", ["square 512"]),
    ("conv", ["conv forward 3x3", "conv dgrad 3x3", "conv wgrad 3x3", "depthwise wgrad 7x7"]),
    ("pool", None),
    ("optimizer", ["adamw"]),
]


def read(text, result):
    """The lines of a program: name, unit, tenon, rival, ratio, name of the rival."""
    for line in text.splitlines():
        fields = line.split("\t")
        if line.startswith("#"):
            result.note(line[1:].strip())
        elif len(fields) == 6:
            result.row(fields[0], fields[1], float(fields[2]), float(fields[3]), float(fields[4]),
                       fields[5])


def run_one(name, options, filters, result):
    program = os.path.join(options.build, "bench", name)
    if not os.path.exists(program):
        result.note("bench/%s is not built, its cases are left out" % name)
        return
    environment = dict(process.tenon_environment(options.threads))
    for text in filters:
        command = [os.path.join(options.build, "tests/with-plugins"), program, "--threads",
                   str(options.threads), "--samples",
                   str(options.samples)] + (["--filter", text] if text else [])
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=environment)
        read(done.stdout, result)
        if done.returncode not in (0, 77):
            result.note("bench/%s failed: %s" % (name, done.stderr.strip()))


def run(options, peaks, result):
    for name, quick in PROGRAMS:
        if options.filter:
            filters = [options.filter]
        elif options.quick:
            filters = quick or []
        else:
            filters = [""]
        peaks.go()
        run_one(name, options, filters, result)
