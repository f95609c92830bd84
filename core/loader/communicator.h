/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A loaded communicator.
 */
#ifndef TN_LOADER_COMMUNICATOR_H
#define TN_LOADER_COMMUNICATOR_H

#include <tenon/communicator.h>

#include "loader/plugin.h"

/* An instance that has not joined the other ranks. */
struct tn_communicator_plugin {
	struct tn_plugin plugin;
	struct tn_communicator_table table; /* no entry is NULL */
};

#endif
