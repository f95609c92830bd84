# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Where the library departs from NumPy: as tn_array(3) lists it, or where NumPy is wrong, or
refuses or takes what has no elements, no axes or no meaning."""
import numpy as np
from operands import COMPLEX, INTEGERS, REAL

# ---- Questions about a call ---------------------------------------------------------------------


def function_of(expected):
    """The name of the function, or of the one that is called as an object."""
    return str(expected.call.values.get("ufunc", expected.call.prototype.name))


def has_complex(expected):
    return bool(expected.given & set(COMPLEX))


def has_0d(expected):
    return any(not x.shape for x in expected.call.operands())


def is_empty(expected):
    return any(0 in x.shape for x in expected.call.operands())


def is_finite(expected):
    return all(np.isfinite(x.numpy()).all() for x in expected.call.operands())


def is_constant(expected):
    """Whether a variable of a correlation is one number throughout, which rounding may hide."""
    axis = -1 if expected.call.values["rowvar"] else 0
    arrays = [x.numpy() for x in expected.call.operands()]
    return any(x.size and (x.take([0], axis) == x).all(axis).any() for x in arrays if x.ndim)


def has_nan(expected):
    return any(np.isnan(x.numpy()).any() for x in expected.call.operands())


def may_overflow(expected):
    """Whether a product of some of several operands may, that the others make small again."""
    operands = [np.abs(x.numpy().astype(complex)) for x in expected.call.operands()]
    if any(not np.isfinite(x).all() for x in operands):
        return True
    factors = operands * max(expected.call.values.get("n", 1), 1)
    digits = sum(np.log2(max(x.max(initial=1), 1) * max(x.size, 1)) for x in factors)
    narrow = expected.given & {"f16"}
    return digits > (15 if narrow else 1023 if not expected.given - {"f64", "c128"} else 127)


def is_one_column(expected):
    """What NumPy does not transpose in y, though it does in m."""
    values = expected.call.values
    return "rowvar" in values and not values["rowvar"] and values["y"] is not None and \
        values["y"].shape[0] == 1


# ---- Errors that NumPy does not have ------------------------------------------------------------

ORDERED = set("""
    less less_equal greater greater_equal maximum minimum fmax fmin max min nanmax nanmin argmax
    argmin nanargmax nanargmin ptp clip cummax cummin topk median nanmedian searchsorted digitize
    heaviside quantile nanquantile percentile nanpercentile histogram pad reduce sign
    ufunc_call ufunc_reduce ufunc_accumulate ufunc_outer ufunc_at index_put
""".split())
NUMBERS = ("full_number", "full_like_number", "fill_number")

REFUSED = [
    ("complex numbers have no order (tn_array(3))", "DTYPE",
     lambda e, name: has_complex(e) and name in ORDERED),
    ("phases are real (tenon/signal.h)", "DTYPE",
     lambda e, name: has_complex(e) and name == "unwrap"),
    ("a 0-d array has no axis", "INVALID_ARGUMENT",
     lambda e, name: has_0d(e) and "axis" in e.call.values),
    ("a complex number becomes complex dtypes alone (tenon/number.h)", "DTYPE",
     lambda e, name: isinstance(e.call.values.get("value"), complex)),
    ("a length below 0 is an error", "INVALID_ARGUMENT",
     lambda e, name: name in ("eye", "tri", "identity")),
    ("a window has an element", "SHAPE", lambda e, name: name == "sliding_window_view"),
    ("a polynomial is a line (tenon/polynomial.h)", "SHAPE",
     lambda e, name: name.startswith("poly")),
    ("indices are integers", "DTYPE", lambda e, name: name == "ix"),
    ("an integer number must fit the dtype (tenon/number.h)", "INVALID_ARGUMENT",
     lambda e, name: "bool" in e.given and (name in NUMBERS or name == "reduce")),
    ("an empty axis has no places", "INVALID_ARGUMENT",
     lambda e, name: name in ("partition", "argpartition") and not e.results[0].size),
    ("values fill a diagonal", "SHAPE", lambda e, name: name == "fill_diagonal"),
    ("a result is castable to the array by the rule same_kind (tenon/ufunc_call.h)", "DTYPE",
     lambda e, name: name == "ufunc_at"),
    ("lines have one axis (tenon/signal.h)", "SHAPE",
     lambda e, name: name in ("convolve", "correlate") and has_0d(e)),
    ("bool has no difference (tenon/manipulate.h, tenon/signal.h, tenon/statistics.h)", "DTYPE",
     lambda e, name: (name in ("pad", "cross") or "ntile" in name) and "bool" in e.given),
    ("an axis is there also where nothing is done along it", "INVALID_ARGUMENT",
     lambda e, name: name == "diff" and e.call.values["n"] == 0),
    ("an index is in range, also where it is for nothing", "INVALID_ARGUMENT",
     lambda e, name: name in ("ravel_multi_index", "choose", "put", "take") and is_empty(e)),
    ("an array that is written does not lose axes (tenon/array.h)", "SHAPE",
     lambda e, name: name in ("assign", "copyto")
     and len(e.call.values["a"].shape) > len(e.call.values["out"].shape)),
    ("values broadcast to the elements inserted (tenon/manipulate.h)", "SHAPE",
     lambda e, name: name == "insert"),
    ("observations are along one axis of both arrays (tenon/statistics.h)", "SHAPE",
     lambda e, name: is_one_column(e)),
    ("weights are real, also those of nothing (tenon/statistics.h)", "DTYPE",
     lambda e, name: name == "bincount" and has_complex(e)),
    ("arrays of a chain are matrices, also if there are two", "SHAPE",
     lambda e, name: name == "multi_dot"),
    ("f16 and bf16 are not decomposed, also where there is nothing (tenon/linalg.h)", "DTYPE",
     lambda e, name: name == "pinv" and is_empty(e)),
    ("no quantile of no elements", "SHAPE", lambda e, name: "ntile" in name),
]

# ---- Calls that NumPy refuses -------------------------------------------------------------------

CHOICES = ("argmin", "argmax", "max", "min", "nanmax", "nanmin", "nanargmax", "nanargmin", "ptp",
           "reduce", "ufunc_reduce")

TAKEN = [
    ("integers to a power below 0 are truncated (tn_array(3))",
     lambda e, name: "negative integer powers" in str(e.error)),
    ("bool counts as i8 (tenon/ufunc.h)", lambda e, name: name in ("gcd", "lcm", "around", "power",
                                                                 "left_shift", "right_shift")
     and "bool" in e.given),
    ("a 0-d array is padded along no axis",
     lambda e, name: name == "pad" and not e.call.values["a"].shape),
    ("weights that add up to 0 give NaN or infinity (tn_array(3))",
     lambda e, name: isinstance(e.error, ZeroDivisionError) and name in ("average", "cov")),
    ("a mask may have more axes of length 1 in front",
     lambda e, name: name == "copyto" and "where mask" in str(e.error)),
    ("NumPy's quantiles of nothing fail", lambda e, name: is_empty(e) and
     ("ntile" in name or "median" in name)),
    ("where there is nothing but NaN the place is 0 (tenon/order.h)",
     lambda e, name: name in ("nanargmin", "nanargmax") and "All-NaN" in str(e.error)),
    ("indices of nothing are not read", lambda e, name: name == "take" and is_empty(e)),
    ("nothing is chosen where the result has no elements",
     lambda e, name: is_empty(e) and name in CHOICES),
]

# ---- Other results ------------------------------------------------------------------------------

IN_ORDER = ("arctan2", "power", "float_power", "subtract", "divide", "remainder", "fmod",
            "floor_divide", "copysign", "heaviside", "left_shift", "right_shift")

DIFFERENT = [
    ("the reciprocal of the integer 0 is 0 (tn_array(3))",
     lambda e, name: function_of(e) == "reciprocal" and e.given & set(INTEGERS)),
    ("tn_around computes f16 in f32, and does not wrap integers (tn_array(3))",
     lambda e, name: name == "around" and e.given & {"f16", *INTEGERS}),
    ("NumPy's reductions in order forget elements that they convert",
     lambda e, name: name == "ufunc_reduce" and function_of(e) in IN_ORDER
     and ("initial" in str(e.call.values["options"]) or e.given & set(INTEGERS))),
    ("NumPy does not order rows with NaN",
     lambda e, name: name == "unique" and e.call.values["axis"] is not None and has_nan(e)),
    ("towers of complex powers overflow and underflow on their way",
     lambda e, name: has_complex(e) and name != function_of(e)
     and function_of(e) in ("power", "float_power")),
    ("elements that are not set", lambda e, name: e.call.values.get("mode") == "empty"),
    ("both edges are in the sums of odd reflections, where one may be infinite",
     lambda e, name: str(e.call.values.get("mode")).endswith("_odd") and not is_finite(e)),
    ("means and ramps of integers are computed in f64",
     lambda e, name: e.call.values.get("mode") in ("mean", "linear_ramp")
     and e.given & {"i64", "u64"}),
    ("NumPy's i0 of infinity is NaN",
     lambda e, name: name == "i0" and np.isinf(e.call.values["a"].numpy()).any()),
    ("NumPy's bincount of nothing forgets the weights",
     lambda e, name: name == "bincount" and is_empty(e)),
    ("observations are along one axis of both arrays (tenon/statistics.h)",
     lambda e, name: is_one_column(e)),
    ("NumPy's covariance of nothing is real",
     lambda e, name: name in ("cov", "corrcoef") and is_empty(e)),
    ("NumPy's quantiles of nothing have other shapes",
     lambda e, name: ("ntile" in name or "median" in name) and is_empty(e)),
    ("a correlation with what does not vary is rounding errors",
     lambda e, name: name == "corrcoef" and is_constant(e)),
    ("a sum of infinite numbers may be beyond the ends of a line (tenon/signal.h)",
     lambda e, name: name in ("convolve", "correlate", "polymul", "poly")
     and not is_finite(e)),
    ("factors meet in pairs, whose products may overflow before they meet a 0",
     lambda e, name: ("f16" in e.given and name == "ufunc_at" and function_of(e) == "multiply")
     or (e.call.values.get("reducer") == "prod" and (
         "f16" in e.given or "'initial': 0" in str(e.call.values["options"])))),
    ("products of some of several operands may overflow before they meet small numbers, or 0",
     lambda e, name: name in ("einsum", "multi_dot", "matrix_power") and may_overflow(e)),
    ("the pseudo-inverse of nothing has the dtype of others (tn_linalg(3))",
     lambda e, name: name == "pinv" and is_empty(e)),
    ("NumPy's product of a single element and an array takes 0 times infinity for 0",
     lambda e, name: name in ("dot", "inner", "tensordot", "multi_dot") and not is_finite(e)
     and any(x.size == 1 for x in map(lambda x: x.numpy(), e.call.operands()))),
    ("sums of f16 at equal indices have f32 totals (tn_array(3))",
     lambda e, name: name == "index_put" and "f16" in e.given),
    ("one weight for all, which the correction takes away but for rounding",
     lambda e, name: name == "cov" and e.call.values["aweights"] is not None
     and e.call.values["aweights"].shape == (1,)),
    ("NumPy drops the first coefficients of a remainder below 1e-8",
     lambda e, name: name == "polydiv" and (np.abs(e.call.values["a"].numpy()) < 1e-8).any()),
    ("bounds are of the operands' dtype, which NumPy has not",
     lambda e, name: name in ("isclose", "allclose") and "bf16" in e.given),
    ("roots of one real part are in no order",
     lambda e, name: name == "roots" and has_complex(e)),
    ("NaN where no more elements are left than the correction (tenon/statistics.h)",
     lambda e, name: name in ("nanvar", "nanstd") and not e.given & set(REAL + COMPLEX)),
    ("a line without coefficients is 0 in the common dtype (tenon/polynomial.h)",
     lambda e, name: name == "polyval" and is_empty(e)),
    ("NumPy has no bf16, whose numbers have other neighbours than those of f32",
     lambda e, name: "bf16" in e.given and name in ("nextafter", "spacing")),
    ("tn_round of bool is bool (tn_array(3))", lambda e, name: name in ("round", "around")
     and "bool" in e.given),
    ("a real array is its own conjugate (tenon/array.h)", lambda e, name: name == "conj"
     and "bool" in e.given),
    ("a quotient by a polynomial whose first coefficient is 0 (tenon/polynomial.h)",
     lambda e, name: name == "polydiv" and not e.call.values["b"].numpy().reshape(-1)[:1].all()),
    ("a quotient of infinite numbers, and the remainder of a division by a number, which is 0",
     lambda e, name: name == "polydiv" and (not is_finite(e) or e.call.values["b"].shape == (1,))),
]


def departure(expected, found, status):
    """The reason why a call may differ, or None."""
    name = expected.call.prototype.name
    if status:
        return next((why for why, named, holds in REFUSED
                     if status == named and holds(expected, name)), None)
    if expected.error:
        return next((why for why, holds in TAKEN if holds(expected, name)), None)
    return next((why for why, holds in DIFFERENT if holds(expected, name)), None)
