/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The augmentation that suits a data set.
 */
#include <string.h>
#include <strings.h>
#include <tenon/augment.h>

/* Grey pictures may be characters, most of which become others when mirrored. */
static const struct tn_augmentation tiny_characters = {.struct_size = sizeof(tiny_characters),
						       .max_shift = 1};
static const struct tn_augmentation characters = {.struct_size = sizeof(characters),
						  .max_shift = 2};
static const struct tn_augmentation clothes = {
	.struct_size = sizeof(clothes), .crop_padding = 2, .hflip_prob = 0.5};
static const struct tn_augmentation small_colour = {
	.struct_size = sizeof(small_colour), .crop_padding = 4, .hflip_prob = 0.5};
static const struct tn_augmentation large_colour = {
	.struct_size = sizeof(large_colour), .resized_crop = 1, .hflip_prob = 0.5};

#define TINY 16  /* sides in pixels */
#define SMALL 48 /* CIFAR's are 32 */

/* Does the last component of a path begin with `word`, in any case? */
static int is_named(const char *path, const char *word)
{
	size_t end = strlen(path);
	while (end > 0 && path[end - 1] == '/')
		end--;
	while (end > 0 && path[end - 1] != '/')
		end--;
	return !strncasecmp(path + end, word, strlen(word));
}

const struct tn_augmentation *tn_dataset_augmentation(const tn_dataset *dataset)
{
	const struct tn_input_format *format = tn_dataset_format(dataset);
	const char *name = tn_dataset_name(dataset);
	if (!format)
		return NULL;
	uint32_t side = format->height < format->width ? format->height : format->width;
	if (side < TINY)
		return &tiny_characters;
	if (is_named(name, "fashion"))
		return &clothes;
	if (format->channels == 1 || is_named(name, "svhn"))
		return &characters;
	return side <= SMALL ? &small_colour : &large_colour;
}
