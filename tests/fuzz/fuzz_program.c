/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Any bytes as the text of a program.  A parsed program must be well formed, parse again to the
 * same, and be differentiated, printed and run without a fault.
 */
#include <stdlib.h>
#include <string.h>

#include <tenon/program.h>

#include <tenon/plugin.h>

#include "program/evaluate.h"
#include "program/printer.h"
#include "program/program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const inputs[] = {"x", "y", "d", "i", "u", "b"};
static const tn_dtype input_dtypes[] = {TN_F32, TN_F16, TN_F64, TN_I8, TN_U32, TN_BOOL};
static const char *const scalars[] = {"a", "s"};
static const tn_dtype scalar_dtypes[] = {0, TN_I64};
static const struct tn_program_names names = {.struct_size = sizeof(names),
					      .n_inputs = 6,
					      .n_scalars = 2,
					      .inputs = inputs,
					      .input_dtypes = input_dtypes,
					      .scalars = scalars,
					      .scalar_dtypes = scalar_dtypes};

static void require(int condition)
{
	if (!condition)
		abort();
}

static void count(void *length, const char *text, size_t n)
{
	require(!memchr(text, '\0', n));
	*(size_t *)length += n;
}

static void run(const tn_program *program)
{
	static const uint64_t bits[TN_PROGRAM_MAX_INPUTS] = {0x3fc00000, 0x7fc00000, 0x80000000, 1};
	static const int64_t index[TN_MAX_RANK] = {1, 2, 3};
	uint64_t outputs[TN_PROGRAM_MAX_OUTPUTS];
	char text[128];
	tn_evaluate_program(program, bits, bits, index, 5, outputs);
	require(tn_program_text(program, text, sizeof(text)) > 0);
	require(strlen(text) < sizeof(text));
	size_t length = 0;
	const struct tn_print_args args = {.struct_size = sizeof(args),
					   .dialect = tn_plugin_dialect_c(),
					   .prefix = "p_",
					   .write = count,
					   .user = &length};
	require(!tn_print_program(program, &args) && length > 0);
}

/* The gradient of x, y and a: well formed, or larger than a limit. */
static void differentiate(const tn_program *program)
{
	static const uint32_t first_two[] = {0, 1};
	static const struct tn_program_wants wants = {.struct_size = sizeof(wants),
						      .n_inputs = 2,
						      .inputs = first_two,
						      .n_scalars = 1,
						      .scalars = first_two};
	tn_program *gradient = NULL;
	tn_status status = tn_program_differentiate(program, &wants, &gradient, NULL);
	require(status == TN_OK || status == TN_LIMIT);
	if (!status) {
		require(!tn_program_check(gradient, TN_OP_COUNT, TN_ALL_DTYPES, "fuzz", NULL));
		run(gradient);
	}
	tn_program_destroy(gradient);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	tn_program *program = NULL, *again = NULL;
	struct tn_error_info error;
	require(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	tn_status status = tn_program_parse(text, &names, &program, &error);
	require((status == TN_OK) == (program != NULL));
	if (!status) {
		require(!tn_program_check(program, TN_OP_COUNT, TN_ALL_DTYPES, "fuzz", &error));
		run(program);
		differentiate(program);
		require(!tn_program_parse(text, &names, &again, &error));
		require(tn_program_equal(program, again));
	} else
		require(error.status == status && error.text[0]);
	tn_program_destroy(program);
	tn_program_destroy(again);
	free(text);
	return 0;
}
