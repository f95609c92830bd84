# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""The standard's inspection of a namespace."""
from . import _dtypes
from . import _library as tn
from ._array import Device
from ._creation import devices
from ._registry import standard


class Info:
    def capabilities(self):
        return {"boolean indexing": tn.has("index"), "data-dependent shapes": tn.has("nonzero"),
                "max dimensions": 16}

    def default_device(self):
        return Device(tn.device_current(tn.context))

    def default_dtypes(self, *, device=None):
        return {"real floating": _dtypes.float64, "complex floating": _dtypes.complex128,
                "integral": _dtypes.int64, "indexing": _dtypes.int64}

    def devices(self):
        return devices()

    def dtypes(self, *, device=None, kind=None):
        if kind is None:
            return dict(_dtypes.by_name)
        return {name: dtype for name, dtype in _dtypes.by_name.items()
                if _dtypes.isdtype(dtype, kind)}


@standard()
def __array_namespace_info__():
    return Info()
