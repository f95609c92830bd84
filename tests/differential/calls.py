# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""One call of a function: arguments drawn by their types and names, for the library and NumPy.

What is drawn is what NumPy takes: an Operand for an array, None for all axes, "wrap" for TN_WRAP.
c_argument makes of it what the library takes."""
import ctypes as C
import inspect

import numpy as np
from operands import NUMBERS, NUMPY, Operand, Source, fetch
from prototypes import structure

AXIS_NONE, ALL_AXES, OPEN = -2**31, -1, -2**63
MOST_OUTPUTS = 512

# Lists behind one count.
LISTS = {"const tn_array *const *": C.c_void_p, "const int *": C.c_int,
         "const int64_t *": C.c_int64, "const double *": C.c_double,
         "const uint32_t *": C.c_uint32}
# The constants of a parameter of type uint32_t, from 0 on, by NumPy's names; of one function's, or
# of all of that name.
ENUMERATIONS = {
    "bounds": ["raise", "wrap", "clip"],
    "indexing": ["xy", "ij"],
    "mode": ["full", "same", "valid"],
    "order": ["fro", "nuc", "1", "-1", "2", "-2", "inf", "-inf"],
    "trim": [None, "f", "b", "fb"],
    "rule": ["auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt"],
    "casting": ["same_kind", "no", "equiv", "safe", "unsafe"],
    "pad.mode": ["constant", "edge", "reflect", "symmetric", "wrap", "linear_ramp", "maximum",
            "minimum", "mean", "median", "empty", "reflect_odd", "symmetric_odd"],
    "index_put.mode": ["assign", "add", "min", "max"],
    "reducer": ["sum", "prod", "mean", "var", "std", "max", "min", "any", "all",
                "count_nonzero"],
}
FLAGS = {"keepdims", "endpoint", "increasing", "right", "invert", "assume_unique", "equal_nan",
         "descending", "largest", "wrap", "density", "rowvar", "include_initial", "transpose_a",
         "transpose_b", "upper", "lower", "unit_diagonal"}
# NumPy's names of parameters that have another name here.
NUMPY_NAMES = {"axes": "axis", "bounds": "mode", "correction": "ddof", "value": "fill_value",
               "rows": "N", "columns": "M", "repetitions": "reps", "shifts": "shift"}
NUMBERS_DRAWN = [0.0, 1.0, 2.0, -1.0, 0.5, -0.5, 0.1, 3.0, 7.0, -2.5, 1e-3, 100.0]


def is_count(parameters, i):
    """Whether a parameter counts the list behind it."""
    return (parameters[i].type in ("int", "int64_t") and i + 1 < len(parameters) and
            parameters[i + 1].type in LISTS and
            parameters[i].name in ("n", "n_q", "n_inputs", "rank", "depth"))


class Made:
    """An argument that neither side has as a number or an array: how to print it, how to make it
    for the library, and what NumPy takes, in which operands stand for arrays."""

    def __init__(self, text, make, numpy=None):
        self.text, self.make, self.numpy = text, make, numpy

    def __repr__(self):
        return str(self.text)


class Call:
    """The arguments of a call by the names of the prototype's parameters."""

    def __init__(self, prototype, seed, draw=None):
        self.prototype, self.seed = prototype, seed
        self.source = Source(seed, prototype.name)
        self.common_dtype = self.source.dtype() if self.source.chance(0.6) else None
        self.common_shape = self.source.shape()
        self.values = dict(draw(self) if draw else {})
        for i, parameter in enumerate(prototype.parameters):
            if parameter.name not in self.values and not is_count(prototype.parameters, i):
                self.values[parameter.name] = self.drawn(i, parameter)

    # ---- Drawing --------------------------------------------------------------------------------

    def dtype(self):
        return self.common_dtype or self.source.dtype()

    def near_shape(self):
        """One that broadcasts to the common shape, nearly always."""
        shape, source = self.common_shape, self.source
        if source.chance(0.03):
            return source.shape()
        if source.chance(0.6):
            return shape
        shape = shape[source.integer(0, len(shape)):]
        return tuple(1 if source.chance(0.3) else n for n in shape)

    def array(self, dtype=None, shape=None, overlaps=True):
        shape = self.near_shape() if shape is None else shape
        return self.source.operand(dtype or self.dtype(), shape, overlaps)

    def indices(self, length, shape, dtype=None):
        """Of elements of an axis, nearly always in range."""
        low, high = (-length, length - 1) if length else (0, 0)
        if self.source.chance(0.05):
            low, high = low - 2, high + 2
        dtype = dtype or self.source.choice(["i64", "i64", "i32", "i8", "i16"])
        limits = np.iinfo(NUMPY[dtype])
        low, high = max(low, limits.min), min(high, limits.max)
        operand = self.array("i64", shape)
        operand.base = self.source.numbers.integers(low, high, len(operand.base),
                                                    endpoint=True).astype(NUMPY[dtype])
        operand.dtype = dtype
        return operand

    def operands(self):
        return operands_of(self.values.values())

    def rank(self):
        """Of the first array."""
        return len(next((x.shape for x in self.operands()), ()))

    def axis(self):
        rank, source = self.rank(), self.source
        if not rank or source.chance(0.03):
            return source.integer(-rank - 2, rank + 1)
        return source.integer(-rank, rank - 1)

    def axes(self):
        source, rank = self.source, self.rank()
        if source.chance(0.3):
            return None
        if source.chance(0.04):
            return [self.axis() for _ in range(source.integer(1, 3))]
        some = source.numbers.permutation(rank)[:source.integer(0, rank)]
        return [int(i) - (rank if source.chance(0.3) else 0) for i in some]

    def drawn(self, i, parameter):
        """A value for a parameter by its type and name."""
        source, name = self.source, parameter.name
        match parameter.type:
            case "tn_context *" | "tn_array **":
                return None
            case "const tn_array *":
                return self.array()
            case "tn_array *":
                return self.array(shape=self.common_shape, overlaps=False)
            case "const tn_array *const *":
                return [self.array() for _ in range(source.integer(1, 4))]
            case "const int *":
                return self.axes()
            case "const int64_t *":
                return list(source.shape()) if name == "shape" else \
                    [source.integer(-2, 4) for _ in range(source.integer(1, 3))]
            case "const double *":
                if is_count(self.prototype.parameters, i - 1):
                    return [float(x) for x in source.numbers.random(source.integer(1, 3))]
                return source.choice([None, *NUMBERS_DRAWN])
            case "tn_dtype":
                return source.dtype()
            case "tn_number":
                return self.number()
            case "double" | "float":
                return source.choice([0.0, 1.0, 0.5, 2.0] if name in ("correction", "ddof")
                                     else NUMBERS_DRAWN)
            case "uint32_t":
                return source.choice(self.enumeration(name) or [0, 1, 2, 3])
            case "int" | "int64_t":
                if name.startswith("axis"):
                    return self.axis()
                return source.chance(0.5) if name in FLAGS else source.integer(-2, 5)
        if parameter.type.startswith("const struct"):
            return None  # the defaults
        raise NotImplementedError(f"{self.prototype}: nothing draws a {parameter.type}")

    def enumeration(self, name):
        return ENUMERATIONS.get(f"{self.prototype.name}.{name}") or ENUMERATIONS.get(name)

    def number(self):
        source = self.source
        return source.choice([source.integer(-3, 9), source.choice(NUMBERS_DRAWN),
                              source.choice([2**64 - 1, 2**63, 2**53 + 1, 2**31, 300]),
                              complex(source.integer(-3, 3), source.integer(-3, 3))])

    # ---- For the library ------------------------------------------------------------------------

    def run(self, library):
        """The dtypes and elements of what the library gives: its result, then its outputs, and what
        it has written to."""
        written, outputs, arguments = [], [], []
        for i, parameter in enumerate(self.prototype.parameters):
            if is_count(self.prototype.parameters, i) and parameter.name not in self.values:
                arguments.append(self.count(i))
                continue
            argument = self.c_argument(library, parameter, self.values[parameter.name])
            if parameter.type == "tn_array *":
                written.append(argument)
            elif parameter.type == "tn_array **":
                outputs.append(argument)
            arguments.append(argument)
        result = library.call(self.prototype.name, *arguments)
        if self.prototype.result not in ("tn_array *", "tn_status"):
            return [("value", result)]
        results = [result] if self.prototype.result == "tn_array *" else []
        results += [x for output in outputs for x in output if x] + written
        found = [fetch(library, x) for x in results]
        library.call("synchronize", library.context)  # errors of an asynchronous device
        return found

    def count(self, i):
        value = self.values[self.prototype.parameters[i + 1].name]
        return len(value) if isinstance(value, (list, tuple)) else ALL_AXES

    def c_argument(self, library, parameter, value):
        kind, name = parameter
        if kind == "tn_context *":
            return library.context
        if kind == "tn_array **":
            return (C.c_void_p * MOST_OUTPUTS)()
        if isinstance(value, Operand):
            return value.tenon(library)
        if isinstance(value, Made):
            return value.make(library)
        if kind.startswith("const struct"):
            return None
        if kind in LISTS:
            if value is None:
                return None
            values = value if isinstance(value, (list, tuple)) else [value]
            if kind == "const tn_array *const *":
                values = [x.tenon(library) for x in values]
            elif kind == "const uint32_t *":
                values = [self.enumeration(name).index(x) for x in values]
            return (LISTS[kind] * max(len(values), 1))(*values)
        if kind == "tn_dtype":
            return NUMBERS[value] if value else 0
        if kind == "tn_number":
            return c_number(value)
        if kind == "uint32_t" and not isinstance(value, int):
            return self.enumeration(name).index(value)
        if value is None and kind == "int":
            return AXIS_NONE
        return OPEN if value is None and kind == "int64_t" else value

    # ---- For NumPy ------------------------------------------------------------------------------

    def expected(self, counterpart, widen):
        """What NumPy gives, as a list; `widen` says what dtype stands for another."""
        values = {name: numpy_value(value, widen) for name, value in self.values.items()}
        written = [values[p.name] for p in self.prototype.parameters if p.type == "tn_array *"]
        result = counterpart(self.prototype, values)
        if written and result is None:
            result = written
        results = list(result) if isinstance(result, (tuple, list)) else [result]
        return [np.asarray(x) for x in results]

    def __str__(self):
        lines = [str(self.prototype)]
        shown = [p.name for p in self.prototype.parameters
                 if p.name in self.values and p.type not in ("tn_context *", "tn_array **")]
        lines += [f"    {name} = {self.values[name]}" for name in shown]
        return "\n".join(lines)


def operands_of(values):
    """All operands among values, in lists and in what is made of them."""
    for value in values:
        if isinstance(value, Made):
            value = value.numpy
        if isinstance(value, Operand):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from operands_of(value)
        elif isinstance(value, dict):
            yield from operands_of(value.values())


def c_number(value):
    Number = structure("tn_number")
    if isinstance(value, complex):
        return Number(dtype=NUMBERS["c128"], f64=value.real, imaginary=value.imag)
    if isinstance(value, float):
        return Number(dtype=NUMBERS["f64"], f64=value)
    if value >= 2**63:
        return Number(dtype=NUMBERS["u64"], u64=value)
    return Number(dtype=NUMBERS["i64"], i64=value)


def as_it_is(dtype):
    return dtype


def numpy_value(value, widen):
    if isinstance(value, Operand):
        dtype = widen(value.dtype)
        return value.numpy(value.base.astype(NUMPY[dtype]))
    if isinstance(value, Made):
        return numpy_value(value.numpy, widen)
    if isinstance(value, (list, tuple)):
        return type(value)(numpy_value(x, widen) for x in value)
    if isinstance(value, dict):
        return {name: numpy_value(x, widen if name != "where" else as_it_is)
                for name, x in value.items()}
    if isinstance(value, str) and value in NUMPY:
        return NUMPY[widen(value)]
    return value


# ---- The counterpart in NumPy -------------------------------------------------------------------

def by_name(function):
    """A counterpart of the same name: arrays in their order, and the rest by name."""
    def counterpart(prototype, values):
        arrays, keywords = [], {}
        for i, (kind, name) in enumerate(prototype.parameters):
            if is_count(prototype.parameters, i) or kind in ("tn_context *", "tn_array **"):
                continue
            value = values[name]
            if "tn_array" in kind:
                arrays.append(value)
            elif not kind.startswith("const struct"):
                name = NUMPY_NAMES.get(name, name)
                keywords[name] = tuple(value) if isinstance(value, list) and name in \
                    ("axis", "shape") else value
        return function(*arrays, **keywords)
    return counterpart


def by_arguments(function):
    """A counterpart that takes arguments by the prototype's names of parameters."""
    names = inspect.signature(function).parameters

    def counterpart(_, values):
        return function(**{name: values[name] for name in names})
    return counterpart


def takes_all(function, prototype):
    """Whether a function of NumPy has a parameter for each that is passed by name."""
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:
        return True
    for i, (kind, name) in enumerate(prototype.parameters):
        if is_count(prototype.parameters, i) or "tn_array" in kind or kind == "tn_context *" or \
                kind.startswith("const struct"):
            continue
        if NUMPY_NAMES.get(name, name) not in parameters:
            return False
    return True
