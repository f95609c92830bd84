/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The conformance kit: does a backend keep the promises of <tenon/backend.h>?
 *
 * A check is one promise: a row of the tables in level0.c to level5.c, with the id that
 * tenon-backend(7) cites, and a function that makes cases out of tables of shapes, layouts and
 * settings.  A case that calls a slot
 *     1. names itself (kit_case),
 *     2. makes arrays on the device, sentinels round them and in their gaps (array_make),
 *     3. calls the slot (kit_run), which also checks that a dry run gives the same answer, that
 *        inputs and sentinels are as they were, and that a refused call touched nothing,
 *     4. compares with an oracle of its own, a formula evaluated in double on the host, within a
 *        tolerance that it derives.
 * No oracle but that of random programs uses the reference backend,
 * which is under test as every other.
 */
#ifndef TN_TOOLS_CONFORM_H
#define TN_TOOLS_CONFORM_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/status.h>

#include "base/error.h"
#include "loader/backend.h"

/* ---- The backend under test (kit.c) ----------------------------------------------------------*/

struct kit;

/* One promise. */
struct check {
	const char *id;      /* family and word: "map.layouts" */
	uint32_t level;      /* 0 to 5 */
	const char *promise; /* what holds of a backend that passes, in one sentence */
	/* NULL: the parent process sees by itself whether it is kept. */
	void (*run)(struct kit *kit);
};

/* The checks of each level in the order in which they run; a row without id ends each table.  Those
 * of level 0 and of process_checks (level 5) run in a process of their own each, in which nothing
 * is loaded: kit->backend and kit->device are NULL.  All others share a process until one of them
 * ends it, with the backend loaded and the device open. */
extern const struct check level0_checks[];
extern const struct check level1_checks[];
extern const struct check level2_checks[];
extern const struct check level3_checks[];
extern const struct check level4_checks[];
extern const struct check level5_checks[];
extern const struct check process_checks[];
extern const struct check large_checks[];
extern const struct check bits_checks[];

/* What happened to the cases of one slot. */
struct tally {
	unsigned done;        /* on the device, by the slot itself */
	unsigned refused;     /* as they must be: wrong arguments */
	unsigned unsupported; /* by TN_UNSUPPORTED: the host takes another route */
	unsigned failed;
};

/* Tallies that belong to no slot. */
enum {
	KIT_FILE = TN_SLOT_COUNT, /* the plugin file (level 0) */
	KIT_PROCESS,              /* what it does to its process */
	KIT_CONTEXT,              /* what runs through a context: kit_cover says who did it */
	KIT_TALLIES,
};

/* Who did an operation of a case. */
enum route {
	NATIVE,   /* the backend's own slot */
	LENT,     /* the CPU backend, in this device's memory and without a copy */
	COMPOSED, /* slots of this device */
	HOST,     /* the host, with copies */
	ROUTES,
};
extern const char *const route_names[ROUTES];

enum { KIT_OPERATIONS = 96 };

/* How often an operation went each way, beyond what the tallies say. */
struct coverage {
	char operation[32];
	unsigned by[ROUTES];
};

/* How kit_run makes its calls. */
struct call_options {
	void *stream;
	int spoils;        /* overwrites the arguments when the entry has returned */
	int prefers;       /* gives the preferred workspace instead of the least */
	unsigned fails_at; /* host memory runs out at that call within the entry; 0: it does not */
	int has_failed;    /* it did */
};

struct kit {
	const struct tn_backend *backend;
	const struct check *check; /* that is running */
	const char *which;         /* the backend's name, or its file (has a '/') */
	uint32_t index;            /* of the device */
	uint64_t seed;             /* of random shapes and data */
	struct tn_device_description description;
	void *device;
	struct tn_error_info error;
	int slot; /* of the case: enum tn_slot, or KIT_FILE, ... */
	char case_name[160];
	int case_failed;
	struct tally tallies[KIT_TALLIES];
	struct coverage coverage[KIT_OPERATIONS];
	size_t n_coverage;
	struct call_options options;
	uint64_t random;
};

/* Opens the device; TN_OK or the backend's answer. */
tn_status kit_open(struct kit *kit, const struct tn_backend *backend, uint32_t index);
void kit_close(struct kit *kit);

/* Begins a case of a slot (enum tn_slot, or KIT_FILE, KIT_PROCESS, KIT_CONTEXT). */
void kit_case(struct kit *kit, int slot, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Counts a failure of the case, once, and reports why. */
void kit_fail(struct kit *kit, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same where what is broken is a promise of level 5 about any call: both the check of that id
 * and the one that is running have failed. */
void kit_fail_as(struct kit *kit, const char *id, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The case has run, and ran on the device (kit_run counts by itself).  A KIT_CONTEXT case counts as
 * run; where it ran is said by kit_cover. */
void kit_pass(struct kit *kit);

/* The device has no way to do this case, and need not have. */
void kit_unsupported(struct kit *kit);

/* n runs of an operation ("conv2d", as the ledger calls it) went that way. */
void kit_cover(struct kit *kit, const char *operation, enum route route, unsigned n);

/* The check does not apply to this backend, for that reason: call it and return. */
void kit_skip(struct kit *kit, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Something that is no failure but that the author should know. */
void kit_remark(struct kit *kit, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Ends the check, and the process, where no case can go on: memory ran out, the device is lost. */
void kit_give_up(struct kit *kit, const char *format, ...)
	__attribute__((format(printf, 2, 3), noreturn));

/* Must the backend answer TN_OK to a map or reduce of that dtype? */
int kit_claims_program(const struct kit *kit, tn_dtype dtype);
int kit_claims_storage(const struct kit *kit, tn_dtype dtype);
int kit_claims_matmul(const struct kit *kit, tn_dtype dtype);

/* The dtypes that layers are tried in. */
enum { LAYER_DTYPES = 4 };
extern const tn_dtype layer_dtypes[LAYER_DTYPES];

/* Is a layer tried in that dtype and layout?  The wide ones in all; f16 and bf16, which are loaded
 * and stored otherwise and computed alike, in few. */
int kit_is_tried(const struct kit *kit, tn_dtype dtype, unsigned layout);

/* Half the distance between 1 and the next number of a dtype: the error of one rounding.  Of f16
 * and bf16 it is that of f32, which they are computed in. */
double kit_epsilon(tn_dtype dtype);
/* The same, wider where the family's products are (TN_ACCURACY_REDUCED). */
double kit_family_epsilon(const struct kit *kit, int family, tn_dtype dtype);

/* Random numbers of the kit's own: each case begins anew from kit->seed, and draws the same in
 * every run with that seed. */
uint64_t kit_random(struct kit *kit);
double kit_uniform(struct kit *kit, double low, double high);
/* Draws other numbers from here on: number n of a case's variants. */
void kit_vary(struct kit *kit, uint64_t n);

/* ---- Arrays on the device (array.c) ----------------------------------------------------------*/

enum layout {
	COMPACT,
	REVERSED,   /* axes in reverse order in memory */
	SPACED,     /* every third element, and gaps between rows */
	SHIFTED,    /* compact, beginning at an odd element of the buffer */
	BACKWARD,   /* inputs only: all strides negative */
	BROADCAST,  /* inputs only: stride 0 along every other axis, the last one included */
	OVERLAPPED, /* inputs only: windows that overlap, every stride 1 */
	LAYOUTS,
	OUTPUT_LAYOUTS = BACKWARD,
	RANDOM = LAYOUTS, /* axes in any order in memory, with gaps; inputs also 0 and negative */
	CHANNELS_LAST,    /* axis 1 innermost, the others in their order; compact below rank 3 */
	ALL_LAYOUTS,
};
extern const char *const layout_names[ALL_LAYOUTS];

enum role { INPUT, OUTPUT };

struct array {
	struct kit *kit;
	enum role role;
	struct tn_operand operand;
	uint64_t count;
	size_t size;            /* of the buffer */
	unsigned char *image;   /* what the buffer holds, as the host knows it */
	unsigned char *element; /* 1 for each byte of the buffer that belongs to an element */
};

/* A buffer on the device with an operand in it.  Ends the program when memory runs out. */
void array_make(struct kit *kit, struct array *array, enum role role, tn_dtype dtype, uint32_t rank,
		const int64_t *shape, enum layout layout);
void array_free(struct array *array);

/* Element i in row-major order, on the host: its place, bits and value. */
unsigned char *array_at(const struct array *array, uint64_t i);
uint64_t array_bits(const struct array *array, uint64_t i);
void array_set_bits(struct array *array, uint64_t i, uint64_t bits);
double array_number(const struct array *array, uint64_t i);            /* f32, f64, i32, i64 */
void array_set_number(struct array *array, uint64_t i, double number); /* rounded to the dtype */

/* Random elements; the values of floating dtypes in [low, high], of others all bits (bool: 0,
 * 1). */
void array_randomise(struct array *array, double low, double high);

/* All elements as doubles, row-major; the caller frees. */
double *array_numbers(const struct array *array);

/* Adds to tolerances what storing a result in f16 or bf16 does: half a unit in the last of its 11
 * or 8 digits, and of the least number.  Other dtypes are computed in as they are stored. */
void array_narrow(const struct array *array, const double *expected, double *tolerance);

/* Compares every element with expected[i] within tolerance[i]; equal infinities and NaNs are equal.
 * Fails the case at the first that differs. */
void array_compare(const struct array *array, const double *expected, const double *tolerance);

/* The row-major indices of element i of a shape. */
void shape_index(uint32_t rank, const int64_t *shape, uint64_t i, int64_t *index);
uint64_t shape_count(uint32_t rank, const int64_t *shape);

/* ---- Calls (call.c) --------------------------------------------------------------------------*/

/* Uploads the arrays, dry-runs and calls the case's slot, with the workspace it asks for, and
 * fetches the arrays.  Returns the call's status.  The case fails when the two answers differ, when
 * the status is neither TN_OK nor TN_UNSUPPORTED, and when a byte has changed that may not.
 * `args` is the slot's argument struct, its call filled by CALL. */
tn_status kit_run(struct kit *kit, void *args, struct array *const *arrays, size_t n_arrays);

/* The same where TN_OK is due: the dtype is claimed, or nothing of the kind is. */
int kit_run_ok(struct kit *kit, void *args, struct array *const *arrays, size_t n_arrays);

/* The same where the call must be refused: with `status`, or with any when it is TN_OK. */
void kit_run_refused(struct kit *kit, void *args, struct array *const *arrays, size_t n_arrays,
		     tn_status status);

/* The case's slot, called as it is: for cases that look at the call itself. */
tn_status kit_enter(const struct kit *kit, const void *args);

#define CALL(type)                                                                                 \
	{                                                                                          \
		.struct_size = sizeof(type)                                                        \
	}

/* ---- Shapes as data (shapes.c) ---------------------------------------------------------------*/

struct shape {
	uint32_t rank;
	int64_t lengths[TN_MAX_RANK];
};
extern const struct shape shapes[];
extern const size_t n_shapes;

/* A shape of any rank up to `most_rank`, of at most `most` elements;
 * lengths of 1 and odd ones abound. */
void shape_random(struct kit *kit, struct shape *shape, uint32_t most_rank, uint64_t most);

/* ---- Gradients (differences.c) ---------------------------------------------------------------*/

/* y := f(x) on compact arrays; `setting` is the layer's. */
typedef void (*layer_function)(const void *setting, const double *x, double *y);

/* gradient[i] := sum_j dy[j] (f(x + h e_i)[j] - f(x - h e_i)[j]) / 2 h.  x is left as it was. */
void differences(layer_function f, const void *setting, double *x, size_t n_x, const double *dy,
		 size_t n_y, double h, double *gradient);

/* Memory for n doubles, zero; ends the program when there is none. */
double *numbers(size_t n);

/* ---- Checks ----------------------------------------------------------------------------------*/

/* Levels 1 and 2, and those of level 5 that look at single slots: slots.h. */

/* Of a value in double, for oracles (epilogue.c). */
double kit_activate(uint32_t activation, double x);

/* Levels 3 (forward) and 4 (backward): native slots; empty ones are passed over. */
void check_conv2d_forward(struct kit *kit);
void check_conv2d_backward(struct kit *kit);
void check_pool2d_forward(struct kit *kit);
void check_pool2d_backward(struct kit *kit);
void check_norm_forward(struct kit *kit);
void check_norm_backward(struct kit *kit);
void check_norm_epilogue(struct kit *kit);
void check_norm_dresidual(struct kit *kit);
void check_conv2d_epilogue(struct kit *kit);
void check_conv2d_prepack(struct kit *kit);
void check_softmax_forward(struct kit *kit);
void check_softmax_backward(struct kit *kit);
void check_cross_entropy_forward(struct kit *kit);
void check_cross_entropy_backward(struct kit *kit);

#endif
