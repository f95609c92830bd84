# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""The namespace has what the standard names, from the standard library and libtenon alone."""
import ast
import os
import sys

import pytest
import tenon_array_api as xp

FUNCTIONS = """
abs acos acosh add all any arange argmax argmin argsort asarray asin asinh astype atan atan2 atanh
bitwise_and bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor
broadcast_arrays broadcast_shapes broadcast_to can_cast ceil clip concat conj copysign cos cosh
count_nonzero cumulative_prod cumulative_sum diff divide empty empty_like equal exp expand_dims
expm1 eye finfo flip floor floor_divide from_dlpack full full_like greater greater_equal hypot iinfo
imag isdtype isfinite isin isinf isnan less less_equal linspace log log10 log1p log2 logaddexp
logical_and logical_not logical_or logical_xor matmul matrix_transpose max maximum mean meshgrid min
minimum moveaxis multiply negative nextafter nonzero not_equal ones ones_like permute_dims positive
pow prod real reciprocal remainder repeat reshape result_type roll round searchsorted sign signbit
sin sinh sort sqrt square squeeze stack std subtract sum take take_along_axis tan tanh tensordot
tile tril triu trunc unique_all unique_counts unique_inverse unique_values unstack var vecdot where
zeros zeros_like
""".split()
METHODS = """
abs add and array_namespace bool complex dlpack dlpack_device eq float floordiv ge getitem gt index
int invert le lshift lt matmul mod mul ne neg or pos pow rshift setitem sub truediv xor
""".split()


@pytest.mark.parametrize("name", FUNCTIONS + "e inf nan newaxis pi".split())
def test_is_there(name):
    assert hasattr(xp, name)


@pytest.mark.parametrize("name", METHODS)
def test_method_is_there(name):
    assert "__%s__" % name in vars(xp.Array)


def test_only_the_standard_library_is_imported():
    folder = os.path.dirname(xp.__file__)
    imported = set()
    for name in os.listdir(folder):
        if not name.endswith(".py"):
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            for node in ast.walk(ast.parse(file.read())):
                if isinstance(node, ast.Import):
                    imported |= {alias.name.split(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and not node.level:
                    imported.add(node.module.split(".")[0])
    assert imported
    assert imported - {"tenon_array_api"} <= sys.stdlib_module_names
