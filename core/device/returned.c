/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A stack without a lock, to which any thread adds memory that it gives back; its only reader
 * takes it whole.
 */
#include "device/returned.h"

#include <stdatomic.h>

void tn_returned_add(struct tn_device *device, struct tn_deferred_release *later)
{
	later->next = atomic_load_explicit(&device->returned, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&device->returned, &later->next, later,
						      memory_order_release, memory_order_relaxed))
		;
}

void tn_returned_collect(struct tn_device *device)
{
	if (device->store || !atomic_load_explicit(&device->returned, memory_order_relaxed))
		return;
	struct tn_deferred_release *later =
		atomic_exchange_explicit(&device->returned, NULL, memory_order_acquire);
	while (later) {
		struct tn_deferred_release *next = later->next;
		later->release(later);
		later = next;
	}
}
