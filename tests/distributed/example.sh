#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# examples/distributed on two ranks of one machine: both end well, rank 0 alone prints.
set -u
export TENON_LOCAL_SIZE=2 TENON_LOCAL_JOB="example-$$" TENON_THREADS=1 TENON_LOG=error \
	TENON_COMMUNICATOR_TIMEOUT=60
TENON_LOCAL_RANK=1 "${TENON_BUILD:?}/examples/distributed" >"example-$$.1" 2>&1 &
first=$(TENON_LOCAL_RANK=0 "$TENON_BUILD/examples/distributed" 2>&1)
status=$?
wait $! || status=1
second=$(cat "example-$$.1")
rm -f "example-$$.1"
case $first in
'2 ranks: loss '*) ;;
*) status=1 ;;
esac
[ $status -eq 0 ] && [ -z "$second" ] && exit 0
printf 'rank 0: %s\nrank 1: %s\n' "$first" "$second"
exit 1
