/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Names the plugin that the opening of a context waits for, in the log, if one of its stages takes
 * long: a driver that wakes, or a `create` that never returns.
 */
#ifndef TN_LOADER_PATIENCE_H
#define TN_LOADER_PATIENCE_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

#include "base/log.h"

struct tn_patience {
	const struct tn_logger *logger;
	unsigned patience_ms;
	pthread_mutex_t mutex; /* of what follows */
	pthread_cond_t is_ended;
	pthread_t thread;
	int has_thread, ends;
	const char *name, *path; /* borrowed; NULL: it waits for none */
	uint32_t stage;
	struct timespec entered;
};

/* patience_ms 0: the usual, 5 seconds. */
void tn_patience_begin(struct tn_patience *patience, const struct tn_logger *logger,
		       unsigned patience_ms);
/* A plugin enters a stage that runs code of its file; a name of NULL: it has left the last one.
 * The first call starts the thread that looks at the clock; without it nothing is said. */
void tn_patience_note(struct tn_patience *patience, const char *name, const char *path,
		      uint32_t stage);
void tn_patience_end(struct tn_patience *patience);

#endif
