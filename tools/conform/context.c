/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Contexts on the device under test, and the routes they took.  See context.h.
 */
#include "context.h"

#include <stdio.h>

#include "array/array.h"
#include "dispatch/ledger.h"
#include "program/cast.h"

/* A context, with the slots of its device's backend that route_force hides. */
struct opened {
	tn_context *context;
	struct tn_backend *backend;
	unsigned char native[TN_SLOT_COUNT];
	struct tn_compute_table compute;
	size_t n_lenders;
};

static struct opened alone, lending, reference;

/* ---- Opening ---------------------------------------------------------------------------------*/

static void ignore(void *user, int level, const char *subsystem, const char *text, size_t length)
{
	(void)user, (void)level, (void)subsystem, (void)text, (void)length;
}

static void set_variable(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

static void open_context(struct kit *kit, struct opened *opened, const char *selection,
			 const char *path)
{
	struct tn_error_info error = {.struct_size = sizeof(error)};
	struct tn_context_options options = tn_context_defaults();
	options.backend = selection;
	options.plugin_paths = path ? &path : NULL;
	options.n_plugin_paths = path != NULL;
	options.log = ignore;
	options.backend_options = kit->given;
	options.n_backend_options = kit->n_given;
	options.fallback = TN_FALLBACK_ALLOW;
	options.seed = kit->seed + 1;
	struct tn_runtime *rt;
	tn_status status = tn_context_open(&options, &opened->context, &error);
	if (status)
		kit_give_up(kit, "a context on '%s': %s: %s", selection, tn_status_name(status),
			    error.text);
	rt = tn_runtime_of(opened->context);
	opened->backend = (struct tn_backend *)(uintptr_t)rt->device->backend;
	memcpy(opened->native, opened->backend->native, sizeof(opened->native));
	opened->compute = opened->backend->compute;
	opened->n_lenders = rt->n_lenders;
}

/* Side effects of loading other plugins do not count against this one. */
static void open_without_others(struct kit *kit, struct opened *opened, const char *selection,
				const char *path)
{
	static const char *const names[] = {"TENON_PLUGIN_PATH", "TENON_PLUGIN_PATH_ONLY"};
	char *kept[2];
	for (int i = 0; i < 2; i++) {
		const char *value = getenv(names[i]);
		kept[i] = value ? strdup(value) : NULL;
	}
	unsetenv(names[0]);
	setenv(names[1], "1", 1);
	open_context(kit, opened, selection, path);
	for (int i = 0; i < 2; i++) {
		set_variable(names[i], kept[i]);
		free(kept[i]);
	}
}

static void open_device(struct kit *kit, struct opened *opened, int may_lend)
{
	const struct tn_backend *backend = kit->backend;
	char *path = backend->plugin.path ? realpath(backend->plugin.path, NULL) : NULL;
	char selection[64];
	snprintf(selection, sizeof(selection), "%s:%u%s", backend->plugin.name, kit->index,
		 may_lend ? "" : "!");
	if (may_lend)
		open_context(kit, opened, selection, path);
	else
		open_without_others(kit, opened, selection, path);
	free(path);
	if (memcmp(opened->backend->plugin.uuid, backend->plugin.uuid,
		   sizeof(backend->plugin.uuid)) != 0)
		kit_give_up(kit, "a context on '%s' uses %s", selection,
			    opened->backend->plugin.name);
}

tn_context *kit_context(struct kit *kit)
{
	if (!alone.context)
		open_device(kit, &alone, 0);
	return alone.context;
}

tn_context *kit_second_context(struct kit *kit)
{
	struct opened second = {.context = NULL};
	open_device(kit, &second, 0);
	return second.context;
}

tn_context *kit_lending_context(struct kit *kit)
{
	if (!lending.context)
		open_device(kit, &lending, 1);
	return lending.context;
}

tn_context *kit_reference_context(struct kit *kit)
{
	if (!reference.context)
		open_without_others(kit, &reference, "reference!", NULL);
	return reference.context;
}

void kit_contexts_close(void)
{
	struct opened *const all[] = {&alone, &lending, &reference};
	for (int i = 0; i < 3; i++) {
		/* Kits closed by threads concurrently have opened no contexts, so shared state is
		 * not written. */
		if (!all[i]->context)
			continue;
		tn_context_close(all[i]->context);
		all[i]->context = NULL;
	}
}

/* ---- Routes ----------------------------------------------------------------------------------*/

static struct opened *opened_of(const tn_context *context)
{
	return context == alone.context     ? &alone
	       : context == lending.context ? &lending
					    : &reference;
}

static tn_status refuse_map(void *device, const struct tn_map_args *args)
{
	(void)device, (void)args;
	return TN_UNSUPPORTED;
}

void route_force(tn_context *context, uint64_t slots, enum route route)
{
	struct opened *opened = opened_of(context);
	struct tn_runtime *rt = &context->runtime;
	uint64_t hidden = route == NATIVE ? 0 : slots;
	if (route == HOST)
		hidden |=
			SLOT_BIT(TN_SLOT_MAP) | SLOT_BIT(TN_SLOT_REDUCE) | SLOT_BIT(TN_SLOT_MATMUL);
	for (int slot = 0; slot < TN_SLOT_COUNT; slot++)
		opened->backend->native[slot] =
			opened->native[slot] && !(slot < 64 && hidden >> slot & 1);
	opened->backend->compute = opened->compute;
	/* The array layer calls it without checking the bit. */
	if (hidden & SLOT_BIT(TN_SLOT_MAP))
		opened->backend->compute.map = refuse_map;
	rt->n_lenders = route == COMPOSED || route == HOST ? 0 : opened->n_lenders;
}

static int has_lenders(const tn_context *context)
{
	const struct tn_runtime *rt = &context->runtime;
	if (rt->device == rt->reference) /* the last resort borrows no slots */
		return 0;
	const struct opened *opened = opened_of(context);
	for (size_t i = 0; rt->device->host_memory && i < opened->n_lenders; i++) {
		const struct tn_device *lender = rt->lenders[i];
		if (lender->backend != rt->device->backend && lender != rt->reference)
			return 1;
	}
	return 0;
}

int kit_has_lenders(struct kit *kit)
{
	return kit->description.flags & TN_DEVICE_HOST_MEMORY &&
	       has_lenders(kit_lending_context(kit));
}

enum route route_taken(tn_context *context, const char *operation)
{
	struct tn_ledger_row row = {.struct_size = sizeof(row)};
	for (size_t i = 0; !tn_ledger_at(context, i, &row); i++) {
		if (strcmp(row.operation, operation) != 0)
			continue;
		/* Steps of a composition outside the device count too: the worst route is
		 * returned. */
		return row.host                      ? HOST
		       : row.composed || row.widened ? COMPOSED
		       : row.lent                    ? LENT
						     : NATIVE;
	}
	return ROUTES;
}

int route_exists(tn_context *context, uint64_t slots, enum route route)
{
	const struct tn_runtime *rt = &context->runtime;
	for (int slot = 0; slot < 64 && route == NATIVE; slot++) {
		if (slots >> slot & 1 && tn_backend_has(rt->device->backend, (enum tn_slot)slot))
			return 1;
	}
	if (route == NATIVE)
		return 0;
	if (route == LENT)
		return has_lenders(context);
	return route == COMPOSED || rt->device != rt->reference;
}

int route_took(struct kit *kit, tn_context *context, const char *operation, enum route forced)
{
	enum route taken = route_taken(context, operation);
	if (taken == forced)
		return 1;
	if (taken == ROUTES)
		kit_fail(kit, "%s is not in the ledger", operation);
	else if (taken < forced || (forced == HOST && taken != HOST))
		kit_fail(kit, "%s: expected a %s route, found %s in the ledger", operation,
			 route_names[forced], route_names[taken]);
	return 0;
}

/* A composition of lent steps does not run on the device. */
static int is_lending(tn_context *context)
{
	struct tn_ledger_row row = {.struct_size = sizeof(row)};
	for (size_t i = 0; !tn_ledger_at(context, i, &row); i++) {
		if (row.lent)
			return 1;
	}
	return 0;
}

void kit_take_ledger(struct kit *kit, tn_context *context, char text[ROUTES_TEXT])
{
	const int lends = is_lending(context);
	struct tn_ledger_row row = {.struct_size = sizeof(row)};
	size_t used = 0;
	text[0] = 0;
	for (size_t i = 0; !tn_ledger_at(context, i, &row); i++) {
		/* Runs in steps are counted as the worst of the steps, and a widened operation's
		 * steps are counted in its row. */
		const enum route in_steps = row.host ? HOST : lends ? LENT : COMPOSED;
		uint64_t by[ROUTES] = {row.native, row.lent, 0, row.host};
		by[in_steps] += row.composed + row.widened;
		for (int route = 0; route < ROUTES; route++) {
			if (!by[route])
				continue;
			kit_cover(kit, row.operation, (enum route)route, (unsigned)by[route]);
			if (used < ROUTES_TEXT)
				used += (size_t)snprintf(text + used, ROUTES_TEXT - used, "%s%s %s",
							 used ? ", " : "", row.operation,
							 route_names[route]);
		}
	}
	tn_ledger_reset(context);
}

/* ---- Numbers ---------------------------------------------------------------------------------*/

void kit_fail_context(struct kit *kit, tn_context *context, const char *what)
{
	const struct tn_error_info *error = tn_error(context);
	kit_fail(kit, "%s%s: %s: %s: %s",
		 opened_of(context) == &reference ? "the built-in backend: " : "", what,
		 error ? error->operation : "", tn_status_name(error ? error->status : TN_OK),
		 error ? error->text : "the context has no error");
	tn_error_clear(context);
}

void values_round(const struct kit *kit, tn_dtype dtype, double *values, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (dtype == TN_F32)
			values[i] = kit_representable(kit, values[i]);
		values[i] = tn_f64_of_bits(tn_cast_bits(
			dtype, TN_F64, tn_cast_bits(TN_F64, dtype, tn_bits_of_f64(values[i]))));
	}
}

tn_array *values_upload(struct kit *kit, tn_context *context, tn_dtype dtype, int rank,
			const int64_t *shape, const double *values)
{
	size_t n = shape_count((uint32_t)rank, shape), size = tn_dtype_size(dtype);
	unsigned char *bytes = malloc(n * size + 1);
	tn_array *array;
	if (!bytes)
		kit_give_up(kit, "the kit is out of memory");
	for (size_t i = 0; i < n; i++) {
		uint64_t bits = tn_cast_bits(TN_F64, dtype, tn_bits_of_f64(values[i]));
		memcpy(bytes + i * size, &bits, size);
	}
	array = tn_from_host(context, dtype, rank, shape, bytes);
	free(bytes);
	if (!array)
		kit_fail_context(kit, context, "an input");
	return array;
}

double *values_of(struct kit *kit, const tn_array *array)
{
	size_t n = (size_t)tn_array_size(array), size = tn_dtype_size(tn_array_dtype(array));
	unsigned char *bytes = malloc(n * size + 1);
	double *values = numbers(n);
	if (!bytes)
		kit_give_up(kit, "the kit is out of memory");
	if (!array || tn_to_host(array, bytes, n * size)) {
		if (array)
			kit_fail_context(kit, tn_array_context(array), "to the host");
		free(bytes);
		free(values);
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t bits = 0;
		memcpy(&bits, bytes + i * size, size);
		values[i] = tn_f64_of_bits(tn_cast_bits(tn_array_dtype(array), TN_F64, bits));
	}
	free(bytes);
	return values;
}

/* "[1, 0, 3]" */
static void print_index(char *text, size_t size, int rank, const int64_t *shape, uint64_t i)
{
	int64_t index[TN_MAX_RANK];
	size_t used = (size_t)snprintf(text, size, "[");
	shape_index((uint32_t)rank, shape, i, index);
	for (int axis = 0; axis < rank && used < size; axis++)
		used += (size_t)snprintf(text + used, size - used, "%s%lld", axis ? ", " : "",
					 (long long)index[axis]);
	if (used < size)
		snprintf(text + used, size - used, "]");
}

void values_compare(struct kit *kit, const char *what, int rank, const int64_t *shape,
		    const double *found, const double *expected, const double *tolerance,
		    const char *routes)
{
	uint64_t n = shape_count((uint32_t)rank, shape);
	for (uint64_t i = 0; i < n; i++) {
		double allowed = tolerance ? tolerance[i] : 0;
		char index[96];
		if ((isnan(found[i]) && isnan(expected[i])) || found[i] == expected[i] ||
		    fabs(found[i] - expected[i]) <= allowed)
			continue;
		print_index(index, sizeof(index), rank, shape, i);
		kit_fail(kit, "%s%s: expected %.9g within %.3g, found %.9g (%s)", what, index,
			 expected[i], allowed, found[i], routes);
		return;
	}
}
