/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Families of faults: a sentence says which slot is wrong, how, and when, so that one row of
 * tests/conformance/families.txt and another number make another fault.
 *
 *	SLOT EFFECT [OPERAND] [VALUE] [if CONDITION [and CONDITION]...]
 *
 *	conv2d_forward spoil y last if x.3 >= 100 and x.dtype = f32
 *
 * A slot is one of family.c's table, and operands are named as in its arguments; those of map and
 * reduce are inputs, inputs1, inputs2, outputs; what a prepack entry writes is packed.  Effects, in
 * effects.c:
 *
 *	spoil Y PLACE     a wrong element: first, middle, last, or its number
 *	round Y BITS      the numbers of an output have BITS bits of fraction
 *	round_input X BITS  those of an input
 *	forget accumulate the call adds nothing
 *	positive X        negative strides count as positive
 *	nan Y             every element of the output
 *	quiet Y           signalling NaNs of the output become quiet
 *	unsigned Y        -0 of the output becomes 0
 *	flush Y           subnormals of the output become 0
 *	step Y            those of f32 and f64 are one unit in the last place off
 *	jitter Y          every second call is one unit in the last place off
 *	wrap X N          the indices modulo N
 *	stage X N         up to N bytes of the input pass through one static buffer
 *	overread X N      N bytes past the input are read
 *	exchange Y N      equal neighbours of sorted values exchange their indices
 *	lost_index Y 0    a pool's windows of -inf have index 0
 *	one Y N           x ** y is 1 if x is near 1, and |y| above N
 *	count_ignored Y 0 a label to ignore that is a class is not ignored
 *	leak_file Y N     each Nth refused call leaves a file open
 *
 * Conditions, in measures.c, compare (>=, <=, =) one of these with a number:
 *
 *	X.3 X.-1          a length; from behind
 *	X.stride.0        a stride
 *	X.count X.rank    elements, axes
 *	X.dtype           = f32
 *	X.has             = -inf, inf, nan, -0, subnormal
 *	X.channels_last   1 or 0
 *	line              the length along the arguments' axis
 *	terms             of each element: of a product, convolution or reduction
 *	matrices kernel groups descending reverse exclusive logarithm axis accumulate
 *	mode packed scaled causal masked wants
 *
 * Slots that do not compute have words of their own (family_device.c).
 *
 * All faults of computing slots assume host memory.
 */
#ifndef TN_TESTS_FAMILY_H
#define TN_TESTS_FAMILY_H

#include <tenon/plugin.h>

#include "faulty.h"

enum { SLOT_OPERANDS = 12 };

struct slot_operand {
	const char *name; /* NULL ends a list */
	size_t offset;
};

struct family_slot {
	const char *name;
	size_t place; /* of the entry in struct tables */
	size_t size;  /* of the arguments */
	const struct slot_operand *operands;
};

union family_args {
	struct tn_call call;
	struct tn_map_args map;
	struct tn_reduce_args reduce;
	struct tn_matmul_args matmul;
	struct tn_fill_args fill;
	struct tn_copy_args copy;
	struct tn_gather_args gather;
	struct tn_sort_args sort;
	struct tn_scan_args scan;
	struct tn_conv2d_args conv2d;
	struct tn_pool2d_args pool2d;
	struct tn_norm_args norm;
	struct tn_softmax_args softmax;
	struct tn_cross_entropy_args cross_entropy;
	struct tn_attention_args attention;
	struct tn_linalg_args linalg;
};

/* A call on its way to the right entry. */
struct family_call {
	const struct family_slot *slot;
	union family_args args;
	struct tn_operand inputs[16]; /* copies, of map and reduce */
	struct tn_operand packed;
	void *memory; /* freed after the call */
};

struct family_effect {
	const char *name;
	/* NULL, or what is done before a call, or after it. */
	void (*before)(struct family_call *call, struct tn_operand *operand, const char *value);
	void (*after)(struct family_call *call, struct tn_operand *operand, const char *value);
	/* NULL, or what is done after a call that was refused. */
	void (*refused)(const char *value);
};
extern const struct family_effect family_effects[]; /* ends with a row without a name */

/* Plants the fault that the sentence describes; 0: it describes none. */
int family_plant(const char *sentence);
/* The same for slots that do not compute. */
int family_plant_device(char *const *words, size_t n_words);

/* The place of an array slot's entry in struct tables; 0: there is no such slot. */
size_t family_slot_place(const char *name);

/* The operand of that name; NULL: none, or the call does without. */
struct tn_operand *family_operand(struct family_call *call, const char *name);

/* Does the condition "WHAT >= VALUE" hold for the call? */
int family_holds(struct family_call *call, const char *what, const char *relation,
		 const char *value);

/* An element of a floating dtype as a number, and its kind: "nan", "inf", "-inf", "-0", "subnormal"
 * or "". */
double family_number(tn_dtype dtype, const void *element);
const char *family_kind(tn_dtype dtype, const void *element);

#endif
