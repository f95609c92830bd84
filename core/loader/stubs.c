/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A stub per argument struct would leave the operation without a name; so there is one per slot.
 * Each touches nothing but the error.
 */
#include "loader/stubs.h"

#include "base/error.h"

static tn_status absent(struct tn_error_info *error, const char *operation)
{
	return tn_fail(error, TN_UNSUPPORTED, operation, "the backend leaves this slot empty");
}

static tn_status no_fill(void *device, const struct tn_fill_args *args)
{
	(void)device;
	return absent(args->call.error, "fill");
}

static tn_status no_copy(void *device, const struct tn_copy_args *args)
{
	(void)device;
	return absent(args->call.error, "copy");
}

static tn_status no_gather(void *device, const struct tn_gather_args *args)
{
	(void)device;
	return absent(args->call.error, "gather");
}

static tn_status no_scatter_add(void *device, const struct tn_gather_args *args)
{
	(void)device;
	return absent(args->call.error, "scatter_add");
}

const struct tn_copy_table tn_copy_stubs = {
	.struct_size = sizeof(struct tn_copy_table),
	.fill = no_fill,
	.copy = no_copy,
	.gather = no_gather,
	.scatter_add = no_scatter_add,
};

static tn_status no_information(void *device, uint32_t memory_kind,
				struct tn_memory_information *out)
{
	(void)device;
	(void)memory_kind;
	(void)out;
	return TN_UNSUPPORTED;
}

const struct tn_memory_table tn_memory_stubs = {
	.struct_size = sizeof(struct tn_memory_table),
	.information = no_information,
};

static tn_status no_line(void *device, uint32_t index, struct tn_report_line *out)
{
	(void)device;
	(void)index;
	(void)out;
	return TN_UNSUPPORTED;
}

const struct tn_report_table tn_report_stubs = {
	.struct_size = sizeof(struct tn_report_table),
	.line = no_line,
};

static tn_status no_conv2d_forward(void *device, const struct tn_conv2d_args *args)
{
	(void)device;
	return absent(args->call.error, "conv2d_forward");
}

static tn_status no_conv2d_input_gradient(void *device, const struct tn_conv2d_args *args)
{
	(void)device;
	return absent(args->call.error, "conv2d_input_gradient");
}

static tn_status no_conv2d_weight_gradient(void *device, const struct tn_conv2d_args *args)
{
	(void)device;
	return absent(args->call.error, "conv2d_weight_gradient");
}

static tn_status no_pool2d_forward(void *device, const struct tn_pool2d_args *args)
{
	(void)device;
	return absent(args->call.error, "pool2d_forward");
}

static tn_status no_pool2d_backward(void *device, const struct tn_pool2d_args *args)
{
	(void)device;
	return absent(args->call.error, "pool2d_backward");
}

static tn_status no_batch_norm_forward(void *device, const struct tn_norm_args *args)
{
	(void)device;
	return absent(args->call.error, "batch_norm_forward");
}

static tn_status no_batch_norm_backward(void *device, const struct tn_norm_args *args)
{
	(void)device;
	return absent(args->call.error, "batch_norm_backward");
}

static tn_status no_layer_norm_forward(void *device, const struct tn_norm_args *args)
{
	(void)device;
	return absent(args->call.error, "layer_norm_forward");
}

static tn_status no_layer_norm_backward(void *device, const struct tn_norm_args *args)
{
	(void)device;
	return absent(args->call.error, "layer_norm_backward");
}

static tn_status no_softmax_forward(void *device, const struct tn_softmax_args *args)
{
	(void)device;
	return absent(args->call.error, "softmax_forward");
}

static tn_status no_softmax_backward(void *device, const struct tn_softmax_args *args)
{
	(void)device;
	return absent(args->call.error, "softmax_backward");
}

static tn_status no_cross_entropy_forward(void *device, const struct tn_cross_entropy_args *args)
{
	(void)device;
	return absent(args->call.error, "cross_entropy_forward");
}

static tn_status no_cross_entropy_backward(void *device, const struct tn_cross_entropy_args *args)
{
	(void)device;
	return absent(args->call.error, "cross_entropy_backward");
}

static tn_status no_group_norm_forward(void *device, const struct tn_norm_args *args)
{
	(void)device;
	return absent(args->call.error, "group_norm_forward");
}

static tn_status no_group_norm_backward(void *device, const struct tn_norm_args *args)
{
	(void)device;
	return absent(args->call.error, "group_norm_backward");
}

static tn_status no_conv2d_prepack(void *device, const struct tn_conv2d_args *args, uint64_t *size)
{
	(void)device;
	(void)size;
	return absent(args->call.error, "conv2d_prepack");
}

const struct tn_nn_table tn_nn_stubs = {
	.struct_size = sizeof(struct tn_nn_table),
	.conv2d_forward = no_conv2d_forward,
	.conv2d_input_gradient = no_conv2d_input_gradient,
	.conv2d_weight_gradient = no_conv2d_weight_gradient,
	.pool2d_forward = no_pool2d_forward,
	.pool2d_backward = no_pool2d_backward,
	.batch_norm_forward = no_batch_norm_forward,
	.batch_norm_backward = no_batch_norm_backward,
	.layer_norm_forward = no_layer_norm_forward,
	.layer_norm_backward = no_layer_norm_backward,
	.softmax_forward = no_softmax_forward,
	.softmax_backward = no_softmax_backward,
	.cross_entropy_forward = no_cross_entropy_forward,
	.cross_entropy_backward = no_cross_entropy_backward,
	.group_norm_forward = no_group_norm_forward,
	.group_norm_backward = no_group_norm_backward,
	.conv2d_prepack = no_conv2d_prepack,
};

static tn_status no_stream_create(void *device, const struct tn_stream_args *args, void **stream)
{
	(void)device;
	(void)stream;
	return absent(args->call.error, "stream_create");
}

static tn_status no_stream_destroy(void *device, const struct tn_stream_args *args)
{
	(void)device;
	return absent(args->call.error, "stream_destroy");
}

static tn_status no_event_create(void *device, const struct tn_event_args *args, void **event)
{
	(void)device;
	(void)event;
	return absent(args->call.error, "event_create");
}

static tn_status no_event_destroy(void *device, const struct tn_event_args *args)
{
	(void)device;
	return absent(args->call.error, "event_destroy");
}

static tn_status no_event_record(void *device, const struct tn_event_args *args)
{
	(void)device;
	return absent(args->call.error, "event_record");
}

static tn_status no_event_wait(void *device, const struct tn_event_args *args)
{
	(void)device;
	return absent(args->call.error, "event_wait");
}

static tn_status no_event_sync(void *device, const struct tn_event_args *args)
{
	(void)device;
	return absent(args->call.error, "event_sync");
}

static tn_status no_event_query(void *device, const struct tn_event_args *args, uint32_t *reached)
{
	(void)device;
	(void)reached;
	return absent(args->call.error, "event_query");
}

static tn_status no_event_elapsed(void *device, const struct tn_elapsed_args *args, double *seconds)
{
	(void)device;
	(void)seconds;
	return absent(args->call.error, "event_elapsed");
}

const struct tn_stream_table tn_stream_stubs = {
	.struct_size = sizeof(struct tn_stream_table),
	.stream_create = no_stream_create,
	.stream_destroy = no_stream_destroy,
	.event_create = no_event_create,
	.event_destroy = no_event_destroy,
	.event_record = no_event_record,
	.event_wait = no_event_wait,
	.event_sync = no_event_sync,
	.event_query = no_event_query,
	.event_elapsed = no_event_elapsed,
};

/* Nothing can be launched or released where nothing was compiled. */
static tn_status no_compile(void *device, const struct tn_compile_args *args, void **kernel)
{
	(void)device;
	(void)kernel;
	return tn_fail(args->call.error, TN_UNSUPPORTED, "compile",
		       "the backend has no compiler for kernels from source (" TN_TABLE_COMPILE
		       ")");
}

static tn_status no_launch(void *device, const struct tn_launch_args *args)
{
	(void)device;
	return absent(args->call.error, "launch");
}

static tn_status no_kernel_release(void *device, const struct tn_kernel_args *args)
{
	(void)device;
	return absent(args->call.error, "kernel_release");
}

const struct tn_compile_table tn_compile_stubs = {
	.struct_size = sizeof(struct tn_compile_table),
	.compile = no_compile,
	.launch = no_launch,
	.kernel_release = no_kernel_release,
};

static tn_status no_capture_begin(void *device, const struct tn_graph_args *args)
{
	(void)device;
	return tn_fail(args->call.error, TN_UNSUPPORTED, "capture_begin",
		       "the backend captures no work (" TN_TABLE_CAPTURE ")");
}

static tn_status no_capture_end(void *device, const struct tn_graph_args *args, void **graph)
{
	(void)device;
	(void)graph;
	return absent(args->call.error, "capture_end");
}

static tn_status no_graph_launch(void *device, const struct tn_graph_args *args)
{
	(void)device;
	return absent(args->call.error, "graph_launch");
}

static tn_status no_graph_release(void *device, const struct tn_graph_args *args)
{
	(void)device;
	return absent(args->call.error, "graph_release");
}

const struct tn_capture_table tn_capture_stubs = {
	.struct_size = sizeof(struct tn_capture_table),
	.capture_begin = no_capture_begin,
	.capture_end = no_capture_end,
	.graph_launch = no_graph_launch,
	.graph_release = no_graph_release,
};

static tn_status no_peer_copy(void *device, const struct tn_peer_args *args)
{
	(void)device;
	return absent(args->call.error, "peer_copy");
}

const struct tn_peer_table tn_peer_stubs = {
	.struct_size = sizeof(struct tn_peer_table),
	.peer_copy = no_peer_copy,
};

static tn_status no_sort(void *device, const struct tn_sort_args *args)
{
	(void)device;
	return absent(args->call.error, "sort");
}

const struct tn_sort_table tn_sort_stubs = {
	.struct_size = sizeof(struct tn_sort_table),
	.sort = no_sort,
};

static tn_status no_scan(void *device, const struct tn_scan_args *args)
{
	(void)device;
	return absent(args->call.error, "scan");
}

const struct tn_scan_table tn_scan_stubs = {
	.struct_size = sizeof(struct tn_scan_table),
	.scan = no_scan,
};
