/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Indices and labels out of range, through a context: an error with the operation's name, at once
 * or, on a device that works later, from the next call that waits for it.
 */
#include <tenon/loss.h>
#include <tenon/nn.h>

#include "layers.h"

enum { LENGTH = 4, CLASSES = 3 };

static tn_array *one_index(tn_context *context, int32_t index)
{
	return tn_from_host(context, TN_I32, 2, (int64_t[]){1, 1}, &index);
}

static tn_array *table(tn_context *context)
{
	return tn_ones(context, TN_F32, 2, (int64_t[]){LENGTH, CLASSES});
}

static tn_array *take(tn_context *context, int32_t index)
{
	tn_array *column = tn_slice(table(context), 1, 0, 1, 1);
	return tn_take(column, one_index(context, index), 0, TN_RAISE);
}

static tn_array *take_along_axis(tn_context *context, int32_t index)
{
	tn_array *column = tn_slice(table(context), 1, 0, 1, 1);
	return tn_take_along_axis(column, one_index(context, index), 0);
}

static tn_array *cross_entropy(tn_context *context, int32_t label)
{
	tn_array *row = tn_slice(table(context), 0, 0, 1, 1);
	return tn_cross_entropy(row, tn_squeeze(one_index(context, label), 0), NULL);
}

static const struct indexed {
	const char *operation;
	tn_array *(*run)(tn_context *context, int32_t index);
	int32_t good[2], bad[2];
} indexed[] = {
	{"take", take, {LENGTH - 1, -LENGTH}, {LENGTH, -LENGTH - 1}},
	{"take_along_axis", take_along_axis, {LENGTH - 1, -LENGTH}, {LENGTH, -LENGTH - 1}},
	{"cross_entropy", cross_entropy, {CLASSES - 1, 0}, {CLASSES, -1}},
};
enum { N_INDEXED = sizeof(indexed) / sizeof(indexed[0]) };

static void uses_index(struct kit *kit, const struct indexed *row, int32_t index, int is_good)
{
	tn_context *context = kit_context(kit);
	char routes[ROUTES_TEXT];
	kit_case(kit, KIT_CONTEXT, "%s, %s %d", row->operation,
		 row->run == cross_entropy ? "label" : "index", (int)index);
	if (tn_scope_begin(context))
		kit_give_up(kit, "a scope: %s", tn_error_text(context));
	tn_array *result = row->run(context, index);
	double value = 0;
	if (result && !tn_item(result, &value) && !is_good)
		kit_fail(kit, "expected TN_INVALID_ARGUMENT, found the value %g", value);
	const struct tn_error_info *error = tn_error(context);
	if (error && !is_good && error->status == TN_INVALID_ARGUMENT &&
	    !strcmp(error->operation, row->operation))
		tn_error_clear(context);
	else if (error)
		kit_fail_context(kit, context,
				 is_good ? "failed" : "expected an error of this operation");
	tn_scope_end(context, NULL);
	kit_take_ledger(kit, context, routes);
	kit_pass(kit);
}

void check_range(struct kit *kit)
{
	for (int i = 0; i < N_INDEXED; i++) {
		for (int k = 0; k < 2; k++) {
			uses_index(kit, &indexed[i], indexed[i].good[k], 1);
			uses_index(kit, &indexed[i], indexed[i].bad[k], 0);
		}
	}
}
