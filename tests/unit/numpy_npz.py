#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Writes numpy_npz.h: the files that numpy.savez and numpy.savez_compressed (2.4) write.
#
#     python3 tests/unit/numpy_npz.py > tests/unit/numpy_npz.h
#
# With a file, which tn_npz_write wrote (io_npz FILE), checks that NumPy reads the same arrays:
#
#     python3 tests/unit/numpy_npz.py FILE
import io
import sys

import numpy as np

ARRAYS = {
    "weight": np.arange(6, dtype=np.float32).reshape(2, 3) - 2.5,
    "columns": np.asfortranarray(np.arange(6, dtype=np.int16).reshape(2, 3)),
    "big.endian": np.array([1, -2], dtype=">i8"),
    "empty": np.zeros((0, 3), dtype=np.complex128),
    "größe": np.array(True),
    "zeros": np.zeros(1000, dtype=np.uint8),
}

if len(sys.argv) > 1:
    with np.load(sys.argv[1], allow_pickle=False) as file:
        assert file.files == list(ARRAYS), file.files
        for name, array in ARRAYS.items():
            assert file[name].shape == array.shape and np.array_equal(file[name], array), name
            assert file[name].dtype == array.dtype.newbyteorder("="), name
    sys.exit(0)

print("""/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Written by numpy_npz.py: the files that savez and savez_compressed of NumPy %s write.
 */
/* clang-format off */""" % np.__version__)
for function in (np.savez, np.savez_compressed):
    file = io.BytesIO()
    function(file, **ARRAYS)
    data = file.getvalue()
    print("\nstatic const unsigned char numpy_%s[%d] = {" % (function.__name__, len(data)))
    for i in range(0, len(data), 20):
        print("\t" + "".join("%d," % byte for byte in data[i:i + 20]))
    print("};")
print("/* clang-format on */")
