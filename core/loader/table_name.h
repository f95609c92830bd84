/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Names of tables that are vendors' own.
 */
#ifndef TN_LOADER_TABLE_NAME_H
#define TN_LOADER_TABLE_NAME_H

/* Has the name the form "com.example.table/1": parts of a-z, 0-9, '_' and '-' with dots between
 * them, at least two, then the version of the table's form, from 1 on?  0 for "tenon.": those are
 * the library's. */
int tn_is_vendor_table(const char *name);

#endif
