// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Tenon developers
//
// Sorts each line along one axis.  DTYPE: an unsigned type of the elements' size.
//
// An element becomes a key, an unsigned number with the requested order, paired with its position
// in the line.  No two such pairs are equal, so any sorting algorithm is stable.  Lines of up to
// TILE are sorted in shared memory, in a bitonic network; longer ones by digits of 8 bits, the
// lowest first: the digits of each part of a line are counted, the counts become positions, and the
// parts move their pairs there in order.

typedef cu_type<DTYPE> key_type;

#define TILE 2048
#define PART 4096 // elements of a line that one block counts and moves
#define WARPS 8

struct sorting {
	cu_u64 first_line, n_lines; // of this launch
	cu_u64 n, n_kept;	    // elements in a line, and in an output's
	cu_u64 from, values, indices; // 0: not requested
	cu_i64 from_step, values_step, indices_step;
	cu_u64 length[16];
	cu_i64 from_stride[16], values_stride[16], indices_stride[16];
	cu_u64 infinity, sign, inverse; // how bits become keys; infinity 0: not floating
	cu_u64 keys[2], places[2];	// [line][n]: where from, and where to
	cu_u64 counts;			// [line][digit][part]
	cu_u64 totals;			// [line][digit]
	cu_u32 n_parts, shift;
	cu_u32 width_bits; // of lines in shared memory
	cu_u32 columns;	   // neighbouring lines are nearer than neighbouring elements
	cu_u32 rank;	   // of the axes other than the line's
};

// ---- Elements -----------------------------------------------------------------------------------

struct line_places {
	cu_i64 from, values, indices;
};

CU_FN line_places find(const sorting &g, cu_u64 line)
{
	line_places p = {0, 0, 0};
	line += g.first_line;
	for (int d = (int)g.rank - 1; d >= 0; d--) {
		const cu_u64 quotient = d > 0 ? line / g.length[d] : 0;
		const cu_i64 index = (cu_i64)(line - quotient * g.length[d]);
		p.from += index * g.from_stride[d];
		p.values += index * g.values_stride[d];
		p.indices += index * g.indices_stride[d];
		line = quotient;
	}
	return p;
}

// Zeros are equal, and so are NaNs, above all numbers.
CU_FN key_type key_of(const sorting &g, key_type bits)
{
	const key_type sign = (key_type)g.sign, magnitude = (key_type)(bits & ~sign);
	key_type key = (key_type)(bits ^ sign);
	if (g.infinity) {
		if (magnitude > (key_type)g.infinity)
			key = (key_type)~(key_type)0;
		else if (!magnitude)
			key = sign;
		else if (bits & sign)
			key = (key_type)~bits;
	}
	return (key_type)(key ^ (key_type)g.inverse);
}

CU_FN key_type load_key(const sorting &g, cu_i64 at, cu_u64 j)
{
	return key_of(g, ((const key_type *)g.from)[at + (cu_i64)j * g.from_step]);
}

CU_FN void store(const sorting &g, const line_places &p, cu_u64 j, cu_u32 place)
{
	if (g.values)
		((key_type *)g.values)[p.values + (cu_i64)j * g.values_step] =
			((const key_type *)g.from)[p.from + (cu_i64)place * g.from_step];
	if (g.indices)
		((cu_i64 *)g.indices)[p.indices + (cu_i64)j * g.indices_step] = (cu_i64)place;
}

// ---- Lines in shared memory ---------------------------------------------------------------------

#ifdef KERNEL_sort_short
// Pairs; those with keys of up to 32 bits are one number.
template <bool one> struct pairs {
	cu_u64 key[TILE];

	CU_MEMBER void set(cu_u32 i, cu_u64 k, cu_u32 place)
	{
		key[i] = k << 32 | place;
	}
	CU_MEMBER cu_u32 place(cu_u32 i) const
	{
		return (cu_u32)key[i];
	}
	CU_MEMBER void order(cu_u32 i, cu_u32 j, bool ascending)
	{
		const cu_u64 a = key[i], b = key[j];
		if ((a > b) == ascending) {
			key[i] = b;
			key[j] = a;
		}
	}
};

template <> struct pairs<false> {
	cu_u64 key[TILE];
	cu_u32 at[TILE];

	CU_MEMBER void set(cu_u32 i, cu_u64 k, cu_u32 place)
	{
		key[i] = k;
		at[i] = place;
	}
	CU_MEMBER cu_u32 place(cu_u32 i) const
	{
		return at[i];
	}
	CU_MEMBER void order(cu_u32 i, cu_u32 j, bool ascending)
	{
		const cu_u64 a = key[i], b = key[j];
		const cu_u32 p = at[i], q = at[j];
		if ((a > b || (a == b && p > q)) == ascending) {
			set(i, b, q);
			set(j, a, p);
		}
	}
};

// Pads a line to a power of two: sorted after all of its pairs, whose positions are less.
#define NO_PLACE 0xffffffffu

// Each line of 1 << bits pairs.
template <class Pairs> CU_FN void sort_lines(Pairs &tile, cu_u32 n_pairs, cu_u32 bits)
{
	const cu_u32 width = 1u << bits;
	for (cu_u32 run = 2; run <= width; run *= 2) {
		for (cu_u32 distance = run / 2; distance > 0; distance /= 2) {
			for (cu_u32 t = threadIdx.x; t < n_pairs / 2; t += 256) {
				const cu_u32 low = t & (distance - 1), i = (t - low) * 2 + low;
				tile.order(i, i + distance, (i & run & (width - 1)) == 0);
			}
			__syncthreads();
		}
	}
}

extern "C" __global__ void __launch_bounds__(256) sort_short(const sorting g)
{
	__shared__ pairs<(sizeof(key_type) < 8)> tile;
	const cu_u32 bits = g.width_bits, width = 1u << bits, most = TILE >> bits;
	for (cu_u64 first = (cu_u64)blockIdx.x * most; first < g.n_lines;
	     first += (cu_u64)gridDim.x * most) {
		const cu_u32 n_lines =
			g.n_lines - first < most ? (cu_u32)(g.n_lines - first) : most;
		const cu_u32 n_pairs = n_lines << bits;
		for (cu_u32 i = threadIdx.x; i < n_pairs; i += 256) {
			const cu_u32 line = g.columns ? i % n_lines : i >> bits;
			const cu_u32 j = g.columns ? i / n_lines : i & (width - 1);
			if (j < g.n)
				tile.set(line << bits | j,
					 load_key(g, find(g, first + line).from, j), j);
			else
				tile.set(line << bits | j, (cu_u64)(key_type) ~(key_type)0,
					 NO_PLACE);
		}
		__syncthreads();
		sort_lines(tile, n_pairs, bits);
		for (cu_u32 i = threadIdx.x; i < n_pairs; i += 256) {
			const cu_u32 line = g.columns ? i % n_lines : i >> bits;
			const cu_u32 j = g.columns ? i / n_lines : i & (width - 1);
			if (j < g.n_kept)
				store(g, find(g, first + line), j, tile.place(line << bits | j));
		}
		__syncthreads();
	}
}
#endif

// ---- Long lines ---------------------------------------------------------------------------------

#ifdef KERNEL_sort_load
extern "C" __global__ void __launch_bounds__(256) sort_load(const sorting g)
{
	const cu_u64 n = g.n_lines * g.n;
	for (cu_u64 e = (cu_u64)blockIdx.x * 256 + threadIdx.x; e < n;
	     e += (cu_u64)gridDim.x * 256) {
		const cu_u64 line = g.columns ? e % g.n_lines : e / g.n;
		const cu_u64 j = g.columns ? e / g.n_lines : e - line * g.n;
		((key_type *)g.keys[0])[line * g.n + j] = load_key(g, find(g, line).from, j);
		((cu_u32 *)g.places[0])[line * g.n + j] = (cu_u32)j;
	}
}
#endif

#ifdef KERNEL_sort_store
extern "C" __global__ void __launch_bounds__(256) sort_store(const sorting g)
{
	const cu_u64 n = g.n_lines * g.n_kept;
	for (cu_u64 e = (cu_u64)blockIdx.x * 256 + threadIdx.x; e < n;
	     e += (cu_u64)gridDim.x * 256) {
		const cu_u64 line = g.columns ? e % g.n_lines : e / g.n_kept;
		const cu_u64 j = g.columns ? e / g.n_lines : e - line * g.n_kept;
		store(g, find(g, line), j, ((const cu_u32 *)g.places[0])[line * g.n + j]);
	}
}
#endif

#define DIGITS 256
#define NO_DIGIT DIGITS

// The element in row `row` of this warp's share of a part that belongs to this thread.
CU_FN cu_u32 element_of(cu_u32 part, cu_u32 row)
{
	return part * PART + threadIdx.x / 32 * (PART / WARPS) + row * 32 + threadIdx.x % 32;
}

// Adds the digits of one row to the counts of the warp; gives how many equal ones precede this
// thread's.
CU_FN cu_u32 count_row(cu_u32 *counts, cu_u32 digit)
{
	const cu_u32 lane = threadIdx.x % 32;
	const cu_u32 peers = __match_any_sync(0xffffffffu, digit);
	const cu_u32 lower = peers & ((1u << lane) - 1);
	cu_u32 before = 0;
	if (digit != NO_DIGIT)
		before = counts[digit] + __popc(lower);
	__syncwarp();
	if (digit != NO_DIGIT && !lower)
		counts[digit] += __popc(peers);
	__syncwarp();
	return before;
}

CU_FN void clear_counts(cu_u32 (&counts)[WARPS][DIGITS])
{
#pragma unroll
	for (int warp = 0; warp < WARPS; warp++)
		counts[warp][threadIdx.x] = 0;
	__syncthreads();
}

// The sum over the preceding threads of the block, and over all of them.
CU_FN cu_u32 sum_before(cu_u32 x, cu_u32 &total)
{
	__shared__ cu_u32 sums[WARPS];
	const cu_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	cu_u32 sum = x, before = 0;
#pragma unroll
	for (int distance = 1; distance < 32; distance *= 2) {
		const cu_u32 other = __shfl_up_sync(0xffffffffu, sum, distance);
		sum += lane >= distance ? other : 0;
	}
	if (lane == 31)
		sums[warp] = sum;
	__syncthreads();
	total = 0;
#pragma unroll
	for (cu_u32 w = 0; w < WARPS; w++) {
		before += w < warp ? sums[w] : 0;
		total += sums[w];
	}
	__syncthreads();
	return before + sum - x;
}

#ifdef KERNEL_sort_count
// A block for each part of each line.
extern "C" __global__ void __launch_bounds__(256) sort_count(const sorting g)
{
	__shared__ cu_u32 counts[WARPS][DIGITS];
	const cu_u32 part = blockIdx.x % g.n_parts, line = blockIdx.x / g.n_parts;
	const key_type *keys = (const key_type *)g.keys[0] + line * g.n;
	const cu_u32 n = (cu_u32)g.n;
	clear_counts(counts);
	for (cu_u32 row = 0; row < PART / 256; row++) {
		const cu_u32 j = element_of(part, row);
		count_row(counts[threadIdx.x / 32],
			  j < n ? (cu_u32)(keys[j] >> g.shift) & (DIGITS - 1) : NO_DIGIT);
	}
	__syncthreads();
	cu_u32 total = 0;
#pragma unroll
	for (int warp = 0; warp < WARPS; warp++)
		total += counts[warp][threadIdx.x];
	((cu_u32 *)g.counts)[((cu_u64)line * DIGITS + threadIdx.x) * g.n_parts + part] = total;
}
#endif

#ifdef KERNEL_sort_offsets
// A warp for each digit of each line: replaces its counts by the sums of those before, and gives
// their total.
extern "C" __global__ void __launch_bounds__(256) sort_offsets(const sorting g)
{
	const cu_u64 row = (cu_u64)blockIdx.x * WARPS + threadIdx.x / 32;
	const cu_u32 lane = threadIdx.x % 32;
	cu_u32 *counts = (cu_u32 *)g.counts + row * g.n_parts;
	cu_u32 before = 0;
	for (cu_u32 first = 0; first < g.n_parts; first += 32) {
		const cu_u32 part = first + lane, count = part < g.n_parts ? counts[part] : 0;
		cu_u32 sum = count;
		for (cu_u32 distance = 1; distance < 32; distance *= 2) {
			const cu_u32 other = __shfl_up_sync(~0u, sum, distance);
			sum += lane >= distance ? other : 0;
		}
		if (part < g.n_parts)
			counts[part] = before + sum - count;
		before += __shfl_sync(~0u, sum, 31);
	}
	if (lane == 0)
		((cu_u32 *)g.totals)[row] = before;
}
#endif

#ifdef KERNEL_sort_move
// The blocks of sort_count move the pairs that they counted.
extern "C" __global__ void __launch_bounds__(256) sort_move(const sorting g)
{
	__shared__ cu_u32 counts[WARPS][DIGITS];
	const cu_u32 part = blockIdx.x % g.n_parts, line = blockIdx.x / g.n_parts;
	const cu_u32 warp = threadIdx.x / 32;
	const key_type *keys = (const key_type *)g.keys[0] + line * g.n;
	const cu_u32 *places = (const cu_u32 *)g.places[0] + line * g.n;
	key_type *keys_to = (key_type *)g.keys[1] + line * g.n;
	cu_u32 *places_to = (cu_u32 *)g.places[1] + line * g.n;
	const cu_u32 n = (cu_u32)g.n;
	key_type key[PART / 256];
	cu_u32 before[PART / 256], total;
	clear_counts(counts);
#pragma unroll
	for (cu_u32 row = 0; row < PART / 256; row++) {
		const cu_u32 j = element_of(part, row);
		key[row] = j < n ? keys[j] : (key_type)0;
		before[row] =
			count_row(counts[warp],
				  j < n ? (cu_u32)(key[row] >> g.shift) & (DIGITS - 1) : NO_DIGIT);
	}
	__syncthreads();
	// Thread d handles digit d: smaller digits, earlier parts, earlier warps.
	const cu_u64 digit = (cu_u64)line * DIGITS + threadIdx.x;
	cu_u32 first = sum_before(((const cu_u32 *)g.totals)[digit], total) +
		    ((const cu_u32 *)g.counts)[digit * g.n_parts + part];
#pragma unroll
	for (int w = 0; w < WARPS; w++) {
		const cu_u32 count = counts[w][threadIdx.x];
		counts[w][threadIdx.x] = first;
		first += count;
	}
	__syncthreads();
#pragma unroll
	for (cu_u32 row = 0; row < PART / 256; row++) {
		const cu_u32 j = element_of(part, row);
		if (j >= n)
			continue;
		const cu_u32 to = before[row] +
				  counts[warp][(cu_u32)(key[row] >> g.shift) & (DIGITS - 1)];
		keys_to[to] = key[row];
		places_to[to] = places[j];
	}
}
#endif
