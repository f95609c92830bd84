# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Promotion in the namespace is that of the library, and both are NumPy's where the standard has
a result."""
import numpy as np
import pytest
import tenon_array_api as xp
from beside_numpy import COMPLEX, INTEGERS, NUMERIC, REAL


def defined(a, b):
    kinds = [INTEGERS, REAL + COMPLEX]
    mixes_64 = {a, b} & {"uint64"} and {a, b} & set(INTEGERS[:4])
    return any(a in kind and b in kind for kind in kinds) and not mixes_64


@pytest.mark.parametrize("a", NUMERIC)
def test_pairs(a):
    for b in NUMERIC:
        types = getattr(xp, a), getattr(xp, b)
        if not defined(a, b):
            with pytest.raises(TypeError):
                xp.result_type(*types)
            continue
        expected = str(np.result_type(a, b))
        assert xp.result_type(*types).name == expected
        assert (xp.zeros(1, dtype=types[0]) + xp.zeros(1, dtype=types[1])).dtype.name == expected
        assert xp.can_cast(*types) == (expected == b)


@pytest.mark.parametrize("dtype", NUMERIC)
def test_ranges(dtype):
    own = getattr(xp, dtype)
    info, other = ((xp.iinfo(own), np.iinfo(dtype)) if dtype in INTEGERS else
                   (xp.finfo(own), np.finfo(dtype)))
    assert (info.min, info.max) == (other.min, other.max)
    if dtype not in INTEGERS:
        assert (info.eps, info.smallest_normal) == (other.eps, other.smallest_normal)


@pytest.mark.parametrize("dtype", NUMERIC)
def test_casts_keep_values(dtype):
    values = [0, 1, 100]
    for other in NUMERIC:
        if dtype in COMPLEX and other not in COMPLEX:
            continue
        x = xp.astype(xp.asarray(values, dtype=getattr(xp, dtype)), getattr(xp, other))
        assert x.dtype.name == other
        assert x.tolist() == values


def test_the_ends_of_integers_are_exact():
    for name in ("int64", "uint64"):
        info = xp.iinfo(getattr(xp, name))
        x = xp.asarray([info.min, info.max], dtype=info.dtype)
        assert [int(x[0]), int(x[1])] == [info.min, info.max] == x.tolist()
        assert int(xp.full((), info.max, dtype=info.dtype)) == info.max
