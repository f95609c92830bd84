/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The initial values of a network, where its authors have others than the layers' own, which are
 * PyTorch's.  "fan in" is the number of inputs of an output: the elements of a weight without its
 * first axis; "fan out" the same with the first axis in place of the second.
 */
#ifndef TN_MODELS_INITIAL_H
#define TN_MODELS_INITIAL_H

#include <tenon/nn.h>

enum tn_initial_kind {
	TN_INITIAL_ZERO,
	TN_INITIAL_NORMAL,       /* of deviation `deviation` */
	TN_INITIAL_HE_IN,        /* He et al. 2015: normal, of deviation sqrt(2 / fan in) */
	TN_INITIAL_HE_OUT,       /* sqrt(2 / fan out) */
	TN_INITIAL_HE_UNIFORM,   /* uniform, of the deviation of TN_INITIAL_HE_IN */
	TN_INITIAL_UNIFORM_ROWS, /* uniform in +-1 / sqrt(length of the first axis) */
};

/* The parameters of which it is: those of a rank whose names match a pattern (fnmatch). */
struct tn_initial {
	const char *pattern;
	int rank;
	enum tn_initial_kind kind;
	double deviation;
};

/* Sets what a network not yet built will begin with, by rules that {0} ends; a later one replaces
 * an earlier one.  When *status is an error already, does nothing. */
void tn_model_initial(tn_module *net, const struct tn_initial *rules, tn_status *status);

#endif
