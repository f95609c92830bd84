# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Prints, from the headers for programs, a row for each struct with a struct_size: its name, its
# size, and a function that writes its defaults (NULL: it has none).

BEGIN {
	# Their sizes are for the future: they are frozen.
	split("tn_error_info tn_memory_information tn_report_line", list)
	for (i in list)
		frozen[list[i]] = 1
	print "#include <string.h>\n#include <tenon/tenon.h>"
	print "struct sized {\n\tconst char *name;\n\tsize_t size;"
	print "\tvoid (*defaults)(void *at);\n};"
}

FILENAME ~ /\/(backend|communicator|faults|plugin)\.h$/ { nextfile }

/^struct [a-z_0-9]+ \{/ {
	type = $2
	begin = FNR
}

FNR == begin + 1 && /^\tuint32_t struct_size;/ && !(type in frozen) { order[++n] = type }

/^static inline struct [a-z_0-9]+ [a-z_0-9]+_defaults\(void\)$/ {
	sub(/\(void\)/, "()", $5)
	print "static void defaults_" $4 "(void *at)\n{"
	print "\tconst struct " $4 " own = " $5 ";\n\tmemcpy(at, &own, sizeof(own));\n}"
	has[$4] = 1
}

END {
	print "static const struct sized all_sized[] = {"
	for (i = 1; i <= n; i++)
		print "\t{\"" order[i] "\", sizeof(struct " order[i] "), " \
			(order[i] in has ? "defaults_" order[i] : "NULL") "},"
	print "\t{NULL, 0, NULL},\n};"
}
