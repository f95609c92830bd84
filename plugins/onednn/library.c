/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Opens oneDNN and looks up all functions used here, as one list.
 */
#include "library.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "plugin.h"

struct name {
	const char *text;
	size_t offset;
};

#define FIELD(field) offsetof(struct onednn_library, field)

static const struct name needed[] = {
	{"dnnl_batch_normalization_backward_desc_init", FIELD(batch_normalization_backward)},
	{"dnnl_batch_normalization_forward_desc_init", FIELD(batch_normalization_forward)},
	{"dnnl_dilated_convolution_backward_data_desc_init", FIELD(convolution_backward_data)},
	{"dnnl_dilated_convolution_backward_weights_desc_init",
	 FIELD(convolution_backward_weights)},
	{"dnnl_dilated_convolution_forward_desc_init", FIELD(convolution_forward)},
	{"dnnl_engine_create", FIELD(engine_create)},
	{"dnnl_engine_destroy", FIELD(engine_destroy)},
	{"dnnl_get_effective_cpu_isa", FIELD(get_effective_cpu_isa)},
	{"dnnl_layer_normalization_backward_desc_init", FIELD(layer_normalization_backward)},
	{"dnnl_layer_normalization_forward_desc_init", FIELD(layer_normalization_forward)},
	{"dnnl_logsoftmax_backward_desc_init", FIELD(logsoftmax_backward)},
	{"dnnl_logsoftmax_forward_desc_init", FIELD(logsoftmax_forward)},
	{"dnnl_memory_create", FIELD(memory_create)},
	{"dnnl_memory_desc_equal", FIELD(memory_desc_equal)},
	{"dnnl_memory_desc_get_size", FIELD(memory_desc_get_size)},
	{"dnnl_memory_desc_init_by_strides", FIELD(memory_desc_init_by_strides)},
	{"dnnl_memory_desc_init_by_tag", FIELD(memory_desc_init_by_tag)},
	{"dnnl_memory_destroy", FIELD(memory_destroy)},
	{"dnnl_memory_set_data_handle", FIELD(memory_set_data_handle)},
	{"dnnl_pooling_backward_desc_init", FIELD(pooling_backward)},
	{"dnnl_pooling_forward_desc_init", FIELD(pooling_forward)},
	{"dnnl_post_ops_append_sum", FIELD(post_ops_append_sum)},
	{"dnnl_post_ops_create", FIELD(post_ops_create)},
	{"dnnl_post_ops_destroy", FIELD(post_ops_destroy)},
	{"dnnl_primitive_attr_create", FIELD(primitive_attr_create)},
	{"dnnl_primitive_attr_destroy", FIELD(primitive_attr_destroy)},
	{"dnnl_primitive_attr_set_fpmath_mode", FIELD(primitive_attr_set_fpmath_mode)},
	{"dnnl_primitive_attr_set_post_ops", FIELD(primitive_attr_set_post_ops)},
	{"dnnl_primitive_attr_set_scratchpad_mode", FIELD(primitive_attr_set_scratchpad_mode)},
	{"dnnl_primitive_create", FIELD(primitive_create)},
	{"dnnl_primitive_desc_create", FIELD(primitive_desc_create)},
	{"dnnl_primitive_desc_destroy", FIELD(primitive_desc_destroy)},
	{"dnnl_primitive_desc_query_md", FIELD(primitive_desc_query_md)},
	{"dnnl_primitive_destroy", FIELD(primitive_destroy)},
	{"dnnl_primitive_execute", FIELD(primitive_execute)},
	{"dnnl_reorder_primitive_desc_create", FIELD(reorder_primitive_desc_create)},
	{"dnnl_sgemm", FIELD(sgemm)},
	{"dnnl_softmax_backward_desc_init", FIELD(softmax_backward)},
	{"dnnl_softmax_forward_desc_init", FIELD(softmax_forward)},
	{"dnnl_stream_create", FIELD(stream_create)},
	{"dnnl_stream_destroy", FIELD(stream_destroy)},
	{"dnnl_stream_wait", FIELD(stream_wait)},
	{"dnnl_version", FIELD(version)},
};

/* Only in a library with OpenMP; they are its own libgomp's. */
static const struct name needed_openmp[] = {
	{"omp_get_max_threads", FIELD(omp_get_max_threads)},
	{"omp_set_num_threads", FIELD(omp_set_num_threads)},
};

/* Looks up all names; the first missing one, or NULL. */
static const char *fetch_functions(struct onednn_library *library, const struct name *names,
				   size_t n)
{
	for (size_t i = 0; i < n; i++) {
		void *address = dlsym(library->handle, names[i].text);
		if (!address)
			return names[i].text;
		memcpy((char *)library + names[i].offset, &address, sizeof(address));
	}
	return NULL;
}

static const char *isa_name(dnnl_cpu_isa_t isa)
{
	if (isa >= dnnl_cpu_isa_avx512_core)
		return "AVX-512";
	if (isa >= dnnl_cpu_isa_avx2)
		return "AVX2";
	if (isa >= dnnl_cpu_isa_avx)
		return "AVX";
	return isa >= dnnl_cpu_isa_sse41 ? "SSE4.1" : "any processor";
}

/* Was oneDNN opened in a process that this one was forked from?  OpenMP's threads do not exist in
 * the child, and a region that needs them would wait forever.  The process that opened it first is
 * the only state here that does not belong to an instance. */
static int is_forked(void)
{
	static atomic_int first_process;
	int own = (int)getpid(), first = 0;
	return !atomic_compare_exchange_strong(&first_process, &first, own) && first != own;
}

tn_status onednn_library_open(struct onednn_library *library, const struct tn_host *host,
			      struct tn_error_info *error)
{
	const char *file = tn_plugin_option(host, "library");
	if (!file || !*file)
		file = ONEDNN_LIBRARY;
	library->handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (!library->handle)
		return tn_plugin_fail(error, TN_MISSING_LIBRARY, "create", "%s", dlerror());
	const char *missing = fetch_functions(library, needed, sizeof(needed) / sizeof(*needed));
	if (!missing && library->version()->cpu_runtime == DNNL_RUNTIME_OMP)
		missing = fetch_functions(library, needed_openmp,
					  sizeof(needed_openmp) / sizeof(*needed_openmp));
	if (missing)
		return tn_plugin_fail(error, TN_MISSING_LIBRARY, "create",
				      "%s has no function %s: expected oneDNN 2.6", file, missing);
	library->n_threads = (int)host->thread_count(host->context);
	library->own_threads = is_forked() ? 1 : library->n_threads;
	const dnnl_version_t *version = library->version();
	snprintf(library->note, sizeof(library->note), "oneDNN %d.%d.%d for %s, %s", version->major,
		 version->minor, version->patch, isa_name(library->get_effective_cpu_isa()),
		 library->omp_set_num_threads ? "on its own OpenMP threads" : "not on OpenMP");
	tn_plugin_log(host, "onednn", TN_LOG_INFO, "%s, at most %d", library->note,
		      library->n_threads);
	return TN_OK;
}

int onednn_library_enter(const struct onednn_library *library, int n_threads)
{
	if (!library->omp_set_num_threads)
		return 0;
	int saved = library->omp_get_max_threads();
	if (saved != n_threads)
		library->omp_set_num_threads(n_threads);
	return saved;
}

void onednn_library_leave(const struct onednn_library *library, int saved)
{
	if (library->omp_set_num_threads && saved != library->omp_get_max_threads())
		library->omp_set_num_threads(saved);
}
