/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Optimizers: one element program over each contiguous run of a module's flat arena.  A parameter
 * without a gradient since the last tn_module_zero_gradients is not updated.
 *
 * States have the network's dtype if that is f32 or f64.  Parameters of f16 and bf16
 * (tn_module_set_dtype) have f32 states, and f32 masters: a step changes the masters and writes
 * them, rounded, to the parameters in the same program.  Masters start as the parameters; a
 * parameter that is assigned (loaded, initialised) between steps gives its master the new value.
 * They are the state "master" of each parameter.
 * All functions: [thread: one per context | since 0.1]; errors are kept by the context.
 */
#ifndef TENON_OPTIM_H
#define TENON_OPTIM_H

#include <math.h>
#include <string.h>

#include <tenon/nn.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tn_optimizer tn_optimizer;

/* torch.optim.SGD:  g := dw + weight_decay w;  b := momentum b + (1 - dampening) g (b := g at a
 * parameter's first step);  w := w - lr (nesterov ? g + momentum b : b), or w - lr g without
 * momentum. */
struct tn_sgd_options {
	uint32_t struct_size;
	double lr; /* default NAN: required */
	double momentum;
	double dampening;
	double weight_decay;
	int nesterov;
};
static inline struct tn_sgd_options tn_sgd_defaults(void)
{
	struct tn_sgd_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.lr = NAN;
	return options;
}
/* The optimizer is owned (tn_optimizer_destroy) and must not outlive the module.
 * NULL: TN_INVALID_ARGUMENT, TN_UNSUPPORTED (options of a newer version), TN_STATE (the module is
 * not built), TN_OUT_OF_MEMORY. */
TN_API tn_optimizer *tn_sgd(tn_module *module, const struct tn_sgd_options *options);

/* torch.optim.AdamW (Loshchilov and Hutter 2019), at step t = 1, 2, ...:
 *   w := w - lr weight_decay w
 *   m := beta1 m + (1 - beta1) dw,   v := beta2 v + (1 - beta2) dw^2
 *   w := w - lr / (1 - beta1^t) m / (sqrt(v / (1 - beta2^t)) + epsilon) */
struct tn_adamw_options {
	uint32_t struct_size;
	double lr;           /* default 1e-3 */
	double beta1;        /* default 0.9 */
	double beta2;        /* default 0.999 */
	double epsilon;      /* default 1e-8 */
	double weight_decay; /* default 1e-2 */
	int amsgrad;         /* 1: the largest v so far takes the place of v */
};
static inline struct tn_adamw_options tn_adamw_defaults(void)
{
	struct tn_adamw_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.lr = 1e-3;
	options.beta1 = 0.9;
	options.beta2 = 0.999;
	options.epsilon = 1e-8;
	options.weight_decay = 1e-2;
	return options;
}
TN_API tn_optimizer *tn_adamw(tn_module *module, const struct tn_adamw_options *options);

/* torch.optim.Adam (Kingma and Ba 2015): as AdamW, but the decay is added to the gradient:
 *   g := dw + weight_decay w,   m := beta1 m + (1 - beta1) g,   v := beta2 v + (1 - beta2) g^2
 *   w := w - lr / (1 - beta1^t) m / (sqrt(v / (1 - beta2^t)) + epsilon) */
struct tn_adam_options {
	uint32_t struct_size;
	double lr;      /* default 1e-3 */
	double beta1;   /* default 0.9 */
	double beta2;   /* default 0.999 */
	double epsilon; /* default 1e-8 */
	double weight_decay;
	int amsgrad;
};
static inline struct tn_adam_options tn_adam_defaults(void)
{
	struct tn_adam_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.lr = 1e-3;
	options.beta1 = 0.9;
	options.beta2 = 0.999;
	options.epsilon = 1e-8;
	return options;
}
TN_API tn_optimizer *tn_adam(tn_module *module, const struct tn_adam_options *options);

/* torch.optim.NAdam (Dozat 2016): Adam with Nesterov's momentum.  With
 * mu_t = beta1 (1 - 0.96^(t momentum_decay) / 2) and P the product of mu_1 to mu_t:
 *   w := w - lr ((1 - mu_t) / (1 - P) g + mu_(t+1) / (1 - P mu_(t+1)) m)
 *            / (sqrt(v / (1 - beta2^t)) + epsilon) */
struct tn_nadam_options {
	uint32_t struct_size;
	double lr;      /* default 2e-3 */
	double beta1;   /* default 0.9 */
	double beta2;   /* default 0.999 */
	double epsilon; /* default 1e-8 */
	double weight_decay;
	double momentum_decay;      /* default 4e-3 */
	int decoupled_weight_decay; /* 1: as in AdamW; 0: as in Adam */
};
static inline struct tn_nadam_options tn_nadam_defaults(void)
{
	struct tn_nadam_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.lr = 2e-3;
	options.beta1 = 0.9;
	options.beta2 = 0.999;
	options.epsilon = 1e-8;
	options.momentum_decay = 4e-3;
	return options;
}
TN_API tn_optimizer *tn_nadam(tn_module *module, const struct tn_nadam_options *options);

/* torch.optim.RMSprop:  g := dw + weight_decay w;  v := alpha v + (1 - alpha) g^2;
 *   s := v, or centered (Graves 2013): a := alpha a + (1 - alpha) g,  s := max(v - a^2, 0)
 *   b := momentum b + g / (sqrt(s) + epsilon);  w := w - lr b */
struct tn_rmsprop_options {
	uint32_t struct_size;
	double lr;      /* default 1e-2 */
	double alpha;   /* default 0.99 */
	double epsilon; /* default 1e-8 */
	double weight_decay;
	double momentum;
	int centered;
};
static inline struct tn_rmsprop_options tn_rmsprop_defaults(void)
{
	struct tn_rmsprop_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.lr = 1e-2;
	options.alpha = 0.99;
	options.epsilon = 1e-8;
	return options;
}
TN_API tn_optimizer *tn_rmsprop(tn_module *module, const struct tn_rmsprop_options *options);

/* torch.optim.Adagrad (Duchi, Hazan and Singer 2011):  g := dw + weight_decay w;  s := s + g^2;
 *   w := w - lr / (1 + (t - 1) lr_decay) g / (sqrt(s) + epsilon) */
struct tn_adagrad_options {
	uint32_t struct_size;
	double lr; /* default 1e-2 */
	double lr_decay;
	double weight_decay;
	double initial_accumulator_value; /* of s */
	double epsilon;                   /* default 1e-10 */
};
static inline struct tn_adagrad_options tn_adagrad_defaults(void)
{
	struct tn_adagrad_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.lr = 1e-2;
	options.epsilon = 1e-10;
	return options;
}
TN_API tn_optimizer *tn_adagrad(tn_module *module, const struct tn_adagrad_options *options);

/* torch.optim.Adadelta (Zeiler 2012):  g := dw + weight_decay w;  v := rho v + (1 - rho) g^2;
 *   d := sqrt(u + epsilon) / sqrt(v + epsilon) g;  u := rho u + (1 - rho) d^2;  w := w - lr d */
struct tn_adadelta_options {
	uint32_t struct_size;
	double lr;      /* default 1 */
	double rho;     /* default 0.9 */
	double epsilon; /* default 1e-6 */
	double weight_decay;
};
static inline struct tn_adadelta_options tn_adadelta_defaults(void)
{
	struct tn_adadelta_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.lr = 1;
	options.rho = 0.9;
	options.epsilon = 1e-6;
	return options;
}
TN_API tn_optimizer *tn_adadelta(tn_module *module, const struct tn_adadelta_options *options);

/* Lion (Chen et al. 2023):  w := w - lr (sign(beta1 m + (1 - beta1) dw) + weight_decay w);
 *   m := beta2 m + (1 - beta2) dw */
struct tn_lion_options {
	uint32_t struct_size;
	double lr;    /* default 1e-4 */
	double beta1; /* default 0.9 */
	double beta2; /* default 0.99 */
	double weight_decay;
};
static inline struct tn_lion_options tn_lion_defaults(void)
{
	struct tn_lion_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.lr = 1e-4;
	options.beta1 = 0.9;
	options.beta2 = 0.99;
	return options;
}
TN_API tn_optimizer *tn_lion(tn_module *module, const struct tn_lion_options *options);

/* LARS (You, Gitman and Ginsburg 2017): SGD whose step is adapted to the norms of each parameter.
 *   r := trust_coefficient |w| / (|dw| + weight_decay |w| + epsilon), 1 if a norm is 0
 *   b := momentum b + (1 - dampening) r (dw + weight_decay w) (r (dw + weight_decay w) at a
 *   parameter's first step);  w := w - lr b, with nesterov as in tn_sgd
 * Four operations compute the norms of all parameters.  Parameters of one axis and none have r = 1,
 * unless adapt_vectors is set. */
struct tn_lars_options {
	uint32_t struct_size;
	double lr; /* default NAN: required */
	double momentum;
	double dampening;
	double weight_decay;
	double trust_coefficient; /* above 0; default 1e-3 */
	double epsilon;           /* default 1e-8 */
	int nesterov;
	int adapt_vectors;
};
static inline struct tn_lars_options tn_lars_defaults(void)
{
	struct tn_lars_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.lr = NAN;
	options.trust_coefficient = 1e-3;
	options.epsilon = 1e-8;
	return options;
}
TN_API tn_optimizer *tn_lars(tn_module *module, const struct tn_lars_options *options);

/* LAMB (You et al. 2020): Adam whose step is adapted to the norms of each parameter, like LARS:
 *   d := m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon) + weight_decay w
 *   w := w - lr |w| / |d| d, or w - lr d if a norm is 0 */
struct tn_lamb_options {
	uint32_t struct_size;
	double lr;      /* default 1e-3 */
	double beta1;   /* default 0.9 */
	double beta2;   /* default 0.999 */
	double epsilon; /* above 0; default 1e-6 */
	double weight_decay;
	int adapt_vectors;
};
static inline struct tn_lamb_options tn_lamb_defaults(void)
{
	struct tn_lamb_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.lr = 1e-3;
	options.beta1 = 0.9;
	options.beta2 = 0.999;
	options.epsilon = 1e-6;
	return options;
}
TN_API tn_optimizer *tn_lamb(tn_module *module, const struct tn_lamb_options *options);

TN_API void tn_optimizer_destroy(tn_optimizer *optimizer); /* takes NULL */

/* Updates every trainable parameter that has a gradient. */
TN_API tn_status tn_optimizer_step(tn_optimizer *optimizer);
/* Nothing changes, and the context keeps the error, if lr is negative or NaN (TN_INVALID_ARGUMENT)
 * and while work is captured (TN_NOT_CAPTURABLE; tenon/capture.h): set it between replays. */
TN_API void tn_optimizer_set_lr(tn_optimizer *optimizer, double lr);
TN_API double tn_optimizer_lr(const tn_optimizer *optimizer);

/* ---- Groups of parameters --------------------------------------------------------------------*/

/* Which parameters, and what they get.  A parameter is chosen when its name matches `names` and it
 * has at most max_rank axes; a shared parameter has the first of its names in the tree.  Settings
 * of NAN leave what the parameters have, so that several groups add up. */
struct tn_group_options {
	uint32_t struct_size;
	const char *names;   /* a pattern of fnmatch(3), in which * matches dots too; NULL: all */
	int max_rank;        /* default TN_MAX_RANK: all; 1: biases, and weights of norms */
	double lr_factor;    /* of the optimizer's learning rate; at first 1; default NAN */
	double weight_decay; /* at first the optimizer's; default NAN */
};
static inline struct tn_group_options tn_group_defaults(void)
{
	struct tn_group_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.max_rank = TN_MAX_RANK;
	options.lr_factor = NAN;
	options.weight_decay = NAN;
	return options;
}
/* Gives settings to a group of parameters, for example no decay for biases and norms:
 *
 *     struct tn_group_options group = tn_group_defaults();
 *     group.max_rank = 1;
 *     group.weight_decay = 0;
 *     tn_optimizer_set_group(optimizer, &group);
 *
 * A step runs one program for each contiguous run of parameters with equal settings; in the arena,
 * parameters of two axes and more precede those of one and none.  Graphs of captured steps use the
 * new settings, unless these differ between parameters of one run (TN_STATE at the replay).
 * TN_NOT_FOUND: no parameter is chosen.  TN_INVALID_ARGUMENT: a negative setting, or
 * nothing set.  TN_NOT_CAPTURABLE: while work is captured. */
TN_API tn_status tn_optimizer_set_group(tn_optimizer *optimizer,
					const struct tn_group_options *options);

/* ---- Lookahead -------------------------------------------------------------------------------*/

/* Zhang et al. 2019: slow weights s, which start as the weights; after every k-th step
 *   s := s + alpha (w - s);  w := s */
struct tn_lookahead_options {
	uint32_t struct_size;
	uint64_t k;   /* default 5 */
	double alpha; /* default 0.5; at most 1 */
};
static inline struct tn_lookahead_options tn_lookahead_defaults(void)
{
	struct tn_lookahead_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.k = 5;
	options.alpha = 0.5;
	return options;
}
/* Puts Lookahead around an optimizer, which steps as before, with its own learning rate, schedule
 * and groups.  The slow weights start as the present ones, so load weights before; called again, it
 * starts anew.  They are the state "slow" of each parameter.
 * TN_INVALID_ARGUMENT, TN_UNSUPPORTED (options of a newer version), TN_OUT_OF_MEMORY,
 * TN_NOT_CAPTURABLE: while work is captured. */
TN_API tn_status tn_lookahead(tn_optimizer *optimizer, const struct tn_lookahead_options *options);
/* The number of steps since, which a checkpoint restores too; 0 without Lookahead. */
TN_API uint64_t tn_lookahead_steps(const tn_optimizer *optimizer);
/* TN_STATE: the optimizer has no Lookahead.  TN_NOT_CAPTURABLE: while work is captured. */
TN_API tn_status tn_lookahead_set_steps(tn_optimizer *optimizer, uint64_t steps);

/* ---- State -----------------------------------------------------------------------------------
 * Everything that a step changes besides the parameters: to continue a training with the same bits,
 * restore the parameters, the values of all states, and the steps of all parameters, in an
 * optimizer made with the same options and groups.  Indices of parameters are those of
 * tn_module_parameter_at. */

struct tn_optimizer_parameter_view {
	uint32_t struct_size;
	const char *name; /* borrowed, valid like the module */
	uint64_t steps;   /* done */
	double lr;
	double weight_decay;
};
/* TN_INVALID_ARGUMENT: no such index. */
TN_API tn_status tn_optimizer_parameter_at(const tn_optimizer *optimizer, size_t index,
					   struct tn_optimizer_parameter_view *view);
/* TN_INVALID_ARGUMENT: no such index.  TN_NOT_CAPTURABLE: while work is captured. */
TN_API tn_status tn_optimizer_set_steps(tn_optimizer *optimizer, size_t index, uint64_t steps);

struct tn_optimizer_state_view {
	uint32_t struct_size;
	const char *parameter; /* "fc1.weight"; borrowed, valid like the module */
	const char *state;     /* PyTorch's: "exp_avg"; borrowed, valid forever */
	tn_array *value;       /* of the parameter's shape, to be read and assigned; borrowed */
};
/* The number of states of all parameters. */
TN_API size_t tn_optimizer_state_count(const tn_optimizer *optimizer);
/* In the order of the parameters.  TN_INVALID_ARGUMENT: no such index.  TN_OUT_OF_MEMORY.
 * TN_STATE: the state is sharded and has not been gathered. */
TN_API tn_status tn_optimizer_state_at(tn_optimizer *optimizer, size_t index,
				       struct tn_optimizer_state_view *view);

/* An optimizer made after a tn_data_parallel with `sharded` (tenon/distributed.h) has only its
 * rank's share of the state.  All ranks call this together, before they save or load: each then has
 * the whole state, in tn_optimizer_state_at and in checkpoints, for any number of ranks to load.
 * The next step takes the rank's share from there, with what was loaded or assigned, and frees the
 * rest.  Does nothing to other optimizers.  TN_OUT_OF_MEMORY.  TN_NOT_CAPTURABLE: while work is
 * captured.  The errors of the communicator. */
TN_API tn_status tn_optimizer_gather_state(tn_optimizer *optimizer);

/* ---- Gradients -------------------------------------------------------------------------------*/

/* Gradient hooks: what each step adds to the gradients of the parameters that it updates, before
 * the update and after any clipping by the caller.  Captured steps keep the hooks with which they
 * were captured.  TN_INVALID_ARGUMENT: a number is negative or not finite.  TN_NOT_CAPTURABLE:
 * while work is captured. */
/* Lasso (L1):  dw := dw + rate sign(w).  rate 0: none. */
TN_API tn_status tn_optimizer_set_lasso(tn_optimizer *optimizer, double rate);
/* Gradient noise (Neelakantan et al. 2015):  dw := dw + a normal number of variance eta / t^gamma
 * at a parameter's step t, from the context's random state, the same on every backend; the
 * paper's gamma is 0.55.  eta 0: none.  TN_OUT_OF_MEMORY. */
TN_API tn_status tn_optimizer_set_gradient_noise(tn_optimizer *optimizer, double eta, double gamma);

/* torch.nn.utils.clip_grad_value_: clamps all gradients to [-limit, limit]; NaN remains.
 * TN_INVALID_ARGUMENT: limit is not above 0, or the module has not been built. */
TN_API tn_status tn_clip_grad_value(tn_module *module, double limit);
/* Scales all gradients so that their joint 2-norm is at most max_norm, as
 * torch.nn.utils.clip_grad_norm_, on the device: a NaN among them makes all NaN that are not 0,
 * infinity the infinite NaN and the others 0.  *norm receives the norm before, for which the host
 * waits; with norm NULL nothing waits, and the work can be captured.
 * TN_INVALID_ARGUMENT: max_norm is not above 0, or the module has not been built. */
TN_API tn_status tn_clip_grad_norm(tn_module *module, double max_norm, double *norm);

/* ---- Scaling of the loss ---------------------------------------------------------------------*/

typedef struct tn_grad_scaler tn_grad_scaler;

/* torch.amp.GradScaler: the gradients of a multiplied loss do not vanish in f16.  A step:
 *
 *     tn_grad_scaler *scaler = tn_grad_scaler_create(net, NULL); // once
 *     tn_tape *tape = tn_tape_begin(ctx);
 *     tn_array *logits = tn_astype(tn_module_forward(net, x), TN_F32);
 *     tn_array *loss = tn_cross_entropy(logits, labels, NULL);
 *     tn_tape_backward(tape, tn_grad_scaler_scale(scaler, loss), NULL);
 *     tn_tape_end(tape);
 *     tn_grad_scaler_unscale(scaler); // before clipping
 *     tn_clip_grad_norm(net, 1.0, NULL);
 *     tn_grad_scaler_step(scaler, optimizer);
 *     tn_grad_scaler_update(scaler);
 *
 * The scale halves after gradients with an infinite or NaN element, whose step is skipped, and
 * doubles after growth_interval steps without one. */
struct tn_grad_scaler_options {
	uint32_t struct_size;
	uint32_t growth_interval; /* default 2000 */
	double init_scale;        /* default 65536 */
	double growth_factor;     /* above 1; default 2 */
	double backoff_factor;    /* below 1; default 0.5 */
};
static inline struct tn_grad_scaler_options tn_grad_scaler_defaults(void)
{
	struct tn_grad_scaler_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.growth_interval = 2000;
	options.init_scale = 65536;
	options.growth_factor = 2;
	options.backoff_factor = 0.5;
	return options;
}
/* For a module of any dtype.  Owned (tn_grad_scaler_destroy); must not outlive the module.  NULL:
 * TN_INVALID_ARGUMENT, TN_UNSUPPORTED (options of a newer version), TN_STATE (the module is not
 * built), TN_OUT_OF_MEMORY. */
TN_API tn_grad_scaler *tn_grad_scaler_create(tn_module *module,
					     const struct tn_grad_scaler_options *options);
TN_API void tn_grad_scaler_destroy(tn_grad_scaler *scaler); /* takes NULL */

/* loss times the scale, which is an f32 array without axes: a loss of f16 or bf16 becomes f32.  Can
 * be captured with forward and backward; replays use the present scale. */
TN_API tn_array *tn_grad_scaler_scale(const tn_grad_scaler *scaler, const tn_array *loss);
/* Divides the gradients by the scale, so that they can be clipped, and looks for elements that are
 * infinite or NaN.  TN_STATE: called before since the last update, or no trainable parameter has a
 * gradient.  This function and the next two are TN_NOT_CAPTURABLE while work is captured: call them
 * after each replay. */
TN_API tn_status tn_grad_scaler_unscale(tn_grad_scaler *scaler);
/* Unscales unless that was done, waits for the result, and calls tn_optimizer_step unless an
 * element was infinite or NaN; then nothing changes, and no step is counted.  TN_STATE: called
 * before since the last update.  TN_INVALID_ARGUMENT: an optimizer of another module. */
TN_API tn_status tn_grad_scaler_step(tn_grad_scaler *scaler, tn_optimizer *optimizer);
/* Multiplies the scale by the backoff factor if an element was infinite or NaN, or by the growth
 * factor if that was the last of growth_interval updates without one.  TN_STATE: nothing has been
 * unscaled since the last update. */
TN_API tn_status tn_grad_scaler_update(tn_grad_scaler *scaler);
/* 1: the last tn_grad_scaler_step has skipped the optimizer's. */
TN_API int tn_grad_scaler_has_skipped(const tn_grad_scaler *scaler);

/* All that changes.  To continue, make a scaler with the same options and set this. */
struct tn_grad_scaler_state {
	uint32_t struct_size;
	double scale;
	uint64_t good_updates; /* since the scale changed, or an element was infinite or NaN */
};
/* The caller sets the struct_size.  TN_INVALID_ARGUMENT: it is not set. */
TN_API tn_status tn_grad_scaler_get_state(const tn_grad_scaler *scaler,
					  struct tn_grad_scaler_state *state);
/* TN_INVALID_ARGUMENT: the scale is not an f32 above 0.  TN_STATE: between unscaling and an update.
 * TN_NOT_CAPTURABLE: while work is captured. */
TN_API tn_status tn_grad_scaler_set_state(tn_grad_scaler *scaler,
					  const struct tn_grad_scaler_state *state);

/* ---- Averages of weights ---------------------------------------------------------------------*/

typedef struct tn_weight_average tn_weight_average;

/* torch.optim.swa_utils.AveragedModel: a copy of all parameters, averaged by one program over the
 * arena.  The first update copies the weights; later ones
 *   a := a + (1 - decay) (w - a)       exponential moving average (EMA)
 *   a := a + (w - a) / (updates + 1)   the mean of all (SWA, Izmailov et al. 2018), if decay is NAN
 * Buffers are not averaged: with batch norm, after swapping, run the network in training mode over
 * some data, so that its statistics become those of the averaged weights. */
struct tn_weight_average_options {
	uint32_t struct_size;
	double decay; /* below 1; default NAN: the mean of all */
};
static inline struct tn_weight_average_options tn_weight_average_defaults(void)
{
	struct tn_weight_average_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.decay = NAN;
	return options;
}
/* Owned (tn_weight_average_destroy); must not outlive the module.  NULL: TN_INVALID_ARGUMENT,
 * TN_UNSUPPORTED (options of a newer version), TN_STATE (the module is not built),
 * TN_OUT_OF_MEMORY. */
TN_API tn_weight_average *tn_weight_average_create(tn_module *module,
						   const struct tn_weight_average_options *options);
TN_API void tn_weight_average_destroy(tn_weight_average *average); /* takes NULL */
/* Takes the present weights in; usually after tn_optimizer_step.  Can be captured.  TN_STATE: the
 * averages are swapped in. */
TN_API tn_status tn_weight_average_update(tn_weight_average *average);
/* Exchanges the module's weights and the averages; the next call exchanges them back.  Weights of
 * f16 and bf16 become the averages, rounded, and are restored from a copy by the next call.
 * TN_STATE: no update yet.  TN_NOT_CAPTURABLE: while work is captured. */
TN_API tn_status tn_weight_average_swap(tn_weight_average *average);
TN_API int tn_weight_average_is_swapped(const tn_weight_average *average);

/* State, for checkpoints: the averages, and the number of updates. */
struct tn_weight_average_view {
	uint32_t struct_size;
	const char *name; /* of the parameter; borrowed, valid like the module */
	/* Of its shape, to be read and assigned; borrowed.  Of f32, or f64 in a network of f64; the
	 * module's weights while the averages are swapped in, unless these are f16 or bf16. */
	tn_array *value;
};
/* By the indices of tn_module_parameter_at.  TN_INVALID_ARGUMENT: no such index.
 * TN_OUT_OF_MEMORY. */
TN_API tn_status tn_weight_average_at(tn_weight_average *average, size_t index,
				      struct tn_weight_average_view *view);
TN_API uint64_t tn_weight_average_updates(const tn_weight_average *average);
/* TN_STATE: the averages are swapped in.  TN_NOT_CAPTURABLE: while work is captured. */
TN_API tn_status tn_weight_average_set_updates(tn_weight_average *average, uint64_t updates);

#ifdef __cplusplus
}
#endif
#endif
