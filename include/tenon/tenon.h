/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * All of Tenon for programs.
 */
#ifndef TENON_TENON_H
#define TENON_TENON_H

#include <tenon/array.h>
#include <tenon/augment.h>
#include <tenon/autograd.h>
#include <tenon/benchmark.h>
#include <tenon/capture.h>
#include <tenon/checkpoint.h>
#include <tenon/context.h>
#include <tenon/data.h>
#include <tenon/files.h>
#include <tenon/frozen.h>
#include <tenon/device.h>
#include <tenon/distributed.h>
#include <tenon/dlpack.h>
#include <tenon/index.h>
#include <tenon/init.h>
#include <tenon/io.h>
#include <tenon/kernel.h>
#include <tenon/linalg.h>
#include <tenon/loss.h>
#include <tenon/manipulate.h>
#include <tenon/map.h>
#include <tenon/memory.h>
#include <tenon/metric.h>
#include <tenon/models.h>
#include <tenon/nn.h>
#include <tenon/optim.h>
#include <tenon/order.h>
#include <tenon/number.h>
#include <tenon/polynomial.h>
#include <tenon/profile.h>
#include <tenon/program.h>
#include <tenon/random.h>
#include <tenon/reduce.h>
#include <tenon/report.h>
#include <tenon/schedule.h>
#include <tenon/signal.h>
#include <tenon/special.h>
#include <tenon/sets.h>
#include <tenon/share.h>
#include <tenon/statistics.h>
#include <tenon/status.h>
#include <tenon/stream.h>
#include <tenon/testing.h>
#include <tenon/text.h>
#include <tenon/train.h>
#include <tenon/ufunc.h>
#include <tenon/ufunc_call.h>

#endif
