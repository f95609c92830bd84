/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Random changes of images while they are loaded (struct tn_data_loader_options).  They depend on
 * (seed, epoch, image) alone.
 */
#ifndef TENON_AUGMENT_H
#define TENON_AUGMENT_H

#include <tenon/data.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 0 in a member: no such change. */
struct tn_augmentation {
	uint32_t struct_size;
	uint32_t max_shift; /* shift by up to this many pixels, filled with 0; below both sides */
	double hflip_prob;  /* mirror left to right with this probability, 0 to 1 */
};

#ifdef __cplusplus
}
#endif
#endif
