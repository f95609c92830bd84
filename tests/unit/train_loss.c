/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Losses as objects: their sums and weights, their options, those of a program's own; and trainings
 * with weighted labels, whose steps and evaluations are the same in batches of any size.
 */
#include "train_fixture.h"

enum { SAMPLES = 12, CLASSES = 3, IGNORED = -100 };

/* ---- Samples ---------------------------------------------------------------------------------*/

struct samples {
	float x[SAMPLES][CLASSES];     /* inputs, or logits */
	float log_p[SAMPLES][CLASSES]; /* logarithms of probabilities */
	float y[SAMPLES][CLASSES];     /* numbers from 0 to 1 */
	float signs[SAMPLES][CLASSES]; /* 1 and -1 */
	int64_t labels[SAMPLES];       /* some of them ignored; the last four all are */
	int64_t whole_labels[SAMPLES]; /* none is */
};

static void fill(struct samples *s)
{
	for (int i = 0; i < SAMPLES; i++) {
		double sum = 0;
		s->whole_labels[i] = i * i % CLASSES;
		s->labels[i] = i % 5 == 3 || i >= 8 ? IGNORED : s->whole_labels[i];
		for (int k = 0; k < CLASSES; k++) {
			s->x[i][k] = (float)((7 * i + 3 * k) % 11) / 5 - 1;
			s->y[i][k] = (float)((5 * i + k) % 9) / 8;
			s->signs[i][k] = (i + k) % 3 ? 1 : -1;
			sum += exp((double)s->x[i][k]);
		}
		for (int k = 0; k < CLASSES; k++)
			s->log_p[i][k] = (float)((double)s->x[i][k] - log(sum));
	}
}

static tn_array *numbers(tn_context *context, float rows[SAMPLES][CLASSES])
{
	return tn_from_host(context, TN_F32, 2, (int64_t[]){SAMPLES, CLASSES}, rows);
}

static tn_array *labels_of(tn_context *context, const int64_t *labels)
{
	return tn_from_host(context, TN_I64, 1, (int64_t[]){SAMPLES}, labels);
}

static tn_array *class_weights(tn_context *context)
{
	static const float weights[CLASSES] = {0.5f, 1, 4};
	return tn_from_host(context, TN_F32, 1, (int64_t[]){CLASSES}, weights);
}

/* ---- Kinds -----------------------------------------------------------------------------------*/

/* A kind with options of its own, what the function of that name gives, and its weight. */
struct kind {
	struct tn_loss_options options;
	const char *name;
	tn_array *output, *target, *mean;
	double weight;
};

static tn_array *i32(const tn_array *labels)
{
	return tn_astype(labels, TN_I32);
}

static size_t make_labelled_kinds(tn_context *context, struct samples *s, struct kind *kinds)
{
	tn_array *x = numbers(context, s->x), *log_p = numbers(context, s->log_p);
	tn_array *some = labels_of(context, s->labels), *all = labels_of(context, s->whole_labels);
	struct tn_cross_entropy_options entropy = tn_cross_entropy_defaults();
	struct tn_nll_loss_options nll = tn_nll_loss_defaults();
	double weight_of_some = 0, weight_of_all = 0, n_some = 0, n_but_1 = 0;
	for (int i = 0; i < SAMPLES; i++) {
		const double weights[] = {0.5, 1, 4};
		weight_of_all += weights[s->whole_labels[i]];
		weight_of_some += s->labels[i] == IGNORED ? 0 : weights[s->labels[i]];
		n_some += s->labels[i] != IGNORED;
		n_but_1 += s->whole_labels[i] != 1;
	}
	kinds[0] = (struct kind){tn_loss_defaults(),
				 "cross_entropy",
				 x,
				 all,
				 tn_cross_entropy(x, i32(all), NULL),
				 SAMPLES};
	entropy.has_ignore_label = nll.has_ignore_label = 1;
	entropy.ignore_label = nll.ignore_label = IGNORED;
	kinds[1] = (struct kind){tn_loss_defaults(),
				 "cross_entropy",
				 x,
				 some,
				 tn_cross_entropy(x, i32(some), &entropy),
				 n_some};
	kinds[1].options.has_ignore_label = 1;
	kinds[1].options.ignore_label = IGNORED;
	entropy.weight = nll.weight = class_weights(context);
	entropy.label_smoothing = 0.25;
	kinds[2] = (struct kind){kinds[1].options,
				 "cross_entropy",
				 x,
				 some,
				 tn_cross_entropy(x, i32(some), &entropy),
				 weight_of_some};
	kinds[2].options.weight = entropy.weight;
	kinds[2].options.label_smoothing = 0.25;
	kinds[3] = (struct kind){
		kinds[1].options, "nll", log_p, some, tn_nll_loss(log_p, i32(some), &nll),
		weight_of_some};
	kinds[3].options.kind = TN_LOSS_NLL;
	kinds[3].options.weight = nll.weight;
	nll.has_ignore_label = 0;
	kinds[4] = (struct kind){
		tn_loss_defaults(), "nll", log_p, all, tn_nll_loss(log_p, i32(all), &nll),
		weight_of_all};
	kinds[4].options.kind = TN_LOSS_NLL;
	kinds[4].options.weight = nll.weight;
	kinds[5] = (struct kind){tn_loss_defaults(),
				 "multi_margin",
				 x,
				 all,
				 tn_multi_margin_loss(x, i32(all), 2, 0.5, nll.weight, 0),
				 SAMPLES};
	kinds[5].options.kind = TN_LOSS_MULTI_MARGIN;
	kinds[5].options.weight = nll.weight;
	kinds[5].options.p = 2;
	kinds[5].options.margin = 0.5;
	entropy = tn_cross_entropy_defaults();
	entropy.has_ignore_label = 1;
	entropy.ignore_label = 1; /* of a class */
	kinds[6] = (struct kind){tn_loss_defaults(),
				 "cross_entropy",
				 x,
				 all,
				 tn_cross_entropy(x, i32(all), &entropy),
				 n_but_1};
	kinds[6].options.has_ignore_label = kinds[6].options.ignore_label = 1;
	return 7;
}

static size_t make_kinds(tn_context *context, struct samples *s, struct kind *kinds)
{
	static const double n = SAMPLES * CLASSES;
	tn_array *x = numbers(context, s->x), *y = numbers(context, s->y);
	tn_array *log_p = numbers(context, s->log_p), *signs = numbers(context, s->signs);
	struct tn_binary_cross_entropy_options binary = tn_binary_cross_entropy_defaults();
	binary.pos_weight = tn_full(context, TN_F32, 1, (int64_t[]){CLASSES}, 3);
	const struct kind rest[] = {
		{{.kind = TN_LOSS_CROSS_ENTROPY},
		 "cross_entropy",
		 x,
		 y,
		 tn_cross_entropy(x, y, NULL),
		 SAMPLES},
		{{.kind = TN_LOSS_BINARY_CROSS_ENTROPY, .pos_weight = binary.pos_weight},
		 "binary_cross_entropy",
		 x,
		 y,
		 tn_binary_cross_entropy_with_logits(x, y, &binary),
		 n},
		{{.kind = TN_LOSS_MSE}, "mse", x, y, tn_mse_loss(x, y, 0), n},
		{{.kind = TN_LOSS_L1}, "l1", x, y, tn_l1_loss(x, y, 0), n},
		{{.kind = TN_LOSS_SMOOTH_L1, .beta = 0.5},
		 "smooth_l1",
		 x,
		 y,
		 tn_smooth_l1_loss(x, y, 0.5, 0),
		 n},
		{{.kind = TN_LOSS_KL_DIV, .log_target = 1},
		 "kl_div",
		 log_p,
		 log_p,
		 tn_kl_div(log_p, log_p, 1, TN_REDUCTION_BATCH_MEAN),
		 SAMPLES},
		{{.kind = TN_LOSS_KL_DIV},
		 "kl_div",
		 log_p,
		 y,
		 tn_kl_div(log_p, y, 0, TN_REDUCTION_BATCH_MEAN),
		 SAMPLES},
		{{.kind = TN_LOSS_HUBER, .delta = 0.25},
		 "huber",
		 x,
		 y,
		 tn_huber_loss(x, y, 0.25, 0),
		 n},
		{{.kind = TN_LOSS_HINGE_EMBEDDING, .margin = 0.5},
		 "hinge_embedding",
		 x,
		 signs,
		 tn_hinge_embedding_loss(x, signs, 0.5, 0),
		 n},
	};
	size_t first = make_labelled_kinds(context, s, kinds), count = first;
	for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++) {
		const struct tn_loss_options given = rest[i].options;
		struct tn_loss_options *options = &kinds[count].options;
		kinds[count++] = rest[i];
		*options = tn_loss_defaults();
		options->kind = given.kind;
		options->pos_weight = given.pos_weight;
		options->log_target = given.log_target;
		options->beta = given.beta > 0 ? given.beta : options->beta;
		options->delta = given.delta > 0 ? given.delta : options->delta;
		options->margin = given.margin > 0 ? given.margin : options->margin;
	}
	return count;
}

static double item(tn_array *array)
{
	double value = 0;
	assert_non_null(array);
	assert_int_equal(tn_array_rank(array), 0);
	assert_ok(tn_item(array, &value));
	return value;
}

static void check_kind(tn_context *context, const struct kind *k)
{
	const double expected = item(k->mean);
	tn_array *weight = NULL;
	tn_loss *loss = tn_loss_create(context, &k->options);
	if (!loss)
		fail_msg("%s", tn_error_text(context));
	assert_string_equal(tn_loss_name(loss), k->name);
	tn_array *sum = tn_loss_sum(loss, k->output, k->target, &weight);
	assert_close(item(weight), k->weight, 1e-5);
	assert_close(item(sum), expected * k->weight, 1e-5 * (1 + fabs(expected) * k->weight));
	assert_true(item(tn_loss_mean(loss, k->output, k->target)) == expected ||
		    fabs(item(tn_loss_mean(loss, k->output, k->target)) - expected) <
			    1e-6 * fabs(expected));
	tn_loss_destroy(loss);
}

static void kinds_have_the_means_of_their_functions(void **state)
{
	struct samples samples;
	struct kind kinds[20];
	(void)state;
	fill(&samples);
	for (int b = 0; b < BACKENDS; b++) {
		assert_ok(tn_scope_begin(contexts[b]));
		size_t n = make_kinds(contexts[b], &samples, kinds);
		for (size_t i = 0; i < n; i++)
			check_kind(contexts[b], &kinds[i]);
		tn_scope_end(contexts[b], NULL);
	}
}

static void a_loss_holds_its_arrays(void **state)
{
	struct samples samples;
	tn_context *context = contexts[0];
	(void)state;
	fill(&samples);
	assert_ok(tn_scope_begin(context));
	struct tn_loss_options options = tn_loss_defaults();
	options.kind = TN_LOSS_BINARY_CROSS_ENTROPY;
	options.weight = tn_full(context, TN_F32, 1, (int64_t[]){CLASSES}, 2);
	options.pos_weight = tn_full(context, TN_F32, 1, (int64_t[]){CLASSES}, 3);
	tn_loss *loss = tn_loss_create(context, &options);
	tn_scope_end(context, NULL);
	assert_ok(tn_scope_begin(context));
	tn_array *x = numbers(context, samples.x), *y = numbers(context, samples.y);
	tn_array *weight =
		tn_full(context, TN_F32, 1, (int64_t[]){CLASSES}, 5); /* in their place */
	struct tn_binary_cross_entropy_options same = tn_binary_cross_entropy_defaults();
	same.pos_weight = tn_affine(weight, 0, 3);
	const double expected = item(tn_binary_cross_entropy_with_logits(x, y, &same));
	assert_close(item(tn_loss_mean(loss, x, y)), 2 * expected, 1e-5);
	tn_loss_destroy(loss);
	tn_scope_end(context, NULL);
}

/* Each member that only some kinds use, with a value other than its default. */
static void members_of_other_kinds_are_refused_by_name(void **state)
{
	static const struct {
		const char *name;
		uint32_t used_by; /* a bit for each kind */
	} members[] = {
		{"weight", 1 << TN_LOSS_CROSS_ENTROPY | 1 << TN_LOSS_NLL |
				   1 << TN_LOSS_BINARY_CROSS_ENTROPY | 1 << TN_LOSS_MULTI_MARGIN},
		{"pos_weight", 1 << TN_LOSS_BINARY_CROSS_ENTROPY},
		{"label_smoothing", 1 << TN_LOSS_CROSS_ENTROPY},
		{"has_ignore_label", 1 << TN_LOSS_CROSS_ENTROPY | 1 << TN_LOSS_NLL},
		{"ignore_label", 1 << TN_LOSS_CROSS_ENTROPY | 1 << TN_LOSS_NLL},
		{"beta", 1 << TN_LOSS_SMOOTH_L1},
		{"delta", 1 << TN_LOSS_HUBER},
		{"log_target", 1 << TN_LOSS_KL_DIV},
		{"p", 1 << TN_LOSS_MULTI_MARGIN},
		{"margin", 1 << TN_LOSS_HINGE_EMBEDDING | 1 << TN_LOSS_MULTI_MARGIN},
	};
	tn_context *context = contexts[1];
	char text[64];
	(void)state;
	tn_array *weight = class_weights(context);
	for (uint32_t kind = 0; kind <= TN_LOSS_MULTI_MARGIN; kind++) {
		for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
			struct tn_loss_options o = tn_loss_defaults();
			o.kind = kind;
			o.weight = i == 0 ? weight : NULL;
			o.pos_weight = i == 1 ? weight : NULL;
			o.label_smoothing = i == 2 ? 0.5 : 0;
			o.has_ignore_label = i == 3;
			o.ignore_label = i == 4;
			o.beta = i == 5 ? 0 : 1;
			o.delta = i == 6 ? 2 : 1;
			o.log_target = i == 7;
			o.p = i == 8 ? 2 : 1;
			o.margin = i == 9 ? 0 : 1;
			tn_loss *loss = tn_loss_create(context, &o);
			assert_int_equal(loss != NULL, members[i].used_by >> kind & 1);
			snprintf(text, sizeof(text), "expected the default of %s, which",
				 members[i].name);
			if (!loss)
				assert_contains(tn_error_text(context), text);
			tn_error_clear(context);
			tn_loss_destroy(loss);
		}
	}
	tn_array_destroy(weight);
}

static void numbers_out_of_range_are_refused(void **state)
{
	struct tn_loss_options cases[6];
	const char *const texts[] = {"kind: expected TN_LOSS_..., found 10",
				     "label_smoothing: expected a number from 0 to 1, found 2",
				     "beta: expected a finite number of at least 0, found -1",
				     "delta: expected a finite number above 0, found 0",
				     "p: expected 1 or 2, found 3",
				     "margin: expected a finite number, found nan"};
	(void)state;
	for (int i = 0; i < 6; i++)
		cases[i] = tn_loss_defaults();
	cases[0].kind = 10;
	cases[1].label_smoothing = 2;
	cases[2].kind = TN_LOSS_SMOOTH_L1;
	cases[2].beta = -1;
	cases[3].kind = TN_LOSS_HUBER;
	cases[3].delta = 0;
	cases[4].kind = cases[5].kind = TN_LOSS_MULTI_MARGIN;
	cases[4].p = 3;
	cases[5].margin = NAN;
	for (int i = 0; i < 6; i++) {
		assert_null(tn_loss_create(contexts[0], &cases[i]));
		assert_contains(tn_error_text(contexts[0]), texts[i]);
		tn_error_clear(contexts[0]);
	}
}

/* ---- The program's own -----------------------------------------------------------------------*/

struct own {
	int n_destroyed;
	int n_calls;
	int has_weight;
	int has_axes;
};

/* The squares, each sample's weighing 2 if there are weights. */
static tn_array *sum_of_squares(void *user, const tn_array *output, const tn_array *target,
				tn_array **weight)
{
	struct own *own = user;
	tn_array *sum = tn_mse_loss(output, target, TN_REDUCTION_SUM);
	assert_null(*weight);
	own->n_calls++;
	if (own->has_weight)
		*weight = tn_full(tn_array_context(output), own->has_axes ? TN_I32 : TN_F32, 0,
				  NULL, 2 * (double)tn_array_shape(output)[0]);
	return own->has_axes ? tn_reshape(sum, 2, (int64_t[]){1, 1}) : sum;
}

static void note_destroyed(void *user)
{
	struct own *own = user;
	own->n_destroyed++;
}

static tn_array *squares(void *user, const tn_array *output, const tn_array *target,
			 tn_array **weight)
{
	(void)user, (void)target, (void)weight;
	return tn_square(output);
}

static tn_loss *make_own(tn_context *context, struct own *own, int is_repeatable)
{
	struct tn_loss_class class_ = tn_loss_class_defaults();
	class_.name = "squares";
	class_.user = own;
	class_.is_repeatable = is_repeatable;
	class_.sum = sum_of_squares;
	class_.destroy = note_destroyed;
	return tn_loss_custom(context, &class_);
}

static void a_loss_of_ones_own_gives_a_sum_and_a_weight(void **state)
{
	struct samples samples;
	tn_context *context = contexts[0];
	(void)state;
	fill(&samples);
	assert_ok(tn_scope_begin(context));
	tn_array *x = numbers(context, samples.x), *y = numbers(context, samples.y), *weight;
	const double expected = item(tn_mse_loss(x, y, TN_REDUCTION_SUM));
	for (int i = 0; i < 4; i++) {
		struct own own = {.has_weight = i % 2, .has_axes = i / 2};
		const double n = SAMPLES * (1 + own.has_weight);
		tn_loss *loss = make_own(context, &own, 1);
		assert_string_equal(tn_loss_name(loss), "squares");
		assert_close(item(tn_loss_sum(loss, x, y, &weight)), expected, 1e-5);
		assert_close(item(weight), n, 0);
		assert_int_equal(tn_array_dtype(weight), TN_F32);
		assert_close(item(tn_loss_mean(loss, x, y)), expected / n, 1e-6);
		tn_array *wide = tn_zeros(context, TN_F16, 2, (int64_t[]){4099, 1});
		assert_int_equal(tn_array_dtype(tn_loss_sum(loss, wide, wide, &weight)), TN_F32);
		assert_close(item(weight), 4099 * (1 + own.has_weight), 0);
		tn_loss_destroy(loss);
		assert_int_equal(own.n_destroyed, 1);
	}
	struct tn_loss_class wrong = tn_loss_class_defaults();
	wrong.sum = squares;
	assert_null(tn_loss_custom(context, &wrong));
	assert_contains(tn_error_text(context), "a class with a name and sum, found no name");
	tn_error_clear(context);
	wrong.name = "squares";
	tn_loss *loss = tn_loss_custom(context, &wrong);
	weight = x;
	assert_null(tn_loss_sum(loss, x, NULL, &weight));
	assert_null(weight);
	tn_error_clear(context);
	assert_null(tn_loss_sum(loss, x, y, &weight));
	assert_contains(tn_error_text(context),
			"squares: expected a sum of one element, found another array");
	tn_error_clear(context);
	tn_loss_destroy(loss);
	tn_scope_end(context, NULL);
}

/* ---- Training with weights -------------------------------------------------------------------*/

/* How the labels weigh. */
enum { PLAIN, WEIGHTED, IGNORING, BOTH, N_WEIGHINGS };

struct training {
	tn_context *context;
	tn_dataset *dataset;
	tn_module *net;
	tn_optimizer *sgd;
	tn_loss *loss;
};

static tn_loss *make_weighing(tn_context *context, int weighing)
{
	struct tn_loss_options options = tn_loss_defaults();
	tn_array *weight = class_weights(context);
	if (weighing == WEIGHTED || weighing == BOTH)
		options.weight = weight;
	if (weighing == IGNORING || weighing == BOTH) {
		options.has_ignore_label = 1;
		options.ignore_label = IGNORED;
	}
	tn_loss *loss = tn_loss_create(context, &options);
	tn_array_destroy(weight);
	return loss;
}

static void open_training(struct training *t, tn_context *context, int weighing)
{
	static const struct tn_field fields[] = {
		{.name = "x", .dtype = TN_F32, .rank = 1, .shape = {CLASSES}},
		{.name = "y", .dtype = TN_I64}};
	struct samples s;
	fill(&s);
	const void *labels = weighing == IGNORING || weighing == BOTH ? s.labels : s.whole_labels;
	struct tn_dataset_fields source = tn_dataset_fields_defaults();
	source.n = SAMPLES;
	source.n_fields = 2;
	source.fields = fields;
	source.data = (const void *[]){s.x, labels};
	*t = (struct training){.context = context, .loss = make_weighing(context, weighing)};
	assert_ok(tn_dataset_from_fields(&source, &t->dataset, NULL));
	tn_random_set_state(context, (struct tn_random_state){.seed = 5, .stream = 0});
	t->net = tn_module_linear(context, CLASSES, CLASSES, NULL);
	assert_ok(tn_module_build(t->net));
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 1;
	t->sgd = tn_sgd(t->net, &sgd);
}

static void close_training(struct training *t)
{
	tn_loss_destroy(t->loss);
	tn_optimizer_destroy(t->sgd);
	tn_module_destroy(t->net);
	tn_dataset_destroy(t->dataset);
}

static tn_data_loader *open_loader(const struct training *t, uint32_t batch_size)
{
	tn_data_loader *loader = NULL;
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = batch_size;
	assert_ok(tn_data_loader_create(t->dataset, TN_PART_TRAIN, &options, &loader, NULL));
	return loader;
}

static int note_loss(void *user, const struct tn_trainer_step *step)
{
	double *loss = user;
	*loss = step->loss;
	return 0;
}

/* The weights after two steps of all samples, and the loss of the last; returns their number. */
static size_t train(tn_context *context, int weighing, uint32_t batch_size, uint32_t capture,
		    double clip_norm, float *weights, double *loss)
{
	struct training t;
	struct tn_trainer_options options = tn_trainer_defaults();
	open_training(&t, context, weighing);
	options.train = open_loader(&t, batch_size);
	options.loss = t.loss;
	options.n_epochs = 2;
	options.accumulate = SAMPLES / batch_size;
	options.clip_norm = clip_norm;
	options.capture = capture;
	options.on_step = note_loss;
	options.user = loss;
	tn_trainer *trainer = tn_trainer_create(t.net, t.sgd, &options);
	if (!trainer || tn_trainer_run(trainer))
		fail_msg("%s", tn_error_text(context));
	assert_int_equal(tn_trainer_steps(trainer), 2);
	assert_close(tn_trainer_history_at(trainer, 1)->train->loss, *loss, 1e-6);
	size_t n = read_weights(t.net, weights);
	tn_trainer_destroy(trainer);
	tn_data_loader_destroy(options.train);
	close_training(&t);
	return n;
}

/* The same by a loop over the mean of all samples. */
static size_t train_by_hand(tn_context *context, int weighing, double clip_norm, float *weights,
			    double *loss)
{
	struct training t;
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	open_training(&t, context, weighing);
	tn_data_loader *loader = open_loader(&t, SAMPLES);
	assert_ok(tn_data_loader_next(loader, &batch, NULL));
	for (int step = 0; step < 2; step++) {
		assert_ok(tn_scope_begin(context));
		const tn_array *x = tn_from_host(context, TN_F32, 2, (int64_t[]){SAMPLES, CLASSES},
						 batch.data[0]);
		tn_array *labels = labels_of(context, batch.data[1]);
		tn_module_zero_gradients(t.net);
		tn_tape *tape = tn_tape_begin(context);
		tn_array *mean = tn_loss_mean(t.loss, tn_module_forward(t.net, x), labels);
		assert_ok(tn_tape_backward(tape, mean, NULL));
		tn_tape_end(tape);
		if (isfinite(clip_norm))
			assert_ok(tn_clip_grad_norm(t.net, clip_norm, NULL));
		assert_ok(tn_optimizer_step(t.sgd));
		*loss = item(mean);
		tn_scope_end(context, NULL);
	}
	size_t n = read_weights(t.net, weights);
	tn_data_loader_destroy(loader);
	close_training(&t);
	return n;
}

/* Batches of 4, 3 and 1 among which some have no label that counts. */
static void accumulated_batches_make_the_step_of_all_their_labels(void **state)
{
	static const uint32_t sizes[] = {SAMPLES, 6, 4, 3, 1};
	(void)state;
	for (int k = 0; k < 2 * BACKENDS * N_WEIGHINGS; k++) {
		const int weighing = k % N_WEIGHINGS;
		const double clip = k / N_WEIGHINGS % 2 ? 0.1 : INFINITY;
		tn_context *context = contexts[k / N_WEIGHINGS / 2];
		float whole[MOST_WEIGHTS], parts[MOST_WEIGHTS];
		double losses[2];
		const size_t n = train_by_hand(context, weighing, clip, whole, &losses[0]);
		for (int i = 0; i < 5; i++) {
			train(context, weighing, sizes[i], TN_CAPTURE_OFF, clip, parts, &losses[1]);
			assert_close(losses[1], losses[0], 1e-6);
			for (size_t w = 0; w < n; w++)
				assert_close(parts[w], whole[w], 2e-6);
		}
	}
}

/* The loss of the last of some steps of so many batches each, of a network of f16 and labels that
 * all weigh `each`. */
static double train_halves(tn_context *context, double each, uint64_t n_batches)
{
	struct training t;
	struct tn_loss_options weighing = tn_loss_defaults();
	struct tn_trainer_options options = tn_trainer_defaults();
	double loss = 0;
	open_training(&t, context, PLAIN);
	tn_array *weight = tn_full(context, TN_F32, 1, (int64_t[]){CLASSES}, each);
	weighing.weight = weight;
	tn_loss_destroy(t.loss);
	t.loss = tn_loss_create(context, &weighing);
	tn_array_destroy(weight);
	tn_optimizer_destroy(t.sgd);
	tn_module_destroy(t.net);
	tn_random_set_state(context, (struct tn_random_state){.seed = 5, .stream = 0});
	t.net = tn_module_linear(context, CLASSES, CLASSES, NULL);
	assert_ok(tn_module_set_dtype(t.net, TN_F16));
	assert_ok(tn_module_build(t.net));
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 1;
	t.sgd = tn_sgd(t.net, &sgd);
	options.train = open_loader(&t, 6 / (uint32_t)n_batches);
	options.loss = t.loss;
	options.accumulate = n_batches;
	options.n_epochs = 5;
	options.on_step = note_loss;
	options.user = &loss;
	tn_trainer *trainer = tn_trainer_create(t.net, t.sgd, &options);
	if (!trainer || tn_trainer_run(trainer))
		fail_msg("%s", tn_error_text(context));
	tn_trainer_destroy(trainer);
	tn_data_loader_destroy(options.train);
	close_training(&t);
	return loss;
}

/* Gradients of a sum of losses that weigh little would underflow. */
static void gradients_of_f16_are_those_of_the_mean(void **state)
{
	(void)state;
	for (int b = 0; b < BACKENDS; b++) {
		for (uint64_t n = 1; n <= 3; n++) {
			const double expected = train_halves(contexts[b], 1, n);
			assert_close(train_halves(contexts[b], 1e-6, n), expected,
				     n > 1 ? 1e-3 : 1e-5);
			assert_close(train_halves(contexts[b], 1e5, n), expected,
				     n > 1 ? 1e-3 : 1e-5);
		}
	}
}

/* Of the mock device: to the same bits. */
static void captured_batches_are_weighed_too(void **state)
{
	(void)state;
	for (int weighing = 0; weighing < N_WEIGHINGS; weighing++) {
		float weights[2][MOST_WEIGHTS] = {{0}};
		double losses[2];
		for (int on = 0; on < 2; on++)
			train(contexts[2], weighing, 3, on ? TN_CAPTURE_ON : TN_CAPTURE_OFF, 0.1,
			      weights[on], &losses[on]);
		assert_memory_equal(weights[0], weights[1], sizeof(weights[0]));
		assert_true(losses[0] == losses[1]);
	}
}

static void an_evaluation_is_the_same_in_batches_of_any_size(void **state)
{
	(void)state;
	for (int k = 0; k < BACKENDS * N_WEIGHINGS; k++) {
		struct training t;
		double expected = 0;
		struct tn_trainer_options options = tn_trainer_defaults();
		open_training(&t, contexts[k / N_WEIGHINGS], k % N_WEIGHINGS);
		options.loss = t.loss;
		tn_trainer *trainer = tn_trainer_create(t.net, NULL, &options);
		for (uint32_t size = SAMPLES; size >= 1; size--) {
			struct tn_trainer_values values = {.struct_size = sizeof(values)};
			tn_data_loader *loader = open_loader(&t, size);
			assert_ok(tn_trainer_evaluate(trainer, loader, &values));
			expected = size == SAMPLES ? values.loss : expected;
			assert_close(values.loss, expected, 1e-6);
			assert_int_equal(values.samples, SAMPLES);
			tn_data_loader_destroy(loader);
		}
		tn_trainer_destroy(trainer);
		close_training(&t);
	}
}

/* Of three steps of four samples the last has no label that counts. */
static void a_step_without_a_label_ends_the_training(void **state)
{
	struct training t;
	struct tn_trainer_options options = tn_trainer_defaults();
	float before[MOST_WEIGHTS], after[MOST_WEIGHTS];
	(void)state;
	open_training(&t, contexts[0], BOTH);
	options.train = open_loader(&t, 4);
	options.loss = t.loss;
	options.max_steps = 2;
	tn_trainer *trainer = tn_trainer_create(t.net, t.sgd, &options);
	assert_ok(tn_trainer_run(trainer));
	tn_trainer_destroy(trainer);
	read_weights(t.net, before);
	options.max_steps = TN_NO_LIMIT;
	assert_ok(tn_data_loader_seek(options.train, (struct tn_data_position){0, 8}, NULL));
	trainer = tn_trainer_create(t.net, t.sgd, &options);
	assert_status(tn_trainer_run(trainer), TN_NOT_FINITE);
	assert_contains(
		tn_error_text(contexts[0]),
		"step 1: expected samples whose weights have a finite sum above 0, found 0");
	tn_error_clear(contexts[0]);
	const size_t n = read_weights(t.net, after);
	assert_memory_equal(before, after, n * sizeof(float));
	tn_trainer_destroy(trainer);
	tn_data_loader_destroy(options.train);
	close_training(&t);
}

static tn_array *sum_of_weight(void *user, const tn_array *output, const tn_array *target,
			       tn_array **weight)
{
	const double *value = user;
	*weight = tn_full(tn_array_context(output), TN_F32, 0, NULL, *value);
	return tn_mse_loss(output, target, TN_REDUCTION_SUM);
}

static void a_step_whose_weight_is_no_divisor_ends_the_training(void **state)
{
	double values[] = {0, -1, NAN, INFINITY};
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct fit fit;
		struct tn_loss_class class_ = tn_loss_class_defaults();
		class_.name = "weight";
		class_.user = &values[i];
		class_.sum = sum_of_weight;
		open_fit(&fit, contexts[0], 8);
		tn_loss *loss = fit.options.loss = tn_loss_custom(contexts[0], &class_);
		make_fit_trainer(&fit);
		assert_status(tn_trainer_run(fit.trainer), TN_NOT_FINITE);
		assert_contains(tn_error_text(contexts[0]), "expected samples whose weights");
		tn_error_clear(contexts[0]);
		end_fit_trainer(&fit);
		tn_loss_destroy(loss);
		close_fit(&fit);
	}
}

/* MSE as a sum over samples, whose weight is their number: twice that over the elements. */
static void a_loss_of_ones_own_trains(void **state)
{
	double losses[2];
	(void)state;
	for (int has_weight = 0; has_weight < 2; has_weight++) {
		struct own own = {.has_weight = has_weight, .has_axes = 1};
		struct fit fit;
		open_fit(&fit, contexts[2], 8);
		tn_loss *loss = make_own(contexts[2], &own, 1);
		for (int i = 0; i < 2; i++) {
			struct tn_trainer_values values = {.struct_size = sizeof(values)};
			fit.options.loss = i ? loss : fit.mse;
			make_fit_trainer(&fit);
			assert_ok(tn_trainer_evaluate(fit.trainer, fit.train, &values));
			losses[i] = values.loss;
			if (i) {
				fit.options.capture = TN_CAPTURE_ON;
				assert_ok(tn_trainer_run(fit.trainer));
			}
			end_fit_trainer(&fit);
		}
		assert_close(losses[1], losses[0] * TABLE_TARGETS / (1 + has_weight), 1e-6);
		tn_loss_destroy(loss);
		close_fit(&fit);
	}
}

/* Five batches in each of three epochs. */
static void a_loss_is_replayed_only_if_it_is_repeatable(void **state)
{
	(void)state;
	for (int is_repeatable = 0; is_repeatable < 2; is_repeatable++) {
		struct own own = {.has_weight = 1};
		struct fit fit;
		open_fit(&fit, contexts[2], 8);
		tn_loss *loss = fit.options.loss = make_own(contexts[2], &own, is_repeatable);
		fit.options.validation = NULL;
		make_fit_trainer(&fit);
		assert_ok(tn_trainer_run(fit.trainer));
		assert_int_equal(own.n_calls < 15, is_repeatable);
		end_fit_trainer(&fit);
		tn_loss_destroy(loss);
		close_fit(&fit);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_have_the_means_of_their_functions),
		cmocka_unit_test(a_loss_holds_its_arrays),
		cmocka_unit_test(members_of_other_kinds_are_refused_by_name),
		cmocka_unit_test(numbers_out_of_range_are_refused),
		cmocka_unit_test(a_loss_of_ones_own_gives_a_sum_and_a_weight),
		cmocka_unit_test(accumulated_batches_make_the_step_of_all_their_labels),
		cmocka_unit_test(gradients_of_f16_are_those_of_the_mean),
		cmocka_unit_test(captured_batches_are_weighed_too),
		cmocka_unit_test(an_evaluation_is_the_same_in_batches_of_any_size),
		cmocka_unit_test(a_step_without_a_label_ends_the_training),
		cmocka_unit_test(a_step_whose_weight_is_no_divisor_ends_the_training),
		cmocka_unit_test(a_loss_of_ones_own_trains),
		cmocka_unit_test(a_loss_is_replayed_only_if_it_is_repeatable),
	};
	return cmocka_run_group_tests(tests, open_all, close_all);
}
