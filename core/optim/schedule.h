/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What a schedule was made with, for checkpoints.
 */
#ifndef TN_OPTIM_SCHEDULE_H
#define TN_OPTIM_SCHEDULE_H

#include <tenon/schedule.h>

const tn_optimizer *tn_schedule_optimizer(const tn_schedule *schedule);
/* With the defaults; borrowed, like the milestones. */
const struct tn_schedule_options *tn_schedule_options_of(const tn_schedule *schedule);
const char *tn_schedule_kind_name(const tn_schedule *schedule); /* "cosine" */
/* Does that kind, TN_SCHEDULE_..., need a period? */
int tn_schedule_has_period(uint32_t kind);

#endif
