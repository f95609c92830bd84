/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Faults of kernels are detected and located: kernel, line, block and thread.
 */
#include "ptx_fixture.h"

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

/* Two pointers; %r0 is the thread, %rd1 and %rd2 the pointers, %rd3 = 4 * thread. */
#define KERNEL                                                                                     \
	".visible .entry k(.param .u64 a, .param .u64 b) {\n"                                      \
	".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<8>;\n"                  \
	".shared .align 16 .b8 s[512];\n"                                                          \
	"ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];\n"                                        \
	"mov.u32 %r0, %tid.x; mul.wide.u32 %rd3, %r0, 4; cvt.u32.u64 %r7, %rd3;\n"                 \
	"add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;\n"

struct wrong {
	const char *what, *body;
	unsigned threads;
	int code;
	const char *parts[4];
};

static const struct wrong wrongs[] = {
	{"read past the end",
	 "ld.global.f32 %f1, [%rd1+4];\n",
	 64,
	 700,
	 {"line 10 (ld.global.f32 %f1, [%rd1+4];)", "block (0,0,0), thread (63,0,0)",
	  "must not be read: not allocated", "kernel k"}},
	{"write before the start",
	 "st.global.u32 [%rd1+-4], %r0;\n",
	 64,
	 700,
	 {"thread (0,0,0)", "must not be written", "4 bytes", "line 10"}},
	{"null pointer", "mov.u64 %rd1, 0; ld.u32 %r1, [%rd1];\n", 32, 700, {"0x0", "read"}},
	{"misaligned vector",
	 "ld.global.v4.f32 {%f0,%f1,%f2,%f3}, [%rd1];\n",
	 32,
	 716,
	 {"not aligned", "16 bytes", "thread (1,0,0)"}},
	{"past shared memory",
	 "st.shared.u32 [%r7+256], %r0;\n",
	 128,
	 700,
	 {"shared address 0x200", "thread (64,0,0)", "past the end"}},
	{"atomic out of bounds",
	 "atom.global.add.u32 %r1, [%rd1+1000], 1;\n",
	 32,
	 700,
	 {"must not be written", "atom.global"}},
	{"divergent barrier",
	 "setp.lt.u32 %p1, %r0, 7; @%p1 bra L; bar.sync 0; L: ret;\n",
	 32,
	 719,
	 {"divergent barrier", "lanes 0xffffff80", "left the kernel"}},
	{"two barriers",
	 "setp.lt.u32 %p1, %r0, 7; @%p1 bra L; bar.sync 0; bra M; L: bar.sync 0; M: ret;\n",
	 32,
	 719,
	 {"divergent barrier", "lanes 0x0000007f"}},
	{"deadlock",
	 "setp.lt.u32 %p1, %r0, 32; @%p1 ret; bar.sync 0;\n",
	 96,
	 719,
	 {"deadlock", "64 of 96 threads", "barrier 0"}},
	{"race between warps",
	 "st.shared.u32 [%r7], %r0; xor.b32 %r7, %r7, 128; ld.shared.u32 %r1, [%r7];\n",
	 64,
	 719,
	 {"race in shared memory: byte 128 is written, but was read by thread (0,0,0)",
	  "thread (32,0,0)"}},
	{"race within a warp",
	 "st.shared.u32 [%r7], %r0; xor.b32 %r7, %r7, 4; ld.shared.u32 %r1, [%r7];\n",
	 32,
	 719,
	 {"race in shared memory", "thread (0,0,0): race", "thread (1,0,0), with"}},
	{"two writers",
	 "st.shared.u32 [s], %r0;\n",
	 32,
	 719,
	 {"written, but was written by", "thread (1,0,0)"}},
	{"write after read",
	 "ld.shared.u32 %r1, [s]; setp.eq.u32 %p1, %r0, 31; @%p1 st.shared.u32 [s], %r0;\n",
	 32,
	 719,
	 {"written, but was read by thread (0,0,0)"}},
	{"bytes of one word",
	 "cvt.u64.u32 %rd4, %r0; st.shared.u8 [%r0], %r0; ld.shared.u8 %r1, [%r0+1];\n",
	 32,
	 719,
	 {"race in shared memory: byte 1"}},
	{"lane missing",
	 "setp.lt.u32 %p1, %r0, 7; @%p1 ret; bar.warp.sync -1;\n",
	 32,
	 719,
	 {"names lane 0, which has left"}},
	{"shuffle from elsewhere",
	 "setp.lt.u32 %p1, %r0, 16; @!%p1 bra L; shfl.sync.idx.b32 %r1, %r0, 20, 31, 0xffff; L: "
	 "ret;\n",
	 32,
	 719,
	 {"shuffle reads lane 20"}},
	{"trap", "setp.eq.u32 %p1, %r0, 5; @%p1 trap;\n", 32, 719, {"trap", "thread (5,0,0)"}},
	{"part of a warp in mma",
	 "setp.lt.u32 %p1, %r0, 16; @%p1 mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
	 "{%f0,%f1,%f2,%f3}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f0,%f1,%f2,%f3};\n",
	 32,
	 719,
	 {"all 32 lanes"}},
};

static int run_body(const char *body, unsigned threads, struct call *call, int no_races)
{
	static uint32_t a[128], b[128];
	char text[2048];
	snprintf(text, sizeof text, "%s%s%sret; }\n", HEAD, KERNEL, body);
	struct ptx_module *module = parse_text(text);
	prepare(call, 1, threads);
	call->launch.no_races = no_races;
	lend(call, 0, a, threads * sizeof *a);
	lend(call, 1, b, threads * sizeof *b);
	int code = run_kernel(call, module, "k");
	ptx_free(module);
	return code;
}

static void faults_are_found_and_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
		const struct wrong *wrong = &wrongs[i];
		struct call call;
		int code = run_body(wrong->body, wrong->threads, &call, 0);
		if (code != wrong->code)
			print_error("%s: %s\n", wrong->what, call.fault.text);
		assert_int_equal(code, wrong->code);
		for (int j = 0; j < 4 && wrong->parts[j]; j++)
			assert_contains(call.fault.text, wrong->parts[j]);
	}
}

/* The same, corrected. */
static const char *const rights[] = {
	"st.shared.u32 [%r7], %r0; bar.sync 0; xor.b32 %r7, %r7, 4; ld.shared.u32 %r1, [%r7];\n",
	"st.shared.u32 [%r7], %r0; bar.warp.sync -1; xor.b32 %r7, %r7, 4; ld.shared.u32 %r1, "
	"[%r7];\n",
	"mov.u32 %r1, 3; st.shared.u32 [s], %r1;\n",
	"atom.shared.add.u32 %r1, [s], 1; atom.shared.add.u32 %r1, [s], 1;\n",
	"ld.shared.u32 %r1, [s]; bar.sync 0; setp.eq.u32 %p1, %r0, 31; @%p1 st.shared.u32 [s], "
	"%r0;\n",
	"setp.lt.u32 %p1, %r0, 7; @%p1 bra L; bar.warp.sync -1; bra M; L: bar.warp.sync -1; M: "
	"ret;\n",
	"setp.lt.u32 %p1, %r0, 7; @%p1 bra L; mov.u32 %r1, 1; L: bar.sync 0; ret;\n",
	"st.shared.u32 [%r7], %r0; bar.sync 1, 64; xor.b32 %r7, %r7, 128; ld.shared.u32 %r1, "
	"[%r7];\n",
	"ld.global.f32 %f1, [%rd1]; st.global.f32 [%rd2], %f1;\n",
	"ld.shared.f32 %f1, [s]; testp.notanumber.f32 %p1, %f1; @!%p1 trap;\n",
};

static void right_kernels_are_let_be(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rights / sizeof *rights; i++) {
		struct call call;
		if (run_body(rights[i], 64, &call, 0))
			print_error("%s%s\n", rights[i], call.fault.text);
		assert_int_equal(call.fault.code, 0);
	}
}

static void the_watch_for_races_can_be_left_out(void **state)
{
	struct call call;
	(void)state;
	assert_int_equal(run_body("st.shared.u32 [s], %r0;\n", 32, &call, 1), 0);
}

static void a_lock_between_lanes_is_not_a_deadlock(void **state)
{
	struct call call;
	(void)state;
	assert_int_equal(
		run_body("mov.u32 %r2, 0; setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [s], %r2;"
			 "bar.sync 0;\n"
			 "L: atom.shared.cas.b32 %r1, [s], 0, 1; setp.ne.u32 %p2, %r1, 0;\n"
			 "@%p2 bra L; atom.shared.exch.b32 %r1, [s], 0;\n",
			 64, &call, 0),
		0);
}

static void spans_are_asked_for_not_lanes(void **state)
{
	static uint32_t a[4096], b[4096];
	struct call call;
	(void)state;
	struct ptx_module *module = parse_text(
		HEAD
		".entry k(.param .u64 a, .param .u64 b) { .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
		"ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; mov.u32 %r1, %ctaid.x;\n"
		"mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;\n"
		"mul.wide.u32 %rd3, %r4, 4; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;\n"
		"ld.global.u32 %r5, [%rd1]; st.global.u32 [%rd2], %r5; }");
	for (unsigned i = 0; i < 4096; i++)
		a[i] = i * i;
	prepare(&call, 16, 256);
	lend(&call, 0, a, sizeof a);
	lend(&call, 1, b, sizeof b);
	run_well(&call, module, "k");
	assert_memory_equal(a, b, sizeof a);
	/* 128 warps, 2 accesses each; each one's second check is for the bytes ahead. */
	assert_in_range(call.buffers.asked, 2, 512);
	assert_int_equal(call.counts.instructions, 128 * 12);
	/* Counted per instruction: 4 sectors of 32 bytes for 128 bytes,
	 * or 5 where they are not aligned. */
	assert_in_range(call.counts.sectors, 128 * 8, 128 * 10);
	ptx_free(module);
}

struct refused {
	const char *text, *message;
};

static const struct refused refusals[] = {
	{HEAD ".entry k() { frobnicate.u32 %r1; }", "line 4: unknown opcode 'frobnicate.u32'"},
	{HEAD ".entry k() { .reg .b32 %r<3>;\n add.frob.u32 %r1, %r2, 1; }",
	 "line 5: add.frob.u32"},
	{HEAD ".entry k() { .reg .b32 %r<3>; add.u32 %r1, %r7, 1; }", "unknown register '%r7'"},
	{HEAD ".entry k() { .reg .b32 %r<3>; add.u64 %r1, %r2, 1; }", "64 are expected"},
	{HEAD ".entry k() { bra nowhere; }", "unknown label 'nowhere'"},
	{HEAD ".entry k() { .reg .b32 %r<3>; add.u32 %r1, %r2; }", "3 operands"},
	{HEAD ".entry k() { .reg .b32 %r<3>; ld.global.u32 %r1, [x]; }", "unknown variable 'x'"},
	{HEAD ".entry k() { call f; }", "unknown function 'f'"},
	{HEAD ".global .u32 x = {1, 2, 3};", "more first values"},
	{HEAD ".entry k() {", "no end"},
	{HEAD ".texref t;", "unknown directive '.texref'"},
	{".address_size 32", "64 bits"},
};

static void what_is_unknown_is_refused_by_name(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
		char message[256] = "";
		const char *text = refusals[i].text;
		assert_null(ptx_parse(text, strlen(text), message, sizeof message));
		assert_contains(message, refusals[i].message);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(faults_are_found_and_named),
		cmocka_unit_test(right_kernels_are_let_be),
		cmocka_unit_test(the_watch_for_races_can_be_left_out),
		cmocka_unit_test(a_lock_between_lanes_is_not_a_deadlock),
		cmocka_unit_test(spans_are_asked_for_not_lanes),
		cmocka_unit_test(what_is_unknown_is_refused_by_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
