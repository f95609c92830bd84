# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Random arrays that both sides have: a line of elements, and a view of it with any strides.

NumPy has no bf16.  Its elements are f32 here, all of them numbers of bf16."""
import ctypes as C
import math

import numpy as np

# By the library's numbers of dtypes.
NUMPY = {"bool": "?", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u8": "u1", "u16": "u2",
         "u32": "u4", "u64": "u8", "f16": "f2", "bf16": "f4", "f32": "f4", "f64": "f8",
         "c64": "c8", "c128": "c16"}
NUMPY = {name: np.dtype(code) for name, code in NUMPY.items()}
NAMES = list(NUMPY)
NUMBERS = {name: i + 1 for i, name in enumerate(NAMES)}
TENON = {dtype: name for name, dtype in NUMPY.items() if name != "bf16"}
BOOL, INTEGERS, REAL, COMPLEX = NAMES[:1], NAMES[1:9], NAMES[9:13], NAMES[13:]
UNSIGNED = NAMES[5:9]

# How often a dtype is drawn.
WEIGHTS = [3, 2, 2, 3, 4, 2, 2, 2, 3, 4, 4, 6, 6, 3, 4]


def to_bf16(values):
    """f32 rounded to the nearest number of bf16, ties to even."""
    with np.errstate(all="ignore"):
        values = np.asarray(values, np.float32)
    bits = values.view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000).astype(np.uint32)
    return np.where(np.isnan(values), values, rounded.view(np.float32)).astype(np.float32)


def stored(values, dtype):
    """The bytes that the library has of them."""
    if dtype == "bf16":
        bits = np.ascontiguousarray(values).view(np.uint32) >> 16
        return np.where(np.isnan(values), 0x7fc0, bits).astype(np.uint16)
    return np.ascontiguousarray(values)


class Operand:
    """A view of `base`, a line, from element `offset` on; `strides` count elements."""

    def __init__(self, dtype, base, shape, strides, offset):
        self.dtype, self.base = dtype, base
        self.shape, self.strides, self.offset = tuple(shape), tuple(strides), offset

    def numpy(self, base=None):
        base = self.base if base is None else base
        return np.lib.stride_tricks.as_strided(
            base[self.offset:], self.shape, [s * base.itemsize for s in self.strides])

    def tenon(self, library):
        data = stored(self.base, self.dtype)
        line = library.call("from_host", library.context, NUMBERS[self.dtype], 1,
                            (C.c_int64 * 1)(len(data)), data.ctypes.data)
        if self.offset:
            line = library.call("slice", line, 0, self.offset, len(data), 1)
        rank = len(self.shape)
        return library.call("as_strided", line, rank, (C.c_int64 * rank)(*self.shape),
                            (C.c_int64 * rank)(*self.strides))

    def __repr__(self):
        values = self.numpy()
        few = values if values.size <= 24 else values.reshape(-1)[:12]
        text = " ".join(np.array2string(few, separator=", ", precision=17).split())
        return f"{self.dtype} {self.shape} strides {self.strides}: {text}" + \
            ("" if few is values else " ...")


def compact(dtype, values):
    """An operand of these values without gaps."""
    values = np.asarray(values).astype(NUMPY[dtype])
    if dtype == "bf16":
        values = to_bf16(values)
    strides = [s // values.itemsize for s in np.empty(values.shape, values.dtype).strides]
    base = values.reshape(-1) if values.size else np.zeros(1, values.dtype)
    return Operand(dtype, base, values.shape, strides, 0)


def fetch(library, array):
    """The dtype and the elements of an array of the library; waits for them."""
    rank = library.function("array_rank")(array)
    lengths = C.cast(library.function("array_shape")(array), C.POINTER(C.c_int64))
    dtype = NAMES[library.function("array_dtype")(array) - 1]
    values = np.empty(lengths[:rank] if rank else (), "u2" if dtype == "bf16" else NUMPY[dtype])
    library.call("to_host", array, values.ctypes.data, values.nbytes)
    if dtype == "bf16":
        values = (values.astype(np.uint32) << 16).view(np.float32)
    return dtype, values


# ---- Drawing ------------------------------------------------------------------------------------

class Source:
    """All that is random in one call."""

    def __init__(self, seed, name):
        self.numbers = np.random.default_rng([seed, *name.encode()])

    def chance(self, p):
        return self.numbers.random() < p

    def integer(self, low, high):
        """low to high, both possible"""
        return int(self.numbers.integers(low, high, endpoint=True))

    def choice(self, things):
        return things[self.integer(0, len(things) - 1)]

    def dtype(self, names=NAMES):
        weights = np.cumsum([WEIGHTS[NAMES.index(name)] for name in names])
        return names[int(np.searchsorted(weights, self.numbers.random() * weights[-1], "right"))]

    def shape(self, rank=None):
        """Few elements, with lengths of 0 and 1 among them; now and then a long axis."""
        if rank is None:
            rank = self.choice([0, 1, 1, 1, 2, 2, 2, 3, 3, 4])
        shape = [self.choice([0, 1, 1, 2, 2, 3, 3, 4, 5, 7] if self.chance(0.3)
                             else [1, 2, 2, 3, 3, 4, 5]) for _ in range(rank)]
        if rank and rank < 3 and self.chance(0.08):
            shape[self.integer(0, rank - 1)] = self.integer(30, 300)
        return tuple(shape)

    def strides(self, shape, overlaps):
        """Strides of a view, axes in any order, backwards, with gaps or, if it may overlap itself,
        of 0; and its first element's number."""
        strides, first, extent = [0] * len(shape), 0, 1
        order = list(range(len(shape)))[::-1]
        if self.chance(0.3):
            order = [int(i) for i in self.numbers.permutation(order)]
        steps = self.choice([[1], [1], [1, -1], [1, 2, -1, -3], [1, 1, 0 if overlaps else 2, -1]])
        for axis in order:
            step = self.choice(steps)
            strides[axis] = step * extent
            first -= min(0, strides[axis] * (shape[axis] - 1)) if shape[axis] else 0
            extent = max(extent, abs(strides[axis]) * max(shape[axis], 1), 1)
        return strides, first

    def values(self, dtype, n):
        """n elements, of a kind that is drawn: small whole numbers, which are often equal, ordinary
        ones, those of every size, and special ones."""
        if dtype == "bool":
            return self.numbers.random(n) < self.choice([0.5, 0.5, 0.1, 0.9])
        if dtype in INTEGERS:
            return self.integers(dtype, n)
        if dtype in COMPLEX:
            part = "f32" if dtype == "c64" else "f64"
            kind = self.choice(KINDS)
            values = np.empty(n, NUMPY[dtype])
            values.real, values.imag = self.floats(part, n, kind), self.floats(part, n, kind)
            return values
        return self.floats(dtype, n, self.choice(KINDS))

    def integers(self, dtype, n):
        limits = np.iinfo(NUMPY[dtype])
        low, high = self.choice([(-4, 4), (-4, 4), (0, 9), (-100, 100),
                                 (limits.min, limits.max)])
        low, high = max(low, limits.min), min(high, limits.max)
        values = self.numbers.integers(low, high, n, NUMPY[dtype], endpoint=True)
        if n and self.chance(0.1):
            values[self.integer(0, n - 1)] = self.choice([limits.min, limits.max])
        return values

    def floats(self, dtype, n, kind):
        info = np.finfo(np.float16 if dtype == "f16" else NUMPY[dtype])
        if kind == "whole":
            values = self.numbers.integers(-4, 5, n).astype(float)
        elif kind == "ordinary":
            values = self.numbers.normal(0, self.choice([0.5, 1, 3, 10]), n)
        elif kind == "tenths":
            values = self.numbers.integers(-30, 31, n) / 10
        else:
            most = math.log10(float(info.max))
            values = 10 ** self.numbers.uniform(-most, most, n) * self.numbers.choice([-1, 1], n)
        values = values.astype(NUMPY[dtype])
        if kind == "special" and n:
            places = self.numbers.random(n) < 0.4
            specials = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, info.max, info.min,
                        info.tiny, -info.tiny, info.eps, 0.5, -0.5, 2.5]
            values[places] = self.numbers.choice(specials, n)[places].astype(NUMPY[dtype])
        return to_bf16(values) if dtype == "bf16" else values

    def operand(self, dtype, shape, overlaps=True):
        strides, offset = self.strides(shape, overlaps)
        last = offset + sum(max(0, s * (n - 1)) for s, n in zip(strides, shape))
        base = self.values(dtype, last + 1 + self.choice([0, 0, 3]))
        return Operand(dtype, base, shape, strides, offset)


KINDS = ["whole", "whole", "ordinary", "ordinary", "tenths", "special", "wide"]
