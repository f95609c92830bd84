# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Functions of single elements and operators, beside NumPy's."""
import operator

import numpy as np
import pytest
import tenon_array_api as xp
from beside_numpy import COMPLEX, INTEGERS, NUMERIC, REAL, assert_same, numbers, to_tenon

EXACT = {"abs": INTEGERS + REAL, "ceil": INTEGERS + REAL, "floor": INTEGERS + REAL,
         "round": INTEGERS + REAL, "trunc": INTEGERS + REAL, "conj": COMPLEX, "imag": COMPLEX,
         "real": COMPLEX, "isfinite": NUMERIC, "isinf": NUMERIC, "isnan": NUMERIC,
         "logical_not": ["bool"], "negative": INTEGERS[:4] + REAL + COMPLEX, "positive": NUMERIC,
         "sign": INTEGERS + REAL, "signbit": REAL, "bitwise_invert": ["bool"] + INTEGERS}
ROUNDED = {name: REAL + COMPLEX for name in (
    "acosh asinh atan atanh cos cosh exp expm1 log log10 log1p log2 reciprocal sin sinh sqrt square"
    " tan tanh acos asin").split()}
PAIRS = {"add": NUMERIC, "subtract": NUMERIC, "multiply": INTEGERS + REAL, "maximum": INTEGERS,
         "minimum": REAL, "equal": NUMERIC + ["bool"], "not_equal": NUMERIC, "less": INTEGERS,
         "less_equal": REAL, "greater": INTEGERS, "greater_equal": REAL, "bitwise_and": INTEGERS,
         "bitwise_or": INTEGERS + ["bool"], "bitwise_xor": INTEGERS, "logical_and": ["bool"],
         "logical_or": ["bool"], "logical_xor": ["bool"], "copysign": REAL, "divide": REAL,
         "nextafter": REAL}
ROUNDED_PAIRS = {"atan2": REAL, "hypot": REAL, "logaddexp": REAL, "divide": COMPLEX}


def cases(table):
    return [(name, dtype) for name, dtypes in table.items() for dtype in dtypes]


@pytest.mark.parametrize("name, dtype", cases(EXACT))
def test_exact(name, dtype):
    a = numbers(dtype, 3, 5)
    assert_same(getattr(xp, name)(to_tenon(a)), getattr(np, name)(a))


@pytest.mark.parametrize("name, dtype", cases(ROUNDED))
def test_rounded(name, dtype):
    a = numbers(dtype, 3, 5)
    assert_same(getattr(xp, name)(to_tenon(a)), getattr(np, name)(a), 32)


@pytest.mark.parametrize("name, dtype", cases(PAIRS))
def test_pairs(name, dtype):
    a, b = numbers(dtype, 3, 5), numbers(dtype, 5)
    assert_same(getattr(xp, name)(to_tenon(a), to_tenon(b)), getattr(np, name)(a, b))


@pytest.mark.parametrize("name, dtype", cases(ROUNDED_PAIRS))
def test_rounded_pairs(name, dtype):
    a, b = numbers(dtype, 3, 5), numbers(dtype, 5)
    assert_same(getattr(xp, name)(to_tenon(a), to_tenon(b)), getattr(np, name)(a, b), 32)


@pytest.mark.parametrize("dtype", INTEGERS + REAL)
def test_floor_divide_and_remainder(dtype):
    a, b = numbers(dtype, 3, 5), numbers(dtype, 4, 1, 1)
    b = np.where(b == 0, np.array(3, dtype), b)
    for name in ("floor_divide", "remainder"):
        assert_same(getattr(xp, name)(to_tenon(a), to_tenon(b)), getattr(np, name)(a, b),
                    4 if dtype in REAL else 0)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_shifts(dtype):
    a, b = numbers(dtype, 6), np.arange(6, dtype=dtype)
    assert_same(to_tenon(a) << to_tenon(b), a << b)
    assert_same(to_tenon(a) >> to_tenon(b), a >> b)


@pytest.mark.parametrize("name", "add sub mul floordiv mod".split())
def test_scalars_are_weak(name):
    call = getattr(operator, name)
    for dtype, scalar in (("int8", 3), ("uint16", 3), ("float32", 3), ("float32", 2.5),
                          ("float64", 2.5)):
        a = np.arange(1, 7).astype(dtype)
        assert_same(call(to_tenon(a), scalar), call(a, scalar))
        assert_same(call(scalar, to_tenon(a)), call(scalar, a))


def test_a_complex_scalar_makes_a_real_array_complex():
    assert_same(to_tenon(np.array([1, 2], "float32")) + 1j, np.array([1 + 1j, 2 + 1j], "complex64"))


@pytest.mark.parametrize("array, scalar", [("int32", 1.5), ("bool", 1), ("int32", True)])
def test_a_scalar_of_a_higher_kind_is_refused(array, scalar):
    with pytest.raises(TypeError):
        xp.zeros(2, dtype=getattr(xp, array)) + scalar
    with pytest.raises(OverflowError):
        xp.zeros(2, dtype=xp.int8) + 200


def test_in_place():
    a = np.arange(6, dtype="int32").reshape(2, 3)
    x = to_tenon(a)
    view = x[0]
    x *= 3
    a *= 3
    assert_same(x, a)
    assert_same(view, a[0])
    with pytest.raises(TypeError):
        x += xp.zeros((2, 3))
    with pytest.raises(TypeError):
        x += xp.zeros((4, 2, 3), dtype=xp.int32)


def test_clip_and_where():
    a = numbers("float64", 4, 5)
    x = to_tenon(a)
    assert_same(xp.clip(x, -0.5, 0.5), np.clip(a, -0.5, 0.5))
    assert_same(xp.clip(x, min=0.0), np.clip(a, 0.0, None))
    assert_same(xp.clip(x, max=0.0), np.clip(a, None, 0.0))
    assert_same(xp.where(x > 0, x, 1), np.where(a > 0, a, 1))
