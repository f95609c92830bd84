/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Convolutions of a list of shapes through every pass, layouts, levels of the processor and
 * epilogues.  An algorithm's own test adds its shapes and tolerances.
 */
#ifndef TN_TESTS_CPU_CONV_WALK_H
#define TN_TESTS_CPU_CONV_WALK_H

#include "cpu_conv2d.h"

struct conv_walk {
	const char *convolution; /* its name in the option `conv` */
	const struct conv_shape *shapes;
	size_t n_shapes;
	size_t n_packed; /* the number of leading shapes with packed weights */
	void (*check)(struct fixture *f, const struct conv_case *c);
};

static inline double conv_work(const struct conv_shape *s)
{
	return (double)s->n * (double)s->o * (double)(s->c / s->groups) * (double)(s->r * s->s) *
	       (double)conv_windows(s, 0) * (double)conv_windows(s, 1);
}

/* A plain pass; and an accumulating one, or one with a full epilogue. */
static inline void conv_walk_case(const struct conv_walk *walk, struct fixture *f,
				  const struct conv_shape *shape, int pass, int layout)
{
	struct conv_case c = {.shape = shape, .pass = pass, .layout = layout};
	walk->check(f, &c);
	c.accumulate = pass != 0;
	c.has_bias = c.has_residual = pass == 0;
	if (pass == 0)
		c.activation = layout % 2 ? TN_ACTIVATION_RELU : TN_ACTIVATION_RELU6;
	walk->check(f, &c);
}

static inline void conv_walk_packed_case(const struct conv_walk *walk, struct fixture *f,
					 const struct conv_shape *shape)
{
	struct conv_case c = {.shape = shape, .layout = 1, .packed = 1};
	walk->check(f, &c);
}

/* The layout of images does not affect a level's kernels: the best level tests all layouts, the
 * others two. */
static inline void conv_walk_level(const struct conv_walk *walk, struct fixture *f, unsigned level)
{
	int layouts = level == 0 ? CONV_LAYOUTS : 2;
	for (size_t i = 0; i < walk->n_shapes; i++) {
		const struct conv_shape *shape = &walk->shapes[i];
		if (!fixture_takes(conv_work(shape)))
			continue;
		for (int pass = 0; pass < 3; pass++)
			for (int layout = 0; layout < layouts; layout++)
				conv_walk_case(walk, f, shape, pass, layout);
		if (i < walk->n_packed)
			conv_walk_packed_case(walk, f, shape);
	}
}

static inline void conv_walk(const struct conv_walk *walk)
{
	for (unsigned level = 0; conv_levels(level); level++) {
		struct fixture f = {.variant = conv_levels(level),
				    .convolution = walk->convolution};
		fixture_open(&f, 2);
		conv_walk_level(walk, &f, level);
		fixture_close(&f);
	}
}

/* One thread and three give the same bits in every pass. */
static inline void conv_walk_threads(const struct conv_shape *shape)
{
	for (int pass = 0; pass < 3; pass++) {
		struct conv_case c = {.shape = shape, .pass = pass, .layout = 1, .fractions = 1};
		float *one = conv_result(1, &c), *three = conv_result(3, &c);
		assert_memory_equal(one, three, conv_result_bytes(&c));
		tn_mem_free(one);
		tn_mem_free(three);
	}
}

#endif
