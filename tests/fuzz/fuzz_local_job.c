/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The variables that a launcher hands to a rank, as lines NAME=VALUE: read by the communicator of
 * one machine, and by the loader, which looks for a launcher.  Both find the same rank.
 */
#include "communicator_local/local.h"
#include "lines.h"
#include "loader/launch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *parameter(void *lines, const char *name, const char *help)
{
	(void)help;
	return fuzz_lines_value(lines, name);
}

static const char *option(void *lines, const char *name)
{
	return fuzz_lines_value(lines, name);
}

static void drop_message(void *user, int level, const char *subsystem, const char *text,
			 size_t length)
{
	(void)user, (void)level, (void)subsystem, (void)text, (void)length;
}

static void check(const struct local_job *job)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
	const size_t length = strlen(job->name);
	fuzz_require(job->size >= 1 && job->size <= LOCAL_MOST_RANKS && job->rank < job->size);
	fuzz_require(length && length <= LOCAL_MOST_JOB && strspn(job->name, letters) == length);
	fuzz_require(!job->folder[0] || job->folder[0] == '/');
	fuzz_require(!job->temporary[0] || job->temporary[0] == '/');
	fuzz_require(job->area_bytes >= 64 << 10 && job->area_bytes <= 1 << 30);
	fuzz_require(job->timeout > 0 && job->timeout <= 1e9);
}

/* What the loader finds of the launcher with these variables. */
static struct tn_launch look(const struct fuzz_lines *lines, const char *size, const char *rank)
{
	struct tn_launch launch = {.launcher = "a launcher"};
	struct tn_logger logger;
	struct tn_parameters parameters;
	tn_logger_init(&logger);
	logger.callback = drop_message;
	fuzz_lines_parameters(lines, &parameters);
	snprintf(launch.size_variable, sizeof(launch.size_variable), "%s", size);
	snprintf(launch.rank_variable, sizeof(launch.rank_variable), "%s", rank);
	tn_launch_read(&launch, &parameters, &logger);
	fuzz_require(launch.size ? launch.rank < launch.size : !launch.rank);
	tn_parameters_release(&parameters);
	return launch;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_lines lines;
	struct local_variables variables;
	struct local_job job;
	struct tn_error_info error = {.struct_size = sizeof(error)};
	const struct tn_host host = {.struct_size = sizeof(host),
				     .context = &lines,
				     .parameter = parameter,
				     .option = option};
	fuzz_lines_init(&lines, data, size);
	local_variables_read(&host, &variables);
	const tn_status status = local_job_parse(&variables, &job, &error);
	fuzz_require(status == error.status && (!status || error.text[0]));
	const struct tn_launch step = look(&lines, "SLURM_STEP_NUM_TASKS", "SLURM_PROCID");
	const struct tn_launch own = look(&lines, "TENON_LOCAL_SIZE", "TENON_LOCAL_RANK");
	if (!status) {
		const struct tn_launch launch = job.is_step ? step : own;
		check(&job);
		fuzz_require(launch.size == job.size && launch.rank == job.rank);
	}
	fuzz_lines_release(&lines);
	return 0;
}
