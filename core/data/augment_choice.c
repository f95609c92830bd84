/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The augmentation that suits a data set.
 */
#include <pthread.h>
#include <string.h>
#include <strings.h>
#include <tenon/augment.h>

static struct tn_augmentation tiny_characters, characters, clothes, small_colour, large_colour;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Grey pictures may be characters, most of which become others when mirrored. */
static void fill(void)
{
	tiny_characters = characters = clothes = small_colour = large_colour =
		tn_augmentation_defaults();
	tiny_characters.max_shift = 1;
	characters.max_shift = 2;
	clothes.crop_padding = 2;
	small_colour.crop_padding = 4;
	large_colour.resized_crop = 1;
	clothes.hflip_prob = small_colour.hflip_prob = large_colour.hflip_prob = 0.5;
}

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
	pthread_once(&once, fill);
	uint32_t side = format->height < format->width ? format->height : format->width;
	if (side < TINY)
		return &tiny_characters;
	if (is_named(name, "fashion"))
		return &clothes;
	if (format->channels == 1 || is_named(name, "svhn"))
		return &characters;
	return side <= SMALL ? &small_colour : &large_colour;
}
