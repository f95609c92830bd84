/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The program headers (not the sections, which strip may remove) lead to the note segments, and the
 * notes in them are parsed in order.  Every offset is checked against the file's size with
 * arithmetic that cannot wrap; at most MAX_HEADERS headers and MAX_NOTES bytes of a segment are
 * read.
 *
 * Source: System V ABI, chapters 4 and 5 ("Note Section"); the padding of notes as in binutils:
 * name and description are padded to the segment's alignment, 4, or 8 where the segment says 8.
 */
#include "loader/elf.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

#define MAX_HEADERS 512
#define MAX_NOTES 65536u

#if defined(__x86_64__)
#define HOST_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define HOST_MACHINE EM_AARCH64
#elif defined(__riscv)
#define HOST_MACHINE EM_RISCV
#elif defined(__powerpc64__)
#define HOST_MACHINE EM_PPC64
#elif defined(__s390x__)
#define HOST_MACHINE EM_S390
#elif defined(__loongarch__)
#define HOST_MACHINE 258
#else
#error "name this machine's e_machine here"
#endif

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define HOST_ORDER ELFDATA2LSB
#else
#define HOST_ORDER ELFDATA2MSB
#endif

static tn_status refuse_file(const struct tn_elf_file *file, const char *text)
{
	return tn_fail(file->error, TN_BAD_PLUGIN, "inspect", "%s", text);
}

tn_status tn_elf_read(const struct tn_elf_file *file, uint64_t offset, void *data, size_t size,
		      const char *what)
{
	if (offset > file->size || size > file->size - offset)
		return tn_fail(file->error, TN_BAD_PLUGIN, "inspect",
			       "truncated: %s at offset %llu needs %zu bytes, the file has %llu",
			       what, (unsigned long long)offset, size,
			       (unsigned long long)file->size);
	for (size_t done = 0; done < size;) {
		ssize_t n =
			pread(file->fd, (char *)data + done, size - done, (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return tn_fail(file->error, TN_BAD_PLUGIN, "inspect",
				       "%s at offset %llu cannot be read: %s", what,
				       (unsigned long long)offset,
				       n ? strerror(errno) : "the file became shorter");
		done += (size_t)n;
	}
	return TN_OK;
}

static uint64_t padded(uint64_t size, uint64_t alignment)
{
	return (size + alignment - 1) & ~(alignment - 1);
}

/* A search for the note of a kind, in segment after segment. */
struct search {
	const struct tn_plugin_kind *kind;
	struct tn_backend_note *note;
	int found;
	const struct tn_plugin_kind *other; /* of a note that is another kind's; NULL: none */
};

/* Searches the notes in data[0..size): 1 found, 0 not found, -1 malformed. */
static int find_note(struct search *search, const unsigned char *data, uint64_t size,
		     uint64_t alignment)
{
	uint64_t at = 0;
	while (size - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr header;
		memcpy(&header, data + at, sizeof(header));
		/* The sizes have 32 bits: their sums in 64 bits cannot wrap. */
		uint64_t owner = at + sizeof(header);
		uint64_t description = padded(owner + header.n_namesz, alignment);
		if (description > size || header.n_descsz > size - description)
			return 0;
		int is_tenons =
			header.n_namesz == sizeof(TN_BACKEND_NOTE_OWNER) &&
			!memcmp(data + owner, TN_BACKEND_NOTE_OWNER, sizeof(TN_BACKEND_NOTE_OWNER));
		if (is_tenons && header.n_type == search->kind->note_type) {
			if (header.n_descsz < sizeof(*search->note))
				return -1;
			memcpy(search->note, data + description, sizeof(*search->note));
			return search->note->magic == TN_BACKEND_MAGIC ? 1 : -1;
		}
		if (is_tenons && !search->other)
			search->other = tn_plugin_kind_with(header.n_type);
		at = padded(description + header.n_descsz, alignment);
		if (at > size)
			return 0;
	}
	return 0;
}

static tn_status read_notes(const struct tn_elf_file *file, const Elf64_Phdr *segment,
			    struct search *search)
{
	uint64_t size = segment->p_filesz < MAX_NOTES ? segment->p_filesz : MAX_NOTES;
	unsigned char *data = tn_mem_alloc(size);
	if (!data)
		return tn_no_memory(file->error, "inspect", NULL, "the notes");
	tn_status status = tn_elf_read(file, segment->p_offset, data, size, "a note segment");
	if (!status) {
		int result = find_note(search, data, size, segment->p_align == 8 ? 8 : 4);
		search->found = result > 0;
		if (result < 0)
			status = tn_fail(file->error, TN_BAD_PLUGIN, "inspect",
					 "its Tenon note is malformed (%s makes it)",
					 search->kind->macro);
	}
	tn_mem_free(data);
	return status;
}

tn_status tn_elf_open(struct tn_elf_file *file, int fd, struct tn_error_info *error)
{
	struct stat information;
	*file = (struct tn_elf_file){.fd = fd, .error = error};
	Elf64_Ehdr *header = &file->header;
	unsigned char *ident = header->e_ident;
	if (fstat(fd, &information))
		return refuse_file(file, strerror(errno));
	file->size = (uint64_t)information.st_size;
	if (file->size < EI_NIDENT)
		return refuse_file(file, "not an ELF file: shorter than its header");
	tn_status status = tn_elf_read(file, 0, ident, EI_NIDENT, "the ELF identification");
	if (status)
		return status;
	if (memcmp(ident, ELFMAG, SELFMAG))
		return refuse_file(file, "not an ELF file");
	if (ident[EI_CLASS] != ELFCLASS64)
		return tn_fail(file->error, TN_BAD_PLUGIN, "inspect",
			       "an ELF file of class %s: expected 64-bit",
			       ident[EI_CLASS] == ELFCLASS32 ? "32-bit" : "unknown");
	if (ident[EI_DATA] != HOST_ORDER)
		return refuse_file(file,
				   "an ELF file of the other byte order: expected this machine's");
	status = tn_elf_read(file, 0, header, sizeof(*header), "the ELF header");
	if (status)
		return status;
	if (header->e_machine != HOST_MACHINE)
		return tn_fail(file->error, TN_BAD_PLUGIN, "inspect",
			       "made for another machine: ELF machine %u, expected %u",
			       header->e_machine, (unsigned)HOST_MACHINE);
	if (header->e_type != ET_DYN)
		return tn_fail(file->error, TN_BAD_PLUGIN, "inspect",
			       "ELF type %u: not a shared object", header->e_type);
	if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum > MAX_HEADERS)
		return tn_fail(file->error, TN_BAD_PLUGIN, "inspect",
			       "%u program headers of %u bytes: expected at most %u of %zu",
			       header->e_phnum, header->e_phentsize, MAX_HEADERS,
			       sizeof(Elf64_Phdr));
	return TN_OK;
}

tn_status tn_elf_segment(const struct tn_elf_file *file, unsigned i, Elf64_Phdr *segment)
{
	/* e_phoff may be any value: tn_elf_read rejects an offset beyond the file. */
	uint64_t offset = file->header.e_phoff > file->size
				  ? file->size
				  : file->header.e_phoff + i * sizeof(*segment);
	return tn_elf_read(file, offset, segment, sizeof(*segment), "a program header");
}

/* The reason why no note was found. */
static tn_status refuse_without_note(const struct tn_elf_file *file, const struct search *search)
{
	if (search->other)
		return tn_fail(file->error, TN_BAD_PLUGIN, "inspect",
			       "its Tenon note is that of %s, whose file name is %s_NAME.so",
			       search->other->article, search->other->name);
	return tn_fail(file->error, TN_BAD_PLUGIN, "inspect",
		       "it has no Tenon note: not %s of Tenon", search->kind->article);
}

tn_status tn_elf_read_note(int fd, const struct tn_plugin_kind *kind, struct tn_backend_note *note,
			   struct tn_error_info *error)
{
	struct tn_elf_file file;
	struct search search = {.kind = kind, .note = note};
	tn_status status = tn_elf_open(&file, fd, error);
	for (unsigned i = 0; !status && i < file.header.e_phnum; i++) {
		Elf64_Phdr segment;
		status = tn_elf_segment(&file, i, &segment);
		if (status)
			return status;
		if (segment.p_type == PT_NOTE && !search.found)
			status = read_notes(&file, &segment, &search);
		/* Every byte of a loaded segment must be there: dlopen maps them without looking,
		 * and a missing page is a SIGBUS later. */
		if (segment.p_type == PT_LOAD && (segment.p_offset > file.size ||
						  segment.p_filesz > file.size - segment.p_offset))
			return tn_fail(error, TN_BAD_PLUGIN, "inspect",
				       "truncated: a segment at offset %llu has %llu bytes, the "
				       "file has %llu",
				       (unsigned long long)segment.p_offset,
				       (unsigned long long)segment.p_filesz,
				       (unsigned long long)file.size);
	}
	return status || search.found ? status : refuse_without_note(&file, &search);
}
