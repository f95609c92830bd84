#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# The manual page and --help name the same options; an error about an option states what was
# expected.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
page=${TENON_SOURCE:?}/man/tenon.1
commands="info doctor train eval predict trace models data convert launch plugin"
commands="$commands bench bench:dispatch bench:ops bench:tiers bench:train"
# The words of a command, and its --help.
for command in $commands; do
	# shellcheck disable=SC2046
	"$tenon" $(echo "$command" | tr : ' ') --help >"$dir/$command.help" ||
		fail "tenon $command --help"
	for option in $(grep -o -e '--[a-z][a-z-]*' "$dir/$command.help" | sort -u); do
		grep -q -e "Fl -${option#--}\b" "$page" ||
			fail "tenon $command $option is not in tenon(1)"
	done
done
for option in $(grep -o 'Fl -[a-z][a-z-]*' "$page" | sed 's/Fl -/--/' | sort -u); do
	cat "$dir"/*.help | grep -q -e "$option" || [ "$option" = --version ] ||
		[ "$option" = --help ] ||
		fail "$option is in tenon(1) and in no --help"
done

# Commands shown in documents have the options used there.
"$tenon-conform" --help >"$dir/conform.help" || fail "tenon-conform --help"
awk '
	{
		command = ""
		for (i = 1; i <= NF && $i !~ /^([|;#]|&&)/; i++) {
			if ($i == "tenon-conform")
				command = "conform"
			else if ($i == "tenon")
				command = $(i + 1)
			else if (command == "bench" && $(i - 1) == command && $i ~ /^[a-z]/)
				command = command ":" $i
			else if (command != "" && match($i, /^--[a-z][a-z-]*/))
				print command, substr($i, RSTART, RLENGTH)
		}
	}' "$TENON_SOURCE"/README.md "$TENON_SOURCE"/man/*.[17] "$TENON_SOURCE"/plugins/*/*.7 \
	"$TENON_SOURCE"/plugins/*/README.md | sort -u >"$dir/shown"
while read -r command option; do
	[ "$option" = --help ] || grep -q -e "$option\b" "$dir/$command.help" ||
		fail "a document shows $option of '$command', which does not have it"
done <"$dir/shown"
[ "$(wc -l <"$dir/shown")" -ge 20 ] || fail "commands that documents show were not found"

# -h is --help for every command and for the kit.
for command in $commands; do
	# shellcheck disable=SC2046
	run 0 $(echo "$command" | tr : ' ') -h
	out_has "^usage: tenon $(echo "$command" | tr : ' ')"
done
for word in -h help --help; do
	run 0 "$word"
	out_has '^usage: tenon COMMAND'
done
for word in -V version --version; do
	run 0 "$word"
	out_has '^tenon [0-9]'
done

# "tenon help COMMAND" is its --help, also for the parts of a command.
for words in "train" "bench ops" "models"; do
	# shellcheck disable=SC2086
	run 0 help $words
	out_has "^usage: tenon $words"
done

# A terminal may have 80 columns.
"$tenon" --help >"$dir/tenon.help"
"$tenon-conform" --help >"$dir/conform.help"
long=$(awk 'length > 80' "$dir"/*.help)
[ -z "$long" ] || fail "lines of --help longer than 80 columns: $long"

# refused TEXT ARGUMENTS...: the error contains the text, and how to get help.
refused() {
	text=$1
	shift
	run 2 "$@"
	err_has "$text"
	err_has '^Try: .* --help$'
	[ ! -s "$dir/out" ] || fail "tenon $*: wrote to stdout"
}
refused "there is no command 'trian'; did you mean 'train'?" trian
refused "^tenon train: there is no option '--eopchs'; did you mean --epochs?" train --eopchs 3
refused "no option '-epochs'; did you mean --epochs?" train -epochs 3
refused "no option '--m'; did you mean --momentum, --max-shift, .*--metrics" train --m 3
refused "no option '--unlike-any'$" train --unlike-any
refused "^tenon train: --optimizer: expected adamw, sgd, .* or lamb, found 'adm'; did you mean" \
	train --optimizer adm
refused "found 'adawm'; did you mean 'adamw'?" train --optimizer adawm
refused "--capture: expected auto, on or off, found 'offf'; did you mean 'off'?" \
	train --capture offf
refused "--batch: expected a whole number from 1 to 65536, found '0'" train --batch 0
refused "no command or function has 'matmull' in its line; did you mean 'matmul'?" help matmull
refused "--lr: expected a decimal number above 0 and below 1e+30, found '0'" train --lr 0
refused "--reduce-factor: expected a decimal number above 0 and below 1, found '1'" \
	train --reduce-factor 1
for value in -1 1e30 0x1p-1 ' 0.5' inf nan; do
	refused "--momentum: expected a decimal number of at least 0 .* 1e+30, found '$value'" \
		train --momentum="$value"
done
refused "^tenon train: --help takes no argument, found '--help=foo'" train --help=foo
refused "--seed: expected a whole number below 2^64, found '-1'" train --seed=-1
refused "--ledger: expected time or nothing, found 'tme'" train --ledger=tme
refused "--quiet takes no argument, found '--quiet=3'" train --quiet=3
refused "--save: expected FILE, found the end of the command line" train --save
refused "--epochs: expected a whole number from 1 to 1000000, found the end" train --epochs
refused "--stress-seconds: expected a decimal number from 0 to 1e+06, found 'x'" \
	doctor --stress-seconds x
refused "^tenon bench: .*, found 'dispach'; did you mean 'dispatch'?" bench dispach
refused "no operation 'matmull' (--list names them); did you mean 'matmul'?$" bench ops matmull
refused "^tenon bench ops: --shape: expected 1 to 4 lengths .*, found '8y'" bench ops --shape 8y
run 1 info --why cuad
err_has "unknown backend or communicator 'cuad'; did you mean 'cuda'?"
run 1 train mlp --data digit
err_has "^tenon: dataset: digit: not found; did you mean 'digits'?"

tenon=$TENON_BUILD/tenon-conform
run 0 -h
out_has '^usage: tenon-conform '
refused "^tenon-conform: there is no option '--levle'; did you mean --level?" --levle=3 reference
refused "^tenon-conform: --mode: expected test, large, perf or support, found 'fast'" \
	--mode=fast reference
refused "--device: expected a whole number from 0 to 1023, found '1024'" --device=1024 reference
refused 'expected one BACKEND or FILE.so, found none'
