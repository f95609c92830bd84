# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Texts as strings of C.  A comment that begins in column 1 with "NAME: " begins a text, which
# becomes an array of that name.  Comments on lines of their own, and empty lines, are left out.
function finish()
{
	if (name)
		print ";"
}
/^\/\* [a-z_]+: / {
	finish()
	name = substr($2, 1, length($2) - 1)
	printf "static const char %s[] =", name
}
/^[ \t]*\/\*/ { is_comment = 1 }
is_comment {
	if (/\*\/[ \t]*$/)
		is_comment = 0
	next
}
/./ {
	gsub(/\\/, "\\\\")
	gsub(/"/, "\\\"")
	gsub(/\t/, "\\t")
	printf "\n\t\"%s\\n\"", $0
}
END { finish() }
