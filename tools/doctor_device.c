/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Runs the checks on one device, with a context for it alone and another for the built-in backend.
 * The run continues after a failed check, but not after the device is lost.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "doctor.h"
#include "print_error.h"

double doctor_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int doctor_fail_kept(struct doctor_result *result, struct doctor_device *device)
{
	const struct tn_error_info *error = tn_error(device->context);
	if (!error)
		return 0;
	doctor_fail(result, "%s: %s (%s)", error->operation,
		    error->text[0] ? error->text : tn_status_text(error->status),
		    tn_status_name(error->status));
	device->lost |= error->status == TN_DEVICE_LOST;
	tn_error_clear(device->context);
	return 1;
}

/* ---- One check -------------------------------------------------------------------------------*/

/* Records where the operations of the check ran, according to the ledger. */
static void see_where(const struct doctor_device *device, struct doctor_result *result)
{
	struct tn_ledger_row row = {.struct_size = sizeof(row)};
	int native = 0, composed = 0, host = 0;
	for (size_t i = 0; !tn_ledger_at(device->context, i, &row); i++) {
		native |= row.native > 0;
		composed |= row.composed > 0 || row.widened > 0 || row.lent > 0;
		host |= row.host > 0;
	}
	snprintf(result->where, sizeof(result->where), "%s%s%s%s%s", native ? "native" : "",
		 native && composed ? "+" : "", composed ? "composed" : "",
		 (native || composed) && host ? "+" : "", host ? "host" : "");
}

static uint64_t seed_of(const char *name)
{
	uint64_t seed = 0;
	while (*name)
		seed = seed * 131 + (unsigned char)*name++;
	return seed;
}

/* Runs one side; 0: an error, kept in the context. */
static int run_side(struct doctor_run *run, const struct doctor_device *device,
		    const struct doctor_check *check, tn_context *context, int magnitudes)
{
	*run = (struct doctor_run){.context = context,
				   .storage_dtypes = device->description->storage_dtypes,
				   .matmul_dtypes = device->description->matmul_dtypes,
				   .compute = doctor_compute_dtype(
					   doctor_accuracy(device->description, TN_FAMILY_REDUCE)),
				   .magnitudes = magnitudes,
				   .random = seed_of(check->name)};
	if (tn_scope_begin(context))
		return 0;
	tn_random_set_state(context, (struct tn_random_state){.seed = 7, .stream = 0});
	check->compare(run);
	(void)tn_synchronize(context);
	tn_scope_end(context, NULL);
	return !tn_error(context) && !run->out_of_memory;
}

static void fail_side(struct doctor_device *device, const struct doctor_run *run,
		      struct doctor_result *result)
{
	const struct tn_error_info *error = tn_error(run->context);
	if (run->out_of_memory)
		doctor_fail(result, "no host memory for this check");
	if (!error)
		return;
	if (run->context == device->context) {
		doctor_fail_kept(result, device);
		return;
	}
	doctor_fail(result, "the built-in backend, for comparison: %s: %s (%s)", error->operation,
		    error->text, tn_status_name(error->status));
	tn_error_clear(run->context);
}

static int wants_magnitudes(const struct doctor_run *run)
{
	for (size_t i = 0; i < run->n_values; i++) {
		if (run->values[i].bound == DOCTOR_OF_MAGNITUDE)
			return 1;
	}
	return 0;
}

static void compare_sides(const struct doctor_device *device, struct doctor_result *result,
			  const struct doctor_run *found, const struct doctor_run *expected,
			  const struct doctor_run *magnitude)
{
	const uint8_t accuracy = doctor_accuracy(device->description, result->check->family);
	if (found->n_values != expected->n_values || !found->n_values)
		doctor_fail(result, "found %zu results, expected %zu", found->n_values,
			    expected->n_values);
	for (size_t i = 0; i < found->n_values && i < expected->n_values; i++)
		doctor_compare(result, &found->values[i], &expected->values[i],
			       i < magnitude->n_values ? &magnitude->values[i] : NULL, accuracy);
}

static void run_sides(struct doctor_device *device, const struct doctor_check *check,
		      struct doctor_result *result)
{
	struct doctor_run found, expected = {0}, magnitude = {0}, *failed = NULL;
	double start = doctor_seconds();
	if (!run_side(&found, device, check, device->context, 0))
		failed = &found;
	result->seconds = doctor_seconds() - start;
	see_where(device, result);
	if (!failed && !run_side(&expected, device, check, device->reference, 0))
		failed = &expected;
	if (!failed && wants_magnitudes(&expected) &&
	    !run_side(&magnitude, device, check, device->reference, 1))
		failed = &magnitude;
	if (failed)
		fail_side(device, failed, result);
	else
		compare_sides(device, result, &found, &expected, &magnitude);
	doctor_run_release(&found);
	doctor_run_release(&expected);
	doctor_run_release(&magnitude);
}

void doctor_check_run(struct doctor_device *device, const struct doctor_check *check,
		      struct doctor_result *result)
{
	double start = doctor_seconds();
	*result = (struct doctor_result){.check = check, .worst = check->compare ? 0 : -1};
	if (device->lost) {
		result->state = DOCTOR_SKIPPED;
		snprintf(result->reason, sizeof(result->reason),
			 "the device is lost: this and all later checks are skipped");
		return;
	}
	tn_ledger_reset(device->context);
	if (check->compare) {
		run_sides(device, check, result);
		return;
	}
	check->alone(device, result);
	doctor_fail_kept(result, device);
	see_where(device, result);
	result->seconds = doctor_seconds() - start;
}

/* ---- One device ------------------------------------------------------------------------------*/

static void swallow(void *user, int level, const char *subsystem, const char *text, size_t length)
{
	(void)user;
	(void)level;
	(void)subsystem;
	(void)text;
	(void)length;
}

/* Messages were already logged during the search for devices: this open is silent. */
static tn_context *open_alone(const char *name, const struct common_options *common, int *code)
{
	char selection[64];
	struct tn_error_info error;
	tn_context *context = NULL;
	snprintf(selection, sizeof(selection), "%s!", name);
	struct tn_context_options options = tn_context_defaults();
	options.backend = selection;
	options.log = swallow;
	if (open_context_with(&options, common, &context, &error)) {
		*code = report_error(&error);
		return NULL;
	}
	*code = EXIT_DONE;
	return context;
}

int doctor_wants(const struct doctor_options *options, const struct doctor_check *check)
{
	if (!strcmp(check->name, "stress") && options->stress_seconds <= 0)
		return 0;
	return !options->only || !fnmatch(options->only, check->name, 0);
}

static int run_checks(struct doctor_device *device)
{
	const struct doctor_check *check;
	size_t n = 0;
	while (doctor_check_at(n))
		n++;
	device->results = calloc(n, sizeof(*device->results));
	if (!device->results)
		return 0;
	for (size_t i = 0; (check = doctor_check_at(i)); i++) {
		struct doctor_result *result = &device->results[device->n_results];
		if (!doctor_wants(device->options, check))
			continue;
		doctor_check_run(device, check, result);
		device->counts[result->state]++;
		device->n_results++;
		/* After a lost device only the first skipped check is printed. */
		if (!device->options->json &&
		    (result->state != DOCTOR_SKIPPED || device->counts[DOCTOR_SKIPPED] == 1))
			doctor_print_result(result);
	}
	return 1;
}

static int examine(struct doctor_device *device, void *json_devices)
{
	double start = doctor_seconds();
	if (!device->options->json) {
		doctor_print_device(device);
		doctor_print_head();
	}
	if (!run_checks(device)) {
		print_error("tenon doctor: out of memory");
		return EXIT_FAILED;
	}
	device->seconds = doctor_seconds() - start;
	if (!device->options->json)
		doctor_print_sum(device);
	else if (!doctor_json_device(device, json_devices))
		return EXIT_FAILED;
	return device->counts[DOCTOR_PASSED] == device->n_results ? EXIT_DONE : EXIT_FAILED;
}

int doctor_device(const char *name, const struct doctor_options *options, void *json_devices)
{
	int code;
	struct doctor_device device = {.options = options};
	snprintf(device.name, sizeof(device.name), "%s", name);
	device.context = open_alone(name, &options->common, &code);
	if (!code)
		device.reference = open_alone("reference", &options->common, &code);
	if (!code) {
		device.device = tn_device_current(device.context);
		device.description = tn_device_describe(device.device);
		code = examine(&device, json_devices);
	}
	free(device.results);
	tn_context_close(device.reference);
	tn_context_close(device.context);
	return code;
}
