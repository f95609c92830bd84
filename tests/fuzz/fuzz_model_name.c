/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Any text as the name, form and settings of a network, as files of saved networks have them.
 */
#include <string.h>
#include <tenon/tenon.h>

#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void drop_message(void *user, int level, const char *subsystem, const char *text,
			 size_t length)
{
	(void)user, (void)level, (void)subsystem, (void)text, (void)length;
}

static tn_context *open_context(void)
{
	tn_context *context;
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference!";
	options.log = drop_message;
	fuzz_require(tn_context_open(&options, &context, NULL) == TN_OK);
	return context;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct tn_model_shape shape = {1, 2, 2, 2};
	static tn_context *context;
	if (!context)
		context = open_context();
	char *text = malloc(size + 1);
	fuzz_require(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	tn_module *net = tn_model_create(context, text, &shape);
	fuzz_require((net == NULL) == (tn_error(context) != NULL));
	fuzz_require(net || tn_error(context)->text[0]);
	tn_error_clear(context);
	tn_module_destroy(net);
	free(text);
	return 0;
}
