# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# shellcheck shell=sh
#
# The kit's checks of all sizes, views and values take most of its time: make check tries a part of
# them, for the CPU backend more than for the others, and all if all is asked for.
# shellcheck source=../skip.sh
. "${TENON_SOURCE:?}/tests/skip.sh"

# effort PERCENT: the option of tenon-conform.
effort()
{
	is_whole || echo "--effort=$1"
}
