/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The load report to JSON and back.  Writer and reader (the probe's helper program and its caller)
 * are of the same release, so the reader requires few members, but it trusts none.
 */
#include "loader/report_json.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include <tenon/status.h>

#include "base/memory.h"
#include "loader/kind.h"
#include "loader/report.h"
#include "loader/report_pairs.h"

/* json_string of a text cleaned by tn_report_set; jansson accepts only UTF-8. */
static json_t *string(const char *text)
{
	return text ? json_string(text) : json_null();
}

/* JSON readers have signed 64-bit integers. */
static json_int_t clamped(uint64_t value)
{
	return value > INT64_MAX ? INT64_MAX : (json_int_t)value;
}

/* 16 bytes as 32 hexadecimal digits. */
static json_t *hex(const uint8_t *bytes)
{
	char text[33];
	for (size_t i = 0; i < 16; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	return json_string(text);
}

static json_t *device_to_json(const tn_load_report *report, const struct tn_load_row *row,
			      uint32_t i)
{
	const struct tn_device_description *device = &row->devices[i];
	/* ["cuda:0"]: the device's other names. */
	struct tn_report_pair pairs[TN_MOST_PAIRS];
	size_t n = tn_report_pairs(report, row, i, pairs, TN_MOST_PAIRS);
	json_t *names = json_array();
	for (size_t j = 0; j < n; j++)
		json_array_append_new(names,
				      json_sprintf("%s:%u", pairs[j].row->name, pairs[j].device));
	return json_pack("{s:I, s:o, s:I, s:i, s:I, s:I, s:i, s:I, s:o, s:i, s:o, s:I, s:o, s:o}",
			 "kind", (json_int_t)device->kind, "name", string(device->name), "flags",
			 (json_int_t)device->flags, "score", (int)device->score, "memory_bytes",
			 clamped(device->memory_bytes), "max_alloc_bytes",
			 clamped(device->max_alloc_bytes), "identity_type",
			 (int)device->identity_type, "storage_dtypes",
			 clamped(device->storage_dtypes), "identity", hex(device->identity),
			 "identity2_type", (int)device->identity2_type, "identity2",
			 hex(device->identity2), "slice", (json_int_t)device->slice, "note",
			 string(device->note), "same_device_as", names);
}

static json_t *row_to_json(const tn_load_report *report, const struct tn_load_row *row)
{
	json_t *devices = json_array();
	for (uint32_t i = 0; i < row->n_devices; i++)
		json_array_append_new(devices, device_to_json(report, row, i));
	return json_pack(
		"{s:o, s:s, s:i, s:s, s:s, s:o, s:o, s:I, s:o, s:[I,I], s:I, s:I, s:o, s:o, s:o, "
		"s:b, s:b, s:I}",
		"name", string(row->name), "status", tn_status_name(row->status), "code",
		(int)row->status, "found", tn_found_name(row->found), "stage",
		tn_stage_name(row->stage), "path", string(row->path), "text", string(row->text),
		"native_code", (json_int_t)row->native_code, "version", string(row->version), "abi",
		(json_int_t)row->abi_major, (json_int_t)row->abi_minor, "abi_effective",
		(json_int_t)row->abi_effective, "microseconds", clamped(row->microseconds),
		"devices", devices, "hardware", string(row->hardware), "packages",
		string(row->packages), "hardware_seen", (int)row->hardware_seen, "selected",
		(int)row->selected, "selected_device", (json_int_t)row->selected_device);
}

static const char *key_of_rows(const struct tn_plugin_kind *kind)
{
	return kind == &tn_communicator_kind ? "communicators" : "backends";
}

const char *tn_load_report_json(const tn_load_report *constant)
{
	tn_load_report *report = (tn_load_report *)constant; /* as in report_text.c */
	if (!report || report->json)
		return report ? report->json : NULL;
	json_t *rows = json_array();
	json_t *notices = json_array();
	for (size_t i = 0; i < report->n_rows; i++)
		json_array_append_new(rows, row_to_json(report, report->rows[i]));
	for (size_t i = 0; i < report->n_notices; i++)
		json_array_append_new(notices, string(report->notices[i]));
	json_t *root = json_pack("{s:s, s:s, s:b, s:o, s:o}", "version", tn_version(), "selection",
				 report->selection, "fell_back", report->fell_back, "notices",
				 notices, key_of_rows(report->kind), rows);
	if (!root)
		return NULL;
	/* Copied to the library's memory, so that the caller needs only one way to free it. */
	size_t length = json_dumpb(root, NULL, 0, JSON_INDENT(2));
	char *text = tn_mem_alloc(length + 1);
	if (text && json_dumpb(root, text, length, JSON_INDENT(2)) == length && length) {
		text[length] = '\0';
		report->json = text;
	} else {
		tn_mem_free(text);
	}
	json_decref(root);
	return report->json;
}

/* A number from 0 to `last`, else 0. */
static uint64_t number(const json_t *object, const char *key, uint64_t last)
{
	json_int_t value = json_integer_value(json_object_get(object, key));
	return value < 0 || (uint64_t)value > last ? 0 : (uint64_t)value;
}

static void copy_text(char *field, size_t size, const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	snprintf(field, size, "%s", text ? text : "");
}

static void copy_identity(uint8_t identity[16], const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	for (size_t i = 0; text && i < 16 && strlen(text) == 32; i++)
		sscanf(text + 2 * i, "%2hhx", &identity[i]);
}

/* The position of a name in a list of names, else 0. */
static uint32_t position(const json_t *object, const char *key, const char *(*name)(uint32_t),
			 uint32_t last)
{
	const char *text = json_string_value(json_object_get(object, key));
	for (uint32_t i = 0; text && i <= last; i++) {
		if (!strcmp(text, name(i)))
			return i;
	}
	return 0;
}

static int devices_from_json(struct tn_load_row *row, const json_t *devices)
{
	size_t n = json_array_size(devices);
	if (!n)
		return 1;
	struct tn_device_description *list = tn_mem_zeroed(n, sizeof(*list));
	if (!list)
		return 0;
	for (size_t i = 0; i < n; i++) {
		const json_t *object = json_array_get(devices, i);
		struct tn_device_description *device = &list[i];
		*device = (struct tn_device_description){
			.struct_size = sizeof(*device),
			.kind = (uint32_t)number(object, "kind", UINT32_MAX),
			.flags = (uint32_t)number(object, "flags", UINT32_MAX),
			.score = (int32_t)json_integer_value(json_object_get(object, "score")),
			.memory_bytes = number(object, "memory_bytes", INT64_MAX),
			.max_alloc_bytes = number(object, "max_alloc_bytes", INT64_MAX),
			.storage_dtypes = number(object, "storage_dtypes", INT64_MAX),
			.identity_type = (uint32_t)number(object, "identity_type", UINT32_MAX),
			.identity2_type = (uint32_t)number(object, "identity2_type", UINT32_MAX),
			.slice = (uint32_t)number(object, "slice", UINT32_MAX),
		};
		copy_text(device->name, sizeof(device->name), object, "name");
		copy_text(device->note, sizeof(device->note), object, "note");
		copy_identity(device->identity, object, "identity");
		copy_identity(device->identity2, object, "identity2");
	}
	int done = tn_report_set_devices(row, list, (uint32_t)n);
	tn_mem_free(list);
	return done;
}

static int row_from_json(struct tn_load_report *report, const json_t *object)
{
	const char *name = json_string_value(json_object_get(object, "name"));
	const char *path = json_string_value(json_object_get(object, "path"));
	struct tn_load_row *row = name ? tn_report_add(report, name) : NULL;
	if (!row)
		return 0;
	const json_t *abi = json_object_get(object, "abi");
	row->status = (tn_status)number(object, "code", INT32_MAX);
	row->found = position(object, "found", tn_found_name, TN_FOUND_INSTALLED);
	row->stage = position(object, "stage", tn_stage_name, TN_STAGE_READY);
	row->native_code = json_integer_value(json_object_get(object, "native_code"));
	row->abi_major = (uint32_t)json_integer_value(json_array_get(abi, 0));
	row->abi_minor = (uint32_t)json_integer_value(json_array_get(abi, 1));
	row->abi_effective = (uint32_t)number(object, "abi_effective", UINT32_MAX);
	row->microseconds = number(object, "microseconds", INT64_MAX);
	return (!path || tn_report_set(&row->path, path)) &&
	       tn_report_set(&row->text, json_string_value(json_object_get(object, "text"))) &&
	       tn_report_set(&row->version,
			     json_string_value(json_object_get(object, "version"))) &&
	       devices_from_json(row, json_object_get(object, "devices"));
}

struct tn_load_report *tn_report_from_json(const char *text, size_t length)
{
	json_t *root = json_loadb(text, length, 0, NULL);
	const char *selection = json_string_value(json_object_get(root, "selection"));
	const struct tn_plugin_kind *kind =
		json_object_get(root, key_of_rows(&tn_communicator_kind)) ? &tn_communicator_kind
									  : &tn_backend_kind;
	struct tn_load_report *report = tn_report_create(kind, selection ? selection : "auto");
	const json_t *rows = json_object_get(root, key_of_rows(kind));
	int done = report && json_is_array(rows);
	for (size_t i = 0; done && i < json_array_size(rows); i++)
		done = row_from_json(report, json_array_get(rows, i));
	json_decref(root);
	if (!done) {
		tn_load_report_destroy(report);
		return NULL;
	}
	return report;
}
