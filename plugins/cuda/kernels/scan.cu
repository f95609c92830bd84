// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Tenon developers
//
// Running sums, products and extremes along one axis.  DTYPE of the elements; ACCUMULATOR; LX, LY
// and COLUMNS of the teams.  Conditions tested once per combination or line are arguments: memory
// takes longer.
//
// A team scans a line, or a part of one, in tiles.  If lines are split, scan_totals combines each
// part, scan_lines scans the totals (an exclusive scan of short lines), and then scans the parts,
// each starting from the total of the parts before it.  All of that follows from the shape, and so
// does the order of combining.

typedef cu_type<DTYPE> element;
typedef cu_type<ACCUMULATOR> number;
typedef cu_team<LX, LY, COLUMNS> team;

template <bool, class A, class B> struct cu_choice { typedef A type; };
template <class A, class B> struct cu_choice<false, A, B> { typedef B type; };
template <bool which, class A, class B> using cu_if = typename cu_choice<which, A, B>::type;

#define ITEMS 4 // of a thread in a tile
enum { SUM = 1, PRODUCT = 2, MAX = 3, MIN = 4 };

struct scan {
	cu_u64 n_lines, n;	// elements in a line
	cu_u64 part, n_parts;	// elements in a part; parts of a line
	cu_u64 from, to, parts; // [line][part]; 0: lines are not split
	cu_i64 from_step, to_step;
	cu_u64 length[16];
	cu_i64 from_stride[16], to_stride[16];
	cu_u64 nothing; // the bits of a combiner's value over no elements
	cu_u32 rank, combiner;
	cu_i32 reverse, exclusive;
	cu_i32 keeps_dtype; // the output has the input's, else the accumulator's
};

// Combines in order.  The first NaN stays.
CU_FN number join(const scan &g, number a, number b)
{
	// Signed integers wrap, too.
	typedef cu_if<cu_same<number, cu_i64>, cu_u64, number> wrapping;
	if (g.combiner == SUM)
		return (number)((wrapping)a + (wrapping)b);
	if (g.combiner == PRODUCT)
		return (number)((wrapping)a * (wrapping)b);
	const bool is_first = g.combiner == MAX ? a > b : a < b;
	return is_first || a != a ? a : b;
}

// The part that a team of this block works on, and its line.
struct share {
	cu_u64 line, first, end; // elements first to end - 1, in the order of the scan
	cu_u64 number;		 // of the part
	cu_i64 from, to;
};

CU_FN share find(const scan &g, cu_u64 unit)
{
	share s = {0, 0, 0, 0, 0, 0};
	if (unit >= g.n_lines * g.n_parts)
		return s; // all threads of a block synchronise
	s.line = COLUMNS ? unit % g.n_lines : unit / g.n_parts;
	const cu_u64 part = COLUMNS ? unit / g.n_lines : unit - s.line * g.n_parts;
	s.number = s.line * g.n_parts + part;
	s.first = part * g.part;
	s.end = g.n - s.first < g.part ? g.n : s.first + g.part;
	cu_u64 line = s.line;
	for (int d = (int)g.rank - 1; d >= 0; d--) {
		const cu_u64 quotient = d > 0 ? line / g.length[d] : 0;
		const cu_i64 index = (cu_i64)(line - quotient * g.length[d]);
		s.from += index * g.from_stride[d];
		s.to += index * g.to_stride[d];
		line = quotient;
	}
	return s;
}

CU_FN cu_i64 place_of(const scan &g, cu_u64 j)
{
	return (cu_i64)(g.reverse ? g.n - 1 - j : j);
}

CU_FN number load(const scan &g, const share &s, cu_u64 j)
{
	return cu_convert<number>(((const element *)g.from)[s.from + place_of(g, j) * g.from_step]);
}

#ifdef KERNEL_scan_totals
extern "C" __global__ void __launch_bounds__(256) scan_totals(const scan g)
{
	__shared__ number shared[256];
	const cu_u64 n_units = g.n_lines * g.n_parts;
	for (cu_u64 first = (cu_u64)blockIdx.x * LX; first < n_units;
	     first += (cu_u64)gridDim.x * LX) {
		const share s = find(g, first + team::line());
		number total = cu_of_bits<number>(g.nothing);
		for (cu_u64 j = s.first + team::member(); j < s.end; j += LY)
			total = join(g, total, load(g, s, j));
		total = team::meet(total, shared,
				   [&g](number a, number b) { return join(g, a, b); });
		if (team::member() == 0 && s.end)
			((number *)g.parts)[s.number] = total;
	}
}
#endif

#ifdef KERNEL_scan_lines
// The combination of the members before this one, and that of all.
struct sides {
	number before, all;
};

CU_FN sides meet_rows(const scan &g, number sofar, number nothing, number *shared)
{
	constexpr int width = LY < 32 ? LY : 32;
	const int lane = team::member() % width;
#pragma unroll
	for (int distance = 1; distance < width; distance *= 2) {
		const number other = __shfl_up_sync(0xffffffffu, sofar, distance, width);
		sofar = lane >= distance ? join(g, other, sofar) : sofar;
	}
	number before = __shfl_up_sync(0xffffffffu, sofar, 1, width);
	before = lane ? before : nothing;
	if constexpr (LY <= 32) {
		return sides{before, __shfl_sync(0xffffffffu, sofar, width - 1, width)};
	} else {
		number all = nothing;
		if (lane == 31)
			shared[threadIdx.x / 32] = sofar;
		__syncthreads();
		const int first = team::line() * (LY / 32), warp = threadIdx.x / 32;
		number warps = nothing;
#pragma unroll
		for (int w = first; w < first + LY / 32; w++) {
			warps = w == warp ? all : warps;
			all = join(g, all, shared[w]);
		}
		__syncthreads();
		return sides{join(g, warps, before), all};
	}
}

CU_FN sides meet_columns(const scan &g, number sofar, number nothing, number *shared)
{
	const int member = team::member();
	shared[threadIdx.x] = sofar;
	__syncthreads();
#pragma unroll
	for (int distance = 1; distance < LY; distance *= 2) {
		if (member >= distance)
			sofar = join(g, shared[threadIdx.x - distance * LX], sofar);
		__syncthreads();
		shared[threadIdx.x] = sofar;
		__syncthreads();
	}
	const sides found = {member ? shared[threadIdx.x - LX] : nothing,
			     shared[(LY - 1) * LX + team::line()]};
	__syncthreads();
	return found;
}

CU_FN void store(const scan &g, const share &s, cu_u64 j, number x)
{
	const cu_i64 at = s.to + place_of(g, j) * g.to_step;
	if (g.keeps_dtype)
		((element *)g.to)[at] = cu_convert<element>(x);
	else
		((number *)g.to)[at] = x;
}

// All elements of a tile are read before any is written: input and output may be the same view.
CU_FN number scan_tile(const scan &g, const share &s, cu_u64 first, number carry, number *shared)
{
	const number nothing = cu_of_bits<number>(g.nothing);
	number sofar[ITEMS];
#pragma unroll
	for (int k = 0; k < ITEMS; k++) {
		const number x = first + k < s.end ? load(g, s, first + k) : nothing;
		sofar[k] = k ? join(g, sofar[k - 1], x) : x;
	}
	const sides sides = COLUMNS ? meet_columns(g, sofar[ITEMS - 1], nothing, shared)
				    : meet_rows(g, sofar[ITEMS - 1], nothing, shared);
	const number before = join(g, carry, sides.before);
#pragma unroll
	for (int k = 0; k < ITEMS; k++) {
		if (first + k >= s.end)
			continue;
		if (!g.exclusive)
			store(g, s, first + k, join(g, before, sofar[k]));
		else
			store(g, s, first + k, k ? join(g, before, sofar[k - 1]) : before);
	}
	return join(g, carry, sides.all);
}

extern "C" __global__ void __launch_bounds__(256) scan_lines(const scan g)
{
	__shared__ number shared[256];
	const cu_u64 n_units = g.n_lines * g.n_parts;
	for (cu_u64 first = (cu_u64)blockIdx.x * LX; first < n_units;
	     first += (cu_u64)gridDim.x * LX) {
		const share s = find(g, first + team::line());
		number carry = cu_of_bits<number>(g.nothing);
		if (g.parts && s.end)
			carry = ((const number *)g.parts)[s.number];
		for (cu_u64 tile = 0; tile < g.part; tile += LY * ITEMS)
			carry = scan_tile(g, s, s.first + tile + team::member() * ITEMS, carry,
					  shared);
	}
}
#endif
