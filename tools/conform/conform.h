/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The conformance kit: checks that a backend keeps the promises of <tenon/backend.h>.
 *
 * A check is one promise: a row of the tables in level0.c to level5.c, with the id that
 * tenon-backend(7) cites, and a function that makes cases out of tables of shapes, layouts and
 * settings.  A case that calls a slot
 *     1. sets its name (kit_case),
 *     2. makes arrays on the device, with sentinels around them and in their gaps (array_make),
 *     3. calls the slot (kit_run), which checks as well that a dry run returns the same status,
 *        that inputs and sentinels are unchanged, and that a refused call modified nothing,
 *     4. compares with its own oracle, a formula evaluated in double on the host, within a
 *        tolerance derived for it.
 * Only the oracle of random programs uses the reference backend, which is itself tested like every
 * other backend.
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
	const char *promise; /* what a passing backend guarantees, in one sentence */
	/* NULL: the parent process decides. */
	void (*run)(struct kit *kit);
};

/* The checks of each level in the order in which they run; a row without id ends each table.  Each
 * check of level 0 and of process_checks (level 5) runs in its own process, in which nothing is
 * loaded: kit->backend and kit->device are NULL.  All others share a process, with the backend
 * loaded and the device open, until one of them ends it. */
extern const struct check level0_checks[];
extern const struct check level1_checks[];
extern const struct check level2_checks[];
extern const struct check level3_checks[];
extern const struct check level4_checks[];
extern const struct check level5_checks[];
extern const struct check process_checks[];
extern const struct check large_checks[];
extern const struct check bits_checks[];
extern const struct check dtype_pair_checks[]; /* of --mode=large, as the two before */

/* What happened to the cases of one slot. */
struct tally {
	unsigned done;        /* on the device, by the slot itself */
	unsigned refused;     /* correctly, for invalid arguments */
	unsigned unsupported; /* with TN_UNSUPPORTED: the host takes another route */
	unsigned failed;
};

/* Tallies outside slots. */
enum {
	KIT_FILE = TN_SLOT_COUNT, /* the plugin file (level 0) */
	KIT_PROCESS,              /* effects on its process */
	KIT_CONTEXT,              /* calls through a context; kit_cover counts their routes */
	KIT_TALLIES,
};

/* The route of an operation of a case. */
enum route {
	NATIVE,   /* the backend's own slot */
	LENT,     /* the CPU backend, in this device's memory and without a copy */
	COMPOSED, /* slots of this device */
	HOST,     /* the host, with copies */
	ROUTES,
};
extern const char *const route_names[ROUTES];

enum { KIT_OPERATIONS = 96 };

/* How often an operation took each route, in addition to the tallies. */
struct coverage {
	char operation[32];
	unsigned by[ROUTES];
};

/* An inaccessible page next to the first or last element of an array, where a device takes any
 * address of host memory: who reads or writes beyond it ends the process. */
enum fence { NO_FENCE, FENCE_BEHIND, FENCE_BEFORE };

struct busy;

/* How kit_run makes its calls. */
struct call_options {
	void *stream;
	int spoils;        /* takes the arguments' memory away after the entry returns */
	struct busy *busy; /* work that is under way when the entry is called; NULL: none */
	int prefers;       /* passes the preferred workspace instead of the smallest */
	enum fence fence;  /* of every array that is made; drawn if NO_FENCE */
	unsigned fails_at; /* host allocation number that fails within the entry; 0: none */
	int has_failed;    /* that allocation was reached */
};

struct kit {
	const struct tn_backend *backend;
	const struct check *check;   /* the running one */
	const char *which;           /* the backend's name, or its file (has a '/') */
	const char *table;           /* a vendor's own, to be checked too; NULL: none */
	const struct tn_pair *given; /* options of backends */
	size_t n_given;
	uint32_t index;    /* of the device */
	uint64_t seed;     /* of random shapes and data */
	double patience_s; /* after which a sweep leaves longer cases out */
	double effort;     /* of sweeps and drawn cases, 1: as usual */
	double effort_due; /* of the check's drawn cases */
	struct tn_device_description description;
	void *device;
	struct tn_error_info error;
	int slot; /* of the case: enum tn_slot, or KIT_FILE, ... */
	char case_name[160];
	int case_failed;
	uint64_t n_arrays; /* made in the case */
	struct tally tallies[KIT_TALLIES];
	struct coverage coverage[KIT_OPERATIONS];
	size_t n_coverage;
	struct call_options options;
	uint64_t random;
};

/* Opens the device; returns TN_OK or the backend's status. */
tn_status kit_open(struct kit *kit, const struct tn_backend *backend, uint32_t index);
void kit_close(struct kit *kit);

/* Begins a case of a slot (enum tn_slot, or KIT_FILE, KIT_PROCESS, KIT_CONTEXT). */
void kit_case(struct kit *kit, int slot, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Counts a failure of the case, once, and reports why. */
void kit_fail(struct kit *kit, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for a broken promise of level 5 about every call: both the check of that id and the
 * running one fail. */
void kit_fail_as(struct kit *kit, const char *id, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Counts a case that ran on the device (kit_run counts its own).  A KIT_CONTEXT case counts as run;
 * kit_cover counts its routes. */
void kit_pass(struct kit *kit);

/* The device does not support this case, and is not required to. */
void kit_unsupported(struct kit *kit);

/* Counts n runs of an operation, by its name in the ledger ("conv2d"), on that route. */
void kit_cover(struct kit *kit, const char *operation, enum route route, unsigned n);

/* The check does not apply to this backend, for that reason; the caller then returns. */
void kit_skip(struct kit *kit, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A hint for the author that is not a failure. */
void kit_remark(struct kit *kit, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* So many cases were not tried, for that reason: neither a failure nor a pass.  The report has
 * their number, and the reason as a remark. */
void kit_not_tried(struct kit *kit, unsigned n, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Ends the check and the process if no case can continue: memory ran out, the device is lost. */
void kit_give_up(struct kit *kit, const char *format, ...)
	__attribute__((format(printf, 2, 3), noreturn));

/* Must a map or reduce of that dtype return TN_OK? */
int kit_claims_program(const struct kit *kit, tn_dtype dtype);
int kit_claims_storage(const struct kit *kit, tn_dtype dtype);
int kit_claims_matmul(const struct kit *kit, tn_dtype dtype);

/* The dtypes that layers are tested with. */
enum { LAYER_DTYPES = 4 };
extern const tn_dtype layer_dtypes[LAYER_DTYPES];

/* Is a layer tested in that dtype and layout?  Wide dtypes in all; f16 and bf16, which differ only
 * in loads and stores, in a few. */
int kit_is_tried(const struct kit *kit, tn_dtype dtype, unsigned layout);

/* Half the distance between 1 and the next number of a dtype: the error of one rounding.  For f16
 * and bf16 it is that of f32, in which they are computed. */
double kit_epsilon(tn_dtype dtype);
/* The same, wider where the family's products are (TN_ACCURACY_REDUCED). */
double kit_family_epsilon(const struct kit *kit, int family, tn_dtype dtype);

/* ---- Devices that compute f32 in a narrower type (compute_dtype.c) ---------------------------*/

/* The type in which a family computes f32: TN_BF16 or TN_F16 where the device states that accuracy,
 * otherwise TN_F32. */
tn_dtype kit_compute_dtype(const struct kit *kit, int family);

/* Does the family round results of that dtype to such a type? */
int kit_rounds(const struct kit *kit, int family, tn_dtype dtype);

/* The nearest number that programs and reductions keep as it is; of a device that computes in f32
 * the number itself. */
double kit_representable(const struct kit *kit, double number);

/* One unit in the last place of a number. */
double kit_unit(tn_dtype dtype, double number);

/* The error of rounding a result to the type in which the family computes it; 0 if that is its
 * own, infinite if the number is outside the range of that type. */
double kit_rounding(const struct kit *kit, int family, tn_dtype dtype, double number);

/* The relative error of a family's result that adds up `terms` terms, and rounds `others` times
 * more: all with kit_family_epsilon, but sums are accumulated in f32 where it is computed in bf16
 * or f16. */
double kit_family_error(const struct kit *kit, int family, tn_dtype dtype, double terms,
			double others);
/* The same for an operation that may be composed of programs, reductions and products. */
double kit_composed_error(const struct kit *kit, int family, tn_dtype dtype, double terms,
			  double others);

/* Is `found` the value that a program computes, rounded at most once to that type?  In bits, where
 * nothing is rounded. */
int kit_is_value(const struct kit *kit, tn_dtype dtype, uint64_t expected, uint64_t found);

/* ---- Random numbers (kit.c) ------------------------------------------------------------------*/

/* The kit's random numbers: each case restarts from kit->seed, and draws the same in every run with
 * that seed. */
static inline uint64_t kit_random(struct kit *kit)
{
	/* SplitMix64 (Steele, Lea, Flood 2014). */
	uint64_t z = (kit->random += 0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

double kit_uniform(struct kit *kit, double low, double high);
/* Reseeds for variant n of a case. */
void kit_vary(struct kit *kit, uint64_t n);
/* Of the drawn cases of a check: is the next one among those that the effort is enough for? */
int kit_takes(struct kit *kit);
/* How many of n drawn values, or milliseconds, the effort is enough for: at least one. */
unsigned kit_share(const struct kit *kit, unsigned n);
/* Is the effort enough for a case of so many elements? */
int kit_reaches(const struct kit *kit, uint64_t elements);

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
	/* The operand's axes, those that continue each other in memory as one; steps in bytes. */
	uint32_t n_axes;
	int64_t lengths[TN_MAX_RANK], steps[TN_MAX_RANK];
	size_t size;           /* of the buffer */
	unsigned char *fenced; /* its pages, the inaccessible ones included; NULL: the device's */
	unsigned char *image;  /* the buffer's expected content */
	/* 255 for each byte of the buffer that belongs to an element; NULL: the elements fill the
	 * bytes from operand.offset on */
	unsigned char *element;
};

/* A buffer on the device with an operand in it.  Ends the program if memory runs out. */
void array_make(struct kit *kit, struct array *array, enum role role, tn_dtype dtype, uint32_t rank,
		const int64_t *shape, enum layout layout);
/* The same with strides of the caller's; the operand begins `shift` elements late. */
void array_make_view(struct kit *kit, struct array *array, enum role role, tn_dtype dtype,
		     uint32_t rank, const int64_t *shape, const int64_t *strides, uint64_t shift);
void array_free(struct array *array);
/* Follows a change of the operand's shape and strides, within the same buffer. */
void array_reshaped(struct array *array);

/* Element i in row-major order, on the host: its place, bits and value. */
unsigned char *array_at(const struct array *array, uint64_t i);
uint64_t array_bits(const struct array *array, uint64_t i);
void array_set_bits(struct array *array, uint64_t i, uint64_t bits);
double array_number(const struct array *array, uint64_t i);            /* f32, f64, i32, i64 */
void array_set_number(struct array *array, uint64_t i, double number); /* rounded to the dtype */

/* Random elements; of floating dtypes representable numbers in [low, high], of others all bits
 * (bool: 0, 1). */
void array_randomise(struct array *array, double low, double high);

/* Does that byte of the buffer belong to an element? */
int array_has(const struct array *array, size_t byte);

/* All elements as doubles, row-major; the caller frees. */
double *array_numbers(const struct array *array);

/* Adds to the tolerances the rounding of a result stored in f16 or bf16: half a unit in the last of
 * its 11 or 8 bits, and of the smallest number.  Other dtypes are computed as they are stored. */
void array_narrow(const struct array *array, const double *expected, double *tolerance);

/* Compares every element with expected[i] within tolerance[i]; equal infinities and NaNs are equal.
 * Fails the case at the first that differs. */
void array_compare(const struct array *array, const double *expected, const double *tolerance);

/* The row-major indices of element i of a shape. */
void shape_index(uint32_t rank, const int64_t *shape, uint64_t i, int64_t *index);
uint64_t shape_count(uint32_t rank, const int64_t *shape);

/* ---- Calls (call.c) --------------------------------------------------------------------------*/

/* Uploads the arrays, dry-runs and calls the case's slot, with the requested workspace, and fetches
 * the arrays.  Returns the call's status.  The case fails if the two statuses differ, if the status
 * is neither TN_OK nor TN_UNSUPPORTED, or if a byte changed that must not.  `args` is the slot's
 * argument struct, its call filled by CALL. */
tn_status kit_run(struct kit *kit, void *args, struct array *const *arrays, size_t n_arrays);

/* The same where TN_OK is required: the dtype is claimed, or the slot has no claims. */
int kit_run_ok(struct kit *kit, void *args, struct array *const *arrays, size_t n_arrays);

/* The same where the call must be refused: with `status`, or with any status if that is TN_OK. */
void kit_run_refused(struct kit *kit, void *args, struct array *const *arrays, size_t n_arrays,
		     tn_status status);

/* Calls the case's slot directly, for cases that test the call itself. */
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

/* A shape of any rank up to `most_rank`, of at most `most` elements; often with lengths of 1 and
 * odd lengths. */
void shape_random(struct kit *kit, struct shape *shape, uint32_t most_rank, uint64_t most);

/* ---- Gradients (differences.c) ---------------------------------------------------------------*/

/* y := f(x) on compact arrays; `setting` is the layer's. */
typedef void (*layer_function)(const void *setting, const double *x, double *y);

/* gradient[i] := sum_j dy[j] (f(x + h e_i)[j] - f(x - h e_i)[j]) / 2 h.  x is unchanged. */
void differences(layer_function f, const void *setting, double *x, size_t n_x, const double *dy,
		 size_t n_y, double h, double *gradient);

/* Memory for n doubles, zeroed; ends the program if there is none. */
double *numbers(size_t n);

/* ---- Checks ----------------------------------------------------------------------------------*/

/* Levels 1 and 2, and checks of level 5 on single slots: slots.h. */

/* Of a value in double, for oracles (epilogue.c). */
double kit_activate(uint32_t activation, double x);
/* The same of a value within a tolerance, which becomes that of the result. */
void kit_activate_within(uint32_t activation, double epsilon, double *value, double *tolerance);

/* Levels 3 (forward) and 4 (backward): native slots; empty ones are skipped. */
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
void check_attention_forward(struct kit *kit);
void check_attention_backward(struct kit *kit);
void check_softmax_forward(struct kit *kit);
void check_softmax_backward(struct kit *kit);
void check_cross_entropy_forward(struct kit *kit);
void check_cross_entropy_backward(struct kit *kit);

#endif
