#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# The rules of tenon-backend(7) are numbered without a gap, each names an existing check of
# tenon-conform, and every check is named by a rule; EVERY SLOT has one row for each entry of
# <tenon/backend.h>, with the header's thread tag.
set -u
page=${TENON_SOURCE:?}/man/tenon-backend.7
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0
say() { printf 'FAILED: %s\n' "$*" >&2; failed=1; }

"${TENON_BUILD:?}/tenon-conform" --list >"$dir/list" || exit 1
awk '{ print $2 }' "$dir/list" | sort >"$dir/checks"
[ -s "$dir/checks" ] || { echo "tenon-conform --list names no check" >&2; exit 1; }
awk '/^\.Sh / { on = $2 == "RULES" } on && /^\.It Sy R[0-9]+$/ { print substr($3, 2) }' "$page" \
	>"$dir/rules"
awk '$1 != NR { exit 1 } END { exit NR == 0 }' "$dir/rules" ||
	say "the rules are not numbered R1, R2, ... in order"

# RULE PATTERN
awk -f "$TENON_SOURCE/tools/conform/citations.awk" "$page" | tr -d '\t{},"' |
	while read -r rule pattern; do printf '%s %s\n' "$rule" "$pattern"; done >"$dir/citations"
while read -r rule; do
	grep -q "^$rule " "$dir/citations" || say "R$rule names no check: add .Li FAMILY.NAME to it"
done <"$dir/rules"
while read -r rule pattern; do
	expression=$(printf '%s' "$pattern" | sed 's/\./\\./g; s/\*/.*/g')
	grep -q -x -e "$expression" "$dir/checks" ||
		say "R$rule names $pattern, which tenon-conform does not have"
done <"$dir/citations"
while read -r line; do
	case $line in
	*'[]') say "no rule names this check (add .Li to one of RULES in tenon-backend.7): $line" ;;
	esac
done <"$dir/list"
# SLOT TAG, the tag being the last one in a comment before the entry or on its line.
awk '
	/^struct (tn_[a-z]*_table|tn_backend_descriptor) \{/ { on = 1 }
	/^};/ { on = 0 }
	match($0, /\[(any|device|instance)\]/) { tag = substr($0, RSTART + 1, RLENGTH - 2) }
	on && match($0, /\(\*[a-z_0-9]+\)\(/) { print substr($0, RSTART + 2, RLENGTH - 4), tag }
' "$TENON_SOURCE/include/tenon/backend.h" | sort >"$dir/slots"
[ "$(wc -l <"$dir/slots")" -gt 50 ] || say "<tenon/backend.h>: fewer than 50 entries were found"
awk '/^\.Sh / { on = /EVERY SLOT/ } on && /^\.It Fn [a-z_0-9]+ Ta / { print $3, $5 }' "$page" |
	sort >"$dir/rows"
diff "$dir/slots" "$dir/rows" >"$dir/differences" || {
	say "EVERY SLOT of tenon-backend(7) differs (>) from the entries of <tenon/backend.h> (<):"
	cat "$dir/differences" >&2
}
echo "$(wc -l <"$dir/rules") rules, $(wc -l <"$dir/checks") checks"
exit "$failed"
