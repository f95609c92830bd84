/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The conversions from one storage dtype, by the rules of cast.h.  The including file defines FROM
 * (its C type), VALUE (the type that it is computed in), LOAD(x) (FROM to VALUE), IS_FLOATING and
 * NAME(x).
 */
#define CAST(TO, expression)                                                                       \
	do {                                                                                       \
		TO *d = dst;                                                                       \
		const FROM *p = a;                                                                 \
		(void)b, (void)c;                                                                  \
		TN_BLOCK_LOOP                                                                      \
		for (size_t i = 0; i < n; i++) {                                                   \
			VALUE x = LOAD(p[i]);                                                      \
			d[i] = (TO)(expression);                                                   \
		}                                                                                  \
	} while (0)

/* Floating values saturate and NaN gives 0; integers wrap. */
#if IS_FLOATING
#define INTEGER(TO, LOW, HIGH, BELOW, ABOVE)                                                       \
	CAST(TO, x != x ? 0 : x >= (VALUE)(ABOVE) ? (HIGH) : x <= (VALUE)(BELOW) ? (LOW) : (TO)x)
#else
#define INTEGER(TO, LOW, HIGH, BELOW, ABOVE) CAST(TO, x)
#endif

static void NAME(to_bool)(BLOCK)
{
	CAST(uint8_t, x != 0);
}

static void NAME(to_i8)(BLOCK)
{
	INTEGER(int8_t, INT8_MIN, INT8_MAX, -0x1p7, 0x1p7);
}

static void NAME(to_i16)(BLOCK)
{
	INTEGER(int16_t, INT16_MIN, INT16_MAX, -0x1p15, 0x1p15);
}

static void NAME(to_i32)(BLOCK)
{
	INTEGER(int32_t, INT32_MIN, INT32_MAX, -0x1p31, 0x1p31);
}

static void NAME(to_i64)(BLOCK)
{
	INTEGER(int64_t, INT64_MIN, INT64_MAX, -0x1p63, 0x1p63);
}

static void NAME(to_u8)(BLOCK)
{
	INTEGER(uint8_t, 0, UINT8_MAX, 0, 0x1p8);
}

static void NAME(to_u16)(BLOCK)
{
	INTEGER(uint16_t, 0, UINT16_MAX, 0, 0x1p16);
}

static void NAME(to_u32)(BLOCK)
{
	INTEGER(uint32_t, 0, UINT32_MAX, 0, 0x1p32);
}

static void NAME(to_u64)(BLOCK)
{
	INTEGER(uint64_t, 0, UINT64_MAX, 0, 0x1p64);
}

static void NAME(to_f16)(BLOCK)
{
	CAST(uint16_t, tn_f16_of_f32((float)x));
}

static void NAME(to_bf16)(BLOCK)
{
	CAST(uint16_t, tn_bf16_of_f32((float)x));
}

static void NAME(to_f32)(BLOCK)
{
	CAST(float, x);
}

static void NAME(to_f64)(BLOCK)
{
	CAST(double, x);
}

static const tn_block_fn NAME(casts)[TN_DTYPES] = {
	[TN_BOOL] = NAME(to_bool), [TN_I8] = NAME(to_i8),     [TN_I16] = NAME(to_i16),
	[TN_I32] = NAME(to_i32),   [TN_I64] = NAME(to_i64),   [TN_U8] = NAME(to_u8),
	[TN_U16] = NAME(to_u16),   [TN_U32] = NAME(to_u32),   [TN_U64] = NAME(to_u64),
	[TN_F16] = NAME(to_f16),   [TN_BF16] = NAME(to_bf16), [TN_F32] = NAME(to_f32),
	[TN_F64] = NAME(to_f64),
};

#undef CAST
#undef INTEGER
#undef FROM
#undef VALUE
#undef LOAD
#undef IS_FLOATING
#undef NAME
