/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The definitions that programs, the library and the backends share: status codes, element types,
 * limits, errors and the descriptions of devices.  Numbers are explicit and never reused; new ones
 * are only appended.  Numbers from a TN_..._VENDOR on, and the bits of a TN_..._VENDOR mask, are
 * vendors' own: no version of the interface will assign them.
 */
#ifndef TENON_TYPES_H
#define TENON_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A plugin may define TN_ABI_TARGET as a minor N, before it includes any header of Tenon: the
 * headers are then those of minor N, and what was added later is not declared.  Every addition
 * after 1.0 stands between #if TN_ABI_HAS(its minor) and #endif. */
#ifdef TN_ABI_TARGET
#define TN_ABI_HAS(minor) (TN_ABI_TARGET >= (minor))
#else
#define TN_ABI_HAS(minor) 1
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
	TN_CANCELLED = 14,       /* the caller asked to stop */
	TN_FORKED = 15,          /* called in a child of the process that opened the backend */
	TN_NOT_CAPTURABLE = 16,  /* not possible while a step is being captured */
	TN_BACKEND_FAILURE = 17, /* the backend's own error; see its native code and text */
	TN_DEVICE_LOST = 18,     /* the device and its arrays are gone */
	TN_INTERNAL = 19,        /* a violated invariant inside the library */
	TN_PEER_LOST = 20,       /* a rank of the communicator has ended */
	TN_TIMED_OUT = 21,       /* another rank did not come in time */

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
	TN_EXCLUDED = 41,     /* the selection excludes it */
	TN_DUPLICATE = 42,    /* the same backend was found earlier in the search */

	/* First of the statuses of vendors: failures to the host, as every unknown one. */
	TN_STATUS_VENDOR = 0x8000,
};

/* Element types.  The numbers are part of the backend interface and of file formats.  An element is
 * one or more whole bytes, and offsets and strides count elements or bytes; types that pack several
 * elements into a byte will come in tables of their own, never as numbers of this list. */
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
	TN_DTYPES = 16,           /* one more than the largest number of this version */
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

/* The size of one element in bytes; 0 for an unknown dtype. */
static inline size_t tn_dtype_size(tn_dtype dtype)
{
	static const unsigned char size[TN_DTYPES] = {0, 1, 1, 2, 4, 8, 1, 2,
						      4, 8, 2, 2, 4, 8, 8, 16};
	return dtype > 0 && dtype < TN_DTYPES ? size[dtype] : 0;
}

/* The maximum number of axes of an array. */
#define TN_MAX_RANK 16

/* ---- Structs ---------------------------------------------------------------------------------
 *
 * A struct that may grow begins with struct_size (the arguments of a backend's entry with a struct
 * tn_call, which has it), and what a later version adds comes at its end.  So it is neither a
 * member of another struct nor an element of an array, which refer to it by pointer.  "Options"
 * below has the rule for structs that are given, <tenon/backend.h> those for backends.
 *
 * Of a struct that a function fills, the caller sets struct_size to sizeof.  The function writes
 * the members that lie within it and that the library has, and leaves struct_size as it is, so that
 * it is set once before a loop.  If struct_size is 0, or there is NULL in place of the struct,
 * nothing is written, and the call fails with TN_INVALID_ARGUMENT.
 *
 *     struct tn_parameter_view view = {.struct_size = sizeof(view)};
 *     for (size_t i = 0; !tn_module_parameter_at(net, i, &view); i++)
 *             puts(view.name);
 *
 * (In C++: tn_parameter_view view = {}; view.struct_size = sizeof(view);)  In a struct that the
 * library lends, as to a callback, struct_size is the library's. */

/* ---- Frozen structs --------------------------------------------------------------------------
 *
 * These have no struct_size and never change; what needs more will be a new struct:
 *
 *   tn_backend_note           the format of a file
 *   tn_backend_note_section   the format of a file
 *   tn_benchmark_times        a member of another struct
 *   tn_checkpoint_array       an element of arrays
 *   tn_data_position          passed and returned by value
 *   tn_dlpack_device          of DLPack
 *   tn_dlpack_dtype           of DLPack
 *   tn_dlpack_managed         of DLPack
 *   tn_dlpack_managed_unversioned  of DLPack
 *   tn_dlpack_tensor          of DLPack
 *   tn_dlpack_version         of DLPack
 *   tn_field                  an element of arrays
 *   tn_host_array             a member of other structs
 *   tn_image                  a picture's size and bytes, which programs make themselves
 *   tn_index_term             an element of arrays
 *   tn_instruction            an element of arrays
 *   tn_kernel_argument        an element of arrays
 *   tn_kernel_grid            two triples and a size, as every launch has them
 *   tn_launch_argument        an element of arrays
 *   tn_metadata_entry         an element of arrays
 *   tn_model_shape            a member of another struct
 *   tn_native_device          an element of arrays
 *   tn_npz_array              an element of arrays
 *   tn_number                 passed by value
 *   tn_operand                a member of other structs, and an element of arrays
 *   tn_option_row             an element of arrays
 *   tn_packed                 a member of other structs
 *   tn_pair                   an element of arrays
 *   tn_plugin_nest            of inline functions, compiled into a plugin
 *   tn_plugin_table           of inline functions, compiled into a plugin
 *   tn_plugin_text            of inline functions, compiled into a plugin
 *   tn_plugin_view            of inline functions, compiled into a plugin
 *   tn_random_state           passed and returned by value
 *   tn_scalar                 an element of arrays
 *   tn_tensor_source          an element of arrays
 *
 * tn_call, a member of others, and tn_error_info, tn_memory_information and tn_report_line, which
 * programs may give without a size, have a struct_size for backends, and do not grow either. */

/* ---- Errors ----------------------------------------------------------------------------------*/

/* Filled by the callee.  `operation` names the entry ("matmul"); `text` states what was expected
 * and what was found, or holds the native library's message. */
struct tn_error_info {
	uint32_t struct_size;
	tn_status status;
	int64_t native_code; /* the vendor library's code, 0 if none */
	char operation[48];
	char text[512];
};

/* ---- Devices ---------------------------------------------------------------------------------*/

enum {
	TN_DEVICE_DISCRETE_GPU = 1,
	TN_DEVICE_INTEGRATED_GPU = 2,
	TN_DEVICE_ACCELERATOR = 3,
	TN_DEVICE_CPU = 4,
	TN_DEVICE_REFERENCE = 5,
	TN_DEVICE_KIND_VENDOR = 0x8000, /* first number of vendors; for the host an accelerator */
};

enum {
	TN_MEMORY_DEVICE = 0,  /* the device's own; every device has it */
	TN_MEMORY_PINNED = 1,  /* host memory that the device can reach; a handle is its address */
	TN_MEMORY_MANAGED = 2, /* the driver migrates it between host and device */
	TN_MEMORY_VENDOR = 24, /* 24 to 31: kinds of vendors, which the host does not ask for */
};

/* A flag adds a guarantee or an ability; none takes one away. */
enum {
	/* Handles are addresses that the host may read and write after `sync`. */
	TN_DEVICE_HOST_MEMORY = 1u << 0,
	/* Work is done when the entry returns; all streams are the same one. */
	TN_DEVICE_SYNCHRONOUS = 1u << 1,
	/* Every entry takes, as a buffer's handle, any address of host memory that is aligned as
	 * its elements are, whoever allocated it.  The backend may then run what another device
	 * with host memory lacks.  Only with TN_DEVICE_HOST_MEMORY. */
	TN_DEVICE_TAKES_ANY_ADDRESS = 1u << 2,
	/* Its [device] entries may be called by several threads at once, for different streams; of
	 * a synchronous device, for the one that it has. */
	TN_DEVICE_CONCURRENT_STREAMS = 1u << 3,
};
#define TN_DEVICE_FLAGS_VENDOR 0xff000000u /* of vendors, which the host ignores */

enum { TN_LAYOUT_NCHW = 1, TN_LAYOUT_NHWC = 2 };
/* What the 16 bytes of a device's identity hold; unused bytes are 0. */
enum {
	TN_IDENTITY_NONE = 0,
	/* Bytes 0 to 3 the PCI domain, the low byte first; then bus, device and function.  The
	 * parts of one device share it: it names one of them only together with `slice`. */
	TN_IDENTITY_PCI = 1,
	/* The UUID that the driver gives the device, in the order in which it is written.  Of a
	 * part of a device it is the part's own. */
	TN_IDENTITY_UUID = 2,
};

/* Families, for accuracy and determinism: one byte each in the description, which has 16. */
enum {
	TN_FAMILY_MAP = 0,
	TN_FAMILY_REDUCE = 1, /* and scan */
	TN_FAMILY_MATMUL = 2,
	TN_FAMILY_CONV = 3,
	TN_FAMILY_POOL = 4,
	TN_FAMILY_NORM = 5,
	TN_FAMILY_SOFTMAX = 6,
	TN_FAMILY_COPY = 7, /* and sort */
};
enum {
	TN_ACCURACY_IEEE = 1,    /* operations in the stated types, any order of summation */
	TN_ACCURACY_REDUCED = 2, /* narrower products than the stated types (TF32) */
	/* f32 is computed in that type: operands, and every value of a program, are rounded to it
	 * or to a wider one; sums are accumulated in f32 */
	TN_ACCURACY_BF16 = 3,
	TN_ACCURACY_F16 = 4,
};
enum {
	TN_DETERMINISM_ALWAYS = 1,     /* the same bits from run to run */
	TN_DETERMINISM_ON_REQUEST = 2, /* with TN_DETERMINISTIC */
	TN_DETERMINISM_NEVER = 3,
};

/* What a device adds to the accuracy that tenon-program(7) requires of programs. */
enum {
	/* Subnormal numbers are kept as operands and results.  Without the flag they may count as
	 * zeros.  Those of f64 are always kept. */
	TN_NUMERICS_F32_SUBNORMALS = 1u << 0, /* f32 and bf16 */
	TN_NUMERICS_F16_SUBNORMALS = 1u << 1,
};

#define TN_FUNCTION_ULPS 4
#define TN_MOST_FUNCTION_ULPS 16

/* Sets of dtypes are bit masks: bit d stands for dtype d, and there will be no more than 63 dtypes;
 * no set contains a vendor's dtype. */
struct tn_device_description {
	uint32_t struct_size;
	uint32_t kind;
	char name[128];
	uint32_t flags;
	uint32_t memory_kinds; /* bit k: kind k can be allocated */
	uint64_t storage_dtypes;
	uint64_t program_dtypes;
	uint64_t matmul_dtypes;
	uint64_t memory_bytes;    /* 0: unknown */
	uint64_t max_alloc_bytes; /* of one allocation, which succeeds while as much is free */
	uint32_t alignment;       /* of every allocation, at least 256 */
	uint32_t preferred_layout;
	int32_t score; /* among devices of one kind: higher is better */
	uint32_t identity_type;
	uint8_t identity[16]; /* of the physical device, so that two backends on it can be paired */
	uint8_t accuracy[16]; /* by family; 0: unspecified */
	uint8_t determinism[16]; /* by family; 0: unspecified */
	char note[256];          /* what is missing or special, in one sentence; may be empty */
	/* A second identity, of another type; two devices are the same if one of the identities of
	 * the first is one of the second's. */
	uint32_t identity2_type;
	/* A part of a physical device (a MIG slice): its number plus 1, as its driver counts.  0:
	 * the whole device.  A part whose number is unknown states no PCI address. */
	uint32_t slice;
	uint8_t identity2[16];
	uint32_t numerics; /* TN_NUMERICS_... */
	/* The most units in the last place by which functions of programs err, at most
	 * TN_MOST_FUNCTION_ULPS; 0: TN_FUNCTION_ULPS, the tolerance of tenon-program(7). */
	uint32_t function_ulps;
	/* DLPack's number of the kind of its memory (DLDeviceType): 2 is CUDA's; its number within
	 * that kind is the device's index.  0: memory that DLPack cannot name, or, of a device that
	 * is TN_DEVICE_HOST_MEMORY, the host's (1). */
	uint32_t dlpack_type;
	uint32_t reserved;
};

/* The memory of an open device, now. */
struct tn_memory_information {
	uint32_t struct_size;
	uint32_t reserved;
	uint64_t total_bytes;
	uint64_t free_bytes;
};

/* One line of what an open device reports. */
struct tn_report_line {
	uint32_t struct_size;
	uint32_t reserved;
	char key[32];   /* a-z, 0-9, '_' and '.': "driver", "library.blas", "clock.memory" */
	char text[216]; /* one line of UTF-8, with its unit: "580.65.06", "1980 MHz"; not empty */
};

/* ---- Options ---------------------------------------------------------------------------------*/

/* A function of the library takes its options, source, names, wants, class or input format as a
 * struct that begins with struct_size.  tn_X_defaults() gives a struct tn_X or tn_X_options with
 * its defaults; a program changes what it wants otherwise:
 *
 *     struct tn_sgd_options options = tn_sgd_defaults();
 *     options.lr = 0.1;
 *     tn_optimizer *sgd = tn_sgd(net, &options);
 *
 * What is written is what is used: 0 is 0, and fails (TN_INVALID_ARGUMENT) where it is out of
 * range, except where a member's comment gives it a meaning.  A default is 0 or NULL where no
 * comment states another.  NULL for options means the defaults.
 *
 * struct_size is the size that the caller was compiled with.  If that is less than the library's,
 * the missing members have their defaults; if it is more, the rest must be zero (TN_UNSUPPORTED).
 * A struct_size of 0 always fails (TN_INVALID_ARGUMENT). */

/* A number that is never reached: of steps, epochs, rows, ... */
#define TN_NO_LIMIT UINT64_MAX

/* A key and its value: in a file's metadata, what replaces what, or a backend's option. */
struct tn_pair {
	const char *key;
	const char *value;
};

/* What an option of a backend takes. */
enum {
	TN_OPTION_BOOL = 1,    /* 0, 1, off or on */
	TN_OPTION_INTEGER = 2, /* a whole number within bounds */
	TN_OPTION_NUMBER = 3,  /* a decimal number within bounds */
	TN_OPTION_CHOICE = 4,  /* one of a list of words */
	TN_OPTION_TEXT = 5,    /* any text */
};

#ifdef __cplusplus
}
#endif
#endif
