// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Tenon developers
//
// The kernel after a cuDNN convolution: y := activation(y + bias[channel] + residual), in place.
// FILLS: the kernel before it, y := bias[channel].  DTYPE, ACTIVATION, FILLS, HAS_BIAS,
// HAS_RESIDUAL.

typedef cu_type<DTYPE> element;

// Axes from the outermost to the innermost of y's memory.
struct picture {
	cu_u64 y, bias, residual;
	cu_i64 ys[4], rs[4];
	cu_i64 bs[4]; // the bias's stride along its axis, 0 along the others
	cu_u32 length[4];
	cu_u32 n;
};

extern "C" __global__ void __launch_bounds__(256) dnn_epilogue(const picture g)
{
	for (cu_u32 e = blockIdx.x * 256 + threadIdx.x; e < g.n; e += gridDim.x * 256) {
		cu_u32 rest = e;
		cu_i64 to = 0, of_bias = 0, of_residual = 0;
#pragma unroll
		for (int d = 3; d >= 0; d--) {
			const cu_u32 before = d ? rest / g.length[d] : 0;
			const cu_i64 i = rest - before * g.length[d];
			rest = before;
			to += i * g.ys[d];
			of_bias += i * g.bs[d];
			of_residual += i * g.rs[d];
		}
		element *y = (element *)g.y + to;
		cu_sum<element> x = 0;
		if (!FILLS)
			x = cu_convert<cu_sum<element>>(*y);
		if (HAS_BIAS)
			x += cu_convert<cu_sum<element>>(((const element *)g.bias)[of_bias]);
		if (HAS_RESIDUAL)
			x += cu_convert<cu_sum<element>>(
				((const element *)g.residual)[of_residual]);
		*y = cu_convert<element>(cu_activate<ACTIVATION>(x));
	}
}
