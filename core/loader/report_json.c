/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The load report to JSON and back.  Writer and reader (the probe's helper program and its caller)
 * are of the same release, so the reader requires few members, but it trusts none.
 */
#include "loader/report_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <tenon/status.h>

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/memory.h"
#include "loader/kind.h"
#include "loader/report.h"
#include "loader/report_pairs.h"

/* ---- Members ---------------------------------------------------------------------------------*/

/* FIELD is a string of a row, TEXT an array of char, BOUND a double that may be infinite; CODE is a
 * status; FOUND, STAGE and the TYPE of an option are written by name. */
enum member_type { U32, I32, I64, U64, FIELD, TEXT, IDENTITY, CODE, FOUND, STAGE, TYPE, BOUND };

struct member {
	const char *key;
	enum member_type type;
	size_t offset;
	size_t size;
};

#define OF_DEVICE(member)                                                                          \
	offsetof(struct tn_device_description, member),                                            \
		sizeof(((struct tn_device_description *)0)->member)
#define OF_OPTION(member)                                                                          \
	offsetof(struct tn_load_option, member), sizeof(((struct tn_load_option *)0)->member)
#define OF_ROW(member)                                                                             \
	offsetof(struct tn_load_row, member), sizeof(((struct tn_load_row *)0)->member)

/* In the order in which they are written. */
static const struct member device_members[] = {
	{"kind", U32, OF_DEVICE(kind)},
	{"name", TEXT, OF_DEVICE(name)},
	{"flags", U32, OF_DEVICE(flags)},
	{"score", I32, OF_DEVICE(score)},
	{"memory_bytes", U64, OF_DEVICE(memory_bytes)},
	{"max_alloc_bytes", U64, OF_DEVICE(max_alloc_bytes)},
	{"identity_type", U32, OF_DEVICE(identity_type)},
	{"storage_dtypes", U64, OF_DEVICE(storage_dtypes)},
	{"identity", IDENTITY, OF_DEVICE(identity)},
	{"identity2_type", U32, OF_DEVICE(identity2_type)},
	{"identity2", IDENTITY, OF_DEVICE(identity2)},
	{"slice", U32, OF_DEVICE(slice)},
	{"note", TEXT, OF_DEVICE(note)},
};

static const struct member option_members[] = {
	{"name", FIELD, OF_OPTION(name)},        {"type", TYPE, OF_OPTION(type)},
	{"default", FIELD, OF_OPTION(standard)}, {"value", FIELD, OF_OPTION(value)},
	{"origin", FIELD, OF_OPTION(origin)},    {"variable", FIELD, OF_OPTION(variable)},
	{"choices", FIELD, OF_OPTION(choices)},  {"least", BOUND, OF_OPTION(least)},
	{"most", BOUND, OF_OPTION(most)},        {"help", FIELD, OF_OPTION(help)},
};

/* Those that are read. */
static const struct member row_members[] = {
	{"name", FIELD, OF_ROW(name)},
	{"code", CODE, OF_ROW(status)},
	{"found", FOUND, OF_ROW(found)},
	{"stage", STAGE, OF_ROW(stage)},
	{"path", FIELD, OF_ROW(path)},
	{"text", FIELD, OF_ROW(text)},
	{"native_code", I64, OF_ROW(native_code)},
	{"version", FIELD, OF_ROW(version)},
	{"abi_effective", U32, OF_ROW(abi_effective)},
	{"microseconds", U64, OF_ROW(microseconds)},
};

#define N_MEMBERS(members) (sizeof(members) / sizeof((members)[0]))

/* ---- Writing ---------------------------------------------------------------------------------*/

/* JSON readers have signed 64-bit integers. */
static void add_unsigned(struct tn_json_writer *json, const char *key, uint64_t value)
{
	tn_json_add_unsigned(json, key, value > INT64_MAX ? INT64_MAX : value);
}

/* 16 bytes as 32 hexadecimal digits. */
static void add_identity(struct tn_json_writer *json, const char *key, const uint8_t *bytes)
{
	char text[33];
	for (size_t i = 0; i < 16; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	tn_json_add_string(json, key, text);
}

/* Left out where there is none. */
static void add_bound(struct tn_json_writer *json, const char *key, double bound)
{
	if (isfinite(bound))
		tn_json_add_number(json, key, bound, 15);
}

/* A member of a device or an option. */
static void add_member(struct tn_json_writer *json, const struct member *member, const void *at)
{
	switch (member->type) {
	case U32:
		tn_json_add_unsigned(json, member->key, *(const uint32_t *)at);
		break;
	case I32:
		tn_json_add_integer(json, member->key, *(const int32_t *)at);
		break;
	case U64:
		add_unsigned(json, member->key, *(const uint64_t *)at);
		break;
	case TEXT:
		tn_json_add_string(json, member->key, at);
		break;
	case FIELD:
		tn_json_add_string(json, member->key, *(const char *const *)at);
		break;
	case TYPE:
		tn_json_add_string(json, member->key, tn_option_type_name(*(const uint32_t *)at));
		break;
	case BOUND:
		add_bound(json, member->key, *(const double *)at);
		break;
	default:
		add_identity(json, member->key, at);
		break;
	}
}

static void add_device(struct tn_json_writer *json, const tn_load_report *report,
		       const struct tn_load_row *row, uint32_t i)
{
	struct tn_report_pair pairs[TN_MOST_PAIRS];
	size_t n = tn_report_pairs(report, row, i, pairs, TN_MOST_PAIRS);
	char name[512];
	tn_json_begin_object(json, NULL);
	for (size_t k = 0; k < N_MEMBERS(device_members); k++)
		add_member(json, &device_members[k],
			   (const char *)row->devices[i] + device_members[k].offset);
	/* ["cuda:0"]: the device's other names. */
	tn_json_begin_array(json, "same_device_as");
	for (size_t k = 0; k < n; k++) {
		snprintf(name, sizeof(name), "%s:%u", pairs[k].row->name, pairs[k].device);
		tn_json_add_string(json, NULL, name);
	}
	tn_json_end(json);
	tn_json_end(json);
}

static void add_option(struct tn_json_writer *json, const struct tn_load_option *option)
{
	tn_json_begin_object(json, NULL);
	for (size_t k = 0; k < N_MEMBERS(option_members); k++)
		add_member(json, &option_members[k],
			   (const char *)option + option_members[k].offset);
	tn_json_end(json);
}

static void add_row(struct tn_json_writer *json, const tn_load_report *report,
		    const struct tn_load_row *row)
{
	tn_json_begin_object(json, NULL);
	tn_json_add_string(json, "name", row->name);
	tn_json_add_string(json, "status", tn_status_name(row->status));
	tn_json_add_integer(json, "code", row->status);
	tn_json_add_string(json, "found", tn_found_name(row->found));
	tn_json_add_string(json, "stage", tn_stage_name(row->stage));
	tn_json_add_string(json, "path", row->path);
	tn_json_add_string(json, "text", row->text);
	tn_json_add_integer(json, "native_code", row->native_code);
	tn_json_add_string(json, "version", row->version);
	tn_json_begin_array(json, "abi");
	tn_json_add_unsigned(json, NULL, row->abi_major);
	tn_json_add_unsigned(json, NULL, row->abi_minor);
	tn_json_end(json);
	tn_json_add_unsigned(json, "abi_effective", row->abi_effective);
	add_unsigned(json, "microseconds", row->microseconds);
	tn_json_begin_array(json, "devices");
	for (uint32_t i = 0; i < row->n_devices; i++)
		add_device(json, report, row, i);
	tn_json_end(json);
	tn_json_begin_array(json, "options");
	for (uint32_t i = 0; i < row->n_options; i++)
		add_option(json, row->options[i]);
	tn_json_end(json);
	tn_json_add_string(json, "hardware", row->hardware);
	tn_json_add_string(json, "packages", row->packages);
	tn_json_add_bool(json, "hardware_seen", (int)row->hardware_seen);
	tn_json_add_bool(json, "selected", (int)row->selected);
	tn_json_add_unsigned(json, "selected_device", row->selected_device);
	tn_json_end(json);
}

static const char *key_of_rows(const struct tn_plugin_kind *kind)
{
	return kind == &tn_communicator_kind ? "communicators" : "backends";
}

const char *tn_load_report_json(const tn_load_report *constant)
{
	tn_load_report *report = (tn_load_report *)constant; /* as in report_text.c */
	struct tn_json_writer json;
	if (!tn_report_is_usable(report, "load_report_json"))
		return NULL;
	if (report->json)
		return report->json;
	tn_json_writer_init(&json, TN_JSON_INDENTED);
	tn_json_begin_object(&json, NULL);
	tn_json_add_string(&json, "version", tn_version());
	tn_json_add_string(&json, "selection", report->selection);
	tn_json_add_bool(&json, "fell_back", report->fell_back);
	tn_json_begin_array(&json, "notices");
	for (size_t i = 0; i < report->n_notices; i++)
		tn_json_add_string(&json, NULL, report->notices[i]);
	tn_json_end(&json);
	tn_json_begin_array(&json, key_of_rows(report->kind));
	for (size_t i = 0; i < report->n_rows; i++)
		add_row(&json, report, report->rows[i]);
	tn_json_end(&json);
	tn_json_end(&json);
	report->json = tn_json_writer_take(&json);
	return report->json;
}

/* ---- Reading ---------------------------------------------------------------------------------*/

/* Takes the value of a member.  0: it is malformed, or there is no memory, here and below. */
typedef int (*take_value)(struct tn_json_reader *json, const char *key, void *target);

/* Takes an object, or an array, whose items have an empty key. */
static int take_items(struct tn_json_reader *json, char open, take_value take, void *target)
{
	const char close = open == '{' ? '}' : ']';
	char *key = (char[]){""};
	int more = 1;
	if (tn_json_take(json, open, "a bracket", NULL))
		return 0;
	for (size_t n = 0;; n++) {
		if (tn_json_more(json, close, n, &more, NULL))
			return 0;
		if (!more)
			return 1;
		if ((open == '{' && tn_json_key(json, &key, NULL)) || !take(json, key, target))
			return 0;
	}
}

static int skip(struct tn_json_reader *json)
{
	return !tn_json_skip(json, NULL);
}

/* A number; 0 if the value is another. */
static int take_integer(struct tn_json_reader *json, int64_t *number)
{
	*number = 0;
	if (!strchr("-0123456789", tn_json_peek(json)))
		return skip(json);
	return !tn_json_integer(json, number, NULL);
}

/* A number from 0 to `last`, else 0. */
static int take_number(struct tn_json_reader *json, uint64_t last, uint64_t *number)
{
	int64_t value;
	int done = take_integer(json, &value);
	*number = value < 0 || (uint64_t)value > last ? 0 : (uint64_t)value;
	return done;
}

static int take_u32(struct tn_json_reader *json, uint32_t *number)
{
	uint64_t value;
	int done = take_number(json, UINT32_MAX, &value);
	*number = (uint32_t)value;
	return done;
}

/* A string in the text; NULL if the value is another. */
static int take_string(struct tn_json_reader *json, char **string)
{
	*string = NULL;
	if (tn_json_peek(json) != '"')
		return skip(json);
	return !tn_json_string(json, string, NULL);
}

/* A string of a row. */
static int take_field(struct tn_json_reader *json, const char **field)
{
	char *string;
	return take_string(json, &string) && (!string || tn_report_set(field, string));
}

/* The position of a name in a list of names, else 0. */
static int take_position(struct tn_json_reader *json, const char *(*name)(uint32_t), uint32_t last,
			 uint32_t *position)
{
	char *string;
	int done = take_string(json, &string);
	*position = 0;
	for (uint32_t i = 0; string && i <= last; i++) {
		if (!strcmp(string, name(i)))
			*position = i;
	}
	return done;
}

static void read_identity(uint8_t *identity, const char *text)
{
	for (size_t i = 0; i < 16 && strlen(text) == 32; i++)
		sscanf(text + 2 * i, "%2hhx", &identity[i]);
}

/* A bound of an option; a value that is no number leaves it as it is. */
static int take_bound(struct tn_json_reader *json, double *bound)
{
	if (!strchr("-0123456789", tn_json_peek(json)))
		return skip(json);
	return !tn_json_number(json, bound, NULL);
}

/* A text of a device. */
static int take_text(struct tn_json_reader *json, const struct member *member, void *at)
{
	char *string;
	int done = take_string(json, &string);
	if (string && member->type == TEXT)
		snprintf(at, member->size, "%s", string);
	else if (string)
		read_identity(at, string);
	return done;
}

/* A number that is narrower in the struct. */
static int take_narrow(struct tn_json_reader *json, const struct member *member, void *at)
{
	int64_t number;
	int done = take_integer(json, &number);
	if (member->type == I32)
		*(int32_t *)at = (int32_t)number;
	else
		*(tn_status *)at = number < 0 || number > INT32_MAX ? TN_OK : (tn_status)number;
	return done;
}

static int take_member(struct tn_json_reader *json, const struct member *member, void *at)
{
	switch (member->type) {
	case U32:
		return take_u32(json, at);
	case U64:
		return take_number(json, INT64_MAX, at);
	case I64:
		return take_integer(json, at);
	case FIELD:
		return take_field(json, at);
	case FOUND:
		return take_position(json, tn_found_name, TN_FOUND_REGISTERED, at);
	case STAGE:
		return take_position(json, tn_stage_name, TN_STAGE_READY, at);
	case TYPE:
		return take_position(json, tn_option_type_name, TN_OPTION_TEXT, at);
	case BOUND:
		return take_bound(json, at);
	case TEXT:
	case IDENTITY:
		return take_text(json, member, at);
	default:
		return take_narrow(json, member, at);
	}
}

/* The value of the member of that name; others are skipped. */
static int take_one_of(struct tn_json_reader *json, const struct member *members, size_t n,
		       const char *key, void *target)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(key, members[i].key))
			return take_member(json, &members[i], (char *)target + members[i].offset);
	}
	return skip(json);
}

static int take_device_value(struct tn_json_reader *json, const char *key, void *device)
{
	return take_one_of(json, device_members, N_MEMBERS(device_members), key, device);
}

struct device_list {
	struct tn_device_description *devices;
	uint32_t n;
};

static int take_device(struct tn_json_reader *json, const char *key, void *target)
{
	struct device_list *list = target;
	struct tn_device_description *more =
		tn_mem_realloc(list->devices, (size_t)list->n + 1, sizeof(*more));
	(void)key;
	if (!more)
		return 0;
	list->devices = more;
	struct tn_device_description *device = &more[list->n++];
	*device = (struct tn_device_description){.struct_size = sizeof(*device)};
	return take_items(json, '{', take_device_value, device);
}

static int take_devices(struct tn_json_reader *json, struct tn_load_row *row)
{
	struct device_list list = {NULL, 0};
	int done = take_items(json, '[', take_device, &list) &&
		   tn_report_set_devices(row, list.devices, list.n);
	tn_mem_free(list.devices);
	return done;
}

static int take_option_value(struct tn_json_reader *json, const char *key, void *option)
{
	return take_one_of(json, option_members, N_MEMBERS(option_members), key, option);
}

static int take_option(struct tn_json_reader *json, const char *key, void *row)
{
	struct tn_load_option *option = tn_report_add_option(row);
	(void)key;
	return option && take_items(json, '{', take_option_value, option);
}

/* [major, minor]. */
static int take_abi(struct tn_json_reader *json, struct tn_load_row *row)
{
	return !tn_json_take(json, '[', "'['", NULL) && take_u32(json, &row->abi_major) &&
	       !tn_json_take(json, ',', "','", NULL) && take_u32(json, &row->abi_minor) &&
	       !tn_json_take(json, ']', "']'", NULL);
}

static int take_row_value(struct tn_json_reader *json, const char *key, void *row)
{
	if (!strcmp(key, "abi"))
		return take_abi(json, row);
	if (!strcmp(key, "devices"))
		return take_devices(json, row);
	if (!strcmp(key, "options"))
		return take_items(json, '[', take_option, row);
	return take_one_of(json, row_members, N_MEMBERS(row_members), key, row);
}

/* A row has a name. */
static int take_row(struct tn_json_reader *json, const char *key, void *report)
{
	struct tn_load_row *row = tn_report_add(report, "");
	(void)key;
	return row && take_items(json, '{', take_row_value, row) && *row->name;
}

struct reading {
	struct tn_load_report *report;
	int has_rows;
};

static int take_report_value(struct tn_json_reader *json, const char *key, void *target)
{
	struct reading *reading = target;
	struct tn_load_report *report = reading->report;
	int is_backends = !strcmp(key, key_of_rows(&tn_backend_kind));
	if (!strcmp(key, "selection")) {
		const char *selection = report->selection;
		int done = take_field(json, &selection);
		report->selection = (char *)selection;
		return done;
	}
	if (!is_backends && strcmp(key, key_of_rows(&tn_communicator_kind)) != 0)
		return skip(json);
	if (reading->has_rows)
		return 0;
	reading->has_rows = 1;
	report->kind = is_backends ? &tn_backend_kind : &tn_communicator_kind;
	return take_items(json, '[', take_row, report);
}

struct tn_load_report *tn_report_from_json(const char *text, size_t length)
{
	/* The reader modifies the text. */
	char *copy = tn_mem_alloc(length + 1);
	struct reading reading = {tn_report_create(&tn_backend_kind, "auto"), 0};
	struct tn_json_reader json = {
		.text = copy, .size = length, .operation = "load_report", .where = "the report"};
	if (copy)
		memcpy(copy, text, length);
	int done = copy && reading.report && take_items(&json, '{', take_report_value, &reading) &&
		   reading.has_rows && !tn_json_finish(&json, NULL);
	tn_mem_free(copy);
	if (!done) {
		tn_load_report_destroy(reading.report);
		return NULL;
	}
	return reading.report;
}
