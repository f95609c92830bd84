# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Reads <tenon/*.h> and prints, for null_operands.c, a function and a row of `calls` for each
# operand of each public function that is an object or a name: a call in which that one is NULL and
# the others are valid.  null_operands.txt, the first file, has the exceptions.
#
# With -v dead=1, for dead_handles.c: for each operand that is an object, a call in which it has
# ended; and take_dead(), after which the objects that make_objects has made are those.

# The value of operand i of a function.
function value(f, i) {
	if ((f " " name[i]) in given)
		return given[f " " name[i]]
	if (name[i] == "member")
		return "tn_module_sequential(context)" # the call consumes it
	if (type[i] in object)
		return object[type[i]]
	if (type[i] == "const char *")
		return "\"name\""
	if (type[i] ~ /options \*$/)
		return "NULL"
	if (type[i] ~ /^(const )?int64_t \*$/)
		return "lengths"
	if (type[i] == "const int *")
		return "axes"
	if (type[i] == "const double *")
		return "doubles"
	if (type[i] ~ /\*$/)
		return "(void *)room"
	if (type[i] == "double" || type[i] == "float")
		return "0.5"
	if (type[i] == "tn_dtype")
		return "TN_F32"
	if (type[i] ~ /^struct / || type[i] == "tn_number")
		return "(" type[i] "){0}"
	if (type[i] ~ /^tn_.*(function|hook)$/)
		return "NULL"
	if (name[i] ~ /^(n|n_.*|rank|size.*)$/)
		return "2"
	return name[i] ~ /axis|index|kth|^k$/ ? "0" : "1"
}

# Fills type and name; returns the number of operands.
function read_operands(list,    part, n, i) {
	n = split(list, part, /, */)
	for (i = 1; i <= n; i++) {
		match(part[i], /[a-z_0-9]+(\[[0-9]*\])?$/)
		name[i] = substr(part[i], RSTART)
		type[i] = substr(part[i], 1, RSTART - 1)
		if (sub(/\[[0-9]*\]$/, "", name[i]))
			type[i] = type[i] "*"
		sub(/ $/, "", type[i])
	}
	return n
}

# Is it an object of a context, in which an error is kept?
function has_context(type) {
	return type in object && !is_alone[object[type]]
}

# One call of f in which operand `which` is `null`; what it is called, and what f returns.
function print_call(f, n, which, null, label, kind,    i, text, keeps) {
	if (!dead && (f " " label) in given && given[f " " label] == "NULL") {
		used[f " " label] = 1
		return
	}
	keeps = "NOTHING"
	for (i = 1; i <= n; i++) {
		text = text (i > 1 ? ", " : "") (i == which ? null : value(f, i))
		used[f " " name[i]] = 1
		if (has_context(type[i]) && (i == which ? null : value(f, i)) != "NULL")
			keeps = "IN_CONTEXT"
		else if (type[i] == "struct tn_error_info *" && keeps == "NOTHING")
			keeps = "IN_REPORT"
	}
	text = f "(" text ")"
	n_calls++
	printf "static int call_%d(void)\n{\n\t", n_calls
	if (kind == "pointer" || kind == "status")
		printf "return %s%s;\n}\n\n", kind == "pointer" ? "!" : "0 != ", text
	else if (kind == "text")
		printf "tn_string_free(%s);\n\treturn 1;\n}\n\n", text
	else
		printf "%s%s;\n\treturn 1;\n}\n\n", kind == "void" ? "" : "(void)", text
	if (dead)
		keeps = kind ~ /^(number|question|text)$/ ? "ANSWERS" : "NOTHING"
	if (dead && keeps == "NOTHING" && has_context(type[which]))
		keeps = "IN_CONTEXT"
	keeps = keeps ", " (dead ? has_context(type[which]) : 0)
	rows = rows sprintf("\t{\"%s\", \"%s\", call_%d, %s},\n", f, label, n_calls, keeps)
}

function print_calls(prototype,    open, f, head, n, i, kind) {
	open = index(prototype, "(")
	head = substr(prototype, 1, open - 1)
	match(head, /tn_[a-z0-9_]*$/)
	f = substr(head, RSTART)
	head = substr(head, 1, RSTART - 1)
	kind = head ~ /\*$/ ? "pointer" : head == "tn_status " ? "status" : \
		head == "void " ? "void" : "number"
	n = read_operands(substr(prototype, open + 1, length(prototype) - open - 1))
	if (prototype ~ /\(\*/)
		return
	# NULL of an object without others is a question: its name is none, its length 0.  A text is
	# the caller's.
	if (kind == "pointer" && n == 1 && head ~ /^const|^char|void/)
		kind = head ~ /^char/ ? "text" : "question"
	for (i = 1; dead && i <= n; i++) {
		if (type[i] ~ /tn_array \*const \*$/)
			print_call(f, n, i, "(" type[i] ")dead_arrays", name[i] "[1]", kind)
		else if (type[i] in object && object[type[i]] in is_mortal)
			print_call(f, n, i, "dead_" object[type[i]], name[i], kind)
	}
	for (i = 1; !dead && i <= n; i++) {
		if (type[i] in object || type[i] == "const char *")
			print_call(f, n, i, "NULL", name[i], kind)
		if (type[i] ~ /tn_array \*const \*$/)
			print_call(f, n, i, "(" type[i] ")holed", name[i] "[1]", kind)
	}
}

function print_dead(    i) {
	for (i in is_mortal)
		printf "static tn_%s *dead_%s;\n", i, i
	printf "\nstatic void take_dead(void)\n{\n"
	for (i in is_mortal)
		printf "\tdead_%s = %s;\n", i, i
	printf "}\n\n"
}

BEGIN {
	object["tn_array *const *"] = "arrays"
	object["const tn_array *const *"] = "(const tn_array *const *)arrays"
	n_types = split("data_loader dataset frozen load_report npz program safetensors " \
			"shared ufunc", types, " ")
	for (i = 1; i <= n_types; i++)
		is_alone[types[i]] = 1
	is_absent["ufunc"] = 1  # it has no end
	is_absent["kernel"] = 1 # only CUDA compiles one: cuda_kernel.c
}

FNR == NR {
	if (/^(#|$)/)
		next
	if (/ = /)
		given[$1 " " $2] = substr($0, index($0, " = ") + 3)
	else if (sub(/:.*/, ""))
		given[$1 " " $2] = "NULL"
	next
}

# A header ends with no `;` to come: declarations are cut out of the text of all.
{ text = text " " $0 }

END {
	gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", text)
	gsub(/TN_CHECKED/, "", text)
	gsub(/[ \t]+/, " ", text)
	n_parts = split(text, parts, ";")
	for (p = 1; p <= n_parts; p++) {
		if (match(parts[p], /typedef struct tn_[a-z_]+ tn_[a-z_]+$/)) {
			sub(/.* tn_/, "", parts[p])
			if (index(text, "struct tn_" parts[p] " {"))
				continue
			object["tn_" parts[p] " *"] = object["const tn_" parts[p] " *"] = parts[p]
			if (!is_absent[parts[p]])
				is_mortal[parts[p]] = 1
		}
	}
	if (dead)
		print_dead()
	for (p = 1; p <= n_parts; p++) {
		if (parts[p] !~ /TN_API .*tn_[a-z0-9_]*\(/)
			continue
		sub(/.*TN_API /, "", parts[p])
		gsub(/\* /, "*", parts[p])
		gsub(/\*const\*/, "*const *", parts[p])
		sub(/ $/, "", parts[p])
		print_calls(parts[p])
	}
	printf "static const struct call calls[] = {\n%s};\n", rows
	for (operand in given) {
		if (!dead && !(operand in used)) {
			print "null_operands.txt: no call needs this line: " operand >"/dev/stderr"
			exit 1
		}
	}
}
