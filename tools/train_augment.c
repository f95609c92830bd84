/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reads --augment, setting by setting, and combines it with the data set's own augmentation.
 */
#include "train_augment.h"

#include <string.h>

static const char *const padding_words[] = {[TN_PADDING_CONSTANT] = "constant",
					    [TN_PADDING_EDGE] = "edge",
					    [TN_PADDING_REFLECT] = "reflect",
					    [TN_PADDING_SYMMETRIC] = "symmetric",
					    NULL};

#define MEMBER(member) .name = #member, .offset = offsetof(struct tn_augmentation, member)

/* Members of struct tn_augmentation; positive ones may not be 0. */
static const struct {
	const char *name;
	size_t offset;
	const char *const *words;
	int is_count, is_positive;
} settings[] = {
	{MEMBER(max_shift), .is_count = 1},
	{MEMBER(roll), .is_count = 1},
	{MEMBER(crop_padding), .is_count = 1},
	{MEMBER(crop_mode), .words = padding_words, .is_count = 1},
	{MEMBER(resized_crop), .is_count = 1},
	{MEMBER(rotate_bilinear), .is_count = 1},
	{MEMBER(rotate_mode), .words = padding_words, .is_count = 1},
	{MEMBER(cutout_size), .is_count = 1, .is_positive = 1},
	{MEMBER(randaugment_layers), .is_count = 1},
	{MEMBER(randaugment_magnitude)},
	{MEMBER(hflip_prob)},
	{MEMBER(vflip_prob)},
	{MEMBER(rotate_deg)},
	{MEMBER(rotate_prob)},
	{MEMBER(brightness)},
	{MEMBER(contrast)},
	{MEMBER(saturation)},
	{MEMBER(hue)},
	{MEMBER(noise_std)},
	{MEMBER(noise_prob)},
	{MEMBER(noise_clip), .is_positive = 1},
	{MEMBER(cutout_prob)},
	{MEMBER(cutmix_prob)},
	{MEMBER(cutmix_alpha), .is_positive = 1},
	{MEMBER(mixup_prob)},
	{MEMBER(mixup_alpha), .is_positive = 1},
};
_Static_assert(N_ROWS(settings) <= MOST_AUGMENTATIONS, "a bit for each");

/* nnott's own defaults. */
static const char nnott[] =
	"roll=2,rotate_deg=10,rotate_mode=edge,rotate_prob=0.5,hflip_prob=0.5,noise_std=0.02,"
	"noise_prob=0.3,noise_clip=3";

static int take_value(size_t i, const char *text, double *value)
{
	uint64_t count = 0;
	for (uint32_t k = 0; settings[i].words && settings[i].words[k]; k++) {
		*value = k;
		if (!strcmp(settings[i].words[k], text))
			return 1;
	}
	if (settings[i].words)
		return 0;
	if (settings[i].is_count) {
		if (!parse_count(text, (uint64_t)settings[i].is_positive, UINT32_MAX, &count))
			return 0;
		*value = (double)count;
		return 1;
	}
	return parse_real(text, value) && (*value > 0 || !settings[i].is_positive);
}

/* One "hflip_prob=0.5". */
static int take_setting(struct train_augment *augment, char *text)
{
	char *equals = strchr(text, '=');
	if (!equals)
		return 0;
	*equals = '\0';
	for (size_t i = 0; i < N_ROWS(settings); i++) {
		if (strcmp(settings[i].name, text) != 0)
			continue;
		augment->given |= 1u << i;
		return take_value(i, equals + 1, &augment->values[i]);
	}
	return 0;
}

static int take_settings(struct train_augment *augment, const char *text);

static int take_part(struct train_augment *augment, char *text)
{
	if (!strcmp(text, "none"))
		return augment->none = 1;
	if (!strcmp(text, "own"))
		return augment->own = 1;
	return strcmp(text, "nnott") != 0 ? take_setting(augment, text)
					  : take_settings(augment, nnott);
}

static int take_settings(struct train_augment *augment, const char *text)
{
	for (;;) {
		char part[64];
		const size_t length = strcspn(text, ",");
		if (length >= sizeof(part))
			return 0;
		memcpy(part, text, length);
		part[length] = '\0';
		if (!take_part(augment, part))
			return 0;
		if (!text[length])
			return 1;
		text += length + 1;
	}
}

int take_augment(void *values, const char *argument)
{
	return take_settings(values, argument);
}

void train_augment_set(struct train_augment *augment, const char *name, double value)
{
	for (size_t i = 0; i < N_ROWS(settings); i++) {
		if (!strcmp(settings[i].name, name)) {
			augment->given |= 1u << i;
			augment->values[i] = value;
		}
	}
}

static void set(struct tn_augmentation *all, size_t offset, int is_count, double value)
{
	if (is_count)
		*(uint32_t *)((char *)all + offset) = (uint32_t)value;
	else
		*(double *)((char *)all + offset) = value;
}

const struct tn_augmentation *train_augment_for(struct train_augment *augment,
						const tn_dataset *dataset)
{
	const struct tn_augmentation *own = augment->own ? tn_dataset_augmentation(dataset) : NULL;
	augment->all = tn_augmentation_defaults();
	if (augment->none)
		return &augment->all;
	if (own)
		augment->all = *own;
	for (size_t i = 0; i < N_ROWS(settings); i++) {
		if (augment->given >> i & 1)
			set(&augment->all, settings[i].offset, settings[i].is_count,
			    augment->values[i]);
	}
	return &augment->all;
}
