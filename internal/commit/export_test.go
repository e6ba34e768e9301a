package commit

// SetTogether bounds the names that a call looks at together, until the function that it returns
// is called.
func SetTogether(n int) (reset func()) {
	was := together
	together = n
	return func() { together = was }
}
