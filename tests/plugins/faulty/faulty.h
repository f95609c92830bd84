/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A backend that is correct except for one planted fault: another plugin's entries, one of which is
 * replaced.  FAULTY_PLUGIN is the path of that plugin, FAULT the name of the fault ("none": no
 * fault).  tests/conformance/faults.sh lists which check of the kit must find which fault.
 *
 * All faults assume a plugin in host memory, like the CPU backend: a buffer handle is an address.
 *
 * tests/faults breaks a small backend of its own, one file for each fault; what needs a real
 * backend's layers, threads or time is here.
 *
 * A fault whose name has a space is one of a family (family.h).
 */
#ifndef TN_TESTS_FAULTY_H
#define TN_TESTS_FAULTY_H

#include <tenon/backend.h>

/* The entries that faults replace. */
struct tables {
	struct tn_device_table device;
	struct tn_compute_table compute;
	struct tn_nn_table nn;
	struct tn_copy_table copy;
	struct tn_sort_table sort;
	struct tn_scan_table scan;
	struct tn_linalg_table linalg;
	struct tn_stream_table stream;
	struct tn_capture_table capture;
	struct tn_import_table import;
};

/* The plugin's own entries, and those passed to the host. */
extern struct tables right, faulty;

struct fault {
	const char *name;
	void (*plant)(void); /* replaces entries of `faulty` */
};

/* Each ends with a row without a name. */
extern const struct fault matmul_faults[];
extern const struct fault map_faults[];
extern const struct fault memory_faults[];
extern const struct fault layer_faults[];
extern const struct fault device_faults[];
extern const struct fault process_faults[];
extern const struct fault program_lists[];

/* The description then says so (device.c). */
void state_function_ulps(uint32_t ulps);
void state_no_subnormals(void);

/* Element i in row-major order of an operand in host memory. */
void *operand_at(const struct tn_operand *operand, int64_t i);
int64_t operand_count(const struct tn_operand *operand);

/* Adds 1 to the last element of an f32 or f64 operand. */
void spoil(const struct tn_operand *operand);

/* Does the call compute?  A dry run does not. */
static inline int computes(const struct tn_call *call, tn_status status)
{
	return status == TN_OK && !(call->flags & TN_DRY_RUN);
}

#endif
