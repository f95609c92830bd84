/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Strided moves of elements of one size.  The including file defines T, NAME(x) and NAME(square),
 * which transposes SQUARE by SQUARE elements.  Strides here are in elements; addresses are aligned
 * to T.
 */
static void NAME(fill)(T *dst, T value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		dst[i] = value;
}

static void NAME(gather_row)(T *dst, const T *src, int64_t stride, size_t n)
{
	if (stride == 2) {
		for (size_t i = 0; i < n; i++)
			dst[i] = src[2 * i];
		return;
	}
	for (size_t i = 0; i < n; i++)
		dst[i] = src[(int64_t)i * stride];
}

static void NAME(scatter_row)(T *dst, int64_t stride, const T *src, size_t n)
{
	for (size_t i = 0; i < n; i++)
		dst[(int64_t)i * stride] = src[i];
}

/* dst[y][x] := src[x][y] for the part [x0, nx) x [y0, ny), element by element. */
static void NAME(transpose_rest)(T *dst, int64_t dst_stride, const T *src, int64_t src_stride,
				 size_t x0, size_t nx, size_t y0, size_t ny)
{
	for (size_t y = y0; y < ny; y++) {
		for (size_t x = x0; x < nx; x++)
			dst[(int64_t)y * dst_stride + (int64_t)x] =
				src[(int64_t)x * src_stride + (int64_t)y];
	}
}

/* dst[y][x] := src[x][y], in squares, and the edges. */
static void NAME(transpose)(T *dst, int64_t dst_stride, const T *src, int64_t src_stride, size_t nx,
			    size_t ny)
{
	size_t x_end = nx / SQUARE * SQUARE, y_end = ny / SQUARE * SQUARE;
	for (size_t x = 0; x < x_end; x += SQUARE) {
		for (size_t y = 0; y < y_end; y += SQUARE)
			NAME(square)
		(dst + (int64_t)y * dst_stride + (int64_t)x, dst_stride,
		 src + (int64_t)x * src_stride + (int64_t)y, src_stride);
	}
	NAME(transpose_rest)(dst, dst_stride, src, src_stride, x_end, nx, 0, y_end);
	NAME(transpose_rest)(dst, dst_stride, src, src_stride, 0, nx, y_end, ny);
}

static void NAME(gather)(T *dst, const T *src, int64_t sx, int64_t sy, size_t nx, size_t ny)
{
	if (sy == 1 && ny > 1) {
		NAME(transpose)(dst, (int64_t)nx, src, sx, nx, ny);
		return;
	}
	for (size_t y = 0; y < ny; y++, dst += nx) {
		const T *row = src + (int64_t)y * sy;
		if (sx == 0)
			NAME(fill)(dst, *row, nx);
		else
			NAME(gather_row)(dst, row, sx, nx);
	}
}

static void NAME(scatter)(T *dst, int64_t dx, int64_t dy, const T *src, size_t nx, size_t ny)
{
	if (dy == 1 && ny > 1) {
		/* Rows of dst are columns of src. */
		NAME(transpose)(dst, dx, src, (int64_t)nx, ny, nx);
		return;
	}
	for (size_t y = 0; y < ny; y++, src += nx)
		NAME(scatter_row)(dst + (int64_t)y * dy, dx, src, nx);
}

#undef T
#undef NAME
#undef SQUARE
