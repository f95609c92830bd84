/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * oneDNN, opened inside the plugin and called through addresses from its own handle.  The fields
 * are oneDNN's functions under their own names, without "dnnl_"; its header gives them their types.
 *
 * Debian's library computes on OpenMP's threads.  The size of a parallel region is a setting of the
 * thread that starts it, so it is set during a call and restored, without effect on other threads.
 */
#ifndef ONEDNN_LIBRARY_H
#define ONEDNN_LIBRARY_H

#include <oneapi/dnnl/dnnl.h>
#include <tenon/plugin.h>

_Static_assert(DNNL_VERSION_MAJOR == 2, "written for the C interface of oneDNN 2");

/* The library that is opened unless the option `library` names another. */
#define ONEDNN_LIBRARY "libdnnl.so.2"

struct onednn_library {
	void *handle;

	__typeof__(&dnnl_version) version;
	__typeof__(&dnnl_get_effective_cpu_isa) get_effective_cpu_isa;
	__typeof__(&dnnl_engine_create) engine_create;
	__typeof__(&dnnl_engine_destroy) engine_destroy;
	__typeof__(&dnnl_stream_create) stream_create;
	__typeof__(&dnnl_stream_wait) stream_wait;
	__typeof__(&dnnl_stream_destroy) stream_destroy;

	__typeof__(&dnnl_memory_desc_init_by_strides) memory_desc_init_by_strides;
	__typeof__(&dnnl_memory_desc_init_by_tag) memory_desc_init_by_tag;
	__typeof__(&dnnl_memory_desc_equal) memory_desc_equal;
	__typeof__(&dnnl_memory_desc_get_size) memory_desc_get_size;
	__typeof__(&dnnl_memory_create) memory_create;
	__typeof__(&dnnl_memory_set_data_handle) memory_set_data_handle;
	__typeof__(&dnnl_memory_destroy) memory_destroy;

	__typeof__(&dnnl_primitive_attr_create) primitive_attr_create;
	__typeof__(&dnnl_primitive_attr_set_scratchpad_mode) primitive_attr_set_scratchpad_mode;
	__typeof__(&dnnl_primitive_attr_set_fpmath_mode) primitive_attr_set_fpmath_mode;
	__typeof__(&dnnl_primitive_attr_set_post_ops) primitive_attr_set_post_ops;
	__typeof__(&dnnl_primitive_attr_destroy) primitive_attr_destroy;
	__typeof__(&dnnl_post_ops_create) post_ops_create;
	__typeof__(&dnnl_post_ops_append_sum) post_ops_append_sum;
	__typeof__(&dnnl_post_ops_destroy) post_ops_destroy;

	__typeof__(&dnnl_primitive_desc_create) primitive_desc_create;
	__typeof__(&dnnl_primitive_desc_query_md) primitive_desc_query_md;
	__typeof__(&dnnl_primitive_desc_destroy) primitive_desc_destroy;
	__typeof__(&dnnl_reorder_primitive_desc_create) reorder_primitive_desc_create;
	__typeof__(&dnnl_primitive_create) primitive_create;
	__typeof__(&dnnl_primitive_execute) primitive_execute;
	__typeof__(&dnnl_primitive_destroy) primitive_destroy;

	__typeof__(&dnnl_sgemm) sgemm;
	__typeof__(&dnnl_dilated_convolution_forward_desc_init) convolution_forward;
	__typeof__(&dnnl_dilated_convolution_backward_data_desc_init) convolution_backward_data;
	__typeof__(&dnnl_dilated_convolution_backward_weights_desc_init)
		convolution_backward_weights;
	__typeof__(&dnnl_pooling_forward_desc_init) pooling_forward;
	__typeof__(&dnnl_pooling_backward_desc_init) pooling_backward;
	__typeof__(&dnnl_batch_normalization_forward_desc_init) batch_normalization_forward;
	__typeof__(&dnnl_batch_normalization_backward_desc_init) batch_normalization_backward;
	__typeof__(&dnnl_layer_normalization_forward_desc_init) layer_normalization_forward;
	__typeof__(&dnnl_layer_normalization_backward_desc_init) layer_normalization_backward;
	__typeof__(&dnnl_softmax_forward_desc_init) softmax_forward;
	__typeof__(&dnnl_softmax_backward_desc_init) softmax_backward;
	__typeof__(&dnnl_logsoftmax_forward_desc_init) logsoftmax_forward;
	__typeof__(&dnnl_logsoftmax_backward_desc_init) logsoftmax_backward;

	void (*omp_set_num_threads)(int); /* NULL: the library does not use OpenMP */
	int (*omp_get_max_threads)(void);
	int n_threads;   /* those of the host */
	int own_threads; /* for oneDNN's exclusive use */
	char note[256];
};

/* TN_MISSING_LIBRARY, with `error` filled: the library or one of its functions is missing. */
tn_status onednn_library_open(struct onednn_library *library, const struct tn_host *host,
			      struct tn_error_info *error);

/* Around every use: between enter and leave oneDNN uses `n_threads` threads when the calling thread
 * calls it. */
int onednn_library_enter(const struct onednn_library *library, int n_threads);
void onednn_library_leave(const struct onednn_library *library, int saved);

#endif
