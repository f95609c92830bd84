/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Colours, rotation, padding and resized crops against recorded torchvision numbers, with the
 * parameters given.
 *
 * Recorded values lie in 0 to 1.  Of an f32 result: brightness, contrast and saturation round a few
 * times, each by at most 2^-24; hue divides by the range of a pixel's values, at least 1/64 in the
 * record, and multiplies by 6.
 */
#include "record.h"

#include <tenon/tenon.h>

#include "check.h"
#include "data/augment_colour.h"
#include "data/augment_geometry.h"

static const double exact = 0;
static const double rounded = 4 * 0x1p-24;
static const double hue_rounded = 64 * 0x1p-24;

static float *copy_of(const struct record_array *array)
{
	float *copy = malloc(array->count * sizeof(*copy));
	assert_non_null(copy);
	for (size_t i = 0; i < array->count; i++)
		copy[i] = (float)array->values[i];
	return copy;
}

static void compare(const struct record *record, const float *found, double tolerance)
{
	const struct record_array *y = record_array(record, "y");
	for (size_t i = 0; i < y->count; i++) {
		if (fabs((double)found[i] - y->values[i]) > tolerance)
			print_error("%s, value %zu\n", record->layer, i);
		assert_close(found[i], y->values[i], tolerance);
	}
}

/* 1: the case is one of a colour. */
static int adjusts_colour(const struct record *record)
{
	static const struct {
		const char *name;
		void (*adjust)(float *image, uint32_t channels, size_t n, float number);
		const double *tolerance;
	} colours[] = {
		{"brightness", tn_adjust_brightness, &rounded},
		{"contrast", tn_adjust_contrast, &rounded},
		{"saturation", tn_adjust_saturation, &rounded},
		{"hue", tn_adjust_hue, &hue_rounded},
	};
	const struct record_array *x = record_array(record, "x");
	for (size_t i = 0; i < sizeof(colours) / sizeof(colours[0]); i++) {
		if (strcmp(record->layer, colours[i].name))
			continue;
		float *image = copy_of(x);
		colours[i].adjust(image, (uint32_t)x->shape[0], (size_t)(x->shape[1] * x->shape[2]),
				  (float)record_array(record, "number")->values[0]);
		compare(record, image, *colours[i].tolerance);
		free(image);
		return 1;
	}
	return 0;
}

static void moves_pixels(const struct record *record)
{
	const struct record_array *x = record_array(record, "x");
	const struct tn_augment_images images = {.channels = (uint32_t)x->shape[0],
						 .height = (uint32_t)x->shape[1],
						 .width = (uint32_t)x->shape[2]};
	struct tn_augment_plan plan;
	assert_ok(tn_augment_plan_take(&plan, NULL, &images, NULL));
	float *image = copy_of(x);
	float *scratch = malloc(tn_augment_scratch(&plan) * sizeof(*scratch));
	assert_non_null(scratch);
	struct tn_canvas canvas = tn_canvas_of(&plan, image, scratch);
	double tolerance = exact;
	if (!strcmp(record->layer, "rotate")) {
		int bilinear = record_ints(record, "bilinear")[0] != 0;
		tn_canvas_rotate(&canvas, record_array(record, "number")->values[0], bilinear,
				 TN_PADDING_CONSTANT);
		tolerance = bilinear ? rounded : exact;
	} else if (!strcmp(record->layer, "resized_crop")) {
		const int64_t *area = record_ints(record, "area");
		tn_canvas_enlarge(&canvas, (uint32_t)area[0], (uint32_t)area[1], (uint32_t)area[2],
				  (uint32_t)area[3]);
		tolerance = rounded;
	} else {
		assert_string_equal(record->layer, "crop");
		uint32_t mode = (uint32_t)record_ints(record, "mode")[0];
		const int64_t *move = record_ints(record, "move");
		const struct tn_line_move down = {.crop = (int32_t)move[0], .crop_mode = mode},
					  right = {.crop = (int32_t)move[1], .crop_mode = mode};
		tn_canvas_move(&canvas, &down, &right);
	}
	compare(record, canvas.picture, tolerance);
	free(scratch);
	free(image);
}

static void pictures_change_as_in_torchvision(void **state)
{
	(void)state;
	struct record *record = malloc(sizeof(*record));
	FILE *file = record_open("augment.txt");
	int n = 0;
	assert_non_null(record);
	while (record_read(file, record)) {
		if (!adjusts_colour(record))
			moves_pixels(record);
		record_free(record);
		n++;
	}
	assert_int_equal(n, 58);
	fclose(file);
	free(record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pictures_change_as_in_torchvision),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
