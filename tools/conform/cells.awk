# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Makes the lines of dtype_cells.txt a C array of strings.

BEGIN { print "static const char *const lines[] = {" }
/^[^#]/ { printf "\t\"%s\",\n", $0 }
END { print "};" }
