# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""What NumPy has for each function: found by name, but for those that are listed here.

A function of a new header, or a new one of a header that takes part, is looked for in NumPy by its
name.  One that is not there, or takes other arguments, needs a row here, with the reason where
there is nothing to compare with."""
import math

import numpy as np
from calls import by_arguments, by_name, takes_all

# Headers of functions on arrays that do not take part.
NETWORKS = "of networks: PyTorch's, recorded in tests/parity"
ELSEWHERE = {
    "autograd.h": NETWORKS, "frozen.h": NETWORKS, "init.h": NETWORKS, "loss.h": NETWORKS,
    "metric.h": NETWORKS, "nn.h": NETWORKS, "optim.h": NETWORKS,
    "context.h": "no function of values", "distributed.h": "of several processes",
    "dlpack.h": "tests/python", "files.h": "of files", "map.h": "of programs as texts",
    "memory.h": "of memory", "random.h": "no two generators draw the same numbers",
    "share.h": "of memory", "text.h": "of texts: tests/parity/text",
}

ACTIVATION = "an activation: PyTorch's, recorded in tests/parity"
SPECIAL = "neither NumPy nor Python has it: tests/parity/special has mpmath's values"
OPERAND = "every operand comes this way, or every result"
QUERY = "a question about an array, not about its elements"
WITHOUT = {
    **dict.fromkeys(["sigmoid", "relu", "relu6", "silu", "hardswish", "gelu", "gelu_tanh",
                     "leaky_relu", "prelu", "elu", "celu", "selu", "softplus", "mish", "softsign",
                     "log_sigmoid", "hardsigmoid", "hardtanh"], ACTIVATION),
    **dict.fromkeys(["digamma", "polygamma", "betaln", "multigammaln", "zeta", "erfcx", "erfinv",
                     "ndtr", "log_ndtr", "ndtri", "bessel_j0", "bessel_j1", "i0e", "i1", "i1e",
                     "entr", "xlog1py", "expit", "xlogy", "logit"], SPECIAL),
    **dict.fromkeys(["from_host", "to_host", "as_strided", "array_destroy", "array_rank",
                     "array_shape", "array_dtype"], OPERAND),
    **dict.fromkeys(["array_strides", "array_size", "array_device", "array_context"], QUERY),
    **dict.fromkeys(["assert_allclose", "assert_array_equal", "assert_array_less"],
                    "gives a text: tests/parity/testing"),
    **dict.fromkeys(["item", "item_number", "assign_host"],
                    "between an array and the host's memory: tests/unit"),
    **dict.fromkeys(["random_uniform", "random_normal"],
                    "no two generators draw the same numbers"),
    **dict.fromkeys(["map", "map_number"], "of a program as a text: tests/unit"),
    "to": "between two devices: tests/unit",
    **dict.fromkeys(["qr", "lu", "eigh", "eig", "svd"],
                    "factors are not unique: tests/unit/linalg_factors multiplies them"),
    "eigvals": "values in any order: tests/unit/linalg_factors",
    "expm": "SciPy's: tests/unit/linalg_factors",
    "einsum_path": "an order of products: tests/unit/linalg_einsum",
}


# ---- Other names or arguments -------------------------------------------------------------------

def cast(a, dtype):
    """The conversion of tenon-program(7): NumPy leaves numbers that do not fit to the compiler."""
    a, dtype = np.asarray(a), np.dtype(dtype)
    if a.dtype.kind == "c" and dtype.kind not in "cb":
        a = a.real
    if a.dtype.kind != "f" or dtype.kind not in "iu":
        return a.astype(dtype)
    limits = np.iinfo(dtype)
    whole = np.trunc(np.where(np.isnan(a), 0, a.astype(np.float64)))
    inside = (whole >= float(limits.min)) & (whole < float(limits.max // 2 + 1) * 2)
    return np.where(inside, np.where(inside, whole, 0).astype(dtype),
                    np.where(whole < 0, limits.min, limits.max).astype(dtype))


def full(shape, value, dtype):
    return np.full(tuple(shape), value, dtype) if isinstance(value, int) else \
        cast(np.full(tuple(shape), value), dtype)


def full_like(a, value, dtype):
    return full(a.shape, value, dtype)


def fill(out, value):
    out[...] = full((), value, out.dtype)


def copyto(out, a, where):
    np.copyto(out, a, where=where, casting="same_kind")


def assign(out, a):
    out[...] = cast(a, out.dtype)


def channels_last(a):
    if a.ndim != 4:
        raise ValueError("not an image")
    return a


def complex_of(real, imaginary):
    real, imaginary = np.broadcast_arrays(real, imaginary)
    z = np.empty(real.shape, np.result_type(real, imaginary, np.complex64))
    z.real, z.imag = real, imaginary
    return z


def slice_of(a, axis, start, stop, step):
    if not -a.ndim <= axis < a.ndim:
        raise IndexError(axis)
    return a[(slice(None),) * (axis % a.ndim) + (slice(start, stop, step),)]


def sorted_along(a, axis, descending):
    if not descending:
        return np.sort(a, axis, kind="stable")
    return np.flip(np.sort(a, axis, kind="stable"), axis)


def argsort(a, axis, descending):
    """Stable in either direction."""
    if not descending:
        return np.argsort(a, axis, kind="stable")
    length = a.shape[axis]
    return np.flip(length - 1 - np.argsort(np.flip(a, axis), axis, kind="stable"), axis)


def topk(a, k, axis, largest):
    if not 0 <= k <= a.shape[axis]:
        raise ValueError(k)
    order = np.take(argsort(a, axis, largest), np.arange(k), axis)
    return np.take_along_axis(a, order, axis), order


def matmul_into(c, a, transpose_a, b, transpose_b, alpha, beta):
    a = np.swapaxes(a, -1, -2) if transpose_a else a
    b = np.swapaxes(b, -1, -2) if transpose_b else b
    c[...] = alpha * np.matmul(a, b) + (beta * c if beta else 0)


def split_with(function):
    def split(a, n, indices, axis):
        return function(a, n if indices is None else indices, axis)
    return split


def block(counts, arrays):
    arrays = iter(arrays)

    def nested(level):
        return [next(arrays) if level == len(counts) - 1 else nested(level + 1)
                for _ in range(counts[level])]
    return np.block(nested(0))


def pad(a, widths, mode, values):
    pairs = list(zip(widths[::2], widths[1::2]))
    options = {}
    if values is not None:
        key = {"constant": "constant_values", "linear_ramp": "end_values"}.get(mode, "stat_length")
        numbers = [int(v) for v in values] if a.dtype.kind in "iub" or key == "stat_length" \
            else values
        options[key] = list(zip(numbers[::2], numbers[1::2]))
    if mode.endswith("_odd"):
        mode, options["reflect_type"] = mode[:-4], "odd"
    return np.pad(a, pairs, mode, **options)


def ravel_multi_index(indices, shape, bounds):
    return np.ravel_multi_index(tuple(indices), tuple(shape),
                                "raise" if bounds is None else tuple(bounds))


def index_put(a, terms, values, mode):
    target = a[terms]
    while values.ndim > target.ndim and len(values) == 1:
        values = values[0]
    if mode == "assign":
        a[terms] = cast(values, a.dtype)
    else:
        # NumPy's ufunc.at reads values that it has to broadcast from the wrong places.
        values = np.broadcast_to(values, target.shape).copy()
        {"add": np.add, "min": np.minimum, "max": np.maximum}[mode].at(a, terms, values)


def polyfit(x, y, degree, w):
    p = np.polyfit(x, y, degree, w=w)
    weights = np.ones(len(x)) if w is None else w
    fit = np.vander(x, degree + 1) @ p
    return p, np.atleast_1d((np.abs((y - fit).T * weights)**2).sum(-1))


def polydiv(a, b):
    """Leading zeros stay, and integers beside floating numbers count as those."""
    dtype = np.result_type(a, b)
    q, r = np.polydiv(a, b)
    length = max(min(len(b) - 1, len(a)), 1)
    r = np.concatenate([np.zeros(length, r.dtype), r])[-length:]
    return [x.astype(dtype if dtype.kind in "fc" else "f8") for x in (q, r)]


def polyder(p, m):
    """In the dtype of p."""
    if m < 0 or p.ndim != 1:
        raise ValueError(m)
    p = p.astype("i1") if p.dtype == bool and m else p
    for _ in range(m):
        p = p[:-1] * np.arange(len(p) - 1, 0, -1).astype(p.dtype)
    return p


def polyint(p, m, k):
    dtype = p.dtype if k is None else np.result_type(p, k)
    return np.polyint(p, m, k).astype(dtype if dtype.kind in "fc" else "f8") if m else p


def poly(zeros):
    """In the dtype of the zeros, also where that is of integers."""
    zeros = zeros.astype("i1") if zeros.dtype == bool else zeros
    p = np.ones(1, zeros.dtype)
    if zeros.ndim != 1:
        raise ValueError("no line")
    for zero in zeros:
        p = np.convolve(p, np.stack([np.ones_like(zero), -zero]))
    return p


def floating(function):
    """NumPy gives f64, the library the floating dtype that holds the integers."""
    return lambda a: function(a).astype(np.result_type(a.real, np.float16))


def spacing(a):
    """Of numbers below 0 away from 0; NumPy's f16 goes towards it."""
    if a.dtype.kind == "c":
        raise TypeError("complex")
    a = a.astype(np.result_type(a, np.float16))
    return np.where(a < 0, -1, 1).astype(a.dtype) * np.spacing(np.abs(a))


def sort_complex(a):
    return np.sort_complex(a).astype(np.result_type(a, np.complex64))


def select(conditions, choices, otherwise):
    return np.select(conditions, choices, np.zeros((), np.result_type(*choices))
                     if otherwise is None else otherwise)


def interp(x, xp, fp, left, right, period):
    dtype = np.result_type(x, xp, fp)
    result = np.interp(x, xp, fp, left, right, period or None)
    return result.astype(dtype if dtype.kind in "fc" else "f8")


def unwrap(a, discont, axis, period):
    a = a if a.dtype.kind == "f" else a.astype(np.float64)
    return np.unwrap(a, discont or None, axis, period=period)


def unique(a, axis, equal_nan):
    return np.unique(a, True, True, True, axis, equal_nan=equal_nan)


def intersect1d(a, b, assume_unique):
    return np.intersect1d(a, b, assume_unique, True)


def average(a, weights, axes, keepdims):
    return np.average(a, axes if axes is None else tuple(axes), weights, True, keepdims=keepdims)


def quantile_with(function):
    def quantile(a, n_q, q, options):
        if a.dtype.kind in "iu" and options["method"] not in DISCRETE:
            a = a.astype(np.float64)  # differences of integers wrap
        result = np.asarray(function(a, q[0] if n_q == -1 else q, **options))
        if a.dtype.kind == "f" or options["method"] in DISCRETE:
            return result.astype(a.dtype)
        return result.astype(np.float64)
    return quantile


DISCRETE = ["inverted_cdf", "closest_observation", "lower", "higher", "nearest"]


def cov(m, y, rowvar, ddof, fweights, aweights):
    return np.cov(m, y, rowvar, ddof=ddof, fweights=fweights, aweights=aweights)


def corrcoef(x, y, rowvar):
    return np.corrcoef(x, y, rowvar)


def searchsorted(a, v, right, sorter):
    return np.searchsorted(a, v, "right" if right else "left", sorter)


def with_edges(a, counts, edges):
    """Edges have the dtype of the numbers, f64 for integers."""
    return [counts, *(e.astype(a.dtype if a.dtype.kind == "f" else "f8") for e in edges)]


def histogram(a, options):
    counts, edges = np.histogram(a, **options)
    return with_edges(a, counts, [edges])


def histogram2d(x, y, options):
    counts, *edges = np.histogram2d(x, y, **options)
    return with_edges(x, counts, edges)


def histogramdd(sample, options):
    return with_edges(sample, *np.histogramdd(sample, **options))


def histogram_bin_edges(a, rule, range):
    return np.histogram_bin_edges(a, rule, range)


def reduce(a, reducer, axes, options):
    a = cast(a, options["dtype"]) if "dtype" in options else a
    return getattr(np, reducer)(a, axis=axes if axes is None else tuple(axes), **options)


def ufunc_call(ufunc, inputs, options):
    return getattr(np, ufunc[0])(*inputs, **options)


def ufunc_outer(ufunc, a, b):
    return getattr(np, ufunc[0]).outer(a, b)


def ufunc_reduce(ufunc, a, axes, keepdims, options):
    function = getattr(np, ufunc[0])
    axis = axes[0] if axes else 0
    # NumPy's own reductions of these pass over elements.
    if ufunc[0] in ("arctan2", "power") and not options and a.size and a.ndim > axis >= -a.ndim \
            and (len(axes) == 1 if axes else axes is None and a.ndim == 1):
        last = np.take(function.accumulate(a, axis), [-1], axis)
        return last if keepdims else np.squeeze(last, axis)
    return function.reduce(a, axes if axes is None else tuple(axes), keepdims=keepdims, **options)


def ufunc_accumulate(ufunc, a, axis):
    return getattr(np, ufunc[0]).accumulate(a, axis)


def ufunc_at(ufunc, a, indices, b):
    getattr(np, ufunc[0]).at(a, indices, np.broadcast_to(b, a[indices].shape).copy())


def can_cast(_, values):
    return np.can_cast(values["from"], values["to"], values["casting"])


def window(function):
    def windowed(dtype, n):
        if n < 0:
            raise ValueError(n)
        return function(n).astype(dtype)
    return windowed


def kaiser(dtype, n, beta):
    if n < 0:
        raise ValueError(n)
    return np.kaiser(n, beta).astype(dtype)


def elementwise(function):
    """A function of Python's math, where it overflows infinite."""
    def value(x):
        try:
            return function(x)
        except OverflowError:
            return math.inf
        except ValueError:
            return math.inf if x in (0, -1, -2) or x == math.floor(x) else math.nan
    return lambda a: np.vectorize(value, otypes="d")(a).astype(np.result_type(a, np.float16))


def put_cast(function):
    """NumPy converts values by the rule "safe", these functions by any."""
    def converted(a, places, values, **options):
        function(a, places, cast(values, a.dtype), **options)
    return converted


put, put_along_axis, place, putmask = map(put_cast, (np.put, np.put_along_axis, np.place,
                                                     np.putmask))

def tensordot(a, b, n, axes_a, axes_b):
    return np.tensordot(a, b, n if axes_a is None else (tuple(axes_a), tuple(axes_b)))


def norm(a, axes, keepdims):
    """Of any axes: NumPy takes one, two, or all."""
    return vector_norm(a, 2.0, axes, keepdims)


def vector_norm(a, order, axes, keepdims):
    if axes is not None and not len(axes):
        a, axes = np.asarray(a)[..., np.newaxis], [-1]
        return vector_norm(a, order, axes, False)
    return np.linalg.vector_norm(a, axis=axes if axes is None else tuple(axes), ord=order,
                                 keepdims=keepdims)


def matrix_norm(a, order, keepdims):
    return np.linalg.matrix_norm(a, ord=order if order == "fro" else float(order),
                                 keepdims=keepdims)


def solve_triangular(a, b, lower, transpose, unit_diagonal):
    a = np.tril(a) if lower else np.triu(a)
    if unit_diagonal:
        unit = np.eye(a.shape[-1], dtype=bool)
        a = np.where(unit, np.ones((), a.dtype), a)
    a = a if not transpose else np.swapaxes(a, -2, -1)
    return np.linalg.solve(a.conj() if transpose == 2 else a, b)


def lstsq(a, b, rtol):
    """The sums of squares also where NumPy gives none, and the rank as an array."""
    x, _, rank, s = np.linalg.lstsq(a, b, rcond=tolerance(a, rtol))
    return x, np.sum(np.abs(b - a @ x)**2, axis=0, keepdims=b.ndim == 1), np.int64(rank), s


def tolerance(a, rtol):
    dtype = a.dtype if a.dtype.kind in "fc" else np.float64
    return rtol if rtol >= 0 else max(a.shape[-2:]) * np.finfo(dtype).eps


def cond(a, order):
    if order not in ("2", "-2") and a.ndim >= 2 and a.shape[-1] == a.shape[-2]:
        np.linalg.inv(a)
    return np.linalg.cond(a, order if order in ("fro", "nuc") else float(order))


OTHERS = {
    "cholesky": lambda a, upper: np.linalg.cholesky(a, upper=upper),
    "eigvalsh": lambda a, upper: np.linalg.eigvalsh(a, "U" if upper else "L"),
    "solve_triangular": solve_triangular, "lstsq": lstsq, "cond": cond,
    "pinv": lambda a, rtol: np.linalg.pinv(a, rtol=tolerance(a, rtol)),
    "matrix_rank": lambda a, rtol: np.linalg.matrix_rank(a, rtol=tolerance(a, rtol)),
    "tensorsolve": lambda a, b, axes: np.linalg.tensorsolve(a, b, axes or None),
    "full": full, "full_number": full, "full_like": full_like, "full_like_number": full_like,
    "fill": fill, "fill_number": fill, "assign": assign, "copyto": copyto,
    "scalar_f32": lambda value: np.float32(value),
    "arange": lambda start, stop, step, dtype: np.arange(start, stop, step).astype(dtype),
    "arange_number": lambda start, stop, step, dtype:
        np.array([np.dtype(dtype).type(x) for x in range(start, stop, step)], dtype),
    "contiguous": lambda a: a, "channels_last": channels_last,
    "astype": cast, "complex": complex_of,
    "affine": lambda a, alpha, beta: alpha * a + beta,
    "transpose": lambda a, axes: np.transpose(a, axes),
    "slice": slice_of,
    "sliding_window_view": lambda a, window, axes:
        np.lib.stride_tricks.sliding_window_view(a, tuple(window), tuple(axes)),
    "add_into": lambda out, a, b: np.add(a, b, out=out),
    "subtract_into": lambda out, a, b: np.subtract(a, b, out=out),
    "multiply_into": lambda out, a, b: np.multiply(a, b, out=out),
    "logsumexp": lambda a, axes, keepdims: np.logaddexp.reduce(
        a, axes if axes is None else tuple(axes), keepdims=keepdims),
    "logcumsumexp": lambda a, axis: np.logaddexp.accumulate(a, axis),
    "matmul_into": matmul_into, "tensordot": tensordot,
    "einsum": lambda subscripts, operands: np.einsum(subscripts, *operands),
    "multi_dot": lambda arrays:
        np.linalg.multi_dot([a.astype(np.result_type(*arrays)) for a in arrays]),
    "norm": norm, "vector_norm": vector_norm, "matrix_norm": matrix_norm,
    "sort": sorted_along, "argsort": argsort, "topk": topk,
    "cummax": lambda a, axis: np.maximum.accumulate(a, axis),
    "cummin": lambda a, axis: np.minimum.accumulate(a, axis),
    "index": lambda a, terms: a[terms], "index_put": index_put,
    "ix": lambda lines: np.ix_(*lines), "ravel_multi_index": ravel_multi_index,
    "diag_indices": lambda n, rank: np.diag_indices(n, rank),
    "meshgrid": lambda arrays, indexing: np.meshgrid(*arrays, indexing=indexing),
    "indices": lambda shape, dtype: np.indices(tuple(shape), dtype),
    "vander": lambda a, n, increasing: np.vander(a, n, increasing),
    "block": block, "split": split_with(np.split), "array_split": split_with(np.array_split),
    "delete": lambda a, indices, axis: np.delete(a, indices, axis),
    "insert": lambda a, indices, values, axis:
        np.insert(
            a, indices, cast(values, a.dtype), axis),
    "resize": lambda a, shape: np.resize(a, shape),
    "rot90": lambda a, k, axis1, axis2: np.rot90(a, k, (axis1, axis2)),
    "roll": lambda a, shifts, axes: np.roll(a, shifts[0] if axes is None else shifts, axes),
    "pad": pad,
    "put": lambda a, indices, values, bounds: put(a, indices, values, mode=bounds),
    "put_along_axis": lambda a, indices, values, axis:
        put_along_axis(a, indices, values, axis=axis),
    "place": lambda a, mask, values: place(a, mask, values),
    "putmask": lambda a, mask, values: putmask(a, mask, values),
    "fill_diagonal": lambda a, values, wrap: np.fill_diagonal(a, cast(values, a.dtype), wrap),
    "select": select, "i0": floating(np.i0), "angle": floating(np.angle),
    "sort_complex": sort_complex,
    "spacing": spacing,
    "cumulative_sum": lambda a, axis, dtype, include_initial: np.cumulative_sum(
        cast(a, dtype), axis=axis, dtype=dtype, include_initial=include_initial),
    "cumulative_prod": lambda a, axis, dtype, include_initial: np.cumulative_prod(
        cast(a, dtype), axis=axis, dtype=dtype, include_initial=include_initial),
    "polyint": polyint,
    "polyder": polyder,
    "polymul": lambda a, b: np.convolve(a, b), "polydiv": polydiv,
    "poly": poly,
    "roots": lambda p: np.roots(p).astype(complex),
    "polyfit": polyfit, "interp": interp, "unwrap": unwrap,
    "bartlett": window(np.bartlett), "blackman": window(np.blackman),
    "hamming": window(np.hamming), "hanning": window(np.hanning), "kaiser": kaiser,
    "unique": unique, "intersect1d": intersect1d, "average": average,
    "gradient": lambda a, spacing, axis, edge_order:
        np.gradient(a, spacing, axis=axis, edge_order=edge_order),
    "quantile": quantile_with(np.quantile), "percentile": quantile_with(np.percentile),
    "nanquantile": quantile_with(np.nanquantile),
    "nanpercentile": quantile_with(np.nanpercentile),
    "cov": cov, "corrcoef": corrcoef, "searchsorted": searchsorted,
    "histogram": histogram, "histogram2d": histogram2d, "histogramdd": histogramdd,
    "histogram_bin_edges": histogram_bin_edges, "reduce": reduce,
    "ufunc_call": ufunc_call, "ufunc_outer": ufunc_outer, "ufunc_reduce": ufunc_reduce,
    "ufunc_accumulate": ufunc_accumulate, "ufunc_at": ufunc_at,
    "erf": elementwise(math.erf), "erfc": elementwise(math.erfc),
    "lgamma": elementwise(math.lgamma),
}


def counterpart(prototype):
    """What to call in place of a function; None: there is nothing, and a row says why.  Fails where
    a row is missing."""
    name = prototype.name
    if name in WITHOUT:
        return None
    if name == "can_cast":
        return can_cast
    if name in OTHERS:
        return by_arguments(OTHERS[name])
    function = next((getattr(module, name) for module in (np, np.linalg, np.fft)
                     if callable(getattr(module, name, None))), None)
    if function is None:
        raise LookupError(f"{prototype}: NumPy has no function of this name: a row of OTHERS "
                          "or WITHOUT is missing in counterparts.py")
    if not takes_all(function, prototype):
        raise LookupError(f"{prototype}: numpy.{name} takes other arguments: a row of OTHERS is "
                          "missing in counterparts.py")
    return by_name(function)


def functions(prototypes):
    """The functions that take part, with their counterparts."""
    return {name: counterpart(p) for name, p in prototypes.items()
            if p.header not in ELSEWHERE and (p.has_arrays() or name == "can_cast")}
