# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# The citations in the RULES of tenon-backend(7): `.It R7` begins a rule, `.Li map.layouts` in it
# cites a check.
/^\.Sh / { in_rules = $2 == "RULES"; rule = 0 }
!in_rules { next }
/^\.It / {
	rule = 0
	for (i = 2; i <= NF; i++)
		if ($i ~ /^R[0-9]+$/)
			rule = substr($i, 2)
}
rule && $1 == ".Li" && $2 ~ /^[a-z0-9_]+\.[a-z0-9_*]+$/ { printf "\t{%d, \"%s\"},\n", rule, $2 }
