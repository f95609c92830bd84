/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Table tenon.report/1: the chosen kernels, threads, OpenBLAS, and the clock if the system reports
 * it, which is the last line so that the others keep their positions without it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin.h"

static int say_kernels(const struct cpu_instance *cpu, char *text, size_t size)
{
	return snprintf(text, size, "%s", cpu->kernels->name) > 0;
}

static int say_threads(const struct cpu_instance *cpu, char *text, size_t size)
{
	return snprintf(text, size, "%u", cpu->host->thread_count(cpu->host->context)) > 0;
}

static int say_blas(const struct cpu_instance *cpu, char *text, size_t size)
{
	return snprintf(text, size, "%s", cpu->blas.note) > 0;
}

/* Of the first processor, as reported by the kernel. */
static int say_clock(const struct cpu_instance *cpu, char *text, size_t size)
{
	char line[256];
	double megahertz = 0;
	FILE *file = fopen("/proc/cpuinfo", "re");
	(void)cpu;
	while (file && megahertz <= 0 && fgets(line, sizeof(line), file)) {
		const char *value = strncmp(line, "cpu MHz", 7) ? NULL : strchr(line, ':');
		if (value)
			megahertz = strtod(value + 1, NULL);
	}
	if (file)
		fclose(file);
	return megahertz > 0 && snprintf(text, size, "%.0f MHz", megahertz) > 0;
}

static const struct {
	const char *key;
	int (*say)(const struct cpu_instance *cpu, char *text, size_t size); /* 0: unknown */
} lines[] = {
	{"kernels", say_kernels},
	{"threads", say_threads},
	{"library.blas", say_blas},
	{"clock", say_clock},
};

static tn_status line(void *device, uint32_t index, struct tn_report_line *out)
{
	const struct cpu_instance *cpu = ((struct cpu_device *)device)->instance;
	struct tn_report_line own = {.struct_size = sizeof(own)};
	if (index >= sizeof(lines) / sizeof(lines[0]) ||
	    !lines[index].say(cpu, own.text, sizeof(own.text)))
		return TN_NOT_FOUND;
	snprintf(own.key, sizeof(own.key), "%s", lines[index].key);
	tn_struct_answer(out, &own, sizeof(own));
	return TN_OK;
}

const struct tn_report_table cpu_report_table = {
	.struct_size = sizeof(cpu_report_table),
	.line = line,
};
