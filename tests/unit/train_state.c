/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The state of a trainer: saved after any step and taken by a new one, the training ends with the
 * same bits, history and best weights.
 */
#include "train_fixture.h"

#include "io_files.h"
#include "train/trainer_state.h"

/* What a checkpoint would have beside the trainer's state. */
struct objects {
	float weights[MOST_WEIGHTS];
	float momenta[16][64];
	uint64_t steps[16];
	struct tn_schedule_state schedule;
	struct tn_data_position position;
	struct tn_random_state random;
};

struct saving {
	struct fit fit;
	tn_schedule *schedule;
	tn_metric *metrics[2];
	uint64_t at; /* the step after which everything is saved */
	struct objects objects;
	struct tn_trainer_saved state;
};

static void save_objects(struct saving *s)
{
	struct tn_optimizer_state_view state = {.struct_size = sizeof(state)};
	struct tn_optimizer_parameter_view parameter = {.struct_size = sizeof(parameter)};
	read_weights(s->fit.net, s->objects.weights);
	for (size_t i = 0; i < tn_optimizer_state_count(s->fit.optimizer); i++) {
		assert_ok(tn_optimizer_state_at(s->fit.optimizer, i, &state));
		assert_ok(tn_to_host(state.value, s->objects.momenta[i],
				     (size_t)tn_array_size(state.value) * sizeof(float)));
	}
	for (size_t i = 0; i < tn_module_parameter_count(s->fit.net); i++) {
		assert_ok(tn_optimizer_parameter_at(s->fit.optimizer, i, &parameter));
		s->objects.steps[i] = parameter.steps;
	}
	s->objects.schedule.struct_size = sizeof(s->objects.schedule);
	assert_ok(tn_schedule_get_state(s->schedule, &s->objects.schedule));
	s->objects.position = tn_data_loader_position(s->fit.train);
	s->objects.random = tn_random_get_state(s->fit.context);
}

static void load_objects(struct saving *s, const struct objects *from)
{
	struct tn_optimizer_state_view state = {.struct_size = sizeof(state)};
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	const float *next = from->weights;
	for (size_t i = 0; i < tn_module_parameter_count(s->fit.net); i++) {
		assert_ok(tn_module_parameter_at(s->fit.net, i, &view));
		size_t n = (size_t)tn_array_size(view.value);
		assert_ok(tn_assign_host(view.value, next, n * sizeof(float)));
		next += n;
		assert_ok(tn_optimizer_set_steps(s->fit.optimizer, i, from->steps[i]));
	}
	for (size_t i = 0; i < tn_optimizer_state_count(s->fit.optimizer); i++) {
		assert_ok(tn_optimizer_state_at(s->fit.optimizer, i, &state));
		assert_ok(tn_assign_host(state.value, from->momenta[i],
					 (size_t)tn_array_size(state.value) * sizeof(float)));
	}
	assert_ok(tn_schedule_set_state(s->schedule, &from->schedule));
	assert_ok(tn_data_loader_seek(s->fit.train, from->position, NULL));
	tn_random_set_state(s->fit.context, from->random);
}

static int save_at(void *user, const struct tn_trainer_step *step)
{
	struct saving *s = user;
	if (step->step != s->at)
		return 0;
	save_objects(s);
	assert_ok(tn_trainer_save_state(s->fit.trainer, &s->state));
	return 0;
}

static void open_saving(struct saving *s, tn_context *context, uint32_t capture)
{
	memset(s, 0, sizeof(*s));
	open_fit(&s->fit, context, 4);
	struct tn_schedule_options options = tn_schedule_defaults();
	options.kind = TN_SCHEDULE_EXPONENTIAL;
	options.gamma = 0.9;
	s->schedule = tn_schedule_create(s->fit.optimizer, &options);
	for (uint32_t i = 0; i < 2; i++) {
		struct tn_metric_options metric_options = tn_metric_defaults();
		metric_options.kind = i ? TN_METRIC_MAE : TN_METRIC_R2;
		s->metrics[i] = tn_metric_create(context, &metric_options);
	}
	s->fit.options.schedule = s->schedule;
	s->fit.options.n_metrics = 2;
	s->fit.options.metrics = s->metrics;
	s->fit.options.accumulate = 2;
	s->fit.options.n_epochs = 4;
	s->fit.options.best = TN_BEST_ON_DEVICE;
	s->fit.options.capture = capture;
	s->fit.options.user = s;
}

static void close_saving(struct saving *s)
{
	close_fit(&s->fit);
	tn_schedule_destroy(s->schedule);
	tn_metric_destroy(s->metrics[0]);
	tn_metric_destroy(s->metrics[1]);
	tn_trainer_saved_release(&s->state);
}

/* What must be equal at the end. */
static size_t read_end(const struct saving *s, double *to)
{
	size_t n = 0;
	for (size_t i = 0; i < tn_trainer_history_count(s->fit.trainer); i++) {
		const struct tn_trainer_epoch *epoch = tn_trainer_history_at(s->fit.trainer, i);
		const struct tn_trainer_values *validation = epoch->validation;
		assert_int_equal(epoch->struct_size, sizeof(*epoch));
		assert_int_equal(epoch->train->struct_size, sizeof(*epoch->train));
		assert_int_equal(validation != NULL, s->fit.options.validation != NULL);
		const double row[] = {(double)epoch->step,
				      epoch->lr,
				      epoch->train->loss,
				      epoch->train->metrics[0],
				      epoch->train->metrics[1],
				      validation ? validation->loss : 0,
				      validation ? validation->metrics[0] : 0,
				      validation ? (double)validation->samples : 0,
				      epoch->is_best};
		memcpy(to + n, row, sizeof(row));
		n += sizeof(row) / sizeof(row[0]);
	}
	to[n++] = (double)tn_trainer_best(s->fit.trainer)->epoch;
	to[n++] = tn_optimizer_lr(s->fit.optimizer);
	return n;
}

static void check_resumed(int backend, uint32_t capture, uint64_t at)
{
	struct saving whole, rest;
	float expected[MOST_WEIGHTS], found[MOST_WEIGHTS];
	double ends[2][64];
	tn_context *context = open_backend(backend);
	open_saving(&whole, context, capture);
	whole.fit.options.validation = backend == 1 ? NULL : whole.fit.validation;
	whole.at = at;
	whole.fit.options.on_step = save_at;
	make_fit_trainer(&whole.fit);
	assert_ok(tn_trainer_run(whole.fit.trainer));
	size_t n = read_weights(whole.fit.net, expected);
	size_t n_ends = read_end(&whole, ends[0]);
	/* Another process would do this. */
	open_saving(&rest, context, capture);
	rest.fit.options.validation = whole.fit.options.validation ? rest.fit.validation : NULL;
	make_fit_trainer(&rest.fit);
	assert_ok(
		tn_trainer_prepare_state(rest.fit.trainer, whole.state.text, 1 << 20, &rest.state));
	assert_int_equal(rest.state.n, whole.state.n);
	for (size_t i = 0; i < rest.state.n; i++) {
		const struct tn_trainer_array *a = &whole.state.arrays[i],
					      *b = &rest.state.arrays[i];
		size_t size = tn_dtype_size(a->dtype);
		assert_string_equal(a->name, b->name);
		assert_int_equal(a->dtype, b->dtype);
		assert_int_equal(a->rank, b->rank);
		for (int k = 0; k < a->rank; k++) {
			assert_int_equal(a->shape[k], b->shape[k]);
			size *= (size_t)a->shape[k];
		}
		memcpy(b->data, a->data, size);
	}
	load_objects(&rest, &whole.objects);
	assert_ok(tn_trainer_load_state(rest.fit.trainer, &rest.state));
	assert_int_equal(tn_trainer_steps(rest.fit.trainer), at);
	assert_ok(tn_trainer_run(rest.fit.trainer));
	assert_int_equal(read_weights(rest.fit.net, found), n);
	assert_memory_equal(found, expected, n * sizeof(float));
	assert_int_equal(read_end(&rest, ends[1]), n_ends);
	assert_memory_equal(ends[1], ends[0], n_ends * sizeof(double));
	close_saving(&whole);
	close_saving(&rest);
	tn_context_close(context);
}

/* Five steps an epoch: 5 is the last of the first.  The built-in backend has no validation. */
static void a_training_continues_to_the_same_bits(void **state)
{
	static const uint64_t steps[] = {1, 5, 6, 13};
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		for (int k = 0; k < BACKENDS; k++)
			check_resumed(k, TN_CAPTURE_OFF, steps[i]);
		check_resumed(2, TN_CAPTURE_ON, steps[i]);
	}
}

static void texts_of_others_are_refused(void **state)
{
	static const struct {
		const char *text;
		tn_status status;
	} cases[] = {
		{"", TN_FORMAT},
		{"{\"version\": 1, \"epochs\": 0, \"running\": 0, \"best\": 0, \"metrics\": []}",
		 TN_FORMAT},
		{"{\"version\": 2, \"epochs\": -1, \"running\": 0, \"best\": 0, \"metrics\": []}",
		 TN_FORMAT},
		{"{\"version\": 2, \"epochs\": 99999999, \"running\": 0, \"best\": 0}", TN_FORMAT},
		{"{\"version\": 2, \"epochs\": 1, \"running\": 0, \"best\": 0, \"metrics\": []}",
		 TN_INVALID_ARGUMENT},
		{"{\"version\": 2, \"epochs\": 1, \"running\": 0, \"best\": 0, \"metrics\": "
		 "[\"r2\", 2, 7, \"mae\", 1, 1]}",
		 TN_FORMAT},
		{"{\"version\": 2, \"epochs\": 1, \"running\": 0, \"best\": 0, \"metrics\": "
		 "[\"accuracy\", 0, 0, \"mae\", 1, 1]}",
		 TN_INVALID_ARGUMENT},
	};
	struct saving s;
	struct tn_trainer_saved saved;
	(void)state;
	tn_context *context = open_backend(0);
	open_saving(&s, context, TN_CAPTURE_OFF);
	make_fit_trainer(&s.fit);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_status(
			tn_trainer_prepare_state(s.fit.trainer, cases[i].text, 1 << 20, &saved),
			cases[i].status);
		tn_error_clear(context);
	}
	close_saving(&s);
	tn_context_close(context);
}

static void a_history_with_impossible_counts_is_refused(void **state)
{
	static const double impossible[] = {NAN, -1.0, 1e300};
	struct saving s;
	(void)state;
	tn_context *context = open_backend(0);
	open_saving(&s, context, TN_CAPTURE_OFF);
	make_fit_trainer(&s.fit);
	assert_ok(tn_trainer_run(s.fit.trainer));
	assert_ok(tn_trainer_save_state(s.fit.trainer, &s.state));
	double *row = s.state.arrays[2].data;
	const double epoch = row[0];
	for (size_t i = 0; i < sizeof(impossible) / sizeof(impossible[0]); i++) {
		row[0] = impossible[i];
		assert_status(tn_trainer_load_state(s.fit.trainer, &s.state), TN_FORMAT);
		assert_contains(tn_error(context)->text,
				"history, row 0, column 0: expected a number from 0");
		tn_error_clear(context);
		assert_int_equal(tn_trainer_history_count(s.fit.trainer), 4);
	}
	row[0] = epoch;
	assert_ok(tn_trainer_load_state(s.fit.trainer, &s.state));
	close_saving(&s);
	tn_context_close(context);
}

static void impossible_counters_and_numbers_are_refused(void **state)
{
	struct saving s;
	(void)state;
	tn_context *context = open_backend(0);
	open_saving(&s, context, TN_CAPTURE_OFF);
	make_fit_trainer(&s.fit);
	assert_ok(tn_trainer_run(s.fit.trainer));
	assert_ok(tn_trainer_save_state(s.fit.trainer, &s.state));
	static const uint64_t count = UINT64_C(1) << 62;
	static const double number = NAN;
	for (int k = 0; k < 2; k++) {
		const struct tn_trainer_array *array = &s.state.arrays[k];
		for (int64_t i = 0; i < array->shape[0]; i++) {
			char *at = (char *)array->data + 8 * i, before[8];
			memcpy(before, at, 8);
			memcpy(at, k ? (const void *)&number : &count, 8);
			assert_status(tn_trainer_load_state(s.fit.trainer, &s.state), TN_LIMIT);
			tn_error_clear(context);
			assert_int_equal(tn_trainer_steps(s.fit.trainer), 20);
			memcpy(at, before, 8);
		}
	}
	assert_ok(tn_trainer_load_state(s.fit.trainer, &s.state));
	close_saving(&s);
	tn_context_close(context);
}

/* ---- Metrics of the program's own ------------------------------------------------------------*/

/* A metric whose passes have arrays, as many as `user` points to, or one after the first batch. */
struct counting {
	int *n;
	int is_begun;
	tn_array *array;
};

static void *begin_counting(void *user, tn_context *context)
{
	struct counting *counting = calloc(1, sizeof(*counting));
	counting->n = user;
	counting->array = tn_zeros(context, TN_F32, 0, NULL);
	tn_keep(counting->array);
	return counting;
}

static tn_status add_counting(void *state, const tn_array *output, const tn_array *target)
{
	struct counting *counting = state;
	(void)output, (void)target;
	counting->is_begun = 1;
	return TN_OK;
}

static tn_status value_of_counting(void *state, double *value)
{
	(void)state;
	*value = 1;
	return TN_OK;
}

static size_t arrays_of_counting(void *state, tn_array **arrays, size_t room)
{
	struct counting *counting = state;
	int n = *counting->n ? *counting->n : counting->is_begun;
	for (int i = 0; i < n && (size_t)i < room; i++)
		arrays[i] = counting->array;
	return (size_t)n;
}

static void end_counting(void *state)
{
	struct counting *counting = state;
	tn_array_destroy(counting->array);
	free(counting);
}

static int stop_at_once(void *user, const struct tn_trainer_step *step)
{
	(void)user, (void)step;
	return 1;
}

/* Nothing of a pass that is continued is lost without a word. */
static void the_arrays_of_a_class_are_all_saved_and_restored(void **state)
{
	static const struct {
		int n;
		tn_status status[2]; /* of saving, and of continuing */
		const char *text;
	} cases[] = {{8, {TN_CANCELLED, TN_OK}, ""},
		     {9, {TN_LIMIT, TN_OK}, "metric counting: expected at most 8 arrays, found 9"},
		     {0,
		      {TN_CANCELLED, TN_FORMAT},
		      "'.trainer.sum.2': the trainer has nothing of that name"}};
	(void)state;
	tn_context *context = open_backend(0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int n = cases[i].n;
		char path[64];
		snprintf(path, sizeof(path), "%s", files_folder());
		for (int turn = 0; turn < 2; turn++) {
			struct fit fit;
			struct tn_metric_class class_ = tn_metric_class_defaults();
			class_.name = "counting";
			class_.user = &n;
			class_.begin = begin_counting;
			class_.add = add_counting;
			class_.value = value_of_counting;
			class_.arrays = arrays_of_counting;
			class_.end = end_counting;
			tn_metric *metric = tn_metric_custom(context, &class_);
			open_fit(&fit, context, 8);
			tn_checkpoint_folder *folder =
				tn_checkpoint_folder_open(context, path, NULL);
			fit.options.checkpoints = folder;
			fit.options.resume = 1;
			fit.options.n_metrics = 1;
			fit.options.metrics = &metric;
			fit.options.n_epochs = 1;
			fit.options.on_step = turn ? NULL : stop_at_once;
			make_fit_trainer(&fit);
			assert_status(tn_trainer_run(fit.trainer), cases[i].status[turn]);
			if (cases[i].status[turn] == TN_LIMIT || cases[i].status[turn] == TN_FORMAT)
				assert_contains(tn_error(context)->text, cases[i].text);
			tn_error_clear(context);
			close_fit(&fit);
			tn_checkpoint_folder_close(folder);
			tn_metric_destroy(metric);
		}
		files_remove(path);
	}
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_training_continues_to_the_same_bits),
		cmocka_unit_test(texts_of_others_are_refused),
		cmocka_unit_test(a_history_with_impossible_counts_is_refused),
		cmocka_unit_test(impossible_counters_and_numbers_are_refused),
		cmocka_unit_test(the_arrays_of_a_class_are_all_saved_and_restored),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
