/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Calls of every family on a thread of 64 KiB of stack, which is how much they may use, but for
 * eigenvalues of any square matrix, whose blocks LAPACK has on the stack.  The stack is painted
 * before: a call that needs more is named with what it needs.
 */
#include <pthread.h>
#include <sys/mman.h>
#include <tenon/tenon.h>
#include <unistd.h>

#include "check.h"
#include "sanitized.h"

enum { ALLOWED = 64 * 1024, ALLOWED_BY_LAPACK = 128 * 1024, STACK = 1024 * 1024, PAINT = 0xa5 };

struct operands {
	tn_context *context;
	const char *backend;
	const char *folder;
	tn_array *small, *x, *x64, *half, *whole, *labels, *indices, *images, *kernel;
	tn_array *matrix, *identity; /* c128 */
};

static int matmul_of(const tn_array *a)
{
	return !tn_matmul(a, a);
}

static int opening(struct operands *o)
{
	struct tn_context_options options = tn_context_defaults();
	tn_context *context = NULL;
	options.backend = o->backend;
	tn_status status = tn_context_open(&options, &context, NULL);
	tn_context_close(context);
	return (int)status;
}

static tn_array *mapped(const tn_array *a)
{
	return tn_map("z = exp(a) * sin(b) + tanh(a) / (1 + b * b)", 2, (const char *[]){"a", "b"},
		      (const tn_array *[]){a, a}, 0, NULL, NULL);
}

static int maps(struct operands *o)
{
	return !mapped(o->small) || !mapped(o->images) || !mapped(o->x64) ||
	       !tn_add(o->half, o->half) || !tn_astype(o->half, TN_F64);
}

/* A program of many values: more than a small map's, more registers than the first cache has. */
static int long_map(struct operands *o)
{
	char text[4096] = "";
	for (int i = 0; i < 60; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "v%d = a * %d + b\n", i,
			 i);
	snprintf(text + strlen(text), sizeof(text) - strlen(text), "z = v0");
	for (int i = 1; i < 60; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "+ v%d", i);
	const tn_array *large[] = {o->x, o->x}, *small[] = {o->small, o->small};
	const char *const names[] = {"a", "b"};
	return !tn_map(text, 2, names, large, 0, NULL, NULL) ||
	       !tn_map(text, 2, names, small, 0, NULL, NULL);
}

static int reductions(struct operands *o)
{
	static const int first[] = {0};
	return !tn_sum(o->x, TN_ALL_AXES, NULL, 0) || !tn_sum(o->half, 1, first, 0) ||
	       !tn_var(o->x, 1, first, 1, 0) || !tn_argmax(o->x, 0, 0) ||
	       !tn_logsumexp(o->x, 1, first, 0) || !tn_median(o->x, 1, first, 0);
}

static int products(struct operands *o)
{
	return matmul_of(o->x) || matmul_of(o->x64) || matmul_of(o->half) || matmul_of(o->whole);
}

static int convolution(struct operands *o)
{
	tn_tape *tape = tn_tape_begin(o->context);
	tn_tape_watch(tape, o->kernel);
	tn_tape_watch(tape, o->images);
	tn_array *loss = tn_sum(tn_conv2d(o->images, o->kernel, NULL, NULL), TN_ALL_AXES, NULL, 0);
	tn_status status = tn_tape_backward(tape, loss, NULL);
	tn_tape_end(tape);
	return (int)status;
}

static int layers(struct operands *o)
{
	struct tn_pool2d_options pool = tn_pool2d_defaults();
	pool.kernel[0] = pool.kernel[1] = pool.stride[0] = pool.stride[1] = 2;
	struct tn_batch_norm_options norm = tn_batch_norm_defaults();
	norm.training = 1;
	return !tn_max_pool2d(o->images, &pool) || !tn_avg_pool2d(o->images, &pool) ||
	       !tn_softmax(o->x, 1) || !tn_layer_norm(o->x, NULL, NULL, 1, 1e-5) ||
	       !tn_batch_norm(o->images, NULL, NULL, &norm) ||
	       !tn_cross_entropy(o->x, o->labels, NULL);
}

static int moves(struct operands *o)
{
	return !tn_take(o->x, o->indices, 0, TN_RAISE) || !tn_sort(o->x, 0, 0) ||
	       !tn_argsort(o->x, 1, 1) || !tn_cumsum(o->x, 1) || !tn_cumsum(o->x64, 0) ||
	       !tn_copy(tn_transpose(o->x, NULL)) ||
	       !tn_concatenate(2, (const tn_array *[]){o->x, o->x}, 1);
}

static int factorisations(struct operands *o)
{
	tn_array *one = NULL, *two = NULL, *three = NULL;
	return !tn_cholesky(o->identity, 0) || tn_qr(o->matrix, 0, &one, &two) ||
	       tn_lu(o->matrix, &one, &two, &three) || tn_eigh(o->matrix, 0, &one, &two) ||
	       tn_svd(o->matrix, 0, &one, &two, &three) || !tn_solve(o->matrix, o->identity) ||
	       !tn_solve_triangular(o->matrix, o->identity, 1, 0, 0);
}

static int eigenvalues(struct operands *o)
{
	tn_array *values = NULL, *vectors = NULL;
	return !tn_eigvals(o->matrix) || tn_eig(o->matrix, &values, &vectors);
}

static int random_numbers(struct operands *o)
{
	static const int64_t shape[] = {256, 256};
	return !tn_random_normal(o->context, 2, shape, 0, 1) ||
	       !tn_random_uniform(o->context, 2, shape, 0, 1);
}

static int texts(struct operands *o)
{
	char *text = tn_array_str(o->x, NULL);
	tn_string_free(text);
	return !text;
}

static int files(struct operands *o)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/a.npz", o->folder);
	const char *const names[] = {"x"};
	const tn_array *const arrays[] = {o->x};
	int failed =
		tn_savez(o->context, path, 1, names, arrays) || !tn_load_npz(o->context, path, "x");
	unlink(path);
	return failed;
}

static int training(struct operands *o)
{
	tn_module *net = tn_module_sequential(o->context);
	tn_module_add(net, "linear", tn_module_linear(o->context, 256, 256, NULL));
	tn_module_add(net, "norm", tn_module_batch_norm1d(o->context, 256, NULL));
	tn_status status = tn_module_build(net);
	tn_optimizer *adam = status ? NULL : tn_adamw(net, NULL);
	tn_tape *tape = tn_tape_begin(o->context);
	tn_array *loss = tn_cross_entropy(tn_module_forward(net, o->x), o->labels, NULL);
	status = tn_tape_backward(tape, loss, NULL);
	tn_tape_end(tape);
	if (!status)
		status = tn_clip_grad_norm(net, 1, NULL);
	if (!status)
		status = tn_optimizer_step(adam);
	char path[4096];
	snprintf(path, sizeof(path), "%s/net.safetensors", o->folder);
	if (!status)
		status = tn_module_save(net, path, 0, NULL);
	if (!status)
		status = tn_module_load(net, path, NULL);
	unlink(path);
	tn_optimizer_destroy(adam);
	tn_module_destroy(net);
	return (int)status;
}

static const struct family {
	const char *name;
	int (*run)(struct operands *o); /* not 0: it failed */
	size_t allowed;                 /* bytes */
} families[] = {
	{"opening a context", opening, ALLOWED},
	{"maps", maps, ALLOWED},
	{"a map of many values", long_map, ALLOWED},
	{"reductions", reductions, ALLOWED},
	{"products", products, ALLOWED},
	{"a convolution and its gradients", convolution, ALLOWED},
	{"layers", layers, ALLOWED},
	{"moves and orders", moves, ALLOWED},
	{"factorisations", factorisations, ALLOWED},
	{"eigenvalues", eigenvalues, ALLOWED_BY_LAPACK},
	{"random numbers", random_numbers, ALLOWED},
	{"texts", texts, ALLOWED},
	{"files", files, ALLOWED},
	{"a step of training", training, ALLOWED},
};

struct job {
	const struct family *family;
	struct operands *operands;
	int failed;
};

static void *work(void *argument)
{
	struct job *job = argument;
	job->failed = job->family->run(job->operands);
	if (!job->failed)
		job->failed = (int)tn_synchronize(job->operands->context);
	return NULL;
}

/* The bytes of stack that the family needs. */
static size_t run_painted(struct job *job)
{
	unsigned char *stack =
		mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attributes;
	pthread_t thread;
	size_t unused = 0;
	assert_true(stack != MAP_FAILED);
	memset(stack, PAINT, STACK);
	assert_int_equal(pthread_attr_init(&attributes), 0);
	assert_int_equal(pthread_attr_setstack(&attributes, stack, STACK), 0);
	assert_int_equal(pthread_create(&thread, &attributes, work, job), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	pthread_attr_destroy(&attributes);
	while (unused < STACK && stack[unused] == PAINT)
		unused++;
	munmap(stack, STACK);
	return STACK - unused;
}

static void make_operands(struct operands *o)
{
	static const int64_t few[] = {256}, square[] = {256, 256};
	static const int64_t images[] = {4, 16, 32, 32}, kernel[] = {32, 16, 3, 3};
	struct tn_context_options options = tn_context_defaults();
	options.backend = o->backend;
	assert_ok(tn_context_open(&options, &o->context, NULL));
	o->small = tn_ones(o->context, TN_F32, 1, few);
	o->x = tn_random_normal(o->context, 2, square, 0, 1);
	o->x64 = tn_astype(o->x, TN_F64);
	o->half = tn_astype(o->x, TN_F16);
	o->whole = tn_astype(o->x, TN_I32);
	o->labels = tn_zeros(o->context, TN_I32, 1, few);
	o->indices = tn_zeros(o->context, TN_I64, 1, few);
	o->images = tn_random_normal(o->context, 4, images, 0, 1);
	o->kernel = tn_random_normal(o->context, 4, kernel, 0, 1);
	assert_non_null(o->kernel);
	/* Above the sizes from which LAPACK works in blocks; the reference has none. */
	const int64_t n = o->backend[0] == 'c' ? 300 : 24, matrix[] = {n, n};
	o->matrix = tn_astype(tn_random_normal(o->context, 2, matrix, 0, 1), TN_C128);
	o->identity = tn_eye(o->context, TN_C128, n, n, 0);
	assert_non_null(o->matrix);
	assert_non_null(o->identity);
}

static void check_backend(const char *backend)
{
	char folder[] = "/tmp/small_stack.XXXXXX";
	struct operands o = {.backend = backend, .folder = folder};
	int n_wrong = 0;
	assert_non_null(mkdtemp(folder));
	make_operands(&o);
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		struct job job = {&families[i], &o, 0};
		assert_ok(tn_scope_begin(o.context));
		const size_t allowed = job.family->allowed;
		size_t bytes = run_painted(&job);
		if (job.failed || bytes > allowed)
			print_error("%s, %s: %zu bytes of stack, %s\n", backend, families[i].name,
				    bytes, tn_error_text(o.context));
		n_wrong += job.failed || bytes > allowed;
		tn_scope_end(o.context, NULL);
		tn_error_clear(o.context);
	}
	tn_context_close(o.context);
	rmdir(folder);
	assert_int_equal(n_wrong, 0);
}

static void the_reference_needs_64_kib_of_stack(void **state)
{
	(void)state;
	check_backend("reference!");
}

static void the_cpu_needs_64_kib_of_stack(void **state)
{
	(void)state;
	check_backend("cpu!");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_reference_needs_64_kib_of_stack),
		cmocka_unit_test(the_cpu_needs_64_kib_of_stack),
	};
	/* Its frames are larger. */
	if (SANITIZED)
		return TEST_SKIPPED;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
