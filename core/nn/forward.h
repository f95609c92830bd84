/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The beginning and the end of forwards that are not tn_module_forward.
 */
#ifndef TN_NN_FORWARD_H
#define TN_NN_FORWARD_H

#include "nn/module.h"
#include "nn/path.h"

/* What the runtime had before a module's own forward began. */
struct tn_module_visit {
	const char *place;
	struct tn_watch *watch; /* NULL: the module is not watched */
	char path[TN_MODULE_PATH];
};
/* The module's own forward begins: operations belong to it, in anomaly mode and for a watch. */
void tn_module_enter(const tn_module *module, struct tn_module_visit *visit);
/* It has ended, with the result y or with NULL: then the kept error names the innermost module. */
void tn_module_leave(const tn_module *module, const struct tn_module_visit *visit,
		     const tn_array *y);

/* The runtime of the module, or else of an input that is not NULL; NULL: all are. */
struct tn_runtime *tn_module_any_runtime(const tn_module *module, size_t n,
					 const tn_array *const *inputs);

/* Begins a forward of several inputs, which may be NULL: of an outermost module, watches the
 * trainable weights.  TN_STATE (kept): not built; frozen, and in training mode or with an input
 * that requires a gradient. */
tn_status tn_module_begin_forward(tn_module *module, size_t n_inputs,
				  const tn_array *const *inputs);

/* A module's own forward of several inputs, which may be NULL. */
typedef tn_array *tn_module_function(tn_module *module, uint32_t flags, tn_array *const *inputs);
enum { TN_FORWARD_INPUTS = 4 };
/* Runs it, between the two others; it is computed again in backward if that was requested.  The
 * flags are the function's own. */
tn_array *tn_module_run(tn_module *module, tn_module_function *f, uint32_t flags, size_t n_inputs,
			const tn_array *const *inputs);

/* Ends it: calls the forward hook, and records y so that backward calls the other.  Returns y, or
 * an array in its place; NULL: an error is kept. */
tn_array *tn_module_end_forward(tn_module *module, const tn_array *x, tn_array *y);

#endif
