# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Shapes, joining, and picking along an axis."""
import ctypes

from . import _library as tn
from ._array import Array, converted, flat
from ._dtypes import int64
from ._registry import standard

RAISE = 0   # enum tn_bounds


def as_tuple(axis):
    return axis if isinstance(axis, tuple) else (axis,)


class AxisError(ValueError, IndexError):
    """Both, as NumPy's; the standard names the one here and the other there."""


def axis_of(axis, rank):
    """From the front."""
    if not -rank <= axis < rank:
        raise AxisError("there is no axis %d of %d" % (axis, rank))
    return axis % rank


@standard()
def broadcast_shapes(*shapes):
    rank = max(map(len, shapes), default=0)
    result = [1] * rank
    for shape in shapes:
        for place, length in enumerate(shape, rank - len(shape)):
            if length == 1:
                continue
            if result[place] not in (1, length):
                raise ValueError("broadcast_shapes: %s" % " and ".join(map(str, shapes)))
            result[place] = length
    return tuple(result)


@standard("broadcast_to")
def broadcast_to(x, /, shape):
    return tn.broadcast_to(x, len(shape), tn.longs(shape))


@standard("broadcast_to")
def broadcast_arrays(*arrays):
    shape = broadcast_shapes(*(x.shape for x in arrays))
    return tuple(broadcast_to(x, shape) for x in arrays)


@standard("concatenate")
def concat(arrays, /, *, axis=0):
    arrays = [flat(x) for x in arrays] if axis is None else list(arrays)
    return tn.concatenate(len(arrays), tn.handles(arrays), axis or 0)


@standard("expand_dims")
def expand_dims(x, /, axis):
    axes = as_tuple(axis)
    rank = x.ndim + len(axes)
    places = sorted(axis_of(a, rank) for a in axes)
    if len(set(places)) < len(places):
        raise ValueError("expand_dims: axis %s twice" % (axis,))
    for place in places:
        x = tn.expand_dims(x, place)
    return x


@standard("squeeze")
def squeeze(x, /, axis):
    for place in sorted((axis_of(a, x.ndim) for a in as_tuple(axis)), reverse=True):
        x = tn.squeeze(x, place)
    return x


@standard("flip")
def flip(x, /, *, axis=None):
    axes = () if axis is None else as_tuple(axis)
    return tn.flip(x, tn.ALL_AXES if axis is None else len(axes), tn.ints(axes))


@standard("moveaxis")
def moveaxis(x, source, destination, /):
    source, destination = as_tuple(source), as_tuple(destination)
    if len(source) != len(destination):
        raise ValueError("moveaxis: %d axes to %d places" % (len(source), len(destination)))
    return tn.moveaxis(x, len(source), tn.ints(source), tn.ints(destination))


@standard("transpose")
def permute_dims(x, /, axes):
    if len(axes) != x.ndim:
        raise ValueError("permute_dims: %d axes of %d" % (len(axes), x.ndim))
    return tn.transpose(x, tn.ints(axes))


@standard("repeat")
def repeat(x, repeats, /, *, axis=None):
    counts = repeats.values() if isinstance(repeats, Array) else [repeats]
    return tn.repeat(x, len(counts), tn.longs(counts), tn.AXIS_NONE if axis is None else axis)


def memory_of(x):
    """Where the first element is."""
    address, offset = ctypes.c_void_p(), ctypes.c_uint64()
    tn.array_export(x, ctypes.byref(address), ctypes.byref(offset))
    return address.value, offset.value


@standard("reshape")
def reshape(x, /, shape, *, copy=None):
    shape = as_tuple(shape)
    made = tn.reshape(x, len(shape), tn.longs(shape))
    if copy is False and x.size and memory_of(made) != memory_of(x):
        raise ValueError("reshape: copy=False, but %s to %s needs one" % (x.shape, shape))
    return tn.copy(made) if copy else made


@standard("roll")
def roll(x, /, shift, *, axis=None):
    if axis is None:
        return tn.roll(x, 1, tn.longs([shift]), None)
    axes, shifts = as_tuple(axis), as_tuple(shift)
    if len(shifts) == 1:
        shifts *= len(axes)
    return tn.roll(x, len(axes), tn.longs(shifts), tn.ints(axes))


@standard("stack")
def stack(arrays, /, *, axis=0):
    arrays = list(arrays)
    return tn.stack(len(arrays), tn.handles(arrays), axis)


@standard("tile")
def tile(x, repetitions, /):
    return tn.tile(x, len(repetitions), tn.longs(repetitions))


@standard("unstack")
def unstack(x, /, *, axis=0):
    n = x.shape[axis_of(axis, x.ndim)]
    return tuple(tn.new_arrays(n, lambda parts: tn.unstack(x, axis, parts)))


def as_indices(x):
    """The library takes indices of 32 and 64 bits."""
    return x if x.dtype.name in ("int32", "int64") else converted(x, int64)


@standard("take")
def take(x, indices, /, *, axis=None):
    if axis is None:
        if x.ndim != 1:
            raise ValueError("take: an array of %d axes needs an axis" % x.ndim)
        axis = 0
    return tn.take(x, as_indices(indices), axis, RAISE)


@standard("take_along_axis")
def take_along_axis(x, indices, /, *, axis=-1):
    place = axis_of(axis, x.ndim)
    others = broadcast_shapes(*(s[:place] + (1,) + s[place + 1:] for s in (x.shape, indices.shape)))
    x, indices = (broadcast_to(a, others[:place] + (a.shape[place],) + others[place + 1:])
                  for a in (x, indices))
    return tn.take_along_axis(x, as_indices(indices), place)
