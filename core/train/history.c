/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Keeps the values of each epoch, and prints them as JSON lines.
 */
#include "train/history.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

int tn_history_add(struct tn_history *history, const struct tn_trainer_epoch *epoch)
{
	const size_t n = history->n_metrics;
	struct tn_trainer_epoch **more =
		tn_mem_realloc(history->epochs, history->n + 1, sizeof(struct tn_trainer_epoch *));
	struct tn_trainer_epoch *own =
		more ? tn_mem_zeroed(1, sizeof(*own) + 2 * n * sizeof(double)) : NULL;
	if (more)
		history->epochs = more;
	if (!own)
		return 0;
	double *metrics = (double *)(own + 1);
	*own = *epoch;
	for (size_t i = 0; i < n; i++) {
		metrics[i] = epoch->train.samples ? epoch->train.metrics[i] : NAN;
		metrics[n + i] = epoch->validation.samples ? epoch->validation.metrics[i] : NAN;
	}
	own->train.metrics = metrics;
	own->validation.metrics = metrics + n;
	history->epochs[history->n++] = own;
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

/* The shortest of 15 to 17 digits that gives the same number; a decimal point in any locale. */
static void add_number(struct tn_text *text, double value)
{
	char digits[40];
	if (!isfinite(value)) {
		tn_text_add(text, "null");
		return;
	}
	for (int precision = 15; precision <= 17; precision++) {
		snprintf(digits, sizeof(digits), "%.*g", precision, value);
		if (strtod(digits, NULL) == value)
			break;
	}
	for (char *byte = digits; *byte; byte++) {
		if (!strchr("0123456789+-e", *byte))
			*byte = '.';
	}
	tn_text_add(text, digits);
}

/* A string's bytes, with the escapes that JSON requires. */
static void add_string(struct tn_text *text, const char *string)
{
	for (; *string; string++) {
		unsigned char byte = (unsigned char)*string;
		if (byte == '"' || byte == '\\' || byte < 0x20)
			tn_text_format(text, "\\u%04x", byte);
		else
			tn_text_append(text, string, 1);
	}
}

static void add_values(struct tn_text *text, const struct tn_history *history, const char *prefix,
		       const struct tn_trainer_values *values)
{
	tn_text_format(text, ", \"%s_loss\": ", prefix);
	add_number(text, values->samples ? values->loss : NAN);
	for (size_t i = 0; i < history->n_metrics; i++) {
		tn_text_format(text, ", \"%s_", prefix);
		add_string(text, tn_metric_name(history->metrics[i]));
		tn_text_add(text, "\": ");
		add_number(text, values->metrics[i]);
	}
}

char *tn_history_json(const struct tn_history *history)
{
	struct tn_text text;
	tn_text_init(&text);
	tn_text_add(&text, "");
	for (size_t i = 0; i < history->n; i++) {
		const struct tn_trainer_epoch *epoch = history->epochs[i];
		tn_text_format(&text, "{\"epoch\": %llu, \"step\": %llu, \"lr\": ",
			       (unsigned long long)epoch->epoch, (unsigned long long)epoch->step);
		add_number(&text, epoch->lr);
		tn_text_add(&text, ", \"seconds\": ");
		add_number(&text, epoch->train.seconds);
		add_values(&text, history, "train", &epoch->train);
		add_values(&text, history, "val", &epoch->validation);
		tn_text_add(&text, "}\n");
	}
	return tn_text_take(&text);
}
