#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Dependencies point one way: a folder of the core includes headers of its own and of the folders
# above it in this list, never of those below.  The command includes public headers and, of the
# core, only base; its helper program also uses internals.  The core needs no jansson.
layers="base program interpret loader device reference array dispatch capture ops random numpy \
context text io autograd linalg layers nn distributed optim data train models"

# core/numpy is composed: it includes public headers, its own, those of base and array (what every
# public function begins and ends with), and of all other folders only these.  Nothing outside it
# includes its headers: other folders call its public functions only.
#   axes reduce_axes                arguments that name axes, and the shapes of reductions
#   copy take take_along sort       what the public functions of these names do, into arrays that
#                                   exist, with several keys, or with errors in the caller's words
#   formula index_formula           one element program, recorded under the caller's name
#   elementwise combine operations element_programs
#                                   rows of the table of operations, which are NumPy's functions
#   special                         formulas that a special function shares with a derivative
#   map layout ledger               programs with several outputs or in place, where no function is
#   complex_parts                   real programs over complex arrays
#   operand cast                    do arrays share memory, and may a dtype become another?
#   index_check tolerance           checks of arguments that other functions share
#   host_access host_compute host_read host_upload
#                                   what the host reads, computes and writes, counted in the ledger
# There is no build without it: a library with fewer functions would be another ABI under the same
# name, and a static one links only what a program calls.
numpy="ops/axes.h ops/reduce_axes.h ops/copy.h ops/take.h ops/take_along.h ops/sort.h \
ops/formula.h ops/index_formula.h ops/elementwise.h ops/combine.h dispatch/operations.h \
dispatch/element_programs.h dispatch/special.h ops/map.h ops/layout.h dispatch/ledger.h \
ops/complex_parts.h dispatch/operand.h program/cast.h ops/index_check.h ops/tolerance.h \
ops/host_access.h ops/host_compute.h ops/host_read.h ops/host_upload.h ops/scatter.h"

cd "${TENON_SOURCE:?}" || exit 1
wrong=$(awk -v layers="$layers" -v numpy="$numpy" '
BEGIN {
	n = split(layers, name, " ")
	for (i = 1; i <= n; i++)
		rank[name[i]] = i
	n_allowed = split(numpy, list, " ")
	for (i = 1; i <= n_allowed; i++)
		allowed[list[i]] = 1
	allowed_folder["base"] = allowed_folder["array"] = allowed_folder["numpy"] = 1
}
FNR == 1 {
	split(FILENAME, path, "/")
	own = path[1] == "core" ? rank[path[2]] : FILENAME == "tools/tenon-probe.c" ? n : 1
	if (path[1] == "core" && !own)
		print FILENAME ": its folder is not in the list of layers"
}
/^#[ \t]*include [<"]jansson/ && path[1] == "core" {
	print FILENAME ":" FNR ": includes jansson, which is the tools\047"
}
/^#[ \t]*include "/ {
	split($0, quoted, "\"")
	split(quoted[2], header, "/")
	# Headers of the same folder and generated ones have no folder in their name.
	if (!index(quoted[2], "/"))
		next
	if (!(path[1] == "tools" && !rank[header[1]]) &&
	    (!rank[header[1]] || rank[header[1]] > own))
		print FILENAME ":" FNR ": includes " quoted[2]
	else if (path[2] == "numpy" && !allowed_folder[header[1]] && !allowed[quoted[2]])
		print FILENAME ":" FNR ": composes with " quoted[2]
	else if (path[2] != "numpy" && header[1] == "numpy")
		print FILENAME ":" FNR ": needs " quoted[2]
	used[quoted[2]] = used[quoted[2]] || path[2] == "numpy"
}
END {
	for (header_name in allowed)
		if (!used[header_name])
			print "core/numpy no longer includes " header_name
}' core/*/*.[ch] tools/*.[ch])
[ -z "$wrong" ] || {
	echo "$wrong"
	exit 1
}

# Contexts that share a device take turns (core/device/turn.h).
turnless=$(grep -nE 'backend->[a-z0-9]+\.[a-z0-9_]+\((device|queue->device)->handle' \
	core/*/*.[ch] | grep -v '^core/device/turn.h:')
[ -z "$turnless" ] || {
	echo "called without tn_turn_begin: $turnless"
	exit 1
}

# The pages for newcomers have the same list.
map=$(sed -n '/^| .core\/. |/{
	s/.* here: //
	s/[^a-z ]//g
	s/ *$//
	p
}' README.md)
[ "$map" = "$layers" ] || {
	echo "README.md lists the layers '$map', expected '$layers'"
	exit 1
}
list=$(sed -n '/^## The layers of core/,/^## Three/s/^- .\([a-z]*\).: .*/\1/p' ARCHITECTURE.md |
	tr '\n' ' ')
[ "${list% }" = "$layers" ] || {
	echo "ARCHITECTURE.md lists the layers '$list', expected '$layers'"
	exit 1
}
