# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Processes that measure on demand, and the environment that serves PyTorch best."""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import load

HERE = os.path.dirname(os.path.abspath(__file__))
SETTLE = 0.03  # seconds in which the threads of the one measured before fall asleep


def rival_environment(threads):
    """PyTorch's best here: the OpenMP build of OpenBLAS (that with threads of its own fights with
    OpenMP's), huge pages, and an allocator that gives nothing back between steps."""
    environment = dict(os.environ)
    for name in [n for n in environment if n.startswith(("OMP_", "OPENBLAS_", "GOMP_", "TENON_"))]:
        del environment[name]
    folders = glob.glob("/usr/lib/*/openblas-openmp")
    if folders:
        environment["LD_LIBRARY_PATH"] = folders[0]
    environment.update({
        "TENON_BENCH_THREADS": str(threads),
        "OMP_NUM_THREADS": str(threads),
        "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
        "MALLOC_MMAP_THRESHOLD_": "4294967296",
        "MALLOC_TRIM_THRESHOLD_": "17179869184",
        "MALLOC_TOP_PAD_": "67108864",
    })
    return environment


class Side:
    """One that is measured in turns with others: `go` measures a window, `end` gives its peak
    memory in MiB."""

    def __init__(self, name, command, environment):
        self.name, self.rates = name, []
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=environment)
        self.questions, self.answers = self.process.stdin, self.process.stdout
        self.errors = self.process.stderr

    def ask(self, what):
        """The answer to one line."""
        time.sleep(SETTLE)
        try:
            self.questions.write(what + "\n")
            self.questions.flush()
            line = self.answers.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise RuntimeError("%s: %s" % (self.name, self.errors.read().strip() or "ended"))
        return line.strip()

    def go(self):
        self.rates.append(float(self.ask("go")))

    def end(self):
        self.questions.close()
        return int(self.answers.read().split()[-1]) / 1024


class Rivals:
    """network.py as a server: processes with PyTorch, forked from one that has read it, for that
    takes longer than to measure a network."""

    def __init__(self, threads):
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(HERE, "network.py"), "serve"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=rival_environment(threads))
        if not self.process.stdout.readline():
            raise RuntimeError("PyTorch: " + self.process.stderr.read().strip())

    def fork(self, folder, arguments):
        self.process.stdin.write(json.dumps([folder] + arguments) + "\n")
        self.process.stdin.flush()


class Rival(Side):
    """A process of Rivals, which is asked through pipes in a folder of its own."""
    servers = {}  # by the number of threads

    def __init__(self, name, arguments, threads):
        self.name, self.rates = name, []
        if threads not in self.servers:
            self.servers[threads] = Rivals(threads)
        folder = tempfile.mkdtemp()
        try:
            for pipe in ("questions", "answers", "errors"):
                os.mkfifo(os.path.join(folder, pipe))
            self.servers[threads].fork(folder, arguments)
            self.questions = open(os.path.join(folder, "questions"), "w", encoding="utf-8")
            self.answers = open(os.path.join(folder, "answers"), encoding="utf-8")
            self.errors = open(os.path.join(folder, "errors"), encoding="utf-8")
        finally:
            shutil.rmtree(folder)


def rival(what, model, batch, threads, *options):
    """PyTorch on one network; `options` are those of network.py."""
    name = " ".join(["PyTorch"] + [o.lstrip("-") for o in options])
    return Rival(name, [what, model, str(batch)] + list(options), threads)


def rival_ways(what):
    """The configurations that are tried; the best one is the rival."""
    if what == "train":
        return [(), ("--channels-last",)]
    return [("--frozen",), ("--frozen", "--channels-last")]


class Peaks:
    """bench/peaks: a round of the machine's peaks, and a look at what others do, whenever `go` is
    called."""

    def __init__(self, build):
        self.values, self.others = {}, []
        self.process = subprocess.Popen([os.path.join(build, "bench/peaks"), "--on-demand"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def go(self):
        time.sleep(SETTLE)
        self.others.append(load.others())
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        for line in iter(self.process.stdout.readline, "\n"):
            if not line:
                raise RuntimeError("bench/peaks ended")
            name, unit, value = line.rstrip("\n").split("\t")
            self.values.setdefault((name, unit), []).append(float(value))

    def end(self):
        self.process.communicate()


def tenon_environment(threads):
    environment = {k: v for k, v in os.environ.items()
                   if not k.startswith(("OMP_", "OPENBLAS_", "GOMP_"))}
    environment["TENON_THREADS"] = str(threads)
    return environment


def tenon(build, what, model, batch, threads):
    command = [os.path.join(build, "tests/with-plugins"), os.path.join(build, "bench", what), model,
               str(batch), "--on-demand"]
    return Side("Tenon", command, tenon_environment(threads))
