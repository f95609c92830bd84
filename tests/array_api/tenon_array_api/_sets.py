# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Distinct elements, and places of elements."""
import collections
import ctypes

from . import _library as tn
from ._array import operands
from ._registry import standard

UniqueAll = collections.namedtuple("UniqueAll", "values indices inverse_indices counts")
UniqueCounts = collections.namedtuple("UniqueCounts", "values counts")
UniqueInverse = collections.namedtuple("UniqueInverse", "values inverse_indices")


def unique(x, *wanted):
    """The values, then what is wanted of index, inverse and counts; every NaN is distinct."""
    outputs = {name: ctypes.c_void_p() for name in wanted}
    pointers = [ctypes.byref(outputs[name]) if name in outputs else None
                for name in ("index", "inverse", "counts")]
    values = tn.unique(x, tn.AXIS_NONE, 0, *pointers)
    return [values] + [tn.make_array(outputs[name].value) for name in wanted]


@standard("unique")
def unique_all(x, /):
    return UniqueAll(*unique(x, "index", "inverse", "counts"))


@standard("unique")
def unique_counts(x, /):
    return UniqueCounts(*unique(x, "counts"))


@standard("unique")
def unique_inverse(x, /):
    return UniqueInverse(*unique(x, "inverse"))


@standard("unique")
def unique_values(x, /):
    return unique(x)[0]


@standard("isin")
def isin(x1, x2, /, *, invert=False):
    return tn.isin(*operands(x1, x2), invert)


@standard("nonzero")
def nonzero(x, /):
    if x.ndim == 0:
        raise ValueError("nonzero: the array is 0-d")
    return tuple(tn.new_arrays(x.ndim, lambda indices: tn.nonzero(x, indices)))
