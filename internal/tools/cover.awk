# Reads a Go cover profile; prints the share of statements that ran and each block that did not; fails below min.
# Variables: package, min. Generated files do not count.
NR == 1 || $1 ~ /zz_generated/ { next }
{
	statements += $2
	if ($3 > 0) {
		ran += $2
	} else {
		sub(/^github\.com\/bursar-dev\/bursar\//, "", $1)
		missed[++misses] = "  not run: " $1
	}
}
END {
	share = statements ? 100 * ran / statements : 100
	printf "%-4s %6.2f %%  %s (%d of %d statements)\n", (share < min ? "LOW" : "ok"), share, package, ran, statements
	for (i = 1; i <= misses; i++) {
		print missed[i]
	}
	exit share < min
}
