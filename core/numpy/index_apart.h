/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Indexed axes that strides do not let merge: each element chosen by its own number in memory, so
 * that the rest of the array is not copied.
 */
#ifndef TN_NUMPY_INDEX_APART_H
#define TN_NUMPY_INDEX_APART_H

#include "numpy/index_terms.h"

struct tn_apart {
	tn_array *line;    /* the memory that the view spans; not tracked */
	tn_array *numbers; /* i64, a line: in it, each element of a[terms] in row-major order */
};

/* Does tn_chosen_base copy, although there are `factor` times as many elements in the view as in
 * a[terms]? */
int tn_chosen_is_apart(const struct tn_chosen *chosen, int64_t factor);
/* In the innermost scope, with temporaries; errors are kept.  A number that is out of range in
 * `chosen` is so here too. */
tn_status tn_chosen_apart(const char *operation, const struct tn_chosen *chosen,
			  struct tn_apart *apart);

#endif
