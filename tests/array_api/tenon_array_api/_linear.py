# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Products, each of which is one function of <tenon/linalg.h>."""
from . import _library as tn
from ._registry import standard


@standard("matmul")
def matmul(x1, x2, /):
    return tn.matmul(x1, x2)


@standard("matrix_transpose")
def matrix_transpose(x, /):
    return tn.matrix_transpose(x)


@standard("vecdot")
def vecdot(x1, x2, /, *, axis=-1):
    return tn.vecdot(x1, x2, axis)


@standard("tensordot")
def tensordot(x1, x2, /, *, axes=2):
    if isinstance(axes, int):
        return tn.tensordot(x1, x2, axes, None, None)
    return tn.tensordot(x1, x2, len(axes[0]), tn.ints(axes[0]), tn.ints(axes[1]))
