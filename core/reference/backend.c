/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The descriptor, the tables, and creating and destroying an instance.
 */
#include "reference/backend.h"

#include <config.h>
#include <string.h>

#include "reference/call.h"

static const struct tn_device_table device_table = {
	.struct_size = sizeof(device_table),
	.device_count = tn_reference_device_count,
	.describe = tn_reference_describe,
	.open = tn_reference_open,
	.close = tn_reference_close,
	.alloc = tn_reference_alloc,
	.free = tn_reference_free,
	.upload = tn_reference_upload,
	.download = tn_reference_download,
	.sync = tn_reference_sync,
	.async_error = tn_reference_async_error,
};

static const struct tn_compute_table compute_table = {
	.struct_size = sizeof(compute_table),
	.map = tn_reference_map,
	.reduce = tn_reference_reduce,
	.matmul = tn_reference_matmul,
	.matmul_prepack = tn_reference_matmul_prepack,
};

static const struct tn_copy_table copy_table = {
	.struct_size = sizeof(copy_table),
	.fill = tn_reference_fill,
	.copy = tn_reference_copy,
	.gather = tn_reference_gather,
	.scatter_add = tn_reference_scatter_add,
	.scatter = tn_reference_scatter,
};

static const struct tn_memory_table memory_table = {
	.struct_size = sizeof(memory_table),
	.information = tn_reference_information,
};

static const struct tn_nn_table nn_table = {
	.struct_size = sizeof(nn_table),
	.conv2d_forward = tn_reference_conv2d_forward,
	.conv2d_input_gradient = tn_reference_conv2d_input_gradient,
	.conv2d_weight_gradient = tn_reference_conv2d_weight_gradient,
	.pool2d_forward = tn_reference_pool2d_forward,
	.pool2d_backward = tn_reference_pool2d_backward,
	.batch_norm_forward = tn_reference_batch_norm_forward,
	.batch_norm_backward = tn_reference_batch_norm_backward,
	.layer_norm_forward = tn_reference_layer_norm_forward,
	.layer_norm_backward = tn_reference_layer_norm_backward,
	.softmax_forward = tn_reference_softmax_forward,
	.softmax_backward = tn_reference_softmax_backward,
	.cross_entropy_forward = tn_reference_cross_entropy_forward,
	.cross_entropy_backward = tn_reference_cross_entropy_backward,
	.group_norm_forward = tn_reference_group_norm_forward,
	.group_norm_backward = tn_reference_group_norm_backward,
	.attention_forward = tn_reference_attention_forward,
	.attention_backward = tn_reference_attention_backward,
};

static const struct tn_scan_table scan_table = {
	.struct_size = sizeof(scan_table),
	.scan = tn_reference_scan,
};

static const struct tn_sort_table sort_table = {
	.struct_size = sizeof(sort_table),
	.sort = tn_reference_sort,
};

static const struct tn_linalg_table linalg_table = {
	.struct_size = sizeof(linalg_table),
	.cholesky = tn_reference_cholesky,
	.lu = tn_reference_lu,
	.solve = tn_reference_solve,
	.solve_triangular = tn_reference_solve_triangular,
	.qr = tn_reference_qr,
	.eigh = tn_reference_eigh,
	.svd = tn_reference_svd,
	.eig = tn_reference_eig,
};

static const struct {
	const char *name;
	const void *table;
} tables[] = {
	{TN_TABLE_DEVICE, &device_table}, {TN_TABLE_COMPUTE, &compute_table},
	{TN_TABLE_COPY, &copy_table},     {TN_TABLE_MEMORY, &memory_table},
	{TN_TABLE_NN, &nn_table},         {TN_TABLE_SCAN, &scan_table},
	{TN_TABLE_SORT, &sort_table},     {TN_TABLE_LINALG, &linalg_table},
};

static tn_status create(const struct tn_host *host, struct tn_error_info *error, void **instance)
{
	struct reference_instance *own = host->alloc(host->context, sizeof(*own), 0);
	if (!own)
		return tn_reference_explain(error, TN_OUT_OF_MEMORY, "create",
					    "no memory for an instance");
	own->host = host;
	*instance = own;
	return TN_OK;
}

static void destroy(void *instance)
{
	struct reference_instance *own = instance;
	if (own)
		own->host->free(own->host->context, own);
}

static const void *query(void *instance, const char *table)
{
	(void)instance;
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		if (strcmp(tables[i].name, table) == 0)
			return tables[i].table;
	}
	return NULL;
}

const struct tn_backend_descriptor tn_reference_backend = {
	.struct_size = sizeof(tn_reference_backend),
	.magic = TN_BACKEND_MAGIC,
	.abi_major = TN_ABI_MAJOR,
	.abi_minor = TN_ABI_MINOR,
	.oldest_host = TN_ABI_OLDEST_HOST,
	.uuid = {0x89, 0xfd, 0x53, 0x19, 0x8e, 0x33, 0x4c, 0x9c, 0xb3, 0x6c, 0x75, 0x11, 0x45, 0x65,
		 0xca, 0xeb},
	.name = "reference",
	.version = PACKAGE_VERSION,
	.licence = "Apache-2.0",
	.create = create,
	.destroy = destroy,
	.query = query,
};
