/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Every opcode in every dtype is printed as C, compiled by the system's compiler and run over
 * special values and compared with the evaluator.  Skipped without a compiler.
 */
#include <dlfcn.h>
#include <unistd.h>

#include <tenon/plugin.h>

#include "base/text.h"
#include "program/opcode.h"
#include "program/prelude.h"
#include "program/printer.h"
#include "program/program.h"
#include "unit/program_fixture.h"

#define MAX_KERNELS 400

struct kernel {
	tn_program *program;
	uint16_t op;
	tn_dtype operands[3];
	int arity;
};

static struct kernel kernels[MAX_KERNELS];
static int n_kernels;
static void *library;

static const tn_dtype compute_dtypes[] = {TN_BOOL, TN_I32, TN_U32, TN_I64, TN_F32, TN_F64};

static void add_piece(void *text, const char *piece, size_t length)
{
	tn_text_format(text, "%.*s", (int)length, piece);
}

/* The arguments that add C to a text. */
static struct tn_print_args into(struct tn_text *text, const char *prefix)
{
	return (struct tn_print_args){.struct_size = sizeof(struct tn_print_args),
				      .dialect = tn_plugin_dialect_c(),
				      .prefix = prefix,
				      .write = add_piece,
				      .user = text};
}

static void add_kernel(uint16_t op, tn_dtype dtype, const tn_dtype *operands, int arity)
{
	struct tn_program_parts parts = {.n_inputs = (uint32_t)arity,
					 .n_outputs = 1,
					 .n_instructions = (uint32_t)arity + 1,
					 .outputs = {(uint16_t)arity}};
	struct kernel *kernel = &kernels[n_kernels++];
	struct tn_error_info error;
	assert_true(n_kernels <= MAX_KERNELS);
	for (int k = 0; k < arity; k++) {
		parts.instructions[k] = (struct tn_instruction){
			.op = TN_OP_INPUT, .dtype = (uint16_t)operands[k], .a = (uint16_t)k};
		kernel->operands[k] = operands[k];
	}
	parts.instructions[arity] = (struct tn_instruction){
		.op = op, .dtype = (uint16_t)dtype, .b = arity > 1, .c = arity > 2 ? 2 : 0};
	kernel->op = op;
	kernel->arity = arity;
	assert_ok(tn_program_create(&parts, "test", &kernel->program, NULL));
	if (tn_program_check(kernel->program, TN_OP_COUNT, TN_ALL_DTYPES, "test", &error))
		fail_msg("%s: %s", tn_op_name(op), error.text);
}

static int takes(uint16_t op, tn_dtype dtype)
{
	unsigned flags = tn_op_information(op)->flags;
	unsigned needed = dtype == TN_BOOL        ? TN_TAKES_BOOL
			  : tn_is_floating(dtype) ? TN_TAKES_FLOATS
						  : TN_TAKES_INTEGERS;
	return (flags & needed) != 0;
}

static void add_conversions(void)
{
	for (int i = 0; i < 6; i++) {
		for (int j = 0; j < 6; j++) {
			tn_dtype from = compute_dtypes[i], to = compute_dtypes[j];
			add_kernel(TN_OP_CAST, to, &from, 1);
			if (from != TN_BOOL && tn_dtype_size(from) == 4 && tn_dtype_size(to) == 4)
				add_kernel(TN_OP_BITCAST, to, &from, 1);
		}
	}
}

static void add_ordinary(uint16_t op)
{
	const struct tn_op_info *information = tn_op_information(op);
	for (int i = 0; i < 6; i++) {
		tn_dtype dtype = compute_dtypes[i];
		const tn_dtype same[] = {dtype, dtype, dtype};
		const tn_dtype choice[] = {TN_BOOL, dtype, dtype};
		if (!takes(op, dtype))
			continue;
		add_kernel(op, information->flags & TN_GIVES_BOOL ? TN_BOOL : dtype,
			   op == TN_OP_SELECT ? choice : same, information->arity);
	}
}

static void add_all_kernels(void)
{
	static const tn_dtype numbers[] = {TN_I64, TN_I64, TN_I64}, word = TN_U32;
	for (uint16_t op = 0; op < TN_OP_COUNT; op++) {
		int has_one_type = tn_op_information(op)->flags & TN_HAS_ONE_TYPE;
		if (op != TN_OP_CAST && op != TN_OP_BITCAST && !has_one_type)
			add_ordinary(op);
	}
	add_conversions();
	add_kernel(TN_OP_RANDOM, TN_U32, numbers, 3);
	add_kernel(TN_OP_NORMAL, TN_F32, &word, 1);
}

/* ---- The source ------------------------------------------------------------------------------*/

static void add_print(struct tn_text *source, const tn_program *program, const char *prefix)
{
	const struct tn_print_args args = into(source, prefix);
	assert_ok(program ? tn_print_program(program, &args) : tn_print_prelude(&args));
}

static void add_load(struct tn_text *source, const char *name, tn_dtype dtype, int k)
{
	const char *type = tn_dtype_name(dtype);
	if (dtype == TN_F32 || dtype == TN_F64)
		tn_text_format(source, "const tn_%s %s%d = tn_%s_of_bits((tn_u%s)x[%d]);\n", type,
			       name, k, type, type + 1, k);
	else
		tn_text_format(source, "const tn_%s %s%d = (tn_%s)x[%d];\n", type, name, k, type,
			       k);
}

static void add_store(struct tn_text *source, const char *name, tn_dtype dtype)
{
	if (dtype == TN_F64)
		tn_text_format(source, "memcpy(z, &%s, 8);\n", name);
	else if (dtype == TN_F32)
		tn_text_format(source, "*z = tn_bits_of_f32(%s);\n", name);
	else
		tn_text_format(source, "*z = %s%s;\n", dtype == TN_I64 ? "" : "(uint32_t)", name);
}

static void add_kernel_source(struct tn_text *source, int number)
{
	const struct kernel *kernel = &kernels[number];
	tn_text_format(source, "void kernel_%d(const uint64_t *x, uint64_t *z);\n", number);
	tn_text_format(source, "void kernel_%d(const uint64_t *x, uint64_t *z)\n{\n", number);
	for (int k = 0; k < kernel->arity; k++)
		add_load(source, "in", kernel->operands[k], k);
	add_print(source, kernel->program, NULL);
	add_store(source, "out0", tn_program_output_dtype(kernel->program, 0));
	tn_text_add(source, "}\n");
}

/* One program that reads everything available to a printed program, under a prefix. */
static const char everything[] =
	"t = a * x + y\n"
	"n = normal(s, 7, element(), 0.5, 2) + uniform(s, 8, index(1))\n"
	"z = b ? t / 3 + n : f32(i / j) + f32(d) * 1e-40 - inf + f32(l ^ 0x7FFFFFFFFFFFFFFF >> 3)";

static void add_everything(struct tn_text *source)
{
	tn_program *program = fixture_program(everything);
	tn_text_add(source, "void everything(const uint64_t *x, const uint64_t *y, uint64_t *z);\n"
			    "void everything(const uint64_t *x, const uint64_t *y, uint64_t *z)\n"
			    "{\n");
	for (int k = 0; k < 8; k++)
		add_load(source, "my_in", fixture_dtypes[k], k);
	tn_text_add(source, "const tn_f32 my_s0 = tn_f32_of_bits((tn_u32)y[0]);\n"
			    "const tn_i64 my_s1 = (tn_i64)y[1];\n"
			    "const tn_i64 my_i1 = 5, my_element = 42;\n"
			    "(void)my_in5;\n");
	add_print(source, program, "my_");
	add_store(source, "my_out0", TN_F32);
	tn_text_add(source, "}\n");
	tn_program_destroy(program);
}

/* A compiler is needed; the folder for its output is made here and emptied at the end. */
static void *compile(const char *source)
{
	char folder[256], path[300], command[700];
	if (make_program_folder(folder, sizeof(folder)))
		return NULL;
	snprintf(path, sizeof(path), "%s/p.c", folder);
	FILE *file = fopen(path, "w");
	fputs(source, file);
	fclose(file);
	snprintf(command, sizeof(command),
		 "cc -O1 -std=gnu11 -Wall -Wextra -Werror -shared -fPIC -o %s/p.so %s -lm", folder,
		 path);
	int failed = system(command);
	snprintf(path, sizeof(path), "%s/p.so", folder);
	void *compiled = failed ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
	unlink(path);
	snprintf(path, sizeof(path), "%s/p.c", folder);
	unlink(path);
	rmdir(folder);
	return compiled;
}

static int set_up(void **state)
{
	struct tn_text source;
	(void)state;
	add_all_kernels();
	tn_text_init(&source);
	add_print(&source, NULL, NULL);
	for (int k = 0; k < n_kernels; k++)
		add_kernel_source(&source, k);
	add_everything(&source);
	char *text = tn_text_take(&source);
	library = compile(text);
	free(text);
	return library ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	for (int k = 0; k < n_kernels; k++)
		tn_program_destroy(kernels[k].program);
	return 0;
}

/* ---- The comparison --------------------------------------------------------------------------*/

static const double specials[] = {
	0,
	-0.0,
	1,
	-1,
	2,
	-2,
	0.5,
	-0.5,
	1.5,
	2.5,
	-2.5,
	3,
	7,
	31,
	32,
	33,
	-33,
	1e-3,
	88,
	-104,
	1e10,
	-1e10,
	1e20,
	-1e20,
	1e-40,
	INFINITY,
	-INFINITY,
	NAN,
	2147483647,
	-2147483648.0,
	4294967295.0,
	9.3e18,
	-9.3e18,
	0.999999,
	16777217,
};

static uint64_t special(tn_dtype dtype, int k)
{
	return bits_of_number(dtype, specials[k]);
}

/* Functions of the mathematics library may differ from the evaluator in the last bits. */
static int is_library_function(uint16_t op)
{
	return (tn_op_information(op)->flags & TN_IS_INEXACT) != 0;
}

/* Bit for bit, any NaN for a NaN; library functions to 4 units in the last place. */
static int agrees(uint16_t op, tn_dtype dtype, uint64_t found, uint64_t expected)
{
	double a = number_of_bits(dtype, found), b = number_of_bits(dtype, expected);
	if (found == expected || (tn_is_floating(dtype) && isnan(a) && isnan(b)))
		return 1;
	if (!is_library_function(op))
		return 0;
	double epsilon = dtype == TN_F32 ? 0x1p-23 : 0x1p-52;
	double least = dtype == TN_F32 ? 0x1p-149 : 0x1p-1074;
	return fabs(a - b) <= 4 * epsilon * fabs(b) + 4 * least;
}

static void compare(int number, const uint64_t *inputs)
{
	char name[32];
	uint64_t found = 0, expected = 0;
	const struct kernel *kernel = &kernels[number];
	snprintf(name, sizeof(name), "kernel_%d", number);
	void (*run)(const uint64_t *, uint64_t *);
	*(void **)&run = dlsym(library, name);
	run(inputs, &found);
	tn_evaluate_program(kernel->program, inputs, NULL, NULL, 0, &expected);
	tn_dtype dtype = tn_program_output_dtype(kernel->program, 0);
	if (agrees(kernel->op, dtype, found, expected))
		return;
	print_error("%s %s -> %s of %llx %llx %llx: printed %llx, evaluated %llx\n",
		    tn_op_name(kernel->op), tn_dtype_name(kernel->operands[0]),
		    tn_dtype_name(dtype), (unsigned long long)inputs[0],
		    (unsigned long long)inputs[1], (unsigned long long)inputs[2],
		    (unsigned long long)found, (unsigned long long)expected);
	fail();
}

static void printed_c_gives_what_is_evaluated(void **state)
{
	(void)state;
	const int n = sizeof(specials) / sizeof(specials[0]);
	for (int number = 0; number < n_kernels; number++) {
		const struct kernel *kernel = &kernels[number];
		for (int i = 0; i < n; i++) {
			for (int j = 0; j < (kernel->arity > 1 ? n : 1); j++) {
				for (int k = 0; k < (kernel->arity > 2 ? n : 1); k++) {
					const uint64_t inputs[] = {special(kernel->operands[0], i),
								   special(kernel->operands[1], j),
								   special(kernel->operands[2], k)};
					compare(number, inputs);
				}
			}
		}
	}
}

static void prefixes_constants_and_sources_are_printed(void **state)
{
	(void)state;
	const double numbers[] = {1.5, -2, 0.25, 7, -2, 9, 1e15, 0};
	const uint64_t scalars[] = {tn_bits_of_f32(3), 99};
	const int64_t index[] = {3, 5, 7};
	uint64_t inputs[8], found = 0, expected = 0;
	tn_program *program = fixture_program(everything);
	void (*run)(const uint64_t *, const uint64_t *, uint64_t *);
	*(void **)&run = dlsym(library, "everything");
	for (int b = 0; b < 2; b++) {
		for (int k = 0; k < 8; k++)
			inputs[k] = bits_of_number(fixture_dtypes[k], k == 7 ? b : numbers[k]);
		run(inputs, scalars, &found);
		tn_evaluate_program(program, inputs, scalars, index, 42, &expected);
		assert_true(agrees(TN_OP_ADD, TN_F32, found, expected));
	}
	tn_program_destroy(program);
}

static void the_source_of_a_program_compiles_by_itself(void **state)
{
	(void)state;
	struct tn_program_names names = fixture_names();
	names.n_outputs = 2;
	names.outputs = (const char *[]){"z", "w"};
	tn_program *program =
		parse_or_fail("z = x*a + f32(index(1)) + f32(element()); w = j % 5", &names);
	const size_t length = tn_program_source(program, "one_element", NULL, 0);
	char *text = malloc(length + 1), few[16];
	assert_int_equal(tn_program_source(program, "one_element", text, length + 1), length);
	assert_int_equal(strlen(text), length);
	assert_contains(text, "void one_element(tn_f32 in0, tn_i32 in4, tn_f32 s0, tn_i64 i1, "
			      "tn_i64 element, tn_f32 *z0, tn_i32 *z1)");
	void *compiled = compile(text);
	assert_non_null(compiled);
	void (*run)(float, int32_t, float, int64_t, int64_t, float *, int32_t *);
	*(void **)&run = dlsym(compiled, "one_element");
	float z;
	int32_t w;
	run(1.5F, 13, 3, 5, 42, &z, &w);
	assert_close(z, 51.5, 0);
	assert_int_equal(w, 3);
	/* What does not fit is left out; the length is that of the whole. */
	assert_int_equal(tn_program_source(program, "one_element", few, sizeof(few)), length);
	assert_int_equal(strncmp(few, text, sizeof(few) - 1), 0);
	assert_int_equal(tn_program_source(program, NULL, few, sizeof(few)), 0);
	assert_int_equal(tn_program_source(NULL, "f", few, sizeof(few)), 0);
	free(text);
	dlclose(compiled);
	tn_program_destroy(program);
}

static void the_prelude_defines_what_programs_call(void **state)
{
	(void)state;
	struct tn_text prelude, text;
	tn_text_init(&prelude);
	add_print(&prelude, NULL, NULL);
	for (int number = 0; number < n_kernels; number++) {
		char name[64];
		tn_text_init(&text);
		add_print(&text, kernels[number].program, NULL);
		const char *call = strstr(text.data, " = tn_");
		if (call) {
			call += 3;
			snprintf(name, sizeof(name), "%.*s(", (int)strcspn(call, "("), call);
			assert_contains(prelude.data, name);
		}
		tn_text_release(&text);
	}
	tn_text_release(&prelude);
}

/* Words and suffix are given by the caller. */
static void a_dialect_is_printed_with_its_own_words(void **state)
{
	(void)state;
	const struct tn_dialect own = {.struct_size = sizeof(own),
				       .n_operations = TN_OP_EXP,
				       .dtypes = TN_PLUGIN_DTYPE(TN_I64),
				       .words = "typedef long tn_i64;\n"};
	struct tn_program_names names = {.struct_size = sizeof(names)};
	struct tn_program *program;
	struct tn_text text;
	assert_ok(tn_program_parse("z = 7 + index(0)", &names, &program, NULL));
	tn_text_init(&text);
	struct tn_print_args args = into(&text, NULL);
	args.dialect = &own;
	assert_ok(tn_print_prelude(&args));
	assert_int_equal(strncmp(text.data, own.words, strlen(own.words)), 0);
	assert_null(strstr(text.data, "stdint.h"));
	assert_ok(tn_print_program(program, &args));
	assert_contains(text.data, " = TN_I64(7);");
	tn_program_destroy(program);
	/* Programs that the dialect does not support. */
	const char *const beyond[] = {"z = exp(1.5)", "z = 1.5"};
	size_t length = text.length;
	for (int i = 0; i < 2; i++) {
		assert_ok(tn_program_parse(beyond[i], &names, &program, NULL));
		assert_status(tn_print_program(program, &args), TN_UNSUPPORTED);
		tn_program_destroy(program);
	}
	assert_int_equal(text.length, length);
	tn_text_release(&text);
}

static void arguments_that_lack_something_print_nothing(void **state)
{
	(void)state;
	struct tn_text text;
	tn_text_init(&text);
	const struct tn_dialect wordless = {.struct_size = sizeof(wordless)};
	const struct tn_dialect older = {.struct_size = 8, .words = ""};
	const struct tn_dialect *lacking[] = {NULL, &wordless, &older};
	for (int i = 0; i < 5; i++) {
		struct tn_print_args args = into(&text, NULL);
		if (i < 3)
			args.dialect = lacking[i];
		else if (i == 3)
			args.write = NULL;
		else
			args.struct_size = 8;
		assert_status(tn_print_prelude(&args), TN_INVALID_ARGUMENT);
		assert_status(tn_print_program(kernels[0].program, &args), TN_INVALID_ARGUMENT);
	}
	assert_int_equal(text.length, 0);
	tn_text_release(&text);
}

/* Invalid programs, derived from a valid one by one change. */
static void unsound_programs_are_found(void **state)
{
	(void)state;
	const uint64_t f32 = TN_PLUGIN_DTYPE(TN_F32);
	struct tn_program_parts parts = {.n_inputs = 1,
					 .n_outputs = 1,
					 .n_instructions = 2,
					 .outputs = {1},
					 .instructions = {{.op = TN_OP_INPUT, .dtype = TN_F32},
							  {.op = TN_OP_EXP, .dtype = TN_F32}}};
	const struct {
		tn_status status;
		uint16_t op, dtype, a, output;
		uint64_t dtypes;
	} cases[] = {
		{TN_OK, TN_OP_EXP, TN_F32, 0, 1, f32},
		{TN_UNSUPPORTED, TN_OP_COUNT, TN_F32, 0, 1, f32},
		{TN_UNSUPPORTED, 6, TN_F32, 0, 1, f32}, /* a gap in the numbers */
		{TN_UNSUPPORTED, TN_OP_EXP, TN_F32, 0, 1, ~f32},
		{TN_UNSUPPORTED, TN_OP_EXP, 64 + TN_F32, 0, 1, TN_ALL_DTYPES},
		{TN_INVALID_ARGUMENT, TN_OP_EXP, TN_F64, 0, 1, TN_ALL_DTYPES},
		{TN_INVALID_ARGUMENT, TN_OP_SHL, TN_F32, 0, 1, f32},
		{TN_INVALID_ARGUMENT, TN_OP_EXP, TN_F32, 1, 1, f32},   /* itself */
		{TN_INVALID_ARGUMENT, TN_OP_EXP, TN_F32, 0, 2, f32},   /* no such value */
		{TN_INVALID_ARGUMENT, TN_OP_INPUT, TN_F32, 1, 1, f32}, /* no such input */
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tn_program *program;
		struct tn_error_info error = {.struct_size = sizeof(error)};
		parts.instructions[1] = (struct tn_instruction){
			.op = cases[i].op, .dtype = cases[i].dtype, .a = cases[i].a};
		parts.outputs[0] = cases[i].output;
		assert_ok(tn_program_create(&parts, "test", &program, NULL));
		assert_status(
			tn_program_check(program, TN_OP_COUNT, cases[i].dtypes, "try", &error),
			cases[i].status);
		if (cases[i].status)
			assert_string_equal(error.operation, "try");
		if (cases[i].status == TN_INVALID_ARGUMENT) {
			struct tn_text text;
			tn_text_init(&text);
			struct tn_print_args args = into(&text, NULL);
			assert_status(tn_print_program(program, &args), TN_INVALID_ARGUMENT);
			assert_int_equal(text.length, 0);
			tn_text_release(&text);
		}
		tn_program_destroy(program);
	}
	struct tn_program *program;
	parts.n_instructions = 3;
	parts.instructions[1] = (struct tn_instruction){.op = TN_OP_INPUT, .dtype = TN_I32};
	parts.instructions[2] = (struct tn_instruction){.op = TN_OP_CAST, .dtype = TN_F32, .a = 1};
	parts.outputs[0] = 2;
	assert_ok(tn_program_create(&parts, "test", &program, NULL));
	assert_status(tn_program_check(program, TN_OP_COUNT, TN_ALL_DTYPES, "try", NULL),
		      TN_INVALID_ARGUMENT); /* an input in two dtypes */
	tn_program_destroy(program);
	assert_status(tn_program_check(NULL, TN_OP_COUNT, f32, "try", NULL), TN_INVALID_ARGUMENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(printed_c_gives_what_is_evaluated),
		cmocka_unit_test(prefixes_constants_and_sources_are_printed),
		cmocka_unit_test(the_source_of_a_program_compiles_by_itself),
		cmocka_unit_test(the_prelude_defines_what_programs_call),
		cmocka_unit_test(a_dialect_is_printed_with_its_own_words),
		cmocka_unit_test(arguments_that_lack_something_print_nothing),
		cmocka_unit_test(unsound_programs_are_found),
	};
	if (system("cc --version >/dev/null 2>&1"))
		return TEST_SKIPPED;
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
