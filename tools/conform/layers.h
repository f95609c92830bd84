/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Layers as programs use them: each calls only public functions, and has the shapes and ranges of
 * its inputs.  layers.c has the table, layer_run.c runs a row on a context and compares it with the
 * built-in backend in f64.
 */
#ifndef TN_TOOLS_CONFORM_LAYERS_H
#define TN_TOOLS_CONFORM_LAYERS_H

#include "context.h"

enum { LAYER_INPUTS = 5, LAYER_RANK = 5, LAYER_NUMBERS = 8 };

/* The error allowed for a result, with e the error of one rounding:
 *   CHOSEN   none: it is an element of an input, or an index.  Gradients are sums of at most
 *            `terms` numbers of [-1, 1]: (terms + 4) e terms;
 *   LINEAR   a sum of at most `terms` products of inputs: (terms + 4) e sum of |product|, since
 *            each product and each addition rounds once; the sum of magnitudes comes from the same
 *            layer on the inputs' magnitudes;
 *   SMOOTH   functions and sums of at most `terms` of them, of inputs in [-2, 2], whose values,
 *            derivatives and condition are below `scale` (0: 8):
 *            (terms + 16) e (scale + |expected|), 16 for the functions' own errors. */
enum bound { CHOSEN, LINEAR, SMOOTH };

enum content {
	NUMBERS, /* uniform in [low, high], or [-1, 1] where both are 0 */
	LABELS,  /* i32 below `high`, every fifth one IGNORED */
	PLACES,  /* i32 in [-high, high) */
};
enum { IGNORED = -100 };

struct layer_input {
	enum content content;
	int rank;
	int64_t shape[LAYER_RANK];
	double low, high;
};

struct layer {
	const char *group; /* "conv2d": for the checks layers.conv2d and gradients.conv2d */
	const char *name;
	/* NULL: failure; the context keeps the error. */
	tn_array *(*run)(const struct layer *layer, tn_array *const *inputs);
	tn_array *(*unary)(const tn_array *x); /* for run = unary */
	tn_array *(*binary)(const tn_array *x, const tn_array *y);
	enum bound bound;
	int family; /* TN_FAMILY_..., which determines the accuracy class */
	double terms;
	double scale;
	int has_no_gradient;
	uint32_t n_inputs;
	struct layer_input inputs[LAYER_INPUTS];
	int64_t numbers[LAYER_NUMBERS]; /* settings, as `run` reads them */
};

extern const struct layer layers[];
extern const size_t n_layers;

/* ---- Running one (layer_run.c) ---------------------------------------------------------------*/

/* The inputs of a layer, drawn and rounded to dtype; the caller frees with layer_values_free. */
void layer_values_make(struct kit *kit, uint32_t n, const struct layer_input *inputs,
		       tn_dtype dtype, double **values);
void layer_values_free(uint32_t n, double **values);
/* The magnitudes of the numeric inputs. */
void layer_values_magnitude(uint32_t n, const struct layer_input *inputs, double *const *values,
			    double **magnitudes);
/* The inputs as arrays; 0: the case has failed. */
int layer_values_upload(struct kit *kit, tn_context *context, uint32_t n,
			const struct layer_input *inputs, tn_dtype dtype, double *const *values,
			tn_array **arrays);

struct bounds {
	enum bound bound;
	int family; /* TN_FAMILY_..., which determines the accuracy class */
	double terms;
	double scale;
};
/* The tolerances of n results.  `magnitude` is needed for LINEAR only. */
double *bound_tolerance(struct kit *kit, const struct bounds *bounds, tn_dtype dtype, size_t n,
			const double *expected, const double *magnitude, int is_gradient);

enum layer_step { BEFORE_FORWARD, BEFORE_BACKWARD, AFTER_ALL };

/* The layer's case: forward, and with `gradient` backward by the tape.  `step` (may be NULL) is
 * called between the parts, to force routes and read the ledger. */
struct layer_case {
	const struct layer *layer;
	tn_dtype dtype;
	tn_context *context;
	int gradient;
	void (*step)(struct kit *kit, const struct layer_case *c, enum layer_step step);
	const void *user;
};
/* Runs it on both sides and compares; fills `routes`.  The caller names and counts the case. */
void layer_try(struct kit *kit, const struct layer_case *c, char routes[ROUTES_TEXT]);

/* Does the device claim everything that the layer needs in that dtype? */
int layer_is_claimed(const struct kit *kit, const struct layer *layer, tn_dtype dtype);

/* ---- Checks ----------------------------------------------------------------------------------*/

/* The layers or crossings with the name of the running check. */
void check_layers(struct kit *kit);
void check_gradients(struct kit *kit);
void check_lending(struct kit *kit);
void check_cross(struct kit *kit);      /* cross.c: operations with slots for both halves */
void check_cross_tape(struct kit *kit); /* cross_tape.c: the others */
void check_optimizers(struct kit *kit);
void check_train(struct kit *kit);
void check_train_lent(struct kit *kit);
void check_repeatable(struct kit *kit);
void check_range(struct kit *kit);    /* indexing.c */
void check_compared(struct kit *kit); /* compared.c */
/* dtypes.c: against recorded results of NumPy. */
void check_dtypes_unary(struct kit *kit);
void check_dtypes_binary(struct kit *kit);
void check_dtypes_mixed(struct kit *kit);
void check_dtypes_casts(struct kit *kit);
void check_dtypes_axes(struct kit *kit);
void check_dtypes_products(struct kit *kit);

#endif
