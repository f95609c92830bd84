# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Functions of many elements, and of shapes, beside NumPy's."""
import itertools

import numpy as np
import pytest
import tenon_array_api as xp
from beside_numpy import COMPLEX, INTEGERS, REAL, assert_same, numbers, to_tenon

AXES = [None, 0, -1, (0, 2), (), (1, 0, 2)]


@pytest.mark.parametrize("axis, keepdims", list(itertools.product(AXES, [False, True])), ids=repr)
@pytest.mark.parametrize("dtype", ["int8", "uint16", "float32", "complex128"])
def test_reductions(dtype, axis, keepdims):
    a = numbers(dtype, 3, 4, 5)
    x = to_tenon(a)
    options = {"axis": axis, "keepdims": keepdims}
    exact = dtype in INTEGERS
    for name in ("sum", "prod"):
        assert_same(getattr(xp, name)(x, **options), getattr(np, name)(a, **options),
                    0 if exact else 256)
    for name in ("any", "all", "count_nonzero"):
        assert_same(getattr(xp, name)(x, **options),
                    np.asarray(getattr(np, name)(a, **options)))
    if dtype not in COMPLEX:
        for name in ("max", "min"):
            assert_same(getattr(xp, name)(x, **options), getattr(np, name)(a, **options))
    if dtype in REAL:
        assert_same(xp.mean(x, **options), np.mean(a, **options), 8)
        for name in ("std", "var"):
            assert_same(getattr(xp, name)(x, correction=0.5, **options),
                        np.asarray(getattr(np, name)(a, correction=0.5, **options)), 32)


@pytest.mark.parametrize("axis, keepdims", list(itertools.product([None, 0, -1],
                                                              [False, True])))
def test_places(axis, keepdims):
    a = numbers("float64", 3, 4, 5)
    for name in ("argmax", "argmin"):
        assert_same(getattr(xp, name)(to_tenon(a), axis=axis, keepdims=keepdims),
                    np.asarray(getattr(np, name)(a, axis=axis, keepdims=keepdims)))


@pytest.mark.parametrize("dtype", ["int8", "uint32", "float64"])
def test_order(dtype):
    a = numbers(dtype, 4, 9)
    x = to_tenon(a)
    assert_same(xp.sort(x), np.sort(a))
    assert_same(xp.sort(x, axis=0, descending=True), np.sort(a, 0)[::-1])
    assert_same(xp.argsort(x, axis=0), np.argsort(a, 0, kind="stable"))
    edges = np.sort(a[0])
    for side in ("left", "right"):
        assert_same(xp.searchsorted(to_tenon(edges), x, side=side),
                    np.searchsorted(edges, a, side=side))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "float32"])
def test_running(dtype):
    a = numbers(dtype, 3, 4)
    x, units = to_tenon(a), 64 if dtype in REAL else 0
    for name, start in itertools.product(("cumulative_sum", "cumulative_prod"), (False, True)):
        assert_same(getattr(xp, name)(x, axis=1, include_initial=start),
                    getattr(np, name)(a, axis=1, include_initial=start), units)
    assert_same(xp.diff(x, axis=0, n=2), np.diff(a, axis=0, n=2), units)
    assert_same(xp.diff(x, prepend=x, append=x), np.diff(a, prepend=a, append=a), units)


@pytest.mark.parametrize("dtype", ["int16", "float64", "complex64"])
def test_sets(dtype):
    a = numbers(dtype, 3, 4)
    a[2] = a[0]
    x = to_tenon(a)
    all_of = np.unique_all(a)
    for found, expected in zip(xp.unique_all(x), all_of):
        assert_same(found, expected)
    assert_same(xp.unique_values(x), all_of.values)
    assert_same(xp.unique_counts(x).counts, all_of.counts)
    assert_same(xp.unique_inverse(x).inverse_indices, all_of.inverse_indices)
    assert_same(xp.isin(x, x[0], invert=True), np.isin(a, a[0], invert=True))
    for found, expected in zip(xp.nonzero(x), np.nonzero(a)):
        assert_same(found, expected)


def test_every_nan_is_distinct():
    x = xp.asarray([xp.nan, 1.0, xp.nan])
    assert xp.unique_values(x).shape == (3,)


@pytest.mark.parametrize("dtype", ["int8", "float32", "complex128"])
def test_shapes(dtype):
    a = numbers(dtype, 3, 1, 4)
    x = to_tenon(a)
    assert_same(xp.reshape(x, (2, -1)), a.reshape(2, -1))
    assert_same(xp.permute_dims(x, (2, 0, 1)), a.transpose(2, 0, 1))
    assert_same(xp.moveaxis(x, (0, 1), (-1, 0)), np.moveaxis(a, (0, 1), (-1, 0)))
    assert_same(xp.expand_dims(x, axis=(0, -1)), np.expand_dims(a, (0, -1)))
    assert_same(xp.squeeze(x, 1), a.squeeze(1))
    assert_same(xp.flip(x), np.flip(a))
    assert_same(xp.roll(x, (1, -2), axis=(0, 2)), np.roll(a, (1, -2), (0, 2)))
    assert_same(xp.roll(x, 5), np.roll(a, 5))
    assert_same(xp.tile(x, (2, 1, 1, 2)), np.tile(a, (2, 1, 1, 2)))
    assert_same(xp.repeat(x, 2), np.repeat(a, 2))
    assert_same(xp.repeat(x, xp.asarray([1, 0, 2]), axis=0), np.repeat(a, [1, 0, 2], 0))
    assert_same(xp.concat([x, x], axis=None), np.concatenate([a, a], None))
    assert_same(xp.stack([x, x], axis=-1), np.stack([a, a], -1))
    assert_same(xp.unstack(x, axis=2)[1], a[:, :, 1])
    assert_same(xp.broadcast_to(x, (2, 3, 5, 4)), np.broadcast_to(a, (2, 3, 5, 4)))
    assert_same(xp.take(x, xp.asarray([3, 0]), axis=2), np.take(a, [3, 0], 2))
    assert_same(xp.tril(x[:, 0], k=1), np.tril(a[:, 0], 1))
    assert_same(x.mT, a.mT)


def test_reshape_copies_as_asked():
    x = xp.zeros((2, 3))
    xp.reshape(x, (3, 2), copy=False)[0, 0] = 1
    xp.reshape(x, (3, 2), copy=True)[0, 1] = 1
    assert x.tolist() == [[1, 0, 0], [0, 0, 0]]
    with pytest.raises(ValueError):
        xp.reshape(x.T, (6,), copy=False)


def test_an_axis_that_is_not_there():
    for call in (xp.expand_dims, xp.squeeze):
        with pytest.raises(IndexError):
            call(xp.zeros((1, 1)), 3)


@pytest.mark.parametrize("dtype", ["int32", "float64", "complex64"])
def test_products(dtype):
    a, b = numbers(dtype, 2, 3, 4), numbers(dtype, 4, 3)
    x, y = to_tenon(a), to_tenon(b)
    units = 0 if dtype in INTEGERS else 64
    assert_same(x @ y, a @ b, units)
    assert_same(xp.tensordot(x, y, axes=((2, 1), (0, 1))), np.tensordot(a, b, ((2, 1), (0, 1))),
                units)
    assert_same(xp.tensordot(y, x, axes=0), np.tensordot(b, a, 0), units)
    assert_same(xp.vecdot(x, y.T), np.vecdot(a, b.T), units)
