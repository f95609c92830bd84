# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""DLPack with the real NumPy, in one process: the same memory on both sides, and one deleter."""
import gc
import sys

import numpy as np
import pytest
import tenon_dlpack as tn

BACKENDS = ["reference", "cpu"]
DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
          "float16", "float32", "float64", "complex64", "complex128"]


@pytest.fixture(params=BACKENDS)
def context(request):
    try:
        opened = tn.Context(request.param + "!")
    except tn.TenonError as error:
        pytest.skip(str(error))
    yield opened
    if opened.handle:
        opened.close()


def layouts(dtype):
    """Arrays of every layout that NumPy has."""
    a = (np.arange(24) % 5).astype(dtype).reshape(2, 3, 4)
    return [a, a.transpose(2, 0, 1), a[:, ::-1, ::2], a[1, 1, 3:].reshape(()), a[:, :0],
            a[::-1, 1:], a[..., None], a.reshape(-1)[3:]]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("max_version", [None, (1, 0), (1, 1)])
def test_numpy_to_tenon(context, dtype, max_version):
    for a in layouts(dtype):
        x = context.from_dlpack(a, copy=tn.NEVER, max_version=max_version)
        assert x.shape() == a.shape
        assert x.bytes(a.nbytes) == a.tobytes()
        x.destroy()


@pytest.mark.parametrize("dtype", DTYPES)
def test_there_and_back(context, dtype):
    for a in layouts(dtype):
        x = context.from_dlpack(a)
        b = np.from_dlpack(x)
        assert b.dtype == a.dtype and b.shape == a.shape
        if a.size:
            assert b.__array_interface__["data"][0] == a.__array_interface__["data"][0]
            assert [s for s, n in zip(b.strides, b.shape) if n > 1] == \
                [s for s, n in zip(a.strides, a.shape) if n > 1]
        assert np.array_equal(a, b)
        x.destroy()


def test_both_sides_see_what_the_other_writes(context):
    a = np.zeros((3, 4), np.float32)
    x = context.from_dlpack(a)
    x.slice(0, 1, 2, 1).fill(5)
    assert a.sum() == 20 and (a[1] == 5).all()
    b = np.from_dlpack(x.transpose())
    b[0, 0] = 7
    assert a[0, 0] == 7


def test_numpy_is_kept_and_let_go(context):
    a = np.ones(1000, np.float32)
    before = sys.getrefcount(a)
    x = context.from_dlpack(a)
    assert sys.getrefcount(a) > before
    view = x.slice(0, 0, 10, 1)
    x.destroy()
    assert sys.getrefcount(a) > before
    view.destroy()
    assert sys.getrefcount(a) == before
    # A copy lets go at once, a failure leaves it with the capsule.
    x = context.from_dlpack(a, copy=tn.ALWAYS)
    assert sys.getrefcount(a) == before
    with pytest.raises(tn.TenonError, match="expected TN_COPY_IF_NEEDED"):
        context.from_dlpack(a, copy=9)
    gc.collect()
    assert sys.getrefcount(a) == before


def test_tenon_is_kept_and_let_go(context):
    x = context.full((1000,), 3)
    b = np.from_dlpack(x)
    x.destroy()
    assert context.used() > 0 and (b == 3).all()
    del b
    gc.collect()
    assert context.used() == 0
    # A capsule that nobody consumes.
    x = context.full((1000,), 3)
    capsule = x.__dlpack__(max_version=(1, 1))
    x.destroy()
    assert context.used() > 0
    del capsule
    assert context.used() == 0


def test_numpy_outlives_the_context(context):
    b = np.from_dlpack(context.full((5,), 4))
    context.close()
    assert (b == 4).all()


def test_read_only_both_ways(context):
    a = np.ones(3, np.float32)
    a.flags.writeable = False
    x = context.from_dlpack(a)
    with pytest.raises(tn.TenonError, match="out: its memory was wrapped as read-only"):
        x.fill(2)
    b = np.from_dlpack(x)
    assert not b.flags.writeable
    with pytest.raises(BufferError, match="read-only"):
        x.__dlpack__()
    assert np.from_dlpack(x, copy=True).flags.writeable


def test_copies(context):
    x = context.full((2, 2), 1)
    b = np.from_dlpack(x, copy=True)
    b[:] = 9
    assert np.from_dlpack(x).sum() == 4
    assert np.from_dlpack(x, copy=False).sum() == 4
    assert np.from_dlpack(x, device="cpu").sum() == 4


def test_far_memory_comes_as_a_copy():
    try:
        context = tn.Context("mock!")
    except tn.TenonError as error:
        pytest.skip(str(error))
    x = context.full((3,), 6)
    with pytest.raises(BufferError):
        x.__dlpack_device__()
    with pytest.raises(BufferError, match="DLPack has no type for the memory of mock:0"):
        x.__dlpack__(max_version=(1, 1))
    capsule = x.__dlpack__(max_version=(1, 1), dl_device=(tn.CPU, 0))
    managed = tn.Managed.from_address(tn.python.PyCapsule_GetPointer(capsule, tn.VERSIONED))
    assert managed.flags == 2 and list(managed.version) == [1, 1]
    y = context.from_dlpack(np.arange(4, dtype=np.float64))
    assert y.bytes(32) == np.arange(4, dtype=np.float64).tobytes()
    del capsule
    context.close()
