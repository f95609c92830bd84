/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * User kernels given as text, and random numbers, which are element programs too.
 */
#include "doctor.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
	const char *text;
	double roundings;
} programs[] = {
	{"z = a*x + y", 2},
	{"d = x - y; z = d*d*a", 0},
	{"z = x > y ? exp(-x*x) : log(1 + y*y)", 32},
	{"r = sqrt(x*x + y*y); z = r > 0 ? x/r : 0", 16},
	{"z = atan2(x, y) + fma(x, y, a)", 32},
	{"h = f32(element() % 7) - 3; z = h*x", 0},
	{"z = sin(x)*cos(y) + tanh(a*x)*erf(y)", 64},
};

static tn_array *run_program(const char *text, tn_array *const *xy)
{
	return tn_map(text, 2, (const char *[]){"x", "y"}, (const tn_array *[]){xy[0], xy[1]}, 1,
		      (const char *[]){"a"}, (double[]){1.5});
}

void doctor_programs(struct doctor_run *run)
{
	const int64_t shape[] = {19, 53};
	tn_array *xy[2] = {doctor_reals(run, -2, 2, 2, shape), doctor_reals(run, -2, 2, 2, shape)};
	for (size_t i = 0; i < COUNT(programs); i++)
		doctor_give(run, run_program(programs[i].text, xy),
			    programs[i].roundings > 0 ? DOCTOR_OF_LARGEST : DOCTOR_EXACT,
			    programs[i].roundings, "%s", programs[i].text);
	tn_array *u = doctor_whole(run, TN_U32, 0, UINT32_MAX, 1, (int64_t[]){1000});
	doctor_give(run,
		    tn_map("z = (u << 13 | u >> 19) ^ (u * 2654435761)", 1, (const char *[]){"u"},
			   (const tn_array *[]){u}, 0, NULL, NULL),
		    DOCTOR_EXACT, 0, "a hash of u32");
}

void doctor_program_gradients(struct doctor_run *run)
{
	static const char *const smooth[] = {
		"z = a*x + y",
		"d = x - y; z = d*d*a",
		"z = x > y ? exp(-x*x) : log(1 + y*y)",
		"z = sin(x)*cos(y) + tanh(a*x)*erf(y)",
		"z = x*sigmoid(y) + sqrt(1 + x*x)",
	};
	for (size_t i = 0; i < COUNT(smooth); i++) {
		tn_array *xy[2] = {doctor_reals(run, -2, 2, 2, (int64_t[]){17, 23}),
				   doctor_reals(run, -2, 2, 1, (int64_t[]){23})};
		tn_tape *tape = doctor_record(run, 2, xy);
		tn_array *z = run_program(smooth[i], xy);
		/* y is broadcast: its gradient is a sum of 17 terms. */
		doctor_give_gradients(run, tape, z, 2, xy, DOCTOR_OF_LARGEST, 128, smooth[i]);
	}
}

void doctor_random_numbers(struct doctor_run *run)
{
	const int64_t shape[] = {61, 83};
	tn_array *u = doctor_whole(run, TN_U32, 0, 0, 2, shape);
	doctor_give(run,
		    tn_map("z = u + random(7, 3, element())", 1, (const char *[]){"u"},
			   (const tn_array *[]){u}, 0, NULL, NULL),
		    DOCTOR_EXACT, 0, "random words");
	doctor_give(run, tn_random_uniform(run->context, 2, shape, -1, 3), DOCTOR_OF_LARGEST, 0,
		    "uniform");
	doctor_give(run, tn_random_normal(run->context, 2, shape, 0, 1), DOCTOR_EXACT, 0, "normal");
	tn_array *x = doctor_reals(run, -1, 1, 2, shape);
	doctor_give(run, tn_dropout(x, 0.5), DOCTOR_EXACT, 0, "dropout");
}
