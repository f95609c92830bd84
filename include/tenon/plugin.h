/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Helpers for authors of backends.  Optional: a plugin needs only <tenon/backend.h>, and this
 * header adds nothing to the interface between plugin and host.  All functions are inline, for C11
 * and for C++ from C++11 on; each source file that includes it gets its own copies, of which a
 * compiler keeps those that are called.
 *
 *   Entries     tn_plugin_take, _fail, _fail_native, _dry_run, _workspace, _table_find
 *   Services    tn_plugin_alloc, _free, _log
 *   Bits        tn_plugin_load_bits, _store_bits, _f32_of_bits, _bits_of_f32, _f64_of_bits,
 *               _bits_of_f64, _f32_of_f16, _f16_of_f32, _f32_of_bf16, _bf16_of_f32
 *   Operands    tn_plugin_dtype_kind, _check_operand, _check_shape, _count, _lies_within
 *   Nests       struct tn_plugin_nest: loops over several operands, with merged axes
 *   Texts       struct tn_plugin_text: growing source text, printing into it, conversions
 *   Programs    tn_plugin_check_map, _check_reduce, _check_program, _check_scalars, _program_has,
 *               _program_size, _program_copy, _source_dtype, _output_dtype
 *
 * An entry begins and ends like this:
 *
 *	static tn_status matmul(void *device, const struct tn_matmul_args *args)
 *	{
 *		struct tn_matmul_args own;
 *		tn_status status = tn_plugin_take(&own, sizeof(own), args,
 *						  TN_PLUGIN_COMPUTE_FLAGS, "matmul");
 *		if (status)
 *			return status;
 *		if (own.a.dtype != TN_F32)
 *			return tn_plugin_fail(own.call.error, TN_UNSUPPORTED, "matmul",
 *					      "a: dtype %d, expected f32", (int)own.a.dtype);
 *		if (own.call.flags & TN_DRY_RUN)
 *			return tn_plugin_dry_run(&own.call, 0, 0);
 *		...
 *	}
 *
 * Every function is [any]: it keeps no state outside its arguments.
 */
#ifndef TENON_PLUGIN_H
#define TENON_PLUGIN_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <tenon/backend.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Entries ---------------------------------------------------------------------------------*/

/* Fills `error`, unless it is NULL, with `status`, the vendor library's own code, the entry's name
 * and a text formatted as by printf, and returns `status`. */
__attribute__((format(printf, 5, 0))) static inline tn_status
tn_plugin_fail_v(struct tn_error_info *error, tn_status status, int64_t native_code,
		 const char *operation, const char *format, va_list arguments)
{
	struct tn_error_info own;
	if (!error)
		return status;
	memset(&own, 0, sizeof(own));
	own.status = status;
	own.native_code = native_code;
	(void)vsnprintf(own.text, sizeof(own.text), format, arguments);
	(void)snprintf(own.operation, sizeof(own.operation), "%s", operation);
	tn_struct_answer(error, &own, sizeof(own));
	return status;
}

/* The same without a code: for errors that the plugin itself finds. */
__attribute__((format(printf, 4, 5))) static inline tn_status
tn_plugin_fail(struct tn_error_info *error, tn_status status, const char *operation,
	       const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	(void)tn_plugin_fail_v(error, status, 0, operation, format, arguments);
	va_end(arguments);
	return status;
}

/* The same for a function of the vendor's library that returned `native_code`. */
__attribute__((format(printf, 5, 6))) static inline tn_status
tn_plugin_fail_native(struct tn_error_info *error, tn_status status, int64_t native_code,
		      const char *operation, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	(void)tn_plugin_fail_v(error, status, native_code, operation, format, arguments);
	va_end(arguments);
	return status;
}

/* The flags that a compute entry may be given.  An entry whose results differ from run to run
 * leaves out TN_DETERMINISTIC. */
#define TN_PLUGIN_COMPUTE_FLAGS (TN_DRY_RUN | TN_DETERMINISTIC)

/* Begins an entry: copies the bytes of its arguments that both sides have into `own`, zero for the
 * rest.  TN_UNSUPPORTED, reported in the call's error: an argument unknown to this plugin is not 0,
 * or a flag is not among `flags`. */
static inline tn_status tn_plugin_take(void *own, size_t own_size, const void *arguments,
				       uint32_t flags, const char *operation)
{
	const int is_known = !tn_arguments_take(own, own_size, arguments);
	const struct tn_call *call = (const struct tn_call *)own;
	if (!is_known)
		return tn_plugin_fail(call->error, TN_UNSUPPORTED, operation,
				      "arguments of %u bytes: bytes beyond the known %u are not 0",
				      (unsigned)((const struct tn_call *)arguments)->struct_size,
				      (unsigned)own_size);
	if (call->flags & ~flags)
		return tn_plugin_fail(call->error, TN_UNSUPPORTED, operation,
				      "flags 0x%x are not supported",
				      (unsigned)(call->flags & ~flags));
	return TN_OK;
}

/* Ends a dry run, or a call, that needs `minimum` bytes of workspace and can use `preferred`. */
static inline tn_status tn_plugin_dry_run(const struct tn_call *call, uint64_t minimum,
					  uint64_t preferred)
{
	if (call->workspace && TN_HAS_FIELD(struct tn_workspace, call->workspace, preferred)) {
		call->workspace->minimum = minimum;
		call->workspace->preferred = preferred;
	}
	return TN_OK;
}

/* Handles the workspace of an entry that needs `bytes`.  *work: 1 if the entry should proceed; 0
 * after a dry run, or if the call has too little workspace, which is TN_UNSUPPORTED. */
static inline tn_status tn_plugin_workspace(const struct tn_call *call, const char *operation,
					    uint64_t bytes, int *work)
{
	uint64_t given = 0;
	if (call->workspace && TN_HAS_FIELD(struct tn_workspace, call->workspace, size))
		given = call->workspace->size;
	*work = 0;
	if (call->flags & TN_DRY_RUN)
		return tn_plugin_dry_run(call, bytes, bytes);
	if (given < bytes)
		return tn_plugin_fail(call->error, TN_UNSUPPORTED, operation,
				      "workspace: expected %llu bytes, found %llu",
				      (unsigned long long)bytes, (unsigned long long)given);
	*work = 1;
	return TN_OK;
}

/* One table of a backend: for `query`. */
struct tn_plugin_table {
	const char *id; /* TN_TABLE_DEVICE, ... */
	const void *table;
};

/* The table of that id among n, or NULL. */
static inline const void *tn_plugin_table_find(const struct tn_plugin_table *tables, size_t n,
					       const char *id)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(tables[i].id, id))
			return tables[i].table;
	}
	return NULL;
}

/* ---- Services of the host --------------------------------------------------------------------*/

/* `size` bytes of host memory, all 0, aligned as by malloc; NULL: out of memory. */
static inline void *tn_plugin_alloc(const struct tn_host *host, size_t size)
{
	void *memory = host->alloc(host->context, size, 0);
	return memory ? memset(memory, 0, size) : NULL;
}

/* NULL is allowed. */
static inline void tn_plugin_free(const struct tn_host *host, void *memory)
{
	if (memory)
		host->free(host->context, memory);
}

/* The value of this plugin's option (struct tn_host, option); NULL: none, or the host is older than
 * options. */
static inline const char *tn_plugin_option(const struct tn_host *host, const char *name)
{
	if (!TN_HAS_FIELD(struct tn_host, host, option) || !host->option)
		return NULL;
	return host->option(host->context, name);
}

/* Has it that value?  A TN_OPTION_BOOL that is on has the value "1". */
static inline int tn_plugin_option_is(const struct tn_host *host, const char *name,
				      const char *value)
{
	const char *found = tn_plugin_option(host, name);
	return found && !strcmp(found, value);
}

/* Writes one line to the host's log, truncated to 1023 bytes; formats nothing if the level is not
 * logged. */
__attribute__((format(printf, 4, 5))) static inline void tn_plugin_log(const struct tn_host *host,
								       const char *subsystem,
								       int32_t level,
								       const char *format, ...)
{
	char text[1024];
	va_list arguments;
	int length;
	if (!host->log_enabled(host->context, level, subsystem))
		return;
	va_start(arguments, format);
	length = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (length > 0)
		host->log(host->context, level, subsystem, text,
			  (size_t)length < sizeof(text) ? (size_t)length : sizeof(text) - 1);
}

/* ---- Bits ------------------------------------------------------------------------------------*/

/* The bits of an element at any address, in the low bytes; `size` is 1, 2, 4 or 8. */
__attribute__((always_inline)) static inline uint64_t tn_plugin_load_bits(const void *at,
									  size_t size)
{
	uint8_t b1;
	uint16_t b2;
	uint32_t b4;
	uint64_t b8;
	switch (size) {
	case 1:
		memcpy(&b1, at, 1);
		return b1;
	case 2:
		memcpy(&b2, at, 2);
		return b2;
	case 4:
		memcpy(&b4, at, 4);
		return b4;
	default:
		memcpy(&b8, at, 8);
		return b8;
	}
}

__attribute__((always_inline)) static inline void tn_plugin_store_bits(void *at, size_t size,
								       uint64_t bits)
{
	uint8_t b1 = (uint8_t)bits;
	uint16_t b2 = (uint16_t)bits;
	uint32_t b4 = (uint32_t)bits;
	switch (size) {
	case 1:
		memcpy(at, &b1, 1);
		return;
	case 2:
		memcpy(at, &b2, 2);
		return;
	case 4:
		memcpy(at, &b4, 4);
		return;
	default:
		memcpy(at, &bits, 8);
	}
}

static inline uint32_t tn_plugin_bits_of_f32(float x)
{
	uint32_t bits;
	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static inline float tn_plugin_f32_of_bits(uint32_t bits)
{
	float x;
	memcpy(&x, &bits, sizeof(x));
	return x;
}

static inline uint64_t tn_plugin_bits_of_f64(double x)
{
	uint64_t bits;
	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static inline double tn_plugin_f64_of_bits(uint64_t bits)
{
	double x;
	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* The 16-bit formats, by the rules of tenon-program(7): exact to f32, to nearest with ties to even
 * from it.  Without branches, so that loops vectorise.
 *
 * A subnormal f16's fraction is put behind 2^-14, which is then subtracted: no operand is
 * subnormal in f32, which processors are slow with. */
static inline float tn_plugin_f32_of_f16(uint16_t x)
{
	const uint32_t magnitude = (uint32_t)(x & 0x7fff) << 13;
	const uint32_t normal = magnitude + 0x38000000u;
	const uint32_t special = magnitude | 0x7f800000u; /* infinity or NaN */
	const float behind = tn_plugin_f32_of_bits(magnitude + 0x38800000u);
	const uint32_t small = tn_plugin_bits_of_f32(behind - 6.103515625e-05f);
	const uint32_t finite = magnitude < 0x00800000u ? small : normal;
	const uint32_t bits = magnitude >= 0x0f800000u ? special : finite;
	return tn_plugin_f32_of_bits(bits | (uint32_t)(x & 0x8000) << 16);
}

/* Adding a number whose last place is that of the result rounds a small magnitude; a large one is
 * rounded as an integer.  A NaN keeps the upper bits of its payload. */
static inline uint16_t tn_plugin_f16_of_f32(float x)
{
	const uint32_t bits = tn_plugin_bits_of_f32(x), sign = bits >> 16 & 0x8000;
	const uint32_t magnitude = bits & 0x7fffffffu;
	const float rounded = tn_plugin_f32_of_bits(magnitude) + 0.5f;
	const uint32_t small = tn_plugin_bits_of_f32(rounded) - 0x3f000000u;
	const uint32_t large = (magnitude - 0x38000000u + 0xfff + (magnitude >> 13 & 1)) >> 13;
	const uint32_t nan = 0x7e00 | (magnitude >> 13 & 0x3ff);
	const uint32_t finite = magnitude < 0x38800000u ? small : large;
	const uint32_t limited = magnitude >= 0x477ff000u ? 0x7c00 : finite;
	return (uint16_t)(sign | (magnitude > 0x7f800000u ? nan : limited));
}

static inline float tn_plugin_f32_of_bf16(uint16_t x)
{
	return tn_plugin_f32_of_bits((uint32_t)x << 16);
}

static inline uint16_t tn_plugin_bf16_of_f32(float x)
{
	const uint32_t bits = tn_plugin_bits_of_f32(x);
	const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
	return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? (bits >> 16 | 0x40) : rounded);
}

/* ---- dtypes and operands ---------------------------------------------------------------------*/

/* Sets of dtypes, for struct tn_device_description and `dtypes` below: a single one, those that
 * element programs read and write, and all. */
#define TN_PLUGIN_DTYPE(dtype) (UINT64_C(1) << (dtype))
#define TN_PLUGIN_REAL_DTYPES UINT64_C(0x3ffe) /* TN_BOOL to TN_F64 */
#define TN_PLUGIN_ALL_DTYPES UINT64_C(0xfffe)  /* and TN_C64, TN_C128 */

/* The kind of a dtype's numbers; bits, so that one test covers several. */
enum {
	TN_PLUGIN_KIND_BOOL = 1u << 0,
	TN_PLUGIN_KIND_SIGNED = 1u << 1,
	TN_PLUGIN_KIND_UNSIGNED = 1u << 2,
	TN_PLUGIN_KIND_FLOATING = 1u << 3,
	TN_PLUGIN_KIND_COMPLEX = 1u << 4,
	TN_PLUGIN_KIND_INTEGER = TN_PLUGIN_KIND_SIGNED | TN_PLUGIN_KIND_UNSIGNED,
	/* The kinds that element programs read and write. */
	TN_PLUGIN_KIND_REAL =
		TN_PLUGIN_KIND_BOOL | TN_PLUGIN_KIND_INTEGER | TN_PLUGIN_KIND_FLOATING,
};

/* 0: not a dtype known to this version. */
static inline unsigned tn_plugin_dtype_kind(tn_dtype dtype)
{
	switch (dtype) {
	case TN_BOOL:
		return TN_PLUGIN_KIND_BOOL;
	case TN_I8:
	case TN_I16:
	case TN_I32:
	case TN_I64:
		return TN_PLUGIN_KIND_SIGNED;
	case TN_U8:
	case TN_U16:
	case TN_U32:
	case TN_U64:
		return TN_PLUGIN_KIND_UNSIGNED;
	case TN_F16:
	case TN_BF16:
	case TN_F32:
	case TN_F64:
		return TN_PLUGIN_KIND_FLOATING;
	case TN_C64:
	case TN_C128:
		return TN_PLUGIN_KIND_COMPLEX;
	default:
		return 0;
	}
}

enum tn_plugin_role { TN_PLUGIN_READS = 0, TN_PLUGIN_WRITES = 1 };

/* The number of elements of a shape: the product of its lengths. */
static inline uint64_t tn_plugin_count(uint32_t rank, const int64_t *lengths)
{
	uint64_t count = 1;
	for (uint32_t d = 0; d < rank; d++)
		count *= (uint64_t)lengths[d];
	return count;
}

/* Checks an operand by itself; `name` and `number` identify it in the error ("input 2: ...").
 * TN_UNSUPPORTED: a dtype outside `dtypes`, a rank above TN_MAX_RANK.  TN_INVALID_ARGUMENT: a
 * length below 1, a span of more than 63 bits, an offset that is not a multiple of the element's
 * size, no buffer (a dry run may have none), or an axis of stride 0 of an operand that is
 * written. */
static inline tn_status tn_plugin_check_operand(const struct tn_call *call, const char *operation,
						const char *name, unsigned number,
						const struct tn_operand *operand, uint64_t dtypes,
						enum tn_plugin_role role)
{
	struct tn_error_info *error = call->error;
	const int64_t size = (int64_t)tn_dtype_size(operand->dtype);
	int64_t count = size, span = size;
	if (!size || !(dtypes >> operand->dtype & 1))
		return tn_plugin_fail(error, TN_UNSUPPORTED, operation,
				      "%s %u: dtype %d is not supported", name, number,
				      (int)operand->dtype);
	if (operand->rank > TN_MAX_RANK)
		return tn_plugin_fail(error, TN_UNSUPPORTED, operation,
				      "%s %u: rank %u, expected at most %d", name, number,
				      (unsigned)operand->rank, TN_MAX_RANK);
	for (uint32_t d = 0; d < operand->rank; d++) {
		const int64_t length = operand->shape[d], stride = operand->strides[d];
		int64_t distance = 0;
		if (length < 1 || stride == INT64_MIN ||
		    __builtin_mul_overflow(count, length, &count) ||
		    __builtin_mul_overflow(stride < 0 ? -stride : stride, length - 1, &distance) ||
		    __builtin_mul_overflow(distance, size, &distance) ||
		    __builtin_add_overflow(span, distance, &span))
			return tn_plugin_fail(error, TN_INVALID_ARGUMENT, operation,
					      "%s %u: axis %u has length %lld and stride %lld",
					      name, number, (unsigned)d, (long long)length,
					      (long long)stride);
		if (role == TN_PLUGIN_WRITES && stride == 0 && length != 1)
			return tn_plugin_fail(
				error, TN_INVALID_ARGUMENT, operation,
				"%s %u: stride 0 on axis %u would write an element twice", name,
				number, (unsigned)d);
	}
	if (operand->offset % (uint64_t)size)
		return tn_plugin_fail(error, TN_INVALID_ARGUMENT, operation,
				      "%s %u: offset %llu is not a multiple of its element's size",
				      name, number, (unsigned long long)operand->offset);
	if (!operand->buffer && !(call->flags & TN_DRY_RUN))
		return tn_plugin_fail(error, TN_INVALID_ARGUMENT, operation, "%s %u has no buffer",
				      name, number);
	return TN_OK;
}

/* Does a checked operand lie within a buffer of that many bytes?  For handles that are not
 * addresses. */
static inline int tn_plugin_lies_within(const struct tn_operand *operand, uint64_t bytes)
{
	const int64_t size = (int64_t)tn_dtype_size(operand->dtype);
	int64_t lowest = 0, highest = 0;
	if (bytes > INT64_MAX || operand->offset > bytes)
		return 0;
	for (uint32_t d = 0; d < operand->rank; d++) {
		const int64_t distance = operand->strides[d] * (operand->shape[d] - 1) * size;
		if (distance < 0)
			lowest += distance;
		else
			highest += distance;
	}
	return lowest >= -(int64_t)operand->offset &&
	       highest <= (int64_t)(bytes - operand->offset) - size;
}

/* TN_SHAPE: the operand does not have that rank and those lengths. */
static inline tn_status tn_plugin_check_shape(const struct tn_call *call, const char *operation,
					      const char *name, unsigned number,
					      const struct tn_operand *operand, uint32_t rank,
					      const int64_t *lengths)
{
	struct tn_error_info *error = call->error;
	if (operand->rank != rank)
		return tn_plugin_fail(error, TN_SHAPE, operation, "%s %u has rank %u, expected %u",
				      name, number, (unsigned)operand->rank, (unsigned)rank);
	for (uint32_t d = 0; d < rank; d++) {
		if (operand->shape[d] != lengths[d])
			return tn_plugin_fail(error, TN_SHAPE, operation,
					      "%s %u: axis %u has length %lld, expected %lld", name,
					      number, (unsigned)d, (long long)operand->shape[d],
					      (long long)lengths[d]);
	}
	return TN_OK;
}

/* Checks a program for a device that computes in `dtypes`: tn_host's program_check. */
static inline tn_status tn_plugin_check_program(const struct tn_host *host,
						const struct tn_call *call, const char *operation,
						const struct tn_program *program, uint64_t dtypes)
{
	return host->program_check(host->context, program, TN_OP_COUNT, dtypes, operation,
				   call->error);
}

/* Checks the scalars of a program: each has a dtype of `dtypes`, by value or on the device. */
static inline tn_status tn_plugin_check_scalars(const struct tn_call *call, const char *operation,
						const struct tn_scalar *scalars, uint32_t n,
						uint64_t dtypes)
{
	if (n && !scalars)
		return tn_plugin_fail(call->error, TN_INVALID_ARGUMENT, operation,
				      "scalars: expected %u, found NULL", (unsigned)n);
	for (uint32_t i = 0; i < n; i++) {
		const struct tn_scalar *s = &scalars[i];
		if (s->on_device > 1 || s->dtype < 1 || s->dtype > 63 ||
		    !(dtypes >> s->dtype & 1) ||
		    !(tn_plugin_dtype_kind(s->dtype) & TN_PLUGIN_KIND_REAL))
			return tn_plugin_fail(
				call->error, TN_UNSUPPORTED, operation,
				"scalar %u: dtype %d or on_device %u is not supported", (unsigned)i,
				(int)s->dtype, (unsigned)s->on_device);
		if (s->on_device && ((!s->buffer && !(call->flags & TN_DRY_RUN)) ||
				     s->offset % tn_dtype_size(s->dtype)))
			return tn_plugin_fail(call->error, TN_INVALID_ARGUMENT, operation,
					      "scalar %u: buffer %llu or offset %llu is not valid",
					      (unsigned)i, (unsigned long long)s->buffer,
					      (unsigned long long)s->offset);
	}
	return TN_OK;
}

/* Checks that every TN_OP_INDEX of a valid program names an axis below `rank`. */
static inline tn_status tn_plugin_check_axes(const struct tn_call *call, const char *operation,
					     const struct tn_program *program, uint32_t rank)
{
	for (uint32_t i = 0; i < program->n_instructions; i++) {
		const struct tn_instruction *instruction = &program->instructions[i];
		if (instruction->op == TN_OP_INDEX && instruction->a >= rank)
			return tn_plugin_fail(call->error, TN_INVALID_ARGUMENT, operation,
					      "instruction %u: index along axis %u of rank %u",
					      (unsigned)i, (unsigned)instruction->a,
					      (unsigned)rank);
	}
	return TN_OK;
}

/* Checks a map for a device that stores the dtypes `stores` and computes in `computes`.
 * TN_OP_INDEX may name any axis of the outputs. */
static inline tn_status tn_plugin_check_map(const struct tn_host *host,
					    const struct tn_map_args *args, uint64_t stores,
					    uint64_t computes)
{
	const struct tn_call *call = &args->call;
	const struct tn_program *program = args->program;
	tn_status status = tn_plugin_check_program(host, call, "map", program, computes);
	if (status)
		return status;
	if (!args->outputs || (program->n_inputs && !args->inputs))
		return tn_plugin_fail(call->error, TN_INVALID_ARGUMENT, "map",
				      "expected inputs and outputs, found NULL");
	for (uint32_t k = 0; k < program->n_outputs && !status; k++) {
		status = tn_plugin_check_operand(call, "map", "output", k, &args->outputs[k],
						 stores & TN_PLUGIN_REAL_DTYPES, TN_PLUGIN_WRITES);
		if (!status)
			status = tn_plugin_check_shape(call, "map", "output", k, &args->outputs[k],
						       args->outputs[0].rank,
						       args->outputs[0].shape);
	}
	for (uint32_t k = 0; k < program->n_inputs && !status; k++) {
		status = tn_plugin_check_operand(call, "map", "input", k, &args->inputs[k],
						 stores & TN_PLUGIN_REAL_DTYPES, TN_PLUGIN_READS);
		if (!status)
			status = tn_plugin_check_shape(call, "map", "input", k, &args->inputs[k],
						       args->outputs[0].rank,
						       args->outputs[0].shape);
	}
	if (!status)
		status = tn_plugin_check_axes(call, "map", program, args->outputs[0].rank);
	return status ? status
		      : tn_plugin_check_scalars(call, "map", args->scalars, program->n_scalars,
						stores);
}

/* The number of a reduction's outputs, and of its epilogue's inputs besides the values. */
static inline uint32_t tn_plugin_reduce_outputs(const struct tn_reduce_args *args)
{
	return args->epilogue ? args->epilogue->n_outputs : args->n_values;
}

static inline uint32_t tn_plugin_reduce_epilogue_inputs(const struct tn_reduce_args *args)
{
	return args->epilogue ? args->epilogue->n_inputs - args->n_values : 0;
}

/* Checks n operands of a reduction that have the first `rank` lengths of the inputs. */
static inline tn_status tn_plugin_check_reduced(const struct tn_reduce_args *args, const char *name,
						const struct tn_operand *operands, uint32_t n,
						uint32_t rank, uint64_t dtypes,
						enum tn_plugin_role role)
{
	const struct tn_call *call = &args->call;
	tn_status status = TN_OK;
	if (n && !operands)
		return tn_plugin_fail(call->error, TN_INVALID_ARGUMENT, "reduce",
				      "expected %ss, found NULL", name);
	for (uint32_t k = 0; k < n && !status; k++) {
		status = tn_plugin_check_operand(call, "reduce", name, k, &operands[k], dtypes,
						 role);
		if (!status)
			status = tn_plugin_check_shape(call, "reduce", name, k, &operands[k], rank,
						       args->inputs[0].shape);
	}
	return status;
}

/* Checks a reduction likewise: its programs, values, combiners, operands and scalars. */
static inline tn_status tn_plugin_check_reduce(const struct tn_host *host,
					       const struct tn_reduce_args *args, uint64_t stores,
					       uint64_t computes)
{
	const struct tn_call *call = &args->call;
	const uint64_t real = stores & TN_PLUGIN_REAL_DTYPES;
	uint32_t rank, kept;
	tn_status status = tn_plugin_check_program(host, call, "reduce", args->prologue, computes);
	if (!status && args->epilogue)
		status = tn_plugin_check_program(host, call, "reduce", args->epilogue, computes);
	if (status)
		return status;
	if (args->n_values > 4)
		return tn_plugin_fail(call->error, TN_UNSUPPORTED, "reduce",
				      "%u values, expected at most 4", (unsigned)args->n_values);
	if (args->n_values < 1 || args->prologue->n_outputs != args->n_values)
		return tn_plugin_fail(
			call->error, TN_INVALID_ARGUMENT, "reduce",
			"%u values, expected 1 to 4, one for each of the prologue's %u outputs",
			(unsigned)args->n_values, (unsigned)args->prologue->n_outputs);
	for (uint32_t v = 0; v < args->n_values; v++) {
		if (args->combiners[v] < TN_REDUCE_SUM || args->combiners[v] > TN_REDUCE_ARGMIN)
			return tn_plugin_fail(call->error, TN_UNSUPPORTED, "reduce",
					      "value %u: combiner %u is not supported", (unsigned)v,
					      (unsigned)args->combiners[v]);
	}
	if (args->epilogue && args->epilogue->n_inputs < args->n_values)
		return tn_plugin_fail(call->error, TN_INVALID_ARGUMENT, "reduce",
				      "the epilogue has %u inputs, expected at least the %u values",
				      (unsigned)args->epilogue->n_inputs, (unsigned)args->n_values);
	if (!args->prologue->n_inputs || !args->inputs)
		return tn_plugin_fail(call->error, TN_INVALID_ARGUMENT, "reduce",
				      "expected at least one input, found none");
	if (args->n_reduced > args->inputs[0].rank)
		return tn_plugin_fail(call->error, TN_INVALID_ARGUMENT, "reduce",
				      "%u reduced axes, expected at most the inputs' %u",
				      (unsigned)args->n_reduced, (unsigned)args->inputs[0].rank);
	rank = args->inputs[0].rank;
	kept = rank - args->n_reduced;
	status = tn_plugin_check_reduced(args, "input", args->inputs, args->prologue->n_inputs,
					 rank, real, TN_PLUGIN_READS);
	if (!status)
		status = tn_plugin_check_reduced(args, "epilogue input", args->epilogue_inputs,
						 tn_plugin_reduce_epilogue_inputs(args), kept, real,
						 TN_PLUGIN_READS);
	if (!status)
		status = tn_plugin_check_reduced(args, "output", args->outputs,
						 tn_plugin_reduce_outputs(args), kept, real,
						 TN_PLUGIN_WRITES);
	if (!status)
		status = tn_plugin_check_axes(call, "reduce", args->prologue, rank);
	if (!status && args->epilogue)
		status = tn_plugin_check_axes(call, "reduce", args->epilogue, kept);
	if (!status)
		status = tn_plugin_check_scalars(call, "reduce", args->scalars,
						 args->prologue->n_scalars, stores);
	if (!status && args->epilogue)
		status = tn_plugin_check_scalars(call, "reduce", args->epilogue_scalars,
						 args->epilogue->n_scalars, stores);
	return status;
}

/* ---- Nests -----------------------------------------------------------------------------------
 *
 * A nest of loops over several operands at once, for kernels written for any shape.  Axes 0 to
 * n_kept - 1 are kept, the others are reduced (a map keeps all).  Fewer and longer axes make a
 * faster kernel: tn_plugin_nest_simplify merges all that it can.
 *
 *	struct tn_plugin_nest nest;
 *	tn_plugin_nest_begin(&nest, output->rank, output->rank, output->shape);
 *	tn_plugin_nest_add(&nest, output, 0);
 *	tn_plugin_nest_add(&nest, input, 0);
 *	tn_plugin_nest_simplify(&nest);
 */
enum {
	TN_PLUGIN_MAX_VIEWS = 2 * TN_PROGRAM_MAX_INPUTS + TN_PROGRAM_MAX_OUTPUTS,
	TN_PLUGIN_MAX_AXES = TN_MAX_RANK + 2, /* room to pad any nest to one axis of each kind */
};

struct tn_plugin_view {
	uint64_t buffer;
	uint64_t offset; /* in bytes, like the operand's */
	tn_dtype dtype;
	int kept_only; /* it has only the kept axes; its strides along the others are 0 */
	int64_t strides[TN_PLUGIN_MAX_AXES]; /* in elements */
};

struct tn_plugin_nest {
	uint32_t rank, n_kept;
	uint32_t n_views;
	int64_t lengths[TN_PLUGIN_MAX_AXES];
	struct tn_plugin_view views[TN_PLUGIN_MAX_VIEWS];
};

/* Starts a nest of those lengths, at most TN_MAX_RANK, without views. */
static inline void tn_plugin_nest_begin(struct tn_plugin_nest *nest, uint32_t rank, uint32_t n_kept,
					const int64_t *lengths)
{
	nest->rank = rank;
	nest->n_kept = n_kept;
	nest->n_views = 0;
	for (uint32_t d = 0; d < rank; d++)
		nest->lengths[d] = lengths[d];
}

/* Adds a checked operand, which has either all axes of the nest or only the kept ones, and returns
 * the number of its view.  At most TN_PLUGIN_MAX_VIEWS. */
static inline uint32_t tn_plugin_nest_add(struct tn_plugin_nest *nest,
					  const struct tn_operand *operand, int kept_only)
{
	struct tn_plugin_view *view = &nest->views[nest->n_views];
	memset(view, 0, sizeof(*view));
	view->buffer = operand->buffer;
	view->offset = operand->offset;
	view->dtype = operand->dtype;
	view->kept_only = kept_only;
	memcpy(view->strides, operand->strides,
	       (kept_only ? nest->n_kept : nest->rank) * sizeof(view->strides[0]));
	return nest->n_views++;
}

static inline void tn_plugin_nest_remove_axis(struct tn_plugin_nest *nest, uint32_t axis)
{
	const size_t behind = nest->rank - axis - 1;
	memmove(&nest->lengths[axis], &nest->lengths[axis + 1], behind * sizeof(int64_t));
	for (uint32_t k = 0; k < nest->n_views; k++) {
		int64_t *strides = nest->views[k].strides;
		memmove(&strides[axis], &strides[axis + 1], behind * sizeof(int64_t));
		strides[nest->rank - 1] = 0;
	}
	nest->rank--;
	if (axis < nest->n_kept)
		nest->n_kept--;
}

/* Drops axes of length 1, and merges two neighbouring axes if every view can step over both with
 * one stride.  A kept axis is never merged with a reduced one; the order of the elements stays.
 * Not for a program with TN_OP_INDEX, which counts along the original axes. */
static inline void tn_plugin_nest_simplify(struct tn_plugin_nest *nest)
{
	for (uint32_t d = nest->rank; d-- > 0;) {
		if (nest->lengths[d] == 1)
			tn_plugin_nest_remove_axis(nest, d);
	}
	for (uint32_t d = nest->rank; d-- > 1;) {
		int merges = d != nest->n_kept;
		for (uint32_t k = 0; k < nest->n_views && merges; k++) {
			const int64_t *strides = nest->views[k].strides;
			int64_t step;
			merges = !__builtin_mul_overflow(strides[d], nest->lengths[d], &step) &&
				 strides[d - 1] == step;
		}
		if (!merges)
			continue;
		nest->lengths[d] *= nest->lengths[d - 1];
		tn_plugin_nest_remove_axis(nest, d - 1);
	}
}

/* Inserts axes of length 1 before the kept and before the reduced ones up to these numbers.
 * Returns 0 and does nothing if they exceed TN_PLUGIN_MAX_AXES. */
static inline int tn_plugin_nest_pad(struct tn_plugin_nest *nest, uint32_t n_kept,
				     uint32_t n_reduced)
{
	const uint32_t reduced = nest->rank - nest->n_kept;
	const uint32_t more_kept = n_kept > nest->n_kept ? n_kept - nest->n_kept : 0;
	const uint32_t more_reduced = n_reduced > reduced ? n_reduced - reduced : 0;
	const uint32_t rank = nest->rank + more_kept + more_reduced;
	if (rank > TN_PLUGIN_MAX_AXES)
		return 0;
	for (uint32_t d = rank; d-- > 0;) {
		/* The axis that comes here; -1: a new one. */
		int64_t from = -1;
		if (d >= more_kept && d < more_kept + nest->n_kept)
			from = (int64_t)d - more_kept;
		else if (d >= more_kept + nest->n_kept + more_reduced)
			from = (int64_t)d - more_kept - more_reduced;
		nest->lengths[d] = from < 0 ? 1 : nest->lengths[from];
		for (uint32_t k = 0; k < nest->n_views; k++) {
			int64_t *strides = nest->views[k].strides;
			strides[d] = from < 0 ? 0 : strides[from];
		}
	}
	nest->rank = rank;
	nest->n_kept += more_kept;
	return 1;
}

/* Does an element's number, or its distance from the view's first, need more than 31 bits? */
static inline int tn_plugin_nest_is_wide(const struct tn_plugin_nest *nest)
{
	if (tn_plugin_count(nest->rank, nest->lengths) > INT32_MAX)
		return 1;
	for (uint32_t k = 0; k < nest->n_views; k++) {
		uint64_t distance = 0;
		for (uint32_t d = 0; d < nest->rank; d++) {
			int64_t stride = nest->views[k].strides[d];
			distance += (stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride) *
				    (uint64_t)(nest->lengths[d] - 1);
		}
		if (distance > INT32_MAX)
			return 1;
	}
	return 0;
}

/* ---- Texts -----------------------------------------------------------------------------------
 *
 * A growing text: the source of a kernel, or the bytes of a kernel's key.  After a failed
 * allocation `failed` is set and further additions are ignored; check it once, at the end.
 */
struct tn_plugin_text {
	const struct tn_host *host;
	char *data; /* NUL-terminated; NULL until something is added */
	size_t length, capacity;
	int failed;
};

static inline void tn_plugin_text_init(struct tn_plugin_text *text, const struct tn_host *host)
{
	memset(text, 0, sizeof(*text));
	text->host = host;
}

/* Frees its memory; the text is then empty and may be used again. */
static inline void tn_plugin_text_free(struct tn_plugin_text *text)
{
	tn_plugin_free(text->host, text->data);
	tn_plugin_text_init(text, text->host);
}

/* Empties the text and keeps its memory. */
static inline void tn_plugin_text_clear(struct tn_plugin_text *text)
{
	text->length = 0;
	text->failed = 0;
	if (text->data)
		text->data[0] = '\0';
}

/* Reserves `length` bytes and a NUL after the text; the caller writes them and adds their number to
 * text->length.  NULL: out of memory. */
static inline char *tn_plugin_text_reserve(struct tn_plugin_text *text, size_t length)
{
	const size_t needed = text->length + length + 1;
	if (text->failed || length > SIZE_MAX / 4 - text->length) {
		text->failed = 1;
		return NULL;
	}
	if (needed > text->capacity) {
		size_t capacity = needed < 2048 ? 4096 : 2 * needed;
		char *data = (char *)text->host->alloc(text->host->context, capacity, 0);
		if (!data) {
			text->failed = 1;
			return NULL;
		}
		if (text->length)
			memcpy(data, text->data, text->length);
		data[text->length] = '\0';
		tn_plugin_free(text->host, text->data);
		text->data = data;
		text->capacity = capacity;
	}
	return text->data + text->length;
}

/* Adds `length` bytes of any kind, which must not be part of the text itself. */
static inline void tn_plugin_text_append(struct tn_plugin_text *text, const void *bytes,
					 size_t length)
{
	char *to = tn_plugin_text_reserve(text, length);
	if (!to)
		return;
	if (length)
		memcpy(to, bytes, length);
	to[length] = '\0';
	text->length += length;
}

static inline void tn_plugin_text_add(struct tn_plugin_text *text, const char *words)
{
	tn_plugin_text_append(text, words, strlen(words));
}

/* Formats as printf, any length.  A decimal point would follow the locale: print floating-point
 * numbers by their bits. */
__attribute__((format(printf, 2, 3))) static inline void
tn_plugin_text_format(struct tn_plugin_text *text, const char *format, ...)
{
	va_list arguments;
	int length;
	char *to;
	va_start(arguments, format);
	length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	to = length < 0 ? NULL : tn_plugin_text_reserve(text, (size_t)length);
	if (!to) {
		text->failed = 1;
		return;
	}
	va_start(arguments, format);
	(void)vsnprintf(to, (size_t)length + 1, format, arguments);
	va_end(arguments);
	text->length += (size_t)length;
}

/* Writes the host's printing to a text: tn_print_args' `write`, with the text as `user`. */
static inline void tn_plugin_text_write(void *text, const char *bytes, size_t length)
{
	tn_plugin_text_append((struct tn_plugin_text *)text, bytes, length);
}

/* Adds the prelude (`program` NULL) or the statements of a program, printed by the host.  Returns
 * the host's status, or TN_OUT_OF_MEMORY; any failure also sets text->failed. */
static inline tn_status tn_plugin_text_print(struct tn_plugin_text *text,
					     const struct tn_dialect *dialect,
					     const struct tn_program *program, const char *prefix)
{
	const struct tn_host *host = text->host;
	struct tn_print_args args;
	tn_status status;
	memset(&args, 0, sizeof(args));
	args.struct_size = sizeof(args);
	args.dialect = dialect;
	args.prefix = prefix;
	args.write = tn_plugin_text_write;
	args.user = text;
	status = program ? host->print_program(host->context, program, &args)
			 : host->print_prelude(host->context, &args);
	if (status)
		text->failed = 1;
	return !status && text->failed ? TN_OUT_OF_MEMORY : status;
}

/* The dialect of C: an example, and for backends that compile for the CPU.  Compile with
 * -ffp-contract=off, and link with -lm. */
static inline const struct tn_dialect *tn_plugin_dialect_c(void)
{
	static const struct tn_dialect dialect = {
		sizeof(struct tn_dialect), TN_OP_COUNT,
		TN_PLUGIN_DTYPE(TN_BOOL) | TN_PLUGIN_DTYPE(TN_I32) | TN_PLUGIN_DTYPE(TN_U32) |
			TN_PLUGIN_DTYPE(TN_I64) | TN_PLUGIN_DTYPE(TN_F32) | TN_PLUGIN_DTYPE(TN_F64),
		"#include <math.h>\n"
		"#include <stdint.h>\n"
		"#include <string.h>\n"
		"typedef uint8_t tn_bool;\n"
		"typedef int32_t tn_i32;\n"
		"typedef uint32_t tn_u32;\n"
		"typedef int64_t tn_i64;\n"
		"typedef uint64_t tn_u64;\n"
		"typedef float tn_f32;\n"
		"typedef double tn_f64;\n"
		"#define TN_HAS_F64 1\n"
		"#define TN_HAS_STORAGE 1\n"
		"typedef int8_t tn_i8;\n"
		"typedef int16_t tn_i16;\n"
		"typedef uint8_t tn_u8;\n"
		"typedef uint16_t tn_u16;\n"
		"#define TN_I64(n) n##LL\n"
		"#define TN_U64(n) n##ULL\n"
		"#define TN_F32(x) x##f\n"
		"#define TN_F64(x) x\n"
		"#define TN_FN static inline __attribute__((unused))\n"
		"#define TN_DATA static const\n"
		"#define TN_M32(name) name##f\n"
		"#define TN_M64(name) name\n"
		"#define tn_add_f32(a, b) ((a) + (b))\n"
		"#define tn_sub_f32(a, b) ((a) - (b))\n"
		"#define tn_mul_f32(a, b) ((a) * (b))\n"
		"#define tn_div_f32(a, b) ((a) / (b))\n"
		"#define tn_sqrt_f32(a) sqrtf(a)\n"
		"#define tn_add_f64(a, b) ((a) + (b))\n"
		"#define tn_sub_f64(a, b) ((a) - (b))\n"
		"#define tn_mul_f64(a, b) ((a) * (b))\n"
		"#define tn_div_f64(a, b) ((a) / (b))\n"
		"#define tn_sqrt_f64(a) sqrt(a)\n"
		"TN_FN tn_f32 tn_f32_of_bits(tn_u32 u) { tn_f32 x; memcpy(&x, &u, 4); return x; }\n"
		"TN_FN tn_f64 tn_f64_of_bits(tn_u64 u) { tn_f64 x; memcpy(&x, &u, 8); return x; }\n"
		"TN_FN tn_u32 tn_bits_of_f32(tn_f32 x) { tn_u32 u; memcpy(&u, &x, 4); return u; "
		"}\n"};
	return &dialect;
}

/* ---- Conversions in printed source -----------------------------------------------------------
 *
 * For dialects whose words define TN_HAS_STORAGE: between the stored form of elements and the form
 * that programs take.
 */

/* The type of an element in memory: f16 and bf16 are tn_u16.  NULL: complex, or unknown. */
static inline const char *tn_plugin_stored_type(tn_dtype dtype)
{
	switch (dtype) {
	case TN_BOOL:
		return "tn_bool";
	case TN_I8:
		return "tn_i8";
	case TN_I16:
		return "tn_i16";
	case TN_I32:
		return "tn_i32";
	case TN_I64:
		return "tn_i64";
	case TN_U8:
		return "tn_u8";
	case TN_U16:
	case TN_F16:
	case TN_BF16:
		return "tn_u16";
	case TN_U32:
		return "tn_u32";
	case TN_U64:
		return "tn_u64";
	case TN_F32:
		return "tn_f32";
	case TN_F64:
		return "tn_f64";
	default:
		return NULL;
	}
}

/* Adds `expression`, an element stored as `from`, converted to the stored form of `to` by the rules
 * of the cast. */
static inline void tn_plugin_text_convert(struct tn_plugin_text *text, tn_dtype from, tn_dtype to,
					  const char *expression)
{
	const char *before = from == TN_F16    ? "tn_f32_of_f16("
			     : from == TN_BF16 ? "tn_f32_of_bf16("
			     : from == TN_BOOL ? "(0 != "
					       : "(";
	const int saturates = tn_plugin_dtype_kind(from) == TN_PLUGIN_KIND_FLOATING &&
			      (tn_plugin_dtype_kind(to) & TN_PLUGIN_KIND_INTEGER);
	if (from == to && from != TN_BOOL)
		tn_plugin_text_add(text, expression);
	else if (to == TN_BOOL)
		tn_plugin_text_format(text, "(tn_bool)(%s%s) != 0)", before, expression);
	else if (to == TN_F16 || to == TN_BF16)
		tn_plugin_text_format(text, "tn_%s_of_f32((tn_f32)%s%s))",
				      to == TN_F16 ? "f16" : "bf16", before, expression);
	else if (saturates)
		tn_plugin_text_format(text, "%s_of_%s(%s%s))", tn_plugin_stored_type(to),
				      from == TN_F64 ? "f64" : "f32", before, expression);
	else
		tn_plugin_text_format(text, "(%s)%s%s)", tn_plugin_stored_type(to), before,
				      expression);
}

/* ---- Programs --------------------------------------------------------------------------------
 *
 * Queries about a program that has passed program_check.
 */

/* The bytes that a copy of a program takes, with all that it points to. */
static inline size_t tn_plugin_program_size(const struct tn_program *program)
{
	return (sizeof(*program) + 15) / 16 * 16 + (size_t)program->n_bytes;
}

/* Copies a program to `memory`, which has room for tn_plugin_program_size, aligned as malloc's, for
 * work that begins after the entry has returned.  Returns the copy, which needs no release. */
static inline const struct tn_program *tn_plugin_program_copy(void *memory,
							      const struct tn_program *program)
{
	struct tn_program *copy = (struct tn_program *)memory;
	char *bytes = (char *)memory + (sizeof(*copy) + 15) / 16 * 16;
	const char *from = (const char *)program->bytes;
	const size_t known =
		program->struct_size < sizeof(*copy) ? program->struct_size : sizeof(*copy);
	memset(copy, 0, sizeof(*copy));
	memcpy(copy, program, known);
	copy->struct_size = sizeof(*copy);
	memcpy(bytes, program->bytes, (size_t)program->n_bytes);
	copy->bytes = bytes;
	copy->instructions =
		(const struct tn_instruction *)(bytes +
						((const char *)program->instructions - from));
	copy->constants = (const uint64_t *)(bytes + ((const char *)program->constants - from));
	copy->outputs = (const uint16_t *)(bytes + ((const char *)program->outputs - from));
	return copy;
}

/* Does it have an instruction of that opcode? */
static inline int tn_plugin_program_has(const struct tn_program *program, uint16_t op)
{
	for (uint32_t i = 0; i < program->n_instructions; i++) {
		if (program->instructions[i].op == op)
			return 1;
	}
	return 0;
}

/* The dtype in which it reads input or scalar `number` (TN_OP_INPUT, TN_OP_SCALAR); 0: it does
 * not. */
static inline tn_dtype tn_plugin_source_dtype(const struct tn_program *program, uint16_t op,
					      uint32_t number)
{
	for (uint32_t i = 0; i < program->n_instructions; i++) {
		const struct tn_instruction *instruction = &program->instructions[i];
		if (instruction->op == op && instruction->a == number)
			return (tn_dtype)instruction->dtype;
	}
	return 0;
}

/* The dtype of the value that is output `number`. */
static inline tn_dtype tn_plugin_output_dtype(const struct tn_program *program, uint32_t number)
{
	return (tn_dtype)program->instructions[program->outputs[number]].dtype;
}

#ifdef __cplusplus
}
#endif
#endif
