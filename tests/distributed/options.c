/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What the ranks of a training must agree on: for each member of each struct of options, a rank
 * with another value is refused by name, unless the member is one of those that each rank has for
 * itself.  A member without a row fails.
 */
#include "distributed/training.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tenon/tenon.h>

#include "base/options.h"
#include "check.h"

/* ---- The table -------------------------------------------------------------------------------*/

enum type { U32, INT, U64, REAL, POINTER };

/* How a rank gets another value. */
enum how {
	BY_VALUE, /* the row's */
	BY_CODE,  /* below, where the part is made */
	OWN,      /* by value, and no other rank minds */
	NEVER,    /* what it must be follows from the rank, or it does not say what is computed */
};

struct member {
	const char *name;
	size_t offset;
	enum type type;
	enum how how;
	double value;
	uint32_t kind; /* of the loss, schedule or metric; 0: as on the other rows */
};

static const struct member of_trainer[] = {
	{TN_MEMBER(struct tn_trainer_options, struct_size), U32, .how = NEVER},
	{TN_MEMBER(struct tn_trainer_options, train), POINTER, .how = BY_CODE},
	{TN_MEMBER(struct tn_trainer_options, validation), POINTER, .how = BY_CODE},
	{TN_MEMBER(struct tn_trainer_options, loss), POINTER, .how = BY_CODE},
	{TN_MEMBER(struct tn_trainer_options, step_function), POINTER, .how = BY_CODE},
	{TN_MEMBER(struct tn_trainer_options, is_repeatable), INT, .how = OWN, .value = 1},
	{TN_MEMBER(struct tn_trainer_options, n_metrics), U64, .how = BY_VALUE, .value = 0},
	{TN_MEMBER(struct tn_trainer_options, metrics), POINTER, .how = BY_CODE},
	{TN_MEMBER(struct tn_trainer_options, n_epochs), U64, .how = BY_VALUE, .value = 7},
	{TN_MEMBER(struct tn_trainer_options, max_steps), U64, .how = BY_VALUE, .value = 7},
	{TN_MEMBER(struct tn_trainer_options, accumulate), U64, .how = BY_VALUE, .value = 2},
	{TN_MEMBER(struct tn_trainer_options, clip_value), REAL, .how = BY_VALUE, .value = 1},
	{TN_MEMBER(struct tn_trainer_options, clip_norm), REAL, .how = BY_VALUE, .value = 1},
	{TN_MEMBER(struct tn_trainer_options, scaler), POINTER, .how = BY_CODE},
	{TN_MEMBER(struct tn_trainer_options, average), POINTER, .how = BY_CODE},
	{TN_MEMBER(struct tn_trainer_options, evaluate_average), INT, .how = BY_VALUE, .value = 1},
	{TN_MEMBER(struct tn_trainer_options, schedule), POINTER, .how = BY_CODE},
	{TN_MEMBER(struct tn_trainer_options, schedule_epochs), INT, .how = BY_VALUE, .value = 1},
	{TN_MEMBER(struct tn_trainer_options, capture), U32, .how = OWN, .value = TN_CAPTURE_OFF},
	{TN_MEMBER(struct tn_trainer_options, check_gradients), INT, .how = BY_VALUE, .value = 1},
	{TN_MEMBER(struct tn_trainer_options, monitor), POINTER, .how = BY_CODE},
	{TN_MEMBER(struct tn_trainer_options, patience), U64, .how = BY_VALUE, .value = 3},
	{TN_MEMBER(struct tn_trainer_options, min_delta), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_trainer_options, best), U32, .how = BY_VALUE,
	 .value = TN_BEST_ON_HOST},
	{TN_MEMBER(struct tn_trainer_options, on_step), POINTER, .how = NEVER},
	{TN_MEMBER(struct tn_trainer_options, step_interval), U64, .how = OWN, .value = 2},
	{TN_MEMBER(struct tn_trainer_options, on_progress), POINTER, .how = NEVER},
	{TN_MEMBER(struct tn_trainer_options, on_evaluation), POINTER, .how = NEVER},
	{TN_MEMBER(struct tn_trainer_options, on_epoch), POINTER, .how = NEVER},
	{TN_MEMBER(struct tn_trainer_options, on_end), POINTER, .how = NEVER},
	{TN_MEMBER(struct tn_trainer_options, user), POINTER, .how = NEVER},
	{TN_MEMBER(struct tn_trainer_options, checkpoints), POINTER, .how = BY_CODE},
	{TN_MEMBER(struct tn_trainer_options, checkpoint_steps), U64, .how = BY_VALUE, .value = 3},
	{TN_MEMBER(struct tn_trainer_options, checkpoint_epochs), U64, .how = BY_VALUE, .value = 2},
	{TN_MEMBER(struct tn_trainer_options, n_pairs), U64, .how = OWN, .value = 1},
	{TN_MEMBER(struct tn_trainer_options, pairs), POINTER, .how = NEVER},
	{TN_MEMBER(struct tn_trainer_options, resume), INT, .how = BY_VALUE, .value = 1},
	{TN_MEMBER(struct tn_trainer_options, resumed), POINTER, .how = NEVER},
	{TN_MEMBER(struct tn_trainer_options, parallel), POINTER, .how = NEVER},
	{TN_MEMBER(struct tn_trainer_options, on_unsaved), POINTER, .how = NEVER},
};

static const struct member of_loader[] = {
	{TN_MEMBER(struct tn_data_loader_options, struct_size), U32, .how = NEVER},
	{TN_MEMBER(struct tn_data_loader_options, batch_size), U32, .how = BY_VALUE, .value = 7},
	{TN_MEMBER(struct tn_data_loader_options, seed), U64, .how = BY_VALUE, .value = 8},
	{TN_MEMBER(struct tn_data_loader_options, shuffle), INT, .how = BY_VALUE, .value = 1},
	{TN_MEMBER(struct tn_data_loader_options, drop_last), INT, .how = BY_VALUE, .value = 1},
	{TN_MEMBER(struct tn_data_loader_options, weights), POINTER, .how = BY_CODE},
	{TN_MEMBER(struct tn_data_loader_options, augmentation), POINTER, .how = BY_CODE},
	{TN_MEMBER(struct tn_data_loader_options, transform), POINTER, .how = NEVER},
	{TN_MEMBER(struct tn_data_loader_options, user), POINTER, .how = NEVER},
	{TN_MEMBER(struct tn_data_loader_options, context), POINTER, .how = NEVER},
	{TN_MEMBER(struct tn_data_loader_options, prefetch), U32, .how = OWN, .value = 3},
	{TN_MEMBER(struct tn_data_loader_options, rank), U32, .how = NEVER},
	{TN_MEMBER(struct tn_data_loader_options, n_ranks), U32, .how = NEVER},
	{TN_MEMBER(struct tn_data_loader_options, uneven), INT, .how = NEVER},
};

static const struct member of_parallel[] = {
	{TN_MEMBER(struct tn_data_parallel_options, struct_size), U32, .how = NEVER},
	{TN_MEMBER(struct tn_data_parallel_options, sync_batch_norm), INT, .how = BY_VALUE,
	 .value = 1},
	{TN_MEMBER(struct tn_data_parallel_options, bucket_bytes), U64, .how = BY_VALUE,
	 .value = 4096},
	{TN_MEMBER(struct tn_data_parallel_options, wire_dtype), INT, .how = BY_VALUE,
	 .value = TN_F16},
	{TN_MEMBER(struct tn_data_parallel_options, sharded), INT, .how = BY_VALUE, .value = 1},
};

static const struct member of_loss[] = {
	{TN_MEMBER(struct tn_loss_options, struct_size), U32, .how = NEVER},
	{TN_MEMBER(struct tn_loss_options, kind), U32, .how = BY_VALUE, .value = TN_LOSS_NLL},
	{TN_MEMBER(struct tn_loss_options, weight), POINTER, .how = BY_CODE},
	{TN_MEMBER(struct tn_loss_options, pos_weight), POINTER, .how = BY_CODE,
	 .kind = TN_LOSS_BINARY_CROSS_ENTROPY},
	{TN_MEMBER(struct tn_loss_options, label_smoothing), REAL, .how = BY_VALUE, .value = 0.1},
	{TN_MEMBER(struct tn_loss_options, has_ignore_label), INT, .how = BY_VALUE, .value = 1},
	{TN_MEMBER(struct tn_loss_options, ignore_label), INT, .how = BY_VALUE, .value = 3},
	{TN_MEMBER(struct tn_loss_options, beta), REAL, .how = BY_VALUE, .value = 0.5,
	 .kind = TN_LOSS_SMOOTH_L1},
	{TN_MEMBER(struct tn_loss_options, delta), REAL, .how = BY_VALUE, .value = 0.5,
	 .kind = TN_LOSS_HUBER},
	{TN_MEMBER(struct tn_loss_options, log_target), INT, .how = BY_VALUE, .value = 1,
	 .kind = TN_LOSS_KL_DIV},
	{TN_MEMBER(struct tn_loss_options, p), INT, .how = BY_VALUE, .value = 2,
	 .kind = TN_LOSS_MULTI_MARGIN},
	{TN_MEMBER(struct tn_loss_options, margin), REAL, .how = BY_VALUE, .value = 0.5,
	 .kind = TN_LOSS_MULTI_MARGIN},
};

static const struct member of_schedule[] = {
	{TN_MEMBER(struct tn_schedule_options, struct_size), U32, .how = NEVER},
	{TN_MEMBER(struct tn_schedule_options, kind), U32, .how = BY_VALUE,
	 .value = TN_SCHEDULE_STEP},
	{TN_MEMBER(struct tn_schedule_options, warmup), U64, .how = BY_VALUE, .value = 2},
	{TN_MEMBER(struct tn_schedule_options, warmup_start), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_schedule_options, period), U64, .how = BY_VALUE, .value = 7},
	{TN_MEMBER(struct tn_schedule_options, multiplier), U64, .how = BY_VALUE, .value = 2,
	 .kind = TN_SCHEDULE_COSINE_RESTARTS},
	{TN_MEMBER(struct tn_schedule_options, gamma), REAL, .how = BY_VALUE, .value = 0.5,
	 .kind = TN_SCHEDULE_STEP},
	{TN_MEMBER(struct tn_schedule_options, min_lr), REAL, .how = BY_VALUE, .value = 0.001},
	{TN_MEMBER(struct tn_schedule_options, power), REAL, .how = BY_VALUE, .value = 2,
	 .kind = TN_SCHEDULE_POLYNOMIAL},
	{TN_MEMBER(struct tn_schedule_options, n_milestones), U64, .how = BY_VALUE, .value = 1,
	 .kind = TN_SCHEDULE_MULTISTEP},
	{TN_MEMBER(struct tn_schedule_options, milestones), POINTER, .how = BY_CODE,
	 .kind = TN_SCHEDULE_MULTISTEP},
	{TN_MEMBER(struct tn_schedule_options, pct_start), REAL, .how = BY_VALUE, .value = 0.5,
	 .kind = TN_SCHEDULE_ONE_CYCLE},
	{TN_MEMBER(struct tn_schedule_options, div_factor), REAL, .how = BY_VALUE, .value = 5,
	 .kind = TN_SCHEDULE_ONE_CYCLE},
	{TN_MEMBER(struct tn_schedule_options, final_div_factor), REAL, .how = BY_VALUE, .value = 5,
	 .kind = TN_SCHEDULE_ONE_CYCLE},
	{TN_MEMBER(struct tn_schedule_options, factor), REAL, .how = BY_VALUE, .value = 0.5,
	 .kind = TN_SCHEDULE_PLATEAU},
	{TN_MEMBER(struct tn_schedule_options, patience), U64, .how = BY_VALUE, .value = 5,
	 .kind = TN_SCHEDULE_PLATEAU},
	{TN_MEMBER(struct tn_schedule_options, threshold), REAL, .how = BY_VALUE, .value = 0.5,
	 .kind = TN_SCHEDULE_PLATEAU},
	{TN_MEMBER(struct tn_schedule_options, is_absolute), INT, .how = BY_VALUE, .value = 1,
	 .kind = TN_SCHEDULE_PLATEAU},
	{TN_MEMBER(struct tn_schedule_options, is_rising), INT, .how = BY_VALUE, .value = 1,
	 .kind = TN_SCHEDULE_PLATEAU},
	{TN_MEMBER(struct tn_schedule_options, cooldown), U64, .how = BY_VALUE, .value = 5,
	 .kind = TN_SCHEDULE_PLATEAU},
	{TN_MEMBER(struct tn_schedule_options, epsilon), REAL, .how = BY_VALUE, .value = 0.5,
	 .kind = TN_SCHEDULE_PLATEAU},
};

static const struct member of_scaler[] = {
	{TN_MEMBER(struct tn_grad_scaler_options, struct_size), U32, .how = NEVER},
	{TN_MEMBER(struct tn_grad_scaler_options, growth_interval), U32, .how = BY_VALUE,
	 .value = 5},
	{TN_MEMBER(struct tn_grad_scaler_options, init_scale), REAL, .how = BY_VALUE,
	 .value = 1024},
	{TN_MEMBER(struct tn_grad_scaler_options, growth_factor), REAL, .how = BY_VALUE,
	 .value = 4},
	{TN_MEMBER(struct tn_grad_scaler_options, backoff_factor), REAL, .how = BY_VALUE,
	 .value = 0.25},
};

static const struct member of_average[] = {
	{TN_MEMBER(struct tn_weight_average_options, struct_size), U32, .how = NEVER},
	{TN_MEMBER(struct tn_weight_average_options, decay), REAL, .how = BY_VALUE, .value = 0.5},
};

static const struct member of_metric[] = {
	{TN_MEMBER(struct tn_metric_options, struct_size), U32, .how = NEVER},
	{TN_MEMBER(struct tn_metric_options, kind), U32, .how = BY_VALUE,
	 .value = TN_METRIC_ACCURACY},
	{TN_MEMBER(struct tn_metric_options, name), POINTER, .how = BY_CODE},
	{TN_MEMBER(struct tn_metric_options, k), U64, .how = BY_VALUE, .value = 2,
	 .kind = TN_METRIC_TOP_K},
	{TN_MEMBER(struct tn_metric_options, average), U32, .how = BY_VALUE, .value = TN_F1_MICRO},
	{TN_MEMBER(struct tn_metric_options, is_multi_label), INT, .how = BY_VALUE, .value = 1},
	{TN_MEMBER(struct tn_metric_options, threshold), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_metric_options, has_ignore_label), INT, .how = BY_VALUE, .value = 1},
	{TN_MEMBER(struct tn_metric_options, ignore_label), INT, .how = BY_VALUE, .value = 3},
};

static const struct member of_sgd[] = {
	{TN_MEMBER(struct tn_sgd_options, struct_size), U32, .how = NEVER},
	{TN_MEMBER(struct tn_sgd_options, lr), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_sgd_options, momentum), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_sgd_options, dampening), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_sgd_options, weight_decay), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_sgd_options, nesterov), INT, .how = BY_VALUE, .value = 1},
};

static const struct member of_adamw[] = {
	{TN_MEMBER(struct tn_adamw_options, struct_size), U32, .how = NEVER},
	{TN_MEMBER(struct tn_adamw_options, lr), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_adamw_options, beta1), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_adamw_options, beta2), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_adamw_options, epsilon), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_adamw_options, weight_decay), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_adamw_options, amsgrad), INT, .how = BY_VALUE, .value = 1},
};

static const struct member of_adam[] = {
	{TN_MEMBER(struct tn_adam_options, struct_size), U32, .how = NEVER},
	{TN_MEMBER(struct tn_adam_options, lr), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_adam_options, beta1), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_adam_options, beta2), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_adam_options, epsilon), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_adam_options, weight_decay), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_adam_options, amsgrad), INT, .how = BY_VALUE, .value = 1},
};

static const struct member of_nadam[] = {
	{TN_MEMBER(struct tn_nadam_options, struct_size), U32, .how = NEVER},
	{TN_MEMBER(struct tn_nadam_options, lr), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_nadam_options, beta1), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_nadam_options, beta2), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_nadam_options, epsilon), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_nadam_options, weight_decay), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_nadam_options, momentum_decay), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_nadam_options, decoupled_weight_decay), INT, .how = BY_VALUE,
	 .value = 1},
};

static const struct member of_rmsprop[] = {
	{TN_MEMBER(struct tn_rmsprop_options, struct_size), U32, .how = NEVER},
	{TN_MEMBER(struct tn_rmsprop_options, lr), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_rmsprop_options, alpha), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_rmsprop_options, epsilon), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_rmsprop_options, weight_decay), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_rmsprop_options, momentum), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_rmsprop_options, centered), INT, .how = BY_VALUE, .value = 1},
};

static const struct member of_adagrad[] = {
	{TN_MEMBER(struct tn_adagrad_options, struct_size), U32, .how = NEVER},
	{TN_MEMBER(struct tn_adagrad_options, lr), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_adagrad_options, lr_decay), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_adagrad_options, weight_decay), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_adagrad_options, initial_accumulator_value), REAL, .how = BY_VALUE,
	 .value = 0.5},
	{TN_MEMBER(struct tn_adagrad_options, epsilon), REAL, .how = BY_VALUE, .value = 0.5},
};

static const struct member of_adadelta[] = {
	{TN_MEMBER(struct tn_adadelta_options, struct_size), U32, .how = NEVER},
	{TN_MEMBER(struct tn_adadelta_options, lr), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_adadelta_options, rho), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_adadelta_options, epsilon), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_adadelta_options, weight_decay), REAL, .how = BY_VALUE, .value = 0.5},
};

static const struct member of_lion[] = {
	{TN_MEMBER(struct tn_lion_options, struct_size), U32, .how = NEVER},
	{TN_MEMBER(struct tn_lion_options, lr), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_lion_options, beta1), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_lion_options, beta2), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_lion_options, weight_decay), REAL, .how = BY_VALUE, .value = 0.5},
};

static const struct member of_lars[] = {
	{TN_MEMBER(struct tn_lars_options, struct_size), U32, .how = NEVER},
	{TN_MEMBER(struct tn_lars_options, lr), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_lars_options, momentum), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_lars_options, dampening), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_lars_options, weight_decay), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_lars_options, trust_coefficient), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_lars_options, epsilon), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_lars_options, nesterov), INT, .how = BY_VALUE, .value = 1},
	{TN_MEMBER(struct tn_lars_options, adapt_vectors), INT, .how = BY_VALUE, .value = 1},
};

static const struct member of_lamb[] = {
	{TN_MEMBER(struct tn_lamb_options, struct_size), U32, .how = NEVER},
	{TN_MEMBER(struct tn_lamb_options, lr), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_lamb_options, beta1), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_lamb_options, beta2), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_lamb_options, epsilon), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_lamb_options, weight_decay), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_lamb_options, adapt_vectors), INT, .how = BY_VALUE, .value = 1},
};

static const struct member of_group[] = {
	{TN_MEMBER(struct tn_group_options, struct_size), U32, .how = NEVER},
	{TN_MEMBER(struct tn_group_options, names), POINTER, .how = BY_CODE},
	{TN_MEMBER(struct tn_group_options, max_rank), INT, .how = BY_VALUE, .value = 1},
	{TN_MEMBER(struct tn_group_options, lr_factor), REAL, .how = BY_VALUE, .value = 0.5},
	{TN_MEMBER(struct tn_group_options, weight_decay), REAL, .how = BY_VALUE, .value = 0.5},
};

static const struct member of_lookahead[] = {
	{TN_MEMBER(struct tn_lookahead_options, struct_size), U32, .how = NEVER},
	{TN_MEMBER(struct tn_lookahead_options, k), U64, .how = BY_VALUE, .value = 3},
	{TN_MEMBER(struct tn_lookahead_options, alpha), REAL, .how = BY_VALUE, .value = 0.25},
};

/* What is in no struct. */
static const struct member of_none[] = {
	{"dataset", 0, POINTER, .how = BY_CODE},   {"seed", 0, POINTER, .how = BY_CODE},
	{"lasso", 0, POINTER, .how = BY_CODE},     {"gradient noise", 0, POINTER, .how = BY_CODE},
	{"is_rising", 0, POINTER, .how = BY_CODE}, /* of a metric of the program's own */
};

enum subject {
	TRAINER,
	LOADER,
	PARALLEL,
	LOSS,
	SCHEDULE,
	SCALER,
	AVERAGE,
	METRIC,
	SGD,
	ADAMW,
	ADAM,
	NADAM,
	RMSPROP,
	ADAGRAD,
	ADADELTA,
	LION,
	LARS,
	LAMB,
	GROUP,
	LOOKAHEAD,
	NONE
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* The part of the error that names what differs; "": not always the same one. */
static const struct table {
	const char *name, *part;
	size_t size; /* of the struct */
	const struct member *members;
	size_t n;
} tables[] = {
	[TRAINER] = {"trainer", "", sizeof(struct tn_trainer_options), of_trainer,
		     LENGTH(of_trainer)},
	[LOADER] = {"loader", "the data", sizeof(struct tn_data_loader_options), of_loader,
		    LENGTH(of_loader)},
	[PARALLEL] = {"data parallel", "the options of data parallel training",
		      sizeof(struct tn_data_parallel_options), of_parallel, LENGTH(of_parallel)},
	[LOSS] = {"loss", "the options of the trainer", sizeof(struct tn_loss_options), of_loss,
		  LENGTH(of_loss)},
	[SCHEDULE] = {"schedule", "the optimizer, the schedule or the scaler",
		      sizeof(struct tn_schedule_options), of_schedule, LENGTH(of_schedule)},
	[SCALER] = {"scaler", "the optimizer, the schedule or the scaler",
		    sizeof(struct tn_grad_scaler_options), of_scaler, LENGTH(of_scaler)},
	[AVERAGE] = {"average", "the options of the trainer",
		     sizeof(struct tn_weight_average_options), of_average, LENGTH(of_average)},
	[METRIC] = {"metric", "the options of the trainer", sizeof(struct tn_metric_options),
		    of_metric, LENGTH(of_metric)},
	[SGD] = {"sgd", "", sizeof(struct tn_sgd_options), of_sgd, LENGTH(of_sgd)},
	[ADAMW] = {"adamw", "", sizeof(struct tn_adamw_options), of_adamw, LENGTH(of_adamw)},
	[ADAM] = {"adam", "", sizeof(struct tn_adam_options), of_adam, LENGTH(of_adam)},
	[NADAM] = {"nadam", "", sizeof(struct tn_nadam_options), of_nadam, LENGTH(of_nadam)},
	[RMSPROP] = {"rmsprop", "", sizeof(struct tn_rmsprop_options), of_rmsprop,
		     LENGTH(of_rmsprop)},
	[ADAGRAD] = {"adagrad", "", sizeof(struct tn_adagrad_options), of_adagrad,
		     LENGTH(of_adagrad)},
	[ADADELTA] = {"adadelta", "", sizeof(struct tn_adadelta_options), of_adadelta,
		      LENGTH(of_adadelta)},
	[LION] = {"lion", "", sizeof(struct tn_lion_options), of_lion, LENGTH(of_lion)},
	[LARS] = {"lars", "", sizeof(struct tn_lars_options), of_lars, LENGTH(of_lars)},
	[LAMB] = {"lamb", "", sizeof(struct tn_lamb_options), of_lamb, LENGTH(of_lamb)},
	[GROUP] = {"group", "", sizeof(struct tn_group_options), of_group, LENGTH(of_group)},
	[LOOKAHEAD] = {"lookahead", "", sizeof(struct tn_lookahead_options), of_lookahead,
		       LENGTH(of_lookahead)},
	[NONE] = {"none", "", 0, of_none, LENGTH(of_none)},
};

static size_t size_of(enum type type)
{
	static const size_t sizes[] = {
		[U32] = 4, [INT] = 4, [U64] = 8, [REAL] = 8, [POINTER] = sizeof(void *)};
	return sizes[type];
}

/* Each member has its row, in the order of the struct, which has no other. */
static void every_member_is_in_the_table(void **state)
{
	(void)state;
	for (size_t t = 0; t < NONE; t++) {
		size_t end = 0;
		for (size_t i = 0; i < tables[t].n; i++) {
			const struct member *m = &tables[t].members[i];
			const size_t size = size_of(m->type);
			if (m->offset != (end + size - 1) / size * size)
				fail_msg("struct of the %s: there is a member before %s",
					 tables[t].name, m->name);
			end = m->offset + size;
		}
		if ((end + 7) / 8 * 8 != tables[t].size)
			fail_msg("struct of the %s: there is a member after the last row",
				 tables[t].name);
	}
}

/* ---- One trainer -----------------------------------------------------------------------------*/

/* What a rank makes, and whether it differs. */
struct trial {
	const struct ranked *ranked;
	enum subject subject;
	const struct member *member;
	const char *folder;
	int differs;
	int mistake; /* of this rank; 0: none */
};

/* What a trainer refuses: of numbers, of objects and of names. */
enum { NO_MISTAKE, OF_NUMBERS, OF_OBJECTS, OF_NAMES, N_MISTAKES };

static int is_about(const struct trial *trial, enum subject subject, const char *name)
{
	return trial->subject == subject && !strcmp(trial->member->name, name);
}

static int differs_in(const struct trial *trial, enum subject subject, const char *name)
{
	return trial->differs && is_about(trial, subject, name);
}

/* Gives a struct of options the other value of its member, if it is the one. */
static void vary(const struct trial *trial, enum subject subject, void *options)
{
	const struct member *m = trial->member;
	char *at = (char *)options + m->offset;
	if (!trial->differs || trial->subject != subject || m->how == BY_CODE || m->how == NEVER)
		return;
	const uint32_t narrow = (uint32_t)(int32_t)m->value;
	const uint64_t wide = (uint64_t)m->value;
	memcpy(at,
	       m->type == REAL  ? (const void *)&m->value
	       : m->type == U64 ? (const void *)&wide
				: &narrow,
	       size_of(m->type));
}

enum { SIDE = 4, SAMPLES = 40, CLASSES = 4 };

static tn_dataset *make_dataset(const struct trial *trial)
{
	static uint8_t images[SAMPLES][SIDE][SIDE];
	static int32_t labels[SAMPLES];
	struct tn_dataset_source source = tn_dataset_source_defaults();
	tn_dataset *dataset = NULL;
	for (int i = 0; i < SAMPLES; i++) {
		labels[i] = i % CLASSES;
		images[i][0][0] = (uint8_t)(i + differs_in(trial, NONE, "dataset"));
	}
	source.channels = 1;
	source.height = SIDE;
	source.width = SIDE;
	source.images = &images[0][0][0];
	source.labels = labels;
	source.n_images = SAMPLES;
	source.n_classes = CLASSES;
	need(!tn_dataset_create(&source, &dataset, NULL));
	return dataset;
}

static tn_data_loader *make_loader(const struct trial *trial, const tn_dataset *dataset, int uneven)
{
	double weights[SAMPLES];
	struct tn_augmentation augmentation = tn_augmentation_defaults();
	struct tn_data_loader_options options = tn_data_loader_defaults();
	tn_data_loader *loader = NULL;
	for (int i = 0; i < SAMPLES; i++)
		weights[i] = 1 + i;
	augmentation.max_shift = 1;
	options.batch_size = 6;
	options.rank = trial->ranked->rank;
	options.n_ranks = trial->ranked->size;
	options.uneven = uneven;
	options.weights = differs_in(trial, LOADER, "weights") ? weights : NULL;
	options.augmentation = differs_in(trial, LOADER, "augmentation") ? &augmentation : NULL;
	options.seed = !uneven && differs_in(trial, TRAINER, "train");
	vary(trial, LOADER, &options);
	need(!tn_data_loader_create(dataset, TN_PART_TRAIN, &options, &loader, NULL));
	return loader;
}

static tn_module *make_network(tn_context *context)
{
	tn_module *net = tn_module_sequential(context);
	tn_random_set_state(context, (struct tn_random_state){3, 1});
	need_ok(context, tn_module_sequential_add(net, "flat", tn_module_flatten(context)));
	need_ok(context, tn_module_sequential_add(
				 net, "out",
				 tn_module_linear(context, (int64_t)SIDE * SIDE, CLASSES, NULL)));
	need_ok(context, tn_module_build(net));
	return net;
}

static tn_loss *make_loss(const struct trial *trial)
{
	const tn_array *ones = tn_ones(trial->ranked->context, TN_F32, 1, (int64_t[]){CLASSES});
	const tn_array *twos = tn_affine(ones, 2, 0);
	struct tn_loss_options options = tn_loss_defaults();
	if (trial->subject == LOSS)
		options.kind = trial->member->kind;
	if (is_about(trial, TRAINER, "loss")) /* another than the standard one */
		options.kind = TN_LOSS_NLL;
	if (is_about(trial, LOSS, "weight"))
		options.weight = trial->differs ? twos : ones;
	if (is_about(trial, LOSS, "pos_weight"))
		options.pos_weight = trial->differs ? twos : ones;
	options.has_ignore_label = is_about(trial, LOSS, "ignore_label");
	vary(trial, LOSS, &options);
	return tn_loss_create(trial->ranked->context, &options);
}

static tn_schedule *make_schedule(const struct trial *trial, tn_optimizer *optimizer)
{
	static const uint64_t milestones[] = {3, 6}, others[] = {3, 7};
	struct tn_schedule_options options = tn_schedule_defaults();
	const uint32_t kind = trial->subject == SCHEDULE ? trial->member->kind : 0;
	options.kind = kind ? kind : TN_SCHEDULE_COSINE;
	if (options.kind == TN_SCHEDULE_MULTISTEP) {
		options.n_milestones = 2;
		options.milestones =
			differs_in(trial, SCHEDULE, "milestones") ? others : milestones;
	} else if (options.kind != TN_SCHEDULE_PLATEAU) {
		options.period = 10;
	}
	if (is_about(trial, SCHEDULE, "warmup_start"))
		options.warmup = 2;
	vary(trial, SCHEDULE, &options);
	return tn_schedule_create(optimizer, &options);
}

static void *begin_nothing(void *user, tn_context *context)
{
	(void)context;
	return user;
}

static tn_status add_nothing(void *state, const tn_array *output, const tn_array *target)
{
	(void)state, (void)output, (void)target;
	return TN_OK;
}

static tn_status value_of_nothing(void *state, double *value)
{
	(void)state;
	*value = 0;
	return TN_OK;
}

static size_t no_arrays(void *state, tn_array **arrays, size_t room)
{
	(void)state, (void)arrays, (void)room;
	return 0;
}

static tn_metric *make_own_metric(const struct trial *trial)
{
	static int state;
	struct tn_metric_class class_ = tn_metric_class_defaults();
	class_.name = "own";
	class_.user = &state;
	class_.is_sum = 1;
	class_.is_rising = trial->differs;
	class_.begin = begin_nothing;
	class_.add = add_nothing;
	class_.value = value_of_nothing;
	class_.arrays = no_arrays;
	return tn_metric_custom(trial->ranked->context, &class_);
}

static tn_metric *make_metric(const struct trial *trial)
{
	struct tn_metric_options options = tn_metric_defaults();
	const uint32_t kind = trial->subject == METRIC ? trial->member->kind : 0;
	if (is_about(trial, NONE, "is_rising"))
		return make_own_metric(trial);
	options.kind = kind ? kind : TN_METRIC_F1;
	options.name = differs_in(trial, METRIC, "name") ? "another" : NULL;
	options.has_ignore_label = is_about(trial, METRIC, "ignore_label");
	options.is_multi_label = is_about(trial, METRIC, "threshold");
	if (differs_in(trial, TRAINER, "metrics"))
		options.kind = TN_METRIC_ACCURACY;
	vary(trial, METRIC, &options);
	return tn_metric_create(trial->ranked->context, &options);
}

static tn_optimizer *make_sgd(const struct trial *trial, tn_module *net)
{
	struct tn_sgd_options options = tn_sgd_defaults();
	options.lr = 0.1;
	options.momentum = 0.9;
	vary(trial, SGD, &options);
	return tn_sgd(net, &options);
}

static tn_optimizer *make_adamw(const struct trial *trial, tn_module *net)
{
	struct tn_adamw_options options = tn_adamw_defaults();
	vary(trial, ADAMW, &options);
	return tn_adamw(net, &options);
}

static tn_optimizer *make_adam(const struct trial *trial, tn_module *net)
{
	struct tn_adam_options options = tn_adam_defaults();
	vary(trial, ADAM, &options);
	return tn_adam(net, &options);
}

static tn_optimizer *make_nadam(const struct trial *trial, tn_module *net)
{
	struct tn_nadam_options options = tn_nadam_defaults();
	vary(trial, NADAM, &options);
	return tn_nadam(net, &options);
}

static tn_optimizer *make_rmsprop(const struct trial *trial, tn_module *net)
{
	struct tn_rmsprop_options options = tn_rmsprop_defaults();
	vary(trial, RMSPROP, &options);
	return tn_rmsprop(net, &options);
}

static tn_optimizer *make_adagrad(const struct trial *trial, tn_module *net)
{
	struct tn_adagrad_options options = tn_adagrad_defaults();
	vary(trial, ADAGRAD, &options);
	return tn_adagrad(net, &options);
}

static tn_optimizer *make_adadelta(const struct trial *trial, tn_module *net)
{
	struct tn_adadelta_options options = tn_adadelta_defaults();
	vary(trial, ADADELTA, &options);
	return tn_adadelta(net, &options);
}

static tn_optimizer *make_lion(const struct trial *trial, tn_module *net)
{
	struct tn_lion_options options = tn_lion_defaults();
	vary(trial, LION, &options);
	return tn_lion(net, &options);
}

static tn_optimizer *make_lars(const struct trial *trial, tn_module *net)
{
	struct tn_lars_options options = tn_lars_defaults();
	options.lr = 0.1;
	options.momentum = 0.9;
	vary(trial, LARS, &options);
	return tn_lars(net, &options);
}

static tn_optimizer *make_lamb(const struct trial *trial, tn_module *net)
{
	struct tn_lamb_options options = tn_lamb_defaults();
	vary(trial, LAMB, &options);
	return tn_lamb(net, &options);
}

static void set_group(const struct trial *trial, tn_optimizer *optimizer)
{
	struct tn_group_options options = tn_group_defaults();
	options.names = differs_in(trial, GROUP, "names") ? "*.bias" : NULL;
	options.lr_factor = 2;
	options.weight_decay = 0.25;
	vary(trial, GROUP, &options);
	need_ok(trial->ranked->context, tn_optimizer_set_group(optimizer, &options));
}

static void look_ahead(const struct trial *trial, tn_optimizer *optimizer)
{
	struct tn_lookahead_options options = tn_lookahead_defaults();
	vary(trial, LOOKAHEAD, &options);
	need_ok(trial->ranked->context, tn_lookahead(optimizer, &options));
}

/* SGD where the subject is no optimizer. */
static tn_optimizer *make_optimizer(const struct trial *trial, tn_module *net)
{
	static tn_optimizer *(*const makers[])(const struct trial *trial, tn_module *net) = {
		[ADAMW] = make_adamw,     [ADAM] = make_adam,       [NADAM] = make_nadam,
		[RMSPROP] = make_rmsprop, [ADAGRAD] = make_adagrad, [ADADELTA] = make_adadelta,
		[LION] = make_lion,       [LARS] = make_lars,       [LAMB] = make_lamb,
	};
	const size_t subject = (size_t)trial->subject;
	tn_optimizer *optimizer = subject < LENGTH(makers) && makers[subject]
					  ? makers[subject](trial, net)
					  : make_sgd(trial, net);
	if (trial->subject == GROUP)
		set_group(trial, optimizer);
	if (trial->subject == LOOKAHEAD)
		look_ahead(trial, optimizer);
	if (differs_in(trial, NONE, "lasso"))
		need_ok(trial->ranked->context, tn_optimizer_set_lasso(optimizer, 0.1));
	if (differs_in(trial, NONE, "gradient noise"))
		need_ok(trial->ranked->context,
			tn_optimizer_set_gradient_noise(optimizer, 0.1, 0.55));
	return optimizer;
}

/* On all ranks where it is what differs: with it check_gradients is refused. */
static tn_grad_scaler *make_scaler(const struct trial *trial, tn_module *net)
{
	struct tn_grad_scaler_options options = tn_grad_scaler_defaults();
	vary(trial, SCALER, &options);
	return trial->subject == SCALER || differs_in(trial, TRAINER, "scaler")
		       ? tn_grad_scaler_create(net, &options)
		       : NULL;
}

static tn_weight_average *make_average(const struct trial *trial, tn_module *net)
{
	struct tn_weight_average_options options = tn_weight_average_defaults();
	vary(trial, AVERAGE, &options);
	return differs_in(trial, TRAINER, "average") ? NULL
						     : tn_weight_average_create(net, &options);
}

static tn_array *no_step(void *user, tn_module *module, uint32_t n_fields, tn_array *const *fields,
			 tn_array **output, tn_array **weight)
{
	(void)user, (void)module, (void)n_fields, (void)fields, (void)output, (void)weight;
	return NULL;
}

struct refusal {
	tn_status status;
	char text[512];
};

static void note_refusal(tn_context *context, struct refusal *refusal)
{
	const struct tn_error_info *error = tn_error(context);
	if (error) {
		refusal->status = error->status;
		memcpy(refusal->text, error->text, sizeof(refusal->text));
	}
	tn_error_clear(context);
}

static void make_trainer(const struct trial *trial, tn_module *net, tn_data_parallel *parallel,
			 struct refusal *refusal)
{
	static const struct tn_pair pairs[] = {{"a", "b"}};
	tn_context *context = trial->ranked->context;
	tn_dataset *dataset = make_dataset(trial);
	tn_optimizer *optimizer = make_optimizer(trial, net);
	tn_metric *metric = make_metric(trial);
	tn_data_loader *train = make_loader(trial, dataset, 0);
	tn_data_loader *validation = make_loader(trial, dataset, 1);
	struct tn_trainer_options options = tn_trainer_defaults();
	options.train = train;
	options.validation = differs_in(trial, TRAINER, "validation") ? NULL : validation;
	options.loss = differs_in(trial, TRAINER, "loss") ? NULL : make_loss(trial);
	options.n_metrics = 1;
	options.metrics = &metric;
	options.scaler = make_scaler(trial, net);
	options.average = make_average(trial, net);
	options.schedule = make_schedule(trial, optimizer);
	options.pairs = pairs;
	options.parallel = parallel;
	tn_loss *loss = options.loss;
	if (differs_in(trial, TRAINER, "step_function")) {
		options.step_function = no_step;
		options.loss = NULL;
	}
	tn_schedule *schedule = options.schedule;
	if (differs_in(trial, TRAINER, "schedule"))
		options.schedule = NULL;
	if (differs_in(trial, TRAINER, "monitor") || differs_in(trial, SCHEDULE, "is_rising"))
		options.monitor = "f1";
	if (is_about(trial, NONE, "is_rising"))
		options.monitor = "own";
	if (differs_in(trial, TRAINER, "checkpoints"))
		options.checkpoints = tn_checkpoint_folder_open(context, trial->folder, NULL);
	vary(trial, TRAINER, &options);
	if (trial->mistake == OF_NUMBERS)
		options.clip_norm = -1;
	if (trial->mistake == OF_NAMES)
		options.monitor = "nothing";
	if (trial->mistake == OF_OBJECTS) {
		options.schedule = NULL;
		options.schedule_epochs = 1;
	}
	need_ok(context, TN_OK);
	tn_random_set_state(context, (struct tn_random_state){differs_in(trial, NONE, "seed"), 1});
	tn_trainer *trainer = tn_trainer_create(net, optimizer, &options);
	note_refusal(context, refusal);
	tn_trainer_destroy(trainer);
	tn_checkpoint_folder_close(options.checkpoints);
	tn_schedule_destroy(schedule);
	tn_weight_average_destroy(options.average);
	tn_grad_scaler_destroy(options.scaler);
	tn_loss_destroy(loss);
	tn_data_loader_destroy(validation);
	tn_data_loader_destroy(train);
	tn_metric_destroy(metric);
	tn_optimizer_destroy(optimizer);
	tn_dataset_destroy(dataset);
}

static void try_member(const struct trial *trial, struct refusal *refusal)
{
	tn_context *context = trial->ranked->context;
	need_ok(context, tn_scope_begin(context));
	tn_module *net = make_network(context);
	struct tn_data_parallel_options options = tn_data_parallel_defaults();
	options.sharded = trial->subject == ADAM; /* ranks have other states then */
	vary(trial, PARALLEL, &options);
	tn_data_parallel *parallel =
		tn_data_parallel_create(net, trial->ranked->communicator, &options);
	note_refusal(context, refusal);
	if (parallel)
		make_trainer(trial, net, parallel, refusal);
	tn_data_parallel_destroy(parallel);
	tn_module_destroy(net);
	tn_scope_end(context, NULL);
}

/* ---- Tests -----------------------------------------------------------------------------------*/

enum { MOST_MEMBERS = 48 };

/* The last rank differs, in one member after the other. */
static void try_all(const struct ranked *ranked, const void *argument, void *out)
{
	struct refusal(*refusals)[MOST_MEMBERS] = out;
	for (size_t t = 0; t < LENGTH(tables); t++) {
		need(tables[t].n <= MOST_MEMBERS);
		for (size_t i = 0; i < tables[t].n; i++) {
			const struct trial trial = {.ranked = ranked,
						    .subject = (enum subject)t,
						    .member = &tables[t].members[i],
						    .folder = argument,
						    .differs = ranked->rank + 1 == ranked->size};
			try_member(&trial, &refusals[t][i]);
		}
	}
}

static void check(const struct table *table, const struct member *member,
		  const struct refusal *refusal, uint32_t size)
{
	const int is_refused = size > 1 && (member->how == BY_VALUE || member->how == BY_CODE);
	char rank[32];
	(void)snprintf(rank, sizeof(rank), "from rank 0: rank %u in ", size - 1);
	if (refusal->status != (is_refused ? TN_NOT_EQUAL : TN_OK) ||
	    (is_refused && (!strstr(refusal->text, rank) || !strstr(refusal->text, table->part))))
		fail_msg("%s of the %s, %u ranks: %s%s %s", member->name, table->name, size,
			 is_refused ? "expected a difference in " : "expected no error",
			 is_refused ? table->part : "", refusal->text);
}

/* One rank alone may have any of them. */
static void a_rank_that_differs_is_refused_by_name(void **state)
{
	static struct refusal refusals[3][LENGTH(tables)][MOST_MEMBERS];
	const char *build = getenv("TENON_BUILD");
	char folder[4096], command[4200];
	(void)state;
	(void)snprintf(folder, sizeof(folder), "%s/options-XXXXXX", build ? build : ".");
	assert_non_null(mkdtemp(folder));
	for (uint32_t size = 1; size <= 3; size++) {
		run_ranked(size, "auto", try_all, folder, refusals, sizeof(refusals[0]));
		for (uint32_t rank = 0; rank < size; rank++) {
			for (size_t t = 0; t < LENGTH(tables); t++) {
				for (size_t i = 0; i < tables[t].n; i++)
					check(&tables[t], &tables[t].members[i],
					      &refusals[rank][t][i], size);
			}
		}
	}
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c) */
}

/* The last rank alone makes one mistake after the other. */
static void make_mistakes(const struct ranked *ranked, const void *argument, void *out)
{
	struct refusal *refusals = out;
	(void)argument;
	for (int i = 0; i < N_MISTAKES; i++) {
		const int is_last = ranked->rank + 1 == ranked->size;
		const struct trial trial = {.ranked = ranked,
					    .subject = NONE,
					    .member = &of_none[0],
					    .mistake = is_last ? i : NO_MISTAKE};
		try_member(&trial, &refusals[i]);
	}
}

static void what_one_rank_refuses_fails_on_all(void **state)
{
	static struct refusal refusals[3][N_MISTAKES];
	(void)state;
	run_ranked(3, "auto", make_mistakes, NULL, refusals, sizeof(refusals[0]));
	for (int rank = 0; rank < 3; rank++) {
		assert_int_equal(refusals[rank][NO_MISTAKE].status, TN_OK);
		for (int i = NO_MISTAKE + 1; i < N_MISTAKES; i++) {
			const char *text = refusals[rank][i].text;
			assert_int_equal(refusals[rank][i].status, TN_INVALID_ARGUMENT);
			assert_int_equal(!strncmp(text, "rank 2: ", 8), rank < 2);
			assert_string_equal(text + (rank < 2 ? 8 : 0), refusals[2][i].text);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_member_is_in_the_table),
		cmocka_unit_test(a_rank_that_differs_is_refused_by_name),
		cmocka_unit_test(what_one_rank_refuses_fails_on_all),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
