#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# A page lists the members of every struct of options as the headers declare them:
# .Ss "struct NAME", and below it .It Fa "DECLARATION" for each, in order.  Every
# struct_size has one type, and every flag of a program's struct.  Every struct has a struct_size or
# is frozen, and none that has one is held by value: <tenon/types.h> has the rule, and the list of
# frozen ones.  Right after each struct of options stands its tn_..._defaults, which sets the size.
set -u
cd "${TENON_SOURCE:?}" || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
awk '
/^struct tn_[a-z0-9_]*_options \{/ { name = $2; body = ""; next }
name == "" { next }
{ body = body " " $0 }
/^\};/ {
	sub(/\};.*/, "", body)
	gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", body)
	n = split(body, members, ";")
	for (i = 1; i < n; i++) {
		gsub(/[ \t]+/, " ", members[i])
		sub(/^ /, "", members[i])
		gsub(/\* /, "*", members[i])
		print name ": " members[i]
	}
	name = ""
}' include/tenon/*.h >"$dir/headers"
awk '
/^\.S[sh] / { name = $2 == "\"struct" && $3 ~ /_options"$/ ? substr($3, 1, length($3) - 1) : "" }
name != "" && /^\.It Fa "/ { sub(/^\.It Fa "/, ""); sub(/"$/, ""); print name ": " $0 }' \
	man/*.3 >"$dir/pages"
sort -s -t: -k1,1 "$dir/headers" >"$dir/headers.sorted"
sort -s -t: -k1,1 "$dir/pages" >"$dir/pages.sorted"
diff "$dir/headers.sorted" "$dir/pages.sorted" || {
	echo "(< in a header and in no page, > in a page and in no header)"
	exit 1
}
grep -hn '[a-z0-9_] struct_size;' include/tenon/*.h | grep -v 'uint32_t struct_size;' && {
	echo "(a struct_size that is not uint32_t)"
	exit 1
}
grep -n 'uint[0-9]*_t [a-z_]*; */\* 1: ' include/tenon/*.h |
	grep -v -e /backend.h -e /communicator.h -e /plugin.h && {
	echo "(a flag that is not int)"
	exit 1
}

# frozen HEADER...: what breaks the rule in these headers.  The line of a frozen struct is
# " *   NAME  REASON".
frozen()
{
	awk '
	/^\/\* ---- / { is_list = /^\/\* ---- Frozen structs -/ }
	is_list && /^ \*   tn_[a-z0-9_]+  +[a-z]/ {
		listed[$2] = 1
		order[++n_listed] = $2
		next
	}
	/^struct tn_[a-z0-9_]+ \{/ { names[++n] = name = $2; body = ""; next }
	name == "" { next }
	{ body = body " " $0 }
	/^\}/ {
		gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", body)
		gsub(/[ \t]+/, " ", body)
		gsub(/; /, ";", body)
		sub(/^ /, "", body)
		n_members[name] = split(body, part, ";") - 1
		for (i = 1; i <= n_members[name]; i++) {
			sub(/^const /, "", part[i])
			member[name, i] = part[i]
		}
		is_sized[name] = part[1] == "uint32_t struct_size" || \
			part[1] == "struct tn_call call"
		is_struct[name] = 1
		name = ""
	}
	END {
		for (k = 1; k <= n; k++) {
			name = names[k]
			if (!is_sized[name] && !(name in listed))
				print name ": it has no struct_size, and is no frozen struct"
			for (i = 1; i <= n_members[name]; i++) {
				split(member[name, i], word, " ")
				if (word[1] != "struct" || word[3] ~ /^\*/ || !is_sized[word[2]])
					continue
				if (i > 1 || word[2] != "tn_call")
					print name ": it holds a " word[2] " by value"
			}
		}
		for (k = 1; k <= n_listed; k++) {
			if (!(order[k] in is_struct))
				print order[k] ": the frozen struct does not exist"
			else if (is_sized[order[k]])
				print order[k] ": the frozen struct has a struct_size"
		}
	}' "$@"
}
cat >"$dir/planted.h" <<'END'
/* ---- Frozen structs ---------------------------------------------------------------------------
 *
 *   tn_pair          an element of arrays
 *   tn_gone          an element of arrays
 *   tn_late_options  an element of arrays
 */
struct tn_pair {
	int first; /* and uint32_t struct_size; */
};
struct tn_call {
	uint32_t struct_size;
};
struct tn_some_args {
	struct tn_call call;
	struct tn_pair pair;
	const struct tn_late_options *late;
};
struct tn_late_options {
	uint32_t struct_size;
};
struct tn_growing {
	int size;
	uint32_t struct_size;
};
struct tn_holder {
	uint32_t struct_size;
	struct tn_late_options options;
	const struct tn_late_options all[3];
	struct tn_call call;
};
END
cat >"$dir/planted.expected" <<'END'
tn_growing: it has no struct_size, and is no frozen struct
tn_holder: it holds a tn_late_options by value
tn_holder: it holds a tn_late_options by value
tn_holder: it holds a tn_call by value
tn_gone: the frozen struct does not exist
tn_late_options: the frozen struct has a struct_size
END
frozen "$dir/planted.h" | diff "$dir/planted.expected" - || {
	echo "(< what this test ought to find in a planted header, > what it finds)"
	exit 1
}

frozen include/tenon/*.h >"$dir/broken"
[ ! -s "$dir/broken" ] || { cat "$dir/broken"; exit 1; }
awk '
/^struct tn_[a-z0-9_]* \{/ { name = $2 }
/^\};/ && name != "" { of = name; name = ""; text = ""; next }
of == "" { next }
{ text = text $0 " " }
/^\}/ || /^$/ {
	stem = of
	sub(/_options$/, "", stem)
	if (text !~ "^static inline struct " of " " stem "_defaults\\(void\\) ") {
		if (of ~ /_options$/)
			print of ": no " stem "_defaults right after it"
	} else if (text !~ /\.struct_size = sizeof\(/)
		print stem "_defaults: sets no struct_size"
	of = ""
}' include/tenon/*.h >"$dir/defaults"
[ ! -s "$dir/defaults" ] || { cat "$dir/defaults"; exit 1; }
[ -s "$dir/headers" ] || { echo "no struct of options was found"; exit 1; }
echo "$(cut -d: -f1 "$dir/headers" | sort -u | wc -l) structs, $(wc -l <"$dir/headers") members"
