/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The first rank that fails says why, and the others repeat it: a rank that ends because another
 * one has failed is not taken for the cause.
 */
#include "local.h"

int local_has_failed(struct local_communicator *communicator)
{
	const struct local_failure *shared = &communicator->shared->failure;
	struct tn_error_info *own = &communicator->failure;
	if (own->status)
		return 1;
	if (!atomic_load_explicit(&shared->is_published, memory_order_acquire))
		return 0;
	own->status = shared->status ? shared->status : TN_BACKEND_FAILURE;
	(void)snprintf(own->text, sizeof(own->text), "%.*s", (int)sizeof(shared->text) - 1,
		       shared->text);
	return 1;
}

void local_fail(struct local_communicator *communicator, tn_status status, const char *text)
{
	struct local_failure *shared = &communicator->shared->failure;
	struct tn_error_info *own = &communicator->failure;
	if (local_has_failed(communicator))
		return;
	own->status = status;
	(void)snprintf(own->text, sizeof(own->text), "%s", text);
	if (atomic_exchange_explicit(&shared->is_claimed, 1, memory_order_relaxed))
		return; /* the other's text is not there yet */
	shared->status = status;
	(void)snprintf(shared->text, sizeof(shared->text), "%s", text);
	atomic_store_explicit(&shared->is_published, 1, memory_order_release);
}
