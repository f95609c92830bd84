/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Simplifications, forbidden ones, and the identity of programs.
 */
#include "program/hash.h"
#include "unit/program_fixture.h"

struct pair {
	const char *a, *b;
};

static int are_equal(const struct pair *pair)
{
	tn_program *a = fixture_program(pair->a), *b = fixture_program(pair->b);
	int equal = tn_program_equal(a, b);
	assert_int_equal(equal, a->hash[0] == b->hash[0] && a->hash[1] == b->hash[1]);
	tn_program_destroy(a);
	tn_program_destroy(b);
	return equal;
}

static void check_pairs(const struct pair *pairs, size_t n, int equal)
{
	for (size_t k = 0; k < n; k++) {
		if (are_equal(&pairs[k]) == equal)
			continue;
		fail_msg("\"%s\" and \"%s\" are %s", pairs[k].a, pairs[k].b,
			 equal ? "different programs" : "one program");
	}
}

#define N(array) (sizeof(array) / sizeof(array[0]))

static void identities_that_keep_every_bit_are_applied(void **state)
{
	(void)state;
	static const struct pair pairs[] = {
		{"z = x + -0.0", "z = x"},
		{"z = x - 0.0", "z = x"},
		{"z = -0.0 - x", "z = -x"},
		{"z = x + (-y)", "z = x - y"},
		{"z = -y + x", "z = x - y"},
		{"z = x - (-y)", "z = x + y"},
		{"z = x * 1", "z = x"},
		{"z = 1 * x", "z = x"},
		{"z = x * -1", "z = -x"},
		{"z = (-x) * (-y)", "z = x * y"},
		{"z = x / 1", "z = x"},
		{"z = x / 4", "z = x * 0.25"},
		{"z = x / -1", "z = -x"},
		{"z = -(-x)", "z = x"},
		{"z = abs(-x)", "z = abs(x)"},
		{"z = abs(abs(x))", "z = abs(x)"},
		{"z = abs(u)", "z = u"},
		{"z = min(x, x)", "z = x"},
		{"z = pow(x, 1)", "z = x"},
		{"z = pow(x, 2)", "z = x * x"},
		{"z = pow(x, -1)", "z = 1 / x"},
		{"z = pow(x, 0)", "z = 1.0"},
		{"z = fma(x, y, -0.0)", "z = x * y"},
		{"z = fma(x, 1, y)", "z = x + y"},
		{"z = floor(ceil(x))", "z = ceil(x)"},
		{"z = round(f32(i))", "z = f32(i)"},
		{"z = sign(sign(x))", "z = sign(x)"},
		{"z = i + 0", "z = i"},
		{"z = i - i", "z = 0"},
		{"z = i * 0", "z = 0"},
		{"z = i / 0", "z = 0"},
		{"z = i % 1", "z = 0"},
		{"z = i == i", "z = true"},
		{"z = i < i", "z = false"},
		{"z = i & i", "z = i"},
		{"z = i & -1", "z = i"},
		{"z = u & 0xFFFFFFFF", "z = u"},
		{"z = i & 0", "z = 0"},
		{"z = i | 0", "z = i"},
		{"z = i | -1", "z = -1"},
		{"z = i ^ i", "z = 0"},
		{"z = i ^ -1", "z = ~i"},
		{"z = ~~i", "z = i"},
		{"z = i << 0", "z = i"},
		{"z = i >> 32", "z = i"},
		{"z = !!b", "z = b"},
		{"z = b && true", "z = b"},
		{"z = b || true", "z = true"},
		{"z = !(i < j)", "z = i >= j"},
		{"z = !(x == y)", "z = x != y"},
		{"z = b ? x : x", "z = x"},
		{"z = !b ? x : y", "z = b ? y : x"},
		{"z = true ? x : y", "z = x"},
		{"z = b ? true : false", "z = b"},
		{"z = b ? false : true", "z = !b"},
		{"z = i32(i64(i))", "z = i"},
		{"z = f32(f64(x))", "z = x"},
		{"z = bool(i32(b))", "z = b"},
		{"z = f32(i32(b))", "z = f32(b)"},
		{"z = i32(u32(i))", "z = i"},
		{"z = bitcast_f32(bitcast_u32(x))", "z = x"},
	};
	check_pairs(pairs, N(pairs), 1);
}

/* Each right-hand side differs in a sign of zero, in NaN, in infinity or in the last bit. */
static void identities_of_real_numbers_are_left_alone(void **state)
{
	(void)state;
	static const struct pair pairs[] = {
		{"z = x + 0.0", "z = x"},
		{"z = 0.0 - x", "z = -x"},
		{"z = x - x", "z = 0.0"},
		{"z = x * 0.0", "z = 0.0"},
		{"z = x / x", "z = 1.0"},
		{"z = 0.0 / x", "z = 0.0"},
		{"z = x / 3", "z = x * (1.0 / 3)"},
		{"z = (x + y) - y", "z = x"},
		{"z = (x + y) + a", "z = x + (y + a)"},
		{"z = x * y + a", "z = fma(x, y, a)"},
		{"z = x == x", "z = true"},
		{"z = !(x < y)", "z = x >= y"},
		{"z = -(x - y)", "z = y - x"},
		{"z = min(x, y)", "z = min(y, x)"},
		{"z = pow(x, 0.5)", "z = sqrt(x)"},
		{"z = pow(x, 3.0)", "z = x * x * x"},
		{"z = sqrt(x * x)", "z = abs(x)"},
		{"z = exp(log(x))", "z = x"},
		{"z = i32(f32(i))", "z = i"},
		{"z = f64(f32(d))", "z = d"},
		{"z = i32(x) + 0.0", "z = i32(x)"},
		{"z = i * 2 / 2", "z = i"},
		{"z = 1 / (1 / x)", "z = x"},
	};
	check_pairs(pairs, N(pairs), 0);
}

static void the_arrangement_of_a_text_does_not_matter(void **state)
{
	(void)state;
	static const struct pair pairs[] = {
		{"z = x*y + a", "# saxpy\n\tp = x * y ; z = ( p + a )"},
		{"z = x*y", "z = y*x"},
		{"z = x + y*a", "z = a*y + x"},
		{"q = exp(x); r = log(y); z = q - r", "r = log(y); q = exp(x); z = q - r"},
		{"z = (x+y)*(x+y)", "t = x+y; z = t*t"},
		{"u2 = sin(x); unused = u2 * 7; z = y", "z = y"},
		{"z = x + 0.5", "h = 1.0/2; z = x + h"},
		{"z = x * 3", "z = x * 3.0"},
		{"z = relu(x)", "z = x <= 0 ? 0 : x"},
		{"z = x + nan", "z = x + (inf - inf)"},
	};
	static const struct pair others[] = {
		{"z = x + y", "z = x - y"},   {"z = x - y", "z = y - x"},
		{"z = x + 1", "z = x + 2"},   {"z = x + 0.0", "z = x + -0.0 + 0.0 + 0.0"},
		{"z = x", "z = y"},           {"z = x", "z = a"},
		{"z = f64(x)", "z = x"},      {"z = index(0)", "z = index(1)"},
		{"z = i + 1", "z = i + 1.0"}, {"z = bitcast_f32(i)", "z = f32(i)"},
	};
	check_pairs(pairs, N(pairs), 1);
	check_pairs(others, N(others), 0);
}

static void equal_values_are_computed_once(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint32_t n_instructions;
	} cases[] = {
		{"z = sin(x)*sin(x)", 3}, {"z = (x+y)*(y+x)", 4},    {"z = exp(2) * 3", 1},
		{"z = sin(y); z = x", 1}, {"z = clamp(x, 0, 1)", 7},
	};
	for (size_t k = 0; k < N(cases); k++) {
		tn_program *program = fixture_program(cases[k].text);
		assert_int_equal(program->n_instructions, cases[k].n_instructions);
		tn_program_destroy(program);
	}
}

/* Folding gives exactly the bits that the program would compute. */
static void constants_are_folded_as_at_run_time(void **state)
{
	(void)state;
	static const struct {
		const char *folded, *computed;
	} cases[] = {
		{"z = f32(0.1) + f32(0.2)", "z = f32(d) + f32(2*d)"},
		{"z = f32(1e30) * f32(1e30)", "z = f32(d*1e31) * f32(d*1e31)"},
		{"z = i32(7) / i32(0)", "z = i / (j - j)"},
		{"z = i32(f32(1e20))", "z = i32(x * 1e20)"},
		{"z = i32(1) << i32(33)", "z = i / i << 33"},
	};
	for (size_t k = 0; k < N(cases); k++) {
		const struct fixture_values v = {.x = 1, .d = 0.1, .i = 7, .j = 2};
		tn_dtype folded, computed;
		uint64_t a = run_text(cases[k].folded, v, &folded);
		uint64_t b = run_text(cases[k].computed, v, &computed);
		if (a != b || folded != computed)
			fail_msg("%s: %llx, %s: %llx", cases[k].folded, (unsigned long long)a,
				 cases[k].computed, (unsigned long long)b);
	}
}

/* Vectors of MurmurHash3_x64_128 with seed 0, as smhasher prints them. */
static void the_hash_is_murmur3(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint64_t hash[2];
	} cases[] = {
		{"", {0, 0}},
		{"hello", {UINT64_C(0xcbd8a7b341bd9b02), UINT64_C(0x5b1e906a48ae1d19)}},
		{"The quick brown fox jumps over the lazy dog",
		 {UINT64_C(0xe34bbc7bbc071b6c), UINT64_C(0x7a433ca9c49a9347)}},
	};
	for (size_t k = 0; k < N(cases); k++) {
		uint64_t hash[2];
		tn_hash_bytes(cases[k].text, strlen(cases[k].text), hash);
		assert_int_equal(hash[0], cases[k].hash[0]);
		assert_int_equal(hash[1], cases[k].hash[1]);
	}
}

static void a_program_is_one_block_with_canonical_bytes(void **state)
{
	(void)state;
	tn_program *program = fixture_program("z = a*x + 2.5");
	const char *start = (const char *)program, *bytes = program->bytes;
	uint64_t hash[2];
	assert_ptr_equal(bytes, start + sizeof(*program));
	assert_in_range((uintptr_t)program->instructions, (uintptr_t)bytes,
			(uintptr_t)bytes + program->n_bytes -
				program->n_instructions * sizeof(struct tn_instruction));
	assert_int_equal(program->struct_size, sizeof(*program));
	assert_int_equal(program->n_inputs, 8);
	assert_int_equal(program->n_scalars, 2);
	assert_int_equal(program->n_constants, 1);
	tn_hash_bytes(bytes, program->n_bytes, hash);
	assert_memory_equal(hash, program->hash, sizeof(hash));
	tn_program_destroy(program);
	tn_program_destroy(NULL);
}

static void the_text_of_a_program_can_be_read(void **state)
{
	(void)state;
	char text[512], part[10];
	tn_program *program = fixture_program("z = b ? a*x : 2.5");
	size_t length = tn_program_text(program, text, sizeof(text));
	assert_string_equal(text, "v0 = input 7              : bool\n"
				  "v1 = input 0              : f32\n"
				  "v2 = scalar 0             : f32\n"
				  "v3 = mul v1 v2            : f32\n"
				  "v4 = constant 2.5         : f32\n"
				  "v5 = select v0 v3 v4      : f32\n"
				  "output 0 = v5\n");
	assert_int_equal(length, strlen(text));
	assert_int_equal(tn_program_text(program, NULL, 0), length);
	assert_int_equal(tn_program_text(program, part, sizeof(part)), length);
	assert_string_equal(part, "v0 = inpu");
	assert_true(tn_program_has(program, TN_OP_SELECT));
	assert_false(tn_program_has(program, TN_OP_INDEX));
	tn_program_destroy(program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(identities_that_keep_every_bit_are_applied),
		cmocka_unit_test(identities_of_real_numbers_are_left_alone),
		cmocka_unit_test(the_arrangement_of_a_text_does_not_matter),
		cmocka_unit_test(equal_values_are_computed_once),
		cmocka_unit_test(constants_are_folded_as_at_run_time),
		cmocka_unit_test(the_hash_is_murmur3),
		cmocka_unit_test(a_program_is_one_block_with_canonical_bytes),
		cmocka_unit_test(the_text_of_a_program_can_be_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
