/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Functions of the C library, whose last bits differ from one library to another, by exactly
 * rounded operations alone: the same bits on every machine, so that augmentations are the same.
 * Relative errors are below 4e-16 (tests/unit/data_augment_draw.c).
 */
#ifndef TN_DATA_AUGMENT_NUMBER_H
#define TN_DATA_AUGMENT_NUMBER_H

/* Of an angle in degrees from -360 to 360; multiples of 90 give exact numbers. */
void tn_number_sincos(double degrees, double *sine, double *cosine);
double tn_number_exp(double x); /* 0 below -700; x at most 700 */
double tn_number_log(double x); /* x > 0, normal */

#endif
