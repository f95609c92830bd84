/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The dynamic section, its strings and its symbols.  Sizes are bounded (MAX_...), addresses are
 * turned into offsets by the loaded segments, and every read is checked against the file's size.
 *
 * Only the hash tables give the number of symbols: DT_HASH holds it, and DT_GNU_HASH implies it by
 * the end of its last chain (https://sourceware.org/legacy-ml/binutils/2006-10/msg00377.html).
 */
#include "loader/elf_dynamic.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "loader/elf.h"

#define MAX_SEGMENTS 64
#define MAX_DYNAMIC 4096u
#define MAX_STRINGS (64u << 20)
#define MAX_SYMBOLS (1u << 22)

struct reader {
	struct tn_elf_file file;
	Elf64_Phdr loads[MAX_SEGMENTS];
	unsigned n_loads;
	Elf64_Dyn *entries;
	size_t n_entries;
	char *strings; /* n_strings bytes and a NUL */
	uint64_t n_strings;
};

static tn_status refuse_section(const struct reader *reader, const char *text)
{
	return tn_fail(reader->file.error, TN_BAD_PLUGIN, "inspect", "%s", text);
}

/* The file offset of an address; UINT64_MAX, past the end of every file, when it has none. */
static uint64_t offset_of(const struct reader *reader, uint64_t address)
{
	for (unsigned i = 0; i < reader->n_loads; i++) {
		const Elf64_Phdr *load = &reader->loads[i];
		if (address >= load->p_vaddr && address - load->p_vaddr < load->p_filesz)
			return load->p_offset + (address - load->p_vaddr);
	}
	return UINT64_MAX;
}

/* The value of a tag; 0: absent. */
static uint64_t value_of(const struct reader *reader, int64_t tag)
{
	for (size_t i = 0; i < reader->n_entries; i++) {
		if (reader->entries[i].d_tag == tag)
			return reader->entries[i].d_un.d_val;
	}
	return 0;
}

static int has(const struct reader *reader, int64_t tag)
{
	for (size_t i = 0; i < reader->n_entries; i++) {
		if (reader->entries[i].d_tag == tag)
			return 1;
	}
	return 0;
}

/* A string of the string table; "" for a bad offset. */
static const char *string_at(const struct reader *reader, uint64_t at)
{
	return at < reader->n_strings ? reader->strings + at : "";
}

/* ---- Reading ---------------------------------------------------------------------------------*/

static tn_status read_entries(struct reader *reader, const Elf64_Phdr *segment)
{
	size_t n = (size_t)(segment->p_filesz / sizeof(*reader->entries));
	tn_mem_free(reader->entries);
	reader->entries = NULL;
	reader->n_entries = 0;
	if (n > MAX_DYNAMIC)
		return refuse_section(reader, "the dynamic section is too long");
	reader->entries = tn_mem_zeroed(n + 1, sizeof(*reader->entries));
	if (!reader->entries)
		return tn_no_memory(reader->file.error, "inspect", NULL, "the dynamic section");
	tn_status status = tn_elf_read(&reader->file, segment->p_offset, reader->entries,
				       n * sizeof(*reader->entries), "the dynamic section");
	while (!status && reader->n_entries < n &&
	       reader->entries[reader->n_entries].d_tag != DT_NULL)
		reader->n_entries++;
	return status;
}

static tn_status read_segments(struct reader *reader, struct tn_elf_dynamic *dynamic)
{
	tn_status status = TN_OK;
	dynamic->executable_stack = 1;
	for (unsigned i = 0; !status && i < reader->file.header.e_phnum; i++) {
		Elf64_Phdr segment;
		status = tn_elf_segment(&reader->file, i, &segment);
		if (status)
			break;
		if (segment.p_type == PT_GNU_STACK)
			dynamic->executable_stack = (segment.p_flags & PF_X) != 0;
		else if (segment.p_type == PT_DYNAMIC)
			status = read_entries(reader, &segment);
		if (segment.p_type != PT_LOAD)
			continue;
		if (segment.p_flags & PF_X && segment.p_flags & PF_W)
			dynamic->writable_code = 1;
		if (reader->n_loads == MAX_SEGMENTS)
			return refuse_section(reader, "too many loaded segments");
		reader->loads[reader->n_loads++] = segment;
	}
	return status;
}

static tn_status read_strings(struct reader *reader)
{
	uint64_t size = value_of(reader, DT_STRSZ);
	if (size > MAX_STRINGS || size > reader->file.size)
		return refuse_section(reader, "the string table is too long");
	reader->strings = tn_mem_zeroed(1, (size_t)size + 1);
	if (!reader->strings)
		return tn_no_memory(reader->file.error, "inspect", NULL, "the string table");
	reader->n_strings = size;
	return tn_elf_read(&reader->file, offset_of(reader, value_of(reader, DT_STRTAB)),
			   reader->strings, (size_t)size, "the string table");
}

/* One more than the last symbol's number in the GNU hash table's chains. */
static tn_status count_by_gnu_hash(struct reader *reader, uint64_t at, uint32_t *n)
{
	uint32_t head[4], last = 0, word = 0; /* buckets, first symbol, bloom words, shift */
	tn_status status = tn_elf_read(&reader->file, at, head, sizeof(head), "the hash table");
	if (status || head[0] > MAX_SYMBOLS || head[2] > MAX_SYMBOLS || head[1] > MAX_SYMBOLS)
		return status ? status : refuse_section(reader, "the hash table is malformed");
	at += sizeof(head) + 8 * (uint64_t)head[2];
	for (uint32_t i = 0; !status && i < head[0]; i++) {
		status = tn_elf_read(&reader->file, at + 4 * (uint64_t)i, &word, sizeof(word),
				     "the hash table");
		if (word > last)
			last = word;
	}
	*n = head[1];
	if (status || last < head[1])
		return status;
	at += 4 * (uint64_t)head[0];
	for (word = 0; !status && !(word & 1) && last < MAX_SYMBOLS; last++)
		status = tn_elf_read(&reader->file, at + 4 * (uint64_t)(last - head[1]), &word,
				     sizeof(word), "the hash table");
	*n = last;
	return status;
}

static tn_status count_symbols(struct reader *reader, uint32_t *n)
{
	uint32_t head[2] = {0, 0}; /* buckets, chains: one a symbol */
	tn_status status;
	*n = 0;
	if (has(reader, DT_GNU_HASH))
		return count_by_gnu_hash(reader, offset_of(reader, value_of(reader, DT_GNU_HASH)),
					 n);
	if (!has(reader, DT_HASH))
		return refuse_section(reader, "it has no symbol hash table");
	status = tn_elf_read(&reader->file, offset_of(reader, value_of(reader, DT_HASH)), head,
			     sizeof(head), "the hash table");
	*n = head[1];
	return status || head[1] <= MAX_SYMBOLS ? status
						: refuse_section(reader, "too many symbols");
}

/* ---- Reporting -------------------------------------------------------------------------------*/

typedef void (*name_function)(void *user, enum tn_elf_name kind, const char *name);

static tn_status tell_symbols(struct reader *reader, name_function name, void *user)
{
	uint64_t at = offset_of(reader, value_of(reader, DT_SYMTAB));
	uint32_t n;
	tn_status status = count_symbols(reader, &n);
	/* Symbol 0 is the undefined symbol. */
	for (uint32_t i = 1; !status && i < n; i++) {
		Elf64_Sym symbol;
		if (at > reader->file.size)
			return refuse_section(reader, "its symbol table lies outside the file");
		status = tn_elf_read(&reader->file, at + i * sizeof(symbol), &symbol,
				     sizeof(symbol), "a symbol");
		if (status)
			break;
		const char *text = string_at(reader, symbol.st_name);
		unsigned binding = ELF64_ST_BIND(symbol.st_info);
		unsigned visibility = ELF64_ST_VISIBILITY(symbol.st_other);
		if (!*text || binding == STB_LOCAL)
			continue;
		if (symbol.st_shndx == SHN_UNDEF)
			name(user, binding == STB_WEAK ? TN_ELF_WEAK : TN_ELF_UNDEFINED, text);
		else if (visibility == STV_DEFAULT || visibility == STV_PROTECTED)
			name(user, TN_ELF_EXPORTED, text);
	}
	return status;
}

static void tell_entries(const struct reader *reader, struct tn_elf_dynamic *dynamic,
			 name_function name, void *user)
{
	uint64_t flags = value_of(reader, DT_FLAGS);
	dynamic->text_relocations = has(reader, DT_TEXTREL) || flags & DF_TEXTREL;
	dynamic->static_tls = (flags & DF_STATIC_TLS) != 0;
	dynamic->stays = (value_of(reader, DT_FLAGS_1) & DF_1_NODELETE) != 0;
	dynamic->n_constructors = value_of(reader, DT_INIT_ARRAYSZ) / 8;
	dynamic->n_destructors = value_of(reader, DT_FINI_ARRAYSZ) / 8;
	for (size_t i = 0; i < reader->n_entries; i++) {
		if (reader->entries[i].d_tag == DT_NEEDED)
			name(user, TN_ELF_NEEDED, string_at(reader, reader->entries[i].d_un.d_val));
	}
}

tn_status tn_elf_read_dynamic(int fd, struct tn_elf_dynamic *dynamic, name_function name,
			      void *user, struct tn_error_info *error)
{
	struct reader *reader = tn_mem_zeroed(1, sizeof(*reader));
	if (!reader)
		return tn_no_memory(error, "inspect", NULL, "a reader");
	memset(dynamic, 0, sizeof(*dynamic));
	tn_status status = tn_elf_open(&reader->file, fd, error);
	if (!status)
		status = read_segments(reader, dynamic);
	if (!status && !reader->n_entries)
		status = refuse_section(reader, "it has no dynamic section");
	if (!status)
		status = read_strings(reader);
	if (!status)
		tell_entries(reader, dynamic, name, user);
	if (!status)
		status = tell_symbols(reader, name, user);
	tn_mem_free(reader->strings);
	tn_mem_free(reader->entries);
	tn_mem_free(reader);
	return status;
}
