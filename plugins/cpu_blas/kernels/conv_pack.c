/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Weights into panels and back: transpositions, SQUARE elements of each of a panel's channels at a time,
 * so that every line of memory is used whole while it is there.
 */
#include "conv_walk.h"

#define SQUARE 16

/* Where an element of a channel is in memory, and its row in a panel.  Elements are numbered in the
 * order in which they lie: taps first where those lie closer. */
static inline int64_t element(const struct cpu_weights *w, int64_t number, int64_t *row)
{
	int64_t taps = w->rows * w->columns, k, tap;
	if (w->by_column <= w->by_depth) {
		k = number / taps;
		tap = number % taps;
	} else {
		k = number % w->depth;
		tap = number / w->depth;
	}
	*row = tap * w->depth + k;
	return k * w->by_depth + tap / w->columns * w->by_row + tap % w->columns * w->by_column;
}

void VARIANT(cpu_conv_pack)(const struct cpu_weights *w, int64_t panel, float *rows)
{
	int64_t width = panel_width(w->channels, panel), left = w->channels - panel * WIDE;
	int64_t total = w->rows * w->columns * w->depth, channels = left < width ? left : width;
	const float *from = w->at + panel * WIDE * w->by_channel;
	for (int64_t first = 0; first < total; first += SQUARE) {
		int64_t n = total - first < SQUARE ? total - first : SQUARE;
		int64_t row[SQUARE], at[SQUARE];
		float square[SQUARE][WIDE] = {{0}};
		for (int64_t i = 0; i < n; i++)
			at[i] = element(w, first + i, &row[i]);
		for (int64_t o = 0; o < channels; o++) {
			for (int64_t i = 0; i < n; i++)
				square[i][o] = from[o * w->by_channel + at[i]];
		}
		for (int64_t i = 0; i < n; i++)
			memcpy(rows + row[i] * width, square[i], (size_t)width * sizeof(float));
	}
}

static void sum(float *to, const float *from, int64_t n, int64_t step, int64_t width)
{
	for (int64_t j = 0; j < width; j += LANES) {
		vf total = vf_load(from + j);
		for (int64_t i = 1; i < n; i++)
			total += vf_load(from + i * step + j);
		vf_store(to + j, total);
	}
}

void VARIANT(cpu_conv_unpack)(const struct cpu_weights *w, int64_t panel, const float *rows,
			      int64_t n_panels, int64_t step, int64_t begin, int64_t end,
			      int accumulate)
{
	int64_t width = panel_width(w->channels, panel), left = w->channels - panel * WIDE;
	int64_t channels = left < width ? left : width;
	float *to = w->at + panel * WIDE * w->by_channel;
	for (int64_t first = begin; first < end; first += SQUARE) {
		int64_t n = end - first < SQUARE ? end - first : SQUARE;
		int64_t row, at[SQUARE];
		float square[SQUARE][WIDE];
		for (int64_t i = 0; i < n; i++) {
			at[i] = element(w, first + i, &row);
			sum(square[i], rows + row * width, n_panels, step, width);
		}
		for (int64_t o = 0; o < channels; o++) {
			float *out = to + o * w->by_channel;
			for (int64_t i = 0; i < n; i++)
				out[at[i]] = accumulate ? out[at[i]] + square[i][o] : square[i][o];
		}
	}
}
