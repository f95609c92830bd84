/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Sweeps: one slot with every axis at lengths round each power of two, up to a budget of bytes and
 * of work, which is larger in --mode=large.
 *
 * A backend takes other paths for longer rows, deeper products and more images, and nobody knows at
 * which lengths.  So a sweep takes, for each axis and each power of two, one length of 2^k - 1, 2^k
 * and 2^k + 1, drawn from the seed, with the other axes at their base and dtypes in rotation.  The
 * longest is always 2^k + 1, so that every run passes each limit below it.  There follow: each two
 * axes long at once (of many axes, each two neighbours); each axis long beside one whose base is 1;
 * and some cases with every length drawn.
 *
 * That is done within a total of work.  Each of two more kinds of cases has a total of its own:
 * each axis long in every dtype; and crowds, three axes and more that are long at once, chosen so
 * that the lengths of every three axes differ (sweep_crowds.c).
 *
 * Data and settings of a case depend on the seed, the dtype and the lengths alone, all of which its
 * name states.
 */
#ifndef TN_TOOLS_CONFORM_SWEEP_H
#define TN_TOOLS_CONFORM_SWEEP_H

#include "conform.h"

enum { SWEEP_AXES = 12 };

struct sweep_axis {
	const char *name; /* "k" */
	int64_t base;     /* its length while others are swept */
	int64_t most;     /* the greatest that is legal or sensible; 0: as the budget allows */
};

struct sweep {
	int slot; /* enum tn_slot */
	const char *name;
	uint32_t n_axes;
	struct sweep_axis axes[SWEEP_AXES];
	/* Is the slot tried in that dtype? */
	int (*claims)(const struct kit *kit, tn_dtype dtype);
	/* Bytes of the largest operand with those lengths; 0: there is no such call. */
	uint64_t (*bytes)(tn_dtype dtype, const int64_t *lengths);
	/* Multiply-adds of the call and of its comparison; elements that are moved and compared one
	 * by one count SWEEP_VISIT each. */
	double (*work)(const int64_t *lengths);
	/* Makes the call in a case of its own (sweep_case) and compares it. */
	void (*run)(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
		    const int64_t *lengths);
};

/* What an element costs that is made, moved and compared, in multiply-adds. */
#define SWEEP_VISIT 32.0

/* Runs the sweep; skips the check if the slot is empty. */
void sweep_axes(struct kit *kit, const struct sweep *sweep);

/* The same of one of several forms of a slot.  Their cases of three long axes and more complement
 * each other: `cover` is what these have covered so far.  Beside such axes the others have their
 * `least` length, or NULL: their base. */
struct sweep_cover;
struct sweep_cover *sweep_cover_new(struct kit *kit); /* freed by free() */
void sweep_form(struct kit *kit, const struct sweep *sweep, struct sweep_cover *cover,
		const int64_t *least);

/* Are three axes longer than their base?  There are so many of these cases that each makes one
 * call. */
int sweep_is_crowd(const struct sweep *sweep, const int64_t *lengths);

/* Begins a case: its name is the sweep's, with dtype, lengths and what is formatted. */
void sweep_case(struct kit *kit, const struct sweep *sweep, tn_dtype dtype, const int64_t *lengths,
		const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Setting number `which` of such a case, below n: a layout, a flag. */
unsigned sweep_draw(const struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
		    const int64_t *lengths, unsigned which, unsigned n);

/* The same, but in turns, by the dtype and the octaves of the lengths, from a drawn one on: so that
 * the long cases of a sweep meet all settings. */
unsigned sweep_turn(const struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
		    const int64_t *lengths, unsigned which, unsigned n);

/* ---- Elements of large arrays ----------------------------------------------------------------*/

/* Copies the elements, in row-major order and without gaps, out of an array or into it. */
void sweep_unpack(const struct array *array, void *compact);
void sweep_pack(struct array *array, const void *compact);
/* The first, allocated; the caller frees. */
void *sweep_elements(const struct array *array);

/* The same as doubles: numbers are rounded to the array's dtype. */
void sweep_load(const struct array *array, double *compact);
void sweep_store(struct array *array, const double *compact);

/* Random elements, of which neighbours differ: any bits (bool: 0 or 1); normal numbers of both
 * signs and all bits of their significand (integers: any bits); whole numbers in [-most, most]
 * (bool and unsigned: [0, most]). */
void sweep_set_bits(struct array *array);
void sweep_set_normal(struct array *array);
void sweep_set_whole(struct array *array, unsigned most);

/* Random numbers of both signs for sums of n terms in the dtype in which `dtype` is accumulated:
 * multiples of 2^-sweep_grain, with as many bits as the sum leaves room for, so that it is exact in
 * any usual order, and wrong if terms or sums are rounded to a narrower dtype than the family's
 * accuracy states.  Of more than `most` terms that many have a full magnitude, and the others are
 * small, but none is 0: few full terms have more bits. */
enum { MANY_TERMS = 1 << 17, FEW_TERMS = 1 << 6 };
int sweep_grain(const struct kit *kit, int family, tn_dtype dtype, int64_t n, int64_t most);
void sweep_terms(struct kit *kit, int family, tn_dtype dtype, int64_t n, int64_t most,
		 double *terms, uint64_t count);

/* ---- Comparison ------------------------------------------------------------------------------*/

/* Fails the case at the first element whose bits differ from those of `expected`, row-major. */
void sweep_compare_bits(const struct array *array, const void *expected);

/* Elements to compare one by one, ascending: the first, the last, those on both sides of each power
 * of two, and 64 drawn ones.  Returns their number. */
enum { SWEEP_SAMPLES = 64 + 3 * 64 + 2 };
size_t sweep_sample(struct kit *kit, uint64_t count, uint64_t places[SWEEP_SAMPLES]);

/* Makes the call twice more, with the arrays as they are, and compares the bits if that is promised
 * (TN_DETERMINISM_...). */
void sweep_repeat(struct kit *kit, int determinism, void *args, struct array *const *arrays,
		  size_t n_arrays);

/* A random sign, 1 or -1, for element i of a vector that a product is multiplied by to be checked
 * as a whole (Freivalds 1977); and an odd number, for products in whole numbers modulo 2^64. */
double sweep_sign(const struct kit *kit, uint64_t i);
uint64_t sweep_odd(const struct kit *kit, uint64_t i);

/* ---- Sweeps of which single cases run in several threads (threads.sizes) */
extern const struct sweep sweep_of_map, sweep_of_reduce, sweep_of_matmul, sweep_of_copy;
extern const struct sweep sweep_of_gather, sweep_of_scatter_add, sweep_of_scatter;
extern const struct sweep sweep_of_sort, sweep_of_scan;

/* ---- The checks ------------------------------------------------------------------------------
 *
 * Check "sizes.SLOT" of the plain run is "large.SLOT" in --mode=large, with the larger budget.
 */
void check_sizes_transfer(struct kit *kit);
void check_sizes_alloc(struct kit *kit);
void check_sizes_map(struct kit *kit);
void check_sizes_reduce(struct kit *kit);
void check_sizes_matmul(struct kit *kit);
void check_sizes_fill(struct kit *kit);
void check_sizes_copy(struct kit *kit);
void check_sizes_gather(struct kit *kit);
void check_sizes_scatter_add(struct kit *kit);
void check_sizes_scatter(struct kit *kit);
void check_sizes_sort(struct kit *kit);
void check_sizes_scan(struct kit *kit);

#endif
