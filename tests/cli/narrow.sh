#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# A device that computes in bf16 alone trains networks, and nothing runs on the host.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
needs_digits
plugin=$TENON_BUILD/tests/plugins/.libs/backend_narrow.so
[ -f "$plugin" ] || plugin=$(find "$TENON_BUILD" -name backend_narrow.so | head -n 1)
[ -n "$plugin" ] || fail "backend_narrow.so has not been built"
mkdir "$dir/plugins"
cp "$plugin" "$dir/plugins/"
export TENON_PLUGIN_PATH="$dir/plugins" TENON_FALLBACK=error
run 0 train mlp --hidden-sizes 32 --data digits --epochs 2 --seed 1 --backend 'narrow!' --ledger \
	--metrics "$dir/a"
err_has 'narrow:0'
awk 'NF == 8 && $2 ~ /^[0-9]+$/ { native += $2; host += $6 } END { exit !(native && !host) }' \
	"$dir/out" || { cat "$dir/out" >&2; fail "expected native runs alone"; }
at_least "$(metric test_accuracy "$dir/a")" 0.8
# Its results are right for bf16, which the report names.
TENON_FALLBACK=allow run 0 doctor --device narrow:0 --only '[elnpr]*'
out_has '^  accuracy  *f32 is computed in bf16'
out_has '^narrow:0: [1-9][0-9]* ok, 0 failed, 0 skipped'
run 0 doctor --device narrow:0 --only elements.long --json
out_has '"f32_computed_in": "bf16"'
# It is not f32 that computes.
run 0 train mlp --hidden-sizes 32 --data digits --epochs 2 --seed 1 --backend 'reference!' \
	--metrics "$dir/b"
[ "$(metric test_loss "$dir/a")" != "$(metric test_loss "$dir/b")" ] ||
	fail "the numbers are those of f32"
# Convolutions, pools and norms, in all 17 seconds if every digit is used.
pictures "$dir/pictures" 28
run 0 train lenet --data "$dir/pictures" --epochs 1 --batch 8 --backend 'narrow!' --quiet
! is_whole || {
	run 0 train lenet --data digits --epochs 2 --seed 1 --backend 'narrow!' --metrics "$dir/c"
	at_least "$(metric test_accuracy "$dir/c")" 0.8
}
