#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Dependencies point one way: a folder of the core includes headers of its own and of the folders
# above it in this list, never of those below.  The command includes public headers and, of the
# core, only base; its helper program also uses internals.  The core needs no jansson.
layers="base program interpret loader device reference array dispatch capture ops random context \
text io autograd nn distributed optim data train models"

cd "${TENON_SOURCE:?}" || exit 1
wrong=$(awk -v layers="$layers" '
BEGIN {
	n = split(layers, name, " ")
	for (i = 1; i <= n; i++)
		rank[name[i]] = i
}
FNR == 1 {
	split(FILENAME, path, "/")
	own = path[1] == "core" ? rank[path[2]] : FILENAME == "tools/tenon-probe.c" ? n : 1
	if (path[1] == "core" && !own)
		print FILENAME ": its folder is not in the list of layers"
}
/^#[ \t]*include "/ {
	split($0, quoted, "\"")
	split(quoted[2], header, "/")
	# Headers of the same folder and generated ones have no folder in their name.
	if (index(quoted[2], "/") && !(path[1] == "tools" && !rank[header[1]]) &&
	    (!rank[header[1]] || rank[header[1]] > own))
		print FILENAME ":" FNR ": includes " quoted[2]
}
/^#[ \t]*include <jansson/ && path[1] == "core" {
	print FILENAME ":" FNR ": includes jansson, which is the tools\047"
}' core/*/*.[ch] tools/*.[ch])
[ -z "$wrong" ] || {
	echo "$wrong"
	exit 1
}
