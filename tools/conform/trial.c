/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Gives the operands of a trial their views and values, runs it, and compares.
 */
#include "trial.h"

#include <float.h>
#include <stdio.h>
#include <tenon/program.h>

#include "loader/slots.h"
#include "program/cast.h"

const char *const view_names[VIEWS] = {"compact", "permuted", "channels last", "spaced",
				       "any",     "backward", "broadcast",     "overlapped"};

static const struct trial_slot *const tables[] = {plain_slots, layer_slots, norm_slots};

static int is_claimed(const struct kit *kit, int slot, tn_dtype dtype)
{
	if (!kit_claims_storage(kit, dtype))
		return 0;
	if (slot == TN_SLOT_MATMUL)
		return kit_claims_matmul(kit, dtype);
	if (slot == TN_SLOT_FILL) /* with one of 16 bytes only on the device */
		return dtype != TN_C128;
	if (slot == TN_SLOT_SORT || slot == TN_SLOT_SCAN)
		return !tn_is_complex(dtype);
	if (slot == TN_SLOT_SCATTER_ADD)
		return tn_is_floating(dtype) || tn_is_integer(dtype);
	if (slot == TN_SLOT_MAP || slot == TN_SLOT_REDUCE)
		return tn_compute_dtype(dtype) && kit_claims_program(kit, tn_compute_dtype(dtype));
	return 1;
}

/* "softmax.views" is a check of "softmax". */
static int is_of(const struct trial_slot *slot, const struct check *check)
{
	const size_t length = strlen(slot->check);
	return slot->level == check->level && !strncmp(check->id, slot->check, length) &&
	       check->id[length] == '.';
}

void trial_each(struct kit *kit, void (*run)(struct kit *kit, const struct trial_slot *slot,
					     tn_dtype dtype, int accumulates))
{
	int n = 0;
	for (int i = 0; i < 3; i++)
		for (const struct trial_slot *slot = tables[i]; slot->plan; slot++) {
			if (!is_of(slot, kit->check) ||
			    !tn_backend_has(kit->backend, (enum tn_slot)slot->slot))
				continue;
			n++;
			for (tn_dtype dtype = 1; dtype < TN_DTYPES; dtype++)
				for (int flag = 0; flag <= slot->accumulates; flag++)
					if (is_claimed(kit, slot->slot, dtype) &&
					    (!slot->is_floating || tn_is_floating(dtype)))
						run(kit, slot, dtype, flag);
		}
	if (!n)
		kit_skip(kit, "its slots are empty");
}

/* ---- Planning --------------------------------------------------------------------------------*/

/* Faults that need a value may need a long axis as well: each plan has none or one, and not the
 * same one in every dtype. */
enum { MOST_STRETCHED = 10, STRETCH = 8 };

void trial_plan(struct kit *kit, struct trial *t, const struct trial_slot *slot, tn_dtype dtype,
		int accumulates, uint64_t number)
{
	memset(t, 0, sizeof(*t));
	kit_case(kit, slot->slot, "%s", tn_slots[slot->slot].name);
	kit_vary(kit, number);
	t->kit = kit;
	t->row = slot;
	t->slot = slot->slot;
	t->dtype = dtype;
	t->accumulates = accumulates;
	t->args_size = tn_slots[slot->slot].args_size;
	t->args.call.struct_size = (uint32_t)t->args_size;
	t->args.call.flags = accumulates ? TN_ACCUMULATE : 0;
	t->stretched = ((unsigned)kit_random(kit) + (unsigned)dtype) % MOST_STRETCHED;
	slot->plan(t);
}

struct trial_operand *trial_operand(struct trial *t, const char *name, size_t place, enum role role,
				    tn_dtype dtype, uint32_t rank, const int64_t *shape)
{
	struct trial_operand *o = &t->operand[t->n++];
	const double most = tn_is_floating(dtype) ? 1 : 9;
	*o = (struct trial_operand){.name = name,
				    .place = place,
				    .role = role,
				    .low = tn_is_unsigned(dtype) ? 0 : -most,
				    .high = most,
				    .dtype = dtype,
				    .shape = {.rank = rank}};
	if (rank)
		memcpy(o->shape.lengths, shape, rank * sizeof(*shape));
	return o;
}

int64_t trial_length(struct trial *t, int64_t most)
{
	if (t->n_lengths++ == t->stretched)
		return STRETCH * most - (int64_t)(kit_random(t->kit) % (uint64_t)most);
	if (most < 2 || kit_random(t->kit) % 8 == 0)
		return 1;
	return 2 + (int64_t)(kit_random(t->kit) % (uint64_t)(most - 1));
}

/* ---- Views -----------------------------------------------------------------------------------*/

/* The axes from the outermost to the innermost. */
static void order_axes(struct kit *kit, uint32_t rank, enum view view, uint32_t *order)
{
	for (uint32_t i = 0; i < rank; i++)
		order[i] = i;
	if (view == VIEW_CHANNELS_LAST) {
		for (uint32_t i = 1; i + 1 < rank; i++)
			order[i] = i + 1;
		if (rank > 1)
			order[rank - 1] = 1;
		if (rank == 2) {
			order[0] = 1;
			order[1] = 0;
		}
	}
	for (uint32_t i = 1; i < rank && (view == VIEW_PERMUTED || view == VIEW_ANY); i++) {
		uint32_t j = (uint32_t)(kit_random(kit) % (i + 1)), axis = order[i];
		order[i] = order[j];
		order[j] = axis;
	}
}

/* The innermost stride of a matrix is 1; the axis that has it is one of the last two. */
static void order_matrix(struct kit *kit, uint32_t rank, enum view view, uint32_t *order)
{
	uint32_t last = rank - 1 - (view != VIEW_COMPACT && kit_random(kit) % 2), at = 0;
	while (order[at] != last)
		at++;
	order[at] = order[rank - 1];
	order[rank - 1] = last;
}

static int has_gaps(struct kit *kit, enum view view)
{
	return view == VIEW_SPACED || (view == VIEW_ANY && kit_random(kit) % 2);
}

/* What only inputs may have: negative strides, zeros, windows. */
static void bend(struct kit *kit, const struct trial_operand *o, enum view view, int64_t *strides)
{
	const uint32_t free_axes = o->shape.rank - (o->is_matrix ? 2 : 0);
	uint32_t one = free_axes ? (uint32_t)(kit_random(kit) % free_axes) : 0;
	for (uint32_t i = 0; i < free_axes && o->shape.lengths[one] == 1; i++)
		one = (one + 1) % free_axes; /* rather an axis that makes a difference */
	for (uint32_t axis = 0; axis < free_axes; axis++) {
		unsigned draw = (unsigned)(kit_random(kit) % 4);
		int is_chosen = axis == one || draw == 0;
		if ((view == VIEW_BACKWARD && is_chosen) || (view == VIEW_ANY && draw == 1))
			strides[axis] = -strides[axis];
		if (o->is_own)
			continue;
		if ((view == VIEW_BROADCAST && is_chosen) || (view == VIEW_ANY && draw == 2))
			strides[axis] = 0;
		if (view == VIEW_OVERLAPPED && is_chosen)
			strides[axis] = strides[free_axes - 1];
	}
}

static void draw_strides(struct kit *kit, const struct trial_operand *o, enum view view,
			 int64_t *strides)
{
	const uint32_t rank = o->shape.rank;
	uint32_t order[TN_MAX_RANK];
	int64_t stride =
		has_gaps(kit, view) && !o->is_matrix ? 2 + (int64_t)(kit_random(kit) % 2) : 1;
	order_axes(kit, rank, view, order);
	if (o->is_matrix)
		order_matrix(kit, rank, view, order);
	for (uint32_t i = rank; i-- > 0;) {
		strides[order[i]] = stride;
		stride = stride * o->shape.lengths[order[i]] + (has_gaps(kit, view) ? 3 : 0);
	}
	if (o->role == INPUT)
		bend(kit, o, view, strides);
}

/* ---- Values ----------------------------------------------------------------------------------*/

static double draw_number(struct kit *kit, const struct trial_operand *o)
{
	double number = kit_uniform(kit, o->low, o->high);
	return o->values == BELOW || !tn_is_floating(o->dtype) ? floor(number) : number;
}

static void draw_bits(struct kit *kit, unsigned char *at, tn_dtype dtype)
{
	for (size_t byte = 0; byte < tn_dtype_size(dtype); byte++)
		at[byte] = (unsigned char)(kit_random(kit) & (dtype == TN_BOOL ? 1 : 255));
}

static void fill(struct kit *kit, struct trial_operand *o)
{
	for (uint64_t i = 0; i < o->array.count; i++) {
		if (o->values == ANY_BITS || tn_is_complex(o->dtype) || o->dtype == TN_BOOL)
			draw_bits(kit, array_at(&o->array, i), o->dtype);
		else if (tn_compute_dtype(o->dtype) == TN_F32)
			array_set_number(&o->array, i, kit_representable(kit, draw_number(kit, o)));
		else
			array_set_number(&o->array, i, draw_number(kit, o));
	}
}

void trial_make(struct trial *t, const enum view *views)
{
	for (unsigned i = 0; i < t->n; i++) {
		struct trial_operand *o = &t->operand[i];
		int64_t strides[TN_MAX_RANK];
		uint64_t shift = views[i] == VIEW_COMPACT ? 0 : kit_random(t->kit) % 8;
		draw_strides(t->kit, o, views[i], strides);
		array_make_view(t->kit, &o->array, o->role, o->dtype, o->shape.rank,
				o->shape.lengths, strides, shift);
		fill(t->kit, o);
	}
	if (t->fill)
		t->fill(t);
}

/* ---- Running ---------------------------------------------------------------------------------*/

static unsigned char *room(struct kit *kit, size_t size)
{
	unsigned char *memory = calloc(size ? size : 1, 1);
	if (!memory)
		kit_give_up(kit, "the kit is out of memory");
	return memory;
}

static unsigned char *elements(const struct array *array)
{
	const size_t size = tn_dtype_size(array->operand.dtype);
	unsigned char *all = room(array->kit, array->count * size);
	for (uint64_t i = 0; i < array->count; i++)
		memcpy(all + i * size, array_at(array, i), size);
	return all;
}

static void place_operands(struct trial *t)
{
	if (t->slot == TN_SLOT_MAP || t->slot == TN_SLOT_REDUCE) {
		for (unsigned i = 0; i + 1 < t->n; i++)
			t->inputs[i] = t->operand[i].array.operand;
		if (t->slot == TN_SLOT_MAP) {
			t->args.map.inputs = t->inputs;
			t->args.map.outputs = &t->operand[t->n - 1].array.operand;
		} else {
			t->args.reduce.inputs = t->inputs;
			t->args.reduce.outputs = &t->operand[t->n - 1].array.operand;
		}
		return;
	}
	for (unsigned i = 0; i < t->n; i++)
		memcpy((unsigned char *)&t->args + t->operand[i].place,
		       &t->operand[i].array.operand, sizeof(struct tn_operand));
}

/* Programs round their values to the type in which the device computes. */
static void compare_bytes(struct trial *t, const struct trial_operand *o)
{
	const size_t size = tn_dtype_size(o->dtype);
	for (uint64_t i = 0; i < o->array.count; i++) {
		uint64_t found = 0, expected = 0;
		if (!memcmp(array_at(&o->array, i), o->expected_bytes + i * size, size))
			continue;
		memcpy(&found, array_at(&o->array, i), size < 8 ? size : 8);
		memcpy(&expected, o->expected_bytes + i * size, size < 8 ? size : 8);
		if (t->slot == TN_SLOT_MAP && kit_is_value(t->kit, o->dtype, expected, found))
			continue;
		kit_fail(t->kit, "%s: element %llu: expected bits %llx, found %llx", o->name,
			 (unsigned long long)i, (unsigned long long)expected,
			 (unsigned long long)found);
		return;
	}
}

static double largest_of(tn_dtype dtype)
{
	return dtype == TN_F64    ? DBL_MAX
	       : dtype == TN_F16  ? 65504
	       : dtype == TN_BF16 ? 0x1.fep127
				  : FLT_MAX;
}

/* Is it the expected number, rounded to the dtype?  Beyond the largest number is infinity. */
static int is_close(tn_dtype dtype, double expected, double tolerance, double found)
{
	const double reach = fabs(expected) + tolerance;
	double rounded = expected;
	if (!(tolerance < INFINITY) || (isnan(expected) && isnan(found)))
		return 1;
	if (tn_is_floating(dtype))
		rounded = tn_f64_of_bits(tn_cast_bits(
			dtype, TN_F64, tn_cast_bits(TN_F64, dtype, tn_bits_of_f64(expected))));
	if (found == expected || found == rounded)
		return 1;
	if (isinf(found) && isfinite(expected))
		return reach >= largest_of(dtype) && (found > 0) == (expected > 0);
	if (isinf(rounded) && isfinite(expected))
		return fabs(found) >= fabs(expected) - tolerance && (found > 0) == (expected > 0);
	return isfinite(expected) && fabs(found - expected) <= tolerance;
}

static void compare_numbers(struct trial *t, const struct trial_operand *o)
{
	if (tn_is_narrow(o->dtype))
		array_narrow(&o->array, o->expected, o->tolerance);
	for (uint64_t i = 0; i < o->array.count; i++) {
		double found = array_number(&o->array, i);
		if (is_close(o->dtype, o->expected[i], o->tolerance[i], found))
			continue;
		kit_fail(t->kit, "%s: element %llu: expected %.9g within %.3g, found %.9g", o->name,
			 (unsigned long long)i, o->expected[i], o->tolerance[i], found);
		return;
	}
}

static tn_status enter(struct trial *t)
{
	struct array *all[TRIAL_OPERANDS];
	for (unsigned i = 0; i < t->n; i++)
		all[i] = &t->operand[i].array;
	return t->is_required ? !kit_run_ok(t->kit, &t->args, all, t->n)
			      : kit_run(t->kit, &t->args, all, t->n);
}

static void read_operands(struct trial *t)
{
	for (unsigned i = 0; i < t->n; i++) {
		struct trial_operand *o = &t->operand[i];
		free(o->x);
		free(o->bytes);
		o->x = array_numbers(&o->array);
		o->bytes = elements(&o->array);
	}
}

void trial_save(struct trial *t)
{
	if (!t->save)
		return;
	read_operands(t);
	t->save(t);
}

tn_status trial_run(struct trial *t)
{
	tn_status status;
	read_operands(t);
	place_operands(t);
	status = enter(t);
	if (status)
		return status;
	t->formula(t);
	for (unsigned i = 0; i < t->n; i++) {
		const struct trial_operand *o = &t->operand[i];
		if (o->role == OUTPUT && o->expected_bytes)
			compare_bytes(t, o);
		else if (o->role == OUTPUT && o->expected)
			compare_numbers(t, o);
	}
	return TN_OK;
}

void trial_free(struct trial *t)
{
	for (unsigned i = 0; i < t->n; i++) {
		struct trial_operand *o = &t->operand[i];
		if (o->array.image)
			array_free(&o->array);
		free(o->x);
		free(o->bytes);
		free(o->expected);
		free(o->tolerance);
		free(o->expected_bytes);
	}
	tn_program_destroy(t->program);
}

void trial_expect(struct trial_operand *o)
{
	o->expected = numbers(o->array.count);
	o->tolerance = numbers(o->array.count);
}

void trial_expect_bytes(struct trial_operand *o)
{
	o->expected_bytes = room(o->array.kit, o->array.count * tn_dtype_size(o->dtype));
}

void trial_settle(struct trial_operand *o, uint64_t i, int is_open)
{
	double found = array_number(&o->array, i);
	if ((is_open || !isfinite(o->expected[i])) && !isfinite(found))
		o->expected[i] = found;
}

/* ---- Twins -----------------------------------------------------------------------------------*/

int trial_is_exact(const struct trial *t)
{
	for (unsigned i = 0; i < t->n; i++)
		if (t->operand[i].role == OUTPUT && t->operand[i].expected)
			return 0;
	return 1;
}

void trial_twin(const struct trial *t, struct trial *twin)
{
	*twin = *t;
	twin->program = NULL; /* the other one's */
	for (unsigned i = 0; i < t->n; i++) {
		struct trial_operand *o = &twin->operand[i];
		const size_t size = tn_dtype_size(o->dtype);
		o->x = o->expected = o->tolerance = NULL;
		o->bytes = o->expected_bytes = NULL;
		array_make(t->kit, &o->array, o->role, o->dtype, o->shape.rank, o->shape.lengths,
			   COMPACT);
		for (uint64_t e = 0; e < o->array.count; e++)
			memcpy(array_at(&o->array, e), t->operand[i].bytes + e * size, size);
	}
}

static void agree(const struct trial *t, const struct trial_operand *a,
		  const struct trial_operand *b)
{
	for (uint64_t i = 0; i < a->array.count; i++) {
		double one = array_number(&a->array, i), other = array_number(&b->array, i);
		if (is_close(a->dtype, other, 2 * a->tolerance[i], one))
			continue;
		kit_fail(t->kit, "%s: element %llu is %.9g, and %.9g of compact operands", a->name,
			 (unsigned long long)i, one, other);
		return;
	}
}

/* Bytes that were expected are those of both. */
void trial_agree(const struct trial *t, const struct trial *twin)
{
	for (unsigned i = 0; i < t->n; i++)
		if (t->operand[i].role == OUTPUT && t->operand[i].expected)
			agree(t, &t->operand[i], &twin->operand[i]);
}

/* ---- Sums ------------------------------------------------------------------------------------*/

/* Of 1 / `inverse`; numbers of 2^53 times as much count as none. */
static int is_multiple(long double term, long double inverse)
{
	const long double scaled = term * inverse;
	return fabsl(scaled) < 0x1p53L && scaled == (long double)(int64_t)scaled;
}

void sum_add(struct sum *s, long double term)
{
	s->value += term;
	s->n += 1;
	s->is_mixed |= term < 0 ? 1 : term > 0 ? 2 : 0;
	s->is_finer |= is_multiple(term, 0x1p149L) ? 0 : 1;
	s->is_finer |= is_multiple(term, 0x1p1074L) ? 0 : 2;
	if (isfinite(term))
		s->magnitude += fabsl(term);
}

double trial_largest(const struct trial *t)
{
	return t->dtype == TN_F64 ? DBL_MAX : FLT_MAX;
}

double trial_epsilon(const struct trial *t)
{
	return kit_family_error(t->kit, t->row->family, t->dtype, 0, 1);
}

double trial_least(const struct trial *t)
{
	return t->dtype == TN_F64 ? DBL_MIN : FLT_MIN;
}

int trial_keeps_subnormals(const struct kit *kit, tn_dtype dtype)
{
	const uint32_t flag =
		dtype == TN_F16 ? TN_NUMERICS_F16_SUBNORMALS : TN_NUMERICS_F32_SUBNORMALS;
	return dtype == TN_F64 || (kit->description.numerics & flag) != 0;
}

/* Does the slot add up its inputs or products of two, which nothing scales before or after? */
static int adds_plainly(const struct trial *t, const struct sum *s)
{
	switch (t->slot) {
	case TN_SLOT_REDUCE:
	case TN_SLOT_SCAN:
	case TN_SLOT_MATMUL:
	case TN_SLOT_SCATTER:
	case TN_SLOT_SCATTER_ADD:
	case TN_SLOT_CONV2D_FORWARD:
	case TN_SLOT_CONV2D_INPUT_GRADIENT:
	case TN_SLOT_CONV2D_WEIGHT_GRADIENT:
		return !s->is_scaled;
	default:
		return 0;
	}
}

/* What a term may lose at the lower end of the dtype: some units of the least number, since a
 * convolution may have transformed its operands, or all of a subnormal number. */
static double lost_at_end(const struct trial *t, const struct sum *s)
{
	const tn_dtype dtype = t->dtype;
	const int is_reduced = t->kit->description.accuracy[t->row->family] > TN_ACCURACY_IEEE;
	if (is_reduced || !adds_plainly(t, s) || !trial_keeps_subnormals(t->kit, dtype))
		return trial_least(t);
	return dtype == TN_F64 ? 0x1p-1074 * 16 : 0x1p-149 * 16;
}

/* At the lower end of a dtype every partial sum is a number of it.  (Products of f64 may be rounded
 * here.) */
static int is_exact(const struct trial *t, const struct sum *s)
{
	const int wide = t->dtype == TN_F64;
	switch (t->slot) {
	case TN_SLOT_MATMUL:
		if (wide)
			return 0;
		break;
	case TN_SLOT_REDUCE:
	case TN_SLOT_SCAN:
	case TN_SLOT_SCATTER:
	case TN_SLOT_SCATTER_ADD:
		break;
	default:
		return 0;
	}
	return !s->is_scaled && !(s->is_finer >> wide & 1) &&
	       s->magnitude < (wide ? 0x1p-1021L : 0x1p-125L) &&
	       t->kit->description.accuracy[t->row->family] == TN_ACCURACY_IEEE &&
	       trial_keeps_subnormals(t->kit, t->dtype) &&
	       trial_keeps_subnormals(t->kit, wide ? TN_F64 : TN_F32);
}

double sum_error(const struct trial *t, const struct sum *s)
{
	/* What a partial sum may be, also before it is scaled. */
	const long double most = s->magnitude * (s->is_scaled ? 8 : 1);
	const long double end = trial_largest(t), size = fabsl(s->value);
	if (isnan(s->value))
		return 0;
	if (isinf(s->magnitude))
		return INFINITY;
	if (is_exact(t, s))
		return 0;
	if (most > end / 2 && (s->is_mixed == 3 || (s->is_scaled && size < 8 * end)))
		return INFINITY;
	if (isinf(s->value))
		return 0;
	if (size > end * 0.999L) /* at the end: a number or infinity; beyond it: infinity */
		return size < end * 1.001L ? INFINITY : 0;
	return kit_family_error(t->kit, t->row->family, t->dtype, s->n, 4) * (double)s->magnitude +
	       (s->n + 4) * lost_at_end(t, s) +
	       kit_rounding(t->kit, t->row->family, t->dtype, (double)s->value);
}
