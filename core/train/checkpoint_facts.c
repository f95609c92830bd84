/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Collects version, backend, device, processor and determinism, and compares them with a file's.
 */
#include "train/checkpoint_facts.h"

#include <stdio.h>
#include <string.h>

#include <tenon/report.h>

#include "base/text.h"
#include "io/file.h"

static void set(struct tn_checkpoint_facts *facts, size_t i, const char *key, const char *value)
{
	facts->facts[i].key = key;
	snprintf(facts->facts[i].value, sizeof(facts->facts[i].value), "%s", value);
	tn_text_make_printable(facts->facts[i].value);
}

void tn_checkpoint_facts_get(const struct tn_runtime *runtime, const struct tn_device *device,
			     struct tn_checkpoint_facts *facts)
{
	const struct tn_device_description *description = &device->description;
	char backend[280], name[48];
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(device->name, ":"), device->name);
	const struct tn_load_row *row =
		tn_load_report_find(tn_context_report(runtime->context), name);
	snprintf(backend, sizeof(backend), "%s %.200s", name, row ? row->version : "");
	set(facts, 0, "tenon.version", tn_version());
	set(facts, 1, "tenon.backend", backend);
	set(facts, 2, "tenon.device", description->name);
	set(facts, 3, "tenon.processor", description->note);
	set(facts, 4, "tenon.deterministic", runtime->call_flags & TN_DETERMINISTIC ? "1" : "0");
}

void tn_checkpoint_facts_compare(const struct tn_checkpoint_facts *facts,
				 const tn_safetensors *file, const char *path,
				 const struct tn_logger *logger)
{
	struct tn_text text;
	tn_text_init(&text);
	for (size_t i = 0; i < TN_N_FACTS; i++) {
		const struct tn_checkpoint_fact *fact = &facts->facts[i];
		const char *found = tn_safetensors_metadata(file, fact->key);
		if (found && !strcmp(found, fact->value))
			continue;
		tn_text_format(&text, "%s%s was '%.100s', is '%.100s'", text.length ? "; " : "",
			       fact->key + strlen("tenon."), found ? found : "", fact->value);
	}
	if (text.length)
		tn_log_format(logger, TN_LOG_WARNING, "checkpoint",
			      "%s: the training continues with other rounding: %s",
			      tn_file_label(path), text.data);
	tn_text_release(&text);
}
