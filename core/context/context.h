/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What holds a context together; what arrays work with is in array/runtime.h.
 */
#ifndef TN_CONTEXT_CONTEXT_H
#define TN_CONTEXT_CONTEXT_H

#include <tenon/context.h>

#include "array/runtime.h"
#include "base/log.h"
#include "base/parameter.h"
#include "base/threads.h"
#include "loader/backend.h"

struct tn_assembly {
	struct tn_logger logger;
	struct tn_parameters parameters;
	struct tn_threads *threads;
	struct tn_registry *registry;
	tn_load_report *report;
	struct tn_device **devices; /* one a choice of the registry, in its order */
	size_t n_devices;
	/* The built-in backend's device when it is none of the choices, and its registry when the
	 * selection excludes it. */
	struct tn_device *reference;
	struct tn_registry *last_resort;
};

/* What the options and the variables come to. */
struct tn_settings {
	uint32_t n_threads;
	uint32_t fallback;
	uint64_t memory_limit;
	uint64_t seed;
	uint32_t deterministic;
};

/* Reads every variable that the context itself understands.  TN_FORMAT: one is malformed; the text
 * has its name, its value and what was expected. */
tn_status tn_settings_read(struct tn_parameters *parameters,
			   const struct tn_context_options *options, struct tn_settings *settings,
			   struct tn_error_info *error);

/* Makes the devices of the registry's choices, opens the first that can be opened, and finds the
 * reference and the lenders. */
tn_status tn_context_open_devices(tn_context *context, const struct tn_settings *settings,
				  struct tn_error_info *error);
void tn_context_close_devices(tn_context *context);

#endif
