/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Maps the input as NPY: what is mapped has the elements that are read, and what cannot be read
 * cannot be mapped.
 */
#include <string.h>
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

static void compare(const tn_array *mapped, const tn_array *read)
{
	const size_t size = (size_t)tn_array_size(read) * tn_dtype_size(tn_array_dtype(read));
	unsigned char *both = malloc(2 * size + 1);
	fuzz_require(both != NULL && tn_array_dtype(mapped) == tn_array_dtype(read));
	fuzz_require(tn_array_rank(mapped) == tn_array_rank(read));
	for (int i = 0; i < tn_array_rank(read); i++)
		fuzz_require(tn_array_shape(mapped)[i] == tn_array_shape(read)[i]);
	fuzz_require(tn_to_host(mapped, both, size) == TN_OK);
	fuzz_require(tn_to_host(read, both + size, size) == TN_OK);
	fuzz_require(!memcmp(both, both + size, size));
	free(both);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!context)
		open_context();
	const char *path = fuzz_file(data, size);
	fuzz_require(tn_scope_begin(context) == TN_OK);
	const tn_array *mapped = tn_npy_map(context, path);
	const tn_status status = mapped ? TN_OK : tn_error(context)->status;
	fuzz_require(mapped || tn_error(context)->text[0]);
	tn_error_clear(context);
	const tn_array *read = tn_load(context, path);
	if (mapped)
		compare(mapped, read);
	else
		fuzz_require(!read || status == TN_UNSUPPORTED);
	tn_error_clear(context);
	tn_scope_end(context, NULL);
	return 0;
}
