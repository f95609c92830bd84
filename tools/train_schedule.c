/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The rows of the schedule's and early stopping's options, and what they set in a training.
 */
#include "train_schedule.h"

#include <string.h>

#include "tool.h"

enum { CONSTANT, COSINE, PLATEAU, TWO_DROPS };

static const char *const names[] = {[CONSTANT] = "constant",
				    [COSINE] = "cosine",
				    [PLATEAU] = "plateau",
				    [TWO_DROPS] = "two-drops",
				    NULL};
static const uint32_t kinds[] = {[CONSTANT] = TN_SCHEDULE_CONSTANT,
				 [COSINE] = TN_SCHEDULE_COSINE,
				 [PLATEAU] = TN_SCHEDULE_PLATEAU,
				 [TWO_DROPS] = TN_SCHEDULE_TWO_DROPS};

enum { DEFAULT_STOP_PATIENCE = 5, DEFAULT_PATIENCE = 3, MOST_PATIENCE = 1000000 };
#define DEFAULT_FACTOR 0.5
#define DEFAULT_DELTA 1e-4

struct train_schedule train_schedule_start(void)
{
	return (struct train_schedule){
		.which = COSINE, .min_lr = -1, .factor = -1, .delta = -1, .stop_delta = -1};
}

size_t train_schedule_rows(struct train_schedule *schedule, struct option_row *rows)
{
	const struct option_row all[N_SCHEDULE_ROWS] = {
		{"schedule", "NAME",
		 "learning rate: cosine (default), constant, plateau or\ntwo-drops",
		 .choice = &schedule->which, .choices = names},
		{"min-lr", "X", "the least rate of cosine and plateau (0)",
		 .real = &schedule->min_lr},
		{"reduce-factor", "X", "plateau: multiplies the rate by X (0.5)",
		 .real = &schedule->factor, .highest = 1, .above_lowest = 1, .below_highest = 1},
		{"reduce-patience", "N", "plateau: after N epochs without improvement (3)",
		 .count = &schedule->patience, .lowest = 1, .highest = MOST_PATIENCE},
		{"reduce-delta", "X", "plateau: a loss lower by at most X does not count (1e-4)",
		 .real = &schedule->delta},
		{"early-stopping", NULL, "stop when the validation loss stops falling",
		 .flag = &schedule->stops},
		{"patience", "N", "for this many epochs in a row (5)",
		 .count = &schedule->stop_patience, .lowest = 1, .highest = MOST_PATIENCE},
		{"min-delta", "X", "a loss lower by at most X has not fallen (1e-4)",
		 .real = &schedule->stop_delta},
		{"clip-norm", "X", "scale gradients to a joint norm of at most X (0: no)",
		 .real = &schedule->clip_norm},
	};
	memcpy(rows, all, sizeof(all));
	return N_SCHEDULE_ROWS;
}

int train_schedule_check(const struct train_schedule *s, double lr)
{
	const char *reducing = s->factor >= 0  ? "--reduce-factor"
			       : s->patience   ? "--reduce-patience"
			       : s->delta >= 0 ? "--reduce-delta"
					       : NULL;
	const char *stopping = s->stop_patience     ? "--patience"
			       : s->stop_delta >= 0 ? "--min-delta"
						    : NULL;
	if (reducing && s->which != PLATEAU)
		return usage_error("train", "%s: expected --schedule plateau too, found %s",
				   reducing, names[s->which]);
	if (s->min_lr >= 0 && s->which != PLATEAU && s->which != COSINE)
		return usage_error("train",
				   "--min-lr: expected --schedule cosine or plateau, found %s",
				   names[s->which]);
	if (s->min_lr > lr)
		return usage_error("train",
				   "--min-lr: expected at most the learning rate %g, found %g", lr,
				   s->min_lr);
	if (stopping && !s->stops)
		return usage_error("train", "%s: expected --early-stopping too, found none",
				   stopping);
	return OPTIONS_READ;
}

/* A plateau of the library reduces after more than its patience. */
static void fill_plateau(const struct train_schedule *s, struct tn_schedule_options *o)
{
	o->factor = s->factor < 0 ? DEFAULT_FACTOR : s->factor;
	o->patience = (s->patience ? s->patience : DEFAULT_PATIENCE) - 1;
	o->threshold = s->delta < 0 ? DEFAULT_DELTA : s->delta;
	o->is_absolute = 1;
}

/* Cosine is advanced by steps, two drops by epochs; both end with the training. */
static tn_schedule *make_schedule(const struct train_schedule *s, tn_optimizer *optimizer,
				  uint64_t n_batches, uint64_t n_epochs)
{
	struct tn_schedule_options options = tn_schedule_defaults();
	options.kind = kinds[s->which];
	if (s->min_lr >= 0)
		options.min_lr = s->min_lr;
	if (s->which == PLATEAU)
		fill_plateau(s, &options);
	else
		options.period = n_epochs * (s->which == TWO_DROPS ? 1 : n_batches);
	return tn_schedule_create(optimizer, &options);
}

tn_status train_schedule_apply(const struct train_schedule *s, tn_optimizer *optimizer,
			       uint64_t n_batches, struct tn_trainer_options *options)
{
	if (s->clip_norm > 0)
		options->clip_norm = s->clip_norm;
	if (s->stops) {
		options->patience = s->stop_patience ? s->stop_patience : DEFAULT_STOP_PATIENCE;
		options->min_delta = s->stop_delta < 0 ? DEFAULT_DELTA : s->stop_delta;
	}
	/* Without a schedule a training may be resumed with more epochs; where there is no batch
	 * the trainer says why. */
	if (s->which == CONSTANT || !n_batches)
		return TN_OK;
	options->schedule = make_schedule(s, optimizer, n_batches, options->n_epochs);
	options->schedule_epochs = s->which == TWO_DROPS;
	return options->schedule ? TN_OK : TN_PENDING_ERROR;
}
