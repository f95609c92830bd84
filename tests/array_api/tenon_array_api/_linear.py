# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Products, each of which is one of tn_matmul."""
import math

from . import _library as tn
from ._manipulation import axis_of, broadcast_to, broadcast_shapes, permute_dims, reshape
from ._registry import standard


@standard("matmul")
def matmul(x1, x2, /):
    return tn.matmul(x1, x2)


@standard("swapaxes")
def matrix_transpose(x, /):
    return x.mT


@standard("matmul", "moveaxis")
def vecdot(x1, x2, /, *, axis=-1):
    """Rows of the conjugate x1 times columns of x2."""
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError("vecdot: axis %d of %s and %s" % (axis, x1.shape, x2.shape))
    x1, x2 = (tn.moveaxis(x, 1, tn.ints([axis]), tn.ints([-1])) for x in (x1, x2))
    shape = broadcast_shapes(x1.shape, x2.shape)
    rows = tn.expand_dims(tn.conj(broadcast_to(x1, shape)), len(shape) - 1)
    columns = tn.expand_dims(broadcast_to(x2, shape), len(shape))
    return reshape(tn.matmul(rows, columns), shape[:-1])


def contracted(axes, rank1, rank2):
    """The axes of both arrays that are summed over."""
    if isinstance(axes, int):
        return list(range(rank1 - axes, rank1)), list(range(axes))
    return ([axis_of(a, rank1) for a in axes[0]], [axis_of(a, rank2) for a in axes[1]])


@standard("matmul", "transpose")
def tensordot(x1, x2, /, *, axes=2):
    """As a matrix of x1 with the summed axes last times one of x2 with them first."""
    summed1, summed2 = contracted(axes, x1.ndim, x2.ndim)
    lengths = [x1.shape[a] for a in summed1]
    if lengths != [x2.shape[a] for a in summed2]:
        raise ValueError("tensordot: axes %s of %s and %s" % (axes, x1.shape, x2.shape))
    kept1 = [a for a in range(x1.ndim) if a not in summed1]
    kept2 = [a for a in range(x2.ndim) if a not in summed2]
    shape1, shape2 = [x1.shape[a] for a in kept1], [x2.shape[a] for a in kept2]
    inner = math.prod(lengths)
    left = reshape(permute_dims(x1, kept1 + summed1), (math.prod(shape1), inner))
    right = reshape(permute_dims(x2, summed2 + kept2), (inner, math.prod(shape2)))
    return reshape(tn.matmul(left, right), tuple(shape1 + shape2))
