#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# The recipes of HACKING.md, blocks of the form
#
#     ```recipe
#     last: EXPRESSION        what a typical late addition of this kind is called in the sources
#     in: FOLDERS             where a recipe lists every file with that name
#     FILE    what is added there
#     ```
#
# Every file is there, and those that contain that addition are exactly the listed ones.
set -u
cd "${TENON_SOURCE:?}" || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0
say() { printf 'FAILED: %s\n' "$*" >&2; failed=1; }

# Numbers that scripts record (.txt, .expected) are no part of a recipe.
# shellcheck disable=SC2086  # folders without blanks
files_with() {
	expression=$1
	shift
	LC_ALL=C grep -rlE -e "$expression" --include='*.[ch]' --include='*.cu' --include='*.def' \
		--include='*.inc' --include='Makefile.am' --include='*.[1-9]' --include='*.sh' \
		--include='*.py' --include='*.md' --include='*.abi' --include='*.backend' \
		--include=Makefile --include='*.ac' "$@" | LC_ALL=C sort
}

# KIND|last|EXPRESSION, KIND|in|FOLDERS and KIND|file|FILE
awk '
/^### / { kind = substr($0, 5) }
/^```recipe$/ { on = 1; next }
/^```/ { on = 0 }
!on || /^[ \t]/ || !NF { next }
/^last: / { print kind "|last|" substr($0, 7); next }
/^in: / { print kind "|in|" substr($0, 5); next }
{ print kind "|file|" $1 }' HACKING.md >"$dir/recipes"

cut -d'|' -f1 "$dir/recipes" | uniq >"$dir/kinds"
while read -r kind; do
	sed -n "s/^$kind|last|//p" "$dir/recipes" >"$dir/last"
	folders=$(sed -n "s/^$kind|in|//p" "$dir/recipes")
	sed -n "s/^$kind|file|//p" "$dir/recipes" | LC_ALL=C sort >"$dir/listed"
	if [ "$(wc -l <"$dir/last")" -ne 1 ] || [ -z "$folders" ]; then
		say "$kind: expected one line 'last:' and one line 'in:'"
		continue
	fi
	while read -r file; do
		[ -f "$file" ] || say "$kind: $file is not there"
	done <"$dir/listed"
	# shellcheck disable=SC2086  # folders without blanks
	files_with "$(cat "$dir/last")" $folders >"$dir/found"
	diff "$dir/listed" "$dir/found" >"$dir/differences" || {
		say "$kind: the recipe (<) is not where that addition is (>):"
		grep '^[<>]' "$dir/differences" >&2
	}
done <"$dir/kinds"

cat >"$dir/expected" <<'END'
a backend
a composed function
a data format
a dtype
a layer
a layer of elements
a loss
a network
a parser
a schedule
a slot
an element function
an option of the command
an optimizer
END
tr '[:upper:]' '[:lower:]' <"$dir/kinds" | LC_ALL=C sort >"$dir/found"
LC_ALL=C sort "$dir/expected" | diff - "$dir/found" || {
	say "recipes are missing (<) or unknown (>)"
}

# The walks of ARCHITECTURE.md: each line names a file and the functions that it defines.  A
# definition begins in column 1, and no semicolon ends its first line.
awk '
/^```walk$/ { on = 1; next }
/^```/ { on = 0 }
on && NF { for (i = 2; i <= NF; i++) print $1, $i }' ARCHITECTURE.md >"$dir/walks"
while read -r file name; do
	grep -qE "^([a-z].*[ *])?$name\([^;]*\$" "$file" ||
		say "ARCHITECTURE.md: $file does not define $name"
done <"$dir/walks"
[ "$(wc -l <"$dir/walks")" -ge 30 ] || say "ARCHITECTURE.md: the walks were not found"
echo "$(wc -l <"$dir/kinds") recipes, $(grep -c '|file|' "$dir/recipes") files," \
	"$(wc -l <"$dir/walks") functions of walks"
exit "$failed"
