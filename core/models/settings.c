/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reads the settings after a network's name, checks them and fills in their defaults.
 */
#include "models/settings.h"

#include <stdio.h>
#include <string.h>

#include "array/runtime.h"
#include "base/decimal.h"
#include "base/name.h"

static const char operation[] = "model_create";

enum { MOST_SIZE = 65536 };

const char *const tn_mlp_activations[] = {
	[TN_MLP_RELU] = "relu", [TN_MLP_LEAKY_RELU] = "leaky_relu",
	[TN_MLP_TANH] = "tanh", [TN_MLP_SIGMOID] = "sigmoid",
	[TN_MLP_GELU] = "gelu", [TN_MLP_GELU_TANH] = "gelu_tanh",
	[TN_MLP_SILU] = "silu", NULL};

enum setting { SIZES, ACTIVATION, DROPOUT, BATCH_NORM, MOMENTUM, SLOPE, N_SETTINGS };

static const struct {
	const char *name, *expected;
} settings[N_SETTINGS] = {
	[SIZES] = {"hidden-sizes", "1 to 16 whole numbers from 1 to 65536, with commas"},
	[ACTIVATION] = {"activation",
			"relu, leaky_relu, tanh, sigmoid, gelu, gelu_tanh or silu, one for all "
			"hidden layers or one for each, with commas"},
	[DROPOUT] = {"dropout", "numbers from 0 to below 1, none or off, one for all hidden layers "
				"or one for each, with commas"},
	[BATCH_NORM] = {"batch-norm", "0 or 1"},
	[MOMENTUM] = {"bn-momentum", "a number above 0, at most 1"},
	[SLOPE] = {"negative-slope", "a number from 0 to 1"},
};

struct reading {
	struct tn_mlp_settings *out;
	size_t n_activations, n_dropout; /* that are given */
};

/* 0 if the text is not a decimal number within the bounds. */
static int read_number(const char *text, double least, double most, double *number)
{
	return tn_decimal_read(text, number) && *number >= least && *number <= most;
}

/* ---- Items of lists --------------------------------------------------------------------------*/

/* Each stores item i; 0 if the text is not a value. */
static int take_size(struct reading *r, size_t i, const char *item)
{
	double number;
	if (!read_number(item, 1, MOST_SIZE, &number) || item[strspn(item, "0123456789")])
		return 0;
	r->out->sizes[i] = (int64_t)number;
	r->out->n = i + 1;
	return 1;
}

static int take_activation(struct reading *r, size_t i, const char *item)
{
	for (uint32_t k = 0; tn_mlp_activations[k]; k++) {
		if (strcmp(tn_mlp_activations[k], item) != 0)
			continue;
		r->out->activations[i] = k;
		r->n_activations = i + 1;
		return 1;
	}
	return 0;
}

static int take_dropout(struct reading *r, size_t i, const char *item)
{
	r->n_dropout = i + 1;
	if (!strcmp(item, "none") || !strcmp(item, "off"))
		item = "0";
	return read_number(item, 0, 1, &r->out->dropout[i]) && r->out->dropout[i] < 1;
}

static int take_list(struct reading *r, const char *text,
		     int (*take)(struct reading *r, size_t i, const char *item))
{
	for (size_t i = 0; i < TN_MOST_HIDDEN; i++) {
		char item[32];
		const size_t length = strcspn(text, ",");
		if (length >= sizeof(item))
			return 0;
		memcpy(item, text, length);
		item[length] = '\0';
		if (!take(r, i, item))
			return 0;
		if (!text[length])
			return 1;
		text += length + 1;
	}
	return 0;
}

/* ---- Settings --------------------------------------------------------------------------------*/

static int take_value(struct reading *r, enum setting setting, const char *value)
{
	double number = 0;
	int is_valid = 0;
	switch (setting) {
	case SIZES:
		return take_list(r, value, take_size);
	case ACTIVATION:
		return take_list(r, value, take_activation);
	case DROPOUT:
		return take_list(r, value, take_dropout);
	case BATCH_NORM:
		is_valid = !strcmp(value, "0") || !strcmp(value, "1");
		r->out->batch_norm = *value == '1';
		return is_valid;
	case MOMENTUM:
		is_valid = read_number(value, 0, 1, &number) && number > 0;
		r->out->momentum = number;
		return is_valid;
	default:
		return read_number(value, 0, 1, &r->out->negative_slope);
	}
}

/* One "name=value"; `seen` has a bit for each setting. */
static tn_status take_setting(struct tn_runtime *rt, struct reading *r, char *text, uint32_t *seen)
{
	const char *names[N_SETTINGS];
	char *equals = strchr(text, '=');
	const char *value = equals ? equals + 1 : "";
	int setting = 0;
	if (equals)
		*equals = '\0';
	for (int i = 0; i < N_SETTINGS; i++)
		names[i] = settings[i].name;
	while (setting < N_SETTINGS && strcmp(names[setting], text) != 0)
		setting++;
	if (setting == N_SETTINGS) {
		const char *like = tn_name_nearest(text, names, N_SETTINGS);
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       like ? "mlp has no setting '%.40s'; did you mean '%s'?"
					    : "mlp has no setting '%.40s'; it has %s",
				       text,
				       like ? like
					    : "hidden-sizes, activation, dropout, batch-norm, "
					      "bn-momentum and negative-slope");
	}
	if (*seen >> setting & 1)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "mlp: %s: expected it once, found it twice", names[setting]);
	*seen |= 1u << setting;
	if (take_value(r, (enum setting)setting, value))
		return TN_OK;
	return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
			       "mlp: %s: expected %s, found '%.40s'", names[setting],
			       settings[setting].expected, value);
}

/* Refuses what changes nothing. */
static tn_status check_use(struct tn_runtime *rt, const struct tn_mlp_settings *out, uint32_t seen)
{
	int is_leaky = 0;
	for (size_t i = 0; i < out->n; i++)
		is_leaky |= out->activations[i] == TN_MLP_LEAKY_RELU;
	if (seen >> MOMENTUM & 1 && !out->batch_norm)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "mlp: bn-momentum: expected batch-norm too, found none");
	if (seen >> SLOPE & 1 && !is_leaky)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "mlp: negative-slope: expected the activation leaky_relu "
				       "too, found none");
	return TN_OK;
}

/* A single value is that of all layers. */
static tn_status spread(struct tn_runtime *rt, const struct reading *r)
{
	struct tn_mlp_settings *out = r->out;
	const size_t found[] = {r->n_activations, r->n_dropout};
	for (int i = 0; i < 2; i++) {
		if (found[i] > 1 && found[i] != out->n)
			return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
					       "mlp: %s: expected one value or one for each of %zu "
					       "hidden layers, found %zu",
					       settings[i ? DROPOUT : ACTIVATION].name, out->n,
					       found[i]);
	}
	for (size_t i = 1; i < out->n; i++) {
		if (r->n_activations == 1)
			out->activations[i] = out->activations[0];
		if (r->n_dropout == 1)
			out->dropout[i] = out->dropout[0];
	}
	return TN_OK;
}

tn_status tn_mlp_settings_read(tn_context *context, const char *text, struct tn_mlp_settings *out)
{
	struct tn_runtime *rt = tn_runtime_of(context);
	struct reading reading = {.out = out};
	uint32_t seen = 0;
	*out = (struct tn_mlp_settings){.n = 2, .sizes = {256, 128}, .negative_slope = 0.01};
	while (*text) {
		char part[512];
		const size_t length = strcspn(text, ":");
		if (length >= sizeof(part))
			return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
					       "mlp: expected settings of at most %zu bytes, found "
					       "%zu",
					       sizeof(part) - 1, length);
		memcpy(part, text, length);
		part[length] = '\0';
		tn_status status = take_setting(rt, &reading, part, &seen);
		if (status)
			return status;
		text += length + (text[length] == ':');
	}
	tn_status status = spread(rt, &reading);
	return status ? status : check_use(rt, out, seen);
}
