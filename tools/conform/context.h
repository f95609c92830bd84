/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The device under test as a program uses it: through a context, the array layer and its routes.
 *
 * There are three contexts, opened on first use: on the device alone, on the device with all other
 * backends found as lenders, and on the built-in backend, with which results are compared.  Inputs
 * are made on the host in double and rounded to the device's dtype, so that both sides start with
 * the same numbers; the built-in backend computes in f64, so that all differences are rounding by
 * the device.
 */
#ifndef TN_TOOLS_CONFORM_CONTEXT_H
#define TN_TOOLS_CONFORM_CONTEXT_H

#include <tenon/array.h>

#include "conform.h"

/* "NAME:INDEX!" with the plugin's own file only: no lenders. */
tn_context *kit_context(struct kit *kit);
/* Another one of the same options; owned by the caller (tn_context_close). */
tn_context *kit_second_context(struct kit *kit);
/* "NAME:INDEX" with all backends found: those that share the host's memory may lend. */
tn_context *kit_lending_context(struct kit *kit);
/* "reference!" */
tn_context *kit_reference_context(struct kit *kit);
/* Closes the open ones. */
void kit_contexts_close(void);

/* ---- Routes ----------------------------------------------------------------------------------*/

/* Forces calls of those slots (a set of bits) onto that route, if it exists, in a context on the
 * device: LENT by hiding the slots, COMPOSED and HOST by hiding the lenders too, HOST by also
 * hiding map, reduce and matmul, which compositions use.  NATIVE hides nothing. */
void route_force(tn_context *context, uint64_t slots, enum route route);
#define SLOT_BIT(slot) (UINT64_C(1) << (slot))

/* Does the context's device have such a route at all?  Whether a composition is possible is known
 * only after trying it. */
int route_exists(tn_context *context, uint64_t slots, enum route route);

/* Was another backend found that works in this device's memory? */
int kit_has_lenders(struct kit *kit);

/* The route of an operation since the last kit_take_ledger; ROUTES if it did not run. */
enum route route_taken(tn_context *context, const char *operation);

/* Did the operation take the route?  0 if a native slot refused the call, or a composition lacks
 * its parts.  A better route than the forced one fails the case. */
int route_took(struct kit *kit, tn_context *context, const char *operation, enum route forced);

enum { ROUTES_TEXT = 256 };
/* Adds the context's ledger to the coverage, resets it, and returns it as text: "conv2d native, sum
 * composed". */
void kit_take_ledger(struct kit *kit, tn_context *context, char text[ROUTES_TEXT]);

/* ---- Numbers ---------------------------------------------------------------------------------*/

/* An array of those numbers, rounded to dtype.  NULL: the case has failed. */
tn_array *values_upload(struct kit *kit, tn_context *context, tn_dtype dtype, int rank,
			const int64_t *shape, const double *values);
/* All elements as doubles, row-major; the caller frees.  NULL: the case has failed. */
double *values_of(struct kit *kit, const tn_array *array);
/* Rounds them to dtype, and those of f32 to what the device represents. */
void values_round(const struct kit *kit, tn_dtype dtype, double *values, size_t n);

/* Fails the case with the context's error, and clears it. */
void kit_fail_context(struct kit *kit, tn_context *context, const char *what);

/* Compares found[i] with expected[i] within tolerance[i] (NULL: exactly).  Fails the case at the
 * first that differs, with its index in the shape and the routes taken. */
void values_compare(struct kit *kit, const char *what, int rank, const int64_t *shape,
		    const double *found, const double *expected, const double *tolerance,
		    const char *routes);

#endif
