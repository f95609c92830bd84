# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""libtenon through ctypes: its functions as attributes of this module, which raise what the context
keeps, and the one context that everything here uses.

The library is $TENON_LIBRARY, else the one of the build tree $TENON_BUILD, which tests/with-plugins
names, else the installed one.  A function that the library lacks is no attribute.
"""
import atexit
import ctypes
import ctypes.util
import os

OK, INVALID_ARGUMENT, SHAPE, DTYPE, OUT_OF_MEMORY = 0, 1, 2, 3, 6
EXCEPTIONS = {INVALID_ARGUMENT: ValueError, SHAPE: ValueError, DTYPE: TypeError,
              OUT_OF_MEMORY: MemoryError}
OPEN_END = -2**63   # INT64_MIN: an open end of tn_slice
ALL_AXES = -1
AXIS_NONE = -2**31


class Number(ctypes.Structure):
    """struct tn_number"""
    _fields_ = [("dtype", ctypes.c_int32), ("reserved", ctypes.c_uint32), ("i64", ctypes.c_int64),
                ("u64", ctypes.c_uint64), ("f64", ctypes.c_double), ("imaginary", ctypes.c_double)]


class ErrorInfo(ctypes.Structure):
    """struct tn_error_info"""
    _fields_ = [("struct_size", ctypes.c_uint32), ("status", ctypes.c_int32),
                ("native_code", ctypes.c_int64), ("operation", ctypes.c_char * 48),
                ("text", ctypes.c_char * 512)]


# What a letter of a signature is; "a" of a result is a new array, "h" an address, both NULL on
# failure, "s" a status.
TYPES = {"a": ctypes.c_void_p, "h": ctypes.c_void_p, "p": ctypes.c_void_p,
         "i": ctypes.c_int, "u": ctypes.c_uint32, "q": ctypes.c_int64, "z": ctypes.c_size_t,
         "d": ctypes.c_double, "n": Number, "s": ctypes.c_int32, "t": ctypes.c_char_p,
         "v": None}

SIGNATURES = {
    "s:ppp": "context_open",
    "v:p": "context_close error_clear array_destroy",
    "p:p": "error device_current array_shape array_strides array_device",
    "t:p": "device_name",
    "t:": "version",
    "z:p": "context_device_count",
    "p:pz": "context_device",
    "s:pp": "device_set_current",
    "i:p": "array_rank array_dtype",
    "q:p": "array_size",
    # <tenon/array.h>
    "a:piip": "empty zeros ones",
    "a:piipn": "full_number",
    "a:pinnn": "arange_number",
    "a:piipp": "from_host",
    "s:apz": "to_host",
    "s:app": "array_export",
    "a:ap": "to transpose",
    "a:a": "copy negative abs sign square sqrt exp log sin cos tanh floor ceil round real imag conj"
           " reciprocal positive expm1 log2 log10 log1p tan arcsin arccos arctan sinh cosh arcsinh"
           " arccosh arctanh trunc rint signbit isnan isinf isfinite logical_not invert"
           " matrix_transpose",
    "a:aa": "add subtract multiply divide power maximum minimum equal not_equal less less_equal"
            " greater greater_equal complex matmul floor_divide remainder hypot logaddexp arctan2"
            " copysign nextafter logical_and logical_or logical_xor bitwise_and bitwise_or"
            " bitwise_xor left_shift right_shift",
    "a:aaa": "where clip",
    "a:ai": "astype expand_dims squeeze cumsum cumprod empty_like"
            " zeros_like ones_like",
    "s:aa": "assign",
    "s:an": "fill_number",
    "a:aiqqq": "slice",
    "a:aipi": "sum mean prod max min any all count_nonzero",
    "a:aipdi": "var std",
    "a:aai": "take_along_axis isin vecdot",
    "a:aaiu": "take",
    "a:ipi": "concatenate stack",
    "a:aii": "sort argsort swapaxes argmax argmin",
    # <tenon/linalg.h>
    "a:aaipp": "tensordot",
    # <tenon/manipulate.h> and <tenon/statistics.h>
    "a:piqqq": "eye",
    "a:piddqi": "linspace",
    "s:ipup": "meshgrid",
    "a:aq": "tril triu",
    "a:aipp": "moveaxis roll",
    "a:aqpi": "repeat",
    "s:aip": "unstack",
    "a:aqi": "diff",
    "a:aaia": "searchsorted",
    # <tenon/index.h>, <tenon/sets.h>, <tenon/dlpack.h>
    "a:aip": "reshape broadcast_to flip tile index",
    "s:aipau": "index_put",
    "s:ap": "item_number nonzero dlpack_device_of",
    "a:aiippp": "unique",
    "h:ap": "to_dlpack to_dlpack_unversioned",
    "a:ppp": "from_dlpack from_dlpack_unversioned",
}


def _open_library():
    build = os.environ.get("TENON_BUILD")
    path = os.environ.get("TENON_LIBRARY") or (
        os.path.join(build, ".libs", "libtenon.so") if build else ctypes.util.find_library("tenon"))
    if not path:
        raise ImportError("libtenon is not installed; TENON_LIBRARY or TENON_BUILD can name one")
    return ctypes.CDLL(path)


def _raise_kept(name):
    """Raises the error that the context keeps, and clears it."""
    if not error(context):
        raise RuntimeError("tn_%s failed" % name)
    info = ctypes.cast(error(context), ctypes.POINTER(ErrorInfo)).contents
    status, text = info.status, "%s: %s" % (info.operation.decode(), info.text.decode())
    error_clear(context)
    raised = EXCEPTIONS.get(status, RuntimeError)(text or name)
    raised.tenon_status = status
    raise raised


def _check_address(result, function, _arguments):
    if not result:
        _raise_kept(function.__name__)
    return result


def _check_array(result, function, arguments):
    return make_array(_check_address(result, function, arguments))


def _check_status(result, function, _arguments):
    if result != OK and function.__name__ != "tn_context_open":
        _raise_kept(function.__name__)
    return result


CHECKS = {"a": _check_array, "h": _check_address, "s": _check_status}


def _declare(library, letters, name):
    function = getattr(library, "tn_" + name, None)
    if function is None:
        return
    result, arguments = letters.split(":")
    function.restype = TYPES[result]
    function.argtypes = [TYPES[letter] for letter in arguments]
    if result in CHECKS:
        function.errcheck = CHECKS[result]
    globals()[name] = function


def declare(signatures):
    """Makes functions attributes of this module: {"result:arguments": "names without tn_"}."""
    for letters, names in signatures.items():
        for name in names.split():
            _declare(_library, letters, name)


def has(name):
    return name in globals()


def ints(values):
    return (ctypes.c_int * len(values))(*values)


def longs(values):
    return (ctypes.c_int64 * len(values))(*values)


def handles(arrays):
    """An array of pointers, as tn_concatenate reads it."""
    return (ctypes.c_void_p * len(arrays))(*[array.handle for array in arrays])


def new_arrays(n, call):
    """The n arrays that call(pointers) writes."""
    pointers = (ctypes.c_void_p * n)()
    call(pointers)
    return [make_array(pointer) for pointer in pointers]


def _open_context():
    opened, info = ctypes.c_void_p(), ErrorInfo(struct_size=ctypes.sizeof(ErrorInfo))
    if context_open(None, ctypes.byref(opened), ctypes.byref(info)) != OK:
        raise ImportError("%s: %s" % (info.operation.decode(), info.text.decode()))
    return opened


def _close_context():
    global context
    context_close(context)
    context = None


def destroy(handle):
    """Frees an array, unless its context has."""
    if context is not None:
        array_destroy(handle)


make_array = None   # Array, which _array sets
_library = _open_library()
declare(SIGNATURES)
context = _open_context()
atexit.register(_close_context)
