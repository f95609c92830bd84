/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The table of operations: every row is complete, and its programs have the bits that are recorded
 * here.  Who changes a formula on purpose records the hash that the failure prints; a change of
 * names and layout leaves it as it is.
 */
#include "array_fixture.h"

#include <string.h>

#include "dispatch/element_programs.h"
#include "dispatch/formulas.h"
#include "dispatch/operations.h"
#include "program/hash.h"

static const tn_dtype dtypes[] = {TN_BOOL, TN_I8,  TN_I16, TN_I32,  TN_I64, TN_U8, TN_U16,
				  TN_U32,  TN_U64, TN_F16, TN_BF16, TN_F32, TN_F64};
enum { N_DTYPES = sizeof(dtypes) / sizeof(dtypes[0]) };

static const struct {
	const char *name;
	uint64_t hash;
} recorded[] = {
#include "operation_hashes.inc"
};

static void every_operation_has_a_name_of_its_own(void **state)
{
	(void)state;
	for (int i = 0; i < TN_OPERATIONS; i++) {
		assert_non_null(tn_operations[i].name);
		for (int k = 0; k < i; k++)
			assert_string_not_equal(tn_operations[i].name, tn_operations[k].name);
	}
}

static void check_words(const char *words, uint32_t least, uint32_t most)
{
	assert_in_range(tn_count_words(words), least, most);
	assert_true(!words ||
		    (!strstr(words, "  ") && words[0] != ' ' && words[strlen(words) - 1] != ' '));
}

static void every_element_operation_names_its_operands(void **state)
{
	(void)state;
	for (int i = 0; i < TN_ELEMENT_OPERATIONS; i++) {
		const struct tn_element_operation *row = &tn_operations[i];
		check_words(row->inputs, 1, 3);
		check_words(row->scalars, 0, 2);
		assert_true(row->text || i == TN_DO_COMPLEX);
		if (row->fold.is_reorderable)
			assert_int_equal(tn_count_words(row->inputs), 2);
	}
	for (int i = TN_ELEMENT_OPERATIONS; i < TN_OPERATIONS; i++)
		assert_null(tn_operations[i].inputs);
}

static uint64_t mix(uint64_t hash, const struct tn_program *program)
{
	const uint64_t words[] = {hash, program->hash[0], program->hash[1]};
	uint64_t mixed[2];
	tn_hash_bytes(words, sizeof(words), mixed);
	return mixed[0];
}

static uint64_t mix_derivatives(uint64_t hash, const struct tn_element_operation *row,
				tn_dtype dtype)
{
	const tn_dtype inputs[] = {dtype, dtype, dtype, dtype}, scalars[] = {dtype, dtype};
	char names[64];
	snprintf(names, sizeof(names), "%s dz", row->inputs);
	for (int i = 0; i < TN_DERIVATIVES; i++) {
		const struct tn_formula formula = {
			.text = row->derivatives[i], .inputs = names, .scalars = row->scalars};
		struct tn_program *program;
		struct tn_error_info error;
		if (!formula.text)
			continue;
		assert_ok(tn_formula_parse(&formula, inputs, scalars, &program, &error));
		hash = mix(hash, program);
		tn_program_destroy(program);
	}
	return hash;
}

/* For inputs of one dtype, each that the operation takes; and a comparison of u64 with i64. */
static uint64_t hash_of(struct tn_runtime *runtime, enum tn_operation operation)
{
	const struct tn_element_operation *row = &tn_operations[operation];
	const uint32_t n = tn_count_words(row->inputs);
	const tn_dtype apart[] = {TN_U64, TN_I64};
	struct tn_element_program element;
	uint64_t hash = 0;
	for (int i = 0; i < N_DTYPES; i++) {
		const tn_dtype same[] = {dtypes[i], dtypes[i], dtypes[i]};
		tn_status status = tn_element_program_find(runtime, operation, n, same, &element);
		if (status) {
			assert_int_equal(status, TN_DTYPE);
			continue;
		}
		hash = mix(hash, element.program);
	}
	if (row->gives_bool && n == 2) {
		assert_ok(tn_element_program_find(runtime, operation, n, apart, &element));
		hash = mix(hash, element.program);
	}
	return mix_derivatives(mix_derivatives(hash, row, TN_F32), row, TN_F64);
}

static void programs_have_the_recorded_bits(void **state)
{
	struct fixture *f = *state;
	int n_wrong = 0, n = 0;
	for (int i = 0; i < TN_ELEMENT_OPERATIONS; i++) {
		if (i == TN_DO_COMPLEX)
			continue;
		const uint64_t hash = hash_of(&f->context.runtime, (enum tn_operation)i);
		const char *name = tn_operations[i].name;
		const int is_recorded = n < (int)(sizeof(recorded) / sizeof(recorded[0])) &&
					strcmp(recorded[n].name, name) == 0;
		if (is_recorded && recorded[n].hash == hash) {
			n++;
			continue;
		}
		print_error("{\"%s\", 0x%016llx},\n", name, (unsigned long long)hash);
		n += is_recorded;
		n_wrong++;
	}
	assert_int_equal(n_wrong, 0);
	assert_int_equal(n, sizeof(recorded) / sizeof(recorded[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_operation_has_a_name_of_its_own),
		cmocka_unit_test(every_element_operation_names_its_operands),
		cmocka_unit_test_setup_teardown(programs_have_the_recorded_bits, open_fixture,
						close_fixture),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
