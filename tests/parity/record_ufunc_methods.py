#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Records what NumPy makes of calls with out, where, casting and dtype, and of reduce, accumulate,
outer and at, in ufunc_methods.txt beside this file, in the format of record_layers.py:

    case add.reduce         a function and a method
    int dtype n ...         the dtypes of the arrays that the case names, in that order: x, y, z
    int result n dtype      of the result r; 0: NumPy raises an error
    int axes n ...          as in record_statistics.py
    int asked n dtype       the option dtype; 0: none
    int casting n rule      the position of the rule in CASTING
    int out n dtype         of an array of ones for the result; 0: none
    array x, y              operands
    array where             the mask
    array initial           a number
    array indices           of at
    array r                 the result

The case can_cast has, for each rule, a matrix of dtypes."""
import os
import warnings

import numpy as np

warnings.simplefilter("ignore")
HERE = os.path.dirname(os.path.abspath(__file__))
DTYPES = {np.dtype(t): i + 1 for i, t in enumerate(
    ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2"])}
DTYPES.update({np.dtype("f4"): 12, np.dtype("f8"): 13, np.dtype("c8"): 14, np.dtype("c16"): 15})
CASTING = ["same_kind", "no", "equiv", "safe", "unsafe"]
BINARY = """add subtract multiply divide power maximum minimum equal not_equal less less_equal
    greater greater_equal floor_divide remainder fmod fmax fmin hypot logaddexp logaddexp2 arctan2
    copysign heaviside float_power logical_and logical_or logical_xor bitwise_and bitwise_or
    bitwise_xor left_shift right_shift""".split()
# Of complex numbers, which have no order in Tenon.
NOT_COMPLEX = "maximum minimum fmax fmin less float_power sign".split()
MAIN = ["?", "i1", "u4", "f8", "c8"]
random = np.random.default_rng(20261127)


def parts(a):
    return np.stack([a.real, a.imag], -1) if a.dtype.kind == "c" else a


def sample(dtype, *shape, has_sign=False):
    """Small numbers that are exact in every dtype; none is 0, but in bool."""
    kind = np.dtype(dtype).kind
    a = random.integers(0 if kind == "b" else 1, 2 if kind == "b" else 4, shape)
    if has_sign and kind in "ifc":
        a = a * random.choice([-1, 1], shape)
    if kind in "fc":
        a = a * 0.75
    if kind == "c":
        a = a + 0.5j
    return np.asarray(a).astype(dtype)


def is_signed(name):
    return name not in ("power", "float_power", "left_shift", "right_shift")


class Record:
    def __init__(self, out):
        self.out = out
        self.n_cases = 0

    def array(self, name, a):
        a = parts(np.asarray(a))
        flat = a.astype("f8").reshape(-1).tolist()
        print("array", name, a.ndim, *a.shape, file=self.out)
        for i in range(0, len(flat), 8):
            print(" ", *("%.17g" % v for v in flat[i:i + 8]), file=self.out)

    def case(self, name, operands, f, ints=None, **arrays):
        """Calls f, or records that it raises an error."""
        try:
            result = np.asarray(f())
        except (TypeError, ValueError):
            result = None
        if result is not None and name.split(".")[0] in NOT_COMPLEX and any(
                o.dtype.kind == "c" for o in operands):
            return
        # Of an f16 of bool or 8-bit integers, which NumPy has, Tenon has an f32.
        asked = [(ints or {}).get(key) for key in ("asked", "out")]
        if result is not None and result.dtype == "f2" and 10 not in asked and all(
                o.dtype.kind in "biu" for o in operands):
            return
        self.n_cases += 1
        print("case", name, file=self.out)
        print("int dtype", len(operands), *(DTYPES[a.dtype] for a in operands), file=self.out)
        print("int result 1", 0 if result is None else DTYPES[result.dtype], file=self.out)
        for key, value in (ints or {}).items():
            value = value if isinstance(value, list) else [value]
            print("int", key, len(value), *value, file=self.out)
        for key, a in zip("xyz", operands):
            self.array(key, a)
        for key, a in arrays.items():
            self.array(key, a)
        if result is not None:
            self.array("r", result)
        print("end", file=self.out)


def axes_of(axis):
    if axis is None:
        return {"axes": [-1]}
    listed = axis if isinstance(axis, tuple) else (axis,)
    return {"axes": [len(listed), *listed]}


def reductions(record, name):
    f = getattr(np, name)
    for dtype in MAIN:
        x = sample(dtype, 3, 2, has_sign=is_signed(name))
        record.case(name + ".reduce", [x], lambda: f.reduce(x, 0), axes_of(0))
    for dtype in ("i2",):
        x = sample(dtype, 2, 3, 2, has_sign=is_signed(name))
        for axis in (None, (2, 0), (), -1):
            keep = axis in (None, -1)
            record.case(name + ".reduce", [x], lambda: f.reduce(x, axis, keepdims=keep),
                        {**axes_of(axis), "keepdims": int(keep)})
    x, where = sample("f4", 2, 3), random.integers(0, 2, (2, 3)).astype("?")
    initial = 2 if name != "heaviside" else 0
    # NumPy 2.4.6 reduces with these along a contiguous axis to f(initial, last).
    wrong = {"power": ("f4",), "float_power": ("f4", "i4"), "arctan2": ("f4", "i4")}
    for dtype in ("f4", "i4"):
        if dtype in wrong.get(name, ()):
            continue
        y, none = x.astype(dtype), np.zeros((2, 0), dtype)
        record.case(name + ".reduce", [y], lambda: f.reduce(y, 1, where=where), axes_of(1),
                    where=where)
        record.case(name + ".reduce", [y], lambda: f.reduce(y, 1, initial=initial), axes_of(1),
                    initial=initial)
        record.case(name + ".reduce", [y], lambda: f.reduce(y, 1, initial=initial, where=where[0]),
                    axes_of(1), initial=initial, where=where[0])
        record.case(name + ".reduce", [none], lambda: f.reduce(none, 1), axes_of(1))
        record.case(name + ".reduce", [none], lambda: f.reduce(none, 1, initial=initial),
                    axes_of(1), initial=initial)


def asked_dtypes(record):
    for name in ("add", "multiply", "maximum", "divide", "bitwise_or", "hypot", "logical_or"):
        f = getattr(np, name)
        for dtype in ("i4", "f8"):
            x = sample(dtype, 2, 3)
            for asked in ("?", "i1", "u8", "f4"):
                record.case(name + ".reduce", [x], lambda: f.reduce(x, 1, dtype=asked),
                            {**axes_of(1), "asked": DTYPES[np.dtype(asked)]})
                record.case(name + ".accumulate", [x], lambda: f.accumulate(x, 1, dtype=asked),
                            {**axes_of(1), "asked": DTYPES[np.dtype(asked)]})


def accumulations(record, name):
    f = getattr(np, name)
    for dtype in ("?", "i1", "f8", "c8"):
        x = sample(dtype, 5, 2, has_sign=is_signed(name))
        record.case(name + ".accumulate", [x], lambda: f.accumulate(x, 0), axes_of(0))
    for shape, axis in (((2, 6), -1), ((2, 1), 1), ((0, 3), 0), ((3, 0), 0)):
        x = sample("f4", *shape, has_sign=is_signed(name))
        record.case(name + ".accumulate", [x], lambda: f.accumulate(x, axis), axes_of(axis))


def outers(record, name):
    f = getattr(np, name)
    for one, two in (("f4", "f4"), ("i4", "f4"), ("?", "i1"), ("u4", "i4"), ("c8", "f8")):
        x, y = sample(one, 2, 3), sample(two, 2)
        record.case(name + ".outer", [x, y], lambda: f.outer(x, y))


def at(record, name):
    f = getattr(np, name)
    indices = np.array([0, 2, -1, 2, 2, 0])

    def changed(x, *b):
        # NumPy ignores the rule of casting where it has a loop of its own for at.
        if not np.can_cast(f(x[:1], *(c[:1] for c in b)).dtype, x.dtype, "same_kind"):
            raise TypeError
        a = x.copy()
        f.at(a, indices, *b)
        return a

    for dtype in ("?", "i1", "i8", "f4", "f8", "c8"):
        for shape in ((4,), (3, 2)):
            x = sample(dtype, *shape, has_sign=is_signed(name))
            b = [sample(dtype, 6, *shape[1:], has_sign=is_signed(name))] if f.nin == 2 else []
            if shape == (4,) or dtype == "f4":
                record.case(name + ".at", [x, *b], lambda: changed(x, *b), indices=indices)
    if f.nin == 2:
        for one, two in (("f4", "f8"), ("i1", "i4"), ("i4", "f4"), ("f8", "i4"), ("f4", "i1")):
            x, b = sample(one, 4), sample(two, 1)
            record.case(name + ".at", [x, b], lambda: changed(x, b), indices=indices)


def calls(record):
    where = np.array([[True], [False]])

    def run(f, x, out, **options):
        if out:
            options["out"] = np.ones((2, 3), out)
        return f(*x, **options)

    for name, n in (("add", 2), ("less", 2), ("sqrt", 1)):
        f = getattr(np, name)
        # A square root of c8 in a wider dtype has the error of the narrow one.
        for dtype in ("i4", "f4") if name == "sqrt" else ("i4", "f4", "c8"):
            x = [sample(dtype, 3) for _ in range(n)]
            for out in ("?", "u1", "i4", "f2", "f8", "c8"):
                for rule, casting in enumerate(CASTING):
                    record.case(name + ".call", x, lambda: run(f, x, out, casting=casting),
                                {"casting": rule, "out": DTYPES[np.dtype(out)]})
            for out in ("f8", "c16"):
                record.case(name + ".call", x, lambda: run(f, x, out, where=where),
                            {"out": DTYPES[np.dtype(out)]}, where=where)
            for asked in ("?", "i4", "f8", "c16"):
                for rule, casting in enumerate(CASTING):
                    record.case(name + ".call", x, lambda: run(f, x, None, casting=casting,
                                                               dtype=asked),
                                {"casting": rule, "asked": DTYPES[np.dtype(asked)]})
    x = [sample("i4", 3), sample("f4", 2, 3)]
    for rule, casting in enumerate(CASTING):
        record.case("multiply.call", x, lambda: np.multiply(*x, casting=casting),
                    {"casting": rule})


def casts(record):
    dtypes = sorted(DTYPES, key=DTYPES.get)
    print("case can_cast", file=record.out)
    print("int dtype", len(dtypes), *(DTYPES[t] for t in dtypes), file=record.out)
    for casting in CASTING:
        record.array(casting, np.array([[np.can_cast(a, b, casting) for b in dtypes]
                                        for a in dtypes]))
    print("end", file=record.out)
    record.n_cases += 1


def main():
    with open(os.path.join(HERE, "ufunc_methods.txt"), "w", encoding="ascii") as out:
        record = Record(out)
        casts(record)
        for name in BINARY:
            reductions(record, name)
            accumulations(record, name)
        asked_dtypes(record)
        for name in ("add", "less", "power", "hypot", "bitwise_and"):
            outers(record, name)
        for name in ("add", "subtract", "multiply", "divide", "maximum", "fmin", "hypot", "power",
                     "logical_and", "bitwise_xor", "left_shift", "less", "negative", "square"):
            at(record, name)
        calls(record)
        print(record.n_cases, "cases with NumPy", np.__version__)


if __name__ == "__main__":
    main()
