/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Tests a network of pictures, as `tenon train` and `tenon eval` do.
 */
#ifndef TENON_TOOLS_TEST_PART_H
#define TENON_TOOLS_TEST_PART_H

#include "train_ranks.h"

#include <tenon/tenon.h>

struct test_result {
	double loss;
	double accuracy;
	uint64_t images; /* 0: there was no test */
	double seconds;
};

/* A loader to evaluate a part by all ranks together; NULL as ranks: one.  NULL: it failed, which
 * has been printed. */
tn_data_loader *open_part(tn_context *context, const struct train_ranks *ranks,
			  const tn_dataset *dataset, int part);
/* Loss and accuracy on the test part, and, unless NULL, the confusion matrix of its classes.  0: it
 * failed, which has been printed or is kept by the context. */
int test_part(tn_context *context, const struct train_ranks *ranks, tn_module *module,
	      const tn_dataset *dataset, struct test_result *result, uint64_t *confusion);

#endif
