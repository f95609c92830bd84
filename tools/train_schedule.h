/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The learning rate of `tenon train` over a training, and when it ends early.
 */
#ifndef TENON_TOOLS_TRAIN_SCHEDULE_H
#define TENON_TOOLS_TRAIN_SCHEDULE_H

#include "option_table.h"

#include <tenon/tenon.h>

enum { N_SCHEDULE_ROWS = 9 };

struct train_schedule {
	uint32_t which;               /* of the words of --schedule */
	double min_lr, factor, delta; /* negative: not given */
	uint64_t patience;            /* of the plateau; 0: not given */
	int stops;
	uint64_t stop_patience; /* 0: not given */
	double stop_delta;      /* negative: not given */
	double clip_norm;       /* 0: none */
};

/* With nothing given; the schedule is cosine. */
struct train_schedule train_schedule_start(void);
/* Writes N_SCHEDULE_ROWS rows and returns their number. */
size_t train_schedule_rows(struct train_schedule *schedule, struct option_row *rows);
/* Refuses options that change nothing, and a least rate above the first one, `lr`: OPTIONS_READ, or
 * the exit code. */
int train_schedule_check(const struct train_schedule *schedule, double lr);
/* Writes them into a trainer's options, with a schedule for its n_epochs of n_batches, which the
 * caller destroys.  An error is kept by the context. */
tn_status train_schedule_apply(const struct train_schedule *schedule, tn_optimizer *optimizer,
			       uint64_t n_batches, struct tn_trainer_options *options);

#endif
