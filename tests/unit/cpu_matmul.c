/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The CPU plugin's matmul against plain loops in long double: shapes, layouts, batches, alpha and
 * beta as data; sentinels around the output; the same bits for every number of threads.
 */
#include <pthread.h>

#include "cpu_fixture.h"

enum layout { ROWS, COLUMNS, PADDED_ROWS, PADDED_COLUMNS };

struct shape {
	int64_t m, n, k;
};

static const struct shape shapes[] = {
	{1, 1, 1},      {1, 1, 700},     {1, 7, 5},      {7, 1, 5},      {3, 5, 1},
	{2, 3, 4},      {17, 19, 23},    {64, 64, 64},   {1, 300, 70},   {300, 1, 70},
	{5, 600, 31},   {131, 9, 77},    {97, 101, 300}, {128, 10, 128}, {6, 784, 25},
	{16, 100, 150}, {200, 150, 515}, {300, 40, 300},
};

struct matrix {
	char *memory;
	size_t bytes;
	struct tn_operand operand;
};

static uint32_t state;

static double next(void)
{
	state = state * 1664525u + 1013904223u;
	return (double)(int32_t)state / 2147483648.0;
}

static double get(const struct matrix *matrix, int64_t at)
{
	const char *data = matrix->memory + matrix->operand.offset;
	return matrix->operand.dtype == TN_F32 ? (double)((const float *)(const void *)data)[at]
					       : ((const double *)(const void *)data)[at];
}

static void set(struct matrix *matrix, int64_t at, double value)
{
	char *data = matrix->memory + matrix->operand.offset;
	if (matrix->operand.dtype == TN_F32)
		((float *)(void *)data)[at] = (float)value;
	else
		((double *)(void *)data)[at] = value;
}

/* A batch of matrices with 0xa5 in every byte, 64 bytes of them before and after. */
static struct matrix make(tn_dtype dtype, int64_t batch, int64_t rows, int64_t columns,
			  enum layout layout)
{
	struct matrix matrix = {0};
	size_t size = tn_dtype_size(dtype);
	int64_t pad = layout >= PADDED_ROWS ? 3 : 0;
	int by_columns = layout == COLUMNS || layout == PADDED_COLUMNS;
	int64_t ld = (by_columns ? rows : columns) + pad;
	int64_t plane = ld * (by_columns ? columns : rows);
	matrix.bytes = (size_t)(batch * plane) * size + 128;
	matrix.memory = tn_mem_aligned(matrix.bytes, 64);
	memset(matrix.memory, 0xa5, matrix.bytes);
	matrix.operand =
		(struct tn_operand){.buffer = (uint64_t)(uintptr_t)matrix.memory,
				    .offset = 64,
				    .dtype = dtype,
				    .rank = 3,
				    .shape = {batch, rows, columns},
				    .strides = {plane, by_columns ? 1 : ld, by_columns ? ld : 1}};
	return matrix;
}

static int64_t at(const struct matrix *matrix, int64_t b, int64_t i, int64_t j)
{
	const int64_t *s = matrix->operand.strides;
	return b * s[0] + i * s[1] + j * s[2];
}

static void randomise(struct matrix *matrix)
{
	const int64_t *shape = matrix->operand.shape;
	for (int64_t b = 0; b < shape[0]; b++)
		for (int64_t i = 0; i < shape[1]; i++)
			for (int64_t j = 0; j < shape[2]; j++)
				set(matrix, at(matrix, b, i, j), next());
}

/* Bytes of `matrix` that no element covers must still be 0xa5. */
static void check_sentinels(const struct matrix *matrix)
{
	size_t size = tn_dtype_size(matrix->operand.dtype);
	char *covered = tn_mem_zeroed(matrix->bytes, 1);
	const int64_t *shape = matrix->operand.shape;
	for (int64_t b = 0; b < shape[0]; b++)
		for (int64_t i = 0; i < shape[1]; i++)
			for (int64_t j = 0; j < shape[2]; j++)
				memset(covered + 64 + (size_t)at(matrix, b, i, j) * size, 1, size);
	for (size_t i = 0; i < matrix->bytes; i++)
		assert_true(covered[i] || (unsigned char)matrix->memory[i] == 0xa5);
	tn_mem_free(covered);
}

struct sum {
	long double value, magnitude;
};

/* Products of f32 are exact in double, whose own roundings are far below those of f32. */
static struct sum expected_f32(const struct matrix *a, const struct matrix *b, int64_t batch,
			       int64_t i, int64_t j)
{
	double value = 0, magnitude = 0;
	for (int64_t k = 0; k < a->operand.shape[2]; k++) {
		double product = get(a, at(a, batch, i, k)) * get(b, at(b, batch, k, j));
		value += product;
		magnitude += fabs(product);
	}
	return (struct sum){value, magnitude};
}

static struct sum expected_f64(const struct matrix *a, const struct matrix *b, int64_t batch,
			       int64_t i, int64_t j)
{
	struct sum sum = {0, 0};
	for (int64_t k = 0; k < a->operand.shape[2]; k++) {
		long double product = (long double)get(a, at(a, batch, i, k)) *
				      (long double)get(b, at(b, batch, k, j));
		sum.value += product;
		sum.magnitude += fabsl(product);
	}
	return sum;
}

static struct sum expected(const struct matrix *a, const struct matrix *b, int64_t batch, int64_t i,
			   int64_t j)
{
	return a->operand.dtype == TN_F32 ? expected_f32(a, b, batch, i, j)
					  : expected_f64(a, b, batch, i, j);
}

/* |error| <= (k + 3) epsilon sum |a b| |alpha| + |beta c|: each of k products and sums rounds once,
 * scaling and the last addition add three more. */
static void check_values(const struct matrix *a, const struct matrix *b, const struct matrix *c,
			 const struct matrix *before, double alpha, double beta)
{
	const int64_t *shape = c->operand.shape;
	long double epsilon = c->operand.dtype == TN_F32 ? 0x1p-24L : 0x1p-53L;
	for (int64_t n = 0; n < shape[0]; n++)
		for (int64_t i = 0; i < shape[1]; i++)
			for (int64_t j = 0; j < shape[2]; j++) {
				struct sum sum = expected(a, b, n, i, j);
				long double old =
					beta != 0 ? (long double)get(before, at(before, n, i, j))
						  : 0;
				long double bound =
					(fabsl(alpha * sum.magnitude) + fabsl(beta * old)) *
					epsilon * (a->operand.shape[2] + 3);
				assert_close(get(c, at(c, n, i, j)), alpha * sum.value + beta * old,
					     bound);
			}
}

struct run {
	tn_dtype dtype;
	int64_t batch;
	enum layout a, b, c;
	double alpha, beta;
	int broadcast; /* batch stride 0 on A */
};

static tn_status multiply(struct fixture *f, const struct matrix *a, const struct matrix *b,
			  const struct matrix *c, const struct run *run, uint32_t flags)
{
	struct tn_error_info error = {.struct_size = sizeof(error)};
	struct tn_matmul_args args = {
		.call = {.struct_size = sizeof(args), .flags = flags, .error = &error},
		.a = a->operand,
		.b = b->operand,
		.c = c->operand,
		.alpha = run->alpha,
		.beta = run->beta};
	tn_status status = f->compute->matmul(f->device, &args);
	if (status)
		print_message("%s: %s\n", error.operation, error.text);
	return status;
}

/* Products of bytes are made for parts of a row. */
static void each_column_of_bytes_has_its_own_bias(void **s)
{
	enum { N = 1100 };
	static const int8_t a = 3;
	static int8_t b[N];
	static float bias[N], c[N];
	struct fixture f = {0};
	(void)s;
	fixture_open(&f, 1);
	for (int j = 0; j < N; j++) {
		b[j] = (int8_t)(j % 101 - 50);
		bias[j] = (float)j;
	}
	struct tn_matmul_args args = {.call = {.struct_size = sizeof(args)},
				      .a = {.buffer = (uint64_t)(uintptr_t)&a,
					    .dtype = TN_I8,
					    .rank = 2,
					    .shape = {1, 1},
					    .strides = {1, 1}},
				      .b = {.buffer = (uint64_t)(uintptr_t)b,
					    .dtype = TN_I8,
					    .rank = 2,
					    .shape = {1, N},
					    .strides = {N, 1}},
				      .c = {.buffer = (uint64_t)(uintptr_t)c,
					    .dtype = TN_F32,
					    .rank = 2,
					    .shape = {1, N},
					    .strides = {N, 1}},
				      .alpha = 1,
				      .has_bias = 1,
				      .bias = {.buffer = (uint64_t)(uintptr_t)bias,
					       .dtype = TN_F32,
					       .rank = 1,
					       .shape = {N},
					       .strides = {1}}};
	assert_ok(f.compute->matmul(f.device, &args));
	for (int j = 0; j < N; j++)
		assert_close(c[j], 3 * (j % 101 - 50) + j, 0);
	fixture_close(&f);
}

static void check_product(struct fixture *f, struct shape shape, struct run run)
{
	struct matrix a = make(run.dtype, run.batch, shape.m, shape.k, run.a);
	struct matrix b = make(run.dtype, run.batch, shape.k, shape.n, run.b);
	struct matrix c = make(run.dtype, run.batch, shape.m, shape.n, run.c);
	struct matrix before = make(run.dtype, run.batch, shape.m, shape.n, ROWS);
	if (run.broadcast)
		a.operand.strides[0] = 0;
	randomise(&a);
	randomise(&b);
	for (int64_t n = 0; n < run.batch; n++)
		for (int64_t i = 0; i < shape.m; i++)
			for (int64_t j = 0; j < shape.n; j++) {
				double old = run.beta != 0 ? next() : NAN;
				set(&c, at(&c, n, i, j), old);
				set(&before, at(&before, n, i, j), old);
			}
	assert_ok(multiply(f, &a, &b, &c, &run, TN_DRY_RUN));
	assert_ok(multiply(f, &a, &b, &c, &run, 0));
	check_values(&a, &b, &c, &before, run.alpha, run.beta);
	check_sentinels(&c);
	tn_mem_free(a.memory);
	tn_mem_free(b.memory);
	tn_mem_free(c.memory);
	tn_mem_free(before.memory);
}

/* An emulated processor may leave large ones out. */
static int is_taken(struct shape shape)
{
	return fixture_takes((double)(shape.m * shape.n * shape.k));
}

static void check_all(struct fixture *f, tn_dtype dtype)
{
	static const struct run runs[] = {
		{0, 1, ROWS, ROWS, ROWS, 1, 0, 0},
		{0, 1, ROWS, COLUMNS, ROWS, 1, 1, 0},
		{0, 1, COLUMNS, ROWS, ROWS, -0.5, 0.25, 0},
		{0, 1, COLUMNS, COLUMNS, COLUMNS, 1, 0, 0},
		{0, 3, PADDED_ROWS, PADDED_COLUMNS, PADDED_ROWS, 2, 0, 0},
		{0, 2, PADDED_COLUMNS, PADDED_ROWS, PADDED_COLUMNS, 1, 1, 1},
	};
	state = 7;
	for (size_t s = 0; s < sizeof(shapes) / sizeof(*shapes); s++)
		for (size_t r = 0; is_taken(shapes[s]) && r < sizeof(runs) / sizeof(*runs); r++) {
			struct run run = runs[r];
			run.dtype = dtype;
			check_product(f, shapes[s], run);
		}
}

/* ---- Bias and activation ---------------------------------------------------------------------*/

static double activated(uint32_t activation, double x)
{
	switch (activation) {
	case TN_ACTIVATION_RELU:
		return x > 0 ? x : 0;
	case TN_ACTIVATION_RELU6:
		return fmin(fmax(x, 0), 6);
	case TN_ACTIVATION_SIGMOID:
		return 1 / (1 + exp(-x));
	case TN_ACTIVATION_TANH:
		return tanh(x);
	case TN_ACTIVATION_SILU:
		return x / (1 + exp(-x));
	case TN_ACTIVATION_GELU:
		return x * erfc(-x / sqrt(2)) / 2;
	default:
		return x;
	}
}

static tn_status finish(struct fixture *f, struct matrix m[3], struct matrix *bias,
			uint32_t activation)
{
	struct tn_matmul_args args = {.call = {.struct_size = sizeof(args)},
				      .a = m[0].operand,
				      .b = m[1].operand,
				      .c = m[2].operand,
				      .alpha = 0.25,
				      .bias = {.buffer = bias->operand.buffer,
					       .offset = bias->operand.offset,
					       .dtype = bias->operand.dtype,
					       .rank = 1,
					       .shape = {m[2].operand.shape[2]},
					       .strides = {1}},
				      .has_bias = 1,
				      .activation = activation};
	return f->compute->matmul(f->device, &args);
}

/* The slope of activations is at most 1.13 (gelu), and each has an error of a few units of its
 * result, so (k + 12) epsilon of the sum's magnitude is ample. */
static void check_finished(struct fixture *f, struct shape shape, enum layout layout,
			   uint32_t activation)
{
	struct matrix m[] = {make(TN_F32, 2, shape.m, shape.k, ROWS),
			     make(TN_F32, 2, shape.k, shape.n, COLUMNS),
			     make(TN_F32, 2, shape.m, shape.n, layout)};
	struct matrix bias = make(TN_F32, 1, 1, shape.n, ROWS);
	randomise(&m[0]);
	randomise(&m[1]);
	randomise(&bias);
	assert_ok(finish(f, m, &bias, activation));
	for (int64_t n = 0; n < 2; n++)
		for (int64_t i = 0; i < shape.m; i++)
			for (int64_t j = 0; j < shape.n; j++) {
				struct sum sum = expected(&m[0], &m[1], n, i, j);
				double b = get(&bias, at(&bias, 0, 0, j));
				double magnitude = 0.25 * (double)sum.magnitude + fabs(b) + 0.1;
				assert_close(get(&m[2], at(&m[2], n, i, j)),
					     activated(activation, 0.25 * (double)sum.value + b),
					     (double)(shape.k + 12) * 0x1p-24 * magnitude);
			}
	check_sentinels(&m[2]);
	for (int i = 0; i < 3; i++)
		tn_mem_free(m[i].memory);
	tn_mem_free(bias.memory);
}

static void bias_and_activation_follow_the_product(void **unused)
{
	struct fixture f = {0};
	(void)unused;
	fixture_open(&f, 2);
	state = 11;
	for (size_t s = 0; s < sizeof(shapes) / sizeof(*shapes); s++)
		for (uint32_t activation = 0;
		     is_taken(shapes[s]) && activation <= TN_ACTIVATION_GELU; activation++)
			check_finished(&f, shapes[s], s % 2 ? PADDED_ROWS : PADDED_COLUMNS,
				       activation);
	fixture_close(&f);
}

static void epilogues_that_are_not_done_are_refused(void **unused)
{
	struct fixture f = {0};
	(void)unused;
	fixture_open(&f, 1);
	struct matrix m[] = {make(TN_F32, 1, 2, 2, ROWS), make(TN_F32, 1, 2, 2, ROWS),
			     make(TN_F32, 1, 2, 2, ROWS)};
	struct matrix wide = make(TN_F64, 1, 1, 2, ROWS);
	assert_status(finish(&f, m, &wide, 0), TN_UNSUPPORTED);
	assert_status(finish(&f, m, &m[0], TN_ACTIVATION_GELU + 1), TN_UNSUPPORTED);
	for (size_t i = 0; i < m[2].bytes; i++)
		assert_int_equal((unsigned char)m[2].memory[i], 0xa5);
	for (int i = 0; i < 3; i++)
		tn_mem_free(m[i].memory);
	tn_mem_free(wide.memory);
	fixture_close(&f);
}

static void products_agree_with_plain_loops(void **unused)
{
	(void)unused;
	struct fixture f = {0};
	fixture_open(&f, 2);
	check_all(&f, TN_F32);
	check_all(&f, TN_F64);
	fixture_close(&f);
}

static void without_the_library_its_name_is_said_and_products_are_right(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < FIXTURE_LEVELS; i++) {
		struct fixture f = {.openblas = "/nowhere/libopenblas.so.0",
				    .variant = fixture_level(i)};
		fixture_open(&f, 2);
		if (!strstr(f.log, "built without OpenBLAS")) {
			assert_contains(f.log, "/nowhere/libopenblas.so.0");
			assert_contains(f.description.note, "OpenBLAS missing");
		}
		check_all(&f, TN_F32);
		check_all(&f, TN_F64);
		fixture_close(&f);
	}
}

static void a_library_without_the_names_is_not_used(void **unused)
{
	(void)unused;
	struct fixture f = {.openblas = "libm.so.6"};
	fixture_open(&f, 1);
	if (!strstr(f.log, "built without OpenBLAS"))
		assert_contains(f.description.note, "libm.so.6 has no cblas_sgemm");
	check_product(&f, (struct shape){5, 6, 7},
		      (struct run){TN_F32, 1, ROWS, ROWS, ROWS, 1, 0, 0});
	fixture_close(&f);
}

/* C of 300 x 260 x 700, as bytes. */
static char *bits(unsigned n_threads, const char *openblas, size_t *bytes)
{
	struct fixture f = {.openblas = openblas};
	fixture_open(&f, n_threads);
	struct matrix a = make(TN_F32, 1, 300, 700, ROWS), b = make(TN_F32, 1, 700, 260, COLUMNS);
	struct matrix c = make(TN_F32, 1, 300, 260, ROWS);
	struct run run = {.alpha = 1};
	state = 11;
	randomise(&a);
	randomise(&b);
	assert_ok(multiply(&f, &a, &b, &c, &run, TN_DETERMINISTIC));
	tn_mem_free(a.memory);
	tn_mem_free(b.memory);
	fixture_close(&f);
	*bytes = c.bytes;
	return c.memory;
}

static void bits_do_not_depend_on_the_number_of_threads(void **unused)
{
	(void)unused;
	static const char *const libraries[] = {NULL, "/nowhere"};
	for (size_t i = 0; i < 2; i++) {
		size_t bytes;
		char *one = bits(1, libraries[i], &bytes), *three = bits(3, libraries[i], &bytes);
		assert_memory_equal(one, three, bytes);
		tn_mem_free(one);
		tn_mem_free(three);
	}
}

static void what_cannot_be_done_is_refused_before_the_output_changes(void **unused)
{
	(void)unused;
	struct fixture f = {0};
	fixture_open(&f, 1);
	struct matrix a = make(TN_F32, 1, 4, 4, ROWS), b = make(TN_F32, 1, 4, 4, ROWS);
	struct matrix c = make(TN_F32, 1, 4, 4, ROWS);
	struct run run = {.alpha = 1};
	a.operand.shape[2] = 5;
	assert_status(multiply(&f, &a, &b, &c, &run, 0), TN_SHAPE);
	a.operand.shape[2] = 4;
	a.operand.dtype = TN_F16;
	assert_status(multiply(&f, &a, &b, &c, &run, 0), TN_UNSUPPORTED);
	a.operand.dtype = TN_F32;
	a.operand.strides[2] = 2;
	a.operand.strides[1] = 3;
	assert_status(multiply(&f, &a, &b, &c, &run, 0), TN_UNSUPPORTED);
	a.operand.strides[1] = 4;
	a.operand.strides[2] = 1;
	assert_status(multiply(&f, &a, &b, &c, &run, 1u << 30), TN_UNSUPPORTED);
	for (size_t i = 0; i < c.bytes; i++)
		assert_int_equal((unsigned char)c.memory[i], 0xa5);
	tn_mem_free(a.memory);
	tn_mem_free(b.memory);
	tn_mem_free(c.memory);
	fixture_close(&f);
}

/* OpenBLAS, found by the plugin and by this test, is one library with one count of threads. */
static void the_count_of_openblas_threads_is_put_back(void **unused)
{
	(void)unused;
	struct fixture f = {0};
	fixture_open(&f, 2);
	void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		fixture_close(&f);
		skip();
	}
	union {
		void *address;
		void (*set)(int);
		int (*get)(void);
	} set_threads = {dlsym(library, "openblas_set_num_threads")},
	  get_threads = {dlsym(library, "openblas_get_num_threads")};
	set_threads.set(2);
	check_product(&f, (struct shape){200, 200, 200},
		      (struct run){TN_F32, 1, ROWS, ROWS, ROWS, 1, 0, 0});
	assert_int_equal(get_threads.get(), 2);
	dlclose(library);
	fixture_close(&f);
}

static void *multiply_many(void *argument)
{
	struct fixture *f = argument;
	struct matrix a = make(TN_F32, 1, 150, 150, ROWS), b = make(TN_F32, 1, 150, 150, COLUMNS);
	struct matrix c = make(TN_F32, 1, 150, 150, ROWS);
	struct run run = {.alpha = 1};
	for (int64_t i = 0; i < 150; i++)
		for (int64_t j = 0; j < 150; j++) {
			set(&a, at(&a, 0, i, j), (double)((i + j) % 3));
			set(&b, at(&b, 0, i, j), i == j);
		}
	for (int i = 0; i < 50; i++)
		assert_ok(multiply(f, &a, &b, &c, &run, 0));
	for (int64_t i = 0; i < 150; i++)
		for (int64_t j = 0; j < 150; j++)
			assert_close(get(&c, at(&c, 0, i, j)), (i + j) % 3, 0);
	tn_mem_free(a.memory);
	tn_mem_free(b.memory);
	tn_mem_free(c.memory);
	return NULL;
}

/* They share OpenBLAS and its count of threads. */
static void two_instances_multiply_side_by_side(void **unused)
{
	(void)unused;
	struct fixture one = {0}, other = {0};
	pthread_t thread;
	fixture_open(&one, 2);
	fixture_open(&other, 2);
	assert_int_equal(pthread_create(&thread, NULL, multiply_many, &other), 0);
	multiply_many(&one);
	pthread_join(thread, NULL);
	fixture_close(&one);
	fixture_close(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bias_and_activation_follow_the_product),
		cmocka_unit_test(epilogues_that_are_not_done_are_refused),
		cmocka_unit_test(products_agree_with_plain_loops),
		cmocka_unit_test(without_the_library_its_name_is_said_and_products_are_right),
		cmocka_unit_test(a_library_without_the_names_is_not_used),
		cmocka_unit_test(bits_do_not_depend_on_the_number_of_threads),
		cmocka_unit_test(what_cannot_be_done_is_refused_before_the_output_changes),
		cmocka_unit_test(the_count_of_openblas_threads_is_put_back),
		cmocka_unit_test(two_instances_multiply_side_by_side),
		cmocka_unit_test(each_column_of_bytes_has_its_own_bias),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
