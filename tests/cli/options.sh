#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# The manual page and --help name the same options.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
page=${TENON_SOURCE:?}/man/tenon.1
commands="info doctor train eval predict plugin bench bench:dispatch bench:ops bench:train"
# The words of a command, and what it says of its options.
for command in $commands; do
	# shellcheck disable=SC2046
	"$tenon" $(echo "$command" | tr : ' ') --help >"$dir/$command.help" || fail "tenon $command --help"
	for option in $(grep -o -e '--[a-z][a-z-]*' "$dir/$command.help" | sort -u); do
		grep -q -e "Fl -${option#--}\b" "$page" || fail "tenon $command $option is not in tenon(1)"
	done
done
for option in $(grep -o 'Fl -[a-z][a-z-]*' "$page" | sed 's/Fl -/--/' | sort -u); do
	cat "$dir"/*.help | grep -q -e "$option" || [ "$option" = --version ] || [ "$option" = --help ] ||
		fail "$option is in tenon(1) and in no --help"
done
