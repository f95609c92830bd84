/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Operations of a communicator with operands whose results are known bit by bit.  The expected
 * results are computed from the definition, one element after the other.
 */
#include "distributed/operations.h"

#include "base/bits.h"
#include "base/dtype.h"
#include "check.h"

static const struct {
	tn_dtype dtype;
	const char *name;
	int is_reduced;
} dtypes[] = {
	{TN_BOOL, "bool", 0}, {TN_I8, "i8", 0},   {TN_I16, "i16", 0},   {TN_I32, "i32", 1},
	{TN_I64, "i64", 1},   {TN_U8, "u8", 0},   {TN_U16, "u16", 0},   {TN_U32, "u32", 0},
	{TN_U64, "u64", 1},   {TN_F16, "f16", 1}, {TN_BF16, "bf16", 1}, {TN_F32, "f32", 1},
	{TN_F64, "f64", 1},   {TN_C64, "c64", 0}, {TN_C128, "c128", 0},
};
enum { N_DTYPES = sizeof(dtypes) / sizeof(dtypes[0]) };

/* ---- Elements --------------------------------------------------------------------------------*/

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* Numbers of very different magnitudes, so that a sum shows the order of its terms; now and then a
 * NaN. */
static double number(uint64_t bits)
{
	const double value = (double)(int64_t)(bits >> 40) - 0x1p23;
	const int exponent = (int)(bits & 15) - 22;
	return bits % 101 == 0 ? NAN : ldexp(value, exponent);
}

/* Element i of what rank `rank` gives. */
static void make_element(unsigned char *to, tn_dtype dtype, unsigned seed, uint32_t rank,
			 uint64_t i)
{
	const uint64_t bits = mix(i * 1024 + rank * 7 + seed * UINT64_C(0x9e3779b97f4a7c15));
	const double x = number(bits);
	const float f = (float)x;
	const uint16_t half = tn_f16_of_f32(f), brain = tn_bf16_of_f32(f);
	switch (dtype) {
	case TN_F16:
		memcpy(to, &half, sizeof(half));
		break;
	case TN_BF16:
		memcpy(to, &brain, sizeof(brain));
		break;
	case TN_F32:
		memcpy(to, &f, sizeof(f));
		break;
	case TN_F64:
		memcpy(to, &x, sizeof(x));
		break;
	default: /* any bits: they are compared as bytes */
		for (size_t b = 0; b < tn_dtype_size(dtype); b++)
			to[b] = (unsigned char)(bits >> 8 * (b % 8));
		break;
	}
}

/* ---- What a reduction must give --------------------------------------------------------------*/

static double load(const unsigned char *from, tn_dtype dtype)
{
	uint16_t half;
	float f;
	double x;
	memcpy(&half, from, sizeof(half));
	if (dtype == TN_F16)
		return (double)tn_f32_of_f16(half);
	if (dtype == TN_BF16)
		return (double)tn_f32_of_bf16(half);
	if (dtype == TN_F32) {
		memcpy(&f, from, sizeof(f));
		return (double)f;
	}
	memcpy(&x, from, sizeof(x));
	return x;
}

static void store(unsigned char *to, tn_dtype dtype, double x)
{
	const float f = (float)x;
	const uint16_t half = dtype == TN_F16 ? tn_f16_of_f32(f) : tn_bf16_of_f32(f);
	if (dtype == TN_F64)
		memcpy(to, &x, sizeof(x));
	else if (dtype == TN_F32)
		memcpy(to, &f, sizeof(f));
	else
		memcpy(to, &half, sizeof(half));
}

static double combine_floats(double a, double b, const struct tn_collective_args *args)
{
	if (args->combiner == TN_REDUCE_SUM)
		return args->dtype == TN_F64 ? a + b : (double)((float)a + (float)b);
	if (isnan(a) || isnan(b))
		return NAN;
	if (args->combiner == TN_REDUCE_MAX)
		return a > b ? a : b;
	return a < b ? a : b;
}

static uint64_t combine_integers(uint64_t a, uint64_t b, const struct tn_collective_args *args)
{
	const int is_less = args->dtype == TN_U64 ? a < b : (int64_t)a < (int64_t)b;
	if (args->combiner == TN_REDUCE_SUM)
		return a + b;
	return is_less == (args->combiner == TN_REDUCE_MIN) ? a : b;
}

static uint64_t load_integer(const unsigned char *from, tn_dtype dtype)
{
	int32_t narrow;
	uint64_t wide;
	if (dtype == TN_I32) {
		memcpy(&narrow, from, sizeof(narrow));
		return (uint64_t)narrow;
	}
	memcpy(&wide, from, sizeof(wide));
	return wide;
}

/* Element i of all ranks, combined. */
static void expect_combined(unsigned char *to, const struct operation *operation, uint32_t size,
			    uint64_t i)
{
	const struct tn_collective_args *args = &operation->args;
	const int is_integer = args->dtype < TN_F16;
	unsigned char element[16] = {0};
	uint64_t integer = 0;
	double x = 0;
	for (uint32_t r = 0; r < size; r++) {
		make_element(element, args->dtype, operation->seed, r, i);
		if (is_integer)
			integer = r ? combine_integers(integer, load_integer(element, args->dtype),
						       args)
				    : load_integer(element, args->dtype);
		else
			x = r ? combine_floats(x, load(element, args->dtype), args)
			      : load(element, args->dtype);
	}
	if (is_integer)
		memcpy(to, &integer, tn_dtype_size(args->dtype));
	else
		store(to, args->dtype, x);
}

/* ---- Operations ------------------------------------------------------------------------------*/

static void describe(const struct operation *operation, char *text, size_t size)
{
	const struct tn_collective_args *args = &operation->args;
	(void)snprintf(text, size,
		       "operation %u of %llu elements, dtype %d, combiner %u, root %u%s",
		       args->operation, (unsigned long long)args->n, (int)args->dtype,
		       args->combiner, args->root, operation->in_place ? ", in place" : "");
}

void operation_make(struct operation *operation, const struct rank *rank,
		    const struct tn_collective_args *args, int in_place, unsigned seed)
{
	const int scatters = args->operation == TN_COLLECTIVE_REDUCE_SCATTER;
	const int gathers = args->operation == TN_COLLECTIVE_ALL_GATHER;
	const uint64_t element = tn_dtype_size(args->dtype);
	const uint64_t n_source = args->n * (scatters ? rank->size : 1);
	const uint64_t n_target = args->n * (gathers ? rank->size : 1);
	const uint64_t own = rank->rank * args->n;
	operation->args = *args;
	operation->in_place = in_place || args->operation == TN_COLLECTIVE_BROADCAST;
	operation->seed = seed;
	operation->memory = calloc(n_source + n_target + 1, element + 1);
	if (!operation->memory)
		rank_fail(rank, "no memory");
	unsigned char *source = operation->memory, *target = source + n_source * element;
	if (operation->in_place) {
		target = operation->memory + (scatters ? own * element : 0);
		source = operation->memory + (gathers ? own * element : 0);
	}
	for (uint64_t i = 0; i < n_source && element; i++)
		make_element(source + i * element, args->dtype, seed, rank->rank, i);
	operation->args.source = args->operation == TN_COLLECTIVE_BROADCAST ? NULL : source;
	operation->args.target = target;
}

/* Element i of the target. */
static void expect(unsigned char *to, const struct operation *operation, const struct rank *rank,
		   uint64_t i)
{
	const struct tn_collective_args *args = &operation->args;
	switch (args->operation) {
	case TN_COLLECTIVE_BROADCAST:
		make_element(to, args->dtype, operation->seed, args->root, i);
		break;
	case TN_COLLECTIVE_ALL_GATHER:
		make_element(to, args->dtype, operation->seed, (uint32_t)(i / args->n),
			     i % args->n);
		break;
	case TN_COLLECTIVE_REDUCE_SCATTER:
		expect_combined(to, operation, rank->size, rank->rank * args->n + i);
		break;
	default:
		expect_combined(to, operation, rank->size, i);
		break;
	}
}

/* NaNs may differ in their bits. */
static int is_same(const unsigned char *a, const unsigned char *b, tn_dtype dtype)
{
	if (!memcmp(a, b, tn_dtype_size(dtype)))
		return 1;
	return dtype >= TN_F16 && dtype <= TN_F64 && isnan(load(a, dtype)) && isnan(load(b, dtype));
}

void operation_check(struct operation *operation, const struct rank *rank)
{
	const struct tn_collective_args *args = &operation->args;
	const uint64_t element = tn_dtype_size(args->dtype);
	const uint64_t n = args->n * (args->operation == TN_COLLECTIVE_ALL_GATHER ? rank->size : 1);
	const uint64_t n_source =
		args->n * (args->operation == TN_COLLECTIVE_REDUCE_SCATTER ? rank->size : 1);
	unsigned char expected[16];
	char text[160];
	describe(operation, text, sizeof(text));
	for (uint64_t i = 0; i < n; i++) {
		expect(expected, operation, rank, i);
		if (!is_same((unsigned char *)args->target + i * element, expected, args->dtype))
			rank_fail(rank, "%s: element %llu is wrong", text, (unsigned long long)i);
	}
	for (uint64_t i = 0; args->n && !operation->in_place && i < n_source; i++) {
		make_element(expected, args->dtype, operation->seed, rank->rank, i);
		if (memcmp((const unsigned char *)args->source + i * element, expected, element))
			rank_fail(rank, "%s: source %llu has changed", text, (unsigned long long)i);
	}
	free(operation->memory);
}

/* ---- Sets of operations ----------------------------------------------------------------------*/

static void run_one(struct rank *rank, const struct tn_collective_args *args, int in_place,
		    unsigned seed)
{
	struct operation operation;
	char text[160];
	operation_make(&operation, rank, args, in_place, seed);
	describe(&operation, text, sizeof(text));
	if (rank_run(rank, &operation.args))
		rank_fail(rank, "%s: %s", text, rank->error.text);
	operation_check(&operation, rank);
}

static void run_reductions(struct rank *rank, tn_dtype dtype, uint64_t n, int in_place)
{
	static const uint32_t combiners[] = {TN_REDUCE_SUM, TN_REDUCE_MAX, TN_REDUCE_MIN};
	for (unsigned c = 0; c < 3; c++) {
		struct tn_collective_args args = {.dtype = dtype, .n = n, .combiner = combiners[c]};
		args.operation = TN_COLLECTIVE_ALL_REDUCE;
		run_one(rank, &args, in_place, 1 + c);
		args.operation = TN_COLLECTIVE_REDUCE_SCATTER;
		run_one(rank, &args, in_place, 11 + c);
	}
}

void operations_run(struct rank *rank, const uint64_t *lengths, unsigned n_lengths)
{
	const struct tn_collective_args barrier = {.operation = TN_COLLECTIVE_BARRIER};
	run_one(rank, &barrier, 0, 0);
	for (unsigned i = 0; i < 2 * N_DTYPES * n_lengths; i++) {
		const unsigned d = i / 2 % N_DTYPES;
		const uint64_t n = lengths[i / 2 / N_DTYPES];
		const int in_place = i % 2;
		struct tn_collective_args args = {.dtype = dtypes[d].dtype, .n = n};
		args.operation = TN_COLLECTIVE_ALL_GATHER;
		run_one(rank, &args, in_place, 21);
		args.operation = TN_COLLECTIVE_BROADCAST;
		args.root = (uint32_t)(d % rank->size);
		run_one(rank, &args, in_place, 31);
		if (dtypes[d].is_reduced)
			run_reductions(rank, dtypes[d].dtype, n, in_place);
	}
}

/* Operation number i of a mixture, the same on all ranks. */
static void choose(struct tn_collective_args *args, unsigned i, uint32_t size, uint64_t longest)
{
	memset(args, 0, sizeof(*args));
	args->operation = TN_COLLECTIVE_BARRIER + i % 5;
	if (args->operation == TN_COLLECTIVE_BARRIER)
		return;
	args->n = mix(i) % (longest + 1);
	args->dtype = i % 3 ? TN_F32 : TN_F16;
	if (args->operation == TN_COLLECTIVE_BROADCAST)
		args->root = i % size;
	if (args->operation == TN_COLLECTIVE_ALL_REDUCE ||
	    args->operation == TN_COLLECTIVE_REDUCE_SCATTER)
		args->combiner = TN_REDUCE_SUM;
}

void operations_run_together(struct rank *rank, unsigned n, uint64_t longest)
{
	struct operation *operations = calloc(n, sizeof(*operations));
	void **requests = calloc(n, sizeof(*requests));
	if (!operations || !requests)
		rank_fail(rank, "no memory");
	for (unsigned i = 0; i < n; i++) {
		struct tn_collective_args args;
		choose(&args, i, rank->size, longest);
		operation_make(&operations[i], rank, &args, i % 2, i);
		requests[i] = rank_start(rank, &operations[i].args);
	}
	for (unsigned i = 0; i < n; i++) {
		const unsigned at = rank->rank % 2 ? i : n - 1 - i;
		if (rank_wait(rank, requests[at], RANKS_SECONDS / 2, NULL))
			rank_fail(rank, "operation %u: %s", at, rank->error.text);
	}
	for (unsigned i = 0; i < n; i++)
		operation_check(&operations[i], rank);
	free(requests);
	free(operations);
}
