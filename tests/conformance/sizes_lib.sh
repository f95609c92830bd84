# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# shellcheck shell=sh
#
# The kit's checks of computations of all sizes take most of its time.  The CPU backend's run has
# them always, those of the other backends when all is asked for.
# shellcheck source=../skip.sh
. "${TENON_SOURCE:?}/tests/skip.sh"

# sizes_left_out: exclusions for tenon-conform, to standard output.
sizes_left_out()
{
	is_whole || "${TENON_BUILD:?}/tenon-conform" --list | awk '$1 >= "L2" && $2 ~ /sizes/ {
		print $2, "2026-11-29 the CPU backend runs it" }'
}
