# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""What looks at many elements: reductions, running ones, order and places."""
from . import _library as tn
from ._array import axes_of, converted, weak
from ._manipulation import axis_of
from ._registry import functions, standard


def reduction(function):
    def call(x, /, *, axis=None, keepdims=False):
        return function(x, *axes_of(axis), keepdims)
    return call


def accumulation(function):
    """Of a given dtype: converted before, and after, for the library widens integers."""
    def call(x, /, *, axis=None, dtype=None, keepdims=False):
        return converted(function(converted(x, dtype), *axes_of(axis), keepdims), dtype)
    return call


def spread(function):
    def call(x, /, *, axis=None, correction=0.0, keepdims=False):
        n, axes = axes_of(axis)
        return function(x, n, axes, correction, keepdims)
    return call


def extreme_place(function):
    def call(x, /, *, axis=None, keepdims=False):
        return function(x, tn.AXIS_NONE if axis is None else axis, keepdims)
    return call


def running(function, make_initial):
    def call(x, /, *, axis=None, dtype=None, include_initial=False):
        if axis is None:
            if x.ndim != 1:
                raise ValueError("an array of %d axes needs an axis" % x.ndim)
            axis = 0
        axis = axis_of(axis, x.ndim)
        made = converted(function(converted(x, dtype), axis), dtype)
        if not include_initial:
            return made
        shape = x.shape[:axis] + (1,) + x.shape[axis + 1:]
        initial = make_initial(tn.context, made.dtype.number, len(shape), tn.longs(shape))
        return tn.concatenate(2, tn.handles([initial, made]), axis)
    return call


def offer(make, table):
    for name, symbol in table.items():
        if tn.has(symbol):
            call = make(getattr(tn, symbol))
            call.__name__ = name
            functions[name] = call


offer(reduction, {name: name for name in ("max", "min", "mean", "any", "all", "count_nonzero")})
offer(accumulation, {"sum": "sum", "prod": "prod"})
offer(spread, {"std": "std", "var": "var"})
offer(extreme_place, {"argmax": "argmax", "argmin": "argmin"})
offer(lambda f: running(f, tn.zeros), {"cumulative_sum": "cumsum"})
offer(lambda f: running(f, tn.ones), {"cumulative_prod": "cumprod"})


@standard("sort")
def sort(x, /, *, axis=-1, descending=False, stable=True):
    return tn.sort(x, axis, descending)


@standard("argsort")
def argsort(x, /, *, axis=-1, descending=False, stable=True):
    return tn.argsort(x, axis, descending)


@standard("searchsorted")
def searchsorted(x1, x2, /, *, side="left", sorter=None):
    if side not in ("left", "right"):
        raise ValueError("searchsorted: side is %r, not 'left' or 'right'" % side)
    return tn.searchsorted(x1, weak(x2, x1), side == "right", sorter)


@standard("diff")
def diff(x, /, *, axis=-1, n=1, prepend=None, append=None):
    parts = [part for part in (prepend, x, append) if part is not None]
    if len(parts) > 1:
        x = tn.concatenate(len(parts), tn.handles(parts), axis)
    return tn.diff(x, n, axis)


