# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Writes to `folder` the headers of a version that never was, from today's types.h, backend.h and
# communicator.h: `major` and `minor` are what it states, for both kinds of plugins, `kind` is
# short (structs and tables end earlier), same, or long (they have grown).  The long one has a slot
# more in every table, a field more in all arguments of calls and in every other kind of struct
# that may grow (the descriptor, structs that the callee fills, what arguments point to), and new
# numbers: an opcode, a dtype, a column of block kernels, a flag of devices, and a higher limit;
# all of it is hidden from a plugin that defines an earlier TN_ABI_TARGET.  The macro
# TN_SYNTHETIC_SHORT or _LONG states which it is.

BEGIN {
	cut["tn_device_table"] = "(*async_error)"
	cut["tn_device_description"] = "char note"
	cut["tn_matmul_args"] = "double beta"
	cut["tn_copy_table"] = "(*gather)"
	cut["tn_block_kernels"] = "(*stream_copy)"
	cut["tn_host"] = "(*program_check)"
	cut["tn_backend_descriptor"] = "uint32_t n_options;"

	cut["tn_communicator_description"] = "char engine"
	cut["tn_collective_state"] = "uint32_t waits_for"

	grow["tn_communicator_description"] = "uint64_t cores;"
	grow["tn_collective_state"] = "uint64_t bytes_left;"
	grow["tn_device_table"] = "tn_status (*reset)(void *device);"
	grow["tn_compute_table"] = "tn_status (*cost)(void *device, uint64_t *operations);"
	grow["tn_workspace"] = "uint64_t granted;"
	grow["tn_device_count"] = "uint64_t seen;"
	grow["tn_device_description"] = "uint64_t cores;"
	grow["tn_matmul_args"] = "double gamma; /* added to every element */"
	grow["tn_copy_table"] = \
		"tn_status (*negate)(void *device, const struct tn_copy_args *args);"
	grow["tn_block_kernels"] = "uint64_t wish;"
	grow["tn_print_args"] = "uint64_t wish;"
	grow["tn_dialect"] = "uint64_t wish;"
	grow["tn_program"] = "uint64_t wish;"
	grow["tn_host"] = "uint32_t (*cores)(void *context);"
	grow["tn_backend_descriptor"] = "const char *homepage;"
}

FNR == 1 {
	n = split(FILENAME, path, "/")
	out = folder path[n]
}

# Declared from this version on.
function add(text)
{
	print "#if TN_ABI_HAS(" minor ")\n" text "\n#endif" >out
}

function replace(from, to, what)
{
	if (kind == "long" && index($0, from)) {
		before = $0
		sub(from, to)
		done[what] = 1
	}
}

/^#define TN_ABI_MAJOR / { $0 = "#define TN_ABI_MAJOR " major "u" }
/^#define TN_ABI_MINOR / { $0 = "#define TN_ABI_MINOR " minor "u" }
/^#define TN_ABI_OLDEST_HOST / { $0 = "#define TN_ABI_OLDEST_HOST 0u" }
/^#define TN_COMMUNICATOR_ABI_MAJOR / { $0 = "#define TN_COMMUNICATOR_ABI_MAJOR " major "u" }
/^#define TN_COMMUNICATOR_ABI_MINOR / { $0 = "#define TN_COMMUNICATOR_ABI_MINOR " minor "u" }
/^#define TN_COMMUNICATOR_ABI_OLDEST_HOST / { $0 = "#define TN_COMMUNICATOR_ABI_OLDEST_HOST 0u" }

/^#define TENON_BACKEND_H/ && kind != "same" {
	print >out
	print "#if !defined TN_ABI_TARGET || TN_ABI_TARGET >= " minor >out
	print "#define TN_SYNTHETIC_" toupper(kind) >out
	print "#define TN_SYNTHETIC_HOMEPAGE , 0" >out
	print "#else" >out
	print "#define TN_SYNTHETIC_HOMEPAGE" >out
	print "#endif" >out
	next
}

# The end of TN_BACKEND_PLUGIN_ROWS and TN_COMMUNICATOR_PLUGIN_ROWS, which fill the descriptor:
# n_options, reserved2, options.
kind == "long" {
	sub(/OPTIONS}$/, "OPTIONS TN_SYNTHETIC_HOMEPAGE}")
}
kind == "short" && /^\t+ *QUERY, +\\$/ {
	print "QUERY}" >out
	n_skipped = 3
	next
}
n_skipped > 0 {
	n_skipped--
	next
}

# New numbers.
{
	replace("TN_OP_COUNT = 130", "TN_OP_LATER = 130, TN_OP_COUNT = 131", "opcode")
	replace("TN_DTYPES = 16", "TN_LATER = 16, TN_DTYPES = 17", "dtype")
	replace("8, 8, 16};", "8, 8, 16, 1};", "size of the dtype")
	replace("TN_COLUMNS = 6", "TN_COLUMNS = 7", "column")
	replace("TN_DEVICE_CONCURRENT_STREAMS = 1u << 3,",
		"TN_DEVICE_CONCURRENT_STREAMS = 1u << 3, TN_DEVICE_LATER = 1u << 4,", "flag")
	replace("MAX_INPUTS 16", "MAX_INPUTS 20", "limit")
}

/^struct [a-z_0-9]+ \{/ {
	name = $2
	takes_call = 0
}

/^\tstruct tn_call call;/ { takes_call = 1 }

kind == "short" && name in cut && index($0, cut[name]) {
	left_out = 1
	done[name] = 1
}

/^};/ {
	if (kind == "long" && name in grow) {
		add("\t" grow[name])
		done[name] = 1
	} else if (kind == "long" && name ~ /_table$/)
		add("\ttn_status (*later)(void *device);")
	else if (kind == "long" && takes_call)
		add("\tuint64_t later;")
	left_out = 0
	takes_call = 0
	name = ""
}

before != "" {
	print "#if TN_ABI_HAS(" minor ")\n" $0 "\n#else\n" before "\n#endif" >out
	before = ""
	next
}

!left_out { print >out }

END {
	if (kind == "short")
		for (name in cut)
			missed += !(name in done)
	if (kind == "long") {
		for (name in grow)
			missed += !(name in done)
		n = split("opcode,dtype,size of the dtype,column,flag,limit", numbers, ",")
		for (i = 1; i <= n; i++)
			missed += !(numbers[i] in done)
	}
	if (missed)
		exit 1
}
