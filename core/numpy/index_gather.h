/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Indexed axes that strides do not let merge: each element chosen by its own number in memory, so
 * that the rest of the array is not copied.
 */
#ifndef TN_NUMPY_INDEX_GATHER_H
#define TN_NUMPY_INDEX_GATHER_H

#include "numpy/index_terms.h"

struct tn_index_gather {
	tn_array *line;    /* the memory that the view spans; not tracked */
	tn_array *numbers; /* i64, a line: in it, each element of a[terms] in row-major order */
};

/* Does tn_index_selection_base copy, although there are `factor` times as many elements in the view
 * as in a[terms]? */
int tn_index_gather_pays(const struct tn_index_selection *chosen, int64_t factor);
/* In the innermost scope, with temporaries; errors are kept.  A number that is out of range in
 * `chosen` is so here too. */
tn_status tn_index_gather_make(const char *operation, const struct tn_index_selection *chosen,
			       struct tn_index_gather *gather);

#endif
