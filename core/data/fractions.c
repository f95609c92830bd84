/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Checks the fractions that a caller asks for against the parts that a data set has.
 */
#include "data/fractions.h"

#include <string.h>

#include "base/error.h"

#define OPERATION "dataset"

/* A NaN is outside, too. */
static int is_fraction(double value)
{
	return value >= 0 && value <= 1;
}

static int has_part(const struct tn_dataset_raw *raw, int part)
{
	uint64_t n = raw->samples ? raw->samples->n : raw->n;
	if (part == TN_PART_TEST && (raw->n_test || raw->test_fraction > 0))
		return 1;
	return raw->parts && memchr(raw->parts, part, (size_t)n) != NULL;
}

tn_status tn_dataset_take_fractions(struct tn_dataset_raw *raw, const struct tn_fractions *asked,
				    const char *name, struct tn_error_info *error)
{
	const struct {
		const char *name;
		int part;
		double asked;
		double *taken;
	} fractions[] = {
		{.name = "test",
		 .part = TN_PART_TEST,
		 .asked = asked->test,
		 .taken = &raw->test_fraction},
		{.name = "validation",
		 .part = TN_PART_VALIDATION,
		 .asked = asked->validation,
		 .taken = &raw->validation_fraction},
	};
	if (!is_fraction(asked->test) || !is_fraction(asked->validation))
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "%s: expected fractions from 0 to 1, found %g for test and %g for "
			       "validation",
			       name, asked->test, asked->validation);
	for (int i = 0; i < 2; i++) {
		const char *part = fractions[i].name;
		if (!has_part(raw, fractions[i].part))
			*fractions[i].taken = fractions[i].asked;
		else if (fractions[i].asked > 0 && !asked->keep_own_parts)
			return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
				       "%s: expected no %s_fraction, because the data set has a "
				       "%s part of its own, found %g",
				       name, part, part, fractions[i].asked);
	}
	return TN_OK;
}
