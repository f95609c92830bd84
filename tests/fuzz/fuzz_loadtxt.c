/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reads the input, without its first two bytes, as a table of text, plain or gzipped.  These bytes
 * choose the options.
 */
#include <tenon/tenon.h>

#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static tn_context *context;

static void drop_message(void *user, int level, const char *subsystem, const char *text,
			 size_t length)
{
	(void)user, (void)level, (void)subsystem, (void)text, (void)length;
}

static void open_context(void)
{
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference!";
	options.log = drop_message;
	fuzz_require(tn_context_open(&options, &context, NULL) == TN_OK);
}

/* What a table that was read must satisfy. */
static void check(const tn_array *array, const struct tn_loadtxt_options *options)
{
	const int rank = tn_array_rank(array);
	fuzz_require(rank >= (int)options->ndmin && rank <= 2);
	fuzz_require(tn_array_dtype(array) == (options->dtype ? options->dtype : TN_F64));
	if (rank == 2 && options->n_usecols)
		fuzz_require(tn_array_shape(array)[1] == options->n_usecols);
	char *text = tn_array_repr(array, NULL);
	fuzz_require(text != NULL && text[0] == 'a');
	tn_string_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int columns[] = {1, -1};
	if (size < 2)
		return 0;
	struct tn_loadtxt_options options = tn_loadtxt_defaults();
	options.dtype = data[0] % TN_DTYPES;
	options.delimiter = data[0] & 16 ? ',' : 0;
	options.comments = data[0] & 32 ? "//" : NULL;
	options.ndmin = data[0] >> 6 > 2 ? 2 : data[0] >> 6;
	options.skiprows = data[1] & 3;
	options.max_rows = data[1] >> 2 & 3;
	options.usecols = data[1] & 16 ? columns : NULL;
	options.n_usecols = data[1] & 16 ? 2 : 0;
	options.fill_missing = data[1] >> 5 & 1;
	options.filling_value = -1;
	options.missing_text = data[1] & 32 ? "NA" : NULL;
	if (!context)
		open_context();
	fuzz_require(tn_scope_begin(context) == TN_OK);
	const tn_array *array = tn_loadtxt(context, fuzz_file(data + 2, size - 2), &options);
	fuzz_require((array == NULL) == (tn_error(context) != NULL));
	if (array)
		check(array, &options);
	else
		fuzz_require(tn_error(context)->text[0]);
	tn_error_clear(context);
	tn_scope_end(context, NULL);
	return 0;
}
