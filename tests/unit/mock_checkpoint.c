/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Checkpoints on the mock backend: memory that the host cannot read, deferred work, captured steps.
 */
#include "mock_fixture.h"
#include "resume_cases.h"

static tn_context *open_deferred(void)
{
	setenv("TENON_DETERMINISTIC", "1", 1);
	return open_mock("");
}

static const struct resume_subject subject = {
	.open = open_deferred,
	.eager = (1 << RUN_KINDS) - 1,
	.captured = (1 << RUN_LAMB) - 1,
};

int main(void)
{
	return run_resume_cases();
}
