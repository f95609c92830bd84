// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Tenon developers
//
// Convolution as an implicit matrix product D = A B for each group, where
//
//	PASS 0, forward          A = w (o x taps)     B = x (taps x pixels of y)       D = y
//	PASS 1, input gradient   A = w (c x taps)     B = dy (taps x pixels of x)      D = dx
//	PASS 2, weight gradient  A = dy (o x pixels)  B = x (pixels of y x taps)       D = dw
//
// A tap is a channel with a position (r, s) in the window; a pixel is an image with a position in
// its plane.  A block of 256 threads computes ROWS x COLUMNS of D.  LONG of k at a time go through
// shared memory, in two buffers: the next tile is loaded while this one is used.  CHANNELS_LAST
// selects the dense axis of the images, along which neighbouring threads read.
//
// An element of B costs one addition for its address, as it is linear in the pixel and in the tap:
// both parts are computed once for each column and for each k of a tile.  The input gradient has
// stride 1: the host cuts others into such.
//
// Long sums, those of the weight gradient above all, are split into parts, whose number depends on
// the shape alone; conv2d_sum adds them in order.  No atomics: each run on a device gives the same
// bits.
//
// Without MATRIX a thread multiplies and adds a square of D in its registers.  With MATRIX, tensor
// cores multiply, if the architecture has them for this type: f16, bf16, and
// f32 with factors rounded to TF32.  Sums are f32 then too.  Their order is the same from run to
// run, but differs between device generations: 7.5 takes 8 of k at a time, 8.0 and later 16 of f16
// and bf16, and the order in which one multiplication adds its products is defined by the hardware.
//
// DTYPE, PASS, CHANNELS_LAST, ACTIVATION, HAS_BIAS, HAS_RESIDUAL, ACCUMULATE, PARTIAL; and of a
// product ROWS, COLUMNS, MATRIX, LEFT_ALONG_K, LEFT_VECTOR, RIGHT_VECTOR, RESULT_ALONG_M,
// RESULT_VECTOR: the axis of A and of D along which that many elements are contiguous and either
// all inside or all outside.  Those of B are along the axis that CHANNELS_LAST selects.

typedef cu_type<DTYPE> element;
typedef cu_sum<element> sum;

#define THREADS 256

// A divisor: q = (high(n m) + n) >> shift, for n below 2^31.
struct divisor {
	cu_u32 d, m, shift;
};

struct convolution {
	cu_u64 x, w, y, bias, residual, partial;
	cu_i64 xs[4], ws[4], ys[4], rs[4], bias_stride;
	divisor by_channels; // of a tap: C / groups, or O / groups if dy is read
	divisor by_window;   // R S
	divisor by_columns;  // S
	divisor by_plane, by_width; // of a pixel
	divisor by_splits;
	cu_i32 m, n, k; // of the product, in each group
	cu_i32 height, width; // of the plane that B is read from
	cu_i32 o, c; // channels of a group
	cu_i32 stride[2], dilation[2], padding[2];
	cu_i32 chunk; // of k, in each part of a split
	cu_i32 groups;
};

CU_FN cu_u32 divide(cu_u32 n, const divisor &by)
{
	return (__umulhi(n, by.m) + n) >> by.shift;
}

// The position of a pixel and of a tap: the element is at the sum of both, in the input gradient at
// their difference, if that is inside.
struct alignas(16) place {
	cu_i64 at; // in bytes
	cu_i32 h, w;
};

// No element meets a pixel of this h, or a tap of this w.
#define NO_PIXEL (PASS == 1 ? -1 : -2147483647 - 1)
#define NO_TAP (PASS == 1 ? 2147483647 : -2147483647 - 1)

CU_FN void cut_pixel(const convolution &g, cu_u32 index, cu_u32 &image, cu_i32 &h, cu_i32 &w)
{
	image = divide(index, g.by_plane);
	const cu_u32 rest = index - image * g.by_plane.d, line = divide(rest, g.by_width);
	h = (cu_i32)line;
	w = (cu_i32)(rest - line * g.by_width.d);
}

CU_FN place pixel_of(const convolution &g, cu_u32 index)
{
	cu_u32 image;
	place p;
	cut_pixel(g, index, image, p.h, p.w);
	if (PASS == 1) {
		p.h += g.padding[0];
		p.w += g.padding[1];
	} else {
		p.h = p.h * g.stride[0] - g.padding[0];
		p.w = p.w * g.stride[1] - g.padding[1];
	}
	const cu_i64 *stride = PASS == 1 ? g.ys : g.xs;
	p.at = (image * stride[0] + p.h * stride[2] + p.w * stride[3]) * sizeof(element);
	return p;
}

CU_FN void cut_tap(const convolution &g, cu_u32 index, cu_i32 &channel, cu_i32 &r, cu_i32 &s)
{
	cu_u32 cell;
	if (CHANNELS_LAST) {
		cell = divide(index, g.by_channels);
		channel = (cu_i32)(index - cell * g.by_channels.d);
	} else {
		channel = (cu_i32)divide(index, g.by_window);
		cell = index - (cu_u32)channel * g.by_window.d;
	}
	r = (cu_i32)divide(cell, g.by_columns);
	s = (cu_i32)(cell - (cu_u32)r * g.by_columns.d);
}

CU_FN place tap_of(const convolution &g, cu_u32 index)
{
	cu_i32 channel, r, s;
	place p;
	cut_tap(g, index, channel, r, s);
	p.h = r * g.dilation[0];
	p.w = s * g.dilation[1];
	const cu_i64 *stride = PASS == 1 ? g.ys : g.xs;
	const cu_i64 inside = p.h * stride[2] + p.w * stride[3];
	p.at = (channel * stride[1] + (PASS == 1 ? -inside : inside)) * sizeof(element);
	return p;
}

// Locates the element of x, or in the input gradient of dy, where a pixel meets a tap; false:
// outside.
CU_FN bool meet(const convolution &g, const place &pixel, const place &tap, cu_i64 &at)
{
	const cu_u32 h = PASS == 1 ? (cu_u32)pixel.h - tap.h : (cu_u32)pixel.h + tap.h;
	const cu_u32 w = PASS == 1 ? (cu_u32)pixel.w - tap.w : (cu_u32)pixel.w + tap.w;
	at = pixel.at + tap.at;
	return h < (cu_u32)g.height && w < (cu_u32)g.width;
}

CU_FN sum gather(const convolution &g, const element *from, const place &pixel, const place &tap)
{
	cu_i64 at;
	return meet(g, pixel, tap, at)
		       ? cu_convert<sum>(*(const element *)((const char *)from + at))
		       : (sum)0;
}

// The position of A[m, k], in w or in dy: the sum of these two.
CU_FN cu_i64 left_along_m(const convolution &g, cu_i32 m)
{
	return m * (PASS == 0 ? g.ws[0] : PASS == 1 ? g.ws[1] : g.ys[1]);
}

CU_FN cu_i64 left_along_k(const convolution &g, cu_i32 k)
{
	cu_i32 channel, r, s;
	if (PASS == 2) {
		cu_u32 image;
		cut_pixel(g, (cu_u32)k, image, r, s);
		return image * g.ys[0] + r * g.ys[2] + s * g.ys[3];
	}
	cut_tap(g, (cu_u32)k, channel, r, s);
	return channel * (PASS == 0 ? g.ws[1] : g.ws[0]) + r * g.ws[2] + s * g.ws[3];
}

CU_FN sum left(const convolution &g, const element *from, cu_i32 m, cu_i32 k)
{
	return cu_convert<sum>(from[left_along_m(g, m) + left_along_k(g, k)]);
}

// The position of an element of D, without its group's offset.
CU_FN cu_i64 result_place(const convolution &g, cu_i32 m, cu_i32 n, const cu_i64 *stride)
{
	cu_i32 h, w;
	if (PASS == 2) {
		cu_i32 channel;
		cut_tap(g, (cu_u32)n, channel, h, w);
		return m * stride[0] + channel * stride[1] + h * stride[2] + w * stride[3];
	}
	cu_u32 image;
	cut_pixel(g, (cu_u32)n, image, h, w);
	return image * stride[0] + m * stride[1] + h * stride[2] + w * stride[3];
}

template <int count> CU_FN void add_pack(sum (&value)[count], const element *from)
{
	element pack[count];
	cu_load<count>(pack, from);
#pragma unroll
	for (int i = 0; i < count; i++)
		value[i] += cu_convert<sum>(pack[i]);
}

// Finishes and writes elements of D from [m, n] on that are contiguous along m, or along n.
template <int count, bool along_m>
CU_FN void finish(const convolution &g, cu_i32 group, cu_i32 m, cu_i32 n, sum (&value)[count])
{
	const cu_u64 to = PASS == 0 ? g.y : PASS == 1 ? g.x : g.w;
	const cu_i64 *stride = PASS == 0 ? g.ys : PASS == 1 ? g.xs : g.ws;
	const cu_i64 skip = (cu_i64)group * g.m;
	element *at =
		(element *)to + skip * stride[PASS == 2 ? 0 : 1] + result_place(g, m, n, stride);
	element result[count];
	if (HAS_BIAS) {
		const element *bias = (const element *)g.bias + (skip + m) * g.bias_stride;
#pragma unroll
		for (int i = 0; i < count; i++)
			value[i] += cu_convert<sum>(bias[along_m ? i * g.bias_stride : 0]);
	}
	if (HAS_RESIDUAL)
		add_pack(value, (const element *)g.residual + skip * g.rs[1] +
					result_place(g, m, n, g.rs));
	if (ACCUMULATE)
		add_pack(value, at);
#pragma unroll
	for (int i = 0; i < count; i++)
		result[i] = cu_convert<element>(cu_activate<ACTIVATION>(value[i]));
	cu_store<count>(at, result);
}

CU_FN void finish(const convolution &g, cu_i32 group, cu_i32 m, cu_i32 n, sum value)
{
	sum one[1] = {value};
	finish<1, false>(g, group, m, n, one);
}

#ifdef KERNEL_conv2d_product
// Neighbouring threads load neighbours along the dense axis.
#define B_ALONG_K (PASS < 2 ? CHANNELS_LAST : !CHANNELS_LAST)

CU_FN place column_of(const convolution &g, cu_i32 n)
{
	const bool is_valid = n < g.n;
	place p = PASS == 2 ? tap_of(g, is_valid ? n : 0) : pixel_of(g, is_valid ? n : 0);
	if (!is_valid)
		(PASS == 2 ? p.w : p.h) = PASS == 2 ? NO_TAP : NO_PIXEL;
	return p;
}

CU_FN bool is_row(const place &p)
{
	return PASS == 2 ? p.h != NO_PIXEL : p.w != NO_TAP;
}

CU_FN place row_of(const convolution &g, cu_i32 k, cu_i32 end)
{
	const bool is_valid = k < end;
	place p = PASS == 2 ? pixel_of(g, is_valid ? k : 0) : tap_of(g, is_valid ? k : 0);
	if (!is_valid)
		(PASS == 2 ? p.h : p.w) = PASS == 2 ? NO_PIXEL : NO_TAP;
	return p;
}

// A and B of a group.
CU_FN const element *left_of(const convolution &g, cu_i32 group)
{
	return PASS == 2 ? (const element *)g.y + (cu_i64)group * g.o * g.ys[1]
			 : (const element *)g.w + (cu_i64)group * g.o * g.ws[0];
}

CU_FN const element *right_of(const convolution &g, cu_i32 group)
{
	return PASS == 1 ? (const element *)g.y + (cu_i64)group * g.o * g.ys[1]
			 : (const element *)g.x + (cu_i64)group * g.c * g.xs[1];
}

CU_FN sum *partial_of(const convolution &g, cu_i32 group, cu_u32 part, cu_i32 m, cu_i32 n)
{
	return (sum *)g.partial + (((cu_u64)part * g.groups + group) * g.m + m) * g.n + n;
}

#if MATRIX && (DTYPE == 10 || __CUDA_ARCH__ >= 800)
// ---- Tensor cores -------------------------------------------------------------------------------
//
// A tile is two instructions deep.  In shared memory it has the dense axis that it has in global
// memory, and is transposed, if needed, when the registers of an instruction are loaded from it.
#if DTYPE == 12
typedef cu_u32 kept;
#else
typedef cu_u16 kept;
#endif
// n elements on their way, as words: of narrower numbers the compiler would make registers each.
template <int bytes> struct words { typedef cu_pack<cu_u32, bytes / 4> type; };
template <> struct words<2> { typedef cu_pack<cu_u16, 1> type; };
template <int n> using loaded = typename words<n * (int)sizeof(kept)>::type;

#define LONG (64 / (int)sizeof(kept)) // of k in a tile
#define HALF (16 / (int)sizeof(kept)) // of k in 16 bytes: half of what an instruction takes
#define WARPS_HIGH (ROWS > COLUMNS ? 4 : 2)
#define WARPS_BROAD (8 / WARPS_HIGH)
#define SLICE (16 * WARPS_HIGH)    // rows that the warps have at a time
#define HIGH (ROWS / SLICE)        // 16 x 8 results of a warp
#define BROAD (COLUMNS / WARPS_BROAD / 8)
#define GAP 8 // between rows of results in shared memory

typedef cu_f32 square[HIGH][BROAD][4]; // a thread's share of D

// The padding puts simultaneous reads of a warp into different banks.
template <int length, bool along_k> struct tile {
	alignas(16) kept at[along_k ? length : LONG][along_k ? LONG + HALF : length + 8];

	template <int n> CU_MEMBER void put(cu_i32 outer, cu_i32 k, loaded<n> pack)
	{
#if DTYPE == 12
#pragma unroll
		for (int i = 0; i < n; i++)
			asm("cvt.rna.tf32.f32 %0, %1;"
			    : "=r"(pack.at[i])
			    : "f"(__uint_as_float(pack.at[i])));
#endif
		*reinterpret_cast<loaded<n> *>(along_k ? &at[outer][k] : &at[k][outer]) = pack;
	}
};

typedef tile<ROWS, LEFT_ALONG_K> left_tile;
typedef tile<COLUMNS, B_ALONG_K> right_tile;

// Four matrices of 8 rows of 16 bytes: this lane has the address of row lane % 8 of matrix lane /
// 8.
template <bool turned> CU_FN void load_four(cu_u32 (&to)[4], const kept *row)
{
	const cu_u32 at = (cu_u32)__cvta_generic_to_shared(row);
	if (turned)
		asm volatile(
			"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
			: "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
			: "r"(at)
			: "memory");
	else
		asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
			     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
			     : "r"(at)
			     : "memory");
}

// A of one instruction: 16 rows from m on, 32 bytes of k.
CU_FN void left_part(cu_u32 (&to)[4], const left_tile &t, cu_i32 m, cu_i32 k)
{
	const cu_i32 lane = threadIdx.x % 32, row = lane % 8, low = lane / 8 % 2, last = lane / 16;
	if constexpr (LEFT_ALONG_K)
		load_four<false>(to, &t.at[m + low * 8 + row][k + last * HALF]);
	else if constexpr (sizeof(kept) == 2)
		load_four<true>(to, &t.at[k + last * HALF + row][m + low * 8]);
	else
#pragma unroll
		for (int i = 0; i < 4; i++)
			to[i] = t.at[k + i / 2 * HALF + lane % 4][m + i % 2 * 8 + lane / 4];
}

// B of two: 8 columns from n on, all of k.
CU_FN void right_part(cu_u32 (&to)[4], const right_tile &t, cu_i32 n)
{
	const cu_i32 lane = threadIdx.x % 32, row = lane % 8, quarter = lane / 8;
	if constexpr (B_ALONG_K)
		load_four<false>(to, &t.at[n + row][quarter * HALF]);
	else if constexpr (sizeof(kept) == 2)
		load_four<true>(to, &t.at[quarter * HALF + row][n]);
	else
#pragma unroll
		for (int i = 0; i < 4; i++)
			to[i] = t.at[i * HALF + lane % 4][n + lane / 4];
}

CU_FN void multiply_add(cu_f32 (&d)[4], const cu_u32 (&a)[4], cu_u32 b0, cu_u32 b1)
{
#if DTYPE == 10 && __CUDA_ARCH__ < 800
	asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
	    "{%0, %1, %2, %3};"
	    : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
	    : "r"(a[0]), "r"(a[1]), "r"(b0));
	asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
	    "{%0, %1, %2, %3};"
	    : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
	    : "r"(a[2]), "r"(a[3]), "r"(b1));
#else
#if DTYPE == 10
	asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
#elif DTYPE == 11
	asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
#else
	asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
#endif
	    "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
	    : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
	    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

// The position of a warp's results in the block's: rows of slice i, columns.
CU_FN cu_i32 warp_row(int i)
{
	return i * SLICE + (cu_i32)(threadIdx.x / 32) / WARPS_BROAD * 16;
}

CU_FN cu_i32 warp_column(int j)
{
	return ((cu_i32)(threadIdx.x / 32) % WARPS_BROAD * BROAD + j) * 8;
}

CU_FN void multiply(const left_tile &left, const right_tile &right, square &d)
{
	cu_u32 a[4], b[BROAD][4];
#pragma unroll
	for (int j = 0; j < BROAD; j++)
		right_part(b[j], right, warp_column(j));
#pragma unroll
	for (int step = 0; step < 2; step++)
#pragma unroll
		for (int i = 0; i < HIGH; i++) {
			left_part(a, left, warp_row(i), step * 2 * HALF);
#pragma unroll
			for (int j = 0; j < BROAD; j++)
				multiply_add(d[i][j], a, b[j][2 * step], b[j][2 * step + 1]);
		}
}

// Rows i * SLICE and following of the block's results.
template <class slice> CU_FN void put_slice(slice &to, const square &d, int i)
{
	const cu_i32 lane = threadIdx.x % 32;
#pragma unroll
	for (int j = 0; j < BROAD; j++)
#pragma unroll
		for (int part = 0; part < 4; part++) {
			const cu_i32 m = warp_row(0) + lane / 4 + part / 2 * 8;
			const cu_i32 n = warp_column(j) + lane % 4 * 2 + part % 2;
			(RESULT_ALONG_M ? to[n][m] : to[m][n]) = d[i][j][part];
		}
}
#else
// ---- Fused multiply-adds ------------------------------------------------------------------------
//
// A tile has rows of one k in shared memory, so that a thread reads neighbours of its square at
// once.  The threads of a warp are 4 high and 8 broad.  Reads of 16 bytes by half a warp take one
// cycle if lanes i ^ 1 read the same, as those of A do, or lanes i ^ 2, as those of B do.
typedef sum kept;
template <int n> using loaded = cu_pack<element, n>;

#define LONG 8                        // of k in a tile
#define WIDE (16 / (int)sizeof(kept)) // in 16 bytes
#define HIGH (ROWS * COLUMNS >= 64 * 128 && ROWS >= 64 ? 8 : ROWS / 16) // of a thread's square
#define TALL (ROWS / HIGH)                                            // threads along m, along n
#define WIDTH (THREADS / TALL)
#define BROAD (COLUMNS / WIDTH)
// This many of a thread's rows are contiguous: one read of shared memory loads them.
#define LINE(n) ((n) < 4 ? (n) : 4)
#define SLICE (TALL * LINE(HIGH)) // rows of D that the threads have at a time
#define GAP 4                     // between rows of results in shared memory

typedef sum square[HIGH][BROAD]; // a thread's share of D

template <int length, bool along_k> struct tile {
	alignas(16) kept at[LONG][length + WIDE];

	template <int n> CU_MEMBER void put(cu_i32 outer, cu_i32 k, const loaded<n> &pack)
	{
		constexpr int each = along_k ? 1 : n < WIDE ? n : WIDE;
#pragma unroll
		for (int i = 0; i < n; i += each) {
			kept value[each];
#pragma unroll
			for (int j = 0; j < each; j++)
				value[j] = cu_convert<kept>(pack.at[i + j]);
			cu_store<each>(along_k ? &at[k + i][outer] : &at[k][outer + i], value);
		}
	}
};

typedef tile<ROWS, LEFT_ALONG_K> left_tile;
typedef tile<COLUMNS, B_ALONG_K> right_tile;

CU_FN cu_i32 thread_row()
{
	const cu_i32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	return warp / (WIDTH / 8) * 4 + (lane >> 1 & 1) + (lane >> 2 & 2);
}

CU_FN cu_i32 thread_column()
{
	const cu_i32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	return warp % (WIDTH / 8) * 8 + (lane & 1) + (lane >> 1 & 2) + (lane >> 2 & 4);
}

// Item i of a thread, which is number `thread` of `threads` along an axis, with `items` for each.
CU_FN cu_i32 item(int threads, cu_i32 thread, int items, int i)
{
	const int line = LINE(items);
	return i / line * (threads * line) + thread * line + i % line;
}

template <int n> CU_FN void read_line(sum (&to)[n], const sum *row, int threads, cu_i32 thread)
{
#pragma unroll
	for (int i = 0; i < n; i++)
		to[i] = row[item(threads, thread, n, i)];
}

CU_FN void multiply(const left_tile &left, const right_tile &right, square &d)
{
	const cu_i32 y = thread_row(), x = thread_column();
	sum a[HIGH], b[BROAD];
#pragma unroll
	for (int k = 0; k < LONG; k++) {
		read_line(a, left.at[k], TALL, y);
		read_line(b, right.at[k], WIDTH, x);
#pragma unroll
		for (int i = 0; i < HIGH; i++)
#pragma unroll
			for (int j = 0; j < BROAD; j++)
				d[i][j] += a[i] * b[j];
	}
}

// Rows i * SLICE and following of the block's results.
template <class slice> CU_FN void put_slice(slice &to, const square &d, int i)
{
	const cu_i32 y = thread_row(), x = thread_column();
#pragma unroll
	for (int row = 0; row < LINE(HIGH); row++)
#pragma unroll
		for (int j = 0; j < BROAD; j++) {
			const cu_i32 m = y * LINE(HIGH) + row, n = item(WIDTH, x, BROAD, j);
			(RESULT_ALONG_M ? to[n][m] : to[m][n]) = d[i * LINE(HIGH) + row][j];
		}
}
#endif

// ---- The product --------------------------------------------------------------------------------

// A place, read from shared memory at once.
CU_FN place read_place(const place &from)
{
	const cu_u128 both = *reinterpret_cast<const cu_u128 *>(&from);
	return {(cu_i64)both.low, (cu_i32)both.high, (cu_i32)(both.high >> 32)};
}

// Common to all positions with the same k.
struct line {
	place at;
	cu_i64 left;
};

struct tiles {
	left_tile a[2];
	right_tile b[2];
};

struct storage {
	union {
		tiles t;
		// The results of a slice, laid out as in memory.
		alignas(16) sum slice[RESULT_ALONG_M ? COLUMNS : SLICE]
				     [RESULT_ALONG_M ? SLICE + 4 : COLUMNS + GAP];
	};
	place column[COLUMNS];
	line lines[2][LONG];
};

// A thread's share of a tile: `steps` vectors, in registers until the previous tile is used up.
template <int length, bool along_k, int vector> struct load {
	static constexpr int count = length * LONG / vector;
	static constexpr int steps = (count + THREADS - 1) / THREADS;
	loaded<vector> at[steps];

	// The start of a step's vector; false: there is none.
	static CU_MEMBER bool spot(int step, cu_i32 &outer, cu_i32 &k)
	{
		const cu_i32 number = (cu_i32)threadIdx.x + step * THREADS;
		outer = along_k ? number / (LONG / vector) : number % (length / vector) * vector;
		k = along_k ? number % (LONG / vector) * vector : number / (length / vector);
		return count % THREADS == 0 || number < count;
	}

	CU_MEMBER void bring(int step, const element *from, bool is_there)
	{
		at[step] = {};
		if (is_there)
			at[step] = *reinterpret_cast<const loaded<vector> *>(from);
	}

	CU_MEMBER void keep(tile<length, along_k> &t)
	{
		cu_i32 outer, k;
#pragma unroll
		for (int step = 0; step < steps; step++)
			if (spot(step, outer, k))
				t.template put<vector>(outer, k, at[step]);
	}
};

typedef load<ROWS, LEFT_ALONG_K, LEFT_VECTOR> left_load;
typedef load<COLUMNS, B_ALONG_K, RIGHT_VECTOR> right_load;

CU_FN void write_lines(const convolution &g, line (&lines)[LONG], cu_i32 first_k, cu_i32 end)
{
	const cu_i32 k = first_k + (cu_i32)threadIdx.x;
	if (threadIdx.x < LONG)
		lines[threadIdx.x] = {row_of(g, k, end), left_along_k(g, k < end ? k : 0)};
}

CU_FN void fetch(const convolution &g, const storage &s, int which, const element *from_a,
		 const element *from_b, cu_i32 first_m, left_load &a, right_load &b)
{
	cu_i32 outer, k;
#pragma unroll
	for (int i = 0; i < left_load::steps; i++) {
		if (!left_load::spot(i, outer, k))
			continue;
		const line &row = s.lines[which][k];
		const cu_i32 m = first_m + outer;
		a.bring(i, from_a + left_along_m(g, m) + row.left, is_row(row.at) && m < g.m);
	}
#pragma unroll
	for (int i = 0; i < right_load::steps; i++) {
		if (!right_load::spot(i, outer, k))
			continue;
		const place row = read_place(s.lines[which][k].at);
		const place column = read_place(s.column[outer]);
		cu_i64 at;
		const bool is_there =
			PASS == 2 ? meet(g, row, column, at) : meet(g, column, row, at);
		b.bring(i, (const element *)((const char *)from_b + at), is_there);
	}
}

CU_FN void write_slice(const convolution &g, const storage &s, cu_i32 group, cu_u32 part,
		       cu_i32 first_m, cu_i32 first_n)
{
	constexpr int each = (RESULT_ALONG_M ? SLICE : COLUMNS) / RESULT_VECTOR;
#pragma unroll 1
	for (cu_i32 number = threadIdx.x; number < SLICE * COLUMNS / RESULT_VECTOR;
	     number += THREADS) {
		const cu_i32 outer = number / each, inner = number % each * RESULT_VECTOR;
		const cu_i32 m = first_m + (RESULT_ALONG_M ? inner : outer);
		const cu_i32 n = first_n + (RESULT_ALONG_M ? outer : inner);
		sum value[RESULT_VECTOR];
		if (m >= g.m || n >= g.n)
			continue;
#pragma unroll
		for (int i = 0; i < RESULT_VECTOR; i++)
			value[i] = s.slice[outer][inner + i];
		if (PARTIAL)
			cu_store<RESULT_VECTOR>(partial_of(g, group, part, m, n), value);
		else
			finish<RESULT_VECTOR, RESULT_ALONG_M>(g, group, m, n, value);
	}
}

extern "C" __global__ void __launch_bounds__(THREADS, 2) conv2d_product(const convolution g)
{
	__shared__ storage s;
	const cu_i32 group = (cu_i32)divide(blockIdx.z, g.by_splits);
	const cu_u32 part = blockIdx.z - (cu_u32)group * g.by_splits.d;
	const cu_i32 first_n = (cu_i32)blockIdx.x * COLUMNS, first_m = (cu_i32)blockIdx.y * ROWS;
	const cu_i32 begin = (cu_i32)part * g.chunk;
	const cu_i32 end = g.k - begin < g.chunk ? g.k : begin + g.chunk;
	const element *from_a = left_of(g, group), *from_b = right_of(g, group);
	square d = {};
	left_load a;
	right_load b;
	if (threadIdx.x < COLUMNS)
		s.column[threadIdx.x] = column_of(g, first_n + (cu_i32)threadIdx.x);
	write_lines(g, s.lines[0], begin, end);
	write_lines(g, s.lines[1], begin + LONG, end);
	__syncthreads();
	fetch(g, s, 0, from_a, from_b, first_m, a, b);
	a.keep(s.t.a[0]);
	b.keep(s.t.b[0]);
	__syncthreads();
	int which = 0;
	for (cu_i32 k = begin; k < end; k += LONG, which ^= 1) {
		const bool goes_on = end - k > LONG;
		if (goes_on)
			fetch(g, s, which ^ 1, from_a, from_b, first_m, a, b);
		multiply(s.t.a[which], s.t.b[which], d);
		if (goes_on) {
			a.keep(s.t.a[which ^ 1]);
			b.keep(s.t.b[which ^ 1]);
		}
		write_lines(g, s.lines[which], k + 2 * LONG, end);
		__syncthreads();
	}
#pragma unroll
	for (int i = 0; i < ROWS / SLICE; i++) {
		put_slice(s.slice, d, i);
		__syncthreads();
		write_slice(g, s, group, part, first_m + i * SLICE, first_n);
		__syncthreads();
	}
}
#endif

#ifdef KERNEL_conv2d_sum
// dw is the sum of the parts, in order.
extern "C" __global__ void __launch_bounds__(THREADS) conv2d_sum(const convolution g)
{
	const cu_u64 matrix = (cu_u64)g.m * g.n, count = matrix * g.groups;
	for (cu_u64 e = (cu_u64)blockIdx.x * THREADS + threadIdx.x; e < count;
	     e += (cu_u64)gridDim.x * THREADS) {
		sum total = 0;
		for (cu_u32 part = 0; part < g.by_splits.d; part++)
			total += ((const sum *)g.partial)[part * count + e];
		const cu_i32 group = (cu_i32)(e / matrix);
		const cu_u64 rest = e - group * matrix;
		finish(g, group, (cu_i32)(rest / g.n), (cu_i32)(rest % g.n), total);
	}
}
#endif

#ifdef KERNEL_conv2d_depthwise
// A group has one channel of x, so channels share nothing but the window's overlap, which the
// caches hold: a thread computes one element, its neighbour the next one along the dense axis.
#define LANES (CHANNELS_LAST ? 32 : 1)
#define PIXELS (THREADS / LANES)

#if PASS < 2
extern "C" __global__ void __launch_bounds__(THREADS) conv2d_depthwise(const convolution g)
{
	const element *from = PASS == 1 ? (const element *)g.y : (const element *)g.x;
	const cu_i32 pixel = (cu_i32)blockIdx.x * PIXELS + threadIdx.x / LANES;
	const cu_i32 channel = (cu_i32)blockIdx.y * LANES + threadIdx.x % LANES;
	if (pixel >= g.n || channel >= g.groups * g.m)
		return;
	const cu_i32 group = channel / g.m, m = channel % g.m;
	const place at = pixel_of(g, (cu_u32)pixel);
	const element *w = (const element *)g.w + (cu_i64)group * g.o * g.ws[0];
	from += PASS == 1 ? (cu_i64)group * g.o * g.ys[1] : (cu_i64)group * g.c * g.xs[1];
	sum total = 0;
	for (cu_i32 k = 0; k < g.k; k++)
		total += left(g, w, m, k) * gather(g, from, at, tap_of(g, (cu_u32)k));
	finish(g, group, m, pixel, total);
}
#else
// A block computes one position of the window, for one channel or 32, over its part of the pixels.
extern "C" __global__ void __launch_bounds__(THREADS) conv2d_depthwise(const convolution g)
{
	__shared__ sum shared[PIXELS][LANES];
	const cu_i32 lane = threadIdx.x % LANES, row = threadIdx.x / LANES;
	const cu_i32 channel = (cu_i32)blockIdx.y * LANES + lane, n = blockIdx.x;
	const bool is_valid = channel < g.groups * g.m;
	const cu_i32 group = is_valid ? channel / g.m : 0, m = is_valid ? channel % g.m : 0;
	const element *x = (const element *)g.x + (cu_i64)group * g.c * g.xs[1];
	const element *dy = (const element *)g.y + (cu_i64)group * g.o * g.ys[1];
	const cu_i32 begin = (cu_i32)blockIdx.z * g.chunk;
	const cu_i32 end = g.k - begin < g.chunk ? g.k : begin + g.chunk;
	const place tap = tap_of(g, (cu_u32)n);
	sum total = 0;
	for (cu_i32 k = begin + row; is_valid && k < end; k += PIXELS)
		total += left(g, dy, m, k) * gather(g, x, pixel_of(g, (cu_u32)k), tap);
	shared[row][lane] = total;
	for (int half = PIXELS / 2; half > 0; half /= 2) {
		__syncthreads();
		if (row < half)
			shared[row][lane] += shared[row + half][lane];
	}
	if (row == 0 && is_valid)
		((sum *)g.partial)[((cu_u64)blockIdx.z * g.groups * g.m + channel) * g.n + n] =
			shared[0][lane];
}
#endif
#endif
