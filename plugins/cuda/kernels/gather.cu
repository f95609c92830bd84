// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Tenon developers
//
// Rows selected by an array of indices: gather, and scatter_add.  DTYPE, TOTAL (scatter_add: the
// table's dtype), RANK of the axes other
// than the selected one, BY_AXIS (the selected axis is the densest of the listed rows), WIDE_INDEX.
// If elements are only moved, DTYPE is the unsigned one of their size.
//
// scatter_add determines its order by sorting: each index becomes a key (row, number of the index),
// the order of the keys is the order of the sums, and each run of equal rows becomes one sum.

typedef cu_type<DTYPE> element;
#if WIDE_INDEX
typedef cu_i64 index_type;
#else
typedef cu_i32 index_type;
#endif

struct choice {
	cu_u64 table, listed, indices, keys;
	cu_i64 n_rows, n_indices; // of the table, of the listed rows
	cu_i64 table_step, listed_step, indices_step;
	cu_u64 n_others; // elements of one row
	cu_u64 length[16];
	cu_i64 table_stride[16], listed_stride[16];
};

// The position of element `other` of row 0 in both.
CU_FN void find(const choice &g, cu_u64 other, cu_i64 &table, cu_i64 &listed)
{
	table = listed = 0;
#pragma unroll
	for (int d = RANK - 1; d >= 0; d--) {
		const cu_u64 quotient = d > 0 ? other / g.length[d] : 0;
		const cu_i64 index = (cu_i64)(other - quotient * g.length[d]);
		table += index * g.table_stride[d];
		listed += index * g.listed_stride[d];
		other = quotient;
	}
}

// The row that indices[j] selects; -1: none.
CU_FN cu_i64 row_of(const choice &g, cu_i64 j)
{
	cu_i64 row = ((const index_type *)g.indices)[j * g.indices_step];
	if (row < 0)
		row += g.n_rows;
	return row >= 0 && row < g.n_rows ? row : -1;
}

#ifdef KERNEL_gather_rows
extern "C" __global__ void __launch_bounds__(256) gather_rows(const choice g)
{
	const cu_u64 n_indices = (cu_u64)g.n_indices, n = n_indices * g.n_others;
	for (cu_u64 e = (cu_u64)blockIdx.x * 256 + threadIdx.x; e < n;
	     e += (cu_u64)gridDim.x * 256) {
		const cu_u64 j = BY_AXIS ? e % n_indices : e / g.n_others;
		cu_i64 from, to;
		find(g, BY_AXIS ? e / n_indices : e - j * g.n_others, from, to);
		const cu_i64 row = row_of(g, (cu_i64)j);
		element value = {};
		if (row >= 0)
			value = ((const element *)g.table)[from + row * g.table_step];
		((element *)g.listed)[to + (cu_i64)j * g.listed_step] = value;
	}
}
#endif

// ---- scatter_add --------------------------------------------------------------------------------

#define NO_ROW 0xffffffffu

#ifdef KERNEL_scatter_keys
extern "C" __global__ void __launch_bounds__(256) scatter_keys(const choice g)
{
	for (cu_i64 j = (cu_i64)blockIdx.x * 256 + threadIdx.x; j < g.n_indices;
	     j += (cu_i64)gridDim.x * 256) {
		const cu_i64 row = row_of(g, j);
		((cu_u64 *)g.keys)[j] = (row < 0 ? (cu_u64)NO_ROW : (cu_u64)row) << 32 | (cu_u64)j;
	}
}
#endif

// The number of the n sorted keys that are below `key`.
CU_FN cu_u64 rank_of(const cu_u64 *keys, cu_u64 n, cu_u64 key)
{
	cu_u64 low = 0;
	while (n > 0) {
		const cu_u64 half = n / 2;
		if (keys[low + half] < key) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return low;
}

#ifdef KERNEL_scatter_merge
// Merges sorted runs of that length into runs of twice the length: a key's position is the number
// of lower keys in its own run and in the other.  No two keys are equal.
extern "C" __global__ void __launch_bounds__(256)
scatter_merge(const cu_u64 *from, cu_u64 *to, cu_u64 n, cu_u64 run)
{
	for (cu_u64 e = (cu_u64)blockIdx.x * 256 + threadIdx.x; e < n;
	     e += (cu_u64)gridDim.x * 256) {
		const cu_u64 number = e / run, other = (number ^ 1) * run;
		const cu_u64 n_other = other >= n ? 0 : n - other < run ? n - other : run;
		const cu_u64 key = from[e];
		to[(number & ~(cu_u64)1) * run + e - number * run +
		   rank_of(from + (n_other ? other : 0), n_other, key)] = key;
	}
}
#endif

#ifdef KERNEL_scatter_sum
// The type in which elements are added: integers wrap.
template <class T> struct total_of { typedef cu_u64 type; };
template <> struct total_of<cu_f16> { typedef cu_f32 type; };
template <> struct total_of<cu_bf16> { typedef cu_f32 type; };
template <> struct total_of<cu_f32> { typedef cu_f32 type; };
template <> struct total_of<cu_f64> { typedef cu_f64 type; };

template <class To, class From> CU_FN To convert(From x)
{
	if constexpr (cu_same<To, cu_u64> || cu_same<From, cu_u64>)
		return (To)x; // the low bytes
	else
		return cu_convert<To>(x);
}

extern "C" __global__ void __launch_bounds__(256) scatter_sum(const choice g)
{
	typedef cu_type<TOTAL> sum_type;
	typedef total_of<element>::type total;
	const cu_u64 *keys = (const cu_u64 *)g.keys;
	const cu_u64 n_indices = (cu_u64)g.n_indices, n = n_indices * g.n_others;
	for (cu_u64 e = (cu_u64)blockIdx.x * 256 + threadIdx.x; e < n;
	     e += (cu_u64)gridDim.x * 256) {
		cu_u64 k = e / g.n_others;
		const cu_u32 row = (cu_u32)(keys[k] >> 32);
		if (row == NO_ROW || (k > 0 && (cu_u32)(keys[k - 1] >> 32) == row))
			continue; // the first of a row adds all of it
		cu_i64 from, to;
		find(g, e - k * g.n_others, to, from);
		sum_type *out = (sum_type *)g.table + to + (cu_i64)row * g.table_step;
		total sum = convert<total>(*out);
		for (; k < n_indices && (cu_u32)(keys[k] >> 32) == row; k++)
			sum += convert<total>(
				((const element *)g.listed)[from + (cu_i64)(cu_u32)keys[k] *
									   g.listed_step]);
		*out = convert<sum_type>(sum);
	}
}
#endif
