/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Element programs: the computation for one element as text, parsed once into an immutable typed
 * program that every backend runs.  tenon-program(7) is normative for the language.
 *
 *     z = a*x + y                       over the inputs x and y and the scalar a
 *     d = x - y; loss = d*d             two statements, the local name d
 *     z = random(seed, 0, element()) < keep ? x * scale : 0
 *
 * A program is one block of memory, which threads and contexts may share, and which its owner
 * frees.  <tenon/backend.h> describes its fields (struct tn_program).
 */
#ifndef TENON_PROGRAM_H
#define TENON_PROGRAM_H

#include <string.h>

#include <tenon/types.h>
#include <tenon/export.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tn_program tn_program;

/* The longest text, and the deepest nesting of an expression. */
#define TN_PROGRAM_MAX_TEXT 65536
#define TN_PROGRAM_MAX_DEPTH 64

/* The names of the operands of a text, in the order of the program's operands, with the dtypes of
 * the arrays that will be passed.  All pointers are borrowed until the call returns.
 *
 * Narrow dtypes are computed in wider ones: bool in bool; i8, i16, u8, u16, i32 in i32; u32 in u32;
 * i64 in i64; u64 in u64, whose bits the program holds as i64; f16, bf16, f32 in f32; f64 in f64.
 * A scalar's dtype may be 0: f64 if an input is f64, else f32.  If an output's dtype (0, or
 * output_dtypes NULL: as inferred) is one that programs compute in, the value is cast to it; a
 * narrow one is left to the store.
 *
 * n_outputs 0: the name assigned last is the only output.  An output may have the name of an input;
 * until the first assignment the name means the input. */
struct tn_program_names {
	uint32_t struct_size;
	uint32_t n_inputs;  /* at most TN_PROGRAM_MAX_INPUTS */
	uint32_t n_scalars; /* at most TN_PROGRAM_MAX_SCALARS */
	uint32_t n_outputs; /* at most TN_PROGRAM_MAX_OUTPUTS */
	const char *const *inputs;
	const tn_dtype *input_dtypes;
	const char *const *scalars;
	const tn_dtype *scalar_dtypes;
	const char *const *outputs;
	const tn_dtype *output_dtypes;
};
static inline struct tn_program_names tn_program_names_defaults(void)
{
	struct tn_program_names names;
	memset(&names, 0, sizeof(names));
	names.struct_size = sizeof(names);
	return names;
}

/* Parses, types and simplifies `text` into *program (owned: tn_program_destroy).
 * TN_FORMAT     the text is not a valid program   TN_NOT_FOUND  it uses an unknown name
 * TN_DTYPE      types do not match                TN_LIMIT      it exceeds a stated limit
 * TN_INVALID_ARGUMENT  `names` is not valid       TN_UNSUPPORTED  `names` is of a newer version
 * TN_OUT_OF_MEMORY
 * `error` (may be NULL) gives line and column, what was expected and what was found.  A malformed
 * text causes an error, never a crash.  [thread: any | since 0.1] */
TN_API tn_status tn_program_parse(const char *text, const struct tn_program_names *names,
				  tn_program **program, struct tn_error_info *error) TN_CHECKED;

/* Frees a program; takes NULL.  [thread: any | since 0.1] */
TN_API void tn_program_destroy(tn_program *program);

/* 1: the canonical bytes of the two programs are equal.  [thread: any | since 0.1] */
TN_API int tn_program_equal(const tn_program *a, const tn_program *b);

/* The dtype of an output before it is stored, i64 for a u64; 0 if there is no such output.
 * [thread: any | since 0.1] */
TN_API tn_dtype tn_program_output_dtype(const tn_program *program, uint32_t output);

/* The dtype as which the program reads an input or a scalar; 0 if it never reads it.
 * [thread: any | since 0.1] */
TN_API tn_dtype tn_program_input_dtype(const tn_program *program, uint32_t input);
TN_API tn_dtype tn_program_scalar_dtype(const tn_program *program, uint32_t scalar);

/* 1: the program contains an instruction with that opcode (TN_OP_INDEX, ...).
 * [thread: any | since 0.1] */
TN_API int tn_program_has(const tn_program *program, uint16_t op);

/* The requested gradients: of inputs and of scalars, by number.  Together at most
 * TN_PROGRAM_MAX_OUTPUTS. */
struct tn_program_wants {
	uint32_t struct_size;
	uint32_t n_inputs;
	const uint32_t *inputs;
	uint32_t n_scalars;
	uint32_t reserved;
	const uint32_t *scalars;
};
static inline struct tn_program_wants tn_program_wants_defaults(void)
{
	struct tn_program_wants wants;
	memset(&wants, 0, sizeof(wants));
	wants.struct_size = sizeof(wants);
	return wants;
}

/* The gradient of a program z = f(x, s), as a program (owned: tn_program_destroy):
 *     inputs    x[0], ..., x[n_inputs-1], dz[0], ..., dz[n_outputs-1]    (dz: upstream gradients)
 *     scalars   s, unchanged
 *     outputs   for each requested input, then each scalar p:  sum over j of dz[j] d z[j] / d p
 * The gradients are those of one element: the gradient of a scalar or a broadcast input is the sum
 * of this output over the elements that share it.  An output of an integer or boolean value has no
 * gradient; its dz is declared and never read.  Derivatives at kinks are PyTorch's;
 * tenon-program(7) lists them.
 * TN_LIMIT: n_inputs + n_outputs, the requested gradients or the instructions exceed their limits.
 * TN_DTYPE: a requested input or scalar is not of floating type.
 * TN_INVALID_ARGUMENT: there is no such input or scalar, or nothing is requested.
 * TN_OUT_OF_MEMORY.  [thread: any | since 0.1] */
TN_API tn_status tn_program_differentiate(const tn_program *program,
					  const struct tn_program_wants *wants,
					  tn_program **gradient,
					  struct tn_error_info *error) TN_CHECKED;

/* Writes the program as text, one instruction per line:
 *     v0 = input 0              : f32
 *     v1 = constant 2           : f32
 *     v2 = mul v0 v1            : f32
 *     output 0 = v2
 * Writes at most `size` bytes, including the NUL; returns the length of the whole text.  buffer may
 * be NULL if size is 0.  [thread: any | since 0.1] */
TN_API size_t tn_program_text(const tn_program *program, char *buffer, size_t size);

/* Writes the program as C source that compiles by itself (-ffp-contract=off, -lm):
 *     void NAME(tn_f32 in0, tn_f32 s0, tn_i64 i1, tn_i64 element, tn_f32 *z0)
 * computes one element: *zJ is output J of the element that has the inputs inK, the scalars sK, the
 * index iK along axis K and the row-major number `element`, of which only those that the program
 * reads are parameters.  Its statements, "const tn_f32 v2 = tn_mul_f32(v0, v1);", are those of
 * which backends that compile programs make kernels, in their own dialects.  Arguments and length
 * are those of tn_program_text; 0: program or name is NULL.  [thread: any | since 0.1] */
TN_API size_t tn_program_source(const tn_program *program, const char *name, char *buffer,
				size_t size);

/* The name of an opcode ("add", "select"); "unknown" for other numbers.  Borrowed, always valid.
 * [thread: any | since 0.1] */
TN_API const char *tn_op_name(uint16_t op);

#ifdef __cplusplus
}
#endif
#endif
