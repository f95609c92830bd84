# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# shellcheck shell=sh
#
# Sourced by the skew tests.  Makes a folder $work with the headers of every version in a folder of
# its own, whose names are $versions, oldest first:
#
#	short           ends earlier than today's in places; only before 1.0, as 1.0
#	frozen-MAJOR.N  in tests/abi/frozen, as released or, before 1.0, as they would be
#	same            today's; before 1.0 they count as 1.1
#	long            today's, grown, as the minor $newest
set -u
here=${TENON_SOURCE:?}/tests/abi/skew
include=$TENON_SOURCE/include/tenon
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2034 # the scripts that include it use it
failed=0

number()
{
	sed -n "s/^#define $2 \\([0-9]*\\)u\$/\\1/p" "$1"
}

# synthesize KIND MAJOR MINOR FOLDER: the headers of such a version.
synthesize()
{
	mkdir -p "$work/$4/tenon"
	awk -f "$here/synthesize.awk" -v kind="$1" -v major="$2" -v minor="$3" \
		-v folder="$work/$4/tenon/" \
		"$include/types.h" "$include/backend.h" "$include/communicator.h" \
		"$include/faults.h" || {
		echo "types.h, backend.h, communicator.h: what synthesize.awk changes is not there"
		exit 1
	}
}

# compile OUTPUT VERSION SOURCE OPTIONS...
compile()
{
	output=$1 version=$2 source=$3
	shift 3
	# The compiler is a list of words.
	# shellcheck disable=SC2086
	${CC:-cc} -std=gnu11 -O1 -Wall -Wextra -Werror -I"$work/$version" -I"$here" \
		"$here/$source" -o "$output" "$@" || {
		echo "$source does not build with the headers of the version $version"
		exit 1
	}
}

# compile_plugin OUTPUT VERSION [SOURCE]
compile_plugin()
{
	mkdir -p "$(dirname "$1")"
	compile "$1" "$2" "${3:-plugin.c}" -shared -fPIC -fvisibility=hidden -Wl,-z,defs
}

own_major=$(number "$include/backend.h" TN_ABI_MAJOR)
own_minor=$(number "$include/backend.h" TN_ABI_MINOR)
major=$own_major minor=$own_minor versions=
if [ "$major" -eq 0 ]; then
	major=1 minor=1 versions=short
	synthesize short 1 0 short
fi
newest=$((minor + 1))
stored=$TENON_SOURCE/tests/abi/frozen
for frozen in $(cd "$stored" && printf '%s\n' "$major".* | sort -t . -k 2n); do
	[ -d "$stored/$frozen" ] || continue
	cp -R "$stored/$frozen" "$work/frozen-$frozen"
	versions="$versions frozen-$frozen"
done
synthesize same "$major" "$minor" same
synthesize long "$major" $newest long
versions="$versions same long"
