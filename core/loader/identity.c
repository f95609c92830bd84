/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reads and writes identities of devices in the form in which drivers and tools print them.
 */
#include "loader/identity.h"

#include <stdio.h>
#include <string.h>

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Reads `least` to `most` hexadecimal digits and then `end` (0: nothing).  *at moves to the first
 * character that is not taken. */
static int read_group(const char *text, size_t *at, size_t least, size_t most, char end,
		      uint32_t *value)
{
	size_t n = 0;
	*value = 0;
	for (int digit; n < most && (digit = digit_of(text[*at])) >= 0; n++, ++*at)
		*value = *value << 4 | (uint32_t)digit;
	if (n < least || (end && text[*at] != end))
		return 0;
	*at += end != 0;
	return 1;
}

/* [DDDD:]BB:DD.F, all hexadecimal. */
int tn_identity_read_pci(const char *text, struct tn_identity *identity, size_t *length)
{
	uint32_t domain = 0, bus, device, function;
	const int has_domain = strspn(text, "0123456789abcdefABCDEF") > 2;
	*length = 0;
	if ((has_domain && !read_group(text, length, 4, 8, ':', &domain)) ||
	    !read_group(text, length, 2, 2, ':', &bus) ||
	    !read_group(text, length, 2, 2, '.', &device) ||
	    !read_group(text, length, 1, 1, 0, &function))
		return 0;
	*identity = (struct tn_identity){
		.type = TN_IDENTITY_PCI,
		.bytes = {(uint8_t)domain, (uint8_t)(domain >> 8), (uint8_t)(domain >> 16),
			  (uint8_t)(domain >> 24), (uint8_t)bus, (uint8_t)device,
			  (uint8_t)function},
	};
	return 1;
}

/* Groups of 8, 4, 4, 4 and 12 digits. */
int tn_identity_read_uuid(const char *text, struct tn_identity *identity, size_t *length)
{
	*identity = (struct tn_identity){.type = TN_IDENTITY_UUID};
	*length = !strncmp(text, "GPU-", 4) || !strncmp(text, "MIG-", 4) ? 4 : 0;
	for (size_t i = 0; i < 16; i++) {
		const char end = i == 3 || i == 5 || i == 7 || i == 9 ? '-' : 0;
		uint32_t byte;
		if (!read_group(text, length, 2, 2, end, &byte))
			return 0;
		identity->bytes[i] = (uint8_t)byte;
	}
	return 1;
}

static struct tn_identity identity_of(const struct tn_device_description *device, int which)
{
	struct tn_identity identity = {which ? device->identity2_type : device->identity_type, {0}};
	memcpy(identity.bytes, which ? device->identity2 : device->identity,
	       sizeof(identity.bytes));
	return identity;
}

int tn_identity_write(const struct tn_device_description *device, int which,
		      char text[TN_IDENTITY_TEXT])
{
	const struct tn_identity identity = identity_of(device, which);
	const uint8_t *b = identity.bytes;
	if (identity.type == TN_IDENTITY_PCI) {
		const unsigned domain =
			b[0] | (unsigned)b[1] << 8 | (unsigned)b[2] << 16 | (unsigned)b[3] << 24;
		snprintf(text, TN_IDENTITY_TEXT, "pci:%04x:%02x:%02x.%x", domain, b[4], b[5], b[6]);
	} else if (identity.type == TN_IDENTITY_UUID) {
		snprintf(
			text, TN_IDENTITY_TEXT,
			"uuid:%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
			b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11],
			b[12], b[13], b[14], b[15]);
	}
	return identity.type == TN_IDENTITY_PCI || identity.type == TN_IDENTITY_UUID;
}

int tn_identity_is_of(const struct tn_identity *identity,
		      const struct tn_device_description *device)
{
	for (int which = 0; which < 2; which++) {
		const struct tn_identity own = identity_of(device, which);
		if (own.type == identity->type &&
		    !memcmp(own.bytes, identity->bytes, sizeof(own.bytes)))
			return 1;
	}
	return 0;
}
