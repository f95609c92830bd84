/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * mma.sync and ldmatrix against plain loops.  The elements of each lane are listed here as in the
 * PTX manual, for each shape.
 */
#include "ptx_fixture.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"

enum { LANES = 32, WORDS = 12, A = 0, B = 4, C = 6 };

struct shape {
	const char *name;
	unsigned depth;
	char kind;            /* 'h' f16, 't' bf16, 'x' tf32 */
	unsigned a[8], ak[8]; /* of element i of A: what is added to its row and to its column */
	unsigned bk[4];       /* of B: to its row */
};

static const struct shape shapes[] = {
	{"m16n8k16.row.col.f32.f16.f16.f32",
	 16,
	 'h',
	 {0, 0, 8, 8, 0, 0, 8, 8},
	 {0, 1, 0, 1, 8, 9, 8, 9},
	 {0, 1, 8, 9}},
	{"m16n8k16.row.col.f32.bf16.bf16.f32",
	 16,
	 't',
	 {0, 0, 8, 8, 0, 0, 8, 8},
	 {0, 1, 0, 1, 8, 9, 8, 9},
	 {0, 1, 8, 9}},
	{"m16n8k8.row.col.f32.f16.f16.f32", 8, 'h', {0, 0, 8, 8}, {0, 1, 0, 1}, {0, 1}},
	{"m16n8k8.row.col.f32.bf16.bf16.f32", 8, 't', {0, 0, 8, 8}, {0, 1, 0, 1}, {0, 1}},
	{"m16n8k8.row.col.f32.tf32.tf32.f32", 8, 'x', {0, 8, 0, 8}, {0, 0, 4, 4}, {0, 4}},
	{"m16n8k4.row.col.f32.tf32.tf32.f32", 4, 'x', {0, 8}, {0, 0}, {0}},
};

/* ---- mma -------------------------------------------------------------------------------------*/

static float a[16][16], b[16][8], c[16][8];
static uint32_t in[LANES][WORDS];
static float out[LANES][4];

static void fill(void)
{
	static unsigned seed = 7;
	for (int i = 0; i < 16; i++)
		for (int j = 0; j < 16; j++) {
			seed = seed * 1664525 + 1013904223;
			a[i][j] = (float)(int)(seed >> 28) - 7.5f;
			b[i][j % 8] = (float)(int)(seed >> 12 & 15) * 0.25f - 2;
			c[i][j % 8] = (float)(int)(seed >> 20 & 63);
		}
}

/* For numbers with few bits, none of them tiny. */
static uint32_t bits_of(char kind, float value)
{
	uint32_t bits;
	memcpy(&bits, &value, sizeof bits);
	if (kind == 'x')
		return bits;
	if (kind == 't')
		return bits >> 16;
	return value == 0 ? 0 : (bits >> 16 & 0x8000) | ((bits >> 13 & 0x3ffff) - (112u << 10));
}

static void give(const struct shape *shape, unsigned lane)
{
	const unsigned each = shape->kind == 'x' ? 1 : 2, group = lane / 4, member = lane % 4;
	for (unsigned i = 0; i < shape->depth / 2; i++) {
		float value = a[group + shape->a[i]][member * each + shape->ak[i]];
		in[lane][A + i / each] |= bits_of(shape->kind, value) << i % each * 16;
	}
	for (unsigned i = 0; i < shape->depth / 4; i++) {
		float value = b[member * each + shape->bk[i]][group];
		in[lane][B + i / each] |= bits_of(shape->kind, value) << i % each * 16;
	}
	for (unsigned i = 0; i < 4; i++)
		in[lane][C + i] = bits_of('x', c[group + i / 2 * 8][member * 2 + i % 2]);
}

static struct ptx_module *module_of(const struct shape *shape)
{
	static const char loads[] =
		HEAD ".entry k(.param .u64 in, .param .u64 out) {\n"
		     ".reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .f32 %f<8>;\n"
		     "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r0, %tid.x;\n"
		     "mul.wide.u32 %rd3, %r0, 48; add.u64 %rd1, %rd1, %rd3;\n"
		     "mul.wide.u32 %rd3, %r0, 16; add.u64 %rd2, %rd2, %rd3;\n"
		     "ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1];\n"
		     "ld.global.v2.b32 {%r5, %r6}, [%rd1+16];\n"
		     "ld.global.v2.f32 {%f1, %f2}, [%rd1+24]; ld.global.v2.f32 {%f3, %f4}, "
		     "[%rd1+32];\n";
	const unsigned words = shape->depth / (shape->kind == 'x' ? 2 : 4);
	char text[4096];
	snprintf(text, sizeof text,
		 "%smma.sync.aligned.%s {%%f1, %%f2, %%f3, %%f4}, %s, %s, {%%f1, %%f2, %%f3, "
		 "%%f4};\n"
		 "st.global.v4.f32 [%%rd2], {%%f1, %%f2, %%f3, %%f4}; ret; }",
		 loads, shape->name, words == 4 ? "{%r1, %r2, %r3, %r4}" : "{%r1, %r2}",
		 words == 4 ? "{%r5, %r6}" : "{%r5}");
	return parse_text(text);
}

static void compare(const struct shape *shape)
{
	for (int lane = 0; lane < LANES; lane++)
		for (int i = 0; i < 4; i++) {
			int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
			float sum = c[row][column];
			for (unsigned k = 0; k < shape->depth; k++)
				sum += a[row][k] * b[k][column];
			if (out[lane][i] != sum)
				print_error("%s, lane %d, element %d\n", shape->name, lane, i);
			assert_close(out[lane][i], sum, 0);
		}
}

static void matrices_multiply_in_every_shape(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(shapes); i++) {
		struct ptx_module *module = module_of(&shapes[i]);
		struct call call;
		fill();
		memset(in, 0, sizeof in);
		for (unsigned lane = 0; lane < LANES; lane++)
			give(&shapes[i], lane);
		prepare(&call, 1, LANES);
		lend(&call, 0, in, sizeof in);
		lend(&call, 1, out, sizeof out);
		run_well(&call, module, "k");
		compare(&shapes[i]);
		ptx_free(module);
	}
}

/* ---- ldmatrix --------------------------------------------------------------------------------*/

struct load {
	const char *name, *registers;
	unsigned matrices;
	int is_turned;
};

static const struct load loads[] = {
	{"x1", "{%r4}", 1, 0},
	{"x2", "{%r4, %r5}", 2, 0},
	{"x4", "{%r4, %r5, %r6, %r7}", 4, 0},
	{"x1.trans", "{%r4}", 1, 1},
	{"x2.trans", "{%r4, %r5}", 2, 1},
	{"x4.trans", "{%r4, %r5, %r6, %r7}", 4, 1},
};

/* Row r of matrix m is at the address in lane 8 m + r: in the order of lanes, backwards. */
static uint16_t at(unsigned matrix, unsigned row, unsigned column)
{
	return (uint16_t)((31 - (8 * matrix + row)) * 8 + column);
}

static void expect_loaded(const struct load *load, uint32_t (*found)[4])
{
	for (unsigned lane = 0; lane < LANES; lane++)
		for (unsigned m = 0; m < load->matrices; m++)
			for (unsigned i = 0; i < 2; i++) {
				unsigned row = lane / 4, column = lane % 4 * 2 + i;
				uint16_t expected =
					load->is_turned ? at(m, column, row) : at(m, row, column);
				assert_int_equal(found[lane][m] >> 16 * i & 0xffff, expected);
			}
}

static void matrices_are_loaded_by_rows_and_turned(void **state)
{
	static uint16_t stored[LANES * 8];
	static uint32_t found[LANES][4];
	(void)state;
	for (unsigned i = 0; i < COUNT(stored); i++)
		stored[i] = (uint16_t)i;
	for (size_t i = 0; i < COUNT(loads); i++) {
		char text[2048];
		struct call call;
		snprintf(text, sizeof text,
			 HEAD
			 ".entry k(.param .u64 in, .param .u64 out) {\n"
			 ".reg .b32 %%r<16>; .reg .b64 %%rd<8>; .shared .align 16 .b8 s[512];\n"
			 "ld.param.u64 %%rd1, [in]; ld.param.u64 %%rd2, [out];\n"
			 "mov.u32 %%r0, %%tid.x; mul.wide.u32 %%rd3, %%r0, 16;\n"
			 "add.u64 %%rd1, %%rd1, %%rd3; add.u64 %%rd2, %%rd2, %%rd3;\n"
			 "ld.global.v4.b32 {%%r4, %%r5, %%r6, %%r7}, [%%rd1];\n"
			 "mov.u32 %%r1, s; mad.lo.u32 %%r2, %%r0, 16, %%r1;\n"
			 "st.shared.v4.b32 [%%r2], {%%r4, %%r5, %%r6, %%r7}; bar.sync 0;\n"
			 "sub.u32 %%r3, 31, %%r0; mad.lo.u32 %%r3, %%r3, 16, %%r1;\n"
			 "ldmatrix.sync.aligned.m8n8.%s.shared.b16 %s, [%%r3];\n"
			 "st.global.v4.b32 [%%rd2], {%%r4, %%r5, %%r6, %%r7}; ret; }",
			 loads[i].name, loads[i].registers);
		struct ptx_module *module = parse_text(text);
		prepare(&call, 1, LANES);
		lend(&call, 0, stored, sizeof stored);
		lend(&call, 1, found, sizeof found);
		run_well(&call, module, "k");
		expect_loaded(&loads[i], found);
		ptx_free(module);
	}
}

/* ---- TF32 ------------------------------------------------------------------------------------*/

/* Rounds to 10 bits after the first: to the nearest, ties away from 0. */
static void tf32_is_rounded(void **state)
{
	static const uint32_t pairs[][2] = {
		{0x3f800fff, 0x3f800000}, {0x3f801000, 0x3f802000}, {0xbf801000, 0xbf802000},
		{0x3f802fff, 0x3f802000}, {0x3ffff000, 0x40000000}, {0x00000000, 0x00000000},
		{0x80000000, 0x80000000}, {0x7f800000, 0x7f800000}, {0x3f80ffff, 0x3f810000}};
	static uint32_t from[LANES], to[LANES];
	struct call call;
	(void)state;
	for (size_t i = 0; i < COUNT(pairs); i++)
		from[i] = pairs[i][0];
	struct ptx_module *module = parse_text(
		HEAD ".entry k(.param .u64 in, .param .u64 out) {\n"
		     ".reg .b32 %r<4>; .reg .b64 %rd<8>; .reg .f32 %f<2>;\n"
		     "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r0, %tid.x;\n"
		     "mul.wide.u32 %rd3, %r0, 4; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, "
		     "%rd3;\n"
		     "ld.global.f32 %f1, [%rd1]; cvt.rna.tf32.f32 %r1, %f1;\n"
		     "st.global.b32 [%rd2], %r1; ret; }");
	prepare(&call, 1, LANES);
	lend(&call, 0, from, sizeof from);
	lend(&call, 1, to, sizeof to);
	run_well(&call, module, "k");
	for (size_t i = 0; i < COUNT(pairs); i++)
		assert_int_equal(to[i], pairs[i][1]);
	ptx_free(module);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matrices_multiply_in_every_shape),
		cmocka_unit_test(matrices_are_loaded_by_rows_and_turned),
		cmocka_unit_test(tf32_is_rounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
