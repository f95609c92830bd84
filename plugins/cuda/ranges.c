/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * NVTX consists of headers only: with the first range they open the library that the variable
 * names, and pass ranges to it from then on.  No range begins unless the variable is set, and none
 * in a privileged process, where it is not read.
 */
#include "ranges.h"

#define NVTX_SUPPORT_STATIC_INJECTION_LIBRARY 0
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
enum { HAS_NVTX = 1 };
#else
enum { HAS_NVTX = 0 };
static int nvtxRangePushA(const char *message)
{
	(void)message;
	return 0;
}
static int nvtxRangePop(void)
{
	return 0;
}
#endif

int cuda_ranges_are_asked(const struct tn_host *host)
{
	const char *path = host->parameter(host->context, "NVTX_INJECTION64_PATH",
					   "set by a profiler: its library, to which the cuda "
					   "backend reports operation names");
	if (!path || !*path)
		return 0;
	if (!HAS_NVTX)
		tn_plugin_log(host, "cuda", TN_LOG_NOTICE, "built without NVTX: %s is ignored",
			      path);
	return HAS_NVTX;
}

void cuda_range_push(const char *operation)
{
	(void)nvtxRangePushA(operation);
}

void cuda_range_pop(void)
{
	(void)nvtxRangePop();
}
