/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A ring of the handles that ended last, of all threads of the process.
 */
#include "base/quarantine.h"

#include <pthread.h>
#include <stdio.h>

#include "base/log.h"
#include "base/memory.h"

/* A later use of a handle that ended before these is not noticed. */
enum { N_ENTRIES = 4096 };

_Atomic int tn_quarantine_is_open;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static struct {
	struct tn_quarantined *entries[N_ENTRIES];
	const void *handles[N_ENTRIES]; /* theirs: a search reads nothing else */
	size_t next;                    /* the place of the oldest one */
} ring;

void tn_quarantine_lock(void)
{
	pthread_mutex_lock(&mutex);
}

void tn_quarantine_unlock(void)
{
	pthread_mutex_unlock(&mutex);
}

/* A child gets the ring as it is between two changes. */
static void hold_during_forks(void)
{
	pthread_atfork(tn_quarantine_lock, tn_quarantine_unlock, tn_quarantine_unlock);
}

void tn_quarantine_open(void)
{
	pthread_once(&once, hold_during_forks);
	tn_quarantine_is_open = 1;
}

void tn_quarantine_add(struct tn_quarantined *entry)
{
	tn_quarantine_lock();
	struct tn_quarantined *oldest = ring.entries[ring.next];
	ring.entries[ring.next] = entry;
	ring.handles[ring.next] = entry->handle;
	ring.next = (ring.next + 1) % N_ENTRIES;
	tn_quarantine_unlock();
	if (!oldest)
		return;
	tn_mem_free(oldest->handle);
	tn_mem_free(oldest->companion);
	tn_mem_free(oldest);
}

void tn_quarantine_end(void *handle, const char *text)
{
	struct tn_quarantined *entry =
		tn_quarantine_is_open && handle ? tn_mem_zeroed(1, sizeof(*entry)) : NULL;
	if (!entry) {
		tn_mem_free(handle);
		return;
	}
	entry->handle = handle;
	entry->text = text;
	tn_quarantine_add(entry);
}

/* Copies what has ended.  0: the ring does not have the handle. */
static int find_text(const void *handle, char *text, size_t size)
{
	size_t i = 0;
	tn_quarantine_lock();
	while (i < N_ENTRIES && (!handle || ring.handles[i] != handle))
		i++;
	if (i < N_ENTRIES)
		snprintf(text, size, "%s", ring.entries[i]->text);
	tn_quarantine_unlock();
	return i < N_ENTRIES;
}

tn_status tn_quarantine_report(const char *operation, const char *text, struct tn_error_info *error)
{
	struct tn_logger logger;
	tn_logger_init(&logger);
	tn_log_format(&logger, TN_LOG_ERROR, "handle", "%s: %s", operation, text);
	return tn_fail(error, TN_STATE, operation, "%s", text);
}

tn_status tn_quarantine_find(const void *handle, const char *operation, struct tn_error_info *error)
{
	struct tn_error_info found;
	if (!find_text(handle, found.text, sizeof(found.text)))
		return TN_OK;
	return tn_quarantine_report(operation, found.text, error);
}
