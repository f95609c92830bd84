/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * oneDNN's convolutions, as rivals.
 */
#include "onednn.h"

#include <dnnl.h>
#include <stdlib.h>
#include <string.h>

struct bench_onednn {
	dnnl_engine_t engine;
	dnnl_stream_t stream;
	dnnl_primitive_t primitive;
	dnnl_memory_t memory[3];
	dnnl_exec_arg_t arguments[3];
};

static const struct way {
	const char *name;
	dnnl_alg_kind_t algorithm;
	dnnl_format_tag_t images;
} ways[BENCH_ONEDNN_WAYS] = {
	{"oneDNN direct blocked", dnnl_convolution_direct, dnnl_format_tag_any},
	{"oneDNN direct nhwc", dnnl_convolution_direct, dnnl_nhwc},
	{"oneDNN winograd blocked", dnnl_convolution_winograd, dnnl_format_tag_any},
	{"oneDNN auto blocked", dnnl_convolution_auto, dnnl_format_tag_any},
};

const char *bench_onednn_name(int way)
{
	return ways[way].name;
}

struct shapes {
	dnnl_memory_desc_t x, w, y;
	dnnl_dims_t stride, padding;
};

static int describe(struct shapes *s, const struct bench_conv *c, const struct way *way)
{
	dnnl_dims_t x = {c->n, c->c, c->h, c->w};
	dnnl_dims_t y = {c->n, c->o, bench_windows(c, c->h, c->r), bench_windows(c, c->w, c->s)};
	dnnl_dims_t w = {c->o, c->c, c->r, c->s};
	dnnl_dims_t grouped = {c->groups, c->o / c->groups, c->c / c->groups, c->r, c->s};
	for (int i = 0; i < 2; i++) {
		s->stride[i] = c->stride;
		s->padding[i] = c->padding;
	}
	return dnnl_memory_desc_init_by_tag(&s->x, 4, x, dnnl_f32, way->images) ||
	       dnnl_memory_desc_init_by_tag(&s->y, 4, y, dnnl_f32, way->images) ||
	       dnnl_memory_desc_init_by_tag(&s->w, c->groups > 1 ? 5 : 4,
					    c->groups > 1 ? grouped : w, dnnl_f32,
					    dnnl_format_tag_any);
}

static dnnl_primitive_desc_t make(struct bench_onednn *o, const struct shapes *s, int pass,
				  const struct way *way)
{
	dnnl_convolution_desc_t forward, desc;
	dnnl_primitive_desc_t hint = NULL, made = NULL;
	if (dnnl_convolution_forward_desc_init(&forward, dnnl_forward_training, way->algorithm,
					       &s->x, &s->w, NULL, &s->y, s->stride, s->padding,
					       s->padding) ||
	    dnnl_primitive_desc_create(&hint, &forward, NULL, o->engine, NULL))
		return NULL;
	if (pass == BENCH_FORWARD)
		return hint;
	int failed =
		pass == BENCH_DGRAD
			? dnnl_convolution_backward_data_desc_init(&desc, way->algorithm, &s->x,
								   &s->w, &s->y, s->stride,
								   s->padding, s->padding)
			: dnnl_convolution_backward_weights_desc_init(&desc, way->algorithm, &s->x,
								      &s->w, NULL, &s->y, s->stride,
								      s->padding, s->padding);
	if (!failed)
		dnnl_primitive_desc_create(&made, &desc, NULL, o->engine, hint);
	dnnl_primitive_desc_destroy(hint);
	return made;
}

static int fill(struct bench_onednn *o, int i, dnnl_primitive_desc_t desc, dnnl_query_t query,
		int argument)
{
	const dnnl_memory_desc_t *md = dnnl_primitive_desc_query_md(desc, query, 0);
	float *data;
	if (dnnl_memory_create(&o->memory[i], md, o->engine, DNNL_MEMORY_ALLOCATE) ||
	    dnnl_memory_get_data_handle(o->memory[i], (void **)&data))
		return 1;
	for (size_t at = 0; at < dnnl_memory_desc_get_size(md) / sizeof(float); at++)
		data[at] = (float)(at % 13) / 13 - 0.5f;
	o->arguments[i] = (dnnl_exec_arg_t){argument, o->memory[i]};
	return 0;
}

static int fill_all(struct bench_onednn *o, dnnl_primitive_desc_t desc, int pass)
{
	static const struct {
		dnnl_query_t query;
		int argument;
	} roles[3][3] = {{{dnnl_query_src_md, DNNL_ARG_SRC},
			  {dnnl_query_weights_md, DNNL_ARG_WEIGHTS},
			  {dnnl_query_dst_md, DNNL_ARG_DST}},
			 {{dnnl_query_diff_src_md, DNNL_ARG_DIFF_SRC},
			  {dnnl_query_weights_md, DNNL_ARG_WEIGHTS},
			  {dnnl_query_diff_dst_md, DNNL_ARG_DIFF_DST}},
			 {{dnnl_query_src_md, DNNL_ARG_SRC},
			  {dnnl_query_diff_weights_md, DNNL_ARG_DIFF_WEIGHTS},
			  {dnnl_query_diff_dst_md, DNNL_ARG_DIFF_DST}}};
	for (int i = 0; i < 3; i++) {
		if (fill(o, i, desc, roles[pass][i].query, roles[pass][i].argument))
			return 1;
	}
	return 0;
}

struct bench_onednn *bench_onednn_open(const struct bench_conv *conv, int pass, int way)
{
	struct bench_onednn *o = calloc(1, sizeof(*o));
	struct shapes shapes;
	dnnl_primitive_desc_t desc = NULL;
	if (!o || dnnl_engine_create(&o->engine, dnnl_cpu, 0) ||
	    dnnl_stream_create(&o->stream, o->engine, dnnl_stream_default_flags) ||
	    describe(&shapes, conv, &ways[way])) {
		bench_onednn_close(o);
		return NULL;
	}
	desc = make(o, &shapes, pass, &ways[way]);
	if (!desc || fill_all(o, desc, pass) || dnnl_primitive_create(&o->primitive, desc)) {
		bench_onednn_close(o);
		o = NULL;
	}
	if (desc)
		dnnl_primitive_desc_destroy(desc);
	return o;
}

void bench_onednn_run(void *opened)
{
	struct bench_onednn *o = opened;
	dnnl_primitive_execute(o->primitive, o->stream, 3, o->arguments);
	dnnl_stream_wait(o->stream);
}

void bench_onednn_close(struct bench_onednn *o)
{
	if (!o)
		return;
	if (o->primitive)
		dnnl_primitive_destroy(o->primitive);
	for (int i = 0; i < 3; i++) {
		if (o->memory[i])
			dnnl_memory_destroy(o->memory[i]);
	}
	if (o->stream)
		dnnl_stream_destroy(o->stream);
	if (o->engine)
		dnnl_engine_destroy(o->engine);
	free(o);
}
