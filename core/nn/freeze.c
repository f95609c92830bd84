/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Frozen networks.  Folding makes copies of a convolution's weights with the batch norm's scale:
 *
 *     w' = w gamma / sqrt(var + epsilon),   b' = (b - mean) gamma / sqrt(var + epsilon) + beta,
 *
 * chains then skip the norm, and layers include the following steps in their own calls.  The first
 * forward for each shape of x is recorded (capture/replay.h) with the packed weights that it made;
 * later ones repeat it.  Copies, packed weights and replays are valid for one state of parameters
 * and buffers, which the versions of their storages identify.
 *
 * A network that several contexts run (nn/replica.h) has copies that one of them has made; packed
 * weights it takes from a table of all, where others have made them (nn/packs.h).
 */
#include <string.h>

#include "array/array.h"
#include "array/make.h"
#include "array/shape.h"
#include "array/handle.h"
#include "base/memory.h"
#include "capture/capture.h"
#include "capture/replay.h"
#include "device/point.h"
#include "dispatch/ledger.h"
#include "dispatch/operand.h"
#include "nn/forward.h"
#include "nn/freeze.h"
#include "nn/lookup.h"
#include "nn/module.h"
#include "nn/module_conv2d.h"
#include "nn/module_linear.h"
#include "nn/module_norm.h"
#include "nn/packs.h"
#include "nn/sequential.h"
#include "nn/tree.h"
#include "ops/map.h"

enum { MOST_REPLAYS = 8 };

/* A forward for one shape. */
struct repeat {
	struct tn_replay *replay;
	tn_array **kept; /* packed weights */
	size_t n_kept;
};

struct tn_freezing {
	uint64_t version; /* of the parameters that were copied */
	int is_repeatable;
	struct repeat repeats[MOST_REPLAYS];
	size_t n_repeats;
	size_t oldest;
	struct repeat *writing; /* NULL: none is being recorded */
	/* While one is: its x, and how many packed weights it has asked for. */
	const tn_array *x;
	size_t n_packs;
	struct tn_packs *packs; /* of all contexts; NULL: the network is that of one */
};

/* ---- Folding ---------------------------------------------------------------------------------*/

/* A channel's values, to broadcast over the weights; `otherwise` if the layer has none. */
static tn_array *over_channels(const tn_array *values, const tn_array *b, double otherwise)
{
	int64_t n = b->shape[0];
	const int64_t shape[] = {n, 1, 1, 1};
	tn_array *full = values ? NULL : tn_full(tn_array_context(b), b->dtype, 1, &n, otherwise);
	return tn_reshape(values ? values : full, 4, shape);
}

/* Writes the fold's arrays, in a scope of the caller. */
static tn_status compute_fold(const tn_module *conv)
{
	static const struct tn_formula weights = {
		.text = "folded = w * (gamma / sqrt(var + epsilon))",
		.inputs = "w gamma var",
		.scalars = "epsilon"};
	static const struct tn_formula biases = {
		.text = "folded = (b - mean) * (gamma / sqrt(var + epsilon)) + beta",
		.inputs = "b gamma var mean beta",
		.scalars = "epsilon"};
	const struct tn_fold *fold = conv->fold;
	const tn_module *norm = fold->norm;
	struct tn_runtime *rt = conv->runtime;
	uint32_t operation = tn_operation_named(rt, "fold");
	double epsilon = tn_batch_norm_epsilon(norm);
	tn_array *gamma = over_channels(tn_module_find_parameter(norm, "weight"), fold->b, 1);
	tn_array *beta = over_channels(tn_module_find_parameter(norm, "bias"), fold->b, 0);
	tn_array *mean = over_channels(tn_module_find_buffer(norm, "running_mean"), fold->b, 0);
	tn_array *var = over_channels(tn_module_find_buffer(norm, "running_var"), fold->b, 1);
	tn_array *bias = over_channels(tn_module_find_parameter(conv, "bias"), fold->b, 0);
	tn_array *w = fold->w, *b = over_channels(fold->b, fold->b, 0);
	if (!gamma || !beta || !mean || !var || !bias || !b)
		return rt->error.status;
	const tn_array *of_w[] = {tn_module_find_parameter(conv, "weight"), gamma, var};
	const tn_array *of_b[] = {bias, gamma, var, mean, beta};
	tn_status status = tn_formula_map(rt, operation, &weights, of_w, &w, &epsilon);
	if (!status)
		status = tn_formula_map(rt, operation, &biases, of_b, &b, &epsilon);
	return tn_end_into(rt, status);
}

static tn_array *hold(tn_array *array)
{
	return array ? tn_array_hold(array) : NULL;
}

static int can_fold(const tn_module *conv, const tn_module *norm)
{
	if (!norm || !tn_is_conv2d(conv) || !tn_is_batch_norm2d(norm))
		return 0;
	return tn_module_find_parameter(conv, "weight")->shape[0] ==
	       tn_module_find_buffer(norm, "running_mean")->shape[0];
}

static tn_status fold_chain(tn_module *chain)
{
	size_t i = 0;
	for (tn_module *conv; (conv = tn_chain_member(chain, &i));) {
		i++;
		tn_module *norm = tn_chain_member(chain, &i);
		if (!can_fold(conv, norm))
			continue;
		conv->fold = tn_mem_zeroed(1, sizeof(*conv->fold));
		if (!conv->fold)
			return tn_runtime_no_memory(conv->runtime, "module_freeze",
						    "folded weights");
		conv->fold->norm = norm;
	}
	return TN_OK;
}

static tn_status make_folds(tn_module *module)
{
	for (size_t i = 0; i < module->n_module_listing; i++) {
		const tn_module *conv = module->module_listing[i].module;
		struct tn_fold *fold = conv->fold;
		if (!fold)
			continue;
		const tn_array *w = tn_module_find_parameter(conv, "weight");
		fold->w = hold(tn_empty(conv->context, w->dtype, w->rank, w->shape));
		fold->b = hold(tn_empty(conv->context, w->dtype, 1, w->shape));
		if (!fold->w || !fold->b)
			return conv->runtime->error.status;
	}
	return TN_OK;
}

size_t tn_frozen_list_folds(const tn_module *module, tn_array **arrays)
{
	size_t n = 0;
	for (size_t i = 0; i < module->n_module_listing; i++) {
		const struct tn_fold *fold = module->module_listing[i].module->fold;
		if (fold && arrays) {
			arrays[n] = fold->w;
			arrays[n + 1] = fold->b;
		}
		n += fold ? 2 : 0;
	}
	return n;
}

static void take_folds(tn_module *module, tn_array *const *arrays)
{
	for (size_t i = 0; i < module->n_module_listing; i++) {
		struct tn_fold *fold = module->module_listing[i].module->fold;
		if (!fold)
			continue;
		fold->w = tn_array_hold(*arrays++);
		fold->b = tn_array_hold(*arrays++);
	}
}

/* ---- The tree --------------------------------------------------------------------------------*/

static tn_status freeze_tree(tn_module *module)
{
	tn_status status = tn_is_chain(module) ? fold_chain(module) : TN_OK;
	if (tn_is_conv2d(module))
		module->forward_then = tn_conv2d_frozen;
	if (tn_is_linear(module))
		module->forward_then = tn_linear_frozen;
	for (size_t i = 0; i < module->n_members && !status; i++)
		status = freeze_tree(module->members[i].module);
	return status;
}

static void unfreeze_tree(tn_module *module)
{
	if (tn_is_conv2d(module) || tn_is_linear(module))
		module->forward_then = NULL;
	if (module->fold) {
		tn_array_unhold(module->fold->w);
		tn_array_unhold(module->fold->b);
		tn_mem_free(module->fold);
		module->fold = NULL;
	}
	for (size_t i = 0; i < module->n_members; i++)
		unfreeze_tree(module->members[i].module);
}

static tn_status compute_folds(tn_module *module)
{
	tn_status status = module->fold ? compute_fold(module) : TN_OK;
	for (size_t i = 0; i < module->n_members && !status; i++)
		status = compute_folds(module->members[i].module);
	return status;
}

static int is_repeatable(const tn_module *module)
{
	for (size_t i = 0; i < module->n_members; i++) {
		if (!is_repeatable(module->members[i].module))
			return 0;
	}
	return module->is_repeatable;
}

/* Increases with every change of a parameter or a buffer. */
static uint64_t version_of(const tn_module *module)
{
	uint64_t version = module->arena.values->storage->version;
	for (size_t i = 0; i < module->n_buffer_listing; i++)
		version += module->buffer_listing[i].buffer->value->storage->version;
	return version;
}

/* ---- Repeats ---------------------------------------------------------------------------------*/

static void drop_repeat(struct repeat *repeat)
{
	tn_replay_destroy(repeat->replay);
	for (size_t i = 0; i < repeat->n_kept; i++)
		tn_array_unhold(repeat->kept[i]);
	tn_mem_free(repeat->kept);
	*repeat = (struct repeat){0};
}

static void drop_repeats(struct tn_freezing *frozen)
{
	for (size_t i = 0; i < frozen->n_repeats; i++)
		drop_repeat(&frozen->repeats[i]);
	frozen->n_repeats = frozen->oldest = 0;
}

/* Calls `what` on the tree in a scope of its own, with the module's device as the current one. */
static tn_status at_home(tn_module *module, tn_status (*what)(tn_module *tree))
{
	struct tn_runtime *rt = module->runtime;
	struct tn_device *current = rt->device;
	tn_status status = tn_scope_begin(module->context);
	if (status)
		return status;
	rt->device = tn_array_home(module->arena.values);
	status = what(module);
	rt->device = current;
	tn_scope_end(module->context, NULL);
	return status;
}

/* Makes the copies again. */
static tn_status refold(tn_module *module)
{
	struct tn_device *device = tn_array_home(module->arena.values);
	drop_repeats(module->frozen);
	tn_status status = at_home(module, compute_folds);
	/* Later forwards read the copies in any stream.  Earlier ones read the parameters, too: the
	 * program has ordered them before their change. */
	tn_device_align(device);
	if (!status)
		module->frozen->version = version_of(module);
	return status;
}

/* ---- Forward ---------------------------------------------------------------------------------*/

static int is_recording(const tn_module *module)
{
	return module->frozen->writing != NULL;
}

static tn_array *find_packed(tn_module *module)
{
	struct tn_freezing *frozen = module->frozen;
	const size_t number = frozen->n_packs++;
	return frozen->packs ? tn_packs_find(frozen->packs, frozen->x, number) : NULL;
}

static tn_array *share_packed(tn_module *module, tn_array *packed)
{
	struct tn_freezing *frozen = module->frozen;
	return frozen->packs ? tn_packs_add(frozen->packs, frozen->x, frozen->n_packs - 1, packed)
			     : packed;
}

static int keep_array(tn_module *module, tn_array *array)
{
	struct repeat *repeat = module->frozen->writing;
	tn_array **kept =
		repeat ? tn_mem_realloc(repeat->kept, repeat->n_kept + 1, sizeof(*kept)) : NULL;
	if (!kept)
		return 0;
	repeat->kept = kept;
	kept[repeat->n_kept++] = tn_array_hold(array);
	return 1;
}

static tn_array *plain_forward(tn_module *module, const tn_array *x)
{
	return module->class_.forward(module, module->state, x);
}

/* Records a forward, replacing the oldest. */
static tn_array *record_forward(tn_module *module, const tn_array *x)
{
	struct tn_freezing *frozen = module->frozen;
	struct tn_runtime *rt = module->runtime;
	struct repeat repeat = {0};
	if (tn_replay_begin(rt, x))
		return NULL;
	frozen->writing = &repeat;
	frozen->x = x;
	frozen->n_packs = 0;
	tn_array *y = NULL;
	if (!tn_scope_begin(module->context))
		y = tn_scope_end(module->context, plain_forward(module, x));
	frozen->writing = NULL;
	repeat.replay = tn_replay_end(rt, y);
	if (!repeat.replay) {
		/* An error, or an x without elements, allows no conclusion about others. */
		if (y && x->size)
			frozen->is_repeatable = 0;
		drop_repeat(&repeat);
		return y;
	}
	if (frozen->n_repeats < MOST_REPLAYS) {
		frozen->repeats[frozen->n_repeats++] = repeat;
		return y;
	}
	drop_repeat(&frozen->repeats[frozen->oldest]);
	frozen->repeats[frozen->oldest] = repeat;
	frozen->oldest = (frozen->oldest + 1) % MOST_REPLAYS;
	return y;
}

/* The recorded forward for that shape; NULL: there is none, or the calls are to be made anew. */
static struct tn_replay *find_replay(const tn_module *module, const tn_array *x)
{
	const struct tn_freezing *frozen = module->frozen;
	for (size_t i = 0; i < frozen->n_repeats; i++) {
		if (tn_replay_fits(frozen->repeats[i].replay, x))
			return frozen->repeats[i].replay;
	}
	return NULL;
}

static int may_repeat(const tn_module *module)
{
	return module->frozen->is_repeatable && !module->runtime->ledger_time &&
	       !module->runtime->observer;
}

static tn_array *repeated_forward(tn_module *module, const tn_array *x)
{
	if (!may_repeat(module))
		return plain_forward(module, x);
	struct tn_replay *replay = find_replay(module, x);
	return replay ? tn_replay_run(replay, x) : record_forward(module, x);
}

static tn_status check_result(const tn_module *module, const tn_array *y, const tn_array *result)
{
	struct tn_runtime *rt = module->runtime;
	char expected[TN_SHAPE_TEXT], found[TN_SHAPE_TEXT];
	if (y->dtype != result->dtype)
		return tn_runtime_fail(rt, TN_DTYPE, module->class_name, "y: expected %s, found %s",
				       tn_dtype_name(result->dtype), tn_dtype_name(y->dtype));
	if (!tn_shape_equal(y->rank, y->shape, result->rank, result->shape))
		return tn_runtime_fail(rt, TN_SHAPE, module->class_name,
				       "y: expected shape %s, found %s",
				       tn_array_text(result, expected), tn_array_text(y, found));
	return TN_OK;
}

static tn_status copy_result(const tn_module *module, tn_array *y, tn_array *result)
{
	if (!result)
		return module->runtime->error.status;
	tn_status status = check_result(module, y, result);
	if (!status)
		status = tn_assign(y, result);
	tn_array_destroy(result);
	return status;
}

/* Into y, where a recorded forward can write it, else with a copy. */
static tn_status forward_into(tn_module *module, const tn_array *x, tn_array *y)
{
	struct tn_replay *replay = may_repeat(module) ? find_replay(module, x) : NULL;
	if (replay && tn_replay_fits_result(replay, y) && tn_array_overlap(y, x) == TN_OVERLAP_NONE)
		return tn_replay_run_into(replay, x, y);
	return copy_result(module, y, repeated_forward(module, x));
}

static tn_status check_use(const tn_module *module, const tn_array *x)
{
	struct tn_runtime *rt = module->runtime;
	if (module->training || (rt->recorder && x->tracked))
		return tn_runtime_fail(rt, TN_STATE, module->class_name,
				       "the network is frozen: unfreeze it to train, or for "
				       "gradients");
	return TN_OK;
}

tn_status tn_frozen_refold(tn_module *module)
{
	if (module->frozen->version == version_of(module))
		return TN_OK;
	/* The folded weights stay for later forwards. */
	tn_status status =
		tn_capture_refuse(module->runtime, module->class_name, "the folded weights");
	return status ? status : refold(module);
}

static tn_array *frozen_forward(tn_module *module, const tn_array *x)
{
	struct tn_runtime *rt = module->runtime;
	const struct tn_recorder *recorder = rt->recorder;
	if (check_use(module, x))
		return NULL;
	rt->recorder = NULL;
	tn_array *y = tn_frozen_refold(module) ? NULL : repeated_forward(module, x);
	rt->recorder = recorder;
	return y;
}

tn_status tn_frozen_forward_into(tn_module *module, const tn_array *x, tn_array *y)
{
	struct tn_runtime *rt = module->runtime;
	const struct tn_recorder *recorder = rt->recorder;
	tn_status status = tn_module_begin_forward(module, 1, &x);
	if (status)
		return status;
	rt->recorder = NULL;
	status = forward_into(module, x, y);
	rt->recorder = recorder;
	return status;
}

/* ---- Freezing --------------------------------------------------------------------------------*/

static tn_status check_hooks(const tn_module *module)
{
	for (size_t i = 0; i < module->n_module_listing; i++) {
		const struct tn_named_module *named = &module->module_listing[i];
		if (tn_module_has_hook(named->module))
			return tn_runtime_fail(
				module->runtime, TN_STATE, "module_freeze",
				"'%s' (%s) has a hook, which a frozen network does not "
				"call: remove it",
				named->path, named->module->class_name);
	}
	return TN_OK;
}

static const struct tn_frozen_functions functions = {.forward = frozen_forward,
						     .is_recording = is_recording,
						     .find = find_packed,
						     .share = share_packed,
						     .keep = keep_array,
						     .unfreeze = tn_module_unfreeze};

/* Of a module that is listed; without the values of folds. */
static tn_status begin_freezing(tn_module *module)
{
	module->frozen = tn_mem_zeroed(1, sizeof(*module->frozen));
	if (!module->frozen)
		return tn_runtime_no_memory(module->runtime, "module_freeze", "a frozen network");
	module->frozen->is_repeatable = is_repeatable(module);
	module->when_frozen = &functions;
	return freeze_tree(module);
}

tn_status tn_module_freeze(tn_module *module)
{
	if (!module)
		return TN_INVALID_ARGUMENT;
	struct tn_runtime *rt = module->runtime;
	tn_status status = tn_runtime_ready(rt);
	if (status)
		return status;
	if (module->parent || !module->arena.values)
		return tn_runtime_fail(
			rt, TN_STATE, "module_freeze",
			module->parent ? "the module is a member of another module: freeze that one"
				       : "the module has not been built");
	if (module->frozen || module->training)
		return tn_runtime_fail(rt, TN_STATE, "module_freeze",
				       module->frozen ? "the module is already frozen"
						      : "the module is in training mode");
	if (module->watch_row)
		return tn_runtime_fail(rt, TN_STATE, "module_freeze",
				       "a profile measures the module: end it");
	status = tn_module_list(module);
	if (!status)
		status = check_hooks(module);
	if (!status)
		status = begin_freezing(module);
	if (!status)
		status = at_home(module, make_folds);
	if (!status)
		status = refold(module);
	if (status)
		tn_module_unfreeze(module);
	return status;
}

tn_status tn_module_freeze_shared(tn_module *module, tn_array *const *folds, struct tn_packs *packs)
{
	tn_status status = begin_freezing(module);
	if (status) {
		tn_module_unfreeze(module);
		return status;
	}
	take_folds(module, folds);
	module->frozen->packs = packs;
	module->frozen->version = version_of(module);
	return TN_OK;
}

void tn_module_unfreeze(tn_module *module)
{
	if (!module || tn_handle_check(module->runtime, "module_unfreeze") || !module->frozen)
		return;
	drop_repeats(module->frozen);
	tn_mem_free(module->frozen);
	module->frozen = NULL;
	module->when_frozen = NULL;
	unfreeze_tree(module);
}

int tn_module_is_frozen(const tn_module *module)
{
	return module && !tn_handle_check(module->runtime, "module_is_frozen") &&
	       tn_module_root(module)->frozen != NULL;
}
