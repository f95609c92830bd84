# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Arguments that must fit each other, for functions that random ones would nearly always fail.

Each takes a Call and gives values for some parameters of its function; the others are drawn by
their types and names.  A function that is not here gets arrays that broadcast."""
import ctypes as C
import functools
import math

import numpy as np
from calls import ENUMERATIONS, OPEN, Made, c_number
from operands import BOOL, COMPLEX, INTEGERS, NAMES, NUMBERS, NUMPY, REAL, Operand, compact
from prototypes import Functions, sized, structure

FLOATING = REAL + COMPLEX
WHOLE = BOOL + INTEGERS
DRAWS = {}


def draws(*names):
    def remember(function):
        DRAWS.update(dict.fromkeys(names, function))
        return function
    return remember


def lengths(call, rank=None):
    return list(call.source.shape(rank))


def line(call, dtype=None, least=0, most=9):
    """An array of one axis, now and then of another rank."""
    source = call.source
    if source.chance(0.03):
        return call.array(dtype)
    n = source.integer(30, 200) if source.chance(0.06) else source.integer(least, most)
    return call.array(dtype, (n,))


def pick(call, names, odds=0.95):
    """A dtype among these, nearly always."""
    return call.source.dtype(names) if call.source.chance(odds) else call.dtype()


def mask(call, shape):
    return call.array(pick(call, BOOL), shape)


# ---- Making arrays ------------------------------------------------------------------------------

@draws("full_number", "fill_number", "full_like_number")
def exact_number(call):
    return {"value": call.number()}


@draws("arange")
def arange(call):
    source = call.source
    dtype = source.dtype(INTEGERS[:4] + REAL)
    whole = source.chance(0.7) or dtype in INTEGERS
    start, stop = [source.integer(-9, 20) * (1 if whole else 0.25) for _ in range(2)]
    step = source.choice([1, 2, 3, -1, -2, 0]) * (1 if whole else source.choice([1, 0.5, 0.75]))
    return {"dtype": dtype, "start": float(start), "stop": float(stop), "step": float(step)}


@draws("arange_number")
def arange_number(call):
    source = call.source
    dtype = source.dtype(INTEGERS + REAL)
    limits = np.iinfo(NUMPY[dtype] if dtype in INTEGERS else np.int8)
    start = source.choice([0, 5, limits.max - 9, limits.min + 3, -4])
    stop = min(max(int(start) + source.integer(-9, 9), -2**63), 2**64 - 1)
    return {"dtype": dtype, "start": int(start), "stop": stop,
            "step": source.choice([1, 2, 3, -1, -2, 0])}


@draws("linspace", "logspace", "geomspace")
def spaces(call):
    source = call.source
    values = {"dtype": source.dtype(REAL + INTEGERS[3:5]), "num": source.integer(-1, 9)}
    if call.prototype.name == "logspace":
        values |= {"base": source.choice([2.0, 10.0, 0.5, 3.0]),
                   "start": source.integer(-8, 8) / 4, "stop": source.integer(-8, 8) / 4,
                   "dtype": source.dtype(REAL)}
    elif call.prototype.name == "geomspace":
        values |= {"start": source.choice([1.0, 2.0, 0.125, 1000.0, 3.0, 0.0]),
                   "stop": source.choice([1.0, 8.0, 1e-3, 256.0, 5.0]),
                   "dtype": source.dtype(REAL)}
    elif values["dtype"] in INTEGERS:
        values |= {"start": float(source.integer(0, 50)), "stop": float(source.integer(0, 50))}
    return values


@draws("indices")
def indices(call):
    return {"shape": lengths(call, call.source.integer(0, 3)),
            "dtype": call.source.dtype(NAMES[3:])}


@draws("kaiser", "hanning", "hamming", "blackman", "bartlett")
def windows(call):
    return {"dtype": pick(call, REAL, 1), "n": call.source.integer(-1, 60),
            "beta": call.source.choice([0.0, 1.0, 5.0, 14.0])}


@draws("block")
def block(call):
    source = call.source
    shape = call.common_shape or (2,)
    depth = source.integer(1, 3)
    counts = [source.integer(1, 2) for _ in range(depth)]
    return {"depth": depth, "counts": counts,
            "arrays": [call.array(shape=shape) for _ in range(math.prod(counts))]}


# ---- Shapes -------------------------------------------------------------------------------------

@draws("reshape")
def reshape(call):
    a = call.array()
    left, shape = math.prod(a.shape), []
    while left > 1 and len(shape) < 4:
        divisors = [d for d in range(1, left + 1) if left % d == 0]
        shape.append(call.source.choice(divisors))
        left //= shape[-1]
    if left != 1 or call.source.chance(0.2):
        shape.append(left)
    if shape and call.source.chance(0.3):
        shape[call.source.integer(0, len(shape) - 1)] = -1
    return {"a": a, "shape": shape}


@draws("broadcast_to")
def broadcast_to(call):
    return {"a": call.array(), "shape": list(call.common_shape) if call.source.chance(0.9)
            else lengths(call)}


@draws("transpose")
def transpose(call):
    a = call.array()
    axes = [int(i) for i in call.source.numbers.permutation(len(a.shape))]
    return {"a": a, "axes": axes if call.source.chance(0.8) else None}


@draws("slice")
def slices(call):
    a = call.array(shape=call.common_shape or (3,))
    ends = [None, *range(-7, 8)]
    return {"a": a, "start": call.source.choice(ends), "stop": call.source.choice(ends),
            "step": call.source.choice([1, 2, 3, -1, -2, 0])}


@draws("sliding_window_view")
def sliding_window_view(call):
    a = call.array(shape=call.common_shape)
    axes = [i for i in range(len(a.shape)) if call.source.chance(0.6)]
    return {"a": a, "axes": axes,
            "window": [call.source.integer(0, max(a.shape[i], 1)) for i in axes]}


@draws("channels_last")
def channels_last(call):
    return {"a": call.array(shape=call.source.shape(4 if call.source.chance(0.9) else None))}


@draws("moveaxis")
def moveaxis(call):
    a = call.array()
    rank, n = len(a.shape), call.source.integer(0, len(a.shape))
    ways = [[int(i) for i in call.source.numbers.permutation(rank)[:n]] for _ in range(2)]
    return {"a": a, "source": ways[0], "destination": ways[1]}


@draws("split", "array_split")
def split(call):
    source = call.source
    a = call.array(shape=call.common_shape or (4,))
    places = None
    if source.chance(0.5):
        places = sorted(source.integer(-2, 6) for _ in range(source.integer(0, 3)))
    return {"a": a, "indices": places,
            "n": source.integer(0, 5) if places is None else len(places)}


@draws("roll")
def roll(call):
    a = call.array()
    axes = None
    if len(a.shape) and call.source.chance(0.7):
        axes = [call.source.integer(-len(a.shape), len(a.shape) - 1)
                for _ in range(call.source.integer(1, 3))]
    shifts = [call.source.integer(-9, 9) for _ in axes or [0]]
    return {"a": a, "shifts": shifts, "axes": axes, "n": len(shifts)}


@draws("rot90")
def rot90(call):
    return {"a": call.array(shape=call.source.shape(call.source.integer(1, 4)))}


@draws("diagonal", "fill_diagonal")
def diagonal(call):
    rank = call.source.choice([2, 2, 2, 3, 1])
    shape = call.source.shape(rank) if rank < 3 else (call.source.integer(0, 4),) * 3
    return {"a": call.array(shape=shape, overlaps=False)}


@draws("diag", "vander")
def diag(call):
    return {"a": call.array(shape=call.source.shape(call.source.choice([1, 1, 2, 2, 0])
                                                    if call.prototype.name == "diag" else 1)),
            "n": call.source.integer(0, 4)}


@draws("tile")
def tile(call):
    return {"repetitions": [call.source.integer(0, 3)
                            for _ in range(call.source.integer(0, 3))]}


def axis_or_none(call, a):
    axis = None if call.source.chance(0.25) else \
        call.source.integer(-len(a.shape), max(len(a.shape) - 1, 0))
    return axis, a.shape[axis] if axis is not None and -len(a.shape) <= axis < len(a.shape) \
        else math.prod(a.shape)


@draws("repeat")
def repeat(call):
    a = call.array()
    axis, length = axis_or_none(call, a)
    n = 1 if call.source.chance(0.5) else length
    return {"a": a, "axis": axis, "repeats": [call.source.integer(0, 3) for _ in range(n)]}


@draws("delete", "insert")
def delete(call):
    a = call.array()
    axis, length = axis_or_none(call, a)
    places = [call.source.integer(-length, max(length - 1, 0))
              for _ in range(call.source.integer(0, 3))]
    values = {"a": a, "axis": axis, "indices": places}
    if call.prototype.name == "insert":
        values["values"] = call.array(shape=() if call.source.chance(0.7) else None)
    return values


@draws("concatenate", "stack", "append")
def joined(call):
    """Arrays of one shape, but for an axis where they are joined."""
    source, shape = call.source, list(call.common_shape or (3,))
    axis = source.integer(-len(shape), len(shape) - 1)
    n = 2 if call.prototype.name == "append" else source.integer(1, 4)
    arrays = []
    for _ in range(n):
        if call.prototype.name != "stack":
            shape[axis] = source.integer(0, 4)
        arrays.append(call.array(shape=tuple(shape)))
    if call.prototype.name == "append":
        return {"a": arrays[0], "values": arrays[1], "axis": axis if source.chance(0.8) else None}
    return {"arrays": arrays, "axis": axis}


@draws("pad")
def pad(call):
    source = call.source
    a = call.array()
    mode = source.choice(ENUMERATIONS["pad.mode"])
    widths = [source.integer(0, 4) for _ in range(2 * len(a.shape))]
    values = None
    if mode in ("constant", "linear_ramp"):
        values = [float(source.integer(0, 6)) for _ in widths]
    elif mode in ("maximum", "minimum", "mean", "median") and source.chance(0.5):
        values = [float(source.integer(1, 4)) for _ in widths]
    return {"a": a, "mode": mode, "widths": widths, "values": values}


@draws("resize")
def resize(call):
    return {"shape": lengths(call)}


@draws("unstack")
def unstack(call):
    return {"a": call.array(shape=call.source.shape(call.source.integer(1, 3)))}


# ---- Elements by index --------------------------------------------------------------------------

@draws("take")
def take(call):
    a = call.array()
    axis, length = axis_or_none(call, a)
    values = {"a": a, "axis": axis, "indices": call.indices(length, call.source.shape())}
    # NumPy never ends where it wraps indices of an axis of length 0.
    return values if length else values | {"bounds": "raise"}


@draws("take_along_axis", "put_along_axis")
def along_axis(call):
    shape = list(call.common_shape or (3,))
    a = call.array(shape=tuple(shape), overlaps=False)
    axis = call.source.integer(-len(shape), len(shape) - 1)
    length, shape[axis] = shape[axis], call.source.integer(0, 4)
    values = {"a": a, "axis": axis,
              "indices": call.indices(length, tuple(shape), call.source.choice(["i32", "i64"]))}
    if call.prototype.name == "put_along_axis":
        # Equal indices: NumPy does not say which value stays.
        values["values"] = call.array(shape=())
    return values


@draws("put")
def put(call):
    a = call.array(overlaps=False, shape=call.common_shape)
    return {"a": a, "indices": call.indices(math.prod(a.shape), call.source.shape()),
            "values": call.array(shape=call.source.shape(1))}


@draws("place", "putmask")
def place(call):
    a = call.array(overlaps=False, shape=call.common_shape)
    return {"a": a, "mask": mask(call, a.shape), "values": call.array(shape=call.source.shape(1))}


# NumPy has no bf16, to which a sum would be rounded before it is stored elsewhere, and computes
# functions of the narrowest integers in f16.
NO_BF16 = [name for name in NAMES if name != "bf16"]
WIDE = [name for name in NO_BF16 if name not in ("bool", "i8", "u8")]


@draws("add_into", "subtract_into", "multiply_into")
def into(call):
    return {name: call.array(call.source.dtype(NO_BF16)) for name in ("a", "b")}


@draws("can_cast")
def can_cast(call):
    return {"from": call.source.dtype(NO_BF16), "to": call.source.dtype(NO_BF16)}


@draws("copyto")
def copyto(call):
    return {"where": mask(call, None)}


@draws("where")
def where(call):
    return {"condition": mask(call, None)}


@draws("compress", "extract")
def compress(call):
    a = call.array()
    if call.prototype.name == "extract":
        return {"a": a, "condition": mask(call, a.shape)}
    axis, length = axis_or_none(call, a)
    return {"a": a, "axis": axis, "condition": mask(call, (call.source.integer(0, length),))}


@draws("choose")
def choose(call):
    n = call.source.integer(1, 4)
    a = call.indices(n, None)
    a.base = np.abs(a.base)
    return {"a": a, "choices": [call.array() for _ in range(n)]}


@draws("select")
def select(call):
    n = call.source.integer(1, 3)
    return {"conditions": [mask(call, None) for _ in range(n)],
            "choices": [call.array() for _ in range(n)],
            "otherwise": call.array() if call.source.chance(0.6) else None}


@draws("unravel_index")
def unravel_index(call):
    shape = lengths(call, call.source.integer(1, 4))
    numbers = call.indices(math.prod(shape), call.source.shape())
    if call.source.chance(0.9):
        numbers.base = np.abs(numbers.base)
    return {"numbers": numbers, "shape": shape}


@draws("ravel_multi_index")
def ravel_multi_index(call):
    source = call.source
    shape = lengths(call, source.integer(1, 3))
    places = [call.indices(n, None) for n in shape]
    for operand in places:
        operand.base = np.abs(operand.base)
    bounds = [source.choice(ENUMERATIONS["bounds"]) for _ in shape]
    return {"indices": places, "shape": shape, "bounds": bounds if source.chance(0.6) else None}


@draws("ix")
def ix(call):
    return {"lines": [call.array(pick(call, WHOLE), (call.source.integer(0, 4),))
                      for _ in range(call.source.integer(1, 3))]}


@draws("meshgrid")
def meshgrid(call):
    return {"arrays": [line(call) for _ in range(call.source.integer(1, 3))]}


@draws("diag_indices", "tril_indices", "triu_indices")
def index_lines(call):
    source = call.source
    return {"n": source.integer(0, 6), "rank": source.integer(1, 3), "m": source.integer(0, 6),
            "k": source.integer(-5, 5)}


def terms(call, shape):
    """Terms of an index of an array of that shape: each as its kind, and what NumPy takes."""
    source, found, axis = call.source, [], 0
    while axis < len(shape) and source.chance(0.85):
        n = shape[axis]
        kind = source.choice(["slice", "slice", "at", "new", "by", "mask", "ellipsis"])
        if kind == "slice":
            ends = [source.choice([None, *range(-n - 1, n + 2)]) for _ in range(2)]
            found.append(slice(*ends, source.choice([None, 1, 2, -1, -2])))
        elif kind == "at":
            found.append(source.integer(-n, n - 1) if n else 0)
        elif kind == "new":
            found.append(None)
            continue
        elif kind == "by":
            found.append(call.indices(n, source.choice([(), (2,), (3,), (2, 3), (0,), (1,)])))
        elif kind == "mask":
            rank = source.integer(1, min(2, len(shape) - axis))
            found.append(call.array("bool", tuple(shape[axis:axis + rank])))
            axis += rank - 1
        elif Ellipsis not in found:
            found.append(Ellipsis)
            axis = max(axis, len(shape) - source.integer(0, 1))
            continue
        axis += 1
    return found


def index_terms(found):
    """The same for the library."""
    def make(library):
        kinds, rows = library.constants, []
        for term in found:
            if isinstance(term, slice):
                ends = [OPEN if x is None else x for x in (term.start, term.stop, term.step)]
                rows.append({"kind": kinds["TN_INDEX_SLICE"], "start": ends[0], "stop": ends[1],
                             "step": ends[2]})
            elif isinstance(term, int):
                rows.append({"kind": kinds["TN_INDEX_AT"], "start": term})
            elif term is None:
                rows.append({"kind": kinds["TN_INDEX_NEW_AXIS"]})
            elif term is Ellipsis:
                rows.append({"kind": kinds["TN_INDEX_ELLIPSIS"]})
            else:
                rows.append({"kind": kinds["TN_INDEX_BY"], "array": term.tenon(library)})
        row = structure("tn_index_term")
        return (row * max(len(rows), 1))(*(row(**members) for members in rows))
    return Made(found, make, tuple(found))


@draws("index", "index_put")
def index(call):
    a = call.array(shape=call.common_shape, overlaps=call.prototype.name == "index")
    found = terms(call, a.shape)
    values = {"a": a, "n": len(found), "terms": index_terms(found)}
    if call.prototype.name == "index_put":
        mode = call.source.choice(ENUMERATIONS["index_put.mode"])
        values |= {"mode": mode, "values": call.array(a.dtype if mode != "assign" else None,
                                                      call.source.choice([(), (), (1,), a.shape]))}
    return values


# ---- Products, polynomials, signals -------------------------------------------------------------

@draws("matmul", "matmul_into")
def matmul(call):
    source = call.source
    m, k, n = (source.choice([0, 1, 2, 3, 4, 5, 17]) for _ in range(3))
    batch = source.choice([(), (), (2,), (3, 1), (2, 3)])
    other = batch if source.chance(0.7) else batch[source.integer(0, len(batch)):]
    if call.prototype.name == "matmul_into":
        flags = {"transpose_a": source.chance(0.3), "transpose_b": source.chance(0.3)}
        a, b = ((k, m) if flags["transpose_a"] else (m, k)), \
            ((n, k) if flags["transpose_b"] else (k, n))
        dtype = source.dtype(FLOATING)
        return flags | {"c": call.array(dtype, batch + (m, n), False),
                        "a": call.array(dtype, batch + a), "b": call.array(dtype, other + b),
                        "alpha": source.choice([1.0, 2.0, -0.5]),
                        "beta": source.choice([0.0, 1.0, 0.5])}
    if source.chance(0.05):
        k += 1
    a = (k,) if source.chance(0.15) else batch + (m, k)
    b = (k,) if source.chance(0.15) else other + (k if source.chance(0.97) else k + 1, n)
    return {"a": call.array(shape=a), "b": call.array(shape=b)}


def matrices_of(call, dtype, batch, rows, columns):
    """Of moderate size, far from singular where they are square; now and then a view."""
    source = call.source
    shape = (*batch, rows, columns)
    values = source.numbers.integers(-9, 10, shape) / (3 if dtype in FLOATING else 1)
    if dtype in COMPLEX:
        values = values + 1j * source.numbers.integers(-9, 10, shape) / 3
    values = values + 10 * max(rows, columns) * np.eye(rows, columns)
    if source.chance(0.7):
        return compact(dtype, values)
    turned = compact(dtype, np.swapaxes(values, -2, -1))
    strides = [*turned.strides[:-2], turned.strides[-1], turned.strides[-2]]
    return Operand(dtype, turned.base, shape, strides, 0)


def matrix_dtype(call):
    if call.source.chance(0.04):
        return call.dtype()
    return call.source.choice(["f32", "f64", "f64", "c64", "c128", "i32", "i64"])


def batch_of(call):
    return call.source.choice([(), (), (), (2,), (1, 3), (0,), (3, 1)])


@draws("cholesky", "eigvalsh", "inv", "det", "slogdet", "cond")
def square_matrices(call):
    n, dtype = call.source.choice(LENGTHS), matrix_dtype(call)
    columns = n if call.source.chance(0.97) else n + 1
    a = matrices_of(call, dtype, batch_of(call), n, columns)
    if call.prototype.name in ("cholesky", "eigvalsh") and n == columns:
        values = a.numpy().astype(complex if dtype in COMPLEX else float)
        a = compact(dtype, values + np.swapaxes(values.conj(), -2, -1))
    return {"a": a}


@draws("svdvals", "pinv", "matrix_rank")
def tall_or_wide(call):
    source = call.source
    rows, columns = (source.choice(LENGTHS) for _ in range(2))
    return {"a": matrices_of(call, matrix_dtype(call), batch_of(call), rows, columns),
            "rtol": source.choice([-1.0, 0.0, 1e-3])}


@draws("solve", "solve_triangular", "lstsq")
def matrix_systems(call):
    source, name = call.source, call.prototype.name
    n = source.choice(LENGTHS[1:])
    rows = n + source.integer(0, 3) if name == "lstsq" else n
    batches = [() if name == "lstsq" else batch_of(call) for _ in range(2)]
    a = matrices_of(call, matrix_dtype(call), batches[0], rows, n)
    b = matrices_of(call, matrix_dtype(call), batches[1], rows, source.integer(1, 3))
    if source.chance(0.3):
        b = compact(b.dtype, b.numpy().reshape(-1)[:rows])
    return {"a": a, "b": b, "rtol": -1.0, "transpose": source.integer(0, 2)}


@draws("tensorsolve", "tensorinv")
def tensor_systems(call):
    source = call.source
    shape, others = source.choice([((6,), (2, 3)), ((2, 3), (3, 2)), ((4,), (4,)), ((2, 2), (4,))])
    n = math.prod(shape)
    values = matrices_of(call, source.choice(["f64", "c128", "f32"]), (), n, n)
    a = compact(values.dtype, values.numpy().reshape(shape + others))
    return {"a": a, "ind": len(shape) if source.chance(0.95) else 1,
            "b": call.array(source.choice(["f64", "i32"]), shape), "n": 0, "axes": []}


LENGTHS = [0, 1, 2, 3, 4, 5, 17]


@draws("matvec", "vecmat")
def matvec(call):
    source = call.source
    m, n = (source.choice(LENGTHS) for _ in range(2))
    batches = [source.choice([(), (), (2,), (3, 1), (2, 3), (1, 3)]) for _ in range(2)]
    summed = m if call.prototype.name == "vecmat" else n
    vector = summed if source.chance(0.97) else summed + 1
    return {"a": call.array(shape=batches[0] + (m, n)),
            "x": call.array(shape=batches[1] + (vector,))}


@draws("dot", "inner")
def dot(call):
    """Axes of one length where they are summed."""
    source, n = call.source, call.source.choice(LENGTHS)
    a, b = [[source.integer(0, 4) for _ in range(source.integer(0, 3))] for _ in range(2)]
    if a:
        a[-1] = n
    if b:
        b[-2 if call.prototype.name == "dot" and len(b) > 1 else -1] = \
            n if source.chance(0.97) else n + 1
    return {"a": call.array(shape=tuple(a)), "b": call.array(shape=tuple(b))}


@draws("vdot")
def vdot(call):
    shape = lengths(call)
    other = [math.prod(shape)] if call.source.chance(0.3) else \
        [int(n) for n in call.source.numbers.permutation(shape)]
    return {"a": call.array(shape=tuple(shape)), "b": call.array(shape=tuple(other))}


@draws("vecdot")
def vecdot(call):
    shape = list(call.common_shape or (3,))
    axis = call.source.integer(-len(shape), -1)
    b = [n if i == len(shape) + axis or call.source.chance(0.7) else 1
         for i, n in enumerate(shape)]
    return {"a": call.array(shape=tuple(shape)), "b": call.array(shape=tuple(b)), "axis": axis}


@draws("tensordot")
def tensordot(call):
    source = call.source
    a, b = [[source.choice([0, 1, 2, 3, 4, 5]) for _ in range(source.integer(1, 4))]
            for _ in range(2)]
    n = source.integer(0, min(len(a), len(b)))
    axes = [[int(i) for i in source.numbers.permutation(len(shape))[:n]] for shape in (a, b)]
    if source.chance(0.3):
        axes = [list(range(len(a) - n, len(a))), list(range(n))]
    for i, k in zip(*axes):
        b[k] = a[i] if source.chance(0.98) else a[i] + 1
    given = axes != [list(range(len(a) - n, len(a))), list(range(n))] or source.chance(0.5)
    return {"a": call.array(shape=tuple(a)), "b": call.array(shape=tuple(b)), "n": n,
            "axes_a": axes[0] if given else None, "axes_b": axes[1] if given else None}


def term(source, letters, lengths_, ellipsis):
    """The letters of an operand, among them perhaps "...", and its shape."""
    n = source.integer(0, 4)
    chosen = [source.choice(letters) for _ in range(n)]
    shape = [lengths_[c] for c in chosen]
    for i, c in enumerate(chosen):
        if chosen.count(c) == 1 and source.chance(0.1):
            shape[i] = 1
    if source.chance(0.4 if ellipsis is not None else 0):
        at, own = source.integer(0, n), ellipsis[source.integer(0, len(ellipsis)):]
        own = [1 if source.chance(0.2) else k for k in own]
        return "".join(chosen[:at]) + "..." + "".join(chosen[at:]), shape[:at] + own + shape[at:]
    return "".join(chosen), shape


def subscripts_of(source, terms, letters):
    """Of these terms, the result after "->" or implied; now and then wrong, or with blanks."""
    text = ",".join(terms)
    if source.chance(0.7):
        used = sorted(set("".join(terms)) - {"."})
        result = [str(c) for c in source.numbers.permutation(used) if source.chance(0.5)]
        if "..." in text and source.chance(0.97):
            result.insert(source.integer(0, len(result)), "...")
        text += "->" + "".join(result)
    if source.chance(0.05):
        at = source.integer(0, len(text))
        text = text[:at] + source.choice([*letters, *" .,->1_", "->", "..."]) + text[at:]
    if source.chance(0.1):
        text = text.replace(",", " , ").replace("->", " -> ")
    return text


@draws("einsum")
def einsum(call):
    source = call.source
    letters = [str(c) for c in source.numbers.permutation(list("ijkAbZ"))]
    lengths_ = {c: source.integer(0, 5) if source.chance(0.3) else source.integer(2, 4)
                for c in letters}
    ellipsis = [source.integer(1, 3) for _ in range(source.integer(0, 2))]
    n = source.choice([1, 1, 2, 2, 2, 3, 4])
    terms = [term(source, letters, lengths_, ellipsis) for _ in range(n)]
    if source.chance(0.02):
        terms[0][1].append(2)
    text = subscripts_of(source, [letters_ for letters_, _ in terms], letters)
    return {"subscripts": Made(text, lambda _: text.encode(), text),
            "operands": [call.array(shape=tuple(shape)) for _, shape in terms]}


@draws("multi_dot")
def multi_dot(call):
    source = call.source
    n = source.integer(2, 5)
    sides = [source.integer(0, 5) for _ in range(n + 1)]
    shapes = [sides[i:i + 2] for i in range(n)]
    if source.chance(0.3):
        shapes[0] = shapes[0][1:]
    if source.chance(0.3):
        shapes[-1] = shapes[-1][:1]
    if source.chance(0.03):
        shapes[1] = shapes[1] + [2]
    return {"arrays": [call.array(shape=tuple(shape)) for shape in shapes]}


@draws("matrix_power")
def matrix_power(call):
    source, n = call.source, call.source.integer(0, 4)
    shape = source.choice([(), (), (2,), (2, 3)]) + (n, n if source.chance(0.97) else n + 1)
    return {"a": call.array(shape=shape), "n": source.integer(0, 5)}


@draws("trace", "matrix_transpose", "matrix_norm")
def matrices(call):
    shape = call.source.shape(call.source.choice([2, 2, 2, 3, 4, 1]))
    return {"a": call.array(shape=shape),
            "order": call.source.choice(["fro", "1", "-1", "inf", "-inf"])}


@draws("vector_norm")
def vector_norm(call):
    return {"order": call.source.choice([2.0, 1.0, 0.0, math.inf, -math.inf, 3.0, 0.5, -1.0])}


@draws("convolve", "correlate", "polyadd", "polysub", "polymul", "polydiv")
def lines(call):
    names = [p.name for p in call.prototype.parameters if p.type == "const tn_array *"]
    return {name: line(call, least=1) for name in names}


@draws("polyval")
def polyval(call):
    return {"p": line(call, most=5)}


@draws("polyder", "polyint")
def polyder(call):
    source, m = call.source, call.source.integer(-1, 3)
    values = {"p": line(call, most=6), "m": m}
    if call.prototype.name == "polyint":
        values["k"] = None if source.chance(0.4) else \
            call.array("f64", (source.choice([1, max(m, 0)]),))
    return values


@draws("poly")
def poly(call):
    return {"zeros": line(call, pick(call, NAMES[1:]), most=6)}


@draws("roots")
def roots(call):
    """Whole coefficients: the zeros of others are as far apart as their conditions say."""
    values = [float(call.source.integer(-5, 5)) for _ in range(call.source.integer(0, 6))]
    return {"p": compact(call.source.dtype(["f64", "i32", "c128"]), values)}


@draws("polyfit")
def polyfit(call):
    source, n = call.source, call.source.integer(1, 9)
    x = np.arange(n) / 4 + source.numbers.random(n) / 8
    y = source.numbers.normal(size=(n, source.integer(1, 3)) if source.chance(0.4) else (n,))
    w = None if source.chance(0.6) else compact("f64", source.numbers.random(n) + 0.5)
    return {"x": compact("f64", x), "y": compact("f64", y), "w": w,
            "degree": source.integer(0, min(n, 4))}


@draws("cross")
def cross(call):
    source, shape = call.source, list(call.common_shape[:2])
    shapes = [shape + [source.choice([3, 3, 3, 2]) if source.chance(0.97) else 4]
              for _ in range(2)]
    axis = source.integer(0, len(shape)) if source.chance(0.3) else -1
    if axis != -1:
        shapes = [shape[:axis] + x[-1:] + shape[axis:] for x in shapes]
    a, b = [call.array(pick(call, NAMES[1:]), tuple(x)) for x in shapes]
    return {"a": a, "b": b, "axis": axis}


@draws("interp")
def interp(call):
    source, n = call.source, call.source.integer(1, 9)
    dtype = source.dtype(["f32", "f64", "f64", "i32"])
    period = source.choice([0.0, 0.0, 0.0, 8.0])
    xp = np.cumsum(source.numbers.integers(1, 4, n)) - 5.0
    if period:
        xp = np.sort(source.numbers.permutation(8)[:n]) - 4.0
        n = len(xp)
    ends = [source.choice([None, -9.0, 7.5]) for _ in range(2)]
    return {"x": call.array(dtype), "xp": compact(dtype, xp),
            "fp": call.array(source.choice([dtype, "f64", "c128"]), (n,)),
            "left": ends[0], "right": ends[1],
            "period": period}


@draws("unwrap")
def unwrap(call):
    return {"a": call.array(pick(call, INTEGERS + REAL)),
            "discont": call.source.choice([0.0, 0.0, 4.0]),
            "period": call.source.choice([2 * math.pi, 4.0, 6.0])}


# ---- Order and sets -----------------------------------------------------------------------------

@draws("lexsort")
def lexsort(call):
    shape = call.common_shape or (3,)
    return {"keys": [call.array(pick(call, NAMES[:13]), shape)
                     for _ in range(call.source.integer(1, 3))]}


@draws("partition", "argpartition", "topk", "sort", "argsort")
def partition(call):
    a = call.array()
    axis = call.source.integer(-len(a.shape), max(len(a.shape) - 1, 0))
    length = a.shape[axis] if a.shape else 1
    return {"a": a, "axis": axis, "k": call.source.integer(0, length),
            "kth": [call.source.integer(-length, max(length - 1, 0))
                    for _ in range(call.source.integer(1, 2))]}


@draws("intersect1d", "setdiff1d", "setxor1d")
def sets(call):
    """NumPy believes that elements are unique, and gives anything where they are not."""
    return {"assume_unique": False}


# ---- Statistics ---------------------------------------------------------------------------------

@draws("average")
def average(call):
    a = call.array()
    return {"a": a, "axes": None, "weights": None if call.source.chance(0.3) else
            call.array(pick(call, INTEGERS + REAL), a.shape)}


@draws("gradient")
def gradient(call):
    a = call.array(pick(call, NAMES[1:]), call.source.shape(call.source.integer(1, 3)))
    return {"a": a, "spacing": call.source.choice([1.0, 0.5, 2.0]),
            "edge_order": call.source.choice([1, 1, 2])}


@draws("trapezoid")
def trapezoid(call):
    y = call.array(shape=call.source.shape(call.source.integer(1, 3)))
    axis = call.source.integer(-len(y.shape), len(y.shape) - 1)
    x = call.source.choice([None, y.shape, (y.shape[axis],)])
    return {"y": y, "axis": axis, "x": None if x is None else call.array(shape=x)}


@draws("diff")
def diff(call):
    return {"n": call.source.integer(-1, 3)}


@draws("ediff1d")
def ediff1d(call):
    a = call.array(pick(call, NAMES[1:]))
    return {"a": a, **{end: None if call.source.chance(0.5) else
                       call.array(a.dtype, call.source.shape(1)) for end in ("to_end", "to_begin")}}


@draws("quantile", "percentile", "nanquantile", "nanpercentile")
def quantile(call):
    source = call.source
    a = call.array(pick(call, NAMES[1:13]))
    call.values = {"a": a}
    axes, keepdims, method = call.axes(), source.chance(0.3), source.integer(0, 12)
    scale = 100 if "percentile" in call.prototype.name else 1
    # Whole numbers would be places for NumPy, even between infinite elements.
    q = [float(source.choice([0, 0.25, 0.5, 0.75, 1, 0.1, 0.3, 0.9]) * scale)
         for _ in range(source.integer(1, 3))]
    if source.chance(0.02):
        q[0] = -0.5

    def make(library):
        listed = (C.c_int * max(len(axes or []), 1))(*(axes or []))
        return C.pointer(sized("tn_quantile_options", method=method, keepdims=keepdims,
                               n_axes=-1 if axes is None else len(axes),
                               axes=listed))
    chosen = {"axis": axes if axes is None else tuple(axes), "keepdims": keepdims,
              "method": METHODS[method]}
    scalar = source.chance(0.3)
    return {"a": a, "n_q": -1 if scalar else len(q), "q": q[:1] if scalar else q,
            "options": Made(chosen, make, chosen)}


METHODS = ["linear", "inverted_cdf", "averaged_inverted_cdf", "closest_observation",
           "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased", "normal_unbiased",
           "lower", "higher", "midpoint", "nearest"]


@draws("cov", "corrcoef")
def cov(call):
    source = call.source
    m = call.array(shape=call.source.shape(call.source.choice([1, 2, 2])))
    rowvar = source.chance(0.6)
    n = m.shape[-1] if rowvar or len(m.shape) < 2 else m.shape[0]
    first = "x" if call.prototype.name == "corrcoef" else "m"
    weight = {"fweights": None, "aweights": None}
    if first == "m" and source.chance(0.3):
        weight["fweights"] = compact("i64", source.numbers.integers(0, 4, n))
    if first == "m" and source.chance(0.3):
        weight["aweights"] = compact("f64", source.numbers.random(n))
    return weight | {first: m, "rowvar": rowvar, "ddof": float(source.integer(0, 2)),
                     "y": None if source.chance(0.6) else call.array(shape=m.shape)}


@draws("searchsorted", "digitize")
def searchsorted(call):
    source = call.source
    dtype = pick(call, NAMES[:13])
    edges = call.array(dtype, (source.integer(0, 9),))
    values = np.sort(edges.numpy())
    if call.prototype.name == "digitize":
        values = values[~np.isnan(values)] if values.dtype.kind == "f" else values
        return {"bins": compact(dtype, values[::-1] if source.chance(0.3) else values)}
    return {"a": compact(dtype, values), "sorter": None}


@draws("bincount")
def bincount(call):
    n = call.source.integer(0, 9)
    x = call.source.numbers.integers(0, 9, n)
    return {"x": compact(call.source.dtype(INTEGERS[:7]), x),
            "minlength": call.source.integer(0, 6), "weights": None if call.source.chance(0.5) else
            call.array(pick(call, REAL), (n,))}


def points(call, shape, dtype):
    """Numbers that stand apart from edges by more than roundings, or on them exactly."""
    return compact(dtype, call.source.numbers.integers(-20, 21, shape) / 4)


NAMES_OF = {"histogram": ["a"], "histogram2d": ["x", "y"]}


@draws("histogram", "histogramdd", "histogram2d")
def histogram(call):
    source, name = call.source, call.prototype.name
    several, n = name != "histogram", source.integer(1, 12)
    d = {"histogram2d": 2, "histogramdd": source.integer(1, 3), "histogram": 1}[name]
    bins = [source.choice([1, 2, 4, 5, 8, 10]) for _ in range(d)]
    ranges = None
    if source.chance(0.6):
        ranges = [float(source.integer(*ends)) for _ in range(d) for ends in ((-4, 0), (1, 4))]
    density = source.chance(0.3)
    dtype = source.choice(["f64", "i32"] if density else ["f32", "f64", "f64", "i32"])

    def make(library):
        range_ = (C.c_double * (2 * d))(*(ranges or []))
        where = range_ if ranges else None
        if not several:
            return C.pointer(sized("tn_histogram_options", density=density, n_bins=bins[0],
                                   range=where))
        counts = (C.c_int64 * d)(*bins)
        return C.pointer(sized("tn_histogramdd_options", density=density,
                               n_bins=counts, ranges=where))
    pairs = ranges and list(zip(ranges[::2], ranges[1::2]))
    chosen = {"bins": bins if several else bins[0], "density": density,
              "range": pairs if several or not pairs else pairs[0]}
    values = {"options": Made(chosen, make, chosen)}
    if name == "histogramdd":
        return values | {"sample": points(call, (n, d), dtype)}
    return values | {x: points(call, (n,), dtype) for x in NAMES_OF[name]}


@draws("histogram_bin_edges")
def histogram_bin_edges(call):
    dtype = call.source.choice(["f64", "i32"])
    return {"a": points(call, (call.source.integer(1, 30),), dtype), "range": None}


@draws("reduce")
def reduce(call):
    source = call.source
    reducer = source.choice(ENUMERATIONS["reducer"])
    a = call.array()
    call.values = {"a": a}
    axes, keepdims = call.axes(), source.chance(0.3)
    where = call.array("bool", a.shape) if source.chance(0.4) else None
    initial = dtype = correction = None
    if reducer in ("sum", "prod", "max", "min"):
        initial = source.integer(0, 5) if where is not None or source.chance(0.3) else None
    if reducer in ("sum", "prod", "mean") and source.chance(0.3):
        dtype = source.choice(["f32", "f64", "c128"] + ["i64", "u32"] * (reducer != "mean"))
    if reducer in ("var", "std"):
        correction = float(source.integer(0, 1))

    def make(library):
        options = sized("tn_reduce_options", keepdims=keepdims, dtype=NUMBERS.get(dtype, 0),
                        correction=correction or 0)
        if where is not None:
            options.where = where.tenon(library)
        if initial is not None:
            options.initial = c_number(initial)
        return C.pointer(options)
    chosen = {"keepdims": keepdims, "where": where, "initial": initial, "dtype": dtype,
              "ddof": correction}
    if reducer == "count_nonzero" or reducer in ("any", "all"):
        where = chosen["where"] = None
    chosen = {name: value for name, value in chosen.items() if value is not None}
    return {"a": a, "reducer": reducer, "axes": axes, "options": Made(chosen, make, chosen)}


# ---- Universal functions as objects -------------------------------------------------------------

@functools.cache
def ufuncs(inputs):
    """The names of the universal functions of so many arrays that NumPy has too."""
    library = Functions()
    count, number, name, n_inputs = (library.function("ufunc_" + x)
                                     for x in ("count", "number", "name", "inputs"))
    found = {name(number(i)).decode(): n_inputs(number(i)) for i in range(count())}
    return [x for x, n in found.items() if n == inputs and isinstance(
        getattr(np, x, None), np.ufunc) and getattr(np, x).nout == 1]


def ufunc(call, inputs):
    name = call.source.choice(ufuncs(inputs))
    # The counterpart looks it up.
    return Made(name, lambda library: library.call("ufunc_find", name.encode()), (name,))


def ufunc_options(call, shape, out=False, initial=False):
    source = call.source
    where = call.array("bool", shape) if source.chance(0.3) and out else None
    target = call.array(overlaps=False, shape=shape) if out and \
        (where is not None or source.chance(0.5)) else None
    start = source.integer(0, 3) if initial and source.chance(0.3) else None

    def make(library):
        members = {name: operand.tenon(library)
                   for name, operand in (("where", where), ("out", target)) if operand}
        if start is not None:
            members["initial"] = c_number(start)
        return C.pointer(sized("tn_ufunc_options", **members))
    chosen = {"where": where, "out": target, "initial": start}
    chosen = {name: value for name, value in chosen.items() if value is not None}
    return Made(chosen, make, chosen)


@draws("ufunc_call")
def ufunc_call(call):
    n = call.source.integer(1, 2)
    return {"ufunc": ufunc(call, n),
            "inputs": [call.array(call.source.dtype(WIDE)) for _ in range(n)],
            "options": ufunc_options(call, call.common_shape, out=True)}


@draws("ufunc_outer")
def ufunc_outer(call):
    return {"ufunc": ufunc(call, 2), **{name: call.array(call.source.dtype(NO_BF16),
                                                         call.source.shape(1)) for name in "ab"}}


@draws("ufunc_reduce", "ufunc_accumulate")
def ufunc_reduce(call):
    values = {"ufunc": ufunc(call, 2), "a": call.array(call.source.dtype(NO_BF16))}
    if call.prototype.name == "ufunc_reduce":
        values["options"] = ufunc_options(call, None, initial=True)
    return values


@draws("ufunc_at")
def ufunc_at(call):
    a = call.array(call.source.dtype(NO_BF16), call.common_shape or (4,), overlaps=False)
    places = call.indices(a.shape[0], call.source.shape(1))
    return {"ufunc": ufunc(call, 2), "a": a, "indices": places,
            "b": call.array(a.dtype, call.source.choice([(), places.shape])
                            if len(a.shape) == 1 else ())}


# ---- Sound domains ------------------------------------------------------------------------------

@draws("complex")
def complex_parts(call):
    dtype = call.source.dtype(["f32", "f64"])
    return {"real": call.array(dtype), "imaginary": call.array(dtype)}


@draws("logsumexp", "logcumsumexp", "erf", "erfc", "lgamma")
def floating(call):
    return {"a": call.array(pick(call, REAL, 1))}


@draws("isclose", "allclose")
def isclose(call):
    return {"rtol": call.source.choice([1e-5, 0.0, 0.25, 0.5]),
            "atol": call.source.choice([1e-8, 0.0, 0.5, 0.125])}
