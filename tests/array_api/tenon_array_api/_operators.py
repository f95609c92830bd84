# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""The operators of Array, by the functions that compute them."""
from . import _library as tn
from ._array import Array, operands

UNARY = {"abs": "abs", "neg": "negative", "pos": "positive", "invert": "invert"}
COMPARISON = {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater",
              "ge": "greater_equal"}
BINARY = {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide",
          "floordiv": "floor_divide", "mod": "remainder", "pow": "power", "matmul": "matmul",
          "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "left_shift",
          "rshift": "right_shift"}
SCALARS = (bool, int, float, complex)


def unary(function):
    def method(self, /):
        return function(self)
    return method


def binary(function):
    def method(self, other, /):
        if not isinstance(other, (Array,) + SCALARS):
            return NotImplemented
        return function(*operands(self, other))
    return method


def reflected(function):
    def method(self, other, /):
        if not isinstance(other, SCALARS):
            return NotImplemented
        return function(*operands(other, self))
    return method


def in_place(function):
    def method(self, other, /):
        if not isinstance(other, (Array,) + SCALARS):
            return NotImplemented
        result = function(*operands(self, other))
        if result.dtype is not self.dtype or result.shape != self.shape:
            raise TypeError("in place: the result has %s %s, the array %s %s" % (
                result.dtype, result.shape, self.dtype, self.shape))
        tn.assign(self, result)
        return self
    return method


def add_method(name, method):
    method.__name__ = "__%s__" % name
    setattr(Array, method.__name__, method)


for short, symbol in UNARY.items():
    add_method(short, unary(getattr(tn, symbol)))
for short, symbol in COMPARISON.items():
    add_method(short, binary(getattr(tn, symbol)))
for short, symbol in BINARY.items():
    add_method(short, binary(getattr(tn, symbol)))
    add_method("r" + short, reflected(getattr(tn, symbol)))
    add_method("i" + short, in_place(getattr(tn, symbol)))
