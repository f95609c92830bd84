/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Recursive descent with a bound on depth, so that no text can exhaust the stack:
 *
 *     program    = { [ statement ] ( ";" | newline ) }
 *     statement  = name ( "=" | "+=" | "-=" | ... ) expression
 *     expression = binary [ "?" expression ":" expression ]
 *     binary     = C's ten levels from || to * / %, comparisons not chained
 *     unary      = ( "-" | "+" | "!" | "~" ) unary | power
 *     power      = primary [ "**" unary ]
 *     primary    = number | name | "(" expression ")"
 *                | name "(" [ expression { "," expression } ] ")"
 */
#include "base/words.h"
#include "program/parser.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "program/calls.h"
#include "program/cast.h"
#include "program/functions.h"
#include "program/parser_state.h"
#include "program/program.h"
#include "program/typing.h"

/* Advances past an operator: its operand may be on the next line. */
static void advance_to_operand(struct tn_parser *parser)
{
	do
		tn_parse_advance(parser);
	while (parser->token.kind == TN_TOKEN_NEWLINE);
}

/* Enters one level of nesting; 0, with the failure kept, at the limit. */
static int enter(struct tn_parser *parser)
{
	if (parser->depth++ < TN_PROGRAM_MAX_DEPTH)
		return 1;
	tn_parse_fail(parser, &parser->token, TN_LIMIT,
		      "the expression is nested deeper than %d levels", TN_PROGRAM_MAX_DEPTH);
	return 0;
}

static struct tn_binding *find(struct tn_parser *parser, const struct tn_token *name,
			       int must_be_set)
{
	for (uint32_t i = 0; i < parser->scope.n_bindings; i++) {
		struct tn_binding *binding = &parser->scope.bindings[i];
		if (binding->length == name->length &&
		    !memcmp(binding->name, name->start, name->length) &&
		    (binding->is_set || !must_be_set))
			return binding;
	}
	return NULL;
}

static int is_named(const struct tn_token *name, const char *text)
{
	return strlen(text) == name->length && !memcmp(text, name->start, name->length);
}

/* Names of constants, unless the program gives them another meaning. */
static int find_constant(struct tn_parser *parser, const struct tn_token *name,
			 struct tn_term *term)
{
	static const struct {
		const char *name;
		double value;
	} numbers[] = {{"pi", 3.14159265358979323846},
		       {"e", 2.71828182845904523536},
		       {"inf", INFINITY},
		       {"nan", NAN}};
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (is_named(name, numbers[i].name)) {
			*term = tn_literal_real(parser, numbers[i].value);
			return 1;
		}
	}
	if (!is_named(name, "true") && !is_named(name, "false"))
		return 0;
	*term = (struct tn_term){
		.value = tn_build_constant(&parser->builder, TN_BOOL, is_named(name, "true"))};
	return 1;
}

static struct tn_term read_name(struct tn_parser *parser, const struct tn_token *name)
{
	char text[80], hint[80];
	struct tn_term term;
	const struct tn_binding *binding = find(parser, name, 1);
	if (binding)
		return binding->term;
	if (find_constant(parser, name, &term))
		return term;
	tn_token_text(name, text, sizeof(text));
	if (find(parser, name, 0))
		return tn_parse_fail(parser, name, TN_NOT_FOUND,
				     "the output %s is read before it is assigned", text);
	return tn_parse_fail(parser, name, TN_NOT_FOUND, "unknown name %s%s", text,
			     tn_suggest(parser, name, hint, sizeof(hint)));
}

static struct tn_term parse_expression(struct tn_parser *parser);

/* ---- Calls -----------------------------------------------------------------------------------*/

/* Parses from '(' past ')'; returns the number of arguments. */
static int parse_arguments(struct tn_parser *parser, struct tn_term *arguments)
{
	int n = 0;
	parser->parentheses++;
	tn_parse_advance(parser);
	while (!parser->status && !(n == 0 && tn_parse_sees(parser, ')'))) {
		if (n == TN_MAX_ARGUMENTS) {
			tn_parse_fail(parser, &parser->token, TN_FORMAT,
				      "no function takes more than %d arguments", TN_MAX_ARGUMENTS);
			return n;
		}
		arguments[n++] = parse_expression(parser);
		if (!tn_parse_sees(parser, ','))
			break;
		tn_parse_advance(parser);
	}
	if (!tn_parse_sees(parser, ')'))
		tn_parse_expected(parser, "',', ')' or an operator");
	parser->parentheses--;
	tn_parse_advance(parser);
	return n;
}

/* Parses the formula with its parameters bound to the arguments, then continues in the text. */
static struct tn_term call_formula(struct tn_parser *parser, const struct tn_token *name,
				   const struct tn_function *function,
				   const struct tn_term *arguments)
{
	const struct tn_parser outer = *parser;
	struct tn_binding bindings[TN_MAX_ARGUMENTS];
	const char *parameter = function->parameters;
	for (int i = 0; i < function->n_arguments; i++) {
		bindings[i] = (struct tn_binding){.name = parameter,
						  .length = tn_word_length(parameter),
						  .kind = TN_BINDING_INPUT,
						  .is_set = 1,
						  .term = arguments[i]};
		parameter += bindings[i].length + 1;
	}
	parser->scope = (struct tn_bindings){bindings, function->n_arguments};
	parser->parentheses = 0;
	if (!parser->call)
		parser->call = name;
	tn_lexer_init(&parser->lexer, function->formula, outer.lexer.locale);
	tn_parse_advance(parser);
	struct tn_term term = parse_expression(parser);
	parser->scope = outer.scope;
	parser->parentheses = outer.parentheses;
	parser->call = outer.call;
	parser->lexer = outer.lexer;
	if (!parser->status)
		parser->token = outer.token;
	return term;
}

static struct tn_term parse_call(struct tn_parser *parser, const struct tn_token *name)
{
	struct tn_term arguments[TN_MAX_ARGUMENTS] = {{0}};
	char text[80], hint[80];
	tn_token_text(name, text, sizeof(text));
	if (!tn_function_find(name, -1).name)
		return tn_parse_fail(parser, name, TN_NOT_FOUND, "unknown function %s%s", text,
				     tn_suggest(parser, name, hint, sizeof(hint)));
	int n = parse_arguments(parser, arguments);
	if (parser->status)
		return (struct tn_term){0};
	const struct tn_function function = tn_function_find(name, n);
	if (function.n_arguments != n)
		return tn_parse_fail(parser, name, TN_FORMAT, "%s takes %d arguments, found %d",
				     text, function.n_arguments, n);
	if (function.kind == TN_CALL_UNIFIED)
		tn_terms_unify(parser, name, n, arguments);
	return function.formula ? call_formula(parser, name, &function, arguments)
				: tn_type_call(parser, name, &function, arguments);
}

/* ---- Expressions -----------------------------------------------------------------------------*/

static struct tn_term parse_parenthesis(struct tn_parser *parser)
{
	parser->parentheses++;
	tn_parse_advance(parser);
	struct tn_term term = parse_expression(parser);
	if (!tn_parse_sees(parser, ')'))
		return tn_parse_expected(parser, "')' or an operator");
	parser->parentheses--;
	tn_parse_advance(parser);
	return term;
}

static struct tn_term parse_primary(struct tn_parser *parser)
{
	const struct tn_token token = parser->token;
	switch (token.kind) {
	case TN_TOKEN_INTEGER:
		tn_parse_advance(parser);
		return tn_literal_integer(parser, token.integer);
	case TN_TOKEN_REAL:
		tn_parse_advance(parser);
		return tn_literal_real(parser, token.real);
	case TN_TOKEN_NAME:
		tn_parse_advance(parser);
		return tn_parse_sees(parser, '(') ? parse_call(parser, &token)
						  : read_name(parser, &token);
	default:
		if (tn_parse_sees(parser, '('))
			return parse_parenthesis(parser);
		return tn_parse_expected(parser, "an operand");
	}
}

static struct tn_term parse_unary(struct tn_parser *parser);

static struct tn_term parse_power(struct tn_parser *parser)
{
	struct tn_term base = parse_primary(parser);
	const struct tn_token token = parser->token;
	if (!tn_parse_sees(parser, TN_SYMBOL('*', '*', 0)) || !enter(parser))
		return base;
	advance_to_operand(parser);
	struct tn_term exponent = parse_unary(parser);
	parser->depth--;
	return tn_type_power(parser, &token, base, exponent);
}

static struct tn_term parse_unary(struct tn_parser *parser)
{
	const struct tn_token token = parser->token;
	if (!(tn_parse_sees(parser, '-') || tn_parse_sees(parser, '+') ||
	      tn_parse_sees(parser, '!') || tn_parse_sees(parser, '~')))
		return parse_power(parser);
	if (!enter(parser))
		return (struct tn_term){0};
	advance_to_operand(parser);
	struct tn_term operand = parse_unary(parser);
	parser->depth--;
	switch (token.symbol) {
	case '!':
		return tn_type_not(parser, &token, operand);
	case '~':
		return tn_type_unary(parser, &token, TN_OP_NOT, operand);
	case '-':
		return tn_type_unary(parser, &token, TN_OP_NEG, operand);
	default:
		return operand;
	}
}

struct operator
{
	uint32_t symbol;
	uint16_t op;
	uint16_t level; /* higher binds tighter */
};

enum {
	LEVEL_OR = 1,
	LEVEL_AND = 2,
	LEVEL_EQUALITY = 6,
	LEVEL_ORDER = 7,
};

static const struct operator operators[] = {
	{TN_SYMBOL('|', '|', 0), TN_OP_OR, LEVEL_OR},
	{TN_SYMBOL('&', '&', 0), TN_OP_AND, LEVEL_AND},
	{TN_SYMBOL('|', 0, 0), TN_OP_OR, 3},
	{TN_SYMBOL('^', 0, 0), TN_OP_XOR, 4},
	{TN_SYMBOL('&', 0, 0), TN_OP_AND, 5},
	{TN_SYMBOL('=', '=', 0), TN_OP_EQ, LEVEL_EQUALITY},
	{TN_SYMBOL('!', '=', 0), TN_OP_NE, LEVEL_EQUALITY},
	{TN_SYMBOL('<', 0, 0), TN_OP_LT, LEVEL_ORDER},
	{TN_SYMBOL('<', '=', 0), TN_OP_LE, LEVEL_ORDER},
	{TN_SYMBOL('>', 0, 0), TN_OP_GT, LEVEL_ORDER},
	{TN_SYMBOL('>', '=', 0), TN_OP_GE, LEVEL_ORDER},
	{TN_SYMBOL('<', '<', 0), TN_OP_SHL, 8},
	{TN_SYMBOL('>', '>', 0), TN_OP_SHR, 8},
	{TN_SYMBOL('+', 0, 0), TN_OP_ADD, 9},
	{TN_SYMBOL('-', 0, 0), TN_OP_SUB, 9},
	{TN_SYMBOL('*', 0, 0), TN_OP_MUL, 10},
	{TN_SYMBOL('/', 0, 0), TN_OP_DIV, 10},
	{TN_SYMBOL('%', 0, 0), TN_OP_REM, 10},
};

static const struct operator* find_operator(uint32_t symbol)
{
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
		if (operators[i].symbol == symbol)
			return &operators[i];
	}
	return NULL;
}

static struct tn_term apply(struct tn_parser *parser, const struct tn_token *token,
			    const struct operator* operator, struct tn_term a, struct tn_term b)
{
	if (operator->level <= LEVEL_AND)
		return tn_type_logical(parser, token, operator->op, a, b);
	return tn_type_binary(parser, token, operator->op, a, b);
}

static struct tn_term parse_binary(struct tn_parser *parser, unsigned level)
{
	struct tn_term left = parse_unary(parser);
	unsigned compared = 0; /* the level of a comparison that `left` is */
	while (parser->token.kind == TN_TOKEN_SYMBOL) {
		const struct tn_token token = parser->token;
		const struct operator* operator= find_operator(token.symbol);
		if (!operator|| operator->level<level)
			break;
		if (operator->level == compared)
			return tn_parse_fail(parser, &token, TN_FORMAT,
					     "comparisons cannot be chained: write a < b && b < c, "
					     "or parentheses");
		advance_to_operand(parser);
		struct tn_term right = parse_binary(parser, operator->level + 1u);
		left = apply(parser, &token, operator, left, right);
		compared = operator->level == LEVEL_ORDER || operator->level == LEVEL_EQUALITY
			?
			operator->level : 0;
	}
	return left;
}

static struct tn_term parse_choice(struct tn_parser *parser, struct tn_term condition)
{
	const struct tn_token token = parser->token;
	advance_to_operand(parser);
	struct tn_term yes = parse_expression(parser);
	if (!tn_parse_sees(parser, ':'))
		return tn_parse_expected(parser, "':' of the '?', or an operator");
	advance_to_operand(parser);
	struct tn_term no = parse_expression(parser);
	return tn_type_select(parser, &token, condition, yes, no);
}

static struct tn_term parse_expression(struct tn_parser *parser)
{
	struct tn_term term = {0};
	if (!enter(parser))
		return term;
	term = parse_binary(parser, LEVEL_OR);
	if (tn_parse_sees(parser, '?'))
		term = parse_choice(parser, term);
	parser->depth--;
	return term;
}

/* ---- Statements ------------------------------------------------------------------------------*/

/* The target of an assignment to `name`: its output, its local, or a new local. */
static struct tn_binding *find_target(struct tn_parser *parser, const struct tn_token *name)
{
	struct tn_binding *binding = find(parser, name, 0);
	char text[80];
	tn_token_text(name, text, sizeof(text));
	if (binding && (binding->kind == TN_BINDING_OUTPUT || binding->kind == TN_BINDING_LOCAL))
		return binding;
	if (binding) {
		tn_parse_fail(parser, name, TN_FORMAT,
			      "%s is an %s and cannot be assigned; choose another name", text,
			      binding->kind == TN_BINDING_INPUT ? "input" : "operand (a scalar)");
		return NULL;
	}
	if (parser->scope.n_bindings == TN_MAX_BINDINGS) {
		tn_parse_fail(parser, name, TN_LIMIT,
			      "%s is one name too many: at most %d are allowed", text,
			      TN_MAX_BINDINGS);
		return NULL;
	}
	binding = &parser->scope.bindings[parser->scope.n_bindings++];
	*binding = (struct tn_binding){name->start, name->length, TN_BINDING_LOCAL, 0, {0}};
	return binding;
}

/* The operator of "+=", or NULL for "=" and for tokens that are not assignments. */
static const struct operator* assignment_operator(const struct tn_token *token)
{
	size_t n = token->length;
	if (token->kind != TN_TOKEN_SYMBOL || n < 2 || token->start[n - 1] != '=')
		return NULL;
	const char *s = token->start;
	const struct operator* operator= find_operator(TN_SYMBOL(s[0], n == 3 ? s[1] : 0, 0));
	return n == 2 && strchr("=!<>", s[0]) ? NULL : operator;
}

/* Returns the binding that was assigned, or NULL. */
static const struct tn_binding *parse_statement(struct tn_parser *parser)
{
	const struct tn_token name = parser->token;
	if (name.kind != TN_TOKEN_NAME) {
		tn_parse_expected(parser, "a name to assign to");
		return NULL;
	}
	tn_parse_advance(parser);
	const struct tn_token equals = parser->token;
	const struct operator* operator= assignment_operator(&equals);
	if (!operator&& !tn_parse_sees(parser, '=')) {
		tn_parse_expected(parser, "'=' after the name");
		return NULL;
	}
	struct tn_term old = {0};
	if (operator)
		old = read_name(parser, &name);
	advance_to_operand(parser);
	struct tn_term term = parse_expression(parser);
	if (operator)
		term = apply(parser, &equals, operator, old, term);
	if (parser->status)
		return NULL;
	struct tn_binding *target = find_target(parser, &name);
	if (target) {
		target->term = term;
		target->is_set = 1;
	}
	return target;
}

static int is_separator(const struct tn_parser *parser)
{
	return parser->token.kind == TN_TOKEN_NEWLINE || tn_parse_sees(parser, ';');
}

/* Returns the binding that was assigned last, or NULL. */
static const struct tn_binding *parse_statements(struct tn_parser *parser)
{
	const struct tn_binding *last = NULL;
	tn_parse_advance(parser);
	while (!parser->status) {
		while (is_separator(parser))
			tn_parse_advance(parser);
		if (parser->token.kind == TN_TOKEN_END)
			break;
		const struct tn_token start = parser->token;
		last = parse_statement(parser);
		if (!parser->status && parser->builder.status)
			tn_parse_fail(parser, &start, TN_LIMIT,
				      "more than %d values before simplification",
				      TN_BUILDER_MAX_VALUES);
		if (!parser->status && parser->token.kind != TN_TOKEN_END && !is_separator(parser))
			tn_parse_expected(parser, "an operator, ';' or the end of the line");
	}
	return last;
}

/* ---- Names -----------------------------------------------------------------------------------*/

static int is_name(const char *text)
{
	size_t length = 0;
	if (!text || !tn_starts_name(*text))
		return 0;
	while (tn_continues_name(text[length]))
		length++;
	return !text[length] && length < 64;
}

/* Adds one of the caller's names; an output may share an input's. */
static tn_status declare_name(struct tn_parser *parser, const char *name, enum tn_binding_kind kind,
			      struct tn_term term)
{
	const struct tn_token token = {.start = name, .length = name ? strlen(name) : 0};
	if (!is_name(name))
		return tn_fail(
			parser->error, TN_INVALID_ARGUMENT, TN_PARSE_OPERATION,
			"'%.64s' is not a name: expected letters, digits and '_', at most 63",
			name ? name : "(null)");
	const struct tn_binding *other = find(parser, &token, 0);
	if (other && !(other->kind == TN_BINDING_OUTPUT && kind == TN_BINDING_INPUT))
		return tn_fail(parser->error, TN_INVALID_ARGUMENT, TN_PARSE_OPERATION,
			       "the name '%s' is given twice", name);
	parser->scope.bindings[parser->scope.n_bindings++] =
		(struct tn_binding){name, token.length, kind, kind != TN_BINDING_OUTPUT, term};
	return TN_OK;
}

/* f64 when an input is f64, else f32. */
static tn_dtype widest_floating(const struct tn_program_names *names)
{
	for (uint32_t k = 0; k < names->n_inputs; k++) {
		if (names->input_dtypes[k] == TN_F64)
			return TN_F64;
	}
	return TN_F32;
}

static tn_status declare_sources(struct tn_parser *parser, const struct tn_program_names *names,
				 uint16_t op)
{
	int is_input = op == TN_OP_INPUT;
	uint32_t n = is_input ? names->n_inputs : names->n_scalars;
	for (uint32_t k = 0; k < n; k++) {
		const char *name = is_input ? names->inputs[k] : names->scalars[k];
		tn_dtype storage = is_input ? names->input_dtypes[k] : names->scalar_dtypes[k];
		tn_dtype dtype = tn_compute_dtype(storage);
		if (!is_input && !storage)
			dtype = widest_floating(names);
		if (!dtype)
			return tn_fail(parser->error, TN_DTYPE, TN_PARSE_OPERATION,
				       "%s '%.64s' is %s (%d), which programs cannot read",
				       is_input ? "input" : "scalar", name ? name : "(null)",
				       tn_dtype_name(storage), (int)storage);
		struct tn_term term =
			tn_term_of(tn_build_source(&parser->builder, op, dtype, k), storage);
		tn_status status = declare_name(
			parser, name, is_input ? TN_BINDING_INPUT : TN_BINDING_SCALAR, term);
		if (status)
			return status;
	}
	return TN_OK;
}

/* ---- Results ---------------------------------------------------------------------------------*/

/* The value that is stored: of the requested dtype where programs compute in it. */
static struct tn_term output_term(struct tn_parser *parser, struct tn_term term, tn_dtype wanted)
{
	if (tn_is_narrow(wanted) && (term.is_literal || term.is_u64))
		wanted = TN_F32;
	if (tn_is_compute_dtype(wanted) || wanted == TN_U64)
		return tn_term_of(tn_term_cast(parser, term, wanted), wanted);
	return tn_term_settle(parser, term);
}

static tn_status collect_outputs(struct tn_parser *parser, const struct tn_program_names *names,
				 struct tn_term *outputs)
{
	for (uint32_t j = 0; j < names->n_outputs; j++) {
		const struct tn_binding *binding = &parser->scope.bindings[j];
		tn_dtype wanted = names->output_dtypes ? names->output_dtypes[j] : 0;
		if (!binding->is_set)
			return tn_fail(
				parser->error, TN_FORMAT, TN_PARSE_OPERATION,
				"line %u: the text ends but the output '%s' is never assigned",
				parser->lexer.line, binding->name);
		if (wanted && !tn_compute_dtype(wanted))
			return tn_fail(parser->error, TN_DTYPE, TN_PARSE_OPERATION,
				       "output '%s' cannot be %s (%d)", binding->name,
				       tn_dtype_name(wanted), (int)wanted);
		outputs[j] = output_term(parser, binding->term, wanted);
	}
	return TN_OK;
}

static tn_status parse_program(struct tn_parser *parser, const struct tn_program_names *names,
			       tn_program **program, tn_dtype *results)
{
	struct tn_term outputs[TN_PROGRAM_MAX_OUTPUTS];
	tn_value values[TN_PROGRAM_MAX_OUTPUTS];
	uint32_t n_outputs = names->n_outputs;
	for (uint32_t j = 0; j < names->n_outputs; j++) {
		tn_status status = declare_name(parser, names->outputs[j], TN_BINDING_OUTPUT,
						(struct tn_term){0});
		if (status)
			return status;
	}
	tn_status status = declare_sources(parser, names, TN_OP_INPUT);
	if (!status)
		status = declare_sources(parser, names, TN_OP_SCALAR);
	if (status)
		return status;
	const struct tn_binding *last = parse_statements(parser);
	if (parser->status)
		return parser->status;
	if (!last)
		return tn_fail(parser->error, TN_FORMAT, TN_PARSE_OPERATION,
			       "line %u, column 1: expected a statement, found the end of the text",
			       parser->lexer.line);
	if (n_outputs)
		status = collect_outputs(parser, names, outputs);
	else {
		outputs[0] = tn_term_settle(parser, last->term);
		n_outputs = 1;
	}
	if (status)
		return status;
	for (uint32_t j = 0; j < n_outputs; j++) {
		values[j] = outputs[j].value;
		if (results)
			results[j] = tn_term_dtype(parser, outputs[j]);
	}
	return tn_builder_finish(&parser->builder, names->n_inputs, names->n_scalars, n_outputs,
				 values, program, parser->error);
}

static tn_status parse_text(const char *text, const struct tn_program_names *names, locale_t locale,
			    tn_program **program, tn_dtype *results, struct tn_error_info *error)
{
	struct tn_parser parser = {.error = error};
	tn_status status = tn_builder_init(&parser.builder, TN_PARSE_OPERATION, error);
	if (status)
		return status;
	parser.scope.bindings = tn_mem_alloc(TN_MAX_BINDINGS * sizeof(struct tn_binding));
	tn_lexer_init(&parser.lexer, text, locale);
	if (parser.scope.bindings)
		status = parse_program(&parser, names, program, results);
	else
		status = tn_no_memory(error, TN_PARSE_OPERATION, NULL, "names");
	tn_mem_free(parser.scope.bindings);
	tn_builder_release(&parser.builder);
	return status;
}

tn_status tn_program_parse_typed(const char *text, const struct tn_program_names *names,
				 tn_program **program, tn_dtype *results,
				 struct tn_error_info *error)
{
	struct tn_program_names own = tn_program_names_defaults();
	if (!text || !names || !program)
		return tn_fail(error, TN_INVALID_ARGUMENT, TN_PARSE_OPERATION,
			       "text, names and program must not be NULL");
	tn_status status = tn_options_take(&own, sizeof(own), names, "struct tn_program_names",
					   TN_PARSE_OPERATION, error);
	if (status)
		return status;
	static const char *const limit = "%u %s are more than %d";
	if (own.n_inputs > TN_PROGRAM_MAX_INPUTS)
		return tn_fail(error, TN_LIMIT, TN_PARSE_OPERATION, limit, own.n_inputs, "inputs",
			       TN_PROGRAM_MAX_INPUTS);
	if (own.n_scalars > TN_PROGRAM_MAX_SCALARS)
		return tn_fail(error, TN_LIMIT, TN_PARSE_OPERATION, limit, own.n_scalars, "scalars",
			       TN_PROGRAM_MAX_SCALARS);
	if (own.n_outputs > TN_PROGRAM_MAX_OUTPUTS)
		return tn_fail(error, TN_LIMIT, TN_PARSE_OPERATION, limit, own.n_outputs, "outputs",
			       TN_PROGRAM_MAX_OUTPUTS);
	if ((own.n_inputs && (!own.inputs || !own.input_dtypes)) ||
	    (own.n_scalars && (!own.scalars || !own.scalar_dtypes)) ||
	    (own.n_outputs && !own.outputs))
		return tn_fail(error, TN_INVALID_ARGUMENT, TN_PARSE_OPERATION,
			       "a list of names or dtypes is NULL");
	if (strnlen(text, TN_PROGRAM_MAX_TEXT + 1) > TN_PROGRAM_MAX_TEXT)
		return tn_fail(error, TN_LIMIT, TN_PARSE_OPERATION,
			       "the text is longer than %d bytes", TN_PROGRAM_MAX_TEXT);
	locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!locale)
		return tn_no_memory(error, TN_PARSE_OPERATION, NULL, "a locale");
	status = parse_text(text, &own, locale, program, results, error);
	freelocale(locale);
	return status;
}

tn_status tn_program_parse(const char *text, const struct tn_program_names *names,
			   tn_program **program, struct tn_error_info *error)
{
	return tn_program_parse_typed(text, names, program, NULL, error);
}
