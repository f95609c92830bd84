# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Writes to `folder` the headers of a version that never was, from today's types.h and backend.h:
# `major` and `minor` are what it states, `kind` is short (structs and tables end earlier), same, or
# long (they have grown).  Every rule of sizes has a struct here: arguments, tables, the descriptor,
# structs that the callee fills, and what arguments point to.  The macro TN_SYNTHETIC_SHORT or _LONG
# says which it is.

BEGIN {
	cut["tn_device_table"] = "(*async_error)"
	cut["tn_device_description"] = "char note"
	cut["tn_matmul_args"] = "double beta"
	cut["tn_copy_table"] = "(*gather)"
	cut["tn_block_kernels"] = "(*stream_copy)"
	cut["tn_host"] = "(*program_check)"

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

/^#define TN_ABI_MAJOR / { $0 = "#define TN_ABI_MAJOR " major "u" }
/^#define TN_ABI_MINOR / { $0 = "#define TN_ABI_MINOR " minor "u" }
/^#define TN_ABI_OLDEST_HOST / { $0 = "#define TN_ABI_OLDEST_HOST 0u" }

/^#define TENON_BACKEND_H/ && kind != "same" {
	print >out
	print "#define TN_SYNTHETIC_" toupper(kind) >out
	next
}

# The end of TN_BACKEND_PLUGIN, which fills the descriptor.
kind == "long" { sub(/QUERY}$/, "QUERY, 0}") }

/^struct [a-z_0-9]+ \{/ { name = $2 }

kind == "short" && name in cut && index($0, cut[name]) {
	left_out = 1
	done[name] = 1
}

/^};/ {
	if (kind == "long" && name in grow) {
		print "\t" grow[name] >out
		done[name] = 1
	}
	left_out = 0
	name = ""
}

!left_out { print >out }

END {
	if (kind == "short")
		for (name in cut)
			missed += !(name in done)
	if (kind == "long")
		for (name in grow)
			missed += !(name in done)
	if (missed)
		exit 1
}
