/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The variables that a launcher sets for each rank, and the options.  Whatever they hold, the job's
 * name is that of a file and of nothing else: letters, digits and hyphens.
 */
#include <stdio.h>
#include <string.h>

#include "local.h"

void local_variables_read(const struct tn_host *host, struct local_variables *variables)
{
	variables->rank = host->parameter(host->context, "TENON_LOCAL_RANK",
					  "local: the number of this process, set by the launcher");
	variables->size = host->parameter(host->context, "TENON_LOCAL_SIZE",
					  "local: the number of processes, set by the launcher");
	variables->job = host->parameter(
		host->context, "TENON_LOCAL_JOB",
		"local: the name that the processes of a program share, set by the launcher");
	variables->slurm_rank = host->parameter(host->context, "SLURM_PROCID",
						"local: the number of this process, set by srun");
	variables->slurm_size = host->parameter(host->context, "SLURM_STEP_NUM_TASKS",
						"local: the number of processes, set by srun");
	variables->slurm_nodes = host->parameter(host->context, "SLURM_STEP_NUM_NODES",
						 "local: the machines of a step of Slurm, of which "
						 "it connects one");
	variables->slurm_job = host->parameter(host->context, "SLURM_JOB_ID",
					       "local: names the processes of a step of Slurm");
	variables->slurm_step = host->parameter(host->context, "SLURM_STEP_ID",
						"local: names the processes of a step of Slurm");
	variables->slurm_restarts = host->parameter(host->context, "SLURM_RESTART_COUNT",
						    "local: tells the steps of a job that Slurm "
						    "has started again from its earlier ones");
	variables->bytes = tn_plugin_option(host, "bytes");
	variables->folder = tn_plugin_option(host, "folder");
	variables->temporary = host->parameter(host->context, "TMPDIR",
					       "local: the folder of the shared memory where "
					       "/dev/shm has no room (default: /tmp)");
	variables->timeout =
		host->parameter(host->context, "TENON_COMMUNICATOR_TIMEOUT",
				"the most seconds that a rank waits for others to join (300)");
}

/* A number of decimal digits in `text`, up to `most`; `*end` is behind it.  0: none, or larger. */
static int read_number(const char *text, uint64_t most, uint64_t *value, const char **end)
{
	const char *at = text;
	*value = 0;
	for (; *at >= '0' && *at <= '9'; at++) {
		const uint64_t digit = (uint64_t)(*at - '0');
		if (digit > most || *value > (most - digit) / 10)
			return 0;
		*value = *value * 10 + digit;
	}
	*end = at;
	return at != text;
}

static tn_status parse_count(const char *name, const char *text, uint64_t least, uint64_t most,
			     uint32_t *count, struct tn_error_info *error)
{
	uint64_t value;
	const char *end;
	if (!read_number(text, most, &value, &end) || *end || value < least)
		return tn_plugin_fail(error, TN_FORMAT, "open",
				      "%s is '%.64s': expected a number from %llu to %llu", name,
				      text, (unsigned long long)least, (unsigned long long)most);
	*count = (uint32_t)value;
	return TN_OK;
}

static tn_status parse_name(const char *text, char *name, struct tn_error_info *error)
{
	const size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");
	if (!length || text[length] || length > LOCAL_MOST_JOB)
		return tn_plugin_fail(
			error, TN_FORMAT, "open",
			"TENON_LOCAL_JOB is '%.80s': expected 1 to %d of a-z, 0-9 and '-'", text,
			LOCAL_MOST_JOB);
	memcpy(name, text, length + 1);
	return TN_OK;
}

static tn_status parse_bytes(const char *text, uint64_t *bytes, struct tn_error_info *error)
{
	const uint64_t least = UINT64_C(64) << 10, most = UINT64_C(1) << 30;
	const char *end = "";
	uint64_t value = UINT64_C(2) << 20;
	unsigned shift = 0;
	if (text && !read_number(text, most, &value, &end))
		value = 0;
	else if (*end)
		shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 64;
	if (shift == 64 || (shift && end[1]) || value > most >> shift || value << shift < least)
		return tn_plugin_fail(error, TN_FORMAT, "open",
				      "local.bytes (TENON_LOCAL_BYTES) is '%.64s': expected 64K to "
				      "1G",
				      text);
	*bytes = value << shift;
	return TN_OK;
}

/* TMPDIR is other programs' too: what cannot be used of it is left out. */
static tn_status parse_folders(const struct local_variables *variables, struct local_job *job,
			       struct tn_error_info *error)
{
	const char *own = variables->folder, *temporary = variables->temporary;
	if (own && (own[0] != '/' || strlen(own) > LOCAL_MOST_FOLDER))
		return tn_plugin_fail(error, TN_FORMAT, "open",
				      "local.folder (TENON_LOCAL_DIR) is '%.80s': expected an "
				      "absolute path of at most %d bytes",
				      own, LOCAL_MOST_FOLDER);
	if (own)
		memcpy(job->folder, own, strlen(own) + 1);
	if (temporary && temporary[0] == '/' && strlen(temporary) <= LOCAL_MOST_FOLDER)
		memcpy(job->temporary, temporary, strlen(temporary) + 1);
	return TN_OK;
}

static tn_status parse_timeout(const char *text, double *timeout, struct tn_error_info *error)
{
	if (!communicator_read_timeout(text, timeout))
		return tn_plugin_fail(error, TN_FORMAT, "open",
				      "TENON_COMMUNICATOR_TIMEOUT is '%.64s': expected seconds, "
				      "more than 0",
				      text);
	return TN_OK;
}

/* The ranks that `tenon launch` has started. */
static tn_status parse_launched(const struct local_variables *variables, struct local_job *job,
				struct tn_error_info *error)
{
	const char *missing = !variables->size   ? "TENON_LOCAL_SIZE"
			      : !variables->rank ? "TENON_LOCAL_RANK"
			      : !variables->job  ? "TENON_LOCAL_JOB"
						 : NULL;
	if (missing)
		return tn_plugin_fail(
			error, TN_NOT_FOUND, "open",
			"%s is not set: the program was not started by `tenon launch`", missing);
	tn_status status = parse_count("TENON_LOCAL_SIZE", variables->size, 1, LOCAL_MOST_RANKS,
				       &job->size, error);
	if (!status)
		status = parse_count("TENON_LOCAL_RANK", variables->rank, 0, job->size - 1,
				     &job->rank, error);
	return status ? status : parse_name(variables->job, job->name, error);
}

/* The tasks of a step on one machine, which srun has started without an MPI. */
static tn_status parse_step(const struct local_variables *variables, struct local_job *job,
			    struct tn_error_info *error)
{
	uint32_t nodes = 1, id = 0, step = 0, restarts = 0;
	tn_status status = parse_count("SLURM_STEP_NUM_TASKS", variables->slurm_size, 1,
				       LOCAL_MOST_RANKS, &job->size, error);
	if (!status)
		status = parse_count("SLURM_PROCID", variables->slurm_rank, 0, job->size - 1,
				     &job->rank, error);
	if (!status)
		status = parse_count("SLURM_JOB_ID", variables->slurm_job, 0, UINT32_MAX, &id,
				     error);
	if (!status)
		status = parse_count("SLURM_STEP_ID", variables->slurm_step, 0, UINT32_MAX, &step,
				     error);
	if (!status && variables->slurm_restarts)
		status = parse_count("SLURM_RESTART_COUNT", variables->slurm_restarts, 0,
				     UINT32_MAX, &restarts, error);
	if (!status && variables->slurm_nodes)
		status = parse_count("SLURM_STEP_NUM_NODES", variables->slurm_nodes, 1, UINT32_MAX,
				     &nodes, error);
	if (!status && nodes > 1)
		return tn_plugin_fail(
			error, TN_REFUSED, "open",
			"srun has started %u tasks on %u machines (SLURM_STEP_NUM_NODES), and "
			"shared memory connects those of one: `srun --mpi=pmix` (Open MPI) or "
			"`srun --mpi=pmi2` (MPICH) connects all",
			job->size, nodes);
	job->is_step = 1;
	if (!status)
		(void)snprintf(job->name, sizeof(job->name), "slurm-%u-%u-%u", id, step, restarts);
	return status;
}

tn_status local_job_parse(const struct local_variables *variables, struct local_job *job,
			  struct tn_error_info *error)
{
	const int is_launched = variables->size || variables->rank || variables->job;
	const int is_step = variables->slurm_size && variables->slurm_rank &&
			    variables->slurm_job && variables->slurm_step;
	memset(job, 0, sizeof(*job));
	tn_status status = is_launched || !is_step ? parse_launched(variables, job, error)
						   : parse_step(variables, job, error);
	if (!status)
		status = parse_bytes(variables->bytes, &job->area_bytes, error);
	if (!status)
		status = parse_folders(variables, job, error);
	if (!status)
		status = parse_timeout(variables->timeout, &job->timeout, error);
	return status;
}
