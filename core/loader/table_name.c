/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The form of a vendor's table's name.
 */
#include "loader/table_name.h"

#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyz0123456789_-"

int tn_is_vendor_table(const char *name)
{
	size_t length = strspn(name, LETTERS);
	int n_parts = 1;
	if (!length || !strncmp(name, "tenon.", strlen("tenon.")))
		return 0;
	for (name += length; *name == '.'; name += length + 1, n_parts++) {
		length = strspn(name + 1, LETTERS);
		if (!length)
			return 0;
	}
	if (n_parts < 2 || *name++ != '/' || *name == '0')
		return 0;
	return *name && !name[strspn(name, "0123456789")];
}
