/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The cache of programs: an open hash table over {text, names, dtypes}.  The key is one string of
 * bytes, so equality is a comparison of memory.
 */
#include "dispatch/programs.h"

#include <stdio.h>
#include <string.h>

#include "array/result_type.h"
#include "array/runtime.h"
#include "base/dtype.h"
#include "base/memory.h"
#include "base/text.h"
#include "dispatch/power.h"
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

static void add_list(struct tn_text *key, uint32_t n, const char *const *names,
		     const tn_dtype *dtypes)
{
	tn_text_append(key, (const char *)&n, sizeof(n));
	for (uint32_t i = 0; i < n; i++) {
		tn_dtype dtype = dtypes ? dtypes[i] : 0;
		tn_text_append(key, names[i], strlen(names[i]) + 1);
		tn_text_append(key, (const char *)&dtype, sizeof(dtype));
	}
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

/* Takes ownership of `program` and `key` on success; NULL: out of memory. */
static struct tn_program_entry *add_entry(struct tn_program_cache *cache, uint64_t hash,
					  struct tn_text *key, struct tn_program *program,
					  const tn_dtype *results)
{
	struct tn_program_entry *entry = tn_mem_alloc(sizeof(*entry));
	if (!entry || make_room(cache)) {
		tn_mem_free(entry);
		return NULL;
	}
	entry->hash = hash;
	entry->n_key = key->length;
	entry->key = tn_text_take(key);
	entry->program = program;
	entry->is_users = 0;
	memcpy(entry->results, results, sizeof(entry->results));
	cache->slots[slot_of(cache, hash, entry->key, entry->n_key)] = entry;
	cache->n_entries++;
	return entry;
}

/* Finds the entry of a text, or parses it.  A new one is cached if `keep` is set: *entry; else it
 * is *temporary, and *entry NULL. */
static tn_status find_or_parse(struct tn_runtime *runtime, const char *operation, const char *text,
			       const struct tn_program_names *names, int keep, int *is_new,
			       struct tn_program_entry **entry, struct tn_program **temporary,
			       tn_dtype results[TN_PROGRAM_MAX_OUTPUTS])
{
	struct tn_program_cache *cache = runtime->programs;
	struct tn_program *program = NULL;
	struct tn_text key;
	uint64_t hash[2];
	tn_status status = TN_OK;
	*entry = NULL;
	tn_text_init(&key);
	tn_text_append(&key, text, strlen(text) + 1);
	add_list(&key, names->n_inputs, names->inputs, names->input_dtypes);
	add_list(&key, names->n_scalars, names->scalars, names->scalar_dtypes);
	add_list(&key, names->n_outputs, names->outputs, names->output_dtypes);
	if (key.failed) {
		status = tn_no_memory(&runtime->report, operation, NULL, "a program");
		goto done;
	}
	tn_hash_bytes(key.data, key.length, hash);
	*entry = cache->slots[slot_of(cache, hash[0], key.data, key.length)];
	*is_new = !*entry;
	if (*entry) {
		memcpy(results, (*entry)->results, sizeof((*entry)->results));
		goto done;
	}
	status = tn_program_parse_typed(text, names, &program, results, &runtime->report);
	if (status)
		goto done;
	if (!keep) {
		*temporary = program;
		goto done;
	}
	*entry = add_entry(cache, hash[0], &key, program, results);
	if (!*entry) {
		tn_program_destroy(program);
		status = tn_no_memory(&runtime->report, operation, NULL, "a program");
	}
done:
	tn_text_release(&key);
	return status;
}

/* From now on something refers to the program for as long as the context lives. */
static void pin(struct tn_program_cache *cache, struct tn_program_entry *entry)
{
	cache->n_users -= (uint32_t)entry->is_users;
	entry->is_users = 0;
}

tn_status tn_programs_get(struct tn_runtime *runtime, const char *operation, const char *text,
			  const struct tn_program_names *names, const struct tn_program **program)
{
	tn_dtype results[TN_PROGRAM_MAX_OUTPUTS] = {0};
	struct tn_program_entry *entry;
	int is_new;
	tn_status status =
		find_or_parse(runtime, operation, text, names, 1, &is_new, &entry, NULL, results);
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
	tn_status status = find_or_parse(runtime, operation, text, names, keep, &is_new, &entry,
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

/* ---- Programs of the library -----------------------------------------------------------------*/

const char *const tn_short_inputs[TN_PROGRAM_MAX_INPUTS] = {"x",   "y",   "c",   "d",  "e",   "f",
							    "g",   "h",   "x8",  "x9", "x10", "x11",
							    "x12", "x13", "x14", "x15"};
const char *const tn_short_scalars[TN_SHORT_SCALARS] = {"a", "b", "s", "t",  "u",
							"v", "p", "q", "s8", "s9"};
static const char *const output_names[TN_PROGRAM_MAX_OUTPUTS] = {"out0", "out1", "out2", "out3",
								 "out4", "out5", "out6", "out7"};

/* A comparison of a u64 with a signed integer, which have no common integer dtype: exact. */
static const char *compare_signs(enum tn_operation operation, const tn_dtype *dtypes, char *text,
				 size_t size)
{
	static const char *const symbols[TN_ELEMENT_OPERATIONS] = {
		[TN_DO_EQUAL] = "==",      [TN_DO_NOT_EQUAL] = "!=", [TN_DO_LESS] = "<",
		[TN_DO_LESS_EQUAL] = "<=", [TN_DO_GREATER] = ">",    [TN_DO_GREATER_EQUAL] = ">=",
	};
	const char *symbol = symbols[operation];
	int u64_first = dtypes[0] == TN_U64;
	tn_dtype other = dtypes[u64_first];
	if (!symbol || (dtypes[0] != TN_U64 && dtypes[1] != TN_U64) || !tn_is_integer(other) ||
	    tn_is_unsigned(other))
		return NULL;
	/* A negative number compares with every u64 as it does with 0. */
	snprintf(text, size,
		 u64_first ? "z = y < 0 ? 0 %s -1 : x %s u64(y)"
			   : "z = x < 0 ? -1 %s 0 : u64(x) %s y",
		 symbol, symbol);
	return text;
}

static tn_status find_element(struct tn_runtime *runtime, enum tn_operation operation,
			      const tn_dtype *dtypes, struct tn_element_program *found)
{
	static const tn_dtype inferred[TN_PROGRAM_MAX_SCALARS];
	const struct tn_element_operation *element = &tn_element_operations[operation];
	char text[TN_POWER_TEXT];
	const char *chosen = element->text;
	tn_dtype loop = dtypes[element->typed_from], read[3] = {0};
	struct tn_program_names names = {
		.struct_size = sizeof(names),
		.n_inputs = element->n_inputs,
		.n_scalars = element->n_scalars,
		.inputs = tn_short_inputs,
		.input_dtypes = read,
		.scalars = tn_short_scalars,
		.scalar_dtypes = inferred,
	};
	for (uint32_t i = element->typed_from; i < element->n_inputs; i++)
		loop = tn_result_type(loop, dtypes[i]);
	loop = tn_loop_type(element->loop, loop);
	if (!loop || tn_is_complex(loop))
		return tn_fail(&runtime->report, TN_DTYPE, tn_operation_names[operation],
			       "not defined for %s%s%s", tn_dtype_name(dtypes[element->typed_from]),
			       element->n_inputs > 1 ? " and " : "",
			       element->n_inputs > 1 ? tn_dtype_name(dtypes[element->n_inputs - 1])
						     : "");
	for (uint32_t i = 0; i < element->n_inputs; i++)
		read[i] = i < element->typed_from ? dtypes[i] : loop;
	if (loop == TN_BOOL && element->on_bools)
		chosen = element->on_bools;
	else if (tn_is_integer(loop) && element->on_integers)
		chosen = element->on_integers;
	else if (operation == TN_DO_POWER && tn_is_integer(loop))
		chosen = tn_power_text(loop, 0, text);
	else if (element->gives_bool && compare_signs(operation, dtypes, text, sizeof(text))) {
		chosen = text;
		memcpy(read, dtypes, 2 * sizeof(*dtypes));
	}
	found->result = element->gives_bool ? TN_BOOL : loop;
	return tn_programs_get(runtime, tn_operation_names[operation], chosen, &names,
			       &found->program);
}

tn_status tn_programs_element(struct tn_runtime *runtime, enum tn_operation operation,
			      const tn_dtype *dtypes, struct tn_element_program *element)
{
	uint32_t n = tn_element_operations[operation].n_inputs;
	struct tn_element_program *same =
		&runtime->programs->same[operation][dtypes[0] & (TN_DTYPES - 1)];
	tn_status status;
	for (uint32_t i = 1; i < n; i++) {
		if (dtypes[i] != dtypes[0])
			return find_element(runtime, operation, dtypes, element);
	}
	if (!same->program) {
		status = find_element(runtime, operation, dtypes, element);
		if (status)
			return status;
		*same = *element;
	}
	*element = *same;
	return TN_OK;
}

tn_status tn_programs_short(struct tn_runtime *runtime, const char *operation,
			    const struct tn_short_program *shorthand, const tn_dtype *dtypes,
			    const struct tn_program **program)
{
	tn_dtype scalar_dtype = shorthand->scalar_dtype, scalar_dtypes[TN_SHORT_SCALARS];
	struct tn_program_names names = {
		.struct_size = sizeof(names),
		.n_inputs = shorthand->n_inputs,
		.n_scalars = shorthand->n_scalars,
		.n_outputs = shorthand->n_outputs,
		.inputs = tn_short_inputs,
		.input_dtypes = dtypes,
		.scalars = tn_short_scalars,
		.scalar_dtypes = scalar_dtypes,
		.outputs = output_names,
	};
	for (uint32_t i = 0; i < shorthand->n_inputs && !shorthand->scalar_dtype; i++) {
		if (dtypes[i] == TN_F64)
			scalar_dtype = TN_F64;
	}
	for (uint32_t i = 0; i < shorthand->n_scalars; i++)
		scalar_dtypes[i] = scalar_dtype ? scalar_dtype : TN_F32;
	return tn_programs_get(runtime, operation, shorthand->text, &names, program);
}
