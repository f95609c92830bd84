/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Memory that others allocated.  The kit calls no vendor's interface: it exports a buffer of its
 * own and imports what it gets, so that two handles name the same memory.
 */
#include "frame.h"
#include "slots.h"

enum { SIZE = 5000, UNKNOWN_FLAG = TN_CALL_FLAG_UNASSIGNED };

/* A buffer, its name at the vendor's interface, and a second handle of it. */
struct memory {
	struct kit *kit;
	uint64_t buffer, pointer, imported;
	unsigned char host[SIZE];
};

static int has_table(const struct kit *kit)
{
	return tn_backend_has_all(kit->backend, TN_SLOT_IMPORT_MEMORY, TN_SLOT_EXPORT_MEMORY);
}

void check_import_table(struct kit *kit)
{
	unsigned n = 0, all = 0;
	for (int slot = TN_SLOT_IMPORT_MEMORY; slot <= TN_SLOT_EXPORT_MEMORY; slot++, all++)
		n += tn_backend_has(kit->backend, (enum tn_slot)slot) != 0;
	if (!n)
		return kit_skip(kit, "it cannot import memory");
	kit_case(kit, TN_SLOT_IMPORT_MEMORY, TN_TABLE_IMPORT);
	if (n < all)
		kit_fail(kit, "%u of its %u slots are filled: expected all or none", n, all);
	kit_pass(kit);
}

/* ---- Calls -----------------------------------------------------------------------------------*/

static tn_status import(struct memory *m, uint64_t pointer, uint64_t size, uint32_t flags)
{
	struct kit *kit = m->kit;
	const struct tn_import_args args = {
		.call = {.struct_size = sizeof(args), .flags = flags, .error = &kit->error},
		.pointer = pointer,
		.size = size};
	return kit->backend->import.import_memory(kit->device, &args, &m->imported);
}

static tn_status release(struct memory *m, uint64_t buffer, uint32_t flags)
{
	struct kit *kit = m->kit;
	const struct tn_free_args args = {
		.call = {.struct_size = sizeof(args), .flags = flags, .error = &kit->error},
		.buffer = buffer};
	return kit->backend->import.import_release(kit->device, &args);
}

static tn_status export(struct memory *m, uint64_t buffer, uint32_t flags)
{
	struct kit *kit = m->kit;
	const struct tn_export_args args = {
		.call = {.struct_size = sizeof(args), .flags = flags, .error = &kit->error},
		.buffer = buffer};
	return kit->backend->import.export_memory(kit->device, &args, &m->pointer);
}

static void expect(struct memory *m, tn_status status, tn_status expected, const char *what)
{
	if (status != expected)
		kit_fail(m->kit, "%s: %s, expected %s: %s", what, tn_status_name(status),
			 tn_status_name(expected), m->kit->error.text);
}

/* Writes `stamp` to the whole memory through one handle. */
static void stamp(struct memory *m, uint64_t buffer, unsigned char stamp)
{
	struct kit *kit = m->kit;
	memset(m->host, stamp, SIZE);
	const struct tn_transfer_args args = {
		.call = {.struct_size = sizeof(args), .error = &kit->error},
		.buffer = buffer,
		.size = SIZE,
		.host = m->host};
	expect(m, kit->backend->device.upload(kit->device, &args), TN_OK, "upload");
}

static void has_stamp(struct memory *m, uint64_t buffer, unsigned char stamp, const char *what)
{
	struct kit *kit = m->kit;
	memset(m->host, 0, SIZE);
	const struct tn_transfer_args args = {
		.call = {.struct_size = sizeof(args), .error = &kit->error},
		.buffer = buffer,
		.size = SIZE,
		.host = m->host};
	expect(m, kit->backend->device.download(kit->device, &args), TN_OK, "download");
	for (int i = 0; i < SIZE; i++)
		if (m->host[i] != stamp)
			kit_fail(kit, "%s: byte %d is %02x, expected %02x", what, i, m->host[i],
				 stamp);
}

static int make(struct memory *m, struct kit *kit)
{
	const struct tn_alloc_args args = {
		.call = {.struct_size = sizeof(args), .error = &kit->error}, .size = SIZE};
	*m = (struct memory){.kit = kit};
	if (!kit->backend->device.alloc(kit->device, &args, &m->buffer))
		return 1;
	kit_fail(kit, "alloc: %s", kit->error.text);
	return 0;
}

static tn_status free_buffer(struct memory *m, uint64_t buffer)
{
	struct kit *kit = m->kit;
	const struct tn_free_args args = {
		.call = {.struct_size = sizeof(args), .error = &kit->error}, .buffer = buffer};
	return kit->backend->device.free(kit->device, &args);
}

/* Are exported pointers addresses, to which one may add?  Not if two of them are nearer to each
 * other than the size of their buffers, as handles such as a cl_mem are. */
static int are_addresses(struct kit *kit)
{
	enum { BUFFERS = 16, BYTES = 1 << 20 };
	struct memory m = {.kit = kit};
	uint64_t buffers[BUFFERS] = {0}, pointers[BUFFERS] = {0};
	int n = 0, apart = 1;
	const struct tn_alloc_args args = {
		.call = {.struct_size = sizeof(args), .error = &kit->error}, .size = BYTES};
	while (n < BUFFERS && !kit->backend->device.alloc(kit->device, &args, &buffers[n])) {
		expect(&m, export(&m, buffers[n], 0), TN_OK, "export_memory");
		pointers[n++] = m.pointer;
	}
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < i; j++)
			apart &= pointers[i] - pointers[j] >= BYTES &&
				 pointers[j] - pointers[i] >= BYTES;
	}
	for (int i = 0; i < n; i++)
		expect(&m, free_buffer(&m, buffers[i]), TN_OK, "free");
	return n == BUFFERS && apart;
}

/* Memory of others may begin at any element, bytes at any address. */
static void begins_at(struct memory *m, uint64_t offset)
{
	struct kit *kit = m->kit;
	unsigned char expected[SIZE];
	kit_case(kit, TN_SLOT_IMPORT_MEMORY, "import_memory: %llu bytes behind an exported address",
		 (unsigned long long)offset);
	expect(m, import(m, m->pointer + offset, SIZE - offset, 0), TN_OK, "import_memory");
	stamp(m, m->buffer, 68);
	memset(expected, 68, SIZE);
	memset(expected + offset, 85, SIZE - offset);
	const struct tn_transfer_args write = {
		.call = {.struct_size = sizeof(write), .error = &kit->error},
		.buffer = m->imported,
		.size = SIZE - offset,
		.host = expected + offset};
	expect(m, kit->backend->device.upload(kit->device, &write), TN_OK, "upload");
	const struct tn_transfer_args read = {
		.call = {.struct_size = sizeof(read), .error = &kit->error},
		.buffer = m->buffer,
		.size = SIZE,
		.host = m->host};
	expect(m, kit->backend->device.download(kit->device, &read), TN_OK, "download");
	for (int i = 0; i < SIZE; i++)
		if (m->host[i] != expected[i])
			kit_fail(kit, "byte %d is %02x, expected %02x", i, m->host[i], expected[i]);
	expect(m, release(m, m->imported, 0), TN_OK, "import_release");
	kit_pass(kit);
}

/* ---- Checks ----------------------------------------------------------------------------------*/

void check_import_memory(struct kit *kit)
{
	struct memory m;
	if (!has_table(kit))
		return kit_skip(kit, "it cannot import memory");
	kit_case(kit, TN_SLOT_IMPORT_MEMORY, "import_memory: %d bytes that were exported", SIZE);
	if (!make(&m, kit))
		return;
	expect(&m, export(&m, m.buffer, 0), TN_OK, "export_memory");
	expect(&m, import(&m, m.pointer, SIZE, 0), TN_OK, "import_memory");
	if (!m.imported)
		kit_fail(kit, "the handle is 0");
	stamp(&m, m.buffer, 17);
	has_stamp(&m, m.imported, 17, "through the imported handle");
	stamp(&m, m.imported, 34);
	has_stamp(&m, m.buffer, 34, "after a write through the imported handle");
	uint64_t first = m.pointer;
	kit_case(kit, TN_SLOT_EXPORT_MEMORY, "export_memory: an imported buffer");
	expect(&m, export(&m, m.imported, 0), TN_OK, "export_memory");
	if (m.pointer != first)
		kit_fail(kit, "it is %llx, and was imported as %llx", (unsigned long long)m.pointer,
			 (unsigned long long)first);
	kit_pass(kit);
	const uint64_t whole = m.imported;
	const int has_offsets = are_addresses(kit);
	for (uint64_t offset = 1; has_offsets && offset < SIZE; offset += offset < 9    ? 1
									  : offset < 64 ? 5
											: offset)
		begins_at(&m, offset);
	if (!has_offsets)
		kit_remark(kit, "exported pointers are handles, without addresses inside a buffer");
	m.imported = whole;
	kit_case(kit, TN_SLOT_IMPORT_RELEASE, "import_release: the memory stays");
	stamp(&m, m.buffer, 34);
	expect(&m, release(&m, m.imported, 0), TN_OK, "import_release");
	has_stamp(&m, m.buffer, 34, "after the release");
	stamp(&m, m.buffer, 51);
	has_stamp(&m, m.buffer, 51, "after the release, and a write");
	expect(&m, free_buffer(&m, m.buffer), TN_OK, "free");
	kit_pass(kit);
}

void check_import_refused(struct kit *kit)
{
	struct memory m;
	if (!has_table(kit))
		return kit_skip(kit, "it cannot import memory");
	kit_case(kit, TN_SLOT_IMPORT_MEMORY, "import_memory: invalid arguments");
	if (!make(&m, kit))
		return;
	expect(&m, export(&m, m.buffer, 0), TN_OK, "export_memory");
	m.imported = 77;
	expect(&m, import(&m, 0, SIZE, 0), TN_INVALID_ARGUMENT, "pointer 0");
	expect(&m, import(&m, m.pointer, 0, 0), TN_INVALID_ARGUMENT, "size 0");
	expect(&m, import(&m, m.pointer, SIZE, UNKNOWN_FLAG), TN_UNSUPPORTED, "an unknown flag");
	if (m.imported != 77)
		kit_fail(kit, "it was refused, and the handle was written");
	kit_pass(kit);
	kit_case(kit, TN_SLOT_IMPORT_RELEASE, "import_release: an allocated buffer");
	expect(&m, release(&m, m.buffer, 0), TN_INVALID_ARGUMENT, "import_release");
	kit_pass(kit);
	expect(&m, import(&m, m.pointer, SIZE, 0), TN_OK, "import_memory");
	kit_case(kit, TN_SLOT_IMPORT_RELEASE, "import_release: invalid arguments");
	expect(&m, release(&m, m.imported, UNKNOWN_FLAG), TN_UNSUPPORTED, "an unknown flag");
	expect(&m, release(&m, m.imported, 0), TN_OK, "import_release");
	expect(&m, release(&m, m.imported, 0), TN_INVALID_ARGUMENT, "a second import_release");
	kit_pass(kit);
	kit_case(kit, TN_SLOT_EXPORT_MEMORY, "export_memory: invalid arguments");
	m.pointer = 77;
	expect(&m, export(&m, m.buffer, UNKNOWN_FLAG), TN_UNSUPPORTED, "an unknown flag");
	expect(&m, free_buffer(&m, m.buffer), TN_OK, "free");
	expect(&m, export(&m, m.buffer, 0), TN_INVALID_ARGUMENT, "a buffer that was freed");
	if (m.pointer != 77)
		kit_fail(kit, "it was refused, and the pointer was written");
	kit_pass(kit);
}
