/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Writes random pictures, as CIFAR-10 or JPEG files, to a temporary folder.
 */
#include "loader_files.h"

#include "config.h"

#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#ifdef HAVE_LIBJPEG
#include <jpeglib.h>
#endif

enum { CLASSES = 10, RECORDS = 1000, JPEGS = 100, CIFAR_BYTES = 3072 };

char *loader_folder(void)
{
	const char *parent = getenv("TMPDIR");
	char *folder = NULL;
	if (asprintf(&folder, "%s/tenon-bench-XXXXXX", parent ? parent : "/tmp") < 0)
		return NULL;
	if (mkdtemp(folder))
		return folder;
	perror(folder);
	free(folder);
	return NULL;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
	(void)status, (void)type, (void)place;
	return remove(path);
}

void loader_folder_remove(char *folder)
{
	if (folder)
		nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	free(folder);
}

static int write_file(const char *path, const void *data, size_t size)
{
	FILE *file = fopen(path, "wb");
	int done = file && fwrite(data, 1, size, file) == size;
	done &= file && !fclose(file);
	if (!done)
		perror(path);
	return done;
}

int loader_write_cifar(const char *folder)
{
	static const char *const names[] = {"data_batch_1", "data_batch_2", "data_batch_3",
					    "data_batch_4", "data_batch_5", "test_batch"};
	const size_t record = 1 + CIFAR_BYTES;
	unsigned char *data = malloc(RECORDS * record);
	uint32_t noise = 1;
	int done = data != NULL;
	for (int f = 0; f < 6 && done; f++) {
		char path[512];
		for (size_t i = 0; i < RECORDS * record; i++) {
			noise = noise * 1664525u + 1013904223u;
			data[i] = (unsigned char)(i % record ? noise >> 24 : i / record % CLASSES);
		}
		snprintf(path, sizeof(path), "%s/%s.bin", folder, names[f]);
		done = write_file(path, data, RECORDS * record);
	}
	free(data);
	return done;
}

#ifdef HAVE_LIBJPEG

/* Slopes with a little noise: files are as large as those of photographs. */
static void paint(uint8_t *pixels, int side, uint32_t *noise)
{
	uint32_t slope = *noise >> 24;
	for (int i = 0; i < 3 * side * side; i++) {
		*noise = *noise * 1664525u + 1013904223u;
		pixels[i] = (uint8_t)((slope + (uint32_t)(i / 3 % side + i / 3 / side)) % 224 +
				      (*noise >> 27));
	}
}

/* libjpeg's own handler ends the program on an error. */
static int write_jpeg(const char *path, uint8_t *pixels, int side)
{
	struct jpeg_compress_struct encoder;
	struct jpeg_error_mgr errors;
	FILE *file = fopen(path, "wb");
	if (!file) {
		perror(path);
		return 0;
	}
	encoder.err = jpeg_std_error(&errors);
	jpeg_create_compress(&encoder);
	jpeg_stdio_dest(&encoder, file);
	encoder.image_width = encoder.image_height = (JDIMENSION)side;
	encoder.in_color_space = JCS_RGB;
	encoder.input_components = 3;
	jpeg_set_defaults(&encoder);
	jpeg_set_quality(&encoder, 90, TRUE);
	jpeg_start_compress(&encoder, TRUE);
	for (int y = 0; y < side; y++) {
		JSAMPROW row = pixels + 3 * (size_t)y * (size_t)side;
		jpeg_write_scanlines(&encoder, &row, 1);
	}
	jpeg_finish_compress(&encoder);
	jpeg_destroy_compress(&encoder);
	return !fclose(file);
}

int loader_write_jpegs(const char *folder, int side)
{
	uint8_t *pixels = malloc(3 * (size_t)side * (size_t)side);
	uint32_t noise = 1;
	char path[512];
	int done = pixels != NULL;
	for (int k = 0; k < CLASSES * JPEGS && done; k++) {
		snprintf(path, sizeof(path), "%s/class%d", folder, k / JPEGS);
		if (k % JPEGS == 0 && mkdir(path, 0700))
			perror(path);
		snprintf(path, sizeof(path), "%s/class%d/%d.jpg", folder, k / JPEGS, k % JPEGS);
		paint(pixels, side, &noise);
		done = write_jpeg(path, pixels, side);
	}
	free(pixels);
	return done;
}

#else

int loader_write_jpegs(const char *folder, int side)
{
	(void)folder, (void)side;
	printf("# no JPEG files: built without libjpeg\n");
	return 0;
}

#endif
