#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Records what NumPy makes of each function of <tenon/manipulate.h>, in manipulate.txt beside this
file, in the format of record_layers.py.  A case has

  args     the integers that manipulate.c passes on
  numbers  the floating ones
  x0 ...   the inputs, y0 ... the results
  dtype    of the inputs, or of the one that is made, and of the results; absent where elements only
           move: then the results are those numbers in every dtype
  imaginary  the imaginary parts of complex results: 0 times the real ones, or -1: not compared;
           absent: twice the real ones, as in the inputs
"""
import os

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
DTYPES = {"bool": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "uint8": 6, "uint16": 7,
          "uint32": 8, "uint64": 9, "float16": 10, "float32": 12, "float64": 13, "complex64": 14,
          "complex128": 15}
out = []


def ints(name, values):
    out.append(f"int {name} {len(values)} " + " ".join(str(int(v)) for v in values))


def array(name, values):
    values = np.asarray(values)
    out.append(f"array {name} {values.ndim} " + " ".join(map(str, values.shape)))
    numbers = [f"{float(v):.17g}" for v in values.ravel()]
    for i in range(0, len(numbers), 12):
        out.append("  " + " ".join(numbers[i:i + 12]))


def case(name, args, inputs, results, numbers=(), moves=True, imaginary=None):
    results = results if isinstance(results, (list, tuple)) else [results]
    out.append(f"case {name}")
    if len(args):
        ints("args", args)
    if len(numbers):
        array("numbers", np.array(numbers, dtype=float))
    if not moves:
        given = inputs[0] if inputs else results[0]
        ints("dtype", [DTYPES[given.dtype.name], DTYPES[results[0].dtype.name]])
    if imaginary is not None:
        ints("imaginary", [imaginary])
    for i, x in enumerate(inputs):
        array(f"x{i}", x)
    for i, y in enumerate(results):
        array(f"y{i}", y)
    out.append("end")


def x(*shape):
    """Small whole numbers of both signs, in f64."""
    return (np.arange(int(np.prod(shape)), dtype=float) * 7 % 11 - 3).reshape(shape)


def p(*shape):
    """The same above 0, which every dtype has."""
    return np.abs(x(*shape)) + 1


def making():
    for rows, columns, k in ((3, 3, 0), (2, 4, 1), (4, 2, -2), (2, 3, 9), (0, 3, 0)):
        case("eye", (rows, columns, k), [], np.eye(rows, columns, k), imaginary=0)
        case("tri", (rows, columns, k), [], np.tri(rows, columns, k), imaginary=0)
    case("identity", (3,), [], np.identity(3), imaginary=0)
    for dtype in ("float64", "float32", "float16", "int32", "int64", "uint8"):
        for start, stop, num, endpoint in ((0, 10, 7, 1), (2, 3, 5, 0), (9, 2, 4, 1), (5, 6, 1, 1),
                                           (1, 2, 0, 1), (3, 3, 3, 1)):
            case("linspace", (num, endpoint), [],
                 np.linspace(start, stop, num, bool(endpoint), dtype=dtype), (start, stop),
                 moves=False)
    case("linspace", (6, 1), [], np.linspace(-3, 2.5, 6, dtype=int), (-3, 2.5), moves=False)
    # Elements that a fused multiply-add would round otherwise: 0 in f32, and a floor.
    case("linspace", (42, 0), [], np.linspace(1, -2, 42, False, dtype="float32"), (1, -2),
         moves=False)
    case("linspace", (53, 1), [], np.linspace(7, -5, 53, dtype="int64"), (7, -5), moves=False)
    for dtype in ("float64", "float32", "int64"):
        case("logspace", (4, 1), [], np.logspace(0, 3, 4, dtype=dtype), (0, 3, 10), moves=False)
        case("logspace", (5, 0), [], np.logspace(-1, 4, 5, False, 2.5, dtype), (-1, 4, 2.5),
             moves=False)
        for start, stop, num, endpoint in ((1, 1000, 4, 1), (1, 256, 5, 0), (256, 2, 3, 1),
                                           (3, 4, 1, 1), (3, 4, 0, 1)):
            case("geomspace", (num, endpoint), [],
                 np.geomspace(start, stop, num, bool(endpoint), dtype=dtype), (start, stop),
                 moves=False)
    case("geomspace", (3, 1), [], np.geomspace(-1, -100, 3), (-1, -100), moves=False)
    for shape in ((2, 3), (4,), (2, 0, 3), ()):
        case("indices", shape, [], np.indices(shape), imaginary=0)
    for name in ("empty_like", "zeros_like", "ones_like"):
        for shape in ((2, 3), (), (0, 2)):
            full = np.ones(shape) if name == "ones_like" else np.zeros(shape)
            case(name, (), [x(*shape)], full, imaginary=0)
    case("full_like", (), [x(2, 3)], np.full_like(x(2, 3), 5), (5,), imaginary=0)
    for indexing in ("xy", "ij"):
        for lengths in ((3,), (2, 3), (2, 3, 1), (2, 0)):
            lines = [p(n) for n in lengths]
            case("meshgrid", (indexing == "ij",), lines, np.meshgrid(*lines, indexing=indexing))
    case("meshgrid", (1,), [p(), p(2)], np.meshgrid(p(), p(2), indexing="ij"))


def diagonals():
    for shape, offset, axis1, axis2 in (((3, 4), 0, 0, 1), ((3, 4), 2, 0, 1), ((3, 4), -1, 0, 1),
                                        ((3, 4), 9, 0, 1), ((2, 3, 4), 1, 0, 2),
                                        ((2, 3, 4), -1, -1, 0), ((0, 3), 0, 0, 1)):
        case("diagonal", (offset, axis1, axis2), [p(*shape)],
             np.diagonal(p(*shape), offset, axis1, axis2))
    for shape in ((3,), (3, 4), (0,)):
        for k in (0, 1, -2):
            case("diag", (k,), [p(*shape)], np.diag(p(*shape), k))
    for shape in ((3, 4), (2, 3, 2), (3,), (0, 2)):
        for k in (0, 1, -1, 9):
            case("tril", (k,), [p(*shape)], np.tril(p(*shape), k))
            case("triu", (k,), [p(*shape)], np.triu(p(*shape), k))
    for dtype in ("float64", "float32", "int32", "uint8", "bool"):
        case("vander", (3, 0), [x(4).astype(dtype)], np.vander(x(4).astype(dtype), 3), moves=False)
    case("vander", (4, 1), [x(3)], np.vander(x(3), 4, True), moves=False)
    case("vander", (0, 1), [x(3)], np.vander(x(3), 0, True), moves=False)
    case("vander", (2, 0), [x(0)], np.vander(x(0), 2), moves=False)


def joining():
    for shape, axis in (((2, 3), 0), ((2, 3), 1), ((2, 3), -1), ((), 0), ((0, 2), 1)):
        both = [p(*shape), p(*shape) + 1]
        case("stack", (axis,), both, np.stack(both, axis))
    for a, b, axis in ((p(2, 3), p(1, 3), 0), (p(2, 3), p(2, 2), -1), (p(0, 2), p(1, 2), 0)):
        case("append", (axis,), [a, b], np.append(a, b, axis))
    case("append", (), [p(2, 3), p()], np.append(p(2, 3), p()))
    for shape, axis in (((2, 3), 0), ((2, 3), -1), ((3,), 0)):
        case("unstack", (axis,), [p(*shape)], list(np.unstack(p(*shape), axis=axis)))
    for shape, n, axis in (((6,), 3, 0), ((2, 4), 2, 1), ((4, 2), 4, 0), ((0, 2), 2, 0)):
        case("split", (axis, n), [p(*shape)], np.split(p(*shape), n, axis))
    for shape, n, axis in (((7,), 3, 0), ((2, 5), 2, -1), ((2,), 4, 0)):
        case("array_split", (axis, n), [p(*shape)], np.array_split(p(*shape), n, axis))
    for indices in ((2, 4), (3,), (-2,), (4, 2), (0, 9), ()):
        case("split_at", (0, *indices), [p(6)], np.split(p(6), list(indices)))


def repeating():
    for shape, n in (((3,), (2,)), ((2, 3), (2, 3)), ((2, 3), (2,)), ((3,), (2, 2)), ((), (2, 3)),
                     ((2, 3), ()), ((2, 3), (1, 1)), ((2, 3), (0, 2)), ((2, 1, 3), (2, 1, 3)),
                     ((0, 2), (2, 2))):
        case("tile", n, [p(*shape)], np.tile(p(*shape), n))
    for shape, repeats, axis in (((2, 3), (2,), 0), ((2, 3), (3,), 1), ((2, 3), (0,), 1),
                                 ((2, 3), (2, 0, 1), -1), ((2, 3), (0, 0), 0), ((0, 2), (2,), 0)):
        case("repeat", (axis, *repeats), [p(*shape)],
             np.repeat(p(*shape), repeats if len(repeats) > 1 else repeats[0], axis))
    case("repeat_flat", (2,), [p(2, 2)], np.repeat(p(2, 2), 2))
    case("repeat_flat", (1, 2, 0, 3), [p(2, 2)], np.repeat(p(2, 2), [1, 2, 0, 3]))
    for shape, indices, axis in (((5,), (1,), 0), ((3, 4), (0, -1, 0), 1), ((3, 2), (), 0),
                                 ((3, 2), (0, 1, 2), 0)):
        case("delete", (axis, *indices), [p(*shape)],
             np.delete(p(*shape), np.array(indices, dtype=int), axis))
    case("delete_flat", (1, -2), [p(2, 3)], np.delete(p(2, 3), [1, -2]))
    for shape, indices, values, axis in (
            ((4,), (1,), p(), 0), ((4,), (4,), p(2), 0), ((4,), (2, 2, 0), p(3) + 5, 0),
            ((3, 2), (1,), p(2) + 5, 0), ((3, 2), (-1,), p(2, 2) + 5, 0),
            ((2, 3), (0, 3), p(2, 2) + 5, 1), ((2, 3), (0, -1), p(2, 1) + 5, 1),
            ((2, 3), (), p(0), 1), ((0,), (0,), p(2), 0)):
        case("insert", (axis, *indices), [p(*shape), values],
             np.insert(p(*shape), np.array(indices, dtype=int), values, axis))
    case("insert_flat", (1, 3), [p(2, 2), p(2) + 5], np.insert(p(2, 2), [1, 3], p(2) + 5))


def moving():
    for shape, source, to in (((2, 3, 4), (0,), (2,)), ((2, 3, 4), (-1, 0), (0, 1)),
                              ((2, 3), (0, 1), (1, 0)), ((2, 3), (), ())):
        case("moveaxis", (*source, *to), [p(*shape)], np.moveaxis(p(*shape), source, to))
    for shape, axis1, axis2 in (((2, 3, 4), 0, 2), ((2, 3), -1, -1), ((2, 0), 0, 1)):
        case("swapaxes", (axis1, axis2), [p(*shape)], np.swapaxes(p(*shape), axis1, axis2))
    for name in ("atleast_1d", "atleast_2d", "atleast_3d"):
        for shape in ((), (2,), (2, 3), (2, 1, 2), (0,)):
            case(name, (), [p(*shape)], getattr(np, name)(p(*shape)))
    for shape, axes in (((4,), (0,)), ((2, 3), (0,)), ((2, 3), (1, 0)), ((2, 3), ()),
                        ((0, 2), (1,))):
        case("flip", axes, [p(*shape)], np.flip(p(*shape), axes))
    for shape in ((2, 3), (), (2, 1, 3)):
        case("flip_all", (), [p(*shape)], np.flip(p(*shape)))
    for k in (0, 1, 2, 3, -1, 6):
        case("rot90", (k, 0, 1), [p(2, 3)], np.rot90(p(2, 3), k))
    case("rot90", (1, 2, -3), [p(2, 3, 2)], np.rot90(p(2, 3, 2), 1, (2, -3)))
    for shape, shifts, axes in (((5,), (2,), (0,)), ((2, 3), (-1,), (1,)), ((2, 3), (1, 2), (0, 1)),
                                ((5,), (12,), (0,)), ((5,), (1, 3), (0, 0)), ((5,), (0,), (0,)),
                                ((0, 2), (1,), (0,)), ((2, 3), (), ())):
        case("roll", (*shifts, *axes), [p(*shape)], np.roll(p(*shape), shifts, axes))
    for shape, shift in (((2, 3), 2), ((2, 3), -1), ((), 1)):
        case("roll_flat", (shift,), [p(*shape)], np.roll(p(*shape), shift))


MODES = ("constant", "edge", "reflect", "symmetric", "wrap", "linear_ramp", "maximum", "minimum",
         "mean", "median", "empty")


def padding():
    for mode, name in enumerate(MODES[:5]):
        for shape, widths in (((3,), (1, 2)), ((2, 3), (1, 0, 0, 2)), ((3,), (7, 8)),
                              ((1,), (2, 3)), ((2, 3), (3, 4, 5, 1)), ((2, 0), (0, 1, 0, 0)),
                              ((2,), (0, 0))):
            pairs = np.array(widths, dtype=int).reshape(-1, 2)
            case("pad", (mode, *widths), [p(*shape)], np.pad(p(*shape), pairs, name))
    case("pad", (0, 1, 0, 1, 2), [p(2, 2)],
         np.pad(p(2, 2), ((1, 0), (1, 2)), constant_values=((1, 2), (3, 4))), (1, 2, 3, 4),
         imaginary=-1)
    case("pad", (0, 1, 2), [p(0)], np.pad(p(0), ((1, 2),)), imaginary=0)
    for dtype in ("float64", "float32", "float16", "int32", "uint8"):
        a, b = p(4).astype(dtype), p(2, 3).astype(dtype)
        case("pad", (5, 4, 3), [a], np.pad(a, (4, 3), "linear_ramp", end_values=(9, 2)), (9, 2),
             moves=False)
        case("pad", (5, 2, 1, 0, 3), [b], np.pad(b, ((2, 1), (0, 3)), "linear_ramp"), moves=False)
        for mode in (6, 7, 8, 9):
            case("pad", (mode, 2, 1, 0, 3), [b], np.pad(b, ((2, 1), (0, 3)), MODES[mode]),
                 moves=False)
            case("pad", (mode, 2, 1), [a], np.pad(a, (2, 1), MODES[mode], stat_length=(3, 2)),
                 (3, 2), moves=False)
        for mode, name in ((11, "reflect"), (12, "symmetric")):
            for widths in ((2, 1), (0, 3), (9, 14)):
                case("pad", (mode, *widths), [a],
                     np.pad(a, widths, name, reflect_type="odd"), moves=False)
            case("pad", (mode, 2, 1, 0, 3), [b],
                 np.pad(b, ((2, 1), (0, 3)), name, reflect_type="odd"), moves=False)
            case("pad", (mode, 2, 1), [a[:1]], np.pad(a[:1], (2, 1), name, reflect_type="odd"),
                 moves=False)


def trimming():
    for a in ([0, 0, 1, 0, 2, 0], [0, 0], [1], [[0, 0, 0], [0, 1, 0], [0, 2, 0]],
              [[0, 0], [0, 0]], 3):
        a = np.array(a, float)
        for trim, name in ((1, "f"), (2, "b"), (3, "fb")):
            case("trim_zeros", (trim,), [a], np.trim_zeros(a, name))
            if a.ndim == 2:
                case("trim_zeros", (trim, 1), [a], np.trim_zeros(a, name, axis=1))
    case("trim_zeros", (3,), [np.zeros((2, 0))], np.trim_zeros(np.zeros((2, 0))))
    for shape in ((2, 4), (7,), (2,), (), (0, 2), (3, 2)):
        case("resize", shape, [p(2, 3)], np.resize(p(2, 3), shape))
    case("resize", (2, 2), [p(0)], np.resize(p(0), (2, 2)))
    case("resize", (3,), [p()], np.resize(p(), (3,)))


def blocks():
    case("block", (2,), [p(2, 2), p(2, 1)], np.block([p(2, 2), p(2, 1)]))
    case("block", (2, 2), [p(2, 2), p(2, 1), p(2), p(1)],
         np.block([[p(2, 2), p(2, 1)], [p(2), p(1)]]))
    case("block", (1, 2), [p(), p()], np.block([[p(), p()]]))
    case("block", (2, 1, 1), [p(3), p(1, 3)], np.block([[[p(3)]], [[p(1, 3)]]]))


for part in (making, diagonals, joining, repeating, moving, padding, trimming, blocks):
    part()
with open(os.path.join(HERE, "manipulate.txt"), "w", encoding="ascii") as file:
    file.write(f"# Recorded by record_manipulate.py with NumPy {np.__version__}\n")
    file.write("\n".join(out) + "\n")
