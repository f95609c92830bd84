/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * PTX written by hand, for constructs that NVRTC writes rarely.
 */
#include "ptx_fixture.h"

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"

struct row {
	const char *body; /* leaves its result in %rd9 */
	uint64_t expected;
};

/* %r0 is the lane; 32 lanes run, and lane 5's result counts. */
static const struct row rows[] = {
	{"mov.u32 %r1, -1; add.cc.u32 %r2, %r1, 1; addc.u32 %r3, 5, 6; mov.b64 %rd9, {%r2, %r3};",
	 12ull << 32},
	{"sub.cc.u32 %r2, 0, 1; subc.u32 %r3, 5, 0; mov.b64 %rd9, {%r2, %r3};",
	 4ull << 32 | 0xffffffff},
	{"mov.u32 %r1, -1; mad.lo.cc.u32 %r2, %r1, %r1, %r1; madc.hi.u32 %r3, %r1, %r1, 0;"
	 "mov.b64 %rd9, {%r2, %r3};",
	 0xffffffff00000000ull},
	{"mov.u64 %rd1, -1; add.cc.u64 %rd2, %rd1, 2; addc.u64 %rd9, 0, 7;", 8},
	{"mad.wide.s32 %rd9, -3, 5, 7;", (uint64_t)-8},
	{"mad.hi.u32 %r1, 0x80000000, 6, 9; cvt.u64.u32 %rd9, %r1;", 12},
	{"add.sat.s32 %r1, 0x7fffffff, 9; cvt.u64.u32 %rd9, %r1;", 0x7fffffff},
	{"mul24.lo.s32 %r1, 0xffffff, 3; cvt.u64.u32 %rd9, %r1;", 0xfffffffd},
	{"sad.s32 %r1, -5, 7, 100; cvt.u64.u32 %rd9, %r1;", 112},
	{"mov.b32 %r1, 0xcc; lop3.b32 %r2, 0xf0, %r1, 0xaa, 0x96; cvt.u64.u32 %rd9, %r2;",
	 0xf0 ^ 0xcc ^ 0xaa},
	{"prmt.b32 %r1, 0x83828180, 0x44434241, 0xc7b0; cvt.u64.u32 %rd9, %r1;", 0x0044ff80},
	{"prmt.b32.b4e %r1, 0x33221100, 0x77665544, 1; cvt.u64.u32 %rd9, %r1;", 0x66770011},
	{"bfe.s32 %r1, 0x00f00000, 20, 4; cvt.u64.u32 %rd9, %r1;", 0xffffffff},
	{"bfe.u64 %rd9, 0xabcd000000000000, 48, 12;", 0xbcd},
	{"bfi.b64 %rd9, 0xff, 0, 60, 8;", 0xfull << 60},
	{"bfind.s32 %r1, -9; bfind.shiftamt.u32 %r2, 0x10; mov.b64 %rd9, {%r1, %r2};",
	 27ull << 32 | 3},
	{"fns.b32 %r1, 0xaaaa, 4, 2; cvt.u64.u32 %rd9, %r1;", 7},
	{"fns.b32 %r1, 0xaaaa, 4, -1; cvt.u64.u32 %rd9, %r1;", 3},
	{"clz.b64 %r1, 1; brev.b32 %r2, 1; mov.b64 %rd9, {%r1, %r2};", 0x80000000ull << 32 | 63},
	{"shf.l.clamp.b32 %r1, 0xf0000000, 1, 40; cvt.u64.u32 %rd9, %r1;", 0xf0000000},
	{"shl.b32 %r1, 1, 33; shr.s32 %r2, -8, 99; mov.b64 %rd9, {%r1, %r2};", 0xffffffffull << 32},
	{"cvt.sat.u8.s32 %r1, 300; cvt.sat.s8.s32 %r2, -300; mov.b64 %rd9, {%r1, %r2};",
	 0xffffff80ull << 32 | 255},
	{"cvt.sat.u32.s64 %r1, -7; cvt.s32.s8 %r2, 0x1ff; mov.b64 %rd9, {%r1, %r2};",
	 0xffffffffull << 32},
	{"mov.f32 %f1, 0f7fc00000; cvt.rzi.s32.f32 %r1, %f1; cvt.rzi.u8.f32 %r2, 0f43960000; "
	 "mov.b64 %rd9, {%r1, %r2};",
	 255ull << 32},
	{"mov.f64 %fd1, 0dfff8000000000000; cvt.rni.s32.f64 %r1, %fd1; cvt.u64.u32 %rd9, %r1;",
	 0x80000000},
	{"cvt.rmi.s64.f64 %rd9, 0dc004000000000000;", (uint64_t)-3},
	{"cvt.rpi.f32.f32 %f1, 0f3fa00000; mov.b32 %r1, %f1; cvt.u64.u32 %rd9, %r1;", 0x40000000},
	{"cvt.sat.f32.f32 %f1, 0fff800000; mov.b32 %r1, %f1; cvt.u64.u32 %rd9, %r1;", 0},
	{"mul.ftz.f32 %f1, 0f00000001, 0f7f000000; mov.b32 %r1, %f1; cvt.u64.u32 %rd9, %r1;", 0},
	{"add.sat.f32 %f1, 0f3f800000, 0f3f800000; mov.b32 %r1, %f1; cvt.u64.u32 %rd9, %r1;",
	 0x3f800000},
	{"add.rp.f32 %f1, 0f3f800000, 0f00000001; mov.b32 %r1, %f1; cvt.u64.u32 %rd9, %r1;",
	 0x3f800001},
	{"div.rz.f64 %fd1, 0d3ff0000000000000, 0d4008000000000000; mov.b64 %rd9, %fd1;",
	 0x3fd5555555555555},
	{"min.NaN.f32 %f1, 0f7fc00000, 0f3f800000; max.f32 %f2, 0f7fc00000, 0f3f800000; "
	 "testp.notanumber.f32 %p1, %f1;"
	 "selp.b32 %r1, 1, 0, %p1; mov.b32 %r2, %f2; mov.b64 %rd9, {%r1, %r2};",
	 0x3f800000ull << 32 | 1},
	{"min.f32 %f1, 0f80000000, 0f00000000; mov.b32 %r1, %f1; cvt.u64.u32 %rd9, %r1;",
	 0x80000000},
	{"min.xorsign.abs.f32 %f1, 0fc0000000, 0f40400000; mov.b32 %r1, %f1; cvt.u64.u32 %rd9, "
	 "%r1;",
	 0xc0000000},
	{"copysign.f64 %fd1, 0dbff0000000000000, 0d4000000000000000; mov.b64 %rd9, %fd1;",
	 0xc000000000000000},
	{"set.lt.f32.s32 %f1, 3, 4; set.gt.u32.f32 %r2, 0f3f800000, 0f00000000; mov.b32 %r1, %f1; "
	 "mov.b64 %rd9, {%r1, %r2};",
	 0xffffffff3f800000},
	{"slct.u32.f32 %r1, 11, 22, 0fbf800000; slct.u64.s32 %rd9, 11, 22, 0; cvt.u64.u32 %rd1, "
	 "%r1; add.u64 %rd9, %rd9, %rd1;",
	 33},
	{"setp.lt.or.s32 %p1|%p2, 3, 2, 0; selp.b32 %r1, 1, 0, %p1; selp.b32 %r2, 1, 0, %p2; "
	 "mov.b64 %rd9, {%r1, %r2};",
	 1ull << 32},
	{"setp.nan.f32 %p1, 0f7fc00000, 0f00000000; not.pred %p1, %p1; xor.pred %p2, %p1, 1; "
	 "selp.u64 %rd9, 5, 6, %p2;",
	 5},
	{"mov.b16 %h1, 0x3c00; mov.b16 %h2, 0x4000; fma.rn.f16 %h3, %h1, %h2, %h2; cvt.u64.u16 "
	 "%rd9, %h3;",
	 0x4400},
	{"mov.b32 %r1, 0x3c004000; add.f16x2 %r2, %r1, %r1; mul.bf16x2 %r3, 0x3f804000, "
	 "0x40404040; mov.b64 %rd9, {%r2, %r3};",
	 0x404040c040004400},
	{"cvt.rn.f16x2.f32 %r1, 0f40000000, 0f3f800000; cvt.rn.bf16x2.f32 %r2, 0f40000000, "
	 "0f3f800000; mov.b64 %rd9, {%r1, %r2};",
	 0x40003f8040003c00},
	{"cvt.rn.f16.f32 %h1, 0f477fefff; cvt.rn.f16.f32 %h2, 0f477ff000; cvt.rz.f16.f32 %h3, "
	 "0f33000001; mov.b16 %h4, 0; mov.b64 %rd9, {%h1, %h2, %h3, %h4};",
	 0x00007c007bff},
	{"cvt.rna.tf32.f32 %r1, 0f3f801000; cvt.u64.u32 %rd9, %r1;", 0x3f802000},
	{"cvt.rn.satfinite.e4m3x2.f32 %h1, 0f44800000, 0f3f800000; cvt.rn.f16x2.e4m3x2 %r1, %h1; "
	 "cvt.u64.u16 %rd1, %h1; mov.b32 %r2, 0; mov.b64 %rd2, {%r2, %r1}; add.u64 %rd9, %rd1, "
	 "%rd2;",
	 0x5f003c0000007e38},
	{"setp.gt.f16x2 %p1|%p2, 0x3c000000, 0x00003c00; selp.b32 %r1, 1, 0, %p1; selp.b32 %r2, 1, "
	 "0, %p2; mov.b64 %rd9, {%r1, %r2};",
	 1ull << 32},
	{"ex2.approx.ftz.f32 %f1, 0f40400000; lg2.approx.f32 %f2, %f1; tanh.approx.f32 %f3, "
	 "0f00000000; add.f32 %f1, %f1, %f2; add.f32 %f1, %f1, %f3; cvt.rni.u64.f32 %rd9, %f1;",
	 11},
	{"rcp.approx.ftz.f64 %fd1, 0d4010000000000000; rsqrt.approx.f32 %f1, 0f40800000; "
	 "sqrt.rn.f32 %f2, 0f41100000; mov.b64 %rd9, %fd1;",
	 0x3fd0000000000000},
	{"shfl.sync.up.b32 %r1|%p1, %r0, 2, 0, -1; shfl.sync.down.b32 %r2, %r0, 3, 0x1c07, -1; "
	 "mov.b64 %rd9, {%r1, %r2};",
	 5ull << 32 | 3},
	{"shfl.sync.idx.b32 %r1|%p1, %r0, 3, 0x181f, -1; shfl.sync.up.b32 %r2|%p2, %r0, 9, 0, -1; "
	 "selp.b32 %r3, 1, 0, %p2; mov.b64 %rd9, {%r1, %r3};",
	 3},
	{"setp.lt.u32 %p1, %r0, 9; vote.sync.ballot.b32 %r1, %p1, -1; vote.sync.any.pred %p2, %p1, "
	 "-1; selp.b32 %r2, 1, 0, %p2; mov.b64 %rd9, {%r1, %r2};",
	 1ull << 32 | 0x1ff},
	{"shr.u32 %r1, %r0, 2; match.any.sync.b32 %r2, %r1, -1; match.all.sync.b32 %r3|%p1, %r1, "
	 "-1; mov.b64 %rd9, {%r2, %r3};",
	 0xf0},
	{"redux.sync.add.u32 %r1, %r0, -1; redux.sync.max.s32 %r2, %r0, -1; mov.b64 %rd9, {%r1, "
	 "%r2};",
	 31ull << 32 | 496},
	{"setp.lt.u32 %p1, %r0, 9; bar.red.popc.u32 %r1, 0, %p1; bar.red.and.pred %p2, 0, %p1; "
	 "selp.b32 %r2, 1, 0, %p2; mov.b64 %rd9, {%r1, %r2};",
	 9},
	{"and.b32 %r1, %r0, 1; T: .branchtargets A, B; brx.idx %r1, T; A: mov.u64 %rd9, 4; bra.uni "
	 "E; B: mov.u64 %rd9, 7; E:",
	 7},
	{"{ .param .b32 p; .param .b32 q; st.param.b32 [p+0], %r0; call.uni (q), thrice, (p); "
	 "ld.param.b32 %r1, [q+0]; } cvt.u64.u32 %rd9, %r1;",
	 15},
	{"mov.u64 %rd1, thrice; setp.gt.u32 %p1, %r0, 7; @%p1 mov.u64 %rd1, fourfold; { .param "
	 ".b32 p; .param .b32 q; st.param.b32 [p+0], %r0;"
	 "P: .callprototype (.param .b32 _) _ (.param .b32 _); call (q), %rd1, (p), P; "
	 "ld.param.b32 %r1, [q+0]; }"
	 "shfl.sync.idx.b32 %r2, %r1, 8, 31, -1; mov.b64 %rd9, {%r1, %r2};",
	 32ull << 32 | 15},
	{"mov.u64 %rd1, local; cvta.local.u64 %rd1, %rd1; st.v2.u16 [%rd1+4], {0x1234, 0xff00}; "
	 "ld.local.s16 %r1, [local+6]; ld.u8 %r2, [%rd1+5]; mov.b64 %rd9, {%r1, %r2};",
	 0x12ffffff00},
	{"ld.const.u32 %r1, [squares+12]; mov.u64 %rd1, squares; cvta.const.u64 %rd1, %rd1; ld.u32 "
	 "%r2, [%rd1+8]; mov.b64 %rd9, {%r1, %r2};",
	 4ull << 32 | 9},
	{"mov.u64 %rd1, table; ld.global.u64 %rd2, [%rd1]; ld.u32 %r1, [%rd2+4]; cvt.u64.u32 %rd9, "
	 "%r1;",
	 1},
	{"mul.wide.u32 %rd1, %r0, 4; mov.u64 %rd2, shared; add.u64 %rd1, %rd1, %rd2; "
	 "cvta.shared.u64 %rd3, %rd1; isspacep.shared %p1, %rd3; st.u32 [%rd3], %r0;"
	 "ld.shared.u32 %r1, [%rd1]; selp.b32 %r2, 1, 0, %p1; mov.b64 %rd9, {%r1, %r2};",
	 1ull << 32 | 5},
	{"mov.b64 {%r1, %r2}, 0x1122334455667788; mov.b32 {%h1, _}, %r1; cvt.u64.u16 %rd9, %h1;",
	 0x7788},
	{"mov.u32 %r1, %laneid; mov.u32 %r2, %lanemask_lt; mov.b64 %rd9, {%r1, %r2};",
	 31ull << 32 | 5},
	{"{ .reg .b32 %r1; mov.u32 %r1, 9; { .reg .b32 x; add.u32 x, %r1, 1; cvt.u64.u32 %rd9, x; "
	 "} }",
	 10},
	{"mov.u64 %rd9, 0; L: add.u64 %rd9, %rd9, 3; cvt.u32.u64 %r1, %rd9; setp.lt.u32 %p1, %r1, "
	 "%r0; @%p1 bra L;",
	 6},
	{"dp4a.s32.s32 %r1, 0xff020304, 0x01010102, 10; cvt.u64.u32 %rd9, %r1;", 22},
	{"abs.f32 %f1, 0fc0000000; neg.f32 %f1, %f1; mov.b32 %r1, %f1; abs.s32 %r2, 0x80000000; "
	 "mov.b64 %rd9, {%r1, %r2};",
	 0x80000000c0000000},
	{"popc.b64 %r1, -1; cnot.b32 %r2, 0; mov.b64 %rd9, {%r1, %r2};", 1ull << 32 | 64},
	{"div.u32 %r1, 9, 0; rem.s32 %r2, 0x80000000, -1; mov.b64 %rd9, {%r1, %r2};", 0xffffffff},
};

static const char frame[] = HEAD
	".const .align 4 .u32 squares[4] = {0, 1, 4, 9};\n"
	".global .align 4 .u32 list[3] = {2, 1, 0}; .global .u64 table[1] = {generic(list)};\n"
	".extern .shared .align 16 .b8 shared[];\n"
	".func (.param .b32 r) thrice(.param .b32 a) { .reg .b32 %r<3>; ld.param.b32 %r1, [a];\n"
	" mul.lo.s32 %r2, %r1, 3; st.param.b32 [r+0], %r2; ret; }\n"
	".func (.param .b32 r) fourfold(.param .b32 a) { .reg .b32 %r<3>; ld.param.b32 %r1, [a];\n"
	" shl.b32 %r2, %r1, 2; st.param.b32 [r+0], %r2; ret; }\n"
	".visible .entry k(.param .u64 out) { .reg .pred %%p<4>; .reg .b16 %%h<6>; .reg .b32 "
	"%%r<9>;\n"
	" .reg .b64 %%rd<12>; .reg .f32 %%f<5>; .reg .f64 %%fd<3>; .local .align 8 .b8 local[16];\n"
	" mov.u32 %%r0, %%laneid;\n%s\n ld.param.u64 %%rd10, [out]; mul.wide.u32 %%rd11, %%r0, 8;\n"
	" add.u64 %%rd10, %%rd10, %%rd11; st.global.u64 [%%rd10], %%rd9; ret; }\n";

static char *framed(const char *body)
{
	static char text[8192];
	char *escaped = malloc(sizeof frame * 2);
	assert_non_null(escaped);
	/* The functions' registers are written with one % above. */
	size_t n = 0;
	for (const char *at = frame; *at; at++) {
		escaped[n++] = *at;
		if (*at == '%' && at[1] == 'r' && (at == frame || at[-1] != '%') && at[2] != 'd')
			escaped[n++] = '%';
	}
	escaped[n] = '\0';
	snprintf(text, sizeof text, escaped, body);
	free(escaped);
	return text;
}

static void instructions_do_what_they_say(void **state)
{
	static uint64_t out[32];
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct call call;
		struct ptx_module *module = parse_text(framed(rows[i].body));
		memset(out, 0xa5, sizeof out);
		prepare(&call, 1, 32);
		call.launch.shared = 256;
		lend(&call, 0, out, sizeof out);
		run_well(&call, module, "k");
		if (out[5] != rows[i].expected)
			print_error("%s\nexpected %llx, found %llx\n", rows[i].body,
				    (unsigned long long)rows[i].expected,
				    (unsigned long long)out[5]);
		assert_int_equal(out[5], rows[i].expected);
		ptx_free(module);
	}
}

struct atomic_row {
	const char *body;
	uint64_t start, expected;
};

static const struct atomic_row atomics[] = {
	{"atom.global.add.u32 %r1, [%rd10], %r0;", 4, 500},
	{"red.global.max.s32 [%rd10], %r0;", 0xfffffff0, 31},
	{"red.global.min.u64 [%rd10], %rd9;", 50, 0},
	{"atom.global.and.b32 %r1, [%rd10], 0xf0;", 0xff, 0xf0},
	{"atom.global.or.b64 %rd1, [%rd10], 0x100;", 1, 0x101},
	{"atom.global.xor.b32 %r1, [%rd10], 7;", 9, 9},
	{"atom.global.inc.u32 %r1, [%rd10], 9;", 0, 2},
	{"atom.global.dec.u32 %r1, [%rd10], 9;", 1, 9},
	{"atom.global.exch.b32 %r1, [%rd10], 77;", 1, 77},
	{"atom.global.cas.b32 %r1, [%rd10], %r0, 9;", 0, 9},
	{"atom.global.add.f32 %f1, [%rd10], 0f3f800000;", 0, 0x42000000},
	{"atom.global.add.f64 %fd1, [%rd10], 0d3ff0000000000000;", 0, 0x4040000000000000},
	{"atom.global.add.noftz.f16x2 %r1, [%rd10], 0x3c004000;", 0, 0x50005400},
	{"atom.relaxed.gpu.global.add.noftz.bf16 %h1, [%rd10], 0x3f80;", 0, 0x4200},
};

static void atomics_add_up(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof atomics / sizeof *atomics; i++) {
		char body[512];
		uint64_t out[32] = {atomics[i].start};
		struct call call;
		snprintf(body, sizeof body,
			 "ld.param.u64 %%rd10, [out]; cvt.u64.u32 %%rd9, %%r0; mov.b16 %%h1, "
			 "0x3f80;\n%s ret;",
			 atomics[i].body);
		struct ptx_module *module = parse_text(framed(body));
		prepare(&call, 1, 32);
		lend(&call, 0, out, sizeof out);
		run_well(&call, module, "k");
		if (out[0] != atomics[i].expected)
			print_error("%s: found %llx\n", atomics[i].body,
				    (unsigned long long)out[0]);
		assert_int_equal(out[0], atomics[i].expected);
		ptx_free(module);
	}
}

static float half_value(uint16_t bits)
{
	return ldexpf((float)(bits & 0x3ff) + 1024, (bits >> 10 & 31) - 25) * (bits >> 15 ? -1 : 1);
}

/* Loads the fragments of A and B by ldmatrix from shared memory, and multiplies them. */
static void matrices_multiply(void **state)
{
	static uint16_t in[16 * 16 + 16 * 8];
	static float out[32 * 4];
	struct call call;
	(void)state;
	for (int i = 0; i < 16 * 16 + 16 * 8; i++)
		in[i] = (uint16_t)(0x3c00 + (i * 37 % 11) * 64 + (i % 3 == 0 ? 0x8000 : 0));
	struct ptx_module *module = parse_text(
		HEAD
		".entry k(.param .u64 in, .param .u64 out) { .reg .b32 %r<16>; .reg .b64 %rd<8>;\n"
		".reg .f32 %f<8>; .reg .pred %p<2>; .shared .align 16 .b8 s[768];\n"
		"ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r0, %tid.x;\n"
		"mul.lo.u32 %r1, %r0, 16; cvt.u64.u32 %rd3, %r1; add.u64 %rd1, %rd1, %rd3;\n"
		"mov.u32 %r2, s; add.u32 %r3, %r2, %r1;\n"
		"cp.async.ca.shared.global [%r3], [%rd1], 16;\n"
		"setp.lt.u32 %p1, %r0, 16; @%p1 cp.async.cg.shared.global [%r3+512], [%rd1+512], "
		"16;\n"
		"cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;\n"
		/* Rows of A have 32 bytes: lane l reads row l % 16 and half l / 16. */
		"and.b32 %r4, %r0, 15; shl.b32 %r4, %r4, 5; shr.u32 %r5, %r0, 4; shl.b32 %r5, %r5, "
		"4;\n"
		"add.u32 %r4, %r4, %r5; add.u32 %r4, %r4, %r2;\n"
		"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r6, %r7, %r8, %r9}, [%r4];\n"
		"and.b32 %r5, %r0, 15; shl.b32 %r5, %r5, 4; add.u32 %r5, %r5, %r2;\n"
		"ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r10, %r11}, [%r5+512];\n"
		"mov.f32 %f0, 0f3f800000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;\n"
		"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3},\n"
		" {%r6, %r7, %r8, %r9}, {%r10, %r11}, {%f0, %f1, %f2, %f3};\n"
		"add.u64 %rd2, %rd2, %rd3; st.global.v4.f32 [%rd2], {%f0, %f1, %f2, %f3}; ret; }");
	prepare(&call, 1, 32);
	lend(&call, 0, in, sizeof in);
	lend(&call, 1, out, sizeof out);
	run_well(&call, module, "k");
	for (int lane = 0; lane < 32; lane++)
		for (int i = 0; i < 4; i++) {
			int row = lane / 4 + (i / 2) * 8, column = lane % 4 * 2 + i % 2;
			float sum = 1;
			for (int k = 0; k < 16; k++)
				sum += half_value(in[16 * row + k]) *
				       half_value(in[256 + 8 * k + column]);
			assert_close(out[4 * lane + i], sum, 1e-3);
		}
	ptx_free(module);
}

/* Every prefix of a text, and the text with one byte changed, is either read or refused. */
static void broken_text_is_refused(void **state)
{
	char message[256];
	size_t refused = 0;
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i += 3) {
		char *text = framed(rows[i].body);
		size_t length = strlen(text);
		for (size_t n = 0; n < length; n += 1 + n % 7) {
			char *part = malloc(n + 1);
			assert_non_null(part);
			memcpy(part, text, n);
			struct ptx_module *module = ptx_parse(part, n, message, sizeof message);
			refused += !module;
			ptx_free(module);
			free(part);
			char saved = text[n];
			text[n] = (char)(n * 31 % 96 + 32);
			ptx_free(ptx_parse(text, length, message, sizeof message));
			text[n] = saved;
		}
	}
	assert_in_range(refused, 100, 1u << 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_do_what_they_say),
		cmocka_unit_test(atomics_add_up),
		cmocka_unit_test(matrices_multiply),
		cmocka_unit_test(broken_text_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
