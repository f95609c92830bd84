/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reads from a launcher's variables how many ranks there are and which one this process is.
 */
#include "loader/launch.h"

#include <stdio.h>

/* A decimal number below 2^31 and nothing else; -1: something else. */
static int64_t number(const char *text)
{
	const char *at = text;
	int64_t value = 0;
	for (; *at >= '0' && *at <= '9' && value <= INT32_MAX; at++)
		value = value * 10 + (*at - '0');
	return at != text && !*at && value <= INT32_MAX ? value : -1;
}

void tn_launch_read(struct tn_launch *launch, struct tn_parameters *parameters,
		    const struct tn_logger *logger)
{
	char help[192];
	snprintf(help, sizeof(help), "the number of ranks, set by %s", launch->launcher);
	const char *size = tn_parameter_read(parameters, launch->size_variable, help);
	snprintf(help, sizeof(help), "the rank of this process, set by %s", launch->launcher);
	const char *rank = tn_parameter_read(parameters, launch->rank_variable, help);
	launch->size = launch->rank = 0;
	if (!size || !rank)
		return;
	int64_t n = number(size), r = number(rank);
	if (n < 1 || r < 0 || r >= n) {
		tn_log_format(logger, TN_LOG_WARNING, "loader",
			      "%s: %s and %s are ignored: expected a number of ranks and a rank "
			      "below it, found '%s' and '%s'",
			      launch->launcher, launch->size_variable, launch->rank_variable, size,
			      rank);
		return;
	}
	launch->size = (uint32_t)n;
	launch->rank = (uint32_t)r;
}
