#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# tools/tenon-rename renames whole words once, and leaves files without one alone.
set -u
cd "${TENON_SOURCE:?}" || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/old.c" <<'END'
tn_average *a = tn_average_create(net, NULL); /* tn_average's */
tn_array *mean = tn_weighted_average(x, w, 1, axes, 0, NULL);	// tn_sync, tn_sync_x, my_tn_sync
tn_sequential_add(net, "tn_sequential", (tn_sequential(ctx)));
  0x1.8p3f + tn_syncs
END
cat >"$dir/expected.c" <<'END'
tn_weight_average *a = tn_weight_average_create(net, NULL); /* tn_weight_average's */
tn_array *mean = tn_average(x, w, 1, axes, 0, NULL);	// tn_synchronize, tn_sync_x, my_tn_sync
tn_module_sequential_add(net, "tn_module_sequential", (tn_module_sequential(ctx)));
  0x1.8p3f + tn_syncs
END
printf 'int other;\n' >"$dir/other.c"
touch -d 2001-01-01 "$dir/other.c"
changed=$(tools/tenon-rename "$dir/old.c" "$dir/other.c") || exit 1
[ "$changed" = "$dir/old.c" ] || { echo "changed: $changed"; exit 1; }
diff "$dir/expected.c" "$dir/old.c" || exit 1
[ -z "$(find "$dir" -name other.c -newermt 2002-01-01)" ] || { echo "other.c is new"; exit 1; }

wrong=$(awk '!/^#/ && (NF != 2 || $1 == $2 || seen[$1]++)' tools/renames.txt)
[ -z "$wrong" ] || { echo "renames.txt: $wrong"; exit 1; }

# The headers have the new names, and of the old ones those alone that are new ones, too.
cat include/tenon/*.h >"$dir/headers"
wrong=$(awk '
FILENAME == ARGV[1] { if (!/^#/) { old[$1] = 1; is_new[$2] = 1 } next }
{
	for (; match($0, /tn_[a-z0-9_]+/); $0 = substr($0, RSTART + RLENGTH))
		seen[substr($0, RSTART, RLENGTH)] = 1
}
END {
	for (name in is_new)
		if (!(name in seen)) print name " is not declared"
	for (name in old)
		if (name in seen && !(name in is_new)) print name " is an old name"
}' tools/renames.txt "$dir/headers")
[ -z "$wrong" ] || { echo "$wrong"; exit 1; }
