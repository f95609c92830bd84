/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * One list for the process, which fills from its beginning.  What is checked here is what search
 * needs; the stages check the rest and report it.  There is no lock that a fork could leave held.
 */
#include "loader/registered.h"

#include <stdatomic.h>
#include <string.h>

#include <tenon/context.h>

#include "loader/names.h"

static _Atomic(const struct tn_backend_descriptor *) list[TN_MOST_REGISTERED];

const struct tn_backend_descriptor *tn_registered_at(size_t index)
{
	return index < TN_MOST_REGISTERED ? atomic_load(&list[index]) : NULL;
}

/* Is it large enough to have a name, and has it one? */
static int is_named(const struct tn_backend_descriptor *descriptor)
{
	return descriptor && descriptor->magic == TN_BACKEND_MAGIC &&
	       descriptor->struct_size > offsetof(struct tn_backend_descriptor, version) &&
	       descriptor->name && tn_search_is_name(descriptor->name, strlen(descriptor->name));
}

tn_status tn_backend_register(const struct tn_backend_descriptor *descriptor)
{
	if (!is_named(descriptor))
		return TN_INVALID_ARGUMENT;
	for (size_t i = 0; i < TN_MOST_REGISTERED; i++) {
		const struct tn_backend_descriptor *there = NULL;
		if (atomic_compare_exchange_strong(&list[i], &there, descriptor) ||
		    there == descriptor)
			return TN_OK;
	}
	return TN_UNSUPPORTED;
}
