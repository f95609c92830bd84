/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * oneDNN's convolutions, as rivals: each algorithm in each layout, weights and images brought to
 * the form that it likes before the time is taken.
 */
#ifndef TN_BENCH_ONEDNN_H
#define TN_BENCH_ONEDNN_H

#include <stdint.h>

enum { BENCH_FORWARD, BENCH_DGRAD, BENCH_WGRAD };

struct bench_conv {
	const char *name;
	int64_t n, c, h, w, o, r, s, groups, stride, padding;
};

static inline int64_t bench_windows(const struct bench_conv *c, int64_t length, int64_t window)
{
	return (length + 2 * c->padding - window) / c->stride + 1;
}

struct bench_onednn;

/* How many ways there are; some a shape may not have. */
#define BENCH_ONEDNN_WAYS 4
const char *bench_onednn_name(int way);

/* One convolution, one way; NULL: oneDNN does not do it.  Memory is made and filled. */
struct bench_onednn *bench_onednn_open(const struct bench_conv *conv, int pass, int way);
void bench_onednn_run(void *opened);
void bench_onednn_close(struct bench_onednn *opened); /* takes NULL */

#endif
