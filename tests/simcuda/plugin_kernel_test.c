/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The CUDA backend's products, and the kernels that it compiles, keeps and loads.
 */
#include <unistd.h>

#include <cublas_v2.h>

#include "plugin_fixture.h"

#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

enum { N = 256, BYTES = N * sizeof(float), ROOM = 64 << 10 };

/* ---- Products --------------------------------------------------------------------------------*/

struct product {
	uint64_t a, c, room;
};

static void begin_product(struct plugin *p, struct product *product)
{
	product->a = plugin_take(p, TN_MEMORY_DEVICE, BYTES);
	product->c = plugin_take(p, TN_MEMORY_DEVICE, BYTES);
	product->room = plugin_take(p, TN_MEMORY_DEVICE, ROOM);
	assert_ok(plugin_fill(p, NULL, product->a, N, 1));
	assert_ok(plugin_fill(p, NULL, product->c, N, 7));
	assert_ok(plugin_sync(p, NULL));
}

static void end_product(struct plugin *p, const struct product *product)
{
	assert_ok(plugin_give(p, product->a));
	assert_ok(plugin_give(p, product->c));
	assert_ok(plugin_give(p, product->room));
}

/* c := activation(a a), of 16 x 16 ones. */
static tn_status multiply(struct plugin *p, void *stream, const struct product *product,
			  uint32_t activation)
{
	struct tn_workspace workspace = {
		.struct_size = sizeof(workspace), .buffer = product->room, .size = ROOM};
	struct tn_matmul_args args = {.call = plugin_call(p, sizeof(args), stream),
				      .a = plugin_matrix(product->a, 16, 16),
				      .b = plugin_matrix(product->a, 16, 16),
				      .c = plugin_matrix(product->c, 16, 16),
				      .alpha = 1,
				      .activation = activation};
	args.call.workspace = &workspace;
	return p->compute->matmul(p->device, &args);
}

static float first_of(struct plugin *p, uint64_t buffer)
{
	float found = 0;
	assert_ok(plugin_download(p, buffer, &found, sizeof(found)));
	return found;
}

static void the_way_of_adding_up_is_set_before_anything_is_multiplied(void **state)
{
	struct plugin p = {.device = NULL};
	struct product product;
	(void)state;
	plugin_open(&p, NULL);
	begin_product(&p, &product);
	simcudaInject("cublasSetMathMode", 1, CUBLAS_STATUS_INTERNAL_ERROR, 0);
	assert_status(multiply(&p, NULL, &product, 0), TN_BACKEND_FAILURE);
	assert_contains(p.error.text, "cublasSetMathMode");
	assert_ok(multiply(&p, NULL, &product, 0));
	assert_int_equal(simcudaCalls("cublasSetMathMode"), 2);
	assert_close(first_of(&p, product.c), 16, 0);
	end_product(&p, &product);
	plugin_close(&p);
}

/* Code that cannot be loaded is detected before the product is written. */
static void what_follows_a_product_is_loaded_before_it(void **state)
{
	struct plugin p = {.device = NULL};
	struct product product;
	(void)state;
	plugin_open(&p, NULL);
	begin_product(&p, &product);
	simcudaInject("simcudaLoad", 1, cudaErrorMemoryAllocation, 0);
	assert_status(multiply(&p, NULL, &product, TN_ACTIVATION_RELU), TN_OUT_OF_MEMORY);
	assert_close(first_of(&p, product.c), 7, 0);
	assert_ok(multiply(&p, NULL, &product, TN_ACTIVATION_RELU));
	assert_close(first_of(&p, product.c), 16, 0);
	end_product(&p, &product);
	plugin_close(&p);
}

static void cublas_never_has_a_stream_that_is_gone(void **state)
{
	struct plugin p = {.device = NULL};
	struct product product;
	(void)state;
	plugin_open(&p, NULL);
	begin_product(&p, &product);
	void *stream = plugin_stream(&p);
	assert_ok(multiply(&p, stream, &product, 0));
	assert_ok(plugin_stream_end(&p, stream));
	stream = plugin_stream(&p);
	assert_ok(multiply(&p, stream, &product, 0));
	end_product(&p, &product);
	plugin_close(&p);
	assert_string_equal(simcudaMessage(), "");
}

/* ---- Compiled kernels on disk ----------------------------------------------------------------*/

static char folder[] = "/tmp/tenon-cuda-kernels-XXXXXX";

static void remove_folder(void)
{
	char command[128];
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	assert_int_equal(system(command), 0); /* NOLINT(concurrency-mt-unsafe) */
}

static void fill_once(struct plugin *p, const char *const *settings)
{
	plugin_open(p, settings);
	uint64_t buffer = plugin_take(p, TN_MEMORY_DEVICE, BYTES);
	if (plugin_fill(p, NULL, buffer, N, 2))
		fail_msg("fill: %s", p->error.text);
	assert_close(first_of(p, buffer), 2, 0);
	assert_ok(plugin_give(p, buffer));
	plugin_close(p);
}

static void a_kept_binary_that_does_not_load_is_compiled_again(void **state)
{
	struct plugin p = {.cache = folder};
	(void)state;
	assert_non_null(mkdtemp(folder));
	fill_once(&p, NULL);
	unsigned long compiled = simcudaNvrtcCalls("nvrtcCompileProgram");
	fill_once(&p, NULL);
	assert_int_equal(simcudaNvrtcCalls("nvrtcCompileProgram"), compiled);
	fill_once(&p, SETTINGS("SIMCUDA_FAIL=cudaLibraryLoadData:1=200"));
	assert_int_equal(simcudaNvrtcCalls("nvrtcCompileProgram"), compiled + 1);
	fill_once(&p, SETTINGS("SIMCUDA_FAIL=simcudaLoad:1=209"));
	assert_int_equal(simcudaNvrtcCalls("nvrtcCompileProgram"), compiled + 2);
	remove_folder();
}

/* One that was just compiled is not compiled again. */
static void a_new_binary_that_does_not_load_is_an_error(void **state)
{
	struct plugin p = {.device = NULL};
	(void)state;
	plugin_open(&p, NULL);
	uint64_t buffer = plugin_take(&p, TN_MEMORY_DEVICE, BYTES);
	unsigned long compiled = simcudaNvrtcCalls("nvrtcCompileProgram");
	simcudaInject("cudaLibraryLoadData", 1, cudaErrorInvalidKernelImage, 0);
	assert_status(plugin_fill(&p, NULL, buffer, N, 1), TN_BACKEND_FAILURE);
	assert_contains(p.error.text, "cudaLibraryLoadData");
	assert_int_equal(simcudaNvrtcCalls("nvrtcCompileProgram"), compiled + 1);
	assert_ok(plugin_fill(&p, NULL, buffer, N, 1));
	assert_ok(plugin_sync(&p, NULL));
	assert_ok(plugin_give(&p, buffer));
	plugin_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_way_of_adding_up_is_set_before_anything_is_multiplied),
		cmocka_unit_test(what_follows_a_product_is_loaded_before_it),
		cmocka_unit_test(cublas_never_has_a_stream_that_is_gone),
		cmocka_unit_test(a_kept_binary_that_does_not_load_is_compiled_again),
		cmocka_unit_test(a_new_binary_that_does_not_load_is_an_error),
	};
	if (access(SIMCUDA_REAL "/libnvrtc.so.13", R_OK))
		return TEST_SKIPPED;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
