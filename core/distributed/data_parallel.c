/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A step of data parallel training: backward reports the gradients that are complete, the buckets
 * are summed, finish waits.
 */
#include "distributed/data_parallel.h"

#include <math.h>

#include "array/array.h"
#include "base/dtype.h"
#include "array/handle.h"
#include "base/memory.h"
#include "capture/capture.h"
#include "distributed/agree.h"
#include "distributed/communicator.h"
#include "distributed/compare.h"
#include "nn/tree.h"

static const char operation[] = "data_parallel";

/* ---- A backward ------------------------------------------------------------------------------*/

static tn_status begin(tn_data_parallel *p)
{
	if (p->is_begun)
		return TN_OK;
	tn_status status = tn_buckets_begin(&p->buckets);
	p->is_begun = !status;
	return status;
}

static tn_status gradient_is_ready(void *user, tn_array *target)
{
	tn_data_parallel *p = user;
	const int64_t offset = target->offset - p->module->arena.gradients->offset;
	if (p->holds)
		return TN_OK;
	tn_status status =
		tn_capture_refuse(p->module->runtime, operation, "a backward that sums over ranks");
	if (!status)
		status = begin(p);
	if (!status)
		status = tn_buckets_ready(&p->buckets, offset, offset + target->size, p->share,
					  p->step);
	return status ? status : tn_communicator_progress(p->communicator);
}

/* ---- Batch norms -----------------------------------------------------------------------------*/

static tn_status gather_norms(void *user, size_t n, const double *own, double *all)
{
	const tn_data_parallel *p = user;
	return tn_agree_gather_numbers(p->communicator, n, own, all, "a batch norm");
}

/* ---- Life ------------------------------------------------------------------------------------*/

static tn_status take_options(const tn_module *module, const tn_communicator *communicator,
			      const struct tn_data_parallel_options *given,
			      struct tn_data_parallel_options *o)
{
	struct tn_runtime *rt = module->runtime;
	tn_status status = tn_runtime_ready(rt);
	if (!status)
		status = tn_runtime_take(rt, o, sizeof(*o), given,
					 "struct tn_data_parallel_options", operation);
	if (!status)
		status = tn_module_check_network(module, operation);
	if (!status)
		status = tn_handle_check(communicator->runtime, operation);
	if (status)
		return status;
	if (communicator->runtime != rt)
		return tn_runtime_fail(rt, TN_DEVICE, operation,
				       "the module and the communicator are of different contexts");
	if (module->gradient_hook)
		return tn_runtime_fail(rt, TN_STATE, operation,
				       "the module has an object for data parallel training "
				       "already");
	if (o->wire_dtype && o->wire_dtype != TN_F16 && o->wire_dtype != TN_BF16)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "wire_dtype: expected 0, f16 or bf16, found %s",
				       tn_dtype_name(o->wire_dtype));
	if (!o->bucket_bytes)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "bucket_bytes: expected at least 1, found 0");
	return TN_OK;
}

/* What data parallel training needs of this rank; NULL: the error is kept. */
static tn_data_parallel *make(tn_module *module, tn_communicator *communicator,
			      const struct tn_data_parallel_options *options)
{
	struct tn_data_parallel_options o = tn_data_parallel_defaults();
	struct tn_runtime *rt = module->runtime;
	if (take_options(module, communicator, options, &o))
		return NULL;
	tn_data_parallel *p = tn_mem_zeroed(1, sizeof(*p));
	const size_t n = module->n_listing ? module->n_listing : 1;
	int64_t *has_some = p ? tn_mem_zeroed(n, sizeof(*has_some)) : NULL;
	if (!has_some) {
		tn_mem_free(p);
		tn_runtime_no_memory(rt, operation, NULL);
		return NULL;
	}
	*p = (struct tn_data_parallel){
		.module = module,
		.communicator = communicator,
		.options = o,
		.hook = {.ready = gradient_is_ready, .user = p},
		.norm_ranks = {.n_ranks = tn_communicator_size(communicator),
			       .gather = gather_norms,
			       .user = p},
		.buckets = {.module = module,
			    .communicator = communicator,
			    .wire = o.wire_dtype,
			    .bytes = o.bucket_bytes},
		.share = 1.0 / tn_communicator_size(communicator),
		.step = 1,
		.has_some = has_some,
	};
	return p;
}

static void release(tn_data_parallel *p)
{
	if (p)
		tn_mem_free(p->has_some);
	tn_mem_free(p);
}

tn_data_parallel *tn_data_parallel_create(tn_module *module, tn_communicator *communicator,
					  const struct tn_data_parallel_options *options)
{
	if (!module || !communicator) {
		tn_runtime_null(module         ? module->runtime
				: communicator ? communicator->runtime
					       : NULL,
				operation, module ? "communicator" : "module");
		return NULL;
	}
	tn_data_parallel *p = make(module, communicator, options);
	const tn_status status = p ? TN_OK : tn_runtime_status(module->runtime);
	/* A rank that cannot says so: the others would wait for it. */
	if (tn_agree_status(communicator, module->runtime, status, operation) ||
	    tn_ranks_compare_networks(p) ||
	    (p->options.sharded && tn_sharded_open(&p->sharded, module, communicator))) {
		release(p);
		return NULL;
	}
	module->gradient_hook = &p->hook;
	module->norm_ranks = p->options.sync_batch_norm ? &p->norm_ranks : NULL;
	module->n_users++;
	return p;
}

void tn_data_parallel_destroy(tn_data_parallel *p)
{
	if (!p || tn_handle_has_ended(p->module->runtime, p, "data_parallel_destroy"))
		return;
	(void)tn_buckets_wait(&p->buckets); /* an error is kept */
	tn_buckets_release(&p->buckets);
	tn_sharded_close(&p->sharded);
	p->module->gradient_hook = NULL;
	p->module->norm_ranks = NULL;
	p->module->n_users--;
	tn_mem_free(p->has_some);
	tn_module_user_end(&p->module, p, "the object for data parallel training");
}

/* ---- A step ----------------------------------------------------------------------------------*/

static tn_status check_idle(const tn_data_parallel *p)
{
	struct tn_runtime *rt = p->module->runtime;
	tn_status status = tn_runtime_ready(rt);
	if (status || !p->is_begun)
		return status;
	return tn_runtime_fail(
		rt, TN_STATE, operation,
		"expected tn_data_parallel_finish first: gradients are being summed");
}

tn_status tn_data_parallel_set_share(tn_data_parallel *p, double share)
{
	if (!p)
		return TN_INVALID_ARGUMENT;
	tn_status status = check_idle(p);
	if (status)
		return status;
	if (!(share >= 0.0 && isfinite(share)))
		return tn_runtime_fail(p->module->runtime, TN_INVALID_ARGUMENT, operation,
				       "expected a share of 0 or more, found %g", share);
	p->share = share;
	return TN_OK;
}

tn_status tn_data_parallel_hold(tn_data_parallel *p, int holds)
{
	if (!p)
		return TN_INVALID_ARGUMENT;
	tn_status status = check_idle(p);
	if (!status)
		p->holds = holds != 0;
	return status;
}

/* A weight that has a gradient on one rank has one on all. */
static tn_status agree_on_filled(const tn_data_parallel *p)
{
	const tn_module *module = p->module;
	for (size_t i = 0; i < module->n_listing; i++)
		p->has_some[i] = module->listing[i].weight->filled;
	tn_status status = module->n_listing
				   ? tn_agree_max(p->communicator, module->n_listing, p->has_some,
						  "which parameters have gradients")
				   : TN_OK;
	for (size_t i = 0; i < module->n_listing && !status; i++) {
		struct tn_weight *weight = module->listing[i].weight;
		if (weight->trainable)
			weight->filled = p->has_some[i] != 0;
	}
	return status;
}

tn_status tn_data_parallel_finish(tn_data_parallel *p)
{
	if (!p)
		return TN_INVALID_ARGUMENT;
	struct tn_runtime *rt = p->module->runtime;
	tn_status status = tn_runtime_ready(rt);
	if (!status && p->holds)
		status = tn_runtime_fail(rt, TN_STATE, operation,
					 "finish: expected tn_data_parallel_hold(..., 0) first");
	if (!status)
		status = begin(p);
	if (!status)
		status = tn_buckets_flush(&p->buckets, p->share, p->step);
	if (!status)
		status = agree_on_filled(p);
	tn_status waited = tn_buckets_wait(&p->buckets);
	p->is_begun = 0;
	p->step++;
	return status ? status : waited;
}

/* ---- Buffers ---------------------------------------------------------------------------------*/

tn_status tn_data_parallel_broadcast_buffers(tn_data_parallel *p)
{
	if (!p)
		return TN_INVALID_ARGUMENT;
	const tn_module *module = p->module;
	tn_status status = tn_runtime_ready(module->runtime);
	for (size_t i = 0; i < module->n_buffer_listing && !status; i++)
		status = tn_broadcast(p->communicator, module->buffer_listing[i].buffer->value, 0);
	return status;
}
