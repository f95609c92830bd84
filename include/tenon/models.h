/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The gallery: classic networks by name.
 */
#ifndef TENON_MODELS_H
#define TENON_MODELS_H

#include <tenon/nn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The shape of the input and the number of classes of the output. */
struct tn_model_shape {
	int64_t channels;
	int64_t height;
	int64_t width;
	int64_t n_classes;
};

struct tn_model_info {
	const char *name;
	const char *text; /* one line: what it is and where it comes from */
};

/* The gallery, by index; NULL past the end.  Borrowed, always valid.  [thread: any | since 0.1] */
TN_API const struct tn_model_info *tn_model_at(size_t index);

/* The network `name` for inputs of that shape, not yet built; owned.  On failure NULL, and the
 * context keeps the error: TN_NOT_FOUND lists the names, TN_SHAPE states the shape that the network
 * requires.  [thread: one per context | since 0.1] */
TN_API tn_module *tn_model_create(tn_context *context, const char *name,
				  const struct tn_model_shape *shape);

#ifdef __cplusplus
}
#endif
#endif
