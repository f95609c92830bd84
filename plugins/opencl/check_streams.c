/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A program of check.sh: streams and events of an OpenCL device.  A side stream works for long on
 * an array, and meanwhile the ordinary one frees the array, uses its memory again, and waits for
 * the result.  Work that was not ordered gives wrong elements.
 */
#include <stdio.h>
#include <tenon/tenon.h>

enum { N = 1 << 21, ROUNDS = 4, LONG = 8 };

/* 0, with a message: the array's first or last element is another number. */
static int is_all(const tn_array *array, double value, const char *what)
{
	double first = 0, last = 0;
	if (tn_item(tn_slice(array, 0, 0, 1, 1), &first) ||
	    tn_item(tn_slice(array, 0, N - 1, N, 1), &last))
		return 0;
	if (first == value && last == value)
		return 1;
	fprintf(stderr, "check_streams: %s: expected %g, found %g and %g\n", what, value, first,
		last);
	return 0;
}

/* x, after work that takes a while. */
static tn_array *slowly(tn_array *x)
{
	static const char *const names[] = {"x"};
	for (int i = 0; i < LONG; i++)
		x = tn_map("y = x + 0*sin(exp(sin(x)))", 1, names, (const tn_array *[]){x}, 0, NULL,
			   NULL);
	return x;
}

static int run_round(tn_context *ctx, tn_stream *side, tn_event *ready, tn_event *done, int i)
{
	tn_device *device = tn_device_current(ctx);
	const int64_t shape[] = {N};
	tn_array *x = tn_full(ctx, TN_F32, 1, shape, i);
	tn_event_record(ready);
	tn_stream_push(side);
	tn_event_wait(ready);
	tn_array *y = tn_add(slowly(x), x);
	tn_event_record(done);
	tn_stream_pop(device);
	tn_array_destroy(x);
	tn_array *again = tn_full(ctx, TN_F32, 1, shape, -1);
	tn_event_wait(done);
	int right = is_all(tn_add(y, again), 2 * i - 1, "the sum of both streams");
	return is_all(again, -1, "memory that was used again") && right;
}

int main(void)
{
	tn_context *ctx;
	struct tn_error_info error;
	double seconds = -1;
	int reached = 0, right = 1;
	if (tn_context_open(NULL, &ctx, &error)) {
		fprintf(stderr, "check_streams: %s\n", error.text);
		return 1;
	}
	tn_device *device = tn_device_current(ctx);
	tn_stream *side = tn_stream_create(device);
	tn_event *ready = tn_event_create(device), *done = tn_event_create(device);
	for (int i = 0; i < ROUNDS && right; i++) {
		tn_scope_begin(ctx);
		right = run_round(ctx, side, ready, done, i);
		tn_scope_end(ctx, NULL);
	}
	tn_event_synchronize(done);
	tn_event_query(done, &reached);
	tn_event_elapsed(ready, done, &seconds);
	if (right && (!reached || seconds <= 0)) {
		fprintf(stderr, "check_streams: reached %d, %g seconds\n", reached, seconds);
		right = 0;
	}
	if (tn_error(ctx)) {
		fprintf(stderr, "check_streams: %s: %s\n", tn_error(ctx)->operation,
			tn_error_text(ctx));
		right = 0;
	}
	tn_context_close(ctx);
	return !right;
}
