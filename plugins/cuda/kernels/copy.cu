// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Tenon developers
//
// Moves units of SIZE bytes between views of RANK axes; WIDE: indices need 64 bits.

template <int size> struct unit_of;
template <> struct unit_of<1> { typedef cu_u8 type; };
template <> struct unit_of<2> { typedef cu_u16 type; };
template <> struct unit_of<4> { typedef cu_u32 type; };
template <> struct unit_of<8> { typedef cu_u64 type; };
template <> struct unit_of<16> { typedef cu_u128 type; };
typedef unit_of<SIZE>::type unit;

#if WIDE
typedef cu_u64 number;
typedef cu_i64 place;
#else
typedef cu_u32 number;
typedef cu_i32 place;
#endif

struct walk {
	cu_u64 from, to;
	cu_u64 n;
	cu_u64 value[2];
	cu_u64 length[16];
	cu_i64 in[16];
	cu_i64 out[16];
};

// The position of unit e in both views.
CU_FN void find(const walk &g, number e, place &in, place &out)
{
	number rest = e;
	in = out = 0;
#pragma unroll
	for (int d = RANK - 1; d >= 0; d--) {
		const number length = (number)g.length[d];
		const number quotient = d > 0 ? rest / length : 0;
		const number index = rest - quotient * length;
		in += (place)index * (place)g.in[d];
		out += (place)index * (place)g.out[d];
		rest = quotient;
	}
}

extern "C" __global__ void __launch_bounds__(256) copy_walk(const walk g)
{
	const number n = (number)g.n;
	for (number e = (number)blockIdx.x * 256 + threadIdx.x; e < n;
	     e += (number)gridDim.x * 256) {
		place in, out;
		find(g, e, in, out);
		((unit *)g.to)[out] = ((const unit *)g.from)[in];
	}
}

CU_FN void take(cu_u128 &to, const cu_u64 *value)
{
	to.low = value[0];
	to.high = value[1];
}

template <class T> CU_FN void take(T &to, const cu_u64 *value)
{
	to = (T)value[0];
}

extern "C" __global__ void __launch_bounds__(256) copy_fill(const walk g)
{
	const number n = (number)g.n;
	unit value;
	take(value, g.value);
	for (number e = (number)blockIdx.x * 256 + threadIdx.x; e < n;
	     e += (number)gridDim.x * 256) {
		place in, out;
		find(g, e, in, out);
		((unit *)g.to)[out] = value;
	}
}

#if SIZE <= 8 && RANK >= 2
// The input is dense along the last axis but one, the output along the last.  A block takes tiles
// of 32 x 32 units: 32 x 8 threads read lines of the input and write lines of the output.
extern "C" __global__ void __launch_bounds__(256) copy_turn(const walk g)
{
	// One more column: neighbours in a column lie in different banks.
	__shared__ unit tile[32][33];
	const cu_u64 rows = g.length[RANK - 2], columns = g.length[RANK - 1];
	const cu_u64 row_tiles = (rows + 31) / 32, column_tiles = (columns + 31) / 32;
	for (cu_u64 t = blockIdx.x; t < g.n; t += gridDim.x) {
		const cu_u64 first_column = t % column_tiles * 32;
		cu_u64 rest = t / column_tiles;
		const cu_u64 first_row = rest % row_tiles * 32;
		rest /= row_tiles;
		cu_i64 in = 0, out = 0;
#pragma unroll
		for (int d = RANK - 3; d >= 0; d--) {
			const cu_u64 index = rest % g.length[d];
			rest /= g.length[d];
			in += (cu_i64)index * g.in[d];
			out += (cu_i64)index * g.out[d];
		}
		const unit *from = (const unit *)g.from + in;
		unit *to = (unit *)g.to + out;
		const cu_u64 row = first_row + threadIdx.x;
#pragma unroll
		for (int k = threadIdx.y; k < 32; k += 8) {
			const cu_u64 column = first_column + k;
			if (row < rows && column < columns)
				tile[k][threadIdx.x] = from[(cu_i64)row * g.in[RANK - 2] +
							    (cu_i64)column * g.in[RANK - 1]];
		}
		__syncthreads();
		const cu_u64 column = first_column + threadIdx.x;
#pragma unroll
		for (int k = threadIdx.y; k < 32; k += 8) {
			const cu_u64 row2 = first_row + k;
			if (row2 < rows && column < columns)
				to[(cu_i64)row2 * g.out[RANK - 2] +
				   (cu_i64)column * g.out[RANK - 1]] = tile[threadIdx.x][k];
		}
		__syncthreads();
	}
}
#endif
