// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Tenon developers
//
// Softmax and its logarithm along one axis, and their gradients: a team of threads for each line.
// DTYPE, RANK of the axes other than the line's, LX, LY and COLUMNS of the teams.

typedef cu_type<DTYPE> element;
typedef cu_sum<element> real;
typedef cu_team<LX, LY, COLUMNS> team;

// Views: forward x and y, backward y, dy and dx.
struct lines {
	cu_u64 n_lines;
	cu_i64 n; // numbers in a line
	cu_u64 at[3];
	cu_i64 step[3];
	cu_u64 length[16];
	cu_i64 stride[3][16];
	cu_i32 is_logarithm;
	cu_i32 adds; // accumulates into dx
};

template <int n_views> struct places {
	element *at[n_views];
};

template <int n_views> CU_FN places<n_views> find(const lines &g, cu_u64 line)
{
	places<n_views> p;
#pragma unroll
	for (int k = 0; k < n_views; k++)
		p.at[k] = (element *)g.at[k];
#pragma unroll
	for (int d = RANK - 1; d >= 0; d--) {
		const cu_u64 quotient = d > 0 ? line / g.length[d] : 0;
		const cu_i64 index = (cu_i64)(line - quotient * g.length[d]);
#pragma unroll
		for (int k = 0; k < n_views; k++)
			p.at[k] += index * g.stride[k][d];
		line = quotient;
	}
	return p;
}

#ifdef KERNEL_softmax_forward
extern "C" __global__ void __launch_bounds__(256) softmax_forward(const lines g)
{
	__shared__ real shared[256];
	const int member = team::member();
	for (cu_u64 first = (cu_u64)blockIdx.x * LX; first < g.n_lines;
	     first += (cu_u64)gridDim.x * LX) {
		const cu_u64 line = first + team::line();
		const cu_i64 n = line < g.n_lines ? g.n : 0; // all threads synchronise below
		const places<2> p = find<2>(g, n ? line : first);
		real largest = -CU_INFINITY, sum = 0;
		for (cu_i64 j = member; j < n; j += LY) {
			const real x = cu_convert<real>(p.at[0][j * g.step[0]]);
			largest = x > largest ? x : largest;
		}
		largest = team::largest(largest, shared);
		for (cu_i64 j = member; j < n; j += LY)
			sum += exp(cu_convert<real>(p.at[0][j * g.step[0]]) - largest);
		sum = team::sum(sum, shared);
		const real shift = g.is_logarithm ? log(sum) : 0,
			   scale = g.is_logarithm ? 0 : 1 / sum;
		for (cu_i64 j = member; j < n; j += LY) {
			const real distance = cu_convert<real>(p.at[0][j * g.step[0]]) - largest;
			p.at[1][j * g.step[1]] = cu_convert<element>(
				g.is_logarithm ? distance - shift : exp(distance) * scale);
		}
	}
}
#endif

#ifdef KERNEL_softmax_backward
extern "C" __global__ void __launch_bounds__(256) softmax_backward(const lines g)
{
	__shared__ real shared[256];
	const int member = team::member();
	for (cu_u64 first = (cu_u64)blockIdx.x * LX; first < g.n_lines;
	     first += (cu_u64)gridDim.x * LX) {
		const cu_u64 line = first + team::line();
		const cu_i64 n = line < g.n_lines ? g.n : 0;
		const places<3> p = find<3>(g, n ? line : first);
		real sum = 0;
		for (cu_i64 j = member; j < n; j += LY) {
			const real dy = cu_convert<real>(p.at[1][j * g.step[1]]);
			sum += g.is_logarithm ? dy : cu_convert<real>(p.at[0][j * g.step[0]]) * dy;
		}
		sum = team::sum(sum, shared);
		for (cu_i64 j = member; j < n; j += LY) {
			const real y = cu_convert<real>(p.at[0][j * g.step[0]]);
			const real dy = cu_convert<real>(p.at[1][j * g.step[1]]);
			element *dx = p.at[2] + j * g.step[2];
			real value = g.is_logarithm ? dy - exp(y) * sum : y * (dy - sum);
			if (g.adds)
				value += cu_convert<real>(*dx);
			*dx = cu_convert<element>(value);
		}
	}
}
#endif
