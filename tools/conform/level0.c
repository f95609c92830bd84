/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Level 0: the file and its version.  Each check runs in its own process, in which the file is not
 * yet mapped.
 */
#include "file.h"

const struct check level0_checks[] = {
	{"file.note", 0,
	 "the file is an ELF shared object of this machine with a complete Tenon note",
	 check_file_note},
	{"file.descriptor", 0, "the descriptor repeats the note, and has name, version and licence",
	 check_file_descriptor},
	{"file.exports", 0, "it exports only tenon_backend", check_file_exports},
	{"file.symbols", 0, "all symbols that it needs exist, and none is Tenon's",
	 check_file_symbols},
	{"file.libraries", 0, "it needs no library of Tenon", check_file_libraries},
	{"file.segments", 0,
	 "no text relocations, no executable stack, no segment both writable and executable",
	 check_file_segments},
	{"file.tls", 0, "it has no thread-local variables of the initial-exec model",
	 check_file_tls},
	{"file.quiet", 0, "opening the file starts no thread and does not change the process",
	 check_file_quiet},
	{"file.resident", 0, "it stays mapped after its last instance is destroyed",
	 check_file_resident},
	{"file.hosts", 0, "hosts of other versions accept or refuse it as its note requires",
	 check_file_hosts},
	{"file.options", 0, "its options take their values, and refuse others by name",
	 check_file_options},
	{"file.loads", 0, "the plugin loads, makes an instance, and opens its device", NULL},
	{NULL, 0, NULL, NULL},
};
