/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What the fixture `counted` has counted since its file was mapped: its own table, COUNTED_TABLE.
 */
#ifndef TN_TESTS_COUNTED_H
#define TN_TESTS_COUNTED_H

#define COUNTED_TABLE "com.example.counted/1"

struct counted {
	_Atomic int created, destroyed; /* instances */
	_Atomic int asked;              /* how often for its devices */
	_Atomic int opened, closed;     /* devices */
	_Atomic int inside;             /* threads in entries of the device */
	_Atomic int most_inside;
};

#endif
