# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Keys, read and assigned, beside NumPy's."""
import numpy as np
import pytest
import tenon_array_api as xp
from beside_numpy import assert_same, to_tenon

KEYS = [0, -1, (1, 2), (1, 2, 3), slice(None), slice(2, None, -1), (slice(None, None, 2), 1), ...,
        (..., 1), (0, ..., slice(1, 3)), None, (None, 1, None), (slice(0, 0), 1), (),
        (slice(-2, None), slice(None), slice(-1, None, -2)),
        np.array([2, 0, -1]), (np.array([[0], [1]]), np.array([0, 2, 1])),
        (1, np.array([0, 0])), (slice(None), np.array([0, 2]), 1),
        (np.array([0, 1]), slice(None), np.array([1, 1])),
        np.array([True, False, True]), np.ones((3, 4), bool), np.array(True), True,
        (np.array([False, True, True]), 1)]


def keys(key):
    """The key for Tenon."""
    if isinstance(key, tuple):
        return tuple(map(keys, key))
    return to_tenon(key) if isinstance(key, np.ndarray) else key


@pytest.mark.parametrize("key", KEYS, ids=repr)
@pytest.mark.parametrize("dtype", ["int16", "complex128"])
def test_read_and_assigned(key, dtype):
    a = np.arange(60).reshape(3, 4, 5).astype(dtype)
    x = to_tenon(a)
    assert_same(x[keys(key)], np.asarray(a[key]))
    value = np.arange(a[key].size).reshape(a[key].shape).astype(dtype)
    a[key] = value
    x[keys(key)] = to_tenon(value)
    assert_same(x, a)
    a[key] = 7
    x[keys(key)] = 7
    assert_same(x, a)


@pytest.mark.parametrize("key", [3, -4, (0, 4), (0, 0, 0, 0), (..., ...), "x", 1.5,
                                 np.ones((3, 3), bool), np.array([5])], ids=repr)
def test_refused(key):
    """An asynchronous device finds an index that is out of range later."""
    x = to_tenon(np.zeros((3, 4, 5)))
    with pytest.raises((IndexError, ValueError)):
        x[keys(key)].tolist()


def test_views_share_their_elements():
    x = xp.zeros((3, 4))
    view = x[1:, ::2]
    view[...] = 1
    assert x.tolist() == [[0, 0, 0, 0], [1, 0, 1, 0], [1, 0, 1, 0]]


def test_scalars():
    x = xp.asarray([1, 0], dtype=xp.uint8)
    assert [10, 20][x[0]] == 20
    assert bool(x[0]) and not bool(x[1])
    assert (int(x[0]), float(x[0]), complex(x[0])) == (1, 1.0, 1 + 0j)
    with pytest.raises(TypeError):
        [1, 2][xp.asarray(1.0)]
    with pytest.raises(ValueError):
        bool(x)
