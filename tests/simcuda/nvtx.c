/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A profiler's library for NVTX, which records where ranges begin and end.  Empty if the toolkit
 * has no headers of NVTX.
 */
#include <stdio.h>
#include <string.h>

#include "simcuda.h"

static char text[1 << 16];

const char *simcudaRanges(void)
{
	return text;
}

void simcudaForgetRanges(void)
{
	text[0] = '\0';
}

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>

static int depth;

static void note(const char *words, const char *name)
{
	size_t used = strlen(text);
	snprintf(text + used, sizeof(text) - used, "%s%s;", words, name);
}

static int push(const char *message)
{
	note("", message);
	return depth++;
}

static int pop(void)
{
	note("/", "");
	return --depth;
}

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t table_of);

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t table_of)
{
	const NvtxExportTableCallbacks *callbacks = table_of(NVTX_ETID_CALLBACKS);
	NvtxFunctionTable table = NULL;
	unsigned n = 0;
	if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &n) ||
	    n <= NVTX_CBID_CORE_RangePop)
		return 0;
	*table[NVTX_CBID_CORE_RangePushA] = (NvtxFunctionPointer)push;
	*table[NVTX_CBID_CORE_RangePop] = (NvtxFunctionPointer)pop;
	return 1;
}
#endif
