/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Counts the references to a generator of random numbers and frees it with the last one.
 */
#include "array/generator.h"

#include "array/handle.h"

void tn_generator_hold(struct tn_generator *generator)
{
	if (generator->references)
		generator->references++;
}

void tn_generator_release(struct tn_generator *generator)
{
	if (generator->references && !--generator->references)
		tn_handle_end(&generator->runtime, generator, "the generator");
}
