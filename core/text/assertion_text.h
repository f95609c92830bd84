/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What is said of two arrays that are not as a test asserts.
 */
#ifndef TN_TEXT_ASSERTION_TEXT_H
#define TN_TEXT_ASSERTION_TEXT_H

#include "text/assertion.h"

/* The texts of a failure, owned; NULL, with the error kept, on failure.  `reason` is what is wrong
 * with the whole arrays. */
char *tn_assertion_text_of_whole(struct tn_assertion *a, const char *reason);
char *tn_assertion_text_of_shapes(struct tn_assertion *a);
char *tn_assertion_text_of_dtypes(struct tn_assertion *a);
char *tn_assertion_text_of_elements(struct tn_assertion *a);

#endif
