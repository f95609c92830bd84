/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The host's services.
 */
#include "plugin.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void *cuda_alloc(const struct tn_host *host, size_t size)
{
	void *memory = host->alloc(host->context, size, 0);
	if (memory)
		memset(memory, 0, size);
	return memory;
}

void cuda_free(const struct tn_host *host, void *memory)
{
	if (memory)
		host->free(host->context, memory);
}

void cuda_log(const struct tn_host *host, int32_t level, const char *format, ...)
{
	char text[1024];
	va_list list;
	if (!host->log_enabled(host->context, level, "cuda"))
		return;
	va_start(list, format);
	int length = vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	if (length > 0)
		host->log(host->context, level, "cuda", text,
			  (size_t)length < sizeof(text) ? (size_t)length : sizeof(text) - 1);
}
