#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Records what NumPy makes of <tenon/index.h>, beside this file and in the format of
record_layers.py.  index.txt has random terms, the results of which hold in every dtype:

    int shape      of the array, whose elements are 0, 1, 2, ...
    array terms    a row of kind, start, stop, step for each; nan: left out; of an array its number
    int dtypes     of the arrays i0, i1, ...
    array y        the elements; absent where NumPy raises an error
    int mode       of index_put; then y is the array afterwards
    int values     the shape of the values, which are 1 + 3 i % 7

index_functions.txt has the functions:

    int args       what index_functions.c passes on
    int dtypes     of the operands x0, x1, ...; complex ones have their parts as a last axis
    int results    of the results y0, y1, ...
"""
import os
import random

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
DTYPES = {np.dtype(t): i + 1 for i, t in enumerate(
    ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2"])}
DTYPES.update({np.dtype("f4"): 12, np.dtype("f8"): 13, np.dtype("c8"): 14, np.dtype("c16"): 15})
draw = random.Random(20261126)
values = np.random.default_rng(20261126)
nan = float("nan")


class Record:
    def __init__(self, name):
        self.out = open(os.path.join(HERE, name), "w")
        print("# Recorded by record_index.py with NumPy", np.__version__, file=self.out)

    def begin(self, name):
        print("case", name, file=self.out)

    def end(self):
        print("end", file=self.out)

    def ints(self, name, listed):
        print("int", name, len(listed), *listed, file=self.out)

    def array(self, name, a):
        a = np.asarray(a)
        if a.dtype.kind == "c":
            a = np.stack([a.real, a.imag], -1)
        print("array", name, a.ndim, *a.shape, file=self.out)
        flat = a.astype("f8").reshape(-1).tolist()
        for i in range(0, len(flat), 20):
            print("", *("%.17g" % v for v in flat[i:i + 20]), file=self.out)


# ---- Terms --------------------------------------------------------------------------------------


def end_of_slice(n):
    return draw.choice([None, draw.randint(-n - 2, n + 2)])


def index_array(n, common):
    shape = [d if draw.random() < 0.85 else 1 for d in common]
    if draw.random() < 0.04:
        shape = [0]
    dtype = draw.choice(["i8", "i4", "i4", "i1", "u1", "i2", "u4", "u8"])
    if n == 0 and np.prod(shape):
        shape = [0]
    a = values.integers(0 if dtype[0] == "u" else -n, max(n, 1), shape)
    a = np.asarray(a).reshape(shape).astype(dtype)
    if a.size and draw.random() < 0.03:
        a.reshape(-1)[-1] = n
    return a


def terms_for(shape):
    """Terms that mostly fit."""
    terms, axis = [], 0
    common = [draw.randint(1, 3) for _ in range(draw.randint(0, 2))]
    while True:
        r = draw.random()
        if r < 0.1:
            terms.append(None)
        elif r < 0.17 and Ellipsis not in [t for t in terms if not isinstance(t, np.ndarray)]:
            axis += draw.randint(0, len(shape) - axis)
            terms.append(Ellipsis)
        elif r < 0.19:
            terms.append(np.array(draw.random() < 0.7))
        elif axis >= len(shape) or r < 0.24:
            return terms
        elif r < 0.48:
            n = shape[axis]
            terms.append(slice(end_of_slice(n), end_of_slice(n),
                               draw.choice([None, 1, 2, -1, -2, 3])))
            axis += 1
        elif r < 0.58 and shape[axis]:
            n = shape[axis]
            terms.append(draw.randint(-n, n - 1) if draw.random() < 0.97 else n)
            axis += 1
        elif r < 0.84:
            terms.append(index_array(shape[axis], common))
            axis += 1
        else:
            lengths = list(shape[axis:axis + draw.randint(1, 2)])
            if draw.random() < 0.03:
                lengths[0] += 1
            terms.append(values.integers(0, 2, lengths).astype("?"))
            axis += len(lengths)


def row(term, arrays):
    left_out = lambda x: nan if x is None else x
    if isinstance(term, slice):
        return [1, left_out(term.start), left_out(term.stop), left_out(term.step)]
    if term is None:
        return [3, 0, 0, 0]
    if term is Ellipsis:
        return [4, 0, 0, 0]
    if isinstance(term, np.ndarray):
        arrays.append(term)
        return [5, len(arrays) - 1, 0, 0]
    return [2, term, 0, 0]


def write_terms(record, name, a, terms):
    arrays = []
    rows = [row(t, arrays) for t in terms]
    record.begin(name)
    record.ints("shape", a.shape)
    record.array("terms", np.array(rows, "f8").reshape(-1, 4))
    if arrays:
        record.ints("dtypes", [DTYPES[i.dtype] for i in arrays])
    for k, i in enumerate(arrays):
        record.array(f"i{k}", i)


def put(a, terms, v, mode):
    """NumPy 2.4 reads beyond values that ufunc.at broadcasts, so they are broadcast for it."""
    full = np.broadcast_to(v, a[terms].shape).copy()
    if mode == 0:
        a[terms] = v
    else:
        (np.add, np.minimum, np.maximum)[mode - 1].at(a, terms, full)


def put_case(record, a, terms, chosen):
    shape = [d if draw.random() < 0.8 else 1 for d in chosen]
    if shape and draw.random() < 0.3:
        shape = shape[draw.randint(0, len(shape)):]
    mode = draw.randint(0, 3)
    v = (1 + 3 * np.arange(int(np.prod(shape))) % 7).reshape(shape)
    write_terms(record, "index_put", a, terms)
    put(a, terms, v, mode)
    record.ints("mode", [mode])
    record.ints("values", shape if draw.random() < 0.8 or len(shape) > 3 else [1, *shape])
    record.array("y", a)
    record.end()


def indexing():
    record = Record("index.txt")
    n = 0
    while n < 700:
        shape = [draw.randint(1, 4) if draw.random() < 0.95 else 0
                 for _ in range(draw.randint(0, 4))]
        a = np.arange(int(np.prod(shape))).reshape(shape)
        terms = tuple(terms_for(shape))
        try:
            y = a[terms]
        except IndexError:
            y = None
        if a.size > 110 or (y is not None and y.size > 40):
            continue
        n += 1
        if y is not None and n % 5 >= 3:
            put_case(record, a.copy(), terms, y.shape)
            continue
        write_terms(record, "index", a, terms)
        if y is not None:
            record.array("y", y)
        record.end()
    print(n, "cases of terms")


# ---- Functions ----------------------------------------------------------------------------------

EVERY = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
functions = None
n_functions = 0


def case(name, operands, results, args=()):
    global n_functions
    n_functions += 1
    operands = [np.asarray(x) for x in operands]
    results = results if isinstance(results, (list, tuple)) else [results]
    results = [np.asarray(y) for y in results]
    functions.begin(name)
    functions.ints("args", args)
    functions.ints("dtypes", [DTYPES[x.dtype] for x in operands])
    functions.ints("results", [DTYPES[y.dtype] for y in results])
    for i, x in enumerate(operands):
        functions.array(f"x{i}", x)
    for i, y in enumerate(results):
        functions.array(f"y{i}", y)
    functions.end()


def sample(dtype, *shape):
    dtype = np.dtype(dtype)
    a = np.asarray(values.integers(0, 2 if dtype.kind == "b" else 7, shape)) * (
        1 if dtype.kind in ("b", "u") else values.choice([-1, 1], shape))
    a = np.asarray(a).astype(dtype)
    return a + 1j * a[..., ::-1] if dtype.kind == "c" and a.ndim else a


def nonzeros():
    for dtype in EVERY:
        a = sample(dtype, 3, 4)
        case("nonzero", [a], np.nonzero(a))
        case("argwhere", [a], np.argwhere(a))
        case("flatnonzero", [a], np.flatnonzero(a))
    for a in (np.zeros((2, 0, 3)), np.zeros(4, "i4"), np.ones((1, 1, 5), "?"),
              np.array([0.0, nan, -0.0, np.inf])):
        case("nonzero", [a], np.nonzero(a))
        case("argwhere", [a], np.argwhere(a))
    for a in (np.array(3), np.array(0.0)):
        case("argwhere", [a], np.argwhere(a))
        case("flatnonzero", [a], np.flatnonzero(a))


def numbers():
    for dtype in ("i1", "u1", "i4", "i8", "u8"):
        for shape in ((3, 4), (24,), (2, 3, 4), (1, 1, 30, 1)):
            x = values.integers(0, int(np.prod(shape)), (2, 3)).astype(dtype)
            case("unravel_index", [x], np.unravel_index(x, shape), shape)
            places = np.unravel_index(x, shape)
            case("ravel_multi_index", [p.astype(dtype) for p in places],
                 np.ravel_multi_index(places, shape), (*shape, *[0] * len(shape)))
    case("unravel_index", [np.array(7)], np.unravel_index(7, (3, 4)), (3, 4))
    case("unravel_index", [np.zeros((0, 2), "i8")],
         np.unravel_index(np.zeros((0, 2), "i8"), (3, 4)), (3, 4))
    x, y = np.array([-7, -1, 0, 2, 3, 9]), np.array([[8], [-5], [1]])
    for modes in ((1, 2), (2, 1), (1, 1), (2, 2)):
        named = tuple(("raise", "wrap", "clip")[m] for m in modes)
        case("ravel_multi_index", [x, y], np.ravel_multi_index((x, y), (3, 4), named),
             (3, 4, *modes))
    for lines in (([2, 0], [1, 3, 3]), ([True, False, True], [0]), ([4],),
                  ([0, 1], [False, False], [2, 2])):
        lines = [np.array(line) for line in lines]
        case("ix", lines, np.ix_(*lines))
    for n, rank in ((3, 2), (4, 1), (0, 3), (2, 4)):
        case("diag_indices", [], np.diag_indices(n, rank), (n, rank))
    for n, k, m in ((3, 0, 3), (4, 1, 2), (2, -1, 5), (3, -9, 3), (3, 9, 2), (0, 0, 4), (1, 0, 1)):
        case("tril_indices", [], np.tril_indices(n, k, m), (n, k, m))
        case("triu_indices", [], np.triu_indices(n, k, m), (n, k, m))


NO_AXIS = -(1 << 31)
BOUNDS = ("raise", "wrap", "clip")


def chosen():
    places = np.array([[0, 2, -1], [1, 1, -3]])
    far = np.array([-9, -4, -1, 0, 3, 5, 17])
    for dtype in EVERY:
        a = sample(dtype, 4, 3)
        case("take", [a, places], np.take(a, places, 1), (1, 0))
        case("take", [a, far.astype("i1")], np.take(a, far, 0, mode="wrap"), (0, 1))
        case("take", [a, far], np.take(a, far, mode="clip"), (NO_AXIS, 2))
        c = np.array([1, 0, 1], "i4")
        case("compress", [c, a], np.compress(c, a, 0), (0,))
        case("compress", [c > 0, a], np.compress(c, a, -1), (-1,))
        case("compress", [c.astype(dtype), a], np.compress(c, a), (NO_AXIS,))
        case("extract", [a != 0, a], np.extract(a != 0, a))
        case("extract", [a[:2, :2], a.T], np.extract(a[:2, :2], a.T))
        i = np.array([[2, 0, 1], [0, 1, 2]], "u1")
        choices = [sample(dtype, 3), sample("i2", 2, 1), sample("f4", 1)]
        case("choose", [i, *choices], np.choose(i, choices), (0,))
        case("choose", [far.astype("i2"), *choices[1:]],
             np.choose(far, choices[1:], mode="wrap"), (1,))
        case("choose", [far, choices[0][0], choices[0][1]],
             np.choose(far, [choices[0][0], choices[0][1]], mode="clip"), (2,))
        select([np.array([True, False, False]), np.array([[True], [False]])], a)
    case("take", [np.zeros((0, 2)), np.zeros(0, "i8")], np.zeros((0, 2)), (0, 2))


def select(conditions, a):
    second, otherwise = sample("i4", 3), sample("f4", 1)
    case("select", [*conditions, a[:2], second], np.select(conditions, [a[:2], second]), (2,))
    case("select", [*conditions, a[:2], second, otherwise],
         np.select(conditions, [a[:2], second], otherwise), (2,))


def written(function, a, *rest, **named):
    a = a.copy()
    function(a, *rest, **named)
    return a


def puts():
    far = np.array([[-9, -4, -1, 0], [3, 0, 5, 17]])
    for dtype in EVERY:
        a = sample(dtype, 3, 4)
        v = sample(dtype, 3)
        case("put", [a, np.array([5, -1, 5, 0]), v], written(np.put, a, [5, -1, 5, 0], v), (0,))
        case("put", [a, far, v], written(np.put, a, far, v, mode="wrap"), (1,))
        case("put", [a, far.astype("i4"), np.float32(2.5)],
             written(np.put, a, far, np.float32(2.5), mode="clip"), (2,))
        i = np.array([[0, 3], [-1, 1], [2, 2]])
        along(a, i, sample(dtype, 3, 2), 1)
        along(a, np.array([[0, -1, 2, 1]], "i4"), sample(dtype, 1), 0)
        mask = a != 0
        mask[0, 0] = True
        case("place", [a, mask, v], written(np.place, a, mask, v))
        case("putmask", [a, mask, v], written(np.putmask, a, mask, v))
        case("putmask", [a, a, v[:0]], written(np.putmask, a, a, v[:0]))
        case("copyto", [a, v[0]], written(np.copyto, a, v[0]))
        copies(a, dtype, mask)
        for wrap in (0, 1):
            for b in (a, sample(dtype, 7, 2), sample(dtype, 2, 2, 2), sample(dtype, 5, 1)):
                case("fill_diagonal", [b, v[:2]], written(np.fill_diagonal, b, v[:2], bool(wrap)),
                     (wrap,))
    empty = np.zeros((0, 3))
    case("put", [empty, np.zeros(0, "i8"), np.ones(2)], empty, (0,))
    case("put", [np.ones(3), np.array([1, 7]), np.zeros(0)], np.ones(3), (1,))
    case("place", [np.ones(3), np.zeros(3, "?"), np.zeros(0)], np.ones(3))
    case("fill_diagonal", [empty, np.ones(1)], empty, (1,))


def along(a, i, v, axis):
    case("put_along_axis", [a, i, v], written(np.put_along_axis, a, i, v, axis), (axis,))


def copies(a, dtype, mask):
    v = sample(dtype, 1, 3, 1)
    case("copyto", [a, v, mask[0]], written(np.copyto, a, v, where=mask[0]))


def main():
    global functions
    indexing()
    functions = Record("index_functions.txt")
    nonzeros()
    numbers()
    chosen()
    puts()
    print(n_functions, "cases of functions")


if __name__ == "__main__":
    main()
