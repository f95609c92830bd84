/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The cache of programs: an open hash table over {text, names, dtypes}.  The key is one string of
 * bytes, so equality is a comparison of memory.
 */
#include "dispatch/programs.h"

#include <string.h>

#include "array/runtime.h"
#include "base/memory.h"
#include "program/hash.h"
#include "program/parser.h"

struct tn_program_entry {
	uint64_t hash;
	size_t n_key;
	char *key;
	struct tn_program *program;
	tn_dtype results[TN_PROGRAM_MAX_OUTPUTS]; /* of the outputs, in the language */
	int is_users;                             /* and nothing else refers to it */
};

enum { FIRST_SLOTS = 256 };

struct tn_program_cache *tn_programs_create(void)
{
	struct tn_program_cache *cache = tn_mem_zeroed(1, sizeof(*cache));
	if (!cache)
		return NULL;
	cache->n_slots = FIRST_SLOTS;
	cache->slots = tn_mem_zeroed(cache->n_slots, sizeof(*cache->slots));
	if (!cache->slots) {
		tn_mem_free(cache);
		return NULL;
	}
	return cache;
}

static void free_entry(struct tn_program_entry *entry)
{
	if (!entry)
		return;
	tn_program_destroy(entry->program);
	tn_mem_free(entry->key);
	tn_mem_free(entry);
}

void tn_programs_destroy(struct tn_program_cache *cache)
{
	if (!cache)
		return;
	for (uint32_t i = 0; i < cache->n_slots; i++)
		free_entry(cache->slots[i]);
	tn_mem_free(cache->slots);
	tn_mem_free(cache);
}

/* ---- Keys ------------------------------------------------------------------------------------*/

/* The longest key that is not allocated. */
enum { SHORT_KEY = 1024 };

/* Its upper limit. */
static size_t list_size(const struct tn_name_list *list)
{
	size_t size = sizeof(list->n) + list->n * sizeof(tn_dtype) + 1;
	if (!list->array)
		return size + (list->n ? strlen(list->words) : 0);
	for (uint32_t i = 0; i < list->n; i++)
		size += strlen(list->array[i]) + 1;
	return size;
}

static size_t key_size(const struct tn_program_source *source)
{
	return strlen(source->text) + 1 + list_size(&source->inputs) + list_size(&source->scalars) +
	       list_size(&source->outputs);
}

static char *put(char *to, const void *from, size_t size)
{
	memcpy(to, from, size);
	return to + size;
}

static char *put_list(char *to, const struct tn_name_list *list)
{
	to = put(to, &list->n, sizeof(list->n));
	if (list->n && !list->array)
		to = put(to, list->words, strlen(list->words));
	for (uint32_t i = 0; i < list->n && list->array; i++) {
		if (i)
			*to++ = ' ';
		to = put(to, list->array[i], strlen(list->array[i]));
	}
	*to++ = '\0';
	if (list->dtypes)
		return put(to, list->dtypes, list->n * sizeof(tn_dtype));
	memset(to, 0, list->n * sizeof(tn_dtype));
	return to + list->n * sizeof(tn_dtype);
}

static size_t write_key(char *key, const struct tn_program_source *source)
{
	char *to = put(key, source->text, strlen(source->text) + 1);
	to = put_list(to, &source->inputs);
	to = put_list(to, &source->scalars);
	to = put_list(to, &source->outputs);
	return (size_t)(to - key);
}

/* ---- The table -------------------------------------------------------------------------------*/

static uint32_t slot_of(const struct tn_program_cache *cache, uint64_t hash, const char *key,
			size_t n_key)
{
	uint32_t i = (uint32_t)hash & (cache->n_slots - 1);
	while (cache->slots[i]) {
		const struct tn_program_entry *entry = cache->slots[i];
		if (entry->hash == hash && entry->n_key == n_key &&
		    memcmp(entry->key, key, n_key) == 0)
			break;
		i = (i + 1) & (cache->n_slots - 1);
	}
	return i;
}

/* Keeps the table at most half full, so that a search ends. */
static tn_status make_room(struct tn_program_cache *cache)
{
	struct tn_program_entry **old = cache->slots;
	uint32_t n_old = cache->n_slots;
	if (cache->n_entries + 1 <= n_old / 2)
		return TN_OK;
	cache->slots = tn_mem_zeroed((size_t)n_old * 2, sizeof(*old));
	if (!cache->slots) {
		cache->slots = old;
		return TN_OUT_OF_MEMORY;
	}
	cache->n_slots = n_old * 2;
	for (uint32_t i = 0; i < n_old; i++) {
		if (old[i])
			cache->slots[slot_of(cache, old[i]->hash, old[i]->key, old[i]->n_key)] =
				old[i];
	}
	tn_mem_free(old);
	return TN_OK;
}

/* Takes ownership of `program` on success; NULL: out of memory. */
static struct tn_program_entry *add_entry(struct tn_program_cache *cache, uint64_t hash,
					  const char *key, size_t n_key, struct tn_program *program,
					  const tn_dtype *results)
{
	struct tn_program_entry *entry = tn_mem_alloc(sizeof(*entry));
	char *copy = tn_mem_alloc(n_key);
	if (!entry || !copy || make_room(cache)) {
		tn_mem_free(entry);
		tn_mem_free(copy);
		return NULL;
	}
	memcpy(copy, key, n_key);
	entry->hash = hash;
	entry->n_key = n_key;
	entry->key = copy;
	entry->program = program;
	entry->is_users = 0;
	memcpy(entry->results, results, sizeof(entry->results));
	cache->slots[slot_of(cache, hash, entry->key, entry->n_key)] = entry;
	cache->n_entries++;
	return entry;
}

/* ---- Parsing ---------------------------------------------------------------------------------*/

/* The words of a list, each with its NUL. */
struct words {
	char bytes[SHORT_KEY];
	const char *array[TN_PROGRAM_MAX_INPUTS];
};

/* The names of a list as an array; NULL: a string is too long or has too many words. */
static const char *const *names_of(const struct tn_name_list *list, struct words *words)
{
	uint32_t n = 0;
	if (list->array || !list->n)
		return list->array;
	if (list->n > TN_PROGRAM_MAX_INPUTS || strlen(list->words) >= sizeof(words->bytes))
		return NULL;
	strcpy(words->bytes, list->words);
	words->array[n++] = words->bytes;
	for (char *at = words->bytes; *at; at++) {
		if (*at == ' ') {
			*at = '\0';
			words->array[n++] = at + 1;
		}
	}
	return words->array;
}

tn_status tn_programs_parse(const struct tn_program_source *source, struct tn_program **program,
			    tn_dtype *results, struct tn_error_info *report)
{
	static const tn_dtype inferred[TN_PROGRAM_MAX_SCALARS];
	struct words inputs, scalars, outputs;
	const struct tn_program_names names = {
		.struct_size = sizeof(names),
		.n_inputs = source->inputs.n,
		.n_scalars = source->scalars.n,
		.n_outputs = source->outputs.n,
		.inputs = names_of(&source->inputs, &inputs),
		.input_dtypes = source->inputs.dtypes,
		.scalars = names_of(&source->scalars, &scalars),
		.scalar_dtypes = source->scalars.dtypes ? source->scalars.dtypes : inferred,
		.outputs = names_of(&source->outputs, &outputs),
		.output_dtypes = source->outputs.dtypes,
	};
	return tn_program_parse_typed(source->text, &names, program, results, report);
}

/* The entry of that key, or a new one.  A new one is cached if `keep` is set: *entry; else it is
 * *temporary, and *entry NULL. */
static tn_status find_key(struct tn_runtime *runtime, const char *operation, const char *key,
			  size_t n_key, const struct tn_program_source *source, int keep,
			  int *is_new, struct tn_program_entry **entry,
			  struct tn_program **temporary, tn_dtype results[TN_PROGRAM_MAX_OUTPUTS])
{
	struct tn_program_cache *cache = runtime->programs;
	struct tn_program *program = NULL;
	uint64_t hash[2];
	tn_hash_bytes(key, n_key, hash);
	*entry = cache->slots[slot_of(cache, hash[0], key, n_key)];
	*is_new = !*entry;
	if (*entry) {
		memcpy(results, (*entry)->results, sizeof((*entry)->results));
		return TN_OK;
	}
	tn_status status = tn_programs_parse(source, &program, results, &runtime->report);
	if (status)
		return status;
	if (!keep) {
		*temporary = program;
		return TN_OK;
	}
	*entry = add_entry(cache, hash[0], key, n_key, program, results);
	if (*entry)
		return TN_OK;
	tn_program_destroy(program);
	return tn_no_memory(&runtime->report, operation, NULL, "a program");
}

static tn_status find_or_parse(struct tn_runtime *runtime, const char *operation,
			       const struct tn_program_source *source, int keep, int *is_new,
			       struct tn_program_entry **entry, struct tn_program **temporary,
			       tn_dtype results[TN_PROGRAM_MAX_OUTPUTS])
{
	char short_key[SHORT_KEY], *key = short_key;
	size_t size = key_size(source);
	*entry = NULL;
	if (size > sizeof(short_key))
		key = tn_mem_alloc(size);
	if (!key)
		return tn_no_memory(&runtime->report, operation, NULL, "a program");
	tn_status status = find_key(runtime, operation, key, write_key(key, source), source, keep,
				    is_new, entry, temporary, results);
	if (key != short_key)
		tn_mem_free(key);
	return status;
}

/* From now on something refers to the program for as long as the context lives. */
static void pin(struct tn_program_cache *cache, struct tn_program_entry *entry)
{
	cache->n_users -= (uint32_t)entry->is_users;
	entry->is_users = 0;
}

static struct tn_program_source source_of(const char *text, const struct tn_program_names *names)
{
	return (struct tn_program_source){
		.text = text,
		.inputs = {.n = names->n_inputs,
			   .array = names->inputs,
			   .dtypes = names->input_dtypes},
		.scalars = {.n = names->n_scalars,
			    .array = names->scalars,
			    .dtypes = names->scalar_dtypes},
		.outputs = {.n = names->n_outputs,
			    .array = names->outputs,
			    .dtypes = names->output_dtypes},
	};
}

tn_status tn_programs_find(struct tn_runtime *runtime, const char *operation,
			   const struct tn_program_source *source,
			   const struct tn_program **program)
{
	tn_dtype results[TN_PROGRAM_MAX_OUTPUTS] = {0};
	struct tn_program_entry *entry;
	int is_new;
	tn_status status =
		find_or_parse(runtime, operation, source, 1, &is_new, &entry, NULL, results);
	if (status)
		return status;
	pin(runtime->programs, entry);
	*program = entry->program;
	return TN_OK;
}

tn_status tn_programs_get_users(struct tn_runtime *runtime, const char *operation, const char *text,
				const struct tn_program_names *names,
				const struct tn_program **program,
				tn_dtype results[TN_PROGRAM_MAX_OUTPUTS],
				struct tn_program **temporary)
{
	struct tn_program_cache *cache = runtime->programs;
	int keep = runtime->recorder || cache->n_users < TN_PROGRAMS_OF_USERS;
	struct tn_program_entry *entry;
	int is_new = 0;
	*temporary = NULL;
	memset(results, 0, TN_PROGRAM_MAX_OUTPUTS * sizeof(*results));
	const struct tn_program_source source = source_of(text, names);
	tn_status status = find_or_parse(runtime, operation, &source, keep, &is_new, &entry,
					 temporary, results);
	if (status)
		return status;
	cache->n_parsed += (uint64_t)is_new;
	cache->n_found += (uint64_t)!is_new;
	if (is_new && entry) {
		entry->is_users = 1;
		cache->n_users++;
	}
	if (entry && runtime->observer)
		pin(cache, entry);
	*program = entry ? entry->program : *temporary;
	return TN_OK;
}

/* Puts the entries that are left into an empty table of the same size. */
static void settle(struct tn_program_cache *cache, struct tn_program_entry **old)
{
	for (uint32_t i = 0; i < cache->n_slots; i++) {
		struct tn_program_entry *entry = old[i];
		if (entry)
			cache->slots[slot_of(cache, entry->hash, entry->key, entry->n_key)] = entry;
	}
}

tn_status tn_programs_clear(struct tn_runtime *runtime)
{
	struct tn_program_cache *cache = runtime->programs;
	struct tn_program_entry **old = cache->slots;
	cache->slots = tn_mem_zeroed(cache->n_slots, sizeof(*old));
	if (!cache->slots) {
		cache->slots = old;
		return tn_no_memory(&runtime->report, "clear_memo", NULL, "a program");
	}
	for (uint32_t i = 0; i < cache->n_slots; i++) {
		if (!old[i] || !old[i]->is_users)
			continue;
		if (runtime->forget)
			runtime->forget(runtime->attachment, old[i]->program);
		free_entry(old[i]);
		old[i] = NULL;
		cache->n_entries--;
		cache->n_users--;
	}
	settle(cache, old);
	tn_mem_free(old);
	return TN_OK;
}
