/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Checkpoints: all that a training needs to continue, in one file.
 *
 *     struct tn_checkpoint all = tn_checkpoint_defaults();
 *     all.module = net;
 *     all.optimizer = optimizer;
 *     tn_checkpoint_folder *folder = tn_checkpoint_folder_open(ctx, "runs/7", NULL);
 *     uint64_t done = 0;
 *     if (tn_checkpoint_folder_count(folder))
 *             tn_checkpoint_folder_load(folder, &all, &done);
 *     while (done < 1000 && !step(ctx)) {
 *             if (++done % 100 == 0)
 *                     tn_checkpoint_folder_save(folder, done, NAN, &all);
 *     }
 *     tn_checkpoint_folder_close(folder);
 *
 * A checkpoint is a safetensors file.  Parameters and buffers have their own names, so that
 * tn_module_load, and every program that reads safetensors, takes it as a file of weights.  The
 * names of all other tensors begin with a dot, which no name in a module does:
 * ".optimizer.state.fc1.weight.exp_avg".  Whole numbers are stored as u64 and others as f64, exact
 * to the bit.  The metadata has a checksum of the whole file (tn_safetensors_write).
 *
 * With the same build of Tenon, backend, device model and processor variant, and
 * TENON_DETERMINISTIC=1, a training that continues from a checkpoint ends with the same bits as one
 * that was never interrupted, with captured steps too; otherwise it agrees to rounding.
 *
 * All functions: [thread: one per context | since 0.1]; errors are kept by the context.
 */
#ifndef TENON_CHECKPOINT_H
#define TENON_CHECKPOINT_H

#include <string.h>

#include <tenon/data.h>
#include <tenon/optim.h>
#include <tenon/schedule.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An array of the caller's on the host: saved, and written by loading. */
struct tn_checkpoint_array {
	const char *name; /* UTF-8, not empty; ".extra.NAME" in the file */
	tn_dtype dtype;   /* any but TN_C128 */
	int rank;
	const int64_t *shape;
	void *data; /* dense, row-major */
};

/* What is saved and loaded; NULL: that part is not.  Loading continues in objects made in the same
 * way: the same network, an optimizer with the same options, groups, hooks and Lookahead, and a
 * schedule, an average, a scaler and a loader with the same options, over the same data.  The
 * random state of the context is always part of a checkpoint; gradients never are: save after a
 * step. */
struct tn_checkpoint {
	uint32_t struct_size;
	tn_module *module; /* required, outermost and built: parameters and buffers */
	tn_optimizer *optimizer;
	tn_schedule *schedule;
	tn_weight_average *average;
	tn_grad_scaler *scaler;
	tn_data_loader *loader; /* its position */
	/* Texts for the file's metadata, under keys that do not begin with "tenon.".  Loading
	 * ignores them: read them with tn_safetensors_metadata. */
	size_t n_pairs;
	const struct tn_pair *pairs;
	size_t n_extra;
	const struct tn_checkpoint_array *extra;
};
static inline struct tn_checkpoint tn_checkpoint_defaults(void)
{
	struct tn_checkpoint checkpoint;
	memset(&checkpoint, 0, sizeof(checkpoint));
	checkpoint.struct_size = sizeof(checkpoint);
	return checkpoint;
}

/* Writes a checkpoint to a temporary file in the same folder, syncs it, renames it to `path` and
 * syncs the folder: `path` is the old file or the complete new one, whatever happens.
 * TN_INVALID_ARGUMENT: no module, an object of another module, a bad key or name.  TN_STATE: the
 * module is not built, the averages are swapped in, the scaler has unscaled and not updated.
 * TN_NOT_FINITE: a parameter or an average is infinite or NaN: such a file would only displace a
 * good one.  TN_NOT_CAPTURABLE: while work is captured.  TN_IO, TN_OUT_OF_MEMORY. */
TN_API tn_status tn_checkpoint_save(const char *path, const struct tn_checkpoint *checkpoint);

/* Reads a checkpoint into the objects of `checkpoint`.  All of the file is read and checked before
 * anything is changed.  Parts of the file that `checkpoint` lacks are left out.  A file that was
 * written by another build, on another backend, device or processor variant, or under another
 * TENON_DETERMINISTIC, is loaded with a warning that names the differences.
 * TN_NOT_FOUND: no such file; it lacks a part, or a tensor of the network.  TN_FORMAT: not a
 * checkpoint, damaged (also by one flipped bit), or with a tensor that the network or the optimizer
 * lacks.  TN_SHAPE, TN_DTYPE: a tensor has another shape or type.  TN_INVALID_ARGUMENT: it was
 * written with another optimizer, schedule, average, scaler, loader or data set, or with other
 * options; also as in tn_checkpoint_save.  TN_LIMIT: a number is out of range.  TN_NOT_FINITE.
 * TN_UNSUPPORTED: written by a newer version of Tenon.  TN_STATE, TN_NOT_CAPTURABLE, TN_IO,
 * TN_OUT_OF_MEMORY. */
TN_API tn_status tn_checkpoint_load(const char *path, const struct tn_checkpoint *checkpoint);

/* ---- A folder of checkpoints -----------------------------------------------------------------*/

/* A folder with the files step-000000001200.safetensors, ... of one training. */
typedef struct tn_checkpoint_folder tn_checkpoint_folder;

struct tn_checkpoint_folder_options {
	uint32_t struct_size;
	uint64_t keep;    /* this many of the newest are kept, and the best; at least 1, default 3;
			   * TN_NO_LIMIT: all */
	int is_rising;    /* 1: the best has the highest metric; 0: the lowest */
	int is_read_only; /* 1: nothing is saved; the folder may be in use by a training */
};
static inline struct tn_checkpoint_folder_options tn_checkpoint_folder_defaults(void)
{
	struct tn_checkpoint_folder_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.keep = 3;
	return options;
}

/* Opens a folder, which is made if it does not exist, like those above it.  Unless is_read_only is
 * set, it belongs to this process until it is closed, by a lock on its file tenon.lock, and
 * temporary files that a killed process left in it are removed.  A file that is named like a
 * checkpoint and is none is skipped with a warning, and never removed; only a checkpoint of the
 * same step replaces it.
 * Owned (tn_checkpoint_folder_close).  NULL: TN_STATE (another run has the folder; the text names
 * it), TN_IO (it cannot be made, or written), TN_NOT_FOUND (is_read_only, and there is none),
 * TN_INVALID_ARGUMENT, TN_UNSUPPORTED (options of a newer version), TN_OUT_OF_MEMORY. */
TN_API tn_checkpoint_folder *
tn_checkpoint_folder_open(tn_context *context, const char *path,
			  const struct tn_checkpoint_folder_options *options);
TN_API void tn_checkpoint_folder_close(tn_checkpoint_folder *folder); /* takes NULL */

/* Saves the checkpoint of a step, and then removes those that are neither among the newest nor the
 * best.  `metric`: by which the best is chosen, usually a loss of validation; NAN: none.  The
 * checkpoint of the same step is replaced; without a metric it keeps the earlier one.  On failure
 * no checkpoint is removed.
 * TN_STATE: the folder has a checkpoint of a later step, or one of this step that a newer version
 * of Tenon wrote, or is read-only.  Otherwise as tn_checkpoint_save. */
TN_API tn_status tn_checkpoint_folder_save(tn_checkpoint_folder *folder, uint64_t step,
					   double metric, const struct tn_checkpoint *checkpoint);

/* Loads the newest checkpoint.  A file that is torn or no checkpoint is skipped with a warning; any
 * other that cannot be loaded is an error, as in tn_checkpoint_load.  *step (may be NULL) receives
 * its step.  TN_NOT_FOUND: there is none.  TN_FORMAT: all are torn. */
TN_API tn_status tn_checkpoint_folder_load(tn_checkpoint_folder *folder,
					   const struct tn_checkpoint *checkpoint, uint64_t *step);

struct tn_checkpoint_view {
	uint32_t struct_size;
	const char *path; /* borrowed, valid until the next save */
	uint64_t step;
	double metric;  /* NAN: none */
	int is_best;    /* of those with a metric */
	int is_damaged; /* no checkpoint that could be loaded */
};
/* The number of files, and file `index`, in the order of steps.  TN_INVALID_ARGUMENT: no such
 * index. */
TN_API size_t tn_checkpoint_folder_count(const tn_checkpoint_folder *folder);
TN_API tn_status tn_checkpoint_folder_at(const tn_checkpoint_folder *folder, size_t index,
					 struct tn_checkpoint_view *view);

#ifdef __cplusplus
}
#endif
#endif
