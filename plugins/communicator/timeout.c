/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * TENON_COMMUNICATOR_TIMEOUT, the same in every locale.
 */
#include "communicator/communicator.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

/* Every clock has room for so many seconds, 31 years. */
static const double longest = 1e9;

int communicator_read_timeout(const char *text, double *seconds)
{
	char *end;
	*seconds = 300;
	if (!text || !*text)
		return 1;
	locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	const double value = c_locale ? strtod_l(text, &end, c_locale) : 0;
	if (c_locale)
		freelocale(c_locale);
	if (!(value > 0) || !isfinite(value) || *end)
		return 0;
	*seconds = fmin(value, longest);
	return 1;
}
