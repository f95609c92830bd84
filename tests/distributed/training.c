/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Runs a body on several ranks, each in a child process, and collects their outcomes.
 */
#include "distributed/training.h"

#include "unit/mock_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "distributed/ranks.h"

struct job {
	const char *backend;
	int has_communicator;
	ranked_body *body;
	const void *argument;
	char *outcomes;
	size_t outcome_size;
};

void need_true(int is_true, const char *text, const char *file, int line)
{
	if (is_true)
		return;
	(void)fprintf(stderr, "%s:%d: rank %s: not so: %s\n", file, line,
		      getenv("TENON_LOCAL_RANK"), text);
	exit(RANK_FAILED);
}

void need_status(const tn_context *context, tn_status status, const char *file, int line)
{
	const struct tn_error_info *error = context ? tn_error(context) : NULL;
	if (!status && (!error || !error->status))
		return;
	(void)fprintf(stderr, "%s:%d: rank %s: %s: %s: %s\n", file, line,
		      getenv("TENON_LOCAL_RANK"), tn_status_name(status),
		      error ? error->operation : "", error ? error->text : "");
	exit(RANK_FAILED);
}

double item_of(const tn_array *array)
{
	double value = 0;
	need(array != NULL);
	need_ok(tn_array_context(array), tn_item(array, &value));
	return value;
}

size_t read_parameters(tn_module *module, double *values, size_t most)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	size_t n = 0;
	for (size_t i = 0; i < tn_module_parameter_count(module); i++) {
		need_ok(NULL, tn_module_parameter_at(module, i, &view));
		const size_t size = (size_t)tn_array_size(view.value);
		tn_context *context = tn_array_context(view.value);
		need(n + size <= most);
		need_ok(context, tn_to_host(tn_astype(view.value, TN_F64), values + n,
					    size * sizeof(double)));
		n += size;
	}
	return n;
}

static void run_rank(uint32_t rank, const void *argument)
{
	const struct job *job = argument;
	struct tn_context_options options = tn_context_defaults();
	options.backend = job->backend;
	options.n_threads = 1;
	struct ranked ranked = {.rank = rank, .size = 1};
	const char *mock = strcmp(job->backend, "mock") ? NULL : mock_file();
	struct tn_error_info error = {.status = TN_OK};
	options.plugin_paths = &mock;
	options.n_plugin_paths = mock != NULL;
	if (tn_context_open(&options, &ranked.context, &error)) {
		(void)fprintf(stderr, "context: %s\n", error.text);
		exit(RANK_FAILED);
	}
	const char *device = tn_device_name(tn_device_current(ranked.context));
	need(!strcmp(job->backend, "auto") || !strncmp(device, job->backend, strlen(job->backend)));
	if (job->has_communicator) {
		const struct tn_communicator_options own = {
			.struct_size = sizeof(own), .name = "local", .timeout = 20};
		if (tn_communicator_open(ranked.context, &own, &ranked.communicator, &error)) {
			(void)fprintf(stderr, "communicator: %s: %s\n", error.operation,
				      error.text);
			exit(RANK_FAILED);
		}
		ranked.size = tn_communicator_size(ranked.communicator);
	}
	job->body(&ranked, job->argument, job->outcomes + rank * job->outcome_size);
	tn_communicator_close(ranked.communicator);
	tn_context_close(ranked.context);
}

void run_ranked_to_end(uint32_t size, const char *backend, ranked_body *body, const void *argument,
		       void *outcomes, size_t outcome_size, int *statuses)
{
	const uint32_t n = size ? size : 1;
	void *shared = mmap(NULL, n * outcome_size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(shared != MAP_FAILED);
	const struct job job = {backend, size > 0, body, argument, shared, outcome_size};
	ranks_run(n, run_rank, &job, statuses);
	memcpy(outcomes, shared, n * outcome_size);
	(void)munmap(shared, n * outcome_size);
}

void run_ranked(uint32_t size, const char *backend, ranked_body *body, const void *argument,
		void *outcomes, size_t outcome_size)
{
	run_ranked_to_end(size, backend, body, argument, outcomes, outcome_size, NULL);
}
