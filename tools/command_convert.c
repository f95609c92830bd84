/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * tenon convert: tensors from safetensors or NPZ to either, with other names or another type.
 */
#include <fnmatch.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/memory.h"
#include "output.h"
#include "print_error.h"
#include "tool.h"

enum { MOST_RENAMES = 32, MOST_DROPS = 32 };

struct tensor {
	char *name;
	struct tn_host_array array;
};

/* OLD=NEW */
struct rename {
	const char *text;
	size_t length; /* of OLD */
};

struct convert_command {
	const char *in, *out;
	tn_dtype dtype; /* of floating tensors; 0: their own */
	struct rename renames[MOST_RENAMES];
	size_t n_renames;
	int used_renames[MOST_RENAMES];
	const char *drops[MOST_DROPS]; /* patterns of names as IN has them */
	size_t n_drops;
	int used_drops[MOST_DROPS];
	struct tensor *tensors;
	size_t n;
	struct tn_metadata_entry *metadata; /* borrowed from `file` */
	size_t n_metadata;
	tn_safetensors *file;
};

static int ends_in(const char *path, const char *end)
{
	const size_t n = strlen(path), m = strlen(end);
	return n > m && !strcmp(path + n - m, end);
}

/* ---- Reading ---------------------------------------------------------------------------------*/

/* The name with the first prefix that fits replaced.  NULL: no memory. */
static char *renamed(struct convert_command *c, const char *name)
{
	const char *begin = "";
	char *result;
	for (size_t i = 0; i < c->n_renames; i++) {
		const size_t length = c->renames[i].length;
		if (strncmp(name, c->renames[i].text, length) != 0)
			continue;
		begin = c->renames[i].text + length + 1;
		name += length;
		c->used_renames[i] = 1;
		break;
	}
	return asprintf(&result, "%s%s", begin, name) < 0 ? NULL : result;
}

static int is_dropped(struct convert_command *c, const char *name)
{
	int dropped = 0;
	for (size_t i = 0; i < c->n_drops; i++) {
		if (fnmatch(c->drops[i], name, 0) != 0)
			continue;
		c->used_drops[i] = 1;
		dropped = 1;
	}
	return dropped;
}

/* Says which options fit no name, as misspelt ones do. */
static void say_unused(const struct convert_command *c)
{
	for (size_t i = 0; i < c->n_renames; i++) {
		if (!c->used_renames[i])
			print_error("tenon convert: %s: --rename '%s' renames no tensor", c->in,
				    c->renames[i].text);
	}
	for (size_t i = 0; i < c->n_drops; i++) {
		if (!c->used_drops[i])
			print_error("tenon convert: %s: --drop '%s' leaves out no tensor", c->in,
				    c->drops[i]);
	}
}

/* Makes room for n tensors; 0: no memory. */
static int make_room(struct convert_command *c, size_t n)
{
	c->tensors = calloc(n + 1, sizeof(*c->tensors));
	return c->tensors != NULL;
}

static int read_tensor(struct convert_command *c, size_t i)
{
	struct tn_tensor_info info = {.struct_size = sizeof(info)};
	struct tn_error_info error;
	if (tn_safetensors_at(c->file, i, &info))
		return EXIT_FAILED;
	if (is_dropped(c, info.name))
		return EXIT_DONE;
	if (!info.dtype) {
		print_error("tenon convert: %s: tensor '%s': %s is not supported", c->in, info.name,
			    info.type);
		return EXIT_FAILED;
	}
	struct tensor *tensor = &c->tensors[c->n++];
	struct tn_host_array *array = &tensor->array;
	array->dtype = info.dtype;
	array->rank = info.rank;
	memcpy(array->shape, info.shape, sizeof(info.shape));
	array->size_bytes = info.size_bytes;
	array->data = tn_mem_alloc((size_t)info.size_bytes); /* as tn_host_array_release frees it */
	tensor->name = renamed(c, info.name);
	if (!array->data || !tensor->name)
		return no_memory(info.name);
	return tn_safetensors_read(c->file, i, array->data, (size_t)info.size_bytes, &error)
		       ? report_error(&error)
		       : EXIT_DONE;
}

static int read_safetensors(struct convert_command *c)
{
	struct tn_error_info error;
	if (tn_safetensors_open(c->in, &c->file, &error) || tn_safetensors_check(c->file, &error))
		return report_error(&error);
	c->n_metadata = tn_safetensors_metadata_count(c->file);
	c->metadata = calloc(c->n_metadata + 1, sizeof(*c->metadata));
	const size_t n = tn_safetensors_count(c->file);
	if (!c->metadata || !make_room(c, n))
		return no_memory("the list of tensors");
	for (size_t i = 0; i < c->n_metadata; i++)
		c->metadata[i] =
			(struct tn_metadata_entry){tn_safetensors_metadata_key(c->file, i),
						   tn_safetensors_metadata_value(c->file, i)};
	int code = EXIT_DONE;
	for (size_t i = 0; i < n && code == EXIT_DONE; i++)
		code = read_tensor(c, i);
	return code;
}

static int read_npz(struct convert_command *c)
{
	struct tn_error_info error;
	tn_npz *file;
	if (tn_npz_open(c->in, &file, &error))
		return report_error(&error);
	const size_t n = tn_npz_count(file);
	int code = make_room(c, n) ? EXIT_DONE : no_memory("the list of tensors");
	for (size_t i = 0; i < n && code == EXIT_DONE; i++) {
		const char *name = tn_npz_name(file, i);
		if (is_dropped(c, name))
			continue;
		struct tensor *tensor = &c->tensors[c->n++];
		tensor->name = renamed(c, name);
		if (!tensor->name)
			code = no_memory(name);
		else if (tn_npz_read(file, name, &tensor->array, &error))
			code = report_error(&error);
	}
	tn_npz_close(file);
	return code;
}

/* ---- Converting ------------------------------------------------------------------------------*/

/* The number of elements that are finite and became infinite. */
static tn_status count_overflows(const tn_array *found, const tn_array *converted, double *n)
{
	const tn_array *lost = tn_logical_xor(tn_isfinite(found), tn_isfinite(converted));
	tn_array *count = tn_count_nonzero(lost, TN_ALL_AXES, NULL, 0);
	return count ? tn_item(count, n) : TN_OUT_OF_MEMORY;
}

/* Converts the elements of a floating tensor; the exit code. */
static int convert(tn_context *context, struct tensor *tensor, tn_dtype dtype, int *has_overflows)
{
	struct tn_host_array *array = &tensor->array;
	double n_overflows = 0;
	if (!dtype || dtype == array->dtype || !tn_is_floating(array->dtype))
		return EXIT_DONE;
	if (tn_scope_begin(context))
		return finish(context);
	tn_array *found =
		tn_from_host(context, array->dtype, (int)array->rank, array->shape, array->data);
	tn_array *converted = tn_astype(found, dtype);
	const uint64_t size =
		array->size_bytes / tn_dtype_size(array->dtype) * tn_dtype_size(dtype);
	void *data = tn_mem_alloc((size_t)size);
	const int has_memory = data != NULL;
	if (converted && data && !count_overflows(found, converted, &n_overflows) &&
	    !tn_to_host(converted, data, (size_t)size)) {
		tn_mem_free(array->data);
		array->data = data;
		array->dtype = dtype;
		array->size_bytes = size;
		data = NULL;
	}
	tn_mem_free(data);
	tn_scope_end(context, NULL);
	if (n_overflows > 0)
		print_error("tenon convert: tensor '%s': expected numbers within the range of %s, "
			    "found %.0f of %llu beyond it",
			    tensor->name, tn_dtype_name(dtype), n_overflows,
			    (unsigned long long)(array->size_bytes / tn_dtype_size(array->dtype)));
	*has_overflows |= n_overflows > 0;
	const int code = finish(context);
	return code != EXIT_DONE || has_memory ? code : no_memory(tensor->name);
}

/* ---- Writing ---------------------------------------------------------------------------------*/

static int write_safetensors(const struct convert_command *c)
{
	struct tn_error_info error;
	struct tn_tensor_source *sources = calloc(c->n + 1, sizeof(*sources));
	if (!sources)
		return no_memory("the list of tensors");
	for (size_t i = 0; i < c->n; i++)
		sources[i] = (struct tn_tensor_source){.name = c->tensors[i].name,
						       .dtype = c->tensors[i].array.dtype,
						       .rank = c->tensors[i].array.rank,
						       .shape = c->tensors[i].array.shape,
						       .data = c->tensors[i].array.data};
	const tn_status status =
		tn_safetensors_write(c->out, sources, c->n, c->metadata, c->n_metadata, &error);
	free(sources);
	return status ? report_error(&error) : EXIT_DONE;
}

static int write_npz(const struct convert_command *c)
{
	struct tn_error_info error;
	struct tn_npz_array *arrays = calloc(c->n + 1, sizeof(*arrays));
	if (!arrays)
		return no_memory("the list of tensors");
	for (size_t i = 0; i < c->n; i++)
		arrays[i] = (struct tn_npz_array){.name = c->tensors[i].name,
						  .dtype = c->tensors[i].array.dtype,
						  .rank = c->tensors[i].array.rank,
						  .shape = c->tensors[i].array.shape,
						  .data = c->tensors[i].array.data};
	const tn_status status = tn_npz_write(c->out, arrays, c->n, &error);
	free(arrays);
	return status ? report_error(&error) : EXIT_DONE;
}

/* ---- The command -----------------------------------------------------------------------------*/

/* "module.=", "backbone.=net.", "=net.", but not "=", which changes nothing. */
static int take_rename(void *values, const char *text)
{
	struct convert_command *c = values;
	const size_t length = strcspn(text, "=");
	if (!text[length] || strcmp(text, "=") == 0 || c->n_renames == MOST_RENAMES)
		return 0;
	c->renames[c->n_renames++] = (struct rename){text, length};
	return 1;
}

static int take_drop(void *values, const char *text)
{
	struct convert_command *c = values;
	if (c->n_drops == MOST_DROPS)
		return 0;
	c->drops[c->n_drops++] = text;
	return 1;
}

static int parse_arguments(struct convert_command *c, int argc, char **argv)
{
	static const char *const dtypes[] = {"own", "f16", "bf16", "f32", "f64", NULL};
	static const tn_dtype values[] = {0, TN_F16, TN_BF16, TN_F32, TN_F64};
	uint32_t dtype = 0;
	const struct option_row rows[] = {
		{"rename", "OLD=NEW",
		 "names that begin with OLD begin with NEW instead; may be\ngiven several times, "
		 "and "
		 "the first that fits counts",
		 .take = take_rename, .values = c,
		 .expected = "OLD=NEW, of which one may be empty, at most 32 times"},
		{"drop", "PATTERN",
		 "leave out tensors with such names in IN: '*.num_batches_*';\n"
		 "may be given several times",
		 .take = take_drop, .values = c, .expected = "at most 32 patterns"},
		{"dtype", "NAME", "of floating tensors: own (default), f16, bf16, f32, f64",
		 .choice = &dtype, .choices = dtypes},
	};
	const struct option_table table = {
		"tenon convert",
		"IN OUT",
		"  Copies tensors between .safetensors and .npz files.\n",
		rows,
		N_ROWS(rows),
		NULL,
		0};
	const int code = option_table_read(&table, argc, argv);
	if (code != OPTIONS_READ)
		return code;
	if (argc - optind != 2)
		return usage_error("convert", "expected IN and OUT, found %d words", argc - optind);
	c->in = argv[optind];
	c->out = argv[optind + 1];
	c->dtype = values[dtype];
	for (int i = 0; i < 2; i++) {
		const char *path = argv[optind + i];
		if (!ends_in(path, ".safetensors") && !ends_in(path, ".npz"))
			return usage_error("convert",
					   "%s: expected a name that ends in .safetensors or .npz",
					   path);
	}
	return OPTIONS_READ;
}

static int run(struct convert_command *c)
{
	/* One pass over the numbers is not worth the start of another backend. */
	const struct common_options reference = {.backend = "reference!"};
	int code = ends_in(c->in, ".npz") ? read_npz(c) : read_safetensors(c);
	if (code != EXIT_DONE)
		return code;
	say_unused(c);
	tn_context *context = open_context(&reference, TN_SEED_FROM_ENVIRONMENT, &code);
	int has_overflows = 0;
	for (size_t i = 0; context && i < c->n && code == EXIT_DONE; i++)
		code = convert(context, &c->tensors[i], c->dtype, &has_overflows);
	tn_context_close(context);
	if (code == EXIT_DONE && has_overflows) {
		print_error("tenon convert: %s: nothing is written%s", c->in,
			    c->dtype == TN_F16 ? "; bf16 has the range of f32" : "");
		code = EXIT_FAILED;
	}
	if (code == EXIT_DONE)
		code = ends_in(c->out, ".npz") ? write_npz(c) : write_safetensors(c);
	if (code == EXIT_DONE)
		printf("%zu tensors in %s\n", c->n, c->out);
	return code;
}

int command_convert(int argc, char **argv)
{
	struct convert_command c = {0};
	int code = parse_arguments(&c, argc, argv);
	if (code == OPTIONS_READ)
		code = output_possible("convert", "OUT", c.out, OUTPUT_WHOLE) ? run(&c)
									      : EXIT_FAILED;
	for (size_t i = 0; i < c.n && c.tensors; i++) {
		free(c.tensors[i].name);
		tn_host_array_release(&c.tensors[i].array);
	}
	tn_safetensors_close(c.file);
	free(c.tensors);
	free(c.metadata);
	return code;
}
