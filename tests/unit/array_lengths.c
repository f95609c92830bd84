/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Lengths whose bytes cannot be addressed, on several backends: of results wider than a long view,
 * of sizes that a caller states, and of those that numbers in data ask for.  None makes an array,
 * ends the program or computes for long: TN_LIMIT, TN_OUT_OF_MEMORY where 2^62 bytes suffice, or
 * TN_INVALID_ARGUMENT for a limit that a function has of its own.
 */
#include "nn_backends.h"

static tn_context *context;

static const int64_t lengths[] = {
	INT64_C(1) << 60,       (INT64_C(1) << 60) + 2, (INT64_C(1) << 61) - 1,
	INT64_C(1) << 61,       (INT64_C(1) << 61) + 1, INT64_C(1) << 62,
	(INT64_C(1) << 62) + 2, INT64_MAX - 1,          INT64_MAX,
};

static tn_array *three(tn_dtype dtype)
{
	return tn_ones(context, dtype, 1, (int64_t[]){3});
}

static tn_array *one_number(int64_t value)
{
	return tn_from_host(context, TN_I64, 1, (int64_t[]){1}, &value);
}

/* The text of a shape is cut where the longest lengths would not fit. */
static void the_longest_shape_is_cut(void **state)
{
	int64_t shape[TN_MAX_RANK];
	(void)state;
	for (int i = 0; i < TN_MAX_RANK; i++)
		shape[i] = INT64_MAX;
	context = open_backend("reference!");
	assert_null(tn_zeros(context, TN_F32, TN_MAX_RANK, shape));
	assert_int_equal(tn_error(context)->status, TN_LIMIT);
	assert_contains(tn_error(context)->text,
			"9223372036854775807, ...) has more bytes than can be addressed");
	tn_context_close(context);
}

/* ---- Lengths that are asked for --------------------------------------------------------------*/

static tn_array *f_zeros(int64_t n)
{
	return tn_zeros(context, TN_F64, 1, &n);
}
static tn_array *f_empty_matrix(int64_t n)
{
	return tn_empty(context, TN_C128, 2, (int64_t[]){0, n});
}
static tn_array *f_bincount(int64_t n)
{
	return tn_bincount(one_number(n - 1), NULL, 0);
}
static tn_array *f_bincount_last(int64_t n)
{
	return tn_bincount(one_number(n), NULL, 0);
}
static tn_array *f_bincount_unsigned(int64_t n)
{
	return tn_bincount(tn_astype(one_number(n - 1), TN_U64), NULL, 0);
}
static tn_array *f_bincount_weights(int64_t n)
{
	return tn_bincount(one_number(n - 1), one_number(1), 0);
}
static tn_array *f_minlength(int64_t n)
{
	return tn_bincount(one_number(1), NULL, n);
}
static tn_array *f_histogram(int64_t n)
{
	struct tn_histogram_options options = tn_histogram_defaults();
	options.n_bins = n;
	return tn_histogram(three(TN_F64), &options, NULL);
}
static tn_array *f_histogram_range(int64_t n)
{
	static const double range[] = {0, 1};
	struct tn_histogram_options options = tn_histogram_defaults();
	options.n_bins = n;
	options.range = range;
	return tn_histogram(three(TN_F16), &options, NULL);
}
static tn_array *f_histogramdd(int64_t n)
{
	struct tn_histogramdd_options options = tn_histogramdd_defaults();
	const int64_t n_bins[] = {3, n};
	options.n_bins = n_bins;
	return tn_histogram2d(three(TN_F32), three(TN_F32), &options, NULL);
}
static tn_array *f_linspace(int64_t n)
{
	return tn_linspace(context, TN_F64, 0, 1, n, 1);
}
static tn_array *f_eye(int64_t n)
{
	return tn_eye(context, TN_U8, n, 5, 0);
}
static tn_array *f_tri(int64_t n)
{
	return tn_tri(context, TN_F32, 5, n, 0);
}
static tn_array *f_identity(int64_t n)
{
	return tn_identity(context, TN_U8, n);
}
static tn_array *f_indices(int64_t n)
{
	return tn_indices(context, TN_I64, 2, (int64_t[]){2, n});
}
static tn_array *f_vander(int64_t n)
{
	return tn_vander(three(TN_F32), n, 0);
}
static tn_array *f_hanning(int64_t n)
{
	return tn_hanning(context, TN_F64, n);
}
static tn_array *f_repeat(int64_t n)
{
	return tn_repeat(three(TN_F64), 1, &n, 0);
}
static tn_array *f_repeat_each(int64_t n)
{
	return tn_repeat(three(TN_F64), 3, (int64_t[]){n, 1, n}, 0);
}
static tn_array *f_tile(int64_t n)
{
	return tn_tile(three(TN_F64), 1, &n);
}
static tn_array *f_pad(int64_t n)
{
	return tn_pad(three(TN_F64), (int64_t[]){n, n}, TN_PAD_CONSTANT, NULL);
}
static tn_array *f_resize(int64_t n)
{
	return tn_resize(three(TN_F64), 1, &n);
}
static tn_array *f_diag(int64_t n)
{
	return tn_diag(three(TN_F64), n);
}
static tn_array *f_normal(int64_t n)
{
	return tn_generator_normal(tn_default_generator(context), TN_F64, 1, &n, 0, 1);
}
static tn_array *f_permutation(int64_t n)
{
	return tn_generator_permutation(tn_default_generator(context), n);
}

/* ---- Results of long views -------------------------------------------------------------------
 * A view of one u8, as long as 2^61 bytes, alone or in two axes. */

static tn_array *long_view(int rank, const int64_t *shape)
{
	const tn_array *one = tn_ones(context, TN_U8, rank, (int64_t[]){1, 1});
	return tn_broadcast_to(one, rank, shape);
}

static tn_array *f_astype(const tn_array *a)
{
	return tn_astype(a, TN_F64);
}
static tn_array *f_empty_like(const tn_array *a)
{
	return tn_empty_like(a, TN_C128);
}
static tn_array *f_full_like(const tn_array *a)
{
	return tn_full_like(a, 1, TN_F64);
}
static tn_array *f_cumsum(const tn_array *a)
{
	return tn_cumsum(a, 0);
}
static tn_array *f_argsort(const tn_array *a)
{
	return tn_argsort(a, 0, 0);
}
static tn_array *f_sum(const tn_array *a)
{
	return tn_sum(tn_expand_dims(a, 0), 1, (int[]){0}, 0);
}
static tn_array *f_mean(const tn_array *a)
{
	return tn_mean(tn_expand_dims(a, -1), 1, (int[]){-1}, 0);
}
static tn_array *f_add(const tn_array *a)
{
	return tn_add(a, tn_scalar_f32(context, 1));
}
static tn_array *f_outer(const tn_array *a)
{
	return tn_multiply(tn_expand_dims(a, 0), tn_reshape(three(TN_U8), 2, (int64_t[]){3, 1}));
}
static tn_array *f_sin(const tn_array *a)
{
	return tn_sin(a);
}
static tn_array *f_where(const tn_array *a)
{
	return tn_where(tn_astype(tn_ones(context, TN_U8, 0, NULL), TN_BOOL), a,
			tn_scalar_f32(context, 1));
}
static tn_array *f_take(const tn_array *a)
{
	return tn_take(three(TN_F64), a, 0, TN_RAISE);
}
static tn_array *f_take_wrap(const tn_array *a)
{
	return tn_take(three(TN_F64), a, 0, TN_WRAP);
}
static tn_array *f_take_along(const tn_array *a)
{
	return tn_take_along_axis(three(TN_F64), a, 0);
}
static tn_array *f_searchsorted(const tn_array *a)
{
	return tn_searchsorted(three(TN_F64), a, 0, NULL);
}
static tn_array *f_interp(const tn_array *a)
{
	return tn_interp(a, three(TN_F64), three(TN_F64), NULL, NULL, 0);
}
static tn_array *f_convolve(const tn_array *a)
{
	return tn_convolve(a, three(TN_F64), TN_CONVOLVE_FULL);
}
static tn_array *f_gradient(const tn_array *a)
{
	return tn_gradient(a, 1, 0, 1);
}
static tn_array *f_isin(const tn_array *a)
{
	return tn_isin(a, three(TN_F64), 0);
}
static tn_array *f_matmul(const tn_array *a)
{
	return tn_matmul(tn_expand_dims(a, 1), tn_ones(context, TN_F64, 2, (int64_t[]){1, 2}));
}
static tn_array *f_concatenate(const tn_array *a)
{
	const tn_array *both[] = {a, a, tn_ones(context, TN_F64, 1, (int64_t[]){3})};
	return tn_concatenate(3, both, 0);
}
static tn_array *f_nonzero(const tn_array *a)
{
	tn_array *numbers = NULL;
	return tn_nonzero(a, &numbers) ? NULL : numbers;
}
static tn_array *f_map(const tn_array *a)
{
	return tn_map("z = x + 1.5", 1, (const char *[]){"x"}, &a, 0, NULL, NULL);
}

/* ---- The cases -------------------------------------------------------------------------------*/

static const struct asked {
	const char *name;
	tn_array *(*make)(int64_t n);
} asked[] = {
	{"zeros", f_zeros},
	{"empty matrix", f_empty_matrix},
	{"bincount", f_bincount},
	{"bincount of the length", f_bincount_last},
	{"bincount of u64", f_bincount_unsigned},
	{"bincount with weights", f_bincount_weights},
	{"minlength", f_minlength},
	{"histogram", f_histogram},
	{"histogram in a range", f_histogram_range},
	{"histogram2d", f_histogramdd},
	{"linspace", f_linspace},
	{"eye", f_eye},
	{"tri", f_tri},
	{"identity", f_identity},
	{"indices", f_indices},
	{"vander", f_vander},
	{"hanning", f_hanning},
	{"repeat", f_repeat},
	{"repeat each", f_repeat_each},
	{"tile", f_tile},
	{"pad", f_pad},
	{"resize", f_resize},
	{"diag", f_diag},
	{"normal", f_normal},
	{"permutation", f_permutation},
};

static const struct derived {
	const char *name;
	tn_array *(*make)(const tn_array *a);
} derived[] = {
	{"astype", f_astype},
	{"empty_like", f_empty_like},
	{"full_like", f_full_like},
	{"cumsum", f_cumsum},
	{"argsort", f_argsort},
	{"sum of another axis", f_sum},
	{"mean of another axis", f_mean},
	{"add", f_add},
	{"outer product", f_outer},
	{"sin", f_sin},
	{"where", f_where},
	{"take", f_take},
	{"take, wrapping", f_take_wrap},
	{"take_along_axis", f_take_along},
	{"searchsorted", f_searchsorted},
	{"interp", f_interp},
	{"convolve", f_convolve},
	{"gradient", f_gradient},
	{"isin", f_isin},
	{"matmul", f_matmul},
	{"concatenate", f_concatenate},
	{"nonzero", f_nonzero},
	{"map", f_map},
};

static void assert_too_long(const tn_array *made, const char *name, int64_t n)
{
	const struct tn_error_info *error = tn_error(context);
	const tn_status status = error ? error->status : TN_OK;
	const int is_refused = !made && (status == TN_LIMIT || status == TN_OUT_OF_MEMORY ||
					 status == TN_INVALID_ARGUMENT);
	if (!is_refused)
		fail_msg("%s of %lld: %s", name, (long long)n,
			 error ? tn_error_text(context) : "an array");
	tn_error_clear(context);
}

static void check_backend(const char *name)
{
	context = open_backend(name);
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		for (size_t k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++)
			assert_too_long(asked[i].make(lengths[k]), asked[i].name, lengths[k]);
	}
	for (size_t i = 0; i < sizeof(derived) / sizeof(derived[0]); i++) {
		const int64_t n = INT64_C(1) << 61;
		const tn_array *view = long_view(1, &n);
		assert_non_null(view);
		assert_too_long(derived[i].make(view), derived[i].name, n);
	}
	tn_context_close(context);
}

static void lengths_beyond_memory_are_refused(void **state)
{
	static const char *const backends[] = {"reference!", "cpu!", "mock"};
	(void)state;
	for (size_t i = 0; i < sizeof(backends) / sizeof(backends[0]); i++)
		check_backend(backends[i]);
}

/* What is stored nowhere has a length that fits. */
static void long_views_are_legal(void **state)
{
	const int64_t shape[] = {2, INT64_C(1) << 60};
	(void)state;
	context = open_backend("reference!");
	const tn_array *view = long_view(2, shape);
	assert_non_null(view);
	assert_true(tn_array_size(view) == INT64_C(1) << 61);
	assert_int_equal(tn_array_size(tn_slice(tn_transpose(view, NULL), 0, -2, -1, 1)), 2);
	assert_too_long(tn_sum(view, 1, (int[]){0}, 1), "sum", shape[1]);
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_longest_shape_is_cut),
		cmocka_unit_test(lengths_beyond_memory_are_refused),
		cmocka_unit_test(long_views_are_legal),
	};
	keep_plugin_path();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
