/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The body of the kernel of matmul.c, which prints what is before it: the macros that state the
 * shape of a tile and its dtypes, and the kernel's parameters.
 */

/* matmul: one tile of C for each group of items. */
#define LANES (WIDTH * HEIGHT)
#define TILE_M (HEIGHT * ROWS)
#define TILE_N (WIDTH * VECTOR)
{
	local tn_sum tile_a[DEPTH * TILE_M], tile_b[DEPTH * TILE_N];
	const uint lane = (uint)get_local_id(0), x = lane % WIDTH, y = lane / WIDTH;
	ulong group = get_group_id(0);
	const long first_j = (long)(group % (ulong)g.n1) * TILE_N;
	group /= (ulong)g.n1;
	const long first_i = (long)(group % (ulong)g.n2) * TILE_M;
	group /= (ulong)g.n2;
	long at_a = g.o0, at_b = g.o1, at_c = g.o2;
	for (int d = 3; d >= 0; d--) {
		const long c = (long)(group % (ulong)g.length[d]);
		group /= (ulong)g.length[d];
		at_a += c * g.t0[d];
		at_b += c * g.t1[d];
		at_c += c * g.t2[d];
	}
	const long m = g.length[4], n = g.length[5], depth = g.n0;
	tn_vector sum[ROWS];
	for (uint r = 0; r < ROWS; r++)
		sum[r] = (tn_vector)0;
	for (long first_k = 0; first_k < depth; first_k += DEPTH) {
		/* Neighbouring items load neighbours along the dense axis. */
		const int a_by_k = g.t0[5] == 1, b_by_k = g.t1[4] == 1;
		for (uint u = lane; u < TILE_M * DEPTH; u += LANES) {
			const uint i = a_by_k ? u / DEPTH : u % TILE_M;
			const uint k = a_by_k ? u % DEPTH : u / TILE_M;
			const long ai = first_i + i, ak = first_k + k;
			tile_a[k * TILE_M + i] = ai < m && ak < depth ?
				LOAD(b0[at_a + ai * g.t0[4] + ak * g.t0[5]]) : 0;
		}
		for (uint u = lane; u < TILE_N * DEPTH; u += LANES) {
			const uint j = b_by_k ? u / DEPTH : u % TILE_N;
			const uint k = b_by_k ? u % DEPTH : u / TILE_N;
			const long bj = first_j + j, bk = first_k + k;
			tile_b[k * TILE_N + j] = bj < n && bk < depth ?
				LOAD(b1[at_b + bk * g.t1[4] + bj * g.t1[5]]) : 0;
		}
		barrier(CLK_LOCAL_MEM_FENCE);
		for (uint k = 0; k < DEPTH; k++) {
			const tn_vector row = LOAD_VECTOR(x, tile_b + k * TILE_N);
			for (uint r = 0; r < ROWS; r++)
				sum[r] = MULTIPLY_ADD((tn_vector)tile_a[k * TILE_M + y * ROWS + r],
						      row, sum[r]);
		}
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	const tn_sum alpha = NUMBER(g.n3), beta = NUMBER(g.n4);
	for (uint r = 0; r < ROWS; r++) {
		tn_sum value[VECTOR];
		const long i = first_i + y * ROWS + r;
		STORE_VECTOR(sum[r], 0, value);
		for (uint v = 0; v < VECTOR && i < m; v++) {
			const long j = first_j + x * VECTOR + v;
			if (j >= n)
				break;
			const long at = at_c + i * g.t2[4] + j * g.t2[5];
			tn_sum c = alpha * value[v];
			if (beta != 0)
				c += beta * LOAD(b2[at]);
			b2[at] = STORE(c);
		}
	}
}
