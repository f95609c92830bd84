/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A communicator that fails when it is asked to (communicator.h).
 */
#include "communicator.h"

static const struct tn_option_row options[] = {
	{
		.name = "size",
		.variable = "FAKE_SIZE",
		.type = TN_OPTION_INTEGER,
		.standard = "4",
		.least = 1,
		.most = 100,
		.help = "the number of ranks",
	},
};

#define UUID                                                                                       \
	0x06, 0x58, 0xbe, 0x98, 0x00, 0x03, 0x40, 0x8f, 0x92, 0x6a, 0xbd, 0x65, 0x06, 0xe9, 0x58,  \
		0xa5
TN_COMMUNICATOR_PLUGIN_OPTIONS(UUID, "fake", "1.0", "Apache-2.0", 0, fake_create, fake_destroy,
			       fake_query, options);
