/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Table tenon.compute/1.  Map and reduce run on the host's interpreter, with this processor's block
 * kernels; matmul is in matmul.c.
 */
#include "matmul.h"
#include "plugin.h"

static tn_status map(void *device, const struct tn_map_args *args)
{
	const struct cpu_instance *cpu = ((struct cpu_device *)device)->instance;
	return cpu->host->interpret_map(cpu->host->context, args, &cpu->blocks.block);
}

static tn_status reduce(void *device, const struct tn_reduce_args *args)
{
	const struct cpu_instance *cpu = ((struct cpu_device *)device)->instance;
	return cpu->host->interpret_reduce(cpu->host->context, args, &cpu->blocks.block);
}

const struct tn_compute_table cpu_compute_table = {
	.struct_size = sizeof(cpu_compute_table),
	.map = map,
	.reduce = reduce,
	.matmul = cpu_matmul,
};
