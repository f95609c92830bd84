/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * How pictures are prepared for published weights, against torchvision's and timm's presets.
 */
#include <string.h>
#include <tenon/tenon.h>

#include "check.h"
#include "record.h"

static void pictures_are_prepared_as_published(void **state)
{
	FILE *file = record_open("presets.txt");
	char line[256], name[64];
	struct tn_input_format format = {.struct_size = sizeof(format)}, expected;
	int n = 0;
	(void)state;
	assert_non_null(fgets(line, sizeof(line), file));
	assert_ok(tn_input_format_imagenet(&format, NULL));
	expected = format;
	while (fscanf(file, "%63s %u %u %u %f %f %f %f %f %f", name, &expected.resize,
		      &expected.height, &expected.interpolation, &expected.mean[0],
		      &expected.mean[1], &expected.mean[2], &expected.deviation[0],
		      &expected.deviation[1], &expected.deviation[2]) == 10) {
		expected.width = expected.height;
		expected.source_height = expected.source_width = expected.height;
		assert_ok(tn_model_input_format(name, &format, NULL));
		assert_memory_equal(&format, &expected, sizeof(format));
		n++;
	}
	assert_true(feof(file));
	assert_int_equal(n, 19);
	fclose(file);
}

/* Those of the gallery that are for ImageNet have a preset, in every form; others have none. */
static void networks_for_imagenet_have_a_preset(void **state)
{
	(void)state;
	const struct tn_model_info *info;
	for (size_t i = 0; (info = tn_model_at(i)); i++) {
		char name[64];
		struct tn_error_info error;
		struct tn_input_format format = tn_input_format_defaults();
		const tn_status expected = info->published.n_classes == 1000 ? TN_OK : TN_NOT_FOUND;
		snprintf(name, sizeof(name), "%s:small", info->name);
		assert_status(tn_model_input_format(info->name, &format, &error), expected);
		assert_status(tn_model_input_format(name, &format, &error), expected);
	}
}

static void what_is_not_known_is_an_error(void **state)
{
	(void)state;
	struct tn_error_info error;
	struct tn_input_format format = {.struct_size = sizeof(format)}, none = {0};
	assert_status(tn_model_input_format("resnet", &format, &error), TN_NOT_FOUND);
	assert_contains(error.text, "no published weights of 'resnet' are known");
	assert_int_equal(format.height, 0);
	assert_status(tn_model_input_format("resnet18", &none, &error), TN_INVALID_ARGUMENT);
	assert_contains(error.text, "struct_size");
	assert_status(tn_model_input_format(NULL, &format, &error), TN_INVALID_ARGUMENT);
	assert_status(tn_model_input_format("resnet18", NULL, &error), TN_INVALID_ARGUMENT);
	assert_contains(error.text, "found NULL for format");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pictures_are_prepared_as_published),
		cmocka_unit_test(networks_for_imagenet_have_a_preset),
		cmocka_unit_test(what_is_not_known_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
