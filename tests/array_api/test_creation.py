# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Arrays from numbers, sequences and other libraries."""
import array

import numpy as np
import pytest
import tenon_array_api as xp
from beside_numpy import NUMERIC, assert_same, numbers, to_tenon


def test_numbers_in_order():
    assert_same(xp.arange(5), np.arange(5))
    assert_same(xp.arange(5, -1, -2, dtype=xp.float32), np.arange(5, -1, -2, dtype="float32"))
    assert_same(xp.arange(0.5, 3), np.arange(0.5, 3))
    assert_same(xp.linspace(0, 1, 7), np.linspace(0, 1, 7), 1)
    assert_same(xp.linspace(0, 1j, 3, endpoint=False), np.linspace(0, 1j, 3, endpoint=False), 1)
    assert_same(xp.eye(3, 4, k=-1, dtype=xp.int8), np.eye(3, 4, k=-1, dtype="int8"))
    for indexing in ("xy", "ij"):
        a = np.arange(3), np.arange(2)
        for found, expected in zip(xp.meshgrid(*map(to_tenon, a), indexing=indexing),
                                   np.meshgrid(*a, indexing=indexing)):
            assert_same(found, expected)


@pytest.mark.parametrize("dtype", NUMERIC)
def test_filled(dtype):
    own = getattr(xp, dtype)
    assert_same(xp.zeros((2, 3), dtype=own), np.zeros((2, 3), dtype))
    assert_same(xp.ones((), dtype=own), np.ones((), dtype))
    assert_same(xp.full(3, 7, dtype=own), np.full(3, 7, dtype))
    x = xp.empty((0, 2), dtype=own)
    assert_same(xp.full_like(x, 1), np.ones((0, 2), dtype))
    assert_same(xp.zeros_like(xp.ones(2), dtype=own), np.zeros(2, dtype))


@pytest.mark.parametrize("value", [True, 3, 2.5, 1j, [], [[]], [1, 2], [True, False], [1, 2.5],
                                   [[1, 2j], [3, 4]], [[], []]], ids=repr)
def test_asarray(value):
    assert_same(xp.asarray(value), np.asarray(value))


def test_asarray_copies_when_asked():
    x = xp.asarray([1, 2])
    assert xp.asarray(x) is x
    y = xp.asarray(x, copy=True)
    y[0] = 5
    assert x.tolist() == [1, 2]
    with pytest.raises(ValueError):
        xp.asarray([1], copy=False)
    with pytest.raises(ValueError):
        xp.asarray([[1], [2, 3]])
    assert_same(xp.asarray(array.array("h", [1, -2])), np.array([1, -2], "int16"))


def is_in_host_memory():
    """NumPy reads the memory of no other device, and the mock's has no name in DLPack."""
    try:
        return xp.ones(1).__dlpack_device__()[0] == 1
    except (AttributeError, RuntimeError):
        return False


in_host_memory = pytest.mark.skipif(not is_in_host_memory(), reason="not in the host's memory")


@in_host_memory
@pytest.mark.parametrize("dtype", NUMERIC + ["bool"])
def test_numpy_through_dlpack(dtype):
    a = numbers(dtype, 3, 4)
    assert_same(xp.from_dlpack(a.T), a.T)
    np.testing.assert_array_equal(np.from_dlpack(to_tenon(a)[::2]), a[::2])


@in_host_memory
def test_dlpack_shares_memory():
    a = np.zeros(3)
    x = xp.from_dlpack(a)
    a[1] = 5
    assert x.tolist() == [0, 5, 0]
    assert xp.from_dlpack(a, copy=True).tolist() == [0, 5, 0]
    assert xp.from_dlpack(x).tolist() == [0, 5, 0]


def test_devices():
    info = xp.__array_namespace_info__()
    assert info.default_device() in info.devices()
    for device in info.devices():
        x = xp.ones(3, device=device)
        assert x.device == device
        assert xp.asarray([1, 2], device=device).device == device
        assert x.to_device(info.default_device()).tolist() == [1, 1, 1]
