#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# A plugin with memory and copies only trains the MLP through host runs, which the ledger shows.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
needs_digits
plugin=$TENON_BUILD/tests/plugins/.libs/backend_copyonly.so
[ -f "$plugin" ] || plugin=$(find "$TENON_BUILD" -name backend_copyonly.so | head -n 1)
[ -n "$plugin" ] || fail "backend_copyonly.so has not been built"
mkdir "$dir/plugins"
cp "$plugin" "$dir/plugins/"
export TENON_PLUGIN_PATH="$dir/plugins"
run 0 train mlp --data digits --epochs 1 --seed 1 --backend 'copyonly!' --ledger --metrics "$dir/a"
err_has 'copyonly:0'
awk '$1 == "matmul" && $2 == 0 && $6 > 0 && $7 > 0 { found = 1 } END { exit !found }' \
	"$dir/out" || {
	cat "$dir/out" >&2
	fail "expected host runs of matmul and bytes moved"
}
# The same numbers as the host's own, since the host computes.
run 0 train mlp --data digits --epochs 1 --seed 1 --backend 'reference!' --metrics "$dir/b"
[ "$(metric test_loss "$dir/a")" = "$(metric test_loss "$dir/b")" ] ||
	fail "host runs differ from the host"
# If forbidden, a host run is an error that names the operation.
TENON_FALLBACK=error run 1 train mlp --data digits --epochs 1 --backend 'copyonly!'
err_has UNSUPPORTED
# TENON_FALLBACK=warn reports each operation once.
TENON_FALLBACK=warn run 0 train mlp --data digits --epochs 1 --backend 'copyonly!' --quiet
[ "$(grep -c matmul "$dir/err")" -eq 1 ] ||
	{ cat "$dir/err" >&2; fail "expected one warning on matmul"; }
