/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Kernels that the real NVRTC compiles, for old and new architectures, against plain C.
 */
#include "ptx_fixture.h"

#include <dlfcn.h>
#include <fenv.h>

#include "ptx_cases.h"

typedef int8_t i8;
typedef uint8_t u8;
typedef int16_t i16;
typedef uint16_t u16;
typedef int32_t i32;
typedef uint32_t u32;
typedef int64_t i64;
typedef uint64_t u64;
typedef float f32;
typedef double f64;

/* NVRTC's few functions, declared here so that the test compiles without the toolkit. */
struct nvrtc {
	int (*create)(void **, const char *, const char *, int, const char *const *,
		      const char *const *);
	int (*compile)(void *, int, const char *const *);
	int (*text_size)(void *, size_t *);
	int (*text)(void *, char *);
	int (*log)(void *, char *);
	int (*destroy)(void **);
};

static struct nvrtc nvrtc;

static int open_nvrtc(void)
{
	void *library = *PTX_TOOLKIT ? dlopen(PTX_TOOLKIT "/libnvrtc.so.13", RTLD_NOW) : NULL;
	if (!library)
		return 0;
	*(void **)&nvrtc.create = dlsym(library, "nvrtcCreateProgram");
	*(void **)&nvrtc.compile = dlsym(library, "nvrtcCompileProgram");
	*(void **)&nvrtc.text_size = dlsym(library, "nvrtcGetPTXSize");
	*(void **)&nvrtc.text = dlsym(library, "nvrtcGetPTX");
	*(void **)&nvrtc.log = dlsym(library, "nvrtcGetProgramLog");
	*(void **)&nvrtc.destroy = dlsym(library, "nvrtcDestroyProgram");
	return nvrtc.create && nvrtc.compile && nvrtc.text && nvrtc.log && nvrtc.destroy;
}

static const char prelude[] = "typedef signed char i8; typedef unsigned char u8; typedef short "
			      "i16; typedef unsigned short "
			      "u16; typedef int i32; typedef unsigned u32; typedef long long i64; "
			      "typedef unsigned long long "
			      "u64; typedef float f32; typedef double f64;\n";

static struct ptx_module *compile(const char *source, const char *architecture, const char *more)
{
	char arch[40], log[4096] = "";
	const char *options[] = {arch, more};
	void *program = NULL;
	size_t size = 0;
	char *whole = malloc(strlen(prelude) + strlen(source) + 1);
	assert_non_null(whole);
	strcpy(whole, prelude);
	strcat(whole, source);
	snprintf(arch, sizeof arch, "--gpu-architecture=compute_%s", architecture);
	assert_int_equal(nvrtc.create(&program, whole, "k.cu", 0, NULL, NULL), 0);
	if (nvrtc.compile(program, more ? 2 : 1, options)) {
		nvrtc.log(program, log);
		print_error("%.4000s\n", log);
		fail();
	}
	assert_int_equal(nvrtc.text_size(program, &size), 0);
	char *text = malloc(size);
	assert_non_null(text);
	assert_int_equal(nvrtc.text(program, text), 0);
	struct ptx_module *module = parse_text(text);
	nvrtc.destroy(&program);
	free(text);
	free(whole);
	return module;
}

#define COUNT 1000

/* Numbers including the edge cases of every type, in three arrays. */
static uint64_t random_state = 88172645463325252ull;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static double real_corner(unsigned i)
{
	static const double corners[] = {0,    -0.0,  1,    -1,    INFINITY, -INFINITY, 0.5,   2.5,
					 -2.5, 1e-40, 3e38, -3e38, 1e-310,   100,       -0.75, 3};
	return i % 17 == 16 ? (double)NAN : corners[i % 17];
}

static uint64_t whole_corner(unsigned i)
{
	static const uint64_t corners[] = {0,          1,          ~0ull,      0x7f,
					   0x80,       0xff,       0x7fff,     0x8000,
					   0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffffffffffff,
					   1ull << 63, 31,         32,         64};
	return corners[i % 16];
}

static double real_number(unsigned i)
{
	double size = (double)(int64_t)next_random() * 0x1p-63;
	return i % 5 == 0 ? real_corner((unsigned)next_random() % 17) : size * (i % 3 ? 20 : 3e5);
}

static uint64_t whole_number(unsigned i)
{
	return i % 4 == 0 ? whole_corner((unsigned)next_random() % 16)
			  : next_random() >> next_random() % 60;
}

#define FILL_WHOLE(type)                                                                           \
	static void fill_##type(type *a)                                                           \
	{                                                                                          \
		for (unsigned i = 0; i < COUNT; i++)                                               \
			a[i] = (type)whole_number(i);                                              \
	}
#define FILL_REAL(type)                                                                            \
	static void fill_##type(type *a)                                                           \
	{                                                                                          \
		for (unsigned i = 0; i < COUNT; i++)                                               \
			a[i] = (type)real_number(i);                                               \
	}
FILL_WHOLE(i8)
FILL_WHOLE(u8)
FILL_WHOLE(i16)
FILL_WHOLE(u16)
FILL_WHOLE(i32)
FILL_WHOLE(u32)
FILL_WHOLE(i64)
FILL_WHOLE(u64)
FILL_REAL(f32)
FILL_REAL(f64)

/* The result in C. */
#define HOST(name, R, T, expression)                                                               \
	static void host_##name(void *out, const void *a, const void *b, const void *c)            \
	{                                                                                          \
		for (int i = 0; i < COUNT; i++) {                                                  \
			T x = ((const T *)a)[i], y = ((const T *)b)[i], z = ((const T *)c)[i];     \
			(void)x, (void)y, (void)z;                                                 \
			((R *)out)[i] = (R)(expression);                                           \
		}                                                                                  \
	}
EXACT_CASES(HOST)
NEAR_CASES(HOST)

/* The same for the device. */
#define KERNEL(name, R, T, expression)                                                             \
	"extern \"C\" __global__ void " #name "(const " #T " *a, const " #T " *b, const " #T       \
	" *c, " #R                                                                                 \
	" *out, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { " #T          \
	" x = a[i], y = b[i], z = c[i]; out[i] = (" #R ")(" #expression "); } }\n"

struct one_case {
	const char *name, *result, *type;
	size_t result_size, size;
	void (*host)(void *, const void *, const void *, const void *);
};

#define ROW(name, R, T, expression) {#name, #R, #T, sizeof(R), sizeof(T), host_##name},
static const struct one_case exact_cases[] = {EXACT_CASES(ROW)};
static const struct one_case near_cases[] = {NEAR_CASES(ROW)};
static const char exact_source[] = EXACT_CASES(KERNEL);
static const char near_source[] = NEAR_CASES(KERNEL);

static void fill(const char *type, void *a)
{
#define FILL_IF(T)                                                                                 \
	if (strcmp(type, #T) == 0)                                                                 \
		fill_##T(a);
	FILL_IF(i8)
	FILL_IF(u8)
	FILL_IF(i16)
	FILL_IF(u16)
	FILL_IF(i32)
	FILL_IF(u32)
	FILL_IF(i64)
	FILL_IF(u64)
	FILL_IF(f32)
	FILL_IF(f64)
}

static double number_at(const char *type, const void *a, int i)
{
	return type[1] == '3' ? (double)((const f32 *)a)[i] : ((const f64 *)a)[i];
}

static int same(const struct one_case *each, const void *x, const void *y, int i, double tolerance)
{
	const char *p = x, *q = y;
	size_t size = each->result_size;
	if (each->result[0] != 'f' || !tolerance)
		if (memcmp(p + size * (size_t)i, q + size * (size_t)i, size) == 0)
			return 1;
	if (each->result[0] != 'f')
		return 0;
	double u = number_at(each->result, x, i), v = number_at(each->result, y, i);
	if ((isnan(u) && isnan(v)) || u == v)
		return tolerance > 0 || isnan(u) || signbit(u) == signbit(v);
	return fabs(u - v) <= tolerance * fmax(fabs(v), tolerance);
}

static void run_case(const struct ptx_module *module, const struct one_case *each, double tolerance)
{
	static u64 in[3][COUNT], out[COUNT], expected[COUNT];
	struct call call;
	int wrong = 0;
	prepare(&call, (COUNT + 95) / 96, 96);
	for (int i = 0; i < 3; i++) {
		fill(each->type, in[i]);
		call.arguments[i] = &call.buffers.start[i];
		lend(&call, i, in[i], sizeof in[i]);
	}
	memset(out, 0xa5, sizeof out);
	lend(&call, 3, out, sizeof out);
	call.n = COUNT;
	call.arguments[4] = &call.n;
	run_well(&call, module, each->name);
	each->host(expected, in[0], in[1], in[2]);
	for (int i = 0; i < COUNT; i++) {
		if (same(each, out, expected, i, tolerance))
			continue;
		if (wrong++ < 3)
			print_error("%s[%d]: expected %llx (%g), found %llx (%g)\n", each->name, i,
				    (unsigned long long)expected[i],
				    number_at(each->result, expected, i),
				    (unsigned long long)out[i], number_at(each->result, out, i));
	}
	assert_int_equal(wrong, 0);
	assert_int_equal(call.counts.instructions > COUNT / 32, 1);
}

static const char *const architectures[] = {"75", "80", "90", "120"};

static void operators_give_the_bits_of_c(void **state)
{
	(void)state;
	for (size_t a = 0; a < sizeof architectures / sizeof *architectures; a++) {
		struct ptx_module *module = compile(exact_source, architectures[a], "--fmad=false");
		for (size_t i = 0; i < sizeof exact_cases / sizeof *exact_cases; i++)
			run_case(module, &exact_cases[i], 0);
		ptx_free(module);
	}
}

static void functions_are_near_those_of_c(void **state)
{
	(void)state;
	struct ptx_module *module = compile(near_source, "90", NULL);
	for (size_t i = 0; i < sizeof near_cases / sizeof *near_cases; i++)
		run_case(module, &near_cases[i], near_cases[i].result[1] == '3' ? 2e-6 : 2e-14);
	ptx_free(module);
}

static const char intrinsics_source[] =
	"extern \"C\" __global__ void k(const u32 *a, const u64 *w, u64 *out, int n) {\n"
	" int i = threadIdx.x; u32 x = a[i], y = a[i + 1], z = a[i + 2]; u64 v = w[i], u = w[i + "
	"1];\n"
	" u64 *o = out + 24 * i;\n"
	" o[0] = __popc(x); o[1] = __popcll(v); o[2] = __clz(x); o[3] = __clzll(v);\n"
	" o[4] = __brev(x); o[5] = __brevll(v); o[6] = __ffs(x); o[7] = __umulhi(x, y);\n"
	" o[8] = (u32)__mulhi((int)x, (int)y); o[9] = __umul64hi(v, u);\n"
	" o[10] = __byte_perm(x, y, z); o[11] = __funnelshift_l(x, y, z);\n"
	" o[12] = __funnelshift_rc(x, y, z); o[13] = __usad(x, y, z); o[14] = __umul24(x, y);\n"
	" o[15] = __uhadd(x, y); o[16] = __dp4a(x, y, z); o[17] = (u64)__mul64hi((i64)v, (i64)u);\n"
	" unsigned __int128 p = (unsigned __int128)v * u + x; o[18] = (u64)(p >> 64); o[19] = "
	"(u64)p;\n"
	" o[20] = __float_as_uint(__fadd_rz(__uint_as_float(x), __uint_as_float(y)));\n"
	" o[21] = __float_as_uint(__fmul_ru(1.1f, __uint2float_rd(x)));\n"
	" o[22] = (u64)__double_as_longlong(__ddiv_rd(1.0, (double)(v | 1)));\n"
	" o[23] = (u32)__float2int_rn((int)x * 0.01f) + __float2uint_ru(y * 1e-3f); }\n";

static u32 bytes_permuted(u32 x, u32 y, u32 z)
{
	u64 both = (u64)y << 32 | x;
	u32 out = 0;
	for (int i = 0; i < 4; i++) {
		u32 selector = z >> 4 * i & 15;
		u32 byte = (u32)(both >> 8 * (selector & 7)) & 0xff;
		/* __byte_perm reads three bits of each selector. */
		out |= byte << 8 * i;
	}
	return out;
}

static float with_bits(u32 bits)
{
	float x;
	memcpy(&x, &bits, sizeof x);
	return x;
}

static u64 bits_of_float(float x)
{
	u32 bits;
	memcpy(&bits, &x, sizeof bits);
	return bits;
}

static float rounded_sum(volatile float x, volatile float y, int mode)
{
	fesetround(mode);
	volatile float sum = x + y;
	fesetround(FE_TONEAREST);
	return sum;
}

static float rounded_product(volatile float x, u32 y)
{
	fesetround(FE_DOWNWARD);
	volatile float wide = (float)(double)y;
	fesetround(FE_UPWARD);
	volatile float product = x * wide;
	fesetround(FE_TONEAREST);
	return product;
}

static u64 rounded_quotient(volatile double y)
{
	u64 bits;
	fesetround(FE_DOWNWARD);
	volatile double quotient = 1.0 / y;
	fesetround(FE_TONEAREST);
	double copy = quotient;
	memcpy(&bits, &copy, sizeof bits);
	return bits;
}

static u32 four_products(u32 x, u32 y, u32 z)
{
	for (int i = 0; i < 32; i += 8)
		z += (x >> i & 0xff) * (y >> i & 0xff);
	return z;
}

static void expect_intrinsics(const u64 *o, u32 x, u32 y, u32 z, u64 v, u64 u)
{
	unsigned __int128 p = (unsigned __int128)v * u + x;
	u32 n = z & 31, c = z < 32 ? z : 32;
	assert_int_equal(o[0], __builtin_popcount(x));
	assert_int_equal(o[1], __builtin_popcountll(v));
	assert_int_equal(o[2], x ? __builtin_clz(x) : 32);
	assert_int_equal(o[3], v ? __builtin_clzll(v) : 64);
	assert_int_equal(o[4] & 1, x >> 31);
	assert_int_equal(o[5] >> 63, v & 1);
	assert_int_equal(o[6], __builtin_ffs((int)x));
	assert_int_equal(o[7], (u64)x * y >> 32);
	assert_int_equal(o[8], (u32)((i64)(i32)x * (i32)y >> 32));
	assert_int_equal(o[9], (u64)((unsigned __int128)v * u >> 64));
	assert_int_equal(o[10], bytes_permuted(x, y, z));
	assert_int_equal(o[11], n ? y << n | x >> (32 - n) : y);
	assert_int_equal(o[12], c == 32 ? y : c ? x >> c | y << (32 - c) : x);
	assert_int_equal(o[13], (x < y ? y - x : x - y) + z);
	assert_int_equal(o[14], (u32)((x & 0xffffff) * (y & 0xffffff)));
	assert_int_equal(o[15], ((u64)x + y) >> 1);
	assert_int_equal(o[16], four_products(x, y, z));
	assert_int_equal(o[17], (u64)((__int128)(i64)v * (i64)u >> 64));
	assert_int_equal(o[18], (u64)(p >> 64));
	assert_int_equal(o[19], (u64)p);
	float sum = rounded_sum(with_bits(x), with_bits(y), FE_TOWARDZERO);
	if (!isnan(sum))
		assert_int_equal(o[20], bits_of_float(sum));
	assert_int_equal(o[21], bits_of_float(rounded_product(1.1f, x)));
	assert_int_equal(o[22], rounded_quotient((double)(v | 1)));
	assert_int_equal(o[23],
			 (u32)(i32)rintf((float)(i32)x * 0.01f) + (u32)ceilf((float)y * 1e-3f));
}

static void intrinsics_are_what_they_are_named(void **state)
{
	static u32 a[66];
	static u64 w[66], out[24 * 64];
	struct call call;
	(void)state;
	for (unsigned i = 0; i < 66; i++) {
		a[i] = (u32)whole_number(i);
		w[i] = whole_number(i);
	}
	struct ptx_module *module = compile(intrinsics_source, "80", "--device-int128");
	prepare(&call, 1, 64);
	lend(&call, 0, a, sizeof a);
	lend(&call, 1, w, sizeof w);
	lend(&call, 2, out, sizeof out);
	call.arguments[3] = &call.n;
	run_well(&call, module, "k");
	for (unsigned i = 0; i < 64; i++)
		expect_intrinsics(out + 24ul * i, a[i], a[i + 1], a[i + 2], w[i], w[i + 1]);
	ptx_free(module);
}

static const char block_source[] =
	"struct P { int n; float scale; short v[5]; double d; };\n"
	"__constant__ float table[4] = {1, 2, 3, 4}; __device__ int counter = 7;\n"
	"__device__ __noinline__ float twice(float x, P p) { return 2 * x + p.v[3]; }\n"
	"extern \"C\" __global__ void sum(const float *x, float *out, P p) {\n"
	" __shared__ float part[32]; extern __shared__ float staged[];\n"
	" int i = blockIdx.x * blockDim.x + threadIdx.x; float v = i < p.n ? x[i] : 0;\n"
	" staged[threadIdx.x] = v; __syncthreads(); v = staged[threadIdx.x ^ 1] * p.scale;\n"
	" for (int m = 16; m; m >>= 1) v += __shfl_xor_sync(~0u, v, m);\n"
	" if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v; __syncthreads();\n"
	" if (threadIdx.x < 32) { v = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;\n"
	"  for (int m = 16; m; m >>= 1) v += __shfl_down_sync(~0u, v, m);\n"
	"  if (threadIdx.x == 0) { atomicAdd(out, v); atomicAdd(&counter, 1); } } }\n"
	"extern \"C\" __global__ void paths(const int *a, int *out, P p) {\n"
	" int i = threadIdx.x, local[9]; for (int j = 0; j < 9; j++) local[j] = a[(i + j) & 31] * "
	"j;\n"
	" int s = 0; for (int j = 0; j < a[i] % 9; j++) s += local[j] + local[s & 7];\n"
	" switch (a[i] % 8) { case 0: s += 3; break; case 1: s *= 5; break; case 2: s -= i; "
	"break;\n"
	"  case 3: s ^= 77; break; case 4: s = (int)twice(s, p); break; case 5: s = (int)table[i & "
	"3]; "
	"break; case 6: s = __popc(__activemask()); break; }\n"
	" out[i] = s; }\n";

struct parameters {
	int n;
	float scale;
	short v[5];
	double d;
};

static int expect_path(const int *a, int i, const struct parameters *p)
{
	static const float table[4] = {1, 2, 3, 4};
	int local[9], s = 0, same_way = 0;
	for (int j = 0; j < 9; j++)
		local[j] = a[(i + j) & 31] * j;
	for (int j = 0; j < a[i] % 9; j++)
		s += local[j] + local[s & 7];
	for (int j = 0; j < 32; j++)
		same_way += a[j] % 8 == 6;
	switch (a[i] % 8) {
	case 0:
		return s + 3;
	case 1:
		return s * 5;
	case 2:
		return s - i;
	case 3:
		return s ^ 77;
	case 4:
		return (int)(2 * (float)s + p->v[3]);
	case 5:
		return (int)table[i & 3];
	case 6:
		return same_way;
	default:
		return s;
	}
}

static void blocks_share_and_lanes_part(void **state)
{
	static float x[1000], total;
	int a[32], out[32];
	struct parameters p = {1000, 0.5f, {1, 2, 3, 4, 5}, 6};
	(void)state;
	for (int i = 0; i < 1000; i++)
		x[i] = (float)(i % 10);
	for (int i = 0; i < 32; i++)
		a[i] = i * 7 % 23;
	for (size_t arch = 0; arch < sizeof architectures / sizeof *architectures; arch++) {
		struct ptx_module *module = compile(block_source, architectures[arch], NULL);
		for (unsigned seed = 0; seed < 4; seed++) {
			struct call call;
			total = 0;
			prepare(&call, 4, 256);
			call.launch.order_seed = seed;
			call.launch.shared = 256 * sizeof(float);
			lend(&call, 0, x, sizeof x);
			lend(&call, 1, &total, sizeof total);
			call.arguments[2] = &p;
			run_well(&call, module, "sum");
			assert_close(total, 4500 * 0.5, 0);
		}
		size_t size;
		int *counter = ptx_variable(module, "counter", &size);
		assert_non_null(counter);
		assert_int_equal(*counter, 7 + 16);
		struct call call;
		prepare(&call, 1, 32);
		lend(&call, 0, a, sizeof a);
		lend(&call, 1, out, sizeof out);
		call.arguments[2] = &p;
		run_well(&call, module, "paths");
		for (int i = 0; i < 32; i++)
			assert_int_equal(out[i], expect_path(a, i, &p));
		ptx_free(module);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operators_give_the_bits_of_c),
		cmocka_unit_test(functions_are_near_those_of_c),
		cmocka_unit_test(intrinsics_are_what_they_are_named),
		cmocka_unit_test(blocks_share_and_lanes_part),
	};
	if (!open_nvrtc()) {
		print_message("no NVRTC here\n");
		return TEST_SKIPPED;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
