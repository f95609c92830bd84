/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * backend_mock.so as it would be if nobody had rebuilt it: its note states an interface that this
 * library does not speak, so that it is refused before it is opened.
 */
#include <string.h>
#include <tenon/plugin.h>

/* Before 1.0 an older minor is refused, later an older major. */
enum {
	OLD_MAJOR = TN_ABI_MAJOR == 0 ? 0 : TN_ABI_MAJOR - 1,
	OLD_MINOR = TN_ABI_MAJOR == 0 ? TN_ABI_MINOR - 1 : 0,
};

/* Only a host that does not read notes calls this. */
static tn_status create(const struct tn_host *host, struct tn_error_info *error, void **instance)
{
	struct tn_error_info own = {.status = TN_ABI_MISMATCH,
				    .operation = "create",
				    .text = "the note of this file was not read"};
	(void)host;
	(void)instance;
	if (error)
		tn_struct_answer(error, &own, sizeof(own));
	return TN_ABI_MISMATCH;
}

static void destroy(void *instance)
{
	(void)instance;
}

static const void *query(void *instance, const char *table)
{
	(void)instance;
	(void)table;
	return NULL;
}

#undef TN_ABI_MAJOR
#undef TN_ABI_MINOR
#undef TN_ABI_OLDEST_HOST
#define TN_ABI_MAJOR OLD_MAJOR
#define TN_ABI_MINOR OLD_MINOR
#define TN_ABI_OLDEST_HOST 0
/* The same plugin, hence the same UUID. */
#define MOCK_UUID                                                                                  \
	0xd3, 0x41, 0x5f, 0x0a, 0x97, 0x2c, 0x4e, 0x6b, 0x8b, 0x1d, 0x62, 0xe0, 0x35, 0xc8, 0xa9,  \
		0x74
TN_BACKEND_PLUGIN(MOCK_UUID, "mock", "0.0.1", "Apache-2.0", create, destroy, query);
