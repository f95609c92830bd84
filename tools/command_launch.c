/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * tenon launch: several processes of one program on this machine, for communicator_local.
 */
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "launch.h"
#include "tool.h"

static const char about[] =
	"Starts COMMAND N times on this machine, as ranks that the communicator `local`\n"
	"connects.  When one fails, the others are ended; the exit status is that of\n"
	"the first one that failed.\n";

static int parse_arguments(uint64_t *n, uint64_t *most, int argc, char **argv)
{
	const struct option_row rows[] = {
		{"ranks", "N", "the number of processes (also -n)", .count = n, .lowest = 1,
		 .highest = LAUNCH_MOST_RANKS, .letter = 'n'},
		{"restart", "N",
		 "start all anew up to N times, when one has lost its\n"
		 "device or crashed",
		 .count = most, .lowest = 1, .highest = LAUNCH_MOST_RESTARTS},
	};
	const struct option_table table = {.command = "tenon launch",
					   .operands = "[--] COMMAND [ARGUMENT...]",
					   .about = about,
					   .rows = rows,
					   .n_rows = N_ROWS(rows)};
	int code = option_table_read_before(&table, argc, argv);
	if (code != OPTIONS_READ)
		return code;
	if (!*n)
		return usage_error("launch", "expected -n and the number of processes");
	if (optind == argc)
		return usage_error("launch", "expected a command to start");
	return OPTIONS_READ;
}

/* Several ranks would have a thread for each processor each. */
static void share_processors(uint64_t n)
{
	char text[24];
	cpu_set_t set;
	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set))
		return;
	uint64_t processors = (uint64_t)CPU_COUNT(&set);
	snprintf(text, sizeof(text), "%llu",
		 (unsigned long long)(processors > n ? processors / n : 1));
	setenv("TENON_THREADS", text, 0);
}

int command_launch(int argc, char **argv)
{
	static struct launch launch;
	uint64_t n = 0, most = 0;
	int code = parse_arguments(&n, &most, argc, argv);
	if (code >= 0)
		return code;
	/* Process numbers are used again. */
	if (getrandom(&launch.number, sizeof(launch.number), 0) != (ssize_t)sizeof(launch.number)) {
		perror("tenon launch: getrandom");
		return EXIT_FAILED;
	}
	launch.n = (int)n;
	launch.most = (unsigned)most;
	launch.command = argv + optind;
	share_processors(n);
	return launch_run(&launch);
}
