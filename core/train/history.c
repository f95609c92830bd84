/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Keeps the values of each epoch, and prints them as JSON lines.
 */
#include "train/history.h"

#include <math.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/memory.h"
#include "base/text.h"

/* An epoch in one piece of memory. */
struct entry {
	struct tn_trainer_epoch epoch;
	struct tn_trainer_values train, validation;
	double metrics[]; /* of both */
};

/* NULL gives NULL. */
static const struct tn_trainer_values *copy_values(struct tn_trainer_values *own, double *metrics,
						   const struct tn_trainer_values *from, size_t n)
{
	if (!from)
		return NULL;
	*own = *from;
	for (size_t i = 0; i < n; i++)
		metrics[i] = from->metrics[i];
	own->metrics = metrics;
	return own;
}

int tn_history_add(struct tn_history *history, const struct tn_trainer_epoch *epoch)
{
	const size_t n = history->n_metrics;
	struct tn_trainer_epoch **more =
		tn_mem_realloc(history->epochs, history->n + 1, sizeof(struct tn_trainer_epoch *));
	struct entry *own = more ? tn_mem_zeroed(1, sizeof(*own) + 2 * n * sizeof(double)) : NULL;
	if (more)
		history->epochs = more;
	if (!own)
		return 0;
	own->epoch = *epoch;
	own->epoch.train = copy_values(&own->train, own->metrics, epoch->train, n);
	own->epoch.validation =
		copy_values(&own->validation, own->metrics + n, epoch->validation, n);
	history->epochs[history->n++] = &own->epoch;
	return 1;
}

void tn_history_release(struct tn_history *history)
{
	for (size_t i = 0; i < history->n; i++)
		tn_mem_free(history->epochs[i]);
	tn_mem_free(history->epochs);
	history->epochs = NULL;
	history->n = 0;
}

/* A number with a key of two parts: "train_" and "loss". */
static void add_number(struct tn_json_writer *json, const char *prefix, const char *name,
		       double value)
{
	struct tn_text key;
	tn_text_init(&key);
	tn_text_format(&key, "%s%s", prefix, name);
	if (key.failed)
		json->text.failed = 1;
	else
		tn_json_add_number(json, key.data, value, 0);
	tn_text_release(&key);
}

static void add_values(struct tn_json_writer *json, const struct tn_history *history,
		       const char *prefix, const struct tn_trainer_values *values)
{
	add_number(json, prefix, "loss", values ? values->loss : NAN);
	for (size_t i = 0; i < history->n_metrics; i++)
		add_number(json, prefix, tn_metric_name(history->metrics[i]),
			   values ? values->metrics[i] : NAN);
}

char *tn_history_json(const struct tn_history *history)
{
	struct tn_json_writer json;
	tn_json_writer_init(&json, TN_JSON_SPACED);
	json.long_escapes = 1;
	for (size_t i = 0; i < history->n; i++) {
		const struct tn_trainer_epoch *epoch = history->epochs[i];
		tn_json_begin_object(&json, NULL);
		tn_json_add_unsigned(&json, "epoch", epoch->epoch);
		tn_json_add_unsigned(&json, "step", epoch->step);
		tn_json_add_number(&json, "lr", epoch->lr, 0);
		tn_json_add_number(&json, "seconds", epoch->train->seconds, 0);
		add_values(&json, history, "train_", epoch->train);
		add_values(&json, history, "val_", epoch->validation);
		tn_json_end(&json);
		tn_text_add(&json.text, "\n");
	}
	return tn_json_writer_take(&json);
}
