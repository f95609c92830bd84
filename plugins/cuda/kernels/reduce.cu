// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Tenon developers
//
// Building blocks of printed reductions: an accumulator for each combiner, and the joining of the
// accumulators of a block's threads.  A block has LX x LY threads, LY of them for each of LX
// results.  The order of combining depends on these numbers alone, so the bits are the same from
// run to run.

// A long sum of small numbers loses precision: a short partial sum is made first (add), and is
// added to the total from time to time (fold).  What rounding takes from the total then (Knuth's
// TwoSum; a NaN if the total is infinite) begins the next partial sum.
template <class T> struct cu_acc_sum {
	T total, part;
	__device__ void begin()
	{
		total = part = 0;
	}
	__device__ void add(T x, cu_i64)
	{
		part += x;
	}
	__device__ void fold()
	{
		const T sum = total + part;
		if constexpr (cu_floating<T>) {
			const T taken = sum - total;
			const T lost = (total - (sum - taken)) + (part - taken);
			part = lost == lost ? lost : 0;
		} else {
			part = 0;
		}
		total = sum;
	}
	__device__ void join(const cu_acc_sum &other)
	{
		total += other.total;
	}
	__device__ cu_acc_sum down(int distance, int width) const
	{
		return {__shfl_down_sync(0xffffffffu, total, distance, width), 0};
	}
	__device__ T result() const
	{
		return total;
	}
};

template <class T> struct cu_acc_product {
	T total;
	__device__ void begin()
	{
		total = 1;
	}
	__device__ void add(T x, cu_i64)
	{
		total *= x;
	}
	__device__ void fold()
	{
	}
	__device__ void join(const cu_acc_product &other)
	{
		total *= other.total;
	}
	__device__ cu_acc_product down(int distance, int width) const
	{
		return {__shfl_down_sync(0xffffffffu, total, distance, width)};
	}
	__device__ T result() const
	{
		return total;
	}
};

template <int sign, class T> CU_FN bool cu_beats(T x, T y)
{
	return sign > 0 ? x > y : x < y;
}

// The largest (sign 1) or the smallest (-1); a NaN stays.
template <class T, int sign> struct cu_acc_extreme {
	T best;
	__device__ void begin()
	{
		if constexpr (cu_floating<T>)
			best = sign > 0 ? -CU_INFINITY : CU_INFINITY;
		else
			best = sign > 0 ? -0x7fffffffffffffffLL - 1 : 0x7fffffffffffffffLL;
	}
	__device__ void add(T x, cu_i64)
	{
		if (cu_beats<sign>(x, best) || x != x)
			best = x;
	}
	__device__ void fold()
	{
	}
	__device__ void join(const cu_acc_extreme &other)
	{
		add(other.best, 0);
	}
	__device__ cu_acc_extreme down(int distance, int width) const
	{
		return {__shfl_down_sync(0xffffffffu, best, distance, width)};
	}
	__device__ T result() const
	{
		return best;
	}
};

// Its position: the first NaN, else the lowest of equals.  T is float, double or cu_i64.
template <class T, int sign> struct cu_acc_place {
	T best;
	cu_i64 place; // below 0: none yet
	__device__ void begin()
	{
		best = 0;
		place = -1;
	}
	__device__ void add(T x, cu_i64 at)
	{
		bool wins;
		if (place < 0 || at < 0)
			wins = place < 0;
		else if (best != best)
			wins = x != x && at < place;
		else
			wins = x != x || cu_beats<sign>(x, best) || (x == best && at < place);
		if (wins) {
			best = x;
			place = at;
		}
	}
	__device__ void fold()
	{
	}
	__device__ void join(const cu_acc_place &other)
	{
		add(other.best, other.place);
	}
	__device__ cu_acc_place down(int distance, int width) const
	{
		return {__shfl_down_sync(0xffffffffu, best, distance, width),
			__shfl_down_sync(0xffffffffu, place, distance, width)};
	}
	__device__ cu_i64 result() const
	{
		return place;
	}
};

// Threads of one result are neighbours: they combine by shuffles within a warp, then the warps'
// first lanes through `shared`, which has LX * LY / 32 elements or more.  The thread with ly = 0
// has the result.
template <int LX, int LY, class A> CU_FN void cu_join_rows(A &acc, A *shared, int lx, int ly)
{
	constexpr int width = LY < 32 ? LY : 32;
#pragma unroll
	for (int distance = width / 2; distance > 0; distance /= 2)
		acc.join(acc.down(distance, width));
	if constexpr (LY > 32) {
		constexpr int warps = LY / 32;
		if (ly % 32 == 0)
			shared[lx * warps + ly / 32] = acc;
		__syncthreads();
		if (ly == 0)
			for (int warp = 1; warp < warps; warp++)
				acc.join(shared[lx * warps + warp]);
		__syncthreads();
	}
}

// Threads of neighbouring results are neighbours: halves are combined through `shared`, which has
// LX * LY elements.
template <int LX, int LY, class A> CU_FN void cu_join_columns(A &acc, A *shared, int lx, int ly)
{
	if constexpr (LY > 1) {
		shared[ly * LX + lx] = acc;
		__syncthreads();
#pragma unroll
		for (int half = LY / 2; half > 0; half /= 2) {
			if (ly < half) {
				acc.join(shared[(ly + half) * LX + lx]);
				shared[ly * LX + lx] = acc;
			}
			__syncthreads();
		}
	}
}
