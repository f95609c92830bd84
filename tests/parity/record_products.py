#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Records what NumPy makes of the products and norms of <tenon/linalg.h>, in products.txt beside
this file, in the format of record_statistics.py.  Subscripts are numbers, the codes of their
characters."""
import os

import numpy as np

from record_statistics import COMPLEX, FLOATING, HERE, INTEGERS, Record, axes_of, sample

ALL = INTEGERS + FLOATING + COMPLEX


def some(dtype, *shape):
    return sample(dtype, *shape, has_nan=False)


def products(record):
    pairs = {
        "dot": [((3,), (3,)), ((2, 3), (3,)), ((2, 3), (4, 3, 2)), ((), (2, 3)), ((0,), (0,))],
        "inner": [((3,), (3,)), ((2, 3), (4, 3)), ((2, 1, 3), (4, 2, 3)), ((2,), ())],
        "vdot": [((5,), (5,)), ((2, 3), (3, 2)), ((), ()), ((0, 2), (0,))],
        "outer": [((3,), (4,)), ((2, 2), (3,)), ((), (2,)), ((0,), (2,))],
        "matvec": [((2, 3), (3,)), ((4, 2, 3), (3,)), ((4, 1, 2, 3), (5, 3)), ((2, 0), (0,))],
        "vecmat": [((2,), (2, 3)), ((2,), (4, 2, 3)), ((5, 2), (4, 1, 2, 3)), ((0,), (0, 2))],
        "kron": [((2,), (3,)), ((2, 3), (3, 2)), ((2, 1, 2), (3, 2)), ((), (2, 2)), ((0, 2), (2,))],
    }
    for name, shapes in pairs.items():
        for dtype in ALL:
            a, b = (some(dtype, *shape) for shape in shapes[1])
            record.case(name, [a, b], getattr(np, name)(a, b))
        for first, second in shapes:
            for dtypes in (("f4", "f4"), ("f8", "c8"), ("i4", "i8")):
                a, b = some(dtypes[0], *first), some(dtypes[1], *second)
                record.case(name, [a, b], getattr(np, name)(a, b))


def axes_cases(record):
    for dtype in ALL:
        a, b = some(dtype, 2, 3), some(dtype, 4, 2, 3)
        record.case("vecdot", [a, b], np.vecdot(a, b), {"axis": -1})
    a, b = some("c8", 3, 2), some("c8", 3, 2)
    record.case("vecdot", [a, b], np.vecdot(a, b, axis=0), {"axis": 0})
    a, b = some("f8", 4, 1, 5), some("f8", 3, 5)
    record.case("vecdot", [a, b], np.vecdot(a, b), {"axis": -1})
    a, b = some("c16", 4, 3, 5), some("i4", 4, 1, 5)
    record.case("vecdot", [a, b], np.vecdot(a, b), {"axis": -1})
    for dtype in ALL:
        a, b = some(dtype, 2, 3, 4), some(dtype, 4, 3, 5)
        record.case("tensordot", [a, b], np.tensordot(a, b, ([1, 2], [1, 0])),
                    {"axes_a": [2, 1, 2], "axes_b": [2, 1, 0]})
    a, b = some("f4", 2, 3, 4), some("f4", 3, 4, 2)
    for n in range(3):
        first, second = a, b if n == 2 else b.transpose(2, 0, 1) if n == 0 else b.transpose(1, 2, 0)
        record.case("tensordot", [first, second], np.tensordot(first, second, n), {"n": n})


SUBSCRIPTS = [
    ("ij,jk", (2, 3), (3, 4)), ("ij,jk->ki", (2, 3), (3, 4)), ("ij,kj->ik", (2, 3), (4, 3)),
    ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)), ("bhqd,bhkd->bhqk", (2, 2, 3, 4), (2, 2, 5, 4)),
    ("bqhd,bkhd->bhqk", (2, 3, 2, 4), (2, 5, 2, 4)), ("ij,ij->", (3, 4), (3, 4)),
    ("ij,ij->i", (3, 4), (3, 4)), ("i,i", (5,), (5,)), ("i,j->ij", (3,), (4,)),
    ("i,j->ji", (3,), (4,)), ("ij,j->i", (3, 4), (4,)), ("ij,ij->ji", (3, 4), (3, 4)),
    ("ii->i", (3, 3)), ("ii", (3, 3)), ("iij->j", (3, 3, 2)), ("iii", (2, 2, 2)),
    ("ij->ji", (2, 3)), ("ij->", (2, 3)), ("ijk->kj", (2, 3, 4)), ("ba", (2, 3)),
    ("bA,Ac", (2, 3), (3, 4)),
    ("...ij->...ji", (2, 3, 4)), ("...ij,...jk", (2, 1, 3, 4), (5, 4, 2)),
    ("...ij,jk->...ik", (2, 3, 4), (4, 5)), ("i...,i...->...", (3, 2, 1), (3, 4)),
    ("...,...", (2, 3), (3,)), ("ij...,...->...i", (2, 3, 4), (5, 1)), ("...", (2, 3)),
    ("...->...", ()), ("i...->...i", (2, 3, 4)), (" i j , j k -> i k ", (2, 3), (3, 4)),
    ("ij,jk", (2, 1), (3, 4)), ("i,i->i", (1,), (3,)), ("ij,jk->ik", (2, 0), (0, 3)),
    ("ii,ij->j", (3, 3), (3, 4)), ("iji,jk->ik", (2, 3, 2), (3, 4)), ("i,->i", (3,), ()),
    (",", (), ()), ("ij,k->k", (2, 3), (4,)), ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)),
    ("ij,jk,kl,l->i", (2, 3), (3, 4), (4, 5), (5,)), ("i,j,k->kji", (2,), (3,), (4,)),
    ("ij,ik,il->ijkl", (2, 3), (2, 2), (2, 4)), ("ab,bc,ac->", (2, 3), (3, 4), (2, 4)),
    ("abc,cd,...d->a...", (2, 3, 4), (4, 5), (3, 2, 5)), ("i,ii->i", (3,), (1, 1)),
    ("bchw,oc->bohw", (2, 3, 4, 5), (6, 3)), ("acb,cdef->dabfe", (3, 4, 20), (4, 2, 17, 1)),
    ("ijk,ilm,njm,nlk->", (2, 3, 4), (2, 2, 3), (3, 3, 3), (3, 2, 4)),
]


def einsum_case(record, text, operands):
    record.case("einsum", operands, np.einsum(text, *operands), {"n": len(operands)},
                list(map(ord, text)))


def sums(record):
    for text, *shapes in SUBSCRIPTS:
        for dtype in ("f4", "c16"):
            einsum_case(record, text, [some(dtype, *shape) for shape in shapes])
    for dtype in ALL:
        einsum_case(record, "bij,bjk->bik", [some(dtype, 2, 3, 4), some(dtype, 2, 4, 2)])
        einsum_case(record, "iij->j", [some(dtype, 3, 3, 2)])
        einsum_case(record, "i,ij,k->jk", [some(dtype, *n) for n in ((3,), (3, 2), (2,))])
    einsum_case(record, "ij,jk", [some("i4", 2, 3), some("f4", 3, 2)])
    einsum_case(record, "i,i,i", [some("u1", 4), some("f2", 4), some("i8", 4)])


def matrices(record):
    for dtype in ALL:
        chain = [some(dtype, *shape) for shape in ((2, 5), (5, 3), (3, 4))]
        record.case("multi_dot", chain, np.linalg.multi_dot(chain), {"n": 3})
        a = some(dtype, 2, 3, 3)
        for n in (0, 1, 2, 3, 5, 6):
            record.case("matrix_power", [a], np.linalg.matrix_power(a, n), {"n": n})
        a = some(dtype, 3, 4)
        record.case("trace", [a], np.trace(a), {"offset": 0, "axis1": 0, "axis2": 1})
    chain = [some("f8", *shape) for shape in ((5,), (5, 3), (3, 4), (4,))]
    record.case("multi_dot", chain, np.linalg.multi_dot(chain), {"n": 4})
    record.case("multi_dot", chain[:2], np.linalg.multi_dot(chain[:2]), {"n": 2})
    chain = [some("i1", 2, 4) * 20, some("i1", 4, 3) * 20, some("f8", 3, 6)]
    record.case("multi_dot", chain, np.linalg.multi_dot([a.astype("f8") for a in chain]), {"n": 3})
    a = some("f4", 3, 4, 5)
    for offset, axis1, axis2 in ((1, 0, 2), (-2, 2, 1), (9, 0, 1)):
        record.case("trace", [a], np.trace(a, offset, axis1, axis2),
                    {"offset": offset, "axis1": axis1, "axis2": axis2})
    record.case("matrix_transpose", [a], np.matrix_transpose(a))


ORDERS = [2, 1, 0, np.inf, -np.inf, 3, 0.5, -1, 1.5]
MATRIX_ORDERS = {"fro": 0, 1: 2, -1: 3, np.inf: 6, -np.inf: 7}


def norms(record):
    def case(a, order, axis, keepdims):
        result = np.linalg.vector_norm(a, axis=axis, ord=order, keepdims=bool(keepdims))
        settings = {**axes_of(axis), "keepdims": keepdims}
        record.case("vector_norm", [a], result, settings, [order])
        if order == 2:
            record.case("norm", [a], result, settings)

    for order in ORDERS:
        for dtype in ALL if order in (2, 0, np.inf) else ["i4", "f4", "c16"]:
            case(some(dtype, 3, 4), order, -1, 0)
        for axis, keepdims in ((None, 0), (None, 1), (0, 1), ((0, 2), 0), ((2, 1, 0), 1)):
            case(some("f8", 2, 3, 4), order, axis, keepdims)
        if order != -np.inf:
            case(np.zeros((2, 0), "f4"), order, 1, 0)
        case(np.array([[np.nan, 1, 2], [np.inf, 1, -3], [1, 2, 3]]), order, 1, 0)
    for order, number in MATRIX_ORDERS.items():
        for dtype in ("?", "i1", "f2", "f4", "c16"):
            a = some(dtype, 2, 3, 4)
            record.case("matrix_norm", [a], np.linalg.matrix_norm(a, ord=order),
                        {"order": number, "keepdims": 0})
        a = some("f8", 2, 3)
        record.case("matrix_norm", [a], np.linalg.matrix_norm(a, ord=order, keepdims=True),
                    {"order": number, "keepdims": 1})
    for order in ("fro", 1, np.inf):
        a = np.zeros((2, 0))
        record.case("matrix_norm", [a], np.linalg.matrix_norm(a, ord=order),
                    {"order": MATRIX_ORDERS[order], "keepdims": 0})


def main():
    np.seterr(all="ignore")
    with open(os.path.join(HERE, "products.txt"), "w") as out:
        print("# Recorded by record_products.py with NumPy", np.__version__, file=out)
        record = Record(out)
        for family in (products, axes_cases, sums, matrices, norms):
            family(record)
        print(record.n_cases, "cases")


main()
