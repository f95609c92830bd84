/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The matrix instructions of a warp: mma.sync and ldmatrix.
 *
 * Lane l holds, in groups of four lanes (g = l / 4, t = l % 4):
 *   A (16 x K), elements of E bytes, 4 / E to a register: rows g and g + 8, columns by t;
 *   B (K x 8): column g, rows by t;
 *   C and D (16 x 8): rows g and g + 8, columns 2t and 2t + 1.
 */
#include "ptx_matrix.h"

#include <string.h>

#include "ptx_memory.h"
#include "ptx_small.h"
#include "ptx_warp.h"

#define ROWS 16
#define COLUMNS 8
#define MOST_DEPTH 32

struct tiles {
	double a[ROWS][MOST_DEPTH], b[MOST_DEPTH][COLUMNS], c[ROWS][COLUMNS];
};

/* Element `i` of a register of 4 bytes. */
static double element(char kind, uint32_t bits, unsigned i)
{
	if (kind == 'h')
		return ptx_from_bits(ptx_widen_half((uint16_t)(bits >> 16 * i)));
	if (kind == 't')
		return ptx_from_bits(bits >> 16 * i << 16);
	if (kind == 's')
		return (int8_t)(bits >> 8 * i);
	if (kind == 'u')
		return (uint8_t)(bits >> 8 * i);
	/* tf32: bits past its 10 bits of mantissa are ignored. */
	return ptx_from_bits(bits & 0xffffe000);
}

static void take_a(const struct ptx_warp *warp, const struct ptx_mma *mma, struct tiles *tiles)
{
	unsigned each = mma->per_register;
	for (unsigned l = 0; l < PTX_LANES; l++)
		for (unsigned r = 0; r < mma->a_count; r++)
			for (unsigned i = 0; i < each; i++) {
				unsigned row = l / 4 + (r & 1 ? 8 : 0);
				unsigned column = l % 4 * each + i + (r & 2 ? 4 * each : 0);
				tiles->a[row][column] =
					element(mma->kind_a, ptx_u32(warp, mma->a[r], l), i);
			}
}

static void take_b(const struct ptx_warp *warp, const struct ptx_mma *mma, struct tiles *tiles)
{
	unsigned each = mma->per_register;
	for (unsigned l = 0; l < PTX_LANES; l++)
		for (unsigned r = 0; r < mma->b_count; r++)
			for (unsigned i = 0; i < each; i++)
				tiles->b[l % 4 * each + i + r * 4 * each][l / 4] =
					element(mma->kind_b, ptx_u32(warp, mma->b[r], l), i);
}

/* The row and column of element `i` of C in a lane. */
static void place_c(unsigned lane, unsigned i, unsigned *row, unsigned *column)
{
	*row = lane / 4 + (i & 2 ? 8 : 0);
	*column = lane % 4 * 2 + (i & 1);
}

static void take_c(const struct ptx_warp *warp, const struct ptx_mma *mma, struct tiles *tiles)
{
	for (unsigned l = 0; l < PTX_LANES; l++)
		for (unsigned i = 0; i < 4; i++) {
			unsigned row, column;
			place_c(l, i, &row, &column);
			uint32_t bits = ptx_u32(warp, mma->c[mma->half_c ? i / 2 : i], l);
			tiles->c[row][column] = mma->half_c ? element('h', bits, i & 1)
						: mma->kind_a == 's' || mma->kind_a == 'u'
							? (int32_t)bits
							: (double)ptx_from_bits(bits);
		}
}

static uint32_t result_bits(const struct ptx_mma *mma, double value)
{
	float single = (float)value;
	uint32_t bits;
	if (mma->kind_a == 's' || mma->kind_a == 'u')
		return (uint32_t)(int64_t)value;
	memcpy(&bits, &single, sizeof bits);
	return mma->half_d ? ptx_half(bits, PTX_NEAREST) : bits;
}

static void give_d(struct ptx_warp *warp, const struct ptx_mma *mma, const struct tiles *tiles)
{
	for (unsigned l = 0; l < PTX_LANES; l++)
		for (unsigned i = 0; i < 4; i++) {
			unsigned row, column;
			place_c(l, i, &row, &column);
			double sum = tiles->c[row][column];
			for (unsigned k = 0; k < mma->depth; k++)
				sum += tiles->a[row][k] * tiles->b[k][column];
			uint32_t bits = result_bits(mma, sum);
			if (mma->half_d) {
				uint16_t *d = ptx_register(warp, mma->d[i / 2]);
				d[2 * l + (i & 1)] = (uint16_t)bits;
			} else {
				((uint32_t *)ptx_register(warp, mma->d[i]))[l] = bits;
			}
		}
}

enum ptx_next ptx_run_mma(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
	const struct ptx_mma *mma = step->extra;
	struct tiles tiles;
	if (mask != UINT32_MAX)
		return ptx_fail(warp, step, (unsigned)__builtin_ctz(mask), 719,
				"a matrix instruction needs all 32 lanes, and has 0x%08x", mask);
	memset(&tiles, 0, sizeof tiles);
	take_a(warp, mma, &tiles);
	take_b(warp, mma, &tiles);
	take_c(warp, mma, &tiles);
	give_d(warp, mma, &tiles);
	return PTX_ON;
}

/* Lanes 8i to 8i + 7 hold the addresses of the rows of matrix i; each lane gets two adjacent
 * elements of a row, or of a column with .trans. */
enum ptx_next ptx_load_matrix(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
	const struct ptx_ldmatrix *load = step->extra;
	struct ptx_spot spot;
	uint32_t rows = load->count == 4 ? UINT32_MAX : (1u << 8 * load->count) - 1;
	if (mask != UINT32_MAX)
		return ptx_fail(warp, step, (unsigned)__builtin_ctz(mask), 719,
				"a matrix instruction needs all 32 lanes, and has 0x%08x", mask);
	if (!ptx_locate(warp, step, &load->access, rows, 16, 0, &spot))
		return PTX_FAILED;
	for (unsigned l = 0; l < PTX_LANES; l++)
		if ((rows >> l & 1) && (spot.shared >> l & 1) &&
		    !ptx_watch(warp, step, l, (uint32_t)spot.address[l], 16, PTX_READ, NULL))
			return PTX_FAILED;
	for (unsigned m = 0; m < load->count; m++) {
		uint16_t *d = ptx_register(warp, load->d[m]);
		for (unsigned l = 0; l < PTX_LANES; l++)
			for (unsigned i = 0; i < 2; i++) {
				unsigned row = load->transposed ? l % 4 * 2 + i : l / 4;
				unsigned column = load->transposed ? l / 4 : l % 4 * 2 + i;
				memcpy(&d[2 * l + i], spot.pointer[8 * m + row] + 2ul * column, 2);
			}
	}
	return PTX_ON;
}
