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
 *   - A dry run looks at everything but buffer handles, which may then be 0.  The host makes none
 *     of the entries of tenon.device/1, stream/1, compile/1, capture/1, import/1 and native/1; they
 *     have no effect in one, or answer TN_UNSUPPORTED.
 *   - It leaves the floating-point modes as they are.  The host does not set them either: results
 *     have their accuracy in the default ones (to nearest, subnormals kept, no traps).
 *   - Strings that a plugin hands out live as long as the instance.
 *   - An unknown number (opcode, dtype, combiner, flag) is TN_UNSUPPORTED, never undefined, and so
 *     is more of anything than a limit of this header allows (inputs, outputs, scalars, constants
 *     and instructions of a program; values of a reduction): a later version may raise it.  A rank
 *     above TN_MAX_RANK is TN_UNSUPPORTED too, but no version raises that: operands never grow.
 *   - Handles (devices, buffers, streams, events, kernels, graphs) come back to the instance that
 *     gave them, while they live.  What an entry does with another value is unspecified, unless it
 *     says so.
 *   - The host gives an unknown number in a plugin's answer (a kind, an identity, a status)
 *     the weakest possible meaning, and never treats it as an error of its own.
 *
 * Structs: `struct_size` comes first and is set to sizeof.  A struct only ever grows at its end.
 * Three rules keep old and new versions compatible:
 *   arguments of a call        the callee reads min(theirs, own), zero for the rest; a larger one
 *                              is taken when its unknown tail is zero, else TN_UNSUPPORTED
 *                              (tn_arguments_fit, tn_arguments_take);
 *   tables and descriptors     the reader copies min(theirs, own) and ignores the tail;
 *   structs the callee fills   the caller clears it, the callee writes min(caller's, own) and
 *                              leaves struct_size as it is (tn_struct_answer).
 * What an argument points to (tn_program, tn_workspace, tn_dialect, tn_print_args,
 * tn_block_kernels) is read like a table.  The structs under "Frozen structs" of <tenon/types.h>,
 * among them all that are elements of arrays or members of others, never grow; a wider one would be
 * a new type.  A field called `reserved` is 0 and is not read; if one gets a meaning, a new flag or
 * number that comes with it indicates its use.
 *
 * Thread tags: [any] from any thread at any time; [device] one thread at a time per open device;
 * [instance] one thread at a time per instance.  It need not always be the same thread.  An
 * [instance] entry may run beside [device] entries of the instance's open devices.
 *
 * One instance, many users: a host may use an instance, and a device that it has opened once, for
 * several parts of a program (contexts), whose buffers, streams and events an entry cannot tell
 * apart.  It then calls [device] entries of one device from several threads in turn; at once only
 * if the device is TN_DEVICE_CONCURRENT_STREAMS, and then calls for different streams, and those
 * without a stream (alloc, free, stream_create, event_create, ...) beside all others.  `close` is
 * never called beside another entry of the device, and nothing is ended (a stream, an event, a
 * kernel, a graph, a buffer) beside a call that is given it.  A capture records the work of its own
 * stream alone.  query is called again for each context, device_count only until it has succeeded
 * once, describe so too and after each open.  One context has the NULL stream, each other one a
 * stream of its own.  A device that is neither synchronous nor has tenon.stream/1, or is
 * synchronous and has tenon.capture/1, is opened for each context, because the errors and captures
 * of several could not be told apart; so is one that is opened on a native handle.
 *
 * Threads of a plugin: an asynchronous device may have its own, which do the work of its streams.
 * They are created with all signals blocked, joined in stream_destroy, close or destroy at the
 * latest, and call no entry.  They may call every service of struct tn_host but `parameter`, as
 * long as the instance lives.  A failure on one is an asynchronous error of the stream whose work
 * it did: sync, event_sync or async_error answer it.  In a forked child they do not exist, and the
 * host calls no entry of the instance there: nothing has to be prepared for fork.
 *
 * The table in section "EVERY SLOT" of tenon-backend(7) has a row for each slot: thread tag, dry
 * run, aliasing, order, limits, tolerance.
 *
 * Strides are in elements, sizes and offsets in bytes.  This version is for 64-bit hosts.
 */
#ifndef TENON_BACKEND_H
#define TENON_BACKEND_H

#include <string.h>

#include <tenon/types.h>

#if SIZE_MAX != UINT64_MAX || UINTPTR_MAX != UINT64_MAX
#error "this version of Tenon's backend interface is for 64-bit hosts"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Version ---------------------------------------------------------------------------------
 *
 * The majors must be equal.  While the major is 0 the minors must be equal too.  From major 1 on
 * the effective minor is the lower of both, and each side refuses a peer older than it accepts.
 */
#define TN_ABI_MAJOR 0u
#define TN_ABI_MINOR 14u
/* The oldest host minor that a plugin accepts.  A plugin that needs a later one defines this before
 * it includes this header. */
#ifndef TN_ABI_OLDEST_HOST
#define TN_ABI_OLDEST_HOST 14u
#endif
/* The minor that the plugin is built for and states (<tenon/types.h>).  With a lower one than this
 * header's it cannot use, unguarded, what a host of that minor lacks. */
#ifndef TN_ABI_TARGET
#define TN_ABI_TARGET TN_ABI_MINOR
#elif TN_ABI_TARGET > TN_ABI_MINOR
#error "TN_ABI_TARGET is a later minor than this header's"
#elif TN_ABI_MAJOR == 0 && TN_ABI_TARGET != TN_ABI_MINOR
#error "TN_ABI_TARGET: before 1.0 a plugin can be built for the header's own minor only"
#endif

#define TN_BACKEND_MAGIC 0x4e4f4e54u /* "TNON" */
#define TN_BACKEND_SYMBOL "tenon_backend"
#define TN_BACKEND_NOTE_OWNER "Tenon"
#define TN_BACKEND_NOTE_TYPE 1u

/* ---- Calls and operands ----------------------------------------------------------------------*/

enum {
	/* Answer whether the call is supported, and its workspace; touch nothing. */
	TN_DRY_RUN = 1u << 0,
	/* Upload, download: may return before the host memory is free or filled. */
	TN_ASYNC = 1u << 1,
	/* The same bits from run to run; TN_UNSUPPORTED if that cannot be guaranteed. */
	TN_DETERMINISTIC = 1u << 2,
	/* Gradients: add to the output instead of writing it. */
	TN_ACCUMULATE = 1u << 3,
	TN_CALL_FLAG_UNASSIGNED = 1u << 23, /* no flag will be this bit: for tests */
};
#define TN_CALL_FLAGS_VENDOR 0xff000000u /* of vendors, which the host does not set */

/* Hints, a bit for each operand of a call: operands have the numbers from 0 in the order of the
 * struct, used or not, those in an array one by one; from 32 on they have no hints.  A callee may
 * ignore all of them, and ignores bits of operands that there are not.
 *   constant   the elements stay as they are until other work writes to them, or their buffer is
 *              freed: a copy in another layout that is made once serves later calls.  The host says
 *              it of weights and bias of convolutions and linear layers in frozen networks.
 *   last use   nothing reads the elements after this call: they need not be kept, nor, by a callee
 *              that works later than it is called, ever be stored.  The host says it of the
 *              copies in f32 that it makes of narrow operands. */
#define TN_HINT_CONSTANT(operand) (UINT64_C(1) << (operand))
#define TN_HINT_LAST_USE(operand) (UINT64_C(1) << (32 + (operand)))

/* Scratch memory, allocated by the host on the same device.  A dry run writes `minimum` and
 * `preferred`; a call finds `size` bytes at {buffer, offset}, aligned to 256.  The host makes a dry
 * run before convolutions, norms, sorts and scans; it may call other entries first, and make a dry
 * run when they refuse.  A call that is given less than its minimum, or no workspace, answers
 * TN_UNSUPPORTED. */
struct tn_workspace {
	uint32_t struct_size;
	uint32_t reserved;
	uint64_t buffer;
	uint64_t offset;
	uint64_t size;
	uint64_t minimum;
	uint64_t preferred;
};

/* The first member of every call's arguments.  `struct_size` is that of the whole struct. */
struct tn_call {
	uint32_t struct_size;
	uint32_t flags;
	void *stream;                   /* NULL: the device's ordinary in-order stream */
	struct tn_error_info *error;    /* may be NULL */
	struct tn_workspace *workspace; /* NULL: none; a call that needs some: TN_UNSUPPORTED */
	uint64_t hints;                 /* TN_HINT_...; 0: nothing is known */
};

/* A view of a buffer.  Element (i0, i1, ...) is at byte
 *     offset + (i0 * strides[0] + i1 * strides[1] + ...) * size of dtype
 * from the buffer's start, where offset is a multiple of that size.  For host memory the buffer
 * handle is the address.  Input strides may be 0 or negative.  Inputs may overlap each other.  An
 * output addresses each element once and shares no byte with another output, nor with an input, but
 * for one case: where an entry says so, it may be the exact view of an input, that is, equal to it
 * in every member.  Memory before the first and after the last element is not read, unless it is of
 * a buffer that the entry's backend allocated: imported memory, and any address of host memory, may
 * end there.  Entries beyond rank are unspecified.  No axis has length 0: the host handles empty
 * arrays itself. */
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
	uint32_t on_device; /* 0: bits hold the value; 1: it is at {buffer, offset} */
	uint64_t bits;      /* the value's bit pattern, in the low bytes */
	uint64_t buffer;
	uint64_t offset;
};

/* ---- Element programs ------------------------------------------------------------------------
 *
 * A program is a straight-line sequence of typed instructions.  Instruction i computes value i and
 * refers to earlier values by number in a, b, c.  tenon-program(7) is normative for every opcode.
 * A backend keeps no pointer to a program past the call.
 *
 * Programs compute in TN_BOOL, TN_I32, TN_U32, TN_I64, TN_F32 and, where claimed, TN_F64.  An input
 * or a scalar is converted to its instruction's dtype when loaded, an output from its value's dtype
 * to the operand's when stored, both by the rules of the cast.
 */
#define TN_PROGRAM_MAX_INSTRUCTIONS 256
#define TN_PROGRAM_MAX_CONSTANTS 64
#define TN_PROGRAM_MAX_SCALARS 16
#define TN_PROGRAM_MAX_INPUTS 16
#define TN_PROGRAM_MAX_OUTPUTS 8

enum {
	/* Sources.  `a` is a number, not a value. */
	TN_OP_INPUT = 1,    /* input a */
	TN_OP_SCALAR = 2,   /* scalar a */
	TN_OP_CONSTANT = 3, /* constant a, its bits in the low bytes */
	/* i64: the index along axis a of the inputs, in an epilogue of the kept axes; the host then
	 * keeps all axes as they are. */
	TN_OP_INDEX = 4,
	TN_OP_ELEMENT = 5, /* i64: the row-major number of the element in that same shape */

	/* Arithmetic: a and b have the result's dtype, which is not TN_BOOL; FMA and POW to TRUNC
	 * take floating types only. */
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
	/* a * b, rounded (floating).  A TN_OP_MUL may be rounded once together with the sum that
	 * alone uses it, as TN_OP_FMA is; this one is never contracted */
	TN_OP_MUL_ROUNDED = 34,

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
	TN_OP_SHL = 100, /* a << b, both of the result's dtype; b is taken modulo its width */
	TN_OP_SHR = 101, /* a >> b, likewise; arithmetic for signed types */

	/* Choice and conversion. */
	TN_OP_SELECT = 112, /* a ? b : c, a is TN_BOOL */
	TN_OP_CAST = 113, /* a to the result's dtype; floating to integer saturates, NaN gives 0 */
	TN_OP_BITCAST = 114, /* between 4-byte types */

	/* Random numbers, the same bits on every backend. */
	/* u32: word c mod 4 of Philox4x32-10, counter {c / 4, b}, key a; a, b, c i64, taken as
	 * unsigned, each as two words with the low one first */
	TN_OP_RANDOM = 128,
	/* f32: the standard normal quantile of the u32 word a, by a table that print_prelude
	 * prints, the interpreter has, and normal_table gives */
	TN_OP_NORMAL = 129,

	TN_OP_COUNT = 130,
	TN_OP_UNASSIGNED = 0x7fff, /* no opcode will have this number: for tests */
	TN_OP_VENDOR = 0x8000,
};

struct tn_instruction {
	uint16_t op;
	uint16_t dtype; /* of the value that it computes */
	uint16_t a, b, c;
	uint16_t reserved;
};

/* `bytes` is the canonical form {counts, constants, outputs, instructions}; two programs are the
 * same when their bytes are, and `hash` is computed from them.  The other pointers point into
 * it. */
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

/* What device_count found.  With no device, `status` is the reason (TN_NO_DEVICE, TN_NO_DRIVER,
 * ...). */
struct tn_device_count {
	uint32_t struct_size;
	uint32_t count;
	tn_status status;
	uint32_t reserved;
	char text[256];
};

struct tn_open_args {
	struct tn_call call;
	uint32_t index;
	uint32_t reserved;
	/* The vendor's handle of a context or device of others, on which the backend opens the
	 * device; it is borrowed, and outlives that.  0: the backend makes its own.  It may refuse
	 * all others, and does so without tenon.native/1: TN_UNSUPPORTED. */
	uint64_t native;
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

	/* Counts the devices.  0 is a valid answer with its reason in `out`.  Cheap (under 50 ms),
	 * creates no context, takes no device memory, leaves fork possible.  [instance] */
	tn_status (*device_count)(void *instance, struct tn_device_count *out);

	/* Fills `out` for device `index`.  TN_INVALID_ARGUMENT: no such device.  After any other
	 * failure `note` states the reason.  Called again after each `open`, when all is known:
	 * name, note, kind, memory, score and what it says of results may be others then, an
	 * identity may have come, and there may be more dtypes and kinds of memory, but not fewer;
	 * flags, alignment and DLPack type are the same.  Who is not sure of an identity states
	 * none before, so that no device is selected by it; a changed one makes opening fail. 
	 * [instance] */
	tn_status (*describe)(void *instance, uint32_t index, struct tn_device_description *out);

	/* Opens device args->index and gives its handle.  [instance] */
	tn_status (*open)(void *instance, const struct tn_open_args *args, void **device);

	/* Waits for the device's work and closes it.  The host has freed its buffers.  It calls
	 * `free` and `close` on a lost device too.  [device] */
	void (*close)(void *device);

	/* Gives a handle to `size` > 0 bytes, which work of any stream may use at once; call.stream
	 * is NULL, for `free` too.  0 is never a handle.  TN_OUT_OF_MEMORY is recoverable.
	 * The host may advise the kernel about pages of memory whose handle is its address
	 * (TN_DEVICE_HOST_MEMORY): madvise, with advice that keeps the contents.  [device] */
	tn_status (*alloc)(void *device, const struct tn_alloc_args *args, uint64_t *buffer);

	/* Frees the buffer.  The host frees only buffers whose work is done.  [device] */
	tn_status (*free)(void *device, const struct tn_free_args *args);

	/* Copies `size` > 0 bytes from host memory, in stream order; without TN_ASYNC it returns
	 * when the source may be reused.  [device] */
	tn_status (*upload)(void *device, const struct tn_transfer_args *args);

	/* Copies `size` > 0 bytes to host memory, in stream order; without TN_ASYNC it returns when
	 * the data has arrived.  [device] */
	tn_status (*download)(void *device, const struct tn_transfer_args *args);

	/* Waits for all work of call.stream and answers its first asynchronous error.  [device] */
	tn_status (*sync)(void *device, const struct tn_sync_args *args);

	/* Fetches and clears the first asynchronous error of `stream` without waiting; TN_OK: none.
	 * `out` names the operation that failed.  The host calls it before an upload or a peer
	 * copy, and after a download; an error that another entry has answered is not fetched
	 * again.  Optional on a device that is TN_DEVICE_SYNCHRONOUS.  [device] */
	tn_status (*async_error)(void *device, void *stream, struct tn_error_info *out);
};

/* ---- Table "tenon.compute/1": mandatory ------------------------------------------------------*/

enum {
	TN_REDUCE_SUM = 1,
	TN_REDUCE_PRODUCT = 2,
	TN_REDUCE_MAX = 3, /* NaN if any element is NaN */
	TN_REDUCE_MIN = 4,
	TN_REDUCE_ARGMAX =
		5, /* i64: row-major number within the reduced axes; the first NaN wins, */
	TN_REDUCE_ARGMIN = 6, /*      else the lowest number of equals */
};

/* outputs[j][i] := program(inputs[0][i], ..., scalars) for every index i.  All operands have the
 * same rank and shape (inputs are broadcast by stride 0), else TN_SHAPE.  An output may be the
 * exact view of an input. */
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
 * row-major number; n_reduced may be 0.  Outputs and epilogue inputs have the kept axes only.  The
 * prologue has n_values outputs; without an epilogue outputs[v] := acc[v].  Accumulators: f32 for
 * f32, f64 for f64, i64 for integers and bool (u32 and u64 by wrap), i64 for the index; one for f32
 * or f64 may be wider.  R39 of tenon-backend(7) bounds the error of sums.  An output may be the
 * exact view of an epilogue input. */
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

/* Device memory with weights in the backend's own layout; size 0: none. */
struct tn_packed {
	uint64_t buffer;
	uint64_t offset;
	uint64_t size;
};

/* C[..., i, j] := alpha sum_k A[..., i, k] B[..., k, j] + beta C[..., i, j]
 * Rank 2 to 6: up to 4 batch axes of equal shape (stride 0 legal on A and B).  Each inner matrix
 * has a stride of 1 along one of its two axes, and the other stride is at least that axis's length
 * (or the length is 1).  TN_SHAPE: ranks or lengths do not match.  beta = 0 never reads C; alpha =
 * 0 may leave A and B unread.  f16 and bf16 accumulate in f32.  With has_bias or an activation the
 * result is
 *     C[..., i, j] := activation(alpha sum_k A B + beta C + bias[j])
 * A backend without such an epilogue answers TN_UNSUPPORTED, and the host does it in two steps, as
 * a backend may: f16 and bf16 are then rounded before the bias too.
 *
 * A, B, C and bias have one dtype, or C and bias have a wider one than A and B:
 *     A and B of f16, or both of bf16, C of f32: no sum is rounded to 16 bits;
 *     A of i8 or u8, B of i8, C of i32: the result modulo 2^32, alpha and beta being whole numbers,
 *     without activation or scales;
 *     A of i8 or u8, B of i8, C of f32: the sum over k is exact, or modulo 2^32 in an i32, and the
 *     rest is computed in f32.
 * With scales, of f32 and for a C of f32, the sum over k is multiplied by a_scale[i] b_scale[j]
 * too; one for the whole of A or B has stride 0.  All matrices of a batch share them.  Any other
 * combination is TN_UNSUPPORTED, and so may be every product whose dtypes differ or that has
 * scales: a dry run says which a backend computes.  The host makes none of them itself yet.
 *
 * Prepack (an optional slot) converts B to the layout that matmul reads fastest, for calls whose b
 * is equal in all members but the handle, and whose a and c have the same dtypes, whatever their
 * shapes, strides and the rest: a dry run writes to *size the bytes that it takes (0: packing has
 * no benefit), a call writes args->packed, which has at least as many, aligned to 256.  matmul
 * given `packed` may read it in place of b; the host discards it when b changes.  The host packs
 * the weights of linear layers in frozen networks. */
struct tn_matmul_args {
	struct tn_call call;
	struct tn_operand a;
	struct tn_operand b;
	struct tn_operand c;
	double alpha;
	double beta;
	struct tn_operand bias; /* of N elements; used when has_bias is 1 */
	uint32_t has_bias;
	uint32_t activation;              /* TN_ACTIVATION_... */
	const struct tn_operand *a_scale; /* of M elements; NULL: none */
	const struct tn_operand *b_scale; /* of N elements; NULL: none */
	struct tn_packed packed;          /* b as matmul_prepack made it */
};

struct tn_compute_table {
	uint32_t struct_size;
	uint32_t reserved;
	tn_status (*map)(void *device, const struct tn_map_args *args);       /* [device] */
	tn_status (*reduce)(void *device, const struct tn_reduce_args *args); /* [device] */
	tn_status (*matmul)(void *device, const struct tn_matmul_args *args); /* [device] */
	/* Optional; if absent, factors are not packed.  [device] */
	tn_status (*matmul_prepack)(void *device, const struct tn_matmul_args *args,
				    uint64_t *size);
};

/* ---- Table "tenon.copy/1": optional; composed unless said otherwise --------------------------*/

/* output[i] := value, for every i. */
struct tn_fill_args {
	struct tn_call call;
	struct tn_operand output;
	struct tn_scalar value; /* of the output's dtype, by value or (c128: only) on the device */
};

/* output[i] := input[i]; shapes and dtypes are equal; bits are kept. */
struct tn_copy_args {
	struct tn_call call;
	struct tn_operand input;
	struct tn_operand output;
};

/* Gather:       output[i, j, k] := input[i, indices[j], k]
 * Scatter-add:  output[i, indices[j], k] += input[i, j, k], equal indices adding up
 * with i over the axes before `axis`, k over those after.  indices is i32 or i64, of rank 1;
 * negative ones count from the end.  An index out of range reads as zero (gather) or adds nothing
 * (scatter-add), and is no error of the entry: the host reports it.  TN_SHAPE: shapes, axis or the
 * number of indices do not match.
 *
 * Input and output have one dtype, but a scatter-add of f16 or bf16 may also be given an output of
 * f32, in which totals are kept without rounding each of them: so the host adds up gradients.
 * TN_UNSUPPORTED: the entry does not add this dtype, or not to f32.
 *
 * Scatter:      output[i, indices[j], k] := output[i, indices[j], k] combined with input[i, j, k]
 * by `mode`.  TN_SCATTER_SET overwrites, for every dtype, and keeps bits; of equal indices one sets
 * the element, unspecified which.  The others combine all of them, for integer and floating dtypes:
 * integers wrap, max and min are NaN if either is, and f16 and bf16 are combined in f32 and rounded
 * each time or once.  Input and output have one dtype; indices are as above.  TN_UNSUPPORTED: an
 * unknown mode, or a dtype that the entry does not combine.  Without it the host composes them. */
enum {
	TN_SCATTER_SET = 1,
	TN_SCATTER_ADD = 2,
	TN_SCATTER_MULTIPLY = 3,
	TN_SCATTER_MAX = 4,
	TN_SCATTER_MIN = 5,
};

struct tn_gather_args {
	struct tn_call call;
	struct tn_operand input;
	struct tn_operand indices;
	struct tn_operand output;
	uint32_t axis;
	uint32_t mode; /* scatter: TN_SCATTER_...; else 0, and not read */
};

struct tn_copy_table {
	uint32_t struct_size;
	uint32_t reserved;
	tn_status (*fill)(void *device, const struct tn_fill_args *args);     /* [device] */
	tn_status (*copy)(void *device, const struct tn_copy_args *args);     /* [device] */
	tn_status (*gather)(void *device, const struct tn_gather_args *args); /* [device], host */
	tn_status (*scatter_add)(void *device,
				 const struct tn_gather_args *args);           /* [device], host */
	tn_status (*scatter)(void *device, const struct tn_gather_args *args); /* [device], host */
};

/* ---- Table "tenon.memory/1": optional; absent ------------------------------------------------*/

struct tn_memory_table {
	uint32_t struct_size;
	uint32_t reserved;
	/* The device's memory of that kind: total and free.  [device] */
	tn_status (*information)(void *device, uint32_t memory_kind,
				 struct tn_memory_information *out);
};

/* ---- Table "tenon.report/1": optional; absent ------------------------------------------------
 *
 * Facts about an open device beyond its description, for people to read: versions of driver,
 * runtime and libraries, and values that change while it works (clocks, temperature, power).
 */
/* The most lines that a device may report. */
#define TN_REPORT_MOST_LINES 64

struct tn_report_table {
	uint32_t struct_size;
	uint32_t reserved;
	/* Fills `out` with the current state of line `index`, counted from 0.  TN_NOT_FOUND: there
	 * are no more lines; `out` is unchanged.  While the device is open a line keeps its key;
	 * one that cannot be read at the moment has the text "unknown".  At most
	 * TN_REPORT_MOST_LINES lines, all of them together in under 50 ms; never waits for work of
	 * the device.  [device] */
	tn_status (*line)(void *device, uint32_t index, struct tn_report_line *out);
};

/* ---- Table "tenon.stream/1": optional; absent ------------------------------------------------
 *
 * Streams of work, each in order, and events that mark a place in a stream.  Only events order work
 * of different streams; the NULL stream is one more such stream.  A plugin that has one of the
 * slots that 1.0 has here has all of these.  A device that is TN_DEVICE_SYNCHRONOUS needs none: it
 * has only one stream, and the host does not call these slots.
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

	/* Creates a stream, which is never NULL.  [device] */
	tn_status (*stream_create)(void *device, const struct tn_stream_args *args, void **stream);

	/* Waits for the stream's work, then destroys it, whatever became of the work.  An
	 * asynchronous error that has not been fetched is answered here or dropped: the host calls
	 * sync before.  TN_INVALID_ARGUMENT: the NULL stream.  [device] */
	tn_status (*stream_destroy)(void *device, const struct tn_stream_args *args);

	/* Creates an event, which counts as reached until it is recorded.  [device] */
	tn_status (*event_create)(void *device, const struct tn_event_args *args, void **event);

	/* Destroys it; streams that wait for it still wait for the place it marked.  [device] */
	tn_status (*event_destroy)(void *device, const struct tn_event_args *args);

	/* Marks the end of the work given to call.stream so far; recorded again, it marks only the
	 * new place.  [device] */
	tn_status (*event_record)(void *device, const struct tn_event_args *args);

	/* Work given to call.stream from now on waits until the event is reached, as it was
	 * recorded when this was called.  Returns at once.  [device] */
	tn_status (*event_wait)(void *device, const struct tn_event_args *args);

	/* Waits, on the host, until the event is reached, then fetches and answers the first
	 * asynchronous error of the stream that it was recorded in.  An event whose stream has been
	 * destroyed is reached, and has no error to answer.  [device] */
	tn_status (*event_sync)(void *device, const struct tn_event_args *args);

	/* *reached := 1 or 0, without waiting.  Asked repeatedly it becomes 1 without any other
	 * call: a lazy queue starts its work here at the latest.  [device] */
	tn_status (*event_query)(void *device, const struct tn_event_args *args, uint32_t *reached);

	/* The time from one event to another, in seconds.  TN_INVALID_ARGUMENT: one was not
	 * recorded, or is not reached.  [device] */
	tn_status (*event_elapsed)(void *device, const struct tn_elapsed_args *args,
				   double *seconds);
};

/* ---- Table "tenon.compile/1": optional; absent -----------------------------------------------
 *
 * Kernels that a program brings as source, in the device's own language.  The host examines neither
 * the source nor what a kernel does: it passes arrays and values on, in order.  A plugin that has
 * one of the slots that 1.0 has here has all of these.
 */

/* The compiler's messages.  The callee writes them to `text`, truncated to fit and NUL-terminated,
 * and their full size in bytes, without the NUL, to `length`. */
struct tn_compile_log {
	uint32_t struct_size;
	uint32_t reserved;
	char *text;    /* room for `size` bytes; NULL: none */
	uint64_t size; /* capacity of `text`, the NUL included */
	uint64_t length;
};

struct tn_compile_args {
	struct tn_call call;
	const char *format; /* the language: "cuda-c", or a vendor's own in reverse DNS */
	const char *source;
	const char *name;           /* of the kernel in the source */
	const char *options;        /* for the compiler, with blanks between them; NULL: none */
	struct tn_compile_log *log; /* may be NULL */
	/* The bytes of `source`, which may then be binary, and need not end with a NUL; 0: a text
	 * that does. */
	uint64_t source_size;
};

/* One argument of a kernel: the address of {buffer, offset} on the device, or `size` bytes by
 * value. */
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
	 * source compiles and when it does not.  TN_UNSUPPORTED: unknown language.  TN_FORMAT: the
	 * source does not compile; the error has the compiler's first message.  TN_NOT_FOUND: the
	 * source has no kernel of that name.  [device] */
	tn_status (*compile)(void *device, const struct tn_compile_args *args, void **kernel);

	/* Starts it in call.stream.  TN_INVALID_ARGUMENT: number or sizes of the arguments differ
	 * from the kernel's, or grid or block is 0, or grid, block or shared memory exceeds the
	 * device's limit.  An error of the kernel's work has the kernel's name as `operation`.
	 * [device] */
	tn_status (*launch)(void *device, const struct tn_launch_args *args);

	/* Releases it.  The host releases only kernels whose work is done.  [device] */
	tn_status (*kernel_release)(void *device, const struct tn_kernel_args *args);
};

/* ---- Table "tenon.capture/1": optional; absent -----------------------------------------------
 *
 * Work that is recorded instead of done, and then done any number of times with one call.  The host
 * keeps the buffers and kernels that the work uses until the graph is released.  A plugin that has
 * one of the slots that 1.0 has here has all of these.
 *
 * While a stream is captured, work that is given to it is not done.  An entry that would wait for
 * it (sync, event_sync, a transfer without TN_ASYNC) answers TN_NOT_CAPTURABLE, and the capture
 * goes on.  alloc and free, which otherwise are not captured, and event_record and event_wait may
 * answer TN_NOT_CAPTURABLE too.
 */
struct tn_graph_args {
	struct tn_call call;
	void *graph; /* launch, release */
};

struct tn_capture_table {
	uint32_t struct_size;
	uint32_t reserved;

	/* Starts recording the work of call.stream.  TN_STATE: it is being captured already, or
	 * another stream of a device that captures one at a time.  [device] */
	tn_status (*capture_begin)(void *device, const struct tn_graph_args *args);

	/* Ends the capture and gives the graph, which is never NULL and may be empty.  Operands and
	 * scalars on the device are read when it runs; scalars by value were read at capture.
	 * TN_NOT_CAPTURABLE: something could not be recorded; none of the work is done.  TN_STATE:
	 * call.stream is not being captured.  [device] */
	tn_status (*capture_end)(void *device, const struct tn_graph_args *args, void **graph);

	/* Does the work, in call.stream.  [device] */
	tn_status (*graph_launch)(void *device, const struct tn_graph_args *args);

	/* Releases it.  The host releases only graphs whose work is done.  [device] */
	tn_status (*graph_release)(void *device, const struct tn_graph_args *args);
};

/* ---- Table "tenon.peer/1": optional; absent --------------------------------------------------
 *
 * Copies from one device of an instance to another, not staged through the host.  Without the
 * table, and for devices that cannot reach each other, the host downloads and uploads the bytes.
 */
struct tn_peer_args {
	struct tn_call call; /* of the destination device */
	void *peer;          /* the source: another open device of the same instance */
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

	/* Copies `size` bytes of the peer's buffer; may return before the copy is done.  The copy
	 * is ordered in both streams: after all work that either was given before, and before all
	 * work that either is given later.  If work of peer_stream has failed, and the error has
	 * not been fetched yet, the copy fails too, as work of call.stream: TN_BACKEND_FAILURE.
	 * TN_UNSUPPORTED, also from a dry run: the two cannot reach each other, or the peer is
	 * lost.  TN_NOT_CAPTURABLE: one of the streams is being captured.  [device], of both */
	tn_status (*peer_copy)(void *device, const struct tn_peer_args *args);
};

/* ---- Table "tenon.import/1": optional; absent ------------------------------------------------
 *
 * Memory of this device that others allocated, and the way back: a buffer as the vendor's interface
 * names it (a pointer of CUDA, a cl_mem).  The memory is neither copied nor owned.  A plugin that
 * has one of the slots that 1.0 has here has all of these.  They take no flags, and do not wait.  A
 * device that is TN_DEVICE_TAKES_ANY_ADDRESS needs none: the address is the handle.
 */
struct tn_import_args {
	struct tn_call call;
	uint64_t pointer; /* as the vendor's interface names the memory, aligned as its elements */
	uint64_t size;    /* in bytes, more than 0 */
};

struct tn_export_args {
	struct tn_call call;
	uint64_t buffer;
};

struct tn_import_table {
	uint32_t struct_size;
	uint32_t reserved;

	/* Gives a handle to the memory, which every entry but `free` then takes like one of alloc.
	 * The memory outlives the handle.  TN_INVALID_ARGUMENT: as far as the vendor's interface
	 * can say, it is not memory that this device can use.  [device] */
	tn_status (*import_memory)(void *device, const struct tn_import_args *args,
				   uint64_t *buffer);

	/* Ends the handle, and leaves the memory as it is.  The host releases only handles whose
	 * work is done.  TN_INVALID_ARGUMENT: it is not imported.  [device] */
	tn_status (*import_release)(void *device, const struct tn_free_args *args);

	/* *pointer := the vendor's name of a buffer from alloc or import_memory; import_memory
	 * takes it.  [device] */
	tn_status (*export_memory)(void *device, const struct tn_export_args *args,
				   uint64_t *pointer);
};

/* ---- Table "tenon.native/1": optional; absent ------------------------------------------------
 *
 * Streams of others as streams of this device, and its own for others, under the vendor's handles
 * (a cudaStream_t, a cl_command_queue).  Work that others give to the same native stream and work
 * that the host gives to the handle are one sequence, in the order in which they were given.  What
 * is imported is borrowed: it outlives its handle, and nothing here destroys or waits for it; what
 * is exported stays the backend's.  A plugin that has one of the slots that 1.0 has here has all of
 * these, and all of tenon.stream/1.  They take no flags, and do not wait.  While a stream is
 * captured, stream_import and stream_release may answer TN_NOT_CAPTURABLE; work of others in a
 * captured native stream follows the vendor's rules.  Others may call the vendor's interface for
 * these streams from any thread, at the same time as entries run.
 */
struct tn_native_args {
	struct tn_call call;
	uint64_t native; /* stream_import: the vendor's handle of a stream */
};

struct tn_native_table {
	uint32_t struct_size;
	uint32_t reserved;

	/* *native := the vendor's handle of the open device, or of the context that it uses there;
	 * borrowed, valid until close.  [device] */
	tn_status (*device_export)(void *device, const struct tn_native_args *args,
				   uint64_t *native);

	/* Gives a handle to the stream, never NULL and no other stream's, which every entry then
	 * takes like one of stream_create, but for stream_destroy: TN_INVALID_ARGUMENT.  The same
	 * stream may be imported more than once.
	 * TN_INVALID_ARGUMENT: native is 0, or, as far as the vendor's interface can say, it is not
	 * a stream of this device.  [device] */
	tn_status (*stream_import)(void *device, const struct tn_native_args *args, void **stream);

	/* Ends the handle, and leaves the stream as it is: work that was given to it goes on.  An
	 * asynchronous error that has not been fetched may be dropped.  TN_INVALID_ARGUMENT:
	 * call.stream is not imported.  [device] */
	tn_status (*stream_release)(void *device, const struct tn_stream_args *args);

	/* *native := the vendor's handle of call.stream, the NULL stream included; stream_import
	 * takes it.  Borrowed, valid while the stream is.  [device] */
	tn_status (*stream_export)(void *device, const struct tn_stream_args *args,
				   uint64_t *native);
};

/* ---- Table "tenon.sort/1": optional; host ----------------------------------------------------
 *
 * Along `axis`, for each line (all other indices fixed) of x = input, with n elements:
 *
 *     values[j]  := x[p(j)],   indices[j] := p(j),   for j < k
 *
 * where p is the permutation that sorts the line.  The sort is stable: equal elements keep their
 * order, ascending and descending alike.  -0 equals 0.  A NaN is greater than any number, last when
 * ascending and first when descending, and equals every NaN.  Booleans are 0 and 1.
 *
 * Inputs are of bool, any integer or floating dtype.  values has the input's dtype, and keeps bits;
 * indices is i64.  Both have the input's shape except along the axis, where they have k elements,
 * 1 <= k <= n: the first k in that order.  Outputs share no byte with the input or with each other.
 * TN_SHAPE: shapes or axis do not match.  TN_DTYPE: values or indices have another dtype.
 * TN_INVALID_ARGUMENT: neither is requested, or a flag is not 0 or 1. */
struct tn_sort_args {
	struct tn_call call;
	struct tn_operand input;
	struct tn_operand values;  /* used when has_values is 1 */
	struct tn_operand indices; /* used when has_indices is 1 */
	uint32_t axis;
	uint32_t descending; /* 0 or 1, as the two below, of which at least one is 1 */
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
 * combiner is TN_REDUCE_SUM, PRODUCT, MAX or MIN.  Its value over no elements, the first output of
 * an exclusive scan, is 0, 1, -inf (integers and bool: the smallest of the input's dtype) or +inf
 * (the largest).
 *
 * Elements are converted to the accumulator's dtype, combined there or in a wider one, and
 * converted to the output's, by the rules of the cast.  The accumulator is f32 for f16, bf16 and
 * f32; f64 for f64; u64 for u64; i64 for bool and the other integers, where sums and products wrap;
 * the output has its dtype or the input's.  From the first NaN on max and min are NaN; the sign of
 * a zero that they return is unspecified.
 *
 * The order of combining is unspecified, but depends on the arguments alone: the same call gives
 * the same bits, whatever the number of threads or multiprocessors.  No element passes through more
 * than 2048 + n / 1024 combinations on its way to an output, so with u half a unit in the last
 * place of 1 in the accumulator's dtype a sum is off by at most (2048 + n / 1024) u sum |x[i]|, and
 * then rounded to the output's dtype.  Partial products (or sums) may over- or underflow where the
 * whole does not.  The output may be the exact view of the input.
 * TN_SHAPE: shapes or axis do not match.  TN_UNSUPPORTED: another combiner, accumulator or output
 * dtype.  TN_INVALID_ARGUMENT: a flag is not 0 or 1. */
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

/* ---- Table "tenon.linalg/1": optional; host ---------------------------------------------------
 *
 * Factorisations of `batch` matrices in one call, in place, as LAPACK and cuSOLVER have them.
 * Matrices are operands of rank 3, (batch, rows, columns), and column-major: the stride of the rows
 * is 1, that of the columns, the leading dimension, at least the number of rows (an axis of length
 * 1 may have any stride).  values, pivots, permutation and info are compact, (batch, k) and
 * (batch).  An operand that an entry does not use, and an output that is not wanted, has dtype 0.
 *
 * One dtype, f32, f64, c64 or c128, is that of a, b, u and v; that of `values` is real, or complex
 * in eig; pivots, permutation and info are i32.  ^H is the conjugate transpose.  k = min(m, n).
 *
 *   cholesky          a (n, n), Hermitian, of which only the lower triangle is read, := L with
 *                     zeros above its diagonal;  L L^H = a.  info: the order of the first leading
 *                     minor that is not positive
 *   lu                a (m, n) := L (unit diagonal, which is not stored) and U;  with partial
 *                     pivoting P a = L U, where pivots[i] >= i is the row that was exchanged with
 *                     row i in step i, and row i of P a is row permutation[i] of a.  info: the
 *                     place, from 1, of the first 0 on U's diagonal; L and U are complete all the
 *                     same
 *   solve             b (n, r) := a^-1 b, by lu; a (n, n) is left as lu leaves it.  info as of lu;
 *                     b is unspecified then
 *   solve_triangular  b (n, r) := op(a)^-1 b, where a (n, n) is lower triangular, or upper with
 *                     `upper`; with `unit` ones are on its diagonal, which is not read; op is that
 *                     of `transpose`.  info: the place, from 1, of the first 0 on the diagonal; b
 *                     is unspecified then
 *   qr                a (m, n) := R in and above the diagonal, unspecified below it;  u (m, m) or
 *                     (m, k) := orthonormal columns, u R = a.  R has a real diagonal
 *   eigh              a (n, n), Hermitian, of which only the lower triangle is read;  values (n)
 *                     rise.  With `vectors` a := the orthonormal vectors, as columns; without it a
 *                     is unspecified afterwards
 *   svd               a (m, n) = u diag(values) v, values (k) not negative, falling;  u (m, k) and
 *                     v (k, n), or u (m, m) and v (n, n), orthonormal; both or none; a is
 *                     unspecified afterwards
 *   eig               a (n, n) has the eigenvalues `values` (n), complex, in any order, and with
 *                     `vectors` the vectors v (n, n), complex, as columns of length 1; a is
 *                     unspecified afterwards
 *
 * info[i] of a matrix is 0 if it succeeded, above 0 as said, or in eigh, svd and eig where the
 * iteration did not converge; -1 in these three where an element that is read is not finite, which
 * an entry finds out before it begins: every call returns.  Outputs of a matrix with another info
 * than 0 are unspecified where nothing else is said; other matrices are not affected.  In the other
 * entries infinities and NaN spread as the formulas have it, and a pivot that is NaN is not
 * positive.
 *
 * With u half a unit in the last place of 1 and norms of Frobenius, ||P a - L U||, ||a - L L^H||,
 * ||a - u R||, ||a - u diag(values) v||, ||a - V diag(values) V^H|| and ||a V - V diag(values)||
 * are at most 20 max(m, n) u ||a|| (lu and solve: times the growth of the pivots), and
 * ||V^H V - I|| of orthonormal columns at most 20 max(m, n) u.  Products of subnormal numbers add
 * 4 max(m, n)^2 times the smallest one.  eig may balance a first, as LAPACK's xGEEV does, by an
 * exchange of axes and a diagonal D: its bound is for D^-1 a D then, and for the vectors D^-1 V
 * brought to length 1.  Signs and phases of vectors are unspecified.
 *
 * TN_SHAPE: shapes do not match.  TN_UNSUPPORTED: another dtype, layout or combination of outputs,
 * as of u without v in svd, and of `vectors` without v, or v without it, in eig; or a library that
 * the backend needs for it is missing.  TN_LIMIT: a length, or the workspace, is more than the
 * library's integers count.  TN_INVALID_ARGUMENT: a flag is not 0 or 1, or there is no such
 * transpose. */
enum { TN_TRANSPOSE_NONE = 0, TN_TRANSPOSE = 1, TN_TRANSPOSE_CONJUGATE = 2 };

struct tn_linalg_args {
	struct tn_call call;
	struct tn_operand a; /* read and written; in solve_triangular read only */
	struct tn_operand b; /* read and written */
	struct tn_operand u; /* written, like all that follow */
	struct tn_operand v;
	struct tn_operand values;
	struct tn_operand pivots;
	struct tn_operand permutation;
	struct tn_operand info;
	uint32_t upper;     /* solve_triangular: 0 or 1 */
	uint32_t unit;      /* solve_triangular: 0 or 1 */
	uint32_t transpose; /* solve_triangular: TN_TRANSPOSE_... */
	uint32_t vectors;   /* eigh, eig: 0 or 1 */
};

/* Every entry is [device]; each may be NULL. */
struct tn_linalg_table {
	uint32_t struct_size;
	uint32_t reserved;
	tn_status (*cholesky)(void *device, const struct tn_linalg_args *args);
	tn_status (*lu)(void *device, const struct tn_linalg_args *args);
	tn_status (*solve)(void *device, const struct tn_linalg_args *args);
	tn_status (*solve_triangular)(void *device, const struct tn_linalg_args *args);
	tn_status (*qr)(void *device, const struct tn_linalg_args *args);
	tn_status (*eigh)(void *device, const struct tn_linalg_args *args);
	tn_status (*svd)(void *device, const struct tn_linalg_args *args);
	tn_status (*eig)(void *device, const struct tn_linalg_args *args);
};

/* ---- Table "tenon.nn/1": optional; composed unless said otherwise ----------------------------
 *
 * Shapes are logical NCHW and OIHW, whatever the strides.  With TN_ACCUMULATE a gradient is added
 * to the contents of the output.
 */

/* With x = (N, C, H, W), w = (O, C / groups, R, S), y = (N, O, P, Q), C and O multiples of groups:
 *
 *   y[n,o,p,q] = bias[o] + sum over c,r,s of
 *       x[n, g C/groups + c, p stride0 + r dilation0 - pad_top, q stride1 + s dilation1 - pad_left]
 *       w[o,c,r,s],   g = o / (O / groups),   x read as 0 outside its plane.
 *
 *   P = (H + pad_top + pad_bottom - dilation0 (R - 1) - 1) / stride0 + 1, Q likewise.
 *
 * Forward reads x, w, bias and writes y.  Input gradient reads w, dy (in `y`) and writes dx (in
 * `x`).  Weight gradient reads x, dy (in `y`) and writes dw (in `w`).  TN_SHAPE: the shapes do not
 * match.
 *
 * Forward may add an epilogue:  y := activation(the sum + bias + residual).
 *
 * Prepack (an optional slot) converts w to the layout that forward reads fastest, for calls with
 * the same shapes, strides, window and flags: a dry run writes to *size the bytes that it takes (0:
 * packing has no benefit), a call writes args->packed, which has at least as many, aligned to 256.
 * Forward given `packed` may read it in place of w; the host discards it when w changes. */
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
 *   max:      y = the largest x of the window (a NaN wins), index = h W + w of its first
 *   occurrence;
 *             padding is never chosen;
 *   average:  y = sum over the window / (count_padding ? kernel0 kernel1 : cells inside the plane),
 *             where the sum, of f32 (f64 for f64), may overflow although y would not.
 * Window (p, q) begins at row p stride0 - pad_top, column q stride1 - pad_left, and
 *   P = (H + pad_top + pad_bottom - kernel0) / stride0 + 1, Q likewise.
 * Backward reads dy (in `y`) and, for max, index; it writes dx (in `x`): each dy is added at its
 * index (max), or in equal parts over its window (average). */
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
 * equal parts of an image's channels and all following axes:
 *
 *   y = (x - mean) rstd w + b,   rstd = 1 / sqrt(var + epsilon),   var = mean of (x - mean)^2
 *
 * w and b have C elements (used when has_affine is 1).  mean and rstd are f32 (f64 for f64), of C
 * elements (batch), one per row (layer) or N groups (group).  Forward with use_statistics 0 writes
 * mean and rstd, with 1 (batch norm at inference) reads them.  Backward reads x, mean, rstd, w and
 * dy (in `y`) and writes those that `wants` selects: dw = sum of dy (x - mean) rstd, db = sum of
 * dy, and, with g = dy w and means over the elements that share a mean:
 *
 *   dx = rstd (g - mean of g - (x - mean) rstd mean of (g (x - mean) rstd)),
 *   dx = rstd g   when use_statistics is 1: the statistics are constants.
 *
 * Forward may add an epilogue:  y := activation(y + residual).  Backward then uses, everywhere
 * above in place of dy, dresidual = dy activation'(result): dy where result > 0 (RELU; RELU6: and
 * below 6), else 0, and writes it where `wants` has bit 2.  TN_ACCUMULATE adds to dw and db
 * only. */
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
 *                backward      dx = y (dy - sum y dy)            (log: dx = dy - exp(y) sum dy)
 * A line with a NaN or +inf, or of -inf alone, is NaN; beside a number -inf gives 0 (log: -inf). */
struct tn_softmax_args {
	struct tn_call call;
	struct tn_operand x; /* forward only */
	struct tn_operand y;
	struct tn_operand dy; /* backward only, like dx */
	struct tn_operand dx;
	uint32_t axis;
	uint32_t logarithm;
};

/* x = (N, C) logits, labels = (N) i32, loss, maximum and log_sum = (N) f32 (f64 for f64):
 *   forward    maximum[n] = max_c x[n,c],   log_sum[n] = log sum_c exp(x[n,c] - maximum[n]),
 *              loss[n] = log_sum[n] - (x[n, label] - maximum[n])
 *   backward   dx[n,c] = (exp((x[n,c] - maximum[n]) - log_sum[n]) - (c == label)) dloss[n]
 * evaluated in this order: an offset that all logits of a row share, however large, costs neither
 * the loss nor the gradient any digits.  Of a row with a NaN or +inf, or of -inf alone, log_sum,
 * loss and gradient are NaN.
 * A row whose label is ignore_label has loss 0 and gradient 0; a label outside 0..C-1 otherwise
 * gives NaN for its row, and is no error of the entry: the host reports it. */
struct tn_cross_entropy_args {
	struct tn_call call;
	struct tn_operand x;
	struct tn_operand labels;
	struct tn_operand maximum; /* forward writes, backward reads, like log_sum */
	struct tn_operand log_sum;
	struct tn_operand loss; /* forward: loss; backward: dloss, stride 0 legal */
	struct tn_operand dx;   /* backward only */
	int32_t ignore_label;
	uint32_t reserved;
};

/* Scaled dot products, with q = (..., L, E), k = (..., S, E), v = (..., S, F), y = (..., L, F), up
 * to 4 axes before them, of equal shape (stride 0 legal on what is read: heads may share k and v),
 * and mask = (..., L, S), which has the dtype of the others:
 *
 *   s[i,j] = scale sum_e q[i,e] k[j,e] + mask[i,j];   with causal, -inf where j > i
 *   forward    maximum[i] = max_j s[i,j],   log_sum[i] = log sum_j exp(s[i,j] - maximum[i]),
 *              y[i,f] = sum_j p[i,j] v[j,f],   p[i,j] = exp((s[i,j] - maximum[i]) - log_sum[i])
 *   backward   dv[j,f] = sum_i p[i,j] dy[i,f]
 *              ds[i,j] = p[i,j] sum_f dy[i,f] (v[j,f] - y[i,f])
 *              dq[i,e] = scale sum_j ds[i,j] k[j,e],   dk[j,e] = scale sum_i ds[i,j] q[i,e]
 *
 * maximum and log_sum are f32 (f64 for f64), of shape (..., L); of a row with a NaN or +inf, or of
 * -inf alone, log_sum, y and gradients are NaN.  f16 and bf16 are computed in f32.  The backward
 * writes what `wants` selects, gradients of shared k and v one by one.  There is no dropout, and no
 * gradient of mask: what needs either is composed.  TN_SHAPE: the shapes do not match.  Both slots
 * are optional: without them, or where they refuse, the host composes attention. */
struct tn_attention_args {
	struct tn_call call;
	struct tn_operand q;
	struct tn_operand k;
	struct tn_operand v;
	struct tn_operand mask; /* used when has_mask is 1 */
	struct tn_operand y;    /* forward writes, backward reads, like the next two */
	struct tn_operand maximum;
	struct tn_operand log_sum;
	struct tn_operand dy; /* backward only, like those that follow */
	struct tn_operand dq;
	struct tn_operand dk;
	struct tn_operand dv;
	double scale;
	uint32_t has_mask; /* 0 or 1, like causal */
	uint32_t causal;
	uint32_t wants; /* backward: bit 0 dq, bit 1 dk, bit 2 dv */
	uint32_t reserved;
};

/* Every entry is [device].  The host composes a slot that is NULL from map, reduce and matmul; if
 * the device lacks those too, the whole operation runs on the host. */
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
	/* If absent, weights are not packed. */
	tn_status (*conv2d_prepack)(void *device, const struct tn_conv2d_args *args,
				    uint64_t *size);
	tn_status (*attention_forward)(void *device, const struct tn_attention_args *args);
	tn_status (*attention_backward)(void *device, const struct tn_attention_args *args);
};

#define TN_TABLE_DEVICE "tenon.device/1"
#define TN_TABLE_CAPTURE "tenon.capture/1"
#define TN_TABLE_COMPILE "tenon.compile/1"
#define TN_TABLE_COMPUTE "tenon.compute/1"
#define TN_TABLE_COPY "tenon.copy/1"
#define TN_TABLE_IMPORT "tenon.import/1"
#define TN_TABLE_LINALG "tenon.linalg/1"
#define TN_TABLE_MEMORY "tenon.memory/1"
#define TN_TABLE_NATIVE "tenon.native/1"
#define TN_TABLE_PEER "tenon.peer/1"
#define TN_TABLE_REPORT "tenon.report/1"
#define TN_TABLE_SCAN "tenon.scan/1"
#define TN_TABLE_SORT "tenon.sort/1"
#define TN_TABLE_STREAM "tenon.stream/1"
#define TN_TABLE_NN "tenon.nn/1"
/* Reserved: tenon.program/1, tenon.fft/1, tenon.collective/1, tenon.share/1, tenon.quantised/1,
 * tenon.layout/1.  A vendor's own table is named in reverse DNS,
 * com.example.table/1; programs get it from tn_device_vendor_table. */

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

/* Rows of the tables of folds; those of casts have TN_DTYPES. */
enum { TN_COMBINERS = 8 };

/* A plugin's own kernels for the host's interpreter, in tables indexed by number, with the sizes of
 * the header that the plugin was built with; entries beyond them, and NULL, use the host's kernel.
 * The column is that of the operands' dtype (for a comparison: of a; for SELECT: of b). */
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
	/* Copies n bytes, bypassing the caches, for outputs larger than they are; or NULL.  Its
	 * writes may be weakly ordered (x86's non-temporal stores): the host issues a fence before
	 * the call completes. */
	void (*stream_copy)(void *dst, const void *src, size_t n);
};

/* The syntax and the features of the language in which programs are printed.  The plugin supplies
 * it, so that the host can print for languages unknown to it.  The language must have C's
 * preprocessor, functions, casts, `for`, the conditional operator and integers of 64 bits; literals
 * with the suffix u have 32 bits.  <tenon/plugin.h> has the dialect of C as an example. */
struct tn_dialect {
	uint32_t struct_size;
	uint32_t n_operations; /* TN_OP_COUNT of the header that `words` was written for */
	uint64_t dtypes;       /* that programs compute in: bit d stands for dtype d */
	/* Source that is printed before everything else.  It defines, as types, functions or
	 * macros:
	 *   tn_bool (holds 0 and 1), tn_i32, tn_u32, tn_i64, tn_u64, tn_f32
	 *   TN_I64(n), TN_U64(n), TN_F32(x)   literals: n##LL, n##ULL, x##f
	 *   TN_FN            specifiers of a function definition: static inline
	 *   TN_DATA          specifiers of a constant array at file scope: static const
	 *   TN_M32(name)     a function of the math library for tn_f32: name##f.  The names
	 *                    are fabs fmod fma pow floor ceil rint trunc exp exp2 expm1 log log2
	 *                    log1p sin cos tan asin acos atan atan2 sinh cosh tanh erf
	 *   tn_add_f32(a, b), tn_sub_f32, tn_mul_f32, tn_div_f32, tn_sqrt_f32(a)
	 *                    correctly rounded, and never contracted
	 *   tn_f32_of_bits(u), tn_bits_of_f32(x)   between a tn_f32 and its bits, a tn_u32
	 * If programs compute in f64, also TN_HAS_F64, tn_f64, TN_F64(x), TN_M64(name), tn_add_f64
	 * to tn_sqrt_f64, tn_f64_of_bits(u).  If TN_HAS_STORAGE is defined, with tn_i8, tn_i16,
	 * tn_u8 and tn_u16, the prelude also converts stored elements: tn_f32_of_f16 and
	 * tn_f32_of_bf16 take a tn_u16, tn_f16_of_f32 and tn_bf16_of_f32 return one, and there is
	 * tn_T_of_F for T of i8, i16, u8, u16, u64 and F of f32, f64.
	 * Definitions that a later version requires are used only for opcodes from n_operations
	 * on. */
	const char *words;
};

struct tn_print_args {
	uint32_t struct_size;
	uint32_t reserved;
	const struct tn_dialect *dialect;
	/* Printed before each identifier, so that two programs fit in one kernel; may be NULL. */
	const char *prefix;
	/* Takes the text piece by piece, in order; `length` bytes without a NUL.  It returns
	 * normally: no exception, no jump.  The callee must record a failed write itself. */
	void (*write)(void *user, const char *text, size_t length);
	void *user;
};

/* The host's services for a plugin.  Valid as long as the instance.  All are [any], create and open
 * included, but for `parameter`, which is called inside an entry.  Those that use the pool
 * (parallel_for and the interpreter) take turns with other callers, wherever these are: a body of
 * parallel_for waits for no thread that may call them.  They need 64 kB of stack. */
struct tn_host {
	uint32_t struct_size;
	uint32_t abi_minor; /* the effective one */
	void *context;      /* the first argument of every service */

	/* Is that level logged?  Ask before formatting. */
	int32_t (*log_enabled)(void *context, int32_t level, const char *subsystem);
	/* One message, without newline. */
	void (*log)(void *context, int32_t level, const char *subsystem, const char *text,
		    size_t length);

	/* Host memory; alignment is a power of two, 0 means that of malloc.  NULL: out of
	 * memory. */
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

	/* The value of an environment variable that is not an option of the plugin, which stays
	 * valid until destroy, or NULL; `help` is what `tenon info --env` prints.  In a privileged
	 * process the answer is always NULL. */
	const char *(*parameter)(void *context, const char *name, const char *help);
	/* The plugin's own file, as it was opened. */
	const char *(*plugin_path)(void *context);

	/* map and reduce over host memory, on the pool of threads; `kernels` may be NULL.  Inside
	 * an entry pass the arguments as they came to the plugin, TN_DRY_RUN included.  A thread
	 * that does the work later passes copies of all that they point to, with an error of its
	 * own. */
	tn_status (*interpret_map)(void *context, const struct tn_map_args *args,
				   const struct tn_block_kernels *kernels);
	tn_status (*interpret_reduce)(void *context, const struct tn_reduce_args *args,
				      const struct tn_block_kernels *kernels);

	/* Prints the functions that printed programs call (print_prelude), or a program's
	 * statements, which read `in0`, `in1`, ... and `s0`, `s1`, ..., the indices `i0`, `i1`, ...
	 * and the number of the element, `element` (both tn_i64), and declare `out0`, `out1`, ...:
	 * all with the prefix.  Before them the caller declares each name that is read, in the type
	 * of the dtype of the instruction that reads it (tn_bool, tn_i32, ...); in a prologue
	 * indices and number are those of the inputs' shape, in an epilogue those of the kept axes.
	 * For a program without TN_OP_NORMAL, TN_NO_NORMAL may be defined before the prelude, which
	 * halves its length.  Compile without contraction or relaxed mathematics, and with
	 * correctly rounded division and square root (OpenCL:
	 * -cl-fp32-correctly-rounded-divide-sqrt), or random numbers differ.  TN_INVALID_ARGUMENT:
	 * no dialect, one without words, or no `write`; print_program also fails as program_check
	 * does for the dialect's operations and dtypes.  On failure nothing is written. */
	tn_status (*print_prelude)(void *context, const struct tn_print_args *args);
	tn_status (*print_program)(void *context, const struct tn_program *program,
				   const struct tn_print_args *args);

	/* Is the program valid: counts within their limits, every operand an earlier value of a
	 * dtype that its opcode takes, every source and output in range, every source read in one
	 * dtype?  A backend that implements the opcodes below n_operations (TN_OP_COUNT of its
	 * header) and computes in `dtypes` may then run it without further checks, except of
	 * TN_OP_INDEX: its axis is below TN_MAX_RANK, but need not be below the rank of a call.
	 * TN_INVALID_ARGUMENT: it is not valid.  TN_UNSUPPORTED: it has an opcode from n_operations
	 * on, one unknown to the host, or another dtype.  `error`, which may be NULL, names
	 * `operation` and the instruction. */
	tn_status (*program_check)(void *context, const struct tn_program *program,
				   uint32_t n_operations, uint64_t dtypes, const char *operation,
				   struct tn_error_info *error);

	/* The table of TN_OP_NORMAL, for languages in which print_prelude does not print: rows of 5
	 * coefficients, lowest degree first, `size` bytes in all.  tenon-program(7) has the formula
	 * that uses it, in f32, with products that are not contracted. */
	const float *(*normal_table)(void *context, uint64_t *size);

	/* The value of the plugin's own option `name`, as "cudnn", by the row of that name in the
	 * descriptor; it stays valid until destroy.  NULL: a text without a value, or there is no
	 * such row. */
	const char *(*option)(void *context, const char *name);
};

/* ---- Options of a plugin ---------------------------------------------------------------------*/

/* One option: what users can set, by the program as "NAME.name" (NAME is the plugin's) or by an
 * environment variable.  The host takes the program's value, else that of the variable unless it is
 * empty, else `standard`; it reads no variable in a privileged process.  It checks the value before
 * `create`, which is not called with a wrong one, and gives it by tn_host.option.
 *
 * Rows are constant data.  A plugin with a row that breaks a rule is not loaded. */
struct tn_option_row {
	const char *name;     /* a-z, 0-9 and '_', a letter first, at most 31; each once */
	const char *variable; /* A-Z, 0-9 and '_', a letter first, at most 63; NULL: none */
	uint32_t type;        /* TN_OPTION_...; one that the host does not know is a text for it */
	uint32_t reserved;
	const char *standard; /* a valid value; of a text also NULL: no value */
	const char *choices;  /* of TN_OPTION_CHOICE: at most 32 words with commas between */
	double least, most;   /* of an integer or a number: least < most; infinite: no bound */
	const char *help;     /* one phrase, as "the library to open" */
};
/* The most rows of a plugin. */
#define TN_MOST_OPTIONS 64

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

	/* Creates an instance.  If the backend cannot work here, answers the status that names the
	 * missing part (TN_MISSING_LIBRARY, TN_NO_DRIVER, ...) and fills `error`.  `host` is valid
	 * until destroy.  [any] */
	tn_status (*create)(const struct tn_host *host, struct tn_error_info *error,
			    void **instance);
	/* Called after the host has closed the instance's devices.  [instance] */
	void (*destroy)(void *instance);
	/* The table of that id, or NULL.  It stays valid and unchanged until destroy.
	 * [instance] */
	const void *(*query)(void *instance, const char *table);

	uint32_t n_options; /* at most TN_MOST_OPTIONS */
	uint32_t reserved2;
	const struct tn_option_row *options;
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

/* The descriptor's name.  A plugin that is linked into a program, perhaps beside others, is
 * compiled with another one, tenon_backend_NAME, and registered by it (tn_backend_register). */
#ifndef TN_BACKEND_DESCRIPTOR
#define TN_BACKEND_DESCRIPTOR tenon_backend
#endif

/* Emits the note and the descriptor; once in a plugin, at file scope.  UUID is a macro of 16 bytes
 * separated by commas, generated anew for each plugin (uuidgen). */
#define TN_BACKEND_PLUGIN(UUID, NAME, VERSION, LICENCE, CREATE, DESTROY, QUERY)                    \
	TN_BACKEND_PLUGIN_ROWS(0, NULL, NAME, VERSION, LICENCE, CREATE, DESTROY, QUERY, UUID)

/* The same for a plugin with options: OPTIONS is an array of struct tn_option_row. */
#define TN_BACKEND_PLUGIN_OPTIONS(UUID, NAME, VERSION, LICENCE, CREATE, DESTROY, QUERY, OPTIONS)   \
	TN_BACKEND_PLUGIN_ROWS(sizeof(OPTIONS) / sizeof((OPTIONS)[0]), OPTIONS, NAME, VERSION,     \
			       LICENCE, CREATE, DESTROY, QUERY, UUID)

/* What both emit; the UUID's bytes come last. */
#define TN_BACKEND_PLUGIN_ROWS(N, OPTIONS, NAME, VERSION, LICENCE, CREATE, DESTROY, QUERY, ...)    \
	__attribute__((section(".note.tenon"), used,                                               \
		       aligned(4))) static const struct tn_backend_note_section                    \
		tn_backend_note_section_ = {6,                                                     \
					    40,                                                    \
					    TN_BACKEND_NOTE_TYPE,                                  \
					    TN_BACKEND_NOTE_OWNER,                                 \
					    TN_BACKEND_MAGIC,                                      \
					    TN_ABI_MAJOR,                                          \
					    TN_ABI_TARGET,                                         \
					    TN_ABI_OLDEST_HOST,                                    \
					    {__VA_ARGS__},                                         \
					    {0, 0}};                                               \
	TN_EXTERN_C __attribute__((visibility("default")))                                         \
	const struct tn_backend_descriptor TN_BACKEND_DESCRIPTOR;                                  \
	const struct tn_backend_descriptor TN_BACKEND_DESCRIPTOR = {                               \
		sizeof(struct tn_backend_descriptor),                                              \
		TN_BACKEND_MAGIC,                                                                  \
		TN_ABI_MAJOR,                                                                      \
		TN_ABI_TARGET,                                                                     \
		TN_ABI_OLDEST_HOST,                                                                \
		0,                                                                                 \
		0,                                                                                 \
		{__VA_ARGS__},                                                                     \
		NAME,                                                                              \
		VERSION,                                                                           \
		LICENCE,                                                                           \
		CREATE,                                                                            \
		DESTROY,                                                                           \
		QUERY,                                                                             \
		N,                                                                                 \
		0,                                                                                 \
		OPTIONS}

/* ---- Small helpers ---------------------------------------------------------------------------*/

/* May a callee whose struct has `own_size` bytes take these arguments?  1 if all bytes beyond them
 * are zero. */
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

/* Arguments of a call, by the first rule: copies the bytes that both sides have into `own`, zero
 * for the rest.  own's struct_size becomes own_size, so that `own` may be passed on.
 * TN_UNSUPPORTED: they are larger, and the unknown tail is not zero; `own` is filled even then, so
 * that its call.error can be written. */
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

/* Is a field within the struct_size of the struct (a table, struct tn_host) that contains it? */
#define TN_HAS_FIELD(type, pointer, field)                                                         \
	((pointer)->struct_size >= offsetof(type, field) + sizeof((pointer)->field))

#ifdef __cplusplus
}
#endif
#endif
