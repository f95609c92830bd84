/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What `tenon train` shows of a test besides its accuracy: the confusion matrix, the pictures
 * answered wrongly, and plots.
 */
#ifndef TENON_TOOLS_TRAIN_RESULTS_H
#define TENON_TOOLS_TRAIN_RESULTS_H

#include "loss_plot.h"
#include "option_table.h"
#include "test_part.h"
#include "train_ranks.h"

#include <tenon/tenon.h>

enum { N_RESULTS_ROWS = 3 };

struct train_results {
	int confusion;
	int has_spare;     /* train --classes: the network may have more than the data */
	uint64_t mistakes; /* at most this many are listed */
	const char *plots; /* a folder; NULL: no plots */
	struct loss_point *points;
	size_t n_points;
	int has_gap; /* there was no memory for a point, which has been printed */
};

/* Writes N_RESULTS_ROWS rows and returns their number. */
size_t train_results_rows(struct train_results *results, struct option_row *rows);
/* Is the file one of --plots? */
int train_results_has_plot(const struct train_results *results, const char *file);
/* Makes the folder; 0: the plots could not be written, which has been printed. */
int train_results_prepare(const struct train_results *results);
void train_results_epoch(struct train_results *results, const struct tn_trainer_epoch *epoch);
/* Prints loss and accuracy on the test part, and the confusion matrix if it is asked for: of all
 * ranks, by rank 0.  0: as test_part. */
int train_results_test(const struct train_results *results, tn_context *context,
		       const struct train_ranks *ranks, tn_module *module,
		       const tn_dataset *dataset, struct test_result *test);
/* Lists mistakes and writes plots, as far as they are asked for.  0: something could not be read or
 * written, which has been printed; errors of the network are kept by the context. */
int train_results_show(const struct train_results *results, tn_module *module,
		       const tn_dataset *dataset);
void train_results_end(struct train_results *results);

#endif
