# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""The standard's dtypes, and its rules of promotion: facts about types, no arithmetic."""
import builtins
import dataclasses
import math

from ._registry import standard


class DType:
    """An element type: its name in the standard, the number it has in <tenon/types.h>, its kind,
    its bits, and the letter that memoryview and struct have for it, twice for a complex one."""

    def __init__(self, name, number, kind, bits, letter):
        self.name, self.number, self.kind, self.bits = name, number, kind, bits
        self.letter = letter

    def __repr__(self):
        return self.name


BOOL, SIGNED, UNSIGNED = "bool", "signed integer", "unsigned integer"
REAL, COMPLEX = "real floating", "complex floating"
GROUPS = {"integral": (SIGNED, UNSIGNED), "numeric": (SIGNED, UNSIGNED, REAL, COMPLEX)}

ALL = [DType("bool", 1, BOOL, 8, "?"),
       DType("int8", 2, SIGNED, 8, "b"), DType("int16", 3, SIGNED, 16, "h"),
       DType("int32", 4, SIGNED, 32, "i"), DType("int64", 5, SIGNED, 64, "q"),
       DType("uint8", 6, UNSIGNED, 8, "B"), DType("uint16", 7, UNSIGNED, 16, "H"),
       DType("uint32", 8, UNSIGNED, 32, "I"), DType("uint64", 9, UNSIGNED, 64, "Q"),
       DType("float32", 12, REAL, 32, "f"), DType("float64", 13, REAL, 64, "d"),
       DType("complex64", 14, COMPLEX, 64, "f"), DType("complex128", 15, COMPLEX, 128, "d")]
by_name = {dtype.name: dtype for dtype in ALL}
by_number = {dtype.number: dtype for dtype in ALL}
bool_, int64, uint64 = by_name["bool"], by_name["int64"], by_name["uint64"]
float64, complex128 = by_name["float64"], by_name["complex128"]


def is_integer(dtype):
    return dtype.kind in GROUPS["integral"]


def of_scalar(value):
    """The default dtype of a Python scalar."""
    if isinstance(value, builtins.bool):
        return bool_
    if isinstance(value, int):
        return int64 if value < 2**63 else uint64
    return float64 if isinstance(value, float) else complex128


def named(kind, bits):
    return next(dtype for dtype in ALL if dtype.kind == kind and dtype.bits == bits)


def real_of(dtype):
    """The dtype of the parts of a complex one; a real one itself."""
    return named(REAL, dtype.bits // 2) if dtype.kind == COMPLEX else dtype


def scalar_dtype(value, dtype):
    """What a Python scalar becomes beside an array of that dtype."""
    if isinstance(value, builtins.bool):
        fits = dtype.kind == BOOL
    elif isinstance(value, int):
        fits = dtype.kind != BOOL
    elif isinstance(value, float):
        fits = dtype.kind in (REAL, COMPLEX)
    else:
        fits = dtype.kind in (REAL, COMPLEX)
        dtype = named(COMPLEX, 2 * dtype.bits) if dtype.kind == REAL else dtype
    if not fits:
        raise TypeError("a Python %s beside an array of %s" % (type(value).__name__, dtype))
    return dtype


def promote(a, b):
    """The standard's result of two dtypes; TypeError where it has none."""
    if a is b:
        return a
    kinds = {a.kind, b.kind}
    if len(kinds) == 1:
        return a if a.bits > b.bits else b
    if kinds == {SIGNED, UNSIGNED}:
        signed, unsigned = (a, b) if a.kind == SIGNED else (b, a)
        if unsigned.bits < 64:
            return signed if signed.bits > unsigned.bits else named(SIGNED, 2 * unsigned.bits)
    if kinds == {REAL, COMPLEX}:
        return named(COMPLEX, max(2 * real_of(a).bits, 2 * real_of(b).bits))
    raise TypeError("%s and %s have no common dtype" % (a, b))


def dtype_of(x):
    return x if isinstance(x, DType) else x.dtype


@standard()
def can_cast(from_, to, /):
    try:
        return promote(dtype_of(from_), to) is to
    except TypeError:
        return False


@standard()
def isdtype(dtype, kind):
    for one in kind if isinstance(kind, tuple) else (kind,):
        if isinstance(one, str):
            if one not in GROUPS and one not in (BOOL, SIGNED, UNSIGNED, REAL, COMPLEX):
                raise ValueError("isdtype: kind %r is none of the standard's" % one)
            if dtype.kind in GROUPS.get(one, (one,)):
                return True
        elif dtype is one:
            return True
    return False


@standard()
def result_type(*arrays_and_dtypes):
    scalars = [x for x in arrays_and_dtypes if isinstance(x, (int, float, complex))]
    dtypes = [dtype_of(x) for x in arrays_and_dtypes if not isinstance(x, (int, float, complex))]
    if not dtypes:
        raise ValueError("result_type: needs an array or a dtype")
    result = dtypes[0]
    for dtype in dtypes[1:]:
        result = promote(result, dtype)
    for scalar in scalars:
        result = scalar_dtype(scalar, result)
    return result


@dataclasses.dataclass
class FloatInfo:
    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


@dataclasses.dataclass
class IntegerInfo:
    bits: int
    max: int
    min: int
    dtype: DType


@standard()
def finfo(type, /):
    dtype = dtype_of(type)
    if dtype.kind not in (REAL, COMPLEX):
        raise TypeError("finfo: %s is not floating" % dtype)
    real = real_of(dtype)
    digits, exponent = (24, 128) if real.bits == 32 else (53, 1024)
    largest = math.ldexp(1 - 2.0**-digits, exponent)
    return FloatInfo(real.bits, 2.0**(1 - digits), largest, -largest, 2.0**(2 - exponent), real)


@standard()
def iinfo(type, /):
    dtype = dtype_of(type)
    if not is_integer(dtype):
        raise TypeError("iinfo: %s is not an integer type" % dtype)
    if dtype.kind == SIGNED:
        return IntegerInfo(dtype.bits, 2**(dtype.bits - 1) - 1, -2**(dtype.bits - 1), dtype)
    return IntegerInfo(dtype.bits, 2**dtype.bits - 1, 0, dtype)
