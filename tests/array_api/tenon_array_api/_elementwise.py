# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Functions of single elements: the standard's name, then the library's."""
from . import _library as tn
from ._array import Array, converted, operands, weak
from ._creation import asarray, host_dtype
from ._registry import functions, standard

UNARY = {
    "abs": "abs", "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh",
    "atan": "arctan", "atanh": "arctanh", "bitwise_invert": "invert", "ceil": "ceil",
    "conj": "conj", "cos": "cos", "cosh": "cosh", "exp": "exp", "expm1": "expm1", "floor": "floor",
    "imag": "imag", "isfinite": "isfinite", "isinf": "isinf", "isnan": "isnan", "log": "log",
    "log10": "log10", "log1p": "log1p", "log2": "log2", "logical_not": "logical_not",
    "negative": "negative", "positive": "positive", "real": "real", "reciprocal": "reciprocal",
    "round": "round", "sign": "sign", "signbit": "signbit", "sin": "sin", "sinh": "sinh",
    "sqrt": "sqrt", "square": "square", "tan": "tan", "tanh": "tanh", "trunc": "trunc",
}
BINARY = {
    "add": "add", "atan2": "arctan2", "bitwise_and": "bitwise_and",
    "bitwise_left_shift": "left_shift", "bitwise_or": "bitwise_or",
    "bitwise_right_shift": "right_shift", "bitwise_xor": "bitwise_xor", "copysign": "copysign",
    "divide": "divide", "equal": "equal", "floor_divide": "floor_divide", "greater": "greater",
    "greater_equal": "greater_equal", "hypot": "hypot", "less": "less", "less_equal": "less_equal",
    "logaddexp": "logaddexp", "logical_and": "logical_and", "logical_or": "logical_or",
    "logical_xor": "logical_xor", "maximum": "maximum", "minimum": "minimum",
    "multiply": "multiply", "nextafter": "nextafter", "not_equal": "not_equal", "pow": "power",
    "remainder": "remainder", "subtract": "subtract",
}


def unary(function):
    def call(x, /):
        return function(x)
    return call


def binary(function):
    def call(x1, x2, /):
        return function(*operands(x1, x2))
    return call


def offer(table, make):
    for name, symbol in table.items():
        if tn.has(symbol):
            call = make(getattr(tn, symbol))
            call.__name__ = name
            functions[name] = call


offer(UNARY, unary)
offer(BINARY, binary)


@standard("clip")
def clip(x, /, min=None, max=None):
    if min is None and max is None:
        return tn.copy(x)
    if max is None:
        return converted(tn.maximum(x, weak(min, x)), x.dtype)
    if min is None:
        return converted(tn.minimum(x, weak(max, x)), x.dtype)
    return converted(tn.clip(x, weak(min, x), weak(max, x)), x.dtype)


@standard("where")
def where(condition, x1, x2, /):
    if not isinstance(x1, Array) and not isinstance(x2, Array):
        x1 = asarray(x1, dtype=host_dtype([x1, x2]))
    return tn.where(condition, *operands(x1, x2))
