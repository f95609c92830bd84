/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The simulated cuBLAS against sums written out here.
 */
#include "simcuda_fixture.h"

#include <cublas_v2.h>

enum { M = 5, N = 7, K = 6, BATCHES = 3, LD = 9 };

static cublasHandle_t handle;

static int restart(void **state)
{
	(void)state;
	restart_simcuda(NULL);
	return cublasCreate_v2(&handle);
}

static int finish(void **state)
{
	(void)state;
	return cublasDestroy_v2(handle) != CUBLAS_STATUS_SUCCESS;
}

static void *upload(const void *values, size_t size)
{
	void *block = NULL;
	assert_cuda(cudaMalloc(&block, size), cudaSuccess);
	assert_cuda(cudaMemcpy(block, values, size, cudaMemcpyHostToDevice), cudaSuccess);
	return block;
}

static void download(void *values, const void *block, size_t size)
{
	assert_cuda(cudaMemcpy(values, block, size, cudaMemcpyDeviceToHost), cudaSuccess);
}

static float number(int i)
{
	return (float)(i * 7 % 11) - 4;
}

/* (i, j) of a column-major matrix, or of its transpose. */
static float element(const float *matrix, int i, int j, int is_transposed)
{
	return is_transposed ? matrix[i * LD + j] : matrix[i + j * LD];
}

static float product(const float *a, const float *b, int transa, int transb, int i, int j)
{
	float sum = 0;
	for (int p = 0; p < K; p++)
		sum += element(a, i, p, transa) * element(b, p, j, transb);
	return sum;
}

static void products_are_right_in_all_layouts(void **state)
{
	float a[LD * LD], b[LD * LD], c[LD * LD], d[LD * LD];
	const float alpha = 2, beta = -1;
	(void)state;
	for (int i = 0; i < LD * LD; i++) {
		a[i] = number(i);
		b[i] = number(i + 3);
		c[i] = number(i + 5);
	}
	float *da = upload(a, sizeof(a)), *db = upload(b, sizeof(b));
	for (int layout = 0; layout < 4; layout++) {
		const int ta = layout & 1, tb = layout >> 1;
		float *dc = upload(c, sizeof(c));
		assert_int_equal(cublasSgemm_v2(handle, ta ? CUBLAS_OP_T : CUBLAS_OP_N,
						tb ? CUBLAS_OP_T : CUBLAS_OP_N, M, N, K, &alpha, da,
						LD, db, LD, &beta, dc, LD),
				 CUBLAS_STATUS_SUCCESS);
		download(d, dc, sizeof(d));
		for (int j = 0; j < N; j++)
			for (int i = 0; i < LD; i++)
				assert_close(d[i + j * LD],
					     i < M ? 2 * product(a, b, ta, tb, i, j) - c[i + j * LD]
						   : c[i + j * LD],
					     0);
	}
}

static void zeros_in_front_keep_what_is_behind_from_being_read(void **state)
{
	const float alpha = 0, beta = 0, nan[4] = {NAN, NAN, NAN, NAN};
	float c[4];
	(void)state;
	float *dc = upload(nan, sizeof(nan));
	assert_int_equal(cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &alpha, dc, 2,
					dc, 2, &beta, dc, 2),
			 CUBLAS_STATUS_SUCCESS);
	download(c, dc, sizeof(c));
	for (int i = 0; i < 4; i++)
		assert_close(c[i], 0, 0);
}

static void batches_lie_their_strides_apart(void **state)
{
	double a[BATCHES * 4], b[BATCHES * 4], c[BATCHES * 6];
	const double alpha = 1, beta = 0;
	(void)state;
	for (int i = 0; i < BATCHES * 4; i++) {
		a[i] = number(i);
		b[i] = number(i + 1);
	}
	double *da = upload(a, sizeof(a)), *db = upload(b, sizeof(b)), *dc = upload(c, sizeof(c));
	assert_int_equal(cublasDgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2,
						   &alpha, da, 2, 4, db, 2, 4, &beta, dc, 2, 6,
						   BATCHES),
			 CUBLAS_STATUS_SUCCESS);
	download(c, dc, sizeof(c));
	for (int n = 0; n < BATCHES; n++)
		for (int j = 0; j < 2; j++)
			for (int i = 0; i < 2; i++)
				assert_close(c[6 * n + i + 2 * j],
					     a[4 * n + i] * b[4 * n + 2 * j] +
						     a[4 * n + i + 2] * b[4 * n + 1 + 2 * j],
					     0);
}

static void batches_may_be_given_by_pointers(void **state)
{
	const float alpha = 1, beta = 0, values[] = {2, 3, 5, 7};
	float c[2] = {0, 0};
	(void)state;
	float *block = upload(values, sizeof(values)), *result = upload(c, sizeof(c));
	void *a[] = {block, block + 1}, *b[] = {block + 2, block + 3}, *to[] = {result + 1, result};
	void **da = upload(a, sizeof(a)), **db = upload(b, sizeof(b)),
	     **dc = upload(to, sizeof(to));
	assert_int_equal(cublasGemmBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &alpha,
					     (const void *const *)da, CUDA_R_32F, 1,
					     (const void *const *)db, CUDA_R_32F, 1, &beta, dc,
					     CUDA_R_32F, 1, 2, CUBLAS_COMPUTE_32F,
					     CUBLAS_GEMM_DEFAULT),
			 CUBLAS_STATUS_SUCCESS);
	download(c, result, sizeof(c));
	assert_close(c[1], 10, 0);
	assert_close(c[0], 21, 0);
}

static cublasStatus_t one_product(const void *a, cudaDataType_t from, void *c, cudaDataType_t to,
				  cublasComputeType_t compute)
{
	const float alpha = 1, beta = 0;
	return cublasGemmStridedBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 2, &alpha, a,
					  from, 1, 0, a, from, 2, 0, &beta, c, to, 1, 0, 1, compute,
					  CUBLAS_GEMM_DEFAULT);
}

static void short_numbers_are_summed_as_long_ones(void **state)
{
	/* 1.5 and 0.25; the smallest half and the largest */
	const uint16_t half[] = {0x3e00, 0x3400}, bfloat[] = {0x3fc0, 0x3e80};
	const uint16_t ends[] = {0x0001, 0x7bff};
	uint16_t short_result = 0;
	float result = 0;
	(void)state;
	void *to = upload(&result, sizeof(result));
	void *dh = upload(half, 4), *db = upload(bfloat, 4), *de = upload(ends, 4);
	assert_int_equal(one_product(dh, CUDA_R_16F, to, CUDA_R_32F, CUBLAS_COMPUTE_32F), 0);
	download(&result, to, 4);
	assert_close(result, 2.3125, 0);
	assert_int_equal(one_product(db, CUDA_R_16BF, to, CUDA_R_16BF, CUBLAS_COMPUTE_32F), 0);
	download(&short_result, to, 2);
	assert_int_equal(short_result, 0x4014);
	assert_int_equal(one_product(de, CUDA_R_16F, to, CUDA_R_32F, CUBLAS_COMPUTE_32F), 0);
	download(&result, to, 4);
	assert_close(result, 65504.0 * 65504.0, 0);
	assert_int_equal(one_product(de, CUDA_R_16F, to, CUDA_R_16F, CUBLAS_COMPUTE_32F), 0);
	download(&short_result, to, 2);
	assert_int_equal(short_result, 0x7c00);
	assert_int_equal(one_product(dh, CUDA_R_32F, to, CUDA_R_16F, CUBLAS_COMPUTE_32F),
			 CUBLAS_STATUS_NOT_SUPPORTED);
	assert_int_equal(one_product(dh, CUDA_R_32F, to, CUDA_R_32F, CUBLAS_COMPUTE_64F),
			 CUBLAS_STATUS_NOT_SUPPORTED);
}

static void tf32_is_shorter_and_has_to_be_asked_for(void **state)
{
	const float values[] = {1 + 0x1p-12f, 0};
	float result = 0;
	(void)state;
	void *from = upload(values, sizeof(values)), *to = upload(&result, sizeof(result));
	assert_int_equal(one_product(from, CUDA_R_32F, to, CUDA_R_32F, CUBLAS_COMPUTE_32F), 0);
	download(&result, to, 4);
	assert_true(result > 1);
	assert_int_equal(
		one_product(from, CUDA_R_32F, to, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32), 0);
	download(&result, to, 4);
	assert_close(result, 1, 0);
	assert_int_equal(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH), 0);
	assert_int_equal(one_product(from, CUDA_R_32F, to, CUDA_R_32F, CUBLAS_COMPUTE_32F), 0);
	download(&result, to, 4);
	assert_close(result, 1, 0);
}

static void a_vector_may_have_gaps(void **state)
{
	const float alpha = 1, beta = 1, a[] = {1, 2, 3, 4, 5, 6}, x[] = {1, 9, 10, 9, 100};
	const float y[] = {1000, 9, 2000, 9, 3000};
	float out[5];
	(void)state;
	float *da = upload(a, sizeof(a)), *dx = upload(x, sizeof(x)), *dy = upload(y, sizeof(y));
	assert_int_equal(
		cublasSgemv_v2(handle, CUBLAS_OP_N, 2, 3, &alpha, da, 2, dx, 2, &beta, dy, 2),
		CUBLAS_STATUS_SUCCESS);
	download(out, dy, sizeof(out));
	assert_close(out[0], 1531, 0);
	assert_close(out[1], 9, 0);
	assert_close(out[2], 2642, 0);
	assert_int_equal(
		cublasSgemv_v2(handle, CUBLAS_OP_T, 2, 3, &alpha, da, 2, dx, 2, &beta, dy, 2),
		CUBLAS_STATUS_SUCCESS);
	download(out, dy, sizeof(out));
	assert_close(out[4], 3065, 0);
}

static void a_sum_may_be_of_transposes(void **state)
{
	const float alpha = 1, beta = 10, a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 2, 3, 4, 5, 6};
	float c[6];
	(void)state;
	float *da = upload(a, sizeof(a)), *db = upload(b, sizeof(b)), *dc = upload(c, sizeof(c));
	assert_int_equal(cublasSgeam(handle, CUBLAS_OP_N, CUBLAS_OP_T, 2, 3, &alpha, da, 2, &beta,
				     db, 3, dc, 2),
			 CUBLAS_STATUS_SUCCESS);
	download(c, dc, sizeof(c));
	for (int j = 0; j < 3; j++)
		for (int i = 0; i < 2; i++)
			assert_close(c[i + 2 * j], a[i + 2 * j] + 10 * b[j + 3 * i], 0);
}

static void work_goes_onto_the_stream_and_reads_scalars_of_the_device_there(void **state)
{
	const float scalars[] = {3, 0}, value = 5;
	float result = 0;
	cudaStream_t stream = NULL;
	(void)state;
	assert_int_equal(cublasDestroy_v2(handle), 0);
	restart_simcuda((const char *const[]){"SIMCUDA_DEFER=1", NULL});
	assert_int_equal(cublasCreate_v2(&handle), 0);
	float *ds = upload(scalars, sizeof(scalars)), *dv = upload(&value, 4),
	      *to = upload(&result, 4);
	/* A copy from pageable memory may still be in progress. */
	assert_cuda(cudaDeviceSynchronize(), cudaSuccess);
	assert_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
	assert_int_equal(cublasSetStream_v2(handle, stream), 0);
	assert_int_equal(cublasSetPointerMode_v2(handle, CUBLAS_POINTER_MODE_DEVICE), 0);
	assert_int_equal(cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, ds, dv, 1, dv, 1,
					ds + 1, to, 1),
			 CUBLAS_STATUS_SUCCESS);
	assert_cuda(cudaStreamQuery(stream), cudaErrorNotReady);
	assert_cuda(cudaStreamSynchronize(stream), cudaSuccess);
	download(&result, to, 4);
	assert_close(result, 75, 0);
}

static void what_lies_outside_loses_the_device(void **state)
{
	const float alpha = 1, beta = 0;
	float host[4] = {0};
	(void)state;
	float *block = upload(host, sizeof(host));
	assert_int_equal(cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &alpha, host, 2,
					block, 2, &beta, block, 2),
			 CUBLAS_STATUS_SUCCESS);
	assert_cuda(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
	assert_contains(simcudaMessage(), "an address of the host that is not pinned");
	assert_int_equal(cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &alpha, block, 2,
					block, 2, &beta, block, 2),
			 CUBLAS_STATUS_EXECUTION_FAILED);
}

static void a_workspace_is_written_to(void **state)
{
	const float alpha = 1, beta = 0, one = 1;
	char words[64] = {0}, *room = upload(words, sizeof(words));
	float *a = upload(&one, sizeof(one));
	(void)state;
	assert_int_equal(cublasSetWorkspace_v2(handle, room, sizeof(words)), CUBLAS_STATUS_SUCCESS);
	assert_int_equal(cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &alpha, a, 1, a,
					1, &beta, a, 1),
			 CUBLAS_STATUS_SUCCESS);
	download(words, room, sizeof(words));
	assert_int_equal((unsigned char)words[63], 0xff);
	assert_int_equal(cublasSetWorkspace_v2(handle, room, sizeof(words) + 1),
			 CUBLAS_STATUS_SUCCESS);
	(void)cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &alpha, a, 1, a, 1, &beta,
			     a, 1);
	assert_cuda(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
	restart_simcuda(NULL);
}

static void a_handle_outlives_no_stream(void **state)
{
	cublasHandle_t own = NULL;
	cudaStream_t stream = NULL;
	(void)state;
	assert_int_equal(cublasCreate_v2(&own), CUBLAS_STATUS_SUCCESS);
	assert_cuda(cudaStreamCreate(&stream), cudaSuccess);
	assert_int_equal(cublasSetStream_v2(own, stream), CUBLAS_STATUS_SUCCESS);
	assert_cuda(cudaStreamDestroy(stream), cudaSuccess);
	assert_int_equal(cublasDestroy_v2(own), CUBLAS_STATUS_EXECUTION_FAILED);
	assert_int_equal(cublasSetStream_v2(own, NULL), CUBLAS_STATUS_SUCCESS);
	assert_int_equal(cublasDestroy_v2(own), CUBLAS_STATUS_SUCCESS);
}

static void wrong_arguments_are_refused(void **state)
{
	const float one = 1;
	cublasHandle_t none = NULL;
	(void)state;
	assert_int_equal(cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, NULL, 1,
					NULL, 2, &one, NULL, 2),
			 CUBLAS_STATUS_INVALID_VALUE);
	assert_int_equal(cublasSetStream_v2(none, NULL), CUBLAS_STATUS_NOT_INITIALIZED);
	simcudaInject("cublasSetStream_v2", 1, CUBLAS_STATUS_INTERNAL_ERROR, 0);
	assert_int_equal(cublasSetStream_v2(handle, NULL), CUBLAS_STATUS_INTERNAL_ERROR);
	assert_string_equal(cublasGetStatusName(CUBLAS_STATUS_INTERNAL_ERROR),
			    "CUBLAS_STATUS_INTERNAL_ERROR");
	restart_simcuda((const char *const[]){"SIMCUDA_DRIVER=0", NULL});
	assert_int_equal(cublasCreate_v2(&none), CUBLAS_STATUS_NOT_INITIALIZED);
	assert_null(none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(products_are_right_in_all_layouts, restart, finish),
		cmocka_unit_test_setup_teardown(zeros_in_front_keep_what_is_behind_from_being_read,
						restart, finish),
		cmocka_unit_test_setup_teardown(batches_lie_their_strides_apart, restart, finish),
		cmocka_unit_test_setup_teardown(batches_may_be_given_by_pointers, restart, finish),
		cmocka_unit_test_setup_teardown(short_numbers_are_summed_as_long_ones, restart,
						finish),
		cmocka_unit_test_setup_teardown(tf32_is_shorter_and_has_to_be_asked_for, restart,
						finish),
		cmocka_unit_test_setup_teardown(a_vector_may_have_gaps, restart, finish),
		cmocka_unit_test_setup_teardown(a_sum_may_be_of_transposes, restart, finish),
		cmocka_unit_test_setup_teardown(
			work_goes_onto_the_stream_and_reads_scalars_of_the_device_there, restart,
			finish),
		cmocka_unit_test_setup_teardown(what_lies_outside_loses_the_device, restart,
						finish),
		cmocka_unit_test_setup_teardown(a_workspace_is_written_to, restart, finish),
		cmocka_unit_test_setup_teardown(a_handle_outlives_no_stream, restart, finish),
		cmocka_unit_test_setup_teardown(wrong_arguments_are_refused, restart, finish),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
