/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The networks that are measured: those of the gallery,
 * and those of core/models that are not in it yet.
 */
#ifndef TN_BENCH_NETWORKS_H
#define TN_BENCH_NETWORKS_H

#include <tenon/tenon.h>

/* A network, its input and classes, and how it is trained. */
struct network {
	const char *name;
	struct tn_model_shape shape;
	double momentum;
};
/* One of the five of bench/README.md, or one of the gallery in a form, "vgg11:small"; its name is
 * NULL if there is none, else borrows `name`. */
struct network network_find(const char *name);
tn_module *network_create(tn_context *context, const struct network *network);

/* Seconds; with BENCH_CLOCK=processor in the environment those in which a processor worked for this
 * program, which other programs hardly change. */
double network_clock(void);

/* The largest resident size of the program so far, in KiB. */
long network_peak_memory(void);

#endif
