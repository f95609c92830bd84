/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arrays compared: as bools, and as assertions for the tests of programs, with the texts of
 * numpy.testing.
 *
 *     char *text;
 *     if (tn_assert_allclose(x, y, TN_DTYPE_TOLERANCE, TN_DTYPE_TOLERANCE, NULL, &text))
 *         fprintf(stderr, "%s\n", text ? text : tn_error_text(ctx));
 *     tn_string_free(text);
 *
 * All functions: [thread: one per context | since 0.1].
 */
#ifndef TENON_TESTING_H
#define TENON_TESTING_H

#include <string.h>

#include <tenon/array.h>
#include <tenon/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Comparisons -----------------------------------------------------------------------------
 * The results are bool, without a derivative, and may not be ready yet.  NULL on failure, with the
 * error kept, as in <tenon/array.h>.
 *   TN_INVALID_ARGUMENT  a tolerance is negative or not finite, equal_nan is neither 0 nor 1
 *   TN_SHAPE             the shapes do not broadcast (tn_isclose, tn_allclose) */

/* |a - b| <= atol + rtol |b|, or both are equal, which infinities may be, or, if equal_nan is 1,
 * both are NaN.  NumPy's defaults are 1e-5, 1e-8 and 0.  Tolerances are numbers of b's dtype, of
 * f64 where b is bool or integer. */
TN_API tn_array *tn_isclose(const tn_array *a, const tn_array *b, double rtol, double atol,
			    int equal_nan);
/* Of rank 0: is that true of all elements? */
TN_API tn_array *tn_allclose(const tn_array *a, const tn_array *b, double rtol, double atol,
			     int equal_nan);
/* Of rank 0: are the shapes equal, and all elements? */
TN_API tn_array *tn_array_equal(const tn_array *a, const tn_array *b, int equal_nan);
/* Of rank 0: do the shapes broadcast, and are all elements equal? */
TN_API tn_array *tn_array_equiv(const tn_array *a, const tn_array *b);

/* ---- Assertions ------------------------------------------------------------------------------
 * They wait for both arrays and compare what has arrived on the host.
 *
 * TN_OK: they are as asserted.  TN_NOT_EQUAL (tenon/status.h): they are not, which is no error: the
 * context keeps nothing.  *text is then an owned string (tn_string_free): what was asserted, how
 * many elements differ, the first 5 of them, the largest absolute and relative differences, and
 * both arrays.  Another status is an error, which is kept; *text is NULL then, as for TN_OK.
 *   TN_INVALID_ARGUMENT  a tolerance or an option is out of range, or text is NULL
 *   TN_DTYPE             tn_assert_array_less: complex
 *
 * The shapes must be equal, but an array of rank 0 is compared with every element of the other.
 * NaN must be at the same places in both, and so must be infinities, with the same signs, but in
 * tn_assert_array_less. */

/* A tolerance that depends on the dtypes, as in torch.testing.assert_close: rtol 1e-3 and atol 1e-5
 * for f16, 1.6e-2 and 1e-5 for bf16, 1.3e-6 and 1e-5 for f32 and c64, 1e-7 and 1e-7 for f64 and
 * c128, 0 for integers and bool; the larger one if the two arrays differ.  NumPy's are 1e-7 and 0
 * for all. */
#define TN_DTYPE_TOLERANCE (-1.0)

struct tn_assert_options {
	uint32_t struct_size;
	uint32_t strict;       /* 1: shapes and dtypes must be equal */
	uint32_t distinct_nan; /* 1: NaN is not equal to NaN */
	uint32_t precision;    /* digits of the arrays in the text, at most 1000; default 6 */
	const char *err_msg;   /* UTF-8, a part of the text; NULL: none */
};
static inline struct tn_assert_options tn_assert_defaults(void)
{
	struct tn_assert_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.precision = 6;
	return options;
}

/* |actual - desired| <= atol + rtol |desired| */
TN_API TN_CHECKED tn_status tn_assert_allclose(const tn_array *actual, const tn_array *desired,
					       double rtol, double atol,
					       const struct tn_assert_options *options,
					       char **text);
TN_API TN_CHECKED tn_status tn_assert_array_equal(const tn_array *actual, const tn_array *desired,
						  const struct tn_assert_options *options,
						  char **text);
/* x < y */
TN_API TN_CHECKED tn_status tn_assert_array_less(const tn_array *x, const tn_array *y,
						 const struct tn_assert_options *options,
						 char **text);

#ifdef __cplusplus
}
#endif
#endif
