/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The simulated cuBLASLt: orders, epilogues, and what it refuses.
 */
#include "simcuda_fixture.h"

#include <cublasLt.h>

static cublasLtHandle_t handle;
static cublasLtMatmulDesc_t desc;
static cublasLtMatrixLayout_t layouts[3];
static float *a, *b, *d, *bias;

/* a = 1 2 / 3 4 and b = 1 -1 / 1 -3, row by row. */
static int restart(void **state)
{
	const float values[] = {1, 2, 3, 4, 1, -1, 1, -3, 0, 0, 0, 0, 10, 20};
	const int32_t by_row = CUBLASLT_ORDER_ROW;
	(void)state;
	restart_simcuda(NULL);
	assert_cuda(cudaMalloc((void **)&a, sizeof(values)), cudaSuccess);
	assert_cuda(cudaMemcpy(a, values, sizeof(values), cudaMemcpyHostToDevice), cudaSuccess);
	b = a + 4;
	d = a + 8;
	bias = a + 12;
	assert_int_equal(cublasLtCreate(&handle), 0);
	assert_int_equal(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(cublasLtMatrixLayoutCreate(&layouts[i], CUDA_R_32F, 2, 2, 2), 0);
		assert_int_equal(cublasLtMatrixLayoutSetAttribute(layouts[i],
								  CUBLASLT_MATRIX_LAYOUT_ORDER,
								  &by_row, sizeof(by_row)),
				 0);
	}
	return 0;
}

static int finish(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(cublasLtMatrixLayoutDestroy(layouts[i]), 0);
	assert_int_equal(cublasLtMatmulDescDestroy(desc), 0);
	return cublasLtDestroy(handle) != CUBLAS_STATUS_SUCCESS;
}

static void set(cublasLtMatmulDescAttributes_t name, const void *value, size_t size)
{
	assert_int_equal(cublasLtMatmulDescSetAttribute(desc, name, value, size), 0);
}

static cublasStatus_t multiply(float result[4])
{
	const float alpha = 1, beta = 0;
	cublasStatus_t status =
		cublasLtMatmul(handle, desc, &alpha, a, layouts[0], b, layouts[1], &beta, d,
			       layouts[2], d, layouts[2], NULL, NULL, 0, NULL);
	if (!status)
		assert_cuda(cudaMemcpy(result, d, 4 * sizeof(float), cudaMemcpyDeviceToHost),
			    cudaSuccess);
	return status;
}

static void expect(float w, float x, float y, float z)
{
	const float expected[] = {w, x, y, z};
	float result[4];
	assert_int_equal(multiply(result), CUBLAS_STATUS_SUCCESS);
	for (int i = 0; i < 4; i++)
		assert_close(result[i], expected[i], 1e-4);
}

static void rows_come_one_after_the_other(void **state)
{
	const int32_t transposed = CUBLAS_OP_T;
	(void)state;
	expect(3, -7, 7, -15);
	set(CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof(transposed));
	expect(4, -10, 6, -14);
}

static void a_bias_and_an_activation_come_behind(void **state)
{
	uint32_t epilogue = CUBLASLT_EPILOGUE_BIAS;
	(void)state;
	set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof(bias));
	set(CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof(epilogue));
	expect(13, 3, 27, 5);
	epilogue = CUBLASLT_EPILOGUE_RELU;
	set(CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof(epilogue));
	expect(3, 0, 7, 0);
	epilogue = CUBLASLT_EPILOGUE_GELU;
	set(CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof(epilogue));
	expect(2.9964f, 0, 7, 0);
}

static void what_it_cannot_do_it_says(void **state)
{
	const uint32_t epilogue = CUBLASLT_EPILOGUE_DGELU;
	const uint64_t rows = 3;
	cublasLtMatmulHeuristicResult_t result;
	int found = 9;
	float values[4];
	(void)state;
	assert_int_equal(cublasLtMatmulAlgoGetHeuristic(handle, desc, layouts[0], layouts[1],
							layouts[2], layouts[2], NULL, 1, &result,
							&found),
			 CUBLAS_STATUS_SUCCESS);
	assert_int_equal(found, 1);
	set(CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof(epilogue));
	assert_int_equal(multiply(values), CUBLAS_STATUS_NOT_SUPPORTED);
	assert_int_equal(cublasLtMatrixLayoutSetAttribute(layouts[1], CUBLASLT_MATRIX_LAYOUT_ROWS,
							  &rows, sizeof(rows)),
			 0);
	assert_int_equal(multiply(values), CUBLAS_STATUS_INVALID_VALUE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rows_come_one_after_the_other, restart, finish),
		cmocka_unit_test_setup_teardown(a_bias_and_an_activation_come_behind, restart,
						finish),
		cmocka_unit_test_setup_teardown(what_it_cannot_do_it_says, restart, finish),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
