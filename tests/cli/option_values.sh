#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# Hostile values for each option of each command that takes one: a value is taken, or the command
# ends with status 2 and an error that names option, expectation and value.  What takes numbers
# takes none of these.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# Without libtool's script, which takes longer than the command.
[ ! -x "$TENON_BUILD/.libs/tenon" ] || {
	tenon=$TENON_BUILD/.libs/tenon
	export LD_LIBRARY_PATH="$TENON_BUILD/.libs"
}
escape=$(printf '\033[31m')
n_tried=0 n_numbers=0

# try VALUE: --help follows, so that nothing is done; "taken", or what was expected.
try() {
	status=0
	# shellcheck disable=SC2086  # the words of a command
	error=$("$tenon" $command "--$option=$1" --help 2>&1 >"$dir/out") || status=$?
	n_tried=$((n_tried + 1))
	answer=taken
	case $status:$error in
	0:) return ;;
	2:"tenon $command: --$option: expected "*", found '$2'"*"Try: tenon $command --help") ;;
	*) fail "tenon $command --$option='$1': status $status: $error" ;;
	esac
	answer=${error#*: expected }
}

# The options of a command that take a value: "epochs".
options_of() {
	# shellcheck disable=SC2086
	"$tenon" $1 --help | sed -n 's/^  --\([a-z-]*\)\( [A-Z]\|\[=\).*/\1/p'
}

for command in info doctor train eval predict trace models data convert launch plugin \
	'bench dispatch' 'bench ops' 'bench tiers' 'bench train'; do
	for option in $(options_of "$command"); do
		try "$escape" '?[31m'
		try nan nan
		# It takes any text: a name, a file.
		[ "$answer" != taken ] || continue
		is_number=0
		case $answer in
		'a whole number'* | 'a decimal number'*) is_number=1 ;;
		esac
		n_numbers=$((n_numbers + is_number))
		for value in '' inf -1 1e400 99999999999999999999999999999999 0x10 1,5; do
			try "$value" "$value"
			[ "$is_number $answer" != '1 taken' ] ||
				fail "tenon $command --$option='$value' is taken"
		done
	done
done
[ "$n_numbers" -ge 40 ] || fail "$n_numbers options with numbers were found"
echo "$n_tried values, $n_numbers options with numbers"
