/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Small random calls of every computing slot, whose operands may be any view and contain any value.
 * A trial is planned (the slot's shapes and settings are drawn), made (its operands get views and
 * values), may then be changed, and is run: the call is made, and each output is compared with the
 * formula of <tenon/backend.h>, evaluated on the host for the values that the operands have.
 *
 * The plans are in trial_plain.c (levels 1 and 2), trial_layers.c and trial_norm.c.  views.c and
 * values.c run them.
 */
#ifndef TN_TOOLS_CONFORM_TRIAL_H
#define TN_TOOLS_CONFORM_TRIAL_H

#include "samples.h"

enum { TRIAL_OPERANDS = 12, TRIAL_SETTINGS = 24 };

enum view {
	VIEW_COMPACT,
	VIEW_PERMUTED,      /* axes in any order in memory */
	VIEW_CHANNELS_LAST, /* axis 1 innermost */
	VIEW_SPACED,        /* elements and rows with gaps */
	VIEW_ANY,           /* all of this at once, of inputs also what follows */
	VIEW_BACKWARD,      /* some strides negative */
	VIEW_BROADCAST,     /* some strides 0 */
	VIEW_OVERLAPPED,    /* windows: two axes with one stride */
	VIEWS,
	OUTPUT_VIEWS = VIEW_BACKWARD,
	OWN_VIEWS = VIEW_BROADCAST, /* of inputs whose elements share no memory */
};
extern const char *const view_names[VIEWS];

/* What an operand contains.  Numbers of integer dtypes are whole, and small. */
enum values {
	UNIFORM, /* in [low, high] */
	BELOW,   /* whole numbers of [low, high) */
	ANY_BITS,
	BY_PLAN, /* set by the plan's `fill` */
};

struct trial_operand {
	const char *name;
	size_t place; /* in the arguments */
	enum role role;
	enum values values;
	double low, high;
	int is_own;    /* its elements share no memory */
	int is_matrix; /* of matmul: one of the last two strides is 1 */
	int is_unread; /* the call has no use for it */
	int is_saved;  /* a forward wrote it */
	tn_dtype dtype;
	struct shape shape;
	/* From trial_make on. */
	struct array array;
	/* From trial_run on: its elements before the call, row-major. */
	double *x;
	unsigned char *bytes;
	/* Of an output: what is expected, as numbers or as bytes.  A tolerance of INFINITY is for a
	 * result that the interface leaves open. */
	double *expected, *tolerance;
	unsigned char *expected_bytes;
};

struct trial_slot;

struct trial {
	struct kit *kit;
	const struct trial_slot *row;
	int slot;
	tn_dtype dtype;
	int accumulates;
	int is_required; /* the interface does not allow it to be refused */
	char text[80];   /* lengths and settings, for the case's name */
	struct trial_operand operand[TRIAL_OPERANDS];
	unsigned n;
	unsigned n_lengths, stretched; /* drawn so far, and which is long */
	union call_args args;
	size_t args_size;
	struct tn_operand inputs[2];
	struct tn_program *program;
	int64_t setting[TRIAL_SETTINGS];
	double scale[2];
	void (*fill)(struct trial *t); /* may be NULL */
	void (*save)(struct trial *t); /* what a forward saves for the values of x; may be NULL */
	void (*formula)(struct trial *t); /* fills the expected results of all outputs */
};

/* One slot, which the check of that family and level tries. */
struct trial_slot {
	int slot;
	const char *check; /* "softmax" */
	uint32_t level;
	int family;      /* TN_FAMILY_... */
	int accumulates; /* it knows TN_ACCUMULATE, or matmul's beta */
	int is_floating; /* it takes floating dtypes only */
	unsigned n;      /* the most operands that it has */
	void (*plan)(struct trial *t);
};
extern const struct trial_slot plain_slots[], layer_slots[], norm_slots[];

/* Calls `run` for every slot of the running check, each dtype that it has there, without
 * TN_ACCUMULATE and with it.  Skips the check if there is none. */
void trial_each(struct kit *kit, void (*run)(struct kit *kit, const struct trial_slot *slot,
					     tn_dtype dtype, int accumulates));

/* Plans call number `number` of a slot. */
void trial_plan(struct kit *kit, struct trial *t, const struct trial_slot *slot, tn_dtype dtype,
		int accumulates, uint64_t number);
/* Gives every operand its view and its values. */
void trial_make(struct trial *t, const enum view *views);
/* Gives what a forward saves the values for the operands as they are. */
void trial_save(struct trial *t);
/* Makes the call and compares its outputs with the formula.  Returns the call's status. */
tn_status trial_run(struct trial *t);
void trial_free(struct trial *t);

/* Are all its results determined to the bit? */
int trial_is_exact(const struct trial *t);
/* Makes `twin` the same call on compact copies of the operands of `t`, as they were before it
 * ran. */
void trial_twin(const struct trial *t, struct trial *twin);
/* After that ran: the results of `t` and its twin are the same, within twice the tolerance. */
void trial_agree(const struct trial *t, const struct trial *twin);

/* ---- For plans -------------------------------------------------------------------------------*/

/* Adds an operand; its values are in [-1, 1], those of an integer dtype in [-9, 9]. */
struct trial_operand *trial_operand(struct trial *t, const char *name, size_t place, enum role role,
				    tn_dtype dtype, uint32_t rank, const int64_t *shape);
/* A length, of 1 to `most`; 1 is rare.  One of a plan, if that, is some times as long. */
int64_t trial_length(struct trial *t, int64_t most);

/* Room for the expected numbers of an output, and for its tolerances. */
void trial_expect(struct trial_operand *o);
void trial_expect_bytes(struct trial_operand *o);

/* For results that are not finite, and `is_open` ones that need not be: any infinity and NaN is as
 * good as another. */
void trial_settle(struct trial_operand *o, uint64_t i, int is_open);

/* A sum, whatever the order of its terms, of a wider range than f64's. */
struct sum {
	long double value;
	/* The sum of the finite terms' magnitudes; INFINITY: the sum is open. */
	long double magnitude;
	double n;
	int is_mixed;  /* 3: it has terms of both signs */
	int is_scaled; /* what is summed may be larger by a factor of up to 8 */
	int is_finer;  /* bits 0, 1: a term is no multiple of the least number of f32, of f64 */
};
void sum_add(struct sum *s, long double term);
/* The error allowed for a sum of products: each product and each addition rounds once.  INFINITY if
 * a partial sum may overflow in some order and not in another, or the sum in the type in which the
 * device computes. */
double sum_error(const struct trial *t, const struct sum *s);
/* The largest number of the dtype in which the trial's results are computed. */
double trial_largest(const struct trial *t);
/* Does the device keep subnormal numbers of that dtype? */
int trial_keeps_subnormals(const struct kit *kit, tn_dtype dtype);
/* One rounding of it, and the smallest normal number. */
double trial_epsilon(const struct trial *t);
double trial_least(const struct trial *t);

/* ---- Checks ----------------------------------------------------------------------------------*/

/* By the name of the running check: the slots of its family. */
void check_views(struct kit *kit);   /* views.c */
void check_special(struct kit *kit); /* values.c */

#endif
