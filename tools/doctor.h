/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * tenon doctor: does a device work?
 *
 *	command_doctor.c    the command line, which devices, the exit code
 *	doctor_device.c     one device: its contexts, its report, its checks
 *	doctor_run.c        inputs and outputs of a check, and its two sides
 *	doctor_compare.c    values of two sides, within a bound
 *	doctor_print.c      the table; doctor_json.c the same as JSON
 *	doctor_checks.c     the list of checks; doctor_SUBJECT.c the checks themselves
 *
 * Most checks are one function that runs on the device and on the built-in backend; the outputs
 * must agree within a bound.
 */
#ifndef TENON_TOOLS_DOCTOR_H
#define TENON_TOOLS_DOCTOR_H

#include <stddef.h>
#include <stdint.h>

#include "tool.h"

/* ---- What is compared ------------------------------------------------------------------------*/

/* How far two results may differ; eps is half a unit in the last place of the result's dtype, or
 * 2^-11 if the device declares narrower products; n = 0: the same bits.  Where the device declares
 * that it computes f32 in bf16 or f16, inputs are numbers of that type, and n roundings to it are
 * added: not fewer than those of a short program, and not more than DOCTOR_MOST, since sums are
 * accumulated in f32. */
enum { DOCTOR_FEWEST = 4, DOCTOR_MOST = 8 };
enum doctor_bound {
	DOCTOR_EXACT,        /* the same bits; all NaNs are equal */
	DOCTOR_OF_VALUE,     /* n eps (|expected| + 1/64) */
	DOCTOR_OF_LARGEST,   /* n eps (largest |expected| + 1/64) */
	DOCTOR_OF_MAGNITUDE, /* n eps times the result for the absolute values of all inputs */
};

struct doctor_values {
	char what[64];
	tn_dtype dtype;
	int rank;
	int64_t shape[TN_MAX_RANK];
	size_t count;
	void *data; /* owned */
	enum doctor_bound bound;
	double roundings; /* n */
};

/* One side of a check. */
struct doctor_run {
	tn_context *context;
	uint64_t storage_dtypes, matmul_dtypes; /* of the device under test, on both sides */
	tn_dtype compute;                       /* what that computes f32 in: TN_F32, ... */
	int magnitudes;                         /* inputs are given as their absolute values */
	uint64_t random;
	struct doctor_values *values; /* owned */
	size_t n_values;
	int out_of_memory;
};

/* ---- Checks and results ----------------------------------------------------------------------*/

struct doctor_device;
struct doctor_result;

struct doctor_check {
	const char *name; /* "products.batches" */
	const char *text; /* what is checked */
	uint32_t family;  /* TN_FAMILY_..., for the accuracy that the device declares */
	void (*compare)(struct doctor_run *run);
	/* Alternatively: checks the device alone and fills the result. */
	void (*alone)(struct doctor_device *device, struct doctor_result *result);
};
/* By index; NULL past the end. */
const struct doctor_check *doctor_check_at(size_t index);

enum doctor_state { DOCTOR_PASSED, DOCTOR_FAILED, DOCTOR_SKIPPED };

struct doctor_result {
	const struct doctor_check *check;
	enum doctor_state state;
	size_t cases;
	/* The largest difference divided by its bound; negative: not measured. */
	double worst;
	double seconds;
	double rate; /* 0: not measured */
	const char *unit;
	char where[32];    /* "native", "native, host" */
	char reason[1200]; /* why it failed or was skipped */
};

/* Fails a result; the first of several reasons is kept. */
void doctor_fail(struct doctor_result *result, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Fails it with the context's error, and clears that.  0: there is no error. */
int doctor_fail_kept(struct doctor_result *result, struct doctor_device *device);

struct doctor_options {
	struct common_options common;
	const char *device; /* --device */
	const char *only;   /* a pattern; NULL: all */
	double stress_seconds;
	uint64_t stress_size;    /* 0: chosen by time */
	uint64_t memory_percent; /* 0: a tenth, at most DOCTOR_MOST_MEMORY */
	int json;
	int list;
};

#define DOCTOR_MOST_MEMORY (UINT64_C(256) << 20)

/* Was the check selected? */
int doctor_wants(const struct doctor_options *options, const struct doctor_check *check);

struct doctor_device {
	char name[48];
	const struct doctor_options *options;
	tn_context *context;
	tn_context *reference;
	tn_device *device; /* of `context` */
	const struct tn_device_description *description;
	int lost;
	struct doctor_result *results;
	size_t n_results;
	size_t counts[3]; /* by state */
	double seconds;
};

/* Checks a device, from its report to the last check, and prints the results; the exit code. */
int doctor_device(const char *name, const struct doctor_options *options, void *json_devices);
/* Runs one check on both sides. */
void doctor_check_run(struct doctor_device *device, const struct doctor_check *check,
		      struct doctor_result *result);
double doctor_seconds(void);

/* ---- Inputs and outputs of a check (doctor_run.c) --------------------------------------------*/

/* f32 in [low, high), with full mantissas of the type in which the device computes f32; the same on
 * both sides. */
tn_array *doctor_reals(struct doctor_run *run, double low, double high, int rank,
		       const int64_t *shape);
/* Whole numbers from low to high, of any dtype. */
tn_array *doctor_whole(struct doctor_run *run, tn_dtype dtype, int64_t low, int64_t high, int rank,
		       const int64_t *shape);
/* The given f32 values, rounded to that type, on every run. */
tn_array *doctor_given(struct doctor_run *run, int64_t n, const float *values);
uint64_t doctor_random(struct doctor_run *run);

/* Keeps the result, which may be NULL after an error, for the comparison. */
void doctor_give(struct doctor_run *run, const tn_array *result, enum doctor_bound bound,
		 double roundings, const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Keeps the gradients of a recorded output with respect to its `n` inputs, for a random upstream
 * gradient. */
void doctor_give_gradients(struct doctor_run *run, tn_tape *tape, tn_array *output, int n,
			   tn_array *const *inputs, enum doctor_bound bound, double roundings,
			   const char *what);

/* Starts recording, and watches the inputs. */
tn_tape *doctor_record(struct doctor_run *run, int n, tn_array *const *inputs);

void doctor_run_release(struct doctor_run *run);

/* ---- Comparing (doctor_compare.c) ------------------------------------------------------------*/

/* magnitude: the values for absolute inputs, NULL if no bound needs them.  accuracy: that of the
 * family, TN_ACCURACY_... */
void doctor_compare(struct doctor_result *result, const struct doctor_values *found,
		    const struct doctor_values *expected, const struct doctor_values *magnitude,
		    uint8_t accuracy);

/* What f32 is computed in with that accuracy: TN_BF16, TN_F16 or TN_F32. */
tn_dtype doctor_compute_dtype(uint8_t accuracy);
/* The accuracy that counts for a family: its own, or that of what it may be composed of, if f32 is
 * computed in a narrower type there. */
uint8_t doctor_accuracy(const struct tn_device_description *description, uint32_t family);

/* ---- Checks ----------------------------------------------------------------------------------*/

void doctor_arithmetic(struct doctor_run *run);
void doctor_functions(struct doctor_run *run);
void doctor_integers(struct doctor_run *run);
void doctor_comparisons(struct doctor_run *run);
void doctor_casts(struct doctor_run *run);
void doctor_long_maps(struct doctor_run *run);
void doctor_programs(struct doctor_run *run);
void doctor_program_gradients(struct doctor_run *run);
void doctor_sums(struct doctor_run *run);
void doctor_extremes(struct doctor_run *run);
void doctor_places(struct doctor_run *run);
void doctor_long_reductions(struct doctor_run *run);
void doctor_orders(struct doctor_run *run);
void doctor_scans(struct doctor_run *run);
void doctor_matrices(struct doctor_run *run);
void doctor_transposes(struct doctor_run *run);
void doctor_batches(struct doctor_run *run);
void doctor_into(struct doctor_run *run);
void doctor_linear(struct doctor_run *run);
void doctor_conv2d(struct doctor_run *run);
void doctor_max_pools(struct doctor_run *run);
void doctor_average_pools(struct doctor_run *run);
void doctor_batch_norms(struct doctor_run *run);
void doctor_other_norms(struct doctor_run *run);
void doctor_softmaxes(struct doctor_run *run);
void doctor_attentions(struct doctor_run *run);
void doctor_cross_entropies(struct doctor_run *run);
void doctor_takes(struct doctor_run *run);
void doctor_copies(struct doctor_run *run);
void doctor_views(struct doctor_run *run);
void doctor_random_numbers(struct doctor_run *run);
void doctor_inference(struct doctor_run *run);
void doctor_training(struct doctor_run *run);
void doctor_upload(struct doctor_device *device, struct doctor_result *result);
void doctor_download(struct doctor_device *device, struct doctor_result *result);
void doctor_device_copy(struct doctor_device *device, struct doctor_result *result);
void doctor_memory_pattern(struct doctor_device *device, struct doctor_result *result);
void doctor_memory_limit(struct doctor_device *device, struct doctor_result *result);
void doctor_stress(struct doctor_device *device, struct doctor_result *result);

/* ---- Output ----------------------------------------------------------------------------------*/

void doctor_print_device(const struct doctor_device *device);
void doctor_print_head(void);
void doctor_print_result(const struct doctor_result *result);
void doctor_print_sum(const struct doctor_device *device);
/* Adds the device with its results to a json_t array; 0: out of memory. */
int doctor_json_device(const struct doctor_device *device, void *json_devices);
const char *doctor_state_name(enum doctor_state state);

#endif
