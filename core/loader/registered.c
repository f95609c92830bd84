/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * One list for the process.  What is checked here is what search needs; the stages check the rest
 * and report it.  A reader sees a descriptor once it is counted.
 */
#include "loader/registered.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include <tenon/context.h>

#include "loader/names.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const struct tn_backend_descriptor *list[TN_MOST_REGISTERED];
static atomic_size_t n;

const struct tn_backend_descriptor *tn_registered_at(size_t index)
{
	return index < atomic_load(&n) ? list[index] : NULL;
}

/* Is it large enough to have a name, and has it one? */
static int is_named(const struct tn_backend_descriptor *descriptor)
{
	return descriptor && descriptor->magic == TN_BACKEND_MAGIC &&
	       descriptor->struct_size > offsetof(struct tn_backend_descriptor, version) &&
	       descriptor->name && tn_search_is_name(descriptor->name, strlen(descriptor->name));
}

static tn_status add(const struct tn_backend_descriptor *descriptor)
{
	size_t count = atomic_load(&n);
	for (size_t i = 0; i < count; i++) {
		if (list[i] == descriptor)
			return TN_OK;
	}
	if (count == TN_MOST_REGISTERED)
		return TN_UNSUPPORTED;
	list[count] = descriptor;
	atomic_store(&n, count + 1);
	return TN_OK;
}

tn_status tn_backend_register(const struct tn_backend_descriptor *descriptor)
{
	if (!is_named(descriptor))
		return TN_INVALID_ARGUMENT;
	pthread_mutex_lock(&mutex);
	tn_status status = add(descriptor);
	pthread_mutex_unlock(&mutex);
	return status;
}
