/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Files of numbers and pictures, on host memory: safetensors, NPY and NPZ (read and write), IDX,
 * CIFAR and CSV (read), images (PNG, JPEG, PBM, PGM and PPM read, PNG write).
 *
 * Every reader is strict: it validates the whole file before it returns anything, bounds the memory
 * that a malicious file can make it allocate, and on failure returns one of
 *   TN_NOT_FOUND    there is no such file
 *   TN_IO           a system call failed (not a regular file, permission, a read error)
 *   TN_FORMAT       the file violates its format
 *   TN_LIMIT        the file exceeds a limit that this header states
 *   TN_UNSUPPORTED  valid, but not supported by this build (a library was missing then)
 *   TN_OUT_OF_MEMORY
 * with a text that gives the file, the offset (or line and column, or key; of PNG and JPEG, what
 * their library says), what was expected and what was found.  Files are read, never mapped: a file
 * that shrinks while it is read causes an error, not a signal.
 *
 * Every writer writes a temporary file in the same folder, syncs it, renames it and syncs the
 * folder: the given name refers to the old file or to the complete new one, never to a part.
 *
 * Pointers in arguments are borrowed until the function returns.  `error` may be NULL everywhere;
 * NULL in place of an open file gives TN_INVALID_ARGUMENT, NULL or 0.
 * Elements in memory are in the host's byte order, row-major.
 */
#ifndef TENON_IO_H
#define TENON_IO_H

#include <string.h>

#include <tenon/export.h>
#include <tenon/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- safetensors -----------------------------------------------------------------------------*/

/* Limits of the reader: bytes of header (the reference implementation's), tensors, metadata
 * keys. */
#define TN_SAFETENSORS_MAX_HEADER 100000000u
#define TN_SAFETENSORS_MAX_TENSORS 100000u

/* An open file: its validated header, and its descriptor. */
typedef struct tn_safetensors tn_safetensors;

/* One tensor of a file.  Strings are borrowed from the file, valid until it is closed. */
struct tn_tensor_info {
	uint32_t struct_size;
	uint32_t rank;
	const char *name;
	const char *type; /* as in the file: "F32", "BF16", "F8_E4M3", ... */
	tn_dtype dtype;   /* 0: a type that tn_dtype lacks (8-bit floats and narrower) */
	uint32_t reserved;
	uint64_t size_bytes;
	int64_t shape[TN_MAX_RANK];
};

/* Opens a file and validates its header: length against the file, UTF-8, JSON without duplicate
 * keys, known types, shapes whose sizes in bytes neither overflow nor differ from their offsets,
 * and offsets that cover the rest of the file without hole, overlap or tail.  *out is owned
 * (tn_safetensors_close), and is written only on success.
 * TN_LIMIT also: a rank above TN_MAX_RANK.  [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_safetensors_open(const char *path, tn_safetensors **out,
						struct tn_error_info *error);

/* Reads the whole file and compares its checksum, the metadata "tenon.checksum" (see
 * tn_safetensors_write).  TN_FORMAT: it is another one.  TN_OK also if the file states none.
 * [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_safetensors_check(const tn_safetensors *file,
						 struct tn_error_info *error);

/* Closes the file and frees what is borrowed from it.  Takes NULL.  [thread: any | since 0.1] */
TN_API void tn_safetensors_close(tn_safetensors *file);

/* The number of tensors.  They are numbered in the order of their data.  [thread: any | since
 * 0.1] */
TN_API size_t tn_safetensors_count(const tn_safetensors *file);

/* Fills *info (its struct_size first set by the caller) with tensor `index`.
 * TN_INVALID_ARGUMENT: no such index.  [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_safetensors_at(const tn_safetensors *file, size_t index,
					      struct tn_tensor_info *info);

/* Writes the number of the tensor called `name` to *index.
 * TN_NOT_FOUND: no such tensor.  [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_safetensors_find(const tn_safetensors *file, const char *name,
						size_t *index, struct tn_error_info *error);

/* Copies tensor `index` to `buffer`, `size` bytes, which must equal its size_bytes.  Bytes of type
 * BOOL must be 0 or 1.  On failure the buffer's content is unspecified.
 * TN_INVALID_ARGUMENT: no such index, another size.  TN_DTYPE: a type without a tn_dtype (it is
 * listed, but its elements cannot be read).  TN_FORMAT: the file shrank, or a bool is neither 0 nor
 * 1.  [thread: any, also several on one file | since 0.1] */
TN_API TN_CHECKED tn_status tn_safetensors_read(const tn_safetensors *file, size_t index,
						void *buffer, size_t size,
						struct tn_error_info *error);

/* The value of a metadata key, or NULL.  Borrowed, valid until close.  [thread: any | since 0.1] */
TN_API const char *tn_safetensors_metadata(const tn_safetensors *file, const char *key);

/* The number of metadata keys, and key and value of number `index`, in the order of the keys'
 * bytes.  Borrowed, valid until close; NULL: no such index.  [thread: any | since 0.1] */
TN_API size_t tn_safetensors_metadata_count(const tn_safetensors *file);
TN_API const char *tn_safetensors_metadata_key(const tn_safetensors *file, size_t index);
TN_API const char *tn_safetensors_metadata_value(const tn_safetensors *file, size_t index);

/* Writes `size` bytes of a tensor, from byte `offset` on, to `destination`; called in order of
 * offset. */
typedef tn_status (*tn_tensor_fetch)(void *user, uint64_t offset, void *destination, size_t size,
				     struct tn_error_info *error);

/* One tensor to be written: host memory in `data`, or, if that is NULL, `fetch`. */
struct tn_tensor_source {
	const char *name; /* UTF-8, not empty, not "__metadata__" */
	tn_dtype dtype;   /* any but TN_C128 and vendor types */
	uint32_t rank;
	const int64_t *shape;
	const void *data; /* dense, row-major, borrowed */
	tn_tensor_fetch fetch;
	void *user; /* passed to fetch */
};

struct tn_metadata_entry {
	const char *key; /* UTF-8 */
	const char *value;
};

/* Writes a file.  Data begins at a multiple of 8; tensors are ordered by decreasing element size,
 * then by name, so that each is aligned to its elements; metadata is ordered by key.  The same
 * arguments in any order give the same bytes.  An existing file is replaced (a symbolic link
 * itself, not its target).  The value of a metadata key "tenon.checksum", which is given as
 * "00000000", becomes the CRC-32 of the file, in eight hexadecimal digits: that of its bytes with
 * eight zeros in their place.
 * TN_INVALID_ARGUMENT: a name that is empty, reserved, duplicate or not UTF-8; a negative length.
 * TN_DTYPE: a type that the format lacks.  TN_IO: a system call failed.  Any failure of `fetch`.
 * [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_safetensors_write(const char *path,
						 const struct tn_tensor_source *tensors,
						 size_t n_tensors,
						 const struct tn_metadata_entry *metadata,
						 size_t n_metadata, struct tn_error_info *error);

/* ---- Dense host arrays: IDX and NPY ----------------------------------------------------------*/

/* The maximum size of one array. */
#define TN_HOST_ARRAY_MAX_BYTES ((uint64_t)1 << 36)

/* A dense row-major array on the host.  `data` is owned: free with tn_host_array_release. */
struct tn_host_array {
	tn_dtype dtype;
	uint32_t rank;
	int64_t shape[TN_MAX_RANK];
	uint64_t size_bytes;
	void *data; /* not NULL, even if empty */
};

/* Frees `data` and clears the struct.  Takes NULL and a zeroed struct.  [thread: any | since
 * 0.1] */
TN_API void tn_host_array_release(struct tn_host_array *array);

/* Reads an IDX file (the MNIST family), plain or gzipped, as detected from its first bytes, not
 * from its name.  Types u8, i8, i16, i32, f32, f64; 1 to 8 axes.  The lengths in the header must
 * account for every byte of the file.  *out is written only on success.
 * TN_LIMIT: gzipped, and an array of more than both 64 MiB and 200 times the size of the file.
 * TN_UNSUPPORTED: gzipped, but built without zlib.  [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_idx_read(const char *path, struct tn_host_array *out,
					struct tn_error_info *error);

/* Reads an NPY file, versions 1 to 3, either byte order; bool, integers, f16, f32, f64, c64, c128.
 * Column-major data ('fortran_order': True) is converted to row-major order.  Of several arrays
 * saved to one file the first is read (tn_npy_read_next).  *out is written only on success.
 * TN_UNSUPPORTED: Python objects, structured types, strings, dates.  [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_npy_read(const char *path, struct tn_host_array *out,
					struct tn_error_info *error);

/* Reads the array at *offset, of which 0 is the first, and sets *offset to that of the next one, or
 * to 0 after the last.  Both are written only on success.
 * TN_INVALID_ARGUMENT: beyond the end of the file.  Else as tn_npy_read.
 * [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_npy_read_next(const char *path, uint64_t *offset,
					     struct tn_host_array *out,
					     struct tn_error_info *error);

/* Writes an NPY file, version 1, in the host's byte order, row-major.
 * TN_DTYPE: bf16 or a vendor type, which NumPy lacks.  [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_npy_write(const char *path, tn_dtype dtype, uint32_t rank,
					 const int64_t *shape, const void *data,
					 struct tn_error_info *error);

/* ---- NPZ: several arrays in a file -----------------------------------------------------------*/

/* Limits of the reader: members, bytes of the directory. */
#define TN_NPZ_MAX_MEMBERS 100000u
#define TN_NPZ_MAX_DIRECTORY (1u << 26)

/* An open file: its validated directory, and its descriptor. */
typedef struct tn_npz tn_npz;

/* Opens an NPZ file, as numpy.savez and numpy.savez_compressed write it, and validates its
 * directory: it ends the file, without a comment; each member is within the file, has the name,
 * sizes and checksum of its own header, and overlaps no other; no two names are equal.  *out is
 * owned (tn_npz_close), and is written only on success.
 * TN_UNSUPPORTED: encrypted.  [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_npz_open(const char *path, tn_npz **out,
					struct tn_error_info *error);

/* Closes the file and frees what is borrowed from it.  Takes NULL.  [thread: any | since 0.1] */
TN_API void tn_npz_close(tn_npz *file);

/* The number of arrays, and the name of number `index`, in the order of the directory: that of the
 * member without ".npy".  Borrowed, valid until close; NULL: no such index.
 * [thread: any | since 0.1] */
TN_API size_t tn_npz_count(const tn_npz *file);
TN_API const char *tn_npz_name(const tn_npz *file, size_t index);

/* Reads the array called `name`, as tn_npy_read does, and verifies its checksum.  *out is written
 * only on success.
 * TN_NOT_FOUND: no such array.  TN_FORMAT: the member is no NPY, is damaged, or has another size
 * than the directory states.  TN_LIMIT: deflated, and of more than both 64 MiB and 200 times its
 * deflated size.  TN_UNSUPPORTED: as of tn_npy_read; deflated, but built without zlib; another
 * method.  [thread: any, also several on one file | since 0.1] */
TN_API TN_CHECKED tn_status tn_npz_read(const tn_npz *file, const char *name,
					struct tn_host_array *out, struct tn_error_info *error);

/* One array to be written. */
struct tn_npz_array {
	const char *name; /* UTF-8, not empty */
	tn_dtype dtype;   /* any but TN_BF16 and vendor types */
	uint32_t rank;
	const int64_t *shape;
	const void *data; /* dense, row-major, borrowed */
};

/* Writes the arrays, in this order and uncompressed, as numpy.load reads them.  The same arguments
 * give the same bytes.
 * TN_INVALID_ARGUMENT: a name that is empty, given twice or not UTF-8; a negative length.
 * TN_DTYPE: bf16 or a vendor type.  TN_LIMIT: more arrays or bytes than the limits.
 * [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_npz_write(const char *path, const struct tn_npz_array *arrays,
					 size_t n_arrays, struct tn_error_info *error);

/* ---- CIFAR-10 and CIFAR-100 ------------------------------------------------------------------*/

/* Reads one file of the binary version of CIFAR-10 (data_batch_1.bin, test_batch.bin): `images`
 * (n, 3, 32, 32) of u8, the channels red, green and blue, and `labels` (n) of TN_I32 from 0 to 9.
 * Outputs are written only on success, and owned: free each with tn_host_array_release.
 * TN_FORMAT: no record, an incomplete one, or a label out of range.  TN_LIMIT: more than
 * TN_HOST_ARRAY_MAX_BYTES of images.  [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_cifar10_read(const char *path, struct tn_host_array *images,
					    struct tn_host_array *labels,
					    struct tn_error_info *error);

/* Likewise of CIFAR-100 (train.bin, test.bin): `coarse` (n) from 0 to 19, or NULL, and `fine` (n)
 * from 0 to 99.  [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_cifar100_read(const char *path, struct tn_host_array *images,
					     struct tn_host_array *coarse,
					     struct tn_host_array *fine,
					     struct tn_error_info *error);

/* ---- Tables of text: CSV ---------------------------------------------------------------------*/

/* Limits of a table: fields in a row, bytes of text in a row, different labels. */
#define TN_CSV_MAX_COLUMNS (1u << 20)
#define TN_CSV_MAX_ROW (1u << 26)
#define TN_CSV_MAX_CLASSES 65536u

/* Options of tn_csv_read. */
struct tn_csv_options {
	uint32_t struct_size;
	tn_dtype dtype;           /* of the numbers: TN_F64, TN_F32 or TN_I64; default TN_F64 */
	int header;               /* 1: the first row has the names of the columns */
	int missing_is_nan;       /* 1: an empty field is NaN; 0: an error */
	int32_t separator;        /* ',', ';', '\t', ' ', ...; default ',' */
	int32_t quote;            /* default '"' */
	int32_t comment;          /* '#', ...: the rest of the line is ignored; 0: no comments */
	int32_t label_column;     /* the column of labels: 1 the first, -1 the last; 0: none */
	const char *label_name;   /* instead of label_column: its name in the header */
	const char *missing_text; /* a field of this text is missing too: "NA", "?" */
	const char *const
		*classes; /* the only labels that are allowed, in order of their numbers */
	size_t n_classes;
	int finite; /* 1: inf and nan in any spelling are errors; missing_is_nan stays */
};
static inline struct tn_csv_options tn_csv_defaults(void)
{
	struct tn_csv_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.dtype = TN_F64;
	options.separator = ',';
	options.quote = '"';
	return options;
}

/* A table.  Owned: free with tn_csv_release.  The caller sets struct_size. */
struct tn_csv {
	uint32_t struct_size;
	struct tn_host_array values; /* (rows, columns without the column of labels) */
	struct tn_host_array labels; /* (rows), TN_I32, from 0 to n_classes - 1; data NULL: no
				      * column of labels */
	char **column_names;         /* of the columns of `values`; NULL: no header */
	char **class_names;          /* NULL: no column of labels */
	size_t n_classes;
};

/* Reads a table of numbers (RFC 4180), plain or gzipped, as detected from its first bytes.  Each
 * row has as many fields as the first.  A field may be quoted, with quotes inside doubled; blanks
 * and tabs round an unquoted field are dropped.  Lines end with a line feed, a carriage return, or
 * both; empty lines, and a byte order mark of UTF-8, are skipped.
 *
 * A number is decimal (1, -.5, 2e-3), inf, infinity or nan in any case, with a point whatever the
 * locale of the program is, and is rounded to nearest.  For TN_I64 it is an integer.
 *
 * One column may have labels, which are any texts.  Their classes are numbered in the order of
 * the bytes of their texts, so that the numbers depend neither on the order of the rows nor on a
 * shuffle; a file that may lack a class, such as a test set, is read with `classes`, the
 * class_names of another.
 *
 * `options` may be NULL.  *out is written only on success.
 * TN_FORMAT: with line and column (the byte in the line, from 1) and the number and name of the
 * field: not a number, not a finite one where `finite` is set, too large for the dtype, empty, an
 * empty label, a label that is not in `classes`, quotes that do not match, texts that are not
 * UTF-8, another number of fields; no row, or no header (a header without rows is a table of 0
 * rows).  TN_DTYPE: another dtype.
 * TN_INVALID_ARGUMENT: options that contradict each other, no such column of labels.
 * TN_LIMIT: more than the limits above, than TN_HOST_ARRAY_MAX_BYTES of numbers, or gzipped and
 * content of more than both 64 MiB and 200 times the size of the file.
 * TN_UNSUPPORTED: gzipped, but built without zlib.  [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_csv_read(const char *path, const struct tn_csv_options *options,
					struct tn_csv *out, struct tn_error_info *error);

/* Frees what the table owns and clears the struct, but for struct_size.  Takes NULL and a zeroed
 * struct.  [thread: any | since 0.1] */
TN_API void tn_csv_release(struct tn_csv *csv);

/* ---- Images ----------------------------------------------------------------------------------*/

/* The longest side and the largest number of pixels that are read. */
#define TN_IMAGE_MAX_SIDE 32768u
#define TN_IMAGE_MAX_PIXELS (1u << 26)

/* height x width x channels bytes, top row first.  Channels: 1 grey, 2 grey and alpha, 3 RGB,
 * 4 RGB and alpha (not premultiplied).  `data` is owned: free with tn_image_release. */
struct tn_image {
	uint32_t width;
	uint32_t height;
	uint32_t channels;
	uint32_t reserved;
	uint8_t *data;
};

/* Frees `data` and clears the struct.  Takes NULL and a zeroed struct.  [thread: any | since
 * 0.1] */
TN_API void tn_image_release(struct tn_image *image);

/* Reads a PNG (any depth and colour type, scaled to 0..255; of an animation the first picture), a
 * JPEG (grey or colour; CMYK becomes RGB, without profiles), or a PBM, PGM or PPM (P1 to P6,
 * largest value up to 65535, scaled to 0..255), as detected from its first bytes.  Values are those
 * stored: gamma, colour profiles and the orientation in Exif are not applied.  A damaged JPEG is
 * read as far as libjpeg can, and one line of the log (subsystem "image") counts its warnings; a
 * truncated file is TN_FORMAT.  *out is written only on success.
 * TN_UNSUPPORTED: PNG, but built without libpng; JPEG, but built without libjpeg, or of another
 * number of components than 1, 3 or 4.
 * [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_image_read(const char *path, struct tn_image *out,
					  struct tn_error_info *error);

/* Writes a PNG of 8 bits per channel.  TN_UNSUPPORTED: built without libpng.
 * [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_image_write(const char *path, const struct tn_image *image,
					   struct tn_error_info *error);

/* out := image with `channels` 1 or 3.  Alpha is composed over `background` (0 to 255), colour
 * becomes grey by Y = (299 R + 587 G + 114 B + 500) / 1000 (ITU-R BT.601), and grey is repeated for
 * colour.  TN_INVALID_ARGUMENT: other channels.  [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_image_convert(const struct tn_image *image, uint32_t channels,
					     uint8_t background, struct tn_image *out,
					     struct tn_error_info *error);

/* out := image at another size; each new pixel is the mean of the area that it covers in the old
 * image (the nearest pixel if it covers less than one).
 * TN_INVALID_ARGUMENT, TN_LIMIT: a size of 0 or above the limits.  [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_image_resize(const struct tn_image *image, uint32_t width,
					    uint32_t height, struct tn_image *out,
					    struct tn_error_info *error);

#ifdef __cplusplus
}
#endif
#endif
