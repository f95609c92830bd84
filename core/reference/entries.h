/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The entries of the reference backend, by the file that contains them.
 */
#ifndef TN_REFERENCE_ENTRIES_H
#define TN_REFERENCE_ENTRIES_H

#include <tenon/backend.h>

/* An instance and an open device: neither has state but the host's services. */
struct reference_instance {
	const struct tn_host *host;
};

struct reference_device {
	const struct tn_host *host;
};

/* device.c: host memory; work is complete when an entry returns. */
tn_status tn_reference_device_count(void *instance, struct tn_device_count *out);
tn_status tn_reference_describe(void *instance, uint32_t index, struct tn_device_description *out);
tn_status tn_reference_open(void *instance, const struct tn_open_args *args, void **device);
void tn_reference_close(void *device);
tn_status tn_reference_alloc(void *device, const struct tn_alloc_args *args, uint64_t *buffer);
tn_status tn_reference_free(void *device, const struct tn_free_args *args);
tn_status tn_reference_upload(void *device, const struct tn_transfer_args *args);
tn_status tn_reference_download(void *device, const struct tn_transfer_args *args);
tn_status tn_reference_sync(void *device, const struct tn_sync_args *args);
tn_status tn_reference_async_error(void *device, void *stream, struct tn_error_info *out);
tn_status tn_reference_information(void *device, uint32_t memory_kind,
				   struct tn_memory_information *out);

/* map.c, reduce.c, matmul.c */
tn_status tn_reference_map(void *device, const struct tn_map_args *args);
tn_status tn_reference_reduce(void *device, const struct tn_reduce_args *args);
tn_status tn_reference_matmul(void *device, const struct tn_matmul_args *args);
tn_status tn_reference_matmul_prepack(void *device, const struct tn_matmul_args *args,
				      uint64_t *size);

/* copy.c, gather.c */
tn_status tn_reference_fill(void *device, const struct tn_fill_args *args);
tn_status tn_reference_copy(void *device, const struct tn_copy_args *args);
tn_status tn_reference_gather(void *device, const struct tn_gather_args *args);
tn_status tn_reference_scatter_add(void *device, const struct tn_gather_args *args);
tn_status tn_reference_scatter(void *device, const struct tn_gather_args *args);

/* scan.c, sort.c */
tn_status tn_reference_scan(void *device, const struct tn_scan_args *args);
tn_status tn_reference_sort(void *device, const struct tn_sort_args *args);

/* linalg_solve.c, linalg_qr.c, linalg_jacobi.c, linalg_eig.c */
tn_status tn_reference_cholesky(void *device, const struct tn_linalg_args *args);
tn_status tn_reference_lu(void *device, const struct tn_linalg_args *args);
tn_status tn_reference_solve(void *device, const struct tn_linalg_args *args);
tn_status tn_reference_solve_triangular(void *device, const struct tn_linalg_args *args);
tn_status tn_reference_qr(void *device, const struct tn_linalg_args *args);
tn_status tn_reference_eigh(void *device, const struct tn_linalg_args *args);
tn_status tn_reference_svd(void *device, const struct tn_linalg_args *args);
tn_status tn_reference_eig(void *device, const struct tn_linalg_args *args);

/* conv2d.c */
tn_status tn_reference_conv2d_forward(void *device, const struct tn_conv2d_args *args);
tn_status tn_reference_conv2d_input_gradient(void *device, const struct tn_conv2d_args *args);
tn_status tn_reference_conv2d_weight_gradient(void *device, const struct tn_conv2d_args *args);

/* pool2d.c */
tn_status tn_reference_pool2d_forward(void *device, const struct tn_pool2d_args *args);
tn_status tn_reference_pool2d_backward(void *device, const struct tn_pool2d_args *args);

/* norm.c */
tn_status tn_reference_batch_norm_forward(void *device, const struct tn_norm_args *args);
tn_status tn_reference_batch_norm_backward(void *device, const struct tn_norm_args *args);
tn_status tn_reference_layer_norm_forward(void *device, const struct tn_norm_args *args);
tn_status tn_reference_layer_norm_backward(void *device, const struct tn_norm_args *args);
tn_status tn_reference_group_norm_forward(void *device, const struct tn_norm_args *args);
tn_status tn_reference_group_norm_backward(void *device, const struct tn_norm_args *args);

/* attention.c */
tn_status tn_reference_attention_forward(void *device, const struct tn_attention_args *args);
tn_status tn_reference_attention_backward(void *device, const struct tn_attention_args *args);

/* softmax.c, cross_entropy.c */
tn_status tn_reference_softmax_forward(void *device, const struct tn_softmax_args *args);
tn_status tn_reference_softmax_backward(void *device, const struct tn_softmax_args *args);
tn_status tn_reference_cross_entropy_forward(void *device,
					     const struct tn_cross_entropy_args *args);
tn_status tn_reference_cross_entropy_backward(void *device,
					      const struct tn_cross_entropy_args *args);

#endif
