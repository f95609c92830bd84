/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Elements read by index.
 */
#include <tenon/index.h>

#include "array/make.h"
#include "numpy/index_gather.h"
#include "numpy/index_terms.h"
#include "ops/take.h"

/* A derivative flows through the base, and not through its memory. */
static tn_array *list_choices(const tn_array *a, const struct tn_index_selection *chosen)
{
	const tn_array *view = chosen->view;
	struct tn_index_gather gather;
	if (tn_wants_record(a->runtime, 1, &view) || !tn_index_gather_pays(chosen, 1))
		return tn_take_checked(tn_index_selection_base(chosen), chosen->numbers,
				       chosen->first, "index", NULL);
	if (tn_index_gather_make("index", chosen, &gather))
		return NULL;
	return tn_take_checked(gather.line, gather.numbers, 0, "index", NULL);
}

static tn_array *index_in_scope(const tn_array *a, int n, const struct tn_index_term *terms)
{
	struct tn_index_selection chosen;
	if (tn_terms_apply(0, a, n, terms, &chosen))
		return NULL;
	if (!chosen.numbers)
		return chosen.view;
	return tn_reshape(list_choices(a, &chosen), chosen.rank, chosen.shape);
}

tn_array *tn_index(const tn_array *a, int n, const struct tn_index_term *terms)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "index");
	if (!runtime)
		return NULL;
	if (tn_terms_check("index", a, n, terms) || tn_scope_begin(runtime->context))
		return NULL;
	return tn_scope_end(runtime->context, index_in_scope(a, n, terms));
}
