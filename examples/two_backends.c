/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Two backends in one program: a small network whose first layer runs on one of them and whose
 * second on the other, beside the whole network on each alone.
 *
 *     two_backends [NAME NAME]        opencl and cpu, if nothing is said
 *
 * Exit 0: the results agree; 1: they do not; 77: one of the two is not here.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tenon/tenon.h>

enum { ROWS = 33, INPUTS = 65, HIDDEN = 47, OUTPUTS = 10, SKIPPED = 77 };

/* Sums of 65 and of 47 products of numbers below 1, and tanh, whose slope is at most 1: some tens
 * of roundings of 6e-8 each. */
#define TOLERANCE 2e-5

static int failed(const tn_context *context)
{
	const struct tn_error_info *error = tn_error(context);
	fprintf(stderr, "%s: %s\n", error ? error->operation : "two_backends",
		error ? error->text : "failed");
	return 1;
}

/* The first device of a backend, or NULL. */
static tn_device *device_of(tn_context *context, const char *backend)
{
	size_t length = strlen(backend);
	for (size_t i = 0; i < tn_context_device_count(context); i++) {
		tn_device *device = tn_context_device(context, i);
		const char *name = tn_device_name(device);
		if (!strncmp(name, backend, length) && name[length] == ':')
			return device;
	}
	return NULL;
}

static int is_absent(const tn_context *context, const char *backend)
{
	const struct tn_load_row *row = tn_load_report_find(tn_context_report(context), backend);
	printf("%s is not here: %s\n", backend, row && row->text[0] ? row->text : "no such plugin");
	return SKIPPED;
}

/* tanh(x w), on the device where the arrays are. */
static tn_array *layer(const tn_array *x, const tn_array *w)
{
	const char *names[] = {"x"};
	const tn_array *product = tn_matmul(x, w);
	return tn_map("z = tanh(x)", 1, names, &product, 0, NULL, NULL);
}

struct network {
	tn_array *x, *first, *second;
};

/* Both layers: the first on one device, the second on the other. */
static tn_array *run(const struct network *n, tn_device *one, tn_device *other)
{
	tn_array *hidden = layer(tn_to(n->x, one), tn_to(n->first, one));
	return layer(tn_to(hidden, other), tn_to(n->second, other));
}

/* The numbers are the same wherever they are made. */
static struct network make(tn_context *context)
{
	struct network n;
	n.x = tn_random_uniform(context, 2, (int64_t[]){ROWS, INPUTS}, -1, 1);
	n.first = tn_random_uniform(context, 2, (int64_t[]){INPUTS, HIDDEN}, -0.2, 0.2);
	n.second = tn_random_uniform(context, 2, (int64_t[]){HIDDEN, OUTPUTS}, -0.2, 0.2);
	return n;
}

static float largest_difference(const float *a, const float *b)
{
	float largest = 0;
	for (int i = 0; i < ROWS * OUTPUTS; i++) {
		float difference = fabsf(a[i] - b[i]);
		/* A NaN is larger than all. */
		if (!(difference <= largest))
			largest = difference;
	}
	return largest;
}

/* Does an array come back as it was, from one device over the other? */
static int comes_back(const struct network *n, tn_device *one, tn_device *other)
{
	float before[ROWS * INPUTS], after[ROWS * INPUTS];
	tn_array *back = tn_to(tn_to(tn_to(n->x, one), other), one);
	if (tn_to_host(n->x, before, sizeof(before)) || tn_to_host(back, after, sizeof(after)))
		return -1;
	return !memcmp(before, after, sizeof(before));
}

static int compare(tn_context *context, tn_device *one, tn_device *other)
{
	tn_device *const ways[][2] = {{one, one}, {other, other}, {one, other}, {other, one}};
	float results[4][ROWS * OUTPUTS];
	struct network n = make(context);
	int back = comes_back(&n, one, other), wrong = back == 0;
	if (back < 0)
		return failed(context);
	if (wrong)
		printf("an array came back changed\n");
	for (int i = 0; i < 4; i++) {
		tn_array *y = run(&n, ways[i][0], ways[i][1]);
		if (!y || tn_to_host(y, results[i], sizeof(results[i])))
			return failed(context);
		float difference = largest_difference(results[0], results[i]);
		printf("%s, then %s: differs by %.1e\n", tn_device_name(ways[i][0]),
		       tn_device_name(ways[i][1]), (double)difference);
		if (!(difference <= TOLERANCE))
			wrong = 1;
	}
	return wrong;
}

int main(int count, char **arguments)
{
	const char *one = count == 3 ? arguments[1] : "opencl";
	const char *other = count == 3 ? arguments[2] : "cpu";
	char selection[128];
	struct tn_error_info error;
	tn_context *context;
	int status;
	snprintf(selection, sizeof(selection), "%.60s,%.60s", one, other);
	struct tn_context_options options = tn_context_defaults();
	options.backend = selection;
	if (tn_context_open(&options, &context, &error)) {
		fprintf(stderr, "%s: %s\n", error.operation, error.text);
		return 1;
	}
	tn_device *first = device_of(context, one), *second = device_of(context, other);
	if (!first || !second)
		status = is_absent(context, first ? other : one);
	else
		status = compare(context, first, second);
	tn_context_close(context);
	return status;
}
