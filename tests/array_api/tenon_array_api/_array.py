# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""An array of the library: attributes, values, indexing.  _operators adds the operators."""
import ctypes
import math

from . import _dtypes, _indexing
from . import _library as tn


class Device:
    """A device of the context."""

    def __init__(self, pointer):
        self.pointer = pointer
        self.name = tn.device_name(pointer).decode()

    def __eq__(self, other):
        return isinstance(other, Device) and self.pointer == other.pointer

    def __hash__(self):
        return hash(self.pointer)

    def __repr__(self):
        return "Device(%r)" % self.name


def to_list(values, shape):
    """Nested lists of a flat sequence."""
    if not shape:
        return values[0]
    step = len(values) // shape[0] if shape[0] else 0
    return [to_list(values[i * step:(i + 1) * step], shape[1:]) for i in range(shape[0])]


class Array:
    """Owns one reference to a tn_array."""

    def __init__(self, handle):
        self.handle = handle
        self._as_parameter_ = ctypes.c_void_p(handle)

    def __del__(self):
        tn.destroy(self.handle)

    @property
    def dtype(self):
        return _dtypes.by_number[tn.array_dtype(self)]

    @property
    def device(self):
        return Device(tn.array_device(self))

    @property
    def ndim(self):
        return tn.array_rank(self)

    @property
    def shape(self):
        rank = self.ndim
        if rank == 0:
            return ()
        return tuple((ctypes.c_int64 * rank).from_address(tn.array_shape(self)))

    @property
    def size(self):
        return tn.array_size(self)

    @property
    def T(self):
        if self.ndim != 2:
            raise ValueError("T: the array has %d axes, not 2" % self.ndim)
        return tn.transpose(self, None)

    @property
    def mT(self):
        return tn.swapaxes(self, -1, -2)

    def to_device(self, device, /, *, stream=None):
        if stream is not None:
            raise ValueError("to_device: streams are not offered here")
        return tn.to(self, device.pointer)

    def values(self):
        """All elements as Python scalars, in row-major order."""
        dtype = self.dtype
        data = bytearray(self.size * dtype.bits // 8)
        tn.to_host(self, (ctypes.c_char * len(data)).from_buffer(data), len(data))
        scalars = memoryview(data).cast(dtype.letter).tolist()
        if dtype.kind == _dtypes.COMPLEX:
            return [complex(*pair) for pair in zip(scalars[::2], scalars[1::2])]
        return scalars

    def tolist(self):
        return to_list(self.values(), self.shape)

    def item(self):
        """The value of the only element."""
        number = tn.Number()
        tn.item_number(self, ctypes.byref(number))
        kind = self.dtype.kind
        if kind == _dtypes.COMPLEX:
            return complex(number.f64, number.imaginary)
        if kind == _dtypes.REAL:
            return number.f64
        value = number.u64 if kind == _dtypes.UNSIGNED else number.i64
        return bool(value) if kind == _dtypes.BOOL else value

    def __bool__(self):
        return bool(self.item())

    def __int__(self):
        return int(self.item())

    def __float__(self):
        return float(self.item())

    def __complex__(self):
        return complex(self.item())

    def __index__(self):
        if not _dtypes.is_integer(self.dtype) or self.ndim:
            raise TypeError("only a 0-d array of integers is an index, not %r" % self)
        return self.item()

    def __getitem__(self, key):
        return _indexing.get(self, key)

    def __setitem__(self, key, value):
        _indexing.put(self, key, value)

    def __array_namespace__(self, /, *, api_version=None):
        import tenon_array_api
        if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
            raise ValueError("api_version %r is not offered" % api_version)
        return tenon_array_api

    def __repr__(self):
        return "Array(%s, dtype=%s)" % (self.tolist(), self.dtype)


def number(value):
    """A Python scalar as struct tn_number."""
    if isinstance(value, int):
        value = int(value)
        if value >= 2**63:
            return tn.Number(dtype=_dtypes.uint64.number, u64=value)
        return tn.Number(dtype=_dtypes.int64.number, i64=value)
    if isinstance(value, float):
        return tn.Number(dtype=_dtypes.float64.number, f64=value)
    return tn.Number(dtype=_dtypes.complex128.number, f64=value.real, imaginary=value.imag)


def full(shape, value, dtype):
    """An array of one Python scalar on the current device."""
    if isinstance(value, int) and not isinstance(value, bool):
        if _dtypes.is_integer(dtype):
            info = _dtypes.iinfo(dtype)
            if not info.min <= value <= info.max:
                raise OverflowError("%d does not fit %s" % (value, dtype))
        elif dtype.kind in (_dtypes.REAL, _dtypes.COMPLEX):
            value = float(value)
    return tn.full_number(tn.context, dtype.number, len(shape), tn.longs(shape), number(value))


def weak(value, beside):
    """A Python scalar as a 0-d array beside an array; an array as it is."""
    if isinstance(value, Array):
        return value
    if not isinstance(value, (int, float, complex)):
        raise TypeError("expected an array or a Python scalar, not %s" % type(value).__name__)
    return full((), value, _dtypes.scalar_dtype(value, beside.dtype))


def operands(x1, x2):
    """Two arguments of an operation as arrays; one may be a Python scalar."""
    if isinstance(x1, Array):
        return x1, weak(x2, x1)
    if isinstance(x2, Array):
        return weak(x1, x2), x2
    raise TypeError("expected an array, not %s and %s" % (type(x1).__name__, type(x2).__name__))


def converted(x, dtype):
    """Of that dtype: the array itself where it has it, or where dtype is None."""
    return x if dtype in (None, x.dtype) else tn.astype(x, dtype.number)


def axes_of(axis):
    """(n, axes) of a reduction's axis argument."""
    if axis is None:
        return tn.ALL_AXES, None
    axes = axis if isinstance(axis, tuple) else (axis,)
    return len(axes), tn.ints(axes)


def flat(x):
    """As a line, in row-major order."""
    return tn.reshape(x, 1, tn.longs([math.prod(x.shape)]))


tn.make_array = Array
