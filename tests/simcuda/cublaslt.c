/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The simulated cuBLASLt: a product with a bias and an activation behind it.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cublasLt.h>

#include "gemm.h"
#include "simcuda.h"

struct handle {
	int unused;
};

/* The contents of the opaque descriptors. */
struct desc {
	int32_t compute, scale, pointers, transa, transb, transc, bias_type;
	uint32_t epilogue;
	void *bias;
	int64_t bias_stride;
};

struct layout {
	uint32_t type;
	int32_t order, batches;
	uint64_t rows, columns;
	int64_t ld, stride;
};

_Static_assert(sizeof(struct desc) <= sizeof(cublasLtMatmulDescOpaque_t), "fits");
_Static_assert(sizeof(struct layout) <= sizeof(cublasLtMatrixLayoutOpaque_t), "fits");

struct attribute {
	int name;
	size_t offset, size;
};

#define ATTRIBUTE(name, type, field)                                                               \
	{                                                                                          \
		name, offsetof(type, field), sizeof(((type *)0)->field)                            \
	}

static const struct attribute desc_attributes[] = {
	ATTRIBUTE(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, struct desc, compute),
	ATTRIBUTE(CUBLASLT_MATMUL_DESC_SCALE_TYPE, struct desc, scale),
	ATTRIBUTE(CUBLASLT_MATMUL_DESC_POINTER_MODE, struct desc, pointers),
	ATTRIBUTE(CUBLASLT_MATMUL_DESC_TRANSA, struct desc, transa),
	ATTRIBUTE(CUBLASLT_MATMUL_DESC_TRANSB, struct desc, transb),
	ATTRIBUTE(CUBLASLT_MATMUL_DESC_TRANSC, struct desc, transc),
	ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE, struct desc, epilogue),
	ATTRIBUTE(CUBLASLT_MATMUL_DESC_BIAS_POINTER, struct desc, bias),
	ATTRIBUTE(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, struct desc, bias_stride),
	ATTRIBUTE(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, struct desc, bias_type),
	{-1, 0, 0},
};

static const struct attribute layout_attributes[] = {
	ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_TYPE, struct layout, type),
	ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_ORDER, struct layout, order),
	ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_ROWS, struct layout, rows),
	ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_COLS, struct layout, columns),
	ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_LD, struct layout, ld),
	ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, struct layout, batches),
	ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, struct layout, stride),
	{-1, 0, 0},
};

static cublasStatus_t set_attribute(const struct attribute *list, void *to, int name,
				    const void *value, size_t size)
{
	for (; list->name >= 0; list++)
		if (list->name == name) {
			if (!value || size < list->size)
				return CUBLAS_STATUS_INVALID_VALUE;
			memcpy((char *)to + list->offset, value, list->size);
			return CUBLAS_STATUS_SUCCESS;
		}
	return CUBLAS_STATUS_NOT_SUPPORTED;
}

static cublasStatus_t get_attribute(const struct attribute *list, const void *from, int name,
				    void *value, size_t size, size_t *written)
{
	for (; list->name >= 0; list++)
		if (list->name == name) {
			if (written)
				*written = list->size;
			if (size == 0 && written)
				return CUBLAS_STATUS_SUCCESS;
			if (!value || size < list->size)
				return CUBLAS_STATUS_INVALID_VALUE;
			memcpy(value, (const char *)from + list->offset, list->size);
			return CUBLAS_STATUS_SUCCESS;
		}
	return CUBLAS_STATUS_NOT_SUPPORTED;
}

static cublasStatus_t enter(const char *name)
{
	return (cublasStatus_t)simcudaFault(name);
}

/* ---- Handles ---------------------------------------------------------------------------------*/

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
	cublasStatus_t status = enter("cublasLtCreate");
	*handle = NULL;
	if (status)
		return status;
	if (simcudaStream(NULL))
		return CUBLAS_STATUS_NOT_INITIALIZED;
	*handle = calloc(1, sizeof(struct handle));
	return *handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
	cublasStatus_t status = enter("cublasLtDestroy");
	if (!status)
		free(handle);
	return status;
}

size_t cublasLtGetVersion(void)
{
	return CUBLAS_VERSION;
}

/* ---- Descriptors -----------------------------------------------------------------------------*/

cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t to, size_t size,
					       cublasComputeType_t compute, cudaDataType_t scale)
{
	cublasStatus_t status = enter("cublasLtMatmulDescInit_internal");
	const struct desc desc = {.compute = (int32_t)compute,
				  .scale = (int32_t)scale,
				  .bias_type = -1,
				  .epilogue = CUBLASLT_EPILOGUE_DEFAULT};
	if (status)
		return status;
	if (size < sizeof(desc))
		return CUBLAS_STATUS_ALLOC_FAILED;
	memset(to, 0, size);
	memcpy(to, &desc, sizeof(desc));
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc, cublasComputeType_t compute,
					cudaDataType_t scale)
{
	cublasStatus_t status = enter("cublasLtMatmulDescCreate");
	if (status)
		return status;
	*desc = calloc(1, sizeof(**desc));
	if (!*desc)
		return CUBLAS_STATUS_ALLOC_FAILED;
	status = cublasLtMatmulDescInit_internal(*desc, sizeof(**desc), compute, scale);
	if (status) {
		free(*desc);
		*desc = NULL;
	}
	return status;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc)
{
	cublasStatus_t status = enter("cublasLtMatmulDescDestroy");
	if (!status)
		free(desc);
	return status;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
					      cublasLtMatmulDescAttributes_t name,
					      const void *value, size_t size)
{
	cublasStatus_t status = enter("cublasLtMatmulDescSetAttribute");
	return status ? status : set_attribute(desc_attributes, desc, (int)name, value, size);
}

cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t desc,
					      cublasLtMatmulDescAttributes_t name, void *value,
					      size_t size, size_t *written)
{
	cublasStatus_t status = enter("cublasLtMatmulDescGetAttribute");
	return status ? status
		      : get_attribute(desc_attributes, desc, (int)name, value, size, written);
}

cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t to, size_t size,
						 cudaDataType type, uint64_t rows, uint64_t columns,
						 int64_t ld)
{
	cublasStatus_t status = enter("cublasLtMatrixLayoutInit_internal");
	const struct layout layout = {.type = (uint32_t)type,
				      .order = CUBLASLT_ORDER_COL,
				      .batches = 1,
				      .rows = rows,
				      .columns = columns,
				      .ld = ld};
	if (status)
		return status;
	if (size < sizeof(layout))
		return CUBLAS_STATUS_ALLOC_FAILED;
	memset(to, 0, size);
	memcpy(to, &layout, sizeof(layout));
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType type,
					  uint64_t rows, uint64_t columns, int64_t ld)
{
	cublasStatus_t status = enter("cublasLtMatrixLayoutCreate");
	if (status)
		return status;
	*layout = calloc(1, sizeof(**layout));
	if (!*layout)
		return CUBLAS_STATUS_ALLOC_FAILED;
	return cublasLtMatrixLayoutInit_internal(*layout, sizeof(**layout), type, rows, columns,
						 ld);
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout)
{
	cublasStatus_t status = enter("cublasLtMatrixLayoutDestroy");
	if (!status)
		free(layout);
	return status;
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
						cublasLtMatrixLayoutAttribute_t name,
						const void *value, size_t size)
{
	cublasStatus_t status = enter("cublasLtMatrixLayoutSetAttribute");
	return status ? status : set_attribute(layout_attributes, layout, (int)name, value, size);
}

cublasStatus_t cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t layout,
						cublasLtMatrixLayoutAttribute_t name, void *value,
						size_t size, size_t *written)
{
	cublasStatus_t status = enter("cublasLtMatrixLayoutGetAttribute");
	return status ? status
		      : get_attribute(layout_attributes, layout, (int)name, value, size, written);
}

/* No algorithm needs a workspace here, so preferences are ignored. */
cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t preference,
						     size_t size)
{
	cublasStatus_t status = enter("cublasLtMatmulPreferenceInit_internal");
	if (!status)
		memset(preference, 0, size);
	return status;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference)
{
	cublasStatus_t status = enter("cublasLtMatmulPreferenceCreate");
	if (status)
		return status;
	*preference = calloc(1, sizeof(**preference));
	return *preference ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference)
{
	cublasStatus_t status = enter("cublasLtMatmulPreferenceDestroy");
	if (!status)
		free(preference);
	return status;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
						    cublasLtMatmulPreferenceAttributes_t name,
						    const void *value, size_t size)
{
	cublasStatus_t status = enter("cublasLtMatmulPreferenceSetAttribute");
	(void)preference, (void)name, (void)size;
	return status || value ? status : CUBLAS_STATUS_INVALID_VALUE;
}

/* ---- Products --------------------------------------------------------------------------------*/

static struct sim_matrix matrix_of(cublasLtMatrixLayout_t from, const void *data, int32_t operation)
{
	struct layout layout;
	memcpy(&layout, from, sizeof(layout));
	const int by_row = layout.order == CUBLASLT_ORDER_ROW;
	const int is_swapped = by_row != (operation != CUBLAS_OP_N);
	return (struct sim_matrix){.data = (void *)(uintptr_t)data,
				   .type = (cudaDataType_t)layout.type,
				   .row = is_swapped ? layout.ld : 1,
				   .column = is_swapped ? 1 : layout.ld,
				   .at = layout.stride};
}

static cublasStatus_t read_sizes(struct sim_gemm *gemm, const struct desc *desc,
				 cublasLtMatrixLayout_t a_from, cublasLtMatrixLayout_t b_from,
				 cublasLtMatrixLayout_t d_from)
{
	struct layout a, b, d;
	memcpy(&a, a_from, sizeof(a));
	memcpy(&b, b_from, sizeof(b));
	memcpy(&d, d_from, sizeof(d));
	const uint64_t inner = desc->transb != CUBLAS_OP_N ? b.columns : b.rows;
	gemm->m = (int64_t)d.rows;
	gemm->n = (int64_t)d.columns;
	gemm->k = (int64_t)(desc->transa != CUBLAS_OP_N ? a.rows : a.columns);
	gemm->batches = d.batches;
	if (inner != (uint64_t)gemm->k ||
	    (desc->transa != CUBLAS_OP_N ? a.columns : a.rows) != d.rows ||
	    (desc->transb != CUBLAS_OP_N ? b.rows : b.columns) != d.columns ||
	    a.batches != d.batches || b.batches != d.batches)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (a.order > CUBLASLT_ORDER_ROW || b.order > CUBLASLT_ORDER_ROW ||
	    d.order > CUBLASLT_ORDER_ROW || desc->transc != CUBLAS_OP_N)
		return CUBLAS_STATUS_NOT_SUPPORTED;
	return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t read_epilogue(struct sim_gemm *gemm, const struct desc *desc)
{
	const uint32_t known = CUBLASLT_EPILOGUE_DEFAULT | CUBLASLT_EPILOGUE_RELU |
			       CUBLASLT_EPILOGUE_BIAS | CUBLASLT_EPILOGUE_GELU;
	if (desc->epilogue & ~known)
		return CUBLAS_STATUS_NOT_SUPPORTED;
	if (desc->epilogue & CUBLASLT_EPILOGUE_RELU)
		gemm->activation = SIM_RELU;
	else if (desc->epilogue & CUBLASLT_EPILOGUE_GELU)
		gemm->activation = SIM_GELU;
	if (!(desc->epilogue & CUBLASLT_EPILOGUE_BIAS))
		return CUBLAS_STATUS_SUCCESS;
	if (!desc->bias)
		return CUBLAS_STATUS_INVALID_VALUE;
	gemm->bias = (struct sim_matrix){
		.data = desc->bias,
		.type = desc->bias_type < 0 ? gemm->d.type : (cudaDataType_t)desc->bias_type,
		.row = 1,
		.column = gemm->m,
		.at = desc->bias_stride};
	return sim_type_size(gemm->bias.type) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc_from,
			      const void *alpha, const void *a, cublasLtMatrixLayout_t a_layout,
			      const void *b, cublasLtMatrixLayout_t b_layout, const void *beta,
			      const void *c, cublasLtMatrixLayout_t c_layout, void *d,
			      cublasLtMatrixLayout_t d_layout,
			      const cublasLtMatmulAlgo_t *algorithm, void *workspace,
			      size_t workspace_size, cudaStream_t stream)
{
	struct desc desc;
	struct sim_gemm gemm = {0};
	cublasStatus_t status = enter("cublasLtMatmul");
	(void)algorithm;
	if (status)
		return status;
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	memcpy(&desc, desc_from, sizeof(desc));
	gemm.a = matrix_of(a_layout, a, desc.transa);
	gemm.b = matrix_of(b_layout, b, desc.transb);
	gemm.c = matrix_of(c_layout, c, CUBLAS_OP_N);
	gemm.d = matrix_of(d_layout, d, CUBLAS_OP_N);
	status = read_sizes(&gemm, &desc, a_layout, b_layout, d_layout);
	if (!status)
		status = read_epilogue(&gemm, &desc);
	if (!status)
		status = sim_gemm_check(&gemm, (cublasComputeType_t)desc.compute);
	if (!status && desc.scale != sim_scale_type((cublasComputeType_t)desc.compute))
		status = CUBLAS_STATUS_NOT_SUPPORTED;
	if (status)
		return status;
	const int on_device = desc.pointers == CUBLASLT_POINTER_MODE_DEVICE;
	gemm.alpha = sim_scalar_at(alpha, (cudaDataType_t)desc.scale, on_device);
	gemm.beta = sim_scalar_at(beta, (cudaDataType_t)desc.scale, on_device);
	gemm.workspace = workspace;
	gemm.workspace_size = workspace_size;
	gemm.is_tf32 = gemm.a.type == CUDA_R_32F && desc.compute == CUBLAS_COMPUTE_32F_FAST_TF32;
	return simcudaEnqueue(stream, "cublasLtMatmul", sim_gemm_run, &gemm, sizeof(gemm))
		       ? CUBLAS_STATUS_EXECUTION_FAILED
		       : CUBLAS_STATUS_SUCCESS;
}

/* One algorithm, which supports everything that cublasLtMatmul does. */
cublasStatus_t
cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc_from,
			       cublasLtMatrixLayout_t a_layout, cublasLtMatrixLayout_t b_layout,
			       cublasLtMatrixLayout_t c_layout, cublasLtMatrixLayout_t d_layout,
			       cublasLtMatmulPreference_t preference, int wanted,
			       cublasLtMatmulHeuristicResult_t *results, int *found)
{
	struct desc desc;
	struct sim_gemm gemm = {0};
	cublasStatus_t status = enter("cublasLtMatmulAlgoGetHeuristic");
	(void)handle, (void)preference;
	if (status)
		return status;
	*found = 0;
	if (wanted < 1)
		return CUBLAS_STATUS_INVALID_VALUE;
	memcpy(&desc, desc_from, sizeof(desc));
	gemm.a = matrix_of(a_layout, NULL, desc.transa);
	gemm.b = matrix_of(b_layout, NULL, desc.transb);
	gemm.c = matrix_of(c_layout, NULL, CUBLAS_OP_N);
	gemm.d = matrix_of(d_layout, NULL, CUBLAS_OP_N);
	status = read_sizes(&gemm, &desc, a_layout, b_layout, d_layout);
	if (!status)
		status = sim_gemm_check(&gemm, (cublasComputeType_t)desc.compute);
	if (status)
		return status;
	memset(results, 0, sizeof(*results));
	results->state = CUBLAS_STATUS_SUCCESS;
	results->wavesCount = 1;
	*found = 1;
	return CUBLAS_STATUS_SUCCESS;
}
