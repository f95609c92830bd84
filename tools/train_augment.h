/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The augmentation of `tenon train`: --augment.
 */
#ifndef TENON_TOOLS_TRAIN_AUGMENT_H
#define TENON_TOOLS_TRAIN_AUGMENT_H

#include "option_table.h"

#include <tenon/tenon.h>

enum { MOST_AUGMENTATIONS = 32 };

struct train_augment {
	int none;                          /* whatever else is given */
	int own;                           /* begins with that of the data set */
	uint32_t given;                    /* bit i: values[i] was given */
	double values[MOST_AUGMENTATIONS]; /* by setting */
	struct tn_augmentation all;
};

#define TRAIN_AUGMENT_EXPECTED                                                                     \
	"none, own, nnott or settings of tn_augment(3), as roll=2,hflip_prob=0.5"
/* Of option_row: takes settings, which add up. */
int take_augment(void *values, const char *argument);

/* Gives one setting its value; for those that have options of their own. */
void train_augment_set(struct train_augment *augment, const char *name, double value);

/* All of them, for a data set; borrowed from `augment` or from the data set. */
const struct tn_augmentation *train_augment_for(struct train_augment *augment,
						const tn_dataset *dataset);

#endif
