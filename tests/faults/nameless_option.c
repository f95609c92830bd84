/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: its create fails for one of the choices of an option, without saying which option it is.
 * Conform: L0 file.options
 */
#include "right.h"

#include <tenon/plugin.h>

static tn_status create(const struct tn_host *host, struct tn_error_info *error, void **instance)
{
	if (tn_plugin_option_is(host, "mode", "two"))
		return tn_plugin_fail(error, TN_MISSING_LIBRARY, "create", "it cannot do that");
	return right_create(host, error, instance);
}

static void break_it(struct right *right)
{
	(void)right;
}

static const struct tn_option_row options[] = {
	{
		.name = "mode",
		.type = TN_OPTION_CHOICE,
		.standard = "one",
		.choices = "one,two",
		.help = "which of two",
	},
};

TN_BACKEND_PLUGIN_OPTIONS(RIGHT_UUID, "nameless_option", "1", "Apache-2.0", create, right_destroy,
			  right_query, options);
