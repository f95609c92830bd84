/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Elements read by index.
 */
#include <tenon/index.h>

#include "array/make.h"
#include "ops/index_terms.h"
#include "ops/take.h"

static tn_array *index_in_scope(const tn_array *a, int n, const struct tn_index_term *terms)
{
	struct tn_chosen chosen;
	if (tn_terms_apply(0, a, n, terms, &chosen))
		return NULL;
	if (!chosen.numbers)
		return chosen.view;
	const tn_array *base = tn_chosen_base(&chosen);
	const tn_array *listed = tn_take_checked(base, chosen.numbers, chosen.first, "index", NULL);
	return tn_reshape(listed, chosen.rank, chosen.shape);
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
