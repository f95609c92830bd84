/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * With TENON_CHECK_HANDLES=1, every function that is given a handle that has ended fails, with
 * TN_STATE and what has ended in the error of the context that is open.  The calls are made from
 * the headers (null_calls.awk).
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "every_handle.h"

static int n_named;
static tn_context *dead_context;
static tn_array *dead_array, *dead_arrays[4];
static tn_module *dead_module;
static tn_optimizer *dead_optimizer;
static tn_tape *dead_tape;
static tn_metric *dead_metric;
static tn_loss *dead_loss;
static tn_weight_average *dead_weight_average;
static tn_grad_scaler *dead_grad_scaler;
static tn_schedule *dead_schedule;
static tn_communicator *dead_communicator;
static tn_trainer *dead_trainer;
static tn_profile *dead_profile;
static tn_checkpoint_folder *dead_checkpoint_folder;

#include "dead_calls.h"

/* The handles of the one set have ended; those of the other are valid. */
static int make_dead_handles(void **state)
{
	setenv("TENON_CHECK_HANDLES", "1", 1);
	setenv("TENON_LOG", "off", 1);
	make_handles(state);
	dead_array = tn_ones(context, TN_F32, 2, lengths);
	for (int i = 0; i < 4; i++)
		dead_arrays[i] = i == 1 ? dead_array : array;
	dead_module = tn_module_linear(context, 2, 2, NULL);
	assert_ok(tn_module_build(dead_module));
	dead_optimizer = tn_adamw(dead_module, NULL);
	struct tn_schedule_options options = tn_schedule_defaults();
	options.kind = TN_SCHEDULE_COSINE;
	options.period = 9;
	dead_schedule = tn_schedule_create(dead_optimizer, &options);
	dead_metric = tn_metric_create(context, NULL);
	dead_weight_average = tn_weight_average_create(dead_module, NULL);
	dead_grad_scaler = tn_grad_scaler_create(dead_module, NULL);
	struct tn_trainer_options trainer_options = tn_trainer_defaults();
	trainer_options.train = data_loader;
	dead_trainer = tn_trainer_create(dead_module, dead_optimizer, &trainer_options);
	dead_loss = tn_loss_create(context, NULL);
	struct tn_communicator_options communicator_options = tn_communicator_defaults();
	communicator_options.name = "none";
	assert_ok(tn_communicator_open(context, &communicator_options, &dead_communicator, NULL));
	tn_tape_end(tape);
	tn_profile_destroy(profile);
	dead_profile = tn_profile_begin(dead_module, NULL);
	tn_profile_destroy(dead_profile);
	profile = tn_profile_begin(module, NULL);
	dead_tape = tn_tape_begin(context);
	tn_tape_end(dead_tape);
	tape = tn_tape_begin(context);
	char path[4096];
	snprintf(path, sizeof(path), "%s/dead", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	dead_checkpoint_folder = tn_checkpoint_folder_open(context, path, NULL);
	assert_string_equal(tn_error_text(context), "no error");
	assert_non_null(dead_checkpoint_folder);
	tn_checkpoint_folder_close(dead_checkpoint_folder);
	char lock[4200];
	snprintf(lock, sizeof(lock), "%s/tenon.lock", path);
	assert_int_equal(unlink(lock) || rmdir(path), 0);
	tn_communicator_close(dead_communicator);
	tn_loss_destroy(dead_loss);
	tn_trainer_destroy(dead_trainer);
	tn_grad_scaler_destroy(dead_grad_scaler);
	tn_weight_average_destroy(dead_weight_average);
	tn_metric_destroy(dead_metric);
	tn_schedule_destroy(dead_schedule);
	tn_optimizer_destroy(dead_optimizer);
	tn_module_destroy(dead_module);
	tn_array_destroy(dead_array);
	struct tn_context_options reference = tn_context_defaults();
	reference.backend = "reference";
	assert_ok(tn_context_open(&reference, &dead_context, NULL));
	tn_context_close(dead_context);
	assert_string_equal(tn_error_text(context), "no error");
	return 0;
}

/* A query may answer, as of an array that the program has just destroyed. */
static int may_succeed(const struct call *call)
{
	return call->keeps == NOTHING || !strcmp(call->function, "tn_array_device") ||
	       !strcmp(call->function, "tn_array_context") ||
	       !strcmp(call->function, "tn_device_current") ||
	       !strcmp(call->function, "tn_default_generator") ||
	       !strcmp(call->function, "tn_communicator_report");
}

/* 1: it fails, and an error is kept: that a handle has ended, unless the call was wrong in another
 * way, too. */
static int is_refused(const struct call *call, int has_failed)
{
	const struct tn_error_info *error = tn_error(context);
	const int is_of_context = !strcmp(call->operand, "context");
	if (may_succeed(call) || (has_failed && is_of_context))
		return 1;
	if (!has_failed || !error)
		print_error("%s, %s: %s\n", call->function, call->operand,
			    has_failed ? "left no error" : "succeeded");
	n_named += error && strstr(error->text, "has been");
	return has_failed && error;
}

static const struct call *latest;

/* Names the call before cmocka's own handler. */
static void crash(int signal_number)
{
	fprintf(stderr, "%s, %s: signal %d\n", latest->function, latest->operand, signal_number);
	_exit(1);
}

static void every_dead_handle_is_an_error(void **state)
{
	int n_faults = 0;
	(void)state;
	void (*handler)(int) = signal(SIGSEGV, crash);
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		latest = &calls[i];
		tn_error_clear(context);
		n_faults += !is_refused(latest, latest->has_failed());
	}
	signal(SIGSEGV, handler);
	tn_error_clear(context);
	assert_int_equal(n_faults, 0);
	/* Other calls are wrong in another way, too. */
	assert_true(n_named >= 600);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_dead_handle_is_an_error)};
	return cmocka_run_group_tests(tests, make_dead_handles, destroy_handles);
}
