/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Optimizer steps over 11 million parameters beside plain copies of as many bytes, in turns.  An
 * AdamW step reads w, dw, m and v and writes w, m and v: 28 bytes a parameter; SGD with momentum
 * and Lion 20, plain SGD 12, Adam with AMSGrad 36; LAMB 48, in three passes.  The copies move half
 * of the bytes each way, in pieces for as many threads: by memcpy, and past the caches; the better
 * one is the rival.
 *
 *     tests/with-plugins bench/optimizer [--threads N] [--filter TEXT] [--samples N]
 */
#include <time.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <tenon/tenon.h>

#include "base/memory.h"
#include "base/threads.h"
#include "line.h"
#include "median.h"

#define PARAMETERS INT64_C(11000000)
#define PIECE (1 << 18)
#define MOST_BYTES 48 /* a parameter, of all rows */

struct bench {
	tn_context *context;
	tn_module *module;
	tn_optimizer *optimizer;
	struct tn_threads *threads;
	char *from, *to;
	size_t bytes; /* of a copy */
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void copy_piece(void *argument, uint64_t begin, uint64_t end)
{
	const struct bench *b = argument;
	memcpy(b->to + begin, b->from + begin, end - begin);
}

static void stream_piece(void *argument, uint64_t begin, uint64_t end)
{
#if defined(__SSE2__)
	const struct bench *b = argument;
	for (uint64_t i = begin; i < end; i += 16)
		_mm_stream_si128((__m128i *)(void *)(b->to + i),
				 _mm_load_si128((const __m128i *)(const void *)(b->from + i)));
	_mm_sfence();
#else
	copy_piece(argument, begin, end);
#endif
}

/* The seconds that each side takes, in turns. */
static tn_status take_turns(struct bench *b, double seconds[3])
{
	double t0 = now();
	tn_status status = tn_optimizer_step(b->optimizer);
	double t1 = now();
	tn_parallel_for(b->threads, b->bytes, PIECE, copy_piece, b);
	double t2 = now();
	tn_parallel_for(b->threads, b->bytes, PIECE, stream_piece, b);
	double t3 = now();
	seconds[0] = t1 - t0;
	seconds[1] = t2 - t1;
	seconds[2] = t3 - t2;
	return status;
}

/* A module of one parameter w, whose output is the sum of w: its gradient is 1 everywhere. */
static tn_array *forward(tn_module *module, void *state, const tn_array *x)
{
	(void)state;
	return tn_multiply(x, tn_sum(tn_module_own_parameter(module, "w"), TN_ALL_AXES, NULL, 0));
}

static int prepare(struct bench *b)
{
	static const struct tn_module_class class_ = {
		.struct_size = sizeof(class_), .name = "Weights", .forward = forward};
	struct tn_error_info error;
	if (tn_context_open(NULL, &b->context, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 0;
	}
	b->module = tn_module_custom(b->context, &class_, NULL);
	if (!b->module ||
	    tn_module_add_parameter(b->module, "w", 1, (int64_t[]){PARAMETERS}, 0.1, 0) ||
	    tn_module_build(b->module))
		return 0;
	tn_tape *tape = tn_tape_begin(b->context);
	tn_array *y = tn_module_forward(b->module, tn_ones(b->context, TN_F32, 0, NULL));
	int done = !tn_tape_backward(tape, y, NULL);
	tn_tape_end(tape);
	return done;
}

static int measure(struct bench *b, const struct bench_options *options, const char *name,
		   double bytes_each)
{
	double side[3][BENCH_MOST_SAMPLES], rate[3], best[3];
	double bytes = bytes_each * (double)PARAMETERS;
	b->bytes = (size_t)bytes / 32 * 16;
	if (!b->optimizer)
		return 0;
	for (int i = -1; i < options->samples; i++) { /* the first is to warm up */
		double seconds[3];
		if (take_turns(b, seconds))
			return 0;
		for (int k = 0; k < 3 && i >= 0; k++)
			side[k][i] = seconds[k];
	}
	for (int k = 0; k < 3; k++) {
		rate[k] = 1e-9 * bytes / bench_median_of(side[k], options->samples);
		best[k] = 1e-9 * bytes / side[k][0];
	}
	int rival = rate[2] > rate[1] ? 2 : 1;
	bench_line(name, "GB/s", rate[0], rate[rival], rival == 2 ? "streamed copy" : "memcpy");
	printf("# best: step %.4g, memcpy %.4g, streamed copy %.4g GB/s\n", best[0], best[1],
	       best[2]);
	tn_optimizer_destroy(b->optimizer);
	b->optimizer = NULL;
	return 1;
}

static tn_optimizer *adamw(tn_module *module)
{
	struct tn_adamw_options options = tn_adamw_defaults();
	options.weight_decay = 0.01;
	return tn_adamw(module, &options);
}

static tn_optimizer *momentum(tn_module *module)
{
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 1e-6;
	sgd.momentum = 0.9;
	sgd.weight_decay = 1e-4;
	return tn_sgd(module, &sgd);
}

static tn_optimizer *sgd(tn_module *module)
{
	struct tn_sgd_options options = tn_sgd_defaults();
	options.lr = 1e-6;
	return tn_sgd(module, &options);
}

static tn_optimizer *amsgrad(tn_module *module)
{
	struct tn_adam_options adam = tn_adam_defaults();
	adam.amsgrad = 1;
	return tn_adam(module, &adam);
}

static tn_optimizer *lion(tn_module *module)
{
	struct tn_lion_options options = tn_lion_defaults();
	options.weight_decay = 0.01;
	return tn_lion(module, &options);
}

static tn_optimizer *lamb(tn_module *module)
{
	struct tn_lamb_options options = tn_lamb_defaults();
	options.adapt_vectors = 1;
	return tn_lamb(module, &options);
}

static int run(struct bench *b, const struct bench_options *options)
{
	static const struct {
		const char *name;
		double bytes_each;
		tn_optimizer *(*make)(tn_module *module);
	} rows[] = {
		{"adamw 11M", 28, adamw}, {"momentum 11M", 20, momentum},
		{"sgd 11M", 12, sgd},     {"amsgrad 11M", 36, amsgrad},
		{"lion 11M", 20, lion},   {"lamb 11M", MOST_BYTES, lamb},
	};
	int done = 1;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && done; i++) {
		if (!bench_wanted(options, rows[i].name))
			continue;
		b->optimizer = rows[i].make(b->module);
		done = measure(b, options, rows[i].name, rows[i].bytes_each);
	}
	return done;
}

static char *bytes_for_copy(void)
{
	char *bytes = tn_mem_aligned(MOST_BYTES / 2 * PARAMETERS, 4096);
	if (bytes)
		memset(bytes, 1, MOST_BYTES / 2 * PARAMETERS);
	return bytes;
}

int main(int argc, char **argv)
{
	struct bench_options options = bench_parse(argc, argv);
	char threads[16];
	snprintf(threads, sizeof(threads), "%d", options.threads);
	setenv("TENON_THREADS", threads, 1);
	struct bench b = {.threads = tn_threads_create((unsigned)options.threads),
			  .from = bytes_for_copy(),
			  .to = bytes_for_copy()};
	int done = b.threads && b.from && b.to && prepare(&b) && run(&b, &options);
	if (!done && b.context && tn_error(b.context))
		fprintf(stderr, "%s: %s\n", tn_error(b.context)->operation,
			tn_error(b.context)->text);
	tn_optimizer_destroy(b.optimizer);
	tn_module_destroy(b.module);
	tn_context_close(b.context);
	tn_mem_free(b.from);
	tn_mem_free(b.to);
	tn_threads_destroy(b.threads);
	return !done;
}
