/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The definitions that programs, the library and the backends share: status codes, element types
 * and limits.  Numbers are explicit and never reused; new ones are only appended.
 */
#ifndef TENON_TYPES_H
#define TENON_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The result of a function.  0 is success; every other value has a name (tn_status_name). */
typedef int32_t tn_status;

enum {
	TN_OK = 0,
	TN_INVALID_ARGUMENT = 1, /* an argument is outside its documented range */
	TN_SHAPE = 2,            /* shapes do not match each other or the operation */
	TN_DTYPE = 3,            /* an element type does not match the operation */
	TN_DEVICE = 4,           /* operands are on different devices or in different contexts */
	TN_UNSUPPORTED = 5,      /* legal, but not implemented here; no side effects */
	TN_OUT_OF_MEMORY = 6,    /* host or device memory is exhausted; recoverable */
	TN_IO = 7,               /* a file operation of the system failed */
	TN_FORMAT = 8,           /* a file or a text violates its format */
	TN_NOT_FOUND = 9,        /* a name, file or key does not exist */
	TN_LIMIT = 10,           /* a stated limit is exceeded */
	TN_STATE = 11,           /* not allowed in this state (sealed, closed, no tape, ...) */
	TN_MODIFIED = 12,        /* something saved for backward was changed in place */
	TN_PENDING_ERROR = 13,   /* the context keeps an earlier error; nothing was done */
	TN_CANCELLED = 14,       /* a callback asked to stop */
	TN_FORKED = 15,          /* called in a child of the process that opened the backend */
	TN_NOT_CAPTURABLE = 16,  /* not possible while a step is being captured */
	TN_BACKEND_FAILURE = 17, /* the backend's own error; see its native code and text */
	TN_DEVICE_LOST = 18,     /* the device and its arrays are gone */
	TN_INTERNAL = 19,        /* a violated invariant inside the library */

	/* Why a backend is absent: shown in a load report, and allowed as results of `create`. */
	TN_NO_PLUGIN = 32,       /* no file of that name in the search path */
	TN_BAD_PLUGIN = 33,      /* the file is not a usable plugin */
	TN_ABI_MISMATCH = 34,    /* built for another version of the interface */
	TN_MISSING_LIBRARY = 35, /* a library that the backend needs is missing */
	TN_NO_DRIVER = 36,
	TN_DRIVER_TOO_OLD = 37,
	TN_NO_DEVICE = 38,    /* the backend works but found no device */
	TN_PROBE_FAILED = 39, /* it crashed, hung or failed during start */
	TN_REFUSED = 40,      /* file ownership or process privileges forbid loading it */
	TN_EXCLUDED = 41,     /* the selection excludes it by name */
	TN_DUPLICATE = 42,    /* the same backend was found earlier in the search */
};

/* Element types.  The numbers are part of the backend interface and of file formats. */
typedef int32_t tn_dtype;

enum {
	TN_BOOL = 1, /* one byte, 0 or 1 */
	TN_I8 = 2,
	TN_I16 = 3,
	TN_I32 = 4,
	TN_I64 = 5,
	TN_U8 = 6,
	TN_U16 = 7,
	TN_U32 = 8,
	TN_U64 = 9,
	TN_F16 = 10,
	TN_BF16 = 11,
	TN_F32 = 12,
	TN_F64 = 13,
	TN_C64 = 14,              /* two f32: real, imaginary */
	TN_C128 = 15,             /* two f64 */
	TN_DTYPE_VENDOR = 0x8000, /* first number of vendor types */
};

/* The activation that an operation applies to its result before storing it.  The numbers are part
 * of the backend interface. */
enum {
	TN_ACTIVATION_NONE = 0,
	TN_ACTIVATION_RELU = 1,  /* x > 0 ? x : 0; NaN gives NaN */
	TN_ACTIVATION_RELU6 = 2, /* min(max(x, 0), 6); NaN gives NaN */
	TN_ACTIVATION_SIGMOID = 3,
	TN_ACTIVATION_TANH = 4,
	TN_ACTIVATION_SILU = 5, /* x sigmoid(x) */
	TN_ACTIVATION_GELU = 6, /* x (1 + erf(x / sqrt 2)) / 2 */
};

/* The maximum number of axes of an array. */
#define TN_MAX_RANK 16

/* The address of a struct with struct_size set and all members that are not named zero, for use as
 * an argument:
 *
 *     tn_optimizer *sgd = tn_sgd(net, TN_OPTIONS(struct tn_sgd_options, .lr = 0.1));
 *
 * It is valid until the end of the enclosing block.  For a variable, set
 * .struct_size = sizeof(variable).  One rule applies to every struct of options, source, names,
 * wants or class that a function of the library takes: if it is shorter than the library's, the
 * missing members have their defaults; if it is longer, the rest must be zero (TN_UNSUPPORTED); a
 * struct_size of 0 always fails (TN_INVALID_ARGUMENT).
 * C only: C++ has no such literals; set struct_size in a variable. */
#ifndef __cplusplus
#define TN_OPTIONS(type, ...) (&(type){.struct_size = sizeof(type), __VA_ARGS__})
#endif

#ifdef __cplusplus
}
#endif
#endif
