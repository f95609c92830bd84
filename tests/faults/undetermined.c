/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: results differ from run to run, against its description.
 * Conform: L4 train.repeatable
 * Conform: L5 call.deterministic
 * Doctor: stress
 */
#include "right.h"

struct counting {
	struct right right;
	uint32_t n;
};

static tn_status matmul(void *device, const struct tn_matmul_args *args)
{
	struct counting *counting = (struct counting *)device;
	tn_status status = right_matmul(device, args);
	if (status || args->call.flags & TN_DRY_RUN)
		return status;
	uint32_t bits, *element = (uint32_t *)right_element(&args->c, 0);
	memcpy(&bits, element, sizeof(bits));
	if (bits & 0x7fffffff)
		bits ^= counting->n++ & 1;
	memcpy(element, &bits, sizeof(bits));
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->compute.matmul = matmul;
}

static tn_status create(const struct tn_host *host, struct tn_error_info *error, void **instance)
{
	void *made;
	tn_status status = right_create(host, error, &made);
	if (status)
		return status;
	struct counting *counting =
		(struct counting *)host->alloc(host->context, sizeof(*counting), 0);
	if (counting) {
		counting->right = *(struct right *)made;
		counting->n = 0;
	}
	right_destroy(made);
	*instance = counting;
	return counting ? TN_OK : TN_OUT_OF_MEMORY;
}

RIGHT_PLUGIN_OF("undetermined", create);
