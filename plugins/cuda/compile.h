/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * NVRTC: CUDA C++ to what the device runs.
 */
#ifndef CUDA_COMPILE_H
#define CUDA_COMPILE_H

#include "plugin.h"

/* What a text is compiled for, settled when the compiler is opened. */
struct cuda_target {
	int version[2];        /* of NVRTC; 0: not opened yet */
	char architecture[40]; /* the option: "--gpu-architecture=sm_90" */
	int is_ptx;            /* the compiler does not know the device: the driver has to finish */
};

/* Opens the compiler, once, and settles the target. */
tn_status cuda_compiler_begin(struct cuda_device *device, struct cuda_target *target,
			      struct tn_error_info *error, const char *operation);

/* What to compile: a text of ours, or, where there is a log, one that a program brought. */
struct cuda_unit {
	const char *file; /* that messages name */
	const char *source;
	const char *options;        /* words with blanks between them */
	struct tn_plugin_text *log; /* takes the compiler's words; NULL: ours */
};

/* Compiles into `binary`.  A failure has the first lines of the compiler's log in the error, and
 * all of it in the log.  Of a program's text: TN_FORMAT, or TN_INVALID_ARGUMENT where it is the
 * options. */
tn_status cuda_compile(struct cuda_device *device, const struct cuda_target *target,
		       const struct cuda_unit *unit, struct tn_plugin_text *binary,
		       struct tn_error_info *error, const char *operation);

#endif
