/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Makes the module of a recorded case from its integers and arrays, and runs it forward.
 */
#include "modules.h"

#include <math.h>
#include <string.h>

const int64_t *modules_ints(const struct record *record, const char *name)
{
	static const int64_t zeros[RECORD_INTS];
	const int64_t *values = record_ints(record, name);
	return values ? values : zeros;
}

double modules_number(const struct record *record, const char *name, double otherwise)
{
	const int64_t *values = record_ints(record, name);
	return values ? (double)values[0] : otherwise;
}

void modules_pair(int64_t to[2], const struct record *record, const char *name)
{
	memcpy(to, modules_ints(record, name), 2 * sizeof(*to));
}

static tn_module *conv1d(tn_context *context, const struct record *r)
{
	const int64_t *a = modules_ints(r, "args");
	struct tn_conv1d_options window = tn_conv1d_defaults();
	window.stride = a[3];
	window.padding = a[4];
	window.dilation = a[5];
	window.groups = a[6];
	struct tn_module_conv1d_options options = tn_module_conv1d_defaults();
	options.window = &window;
	options.no_bias = !modules_ints(r, "bias")[0];
	return tn_module_conv1d(context, a[0], a[1], a[2], &options);
}

static tn_module *conv_transpose2d(tn_context *context, const struct record *r)
{
	const int64_t *channels = modules_ints(r, "channels"), *kernel = modules_ints(r, "kernel");
	struct tn_conv_transpose2d_options window = tn_conv_transpose2d_defaults();
	window.groups = modules_ints(r, "groups")[0];
	modules_pair(window.stride, r, "stride");
	modules_pair(window.padding, r, "padding");
	modules_pair(window.output_padding, r, "more");
	modules_pair(window.dilation, r, "dilation");
	struct tn_module_conv_transpose2d_options o = tn_module_conv_transpose2d_defaults();
	o.window = &window;
	o.no_bias = !modules_ints(r, "bias")[0];
	return tn_module_conv_transpose2d(context, channels[0], channels[1], kernel[0], kernel[1],
					  &o);
}

static tn_module *embedding(tn_context *context, const struct record *r)
{
	const int64_t *a = modules_ints(r, "args"), *padding = record_ints(r, "padding");
	struct tn_module_embedding_options options = tn_module_embedding_defaults();
	options.has_padding = padding != NULL;
	options.padding_index = padding ? padding[0] : 0;
	return tn_module_embedding(context, a[0], a[1], &options);
}

static tn_module *batch_norm1d(tn_context *context, const struct record *r)
{
	struct tn_module_norm_options o = tn_module_norm_defaults();
	o.epsilon = modules_number(r, "epsilon", 1e-3);
	o.momentum = modules_number(r, "momentum", 0.2);
	o.cumulative = record_ints(r, "cumulative") != NULL;
	return tn_module_batch_norm1d(context, modules_ints(r, "channels")[0], &o);
}

static tn_module *instance_norm2d(tn_context *context, const struct record *r)
{
	struct tn_module_instance_norm_options o = tn_module_instance_norm_defaults();
	o.affine = (int)modules_ints(r, "affine")[0];
	o.epsilon = modules_number(r, "epsilon", o.epsilon);
	return tn_module_instance_norm2d(context, modules_ints(r, "channels")[0], &o);
}

static tn_module *multihead_attention(tn_context *context, const struct record *r)
{
	const int64_t *a = modules_ints(r, "args");
	struct tn_module_attention_options attention = tn_module_attention_defaults();
	attention.no_bias = !modules_ints(r, "bias")[0];
	attention.causal = (int)modules_ints(r, "causal")[0];
	return tn_module_multihead_attention(context, a[0], a[1], &attention);
}

static tn_module *recurrent(tn_context *context, const struct record *r)
{
	const int64_t *a = modules_ints(r, "args");
	struct tn_module_recurrent_options o = tn_module_recurrent_defaults();
	o.n_layers = (int)a[2];
	o.no_bias = !modules_ints(r, "bias")[0];
	o.bidirectional = (int)modules_ints(r, "bidirectional")[0];
	return strcmp(r->layer, "lstm") ? tn_module_gru(context, a[0], a[1], &o)
					: tn_module_lstm(context, a[0], a[1], &o);
}

static tn_module *adaptive_max_pool2d(tn_context *context, const struct record *r)
{
	const int64_t *size = modules_ints(r, "size");
	return tn_module_adaptive_max_pool2d(context, size[0], size[1]);
}

static tn_module *upsample(tn_context *context, const struct record *r)
{
	struct tn_interpolate_options o = {.struct_size = sizeof(o),
					   .mode = (uint32_t)modules_ints(r, "bilinear")[0],
					   .align_corners = (int)modules_ints(r, "corners")[0]};
	modules_pair(o.size, r, "size");
	for (int i = 0; i < 2; i++)
		o.scale[i] = (double)modules_ints(r, "scale_thousandths")[i] / 1000;
	return tn_module_upsample(context, &o);
}

static tn_module *local_response_norm(tn_context *context, const struct record *r)
{
	struct tn_local_response_norm_options o = tn_local_response_norm_defaults();
	o.alpha = modules_number(r, "alpha", 0.5);
	o.beta = modules_number(r, "beta", 0.6);
	o.k = modules_number(r, "k", 2);
	return tn_module_local_response_norm(context, modules_ints(r, "size")[0], &o);
}

static tn_module *mbconv(tn_context *context, const struct record *r)
{
	const int64_t *a = modules_ints(r, "args");
	struct tn_module_mbconv_options options = tn_module_mbconv_defaults();
	options.kernel = a[3];
	options.stride = a[4];
	options.squeezed = a[5];
	return tn_module_mbconv(context, a[0], a[1], a[2], &options);
}

static tn_module *convnext_block(tn_context *context, const struct record *r)
{
	struct tn_module_convnext_options convnext = tn_module_convnext_defaults();
	convnext.layer_scale = 0.5;
	return tn_module_convnext_block(context, modules_ints(r, "args")[0], &convnext);
}

static tn_module *branches(tn_context *context, const struct record *r)
{
	tn_module *module = strcmp(r->layer, "sum") ? tn_module_concatenate(context, 1)
						    : tn_module_sum(context);
	struct tn_conv2d_options window = tn_conv2d_defaults();
	window.padding[0] = window.padding[1] = 1;
	struct tn_module_conv2d_options same = tn_module_conv2d_defaults();
	same.window = &window;
	tn_module_add(module, "a", tn_module_conv2d(context, 2, 3, 1, 1, NULL));
	tn_module_add(module, "b", tn_module_conv2d(context, 2, 3, 3, 3, &same));
	tn_module_add(module, "c", tn_module_conv2d(context, 2, 3, 1, 1, NULL));
	return module;
}

tn_module *modules_make(tn_context *context, const struct record *record)
{
	static const struct {
		const char *name;
		tn_module *(*make)(tn_context *context, const struct record *record);
	} kinds[] = {
		{"adaptive_max_pool2d", adaptive_max_pool2d},
		{"batch_norm1d", batch_norm1d},
		{"concatenate", branches},
		{"conv1d", conv1d},
		{"conv_transpose2d", conv_transpose2d},
		{"convnext_block", convnext_block},
		{"embedding", embedding},
		{"gru", recurrent},
		{"instance_norm2d", instance_norm2d},
		{"local_response_norm", local_response_norm},
		{"lstm", recurrent},
		{"mbconv", mbconv},
		{"multihead_attention", multihead_attention},
		{"sum", branches},
		{"upsample", upsample},
	};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcmp(kinds[i].name, record->layer))
			return kinds[i].make(context, record);
	}
	return modules_make_layer(context, record);
}

/* ---- Forwards of several inputs --------------------------------------------------------------*/

static tn_array *input(const struct modules_input *inputs, const char *name)
{
	for (int i = 0; i < MODULES_INPUTS; i++) {
		if (inputs[i].name && !strcmp(inputs[i].name, name))
			return inputs[i].array;
	}
	return NULL;
}

/* The last `hides` elements of the second sequence are hidden. */
static tn_array *attend(tn_module *module, const struct record *r, const tn_array *x,
			const struct modules_input *inputs)
{
	const tn_array *key = input(inputs, "i:key"), *value = input(inputs, "i:value");
	int64_t hides = modules_ints(r, "hides")[0], n = tn_array_shape(key)[1];
	tn_array *mask = hides ? tn_zeros(tn_array_context(x), tn_array_dtype(x), 4,
					  (const int64_t[]){2, 1, 1, n})
			       : NULL;
	if (mask)
		tn_fill(tn_slice(tn_slice(mask, 0, 1, 2, 1), 3, n - hides, n, 1), -INFINITY);
	return tn_module_attention_forward(module, x, key, value ? value : key, mask);
}

static tn_array *line(const tn_array *a)
{
	return tn_reshape(a, 1, (const int64_t[]){-1});
}

static tn_array *run_states(tn_module *module, const struct record *r, const tn_array *x,
			    const struct modules_input *inputs)
{
	tn_array *h_n, *c_n = NULL;
	int is_lstm = !strcmp(r->layer, "lstm");
	tn_array *y =
		tn_module_recurrent_forward(module, x, input(inputs, "i:h0"), input(inputs, "i:c0"),
					    &h_n, is_lstm ? &c_n : NULL);
	const tn_array *all[] = {line(y), line(h_n), line(c_n)};
	return tn_concatenate(is_lstm ? 3 : 2, all, 0);
}

tn_array *modules_forward(tn_module *module, const struct record *record, const tn_array *x,
			  const struct modules_input inputs[MODULES_INPUTS])
{
	if (!inputs[0].name)
		return tn_module_forward(module, x);
	return strcmp(record->layer, "multihead_attention") ? run_states(module, record, x, inputs)
							    : attend(module, record, x, inputs);
}
