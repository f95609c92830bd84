/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A chain of members.  What lies between two of them is given back as soon as the next one is done: a
 * tape keeps what it needs of it.
 */
#include <stdio.h>

#include "array/array.h"
#include "nn/module.h"

static tn_array *forward(tn_module *module, void *state, const tn_array *x)
{
	(void)state;
	tn_array *y =
		tn_reshape(x, x->rank, x->shape); /* a view, so that the result is a new array */
	for (size_t i = 0; i < module->n_members && y; i++) {
		tn_array *next = tn_module_forward(module->members[i].module, y);
		if (next != y)
			tn_array_destroy(y);
		y = next;
	}
	return y;
}

tn_module *tn_sequential(tn_context *context)
{
	static const struct tn_module_class class_ = {
		.struct_size = sizeof(class_), .name = "Sequential", .forward = forward};
	return tn_module_create(context, &class_, NULL);
}

tn_status tn_sequential_add(tn_module *sequential, const char *name, tn_module *member)
{
	char number[24];
	if (!sequential || sequential->class_.forward != forward) {
		tn_module_destroy(member);
		return TN_INVALID_ARGUMENT;
	}
	snprintf(number, sizeof(number), "%zu", sequential->n_members);
	return tn_module_add(sequential, name ? name : number, member);
}
