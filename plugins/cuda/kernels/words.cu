// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Tenon developers
//
// Writes COUNT words of a geometry to memory, for a kernel whose geometry is larger than the
// parameters of a kernel.

struct part {
	cu_u64 to;
	cu_u64 n;
	cu_u64 word[COUNT];
};

extern "C" __global__ void __launch_bounds__(COUNT) words_store(const part g)
{
	if (threadIdx.x < g.n)
		((cu_u64 *)g.to)[threadIdx.x] = g.word[threadIdx.x];
}
