/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Decoders of floating-point instructions, and the types they take.
 */
#ifndef SIMCUDA_PTX_DECODE_FLOAT_H
#define SIMCUDA_PTX_DECODE_FLOAT_H

#include "ptx_decode.h"

static inline int ptx_is_float(const struct ptx_type *type)
{
	return type->kind == 'f' || type->kind == 'h' || type->kind == 't';
}

/* The current instruction with `count` operands, of any float type. */
int ptx_float_arithmetic(struct ptx_reader *reader, const char *name, unsigned count);
int ptx_float_sign(struct ptx_reader *reader, const char *name);
int ptx_float_extreme(struct ptx_reader *reader, const char *name);
/* .ftz on an f32: a scratch place with the number flushed, or the place itself. */
int32_t ptx_flushed(struct ptx_reader *reader, int flush, int32_t place);

#endif
