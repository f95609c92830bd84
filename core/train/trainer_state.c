/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Writes a trainer's state as a text and arrays, and takes it back after checking it.
 */
#include "train/trainer_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "array/array.h"
#include "base/dtype.h"
#include "base/error.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/memory.h"

static const char operation[] = "trainer_state";

enum { VERSION = 2, MOST_EPOCHS = 1 << 20 };

/* What the text says: the shapes of the arrays follow from it. */
struct outline {
	int64_t n_epochs;   /* of the history */
	int64_t is_running; /* there are sums of an epoch */
	int64_t has_best;   /* there are best weights */
	struct tn_metric_form forms[TN_MOST_METRICS];
};

/* Numbers that change, by their place in an array. */
enum {
	EPOCH,
	STEP,
	IN_EPOCH,
	ADVANCES,
	IS_EARLY,
	IS_FOUND,
	BEST_EPOCH,
	WAITED,
	SAMPLES,
	EQUAL,
	N_COUNTERS
};
enum { SECONDS, LAST_LR, BEST_VALUE, N_NUMBERS };
/* The columns of the history before those of the metrics. */
enum { ROW_EPOCH, ROW_STEP, ROW_LR, ROW_IS_BEST, ROW_VALUES, N_VALUES = 3 };

/* ---- The text --------------------------------------------------------------------------------*/

static struct outline outline_of(const tn_trainer *t)
{
	struct outline outline = {.n_epochs = (int64_t)t->history.n,
				  .is_running = t->state.in_epoch,
				  .has_best = t->best.has_weights};
	for (size_t i = 0; i < t->options.n_metrics; i++)
		outline.forms[i] = t->metrics[i]->form;
	return outline;
}

/* A byte of a metric's name, without those that JSON escapes. */
static char plain(char c)
{
	return c == '"' || c == '\\' || (c & 0xe0) == 0 ? '_' : c;
}

static int is_name(const char *read, const char *name)
{
	while (*name && *read == plain(*name)) {
		read++;
		name++;
	}
	return !*name && !*read;
}

/* A metric: its name, without bytes that need an escape, its width and its type. */
static void add_metric(struct tn_json_writer *json, const char *name,
		       const struct tn_metric_form *form)
{
	char *copy = tn_mem_copy_string(name);
	json->text.failed |= !copy;
	for (char *c = copy; c && *c; c++)
		*c = plain(*c);
	tn_json_add_string(json, NULL, copy);
	tn_json_add_integer(json, NULL, form->width);
	tn_json_add_unsigned(json, NULL, form->dtype);
	tn_mem_free(copy);
}

static char *write_outline(const tn_trainer *t, const struct outline *outline)
{
	struct tn_json_writer json;
	tn_json_writer_init(&json, TN_JSON_SPACED);
	tn_json_begin_object(&json, NULL);
	tn_json_add_integer(&json, "version", VERSION);
	tn_json_add_integer(&json, "epochs", outline->n_epochs);
	tn_json_add_integer(&json, "running", outline->is_running);
	tn_json_add_integer(&json, "best", outline->has_best);
	tn_json_begin_array(&json, "metrics");
	for (size_t i = 0; i < t->options.n_metrics; i++)
		add_metric(&json, tn_metric_name(t->metrics[i]), &outline->forms[i]);
	tn_json_end(&json);
	tn_json_end(&json);
	return tn_json_writer_take(&json);
}

static tn_status read_key(struct tn_json_reader *reader, int is_first, const char *name,
			  struct tn_error_info *error)
{
	char *key;
	tn_status status = is_first ? TN_OK : tn_json_take(reader, ',', "','", error);
	if (!status)
		status = tn_json_key(reader, &key, error);
	if (!status && strcmp(key, name) != 0)
		status = tn_fail(error, TN_FORMAT, operation, "expected the key %s, found %s", name,
				 key);
	return status;
}

static tn_status read_number(struct tn_json_reader *reader, int is_first, const char *name,
			     int64_t most, int64_t *value, struct tn_error_info *error)
{
	tn_status status = read_key(reader, is_first, name, error);
	if (!status)
		status = tn_json_integer(reader, value, error);
	if (!status && (*value < 0 || *value > most))
		status = tn_fail(error, TN_FORMAT, operation, "%s: expected 0 to %lld, found %lld",
				 name, (long long)most, (long long)*value);
	return status;
}

static tn_status read_metric(const tn_trainer *t, struct tn_json_reader *reader, size_t i,
			     struct tn_metric_form *form, struct tn_error_info *error)
{
	char *name;
	int64_t numbers[2] = {0, 0};
	tn_status status = tn_json_string(reader, &name, error);
	for (int k = 0; k < 2 && !status; k++) {
		status = tn_json_take(reader, ',', "','", error);
		if (!status)
			status = tn_json_integer(reader, &numbers[k], error);
	}
	if (status)
		return status;
	if (i >= t->options.n_metrics || !is_name(name, tn_metric_name(t->metrics[i])))
		return tn_fail(error, TN_INVALID_ARGUMENT, operation,
			       "expected the metrics of this trainer, found %s as number %zu", name,
			       i);
	if (numbers[0] < 0 || numbers[0] > INT32_MAX ||
	    (numbers[1] != 0 && numbers[1] != TN_F32 && numbers[1] != TN_F64))
		return tn_fail(error, TN_FORMAT, operation,
			       "metric %s: expected a width and f32 or f64, found %lld and %lld",
			       name, (long long)numbers[0], (long long)numbers[1]);
	*form = (struct tn_metric_form){numbers[0], (tn_dtype)numbers[1]};
	return TN_OK;
}

static tn_status read_metrics(const tn_trainer *t, struct tn_json_reader *reader,
			      struct outline *outline, struct tn_error_info *error)
{
	size_t n = 0;
	int more;
	tn_status status = read_key(reader, 0, "metrics", error);
	if (!status)
		status = tn_json_take(reader, '[', "'['", error);
	if (!status)
		status = tn_json_more(reader, ']', n, &more, error);
	while (!status && more) {
		struct tn_metric_form form;
		status = read_metric(t, reader, n, &form, error);
		if (!status)
			outline->forms[n++] = form;
		if (!status)
			status = tn_json_more(reader, ']', n, &more, error);
	}
	if (!status && n != t->options.n_metrics)
		status = tn_fail(error, TN_INVALID_ARGUMENT, operation,
				 "expected the %zu metrics of this trainer, found %zu",
				 t->options.n_metrics, n);
	return status;
}

static tn_status read_outline(const tn_trainer *t, const char *given, struct outline *outline,
			      struct tn_error_info *error)
{
	int64_t version;
	char *text = tn_mem_copy_string(given);
	*outline = (struct outline){0};
	if (!text)
		return tn_no_memory(error, operation, NULL, NULL);
	struct tn_json_reader reader = {.text = text,
					.size = strlen(text),
					.operation = operation,
					.where = "the state of a trainer"};
	tn_status status = tn_json_take(&reader, '{', "'{'", error);
	if (!status)
		status = read_number(&reader, 1, "version", VERSION, &version, error);
	if (!status && version != VERSION)
		status = tn_fail(error, TN_FORMAT, operation, "version: expected %d, found %lld",
				 VERSION, (long long)version);
	if (!status)
		status = read_number(&reader, 0, "epochs", MOST_EPOCHS, &outline->n_epochs, error);
	if (!status)
		status = read_number(&reader, 0, "running", 1, &outline->is_running, error);
	if (!status)
		status = read_number(&reader, 0, "best", 1, &outline->has_best, error);
	if (!status)
		status = read_metrics(t, &reader, outline, error);
	if (!status)
		status = tn_json_take(&reader, '}', "'}'", error);
	if (!status)
		status = tn_json_finish(&reader, error);
	tn_mem_free(text);
	return status;
}

/* ---- Arrays ----------------------------------------------------------------------------------*/

/* Appends an array of zeros. */
static tn_status add_array(const tn_trainer *t, struct tn_trainer_saved *saved, const char *name,
			   tn_dtype dtype, int rank, const int64_t *shape)
{
	size_t n = 1;
	for (int i = 0; i < rank; i++)
		n *= (size_t)shape[i];
	struct tn_trainer_array *more =
		tn_mem_realloc(saved->arrays, saved->n + 1, sizeof(*saved->arrays));
	if (!more)
		return tn_runtime_no_memory(t->runtime, operation, NULL);
	saved->arrays = more;
	struct tn_trainer_array *array = &more[saved->n++];
	int64_t *own = tn_mem_zeroed(rank ? (size_t)rank : 1, sizeof(*own));
	*array = (struct tn_trainer_array){.name = tn_mem_copy_string(name),
					   .dtype = dtype,
					   .rank = rank,
					   .shape = own,
					   .data = tn_mem_zeroed(n, tn_dtype_size(dtype))};
	if (!array->name || !own || !array->data)
		return tn_runtime_no_memory(t->runtime, operation, NULL);
	if (rank)
		memcpy(own, shape, (size_t)rank * sizeof(*own));
	return TN_OK;
}

static tn_status add_like(const tn_trainer *t, struct tn_trainer_saved *saved, const char *prefix,
			  const char *name, const tn_array *array)
{
	char all[512];
	if ((size_t)snprintf(all, sizeof(all), "trainer.%s%s", prefix, name) >= sizeof(all))
		return tn_runtime_fail(t->runtime, TN_LIMIT, operation, "%s: the name is too long",
				       name);
	return add_array(t, saved, all, array->dtype, array->rank, array->shape);
}

static int64_t row_width(const tn_trainer *t)
{
	return ROW_VALUES + 2 * (N_VALUES + (int64_t)t->options.n_metrics);
}

enum { MOST_ARRAYS = 2 + TN_MOST_METRICS * TN_METRIC_ARRAYS };

/* The arrays of the sums, in order, and their number. */
static tn_status sums_arrays(const struct tn_sums *sums, tn_array **arrays, size_t *n)
{
	struct tn_runtime *rt = tn_runtime_of(sums->context);
	arrays[0] = sums->loss;
	arrays[1] = sums->weight;
	*n = 2;
	for (size_t i = 0; i < sums->n_metrics; i++) {
		size_t own = tn_metric_pass_arrays(sums->metrics[i], sums->passes[i], arrays + *n,
						   TN_METRIC_ARRAYS);
		if (own > TN_METRIC_ARRAYS)
			return tn_runtime_fail(rt, TN_LIMIT, operation,
					       "metric %s: expected at most %d arrays, found %zu",
					       tn_metric_name(sums->metrics[i]), TN_METRIC_ARRAYS,
					       own);
		*n += own;
	}
	return TN_OK;
}

static tn_status add_sums(const tn_trainer *t, struct tn_trainer_saved *saved,
			  const struct tn_sums *sums)
{
	tn_array *arrays[MOST_ARRAYS];
	char name[32];
	size_t n;
	tn_status status = sums_arrays(sums, arrays, &n);
	for (size_t i = 0; i < n && !status; i++) {
		snprintf(name, sizeof(name), "%zu", i);
		status = add_like(t, saved, "sum.", name, arrays[i]);
	}
	return status;
}

/* All arrays, of zeros; `sums` has those of the running epoch. */
static tn_status add_arrays(const tn_trainer *t, const struct outline *outline,
			    const struct tn_sums *sums, struct tn_trainer_saved *saved)
{
	const int64_t counters = N_COUNTERS, numbers = N_NUMBERS;
	const int64_t rows[] = {outline->n_epochs, row_width(t)};
	const char *name;
	const tn_array *array;
	tn_status status = add_array(t, saved, "trainer.counters", TN_U64, 1, &counters);
	if (!status)
		status = add_array(t, saved, "trainer.numbers", TN_F64, 1, &numbers);
	if (!status && outline->n_epochs)
		status = add_array(t, saved, "trainer.history", TN_F64, 2, rows);
	if (!status && outline->is_running)
		status = add_sums(t, saved, sums);
	for (size_t i = 0; outline->has_best && !status; i++) {
		array = tn_best_array(&t->best, i, &name);
		if (!array)
			break;
		status = add_like(t, saved, "best.", name, array);
	}
	return status;
}

static size_t size_of(const struct tn_trainer_array *array)
{
	size_t n = tn_dtype_size(array->dtype);
	for (int i = 0; i < array->rank; i++)
		n *= (size_t)array->shape[i];
	return n;
}

void tn_trainer_saved_release(struct tn_trainer_saved *saved)
{
	for (size_t i = 0; i < saved->n; i++) {
		tn_mem_free((char *)saved->arrays[i].name);
		tn_mem_free((int64_t *)saved->arrays[i].shape);
		tn_mem_free(saved->arrays[i].data);
	}
	tn_mem_free(saved->arrays);
	tn_mem_free(saved->text);
	*saved = (struct tn_trainer_saved){NULL, 0, NULL};
}

/* ---- Saving ----------------------------------------------------------------------------------*/

/* Into a row of zeros; NULL: there are none. */
static void put_values(double *row, const struct tn_trainer_values *values, size_t n_metrics)
{
	for (size_t i = 0; i < n_metrics; i++)
		row[N_VALUES + i] = values ? values->metrics[i] : NAN;
	if (!values)
		return;
	row[0] = values->loss;
	row[1] = (double)values->samples;
	row[2] = values->seconds;
}

static void put_history(const tn_trainer *t, double *rows)
{
	const size_t n = t->options.n_metrics;
	for (size_t i = 0; i < t->history.n; i++, rows += row_width(t)) {
		const struct tn_trainer_epoch *epoch = t->history.epochs[i];
		rows[ROW_EPOCH] = (double)epoch->epoch;
		rows[ROW_STEP] = (double)epoch->step;
		rows[ROW_LR] = epoch->lr;
		rows[ROW_IS_BEST] = epoch->is_best;
		put_values(rows + ROW_VALUES, epoch->train, n);
		put_values(rows + ROW_VALUES + N_VALUES + n, epoch->validation, n);
	}
}

static void put_counters(const tn_trainer *t, uint64_t *counters, double *numbers)
{
	const struct tn_trainer_state *s = &t->state;
	const uint64_t values[N_COUNTERS] = {
		[EPOCH] = s->epoch,
		[STEP] = s->step,
		[IN_EPOCH] = (uint64_t)s->in_epoch,
		[ADVANCES] = (uint64_t)s->advances,
		[IS_EARLY] = (uint64_t)s->is_early,
		[IS_FOUND] = (uint64_t)t->best.is_found,
		[BEST_EPOCH] = t->best.epoch,
		[WAITED] = t->best.waited,
		[SAMPLES] = t->sums.samples,
		[EQUAL] = t->sums.equal,
	};
	memcpy(counters, values, sizeof(values));
	numbers[SECONDS] = s->seconds;
	if (s->in_epoch && t->is_running)
		numbers[SECONDS] += tn_clock_seconds() - t->sums.started;
	numbers[LAST_LR] = s->last_lr;
	numbers[BEST_VALUE] = t->best.value;
}

/* Into the arrays from number *at on; *at becomes the number after the last. */
static tn_status put_sums(const tn_trainer *t, const struct tn_trainer_saved *saved, size_t *at)
{
	tn_array *arrays[MOST_ARRAYS];
	size_t n;
	tn_status status = sums_arrays(&t->sums, arrays, &n);
	for (size_t i = 0; i < n && !status; i++, ++*at)
		status = tn_to_host(arrays[i], saved->arrays[*at].data,
				    size_of(&saved->arrays[*at]));
	return status;
}

/* Into arrays of the outline, in their order. */
static tn_status put_all(const tn_trainer *t, const struct tn_trainer_saved *saved)
{
	tn_status status = TN_OK;
	size_t at = 2;
	put_counters(t, saved->arrays[0].data, saved->arrays[1].data);
	if (t->history.n)
		put_history(t, saved->arrays[at++].data);
	if (t->state.in_epoch)
		status = put_sums(t, saved, &at);
	for (size_t i = 0; at < saved->n && !status; i++, at++)
		status = tn_best_get(&t->best, i, saved->arrays[at].data,
				     size_of(&saved->arrays[at]));
	return status;
}

tn_status tn_trainer_save_state(tn_trainer *t, struct tn_trainer_saved *saved)
{
	const struct outline outline = outline_of(t);
	*saved = (struct tn_trainer_saved){NULL, 0, NULL};
	tn_status status = tn_runtime_ready(t->runtime);
	if (status)
		return status;
	if (t->group.total)
		return tn_runtime_fail(t->runtime, TN_STATE, operation,
				       "expected a trainer between two steps, as in on_step");
	saved->text = write_outline(t, &outline);
	status = saved->text ? add_arrays(t, &outline, &t->sums, saved)
			     : tn_runtime_no_memory(t->runtime, operation, NULL);
	if (!status)
		status = put_all(t, saved);
	if (status)
		tn_trainer_saved_release(saved);
	return status;
}

/* ---- Loading ---------------------------------------------------------------------------------*/

static tn_status parse(tn_trainer *t, const char *text, struct outline *outline)
{
	struct tn_error_info error;
	tn_status status = tn_runtime_ready(t->runtime);
	if (!status && read_outline(t, text, outline, &error))
		status = tn_runtime_keep(t->runtime, &error);
	return status;
}

/* Sums whose metrics have the outline's forms; the metrics keep these only on success. */
static tn_status begin_sums(tn_trainer *t, const struct outline *outline, struct tn_sums *sums)
{
	struct tn_metric_form before[TN_MOST_METRICS] = {0};
	for (size_t i = 0; i < t->options.n_metrics; i++) {
		before[i] = t->metrics[i]->form;
		t->metrics[i]->form = outline->forms[i];
	}
	tn_status status = tn_sums_begin(sums, t->context, t->objective.dtype, t->options.n_metrics,
					 t->metrics);
	for (size_t i = 0; status && i < t->options.n_metrics; i++)
		t->metrics[i]->form = before[i];
	return status;
}

/* The sums of each metric, before they are made, and the history. */
static tn_status check_sizes(const tn_trainer *t, const struct outline *outline, uint64_t most)
{
	double largest = (double)outline->n_epochs * (double)row_width(t) * sizeof(double);
	for (size_t i = 0; i < t->options.n_metrics; i++) {
		const struct tn_metric_kind *kind = t->metrics[i]->kind;
		double width = (double)outline->forms[i].width;
		for (uint32_t k = 0; kind && outline->is_running && k < kind->n_arrays; k++)
			largest = fmax(largest, sizeof(float) * pow(width, kind->arrays[k].rank));
	}
	if (largest <= (double)most)
		return TN_OK;
	return tn_runtime_fail(t->runtime, TN_FORMAT, operation,
			       "expected arrays that fit into the %llu bytes of the file, found "
			       "one of %.0f",
			       (unsigned long long)most, largest);
}

tn_status tn_trainer_prepare_state(tn_trainer *t, const char *text, uint64_t most,
				   struct tn_trainer_saved *saved)
{
	struct outline outline;
	struct tn_sums sums = {.n_metrics = 0};
	struct tn_metric_form before[TN_MOST_METRICS] = {0};
	*saved = (struct tn_trainer_saved){NULL, 0, NULL};
	tn_status status = parse(t, text, &outline);
	if (!status)
		status = check_sizes(t, &outline, most);
	if (status)
		return status;
	for (size_t i = 0; i < t->options.n_metrics; i++)
		before[i] = t->metrics[i]->form;
	if (outline.is_running)
		status = begin_sums(t, &outline, &sums);
	if (!status)
		status = add_arrays(t, &outline, &sums, saved);
	saved->text = tn_mem_copy_string(text);
	if (!status && !saved->text)
		status = tn_runtime_no_memory(t->runtime, operation, NULL);
	for (size_t i = 0; i < t->options.n_metrics; i++)
		t->metrics[i]->form = before[i];
	tn_sums_end(&sums);
	if (status)
		tn_trainer_saved_release(saved);
	return status;
}

static struct tn_trainer_values take_values(const double *row)
{
	return (struct tn_trainer_values){.struct_size = sizeof(struct tn_trainer_values),
					  .loss = row[0],
					  .samples = (uint64_t)row[1],
					  .seconds = row[2],
					  .metrics = row + N_VALUES};
}

/* As the numbers of the checkpoint's other parts (enum tn_item_range). */
static tn_status check_counters(const tn_trainer *t, const uint64_t *counters,
				const double *numbers)
{
	for (size_t i = 0; i < N_COUNTERS; i++) {
		if (counters[i] >> 62)
			return tn_runtime_fail(t->runtime, TN_LIMIT, operation,
					       "counter %zu: expected a number below 2^62, found "
					       "%llu",
					       i, (unsigned long long)counters[i]);
	}
	if (!(numbers[SECONDS] >= 0 && isfinite(numbers[SECONDS])) ||
	    !(numbers[LAST_LR] >= 0 && isfinite(numbers[LAST_LR])) || isnan(numbers[BEST_VALUE]))
		return tn_runtime_fail(t->runtime, TN_LIMIT, operation,
				       "expected finite seconds and rate of 0 or more and a best "
				       "value, found %g, %g and %g",
				       numbers[SECONDS], numbers[LAST_LR], numbers[BEST_VALUE]);
	return TN_OK;
}

/* Numbers of epochs, steps and samples are stored as f64. */
static tn_status check_history(const tn_trainer *t, size_t n_rows, const double *rows)
{
	const size_t n = N_VALUES + t->options.n_metrics;
	const size_t columns[] = {ROW_EPOCH, ROW_STEP, ROW_VALUES + 1, ROW_VALUES + n + 1};
	for (size_t i = 0; i < n_rows; i++, rows += row_width(t)) {
		for (size_t k = 0; k < sizeof(columns) / sizeof(columns[0]); k++) {
			const double count = rows[columns[k]];
			if (!(count >= 0 && count <= 0x1p53))
				return tn_runtime_fail(
					t->runtime, TN_FORMAT, operation,
					"history, row %zu, column %zu: expected a number from 0 to "
					"2^53, found %g",
					i, columns[k], count);
		}
	}
	return TN_OK;
}

static tn_status take_history(tn_trainer *t, size_t n_rows, const double *rows)
{
	struct tn_history history = {.n_metrics = t->history.n_metrics,
				     .metrics = t->history.metrics};
	const size_t n = N_VALUES + t->options.n_metrics;
	for (size_t i = 0; i < n_rows; i++, rows += row_width(t)) {
		const struct tn_trainer_values train = take_values(rows + ROW_VALUES);
		const struct tn_trainer_values validation = take_values(rows + ROW_VALUES + n);
		const struct tn_trainer_epoch epoch = {
			.struct_size = sizeof(epoch),
			.epoch = (uint64_t)rows[ROW_EPOCH],
			.step = (uint64_t)rows[ROW_STEP],
			.lr = rows[ROW_LR],
			.train = &train,
			.validation = validation.samples ? &validation : NULL,
			.is_best = rows[ROW_IS_BEST] != 0.0,
		};
		if (!tn_history_add(&history, &epoch)) {
			tn_history_release(&history);
			return tn_runtime_no_memory(t->runtime, operation, NULL);
		}
	}
	tn_history_release(&t->history);
	t->history = history;
	return TN_OK;
}

static void take_counters(tn_trainer *t, const uint64_t *counters, const double *numbers)
{
	t->state = (struct tn_trainer_state){
		.epoch = counters[EPOCH],
		.step = counters[STEP],
		.in_epoch = counters[IN_EPOCH] != 0,
		.advances = counters[ADVANCES] && t->options.schedule,
		.is_early = counters[IS_EARLY] != 0,
		.seconds = numbers[SECONDS],
		.last_lr = numbers[LAST_LR],
	};
	t->best.is_found = counters[IS_FOUND] != 0;
	t->best.epoch = counters[BEST_EPOCH];
	t->best.waited = counters[WAITED];
	t->best.value = numbers[BEST_VALUE];
	t->sums.samples = counters[SAMPLES];
	t->sums.equal = counters[EQUAL];
	t->group = (struct tn_trainer_group){0};
}

static tn_status take_best(tn_trainer *t, const struct tn_trainer_saved *saved, size_t at)
{
	t->best.has_weights = 0;
	if (at == saved->n || t->best.kept == TN_BEST_NOT_KEPT)
		return TN_OK;
	tn_status status = tn_scope_begin(t->context);
	if (status)
		return status;
	status = tn_best_make(&t->best);
	tn_scope_end(t->context, NULL);
	for (size_t i = 0; at < saved->n && !status; i++, at++)
		status = tn_best_set(&t->best, i, saved->arrays[at].data,
				     size_of(&saved->arrays[at]));
	return status;
}

static tn_status take_sums(tn_trainer *t, const struct outline *outline,
			   const struct tn_trainer_saved *saved, size_t *at)
{
	struct tn_sums sums;
	tn_array *arrays[MOST_ARRAYS];
	size_t n;
	tn_status status = begin_sums(t, outline, &sums);
	if (status)
		return status;
	status = sums_arrays(&sums, arrays, &n);
	for (size_t i = 0; i < n && !status; i++, ++*at)
		status = tn_assign_host(arrays[i], saved->arrays[*at].data,
					size_of(&saved->arrays[*at]));
	tn_sums_end(&t->sums);
	t->sums = sums;
	return status;
}

tn_status tn_trainer_load_state(tn_trainer *t, const struct tn_trainer_saved *saved)
{
	struct outline outline;
	size_t at = 2;
	tn_status status = parse(t, saved->text, &outline);
	if (status)
		return status;
	if (t->is_running)
		return tn_runtime_fail(t->runtime, TN_STATE, operation,
				       "the trainer is running: load its state before");
	const uint64_t *counters = saved->arrays[0].data;
	status = check_counters(t, counters, saved->arrays[1].data);
	if (status)
		return status;
	if ((counters[IN_EPOCH] != 0) != (outline.is_running != 0))
		return tn_runtime_fail(t->runtime, TN_FORMAT, operation,
				       "expected a running epoch with sums or neither, found %s",
				       outline.is_running ? "sums without a running epoch"
							  : "a running epoch without sums");
	if (outline.n_epochs)
		status = check_history(t, (size_t)outline.n_epochs, saved->arrays[at].data);
	if (status)
		return status;
	if (outline.n_epochs)
		status = take_history(t, (size_t)outline.n_epochs, saved->arrays[at++].data);
	else
		tn_history_release(&t->history);
	if (!status && outline.is_running)
		status = take_sums(t, &outline, saved, &at);
	else if (!status)
		tn_sums_end(&t->sums);
	if (!status)
		status = take_best(t, saved, at);
	if (!status)
		take_counters(t, saved->arrays[0].data, saved->arrays[1].data);
	return status;
}
