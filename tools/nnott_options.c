/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The table of nnott's options with their names here.
 */
#include "nnott_options.h"

static const char *const schedule_words[] = {"none", "constant", "reduce_on_plateau", "plateau",
					     NULL};

static const char probability[] = "a number from 0 to 1";

const struct option_alias nnott_options[] = {
	{.name = "batch-size", .option = "batch"},
	{.name = "val-split", .option = "validation"},
	{.name = "load", .option = "init"},
	{.name = "gpu", .option = "backend", .value = "cuda!"},

	{.name = "hidden-activations", .option = "activation"},
	{.name = "hidden-dropout", .option = "dropout"},
	{.name = "batchnorm", .option = "batch-norm"},
	{.name = "leaky-negative-slope", .option = "negative-slope"},

	{.name = "lr-schedule", .option = "schedule", .words = schedule_words},
	{.name = "early-patience", .option = "patience"},
	{.name = "early-delta", .option = "min-delta"},
	{.name = "grad-clip", .option = "clip-norm"},

	{.name = "confusion-matrix", .option = "confusion"},
	{.name = "show-misclassified", .option = "mistakes", .value = "25"},
	{.name = "plot", .option = "plots", .value = "plots"},

	{.name = "no-augment", .option = "augment", .value = "none"},
	{.name = "augment-max-shift",
	 .option = "augment",
	 .prefix = "roll=",
	 .expected = "a whole number of pixels"},
	{.name = "augment-rotate-deg",
	 .option = "augment",
	 .prefix = "rotate_mode=edge,rotate_deg=",
	 .expected = "degrees"},
	{.name = "augment-rotate-prob",
	 .option = "augment",
	 .prefix = "rotate_prob=",
	 .expected = probability},
	{.name = "augment-hflip-prob",
	 .option = "augment",
	 .prefix = "hflip_prob=",
	 .expected = probability},
	{.name = "augment-vflip-prob",
	 .option = "augment",
	 .prefix = "vflip_prob=",
	 .expected = probability},
	{.name = "augment-noise-std",
	 .option = "augment",
	 .prefix = "noise_std=",
	 .expected = "a number of at least 0"},
	{.name = "augment-noise-prob",
	 .option = "augment",
	 .prefix = "noise_prob=",
	 .expected = probability},
	{.name = "augment-noise-clip",
	 .option = "augment",
	 .prefix = "noise_clip=",
	 .expected = "a number above 0"},
	{.name = "augment-cutout-prob",
	 .option = "augment",
	 .prefix = "cutout_prob=",
	 .expected = probability},
	{.name = "augment-cutout-size",
	 .option = "augment",
	 .prefix = "cutout_size=",
	 .expected = "a whole number of pixels above 0"},
	{.name = "augment-cutmix-prob",
	 .option = "augment",
	 .prefix = "cutmix_prob=",
	 .expected = probability},
	{.name = "augment-cutmix-alpha",
	 .option = "augment",
	 .prefix = "cutmix_alpha=",
	 .expected = "a number above 0"},
	{.name = "augment-randaug-layers",
	 .option = "augment",
	 .prefix = "randaugment_layers=",
	 .expected = "a whole number"},
	{.name = "augment-randaug-magnitude",
	 .option = "augment",
	 .prefix = "randaugment_magnitude=",
	 .expected = probability},
};
const size_t n_nnott_options = N_ROWS(nnott_options);
