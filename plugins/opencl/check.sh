#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# usage: check.sh PREFIX
#
# Tests the plugin beside this script with the Tenon that is installed in PREFIX: the conformance
# kit to level 4 and beyond (LEVEL=L1: to level 1), streams and events of programs, their contexts,
# queues and buffers, LeNet on the digits that come with Tenon.  Exit status: 77 if there is no
# OpenCL device.
set -eu
cd "$(dirname "$0")"
PATH=$1/bin:$PATH
TENON_PLUGIN_PATH=$PWD
TENON_BACKEND='opencl!'
unset TENON_PLUGIN_PATH_ONLY
export PATH TENON_PLUGIN_PATH TENON_BACKEND

status=0
tenon-conform --timeout=1200 --exclude=conform.exclude ${LEVEL:+--level "0-${LEVEL#L}"} \
	--require "${LEVEL:-L4}" ./backend_opencl.so || status=$?
[ "$status" -eq 0 ] || exit "$status"

./check_streams
./check_native

log=$(mktemp)
trap 'rm -f "$log"' EXIT
tenon train lenet --data digits --epochs 4 --seed 1 --ledger | tee "$log"
awk '
	/^test accuracy/ { accuracy = $3 + 0 }
	ledger && NF { host += $6 }
	/^operation/ { ledger = 1 }
	END {
		if (accuracy < 85 || !ledger || host > 0) {
			print "check: accuracy " accuracy "% (at least 85), host runs " host + 0 \
				" (none)"
			exit 1
		}
	}' "$log"
