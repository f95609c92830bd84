/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Checkpoints: the same bits after loading, what is refused, and that nothing changes then.
 */
#include <signal.h>
#include <sys/resource.h>

#include "trainer_run.h"

static char messages[4096];
static struct snapshot before, after;

static void keep_message(void *user, int level, const char *subsystem, const char *text,
			 size_t length)
{
	size_t used = strlen(messages);
	(void)user;
	snprintf(messages + used, sizeof(messages) - used, "%d %s: %.*s\n", level, subsystem,
		 (int)length, text);
}

static tn_context *open_on(const char *backend)
{
	tn_context *context = NULL;
	struct tn_context_options options = tn_context_defaults();
	options.backend = backend;
	options.deterministic = 1;
	options.log = keep_message;
	assert_ok(tn_context_open(&options, &context, NULL));
	messages[0] = '\0';
	return context;
}

static tn_context *open_best(void)
{
	return open_on(NULL);
}

static tn_context *open_reference(void)
{
	return open_on("reference!");
}

static void a_resumed_training_ends_with_the_same_bits(void **state)
{
	(void)state;
	for (int kind = 0; kind < RUN_KINDS; kind++) {
		check_resume(open_best, kind, 0);
		check_resume(open_reference, kind, 0);
	}
}

static void a_resumed_trainer_ends_with_the_same_bits(void **state)
{
	(void)state;
	check_resumed_trainer(open_best, TN_CAPTURE_AUTO);
	check_resumed_trainer(open_reference, TN_CAPTURE_AUTO);
}

/* Checkpoints of loops without a trainer, folders of other trainings. */
static void a_trainer_refuses_what_is_not_its_own(void **state)
{
	struct trainer_run t;
	char path[64];
	(void)state;
	snprintf(path, sizeof(path), "%s", files_folder());
	tn_context *in = open_best();
	tn_checkpoint_folder *folder = tn_checkpoint_folder_open(in, path, NULL);
	trainer_begin(&t, in, 3, TN_CAPTURE_OFF, folder);
	t.run.all.n_extra = 0;
	assert_ok(tn_checkpoint_folder_save(folder, 5, NAN, &t.run.all));
	assert_status(tn_trainer_run(t.trainer), TN_NOT_FOUND);
	assert_contains(tn_error(in)->text, "expected a checkpoint of a trainer, found one");
	tn_error_clear(in);
	trainer_end(&t);
	tn_checkpoint_folder_close(folder);
	unlink(files_path(path, "step-000000000005.safetensors"));

	struct tn_checkpoint_folder_options options = tn_checkpoint_folder_defaults();
	options.is_rising = 1;
	folder = tn_checkpoint_folder_open(in, path, &options);
	trainer_begin(&t, in, 3, TN_CAPTURE_OFF, folder);
	assert_status(tn_trainer_run(t.trainer), TN_INVALID_ARGUMENT);
	assert_contains(tn_error(in)->text, "expected a folder with is_rising 0");
	tn_error_clear(in);
	trainer_end(&t);
	tn_checkpoint_folder_close(folder);

	folder = tn_checkpoint_folder_open(in, path, NULL);
	trainer_begin(&t, in, 3, TN_CAPTURE_OFF, folder);
	t.stop_at = 2;
	assert_status(tn_trainer_run(t.trainer), TN_CANCELLED);
	tn_error_clear(in);
	trainer_end(&t);
	trainer_begin(&t, in, 3, TN_CAPTURE_OFF, folder);
	tn_trainer_destroy(t.trainer);
	struct tn_trainer_options trainer = tn_trainer_defaults();
	trainer.train = t.run.loader;
	trainer.n_metrics = 2;
	trainer.metrics = t.metrics;
	trainer.average = t.run.average;
	trainer.schedule = t.run.schedule;
	trainer.checkpoints = folder;
	trainer.resume = 1;
	t.trainer = tn_trainer_create(t.run.net, t.run.optimizer, &trainer);
	take_snapshot(&before, &t.run);
	assert_status(tn_trainer_run(t.trainer), TN_INVALID_ARGUMENT);
	assert_contains(tn_error(in)->text,
			"trainer.options.clip_norm: expected inf, found 1 (and");
	tn_error_clear(in);
	take_snapshot(&after, &t.run);
	assert_equal_bytes(&after, &before);
	assert_int_equal(tn_trainer_steps(t.trainer), 0);
	trainer_end(&t);
	/* What is compared is not the loss: the confusion matrix is as high as is good. */
	tn_checkpoint_folder_close(folder);
	folder = tn_checkpoint_folder_open(in, path, &options);
	trainer_begin(&t, in, 3, TN_CAPTURE_OFF, folder);
	tn_trainer_destroy(t.trainer);
	trainer.train = t.run.loader;
	trainer.metrics = t.metrics;
	trainer.average = t.run.average;
	trainer.accumulate = 2;
	trainer.clip_norm = 1;
	trainer.scaler = t.scaler;
	trainer.schedule = t.run.schedule;
	trainer.monitor = "confusion";
	trainer.checkpoints = folder;
	t.trainer = tn_trainer_create(t.run.net, t.run.optimizer, &trainer);
	assert_status(tn_trainer_run(t.trainer), TN_INVALID_ARGUMENT);
	assert_contains(tn_error(in)->text, "trainer.options.monitor: expected 2, found 0");
	tn_error_clear(in);
	trainer_end(&t);
	tn_checkpoint_folder_close(folder);
	tn_context_close(in);
	unlink(files_path(path, "step-000000000002.safetensors"));
	unlink(files_path(path, "tenon.lock"));
	assert_int_equal(rmdir(path), 0);
}

/* Files may have so many bytes; the signal for more is ignored. */
static rlim_t limit_files(rlim_t size)
{
	struct rlimit limit;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	const rlim_t old = limit.rlim_cur;
	limit.rlim_cur = size;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	return old;
}

struct full_disk {
	rlim_t old;
	unsigned n_unsaved;
	uint64_t until; /* there is room again after that step; 0: never */
};

static void note_unsaved(void *user, const struct tn_error_info *error)
{
	struct trainer_run *t = user;
	struct full_disk *disk = t->extra;
	assert_int_equal(error->status, TN_IO);
	assert_contains(error->text, "safetensors: writing: File too large");
	disk->n_unsaved++;
}

static int clear_disk(void *user, const struct tn_trainer_step *step)
{
	struct trainer_run *t = user;
	struct full_disk *disk = t->extra;
	if (step->step == disk->until)
		limit_files(disk->old);
	return 0;
}

/* The disk is full from the beginning: each checkpoint is told, and the training has the same bytes
 * and the same end.  If there is room again, the next one is written. */
static void a_training_goes_on_when_the_disk_is_full(void **state)
{
	static struct snapshot whole, again;
	struct trainer_run t;
	(void)state;
	tn_context *in = open_best();
	trainer_begin(&t, in, 3, TN_CAPTURE_OFF, NULL);
	assert_ok(tn_trainer_run(t.trainer));
	take_trainer(&whole, &t);
	trainer_end(&t);
	for (uint64_t until = 0; until <= 7; until += 7) {
		struct full_disk disk = {.until = until};
		char path[64];
		snprintf(path, sizeof(path), "%s", files_folder());
		tn_checkpoint_folder *folder = tn_checkpoint_folder_open(in, path, NULL);
		trainer_begin_with(&t, in, 3, TN_CAPTURE_OFF, folder, clear_disk, note_unsaved);
		t.extra = &disk;
		disk.old = limit_files(4096);
		const tn_status status = tn_trainer_run(t.trainer);
		limit_files(disk.old);
		assert_status(status, until ? TN_OK : TN_IO);
		if (!until)
			assert_contains(tn_error(in)->text, "writing: File too large");
		tn_error_clear(in);
		assert_int_equal(tn_trainer_steps(t.trainer), TRAINER_STEPS);
		assert_int_equal(disk.n_unsaved, until ? 3 : TRAINER_STEPS / 2 + 1);
		assert_int_equal(tn_checkpoint_folder_count(folder), until ? 3 : 0);
		take_trainer(&again, &t);
		assert_equal_bytes(&again, &whole);
		assert_ok(tn_trainer_run(t.trainer));
		trainer_end(&t);
		tn_checkpoint_folder_close(folder);
		files_remove(path);
	}
	tn_context_close(in);
}

/* ---- Mixed precision -------------------------------------------------------------------------*/

struct half {
	tn_module *net;
	tn_optimizer *adamw;
	tn_grad_scaler *scaler;
	struct tn_checkpoint all;
};

static void half_begin(struct half *half, tn_context *in, uint64_t seed)
{
	tn_random_set_state(in, (struct tn_random_state){seed, 0});
	half->net = tn_module_sequential(in);
	tn_module_sequential_add(half->net, "fc", tn_module_linear(in, 4, 3, NULL));
	tn_module_sequential_add(half->net, "dropout", tn_module_dropout(in, 0.25));
	assert_ok(tn_module_set_dtype(half->net, TN_F16));
	assert_ok(tn_module_build(half->net));
	tn_module_set_training(half->net, 1);
	half->adamw = tn_adamw(half->net, NULL);
	struct tn_grad_scaler_options options = tn_grad_scaler_defaults();
	options.init_scale = 1 << 20;
	options.growth_interval = 3;
	half->scaler = tn_grad_scaler_create(half->net, &options);
	half->all = (struct tn_checkpoint){.struct_size = sizeof(half->all),
					   .module = half->net,
					   .optimizer = half->adamw,
					   .scaler = half->scaler};
}

static void half_end(struct half *half)
{
	tn_grad_scaler_destroy(half->scaler);
	tn_optimizer_destroy(half->adamw);
	tn_module_destroy(half->net);
}

/* Steps up to `last`; the weights, all states and the scale go to `snapshot`. */
static void half_train(struct half *half, tn_context *in, int first, int last,
		       struct snapshot *snapshot)
{
	struct tn_grad_scaler_state state = {.struct_size = sizeof(state)};
	struct tn_parameter_view parameter = {.struct_size = sizeof(parameter)};
	for (int i = first; i < last; i++) {
		assert_ok(tn_scope_begin(in));
		tn_module_zero_gradients(half->net);
		tn_tape *tape = tn_tape_begin(in);
		tn_array *x = tn_full(in, TN_F16, 2, (int64_t[]){2, 4}, 0.5 + i);
		tn_array *y = tn_astype(tn_module_forward(half->net, x), TN_F32);
		tn_array *loss = tn_mean(tn_square(y), TN_ALL_AXES, NULL, 0);
		assert_ok(tn_tape_backward(tape, tn_grad_scaler_scale(half->scaler, loss), NULL));
		tn_tape_end(tape);
		assert_ok(tn_grad_scaler_step(half->scaler, half->adamw));
		assert_status(tn_checkpoint_save("/nonexistent/x", &half->all), TN_STATE);
		assert_contains(tn_error(in)->text, "the scaler has unscaled the gradients");
		tn_error_clear(in);
		assert_ok(tn_grad_scaler_update(half->scaler));
		tn_scope_end(in, NULL);
	}
	snapshot->size = 0;
	for (size_t i = 0; i < tn_module_parameter_count(half->net); i++) {
		assert_ok(tn_module_parameter_at(half->net, i, &parameter));
		take_array(snapshot, parameter.value);
	}
	for (size_t i = 0; i < tn_optimizer_state_count(half->adamw); i++) {
		struct tn_optimizer_state_view view = {.struct_size = sizeof(view)};
		assert_ok(tn_optimizer_state_at(half->adamw, i, &view));
		take_array(snapshot, view.value);
	}
	assert_ok(tn_grad_scaler_get_state(half->scaler, &state));
	take_bytes(snapshot, &state.scale, sizeof(state.scale));
	take_bytes(snapshot, &state.good_updates, sizeof(state.good_updates));
}

/* Masters of f32 beside weights of f16, and a scale that fell and grew. */
static void a_network_of_f16_is_resumed_with_its_masters_and_scale(void **state)
{
	static struct snapshot whole, again;
	struct half first, second;
	char path[512];
	(void)state;
	snprintf(path, sizeof(path), "%s", files_folder());
	tn_context *in = open_best();
	half_begin(&first, in, 3);
	half_train(&first, in, 0, 7, &whole);
	strcat(path, "/checkpoint");
	assert_ok(tn_checkpoint_save(path, &first.all));
	half_train(&first, in, 7, 12, &whole);
	half_end(&first);
	tn_context_close(in);
	in = open_best();
	half_begin(&second, in, 4);
	assert_ok(tn_checkpoint_load(path, &second.all));
	half_train(&second, in, 7, 12, &again);
	assert_equal_bytes(&again, &whole);
	tn_grad_scaler_destroy(second.scaler);
	second.scaler = second.all.scaler = tn_grad_scaler_create(second.net, NULL);
	assert_status(tn_checkpoint_load(path, &second.all), TN_INVALID_ARGUMENT);
	assert_contains(tn_error(in)->text,
			"scaler.options.growth_interval: expected 2000, found 3");
	tn_error_clear(in);
	half_end(&second);
	tn_context_close(in);
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
}

/* ---- One training, saved after four steps ----------------------------------------------------*/

static const char *folder;
static char saved[512], changed[512];
static tn_context *context;
static struct run run;

static int setup(void **state)
{
	(void)state;
	folder = files_folder();
	snprintf(saved, sizeof(saved), "%s/saved", folder);
	snprintf(changed, sizeof(changed), "%s/changed", folder);
	context = open_best();
	run_begin(&run, context, RUN_ADAMW, 3);
	run_until(&run, 4);
	assert_ok(tn_checkpoint_save(saved, &run.all));
	run_until(&run, 7);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	run_end(&run);
	tn_context_close(context);
	unlink(saved);
	unlink(changed);
	assert_int_equal(files_count(folder), 0);
	rmdir(folder);
	return 0;
}

/* Loading fails with this error and changes nothing. */
static void refuse(const char *path, struct run *into, tn_status status, const char *words)
{
	take_snapshot(&before, into);
	assert_status(tn_checkpoint_load(path, &into->all), status);
	assert_int_equal(tn_error(into->context)->status, status);
	assert_contains(tn_error(into->context)->text, words);
	tn_error_clear(into->context);
	take_snapshot(&after, into);
	assert_equal_bytes(&after, &before);
}

/* A change of a file: of a tensor's name, dtype or first bytes, or of a value of the metadata;
 * NULL: the tensor or key is left out. */
struct change {
	const char *name;
	const char *new_name;
	tn_dtype dtype; /* 0: as it is */
	const void *bytes;
	size_t size;
	const char *value;
};

/* Writes `changed`, a copy of `saved` with the change. */
static void rewrite(const struct change *change)
{
	enum { MOST = 256 };
	static struct tn_tensor_source tensors[MOST];
	static struct tn_metadata_entry metadata[32];
	static int64_t shapes[MOST][TN_MAX_RANK];
	struct tn_error_info error;
	tn_safetensors *file = NULL;
	size_t n_tensors = 0, n_metadata = 0;
	int is_done = 0;
	assert_ok(tn_safetensors_open(saved, &file, &error));
	for (size_t i = 0; i < tn_safetensors_count(file); i++) {
		struct tn_tensor_info info = {.struct_size = sizeof(info)};
		assert_ok(tn_safetensors_at(file, i, &info));
		assert_true(n_tensors < MOST);
		char *data = malloc(info.size_bytes + 1);
		assert_ok(tn_safetensors_read(file, i, data, info.size_bytes, &error));
		memcpy(shapes[n_tensors], info.shape, sizeof(info.shape));
		struct tn_tensor_source source = {.name = info.name,
						  .dtype = info.dtype,
						  .rank = info.rank,
						  .shape = shapes[n_tensors],
						  .data = data};
		tensors[n_tensors++] = source;
		if (strcmp(info.name, change->name) != 0)
			continue;
		is_done = 1;
		tensors[n_tensors - 1].name = change->new_name;
		if (change->dtype)
			tensors[n_tensors - 1].dtype = change->dtype;
		if (change->bytes)
			memcpy(data, change->bytes, change->size);
		if (!change->new_name) {
			free(data);
			n_tensors--;
		}
	}
	for (size_t i = 0; i < tn_safetensors_metadata_count(file); i++) {
		const char *key = tn_safetensors_metadata_key(file, i);
		struct tn_metadata_entry entry = {key, tn_safetensors_metadata_value(file, i)};
		if (!strcmp(key, change->name)) {
			is_done = 1;
			entry.value = change->value;
		}
		if (entry.value)
			metadata[n_metadata++] = entry;
	}
	assert_true(is_done);
	assert_ok(tn_safetensors_write(changed, tensors, n_tensors, metadata, n_metadata, &error));
	for (size_t i = 0; i < n_tensors; i++)
		free((void *)(uintptr_t)tensors[i].data);
	tn_safetensors_close(file);
}

static void refuse_change(struct change change, tn_status status, const char *words)
{
	if (!change.new_name && (change.dtype || change.bytes))
		change.new_name = change.name;
	rewrite(&change);
	refuse(changed, &run, status, words);
}

static void a_changed_file_is_refused(void **state)
{
	const float nan = NAN;
	const double rate = -1, beta = 0.8, none = NAN;
	const uint64_t large = UINT64_MAX, beyond = 46;
	(void)state;
	refuse_change((struct change){.name = "fc.weight"}, TN_NOT_FOUND,
		      "changed: tensor 'fc.weight': the file has no such tensor");
	refuse_change((struct change){.name = "fc.weight", .new_name = "fc2.weight"}, TN_NOT_FOUND,
		      "tensor 'fc.weight': the file has no such tensor (and 1 more)");
	refuse_change((struct change){.name = ".random.seed", .new_name = "fc2.weight"}, TN_FORMAT,
		      "tensor 'fc2.weight': the network has no such tensor (and 1 more)");
	refuse_change((struct change){.name = ".random.seed", .new_name = ".optimizer.x"},
		      TN_FORMAT, "tensor '.optimizer.x': the optimizer has nothing of that name");
	refuse_change((struct change){.name = "fc.bias", .dtype = TN_I32}, TN_DTYPE,
		      "tensor 'fc.bias': expected f32, found I32");
	refuse_change((struct change){.name = ".optimizer.state.fc.bias.exp_avg"}, TN_NOT_FOUND,
		      "tensor '.optimizer.state.fc.bias.exp_avg': the file has no such tensor");
	refuse_change((struct change){.name = "fc.bias", .bytes = &nan, .size = 4}, TN_NOT_FINITE,
		      "tensor 'fc.bias': expected finite numbers");
	refuse_change((struct change){.name = ".average.weights.fc.bias", .bytes = &nan, .size = 4},
		      TN_NOT_FINITE, "tensor '.average.weights.fc.bias': expected finite numbers");
	refuse_change((struct change){.name = ".optimizer.lr", .bytes = &rate, .size = 8}, TN_LIMIT,
		      "optimizer.lr: expected a finite number of 0 or more, found -1");
	refuse_change((struct change){.name = ".optimizer.step", .bytes = &large, .size = 8},
		      TN_LIMIT, "optimizer.step: expected a number below 2^62");
	refuse_change((struct change){.name = ".schedule.t", .bytes = &large, .size = 8}, TN_LIMIT,
		      "schedule.t: expected a number below 2^62");
	refuse_change((struct change){.name = ".schedule.best", .bytes = &none, .size = 8},
		      TN_LIMIT, "schedule.best: expected a number, found nan");
	refuse_change((struct change){.name = ".loader.index", .bytes = &beyond, .size = 8},
		      TN_LIMIT, "loader.index: expected at most 45, found 46");
	refuse_change(
		(struct change){.name = ".optimizer.options.beta1", .bytes = &beta, .size = 8},
		TN_INVALID_ARGUMENT, "optimizer.options.beta1: expected 0.9, found 0.8");
	refuse_change((struct change){.name = "tenon.optimizer", .value = "sgd"},
		      TN_INVALID_ARGUMENT, "optimizer: expected 'adamw', found 'sgd'");
	refuse_change((struct change){.name = "tenon.schedule"}, TN_NOT_FOUND,
		      "it was saved without a schedule");
	refuse_change((struct change){.name = "tenon.checkpoint", .value = "2"}, TN_UNSUPPORTED,
		      "expected version 1 of the format or an older one, found 2 (saved by Tenon");
	refuse_change((struct change){.name = "tenon.checkpoint", .value = "1x"}, TN_FORMAT,
		      "not a checkpoint");
	refuse_change((struct change){.name = "tenon.checkpoint"}, TN_FORMAT, "not a checkpoint");
	refuse_change((struct change){.name = ".extra.losses"}, TN_NOT_FOUND, ".extra.losses");
}

static void a_torn_file_is_refused(void **state)
{
	size_t size;
	(void)state;
	unsigned char *bytes = files_read(saved, &size);
	assert_true(size > 4000);
	for (size_t length = 0; length < size; length += 1 + size / 50) {
		files_write(changed, bytes, length);
		refuse(changed, &run, TN_FORMAT, "changed");
	}
	files_write(changed, bytes, size - 1);
	refuse(changed, &run, TN_FORMAT, "changed");
	free(bytes);
	unlink(changed);
	refuse(changed, &run, TN_NOT_FOUND, "changed");
}

/* Wherever it is, even in numbers that would do: but not in the name of the checksum, without which
 * all else is as it was. */
static void a_flipped_bit_is_found(void **state)
{
	size_t size;
	(void)state;
	unsigned char *bytes = files_read(saved, &size);
	const unsigned char *name = memmem(bytes, size, "tenon.checksum", 14);
	assert_non_null(name);
	for (size_t at = 0; at < size; at += 29) {
		if (bytes + at >= name && bytes + at < name + 14)
			continue;
		bytes[at] ^= (unsigned char)(1 << at % 8);
		files_write(changed, bytes, size);
		bytes[at] ^= (unsigned char)(1 << at % 8);
		take_snapshot(&before, &run);
		tn_status status = tn_checkpoint_load(changed, &run.all);
		if (status != TN_FORMAT && status != TN_LIMIT)
			fail_msg("offset %zu: %s", at, tn_status_name(status));
		tn_error_clear(context);
		take_snapshot(&after, &run);
		assert_equal_bytes(&after, &before);
	}
	bytes[size - 1] ^= 1;
	files_write(changed, bytes, size);
	refuse(changed, &run, TN_FORMAT, "changed: expected the checksum ");
	/* As a file of weights it is damaged too. */
	assert_status(tn_module_load(run.net, changed, NULL), TN_FORMAT);
	assert_contains(tn_error(context)->text, "changed: expected the checksum ");
	tn_error_clear(context);
	free(bytes);
}

/* ---- Other objects ---------------------------------------------------------------------------*/

static void another_network_is_refused(void **state)
{
	(void)state;
	tn_module *own = run.net, *other = run_net(context, 3);
	const struct tn_checkpoint all = {.struct_size = sizeof(all), .module = other};
	assert_status(tn_checkpoint_load(saved, &all), TN_SHAPE);
	assert_contains(tn_error(context)->text, "saved: tensor 'conv.weight': expected shape "
						 "(3, 1, 3, 3), found (2, 1, 3, 3) (and 6 more)");
	tn_error_clear(context);
	tn_module_destroy(other);
	run.net = own;
}

/* What lies beyond its end is not read. */
static void a_struct_that_ends_before_its_module_has_none(void **state)
{
	struct tn_checkpoint all = {.struct_size = offsetof(struct tn_checkpoint, module)};
	(void)state;
	memset(&all.module, 0x5a, sizeof(all.module));
	assert_status(tn_checkpoint_save(saved, &all), TN_INVALID_ARGUMENT);
	assert_status(tn_checkpoint_load(saved, &all), TN_INVALID_ARGUMENT);
}

static void another_optimizer_or_setting_is_refused(void **state)
{
	static const char *const words[RUN_KINDS] = {
		[RUN_NADAM] = "optimizer: expected 'nadam', found 'adamw' (and ",
		[RUN_SGD] = "optimizer: expected 'sgd nesterov', found 'adamw' (and ",
		[RUN_LAMB] = "optimizer: expected 'lamb', found 'adamw' (and "};
	(void)state;
	for (int kind = RUN_NADAM; kind < RUN_KINDS; kind++) {
		struct run other;
		run_begin(&other, context, kind, 3);
		refuse(saved, &other, TN_INVALID_ARGUMENT, words[kind]);
		run_end(&other);
	}
	struct run other;
	run_begin(&other, context, RUN_ADAMW, 3);
	struct tn_group_options group = tn_group_defaults();
	group.names = "conv.bias";
	group.lr_factor = 0.5;
	assert_ok(tn_optimizer_set_group(other.optimizer, &group));
	refuse(saved, &other, TN_INVALID_ARGUMENT,
	       "optimizer.lr_factor of conv.bias: expected 0.5, found 1");
	run_end(&other);
	run_begin(&other, context, RUN_ADAMW, 3);
	assert_ok(tn_module_set_trainable(other.net, "conv.bias", 0));
	refuse(saved, &other, TN_NOT_FOUND,
	       "tensor '.optimizer.trainable': the file has no such tensor");
	run_end(&other);
	run_begin(&other, context, RUN_ADAMW, 3);
	struct tn_lookahead_options lookahead = tn_lookahead_defaults();
	lookahead.k = 6;
	assert_ok(tn_lookahead(other.optimizer, &lookahead));
	refuse(saved, &other, TN_INVALID_ARGUMENT,
	       "optimizer.options.lookahead_k: expected 6, found 4");
	run_end(&other);
	run_begin(&other, context, RUN_ADAMW, 3);
	assert_ok(tn_optimizer_set_lasso(other.optimizer, 0.5));
	refuse(saved, &other, TN_INVALID_ARGUMENT,
	       "optimizer.options.lasso: expected 0.5, found 0");
	run_end(&other);
}

static void another_schedule_average_or_loader_is_refused(void **state)
{
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = RUN_BATCH;
	options.seed = 6;
	options.shuffle = 1;
	struct tn_error_info error;
	struct run other;
	(void)state;
	run_begin(&other, context, RUN_ADAMW, 3);
	struct tn_schedule_options scheduling = tn_schedule_defaults();
	scheduling.kind = TN_SCHEDULE_COSINE;
	scheduling.period = 30;
	scheduling.warmup = 3;
	tn_schedule *schedule = tn_schedule_create(other.optimizer, &scheduling);
	other.all.schedule = schedule;
	refuse(saved, &other, TN_INVALID_ARGUMENT,
	       "schedule.options.period: expected 30, found 20");
	tn_schedule_destroy(schedule);
	other.all.schedule = NULL;
	tn_weight_average *average = tn_weight_average_create(other.net, NULL);
	other.all.average = average;
	refuse(saved, &other, TN_INVALID_ARGUMENT,
	       "average: expected 'mean', found 'exponential' (and 1 more)");
	tn_weight_average_destroy(average);
	other.all.average = NULL;
	tn_data_loader *loader = NULL;
	assert_ok(tn_data_loader_create(other.dataset, TN_PART_TRAIN, &options, &loader, &error));
	other.all.loader = loader;
	refuse(saved, &other, TN_INVALID_ARGUMENT, "loader.options.seed: expected 6, found 5");
	tn_data_loader_destroy(loader);
	double weights[1000];
	struct tn_augmentation augmentation = tn_augmentation_defaults();
	augmentation.max_shift = 2;
	augmentation.hflip_prob = 0.5;
	struct tn_data_loader_options weighted = options;
	assert_true(tn_dataset_count(other.dataset, TN_PART_TRAIN) <= 1000);
	for (int i = 0; i < 1000; i++)
		weights[i] = 1;
	weighted.seed = 5;
	weighted.augmentation = &augmentation;
	weighted.weights = weights;
	assert_ok(tn_data_loader_create(other.dataset, TN_PART_TRAIN, &weighted, &loader, &error));
	other.all.loader = loader;
	refuse(saved, &other, TN_INVALID_ARGUMENT, "loader.options.weights: expected ");
	tn_data_loader_destroy(loader);
	tn_dataset *dataset = run_dataset("other bars");
	assert_ok(tn_data_loader_create(dataset, TN_PART_TRAIN, &options, &loader, &error));
	other.all.loader = loader;
	refuse(saved, &other, TN_INVALID_ARGUMENT,
	       "loader: expected 'other bars', found 'bars' (and 2 more)");
	tn_data_loader_destroy(loader);
	tn_dataset_destroy(dataset);
	run_end(&other);
}

/* Milestones are compared one by one. */
static void other_milestones_are_refused(void **state)
{
	static const uint64_t milestones[2][2] = {{3, 7}, {3, 8}};
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct run other;
		run_begin(&other, context, RUN_SGD, 3);
		struct tn_schedule_options options = tn_schedule_defaults();
		options.kind = TN_SCHEDULE_MULTISTEP;
		options.n_milestones = 2;
		options.milestones = milestones[i];
		tn_schedule *schedule = tn_schedule_create(other.optimizer, &options);
		other.all.schedule = schedule;
		if (i)
			refuse(changed, &other, TN_INVALID_ARGUMENT,
			       "schedule.options.milestones: expected 8, found 7");
		else
			assert_ok(tn_checkpoint_save(changed, &other.all));
		tn_schedule_destroy(schedule);
		run_end(&other);
	}
}

/* Without a schedule too, which would set it. */
static void the_rate_is_restored(void **state)
{
	struct run other;
	(void)state;
	run_begin(&other, context, RUN_SGD, 3);
	other.all.schedule = NULL;
	tn_optimizer_set_lr(other.optimizer, 0.375);
	assert_ok(tn_checkpoint_save(changed, &other.all));
	tn_optimizer_set_lr(other.optimizer, 0.25);
	assert_ok(tn_checkpoint_load(changed, &other.all));
	assert_true(tn_optimizer_lr(other.optimizer) == 0.375);
	run_end(&other);
}

/* A scale is checked before anything is changed, and belongs to its network. */
static void a_scale_is_an_f32_of_this_network(void **state)
{
	const double scale = 1e300;
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	float bias[3], now[3];
	(void)state;
	tn_grad_scaler *scaler = tn_grad_scaler_create(run.net, NULL);
	struct tn_checkpoint all = run.all;
	all.scaler = scaler;
	assert_ok(tn_checkpoint_save(saved, &all));
	rewrite(&(struct change){
		.name = ".scaler.scale", .new_name = ".scaler.scale", .bytes = &scale, .size = 8});
	assert_ok(tn_module_parameter(run.net, "fc.bias", &view));
	assert_ok(tn_fill(view.value, 7));
	assert_ok(tn_to_host(view.value, bias, sizeof(bias)));
	assert_status(tn_checkpoint_load(changed, &all), TN_LIMIT);
	assert_contains(tn_error(context)->text, "scaler.scale: expected an f32 above 0");
	tn_error_clear(context);
	assert_ok(tn_to_host(view.value, now, sizeof(now)));
	assert_memory_equal(now, bias, sizeof(bias));
	tn_module *other = run_net(context, 2);
	all = (struct tn_checkpoint){.struct_size = sizeof(all), .module = other, .scaler = scaler};
	assert_status(tn_checkpoint_load(saved, &all), TN_INVALID_ARGUMENT);
	assert_contains(tn_error(context)->text, "scaler: expected one of this module");
	tn_error_clear(context);
	tn_module_destroy(other);
	tn_grad_scaler_destroy(scaler);
}

enum { NUMBERS = 40 };

/* A loader over numbers of two fields, of which one is spoilt, of a data set of that name. */
static tn_data_loader *numbers_loader(const char *name, int spoilt, tn_dataset **dataset)
{
	static const struct tn_field fields[] = {{.name = "x", .dtype = TN_F32},
						 {.name = "y", .dtype = TN_F32}};
	float numbers[2 * NUMBERS];
	tn_data_loader *loader = NULL;
	for (int i = 0; i < 2 * NUMBERS; i++)
		numbers[i] = (float)(i == spoilt ? -i : i);
	struct tn_dataset_fields source = tn_dataset_fields_defaults();
	source.name = name;
	source.n = NUMBERS;
	source.n_fields = 2;
	source.fields = fields;
	source.data = (const void *[]){numbers, numbers + NUMBERS};
	assert_ok(tn_dataset_from_fields(&source, dataset, NULL));
	struct tn_data_loader_options loading = tn_data_loader_defaults();
	loading.batch_size = 4;
	assert_ok(tn_data_loader_create(*dataset, TN_PART_TRAIN, &loading, &loader, NULL));
	return loader;
}

/* By its name, or by its samples; where a folder is does not matter. */
static void another_data_set_is_refused(void **state)
{
	static const struct {
		const char *name;
		int spoilt;
		const char *words;
	} cases[] = {{"numbers", -1, NULL},
		     {"/new/place/numbers/", -1, NULL},
		     {"others", -1, "loader: expected 'others', found 'numbers'"},
		     {"numbers", 7,
		      "loader.options.data: expected that of this loader, found "
		      "another"},
		     {"numbers", NUMBERS + 7,
		      "loader.options.data: expected that of this loader, found "
		      "another"}};
	tn_dataset *dataset;
	struct run other;
	(void)state;
	run_begin(&other, context, RUN_ADAMW, 3);
	struct tn_checkpoint all = other.all;
	other.all.loader = numbers_loader("data/numbers", -1, &dataset);
	assert_ok(tn_checkpoint_save(changed, &other.all));
	tn_data_loader_destroy(other.all.loader);
	tn_dataset_destroy(dataset);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		other.all.loader = numbers_loader(cases[i].name, cases[i].spoilt, &dataset);
		if (cases[i].words)
			refuse(changed, &other, TN_INVALID_ARGUMENT, cases[i].words);
		else
			assert_ok(tn_checkpoint_load(changed, &other.all));
		tn_data_loader_destroy(other.all.loader);
		tn_dataset_destroy(dataset);
	}
	other.all = all;
	run_end(&other);
}

/* Folds of one data set have the same name, and as many samples. */
static void another_fold_is_refused(void **state)
{
	tn_data_loader *loader = NULL;
	struct run other;
	(void)state;
	run_begin(&other, context, RUN_ADAMW, 3);
	struct tn_checkpoint all = other.all;
	for (uint32_t i = 0; i < 2; i++) {
		tn_dataset *fold = NULL;
		struct tn_fold_options options = tn_fold_defaults();
		options.n_folds = 3;
		options.fold = i;
		assert_ok(tn_dataset_fold(other.dataset, &options, &fold, NULL));
		assert_int_equal(tn_dataset_count(fold, TN_PART_TRAIN), 30);
		struct tn_data_loader_options loading = tn_data_loader_defaults();
		loading.batch_size = RUN_BATCH;
		assert_ok(tn_data_loader_create(fold, TN_PART_TRAIN, &loading, &loader, NULL));
		other.all.loader = loader;
		if (!i)
			assert_ok(tn_checkpoint_save(changed, &other.all));
		else
			refuse(changed, &other, TN_INVALID_ARGUMENT,
			       "loader.options.data: expected that of this loader, found another");
		tn_data_loader_destroy(loader);
		tn_dataset_destroy(fold);
	}
	other.all = all;
	run_end(&other);
}

/* Parts that are not asked for are left out. */
static void a_part_can_be_loaded_alone(void **state)
{
	struct run other;
	struct tn_parameter_view a = {.struct_size = sizeof(a)}, b = {.struct_size = sizeof(b)};
	float x[96], y[96];
	(void)state;
	run_begin(&other, context, RUN_SGD, 3);
	const struct tn_checkpoint net = {.struct_size = sizeof(net), .module = other.net};
	assert_ok(tn_checkpoint_load(saved, &net));
	assert_int_equal(tn_weight_average_updates(other.average), 0);
	assert_int_equal(tn_data_loader_position(other.loader).index, 0);
	assert_ok(tn_checkpoint_load(saved, &run.all));
	assert_ok(tn_module_parameter(run.net, "fc.weight", &a));
	assert_ok(tn_module_parameter(other.net, "fc.weight", &b));
	assert_int_equal(tn_array_size(a.value), 96);
	assert_ok(tn_to_host(a.value, x, sizeof(x)));
	assert_ok(tn_to_host(b.value, y, sizeof(y)));
	assert_memory_equal(x, y, sizeof(x));
	run_end(&other);
}

/* Also where it did not get by whole batches. */
static void a_loader_continues_at_any_index(void **state)
{
	struct tn_error_info error;
	(void)state;
	assert_ok(tn_data_loader_seek(run.loader, (struct tn_data_position){3, 7}, &error));
	assert_ok(tn_checkpoint_save(saved, &run.all));
	assert_ok(tn_data_loader_seek(run.loader, (struct tn_data_position){0, 0}, &error));
	assert_ok(tn_checkpoint_load(saved, &run.all));
	assert_int_equal(tn_data_loader_position(run.loader).epoch, 3);
	assert_int_equal(tn_data_loader_position(run.loader).index, 7);
}

/* tn_module_load takes it, strictly; a file of weights is not a checkpoint. */
static void a_checkpoint_is_a_file_of_weights(void **state)
{
	struct tn_parameter_view a = {.struct_size = sizeof(a)}, b = {.struct_size = sizeof(b)};
	float x[3], y[3];
	(void)state;
	tn_module *net = run_net(context, 2);
	assert_ok(tn_module_load(net, saved, NULL));
	assert_ok(tn_checkpoint_load(saved, &run.all));
	assert_ok(tn_module_parameter(run.net, "fc.bias", &a));
	assert_ok(tn_module_parameter(net, "fc.bias", &b));
	assert_ok(tn_to_host(a.value, x, sizeof(x)));
	assert_ok(tn_to_host(b.value, y, sizeof(y)));
	assert_memory_equal(x, y, sizeof(x));
	assert_ok(tn_module_save(net, changed, 0, NULL));
	refuse(changed, &run, TN_FORMAT, "not a checkpoint");
	tn_module_destroy(net);
	/* Such names are unexpected in any other file. */
	rewrite(&(struct change){.name = "tenon.checkpoint"});
	net = run_net(context, 2);
	assert_status(tn_module_load(net, changed, NULL), TN_FORMAT);
	assert_contains(tn_error(context)->text, "the network has no such tensor");
	tn_error_clear(context);
	tn_module_destroy(net);
}

/* ---- Saving ----------------------------------------------------------------------------------*/

static void refuse_saving(const struct tn_checkpoint *all, tn_status status, const char *words)
{
	size_t size, again;
	unsigned char *old = files_read(saved, &size);
	assert_status(tn_checkpoint_save(saved, all), status);
	assert_contains(tn_error(context)->text, words);
	tn_error_clear(context);
	unsigned char *now = files_read(saved, &again);
	assert_int_equal(again, size);
	assert_memory_equal(old, now, size);
	free(old);
	free(now);
	unlink(changed);
	assert_int_equal(files_count(folder), 1);
}

static void what_cannot_be_saved_leaves_the_old_file(void **state)
{
	const struct tn_pair pair = {"tenon.version", "9"};
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	struct run other;
	float values[3], nan[3] = {0, NAN, 0};
	(void)state;
	run_begin(&other, context, RUN_SGD, 3);
	struct tn_checkpoint all = run.all;
	all.module = NULL;
	assert_status(tn_checkpoint_save(saved, &all), TN_INVALID_ARGUMENT);
	assert_null(tn_error(context));
	all = run.all;
	all.optimizer = other.optimizer;
	refuse_saving(&all, TN_INVALID_ARGUMENT, "optimizer: expected one of this module");
	all = run.all;
	all.average = other.average;
	refuse_saving(&all, TN_INVALID_ARGUMENT, "average: expected one of this module");
	all = run.all;
	all.schedule = other.schedule;
	refuse_saving(&all, TN_INVALID_ARGUMENT, "schedule: expected one of this optimizer");
	all.optimizer = NULL;
	refuse_saving(&all, TN_INVALID_ARGUMENT, "schedule: expected its optimizer too");
	all = run.all;
	all.n_pairs = 1;
	all.pairs = &pair;
	refuse_saving(&all, TN_INVALID_ARGUMENT, "found the key 'tenon.version'");
	run_end(&other);

	assert_ok(tn_weight_average_swap(run.average));
	refuse_saving(&run.all, TN_STATE, "the averages are swapped in");
	assert_status(tn_checkpoint_load(saved, &run.all), TN_STATE);
	tn_error_clear(context);
	assert_ok(tn_weight_average_swap(run.average));

	assert_ok(tn_module_parameter(run.net, "fc.bias", &view));
	assert_ok(tn_to_host(view.value, values, sizeof(values)));
	assert_ok(tn_assign_host(view.value, nan, sizeof(nan)));
	refuse_saving(&run.all, TN_NOT_FINITE, "tensor 'fc.bias': expected finite numbers");
	assert_ok(tn_assign_host(view.value, values, sizeof(values)));
}

static void what_the_caller_adds_is_kept_exactly(void **state)
{
	static const int64_t shape[] = {2, 2};
	double numbers[4] = {1.0 / 3, -0.0, HUGE_VAL, 0x1p-1074}, copy[4] = {0};
	uint8_t bytes[4] = {1, 2, 3, 255}, none[4] = {0};
	const struct tn_pair pairs[] = {{"model", "lenet"}, {"note", "Kn\xc3\xb6"}};
	const struct tn_checkpoint_array arrays[] = {{"numbers", TN_F64, 2, shape, numbers},
						     {"bytes", TN_U8, 2, shape, bytes}};
	const struct tn_checkpoint_array copies[] = {{"bytes", TN_U8, 2, shape, none},
						     {"numbers", TN_F64, 2, shape, copy}};
	struct tn_checkpoint all = {.struct_size = sizeof(all),
				    .module = run.net,
				    .n_pairs = 2,
				    .pairs = pairs,
				    .n_extra = 2,
				    .extra = arrays};
	struct tn_error_info error;
	tn_safetensors *file = NULL;
	(void)state;
	assert_ok(tn_checkpoint_save(changed, &all));
	assert_ok(tn_safetensors_open(changed, &file, &error));
	assert_string_equal(tn_safetensors_metadata(file, "model"), "lenet");
	assert_string_equal(tn_safetensors_metadata(file, "note"), "Kn\xc3\xb6");
	assert_string_equal(tn_safetensors_metadata(file, "tenon.version"), tn_version());
	assert_string_equal(tn_safetensors_metadata(file, "tenon.deterministic"), "1");
	assert_non_null(tn_safetensors_metadata(file, "tenon.backend"));
	assert_non_null(tn_safetensors_metadata(file, "tenon.device"));
	assert_non_null(tn_safetensors_metadata(file, "tenon.processor"));
	tn_safetensors_close(file);
	all.extra = copies;
	assert_ok(tn_checkpoint_load(changed, &all));
	assert_memory_equal(copy, numbers, sizeof(numbers));
	assert_memory_equal(none, bytes, sizeof(bytes));
}

/* ---- The facts -------------------------------------------------------------------------------*/

static void another_device_build_or_setting_is_a_warning(void **state)
{
	static const char *const facts[] = {"version", "backend", "device", "processor",
					    "deterministic"};
	(void)state;
	messages[0] = '\0';
	assert_ok(tn_checkpoint_load(saved, &run.all));
	assert_string_equal(messages, "");
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		char key[64], words[64];
		snprintf(key, sizeof(key), "tenon.%s", facts[i]);
		snprintf(words, sizeof(words), "other rounding: %s was 'X', is '", facts[i]);
		rewrite(&(struct change){.name = key, .value = "X"});
		messages[0] = '\0';
		assert_ok(tn_checkpoint_load(changed, &run.all));
		assert_contains(messages, "2 checkpoint: ");
		assert_contains(messages, words);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_resumed_training_ends_with_the_same_bits),
		cmocka_unit_test(a_resumed_trainer_ends_with_the_same_bits),
		cmocka_unit_test(a_trainer_refuses_what_is_not_its_own),
		cmocka_unit_test(a_training_goes_on_when_the_disk_is_full),
		cmocka_unit_test(a_network_of_f16_is_resumed_with_its_masters_and_scale),
		cmocka_unit_test_setup_teardown(a_changed_file_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(a_torn_file_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(a_flipped_bit_is_found, setup, teardown),
		cmocka_unit_test_setup_teardown(another_network_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(a_struct_that_ends_before_its_module_has_none,
						setup, teardown),
		cmocka_unit_test_setup_teardown(another_optimizer_or_setting_is_refused, setup,
						teardown),
		cmocka_unit_test_setup_teardown(another_schedule_average_or_loader_is_refused,
						setup, teardown),
		cmocka_unit_test_setup_teardown(other_milestones_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(the_rate_is_restored, setup, teardown),
		cmocka_unit_test_setup_teardown(a_scale_is_an_f32_of_this_network, setup, teardown),
		cmocka_unit_test_setup_teardown(another_data_set_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(another_fold_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(a_part_can_be_loaded_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(a_loader_continues_at_any_index, setup, teardown),
		cmocka_unit_test_setup_teardown(a_checkpoint_is_a_file_of_weights, setup, teardown),
		cmocka_unit_test_setup_teardown(what_cannot_be_saved_leaves_the_old_file, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_the_caller_adds_is_kept_exactly, setup,
						teardown),
		cmocka_unit_test_setup_teardown(another_device_build_or_setting_is_a_warning, setup,
						teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
