/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The CUDA backend beside NVIDIA's own calls on the same memory: copies, element programs and sums
 * beside cudaMemcpyAsync, products beside cuBLAS called directly, the own convolutions beside those
 * that the backend gives to cuDNN.  Times are the device's, by events; samples of both sides take
 * turns.  bench/README.md says what the lines mean.
 *
 *     TENON_BUILD=$PWD bench/cuda [--small] [--filter TEXT] [--samples N]
 *
 * --small: shapes for a simulated device.
 */
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <dlfcn.h>
#include <tenon/program.h>
#include <tenon/status.h>

#include "bench.h"

enum { WORKSPACE = 64 << 20, SMALL_WORKSPACE = 1 << 20 };

/* NVIDIA's libraries, opened as the backend opens them. */
static struct {
	__typeof__(cudaStreamCreate) *stream_create;
	__typeof__(cudaEventCreate) *event_create;
	__typeof__(cudaEventRecord) *event_record;
	__typeof__(cudaEventSynchronize) *event_synchronize;
	__typeof__(cudaEventElapsedTime) *event_elapsed;
	__typeof__(cudaMemcpyAsync) *copy;
	__typeof__(cublasCreate_v2) *blas_create;
	__typeof__(cublasSetStream_v2) *blas_stream;
	__typeof__(cublasSetWorkspace_v2) *blas_workspace;
	__typeof__(cublasGemmEx) *gemm;
} nvidia;

static const struct {
	const char *library, *name;
	void **to;
} names[] = {
	{"libcudart.so.13", "cudaStreamCreate", (void **)&nvidia.stream_create},
	{"libcudart.so.13", "cudaEventCreate", (void **)&nvidia.event_create},
	{"libcudart.so.13", "cudaEventRecord", (void **)&nvidia.event_record},
	{"libcudart.so.13", "cudaEventSynchronize", (void **)&nvidia.event_synchronize},
	{"libcudart.so.13", "cudaEventElapsedTime", (void **)&nvidia.event_elapsed},
	{"libcudart.so.13", "cudaMemcpyAsync", (void **)&nvidia.copy},
	{"libcublas.so.13", "cublasCreate_v2", (void **)&nvidia.blas_create},
	{"libcublas.so.13", "cublasSetStream_v2", (void **)&nvidia.blas_stream},
	{"libcublas.so.13", "cublasSetWorkspace_v2", (void **)&nvidia.blas_workspace},
	{"libcublas.so.13", "cublasGemmEx", (void **)&nvidia.gemm},
};

static struct bench_backend backend;
static const struct tn_stream_table *streams;
static const struct tn_copy_table *copies;
static struct tn_error_info error = {.struct_size = sizeof(error)};
static struct tn_workspace workspace = {.struct_size = sizeof(workspace)};
static void *begin, *end;              /* the backend's events */
static cudaEvent_t own_begin, own_end; /* of the direct calls */
static cudaStream_t own_stream;
static cublasHandle_t blas;
static struct bench_options options;
static int is_small;

#define CALL(type)                                                                                 \
	{                                                                                          \
		.struct_size = sizeof(type), .error = &error, .workspace = &workspace              \
	}

static void stop(const char *what)
{
	fprintf(stderr, "bench/cuda: %s: %s\n", what, error.text[0] ? error.text : "failed");
	exit(1);
}

static void need(tn_status status, const char *what)
{
	if (status)
		stop(what);
}

static void need_cuda(int code, const char *what)
{
	if (code) {
		snprintf(error.text, sizeof(error.text), "it answered %d", code);
		stop(what);
	}
}

/* ---- Both sides ------------------------------------------------------------------------------*/

/* One call of each; the argument is the case. */
struct pair {
	void (*tenon)(void *argument);
	void (*direct)(void *argument);
	void *argument;
	int is_second; /* `direct` is the second backend's, and timed there */
};

/* A second one on the same device, whose convolutions go through cuDNN.  Its stream has its own
 * workspace. */
static struct {
	struct bench_backend backend;
	struct tn_workspace workspace;
	const struct tn_nn_table *nn;
	const struct tn_report_table *report;
	void *begin, *end;
} second;

static void record(void *device, void *event)
{
	const struct tn_event_args args = {.call = CALL(struct tn_event_args), .event = event};
	need(streams->event_record(device, &args), "event_record");
}

static double time_backend(void *device, void *first, void *last, void (*run)(void *argument),
			   void *argument, int repeats)
{
	const struct tn_event_args until = {.call = CALL(struct tn_event_args), .event = last};
	const struct tn_elapsed_args args = {
		.call = CALL(struct tn_elapsed_args), .start = first, .end = last};
	double seconds = 0;
	record(device, first);
	for (int i = 0; i < repeats; i++)
		run(argument);
	record(device, last);
	need(streams->event_sync(device, &until), "event_sync");
	need(streams->event_elapsed(device, &args, &seconds), "event_elapsed");
	return seconds / repeats;
}

static double time_tenon(const struct pair *pair, int repeats)
{
	return time_backend(backend.device, begin, end, pair->tenon, pair->argument, repeats);
}

static double time_direct(const struct pair *pair, int repeats)
{
	float milliseconds = 0;
	if (pair->is_second)
		return time_backend(second.backend.device, second.begin, second.end, pair->direct,
				    pair->argument, repeats);
	need_cuda(nvidia.event_record(own_begin, own_stream), "cudaEventRecord");
	for (int i = 0; i < repeats; i++)
		pair->direct(pair->argument);
	need_cuda(nvidia.event_record(own_end, own_stream), "cudaEventRecord");
	need_cuda(nvidia.event_synchronize(own_end), "cudaEventSynchronize");
	need_cuda(nvidia.event_elapsed(&milliseconds, own_begin, own_end), "cudaEventElapsedTime");
	return (double)milliseconds / 1000 / repeats;
}

static int repeats_for(double once)
{
	double wanted = once > 0 ? 0.005 / once : 1000;
	return is_small || wanted < 1 ? 1 : wanted < 1000 ? (int)wanted + 1 : 1000;
}

/* `work` of the unit are done by one call of Tenon's, direct_work by one direct call. */
static void measure(const char *name, const char *unit, const struct pair *pair, double work,
		    double direct_work, const char *rival)
{
	struct bench_samples tenon = {.n = 0}, direct = {.n = 0};
	if (!bench_wanted(&options, name))
		return;
	(void)time_tenon(pair, 1); /* compiles */
	(void)time_direct(pair, 1);
	int tenon_repeats = repeats_for(time_tenon(pair, 1));
	int direct_repeats = repeats_for(time_direct(pair, 1));
	for (int i = 0; i < options.samples; i++) {
		tenon.seconds[tenon.n++] = time_tenon(pair, tenon_repeats);
		direct.seconds[direct.n++] = time_direct(pair, direct_repeats);
	}
	double a = bench_median(&tenon), b = bench_median(&direct);
	if (a > 0 && b > 0)
		bench_line(name, unit, work / a, direct_work / b, rival);
	else
		printf("# %s: too short for the device's clock\n", name);
}

static uint64_t buffer_of(uint64_t bytes)
{
	const struct tn_alloc_args args = {
		.call = CALL(struct tn_alloc_args), .size = bytes, .memory_kind = TN_MEMORY_DEVICE};
	const struct tn_scalar zero = {.dtype = TN_U8};
	struct tn_fill_args fill = {.call = CALL(struct tn_fill_args), .value = zero};
	uint64_t buffer = 0;
	need(backend.devices->alloc(backend.device, &args, &buffer), "alloc");
	fill.output = (struct tn_operand){.buffer = buffer,
					  .dtype = TN_U8,
					  .rank = 1,
					  .shape = {(int64_t)bytes},
					  .strides = {1}};
	need(copies->fill(backend.device, &fill), "fill");
	return buffer;
}

static void wait_for(const struct bench_backend *side)
{
	const struct tn_sync_args args = {.call = CALL(struct tn_sync_args)};
	need(side->devices->sync(side->device, &args), "sync");
}

/* It must not be used afterwards. */
static void free_buffer(uint64_t buffer)
{
	const struct tn_free_args args = {.call = CALL(struct tn_free_args), .buffer = buffer};
	wait_for(&backend);
	need(backend.devices->free(backend.device, &args), "free");
}

/* Random numbers in [-1, 1): with zeros a GPU draws less power, and runs faster. */
static void randomise(const struct tn_operand *array)
{
	static unsigned stream;
	char text[64];
	const struct tn_program_names names_of = {.struct_size = sizeof(names_of),
						  .n_outputs = 1,
						  .outputs = (const char *[]){"z"},
						  .output_dtypes = &array->dtype};
	tn_program *program = NULL;
	snprintf(text, sizeof(text), "z = uniform(1, %u, element(), -1, 1)", stream++);
	need(tn_program_parse(text, &names_of, &program, &error), text);
	const struct tn_map_args args = {
		.call = CALL(struct tn_map_args), .program = program, .outputs = array};
	need(backend.compute->map(backend.device, &args), "map");
	tn_program_destroy(program);
}

static void *pointer(uint64_t buffer)
{
	return (void *)(uintptr_t)buffer;
}

/* ---- What moves memory -----------------------------------------------------------------------*/

struct moving {
	struct tn_copy_args copy;
	struct tn_map_args map;
	struct tn_reduce_args reduce;
	struct tn_operand x, y, z, sum;
	size_t bytes; /* of one array */
};

static void run_copy(void *argument)
{
	struct moving *m = argument;
	need(copies->copy(backend.device, &m->copy), "copy");
}

static void run_map(void *argument)
{
	struct moving *m = argument;
	need(backend.compute->map(backend.device, &m->map), "map");
}

static void run_reduce(void *argument)
{
	struct moving *m = argument;
	need(backend.compute->reduce(backend.device, &m->reduce), "reduce");
}

static void run_memcpy(void *argument)
{
	const struct moving *m = argument;
	need_cuda(nvidia.copy(pointer(m->z.buffer), pointer(m->x.buffer), m->bytes,
			      cudaMemcpyDeviceToDevice, own_stream),
		  "cudaMemcpyAsync");
}

static tn_program *parse(const char *text, const char *const *inputs, uint32_t n_inputs,
			 uint32_t n_scalars)
{
	static const tn_dtype f32[4] = {TN_F32, TN_F32, TN_F32, TN_F32};
	const struct tn_program_names given = {.struct_size = sizeof(given),
					       .n_inputs = n_inputs,
					       .n_scalars = n_scalars,
					       .n_outputs = 1,
					       .inputs = inputs,
					       .input_dtypes = f32,
					       .scalars = (const char *[]){"a"},
					       .scalar_dtypes = f32,
					       .outputs = (const char *[]){"z"},
					       .output_dtypes = f32};
	tn_program *program = NULL;
	need(tn_program_parse(text, &given, &program, &error), text);
	return program;
}

static void measure_map(struct moving *m, const char *name, const char *text, uint32_t n_inputs)
{
	static const char *const inputs[] = {"x", "y"};
	const float a = 1.5f;
	struct tn_scalar scalar = {.dtype = TN_F32};
	tn_program *program = parse(text, inputs, n_inputs, 1);
	memcpy(&scalar.bits, &a, sizeof(a));
	m->map = (struct tn_map_args){.call = CALL(struct tn_map_args),
				      .program = program,
				      .inputs = &m->x,
				      .outputs = &m->z,
				      .scalars = &scalar};
	measure(name, "GB/s", &(struct pair){run_map, run_memcpy, m, 0},
		1e-9 * (n_inputs + 1) * (double)m->bytes, 2e-9 * (double)m->bytes, "cudaMemcpy");
	tn_program_destroy(program);
}

static void measure_sum(struct moving *m)
{
	static const char *const inputs[] = {"x"};
	tn_program *program = parse("z = x", inputs, 1, 0);
	m->sum = (struct tn_operand){.buffer = m->z.buffer, .dtype = TN_F32};
	m->reduce = (struct tn_reduce_args){.call = CALL(struct tn_reduce_args),
					    .prologue = program,
					    .inputs = &m->x,
					    .outputs = &m->sum,
					    .n_reduced = 1,
					    .n_values = 1,
					    .combiners = {TN_REDUCE_SUM}};
	measure("sum of all", "GB/s", &(struct pair){run_reduce, run_memcpy, m, 0},
		1e-9 * (double)m->bytes, 2e-9 * (double)m->bytes, "cudaMemcpy");
	tn_program_destroy(program);
}

static void measure_moving(void)
{
	static struct moving m; /* x and y are one array of two */
	const int64_t n = is_small ? 1 << 14 : 1 << 28;
	m.bytes = (size_t)n * sizeof(float);
	m.x = (struct tn_operand){.buffer = buffer_of(m.bytes),
				  .dtype = TN_F32,
				  .rank = 1,
				  .shape = {n},
				  .strides = {1}};
	m.y = m.z = m.x;
	m.y.buffer = buffer_of(m.bytes);
	m.z.buffer = buffer_of(m.bytes);
	randomise(&m.x);
	randomise(&m.y);
	m.copy = (struct tn_copy_args){
		.call = CALL(struct tn_copy_args), .input = m.x, .output = m.z};
	measure("copy", "GB/s", &(struct pair){run_copy, run_memcpy, &m, 0}, 2e-9 * (double)m.bytes,
		2e-9 * (double)m.bytes, "cudaMemcpy");
	measure_map(&m, "map z = a*x", "z = a*x", 1);
	measure_map(&m, "map z = a*x + y", "z = a*x + y", 2);
	measure_map(&m, "map z = tanh(a*x + y)*y", "z = tanh(a*x + y)*y", 2);
	measure_sum(&m);
	free_buffer(m.x.buffer);
	free_buffer(m.y.buffer);
	free_buffer(m.z.buffer);
}

/* ---- Products --------------------------------------------------------------------------------*/

struct product {
	struct tn_matmul_args args;
	cudaDataType type;
	int m, n, k;
};

static void run_matmul(void *argument)
{
	struct product *p = argument;
	need(backend.compute->matmul(backend.device, &p->args), "matmul");
}

/* Row-major C = A B is column-major C^T = B^T A^T. */
static void run_gemm(void *argument)
{
	const struct product *p = argument;
	static const float alpha = 1, beta = 0;
	need_cuda(nvidia.gemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, p->n, p->m, p->k, &alpha,
			      pointer(p->args.b.buffer), p->type, p->n, pointer(p->args.a.buffer),
			      p->type, p->k, &beta, pointer(p->args.c.buffer), p->type, p->n,
			      CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
		  "cublasGemmEx");
}

static struct tn_operand matrix(tn_dtype dtype, int rows, int columns)
{
	return (struct tn_operand){
		.buffer = buffer_of((uint64_t)rows * (uint64_t)columns * tn_dtype_size(dtype)),
		.dtype = dtype,
		.rank = 2,
		.shape = {rows, columns},
		.strides = {columns, 1}};
}

static void measure_product(tn_dtype dtype, int m, int n, int k)
{
	static struct product p;
	char name[64];
	p = (struct product){.args = {.call = CALL(struct tn_matmul_args), .alpha = 1},
			     .type = dtype == TN_F32   ? CUDA_R_32F
				     : dtype == TN_F16 ? CUDA_R_16F
						       : CUDA_R_16BF,
			     .m = m,
			     .n = n,
			     .k = k};
	p.args.a = matrix(dtype, m, k);
	p.args.b = matrix(dtype, k, n);
	p.args.c = matrix(dtype, m, n);
	randomise(&p.args.a);
	randomise(&p.args.b);
	double work = 2e-9 * m * (double)n * k;
	snprintf(name, sizeof(name), "matmul %s %dx%dx%d", tn_dtype_name(dtype), m, n, k);
	measure(name, "GFLOP/s", &(struct pair){run_matmul, run_gemm, &p, 0}, work, work, "cuBLAS");
	free_buffer(p.args.a.buffer);
	free_buffer(p.args.b.buffer);
	free_buffer(p.args.c.buffer);
}

static void measure_products(void)
{
	static const tn_dtype dtypes[] = {TN_F32, TN_F16, TN_BF16};
	static const int sizes[][3] = {{128, 256, 784}, {1024, 1024, 1024}, {8192, 8192, 8192}};
	for (int d = 0; d < 3; d++)
		for (int s = 0; s < 3; s++) {
			const int *size = sizes[s];
			if (is_small)
				measure_product(dtypes[d], 16 << s, 24, 40);
			else
				measure_product(dtypes[d], size[0], size[1], size[2]);
		}
}

/* ---- Convolutions ----------------------------------------------------------------------------*/

typedef tn_status (*convolution)(void *device, const struct tn_conv2d_args *args);

struct convolving {
	struct tn_conv2d_args args;
	convolution own, through_cudnn;
};

static void run_own(void *argument)
{
	struct convolving *c = argument;
	need(c->own(backend.device, &c->args), "conv2d");
}

static void run_cudnn(void *argument)
{
	const struct convolving *c = argument;
	struct tn_conv2d_args args = c->args;
	args.call.workspace = &second.workspace;
	need(c->through_cudnn(second.backend.device, &args), "conv2d through cuDNN");
}

/* What the device says of cuDNN: the version and how many calls went through it,
 * or why none did. */
static const char *cudnn_line(void)
{
	static struct tn_report_line line;
	for (uint32_t i = 0; i < TN_REPORT_MOST_LINES; i++) {
		line = (struct tn_report_line){.struct_size = sizeof(line)};
		if (second.report->line(second.backend.device, i, &line))
			break;
		if (!strcmp(line.key, "library.cudnn"))
			return line.text;
	}
	return "not known";
}

static struct tn_operand picture(tn_dtype dtype, int is_last, int64_t n, int64_t c, int64_t h,
				 int64_t w)
{
	struct tn_operand operand = {
		.buffer = buffer_of((uint64_t)(n * c * h * w) * tn_dtype_size(dtype)),
		.dtype = dtype,
		.rank = 4,
		.shape = {n, c, h, w},
		.strides = {c * h * w, h * w, w, 1}};
	if (is_last)
		memcpy(operand.strides, (int64_t[]){c * h * w, 1, w * c, c}, 4 * sizeof(int64_t));
	return operand;
}

static void measure_pass(const char *pass, convolution own, convolution through_cudnn,
			 struct convolving *c)
{
	const int64_t *x = c->args.x.shape, *w = c->args.w.shape;
	const double work =
		2e-9 * (double)(x[0] * x[2] * x[3]) * (double)(w[0] * w[1]) * (double)(w[2] * w[3]);
	char name[96], before[216];
	snprintf(name, sizeof(name), "conv2d %s %s %lldx%lldx%lld %lldx%lld->%lld", pass,
		 tn_dtype_name(c->args.x.dtype), (long long)x[0], (long long)x[1], (long long)x[2],
		 (long long)w[2], (long long)w[3], (long long)w[0]);
	if (!bench_wanted(&options, name))
		return;
	c->own = own;
	c->through_cudnn = through_cudnn;
	snprintf(before, sizeof(before), "%s", cudnn_line());
	wait_for(&backend); /* the operands are there */
	run_cudnn(c);
	wait_for(&second.backend);
	if (!strcmp(before, cudnn_line()))
		printf("# %s: cuDNN does not do it (%s)\n", name, before);
	else
		measure(name, "GFLOP/s", &(struct pair){run_own, run_cudnn, c, 1}, work, work,
			"cuDNN");
}

/* Pictures of `size` pixels a side, whose size stays; f32 by channel,
 * f16 with the channels last. */
static void measure_convolution(tn_dtype dtype, int64_t n, int64_t channels, int64_t size,
				int64_t outputs, int64_t window)
{
	const struct tn_nn_table *nn = backend.descriptor->query(backend.instance, TN_TABLE_NN);
	const int is_last = dtype == TN_F16;
	const int64_t pad = window / 2;
	static struct convolving c;
	c = (struct convolving){.args = {.call = CALL(struct tn_conv2d_args),
					 .groups = 1,
					 .stride = {1, 1},
					 .dilation = {1, 1},
					 .padding = {pad, pad, pad, pad}}};
	c.args.x = picture(dtype, is_last, n, channels, size, size);
	c.args.w = picture(dtype, is_last, outputs, channels, window, window);
	c.args.y = picture(dtype, is_last, n, outputs, size, size);
	randomise(&c.args.x);
	randomise(&c.args.w);
	randomise(&c.args.y);
	measure_pass("forward", nn->conv2d_forward, second.nn->conv2d_forward, &c);
	measure_pass("input gradient", nn->conv2d_input_gradient, second.nn->conv2d_input_gradient,
		     &c);
	measure_pass("weight gradient", nn->conv2d_weight_gradient,
		     second.nn->conv2d_weight_gradient, &c);
	free_buffer(c.args.x.buffer);
	free_buffer(c.args.w.buffer);
	free_buffer(c.args.y.buffer);
}

static int open_second(void)
{
	const struct tn_event_args args = {.call = CALL(struct tn_event_args)};
	(void)setenv("TENON_CUDA_CUDNN", "on", 1);
	if (!bench_open(&second.backend, "cuda", 1) || !second.backend.device)
		return 0;
	second.nn = second.backend.descriptor->query(second.backend.instance, TN_TABLE_NN);
	second.report = second.backend.descriptor->query(second.backend.instance, TN_TABLE_REPORT);
	need(streams->event_create(second.backend.device, &args, &second.begin), "event_create");
	need(streams->event_create(second.backend.device, &args, &second.end), "event_create");
	second.workspace = workspace;
	second.workspace.buffer = buffer_of(workspace.size);
	return 1;
}

static void measure_convolutions(void)
{
	static const tn_dtype dtypes[] = {TN_F32, TN_F16};
	if (!open_second())
		return;
	for (int d = 0; d < 2; d++) {
		if (is_small) {
			measure_convolution(dtypes[d], 2, 8, 8, 8, 3);
			continue;
		}
		measure_convolution(dtypes[d], 64, 64, 56, 64, 3);
		measure_convolution(dtypes[d], 64, 256, 14, 256, 3);
		measure_convolution(dtypes[d], 64, 256, 56, 64, 1);
	}
	printf("# library.cudnn: %s\n", cudnn_line());
	bench_close(&second.backend);
}

/* ---- Opening ---------------------------------------------------------------------------------*/

static int open_nvidia(void)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		void *library = dlopen(names[i].library, RTLD_NOW | RTLD_LOCAL);
		*names[i].to = library ? dlsym(library, names[i].name) : NULL;
		if (!*names[i].to) {
			printf("# %s of %s is not to be had\n", names[i].name, names[i].library);
			return 0;
		}
	}
	return 1;
}

static void open_sides(void)
{
	const struct tn_event_args args = {.call = CALL(struct tn_event_args)};
	streams = backend.descriptor->query(backend.instance, TN_TABLE_STREAM);
	copies = backend.descriptor->query(backend.instance, TN_TABLE_COPY);
	if (!streams || !copies)
		stop("no streams or no copies");
	need(streams->event_create(backend.device, &args, &begin), "event_create");
	need(streams->event_create(backend.device, &args, &end), "event_create");
	need_cuda(nvidia.stream_create(&own_stream), "cudaStreamCreate");
	need_cuda(nvidia.event_create(&own_begin), "cudaEventCreate");
	need_cuda(nvidia.event_create(&own_end), "cudaEventCreate");
	uint64_t size = is_small ? SMALL_WORKSPACE : WORKSPACE, other = buffer_of(size);
	workspace.buffer = buffer_of(size);
	workspace.size = size;
	need_cuda(nvidia.blas_create(&blas), "cublasCreate");
	need_cuda(nvidia.blas_stream(blas, own_stream), "cublasSetStream");
	need_cuda(nvidia.blas_workspace(blas, pointer(other), size), "cublasSetWorkspace");
}

int main(int argc, char **argv)
{
	int kept = 1;
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--small"))
			is_small = 1;
		else
			argv[kept++] = argv[i];
	options = bench_parse(kept, argv);
	if (!open_nvidia())
		return 77;
	(void)setenv("TENON_CUDA_CUDNN", "off", 1);
	if (!bench_open(&backend, "cuda", 1) || !backend.device) {
		printf("# there is no CUDA device, or no plugin (TENON_BUILD)\n");
		return 77;
	}
	open_sides();
	measure_moving();
	measure_products();
	measure_convolutions();
	bench_close(&backend);
	return 0;
}
