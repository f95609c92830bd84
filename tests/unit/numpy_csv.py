#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Writes numpy_csv.h: a table as text, and the numbers that NumPy (2.4) reads from it.
#
#     python3 tests/unit/numpy_csv.py > tests/unit/numpy_csv.h
import io

import numpy as np

rng = np.random.default_rng(15)
lines = ["a,b,c # three columns"]
for i in range(20):
    bits = rng.integers(0, 2**63, 3, dtype=np.uint64).view(np.float64)
    lines.append(",".join(repr(float(x)) for x in bits))
lines += [
    "", "# a remark", "1,2,3 # here", " 1e5 ,\t-.5, 7.", "nan,inf,-Infinity", ",-0,0",
    "4.9406564584124654e-324,2.4703282292062327e-324,2.4703282292062328e-324",
    "1.7976931348623157e308,9007199254740993,9007199254740992.99999999999999999999",
    "0.1000000000000000055511151231257827,1e22,1e23",
    "179769313486231570000000000000000000000e270,123456789012345678901234567890,+1E+0",
]
text = "\n".join(lines) + "\n"
values = np.genfromtxt(io.StringIO(text), delimiter=",", comments="#", skip_header=1)

print("""/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Written by numpy_csv.py: a table, and the numbers that NumPy %s reads from it.
 */
/* clang-format off */
#include <math.h>

static const char numpy_csv_text[] =""" % np.__version__)
for line in text.splitlines():
    print('\t"%s\\n"' % line.replace("\t", "\\t"))
print("\t;\n\nstatic const double numpy_csv_values[] = {")
for row in values:
    print("\t" + ", ".join("NAN" if np.isnan(x) else ("-" if x < 0 else "") + "INFINITY"
                           if np.isinf(x) else float(x).hex() for x in row) + ",")
print("};\n/* clang-format on */")
