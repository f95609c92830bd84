/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The settings of a context, from its options and variables.
 */
#ifndef TN_CONTEXT_SETTINGS_H
#define TN_CONTEXT_SETTINGS_H

#include <tenon/context.h>

#include "base/parameter.h"

/* The settings that result from options and variables. */
struct tn_settings {
	uint32_t n_threads;
	uint32_t fallback;
	uint64_t memory_limit;
	uint64_t memory_percent; /* of the device's memory, in place of bytes; 0: not given */
	uint64_t seed;
	uint32_t deterministic;
	uint32_t check_handles;
};

/* Reads every variable of the context itself.  TN_FORMAT: one is malformed; the text has its name,
 * its value and what was expected. */
tn_status tn_settings_read(struct tn_parameters *parameters,
			   const struct tn_context_options *options, struct tn_settings *settings,
			   struct tn_error_info *error);

#endif
