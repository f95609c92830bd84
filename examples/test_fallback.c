/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * How an application tests what it does when its device is absent, full or lost: with the mock
 * backend, on any machine.  Its argument is backend_mock.so, which lies in the folder that
 * `pkg-config --variable=mockdir tenon-backend` names.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

/* ---- The application: a sum on the best device, and on the next one when that is lost ---- */

static tn_status sum_on(tn_context *ctx, int64_t n, float *sum)
{
	tn_array *x = tn_ones(ctx, TN_F32, 1, &n);
	tn_status status = tn_to_host(tn_sum(x, TN_ALL_AXES, NULL, 0), sum, sizeof(*sum));
	/* The first failure; an array that could not be made is NULL from there on. */
	return tn_error(ctx) ? tn_error(ctx)->status : status;
}

static tn_status compute(tn_context *ctx, int64_t n, float *sum)
{
	tn_status status = sum_on(ctx, n, sum);
	for (size_t i = 1; status == TN_DEVICE_LOST && i < tn_context_device_count(ctx); i++) {
		tn_error_clear(ctx);
		status = tn_device_set_current(ctx, tn_context_device(ctx, i));
		if (!status)
			status = sum_on(ctx, n, sum);
	}
	return status;
}

/* ---- Its test ---- */

static int failed, passed;

static void check(int holds, const char *what)
{
	if (!holds)
		fprintf(stderr, "FAILED: %s\n", what);
	failed += !holds;
	passed += holds;
}

/* Computes with a fault; the device that it ended on goes to `device`. */
static tn_status run_with(const char *file, const char *fault, int64_t n, float *sum,
			  char device[48])
{
	struct tn_context_options options = tn_context_defaults();
	options.backend = "mock";
	options.plugin_paths = &file;
	options.n_plugin_paths = 1;
	struct tn_error_info error;
	tn_context *ctx;
	setenv("TENON_MOCK", fault, 1);
	tn_status status = tn_context_open(&options, &ctx, &error);
	if (status)
		return status;
	status = compute(ctx, n, sum);
	snprintf(device, 48, "%s", tn_device_name(tn_device_current(ctx)));
	tn_context_close(ctx);
	return status;
}

int main(int argc, char **argv)
{
	char device[48] = "";
	float sum = 0;
	if (argc != 2) {
		fprintf(stderr, "usage: %s FOLDER/backend_mock.so\n", argv[0]);
		return 2;
	}
	check(!run_with(argv[1], "", 1000, &sum, device) && sum == 1000 &&
		      !strcmp(device, "mock:0"),
	      "with its device");
	check(!run_with(argv[1], "no-driver", 1000, &sum, device) && sum == 1000 &&
		      strcmp(device, "mock:0") != 0,
	      "without a driver it runs elsewhere");
	check(!run_with(argv[1], "lost:2", 1000, &sum, device) && sum == 1000 &&
		      strcmp(device, "mock:0") != 0,
	      "when its device is lost it goes on elsewhere");
	check(run_with(argv[1], "oom-after:1M", 1000000, &sum, device) == TN_OUT_OF_MEMORY,
	      "what does not fit is an error");
	printf("%d passed, %d failed\n", passed, failed);
	return failed != 0;
}
