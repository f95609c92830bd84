/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Says how element programs are printed as OpenCL C: its words and types.
 *
 * f16 and bf16 are converted by their bits, which needs no extension.
 */
#include "program.h"

#include "words_text.h"

const struct tn_dialect opencl_dialect = {
	.struct_size = sizeof(opencl_dialect),
	.n_operations = TN_OP_COUNT,
	/* A device without f64 has already refused programs that compute in it. */
	.dtypes = OPENCL_COMPUTES,
	.words = words,
};

const char *opencl_type(tn_dtype dtype)
{
	static const char *const types[16] = {
		[TN_BOOL] = "uchar", [TN_I8] = "char",    [TN_I16] = "short",   [TN_I32] = "int",
		[TN_I64] = "long",   [TN_U8] = "uchar",   [TN_U16] = "ushort",  [TN_U32] = "uint",
		[TN_U64] = "ulong",  [TN_F16] = "ushort", [TN_BF16] = "ushort", [TN_F32] = "float",
		[TN_F64] = "double", [TN_C64] = "ulong",  [TN_C128] = "ulong2"};
	return types[dtype];
}
