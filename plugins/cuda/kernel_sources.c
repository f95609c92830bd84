/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The files of kernels/, as the build has put them into the plugin.
 */
#include "kernel_sources.h"

#include <string.h>

struct source {
	const char *name;
	const char *const *lines;
};

#include "kernel_texts.h" /* made of kernels/ by embed.awk */

int cuda_source_add(struct tn_plugin_text *text, const char *name)
{
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		if (strcmp(sources[i].name, name) != 0)
			continue;
		for (const char *const *line = sources[i].lines; *line; line++)
			tn_plugin_text_add(text, *line);
		return 1;
	}
	return 0;
}
