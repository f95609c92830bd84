/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * --normalise, --resize and --crop: how pictures become inputs.
 */
#ifndef TENON_TOOLS_PICTURE_OPTIONS_H
#define TENON_TOOLS_PICTURE_OPTIONS_H

#include "tool.h"

enum { NORMALISE_OWN = 0, NORMALISE_IMAGENET = 1, NORMALISE_PUBLISHED = 2, NORMALISE_UNSTATED = 3 };

struct picture_options {
	uint32_t normalise;     /* NORMALISE_... */
	uint64_t resize;        /* 0: as crop */
	uint32_t interpolation; /* TN_RESIZE_..., of resize */
	uint64_t crop;          /* 0: as resize */
};

struct option_row normalise_row(struct picture_options *options);
struct option_row resize_row(struct picture_options *options);
struct option_row crop_row(struct picture_options *options);
/* After the options are read: OPTIONS_READ, or the exit code after a message. */
int picture_options_check(struct picture_options *options, const char *command);
/* The same for commands with --model, which needs --normalise, and which --normalise, --resize and
 * --crop need: without it a file tells them. */
int picture_options_check_model(struct picture_options *options, const char *command,
				const char *model);

/* Sets what a data set is opened with, for a network of that name; `as` must live until it is.  The
 * exit code, after a message. */
int picture_options_apply(const struct picture_options *options, const char *model,
			  struct tn_input_format *as, struct tn_dataset_options *to);
/* *format := what pictures are prepared by where there is no data set: that of ImageNet or of the
 * published weights.  The exit code, after a message. */
int picture_options_format(const struct picture_options *options, const char *model,
			   struct tn_input_format *format);

#endif
