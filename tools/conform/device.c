/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Memory and transfers, and the description of a device.
 */
#include <unistd.h>

#include "slots.h"

static const tn_dtype needed_storage[] = {TN_BOOL, TN_U8, TN_I32, TN_I64, TN_F32};
static const tn_dtype needed_programs[] = {TN_BOOL, TN_I32, TN_U32, TN_I64, TN_F32};

static const uint64_t known_programs =
	1u << TN_BOOL | 1u << TN_I32 | 1u << TN_U32 | 1u << TN_I64 | 1u << TN_F32 | 1u << TN_F64;

static uint64_t physical_memory(void)
{
	return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

void check_describe(struct kit *kit)
{
	const struct tn_device_description *d = &kit->description;
	kit_case(kit, TN_SLOT_DESCRIBE, "describe: device %u", kit->index);
	if (d->kind < TN_DEVICE_DISCRETE_GPU ||
	    (d->kind > TN_DEVICE_REFERENCE && d->kind < TN_DEVICE_KIND_VENDOR))
		kit_fail(kit, "kind %u is not known", d->kind);
	if (!d->name[0] || !memchr(d->name, 0, sizeof(d->name)))
		kit_fail(kit, "the name is empty or unterminated");
	if (!(d->memory_kinds >> TN_MEMORY_DEVICE & 1))
		kit_fail(kit, "the device's own memory is not among its kinds");
	if (d->alignment < 256 || d->alignment & (d->alignment - 1))
		kit_fail(kit, "alignment %u: expected a power of two, at least 256", d->alignment);
	/* Programs compute with half-precision numbers as f32, and not with complex numbers. */
	if (d->flags & TN_DEVICE_TAKES_ANY_ADDRESS && !(d->flags & TN_DEVICE_HOST_MEMORY))
		kit_fail(kit, "it takes any address, but its memory is not host memory");
	if (d->program_dtypes & ~known_programs)
		kit_fail(kit, "programs compute in dtypes %llx, but must not in %llx",
			 (unsigned long long)d->program_dtypes,
			 (unsigned long long)(d->program_dtypes & ~known_programs));
	if (d->flags & TN_DEVICE_HOST_MEMORY && d->memory_bytes > physical_memory())
		kit_fail(kit, "%llu bytes of host memory: expected at most %llu",
			 (unsigned long long)d->memory_bytes,
			 (unsigned long long)physical_memory());
	for (size_t i = 0; i < sizeof(needed_storage) / sizeof(needed_storage[0]); i++)
		if (!kit_claims_storage(kit, needed_storage[i]))
			kit_fail(kit, "dtype %s is not stored", tn_dtype_name(needed_storage[i]));
	for (size_t i = 0; i < sizeof(needed_programs) / sizeof(needed_programs[0]); i++)
		if (d->program_dtypes && !kit_claims_program(kit, needed_programs[i]))
			kit_fail(kit, "programs do not compute in %s",
				 tn_dtype_name(needed_programs[i]));
	if (d->identity_type && d->identity_type == d->identity2_type)
		kit_fail(kit, "both identities are of type %u", d->identity_type);
	if (d->function_ulps > TN_MOST_FUNCTION_ULPS)
		kit_fail(kit, "functions err by %u units in the last place: expected at most %d",
			 d->function_ulps, TN_MOST_FUNCTION_ULPS);
	if (d->matmul_dtypes && !kit_claims_matmul(kit, TN_F32))
		kit_fail(kit, "matmul is not supported in f32");
	kit->tallies[TN_SLOT_DESCRIBE].done++;
}

/* What a set had must be there still. */
static void loses_none(struct kit *kit, const char *what, uint64_t before, uint64_t after)
{
	if (before & ~after)
		kit_fail(kit, "%s were %llx, and are %llx of the open device: %llx are missing",
			 what, (unsigned long long)before, (unsigned long long)after,
			 (unsigned long long)(before & ~after));
}

static void stays(struct kit *kit, const char *what, uint64_t before, uint64_t after)
{
	if (before != after)
		kit_fail(kit, "%s was %llx, and is %llx of the open device", what,
			 (unsigned long long)before, (unsigned long long)after);
}

/* What the host relied on when it chose the device. */
static void compare_descriptions(struct kit *kit, const struct tn_device_description *before,
				 const struct tn_device_description *after)
{
	if ((before->identity_type || before->identity2_type) && !tn_device_same(before, after))
		kit_fail(kit, "the open device has another identity than was described");
	stays(kit, "the flags", before->flags, after->flags);
	stays(kit, "the alignment", before->alignment, after->alignment);
	stays(kit, "the DLPack type", before->dlpack_type, after->dlpack_type);
	loses_none(kit, "kinds of memory", before->memory_kinds, after->memory_kinds);
	loses_none(kit, "stored dtypes", before->storage_dtypes, after->storage_dtypes);
	loses_none(kit, "dtypes of programs", before->program_dtypes, after->program_dtypes);
	loses_none(kit, "dtypes of matmul", before->matmul_dtypes, after->matmul_dtypes);
}

/* Before the device is open, when it is, and once more then, as for another context. */
void check_describe_opened(struct kit *kit)
{
	const struct tn_backend *b = kit->backend;
	struct tn_device_description again = {.struct_size = sizeof(again)};
	kit_case(kit, TN_SLOT_DESCRIBE, "describe: device %u before and after open", kit->index);
	compare_descriptions(kit, &b->devices[kit->index], &kit->description);
	if (b->device.describe(b->plugin.instance, kit->index, &again))
		kit_fail(kit, "the open device is not described once more");
	compare_descriptions(kit, &kit->description, &again);
	kit->tallies[TN_SLOT_DESCRIBE].done++;
}

void check_describe_absent(struct kit *kit)
{
	const struct tn_backend *b = kit->backend;
	struct tn_device_description d = {.struct_size = sizeof(d)};
	struct tn_device_count count = {.struct_size = sizeof(count)};
	kit_case(kit, TN_SLOT_DEVICE_COUNT, "device_count");
	if (b->device.device_count(b->plugin.instance, &count) || count.count == 0)
		kit_fail(kit, "%u devices, although one is open", count.count);
	kit->tallies[TN_SLOT_DEVICE_COUNT].done++;
	kit_case(kit, TN_SLOT_DESCRIBE, "describe: device %u of %u", count.count, count.count);
	if (b->device.describe(b->plugin.instance, count.count, &d) != TN_INVALID_ARGUMENT)
		kit_fail(kit, "expected INVALID_ARGUMENT");
	kit->tallies[TN_SLOT_DESCRIBE].done++;
}

/* Callers of an older version have a shorter struct: nothing may be written past its end. */
void check_describe_older_caller(struct kit *kit)
{
	const struct tn_backend *b = kit->backend;
	struct tn_device_description d;
	const size_t old_size = offsetof(struct tn_device_description, name);
	kit_case(kit, TN_SLOT_DESCRIBE, "describe: into a struct of %zu bytes", old_size);
	memset(&d, 0x5a, sizeof(d));
	d.struct_size = (uint32_t)old_size;
	if (b->device.describe(b->plugin.instance, kit->index, &d))
		kit_fail(kit, "it is refused");
	if (d.kind != kit->description.kind)
		kit_fail(kit, "kind is %u, expected %u", d.kind, kit->description.kind);
	for (size_t i = old_size; i < sizeof(d); i++)
		if (((unsigned char *)&d)[i] != 0x5a)
			kit_fail(kit, "byte %zu was written", i);
	kit->tallies[TN_SLOT_DESCRIBE].done++;
}

enum { HELD = 3 };

/* Several at once: the first of a size may be aligned by chance. */
static void is_aligned(struct kit *kit, uint64_t size, uint64_t alignment)
{
	const struct tn_device_table *device = &kit->backend->device;
	const uint64_t stated = kit->description.alignment;
	const uint64_t least = alignment > stated ? alignment : stated;
	uint64_t buffers[HELD] = {0};
	kit_case(kit, TN_SLOT_ALLOC, "alloc: %llu bytes aligned to %llu", (unsigned long long)size,
		 (unsigned long long)alignment);
	for (int i = 0; i < HELD; i++) {
		struct tn_alloc_args args = {
			.call = {.struct_size = sizeof(args), .error = &kit->error},
			.size = size,
			.alignment = alignment};
		tn_status status = device->alloc(kit->device, &args, &buffers[i]);
		if (status || !buffers[i])
			kit_fail(kit, "%s, handle %llu: %s", tn_status_name(status),
				 (unsigned long long)buffers[i], kit->error.text);
		if (kit->description.flags & TN_DEVICE_HOST_MEMORY && buffers[i] % least)
			kit_fail(kit, "address %llx: expected a multiple of %llu",
				 (unsigned long long)buffers[i], (unsigned long long)least);
	}
	for (int i = 0; i < HELD; i++) {
		struct tn_free_args args = {.call = CALL(struct tn_free_args),
					    .buffer = buffers[i]};
		if (buffers[i] && device->free(kit->device, &args))
			kit_fail(kit, "free failed");
	}
	kit->tallies[TN_SLOT_ALLOC].done++;
	kit->tallies[TN_SLOT_FREE].done++;
}

/* Every power of two up to 4 MiB: the host asks for large pages. */
void check_alloc_alignment(struct kit *kit)
{
	static const uint64_t sizes[] = {1, 255, 4096, 1000003};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		is_aligned(kit, sizes[i], 0);
		for (uint64_t alignment = 1; alignment <= UINT64_C(4) << 20; alignment *= 2)
			is_aligned(kit, sizes[i], alignment);
	}
}

void check_alloc_impossible(struct kit *kit)
{
	static const struct {
		uint64_t size, alignment;
		uint32_t kind;
	} wrong[] = {{64, 0, 31}, {UINT64_MAX / 2, 0, 0}};
	const struct tn_backend *b = kit->backend;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct tn_alloc_args args = {
			.call = {.struct_size = sizeof(args), .error = &kit->error},
			.size = wrong[i].size,
			.alignment = wrong[i].alignment,
			.memory_kind = wrong[i].kind};
		uint64_t buffer = 77;
		kit_case(kit, TN_SLOT_ALLOC, "alloc: %llu bytes aligned to %llu of kind %u",
			 (unsigned long long)args.size, (unsigned long long)args.alignment,
			 args.memory_kind);
		if (!b->device.alloc(kit->device, &args, &buffer))
			kit_fail(kit, "it succeeded");
		if (buffer != 77)
			kit_fail(kit, "the handle was written");
		kit->tallies[TN_SLOT_ALLOC].done++;
	}
}

/* Writes pieces at odd offsets and reads the whole buffer back. */
void check_transfer_offsets(struct kit *kit)
{
	static const struct {
		uint64_t offset, size;
	} pieces[] = {{0, 1}, {1, 3}, {17, 64}, {255, 513}, {4095, 1}};
	const struct tn_backend *b = kit->backend;
	unsigned char expected[4096], found[4096], piece[1024];
	struct tn_alloc_args alloc = {.call = CALL(struct tn_alloc_args), .size = 4096};
	struct tn_free_args release = {.call = CALL(struct tn_free_args)};
	struct tn_transfer_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error},
					.size = 4096,
					.host = expected};
	kit_case(kit, TN_SLOT_UPLOAD, "upload: pieces of a buffer");
	memset(expected, 0x11, sizeof(expected));
	if (b->device.alloc(kit->device, &alloc, &args.buffer))
		return kit_fail(kit, "alloc failed");
	if (b->device.upload(kit->device, &args))
		kit_fail(kit, "%s", kit->error.text);
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		memset(piece, (int)(0x20 + i), sizeof(piece));
		memcpy(expected + pieces[i].offset, piece, pieces[i].size);
		args.offset = pieces[i].offset;
		args.size = pieces[i].size;
		args.host = piece;
		if (b->device.upload(kit->device, &args))
			kit_fail(kit, "%s", kit->error.text);
		memset(piece, 0xee, sizeof(piece)); /* the source may be reused */
	}
	args.offset = 0;
	args.size = 4096;
	args.host = found;
	if (b->device.download(kit->device, &args) || memcmp(expected, found, sizeof(found)) != 0)
		kit_fail(kit, "the data read back differs from the data written");
	release.buffer = args.buffer;
	b->device.free(kit->device, &release);
	kit->tallies[TN_SLOT_UPLOAD].done++;
	kit->tallies[TN_SLOT_DOWNLOAD].done++;
}

void check_sync(struct kit *kit)
{
	struct tn_error_info error = {.struct_size = sizeof(error)};
	struct tn_sync_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error}};
	kit_case(kit, TN_SLOT_SYNC, "sync and async_error");
	if (kit->backend->device.sync(kit->device, &args))
		kit_fail(kit, "sync: %s", kit->error.text);
	kit->tallies[TN_SLOT_SYNC].done++;
	if (!tn_backend_has(kit->backend, TN_SLOT_ASYNC_ERROR))
		return;
	if (kit->backend->device.async_error(kit->device, NULL, &error))
		kit_fail(kit, "async_error: %s", error.text);
	kit->tallies[TN_SLOT_ASYNC_ERROR].done++;
}

void check_memory_information(struct kit *kit)
{
	struct tn_memory_information information = {.struct_size = sizeof(information)};
	kit_case(kit, TN_SLOT_MEMORY_INFORMATION, "memory information");
	if (!tn_backend_has(kit->backend, TN_SLOT_MEMORY_INFORMATION))
		return;
	tn_status status =
		kit->backend->memory.information(kit->device, TN_MEMORY_DEVICE, &information);
	if (status == TN_UNSUPPORTED) {
		kit->tallies[TN_SLOT_MEMORY_INFORMATION].unsupported++;
		return;
	}
	if (status || !information.total_bytes || information.free_bytes > information.total_bytes)
		kit_fail(kit, "%s: %llu bytes free of %llu", tn_status_name(status),
			 (unsigned long long)information.free_bytes,
			 (unsigned long long)information.total_bytes);
	kit->tallies[TN_SLOT_MEMORY_INFORMATION].done++;
}

/* ---- tenon.report/1 --------------------------------------------------------------------------*/

static int is_key(const char *key, size_t size)
{
	size_t length = strnlen(key, size);
	return length > 0 && length < size &&
	       strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789_.") == length;
}

static int is_text(const char *text, size_t size)
{
	size_t length = strnlen(text, size);
	for (size_t i = 0; i < length; i++) {
		if ((unsigned char)text[i] < ' ')
			return 0;
	}
	return length > 0 && length < size;
}

/* Fetches line `index`, and again into an older caller's struct, which has the key only. */
static tn_status look_at_line(struct kit *kit, uint32_t index, struct tn_report_line *line)
{
	const struct tn_report_table *table = &kit->backend->report;
	const size_t old_size = offsetof(struct tn_report_line, text);
	struct tn_report_line old;
	memset(line, 0, sizeof(*line));
	line->struct_size = sizeof(*line);
	tn_status status = table->line(kit->device, index, line);
	if (status)
		return status;
	if (!is_key(line->key, sizeof(line->key)))
		kit_fail(kit, "the key is empty, unterminated or has invalid characters: %.31s",
			 line->key);
	if (!is_text(line->text, sizeof(line->text)))
		kit_fail(kit, "%.31s: the text is empty, unterminated or has control characters",
			 line->key);
	memset(&old, 0x5a, sizeof(old));
	old.struct_size = (uint32_t)old_size;
	if (table->line(kit->device, index, &old) || strcmp(old.key, line->key) != 0)
		kit_fail(kit, "%.31s: the key changes between calls", line->key);
	for (size_t i = 0; i < sizeof(old.text); i++) {
		if (old.text[i] != 0x5a)
			return kit_fail(kit, "byte %zu was written past an older caller's struct",
					old_size + i),
			       TN_OK;
	}
	return TN_OK;
}

void check_report_lines(struct kit *kit)
{
	struct tn_report_line line;
	uint32_t n = 0;
	tn_status status = TN_OK;
	kit_case(kit, TN_SLOT_REPORT_LINE, "lines of the report");
	if (!tn_backend_has(kit->backend, TN_SLOT_REPORT_LINE))
		return;
	while (n <= TN_REPORT_MOST_LINES && !(status = look_at_line(kit, n, &line)))
		n++;
	if (status != TN_NOT_FOUND)
		kit_fail(kit, "line %u: %s: expected a line, or NOT_FOUND after at most %d", n,
			 tn_status_name(status), TN_REPORT_MOST_LINES);
	else if (line.key[0] || line.text[0])
		kit_fail(kit, "line %u is NOT_FOUND, but was written", n);
	kit->tallies[TN_SLOT_REPORT_LINE].done++;
}
