/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arrays in files, with NumPy's names: NPY and NPZ, tables of text, raw elements.  <tenon/io.h> has
 * the same formats, and others, on host memory and without a context.
 *
 * Readers make an array on the current device.  They validate the whole file first, and bound the
 * memory that a malicious file can make them allocate.  Writers wait for the elements, and write a
 * temporary file in the same folder, which they sync and rename: the given name refers to the old
 * file or to the complete new one, never to a part.
 *
 * NULL or a status on failure, with the error kept; its text gives the file, the offset or line and
 * column, what was expected and what was found:
 *   TN_NOT_FOUND, TN_IO, TN_FORMAT, TN_LIMIT, TN_UNSUPPORTED, TN_OUT_OF_MEMORY  as in <tenon/io.h>
 *   TN_INVALID_ARGUMENT  an argument or an option is out of range
 *   TN_DTYPE             the format lacks the dtype
 * All functions: [thread: one per context | since 0.1].
 */
#ifndef TENON_FILES_H
#define TENON_FILES_H

#include <string.h>

#include <tenon/array.h>
#include <tenon/io.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- NPY and NPZ -----------------------------------------------------------------------------*/

/* The array of an NPY file: tn_npy_read. */
TN_API tn_array *tn_load(tn_context *context, const char *path);
/* Writes an NPY file: tn_npy_write.  TN_DTYPE: bf16. */
TN_API tn_status tn_save(const char *path, const tn_array *a);
/* The array called `name` of an NPZ file: tn_npz_read.  TN_NOT_FOUND: also no such array.  To read
 * several, open the file once: tn_npz_open. */
TN_API tn_array *tn_load_npz(tn_context *context, const char *path, const char *name);
/* Writes n >= 0 arrays of one context, under these names, to an NPZ file: tn_npz_write. */
TN_API tn_status tn_savez(tn_context *context, const char *path, int n, const char *const *names,
			  const tn_array *const *arrays);

/* The array of an NPY file without a copy, read-only: its elements are read from the file when they
 * are used, and again when memory is short.  Column-major data ('fortran_order': True) has strides
 * to match.  The current device must compute in host memory wherever it is
 * (TN_DEVICE_TAKES_ANY_ADDRESS).  The file is mapped until the last reference to the array ends, at
 * the latest until the context closes; its name may be removed or renamed over.
 *
 * Only map a file that is not being written: changes show in the array, and reading beyond the
 * end of a file that was shortened is a bus error, which ends the program.  Elements of bool are
 * checked once, which reads them all.
 *   TN_UNSUPPORTED  the current device does not take any address; the other byte order; data that
 *                   are not aligned to their elements.  tn_load reads such files. */
TN_API tn_array *tn_npy_map(tn_context *context, const char *path);

/* ---- Raw elements ----------------------------------------------------------------------------*/

enum { TN_ORDER_NATIVE = 0, TN_ORDER_LITTLE = 1, TN_ORDER_BIG = 2 };

/* `count` elements from byte `offset` of a file on, of rank 1; count -1: all to the end.
 * TN_FORMAT: the file has fewer, the rest is not a whole number of elements, or a bool is neither 0
 * nor 1. */
TN_API tn_array *tn_fromfile(tn_context *context, const char *path, tn_dtype dtype, int64_t count,
			     uint64_t offset, uint32_t byte_order);
/* Writes all elements, row-major, and nothing else. */
TN_API tn_status tn_tofile(const tn_array *a, const char *path, uint32_t byte_order);

/* ---- Tables of text --------------------------------------------------------------------------*/

/* Options of tn_loadtxt; the defaults are NumPy's. */
struct tn_loadtxt_options {
	uint32_t struct_size;
	tn_dtype dtype;       /* any; default TN_F64 */
	const char *comments; /* what begins one, to the end of the line; default "#"; "": none */
	int32_t delimiter;    /* a byte: ',', ...; 0: blanks and tabs, any number of them */
	uint32_t ndmin;       /* 0 to 2: the least rank of the result */
	int64_t skiprows;     /* the first lines, comments and empty ones too */
	uint64_t max_rows;    /* rows at most, not counting empty lines; default TN_NO_LIMIT */
	const int *usecols;   /* the columns, in this order; negative ones count from the end */
	int32_t n_usecols;    /* 0: all columns */
	int fill_missing;     /* 1: an empty field, and missing_text, are filling_value */
	double filling_value; /* converted to dtype by the rules of the cast */
	const char *missing_text; /* "NA", ...; NULL: none but empty fields */
};
static inline struct tn_loadtxt_options tn_loadtxt_defaults(void)
{
	struct tn_loadtxt_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.dtype = TN_F64;
	options.comments = "#";
	options.max_rows = TN_NO_LIMIT;
	return options;
}

/* A table of numbers, plain or gzipped: (rows, columns), without axes of length 1 where ndmin is
 * less than 2, as by numpy.loadtxt.  Lines end with a line feed, a carriage return, or both; empty
 * lines, and a byte order mark of UTF-8, are skipped; each row has as many fields as the first, or,
 * with usecols, those columns.  Blanks round a field are ignored.  A number is decimal (1, -.5,
 * 2e-3), inf, infinity or nan in any case, with a point whatever the locale of the program is, and
 * rounded to nearest; integers and bool (0 or 1) are integers; a complex number is (1+2j), 1+2j, 1
 * or 2j.  There are no quotes: tn_csv_read takes them, and labels.  A table without rows has 0 of
 * them, and n_usecols columns, or 1.
 *   TN_FORMAT  also, with line, column and field: not a number, too large for the dtype, another
 *              number of fields, no such column, a byte 0
 *   TN_LIMIT   more than TN_CSV_MAX_ROW bytes in a line, TN_CSV_MAX_COLUMNS fields, or
 *              TN_HOST_ARRAY_MAX_BYTES of numbers; as of tn_csv_read if gzipped */
TN_API tn_array *tn_loadtxt(tn_context *context, const char *path,
			    const struct tn_loadtxt_options *options);

/* Options of tn_savetxt; the defaults are NumPy's. */
struct tn_savetxt_options {
	uint32_t struct_size;
	uint32_t reserved;     /* 0 */
	const char *fmt;       /* default "%.18e" */
	const char *delimiter; /* default " " */
	const char *header;    /* lines before the table, each after `comments` */
	const char *footer;    /* lines after it */
	const char *comments;  /* default "# " */
};
static inline struct tn_savetxt_options tn_savetxt_defaults(void)
{
	struct tn_savetxt_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.fmt = "%.18e";
	options.delimiter = " ";
	options.comments = "# ";
	return options;
}

/* Writes an array of rank 1, one element a line, or 2.  `fmt` is one conversion, which is checked
 * and never passed to printf: '%', then any of the flags "-+ 0", a width and '.' with a precision
 * (each at most 1000), and one of d i e E f F g G, as Python's % has them.  All of them take every
 * dtype: d and i cut the fraction of a number, the others convert an integer to f64; a complex
 * number is " (a+bj)".  The point is a point in every locale.
 *   TN_SHAPE             the rank is 0 or above 2
 *   TN_INVALID_ARGUMENT  also: fmt is not such a conversion; d or i of a number that is not
 *                        finite */
TN_API tn_status tn_savetxt(const char *path, const tn_array *a,
			    const struct tn_savetxt_options *options);

#ifdef __cplusplus
}
#endif
#endif
