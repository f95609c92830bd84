/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * `create` fails with the status in TENON_TEST_STATUS, and uses all services of the host.
 */
#include "minimal.h"

#include <stdlib.h>

static tn_status create(const struct tn_host *host, struct tn_error_info *error, void **instance)
{
	const char *status = host->parameter(host->context, "TENON_TEST_STATUS",
					     "the status with which this backend fails");
	char text[256];
	int length = snprintf(text, sizeof(text), "this is %s", host->plugin_path(host->context));
	host->log(host->context, TN_LOG_WARNING, "inner", text, (size_t)length);
	(void)instance;
	if (error) {
		error->status = status ? (tn_status)strtol(status, NULL, 10) : TN_INTERNAL;
		error->native_code = 17;
		strcpy(error->text, "as the test wanted");
	}
	return status ? (tn_status)strtol(status, NULL, 10) : TN_INTERNAL;
}

#define UUID                                                                                       \
	0x63, 0x9a, 0xbc, 0x1b, 0xa0, 0xd1, 0x4b, 0x54, 0xb5, 0xe7, 0x3c, 0x7f, 0x0c, 0x63, 0x41,  \
		0xb6
TN_BACKEND_PLUGIN(UUID, "fails", "1.0", "Apache-2.0", create, minimal_destroy, minimal_query);
