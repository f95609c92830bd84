# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""The machine, the versions of what is measured, and the hour."""
import datetime
import os
import platform
import subprocess
import sys

import process


def output(command, environment=None):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              check=True, env=environment).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "absent"


def processor():
    fields = dict(line.split(":", 1) for line in output(["lscpu"]).splitlines() if ":" in line)
    fields = {k.strip(): v.strip() for k, v in fields.items()}
    flags = fields.get("Flags", "").split()
    level = "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else platform.machine()
    caches = ", ".join("%s %s" % (k[:3].strip(), fields[k]) for k in ("L2 cache", "L3 cache")
                       if k in fields)
    return "%s, family %s model %s, %s, %d processors, %s" % (
        fields.get("Model name", platform.machine()), fields.get("CPU family", "?"),
        fields.get("Model", "?"), level, len(os.sched_getaffinity(0)), caches)


def package(name):
    return output(["dpkg-query", "-W", "-f", "${Version}", name])


def python_version(module):
    return output([sys.executable, "-c", "import %s; print(%s.__version__)" % (module, module)],
                  process.rival_environment(1))


def describe(build):
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "processor": processor(),
        "memory": "%.0f GiB" % memory,
        "system": "%s, Linux %s" % (output(["sh", "-c", ". /etc/os-release; echo $PRETTY_NAME"]),
                                    platform.release()),
        "load before": "%.1f" % os.getloadavg()[0],
        "tenon": output([os.path.join(build, "tenon"), "--version"]).splitlines()[0] + ", " +
                 output(["git", "-C", os.path.dirname(os.path.abspath(__file__)), "describe",
                         "--always", "--dirty"]),
        "PyTorch": python_version("torch"),
        "NumPy": python_version("numpy"),
        "oneDNN": package("libdnnl2"),
        "OpenBLAS": package("libopenblas0-openmp"),
    }
