# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# rival.tsv and bench.tsv as one table: ours, the best of the others, the ratio (above 1: Tenon is
# ahead), and what is asked.  Lines: name, unit, figure; of a rival also its name; of a program that
# has its rival in its own process the rival's figure, the ratio and the rival's name.
BEGIN {
	FS = "\t"
	asked["map z = a*x + y"] = 0.9
	asked["matmul f32 8192x8192x8192"] = 0.98
	asked["train mlp b128"] = 4
	asked["train lenet b128"] = 4
	asked["train resnet18 b128"] = 1
	most["dispatch of a small add"] = 4
	most["first result of a process"] = 500
}
function is_time(unit) { return unit == "us" || unit == "ms" || unit == "ns" }
/^#/ { notes = notes $0 "\n"; next }
FILENAME ~ /rival\.tsv$/ {
	if (!($1 in figure) || (is_time($2) ? $3 < figure[$1] : $3 > figure[$1])) {
		figure[$1] = $3
		who[$1] = $4
	}
	next
}
function row(name, unit, ours, theirs, ratio, rival, goal) {
	printf "%-32s %-9s %10s %10s %7s  %-12s %s\n", name, unit, ours, theirs, ratio, rival, goal
}
NF >= 3 {
	if (!n++)
		row("", "", "Tenon", "other", "ratio", "", "asked")
	ratio = theirs = rival = goal = ""
	if (NF >= 6) {
		theirs = $4
		ratio = $5
		rival = $6
	} else if ($1 in figure && figure[$1] > 0 && $3 > 0) {
		theirs = figure[$1]
		ratio = sprintf("%.3f", is_time($2) ? theirs / $3 : $3 / theirs)
		rival = who[$1]
	}
	if ($1 in asked) {
		reached = ratio == "" ? "" : ratio >= asked[$1] ? " reached" : " missed"
		goal = ">= " asked[$1] reached
	}
	if ($1 in most)
		goal = "<= " most[$1] " " $2 ($3 <= most[$1] ? " reached" : " missed")
	row($1, $2, $3, theirs, ratio, rival, goal)
}
END { printf "%s", notes }
