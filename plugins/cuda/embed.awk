# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Device code as C: for each file NAME.cu its lines, as a NULL-terminated array of strings, and a
# table of all files by name.  Separate lines, because the standard guarantees string literals of
# only a few thousand characters.
FNR == 1 {
	if (names++)
		printf "\tNULL};\n\n"
	name = FILENAME
	sub(/^.*\//, "", name)
	sub(/\.cu$/, "", name)
	table = table sprintf("\t{\"%s\", %s_lines},\n", name, name)
	printf "static const char *const %s_lines[] = {\n", name
}
{
	gsub(/\\/, "\\\\")
	gsub(/"/, "\\\"")
	gsub(/\t/, "\\t")
	printf "\t\"%s\\n\",\n", $0
}
END {
	printf "\tNULL};\n\nstatic const struct source sources[] = {\n%s};\n", table
}
