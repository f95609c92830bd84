/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Table tenon.report/1.
 */
#ifndef CUDA_REPORT_H
#define CUDA_REPORT_H

#include "plugin.h"

/* Closes what the first report has opened. */
void cuda_report_close(struct cuda_device *device);

extern const struct tn_report_table cuda_report_table;

#endif
