/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Builds the JSON objects of `tenon doctor --json`.
 */
#include "doctor.h"
#include "info.h"

static json_t *lines(const struct doctor_device *device)
{
	struct tn_report_line line;
	json_t *list = json_array();
	for (size_t i = 0; !tn_device_report_at(device->device, i, &line); i++)
		json_array_append_new(list, json_pack("{s:o, s:o}", "key", printable_json(line.key),
						      "text", printable_json(line.text)));
	return list;
}

static json_t *memory_of(const struct doctor_device *device)
{
	struct tn_memory_information memory;
	if (tn_device_get_memory_information(device->device, &memory))
		return json_null();
	return json_pack("{s:I, s:I}", "total_bytes", (json_int_t)memory.total_bytes, "free_bytes",
			 (json_int_t)memory.free_bytes);
}

static json_t *number_or_null(double value, int is_there)
{
	return is_there ? json_real(value) : json_null();
}

static json_t *result_of(const struct doctor_result *result)
{
	static const char *const states[] = {"passed", "failed", "skipped"};
	int has_rate = result->rate > 0;
	return json_pack("{s:s, s:s, s:I, s:s, s:o, s:f, s:o, s:o, s:o}", "check",
			 result->check->name, "state", states[result->state], "cases",
			 (json_int_t)result->cases, "where", result->where, "of_bound",
			 number_or_null(result->worst, result->worst >= 0), "seconds",
			 result->seconds, "rate", number_or_null(result->rate, has_rate), "unit",
			 has_rate ? json_string(result->unit) : json_null(), "reason",
			 result->reason[0] ? printable_json(result->reason) : json_null());
}

static json_t *results_of(const struct doctor_device *device)
{
	json_t *list = json_array();
	for (size_t i = 0; i < device->n_results; i++)
		json_array_append_new(list, result_of(&device->results[i]));
	return list;
}

int doctor_json_device(const struct doctor_device *device, void *json_devices)
{
	const struct tn_device_description *d = device->description;
	json_t *value = json_pack(
		"{s:s, s:o, s:o, s:s, s:o, s:o, s:I, s:I, s:I, s:f, s:o}", "device", device->name,
		"name", printable_json(d->name), "note", printable_json(d->note), "f32_computed_in",
		tn_dtype_name(doctor_compute_dtype(doctor_accuracy(d, TN_FAMILY_CONV))), "memory",
		memory_of(device), "report", lines(device), "passed",
		(json_int_t)device->counts[DOCTOR_PASSED], "failed",
		(json_int_t)device->counts[DOCTOR_FAILED], "skipped",
		(json_int_t)device->counts[DOCTOR_SKIPPED], "seconds", device->seconds, "checks",
		results_of(device));
	return value && !json_array_append_new(json_devices, value);
}
