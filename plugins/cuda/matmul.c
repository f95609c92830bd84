/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * matmul through cuBLAS, whose matrices are column-major: a row-major matrix is the transpose of a
 * column-major one, and C = A B is C^T = B^T A^T.  One strided batch axis is part of a call, the
 * others are a loop.  Bias and activation are a kernel after the product.
 */
#include <limits.h>
#include <string.h>

#include "kernel.h"
#include "memory.h"
#include "operand.h"
#include "ranges.h"
#include "status.h"
#include "stream.h"

enum { MAX_BATCH_AXES = 4, BLOCK = 256 };

static const char operation[] = "matmul";

/* A matrix in memory in cuBLAS's terms. */
struct matrix {
	uint64_t address;
	int64_t leading;
	int by_rows;
};

struct product {
	const struct tn_matmul_args *args;
	int64_t m, n, k;
	struct matrix a, b, c;
	struct tn_plugin_nest
		batch; /* views 0 to 2 are A, B and C; the last axis is part of the call */
};

/* ---- Checks ----------------------------------------------------------------------------------*/

static int is_multiplied(const struct cuda_device *device, tn_dtype dtype)
{
	return dtype == TN_F16 || dtype == TN_F32 || dtype == TN_F64 ||
	       (dtype == TN_BF16 && device->architecture >= 80);
}

/* One dtype, or f16 or bf16 with a C of f32. */
static int are_multiplied(const struct cuda_device *device, const struct tn_matmul_args *args)
{
	const tn_dtype factor = args->a.dtype, c = args->c.dtype;
	return is_multiplied(device, factor) && args->b.dtype == factor &&
	       (c == factor || (c == TN_F32 && (factor == TN_F16 || factor == TN_BF16)));
}

static tn_status check_epilogue(const struct tn_matmul_args *args)
{
	const struct tn_call *call = &args->call;
	const int64_t *n = &args->c.shape[args->c.rank - 1];
	if (args->activation > TN_ACTIVATION_GELU)
		return tn_plugin_fail(call->error, TN_UNSUPPORTED, operation,
				      "activation %u is not supported", args->activation);
	if (args->a_scale || args->b_scale)
		return tn_plugin_fail(call->error, TN_UNSUPPORTED, operation,
				      "scales are not supported");
	if (!args->has_bias)
		return TN_OK;
	tn_status status = tn_plugin_check_operand(call, operation, "bias", 0, &args->bias,
						   CUDA_STORAGE, TN_PLUGIN_READS);
	if (!status && args->bias.dtype != args->c.dtype)
		status = tn_plugin_fail(call->error, TN_UNSUPPORTED, operation,
					"bias: dtype %d with a product of dtype %d",
					(int)args->bias.dtype, (int)args->c.dtype);
	return status ? status
		      : tn_plugin_check_shape(call, operation, "bias", 0, &args->bias, 1, n);
}

static tn_status check_arguments(const struct cuda_device *device,
				 const struct tn_matmul_args *args)
{
	const struct tn_call *call = &args->call;
	const struct tn_operand *operands[] = {&args->a, &args->b, &args->c};
	const uint32_t rank = args->c.rank;
	int64_t shapes[3][MAX_BATCH_AXES + 2];
	if (!are_multiplied(device, args))
		return tn_plugin_fail(
			call->error, TN_UNSUPPORTED, operation,
			"dtypes %d, %d and %d: expected f16, bf16 (from compute "
			"capability 8.0 on), f32 or f64 for all three, or f32 for the "
			"product of two of f16 or bf16",
			(int)args->a.dtype, (int)args->b.dtype, (int)args->c.dtype);
	if (rank < 2 || rank > MAX_BATCH_AXES + 2 || args->a.rank != rank)
		return tn_plugin_fail(call->error, TN_SHAPE, operation,
				      "ranks %u and %u: expected equal ranks of 2 to 6",
				      args->a.rank, rank);
	for (unsigned k = 0; k < 3; k++)
		memcpy(shapes[k], args->c.shape, rank * sizeof(shapes[k][0]));
	shapes[0][rank - 1] = shapes[1][rank - 2] = args->a.shape[rank - 1];
	for (unsigned k = 0; k < 3; k++) {
		tn_status status = tn_plugin_check_operand(
			call, operation, "operand", k, operands[k], CUDA_STORAGE,
			k == 2 ? TN_PLUGIN_WRITES : TN_PLUGIN_READS);
		if (!status)
			status = tn_plugin_check_shape(call, operation, "operand", k, operands[k],
						       rank, shapes[k]);
		if (status)
			return status;
	}
	return check_epilogue(args);
}

/* ---- The plan --------------------------------------------------------------------------------*/

/* 0: neither axis is dense. */
static int read_matrix(const struct tn_operand *operand, struct matrix *matrix)
{
	const int64_t *shape = &operand->shape[operand->rank - 2];
	const int64_t *stride = &operand->strides[operand->rank - 2];
	matrix->address = cuda_address(operand);
	matrix->by_rows =
		(stride[1] == 1 || shape[1] == 1) && (stride[0] >= shape[1] || shape[0] == 1);
	if (matrix->by_rows) {
		matrix->leading = shape[0] == 1 ? shape[1] : stride[0];
		return 1;
	}
	matrix->leading = shape[1] == 1 ? shape[0] : stride[1];
	return (stride[0] == 1 || shape[0] == 1) && (stride[1] >= shape[0] || shape[1] == 1);
}

static tn_status plan_product(struct product *p, const struct tn_matmul_args *args)
{
	uint32_t rank = args->c.rank;
	const struct tn_operand *operands[] = {&args->a, &args->b, &args->c};
	struct matrix *matrices[] = {&p->a, &p->b, &p->c};
	p->args = args;
	p->m = args->c.shape[rank - 2];
	p->n = args->c.shape[rank - 1];
	p->k = args->a.shape[rank - 1];
	tn_plugin_nest_begin(&p->batch, rank - 2, rank - 2, args->c.shape);
	for (unsigned k = 0; k < 3; k++) {
		if (!read_matrix(operands[k], matrices[k]))
			return tn_plugin_fail(args->call.error, TN_UNSUPPORTED, operation,
					      "operand %u: neither axis has stride 1", k);
		if (p->m > INT_MAX || p->n > INT_MAX || p->k > INT_MAX ||
		    matrices[k]->leading > INT_MAX)
			return tn_plugin_fail(
				args->call.error, TN_UNSUPPORTED, operation,
				"operand %u: a length or stride exceeds cuBLAS's limit", k);
		uint32_t view = tn_plugin_nest_add(&p->batch, operands[k], 1);
		memset(p->batch.views[view].strides + rank - 2, 0, 2 * sizeof(int64_t));
	}
	tn_plugin_nest_simplify(&p->batch);
	tn_plugin_nest_pad(&p->batch, 1, 0);
	return p->batch.lengths[p->batch.rank - 1] <= INT_MAX
		       ? TN_OK
		       : tn_plugin_fail(args->call.error, TN_UNSUPPORTED, operation,
					"the number of matrices exceeds cuBLAS's limit");
}

/* cuBLAS's workspace: chosen by shape and architecture alone, so that the same product is computed
 * in the same way each time.  16 KiB is the least that every routine works with. */
static uint64_t workspace_bytes(const struct cuda_device *device, const struct product *p)
{
	uint64_t work = (uint64_t)p->m * (uint64_t)p->n * (uint64_t)p->k *
			tn_plugin_count(p->batch.rank, p->batch.lengths);
	if (work < UINT64_C(1) << 22)
		return UINT64_C(64) << 10;
	return device->architecture >= 90 ? UINT64_C(32) << 20 : UINT64_C(8) << 20;
}

/* ---- cuBLAS ----------------------------------------------------------------------------------*/

static tn_status fail_blas(struct cuda_job *job, cublasStatus_t code, const char *function)
{
	struct cuda_device *device = job->device;
	struct tn_error_info *error = job->call->error;
	/* cuBLAS has one code for all device errors. */
	cudaError_t state = device->rt->cudaStreamQuery(cuda_stream_handle(job->stream));
	if (cuda_status_of(state) == TN_DEVICE_LOST)
		return cuda_stream_fail(device, job->stream, error, state, operation, function);
	tn_status status =
		code == CUBLAS_STATUS_ALLOC_FAILED ? TN_OUT_OF_MEMORY : TN_BACKEND_FAILURE;
	(void)device->rt->cudaGetLastError();
	tn_plugin_fail(error, status, operation, "%s: %s (%d)", function,
		       device->blas.cublasGetStatusString(code), (int)code);
	if (error)
		error->native_code = code;
	return status;
}

static tn_status open_blas(struct cuda_job *job)
{
	struct cuda_device *device = job->device;
	char text[256];
	if (device->blas_handle)
		return TN_OK;
	tn_status status = cuda_blas_open(&device->blas, device->places, text, sizeof(text));
	if (status)
		return tn_plugin_fail(job->call->error, status, operation, "%s", text);
	cublasStatus_t code = device->blas.cublasCreate_v2(&device->blas_handle);
	if (code != CUBLAS_STATUS_SUCCESS) {
		device->blas_handle = NULL;
		return fail_blas(job, code, "cublasCreate");
	}
	/* Sums of f16 stay in f32 throughout. */
	code = device->blas.cublasSetMathMode(device->blas_handle,
					      CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
	device->blas_stream = NULL;
	if (code == CUBLAS_STATUS_SUCCESS)
		return TN_OK;
	/* The next product creates a new handle: with this one it would be computed in another
	 * way. */
	status = fail_blas(job, code, "cublasSetMathMode");
	cuda_matmul_close(device);
	return status;
}

void cuda_matmul_close(struct cuda_device *device)
{
	if (device->blas_handle && !device->loss.status)
		(void)device->blas.cublasDestroy_v2(device->blas_handle);
	device->blas_handle = NULL;
	device->blas_stream = NULL;
}

void cuda_matmul_leave(struct cuda_device *device, cudaStream_t stream)
{
	if (!device->blas_handle || device->blas_stream != stream)
		return;
	device->blas_stream = NULL;
	if (!device->loss.status)
		(void)device->blas.cublasSetStream_v2(device->blas_handle, NULL);
}

/* Setting a stream resets the handle's workspace. */
static tn_status set_stream(struct cuda_job *job, uint64_t bytes)
{
	struct cuda_device *device = job->device;
	cudaStream_t stream = cuda_stream_handle(job->stream);
	if (device->blas_stream != stream) {
		cublasStatus_t code = device->blas.cublasSetStream_v2(device->blas_handle, stream);
		if (code != CUBLAS_STATUS_SUCCESS)
			return fail_blas(job, code, "cublasSetStream");
		device->blas_stream = stream;
	}
	cublasStatus_t code = device->blas.cublasSetWorkspace_v2(
		device->blas_handle, cuda_workspace_at(job->call), bytes);
	return code == CUBLAS_STATUS_SUCCESS ? TN_OK : fail_blas(job, code, "cublasSetWorkspace");
}

static cudaDataType data_type(tn_dtype dtype)
{
	return dtype == TN_F16    ? CUDA_R_16F
	       : dtype == TN_BF16 ? CUDA_R_16BF
	       : dtype == TN_F32  ? CUDA_R_32F
				  : CUDA_R_64F;
}

static cublasComputeType_t compute_type(const struct cuda_device *device, tn_dtype dtype)
{
	if (dtype == TN_F64)
		return CUBLAS_COMPUTE_64F;
	return dtype == TN_F32 && device->uses_tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32
						    : CUBLAS_COMPUTE_32F;
}

/* One call: the last batch axis, from these element offsets in A, B and C on. */
static cublasStatus_t multiply(struct cuda_job *job, const struct product *p,
			       const int64_t offset[3])
{
	const struct cuda_device *device = job->device;
	const struct tn_matmul_args *args = p->args;
	const cudaDataType type = data_type(args->a.dtype), type_c = data_type(args->c.dtype);
	const cublasComputeType_t compute = compute_type(device, args->a.dtype);
	const size_t size = tn_dtype_size(args->a.dtype), size_c = tn_dtype_size(args->c.dtype);
	const uint32_t last = p->batch.rank - 1;
	const float narrow[2] = {(float)args->alpha, (float)args->beta};
	const double wide[2] = {args->alpha, args->beta};
	const int is_wide = args->c.dtype == TN_F64, swaps = p->c.by_rows;
	const void *alpha = is_wide ? (const void *)&wide[0] : (const void *)&narrow[0];
	const void *beta = is_wide ? (const void *)&wide[1] : (const void *)&narrow[1];
	/* C^T takes B^T and A^T: a row-major matrix read in column-major order is its transpose. */
	const struct matrix *x = swaps ? &p->b : &p->a, *y = swaps ? &p->a : &p->b;
	const int ix = swaps, iy = !swaps, n_batches = (int)p->batch.lengths[last];
	const cublasOperation_t tx = x->by_rows == swaps ? CUBLAS_OP_N : CUBLAS_OP_T;
	const cublasOperation_t ty = y->by_rows == swaps ? CUBLAS_OP_N : CUBLAS_OP_T;
	const int rows = (int)(swaps ? p->n : p->m), columns = (int)(swaps ? p->m : p->n);
	const void *at_x = cuda_pointer(x->address + (uint64_t)offset[ix] * size);
	const void *at_y = cuda_pointer(y->address + (uint64_t)offset[iy] * size);
	void *at_c = cuda_pointer(p->c.address + (uint64_t)offset[2] * size_c);
	if (n_batches == 1)
		return device->blas.cublasGemmEx(device->blas_handle, tx, ty, rows, columns,
						 (int)p->k, alpha, at_x, type, (int)x->leading,
						 at_y, type, (int)y->leading, beta, at_c, type_c,
						 (int)p->c.leading, compute, CUBLAS_GEMM_DEFAULT);
	return device->blas.cublasGemmStridedBatchedEx(
		device->blas_handle, tx, ty, rows, columns, (int)p->k, alpha, at_x, type,
		(int)x->leading, p->batch.views[ix].strides[last], at_y, type, (int)y->leading,
		p->batch.views[iy].strides[last], beta, at_c, type_c, (int)p->c.leading,
		p->batch.views[2].strides[last], n_batches, compute, CUBLAS_GEMM_DEFAULT);
}

static tn_status multiply_all(struct cuda_job *job, const struct product *p)
{
	const struct tn_plugin_nest *batch = &p->batch;
	uint64_t calls = tn_plugin_count(batch->rank - 1, batch->lengths);
	for (uint64_t call = 0; call < calls; call++) {
		int64_t offset[3] = {0, 0, 0};
		uint64_t rest = call;
		for (uint32_t d = batch->rank - 1; d-- > 0;) {
			int64_t index = (int64_t)(rest % (uint64_t)batch->lengths[d]);
			rest /= (uint64_t)batch->lengths[d];
			for (unsigned k = 0; k < 3; k++)
				offset[k] += index * batch->views[k].strides[d];
		}
		cublasStatus_t code = multiply(job, p, offset);
		if (code != CUBLAS_STATUS_SUCCESS)
			return fail_blas(job, code,
					 batch->lengths[batch->rank - 1] == 1
						 ? "cublasGemmEx"
						 : "cublasGemmStridedBatchedEx");
	}
	cuda_stream_launched(job->device, job->stream);
	return TN_OK;
}

/* ---- Bias and activation ---------------------------------------------------------------------*/

/* Same layout as in kernels/matmul.cu. */
struct epilogue {
	uint64_t c, bias;
	int64_t bias_stride;
	uint64_t n_elements;
	uint64_t length[MAX_BATCH_AXES + 2];
	int64_t stride[MAX_BATCH_AXES + 2];
};

static tn_status run_epilogue(struct cuda_job *job, const struct tn_matmul_args *args,
			      const struct cuda_kernel *kernel)
{
	const uint32_t rank = args->c.rank, pad = MAX_BATCH_AXES + 2 - rank;
	struct epilogue e = {.c = cuda_address(&args->c),
			     .bias = args->has_bias ? cuda_address(&args->bias) : 0,
			     .bias_stride = args->has_bias ? args->bias.strides[0] : 0,
			     .n_elements = tn_plugin_count(rank, args->c.shape)};
	void *arguments[] = {&e};
	for (uint32_t d = 0; d < MAX_BATCH_AXES + 2; d++) {
		e.length[d] = d < pad ? 1 : (uint64_t)args->c.shape[d - pad];
		e.stride[d] = d < pad ? 0 : args->c.strides[d - pad];
	}
	const struct cuda_grid grid = {
		cuda_blocks(job->device, e.n_elements, BLOCK), 1, 1, BLOCK, 1, 1, 0};
	return cuda_kernel_launch(job, kernel, grid, arguments);
}

/* ---- The entry -------------------------------------------------------------------------------*/

/* Everything that can fail to be created is created before anything is written. */
static tn_status run_product(struct cuda_job *job, const struct product *p, uint64_t bytes)
{
	const struct tn_matmul_args *args = p->args;
	int goes_on = args->has_bias || args->activation;
	struct cuda_kernel *kernel = NULL;
	tn_status status = open_blas(job);
	if (!status && goes_on) {
		const struct cuda_define defines[] = {{"DTYPE", args->c.dtype},
						      {"ACTIVATION", args->activation},
						      {"HAS_BIAS", args->has_bias}};
		status = cuda_kernel_get(job, "matmul", "matmul_epilogue", defines, 3, &kernel);
	}
	if (!status)
		status = set_stream(job, bytes);
	if (status)
		return status;
	cuda_stream_note(job->stream, operation);
	status = multiply_all(job, p);
	return status || !goes_on ? status : run_epilogue(job, args, kernel);
}

tn_status cuda_matmul(void *device, const struct tn_matmul_args *args)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "matmul");
	struct tn_matmul_args own;
	struct cuda_job job;
	struct product p;
	int goes_on = 0;
	tn_status status = cuda_job_begin(&job, device, &own, sizeof(own), args, operation);
	if (!status)
		status = check_arguments(device, &own);
	if (!status)
		status = plan_product(&p, &own);
	if (status)
		return status;
	uint64_t bytes = workspace_bytes(device, &p);
	status = tn_plugin_workspace(&own.call, operation, bytes, &goes_on);
	return status || !goes_on ? status : run_product(&job, &p, bytes);
}
