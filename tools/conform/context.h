/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The device under test as a program meets it: through a context, the array layer and its routes.
 *
 * There are three contexts, opened when first asked for: on the device alone, on the device with
 * all other backends that are found as lenders, and on the built-in backend, with which results are
 * compared.  Inputs are made on the host in double, rounded to the dtype that the device gets, so
 * that both sides begin with the same numbers; the built-in backend then computes in f64, and all
 * of the difference is the device's rounding.
 */
#ifndef TN_TOOLS_CONFORM_CONTEXT_H
#define TN_TOOLS_CONFORM_CONTEXT_H

#include <tenon/array.h>

#include "conform.h"

/* "NAME:INDEX!" with the plugin's own file: nothing else is there, so nothing lends. */
tn_context *kit_context(struct kit *kit);
/* "NAME:INDEX" with all that is found: what shares the host's memory may lend. */
tn_context *kit_lending_context(struct kit *kit);
/* "reference!" */
tn_context *kit_reference_context(struct kit *kit);
/* Closes those that are open. */
void kit_contexts_close(void);

/* ---- Routes ----------------------------------------------------------------------------------*/

/* Makes the calls of those slots (a set of bits) take that route, as far as there is one, in a
 * context on the device: LENT by hiding the slots, COMPOSED and HOST by hiding the lenders too,
 * HOST also by hiding map, reduce and matmul, of which compositions are made.  NATIVE hides
 * nothing. */
void route_force(tn_context *context, uint64_t slots, enum route route);
#define SLOT_BIT(slot) (UINT64_C(1) << (slot))

/* Has the context's device such a route at all?  Whether a composition is possible is seen when it
 * is tried. */
int route_exists(tn_context *context, uint64_t slots, enum route route);

/* Was some other backend found that works in this device's memory? */
int kit_has_lenders(struct kit *kit);

/* The way that an operation went since the last kit_take_ledger; ROUTES when it did not run. */
enum route route_taken(tn_context *context, const char *operation);

/* Did the operation take the route?  A native slot may refuse such a call, and a composition may
 * lack its parts: then 0.  That it took a better route than the forced one is a failure of the
 * case. */
int route_took(struct kit *kit, tn_context *context, const char *operation, enum route forced);

enum { ROUTES_TEXT = 256 };
/* Counts what the context's ledger holds into the coverage, empties it, and says it in words:
 * "conv2d native, sum composed". */
void kit_take_ledger(struct kit *kit, tn_context *context, char text[ROUTES_TEXT]);

/* ---- Numbers ---------------------------------------------------------------------------------*/

/* An array of those numbers, rounded to dtype.  NULL: the case has failed. */
tn_array *values_upload(struct kit *kit, tn_context *context, tn_dtype dtype, int rank,
			const int64_t *shape, const double *values);
/* All elements as doubles, row-major; the caller frees.  NULL: the case has failed. */
double *values_of(struct kit *kit, const tn_array *array);
/* What they are once rounded to dtype. */
void values_round(tn_dtype dtype, double *values, size_t n);

/* Fails the case with the error that the context keeps, and clears it. */
void kit_fail_context(struct kit *kit, tn_context *context, const char *what);

/* Compares found[i] with expected[i] within tolerance[i] (NULL: exactly).  Fails the case at the
 * first that differs, by its index in the shape and the routes that led to it. */
void values_compare(struct kit *kit, const char *what, int rank, const int64_t *shape,
		    const double *found, const double *expected, const double *tolerance,
		    const char *routes);

#endif
