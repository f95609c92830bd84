// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Tenon developers
//
// The kernel after a product: c := activation(c + bias[j]), in place.  DTYPE, ACTIVATION, HAS_BIAS.

typedef cu_type<DTYPE> element;

struct epilogue {
	cu_u64 c, bias;
	cu_i64 bias_stride;
	cu_u64 n_elements;
	cu_u64 length[6];
	cu_i64 stride[6];
};

extern "C" __global__ void __launch_bounds__(256) matmul_epilogue(const epilogue g)
{
	for (cu_u64 e = (cu_u64)blockIdx.x * 256 + threadIdx.x; e < g.n_elements;
	     e += (cu_u64)gridDim.x * 256) {
		cu_u64 rest = e;
		cu_i64 at = 0;
		const cu_u64 j = rest % g.length[5];
#pragma unroll
		for (int d = 5; d >= 0; d--) {
			if (g.length[d] == 1)
				continue;
			at += (cu_i64)(rest % g.length[d]) * g.stride[d];
			rest /= g.length[d];
		}
		element *c = (element *)g.c + at;
		cu_sum<element> x = cu_convert<cu_sum<element>>(*c);
		if (HAS_BIAS)
			x += cu_convert<cu_sum<element>>(
				((const element *)g.bias)[(cu_i64)j * g.bias_stride]);
		*c = cu_convert<element>(cu_activate<ACTIVATION>(x));
	}
}
