/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The entries of convolution.  Images whose channels are not contiguous are copied into the
 * workspace, in groups of up to GROUP_BYTES, and results are copied back; one group of images after
 * another is computed.  The workspace holds
 *
 *     x, y and residual of a group, if they are copied; the algorithm's own workspace
 */
#include "conv2d.h"

#include <string.h>

#include "conv2d_take.h"

/* The last supports every shape. */
static const struct cpu_conv_algorithm *const algorithms[] = {
	&cpu_conv_depthwise,
	&cpu_conv_winograd,
	&cpu_conv_few,
	&cpu_conv_implicit,
};
#define N_ALGORITHMS (sizeof(algorithms) / sizeof(*algorithms))

/* Copies of a group: small enough to be still in the caches when they are read. */
#define GROUP_BYTES (INT64_C(8) << 20)
#define ALIGNMENT 256

/* Precedes packed weights, so that a call does not use those of another. */
struct label {
	char algorithm[16];
	char kernels[16];
	int64_t numbers[32];
};
#define LABEL_BYTES 512

/* One image operand, and whether it is copied. */
struct side {
	const struct tn_operand *operand;
	struct cpu_images *images;
	uint64_t offset; /* of its copy in the workspace */
	int copied, read, written;
};

struct plan {
	struct cpu_device *device;
	struct tn_conv2d_args args;
	struct cpu_conv conv;
	const struct cpu_conv_algorithm *algorithm;
	struct side sides[3]; /* x, y, residual */
	int64_t group;        /* images */
	uint64_t scratch;     /* offset of the algorithm's workspace */
	uint64_t bytes;       /* of workspace */
};

/* ---- The choice ------------------------------------------------------------------------------*/

uint32_t cpu_conv_choose(const struct tn_host *host)
{
	const char *name = tn_plugin_option(host, "conv");
	for (uint32_t i = 0; name && i < N_ALGORITHMS; i++) {
		if (!strcmp(name, algorithms[i]->name))
			return i;
	}
	return N_ALGORITHMS;
}

static const struct cpu_conv_algorithm *choose_algorithm(const struct plan *plan)
{
	uint32_t asked = plan->device->instance->convolution;
	if (asked < N_ALGORITHMS && algorithms[asked]->suits(&plan->conv))
		return algorithms[asked];
	size_t i = 0;
	while (i + 1 < N_ALGORITHMS && (!algorithms[i]->suits(&plan->conv) ||
					(algorithms[i]->pays && !algorithms[i]->pays(&plan->conv))))
		i++;
	return algorithms[i];
}

/* ---- Groups of images ------------------------------------------------------------------------*/

static uint64_t aligned(uint64_t bytes)
{
	return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static int64_t image_elements(const struct tn_operand *operand)
{
	return operand->shape[1] * operand->shape[2] * operand->shape[3];
}

/* Determines how many images make a group, and the layout of the workspace. */
static void cut_groups(struct plan *plan)
{
	int64_t bytes = 0;
	for (int i = 0; i < 3; i++) {
		if (plan->sides[i].copied)
			bytes += image_elements(plan->sides[i].operand) * (int64_t)sizeof(float);
	}
	plan->group = bytes ? GROUP_BYTES / bytes : plan->conv.n;
	if (plan->group < 1)
		plan->group = 1;
	if (plan->group > plan->conv.n)
		plan->group = plan->conv.n;
	for (int i = 0; i < 3; i++) {
		struct side *side = &plan->sides[i];
		side->offset = plan->scratch;
		if (side->copied)
			plan->scratch +=
				aligned((uint64_t)(plan->group * image_elements(side->operand)) *
					sizeof(float));
	}
	struct cpu_conv conv = plan->conv;
	conv.n = plan->group;
	plan->bytes = plan->scratch + plan->algorithm->workspace(&conv);
}

/* Images first .. first + n - 1 of an operand. */
static struct tn_operand part(const struct tn_operand *operand, int64_t first, int64_t n)
{
	struct tn_operand made = *operand;
	made.offset += (uint64_t)(first * operand->strides[0]) * sizeof(float);
	made.shape[0] = n;
	return made;
}

/* A group's copy, compact with channels last. */
static struct tn_operand copy_of(const struct side *side, char *workspace, int64_t n)
{
	struct tn_operand made = *side->operand;
	made.buffer = (uint64_t)(uintptr_t)(workspace + side->offset);
	made.offset = 0;
	made.shape[0] = n;
	made.strides[1] = 1;
	made.strides[3] = made.shape[1];
	made.strides[2] = made.strides[3] * made.shape[3];
	made.strides[0] = made.strides[2] * made.shape[2];
	return made;
}

static tn_status copy_images(const struct plan *plan, const struct tn_operand *from,
			     const struct tn_operand *to)
{
	struct tn_copy_args args = {
		.call = {.struct_size = sizeof(args), .error = plan->args.call.error},
		.input = *from,
		.output = *to};
	return cpu_copy_table.copy(plan->device, &args);
}

static tn_status bring(const struct plan *plan, const struct side *side, char *workspace,
		       int64_t first, int64_t n)
{
	struct tn_operand own = part(side->operand, first, n);
	if (!side->copied) {
		*side->images = cpu_images_of(&own);
		return TN_OK;
	}
	struct tn_operand made = copy_of(side, workspace, n);
	*side->images = cpu_images_of(&made);
	return side->read ? copy_images(plan, &own, &made) : TN_OK;
}

static tn_status run_group(struct plan *plan, char *workspace, int64_t first)
{
	int64_t left = plan->args.x.shape[0] - first;
	int64_t n = left < plan->group ? left : plan->group;
	tn_status status = TN_OK;
	for (int i = 0; i < 3 && !status; i++) {
		if (plan->sides[i].operand)
			status = bring(plan, &plan->sides[i], workspace, first, n);
	}
	if (status)
		return status;
	plan->conv.n = n;
	plan->algorithm->run(&plan->conv);
	for (int i = 0; i < 3 && !status; i++) {
		const struct side *side = &plan->sides[i];
		if (!side->copied || !side->written)
			continue;
		struct tn_operand own = part(side->operand, first, n);
		struct tn_operand made = copy_of(side, workspace, n);
		status = copy_images(plan, &made, &own);
	}
	return status;
}

/* ---- Packed weights --------------------------------------------------------------------------*/

static void write_label(struct label *label, const struct plan *plan)
{
	const struct cpu_conv *c = &plan->conv;
	const int64_t numbers[] = {c->n,           c->c,           c->h,          c->w,
				   c->o,           c->p,           c->q,          c->r,
				   c->s,           c->groups,      c->stride[0],  c->stride[1],
				   c->dilation[0], c->dilation[1], c->padding[0], c->padding[1],
				   c->padding[2],  c->padding[3]};
	memset(label, 0, sizeof(*label));
	strncpy(label->algorithm, plan->algorithm->name, sizeof(label->algorithm) - 1);
	strncpy(label->kernels, c->kernels->name, sizeof(label->kernels) - 1);
	memcpy(label->numbers, numbers, sizeof(numbers));
}

static char *packed_address(const struct plan *plan)
{
	return (char *)(uintptr_t)(plan->args.packed.buffer + plan->args.packed.offset);
}

static uint64_t packed_bytes(const struct plan *plan)
{
	uint64_t bytes =
		plan->algorithm->packed_size ? plan->algorithm->packed_size(&plan->conv) : 0;
	return bytes ? LABEL_BYTES + bytes : 0;
}

/* The packed weights of a forward call, if they were made for an equivalent call. */
static const void *find_packed(const struct plan *plan)
{
	struct label expected;
	uint64_t bytes = packed_bytes(plan);
	if (!bytes || plan->args.packed.size < bytes)
		return NULL;
	write_label(&expected, plan);
	const char *packed = packed_address(plan);
	return memcmp(packed, &expected, sizeof(expected)) ? NULL : packed + LABEL_BYTES;
}

/* ---- The entries -----------------------------------------------------------------------------*/

static tn_status make_plan(struct plan *plan, void *device, const struct tn_conv2d_args *args,
			   const char *name)
{
	plan->device = device;
	plan->conv.device = device;
	plan->conv.kernels = plan->device->instance->kernels;
	tn_status status = cpu_conv_take(&plan->conv, &plan->args, args, name);
	if (status)
		return status;
	plan->algorithm = choose_algorithm(plan);
	struct cpu_conv *conv = &plan->conv;
	int forward = conv->pass == CPU_CONV_FORWARD;
	int written[] = {conv->pass == CPU_CONV_INPUT_GRADIENT, forward, 0};
	const struct tn_operand *operands[] = {&plan->args.x, &plan->args.y, &plan->args.residual};
	struct cpu_images *images[] = {&conv->x, &conv->y, &conv->residual};
	for (int i = 0; i < 2 + (forward && plan->args.has_residual); i++)
		plan->sides[i] = (struct side){.operand = operands[i],
					       .images = images[i],
					       .copied = !cpu_is_channels_last(operands[i]),
					       .read = !written[i] || conv->accumulate,
					       .written = written[i]};
	cut_groups(plan);
	return TN_OK;
}

/* Finds the workspace of a call, or handles a dry run. */
static tn_status take_workspace(const struct plan *plan, char **workspace, const char *name)
{
	const struct tn_call *call = &plan->args.call;
	struct tn_workspace *given = call->workspace;
	*workspace = NULL;
	if (call->flags & TN_DRY_RUN) {
		if (!given && plan->bytes)
			return tn_plugin_fail(call->error, TN_UNSUPPORTED, name,
					      "workspace: expected %llu bytes, found none",
					      (unsigned long long)plan->bytes);
		if (given)
			given->minimum = given->preferred = plan->bytes;
		return TN_OK;
	}
	if (plan->bytes && (!given || given->size < plan->bytes))
		return tn_plugin_fail(call->error, TN_UNSUPPORTED, name,
				      "workspace: expected %llu bytes, found %llu",
				      (unsigned long long)plan->bytes,
				      (unsigned long long)(given ? given->size : 0));
	if (plan->bytes)
		*workspace = (char *)(uintptr_t)(given->buffer + given->offset);
	return TN_OK;
}

static tn_status convolve(struct plan *plan, char *workspace)
{
	struct cpu_conv *conv = &plan->conv;
	int64_t images = conv->n;
	tn_status status = TN_OK;
	conv->workspace = workspace ? workspace + plan->scratch : NULL;
	if (conv->pass == CPU_CONV_FORWARD)
		conv->packed = find_packed(plan);
	for (int64_t first = 0; first < images && !status; first += plan->group) {
		status = run_group(plan, workspace, first);
		if (conv->pass == CPU_CONV_WEIGHT_GRADIENT)
			conv->accumulate = 1;
	}
	return status;
}

static tn_status enter(void *device, const struct tn_conv2d_args *args, enum cpu_conv_pass pass)
{
	struct plan plan = {.conv = {.pass = pass}};
	char *workspace;
	tn_status status = make_plan(&plan, device, args, NULL);
	if (!status)
		status = take_workspace(&plan, &workspace, "conv2d");
	if (status || plan.args.call.flags & TN_DRY_RUN)
		return status;
	return convolve(&plan, workspace);
}

tn_status cpu_conv2d_forward(void *device, const struct tn_conv2d_args *args)
{
	return enter(device, args, CPU_CONV_FORWARD);
}

tn_status cpu_conv2d_input_gradient(void *device, const struct tn_conv2d_args *args)
{
	return enter(device, args, CPU_CONV_INPUT_GRADIENT);
}

tn_status cpu_conv2d_weight_gradient(void *device, const struct tn_conv2d_args *args)
{
	return enter(device, args, CPU_CONV_WEIGHT_GRADIENT);
}

tn_status cpu_conv2d_prepack(void *device, const struct tn_conv2d_args *args, uint64_t *size)
{
	struct plan plan = {.conv = {.pass = CPU_CONV_FORWARD}};
	char *workspace;
	tn_status status = make_plan(&plan, device, args, "conv2d_prepack");
	if (status)
		return status;
	uint64_t bytes = packed_bytes(&plan);
	status = take_workspace(&plan, &workspace, "conv2d_prepack");
	if (status)
		return status;
	*size = bytes;
	if (plan.args.call.flags & TN_DRY_RUN || !bytes)
		return TN_OK;
	if (plan.args.packed.size < bytes)
		return tn_plugin_fail(plan.args.call.error, TN_INVALID_ARGUMENT, "conv2d_prepack",
				      "packed: expected %llu bytes, found %llu",
				      (unsigned long long)bytes,
				      (unsigned long long)plan.args.packed.size);
	plan.conv.workspace = workspace ? workspace + plan.scratch : NULL;
	plan.algorithm->pack(&plan.conv, packed_address(&plan) + LABEL_BYTES);
	write_label((struct label *)(void *)packed_address(&plan), &plan);
	return TN_OK;
}
