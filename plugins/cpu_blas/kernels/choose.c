/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Chooses the level for this processor.  Compiled without flags for any level.
 */
#include <string.h>

#include "kernels.h"

#if defined(__x86_64__) && CPU_X86_LEVELS
#include <cpuid.h>

extern const struct cpu_kernels cpu_kernels_v2, cpu_kernels_v3, cpu_kernels_v4;

/* Not every compiler's cpu_supports recognises F16C. */
static int has_f16c(void)
{
	unsigned a, b, c, d;
	return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

static int runs_v2(void)
{
	return __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("sse4.1") &&
	       __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
}

/* cpu_supports reports AVX only if the system saves its registers. */
static int runs_v3(void)
{
	return runs_v2() && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
	       __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && has_f16c();
}

static int runs_v4(void)
{
	return runs_v3() && __builtin_cpu_supports("avx512f") &&
	       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
	       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

const struct cpu_kernels *cpu_kernels_variant(unsigned i)
{
	const struct cpu_kernels *list[4];
	unsigned n = 0;
	__builtin_cpu_init();
	if (runs_v4())
		list[n++] = &cpu_kernels_v4;
	if (runs_v3())
		list[n++] = &cpu_kernels_v3;
	if (runs_v2())
		list[n++] = &cpu_kernels_v2;
	return i < n ? list[i] : NULL;
}

#elif defined(__aarch64__) && defined(__ARM_NEON)

extern const struct cpu_kernels cpu_kernels_neon;

/* Every processor of this architecture has NEON. */
const struct cpu_kernels *cpu_kernels_variant(unsigned i)
{
	return i == 0 ? &cpu_kernels_neon : NULL;
}

#else

extern const struct cpu_kernels cpu_kernels_portable;

const struct cpu_kernels *cpu_kernels_variant(unsigned i)
{
	return i == 0 ? &cpu_kernels_portable : NULL;
}

#endif

int cpu_kernels_are(const struct cpu_kernels *kernels, const char *name)
{
	size_t length = strlen(kernels->name), tail = strlen(name);
	return tail && tail <= length && !strcmp(kernels->name + length - tail, name);
}

const struct cpu_kernels *cpu_kernels_choose(const char *name)
{
	const struct cpu_kernels *kernels;
	for (unsigned i = 0; name && (kernels = cpu_kernels_variant(i)); i++) {
		if (cpu_kernels_are(kernels, name))
			return kernels;
	}
	return cpu_kernels_variant(0);
}

void cpu_block_table_fill(struct cpu_block_table *table, const struct cpu_kernels *kernels)
{
	memset(table, 0, sizeof(*table));
	for (const struct cpu_row *const *list = kernels->rows; *list; list++) {
		for (const struct cpu_row *row = *list; row->op; row++)
			table->operations[row->op][row->column] = row->fn;
	}
	for (const struct cpu_cast_row *row = kernels->casts; row->from; row++)
		table->casts[row->from][row->to] = row->fn;
	for (const struct cpu_fold_row *row = kernels->folds; row->combiner; row++)
		table->folds[row->combiner][row->column] = row->fn;
	table->block = (struct tn_block_kernels){.struct_size = sizeof(table->block),
						 .n_operations = TN_OP_COUNT,
						 .n_columns = TN_COLUMNS,
						 .n_dtypes = TN_DTYPES,
						 .n_combiners = TN_COMBINERS,
						 .operations = table->operations[0],
						 .casts = table->casts[0],
						 .folds = table->folds[0],
						 .stream_copy = kernels->stream_copy};
}
