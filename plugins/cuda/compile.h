/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * NVRTC: compiles CUDA C++ to device code.
 */
#ifndef CUDA_COMPILE_H
#define CUDA_COMPILE_H

#include "plugin.h"

/* The compilation target, determined when the compiler is opened. */
struct cuda_target {
	int version[2];        /* of NVRTC; 0: not opened yet */
	char architecture[40]; /* the option: "--gpu-architecture=sm_90" */
	int is_ptx;            /* the compiler does not support the device: the driver finishes */
};

/* Opens the compiler, once, and determines the target. */
tn_status cuda_compiler_begin(struct cuda_device *device, struct cuda_target *target,
			      struct tn_error_info *error, const char *operation);

/* The source to compile: the plugin's own or, with a log, one that a program brought. */
struct cuda_unit {
	const char *file; /* named in messages */
	const char *source;
	const char *options;        /* separated by blanks */
	struct tn_plugin_text *log; /* takes the compiler's log; NULL: the plugin's own source */
};

/* Compiles into `binary`.  On failure the error has the first lines of the compiler's log, and the
 * log has all of it.  For a program's source: TN_FORMAT, or TN_INVALID_ARGUMENT if the options are
 * wrong. */
tn_status cuda_compile(struct cuda_device *device, const struct cuda_target *target,
		       const struct cuda_unit *unit, struct tn_plugin_text *binary,
		       struct tn_error_info *error, const char *operation);

#endif
