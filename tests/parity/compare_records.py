#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Compares records word by word: texts must be equal, and numbers as close as the same computation
is on two processors, whose libraries add in different orders.

    compare_records.py FOLDER OTHER-FOLDER    prints what differs; exit status 1
"""
import os
import sys

# Of the number, or of 1 where it is smaller: f64, of sums of some hundred terms.
BOUND = 1e-11


def are_close(a, b):
    try:
        a, b = float(a), float(b)
    except ValueError:
        return False
    return abs(a - b) <= BOUND * max(1, abs(a))


def differences(ours, others):
    if len(ours) != len(others):
        yield 0, "%d lines" % len(ours), "%d lines" % len(others)
        return
    for number, (line, other) in enumerate(zip(ours, others), 1):
        words, other_words = line.split(), other.split()
        if len(words) != len(other_words):
            yield number, line, other
            continue
        for word, other_word in zip(words, other_words):
            if word != other_word and not are_close(word, other_word):
                yield number, word, other_word


def main():
    failed = 0
    folder, other_folder = sys.argv[1:]
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".txt"):
            continue
        with open(os.path.join(folder, name)) as ours:
            with open(os.path.join(other_folder, name)) as others:
                found = list(differences(ours.readlines(), others.readlines()))
        for number, word, other_word in found[:10]:
            print("%s:%d: %s, recorded anew: %s" % (name, number, word.strip(), other_word.strip()))
        print("%s: %d differences" % (name, len(found)))
        failed += len(found) > 0
    return failed > 0


sys.exit(main())
