# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""What the library gave beside what NumPy gave: dtypes, shapes, elements, errors.

Integers and bool are equal, and so are the results of moves, selections and of arithmetic that
rounds once.  Others are compared with NumPy's in f64: elementary functions by the units in the last
place that their pages state, sums by the rounding errors of their terms, the rest by those of the
largest number."""
import numpy as np
from calls import as_it_is
from operands import COMPLEX, NUMPY, REAL, TENON, to_bf16

# ---- Bounds -------------------------------------------------------------------------------------

# Floating results that are exact, or correctly rounded.
EXACT = set("""
    abs add append arange arange_number argmax argmin around as_strided assign astype
    atleast_1d atleast_2d atleast_3d block broadcast_to channels_last choose clip complex compress
    concatenate conj contiguous copy copysign copyto cummax cummin delete diag diagonal diff divide
    ediff1d expand_dims extract eye fabs fill fill_diagonal fill_number fix flip floor
    ceil floor_divide fmax fmin fmod frexp full full_like full_like_number full_number heaviside
    identity imag index index_put indices insert intersect1d ix ldexp max maximum meshgrid min
    minimum modf moveaxis multiply multiply_into nanmax nanmin nan_to_num negative nextafter ones
    ones_like partition place positive ptp put put_along_axis putmask real real_if_close reciprocal
    remainder divmod repeat reshape resize rint roll rot90 round scalar_f32 select setdiff1d
    setxor1d sign slice sliding_window_view sort sort_complex spacing split array_split sqrt square
    squeeze stack subtract subtract_into swapaxes take take_along_axis tile topk transpose tri tril
    trim_zeros triu trunc union1d unique unstack where zeros zeros_like add_into polyadd polysub
    isin lexsort outer kron matrix_transpose
""".split())

# Those of which that is said of real numbers alone.
EXACT_IF_REAL = set("""
    abs sign sqrt reciprocal multiply multiply_into divide square outer kron
""".split())

# NumPy has no bf16, to which each of several steps is rounded.
SEVERAL_STEPS = {"diff", "index_put", "divmod", "ptp", "remainder", "floor_divide"}

# Units in the last place, as tn_ufunc(3), tn_special(3) and tenon-program(7) state them.
UNITS = {
    **dict.fromkeys("deg2rad rad2deg radians degrees".split(), 1),
    **dict.fromkeys("hypot cbrt".split(), 2),
    **dict.fromkeys("""exp log sin cos tanh exp2 expm1 log2 log1p float_power power tan arcsin
                       arccos arctan arctan2 sinh cosh erf angle""".split(), 4),
    "log10": 5, **dict.fromkeys("arcsinh arccosh arctanh".split(), 6),
    **dict.fromkeys("erfc i0".split(), 8),
}
# The same, and units of the numbers just below 1.
NEAR_ONE = {"sinc": (5, 2), "logaddexp": (6, 2), "logaddexp2": (6, 2), "lgamma": (10, 10)}
# NumPy's own in f64.
NUMPY_UNITS = 4

# Sums of products, linear in each operand: errors are of the size of the terms.
LINEAR = set("""
    sum mean nansum nanmean cumsum nancumsum cumulative_sum matmul convolve correlate prod
    nanprod cumprod nancumprod cumulative_prod polyval polymul dot vdot vecdot inner matvec vecmat
    tensordot einsum multi_dot matrix_power trace
""".split())
PRODUCTS = {"prod", "nanprod", "cumprod", "nancumprod", "cumulative_prod"}
# What results gain in error from how the problem is conditioned.
CONDITIONED = {"polyfit": 1e4, **dict.fromkeys("""cholesky cond det eigvalsh inv lstsq pinv
    slogdet solve solve_triangular svdvals tensorinv tensorsolve""".split(), 100)}
# NumPy does not say which of two zeros is the larger, or which of equal elements stays.
ANY_ZERO = set("""
    maximum minimum fmax fmin clip max min nanmax nanmin nextafter cummax cummin ptp
    union1d intersect1d setdiff1d setxor1d unique reduce sort sort_complex partition topk
    ufunc_call ufunc_reduce ufunc_accumulate ufunc_outer ufunc_at index_put
""".split())

# Functions with jumps, or whose integers wrap on the way, where NumPy's results in the call's own
# dtypes count.
JUMPS = {"unwrap", "trapezoid", "ufunc_call", "ufunc_outer", "ufunc_reduce", "ufunc_accumulate",
         "ufunc_at"}

# Elements that are not specified.
UNSPECIFIED = {"empty", "empty_like"}


class Mismatch(Exception):
    pass


# ---- What is expected ---------------------------------------------------------------------------

def f16_for_bf16(dtype):
    return {"bf16": "f16", "f16": "f32"}.get(dtype, dtype)


def not_half(dtype):
    """NumPy gives f16 for functions of these."""
    return "i16" if dtype in ("bool", "i8", "u8") else dtype


def widened(dtype):
    """f64 for all that is computed in less."""
    return {"f16": "f64", "bf16": "f64", "f32": "f64", "c64": "c128", "bool": "i32", "i8": "i32",
            "u8": "i32", "i16": "i32", "u16": "i32"}.get(dtype, dtype)


class Expected:
    """NumPy's results of a call in the dtypes of the call, with the dtypes that the library's have;
    or its error."""

    def __init__(self, call, counterpart):
        self.call, self.counterpart, self.error, self.results = call, counterpart, None, []
        self.given = {x.dtype for x in call.operands()}
        self.given |= {x for x in call.values.values() if isinstance(x, str) and x in NUMPY}
        try:
            self.results = call.expected(counterpart, as_it_is)
            if "f16" not in self.given and any(x.dtype == np.float16 for x in self.results):
                self.results = call.expected(counterpart, not_half)
            self.dtypes = self.library_dtypes()
        except Exception as error:  # whatever NumPy raises
            self.error = error

    def library_dtypes(self):
        """bf16 has the place of f16, and both give f32."""
        dtypes = [TENON.get(x.dtype) for x in self.results]
        written = [self.call.values[p.name].dtype for p in self.call.prototype.parameters
                   if p.type == "tn_array *"]
        if written and self.call.prototype.result == "tn_status":
            return written
        if self.call.values.get("dtype"):
            return [self.call.values["dtype"]] + dtypes[1:]
        if "bf16" in self.given:
            swapped = self.call.expected(self.counterpart, f16_for_bf16)
            dtypes = ["bf16" if x.dtype == np.float16 else d for x, d in zip(swapped, dtypes)]
        return dtypes

    def wide(self):
        if self.call.prototype.name in JUMPS:
            return self.results
        with np.errstate(all="ignore"):
            return self.call.expected(self.counterpart, widened)

    def of_sizes(self):
        """NumPy's results for the absolute values of the operands."""
        def absolute(prototype, values):
            return self.counterpart(prototype, {n: sizes(v) for n, v in values.items()})
        return self.call.expected(absolute, widened)


def sizes(value):
    if isinstance(value, np.ndarray) and value.dtype.kind in "fciu":
        # The size of the smallest integer is no integer.
        value = np.abs(value.astype("f8") if value.dtype.kind == "i" else value)
        return value.real if value.dtype.kind == "c" else value
    return [sizes(x) for x in value] if isinstance(value, list) and value and \
        isinstance(value[0], np.ndarray) else value


# ---- Elements -----------------------------------------------------------------------------------

def equal(found, expected):
    """Element by element: NaN equals NaN, a complex one any other, and -0 only -0."""
    if found.dtype.kind == "c":
        return (equal(found.real, expected.real) & equal(found.imag, expected.imag)) | \
            (np.isnan(found) & np.isnan(expected))
    same = found == expected
    if found.dtype.kind == "f":
        same &= np.signbit(found) == np.signbit(expected)
        same |= np.isnan(found) & np.isnan(expected)
    return same


def info_of(dtype):
    """The distance from 1 to the next number, the least normal number, and the largest one."""
    if dtype == "bf16":
        return 2.0**-7, 2.0**-126, float(np.float32(3.3895314e38))
    info = np.finfo(NUMPY[dtype])
    return float(info.eps), float(info.tiny), float(info.max)


def to_dtype(values, dtype):
    values = np.asarray(values)
    if values.dtype.kind == "c" and dtype not in COMPLEX:
        values = values.real
    return to_bf16(values) if dtype == "bf16" else values.astype(NUMPY[dtype])


def unit(values, dtype):
    """The last place of numbers of that size."""
    eps, tiny, _ = info_of(dtype)
    sizes_ = np.maximum(np.abs(values), tiny)
    return eps * 2.0**np.floor(np.log2(np.where(np.isfinite(sizes_), sizes_, 1)))


def near(found, expected, bound, dtype, limit):
    """Whether real numbers differ by no more than the bound; what overflows beside `limit` may."""
    largest = info_of(dtype)[2]
    found, expected = found.astype(np.float64), np.asarray(expected, np.float64)
    rounded = to_dtype(expected, dtype).astype(np.float64)
    same = (found == rounded) | (np.isnan(found) & np.isnan(rounded))
    finite = np.isfinite(found) & np.isfinite(expected)
    with np.errstate(all="ignore"):
        same |= finite & (np.abs(found - expected) <= bound)
    return same | ~(limit < largest)


def compare_floating(expected, found, dtype, i):
    """Result i, where it does not have to be equal."""
    name, wide = expected.call.prototype.name, expected.wide()[i]
    eps, tiny, _ = info_of(dtype)
    count = max([found.size] + [x.numpy().size for x in expected.call.operands()])
    own = 1 if dtype in ("f16", "bf16") else NUMPY_UNITS if dtype in ("f64", "c128") else 0
    coarse = max([eps] + [info_of(d)[0] for d in expected.given if d in REAL + COMPLEX])
    if name in PRODUCTS and not of_moderate_size(expected.call):
        return np.ones(found.shape, bool)
    if name == "ufunc_call":  # a result in f32 may be written to a wider array
        coarse = max(coarse, info_of("f32")[0])
    if dtype in COMPLEX:
        return compare_complex(expected, found, wide, coarse, count)
    wide = np.asarray(wide.real, np.float64)
    if name in UNITS or name in NEAR_ONE:
        units, ones = NEAR_ONE.get(name, (UNITS.get(name), 0))
        if dtype in ("f16", "bf16"):
            units = 0
        bound = (units + own) * unit(wide, dtype) + (ones and ones + own) * eps / 2
        return near(found, wide, bound, dtype, np.zeros(()))
    if name in LINEAR:
        terms = np.asarray(expected.of_sizes()[i].real, np.float64)
    else:
        terms = np.asarray(largest_of(expected, wide))
    bound = (count + 8) * 2 * coarse * CONDITIONED.get(name, 1) * terms
    bound = bound + own * unit(wide, dtype) + tiny
    return near(found, wide, bound, dtype, terms * count)


def of_moderate_size(call):
    """Whether products in any order neither overflow nor underflow on their way."""
    values = [np.abs(x.numpy().astype(complex)) for x in call.operands()]
    return all(((x == 0) | (x > 0.1) & (x < 30) | ~np.isfinite(x)).all() and x.size < 40
               for x in values)


def largest_of(expected, wide):
    """The largest product of two numbers of a call."""
    largest = [np.float64(1)]
    for values in [x.numpy() for x in expected.call.operands()] + [wide]:
        largest.append(np.abs(values[np.isfinite(values)].astype(complex)).max(initial=0))
    return max(largest)**2


def compare_complex(expected, found, wide, eps, count):
    """Of numbers of moderate size alone: others give what C gives."""
    largest = largest_of(expected, wide)
    everything = [x.numpy() for x in expected.call.operands()] + [wide]
    if largest > 1e4 or not all(np.isfinite(x).all() for x in everything):
        return np.ones(found.shape, bool)
    bound = eps * 16 * np.maximum(np.abs(wide), 1) + eps * (count + 8) * largest
    return np.abs(found.astype(complex) - wide) <= bound


# ---- Results that may differ in their order -----------------------------------------------------

def parts(call, values):
    """Elements between the places of a partition, each part sorted."""
    if call.values["axis"] is None:
        values = values.reshape(-1)
    axis = call.values["axis"] or 0
    if not values.ndim or not values.size:
        return values
    length = values.shape[axis]
    places = sorted({k % length for k in call.values["kth"]})
    edges = [0] + [e for k in places for e in (k, k + 1)] + [length]
    return np.concatenate([np.sort(np.take(values, np.arange(a, b), axis), axis)
                           for a, b in zip(edges, edges[1:])], axis) + values.dtype.type(0)


def elements_at(call, indices):
    a = call.values["a"].numpy()
    if call.values["axis"] is None:
        return parts(call, a.reshape(-1)[indices])
    return parts(call, np.take_along_axis(a, indices, call.values["axis"]))


def ordered(_, values):
    return np.sort_complex(np.round(values, 6)) + 0


CANONICAL = {"partition": parts, "argpartition": elements_at, "roots": ordered}


# ---- Calls --------------------------------------------------------------------------------------

def first_difference(found, expected, same):
    same = np.broadcast_to(same, found.shape)
    place = tuple(int(i) for i in np.unravel_index(np.argmin(same), found.shape))
    return f"{(~same).sum()} of {found.size} differ, the first at {place}: " \
           f"found {found[place]!r}, expected {expected[place]!r}"


def is_exact(expected):
    name, given = expected.call.prototype.name, expected.given
    return name in CANONICAL or name in EXACT and not (
        name in EXACT_IF_REAL and given & set(COMPLEX) or
        name in SEVERAL_STEPS and "bf16" in given)


def compare_result(expected, found, i):
    dtype, values = found
    wanted = expected.results[i]
    if dtype == "value":
        if bool(values) != bool(wanted):
            raise Mismatch(f"value: found {values}, expected {wanted}")
        return
    name = expected.call.prototype.name
    if values.shape != wanted.shape:
        raise Mismatch(f"result {i}: shape: found {values.shape}, expected {wanted.shape}")
    if expected.dtypes[i] != dtype:
        raise Mismatch(f"result {i}: dtype: found {dtype}, expected {expected.dtypes[i]}")
    if name in UNSPECIFIED or not values.size:
        return
    if name in CANONICAL:
        values, wanted = (CANONICAL[name](expected.call, x) for x in (values, wanted))
    exact = to_dtype(wanted, dtype) if values.dtype.kind in "fc" and name not in CANONICAL \
        else wanted
    same = equal(values, exact)
    if name in ANY_ZERO:
        same |= values == exact
    if not same.all() and values.dtype.kind in "fc" and not is_exact(expected):
        same = same | compare_floating(expected, values, dtype, i)
        exact = expected.wide()[i]
    if not same.all():
        raise Mismatch(f"result {i} {dtype}: " + first_difference(values, exact, same))


def compare(expected, found):
    if len(found) != len(expected.results):
        raise Mismatch(f"found {len(found)} results, expected {len(expected.results)}")
    for i, result in enumerate(found):
        compare_result(expected, result, i)
