/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Sine and cosine by exactly rounded operations alone, as program/exact.h has other functions: the
 * same bits on every machine, so that augmentations are the same.
 */
#ifndef TN_DATA_AUGMENT_NUMBER_H
#define TN_DATA_AUGMENT_NUMBER_H

/* Of an angle in degrees from -360 to 360; multiples of 90 give exact numbers. */
void tn_number_sincos(double degrees, double *sine, double *cosine);

#endif
