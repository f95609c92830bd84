# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Plants faults of tests/mutants.txt in a copy of the tree, all in one program: where FROM stood,
# tn_planted(NUMBER) decides between TO and FROM.
#
# usage: awk -v tree=FOLDER -v header=FILE -v chosen=' NUMBERS ' -f plant.awk LIST
#
# Writes the changed files, which include the header that declares tn_planted, and for each planted
# block a line "NUMBER FILE FIRST-LINE LAST-LINE TESTS: FAULT", with tabs in the place of these
# blanks.  A block that cannot be planted is named on standard error.
BEGIN {
	RS = ""
	FS = "\n"
}

!/^fault:/ { next } # the list's introduction

{
	number++
	if (index(chosen, " " number " "))
		plant()
}

END {
	for (name in text)
		write_file(name)
	exit failed
}

function plant(    i, key, keys, area, start, from)
{
	for (key in said)
		delete said[key]
	for (i = 1; i <= NF; i++) {
		if ($i ~ /^[^ \t]/) {
			key = $i
			sub(/:.*/, "", key)
			$i = substr($i, length(key) + 2)
		}
		said[key] = said[key] " " $i
		gsub(/^[ \t]+|[ \t]+$/, "", said[key])
		gsub(/ \t/, " ", said[key])
	}
	for (i = split("fault file from test", keys, " "); i; i--) {
		if (said[keys[i]] == "")
			return refuse("expected '" keys[i] ":' and a text")
	}
	if (!("to" in said))
		return refuse("expected 'to:', found none")
	if (said["to"] == said["from"])
		return refuse("'to' is 'from'")
	if (!(said["file"] in text) && !read_file(said["file"]))
		return refuse("there is no file " said["file"])
	area = text[said["file"]]
	if (!find_function(area))
		return refuse(said["file"] " has no function " said["in"])
	start = RSTART
	if (!find_once(substr(area, RSTART, RLENGTH), pattern_of(said["from"])))
		return
	start += RSTART - 1
	from = substr(area, start, RLENGTH)
	if (!is_whole(substr(area, 1, start - 1), from, substr(area, start + RLENGTH)))
		return refuse("neither a whole statement nor a whole expression: " said["from"])
	replacement[number] = said["to"]
	text[said["file"]] = substr(area, 1, start - 1) switched(from) \
		substr(area, start + RLENGTH)
	i = lines_in(substr(area, 1, start - 1)) + 1
	print number "\t" said["file"] "\t" i "\t" i + lines_in(from) "\t" said["test"] "\t" \
		said["fault"]
}

function refuse(why)
{
	print FILENAME ": fault " number ", " said["fault"] ": " why >"/dev/stderr"
	failed = 1
}

function lines_in(part) { return gsub(/\n/, "\n", part) }

# What `to` says comes in at the end: it is no place to look for another block's `from`.
function switched(from)
{
	if (is_statement(from))
		return "{ if (tn_planted(" number ")) { \001" number "\002 } else { " from " } }"
	return "(tn_planted(" number ") ? (\001" number "\002) : (" from "))"
}

function is_statement(from) { return from ~ /[;}]$/ }

# An operand of what binds less than anything inside of it: brackets around it change nothing.
function is_whole(before, from, after)
{
	before = substr(before, length(before) > 400 ? length(before) - 399 : 1)
	sub(/([ \t\n]|\/\*([^*]|\*[^\/])*\*\/)+$/, "", before)
	sub(/^[ \t\n]+/, "", after)
	if (count(from, "(") != count(from, ")"))
		return 0
	if (is_statement(from))
		return before ~ /([;{})\002:]|else|do)$/
	return before ~ /([[(,?:{;]|&&|[|][|]|[^=!<>]=|return)$/ &&
		after ~ /^([]),?:};]|&&|[|][|])/
}

function count(part, character) { return gsub("[" character "]", "", part) }

# Sets RSTART and RLENGTH: the function that the block names with `in`, or the whole file.
function find_function(area,    start)
{
	RSTART = 1
	RLENGTH = length(area)
	if (said["in"] == "")
		return 1
	if (!match(area, "\n[A-Za-z][^\n;]*[ *]" said["in"] "[(][^;{]*\n[{]"))
		return 0
	start = RSTART
	match(substr(area, start), /\n}/)
	RLENGTH = RSTART
	RSTART = start
	return 1
}

# Sets RSTART and RLENGTH.
function find_once(area, pattern,    start, size)
{
	if (!find_words(area, pattern, 1))
		return refuse(said["file"] " has not: " said["from"])
	start = RSTART
	size = RLENGTH
	if (find_words(area, pattern, start + size))
		return refuse(said["file"] " has more than once: " said["from"])
	RSTART = start
	RLENGTH = size
	return 1
}

# Sets RSTART and RLENGTH: the first match behind `at` that neither begins nor ends inside a word.
function find_words(area, pattern, at)
{
	while (match(substr(area, at), pattern)) {
		RSTART += at - 1
		if (substr(area, RSTART - 1, 2) !~ /^[A-Za-z0-9_][A-Za-z0-9_]$/ &&
		    substr(area, RSTART + RLENGTH - 1, 2) !~ /^[A-Za-z0-9_][A-Za-z0-9_]$/)
			return 1
		at = RSTART + 1
	}
	return 0
}

# Blanks stand for any blanks and ends of lines.
function pattern_of(from,    i, c, pattern)
{
	for (i = 1; i <= length(from); i++) {
		c = substr(from, i, 1)
		if (c == " " || c == "\t") {
			if (pattern !~ /[+]$/)
				pattern = pattern "[ \t\n]+"
		} else if (c ~ /[A-Za-z0-9_,;"'=<>!&%:~#@]/)
			pattern = pattern c
		else
			pattern = pattern (c == "\\" || c == "^" ? "\\" c : "[" c "]")
	}
	return pattern
}

function read_file(name,    found)
{
	RS = "\001"
	found = (getline text[name] <(tree "/" name)) > 0
	close(tree "/" name)
	RS = ""
	if (!found)
		delete text[name]
	return found
}

# The compiler speaks of the lines of the file as it was.
function write_file(name,    rest, number)
{
	printf "#include \"%s\"\n#line 1 \"%s\"\n", header, name >(tree "/" name)
	rest = text[name]
	while (match(rest, /\001[0-9]+\002/)) {
		number = substr(rest, RSTART + 1, RLENGTH - 2)
		printf "%s%s", substr(rest, 1, RSTART - 1), replacement[number] >(tree "/" name)
		rest = substr(rest, RSTART + RLENGTH)
	}
	printf "%s", rest >(tree "/" name)
	close(tree "/" name)
}
