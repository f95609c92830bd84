/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Written by numpy_dtypes.py: the dtypes that NumPy 2.4.6 gives to results, in the order of the
 * dtypes' numbers.  "-": NumPy refuses.
 */
/* clang-format off */
static const char *const numpy_result_type[15] = {
	"bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128",
	"i8 i8 i16 i32 i64 i16 i32 i64 f64 f16 bf16 f32 f64 c64 c128",
	"i16 i16 i16 i32 i64 i16 i32 i64 f64 f32 - f32 f64 c64 c128",
	"i32 i32 i32 i32 i64 i32 i32 i64 f64 f64 - f64 f64 c128 c128",
	"i64 i64 i64 i64 i64 i64 i64 i64 f64 f64 - f64 f64 c128 c128",
	"u8 i16 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128",
	"u16 i32 i32 i32 i64 u16 u16 u32 u64 f32 - f32 f64 c64 c128",
	"u32 i64 i64 i64 i64 u32 u32 u32 u64 f64 - f64 f64 c128 c128",
	"u64 f64 f64 f64 f64 u64 u64 u64 u64 f64 - f64 f64 c128 c128",
	"f16 f16 f32 f64 f64 f16 f32 f64 f64 f16 - f32 f64 c64 c128",
	"bf16 bf16 - - - bf16 - - - - bf16 f32 f64 c64 c128",
	"f32 f32 f32 f64 f64 f32 f32 f64 f64 f32 f32 f32 f64 c64 c128",
	"f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 c128 c128",
	"c64 c64 c64 c128 c128 c64 c64 c128 c128 c64 c64 c64 c128 c64 c128",
	"c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128",
};

static const struct {
	const char *operation;
	const char *dtypes;
} numpy_operations[] = {
	{"negative", "- i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128"},
	{"abs", "bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 f32 f64"},
	{"sign", "- i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128"},
	{"square", "i8 i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128"},
	{"sqrt", "f16 f16 f32 f64 f64 f16 f32 f64 f64 f16 bf16 f32 f64 c64 c128"},
	{"exp", "f16 f16 f32 f64 f64 f16 f32 f64 f64 f16 bf16 f32 f64 c64 c128"},
	{"log", "f16 f16 f32 f64 f64 f16 f32 f64 f64 f16 bf16 f32 f64 c64 c128"},
	{"sin", "f16 f16 f32 f64 f64 f16 f32 f64 f64 f16 bf16 f32 f64 c64 c128"},
	{"cos", "f16 f16 f32 f64 f64 f16 f32 f64 f64 f16 bf16 f32 f64 c64 c128"},
	{"tanh", "f16 f16 f32 f64 f64 f16 f32 f64 f64 f16 bf16 f32 f64 c64 c128"},
	{"floor", "bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 - -"},
	{"ceil", "bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 - -"},
	{"round", "f16 i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128"},
	{"sum", "i64 i64 i64 i64 i64 u64 u64 u64 u64 f16 bf16 f32 f64 c64 c128"},
	{"prod", "i64 i64 i64 i64 i64 u64 u64 u64 u64 f16 bf16 f32 f64 c64 c128"},
	{"mean", "f64 f64 f64 f64 f64 f64 f64 f64 f64 f16 bf16 f32 f64 c64 c128"},
	{"max", "bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128"},
	{"cumsum", "i64 i64 i64 i64 i64 u64 u64 u64 u64 f16 bf16 f32 f64 c64 c128"},
	{"affine", "f64 f64 f64 f64 f64 f64 f64 f64 f64 f16 f32 f32 f64 c64 c128"},
	{"add", "bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128"},
	{"subtract", "- i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128"},
	{"multiply", "bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128"},
	{"divide", "f64 f64 f64 f64 f64 f64 f64 f64 f64 f16 bf16 f32 f64 c64 c128"},
	{"power", "i8 i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128"},
	{"maximum", "bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128"},
	{"equal", "bool bool bool bool bool bool bool bool bool bool bool bool bool bool bool"},
	{"less", "bool bool bool bool bool bool bool bool bool bool bool bool bool bool bool"},
	{"matmul", "bool i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f32 f64 c64 c128"},
};
/* clang-format on */
