/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Contexts of the CUDA backend for the cases that need several (share_cases.h), on one simulated
 * CUDA, whose streams are deferred until somebody waits.
 */
#ifndef TN_TESTS_CUDA_SHARE_H
#define TN_TESTS_CUDA_SHARE_H

#include "cuda_fixture.h"
#include "share_cases.h"

static int share_has_begun; /* later contexts do not begin the simulation anew */

static inline tn_context *share_open_cuda(const char *name)
{
	const char *path = cuda_file();
	struct tn_context_options options = tn_context_defaults();
	tn_context *context = NULL;
	if (!share_has_begun) {
		share_has_begun = 1;
		return open_deferred();
	}
	options.backend = name;
	options.plugin_paths = &path;
	options.n_plugin_paths = 1;
	options.log = drop_message;
	assert_ok(tn_context_open(&options, &context, NULL));
	return context;
}

static inline void share_close_cuda(tn_context *context)
{
	share_has_begun = 0;
	close_cuda(context);
}

static const struct share_backend share_cuda = {"cuda", share_open_cuda, share_close_cuda};

#endif
