/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Element programs of the CPU backend on 10 million elements beside a plain copy of the same number
 * of bytes, on the same threads.  Usage: bench/fused [THREADS]; prints GB/s (bytes read and
 * written) of the best samples and the ratio program / copy by best and by median.
 */
#include <tenon/program.h>

#include "bench.h"

#define N 10000000u
#define MOST 8

struct sample {
	const char *what, *text;
	const char *inputs[MOST], *scalars[16], *outputs[4];
};

static const struct sample samples[] = {
	{"y = x", "z = x + 0*s", {"x"}, {"s"}, {"z"}},
	{"relu", "z = max(x, 0)", {"x"}, {NULL}, {"z"}},
	{"z = a*x + y", "z = a*x + y", {"x", "y"}, {"a"}, {"z"}},
	{"y = a*x + y", "y = a*x + y", {"x", "y"}, {"a"}, {"y"}},
	{"exp", "z = exp(x)", {"x"}, {NULL}, {"z"}},
	{"tanh", "z = tanh(x)", {"x"}, {NULL}, {"z"}},
	{"gelu", "z = 0.5*x*(1 + erf(x*0.70710678))", {"x"}, {NULL}, {"z"}},
	{"SGD",
	 "m = momentum*m + g + decay*p; p = p - rate*m",
	 {"p", "m", "g"},
	 {"rate", "momentum", "decay"},
	 {"p", "m"}},
	{"AdamW",
	 "m = beta1*m + (1 - beta1)*g; v = beta2*v + (1 - beta2)*g*g;"
	 "p = p - rate*decay*p - rate*(m*correct1)/(sqrt(v*correct2) + epsilon)",
	 {"p", "m", "v", "g"},
	 {"rate", "beta1", "beta2", "decay", "correct1", "correct2", "epsilon"},
	 {"p", "m", "v"}},
};

struct job {
	struct bench_backend *backend;
	struct tn_map_args args;
	struct tn_operand inputs[MOST], outputs[4];
	struct tn_scalar scalars[16];
	const char *copy_from;
	char *copy_to;
	size_t copy_bytes;
};

static void run_program(void *argument)
{
	struct job *job = argument;
	if (job->backend->compute->map(job->backend->device, &job->args) != TN_OK)
		fprintf(stderr, "map failed: %s\n", job->args.call.error->text);
}

static void copy_part(void *argument, uint64_t begin, uint64_t end)
{
	const struct job *job = argument;
	memcpy(job->copy_to + begin, job->copy_from + begin, end - begin);
}

/* memcpy of the copy's half, which is as many bytes read and written; each thread one part. */
static void run_copy(void *argument)
{
	struct job *job = argument;
	unsigned threads = tn_threads_count(job->backend->threads);
	tn_parallel_for(job->backend->threads, job->copy_bytes,
			(job->copy_bytes / threads + 4096) & ~(uint64_t)63, copy_part, job);
}

static uint32_t count(const char *const *names, uint32_t most)
{
	uint32_t n = 0;
	while (n < most && names[n])
		n++;
	return n;
}

static struct tn_operand vector(float *data)
{
	return (struct tn_operand){.buffer = (uint64_t)(uintptr_t)data,
				   .dtype = TN_F32,
				   .rank = 1,
				   .shape = {N},
				   .strides = {1}};
}

static tn_program *parse(const struct sample *sample)
{
	static const tn_dtype f32[16] = {TN_F32, TN_F32, TN_F32, TN_F32, TN_F32, TN_F32,
					 TN_F32, TN_F32, TN_F32, TN_F32, TN_F32, TN_F32,
					 TN_F32, TN_F32, TN_F32, TN_F32};
	struct tn_error_info error = {.struct_size = sizeof(error)};
	struct tn_program_names names = {.struct_size = sizeof(names),
					 .n_inputs = count(sample->inputs, MOST),
					 .n_scalars = count(sample->scalars, 16),
					 .n_outputs = count(sample->outputs, 4),
					 .inputs = sample->inputs,
					 .input_dtypes = f32,
					 .scalars = sample->scalars,
					 .scalar_dtypes = f32,
					 .outputs = sample->outputs};
	tn_program *program = NULL;
	if (tn_program_parse(sample->text, &names, &program, &error) != TN_OK) {
		fprintf(stderr, "%s: %s\n", sample->what, error.text);
		exit(1);
	}
	return program;
}

/* The memory of an output that has an input's name is the input's. */
static void bind(struct job *job, const struct sample *sample, float *const *arrays)
{
	uint32_t n_arrays = 0;
	for (uint32_t i = 0; i < MOST && sample->inputs[i]; i++)
		job->inputs[i] = vector(arrays[n_arrays++]);
	for (uint32_t j = 0; j < 4 && sample->outputs[j]; j++) {
		job->outputs[j] = vector(arrays[MOST - 1]);
		for (uint32_t i = 0; i < MOST && sample->inputs[i]; i++) {
			if (!strcmp(sample->inputs[i], sample->outputs[j]))
				job->outputs[j] = job->inputs[i];
		}
	}
	for (uint32_t k = 0; k < 16; k++) {
		float value = 0.001f * (float)(k + 1);
		job->scalars[k] = (struct tn_scalar){.dtype = TN_F32};
		memcpy(&job->scalars[k].bits, &value, sizeof(value));
	}
}

static void measure(struct bench_backend *backend, const struct sample *sample,
		    float *const *arrays)
{
	struct tn_error_info error = {.struct_size = sizeof(error)};
	static struct job job;
	tn_program *program = parse(sample);
	uint32_t passes = count(sample->inputs, MOST) + count(sample->outputs, 4);
	job.backend = backend;
	job.args = (struct tn_map_args){.call = {.struct_size = sizeof(job.args), .error = &error},
					.program = program,
					.inputs = job.inputs,
					.outputs = job.outputs,
					.scalars = job.scalars};
	bind(&job, sample, arrays);
	job.copy_from = (const char *)arrays[MOST];
	job.copy_to = (char *)arrays[MOST + 1];
	job.copy_bytes = (size_t)passes * N * sizeof(float) / 2;
	struct bench_side sides[2] = {{.run = run_program, .argument = &job},
				      {.run = run_copy, .argument = &job}};
	bench_interleave(sides, 2);
	double own = bench_best(&sides[0].samples), peer = bench_best(&sides[1].samples);
	double bytes = (double)passes * N * sizeof(float);
	printf("%-12s %5.1f  %5.1f   %5.2f  %5.2f\n", sample->what, bytes / own / 1e9,
	       bytes / peer / 1e9, peer / own,
	       bench_median(&sides[1].samples) / bench_median(&sides[0].samples));
	tn_program_destroy(program);
}

int main(int argc, char **argv)
{
	static struct bench_backend backend;
	float *arrays[MOST + 2];
	unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 2;
	if (!bench_open(&backend, "cpu", threads))
		return 77;
	for (int i = 0; i < MOST; i++)
		arrays[i] = bench_floats(N);
	arrays[MOST] = bench_floats(4 * (size_t)N);
	arrays[MOST + 1] = bench_floats(4 * (size_t)N);
	printf("%u threads, %u elements\n%-12s program copy    ratio of best, of medians (GB/s)\n",
	       threads, N, "");
	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++)
		measure(&backend, &samples[i], arrays);
	for (int i = 0; i < MOST + 2; i++)
		tn_mem_free(arrays[i]);
	bench_close(&backend);
	return 0;
}
