/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What an average was made with, for checkpoints.
 */
#ifndef TN_OPTIM_WEIGHT_AVERAGE_H
#define TN_OPTIM_WEIGHT_AVERAGE_H

#include <tenon/optim.h>

const tn_module *tn_weight_average_module(const tn_weight_average *average);
double tn_weight_average_decay(const tn_weight_average *average); /* NAN: the mean */

#endif
