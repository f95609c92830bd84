/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The gradient of a formula on whatever backend there is; `make installcheck` builds it against the
 * installed library and compares what it prints.
 */
#include <stdio.h>
#include <tenon/tenon.h>

int main(void)
{
	tn_context *ctx;
	struct tn_error_info error;
	if (tn_context_open(NULL, &ctx, &error)) {
		fprintf(stderr, "%s: %s\n", error.operation, error.text);
		return 1;
	}

	/* y = sum of 1 / (1 + x^2), and its gradient, on whatever backend was found. */
	float data[] = {0.5f, 1, 2};
	tn_array *x = tn_from_host(ctx, TN_F32, 1, (int64_t[]){3}, data);
	tn_tape *tape = tn_tape_begin(ctx);
	tn_tape_watch(tape, x);
	tn_array *z = tn_map("z = 1 / (1 + x*x)", 1, (const char *[]){"x"}, (const tn_array *[]){x},
			     0, NULL, NULL);
	tn_array *y = tn_sum(z, TN_ALL_AXES, NULL, 0);
	tn_tape_backward(tape, y, NULL);
	tn_array *dx = tn_tape_gradient(tape, x);
	tn_tape_end(tape);

	int failed = !dx || tn_to_host(dx, data, sizeof(data));
	if (failed)
		fprintf(stderr, "%s\n", tn_error_text(ctx));
	else
		printf("%.2f %.2f %.2f\n", data[0], data[1], data[2]);
	tn_context_close(ctx);
	return failed;
}
