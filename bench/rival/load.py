# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Whether the machine worked for others while it was measured.  Such a run is marked, for it
flatters Tenon: OpenMP's threads, with which the rivals compute, wait for each other at every
loop."""
import os
import statistics
import time

WATCHED = 0.3         # seconds
MOST_OTHERS = 0.25    # processors, in the median
LEAST_OF_PEAK = 0.85  # the median of a peak of arithmetic, of its best


def busy_seconds():
    """Processor time of all programs since the start of the machine, what its host took for others
    included."""
    with open("/proc/stat", encoding="ascii") as stat:
        ticks = [int(field) for field in stat.readline().split()[1:9]]
    idle, waiting = 3, 4
    return (sum(ticks) - ticks[idle] - ticks[waiting]) / os.sysconf("SC_CLK_TCK")


def others():
    """How many processors others keep busy, while nothing that is measured runs."""
    busy, start = busy_seconds(), time.monotonic()
    time.sleep(WATCHED)
    return (busy_seconds() - busy) / (time.monotonic() - start)


def doubts(others_busy, peaks):
    """What speaks against a run, as sentences; `peaks`: values by (name, unit)."""
    found = []
    if others_busy and statistics.median(others_busy) > MOST_OTHERS:
        found.append("others kept %.1f processors busy (at most %.1f) "
                     "while nothing was measured" % (
            statistics.median(others_busy), max(others_busy)))
    for (name, unit), values in peaks.items():
        part = statistics.median(values) / max(values)
        if unit == "GFLOP/s" and part < LEAST_OF_PEAK:
            found.append("%s: the median is %.0f %% of the best" % (name, 100 * part))
    return found
