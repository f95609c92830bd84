# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# usage: awk -f functions.awk tn_*.3... tenon-functions.7 tenon-numpy.7
#
# Prints the tables of function_table.h in C: the prototypes are those of the pages' synopses, the
# lines those of tenon-functions(7), and the names of other libraries those of tenon-numpy(7).
function unquote(s) { gsub(/"/, "", s); return s }
function quoted(s) { gsub(/\\/, "\\\\", s); gsub(/"/, "\\\"", s); return "\"" s "\"" }
function declare(name) {
	prototypes[name] = type (type ~ /\*$/ ? "" : " ") name "(" arguments ");"
	headers[name] = header
}
# The text of a line of macros: "Fn tn_add Ta axis 0 , not copied".
function plain(line, words, n, i, text, closed) {
	gsub(/\\&/, "", line)
	n = split(line, words, " ")
	for (i = 1; i <= n; i++) {
		if (words[i] ~ /^(Fn|Li|Em|No|Ta|Xr)$/)
			continue
		closed = words[i] ~ /^[,.;:)]$/ || text ~ /(^|\()$/
		if (words[i - 1] == "Xr" && i < n) {
			words[i] = words[i] "(" words[i + 1] ")"
			words[i + 1] = "Ta"
		}
		text = text (closed ? "" : " ") words[i]
	}
	return text
}
FNR == 1 { section = "" }
/^\.Sh / { section = $2 }

section == "SYNOPSIS" && /^\.In / { header = $2 }
section == "SYNOPSIS" && /^\.Ft / { sub(/^\.Ft /, ""); type = unquote($0) }
section == "SYNOPSIS" && /^\.Fo / { name = $2; arguments = "" }
section == "SYNOPSIS" && /^\.Fa / {
	sub(/^\.Fa /, "")
	arguments = arguments (arguments == "" ? "" : ", ") unquote($0)
}
section == "SYNOPSIS" && /^\.Fc/ { declare(name) }
section == "SYNOPSIS" && /^\.Fn / {
	name = $2
	sub(/^\.Fn [^ ]* */, "")
	gsub(/" "/, ", ")
	arguments = unquote($0)
	declare(name)
}

FILENAME ~ /tenon-functions\.7$/ && /^\.Xr tn_/ { page = $2 "(" $3 ")" }
FILENAME ~ /tenon-functions\.7$/ && !/^\./ && item != "" {
	names[++n_names] = item
	pages[item] = page
	lines[item] = $0
	item = ""
}
FILENAME ~ /tenon-functions\.7$/ && /^\.It Fn / { item = $3 }

FILENAME ~ /tenon-numpy\.7$/ && /^\.It Li / {
	others[++n_others] = $3
	sub(/^\.It Li [^ ]* Ta /, "")
	answers[n_others] = plain($0)
}
END {
	print "/* Made by functions.awk. */\n#include \"function_table.h\"\n"
	print "const struct function_row function_table[] = {"
	for (i = 1; i <= n_names; i++) {
		name = names[i]
		printf "\t{%s, %s, %s, %s, %s},\n", quoted(name), quoted(pages[name]),
			quoted(headers[name]), quoted(prototypes[name]), quoted(lines[name])
	}
	print "};\nconst size_t n_functions = " n_names ";\n"
	print "const struct other_name other_names[] = {"
	for (i = 1; i <= n_others; i++)
		printf "\t{%s, %s},\n", quoted(others[i]), quoted(answers[i])
	print "};\nconst size_t n_other_names = " n_others ";"
}
