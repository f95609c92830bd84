# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# steps.tsv, rival.tsv and bench.tsv as one JSON object.
BEGIN {
	FS = "\t"
	printf "{\n  \"simulated\": %s", simulated == "" ? "false" : "true"
}
function text(s) {
	gsub(/\\/, "\\\\", s)
	gsub(/"/, "\\\"", s)
	return "\"" s "\""
}
FNR == 1 {
	if (open)
		printf "\n  ]"
	name = FILENAME
	sub(/.*\//, "", name)
	sub(/\.tsv$/, "", name)
	printf ",\n  %s: [", text(name)
	open = 1
	comma = ""
}
/^#/ || NF < 3 { next }
{
	printf "%s\n    ", comma
	comma = ","
}
name == "steps" {
	printf "{\"step\": %s, \"state\": %s, \"seconds\": %d}", text($1), text($2), $3
	next
}
{
	printf "{\"name\": %s, \"unit\": %s, \"figure\": %s", text($1), text($2), $3
	if (NF >= 6)
		printf ", \"other\": %s, \"ratio\": %s, \"who\": %s", $4, $5, text($6)
	else if (NF == 4)
		printf ", \"who\": %s", text($4)
	printf "}"
}
END { printf "%s\n}\n", open ? "\n  ]" : "" }
