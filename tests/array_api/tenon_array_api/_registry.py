# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""The functions of the standard that the library at hand can compute."""
from . import _library as tn

functions = {}


def standard(*symbols):
    """Offers a function, if the library has the functions (named without tn_) that it calls."""
    def register(function):
        if all(tn.has(symbol) for symbol in symbols):
            functions[function.__name__] = function
        return function
    return register
