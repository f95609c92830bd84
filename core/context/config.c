/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The configuration as text: how the library was built, and what it found.
 */
#include <unistd.h>

#include <tenon/device.h>
#include <tenon/status.h>

#include "array/handle.h"
#include "base/text.h"
#include "base/threads.h"
#include "built.h"
#include "config.h"
#include "context/context.h"
#include "context/devices.h"
#include "loader/version.h"

#ifdef __aarch64__
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

/* ---- The build -------------------------------------------------------------------------------*/

#ifdef HAVE_ZLIB
#define WITH_ZLIB "yes"
#else
#define WITH_ZLIB "no"
#endif
#ifdef HAVE_LIBPNG
#define WITH_LIBPNG "yes"
#else
#define WITH_LIBPNG "no"
#endif
#ifdef HAVE_LIBJPEG
#define WITH_LIBJPEG "yes"
#else
#define WITH_LIBJPEG "no"
#endif

static void add_build(struct tn_text *text)
{
	tn_text_format(text, "Tenon %s, backend interface %u.%u\n", tn_version(), TN_ABI_MAJOR,
		       TN_ABI_MINOR);
	tn_text_format(text, "built for %s by %s, version %s\n", BUILT_HOST, BUILT_COMPILER,
		       __VERSION__);
	tn_text_format(text, "compiler flags: %s\n", BUILT_FLAGS);
	tn_text_format(text, "configure options: %s\n", BUILT_OPTIONS[0] ? BUILT_OPTIONS : "none");
	tn_text_add(text, "libraries: zlib " WITH_ZLIB ", libpng " WITH_LIBPNG
			  ", libjpeg " WITH_LIBJPEG "\n");
}

/* ---- The processor ---------------------------------------------------------------------------*/

static void add_feature(struct tn_text *text, const char *name, int is_there)
{
	if (is_there)
		tn_text_format(text, " %s", name);
}

static void add_features(struct tn_text *text)
{
#if defined(__x86_64__)
	__builtin_cpu_init();
	add_feature(text, "sse4.2", __builtin_cpu_supports("sse4.2"));
	add_feature(text, "avx", __builtin_cpu_supports("avx"));
	add_feature(text, "avx2", __builtin_cpu_supports("avx2"));
	add_feature(text, "fma", __builtin_cpu_supports("fma"));
	add_feature(text, "avx512f", __builtin_cpu_supports("avx512f"));
	add_feature(text, "avx512bw", __builtin_cpu_supports("avx512bw"));
	add_feature(text, "avx512dq", __builtin_cpu_supports("avx512dq"));
	add_feature(text, "avx512vl", __builtin_cpu_supports("avx512vl"));
#elif defined(__aarch64__)
	unsigned long bits = getauxval(AT_HWCAP);
	add_feature(text, "asimd", (bits & HWCAP_ASIMD) != 0);
	add_feature(text, "asimdhp", (bits & HWCAP_ASIMDHP) != 0);
	add_feature(text, "asimddp", (bits & HWCAP_ASIMDDP) != 0);
	add_feature(text, "sve", (bits & HWCAP_SVE) != 0);
#else
	add_feature(text, "not known for this architecture", 1);
#endif
}

static void add_processor(struct tn_text *text, const tn_context *context)
{
	tn_text_format(text,
		       "processors: %ld, threads: %u, features:", sysconf(_SC_NPROCESSORS_ONLN),
		       tn_threads_count(context->assembly->threads));
	add_features(text);
	tn_text_add(text, "\n");
}

/* ---- Backends and devices --------------------------------------------------------------------*/

static void add_device(struct tn_text *text, tn_device *device)
{
	struct tn_report_line line;
	struct tn_memory_statistics memory = {.struct_size = sizeof(memory)};
	if (!device->handle)
		return;
	tn_text_format(text, "%s:%s\n", tn_device_name(device),
		       device == device->context->runtime.device ? " current" : "");
	for (size_t i = 0; !tn_device_report_at(device, i, &line); i++)
		tn_text_format(text, "  %s: %s\n", line.key, line.text);
	if (!tn_device_get_memory_statistics(device, &memory) && memory.limit)
		tn_text_format(text, "  memory limit: %llu bytes\n",
			       (unsigned long long)memory.limit);
}

char *tn_show_config(const tn_context *context)
{
	struct tn_text text;
	if (!context || tn_handle_check(&context->runtime, "show_config"))
		return NULL;
	tn_context_count_devices(context);
	tn_text_init(&text);
	add_build(&text);
	add_processor(&text, context);
	const char *report = tn_load_report_text(context->assembly->report);
	tn_text_add(&text, report ? report : "");
	for (size_t i = 0; i < context->assembly->n_devices; i++)
		add_device(&text, context->assembly->devices[i]);
	if (!report)
		text.failed = 1;
	return tn_text_take(&text);
}
