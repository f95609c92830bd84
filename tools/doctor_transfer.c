/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Copies between host and device and within the device: correctness and bandwidth, the best of a
 * few runs.
 */
#include <stdlib.h>
#include <string.h>

#include "doctor.h"

#define BYTES ((size_t)64 << 20)
#define SAMPLES 4

/* The byte expected at each index; the pattern differs from itself shifted by any power of two. */
static unsigned char byte_at(size_t i)
{
	return (unsigned char)((i * UINT64_C(0x9e3779b97f4a7c15) + (i >> 8)) >> 56);
}

static void fill(unsigned char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = byte_at(i);
}

/* 1: the bytes are those that fill wrote. */
static int check(struct doctor_result *result, const unsigned char *bytes, size_t n,
		 const char *what)
{
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] == byte_at(i))
			continue;
		doctor_fail(result, "%s of %zu bytes: byte %zu: expected 0x%02x, found 0x%02x",
			    what, n, i, byte_at(i), bytes[i]);
		return 0;
	}
	result->cases++;
	return 1;
}

/* Sizes near a word, a page and 8 MiB, from and to odd addresses. */
static void odd_ones(struct doctor_device *device, struct doctor_result *result, unsigned char *out,
		     unsigned char *back)
{
	static const size_t sizes[] = {1, 3, 255, 4097, ((size_t)8 << 20) + 5};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const int64_t n = (int64_t)sizes[i];
		fill(out + i, sizes[i]);
		memset(back, 0xee, sizes[i] + 8);
		tn_array *array = tn_from_host(device->context, TN_U8, 1, &n, out + i);
		if (tn_to_host(array, back + i + 1, sizes[i]))
			return;
		tn_array_destroy(array);
		if (!check(result, back + i + 1, sizes[i], "upload and download"))
			return;
		if (back[i] != 0xee || back[i + 1 + sizes[i]] != 0xee)
			doctor_fail(result,
				    "download of %zu bytes: bytes before or after them were "
				    "overwritten",
				    sizes[i]);
	}
}

static void set_rate(struct doctor_result *result, double seconds, double bytes)
{
	double rate = 1e-9 * bytes / seconds;
	result->rate = rate > result->rate ? rate : result->rate;
	result->unit = "GB/s";
}

static void move(struct doctor_device *device, struct doctor_result *result, int is_upload,
		 unsigned char *out, unsigned char *back)
{
	const int64_t n = BYTES;
	tn_array *array = tn_from_host(device->context, TN_U8, 1, &n, out);
	for (int i = 0; array && i < SAMPLES && !tn_error(device->context); i++) {
		double start = doctor_seconds();
		tn_status status = is_upload ? tn_assign_host(array, out, BYTES)
					     : tn_to_host(array, back, BYTES);
		if (!status && !tn_synchronize(device->context))
			set_rate(result, doctor_seconds() - start, BYTES);
	}
	memset(back, 0xee, BYTES);
	if (!tn_to_host(array, back, BYTES))
		check(result, back, BYTES, is_upload ? "upload" : "download");
	tn_array_destroy(array);
}

static void both(struct doctor_device *device, struct doctor_result *result, int is_upload)
{
	unsigned char *out = malloc(BYTES), *back = malloc(BYTES);
	if (out && back) {
		odd_ones(device, result, out, back);
		fill(out, BYTES);
		move(device, result, is_upload, out, back);
	} else {
		doctor_fail(result, "no host memory for two buffers of %zu bytes", BYTES);
	}
	free(out);
	free(back);
}

void doctor_upload(struct doctor_device *device, struct doctor_result *result)
{
	both(device, result, 1);
}

void doctor_download(struct doctor_device *device, struct doctor_result *result)
{
	both(device, result, 0);
}

/* Each byte is read once and written once. */
void doctor_device_copy(struct doctor_device *device, struct doctor_result *result)
{
	const int64_t n = BYTES;
	unsigned char *bytes = malloc(BYTES);
	if (!bytes) {
		doctor_fail(result, "no host memory for %zu bytes", BYTES);
		return;
	}
	fill(bytes, BYTES);
	tn_array *from = tn_from_host(device->context, TN_U8, 1, &n, bytes);
	tn_array *to = tn_zeros(device->context, TN_U8, 1, &n);
	for (int i = 0; i < SAMPLES && !tn_synchronize(device->context); i++) {
		double start = doctor_seconds();
		if (!tn_assign(to, from) && !tn_synchronize(device->context))
			set_rate(result, doctor_seconds() - start, 2.0 * (double)BYTES);
	}
	memset(bytes, 0xee, BYTES);
	if (to && !tn_to_host(to, bytes, BYTES))
		check(result, bytes, BYTES, "copy");
	tn_array_destroy(from);
	tn_array_destroy(to);
	free(bytes);
}
