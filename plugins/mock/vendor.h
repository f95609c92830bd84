/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The mock's own table, "org.tenon.mock/1", which a program gets from tn_device_vendor_table: what
 * a vendor's interface would be, streams of others and their work.  An example of such a header: it
 * needs <tenon/types.h> alone, and a later version of the table only adds members at its end.
 */
#ifndef MOCK_VENDOR_H
#define MOCK_VENDOR_H

#include <tenon/types.h>

#define MOCK_VENDOR_TABLE "org.tenon.mock/1"

/* Every function takes the handle that tn_device_vendor_table gives.  [device] */
struct mock_vendor_table {
	uint32_t struct_size;
	uint32_t reserved;

	/* Makes a stream, which tn_stream_wrap takes; at the latest the device's close ends it.
	 * NULL: no host memory. */
	void *(*stream_new)(void *device);
	/* Runs its work and ends it.  TN_INVALID_ARGUMENT: it is none of these. */
	tn_status (*stream_end)(void *device, void *stream);
	/* Gives the stream, one of these or what tn_stream_native gave, a piece of work: `size`
	 * bytes at an address that tn_array_export gave become `byte` when it runs.
	 * TN_INVALID_ARGUMENT: it is no stream of this device.  TN_OUT_OF_MEMORY. */
	tn_status (*stream_fill)(void *device, void *stream, void *address, uint64_t size,
				 uint8_t byte);
	/* How often the host has waited for a stream or an event, or for a download. */
	uint64_t (*waits)(void *device);
};

#endif
