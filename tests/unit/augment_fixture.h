/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * One picture through tn_augment.
 */
#ifndef TN_TESTS_AUGMENT_FIXTURE_H
#define TN_TESTS_AUGMENT_FIXTURE_H

#include <tenon/augment.h>

#include "check.h"

/* Augments a copy of the picture `from`, number `number` of epoch 0, in `to`. */
static inline void augment_one(const struct tn_augmentation *options, uint32_t channels,
			       uint32_t height, uint32_t width, uint64_t number, const float *from,
			       float *to)
{
	struct tn_augment_batch batch = {.struct_size = sizeof(batch),
					 .n = 1,
					 .channels = channels,
					 .height = height,
					 .width = width,
					 .seed = 11,
					 .numbers = &number,
					 .images = to};
	memcpy(to, from, (size_t)channels * height * width * sizeof(*to));
	assert_ok(tn_augment(options, &batch, NULL));
}

/* `found` hits of n, each of this probability, are within 5 standard deviations. */
static inline void assert_hits(int found, int n, double probability)
{
	assert_close(found, n * probability, 5 * sqrt(n * probability * (1 - probability)));
}

/* The mean of n numbers uniform from low to high is within 5 standard deviations. */
static inline void assert_uniform_mean(double mean, int n, double low, double high)
{
	assert_close(mean, (low + high) / 2, 5 * (high - low) / sqrt(12.0 * n));
}

#endif
