/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Real faults, each in a child process, on the available CUDA device, a GPU or the simulated one:
 * kernels that write to forbidden addresses, exhausted memory, a process killed during its work.
 * The error must name the operation that failed, each later call must report the loss, the CPU must
 * take over, and the next process must find a working device.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tenon/tenon.h>
#include <unistd.h>

enum { LENGTH = 1024, SECONDS = 60 };

static int bad;

static void complain(const char *what, const char *text)
{
	printf("    %s%s%s\n", what, text[0] ? ": " : "", text);
	bad = 1;
}

static tn_context *open_context(void)
{
	struct tn_context_options options = tn_context_defaults();
	options.backend = "cuda";
	struct tn_error_info error = {.struct_size = sizeof(error)};
	tn_context *context = NULL;
	if (tn_context_open(&options, &context, &error))
		complain("no context", error.text);
	else if (strncmp(tn_device_name(tn_device_current(context)), "cuda", 4) != 0)
		complain("CUDA is not there", "");
	return context;
}

/* sum of (2 x + 1) over ones */
static int works(tn_context *context)
{
	const int64_t n = LENGTH;
	double sum = 0;
	(void)tn_scope_begin(context);
	tn_array *x = tn_ones(context, TN_F32, 1, &n);
	tn_array *y = tn_map("z = 2*x + 1", 1, (const char *[]){"x"}, (const tn_array *[]){x}, 0,
			     NULL, NULL);
	tn_status status = tn_item(tn_sum(y, TN_ALL_AXES, NULL, 0), &sum);
	tn_scope_end(context, NULL);
	return !status && sum == 3.0 * LENGTH;
}

static void go_on_on_the_cpu(tn_context *context)
{
	for (int i = 0; i < 2; i++) {
		if (works(context))
			complain("the device works on after its loss", "");
		else if (tn_error(context)->status != TN_DEVICE_LOST)
			complain("after the loss a call says", tn_error(context)->text);
		tn_error_clear(context);
	}
	for (size_t i = 0; i < tn_context_device_count(context); i++) {
		tn_device *device = tn_context_device(context, i);
		if (strncmp(tn_device_name(device), "cuda", 4) != 0) {
			if (tn_device_set_current(context, device) || !works(context))
				complain("the CPU does not take over",
					 tn_error(context) ? tn_error(context)->text : "");
			return;
		}
	}
	complain("there is no other device", "");
}

/* ---- The faults ------------------------------------------------------------------------------*/

/* Runs a kernel with that body on one array, and waits for it. */
static void run_kernel(const char *body)
{
	char text[512];
	const int64_t n = LENGTH;
	tn_context *context = open_context();
	snprintf(text, sizeof(text), "extern \"C\" __global__ void culprit(char *at)\n{ %s }",
		 body);
	const struct tn_kernel_source source = {
		.struct_size = sizeof(source), .format = "cuda-c", .text = text, .name = "culprit"};
	tn_array *x = tn_zeros(context, TN_F32, 1, &n);
	tn_kernel *kernel = tn_kernel_compile(context, &source);
	if (kernel &&
	    !tn_kernel_launch(kernel, (struct tn_kernel_grid){.blocks = {1}, .threads = {32}}, 1,
			      &(struct tn_kernel_argument){.array = x}))
		(void)tn_synchronize(context);
	const struct tn_error_info *error = tn_error(context);
	if (!error)
		complain("the fault was not seen", "");
	else if (error->status != TN_DEVICE_LOST ||
		 (!strstr(error->text, "culprit") && !strstr(error->operation, "culprit")))
		complain("the error does not name the kernel, or no loss", error->text);
	else
		printf("    %s: %s\n", error->operation, error->text);
	tn_error_clear(context);
	go_on_on_the_cpu(context);
	tn_kernel_destroy(kernel);
	tn_context_close(context);
}

static void illegal_address(void)
{
	run_kernel("*(volatile int *)(at + (1ll << 44)) = 1;");
}

static void misaligned_address(void)
{
	run_kernel("*(volatile int *)(at + 1) = 1;");
}

static void trap(void)
{
	run_kernel("asm volatile(\"trap;\");");
}

static void out_of_memory(void)
{
	const int64_t n = INT64_C(1) << 38; /* a TiB */
	tn_context *context = open_context();
	tn_array *x = tn_empty(context, TN_F32, 1, &n);
	const struct tn_error_info *error = tn_error(context);
	if (x || !error || error->status != TN_OUT_OF_MEMORY)
		complain("a TiB is not refused as it should be", error ? error->text : "");
	else
		printf("    %s: %s\n", error->operation, error->text);
	tn_error_clear(context);
	if (!works(context))
		complain("it does not go on", tn_error(context) ? tn_error(context)->text : "");
	tn_context_close(context);
}

static void killed(void)
{
	const int64_t shape[] = {512, 512};
	pid_t pid = fork();
	if (pid == 0) {
		tn_context *context = open_context();
		tn_array *x = tn_ones(context, TN_F32, 2, shape);
		(void)alarm(SECONDS);
		for (;;)
			tn_array_destroy(tn_matmul(x, x));
	}
	(void)usleep(700000);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	tn_context *context = open_context();
	if (!works(context))
		complain("the device is not well after another process was killed",
			 tn_error(context) ? tn_error(context)->text : "");
	tn_context_close(context);
}

static void no_device(void)
{
	struct tn_context_options options = tn_context_defaults();
	options.backend = "cuda!";
	struct tn_error_info error = {.struct_size = sizeof(error)};
	tn_context *context = NULL;
	(void)setenv("CUDA_VISIBLE_DEVICES", "", 1);
	tn_status status = tn_context_open(&options, &context, &error);
	if (status != TN_NO_DEVICE)
		complain("hidden devices are not absent by name", error.text);
	else
		printf("    %s\n", error.text);
	tn_context_close(context);
}

static const struct {
	const char *name;
	void (*run)(void);
} faults[] = {
	{"illegal address", illegal_address},
	{"misaligned address", misaligned_address},
	{"trap", trap},
	{"out of memory", out_of_memory},
	{"killed", killed},
	{"no device", no_device},
};

/* Runs it in its own process, then checks that the device works. */
static int run(size_t i)
{
	int status = 1;
	printf("%s\n", faults[i].name);
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		(void)alarm(SECONDS);
		faults[i].run();
		exit(bad);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 0;
	if (WIFSIGNALED(status))
		printf("    ended by signal %d\n", WTERMSIG(status));
	return status == 0;
}

int main(int argc, char **argv)
{
	int n_bad = 0, n = 0;
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		if (argc < 2 || strstr(faults[i].name, argv[1])) {
			n_bad += !run(i);
			n++;
		}
	printf("%d faults, %d went wrong\n", n, n_bad);
	return n == 0 || n_bad != 0;
}
