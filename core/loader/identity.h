/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The identities of devices as text: "pci:0000:65:00.0", "uuid:9f2c1a0e-...".
 */
#ifndef TN_LOADER_IDENTITY_H
#define TN_LOADER_IDENTITY_H

#include <stddef.h>
#include <tenon/backend.h>

struct tn_identity {
	uint32_t type; /* TN_IDENTITY_... */
	uint8_t bytes[16];
};

enum { TN_IDENTITY_TEXT = 48 };

/* Reads what follows "pci:" (a domain is optional) and "uuid:" (GPU- or MIG- may precede it).
 * *length: how much of the text was read.  0: malformed, and text[*length] is the first wrong
 * character. */
int tn_identity_read_pci(const char *text, struct tn_identity *identity, size_t *length);
int tn_identity_read_uuid(const char *text, struct tn_identity *identity, size_t *length);

/* The text of identity `which` (0 or 1) of a device; 0: it has none, or of an unknown type. */
int tn_identity_write(const struct tn_device_description *device, int which,
		      char text[TN_IDENTITY_TEXT]);
/* Is that one of the device's identities?  The parts of a device share its PCI address. */
int tn_identity_is_of(const struct tn_identity *identity,
		      const struct tn_device_description *device);

#endif
