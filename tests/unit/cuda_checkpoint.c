/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Checkpoints on the CUDA backend, on the simulated CUDA with deferred streams.
 */
#include "cuda_fixture.h"
#include "resume_cases.h"

static tn_context *open_deterministic(void)
{
	setenv("TENON_DETERMINISTIC", "1", 1);
	return open_deferred();
}

static const struct resume_subject subject = {
	.open = open_deterministic,
	.eager = 1 << RUN_ADAMW | 1 << RUN_LAMB,
	.captured = (1 << RUN_KINDS) - 1,
};

int main(void)
{
	return run_resume_cases();
}
