/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Describes and saves a network, and says what there is of a training that ended early.
 */
#include "train_save.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "terminal.h"
#include "tool.h"

int train_describe(struct train_description *d, const char *model, const char *data, uint64_t seed,
		   const tn_dataset *dataset)
{
	d->format = tn_input_format_text(tn_dataset_format(dataset));
	d->classes = class_lines(dataset);
	snprintf(d->seed, sizeof(d->seed), "%" PRIu64, seed);
	const struct tn_pair pairs[] = {{"model", model},
					{"data", data},
					{"input_format", d->format},
					{"classes", d->classes},
					{"seed", d->seed}};
	d->n = sizeof(pairs) / sizeof(pairs[0]);
	memcpy(d->pairs, pairs, sizeof(pairs));
	return d->format && d->classes;
}

void train_describe_end(struct train_description *d)
{
	tn_string_free(d->format);
	free(d->classes);
}

static int is_finite(const tn_array *values)
{
	double all = 0;
	return !tn_item(tn_all(tn_isfinite(values), TN_ALL_AXES, NULL, 0), &all) && all != 0;
}

int train_is_finite(tn_context *context, const tn_module *module)
{
	struct tn_parameter_view parameter = {.struct_size = sizeof(parameter)};
	struct tn_buffer_view buffer = {.struct_size = sizeof(buffer)};
	int is = !tn_scope_begin(context);
	for (size_t i = 0; is && i < tn_module_parameter_count(module); i++)
		is = !tn_module_parameter_at(module, i, &parameter) && is_finite(parameter.value);
	for (size_t i = 0; is && i < tn_module_buffer_count(module); i++)
		is = !tn_module_buffer_at(module, i, &buffer) && is_finite(buffer.value);
	tn_scope_end(context, NULL);
	return is;
}

int train_save(const tn_module *module, const char *path, const struct train_description *d,
	       const struct test_result *test)
{
	char accuracy[32];
	struct tn_pair pairs[8];
	size_t n = d->n;
	memcpy(pairs, d->pairs, n * sizeof(*pairs));
	if (test && test->images) {
		snprintf(accuracy, sizeof(accuracy), "%.6f", test->accuracy);
		pairs[n++] = (struct tn_pair){"test_accuracy", accuracy};
	}
	pairs[n++] = (struct tn_pair){"tenon", tn_version()};
	pairs[n++] = (struct tn_pair){"tenon.checksum", "00000000"};
	return !tn_module_save(module, path, n, pairs);
}

void train_rest_print(const struct train_rest *rest)
{
	struct tn_checkpoint_view newest = {.struct_size = sizeof(newest), .path = ""};
	const size_t n = tn_checkpoint_folder_count(rest->folder);
	const int has = n && !tn_checkpoint_folder_at(rest->folder, n - 1, &newest);
	say("tenon train: %s in epoch %" PRIu64 " of %" PRIu64 "%s%s%s\n", rest->how, rest->epoch,
	    rest->n_epochs, rest->is_unsaved ? ", and its checkpoint could not be written" : "",
	    has           ? ": --resume continues from "
	    : rest->saved ? ""
			  : ": nothing is saved",
	    newest.path);
	if (rest->saved)
		say("tenon train: %s has the network so far: --init %s begins with its weights\n",
		    rest->saved, rest->saved);
}
