package usage

// MustUSD is [ParseUSD] for constants: it panics where that returns an error.
func MustUSD(text string) int64 {
	nano, err := ParseUSD(text)
	if err != nil {
		panic(err) //nolint:forbidigo // what a function named Must is for
	}
	return nano
}
