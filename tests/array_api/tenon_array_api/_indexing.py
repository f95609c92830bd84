# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Keys of __getitem__ and __setitem__ as the terms of tn_index."""
import ctypes

from . import _array, _dtypes
from . import _library as tn

SLICE, AT, NEW_AXIS, ELLIPSIS, BY = 1, 2, 3, 4, 5   # enum tn_index_kind
NONE = -2**63                                       # TN_NONE
ASSIGN = 0                                          # enum tn_index_mode


class Term(ctypes.Structure):
    """struct tn_index_term"""
    _fields_ = [("kind", ctypes.c_uint32), ("reserved", ctypes.c_uint32),
                ("start", ctypes.c_int64), ("stop", ctypes.c_int64), ("step", ctypes.c_int64),
                ("array", ctypes.c_void_p)]


def slice_term(part):
    start, stop, step = (NONE if end is None else end.__index__()
                         for end in (part.start, part.stop, part.step))
    return Term(kind=SLICE, start=start, stop=stop, step=step)


def term_of(part, kept):
    """One term; an array that it points to stays in `kept`."""
    if part is None:
        return Term(kind=NEW_AXIS)
    if part is Ellipsis:
        return Term(kind=ELLIPSIS)
    if isinstance(part, slice):
        return slice_term(part)
    if isinstance(part, bool):
        part = _array.full((), part, _dtypes.bool_)
    if isinstance(part, _array.Array):
        kept.append(part)
        return Term(kind=BY, array=part.handle)
    if hasattr(part, "__index__"):
        return Term(kind=AT, start=part.__index__())
    raise IndexError("a key may not have %r" % (part,))


def run(call, x, key, index_errors, *values):
    kept, parts = [], key if isinstance(key, tuple) else (key,)
    terms = [term_of(part, kept) for part in parts]
    try:
        return call(x, len(terms), (Term * len(terms))(*terms), *values)
    except ValueError as error:
        if error.tenon_status in index_errors:
            raise IndexError(str(error)) from None
        raise


def get(x, key):
    return run(tn.index, x, key, (tn.INVALID_ARGUMENT, tn.SHAPE))


def put(x, key, value):
    run(tn.index_put, x, key, (tn.INVALID_ARGUMENT,), _array.weak(value, x), ASSIGN)
