/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Runs one check of the kit on its own, prints its failures, and reads from the ledger by which
 * route the calls went.
 */
#include "modes.h"

int mode_run(struct run *run, const struct options *options, const struct check *what)
{
	struct options quiet = *options;
	quiet.json = 1; /* supervise prints nothing */
	quiet.n_exclusions = 0;
	if (!run_init_one(run, &quiet, what)) {
		fputs("tenon-conform: out of memory\n", stderr);
		return EXIT_FAILED;
	}
	supervise(run);
	run->options = options;
	const struct result *result = &run->results[0];
	if (run->absent)
		fprintf(stderr, "tenon-conform: %s: %s: %s\n", options->which,
			tn_status_name(run->absent), run->absent_text);
	else if (run->loading_failure)
		fprintf(stderr, "tenon-conform: %s: %s: %s\n", options->which, run->loading_stage,
			run->loading_failure);
	for (size_t i = 0; i < result->n_failures; i++)
		fprintf(stderr, "FAILED  %s: %s: %s\n", options->which, result->failures[i].where,
			result->failures[i].why);
	if (run->absent && !run->loading_failure)
		return EXIT_ABSENT;
	return run->loading_failure || result->n_failures ? EXIT_FAILED : EXIT_PASSED;
}

void mode_end(struct run *run)
{
	run_release(run);
}

enum route mode_route(tn_context *context)
{
	struct tn_ledger_row row = {.struct_size = sizeof(row)};
	enum route worst = NATIVE;
	for (size_t i = 0; !tn_ledger_at(context, i, &row); i++) {
		enum route route = row.host                      ? HOST
				   : row.composed || row.widened ? COMPOSED
				   : row.lent                    ? LENT
								 : NATIVE;
		worst = route > worst ? route : worst;
	}
	return worst;
}
