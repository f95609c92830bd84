/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The progress of one request.
 */
#ifndef TN_DISTRIBUTED_REQUEST_H
#define TN_DISTRIBUTED_REQUEST_H

#include "distributed/communicator.h"

/* Tests the request's parts, as tn_request_test. */
tn_status tn_request_advance(tn_request *request, int *is_done);

#endif
