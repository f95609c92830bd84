/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * CIFAR-10: data_batch_1.bin to data_batch_5.bin and test_batch.bin; CIFAR-100: train.bin and
 * test.bin, of which the fine labels are taken.
 */
#include "data/cifar_folder.h"

#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "io/file.h"

#define OPERATION "dataset"
#define SIDE 32
#define CHANNELS 3
#define IMAGE_SIZE (CHANNELS * SIDE * SIDE)

static const char *const names10[] = {"airplane", "automobile", "bird",  "cat",  "deer",
				      "dog",      "frog",       "horse", "ship", "truck"};
static const char *const names100[] = {
	"apple",       "aquarium_fish", "baby",      "bear",       "beaver",       "bed",
	"bee",         "beetle",        "bicycle",   "bottle",     "bowl",         "boy",
	"bridge",      "bus",           "butterfly", "camel",      "can",          "castle",
	"caterpillar", "cattle",        "chair",     "chimpanzee", "clock",        "cloud",
	"cockroach",   "couch",         "crab",      "crocodile",  "cup",          "dinosaur",
	"dolphin",     "elephant",      "flatfish",  "forest",     "fox",          "girl",
	"hamster",     "house",         "kangaroo",  "keyboard",   "lamp",         "lawn_mower",
	"leopard",     "lion",          "lizard",    "lobster",    "man",          "maple_tree",
	"motorcycle",  "mountain",      "mouse",     "mushroom",   "oak_tree",     "orange",
	"orchid",      "otter",         "palm_tree", "pear",       "pickup_truck", "pine_tree",
	"plain",       "plate",         "poppy",     "porcupine",  "possum",       "rabbit",
	"raccoon",     "ray",           "road",      "rocket",     "rose",         "sea",
	"seal",        "shark",         "shrew",     "skunk",      "skyscraper",   "snail",
	"snake",       "spider",        "squirrel",  "streetcar",  "sunflower",    "sweet_pepper",
	"table",       "tank",          "telephone", "television", "tiger",        "tractor",
	"train",       "trout",         "tulip",     "turtle",     "wardrobe",     "whale",
	"willow_tree", "wolf",          "woman",     "worm"};

/* One of the two data sets; the last file is the test part. */
struct kind {
	const char *files[7];
	uint32_t n_classes;
	const char *const *class_names;
	const char *origin;
};

static const struct kind kinds[] = {
	{{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
	  "data_batch_5.bin", "test_batch.bin"},
	 10,
	 names10,
	 "A. Krizhevsky (2009): Learning Multiple Layers of Features from Tiny Images, CIFAR-10"},
	{{"train.bin", "test.bin"},
	 100,
	 names100,
	 "A. Krizhevsky (2009): Learning Multiple Layers of Features from Tiny Images, CIFAR-100"},
};

/* *kind := whose first file is in the folder; NULL: neither. */
static tn_status find_kind(const char *folder, const struct kind **kind,
			   struct tn_error_info *error)
{
	*kind = NULL;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && !*kind; i++) {
		struct tn_text path;
		tn_text_init(&path);
		tn_text_format(&path, "%s/%s", folder, kinds[i].files[0]);
		if (path.failed)
			return tn_no_memory(error, OPERATION, tn_file_label(folder), "its images");
		if (access(path.data, F_OK) == 0)
			*kind = &kinds[i];
		tn_text_release(&path);
	}
	return TN_OK;
}

/* Appends the records of a file; *n := their number. */
static tn_status append_file(const char *path, const struct kind *kind, struct tn_dataset_raw *raw,
			     uint64_t *n, struct tn_error_info *error)
{
	struct tn_host_array images = {0}, labels = {0};
	tn_status status = kind->n_classes == 10
				   ? tn_cifar10_read(path, &images, &labels, error)
				   : tn_cifar100_read(path, &images, NULL, &labels, error);
	if (status)
		return status;
	*n = (uint64_t)images.shape[0];
	size_t total = (size_t)(raw->n + *n);
	uint8_t *pixels = tn_mem_realloc(raw->images, total, IMAGE_SIZE);
	raw->images = pixels ? pixels : raw->images;
	int32_t *numbers = tn_mem_realloc(raw->labels, total, sizeof(*numbers));
	raw->labels = numbers ? numbers : raw->labels;
	if (pixels && numbers) {
		memcpy(pixels + raw->n * IMAGE_SIZE, images.data, (size_t)images.size_bytes);
		memcpy(numbers + raw->n, labels.data, (size_t)labels.size_bytes);
		raw->n += *n;
	} else {
		status = tn_no_memory(error, OPERATION, tn_file_label(path), "its images");
	}
	tn_host_array_release(&images);
	tn_host_array_release(&labels);
	return status;
}

tn_status tn_cifar_folder_look(const char *folder, int *is_there, struct tn_error_info *error)
{
	const struct kind *kind;
	tn_status status = find_kind(folder, &kind, error);
	*is_there = kind != NULL;
	return status;
}

tn_status tn_cifar_folder_read(const char *folder, struct tn_dataset_raw *out,
			       struct tn_error_info *error)
{
	const struct kind *kind;
	tn_status status = find_kind(folder, &kind, error);
	if (status)
		return status;
	struct tn_dataset_raw raw = {
		.format = {.channels = CHANNELS,
			   .height = SIDE,
			   .width = SIDE,
			   .source_height = SIDE,
			   .source_width = SIDE,
			   .zoom = 1,
			   .scale = 255,
			   .n_classes = kind->n_classes},
		.origin = kind->origin,
		.class_names = kind->class_names,
	};
	for (int i = 0; !status && kind->files[i]; i++) {
		struct tn_text path;
		tn_text_init(&path);
		tn_text_format(&path, "%s/%s", folder, kind->files[i]);
		status = path.failed ? tn_no_memory(error, OPERATION, tn_file_label(folder),
						    "its images")
				     : append_file(path.data, kind, &raw, &raw.n_test, error);
		tn_text_release(&path);
	}
	if (!status)
		*out = raw;
	else
		tn_dataset_raw_release(&raw);
	return status;
}
