# Sets the output of `go test -bench` in columns: time, memory, then the benchmark's own figures (ratios). A benchmark that
# only compares gives no time of its own.
/^(goos|goarch|cpu|PASS)/ { next }
/^ok / { next }
/^pkg: / { printf "\n%s\n", $2; next }
/^Benchmark/ && $2 ~ /^[0-9]+$/ && NF > 3 {
	name = $1
	sub(/^Benchmark/, "", name)
	sub(/-[0-9]+$/, "", name)
	time = own = memory = ""
	for (i = 3; i < NF; i += 2) {
		figure = sprintf("%12s %s", $i, $(i + 1))
		if ($(i + 1) == "ns/op") {
			time = figure
		} else if ($(i + 1) == "B/op" || $(i + 1) == "allocs/op") {
			memory = memory "  " figure
		} else {
			own = own sprintf("  %-30s", figure)
		}
	}
	printf "  %-48s %18s%s%s\n", name, time, memory, own
	fflush()
	next
}
{ print; fflush() }
