/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Included once for each size of element: T is a type of that size, NAME(function) the name of a
 * function for it.  Both are undefined at the end.
 */

static inline void NAME(fill)(void *out, const void *value, size_t n)
{
	T *o = out, v = *(const T *)value;
	for (size_t i = 0; i < n; i++)
		o[i] = v;
}

static inline void NAME(strided)(char *out, int64_t to, const char *in, int64_t from, size_t n)
{
	T *o = (T *)(void *)out;
	const T *source = (const T *)(const void *)in;
	if (from == 0) {
		T v = *source;
		for (size_t i = 0; i < n; i++)
			o[(int64_t)i * to] = v;
	} else if (to == 1) {
		for (size_t i = 0; i < n; i++)
			o[i] = source[(int64_t)i * from];
	} else {
		for (size_t i = 0; i < n; i++)
			o[(int64_t)i * to] = source[(int64_t)i * from];
	}
}

/* By squares of 16 x 16, which are read completely into registers or L1.  The input is compact
 * along columns, so that each column of a square is one run. */
static inline void NAME(band)(char *out, int64_t out_down, int64_t out_across, const char *in,
			      int64_t in_down, int64_t in_across, size_t rows, size_t columns)
{
	T square[16][16], *o = (T *)(void *)out;
	const T *source = (const T *)(const void *)in;
	for (size_t j = 0; j < columns; j += 16) {
		size_t width = columns - j < 16 ? columns - j : 16;
		for (size_t c = 0; c < width; c++) {
			const T *column = source + (int64_t)(j + c) * in_across;
			for (size_t r = 0; r < rows; r++)
				square[r][c] = column[(int64_t)r * in_down];
		}
		for (size_t r = 0; r < rows; r++) {
			T *row = o + (int64_t)r * out_down + (int64_t)j * out_across;
			for (size_t c = 0; c < width; c++)
				row[(int64_t)c * out_across] = square[r][c];
		}
	}
}

#undef T
#undef NAME
