# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# From public headers to a C program that prints what they promise: macros with a value, typedefs,
# prototypes, the numbers of enums, and each struct's fields with offset, size and declaration.  The
# words are the header's and the numbers are the compiler's, so that neither can change unseen.
# Understands the headers of this project, not C.

function trim(s)
{
	gsub(/[ \t\n]+/, " ", s)
	sub(/^ /, "", s)
	sub(/ $/, "", s)
	return s
}

# A line of the output, printed as it is.
function say(s)
{
	gsub(/\\/, "\\\\", s)
	gsub(/"/, "\\\"", s)
	gsub(/%/, "%%", s)
	printf "\tprintf(\"%s\\n\");\n", s
}

# Takes comments out of a line; one that goes on sets `comment`.
function without_comments(s,    at, end, out)
{
	out = ""
	while ((at = index(s, "/*")) > 0) {
		out = out substr(s, 1, at - 1) " "
		s = substr(s, at + 2)
		end = index(s, "*/")
		if (!end) {
			comment = 1
			return out
		}
		s = substr(s, end + 2)
	}
	return out s
}

function name_of(declaration)
{
	if (match(declaration, /\(\*[a-z_0-9]+\)/))
		return substr(declaration, RSTART + 2, RLENGTH - 3)
	gsub(/\[[^]]*\]/, "", declaration)
	match(declaration, /[A-Za-z_0-9]+$/)
	return substr(declaration, RSTART)
}

function field(type, declaration)
{
	printf "\tprintf(\"  %%5zu %%5zu  %s\\n\", offsetof(struct %s, %s), " \
		"sizeof(((struct %s *)0)->%s));\n",
		declaration, type, name_of(declaration), type, name_of(declaration)
}

function fields(type, body,    list, names, n, m, i, j, first)
{
	printf "\tprintf(\"struct %s: %%zu bytes\\n\", sizeof(struct %s));\n", type, type
	n = split(body, list, ";")
	for (i = 1; i <= n; i++) {
		list[i] = trim(list[i])
		if (list[i] == "")
			continue
		if (list[i] ~ /\(/ || list[i] !~ /,/) {
			field(type, list[i])
			continue
		}
		m = split(list[i], names, ",")
		first = trim(names[1])
		field(type, first)
		sub(/[A-Za-z_0-9]+(\[[^]]*\])*$/, "", first)
		for (j = 2; j <= m; j++)
			field(type, trim(first trim(names[j])))
	}
}

function numbers(body,    list, n, i)
{
	n = split(body, list, ",")
	for (i = 1; i <= n; i++) {
		list[i] = trim(list[i])
		sub(/ ?=.*/, "", list[i])
		if (list[i] != "")
			printf "\tprintf(\"%s = %%lld\\n\", (long long)%s);\n", list[i], list[i]
	}
}

# A declaration with braces, whose body has none in it.
function block(head, body)
{
	if (head ~ /^struct [a-z_0-9]+$/)
		fields(substr(head, 8), body)
	else if (head ~ /^enum/)
		numbers(body)
	else if (head !~ /^static inline/)
		say("not understood: " head)
}

function declaration(s)
{
	s = trim(s)
	if (s == "" || s ~ /^struct [a-z_0-9]+$/)
		return
	say(s)
}

function macro(line)
{
	sub(/^#define /, "", line)
	line = trim(line)
	# Not one with arguments, and no include guard.
	if (line ~ /^[A-Z_0-9]+ / && line !~ /^(TN_EXTERN_C|TN_API|TN_CHECKED) /)
		say("#define " line)
}

# Everything outside the preprocessor, as one text: declarations end in ';' or a block.
function flush(    s, head, depth, i, c, body)
{
	s = text
	head = body = ""
	depth = 0
	for (i = 1; i <= length(s); i++) {
		c = substr(s, i, 1)
		if (c == "{")
			depth++
		if (depth == 0 && c == ";") {
			declaration(head)
			head = ""
		} else if (depth == 0)
			head = head c
		else
			body = body c
		if (c == "}" && --depth == 0) {
			block(trim(head), substr(body, 2, length(body) - 2))
			head = body = ""
		}
	}
	text = ""
}

BEGIN {
	print "#include <stdio.h>\n#include <stddef.h>"
	print "#include <tenon/backend.h>\n#include <tenon/faults.h>\n#include <tenon/tenon.h>"
	print "int main(void)\n{"
}

FNR == 1 && NR > 1 {
	flush()
}

FNR == 1 {
	name = FILENAME
	sub(/.*\//, "", name)
	say("")
	say("<tenon/" name ">")
	comment = skip = continued = 0
}

{
	line = $0
	if (comment) {
		if (!index(line, "*/"))
			next
		line = substr(line, index(line, "*/") + 2)
		comment = 0
	}
	line = without_comments(line)
}

continued || /^#/ {
	if (!continued && line ~ /^#ifdef __cplusplus/)
		skip = 1
	else if (!continued && line ~ /^#(endif|else)/)
		skip = 0
	else if (!continued && line ~ /^#define/ && line !~ /\\$/)
		macro(line)
	continued = line ~ /\\$/
	next
}

!skip {
	text = text line "\n"
}

END {
	flush()
	print "\treturn 0;\n}"
}
