# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Making arrays."""
import contextlib
import struct

from . import _array, _dtypes
from . import _library as tn
from ._array import Array, Device, converted
from ._registry import standard


@contextlib.contextmanager
def on(device):
    """New arrays are made on that device; None: the current one."""
    if device is None:
        yield
        return
    before = tn.device_current(tn.context)
    tn.device_set_current(tn.context, device.pointer)
    try:
        yield
    finally:
        tn.device_set_current(tn.context, before)


def shape_of(shape):
    return (shape,) if isinstance(shape, int) else tuple(shape)


def uninitialised(make, shape, dtype, device):
    shape = shape_of(shape)
    with on(device):
        return make(tn.context, (dtype or _dtypes.float64).number, len(shape), tn.longs(shape))


@standard("empty")
def empty(shape, *, dtype=None, device=None):
    return uninitialised(tn.empty, shape, dtype, device)


@standard("zeros")
def zeros(shape, *, dtype=None, device=None):
    return uninitialised(tn.zeros, shape, dtype, device)


@standard("ones")
def ones(shape, *, dtype=None, device=None):
    return uninitialised(tn.ones, shape, dtype, device)


@standard("full_number")
def full(shape, fill_value, *, dtype=None, device=None):
    with on(device):
        return _array.full(shape_of(shape), fill_value, dtype or _dtypes.of_scalar(fill_value))


def like(make, x, dtype, device):
    made = make(x, dtype.number if dtype else 0)
    return made if device is None else tn.to(made, device.pointer)


@standard("empty_like")
def empty_like(x, /, *, dtype=None, device=None):
    return like(tn.empty_like, x, dtype, device)


@standard("zeros_like")
def zeros_like(x, /, *, dtype=None, device=None):
    return like(tn.zeros_like, x, dtype, device)


@standard("ones_like")
def ones_like(x, /, *, dtype=None, device=None):
    return like(tn.ones_like, x, dtype, device)


@standard("full_number")
def full_like(x, /, fill_value, *, dtype=None, device=None):
    return full(x.shape, fill_value, dtype=dtype or x.dtype, device=device or x.device)


@standard("arange_number")
def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    if stop is None:
        start, stop = 0, start
    if dtype is None:
        whole = all(isinstance(n, int) for n in (start, stop, step))
        dtype = _dtypes.int64 if whole else _dtypes.float64
    with on(device):
        return tn.arange_number(tn.context, dtype.number, *map(_array.number, (start, stop, step)))


@standard("linspace")
def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True):
    if isinstance(start, complex) or isinstance(stop, complex):
        dtype = dtype or _dtypes.complex128
        start, stop = complex(start), complex(stop)
        parts = [linspace(a, b, num, dtype=_dtypes.real_of(dtype), device=device,
                          endpoint=endpoint)
                 for a, b in ((start.real, stop.real), (start.imag, stop.imag))]
        return tn.complex(*parts)
    with on(device):
        return tn.linspace(tn.context, (dtype or _dtypes.float64).number, start, stop, num,
                           endpoint)


@standard("eye")
def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
    with on(device):
        return tn.eye(tn.context, (dtype or _dtypes.float64).number, n_rows,
                      n_rows if n_cols is None else n_cols, k)


@standard("meshgrid")
def meshgrid(*arrays, indexing="xy"):
    if indexing not in ("xy", "ij"):
        raise ValueError("meshgrid: indexing is %r, not 'xy' or 'ij'" % indexing)
    n = len(arrays)
    if n == 0:
        return ()
    return tuple(tn.new_arrays(n, lambda grids: tn.meshgrid(n, tn.handles(arrays),
                                                            indexing == "ij", grids)))


@standard("tril")
def tril(x, /, *, k=0):
    return tn.tril(x, k)


@standard("triu")
def triu(x, /, *, k=0):
    return tn.triu(x, k)


@standard("astype")
def astype(x, dtype, /, *, copy=True, device=None):
    if x.dtype.kind == _dtypes.COMPLEX and dtype.kind not in (_dtypes.COMPLEX, _dtypes.BOOL):
        raise TypeError("astype: from %s to %s" % (x.dtype, dtype))
    made = x if not copy and x.dtype is dtype else tn.astype(x, dtype.number)
    return made if device is None else tn.to(made, device.pointer)


def leaves(obj, shape):
    """Appends the lengths of a nested sequence to shape, and gives its scalars in order."""
    if not isinstance(obj, (list, tuple)):
        return [obj.item() if isinstance(obj, Array) else obj]
    shape.append(len(obj))
    gathered, inner = [], None
    for part in obj:
        lengths = []
        gathered += leaves(part, lengths)
        if inner not in (None, lengths):
            raise ValueError("asarray: nested sequences of different lengths")
        inner = lengths
    shape += inner or []
    return gathered


def host_dtype(scalars):
    """The dtype that holds Python scalars exactly: of 64 bits a part, or bool."""
    kinds = {type(s) for s in scalars}
    if complex in kinds:
        return _dtypes.complex128
    if float in kinds:
        return _dtypes.float64
    if kinds == {bool}:
        return _dtypes.bool_
    return _dtypes.uint64 if scalars and max(scalars) >= 2**63 else _dtypes.int64


def from_scalars(scalars, shape, dtype):
    """The scalars go to the device as they are; the library converts them."""
    packed = host_dtype(scalars) if scalars else dtype or _dtypes.float64
    values = scalars
    if packed.kind == _dtypes.COMPLEX:
        values = [part for s in scalars for part in (complex(s).real, complex(s).imag)]
    data = struct.pack("=%d%s" % (len(values), packed.letter), *values)
    made = tn.from_host(tn.context, packed.number, len(shape), tn.longs(shape), data)
    return converted(made, dtype)


def from_buffer(obj):
    """A copy of what the buffer protocol offers."""
    view = memoryview(obj)
    dtypes = [d for d in _dtypes.ALL if d.kind != _dtypes.COMPLEX and
              struct.calcsize(view.format) == d.bits // 8 and
              {"l": "q", "L": "Q"}.get(view.format, view.format) == d.letter]
    if not dtypes:
        raise TypeError("asarray: a buffer of format %r" % view.format)
    return tn.from_host(tn.context, dtypes[0].number, view.ndim, tn.longs(view.shape),
                        view.tobytes())


def from_array(x, dtype, device, copy):
    moves = device is not None and device != x.device
    if copy is False and (moves or dtype not in (None, x.dtype)):
        raise ValueError("asarray: copy=False, but another dtype or device")
    made = converted(x, dtype)
    if copy and made is x:
        made = tn.copy(x)
    return tn.to(made, device.pointer) if moves else made


@standard("from_host")
def asarray(obj, /, *, dtype=None, device=None, copy=None):
    if isinstance(obj, Array):
        return from_array(obj, dtype, device, copy)
    if copy is False:
        raise ValueError("asarray: copy=False, but %s has no array" % type(obj).__name__)
    with on(device):
        if isinstance(obj, (bool, int, float, complex)):
            return _array.full((), obj, dtype or _dtypes.of_scalar(obj))
        if isinstance(obj, (list, tuple)):
            shape = []
            return from_scalars(leaves(obj, shape), shape, dtype)
        return converted(from_buffer(obj), dtype)


def devices():
    return tuple(Device(tn.context_device(tn.context, i))
                 for i in range(tn.context_device_count(tn.context)))
