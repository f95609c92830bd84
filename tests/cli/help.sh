#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# tenon help finds a function by its name with and without tn_, by a word, and by the name of
# another library; its prototype is that of the header.
. "${TENON_SOURCE:?}/tests/cli/lib.sh"

for name in tn_matmul matmul; do
	run 0 help "$name"
	out_has '^tn_matmul: the matrix product$'
	out_has '^    #include <tenon/array.h>$'
	out_has '^    tn_array \*tn_matmul(const tn_array \*a, const tn_array \*b);$'
	out_has '^See tn_linalg(3)\.$'
done
# A prototype of several lines, at most 80 columns where an argument is not longer.
run 0 help linspace
expected='tn_array *tn_linspace(tn_context *context, tn_dtype dtype, double start, double stop, '
expected="${expected}int64_t num, int endpoint);"
tr -s ' \n' ' ' <"$dir/out" | grep -q -F "$expected" || fail "the prototype of tn_linspace"
awk 'length > 80 { exit 1 }' "$dir/out" || fail "a line of more than 80 columns"

# Words: every function with the word in its name or line.
run 0 help variance
out_has '^tn_var  *the variance$'
out_has '^tn_cov  *the covariance matrix$'
grep -q '^tn_mean ' "$dir/out" && fail "tn_mean has no variance in its line"

for name in numpy.vstack np.vstack cupy.vstack cp.vstack; do
	run 0 help $name
	out_has '^numpy.vstack: tn_concatenate '
done

run 2 help no_such_function
err_has "no command or function has 'no_such_function' in its line$"
run 2 help ''
run 2 help add subtract
err_has 'expected one name'
# A command's name is the command's.
run 0 help train
out_has '^usage: tenon train '
