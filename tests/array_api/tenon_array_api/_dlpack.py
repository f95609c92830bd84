# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Capsules of Python around the structs of <tenon/dlpack.h>."""
import ctypes

from . import _library as tn
from ._array import Array
from ._registry import standard

VERSIONED, UNVERSIONED = b"dltensor_versioned", b"dltensor"
USED = {VERSIONED: b"used_dltensor_versioned", UNVERSIONED: b"used_dltensor"}
VERSION = (1, 1)
CPU = 1
COPY = {None: 0, False: 1, True: 2}   # TN_COPY_IF_NEEDED, TN_COPY_NEVER, TN_COPY_ALWAYS

api = ctypes.pythonapi
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
capsule_types = {ctypes.c_void_p: "destroyed", ctypes.py_object: "owned"}


def prototype(name, result, capsule):
    return ctypes.PYFUNCTYPE(result, capsule, ctypes.c_char_p)((name, api))


# A capsule that is being destroyed is an address: a reference to it would revive it.
dying_is_valid = prototype("PyCapsule_IsValid", ctypes.c_int, ctypes.c_void_p)
dying_pointer = prototype("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.c_void_p)
is_valid = prototype("PyCapsule_IsValid", ctypes.c_int, ctypes.py_object)
pointer_of = prototype("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object)


class Tensor(ctypes.Structure):
    """struct tn_dlpack_tensor"""
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2),
                ("ndim", ctypes.c_int32), ("dtype", ctypes.c_uint8 * 4),
                ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
                ("byte_offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    """struct tn_dlpack_managed"""
    _fields_ = [("version", ctypes.c_uint32 * 2), ("manager_ctx", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", Tensor)]


class ManagedUnversioned(ctypes.Structure):
    """struct tn_dlpack_managed_unversioned"""
    _fields_ = [("tensor", Tensor), ("manager_ctx", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class ToOptions(ctypes.Structure):
    """struct tn_to_dlpack_options"""
    _fields_ = [("struct_size", ctypes.c_uint32), ("copy", ctypes.c_uint32),
                ("on_host", ctypes.c_uint32), ("stream", ctypes.c_int64)]


class FromOptions(ctypes.Structure):
    """struct tn_from_dlpack_options"""
    _fields_ = [("struct_size", ctypes.c_uint32), ("copy", ctypes.c_uint32),
                ("device", ctypes.c_void_p)]


STRUCTS = {VERSIONED: Managed, UNVERSIONED: ManagedUnversioned}


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def destroy_capsule(capsule):
    """Calls the deleter of what nobody has taken."""
    for name, struct in STRUCTS.items():
        if dying_is_valid(capsule, name):
            pointer = dying_pointer(capsule, name)
            deleter = struct.from_address(pointer).deleter
            if deleter:
                ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deleter)(pointer)


def dlpack(self, /, *, stream=None, max_version=None, dl_device=None, copy=None):
    own = self.__dlpack_device__()
    if dl_device is not None:
        dl_device = tuple(int(getattr(part, "value", part)) for part in dl_device)
    if dl_device not in (None, own, (CPU, 0)):
        raise BufferError("__dlpack__: the array is on %s, not on %s" % (own, dl_device))
    options = ToOptions(struct_size=ctypes.sizeof(ToOptions), copy=COPY[copy],
                        on_host=dl_device == (CPU, 0), stream=0 if stream is None else stream)
    is_versioned = max_version is not None and max_version >= (1, 0)
    make = tn.to_dlpack if is_versioned else tn.to_dlpack_unversioned
    return api.PyCapsule_New(make(self, ctypes.byref(options)),
                             VERSIONED if is_versioned else UNVERSIONED, destroy_capsule)


def dlpack_device(self, /):
    device = (ctypes.c_int32 * 2)()
    tn.dlpack_device_of(self, device)
    return device[0], device[1]


if tn.has("to_dlpack"):
    Array.__dlpack__, Array.__dlpack_device__ = dlpack, dlpack_device


@standard("from_dlpack")
def from_dlpack(x, /, *, device=None, copy=None):
    try:
        capsule = x.__dlpack__(max_version=VERSION)
    except TypeError:
        capsule = x.__dlpack__()
    name = VERSIONED if is_valid(capsule, VERSIONED) else UNVERSIONED
    options = FromOptions(struct_size=ctypes.sizeof(FromOptions), copy=COPY[copy],
                          device=device.pointer if device else None)
    take = tn.from_dlpack if name == VERSIONED else tn.from_dlpack_unversioned
    made = take(tn.context, pointer_of(capsule, name), ctypes.byref(options))
    api.PyCapsule_SetName(capsule, USED[name])
    return made
