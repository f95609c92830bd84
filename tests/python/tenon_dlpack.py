# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""As much of Tenon in Python as its DLPack functions take: ctypes over the C API."""
import ctypes
import os
from ctypes import (CDLL, CFUNCTYPE, POINTER, Structure, byref, c_char_p, c_double, c_int,
                    c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p, py_object, sizeof)

CPU, CUDA, CUDA_HOST = 1, 2, 3
IF_NEEDED, NEVER, ALWAYS = 0, 1, 2
F32 = 12

lib = CDLL(os.path.join(os.environ["TENON_BUILD"], ".libs", "libtenon.so"))
python = ctypes.pythonapi


class ContextOptions(Structure):
    _fields_ = [("struct_size", c_uint32), ("backend", c_char_p), ("rest", c_uint64 * 12)]


class ErrorInfo(Structure):
    _fields_ = [("struct_size", c_uint32), ("status", c_int32), ("native_code", c_int64),
                ("operation", ctypes.c_char * 48), ("text", ctypes.c_char * 512)]


class MemoryUse(Structure):
    _fields_ = [("struct_size", c_uint32), ("used", c_uint64), ("cached", c_uint64),
                ("peak", c_uint64)]


class ToOptions(Structure):
    _fields_ = [("struct_size", c_uint32), ("copy", c_uint32), ("on_host", c_uint32),
                ("stream", c_int64)]


class FromOptions(Structure):
    _fields_ = [("struct_size", c_uint32), ("copy", c_uint32), ("device", c_void_p)]


class Device(Structure):
    _fields_ = [("type", c_int32), ("id", c_int32)]


class Tensor(Structure):
    _fields_ = [("data", c_void_p), ("device", Device), ("ndim", c_int32),
                ("dtype", c_uint32), ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)),
                ("byte_offset", c_uint64)]


class Managed(Structure):
    _fields_ = [("version", c_uint32 * 2), ("manager_ctx", c_void_p), ("deleter", c_void_p),
                ("flags", c_uint64), ("tensor", Tensor)]


class ManagedUnversioned(Structure):
    _fields_ = [("tensor", Tensor), ("manager_ctx", c_void_p), ("deleter", c_void_p)]


def declare(name, result, *arguments):
    function = getattr(lib, name)
    function.restype, function.argtypes = result, arguments
    return function


context_open = declare("tn_context_open", c_int32, POINTER(ContextOptions), POINTER(c_void_p),
                       POINTER(ErrorInfo))
context_close = declare("tn_context_close", None, c_void_p)
device_current = declare("tn_device_current", c_void_p, c_void_p)
device_memory = declare("tn_device_get_memory_use", None, c_void_p, POINTER(MemoryUse))
error_of = declare("tn_error", POINTER(ErrorInfo), c_void_p)
error_clear = declare("tn_error_clear", None, c_void_p)
sync = declare("tn_synchronize", c_int32, c_void_p)
full = declare("tn_full", c_void_p, c_void_p, c_int32, c_int, POINTER(c_int64), c_double)
fill = declare("tn_fill", c_int32, c_void_p, c_double)
transpose = declare("tn_transpose", c_void_p, c_void_p, POINTER(c_int))
slice_of = declare("tn_slice", c_void_p, c_void_p, c_int, c_int64, c_int64, c_int64)
rank_of = declare("tn_array_rank", c_int, c_void_p)
shape_of = declare("tn_array_shape", POINTER(c_int64), c_void_p)
to_host = declare("tn_to_host", c_int32, c_void_p, c_void_p, c_size_t)
destroy = declare("tn_array_destroy", None, c_void_p)
device_of = declare("tn_dlpack_device_of", c_int32, c_void_p, POINTER(Device))
to_dlpack = declare("tn_to_dlpack", c_void_p, c_void_p, POINTER(ToOptions))
to_dlpack_unversioned = declare("tn_to_dlpack_unversioned", c_void_p, c_void_p,
                                POINTER(ToOptions))
from_dlpack = declare("tn_from_dlpack", c_void_p, c_void_p, c_void_p, POINTER(FromOptions))
from_dlpack_unversioned = declare("tn_from_dlpack_unversioned", c_void_p, c_void_p, c_void_p,
                                  POINTER(FromOptions))

python.PyCapsule_New.restype = py_object
python.PyCapsule_New.argtypes = [c_void_p, c_char_p, c_void_p]
python.PyCapsule_GetPointer.restype = c_void_p
python.PyCapsule_GetPointer.argtypes = [py_object, c_char_p]
python.PyCapsule_SetName.argtypes = [py_object, c_char_p]
python.PyCapsule_IsValid.argtypes = [py_object, c_char_p]

# The same over a pointer alone: a destructor gets an object that is about to be freed.
is_valid = ctypes.PYFUNCTYPE(c_int, c_void_p, c_char_p)(("PyCapsule_IsValid", python))
get_pointer = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", python))

VERSIONED, UNVERSIONED = b"dltensor_versioned", b"dltensor"
KINDS = {VERSIONED: Managed, UNVERSIONED: ManagedUnversioned}
# A capsule keeps the address of its name.
USED = {name: b"used_" + name for name in KINDS}


def delete(managed, name):
    """Calls a producer's deleter."""
    deleter = KINDS[name].from_address(managed).deleter
    CFUNCTYPE(None, c_void_p)(deleter)(managed)


@ctypes.PYFUNCTYPE(None, c_void_p)
def destroy_capsule(capsule):
    """A capsule that nobody has consumed."""
    for name in KINDS:
        if is_valid(capsule, name):
            delete(get_pointer(capsule, name), name)


class TenonError(RuntimeError):
    pass


class Context:
    def __init__(self, backend):
        self.handle = c_void_p()
        error = ErrorInfo(struct_size=sizeof(ErrorInfo))
        options = ContextOptions(struct_size=sizeof(ContextOptions), backend=backend.encode())
        if context_open(byref(options), byref(self.handle), byref(error)):
            raise TenonError(error.text.decode())

    def close(self):
        context_close(self.handle)
        self.handle = None

    def used(self):
        use = MemoryUse(struct_size=ctypes.sizeof(MemoryUse))
        sync(self.handle)
        device_memory(device_current(self.handle), byref(use))
        return use.used

    def wrap(self, pointer):
        if not pointer:
            text = error_of(self.handle).contents.text.decode()
            error_clear(self.handle)
            raise TenonError(text)
        return Array(self, pointer)

    def full(self, shape, value, dtype=F32):
        return self.wrap(full(self.handle, dtype, len(shape), (c_int64 * len(shape))(*shape),
                              value))

    def from_dlpack(self, source, copy=IF_NEEDED, max_version=(1, 1), device=None, **arguments):
        """An array over what another library has, as a consumer of the protocol."""
        if max_version:
            arguments["max_version"] = max_version
        capsule = source.__dlpack__(**arguments)
        name = VERSIONED if python.PyCapsule_IsValid(capsule, VERSIONED) else UNVERSIONED
        take = from_dlpack if name == VERSIONED else from_dlpack_unversioned
        options = FromOptions(struct_size=sizeof(FromOptions), copy=copy, device=device)
        array = self.wrap(take(self.handle, python.PyCapsule_GetPointer(capsule, name),
                               byref(options)))
        python.PyCapsule_SetName(capsule, USED[name])
        return array


class Array:
    """Owns an array, and is a producer of the protocol."""

    def __init__(self, context, pointer):
        self.context, self.pointer = context, pointer

    def destroy(self):
        destroy(self.pointer)
        self.pointer = None

    def shape(self):
        return tuple(shape_of(self.pointer)[:rank_of(self.pointer)])

    def fill(self, value):
        if fill(self.pointer, value):
            self.context.wrap(None)

    def transpose(self):
        return self.context.wrap(transpose(self.pointer, None))

    def slice(self, axis, start, stop, step):
        return self.context.wrap(slice_of(self.pointer, axis, start, stop, step))

    def bytes(self, size):
        data = ctypes.create_string_buffer(max(size, 1))
        if to_host(self.pointer, data, size):
            self.context.wrap(None)
        return data.raw[:size]

    def __dlpack_device__(self):
        device = Device()
        if device_of(self.pointer, byref(device)):
            raise BufferError("no type of DLPack")
        return device.type, device.id

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        is_versioned = max_version is not None and max_version[0] >= 1
        options = ToOptions(struct_size=sizeof(ToOptions), stream=stream or 0,
                            copy={None: IF_NEEDED, False: NEVER, True: ALWAYS}[copy],
                            on_host=dl_device is not None and dl_device[0] == CPU)
        lend = to_dlpack if is_versioned else to_dlpack_unversioned
        managed = lend(self.pointer, byref(options))
        if not managed:
            text = error_of(self.context.handle).contents.text.decode()
            error_clear(self.context.handle)
            raise BufferError(text)
        return python.PyCapsule_New(managed, VERSIONED if is_versioned else UNVERSIONED,
                                    ctypes.cast(destroy_capsule, c_void_p))
