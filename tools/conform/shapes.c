/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The shapes used to test elementwise operations and copies, and gradients by differences.
 */
#include "conform.h"

const struct shape shapes[] = {
	{0, {0}},
	{1, {1}},
	{1, {7}},
	{1, {1023}},
	{1, {70001}},
	{2, {1, 9}},
	{2, {9, 1}},
	{2, {31, 17}},
	{2, {257, 130}},
	{3, {2, 3, 4}},
	{3, {5, 1, 33}},
	{4, {3, 4, 5, 6}},
	{6, {2, 3, 2, 3, 2, 3}},
	{16, {1, 2, 1, 2, 1, 2, 1, 3, 1, 2, 1, 1, 2, 1, 1, 2}},
};
const size_t n_shapes = sizeof(shapes) / sizeof(shapes[0]);

void shape_random(struct kit *kit, struct shape *shape, uint32_t most_rank, uint64_t most)
{
	static const int64_t likely[] = {1, 1, 2, 3, 5, 7, 8, 13, 16, 17, 31, 64, 65, 127, 1000};
	uint64_t count = 1;
	shape->rank = (uint32_t)(kit_random(kit) % (most_rank + 1));
	for (uint32_t axis = 0; axis < shape->rank; axis++) {
		uint64_t room = most / count;
		uint64_t length = (uint64_t)likely[kit_random(kit) % 15];
		if (length > room)
			length = room > 2 ? kit_random(kit) % room + 1 : 1;
		shape->lengths[axis] = (int64_t)length;
		count *= length;
	}
}

void differences(layer_function f, const void *setting, double *x, size_t n_x, const double *dy,
		 size_t n_y, double h, double *gradient)
{
	double *above = numbers(n_y), *below = numbers(n_y);
	for (size_t i = 0; i < n_x; i++) {
		double kept = x[i];
		x[i] = kept + h;
		f(setting, x, above);
		x[i] = kept - h;
		f(setting, x, below);
		x[i] = kept;
		gradient[i] = 0;
		for (size_t j = 0; j < n_y; j++)
			gradient[i] += dy[j] * (above[j] - below[j]) / (2 * h);
	}
	free(above);
	free(below);
}
