/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The table of slots.  A backend's slot is filled when it lies entirely within the struct_size of
 * the plugin's table and is not NULL.
 */
#include "loader/slots.h"

#include <string.h>

#include "base/error.h"

/* ---- Calls, one for each struct of arguments -------------------------------------------------*/

static tn_status call_map(const void *entry, void *device, const struct tn_call *args)
{
	tn_status (*const *map)(void *, const struct tn_map_args *) = entry;
	return (*map)(device, (const struct tn_map_args *)(const void *)args);
}

static tn_status call_reduce(const void *entry, void *device, const struct tn_call *args)
{
	tn_status (*const *reduce)(void *, const struct tn_reduce_args *) = entry;
	return (*reduce)(device, (const struct tn_reduce_args *)(const void *)args);
}

static tn_status call_matmul(const void *entry, void *device, const struct tn_call *args)
{
	tn_status (*const *matmul)(void *, const struct tn_matmul_args *) = entry;
	return (*matmul)(device, (const struct tn_matmul_args *)(const void *)args);
}

static tn_status call_fill(const void *entry, void *device, const struct tn_call *args)
{
	tn_status (*const *fill)(void *, const struct tn_fill_args *) = entry;
	return (*fill)(device, (const struct tn_fill_args *)(const void *)args);
}

static tn_status call_copy(const void *entry, void *device, const struct tn_call *args)
{
	tn_status (*const *copy)(void *, const struct tn_copy_args *) = entry;
	return (*copy)(device, (const struct tn_copy_args *)(const void *)args);
}

static tn_status call_gather(const void *entry, void *device, const struct tn_call *args)
{
	tn_status (*const *gather)(void *, const struct tn_gather_args *) = entry;
	return (*gather)(device, (const struct tn_gather_args *)(const void *)args);
}

static tn_status call_sort(const void *entry, void *device, const struct tn_call *args)
{
	tn_status (*const *sort)(void *, const struct tn_sort_args *) = entry;
	return (*sort)(device, (const struct tn_sort_args *)(const void *)args);
}

static tn_status call_scan(const void *entry, void *device, const struct tn_call *args)
{
	tn_status (*const *scan)(void *, const struct tn_scan_args *) = entry;
	return (*scan)(device, (const struct tn_scan_args *)(const void *)args);
}

static tn_status call_conv2d(const void *entry, void *device, const struct tn_call *args)
{
	tn_status (*const *conv2d)(void *, const struct tn_conv2d_args *) = entry;
	return (*conv2d)(device, (const struct tn_conv2d_args *)(const void *)args);
}

static tn_status call_pool2d(const void *entry, void *device, const struct tn_call *args)
{
	tn_status (*const *pool2d)(void *, const struct tn_pool2d_args *) = entry;
	return (*pool2d)(device, (const struct tn_pool2d_args *)(const void *)args);
}

static tn_status call_norm(const void *entry, void *device, const struct tn_call *args)
{
	tn_status (*const *norm)(void *, const struct tn_norm_args *) = entry;
	return (*norm)(device, (const struct tn_norm_args *)(const void *)args);
}

static tn_status call_softmax(const void *entry, void *device, const struct tn_call *args)
{
	tn_status (*const *softmax)(void *, const struct tn_softmax_args *) = entry;
	return (*softmax)(device, (const struct tn_softmax_args *)(const void *)args);
}

static tn_status call_cross_entropy(const void *entry, void *device, const struct tn_call *args)
{
	tn_status (*const *cross_entropy)(void *, const struct tn_cross_entropy_args *) = entry;
	return (*cross_entropy)(device, (const struct tn_cross_entropy_args *)(const void *)args);
}

static tn_status call_attention(const void *entry, void *device, const struct tn_call *args)
{
	tn_status (*const *attention)(void *, const struct tn_attention_args *) = entry;
	return (*attention)(device, (const struct tn_attention_args *)(const void *)args);
}

static tn_status call_linalg(const void *entry, void *device, const struct tn_call *args)
{
	tn_status (*const *factor)(void *, const struct tn_linalg_args *) = entry;
	return (*factor)(device, (const struct tn_linalg_args *)(const void *)args);
}

/* ---- Operands --------------------------------------------------------------------------------*/

static const struct tn_slot_operand of_matmul[] = {
	{offsetof(struct tn_matmul_args, a), TN_READS},
	{offsetof(struct tn_matmul_args, b), TN_READS},
	{offsetof(struct tn_matmul_args, c), TN_PRODUCT},
	{offsetof(struct tn_matmul_args, bias), TN_READS},
	{offsetof(struct tn_matmul_args, a_scale), TN_READS | TN_POINTED_TO},
	{offsetof(struct tn_matmul_args, b_scale), TN_READS | TN_POINTED_TO},
	{0, 0}};
static const struct tn_slot_operand of_fill[] = {{offsetof(struct tn_fill_args, output), TN_WRITES},
						 {0, 0}};
static const struct tn_slot_operand of_copy[] = {{offsetof(struct tn_copy_args, input), TN_READS},
						 {offsetof(struct tn_copy_args, output), TN_WRITES},
						 {0, 0}};
static const struct tn_slot_operand of_gather[] = {
	{offsetof(struct tn_gather_args, input), TN_READS},
	{offsetof(struct tn_gather_args, indices), TN_READS},
	{offsetof(struct tn_gather_args, output), TN_WRITES},
	{0, 0}};
static const struct tn_slot_operand of_scatter_add[] = {
	{offsetof(struct tn_gather_args, input), TN_READS},
	{offsetof(struct tn_gather_args, indices), TN_READS},
	{offsetof(struct tn_gather_args, output), TN_READS | TN_WRITES},
	{0, 0}};
static const struct tn_slot_operand of_sort[] = {
	{offsetof(struct tn_sort_args, input), TN_READS},
	{offsetof(struct tn_sort_args, values), TN_WRITES},
	{offsetof(struct tn_sort_args, indices), TN_WRITES},
	{0, 0}};
static const struct tn_slot_operand of_scan[] = {{offsetof(struct tn_scan_args, input), TN_READS},
						 {offsetof(struct tn_scan_args, output), TN_WRITES},
						 {0, 0}};
static const struct tn_slot_operand of_conv2d_forward[] = {
	{offsetof(struct tn_conv2d_args, x), TN_READS},
	{offsetof(struct tn_conv2d_args, w), TN_READS},
	{offsetof(struct tn_conv2d_args, y), TN_ACCUMULATES},
	{offsetof(struct tn_conv2d_args, bias), TN_READS},
	{offsetof(struct tn_conv2d_args, residual), TN_READS},
	{0, 0}};
static const struct tn_slot_operand of_conv2d_input_gradient[] = {
	{offsetof(struct tn_conv2d_args, x), TN_ACCUMULATES},
	{offsetof(struct tn_conv2d_args, w), TN_READS},
	{offsetof(struct tn_conv2d_args, y), TN_READS},
	{0, 0}};
static const struct tn_slot_operand of_conv2d_weight_gradient[] = {
	{offsetof(struct tn_conv2d_args, x), TN_READS},
	{offsetof(struct tn_conv2d_args, w), TN_ACCUMULATES},
	{offsetof(struct tn_conv2d_args, y), TN_READS},
	{0, 0}};
static const struct tn_slot_operand of_pool2d_forward[] = {
	{offsetof(struct tn_pool2d_args, x), TN_READS},
	{offsetof(struct tn_pool2d_args, y), TN_WRITES},
	{offsetof(struct tn_pool2d_args, index), TN_WRITES},
	{0, 0}};
static const struct tn_slot_operand of_pool2d_backward[] = {
	{offsetof(struct tn_pool2d_args, x), TN_WRITES},
	{offsetof(struct tn_pool2d_args, y), TN_READS},
	{offsetof(struct tn_pool2d_args, index), TN_READS},
	{0, 0}};
static const struct tn_slot_operand of_norm_forward[] = {
	{offsetof(struct tn_norm_args, x), TN_READS},
	{offsetof(struct tn_norm_args, y), TN_WRITES},
	{offsetof(struct tn_norm_args, w), TN_READS},
	{offsetof(struct tn_norm_args, b), TN_READS},
	{offsetof(struct tn_norm_args, mean), TN_STATISTICS},
	{offsetof(struct tn_norm_args, rstd), TN_STATISTICS},
	{offsetof(struct tn_norm_args, residual), TN_READS},
	{0, 0}};
static const struct tn_slot_operand of_norm_backward[] = {
	{offsetof(struct tn_norm_args, x), TN_READS},
	{offsetof(struct tn_norm_args, y), TN_READS},
	{offsetof(struct tn_norm_args, w), TN_READS},
	{offsetof(struct tn_norm_args, b), TN_READS},
	{offsetof(struct tn_norm_args, mean), TN_READS},
	{offsetof(struct tn_norm_args, rstd), TN_READS},
	{offsetof(struct tn_norm_args, dx), TN_WRITES},
	{offsetof(struct tn_norm_args, dw), TN_ACCUMULATES},
	{offsetof(struct tn_norm_args, db), TN_ACCUMULATES},
	{offsetof(struct tn_norm_args, result), TN_READS},
	{offsetof(struct tn_norm_args, dresidual), TN_WRITES},
	{0, 0}};
static const struct tn_slot_operand of_softmax_forward[] = {
	{offsetof(struct tn_softmax_args, x), TN_READS},
	{offsetof(struct tn_softmax_args, y), TN_WRITES},
	{0, 0}};
static const struct tn_slot_operand of_softmax_backward[] = {
	{offsetof(struct tn_softmax_args, y), TN_READS},
	{offsetof(struct tn_softmax_args, dy), TN_READS},
	{offsetof(struct tn_softmax_args, dx), TN_WRITES},
	{0, 0}};
static const struct tn_slot_operand of_cross_entropy_forward[] = {
	{offsetof(struct tn_cross_entropy_args, x), TN_READS},
	{offsetof(struct tn_cross_entropy_args, labels), TN_READS},
	{offsetof(struct tn_cross_entropy_args, maximum), TN_WRITES},
	{offsetof(struct tn_cross_entropy_args, log_sum), TN_WRITES},
	{offsetof(struct tn_cross_entropy_args, loss), TN_WRITES},
	{0, 0}};
static const struct tn_slot_operand of_cross_entropy_backward[] = {
	{offsetof(struct tn_cross_entropy_args, x), TN_READS},
	{offsetof(struct tn_cross_entropy_args, labels), TN_READS},
	{offsetof(struct tn_cross_entropy_args, maximum), TN_READS},
	{offsetof(struct tn_cross_entropy_args, log_sum), TN_READS},
	{offsetof(struct tn_cross_entropy_args, loss), TN_READS},
	{offsetof(struct tn_cross_entropy_args, dx), TN_WRITES},
	{0, 0}};

static const struct tn_slot_operand of_attention_forward[] = {
	{offsetof(struct tn_attention_args, q), TN_READS},
	{offsetof(struct tn_attention_args, k), TN_READS},
	{offsetof(struct tn_attention_args, v), TN_READS},
	{offsetof(struct tn_attention_args, mask), TN_READS},
	{offsetof(struct tn_attention_args, y), TN_WRITES},
	{offsetof(struct tn_attention_args, maximum), TN_WRITES},
	{offsetof(struct tn_attention_args, log_sum), TN_WRITES},
	{0, 0}};
static const struct tn_slot_operand of_attention_backward[] = {
	{offsetof(struct tn_attention_args, q), TN_READS},
	{offsetof(struct tn_attention_args, k), TN_READS},
	{offsetof(struct tn_attention_args, v), TN_READS},
	{offsetof(struct tn_attention_args, mask), TN_READS},
	{offsetof(struct tn_attention_args, y), TN_READS},
	{offsetof(struct tn_attention_args, maximum), TN_READS},
	{offsetof(struct tn_attention_args, log_sum), TN_READS},
	{offsetof(struct tn_attention_args, dy), TN_READS},
	{offsetof(struct tn_attention_args, dq), TN_ACCUMULATES},
	{offsetof(struct tn_attention_args, dk), TN_ACCUMULATES},
	{offsetof(struct tn_attention_args, dv), TN_ACCUMULATES},
	{0, 0}};

static const struct tn_slot_operand of_cholesky[] = {
	{offsetof(struct tn_linalg_args, a), TN_READS | TN_WRITES},
	{offsetof(struct tn_linalg_args, info), TN_WRITES},
	{0, 0}};
static const struct tn_slot_operand of_lu[] = {
	{offsetof(struct tn_linalg_args, a), TN_READS | TN_WRITES},
	{offsetof(struct tn_linalg_args, pivots), TN_WRITES},
	{offsetof(struct tn_linalg_args, permutation), TN_WRITES},
	{offsetof(struct tn_linalg_args, info), TN_WRITES},
	{0, 0}};
static const struct tn_slot_operand of_solve[] = {
	{offsetof(struct tn_linalg_args, a), TN_READS | TN_WRITES},
	{offsetof(struct tn_linalg_args, b), TN_READS | TN_WRITES},
	{offsetof(struct tn_linalg_args, info), TN_WRITES},
	{0, 0}};
static const struct tn_slot_operand of_solve_triangular[] = {
	{offsetof(struct tn_linalg_args, a), TN_READS},
	{offsetof(struct tn_linalg_args, b), TN_READS | TN_WRITES},
	{offsetof(struct tn_linalg_args, info), TN_WRITES},
	{0, 0}};
static const struct tn_slot_operand of_qr[] = {
	{offsetof(struct tn_linalg_args, a), TN_READS | TN_WRITES},
	{offsetof(struct tn_linalg_args, u), TN_WRITES},
	{0, 0}};
static const struct tn_slot_operand of_eigh[] = {
	{offsetof(struct tn_linalg_args, a), TN_READS | TN_WRITES},
	{offsetof(struct tn_linalg_args, values), TN_WRITES},
	{offsetof(struct tn_linalg_args, info), TN_WRITES},
	{0, 0}};
static const struct tn_slot_operand of_svd[] = {
	{offsetof(struct tn_linalg_args, a), TN_READS | TN_WRITES},
	{offsetof(struct tn_linalg_args, u), TN_WRITES},
	{offsetof(struct tn_linalg_args, v), TN_WRITES},
	{offsetof(struct tn_linalg_args, values), TN_WRITES},
	{offsetof(struct tn_linalg_args, info), TN_WRITES},
	{0, 0}};
static const struct tn_slot_operand of_eig[] = {
	{offsetof(struct tn_linalg_args, a), TN_READS | TN_WRITES},
	{offsetof(struct tn_linalg_args, v), TN_WRITES},
	{offsetof(struct tn_linalg_args, values), TN_WRITES},
	{offsetof(struct tn_linalg_args, info), TN_WRITES},
	{0, 0}};

/* ---- The rows --------------------------------------------------------------------------------*/

const struct tn_slot_facts tn_slots[TN_SLOT_COUNT] = {
	[TN_SLOT_DEVICE_COUNT] = {.name = "device_count",
				  .entry = offsetof(struct tn_backend, device.device_count),
				  .is_mandatory = 1},
	[TN_SLOT_DESCRIBE] = {.name = "describe",
			      .entry = offsetof(struct tn_backend, device.describe),
			      .is_mandatory = 1},
	[TN_SLOT_OPEN] = {.name = "open",
			  .entry = offsetof(struct tn_backend, device.open),
			  .is_mandatory = 1},
	[TN_SLOT_CLOSE] = {.name = "close",
			   .entry = offsetof(struct tn_backend, device.close),
			   .is_mandatory = 1},
	[TN_SLOT_ALLOC] = {.name = "alloc",
			   .entry = offsetof(struct tn_backend, device.alloc),
			   .is_mandatory = 1},
	[TN_SLOT_FREE] = {.name = "free",
			  .entry = offsetof(struct tn_backend, device.free),
			  .is_mandatory = 1},
	[TN_SLOT_UPLOAD] = {.name = "upload",
			    .entry = offsetof(struct tn_backend, device.upload),
			    .is_mandatory = 1},
	[TN_SLOT_DOWNLOAD] = {.name = "download",
			      .entry = offsetof(struct tn_backend, device.download),
			      .is_mandatory = 1},
	[TN_SLOT_SYNC] = {.name = "sync",
			  .entry = offsetof(struct tn_backend, device.sync),
			  .is_mandatory = 1},
	[TN_SLOT_ASYNC_ERROR] = {.name = "async_error",
				 .entry = offsetof(struct tn_backend, device.async_error)},
	[TN_SLOT_MAP] = {.name = "map",
			 .entry = offsetof(struct tn_backend, compute.map),
			 .is_mandatory = 1,
			 .call = call_map,
			 .args_size = sizeof(struct tn_map_args)},
	[TN_SLOT_REDUCE] = {.name = "reduce",
			    .entry = offsetof(struct tn_backend, compute.reduce),
			    .is_mandatory = 1,
			    .call = call_reduce,
			    .args_size = sizeof(struct tn_reduce_args)},
	[TN_SLOT_MATMUL] = {.name = "matmul",
			    .entry = offsetof(struct tn_backend, compute.matmul),
			    .is_mandatory = 1,
			    .call = call_matmul,
			    .args_size = sizeof(struct tn_matmul_args),
			    .operands = of_matmul},
	[TN_SLOT_FILL] = {.name = "fill",
			  .entry = offsetof(struct tn_backend, copy.fill),
			  .call = call_fill,
			  .args_size = sizeof(struct tn_fill_args),
			  .operands = of_fill},
	[TN_SLOT_COPY] = {.name = "copy",
			  .entry = offsetof(struct tn_backend, copy.copy),
			  .call = call_copy,
			  .args_size = sizeof(struct tn_copy_args),
			  .operands = of_copy},
	[TN_SLOT_GATHER] = {.name = "gather",
			    .entry = offsetof(struct tn_backend, copy.gather),
			    .call = call_gather,
			    .args_size = sizeof(struct tn_gather_args),
			    .operands = of_gather},
	[TN_SLOT_SCATTER_ADD] = {.name = "scatter_add",
				 .entry = offsetof(struct tn_backend, copy.scatter_add),
				 .call = call_gather,
				 .args_size = sizeof(struct tn_gather_args),
				 .operands = of_scatter_add},
	[TN_SLOT_MEMORY_INFORMATION] = {.name = "information",
					.entry = offsetof(struct tn_backend, memory.information)},
	[TN_SLOT_CONV2D_FORWARD] = {.name = "conv2d_forward",
				    .entry = offsetof(struct tn_backend, nn.conv2d_forward),
				    .call = call_conv2d,
				    .args_size = sizeof(struct tn_conv2d_args),
				    .operands = of_conv2d_forward,
				    .asks = 1},
	[TN_SLOT_CONV2D_INPUT_GRADIENT] = {.name = "conv2d_input_gradient",
					   .entry = offsetof(struct tn_backend,
							     nn.conv2d_input_gradient),
					   .call = call_conv2d,
					   .args_size = sizeof(struct tn_conv2d_args),
					   .operands = of_conv2d_input_gradient,
					   .asks = 1},
	[TN_SLOT_CONV2D_WEIGHT_GRADIENT] = {.name = "conv2d_weight_gradient",
					    .entry = offsetof(struct tn_backend,
							      nn.conv2d_weight_gradient),
					    .call = call_conv2d,
					    .args_size = sizeof(struct tn_conv2d_args),
					    .operands = of_conv2d_weight_gradient,
					    .asks = 1},
	[TN_SLOT_POOL2D_FORWARD] = {.name = "pool2d_forward",
				    .entry = offsetof(struct tn_backend, nn.pool2d_forward),
				    .call = call_pool2d,
				    .args_size = sizeof(struct tn_pool2d_args),
				    .operands = of_pool2d_forward},
	[TN_SLOT_POOL2D_BACKWARD] = {.name = "pool2d_backward",
				     .entry = offsetof(struct tn_backend, nn.pool2d_backward),
				     .call = call_pool2d,
				     .args_size = sizeof(struct tn_pool2d_args),
				     .operands = of_pool2d_backward},
	[TN_SLOT_BATCH_NORM_FORWARD] = {.name = "batch_norm_forward",
					.entry = offsetof(struct tn_backend, nn.batch_norm_forward),
					.call = call_norm,
					.args_size = sizeof(struct tn_norm_args),
					.operands = of_norm_forward,
					.asks = 1},
	[TN_SLOT_BATCH_NORM_BACKWARD] = {.name = "batch_norm_backward",
					 .entry = offsetof(struct tn_backend,
							   nn.batch_norm_backward),
					 .call = call_norm,
					 .args_size = sizeof(struct tn_norm_args),
					 .operands = of_norm_backward,
					 .asks = 1},
	[TN_SLOT_LAYER_NORM_FORWARD] = {.name = "layer_norm_forward",
					.entry = offsetof(struct tn_backend, nn.layer_norm_forward),
					.call = call_norm,
					.args_size = sizeof(struct tn_norm_args),
					.operands = of_norm_forward,
					.asks = 1},
	[TN_SLOT_LAYER_NORM_BACKWARD] = {.name = "layer_norm_backward",
					 .entry = offsetof(struct tn_backend,
							   nn.layer_norm_backward),
					 .call = call_norm,
					 .args_size = sizeof(struct tn_norm_args),
					 .operands = of_norm_backward,
					 .asks = 1},
	[TN_SLOT_SOFTMAX_FORWARD] = {.name = "softmax_forward",
				     .entry = offsetof(struct tn_backend, nn.softmax_forward),
				     .call = call_softmax,
				     .args_size = sizeof(struct tn_softmax_args),
				     .operands = of_softmax_forward},
	[TN_SLOT_SOFTMAX_BACKWARD] = {.name = "softmax_backward",
				      .entry = offsetof(struct tn_backend, nn.softmax_backward),
				      .call = call_softmax,
				      .args_size = sizeof(struct tn_softmax_args),
				      .operands = of_softmax_backward},
	[TN_SLOT_CROSS_ENTROPY_FORWARD] = {.name = "cross_entropy_forward",
					   .entry = offsetof(struct tn_backend,
							     nn.cross_entropy_forward),
					   .call = call_cross_entropy,
					   .args_size = sizeof(struct tn_cross_entropy_args),
					   .operands = of_cross_entropy_forward},
	[TN_SLOT_CROSS_ENTROPY_BACKWARD] = {.name = "cross_entropy_backward",
					    .entry = offsetof(struct tn_backend,
							      nn.cross_entropy_backward),
					    .call = call_cross_entropy,
					    .args_size = sizeof(struct tn_cross_entropy_args),
					    .operands = of_cross_entropy_backward},
	[TN_SLOT_GROUP_NORM_FORWARD] = {.name = "group_norm_forward",
					.entry = offsetof(struct tn_backend, nn.group_norm_forward),
					.call = call_norm,
					.args_size = sizeof(struct tn_norm_args),
					.operands = of_norm_forward,
					.asks = 1},
	[TN_SLOT_GROUP_NORM_BACKWARD] = {.name = "group_norm_backward",
					 .entry = offsetof(struct tn_backend,
							   nn.group_norm_backward),
					 .call = call_norm,
					 .args_size = sizeof(struct tn_norm_args),
					 .operands = of_norm_backward,
					 .asks = 1},
	[TN_SLOT_CONV2D_PREPACK] = {.name = "conv2d_prepack",
				    .entry = offsetof(struct tn_backend, nn.conv2d_prepack)},
	[TN_SLOT_REPORT_LINE] = {.name = "report_line",
				 .entry = offsetof(struct tn_backend, report.line)},
	[TN_SLOT_STREAM_CREATE] = {.name = "stream_create",
				   .entry = offsetof(struct tn_backend, stream.stream_create)},
	[TN_SLOT_STREAM_DESTROY] = {.name = "stream_destroy",
				    .entry = offsetof(struct tn_backend, stream.stream_destroy)},
	[TN_SLOT_EVENT_CREATE] = {.name = "event_create",
				  .entry = offsetof(struct tn_backend, stream.event_create)},
	[TN_SLOT_EVENT_DESTROY] = {.name = "event_destroy",
				   .entry = offsetof(struct tn_backend, stream.event_destroy)},
	[TN_SLOT_EVENT_RECORD] = {.name = "event_record",
				  .entry = offsetof(struct tn_backend, stream.event_record)},
	[TN_SLOT_EVENT_WAIT] = {.name = "event_wait",
				.entry = offsetof(struct tn_backend, stream.event_wait)},
	[TN_SLOT_EVENT_SYNC] = {.name = "event_sync",
				.entry = offsetof(struct tn_backend, stream.event_sync)},
	[TN_SLOT_EVENT_QUERY] = {.name = "event_query",
				 .entry = offsetof(struct tn_backend, stream.event_query)},
	[TN_SLOT_EVENT_ELAPSED] = {.name = "event_elapsed",
				   .entry = offsetof(struct tn_backend, stream.event_elapsed)},
	[TN_SLOT_COMPILE] = {.name = "compile",
			     .entry = offsetof(struct tn_backend, compile.compile)},
	[TN_SLOT_LAUNCH] = {.name = "launch", .entry = offsetof(struct tn_backend, compile.launch)},
	[TN_SLOT_KERNEL_RELEASE] = {.name = "kernel_release",
				    .entry = offsetof(struct tn_backend, compile.kernel_release)},
	[TN_SLOT_CAPTURE_BEGIN] = {.name = "capture_begin",
				   .entry = offsetof(struct tn_backend, capture.capture_begin)},
	[TN_SLOT_CAPTURE_END] = {.name = "capture_end",
				 .entry = offsetof(struct tn_backend, capture.capture_end)},
	[TN_SLOT_GRAPH_LAUNCH] = {.name = "graph_launch",
				  .entry = offsetof(struct tn_backend, capture.graph_launch)},
	[TN_SLOT_GRAPH_RELEASE] = {.name = "graph_release",
				   .entry = offsetof(struct tn_backend, capture.graph_release)},
	[TN_SLOT_PEER_COPY] = {.name = "peer_copy",
			       .entry = offsetof(struct tn_backend, peer.peer_copy)},
	[TN_SLOT_SORT] = {.name = "sort",
			  .entry = offsetof(struct tn_backend, sort.sort),
			  .call = call_sort,
			  .args_size = sizeof(struct tn_sort_args),
			  .operands = of_sort,
			  .asks = 1},
	[TN_SLOT_SCAN] = {.name = "scan",
			  .entry = offsetof(struct tn_backend, scan.scan),
			  .call = call_scan,
			  .args_size = sizeof(struct tn_scan_args),
			  .operands = of_scan,
			  .asks = 1},
	[TN_SLOT_IMPORT_MEMORY] = {.name = "import_memory",
				   .entry = offsetof(struct tn_backend, import.import_memory)},
	[TN_SLOT_IMPORT_RELEASE] = {.name = "import_release",
				    .entry = offsetof(struct tn_backend, import.import_release)},
	[TN_SLOT_EXPORT_MEMORY] = {.name = "export_memory",
				   .entry = offsetof(struct tn_backend, import.export_memory)},
	[TN_SLOT_DEVICE_EXPORT] = {.name = "device_export",
				   .entry = offsetof(struct tn_backend, vendor.device_export)},
	[TN_SLOT_STREAM_IMPORT] = {.name = "stream_import",
				   .entry = offsetof(struct tn_backend, vendor.stream_import)},
	[TN_SLOT_STREAM_RELEASE] = {.name = "stream_release",
				    .entry = offsetof(struct tn_backend, vendor.stream_release)},
	[TN_SLOT_STREAM_EXPORT] = {.name = "stream_export",
				   .entry = offsetof(struct tn_backend, vendor.stream_export)},
	[TN_SLOT_MATMUL_PREPACK] = {.name = "matmul_prepack",
				    .entry = offsetof(struct tn_backend, compute.matmul_prepack)},
	[TN_SLOT_SCATTER] = {.name = "scatter",
			     .entry = offsetof(struct tn_backend, copy.scatter),
			     .call = call_gather,
			     .args_size = sizeof(struct tn_gather_args),
			     .operands = of_scatter_add},
	[TN_SLOT_ATTENTION_FORWARD] = {.name = "attention_forward",
				       .entry = offsetof(struct tn_backend, nn.attention_forward),
				       .call = call_attention,
				       .args_size = sizeof(struct tn_attention_args),
				       .operands = of_attention_forward},
	[TN_SLOT_ATTENTION_BACKWARD] = {.name = "attention_backward",
					.entry = offsetof(struct tn_backend, nn.attention_backward),
					.call = call_attention,
					.args_size = sizeof(struct tn_attention_args),
					.operands = of_attention_backward},
	[TN_SLOT_CHOLESKY] = {.name = "cholesky",
			      .entry = offsetof(struct tn_backend, linalg.cholesky),
			      .call = call_linalg,
			      .args_size = sizeof(struct tn_linalg_args),
			      .operands = of_cholesky,
			      .asks = 1},
	[TN_SLOT_LU] = {.name = "lu",
			.entry = offsetof(struct tn_backend, linalg.lu),
			.call = call_linalg,
			.args_size = sizeof(struct tn_linalg_args),
			.operands = of_lu,
			.asks = 1},
	[TN_SLOT_SOLVE] = {.name = "solve",
			   .entry = offsetof(struct tn_backend, linalg.solve),
			   .call = call_linalg,
			   .args_size = sizeof(struct tn_linalg_args),
			   .operands = of_solve,
			   .asks = 1},
	[TN_SLOT_SOLVE_TRIANGULAR] = {.name = "solve_triangular",
				      .entry = offsetof(struct tn_backend, linalg.solve_triangular),
				      .call = call_linalg,
				      .args_size = sizeof(struct tn_linalg_args),
				      .operands = of_solve_triangular,
				      .asks = 1},
	[TN_SLOT_QR] = {.name = "qr",
			.entry = offsetof(struct tn_backend, linalg.qr),
			.call = call_linalg,
			.args_size = sizeof(struct tn_linalg_args),
			.operands = of_qr,
			.asks = 1},
	[TN_SLOT_EIGH] = {.name = "eigh",
			  .entry = offsetof(struct tn_backend, linalg.eigh),
			  .call = call_linalg,
			  .args_size = sizeof(struct tn_linalg_args),
			  .operands = of_eigh,
			  .asks = 1},
	[TN_SLOT_SVD] = {.name = "svd",
			 .entry = offsetof(struct tn_backend, linalg.svd),
			 .call = call_linalg,
			 .args_size = sizeof(struct tn_linalg_args),
			 .operands = of_svd,
			 .asks = 1},
	[TN_SLOT_EIG] = {.name = "eig",
			 .entry = offsetof(struct tn_backend, linalg.eig),
			 .call = call_linalg,
			 .args_size = sizeof(struct tn_linalg_args),
			 .operands = of_eig,
			 .asks = 1},
};

/* ---- Tables ----------------------------------------------------------------------------------*/

static const struct {
	const char *id;
	size_t offset; /* in struct tn_backend */
	size_t size;   /* in the host's own table */
	int is_mandatory;
} tables[] = {
	{.id = TN_TABLE_DEVICE,
	 .offset = offsetof(struct tn_backend, device),
	 .size = sizeof(struct tn_device_table),
	 .is_mandatory = 1},
	{.id = TN_TABLE_COMPUTE,
	 .offset = offsetof(struct tn_backend, compute),
	 .size = sizeof(struct tn_compute_table),
	 .is_mandatory = 1},
	{.id = TN_TABLE_CAPTURE,
	 .offset = offsetof(struct tn_backend, capture),
	 .size = sizeof(struct tn_capture_table)},
	{.id = TN_TABLE_COMPILE,
	 .offset = offsetof(struct tn_backend, compile),
	 .size = sizeof(struct tn_compile_table)},
	{.id = TN_TABLE_COPY,
	 .offset = offsetof(struct tn_backend, copy),
	 .size = sizeof(struct tn_copy_table)},
	{.id = TN_TABLE_IMPORT,
	 .offset = offsetof(struct tn_backend, import),
	 .size = sizeof(struct tn_import_table)},
	{.id = TN_TABLE_LINALG,
	 .offset = offsetof(struct tn_backend, linalg),
	 .size = sizeof(struct tn_linalg_table)},
	{.id = TN_TABLE_MEMORY,
	 .offset = offsetof(struct tn_backend, memory),
	 .size = sizeof(struct tn_memory_table)},
	{.id = TN_TABLE_NATIVE,
	 .offset = offsetof(struct tn_backend, vendor),
	 .size = sizeof(struct tn_native_table)},
	{.id = TN_TABLE_NN,
	 .offset = offsetof(struct tn_backend, nn),
	 .size = sizeof(struct tn_nn_table)},
	{.id = TN_TABLE_PEER,
	 .offset = offsetof(struct tn_backend, peer),
	 .size = sizeof(struct tn_peer_table)},
	{.id = TN_TABLE_REPORT,
	 .offset = offsetof(struct tn_backend, report),
	 .size = sizeof(struct tn_report_table)},
	{.id = TN_TABLE_SCAN,
	 .offset = offsetof(struct tn_backend, scan),
	 .size = sizeof(struct tn_scan_table)},
	{.id = TN_TABLE_SORT,
	 .offset = offsetof(struct tn_backend, sort),
	 .size = sizeof(struct tn_sort_table)},
	{.id = TN_TABLE_STREAM,
	 .offset = offsetof(struct tn_backend, stream),
	 .size = sizeof(struct tn_stream_table)},
};

enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

typedef void (*function)(void);

static int is_in(enum tn_slot slot, int table)
{
	return tn_slots[slot].entry >= tables[table].offset &&
	       tn_slots[slot].entry < tables[table].offset + tables[table].size;
}

tn_status tn_slots_take(struct tn_backend *backend, struct tn_error_info *error)
{
	memset(backend->native, 0, sizeof(backend->native));
	for (int table = 0; table < TABLES; table++) {
		const char *id = tables[table].id;
		char *own = (char *)backend + tables[table].offset;
		const void *theirs = backend->plugin.descriptor.query(backend->plugin.instance, id);
		uint32_t size = 0, own_size = (uint32_t)tables[table].size;
		if (theirs)
			memcpy(&size, theirs, sizeof(size));
		else if (tables[table].is_mandatory)
			return tn_fail(error, TN_BAD_PLUGIN, "query", "it has no table %s", id);
		memset(own, 0, own_size);
		memcpy(own, &own_size, sizeof(own_size));
		for (int slot = 0; slot < TN_SLOT_COUNT; slot++) {
			if (!is_in((enum tn_slot)slot, table))
				continue;
			size_t offset = tn_slots[slot].entry - tables[table].offset;
			size_t end = offset + sizeof(function);
			function entry = NULL;
			if (end <= size)
				memcpy(&entry, (const char *)theirs + offset, sizeof(entry));
			if (entry) {
				memcpy(own + offset, &entry, sizeof(entry));
				backend->native[slot] = 1;
			} else if (tn_slots[slot].is_mandatory && end > size) {
				return tn_fail(error, TN_BAD_PLUGIN, "query",
					       "table %s is short: it has %u bytes, %s is at %zu "
					       "to %zu",
					       id, size, tn_slots[slot].name, offset, end - 1);
			} else if (tn_slots[slot].is_mandatory) {
				return tn_fail(error, TN_BAD_PLUGIN, "query",
					       "table %s: %s is mandatory, found NULL", id,
					       tn_slots[slot].name);
			}
		}
	}
	return TN_OK;
}
