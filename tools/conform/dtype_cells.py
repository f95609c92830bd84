#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Records results of NumPy (2.4, with ml_dtypes 0.6 for bf16) for dtype_cells.txt:

    python3 tools/conform/dtype_cells.py > tools/conform/dtype_cells.txt

Lines of the file:

    pool NAME DTYPE value ...                     inputs
    OPERATION A B POOL RESULT TOLERANCE value ...
    OPERATION A B POOL TN_DTYPE                   the operation must be refused

A and B are dtypes of operands, B is '-' for one operand.  The first operand is the pool of A, the
second that of B in the order (5 i + 3) mod n.  A complex value is two numbers.  TOLERANCE:

    =    the same bits; a NaN for a NaN
    0    the same number; the sign of a zero is free
    N    within N units in the last place; of a complex number, in those of its magnitude
    xN   within N units in the last place of the operand, or of the result if that is larger; any
         result where the operand is infinite and the result NaN

Functions are evaluated in f64 and rounded to the result's dtype.  DEPARTURES, below, are the rules
of tn_array(3) that are not NumPy's.
"""
import math
import sys
import warnings

import ml_dtypes
import numpy as np

warnings.simplefilter("ignore")
np.seterr(all="ignore")
TYPES = {
    "bool": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
    "c64": np.complex64, "c128": np.complex128,
}
NAMES = {np.dtype(t): name for name, t in TYPES.items()}
SIGNED = ("i8", "i16", "i32", "i64")
UNSIGNED = ("u8", "u16", "u32", "u64")
FLOATING = ("f16", "bf16", "f32", "f64")
COMPLEX = ("c64", "c128")
EXACT = ("bool",) + SIGNED + UNSIGNED
N, ROWS, COLUMNS = 12, 3, 4
# Of two dtypes: the extremes and what is special, one of each.
FEW = [1, 3, 4, 6, 8, 10]


# ---- Inputs ---------------------------------------------------------------------------------

def integers(name):
    """Small ones; the smallest; the largest.  The two are in different rows, so that a mean in f64
    does not cancel."""
    info = np.iinfo(TYPES[name])
    low, high, bits = int(info.min), int(info.max), info.bits
    digits = {8: 50, 16: 2**11 + 1, 32: 2**24 + 1, 64: 2**53 + 1}[bits]
    if low:
        return [1, -1, 2, 7, low, low + 1, 0, -digits, high, high - 1, digits, 3]
    return [1, 2, 3, 7, 0, high // 2, high // 2 + 1, digits, high, high - 15, high // 2 + 2, 5]


def floats(name):
    info = ml_dtypes.finfo(TYPES[name])
    high, least = float(info.max), float(info.smallest_subnormal)
    return [1.5, -2.5, 3.25, 7.0, high, -high, math.inf, least, math.nan, -0.0, 0.0, -math.inf]


# Sums and products of these are exact in every floating dtype but a last rounding.
TAME = [1, -2, 0.5, 3, -0.75, 1.25, 2.5, -1.5, 0.25, 4, -3, 1.75]
TAME_REAL = TAME[:8] + [0] + TAME[9:]
TAME_IMAGINARY = [2, 0.5, -1, 0.25, 3, -0.5, -2, 1, 0.75, -1.25, 1.5, -4]


def pool(kind, name):
    if name == "bool":
        values = [1, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0] if kind == "full" else [1] * N
    elif name in COMPLEX:
        values = [complex(x, y) for x, y in zip(TAME_REAL, TAME_IMAGINARY)]
    elif name in FLOATING:
        values = floats(name) if kind == "full" else TAME
    elif kind == "full":
        values = integers(name)
    else:
        values = [1, 2, 3, 5, 4, 7, 6, 1, 2, 9, 8, 3] if name in UNSIGNED else \
                 [1, -2, 3, 5, -4, 7, 6, -1, 2, 9, -8, 3]
    return np.array(values).astype(TYPES[name]) if name not in ("i64", "u64") else \
        np.array(values, TYPES[name])


POOLS = {(kind, name): pool(kind, name) for kind in ("full", "tame") for name in TYPES}
POOLS.update({(new, name): POOLS[kind, name][FEW]
              for new, kind in (("few", "full"), ("mild", "tame")) for name in TYPES})


def second(values):
    return values[[(5 * i + 3) % len(values) for i in range(len(values))]]


# ---- Dtypes of results ----------------------------------------------------------------------

def common(a, b):
    """NumPy's result_type.  DEPARTURE: ml_dtypes has no result for bf16 and most others; bf16 takes
    the place of f16, and the two give f32."""
    if a == b:
        return a
    if {a, b} == {"f16", "bf16"}:
        return "f32"
    if "bf16" not in (a, b):
        return NAMES[np.result_type(TYPES[a], TYPES[b])]
    other = b if a == "bf16" else a
    result = NAMES[np.result_type(np.float16, TYPES[other])]
    return "bf16" if result == "f16" else result


def function_type(name):
    """Of sqrt, exp, ...  DEPARTURE: bool, i8 and u8 give f32, not f16."""
    if name not in EXACT:
        return name
    result = NAMES[np.sqrt(np.ones(1, TYPES[name])).dtype]
    return "f32" if result == "f16" else result


def sum_type(name):
    return name if name not in EXACT else NAMES[np.sum(np.ones(1, TYPES[name])).dtype]


def part_type(name):
    return {"c64": "f32", "c128": "f64"}.get(name, name)


def convert(x, name):
    """DEPARTURES: out of range floating values saturate and NaN is 0, where C has no rule; f64 is
    rounded to f32 before f16 and bf16."""
    to = TYPES[name]
    source = NAMES[x.dtype]
    if source in COMPLEX and name not in COMPLEX:
        if name == "bool":
            return x != 0
        return convert(x.real, name)
    if source in FLOATING and name in SIGNED + UNSIGNED:
        info = np.iinfo(to)
        clip = lambda v: 0 if math.isnan(v) else int(info.min) if v <= info.min else \
            int(info.max) if v >= info.max else int(v)
        return np.array([clip(float(v)) for v in x.ravel()], to).reshape(x.shape)
    if source == "bf16" and name == "bool":
        return x.astype(np.float32) != 0
    if name in ("f16", "bf16") and source != name:
        return x.astype(np.float32).astype(to)
    if source == "bf16" or name == "bf16":
        return x.astype(np.float32).astype(to)
    return x.astype(to)


def wide(x):
    """The same values in f64 or c128."""
    return x.astype(np.complex128 if NAMES[x.dtype] in COMPLEX else np.float64)


def wrapped(values, name, shape):
    bits = np.iinfo(TYPES[name]).bits
    low = int(np.iinfo(TYPES[name]).min)
    values = [(v - low) % 2**bits + low for v in values]
    return np.array(values, TYPES[name]).reshape(shape)


def whole(x):
    """Python's integers."""
    return [int(v) for v in x.ravel()]


# ---- Operations -----------------------------------------------------------------------------
# Each returns a result and a tolerance, or None if the operation is not defined.

def ulps(name):
    """For functions: of the narrow types, which are computed in f32, a rounding on either side of
    a boundary; 4 as map.opcodes demands, and as much for the recorded value of f64."""
    return {"f16": "1", "bf16": "1", "f32": "4", "f64": "8", "c64": "16", "c128": "16"}[name]


def function(formula, on_complex=True, of_operand=""):
    def apply(x):
        name = function_type(NAMES[x.dtype])
        if name in COMPLEX and not on_complex:
            return None
        return convert(formula(wide(convert(x, name))), name), of_operand + ulps(name)
    return apply


def scalar(formula):
    """From a function of Python's floats; inf and NaN too."""
    return lambda x: np.array([formula(float(v)) for v in x.ravel()]).reshape(x.shape)


def negative(x):
    name = NAMES[x.dtype]
    if name == "bool":
        return None
    return convert(-wide(x), name) if name == "bf16" else np.negative(x), "0"


def absolute(x):
    name = NAMES[x.dtype]
    if name in COMPLEX:
        return convert(np.abs(wide(x)), part_type(name)), "4"
    return convert(np.abs(wide(x)), name) if name == "bf16" else np.abs(x), "="


def sign(x):
    name = NAMES[x.dtype]
    if name == "bool":
        return None
    if name in COMPLEX:
        return convert(np.sign(wide(x)), name), ulps(name)
    return np.sign(x) if name in EXACT else convert(np.sign(wide(x)), name), "0"


def square(x):
    name = NAMES[x.dtype]
    if name in FLOATING + COMPLEX:
        return convert(wide(x) * wide(x), name), ulps(name) if name in COMPLEX else "="
    return np.square(x), "="


def relu(high):
    def apply(x):
        name = NAMES[x.dtype]
        if name in COMPLEX:
            return None
        if name == "bool":
            name, x = "i8", x.astype(np.int8)
        if name in EXACT:
            return wrapped([min(max(v, 0), high) for v in whole(x)], name, x.shape), "="
        y = wide(x)
        return convert(np.where(np.isnan(y), y, np.clip(y, 0, high)), name), "0"
    return apply


def rounded(formula, on_complex=False):
    def apply(x):
        name = NAMES[x.dtype]
        if name in COMPLEX and not on_complex:
            return None
        if name in EXACT:  # DEPARTURE: NumPy's round of bool is f16
            return x, "="
        return convert(formula(wide(x)), name), "="
    return apply


def angle(x):
    name = function_type(NAMES[x.dtype])
    if name in COMPLEX:
        return convert(np.angle(wide(x)), part_type(name)), ulps(part_type(name))
    y = convert(x, name)
    return convert(np.arctan2(0.0, wide(y)), name), ulps(name)


def parts(which):
    def apply(x):
        name = NAMES[x.dtype]
        if name in COMPLEX:
            return (x.real if which == "real" else x.imag).copy(), "="
        return x if which == "real" else np.zeros(x.shape, x.dtype), "="
    return apply


def affine(x):
    """DEPARTURE: bf16 stays bf16."""
    name = NAMES[x.dtype]
    name = "f64" if name in EXACT else name
    y = wide(convert(x, name))
    y = y * 2.0 + 0.5
    return convert(y, name), "="


def sigmoid(v):
    return 1 / (1 + math.exp(-v)) if v > -700 else math.exp(v) if v > -745 else 0.0 * v if \
        math.isnan(v) else 0.0


def silu(v):
    return v * sigmoid(v)


def gelu(v):
    return v * ((1 + math.erf(v / math.sqrt(2))) / 2)


def gelu_tanh(v):
    try:
        inner = math.sqrt(2 / math.pi) * (v + 0.044715 * v**3)
    except OverflowError:
        inner = math.copysign(math.inf, v)
    return v * ((1 + math.tanh(inner)) / 2)


def hardswish(v):
    return v if v > 3 or math.isnan(v) else 0.0 if v < -3 else v * (v + 3) / 6


def hardsigmoid(v):
    return v if math.isnan(v) else 0.0 if v <= -3 else 1.0 if v >= 3 else (v + 3) / 6


def log_sigmoid(v):
    return min(v, 0.0) - math.log1p(math.exp(-abs(v))) if not math.isnan(v) else v


def mish(v):
    return v * math.tanh(max(v, 0.0) + math.log1p(math.exp(-abs(v)))) if not math.isnan(v) else v


def selu(v):
    return 1.0507009873554805 * (v if v > 0 or math.isnan(v) else
                                 1.6732632423543773 * math.expm1(v))


def softsign(v):
    return v / (1 + abs(v))


UNARY = {
    "negative": negative, "abs": absolute, "sign": sign, "square": square,
    "sqrt": function(np.sqrt), "exp": function(np.exp), "log": function(np.log),
    "sin": function(np.sin), "cos": function(np.cos), "tanh": function(np.tanh),
    "erf": function(scalar(math.erf), False), "sigmoid": function(scalar(sigmoid), False),
    "silu": function(scalar(silu), False), # 1 + erf cancels below zero.
    "gelu": function(scalar(gelu), False, "x"),
    "gelu_tanh": function(scalar(gelu_tanh), False, "x"),
    "hardswish": function(scalar(hardswish), False),
    "hardsigmoid": function(scalar(hardsigmoid), False),
    "log_sigmoid": function(scalar(log_sigmoid), False, "x"),
    "mish": function(scalar(mish), False, "x"), "selu": function(scalar(selu), False, "x"),
    "softsign": function(scalar(softsign), False),
    "relu": relu(math.inf), "relu6": relu(6),
    "floor": rounded(np.floor), "ceil": rounded(np.ceil), "round": rounded(np.round, True),
    "angle": angle, "conj": lambda x: (np.conj(x) if NAMES[x.dtype] in COMPLEX else x, "="),
    "real": parts("real"), "imag": parts("imag"), "affine": affine,
}


def arithmetic(ufunc, on_bool=None):
    """Of two dtypes NumPy's own result where it has one; f32 and narrower sums are exact in f64."""
    def apply(x, y):
        name = common(NAMES[x.dtype], NAMES[y.dtype])
        if name == "bool":
            return (on_bool(x, y), "=") if on_bool else None
        if name in EXACT:
            return ufunc(x, y), "="
        x, y = convert(x, name), convert(y, name)
        if name in COMPLEX:
            return convert(ufunc(wide(x), wide(y)), name), ulps(name)
        return convert(ufunc(wide(x), wide(y)), name), "="
    return apply


def divide(x, y):
    name = common(NAMES[x.dtype], NAMES[y.dtype])
    name = "f64" if name in EXACT else name
    x, y = convert(x, name), convert(y, name)
    return convert(wide(x) / wide(y), name), ulps(name) if name in COMPLEX else "="


def integer_power(x, y, bits):
    if y >= 0:
        return pow(x, y, 2**bits)
    return 1 if x == 1 else (-1 if y % 2 else 1) if x == -1 else 0


def power(x, y):
    """DEPARTURE: of integers, with a negative exponent: truncated."""
    name = common(NAMES[x.dtype], NAMES[y.dtype])
    if name == "bool":
        name = "i8"
    if name in EXACT:
        bits = np.iinfo(TYPES[name]).bits
        values = [integer_power(a, b, bits) for a, b in zip(whole(x), whole(y))]
        return wrapped(values, name, x.shape), "="
    x, y = convert(x, name), convert(y, name)
    # exp(y log x) has the error of y log x, which is below 32 for the tame pools.
    tolerance = "64" if name in COMPLEX else ulps(name)
    return convert(np.power(wide(x), wide(y)), name), tolerance


def extreme(ufunc, on_bool):
    def apply(x, y):
        name = common(NAMES[x.dtype], NAMES[y.dtype])
        if name in COMPLEX:
            return None
        if name == "bool":
            return on_bool(x, y), "="
        if name in EXACT:
            return ufunc(x, y), "="
        return convert(ufunc(wide(convert(x, name)), wide(convert(y, name))), name), "0"
    return apply


def comparison(ufunc, is_order):
    """NumPy compares u64 with signed integers exactly."""
    def apply(x, y):
        a, b = NAMES[x.dtype], NAMES[y.dtype]
        if is_order and (a in COMPLEX or b in COMPLEX):
            return None
        if a in EXACT and b in EXACT:
            return ufunc(x, y), "="
        name = common(a, b)
        return ufunc(wide(convert(x, name)), wide(convert(y, name))), "="
    return apply


CHOICE = np.array([1, 0, 0, 1, 1, 0, 1, 0, 0, 1, 0, 1], np.bool_)  # first n


def where(x, y):
    name = common(NAMES[x.dtype], NAMES[y.dtype])
    return np.where(CHOICE[:len(x)], convert(x, name), convert(y, name)), "="


def chosen(x, y):
    """The condition has any dtype."""
    zero = np.zeros(x.shape, y.dtype)
    return np.where(wide(x) != 0, y, zero), "="


def concatenate(x, y):
    name = common(NAMES[x.dtype], NAMES[y.dtype])
    return np.concatenate([convert(x, name), convert(y, name)]), "="


def matmul(x, y):
    name = common(NAMES[x.dtype], NAMES[y.dtype])
    n_rows = ROWS if len(x) == N else 2
    x, y = convert(x, name).reshape(n_rows, -1), convert(y, name).reshape(-1, n_rows)
    if name in EXACT:
        return np.matmul(x, y), "="
    return convert(np.matmul(wide(x), wide(y)), name), "="


BINARY = {
    "add": arithmetic(np.add, np.logical_or), "subtract": arithmetic(np.subtract),
    "multiply": arithmetic(np.multiply, np.logical_and), "divide": divide, "power": power,
    "maximum": extreme(np.maximum, np.logical_or), "minimum": extreme(np.minimum, np.logical_and),
    "equal": comparison(np.equal, False), "not_equal": comparison(np.not_equal, False),
    "less": comparison(np.less, True), "less_equal": comparison(np.less_equal, True),
    "greater": comparison(np.greater, True),
    "greater_equal": comparison(np.greater_equal, True), "where": where,
    "concatenate": concatenate, "matmul": matmul,
}
# Of two dtypes; of those that commute, in one order.
OF_ALL_PAIRS = ("divide", "power", "less", "where")
COMMUTING = ("add", "multiply", "maximum", "equal", "concatenate", "matmul")


def rows(x):
    return x.reshape(ROWS, COLUMNS)


def add_into(a, to):
    """a + a written to an array of another dtype: NumPy's casting="same_kind", bf16 as f16."""
    f16 = lambda name: np.float16 if name == "bf16" else TYPES[name]
    if not np.can_cast(f16(a), f16(to), "same_kind"):
        return None
    x = POOLS["few", a]
    if "bf16" in (a, to):
        return convert(np.add(x, x), to), "="
    return np.add(x, x, out=np.zeros(len(x), TYPES[to]), casting="same_kind"), "="


def folded(ufunc, scan):
    """Sums and products; of f16 and bf16 with f32 accumulators."""
    def apply(x):
        name = NAMES[x.dtype]
        fold = ufunc.accumulate if scan else ufunc.reduce
        if name in EXACT:
            return fold(rows(x), axis=1, dtype=TYPES[sum_type(name)]), "="
        return convert(fold(wide(rows(x)), axis=1), name), "0"
    return apply


def mean(x):
    name = NAMES[x.dtype]
    result = "f64" if name in EXACT else name
    sums = [sum(row) for row in np.array(whole(x), object).reshape(ROWS, COLUMNS)] \
        if name in EXACT else None
    if sums:
        return np.array([s / COLUMNS for s in sums]), "4" if name in ("i64", "u64") else "="
    return convert(np.mean(wide(rows(x)), axis=1), result), "="


def ordered(formula, tolerance="=", of_complex=False):
    def apply(x):
        name = NAMES[x.dtype]
        if name in COMPLEX and not of_complex:
            return None
        y = x if name in EXACT else wide(x)
        result = formula(rows(y))
        return (result if name in EXACT or result.dtype == np.int64 else convert(result, name)), \
            tolerance
    return apply


def first_argsort(y, descending):
    key = lambda v: (v.real, v.imag) if isinstance(v, complex) else \
        (math.inf, 1) if v != v else (v, 0)
    lines = []
    for row in y.tolist():
        order = sorted(range(len(row)), key=lambda i: key(row[i]), reverse=False)
        if descending:
            order = sorted(range(len(row) - 1, -1, -1), key=lambda i: key(row[i]))[::-1]
        lines.append(order)
    return np.array(lines, np.int64)


def logsumexp(x):
    name = NAMES[x.dtype]
    if name not in FLOATING:
        return None
    y = wide(rows(x))
    top = np.max(y, axis=1, keepdims=True)
    shift = np.where(np.isfinite(top), top, 0)
    return convert(np.log(np.sum(np.exp(y - shift), axis=1)) + shift[:, 0], name), ulps(name)


ALONG = {
    "sum_over_no_axes": lambda x: (convert(x, sum_type(NAMES[x.dtype])), "0"),
    "sum": folded(np.add, False), "prod": folded(np.multiply, False), "mean": mean,
    "max": ordered(lambda y: y.max(axis=1), "0"), "min": ordered(lambda y: y.min(axis=1), "0"),
    "argmax": ordered(lambda y: y.argmax(axis=1)), "argmin": ordered(lambda y: y.argmin(axis=1)),
    "logsumexp": logsumexp,
    "cumsum": folded(np.add, True), "cumprod": folded(np.multiply, True),
    "cummax": ordered(lambda y: np.maximum.accumulate(y, axis=1), "0"),
    "cummin": ordered(lambda y: np.minimum.accumulate(y, axis=1), "0"),
    "sort": ordered(lambda y: np.sort(y, axis=1, kind="stable"), of_complex=True),
    "argsort": ordered(lambda y: first_argsort(y, False), of_complex=True),
    "argsort_descending": ordered(lambda y: first_argsort(y, True), of_complex=True),
    "take": lambda x: (rows(x)[[2, 0, -1]], "="),
}


# ---- Output ---------------------------------------------------------------------------------

def text(value):
    if isinstance(value, (complex, np.complexfloating)):
        return text(value.real) + " " + text(value.imag)
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, np.integer):
        return str(int(value))
    short = str(value)
    return short[:-2] if short.endswith(".0") else short


def line(words):
    print(" ".join(words))


def cell(operation, a, b, kind, outcome):
    head = [operation, a, b, kind]
    if outcome is None:
        return line(head + ["TN_DTYPE"])
    result, tolerance = outcome
    assert NAMES[result.dtype] not in EXACT or tolerance in "=0"
    line(head + [NAMES[result.dtype], tolerance] + [text(v) for v in result.ravel()])


def binary(operation, formula, a, b):
    is_tame = a in COMPLEX or b in COMPLEX or (operation == "matmul" and common(a, b) not in EXACT)
    kind = ("tame" if is_tame else "full") if a == b else "mild" if is_tame else "few"
    cell(operation, a, b, kind, formula(POOLS[kind, a], second(POOLS[kind, b])))


print("# Written by dtype_cells.py with NumPy %s and ml_dtypes %s." %
      (np.__version__, ml_dtypes.__version__))
for (kind, name), values in POOLS.items():
    line(["pool", kind, name] + [text(v) for v in values])
for name in TYPES:
    kinds = ("tame",) if name in COMPLEX else ("full", "tame") if name in FLOATING else ("full",)
    for kind in kinds:
        for operation, formula in UNARY.items():
            cell(operation, name, "-", kind, formula(POOLS[kind, name]))
    for to in TYPES:
        cell("astype", name, to, kinds[0], (convert(POOLS[kinds[0], name], to), "="))
    if name in ("bool", "i16", "u64", "f32", "c64"):
        for to in TYPES:
            cell("add_into", name, to, "few", add_into(name, to))
    for operation, formula in ALONG.items():
        cell(operation, name, "-", kinds[0], formula(POOLS[kinds[0], name]))
    cell("where_nonzero", name, "i32", "full", chosen(POOLS["full", name],
                                                      second(POOLS["full", "i32"])))
for operation, formula in BINARY.items():
    for i, a in enumerate(TYPES):
        for k, b in enumerate(TYPES):
            if i == k or operation in OF_ALL_PAIRS or (operation in COMMUTING and i < k):
                binary(operation, formula, a, b)
