/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reads environment variables through secure_getenv, once each, and lists them with their help.
 */
#include "base/parameter.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/memory.h"

int tn_process_privileged(void)
{
	return getauxval(AT_SECURE) != 0;
}

int tn_parameters_privileged(const struct tn_parameters *parameters)
{
	return parameters->privileged < 0 ? tn_process_privileged() : parameters->privileged;
}

void tn_parameters_init(struct tn_parameters *parameters)
{
	memset(parameters, 0, sizeof(*parameters));
	parameters->privileged = -1;
	pthread_mutex_init(&parameters->mutex, NULL);
}

void tn_parameters_release(struct tn_parameters *parameters)
{
	for (size_t i = 0; i < parameters->n; i++) {
		tn_mem_free(parameters->list[i].name);
		tn_mem_free(parameters->list[i].help);
		tn_mem_free(parameters->list[i].value);
	}
	tn_mem_free(parameters->list);
	parameters->list = NULL;
	parameters->n = 0;
	pthread_mutex_destroy(&parameters->mutex);
}

/* Adds a row for a name that is read for the first time. */
static const char *read_locked(struct tn_parameters *parameters, const char *name, const char *help)
{
	for (size_t i = 0; i < parameters->n; i++) {
		if (!strcmp(parameters->list[i].name, name))
			return parameters->list[i].value;
	}
	struct tn_parameter *list =
		tn_mem_realloc(parameters->list, parameters->n + 1, sizeof(*list));
	if (!list) {
		parameters->failed = 1;
		return NULL;
	}
	parameters->list = list;
	if (parameters->privileged < 0)
		parameters->privileged = tn_process_privileged();
	struct tn_parameter *row = &list[parameters->n];
	/* When privileged, getenv only tests whether a variable is set; its value is never used. */
	row->ignored = parameters->privileged && getenv(name) != NULL;
	const char *value = parameters->privileged ? NULL : secure_getenv(name);
	row->name = tn_mem_copy_string(name);
	row->help = tn_mem_copy_string(help);
	row->value = tn_mem_copy_string(value);
	if (!row->name || !row->help || (value && !row->value)) {
		tn_mem_free(row->name);
		tn_mem_free(row->help);
		tn_mem_free(row->value);
		parameters->failed = 1;
		return NULL;
	}
	parameters->n++;
	return row->value;
}

const char *tn_parameter_read(struct tn_parameters *parameters, const char *name, const char *help)
{
	pthread_mutex_lock(&parameters->mutex);
	const char *value = read_locked(parameters, name, help);
	pthread_mutex_unlock(&parameters->mutex);
	return value;
}

int tn_parameter_at(const struct tn_parameters *parameters, size_t index, struct tn_parameter *row)
{
	/* Locking does not change the observable state. */
	pthread_mutex_t *mutex = (pthread_mutex_t *)(uintptr_t)&parameters->mutex;
	pthread_mutex_lock(mutex);
	int found = index < parameters->n;
	if (found)
		*row = parameters->list[index];
	pthread_mutex_unlock(mutex);
	return found;
}
