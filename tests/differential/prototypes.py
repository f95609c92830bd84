# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""The functions of the library with their prototypes, read from the public headers."""
import ctypes as C
import functools
import os
import re
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(os.environ.get("TENON_SOURCE", Path(__file__).resolve().parents[2]))
HEADERS = SOURCE / "include" / "tenon"
DECLARATION = re.compile(r"TN_API\s+(?:TN_CHECKED\s+)?([^;()]*?)\b(tn_\w+)\s*\(([^;()]*?)\)\s*;")


class Parameter(NamedTuple):
    type: str  # "const tn_array *"; an array of a fixed length is a pointer
    name: str


class Prototype(NamedTuple):
    header: str
    result: str
    name: str  # without tn_
    parameters: tuple

    def __str__(self):
        arguments = ", ".join(f"{p.type} {p.name}" for p in self.parameters)
        return f"{self.result} tn_{self.name}({arguments})"

    def has_arrays(self):
        return "tn_array" in self.result + "".join(p.type for p in self.parameters)


TYPES = {"void": None, "int": C.c_int, "int32_t": C.c_int32, "uint32_t": C.c_uint32,
         "int64_t": C.c_int64, "uint64_t": C.c_uint64, "size_t": C.c_size_t, "double": C.c_double,
         "float": C.c_float, "char": C.c_char, "tn_dtype": C.c_int32, "tn_status": C.c_int32,
         "const char *": C.c_char_p}


def without_comments(text):
    return " ".join(re.sub(r"/\*.*?\*/", " ", text, flags=re.S).split())


TEXTS = {path.name: without_comments(path.read_text()) for path in sorted(HEADERS.glob("*.h"))}


def c_type(text):
    if text.endswith(("*", "_callback")) and text not in TYPES:
        return C.c_void_p
    return TYPES[text] if text in TYPES else structure(text.removeprefix("struct "))


@functools.cache
def structure(name):
    """The struct of that name as a class of ctypes."""
    body = next(filter(None, (re.search(rf"struct {name} \{{(.*?)\}};", text)
                              for text in TEXTS.values())))[1]
    fields = [re.fullmatch(r"(.*?)(\w+)(?:\[(\d+)\])?", member.strip()).groups()
              for member in body.split(";")[:-1]]
    return type(name, (C.Structure,), {"_fields_": [
        (field, c_type(kind.strip()) * int(length) if length else c_type(kind.strip()))
        for kind, field, length in fields]})


def sized(name, **members):
    """A struct with its size.  Members that are objects of ctypes become their addresses."""
    kind = structure(name)
    made = kind(struct_size=C.sizeof(kind))
    made.objects = list(members.values())  # live as long
    for member, value in members.items():
        pointed = isinstance(value, (C.Array, C.Structure)) and \
            dict(kind._fields_)[member] is C.c_void_p
        setattr(made, member, C.addressof(value) if pointed else value)
    return made


def parameter(text):
    """"const int64_t *shape" as its type and its name."""
    text, is_array = re.subn(r"\[\w*\]$", "", text.strip())
    kind, name = re.fullmatch(r"(.*?)(\w+)", text).groups()
    pointer = "" if not is_array else "*" if kind.endswith("*") else " *"
    return Parameter(kind.strip() + pointer, name)


def prototypes():
    """All functions of the headers that <tenon/tenon.h> includes, by their names without tn_."""
    found = {}
    for header in re.findall(r"<tenon/(\w+\.h)>", TEXTS["tenon.h"]):
        for result, name, arguments in DECLARATION.findall(TEXTS[header]):
            parameters = [] if arguments == "void" else arguments.split(",")
            found[name[3:]] = Prototype(header, result.strip(), name[3:],
                                        tuple(map(parameter, parameters)))
    return found


def constants():
    """The numbers that the headers' enums and macros give: TN_SHAPE, TN_PUT_ADD, ..."""
    values = {"INT32_MIN": -2**31, "INT64_MIN": -2**63}
    for text in TEXTS.values():
        for body in re.findall(r"enum (?:\w+ )?\{(.*?)\}", text):
            last = -1
            for item in filter(None, map(str.strip, body.split(","))):
                name, _, value = map(str.strip, item.partition("="))
                try:
                    last = eval(value.replace("u", ""), {}, values) if value else last + 1
                except (NameError, SyntaxError):
                    continue
                values[name] = last
    return values


class TenonError(Exception):
    def __init__(self, status, text):
        super().__init__(f"{status}: {text}")
        self.status = status


class Functions:
    """The functions of the library, without a context."""

    def __init__(self):
        self.file = C.CDLL(os.path.join(os.environ["TENON_BUILD"], ".libs", "libtenon.so"))
        self.prototypes = prototypes()
        self.bound = {}

    def function(self, name):
        if name not in self.bound:
            prototype = self.prototypes[name]
            function = getattr(self.file, "tn_" + name)
            function.restype = c_type(prototype.result)
            function.argtypes = [c_type(p.type) for p in prototype.parameters]
            self.bound[name] = function
        return self.bound[name]


class Library(Functions):
    """The library with a context on a backend."""

    def __init__(self, backend):
        super().__init__()
        self.constants = constants()
        self.context = C.c_void_p()
        error = sized("tn_error_info")
        options = sized("tn_context_options", backend=backend.encode())
        if self.call("context_open", C.byref(options), C.byref(self.context), C.byref(error)):
            raise TenonError(error.status, error.text.decode())

    def call(self, name, *arguments):
        """What the function returns; fails where that is a status or a missing array."""
        result = self.function(name)(*arguments)
        kind = self.prototypes[name].result
        if (kind == "tn_array *" and not result) or (kind == "tn_status" and result):
            self.fail(name, result)
        return result

    def fail(self, name, result):
        info = self.function("error")(self.context) if self.context else None
        if info is None:
            raise TenonError(result, f"{name}: no error is kept")
        info = C.cast(info, C.POINTER(structure("tn_error_info"))).contents
        error = TenonError(info.status, f"{info.operation.decode()}: {info.text.decode()}")
        self.function("error_clear")(self.context)
        while self.function("synchronize")(self.context):  # more of them, asynchronous
            self.function("error_clear")(self.context)
        raise error

    def status_name(self, status):
        return self.function("status_name")(status).decode()
