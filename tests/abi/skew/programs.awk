# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Writes to `folder` the headers for programs of a version that never was, from today's headers and
# their layout, the output of ../dump.awk's program, which comes first.  `kind` is older (sized
# structs end before their last member), same, or newer (they have a member more, skew_later).
# structs.h has a row for each sized struct: name, size, today's size, and a function that gives its
# defaults.
#
# A later version puts nothing into padding.  So an older struct ends before a member that begins
# where today's could have ended, even if that is not the last.

BEGIN {
	# Members that were there from the beginning: those after another struct must not move when
	# that grows; without the others nothing can be called.
	split("tn_module_conv2d_options tn_module_conv1d_options " \
	      "tn_module_conv_transpose2d_options", list)
	for (i in list)
		whole[list[i]] = 1
	split("tn_error_info tn_memory_information tn_report_line", list)
	for (i in list)
		frozen[list[i]] = 1
}

# The name that a member's declaration gives it.
function name_of(declaration)
{
	if (match(declaration, /\(\*[a-z_0-9]+\)/))
		return substr(declaration, RSTART + 2, RLENGTH - 3)
	gsub(/\[[^]]*\]/, "", declaration)
	match(declaration, /[A-Za-z_0-9]+$/)
	return substr(declaration, RSTART)
}

function end_struct()
{
	if (sized && kind == "older" && !(type in whole))
		for (i = cut ? cut : 2; i <= n; i++)
			gone[type, member[i]] = 1
	type = ""
}

# ---- The layout --------------------------------------------------------------------------------

NR == FNR && /^struct [a-z_0-9]+: / {
	end_struct()
	type = substr($2, 1, length($2) - 1)
	size[type] = $3
	n = sized = cut = 0
	next
}

NR == FNR && type != "" && /^ +[0-9]+ +[0-9]+  / {
	member[++n] = name_of($0)
	if (n == 1)
		sized = member[1] == "struct_size" && !(type in frozen)
	else if ($1 % (size[type] % 8 ? 4 : 8) == 0)
		cut = n
	next
}

NR == FNR {
	end_struct()
	next
}

# ---- The headers -------------------------------------------------------------------------------

FNR == 1 {
	path = FILENAME
	sub(/.*\//, "", path)
	out = folder path
}

/^struct [a-z_0-9]+ \{/ {
	type = $2
	lines = 0
}

lines == 1 && type in size && /^\tuint32_t struct_size;/ && !(type in frozen) {
	is_sized = 1
	order[++n_types] = type
}

# A declaration that clang-format has broken.
is_sized && /^\t[a-z][a-z_0-9 ]*$/ {
	begun = $0
	getline
	sub(/^[ \t]*/, " ")
	$0 = begun $0
}

# What is left out is the end of a struct.
is_sized && /^\t[a-z].*[;,(]/ {
	declaration = $0
	sub(/\/\*.*/, "", declaration)
	sub(/ *[;,][^;,]*$/, "", declaration)
	if ((type, name_of(declaration)) in gone)
		left_out = ended[type] = 1
}

/^};/ {
	if (is_sized && kind == "newer")
		print "\tuint64_t skew_later;" >out
	type = ""
	is_sized = left_out = 0
}

/^static inline struct [a-z_0-9]+ [a-z_0-9]+_defaults\(void\)$/ { given = $4 }

# One statement a line.
given != "" && match($0, /\.[a-z_0-9]+/) {
	if ((given, substr($0, RSTART + 1, RLENGTH - 1)) in gone)
		next
}

/^}/ { given = "" }

!left_out { print >out }

{ lines++ }

END {
	for (i = 1; i <= n_types; i++) {
		if (kind == "older" && !(order[i] in whole) && !(order[i] in ended)) {
			print "programs.awk: the end of struct " order[i] " was not found"
			exit 1
		}
	}
}
