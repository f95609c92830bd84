/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The interface between Tenon and a compute backend: all that a plugin includes.
 *
 * A plugin is a file `backend_NAME.so` that exports one symbol, `tenon_backend`, and carries an ELF
 * note with its version; TN_BACKEND_PLUGIN emits both.  The host reads the note before it opens the
 * file, negotiates, calls `create`, asks `query` for tables by name, and from then on calls through
 * its own copy of the tables.  A plugin calls back through the services in struct tn_host and links
 * to nothing of Tenon.
 *
 * Life:   create -> query -> device_count, describe -> open -> (alloc, upload, map, ...) -> close
 *         -> destroy.  Any number of instances may live; create after destroy is legal.  The file
 *         stays mapped until the process ends.
 *
 * Rules for every entry:
 *   - It returns a status from <tenon/types.h>, fills `error` (when given) on failure, and never
 *     aborts, exits, throws, jumps out, changes signal handlers or writes to stdout and stderr.
 *   - An entry that answers TN_UNSUPPORTED has had no side effect.  A failure found before the work
 *     starts leaves outputs untouched.
 *   - Pointers in arguments are borrowed until the entry returns, even when its work is not done.
 *     One exception: the host memory of a transfer with TN_ASYNC, until its work is done.
 *   - A dry run looks at everything but buffer handles, which may then be 0.
 *   - Strings that a plugin hands out live as long as the instance.
 *   - An unknown number (opcode, dtype, combiner, flag) is TN_UNSUPPORTED, never undefined.  What
 *     is unknown in a plugin's answer (a kind, an identity, a status) the host takes for the least
 *     that it can mean, and never for an error of its own.
 *
 * Structs: `struct_size` comes first and is filled with sizeof.  A struct only ever grows at its
 * end.  Three rules keep old and new together:
 *   arguments of a call        the callee reads min(theirs, own), zero for the rest; a larger one
 *                              is taken when its unknown tail is zero, else TN_UNSUPPORTED
 *                              (tn_arguments_fit, tn_arguments_take);
 *   tables and descriptors     the reader copies min(theirs, own) and ignores the tail;
 *   structs the callee fills   the caller clears it, the callee writes min(caller's, own) and
 *                              leaves struct_size as it is (tn_struct_answer).
 * What an argument points to (tn_program, tn_workspace, tn_dialect, tn_print_args,
 * tn_block_kernels) is read like a table.  Structs that stand in arrays or in other structs
 * (tn_operand, tn_scalar, tn_instruction, tn_call) never grow; a wider one would be a new type.  A
 * field called `reserved` is 0 and is not read; should one get a meaning, a new flag or number that
 * comes with it says so.
 *
 * Thread tags: [any] from any thread at any time; [device] one thread at a time per open device;
 * [instance] one thread at a time per instance; [once] by the thread that made the instance.
 *
 * Strides are in elements, sizes and offsets in bytes.  This version is for 64-bit hosts.
 */
#ifndef TENON_BACKEND_H
#define TENON_BACKEND_H

#include <string.h>

#include <tenon/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Version ---------------------------------------------------------------------------------
 *
 * Equal majors or nothing.  While the major is 0 the minors must be equal too.  From major 1 on the
 * effective minor is the lower of both, and each side refuses a peer older than it accepts.
 */
#define TN_ABI_MAJOR 0u
#define TN_ABI_MINOR 10u
/* The oldest host minor that a plugin accepts; one that needs what came later defines it before. */
#ifndef TN_ABI_OLDEST_HOST
#define TN_ABI_OLDEST_HOST 10u
#endif

#define TN_BACKEND_MAGIC 0x4e4f4e54u /* "TNON" */
#define TN_BACKEND_SYMBOL "tenon_backend"
#define TN_BACKEND_NOTE_OWNER "Tenon"
#define TN_BACKEND_NOTE_TYPE 1u

/* ---- Errors ----------------------------------------------------------------------------------*/

/* Filled by the callee.  `operation` names the entry ("matmul"); `text` says what was expected and
 * what was found, or holds the native library's own words. */
struct tn_error_info {
	uint32_t struct_size;
	tn_status status;
	int64_t native_code; /* the vendor library's code, 0 if none */
	char operation[48];
	char text[512];
};

/* ---- Calls and operands ----------------------------------------------------------------------*/

enum {
	/* Answer whether the call would be done, and its workspace; touch nothing. */
	TN_DRY_RUN = 1u << 0,
	/* Upload, download: may return before the host memory is free or filled. */
	TN_ASYNC = 1u << 1,
	/* The same bits from run to run; TN_UNSUPPORTED if that cannot be kept. */
	TN_DETERMINISTIC = 1u << 2,
	/* Gradients: add to the output instead of writing it. */
	TN_ACCUMULATE = 1u << 3,
};

/* Scratch memory, made by the host on the same device.  A dry run writes `minimum` and `preferred`;
 * a call finds `size` bytes at {buffer, offset}, aligned to 256.  The host asks before
 * convolutions, norms, sorts and scans; others it may call first, and ask when they refuse.  A call
 * that is given less than its minimum, or no workspace, answers TN_UNSUPPORTED. */
struct tn_workspace {
	uint32_t struct_size;
	uint32_t reserved;
	uint64_t buffer;
	uint64_t offset;
	uint64_t size;
	uint64_t minimum;
	uint64_t preferred;
};

/* How every call begins.  `struct_size` is that of the whole argument struct. */
struct tn_call {
	uint32_t struct_size;
	uint32_t flags;
	void *stream;                   /* NULL: the device's ordinary in-order stream */
	struct tn_error_info *error;    /* may be NULL */
	struct tn_workspace *workspace; /* NULL: none; what needs some answers TN_UNSUPPORTED */
	uint64_t reserved;
};

/* A view of a buffer.  Element (i0, i1, ...) is at byte
 *     offset + (i0 * strides[0] + i1 * strides[1] + ...) * size of dtype
 * from the buffer's start, where offset is a multiple of that size.  For host memory the buffer
 * handle is the address.  Input strides may be 0 or negative.  Inputs may overlap anything but
 * outputs; an output addresses each element once, and is an input's exact view or shares no byte
 * with any input.  Entries beyond rank are unspecified.  No axis has length 0: the host answers for
 * empty arrays itself. */
struct tn_operand {
	uint64_t buffer;
	uint64_t offset;
	tn_dtype dtype;
	uint32_t rank;
	int64_t shape[TN_MAX_RANK];
	int64_t strides[TN_MAX_RANK];
};

/* A scalar of a program: by value, or an element on the device, read when the work runs. */
struct tn_scalar {
	tn_dtype dtype;
	uint32_t on_device; /* 0: bits hold the value; 1: {buffer, offset} say where it is */
	uint64_t bits;      /* the value's bit pattern, in the low bytes */
	uint64_t buffer;
	uint64_t offset;
};

/* ---- Element programs ------------------------------------------------------------------------
 *
 * A program is a straight line of typed instructions.  Instruction i makes value i and refers to
 * earlier values by number in a, b, c.  tenon-program(7) is normative for every opcode.  A backend
 * keeps no pointer to a program past the call.
 *
 * Programs compute in TN_BOOL, TN_I32, TN_U32, TN_I64, TN_F32 and, where claimed, TN_F64.  An input
 * or a scalar is converted to its instruction's dtype when loaded, an output from its value's dtype
 * to the operand's when stored, both by the rules of the cast.
 */
#define TN_PROGRAM_MAX_INSTRUCTIONS 256
#define TN_PROGRAM_MAX_CONSTANTS 64
#define TN_PROGRAM_MAX_SCALARS 16
#define TN_PROGRAM_MAX_INPUTS 8
#define TN_PROGRAM_MAX_OUTPUTS 4

enum {
	/* Sources.  `a` is a number, not a value. */
	TN_OP_INPUT = 1,    /* input a */
	TN_OP_SCALAR = 2,   /* scalar a */
	TN_OP_CONSTANT = 3, /* constant a, its bits in the low bytes */
	TN_OP_INDEX = 4, /* i64: the index along axis a; the host then keeps all axes as they are */
	TN_OP_ELEMENT = 5, /* i64: the row-major number of the element in the operands' shape */

	/* Arithmetic: a and b have the result's dtype, which is no TN_BOOL; FMA and POW to TRUNC
	 * are of floating types alone. */
	TN_OP_ADD = 16,
	TN_OP_SUB = 17,
	TN_OP_MUL = 18,
	TN_OP_DIV = 19, /* integers: toward zero; by zero gives 0 */
	TN_OP_REM = 20, /* sign of a (C's fmod and %); integers by zero give 0 */
	TN_OP_NEG = 21,
	TN_OP_ABS = 22,
	TN_OP_MIN = 23, /* NaN if either is NaN; of equal operands b, so min(-0, 0) is 0 */
	TN_OP_MAX = 24,
	TN_OP_FMA = 25, /* a * b + c, rounded once (floating) */
	TN_OP_POW = 26,
	TN_OP_SQRT = 27,
	TN_OP_RSQRT = 28,
	TN_OP_FLOOR = 29,
	TN_OP_CEIL = 30,
	TN_OP_ROUND = 31, /* half to even */
	TN_OP_TRUNC = 32,
	TN_OP_SIGN = 33, /* -1, 0 or 1; NaN stays */

	/* Functions of floating values. */
	TN_OP_EXP = 48,
	TN_OP_EXP2 = 49,
	TN_OP_EXPM1 = 50,
	TN_OP_LOG = 51,
	TN_OP_LOG2 = 52,
	TN_OP_LOG1P = 53,
	TN_OP_SIN = 54,
	TN_OP_COS = 55,
	TN_OP_TAN = 56,
	TN_OP_ASIN = 57,
	TN_OP_ACOS = 58,
	TN_OP_ATAN = 59,
	TN_OP_ATAN2 = 60, /* atan2(a, b) */
	TN_OP_SINH = 61,
	TN_OP_COSH = 62,
	TN_OP_TANH = 63,
	TN_OP_ERF = 64,
	TN_OP_SIGMOID = 65, /* 1 / (1 + exp(-a)) */

	/* Comparison: a and b of one dtype, the result is TN_BOOL. */
	TN_OP_EQ = 80,
	TN_OP_NE = 81,
	TN_OP_LT = 82,
	TN_OP_LE = 83,
	TN_OP_GT = 84,
	TN_OP_GE = 85,

	/* Bits: integers; AND, OR, XOR and NOT of TN_BOOL too. */
	TN_OP_AND = 96,
	TN_OP_OR = 97,
	TN_OP_XOR = 98,
	TN_OP_NOT = 99,
	TN_OP_SHL = 100, /* the count is taken modulo the width */
	TN_OP_SHR = 101, /* arithmetic for signed types */

	/* Choice and conversion. */
	TN_OP_SELECT = 112, /* a ? b : c, a is TN_BOOL */
	TN_OP_CAST = 113, /* a to the result's dtype; floating to integer saturates, NaN gives 0 */
	TN_OP_BITCAST = 114, /* between 4-byte types */

	/* Random numbers, the same bits on every backend. */
	/* u32: word c mod 4 of Philox4x32-10, counter {c / 4, b}, key a; a, b, c i64 */
	TN_OP_RANDOM = 128,
	TN_OP_NORMAL = 129, /* f32: the standard normal quantile of the u32 word a, by table */

	TN_OP_COUNT = 130,
	TN_OP_VENDOR = 0x8000,
};

struct tn_instruction {
	uint16_t op;
	uint16_t dtype; /* of the value that it makes */
	uint16_t a, b, c;
	uint16_t reserved;
};

/* `bytes` is the canonical form {counts, constants, outputs, instructions}; two programs are the
 * same when their bytes are, and `hash` is made of them.  The other pointers point into it. */
struct tn_program {
	uint32_t struct_size;
	uint32_t n_inputs;
	uint32_t n_outputs;
	uint32_t n_scalars;
	uint32_t n_constants;
	uint32_t n_instructions;
	uint64_t hash[2];
	const struct tn_instruction *instructions;
	const uint64_t *constants;
	const uint16_t *outputs; /* value numbers */
	const void *bytes;
	uint64_t n_bytes;
};

/* ---- Table "tenon.device/1": mandatory -------------------------------------------------------*/

enum {
	TN_DEVICE_DISCRETE_GPU = 1,
	TN_DEVICE_INTEGRATED_GPU = 2,
	TN_DEVICE_ACCELERATOR = 3,
	TN_DEVICE_CPU = 4,
	TN_DEVICE_REFERENCE = 5,
};

enum {
	TN_MEMORY_DEVICE = 0,  /* the device's own; every device has it */
	TN_MEMORY_PINNED = 1,  /* host memory that the device can reach */
	TN_MEMORY_MANAGED = 2, /* moves by itself */
};

enum {
	/* Handles are addresses that the host may read and write after `sync`. */
	TN_DEVICE_HOST_MEMORY = 1u << 0,
	/* Work is done when the entry returns; streams are one. */
	TN_DEVICE_SYNCHRONOUS = 1u << 1,
};

enum { TN_LAYOUT_NCHW = 1, TN_LAYOUT_NHWC = 2 };
/* What the 16 bytes of a device's identity hold; those that are not named are 0. */
enum {
	TN_IDENTITY_NONE = 0,
	/* Bytes 0 to 3 the PCI domain, the low byte first; then bus, device and function. */
	TN_IDENTITY_PCI = 1,
	/* The UUID that the driver gives the device, in the order in which it is written. */
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
};
enum {
	TN_DETERMINISM_ALWAYS = 1,     /* the same bits from run to run */
	TN_DETERMINISM_ON_REQUEST = 2, /* with TN_DETERMINISTIC */
	TN_DETERMINISM_NEVER = 3,
};

/* What device_count found.  `status` says why there are none (TN_NO_DEVICE, TN_NO_DRIVER, ...). */
struct tn_device_count {
	uint32_t struct_size;
	uint32_t count;
	tn_status status;
	uint32_t reserved;
	char text[256];
};

/* Sets of dtypes are bit masks: bit d stands for dtype d, of which there will be no more than 63; a
 * vendor's dtype stands in none. */
struct tn_device_description {
	uint32_t struct_size;
	uint32_t kind;
	char name[128];
	uint32_t flags;
	uint32_t memory_kinds; /* bit k: kind k can be allocated */
	uint64_t storage_dtypes;
	uint64_t program_dtypes;
	uint64_t matmul_dtypes;
	uint64_t memory_bytes; /* 0: unknown */
	uint64_t max_alloc_bytes;
	uint32_t alignment; /* of every allocation, at least 256 */
	uint32_t preferred_layout;
	int32_t score; /* among devices of one kind: higher is better */
	uint32_t identity_type;
	uint8_t identity[16]; /* of the physical device, so that two backends on it can be paired */
	uint8_t accuracy[16]; /* by family; 0: nothing is said */
	uint8_t determinism[16]; /* by family; 0: nothing is said */
	char note[256];          /* what is missing or special, in one sentence; may be empty */
};

struct tn_open_args {
	struct tn_call call;
	uint32_t index;
	uint32_t reserved;
};

struct tn_alloc_args {
	struct tn_call call;
	uint64_t size;
	uint64_t alignment; /* a power of two; 0 means 256 */
	uint32_t memory_kind;
	uint32_t reserved;
};

struct tn_free_args {
	struct tn_call call;
	uint64_t buffer;
};

struct tn_transfer_args {
	struct tn_call call;
	uint64_t buffer;
	uint64_t offset;
	uint64_t size;
	void *host; /* upload reads it, download writes it */
};

struct tn_sync_args {
	struct tn_call call;
};

struct tn_device_table {
	uint32_t struct_size;
	uint32_t reserved;

	/* How many devices there are.  0 is a valid answer with its reason in `out`.  Cheap (under
	 * 50 ms), makes no context, takes no device memory, leaves fork possible.  [instance] */
	tn_status (*device_count)(void *instance, struct tn_device_count *out);

	/* Fills `out` for device `index`.  TN_INVALID_ARGUMENT: no such device.  Where it fails
	 * otherwise, `note` says why.  [instance] */
	tn_status (*describe)(void *instance, uint32_t index, struct tn_device_description *out);

	/* Opens device args->index and gives its handle.  [instance] */
	tn_status (*open)(void *instance, const struct tn_open_args *args, void **device);

	/* Waits for the device's work and closes it.  The host has freed its buffers.  [device] */
	void (*close)(void *device);

	/* Gives a handle to `size` > 0 bytes.  0 is never a handle.  TN_OUT_OF_MEMORY is
	 * recoverable.  [device] */
	tn_status (*alloc)(void *device, const struct tn_alloc_args *args, uint64_t *buffer);

	/* Takes the handle back.  The host frees only buffers whose work is done.  [device] */
	tn_status (*free)(void *device, const struct tn_free_args *args);

	/* Copies `size` bytes from host memory, in stream order; without TN_ASYNC it returns when
	 * the source may be reused.  [device] */
	tn_status (*upload)(void *device, const struct tn_transfer_args *args);

	/* Copies `size` bytes to host memory, in stream order; without TN_ASYNC it returns when the
	 * data is there.  [device] */
	tn_status (*download)(void *device, const struct tn_transfer_args *args);

	/* Waits for all work of call.stream and answers its first asynchronous error.  [device] */
	tn_status (*sync)(void *device, const struct tn_sync_args *args);

	/* Fetches and clears the first asynchronous error of `stream` without waiting; TN_OK: none.
	 * `out` names the operation that failed.  [device] */
	tn_status (*async_error)(void *device, void *stream, struct tn_error_info *out);
};

/* ---- Table "tenon.compute/1": mandatory ------------------------------------------------------*/

enum {
	TN_REDUCE_SUM = 1,
	TN_REDUCE_PRODUCT = 2,
	TN_REDUCE_MAX = 3, /* NaN if there is one */
	TN_REDUCE_MIN = 4,
	TN_REDUCE_ARGMAX =
		5, /* i64: row-major number within the reduced axes; the first NaN wins, */
	TN_REDUCE_ARGMIN = 6, /*      else the lowest number of equals */
};

/* outputs[j][i] := program(inputs[0][i], ..., scalars) for every index i.  All operands have one
 * rank and shape (inputs are broadcast by stride 0). */
struct tn_map_args {
	struct tn_call call;
	const struct tn_program *program;
	const struct tn_operand *inputs;  /* program->n_inputs */
	const struct tn_operand *outputs; /* program->n_outputs */
	const struct tn_scalar *scalars;  /* program->n_scalars */
};

/* For every index i of the kept axes:
 *     acc[v]        := combiner v over the reduced axes r of prologue(inputs[i, r])[v]
 *     outputs[j][i] := epilogue(acc[0], ..., acc[n_values-1], epilogue_inputs[0][i], ...)[j]
 * The last n_reduced axes of `inputs` are the reduced ones, in the order that gives the index its
 * row-major number; there may be none.  Outputs and epilogue inputs have the kept axes only.  The
 * prologue has n_values outputs; without an epilogue outputs[v] := acc[v].  Accumulators: f32 for
 * f32, f64 for f64, i64 for integers and bool (u32 and u64 by wrap), i64 for the index. */
struct tn_reduce_args {
	struct tn_call call;
	const struct tn_program *prologue;
	const struct tn_program *epilogue;        /* may be NULL */
	const struct tn_operand *inputs;          /* prologue->n_inputs */
	const struct tn_operand *epilogue_inputs; /* epilogue->n_inputs - n_values */
	const struct tn_operand *outputs;         /* epilogue ? epilogue->n_outputs : n_values */
	const struct tn_scalar *scalars;          /* prologue->n_scalars */
	const struct tn_scalar *epilogue_scalars;
	uint32_t n_reduced;
	uint32_t n_values; /* 1 to 4 */
	uint32_t combiners[4];
};

/* C[..., i, j] := alpha sum_k A[..., i, k] B[..., k, j] + beta C[..., i, j]
 * Rank 2 to 6: up to 4 batch axes of one shape (stride 0 legal on A and B).  Each inner matrix has
 * a stride of 1 along one of its two axes, and the other stride is at least that axis's length (or
 * the length is 1).  beta = 0 never reads C; alpha = 0 may leave A and B unread.  f16 and bf16
 * accumulate in f32.  With has_bias or an activation the result is
 *     C[..., i, j] := activation(alpha sum_k A B + beta C + bias[j])
 * A backend that has no such epilogue answers TN_UNSUPPORTED, and the host takes two steps. */
struct tn_matmul_args {
	struct tn_call call;
	struct tn_operand a;
	struct tn_operand b;
	struct tn_operand c;
	double alpha;
	double beta;
	struct tn_operand bias; /* of N elements; used when has_bias is 1 */
	uint32_t has_bias;
	uint32_t activation; /* TN_ACTIVATION_... */
};

struct tn_compute_table {
	uint32_t struct_size;
	uint32_t reserved;
	tn_status (*map)(void *device, const struct tn_map_args *args);       /* [device] */
	tn_status (*reduce)(void *device, const struct tn_reduce_args *args); /* [device] */
	tn_status (*matmul)(void *device, const struct tn_matmul_args *args); /* [device] */
};

/* ---- Table "tenon.copy/1": optional; composed unless said otherwise --------------------------*/

/* output[i] := value, for every i. */
struct tn_fill_args {
	struct tn_call call;
	struct tn_operand output;
	struct tn_scalar value; /* of the output's dtype, by value or (c128: only) on the device */
};

/* output[i] := input[i]; one shape, one dtype; bits are kept. */
struct tn_copy_args {
	struct tn_call call;
	struct tn_operand input;
	struct tn_operand output;
};

/* Gather:       output[i, j, k] := input[i, indices[j], k]
 * Scatter-add:  output[i, indices[j], k] += input[i, j, k], equal indices adding up
 * with i over the axes before `axis`, k over those after.  indices is i32 or i64, of rank 1;
 * negative ones count from the end.  An index out of range reads as zero (gather) or adds nothing
 * (scatter-add); the host checks indices where it can read them. */
struct tn_gather_args {
	struct tn_call call;
	struct tn_operand input;
	struct tn_operand indices;
	struct tn_operand output;
	uint32_t axis;
	uint32_t reserved;
};

struct tn_copy_table {
	uint32_t struct_size;
	uint32_t reserved;
	tn_status (*fill)(void *device, const struct tn_fill_args *args);     /* [device] */
	tn_status (*copy)(void *device, const struct tn_copy_args *args);     /* [device] */
	tn_status (*gather)(void *device, const struct tn_gather_args *args); /* [device], host */
	tn_status (*scatter_add)(void *device,
				 const struct tn_gather_args *args); /* [device], host */
};

/* ---- Table "tenon.memory/1": optional; absent ------------------------------------------------*/

struct tn_memory_information {
	uint32_t struct_size;
	uint32_t reserved;
	uint64_t total_bytes;
	uint64_t free_bytes;
};

struct tn_memory_table {
	uint32_t struct_size;
	uint32_t reserved;
	/* How much memory of that kind the device has, and has free.  [device] */
	tn_status (*information)(void *device, uint32_t memory_kind,
				 struct tn_memory_information *out);
};

/* ---- Table "tenon.report/1": optional; absent ------------------------------------------------
 *
 * What an open device says of itself beyond its description, for people to read: versions of
 * driver, runtime and libraries, and what changes while it works (clocks, temperature, power).
 */
struct tn_report_line {
	uint32_t struct_size;
	uint32_t reserved;
	char key[32];   /* a-z, 0-9, '_' and '.': "driver", "library.blas", "clock.memory" */
	char text[216]; /* one line of UTF-8, with its unit: "580.65.06", "1980 MHz"; not empty */
};

/* No device says more. */
#define TN_REPORT_MOST_LINES 64

struct tn_report_table {
	uint32_t struct_size;
	uint32_t reserved;
	/* Fills `out` with line `index`, from 0 on, as it is now.  TN_NOT_FOUND: there are no more
	 * lines; `out` is left alone.  While the device is open a line keeps its key; one that
	 * cannot be read at the moment has the text "unknown".  At most
	 * TN_REPORT_MOST_LINES lines, all of them together in
	 * under 50 ms; it waits for no work of the device.  [device] */
	tn_status (*line)(void *device, uint32_t index, struct tn_report_line *out);
};

/* ---- Table "tenon.stream/1": optional; absent ------------------------------------------------
 *
 * Streams of work, each in order, and events that mark a place in one.  Work of different streams
 * has no order but what events give it; the NULL stream is one more such stream.  A plugin that has
 * one of these slots has them all.  A device that is TN_DEVICE_SYNCHRONOUS needs none: its streams
 * are one, and the host makes do without.
 */
struct tn_stream_args {
	struct tn_call call; /* destroy: call.stream is the stream */
	int32_t priority;    /* create: 0 is ordinary, lower runs first; a hint */
	uint32_t reserved;
};

struct tn_event_args {
	struct tn_call call;
	void *event;
};

struct tn_elapsed_args {
	struct tn_call call;
	void *start;
	void *end;
};

struct tn_stream_table {
	uint32_t struct_size;
	uint32_t reserved;

	/* Gives a stream.  NULL is never one.  [device] */
	tn_status (*stream_create)(void *device, const struct tn_stream_args *args, void **stream);

	/* Waits for the stream's work, and takes it back.  TN_INVALID_ARGUMENT: the NULL stream.
	 * [device] */
	tn_status (*stream_destroy)(void *device, const struct tn_stream_args *args);

	/* Gives an event, which counts as reached until it is recorded.  [device] */
	tn_status (*event_create)(void *device, const struct tn_event_args *args, void **event);

	/* Takes it back; whoever waits for it goes on waiting for what it marked.  [device] */
	tn_status (*event_destroy)(void *device, const struct tn_event_args *args);

	/* Marks the place that call.stream has come to; recorded again, it marks that place alone.
	 * [device] */
	tn_status (*event_record)(void *device, const struct tn_event_args *args);

	/* Work given to call.stream from now on waits until the event is reached, as it was
	 * recorded when this was called.  Returns at once.  [device] */
	tn_status (*event_wait)(void *device, const struct tn_event_args *args);

	/* Waits, on the host, until the event is reached, and answers the first asynchronous error
	 * of the stream that it was recorded in, which then is fetched.  [device] */
	tn_status (*event_sync)(void *device, const struct tn_event_args *args);

	/* *reached := 1 or 0, without waiting.  [device] */
	tn_status (*event_query)(void *device, const struct tn_event_args *args, uint32_t *reached);

	/* The time from one event to another, in seconds.  TN_INVALID_ARGUMENT: one was not
	 * recorded, or is not reached.  [device] */
	tn_status (*event_elapsed)(void *device, const struct tn_elapsed_args *args,
				   double *seconds);
};

/* ---- Table "tenon.compile/1": optional; absent -----------------------------------------------
 *
 * Kernels that a program brings as source, in a language of the device's own.  The host looks
 * neither into the source nor at what a kernel does: it hands arrays and values on, in order.  A
 * plugin that has one of these slots has them all.
 */

/* The compiler's words.  The callee writes them to `text`, as far as they fit and with a NUL at the
 * end, and how many bytes they are without it to `length`. */
struct tn_compile_log {
	uint32_t struct_size;
	uint32_t reserved;
	char *text;    /* room for `size` bytes; NULL: none */
	uint64_t size; /* of the room, the NUL included */
	uint64_t length;
};

struct tn_compile_args {
	struct tn_call call;
	const char *format; /* the language: "cuda-c", or a vendor's own in reverse DNS */
	const char *source;
	const char *name;           /* of the kernel in the source */
	const char *options;        /* for the compiler, with blanks between them; NULL: none */
	struct tn_compile_log *log; /* may be NULL */
};

/* What a kernel is given: the address of {buffer, offset} on the device,
 * or `size` bytes by value. */
struct tn_launch_argument {
	uint32_t is_buffer;
	uint32_t size;
	uint64_t buffer;
	uint64_t offset;
	const void *value;
};

struct tn_launch_args {
	struct tn_call call;
	void *kernel;
	uint32_t grid[3];      /* blocks */
	uint32_t block[3];     /* threads in a block */
	uint32_t shared_bytes; /* memory that a block shares, beyond what the kernel declares */
	uint32_t n_arguments;
	const struct tn_launch_argument *arguments;
};

struct tn_kernel_args {
	struct tn_call call;
	void *kernel;
};

struct tn_compile_table {
	uint32_t struct_size;
	uint32_t reserved;

	/* Compiles the kernel and gives a handle, which is never NULL.  The log is filled when the
	 * source compiles and when it does not.  TN_UNSUPPORTED: that language is not known.
	 * TN_FORMAT: the source does not compile; the error has what the compiler said first.
	 * TN_NOT_FOUND: it has no kernel of that name.  [device] */
	tn_status (*compile)(void *device, const struct tn_compile_args *args, void **kernel);

	/* Starts it in call.stream.  TN_INVALID_ARGUMENT: number or sizes of the arguments are not
	 * those of the kernel, or grid, block or shared memory are 0 or more than the device can;
	 * the shared memory may be 0.  `operation` of an error that comes of its work has the
	 * kernel's name.  [device] */
	tn_status (*launch)(void *device, const struct tn_launch_args *args);

	/* Takes it back.  The host releases only kernels whose work is done.  [device] */
	tn_status (*kernel_release)(void *device, const struct tn_kernel_args *args);
};

/* ---- Table "tenon.capture/1": optional; absent -----------------------------------------------
 *
 * Work that is written down instead of done, and then done any number of times with one call.  What
 * the work uses, buffers and kernels, the host keeps until the graph is released.  A plugin that
 * has one of these slots has them all.
 *
 * While a stream is captured, work that is given to it is not done.  What would wait for it (sync,
 * event_sync, a transfer without TN_ASYNC) answers TN_NOT_CAPTURABLE, and the capture goes on.  So
 * may alloc and free, which otherwise take no part in it, and event_record and event_wait.
 */
struct tn_graph_args {
	struct tn_call call;
	void *graph; /* launch, release */
};

struct tn_capture_table {
	uint32_t struct_size;
	uint32_t reserved;

	/* From here on work of call.stream is written down.  TN_STATE: a stream of the device is
	 * captured already.  [device] */
	tn_status (*capture_begin)(void *device, const struct tn_graph_args *args);

	/* Ends the capture and gives the graph, which is never NULL and may be empty.  Scalars on
	 * the device and operands are read when it runs, values were read before.
	 * TN_NOT_CAPTURABLE: something could not be written down; nothing of the work is done.
	 * TN_STATE: call.stream is not captured.  [device] */
	tn_status (*capture_end)(void *device, const struct tn_graph_args *args, void **graph);

	/* Does the work, in call.stream.  [device] */
	tn_status (*graph_launch)(void *device, const struct tn_graph_args *args);

	/* Takes it back.  The host releases only graphs whose work is done.  [device] */
	tn_status (*graph_release)(void *device, const struct tn_graph_args *args);
};

/* ---- Table "tenon.peer/1": optional; absent --------------------------------------------------
 *
 * Bytes from one device of an instance to another, without a stop on the host.  Where it is absent,
 * and for devices that cannot reach each other, the host downloads and uploads them.
 */
struct tn_peer_args {
	struct tn_call call; /* of the device that takes */
	void *peer;          /* the one that gives: another open device of the same instance */
	void *peer_stream;   /* one of the peer's */
	uint64_t buffer;
	uint64_t offset;
	uint64_t peer_buffer;
	uint64_t peer_offset;
	uint64_t size;
};

struct tn_peer_table {
	uint32_t struct_size;
	uint32_t reserved;

	/* Copies `size` bytes of the peer's buffer, and need not wait for it.  The copy has a place
	 * in both streams: it comes after what either was given before, and what either is given
	 * later comes after it.  Where work of peer_stream has failed, and nobody has fetched the
	 * error yet, the copy fails too, as work of call.stream: TN_BACKEND_FAILURE.
	 * TN_UNSUPPORTED, of a dry run too: the two cannot reach each other, or the peer is lost.
	 * TN_NOT_CAPTURABLE: one of the streams is captured.  [device], of both */
	tn_status (*peer_copy)(void *device, const struct tn_peer_args *args);
};

/* ---- Table "tenon.sort/1": optional; host ----------------------------------------------------
 *
 * Along `axis`, for each line (all other indices fixed) of x = input, with n elements:
 *
 *     values[j]  := x[p(j)],   indices[j] := p(j),   for j < k
 *
 * where p puts the line in order: stable, so that of equals the one that stands first comes first,
 * ascending and descending alike.  -0 equals 0.  A NaN is greater than any number, ascending last
 * and descending first, and equals every NaN.  Booleans are 0 and 1.
 *
 * Inputs are of bool, any integer or floating dtype.  values has the input's dtype, and keeps bits;
 * indices is i64.  Both have the input's shape but for the axis, on which they have k elements,
 * 1 <= k <= n: the first k in that order.  Outputs share no byte with the input or with each other.
 * TN_SHAPE: shapes or axis do not fit.  TN_DTYPE: values or indices have another dtype.
 * TN_INVALID_ARGUMENT: neither is wanted, or a flag is not 0 or 1. */
struct tn_sort_args {
	struct tn_call call;
	struct tn_operand input;
	struct tn_operand values;  /* used when has_values is 1 */
	struct tn_operand indices; /* used when has_indices is 1 */
	uint32_t axis;
	uint32_t descending; /* 0 or 1, as the two below, of which one is 1 */
	uint32_t has_values;
	uint32_t has_indices;
};

struct tn_sort_table {
	uint32_t struct_size;
	uint32_t reserved;
	tn_status (*sort)(void *device, const struct tn_sort_args *args); /* [device] */
};

/* ---- Table "tenon.scan/1": optional; host ----------------------------------------------------
 *
 * Along `axis`, for each line of x = input, with n elements:
 *
 *     output[j] := combiner over i <= j of x[i]        reverse: i >= j;   exclusive: without i = j
 *
 * combiner is TN_REDUCE_SUM, PRODUCT, MAX or MIN.  A combiner over nothing, which exclusive begins
 * with, is 0, 1, -inf (integers and bool: the smallest of the input's dtype) or +inf (the largest).
 *
 * Elements are converted to the accumulator's dtype, combined there or in a wider one, and
 * converted to the output's, by the rules of the cast.  The accumulator is f32 for f16, bf16 and
 * f32; f64 for f64; u64 for u64; i64 for bool and the other integers, where sums and products wrap;
 * the output has its dtype or the input's.  From the first NaN on max and min are NaN, and which of
 * a zero's signs they keep is free.
 *
 * The order of combining is free, but it follows from the arguments alone: the same call has the
 * same bits, whatever the number of threads or multiprocessors.  No element passes through more
 * than 2048 + n / 1024 combinations on its way to an output, so with u half a unit in the last
 * place of 1 in the accumulator's dtype a sum is off by at most (2048 + n / 1024) u sum |x[i]|, and
 * then rounded to the output's dtype.  Parts of a product (or sum) may over- or underflow where all
 * of it does not.  Input and output may be one view.
 * TN_SHAPE: shapes or axis do not fit.  TN_UNSUPPORTED: another combiner, accumulator or output
 * dtype.
 * TN_INVALID_ARGUMENT: a flag is not 0 or 1. */
struct tn_scan_args {
	struct tn_call call;
	struct tn_operand input;
	struct tn_operand output;
	uint32_t axis;
	uint32_t combiner;
	uint32_t reverse;   /* 0 or 1 */
	uint32_t exclusive; /* 0 or 1 */
	tn_dtype accumulator;
	uint32_t reserved;
};

struct tn_scan_table {
	uint32_t struct_size;
	uint32_t reserved;
	tn_status (*scan)(void *device, const struct tn_scan_args *args); /* [device] */
};

/* ---- Table "tenon.nn/1": optional; composed unless said otherwise ----------------------------
 *
 * Shapes are logical NCHW and OIHW, whatever the strides say.  With TN_ACCUMULATE a gradient is
 * added to what the output holds.
 */

/* Memory of the device with weights in the backend's own form; size 0: there is none. */
struct tn_packed {
	uint64_t buffer;
	uint64_t offset;
	uint64_t size;
};

/* With x = (N, C, H, W), w = (O, C / groups, R, S), y = (N, O, P, Q), C and O multiples of groups:
 *
 *   y[n,o,p,q] = bias[o] + sum over c,r,s of
 *       x[n, g C/groups + c, p stride0 + r dilation0 - pad_top, q stride1 + s dilation1 - pad_left]
 *       w[o,c,r,s],   g = o / (O / groups),   x read as 0 outside its plane.
 *
 *   P = (H + pad_top + pad_bottom - dilation0 (R - 1) - 1) / stride0 + 1, Q likewise.
 *
 * Forward reads x, w, bias and writes y.  Input gradient reads w, dy (in `y`) and writes dx (in
 * `x`).  Weight gradient reads x, dy (in `y`) and writes dw (in `w`).  TN_SHAPE: they do not fit.
 *
 * Forward may go on:  y := activation(the sum + bias + residual).
 *
 * Prepack (an optional slot) brings w into the form that forward reads fastest, for calls with the
 * same shapes, strides, window and flags: a dry run writes to *size the bytes that it takes (0: it
 * would gain nothing), a call writes args->packed, which has at least as many, aligned to 256.
 * Forward given `packed` may read it in place of w; the host drops it when w changes. */
struct tn_conv2d_args {
	struct tn_call call;
	struct tn_operand x;
	struct tn_operand w;
	struct tn_operand y;
	struct tn_operand bias; /* (O), forward only; used when has_bias is 1 */
	uint32_t has_bias;
	uint32_t groups;
	int64_t stride[2];
	int64_t dilation[2];
	int64_t padding[4];         /* top, left, bottom, right */
	struct tn_operand residual; /* like y, forward only; used when has_residual is 1 */
	struct tn_packed packed;    /* w as conv2d_prepack made it; forward only */
	uint32_t has_residual;
	uint32_t activation; /* TN_ACTIVATION_..., forward only */
};

enum { TN_POOL_MAX = 1, TN_POOL_AVERAGE = 2 };

/* With x = (N, C, H, W), y and index = (N, C, P, Q):
 *   max:      y = the largest x of the window (a NaN wins), index = h W + w of the first such one;
 *             padding is never chosen;
 *   average:  y = sum over the window / (count_padding ? kernel0 kernel1 : cells inside the plane).
 * Window (p, q) begins at row p stride0 - pad_top, column q stride1 - pad_left, and
 *   P = (H + pad_top + pad_bottom - kernel0) / stride0 + 1, Q likewise.
 * Backward reads dy (in `y`) and, for max, index; it writes dx (in `x`): each dy goes to its
 * index, or in equal parts to its window. */
struct tn_pool2d_args {
	struct tn_call call;
	struct tn_operand x;
	struct tn_operand y;
	struct tn_operand index; /* i32; used when has_index is 1 */
	uint32_t kind;
	uint32_t has_index; /* forward: write it; backward of max: always 1 */
	uint32_t count_padding;
	uint32_t reserved;
	int64_t kernel[2];
	int64_t stride[2];
	int64_t padding[4]; /* top, left, bottom, right; each at most kernel / 2 */
};

/* Batch norm of x = (N, C, ...), with statistics over all axes but C; layer norm of x = (rows, C),
 * with statistics over C; group norm of x = (N, C, ...), with statistics over each of `groups`
 * equal parts of a picture's channels and all that follows:
 *
 *   y = (x - mean) rstd w + b,   rstd = 1 / sqrt(var + epsilon),   var = mean of (x - mean)^2
 *
 * w and b have C elements (used when has_affine is 1).  mean and rstd are f32 (f64 for f64), of C
 * elements (batch), one a row (layer) or N groups (group).  Forward with use_statistics 0 writes
 * mean and rstd, with 1 (batch norm at inference) reads them.  Backward reads x, mean, rstd, w and
 * dy (in `y`) and writes, as far as `wants` says, dw = sum of dy (x - mean) rstd, db = sum of dy,
 * and with g = dy w and means over what shares a mean:
 *
 *   dx = rstd (g - mean of g - (x - mean) rstd mean of (g (x - mean) rstd)),
 *   dx = rstd g   when use_statistics is 1: the statistics are constants.
 *
 * Forward may go on:  y := activation(y + residual).  Backward then takes in place of dy,
 * everywhere above, dresidual = dy activation'(result): dy where result > 0 (RELU; RELU6: and below
 * 6), else 0, and writes it where `wants` has bit 2.  A TN_ACCUMULATE adds to dw and db alone. */
struct tn_norm_args {
	struct tn_call call;
	struct tn_operand x;
	struct tn_operand y;
	struct tn_operand w;
	struct tn_operand b;
	struct tn_operand mean;
	struct tn_operand rstd;
	struct tn_operand dx; /* backward only, like dw and db */
	struct tn_operand dw;
	struct tn_operand db;
	uint32_t has_affine;
	uint32_t use_statistics;
	uint32_t wants;  /* backward: bit 0 dx, bit 1 dw and db, bit 2 dresidual */
	uint32_t groups; /* group norm only */
	double epsilon;
	struct tn_operand residual;  /* like y, forward; used when has_residual is 1 */
	struct tn_operand result;    /* the forward's y; backward reads it with an activation */
	struct tn_operand dresidual; /* like y, backward only */
	uint32_t has_residual;
	uint32_t activation; /* TN_ACTIVATION_NONE, RELU or RELU6 */
};

/* Along `axis`:  forward       y = exp(x - max x) / sum exp(x - max x)     (log: its logarithm)
 *                backward      dx = y (dy - sum y dy)            (log: dx = dy - exp(y) sum dy) */
struct tn_softmax_args {
	struct tn_call call;
	struct tn_operand x; /* forward only */
	struct tn_operand y;
	struct tn_operand dy; /* backward only, like dx */
	struct tn_operand dx;
	uint32_t axis;
	uint32_t logarithm;
};

/* x = (N, C) logits, labels = (N) i32, loss and lse = (N) f32 (f64 for f64):
 *   forward    lse = log sum_c exp(x[n,c]),   loss[n] = lse[n] - x[n, label]
 *   backward   dx[n,c] = (exp(x[n,c] - lse[n]) - (c == label)) dloss[n]
 * A row whose label is ignore_label has loss 0 and gradient 0; a label outside 0..C-1 otherwise
 * gives NaN for its row. */
struct tn_cross_entropy_args {
	struct tn_call call;
	struct tn_operand x;
	struct tn_operand labels;
	struct tn_operand lse;  /* forward writes, backward reads */
	struct tn_operand loss; /* forward: loss; backward: dloss, stride 0 legal */
	struct tn_operand dx;   /* backward only */
	int32_t ignore_label;
	uint32_t reserved;
};

/* Every entry is [device].  A slot that is NULL is composed by the host of map, reduce and matmul;
 * where the device has not got those either, the operation runs on the host as a whole. */
struct tn_nn_table {
	uint32_t struct_size;
	uint32_t reserved;
	tn_status (*conv2d_forward)(void *device, const struct tn_conv2d_args *args);
	tn_status (*conv2d_input_gradient)(void *device, const struct tn_conv2d_args *args);
	tn_status (*conv2d_weight_gradient)(void *device, const struct tn_conv2d_args *args);
	tn_status (*pool2d_forward)(void *device, const struct tn_pool2d_args *args);
	tn_status (*pool2d_backward)(void *device, const struct tn_pool2d_args *args);
	tn_status (*batch_norm_forward)(void *device, const struct tn_norm_args *args);
	tn_status (*batch_norm_backward)(void *device, const struct tn_norm_args *args);
	tn_status (*layer_norm_forward)(void *device, const struct tn_norm_args *args);
	tn_status (*layer_norm_backward)(void *device, const struct tn_norm_args *args);
	tn_status (*softmax_forward)(void *device, const struct tn_softmax_args *args);
	tn_status (*softmax_backward)(void *device, const struct tn_softmax_args *args);
	tn_status (*cross_entropy_forward)(void *device, const struct tn_cross_entropy_args *args);
	tn_status (*cross_entropy_backward)(void *device, const struct tn_cross_entropy_args *args);
	tn_status (*group_norm_forward)(void *device, const struct tn_norm_args *args);
	tn_status (*group_norm_backward)(void *device, const struct tn_norm_args *args);
	/* Absent: nothing is packed. */
	tn_status (*conv2d_prepack)(void *device, const struct tn_conv2d_args *args,
				    uint64_t *size);
};

#define TN_TABLE_DEVICE "tenon.device/1"
#define TN_TABLE_CAPTURE "tenon.capture/1"
#define TN_TABLE_COMPILE "tenon.compile/1"
#define TN_TABLE_COMPUTE "tenon.compute/1"
#define TN_TABLE_COPY "tenon.copy/1"
#define TN_TABLE_MEMORY "tenon.memory/1"
#define TN_TABLE_PEER "tenon.peer/1"
#define TN_TABLE_REPORT "tenon.report/1"
#define TN_TABLE_SCAN "tenon.scan/1"
#define TN_TABLE_SORT "tenon.sort/1"
#define TN_TABLE_STREAM "tenon.stream/1"
#define TN_TABLE_NN "tenon.nn/1"
/* Reserved: tenon.program/1 (prepare, release), tenon.fft/1, tenon.linalg/1, tenon.collective/1.
 * A vendor's own table is named in reverse DNS: com.example.table/1. */

/* ---- Services of the host --------------------------------------------------------------------*/

enum { TN_LOG_ERROR = 1, TN_LOG_WARNING = 2, TN_LOG_NOTICE = 3, TN_LOG_INFO = 4, TN_LOG_DEBUG = 5 };

/* dst[i] := op(a[i], b[i], c[i]) for i < n; all compact, unused sources NULL; dst may equal a
 * source and otherwise overlaps none.  Booleans are bytes 0 or 1. */
typedef void (*tn_block_fn)(void *dst, const void *a, const void *b, const void *c, size_t n);

/* *acc := combiner over src[0..n-1] and *acc; src and acc are of one dtype. */
typedef void (*tn_fold_fn)(void *acc, const void *src, size_t n);

/* Columns of a table of block kernels. */
enum {
	TN_COLUMN_BOOL = 0,
	TN_COLUMN_I32 = 1,
	TN_COLUMN_U32 = 2,
	TN_COLUMN_I64 = 3,
	TN_COLUMN_F32 = 4,
	TN_COLUMN_F64 = 5,
	TN_COLUMNS = 6,
};

/* Rows of the tables of casts and folds. */
enum { TN_DTYPES = 16, TN_COMBINERS = 8 };

/* A plugin's own kernels for the host's interpreter, in tables by number, with the sizes that their
 * author knew; what is beyond them, and a NULL, is the host's.  The column is that of the operands'
 * dtype (for a comparison: of a; for SELECT: of b). */
struct tn_block_kernels {
	uint32_t struct_size;
	uint32_t n_operations; /* TN_OP_COUNT, or less */
	uint32_t n_columns;    /* TN_COLUMNS */
	uint32_t n_dtypes;     /* TN_DTYPES */
	uint32_t n_combiners;  /* TN_COMBINERS */
	uint32_t reserved;
	const tn_block_fn *operations; /* [n_operations][n_columns], by opcode */
	const tn_block_fn *casts; /* [n_dtypes][n_dtypes]: from, to; storage types too; or NULL */
	const tn_fold_fn *folds;  /* [n_combiners][n_columns], by combiner (sum to min); or NULL */
	/* Copies n bytes past the caches, for outputs larger than them; or NULL.  Its writes may be
	 * weakly ordered (x86's non-temporal ones): the host fences before it is done. */
	void (*stream_copy)(void *dst, const void *src, size_t n);
};

/* How the language of a compiler writes what printed programs are made of, and what it has.  The
 * plugin brings it, so that the host prints for languages that it does not know.  The language must
 * have C's preprocessor, functions, casts, `for`, the conditional operator and integers of 64 bits;
 * literals with the suffix u are of 32 bits.  <tenon/plugin.h> has the dialect of C as an
 * example. */
struct tn_dialect {
	uint32_t struct_size;
	uint32_t n_operations; /* TN_OP_COUNT of the header that the words were written for */
	uint64_t dtypes;       /* in which programs compute: bit d stands for dtype d */
	/* Source that is printed before anything else.  It defines, as types, functions or macros:
	 *   tn_bool (holds 0 and 1), tn_i32, tn_u32, tn_i64, tn_u64, tn_f32
	 *   TN_I64(n), TN_U64(n), TN_F32(x)   literals: n##LL, n##ULL, x##f
	 *   TN_FN            what the definition of a function begins with: static inline
	 *   TN_DATA          what that of a constant array at file scope begins with: static const
	 *   TN_M32(name)     a function of the mathematics library for tn_f32: name##f.  The names
	 *                    are fabs fmod fma pow floor ceil rint trunc exp exp2 expm1 log log2
	 *                    log1p sin cos tan asin acos atan atan2 sinh cosh tanh erf
	 *   tn_add_f32(a, b), tn_sub_f32, tn_mul_f32, tn_div_f32, tn_sqrt_f32(a)
	 *                    correctly rounded, and never contracted
	 *   tn_f32_of_bits(u), tn_bits_of_f32(x)   between a tn_f32 and its bits, a tn_u32
	 * If programs compute in f64, also TN_HAS_F64, tn_f64, TN_F64(x), TN_M64(name), tn_add_f64
	 * to tn_sqrt_f64, tn_f64_of_bits(u).  If TN_HAS_STORAGE is defined, with tn_i8, tn_i16,
	 * tn_u8 and tn_u16, the prelude has conversions of what is stored, too: tn_f32_of_f16 and
	 * tn_f32_of_bf16 of a tn_u16, tn_f16_of_f32 and tn_bf16_of_f32, which give one, and
	 * tn_T_of_F for T of i8, i16, u8, u16, u64 and F of f32, f64.
	 * What a later version asks for besides, it uses for opcodes from n_operations on alone. */
	const char *words;
};

struct tn_print_args {
	uint32_t struct_size;
	uint32_t reserved;
	const struct tn_dialect *dialect;
	/* Printed before each identifier, so that two programs fit in one kernel; may be NULL. */
	const char *prefix;
	/* Takes the text piece by piece, in order; `length` bytes without a NUL.  It returns
	 * normally: no exception, no jump.  A write that fails is remembered by whoever makes
	 * it. */
	void (*write)(void *user, const char *text, size_t length);
	void *user;
};

/* What a plugin may ask of the host.  Valid as long as the instance.  All are [any] but
 * parallel_for and the interpreter, which a device calls inside one of its own entries. */
struct tn_host {
	uint32_t struct_size;
	uint32_t abi_minor; /* the effective one */
	void *context;      /* the first argument of every service */

	/* Would a message of that level be read?  Ask before formatting. */
	int32_t (*log_enabled)(void *context, int32_t level, const char *subsystem);
	/* One message, without newline. */
	void (*log)(void *context, int32_t level, const char *subsystem, const char *text,
		    size_t length);

	/* Host memory; alignment is a power of two, 0 means that of malloc.  NULL: none left. */
	void *(*alloc)(void *context, size_t size, size_t alignment);
	void (*free)(void *context, void *memory);

	/* Threads that parallel_for uses, the caller included. */
	uint32_t (*thread_count)(void *context);
	/* Calls body(argument, begin, end) until [0, n) is done, in pieces that begin at multiples
	 * of `grain` and are at most `grain` long (the last is shorter), on any thread of the pool
	 * and in any order; returns when all are done.  A body may not call parallel_for. */
	void (*parallel_for)(void *context, uint64_t n, uint64_t grain,
			     void (*body)(void *argument, uint64_t begin, uint64_t end),
			     void *argument);

	/* The value of an environment variable, which stays valid until destroy, or NULL; `help` is
	 * what `tenon info --env` prints.  In a privileged process the answer is always NULL. */
	const char *(*parameter)(void *context, const char *name, const char *help);
	/* The plugin's own file, as it was opened. */
	const char *(*plugin_path)(void *context);

	/* map and reduce over host memory, on the pool of threads; `kernels` may be NULL.  The
	 * arguments are taken as they came to the plugin, TN_DRY_RUN included. */
	tn_status (*interpret_map)(void *context, const struct tn_map_args *args,
				   const struct tn_block_kernels *kernels);
	tn_status (*interpret_reduce)(void *context, const struct tn_reduce_args *args,
				      const struct tn_block_kernels *kernels);

	/* Prints the functions that printed programs call (print_prelude), or a program's
	 * statements, which read `in0`, `in1`, ... and `s0`, `s1`, ..., the indices `i0`, `i1`, ...
	 * and the number of the element, `element` (both tn_i64), and declare `out0`, `out1`, ...:
	 * all with the prefix.  The caller declares what is read before it, in the type of the
	 * dtype of the instruction that reads it (tn_bool, tn_i32, ...); in a prologue indices and
	 * number are those of the inputs' shape, in an epilogue those of the kept axes.  The text
	 * of a program without TN_OP_NORMAL may have TN_NO_NORMAL defined before the prelude, which
	 * is half as long then.  Compile without contraction or relaxed mathematics, and with
	 * correctly rounded division and square root (OpenCL:
	 * -cl-fp32-correctly-rounded-divide-sqrt), or random numbers differ.
	 * TN_INVALID_ARGUMENT: no dialect, one without words, or no `write`; print_program also
	 * answers what program_check would for the dialect's operations and dtypes.  Nothing is
	 * written then. */
	tn_status (*print_prelude)(void *context, const struct tn_print_args *args);
	tn_status (*print_program)(void *context, const struct tn_program *program,
				   const struct tn_print_args *args);

	/* Is the program sound: counts within their limits, every operand an earlier value of a
	 * dtype that its opcode takes, every source and output in range, every source read in one
	 * dtype?  A backend that knows the opcodes below n_operations (TN_OP_COUNT of its header)
	 * and computes in `dtypes` may then run it without looking, but for TN_OP_INDEX: its axis
	 * is below TN_MAX_RANK, not below the rank of a call.  TN_INVALID_ARGUMENT: it is not
	 * sound.  TN_UNSUPPORTED: it has an opcode from n_operations on, one that the host does not
	 * know, or another dtype.  `error`, which may be NULL, names `operation` and the
	 * instruction. */
	tn_status (*program_check)(void *context, const struct tn_program *program,
				   uint32_t n_operations, uint64_t dtypes, const char *operation,
				   struct tn_error_info *error);
};

/* ---- The descriptor and its note -------------------------------------------------------------*/

struct tn_backend_descriptor {
	uint32_t struct_size;
	uint32_t magic;
	uint32_t abi_major;
	uint32_t abi_minor;
	uint32_t oldest_host;
	uint32_t reserved;
	uint64_t flags; /* none defined yet: 0 */
	uint8_t uuid[16];
	const char *name; /* the NAME of backend_NAME.so: a-z, 0-9, '_', at most 31 */
	const char *version;
	const char *licence; /* an SPDX expression */

	/* Makes an instance.  Answers the name of an absence (TN_MISSING_LIBRARY, TN_NO_DRIVER,
	 * ...) with `error` filled when the backend cannot work here.  `host` is valid until
	 * destroy.  [any] */
	tn_status (*create)(const struct tn_host *host, struct tn_error_info *error,
			    void **instance);
	/* The host has closed the instance's devices.  [once] */
	void (*destroy)(void *instance);
	/* The table of that id, or NULL.  It stays valid and unchanged until destroy.  [once] */
	const void *(*query)(void *instance, const char *table);
};

/* The note's description; its owner is "Tenon", its type 1. */
struct tn_backend_note {
	uint32_t magic;
	uint32_t abi_major;
	uint32_t abi_minor;
	uint32_t oldest_host;
	uint8_t uuid[16];
	uint64_t flags;
};

struct tn_backend_note_section {
	uint32_t name_size;
	uint32_t description_size;
	uint32_t type;
	char owner[8];
	/* Not tn_backend_note itself: a note is aligned to 4. */
	uint32_t magic, abi_major, abi_minor, oldest_host;
	uint8_t uuid[16];
	uint32_t flags[2];
};

#ifdef __cplusplus
#define TN_EXTERN_C extern "C"
#else
#define TN_EXTERN_C extern
#endif

/* Emits the note and the descriptor; once in a plugin, at file scope.  UUID is a macro of 16 bytes
 * with commas between them, made anew for each plugin (uuidgen). */
#define TN_BACKEND_PLUGIN(UUID, NAME, VERSION, LICENCE, CREATE, DESTROY, QUERY)                    \
	__attribute__((section(".note.tenon"), used,                                               \
		       aligned(4))) static const struct tn_backend_note_section                    \
		tn_backend_note_section_ = {6,                                                     \
					    40,                                                    \
					    TN_BACKEND_NOTE_TYPE,                                  \
					    TN_BACKEND_NOTE_OWNER,                                 \
					    TN_BACKEND_MAGIC,                                      \
					    TN_ABI_MAJOR,                                          \
					    TN_ABI_MINOR,                                          \
					    TN_ABI_OLDEST_HOST,                                    \
					    {UUID},                                                \
					    {0, 0}};                                               \
	TN_EXTERN_C __attribute__((visibility("default")))                                         \
	const struct tn_backend_descriptor tenon_backend;                                          \
	const struct tn_backend_descriptor tenon_backend = {sizeof(struct tn_backend_descriptor),  \
							    TN_BACKEND_MAGIC,                      \
							    TN_ABI_MAJOR,                          \
							    TN_ABI_MINOR,                          \
							    TN_ABI_OLDEST_HOST,                    \
							    0,                                     \
							    0,                                     \
							    {UUID},                                \
							    NAME,                                  \
							    VERSION,                               \
							    LICENCE,                               \
							    CREATE,                                \
							    DESTROY,                               \
							    QUERY}

/* ---- Small helpers ---------------------------------------------------------------------------*/

/* May a callee that knows `own_size` bytes take arguments of `their_size`?  1 when the part that it
 * does not know is zero. */
static inline int tn_arguments_fit(const void *arguments, size_t own_size)
{
	const unsigned char *bytes = (const unsigned char *)arguments;
	size_t their_size = ((const struct tn_call *)arguments)->struct_size;
	for (size_t i = own_size; i < their_size; i++) {
		if (bytes[i])
			return 0;
	}
	return 1;
}

/* Arguments of a call, by the first rule: copies what both sides know into `own`, zero for the
 * rest.  own's struct_size becomes own_size, so that `own` may be handed on.  TN_UNSUPPORTED: they
 * are larger, and the unknown tail is not zero; `own` is filled all the same, so that its
 * call.error can be written. */
static inline tn_status tn_arguments_take(void *own, size_t own_size, const void *arguments)
{
	const size_t their_size = ((const struct tn_call *)arguments)->struct_size;
	const size_t known = their_size < own_size ? their_size : own_size;
	memcpy(own, arguments, known);
	memset((unsigned char *)own + known, 0, own_size - known);
	*(uint32_t *)own = (uint32_t)own_size;
	return tn_arguments_fit(arguments, own_size) ? TN_OK : TN_UNSUPPORTED;
}

/* A struct that the callee fills, by the third rule: writes min(caller's, own) bytes of `own` to
 * `out` and leaves the caller's struct_size as it is. */
static inline void tn_struct_answer(void *out, const void *own, size_t own_size)
{
	unsigned char *to = (unsigned char *)out;
	const unsigned char *from = (const unsigned char *)own;
	size_t their_size = *(const uint32_t *)out;
	for (size_t i = sizeof(uint32_t); i < own_size && i < their_size; i++)
		to[i] = from[i];
}

/* Is a field within the struct_size of the struct (a table, struct tn_host) that it stands in? */
#define TN_HAS_FIELD(type, pointer, field)                                                         \
	((pointer)->struct_size >= offsetof(type, field) + sizeof((pointer)->field))

/* The size of one element in bytes; 0 for an unknown dtype. */
static inline size_t tn_dtype_size(tn_dtype dtype)
{
	static const unsigned char size[16] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
	return dtype > 0 && dtype < 16 ? size[dtype] : 0;
}

#ifdef __cplusplus
}
#endif
#endif
