/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * arcsin, arccos, arcsinh and arccosh of complex numbers, by W. Kahan, "Branch cuts for complex
 * elementary functions", in The State of the Art in Numerical Analysis (1987): of square roots
 * whose sizes neither overflow nor cancel.
 */
#include "ops/complex_arcs.h"

#include "array/make.h"
#include "ops/elementwise.h"
#include "ops/formula.h"

/* The square roots of z + 1 and z - 1, or 1 + z and 1 - z. */
struct roots {
	const tn_array *parts[4]; /* of the first: real, imaginary; of the second */
};

static struct roots roots_of(const tn_array *z, double scale, double shift)
{
	tn_array *plus = tn_sqrt(tn_affine(z, 1, 1));
	tn_array *minus = tn_sqrt(tn_affine(z, scale, shift));
	return (struct roots){{tn_real(plus), tn_imag(plus), tn_real(minus), tn_imag(minus)}};
}

/* A formula over the parts of the roots. */
static tn_array *of_roots(const char *name, const struct roots *roots, const char *text)
{
	const struct tn_formula formula = {.text = text,
					   .inputs = "plus_real plus_imag minus_real minus_imag"};
	for (int i = 0; i < 4; i++) {
		if (!roots->parts[i])
			return NULL;
	}
	return tn_formula_operation(name, &formula, roots->parts[0]->dtype, roots->parts, NULL);
}

/* Parts of the product of the roots, and of that with the conjugate of the first. */
static const char product_real[] = "z = plus_real * minus_real - plus_imag * minus_imag";
static const char conjugate_real[] = "z = plus_real * minus_real + plus_imag * minus_imag";
static const char conjugate_imag[] = "z = plus_real * minus_imag - plus_imag * minus_real";

/* `part` of the result where z is finite, else what C has for z's parts, real and imag; the angle
 * of 1 where it is not read, for at 0 it has no derivative. */
#define TN_ENDS                                                                                    \
	"is_finite = abs(real) < inf && abs(imag) < inf\n"                                         \
	"size = abs(real) == inf || abs(imag) == inf ? inf : nan\n"                                \
	"u = is_finite ? 1.0 : real; v = is_finite ? 0.0 : imag\n"
static const char *const ends[][2] = {
	[TN_ARC_SIN] = {TN_ENDS "z = is_finite ? part : imag != imag && real == 0 ? real"
				" : atan2(u, abs(v))",
			TN_ENDS "z = is_finite ? part : copysign(size, imag)"},
	[TN_ARC_COS] = {TN_ENDS "z = is_finite ? part : imag != imag && real == 0"
				" ? 1.5707963267948966 : abs(atan2(v, u))",
			TN_ENDS "z = is_finite ? part : copysign(size, -imag)"},
	[TN_ARC_SINH] = {TN_ENDS "z = is_finite ? part : copysign(size, real)",
			 TN_ENDS "z = is_finite ? part : real != real && imag == 0 ? imag"
				 " : atan2(v, abs(u))"},
	[TN_ARC_COSH] = {TN_ENDS "z = is_finite ? part : size",
			 TN_ENDS "z = is_finite ? part : imag != imag && real == 0"
				 " ? 1.5707963267948966*copysign(1.0, imag) : atan2(v, u)"},
};

/* The result of those parts. */
static tn_array *with_ends(enum tn_complex_arc arc, const char *name, const tn_array *z,
			   tn_array *const parts[2])
{
	tn_array *ended[2];
	for (int i = 0; i < 2; i++) {
		const struct tn_formula formula = {.text = ends[arc][i],
						   .inputs = "part real imag"};
		const tn_array *inputs[] = {parts[i], tn_real(z), tn_imag(z)};
		if (!parts[i] || !inputs[1] || !inputs[2])
			return NULL;
		ended[i] = tn_formula_operation(name, &formula, parts[i]->dtype, inputs, NULL);
	}
	return tn_complex(ended[0], ended[1]);
}

static void arcsin_parts(const char *name, const tn_array *z, tn_array *parts[2])
{
	struct roots roots = roots_of(z, -1, 1);
	tn_array *across = of_roots(name, &roots, product_real);
	tn_array *along = of_roots(name, &roots, conjugate_imag);
	parts[0] = tn_element_binary(TN_DO_ARCTAN2, tn_real(z), across);
	parts[1] = tn_negative(tn_element_unary(TN_DO_ARCSINH, along));
}

tn_array *tn_complex_arc(enum tn_complex_arc arc, const char *name, const tn_array *z)
{
	struct tn_runtime *runtime = tn_begin(1, &z, name);
	struct roots roots;
	tn_array *turned[2], *parts[2] = {NULL, NULL};
	if (!runtime || tn_scope_begin(runtime->context))
		return NULL;
	switch (arc) {
	case TN_ARC_SIN:
		arcsin_parts(name, z, parts);
		break;
	case TN_ARC_SINH: /* -i arcsin(iz) */
		arcsin_parts(name, tn_complex(tn_negative(tn_imag(z)), tn_real(z)), turned);
		parts[0] = turned[1];
		parts[1] = tn_negative(turned[0]);
		break;
	case TN_ARC_COS:
		roots = roots_of(z, -1, 1);
		parts[0] = of_roots(name, &roots, "z = 2 * atan2(minus_real, plus_real)");
		parts[1] = tn_element_unary(TN_DO_ARCSINH, of_roots(name, &roots, conjugate_imag));
		break;
	case TN_ARC_COSH:
		roots = roots_of(z, 1, -1);
		parts[0] = tn_element_unary(TN_DO_ARCSINH, of_roots(name, &roots, conjugate_real));
		parts[1] = of_roots(name, &roots, "z = 2 * atan2(minus_imag, plus_real)");
		break;
	}
	return tn_scope_end(runtime->context, with_ends(arc, name, z, parts));
}
