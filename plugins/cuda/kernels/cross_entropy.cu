// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Tenon developers
//
// Softmax cross-entropy of rows of logits, and its gradient: a team of threads for each row.
// DTYPE, LX, LY and COLUMNS of the teams.

typedef cu_type<DTYPE> element;
typedef cu_sum<element> real;
typedef cu_team<LX, LY, COLUMNS> team;

struct rows {
	cu_i64 n_rows, n_classes;
	cu_u64 x, dx, labels, maximum, log_sum, loss;
	cu_i64 x_stride[2], dx_stride[2];
	cu_i64 labels_stride, maximum_stride, log_sum_stride, loss_stride;
	cu_i64 ignored;
	cu_i32 adds; // accumulates into dx
};

#ifdef KERNEL_cross_entropy_forward
extern "C" __global__ void __launch_bounds__(256) cross_entropy_forward(const rows g)
{
	__shared__ real shared[256];
	const int member = team::member();
	for (cu_i64 first = (cu_i64)blockIdx.x * LX; first < g.n_rows;
	     first += (cu_i64)gridDim.x * LX) {
		const cu_i64 row = first + team::line();
		const cu_i64 n = row < g.n_rows ? g.n_classes : 0; // all threads synchronise below
		const element *x = (const element *)g.x + (n ? row : first) * g.x_stride[0];
		real largest = -CU_INFINITY, sum = 0;
		for (cu_i64 c = member; c < n; c += LY) {
			const real value = cu_convert<real>(x[c * g.x_stride[1]]);
			largest = value > largest ? value : largest;
		}
		largest = team::largest(largest, shared);
		for (cu_i64 c = member; c < n; c += LY)
			sum += exp(cu_convert<real>(x[c * g.x_stride[1]]) - largest);
		sum = team::sum(sum, shared);
		if (member || !n)
			continue;
		const cu_i64 label = ((const cu_i32 *)g.labels)[row * g.labels_stride];
		const real log_sum = log(sum);
		real loss = 0;
		if (label != g.ignored)
			loss = label < 0 || label >= n
				       ? (real)CU_NAN
				       : log_sum - (cu_convert<real>(x[label * g.x_stride[1]]) -
						    largest);
		((real *)g.maximum)[row * g.maximum_stride] = largest;
		((real *)g.log_sum)[row * g.log_sum_stride] = log_sum;
		((real *)g.loss)[row * g.loss_stride] = loss;
	}
}
#endif

#ifdef KERNEL_cross_entropy_backward
extern "C" __global__ void __launch_bounds__(256) cross_entropy_backward(const rows g)
{
	for (cu_i64 row = (cu_i64)blockIdx.x * LX + team::line(); row < g.n_rows;
	     row += (cu_i64)gridDim.x * LX) {
		const element *x = (const element *)g.x + row * g.x_stride[0];
		element *dx = (element *)g.dx + row * g.dx_stride[0];
		const cu_i64 label = ((const cu_i32 *)g.labels)[row * g.labels_stride];
		const real maximum = ((const real *)g.maximum)[row * g.maximum_stride];
		const real log_sum = ((const real *)g.log_sum)[row * g.log_sum_stride];
		const real dloss = ((const real *)g.loss)[row * g.loss_stride];
		const bool is_valid = label >= 0 && label < g.n_classes;
		for (cu_i64 c = team::member(); c < g.n_classes; c += LY) {
			element *to = dx + c * g.dx_stride[1];
			const real logit = cu_convert<real>(x[c * g.x_stride[1]]);
			const real p = exp((logit - maximum) - log_sum);
			real value = is_valid ? (p - (c == label)) * dloss : (real)CU_NAN;
			if (label == g.ignored)
				value = 0;
			if (g.adds)
				value += cu_convert<real>(*to);
			*to = cu_convert<element>(value);
		}
	}
}
#endif
