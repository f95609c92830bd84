/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Lists the arrays, numbers and texts of network, optimizer, schedule, average, scaler and loader
 * under their names in the file.
 */
#include "train/checkpoint_items.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/dtype.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/text.h"
#include "base/words.h"
#include "array/array.h"
#include "array/shape.h"
#include "capture/capture.h"
#include "data/data_loader.h"
#include "data/search.h"
#include "optim/weight_average.h"
#include "optim/grad_scaler.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"

/* ---- Items -----------------------------------------------------------------------------------*/

static __attribute__((format(printf, 3, 4))) struct tn_checkpoint_item *
add_item(struct tn_checkpoint_items *items, enum tn_item_kind kind, const char *format, ...)
{
	char *name = NULL;
	if (items->n == items->room) {
		size_t room = items->room ? 2 * items->room : 64;
		void *more = tn_mem_realloc(items->items, room, sizeof(*items->items));
		items->items = more ? more : items->items;
		items->room = more ? room : items->room;
	}
	if (items->n < items->room) {
		va_list arguments, again;
		va_start(arguments, format);
		va_copy(again, arguments);
		int length = vsnprintf(NULL, 0, format, arguments);
		va_end(arguments);
		name = tn_mem_alloc((size_t)length + 1);
		if (name)
			vsnprintf(name, (size_t)length + 1, format, again);
		va_end(again);
	}
	items->failed |= !name;
	struct tn_checkpoint_item *item = name ? &items->items[items->n++] : &items->spare;
	*item = (struct tn_checkpoint_item){.name = name, .kind = kind};
	return item;
}

static void set_shape(struct tn_checkpoint_item *item, tn_dtype dtype, int rank,
		      const int64_t *shape)
{
	item->dtype = dtype;
	item->rank = rank;
	item->size_bytes = tn_dtype_size(dtype);
	for (int i = 0; i < rank; i++) {
		item->shape[i] = shape[i];
		item->size_bytes *= (size_t)shape[i];
	}
}

/* A number or, if n is not 0, several, in the caller's memory. */
static struct tn_checkpoint_item *add_host(struct tn_checkpoint_items *items,
					   enum tn_item_kind kind, enum tn_item_range range,
					   tn_dtype dtype, size_t n, void *host, const char *name)
{
	struct tn_checkpoint_item *item = add_item(items, kind, "%s", name);
	set_shape(item, dtype, n != 0, (const int64_t[]){(int64_t)n});
	item->range = range;
	item->host = host;
	return item;
}

static void add_count(struct tn_checkpoint_items *items, uint64_t *host, const char *name)
{
	add_host(items, TN_ITEM_NUMBER, TN_RANGE_COUNT, TN_U64, 0, host, name);
}

static struct tn_checkpoint_item *add_whole_option(struct tn_checkpoint_items *items,
						   const char *name, uint64_t value)
{
	struct tn_checkpoint_item *item = add_item(items, TN_ITEM_OPTION, "%s", name);
	set_shape(item, TN_U64, 0, NULL);
	item->own[0] = value;
	return item;
}

static void add_hash_option(struct tn_checkpoint_items *items, const char *name, uint64_t value)
{
	add_whole_option(items, name, value)->is_hash = 1;
}

static void add_real_option(struct tn_checkpoint_items *items, const char *name, double value)
{
	struct tn_checkpoint_item *item = add_item(items, TN_ITEM_OPTION, "%s", name);
	set_shape(item, TN_F64, 0, NULL);
	item->own[0] = tn_bits_of_f64(value);
}

static void add_array(struct tn_checkpoint_items *items, tn_array *array, int must_be_finite,
		      const char *prefix, const char *parameter, const char *state)
{
	struct tn_checkpoint_item *item = add_item(items, TN_ITEM_STATE, "%s%s%s%s", prefix,
						   parameter, state ? "." : "", state ? state : "");
	set_shape(item, array->dtype, array->rank, array->shape);
	item->array = array;
	item->must_be_finite = must_be_finite;
}

static struct tn_checkpoint_text *add_text(struct tn_checkpoint_items *items, const char *key,
					   const char *prefix)
{
	struct tn_checkpoint_text *text = &items->texts[items->n_texts++];
	*text = (struct tn_checkpoint_text){
		.key = key, .part = key + strlen("tenon."), .prefix = prefix};
	return text;
}

/* ---- The network -----------------------------------------------------------------------------*/

static void add_network(struct tn_checkpoint_items *items, size_t n)
{
	const tn_module *module = items->all.module;
	for (size_t i = 0; i < n; i++) {
		const struct tn_network_tensor tensor = tn_network_tensor_at(module, i);
		struct tn_checkpoint_item *item =
			add_item(items, TN_ITEM_NETWORK, "%s", tensor.name);
		set_shape(item, tensor.dtype, tensor.rank, tensor.shape);
		item->array = tensor.value;
		item->must_be_finite = i < module->n_listing;
	}
}

/* ---- The optimizer ---------------------------------------------------------------------------*/

static int compare_parameters(const void *a, const void *b)
{
	return strcmp(((const struct tn_checkpoint_parameter *)a)->name,
		      ((const struct tn_checkpoint_parameter *)b)->name);
}

/* The settings of parameters, in the order of names: two trees of modules may have one set of names
 * in two orders. */
static void add_parameters(struct tn_checkpoint_items *items)
{
	const tn_optimizer *optimizer = items->all.optimizer;
	const tn_module *module = optimizer->module;
	size_t n = module->n_listing;
	struct tn_checkpoint_parameter *parameters = tn_mem_zeroed(n, sizeof(*parameters));
	items->parameters = parameters;
	items->numbers.steps = tn_mem_zeroed(n, sizeof(*items->numbers.steps));
	items->lr_factors = tn_mem_zeroed(n, sizeof(*items->lr_factors));
	items->weight_decays = tn_mem_zeroed(n, sizeof(*items->weight_decays));
	items->trainable = tn_mem_zeroed(n, sizeof(*items->trainable));
	if (!parameters || !items->numbers.steps || !items->lr_factors || !items->weight_decays ||
	    !items->trainable) {
		items->failed = 1;
		return;
	}
	for (size_t i = 0; i < n; i++)
		parameters[i] = (struct tn_checkpoint_parameter){module->listing[i].name, i};
	qsort(parameters, n, sizeof(*parameters), compare_parameters);
	items->n_parameters = n;
	int are_all_trained = 1;
	for (size_t i = 0; i < n; i++) {
		const size_t index = parameters[i].index;
		const struct tn_weight_setting *setting = &optimizer->settings[index];
		items->trainable[i] = module->listing[index].weight->trainable != 0;
		are_all_trained &= items->trainable[i] != 0;
		items->numbers.steps[i] = setting->steps;
		items->lr_factors[i] = setting->lr_factor;
		items->weight_decays[i] = setting->weight_decay;
	}
	if (!n)
		return;
	add_host(items, TN_ITEM_NUMBER, TN_RANGE_COUNT, TN_U64, n, items->numbers.steps,
		 ".optimizer.step");
	add_host(items, TN_ITEM_OPTION, TN_RANGE_ANY, TN_F64, n, items->lr_factors,
		 ".optimizer.lr_factor")
		->is_by_parameter = 1;
	add_host(items, TN_ITEM_OPTION, TN_RANGE_ANY, TN_F64, n, items->weight_decays,
		 ".optimizer.weight_decay")
		->is_by_parameter = 1;
	if (!are_all_trained)
		add_host(items, TN_ITEM_OPTION, TN_RANGE_ANY, TN_U64, n, items->trainable,
			 ".optimizer.trainable")
			->is_by_parameter = 1;
}

/* The rule's scalars at the first two steps stand for its options.  Rate and decay are not among
 * these: the one is state, the other each parameter's. */
static void add_rule(struct tn_checkpoint_items *items)
{
	const tn_optimizer *optimizer = items->all.optimizer;
	const struct tn_optimizer_rule *rule = optimizer->rule;
	double values[2][TN_PROGRAM_MAX_SCALARS];
	for (int i = 0; i < 2; i++) {
		const struct tn_rule_point at = {
			.step = (uint64_t)i + 1, .lr = 1.0, .weight_decay = 0.25, .is_adapted = 1};
		rule->scalars_at(optimizer->options, &at, values[i]);
	}
	const char *scalar = rule->scalars;
	for (uint32_t i = 0; i < optimizer->n_scalars; i++) {
		const int length = (int)tn_word_length(scalar);
		struct tn_checkpoint_item *item =
			add_item(items, TN_ITEM_OPTION, ".optimizer.options.%.*s", length, scalar);
		scalar += length + 1;
		set_shape(item, TN_F64, 1, (const int64_t[]){2});
		item->own[0] = tn_bits_of_f64(values[0][i]);
		item->own[1] = tn_bits_of_f64(values[1][i]);
	}
	if (!rule->ratio)
		return;
	int are_all_adapted = 1;
	for (size_t i = 0; i < optimizer->module->n_listing; i++)
		are_all_adapted &= optimizer->settings[i].is_adapted;
	add_whole_option(items, ".optimizer.options.adapts_all", (uint64_t)are_all_adapted);
}

static void add_method(struct tn_checkpoint_items *items)
{
	const tn_optimizer *optimizer = items->all.optimizer;
	const struct tn_gradient_hooks *hooks = &optimizer->hooks;
	const struct tn_optimizer_rule *rule = optimizer->rule;
	struct tn_checkpoint_text *text = add_text(items, "tenon.optimizer", ".optimizer.");
	snprintf(text->value, sizeof(text->value), "%s%s%s", rule->name, rule->variant ? " " : "",
		 rule->variant ? rule->variant : "");
	add_rule(items);
	add_real_option(items, ".optimizer.options.lasso", hooks->lasso);
	add_real_option(items, ".optimizer.options.noise_eta", hooks->eta);
	add_real_option(items, ".optimizer.options.noise_gamma",
			hooks->eta > 0.0 ? hooks->gamma : 0.0);
	const struct tn_lookahead_state *lookahead = &optimizer->lookahead;
	add_whole_option(items, ".optimizer.options.lookahead_k",
			 lookahead->slow ? lookahead->k : 0);
	add_real_option(items, ".optimizer.options.lookahead_alpha",
			lookahead->slow ? lookahead->alpha : 0.0);
	add_parameters(items);
	items->numbers.lr = optimizer->lr;
	add_host(items, TN_ITEM_NUMBER, TN_RANGE_RATE, TN_F64, 0, &items->numbers.lr,
		 ".optimizer.lr");
	items->numbers.lookahead_steps = lookahead->steps;
	if (lookahead->slow)
		add_count(items, &items->numbers.lookahead_steps, ".optimizer.lookahead_steps");
}

static tn_status add_optimizer(struct tn_checkpoint_items *items)
{
	tn_optimizer *optimizer = items->all.optimizer;
	add_method(items);
	for (size_t i = 0; i < tn_optimizer_state_count(optimizer); i++) {
		struct tn_optimizer_state_view view = {.struct_size = sizeof(view)};
		tn_status status = tn_optimizer_state_at(optimizer, i, &view);
		if (status)
			return status;
		add_array(items, view.value, 0, ".optimizer.state.", view.parameter, view.state);
	}
	return TN_OK;
}

/* ---- Schedule, average, scaler, loader --------------------------------------------------------*/

static void add_schedule(struct tn_checkpoint_items *items)
{
	static const struct {
		const char *name;
		size_t offset;
	} reals[] = {
		{"warmup_start", offsetof(struct tn_schedule_options, warmup_start)},
		{"gamma", offsetof(struct tn_schedule_options, gamma)},
		{"min_lr", offsetof(struct tn_schedule_options, min_lr)},
		{"power", offsetof(struct tn_schedule_options, power)},
		{"pct_start", offsetof(struct tn_schedule_options, pct_start)},
		{"div_factor", offsetof(struct tn_schedule_options, div_factor)},
		{"final_div_factor", offsetof(struct tn_schedule_options, final_div_factor)},
		{"factor", offsetof(struct tn_schedule_options, factor)},
		{"threshold", offsetof(struct tn_schedule_options, threshold)},
		{"epsilon", offsetof(struct tn_schedule_options, epsilon)},
	};
	const tn_schedule *schedule = items->all.schedule;
	const struct tn_schedule_options *o = tn_schedule_options_of(schedule);
	struct tn_schedule_state *state = &items->numbers.schedule;
	struct tn_checkpoint_text *text = add_text(items, "tenon.schedule", ".schedule.");
	snprintf(text->value, sizeof(text->value), "%s", tn_schedule_kind_name(schedule));
	for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++) {
		struct tn_checkpoint_item *item =
			add_item(items, TN_ITEM_OPTION, ".schedule.options.%s", reals[i].name);
		set_shape(item, TN_F64, 0, NULL);
		item->own[0] = bits_load((const char *)o + reals[i].offset, sizeof(double));
	}
	add_whole_option(items, ".schedule.options.warmup", o->warmup);
	add_whole_option(items, ".schedule.options.period", o->period);
	add_whole_option(items, ".schedule.options.multiplier", o->multiplier);
	add_whole_option(items, ".schedule.options.patience", (uint64_t)o->patience);
	add_whole_option(items, ".schedule.options.cooldown", o->cooldown);
	add_whole_option(items, ".schedule.options.is_absolute", o->is_absolute != 0);
	add_whole_option(items, ".schedule.options.is_rising", o->is_rising != 0);
	if (o->n_milestones)
		add_host(items, TN_ITEM_OPTION, TN_RANGE_ANY, TN_U64, o->n_milestones,
			 (void *)(uintptr_t)o->milestones, ".schedule.options.milestones");
	state->struct_size = sizeof(*state);
	(void)tn_schedule_get_state(schedule, state);
	add_count(items, &state->t, ".schedule.t");
	add_host(items, TN_ITEM_NUMBER, TN_RANGE_RATE, TN_F64, 0, &state->base_lr,
		 ".schedule.base_lr");
	add_host(items, TN_ITEM_NUMBER, TN_RANGE_RATE, TN_F64, 0, &state->reduced_lr,
		 ".schedule.reduced_lr");
	add_host(items, TN_ITEM_NUMBER, TN_RANGE_NUMBER, TN_F64, 0, &state->best, ".schedule.best");
	add_count(items, &state->n_bad, ".schedule.n_bad");
	add_count(items, &state->cooldown, ".schedule.cooldown");
}

static tn_status add_average(struct tn_checkpoint_items *items)
{
	tn_weight_average *average = items->all.average;
	double decay = tn_weight_average_decay(average);
	struct tn_checkpoint_text *text = add_text(items, "tenon.average", ".average.");
	snprintf(text->value, sizeof(text->value), "%s", isnan(decay) ? "mean" : "exponential");
	add_real_option(items, ".average.options.decay", decay);
	items->numbers.updates = tn_weight_average_updates(average);
	add_count(items, &items->numbers.updates, ".average.updates");
	for (size_t i = 0; i < items->all.module->n_listing; i++) {
		struct tn_weight_average_view view = {.struct_size = sizeof(view)};
		tn_status status = tn_weight_average_at(average, i, &view);
		if (status)
			return status;
		add_array(items, view.value, 1, ".average.weights.", view.name, NULL);
	}
	return TN_OK;
}

static void add_scaler(struct tn_checkpoint_items *items)
{
	const tn_grad_scaler *scaler = items->all.scaler;
	const struct tn_grad_scaler_options *o = tn_grad_scaler_options_of(scaler);
	struct tn_grad_scaler_state *state = &items->numbers.scaler;
	struct tn_checkpoint_text *text = add_text(items, "tenon.scaler", ".scaler.");
	snprintf(text->value, sizeof(text->value), "dynamic");
	add_real_option(items, ".scaler.options.growth_factor", o->growth_factor);
	add_real_option(items, ".scaler.options.backoff_factor", o->backoff_factor);
	add_whole_option(items, ".scaler.options.growth_interval", o->growth_interval);
	state->struct_size = sizeof(*state);
	(void)tn_grad_scaler_get_state(scaler, state);
	add_host(items, TN_ITEM_NUMBER, TN_RANGE_SCALE, TN_F64, 0, &state->scale, ".scaler.scale");
	add_count(items, &state->good_updates, ".scaler.good_updates");
}

static void add_loader(struct tn_checkpoint_items *items)
{
	const struct tn_loader_facts facts = tn_data_loader_facts(items->all.loader);
	struct tn_checkpoint_text *text = add_text(items, "tenon.loader", ".loader.");
	/* A folder's name without those above it, which may be another way to it. */
	char *name = tn_path_name(facts.dataset ? facts.dataset : "");
	items->failed |= !name;
	snprintf(text->value, sizeof(text->value), "%.250s", name ? name : "");
	tn_mem_free(name);
	tn_text_make_printable(text->value);
	add_whole_option(items, ".loader.options.part", (uint64_t)facts.part);
	add_whole_option(items, ".loader.options.samples", facts.count);
	add_whole_option(items, ".loader.options.seed", facts.seed);
	add_whole_option(items, ".loader.options.batch_size", facts.batch_size);
	add_whole_option(items, ".loader.options.shuffle", facts.shuffle);
	add_whole_option(items, ".loader.options.samples_per_epoch", facts.whole);
	add_hash_option(items, ".loader.options.augmentation", facts.augmentation);
	add_hash_option(items, ".loader.options.weights", facts.weights);
	add_hash_option(items, ".loader.options.data", facts.data);
	items->numbers.position = tn_data_loader_position(items->all.loader);
	add_count(items, &items->numbers.position.epoch, ".loader.epoch");
	add_count(items, &items->numbers.position.index, ".loader.index");
}

/* ---- All -------------------------------------------------------------------------------------*/

static tn_status check_arrays(const struct tn_checkpoint_items *items, size_t n,
			      const struct tn_checkpoint_array *arrays, struct tn_error_info *error)
{
	if (n && !arrays)
		return tn_fail(error, TN_INVALID_ARGUMENT, items->operation,
			       "expected %zu extra arrays, found NULL", n);
	for (size_t i = 0; i < n; i++) {
		const struct tn_checkpoint_array *array = &arrays[i];
		int64_t size;
		if (!array->name || !array->name[0] || !array->data ||
		    (array->rank && !array->shape) || !tn_dtype_size(array->dtype) ||
		    array->dtype == TN_C128)
			return tn_fail(error, TN_INVALID_ARGUMENT, items->operation,
				       "extra[%zu]: expected a name, a dtype that safetensors has, "
				       "a shape and data",
				       i);
		if (tn_shape_check(items->runtime, items->operation, array->dtype, array->rank,
				   array->shape, &size))
			return tn_fail(error, items->runtime->report.status, items->operation,
				       "extra '%.100s': %.300s", array->name,
				       items->runtime->report.text);
	}
	return TN_OK;
}

static void add_arrays(struct tn_checkpoint_items *items, enum tn_item_kind kind,
		       const char *prefix, size_t n, const struct tn_checkpoint_array *arrays)
{
	for (size_t i = 0; i < n; i++) {
		struct tn_checkpoint_item *item =
			add_item(items, kind, "%s%s", prefix, arrays[i].name);
		set_shape(item, arrays[i].dtype, arrays[i].rank, arrays[i].shape);
		item->host = arrays[i].data;
	}
}

static tn_status check_objects(const struct tn_checkpoint_items *items, struct tn_error_info *error)
{
	const struct tn_checkpoint *all = &items->all;
	const char *stranger = NULL;
	if (all->optimizer && all->optimizer->module != all->module)
		stranger = "optimizer: expected one of this module";
	else if (all->average && tn_weight_average_module(all->average) != all->module)
		stranger = "average: expected one of this module";
	else if (all->scaler && tn_grad_scaler_module(all->scaler) != all->module)
		stranger = "scaler: expected one of this module";
	else if (all->schedule && !all->optimizer)
		stranger = "schedule: expected its optimizer too";
	else if (all->schedule && tn_schedule_optimizer(all->schedule) != all->optimizer)
		stranger = "schedule: expected one of this optimizer";
	if (stranger)
		return tn_fail(error, TN_INVALID_ARGUMENT, items->operation, "%s", stranger);
	if (all->average && tn_weight_average_is_swapped(all->average))
		return tn_fail(error, TN_STATE, items->operation,
			       "the averages are swapped in: swap them back first");
	if (all->scaler && tn_grad_scaler_is_within_step(all->scaler))
		return tn_fail(error, TN_STATE, items->operation,
			       "the scaler has unscaled the gradients: update it first");
	if (all->n_pairs && !all->pairs)
		return tn_fail(error, TN_INVALID_ARGUMENT, items->operation,
			       "expected %zu pairs, found NULL", all->n_pairs);
	for (size_t i = 0; i < all->n_pairs; i++) {
		const struct tn_pair *pair = &all->pairs[i];
		if (!pair->key || !pair->value || !strncmp(pair->key, "tenon.", 6))
			return tn_fail(error, TN_INVALID_ARGUMENT, items->operation,
				       "pairs[%zu]: expected a value and a key that does not begin "
				       "with 'tenon.', found the key '%.100s'",
				       i, pair->key ? pair->key : "(null)");
	}
	return TN_OK;
}

tn_status tn_checkpoint_items_make(struct tn_checkpoint_items *items,
				   const struct tn_checkpoint *checkpoint,
				   const struct tn_checkpoint_own *own, const char *operation,
				   struct tn_error_info *error)
{
	struct tn_checkpoint *all = &items->all;
	size_t n;
	memset(items, 0, sizeof(*items));
	items->operation = operation;
	tn_status status = tn_options_take(all, sizeof(*all), checkpoint, "struct tn_checkpoint",
					   operation, error);
	if (!status && !all->module)
		status = tn_fail(error, TN_INVALID_ARGUMENT, operation,
				 "expected a module, found NULL");
	if (status)
		return status;
	struct tn_runtime *rt = items->runtime = all->module->runtime;
	status = tn_network_tensors_list(all->module, operation, &n);
	if (!status)
		status = tn_capture_refuse(rt, operation, "a checkpoint");
	if (status == TN_PENDING_ERROR)
		return tn_fail(error, status, operation, "the context keeps an earlier error");
	if (!status)
		status = check_objects(items, error);
	else
		*error = rt->error;
	if (!status)
		status = check_arrays(items, all->n_extra, all->extra, error);
	if (status)
		return status;
	add_network(items, n);
	if (all->optimizer)
		status = add_optimizer(items);
	if (!status && all->average)
		status = add_average(items);
	if (status) {
		*error = rt->error;
		return status;
	}
	/* Of what differs the first is reported: not the period, which follows from the size of a
	 * batch. */
	if (all->loader)
		add_loader(items);
	if (all->schedule)
		add_schedule(items);
	if (all->scaler)
		add_scaler(items);
	items->numbers.random = rt->random;
	add_host(items, TN_ITEM_NUMBER, TN_RANGE_ANY, TN_U64, 0, &items->numbers.random.seed,
		 ".random.seed");
	add_host(items, TN_ITEM_NUMBER, TN_RANGE_ANY, TN_U64, 0, &items->numbers.random.stream,
		 ".random.stream");
	add_arrays(items, TN_ITEM_EXTRA, ".extra.", all->n_extra, all->extra);
	if (own) {
		add_arrays(items, TN_ITEM_OPTION, "", own->n_options, own->options);
		add_arrays(items, TN_ITEM_OWN, "", own->n_arrays, own->arrays);
	}
	if (items->failed)
		return tn_fail(error, TN_OUT_OF_MEMORY, operation,
			       "no host memory for the list of some %zu tensors", items->n);
	return TN_OK;
}

tn_status tn_checkpoint_items_of_options(struct tn_checkpoint_items *items,
					 const struct tn_checkpoint *checkpoint,
					 const char *operation)
{
	memset(items, 0, sizeof(*items));
	items->all = *checkpoint;
	items->operation = operation;
	items->runtime = checkpoint->module->runtime;
	if (checkpoint->optimizer)
		add_method(items);
	if (checkpoint->schedule)
		add_schedule(items);
	if (checkpoint->scaler)
		add_scaler(items);
	return items->failed
		       ? tn_runtime_no_memory(items->runtime, operation, "the list of options")
		       : TN_OK;
}

void tn_checkpoint_items_release(struct tn_checkpoint_items *items)
{
	for (size_t i = 0; i < items->n; i++)
		tn_mem_free(items->items[i].name);
	tn_mem_free(items->items);
	tn_mem_free(items->numbers.steps);
	tn_mem_free(items->lr_factors);
	tn_mem_free(items->weight_decays);
	tn_mem_free(items->trainable);
	tn_mem_free((void *)(uintptr_t)items->parameters);
}

tn_status tn_checkpoint_keep(const struct tn_checkpoint *checkpoint, tn_status status,
			     const struct tn_error_info *error)
{
	const size_t least = offsetof(struct tn_checkpoint, module) + sizeof(checkpoint->module);
	/* A struct without its size has all members. */
	const int has_module = checkpoint->struct_size < sizeof(checkpoint->struct_size) ||
			       checkpoint->struct_size >= least;
	if (!status || status == TN_PENDING_ERROR || !has_module || !checkpoint->module)
		return status;
	return tn_runtime_keep(checkpoint->module->runtime, error);
}

void *tn_checkpoint_item_host(struct tn_checkpoint_item *item)
{
	return item->host ? item->host : item->own;
}

int tn_checkpoint_is_finite(tn_dtype dtype, const void *data, size_t size_bytes)
{
	static const uint64_t exponent[TN_DTYPES] = {[TN_F16] = 0x7c00,
						     [TN_BF16] = 0x7f80,
						     [TN_F32] = 0x7f800000,
						     [TN_F64] = 0x7ff0000000000000};
	size_t size = tn_dtype_size(dtype);
	uint64_t mask = dtype > 0 && dtype < TN_DTYPES ? exponent[dtype] : 0;
	for (size_t at = 0; mask && at < size_bytes; at += size) {
		if ((bits_load((const char *)data + at, size) & mask) == mask)
			return 0;
	}
	return 1;
}
