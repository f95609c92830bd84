/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The functions that printed programs call, in three parts: the words of the dialect, which the
 * caller supplies; templates for integers and floating types; random numbers.  The texts are those
 * of prelude.tpl.
 */
#include "program/prelude.h"

#include <string.h>

#include "base/bits.h"
#include "prelude_texts.h"
#include "program/printer.h"
#include "program/random.h"
#include "program/sink.h"

struct words {
	const char *dtype;
	const char *unsigned_type;
	const char *last_bit;
	const char *mathematics;
};

static const char *word_of(const struct words *words, char mark)
{
	switch (mark) {
	case 'T':
		return words->dtype;
	case 'U':
		return words->unsigned_type;
	case 'W':
		return words->last_bit;
	default:
		return words->mathematics;
	}
}

/* Adds the template with its marks replaced. */
static void add_template(struct tn_sink *sink, const char *text, const struct words *words)
{
	for (const char *mark = strchr(text, '$'); mark; mark = strchr(text, '$')) {
		tn_sink_append(sink, text, (size_t)(mark - text));
		tn_sink_add(sink, word_of(words, mark[1]));
		text = mark + 2;
	}
	tn_sink_add(sink, text);
}

tn_status tn_print_prelude(const struct tn_print_args *args)
{
	struct tn_sink sink;
	if (!tn_print_begin(args, &sink))
		return TN_INVALID_ARGUMENT;
	tn_sink_add(&sink, args->dialect->words);
	static const struct words i32 = {.dtype = "i32", .unsigned_type = "u32", .last_bit = "31"};
	static const struct words u32 = {.dtype = "u32", .unsigned_type = "u32", .last_bit = "31"};
	static const struct words i64 = {.dtype = "i64", .unsigned_type = "u64", .last_bit = "63"};
	static const struct words f32 = {.dtype = "f32", .mathematics = "TN_M32"};
	static const struct words f64 = {.dtype = "f64", .mathematics = "TN_M64"};
	tn_sink_add(&sink, booleans);
	add_template(&sink, integers, &i32);
	add_template(&sink, signed_integers, &i32);
	add_template(&sink, integers, &u32);
	add_template(&sink, unsigned_integers, &u32);
	add_template(&sink, integers, &i64);
	add_template(&sink, signed_integers, &i64);
	add_template(&sink, floats, &f32);
	tn_sink_add(&sink, "#ifdef TN_HAS_F64\n");
	add_template(&sink, floats, &f64);
	tn_sink_add(&sink, "#endif\n#ifdef TN_HAS_STORAGE\n");
	tn_sink_add(&sink, halves);
	add_template(&sink, saturating, &f32);
	tn_sink_add(&sink, "#ifdef TN_HAS_F64\n");
	add_template(&sink, saturating, &f64);
	tn_sink_add(&sink, "#endif\n#endif\n");
	tn_sink_add(&sink, philox);
	/* Half of the text, which compilers do not drop when it is unused. */
	tn_sink_add(&sink, "#ifndef TN_NO_NORMAL\n");
	/* The coefficients of the normal quantile, as bits. */
	const int n = TN_NORMAL_SEGMENTS * TN_NORMAL_COEFFICIENTS;
	const float *table = &tn_normal_table[0][0];
	tn_sink_format(&sink, "TN_DATA tn_u32 tn_normal_table[%d] = {", n);
	for (int k = 0; k < n; k++) {
		uint32_t bits = (uint32_t)tn_bits_of_f32(table[k]);
		tn_sink_format(&sink, "%s0x%08xu,", k % 8 ? " " : "\n\t", bits);
	}
	tn_sink_add(&sink, "\n};\n");
	tn_sink_add(&sink, normal);
	tn_sink_add(&sink, "#endif\n");
	return TN_OK;
}
