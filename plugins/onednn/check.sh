#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Runs the conformance kit on the plugin, then trains LeNet on handwritten digits: does it learn,
# and which backend computed?
set -u
prefix=${PREFIX:-$(pkg-config --variable=prefix tenon-backend)}
level=${LEVEL:-L4}
PATH=$prefix/bin:$PATH
export PATH

tenon-conform --exclude=conform.exclude --require "$level" ./backend_onednn.so || exit
tenon-conform --mode=large --filter=dtypes.pairs ./backend_onednn.so || exit

TENON_PLUGIN_PATH=$PWD TENON_BACKEND=onednn \
	tenon train lenet --data digits --epochs 2 --seed 1 --ledger >check.out || exit 1
cat check.out
accuracy=$(sed -n 's/^test accuracy \([0-9]*\).*/\1/p' check.out)
if [ "${accuracy:-0}" -lt 80 ]; then
	echo "LeNet: expected a test accuracy of 80%, found ${accuracy:-none}"
	exit 1
fi

# row OPERATION COLUMN: a number of the ledger; columns are native, lent, widened, composed, host.
row() {
	awk -v operation="$1" -v column="$2" '
		$1 == operation { print $column; n++ }
		END { if (!n) print 0 }' \
		check.out
}

failed=0
expect() {
	if [ "$(row "$1" "$2")" -eq 0 ]; then
		echo "ledger: no $1 was $3"
		failed=1
	fi
}
for operation in matmul conv2d conv2d_input_gradient conv2d_weight_gradient; do
	expect $operation 2 native
done
for operation in relu sum adamw; do
	expect $operation 3 lent
done
hosted=$(awk '/^operation/ { ledger = 1; next } ledger && $6 > 0 { print $1 }' check.out)
if [ -n "$hosted" ]; then
	echo "ledger: ran on the host: $hosted"
	failed=1
fi
exit $failed
