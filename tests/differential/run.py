#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Random calls of every function on arrays beside NumPy.

A call is its function and a seed.  A failure prints both, as the options that run it again:

    build/tests/with-plugins python tests/differential/run.py --backend cpu --function take --seed 7

The calls are made in a child, so that the one in which the library crashes, or does not end, is
known."""
import argparse
import collections
import mmap
import os
import signal
import sys
import time
import traceback
import warnings

import numpy as np
from calls import Call
from compare import Expected, Mismatch, compare
from counterparts import functions
from departures import departure
from draws import DRAWS
from prototypes import Library, TenonError, prototypes

CALL_SECONDS = 60
# Statuses by which a call is refused; others are failures of the library.
NAMED = {"INVALID_ARGUMENT", "SHAPE", "DTYPE", "LIMIT", "NOT_EQUAL", "SINGULAR", "NOT_FINITE"}


def one_call(library, prototype, counterpart, seed):
    """Makes a call on both sides; raises a Mismatch, or returns the reason of a departure."""
    call = Call(prototype, seed, DRAWS.get(prototype.name))
    try:
        expected = Expected(call, counterpart)
        found = error = None
        library.call("scope_begin", library.context)
        try:
            found = call.run(library)
        except TenonError as failure:
            error = failure
        finally:
            library.function("scope_end")(library.context, None)
        return outcome(library, expected, found, error)
    except Mismatch as mismatch:
        raise Mismatch(f"{mismatch}\n{call}") from None


def outcome(library, expected, found, error):
    if error and library.status_name(error.status) not in NAMED:
        raise Mismatch(f"failed: {error}")
    if error and expected.error:
        return None
    try:
        if error:
            raise Mismatch(f"an error, where NumPy has none: {error}")
        if expected.error:
            raise Mismatch(f"no error, where NumPy raises: {expected.error!r}")
        compare(expected, found)
    except Mismatch:
        reason = departure(expected, found, error and library.status_name(error.status))
        if reason is None:
            raise
        return reason
    return None


# ---- Many calls ---------------------------------------------------------------------------------

class Tally:
    def __init__(self):
        self.calls = 0
        self.functions = set()
        self.departures = collections.Counter()
        self.failed = collections.Counter()


def make_calls(options, chosen, progress):
    """In the child.  True: all agree."""
    library, tally = Library(options.backend + "!"), Tally()
    names, end = list(chosen), time.monotonic() + options.seconds
    seed = options.seed
    while True:
        for i in np.random.default_rng(seed).permutation(len(names)):
            name = names[i]
            progress[:] = name.encode().ljust(64) + seed.to_bytes(8, "little")
            signal.alarm(CALL_SECONDS)
            try_call(options, library, name, chosen[name], seed, tally)
            if options.seconds and time.monotonic() > end:
                break
        seed += 1
        if time.monotonic() > end or tally.failed.total() >= options.failures:
            break
    signal.alarm(0)
    print_tally(tally, options, len(chosen))
    return not tally.failed


def try_call(options, library, name, counterpart, seed, tally):
    tally.calls += 1
    tally.functions.add(name)
    try:
        reason = one_call(library, library.prototypes[name], counterpart, seed)
        if reason:
            tally.departures[reason] += 1
    except Exception as failure:  # a Mismatch, or a fault of this test
        tally.failed[name] += 1
        if tally.failed[name] <= options.each:
            text = failure if isinstance(failure, Mismatch) else traceback.format_exc()
            print(f"{text}\n  again: --backend {options.backend} --function {name} "
                  f"--seed {seed}\n", flush=True)


def print_tally(tally, options, n_functions):
    print(f"{options.backend}: {tally.calls} calls of {len(tally.functions)} of {n_functions} "
          f"functions, {tally.failed.total()} differ, {tally.departures.total()} depart as "
          "documented")
    if options.verbose:
        for reason, n in tally.departures.most_common():
            print(f"  {n:6} {reason}")
    for name, n in tally.failed.most_common():
        print(f"  {n:6} failed: {name}")
    sys.stdout.flush()


def run(options, chosen):
    """The exit status: that of the child, or 1 with the call in which it ended."""
    progress = mmap.mmap(-1, 72)
    child = os.fork()
    if not child:
        np.seterr(all="ignore")
        warnings.simplefilter("ignore")
        try:
            os._exit(0 if make_calls(options, chosen, progress) else 1)
        except TenonError as error:  # there is no such backend
            print(error, flush=True)
            os._exit(77)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status) or os.WEXITSTATUS(status) not in (0, 1, 77):
        name, seed = progress[:64].decode().strip(), int.from_bytes(progress[64:], "little")
        how = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else status
        print(f"ended by {how}\n  again: --backend {options.backend} --function {name} "
              f"--seed {seed}")
        return 1
    return os.WEXITSTATUS(status)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--function", action="append", help="this one alone; may be repeated")
    parser.add_argument("--seed", type=int, help="of the first calls; default: another each time")
    parser.add_argument("--seconds", type=float, default=0, help="default: each function once")
    parser.add_argument("--failures", type=int, default=10**6, help="end after so many")
    parser.add_argument("--each", type=int, default=1, help="failures to print of a function")
    parser.add_argument("--verbose", action="store_true", help="count departures by their reasons")
    options = parser.parse_args()
    if options.seed is None:
        options.seed = time.time_ns() % 2**32 << 20
    return options


def main():
    options = arguments()
    table = functions(prototypes())
    chosen = {name: f for name, f in table.items() if f}
    if options.function:
        chosen = {name: chosen[name] for name in options.function}
    return run(options, chosen)


if __name__ == "__main__":
    sys.exit(main())
