# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""What the tests share: NumPy as the other side, and arrays that go from one to the other."""
import numpy as np
import tenon_array_api as xp

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
REAL = ["float32", "float64"]
COMPLEX = ["complex64", "complex128"]
NUMERIC = INTEGERS + REAL + COMPLEX


def to_tenon(a):
    return xp.reshape(xp.asarray(a.ravel().tolist(), dtype=getattr(xp, str(a.dtype))), a.shape)


def to_numpy(x):
    return np.array(x.values(), dtype=x.dtype.name).reshape(x.shape)


def assert_same(found, expected, units=0):
    """Of that dtype and shape, and equal; with `units`, to that many of the last place."""
    assert isinstance(found, xp.Array)
    assert found.dtype.name == str(expected.dtype)
    assert found.shape == expected.shape
    if units == 0:
        np.testing.assert_array_equal(to_numpy(found), expected)
    else:
        step = np.finfo(expected.dtype).eps
        np.testing.assert_allclose(to_numpy(found), expected, rtol=units * step, atol=units * step)


def numbers(dtype, *shape):
    """Some numbers around 0 of that dtype, the same for the same arguments."""
    random = np.random.default_rng(len(dtype) + sum(shape))
    if dtype == "bool":
        return random.random(shape) < 0.5
    if dtype in COMPLEX:
        return (random.normal(size=shape) + 1j * random.normal(size=shape)).astype(dtype)
    if dtype in REAL:
        return random.normal(size=shape).astype(dtype)
    low = 0 if dtype.startswith("u") else -9
    return random.integers(low, 10, shape).astype(dtype)
