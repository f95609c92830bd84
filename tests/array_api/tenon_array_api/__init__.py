# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""The Python array API standard (data-apis.org/array-api) over the C functions of Tenon.

Only the standard library is imported: every number comes from libtenon.  A function that the
library has not is missing here too.
"""
import math

from . import _creation, _dlpack, _elementwise, _info, _linear, _manipulation, _operators
from . import _reductions, _sets
from . import _dtypes, _library, _registry
from ._array import Array, Device

__array_api_version__ = "2025.12"
__version__ = _library.version().decode()

e, inf, nan, newaxis, pi = math.e, math.inf, math.nan, None, math.pi
globals().update(_dtypes.by_name)
globals().update(_registry.functions)
