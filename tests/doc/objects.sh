#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Rules for the core, checked on its object files:
#   - a prototype is in the header named after the .c that defines the function;
#   - files do not call each other in a circle;
#   - a folder uses its own functions and those of the folders above it in the list of layers.sh.
# Exceptions are named here, each with its reason.
set -u
: "${TENON_SOURCE:?}" "${TENON_BUILD:?}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0
say() { printf 'FAILED: %s\n' "$*" >&2; failed=1; }

# HEADER: its functions may be defined in any file of its folder.
#   block.h      tables of kernels, one file each, and the functions that search them
#   entries.h    the entries of the reference, one file an operation, for the one table of backend.c
#   interpret.h  the purpose of the folder: map and reduce
#   models.h     the networks, for the one table of gallery.c
cat >"$dir/shared" <<'END'
core/interpret/block
core/interpret/interpret
core/models/models
core/reference/entries
END

layers=$(sed -n '/^layers=/,/"$/{
	s/^layers=//
	s/["\\]//g
	p
}' "$TENON_SOURCE/tests/doc/layers.sh" | tr '\n' ' ')
[ -n "$layers" ] || { say "layers.sh has no list of layers"; exit 1; }

# FILE SYMBOL T|U: what each file of the core defines and uses.
cd "$TENON_BUILD" || exit 1
for source in "$TENON_SOURCE"/core/*/*.c; do
	file=${source#"$TENON_SOURCE"/}
	file=${file%.c}
	folder=${file%/*}
	for object in "$folder"/.libs/*"${file##*/}.o" "$folder"/*"${file##*/}.o"; do
		case ${object##*/} in
		"${file##*/}.o" | lib*_la-"${file##*/}.o") ;;
		*) continue ;;
		esac
		[ -f "$object" ] || continue
		printf '%s %s\n' "$file" "$object"
		break
	done
done >"$dir/objects"
# shellcheck source=../skip.sh
. "${TENON_SOURCE:?}/tests/skip.sh"
[ -s "$dir/objects" ] || skip "there are no object files of the core"
# shellcheck disable=SC2046  # names without blanks
${NM:-nm} -P -A $(cut -d' ' -f2 "$dir/objects") >"$dir/nm" 2>/dev/null ||
	skip "nm does not read the object files"
awk 'NR == FNR { file[$2] = $1; next }
{
	sub(/:$/, "", $1)
	sub(/\[.*\]/, "", $1)
	if ($3 ~ /^[TDRBVWC]$/)
		print file[$1], $2, "T"
	else if ($3 == "U")
		print file[$1], $2, "U"
}' "$dir/objects" "$dir/nm" >"$dir/symbols"
grep -q ' T$' "$dir/symbols" || skip "nm sees no symbols in the object files"

# Prototypes begin in the first column and go on indented.
cd "$TENON_SOURCE" || exit 1
wrong=$(awk -v shared="$dir/shared" '
BEGIN { while ((getline line <shared) > 0) is_shared[line] = 1 }
FILENAME ~ /symbols$/ { if ($3 == "T") home[$2] = $1; next }
/^(static|typedef|#|\/| |\t)/ { next }
match($0, /[a-z_0-9]+\(/) {
	name = substr($0, RSTART, RLENGTH - 1)
	header = FILENAME
	sub(/\.h$/, "", header)
	if (name in home && home[name] != header && !is_shared[header])
		print FILENAME ":" FNR ": " name " is defined in " home[name] ".c"
}' "$dir/symbols" core/*/*.h)
[ -z "$wrong" ] || say "prototypes in another header:
$wrong"

# Edges: who calls whom.
awk 'NR == FNR { if ($3 == "T") home[$2] = $1; next }
$3 == "U" && $2 in home && home[$2] != $1 {
	print $1, home[$2], $2
}' "$dir/symbols" "$dir/symbols" | sort -u >"$dir/edges"

wrong=$(awk -v layers="$layers" '
BEGIN {
	n = split(layers, name, " ")
	for (i = 1; i <= n; i++)
		rank[name[i]] = i
}
{
	split($1, from, "/")
	split($2, to, "/")
	if (rank[to[2]] > rank[from[2]])
		print $1 ".c calls " $3 " of " $2 ".c"
}' "$dir/edges")
[ -z "$wrong" ] || say "folders call those below them:
$wrong"

# Files without callers or without callees are not in a circle; the files left after removing all of
# these are.
wrong=$(awk '
{ edge[$1 " " $2] = edge[$1 " " $2] " " $3 }
END {
	do {
		gone = 0
		split("", calls)
		split("", called)
		for (e in edge) {
			split(e, ends, " ")
			calls[ends[1]] = called[ends[2]] = 1
		}
		for (e in edge) {
			split(e, ends, " ")
			if (!called[ends[1]] || !calls[ends[2]]) {
				delete edge[e]
				gone = 1
			}
		}
	} while (gone)
	for (e in edge)
		print e ":" edge[e]
}' "$dir/edges" | sort)
[ -z "$wrong" ] || say "files call each other in a circle (CALLER CALLED: SYMBOLS):
$wrong"
echo "$(wc -l <"$dir/objects") files, $(wc -l <"$dir/edges") calls from file to file"
exit "$failed"
