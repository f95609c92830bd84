/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A plugin with an option of each type.
 */
#include <math.h>

#include "minimal.h"

static const struct tn_option_row options[] = {
	{
		.name = "fast",
		.variable = "TENON_TEST_FAST",
		.type = TN_OPTION_BOOL,
		.standard = "off",
		.help = "fast sums",
	},
	{
		.name = "depth",
		.type = TN_OPTION_INTEGER,
		.standard = "3",
		.least = -5,
		.most = 9,
		.help = "how deep",
	},
	{
		.name = "share",
		.type = TN_OPTION_NUMBER,
		.standard = "0.5",
		.least = 0,
		.most = INFINITY,
		.help = "how much",
	},
	{
		.name = "mode",
		.type = TN_OPTION_CHOICE,
		.standard = "one",
		.choices = "one,two",
		.help = "which of two",
	},
	{.name = "file", .type = TN_OPTION_TEXT, .help = "the file to open"},
};

#define UUID                                                                                       \
	0x4d, 0x19, 0x7c, 0x52, 0x0e, 0x8b, 0x4a, 0x36, 0x91, 0xf4, 0x2d, 0xc8, 0x65, 0x3a, 0xb7,  \
		0x1e
TN_BACKEND_PLUGIN_OPTIONS(UUID, "optioned", "1.0", "Apache-2.0", minimal_create, minimal_destroy,
			  minimal_query, options);
