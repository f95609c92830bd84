/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The options that a plugin declares: the loader has checked the rows; here instances are made with
 * values of the program.
 */
#include <stdio.h>
#include <string.h>

#include "file.h"
#include "frame.h"

/* The outcome of making an instance with one value. */
struct outcome {
	tn_status status;
	uint32_t stage;
	char text[512];
};

static void load_with(struct kit *kit, const struct tn_pair *pair, struct outcome *outcome)
{
	struct target target;
	target_load_with(&target, kit, pair);
	outcome->status = target.status;
	outcome->stage = target.stage;
	snprintf(outcome->text, sizeof(outcome->text), "%s", target.text);
	target_unload(&target);
}

/* With a value that the row takes, `create` does as without, or says which option is wrong. */
static void expect_taken(struct kit *kit, const struct tn_pair *pair, const struct outcome *plain)
{
	struct outcome found;
	const char *name = strchr(pair->key, '.') + 1;
	load_with(kit, pair, &found);
	kit_case(kit, KIT_FILE, "%s=%.40s", pair->key, pair->value);
	if (found.status != plain->status && !strstr(found.text, name))
		kit_fail(kit, "%s, and the text does not name the option: '%s'",
			 tn_status_name(found.status), found.text);
	kit_pass(kit);
}

/* A value that the row excludes does not get as far as `create`. */
static void expect_refused(struct kit *kit, const struct tn_pair *pair)
{
	struct outcome found;
	load_with(kit, pair, &found);
	kit_case(kit, KIT_FILE, "%s=%.40s", pair->key, pair->value);
	if (found.status != TN_INVALID_ARGUMENT || !strstr(found.text, pair->key))
		kit_fail(kit, "%s: '%s': expected INVALID_ARGUMENT, and the option's name",
			 tn_status_name(found.status), found.text);
	kit_pass(kit);
}

static void try_choices(struct kit *kit, const char *key, const struct tn_load_option *option,
			const struct outcome *plain)
{
	char value[32];
	for (const char *at = option->choices; *at; at += strspn(at, ",")) {
		const size_t length = strcspn(at, ",");
		snprintf(value, sizeof(value), "%.*s", (int)length, at);
		expect_taken(kit, &(struct tn_pair){key, value}, plain);
		at += length;
	}
}

static void try_option(struct kit *kit, const char *backend, const struct tn_load_option *option,
		       const struct outcome *plain)
{
	char key[96];
	snprintf(key, sizeof(key), "%s.%s", backend, option->name);
	if (option->type == TN_OPTION_CHOICE)
		try_choices(kit, key, option, plain);
	else if (option->standard[0])
		expect_taken(kit, &(struct tn_pair){key, option->standard}, plain);
	if (option->type == TN_OPTION_BOOL) {
		expect_taken(kit, &(struct tn_pair){key, "0"}, plain);
		expect_taken(kit, &(struct tn_pair){key, "1"}, plain);
	}
	if (option->type != TN_OPTION_TEXT)
		expect_refused(kit, &(struct tn_pair){key, "?"});
}

static const struct tn_load_row *own_row(const struct target *target)
{
	for (size_t i = 0; i < tn_load_report_count(target->report); i++) {
		const struct tn_load_row *row = tn_load_report_at(target->report, i);
		if (row->found == TN_FOUND_API)
			return row;
	}
	return NULL;
}

void check_file_options(struct kit *kit)
{
	struct target target;
	struct outcome plain;
	if (file_is_built_in(kit))
		return;
	load_with(kit, NULL, &plain);
	kit_case(kit, KIT_FILE, "the rows");
	if (plain.status && plain.stage == TN_STAGE_DESCRIBE)
		kit_fail(kit, "%s", plain.text);
	if (plain.status && plain.stage < TN_STAGE_CREATE)
		return kit_skip(kit, "it does not load here");
	kit_pass(kit);
	target_load(&target, kit, NULL);
	const struct tn_load_row *row = own_row(&target);
	for (uint32_t i = 0; row && i < row->n_options; i++)
		try_option(kit, row->name, row->options[i], &plain);
	target_unload(&target);
}
