/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What NVIDIA's management library knows of a device.  Asking for a device may wake it, which takes
 * seconds with some drivers, so each is asked only when its facts are needed.
 */
#ifndef CUDA_FACTS_H
#define CUDA_FACTS_H

#include "plugin.h"

/* Starts the library, unless it has been, and asks for the driver's versions.  0: it is missing or
 * does not start; the instance has the reason. */
int cuda_facts_begin(struct cuda_instance *instance);
void cuda_facts_end(struct cuda_instance *instance);

/* Asks once, and adds to what is known already.  Does nothing before the beginning and after the
 * end.  0: the library does not find the device. */
int cuda_facts_ask(struct cuda_instance *instance, struct cuda_facts *facts);

/* Derives the identities from PCI address and UUID. */
void cuda_facts_identify(struct cuda_facts *facts);

#endif
