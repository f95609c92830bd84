/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The state of a pass of one of the library's metrics: sums on the device.  Counts are i64; sums of
 * floating numbers are pairs of a sum and what rounding has taken from it (Kahan 1965).
 */
#ifndef TN_TRAIN_METRIC_SUMS_H
#define TN_TRAIN_METRIC_SUMS_H

#include <tenon/distributed.h>
#include <tenon/metric.h>

#include "array/array.h"
#include "dispatch/formulas.h"

enum { TN_METRIC_ARRAYS = 8 };

/* The arrays of a kind: 0-d, or of the metric's width along `rank` axes. */
struct tn_metric_array {
	int is_float;
	int rank;
	int is_rest; /* what rounding has taken from the array before */
};

struct tn_metric_sums;

/* One of TN_METRIC_.... */
struct tn_metric_kind {
	const char *name;
	int is_rising;
	uint32_t n_arrays;
	struct tn_metric_array arrays[TN_METRIC_ARRAYS];
	tn_status (*add)(struct tn_metric_sums *sums, const tn_array *output,
			 const tn_array *target);
	/* From the arrays' elements as doubles, one after the other. */
	double (*value)(const struct tn_metric_sums *sums, double *const *arrays);
	/* Adds the sums of another pass, of the same form; NULL: element by element. */
	void (*merge)(const struct tn_metric_sums *sums, double *const *arrays,
		      const double *const *others);
};

/* What the arrays of a metric's passes are made for.  It stays the same for all of its passes. */
struct tn_metric_form {
	int64_t width;  /* classes or columns; 0: not known yet */
	tn_dtype dtype; /* of floating sums; 0: not known yet */
};

struct tn_metric_sums {
	tn_context *context;
	const struct tn_metric_kind *kind;
	const struct tn_metric_options *options; /* the metric's */
	struct tn_metric_form *form;             /* the metric's */
	tn_array *arrays[TN_METRIC_ARRAYS];      /* held; all NULL until the form is known */
};

/* Makes the arrays, of zeros, if the form is known; all or none. */
tn_status tn_metric_sums_begin(struct tn_metric_sums *sums);
void tn_metric_sums_end(struct tn_metric_sums *sums); /* releases the arrays */
/* Checks a batch against the form, which the first batch sets; makes the arrays. */
tn_status tn_metric_sums_form(struct tn_metric_sums *sums, int64_t width, tn_dtype dtype);

/* arrays := formula(arrays, more...) for all arrays of the sums, which are its outputs; NULL among
 * `more` is a failure that the context keeps. */
tn_status tn_metric_sums_add(struct tn_metric_sums *sums, const struct tn_formula *formula,
			     uint32_t n_more, const tn_array *const *more, const double *scalars);
/* Makes the sums those over all ranks, in the order of the ranks; a rank without samples gets the
 * form of the others. */
tn_status tn_metric_sums_join(struct tn_metric_sums *sums, tn_communicator *communicator);
tn_status tn_metric_sums_value(const struct tn_metric_sums *sums, double *value);

#endif
